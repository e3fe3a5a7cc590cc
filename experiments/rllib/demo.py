"""`make rllib-demo`: both games on a local cluster of two machines, with a worker killed on the way.

Each "machine" is a node of a Ray cluster on this computer, with one processor of its own. For each game the demo

1. trains for a while, and kills the process of one worker in the middle: the run goes on, and the worker comes back;
2. takes a whole machine away, adds another, and resumes the run there from its last checkpoint;
3. measures the policy against `random`, as a model of the suite, without Ray;
4. plays the same tournament on the cluster and without it, and compares `games.csv`.

It fails if one of these does not come out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from siberia_agents.learned import LearnedAgent, load_model
from siberia_env.errors import MissingExtraError, SiberiaError
from siberia_env.game import GAMES, find_game
from siberia_experiments.console import console, counted_deals, percent
from siberia_experiments.evaluate import alone_against, evaluate
from siberia_experiments.rllib.options import MODEL, Options, game_settings
from siberia_experiments.rllib.show import told
from siberia_experiments.tournament.run import Tournament
from siberia_experiments.tournament.store import GAMES as RESULTS

WORKERS = 2
GAMES_EACH = 256
DECISIONS = {"card": 600_000, "board": 600_000}  #: of each half
MEASURED = 500  #: games against random
WANTED = 0.8  #: share of the games against random that the policy has to win at least
OBJECT_STORE = 200 * 2**20  #: bytes of each machine


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m siberia_experiments.rllib.demo", description=__doc__)
    parser.add_argument("games", nargs="*", default=[], metavar="GAME", help="card, board; both if none is named")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder for the runs rllib-demo-GAME")
    asked = parser.parse_args(arguments)
    try:
        for game in asked.games or list(GAMES):
            demo(find_game(game).name, asked.out / f"rllib-demo-{game}")
    except (SiberiaError, MissingExtraError) as error:
        print(f"rllib-demo: {error}", file=sys.stderr)
        return 2
    return 0


@contextmanager
def local_cluster() -> Iterator[Any]:
    """A cluster of `WORKERS` machines on this computer, beside a head without processors; this process joins it."""
    import ray
    from ray.cluster_utils import Cluster

    from siberia_experiments.ray_cluster import loopback  # needs the extra

    with loopback(), ExitStack() as held:
        cluster = Cluster()
        held.callback(cluster.shutdown)
        cluster.add_node(num_cpus=0, include_dashboard=False, object_store_memory=OBJECT_STORE)
        for _ in range(WORKERS):
            add_machine(cluster)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        held.callback(ray.shutdown)
        yield cluster


def add_machine(cluster: Any) -> Any:
    """Add a machine with one processor."""
    return cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE)


def demo(game: str, folder: Path) -> None:
    """All steps for one game.

    Raises:
        ConfigurationError, AssertionError: something did not come out.
    """
    from siberia_experiments.rllib.run import Training

    shutil.rmtree(folder, ignore_errors=True)
    with local_cluster() as cluster:
        say(f"{game}: a cluster of {WORKERS} machines; training")
        options = Options(
            game, decisions=DECISIONS[game], workers=WORKERS, games=GAMES_EACH, settings=game_settings(game)
        )
        training = Training(options, folder)
        try:
            follow(training, kill_at=0.4)
        finally:
            training.close()
        say("one machine is taken away, and another added; the run is resumed from its checkpoint")
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
        add_machine(cluster)
        training = Training.resume(folder, game, decisions=2 * DECISIONS[game])
        assert training.decisions >= DECISIONS[game], "a resumed run begins where the checkpoint was written"
        try:
            follow(training)
        finally:
            training.close()
        measure(game, folder / MODEL)
        compare_tournaments(game, folder)


def follow(training: Any, kill_at: float = 2.0) -> None:
    """Run a training to its end; once its part `kill_at` is over, kill the process of a worker."""
    killed = False
    fewest = most = WORKERS
    for progress in training.run():
        say(told(progress))
        if killed:
            fewest, most = min(fewest, progress.workers), progress.workers
        elif progress.part >= kill_at:
            killed = True
            (process, *_) = training.algorithm.env_runner_group.foreach_env_runner(lambda runner: os.getpid())
            os.kill(process, signal.SIGKILL)
            say(f"killed the process {process} of a worker")
    if killed:
        say(f"the run went on with {fewest} of {WORKERS} workers; at its end there were {most}")


def measure(game: str, path: Path) -> None:
    """Play the model against random, without Ray."""
    variant = find_game(game).variant(2)
    results = evaluate(variant, alone_against(LearnedAgent(load_model(path)), "random", 2), MEASURED, 1_000_000)
    rate = results.win_rate(0)
    say(f"{game}: {path} against random: {percent(rate)} of {counted_deals(results)}")
    assert rate.value > WANTED, f"the policy wins only {percent(rate)} against random"


def compare_tournaments(game: str, folder: Path) -> None:
    """Play the same tournament on the cluster and here, and compare the files."""
    variant = find_game(game).variant(2)
    specs = ["random", "greedy", f"learned:{folder / MODEL}"]
    files = []
    for name, cluster in (("tournament-ray", "auto"), ("tournament-here", None)):
        here = folder / name
        Tournament(variant, specs, 300, here, seed=7).run(jobs=WORKERS, resamples=10, cluster=cluster)
        files.append((here / RESULTS).read_bytes())
    assert files[0] == files[1], "a tournament on Ray gives other results"
    say(f"{game}: a tournament of three agents on the cluster: its {RESULTS} is the same as that of this machine alone")


def say(line: str) -> None:
    """Print a line at once."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
