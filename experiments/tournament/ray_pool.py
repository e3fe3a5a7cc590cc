"""Plays a tournament's games on a Ray cluster, in the same way as on one machine.

A worker is a Ray actor that starts one process by the means of `pool.py`: the same referee under the same clock, with
agents of your own in processes of their own. A game follows from its number alone, so `games.csv` is the same, byte for
byte, wherever the games are played. A worker gets some games at a time, as many as it plays in about a second.

If a worker ends, or its machine does, Ray starts it again where there is room, and others play its games.

Needs the extra `ray`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple

from siberia_agents.registry import is_own, make_agent
from siberia_env.errors import ConfigurationError, SiberiaError, missing_extra
from siberia_experiments.ray_cluster import joined, last_line, processors_of
from siberia_experiments.tournament.agent_files import Digests, changed_files, digests_of
from siberia_experiments.tournament.agent_process import START_SECONDS
from siberia_experiments.tournament.game import Result, Setting, Task
from siberia_experiments.tournament.pool import Workers

try:
    import ray
    from ray.exceptions import (
        NodeDiedError,
        ObjectLostError,
        OutOfMemoryError,
        RayActorError,
        RayError,
        WorkerCrashedError,
    )
except ImportError as error:
    raise missing_extra("ray", "playing on a Ray cluster", error.name) from error

CALL_SECONDS = 1.0  #: how long a worker should play the games that it gets at once
MOST_AT_ONCE = 256  #: games
DEATHS = 3  #: a worker is given up when it has ended this many times without playing a game
START_LIMIT = 300.0  #: seconds in which a worker has to find room when none plays

#: What Ray raises when a worker or its machine has ended, or when the results that lay there have gone with it.
ENDED = (RayActorError, NodeDiedError, ObjectLostError, OutOfMemoryError, WorkerCrashedError)


class Desk:
    """A worker, in its own process on some machine of the cluster."""

    def __init__(self, setting: Setting, digests: Mapping[str, Digests], folder: str) -> None:
        if os.path.isdir(folder):
            os.chdir(folder)  # so that names of files and modules mean what they mean where the command was given
        vars(sys.modules["__main__"]).pop("__file__", None)  # a spawned process would run it: Ray's own program
        # Ray's processes ignore this signal, and so would those that they start. Then the system does not keep how a
        # process has ended: it would seem to go on, and an agent that crashes would forfeit for another reason.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._setting = setting
        self._digests = digests
        self._held = ExitStack()
        self._workers: Workers | None = None

    def start(self) -> str:
        """Start the process that plays, and check the agents; returns what is wrong, if anything is."""
        if self._workers is None:
            try:
                self._check_files()
                self._workers = self._held.enter_context(Workers(self._setting, 1))
            except SiberiaError as error:
                return str(error)
        return ""

    def play(self, tasks: list[Task]) -> list[Result] | str:
        """Play games; returns their results, or why no more can be played here."""
        wrong = self.start()  # Ray may have started this worker again, on another machine
        if wrong:
            return wrong
        assert self._workers is not None
        try:
            return list(self._workers.play(tasks))
        except SiberiaError as error:
            return str(error)

    def close(self) -> None:
        """End the process that plays."""
        self._held.close()
        self._workers = None

    def _check_files(self) -> None:
        """Raise `SiberiaError` unless the agents' files are the same here as where the tournament was started."""
        for spec, files in digests_of(self._setting.specs, self._setting.variant).items():
            changed = changed_files(self._digests[spec], files)
            if changed:
                here = ray.util.get_node_ip_address()
                raise ConfigurationError(
                    f"agents: {spec}: {', '.join(changed)} is another file on machine {here}; copy the same file to "
                    "every machine"
                )


class Call(NamedTuple):
    """What a worker was asked to do."""

    number: int  #: of the worker
    tasks: list[Task]  #: games to play; none if it was asked to start
    since: float


class RayWorkers:
    """Workers on the cluster at `address`. Used as a context manager, they end with the context.

    The same as `pool.Workers`, elsewhere.

    Raises:
        ConfigurationError: on entering the context: there is no such cluster, or an agent can't be made or started.
    """

    def __init__(self, setting: Setting, address: str, jobs: int | None, digests: Mapping[str, Digests]) -> None:
        """Set up workers; nothing is started yet.

        Args:
            setting: the tournament's setting.
            address: the cluster's (`ray_cluster.joined`).
            jobs: number of workers, each of which takes one processor; by default all of the cluster's.
            digests: digests of the files that the agents play from, as they are on this machine.
        """
        self.setting = setting
        self.address = address
        self.jobs = jobs
        self._digests = digests
        self._held = ExitStack()
        self._desks: list[Any] = []
        self._calls: dict[Any, Call] = {}
        self._idle: set[int] = set()
        self._deaths: list[int] = []
        self._last_end = ""  # what Ray said when a worker ended

    def __enter__(self) -> RayWorkers:
        for spec in self.setting.specs:
            if not is_own(spec):
                make_agent(spec)  # finds a wrong name without waiting for a cluster
        try:
            found = self._held.enter_context(joined(self.address, self.jobs))
            self.jobs = self.jobs or max(1, processors_of(found))
            self._add_desk()  # alone at first: it compiles what is not compiled yet on its machine
            self._wait(START_LIMIT + 2 * START_SECONDS * len(self.setting.specs))
            while len(self._desks) < self.jobs:
                self._add_desk()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every worker, and leave the cluster."""
        for desk in self._desks:
            ray.kill(desk)
        self._desks, self._calls, self._idle = [], {}, set()
        self._held.close()

    def play(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Play games at the same time, and yield each result as it comes.

        Raises:
            ConfigurationError: an agent can no longer be made, or no worker is left.
        """
        waiting = deque(tasks)
        at_once = [1] * len(self._desks)
        playing = 0
        while waiting or playing:
            for number in sorted(self._idle):
                if waiting:
                    share = max(1, len(waiting) // (2 * len(self._desks)))  # so that all end at about the same time
                    given = [waiting.popleft() for _ in range(min(at_once[number], share, len(waiting)))]
                    self._ask(number, given)
                    playing += len(given)
            call, results = self._wait(None if playing else START_LIMIT)
            playing -= len(call.tasks)
            if results is None:
                waiting.extendleft(reversed(call.tasks))
                continue
            took = monotonic() - call.since
            if took < CALL_SECONDS / 2:
                at_once[call.number] = min(MOST_AT_ONCE, 2 * at_once[call.number])
            elif took > CALL_SECONDS:
                at_once[call.number] = max(1, at_once[call.number] // 2)
            yield from results

    def _add_desk(self) -> None:
        # An actor whose calls are never retried refuses calls while it is being started again, which takes as long as
        # it takes. So calls are retried by default (one that has not begun just waits), and `play` makes an exception.
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=DEATHS)(Desk)
        self._desks.append(actor.remote(self.setting, self._digests, os.getcwd()))
        self._deaths.append(0)
        self._ask(len(self._desks) - 1, [])

    def _ask(self, number: int, tasks: list[Task]) -> None:
        """Give a worker games to play, or let it start. One that has not started waits for room, and holds no games."""
        desk = self._desks[number]
        call = desk.play.options(max_task_retries=0).remote(tasks) if tasks else desk.start.remote()
        self._calls[call] = Call(number, tasks, monotonic())
        self._idle.discard(number)

    def _wait(self, limit: float | None) -> tuple[Call, list[Result] | None]:
        """Wait for an answer: what was asked, and the results, which are None if the worker has ended meanwhile.

        Raises:
            ConfigurationError: an agent can't be made or started, or no worker is left.
        """
        answered, _ = ray.wait(list(self._calls), num_returns=1, timeout=limit) if self._calls else ([], [])
        if not answered:
            why = f"; the last one ended: {self._last_end}" if self._last_end else ""
            raise ConfigurationError(
                f"--ray: no worker is left that plays; has the cluster a processor that is free?{why}"
            )
        call = self._calls.pop(answered[0])
        try:
            told = ray.get(answered[0])
        except ENDED as error:
            self._last_end = last_line(error)
            self._deaths[call.number] += 1
            if self._deaths[call.number] < DEATHS:
                self._ask(call.number, [])
            return call, None
        except RayError as error:
            raise ConfigurationError(f"--ray: a worker has failed: {last_line(error)}") from None
        if isinstance(told, str) and told:
            raise ConfigurationError(told)
        self._idle.add(call.number)
        if call.tasks:
            self._deaths[call.number] = 0
        return call, told if call.tasks else []
