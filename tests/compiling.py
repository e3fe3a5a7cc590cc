"""Compiles what tests would otherwise compile in several processes at once, or while a deadline runs.

`python -m tests.compiling` compiles all of it, in as many processes at a time as there are processors. `make test`
begins with that. A test with a deadline calls `compile_first`, so that it can also be run alone. A job that is done
leaves a mark in the compile cache, which is valid until a source changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from siberia_env.core.jit import cache_root, sources_hash
from siberia_env.game import GAMES
from tests.processes import ROOT, run_python


@dataclass(frozen=True)
class Job:
    """Some programs that need certain kernels, and numba's settings for them."""

    programs: tuple[tuple[str, ...], ...]
    settings: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Run the programs. There is no deadline: nobody knows how long a machine takes to compile."""
        for program in self.programs:
            run_python("-m", *program, in_time=False, **self.settings)


#: Numba's settings for checked bounds. Less is optimized, as that saves more time than the games take.
BOUNDS_CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1"}

#: The jobs by name. The longest come first, so that all processors are busy to the end.
JOBS = {
    **{f"{game}, bounds checked": Job((("tests.bounds_games", game),), BOUNDS_CHECKED) for game in GAMES},
    **{f"{game}, checked": Job((("tests.soak_games", game),)) for game in ("broken", *GAMES)},
    **{game: Job((("tests.parity_games", game, "games"), ("tests.parity_games", game, "searches"))) for game in GAMES},
}


def _mark(name: str) -> Path:
    """The file that says that a job is done, for this version of the sources, this checkout and this Python."""
    packages = {"siberia_env": "siberia_env", "siberia_agents": "agents", "tests": "tests"}
    digest = hashlib.sha256(f"{name} {ROOT} {sys.implementation.cache_tag}".encode())
    digest.update(sources_hash(*((package, ROOT / folder) for package, folder in packages.items())).encode())
    for source in sorted((ROOT / "tests").glob("*_games.py")):
        digest.update(source.read_bytes())
    return (cache_root() or Path(tempfile.gettempdir())) / "tests" / digest.hexdigest()[:16]


def compile_first(name: str) -> None:
    """Make sure that the kernels of a job are in the compile cache; if another process compiles them, wait for it."""
    mark = _mark(name)
    mark.parent.mkdir(parents=True, exist_ok=True)
    with mark.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists():
            JOBS[name].run()
            mark.touch()


def main() -> None:
    """Do all jobs."""
    if not all(_mark(name).exists() for name in JOBS):
        print("compiling what many tests need (once for this version of the sources) ...", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as processes:
        for _ in processes.map(compile_first, JOBS):
            pass


if __name__ == "__main__":
    main()
