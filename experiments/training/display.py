"""What the command line shows during a training run and at its end."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from siberia_agents.registry import spec_with_file
from siberia_experiments.commands import command_line, path_word, rules_text
from siberia_experiments.console import console, new_table, percent, points
from siberia_experiments.training.run import CurvePoint, Training
from siberia_experiments.training.run import Progress as RunProgress
from siberia_experiments.training.trial import Verdict


class TrainingDisplay:
    """Shows a progress bar and a live table during a run, or plain lines if there is no terminal."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar = Progress(
            TextColumn("training"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn()
        )
        self.task = self.bar.add_task("training", total=1.0)
        self.points: list[tuple[CurvePoint, float]] = []
        self.speed = ""

    def show(self, progress: Iterable[RunProgress]) -> None:
        """Follow a run (`Training.run`) to its end."""
        with Live(self._picture(), console=console, refresh_per_second=2, transient=False) as live:
            for state in progress:
                self.bar.update(self.task, completed=state.part)
                self.speed = (
                    f"{state.decisions:,} decisions, {state.speed:,.0f} a second, "
                    f"learnt from {100 * state.learnt_part:.0f}% of them"
                )
                if state.point is not None:
                    self.points.append((state.point, state.speed))
                    if not console.is_terminal:
                        rates = state.point.win_rates.items()
                        told = ", ".join(f"{column(*key)} {percent(rate)}" for key, rate in rates)
                        console.print(f"{state.seconds:.0f} s  {self.speed}; wins {told}")
                live.update(self._picture())
        if not console.is_terminal:
            console.print()  # Live leaves the last line open there

    def _picture(self) -> Group:
        table = new_table(self.title)
        keys = list(dict.fromkeys(key for point, _ in self.points for key in point.win_rates))
        for name in ("time", "decisions", "a second", *(column(*key) for key in keys)):
            table.add_column(name, justify="right")
        for point, speed in self.points[-12:]:
            rates = [percent(point.win_rates[key]) if key in point.win_rates else "" for key in keys]
            table.add_row(f"{point.seconds:.0f} s", f"{point.decisions:,}", f"{speed:,.0f}", *rates)
        return Group(table, self.bar, self.speed)


def column(players: int, opponent: str) -> str:
    """The words for games against `opponent` in all other seats."""
    return f"against {opponent}" if players == 2 else f"against {players - 1} {opponent}"


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """What each arm of a trial wins, and how much more than the first."""
    table = new_table("mean over the seeds, with Student's 95% intervals")
    for name in ("arm", "games", "wins", "more than the first", "decisions", "minutes"):
        table.add_column(name, justify="left" if name in ("arm", "games") else "right")
    for one in verdicts:
        gain = "" if one.gain is None else points(one.gain)
        table.add_row(
            one.arm,
            f"{one.players} players, {column(one.players, one.opponent)}",
            percent(one.rate),
            gain,
            f"{one.decisions:,.0f}",
            f"{one.seconds / 60:.1f}",
        )
    return table


def next_lines(training: Training) -> list[str]:
    """Say what to do with the model of a finished run: commands for the games that it was trained for."""
    options, model = training.options, training.model_path
    spec = spec_with_file("learned", model)
    if spec is None:
        return [f"{model} is the trained policy. No agent can be named by this path: copy the file to another name."]
    words = [options.game, "--players", str(options.num_players[0])]
    if options.rules:
        words += ["--rules", rules_text(options.rules)]
    if options.components is not None:
        words += ["--components", path_word(training.components_path)]
    return [
        f"{model} is the trained policy. To measure it, and to play against it:",
        command_line("evaluate", *words, "--agents", f"{spec},greedy"),
        command_line("play", *words, "--against", spec),
    ]
