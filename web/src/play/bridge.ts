/** Agents of the machine that serves the page: each is sent what its seat may know, and answers with an action. */
import { SiberiaError, type Game } from "../engine/types";

export const MACHINE = "machine:";
const TOKEN_KEY = "siberia:token";

/** What the server has put into the address it opened. */
export interface Opening {
  /** The word for the bridge; without it there is none. */
  token: string | null;
  /** The game to begin with: `setup` if it begins at once. Not checked yet. */
  plan: { game?: unknown; setup?: unknown };
}

/** Read the address once, and keep the word for a reload of the page. */
function readOpening(): Opening {
  const opening: Opening = { token: null, plan: {} };
  try {
    const given = new URLSearchParams(location.hash.slice(1));
    const token = given.get("token");
    const plan = given.get("plan");
    if (token) sessionStorage.setItem(TOKEN_KEY, token);
    opening.token = token ?? sessionStorage.getItem(TOKEN_KEY);
    if (plan) {
      const letters = atob(plan.replaceAll("-", "+").replaceAll("_", "/"));
      const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
      opening.plan = (JSON.parse(new TextDecoder().decode(bytes)) ?? {}) as Opening["plan"];
    }
    if (location.hash) history.replaceState(null, "", location.pathname);
  } catch {
    // An address that somebody has changed: the page opens as without it.
  }
  return opening;
}

export const OPENING = readOpening();
const TOKEN = OPENING.token;

/** Whether a server on this machine can let its agents play. */
export const hasBridge = TOKEN !== null && location.protocol === "http:";

/** The action that an agent of the machine takes for `player`, who is on turn. */
export async function askMachine(game: Game, player: number, agent: string, seed: bigint): Promise<number> {
  if (!hasBridge) throw new SiberiaError(`${agent} plays on the machine that serves the page, and there is none.`);
  // A sample: what the seat can't know is drawn anew before anything leaves the page.
  const state = game.sample(player, 0n).stateBytes();
  const question = {
    game: game.info.game,
    version: game.info.version,
    players: game.players,
    rules: game.rules,
    components: game.components,
    player,
    agent,
    seed: String(seed),
    state: btoa(String.fromCharCode(...state)),
    legal: game.legalActions(),
  };
  const answer = await fetch("./agent", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Siberia-Token": TOKEN ?? "" },
    body: JSON.stringify(question, (_, value) => (typeof value === "bigint" ? Number(value) : value)),
  }).catch(() => {
    throw new SiberiaError("The machine that serves the page no longer answers.");
  });
  const content = (await answer.json().catch(() => ({}))) as { action?: unknown; error?: unknown };
  if (typeof content.action === "number" && question.legal.includes(content.action)) return content.action;
  throw new SiberiaError(typeof content.error === "string" ? content.error : `${agent} gave no legal action.`);
}
