"""Writes golden playthroughs of either game: one whole game line by line, readable, with a digest of every state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.table import GameTable

#: Fields that had another name when the golden files were written. Their digests keep that name.
NAMED_BEFORE = {"hit_limit": "truncated"}


def picks(seed: int) -> Iterator[int]:
    """Yield the picks of the scripted policy: the high bits of a linear congruential generator (Knuth's MMIX)."""
    value = seed
    while True:
        value = (6364136223846793005 * value + 1442695040888963407) % 2**64
        yield value >> 33


def digest_fields(state: Any) -> bytes:
    """The bytes of every named field, in the order of the names, so that they don't depend on where the fields lie.

    The parts of stacks above their sizes hold nothing and are left out. So is the field that fills a state up.
    """
    parts = []
    names = {NAMED_BEFORE.get(name, name): name for name in state.dtype.names if name != "unused"}
    for digested, name in sorted(names.items()):
        value = np.atleast_1d(np.asarray(state[name]))
        if name.endswith("_stack"):
            value = value[: int(state[f"{name}_size"])]
        parts.append(digested.encode() + np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"))).tobytes())
    return b"".join(parts)


def tell(
    table: GameTable,
    seed: int,
    opening: list[str],
    position: Callable[[], tuple[Any, str]],
    closing: Callable[[], list[str]],
    idle: frozenset[str] = frozenset(),
) -> str:
    """Play `table` to its end by the picks of `seed`, and return the text of the playthrough.

    Args:
        table: the game, just dealt.
        seed: seed of the picks.
        opening: the first lines.
        position: gives a key and a line; the line is written whenever the key has changed.
        closing: gives the lines after the last decision.
        idle: actions that three picks out of four leave out if there are others, so that more happens.
    """
    digest = hashlib.sha256(digest_fields(table.state))
    lines, stream, told, decisions = list(opening), picks(seed), None, 0
    while not table.over:
        key, line = position()
        if key != told:
            told = key
            lines.append(line)
        legal = table.legal()
        options = [name for name in legal if name not in idle]
        if not options or (idle and next(stream) % 4 == 0):
            options = legal
        name = options[next(stream) % len(options)]
        lines.append(f"  {name} (of {len(legal)})")
        table.play(name)
        decisions += 1
        digest.update(digest_fields(table.state))
        digest.update(table.mask().tobytes())
    lines += closing()
    lines.append(f"end after {decisions} decisions, truncated {bool(table.state.hit_limit)}, scores {table.scores()}")
    lines.append(f"sha256 of all states and masks: {digest.hexdigest()}")
    return "\n".join(lines) + "\n"
