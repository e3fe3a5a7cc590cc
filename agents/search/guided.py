"""`guided`: tree search whose priors and returns come from a trained model (`siberia_agents.search.puct`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import LearnedAgent, Model
from siberia_agents.network import MOST_ROWS, flatten, workspace
from siberia_agents.search import puct
from siberia_agents.search.agent import SearchAgent, Tree, check_number
from siberia_agents.search.ismcts import DEEPEST
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant
from siberia_env.view import View

BATCH = 8
LOGITS_AT_START = 1024  #: rows
MOST_LOGITS = 1 << 24  #: numbers that the nodes of a tree keep, at most: 64 MiB


class GuidedTree(Tree):
    """The trees of one thread, and the model's network."""

    agent: GuidedAgent

    def __init__(self, variant: Variant, agent: GuidedAgent, model: Model) -> None:
        super().__init__(variant, agent)
        actions, batch, players = variant.game.num_actions, agent.batch, variant.num_players
        self.even = False  #: see `puct.Settings`
        network = flatten(model.layers)
        shares, margins = (model.head(name).start for name in ("shares", "margins"))
        self.networks = puct.Networks(network, workspace(network, batch), shares, margins)
        self.states = variant.new_states(1 + batch + puct.WORLDS)
        self.logits = np.zeros((LOGITS_AT_START, actions + puct.EXTRA), np.float32)
        self.logits_used = np.ones(1, np.int64)
        self.flights = puct.Flights(
            paths=np.zeros((batch, players, DEEPEST), np.int32),
            assumed=np.zeros((batch, players, DEEPEST)),
            movers=np.zeros((batch, DEEPEST), np.int8),
            nodes=np.zeros((batch, players), np.int64),
            depth=np.zeros(batch, np.int64),
            first=np.zeros(batch, np.int64),
            status=np.zeros(batch, np.int64),
            ready=np.zeros(batch, np.int8),
            asked=np.zeros(batch, np.int64),
            world=np.zeros(batch, np.int64),
            replay=np.zeros(batch, np.int64),
            left=np.zeros(batch, np.int64),
            random=np.zeros(batch, np.uint64),
            mask=np.zeros((batch, actions), np.int8),
            weights=np.zeros((batch, actions)),
            rows=np.zeros(batch, np.int64),
        )

    def plant(self, sample: States, player: int, seed: int) -> None:
        """Begin a search by `player` from `sample` (an array of one state)."""
        super().plant(sample, player, seed)
        self.logits_used[0] = 1

    def simulate(self, until: int) -> int:
        """Simulations up to `until`, as far as there is room; the number of the next one due."""
        agent = self.agent
        self.keep(until)
        settings = puct.Settings(
            trees=self.trees,
            players=self.variant.num_players,
            split=agent.split,
            exploration=agent.exploration,
            first_play=agent.first_play,
            temperature=agent.temperature,
            batch=agent.batch,
            worlds=agent.worlds,
            even=self.even,
        )
        return puct.grow_guided(
            self.variant.rulesets,
            self.states,
            self.player,
            self.seed,
            self.done,
            until,
            self.forest(),
            puct.Kept(self.logits, self.logits_used),
            self.flights,
            self.networks,
            settings,
        )

    def keep(self, until: int) -> None:
        """Make room for the logits of all simulations up to `until`, as far as nodes may keep them."""
        rows, columns = self.logits.shape
        more = (until - self.done) * (puct.MOST_ASKED + 1)
        needed = min(int(self.logits_used[0]) + more, MOST_LOGITS // columns)
        if needed > rows:
            added = np.zeros((min(max(needed, 2 * rows), MOST_LOGITS // columns) - rows, columns), np.float32)
            self.logits = np.concatenate([self.logits, added])


class GuidedAgent(SearchAgent):
    """Plays the action that a search guided by a trained model visited most.

    Args:
        budget: a decision's, `"200"` simulations or `"0.5s"`.
        model: a model file; None: the one that comes with the suite.
        exploration: the weight of the policy's priors.
        first_play: what an action not tried yet is thought to be worse by.
        temperature: of the policy; above 1 priors are flatter.
        worlds: number of others' decisions in a simulation about which the network is asked again, if need be, so
            that their priors are those of the world at hand.
        split: whether the trees descend by what is shown of secret decisions.
        batch: number of simulations under way at the same time, 1 to 64, whose positions the network runs for together.
        threads: number of threads; a budget of simulations is divided among them.

    Raises:
        ConfigurationError: a budget or an option that there can't be.
        ModelError: a model that can't be used.
    """

    name = "guided"

    def __init__(
        self,
        budget: str | int = 200,
        model: str | Path | Model | None = None,
        exploration: float = 0.4,
        first_play: float = 0.1,
        temperature: float = 1.5,
        worlds: int = 0,
        split: bool = True,
        batch: int = BATCH,
        threads: int = 1,
    ) -> None:
        super().__init__(budget, exploration, split=split, threads=threads)
        if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= MOST_ROWS:
            raise ConfigurationError(f"search batch: {batch!r}; a whole number from 1 to {MOST_ROWS}")
        self.batch = batch
        if isinstance(worlds, bool) or not isinstance(worlds, int) or worlds < 0:
            raise ConfigurationError(f"search worlds: {worlds!r}; a whole number from 0 on")
        self.worlds = worlds
        self.first_play = check_number("first_play", first_play)
        self.temperature = check_number("temperature", temperature, above_zero=True)
        self.policy = LearnedAgent(model)

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Check that the model is one for `variant`, and make room for searches.

        Raises:
            ModelError: it isn't, or it says nothing of the shares of the win or of the final margins.
        """
        self.policy.start(variant, seed)
        for name in ("shares", "margins"):
            self.policy.model.head(name)
        super().start(variant, seed)

    def act(self, view: View) -> int:
        """The most visited action; the policy's where no thread gets further than to look at the root."""
        return self._by_policy(view) if self._sees_only_the_root else super().act(view)

    def act_with_visits(self, view: View) -> tuple[int, NDArray[np.int64] | None]:
        """As for `SearchAgent`; without visits where `act` asks the policy alone."""
        return (self._by_policy(view), None) if self._sees_only_the_root else super().act_with_visits(view)

    @property
    def _sees_only_the_root(self) -> bool:
        return self.budget.simulations is not None and self.budget.simulations <= self.threads

    def _by_policy(self, view: View) -> int:
        if view.variant is not self._variant:
            self.start(view.variant, self._seed)
        return self.policy.act(view)

    def new_tree(self, variant: Variant) -> Tree:
        """The trees of one thread."""
        return GuidedTree(variant, self, self.policy.model)
