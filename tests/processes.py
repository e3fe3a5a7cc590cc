"""Runs Python processes for tests that need their own settings (numba reads its settings when it is imported)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, AnyStr

ROOT = Path(__file__).resolve().parents[1]

#: Seconds for a program, or for one of its answers. What takes long to compile is compiled earlier (`tests.compiling`).
PATIENCE = 60.0


def children(process: int) -> list[int]:
    """List the numbers of the processes that `process` has started."""
    try:
        return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def time_in_line(process: int) -> float:
    """The seconds that a process, ready to run, had to wait for a processor; 0 if the system doesn't say."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


class Deadline:
    """Gives a program `PATIENCE`: a minute of its own, however many others want the processors.

    The time that the program, or one that it has started, waits for a processor does not count.
    """

    def __init__(self, process: int) -> None:
        self.process = process
        self.start = time.monotonic()
        self.in_line_before = time_in_line(process)
        self.in_line = 0.0

    def left(self) -> float:
        """How many seconds are left; 0 or less when the deadline is over."""
        times = [time_in_line(self.process) - self.in_line_before, *map(time_in_line, children(self.process))]
        self.in_line = max(self.in_line, *times)
        return PATIENCE + self.in_line - (time.monotonic() - self.start)


def import_path(first: Path = ROOT) -> str:
    """The import path of the tests for another process, with `first` in front."""
    return os.pathsep.join([str(first), *(path for path in sys.path if path and Path(path) != ROOT)])


def wait_until(happened: Callable[[], bool], what: str, process: int) -> None:
    """Wait until `happened` says that `process` has done something, looking every few milliseconds.

    Raises:
        AssertionError: it has not happened by the deadline; the message names `what` was waited for.
    """
    deadline = Deadline(process)
    while not happened():
        assert deadline.left() > 0, f"waited in vain for {what}"
        time.sleep(0.005)


def run_python(
    *arguments: str,
    first: Path = ROOT,
    cwd: Path = ROOT,
    in_time: bool = True,
    **settings: str,
) -> subprocess.CompletedProcess[str]:
    """Run Python with this process's import path, with `first` in front, and the given environment variables.

    Raises:
        AssertionError: the program ended with an error, or it has to be `in_time` and was not done by its `Deadline`.
            The message is what it wrote.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    if "NUMBA_CACHE_DIR" in os.environ:
        environment["NUMBA_CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"]
    environment.update(PYTHONPATH=import_path(first), **settings)
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        out, err = outcome(process, in_time=in_time)
    assert process.returncode == 0, f"{out}\n{err}"
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def outcome(process: subprocess.Popen[AnyStr], typed: AnyStr | None = None, in_time: bool = True) -> tuple[Any, Any]:
    """Return what a process that reads `typed` writes to stdout and stderr until it ends.

    Raises:
        AssertionError: the process has to be `in_time`, and was not done by its `Deadline`. It has been killed.
    """
    deadline = Deadline(process.pid)
    while True:
        try:
            return process.communicate(typed, timeout=1)
        except subprocess.TimeoutExpired:
            typed = None  # it has been sent already
            if in_time and deadline.left() <= 0:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"no end of {process.args!r}; so far:\n{out!r}\n{err!r}") from None
