"""Guided search: the compiled one is the slow one, its priors are the policy's, its returns the win shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from siberia_agents.learned import LearnedAgent, Model
from siberia_agents.search import agent as search
from siberia_agents.search import guided, ismcts
from siberia_agents.search.agent import decision_seed
from siberia_agents.search.guided import GuidedAgent
from siberia_env.board.state import PLACE
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.game import GAMES, find_game, is_secret
from siberia_env.view import View, view_state
from tests.games import GameCase
from tests.slow_search import SlowGuided, SlowNode, compare, compare_result
from tests.table import PLAYER_COUNTS
from tests.test_agents import small_model
from tests.test_search import decisions, same

EVERY_TABLE = pytest.mark.parametrize("players", PLAYER_COUNTS)


def calm_model(case: GameCase, players: int, seed: int = 0) -> Model:
    """A model whose policy prefers some actions, but none by far, and that expects some ten thousand dollars."""
    model = small_model(players, seed, case.name)
    return softer(model, policy=0.1, shares=0.1, margins=0.3)


def softer(model: Model, **factors: float) -> Model:
    """The model with heads whose outputs are smaller by these factors."""
    *before, (weight, bias) = model.layers
    factor = np.ones(len(bias), np.float32)
    for name, smaller in factors.items():
        factor[model.head(name)] = smaller
    return replace(model, layers=[*before, (weight * factor, bias * factor)])


def started(view: View, *given: Any, seed: int = 1, **options: Any) -> GuidedAgent:
    """A guided search ready for the view's games."""
    agent = GuidedAgent(*given, **options)
    agent.start(view.variant, seed)
    return agent


def priors_of(view: View, model: Model, temperature: float = 1.0) -> np.ndarray[Any, Any]:
    """The policy's likelihood of each legal action."""
    logits = model.logits(view.observation[None])[0][view.legal_actions].astype(float) / temperature
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def root_priors(agent: GuidedAgent) -> dict[int, float]:
    """The prior of each action in the root of the player who searched."""
    trees = agent._trees[0]
    found, child = {}, int(trees.nodes[trees.root].first)
    while child != ismcts.NONE:
        found[int(trees.nodes[child].edge) % ismcts.MOST_ACTIONS] = float(trees.nodes[child].prior)
        child = int(trees.nodes[child].next)
    return {action: weight / sum(found.values()) for action, weight in found.items()}


# ---------------------------------------------------------------- the algorithm

#: Exploration, first play, temperature, batch, worlds: no two positions are searched with the same.
WAYS = ((1.5, 0.1, 1.0, 1, 0), (0.5, 0.0, 2.0, 4, 1), (3.0, 0.4, 0.7, 16, 3))


def slow_twin(agent: GuidedAgent, view: View, model: Model, seed: int) -> SlowGuided:
    """The slow search that `agent`, started with `seed`, should be equal to."""
    key = decision_seed(seed, view)
    return SlowGuided(
        view.variant,
        view.sample(key),
        view.player,
        key,
        model=model,
        exploration=agent.exploration,
        first_play=agent.first_play,
        temperature=agent.temperature,
        batch=agent.batch,
        worlds=agent.worlds,
        split=agent.split,
    )


def slow_nodes(node: SlowNode) -> Iterator[SlowNode]:
    """`node` and all below it."""
    yield node
    for child in node.children.values():
        yield from slow_nodes(child)


@EVERY_TABLE
@pytest.mark.parametrize("split", [True, False])
def test_every_node_is_that_of_a_slow_search(case: GameCase, players: int, split: bool) -> None:
    model = calm_model(case, players)
    views = decisions(case.game, players, 4, case.short)
    if case.game.has_secrets:
        views += decisions(case.game, players, 3, case.short, secret=True)
    elif not split:
        return
    for way, view in enumerate(views):
        exploration, first_play, temperature, batch, worlds = WAYS[way % len(WAYS)]
        agent = started(view, 300, model, exploration, first_play, temperature, worlds, split, batch, seed=way)
        result = agent.search(view)
        slow = slow_twin(agent, view, model, way)
        for end in (*range(search.CHUNK, 300, search.CHUNK), 300):  # the search looks at the clock in between
            slow.simulate_up_to(end)
        compare(agent, slow, exact=False)
        compare_result(result, slow)
        assert result.decisions == slow.decisions
        for action, visits, shares, margins in zip(
            result.actions, result.visits, result.win_shares, result.scores, strict=True
        ):
            total = slow.root_children()[int(action)].total
            assert shares[view.player] * visits == pytest.approx(total, rel=1e-4)
            if visits:
                assert margins == pytest.approx(np.mean(slow.margins[int(action)], axis=0), rel=1e-3, abs=1e-3)


@EVERY_TABLE
def test_priors_are_the_policys_likelihoods(case: GameCase, players: int) -> None:
    model = calm_model(case, players)
    for temperature in (1.0, 3.0):
        for view in decisions(case.game, players, 3, case.medium):
            agent = started(view, 1, model, temperature=temperature)
            result = agent.search(view)
            assert result.visits.sum() == 0  # the first simulation looks at the root
            priors = root_priors(agent)
            assert sorted(priors) == view.legal_actions
            expected = priors_of(view, model, temperature)
            assert [priors[action] for action in view.legal_actions] == pytest.approx(expected, rel=1e-4)


@EVERY_TABLE
def test_with_much_exploration_visits_follow_the_priors(case: GameCase, players: int) -> None:
    """The highest prior / (1 + visits) is next: seats by the method of D'Hondt."""
    model = calm_model(case, players)
    for view in decisions(case.game, players, 3, case.medium):
        result = started(view, 101, model, exploration=1e9, temperature=1.0).search(view)
        priors = priors_of(view, model)
        visits = Counter[int]()
        for _ in range(100):
            visits[int(np.argmax([prior / (1 + visits[seat]) for seat, prior in enumerate(priors)]))] += 1
        found = dict(zip(result.actions.tolist(), result.visits.tolist(), strict=True))
        assert [found[action] for action in view.legal_actions] == [visits[seat] for seat in range(len(priors))]


@EVERY_TABLE
def test_without_exploration_the_policy_has_no_say(case: GameCase, players: int) -> None:
    one = calm_model(case, players, 1)
    *before, (weight, bias) = one.layers
    weight, bias, policy = weight.copy(), bias.copy(), one.head("policy")
    weight[:, policy], bias[policy] = -weight[:, policy], -bias[policy]
    other = replace(one, layers=[*before, (weight, bias)])
    views = decisions(case.game, players, 3, case.medium)
    if case.game.has_secrets:  # else the others' secret decisions would be the policy's
        views = [view for view in views if not is_secret(view.variant.rulesets[0], view.representative[0])]
    assert views
    for view in views:
        by_one, by_other = (
            started(view, 200, model, exploration=0.0, first_play=0.0).search(view) for model in (one, other)
        )
        assert same(by_one, by_other)
        assert not same(by_one, started(view, 200, other, exploration=2.0, first_play=0.0).search(view))


@EVERY_TABLE
def test_expected_margins_sum_to_zero_and_returns_to_one(case: GameCase, players: int) -> None:
    for view in decisions(case.game, players, 4, case.medium):
        result = started(view, 150, calm_model(case, players)).search(view)
        visited = result.visits > 0
        assert visited.any()
        assert result.scores[visited].sum(axis=1) == pytest.approx(0, abs=1e-3)
        assert np.ptp(result.scores[visited]) > 1
        assert result.win_shares[visited].sum(axis=1) == pytest.approx(1)


@EVERY_TABLE
def test_returns_are_the_shares_that_the_searching_player_expects(case: GameCase, players: int) -> None:
    """The second simulation takes the likeliest action and ends at the player's next decision with a choice."""
    model = calm_model(case, players)
    for view in decisions(case.game, players, 4, case.medium):
        agent = started(view, 2, model)
        result = agent.search(view)
        slow = slow_twin(agent, view, model, 1)
        slow.simulate_up_to(2)
        (margins,) = slow.margins[int(result.actions[0])]
        assert result.scores[0] == pytest.approx(margins, rel=1e-4, abs=1e-4)
        if slow.over:
            expected = slow.final_shares()
        else:
            assert slow.mover == view.player
            shares = model.shares(slow.observation(), players)[0]
            expected = [float(shares[(seat - slow.mover) % players]) for seat in range(players)]
        assert result.win_shares[0] == pytest.approx(expected, rel=1e-4)


@EVERY_TABLE
def test_who_is_on_turn_next_makes_no_difference_by_itself(case: GameCase, players: int) -> None:
    """A network that expects much for whoever is on turn, and nothing else, gives all actions the same return."""
    silent = softer(calm_model(case, players), shares=0)
    *before, (weight, bias) = silent.layers
    bias = bias.copy()
    bias[silent.head("shares").start] = 2.0
    partial = replace(silent, layers=[*before, (weight, bias)])
    expected = np.exp(2.0) / (np.exp(2.0) + players - 1)
    for view in decisions(case.game, players, 6, case.medium)[:3]:  # far from the end
        result = started(view, 100, partial).search(view)
        assert result.win_shares[result.visits > 0, view.player] == pytest.approx(expected, rel=1e-4)


@EVERY_TABLE
def test_a_network_that_says_nothing_leaves_all_equal(case: GameCase, players: int) -> None:
    """Weights of zero: all actions are equally likely, and so are all winners."""
    silent = softer(calm_model(case, players), policy=0, shares=0, margins=0)
    view = decisions(case.game, players, 8, case.medium)[5]
    agent = started(view, 2, silent)
    result = agent.search(view)
    assert list(root_priors(agent).values()) == pytest.approx(len(view.legal_actions) * [1 / len(view.legal_actions)])
    assert result.win_shares[0] == pytest.approx(players * [1 / players])
    assert result.scores[0] == pytest.approx(players * [0], abs=1e-6)


def forced_course(case: GameCase, players: int) -> tuple[View, int]:
    """A decision of a game and an action after which exactly one other is legal."""
    for view in decisions(case.game, players, 40, case.medium):
        for action in view.legal_actions:
            position = SlowGuided(
                view.variant,
                view.sample(0),
                view.player,
                0,
                model=calm_model(case, players),
                exploration=0.0,
                first_play=0.0,
                temperature=1.0,
                batch=1,
            )
            position.states[0] = view.sample(0)[0]
            position.step(action)
            if not position.over and len(position.legal()) == 1:
                return view, action
    raise AssertionError("no forced decision found")


@EVERY_TABLE
def test_a_forced_move_is_taken_without_a_look_at_it(case: GameCase, players: int) -> None:
    """So the second simulation goes on beyond it, and its node keeps no logits."""
    view, action = forced_course(case, players)
    model = calm_model(case, players)
    *before, (weight, bias) = model.layers
    bias = bias.copy()
    bias[action] += 50  # so that the search begins with this action
    agent = started(view, 2, replace(model, layers=[*before, (weight, bias)]))
    result = agent.search(view)
    assert result.actions[0] == action
    assert result.decisions >= 2
    trees = agent._trees[0]
    slow = slow_twin(agent, view, agent.policy.model, 1)
    slow.simulate_up_to(2)
    # Row 0 is of no node; the root's; one for each decision of others after the forced one; the player's next.
    assert trees.logits_used[0] == 1 + sum(node.logits is not None for root in slow.roots for node in slow_nodes(root))
    assert trees.logits_used[0] >= 3
    child = trees.nodes[trees.root].first
    while trees.nodes[child].visits == 0:
        child = trees.nodes[child].next
    assert trees.nodes[child].available <= 1


@EVERY_TABLE
def test_without_room_for_logits_the_search_goes_on(
    case: GameCase, players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes that keep none are looked at again when other actions become legal. Visits stay those of every search."""
    model = calm_model(case, players)
    views = decisions(case.game, players, 3, case.medium)
    free = [started(view, 300, model, worlds=1).search(view) for view in views]
    for name in ("LOGITS_AT_START", "MOST_LOGITS"):
        monkeypatch.setattr(guided, name, 8 if name == "LOGITS_AT_START" else 8 * (case.game.num_actions + 2))
    kept = []
    for view, wide in zip(views, free, strict=True):
        agent = started(view, 300, model, worlds=1)
        narrow = agent.search(view)
        assert narrow.visits.sum() == wide.visits.sum() == 299
        assert len(agent._trees[0].logits) == 8
        kept.append(int(agent._trees[0].logits_used[0]))
    assert max(kept) == 8


def test_logits_that_outgrow_their_room_change_nothing(case: GameCase, monkeypatch: pytest.MonkeyPatch) -> None:
    model = calm_model(case, 3)
    (view,) = decisions(case.game, 3, 1, case.medium)
    expected = started(view, 500, model).search(view)
    monkeypatch.setattr(guided, "LOGITS_AT_START", 2)
    grown = started(view, 500, model)
    assert same(grown.search(view), expected)
    assert len(grown._trees[0].logits) > 100


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_others_place_in_secret_as_the_policy_would(players: int) -> None:
    """A policy that always places at research leaves nothing of the others' counters on their panels."""
    board = find_game("board")
    views = [view for view in decisions(board, players, 60, secret=True) if view.representative[0].start != view.player]
    assert views
    research = next(number for number, name in enumerate(views[0].variant.action_names) if name == "place research")
    model = small_model(players, 0, "board")
    *before, (weight, bias) = model.layers
    weight, bias = weight * np.float32(0), bias * np.float32(0)
    bias[research] = 80
    for view in views[:4]:
        agent = started(view, 6, replace(model, layers=[*before, (weight, bias)]), batch=4)
        agent.search(view)
        for world in agent._trees[0].states[1:2]:
            placed = [other for other in range(players) if other != view.player and world.phase == PLACE]
            for other in placed:
                assert not world.planned[other].any()


# ---------------------------------------------------------------- the promises of every search


@EVERY_TABLE
def test_the_same_view_gets_the_same_search_whatever_was_asked_before(case: GameCase, players: int) -> None:
    model = calm_model(case, players)
    views = decisions(case.game, players, 3, case.medium)
    fresh = [started(view, 150, model, seed=7).search(view) for view in views]
    agent = started(views[0], 150, model, seed=7)
    for view, expected in zip(reversed(views), reversed(fresh), strict=True):
        agent.act(views[0])
        assert same(agent.search(view), expected)
        assert agent.act(view) == expected.actions[0]
        assert expected.visits.sum() == expected.simulations - 1 == 149


@EVERY_TABLE
def test_hidden_cards_and_plans_are_out_of_reach(case: GameCase, players: int) -> None:
    model = calm_model(case, players)
    for view in decisions(case.game, players, 3, case.medium):
        truths = [view.sample(100 + other) for other in range(2)]
        before = [truth.tobytes() for truth in truths]
        assert before[0] != before[1]
        results = [started(view, 100, model).search(view_state(view.variant, truth, 0)) for truth in truths]
        assert same(*results)
        assert [truth.tobytes() for truth in truths] == before


def test_arrays_that_grow_change_nothing(case: GameCase, monkeypatch: pytest.MonkeyPatch) -> None:
    model = calm_model(case, 3)
    (view,) = decisions(case.game, 3, 1, case.medium)
    expected = started(view, 500, model).search(view)
    monkeypatch.setattr(search, "NODES_AT_START", 4)
    grown = started(view, 500, model)
    assert same(grown.search(view), expected)
    assert len(grown._trees[0].nodes) > 500


def test_threads_share_the_budget(case: GameCase) -> None:
    (view,) = decisions(case.game, 2, 1, case.medium)
    agent = started(view, 300, calm_model(case, 2), threads=2)
    result = agent.search(view)
    assert result.simulations == 300
    assert result.visits.sum() == 298
    assert same(agent.search(view), result)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("game", GAMES)
def test_a_model_of_another_game_or_player_count_is_refused(game: str) -> None:
    agent = GuidedAgent(100, small_model(2, game=game))
    (other,) = set(GAMES) - {game}
    with pytest.raises(ModelError, match=f"game {game}, the games to be played have game {other}"):
        agent.start(find_game(other).variant(2))
    with pytest.raises(ModelError, match="players 2, the games to be played have players 3"):
        agent.start(find_game(game).variant(3))
    agent.start(find_game(game).variant(2))
    (of_three,) = decisions(find_game(game), 3, 1)
    with pytest.raises(ModelError, match="players 2"):
        agent.search(of_three)


@pytest.mark.parametrize("lacking", ["shares", "margins"])
def test_a_model_that_says_nothing_of_the_end_is_refused(lacking: str) -> None:
    model = small_model(2)
    heads = {name: size for name, size in model.heads.items() if name != lacking}
    *before, (weight, bias) = model.layers
    keep = np.ones(len(bias), np.bool_)
    keep[model.head(lacking)] = False
    other = replace(model, layers=[*before, (weight[:, keep], bias[keep])], heads=heads)
    with pytest.raises(ModelError, match=f"model: it says nothing of {lacking}; train one with this version"):
        GuidedAgent(100, other).start(find_game("card").variant(2))
    LearnedAgent(other).start(find_game("card").variant(2))


def test_a_model_file_that_is_none_is_refused() -> None:
    with pytest.raises(ModelError, match="there is no file"):
        GuidedAgent(100, "nowhere.npz")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exploration": -1}, "search exploration: -1; a number from 0 on"),
        ({"first_play": -0.1}, "search first_play: -0.1; a number from 0 on"),
        ({"first_play": "none"}, "search first_play: 'none'; a number from 0 on"),
        ({"temperature": 0}, "search temperature: 0; a number above 0"),
        ({"temperature": float("nan")}, "search temperature: nan; a number above 0"),
        ({"worlds": -1}, "search worlds: -1; a whole number from 0 on"),
        ({"worlds": 0.5}, "search worlds: 0.5; a whole number from 0 on"),
        ({"batch": 0}, "search batch: 0; a whole number from 1 to 64"),
        ({"batch": 65}, "search batch: 65; a whole number from 1 to 64"),
        ({"batch": True}, "search batch: True; a whole number from 1 to 64"),
        ({"threads": 0}, "search threads: 0; a whole number from 1 on"),
        ({"budget": 0}, "search budget: 0; at least 1 simulation"),
        ({"budget": "0s"}, "search budget: 0s; more than 0 seconds"),
    ],
)
def test_options_that_there_are_none_of_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        GuidedAgent(**{"budget": 100, "model": small_model(), **options})
    assert message in str(raised.value)


def test_the_policy_of_a_guided_search_is_a_learned_agents() -> None:
    model = small_model()
    assert GuidedAgent(1, model).policy.model is LearnedAgent(model).model


@pytest.mark.parametrize(("budget", "threads"), [(1, 1), (3, 4)])
def test_where_only_the_root_is_looked_at_the_policy_plays(case: GameCase, budget: int, threads: int) -> None:
    model = calm_model(case, 2)
    for view in decisions(case.game, 2, 3, case.medium):
        policy = LearnedAgent(model)
        policy.start(view.variant)
        assert GuidedAgent(budget, model, threads=threads).act(view) == policy.act(view)
