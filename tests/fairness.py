"""Tests whether chance outcomes come up as often as brute force says they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any


def assert_fair(counts: Counter[Any], weights: Mapping[Any, Any]) -> None:
    """Check counts against weights by a chi-square test, which fails five standard deviations above its mean.

    Outcomes that should come up fewer than ten times are counted together.
    """
    assert set(counts) <= {outcome for outcome, weight in weights.items() if weight}, "what is not possible came up"
    share = counts.total() / float(sum(weights.values()))
    expected: dict[Any, float] = {}
    found: Counter[Any] = Counter()
    for outcome, weight in weights.items():
        often = outcome if float(weight) * share > 10 else "rare"
        expected[often] = expected.get(often, 0.0) + float(weight) * share
        found[often] += counts[outcome]
    assert len(expected) > 2, "too few draws to say anything"
    square = sum((found[outcome] - amount) ** 2 / amount for outcome, amount in expected.items())
    freedom = len(expected) - 1
    assert square < freedom + 5 * sqrt(2 * freedom)
