"""What the page's sources know of both games by name: pieces, phases, action numbers, the box, how to play.

`python -m siberia_experiments.web.words web/src/data` writes one JSON file a game for the page's sources, so nothing of
this is written twice. A test compares the files with what this module gives.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from siberia_env.board import actions as board_actions
from siberia_env.board import components as board_components
from siberia_env.board import state as board_state
from siberia_env.card import actions as card_actions
from siberia_env.card import components as card_components
from siberia_env.card import state as card_state
from siberia_env.common.components import DOLLARS, RESOURCES
from siberia_env.game import Game, find_game
from siberia_experiments.handbook import HOW_TO_PLAY, page
from siberia_experiments.web.description import PHASES

GAMES = ("card", "board")


def words(name: str) -> dict[str, Any]:
    """Everything that the page's sources take over of the game `name`, as plain JSON data."""
    game = find_game(name)
    return {
        "name": game.name,
        "title": game.title,
        "dollars": DOLLARS,
        "resources": list(RESOURCES),
        **(_card() if name == "card" else _board()),
        "components": game.variant(2).components.as_json(),
        "how_to_play": _how_to_play(game),
    }


def _card() -> dict[str, Any]:
    return {
        "persons": list(card_components.PERSONS),
        "symbols": list(card_components.SYMBOLS),
        "kinds": list(card_components.KINDS),
        "row_slots": card_components.ROW_SLOTS,
        "hand_limit": card_components.HAND_LIMIT,
        "face_up_at_start": card_components.FACE_UP_AT_START,
        "person_value": card_components.PERSON_VALUE,
        "phases": _numbers(card_state, PHASES["card"]),
        "payments": _numbers(card_state, ("NOT_PAYING", "FIRST_CARD", "SECOND_CARD", "LAST_OF_TWO")),
        "actions": _numbers(
            card_actions,
            ("REVEAL", "KEEP_HIDDEN", "DRAW", "MINE", "HIRE_WORKER", "HIRE_SALESMAN", "HIRE_INVESTOR", "PAY"),
        ),
        "action_names": list(card_actions.ACTION_NAMES),
    }


def _board() -> dict[str, Any]:
    return {
        "persons": list(board_components.PERSONS),
        "kinds": list(board_components.KINDS),
        "panel_actions": list(board_components.ACTIONS),
        "spaces": board_components.SPACES,
        "start": board_components.START,
        "first_exchange": board_components.FIRST_EXCHANGE,
        "most_areas": board_components.MOST_AREAS,
        "counters_drawn": board_components.COUNTERS_DRAWN,
        "panel_limit": board_components.PANEL_LIMIT,
        "empty_reserves_to_end": board_components.EMPTY_RESERVES_TO_END,
        "phases": _numbers(board_state, PHASES["board"]),
        "plans": _numbers(board_state, ("NOT_PLACED", "AT_RESEARCH", "AT_PERSON", "AT_RESOURCE")),
        "actions": _numbers(
            board_actions,
            (
                "SIDE",
                "PLACE_RESEARCH",
                "PLACE_PERSON",
                "PLACE_RESOURCE",
                "PASS",
                "ACT",
                "RESOURCE",
                "AREA",
                "WILDCARD",
                "WILDCARD_NONE",
                "FROM",
                "TO",
                "STOP",
                "PAWN_RESERVE",
                "PAWN_EXCHANGE",
                "PAWN_AREA",
                "EXCHANGE",
                "CARD",
                "TILE",
                "DISCARD_COUNTER",
                "NUM_ACTIONS",
            ),
        ),
        "lying": [list(pair) for pair in board_actions.LYING],
    }


def _numbers(module: Any, names: tuple[str, ...]) -> dict[str, int]:
    return {name: int(getattr(module, name)) for name in names}


def _how_to_play(game: Game) -> list[str]:
    """The three minutes of the rules page: its paragraphs and the entries of its lists, in its own light markup."""
    section = page(f"{game.name}/rules.md").partition(HOW_TO_PLAY)[2].partition("\n## ")[0]
    parts, goes_on = [""], False
    for line in map(str.strip, section.splitlines()):
        if line and goes_on and not line.startswith("- "):
            parts[-1] += f" {line}"
        elif line:
            parts.append(line)
        goes_on = bool(line)
    return parts[1:]


def write(folder: Path) -> None:
    """Write the files of all games into `folder`."""
    for name in GAMES:
        text = json.dumps(words(name), ensure_ascii=False, indent=2)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
