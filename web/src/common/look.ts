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

/** What a step was: the state before it, the action, and the lines of what chance brought. */
export interface Step {
  before: Fields;
  game: Game;
  action: number;
  name: string;
  events: readonly Line[];
}

export interface TableProps {
  game: Game;
  viewer: number | null;
  names: Names;
  notes: readonly string[];
  narrow: boolean;
}

export interface GameLook {
  readonly key: "card" | "board";
  readonly title: string;
  readonly Table: ComponentType<TableProps>;
  /** The sentence about whose turn it is and how far the end is. */
  turn(game: Game, viewer: number | null, names: Names): string;
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
