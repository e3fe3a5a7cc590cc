"""The board game's kernels for the contract of `siberia_env.game`, written on top of the rules.

The six kernels that most readers look for come first: how a game starts, whose decision it is, what is legal, what an
action does, when the game is over, and the scores.
"""

from __future__ import annotations

from typing import Any

from siberia_env.board.actions import (
    ACT,
    AREA,
    CARD,
    DISCARD_COUNTER,
    EXCHANGE,
    FROM,
    LYING_ACTION,
    LYING_KIND,
    MOST_RANGES,
    NUM_ACTIONS,
    PASS,
    PAWN_RESERVE,
    PLACE_RESEARCH,
    RANGE_START,
    RANGE_STOP,
    RESOURCE,
    SIDE,
    STOP,
    TILE,
    TO,
    WILDCARD,
    WILDCARD_NONE,
)
from siberia_env.board.components import (
    CHOOSE_SIDES,
    COUNTERS_DRAWN,
    CUBES_PER_AREA,
    EXCHANGE_TILES,
    GIVEN_SIDES,
    MANAGER,
    RANDOM_SIDES,
    TILE_SIDES,
)
from siberia_env.board.rules import (
    act,
    begin_placing,
    can_act,
    can_research,
    choose_resource,
    choose_side,
    discard,
    discover,
    draw_counters,
    draw_cubes,
    lay_tiles,
    lies_at,
    may_choose_area,
    may_choose_exchange,
    may_choose_side,
    may_move_from,
    may_move_to,
    may_place,
    may_put_wildcard,
    may_recall_pawn,
    may_take_card,
    may_take_pawn,
    may_take_tile,
    move_from,
    move_to,
    next_seat,
    open_box,
    pass_turn,
    place,
    put_cube,
    put_wildcard,
    recall_pawn,
    send_salesman,
    set_up,
    stop,
    take_card,
    take_counter,
    take_pawn,
    take_tile,
)
from siberia_env.board.state import (
    AT_RESEARCH,
    CHOOSE_AREA,
    CHOOSE_EXCHANGE,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DISCARD,
    DRAW,
    MOVE_FROM,
    MOVE_TO,
    OVER,
    PLACE,
    PUT_WILDCARD,
    RECALL_PAWN,
    SETUP,
    TAKE_PAWN,
    TAKE_TILE,
    TURN,
    Ruleset,
    State,
)
from siberia_env.core.jit import kernel, kernel_part
from siberia_env.core.rng import derive, draw_below, scale, shuffle


@kernel
def deal(ruleset: Ruleset, state: State, generator: Any) -> None:
    """Start a new game whose chance outcomes come from `generator` (uint64)."""
    open_box(ruleset, state)
    state.generator = generator
    while is_chance(ruleset, state):
        resolve(ruleset, state)


@kernel
def current_player(ruleset: Ruleset, state: State) -> int:
    """The seat whose decision it is."""
    return int(state.player)


@kernel
def legal(ruleset: Ruleset, state: State, mask: Any) -> int:
    """Write 1 for each legal action and 0 for the others into `mask` (int8 [NUM_ACTIONS]); return how many."""
    for action in range(NUM_ACTIONS):
        mask[action] = 0
    # `mark_legal(ruleset, state, phase, mask)` alone would do the same, but a batch step would take 13% longer. Here
    # the phase is a constant in each call, so the compiler makes a loop for it with only its rule inside.
    phase = int(state.phase)
    if phase == TURN:
        return mark_legal(ruleset, state, TURN, mask)
    if phase == PLACE:
        return mark_legal(ruleset, state, PLACE, mask)
    if phase == CHOOSE_AREA:
        return mark_legal(ruleset, state, CHOOSE_AREA, mask)
    if phase == CHOOSE_RESOURCE:
        return mark_legal(ruleset, state, CHOOSE_RESOURCE, mask)
    if phase == PUT_WILDCARD:
        return mark_legal(ruleset, state, PUT_WILDCARD, mask)
    if phase == MOVE_FROM:
        return mark_legal(ruleset, state, MOVE_FROM, mask)
    if phase == MOVE_TO:
        return mark_legal(ruleset, state, MOVE_TO, mask)
    if phase == TAKE_PAWN:
        return mark_legal(ruleset, state, TAKE_PAWN, mask)
    if phase == CHOOSE_EXCHANGE:
        return mark_legal(ruleset, state, CHOOSE_EXCHANGE, mask)
    if phase == RECALL_PAWN:
        return mark_legal(ruleset, state, RECALL_PAWN, mask)
    if phase == TAKE_TILE:
        return mark_legal(ruleset, state, TAKE_TILE, mask)
    if phase == DISCARD:
        return mark_legal(ruleset, state, DISCARD, mask)
    if phase == CHOOSE_SIDE:
        return mark_legal(ruleset, state, CHOOSE_SIDE, mask)
    return 0


@kernel
def apply(ruleset: Ruleset, state: State, action: int) -> None:
    """Carry out a legal action, up to the next decision, chance outcome or the end. The action is not checked."""
    phase = int(state.phase)
    if phase == PLACE:
        place(ruleset, state, action - PLACE_RESEARCH + AT_RESEARCH)
    elif phase == TURN:
        if action == PASS:
            pass_turn(ruleset, state)
        else:
            act(ruleset, state, action - ACT)
    elif phase == CHOOSE_AREA:
        discover(ruleset, state, action - AREA)
    elif phase == CHOOSE_RESOURCE:
        choose_resource(state, action - RESOURCE)
    elif phase == PUT_WILDCARD:
        put_wildcard(ruleset, state, MANAGER if action == WILDCARD_NONE else action - WILDCARD + 1)
    elif phase == MOVE_FROM:
        if action == STOP:
            stop(ruleset, state)
        else:
            move_from(state, action - FROM)
    elif phase == MOVE_TO:
        move_to(ruleset, state, action - TO)
    elif phase == TAKE_PAWN:
        if action >= CARD:
            take_card(ruleset, state, action - CARD)
        else:
            take_pawn(state, action - PAWN_RESERVE)
    elif phase == CHOOSE_EXCHANGE:
        send_salesman(ruleset, state, action - EXCHANGE)
    elif phase == RECALL_PAWN:
        recall_pawn(ruleset, state, action - PAWN_RESERVE)
    elif phase == TAKE_TILE:
        take_tile(ruleset, state, action - TILE)
    elif phase == DISCARD:
        number = action - DISCARD_COUNTER
        discard(ruleset, state, int(LYING_ACTION[number]), int(LYING_KIND[number]))
    else:
        choose_side(state, action - SIDE)


@kernel
def is_over(ruleset: Ruleset, state: State) -> bool:
    """B24: whether the game has ended."""
    return state.phase == OVER


@kernel
def scores(ruleset: Ruleset, state: State, out: Any) -> None:
    """B24: write each player's money, in thousands, into `out`, by seat."""
    for player in range(ruleset.num_players):
        out[player] = state.money[player]


@kernel
def is_legal(ruleset: Ruleset, state: State, action: int) -> bool:
    """Whether the player on turn may take `action` now; `action` may be any integer."""
    phase = int(state.phase)
    for number in range(MOST_RANGES):
        if RANGE_START[phase, number] <= action < RANGE_STOP[phase, number]:
            return permits(ruleset, state, phase, action)
    return False


@kernel_part
def mark_legal(ruleset: Ruleset, state: State, phase: int, mask: Any) -> int:
    """Write 1 into `mask` for each action that is legal in `phase`, that of the state; return how many."""
    count = 0
    for number in range(MOST_RANGES):
        for action in range(RANGE_START[phase, number], RANGE_STOP[phase, number]):
            allowed = permits(ruleset, state, phase, action)
            mask[action] = allowed
            count += allowed
    return count


@kernel_part
def permits(ruleset: Ruleset, state: State, phase: int, action: int) -> bool:
    """Whether the rules let the player on turn take `action`, one of those that the decision `phase` chooses among."""
    player = int(state.player)
    if phase == PLACE:
        return may_place(state, player, int(state.placed), action - PLACE_RESEARCH + AT_RESEARCH)
    if phase == TURN:
        return action == PASS or can_act(state, player, action - ACT)
    if phase == CHOOSE_AREA:
        return may_choose_area(state, action - AREA)
    if phase == CHOOSE_RESOURCE:
        return can_research(state, action - RESOURCE)
    if phase == PUT_WILDCARD:
        return action == WILDCARD_NONE or may_put_wildcard(state, player, action - WILDCARD + 1)
    if phase == MOVE_FROM:
        return action == STOP or may_move_from(state, player, action - FROM)
    if phase == MOVE_TO:
        return may_move_to(state, action - TO)
    if phase == TAKE_PAWN:
        if action >= CARD:
            return may_take_card(ruleset, state, player, action - CARD)
        return may_take_pawn(state, player, action - PAWN_RESERVE)
    if phase == CHOOSE_EXCHANGE:
        return may_choose_exchange(state, action - EXCHANGE)
    if phase == RECALL_PAWN:
        return may_recall_pawn(state, player, action - PAWN_RESERVE)
    if phase == TAKE_TILE:
        return may_take_tile(state, player, action - TILE)
    if phase == DISCARD:
        number = action - DISCARD_COUNTER
        return lies_at(state, player, int(LYING_ACTION[number]), int(LYING_KIND[number]))
    return may_choose_side(state, action - SIDE)


@kernel
def is_chance(ruleset: Ruleset, state: State) -> bool:
    """Whether a chance outcome is due: the setup (B8), or the drawing of counters (B11)."""
    return state.phase == DRAW or state.phase == SETUP


@kernel
def resolve(ruleset: Ruleset, state: State) -> None:
    """Settle the chance outcome that is due, with the state's own generator."""
    if state.phase == SETUP:
        draw_cubes(ruleset, state)
        lay_tiles(ruleset, state)
        shuffle(state, state.tile_stack, int(state.tile_stack_size))
        for tile in range(EXCHANGE_TILES):
            if ruleset.sides == RANDOM_SIDES:
                state.side[tile] = draw_below(state, TILE_SIDES)
            elif ruleset.sides == GIVEN_SIDES:
                state.side[tile] = ruleset.given_sides[tile]
        set_up(ruleset, state)
    else:
        draw_counters(ruleset, state)


@kernel
def force(ruleset: Ruleset, state: State, outcome: Any) -> None:
    """Settle the chance outcome that is due as `outcome` says. The generator stays as it is.

    For the setup, `outcome` holds two resources for each area, the investment tiles from the top down, and the side of
    each exchange tile unless the sides are chosen in play. For a draw it holds the kinds of six counters for each
    player, from the starting player on. The outcome must be possible; `Variant.force` checks that.
    """
    if state.phase == SETUP:
        areas = int(ruleset.num_areas)
        for area in range(areas):
            for cube in range(CUBES_PER_AREA):
                put_cube(state, int(outcome[CUBES_PER_AREA * area + cube]), area)
        lay_tiles(ruleset, state)
        tiles = int(state.tile_stack_size)
        for depth in range(tiles):
            state.tile_stack[tiles - 1 - depth] = outcome[CUBES_PER_AREA * areas + depth]
        if ruleset.sides != CHOOSE_SIDES:
            for tile in range(EXCHANGE_TILES):
                state.side[tile] = outcome[CUBES_PER_AREA * areas + tiles + tile]
        set_up(ruleset, state)
    else:
        player = int(state.start)
        for seat in range(ruleset.num_players):
            for index in range(COUNTERS_DRAWN):
                take_counter(state, player, index, int(outcome[seat * COUNTERS_DRAWN + index]))
            player = next_seat(ruleset, player)
        begin_placing(state)


@kernel
def has_hit_limit(ruleset: Ruleset, state: State) -> bool:
    """B24: whether the round limit ended the game."""
    return state.hit_limit == 1


@kernel
def is_secret(ruleset: Ruleset, state: State) -> bool:
    """B11: whether the decision is secret. Nobody sees where counters are placed before all have placed."""
    return state.phase == PLACE


@kernel
def revealed_hash(ruleset: Ruleset, state: State, player: int) -> int:
    """B11: a hash of what the others drew and where they placed it."""
    digest = derive(0, 0, 0)
    for other in range(ruleset.num_players):
        if other != player:
            for index in range(COUNTERS_DRAWN):
                digest = derive(digest, int(state.drawn[other, index]), int(state.plan[other, index]))
    return scale(digest, 2**31)
