/** The engine: both games on the suite's own kernels (`types.ts`). It needs the packages `@noble/hashes` and `fflate`. */

import type { Assets, Engine, Json, NewGame } from "./types";
import { Kernels } from "./kernels";
import { PlayedGame, roomOf } from "./game";
import { readRecord } from "./record";
import { AGENT_STREAM, derivedSeed, HINT_STREAM } from "./hash";
import { WorkerThinker, type WorkerPort } from "./thinker";

export * from "./types";
export { checkBrowser } from "./kernels";
export { JsonError, parseJson, writeJson } from "./json";

class KernelEngine implements Engine {
  constructor(
    readonly assets: Assets,
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

export async function openEngine(assets: Assets): Promise<Engine> {
  return new KernelEngine(assets, await Kernels.open(assets.info, assets.wasm));
}

export function openThinker(engine: Engine, worker: WorkerPort): WorkerThinker {
  return new WorkerThinker(engine, worker);
}

/** The seed of the decision of an agent on seat `player`, after `decisions` decisions, as `siberia play` derives it. */
export function decisionSeed(gameSeed: bigint, player: number, decisions: number): bigint {
  return derivedSeed(gameSeed, AGENT_STREAM + player, decisions);
}

/** Likewise of a hint. */
export function hintSeed(gameSeed: bigint, decisions: number): bigint {
  return derivedSeed(gameSeed, HINT_STREAM, decisions);
}
