"""The golden playthroughs are played again and must come out letter for letter the same."""

from __future__ import annotations

import pytest

from siberia_env.board.game import GAME
from tests.board.golden import CASES, FOLDER, RULES, path, playthrough
from tests.table import PLAYER_COUNTS


@pytest.mark.parametrize(("players", "rules"), CASES)
def test_a_golden_playthrough_comes_out_the_same(players: int, rules: str) -> None:
    assert playthrough(players, rules).splitlines() == path(players, rules).read_text("utf-8").splitlines(), (
        "if the change is meant, write the files anew: python -m tests.board.golden"
    )


def test_no_playthrough_is_missing_and_none_is_left_over() -> None:
    wanted = {f"{rules}-{players}-players.txt" for rules in RULES for players in PLAYER_COUNTS}
    assert {file.name for file in FOLDER.iterdir()} == wanted
    assert len(wanted) == 9


def test_both_ways_to_end_and_every_kind_of_decision_come_up() -> None:
    told = [file.read_text("utf-8") for file in FOLDER.iterdir()]
    exhausted = [text.split("exhausted ")[-1].split(";")[0].count(",") + 1 for text in told]
    assert max(exhausted) == 8
    assert min(exhausted) < 8
    words = {line.split()[0] for text in told for line in text.splitlines() if line.startswith("  ")}
    kinds = {name.split()[0] for name in GAME.variant(2).action_names}
    assert words == kinds
