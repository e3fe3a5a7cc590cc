"""Games between agents, many at once, and what they show: win shares and scores.

`play_games` deals every game anew. `play_deals` plays each deal in every seat order, so that neither cards nor seats
favour an agent; its results vary less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError
from siberia_env.game import Game, States, Variant, copy_states
from siberia_env.seeds import derived_seed as derived_seed
from siberia_env.vector import Step, VectorEnv
from siberia_env.view import view_games
from siberia_experiments.luck import Judge, Luck
from siberia_experiments.statistics import Interval, less_luck, mean_interval, wilson, wilson_of_deals

GAMES_AT_ONCE = 1024
MOST_GAMES = 10**8

# Streams of random numbers that follow from the seed of a series of games.
DEALS, AGENTS, OTHER_OUTCOMES = 0, 1, 4


@dataclass(frozen=True)
class Results:
    """What a series of games gave. G games, P seats.

    Attributes:
        entrants: the agents' names, by place in the line-up.
        entrant: int64 [G, P], which entrant sat in each seat.
        scores: int64 [G, P], points of the kernels (`Game.score_unit` is what one counts).
        win_shares: float64 [G, P]: 1/k for each of k winners.
        lengths: int64 [G], decisions.
        hit_limit: bool [G], ended by the turn or round limit.
        game: what was played.
        deal: int64 [G], each game's deal, if deals were played in several seat orders; None if each has its own.
        luck: float64 [G, P], every seat's luck (`siberia_experiments.luck`); None if nobody measured it.
    """

    entrants: tuple[str, ...]
    entrant: NDArray[np.int64]
    scores: NDArray[np.int64]
    win_shares: NDArray[np.float64]
    lengths: NDArray[np.int64]
    hit_limit: NDArray[np.bool_]
    game: Game
    deal: NDArray[np.int64] | None = None
    luck: NDArray[np.float64] | None = None

    @property
    def deals(self) -> int:
        """How many different deals were played."""
        return len(self.entrant) if self.deal is None else len(np.unique(self.deal))

    def win_rate(self, place: int) -> Interval:
        """The share of games won by an entrant, ties divided, with Wilson's interval.

        The games of a deal depend on each other. If deals were repeated, the variance is taken between deals.
        """
        shares = self.win_shares[self.entrant == place]
        if self.deal is None:
            return wilson(float(shares.sum()), len(shares))
        seats = np.bincount(self._deals_of(place))
        return wilson_of_deals(seats * self._mean_of_deals(place, self.win_shares), seats, np.zeros_like(seats))

    def win_rate_less_luck(self, place: int) -> Interval:
        """The share of games won, corrected for luck, with a normal interval. It may lie outside of 0 to 1.

        Raises:
            ValueError: luck was not measured, or deals were not repeated.
        """
        if self.luck is None:
            raise ValueError("nobody measured the luck in these games")
        return less_luck(self._mean_of_deals(place, self.win_shares), self._mean_of_deals(place, self.luck))

    def mean_score(self, place: int) -> Interval:
        """An entrant's mean score as people count it (`Game.score_unit`), with a normal interval."""
        if self.deal is None:
            return mean_interval(self.game.score_unit * self.scores[self.entrant == place])
        return mean_interval(self.game.score_unit * self._mean_of_deals(place, self.scores))

    def _deals_of(self, place: int) -> NDArray[np.int64]:
        """The deal of each seat that an entrant held."""
        if self.deal is None:
            raise ValueError("each game has a deal of its own")
        return np.broadcast_to(self.deal[:, None], self.entrant.shape)[self.entrant == place]

    def _mean_of_deals(self, place: int, of: NDArray[Any]) -> NDArray[np.float64]:
        """The mean of `of` [G, P] over an entrant's seats in each deal: float64 [D]."""
        deals = self._deals_of(place)
        return np.bincount(deals, of[self.entrant == place]) / np.bincount(deals)


def start_agents(variant: Variant, agents: Sequence[Agent], seed: int) -> None:
    """Start every agent with a stream of random choices of its own.

    Raises:
        ConfigurationError: `seed` is no seed.
        ModelError: an agent can't play this variant.
    """
    for place, agent in enumerate(agents):
        agent.start(variant, derived_seed(seed, AGENTS, place))


def _check_series(players: int, agents: Sequence[Agent], games: int) -> None:
    """Raise `ConfigurationError` unless there is one agent a seat and a number of games that can be played."""
    if len(agents) != players:
        raise ConfigurationError(f"{len(agents)} agents for {players} seats; name one agent a seat")
    if games < 1:
        raise ConfigurationError(f"games: {games}; at least 1")
    if games > MOST_GAMES:
        raise ConfigurationError(f"games: {games}; at most {MOST_GAMES}")


def play_games(
    variant: Variant,
    agents: Sequence[Agent],
    games: int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Results:
    """Play `games` games between `agents`, one a seat; in game g everybody sits g seats further on.

    The same seed gives the same games. `progress` is called with the number of games that have just ended.

    Raises:
        ConfigurationError: not one agent a seat, no games, or no seed.
        ModelError: an agent can't play this variant.
    """
    players = variant.num_players
    _check_series(players, agents, games)
    start_agents(variant, agents, seed)
    entrant = (np.arange(players)[None, :] - np.arange(games)[:, None]) % players
    parts = [
        _play_batch(variant, agents, entrant[start : start + GAMES_AT_ONCE], derived_seed(seed, DEALS, start), progress)
        for start in range(0, games, GAMES_AT_ONCE)
    ]
    scores, winners, lengths, hit_limit = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Results(
        tuple(agent.name for agent in agents),
        entrant,
        scores,
        winners / winners.sum(axis=1, keepdims=True),
        lengths,
        hit_limit,
        variant.game,
    )


def seat_orders(entrants: Sequence[int]) -> NDArray[np.int64]:
    """Every different order in which `entrants` (one a seat) can sit down: int64 [O, P], from the given one on.

    An entrant that is named several times holds several seats; if two of them change places, that is no new order.
    """
    return np.array(list(dict.fromkeys(permutations(entrants))), np.int64)


def play_deals(
    variant: Variant,
    agents: Sequence[Agent],
    games: int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    entrants: Sequence[int] | None = None,
    judge: Judge | None = None,
) -> Results:
    """Play at least `games` games between `agents`, one a seat. Each deal is played in every seat order.

    Args:
        variant: what is played.
        agents: one a seat.
        games: least number of games; whole deals are played.
        seed: decides everything that is random.
        progress: called with the number of games that have just ended.
        entrants: which entrant each agent is, from 0 on without gaps; by default all are different. An entrant that is
            named several times holds several seats. The results count all its seats.
        judge: measures luck, if one is given.

    Raises:
        ConfigurationError: not one agent a seat, no games, or no seed.
        ModelError: an agent can't play this variant, or the judge can't say what is expected.
    """
    players = variant.num_players
    _check_series(players, agents, games)
    start_agents(variant, agents, seed)
    held_by = list(range(players)) if entrants is None else list(entrants)
    orders = seat_orders(held_by)
    deals, at_once = -(-games // len(orders)), max(1, GAMES_AT_ONCE // len(orders))
    parts, luck = [], []
    for start in range(0, deals, at_once):
        count = min(at_once, deals - start)
        batch_seed = derived_seed(seed, DEALS, start)
        first = VectorEnv(variant, count, batch_seed, observations=False)
        first.reset()
        env = VectorEnv(variant, count * len(orders), batch_seed)
        states = copy_states(first.states, np.repeat(np.arange(count), len(orders)))
        env.states[:] = states
        step = env.restore(env.snapshot())  # shows these games
        watch = None
        if judge is not None:
            watch = Luck(variant, judge, env.num_envs, derived_seed(seed, OTHER_OUTCOMES, start))
            watch.note_deal(states)
            luck.append(watch.total)
        places = np.tile(_places(orders, held_by), (count, 1))
        parts.append(_play_out(variant, agents, env, step, places, progress, watch))
    scores, winners, lengths, hit_limit = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Results(
        tuple(agents[held_by.index(entrant)].name for entrant in held_by),
        np.tile(orders, (deals, 1)),
        scores,
        winners / winners.sum(axis=1, keepdims=True),
        lengths,
        hit_limit,
        variant.game,
        np.repeat(np.arange(deals), len(orders)),
        np.concatenate(luck) if luck else None,
    )


def _places(orders: NDArray[np.int64], held_by: Sequence[int]) -> NDArray[np.int64]:
    """Which of the agents sits in each seat, where `orders` tells the entrants: int64 [O, P]."""
    places = np.zeros_like(orders)
    for entrant in set(held_by):
        own = [place for place, held in enumerate(held_by) if held == entrant]
        for order, row in zip(orders, places, strict=True):
            row[order == entrant] = own
    return places


def _play_batch(
    variant: Variant,
    agents: Sequence[Agent],
    entrant: NDArray[np.int64],
    seed: int,
    progress: Callable[[int], None] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64], NDArray[np.bool_]]:
    """Scores, winner flags, lengths and limits hit in one batch of games, a row of `entrant` each."""
    env = VectorEnv(variant, len(entrant), seed)
    return _play_out(variant, agents, env, env.reset(), entrant, progress)


def _play_out(
    variant: Variant,
    agents: Sequence[Agent],
    env: VectorEnv,
    step: Step,
    places: NDArray[np.int64],
    progress: Callable[[int], None] | None,
    luck: Luck | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64], NDArray[np.bool_]]:
    """Play the games that begin in `env` as `step` shows them; `places` says which agent sits in each seat."""
    games = env.num_envs
    running = np.ones(games, bool)
    scores, winners = step.final_scores.copy(), step.final_winners.copy()
    lengths, hit_limit = step.final_length.copy(), step.final_hit_limit.copy()
    every_game = np.arange(games)
    while running.any():
        actions = step.mask.argmax(axis=1)  # any legal action for the games that are over
        to_move = places[every_game, step.player]
        for place, agent in enumerate(agents):
            rows = np.flatnonzero(running & (to_move == place))
            if len(rows):
                actions[rows] = agent.act_batch(
                    view_games(variant, env.states, rows, step.observation, step.mask, step.player)
                )
        playing = np.flatnonzero(running)
        before: States = copy_states(env.states, playing) if luck is not None else env.states[:0]
        step = env.step(actions)
        if luck is not None:
            states = copy_states(env.states, playing)
            came = luck.after(states, step.terminated[playing], step.final_scores[playing])
            luck.note_step(playing, before, actions[playing], came)
        ended = running & step.terminated
        if ended.any():
            scores[ended], winners[ended] = step.final_scores[ended], step.final_winners[ended]
            lengths[ended], hit_limit[ended] = step.final_length[ended], step.final_hit_limit[ended]
            running &= ~ended
            if progress is not None:
                progress(int(ended.sum()))
    return scores, winners, lengths, hit_limit
