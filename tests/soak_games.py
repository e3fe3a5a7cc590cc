"""Plays a few checked random games: `python -m tests.soak_games card`, `board`, or `broken` (a card game with faults).

This compiles what `tests/test_soak.py` needs, in one process (see `tests/compiling.py`).
"""

from __future__ import annotations

import sys

import numpy as np

from siberia_env.game import Variant, find_game
from tests import broken_card, soak, soak_loop

VARIANTS = {
    "card": lambda: find_game("card").variant(2),
    "board": lambda: find_game("board").variant(2),
    "broken": lambda: broken_card.GAME.variant(2),
}


def play(variant: Variant) -> None:
    """Play some games, and check one state and one step from Python as well."""
    findings = soak.play(variant, soak.Job(variant.game.name.split()[-1], 0, 0, 500))
    assert not findings.broken, findings.broken
    states = variant.new_states(2)
    ledger, tally = np.zeros(soak_loop.LEDGER_SIZE, np.int64), np.zeros(soak_loop.TALLY_SIZE, np.int64)
    soak_loop.check_at(variant.rulesets, states, 1)
    soak_loop.check_step_at(variant.rulesets, states, 0, 1, 0, ledger, tally)


if __name__ == "__main__":
    play(VARIANTS[sys.argv[1]]())
