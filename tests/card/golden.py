"""Golden playthroughs: one whole game a file for each player count and edition, readable, with a digest.

`python -m tests.card.golden` writes them anew; do that only when the rules, the deal or the names were meant to
change, and read the difference.
"""

from __future__ import annotations

from pathlib import Path

from siberia_env.card.components import SYMBOLS
from siberia_env.common.components import RESOURCES
from tests.card.helpers import ALL_EDITIONS, Table
from tests.playthrough import tell
from tests.table import PLAYER_COUNTS

FOLDER = Path(__file__).parent / "golden"
CASES = tuple((players, edition) for edition in ALL_EDITIONS for players in PLAYER_COUNTS)


def path(players: int, edition: str) -> Path:
    """The file of a playthrough."""
    return FOLDER / f"{edition}-{players}-players.txt"


def playthrough(players: int, edition: str) -> str:
    """One game, told line by line."""
    seed = 100 * players + ALL_EDITIONS.index(edition)
    table = Table.deal(players, edition, seed=seed)

    def position() -> tuple[int, str]:
        turn = int(table.state.turn)
        return turn, f"turn {turn}, player {table.player}, scores {table.scores()}: {', '.join(table.row())}"

    def closing() -> list[str]:
        state, lines = table.state, []
        for player in range(players):
            captured = ", ".join(
                f"{count} {name}" for count, name in zip(state.captured[player], RESOURCES, strict=True)
            )
            salesmen = [name for name, owner in zip(SYMBOLS, state.salesman_owner, strict=True) if owner == player]
            investors = [name for name, owner in zip(RESOURCES, state.investor_owner, strict=True) if owner == player]
            lines.append(
                f"player {player}: {captured}; {state.workers[player]} workers; "
                f"salesmen {', '.join(salesmen) or 'none'}; investors {', '.join(investors) or 'none'}"
            )
        return lines

    opening = [f"card game, edition {edition}, {players} players, seed {seed}"]
    opening += [f"hand of player {player}: {', '.join(table.hand(player))}" for player in range(players)]
    return tell(table, seed, opening, position, closing)


def main() -> None:
    """Write every file anew."""
    FOLDER.mkdir(exist_ok=True)
    for players, edition in CASES:
        path(players, edition).write_text(playthrough(players, edition), encoding="utf-8")
        print(path(players, edition))


if __name__ == "__main__":
    main()
