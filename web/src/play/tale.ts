/** What a seat is told of a game: every decision, what it brought, and the chance that followed. */
import { one } from "../common/fields";
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
  /** What others have decided in secret and is shown with this decision: texts by player. */
  revealed: { player: number; texts: string[] }[];
}

/** The entry of a step that has just been taken; `earlier` are those before it. */
export function entryOf(
  look: GameLook,
  step: Step,
  count: number,
  wasSecret: boolean,
  earlier: readonly Entry[],
): Entry {
  const { before, game } = step;
  const player = one(before, "player");
  const field = look.key === "card" ? "score" : "money";
  const gain: number = game.state[field][player] - before[field][player];
  const remarks = look.remark(step).split("; ").filter(Boolean);
  const scored = gain ? [`${gain > 0 ? "+" : "-"}${dollars(Math.abs(gain))}`] : [];
  const entry: Entry = {
    count,
    player,
    name: step.name,
    notes: [...remarks, ...scored],
    events: step.events,
    secret: wasSecret,
    revealed: [],
  };
  if (wasSecret && !game.isSecret()) entry.revealed = withheld([...earlier, entry]);
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
