"""Self-play booked by seat: turns the decisions of a batch of games into one trajectory for each seat of each game.

In a batch, one decision after the other belongs to different seats of different games. RLlib learns from episodes in
which every observation is followed by the next observation of the same player. So a trajectory has the decisions of one
seat in one game, in order. Opponents' moves and forced moves (with one legal action) lie between two decisions.

A decision is paid for what the seat's standing gains until the seat's next decision: the standing is the reward if the
game ended now (`VectorEnv.standing`). The last decision of a game is paid up to the true reward. So the rewards of a
whole game add up to its reward less the standing at the seat's first decision, whoever made the last move. This is
potential-based shaping (Ng, Harada and Russell 1999) without a discount: the best policies stay the same.

Where a rollout breaks off a game, a seat's trajectory ends with what it saw at its last decision, and what the network
expected there stands for all that follows. The network learns at decisions alone, and knows nothing of a seat that is
not on turn.

This module needs no Ray.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from siberia_env.game import MAX_PLAYERS


class Trajectories(NamedTuple):
    """The M decisions of a rollout in K trajectories.

    Attributes:
        order: int64 [M], the numbers of the decisions, trajectory by trajectory, each in the order of play.
        starts: int64 [K + 1], where each trajectory begins in `order`; the last is M.
        games: int64 [K], the number of each trajectory's game.
        seats: int64 [K], its seat.
        rewards: float32 [M], what the decisions in `order` are paid; 0 for one whose outcome is not known.
        ended: bool [K], whether the game has ended. Otherwise the rollout breaks it off, and what the trajectory's last
            decision leads to is not known.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    games: NDArray[np.int64]
    seats: NDArray[np.int64]
    rewards: NDArray[np.float32]
    ended: NDArray[np.bool_]


def book_by_seat(
    games: NDArray[np.int64],
    seats: NDArray[np.int64],
    standing: NDArray[np.float32],
    finals: Mapping[int, NDArray[np.float32]],
) -> Trajectories:
    """Group decisions by game and seat, and pay them.

    Args:
        games: int64 [M], the number of each decision's game, in the order of play.
        seats: int64 [M], the seat that decided.
        standing: float32 [M], that seat's standing before the decision.
        finals: every seat's reward in each game that has ended, by number.
    """
    order = np.lexsort((seats, games))  # keeps the order of play where game and seat are equal
    games, seats, standing = games[order], seats[order], standing[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (games[1:] != games[:-1]) | (seats[1:] != seats[:-1])
    firsts = np.flatnonzero(is_first)
    starts = np.append(firsts, len(order)).astype(np.int64)
    ended = np.array([int(game) in finals for game in games[firsts]], np.bool_)
    after = np.append(standing[1:], np.float32(0))
    for last, has_ended in zip(starts[1:] - 1, ended, strict=True):
        after[last] = finals[int(games[last])][seats[last]] if has_ended else standing[last]
    return Trajectories(order, starts, games[firsts], seats[firsts], (after - standing).astype(np.float32), ended)


class Book:
    """Notes the decisions of a batch of N games while they are played.

    Attributes:
        count: decisions noted so far that have been followed by another of the same seat, or by the game's end.
    """

    def __init__(self, num_envs: int) -> None:
        self.count = 0
        self._open = np.zeros((num_envs, MAX_PLAYERS), np.bool_)  # seats with a decision that does not count yet
        self._numbers = np.arange(num_envs)  # of the game in each row
        self._next = num_envs
        self._games: list[NDArray[np.int64]] = []
        self._seats: list[NDArray[np.int64]] = []
        self._standing: list[NDArray[np.float32]] = []
        self._finals: dict[int, NDArray[np.float32]] = {}

    def decide(self, rows: NDArray[np.int64], seats: NDArray[Any], standing: NDArray[np.float32]) -> None:
        """Note a decision in each of the games `rows`, before it is carried out.

        Args:
            rows: int64 [n], the rows of the games.
            seats: [n], who decides.
            standing: float32 [n], how that seat stands.
        """
        self._games.append(self._numbers[rows])
        self._seats.append(seats.astype(np.int64))
        self._standing.append(standing)
        self.count += int(np.count_nonzero(self._open[rows, seats]))
        self._open[rows, seats] = True

    def end(self, row: int, reward: NDArray[np.float32]) -> None:
        """Note that the game in `row` has ended with a reward for each seat, and that a new one begins there."""
        self._finals[int(self._numbers[row])] = reward
        self.count += int(np.count_nonzero(self._open[row]))
        self._open[row] = False
        self._numbers[row] = self._next
        self._next += 1

    def close(self) -> Trajectories:
        """The trajectories, those of games that go on included."""
        if not self._games:
            nothing = np.zeros(0, np.int64)
            return Trajectories(
                nothing, np.zeros(1, np.int64), nothing, nothing, np.zeros(0, np.float32), np.zeros(0, np.bool_)
            )
        return book_by_seat(
            np.concatenate(self._games), np.concatenate(self._seats), np.concatenate(self._standing), self._finals
        )
