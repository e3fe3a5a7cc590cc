/** The board game's events in words, as `siberia_env/board/notation.py` tells them. */
import { one, range } from "../common/fields";
import type { Step } from "../common/look";
import { counted } from "../common/text";
import type { Game, Line } from "../engine/types";
import {
  ACTIONS,
  FIRST_EXCHANGE,
  GAS,
  INVESTOR,
  KINDS,
  NOBODY,
  PANEL_ACTIONS,
  PHASES,
  PLANS,
  RESOURCES,
  WORKER,
  componentsOf,
  personAction,
  resourceAction,
} from "./names";

/** What `action` brought: the counter or cube, or the effect. Empty if its name says it all. */
export function remark(step: Step): string {
  const { before, game, action } = step;
  const player = one(before, "player");
  const phase = one(before, "phase");
  const notes: string[] = [];
  if (phase === PHASES.PLACE) {
    const kind = before["drawn"][player][one(before, "placed")];
    notes.push(placed(kind, action - ACTIONS.PLACE_RESEARCH + PLANS.AT_RESEARCH));
  } else if (phase === PHASES.CHOOSE_AREA) {
    notes.push(`${RESOURCES[one(before, "resource")]} cube`);
  } else if (phase === PHASES.TURN && action >= ACTIONS.ACT && action < ACTIONS.RESOURCE) {
    notes.push(...effect(step, action - ACTIONS.ACT));
  } else if (action >= ACTIONS.CARD && action < ACTIONS.TILE) {
    const owner = before["card_owner"][action - ACTIONS.CARD];
    if (owner !== NOBODY) notes.push(`from player ${owner}`);
  }
  if (phase !== PHASES.CHOOSE_RESOURCE) notes.push(...vainResearch(step));
  if (one(game.state, "rounds") > one(before, "rounds")) notes.push(`round ${one(game.state, "rounds")} is over`);
  return notes.join("; ");
}

function placed(kind: number, where: number): string {
  if (where === PLANS.AT_RESEARCH) return `${KINDS[kind]} at research`;
  const action = where === PLANS.AT_PERSON ? personAction(kind) : resourceAction(kind);
  return `${KINDS[kind]} at ${PANEL_ACTIONS[action]}`;
}

/** What an action did that asks for no decision. */
function effect({ before, game }: Step, action: number): string[] {
  const player = one(before, "player");
  const after = game.state;
  if (action >= GAS) {
    const name = PANEL_ACTIONS[action];
    const price = before["best_price"][player][action - GAS];
    const sold = areaNames(game, before["lying"][action - GAS] & ~after["lying"][action - GAS]);
    if (!sold.length) {
      return [price === 0 ? `nothing: no price is open for ${name}` : `nothing: no worker where ${name} lies`];
    }
    const exhausted = areaNames(game, one(before, "open") & ~one(after, "open"));
    return [
      `${sold.length} ${name} from ${sold.join(", ")}, sold at $${price * 1000}`,
      ...(exhausted.length ? [`exhausted: ${exhausted.join(", ")}`] : []),
    ];
  }
  if (action === WORKER && one(after, "phase") !== PHASES.RECALL_PAWN) {
    return [before["pawns"][player] > 0 ? "a worker to Vladivostok" : "nothing: no pawn to recall"];
  }
  if (action === INVESTOR && one(after, "phase") !== PHASES.TAKE_TILE) return ["nothing: no tile to take"];
  return [];
}

/** The names of a set of areas (bit a for area a). */
export function areaNames(game: Game, set: number): string[] {
  return Object.keys(componentsOf(game).areas).filter((_, number) => (set >> number) & 1);
}

/** How many research counters were resolved without placing a cube (B15). */
function vainResearch({ before, game }: Step): string[] {
  const after = game.state;
  const revealed = one(before, "phase") === PHASES.PLACE && one(after, "phase") !== PHASES.PLACE;
  const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);
  return range(game.players).flatMap((player) => {
    const plan = [...(after["plan"][player] as number[])];
    const waiting = revealed
      ? plan.filter((where) => where === PLANS.AT_RESEARCH).length
      : sum(before["research"][player]);
    const phase = one(after, "phase");
    const asked = one(after, "player") === player && (phase === PHASES.CHOOSE_RESOURCE || phase === PHASES.CHOOSE_AREA);
    const vain = waiting - sum(after["research"][player]) - (asked ? 1 : 0);
    return vain > 0 ? [`${vain} research counter(s) of player ${player} in vain`] : [];
  });
}

/** What the seat is told of an event: its own counters, how many the others get, and the tile. */
export function toldTo(seat: number, line: Line): string[] {
  if (line["event"] === "draw" && line["player"] !== seat) {
    return [`player ${line["player"]} draws ${counted((line["counters"] as string[]).length, "counter")}`];
  }
  return line["event"] === "draw" || line["event"] === "tile" ? describe(line) : [];
}

/** An event with everything open. */
export function describe(line: Line): string[] {
  switch (line["event"]) {
    case "draw":
      return [`player ${line["player"]} draws ${(line["counters"] as string[]).join(", ")}`];
    case "tile":
      return [`the investment tile for ${line["tile"]} is turned up`];
    case "setup": {
      const areas = Object.entries(line["areas"] as Record<string, string[]>);
      const reserve = Object.entries(line["reserve"] as Record<string, number>);
      const told = [
        `cubes: ${areas.map(([area, cubes]) => `${area} ${cubes.join(", ")}`).join("; ")}`,
        `reserve: ${reserve.map(([resource, count]) => `${count} ${resource}`).join(", ")}`,
        `investment tiles: ${(line["tiles"] as string[]).join(", ")}`,
      ];
      if (line["sides"]) told.push(`exchanges: ${[FIRST_EXCHANGE, ...(line["sides"] as string[])].join(", ")}`);
      return told;
    }
    default:
      return [];
  }
}
