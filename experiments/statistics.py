"""Estimates and their 95% intervals: shares of games, means, and what resampling gives.

These are all the intervals that the experiments show: of `siberia evaluate`, of tournaments and ratings, and of a
training run's win rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

NORMAL_95 = 1.959964  #: two-sided 95% quantile of the normal distribution
TAILS_95 = (0.025, 0.975)  #: the quantiles between which 95% lie
INDEPENDENT = 2.0  #: degrees of freedom for which independent games count in the variance between deals


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95% interval."""

    value: float
    low: float
    high: float


def wilson(wins: float, games: float) -> Interval:
    """A share of games with Wilson's 95% score interval (1927)."""
    share, z2 = wins / games, NORMAL_95**2
    middle = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = NORMAL_95 * sqrt(share * (1 - share) / games + z2 / (4 * games**2)) / (1 + z2 / games)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def wilson_of_deals(wins: NDArray[Any], games: NDArray[Any], line_up: NDArray[np.int64]) -> Interval:
    """Return a share of wins with Wilson's interval, for games that depend on each other within a deal.

    The variance is taken between deals of one line-up, about the mean of that line-up. A few deals can agree by
    chance, so independent games count as `INDEPENDENT` further degrees of freedom. If there is no variance at all
    (nothing but wins, or none), the interval is that of independent games.

    Args:
        wins: float64 [D], wins in each deal.
        games: [D], games in each deal.
        line_up: int64 [D], which agents played the deal.
    """
    total = float(games.sum())
    share = float(wins.sum()) / total
    rest, deals, freedom = np.zeros(len(wins)), 0, 0
    for which in np.unique(line_up):
        own = line_up == which
        if games[own].sum() > 0:
            rest[own] = wins[own] - games[own] * (wins[own].sum() / games[own].sum())
            deals += int(own.sum())
            freedom += int(own.sum()) - 1
    alone = share * (1 - share) / total
    if alone == 0:
        return wilson(share * total, total)
    between = float((rest**2).sum()) / total**2 * deals / freedom if freedom else 0.0
    variance = (freedom * between + INDEPENDENT * alone) / (freedom + INDEPENDENT)
    effective = share * (1 - share) / variance
    interval = wilson(share * effective, effective)
    return Interval(share, interval.low, interval.high)


def mean_interval(values: NDArray[Any]) -> Interval:
    """The mean of `values` (numbers [N], N > 0) with a normal interval; of a single value the interval has no width."""
    mean = float(values.mean())
    spread = NORMAL_95 * float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else 0.0
    return Interval(mean, mean - spread, mean + spread)


def less_luck(results: NDArray[np.float64], luck: NDArray[np.float64]) -> Interval:
    """The mean result of independent deals, corrected for luck, with a normal interval.

    A multiple of the luck is taken off each result: the multiple that leaves the least variance. For the deals of even
    number it is estimated from those of odd number, and the other way round. So it does not depend on the results that
    it corrects, and the corrected mean has no bias if the mean of the luck is zero.

    Args:
        results: float64 [D].
        luck: float64 [D], of mean zero.
    """
    corrected = results.copy()
    even = np.arange(len(results)) % 2 == 0
    for own, others in ((even, ~even), (~even, even)):
        spread = luck[others] - luck[others].mean() if others.any() else np.zeros(0)
        variance = float((spread**2).sum())
        if variance > 0:
            corrected[own] -= float((spread * results[others]).sum()) / variance * luck[own]
    return mean_interval(corrected)


def resampled_intervals(best: NDArray[np.float64], resampled: Sequence[NDArray[np.float64]]) -> list[Interval]:
    """Intervals around the estimates `best` (float64 [K]), each from the middle 95% of its resampled estimates."""
    low, high = np.quantile(resampled, TAILS_95, axis=0)
    return [Interval(*map(float, numbers)) for numbers in zip(best, low, high, strict=True)]
