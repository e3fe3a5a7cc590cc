"""The process of one agent of the user's own in a tournament: `python -m siberia_experiments.tournament.agent_host`.

It knows what an agent may know and nothing else: a fresh interpreter, no memory of the referee's, one socket. It gets
the agent's spec, then the variant and a seed for each game, then the parts of a view for each decision. It answers with
JSON: the number of an action, or one line on what went wrong. `agent_process.py` is the other end.
"""

from __future__ import annotations

import json
import operator
import os
import pickle
import resource
import socket
import struct
import sys
from typing import Any

import numpy as np
from numba.core import event

from siberia_agents.interface import Agent
from siberia_agents.registry import make_agent
from siberia_env.errors import SiberiaError
from siberia_env.game import Variant
from siberia_env.view import View
from siberia_experiments.faults import described, shortened, shown_as
from siberia_experiments.tournament.processes import end_with

LENGTH = struct.Struct("<I")  #: in front of each message, in both directions

# The kinds of answers.
DONE, ACTION, FAULT, REFUSED, COMPILING, COMPILED = "done", "action", "fault", "refused", "compiling", "compiled"


class _Compiling(event.Listener):  # type: ignore[misc]
    """Tells the referee when numba begins and ends to compile, while it is patient: before the games."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.depth = 0

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth == 1 and self.host.noting:
            self.host.answer(COMPILING)

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.host.noting:
            self.host.answer(COMPILED)


class Host:
    """The agent, and the socket that questions come from."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.token = 0
        self.noting = False
        self.agent: Agent
        self.variant: Variant

    def serve(self) -> None:
        """Answer questions until the referee closes the socket."""
        event.register("numba:compiler_lock", _Compiling(self))
        while (question := self._receive()) is not None:
            self.token, self.noting, kind, *arguments = pickle.loads(question)  # it comes from the referee
            try:
                answer = getattr(self, f"on_{kind}")(*arguments)
            except SiberiaError as error:
                answer = (REFUSED, described(error), shortened(" ".join(str(error).split())))
            except BaseException as error:  # an agent's code can raise anything, SystemExit too
                answer = (FAULT, described(error))
            self.answer(*answer)

    def on_make(self, spec: str) -> tuple[Any, ...]:
        """Make the agent."""
        self.agent = make_agent(spec)
        return (DONE,)

    def on_start(self, variant: bytes | None, seed: int) -> tuple[Any, ...]:
        """Start the agent for a game, of the variant before if none is given."""
        if variant is not None:
            self.variant = pickle.loads(variant)
        self.agent.start(self.variant, seed)
        return (DONE,)

    def on_act(self, observation: bytes, mask: bytes, player: int, representative: bytes) -> tuple[Any, ...]:
        """Ask the agent for an action."""
        game = self.variant.game
        view = View(
            self.variant,
            np.frombuffer(bytearray(observation), np.float32),
            np.frombuffer(bytearray(mask), np.int8),
            player,
            np.frombuffer(bytearray(representative), game.state_dtype),
        )
        answer = self.agent.act(view)
        last = game.num_actions - 1
        try:
            action = operator.index(answer)
        except BaseException:  # an answer is the agent's own object, which may do anything
            return FAULT, f"answered with {type(answer).__name__}, not with the number of an action"
        if isinstance(answer, bool) or not 0 <= action <= last:
            return FAULT, shortened(f"answered with {shown_as(answer)}; actions are 0 to {last}")
        return ACTION, int(action)

    def answer(self, *parts: Any) -> None:
        """Send an answer to the question asked last."""
        text = json.dumps([self.token, *parts]).encode()
        self.connection.sendall(LENGTH.pack(len(text)) + text)

    def _receive(self) -> bytes | None:
        """A message; None when the referee is gone."""
        head = self._exactly(LENGTH.size)
        return None if head is None else self._exactly(LENGTH.unpack(head)[0])

    def _exactly(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            part = self.connection.recv(size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)


def main() -> None:
    """Limit this process, and serve the socket whose number is the first argument."""
    number, parent, memory = (int(argument) for argument in sys.argv[1:4])
    end_with(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    os.environ.pop("PYTHONPATH", None)
    sys.argv = ["agent"]
    Host(socket.socket(fileno=number)).serve()
    os._exit(0)  # threads of the agent don't keep the process


if __name__ == "__main__":
    main()
