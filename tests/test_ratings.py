"""Ratings: the likelihood against a slow one, strengths that are known, intervals that hold what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import exp, log, prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_experiments.tournament.ratings import ADDED, POINTS, Ratings, places, rate

Games = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]  # entrant, place, deal


def ranked(scores: Any) -> NDArray[np.int64]:
    """The places of games that nobody forfeits."""
    array = np.asarray(scores)
    return places(array, np.zeros(array.shape, bool))


def simulated(
    strength: Sequence[float], seats: Sequence[float], rounds: int, seed: int, likeness: float = 0.0, ties: float = 0.0
) -> Games:
    """Games of every line-up in every seat order, as Plackett and Luce have them (Gumbel's noise on the strengths).

    `likeness` is the part of the deals in which every agent has the same noise in all seat orders; scores closer
    than `ties` to the next lower one share a place with it.
    """
    random = np.random.default_rng(seed)
    entrant, scores, deals = [], [], []
    for _ in range(rounds):
        for line_up in combinations(range(len(strength)), len(seats)):
            alike, common = random.random() < likeness, random.gumbel(size=len(strength))
            for order in permutations(line_up):
                noise = common[list(order)] if alike else random.gumbel(size=len(seats))
                scores.append(np.array(strength)[list(order)] + np.array(seats) + noise)
                entrant.append(order)
                deals.append(deals[-1] if order != line_up else len(set(deals)))
    rough = np.array(scores) if ties == 0 else np.floor(np.array(scores) / ties)
    return np.array(entrant), ranked(rough), np.array(deals)


def slow_likelihood(games: Games, strength: Sequence[float], seats: Sequence[float], ties: dict[int, float]) -> float:
    """The logarithm of the likelihood, word for word as the module's text has it, added half wins included."""
    total = 0.0
    for entrant, place, _ in zip(*games, strict=True):
        worth = [exp(strength[agent] + seats[seat]) for seat, agent in enumerate(entrant)]

        def weight(chosen: Sequence[int], worth: list[float] = worth) -> float:
            return exp(ties[len(chosen)]) * prod(worth[seat] for seat in chosen) ** (1 / len(chosen))

        left = list(range(len(entrant)))
        while len(left) > 1:
            first = [seat for seat in left if place[seat] == min(place[other] for other in left)]
            choices = [chosen for size in ties for chosen in combinations(left, size)]
            total += log(weight(first)) - log(sum(weight(chosen) for chosen in choices))
            left = [seat for seat in left if seat not in first]
    differences = [one - other for pairs in (strength, seats) for one, other in permutations(pairs, 2)]
    differences += [sign * tie for size, tie in ties.items() if size > 1 for sign in (1, -1)]
    return total - ADDED * sum(log(1 + exp(difference)) for difference in differences)


@pytest.mark.parametrize(("agents", "players", "ties"), [(3, 2, 0.0), (3, 2, 1.0), (4, 3, 0.8), (4, 4, 0.7), (2, 2, 0)])
def test_no_other_strengths_make_the_games_likelier(agents: int, players: int, ties: float) -> None:
    games = simulated(
        np.linspace(-1, 1, agents).tolist(), np.linspace(0.4, 0, players).tolist(), 6 - players, agents, ties=ties
    )
    found = rate(*games, agents, resamples=1)
    best = [(rating.value - 1000) / POINTS for rating in found.agents]
    seats = [seat.value / POINTS for seat in found.seats]
    sizes = {int(size) for row in games[1] for size in np.unique(row, return_counts=True)[1]} | {1}
    assert (len(sizes) > 1) == (ties > 0)
    tie_weights = dict.fromkeys(sorted(sizes), 0.0)
    for _ in range(6):  # the ties' weights aren't given: climb, one after the other
        for size in sizes - {1}:
            steps = np.linspace(-8, 4, 49) if tie_weights[size] == 0 else tie_weights[size] + np.linspace(-0.3, 0.3, 25)
            for _ in range(3):
                values = [slow_likelihood(games, best, seats, {**tie_weights, size: step}) for step in steps]
                tie_weights[size] = float(steps[int(np.argmax(values))])
                steps = tie_weights[size] + np.linspace(-1, 1, 17) * (steps[1] - steps[0])
    highest = slow_likelihood(games, best, seats, tie_weights)
    for numbers in (best, seats):
        for number in range(len(numbers)):
            for change in (-0.02, 0.02):
                moved = [value + change * (index == number) for index, value in enumerate(numbers)]
                others = (moved, seats) if numbers is best else (best, moved)
                assert slow_likelihood(games, *others, tie_weights) < highest


def two_agents(wins: int, losses: int) -> Games:
    """So many wins and losses of agent 0 in each seat, each game a deal of its own."""
    rows = [((0, 1), (0, 1))] * wins + [((0, 1), (1, 0))] * losses
    rows += [((1, 0), (1, 0))] * wins + [((1, 0), (0, 1))] * losses
    entrant, place = (np.array(column) for column in zip(*rows, strict=True))
    return entrant, place, np.arange(len(rows))


@pytest.mark.parametrize(("wins", "losses"), [(10, 1), (300, 300), (50, 0)])
def test_400_points_are_odds_of_10_to_1(wins: int, losses: int) -> None:
    first, second = rate(*two_agents(wins, losses), 2, resamples=1).agents
    odds = (2 * wins + ADDED) / (2 * losses + ADDED)
    assert 10 ** ((first.value - second.value) / 400) == pytest.approx(odds, rel=1e-4)
    assert first.value + second.value == pytest.approx(2000)


@pytest.mark.parametrize(("wins", "losses"), [(40, 10), (100, 0), (30, 29)])
def test_two_agents_get_jeffreys_interval(wins: int, losses: int) -> None:
    first, second = rate(*two_agents(wins, losses), 2, anchor=1, resamples=2000, seed=1).agents
    share = np.random.default_rng(2).beta(2 * wins + ADDED, 2 * losses + ADDED, size=100_000)
    low, high = (1000 + POINTS * log(end / (1 - end)) for end in np.quantile(share, (0.025, 0.975)))
    assert first.low == pytest.approx(low, rel=0.02)
    if losses:
        assert first.high == pytest.approx(high, rel=0.04)
    else:  # all that is known of the upper end is that there is none
        assert first.high > first.value + 400
    assert (second.low, second.value, second.high) == (1000, 1000, 1000)


def test_known_strengths_and_seats_are_found() -> None:
    strength, seats = np.array([-1.5, -0.5, 0.0, 0.5, 1.5]), np.array([0.4, 0.1, -0.2, -0.3])
    found = rate(*simulated(strength.tolist(), seats.tolist(), 40, 3), 5, resamples=200)
    for rating, true in zip(found.agents, 1000 + POINTS * strength, strict=True):
        assert rating.value == pytest.approx(true, abs=20)
        assert rating.low < rating.value < rating.high < rating.low + 60
    for seat, true in zip(found.seats, POINTS * seats, strict=True):
        assert seat.value == pytest.approx(true, abs=15)
    assert sum(seat.value for seat in found.seats) == pytest.approx(0)


@pytest.mark.parametrize(("strength", "likeness"), [((-0.6, 0.0, 0.6), 0.7), ((-3.0, 0.0, 3.0), 0.0)])
def test_intervals_hold_the_truth_as_often_as_they_say(strength: tuple[float, ...], likeness: float) -> None:
    """Of 60 intervals at 95%, 57 on average; 50 or fewer would come up once in 200 times."""
    hits = 0
    for seed in range(60):
        games = simulated(strength, (0.2, -0.2), 30, seed, likeness)
        rating = rate(*games, 3, anchor=0, resamples=100, seed=seed).agents[2]
        hits += rating.low <= 1000 + POINTS * (strength[2] - strength[0]) <= rating.high
    assert hits > 50


def test_games_of_one_deal_are_resampled_together() -> None:
    """Four equal games of each deal say no more than one."""
    entrant, place, deal = two_agents(30, 20)

    def width(ratings: Ratings) -> float:
        return ratings.agents[0].high - ratings.agents[0].low

    alone = width(rate(entrant, place, deal, 2))
    copied = [np.repeat(array, 4, axis=0) for array in (entrant, place, deal)]
    assert width(rate(*copied, 2)) == pytest.approx(alone, rel=0.15)  # type: ignore[call-arg, arg-type]
    assert width(rate(copied[0], copied[1], np.arange(len(copied[2])), 2)) == pytest.approx(alone / 2, rel=0.15)


def test_perfect_records_have_finite_ratings() -> None:
    entrant = np.array([(0, 1, 2), (1, 0, 2), (2, 1, 0)] * 300)
    found = rate(entrant, entrant.copy(), np.arange(900), 3, resamples=100)
    values = [rating.value for rating in found.agents]
    assert values == sorted(values, reverse=True)
    assert all(-3000 < rating.low < rating.value < rating.high < 5000 for rating in found.agents)
    level = rate(entrant, np.zeros_like(entrant), np.arange(900), 3, resamples=20)  # nothing but ties
    assert [rating.value for rating in level.agents] == pytest.approx([1000] * 3)


def test_the_anchor_has_1000_points_and_else_the_mean() -> None:
    games = simulated((-1.0, 0.0, 2.0), (0.1, 0.0), 10, 5)
    for anchor in range(3):
        rating = rate(*games, 3, anchor, resamples=10).agents[anchor]
        assert (rating.low, rating.value, rating.high) == (1000, 1000, 1000)
    free = rate(*games, 3, resamples=10)
    assert sum(rating.value for rating in free.agents) == pytest.approx(3000)
    anchored = rate(*games, 3, 0, resamples=10)
    gaps = [one.value - other.value for one, other in zip(free.agents, anchored.agents, strict=True)]
    assert gaps == pytest.approx([gaps[0]] * 3)


def test_the_order_of_the_games_changes_nothing() -> None:
    games = simulated((-1.0, 0.0, 2.0), (0.1, 0.0), 10, 5)
    backwards = tuple(array[::-1] for array in games)
    one, other = rate(*games, 3, resamples=20), rate(*backwards, 3, resamples=20)  # type: ignore[arg-type, call-arg]
    for left, right in zip(one.agents, other.agents, strict=True):
        assert (left.value, left.low, left.high) == pytest.approx((right.value, right.low, right.high))


def test_copies_of_an_agent_in_one_game_tell_about_seats_only() -> None:
    entrant, scores = np.array([(0, 0, 0)] * 200), np.tile([3, 2, 1], (200, 1))
    found = rate(entrant, ranked(scores), np.arange(200), 1, resamples=10)
    assert found.agents[0].value == 1000
    assert found.seats[0].value > 400 > found.seats[1].value > -400 > found.seats[2].value


def test_places() -> None:
    scores = np.array([(5, 5, 1), (1, 2, 3), (4, 4, 4), (9, 1, 2), (9, 1, 2)])
    forfeit = np.zeros((5, 3), bool)
    forfeit[3, 0] = forfeit[4, 2] = True
    expected = [(0, 0, 2), (2, 1, 0), (0, 0, 0), (2, 0, 0), (0, 0, 2)]
    assert places(scores, forfeit).tolist() == [list(row) for row in expected]


def test_every_fit_is_counted() -> None:
    counted: list[int] = []
    rate(*two_agents(3, 2), 2, resamples=7, progress=counted.append)
    assert counted == [1] * 8


@pytest.mark.parametrize("players", [2, 3])
def test_games_that_were_all_ties_are_rated_equal(players: int) -> None:
    """A single deal of ties tells of nothing but ties; some resamples then have no curvature at all."""
    entrant = np.array(list(permutations(range(players))))
    found = rate(entrant, np.zeros_like(entrant), np.zeros(len(entrant), np.int64), players)
    for rating in found.agents:
        assert rating.value == pytest.approx(1000)
        assert np.isfinite([rating.low, rating.high]).all()
        assert rating.low < 1000 < rating.high
