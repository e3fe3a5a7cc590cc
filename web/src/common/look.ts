/** What the page asks of a game beside its rules: how it is drawn, told, clicked and counted. */
import type { ComponentType } from "preact";
import type { Fields, Game, Line } from "../engine/types";
import type { Names } from "./text";

/** How a thing looks while it moves over the table. */
export type Art =
  | { kind: "piece"; name: string }
  | { kind: "pawn"; player: number }
  | { kind: "card"; name: string }
  | { kind: "counter"; name: string }
  | { kind: "back" };

/** A thing that moves from one place (see `Spot`) to another; the first place of a list that is on the table counts. */
export interface Flight {
  art: Art;
  from: string[];
  to: string[];
}

/** One line of the score sheet: where points came from, in thousands of dollars a seat. */
export interface Source {
  label: string;
  /** A piece that stands beside the label. */
  piece: string;
  amounts: number[];
}

/** What a step was. `takeStep` makes them. */
export interface Step {
  /** The state before it. */
  before: Fields;
  /** The game after it. */
  game: Game;
  player: number;
  action: number;
  /** The action's name. */
  name: string;
  /** Whether the player had no choice. */
  forced: boolean;
  /** Whether only the player sees the decision, until all have decided. */
  secret: boolean;
  /** The lines of what chance brought. */
  events: readonly Line[];
}

/** What a seat sees of a game, as plain data. */
export interface Shown {
  /** The sentence about whose turn it is and how far the end is. */
  turn: string;
}

/** What a table is drawn from. */
export interface TableProps<T extends Shown> {
  table: T;
  /** Whether the window is narrow, so the parts of the table stand below each other. */
  narrow: boolean;
  /** By seat: which agent plays it, or nothing. */
  notes: readonly string[];
}

export interface GameLook<T extends Shown = any> {
  readonly key: "card" | "board";
  readonly title: string;
  /** The field of a state that has what each player has earned so far, in thousands of dollars. */
  readonly earned: "score" | "money";
  readonly Table: ComponentType<TableProps<T>>;
  /** What the seat `viewer` sees; null sees everything. */
  shown(game: Game, viewer: number | null, names: Names): T;
  /** What the person on turn is asked, in a sentence or two. */
  prompt(game: Game): string;
  /** The places where a legal action can be chosen; the first ones are the buttons, all of them glow. */
  spots(game: Game, action: number): string[];
  /** Pieces that stand for an action in the list of moves. */
  pieces(game: Game, action: number): string[];
  /** The heading under which an action stands in the list of moves. */
  group(game: Game, action: number): string;
  /** What an action brought, in words; empty where its name says it all. Players are called `player 0`, ... */
  remark(step: Step): string;
  /** What the seat is told of a line of chance. */
  toldTo(seat: number, line: Line): string[];
  /** A line of chance with everything open. */
  describe(line: Line): string[];
  /** What moves over the table with a step, as far as `viewer` may see it. */
  flights(step: Step, viewer: number | null): Flight[];
  /** Where everybody's points came from; the columns add up to the scores. */
  sources(game: Game): Source[];
  /** What a thing on the table is, by the name it is marked with (`data-about`). */
  about(key: string, game: Game | null): string | null;
}
