/** The engines of both games, and where their files come from: beside the page, or in it. */
import { fromBase64 } from "./engine/fields";
import { openEngine, openThinker } from "./engine/index";
import { SiberiaError, type Engine, type GameInfo, type Thinker } from "./engine/types";
import ThinkWorker from "./engine/worker.ts?worker&inline";

export type GameKey = "card" | "board";

/** Files that have been written into the page itself, as base64 by name: see `siberia replay --html`. */
let inlined: Record<string, string> | null = null;

function inlinedFiles(): Record<string, string> {
  if (inlined === null) {
    const element = document.getElementById("siberia-files");
    inlined = element ? (JSON.parse(element.textContent ?? "{}") as Record<string, string>) : {};
  }
  return inlined;
}

/** A text that has been written into the page itself; null if it is not there. */
export function inlinedText(name: string): string | null {
  const file = inlinedFiles()[name];
  return file === undefined ? null : new TextDecoder().decode(fromBase64(file));
}

async function file(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const here = inlinedFiles()[name];
  if (here !== undefined) return fromBase64(here);
  const missing = new SiberiaError(`The page lacks its file ${name}; install the suite again, or run make web.`);
  const answer = await fetch(`./${name}`).catch(() => {
    throw missing;
  });
  if (!answer.ok) throw missing;
  return new Uint8Array(await answer.arrayBuffer());
}

export interface Opened {
  engine: Engine;
  thinker: Thinker;
}

const opened = new Map<GameKey, Promise<Opened>>();

/** The engine of a game, and a thinker whose worker starts when an agent or a hint needs it; opened once. */
export function openGame(game: GameKey): Promise<Opened> {
  const known = opened.get(game);
  if (known) return known;
  const opening = open(game);
  opened.set(game, opening);
  opening.catch(() => opened.delete(game));
  return opening;
}

async function open(game: GameKey): Promise<Opened> {
  const [info, wasm] = await Promise.all([file(`${game}.json`), file(`${game}.wasm`)]);
  const engine = await openEngine({
    info: JSON.parse(new TextDecoder().decode(info)) as GameInfo,
    wasm,
    model: (name) => file(name),
  });
  return { engine, thinker: openThinker(engine, () => new ThinkWorker()) };
}
