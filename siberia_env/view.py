"""What an agent is shown: the observation and mask of the seat on turn, and samples of what it can't see.

The true states stay behind a closure: an agent gets determinized ones, so it can search but not cheat. A view
keeps the states of its moment: one that is held back still samples what its player saw then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env import loops
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant, copy_states
from siberia_env.generator import mix


@dataclass(frozen=True)
class View:
    """One decision, as the player on turn sees it.

    Attributes:
        variant: the game, with its players, rules and components.
        observation: float32 [O].
        mask: int8 [A], 1 for legal actions.
        player: the seat on turn.
        sample: `sample(seed)` is an array of one state, drawn from the player's information set.
    """

    variant: Variant
    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    player: int
    sample: Callable[[int], States]

    @cached_property
    def legal_actions(self) -> list[int]:
        """The numbers of the legal actions, in order."""
        return [int(action) for action in np.flatnonzero(self.mask)]


@dataclass(frozen=True)
class BatchView:
    """One decision in each of n games of one variant.

    Attributes:
        variant: the game, with its players, rules and components.
        observation: float32 [n, O].
        mask: int8 [n, A].
        player: int8 [n], the seat on turn.
        sample: `sample(seed)` is an array of n states, one from each player's information set.
        sample_row: `sample_row(seed, row)` is `sample(seed)[row : row + 1]`, without sampling the others.
    """

    variant: Variant
    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    player: NDArray[np.int8]
    sample: Callable[[int], States]
    sample_row: Callable[[int, int], States]

    def __len__(self) -> int:
        return len(self.mask)

    def view(self, row: int) -> View:
        """Game `row` of the batch alone."""
        return View(
            self.variant,
            self.observation[row],
            self.mask[row],
            int(self.player[row]),
            lambda seed: self.sample_row(seed, row),
        )


def view_games(
    variant: Variant,
    states: States,
    rows: NDArray[np.int64],
    observation: NDArray[np.float32],
    mask: NDArray[np.int8],
    player: NDArray[np.int8],
) -> BatchView:
    """The games `rows` of a batch as their players on turn see them; arrays are those of the whole batch."""
    held, seats = copy_states(states, rows), player[rows]

    def sample(seed: int) -> States:
        sampled = copy_states(held)
        loops.determinize_batch(variant.rulesets, sampled, seats, np.uint64(seed))
        return sampled

    def sample_row(seed: int, row: int) -> States:
        sampled = copy_states(held, slice(row, row + 1))
        whole: Any = np.uint64(seed)
        generator = np.uint64(mix(whole, row, 0))  # as in determinize_batch
        loops.determinize_at(variant.rulesets, sampled, 0, int(seats[row]), generator)
        return sampled

    return BatchView(variant, observation[rows], mask[rows], seats.copy(), sample, sample_row)


def view_state(variant: Variant, states: States, i: int) -> View:
    """The decision in `states[i]` as its player on turn sees it.

    Raises:
        ConfigurationError: nobody is on turn there.
    """
    rulesets = variant.rulesets
    if loops.is_over_at(rulesets, states, i) or loops.is_chance_at(rulesets, states, i):
        raise ConfigurationError("view: no decision is due in this state")
    player = loops.current_player_at(rulesets, states, i)
    observation = np.zeros(variant.game.observation_size, np.float32)
    mask = np.zeros(variant.game.num_actions, np.int8)
    loops.observe_at(rulesets, states, i, player, observation)
    loops.legal_at(rulesets, states, i, mask)

    held = copy_states(states, slice(i, i + 1))

    def sample(seed: int) -> States:
        sampled = copy_states(held)
        loops.determinize_at(rulesets, sampled, 0, player, np.uint64(seed))
        return sampled

    return View(variant, observation, mask, player, sample)
