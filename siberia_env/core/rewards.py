"""What the players are paid at the end of a game, whichever game it is: for winning, by the margin, or by the score.

The rules know scores only. The engine, the environments and the search make rewards of them here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.core.jit import kernel
from siberia_env.errors import ConfigurationError

#: Rewards, by number (see `reward_of`).
REWARDS = ("win", "margin", "score")
WIN, MARGIN, SCORE = range(3)
MARGIN_UNIT = 10.0  # points: in both games of the suite a margin of 1 is 10 000 dollars


def reward_number(reward: str) -> int:
    """The number by which kernels know the reward called `reward`.

    Raises:
        ConfigurationError: there is no such reward.
    """
    if reward not in REWARDS:
        raise ConfigurationError(f"reward: no {reward!r}; there are {', '.join(REWARDS)}")
    return REWARDS.index(reward)


@kernel
def winner_flags(totals: Any, players: int, out: Any) -> int:
    """Write 1 for each player with the highest of `totals` into `out`; return how many."""
    best = totals[0]
    for player in range(1, players):
        best = max(best, totals[player])
    count = 0
    for player in range(players):
        won = totals[player] == best
        out[player] = won
        count += won
    return count


@kernel
def reward_of(kind: int, totals: Any, winners: Any, num_winners: int, players: int, out: Any) -> None:
    """Write each player's reward at the end of a game into `out` (float32).

    `WIN`, with n players: (n w - 1)/(n - 1), where w is 1/k for each of k winners and 0 for the others. It is zero-sum
    and at most 1. `MARGIN`: the player's score less the mean of the others' scores, in tens of points. `SCORE`: the
    player's score, in points. A point is a thousand dollars in both games of the suite.
    """
    together = 0
    for player in range(players):
        together += int(totals[player])
    for player in range(players):
        own = int(totals[player])
        if kind == WIN:
            share = winners[player] / num_winners
            out[player] = np.float32((players * share - 1.0) / (players - 1))
        elif kind == MARGIN:
            out[player] = np.float32((own - (together - own) / (players - 1)) / MARGIN_UNIT)
        else:
            out[player] = np.float32(own)
