/** The page's half of a thinker: it sends views, and waits for answers. */

import { messageOf, SiberiaError, type Analysis, type Engine, type Game, type Thinker } from "./types";
import type { Description } from "./kernels";
import type { Answer, Question } from "./serve";
import { needsModel, readSpec } from "./spec";
import { viewOf } from "./view";

type Waiting = { readonly resolve: (result: any) => void; readonly reject: (error: Error) => void };

/** What a thinker needs of a `Worker`. */
export interface WorkerPort {
  postMessage(message: unknown): void;
  addEventListener(type: "message" | "error", listener: (event: any) => void): void;
  terminate(): void;
}

export class WorkerThinker implements Thinker {
  private worker: WorkerPort | null = null;
  private readonly waiting = new Map<number, Waiting>();
  /** The models that the worker has, or will have. */
  private readonly models = new Map<string, Promise<void>>();
  private asked = 0;

  constructor(
    private readonly engine: Engine,
    private readonly startWorker: () => WorkerPort,
  ) {}

  async choose(game: Game, player: number, agent: string, seed: bigint): Promise<number> {
    const view = viewOf(game, player);
    if (needsModel(readSpec(this.engine.info as Description, agent, game.players))) await this.sendModel(game.players);
    return this.ask((id) => ({ kind: "choose", id, view, spec: agent, seed }));
  }

  async analyse(game: Game, player: number, simulations: number, seed: bigint): Promise<Analysis[]> {
    const view = viewOf(game, player);
    await this.sendModel(game.players);
    return this.ask((id) => ({ kind: "analyse", id, view, simulations, seed }));
  }

  close(): void {
    this.end("The thinker has been closed.");
  }

  /** The worker, started when it is needed first, and again after it has failed. */
  private running(): WorkerPort {
    if (this.worker) return this.worker;
    const worker = this.startWorker();
    worker.addEventListener("message", (event: { data: Answer }) => this.hear(event.data));
    worker.addEventListener("error", (event: { message?: string }) => {
      if (worker === this.worker)
        this.end(`Thinking has failed: ${event.message ?? "the worker could not be started"}.`);
    });
    this.worker = worker;
    this.tell({ kind: "open", info: this.engine.info, module: this.engine.module });
    return worker;
  }

  /** Send the model for so many players, if the worker does not have it. */
  private sendModel(players: number): Promise<void> {
    const { info, assets } = this.engine;
    const file = info.models[players];
    if (!file)
      return Promise.reject(new SiberiaError(`There is no model of ${info.title} for ${players} players here.`));
    this.running(); // it starts while the model is on its way
    const known = this.models.get(file);
    if (known) return known;
    const sending = assets.model(file).then(
      (bytes) => this.tell({ kind: "model", file, bytes }),
      (error: unknown) => {
        this.models.delete(file); // the next question tries again
        throw new SiberiaError(`${file} can't be loaded: ${messageOf(error)}`);
      },
    );
    this.models.set(file, sending);
    return sending;
  }

  private tell(question: Question): void {
    this.running().postMessage(question);
  }

  private ask<T>(question: (id: number) => Question): Promise<T> {
    const id = this.asked++;
    return new Promise((resolve, reject) => {
      this.tell(question(id));
      this.waiting.set(id, { resolve, reject });
    });
  }

  private hear(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.error === undefined) waiting?.resolve(answer.result);
    else waiting?.reject(new SiberiaError(answer.error));
  }

  private end(fault: string): void {
    this.worker?.terminate();
    this.worker = null;
    this.models.clear();
    for (const { reject } of this.waiting.values()) reject(new SiberiaError(fault));
    this.waiting.clear();
  }
}
