"""Python processes for tests that need settings of their own (numba reads its settings when it is imported)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Seconds for a program that has nothing to compile, or has only little to do.
PATIENCE = 60.0


def import_path(first: Path = ROOT) -> str:
    """The import path of the tests for another process, `first` before everything."""
    return os.pathsep.join([str(first), *(path for path in sys.path if path and Path(path) != ROOT)])


def run_python(
    *arguments: str, first: Path = ROOT, cwd: Path = ROOT, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with this process's import path, `first` before everything, and the given environment variables.

    Raises:
        AssertionError: it ended with an error; the message is what it wrote.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    if "NUMBA_CACHE_DIR" in os.environ:
        environment["NUMBA_CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"]
    environment.update(PYTHONPATH=import_path(first), **settings)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done
