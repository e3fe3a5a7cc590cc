"""What an agent is shown: the observation and mask of the seat on turn, and samples of what it can't see.

A view does not hold the true state. It holds one representative of the player's information set, in which what the
player can't see was drawn anew. The view draws its samples from this representative. They depend only on what the
player knows and on the seed, so they are the same as if they came from the true state. A view that you keep for later
still samples what its player knew at the time.

docs/agents.md says how far this protects against an agent that wants to cheat. Within one process an agent can't see
hidden information by accident, but Python lets code that looks for it find the game itself.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.core import engine
from siberia_env.core.rng import derive
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant, copy_states

REPRESENTATIVE = np.uint64(0)  #: the seed of the representatives that views hold


@dataclass(frozen=True)
class View:
    """One decision, as the player on turn sees it. It can be pickled.

    Attributes:
        variant: the game, with its players, rules and components.
        observation: float32 [O], what the player sees.
        mask: int8 [A], 1 for legal actions.
        player: the seat on turn.
        representative: array of one state that the player can't tell from the true one. What is hidden is drawn anew.
        row: number of the game within its batch, on which the samples depend; None for a game on its own.
    """

    variant: Variant
    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    player: int
    representative: States
    row: int | None = None

    @cached_property
    def legal_actions(self) -> list[int]:
        """The numbers of the legal actions, in order."""
        return [int(action) for action in np.flatnonzero(self.mask)]

    def sample(self, seed: int) -> States:
        """An array of one state, drawn from the player's information set; `seed` is 0 .. 2**64 - 1.

        For one game of a batch this equals its row of the batch's sample.
        """
        whole: Any = np.uint64(seed)
        generator = whole if self.row is None else np.uint64(derive(whole, self.row, 0))  # as in determinize_batch
        sampled = copy_states(self.representative)
        engine.determinize_at(self.variant.rulesets, sampled, 0, self.player, generator)
        return sampled


@dataclass(frozen=True)
class BatchView:
    """One decision in each of n games of one variant. It can be pickled.

    Attributes:
        variant: the game, with its players, rules and components.
        observation: float32 [n, O].
        mask: int8 [n, A].
        player: int8 [n], the seat on turn.
        representative: array of n states; no player can tell its own from the true one. What is hidden is drawn anew.
    """

    variant: Variant
    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    player: NDArray[np.int8]
    representative: States

    def __len__(self) -> int:
        return len(self.mask)

    def sample(self, seed: int) -> States:
        """An array of n states, one from each player's information set; `seed` is 0 .. 2**64 - 1."""
        sampled = copy_states(self.representative)
        engine.determinize_batch(self.variant.rulesets, sampled, self.player, np.uint64(seed))
        return sampled

    def view(self, row: int) -> View:
        """The view of game `row` of the batch alone.

        Raises:
            ConfigurationError: the batch has no such game.
        """
        row = checked_index("row", row, len(self))
        return View(
            self.variant,
            self.observation[row].copy(),
            self.mask[row].copy(),
            int(self.player[row]),
            copy_states(self.representative, slice(row, row + 1)),
            row,
        )


def view_games(
    variant: Variant,
    states: States,
    rows: NDArray[np.int64],
    observation: NDArray[np.float32],
    mask: NDArray[np.int8],
    player: NDArray[np.int8],
) -> BatchView:
    """The games `rows` of a batch as their players on turn see them. The arrays given are those of the whole batch."""
    representative, seats = copy_states(states, rows), player[rows]
    engine.determinize_batch(variant.rulesets, representative, seats, REPRESENTATIVE)
    return BatchView(variant, observation[rows], mask[rows], seats, representative)


def checked_index(name: str, index: Any, size: int) -> int:
    """`index` as an int, if it is one from 0 to `size` - 1. Compiled code reads wherever an index leads.

    Raises:
        ConfigurationError: it is not.
    """
    try:
        number = -1 if isinstance(index, bool) else operator.index(index)
    except TypeError:
        number = -1
    if not 0 <= number < size:
        raise ConfigurationError(f"{name}: {index!r} is not the number of one of {size} games, counted from 0")
    return number


def view_state(variant: Variant, states: States, i: int) -> View:
    """The decision in `states[i]` as its player on turn sees it.

    Raises:
        ConfigurationError: there is no such state, or nobody is on turn there.
    """
    if not isinstance(states, np.ndarray) or states.ndim != 1 or states.dtype != variant.game.state_dtype:
        raise ConfigurationError(f"states: expected an array of states of {variant.game.title}")
    i = checked_index("i", i, len(states))
    rulesets = variant.rulesets
    if engine.is_over_at(rulesets, states, i) or engine.is_chance_at(rulesets, states, i):
        raise ConfigurationError("view: no decision is due in this state")
    player = engine.current_player_at(rulesets, states, i)
    observation = np.zeros(variant.game.observation_size, np.float32)
    mask = np.zeros(variant.game.num_actions, np.int8)
    engine.observe_at(rulesets, states, i, player, observation)
    engine.legal_at(rulesets, states, i, mask)
    representative = copy_states(states, slice(i, i + 1))
    engine.determinize_at(rulesets, representative, 0, player, REPRESENTATIVE)
    return View(variant, observation, mask, player, representative)
