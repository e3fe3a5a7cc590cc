"""What the command line shows: progress bars and result tables."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleDimensions
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from siberia_env.game import Game
from siberia_experiments.faults import printable
from siberia_experiments.match import Results
from siberia_experiments.statistics import Interval

WITHOUT_END = 100_000  #: columns where no terminal sets an end to a line
LONGEST_LABELS = (60, 45, 30, 20)  #: characters; with the last, a row of results fits into 80 columns


class Screen(Console):
    """A terminal of the width that it has, or a file or pipe, where no line is broken."""

    @property
    def size(self) -> ConsoleDimensions:
        """Columns and lines. The variable COLUMNS sets the columns wherever the output goes."""
        if self.is_terminal or os.environ.get("COLUMNS", "").isdigit():
            return super().size
        return ConsoleDimensions(WITHOUT_END, 25)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


console = Screen()


@contextmanager
def stdout_kept(asked: bool = True) -> Iterator[None]:
    """Send to stderr what is printed meanwhile, if `asked`: what stdout gets is for a program."""
    if not asked or sys.stderr is None:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def percent(rate: Interval) -> str:
    """`97.5% [95.1, 98.8]`."""
    return f"{100 * rate.value:.1f}%{_bounds(rate)}"


def points(gain: Interval) -> str:
    """A difference of win rates in percentage points: `+4.0 [1.5, 6.5]`."""
    return f"{100 * gain.value:+.1f}{_bounds(gain)}"


def _bounds(interval: Interval) -> str:
    """In per cent; nothing where a single value says nothing about its spread."""
    return "" if math.isinf(interval.low) else f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def mean_score(score: Interval, game: Game) -> str:
    """`$91200 ± 700`."""
    digits = max(game.score_digits, 0)
    return game.score_text(f"{score.value:.{digits}f} ± {(score.high - score.low) / 2:.{digits}f}")


def short_label(spec: str, longest: int = LONGEST_LABELS[-1]) -> str:
    """An agent's name for a table: of `learned:runs/mine/model.npz` the run, of a long path the end."""
    name, colon, path = spec.partition(":")
    path = path.removesuffix("/model.npz")
    room = longest - len(name + colon)
    return f"{name}{colon}{path}" if len(path) <= room else f"{name}{colon}...{path[3 - room :]}"


def fitting(make: Callable[[Callable[[str], str]], Table], width: int | None = None) -> Table:
    """The table that `make` makes with a function that labels agents: with whole names if they fit, else shortened.

    Args:
        make: makes the table.
        width: columns; by default those of `console`.
    """
    room = console.width if width is None else width

    def shortening(longest: int) -> Callable[[str], str]:
        return lambda spec: short_label(spec, longest)

    table = make(str)
    for longest in LONGEST_LABELS:
        if Measurement.get(console, console.options.update_width(WITHOUT_END), table).maximum <= room:
            break
        table = make(shortening(longest))
    return table


def counted_names(names: Iterable[str]) -> str:
    """`greedy, 2 random`."""
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in Counter(names).items())


def counted_deals(results: Results) -> str:
    """`500 games: 250 deals, each in every seat order`."""
    games, deals = len(results.entrant), results.deals
    count = "1 game" if games == 1 else f"{games} games"
    return f"{count}: {'1 deal' if deals == 1 else f'{deals} deals'}, each in every seat order"


def new_table(title: str) -> Table:
    """A table without a frame: what would go into the frame is needed for the numbers."""
    return Table(title=title, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)


def results_table(title: str, series: Iterable[tuple[str, Results, int]], width: int | None = None) -> Table:
    """A row for each entrant of each series of games: (label of the entrant, results, its place).

    If luck was measured, a further column has the win rates that are corrected for it. Labels are shortened if the
    table does not fit into `width` columns, by default those of `console`.
    """
    rows = list(series)
    return fitting(lambda label: _results_table(title, rows, label), width)


def _results_table(title: str, series: Sequence[tuple[str, Results, int]], label: Callable[[str], str]) -> Table:
    table = new_table(title)
    table.add_column("agent")
    table.add_column("against")
    table.add_column("win rate, 95%", justify="right", no_wrap=True)
    table.add_column("mean score, 95%", justify="right", no_wrap=True)
    has_luck = any(results.luck is not None for _, results, _ in series)
    if has_luck:
        table.add_column("less luck, 95%", justify="right", no_wrap=True)
    for name, results, place in series:
        others = [other for number, other in enumerate(results.entrants) if number != place]
        table.add_row(
            Text(printable(label(name))),
            Text(printable(counted_names(others))),
            percent(results.win_rate(place)),
            mean_score(results.mean_score(place), results.game),
            *([percent(results.win_rate_less_luck(place))] if has_luck else []),
        )
    return table


@contextmanager
def counting(what: str, total: int) -> Iterator[Progress]:
    """A progress bar over `total` things; `bar.advance(bar.task_ids[0], n)` counts n of them."""
    with Progress(
        TextColumn(printable(what), markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        bar.add_task(what, total=total)
        yield bar
