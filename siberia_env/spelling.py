"""Guesses which name somebody meant who has mistyped it, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LEAST_LIKENESS = 0.6  #: as `difflib` measures it; `heursitic` and `heuristic` have 0.89, `chess` and `card` 0.22


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Words for an error message: ` (did you mean 'greedy'?)` for `gready`, or nothing if no known name is near."""
    by_lower = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=LEAST_LIKENESS)
    return f" (did you mean {by_lower[near[0]]!r}?)" if near else ""
