"""What the command line shows while a training run goes on."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from siberia_experiments.console import console, new_table, percent
from siberia_experiments.training.run import Progress as RunProgress


class TrainingDisplay:
    """A progress bar and a table that lives while a run goes on; plain lines where there is no terminal."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar = Progress(
            TextColumn("training"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn()
        )
        self.task = self.bar.add_task("training", total=1.0)
        self.points: list[tuple[str, ...]] = []
        self.speed = ""

    def show(self, progress: Iterable[RunProgress]) -> None:
        """Follow a run (`Training.run`) to its end."""
        with Live(self._picture(), console=console, refresh_per_second=2, transient=False) as live:
            for state in progress:
                self.bar.update(self.task, completed=state.part)
                self.speed = (
                    f"{state.decisions:,} decisions, {state.speed:,.0f} a second, "
                    f"{100 * state.env_part:.1f}% of the time in the games"
                )
                if state.point is not None:
                    rates = [percent(rate) for rate in state.point.win_rates.values()]
                    self.points.append(
                        (f"{state.seconds:.0f} s", f"{state.decisions:,}", f"{state.speed:,.0f}", *rates)
                    )
                    if not console.is_terminal:
                        names = ", ".join(f"{name} {percent(rate)}" for name, rate in state.point.win_rates.items())
                        console.print(f"{state.seconds:.0f} s  {self.speed}; wins against {names}")
                live.update(self._picture())
        if not console.is_terminal:
            console.print()  # Live leaves the last line open there

    def _picture(self) -> Group:
        table = new_table(self.title)
        for column in ("time", "decisions", "a second", "against random", "against greedy"):
            table.add_column(column, justify="right")
        for point in self.points[-12:]:
            table.add_row(*point)
        return Group(table, self.bar, self.speed)
