"""What the agents that play by a fixed, compiled plan share (`greedy`, `heuristic`).

A plan is a generic function `plan(ruleset, state, mask) -> action` that each game fills. It stands in a file of
its own with two kernels around it, for one state and for a batch: numba keeps compiled code only of functions
that name what they call, so these can't be made here once for every plan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant, generic, is_filled
from siberia_env.view import BatchView, View


@partial(generic, optional=True)
def greedy(ruleset: Any, state: Any, mask: Any) -> int:
    """The action of the greedy plan for the player on turn; `mask` holds the legal ones. Games without one give -1."""
    return -1


@partial(generic, optional=True)
def heuristic(ruleset: Any, state: Any, mask: Any) -> int:
    """The action of the heuristic plan, likewise."""
    return -1


def has_plan(variant: Variant, name: str) -> bool:
    """Whether the game has a plan called `name`."""
    return is_filled(variant.game.state_dtype, name)


def check_plan(variant: Variant, name: str) -> None:
    """Raise `ConfigurationError` if the game has no plan called `name`."""
    if not has_plan(variant, name):
        raise ConfigurationError(f"{name}: the game {variant.game.name} has no such plan")


class PlanAgent(Agent):
    """Plays a plan on one sampled state: a plan reads only what the player knows, so any sample will do.

    Attributes:
        plan_at: kernel `(rulesets, states, i, mask) -> action`.
        plan_batch: kernel `(rulesets, states, masks, actions)` that fills `actions`.
    """

    plan_at: ClassVar[Callable[..., int]]
    plan_batch: ClassVar[Callable[..., None]]

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Check that the game has the plan; a plan has no random numbers.

        Raises:
            ConfigurationError: it has none.
        """
        super().start(variant, seed)
        check_plan(variant, self.name)

    def act(self, view: View) -> int:
        """The plan's action."""
        return self.plan_at(view.variant.rulesets, view.sample(0), 0, view.mask)

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """The plan's action in each game."""
        actions = np.zeros(len(views), np.int64)
        self.plan_batch(views.variant.rulesets, views.sample(0), views.mask, actions)
        return actions
