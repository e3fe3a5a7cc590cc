/** The card game: component tables, rulesets, and the lines of its records (siberia_env/card). */

import type { Fields, Json, Line } from "./types";
import type { Description } from "./kernels";
import { setField } from "./fields";
import {
  checkEventOf,
  checkList,
  checkNumbers,
  checkTable,
  checkTables,
  checkWhole,
  constantsOf,
  isObject,
  Pile,
  refuse,
  repeated,
  shown,
  sum,
  total,
  withDefaults,
  type Events,
  type Numbered,
  type Room,
  type Tables,
  type Variant,
} from "./rooms";

function cardName(variant: Variant, number: number): string {
  const { RESOURCES, DOLLARS } = constantsOf(variant.info);
  return `${RESOURCES[variant.ruleset.card_resource[number]]} ${variant.ruleset.card_value[number] * DOLLARS}`;
}

function setupEvent(variant: Variant, state: Fields): Line {
  const { EMPTY, HAND_AT_START, KINDS } = constantsOf(variant.info);
  const size: number = state.action_stack_size;
  const dealt = size + HAND_AT_START * variant.players; // still in the array, above the top of the stack
  const kinds = Array.from(state.action_stack.slice(size, dealt) as Int8Array, (kind) => KINDS[kind]).reverse();
  return {
    event: "setup",
    row: Array.from(state.row as Int8Array)
      .filter((card) => card !== EMPTY)
      .map((card) => cardName(variant, card)),
    face_up: sum(state.face_up),
    hands: Array.from({ length: variant.players }, (_, seat) =>
      kinds.slice(seat * HAND_AT_START, (seat + 1) * HAND_AT_START),
    ),
  };
}

function checkCards(info: Description, value: Json | undefined, path: string, low: number, high: number): void {
  const { KINDS } = constantsOf(info);
  checkList(value, path, low, high, "action cards").forEach((card, index) => {
    if (!KINDS.includes(card)) refuse(`${path}[${index}]: no action card ${shown(card)}; one is written '${KINDS[0]}'`);
  });
}

function resourceNames(variant: Variant): string[] {
  return Array.from({ length: variant.ruleset.num_resource_cards }, (_, card) => cardName(variant, card));
}

function checkResourceCard(variant: Variant, value: Json, path: string): void {
  const names = resourceNames(variant);
  if (!names.includes(value as string))
    refuse(`${path}: no resource card ${shown(value)} in the components; one is written '${names[0]}'`);
}

const EVENTS: Events = {
  setup: {
    keys: ["row", "face_up", "hands"],
    check(variant, line) {
      const { ROW_SLOTS, FACE_UP_AT_START, HAND_AT_START } = constantsOf(variant.info);
      const slots = Math.min(ROW_SLOTS, variant.ruleset.num_resource_cards);
      checkList(line.row, "setup.row", slots, slots, "resource cards").forEach((card, slot) =>
        checkResourceCard(variant, card, `setup.row[${slot}]`),
      );
      checkWhole(line.face_up, "setup.face_up", FACE_UP_AT_START, FACE_UP_AT_START);
      checkList(line.hands, "setup.hands", variant.players, variant.players, "hands").forEach((hand, player) =>
        checkCards(variant.info, hand, `setup.hands[${player}]`, HAND_AT_START, HAND_AT_START),
      );
    },
  },
  draw: {
    keys: ["player", "cards"],
    check(variant, line) {
      checkWhole(line.player, "draw.player", 0, variant.players - 1);
      checkCards(variant.info, line.cards, "draw.cards", 1, constantsOf(variant.info).MOST_DRAWN);
    },
  },
  shuffle: {
    keys: ["cards"],
    check(variant, line) {
      checkWhole(line.cards, "shuffle.cards", 1, constantsOf(variant.info).ACTION_CARDS);
    },
  },
  refill: {
    keys: ["slots"],
    check(variant, line) {
      const names = Array.from({ length: constantsOf(variant.info).ROW_SLOTS }, (_, slot) => String(slot));
      const slots = line.slots;
      if (!isObject(slots) || !Object.keys(slots).length || !Object.keys(slots).every((slot) => names.includes(slot)))
        return refuse(`refill.slots: expected an object with keys of ${names.join(", ")}; got ${shown(slots)}`);
      for (const [slot, card] of Object.entries(slots)) checkResourceCard(variant, card, `refill.slots.${slot}`);
    },
  },
};

export const card: Room = {
  readComponents(info, given, wholeBox) {
    const { KINDS, RESOURCES, SYMBOLS, ACTION_CARDS, RESOURCE_CARDS, WORKERS, MAX_VALUE } = constantsOf(info);
    const tables = checkTables(given, Object.keys(info.components));
    const actionCards = checkNumbers(tables.action_cards, "action_cards", KINDS, 0, ACTION_CARDS);
    const resources = checkTable(tables.resource_cards, "resource_cards", RESOURCES);
    const valuesOf = (resource: string): number[] => {
      const values = resources[resource];
      if (!Array.isArray(values))
        return refuse(`resource_cards.${resource}: expected a list of values in thousands of dollars`);
      return (values as Json[])
        .map((value, index) => checkWhole(value, `resource_cards.${resource}[${index}]`, 1, MAX_VALUE))
        .sort((a, b) => a - b);
    };
    const resourceCards = Object.fromEntries((RESOURCES as string[]).map((name) => [name, valuesOf(name)]));
    const found = {
      action_cards: actionCards,
      resource_cards: resourceCards,
      salesmen: checkNumbers(tables.salesmen, "salesmen", SYMBOLS, 1, MAX_VALUE),
      workers: checkWhole(tables.workers, "workers", 1, WORKERS),
    };
    if (wholeBox)
      for (const [name, count, wanted] of [
        ["action_cards", total(actionCards), ACTION_CARDS],
        ["resource_cards", sum(Object.values(resourceCards).map((cards) => cards.length)), RESOURCE_CARDS],
        ["workers", found.workers, WORKERS],
      ])
        if (count !== wanted) refuse(`${name}: ${count} in all, the box holds ${wanted}`);
    return found;
  },

  checkPlayable(info, tables, players) {
    const { HAND_AT_START, FACE_UP_AT_START, ACTION_CARDS, RESOURCE_CARDS, WORKERS } = constantsOf(info);
    const actions = total(tables.action_cards);
    const resources = sum(Object.values(tables.resource_cards as Tables).map((cards) => cards.length));
    if (actions < HAND_AT_START * players || actions > ACTION_CARDS)
      refuse(
        `action_cards: ${actions} cards in all; ${players} players need ${HAND_AT_START * players} to ${ACTION_CARDS}`,
      );
    if (resources <= FACE_UP_AT_START || resources > RESOURCE_CARDS)
      refuse(`resource_cards: ${resources} cards in all; a game needs ${FACE_UP_AT_START + 1} to ${RESOURCE_CARDS}`);
    if (tables.workers < players || tables.workers > WORKERS)
      refuse(`workers: ${tables.workers}; ${players} players need ${players} to ${WORKERS}`);
  },

  checkRules: (info, rules) => withDefaults(info, rules),

  fillRuleset(info, bytes, players, rules, tables) {
    const { EDITIONS, KINDS, SYMBOLS, RESOURCES } = constantsOf(info);
    const set = (name: string, value: number, index = 0) => setField(info.ruleset, bytes, name, value, index);
    const edition = rules.edition as string;
    set("edition", Object.keys(EDITIONS).indexOf(edition));
    set("max_turns", Math.ceil((rules.max_turns as number) / players) * players);
    for (const [name, value] of Object.entries(EDITIONS[edition] as { [name: string]: number })) set(name, value);
    set("workers", tables.workers);
    set("num_action_cards", total(tables.action_cards));
    set("num_resource_cards", sum(Object.values(tables.resource_cards as Tables).map((cards) => cards.length)));
    (KINDS as string[]).forEach((kind, index) => set("action_cards", tables.action_cards[kind], index));
    (SYMBOLS as string[]).forEach((symbol, index) => set("salesman_value", tables.salesmen[symbol], index));
    for (const name of ["card_resource", "card_value", "card_best_value"])
      for (let index = 0; index < info.ruleset.fields[name].shape[0]; index++) set(name, 0, index);
    let number = 0;
    (RESOURCES as string[]).forEach((resource, index) => {
      const values: number[] = tables.resource_cards[resource];
      set("resource_cards", values.length, index);
      set("resource_value", sum(values), index);
      for (const value of values) {
        set("card_resource", index, number);
        set("card_value", value, number);
        set("card_best_value", Math.max(value, tables.salesmen[resource]), number);
        number++;
      }
    });
  },

  actionNames: (info) => info.actions,

  dueEvents: (variant, state) =>
    state.phase === constantsOf(variant.info).SHUFFLE ? [{ event: "shuffle", cards: state.discard_size }] : [],

  events(variant, old, now) {
    const { SETUP, SHUFFLE, ROW_SLOTS, EMPTY, KINDS } = constantsOf(variant.info);
    if (old.phase === SETUP) return [setupEvent(variant, now)];
    const player: number = old.player;
    const size: number = now.action_stack_size;
    const drawn = old.phase === SHUFFLE ? now.hand_size[player] - old.hand_size[player] : old.action_stack_size - size;
    const slots: { [slot: string]: string } = {};
    for (let slot = 0; slot < ROW_SLOTS; slot++)
      if (now.row[slot] !== EMPTY && now.row[slot] !== old.row[slot]) slots[slot] = cardName(variant, now.row[slot]);
    const found: Line[] = Object.keys(slots).length ? [{ event: "refill", slots }] : [];
    if (drawn > 0) {
      const cards = Array.from(
        now.action_stack.slice(size, size + drawn) as Int8Array,
        (kind) => KINDS[kind] as string,
      ).reverse();
      found.push({ event: "draw", player, cards });
    }
    return found;
  },

  checkEvent: (variant, line) => checkEventOf(EVENTS, variant, line),

  outcome(variant, state, lines) {
    const { SETUP, KINDS } = constantsOf(variant.info);
    const setup = state.phase === SETUP;
    const due = repeated(setup ? variant.ruleset.action_cards : state.discard);
    const stack = new Pile(setup ? "action cards" : "shuffled cards", due, (kind) => KINDS[kind]);
    const order: number[] = [];
    for (const [number, line] of until(lines, "shuffle")) {
      const hands = ((line.hands ?? []) as string[][]).flat();
      for (const each of hands.length ? hands : ((line.cards ?? []) as string[])) order.push(stack.take(each, number));
    }
    order.push(...stack.rest());
    if (setup) {
      const box = new Pile("resource cards", resourceNames(variant).keys(), (number) => cardName(variant, number));
      for (const [number, line] of lines) {
        const slots = (line.slots ?? {}) as { [slot: string]: string };
        for (const each of [
          ...((line.row ?? []) as string[]),
          ...Object.keys(slots)
            .sort()
            .map((slot) => slots[slot]),
        ])
          order.push(box.take(each, number));
      }
      order.push(...box.rest());
    }
    return order;
  },
};

/** The lines before the first of an event. */
function until(lines: readonly Numbered[], event: string): readonly Numbered[] {
  const end = lines.findIndex(([, line]) => line.event === event);
  return end < 0 ? lines : lines.slice(0, end);
}
