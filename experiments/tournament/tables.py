"""The tables that `siberia tournament` prints when all games are played: summary, pairs, seats and forfeits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from siberia_env.game import Game
from siberia_experiments.console import fitting, new_table, percent
from siberia_experiments.statistics import Interval
from siberia_experiments.tournament.run import Outcome
from siberia_experiments.tournament.summary import Line, first_reasons


def tables(outcome: Outcome, title: str, game: Game, width: int | None = None) -> Iterator[RenderableType]:
    """Yield everything to print, with agents in the order of their ratings, the highest first.

    Names are shortened where a table does not fit into `width` columns, by default those of the screen.
    """
    yield fitting(lambda label: summary_table(outcome.lines, title, game, label), width)
    yield fitting(lambda label: pairs_table(outcome, label), width)
    yield seats_table(outcome)
    forfeits = first_reasons(outcome.results, outcome.played.specs)
    for spec, (count, reason) in forfeits.items():
        games = "1 game" if count == 1 else f"{count} games"
        yield Text(f"{spec} forfeited {games}; first: {reason}")


def summary_table(lines: list[Line], title: str, game: Game, label: Callable[[str], str]) -> Table:
    """The table of the summary, with agents named by `label`."""
    digits = max(game.score_digits, 0)
    table = new_table(title)
    table.add_column("agent")
    for heading in ("win share, 95%", "score", "rating, 95%", "ms a move"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(
            Text(label(line.agent)),
            percent(Interval(line.win_share, line.win_low, line.win_high)),
            "-" if np.isnan(line.mean_score) else game.score_text(f"{line.mean_score:.{digits}f}"),
            points(Interval(line.rating, line.rating_low, line.rating_high)),
            "-" if np.isnan(line.ms_per_move) else f"{line.ms_per_move:.3g}",
        )
    return table


def pairs_table(outcome: Outcome, label: Callable[[str], str]) -> Table:
    """The table of how often each agent, named by `label`, came out ahead of each other; a tie counts as half."""
    specs, share = outcome.played.specs, outcome.played.pairs()
    order = [specs.index(line.agent) for line in outcome.lines]
    table = new_table("Ahead of the other, % of their encounters")
    table.add_column("")
    for number in range(1, len(order) + 1):
        table.add_column(str(number), justify="right")
    for number, row in enumerate(order, 1):
        cells = ["" if np.isnan(share[row, column]) else f"{100 * share[row, column]:.1f}" for column in order]
        table.add_row(Text(f"{number} {label(specs[row])}"), *cells)
    return table


def seats_table(outcome: Outcome) -> Table:
    """The table of what a seat is worth if all agents sit in it equally often."""
    table = new_table("Seats")
    for heading in ("seat", "win share, 95%", "advantage in points, 95%"):
        table.add_column(heading, justify="right", no_wrap=True)
    for seat, advantage in enumerate(outcome.ratings.seats):
        table.add_row(str(seat), percent(outcome.played.seat(seat)), points(advantage, sign="+"))
    return table


def points(interval: Interval, sign: str = "") -> str:
    """Points with their interval, such as `1234 [1200, 1260]`."""
    value, low, high = (f"{number:{sign}.0f}" for number in (interval.value, interval.low, interval.high))
    return f"{value} [{low}, {high}]"
