"""A tournament for programs: what `siberia tournament --json` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_experiments.report import interval, number, played
from siberia_experiments.statistics import Interval
from siberia_experiments.tournament.run import Outcome, Tournament
from siberia_experiments.tournament.summary import Line, first_reasons


def report(tournament: Tournament, outcome: Outcome) -> dict[str, Any]:
    """Everything that the tables of a tournament show. Agents come with the highest rating first."""
    setting, schedule, specs = tournament.setting, tournament.schedule, outcome.played.specs
    ahead = outcome.played.pairs()
    order = [specs.index(line.agent) for line in outcome.lines]
    forfeits = first_reasons(outcome.results, specs)
    return {
        **played("tournament", setting.variant, setting.seed, schedule.games, schedule.blocks),
        "folder": str(tournament.folder),
        "agents": [_line(line) for line in outcome.lines],
        "pairs": [
            {"agent": specs[one], "other": specs[other], "ahead": number(ahead[one, other])}
            for one in order
            for other in order
            if not np.isnan(ahead[one, other])
        ],
        "seats": [
            {"seat": seat, "win_share": interval(outcome.played.seat(seat)), "advantage": interval(advantage)}
            for seat, advantage in enumerate(outcome.ratings.seats)
        ],
        "forfeits": [
            {"agent": spec, "games": count, "first_reason": reason} for spec, (count, reason) in forfeits.items()
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "agent": line.agent,
        "games": line.games,
        "win_share": interval(Interval(line.win_share, line.win_low, line.win_high)),
        "mean_score": number(line.mean_score),
        "rating": interval(Interval(line.rating, line.rating_low, line.rating_high)),
        "ms_per_move": number(line.ms_per_move),
    }
