/** A copy of a state's fields: what it was before a move, while the game goes on. */
import type { Fields, Game } from "../engine/types";

export function snapshot(game: Game): Fields {
  return Object.fromEntries(Object.keys(game.info.state.fields).map((name) => [name, copied(game.state[name])]));
}

function copied(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>);
  return Array.isArray(value) ? value.map(copied) : value;
}
