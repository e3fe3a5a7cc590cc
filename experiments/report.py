"""Results for programs: what `--json` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

from siberia_env import __version__
from siberia_env.game import Variant
from siberia_experiments.match import Results
from siberia_experiments.statistics import Interval


def number(value: float) -> float | None:
    """`value`, or None where there is none: JSON has no nan."""
    return float(value) if isfinite(value) else None


def interval(found: Interval) -> dict[str, float | None]:
    """A value with the ends of its 95% interval."""
    return {"value": number(found.value), "low": number(found.low), "high": number(found.high)}


def played(command: str, variant: Variant, seed: int, games: int, deals: int) -> dict[str, Any]:
    """What was played, as every report begins."""
    return {
        "command": command,
        "version": __version__,
        "game": variant.game.name,
        "players": variant.num_players,
        "rules": variant.rules_as_json(),
        "seed": seed,
        "games": games,
        "deals": deals,
    }


def evaluation(variant: Variant, specs: Sequence[str], results: Results, seed: int) -> dict[str, Any]:
    """What `siberia evaluate` has found, with an entry for each agent of `specs`."""
    agents = []
    for place, spec in enumerate(specs):
        found = {
            "agent": spec,
            "against": [other for number, other in enumerate(specs) if number != place],
            "win_rate": interval(results.win_rate(place)),
            "mean_score": interval(results.mean_score(place)),
        }
        if results.luck is not None:
            found["win_rate_less_luck"] = interval(results.win_rate_less_luck(place))
        agents.append(found)
    about = played("evaluate", variant, seed, len(results.entrant), results.deals)
    return {**about, "hit_limit": int(results.hit_limit.sum()), "agents": agents}


def as_text(report: dict[str, Any]) -> str:
    """The JSON of a report."""
    return json.dumps(report, indent=2, allow_nan=False)
