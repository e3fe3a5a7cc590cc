/** The worker's half of a thinker: it starts kernels of its own, and answers one question after the other. */

import { Kernels } from "./kernels";
import { Thinking } from "./thinking";
import { messageOf, type GameInfo } from "./types";
import type { View } from "./view";

export type Question =
  | { readonly kind: "open"; readonly info: GameInfo; readonly module: WebAssembly.Module }
  | { readonly kind: "model"; readonly file: string; readonly bytes: Uint8Array }
  | { readonly kind: "choose"; readonly id: number; readonly view: View; readonly spec: string; readonly seed: bigint }
  | {
      readonly kind: "analyse";
      readonly id: number;
      readonly view: View;
      readonly simulations: number;
      readonly seed: bigint;
    };

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Where questions come from and answers go. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: any }) => void): void;
}

/** Answer what comes in at `port`. */
export function serve(port: Port): void {
  const models = new Map<string, Uint8Array>();
  let thinking: Promise<Thinking> | null = null;
  const answer = async (question: Question): Promise<void> => {
    if (question.kind === "open") {
      thinking = Kernels.start(question.info, question.module).then(
        (kernels) => new Thinking(kernels, (file) => models.get(file)),
      );
      thinking.catch(() => {}); // whoever asks is told
    } else if (question.kind === "model") {
      models.set(question.file, question.bytes);
    } else {
      let reply: Answer;
      try {
        const open = await thinking!;
        const result =
          question.kind === "choose"
            ? open.choose(question.view, question.spec, question.seed)
            : open.analyse(question.view, question.simulations, question.seed);
        reply = { id: question.id, result };
      } catch (error) {
        reply = { id: question.id, error: messageOf(error) };
      }
      port.postMessage(reply);
    }
  };
  port.addEventListener("message", (event) => void answer(event.data as Question));
}
