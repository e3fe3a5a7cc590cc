"""Golden playthroughs: one whole game a file for each player count and edition, readable, with a digest.

`python -m tests.card.golden` writes them anew; do that only when the rules, the deal or the names were meant to
change, and read the difference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from siberia_env.card.components import SYMBOLS
from siberia_env.tables import RESOURCES
from tests.card.helpers import ALL_EDITIONS, Table
from tests.table import PLAYER_COUNTS

FOLDER = Path(__file__).parent / "golden"
CASES = tuple((players, edition) for edition in ALL_EDITIONS for players in PLAYER_COUNTS)


def path(players: int, edition: str) -> Path:
    """The file of a playthrough."""
    return FOLDER / f"{edition}-{players}-players.txt"


def picks(seed: int) -> Iterator[int]:
    """The scripted policy's stream: a linear congruential generator (Knuth's MMIX constants), high bits."""
    value = seed
    while True:
        value = (6364136223846793005 * value + 1442695040888963407) % 2**64
        yield value >> 33


def digest_fields(state: Any) -> bytes:
    """The bytes of every named field, in the order of the names: the same wherever the fields lie.

    The ends of the stacks above their sizes hold nothing, and are left out.
    """
    parts = []
    for name in sorted(state.dtype.names):
        value = np.atleast_1d(np.asarray(state[name]))
        if name in ("action_stack", "resource_stack"):
            value = value[: int(state[f"{name}_size"])]
        parts.append(name.encode() + np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"))).tobytes())
    return b"".join(parts)


def playthrough(players: int, edition: str) -> str:
    """One game, told line by line."""
    seed = 100 * players + ALL_EDITIONS.index(edition)
    table = Table.deal(players, edition, seed=seed)
    digest = hashlib.sha256(digest_fields(table.state))
    lines = [f"card game, edition {edition}, {players} players, seed {seed}"]
    lines += [f"hand of player {player}: {', '.join(table.hand(player))}" for player in range(players)]
    stream, turn, decisions = picks(seed), -1, 0
    while not table.over:
        if table.state.turn != turn:
            turn = int(table.state.turn)
            lines.append(f"turn {turn}, player {table.player}, scores {table.scores()}: {', '.join(table.row())}")
        legal = table.legal()
        name = legal[next(stream) % len(legal)]
        lines.append(f"  {name} (of {len(legal)})")
        table.play(name)
        decisions += 1
        digest.update(digest_fields(table.state))
        digest.update(table.mask().tobytes())
    state = table.state
    for player in range(players):
        captured = ", ".join(f"{count} {name}" for count, name in zip(state.captured[player], RESOURCES, strict=True))
        salesmen = [name for name, owner in zip(SYMBOLS, state.salesman_owner, strict=True) if owner == player]
        investors = [name for name, owner in zip(RESOURCES, state.investor_owner, strict=True) if owner == player]
        lines.append(
            f"player {player}: {captured}; {state.workers[player]} workers; "
            f"salesmen {', '.join(salesmen) or 'none'}; investors {', '.join(investors) or 'none'}"
        )
    lines.append(f"end after {decisions} decisions, truncated {bool(state.truncated)}, scores {table.scores()}")
    lines.append(f"sha256 of all states and masks: {digest.hexdigest()}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every file anew."""
    FOLDER.mkdir(exist_ok=True)
    for players, edition in CASES:
        path(players, edition).write_text(playthrough(players, edition), encoding="utf-8")
        print(path(players, edition))


if __name__ == "__main__":
    main()
