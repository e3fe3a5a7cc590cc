"""What the observations of both games are written with: relative seats, and the step from quantities to values."""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.core.jit import kernel_part
from siberia_env.game import MAX_PLAYERS

PLAYER_COUNTS = MAX_PLAYERS - 1  #: 2, 3, 4


@kernel_part
def scaled(quantity: Any, scale: Any) -> Any:
    """From a quantity to a value in [-1, 1]."""
    return max(min(quantity * scale, np.float32(1)), np.float32(-1))


@kernel_part
def seated(player: int, seat: int, players: int) -> int:
    """The player who sits `seat` seats after `player`; for an empty seat a number that no player has.

    The fields of a player who is not there are zero: blocks need not ask whether a seat is taken.
    """
    other = player + seat - players
    other = other + players if other < 0 else other
    return other if seat < players else seat


@kernel_part
def seat_of(other: int, player: int, players: int) -> int:
    """How many seats after `player` the player `other` sits; any seat for -1, which is nobody."""
    seat = other - player
    return seat + players if seat < 0 else seat
