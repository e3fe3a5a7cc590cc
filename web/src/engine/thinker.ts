/** The page's half of a thinker: it sends views, and waits for answers. */

import { SiberiaError, type Analysis, type Engine, type Game, type Thinker } from "./types";
import type { Description } from "./kernels";
import type { Answer, Question } from "./serve";
import { needsModel, readSpec } from "./spec";
import { viewOf, type View } from "./view";

type Waiting = { readonly resolve: (result: any) => void; readonly reject: (error: Error) => void };

/** What a thinker needs of a `Worker`. */
export interface WorkerPort {
  postMessage(message: unknown): void;
  addEventListener(type: "message" | "error", listener: (event: any) => void): void;
  terminate(): void;
}

export class WorkerThinker implements Thinker {
  private readonly waiting = new Map<number, Waiting>();
  private readonly sent = new Map<string, Promise<void>>();
  private asked = 0;
  private fault: string | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly worker: WorkerPort,
  ) {
    worker.addEventListener("message", (event: { data: Answer }) => this.hear(event.data));
    worker.addEventListener("error", (event: { message?: string }) =>
      this.end(`Thinking has failed: ${event.message ?? "the worker could not be started"}`),
    );
    this.tell({ kind: "open", info: engine.info, wasm: engine.assets.wasm });
  }

  async choose(game: Game, player: number, agent: string, seed: bigint): Promise<number> {
    const view = viewOf(game, player);
    if (needsModel(readSpec(this.engine.info as Description, agent, game.players))) await this.sendModel(game.players);
    return this.ask((id) => ({ kind: "choose", id, view, spec: agent, seed }));
  }

  async analyse(game: Game, player: number, simulations: number, seed: bigint): Promise<Analysis[]> {
    const view: View = viewOf(game, player);
    await this.sendModel(game.players);
    return this.ask((id) => ({ kind: "analyse", id, view, simulations, seed }));
  }

  close(): void {
    this.end("The thinker has been closed.");
  }

  /** Send the model for so many players, if the worker does not have it. */
  private sendModel(players: number): Promise<void> {
    const file = this.engine.info.models[players];
    if (!file)
      return Promise.reject(
        new SiberiaError(`There is no model of ${this.engine.info.title} for ${players} players here.`),
      );
    if (!this.sent.has(file)) {
      const sending = this.engine.assets.model(file).then(
        (bytes) => this.tell({ kind: "model", file, bytes }),
        (error: unknown) => {
          this.sent.delete(file); // the next one may have more luck
          throw new SiberiaError(`${file} can't be loaded: ${error instanceof Error ? error.message : error}`);
        },
      );
      this.sent.set(file, sending);
    }
    return this.sent.get(file)!;
  }

  private tell(question: Question): void {
    this.worker.postMessage(question);
  }

  private ask<T>(question: (id: number) => Question): Promise<T> {
    if (this.fault) return Promise.reject(new SiberiaError(this.fault));
    const id = this.asked++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.tell(question(id));
    });
  }

  private hear(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.error === undefined) waiting?.resolve(answer.result);
    else waiting?.reject(new SiberiaError(answer.error));
  }

  private end(fault: string): void {
    this.fault ??= fault;
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new SiberiaError(this.fault));
    this.waiting.clear();
  }
}
