"""Agents that don't keep to what an agent has to do, for tournaments: `tests.faulty:Faulty:raise`.

`Faulty` plays the first legal action, but in a quarter of the games it misbehaves at its third decision, in
the way that its argument names.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numba
import numpy as np

from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import Variant
from siberia_env.view import View


@numba.njit
def spin(stop: Any) -> None:
    """Compiled code that never returns, and never lets go of the interpreter."""
    while stop[0] == 0:
        pass


class OddError(Exception):
    """An error that can't even be printed."""

    def __str__(self) -> str:
        raise RuntimeError


class Odd:
    """An answer that can't be taken for anything."""

    def __index__(self) -> int:
        raise SystemExit


def misbehave(how: str, view: View) -> Any:
    """Do what `how` names."""
    if how == "raise":
        raise ValueError("no  idea,\nreally")
    if how == "odd error":
        raise OddError
    if how == "unprintable":
        raise ValueError("\ud800 and \x1b")
    if how == "exit":
        sys.exit(3)
    if how == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "leave":
        os._exit(5)
    if how == "hang":
        spin(np.zeros(1))
    if how == "dawdle":
        time.sleep(0.2)
        return view.legal_actions[0]
    if how == "illegal":
        return int(np.flatnonzero(view.mask == 0)[0])
    return {
        "float": 1.5,
        "none": None,
        "true": True,
        "text": "0",
        "odd": Odd(),
        "far": 2**70,
        "endless": 10**5000,
        "below": -(2**31),
    }[how]


class Faulty(Agent):
    """The first legal action, until it misbehaves."""

    name = "faulty"

    def __init__(self, how: str = "never") -> None:
        self.how = how
        self.bad = False
        self.decisions = 0

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Decide whether this is to be a bad game."""
        self.bad = seed % 4 == 1
        self.decisions = 0

    def act(self, view: View) -> int:
        """The first legal action, or worse."""
        self.decisions += 1
        if self.bad and self.decisions == 3 and self.how != "never":
            return misbehave(self.how, view)  # type: ignore[no-any-return]
        return view.legal_actions[0]


class Unwilling(Faulty):
    """Can't be started."""

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Refuse, in one of several ways."""
        if self.how == "refuse":
            raise ConfigurationError("not this game")
        misbehave(self.how, None)  # type: ignore[arg-type]


class Pondering(Faulty):
    """Comes to no decision."""

    def act(self, view: View) -> int:
        """Think for ever."""
        while True:
            time.sleep(60)


class Compiling(Faulty):
    """Compiles something at every decision."""

    def act(self, view: View) -> int:
        """The first legal action."""
        stop = np.ones(1)
        numba.njit(lambda array: array[0] + 1)(stop)
        return view.legal_actions[0]
