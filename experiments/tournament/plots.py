"""Draws pictures of a tournament: ratings with intervals, score distributions, seat advantage (needs matplotlib)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from siberia_env.errors import missing_extra
from siberia_experiments.console import short_label
from siberia_experiments.statistics import Interval
from siberia_experiments.tournament.run import Outcome

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter
except ImportError as error:
    raise missing_extra("train", "drawing pictures", error.name) from error

DOTS_PER_INCH = 120
COLOUR, LIGHT = "#1f5a8a", "#9dc3e0"
BARS = 60  #: a histogram has about this many bars at most


def draw(outcome: Outcome, folder: Path, title: str) -> list[Path]:
    """Write `ratings.png`, `scores.png` and `seats.png` into `folder`."""
    paths = []
    for name, figure in (
        ("ratings.png", ratings(outcome, title)),
        ("scores.png", scores(outcome, title)),
        ("seats.png", seats(outcome, title)),
    ):
        figure.savefig(folder / name, dpi=DOTS_PER_INCH)
        paths.append(folder / name)
    return paths


def ratings(outcome: Outcome, title: str) -> Any:
    """Draw each agent's rating and its interval, with the best agent at the top."""
    figure = Figure(figsize=(7, 1.6 + 0.4 * len(outcome.lines)), layout="constrained")
    axes = figure.subplots()
    intervals = [Interval(line.rating, line.rating_low, line.rating_high) for line in outcome.lines]
    _intervals(axes, intervals, [short_label(line.agent) for line in outcome.lines])
    axes.set_xlabel("rating in points, 95% interval (400 points: odds of 10 to 1)")
    axes.set_title(title, fontsize="medium")
    return figure


def scores(outcome: Outcome, title: str) -> Any:
    """Draw how each agent's scores are distributed, one histogram below the other, with the mean."""
    lines, played = outcome.lines, outcome.played
    figure = Figure(figsize=(7, 1.4 + 0.7 * len(lines)), layout="constrained")
    rows = figure.subplots(len(lines), sharex=True, squeeze=False)[:, 0]
    thousands = [played.scores_of(played.specs.index(line.agent)) / 1000 for line in lines]
    everything = np.concatenate(thousands)
    low, high = (float(everything.min()), float(everything.max())) if len(everything) else (0.0, 1.0)
    width = max(1, int(np.ceil((high - low + 1) / BARS)))  # scores are whole thousands
    edges = np.arange(low - 0.5, high + width + 0.5, width)
    for axes, line, values in zip(rows, lines, thousands, strict=True):
        axes.hist(values, edges, color=LIGHT)
        if len(values):
            axes.axvline(values.mean(), color=COLOUR, linewidth=1.5)
        axes.set_yticks([])
        axes.set_ylabel(
            short_label(line.agent),
            rotation=0,
            horizontalalignment="right",
            verticalalignment="center",
            parse_math=False,
        )
        axes.spines[["left", "top", "right"]].set_visible(False)
    rows[-1].set_xlabel("final score; the line is the mean")
    rows[-1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"${1000 * value:.0f}"))
    rows[0].set_title(title, fontsize="medium")
    return figure


def seats(outcome: Outcome, title: str) -> Any:
    """Draw what each seat is worth: its share of wins and its advantage in points."""
    players = len(outcome.ratings.seats)
    figure = Figure(figsize=(7, 1.6 + 0.35 * players), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    shares = [outcome.played.seat(seat) for seat in range(players)]
    percents = [Interval(100 * share.value, 100 * share.low, 100 * share.high) for share in shares]
    _intervals(left, percents, [f"seat {seat}" for seat in range(players)])
    _intervals(right, outcome.ratings.seats, [f"seat {seat}" for seat in range(players)])
    left.axvline(100 / players, color="0.6", linewidth=1, zorder=0)
    right.axvline(0, color="0.6", linewidth=1, zorder=0)
    left.set_xlabel("share of wins in %, 95% interval")
    right.set_xlabel("advantage in points, 95% interval")
    figure.suptitle(title, fontsize="medium")
    return figure


def _intervals(axes: Any, intervals: Sequence[Interval], labels: Sequence[str]) -> None:
    """Draw dots with error bars, one below the other."""
    rows = np.arange(len(intervals))
    values = np.array([interval.value for interval in intervals])
    spread = [[value.value - value.low for value in intervals], [value.high - value.value for value in intervals]]
    axes.errorbar(values, rows, xerr=np.abs(spread), fmt="o", color=COLOUR, ecolor=LIGHT, elinewidth=3, capsize=0)
    axes.set_yticks(rows, labels, parse_math=False)  # a path may hold $
    axes.set_ylim(len(intervals) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
