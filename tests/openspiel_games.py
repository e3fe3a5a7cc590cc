"""OpenSpiel's own test plays whole games: `python -m tests.openspiel_games`, some minutes.

`tests/test_openspiel.py` plays short ones in the same way.
"""

from __future__ import annotations

import itertools
import time

import pyspiel

import siberia_env.openspiel as _registered  # noqa: F401

CARD = [{"edition": edition} for edition in ("dlp", "oya", "digital")]
BOARD = [{"sides": "choose"}, {"sides": "random", "salesman_cards": True}]
REWARDS = ("win", "margin", "score")


def main() -> None:
    """Play a game of each kind, for each number of players and each reward."""
    for (name, options), players in itertools.product(
        [*(("siberia_card", options) for options in CARD), *(("siberia_board", options) for options in BOARD)],
        (2, 3, 4),
    ):
        for reward in REWARDS:
            game = pyspiel.load_game(name, {"players": players, "reward": reward, **options})
            started = time.perf_counter()
            pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
            print(f"{game}: passed in {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
