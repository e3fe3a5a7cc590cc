/** Colours and icons: those of the suite's pictures (`style.json`), and the page's dark colours. */
import style from "../../../siberia_env/common/style.json";
import dark from "./dark.json";

export interface PieceLook {
  letters: string;
  fill: string;
  ink: string;
  icon: string;
}

export const PIECES: Record<string, PieceLook> = style.pieces;
export const PLAYERS = style.players;
export const PAWN = style.pawn;
const FONT_ADVANCES = style.advances;
const FIRST_LETTER = 32;
const WIDEST = 1.05;
const SMALLEST = 0.75;

export type Theme = "auto" | "light" | "dark";
const THEME_KEY = "siberia:theme";

/** The theme that was chosen before on this machine. */
export function storedTheme(): Theme {
  const kept = readStored();
  return kept === "light" || kept === "dark" ? kept : "auto";
}

function readStored(): string | null {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}

/** Use a theme from now on: `auto` follows the machine. */
export function useTheme(theme: Theme): void {
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // The page works without a memory too.
  }
  applyTheme(theme);
}

/** Follow the machine's colours when they change. */
export function followMachine(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => applyTheme(storedTheme()));
}

export function applyTheme(theme: Theme): void {
  const isDark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const root = document.documentElement;
  root.dataset["theme"] = isDark ? "dark" : "light";
  for (const [name, colour] of Object.entries({ ...style.colours, ...(isDark ? dark : {}) })) {
    root.style.setProperty(`--${name}`, colour);
  }
}

/** How wide a text is in DejaVu Sans, in the units of `size`. */
function width(words: string, size: number, bold: boolean): number {
  const advances = bold ? FONT_ADVANCES.bold : FONT_ADVANCES.regular;
  let sum = 0;
  for (const letter of words) sum += advances[letter.charCodeAt(0) - FIRST_LETTER] ?? WIDEST;
  return size * sum;
}

/** The text and the size at which it is no wider than `room`: smaller, and cut if that is not enough. */
export function fitted(words: string, size: number, room: number, bold: boolean): [string, number] {
  const smaller = Math.max(Math.min(size, (size * room) / Math.max(width(words, size, bold), 1e-9)), SMALLEST * size);
  if (width(words, smaller, bold) <= room * 1.001) return [words, smaller];
  let kept = words.length;
  while (kept && width(`${words.slice(0, kept).trimEnd()}…`, smaller, bold) > room) kept -= 1;
  return [`${words.slice(0, kept).trimEnd()}…`, smaller];
}
