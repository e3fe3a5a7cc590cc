"""The golden playthroughs are played again and must come out letter for letter the same."""

from __future__ import annotations

import pytest

from tests.card.golden import CASES, FOLDER, path, playthrough
from tests.card.helpers import ALL_EDITIONS
from tests.table import PLAYER_COUNTS


@pytest.mark.parametrize(("players", "edition"), CASES)
def test_a_golden_playthrough_comes_out_the_same(players: int, edition: str) -> None:
    assert playthrough(players, edition).splitlines() == path(players, edition).read_text("utf-8").splitlines(), (
        "if the change is meant, write the files anew: python -m tests.card.golden"
    )


def test_no_playthrough_is_missing_and_none_is_left_over() -> None:
    wanted = {f"{edition}-{players}-players.txt" for edition in ALL_EDITIONS for players in PLAYER_COUNTS}
    assert {file.name for file in FOLDER.iterdir()} == wanted
    assert len(wanted) == 9
