/**
 * What a seat sees of the board game, as plain data: the same as `shown` in `siberia_env/board/picture.py`.
 *
 * Everything that is drawn comes from here, so hidden counters can't get into a picture. A test compares this with Python.
 */
import { all, cell, one, range, row } from "../common/fields";
import type { Shown } from "../common/look";
import { counted, dollars, gameOver, seatName, seenBy, type Names } from "../common/text";
import type { Fields, Game } from "../engine/types";
import {
  ACTIONS,
  COUNTERS_DRAWN,
  EMPTY,
  EMPTY_RESERVES_TO_END,
  EXCHANGE_TILES,
  KINDS,
  MANAGER_COUNTER,
  NOBODY,
  NUM_EXCHANGES,
  PANEL_ACTIONS,
  PANEL_LIMIT,
  PHASES,
  PLANS,
  RESOURCES,
  START,
  TILE_SIDES,
  TITLE,
  VLADIVOSTOK,
  allExchanges,
  componentsOf,
  isDrawn,
  personAction,
  resourceAction,
} from "./names";

export interface Area {
  name: string;
  cubes: string[];
  exhausted: boolean;
  workers: number[];
  adjacent: string[];
}

export interface Exchange {
  sides: { name: string; prices: number[] }[];
  salesmen: number[];
}

export interface OnAction {
  counters: number[];
  tile: boolean;
  new: number[];
}

export interface BoardPlayer {
  name: string;
  you: boolean;
  on_turn: boolean;
  money: string;
  pawns: number;
  counters: number;
  this_round: string;
  actions: OnAction[];
  research: number[];
  new: number[];
}

export interface BoardTable extends Shown {
  title: string;
  seen_by: string;
  drawn_map: boolean;
  areas: Area[];
  start: { name: string; workers: number[]; arrows: string[] };
  exchanges: Exchange[];
  reserve: number[];
  salesman_cards: { price: number; owner: number | null }[];
  best_prices: number[][];
  players: BoardPlayer[];
  bag: { size: number; counts: string; kinds: number[] };
  tiles: string[];
  tile_stack: { size: number; order: string[] };
  exhausted: [number, number];
  empty_reserves: [number, number];
  end: string;
}

/** What the seat `viewer` sees; null sees everything. */
export function shown(game: Game, viewer: number | null, names: Names = seatName): BoardTable {
  const { state, ruleset, players } = game;
  const components = componentsOf(game);
  const seats = range(players);
  const pawnsAt = (field: string, place: number) => seats.map((player) => cell(state, field, player, place));
  const lying = all(state, "lying");
  const cards = Boolean(one(ruleset, "salesman_cards"));
  const stack = one(state, "tile_stack_size");
  return {
    title: `${TITLE}, ${players} players${cards ? ", with salesman cards" : ""}`,
    seen_by: seenBy(viewer, names),
    drawn_map: isDrawn(components),
    areas: Object.keys(components.areas).map((name, area) => ({
      name,
      cubes: RESOURCES.filter((_, resource) => (lying[resource] >> area) & 1),
      exhausted: isExhausted(state, area),
      workers: pawnsAt("workers", area),
      adjacent: [...components.areas[name]],
    })),
    start: { name: START, workers: pawnsAt("workers", VLADIVOSTOK), arrows: [...components.arrows] },
    exchanges: range(NUM_EXCHANGES).map((exchange) => ({
      sides: exchangeSides(game, exchange),
      salesmen: pawnsAt("salesmen", exchange),
    })),
    reserve: Array.from(all(state, "reserve")),
    salesman_cards: cards
      ? RESOURCES.map((_, resource) => {
          const owner = all(state, "card_owner")[resource];
          return { price: all(ruleset, "card_price")[resource], owner: owner === NOBODY ? null : owner };
        })
      : [],
    best_prices:
      one(state, "sides_chosen") === EXCHANGE_TILES ? seats.map((player) => row(state, "best_price", player)) : [],
    players: seats.map((player) => panel(state, player, viewer, names)),
    bag: { size: one(state, "bag_size"), ...bagCounts(state, players, viewer) },
    tiles: PANEL_ACTIONS.flatMap((name, action) => range(all(state, "face_up")[action]).map(() => name)),
    tile_stack: {
      size: stack,
      order:
        viewer === null
          ? Array.from(all(state, "tile_stack"))
              .slice(0, stack)
              .reverse()
              .map((action) => PANEL_ACTIONS[action])
          : [],
    },
    exhausted: [one(state, "exhausted"), one(ruleset, "areas_to_end")],
    empty_reserves: [emptyReserves(state), EMPTY_RESERVES_TO_END],
    end: end(state, ruleset),
    turn: turn(game, viewer, names),
  };
}

/** B22: whether an area has no cube left. Before the setup all areas are empty, but none is exhausted. */
function isExhausted(state: Fields, area: number): boolean {
  return one(state, "phase") !== PHASES.SETUP && !((one(state, "open") >> area) & 1);
}

function exchangeSides(game: Game, exchange: number): Exchange["sides"] {
  const { state, ruleset } = game;
  const names = allExchanges(componentsOf(game));
  const first = exchange === 0 ? 0 : 1 + TILE_SIDES * (exchange - 1);
  const rows =
    exchange === 0
      ? [0]
      : exchange <= one(state, "sides_chosen")
        ? [first + all(state, "side")[exchange - 1]]
        : range(TILE_SIDES).map((side) => first + side);
  return rows.map((line) => ({ name: names[line], prices: row(ruleset, "price", line) }));
}

function panel(state: Fields, player: number, viewer: number | null, names: Names): BoardPlayer {
  const phase = one(state, "phase");
  const own = showsNewCounters(state, player, viewer);
  return {
    name: names(player),
    you: player === viewer,
    on_turn: phase !== PHASES.OVER && player === one(state, "player"),
    money: dollars(all(state, "money")[player]),
    pawns: all(state, "pawns")[player],
    counters: all(state, "counters")[player],
    this_round: inThisRound(state, player),
    actions: range(PANEL_ACTIONS.length).map((action) => ({
      ...countersAt(state, player, action, viewer),
      tile: Boolean(cell(state, "tiles", player, action)),
    })),
    research: researchCounts(state, player, viewer),
    new: own ? newCounters(state, player, PLANS.NOT_PLACED) : [],
  };
}

function inThisRound(state: Fields, player: number): string {
  const told = player === one(state, "start") ? ["starts"] : [];
  if ((one(state, "passed") >> player) & 1) told.push("passed");
  return told.join(", ");
}

/** B29: until all have placed, only their owner sees new counters and where they go. */
function showsNewCounters(state: Fields, player: number, viewer: number | null): boolean {
  return one(state, "phase") === PHASES.PLACE && (viewer === null || viewer === player);
}

/** B12: the kinds of the new counters that go to `where`, or, with NOT_PLACED, are not placed yet. */
function newCounters(state: Fields, player: number, where: number): number[] {
  const plan = row(state, "plan", player);
  return row(state, "drawn", player).filter((_, index) => plan[index] === where);
}

function countersAt(state: Fields, player: number, action: number, viewer: number | null): Omit<OnAction, "tile"> {
  const lying = Array.from<number>(state.panel[player][action]).filter((kind) => kind !== EMPTY);
  const placed: number[] = [];
  if (showsNewCounters(state, player, viewer)) {
    placed.push(...newCounters(state, player, PLANS.AT_PERSON).filter((kind) => personAction(kind) === action));
    placed.push(...newCounters(state, player, PLANS.AT_RESOURCE).filter((kind) => resourceAction(kind) === action));
  }
  return { counters: lying, new: placed };
}

/** B15: the counters at research that are still to be resolved, by resource; managers are the last. */
function researchCounts(state: Fields, player: number, viewer: number | null): number[] {
  const counts = row(state, "research", player);
  if (showsNewCounters(state, player, viewer)) {
    for (const kind of newCounters(state, player, PLANS.AT_RESEARCH)) {
      counts[kind < MANAGER_COUNTER ? kind % RESOURCES.length : RESOURCES.length] += 1;
    }
  }
  return counts;
}

/** The bag by kind; with what others have newly drawn, while the viewer can't tell the two apart. */
function bagCounts(state: Fields, players: number, viewer: number | null): { counts: string; kinds: number[] } {
  const kinds = Array.from(all(state, "bag"));
  const placing = one(state, "phase") === PHASES.PLACE;
  const others = range(players).filter((player) => placing && viewer !== null && viewer !== player);
  for (const player of others) {
    for (const kind of row(state, "drawn", player)) kinds[kind] += 1;
  }
  return { counts: others.length ? "in it, or newly drawn by others" : "in it", kinds };
}

function emptyReserves(state: Fields): number {
  return Array.from(all(state, "reserve")).filter((cubes) => cubes === 0).length;
}

function end(state: Fields, ruleset: Fields): string {
  const exhausted = one(state, "exhausted");
  const empty = emptyReserves(state);
  const toEnd = one(ruleset, "areas_to_end");
  const told = `Exhausted areas: ${exhausted} of ${toEnd}. Empty reserves: ${empty} of ${EMPTY_RESERVES_TO_END}.`;
  const due = exhausted >= toEnd || empty >= EMPTY_RESERVES_TO_END;
  const last = due || one(state, "rounds") + 1 >= one(ruleset, "max_rounds");
  const phase = one(state, "phase");
  return last && phase !== PHASES.SETUP && phase !== PHASES.OVER ? `${told} This is the last round.` : told;
}

function turn(game: Game, viewer: number | null, names: Names): string {
  const { state, ruleset, players } = game;
  const rounds = one(state, "rounds");
  if (one(state, "phase") === PHASES.OVER) {
    const scores = range(players).map((player) => all(state, "money")[player]);
    return gameOver(rounds, "round", scores, Boolean(one(state, "hit_limit")), names);
  }
  const round = `Round ${rounds + 1} of at most ${one(ruleset, "max_rounds")}`;
  return `${round}: ${names(one(state, "player"))} ${decision(game, viewer)}.`;
}

const DECISIONS = new Map([
  [PHASES.TURN, "acts or passes"],
  [PHASES.CHOOSE_RESOURCE, "researches, and chooses a manager's resource"],
  [PHASES.PUT_WILDCARD, "may lay a manager at another action"],
  [PHASES.TAKE_PAWN, "chooses a pawn for an exchange"],
  [PHASES.RECALL_PAWN, "recalls a pawn to Vladivostok"],
  [PHASES.TAKE_TILE, "takes an investment tile"],
]);

function decision(game: Game, viewer: number | null): string {
  const { state } = game;
  const phase = one(state, "phase");
  const player = one(state, "player");
  const steps = () => `${counted(one(state, "steps_left"), "step")} left`;
  switch (phase) {
    case PHASES.CHOOSE_SIDE: {
      const sides = componentsOf(game).exchange_tiles[one(state, "sides_chosen")];
      return `chooses a side, ${sides[0]} or ${sides[1]}`;
    }
    case PHASES.PLACE: {
      if (!showsNewCounters(state, player, viewer)) return "places new counters";
      const number = one(state, "placed");
      const kind = KINDS[cell(state, "drawn", player, number)];
      return `places ${kind}, counter ${number + 1} of ${COUNTERS_DRAWN}`;
    }
    case PHASES.CHOOSE_AREA:
      return `researches, and chooses an area for ${RESOURCES[one(state, "resource")]}`;
    case PHASES.MOVE_FROM:
      return `chooses the next worker to move, ${steps()}`;
    case PHASES.MOVE_TO:
      return `moves a worker out of ${pawnPlace(game)}, ${steps()}`;
    case PHASES.CHOOSE_EXCHANGE:
      return `sends the pawn from ${pawnPlace(game)} to an exchange`;
    case PHASES.DISCARD:
      return `returns counters to the bag, ${all(state, "counters")[player] - PANEL_LIMIT} to go`;
    default:
      return DECISIONS.get(phase) ?? "waits for chance";
  }
}

/** Where the chosen pawn stands: the reserve, an exchange or an area. */
function pawnPlace(game: Game): string {
  const place = game.actionName(ACTIONS.PAWN_RESERVE + one(game.state, "origin")).replace(/^pawn /, "");
  return place === "reserve" ? "the reserve" : place;
}
