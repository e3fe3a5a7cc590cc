"""A fuzzer led by coverage: atheris changes whole files until they reach new lines of what reads them.

`python -m tests.attack.coverage READER SECONDS` attacks one reader in this process, which ends at the first fault.
`make attack` does so for all readers, where atheris can be installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType

from siberia_env.errors import SiberiaError
from tests.attack.readers import READERS
from tests.processes import ROOT

#: The modules whose functions are watched.
WATCHED = (
    "siberia_env.files",
    "siberia_env.records.format",
    "siberia_env.records.replay",
    "siberia_env.common.components",
    "siberia_agents.learned",
    "siberia_agents.registry",
    "siberia_experiments.arguments",
    "siberia_experiments.play.saves",
    "siberia_experiments.training.checkpoint",
    "siberia_experiments.tournament.store",
)
LONGEST = 1 << 16  #: bytes of a file that it makes

installed = find_spec("atheris") is not None


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods of a module. Compiled ones are left out: numba can't compile what atheris changes."""
    for found in vars(module).values():
        for part in (found, *(vars(found).values() if isinstance(found, type) else ())):
            plain = getattr(part, "__func__", part)
            if isinstance(plain, FunctionType) and plain.__module__ == module.__name__:
                yield plain


def attack(name: str, seconds: int) -> tuple[int, list[str]]:
    """Attack the reader called `name` in a process of its own: how many files were tried, and what fell."""
    command = [sys.executable, "-m", "tests.attack.coverage", name, str(seconds)]
    with tempfile.TemporaryDirectory() as folder:  # what it makes, it leaves there
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    found = re.search(r"stat::number_of_executed_units: (\d+)", told)
    tried = int(found[1]) if found else 0
    return tried, [] if done.returncode == 0 and tried else [told[-2000:]]


def attack_here(name: str, seconds: int) -> None:
    """Attack the reader called `name`; does not return."""
    import atheris

    for module in WATCHED:
        for function in functions_of(import_module(module)):
            atheris.instrument_func(function)
    reader = next(reader for reader in READERS if reader.name == name)
    corpus, place = (Path(tempfile.mkdtemp()) for _ in range(2))
    whole = reader.make(place)
    (corpus / "whole").write_bytes(whole.read_bytes())

    def one(data: bytes) -> None:
        whole.write_bytes(data)
        with suppress(SiberiaError):
            reader.read(whole)

    os.chdir(place)
    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-print_final_stats=1", "-timeout=10"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={corpus}/", str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    attack_here(sys.argv[1], int(sys.argv[2]))
