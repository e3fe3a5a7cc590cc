/** One action of a game, and everything about it that is told or shown. */
import type { Fields, Game } from "../engine/types";
import type { Flight, GameLook, Step } from "./look";

/** Take an action, and say what it was. `game` goes on. */
export function takeStep(game: Game, action: number): Step {
  const before = snapshot(game);
  const player = game.currentPlayer();
  const forced = game.legalActions().length === 1;
  const secret = game.isSecret();
  const name = game.actionName(action);
  const events = game.apply(action);
  return { before, game, player, action, name, forced, secret, events };
}

/** What moves over the table with a step, as far as `viewer` may see it; null sees everything. */
export function flightsSeen(look: GameLook, step: Step, viewer: number | null): Flight[] {
  const flights = look.flights(step, viewer);
  const hidden = step.secret && viewer !== null && viewer !== step.player;
  return hidden ? flights.filter((flight) => flight.art.kind === "back") : flights;
}

/** A copy of a state's fields: what it was before a move, while the game goes on. */
function snapshot(game: Game): Fields {
  return Object.fromEntries(Object.keys(game.info.state.fields).map((name) => [name, copied(game.state[name])]));
}

function copied(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>);
  return Array.isArray(value) ? value.map(copied) : value;
}
