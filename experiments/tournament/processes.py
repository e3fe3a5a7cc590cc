"""Processes of code that nobody trusts: found with all that they have started, measured, and ended together.

A process of such code can fork, leave its group and outlive its parent. The process that watches over it therefore
takes in orphans (`take_in_orphans`), so that nothing leaves its tree, and stops the whole tree before it kills it, so
that nothing is born meanwhile. This needs Linux. Elsewhere only the group of a process is ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

# Linux, prctl(2).
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36

_orphans_are_ours: list[bool] = []  #: not empty in a process that has nothing but agents for children

ROUNDS = 100  #: looks at a tree that grows while it is being stopped


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def end_with(parent: int) -> None:
    """Make the system end this process when its parent ends, even in the middle of compiled code."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent has ended already
        os._exit(0)


def take_in_orphans() -> None:
    """Become the parent of what children of this process leave behind, so that `kill_orphans` finds it."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _orphans_are_ours.append(True)


def hide_memory() -> None:
    """Forbid other processes of this user, except the administrator's, to read the memory of this one."""
    _prctl(_PR_SET_DUMPABLE, 0)


def _parents() -> dict[int, int]:
    """The parent of every process, by number; empty if the system doesn't say."""
    found = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    found[int(name)] = int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1])
    return found


def tree(process: int) -> list[int]:
    """List a process and all its descendants."""
    offspring: dict[int, list[int]] = {}
    for child, parent in _parents().items():
        offspring.setdefault(parent, []).append(child)
    found = [process]
    for each in found:
        found += offspring.get(each, [])
    return found


def memory_of(process: int) -> int:
    """The bytes of memory that a process and its descendants hold, without what lies in files; 0 if unknown."""
    total = 0
    for each in tree(process):
        with suppress(OSError, ValueError, IndexError):
            for line in Path(f"/proc/{each}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total += 1024 * int(line.split()[1])
    return total


def kill_tree(process: int) -> None:
    """End a process and all its descendants at once. What has ended is not waited for."""
    stopped: list[int] = []
    for _ in range(ROUNDS):
        new = [each for each in tree(process) if each not in stopped]
        if not new:
            break
        for each in new:
            _signal(each, signal.SIGSTOP)
        stopped += new
    for each in reversed(stopped):
        _signal(each, signal.SIGKILL)


def kill_orphans(own: Collection[int]) -> None:
    """End all children of this process, with their descendants, but those in `own`; see `take_in_orphans`."""
    here = os.getpid()
    for _ in range(ROUNDS if _orphans_are_ours else 0):
        strangers = [child for child, parent in _parents().items() if parent == here and child not in own]
        if not strangers:
            break
        for child in strangers:
            kill_tree(child)
            with suppress(OSError):
                os.waitpid(child, 0)


def _signal(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)
