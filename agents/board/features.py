"""What the plans of the board game see in a state: facts that hold whatever a plan makes of them.

All of it is public or the player's own.
"""

from __future__ import annotations

from siberia_env.board.components import NUM_PLACES
from siberia_env.board.rules import size_of
from siberia_env.board.state import Ruleset, State
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel


@kernel
def stands_at(state: State, player: int, area: int) -> int:
    """1 if the player has a worker in the area, else 0."""
    return (int(state.presence[player]) >> area) & 1


@kernel
def is_near(state: State, player: int, area: int) -> int:
    """1 if the area is one step from one of the player's workers, else 0."""
    near = 0
    for place in range(NUM_PLACES):
        if state.workers[player, place] > 0:
            near |= (int(state.steps[place]) >> area) & 1
    return near


@kernel
def cubes_at_workers(state: State, player: int, resource: int) -> int:
    """How many cubes of the resource lie where the player has a worker."""
    return size_of(int(state.lying[resource]) & int(state.presence[player]))


@kernel
def sale(state: State, player: int, resource: int) -> float:
    """What the resource's action would bring now (B21)."""
    return float(cubes_at_workers(state, player, resource) * int(state.best_price[player, resource]))


@kernel
def side_value(ruleset: Ruleset, number: int) -> float:
    """What the side of an exchange tile pays for all cubes in the box."""
    value = 0
    for resource in range(NUM_RESOURCES):
        value += int(ruleset.price[1 + number, resource]) * int(ruleset.cubes[resource])
    return float(value)
