/** Saved games: in the browser's storage after every decision, and as files. */
import { quoted } from "../engine/json";
import { SiberiaError, type Game, type Json, type Rules } from "../engine/types";

export const FORMAT = "siberia-page-save/1";
const PREFIX = "siberia:game:";

/** Who sits at a seat. */
export interface SeatPlan {
  kind: "person" | "agent";
  name: string;
  /** The agent's spec; `machine:` in front of one that plays outside the browser. */
  agent: string;
}

/** Everything that is settled before the deal. */
export interface Setup {
  game: "card" | "board";
  rules: Rules;
  /** The content of a component file; null for the box. */
  components: Json;
  /** A whole number, as text, for no JSON number holds 64 bits. */
  seed: string;
  seats: SeatPlan[];
}

export interface Save {
  format: string;
  id: string;
  version: string;
  setup: Setup;
  /** Every decision so far, by name. */
  decisions: string[];
  /** Decisions taken back after seeing what could not be foreseen, by seat. */
  looksAhead: number[];
  /** When it was saved, in milliseconds since 1970. */
  at: number;
}

/** The decisions of a game so far, by name. */
export function decisionNames(game: Game): string[] {
  return game.lines.flatMap((line) => (typeof line["action"] === "string" ? [line["action"]] : []));
}

/** Keep a game in the browser; false if it has no room or no storage. */
export function keep(save: Save): boolean {
  try {
    localStorage.setItem(PREFIX + save.id, JSON.stringify(save));
    return true;
  } catch {
    return false;
  }
}

export function forget(id: string): void {
  try {
    localStorage.removeItem(PREFIX + id);
  } catch {
    // There is nothing to forget.
  }
}

const CURRENT = "siberia:current";

/** Remember which game this tab shows, so that a reload goes on with it; null: none. */
export function showing(id: string | null): void {
  try {
    if (id === null) sessionStorage.removeItem(CURRENT);
    else sessionStorage.setItem(CURRENT, id);
  } catch {
    // A reload then begins with the first screen, which offers the game.
  }
}

/** The game that this tab showed before it was loaded again; null if there was none. */
export function shownBefore(): Save | null {
  try {
    const id = sessionStorage.getItem(CURRENT);
    return kept().find((save) => save.id === id) ?? null;
  } catch {
    return null;
  }
}

/** The games that are kept in the browser, the latest first; what can't be read is left where it is. */
export function kept(): Save[] {
  const found: Save[] = [];
  try {
    for (let index = 0; index < localStorage.length; index += 1) {
      const key = localStorage.key(index) ?? "";
      if (!key.startsWith(PREFIX)) continue;
      try {
        found.push(readSave(localStorage.getItem(key) ?? ""));
      } catch {
        // A save of another version, or damaged: nothing that can be offered.
      }
    }
  } catch {
    return [];
  }
  return found.sort((one, other) => other.at - one.at);
}

/** A save in the text of a file. Throws a `SiberiaError` in one sentence. */
export function readSave(text: string): Save {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new SiberiaError("This is no saved game: it is not JSON.");
  }
  const save = content as Partial<Save>;
  if (typeof content !== "object" || content === null || !("format" in content)) {
    throw new SiberiaError("This is no saved game.");
  }
  if (save.format !== FORMAT) {
    throw new SiberiaError(`This saved game has the format ${quoted(save.format as Json)}; this page reads ${FORMAT}.`);
  }
  const { setup, decisions, looksAhead } = save;
  const whole =
    typeof save.id === "string" &&
    isSetup(setup) &&
    Array.isArray(decisions) &&
    decisions.every((name) => typeof name === "string") &&
    Array.isArray(looksAhead) &&
    looksAhead.length === setup.seats.length &&
    looksAhead.every((count) => Number.isInteger(count) && count >= 0);
  if (!whole) throw new SiberiaError("This saved game is damaged.");
  return save as Save;
}

/** Whether something has the form of a setup; whether it can be played, the engine finds out. */
export function isSetup(thing: unknown): thing is Setup {
  const { game, rules, components, seed, seats } = (thing ?? {}) as Partial<Setup>;
  return (
    (game === "card" || game === "board") &&
    typeof rules === "object" &&
    rules !== null &&
    typeof components === "object" &&
    /^\d{1,20}$/.test(seed ?? "") &&
    Array.isArray(seats) &&
    seats.length >= 2 &&
    seats.length <= 4 &&
    seats.every(isSeat)
  );
}

export function isSeat(seat: unknown): seat is SeatPlan {
  const { kind, name, agent } = (seat ?? {}) as Partial<SeatPlan>;
  return (kind === "person" || kind === "agent") && typeof name === "string" && typeof agent === "string";
}

/** Hand a text to the person as a file. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
