"""Search: the compiled one is the slow one to the last visit, it keeps its promises, and it refuses bad options."""

from __future__ import annotations

from dataclasses import fields
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_agents.random_agent import RandomAgent
from siberia_agents.search import agent as search
from siberia_agents.search import ismcts
from siberia_agents.search.agent import SearchAgent, SearchResult, decision_seed
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError
from siberia_env.game import Game, Variant, is_secret
from siberia_env.view import View, view_state
from siberia_experiments.match import play_games
from tests.board.helpers import Table as BoardTable
from tests.board.helpers import lay_out as lay_out_board
from tests.board.test_rules import SIX, about_to
from tests.card.helpers import lay_out as lay_out_cards
from tests.games import GameCase, positions
from tests.slow_search import SlowPlain, compare, compare_result, slow_returns
from tests.table import PLAYER_COUNTS, GameTable

EVERY_TABLE = pytest.mark.parametrize("players", PLAYER_COUNTS)


def decisions(game: Game, players: int, number: int, rules: Any = None, secret: bool | None = None) -> list[View]:
    """Decisions with a choice, spread over a game at random; with `secret` only those that are (or aren't)."""
    variant, states = positions(game, players, seed=players, rules=rules)
    found = []
    for state in states[:-1]:
        if not engine.is_chance_at(variant.rulesets, state, 0) and secret in (
            None,
            is_secret(variant.rulesets[0], state[0]),
        ):
            view = view_state(variant, state, 0)
            if len(view.legal_actions) > 1:
                found.append(view)
    return [found[index] for index in np.linspace(0, len(found) - 1, number).astype(int)]


def started(variant: Variant, *given: Any, seed: int = 1, **options: Any) -> SearchAgent:
    """A search agent ready for games of `variant`."""
    agent = SearchAgent(*given, **options)
    agent.start(variant, seed)
    return agent


def same(one: SearchResult, other: SearchResult) -> bool:
    """Whether two searches found the same; they may have taken different times."""
    names = [field.name for field in fields(SearchResult) if field.name != "seconds"]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


# ---------------------------------------------------------------- the algorithm

#: Exploration, playout, returns, scale: no two positions are searched with the same.
WAYS = (
    (0.7, "random", "win", 10.0),
    (0.2, "greedy", "margin", 3.0),
    (1.4, "random", "both", 25.0),
    (0.5, "heuristic", "win", 10.0),
)


def check_against_the_slow_search(view: View, simulations: int, way: int, split: bool) -> None:
    """Search `view` both ways."""
    exploration, playout, returns, scale = WAYS[way % len(WAYS)]
    agent = started(view.variant, simulations, exploration, playout, returns, scale, split, seed=way)
    result = agent.search(view)
    seed = decision_seed(way, view)
    slow = SlowPlain(
        view.variant,
        view.sample(seed),
        view.player,
        seed,
        exploration=exploration,
        playout=playout,
        returns=returns,
        margin_scale=scale,
        split=split,
    )
    for _ in range(simulations):
        slow.simulate()
    compare(agent, slow)
    compare_result(result, slow)
    assert result.decisions == slow.decisions
    for action, visits, means, shares in zip(
        result.actions, result.visits, result.scores, result.win_shares, strict=True
    ):
        finals = slow.points.get(int(action), [])
        assert len(finals) == visits
        if finals:
            assert means == pytest.approx(np.mean(finals, axis=0))
            assert shares == pytest.approx(np.mean([slow_returns("win", 1.0, points) for points in finals], axis=0))


@EVERY_TABLE
def test_every_node_is_that_of_a_slow_search(case: GameCase, players: int) -> None:
    for number, view in enumerate(decisions(case.game, players, 5, case.short)):
        check_against_the_slow_search(view, 150, number, split=True)


@EVERY_TABLE
@pytest.mark.parametrize("split", [True, False])
def test_secret_decisions_are_searched_as_the_slow_search_does(players: int, split: bool) -> None:
    game = BoardTable.game
    for number, view in enumerate(decisions(game, players, 4, {"max_rounds": 2}, secret=True)):
        check_against_the_slow_search(view, 150, number, split)
    # The last counters of all, so that the tree goes beyond what is then shown.
    (last,) = decisions(game, players, 1, {"max_rounds": 1, "sides": "random"}, secret=True)
    table = BoardTable(last.variant)
    table.states[0] = last.sample(1)[0]
    while table.state.placed < 4 or table.player != players - 1:
        table.play(table.legal()[-1])
    check_against_the_slow_search(view_state(table.variant, table.states, 0), 300, 1, split)


@settings(max_examples=200)
@given(st.lists(st.integers(-5, 300), min_size=2, max_size=4), st.sampled_from(ismcts.RETURNS), st.floats(0.5, 100))
def test_returns_are_what_their_names_say(points: list[int], kind: str, scale: float) -> None:
    returns = np.full(4, np.nan)
    ismcts.book_returns(ismcts.RETURNS.index(kind), scale, np.array(points), len(points), returns)
    assert returns[: len(points)].tolist() == pytest.approx(slow_returns(kind, scale, points))
    assert np.isnan(returns[len(points) :]).all()
    assert 0 <= returns[: len(points)].min() <= returns[: len(points)].max() <= 1
    if kind == "win" or len(points) == 2:
        assert returns[: len(points)].sum() == pytest.approx(1)


@EVERY_TABLE
def test_every_action_is_tried_before_any_is_tried_twice(case: GameCase, players: int) -> None:
    for view in decisions(case.game, players, 4, case.medium):
        legal = view.legal_actions
        for simulations in (1, len(legal) - 1, len(legal), len(legal) + 1):
            result = started(view.variant, simulations).search(view)
            assert sorted(result.actions) == legal
            assert result.visits.sum() == result.simulations == simulations
            assert result.visits.max() == max(1, simulations - len(legal) + 1)


@EVERY_TABLE
def test_visits_add_up_and_rank_the_actions(case: GameCase, players: int) -> None:
    for view in decisions(case.game, players, 3, case.medium):
        result = started(view.variant, 300).search(view)
        assert result.visits.sum() == result.simulations == 300
        assert np.all(np.diff(result.visits) <= 0)
        assert result.scores.shape == result.win_shares.shape == (len(view.legal_actions), players)
        assert result.win_shares[result.visits > 0].sum(axis=1) == pytest.approx(1)
        assert result.seconds > 0
        assert result.decisions >= 300


# ---------------------------------------------------------------- what players see


def edges(trees: search.Tree, node: int) -> dict[int, int]:
    """Where each edge of a node leads."""
    found, child = {}, int(trees.nodes[node].first)
    while child != ismcts.NONE:
        found[int(trees.nodes[child].edge)] = child
        child = int(trees.nodes[child].next)
    return found


def all_edges(trees: search.Tree) -> set[int]:
    """Every edge of every tree."""
    return {int(edge) for edge in trees.nodes["edge"][trees.trees : trees.used[0]]}


@pytest.mark.parametrize("split", [True, False])
@EVERY_TABLE
def test_another_players_placing_is_one_edge_and_what_is_shown_then_splits_the_trees(players: int, split: bool) -> None:
    table = lay_out_board(players, drawn={0: SIX})
    while table.player != players - 1 or table.state.placed < 5:
        table.play(table.legal()[-1])
    view = view_state(table.variant, table.states, 0)
    assert len(view.legal_actions) > 1
    agent = started(view.variant, 200, split=split)
    result = agent.search(view)
    trees = agent._trees[0]
    own = edges(trees, view.player)
    assert set(own) == {view.player * ismcts.MOST_ACTIONS + action for action in view.legal_actions}
    for other in range(players - 1):
        ((edge, after),) = edges(trees, other).items()
        assert edge == ismcts.UNSEEN
        assert trees.nodes[after].visits == 200
        shown = edges(trees, after)
        if split:  # what the searching player placed: they know its other placings, and it knows its counters
            assert all(edge <= ismcts.SHOWN for edge in shown)
            if players == 2:
                assert sorted(trees.nodes[child].visits for child in shown.values()) == sorted(result.visits)
            else:
                assert len(shown) > len(view.legal_actions)
        else:
            assert all(edge >= 0 for edge in shown)
    after_own = [edge for child in own.values() for edge in edges(trees, child)]
    assert all((edge <= ismcts.SHOWN) == split for edge in after_own)


@EVERY_TABLE
def test_a_game_without_secrets_has_one_tree(players: int) -> None:
    movers = set()
    for view in decisions(lay_out_cards().game, players, 4):
        agent = started(view.variant, 300)
        agent.search(view)
        (trees,) = agent._trees
        assert trees.trees == 1
        movers |= {edge // ismcts.MOST_ACTIONS for edge in all_edges(trees)}
    assert movers <= set(range(players))
    assert len(movers) > 1


def test_what_is_shown_has_an_edge_whatever_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    table = lay_out_board(2, drawn={0: SIX})
    while table.player != 1 or table.state.placed < 5:
        table.play("place research")
    nodes, used = np.zeros(64, ismcts.NODE), np.zeros(1, np.int64)
    ismcts.plant(nodes, used, 2)
    paths, movers = np.zeros((2, ismcts.DEEPEST), np.int32), np.zeros(ismcts.DEEPEST, np.int8)
    for number, nodes_used in ((2**31 - 1, 6), (2**31 - 1, 6), (0, 8), (2**31 - 1, 8)):
        monkeypatch.setattr(ismcts, "revealed_hash", lambda ruleset, state, player, number=number: number)
        after = table.copy()
        ismcts.take.py_func(
            after.variant.rulesets[0],
            after.state,
            after.variant.action_number("place research"),
            2,
            True,
            nodes,
            used,
            np.arange(2),
            paths,
            movers,
            0,
        )
        assert used[0] == nodes_used
        assert nodes["edge"][4] <= ismcts.SHOWN


@EVERY_TABLE
def test_hidden_cards_and_plans_are_out_of_reach(case: GameCase, players: int) -> None:
    """Two true states that the player can't tell apart: the same search. And neither is changed by it."""
    views = decisions(case.game, players, 4, case.medium)
    for number, view in enumerate(views):
        truths = [view.sample(100 + other) for other in range(2)]
        assert truths[0].tobytes() != truths[1].tobytes()
        before = [truth.tobytes() for truth in truths]
        results = [started(view.variant, 200).search(view_state(view.variant, truth, 0)) for truth in truths]
        assert same(*results), number
        assert [truth.tobytes() for truth in truths] == before


# ---------------------------------------------------------------- the same again


@EVERY_TABLE
def test_the_same_view_gets_the_same_search_whatever_was_asked_before(case: GameCase, players: int) -> None:
    views = decisions(case.game, players, 4, case.medium)
    variant = views[0].variant
    fresh = [started(variant, 200, seed=7).search(view) for view in views]
    agent = started(variant, 200, seed=7)
    for turn in (0, 1):
        if turn:
            agent.start(variant, 7)
        for view, expected in zip(reversed(views), reversed(fresh), strict=True):
            agent.act(views[0])
            assert same(agent.search(view), expected)
            assert agent.act(view) == expected.actions[0]
    others = [started(variant, 200, seed=8).search(view) for view in views]
    assert not all(same(one, other) for one, other in zip(fresh, others, strict=True))


def test_equal_seeds_are_not_the_same_searches_of_different_views(case: GameCase) -> None:
    views = decisions(case.game, 2, 6, case.medium)
    assert len({decision_seed(3, view) for view in views}) == len(views)
    assert len({decision_seed(seed, views[0]) for seed in range(-3, 4)}) == 7
    assert all(0 <= decision_seed(seed, views[0]) < 2**64 for seed in (0, -1, 2**64 - 1, 2**70))


@EVERY_TABLE
def test_stopping_early_never_changes_the_move(case: GameCase, players: int) -> None:
    saved = 0
    for view in decisions(case.game, players, 8, case.medium):
        agent = started(view.variant, 500)
        chosen = agent.act(view)
        spent = agent._trees[0].done
        assert spent % search.CHUNK == 0 or spent == 500
        saved += 500 - spent
        assert chosen == agent.search(view).actions[0]
        assert agent._trees[0].done == 500
    assert saved > 0


def test_a_single_legal_action_is_taken_without_a_search(case: GameCase) -> None:
    variant, states = positions(case.game, 2, 3, case.medium)
    for state in states[:-1]:
        if not engine.is_chance_at(variant.rulesets, state, 0):
            view = view_state(variant, state, 0)
            if len(view.legal_actions) == 1:
                break
    agent = started(variant, 10**8)
    assert [agent.act(view)] == view.legal_actions
    assert agent._trees[0].done == 0
    assert started(variant, 5).search(view).visits.tolist() == [5]


@EVERY_TABLE
def test_arrays_that_grow_change_nothing(case: GameCase, players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for view in decisions(case.game, players, 2, case.medium):
        whole = started(view.variant, 1000)
        expected = whole.search(view)
        monkeypatch.setattr(search, "NODES_AT_START", players)
        grown = started(view.variant, 1000)
        assert same(grown.search(view), expected)
        monkeypatch.undo()
        one, other = whole._trees[0], grown._trees[0]
        assert one.used == other.used
        assert one.used > one.trees
        assert one.nodes[: one.used[0]].tobytes() == other.nodes[: other.used[0]].tobytes()
        assert one.nodes.dtype == other.nodes.dtype
        assert same(grown.search(view), expected)


# ---------------------------------------------------------------- time and threads


@pytest.mark.parametrize(("budget", "chunks"), [("0.1s", 9), ("0.001s", 1), ("1e-9s", 1)])
def test_a_budget_in_seconds_ends_by_the_clock(
    case: GameCase, budget: str, chunks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at this clock takes a hundredth of a second."""
    (view,) = decisions(case.game, 2, 1, case.medium)
    agent = started(view.variant, budget)
    ticks = count()
    monkeypatch.setattr(search, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 100))
    result = agent.search(view)
    assert result.simulations == result.visits.sum() == chunks * search.CHUNK
    assert result.seconds == pytest.approx((chunks + 2) / 100)


def test_threads_share_the_budget_and_add_up(case: GameCase) -> None:
    (view,) = decisions(case.game, 3, 1, case.medium)
    agent = started(view.variant, 600, threads=3)
    result = agent.search(view)
    assert [trees.done for trees in agent._trees] == [200] * 3
    assert result.simulations == result.visits.sum() == 600
    visits = np.zeros((3, len(view.mask)), np.int64)
    for row, trees in zip(visits, agent._trees, strict=True):
        ismcts.root_visits(trees.nodes, trees.root, row)
    assert np.array_equal(visits.sum(axis=0)[result.actions], result.visits)
    assert len({row.tobytes() for row in visits}) == 3  # each with chance of its own
    alone = started(view.variant, 200).search(view)
    assert np.array_equal(visits[0][alone.actions], alone.visits)
    assert same(agent.search(view), result)
    assert agent.act(view) == result.actions[0]


# ---------------------------------------------------------------- strength


def best_move(table: GameTable, simulations: int = 300, **options: Any) -> str:
    """What a search of the position at hand plays, by name."""
    names = table.variant.names_in_play(table.states, 0)
    return names[started(table.variant, simulations, **options).act(view_state(table.variant, table.states, 0))]


@pytest.mark.parametrize("returns", ismcts.RETURNS)
def test_the_only_winning_action_of_the_last_turn_is_found(returns: str) -> None:
    cards = lay_out_cards(
        hands={0: ["gold/worker", "gold/salesman", "gas/investor", "gas/worker", "oil/investor", "oil/worker"]},
        row=["gas 1000", "oil 2000", "gold 5000"],
        captured={1: ["gold 4000"]},
        turns_to_end=1,
    )
    assert len(cards.legal()) > 5
    assert best_move(cards, returns=returns) == "mine gold"
    board = about_to(
        "gas",
        panels={0: {"oil": ["oil/worker", "oil/investor"]}},
        rules={"max_rounds": 1},
        areas={"Amur": ["gas", "oil"]},
        workers={0: ["Amur"]},
        salesmen={0: ["Frankfurt"]},
        money={1: 1},
    )
    assert {"act gas", "act oil", "pass"} <= set(board.legal())
    assert best_move(board, returns=returns) != "pass"


def test_a_search_of_100_simulations_beats_random_play(case: GameCase) -> None:
    variant = case.game.variant(2, case.medium)
    results = play_games(variant, [SearchAgent(100), RandomAgent()], 6, seed=1)
    assert results.win_rate(0).value >= 0.8


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "budget",
    ["0", "-5", "x", "", "1.5", "1e3", "0s", "-1s", "nans", "nan s", "infs", "inf", "s", "1ms", 0, -3, 2.5, None, True],
)
def test_budgets_that_are_none_are_refused(budget: Any) -> None:
    with pytest.raises(ConfigurationError) as raised:
        SearchAgent(budget)
    text = str(raised.value)
    assert text.startswith("search budget: ")
    assert str(budget) in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exploration": -0.1}, "search exploration: -0.1; a number from 0 on"),
        ({"exploration": float("nan")}, "search exploration: nan; a number from 0 on"),
        ({"exploration": float("inf")}, "search exploration: inf; a number from 0 on"),
        ({"exploration": "much"}, "search exploration: 'much'; a number from 0 on"),
        ({"scale": 0}, "search scale: 0; a number above 0"),
        ({"scale": -3.0}, "search scale: -3.0; a number above 0"),
        ({"playout": "clever"}, "search playout: no 'clever'; there are random, greedy, heuristic"),
        ({"returns": "score"}, "search returns: no 'score'; there are win, margin, both"),
        ({"returns": None}, "search returns: no None; there are win, margin, both"),
        ({"threads": 0}, "search threads: 0; a whole number from 1 on"),
        ({"threads": -2}, "search threads: -2; a whole number from 1 on"),
        ({"threads": 1.5}, "search threads: 1.5; a whole number from 1 on"),
        ({"threads": True}, "search threads: True; a whole number from 1 on"),
    ],
)
def test_options_that_there_are_none_of_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        SearchAgent(100, **options)
    assert message in str(raised.value)


def test_numbers_are_numbers_whatever_their_kind(case: GameCase) -> None:
    (view,) = decisions(case.game, 2, 1, case.medium)
    found = started(view.variant, 100, exploration=1.0, scale=10.0).search(view)
    compiled = len(ismcts.grow.signatures)
    assert same(started(view.variant, 100, exploration=1, scale=10, split=np.True_).search(view), found)
    assert len(ismcts.grow.signatures) == compiled  # nothing has been compiled for another kind of number


def test_an_agent_gets_ready_for_the_games_it_is_shown(case: GameCase) -> None:
    """Never started, or for another number of players: a search of too small arrays would write beyond them."""
    (of_two,), (of_four,) = (decisions(case.game, players, 1, case.medium) for players in (2, 4))
    agent = SearchAgent(100)
    assert same(agent.search(of_two), started(of_two.variant, 100, seed=0).search(of_two))
    assert same(agent.search(of_four), started(of_four.variant, 100, seed=0).search(of_four))
