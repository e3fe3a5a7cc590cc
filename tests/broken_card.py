"""The card game with faults that can be chosen, to see that `tests/soak.py` finds them.

Its states have one more field, `fault`, the number of one of FAULTS; `deal` leaves it as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from siberia_env.card import transition
from siberia_env.card.determinize import determinize as determinize_well
from siberia_env.card.game import GAME as WHOLE
from siberia_env.card.state import OVER, STATE
from siberia_env.core.jit import kernel
from siberia_env.game import register
from tests.card.invariants import check, check_step

FAULTS = (
    "none",
    "a score grows by itself",
    "a lost card",
    "an action that is always legal by word",
    "a count one too high",
    "nothing is legal",
    "other scores than the state's",
    "limit hit in any case",
    "asking changes the state",
    "legal after the end",
    "a sample with another own hand",
    "a sample that peeks",
    "a sample with another player on turn",
    "a sample with another mask",
    "a sample with a symbol too many",
)
(
    NONE,
    GROWING_SCORE,
    LOST_CARD,
    ALWAYS_LEGAL,
    HIGH_COUNT,
    NOTHING_LEGAL,
    OTHER_SCORES,
    ALWAYS_HIT_LIMIT,
    ASKING_CHANGES,
    LEGAL_AFTER_THE_END,
    OTHER_OWN_HAND,
    PEEKING_SAMPLE,
    OTHER_ON_TURN,
    OTHER_MASK,
    SYMBOL_TOO_MANY,
) = range(len(FAULTS))
IN_THE_SAMPLE = 100  #: added to a fault that waits in a sample

BROKEN_STATE = np.dtype(
    (
        np.record,
        np.dtype([*((name, STATE.fields[name][0]) for name in STATE.names or ()), ("fault", "i8")], align=True),
    )
)


@kernel
def apply(ruleset: Any, state: Any, action: int) -> None:
    transition.apply(ruleset, state, action)
    if state.fault == GROWING_SCORE and state.turn == 3:
        state.score[0] += 1
    if state.fault == LOST_CARD and state.turn == 5:
        state.action_stack_size -= 1


@kernel
def is_legal(ruleset: Any, state: Any, action: int) -> bool:
    if state.fault == ALWAYS_LEGAL and action == 3:
        return True
    if state.fault == ASKING_CHANGES:
        state.generator += np.uint64(1)
    if state.fault == LEGAL_AFTER_THE_END and state.phase == OVER:
        return True
    return transition.is_legal(ruleset, state, action)


@kernel
def legal(ruleset: Any, state: Any, mask: Any) -> int:
    count = transition.legal(ruleset, state, mask)
    if state.fault == HIGH_COUNT:
        count += 1
    if state.fault == NOTHING_LEGAL and state.turn == 2:
        count = 0
    if state.fault == OTHER_MASK + IN_THE_SAMPLE:
        mask[0] = 1 - mask[0]
    return count


@kernel
def scores(ruleset: Any, state: Any, out: Any) -> None:
    transition.scores(ruleset, state, out)
    if state.fault == OTHER_SCORES and state.turn == 4:
        out[1] += 1


@kernel
def has_hit_limit(ruleset: Any, state: Any) -> bool:
    return state.fault == ALWAYS_HIT_LIMIT or transition.has_hit_limit(ruleset, state)


@kernel
def current_player(ruleset: Any, state: Any) -> int:
    player = transition.current_player(ruleset, state)
    return 1 - player if state.fault == OTHER_ON_TURN + IN_THE_SAMPLE else player


@kernel
def determinize(ruleset: Any, state: Any, player: int, generator: Any) -> None:
    bottom = state.action_stack[0]
    determinize_well(ruleset, state, player, generator)
    if state.fault == OTHER_OWN_HAND:
        state.hand[player, 0] += 1
    elif state.fault == PEEKING_SAMPLE:
        state.generator += np.uint64(bottom)
    elif state.fault in (OTHER_ON_TURN, OTHER_MASK):
        state.fault += IN_THE_SAMPLE
    elif state.fault == SYMBOL_TOO_MANY:
        state.symbols[1 - player, 2] += 1


GAME = replace(
    WHOLE,
    name="broken card",
    state_dtype=BROKEN_STATE,
    kernels={
        **WHOLE.kernels,
        "apply": apply,
        "is_legal": is_legal,
        "legal": legal,
        "scores": scores,
        "has_hit_limit": has_hit_limit,
        "current_player": current_player,
        "determinize": determinize,
    },
)
register(BROKEN_STATE, {"check": check, "check_step": check_step})
