"""Agents that mean harm, for tournaments: `tests.hostile:Hostile:frames`.

Each plays the first legal action until its second decision of a game, and then does what its argument names. Whoever
wants to tell the attacker's side what it has found writes it into the file `HOSTILE_NOTES` in the temporary folder.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from siberia_agents.interface import Agent
from siberia_env.game import Variant
from siberia_env.view import View


def notes() -> Path:
    """The file in which an attacker leaves what it has found."""
    return Path(os.environ.get("TMPDIR", "/tmp")) / "hostile_notes"


def note(text: str) -> None:
    with notes().open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def sockets() -> list[int]:
    """The file descriptors of this process that are sockets."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                found.append(int(name))
        except OSError:
            pass
    return found


def frames() -> None:
    """Look for the game among the frames of all callers, and among all objects."""
    names = {"position", "task", "setting", "ledger", "referee", "worker"}
    frame: Any = sys._getframe()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if name in names and type(value).__module__.startswith("siberia_"):
                note(f"frame {name}")
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Position", "Referee", "Task", "Setting", "Ledger", "Tournament"):
            note(f"object {type(thing).__name__}")


def rewrite() -> None:
    """Rewrite scores and the other agents' moves, wherever the classes of the referee can be had."""
    from siberia_agents.greedy import GreedyAgent
    from siberia_env.position import Position
    from siberia_experiments.tournament import game

    Position.scores = lambda self: [10**6, 0]  # type: ignore[method-assign]
    GreedyAgent.act = lambda self, view: -1  # type: ignore[method-assign]
    game.forfeited = lambda *arguments: None  # type: ignore[assignment]


def leave_a_child(seconds: float = 300) -> None:
    """Leave a process behind that belongs to no group of its parent's."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            note(f"child {os.getpid()}")
            time.sleep(seconds)
        os._exit(0)


class Hostile(Agent):
    """The first legal action, until it does harm."""

    name = "hostile"

    def __init__(self, how: str = "never") -> None:
        self.how = how
        self.decisions = 0

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Begin a game."""
        self.decisions = 0
        self.seed = seed

    def act(self, view: View) -> int:
        """The first legal action, or harm and then the first legal action."""
        self.decisions += 1
        if self.decisions == 2 and self.seed:  # not before the games
            getattr(self, self.how.replace(" ", "_"))()
        return view.legal_actions[0]

    def never(self) -> None:
        """Do nothing."""

    def frames(self) -> None:
        frames()

    def rewrite(self) -> None:
        rewrite()

    def fork(self) -> None:
        """Answer twice: in two processes that share the socket."""
        os.fork()

    def child(self) -> None:
        leave_a_child()

    def bomb(self) -> None:
        """Fork and fork again, up to a few hundred."""
        for _ in range(7):
            os.fork()
        time.sleep(300)

    def exit_later(self) -> None:
        """End the process when it is somebody else's turn: as soon as this agent waits for its next question."""

        def leave(frame: FrameType, event: str, called: object) -> None:
            if event == "c_call" and getattr(called, "__name__", "").startswith("recv"):
                os._exit(7)

        sys.setprofile(leave)

    def hold_the_lock(self) -> None:
        """Pretend to compile, for ever."""
        event.start_event("numba:compiler_lock")
        with global_compiler_lock:
            time.sleep(300)

    def close_files(self) -> None:
        os.closerange(3, 1000)

    def eat(self) -> None:
        """Fill the memory."""
        kept = []
        while True:
            kept.append(bytearray(b"x" * 2**26))

    def eat_in_children(self) -> None:
        """Fill the memory in several processes, each of them below the limit."""
        for _ in range(8):
            if os.fork() == 0:
                kept = bytearray(b"x" * 2**27)
                time.sleep(300)
                os._exit(len(kept) % 2)
        time.sleep(300)

    def pool(self) -> None:
        """Start a pool that never ends."""
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
        time.sleep(300)

    def answer_early(self) -> None:
        """Answer every question to come, before it is asked."""
        for number in sockets():
            text = b'[0, "action", 0]'
            for _ in range(50):
                os.write(number, struct.pack("<I", len(text)) + text)

    def send_a_pickle(self) -> None:
        """Send what runs a command in whoever unpickles it."""

        class Planted:
            def __reduce__(self) -> Any:
                return note, ("unpickled",)

        text = pickle.dumps(Planted())
        for number in sockets():
            os.write(number, struct.pack("<I", len(text)) + text)

    def send_much(self) -> None:
        """Fill the socket with a message that never ends."""
        for number in sockets():
            os.write(number, struct.pack("<I", 2**32 - 1))
            while True:
                os.write(number, b"x" * 2**16)

    def read_the_referee(self) -> None:
        """Read the memory of the process that asks."""
        try:
            with open(f"/proc/{os.getppid()}/mem", "rb"):
                note("read the referee's memory")
        except OSError:
            pass

    def kill_the_referee(self) -> None:
        os.kill(os.getppid(), signal.SIGSTOP)

    def outlive(self) -> None:
        """Take off everything that would end this process with the others, and hang."""
        import ctypes

        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        note(f"child {os.getpid()}")
        time.sleep(300)

    def connect(self) -> None:
        """Look for other sockets to talk to."""
        for number in sockets():
            with suppress(OSError):
                socket.socket(fileno=os.dup(number)).getpeername()
