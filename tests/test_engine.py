"""Rewards, winners and random play: the loops that no environment's test covers by itself."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_env.core import engine, rewards
from siberia_env.errors import ConfigurationError
from siberia_env.game import GAMES, find_game

SHORT = {"card": {"max_turns": 2}, "board": {"max_rounds": 1}}  # rules under which a game is soon over

SCORES = st.lists(st.integers(0, 300), min_size=2, max_size=4)


def paid_for(kind: int, scores: list[int]) -> list[float]:
    """What each seat is paid for these scores."""
    players = len(scores)
    totals, winners = np.array(scores, np.int64), np.zeros(players, np.int8)
    count = rewards.winner_flags(totals, players, winners)
    assert winners.tolist() == [int(score == max(scores)) for score in scores]
    assert count == winners.sum()
    out = np.full(players, np.nan, np.float32)
    rewards.reward_of(kind, totals, winners, count, players, out)
    return [float(value) for value in out]


@pytest.mark.parametrize(
    ("scores", "paid"),
    [
        ([10, 5], [1, -1]),
        ([5, 10], [-1, 1]),
        ([7, 7], [0, 0]),
        ([9, 5, 5], [1, -0.5, -0.5]),
        ([9, 9, 5], [0.25, 0.25, -0.5]),
        ([9, 9, 9], [0, 0, 0]),
        ([1, 2, 3, 4], [-1 / 3, -1 / 3, -1 / 3, 1]),
        ([4, 4, 3, 4], [1 / 9, 1 / 9, -1 / 3, 1 / 9]),
    ],
)
def test_the_win_reward(scores: list[int], paid: list[float]) -> None:
    assert paid_for(rewards.WIN, scores) == pytest.approx(paid, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "paid"),
    [([30, 20], [1, -1]), ([20, 20], [0, 0]), ([30, 20, 10], [1.5, 0, -1.5]), ([40, 10, 10, 10], [3, -1, -1, -1])],
)
def test_the_margin_reward_is_in_units_of_10000_dollars(scores: list[int], paid: list[float]) -> None:
    assert paid_for(rewards.MARGIN, scores) == pytest.approx(paid, abs=1e-6)


@given(SCORES)
def test_win_and_margin_are_zero_sum_and_the_score_is_the_score(scores: list[int]) -> None:
    win, margin = paid_for(rewards.WIN, scores), paid_for(rewards.MARGIN, scores)
    assert sum(win) == pytest.approx(0, abs=1e-6)
    assert sum(margin) == pytest.approx(0, abs=1e-4)
    assert max(win) <= 1
    assert min(win) >= -1
    assert paid_for(rewards.SCORE, scores) == scores


def test_sampled_actions_are_legal_and_all_equally_likely() -> None:
    mask = np.zeros((9000, 12), np.int8)
    mask[:, [0, 3, 4, 11]] = 1
    mask[6000:, :] = 0
    mask[6000:, [2, 5, 7]] = 1
    num_legal = mask.sum(axis=1).astype(np.int16)
    actions = np.full(9000, -1)
    engine.sample_batch(mask, num_legal, np.uint64(1), 0, actions)
    for part, choices in ((actions[:6000], [0, 3, 4, 11]), (actions[6000:], [2, 5, 7])):
        counts = np.bincount(part, minlength=12)
        assert np.flatnonzero(counts).tolist() == choices
        expected = len(part) / len(choices)
        assert np.all(np.abs(counts[choices] - expected) < 5 * sqrt(expected))
    again, other = np.zeros(9000, int), np.zeros(9000, int)
    engine.sample_batch(mask, num_legal, np.uint64(1), 0, again)
    engine.sample_batch(mask, num_legal, np.uint64(1), 1, other)
    assert np.array_equal(again, actions)
    assert not np.array_equal(other, actions)


def test_the_extreme_bits_choose_the_first_and_the_last_legal_action() -> None:
    mask = np.array([0, 1, 0, 1, 1, 0], np.int8)
    assert engine.sample_legal(mask, 3, np.uint64(0)) == 1
    assert engine.sample_legal(mask, 3, np.uint64(2**64 - 1)) == 4
    assert engine.sample_legal(np.array([0, 0, 1], np.int8), 1, np.uint64(2**63)) == 2


@given(st.integers(1, 6 * engine.BLOCK + 3), st.integers(0, 2**100 - 1), st.data())
@settings(deadline=None)
def test_the_rank_chooses_among_the_legal_actions_whatever_the_size_of_the_mask(
    size: int, bits: int, data: st.DataObject
) -> None:
    mask = np.array([bits >> action & 1 for action in range(size)], np.int8)
    mask[data.draw(st.integers(0, size - 1))] = 1
    legal = np.flatnonzero(mask).tolist()
    rank = data.draw(st.integers(0, len(legal) - 1))
    random_bits = np.uint64(-(-(rank << 32) // len(legal)) << 32)  # the least that `scale` maps to the rank
    assert engine.sample_legal(mask, len(legal), random_bits) == legal[rank]


@pytest.mark.parametrize("game", GAMES)
def test_random_playouts_add_up_what_single_games_give(game: str) -> None:
    variant = find_game(game).variant(3)
    states, mask, totals = variant.new_states(), np.zeros(variant.game.num_actions, np.int8), np.zeros(3, np.int64)
    decisions = engine.random_playouts(variant.rulesets, states, mask, np.uint64(4), 20, totals)
    fewer, part = np.zeros(3, np.int64), variant.new_states()
    first = engine.random_playouts(variant.rulesets, part, mask, np.uint64(4), 19, fewer)
    last = np.zeros(3, np.int64)
    engine.scores_at(variant.rulesets, states, 0, last)
    assert (totals - fewer).tolist() == last.tolist()
    assert 50 < decisions - first < 2000
    assert engine.is_over_at(variant.rulesets, states, 0)


@pytest.mark.parametrize("game", GAMES)
def test_an_illegal_step_changes_nothing_and_writes_nothing(game: str) -> None:
    variant = find_game(game).variant(2)
    size = variant.game.num_actions
    states, legal = variant.new_states(), np.zeros(size, np.int8)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(1), 0, 0)
    engine.legal_at(variant.rulesets, states, 0, legal)
    before = states.tobytes()
    observation, mask = np.full(variant.game.observation_size, 5, np.float32), np.full(size, 5, np.int8)
    for action in (*map(int, np.flatnonzero(legal == 0)), -1, size, 2**60, -(2**60)):
        assert engine.step_at(variant.rulesets, states, 0, action, observation, mask) == engine.ILLEGAL
    assert states.tobytes() == before
    assert set(observation.tolist()) == {5}
    assert set(mask.tolist()) == {5}


@pytest.mark.parametrize("game", GAMES)
def test_a_finished_game_takes_no_more_steps(game: str) -> None:
    variant = find_game(game).variant(2, SHORT[game])
    states, mask = variant.new_states(), np.zeros(variant.game.num_actions, np.int8)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(1), 0, 0)
    engine.random_playout(variant.rulesets, states, 0, mask, np.uint64(1))
    observation = np.zeros(variant.game.observation_size, np.float32)
    for action in range(variant.game.num_actions):
        assert engine.step_at(variant.rulesets, states, 0, action, observation, mask) == engine.ILLEGAL
    assert engine.has_hit_limit_at(variant.rulesets, states, 0)


@pytest.mark.parametrize("game", GAMES)
def test_actions_are_found_by_name(game: str) -> None:
    """By the names of the table, and by those that a state calls them."""
    variant = find_game(game).variant(2)
    assert len(set(variant.action_names)) == len(variant.action_names) == variant.game.num_actions
    for number, name in enumerate(variant.action_names):
        assert variant.action_number(name) == number
    states, mask = variant.new_states(), np.zeros(variant.game.num_actions, np.int8)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(1), 0, 0)
    engine.random_playout(variant.rulesets, states, 0, mask, np.uint64(1))
    for number, name in enumerate(variant.names_in_play(states, 0)):
        assert variant.action_number(name) == number
    for name in ("mine silver", "", "Mine gas", "reveal 8", "exchange", "from Moscow", "Pass"):
        with pytest.raises(ConfigurationError, match="no action"):
            variant.action_number(name)
