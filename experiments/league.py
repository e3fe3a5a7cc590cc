"""Who sits at the training tables: the policy in training, its frozen past selves, and the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent, Model
from siberia_env.game import Variant
from siberia_env.sb3 import LEARNER
from siberia_env.vector import Step


@dataclass(frozen=True)
class Mix:
    """Parts of the games in which the learner meets somebody else; the rest is pure self-play.

    Attributes:
        past: against frozen past selves.
        baselines: against the baseline agents.
        kept: how many past selves are kept; a newcomer takes the place of a random one but the newest.
    """

    past: float = 0.1
    baselines: float = 0.4
    kept: int = 6


class League:
    """Draws the holders of the seats (the `Seating` of `siberia_env.sb3`).

    In a game against others the learner holds one random seat, and each other seat goes to an opponent drawn
    from the same group. Everything here is pickled with a checkpoint, streams of random choices included.
    """

    def __init__(self, variant: Variant, games: int, baselines: Sequence[Agent], mix: Mix, seed: int) -> None:
        self.variant = variant
        self.mix = mix
        self.random = np.random.default_rng(seed)
        self.baselines = list(baselines)
        self.past: list[Agent] = []
        self.holder = np.full((games, variant.num_players), LEARNER, np.int64)
        for number, agent in enumerate(self.baselines):
            agent.start(variant, seed + number)
        self.reseat(np.arange(games))

    @property
    def opponents(self) -> list[Agent]:
        """Everybody who may hold a seat: the baselines, then the past selves."""
        return self.baselines + self.past

    def reseat(self, games: NDArray[np.int64], step: Step | None = None) -> None:
        """Draw new holders for the seats of `games`."""
        players, first_past = self.variant.num_players, len(self.baselines)
        for game in games:
            self.holder[game] = LEARNER
            kind = self.random.random()
            if kind < self.mix.baselines and self.baselines:
                group = (0, first_past)
            elif self.mix.baselines <= kind < self.mix.baselines + self.mix.past and self.past:
                group = (first_past, first_past + len(self.past))
            else:
                continue
            seat = self.random.integers(players)
            self.holder[game] = self.random.integers(*group, size=players)
            self.holder[game, seat] = LEARNER

    def add_past(self, model: Model) -> None:
        """Freeze the present policy as an opponent; it plays by likelihood, not always its best."""
        agent = LearnedAgent(model, temperature=1.0)
        agent.start(self.variant, int(self.random.integers(2**32)))
        if len(self.past) == self.mix.kept:
            # Seats already held by a later one pass to its successor: they are past selves all the same.
            del self.past[int(self.random.integers(max(1, self.mix.kept - 1)))]
        self.past.append(agent)
