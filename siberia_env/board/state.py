"""The state of one board game: a fixed-size record of integers that includes the random generator.

A copy is an assignment, a batch is an array, a checkpoint is bytes. A set of areas is an integer with bit a for area a.
A few operations on whole sets find what lies where, where workers stand, and where a step leads. The record also keeps
fields that could be derived, where the rules or the observation read them often. They are marked *running*, and a test
recomputes each from the rest.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from siberia_env.board.components import (
    COUNTERS_DRAWN,
    EXCHANGE_TILES,
    MOST_TILES,
    NUM_EXCHANGES,
    NUM_KINDS,
    NUM_PANEL_ACTIONS,
    NUM_PLACES,
    SPACES,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.game import MAX_PLAYERS

#: A record of `STATE`, and a record of the ruleset. numba and numpy know their fields; type checkers don't.
State: TypeAlias = Any
Ruleset: TypeAlias = Any

# The decisions, then the two chance outcomes (B8, B11), then the end.
(
    CHOOSE_SIDE,  # B9
    PLACE,  # B12
    TURN,  # B13
    CHOOSE_RESOURCE,  # B15: for a manager at research
    CHOOSE_AREA,  # B15: for a cube
    PUT_WILDCARD,  # B16
    MOVE_FROM,  # B17
    MOVE_TO,  # B17
    TAKE_PAWN,  # B18
    CHOOSE_EXCHANGE,  # B18
    RECALL_PAWN,  # B19
    TAKE_TILE,  # B20
    DISCARD,  # B23
    DRAW,
    SETUP,
    OVER,
) = range(16)
NUM_DECISIONS = DRAW
NUM_PHASES = OVER + 1

# Where a counter of a plan goes (B12).
NOT_PLACED, AT_RESEARCH, AT_PERSON, AT_RESOURCE = range(4)

NOBODY = -1  #: owner of a salesman card beside the board
EMPTY = -1  #: a space without a counter; no counter drawn
NOTHING = -1  #: no resource, no place

RESEARCH_COLUMNS = NUM_RESOURCES + 1  #: B15: counters at research by resource, then managers
RESEARCH_MANAGERS = NUM_RESOURCES

STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("generator", "u8"),  # splitmix64
                ("money", "i2", (MAX_PLAYERS,)),  # thousands
                ("lying", "i4", (NUM_RESOURCES,)),  # set of the areas where a cube of the resource lies
                ("open", "i4"),  # running: set of the areas with a cube, those that are not exhausted
                ("presence", "i4", (MAX_PLAYERS,)),  # running: set of the areas with a worker of the player
                ("steps", "i4", (NUM_PLACES,)),  # running: set of the open areas one step away (B17)
                ("rounds", "i2"),  # rounds finished
                ("phase", "i1"),  # CHOOSE_SIDE .. OVER
                ("player", "i1"),  # whose decision
                ("start", "i1"),  # starting player of the round
                ("passed", "i1"),  # set of the players who have passed (B13)
                ("placed", "i1"),  # counters that the player on turn has placed (B12)
                ("resource", "i1"),  # B15: resource of the cube to be placed; NOTHING
                ("origin", "i1"),  # B17, B18: where the chosen pawn stands, counted from actions.PAWN_RESERVE
                ("steps_left", "i1"),  # B17: steps left to the logistician
                ("hit_limit", "i1"),  # B24: 1 if the round limit ended the game
                ("exhausted", "i1"),  # running: number of exhausted areas
                ("bag_size", "i1"),  # running
                ("tile_stack_size", "i1"),
                ("bag", "i1", (NUM_KINDS,)),  # counters of each kind
                ("reserve", "i1", (NUM_RESOURCES,)),  # cubes beside the map
                ("pawns", "i1", (MAX_PLAYERS,)),  # in the player's reserve
                ("workers", "i1", (MAX_PLAYERS, NUM_PLACES)),  # by area, Vladivostok last
                ("salesmen", "i1", (MAX_PLAYERS, NUM_EXCHANGES)),
                ("best_price", "i1", (MAX_PLAYERS, NUM_RESOURCES)),  # running: best price open (B21); 0: none
                ("panel", "i1", (MAX_PLAYERS, NUM_PANEL_ACTIONS, SPACES)),  # kind on the space; EMPTY
                ("covered", "i1", (MAX_PLAYERS, NUM_PANEL_ACTIONS)),  # running: counters on the spaces of the action
                ("tiles", "i1", (MAX_PLAYERS, NUM_PANEL_ACTIONS)),  # 1 where an investment tile lies
                ("counters", "i1", (MAX_PLAYERS,)),  # running: on the panel's spaces
                ("research", "i1", (MAX_PLAYERS, RESEARCH_COLUMNS)),  # counters still to be resolved (B15)
                ("research_size", "i1", (MAX_PLAYERS,)),  # counters lying at research; 0 once it has begun
                ("drawn", "i1", (MAX_PLAYERS, COUNTERS_DRAWN)),  # kinds drawn this round, sorted (B12)
                ("plan", "i1", (MAX_PLAYERS, COUNTERS_DRAWN)),  # where each of them goes: NOT_PLACED .. AT_RESOURCE
                (
                    "planned",
                    "i1",
                    (MAX_PLAYERS, NUM_PANEL_ACTIONS),
                ),  # running: planned for the action; 0 after the reveal
                ("card_owner", "i1", (NUM_RESOURCES,)),  # B25: player, or NOBODY
                ("side", "i1", (EXCHANGE_TILES,)),  # B9: active side, 0 or 1
                ("sides_chosen", "i1"),  # B9: number of tiles whose side is settled
                ("face_up", "i1", (NUM_PANEL_ACTIONS,)),  # investment tiles face up, by action
                ("tile_stack", "i1", (MOST_TILES,)),  # actions, the top tile last; stale above the size
                ("unused", "i1", (3,)),  # explicit padding to a whole number of 8 bytes
            ],
            align=True,
        ),
    )
)
