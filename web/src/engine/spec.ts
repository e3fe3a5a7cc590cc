/** Agents by name: what a spec such as `search:300:playout=greedy` means (siberia_agents/registry.py). */

import { SiberiaError, type Json } from "./types";
import type { Description } from "./kernels";

export interface Plain {
  readonly kind: "random" | "greedy" | "heuristic" | "learned";
}

export interface Budget {
  readonly simulations: number | null;
  readonly seconds: number | null;
}

export interface Search {
  readonly kind: "search";
  readonly budget: Budget;
  readonly exploration: number;
  readonly playout: number;
  readonly returns: number;
  readonly scale: number;
  readonly split: boolean;
}

export interface Guided {
  readonly kind: "guided";
  readonly budget: Budget;
  readonly exploration: number;
  readonly firstPlay: number;
  readonly temperature: number;
  readonly worlds: number;
  readonly split: boolean;
  readonly batch: number;
}

export type Agent = Plain | Search | Guided;

type AgentOptions = {
  readonly [option: string]: {
    readonly kind: string | readonly string[];
    readonly values: string;
    readonly default: Json;
  };
};

function fail(message: string): never {
  throw new SiberiaError(message);
}

function split(spec: string, form: string): { argument: string; options: Map<string, string> } {
  const options = new Map<string, string>();
  const argument: string[] = [];
  let last = "";
  for (const part of spec.split(":").slice(1)) {
    const found = /^([A-Za-z_]\w*)=(.*)$/s.exec(part);
    if (!part || (found && !found[2])) fail(`agent '${spec}': a part of it is empty; the form is ${form}`);
    if (found) {
      if (options.has(found[1])) fail(`agent '${spec}': ${found[1]} is given twice`);
      options.set(found[1], found[2]);
      last = found[1];
    } else if (last) options.set(last, `${options.get(last)}:${part}`);
    else argument.push(part);
  }
  return { argument: argument.join(":"), options };
}

function readOption(
  name: string,
  option: string,
  kind: string | readonly string[],
  values: string,
  text: string,
): Json | number {
  const bad = () => fail(`agent '${name}': ${option}: '${text}' is not ${values}`);
  if (Array.isArray(kind)) return kind.includes(text) ? text : bad();
  if (kind === "bool") return text === "true" ? true : text === "false" ? false : bad();
  if (kind === "int") return /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : bad();
  if (kind === "float") return text.trim() && Number.isFinite(Number(text)) ? Number(text) : bad();
  return text;
}

export function readBudget(info: Description, text: string): Budget {
  const { mostSimulations, mostSeconds } = info.search;
  const seconds = text.endsWith("s") ? Number(text.slice(0, -1) || NaN) : null;
  if (seconds !== null) {
    if (!(seconds > 0) || seconds > mostSeconds)
      fail(`search budget: ${text}; more than 0 and at most ${mostSeconds} seconds`);
    return { seconds, simulations: null };
  }
  if (!/^[+-]?\d+$/.test(text)) fail(`search budget: '${text}'; give simulations (1000) or seconds (0.5s)`);
  const simulations = Number(text);
  if (simulations < 1) fail(`search budget: ${text}; at least 1 simulation`);
  if (simulations > mostSimulations) fail(`search budget: ${text}; at most ${mostSimulations} simulations`);
  return { simulations, seconds: null };
}

/** The agent that a spec describes, in a game of so many players. */
export function readSpec(info: Description, spec: string, players: number): Agent {
  const name = spec.split(":")[0];
  const about = info.agents[name];
  if (!about) return fail(`no agent '${name}'; the agents are ${Object.keys(info.agents).join(", ")}`);
  const { argument, options } = split(spec, about.form);
  const known = about.options as unknown as AgentOptions;
  const value = (option: string): any => {
    const text = options.get(option);
    return text === undefined
      ? known[option].default
      : readOption(name, option, known[option].kind, known[option].values, text);
  };
  for (const option of options.keys())
    if (!(option in known))
      fail(
        `agent '${name}' has no option '${option}'; ${Object.keys(known).length ? `its options are ${Object.keys(known).join(", ")}` : "it has none"}`,
      );
  const number = (option: string, aboveZero = false): number => {
    const found: number = value(option);
    if (!(found >= 0) || (aboveZero && found === 0))
      fail(`search ${option}: ${found}; a number ${aboveZero ? "above 0" : "from 0 on"}`);
    return found;
  };
  if (name === "level") {
    const level = argument || "medium";
    const who = info.levels[players]?.[level];
    if (!who) fail(`level: no '${level}'; the levels are ${Object.keys(info.levels[players] ?? {}).join(", ")}`);
    return readSpec(info, who.agent, players);
  }
  if (name === "search" || name === "guided") {
    if (value("threads") !== 1) fail(`agent '${spec}': on this page a search has one thread`);
    if (name === "search")
      return {
        kind: "search",
        budget: readBudget(info, argument || "1000"),
        exploration: number("exploration"),
        playout: info.search.playouts.indexOf(value("playout")),
        returns: info.search.returns.indexOf(value("returns")),
        scale: number("scale", true),
        split: value("split"),
      };
    if (options.has("model")) fail(`agent '${spec}': on this page agents play the models that come with the suite`);
    const batch: number = value("batch");
    if (batch < 1 || batch > info.search.mostRows)
      fail(`search batch: ${batch}; a whole number from 1 to ${info.search.mostRows}`);
    return {
      kind: "guided",
      budget: readBudget(info, argument || "200"),
      exploration: number("exploration"),
      firstPlay: number("first_play"),
      temperature: number("temperature", true),
      worlds: number("worlds"),
      split: value("split"),
      batch,
    };
  }
  if (argument)
    fail(
      name === "learned"
        ? `agent '${spec}': on this page agents play the models that come with the suite`
        : `agent '${name}' takes no argument; got '${argument}'`,
    );
  if (name === "learned" && value("temperature") !== 0)
    fail(`agent '${spec}': on this page it plays the likeliest action only (temperature=0)`);
  return { kind: name as Plain["kind"] };
}

/** Whether an agent needs a model. */
export function needsModel(agent: Agent): boolean {
  return agent.kind === "learned" || agent.kind === "guided";
}
