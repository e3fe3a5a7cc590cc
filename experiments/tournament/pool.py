"""Starts the processes that play a tournament's games, and watches over them.

A process plays one game at a time and reports the result. The suite's own agents share it. An agent of the user's own
has a process to itself (`agent_process.py`), which is killed if it does not answer in time. If an agent of the suite
does not answer in time, even if it hangs in compiled code, the process that plays is killed, the agent forfeits, and a
new process takes the place of the old one. No other game is touched.

Processes are spawned, not forked, because threads of numba and BLAS don't survive a fork. Each process uses one thread
for BLAS. The first process makes and starts every agent before the others begin. So errors come before any game, and
everything is compiled only once.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import RawArray
from time import monotonic
from types import TracebackType
from typing import Any

import numpy as np

from siberia_agents.interface import Agent
from siberia_agents.registry import is_own, make_agent
from siberia_env.errors import ConfigurationError, SiberiaError
from siberia_env.game import States, Variant
from siberia_experiments.tournament.agent_process import START_SECONDS, AgentProcess, how_ended, over_time
from siberia_experiments.tournament.game import NOBODY, Clock, Referee, Result, Setting, Task, forfeited
from siberia_experiments.tournament.processes import end_with, hide_memory, kill_tree, take_in_orphans

GRACE = 0.5  #: seconds after its time in which an agent can still return by itself; it forfeits all the same
LOOK_SECONDS = 0.05  #: seconds between two looks at the clocks
DEATHS = 3  #: the tournament stops when processes have ended this many times while no agent was asked

# What a process is doing, in place of the number of a game.
CHECKING, WARMING_UP = -1, -2
READY = "ready"

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_spawning = get_context("spawn")


# ---------------------------------------------------------------- in the process


def serve(connection: Connection, setting: Setting, desk: Any, memory: Any, cold: frozenset[int], parent: int) -> None:
    """Check the agents, send `READY` or the error, and then play each task that arrives until no more come.

    Args:
        connection: connection to the watching process.
        setting: the tournament's setting.
        desk: the clock's shared memory.
        memory: shared bytes for one state.
        cold: agents that must not be asked for a move beforehand.
        parent: number of the watching process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the watching process handles Ctrl-C
    end_with(parent)
    take_in_orphans()
    hide_memory()
    clock = Clock(desk)
    referee = Referee(setting, clock, shared_states(setting.variant, memory), make_apart)
    referee.cold.update(cold)
    try:
        for number in range(len(setting.specs)):
            desk[Clock.GAME] = CHECKING
            referee.check(number)
            if number not in referee.cold:
                desk[Clock.GAME] = WARMING_UP
                referee.warm_up(number)
        connection.send(READY)
        while True:
            connection.send(referee.play(connection.recv()))
    except SiberiaError as error:
        connection.send(ConfigurationError(str(error)))
    except (EOFError, BrokenPipeError):
        pass  # the watching process is done, or was ended
    finally:
        referee.close()


def make_apart(spec: str, setting: Setting) -> Agent:
    """Make an agent. One of the user's own gets a process of its own, so that no foreign code runs in this one.

    Raises:
        SiberiaError: it can't be made.
        ForfeitError: it has failed in its process.
    """
    return AgentProcess(spec, setting.move_seconds, setting.memory) if is_own(spec) else make_agent(spec)


def shared_states(variant: Variant, memory: Any) -> States:
    """Return an array of one state in shared memory."""
    return np.frombuffer(memory, variant.game.state_dtype)


# ---------------------------------------------------------------- outside


class Worker:
    """One process that plays games, as the watching process sees it.

    Attributes:
        task: the game that the process plays; None while it has none.
        ready: whether the process has checked its agents.
    """

    def __init__(self, setting: Setting, cold: Iterable[int]) -> None:
        self.setting = setting
        self.task: Task | None = None
        self.ready = False
        self.desk = RawArray("d", Clock.SIZE)
        self.desk[Clock.ASKED] = NOBODY
        memory = RawArray("b", setting.variant.game.state_dtype.itemsize)
        self.states = shared_states(setting.variant, memory)
        self.connection, theirs = _spawning.Pipe()
        self.process = _spawning.Process(
            target=serve, args=(theirs, setting, self.desk, memory, frozenset(cold), os.getpid()), daemon=True
        )
        with _one_thread():
            self.process.start()
        theirs.close()

    def give(self, task: Task) -> None:
        """Give the process a game to play."""
        self.task = task
        self.desk[Clock.GAME] = task.game
        with suppress(BrokenPipeError):  # the process has just ended; `receive` will find out
            self.connection.send(task)

    def overdue(self) -> bool:
        """Whether an agent has not answered in time."""
        since = self.desk[Clock.SINCE]
        limit = self.setting.move_seconds
        if self.desk[Clock.GAME] == CHECKING:
            limit = max(limit, START_SECONDS)
        # If the start is the same both times, what was read in between belongs to it.
        return since > 0 and monotonic() - since > limit + GRACE and self.desk[Clock.SINCE] == since

    def asked(self) -> int:
        """The seat that is asked for a move, or `NOBODY`. Before the games, it is the number of the agent instead."""
        return int(self.desk[Clock.ASKED])

    def receive(self) -> Result | None:
        """Receive a message. Return the result of a game, or None if the message only says that the process is ready.

        Raises:
            ConfigurationError: the process could not make its agents.
            EOFError, OSError: the process has ended.
        """
        message = self.connection.recv()
        if isinstance(message, ConfigurationError):
            raise message
        task, self.ready, self.task = self.task, True, None
        if not isinstance(message, Result):
            return None
        assert message.task == task, "a result of another game than the one asked for"
        return message

    def ending(self) -> str:
        """Say how the process ended."""
        return how_ended(self.process.exitcode)

    def kill(self) -> None:
        """End the process at once, with those of its agents."""
        if self.process.pid is not None and self.process.is_alive():
            kill_tree(self.process.pid)
        self.process.kill()
        self.process.join()

    def close(self) -> None:
        """End the process and free everything that belongs to it."""
        self.kill()
        self.connection.close()
        self.process.close()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that start meanwhile use one thread for linear algebra, because there are enough processes."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Workers:
    """Up to `jobs` processes. Used as a context manager, they end with the context.

    Raises:
        ConfigurationError: on entering the context, an agent can't be made or started.
    """

    def __init__(self, setting: Setting, jobs: int) -> None:
        self.setting = setting
        self.jobs = jobs
        self._cold: set[int] = set()
        self._workers: list[Worker] = []
        self._deaths = 0

    def __enter__(self) -> Workers:
        for spec in self.setting.specs:
            if not is_own(spec):
                make_agent(spec)  # finds a wrong name without waiting for a process
        self._start()
        try:
            while not self._workers[0].ready:
                for _ in self._look():
                    pass
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every process."""
        while self._workers:
            self._workers.pop().close()

    def play(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Play games at the same time, and yield each result as it comes.

        Raises:
            ConfigurationError: an agent can no longer be made, or processes end without a visible reason.
        """
        waiting = deque(tasks)
        while len(self._workers) < min(self.jobs, len(waiting)):
            self._start()
        playing = 0
        while waiting or playing:
            for worker in self._workers:
                if worker.ready and worker.task is None and waiting:
                    worker.give(waiting.popleft())
                    playing += 1
            for outcome in self._look():
                playing -= 1
                if isinstance(outcome, Result):
                    yield outcome
                else:
                    waiting.appendleft(outcome)

    def _start(self) -> None:
        self._workers.append(Worker(self.setting, self._cold))

    def _look(self) -> Iterator[Result | Task]:
        """Wait a moment. Yield the result of every game that has ended, and every game that must be played again."""
        wait([worker.connection for worker in self._workers], LOOK_SECONDS)
        for number, worker in enumerate(self._workers):
            asked, reason = NOBODY, ""
            if worker.overdue():
                asked, reason = worker.asked(), over_time(self.setting.move_seconds)
                worker.kill()
            if not worker.connection.poll():
                continue
            outcome: Result | Task | None
            try:
                outcome = worker.receive()  # the result may be of an agent that returned at the last moment
            except (EOFError, OSError):
                worker.process.join()
                if not reason:
                    asked, reason = worker.asked(), worker.ending()
                outcome = self._broken_off(worker, asked, reason)
            if not worker.process.is_alive():
                self._workers[number] = Worker(self.setting, self._cold)
                worker.close()
            if outcome is not None:
                yield outcome

    def _broken_off(self, worker: Worker, asked: int, reason: str) -> Result | Task | None:
        """Decide what becomes of a game whose process ended while `asked` had to answer.

        Raises:
            ConfigurationError: an agent could not even be started, or processes end again and again.
        """
        task, phase = worker.task, int(worker.desk[Clock.GAME])
        if task is not None and asked != NOBODY:
            return forfeited(self.setting.variant, task, asked, reason, worker.states)
        if phase == WARMING_UP and asked != NOBODY:
            self._cold.add(asked)
            return None
        if phase == CHECKING and asked != NOBODY:
            raise ConfigurationError(f"agents: {self.setting.specs[asked]} can't be started: {reason}")
        self._deaths += 1
        if self._deaths == DEATHS:
            raise ConfigurationError(f"tournament: processes end while no agent is asked: {reason}")
        return task
