"""The state of one card game: a fixed-size record of integers that includes the random generator.

A copy is an assignment, a batch is an array, a checkpoint is bytes. The record also keeps fields that could be derived,
where the rules or the observation read them often. They are marked *running*, and a test recomputes each from the rest.
The fields that every decision reads come first and lie together: the speed of a batch larger than the processor's
caches depends on that.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from siberia_env.card.components import (
    ACTION_CARDS,
    NUM_KINDS,
    NUM_SYMBOLS,
    RESOURCE_CARDS,
    ROW_SLOTS,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.game import MAX_PLAYERS

#: A record of `STATE`, and a record of the ruleset. numba and numpy know their fields; type checkers don't.
State: TypeAlias = Any
Ruleset: TypeAlias = Any

# The phases of a turn, then the shuffle, the setup and the end.
DISCOVER, CHOOSE, PAYING, SHUFFLE, SETUP, OVER = range(6)

# Which card of a payment comes next (C19).
NOT_PAYING, FIRST_CARD, SECOND_CARD, LAST_OF_TWO = range(4)

NOBODY = -1  #: owner of a person card still in the supply
EMPTY = -1  #: a row slot without a card
NOTHING = -1  #: no action chosen

STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("generator", "u8"),  # splitmix64
                ("score", "i2", (MAX_PLAYERS,)),  # running: current total (C16), thousands
                ("turn", "i2"),  # turns finished, all players together
                ("phase", "i1"),  # DISCOVER .. OVER
                ("player", "i1"),  # whose turn
                ("chosen", "i1"),  # the action being paid for, counted from CARD_ACTIONS; NOTHING
                ("payment", "i1"),  # NOT_PAYING .. LAST_OF_TWO
                ("draws_left", "i1"),  # cards still to be drawn after the shuffle that is due
                ("turns_to_end", "i1"),  # C15: this turn and those after it; 0 while the end is not in sight
                ("hit_limit", "i1"),  # C17: 1 if the turn limit ended the game
                ("face_down", "i1"),  # running: face-down cards in the row
                ("workers_left", "i1"),  # in the supply
                ("action_stack_size", "i1"),
                ("discard_size", "i1"),  # running
                ("resource_stack_size", "i1"),
                ("row", "i1", (ROW_SLOTS,)),  # card numbers, slot 0 beside the headframe; EMPTY
                ("face_up", "i1", (ROW_SLOTS,)),  # 1 where the slot's card is revealed
                ("hand", "i1", (MAX_PLAYERS, NUM_KINDS)),  # number of each kind of action card
                ("symbols", "i1", (MAX_PLAYERS, NUM_SYMBOLS)),  # running: cards in hand that show each symbol
                ("hand_size", "i1", (MAX_PLAYERS,)),  # running
                ("workers", "i1", (MAX_PLAYERS,)),
                ("salesmen", "i1", (MAX_PLAYERS,)),  # running: how many
                ("investors", "i1", (MAX_PLAYERS,)),  # running: how many
                ("salesman_owner", "i1", (NUM_SYMBOLS,)),  # player, or NOBODY
                ("investor_owner", "i1", (NUM_RESOURCES,)),  # player, or NOBODY
                ("discard", "i1", (NUM_KINDS,)),  # number of each kind
                # What a perfect memory keeps (C18). "Since": since the last reshuffle, or the start.
                ("held", "i1", (MAX_PLAYERS, NUM_KINDS)),  # hands when the discard pile last became the stack, or 0
                ("known", "i1", (MAX_PLAYERS, NUM_KINDS)),  # running: cards each knows that the others hold together
                ("drawn", "i1", (MAX_PLAYERS,)),  # how many cards each player has drawn since
                ("pile", "i1", (ACTION_CARDS,)),  # the discard pile from the bottom up: `card_on_pile`; 0 above it
                ("pile_drawn", "i1", (ACTION_CARDS,)),  # for each card on it: `drawn` of its player then
                ("unused", "i1", (2,)),  # explicit padding, so that equal states are equal bytes
                ("captured", "i1", (MAX_PLAYERS, NUM_RESOURCES)),  # number of captured resource cards
                ("captured_value", "i2", (MAX_PLAYERS, NUM_RESOURCES)),  # running: printed values, thousands
                ("captured_best_value", "i2", (MAX_PLAYERS, NUM_RESOURCES)),  # running: value with the salesman (C16)
                ("action_stack", "i1", (ACTION_CARDS,)),  # kinds, the top card last; stale above the size
                ("resource_stack", "i1", (RESOURCE_CARDS,)),  # card numbers, the top card last; stale above the size
            ],
            align=True,
        ),
    )
)
