"""The observation against a slow one that shares no code with it, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_env.card.components import KINDS
from siberia_env.card.game import GAME
from siberia_env.game import block_slices
from tests.card.helpers import ALL_EDITIONS, Table, lay_out
from tests.card.slow_observation import hidden_quantities, quantities, values
from tests.table import PLAYER_COUNTS

SLICES = block_slices(GAME.blocks)
HIDDEN_SLICES = block_slices(GAME.hidden_blocks)


def block(table: Table, player: int, name: str) -> np.ndarray[Any, Any]:
    """One block as `player` sees it, in quantities and in its own shape."""
    declared = next(declared for declared in GAME.blocks if declared.name == name)
    return table.observe(player)[SLICES[name]].reshape(declared.shape) * declared.unit


def check_observations(table: Table) -> None:
    """Every block, from every seat."""
    for player in range(table.variant.num_players):
        seen = table.observe(player)
        assert seen.min() >= -1
        assert seen.max() <= 1
        for name, wanted in values(GAME.blocks, quantities(table, player)).items():
            np.testing.assert_allclose(seen[SLICES[name]], wanted.ravel(), atol=1e-6, err_msg=f"{name}, seat {player}")
    hidden = table.observe_hidden()
    for name, wanted in values(GAME.hidden_blocks, hidden_quantities(table)).items():
        np.testing.assert_allclose(hidden[HIDDEN_SLICES[name]], wanted.ravel(), atol=1e-6, err_msg=name)


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_every_block_equals_the_slow_one_through_a_whole_game(players: int, edition: str) -> None:
    table = Table.deal(players, {"edition": edition, "max_turns": 120}, seed=players)
    rng = np.random.default_rng(players)
    decisions = 0
    while not table.over:
        if decisions % 5 == 0:
            check_observations(table)
        table.play_at_random(rng, 1)
        decisions += 1
    check_observations(table)
    assert decisions > 60


@settings(max_examples=40)
@given(
    players=st.sampled_from(PLAYER_COUNTS),
    edition=st.sampled_from(ALL_EDITIONS),
    seed=st.integers(0, 2**64 - 1),
    decisions=st.integers(0, 400),
)
def test_every_block_equals_the_slow_one_anywhere(players: int, edition: str, seed: int, decisions: int) -> None:
    table = Table.deal(players, edition, seed=seed)
    table.play_at_random(np.random.default_rng(seed), decisions)
    check_observations(table)


def test_every_step_of_a_payment_equals_the_slow_one() -> None:
    rng = np.random.default_rng(5)
    steps = {0: 0, 1: 0, 2: 0}
    for seed in range(12):
        table = Table.deal(3, seed=seed)
        while not table.over and min(steps.values()) < 8:
            table.play_at_random(rng, 1)
            step = int(table.state.payment) - 1
            if step >= 0 and steps[step] < 8:
                steps[step] += 1
                check_observations(table)
    assert min(steps.values()) == 8


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_public_blocks_do_not_depend_on_secrets(players: int) -> None:
    """A block for all must be the same after another player's guess of all that is hidden."""
    table = Table.deal(players, seed=4)
    rng = np.random.default_rng(4)
    exposed = {"known_hand", "exposed_hand"}
    secret = set()
    for _ in range(40):
        table.play_at_random(rng, 4)
        if table.over:
            break
        for viewer in range(players):
            guess = table.determinized(viewer, 99)
            for observer in range(players):
                seen, guessed = table.observe(observer), guess.observe(observer)
                for declared in GAME.blocks:
                    same = np.array_equal(seen[SLICES[declared.name]], guessed[SLICES[declared.name]])
                    if declared.seen_by == "all" and declared.name not in exposed:
                        assert same, declared.name
                    elif not same:
                        secret.add(declared.name)
    assert {"hand", "symbols", "unseen_actions"} <= secret


def test_what_mining_would_bring_counts_workers_and_salesmen_of_each_seat() -> None:
    row = ["gold 3000", "(gold 4000)", "gold 5000", "gas 1000", "gold 6000"]
    table = lay_out(3, row=row, workers={0: 1, 1: 2, 2: 4}, salesmen={1: ["gold"]})
    assert block(table, 0, "mine_cards")[:3, 3].tolist() == [1, 2, 3]
    assert block(table, 0, "gain")[:3, 3].tolist() == [3, 14, 14]
    assert block(table, 1, "gain")[:3, 3].tolist() == [14, 14, 3]
    assert block(table, 0, "gain")[3].tolist() == [0] * 19


def test_known_hands_show_to_both_sides() -> None:
    hands = {0: ["gas/worker", "oil/worker"], 1: ["gold/worker", "gold/worker"]}
    table = lay_out(hands=hands, known={0: ["oil/worker"], 1: ["gold/worker"]})
    known, exposed = block(table, 0, "known_hand"), block(table, 0, "exposed_hand")
    assert {KINDS[kind]: int(count) for kind, count in enumerate(known) if count} == {"gold/worker": 1}
    assert {KINDS[kind]: int(count) for kind, count in enumerate(exposed) if count} == {"oil/worker": 1}
    unseen = block(table, 0, "unseen_actions")
    assert unseen[KINDS.index("gold/worker")] == 3
    assert unseen[KINDS.index("oil/worker")] == 3


def test_known_hands_of_three_players_show_together() -> None:
    hands = {0: ["gas/worker"], 1: ["gold/worker", "oil/worker"], 2: ["gold/worker", "oil/investor"]}
    held = {0: ["gas/worker"], 1: ["gold/worker", "oil/worker"], 2: ["gold/worker"]}
    table = lay_out(3, hands=hands, known=held, player=2)

    def known(observer: int) -> dict[str, int]:
        return {KINDS[kind]: int(count) for kind, count in enumerate(block(table, observer, "known_hand")) if count}

    assert known(0) == {"gold/worker": 2, "oil/worker": 1}
    assert known(1) == {"gas/worker": 1, "gold/worker": 1}
    assert known(2) == {"gas/worker": 1, "gold/worker": 1, "oil/worker": 1}
    assert block(table, 0, "unseen_actions")[KINDS.index("gold/worker")] == 2
    assert not block(table, 0, "exposed_hand").any()
