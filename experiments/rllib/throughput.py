"""Measures how throughput grows with the workers: `python -m siberia_experiments.rllib.throughput card --workers 1,2`.

For each number of workers, three speeds in decisions a second, of all seats, forced ones included:

- playing: workers play with the policy in training, and nothing leaves them;
- delivering: what they play reaches the process that learns;
- training: whole updates of PPO, in which the learner waits for the workers and the workers for the learner.

Each is the median of some rounds. Speeds grow with the workers only as far as there are processors for them: the table
names how many this process may use and the whole cluster has.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from statistics import median

from siberia_env.errors import MissingExtraError, SiberiaError
from siberia_env.game import GAMES
from siberia_experiments.console import console, new_table
from siberia_experiments.rllib.options import Options, game_settings

ROUNDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m siberia_experiments.rllib.throughput", description=__doc__)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("--workers", default="1,2", help="numbers of workers, such as 1,2,4")
    parser.add_argument("--games", type=int, default=256, help="games in the batch of each worker")
    parser.add_argument("--per-worker", type=int, default=8192, help="free decisions of each worker in an update")
    parser.add_argument("--ray", default="local", help="address of the cluster, auto, or local")
    asked = parser.parse_args(arguments)
    try:
        counts = [int(part) for part in asked.workers.split(",")]
        if min(counts) < 1:
            raise ValueError
    except ValueError:
        parser.error(f"--workers: {asked.workers!r}; give numbers of workers, such as 1,2,4")
    try:
        measured = {count: measure(asked.game, count, asked.games, asked.per_worker, asked.ray) for count in counts}
    except (SiberiaError, MissingExtraError) as error:
        print(f"throughput: {error}", file=sys.stderr)
        return 2
    show(asked.game, measured, counts[0])
    return 0


def measure(game: str, workers: int, games: int, per_worker: int, address: str) -> dict[str, float]:
    """Decisions a second with `workers` workers, by what was measured; `processors` of the cluster beside them."""
    from siberia_experiments.ray_cluster import check_room, joined, processors_of
    from siberia_experiments.rllib.run import config_for, end
    from siberia_experiments.rllib.runner import DECISIONS

    settings = replace(game_settings(game), rollout=per_worker)
    options = Options(game, minutes=1.0, workers=workers, games=games, settings=settings)
    with ExitStack() as held:
        found = held.enter_context(joined(address, workers))
        check_room(workers, 0)
        algorithm = config_for(options).build_algo()
        held.callback(end, algorithm)
        group = algorithm.env_runner_group

        def play(deliver: bool) -> float:
            group.foreach_env_runner(lambda runner: (runner.sample() if deliver else len(runner.sample()),)[0])
            told = group.foreach_env_runner(lambda runner: runner.get_metrics())
            return float(sum(float(each[DECISIONS]) for each in told))

        def train() -> float:
            return float(algorithm.train()["env_runners"][DECISIONS])

        return {
            "playing": speed(lambda: play(False)),
            "delivering": speed(lambda: play(True)),
            "training": speed(train),
            "processors": float(processors_of(found)),
        }


def speed(work: Callable[[], float]) -> float:
    """The median of what `work` does in a second, after a round that does not count."""
    work()
    speeds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        done = work()
        speeds.append(done / (time.perf_counter() - began))
    return median(speeds)


def show(game: str, measured: dict[int, dict[str, float]], base: int) -> None:
    """Print the table."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    there = max(one["processors"] for one in measured.values())
    table = new_table(
        f"{game}: decisions a second; {own} processors for this process, Ray counts on {there:.0f} in the cluster"
    )
    for name in ("workers", "playing", "delivering", "training", f"training, {base} = 1"):
        table.add_column(name, justify="right")
    for count, one in measured.items():
        numbers = [f"{one[name]:,.0f}" for name in ("playing", "delivering", "training")]
        table.add_row(str(count), *numbers, f"{one['training'] / measured[base]['training']:.2f}")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
