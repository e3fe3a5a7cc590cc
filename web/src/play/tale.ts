/** What a seat is told of a game: every decision, what it brought, and the chance that followed. */
import type { GameLook, Step } from "../common/look";
import { dollars, type Names } from "../common/text";
import type { Line } from "../engine/types";

/** One decision as it is told. */
export interface Entry {
  /** How many decisions there were before. */
  count: number;
  player: number;
  name: string;
  notes: string[];
  events: readonly Line[];
  /** Whether only its player sees it, until all have decided. */
  secret: boolean;
  /** Whether the player had no choice. */
  forced: boolean;
  /** What others have decided in secret and is shown with this decision: texts by player. */
  revealed: { player: number; texts: string[] }[];
}

/** What a step brought, in words: the game's remarks, then what `player` has gained or lost. */
export function notesOf(look: GameLook, step: Step, player: number): string[] {
  const gain: number = step.game.state[look.earned][player] - step.before[look.earned][player];
  const remarks = look.remark(step).split("; ").filter(Boolean);
  return gain ? [...remarks, `${gain > 0 ? "+" : "-"}${dollars(Math.abs(gain))}`] : remarks;
}

/** The entry of a step that has just been taken; `earlier` are those of all steps before it. */
export function entryOf(look: GameLook, step: Step, earlier: readonly Entry[]): Entry {
  const { player, name, events, secret, forced } = step;
  const notes = notesOf(look, step, player);
  const entry: Entry = { count: earlier.length, player, name, notes, events, secret, forced, revealed: [] };
  if (secret && !step.game.isSecret()) entry.revealed = withheld([...earlier, entry]);
  return entry;
}

/** The secret decisions at the end of a tale, by player. */
function withheld(entries: readonly Entry[]): Entry["revealed"] {
  const from = entries.findLastIndex((entry) => !entry.secret) + 1;
  const byPlayer = new Map<number, string[]>();
  for (const entry of entries.slice(from)) {
    const texts = byPlayer.get(entry.player) ?? [];
    byPlayer.set(entry.player, [...texts, entry.notes.join("; ") || entry.name]);
  }
  return [...byPlayer].map(([player, texts]) => ({ player, texts }));
}

/** What `viewer` is told of an entry, in lines; null is told everything. */
export function told(look: GameLook, entry: Entry, viewer: number | null, names: Names): string[] {
  const called = (player: number) => (player === viewer ? "you" : names(player));
  const lines: string[] = [];
  if (viewer === null || viewer === entry.player || !entry.secret) {
    const notes = entry.notes.length ? ` [${entry.notes.join("; ")}]` : "";
    lines.push(`${called(entry.player)}: ${entry.name}${notes}`);
  }
  for (const { player, texts } of entry.revealed) {
    if (viewer !== null && player !== viewer) lines.push(`${called(player)} decided: ${texts.join(", ")}`);
  }
  for (const event of entry.events) {
    lines.push(...(viewer === null ? look.describe(event) : look.toldTo(viewer, event)));
  }
  return lines.map((line) => withSeats(line, viewer, names));
}

/** A chronicle's text with the players called by their names. */
export function withSeats(text: string, viewer: number | null, names: Names): string {
  return text
    .replace(/\bplayer (\d) (\w+?)s\b/g, (whole, seat: string, verb: string) =>
      Number(seat) === viewer ? `you ${verb}` : whole,
    )
    .replace(/\bof player (\d)\b/g, (whole, seat: string) => (Number(seat) === viewer ? "of yours" : whole))
    .replace(/\bplayer (\d)\b/g, (_, seat: string) => (Number(seat) === viewer ? "you" : names(Number(seat))));
}
