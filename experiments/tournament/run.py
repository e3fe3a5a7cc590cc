"""Plays agents against each other in every line-up and seat order: `siberia tournament card --agents random,greedy`.

A *line-up* is a choice of agents for the seats. With at least as many agents as seats, it is a combination of different
agents. With fewer agents, agents repeat, and each has at least one seat. A *block* is one deal that one line-up plays
in all its seat orders, so neither cards nor seats favour an agent. Line-ups take turns, so that all agents play about
equally many games however many blocks there are.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from siberia_env import __version__
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import Variant
from siberia_experiments.console import console, counting
from siberia_experiments.tournament.agent_files import Digests, changed_files, digests_of
from siberia_experiments.tournament.game import MEMORY, MOVE_SECONDS, NOBODY, Result, Setting, Task
from siberia_experiments.tournament.pool import Workers
from siberia_experiments.tournament.ratings import RESAMPLES, Ratings
from siberia_experiments.tournament.store import FORMAT, SETTINGS, SUMMARY, Ledger, as_csv
from siberia_experiments.tournament.summary import COLUMNS, Line, Played

LEAST_MEMORY, MOST_MEMORY = 256, 2**24  #: megabytes; with less than the first, the suite itself can't be loaded
MOST_GAMES, MOST_AGENTS, MOST_JOBS, MOST_SECONDS = 10**8, 64, 1024, 10**6

LineUp = tuple[int, ...]


def line_ups(agents: int, players: int) -> list[LineUp]:
    """List every line-up of `agents` agents over `players` seats, in an order in which all agents come up evenly."""
    if agents >= players:
        found = list(combinations(range(agents), players))
    else:
        repeated = combinations_with_replacement(range(agents), players)
        found = [line_up for line_up in repeated if len(set(line_up)) == agents]
    members = np.array(found)
    played, left, order = np.zeros(agents, np.int64), np.ones(len(found), bool), []
    for _ in found:
        number = int(np.where(left, played[members].sum(axis=1), np.iinfo(np.int64).max).argmin())
        left[number] = False
        order.append(found[number])
        for agent in set(found[number]):
            played[agent] += 1
    return order


class Schedule:
    """Assigns a number to every game. Blocks follow one another, line-ups take turns, and seat orders are in order.

    Attributes:
        blocks: number of blocks. Each block has its own deal, with the same number.
        games: number of games.
    """

    def __init__(self, agents: int, players: int, games: int) -> None:
        """Make the smallest schedule of whole blocks with at least `games` games."""
        self._orders = [sorted(set(permutations(line_up))) for line_up in line_ups(agents, players)]
        self._starts = np.cumsum([0, *(len(orders) for orders in self._orders)]).tolist()
        rounds, rest = divmod(games, self._starts[-1])
        part = next(number for number, start in enumerate(self._starts) if start >= rest)
        self.blocks = rounds * len(self._orders) + part
        self.games = rounds * self._starts[-1] + self._starts[part]

    def task(self, game: int) -> Task:
        """Return game number `game`.

        Raises:
            IndexError: there is no such game.
        """
        if not 0 <= game < self.games:
            raise IndexError(game)
        rounds, rest = divmod(game, self._starts[-1])
        line_up = bisect_right(self._starts, rest) - 1
        order = self._orders[line_up][rest - self._starts[line_up]]
        return Task(game, rounds * len(self._orders) + line_up, order)


class Playing(Protocol):
    """Processes that play games, here (`pool.Workers`) or on a cluster (`ray_pool.RayWorkers`)."""

    def __enter__(self) -> Playing: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def play(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Play games at the same time, and yield each result as it comes."""

    def close(self) -> None:
        """End every process."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a tournament.

    Attributes:
        played: the games as arrays.
        results: the same games one by one, in order.
        ratings: the fitted ratings, by agent and seat.
        lines: the summary, with the highest rating first.
    """

    played: Played
    results: list[Result]
    ratings: Ratings
    lines: list[Line]


class Tournament:
    """A tournament and its folder.

    Attributes:
        setting: what all games have in common.
        schedule: which games are played.
        folder: where everything is written.
        asked: number of games that the user asked for; `schedule` rounds it up to whole blocks.
    """

    def __init__(
        self,
        variant: Variant,
        specs: Sequence[str],
        games: int,
        folder: Path,
        seed: int = 0,
        move_seconds: float = MOVE_SECONDS,
        memory: int = MEMORY,
    ) -> None:
        """Set up a tournament. Nothing is played or written yet.

        Args:
            variant: the game, with its players, rules and components.
            specs: the agents, at least 2 different ones (`siberia_agents.registry.make_agent`).
            games: least number of games.
            folder: where everything is written. A tournament with the same settings in it is continued, also with
                more games.
            seed: decides everything that is random.
            move_seconds: time limit for a move; an agent that takes longer forfeits the game.
            memory: limit of the memory of each process of an agent of the user's own, in megabytes.

        Raises:
            ConfigurationError: an argument is invalid.
        """
        for spec in specs:
            if specs.count(spec) > 1:
                raise ConfigurationError(f"agents: {spec!r} is named twice")
            if not spec.isprintable():
                raise ConfigurationError(f"agents: {spec!r} holds characters that can't be written into a table")
        if len(specs) < 2:
            raise ConfigurationError(f"agents: {len(specs)} named; a tournament needs at least 2")
        if games < 1:
            raise ConfigurationError(f"games: {games}; at least 1")
        if not move_seconds > 0:
            raise ConfigurationError(f"move-seconds: {move_seconds}; it has to be more than 0")
        if move_seconds > MOST_SECONDS:
            raise ConfigurationError(f"move-seconds: {move_seconds}; at most {MOST_SECONDS}")
        if not LEAST_MEMORY <= memory <= MOST_MEMORY:
            raise ConfigurationError(f"memory: {memory}; {LEAST_MEMORY} to {MOST_MEMORY} megabytes")
        if games > MOST_GAMES or len(specs) > MOST_AGENTS:
            raise ConfigurationError(f"tournament: at most {MOST_GAMES} games between {MOST_AGENTS} agents")
        check_seed(seed)
        self.setting = Setting(variant, tuple(specs), seed, move_seconds, memory)
        self.schedule = Schedule(len(specs), variant.num_players, games)
        self.folder = folder
        self.asked = games

    def settings(self) -> dict[str, Any]:
        """The contents of the folder's `settings.json`: everything that the games depend on."""
        variant = self.setting.variant
        settings = {
            "format": FORMAT,
            "version": __version__,
            "game": variant.game.name,
            "agents": self.setting.specs,
            "players": variant.num_players,
            "games": self.schedule.games,
            "seed": self.setting.seed,
            "move_seconds": self.setting.move_seconds,
            "rules": variant.rules_as_json(),
            "components": variant.components.as_json(),
        }
        plain: dict[str, Any] = json.loads(json.dumps(settings))
        return plain

    def run(
        self, jobs: int | None = 1, resamples: int = RESAMPLES, fresh: bool = False, cluster: str | None = None
    ) -> Outcome:
        """Play all games that are not in the folder yet, in `jobs` processes, and write the summary.

        Args:
            jobs: number of processes. None takes all processors of the cluster, and one process without a cluster.
            resamples: resamples for the intervals of the ratings.
            fresh: throw away a tournament that is in the folder, once the agents can be started.
            cluster: address of a Ray cluster that plays the games (`siberia_experiments.ray_cluster`).

        Raises:
            ConfigurationError: an agent can't be made or started, the folder can't be used, or there is no such
                cluster.
        """
        if jobs is not None and jobs < 1:
            raise ConfigurationError(f"jobs: {jobs}; at least 1")
        if jobs is not None and jobs > MOST_JOBS:
            raise ConfigurationError(f"jobs: {jobs}; at most {MOST_JOBS}")
        digests = self.digests()  # taken before any process makes the agents from their files
        if (self.folder / SETTINGS).exists() and not fresh:
            ledger = self._ledger(digests)
            try:
                if ledger.changes or len(ledger.results) < self.schedule.games:
                    with self._workers(jobs, cluster, digests) as workers:  # first, since a changed agent may not start
                        if ledger.grows:
                            ledger.grow()
                        self._drop_changed(ledger)
                        self._play(ledger, workers, digests)
                return self._sum_up(ledger, resamples)
            finally:
                ledger.close()
        with self._workers(jobs, cluster, digests) as workers:  # first, so that agents that can't start leave no files
            ledger = self._ledger(digests, fresh)
            try:
                self._play(ledger, workers, digests)
                workers.close()
                return self._sum_up(ledger, resamples)
            finally:
                ledger.close()

    def _workers(self, jobs: int | None, cluster: str | None, digests: Mapping[str, Digests]) -> Playing:
        if cluster is None:
            return Workers(self.setting, jobs or 1)
        from siberia_experiments.tournament.ray_pool import RayWorkers  # needs an extra

        return RayWorkers(self.setting, cluster, jobs, digests)

    def digests(self) -> dict[str, Digests]:
        """Digest the files that the agents play from, as they are now.

        Raises:
            ConfigurationError: there is no such agent, or one of its files can't be read.
        """
        return digests_of(self.setting.specs, self.setting.variant)

    def _ledger(self, digests: Mapping[str, Digests], fresh: bool = False) -> Ledger:
        players = self.setting.variant.num_players
        return Ledger(self.folder, self.settings(), self.setting.specs, players, self.schedule.task, digests, fresh)

    def _drop_changed(self, ledger: Ledger) -> None:
        changes = ledger.changes
        for spec, games in ledger.drop_changed().items():
            if games:
                count = "1 game" if games == 1 else f"{games} games"
                told = f"{spec}: {', '.join(changes[spec])} changed since its games were played; playing {count} anew"
                console.print(told, markup=False, highlight=False, soft_wrap=True)

    def _play(self, ledger: Ledger, workers: Playing, digests: Mapping[str, Digests]) -> None:
        missing = [game for game in range(self.schedule.games) if game not in ledger.results]
        told: set[int] = set()
        with counting("games", self.schedule.games) as bar:
            bar.update(bar.task_ids[0], completed=len(ledger.results))
            for result in workers.play(self.schedule.task(game) for game in missing):
                ledger.add(result)
                bar.advance(bar.task_ids[0])
                if result.forfeit != NOBODY and (number := result.task.seating[result.forfeit]) not in told:
                    told.add(number)
                    text = f"{self.setting.specs[number]} forfeits game {result.task.game}: {result.reason}"
                    bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

        self._tell_unsteady(digests)

    def _tell_unsteady(self, before: Mapping[str, Digests]) -> None:
        """Report agents whose files changed while games were played: nobody knows which game had which file."""
        for spec in self.setting.specs:
            try:
                files = changed_files(before[spec], digests_of([spec], self.setting.variant)[spec])
            except SiberiaError:  # a file is gone
                files = list(before[spec])
            if files:
                told = f"{spec}: {', '.join(files)} changed while games were played; the same command plays them anew"
                console.print(told, markup=False, highlight=False, soft_wrap=True)

    def _sum_up(self, ledger: Ledger, resamples: int) -> Outcome:
        ledger.finish()
        results = list(ledger.results.values())
        played = Played.of(self.setting.specs, results)
        with counting("rating", resamples + 1) as bar:
            ratings = played.rate(
                self.setting.seed, lambda fits: bar.advance(bar.task_ids[0], fits), resamples=resamples
            )
        lines = played.summary(ratings)
        ledger.write(SUMMARY, as_csv([COLUMNS, *(line.cells() for line in lines)]))
        return Outcome(played, results, ratings, lines)


def rounding(tournament: Tournament) -> str:
    """Say how many games are played, and why there are more than the user asked for."""
    games, blocks = tournament.schedule.games, tournament.schedule.blocks
    more = "" if games == tournament.asked else f" ({tournament.asked} asked for, rounded up to whole deals)"
    return f"{games} games{more}: {blocks} deals, each in all seat orders of its line-up"
