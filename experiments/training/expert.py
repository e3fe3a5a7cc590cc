"""Expert iteration: a guided search with the policy in training says which actions are better, and the policy follows.

After Anthony and others, "Thinking fast and slow with deep learning and tree search" (2017). The search is asked about
decisions that the policy doubts. What is played stays the policy's, so its other decisions, values and advantages are
what they would be without the search.

The policy does not learn the visits: with few simulations they are near to the search's flattened priors, so a policy
that learns them gets flatter and flatter. Nor does it learn the most visited action, or its own likelihoods shifted by
the gains: both repeat the search's noise. It maximises the gain that the search expects of it, summed over all actions
as in Allen and others, "Mean actor critic" (2017). That is linear in the gains, so noise averages out.

On request the search is that of Danihelka and others, "Policy improvement by planning with Gumbel" (2022), made for few
simulations: some actions, drawn from the policy without replacement, are compared by sequential halving; the policy
learns its own likelihoods shifted by what the search says each action brings; and the search's choice may be played.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import Layers, Model, head_sizes
from siberia_agents.search import ismcts, puct
from siberia_agents.search.guided import GuidedAgent, GuidedTree
from siberia_env.game import Variant

DOUBT = 4.0  #: visits with the mean result that each action is thought to have had before the search

#: How much the results of a Gumbel search weigh beside the policy's logits: (c_visit + most visits) * c_scale in the
#: paper, with its values.
C_VISIT, C_SCALE = 50.0, 1.0


class Advice(NamedTuple):
    """What a Gumbel search makes of a decision with A actions."""

    policy: NDArray[np.float32]  #: [A], likelihoods, 0 for illegal actions
    action: int  #: the search's choice


class Expert:
    """Guided searches with a policy that changes; `follow` gives them its weights."""

    def __init__(self, variants: Sequence[Variant], simulations: int) -> None:
        self.variants, self.simulations = list(variants), simulations
        self._trees: dict[int, GuidedTree] = {}

    def follow(self, layers: Layers) -> None:
        """Search with these weights from now on."""
        game = self.variants[0].game
        counts = tuple(sorted(variant.num_players for variant in self.variants))
        model = Model(game.name, counts, layers, head_sizes(game), {})
        agent = GuidedAgent(self.simulations, model)
        self._trees = {variant.num_players: GuidedTree(variant, agent, model) for variant in self.variants}

    def gains(self, tables: Any, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> NDArray[np.float32]:
        """How much more of the win each action brings than the mean of the search, in each of the games `rows`.

        Args:
            tables: `ppo.Tables`.
            rows: int64 [n], games in which a decision is due.
            seeds: int64 [n], 0 or more, of the searches.

        Returns:
            float32 [n, A], differences of win shares, the smaller the fewer visits they come from; 0 without a visit.
        """
        gains = np.zeros((len(rows), tables.game.num_actions), np.float32)
        visits = np.zeros(tables.game.num_actions, np.int64)
        for variant, here, states in tables.states_of(rows):
            tree = self._trees[variant.num_players]
            for place, number in enumerate(here):
                player = int(tables.player[rows[number]])
                # Every world is drawn from what the player on turn knows, so the true state will do for a sample.
                tree.plant(states[place : place + 1], player, int(seeds[number]))
                tree.grow(self.simulations)
                visits[:] = 0
                ismcts.root_visits(tree.nodes, tree.root, visits)
                won = tree.sums[:, 1, player]
                mean = won.sum() / max(1, visits.sum())
                gains[number] = (won - mean * visits) / (visits + DOUBT)
        return gains

    def advice(
        self,
        tables: Any,
        rows: NDArray[np.int64],
        seeds: NDArray[np.int64],
        values: NDArray[np.float32],
        considered: int,
    ) -> list[Advice]:
        """What Gumbel searches that compare `considered` actions make of the decisions in the games `rows`.

        Args:
            tables: `ppo.Tables`.
            rows: int64 [n], games in which a decision is due.
            seeds: int64 [n], 0 or more, of the searches and the noise.
            values: float32 [n], the share of the win that the network expects for the player on turn.
            considered: 2 or more.
        """
        found: list[Advice | None] = [None] * len(rows)
        for variant, here, states in tables.states_of(rows):
            tree = self._trees[variant.num_players]
            for place, number in enumerate(here):
                player = int(tables.player[rows[number]])
                tree.plant(states[place : place + 1], player, int(seeds[number]))
                legal = np.flatnonzero(tables.mask[rows[number]])
                noise = np.random.default_rng(int(seeds[number])).gumbel(size=len(legal))
                found[number] = self._gumbel(tree, player, legal, noise, float(values[number]), considered)
        return [one for one in found if one is not None]

    def _gumbel(
        self,
        tree: GuidedTree,
        player: int,
        legal: NDArray[np.int64],
        noise: NDArray[np.float64],
        value: float,
        considered: int,
    ) -> Advice:
        """Sequential halving among the actions with the highest logits plus `noise`."""
        tree.even = True
        tree.grow(1)  # gives the root's edges their priors, and keeps its logits
        edges = root_edges(tree)
        logits = tree.logits[int(tree.nodes[tree.root].available) - 1, legal].astype(np.float64)
        left = np.argsort(-(logits + noise), kind="stable")[:considered]
        rounds = max(1, (len(left) - 1).bit_length())
        for number in range(rounds):
            for edge in edges.values():
                tree.nodes[edge]["prior"] = puct.LEAST  # leaves it out
            for action in legal[left]:
                tree.nodes[edges[int(action)]]["prior"] = 1.0
            tree.grow(tree.done + (self.simulations - tree.done) // (rounds - number))
            visits = np.array([tree.nodes[edges[int(action)]]["visits"] for action in legal], np.float64)
            won = tree.sums[legal, 1, player]
            shift = shifts(logits, visits, won, value)
            left = left[np.argsort(-(logits + noise + shift)[left], kind="stable")]
            chosen = int(legal[left[0]])
            left = left[: max(1, (len(left) + 1) // 2)]
        policy = np.zeros(tree.variant.game.num_actions, np.float32)
        policy[legal] = softmax(logits + shift)
        return Advice(policy, chosen)


def root_edges(tree: GuidedTree) -> dict[int, int]:
    """The node below each action at the root of the searching player's tree."""
    found = {}
    child = int(tree.nodes[tree.root]["first"])
    while child != ismcts.NONE:
        found[int(tree.nodes[child]["edge"]) % ismcts.MOST_ACTIONS] = child
        child = int(tree.nodes[child]["next"])
    return found


def shifts(
    logits: NDArray[np.float64], visits: NDArray[np.float64], won: NDArray[np.float64], value: float
) -> NDArray[np.float64]:
    """What a search adds to each action's logit: its mean result, times a weight that grows with the visits.

    Args:
        logits: [n], of the legal actions.
        visits: [n], of each.
        won: [n], the sum of its results, shares of the win.
        value: of the root, as the network expects it. What was not visited counts as the mean of that and of the
            results, weighted by likelihood (the paper's `v_mix`).
    """
    likelihoods = softmax(logits)
    tried = visits > 0
    means = np.divide(won, visits, out=np.zeros_like(won), where=tried)
    seen = float(likelihoods[tried].sum())
    if seen > 0:
        value = (value + visits.sum() * float(likelihoods[tried] @ means[tried]) / seen) / (1 + visits.sum())
    completed = np.where(tried, means, value)
    return np.asarray((C_VISIT + visits.max()) * C_SCALE * completed)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Likelihoods that sum to 1."""
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())
