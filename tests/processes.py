"""Python processes for tests that need settings of their own (numba reads its settings when it is imported)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Seconds for a program, or for one of its answers; what takes long to compile is compiled before (`tests.compiling`).
PATIENCE = 60.0


def import_path(first: Path = ROOT) -> str:
    """The import path of the tests for another process, `first` before everything."""
    return os.pathsep.join([str(first), *(path for path in sys.path if path and Path(path) != ROOT)])


def wait_until(happened: Callable[[], bool], what: str) -> None:
    """Look every few milliseconds whether something has happened.

    Raises:
        AssertionError: not within `PATIENCE`; the message names `what` was waited for.
    """
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.005)


def run_python(
    *arguments: str, first: Path = ROOT, cwd: Path = ROOT, patience: float | None = PATIENCE, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with this process's import path, `first` before everything, and the given environment variables.

    Raises:
        AssertionError: it ended with an error; the message is what it wrote.
        subprocess.TimeoutExpired: it took longer than `patience`, in seconds.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    if "NUMBA_CACHE_DIR" in os.environ:
        environment["NUMBA_CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"]
    environment.update(PYTHONPATH=import_path(first), **settings)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done
