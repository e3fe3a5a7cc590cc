/** The board game's names and numbers, as Python has written them (`siberia_experiments/web/words.py`). */
import words from "../data/board.json";
import type { Game } from "../engine/types";

export const TITLE = words.title;
export const RESOURCES = words.resources;
export const PERSONS = words.persons;
/** The kinds of action counters, such as gas/worker; the manager is the last. */
export const KINDS = words.kinds;
/** The ten actions of a panel: manager, persons, resources. */
export const PANEL_ACTIONS = words.panel_actions;
export const SPACES = words.spaces;
export const START = words.start;
export const FIRST_EXCHANGE = words.first_exchange;
export const NUM_PLACES = words.most_areas + 1;
/** The place of Vladivostok among the places where a worker can stand. */
export const VLADIVOSTOK = words.most_areas;
export const COUNTERS_DRAWN = words.counters_drawn;
export const PANEL_LIMIT = words.panel_limit;
export const EMPTY_RESERVES_TO_END = words.empty_reserves_to_end;
export const PHASES = words.phases;
export const PLANS = words.plans;
export const ACTIONS = words.actions;
/** For each action `discard ...`, the panel action and the kind of counter. */
export const LYING = words.lying as [number, number][];

export const EXCHANGE_TILES = 5;
export const TILE_SIDES = 2;
export const NUM_EXCHANGES = 1 + EXCHANGE_TILES;
export const RESEARCH_COLUMNS = RESOURCES.length + 1;
export const GAS = PANEL_ACTIONS.indexOf("gas");
export const LOGISTICIAN = PANEL_ACTIONS.indexOf("logistician");
export const INVESTOR = PANEL_ACTIONS.indexOf("investor");
export const WORKER = PANEL_ACTIONS.indexOf("worker");
export const MANAGER_COUNTER = KINDS.length - 1;
export const NOBODY = -1;
export const EMPTY = -1;

/** The action of a counter's person; for a manager the manager's. */
export function personAction(kind: number): number {
  return kind === MANAGER_COUNTER ? 0 : LOGISTICIAN + Math.floor(kind / RESOURCES.length);
}

/** The action of a counter's resource; a manager has none. */
export function resourceAction(kind: number): number {
  return GAS + (kind % RESOURCES.length);
}

/** The tables of a component file, as the page needs them. */
export interface BoardComponents {
  exchanges: Record<string, number[]>;
  exchange_tiles: string[][];
  arrows: string[];
  areas: Record<string, string[]>;
}

const BOX = words.components as unknown as BoardComponents;

/** The component tables of a board game. */
export function componentsOf(game: Game): BoardComponents {
  return game.components as unknown as BoardComponents;
}

/** Whether the areas are those of the drawn map; their order doesn't matter. */
export function isDrawn(components: BoardComponents): boolean {
  const sorted = (names: readonly string[]) => [...names].sort().join();
  const areas = (tables: BoardComponents) =>
    sorted(Object.entries(tables.areas).map(([area, adjacent]) => `${area}:${sorted(adjacent)}`));
  return areas(components) === areas(BOX) && sorted(components.arrows) === sorted(BOX.arrows);
}

/** The names of the exchanges in the box in the order of the table of prices: Frankfurt, then both sides of each tile. */
export function allExchanges(components: BoardComponents): string[] {
  return [FIRST_EXCHANGE, ...components.exchange_tiles.flat()];
}
