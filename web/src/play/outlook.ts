/**
 * What an action is certain to bring, as far as a seat can know: it is tried in worlds that the seat can't tell from the
 * true one, and what they all agree on is shown. `siberia_experiments/play/seat.py` does the same in the terminal.
 */
import type { GameLook } from "../common/look";
import { takeStep } from "../common/step";
import type { Game } from "../engine/types";
import { notesOf } from "./tale";

/** Worlds in which an action is tried. */
const SAMPLES = 24;
/** Decisions that are followed until there is something to tell. */
const MOST_STEPS = 8;

/** Worlds that `seat` can't tell from the true one, always the same for the same position. */
export function worlds(game: Game, seat: number): Game[] {
  return Array.from({ length: SAMPLES }, (_, seed) => game.sample(seat, BigInt(seed)));
}

/** What `action` is certain to bring, in words; empty if there is nothing to tell. */
export function outlook(look: GameLook, samples: readonly Game[], seat: number, action: number): string {
  let certain: string[] = [];
  for (const [index, world] of samples.entries()) {
    const notes = firstNotes(look, world.clone(), seat, action, index);
    if (index === 0) certain = notes;
    else {
      const differs = certain.findIndex((note, place) => note !== notes[place]);
      if (differs >= 0) certain = certain.slice(0, differs);
    }
    if (!certain.length) break;
  }
  const name = samples[0].actionName(action);
  const told = certain.join("; ");
  return (told.startsWith(name) ? told.slice(name.length) : told).replace(/^[; ]+/, "");
}

/** What comes of `action`. If that is nothing yet, as with a payment, the person's next decisions are random. */
function firstNotes(look: GameLook, game: Game, seat: number, action: number, seed: number): string[] {
  const choices = new Set(game.legalActions());
  let next = action;
  let chance = seed * 2654435761 + 1;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const notes = notesOf(look, takeStep(game, next), seat);
    if (notes.length) return notes.map((note) => note.replaceAll(`player ${seat}`, "you"));
    if (game.isOver() || game.currentPlayer() !== seat) return [];
    const legal = game.legalActions();
    if (legal.some((other) => choices.has(other))) return [];
    chance = (chance * 1103515245 + 12345) % 2147483648;
    next = legal[chance % legal.length];
  }
  return [];
}

/** Whether `seat` has learned something by its own `actions`, taken from `before` to `after`, that it couldn't foresee. */
export function broughtNews(before: Game, after: Game, seat: number, actions: readonly string[]): boolean {
  if (after.isOver()) return true;
  const seen = sight(after, seat);
  return worlds(before, seat).some((world) => {
    for (const name of actions) {
      const action = world.legalActions().find((legal) => world.actionName(legal) === name);
      if (action === undefined || world.apply(action).length > 0) return true;
    }
    return sight(world, seat) !== seen;
  });
}

/** What a seat sees, as a text to compare: its observation, and whose turn it is. */
function sight(game: Game, seat: number): string {
  return `${game.currentPlayer()}:${game.observation(seat).join()}`;
}
