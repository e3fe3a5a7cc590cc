/** A game that is played, and written down on the way. */

import {
  SiberiaError,
  type Fields,
  type Game,
  type GameInfo,
  type Json,
  type Line,
  type NewGame,
  type Rules,
} from "./types";
import type { Kernels } from "./kernels";
import { card } from "./card";
import { board } from "./board";
import { fieldsOf, fromBase64 } from "./fields";
import { keyedHash } from "./hash";
import { isObject, isPrintable, refuse, shown, type Room, type Tables, type Variant } from "./rooms";
import { parseJson, writeJson } from "./json";

const ROOMS: { readonly [game: string]: Room } = { card, board };
const SAVED = "siberia-web-game/1";
const MOST_SEED = 2n ** 64n - 1n;

export const roomOf = (info: GameInfo): Room => ROOMS[info.game];

/** A game with players, rules and components chosen. Throws a `SiberiaError` that says what is wrong. */
export function makeVariant(
  kernels: Kernels,
  players: number,
  rules: Rules,
  components: Json | undefined,
  wholeBox: boolean,
): Variant {
  const info = kernels.info;
  const room = roomOf(info);
  if (!Number.isInteger(players) || players < info.minPlayers || players > info.maxPlayers)
    refuse(`players: ${players}; ${info.title} is for ${info.minPlayers} to ${info.maxPlayers} players`);
  const tables: Tables = components === undefined ? info.components : room.readComponents(info, components, wholeBox);
  const inForce = room.checkRules(info, rules, tables);
  room.checkPlayable(info, tables, players);
  const bytes = fromBase64(info.rulesets[players]);
  room.fillRuleset(info, bytes, players, inForce, tables);
  return { info, room, players, rules: inForce, components: tables, bytes, ruleset: fieldsOf(info.ruleset, bytes) };
}

/** What a game has been so far. */
interface History {
  lines: Line[];
  actions: number[];
  /** The chance outcomes, if they did not come from the seed. */
  readonly outcomes: readonly (readonly number[])[] | null;
}

/** Settles the chance outcome that is due in `game`, as the rest of a record shows it. */
export type Settle = (game: PlayedGame) => readonly number[];

export class PlayedGame implements Game {
  readonly info: GameInfo;
  readonly state: Fields;
  private readonly bytes: Uint8Array<ArrayBuffer>;
  private readonly before: Uint8Array<ArrayBuffer>;
  private readonly old: Fields;
  private mask: Uint8Array | null = null;
  private settled = 0;

  private constructor(
    readonly kernels: Kernels,
    public variant: Variant,
    public seed: bigint,
    bytes: Uint8Array<ArrayBuffer>,
    private history: History | null,
  ) {
    this.info = kernels.info;
    this.bytes = bytes;
    this.state = fieldsOf(kernels.info.state, bytes);
    this.before = new Uint8Array(bytes.length);
    this.old = fieldsOf(kernels.info.state, this.before);
  }

  /** Deal a game: from its seed, with given outcomes, or as `settle` says. */
  static deal(
    kernels: Kernels,
    variant: Variant,
    seed: bigint,
    outcomes: readonly (readonly number[])[] | null = null,
    settle?: Settle,
  ): PlayedGame {
    if (typeof seed !== "bigint" || seed < 0n || seed > MOST_SEED)
      refuse(`seed: ${seed} is not a whole number from 0 to 2**64 - 1`);
    const game = new PlayedGame(kernels, variant, seed, new Uint8Array(kernels.info.state.size), {
      lines: [],
      actions: [],
      outcomes,
    });
    kernels.openBox(variant.bytes, game.bytes, seed);
    game.settleAll(settle);
    return game;
  }

  static newGame(kernels: Kernels, options: NewGame): PlayedGame {
    const variant = makeVariant(kernels, options.players, options.rules ?? {}, options.components, true);
    return PlayedGame.deal(kernels, variant, options.seed);
  }

  // ---------------------------------------------------------------- looking

  get players(): number {
    return this.variant.players;
  }

  get rules(): Rules {
    return this.variant.rules;
  }

  get components(): { readonly [table: string]: Json } {
    return this.variant.components;
  }

  get ruleset(): Fields {
    return this.variant.ruleset;
  }

  get decisions(): number {
    return this.history?.actions.length ?? 0;
  }

  get lines(): readonly Line[] {
    return this.history?.lines ?? [];
  }

  get actions(): readonly number[] {
    return this.history?.actions ?? [];
  }

  currentPlayer(): number {
    return this.kernels.turn(this.variant.bytes, this.bytes);
  }

  isSecret(): boolean {
    return this.kernels.isSecret(this.variant.bytes, this.bytes);
  }

  legalMask(): Uint8Array {
    return (this.mask ??= this.kernels.legal(this.variant.bytes, this.bytes));
  }

  legalActions(): number[] {
    return actionsOf(this.legalMask());
  }

  private names(): readonly string[] {
    return this.variant.room.actionNames(this.kernels.info, this.variant.components, this.state);
  }

  actionName(action: number): string {
    return this.names()[action] ?? refuse(`action ${action}: the actions are 0 to ${this.kernels.info.numActions - 1}`);
  }

  actionNumber(name: string): number {
    const found = this.names().indexOf(name);
    return found >= 0 ? found : refuse(`no action is called '${name}' here`);
  }

  isOver(): boolean {
    return this.currentPlayer() === this.kernels.info.search.terminal;
  }

  hitLimit(): boolean {
    return this.kernels.hitLimit(this.variant.bytes, this.bytes);
  }

  scores(): number[] {
    return this.kernels.scores(this.variant.bytes, this.bytes, this.players);
  }

  winners(): number[] {
    const scores = this.scores();
    const best = Math.max(...scores);
    return scores.flatMap((score, seat) => (score === best ? [seat] : []));
  }

  observation(player: number): Float32Array<ArrayBuffer> {
    this.checkSeat(player);
    return this.kernels.observe(this.variant.bytes, this.bytes, player);
  }

  hiddenObservation(): Float32Array<ArrayBuffer> {
    return this.kernels.observeHidden(this.variant.bytes, this.bytes);
  }

  private checkSeat(player: number): void {
    if (!Number.isInteger(player) || player < 0 || player >= this.players)
      refuse(`player ${player}: a game of ${this.players} has the seats 0 to ${this.players - 1}`);
  }

  // ---------------------------------------------------------------- playing

  apply(action: number): Line[] {
    return this.play(action);
  }

  /** Take an action; chance comes from the seed, or as `settle` says. */
  play(action: number, settle?: Settle): Line[] {
    if (!this.legalMask()[action]) {
      const player = this.currentPlayer();
      if (player === this.kernels.info.search.terminal) refuse(`action ${action}: the game is over`);
      refuse(
        `action ${action}: not legal; player ${player} may: ${this.legalActions()
          .map((each) => this.actionName(each))
          .join(", ")}`,
      );
    }
    if (this.history) {
      const names = this.names();
      const legal = this.legalActions().map((each) => names[each]);
      this.history.lines.push({ player: this.currentPlayer(), action: names[action], legal });
      this.history.actions.push(action);
    }
    this.mask = null;
    this.before.set(this.bytes);
    this.kernels.advance(this.variant.bytes, this.bytes, action);
    const events = this.variant.room.events(this.variant, this.old, this.state);
    this.history?.lines.push(...events);
    return [...events, ...this.settleAll(settle)];
  }

  private settleAll(settle?: Settle): Line[] {
    const { room, bytes } = this.variant;
    const found: Line[] = [];
    const note = (lines: Line[]): void => {
      found.push(...lines);
      this.history?.lines.push(...lines);
    };
    while (this.kernels.turn(bytes, this.bytes) === this.kernels.info.search.chance) {
      note(room.dueEvents(this.variant, this.state));
      this.before.set(this.bytes);
      const outcome = settle?.(this) ?? this.history?.outcomes?.[this.settled];
      if (outcome) this.kernels.force(bytes, this.bytes, outcome);
      else this.kernels.resolve(bytes, this.bytes);
      this.settled++;
      note(room.events(this.variant, this.old, this.state));
    }
    this.mask = null;
    return found;
  }

  // ---------------------------------------------------------------- copies

  clone(): PlayedGame {
    const history = this.history && {
      ...this.history,
      lines: [...this.history.lines],
      actions: [...this.history.actions],
    };
    const copy = new PlayedGame(this.kernels, this.variant, this.seed, this.bytes.slice(), history);
    copy.settled = this.settled;
    return copy;
  }

  rewound(decisions: number): PlayedGame {
    const history = this.history ?? refuse("a sample has no decisions that could be taken back");
    if (decisions < 0 || decisions > history.actions.length)
      refuse(`there are ${history.actions.length} decisions, not ${decisions}`);
    const game = PlayedGame.deal(this.kernels, this.variant, this.seed, history.outcomes);
    for (const action of history.actions.slice(0, decisions)) game.play(action);
    return game;
  }

  sample(player: number, seed: bigint): PlayedGame {
    this.checkSeat(player);
    const copy = new PlayedGame(this.kernels, this.variant, 0n, this.bytes.slice(), null);
    this.kernels.determinize(this.variant.bytes, copy.bytes, player, seed);
    return copy;
  }

  stateBytes(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice();
  }

  save(): Uint8Array<ArrayBuffer> {
    const history = this.history ?? refuse("a sample can't be saved");
    const game: Json = {
      game: this.info.game,
      players: this.players,
      seed: this.seed,
      rules: this.rules,
      components: this.components,
      actions: history.actions,
      outcomes: history.outcomes,
      state: fingerprint(this.bytes),
    };
    const saved: Json = { format: SAVED, digest: digestOf(game), content: game };
    return new TextEncoder().encode(writeJson(saved)) as Uint8Array<ArrayBuffer>;
  }

  /** The game that `save` has kept. */
  static load(kernels: Kernels, saved: Uint8Array): PlayedGame {
    let file: Json;
    try {
      file = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(saved));
    } catch {
      return refuse("The saved game is damaged: it can't be read.");
    }
    if (!isObject(file) || file.format !== SAVED)
      return refuse("This is no game that the page has saved, or one of another version.");
    const found = file.content;
    if (!isObject(found) || file.digest !== digestOf(found))
      return refuse("The saved game is damaged: something in it has changed.");
    if (found.game !== kernels.info.game)
      refuse(`The saved game is of ${shown(found.game)}, not of '${kernels.info.game}'.`);
    const { players, rules, components, actions, outcomes } = found as { [key: string]: any };
    try {
      const seed = typeof found.seed === "number" ? BigInt(found.seed) : (found.seed as bigint);
      const game = PlayedGame.deal(kernels, makeVariant(kernels, players, rules, components, false), seed, outcomes);
      for (const action of actions) game.play(action);
      if (fingerprint(game.bytes) !== found.state) throw new SiberiaError("it does not lead where it led");
      return game;
    } catch (error) {
      return refuse(
        `The saved game is of another version of the games: ${error instanceof SiberiaError ? error.message : "a part is missing"}.`,
      );
    }
  }

  restore(saved: Uint8Array): void {
    const game = PlayedGame.load(this.kernels, saved);
    this.variant = game.variant;
    this.seed = game.seed;
    this.history = game.history;
    this.settled = game.settled;
    this.mask = null;
    this.bytes.set(game.bytes);
  }

  // ---------------------------------------------------------------- records

  endLine(): Line {
    const scores = this.scores().map((score) => score * this.info.scoreUnit);
    return { event: "end", scores, winners: this.winners(), truncated: this.hitLimit() };
  }

  toRecord(agents: readonly string[]): string {
    const history = this.history ?? refuse("a sample has no record");
    if (!this.isOver()) refuse("a record is of a whole game, and this one is not over");
    if (agents.length !== this.players || !agents.every(isName))
      refuse(`agents: expected ${this.players} names, one a seat`);
    const header = [
      this.kernels.info.record.format,
      this.info.game,
      this.players,
      this.seed,
      this.rules,
      this.components,
      agents,
    ];
    const first = Object.fromEntries(
      this.kernels.info.record.headerKeys.map((key, index) => [key, header[index]]),
    ) as Line;
    return [first, ...history.lines, this.endLine()].map((line) => writeJson(line) + "\n").join("");
  }
}

/** The actions that a mask allows, in order. */
export function actionsOf(mask: Uint8Array): number[] {
  const found: number[] = [];
  mask.forEach((legal, action) => legal && found.push(action));
  return found;
}

function digestOf(value: Json): string {
  return fingerprint(new TextEncoder().encode(writeJson(value)));
}

function fingerprint(bytes: Uint8Array): string {
  return keyedHash(0n, bytes).toString(16);
}

/** Whether a text can be the name of a player in a record. */
export function isName(value: Json): boolean {
  return typeof value === "string" && value !== "" && isPrintable(value);
}
