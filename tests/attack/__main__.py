"""All attacks: `make attack`. A line for each says how often it was tried and what fell; the exit code too."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attack import caches, coverage, isolation, streams
from tests.attack.readers import READERS, Reader, fuzz

EXAMPLES = 1500  #: damaged files of each kind
CACHES, INTERRUPTS = 40, 40
COVERAGE_SECONDS = 15  #: for each kind of file

ROOT = Path(__file__).resolve().parents[2]
Tried = tuple[int, list[str]]


def damaged_files(reader: Reader) -> Tried:
    """Fuzz one reader."""
    try:
        refused, read = fuzz(reader, EXAMPLES)
    except Exception as error:
        return EXAMPLES, [f"{type(error).__name__}: {error}"]
    return refused + read, []


def hostile_agents() -> Tried:
    """Play tournament games against agents that mean harm, in a process whose orphans can be ended."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack.isolation"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    missing = {*isolation.VAIN, *isolation.EITHER, *isolation.FORFEITS} - {each["how"] for each in told}
    return len(told) * isolation.GAMES, [
        *(f"{each['how']}: {each['fallen']} {each['reasons']}" for each in told if each["fallen"]),
        *(f"{how}: did not end" for how in missing),
    ]


def attacks() -> Iterator[tuple[str, Callable[[], Tried]]]:
    """Every attack with its name."""
    yield "games against agents that mean harm", hostile_agents
    yield "entries of the compile cache", lambda: caches.attack(1, CACHES)
    yield "standard streams", streams.attack_streams
    yield "Ctrl-C", lambda: streams.attack_interrupts(INTERRUPTS)
    for reader in READERS:
        yield reader.name, lambda reader=reader: damaged_files(reader)  # type: ignore[misc]
    if coverage.installed:
        for reader in READERS:
            name = reader.name
            yield f"{name}, led by coverage", lambda name=name: coverage.attack(name, COVERAGE_SECONDS)  # type: ignore[misc]


def main(wanted: list[str]) -> int:
    """Carry out the attacks whose names hold one of the words `wanted`, or all; return how many have fallen."""
    count = total = 0
    for name, attack in attacks():
        if wanted and not any(word in name for word in wanted):
            continue
        started = time.monotonic()
        tried, fallen = attack()
        total += tried
        count += bool(fallen)
        print(f"{name:40} {tried:6} tried, {len(fallen):3} fell, {time.monotonic() - started:6.1f} s", flush=True)
        for each in fallen:
            print("   ", each.replace("\n", "\n    "), flush=True)
    print(f"{'together':40} {total:6} tried, {count:3} attacks fell")
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
