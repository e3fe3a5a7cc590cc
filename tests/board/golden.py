"""Golden playthroughs: one whole game a file for each player count and way of choosing sides.

`python -m tests.board.golden` writes them anew; do that only when the rules, the deal or the names were meant to
change, and read the difference.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from siberia_env.board.components import ACTIONS
from siberia_env.board.state import CHOOSE_SIDE, PLACE
from siberia_env.common.components import RESOURCES
from tests.board.helpers import GIVEN_SIDES, Table
from tests.playthrough import tell
from tests.table import PLAYER_COUNTS

FOLDER = Path(__file__).parent / "golden"
RULES: dict[str, dict[str, Any]] = {
    "choose": {"sides": "choose"},
    "given": {"sides": GIVEN_SIDES},
    "random-with-cards": {"sides": "random", "salesman_cards": True},
}
FIRST_SEED = 9  #: the first of the games then ends by exhausted areas, the others by empty reserves
IDLE = frozenset({"place research", "pass", "stop", "wildcard none"})
CASES = tuple((players, rules) for rules in RULES for players in PLAYER_COUNTS)


def path(players: int, rules: str) -> Path:
    """The file of a playthrough."""
    return FOLDER / f"{rules}-{players}-players.txt"


def listed(names: dict[str, int]) -> str:
    """Names and how often each is there, `2 Tokyo`."""
    return ", ".join(f"{count} {name}" for name, count in names.items() if count) or "none"


def stands(table: Table, player: int) -> str:
    """What a player has on the map, at the exchanges and on the panel."""
    panel = "; ".join(
        " ".join([f"{action}:", *table.panel(player).get(action, []), *["tile"] * (action in table.tiles(player))])
        for action in ACTIONS
        if action in table.panel(player) or action in table.tiles(player)
    )
    return (
        f"workers {listed(table.workers(player))}, salesmen {listed(table.salesmen(player))}, "
        f"cards {' '.join(table.cards(player)) or 'none'}, panel {panel or 'empty'}"
    )


def position(table: Table) -> tuple[Any, str]:
    """The position, told at every change of player or phase; at length when a round begins."""
    state, player = table.state, table.player
    key = (int(state.rounds), player, state.phase == PLACE)
    if state.phase == CHOOSE_SIDE:
        return key, f"player {player} chooses sides"
    if state.phase != PLACE:
        return key, f" player {player}, scores {table.scores()}"
    lines = []
    if player == state.start:
        lines.append(f"round {state.rounds}, reserve {listed(table.reserve())}, face up {', '.join(table.face_up())}")
        lines.append(" " + "; ".join(f"{area}: {' '.join(table.cubes(area)) or 'exhausted'}" for area in table.areas))
        lines += [f" player {seat}: {stands(table, seat)}" for seat in range(table.variant.num_players)]
    return key, "\n".join([*lines, f" player {player} places {', '.join(table.drawn(player))}"])


def playthrough(players: int, rules: str) -> str:
    """One game, told line by line."""
    seed = FIRST_SEED + 100 * players + list(RULES).index(rules)
    table = Table.deal(players, RULES[rules], seed=seed)
    opening = [f"board game, {rules}, {players} players, seed {seed}"]
    if rules != "choose":
        opening.append(f"exchanges {', '.join(table.exchanges())}")

    def closing() -> list[str]:
        sold = listed({resource: table.ledger.sold[resource] for resource in RESOURCES})
        return [
            *(f"player {player}: {stands(table, player)}" for player in range(players)),
            f"exhausted {', '.join(table.exhausted()) or 'none'}; reserve {listed(table.reserve())}; sold {sold}",
        ]

    return tell(table, seed, opening, lambda: position(table), closing, IDLE)


def main() -> None:
    """Write every file anew."""
    FOLDER.mkdir(exist_ok=True)
    for players, rules in CASES:
        path(players, rules).write_text(playthrough(players, rules), encoding="utf-8")
        print(path(players, rules))


if __name__ == "__main__":
    main()
