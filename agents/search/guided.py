"""`guided`: tree search whose prior and value come from a trained model (`siberia_agents.search.puct`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from siberia_agents.learned import LearnedAgent, Model
from siberia_agents.network import flatten
from siberia_agents.search import puct
from siberia_agents.search.agent import SearchAgent, Tree, check_number
from siberia_env.errors import ModelError
from siberia_env.game import Variant
from siberia_env.view import View


class GuidedTree(Tree):
    """The trees of one thread, and the model's networks."""

    agent: GuidedAgent

    def __init__(self, variant: Variant, agent: GuidedAgent, model: Model) -> None:
        super().__init__(variant, agent)
        policy, policy_widths = flatten(model.policy)
        value, value_widths = flatten(model.value)
        widest = int(max(policy_widths.max(), value_widths.max()))
        self.networks = puct.Networks(
            policy, policy_widths, value, value_widths, np.zeros((2, widest), np.float32), np.zeros(widest, np.int32)
        )

    def simulate(self, until: int) -> int:
        """Simulations up to `until`, as far as there is room; the number of the next one due."""
        agent = self.agent
        settings = puct.Settings(
            trees=self.trees,
            players=self.variant.num_players,
            split=agent.split,
            exploration=agent.exploration,
            first_play=agent.first_play,
            temperature=agent.temperature,
            scale=agent.scale,
        )
        return puct.grow_guided(
            self.variant.rulesets,
            self.states,
            self.player,
            self.seed,
            self.done,
            until,
            self.forest(),
            self.networks,
            settings,
        )


class GuidedAgent(SearchAgent):
    """Plays the action that a search guided by a trained model visited most.

    Args:
        budget: a decision's, `"200"` simulations or `"0.5s"`.
        model: a model file; None: the one that comes with the suite.
        exploration: the weight of the policy's priors.
        first_play: what an action not tried yet is thought to be worse by.
        temperature: of the policy; above 1 priors are flatter.
        scale: margin at which a win counts 73%, in thousands of dollars.
        split: whether the trees descend by what is shown of secret decisions.
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
        scale: float = 10.0,
        split: bool = True,
        threads: int = 1,
    ) -> None:
        super().__init__(budget, exploration, scale=scale, split=split, threads=threads)
        self.first_play = check_number("first_play", first_play)
        self.temperature = check_number("temperature", temperature, above_zero=True)
        self.policy = LearnedAgent(model)

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Check that the model is one for `variant`, and make room for searches.

        Raises:
            ModelError: it isn't, or its value network tells of something else than the margin still to come.
        """
        self.policy.start(variant, seed)
        options = self.policy.model.trained.get("options", {})
        if (options.get("reward", "margin"), options.get("shaped", True)) != ("margin", True):
            raise ModelError(
                "guided: the model's values are not of the margin still to come; train it with --reward margin"
            )
        super().start(variant, seed)

    def act(self, view: View) -> int:
        """The most visited action; the policy's where no thread gets further than to look at the root."""
        if self.budget.simulations is not None and self.budget.simulations <= self.threads:
            if view.variant is not self._variant:
                self.start(view.variant, self._seed)
            return self.policy.act(view)
        return super().act(view)

    def new_tree(self, variant: Variant) -> Tree:
        """The trees of one thread."""
        return GuidedTree(variant, self, self.policy.model)
