"""Damages the compile cache, as a fault or a kill in the middle of a write would, and starts anew each time.

`python -m tests.attack.caches SEED COUNT` damages one entry after the other of a cache of its own, and sees that a
fresh process plays the same games as before.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.processes import run_python

PLAY = """
from siberia_env.position import new_position
position = new_position("card", seed=5, rules={"max_turns": 20})
while not position.is_terminal():
    actions = position.legal_actions()
    position.apply_action(actions[len(actions) // 2])
print(position.scores(), position.serialize().hex()[:64])
"""


def games(folder: Path) -> str:
    """What a fresh process plays with the cache in `folder`; how it ended, if it did not get that far."""
    try:
        return run_python("-c", PLAY, in_time=False, NUMBA_CACHE_DIR=str(folder)).stdout
    except (AssertionError, subprocess.SubprocessError) as error:
        return f"ended: {str(error)[-300:]}"


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Cut off, filled with zeros, or with some bits flipped."""
    how = chance.randrange(4)
    place = chance.randrange(len(content))
    if how == 0:
        return content[:place]
    if how == 1:
        return content[:place] + bytes(len(content) - place)
    flipped = bytearray(content)
    for _ in range(1 if how == 2 else 100):
        flipped[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def attack(seed: int, count: int) -> tuple[int, list[str]]:
    """Damage `count` times all entries of a cache, or one; return how many entries, and what fell."""
    chance, fallen, tried = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as folder:
        expected = games(Path(folder))
        for _ in range(count):
            entries = sorted(Path(folder).rglob("*.nbc"))
            for entry in entries if chance.random() < 0.2 else [chance.choice(entries)]:
                entry.write_bytes(damaged(entry.read_bytes(), chance))
                tried += 1
            if (found := games(Path(folder))) != expected:
                fallen.append(found)
    return tried, fallen


if __name__ == "__main__":
    tried, fallen = attack(int(sys.argv[1]), int(sys.argv[2]))
    print(f"{tried} damaged entries, {len(fallen)} fell", *fallen, sep="\n")
    sys.exit(bool(fallen))
