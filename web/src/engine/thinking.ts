/** What agents answer to a view. */

import { SiberiaError, type Analysis } from "./types";
import type { Kernels } from "./kernels";
import type { Network } from "./model";
import { readModel } from "./model";
import { readSpec } from "./spec";
import { runSearch } from "./search";
import { actionsOf } from "./game";
import type { View } from "./view";

export class Thinking {
  private readonly networks = new Map<string, Network>();

  constructor(
    readonly kernels: Kernels,
    private readonly models: (file: string) => Uint8Array | undefined,
  ) {}

  private network(players: number): Network {
    const { info } = this.kernels;
    const file = info.models[players];
    const known = this.networks.get(`${players} ${file}`);
    if (known) return known;
    const bytes = file && this.models(file);
    if (!bytes) throw new SiberiaError(`There is no model of ${info.title} for ${players} players here.`);
    const network = readModel(info, file, bytes, players);
    this.networks.set(`${players} ${file}`, network);
    return network;
  }

  /** The action that an agent takes. */
  choose(view: View, spec: string, seed: bigint): number {
    const { kernels } = this;
    const agent = readSpec(kernels.info, spec, view.players);
    if (agent.kind === "random") return kernels.randomAction(view.mask, seed);
    if (agent.kind === "greedy" || agent.kind === "heuristic") {
      const sample = view.representative.slice();
      kernels.determinize(view.ruleset, sample, view.player, 0n);
      return kernels.plan(agent.kind, view.ruleset, sample, view.mask);
    }
    if (agent.kind === "search" || agent.kind === "guided") {
      if (agent.kind === "guided" && agent.budget.simulations === 1) return this.policy(view);
      const legal = actionsOf(view.mask);
      const network = agent.kind === "guided" ? this.network(view.players) : null;
      return legal.length === 1 ? legal[0] : runSearch(kernels, agent, network, view, seed, true)[0].action;
    }
    return this.policy(view);
  }

  /** The likeliest action by the model. */
  private policy(view: View): number {
    const outputs = this.outputs(view);
    let [best, highest] = [-1, 0];
    for (const action of actionsOf(view.mask)) {
      const logit = Math.max(
        Number.isNaN(outputs[action]) ? -Infinity : outputs[action],
        this.kernels.info.search.lowestLogit,
      );
      if (best < 0 || logit > highest) [best, highest] = [action, logit];
    }
    return best;
  }

  /** The outputs of the model for what a view shows. */
  outputs(view: View): Float32Array {
    const { kernels } = this;
    const network = this.network(view.players);
    const { block } = kernels.info.search;
    const width = Math.ceil(Math.max(...network.widths) / block) * block + 1;
    const mark = kernels.mark();
    try {
      const [units, active, values] = [4 * width, 4 * width, 4 * width].map((bytes) => kernels.room(bytes));
      const numbers = kernels.room(4 * network.numbers.length);
      const widths = kernels.room(8 * network.widths.length);
      kernels.floats(units, view.observation.length).set(view.observation);
      kernels.floats(numbers, network.numbers.length).set(network.numbers);
      kernels.wide(widths, network.widths.length).set(network.widths.map(BigInt));
      const sizes = {
        num_numbers: network.numbers.length,
        num_widths: network.widths.length,
        width,
        batch: 1,
        rows: 1,
      };
      kernels.call("run_network", { numbers, widths, units, active, values, ...sizes });
      return kernels.floats(units, network.widths.at(-1)!).slice();
    } finally {
      kernels.release(mark);
    }
  }

  /** What guided search expects of every legal action, the most visited first. */
  analyse(view: View, simulations: number, seed: bigint): Analysis[] {
    const agent = readSpec(this.kernels.info, `guided:${simulations}`, view.players);
    if (agent.kind !== "guided") throw new SiberiaError("guided search is not there");
    return runSearch(this.kernels, agent, this.network(view.players), view, seed, false).map((found) => ({
      action: found.action,
      visits: found.visits,
      margin: found.scores[view.player],
      share: found.shares[view.player],
    }));
  }
}
