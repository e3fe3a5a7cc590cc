/** Tree searches, as siberia_agents/search/agent.py and guided.py run them: the same seed gives the same search. */

import type { Kernels } from "./kernels";
import type { Network } from "./model";
import type { Budget, Guided, Search } from "./spec";
import type { View } from "./view";
import { actionsOf } from "./game";
import { keyedHash } from "./hash";

/** What a search found of an action. */
export interface Found {
  readonly action: number;
  readonly visits: number;
  /** By seat, in points: the mean final score, or of a guided search the expected margin. */
  readonly scores: readonly number[];
  /** By seat, the mean share of the win. */
  readonly shares: readonly number[];
}

/** A seed made of `seed` and what `view` shows. */
export function decisionSeed(seed: bigint, view: View): bigint {
  const seen = new Uint8Array(view.observation.buffer, view.observation.byteOffset, view.observation.byteLength);
  const shown = new Uint8Array(seen.length + view.mask.length + 1);
  shown.set(seen);
  shown.set(view.mask, seen.length);
  shown[shown.length - 1] = view.player;
  return keyedHash(seed, shown);
}

const FOREVER = 2 ** 31 - 1;

/** The trees of a search, in memory that is given back when it ends. */
class Forest {
  private readonly trees: number;
  private readonly root: number;
  private readonly players: number;
  private readonly places: { [name: string]: number } = {};
  private capacity: number;
  private rows = 0;
  private done = 0;

  constructor(
    private readonly kernels: Kernels,
    private readonly agent: Search | Guided,
    private readonly network: Network | null,
    private readonly view: View,
    private readonly seed: bigint,
  ) {
    const { info } = kernels;
    const { deepest, nodesAtStart, node, block, extra } = info.search;
    const [actions, players] = [info.numActions, view.players];
    this.players = players;
    this.trees = info.hasSecrets ? players : 1;
    this.root = this.trees > 1 ? view.player : 0;
    this.capacity = nodesAtStart;
    const room = (name: string, bytes: number) => (this.places[name] = kernels.room(bytes));
    room("rulesets", view.ruleset.length);
    kernels.bytes(this.places.rulesets, view.ruleset.length).set(view.ruleset);
    room("used", 8);
    room("paths", 4 * players * deepest);
    room("mask", actions);
    room("sums", 8 * actions * 2 * players);
    room("decisions", 8);
    room("visits", 8 * actions);
    room("states", info.state.size * this.numStates);
    if (network && agent.kind === "guided") {
      const { batch } = agent;
      const width = Math.ceil(Math.max(...network.widths) / block) * block + 1;
      this.places.width = width;
      room("numbers", 4 * network.numbers.length);
      kernels.floats(this.places.numbers, network.numbers.length).set(network.numbers);
      room("widths", 8 * network.widths.length);
      kernels.wide(this.places.widths, network.widths.length).set(network.widths.map(BigInt));
      for (const name of ["units", "active", "values"]) room(name, 4 * batch * width);
      room("flight_paths", 4 * batch * players * deepest);
      room("flight_assumed", 8 * batch * players * deepest);
      room("flight_movers", batch * deepest);
      room("flight_nodes", 8 * batch * players);
      for (const name of ["depth", "first", "status", "asked", "world", "replay", "left", "random", "rows"])
        room(`flight_${name}`, 8 * batch);
      room("flight_ready", batch);
      room("flight_mask", batch * actions);
      room("flight_weights", 8 * batch * actions);
      room("logits_used", 8);
      kernels.wide(this.places.logits_used, 1)[0] = 1n;
      this.rows = info.search.logitsAtStart;
      room("logits", 4 * this.rows * (actions + extra));
    }
    room("nodes", node.size * this.capacity);
  }

  private get numStates(): number {
    return this.agent.kind === "guided" ? 1 + this.agent.batch + this.kernels.info.search.worlds : 2;
  }

  private forest() {
    const { nodes, used, paths, mask, sums, decisions } = this.places;
    return {
      nodes,
      num_nodes: this.capacity,
      used,
      paths,
      mask,
      sums,
      decisions,
      trees: this.trees,
      players: this.players,
      split: this.agent.split ? 1 : 0,
    };
  }

  plant(): void {
    const { kernels, view } = this;
    const sample = view.representative.slice();
    kernels.determinize(view.ruleset, sample, view.player, this.seed);
    kernels.bytes(this.places.states, sample.length).set(sample);
    kernels.call("plant", { ...this.forest() });
  }

  /** Simulate up to number `until`, with more room where it runs out. */
  private grow(until: number): void {
    while (this.done < until) {
      const before = this.done;
      this.done = this.simulate(until);
      if (this.done === before) {
        this.places.nodes = this.moved(this.places.nodes, this.kernels.info.search.node.size * this.capacity, 2);
        this.capacity *= 2;
      }
    }
  }

  /** The content of a room in one that is `times` as large. The old one is lost until the search ends. */
  private moved(start: number, size: number, times: number): number {
    const place = this.kernels.room(Math.ceil(size * times));
    this.kernels.bytes(place, size).set(this.kernels.bytes(start, size));
    return place;
  }

  private simulate(until: number): number {
    const { kernels, places, agent, view } = this;
    const which = {
      rulesets: places.rulesets,
      states: places.states,
      player: view.player,
      seed: this.seed,
      begin: this.done,
      end: until,
    };
    if (agent.kind === "search") {
      const table = logarithms(kernels, until);
      return kernels.call("grow", {
        ...which,
        ...this.forest(),
        exploration: agent.exploration,
        logarithms: table.place,
        num_logarithms: table.size,
        playout: agent.playout,
        returns: agent.returns,
        scale: agent.scale,
      });
    }
    this.keep(until);
    const { numbers, widths } = this.network!;
    return kernels.call("grow_guided", {
      ...places,
      ...which,
      ...this.forest(),
      num_states: this.numStates,
      num_logits: this.rows,
      num_numbers: numbers.length,
      num_widths: widths.length,
      batch: agent.batch,
      shares: this.network!.heads.shares,
      margins: this.network!.heads.margins,
      exploration: agent.exploration,
      first_play: agent.firstPlay,
      temperature: agent.temperature,
      worlds: agent.worlds,
    });
  }

  /** Make room for the logits of all simulations up to `until`, as far as nodes may keep them. */
  private keep(until: number): void {
    const { numActions, search } = this.kernels.info;
    const columns = numActions + search.extra;
    const most = Math.floor(search.mostLogits / columns);
    const more = (until - this.done) * (search.mostAsked + 1);
    const needed = Math.min(Number(this.kernels.wide(this.places.logits_used, 1)[0]) + more, most);
    if (needed > this.rows) {
      const rows = Math.min(Math.max(needed, 2 * this.rows), most);
      this.places.logits = this.moved(this.places.logits, 4 * this.rows * columns, rows / this.rows);
      this.rows = rows;
    }
  }

  /** Spend the budget; `early`: stop once the choice is settled. */
  think(budget: Budget, early: boolean): void {
    const started = performance.now();
    const until = budget.simulations ?? FOREVER;
    while (this.done < until) {
      this.grow(Math.min(this.done + this.kernels.info.search.chunk, until));
      let left = until - this.done;
      if (budget.seconds !== null) {
        const now = performance.now();
        left = Math.trunc(((started + 1000 * budget.seconds - now) * this.done) / Math.max(now - started, 1e-3));
      }
      if (left <= 0) break;
      if (
        early &&
        this.kernels.call("lead", { nodes: this.places.nodes, num_nodes: this.capacity, root: this.root }) > left
      )
        break;
    }
  }

  /** What was found, the most visited action first. */
  found(): Found[] {
    const { kernels, places, players } = this;
    const actions = kernels.info.numActions;
    kernels.call("root_visits", {
      nodes: places.nodes,
      num_nodes: this.capacity,
      root: this.root,
      visits: places.visits,
    });
    const visits = Array.from(kernels.wide(places.visits, actions), Number);
    const sums = kernels.doubles(places.sums, actions * 2 * players);
    const mean = (action: number, row: number) =>
      Array.from(
        sums.slice((2 * action + row) * players, (2 * action + row + 1) * players),
        (sum) => sum / Math.max(visits[action], 1),
      );
    return actionsOf(this.view.mask)
      .sort((a, b) => visits[b] - visits[a] || a - b)
      .map((action) => ({ action, visits: visits[action], scores: mean(action, 0), shares: mean(action, 1) }));
  }
}

/** The table of logarithms that a search up to simulation `until` reads. It stays in memory for later searches. */
function logarithms(kernels: Kernels, until: number): { place: number; size: number } {
  const size = 2 ** Math.max(16, until.toString(2).length);
  const known = tables.get(kernels);
  if (known && known.size >= size) return known;
  const place = kernels.room(4 * size);
  kernels.call("fill_logarithms", { table: place, size });
  const table = { place, size };
  tables.set(kernels, table);
  return table;
}

const tables = new WeakMap<Kernels, { place: number; size: number }>();

/** Search the decision of a view. */
export function runSearch(
  kernels: Kernels,
  agent: Search | Guided,
  network: Network | null,
  view: View,
  seed: bigint,
  early: boolean,
): Found[] {
  if (agent.kind === "search") logarithms(kernels, (agent.budget.simulations ?? 2 ** 20) + kernels.info.search.chunk);
  const mark = kernels.mark();
  const table = tables.get(kernels);
  try {
    const forest = new Forest(kernels, agent, network, view, decisionSeed(seed, view));
    forest.plant();
    forest.think(agent.budget, early);
    return forest.found();
  } finally {
    if (table !== tables.get(kernels)) tables.delete(kernels); // it was made above the mark
    kernels.release(mark);
  }
}
