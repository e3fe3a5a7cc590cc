/** A module's functions, and the memory in which they work. */

import { messageOf, SiberiaError, type GameInfo } from "./types";
import { AGENT_STREAM, HINT_STREAM, sha256 } from "./hash";

/** The form of descriptions that this engine reads. */
export const FORMAT = "siberia-web/1";

/** Memory for what kernels ask for while they run, in bytes. */
const KERNELS_OWN = 1 << 20;
const PAGE = 1 << 16;
const ALIGNMENT = 64;

/** What the engine reads in a description beyond `GameInfo`. */
export interface Description extends GameInfo {
  readonly numActions: number;
  readonly outcomeSize: number;
  readonly search: SearchInfo;
  readonly functions: {
    readonly [name: string]: { readonly result: string; readonly arguments: { readonly [name: string]: string } };
  };
  readonly record: {
    readonly format: string;
    readonly headerKeys: readonly string[];
    readonly decisionKeys: readonly string[];
    readonly endKeys: readonly string[];
  };
}

export interface SearchInfo {
  readonly chunk: number;
  readonly nodesAtStart: number;
  readonly mostSimulations: number;
  readonly mostSeconds: number;
  readonly deepest: number;
  readonly playouts: readonly string[];
  readonly returns: readonly string[];
  readonly extra: number;
  readonly worlds: number;
  readonly mostLogits: number;
  readonly mostAsked: number;
  readonly logitsAtStart: number;
  readonly mostRows: number;
  readonly block: number;
  readonly lowestLogit: number;
  readonly heads: { readonly [name: string]: number };
  readonly modelFormats: readonly string[];
  readonly node: { readonly size: number };
  readonly representative: number;
  readonly chance: number;
  readonly terminal: number;
  readonly hintStream: number;
  readonly agentStream: number;
}

type Argument = number | bigint;
type Arguments = { readonly [name: string]: Argument };

/** The shortest module with a vector in it. */
const WITH_VECTOR = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** Throw a `SiberiaError` where modules can't run. */
function checkBrowser(): void {
  if (typeof WebAssembly !== "object")
    throw new SiberiaError("This browser can't run WebAssembly, which the games need; any browser since 2023 can.");
  if (!WebAssembly.validate(WITH_VECTOR))
    throw new SiberiaError(
      "This browser's WebAssembly has no vector instructions (SIMD), which the games need; any browser since 2023 has them.",
    );
}

/** Throw a `SiberiaError` unless description and module are a pair that this engine can run. */
async function checkModule(info: GameInfo, wasm: Uint8Array<ArrayBuffer>): Promise<void> {
  const { search } = info as Description;
  if (info.format !== FORMAT || search.agentStream !== AGENT_STREAM || search.hintStream !== HINT_STREAM)
    throw new SiberiaError(
      `This page reads ${FORMAT}, but the description of the game is ${JSON.stringify(info.format)}: page and game are of different versions.`,
    );
  if (wasm.length !== info.wasm.bytes || (await sha256(wasm)) !== info.wasm.sha256)
    throw new SiberiaError(`${info.wasm.file} is damaged or of another version than its description.`);
}

/** Compile the module that a description belongs to. Throws a `SiberiaError` if it is another one, or can't run here. */
export async function compileModule(info: GameInfo, wasm: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  checkBrowser();
  const compiling = WebAssembly.compile(wasm); // goes on while the check is made
  compiling.catch(() => undefined); // if the check fails, nobody waits for it
  await checkModule(info, wasm);
  try {
    return await compiling;
  } catch (error) {
    throw new SiberiaError(`${info.wasm.file} can't be compiled here: ${messageOf(error)}`);
  }
}

export class Kernels {
  readonly info: Description;
  private readonly memory: WebAssembly.Memory;
  private readonly functions = new Map<string, (...given: Argument[]) => number>();
  private top: number;
  private loaded: Uint8Array | null = null;
  readonly ruleset: number;
  readonly states: number;
  readonly mask: number;
  private readonly seen: number;
  private readonly hidden: number;
  private readonly outcome: number;
  private readonly points: number;
  private readonly counts: number;

  /** The kernels of a compiled module, in memory of their own. Throws a `SiberiaError` if it can't run here. */
  static async start(info: GameInfo, module: WebAssembly.Module): Promise<Kernels> {
    try {
      return new Kernels(info as Description, await WebAssembly.instantiate(module, {}));
    } catch (error) {
      throw new SiberiaError(`${info.wasm.file} can't be started here: ${messageOf(error)}`);
    }
  }

  private constructor(info: Description, instance: WebAssembly.Instance) {
    this.info = info;
    const found = instance.exports as { [name: string]: unknown };
    this.memory = found.memory as WebAssembly.Memory;
    for (const name of Object.keys(info.functions)) this.functions.set(name, found[`wasm_${name}`] as () => number);
    const heap = (found.reserve as (bytes: number) => number)(KERNELS_OWN);
    this.top = heap;
    this.ruleset = this.room(info.ruleset.size);
    this.states = this.room(info.state.size);
    this.mask = this.room(info.numActions);
    this.seen = this.room(4 * info.observation.size);
    this.hidden = this.room(4 * info.hidden.size);
    this.outcome = this.room(info.outcomeSize);
    this.points = this.room(8 * 4);
    this.counts = this.room(2);
  }

  // ---------------------------------------------------------------- memory

  /** The address of `bytes` of memory, all zero. It stays taken until `release`. */
  room(bytes: number): number {
    const start = (this.top + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    const missing = start + bytes - this.memory.buffer.byteLength;
    if (missing > 0) {
      try {
        this.memory.grow(Math.ceil(missing / PAGE));
      } catch {
        throw new SiberiaError("There is not enough memory for so long a search.");
      }
    }
    this.top = start + bytes;
    this.bytes(start, bytes).fill(0);
    return start;
  }

  /** Where the next room begins; `release` takes it. */
  mark(): number {
    return this.top;
  }

  /** Give back all rooms since `mark`. */
  release(mark: number): void {
    this.top = mark;
  }

  /** Memory as bytes. Don't keep it: it becomes empty when memory grows. */
  bytes(start: number, size: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, start, size);
  }

  floats(start: number, size: number): Float32Array {
    return new Float32Array(this.memory.buffer, start, size);
  }

  doubles(start: number, size: number): Float64Array {
    return new Float64Array(this.memory.buffer, start, size);
  }

  wide(start: number, size: number): BigInt64Array {
    return new BigInt64Array(this.memory.buffer, start, size);
  }

  // ---------------------------------------------------------------- calls

  /** Call a function with its arguments by name. */
  call(name: string, given: Arguments): number {
    const order = Object.keys(this.info.functions[name].arguments);
    return this.functions.get(name)!(
      ...order.map((each) => {
        if (!(each in given)) throw new Error(`${name} lacks ${each}`);
        return given[each];
      }),
    );
  }

  private on(name: string, ruleset: Uint8Array, state: Uint8Array, ...rest: Argument[]): number {
    if (this.loaded !== ruleset) {
      this.bytes(this.ruleset, ruleset.length).set(ruleset);
      this.loaded = ruleset;
    }
    this.bytes(this.states, state.length).set(state);
    return this.functions.get(name)!(this.ruleset, this.states, ...rest);
  }

  private change(name: string, ruleset: Uint8Array, state: Uint8Array, ...rest: Argument[]): void {
    this.on(name, ruleset, state, ...rest);
    state.set(this.bytes(this.states, state.length));
  }

  openBox(ruleset: Uint8Array, state: Uint8Array, seed: bigint): void {
    this.change("open_box", ruleset, state, seed);
  }

  /** The seat on turn, `search.chance` or `search.terminal`. */
  turn(ruleset: Uint8Array, state: Uint8Array): number {
    return this.on("turn", ruleset, state);
  }

  isSecret(ruleset: Uint8Array, state: Uint8Array): boolean {
    return this.on("secret", ruleset, state) !== 0;
  }

  hitLimit(ruleset: Uint8Array, state: Uint8Array): boolean {
    return this.on("hit_limit", ruleset, state) !== 0;
  }

  /** 1 for each legal action; a copy. */
  legal(ruleset: Uint8Array, state: Uint8Array): Uint8Array<ArrayBuffer> {
    this.on("legal", ruleset, state, this.mask);
    return this.bytes(this.mask, this.info.numActions).slice();
  }

  advance(ruleset: Uint8Array, state: Uint8Array, action: number): void {
    this.change("advance", ruleset, state, action);
  }

  resolve(ruleset: Uint8Array, state: Uint8Array): void {
    this.change("resolve", ruleset, state);
  }

  force(ruleset: Uint8Array, state: Uint8Array, outcome: readonly number[]): void {
    const bytes = this.bytes(this.outcome, this.info.outcomeSize).fill(0);
    bytes.set(outcome);
    this.change("force", ruleset, state, this.outcome);
  }

  scores(ruleset: Uint8Array, state: Uint8Array, players: number): number[] {
    this.on("scores", ruleset, state, this.points);
    return Array.from(this.wide(this.points, players), Number);
  }

  observe(ruleset: Uint8Array, state: Uint8Array, player: number): Float32Array<ArrayBuffer> {
    this.on("observe", ruleset, state, player, this.seen);
    return this.floats(this.seen, this.info.observation.size).slice() as Float32Array<ArrayBuffer>;
  }

  observeHidden(ruleset: Uint8Array, state: Uint8Array): Float32Array<ArrayBuffer> {
    this.on("observe_hidden", ruleset, state, this.hidden);
    return this.floats(this.hidden, this.info.hidden.size).slice() as Float32Array<ArrayBuffer>;
  }

  determinize(ruleset: Uint8Array, state: Uint8Array, player: number, seed: bigint): void {
    this.change("determinize", ruleset, state, player, seed);
  }

  /** The action of `greedy` or `heuristic`. */
  plan(name: "greedy" | "heuristic", ruleset: Uint8Array, state: Uint8Array, mask: Uint8Array): number {
    this.bytes(this.mask, mask.length).set(mask);
    return this.on(name, ruleset, state, this.mask);
  }

  randomAction(mask: Uint8Array, seed: bigint): number {
    this.bytes(this.mask, mask.length).set(mask);
    const count = mask.reduce((sum, each) => sum + each, 0);
    new Int16Array(this.bytes(this.counts, 2).buffer, this.counts, 1)[0] = count;
    return this.functions.get("random_action")!(this.mask, this.counts, seed, this.points);
  }
}
