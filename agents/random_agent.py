"""The agent `random` plays a random legal action; all are equally likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.core import engine
from siberia_env.core.rng import scramble
from siberia_env.game import Variant
from siberia_env.view import BatchView, View


class RandomAgent(Agent):
    """Draws uniformly from the legal actions."""

    name = "random"

    def __init__(self) -> None:
        self._seed = np.uint64(0)
        self._draws = 0

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Restart the stream of random choices."""
        # The seed is scrambled so that the agent shares no random numbers with games dealt under the same seed.
        self._seed = np.uint64(scramble(np.uint64(seed % 2**64)))
        self._draws = 0

    def act(self, view: View) -> int:
        """Return a random legal action."""
        return int(self._choose(view.mask[None])[0])

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """Return a random legal action for each game."""
        return self._choose(views.mask)

    def _choose(self, mask: NDArray[np.int8]) -> NDArray[np.int64]:
        actions = np.zeros(len(mask), np.int64)
        engine.sample_batch(mask, mask.sum(axis=1, dtype=np.int16), self._seed, self._draws, actions)
        self._draws += 1
        return actions
