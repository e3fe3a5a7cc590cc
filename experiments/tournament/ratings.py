"""Rates agents from games of any number of players: a Plackett-Luce fit with seat terms, shared places and intervals.

A ranking is read from the top. Each place is a choice among the players that are not placed yet (Luce 1959, Plackett
1975). Shared places follow Davidson and Luce (Firth, Kosmidis and Turner 2019, "Davidson-Luce model for multi-item
choice with ties"): the set T of t players is chosen with weight d_t * (product of their strengths)^(1/t), with d_1 = 1.
So equal players share places most often, and the ties don't affect which player wins more often than which. A player's
log-strength is its agent's plus its seat's. Everything is linear in the logarithms, so the likelihood is concave and
Newton's method finds its maximum.

Perfect records would have infinite ratings. So half a win each way is added for every pair of agents, every pair of
seats and every kind of tie (as good as Jeffreys' prior, which removes the first-order bias: Firth 1993). Against
hundreds of games that is little. The rating of a perfect record only says "at least this much".

Intervals are Bayesian bootstraps (Rubin 1981) over deals, because games of one deal are alike. Each deal gets a weight
drawn from Exp(1), each added half win gets one from Gamma(1/2), and the fit is repeated. With two agents and
independent games, this is Jeffreys' interval of a proportion, which works for perfect records too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_experiments.statistics import Interval, resampled_intervals

POINTS = 400 / log(10)  #: points for each unit of log-strength; 400 points are odds of 10 to 1 between two players
LEVEL = 1000.0  #: the anchor's rating, or the mean rating without an anchor
ADDED = 0.5  #: wins added each way for every pair
RESAMPLES = 1000
STEPS = 100  #: most steps of Newton's method
HALVINGS = 30  #: most halvings of one step
CLOSE = 1e-5  #: a step in log-strength that ends the search, two thousandths of a point
SHRINKING = 0.5  #: a step longer than this share of the last one needs a new curvature
ROUNDING = 1e-12  #: share of a log-likelihood that is lost in summing it


@dataclass(frozen=True)
class Ratings:
    """The result of a fit, in points. 400 points more are odds of 10 to 1 against one other player, without ties.

    Attributes:
        agents: each agent's rating.
        seats: each seat's advantage; their sum is 0.
    """

    agents: list[Interval]
    seats: list[Interval]


@dataclass(frozen=True)
class _Choices:
    """The choices that make up rankings, each different one once. R alternatives, F parameters, C choice sets.

    Attributes:
        features: float64 [R, F]; its product with the parameters is the logarithm of each alternative's weight.
        starts: int64 [C], the first alternative of each choice set.
        owner: int64 [R], the choice set of each alternative.
        level: float64 [F, F], 1 if both parameters are agents or both are seats. A constant added to all agents or all
            seats changes nothing, and this curvature keeps Newton's method from drifting in that direction.
        added: how many alternatives belong to the added half wins; they come last.
        taken: int64 [N], the alternative that each place of each game took.
        deal: int64 [N], the number of its deal, from 0 up.
        deals: number of deals.
    """

    features: NDArray[np.float64]
    starts: NDArray[np.int64]
    owner: NDArray[np.int64]
    level: NDArray[np.float64]
    added: int
    taken: NDArray[np.int64]
    deal: NDArray[np.int64]
    deals: int

    def counts(self, deal_weights: NDArray[np.float64], added: NDArray[np.float64]) -> NDArray[np.float64]:
        """How often each alternative was taken, weighted by deals and by the added half wins: float64 [R]."""
        played = np.bincount(self.taken, deal_weights[self.deal], len(self.features) - self.added)
        return np.concatenate([played, added])


def places(scores: NDArray[np.int64], forfeit: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Find each seat's place, 0 for the best; equal scores share a place: int64 [G, P].

    Args:
        scores: int64 [G, P].
        forfeit: bool [G, P]; a seat that forfeits comes last, and the other seats of its game share the first place.
    """
    standing = np.where(forfeit.any(axis=1, keepdims=True), np.where(forfeit, -1, 0), scores)
    return (standing[:, None, :] > standing[:, :, None]).sum(axis=2)


def rate(
    entrant: NDArray[np.int64],
    place: NDArray[np.int64],
    deal: NDArray[np.int64],
    agents: int,
    anchor: int | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Ratings:
    """Rate agents by the places they reached.

    Args:
        entrant: int64 [G, P], which agent sat in each seat.
        place: int64 [G, P], see `places`.
        deal: int64 [G], the deal of each game; games of one deal are resampled together.
        agents: number of agents.
        anchor: the agent whose rating is 1000. None: the mean rating is 1000.
        resamples: number of bootstrap resamples.
        seed: seed of the resampling.
        progress: called with 1 after each fit, `resamples` + 1 times in all.
    """
    choices = _choices(entrant, place, deal, agents)
    players, features = entrant.shape[1], choices.features.shape[1]

    def in_points(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        strength, seat = parameters[:agents], parameters[agents : agents + players]
        level = strength.mean() if anchor is None else strength[anchor]
        return np.concatenate([LEVEL + POINTS * (strength - level), POINTS * (seat - seat.mean())])

    best, curvature = _maximum(
        choices, choices.counts(np.ones(choices.deals), np.full(choices.added, ADDED)), np.zeros(features)
    )
    random = np.random.default_rng(seed)
    resampled = []
    for number in range(resamples + 1):
        if number:
            weights = random.exponential(size=choices.deals)
            counts = choices.counts(weights, random.gamma(ADDED, size=choices.added))
            counts *= choices.deals / weights.sum()  # changes no fit, and keeps the size of the curvature
            resampled.append(in_points(_maximum(choices, counts, best, curvature)[0]))
        if progress is not None:
            progress(1)
    intervals = resampled_intervals(in_points(best), resampled)
    return Ratings(intervals[:agents], intervals[agents:])


def _choices(entrant: NDArray[np.int64], place: NDArray[np.int64], deal: NDArray[np.int64], agents: int) -> _Choices:
    """Split rankings into choices. Sets of seats are bit masks."""
    players = entrant.shape[1]
    bits = 1 << np.arange(players)
    subsets = [[seat for seat in range(players) if mask >> seat & 1] for mask in range(1 << players)]
    size = np.array([len(subset) for subset in subsets])
    orders, order = np.unique(entrant, axis=0, return_inverse=True)
    deals, deal_number = np.unique(deal, return_inverse=True)

    places_taken = []
    for level in range(players):
        left, chosen = (place >= level) @ bits, (place == level) @ bits
        games = np.flatnonzero((chosen > 0) & (size[left] > 1))
        places_taken.append(np.column_stack([(order.ravel()[games] << players) + left[games], chosen[games], games]))
    key, chosen, game = np.concatenate(places_taken).T
    keys, choice_set = np.unique(key, return_inverse=True)
    tie_sizes = [int(tied) for tied in np.unique(size[chosen]) if tied > 1]

    rows: list[NDArray[np.float64]] = []
    owner: list[int] = []
    row_of = np.full((len(keys), 1 << players), -1)

    def add(number: int, *parts: tuple[int, float]) -> None:
        row = np.zeros(agents + players + len(tie_sizes))
        for feature, value in parts:
            row[feature] += value
        rows.append(row)
        owner.append(number)

    for number, (which, left) in enumerate(zip(keys >> players, keys & ((1 << players) - 1), strict=True)):
        for mask in range(1, 1 << players):
            tied = int(size[mask])
            if mask & ~left or (tied > 1 and tied not in tie_sizes):
                continue
            row_of[number, mask] = len(rows)
            seated = [(int(orders[which, seat]), 1 / tied) for seat in subsets[mask]]
            seats = [(agents + seat, 1 / tied) for seat in subsets[mask]]
            ties = [(agents + players + tie_sizes.index(tied), 1.0)] if tied > 1 else []
            add(number, *seated, *seats, *ties)

    played, number = len(rows), len(keys)
    constant = np.zeros((len(rows[0]), len(rows[0])))
    for first, last in ((0, agents), (agents, agents + players)):
        constant[first:last, first:last] = 1
        for one, other in combinations(range(first, last), 2):
            add(number, (one, 1.0))
            add(number, (other, 1.0))
            number += 1
    for feature in range(agents + players, agents + players + len(tie_sizes)):
        add(number, (feature, 1.0))
        add(number)
        number += 1

    return _Choices(
        features=np.array(rows),
        starts=np.searchsorted(owner, np.arange(number)),
        owner=np.array(owner),
        level=constant,
        added=len(rows) - played,
        taken=row_of[choice_set.ravel(), chosen],
        deal=deal_number.ravel()[game],
        deals=len(deals),
    )


def _maximum(
    choices: _Choices,
    counts: NDArray[np.float64],
    parameters: NDArray[np.float64],
    curvature: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the parameters of the highest likelihood, float64 [F], and the curvature there, float64 [F, F].

    Newton's method starts from `parameters`. A `curvature` from nearby may be given. Finding the curvature takes most
    of the time, so the same one serves for several steps as long as they shrink fast.
    """
    features, starts, owner = choices.features, choices.starts, choices.owner
    together = np.add.reduceat(counts, starts)

    def likelihood(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weight = features @ parameters
        highest = np.maximum.reduceat(weight, starts)
        chance = np.exp(weight - highest[owner])
        total = np.add.reduceat(chance, starts)
        return float(counts @ weight - together @ (highest + np.log(total))), chance / total[owner]

    value, chance = likelihood(parameters)
    size = last = np.inf
    for _ in range(STEPS):
        expected = together[owner] * chance
        if curvature is None or size > SHRINKING * last:
            mean = np.add.reduceat(features * chance[:, None], starts, axis=0)
            curvature = features.T @ (features * expected[:, None]) - mean.T @ (mean * together[:, None])
            curvature += choices.level
        last = size
        step = _step(curvature, features.T @ (counts - expected))
        for _ in range(HALVINGS):
            new_value, new_chance = likelihood(parameters + step)
            if new_value >= value - ROUNDING * abs(value):
                break
            step /= 2
        parameters, value, chance = parameters + step, new_value, new_chance
        size = float(np.abs(step).max())
        if size < CLOSE:
            break
    assert curvature is not None
    return parameters, curvature


def _step(curvature: NDArray[np.float64], slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's step; where the curvature says nothing of a direction, no step is taken that way.

    That happens if all of the few games were ties, and a resample gives the added half wins hardly any weight.
    """
    step: Any
    try:
        step = np.linalg.solve(curvature, slope)
    except np.linalg.LinAlgError:
        step = np.linalg.lstsq(curvature, slope, rcond=None)[0]
    return np.asarray(step, np.float64)
