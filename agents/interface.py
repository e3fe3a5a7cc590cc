"""What an agent is: something that answers a view with an action."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from siberia_env.game import Variant
from siberia_env.view import BatchView, View


class Agent(ABC):
    """A player of any game of the suite.

    Subclasses give `act`; those that can answer many games at once override `act_batch` too. An agent sees
    views only: determinized samples, never the true state.

    Attributes:
        name: shown in tables and written into records.
    """

    name: str = "agent"

    def start(self, variant: Variant, seed: int = 0) -> None:  # noqa: B027
        """Get ready for games of `variant`; whatever is random from now on follows from `seed`.

        Raises:
            ModelError: the agent can't play this variant.
        """

    @abstractmethod
    def act(self, view: View) -> int:
        """The number of a legal action."""

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """A legal action for each of n games: int64 [n]."""
        return np.array([self.act(views.view(row)) for row in range(len(views))], np.int64)
