"""Draws the players of training games: the policy in training, its frozen past selves, and the baselines.

Opponents that still win against the learner are drawn more often. This is prioritised fictitious self-play (Vinyals
and others, "Grandmaster level in StarCraft II", 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent, Model
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_env.vector import Step
from siberia_experiments.training.sb3_ppo import LEARNER


@dataclass(frozen=True)
class Mix:
    """The shares of games in which the learner meets other players. The rest is pure self-play.

    Attributes:
        past: share of games against frozen past selves.
        baselines: share of games against the baseline agents.
        kept: how many past selves are kept. A new one replaces the one that is beaten most.
        focus: opponents of a group are drawn with weight (1 - b) ** focus, where b is the share of games in which the
            learner ends ahead of them. 0 draws them evenly.
    """

    past: float = 0.1
    baselines: float = 0.4
    kept: int = 6
    focus: float = 2.0

    def check(self) -> None:
        """Raise `ConfigurationError` if a value is invalid."""
        if not (self.past >= 0 and self.baselines >= 0 and self.past + self.baselines <= 1):
            raise ConfigurationError(f"mix: {self}; the parts must be 0 or more and at most 1 together")
        if self.kept < 1:
            raise ConfigurationError(f"mix: {self}; at least one past self is kept")
        if not self.focus >= 0:
            raise ConfigurationError(f"mix: {self}; the focus has to be 0 or more")


MEMORY = 0.02  #: weight of one game in the running share of games in which the learner beats an opponent
LEAST_WEIGHT = 0.01  #: least value of 1 - b in a weight, so that an opponent that is always beaten is still drawn


class League:
    """Draws the holders of the seats (the `Seating` of `sb3_ppo`).

    In a game against others the learner holds one random seat, and each other seat goes to an opponent drawn
    from the same group. A checkpoint pickles the whole object, including its streams of random choices.

    Attributes:
        holder: int64 [N, P], index into `opponents`, or `LEARNER`.
        beaten: for each of `opponents`, a running share of the games in which the learner ended ahead of it. A tie
            counts as half a game.
    """

    def __init__(self, variant: Variant, games: int, baselines: Sequence[Agent], mix: Mix, seed: int) -> None:
        self.variant = variant
        self.mix = mix
        self.random = np.random.default_rng(seed)
        self.baselines = list(baselines)
        self.past: list[Agent] = []
        self.beaten = [0.5] * len(self.baselines)
        self.holder = np.full((games, variant.num_players), LEARNER, np.int64)
        for number, agent in enumerate(self.baselines):
            agent.start(variant, seed + number)
        self.reseat(np.arange(games))

    @property
    def opponents(self) -> list[Agent]:
        """All agents that may hold a seat: the baselines, then the past selves."""
        return self.baselines + self.past

    def reseat(self, games: NDArray[np.int64], step: Step | None = None) -> None:
        """Draw new holders for the seats of `games`. If `step` is given, it has the results of the games that ended."""
        players, first_past = self.variant.num_players, len(self.baselines)
        groups = {"baselines": range(first_past), "past": range(first_past, len(self.opponents))}
        weights = {name: self.weights(group) for name, group in groups.items()}
        for game in games:
            if step is not None:
                self.book(self.holder[game], step.final_scores[game])
            self.holder[game] = LEARNER
            kind = self.random.random()
            if kind < self.mix.baselines and self.baselines:
                name = "baselines"
            elif self.mix.baselines <= kind < self.mix.baselines + self.mix.past and self.past:
                name = "past"
            else:
                continue
            seat = self.random.integers(players)
            self.holder[game] = self.random.choice(groups[name], players, p=weights[name])
            self.holder[game, seat] = LEARNER

    def weights(self, group: range) -> NDArray[np.float64]:
        """The probability of drawing each opponent of `group`. Opponents that still win are drawn more often."""
        weight = np.array([max(1 - self.beaten[number], LEAST_WEIGHT) ** self.mix.focus for number in group])
        return weight / weight.sum() if len(weight) else weight

    def book(self, holder: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
        """Note how the learner did in a game against others."""
        seats = np.flatnonzero(holder == LEARNER)
        if len(seats) != 1:
            return
        for seat in np.flatnonzero(holder != LEARNER):
            ahead = 0.5 * (1 + np.sign(int(scores[seats[0]]) - int(scores[seat])))
            self.beaten[holder[seat]] += MEMORY * (float(ahead) - self.beaten[holder[seat]])

    def add_past(self, model: Model) -> None:
        """Add the current policy as a frozen opponent. It draws its actions by likelihood, not always the best one."""
        agent = LearnedAgent(model, temperature=1.0)
        agent.start(self.variant, int(self.random.integers(2**32)))
        if len(self.past) == self.mix.kept:
            # Seats of later past selves pass to their successors. That does no harm, as all of them are past selves.
            first_past = len(self.baselines)
            leaving = int(np.argmax(self.beaten[first_past:]))
            del self.past[leaving], self.beaten[first_past + leaving]
        self.past.append(agent)
        self.beaten.append(0.5)
