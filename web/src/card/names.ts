/** The card game's names and numbers, as Python has written them (`siberia_experiments/web/words.py`). */
import words from "../data/card.json";

export const TITLE = words.title;
export const RESOURCES = words.resources;
export const PERSONS = words.persons;
/** What an action card can show: the resources, then the persons. */
export const SYMBOLS = words.symbols;
/** The kinds of action cards, such as gas/worker. */
export const KINDS = words.kinds;
export const ROW_SLOTS = words.row_slots;
export const HAND_LIMIT = words.hand_limit;
export const PHASES = words.phases;
export const PAYMENTS = words.payments;
export const ACTIONS = words.actions;
export const ACTION_NAMES = words.action_names;
export const PERSON_VALUE = words.person_value;

export const WORKER = SYMBOLS.indexOf("worker");
export const SALESMAN = SYMBOLS.indexOf("salesman");
export const INVESTOR = SYMBOLS.indexOf("investor");
export const NOBODY = -1;
export const EMPTY = -1;
export const NOTHING = -1;

/** The first action that is paid for with cards. */
export const CARD_ACTIONS = ACTIONS.MINE;

/** The symbol that pays for an action, given as its number among the card actions. */
export function symbolOf(cardAction: number): number {
  if (cardAction < ACTIONS.HIRE_WORKER - CARD_ACTIONS) return cardAction;
  if (cardAction === ACTIONS.HIRE_WORKER - CARD_ACTIONS) return WORKER;
  return cardAction < ACTIONS.HIRE_INVESTOR - CARD_ACTIONS ? SALESMAN : INVESTOR;
}
