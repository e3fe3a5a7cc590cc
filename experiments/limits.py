"""Checks of the numbers in options and settings. Each error names the number and what would be right."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from siberia_env.errors import ConfigurationError


def check_positive(options: object, *names: str) -> None:
    """Raise `ConfigurationError` unless each of these attributes is None or a finite number above 0."""
    for name in names:
        value = getattr(options, name)
        if value is not None and not 0 < value < math.inf:
            raise ConfigurationError(f"{name}: {value}; it has to be more than 0")


def check_not_negative(options: object, *names: str) -> None:
    """Raise `ConfigurationError` unless each of these attributes is a finite number from 0 on."""
    for name in names:
        value = getattr(options, name)
        if not 0 <= value < math.inf:
            raise ConfigurationError(f"{name}: {value}; it has to be 0 or more")


def check_shares(options: object, *names: str) -> None:
    """Raise `ConfigurationError` unless each of these attributes is from 0 to 1."""
    for name in names:
        value = getattr(options, name)
        if not 0 <= value <= 1:
            raise ConfigurationError(f"{name}: {value}; it is between 0 and 1")


def check_at_most(options: object, most: Mapping[str, float]) -> None:
    """Raise `ConfigurationError` if an attribute is larger than `most` says."""
    for name, largest in most.items():
        value = getattr(options, name)
        if value > largest:
            raise ConfigurationError(f"{name}: {value}; at most {largest}")


def check_budget(options: object, job: str, *kinds: str) -> None:
    """Raise `ConfigurationError` unless just one of these attributes is not None, and that one above 0."""
    if sum(getattr(options, kind) is not None for kind in kinds) != 1:
        raise ConfigurationError(f"{job} needs one budget: {' or '.join(kinds)}")
    check_positive(options, *kinds)


def check_player_counts(num_players: Collection[int]) -> None:
    """Raise `ConfigurationError` unless there is a player count, and each of them once."""
    if not num_players or len(set(num_players)) < len(num_players):
        raise ConfigurationError(f"num_players: {num_players}; one player count or more, each once")
