/**
 * What the engine offers to the page: both games on the suite's own kernels, compiled to WebAssembly.
 *
 * The files that it needs are in `experiments/web/static`: `card.wasm` and `card.json`, `board.wasm` and `board.json`,
 * and the trained models of `agents/models` (`card_2.npz` and so on). Everything that Python knows and the page needs
 * is in the JSON files (`GameInfo`); `make wasm` writes them.
 */

/** An error that a person can be shown: its message is one sentence. */
export class SiberiaError extends Error {
  override name = "SiberiaError";
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A JSON value. Whole numbers that a double can't hold are bigints. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };

/** A line of a game record (docs/records.md): a decision, or an event that chance brought. */
export type Line = { readonly [key: string]: Json };

/** One field of a state or ruleset record. `type` is numpy's: `i1`, `i2`, `i4`, `u8`. */
export interface FieldInfo {
  readonly offset: number;
  readonly type: string;
  readonly shape: readonly number[];
}

export interface RecordInfo {
  readonly size: number;
  readonly fields: { readonly [name: string]: FieldInfo };
}

/** One named part of an observation. */
export interface BlockInfo {
  readonly name: string;
  readonly start: number;
  readonly shape: readonly number[];
  /** The quantity that a value of 1 stands for. */
  readonly unit: number;
  readonly signed: boolean;
  readonly meaning: string;
}

/** An option of the rules. */
export interface OptionInfo {
  readonly default: Json;
  /** The values to choose from, if they can be listed (`null`: a list of names is allowed as well). */
  readonly values?: readonly Json[];
  /** For whole numbers: the lowest and the highest. */
  readonly range?: readonly [number, number];
}

export interface AgentInfo {
  /** How it plays, in a sentence. */
  readonly meaning: string;
  /** The form of its spec: `search[:BUDGET][:OPTION=VALUE]...`. */
  readonly form: string;
  readonly options: {
    readonly [name: string]: { readonly values: string; readonly default: Json; readonly meaning: string };
  };
}

/** What Python says of a game. Written by `make wasm`, never by hand. */
export interface GameInfo {
  /** The form of this file; an engine reads only its own. */
  readonly format: string;
  /** The version of the suite. */
  readonly version: string;
  readonly game: "card" | "board";
  readonly title: string;
  readonly wasm: { readonly file: string; readonly sha256: string; readonly bytes: number };
  readonly minPlayers: number;
  readonly maxPlayers: number;
  readonly state: RecordInfo;
  readonly ruleset: RecordInfo;
  /** Ruleset bytes (base64) by number of players, with default rules and components. */
  readonly rulesets: { readonly [players: string]: string };
  /** Every action's name, in action order, with default components. */
  readonly actions: readonly string[];
  /** The decisions, each with the names of its actions, in action order. */
  readonly choices: readonly { readonly decision: string; readonly actions: readonly string[] }[];
  /** The constants of the game's modules by name: `RESOURCES`, `KINDS`, `HAND_LIMIT`, `OVER`, ... */
  readonly constants: { readonly [name: string]: Json };
  /** The names of the values of `state.phase`, in order. */
  readonly phases: readonly string[];
  readonly options: { readonly [name: string]: OptionInfo };
  /** The component tables of the box, as they stand in component files and records. */
  readonly components: { readonly [table: string]: Json };
  /** Where the component tables come from: `rulebook`, `review` or `assumed`. */
  readonly tables: readonly { readonly name: string; readonly content: string; readonly source: string }[];
  readonly observation: { readonly size: number; readonly version: string; readonly blocks: readonly BlockInfo[] };
  readonly hidden: { readonly size: number; readonly blocks: readonly BlockInfo[] };
  /** Dollars in a point of `scores()` and of money in states. */
  readonly scoreUnit: number;
  readonly hasSecrets: boolean;
  readonly agents: { readonly [name: string]: AgentInfo };
  /** Who plays a level: by number of players, then by level. */
  readonly levels: {
    readonly [players: string]: { readonly [level: string]: { readonly agent: string; readonly rating: number } };
  };
  /** The files of the models that come with the suite, by number of players. */
  readonly models: { readonly [players: string]: string };
}

/** What an engine is made of. The page fetches the files, or has them in itself. */
export interface Assets {
  readonly info: GameInfo;
  readonly wasm: Uint8Array<ArrayBuffer>;
  /** The content of a file of `info.models`, asked for when an agent needs it. */
  model(file: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** A field with one axis more than a row is an array of those. */
export type FieldValue = number | bigint | Int8Array | Int16Array | Int32Array | readonly FieldValue[];

/**
 * A record's fields by name: a number, a row of numbers, or rows of rows (`state.hand[player][kind]`). They show the
 * record as it is when they are read. Don't write to them.
 */
export type Fields = { readonly [name: string]: any };

export type Rules = { readonly [option: string]: Json };

export interface NewGame {
  players: number;
  /** Options that differ from the defaults. */
  rules?: Rules;
  /** Component tables, the content of a component file; left out: the box. */
  components?: Json;
  /** 0 to 2**64 - 1; decides everything that chance brings. */
  seed: bigint;
}

export interface Engine {
  readonly info: GameInfo;
  readonly assets: Assets;
  /** The compiled module. Workers get it too, so it is compiled once. */
  readonly module: WebAssembly.Module;
  /** Deal a game. Throws a `SiberiaError` that says what is wrong with an option or a component table. */
  newGame(options: NewGame): Game;
  /** Read the text of a record of one game and play it again, every line checked. Throws a `SiberiaError` with the line. */
  fromRecord(text: string): Replayed;
  /** A game as `Game.save` left it. Throws a `SiberiaError` if the bytes are damaged or of another version. */
  load(saved: Uint8Array): Game;
  /** The tables of a component file, checked: throws a `SiberiaError` with the place that is wrong. */
  checkComponents(tables: Json, players: number): Json;
}

export interface Game {
  readonly info: GameInfo;
  readonly players: number;
  /** The seed of the deal. */
  readonly seed: bigint;
  /** Every option in force. */
  readonly rules: Rules;
  /** The component tables in force. */
  readonly components: { readonly [table: string]: Json };
  readonly state: Fields;
  readonly ruleset: Fields;
  /** How many decisions have been taken. */
  readonly decisions: number;
  /** The record so far: the setup, decisions and what chance brought; header and end are left out. */
  readonly lines: readonly Line[];

  /** The seat on turn; -4 when the game is over. */
  currentPlayer(): number;
  /** Whether the others don't see the decision that is due, until all have decided. */
  isSecret(): boolean;
  /** The numbers of the legal actions, in order. */
  legalActions(): number[];
  /** The name of an action in this position. */
  actionName(action: number): string;
  /** The number of the action of this name in this position; throws if there is none. */
  actionNumber(name: string): number;
  /** Take a legal action; chance is settled. Returns the lines of what chance brought. Throws if it is not legal. */
  apply(action: number): Line[];
  isOver(): boolean;
  /** Whether the limit of turns or rounds ended the game. */
  hitLimit(): boolean;
  /** Every seat's score as it stands, in points (`info.scoreUnit` dollars each). */
  scores(): number[];
  /** The seats with the highest score. */
  winners(): number[];
  /** What a seat sees: float32 [observation.size]. */
  observation(player: number): Float32Array;
  /** What nobody sees: float32 [hidden.size]. */
  hiddenObservation(): Float32Array;

  /** A game of its own that is equal now, history included. */
  clone(): Game;
  /** The same game after its first `decisions` decisions. */
  rewound(decisions: number): Game;
  /**
   * A game that `player` can't tell from this one: what the seat can't know is drawn anew by `seed`. It has no history;
   * what comes by chance in it has nothing to do with this game. For anything that is shown or worked out for a seat.
   */
  sample(player: number, seed: bigint): Game;
  /** The game with its history, as bytes for storage. */
  save(): Uint8Array<ArrayBuffer>;
  /** Become the game that `save` has kept; it has to be of the same kind of game. */
  restore(saved: Uint8Array): void;
  /** The bytes of the state record. */
  stateBytes(): Uint8Array<ArrayBuffer>;
  /** The record of the finished game, as `siberia record` writes it. */
  toRecord(agents: readonly string[]): string;
}

/** One decision of a game that has been played again. */
export interface Decision {
  /** The number of its line in the record. */
  readonly line: number;
  readonly player: number;
  readonly action: number;
  readonly name: string;
  readonly legal: readonly number[];
  /** What chance brought afterwards. */
  readonly events: readonly Line[];
}

export interface Replayed {
  readonly header: Line;
  readonly agents: readonly string[];
  readonly players: number;
  readonly decisions: readonly Decision[];
  readonly end: Line;
  /** The game before decision number `index`; `decisions.length` gives its end. A game of your own, with its history. */
  at(index: number): Game;
}

export interface Analysis {
  readonly action: number;
  readonly visits: number;
  /** The expected final margin of the player over the mean of the others, in thousands of dollars. */
  readonly margin: number;
  /** The expected share of the win, 0 to 1. */
  readonly share: number;
}

/** Agents that think in a Web Worker with kernels of their own. They are sent what a seat may know and nothing else. */
export interface Thinker {
  /**
   * The action that an agent of the suite takes for `player`, who is on turn. The same seed gives the action that Python
   * gives. `agent` is a spec: random, greedy, heuristic, learned, search:1000, guided:200, guided:0.5s, level:hard,
   * search:300:playout=greedy, ...
   */
  choose(game: Game, player: number, agent: string, seed: bigint): Promise<number>;
  /** What guided search expects of every legal action, the most visited first. */
  analyse(game: Game, player: number, simulations: number, seed: bigint): Promise<Analysis[]>;
  /** End the worker; what is still being thought about is rejected. The next question starts another worker. */
  close(): void;
}
