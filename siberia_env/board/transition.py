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
    LYING_NUMBER,
    NUM_ACTIONS,
    PASS,
    PAWN_RESERVE,
    PLACE_RESEARCH,
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
    MOST_AREAS,
    NUM_EXCHANGES,
    NUM_PANEL_ACTIONS,
    NUM_PLACES,
    RANDOM_SIDES,
    SPACES,
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
    AT_RESOURCE,
    CHOOSE_AREA,
    CHOOSE_EXCHANGE,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DISCARD,
    DRAW,
    EMPTY,
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
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel
from siberia_env.core.rng import draw_below, mix, scale, shuffle


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
    phase, player = int(state.phase), int(state.player)
    count = 0
    if phase == PLACE:
        for where in range(AT_RESEARCH, AT_RESOURCE + 1):
            action = PLACE_RESEARCH + where - AT_RESEARCH
            count += allow(mask, action, may_place(state, player, int(state.placed), where))
    elif phase == TURN:
        count += allow(mask, PASS, True)
        for action in range(NUM_PANEL_ACTIONS):
            count += allow(mask, ACT + action, can_act(state, player, action))
    elif phase == CHOOSE_AREA:
        for area in range(MOST_AREAS):
            count += allow(mask, AREA + area, may_choose_area(state, area))
    elif phase == CHOOSE_RESOURCE:
        for resource in range(NUM_RESOURCES):
            count += allow(mask, RESOURCE + resource, can_research(state, resource))
    elif phase == PUT_WILDCARD:
        count += allow(mask, WILDCARD_NONE, True)
        for action in range(1, NUM_PANEL_ACTIONS):
            count += allow(mask, WILDCARD + action - 1, may_put_wildcard(state, player, action))
    elif phase == MOVE_FROM:
        count += allow(mask, STOP, True)
        for place in range(NUM_PLACES):
            count += allow(mask, FROM + place, may_move_from(state, player, place))
    elif phase == MOVE_TO:
        for area in range(MOST_AREAS):
            count += allow(mask, TO + area, may_move_to(state, area))
    elif phase == TAKE_PAWN:
        for place in range(EXCHANGE - PAWN_RESERVE):
            count += allow(mask, PAWN_RESERVE + place, may_take_pawn(state, player, place))
        for resource in range(NUM_RESOURCES):
            count += allow(mask, CARD + resource, may_take_card(ruleset, state, player, resource))
    elif phase == CHOOSE_EXCHANGE:
        for exchange in range(NUM_EXCHANGES):
            count += allow(mask, EXCHANGE + exchange, may_choose_exchange(state, exchange))
    elif phase == RECALL_PAWN:
        for place in range(EXCHANGE - PAWN_RESERVE):
            count += allow(mask, PAWN_RESERVE + place, may_recall_pawn(state, player, place))
    elif phase == TAKE_TILE:
        for action in range(NUM_PANEL_ACTIONS):
            count += allow(mask, TILE + action, may_take_tile(state, player, action))
    elif phase == DISCARD:
        for action in range(NUM_PANEL_ACTIONS):
            for space in range(SPACES):
                kind = int(state.panel[player, action, space])
                if kind != EMPTY:
                    number = DISCARD_COUNTER + int(LYING_NUMBER[action, kind])
                    count += mask[number] == 0
                    mask[number] = 1
    elif phase == CHOOSE_SIDE:
        for number in range(TILE_SIDES * EXCHANGE_TILES):
            count += allow(mask, SIDE + number, may_choose_side(state, number))
    return count


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
    phase, player = int(state.phase), int(state.player)
    if phase == CHOOSE_SIDE:
        return SIDE <= action < PLACE_RESEARCH and may_choose_side(state, action - SIDE)
    if phase == PLACE:
        where = action - PLACE_RESEARCH + AT_RESEARCH
        return PLACE_RESEARCH <= action < PASS and may_place(state, player, int(state.placed), where)
    if phase == TURN:
        return action == PASS or (ACT <= action < RESOURCE and can_act(state, player, action - ACT))
    if phase == CHOOSE_RESOURCE:
        return RESOURCE <= action < AREA and can_research(state, action - RESOURCE)
    if phase == CHOOSE_AREA:
        return AREA <= action < WILDCARD and may_choose_area(state, action - AREA)
    if phase == PUT_WILDCARD:
        return action == WILDCARD_NONE or (
            WILDCARD <= action < WILDCARD_NONE and may_put_wildcard(state, player, action - WILDCARD + 1)
        )
    if phase == MOVE_FROM:
        return action == STOP or (FROM <= action < TO and may_move_from(state, player, action - FROM))
    if phase == MOVE_TO:
        return TO <= action < STOP and may_move_to(state, action - TO)
    if phase == TAKE_PAWN:
        if CARD <= action < TILE:
            return may_take_card(ruleset, state, player, action - CARD)
        return PAWN_RESERVE <= action < EXCHANGE and may_take_pawn(state, player, action - PAWN_RESERVE)
    if phase == CHOOSE_EXCHANGE:
        return EXCHANGE <= action < CARD and may_choose_exchange(state, action - EXCHANGE)
    if phase == RECALL_PAWN:
        return PAWN_RESERVE <= action < EXCHANGE and may_recall_pawn(state, player, action - PAWN_RESERVE)
    if phase == TAKE_TILE:
        return TILE <= action < DISCARD_COUNTER and may_take_tile(state, player, action - TILE)
    if phase == DISCARD and DISCARD_COUNTER <= action < NUM_ACTIONS:
        number = action - DISCARD_COUNTER
        return lies_at(state, player, int(LYING_ACTION[number]), int(LYING_KIND[number]))
    return False


@kernel
def allow(mask: Any, action: int, allowed: bool) -> int:
    """Write whether `action` is legal into `mask`; return 1 if it is."""
    mask[action] = allowed
    return int(allowed)


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
def is_truncated(ruleset: Ruleset, state: State) -> bool:
    """B24: whether the round limit ended the game."""
    return state.truncated == 1


@kernel
def is_secret(ruleset: Ruleset, state: State) -> bool:
    """B11: whether the decision is secret. Nobody sees where counters are placed before all have placed."""
    return state.phase == PLACE


@kernel
def shown(ruleset: Ruleset, state: State, player: int) -> int:
    """B11: a hash of what the others drew and where they placed it."""
    digest = mix(0, 0, 0)
    for other in range(ruleset.num_players):
        if other != player:
            for index in range(COUNTERS_DRAWN):
                digest = mix(digest, int(state.drawn[other, index]), int(state.plan[other, index]))
    return scale(digest, 2**31)
