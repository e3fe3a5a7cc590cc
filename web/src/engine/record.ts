/** Records are read and played again: every line has to be what the rules give (siberia_env/records). */

import { SiberiaError, type Decision, type Json, type Line, type Replayed } from "./types";
import type { Kernels } from "./kernels";
import { JsonError, parseJson, quoted, same } from "./json";
import { isName, makeVariant, PlayedGame } from "./game";
import { checkKeys, isObject, type Numbered, type Variant } from "./rooms";

/** The header's seed does not bring about what the record says. */
class SeedDiffers extends Error {}

function refuse(number: number, reason: string): never {
  throw new SiberiaError(`line ${number}: ${reason}`);
}

/** Do something that may throw, with the number of the line in front of what is said. */
function onLine<T>(number: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SiberiaError && !error.message.startsWith("line ")) return refuse(number, error.message);
    throw error;
  }
}

function parseLines(text: string): Numbered[] {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (!lines.length) refuse(1, "the file is empty; a record starts with its header");
  return lines.map((line, index) => {
    try {
      const content = parseJson(line);
      if (!isObject(content)) refuse(index + 1, `expected a JSON object; got ${quoted(content)}`);
      return [index + 1, content as Line];
    } catch (error) {
      if (error instanceof JsonError) return refuse(index + 1, error.message);
      throw error;
    }
  });
}

function checkHeader(kernels: Kernels, line: Line): { variant: Variant; seed: bigint } {
  const { format, headerKeys } = kernels.info.record;
  if (!("format" in line))
    refuse(1, `expected a header, with the keys ${headerKeys.join(", ")}; got ${quoted(line as Json)}`);
  if (line.format !== format) refuse(1, `format ${quoted(line.format)} is not known here; this page reads '${format}'`);
  return onLine(1, () => {
    checkKeys(line, headerKeys, "header");
    if (line.game !== kernels.info.game) refuse(1, `a record of ${quoted(line.game)}, not of '${kernels.info.game}'`);
    if (!isObject(line.rules))
      return refuse(1, `rules: expected an object with every option in force; got ${quoted(line.rules)}`);
    const whole = typeof line.seed === "bigint" || (typeof line.seed === "number" && Number.isInteger(line.seed));
    const seed = whole ? BigInt(line.seed as number | bigint) : -1n;
    if (seed < 0n || seed >= 2n ** 64n)
      refuse(1, `seed: ${quoted(line.seed)} is not a whole number from 0 to 2**64 - 1`);
    const variant = makeVariant(kernels, line.num_players as number, line.rules, line.components, false);
    if (!same(line.rules, variant.rules as Json))
      refuse(1, `rules: expected every option in force, as in ${quoted(variant.rules as Json)}`);
    const agents = line.agents;
    if (!Array.isArray(agents) || agents.length !== variant.players || !agents.every(isName))
      refuse(1, `agents: expected ${variant.players} names, one a seat; got ${quoted(agents)}`);
    return { variant, seed };
  });
}

function isWholeList(value: Json): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}

function checkForm(kernels: Kernels, variant: Variant, lines: readonly Numbered[]): void {
  const { decisionKeys, endKeys } = kernels.info.record;
  lines.slice(1).forEach(([number, line], index) => {
    if (index === 0 && line.event !== "setup") refuse(number, `expected the setup line; got ${quoted(line as Json)}`);
    if (index > 0 && line.event === "setup") refuse(number, "a second setup line");
    if ("format" in line) refuse(number, "a new header: this page takes records of one game");
    if (line.event === "end") {
      onLine(number, () => checkKeys(line, endKeys, "the end line"));
      for (const key of ["scores", "winners"])
        if (!isWholeList(line[key]))
          refuse(number, `${key}: expected a list of whole numbers; got ${quoted(line[key])}`);
      if (typeof line.truncated !== "boolean")
        refuse(number, `truncated: expected true or false; got ${quoted(line.truncated)}`);
      if (index < lines.length - 2) {
        if ("format" in lines[index + 2][1])
          refuse(number + 1, "a second game begins here; this page takes records of one game");
        refuse(number + 1, `a line after the end of the game: ${quoted(lines[index + 2][1] as Json)}`);
      }
    } else if ("event" in line) {
      onLine(number, () => variant.room.checkEvent(variant, line));
    } else {
      onLine(number, () => checkKeys(line, decisionKeys, "a decision"));
      if (typeof line.player !== "number") refuse(number, `player: expected a seat number; got ${quoted(line.player)}`);
      if (typeof line.action !== "string")
        refuse(number, `action: expected an action's name; got ${quoted(line.action)}`);
      if (!Array.isArray(line.legal) || !line.legal.every((name) => typeof name === "string"))
        refuse(number, `legal: expected a list of names; got ${quoted(line.legal)}`);
    }
  });
  const [number, last] = lines.at(-1)!;
  if (last.event !== "end") refuse(number, "the record stops here without an end line");
}

class Replay implements Replayed {
  readonly decisions: Decision[] = [];
  readonly header: Line;
  readonly end: Line;
  private readonly outcomes: number[][] = [];
  private readonly game: PlayedGame;
  /** How many lines after the header the game has confirmed. */
  private passed = 0;

  constructor(
    private readonly kernels: Kernels,
    private readonly variant: Variant,
    private readonly seed: bigint,
    private readonly recorded: readonly Numbered[],
    private readonly forced: boolean,
  ) {
    this.header = recorded[0][1];
    this.end = recorded.at(-1)![1];
    this.game = PlayedGame.deal(kernels, variant, seed, null, forced ? (game) => this.settle(game) : undefined);
    this.expectSoFar();
    while (!this.game.isOver()) this.decide();
    this.finish();
  }

  get agents(): readonly string[] {
    return this.header.agents as string[];
  }

  get players(): number {
    return this.variant.players;
  }

  at(index: number): PlayedGame {
    if (!Number.isInteger(index) || index < 0 || index > this.decisions.length)
      throw new SiberiaError(`decision ${index}: the record has ${this.decisions.length}`);
    const game = PlayedGame.deal(this.kernels, this.variant, this.seed, this.forced ? this.outcomes : null);
    for (const decision of this.decisions.slice(0, index)) game.play(decision.action);
    return game;
  }

  /** The outcome that the lines from here on show. What has been told so far is checked first: it could be wrong. */
  private settle(game: PlayedGame): number[] {
    this.expectLines(game.lines);
    const outcome = this.variant.room.outcome(this.variant, game.state, this.recorded.slice(1 + game.lines.length));
    this.outcomes.push(outcome);
    return outcome;
  }

  private expectSoFar(): void {
    this.expectLines(this.game.lines);
  }

  private expectLines(lines: readonly Line[]): void {
    for (; this.passed < lines.length; this.passed++) {
      const [number, line] = this.recorded[1 + this.passed] ?? [this.recorded.length, this.end];
      const made = lines[this.passed];
      if (same(line as Json, made as Json)) continue;
      if (!this.forced) throw new SeedDiffers();
      const { event, player } = made;
      const whose = player === undefined ? "" : ` of player ${player}`;
      refuse(number, `expected ${event === "setup" ? "the" : "a"} ${event} line${whose}; got ${quoted(line as Json)}`);
    }
  }

  private decide(): void {
    const game = this.game;
    const [number, line] = this.recorded[1 + this.passed];
    const player = game.currentPlayer();
    if (line.event === "end") refuse(number, `the record ends here, but the game goes on: player ${player} is on turn`);
    if ("event" in line) refuse(number, `expected a decision of player ${player}; got ${quoted(line as Json)}`);
    const legal = game.legalActions();
    const names = legal.map((action) => game.actionName(action));
    const name = line.action as string;
    if (line.player !== player) refuse(number, `player ${line.player} acts, but player ${player} is on turn`);
    if (!names.includes(name)) refuse(number, `${quoted(name)} is not legal; legal are ${names.join(", ")}`);
    if (!same(line.legal, names)) {
      const given = line.legal as string[];
      const missing = names.filter((each) => !given.includes(each));
      const wrong = given.filter((each) => !names.includes(each));
      const why =
        missing.length || wrong.length ? `missing ${quoted(missing)}, wrong ${quoted(wrong)}` : "order or repetition";
      refuse(number, `legal: expected the ${names.length} legal actions in action order; ${why}`);
    }
    const action = legal[names.indexOf(name)];
    const events = game.play(action, this.forced ? (each) => this.settle(each) : undefined);
    this.expectSoFar();
    this.decisions.push({ line: number, player, action, name, legal, events });
  }

  private finish(): void {
    const [number, line] = this.recorded[1 + this.passed];
    if (line.event !== "end")
      refuse(number, `expected the end line, for the game is over; got ${quoted(line as Json)}`);
    for (const [key, value] of Object.entries(this.game.endLine()))
      if (!same(line[key], value)) refuse(number, `${key}: expected ${quoted(value)}; got ${quoted(line[key])}`);
  }
}

/** Play the record of one game again. Throws a `SiberiaError` that names the line. */
export function readRecord(kernels: Kernels, text: string): Replayed {
  const lines = parseLines(text);
  const { variant, seed } = checkHeader(kernels, lines[0][1]);
  checkForm(kernels, variant, lines);
  try {
    return new Replay(kernels, variant, seed, lines, false);
  } catch (error) {
    if (!(error instanceof SeedDiffers)) throw error;
    return new Replay(kernels, variant, seed, lines, true);
  }
}
