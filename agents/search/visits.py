"""Agents that tell how often their search tried each action, as data for training does."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from siberia_env.view import View


@runtime_checkable
class ShowsVisits(Protocol):
    """An agent with this method has its visits recorded; agents of your own may have it too."""

    def act_with_visits(self, view: View) -> tuple[int, NDArray[np.int64] | None]:
        """The number of a legal action, and the visits of every action, int64 [A]; None if nothing was searched."""
