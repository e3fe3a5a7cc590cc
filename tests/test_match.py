"""Games between agents: seats, ties, intervals, reproducibility, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_agents.greedy import GreedyAgent
from siberia_agents.interface import Agent
from siberia_agents.random_agent import RandomAgent
from siberia_env.errors import ConfigurationError, IllegalActionError
from siberia_env.game import GAMES, find_game
from siberia_env.view import BatchView, View
from siberia_experiments import match
from siberia_experiments.match import Results, play_deals, play_games, seat_orders
from siberia_experiments.statistics import Interval, mean_interval, wilson, wilson_of_deals

VARIANTS = {(game, players): find_game(game).variant(players) for game in GAMES for players in (2, 3, 4)}
CARD, CARD_OF_THREE = VARIANTS["card", 2], VARIANTS["card", 3]

both_games = pytest.mark.parametrize("game", GAMES)


class Noted(GreedyAgent):
    """Greedy, and notes in which seats it was asked."""

    def __init__(self) -> None:
        self.seats: list[int] = []
        self.seeds: list[int] = []

    def start(self, variant: Any, seed: int = 0) -> None:
        """Note the seed."""
        self.seeds.append(seed)

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """The plan's actions."""
        self.seats += views.player.tolist()
        return super().act_batch(views)


def same(one: Results, other: Results) -> bool:
    """Whether two series of games went the same way."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("entrant", "scores", "win_shares", "lengths", "hit_limit")
    )


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_everybody_moves_a_seat_on_from_game_to_game(game: str, players: int) -> None:
    results = play_games(VARIANTS[game, players], [RandomAgent() for _ in range(players)], 2 * players + 1)
    for number, row in enumerate(results.entrant):
        assert sorted(row) == list(range(players))
        for place in range(players):
            assert row[(place + number) % players] == place
    assert results.entrants == ("random",) * players


@both_games
def test_an_agent_is_asked_in_the_seat_it_holds_and_scores_there(game: str) -> None:
    """Only the games 0, 3, 6 and 9 have the greedy entrant in seat 0."""
    noted = Noted()
    results = play_games(VARIANTS[game, 3], [noted, RandomAgent(), RandomAgent()], 1)
    assert set(noted.seats) == {0}
    results = play_games(VARIANTS[game, 3], [RandomAgent(), noted, RandomAgent()], 30, seed=4)
    assert set(noted.seats) == {0, 1, 2}
    own = results.scores[results.entrant == 1]
    assert own.min() > results.scores[results.entrant != 1].mean()
    assert np.array_equal(results.win_shares[results.entrant == 1], np.ones(30))
    assert (results.win_rate(0).value, results.win_rate(1).value) == (0, 1)


@pytest.mark.parametrize(("game", "rules"), [("card", {"max_turns": 3}), ("board", {"max_rounds": 4})])
def test_tied_games_are_divided(game: str, rules: dict[str, int]) -> None:
    """A limit of a few turns leaves most players with what they started with."""
    variant = find_game(game).variant(3, rules)
    results = play_games(variant, [RandomAgent() for _ in range(3)], 60)
    assert results.hit_limit.all()
    best = results.scores.max(axis=1, keepdims=True)
    winners = results.scores == best
    assert {1, 3} <= set(winners.sum(axis=1))
    assert np.allclose(results.win_shares, winners / winners.sum(axis=1, keepdims=True))
    assert sum(results.win_rate(place).value for place in range(3)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [
        (0, 10, 0.0, 0.27753),
        (10, 10, 0.72247, 1.0),
        (5, 10, 0.23659, 0.76341),
        (81, 263, 0.25526, 0.36618),
        (15, 148, 0.06239, 0.16056),
        (980, 1000, 0.96935, 0.98700),
    ],
)
def test_wilsons_interval(wins: int, games: int, low: float, high: float) -> None:
    """Values of Newcombe's comparison of intervals (1998) and of the formula worked out by hand."""
    interval = wilson(wins, games)
    assert interval.value == wins / games
    assert interval.low == pytest.approx(low, abs=2e-4)
    assert interval.high == pytest.approx(high, abs=2e-4)


def test_mean_scores_are_in_dollars_with_a_normal_interval() -> None:
    results = Results(
        ("a", "b"),
        np.array([[0, 1], [1, 0], [0, 1], [1, 0]]),
        np.array([[10, 1], [1, 20], [30, 1], [1, 40]]),
        np.ones((4, 2)) / 2,
        np.ones(4, np.int64),
        np.zeros(4, bool),
        find_game("card"),
    )
    mean = results.mean_score(0)
    half = 1.959964 * np.std([10, 20, 30, 40], ddof=1) / 2 * 1000
    assert mean.value == 25_000
    assert (mean.high - mean.value, mean.value - mean.low) == pytest.approx((half, half))
    assert (results.mean_score(1).low, results.mean_score(1).high) == (1000, 1000)
    rest = np.zeros(1, bool), find_game("card")
    alone = Results(("a",), np.zeros((1, 1), int), np.array([[7]]), np.ones((1, 1)), np.ones(1, int), *rest)
    assert alone.mean_score(0) == Interval(7000, 7000, 7000)


@both_games
def test_the_same_seed_gives_the_same_games_and_another_one_others(game: str) -> None:
    line = [GreedyAgent(), RandomAgent()]
    one = play_games(VARIANTS[game, 2], line, 50, seed=5)
    assert same(one, play_games(VARIANTS[game, 2], line, 50, seed=5))
    assert not same(one, play_games(VARIANTS[game, 2], line, 50, seed=6))
    assert len(np.unique(one.scores, axis=0)) > 40


@both_games
def test_watching_the_progress_changes_nothing(game: str) -> None:
    ended: list[int] = []
    line = [GreedyAgent(), RandomAgent(), RandomAgent()]
    variant = VARIANTS[game, 3]
    assert same(play_games(variant, line, 40, 3), play_games(variant, line, 40, 3, ended.append))
    assert sum(ended) == 40
    assert min(ended) >= 1


def test_more_games_than_are_played_at_once_are_all_different(monkeypatch: pytest.MonkeyPatch) -> None:
    line = [GreedyAgent(), GreedyAgent()]
    whole = play_games(CARD, line, 20, 1)
    monkeypatch.setattr(match, "GAMES_AT_ONCE", 20)
    results = play_games(CARD, line, 50, 1)
    assert results.scores.shape == (50, 2)
    assert same_games(whole, results)
    assert len(np.unique(np.column_stack([results.scores, results.lengths]), axis=0)) > 45
    # Nor may the second batch of one seed be the first one of the next seed.
    following = play_games(CARD, line, 20, 2)
    assert not np.array_equal(results.scores[20:40], following.scores)


def same_games(fewer: Results, more: Results) -> bool:
    """Whether the first games of `more` are those of `fewer`."""
    return np.array_equal(more.scores[: len(fewer.scores)], fewer.scores)


# ---------------------------------------------------------------- deals in every seat order


@pytest.mark.parametrize(
    ("entrants", "orders"),
    [((0, 1), 2), ((0, 1, 1, 1), 4), ((0, 1, 2), 6), ((0, 1, 1), 3), ((0, 0), 1), ((3, 2, 1, 0), 24)],
)
def test_every_different_seat_order_comes_once(entrants: tuple[int, ...], orders: int) -> None:
    found = seat_orders(entrants)
    assert found.shape == (orders, len(entrants))
    assert len(np.unique(found, axis=0)) == orders
    assert np.array_equal(found[0], entrants)
    assert all(sorted(order) == sorted(entrants) for order in found.tolist())


@pytest.mark.parametrize(("game", "players"), VARIANTS)
def test_a_deal_is_the_same_in_every_seat_order(game: str, players: int) -> None:
    """Agents that decide alike play the same game, card for card, wherever they sit."""
    variant = VARIANTS[game, players]
    line = [GreedyAgent() for _ in range(players)]
    results = play_deals(variant, line, 5, 3, entrants=[0, *[1] * (players - 1)])
    assert results.deal is not None
    assert np.array_equal(results.deal, np.repeat(np.arange(results.deals), players))
    assert len(results.entrant) >= 5
    for deal in range(results.deals):
        assert len(np.unique(results.scores[results.deal == deal], axis=0)) == 1
        assert len(np.unique(results.entrant[results.deal == deal], axis=0)) == players
    assert len(np.unique(results.scores, axis=0)) == results.deals
    assert results.win_rate(0).value == pytest.approx(1 / players)  # so no agent is favoured


def test_an_entrant_is_asked_in_all_its_seats_and_all_of_them_count() -> None:
    noted, random = Noted(), RandomAgent()
    results = play_deals(CARD_OF_THREE, [random, noted, noted], 30, 4, entrants=[0, 1, 1])
    assert results.entrants == ("random", "greedy", "greedy")
    assert set(noted.seats) == {0, 1, 2}
    assert (results.entrant == 1).sum() == 2 * len(results.entrant)
    assert results.win_rate(1).value == pytest.approx(0.5)
    assert results.win_rate(0).value == 0
    assert results.scores[results.entrant == 1].mean() > 2 * results.scores[results.entrant == 0].mean()


def test_intervals_of_repeated_deals_are_taken_between_deals() -> None:
    results = play_deals(CARD, [GreedyAgent(), GreedyAgent()], 60, 2)
    assert (results.win_shares[:, 0] == 1).any()
    rate = results.win_rate(0)
    assert rate.value == 0.5
    assert rate.high - rate.low < 0.3 * (wilson(30, 60).high - wilson(30, 60).low)
    results = play_deals(CARD_OF_THREE, [RandomAgent() for _ in range(3)], 60, 2)
    assert results.deal is not None
    won = np.where(results.entrant == 2, results.win_shares, 0).sum(axis=1)
    sixes = np.full(10, 6)
    assert results.win_rate(2) == wilson_of_deals(np.bincount(results.deal, won), sixes, np.zeros(10, np.int64))
    scores = np.where(results.entrant == 2, results.scores, 0).sum(axis=1)
    of_deals = mean_interval(1000 * np.bincount(results.deal, scores) / 6)
    mean = results.mean_score(2)
    assert (mean.value, mean.low, mean.high) == pytest.approx((of_deals.value, of_deals.low, of_deals.high))


def test_deals_are_played_whole_in_batches_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    line = [GreedyAgent(), RandomAgent(), RandomAgent()]
    ended: list[int] = []
    monkeypatch.setattr(match, "GAMES_AT_ONCE", 14)
    results = play_deals(CARD_OF_THREE, line, 31, 1, ended.append)
    assert len(results.entrant) == sum(ended) == 36
    assert results.deals == 6
    assert len(np.unique(results.scores, axis=0)) > 30
    assert same(results, play_deals(CARD_OF_THREE, line, 36, 1))
    assert not same(results, play_deals(CARD_OF_THREE, line, 36, 2))


def test_every_agent_gets_a_seed_of_its_own() -> None:
    noted = [Noted(), Noted(), Noted()]
    for seed in (2**64 - 2, 2**64 - 1):
        play_games(CARD_OF_THREE, noted, 1, seed=seed)
    seeds = [seed for agent in noted for seed in agent.seeds]
    assert len(set(seeds)) == 6  # one apart, and no agent of one seed has that of another agent under the next
    assert all(0 <= seed < 2**64 for seed in seeds)


@pytest.mark.parametrize("agents", [0, 1, 3])
def test_one_agent_a_seat_is_asked_for(agents: int) -> None:
    for play in (play_games, play_deals):
        with pytest.raises(ConfigurationError, match=f"{agents} agents for 2 seats"):
            play(CARD, [RandomAgent()] * agents, 4)


@pytest.mark.parametrize("games", [0, -3])
def test_at_least_one_game_is_played(games: int) -> None:
    for play in (play_games, play_deals):
        with pytest.raises(ConfigurationError, match=f"games: {games}"):
            play(CARD, [RandomAgent(), RandomAgent()], games)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_impossible_seeds_are_refused(seed: int) -> None:
    with pytest.raises(ConfigurationError, match="seed: "):
        play_games(CARD, [RandomAgent(), RandomAgent()], 1, seed)


@both_games
def test_an_agent_that_cheats_with_the_rules_is_stopped(game: str) -> None:
    class Illegal(Agent):
        name = "illegal"

        def act(self, view: View) -> int:
            return int(np.flatnonzero(view.mask == 0)[0])

    class IllegalBatch(Illegal):
        def act_batch(self, views: BatchView) -> NDArray[np.int64]:
            return np.array([self.act(views.view(row)) for row in range(len(views))], np.int64)

    for agent, message in (
        (Illegal(), "agent illegal: answered .* not legal now"),
        (IllegalBatch(), "illegal actions in games 0"),
    ):
        with pytest.raises(IllegalActionError, match=message):
            play_games(VARIANTS[game, 2], [agent, RandomAgent()], 1)
