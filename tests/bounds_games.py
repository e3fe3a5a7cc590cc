"""Random games with every array access checked: run with `NUMBA_BOUNDSCHECK=1` by `test_compiled`."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from siberia_env import loops, vector
from siberia_env.card.components import KINDS, Components
from siberia_env.card.game import GAME
from siberia_env.compiled import cache_folder, kernel
from siberia_env.tables import RESOURCES

ODD_NUMBERS = (-(2**62), -300, -1, 46, 50, 51, 52, 127, 128, 300, 2**31, 2**62)
SMALL_BOX = Components(
    action_cards={kind: 1 + (index % 3) for index, kind in enumerate(KINDS)},
    resource_cards={**dict.fromkeys(RESOURCES, ()), "gas": (1, 2, 3), "gold": (4, 5)},
    workers=4,
)


@kernel
def beyond(array: Any, index: int) -> Any:
    """Reads where it is told."""
    return array[index]


def check_that_bounds_are_checked() -> None:
    """An access beyond the end has to raise, or this run shows nothing."""
    assert numba.config.BOUNDSCHECK == 1
    try:
        beyond(np.zeros(3), 3)
    except IndexError:
        return
    raise AssertionError("bounds are not checked")


def main() -> None:
    """Play."""
    check_that_bounds_are_checked()
    print("cache", cache_folder(loops.step_batch))
    games = 0
    for players in (2, 3, 4):
        for edition in ("dlp", "oya", "digital"):
            for components in (None, SMALL_BOX):
                env = vector.make("card", 8, players, players, {"edition": edition, "max_turns": 60}, components)
                step = env.reset()
                states, rulesets = env.states, env.variant.rulesets
                actions = np.zeros(8, np.int64)
                hidden = np.zeros(GAME.hidden_size, np.float32)
                for draw in range(250):
                    for action in ODD_NUMBERS:
                        actions[:] = action
                        assert loops.first_illegal(rulesets, states, actions, 0, 8) == 0
                    loops.sample_batch(step.mask, step.num_legal, np.uint64(5), draw, actions)
                    step = env.step(actions)
                    games += int(step.terminated.sum())
                    env.observe(np.full(8, draw % players))
                    loops.observe_hidden_at(rulesets, states, draw % 8, hidden)
                    guess = states[draw % 8 : draw % 8 + 1].copy()
                    loops.determinize_at(rulesets, guess, 0, draw % players, np.uint64(draw))
                    if draw % 25 == 0:
                        loops.random_playout(rulesets, guess, 0, step.mask[0].copy(), np.uint64(draw))
                        loops.observe_at(rulesets, guess, 0, 0, step.observation[0].copy())
    print("games", games)


if __name__ == "__main__":
    main()
