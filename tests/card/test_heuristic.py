"""The card game's heuristic: it sees what the player sees, does what its page says, and is stronger than greedy."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from siberia_agents.card.heuristic import KEEP_HAND, others_ready, payment_cost, turns_left
from siberia_agents.greedy import GreedyAgent
from siberia_agents.heuristic import HeuristicAgent, heuristic_at, heuristic_batch
from siberia_env import vector
from siberia_env.card.actions import CARD_ACTIONS, HIRE_WORKER, KEEP_HIDDEN, MINE, PAY
from siberia_env.card.components import KINDS, SYMBOLS
from siberia_env.card.rules import shows
from siberia_env.card.state import CHOOSE, DISCOVER, PAYING
from siberia_env.core import engine
from siberia_env.core.jit import kernel
from siberia_env.game import find_game
from siberia_env.view import view_games, view_state
from siberia_experiments.match import play_games
from tests.card.helpers import ALL_EDITIONS, lay_out
from tests.processes import run_python
from tests.table import PLAYER_COUNTS
from tests.test_agents import PLAIN, without_generator

CARD = find_game("card")
DECISIONS = 260  # more than any game of heuristic players takes


@kernel
def payment_cost_at(states: Any, symbol: int, loss: Any) -> float:
    """`payment_cost` for Python."""
    return payment_cost(states[0], symbol, loss)


@kernel
def others_ready_at(rulesets: Any, states: Any, ready: Any) -> None:
    """`others_ready` for Python."""
    others_ready(rulesets[0], states[0], ready)


@kernel
def turns_left_at(rulesets: Any, states: Any, i: int) -> float:
    """`turns_left` for Python."""
    return turns_left(rulesets[0], states[i])


def played(players: int, games: int, rules: Any = None) -> Any:
    """Before each decision of games between heuristic players: the environment, the step, what they choose."""
    env = vector.make("card", games, players, seed=23, rules=rules)
    step = env.reset()
    for _ in range(DECISIONS):
        actions = np.zeros(games, np.int64)
        heuristic_batch(env.variant.rulesets, env.states, step.mask, actions)
        yield env, step, actions
        step = env.step(actions)


# ---------------------------------------------------------------- what it sees


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_plan_chooses_the_same_over_a_hundred_determinizations(players: int) -> None:
    """Forty positions of each phase, all over the game."""
    samples, tried, sampled_otherwise, random = 100, Counter[int](), 0, np.random.default_rng(4)
    for env, step, chosen in played(players, 64):
        row = int(random.integers(64))
        phase = int(env.states[row]["phase"])
        tried[phase] += 1
        if tried[phase] > 40:
            continue
        sampled = np.repeat(env.states[row : row + 1], samples)
        engine.determinize_batch(env.variant.rulesets, sampled, np.repeat(step.player[row], samples), np.uint64(row))
        actions = np.zeros(samples, np.int64)
        heuristic_batch(env.variant.rulesets, sampled, np.repeat(step.mask[row : row + 1], samples, axis=0), actions)
        assert set(actions.tolist()) == {int(chosen[row])}
        sampled_otherwise += len(set(without_generator(sampled))) > 1
    assert min(tried[phase] for phase in (DISCOVER, CHOOSE, PAYING)) >= 40
    assert sampled_otherwise > 100


def test_the_agent_is_the_plan_alone_in_a_batch_and_on_the_true_state() -> None:
    agent = HeuristicAgent()
    for number, (env, step, chosen) in enumerate(played(3, 16)):
        if number % 40 == 7:
            batch = view_games(env.variant, env.states, np.arange(16), step.observation, step.mask, step.player)
            assert agent.act_batch(batch).tolist() == chosen.tolist()
            assert [agent.act(batch.view(row)) for row in range(16)] == chosen.tolist()
            assert [agent.act(view_state(env.variant, env.states, row)) for row in range(16)] == chosen.tolist()
            alone = [heuristic_at(env.variant.rulesets, env.states, row, step.mask[row]) for row in range(16)]
            assert alone == chosen.tolist()


def test_the_plan_plays_the_same_game_as_plain_python() -> None:
    program = PLAIN.replace("greedy", "heuristic")
    compiled = run_python("-c", program, "card").stdout
    assert run_python("-c", program, "card", NUMBA_DISABLE_JIT="1").stdout == compiled
    assert len(json.loads(compiled)) > 60


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_every_choice_is_legal_in_every_edition_and_games_end_by_themselves(edition: str) -> None:
    for rules in ({"edition": edition}, {"edition": edition, "max_turns": 12}):
        ended = 0
        for _, step, chosen in played(4, 32, rules):
            assert step.mask[np.arange(32), chosen].all()
            over = step.terminated
            ended += int(over.sum())
            assert (step.final_hit_limit[over] == ("max_turns" in rules)).all()
        assert ended >= 32


# ---------------------------------------------------------------- what it does


def gain_of(env: vector.VectorEnv, row: int, action: int) -> int:
    """By playing it, with the first payment there is: what the score of the player on turn gains, thousands."""
    variant, states = env.variant, env.states[row : row + 1].copy()
    player, before = int(states[0]["player"]), int(states[0]["score"][states[0]["player"]])
    observation, mask = np.zeros(CARD.observation_size, np.float32), np.zeros(CARD.num_actions, np.int8)
    engine.step_at(variant.rulesets, states, 0, action, observation, mask)
    while states[0]["phase"] == PAYING and states[0]["player"] == player:
        engine.step_at(variant.rulesets, states, 0, int(mask.argmax()), observation, mask)
    return int(states[0]["score"][player]) - before


def test_the_very_last_turn_gains_the_most_there_is() -> None:
    """Nobody moves after it (C15): only the score counts, checked by playing every legal action."""
    checked = gains = 0
    for env, step, chosen in played(2, 24):
        for row in np.flatnonzero((env.states["turns_to_end"] == 1) & (env.states["phase"] == CHOOSE)):
            gain = [gain_of(env, int(row), int(action)) for action in np.flatnonzero(step.mask[row])]
            assert gain_of(env, int(row), int(chosen[row])) == max(gain)
            checked += 1
            gains += max(gain) > 0
    assert checked > 20
    assert gains > 10


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C15_with_the_end_in_sight_turns_left_counts_the_turns_that_come(players: int) -> None:
    for turns_to_end in range(1, players + 2):
        table = lay_out(players, turns_to_end=turns_to_end)
        later = [(seat % players) == 0 for seat in range(1, turns_to_end)]
        assert turns_left_at(table.variant.rulesets, table.states, 0) == sum(later)


@pytest.mark.parametrize("turn", [0, 1, 5, 9, 11])
def test_C17_turns_left_keeps_to_the_turn_limit(turn: int) -> None:
    table = lay_out(3, {"max_turns": 12}, player=turn % 3, turn=turn)
    assert turns_left_at(table.variant.rulesets, table.states, 0) == len(range(turn + 3, 12, 3))


def test_a_card_is_kept_hidden_only_by_who_holds_few_and_does_not_mine_then() -> None:
    kept, mined = 0, 0
    keeping = np.zeros(64, bool)
    for env, _, chosen in played(2, 64):
        choosing = env.states["phase"] == CHOOSE
        mining = (chosen >= MINE) & (chosen < HIRE_WORKER)
        assert not (keeping & choosing & mining).any()
        mined += int((choosing & mining).sum())
        keeping = chosen == KEEP_HIDDEN
        for state in env.states[keeping]:
            assert state["hand_size"][state["player"]] <= KEEP_HAND
            assert state["face_down"] > 1 or state["resource_stack_size"] > 0
            kept += 1
    assert kept > 20
    assert mined > 200


def test_C10_the_payment_is_the_cheapest_of_all() -> None:
    """Beside it: every pair and every triple of cards that the rule allows, added up."""
    random = np.random.default_rng(8)
    for trial in range(150):
        hand = random.choice(len(KINDS), random.integers(2, 9))
        investor = ["gold"] if trial % 2 else []
        names = [KINDS[kind] for kind in hand]
        if max(Counter(names).values()) > 4:
            continue
        table = lay_out(2, hands={0: names}, investors={0: investor})
        loss = random.random(len(SYMBOLS))
        cost = [loss[kind // 3] + loss[5 + kind % 3] for kind in hand]
        for symbol, name in enumerate(SYMBOLS):
            prices = []
            for size in (1, 2, 3):
                for cards in combinations(range(len(hand)), size):
                    showing = sum(bool(shows(int(hand[card]), symbol)) for card in cards) + (name in investor)
                    others = size - showing + (name in investor)
                    if (showing, others) in ((2, 0), (1, 2)):
                        prices.append(sum(cost[card] for card in cards))
            if prices:
                assert payment_cost_at(table.states, symbol, loss) == pytest.approx(min(prices))


def test_who_is_known_to_hold_a_pair_is_more_likely_to_pay_with_it() -> None:
    def ready(**known: Any) -> Any:
        table = lay_out(2, hands={1: ["gold/worker", "gold/salesman", "oil/investor"]}, **known)
        out = np.zeros(len(SYMBOLS))
        others_ready_at(table.variant.rulesets, table.states, out)
        assert ((out >= 0) & (out <= 1)).all()
        return dict(zip(SYMBOLS, out, strict=True))

    blind, seeing = ready(), ready(known={1: ["gold/worker", "gold/salesman"]})
    assert seeing["gold"] > blind["gold"]
    assert seeing["gas"] < blind["gas"]
    assert ready(investors={1: ["gold"]})["gold"] > blind["gold"]


def test_in_the_last_turn_three_cards_are_paid_for_a_card_that_lies_there() -> None:
    table = lay_out(
        2, hands={0: ["gold/worker", "gas/salesman", "oil/salesman"]}, row=["gold 6000"], turns_to_end=1, player=0
    )
    played_actions = []
    while table.state.player == 0 and table.state.phase in (CHOOSE, PAYING):
        mask = np.zeros(CARD.num_actions, np.int8)
        engine.legal_at(table.variant.rulesets, table.states, 0, mask)
        played_actions.append(int(heuristic_at(table.variant.rulesets, table.states, 0, mask)))
        table.step(played_actions[-1])
    assert played_actions[0] == CARD_ACTIONS + SYMBOLS.index("gold")
    assert len(played_actions) == 4
    assert min(played_actions[1:]) >= PAY


# ---------------------------------------------------------------- how strong it is


@pytest.mark.parametrize(("players", "share"), [(2, 0.97), (3, 0.8), (4, 0.55)])
def test_the_plan_beats_greedy_at_every_table(players: int, share: float) -> None:
    """An equal agent would win 1/2, 1/3, 1/4; the page tells the exact figures."""
    line = [HeuristicAgent(), *(GreedyAgent() for _ in range(players - 1))]
    results = play_games(CARD.variant(players), line, 900, seed=1)
    assert results.win_rate(0).low > share - 0.03
    assert results.win_rate(0).value > share
