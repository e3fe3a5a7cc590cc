/** The engine: both games on the suite's own kernels (`types.ts`). It needs the packages `@noble/hashes` and `fflate`. */

import type { Assets, Engine, Json, NewGame, Thinker } from "./types";
import { compileModule, Kernels } from "./kernels";
import { PlayedGame, roomOf } from "./game";
import { readRecord } from "./record";
import { AGENT_STREAM, derivedSeed, HINT_STREAM } from "./hash";
import { WorkerThinker, type WorkerPort } from "./thinker";

export * from "./types";
export { parseJson } from "./json";

class KernelEngine implements Engine {
  constructor(
    readonly assets: Assets,
    readonly module: WebAssembly.Module,
    private readonly kernels: Kernels,
  ) {}

  get info() {
    return this.assets.info;
  }

  newGame(options: NewGame): PlayedGame {
    return PlayedGame.newGame(this.kernels, options);
  }

  fromRecord(text: string) {
    return readRecord(this.kernels, text);
  }

  load(saved: Uint8Array): PlayedGame {
    return PlayedGame.load(this.kernels, saved);
  }

  checkComponents(tables: Json, players: number): Json {
    const room = roomOf(this.info);
    const found = room.readComponents(this.kernels.info, tables, true);
    room.checkPlayable(this.kernels.info, found, players);
    return found as Json;
  }
}

/** Compile the module. Throws a `SiberiaError` where WebAssembly or SIMD is missing, or module and page don't fit. */
export async function openEngine(assets: Assets): Promise<Engine> {
  const module = await compileModule(assets.info, assets.wasm);
  return new KernelEngine(assets, module, await Kernels.start(assets.info, module));
}

/**
 * Let agents think in a worker made of `worker.ts`. `startWorker` is called when the first question is asked:
 * `() => new Worker(new URL("./engine/worker.ts", import.meta.url), { type: "module" })`.
 */
export function openThinker(engine: Engine, startWorker: () => WorkerPort): Thinker {
  return new WorkerThinker(engine, startWorker);
}

/** The seed of the decision of an agent on seat `player`, after `decisions` decisions, as `siberia play` derives it. */
export function decisionSeed(gameSeed: bigint, player: number, decisions: number): bigint {
  return derivedSeed(gameSeed, AGENT_STREAM + player, decisions);
}

/** Likewise of a hint. */
export function hintSeed(gameSeed: bigint, decisions: number): bigint {
  return derivedSeed(gameSeed, HINT_STREAM, decisions);
}
