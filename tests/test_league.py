"""Who sits at the training games: seats drawn one by one, past selves that come and go, states."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from siberia_env.errors import ConfigurationError
from siberia_env.game import GAMES, find_game
from siberia_experiments.training.league import LEARNER, League, Mix, PlanOpponent

GAMES_AT_ONCE = 6000


class Frozen:
    """A past self with a number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def decide(self, tables: Any, rows: Any) -> Any:
        raise NotImplementedError


def league(players: int, mix: Mix, past: int = 0, games: int = GAMES_AT_ONCE) -> League:
    """A league with two plans and some past selves, its seats drawn."""
    made = League(np.full(games, players, np.int8), [Frozen(-2), Frozen(-1)], mix, seed=1)
    for number in range(past):
        made.add_past(Frozen(number))
    for game in range(games):
        made.reseat(game, np.zeros(players, np.int64))
    return made


def near(count: int, part: float, of: int) -> bool:
    """Whether `count` is what `part` leads one to expect, within five standard deviations."""
    return abs(count - of * part) <= 5 * sqrt(of * part * (1 - part))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_seat_is_drawn_by_itself(players: int) -> None:
    made = league(players, Mix(alone=0.25, plans=0.3, past=0.2), past=3)
    held = made.holder[:, :players]
    assert np.all(made.holder[:, players:] == LEARNER)
    plans, past = (held >= 0) & (held < 2), held >= 2
    others = GAMES_AT_ONCE * (players - 1)  # one seat is the learner's in any case
    assert near(int(plans.sum()), 0.75 * 0.3, others)
    assert near(int(past.sum()), 0.75 * 0.2, others)
    assert set(np.unique(held)) == {LEARNER, 0, 1, 2, 3, 4}
    if players > 2:
        assert (plans.any(axis=1) & past.any(axis=1) & (held == LEARNER).any(axis=1)).any(), "tables are mixed"


@pytest.mark.parametrize("mix", [Mix(0, 1, 0), Mix(0, 0, 1), Mix(0, 0.5, 0.5), Mix(1, 0.5, 0.5)])
def test_the_learner_always_holds_a_seat_and_each_as_often(mix: Mix) -> None:
    for past in (0, 2):
        made = league(3, mix, past)
        own = made.holder[:, :3] == LEARNER
        assert own.any(axis=1).all()
        if mix.alone == 1:
            assert own.all()
        elif past or mix.past == 0:
            assert (own.sum(axis=1) == 1).all()
            assert all(near(int(own[:, seat].sum()), 1 / 3, GAMES_AT_ONCE) for seat in range(3))


def test_without_past_selves_their_seats_are_the_learners() -> None:
    made = league(2, Mix(alone=0.0, plans=0.25, past=0.5))
    assert near(int((made.holder[:, :2] == LEARNER).all(axis=1).sum()), 0.75, GAMES_AT_ONCE)
    nobody = League(np.full(50, 2, np.int8), [], Mix(alone=0.0), seed=1)
    assert np.all(nobody.holder == LEARNER)


def test_opponents_that_still_win_are_drawn_more_often() -> None:
    made = league(2, Mix(alone=0.0, plans=1.0, past=0.0, focus=2.0))
    made.beaten = [0.9, 0.5]
    for game in range(GAMES_AT_ONCE):
        made._draw(game)
    held = made.holder[:, :2]
    assert near(int((held == 0).sum()), 0.01 / 0.26, GAMES_AT_ONCE)


def test_results_are_booked_for_each_opponent() -> None:
    made = league(3, Mix(alone=0.0), games=1)
    made.holder[0, :3] = [LEARNER, 0, 1]
    before = list(made.beaten)
    made._book(made.holder[0, :3], np.array([50, 40, 50]))
    assert made.beaten[0] > before[0]
    assert made.beaten[1] == pytest.approx(before[1])


def test_newcomers_take_the_place_of_the_one_that_is_beaten_most() -> None:
    made = league(2, Mix(alone=0.0, plans=0.0, past=1.0, kept=3), games=10)
    for number in range(3):
        made.add_past(Frozen(number))
    made.beaten[2:] = [0.6, 0.9, 0.5]
    made.add_past(Frozen(3))
    assert [one.number for one in made.past if isinstance(one, Frozen)] == [0, 2, 3]
    assert made.beaten[2:] == [0.6, 0.5, 0.5]
    for game in range(10):
        made.reseat(game, np.zeros(2, np.int64))
    assert made.holder.max() < len(made.opponents)


def test_a_restored_league_goes_on_the_same_way() -> None:
    mix = Mix(0.2, 0.4, 0.4)
    made = league(3, mix, past=3, games=50)
    copy = League(np.full(50, 3, np.int8), made.plans, mix, seed=99)
    copy.restore(made.state(), made.past)
    for _ in range(5):
        for each in (made, copy):
            for game in range(50):
                each.reseat(game, np.array([game, 1, 7]))
        assert np.array_equal(copy.holder, made.holder)
        assert copy.beaten == made.beaten


def test_a_state_of_another_league_is_refused() -> None:
    made, other = league(2, Mix(), past=1, games=5), league(2, Mix(), past=1, games=6)
    with pytest.raises(ValueError, match="other games"):
        made.restore(other.state(), other.past)
    state = made.state()
    with pytest.raises(ValueError, match="other games"):
        made.restore(state, [])
    state["holder"][0, 0] = 9
    with pytest.raises(ValueError, match="held by nobody"):
        made.restore(state, made.past)


@pytest.mark.parametrize("game", GAMES)
def test_plans_that_a_game_lacks_are_refused(game: str) -> None:
    variant = find_game(game).variant(2)
    assert PlanOpponent("greedy", [variant]).name == "greedy"
    with pytest.raises(ConfigurationError, match="no plan 'clever'; there are greedy, heuristic"):
        PlanOpponent("clever", [variant])
