/** The board game as the page shows it: see `GameLook`. */
import { all, one, range } from "../common/fields";
import type { Flight, GameLook, Source, Step } from "../common/look";
import { takeStep } from "../common/step";
import { counted } from "../common/text";
import type { Game } from "../engine/types";
import { about } from "./about";
import { areaNames, describe, remark, toldTo } from "./chronicle";
import {
  ACTIONS,
  COUNTERS_DRAWN,
  GAS,
  KINDS,
  LYING,
  MANAGER_COUNTER,
  NUM_EXCHANGES,
  PANEL_ACTIONS,
  PANEL_LIMIT,
  PHASES,
  PLANS,
  RESOURCES,
  START,
  TITLE,
  componentsOf,
  personAction,
  resourceAction,
} from "./names";
import { shown, type BoardTable } from "./shown";
import { Table } from "./table";

export const BOARD: GameLook<BoardTable> = {
  key: "board",
  title: TITLE,
  earned: "money",
  Table,
  shown,
  prompt,
  spots,
  pieces,
  group,
  remark,
  toldTo,
  describe,
  flights,
  sources,
  about,
};

// ---------------------------------------------------------------- what the person is asked

function prompt(game: Game): string {
  const { state } = game;
  const phase = one(state, "phase");
  const player = one(state, "player");
  const steps = one(state, "steps_left");
  const toGo = `${counted(steps, "step")} left`;
  switch (phase) {
    case PHASES.CHOOSE_SIDE: {
      const [first, second] = componentsOf(game).exchange_tiles[one(state, "sides_chosen")];
      return `Which side of this exchange tile is in play: ${first} or ${second}?`;
    }
    case PHASES.PLACE: {
      const number = one(state, "placed");
      const kind = KINDS[state["drawn"][player][number]];
      const where = kind === "manager" ? "the manager" : kind.split("/").reverse().join(" or ");
      return `Place ${kind}, counter ${number + 1} of ${COUNTERS_DRAWN}: on a space of ${where}, or at research.`;
    }
    case PHASES.TURN:
      return "Carry out an action whose two spaces are covered, or pass for the rest of the round.";
    case PHASES.CHOOSE_RESOURCE:
      return "Research with a manager: which resource shall it bring?";
    case PHASES.CHOOSE_AREA:
      return `Research: into which area shall the ${RESOURCES[one(state, "resource")]} cube go?`;
    case PHASES.PUT_WILDCARD:
      return "You may lay one of the two managers onto a free space of another action.";
    case PHASES.MOVE_FROM:
      return `Which worker shall take the next step? ${toGo}.`;
    case PHASES.MOVE_TO:
      return `Where to? ${toGo}.`;
    case PHASES.TAKE_PAWN:
      return "Which pawn shall become a salesman at an exchange?";
    case PHASES.CHOOSE_EXCHANGE:
      return "To which exchange shall the pawn go?";
    case PHASES.RECALL_PAWN:
      return "Your reserve is empty: which pawn shall become a worker in Vladivostok?";
    case PHASES.TAKE_TILE:
      return "Which investment tile do you take?";
    case PHASES.DISCARD:
      return `At most ${PANEL_LIMIT} counters may stay: give back ${all(state, "counters")[player] - PANEL_LIMIT} more.`;
    default:
      return "";
  }
}

/** Where a pawn of `player` stands: `place` is counted from `PAWN_RESERVE`, as in the actions. */
function pawnSpot(game: Game, player: number, place: number): string {
  if (place === 0) return `reserve of ${player}`;
  if (place <= NUM_EXCHANGES) return `exchange ${place - 1}`;
  return areaSpot(game, place - 1 - NUM_EXCHANGES);
}

function areaSpot(game: Game, area: number): string {
  return `area ${Object.keys(componentsOf(game).areas)[area] ?? START}`;
}

function spots(game: Game, action: number): string[] {
  const { state } = game;
  const player = one(state, "player");
  const panel = (number: number) => `panel ${player} ${PANEL_ACTIONS[number]}`;
  if (action < ACTIONS.PLACE_RESEARCH) return [`side ${game.actionName(action).replace(/^side /, "")}`];
  if (action === ACTIONS.PLACE_RESEARCH) return [`research ${player}`];
  if (action < ACTIONS.PASS) {
    const kind = state["drawn"][player][one(state, "placed")];
    return [panel(action === ACTIONS.PLACE_PERSON ? personAction(kind) : resourceAction(kind))];
  }
  if (action === ACTIONS.PASS || action === ACTIONS.WILDCARD_NONE || action === ACTIONS.STOP) return [];
  if (action < ACTIONS.RESOURCE) return [panel(action - ACTIONS.ACT)];
  if (action < ACTIONS.AREA) return [`trade ${RESOURCES[action - ACTIONS.RESOURCE]}`];
  if (action < ACTIONS.WILDCARD) return [areaSpot(game, action - ACTIONS.AREA)];
  if (action < ACTIONS.WILDCARD_NONE) return [panel(1 + action - ACTIONS.WILDCARD)];
  if (action < ACTIONS.TO) return [areaSpot(game, action - ACTIONS.FROM)];
  if (action < ACTIONS.STOP) return [areaSpot(game, action - ACTIONS.TO)];
  if (action < ACTIONS.EXCHANGE) return [pawnSpot(game, player, action - ACTIONS.PAWN_RESERVE)];
  if (action < ACTIONS.CARD) return [`exchange ${action - ACTIONS.EXCHANGE}`];
  if (action < ACTIONS.TILE) return [`card ${RESOURCES[action - ACTIONS.CARD]}`];
  if (action < ACTIONS.DISCARD_COUNTER) {
    const name = PANEL_ACTIONS[action - ACTIONS.TILE];
    return [`tile ${name}`, `tile ${name} 1`];
  }
  const [on, kind] = LYING[action - ACTIONS.DISCARD_COUNTER];
  const counter = `counter ${player} ${PANEL_ACTIONS[on]} ${KINDS[kind]}`;
  return [counter, `${counter} 1`];
}

function pieces(game: Game, action: number): string[] {
  const { state } = game;
  if (action >= ACTIONS.PLACE_RESEARCH && action < ACTIONS.PASS) {
    const kind: number = state["drawn"][one(state, "player")][one(state, "placed")];
    if (action === ACTIONS.PLACE_RESEARCH) return [];
    return [PANEL_ACTIONS[action === ACTIONS.PLACE_PERSON ? personAction(kind) : resourceAction(kind)]];
  }
  if (action >= ACTIONS.ACT && action < ACTIONS.RESOURCE) return [PANEL_ACTIONS[action - ACTIONS.ACT]];
  if (action >= ACTIONS.RESOURCE && action < ACTIONS.AREA) return [RESOURCES[action - ACTIONS.RESOURCE]];
  if (action >= ACTIONS.AREA && action < ACTIONS.WILDCARD) return [RESOURCES[one(state, "resource")]].filter(Boolean);
  if (action >= ACTIONS.WILDCARD && action < ACTIONS.WILDCARD_NONE)
    return [PANEL_ACTIONS[1 + action - ACTIONS.WILDCARD]];
  if (action >= ACTIONS.CARD && action < ACTIONS.TILE) return [RESOURCES[action - ACTIONS.CARD]];
  if (action >= ACTIONS.TILE && action < ACTIONS.DISCARD_COUNTER) return [PANEL_ACTIONS[action - ACTIONS.TILE]];
  if (action >= ACTIONS.DISCARD_COUNTER) return KINDS[LYING[action - ACTIONS.DISCARD_COUNTER][1]].split("/");
  return [];
}

const GROUPS: [number, string][] = [
  [ACTIONS.SIDE, "Choose a side"],
  [ACTIONS.PLACE_RESEARCH, "Place the counter"],
  [ACTIONS.PASS, "Your turn"],
  [ACTIONS.RESOURCE, "Choose a resource"],
  [ACTIONS.AREA, "Choose an area"],
  [ACTIONS.WILDCARD, "Lay a manager"],
  [ACTIONS.FROM, "Move a worker"],
  [ACTIONS.TO, "Step to"],
  [ACTIONS.STOP, "Move a worker"],
  [ACTIONS.PAWN_RESERVE, "Choose a pawn"],
  [ACTIONS.EXCHANGE, "Choose an exchange"],
  [ACTIONS.CARD, "Take a salesman card"],
  [ACTIONS.TILE, "Take a tile"],
  [ACTIONS.DISCARD_COUNTER, "Give back a counter"],
];

function group(_game: Game, action: number): string {
  return GROUPS.filter(([first]) => action >= first).at(-1)?.[1] ?? "";
}

// ---------------------------------------------------------------- what moves

function flights(step: Step, viewer: number | null): Flight[] {
  const { before, game, action, events } = step;
  const player = one(before, "player");
  const phase = one(before, "phase");
  const own = viewer === null || viewer === player;
  const pawn = { kind: "pawn", player } as const;
  const found: Flight[] = [];
  const panel = (number: number) => `panel ${player} ${PANEL_ACTIONS[number]}`;
  if (phase === PHASES.PLACE && own) {
    const kind: number = before["drawn"][player][one(before, "placed")];
    const where = action - ACTIONS.PLACE_RESEARCH + PLANS.AT_RESEARCH;
    const to =
      where === PLANS.AT_RESEARCH
        ? `research ${player}`
        : panel(where === PLANS.AT_PERSON ? personAction(kind) : resourceAction(kind));
    found.push({ art: { kind: "counter", name: KINDS[kind] }, from: [`new ${player} 0`], to: [to] });
  }
  if (phase === PHASES.TURN && action >= ACTIONS.ACT && action < ACTIONS.RESOURCE) {
    const on = action - ACTIONS.ACT;
    for (const kind of (before["panel"][player][on] as number[]).filter((there) => there >= 0)) {
      found.push({ art: { kind: "counter", name: KINDS[kind] }, from: [panel(on)], to: ["bag"] });
    }
    if (on >= GAS) {
      const sold = before["lying"][on - GAS] & ~game.state["lying"][on - GAS];
      for (const area of areaNames(game, sold)) {
        found.push({
          art: { kind: "piece", name: PANEL_ACTIONS[on] },
          from: [`area ${area}`],
          to: [`trade ${PANEL_ACTIONS[on]}`],
        });
      }
    }
    const gained = game.state["workers"][player].at(-1) - before["workers"][player].at(-1);
    if (gained > 0) found.push({ art: pawn, from: [`reserve of ${player}`], to: [`area ${START}`] });
  }
  if (phase === PHASES.CHOOSE_AREA) {
    found.push({
      art: { kind: "piece", name: RESOURCES[one(before, "resource")] },
      from: ["reserve"],
      to: [areaSpot(game, action - ACTIONS.AREA)],
    });
  }
  if (phase === PHASES.PUT_WILDCARD && action !== ACTIONS.WILDCARD_NONE) {
    found.push({
      art: { kind: "counter", name: KINDS[MANAGER_COUNTER] },
      from: [panel(0)],
      to: [panel(1 + action - ACTIONS.WILDCARD)],
    });
  }
  if (phase === PHASES.MOVE_TO) {
    found.push({
      art: pawn,
      from: [pawnSpot(game, player, before["origin"])],
      to: [areaSpot(game, action - ACTIONS.TO)],
    });
  }
  if (phase === PHASES.CHOOSE_EXCHANGE) {
    found.push({
      art: pawn,
      from: [pawnSpot(game, player, before["origin"])],
      to: [`exchange ${action - ACTIONS.EXCHANGE}`],
    });
  }
  if (phase === PHASES.RECALL_PAWN) {
    found.push({ art: pawn, from: [pawnSpot(game, player, action - ACTIONS.PAWN_RESERVE)], to: [`area ${START}`] });
  }
  if (phase === PHASES.TAKE_TILE) {
    const name = PANEL_ACTIONS[action - ACTIONS.TILE];
    found.push({ art: { kind: "piece", name }, from: [`tile ${name}`], to: [`panel ${player} ${name}`] });
  }
  if (phase === PHASES.DISCARD) {
    const [on, kind] = LYING[action - ACTIONS.DISCARD_COUNTER];
    found.push({ art: { kind: "counter", name: KINDS[kind] }, from: [panel(on)], to: ["bag"] });
  }
  for (const line of events.filter((event) => event["event"] === "draw")) {
    const to = line["player"] as number;
    found.push({ art: { kind: "back" }, from: ["bag"], to: [`new ${to} 0`, `reserve of ${to}`] });
  }
  return found;
}

// ---------------------------------------------------------------- where the money came from

/** What everybody has been paid for each resource, found by playing the game again. */
function sources(game: Game): Source[] {
  const again = game.rewound(0);
  const paid = RESOURCES.map(() => range(game.players).map(() => 0));
  for (const line of game.lines) {
    if (typeof line["action"] !== "string") continue;
    const action = again.actionNumber(line["action"]);
    const resource = action - ACTIONS.ACT - GAS;
    const { before, player } = takeStep(again, action);
    if (one(before, "phase") !== PHASES.TURN || resource < 0 || action >= ACTIONS.RESOURCE) continue;
    paid[resource][player] += again.state["money"][player] - before["money"][player];
  }
  return RESOURCES.map((resource, index) => ({
    label: `${resource} sold`,
    piece: resource,
    amounts: paid[index],
  })).filter((line) => line.amounts.some((amount) => amount !== 0));
}
