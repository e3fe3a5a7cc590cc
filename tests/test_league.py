"""Who sits at the training tables: the parts of the mix, past selves that come and go, pickling."""

from __future__ import annotations

import pickle
from math import sqrt

import numpy as np
import pytest

from siberia_agents.greedy import GreedyAgent
from siberia_agents.learned import LearnedAgent
from siberia_agents.random_agent import RandomAgent
from siberia_env.errors import ModelError
from siberia_env.game import GAMES, find_game
from siberia_experiments.training.league import League, Mix
from siberia_experiments.training.sb3_ppo import LEARNER
from tests.test_agents import small_model

TABLES = 4000


def league(players: int, mix: Mix, past: int = 0, tables: int = TABLES, game: str = "card") -> League:
    """A league with two baselines and some past selves, its seats drawn."""
    made = League(find_game(game).variant(players), tables, [RandomAgent(), GreedyAgent()], mix, seed=1)
    for number in range(past):
        made.add_past(small_model(players, number, game))
    made.reseat(np.arange(tables))
    return made


def near(count: int, part: float) -> bool:
    """Whether `count` of TABLES is what `part` leads one to expect, within five standard deviations."""
    return abs(count - TABLES * part) <= 5 * sqrt(TABLES * part * (1 - part))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_are_divided_by_the_mix(players: int) -> None:
    made = league(players, Mix(past=0.2, baselines=0.3), past=3)
    against_baselines = ((made.holder == 0) | (made.holder == 1)).any(axis=1)
    against_past = (made.holder >= 2).any(axis=1)
    assert not (against_baselines & against_past).any()
    assert near(int(against_baselines.sum()), 0.3)
    assert near(int(against_past.sum()), 0.2)
    others = made.holder[against_baselines | against_past]
    assert np.all((others == LEARNER).sum(axis=1) == 1)
    seats = np.bincount((others == LEARNER).argmax(axis=1), minlength=players)
    assert seats.min() > len(others) / players * 0.8
    assert set(np.unique(made.holder)) == {LEARNER, 0, 1, 2, 3, 4}
    pure = made.holder[~(against_baselines | against_past)]
    assert np.all(pure == LEARNER)


@pytest.mark.parametrize("mix", [Mix(0, 0), Mix(1, 0), Mix(0, 1), Mix(0.5, 0.5)])
def test_the_learner_always_holds_a_seat(mix: Mix) -> None:
    for past in (0, 2):
        made = league(3, mix, past)
        held = (made.holder == LEARNER).sum(axis=1)
        assert held.min() >= 1
        pure = int((held == 3).sum())
        if mix == Mix(0, 0):
            assert pure == TABLES
        elif past or mix.past == 0:
            assert pure == 0


def test_without_past_selves_their_part_is_self_play() -> None:
    made = league(2, Mix(past=0.5, baselines=0.25))
    assert near(int((made.holder == LEARNER).all(axis=1).sum()), 0.75)
    nobody = League(find_game("card").variant(2), TABLES, [], Mix(past=0.5, baselines=0.5), seed=1)
    assert np.all(nobody.holder == LEARNER)


def test_only_the_games_that_ended_are_seated_anew() -> None:
    made = league(2, Mix(0.3, 0.5), past=2, tables=400)
    before = made.holder.copy()
    made.reseat(np.arange(200))
    assert np.array_equal(before[200:], made.holder[200:])
    assert not np.array_equal(before[:200], made.holder[:200])


def test_newcomers_take_the_place_of_others_but_never_of_the_newest() -> None:
    made = league(2, Mix(past=1, baselines=0, kept=3))
    newest = None
    for number in range(30):
        made.add_past(small_model(2, number))
        assert len(made.past) == min(number + 1, 3)
        selves = [agent for agent in made.past if isinstance(agent, LearnedAgent)]
        assert selves[-1].model.trained == {"seed": number}
        assert all(agent.temperature == 1.0 for agent in selves)
        if newest is not None:
            assert newest in selves
        newest = selves[-1]
        made.reseat(np.arange(0, TABLES, 7))
        assert made.holder.max() < len(made.opponents)
    ages = [agent.model.trained["seed"] for agent in made.past if isinstance(agent, LearnedAgent)]
    assert ages == sorted(ages)


def test_one_past_self_can_be_kept() -> None:
    made = league(2, Mix(kept=1), past=3, tables=10)
    assert [agent.model.trained for agent in made.past if isinstance(agent, LearnedAgent)] == [{"seed": 2}]


@pytest.mark.parametrize(("game", "other"), [GAMES, GAMES[::-1]])
def test_a_past_self_of_another_table_is_refused(game: str, other: str) -> None:
    made = league(2, Mix(), tables=4, game=game)
    with pytest.raises(ModelError, match="trained for players 3"):
        made.add_past(small_model(3, game=game))
    with pytest.raises(ModelError, match=f"trained for game {other}"):
        made.add_past(small_model(2, game=other))


@pytest.mark.parametrize("game", GAMES)
def test_a_pickled_league_goes_on_the_same_way(game: str) -> None:
    made = league(3, Mix(0.4, 0.4), past=3, tables=50, game=game)
    copy = pickle.loads(pickle.dumps(made))
    assert np.array_equal(copy.holder, made.holder)
    for number in range(5):
        for each in (made, copy):
            each.reseat(np.arange(50))
            each.add_past(small_model(3, 10 + number, game))
        assert np.array_equal(copy.holder, made.holder)
    assert [agent.name for agent in copy.opponents] == [agent.name for agent in made.opponents]
    for mine, theirs in zip(made.past, copy.past, strict=True):
        assert isinstance(mine, LearnedAgent)
        assert isinstance(theirs, LearnedAgent)
        assert np.array_equal(mine.model.policy[0][0], theirs.model.policy[0][0])
        assert mine._random.random() == theirs._random.random()
    assert made.random.random() == copy.random.random()
