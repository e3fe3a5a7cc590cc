"""An agent of the user's own that plays in a process of its own: it receives views and sends moves, nothing else.

The referee asks one question at a time and waits for the answer until the agent's time is over. Whatever the agent does
meanwhile happens in its own process: reading memory for the deal, changing scores, hanging, forking, filling memory.
Nothing that comes back is unpickled. It is a short JSON text that has to be the answer to this very question. Anything
else, and every answer that does not come, costs the agent the game that was asked for, and no other.
"""

from __future__ import annotations

import json
import os
import pickle
import secrets
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar

from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_env.view import View
from siberia_experiments.faults import shortened
from siberia_experiments.tournament.agent_host import ACTION, COMPILED, COMPILING, DONE, FAULT, LENGTH, REFUSED
from siberia_experiments.tournament.processes import kill_orphans, kill_tree, memory_of

START_SECONDS = 60.0  #: least time limit for making and starting an agent, and for what it compiles before the games
LOOK_SECONDS = 0.2  #: seconds between two looks at the memory of an agent that is thinking
LONGEST_ANSWER = 4096  #: bytes
ENDING_SECONDS = 2.0  #: seconds in which a process that has closed its socket can still say how it ends
MEGABYTE = 2**20
#: What starts an agent's process; the number of its socket, that of the referee and its memory in bytes follow.
COMMAND = (sys.executable, "-m", "siberia_experiments.tournament.agent_host")
NOT_ASKED_FOR = "sent something that was not asked for"

#: What an agent's process is told of the environment: where programs and libraries are, and how to compile.
ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "XDG_CACHE_HOME")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class ForfeitError(Exception):
    """An agent forfeits; the message says why."""


class RefusedError(ForfeitError):
    """An agent has refused by itself, with an error of the suite.

    Attributes:
        told: the error's message, without its class.
    """

    def __init__(self, reason: str, told: str) -> None:
        super().__init__(reason)
        self.told = told


def over_time(move_seconds: float) -> str:
    """The reason for a forfeit of an agent that took too long, or was still thinking when its time was over."""
    return f"took longer than {move_seconds:g} s for a move"


def how_ended(code: int | None) -> str:
    """Say how a process ended, by its exit code."""
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"


class AgentProcess(Agent):
    """An agent in a process of its own. Its methods raise `ForfeitError` where the agent has failed.

    Attributes:
        spec: what it was made from.
        dead: whether the process has ended or was ended. Make another one then.
    """

    _running: ClassVar[set[int]] = set()  # the processes of all agents of this referee

    def __init__(self, spec: str, move_seconds: float, memory: int) -> None:
        """Start the process and make the agent in it.

        Args:
            spec: of an agent of the user's own.
            move_seconds: time limit for a move, and for `start`.
            memory: limit of the memory of the process, in megabytes.

        Raises:
            ConfigurationError: there is no such agent.
            ForfeitError: making it has failed in another way.
        """
        self.spec = self.name = spec
        self.move_seconds = move_seconds
        self.memory = memory
        self._variant: Variant | None = None
        self._limit = max(move_seconds, START_SECONDS)
        self._connection, theirs = socket.socketpair()
        with theirs:
            environment = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
            environment |= {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
            environment |= dict.fromkeys(THREADS, "1")
            environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
            words = [str(theirs.fileno()), str(os.getpid()), str(memory * MEGABYTE)]
            self._process = subprocess.Popen(
                [*COMMAND, *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._running.add(self._process.pid)
        self.dead = False
        try:
            self._ask(self._limit, False, "make", spec)
        except ForfeitError as error:
            self.close()
            if isinstance(error, RefusedError):
                raise ConfigurationError(error.told) from None
            raise

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Start the agent for a game."""
        self._start(variant, seed, self.move_seconds, False)

    def start_first(self, variant: Variant) -> None:
        """Start the agent before the games, with time for what it has to load."""
        self._start(variant, 0, self._limit, True)

    def _start(self, variant: Variant, seed: int, limit: float, patient: bool) -> None:
        known = variant is self._variant
        self._ask(limit, patient, "start", None if known else pickle.dumps(variant), seed)
        self._variant = variant

    def act(self, view: View) -> int:
        """Return the agent's answer: the number of an action, legal or not."""
        return self._act(view, False)

    def act_first(self, view: View) -> None:
        """Ask for a move before the games. The time in which numba compiles does not count, up to `START_SECONDS`."""
        self._act(view, True)

    def _act(self, view: View, patient: bool) -> int:
        parts = (view.observation.tobytes(), view.mask.tobytes(), int(view.player), view.representative.tobytes())
        action = self._ask(self.move_seconds, patient, "act", *parts)
        assert action is not None
        return action

    def has_ended(self) -> bool:
        """Whether the process has ended, by itself or by `close`."""
        return self.dead or self._process.poll() is not None

    def close(self) -> None:
        """End the process, and everything that it has started."""
        if self.dead:
            return
        self.dead = True
        kill_tree(self._process.pid)
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._running.discard(self._process.pid)
        self._connection.close()
        kill_orphans(self._running)

    def _ask(self, limit: float, patient: bool, kind: str, *arguments: Any) -> int | None:
        """Ask a question, and return the number that is the answer, if the question has one.

        Args:
            limit: seconds for the answer.
            patient: whether the time in which numba compiles does not count, up to `START_SECONDS`.
            kind: `make`, `start` or `act`.
            arguments: the rest of the question.

        Raises:
            ForfeitError: there is no such answer in time. The process has been ended, unless the agent has just raised
                an error.
        """
        if self.dead:
            raise ForfeitError("its process has ended")
        token = secrets.randbits(63)
        deadline = monotonic() + limit
        latest = max(deadline, monotonic() + START_SECONDS)
        question = pickle.dumps((token, patient, kind, *arguments))
        try:
            self._connection.settimeout(limit)
            self._connection.sendall(LENGTH.pack(len(question)) + question)
            while True:
                answer = self._receive(deadline)
                told = _answer(answer, token, kind)
                if told[0] not in (COMPILING, COMPILED):
                    break
                if patient:
                    deadline = latest if told[0] == COMPILING else min(latest, monotonic() + limit)
        except TimeoutError:
            self.close()
            raise ForfeitError(over_time(limit)) from None
        except OSError:  # it has closed the socket, or has ended
            raise ForfeitError(self._ending()) from None
        except ForfeitError:
            self.close()
            raise
        if told[0] == FAULT:
            raise ForfeitError(shortened(told[1]))
        if told[0] == REFUSED:
            raise RefusedError(shortened(told[1]), shortened(told[2]))
        return told[1] if told[0] == ACTION else None

    def _receive(self, deadline: float) -> bytes:
        """A message.

        Raises:
            TimeoutError: it has not come by the deadline.
            OSError: none will come.
            ForfeitError: it is too long, or the process holds too much memory.
        """
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, deadline))
        if length > LONGEST_ANSWER:
            raise ForfeitError(NOT_ASKED_FOR)
        return self._exactly(length, deadline)

    def _exactly(self, size: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            left = deadline - monotonic()
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(min(left, LOOK_SECONDS))
            try:
                part = self._connection.recv(size - len(parts))
            except TimeoutError:
                if memory_of(self._process.pid) > self.memory * MEGABYTE:
                    raise ForfeitError(f"used more than {self.memory} MB of memory") from None
                continue
            if not part:
                raise ConnectionError
            parts += part
        return bytes(parts)

    def _ending(self) -> str:
        """End the process, and say how it has ended by itself."""
        try:
            reason = how_ended(self._process.wait(ENDING_SECONDS))
        except subprocess.TimeoutExpired:
            reason = "closed its connection to the game"
        self.close()
        return reason


def _answer(text: bytes, token: int, kind: str) -> list[Any]:
    """The answer in `text` to the question `token` of that kind: what it is, then what belongs to it.

    Raises:
        ForfeitError: it is none.
    """
    try:
        found, *told = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise ForfeitError(NOT_ASKED_FOR) from None
    forms: dict[str, list[type]] = {
        (ACTION if kind == "act" else DONE): [str, int] if kind == "act" else [str],
        FAULT: [str, str],
        REFUSED: [str, str, str],
        COMPILING: [str],
        COMPILED: [str],
    }
    if type(found) is not int or found != token or not told or not isinstance(told[0], str):
        raise ForfeitError(NOT_ASKED_FOR)
    if [type(part) for part in told] != forms.get(told[0]):
        raise ForfeitError(NOT_ASKED_FOR)
    return told
