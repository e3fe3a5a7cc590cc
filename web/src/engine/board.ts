/** The board game: component tables, rulesets, and the lines of its records (siberia_env/board). */

import type { Fields, Json, Line } from "./types";
import type { Description } from "./kernels";
import { same, writeJson } from "./json";
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
  isPrintable,
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

// ---------------------------------------------------------------- component tables

function checkNames(value: Json | undefined, path: string): string[] {
  if (!Array.isArray(value)) return refuse(`${path}: expected a list of names; got ${shown(value)}`);
  value.forEach((name, index) => {
    if (typeof name !== "string") refuse(`${path}[${index}]: ${shown(name)} is not a name`);
    if (value.indexOf(name) < index) refuse(`${path}[${index}]: ${shown(name)} stands there twice`);
  });
  return [...value] as string[];
}

/** A table with names of places as keys, none of them in `taken`. */
function checkPlaces(
  info: Description,
  table: Json | undefined,
  path: string,
  fewest: number,
  most: number,
  taken: readonly string[],
) {
  const { UNUSED_AREA } = constantsOf(info);
  const count = fewest === most ? `${fewest}` : `${fewest} to ${most}`;
  if (!isObject(table)) return refuse(`${path}: expected an object with ${count} names as keys; got ${shown(table)}`);
  const names = Object.keys(table);
  if (names.length < fewest || names.length > most)
    refuse(`${path}: expected an object with ${count} names as keys; got ${names.length} of them`);
  for (const name of names) {
    if (!name || !isPrintable(name) || name !== name.trim())
      refuse(`${path}.${name}: a name is printable text without spaces around it`);
    if (taken.includes(name)) refuse(`${path}.${name}: the name of something else; each place needs one of its own`);
    if (name.startsWith(UNUSED_AREA)) refuse(`${path}.${name}: '${UNUSED_AREA}' begins the names of what a map lacks`);
    if (/[,/]/.test(name)) refuse(`${path}.${name}: a comma or slash, which separate names on the command line`);
    if (/^(0|[1-9]\d*)$/.test(name)) refuse(`${path}.${name}: on this page a place can't be called by a bare number`);
  }
  return table;
}

function checkExchanges(info: Description, tables: Tables) {
  const { ALL_EXCHANGES, NUM_RESOURCES, MAX_VALUE, FIRST_EXCHANGE, EXCHANGE_TILES, TILE_SIDES, START } =
    constantsOf(info);
  const given = checkPlaces(info, tables.exchanges, "exchanges", ALL_EXCHANGES, ALL_EXCHANGES, [START, "reserve"]);
  const prices: { [exchange: string]: number[] } = {};
  for (const [exchange, row] of Object.entries(given)) {
    const path = `exchanges.${exchange}`;
    if (!Array.isArray(row) || row.length !== NUM_RESOURCES)
      refuse(`${path}: expected a list of ${NUM_RESOURCES} prices in thousands; got ${shown(row)}`);
    prices[exchange] = (row as Json[]).map((price, index) => checkWhole(price, `${path}[${index}]`, 0, MAX_VALUE));
  }
  if (!(FIRST_EXCHANGE in prices)) refuse(`exchanges.${FIRST_EXCHANGE}: missing; every game has it`);
  const placed = new Set([FIRST_EXCHANGE]);
  const tiles = checkList(tables.exchange_tiles, "exchange_tiles", EXCHANGE_TILES, EXCHANGE_TILES, "tiles").map(
    (tile, number) => {
      const path = `exchange_tiles[${number}]`;
      const sides = checkNames(tile, path);
      if (sides.length !== TILE_SIDES)
        refuse(`${path}: expected the exchanges on its ${TILE_SIDES} sides; got ${shown(tile)}`);
      sides.forEach((exchange, side) => {
        if (!(exchange in prices)) refuse(`${path}[${side}]: no exchange '${exchange}' in the table of exchanges`);
        if (placed.has(exchange)) refuse(`${path}[${side}]: '${exchange}' already has its place`);
        placed.add(exchange);
      });
      return sides;
    },
  );
  return { prices, tiles };
}

function checkMap(info: Description, tables: Tables, exchanges: readonly string[]) {
  const { START, FEWEST_AREAS, MOST_AREAS } = constantsOf(info);
  const given = checkPlaces(info, tables.areas, "areas", FEWEST_AREAS, MOST_AREAS, [START, "reserve", ...exchanges]);
  const areas = Object.fromEntries(
    Object.entries(given).map(([area, adjacent]) => [area, checkNames(adjacent, `areas.${area}`)]),
  );
  for (const [area, adjacent] of Object.entries(areas))
    adjacent.forEach((other, index) => {
      const path = `areas.${area}[${index}]`;
      if (!(other in areas)) refuse(`${path}: no area '${other}'; the areas are ${Object.keys(areas).join(", ")}`);
      if (other === area) refuse(`${path}: an area is not adjacent to itself`);
      if (!areas[other].includes(area))
        refuse(`${path}: ${other} does not name ${area} in return; adjacent is both ways`);
    });
  const arrows = checkNames(tables.arrows, "arrows");
  arrows.forEach((area, index) => {
    if (!(area in areas)) refuse(`arrows[${index}]: no area '${area}'; the areas are ${Object.keys(areas).join(", ")}`);
  });
  const reached = new Set(arrows);
  for (const area of reached) areas[area].forEach((other) => reached.add(other)); // a set shows what is added on the way
  for (const area of Object.keys(areas))
    if (!reached.has(area)) refuse(`areas.${area}: no way leads there from ${START}`);
  return { arrows, areas };
}

function checkCubes(info: Description, cubes: { [resource: string]: number }, areas: number): void {
  const { MOST_CUBES, CUBES_PER_AREA } = constantsOf(info);
  const inAll = total(cubes);
  if (inAll > MOST_CUBES) refuse(`cubes: ${inAll} in all; at most ${MOST_CUBES}`);
  for (const leftOut of Object.keys(cubes)) {
    const others = Object.keys(cubes)
      .filter((resource) => resource !== leftOut)
      .map((resource) => cubes[resource]);
    if (Math.max(...others) < areas && sum(others) <= CUBES_PER_AREA * (areas - 1))
      refuse(
        `cubes: without ${leftOut} ${sum(others)} in all; ${areas} areas get two different cubes each for certain if ` +
          `${areas} of these are of one resource, or if there are ${CUBES_PER_AREA * (areas - 1) + 1}`,
      );
  }
}

const allExchanges = (info: Description, tables: Tables): string[] => [
  constantsOf(info).FIRST_EXCHANGE,
  ...(tables.exchange_tiles as string[][]).flat(),
];

// ---------------------------------------------------------------- lines of records

const bit = (set: number, member: number): boolean => ((set >> member) & 1) === 1;

function setupEvent(variant: Variant, state: Fields): Line {
  const { CHOOSE_SIDE, CHOOSE_SIDES, TILES_FACE_UP, ACTIONS, RESOURCES } = constantsOf(variant.info);
  const top = state.tile_stack_size + (state.phase === CHOOSE_SIDE ? 0 : TILES_FACE_UP);
  const areas = Object.keys(variant.components.areas).map((area, number) => [
    area,
    (RESOURCES as string[]).filter((_, resource) => bit(state.lying[resource], number)),
  ]);
  const event: { [key: string]: Json } = {
    event: "setup",
    areas: Object.fromEntries(areas),
    reserve: Object.fromEntries((RESOURCES as string[]).map((resource, index) => [resource, state.reserve[index]])),
    tiles: Array.from(
      state.tile_stack.slice(top - TILES_FACE_UP, top) as Int8Array,
      (action) => ACTIONS[action] as string,
    ).reverse(),
  };
  if (variant.ruleset.sides !== CHOOSE_SIDES)
    event.sides = (variant.components.exchange_tiles as string[][]).map((both, tile) => both[state.side[tile]]);
  return event;
}

const countCubes = (setup: Line, resource: string): number =>
  Object.values(setup.areas as { [area: string]: string[] }).filter((cubes) => cubes.includes(resource)).length;

function checkAction(info: Description, value: Json, path: string): void {
  const { ACTIONS } = constantsOf(info);
  if (!ACTIONS.includes(value)) refuse(`${path}: no investment tile ${shown(value)}; they are ${ACTIONS.join(", ")}`);
}

function checkSetup(variant: Variant, line: Line): void {
  const { CUBES_PER_AREA, RESOURCES, TILES_FACE_UP } = constantsOf(variant.info);
  const box = variant.components.cubes as { [resource: string]: number };
  const areas = checkTable(line.areas, "setup.areas", Object.keys(variant.components.areas));
  for (const [area, given] of Object.entries(areas)) {
    const path = `setup.areas.${area}`;
    const cubes = checkList(given, path, CUBES_PER_AREA, CUBES_PER_AREA, "resources");
    cubes.forEach((cube, index) => {
      if (!RESOURCES.includes(cube))
        refuse(`${path}[${index}]: no resource ${shown(cube)}; they are ${RESOURCES.join(", ")}`);
    });
    if (cubes[0] === cubes[1]) refuse(`${path}: twice ${cubes[0]}; the cubes of an area differ (B8)`);
    if (RESOURCES.indexOf(cubes[0]) > RESOURCES.indexOf(cubes[1]))
      refuse(`${path}: expected the cubes in the order of resources; got ${shown(given)}`);
  }
  const reserve = checkTable(line.reserve, "setup.reserve", RESOURCES);
  for (const resource of RESOURCES as string[]) {
    const left = box[resource] - countCubes(line, resource);
    if (left < 0) refuse(`setup.areas: ${countCubes(line, resource)} cubes of ${resource}; there are ${box[resource]}`);
    if (reserve[resource] !== left)
      refuse(
        `setup.reserve.${resource}: expected ${left}, what the areas leave of ${box[resource]}; got ${shown(reserve[resource])}`,
      );
  }
  checkList(line.tiles, "setup.tiles", TILES_FACE_UP, TILES_FACE_UP, "tiles").forEach((tile, index) =>
    checkAction(variant.info, tile, `setup.tiles[${index}]`),
  );
}

function checkSetupWithSides(variant: Variant, line: Line): void {
  checkSetup(variant, line);
  const { EXCHANGE_TILES } = constantsOf(variant.info);
  const given = variant.rules.sides;
  checkList(line.sides, "setup.sides", EXCHANGE_TILES, EXCHANGE_TILES, "exchanges").forEach((exchange, index) => {
    const possible: string[] = Array.isArray(given)
      ? [given[index] as string]
      : variant.components.exchange_tiles[index];
    if (!possible.includes(exchange as string))
      refuse(`setup.sides[${index}]: expected ${possible.join(" or ")}; got ${shown(exchange)}`);
  });
}

const EVENTS: Events = {
  setup: { keys: ["areas", "reserve", "tiles"], check: checkSetup },
  draw: {
    keys: ["player", "counters"],
    check(variant, line) {
      const { COUNTERS_DRAWN, KINDS } = constantsOf(variant.info);
      checkWhole(line.player, "draw.player", 0, variant.players - 1);
      const counters = checkList(line.counters, "draw.counters", COUNTERS_DRAWN, COUNTERS_DRAWN, "counters");
      counters.forEach((counter, index) => {
        if (!KINDS.includes(counter))
          refuse(
            `draw.counters[${index}]: no counter ${shown(counter)}; one is written '${KINDS[0]}' or '${KINDS.at(-1)}'`,
          );
      });
      const sorted = [...counters].sort((a, b) => KINDS.indexOf(a) - KINDS.indexOf(b));
      if (!same(counters, sorted))
        refuse(`draw.counters: expected ${writeJson(sorted)}, as they come up (B12); got ${shown(line.counters)}`);
    },
  },
  tile: { keys: ["tile"], check: (variant, line) => checkAction(variant.info, line.tile, "tile.tile") },
};
const EVENTS_WITH_SIDES: Events = {
  ...EVENTS,
  setup: { keys: ["areas", "reserve", "tiles", "sides"], check: checkSetupWithSides },
};

function setupOutcome(variant: Variant, lines: readonly Numbered[]): number[] {
  const { RESOURCES, ACTIONS } = constantsOf(variant.info);
  const setup = lines[0][1] as { [key: string]: any };
  const order: number[] = Object.keys(variant.components.areas).flatMap((area) =>
    (setup.areas[area] as string[]).map((cube) => RESOURCES.indexOf(cube)),
  );
  const box = new Pile("investment tiles", repeated(variant.ruleset.tiles), (action) => ACTIONS[action]);
  for (const [number, line] of lines) {
    const tiles = line.event === "setup" ? (line.tiles as string[]) : "tile" in line ? [line.tile as string] : [];
    for (const tile of tiles) order.push(box.take(tile, number));
  }
  order.push(...box.rest());
  ((setup.sides ?? []) as string[]).forEach((exchange, tile) =>
    order.push(variant.components.exchange_tiles[tile].indexOf(exchange)),
  );
  return order;
}

// ---------------------------------------------------------------- the room

export const board: Room = {
  readComponents(info, given) {
    const {
      KINDS,
      ACTIONS,
      RESOURCES,
      MOST_COUNTERS,
      FEWEST_COUNTERS,
      MOST_TILES,
      FEWEST_TILES,
      MOST_CUBES,
      MAX_VALUE,
    } = constantsOf(info);
    const tables = checkTables(given, Object.keys(info.components));
    const counters = checkNumbers(tables.counters, "counters", KINDS, 0, MOST_COUNTERS);
    const least = 2 * FEWEST_COUNTERS;
    const inAll = total(counters);
    if (inAll < least || inAll > MOST_COUNTERS)
      refuse(`counters: ${inAll} in all; a game needs ${FEWEST_COUNTERS} a player, ${least} to ${MOST_COUNTERS}`);
    const tiles = checkNumbers(tables.investment_tiles, "investment_tiles", ACTIONS, 0, MOST_TILES);
    const all = total(tiles);
    if (all < FEWEST_TILES || all > MOST_TILES)
      refuse(`investment_tiles: ${all} in all; a game needs ${FEWEST_TILES} to ${MOST_TILES}`);
    const cubes = checkNumbers(tables.cubes, "cubes", RESOURCES, 0, MOST_CUBES);
    const { prices, tiles: exchangeTiles } = checkExchanges(info, tables);
    const { arrows, areas } = checkMap(info, tables, Object.keys(prices));
    checkCubes(info, cubes, Object.keys(areas).length);
    return {
      counters,
      investment_tiles: tiles,
      cubes,
      exchanges: prices,
      exchange_tiles: exchangeTiles,
      arrows,
      areas,
      salesman_cards: checkNumbers(tables.salesman_cards, "salesman_cards", RESOURCES, 1, MAX_VALUE),
    };
  },

  checkPlayable(info, tables, players) {
    const counters = total(tables.counters);
    const least = constantsOf(info).FEWEST_COUNTERS * players;
    if (counters < least) refuse(`counters: ${counters} in all; ${players} players need ${least} at least`);
  },

  checkRules(info, rules, tables) {
    const found = withDefaults(info, rules);
    const { EXCHANGE_TILES } = constantsOf(info);
    const sides = found.sides;
    if (Array.isArray(sides)) {
      if (sides.length !== EXCHANGE_TILES)
        refuse(`rules: sides: expected ${EXCHANGE_TILES} exchanges, one a tile; got ${shown(sides)}`);
      sides.forEach((exchange, index) => {
        const tile: string[] = tables.exchange_tiles[index];
        if (!tile.includes(exchange as string))
          refuse(`rules: sides[${index}]: ${shown(exchange)} is not on the tile of ${tile.join(" and ")}`);
      });
    }
    return found;
  },

  fillRuleset(info, bytes, _players, rules, tables) {
    const {
      CHOOSE_SIDES,
      RANDOM_SIDES,
      GIVEN_SIDES,
      EXHAUSTION_COUNTERS,
      KINDS,
      ACTIONS,
      RESOURCES,
      NUM_PLACES,
      VLADIVOSTOK,
      NUM_RESOURCES,
    } = constantsOf(info);
    const set = (name: string, value: number, index = 0) => setField(info.ruleset, bytes, name, value, index);
    const sides = rules.sides;
    set("sides", Array.isArray(sides) ? GIVEN_SIDES : sides === "random" ? RANDOM_SIDES : CHOOSE_SIDES);
    (tables.exchange_tiles as string[][]).forEach((tile, index) =>
      set("given_sides", Array.isArray(sides) ? tile.indexOf(sides[index] as string) : 0, index),
    );
    set("salesman_cards", rules.salesman_cards ? 1 : 0);
    set("max_rounds", rules.max_rounds as number);
    const areas = Object.keys(tables.areas);
    set("num_areas", areas.length);
    set("areas_to_end", Math.min(EXHAUSTION_COUNTERS, areas.length));
    set("num_counters", total(tables.counters));
    (KINDS as string[]).forEach((kind, index) => set("counters", tables.counters[kind], index));
    (ACTIONS as string[]).forEach((action, index) => set("tiles", tables.investment_tiles[action], index));
    (RESOURCES as string[]).forEach((resource, index) => {
      set("cubes", tables.cubes[resource], index);
      set("card_price", tables.salesman_cards[resource], index);
    });
    allExchanges(info, tables).forEach((exchange, row) =>
      (tables.exchanges[exchange] as number[]).forEach((price, index) =>
        set("price", price, row * NUM_RESOURCES + index),
      ),
    );
    const setOf = (names: readonly string[]) => names.reduce((found, name) => found | (1 << areas.indexOf(name)), 0);
    for (let place = 0; place < NUM_PLACES; place++) set("adjacent", 0, place);
    areas.forEach((area, index) => set("adjacent", setOf(tables.areas[area]), index));
    set("adjacent", setOf(tables.arrows), VLADIVOSTOK);
  },

  actionNames(info, tables, state) {
    const {
      CHOOSE_SIDE,
      MOST_AREAS,
      UNUSED_AREA,
      START,
      FIRST_EXCHANGE,
      AREA,
      FROM,
      TO,
      PAWN_EXCHANGE,
      PAWN_AREA,
      EXCHANGE,
      SIDE,
    } = constantsOf(info);
    const sides = sidesOf(state, CHOOSE_SIDE);
    const known = cached.get(tables)?.get(sides);
    if (known) return known;
    const names = [...info.actions];
    const areas = Object.keys(tables.areas);
    const places = Array.from({ length: MOST_AREAS }, (_, number) => areas[number] ?? `${UNUSED_AREA} ${number}`);
    const put = (start: number, verb: string, things: readonly string[]) =>
      things.forEach((thing, index) => (names[start + index] = `${verb} ${thing}`));
    const tiles = tables.exchange_tiles as string[][];
    const exchanges = [
      FIRST_EXCHANGE,
      ...tiles.map((both, tile) => (sides ? both[Number(sides[tile])] : both.join("/"))),
    ];
    put(SIDE, "side", tiles.flat());
    put(AREA, "area", places);
    put(FROM, "from", [...places, START]);
    put(TO, "to", places);
    put(PAWN_EXCHANGE, "pawn", exchanges);
    put(PAWN_AREA, "pawn", [...places, START]);
    put(EXCHANGE, "exchange", exchanges);
    if (!cached.has(tables)) cached.set(tables, new Map());
    cached.get(tables)!.set(sides, names);
    return names;
  },

  dueEvents: () => [],

  events(variant, old, now) {
    const { SETUP, DRAW, TAKE_TILE, KINDS, ACTIONS } = constantsOf(variant.info);
    if (old.phase === SETUP) return [setupEvent(variant, now)];
    if (old.phase === DRAW)
      return Array.from({ length: variant.players }, (_, offset) => {
        const player = (now.start + offset) % variant.players;
        return { event: "draw", player, counters: Array.from(now.drawn[player] as Int8Array, (kind) => KINDS[kind]) };
      });
    if (old.phase === TAKE_TILE && now.tile_stack_size < old.tile_stack_size)
      return [{ event: "tile", tile: ACTIONS[now.tile_stack[now.tile_stack_size]] }];
    return [];
  },

  checkEvent(variant, line) {
    checkEventOf(
      variant.ruleset.sides === constantsOf(variant.info).CHOOSE_SIDES ? EVENTS : EVENTS_WITH_SIDES,
      variant,
      line,
    );
  },

  outcome(variant, state, lines) {
    const { SETUP, COUNTERS_DRAWN, KINDS } = constantsOf(variant.info);
    if (state.phase === SETUP) return setupOutcome(variant, lines);
    const bag = new Pile("counters in the bag", repeated(state.bag), (kind) => KINDS[kind]);
    const order: number[] = [];
    for (const [number, line] of lines.slice(0, variant.players))
      for (const counter of (line.counters ?? []) as string[]) order.push(bag.take(counter, number));
    return [...order, ...bag.rest()].slice(0, COUNTERS_DRAWN * variant.players);
  },
};

/** Action names by component tables, and by the active sides; empty while they are open. */
const cached = new WeakMap<Tables, Map<string, readonly string[]>>();

function sidesOf(state: Fields | null, choosing: number): string {
  return !state || state.phase === choosing ? "" : (state.side as Int8Array).join("");
}
