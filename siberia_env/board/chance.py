"""Chance nodes of the board game: one cube, side, tile or counter at a time (`siberia_env.common.chance`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from siberia_env.board.actions import PLACE_RESEARCH
from siberia_env.board.components import (
    ACTIONS,
    CHOOSE_SIDES,
    COUNTERS_DRAWN,
    CUBES_PER_AREA,
    EXCHANGE_TILES,
    KINDS,
    NUM_PANEL_ACTIONS,
    PANEL_LIMIT,
    RANDOM_SIDES,
    STEPS,
    TILE_SIDES,
    TILES_FACE_UP,
)
from siberia_env.board.state import AT_RESEARCH, DRAW, SETUP
from siberia_env.common.chance import Draw, without
from siberia_env.common.components import NUM_RESOURCES, RESOURCES
from siberia_env.game import States, Variant

# The numbers of the outcomes: cubes by resource, sides by exchange tile, investment tiles by action, counters by kind.
FIRST_SIDE = NUM_RESOURCES
FIRST_TILE = FIRST_SIDE + EXCHANGE_TILES * TILE_SIDES
FIRST_COUNTER = FIRST_TILE + NUM_PANEL_ACTIONS

MOST_TURNS = PANEL_LIMIT + COUNTERS_DRAWN  #: turns of a player in a round: each takes a counter off the panel
DECISIONS_A_TURN = 1 + 2 * STEPS  #: the longest action is that of the logistician


def names(variant: Variant) -> tuple[str, ...]:
    """The names of all outcomes, in order of their numbers."""
    return (
        *(f"cube {resource}" for resource in RESOURCES),
        *(f"side {exchange}" for both in variant.components.exchange_tiles for exchange in both),
        *(f"tile {action}" for action in ACTIONS),
        *(f"counter {kind}" for kind in KINDS),
    )


def next_draw(variant: Variant, before: States, after: States, drawn: tuple[int, ...]) -> Draw | None:
    """The draw that is due; None if everything is drawn (`ChanceRoom.next_draw`)."""
    old, new = before[0], after[0]
    if old.phase == SETUP:
        return _next_of_setup(variant, drawn)
    if old.phase == DRAW:
        return _next_of_counters(variant, old.bag, int(old.start), drawn)
    stack = old.tile_stack[: old.tile_stack_size].tolist()
    return _next_of_tiles(stack, len(stack) - int(new.tile_stack_size), drawn)


def arrange(variant: Variant, states: States, after: States, drawn: tuple[int, ...]) -> None:
    """Put what is drawn where it is taken from, or settle the chance that is due with it (`ChanceRoom.arrange`)."""
    state = states[0]
    if state.phase == SETUP:
        variant.force(states, 0, _whole_setup(variant, drawn))
    elif state.phase == DRAW:
        variant.force(states, 0, [kind - FIRST_COUNTER for kind in drawn])
    else:
        size = int(state.tile_stack_size)
        state.tile_stack[:size] = _with_on_top(state.tile_stack[:size].tolist(), drawn)


def most_draws(variant: Variant) -> int:
    """At most so many pieces are drawn in a game."""
    ruleset = variant.rulesets[0]
    counters = COUNTERS_DRAWN * variant.num_players * int(ruleset.max_rounds)
    return int(ruleset.cubes.sum()) + EXCHANGE_TILES + int(ruleset.tiles.sum()) + counters


def most_decisions(variant: Variant) -> int:
    """At most so many decisions are taken in a game.

    The sides take five. In a round, a player has a decision for each of six counters, two more for each of them at
    research, the turns and a pass, and returns ten counters at most. A turn takes a counter off the panel, and a
    wildcard puts one on, so there can be twice as many turns as counters.
    """
    a_round = COUNTERS_DRAWN * 3 + 2 * MOST_TURNS * DECISIONS_A_TURN + 1 + PANEL_LIMIT
    return EXCHANGE_TILES + int(variant.rulesets[0].max_rounds) * variant.num_players * a_round


def highest_score(variant: Variant) -> int:
    """No score of a game is higher, in points: each cube is sold once, at the best price."""
    ruleset = variant.rulesets[0]
    return int(ruleset.cubes.sum()) * max(int(ruleset.price.max()), int(ruleset.card_price.max()))


# ---------------------------------------------------------------- the setup


def _next_of_setup(variant: Variant, drawn: tuple[int, ...]) -> Draw | None:
    """B8: cubes until each area holds two different ones. B9: the sides. B10: the first tiles."""
    ruleset = variant.rulesets[0]
    cubes = [outcome for outcome in drawn if outcome < FIRST_SIDE]
    if _lay_cubes(variant, cubes) is None:
        return Draw(without(_counted(ruleset.cubes, 0), cubes), 1)
    rest = drawn[len(cubes) :]
    if ruleset.sides == CHOOSE_SIDES:
        return None
    sides = EXCHANGE_TILES if ruleset.sides == RANDOM_SIDES else 0
    if len(rest) < sides:
        first = FIRST_SIDE + TILE_SIDES * len(rest)
        return Draw(dict.fromkeys(range(first, first + TILE_SIDES), 1), 1)
    return _next_of_tiles(_stacked(ruleset.tiles), TILES_FACE_UP, rest[sides:])


def _lay_cubes(variant: Variant, cubes: Sequence[int]) -> list[list[int]] | None:
    """B8: the cubes of each area, laid in this order; None while an area holds fewer than two."""
    areas: list[list[int]] = [[] for _ in variant.components.areas]
    for cube in cubes:
        for area in areas:
            if len(area) < CUBES_PER_AREA and cube not in area:
                area.append(cube)
                break
    return areas if all(len(area) == CUBES_PER_AREA for area in areas) else None


def _whole_setup(variant: Variant, drawn: tuple[int, ...]) -> list[int]:
    """The outcome of the setup for `force`."""
    ruleset = variant.rulesets[0]
    areas = _lay_cubes(variant, [outcome for outcome in drawn if outcome < FIRST_SIDE])
    assert areas is not None
    tiles = [outcome for outcome in drawn if outcome >= FIRST_TILE]
    order = [cube for area in areas for cube in area]
    order += reversed(_with_on_top(_stacked(ruleset.tiles), tiles))
    if ruleset.sides == RANDOM_SIDES:
        order += [(outcome - FIRST_SIDE) % TILE_SIDES for outcome in drawn if FIRST_SIDE <= outcome < FIRST_TILE]
    elif ruleset.sides != CHOOSE_SIDES:
        order += ruleset.given_sides.tolist()
    return order


# ---------------------------------------------------------------- piles


def _next_of_counters(variant: Variant, bag: Sequence[int], start: int, drawn: tuple[int, ...]) -> Draw | None:
    """B11: six counters for each player, beginning with the starting player."""
    number = len(drawn) // COUNTERS_DRAWN
    if number == variant.num_players:
        return None
    before = drawn[: number * COUNTERS_DRAWN]
    seat = (start + number) % variant.num_players
    return Draw(without(_counted(bag, FIRST_COUNTER), before), COUNTERS_DRAWN, drawn[len(before) :], seat)


def _next_of_tiles(stack: Iterable[int], wanted: int, drawn: tuple[int, ...]) -> Draw | None:
    """B10, B20: tiles off the stack."""
    tiles = list(stack)
    size = min(wanted, len(tiles))
    counts = {FIRST_TILE + action: tiles.count(action) for action in set(tiles)}
    return Draw(counts, size, drawn) if len(drawn) < size else None


def _with_on_top(stack: list[int], drawn: Iterable[int]) -> list[int]:
    """The tiles of a stack, the top tile last, with those that are drawn on top."""
    on_top = [outcome - FIRST_TILE for outcome in drawn]
    for action in on_top:
        stack.remove(action)
    return [*stack, *reversed(on_top)]


def _counted(counts: Sequence[int], first: int) -> dict[int, int]:
    """The pieces of a pile, by outcome; `first` is the outcome of the first kind."""
    return {first + kind: int(count) for kind, count in enumerate(counts) if count}


def _stacked(counts: Sequence[int]) -> list[int]:
    """Each index as often as `counts` says."""
    return [index for index, count in enumerate(counts) for _ in range(int(count))]


# ---------------------------------------------------------------- what everybody is shown in the end


def shown_plans(variant: Variant, states: States) -> list[tuple[int, int, int]]:
    """B11: once all have placed: each counter drawn, as the seat, the outcome and the action that placed it."""
    state = states[0]
    return [
        (seat, FIRST_COUNTER + int(kind), PLACE_RESEARCH + int(where) - AT_RESEARCH)
        for seat in range(variant.num_players)
        for kind, where in zip(state.drawn[seat], state.plan[seat], strict=True)
    ]
