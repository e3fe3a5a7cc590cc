"""What every game of the suite keeps to: seeds, copies, fresh deals, the declared layout of observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from siberia_env.core import engine
from siberia_env.game import GAMES, block_slices, find_game
from tests.board.helpers import ALL_SIDES
from tests.board.helpers import Table as BoardTable
from tests.card.helpers import ALL_EDITIONS
from tests.card.helpers import Table as CardTable
from tests.table import PLAYER_COUNTS, GameTable

TABLES: dict[str, type[GameTable]] = {"card": CardTable, "board": BoardTable}
RULES = [("card", {"edition": edition}) for edition in ALL_EDITIONS] + [
    ("board", {"sides": sides}) for sides in ALL_SIDES
]
EVERY_GAME = pytest.mark.parametrize("game", GAMES)


def test_every_game_has_a_table() -> None:
    assert tuple(TABLES) == GAMES
    assert all(table.game is find_game(game) for game, table in TABLES.items())


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize(("game", "rules"), RULES)
def test_equal_seeds_give_equal_games_and_others_do_not(game: str, rules: dict[str, Any], players: int) -> None:
    first, again, other = (TABLES[game].deal(players, rules, seed=seed) for seed in (1, 1, 2))
    assert other.observe(0).tobytes() != first.observe(0).tobytes()
    for table in (first, again):
        table.play_at_random(np.random.default_rng(0))
        assert table.over
    assert first.states.tobytes() == again.states.tobytes()


@EVERY_GAME
def test_a_copy_is_independent(game: str) -> None:
    table = TABLES[game].deal(3, seed=1).play_at_random(np.random.default_rng(0), 50)
    before = table.states.tobytes()
    copy = table.copy().play_at_random(np.random.default_rng(1), 30)
    assert table.states.tobytes() == before
    assert copy.states.tobytes() != before


@EVERY_GAME
def test_a_dealt_state_does_not_depend_on_what_lay_in_the_record_before(game: str) -> None:
    variant = find_game(game).variant(4)
    used = TABLES[game].deal(4, seed=9).play_at_random(np.random.default_rng(3))
    used.states.view(np.uint8)[:] ^= 0x5A
    fresh = variant.new_states()
    for states in (used.states, fresh):
        engine.deal_at(variant.rulesets, states, 0, np.uint64(5), 0, 0)
    assert used.states.tobytes() == fresh.tobytes()


@EVERY_GAME
def test_blocks_lie_one_after_the_other_under_different_names(game: str) -> None:
    found = find_game(game)
    for blocks, size in ((found.blocks, found.observation_size), (found.hidden_blocks, found.hidden_size)):
        slices = block_slices(blocks)
        assert len(slices) == len(blocks)
        covered = [number for part in slices.values() for number in range(part.start, part.stop)]
        assert sorted(covered) == list(range(size))
        for declared in blocks:
            assert slices[declared.name].stop - slices[declared.name].start == declared.size
            assert declared.unit > 0
            assert declared.meaning
    assert {declared.seen_by for declared in found.blocks} == {"all", "observer"}
    assert {declared.seen_by for declared in found.hidden_blocks} == {"nobody"}
