"""The action numbers of the board game, and their names in logs, records and commands.

All decisions share one `Discrete` space, with room for the largest map. `choices` sets the order; a test compares
the table in the docs with it. An exchange has the name of its active side, so some action names depend on the state:
see `names_in_play`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from siberia_env.board.components import (
    ACTIONS,
    EXCHANGE_TILES,
    FIRST_EXCHANGE,
    GAS,
    KINDS,
    MANAGER_COUNTER,
    MOST_AREAS,
    NUM_EXCHANGES,
    NUM_KINDS,
    NUM_PANEL_ACTIONS,
    NUM_PLACES,
    START,
    TILE_SIDES,
    UNUSED_AREA,
    Components,
)
from siberia_env.board.state import (
    CHOOSE_AREA,
    CHOOSE_EXCHANGE,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DISCARD,
    MOVE_FROM,
    MOVE_TO,
    NUM_PHASES,
    PLACE,
    PUT_WILDCARD,
    RECALL_PAWN,
    TAKE_PAWN,
    TAKE_TILE,
    TURN,
    State,
)
from siberia_env.common.components import NUM_RESOURCES, RESOURCES

#: B23: the counters that can lie at each action, as (action, kind): its own, and managers (B16).
LYING: tuple[tuple[int, int], ...] = tuple(
    (action, kind)
    for action in range(NUM_PANEL_ACTIONS)
    for kind in range(NUM_KINDS)
    if kind == MANAGER_COUNTER or action == 1 + kind // NUM_RESOURCES or action == GAS + kind % NUM_RESOURCES
)
NUM_LYING = len(LYING)
LYING_ACTION = np.array([action for action, _ in LYING], np.int8)
LYING_KIND = np.array([kind for _, kind in LYING], np.int8)
LYING_NUMBER = np.full((NUM_PANEL_ACTIONS, NUM_KINDS), -1, np.int8)  #: -1 where the kind can't lie at the action
LYING_NUMBER[LYING_ACTION, LYING_KIND] = np.arange(NUM_LYING)

SIDE = 0  #: `side <exchange>`, tile by tile
PLACE_RESEARCH = SIDE + TILE_SIDES * EXCHANGE_TILES
PLACE_PERSON = PLACE_RESEARCH + 1
PLACE_RESOURCE = PLACE_PERSON + 1
PASS = PLACE_RESOURCE + 1
ACT = PASS + 1  #: `act <action>`
RESOURCE = ACT + NUM_PANEL_ACTIONS  #: `resource <resource>`
AREA = RESOURCE + NUM_RESOURCES  #: `area <area>`
WILDCARD = AREA + MOST_AREAS  #: `wildcard <action>`, without the manager's own
WILDCARD_NONE = WILDCARD + NUM_PANEL_ACTIONS - 1
FROM = WILDCARD_NONE + 1  #: `from <area>`, with Vladivostok last
TO = FROM + NUM_PLACES  #: `to <area>`
STOP = TO + MOST_AREAS
PAWN_RESERVE = STOP + 1  #: `pawn reserve`, `pawn <exchange>`, `pawn <area>`, with Vladivostok last
PAWN_EXCHANGE = PAWN_RESERVE + 1
PAWN_AREA = PAWN_EXCHANGE + NUM_EXCHANGES
EXCHANGE = PAWN_AREA + NUM_PLACES  #: `exchange <exchange>`
CARD = EXCHANGE + NUM_EXCHANGES  #: `card <resource>`
TILE = CARD + NUM_RESOURCES  #: `tile <action>`
DISCARD_COUNTER = TILE + NUM_PANEL_ACTIONS  #: `discard <action> <counter>`, in the order of LYING
NUM_ACTIONS = DISCARD_COUNTER + NUM_LYING

NUM_PAWN_PLACES = EXCHANGE - PAWN_RESERVE

#: The numbers that each decision (a phase of the state) chooses among, as ranges: the first number, and the one after
#: the last. The mask, the check and the rules' verbs all go by these.
DECISIONS: dict[int, tuple[tuple[int, int], ...]] = {
    CHOOSE_SIDE: ((SIDE, PLACE_RESEARCH),),
    PLACE: ((PLACE_RESEARCH, PASS),),
    TURN: ((PASS, RESOURCE),),
    CHOOSE_RESOURCE: ((RESOURCE, AREA),),
    CHOOSE_AREA: ((AREA, WILDCARD),),
    PUT_WILDCARD: ((WILDCARD, FROM),),
    MOVE_FROM: ((FROM, TO), (STOP, PAWN_RESERVE)),
    MOVE_TO: ((TO, STOP),),
    TAKE_PAWN: ((PAWN_RESERVE, EXCHANGE), (CARD, TILE)),
    CHOOSE_EXCHANGE: ((EXCHANGE, CARD),),
    RECALL_PAWN: ((PAWN_RESERVE, EXCHANGE),),
    TAKE_TILE: ((TILE, DISCARD_COUNTER),),
    DISCARD: ((DISCARD_COUNTER, NUM_ACTIONS),),
}
MOST_RANGES = max(len(ranges) for ranges in DECISIONS.values())
#: The same for kernels, by phase; all other ranges are empty.
RANGE_START = np.zeros((NUM_PHASES, MOST_RANGES), np.int16)
RANGE_STOP = np.zeros((NUM_PHASES, MOST_RANGES), np.int16)
for _phase, _ranges in DECISIONS.items():
    for _number, (_start, _stop) in enumerate(_ranges):
        RANGE_START[_phase, _number], RANGE_STOP[_phase, _number] = _start, _stop


def choices(components: Components, sides: Sequence[int] | None = None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return every decision with the names of its actions, in action order.

    The table in the documentation is generated from this. Exchanges have the names of the active `sides` of their
    tiles; without `sides` they have both names.
    """
    return _choices(tuple(components.areas), components.exchange_tiles, sides)


def _choices(
    names: tuple[str, ...], exchange_tiles: tuple[tuple[str, ...], ...], sides: Sequence[int] | None
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    areas = (*names, *(f"{UNUSED_AREA} {number}" for number in range(len(names), MOST_AREAS)))
    places = (*areas, START)
    exchanges = [FIRST_EXCHANGE]
    for tile, both in enumerate(exchange_tiles):
        exchanges.append("/".join(both) if sides is None else both[sides[tile]])
    with_sides = [exchange for both in exchange_tiles for exchange in both]
    return (
        ("sides, tile by tile, by the starting player (B9)", tuple(f"side {exchange}" for exchange in with_sides)),
        ("place the next counter (B12)", ("place research", "place person", "place resource")),
        ("a player's turn (B13)", ("pass", *(f"act {action}" for action in ACTIONS))),
        (
            "research: a manager's resource; any cube's area (B15)",
            (*(f"resource {resource}" for resource in RESOURCES), *(f"area {area}" for area in areas)),
        ),
        ("the manager's wildcard (B16)", (*(f"wildcard {action}" for action in ACTIONS[1:]), "wildcard none")),
        (
            "logistician (B17)",
            (*(f"from {place}" for place in places), *(f"to {area}" for area in areas), "stop"),
        ),
        (
            "salesman, worker: which pawn, where to (B18, B19)",
            (
                "pawn reserve",
                *(f"pawn {exchange}" for exchange in exchanges),
                *(f"pawn {place}" for place in places),
                *(f"exchange {exchange}" for exchange in exchanges),
            ),
        ),
        ("salesman card (B25)", tuple(f"card {resource}" for resource in RESOURCES)),
        ("investor (B20)", tuple(f"tile {action}" for action in ACTIONS)),
        ("surplus counter (B23)", tuple(f"discard {ACTIONS[action]} {KINDS[kind]}" for action, kind in LYING)),
    )


@lru_cache(maxsize=256)
def _names_of(
    areas: tuple[str, ...], exchange_tiles: tuple[tuple[str, ...], ...], sides: tuple[int, ...] | None
) -> tuple[str, ...]:
    """Return all action names. They are cached, because logs and records ask for them at every decision."""
    return tuple(name for _, names in _choices(areas, exchange_tiles, sides) for name in names)


def _names(components: Components, sides: tuple[int, ...] | None) -> tuple[str, ...]:
    return _names_of(tuple(components.areas), components.exchange_tiles, sides)


def action_names(components: Components) -> tuple[str, ...]:
    """Return all action names. A name that depends on the active side of a tile has the names of both sides."""
    return _names(components, None)


def other_names(components: Components) -> dict[str, int]:
    """Map the other names that actions can have in play to their numbers."""
    numbers: dict[str, int] = {}
    general = action_names(components)
    for side in range(TILE_SIDES):
        for number, name in enumerate(_names(components, (side,) * EXCHANGE_TILES)):
            if name != general[number]:
                numbers[name] = number
    return numbers


def names_in_play(components: Components, state: State) -> tuple[str, ...]:
    """Return all action names in `state`. Once all sides are settled, exchanges have the names of the active ones."""
    if state.phase == CHOOSE_SIDE:
        return action_names(components)
    return _names(components, tuple(state.side.tolist()))
