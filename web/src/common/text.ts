/** Amounts, counts and names, worded as the suite's Python side words them (`siberia_env/common/render.py`). */

/** How the seats of a table are called; by default as PettingZoo's agents. */
export type Names = (player: number) => string;

export const seatName: Names = (player) => `player_${player}`;

/** Whose view a text or picture is; null sees everything. */
export function seenBy(viewer: number | null, names: Names = seatName): string {
  return viewer === null ? "everything shown" : `seen by ${names(viewer)}`;
}

/** An amount of money, given in thousands. */
export function dollars(thousands: number): string {
  return `$${thousands * 1000}`;
}

/** The plural of a word: salesmen, cards. */
export function plural(word: string): string {
  return word.endsWith("man") ? `${word.slice(0, -3)}men` : `${word}s`;
}

/** A number of things, in the plural where it belongs. */
export function counted(number: number, word: string): string {
  return `${number} ${number === 1 ? word : plural(word)}`;
}

/** A word as it begins a sentence. */
export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The sentence about a finished game: so many rounds or turns (`word`), and who has won it. */
export function gameOver(played: number, word: string, scores: number[], hitLimit: boolean, names: Names): string {
  const best = Math.max(...scores);
  const winners = scores.flatMap((score, player) => (score === best ? [names(player)] : []));
  const why = hitLimit ? ` (the ${word} limit)` : "";
  return `The game is over after ${counted(played, word)}${why}; won by ${winners.join(" and ")}.`;
}
