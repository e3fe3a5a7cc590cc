/**
 * What a seat sees of the card game, as plain data: the same as `shown` in `siberia_env/card/picture.py`.
 *
 * Everything that is drawn comes from here, so hidden cards can't get into a picture. A test compares this with Python.
 */
import { all, cell, one, range, row } from "../common/fields";
import type { Shown } from "../common/look";
import { counted, dollars, gameOver, seatName, seenBy, type Names } from "../common/text";
import type { Fields, Game } from "../engine/types";
import {
  ACTION_NAMES,
  CARD_ACTIONS,
  EMPTY,
  INVESTOR,
  NOBODY,
  PAYMENTS,
  PHASES,
  RESOURCES,
  ROW_SLOTS,
  SALESMAN,
  SYMBOLS,
  TITLE,
  WORKER,
  symbolOf,
} from "./names";

export interface Slot {
  face_up: boolean;
  resource: string | null;
  value: string | null;
}

export interface Captured {
  cards: number;
  value: string;
  salesman: boolean;
  investor: boolean;
}

export interface CardPlayer {
  name: string;
  you: boolean;
  on_turn: boolean;
  score: string;
  hand_size: number;
  hand: number[] | null;
  captured: Captured[];
  persons: { cards: number; salesman: boolean }[];
}

export interface Counts {
  caption: string;
  kinds: number[];
}

export interface CardTable extends Shown {
  title: string;
  seen_by: string;
  row: (Slot | null)[];
  resource_stack: number;
  action_stack: number;
  supply: { workers: number; salesmen: boolean[]; investors: boolean[] };
  players: CardPlayer[];
  counts: Counts[];
}

/** What the seat `viewer` sees; null sees everything. */
export function shown(game: Game, viewer: number | null, names: Names = seatName): CardTable {
  const { state, ruleset, players, rules } = game;
  const phase = one(state, "phase");
  const onTurn = phase === PHASES.OVER ? null : one(state, "player");
  const salesmanOwner = all(state, "salesman_owner");
  const persons: [number, string][] = [
    [WORKER, "workers"],
    [SALESMAN, "salesmen"],
    [INVESTOR, "investors"],
  ];
  return {
    title: `${TITLE}, ${players} players, edition ${rules["edition"]}`,
    seen_by: seenBy(viewer, names),
    row: range(ROW_SLOTS).map((slot) => slotShown(state, ruleset, slot, viewer === null)),
    resource_stack: one(state, "resource_stack_size"),
    action_stack: one(state, "action_stack_size"),
    supply: {
      workers: one(state, "workers_left"),
      salesmen: Array.from(salesmanOwner, (owner) => owner === NOBODY),
      investors: Array.from(all(state, "investor_owner"), (owner) => owner === NOBODY),
    },
    players: range(players).map((player) => ({
      name: names(player),
      you: player === viewer,
      on_turn: player === onTurn,
      score: dollars(all(state, "score")[player]),
      hand_size: all(state, "hand_size")[player],
      hand: viewer === null || viewer === player ? row(state, "hand", player) : null,
      captured: range(RESOURCES.length).map((resource) => captured(state, player, resource)),
      persons: persons.map(([symbol, field]) => ({
        cards: all(state, field)[player],
        salesman: salesmanOwner[symbol] === player,
      })),
    })),
    counts: [
      {
        caption: `Discard pile, ${counted(one(state, "discard_size"), "card")}`,
        kinds: Array.from(all(state, "discard")),
      },
      ...knownCards(state, players, viewer, names),
    ],
    turn: turn(state, ruleset, players, names),
  };
}

function slotShown(state: Fields, ruleset: Fields, slot: number, allShown: boolean): Slot | null {
  const number = all(state, "row")[slot];
  if (number === EMPTY) return null;
  const faceUp = Boolean(all(state, "face_up")[slot]);
  if (!faceUp && !allShown) return { face_up: false, resource: null, value: null };
  return {
    face_up: faceUp,
    resource: RESOURCES[all(ruleset, "card_resource")[number]],
    value: dollars(all(ruleset, "card_value")[number]),
  };
}

function captured(state: Fields, player: number, resource: number): Captured {
  const own = all(state, "salesman_owner")[resource] === player;
  const field = own ? "captured_best_value" : "captured_value";
  return {
    cards: cell(state, "captured", player, resource),
    value: dollars(cell(state, field, player, resource)),
    salesman: own,
    investor: all(state, "investor_owner")[resource] === player,
  };
}

/** C18: the cards in hands that a perfect memory knows of. */
function knownCards(state: Fields, players: number, viewer: number | null, names: Names): Counts[] {
  if (viewer === null) return [];
  const known = (player: number) => row(state, "known", player);
  if (players > 2) return [{ caption: "Known among the others' hands", kinds: known(viewer) }];
  const other = 1 - viewer;
  return [
    { caption: `Known in the hand of ${names(other)}`, kinds: known(viewer) },
    { caption: `Known to ${names(other)} in yours`, kinds: known(other) },
  ];
}

function turn(state: Fields, ruleset: Fields, players: number, names: Names): string {
  const finished = one(state, "turn");
  if (one(state, "phase") === PHASES.OVER) {
    const scores = range(players).map((player) => all(state, "score")[player]);
    return gameOver(finished, "turn", scores, Boolean(one(state, "hit_limit")), names);
  }
  const left = one(state, "turns_to_end");
  const told = `Turn ${finished + 1} of at most ${one(ruleset, "max_turns")}: ${names(one(state, "player"))} ${decision(state)}.`;
  return left > 0 ? `${told} The end is in sight: ${counted(left, "turn")} to go, this one included.` : told;
}

function decision(state: Fields): string {
  const phase = one(state, "phase");
  if (phase === PHASES.DISCOVER) return "discovers";
  if (phase === PHASES.CHOOSE) return "draws or acts";
  if (phase !== PHASES.PAYING) return "waits for the cards to be shuffled";
  const chosen = one(state, "chosen");
  const payment = one(state, "payment");
  const symbol = SYMBOLS[symbolOf(chosen)];
  const next =
    payment === PAYMENTS.FIRST_CARD
      ? `a card showing ${symbol} comes first`
      : payment === PAYMENTS.SECOND_CARD
        ? `a card showing ${symbol} completes it, or two others`
        : `one more card not showing ${symbol} completes it`;
  return `pays for '${ACTION_NAMES[CARD_ACTIONS + chosen]}', ${next}`;
}
