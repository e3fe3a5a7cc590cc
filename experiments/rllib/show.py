"""What a run on a cluster prints. Needs no Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from siberia_agents.registry import spec_with_file
from siberia_experiments.commands import command_line, rules_text
from siberia_experiments.rllib.options import MODEL, Options


def told(progress: Any) -> str:
    """One line about an update (`rllib.run.Progress`)."""
    return (
        f"{100 * progress.part:3.0f}%  {progress.seconds:.0f} s, {progress.decisions:,} decisions, "
        f"{progress.per_second:,.0f} a second; "
        f"{progress.workers} workers, mean score {progress.mean_score:.1f}, entropy {progress.entropy:.2f}"
    )


def next_lines(options: Options, folder: Path) -> list[str]:
    """Say what to do with the model of a finished run."""
    model = folder / MODEL
    spec = spec_with_file("learned", model)
    if spec is None:
        return [f"{model} is the trained policy. No agent can be named by this path: copy the file to another name."]
    words = [options.game, "--players", str(options.num_players[0])]
    if options.rules:
        words += ["--rules", rules_text(options.rules)]
    return [
        f"{model} is the trained policy. To measure it, and to play against it:",
        command_line("evaluate", *words, "--agents", f"{spec},random"),
        command_line("play", *words, "--against", spec),
    ]
