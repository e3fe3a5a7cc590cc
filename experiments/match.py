"""Games between agents, many at once, and what they show: win shares and scores with 95% intervals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError
from siberia_env.game import Game, Variant
from siberia_env.vector import VectorEnv
from siberia_env.view import view_games

NORMAL_95 = 1.959964  #: two-sided 95% quantile of the normal distribution
GAMES_AT_ONCE = 1024


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Results:
    """What a series of games gave. G games, P seats.

    Attributes:
        entrants: the agents' names, by place in the line-up.
        entrant: int64 [G, P], which entrant sat in each seat.
        scores: int64 [G, P], points of the kernels (thousands of dollars).
        win_shares: float64 [G, P]: 1/k for each of k winners.
        lengths: int64 [G], decisions.
        truncated: bool [G], ended by the turn or round limit.
        game: what was played.
    """

    entrants: tuple[str, ...]
    entrant: NDArray[np.int64]
    scores: NDArray[np.int64]
    win_shares: NDArray[np.float64]
    lengths: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    game: Game

    def win_rate(self, place: int) -> Interval:
        """The share of games won by an entrant, ties divided, with Wilson's interval."""
        shares = self.win_shares[self.entrant == place]
        return wilson(float(shares.sum()), len(shares))

    def mean_score(self, place: int) -> Interval:
        """An entrant's mean score as people count it (`Game.score_unit`), with a normal interval."""
        scores = self.game.score_unit * self.scores[self.entrant == place]
        mean = float(scores.mean())
        spread = NORMAL_95 * float(scores.std(ddof=1)) / sqrt(len(scores)) if len(scores) > 1 else 0.0
        return Interval(mean, mean - spread, mean + spread)


def wilson(wins: float, games: float) -> Interval:
    """A share of games with Wilson's 95% score interval (1927)."""
    share, z2 = wins / games, NORMAL_95**2
    middle = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = NORMAL_95 * sqrt(share * (1 - share) / games + z2 / (4 * games**2)) / (1 + z2 / games)
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def derived_seed(seed: int, stream: int, number: int) -> int:
    """A seed of its own for each (stream, number) under `seed`, 0 .. 2**64 - 1.

    A keyed hash (BLAKE2b): who is given one of them can compute neither `seed` nor the others from it. So an agent
    does not learn from the seed it is started with how the games are dealt. Whoever guesses `seed` itself does.

    Raises:
        ConfigurationError: `seed` is no seed.
    """
    key = int(check_seed(seed)).to_bytes(8, "little")
    message = stream.to_bytes(8, "little") + number.to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(message, digest_size=8, key=key).digest(), "little")


def start_agents(variant: Variant, agents: Sequence[Agent], seed: int) -> None:
    """Start every agent with a stream of random choices of its own.

    Raises:
        ConfigurationError: `seed` is no seed.
        ModelError: an agent can't play this variant.
    """
    for place, agent in enumerate(agents):
        agent.start(variant, derived_seed(seed, 1, place))


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
    if len(agents) != players:
        raise ConfigurationError(f"{len(agents)} agents for {players} seats; name one agent a seat")
    if games < 1:
        raise ConfigurationError(f"games: {games}; at least 1")
    start_agents(variant, agents, seed)
    entrant = (np.arange(players)[None, :] - np.arange(games)[:, None]) % players
    parts = [
        _play_batch(variant, agents, entrant[start : start + GAMES_AT_ONCE], derived_seed(seed, 0, start), progress)
        for start in range(0, games, GAMES_AT_ONCE)
    ]
    scores, winners, lengths, truncated = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Results(
        tuple(agent.name for agent in agents),
        entrant,
        scores,
        winners / winners.sum(axis=1, keepdims=True),
        lengths,
        truncated,
        variant.game,
    )


def _play_batch(
    variant: Variant,
    agents: Sequence[Agent],
    entrant: NDArray[np.int64],
    seed: int,
    progress: Callable[[int], None] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64], NDArray[np.bool_]]:
    """Scores, winner flags, lengths and truncations of one batch of games, a row of `entrant` each."""
    games = len(entrant)
    env = VectorEnv(variant, games, seed)
    step = env.reset()
    running = np.ones(games, bool)
    scores, winners = step.final_scores.copy(), step.final_winners.copy()
    lengths, truncated = step.final_length.copy(), step.final_truncated.copy()
    every_game = np.arange(games)
    while running.any():
        actions = step.mask.argmax(axis=1)  # any legal action for the games that are over
        to_move = entrant[every_game, step.player]
        for place, agent in enumerate(agents):
            rows = np.flatnonzero(running & (to_move == place))
            if len(rows):
                actions[rows] = agent.act_batch(
                    view_games(variant, env.states, rows, step.observation, step.mask, step.player)
                )
        step = env.step(actions)
        ended = running & step.terminated
        if ended.any():
            scores[ended], winners[ended] = step.final_scores[ended], step.final_winners[ended]
            lengths[ended], truncated[ended] = step.final_length[ended], step.final_truncated[ended]
            running &= ~ended
            if progress is not None:
                progress(int(ended.sum()))
    return scores, winners, lengths, truncated
