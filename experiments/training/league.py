"""Draws who plays which seat of the training games: the policy in training, its frozen past selves, the plans.

Every seat is drawn by itself, so a table may mix all of them. Opponents that still end ahead of the learner are drawn
more often. This is prioritised fictitious self-play (Vinyals and others, "Grandmaster level in StarCraft II", 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from siberia_agents.greedy import greedy_batch
from siberia_agents.heuristic import heuristic_batch
from siberia_agents.plan import check_plan
from siberia_env.errors import ConfigurationError
from siberia_env.game import MAX_PLAYERS, Variant

LEARNER = -1  #: the holder of a seat that the policy in training plays
MEMORY = 0.02  #: weight of one game in the running share of games in which the learner beats an opponent
LEAST_WEIGHT = 0.05  #: least value of 1 - b in a weight, so that an opponent that is always beaten is still drawn

#: The plans by name, as kernels `(rulesets, states, masks, actions)`.
PLANS: dict[str, Callable[..., None]] = {"greedy": greedy_batch, "heuristic": heuristic_batch}


class Opponent(Protocol):
    """An opponent of the learner."""

    def decide(self, tables: Any, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """A legal action for each of the games `rows` of `tables` (`ppo.Tables`); int64 [n]."""


class PlanOpponent:
    """A plan. It reads only what its player knows, so it may look at the true state."""

    def __init__(self, name: str, variants: Sequence[Variant]) -> None:
        """Check that the games have the plan.

        Raises:
            ConfigurationError: they haven't, or there is no plan of that name.
        """
        if name not in PLANS:
            raise ConfigurationError(f"opponents: no plan {name!r}; there are {', '.join(PLANS)}")
        for variant in variants:
            check_plan(variant, name)
        self.name, self.batch = name, PLANS[name]

    def decide(self, tables: Any, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The plan's action in each game."""
        actions = np.zeros(len(rows), np.int64)
        for variant, here, states in tables.states_of(rows):
            chosen = np.zeros(len(here), np.int64)
            self.batch(variant.rulesets, states, tables.mask[rows[here]], chosen)
            actions[here] = chosen
        return actions


@dataclass(frozen=True)
class Mix:
    """Who sits at the training games.

    Attributes:
        alone: share of the games in which the learner holds every seat.
        plans: in the other games, the chance of a seat to go to one of the plans,
        past: and to a frozen past self. The rest goes to the learner, who holds one seat at least.
        kept: how many past selves are kept. A new one replaces the one that is beaten most.
        focus: opponents of a group are drawn with weight (1 - b) ** focus, where b is the share of games in which the
            learner ends ahead of them. 0 draws them evenly.
    """

    alone: float = 0.5
    plans: float = 0.5
    past: float = 0.2
    kept: int = 6
    focus: float = 1.0

    def check(self) -> None:
        """Raise `ConfigurationError` if a value is invalid."""
        if not (0 <= self.alone <= 1 and self.plans >= 0 and self.past >= 0 and self.plans + self.past <= 1):
            raise ConfigurationError(f"mix: {self}; shares are 0 to 1, those of plans and past selves together too")
        if self.kept < 1:
            raise ConfigurationError(f"mix: {self}; at least one past self is kept")
        if not self.focus >= 0:
            raise ConfigurationError(f"mix: {self}; the focus has to be 0 or more")


class League:
    """The holders of all seats of N games.

    Attributes:
        holder: int64 [N, 4], index into `opponents`, or `LEARNER`.
        beaten: for each of `opponents`, a running share of the games in which the learner ended ahead of it. A tie
            counts as half a game.
    """

    def __init__(self, seats: NDArray[np.int8], plans: Sequence[Opponent], mix: Mix, seed: int) -> None:
        """Draw the holders of N games; `seats` (int8 [N]) says how many each game has."""
        self.mix, self.seats, self.plans = mix, seats, list(plans)
        self.past: list[Opponent] = []
        self.beaten = [0.5] * len(self.plans)
        self.random = np.random.default_rng(seed)
        self.holder = np.full((len(seats), MAX_PLAYERS), LEARNER, np.int64)
        for game in range(len(seats)):
            self._draw(game)

    @property
    def opponents(self) -> list[Opponent]:
        """All who may hold a seat besides the learner: the plans, then the past selves."""
        return self.plans + self.past

    def reseat(self, game: int, points: NDArray[np.int64]) -> None:
        """Note the result of a game that has ended (int64, every seat's points), and draw its seats anew."""
        self._book(self.holder[game, : len(points)], points)
        self._draw(game)

    def _draw(self, game: int) -> None:
        seats = int(self.seats[game])
        self.holder[game] = LEARNER
        if self.random.random() < self.mix.alone or not self.opponents:
            return
        kinds = self.random.random(seats)
        own = self.random.integers(seats)  # whatever is drawn, the learner has this seat
        for seat in range(seats):
            if seat == own:
                continue
            if kinds[seat] < self.mix.plans:
                self.holder[game, seat] = self._one_of(0, len(self.plans))
            elif kinds[seat] < self.mix.plans + self.mix.past:
                self.holder[game, seat] = self._one_of(len(self.plans), len(self.opponents))

    def _one_of(self, first: int, stop: int) -> int:
        """One of the opponents `first` to `stop` - 1; the learner if there is none."""
        if first == stop:
            return LEARNER
        weights = np.maximum(1 - np.array(self.beaten[first:stop]), LEAST_WEIGHT) ** self.mix.focus
        return first + int(np.searchsorted(weights.cumsum(), self.random.random() * weights.sum()))

    def _book(self, holder: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        own = points[holder == LEARNER].mean()
        for seat in np.flatnonzero(holder != LEARNER):
            ahead = 0.5 * (1 + np.sign(own - points[seat]))
            self.beaten[holder[seat]] += MEMORY * (float(ahead) - self.beaten[holder[seat]])

    def add_past(self, opponent: Opponent) -> None:
        """Add a frozen opponent."""
        if len(self.past) == self.mix.kept:
            # Seats of later past selves pass to their successors. That does no harm, as all of them are past selves.
            first = len(self.plans)
            leaving = int(np.argmax(self.beaten[first:]))
            del self.past[leaving], self.beaten[first + leaving]
        self.past.append(opponent)
        self.beaten.append(0.5)

    def state(self) -> dict[str, Any]:
        """Everything but the opponents themselves: arrays, and plain data as JSON has it."""
        return {"holder": self.holder.copy(), "beaten": list(self.beaten), "random": self.random.bit_generator.state}

    def restore(self, state: dict[str, Any], past: Sequence[Opponent]) -> None:
        """Go on from `state` with these past selves.

        Raises:
            ValueError: the state is of other games or other opponents.
        """
        holder = state["holder"]
        if holder.shape != self.holder.shape or len(state["beaten"]) != len(self.plans) + len(past):
            raise ValueError("the league is of other games")
        if holder.min() < LEARNER or holder.max() >= len(state["beaten"]):
            raise ValueError("a seat is held by nobody")
        self.holder[:], self.beaten, self.past = holder, list(state["beaten"]), list(past)
        self.random.bit_generator.state = state["random"]
