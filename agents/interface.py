"""The interface of an agent: it is given a view and answers with an action.

docs/agents.md explains how to write an agent and how to let it play.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.errors import ActionOutOfBoundsError, IllegalActionError
from siberia_env.game import Variant
from siberia_env.view import BatchView, View


class Agent(ABC):
    """A player of any game of the suite.

    Subclasses define `act`. Those that can answer many games at once override `act_batch` too. An agent sees only
    views: determinized samples, never the true state. One object plays many games, even at the same time and in
    several seats. Its answer depends only on the view and on random numbers that follow from the seed.

    Attributes:
        name: appears in tables and records. The default is the name of the class.
    """

    name: str = "agent"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.name == Agent.name:
            cls.name = cls.__name__

    def start(self, variant: Variant, seed: int = 0) -> None:  # noqa: B027
        """Prepare for games of `variant`. All random choices from now on follow from `seed` (0 to 2**64 - 1).

        Raises:
            ModelError: the agent can't play this variant.
        """

    @abstractmethod
    def act(self, view: View) -> int:
        """Return the number of a legal action."""

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """Return a legal action for each of n games: int64 [n].

        Raises:
            IllegalActionError: `act` answered with an action that isn't legal.
            ActionOutOfBoundsError: `act` answered with something that is not an action.
        """
        return np.array([checked_action(self, view) for view in map(views.view, range(len(views)))], np.int64)


def checked_action(agent: Agent, view: View) -> int:
    """Ask `agent` for an action, and return it if it is legal.

    Raises:
        IllegalActionError: the action is not legal.
        ActionOutOfBoundsError: the answer is not a whole number from 0 to A - 1.
    """
    answer = agent.act(view)
    try:
        action = operator.index(answer)
    except TypeError:
        raise ActionOutOfBoundsError(f"agent {agent.name}: answered {answer!r}, which is no action number") from None
    if not 0 <= action < len(view.mask):
        raise ActionOutOfBoundsError(
            f"agent {agent.name}: answered {action}; the actions are 0 to {len(view.mask) - 1}"
        )
    if not view.mask[action]:
        raise IllegalActionError(
            f"agent {agent.name}: answered {action} ({view.variant.action_names[action]}), which is not legal now; "
            f"legal: {', '.join(map(str, view.legal_actions))}"
        )
    return action
