"""Guided search: the compiled one is the slow one, its prior is the policy, its value the model's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from siberia_agents.learned import LearnedAgent, Model
from siberia_agents.search import agent as search
from siberia_agents.search import ismcts
from siberia_agents.search.agent import decision_seed
from siberia_agents.search.guided import GuidedAgent
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.game import GAMES, find_game
from siberia_env.view import View, view_state
from tests.games import GameCase
from tests.slow_search import SlowGuided, compare, compare_result
from tests.table import PLAYER_COUNTS
from tests.test_agents import small_model
from tests.test_search import decisions, same

EVERY_TABLE = pytest.mark.parametrize("players", PLAYER_COUNTS)


def calm_model(case: GameCase, players: int, seed: int = 0) -> Model:
    """A model whose policy prefers some actions, but none by far, and whose values are some ten thousand dollars."""
    model = small_model(players, seed, case.name)
    return replace(model, policy=softer(model.policy, 0.1), value=softer(model.value, 0.3))


def softer(layers: Any, factor: float) -> Any:
    """The layers with outputs that are smaller by `factor`."""
    *before, (weight, bias) = layers
    return [*before, (weight * np.float32(factor), bias * np.float32(factor))]


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
    return found


# ---------------------------------------------------------------- the algorithm

#: Exploration, first play, temperature, scale: no two positions are searched with the same.
WAYS = ((1.5, 0.1, 1.0, 10.0), (0.5, 0.0, 2.0, 30.0), (3.0, 0.4, 0.7, 5.0))


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
        exploration, first_play, temperature, scale = WAYS[way % len(WAYS)]
        agent = started(view, 120, model, exploration, first_play, temperature, scale, split, seed=way)
        result = agent.search(view)
        seed = decision_seed(way, view)
        slow = SlowGuided(
            view.variant,
            view.sample(seed),
            view.player,
            seed,
            model=model,
            exploration=exploration,
            first_play=first_play,
            temperature=temperature,
            margin_scale=scale,
            split=split,
        )
        for _ in range(120):
            slow.simulate()
        compare(agent, slow, exact=False)
        compare_result(result, slow)
        assert result.decisions == slow.decisions
        for action, visits, shares in zip(result.actions, result.visits, result.win_shares, strict=True):
            total = slow.root_children()[int(action)].total
            assert shares[view.player] * visits == pytest.approx(total, rel=1e-4)


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
    one, other = calm_model(case, players, 1), calm_model(case, players, 2)
    other = replace(other, value=one.value)
    for view in decisions(case.game, players, 3, case.medium):
        by_one, by_other = (
            started(view, 200, model, exploration=0.0, first_play=0.0).search(view) for model in (one, other)
        )
        assert same(by_one, by_other)
        assert not same(by_one, started(view, 200, other, exploration=2.0, first_play=0.0).search(view))


def test_of_two_players_one_expects_what_the_other_loses(case: GameCase) -> None:
    for view in decisions(case.game, 2, 4, case.medium):
        result = started(view, 150, calm_model(case, 2)).search(view)
        visited = result.visits > 0
        assert visited.any()
        assert result.scores[visited].sum(axis=1) == pytest.approx(0, abs=1e-3)
        assert result.win_shares[visited].sum(axis=1) == pytest.approx(1)
        assert np.array_equal(result.win_shares > 0.5, result.scores > 0)


@EVERY_TABLE
def test_without_networks_that_say_anything_the_standing_counts(case: GameCase, players: int) -> None:
    """Weights of zero: all actions are equally likely, and nothing more is expected."""
    model = calm_model(case, players)
    silent = replace(model, policy=softer(model.policy, 0), value=softer(model.value, 0))
    view = decisions(case.game, players, 8, case.medium)[5]
    agent = started(view, 2, silent)
    result = agent.search(view)
    assert set(root_priors(agent).values()) == {np.float32(1 / len(view.legal_actions))}
    slow = SlowGuided(
        view.variant,
        view.sample(0),
        view.player,
        0,
        model=silent,
        exploration=1.0,
        first_play=0.0,
        temperature=1.0,
        margin_scale=10.0,
    )
    slow.states[0] = view.sample(0)[0]
    slow.step(int(result.actions[0]))
    assert result.scores[0] == pytest.approx([10 * margin for margin in slow.standing()], abs=1e-4)


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


def test_a_model_whose_values_are_not_margins_is_refused() -> None:
    model = small_model(2)
    for options in ({"reward": "win"}, {"shaped": False}):
        other = replace(model, trained={**model.trained, "options": options})
        with pytest.raises(ModelError, match="values are not of the margin still to come"):
            GuidedAgent(100, other).start(find_game("card").variant(2))


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
        ({"scale": -1}, "search scale: -1; a number above 0"),
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
