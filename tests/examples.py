"""Trains with each script of docs/examples and shows that its model beats an agent: `python -m tests.examples [NAME]`.

A script is given a number of decisions and the file of the model. What it has saved plays 1000 games, each deal from
both seats. The 95% interval of its win rate must lie above 50%. `make examples` runs all of them, TorchRL in an
environment of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from siberia_agents.registry import make_agent
from siberia_env.errors import missing_extra
from siberia_env.game import find_game
from siberia_experiments.match import play_deals
from siberia_experiments.statistics import Interval

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "examples"
GAMES = 1000


@dataclass(frozen=True)
class Example:
    """A script that trains a policy of the card game for two players.

    Attributes:
        name: of the file, without `.py`.
        what: it shows, for the table in docs/train.md.
        decisions: how many it takes to beat the opponent clearly.
        opponent: the agent that its model has to beat.
        suffix: of the model file.
        package: that it needs and the extra brings.
        extra: the optional extra.
    """

    name: str
    what: str
    decisions: int
    opponent: str
    suffix: str
    package: str
    extra: str = "train"

    @property
    def script(self) -> Path:
        """The file."""
        return FOLDER / f"{self.name}.py"


EXAMPLES = (
    Example(
        "sb3_opponents",
        "MaskablePPO of sb3-contrib against an agent by name",
        1_000_000,
        "greedy",
        ".zip",
        "sb3_contrib",
    ),
    Example(
        "sb3_self_play",
        "MaskablePPO of sb3-contrib in self-play, booked by seat",
        1_500_000,
        "greedy",
        ".zip",
        "sb3_contrib",
    ),
    Example("plain_torch", "an actor and a critic in a plain loop of PyTorch", 400_000, "random", ".npz", "torch"),
    Example("torchrl_ppo", "PPO of TorchRL", 102_400, "random", ".npz", "torchrl", "trainers"),
)


def train(example: Example, decisions: int, model: Path) -> None:
    """Run the script, which leaves a model in the file `model`.

    Raises:
        MissingExtraError: what it needs is not installed.
        subprocess.CalledProcessError: it failed.
    """
    if find_spec(example.package) is None:
        raise missing_extra(example.extra, f"docs/examples/{example.name}.py", example.package)
    command = [sys.executable, str(example.script), str(decisions), str(model)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def win_rate(model: Path, opponent: str, games: int = GAMES) -> Interval:
    """The share of games that the model wins against `opponent`."""
    agents = [make_agent(f"learned:{model}"), make_agent(opponent)]
    return play_deals(find_game("card").variant(2), agents, games, seed=1).win_rate(0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit code."""
    names = list(sys.argv[1:] if arguments is None else arguments)
    known = {example.name: example for example in EXAMPLES}
    if unknown := [name for name in names if name not in known]:
        print(f"no example {unknown[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    lines, failed = [], False
    for example in [known[name] for name in names] or EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            model, start = Path(folder) / f"model{example.suffix}", time.monotonic()
            try:
                train(example, example.decisions, model)
            except ImportError as error:
                print(error, file=sys.stderr)
                return 2
            except subprocess.CalledProcessError as error:
                print(f"{example.name} failed with exit code {error.returncode}", file=sys.stderr)
                return 1
            seconds = time.monotonic() - start
            rate = win_rate(model, example.opponent)
        beats = rate.low > 0.5
        failed |= not beats
        lines.append(
            f"{example.name}: {example.decisions:,} decisions in {seconds:.0f} s; wins {rate.value:.1%} "
            f"({rate.low:.1%} to {rate.high:.1%}) against {example.opponent}{'' if beats else ': too few'}"
        )
    print("\n".join(lines))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
