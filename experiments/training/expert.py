"""Expert iteration: a guided search with the policy in training says which actions are better, and the policy follows.

After Anthony and others, "Thinking fast and slow with deep learning and tree search" (2017). The search is asked about
decisions that the policy doubts. What is played stays the policy's, so its other decisions, values and advantages are
what they would be without the search.

The policy does not learn the visits: with few simulations they are near to the search's flattened priors, so a policy
that learns them gets flatter and flatter. Nor does it learn the most visited action, or its own likelihoods shifted by
the gains: both repeat the search's noise. It maximises the gain that the search expects of it, summed over all actions
as in Allen and others, "Mean actor critic" (2017). That is linear in the gains, so noise averages out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import Layers, Model, head_sizes
from siberia_agents.search import ismcts
from siberia_agents.search.guided import GuidedAgent, GuidedTree
from siberia_env.game import Variant

DOUBT = 4.0  #: visits with the mean result that each action is thought to have had before the search


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
