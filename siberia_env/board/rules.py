"""The rules of Siberia, the board game, in the order of the rulebook, one function for each verb.

Rule numbers (B11) are those of docs/board/rules.md. That page tells what is published and what the suite settles: the
map and the prices (B5, B6), the order of simultaneous placing (B11, B12), the order of research (B15), the round limit
(B24). Options differ only in values of the ruleset.

This is scalar code that works on one state record. numba compiles it, or Python runs it as it is. The code reads fields
through `int()` before arithmetic, because an int8 wraps in silence when compiled. A set of areas is an integer with
bit a for area a.
"""

from __future__ import annotations

import numpy as np

from siberia_env.board.actions import (
    PAWN_AREA,
    PAWN_EXCHANGE,
    PAWN_RESERVE,
)
from siberia_env.board.components import (
    CHOOSE_SIDES,
    COUNTERS_DRAWN,
    EMPTY_RESERVES_TO_END,
    EXCHANGE_TILES,
    GAS,
    INVESTOR,
    LOGISTICIAN,
    MANAGER,
    MANAGER_COUNTER,
    MOST_AREAS,
    NUM_EXCHANGES,
    NUM_KINDS,
    NUM_PANEL_ACTIONS,
    NUM_PLACES,
    PANEL_LIMIT,
    PAWNS,
    SALESMAN,
    SPACES,
    STEPS,
    TILE_SIDES,
    TILES_FACE_UP,
    VLADIVOSTOK,
    WORKER,
)
from siberia_env.board.state import (
    AT_PERSON,
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
    NOBODY,
    NOT_PLACED,
    NOTHING,
    OVER,
    PLACE,
    PUT_WILDCARD,
    RECALL_PAWN,
    RESEARCH_MANAGERS,
    SETUP,
    TAKE_PAWN,
    TAKE_TILE,
    TURN,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel, stack_array
from siberia_env.core.rng import draw_below
from siberia_env.core.simd import bit_count, take_ranked
from siberia_env.game import MAX_PLAYERS

# ---------------------------------------------------------------- setup


@kernel
def open_box(ruleset: Ruleset, state: State) -> None:
    """Put everything back into the box. The next chance outcome is the setup."""
    state.money[:] = 0
    state.lying[:] = 0
    state.open = 0
    state.presence[:] = 0
    state.exhausted = 0
    for place in range(NUM_PLACES):
        state.steps[place] = ruleset.adjacent[place]
    for kind in range(NUM_KINDS):
        state.bag[kind] = ruleset.counters[kind]
    state.bag_size = ruleset.num_counters
    for resource in range(NUM_RESOURCES):
        state.reserve[resource] = ruleset.cubes[resource]
    state.pawns[:] = 0
    state.workers[:, :] = 0
    state.salesmen[:, :] = 0
    state.best_price[:, :] = 0
    state.panel[:, :, :] = EMPTY
    state.covered[:, :] = 0
    state.tiles[:, :] = 0
    state.counters[:] = 0
    state.research[:, :] = 0
    state.research_size[:] = 0
    state.drawn[:, :] = EMPTY
    state.plan[:, :] = NOT_PLACED
    state.planned[:, :] = 0
    state.card_owner[:] = NOBODY
    state.side[:] = 0
    state.sides_chosen = 0
    state.face_up[:] = 0
    state.tile_stack[:] = 0
    state.tile_stack_size = 0
    state.unused[:] = 0
    state.player = 0
    state.start = 0
    state.passed = 0
    state.placed = 0
    state.resource = NOTHING
    state.origin = NOTHING
    state.steps_left = 0
    state.hit_limit = 0
    state.rounds = 0
    state.phase = SETUP


@kernel
def may_lie(state: State, resource: int) -> int:
    """B15: the set of areas where a cube of the resource may be placed: the open areas without one."""
    return int(state.open) & ~int(state.lying[resource])


@kernel
def put_cube(state: State, resource: int, area: int) -> None:
    """Move a cube from the reserve to the area."""
    state.reserve[resource] -= 1
    state.lying[resource] |= 1 << area
    state.open |= 1 << area


@kernel
def draw_cubes(ruleset: Ruleset, state: State) -> None:
    """B8: draw cubes blind until each area holds two different ones. A cube that fits nowhere is laid aside."""
    aside = stack_array(NUM_RESOURCES, np.int64)
    left = 0
    for resource in range(NUM_RESOURCES):
        aside[resource] = 0
        left += int(state.reserve[resource])
    one, two = 0, 0  # sets of the areas that hold at least one cube, and at least two
    everywhere = (1 << int(ruleset.num_areas)) - 1
    while two != everywhere:
        number = draw_below(state, left)
        left -= 1
        resource = 0
        while number >= state.reserve[resource]:
            number -= int(state.reserve[resource])
            resource += 1
        free = everywhere & ~two & ~int(state.lying[resource])
        if free == 0:
            state.reserve[resource] -= 1
            aside[resource] += 1
        else:
            area = lowest(free)
            put_cube(state, resource, area)
            two |= one & (1 << area)
            one |= 1 << area
    for resource in range(NUM_RESOURCES):
        state.reserve[resource] += aside[resource]


@kernel
def lowest(areas: int) -> int:
    """The first area of a non-empty set."""
    area = 0
    while (areas >> area) & 1 == 0:
        area += 1
    return area


@kernel
def lay_tiles(ruleset: Ruleset, state: State) -> None:
    """Put all investment tiles on their stack, unshuffled."""
    size = 0
    for action in range(NUM_PANEL_ACTIONS):
        for _ in range(ruleset.tiles[action]):
            state.tile_stack[size] = action
            size += 1
    state.tile_stack_size = size


@kernel
def set_up(ruleset: Ruleset, state: State) -> None:
    """B10: give each player a worker and a salesman. B9: unless the sides are settled, the starting player chooses."""
    for player in range(ruleset.num_players):
        state.pawns[player] = PAWNS
        worker_to(state, player, VLADIVOSTOK)
        salesman_to(state, player, 0)
        state.pawns[player] -= 2
        find_best_prices(ruleset, state, player)
    if ruleset.sides == CHOOSE_SIDES:
        state.phase = CHOOSE_SIDE
    else:
        state.sides_chosen = EXCHANGE_TILES
        open_trade(state)


@kernel
def may_choose_side(state: State, number: int) -> bool:
    """B9: the player chooses one of two sides, tile by tile."""
    return number // TILE_SIDES == state.sides_chosen


@kernel
def choose_side(state: State, number: int) -> None:
    """B9: make the chosen side of an exchange tile the active one."""
    state.side[number // TILE_SIDES] = number % TILE_SIDES
    state.sides_chosen += 1
    if state.sides_chosen == EXCHANGE_TILES:
        open_trade(state)


@kernel
def open_trade(state: State) -> None:
    """B10: once the sides are settled, turn up the first investment tiles and begin the first round."""
    for _ in range(TILES_FACE_UP):
        turn_up_tile(state)
    state.phase = DRAW


@kernel
def turn_up_tile(state: State) -> None:
    """Turn up the top tile of the stack, if there is one."""
    if state.tile_stack_size > 0:
        state.tile_stack_size -= 1
        state.face_up[int(state.tile_stack[state.tile_stack_size])] += 1


# ---------------------------------------------------------------- phase 1: place


@kernel
def draw_counters(ruleset: Ruleset, state: State) -> None:
    """B11: each player draws six counters from the bag, beginning with the starting player."""
    player = int(state.start)
    for _ in range(ruleset.num_players):
        draw_six(state, player)
        player = next_seat(ruleset, player)
    begin_placing(state)


@kernel
def draw_six(state: State, player: int) -> None:
    """Draw six counters from the bag, sorted as they are placed (B12): by person, then resource, managers last."""
    totals = stack_array(NUM_KINDS, np.int16)  # counters in the bag, of this kind and all kinds before it
    total = 0
    for kind in range(NUM_KINDS):
        total += int(state.bag[kind])
        totals[kind] = total
    for index in range(COUNTERS_DRAWN):
        take_counter(state, player, index, take_ranked(totals, draw_below(state, int(state.bag_size)), NUM_KINDS))


@kernel
def take_counter(state: State, player: int, index: int, kind: int) -> None:
    """Give the player a counter of `kind` from the bag, number `index` this round, sorted in among the others."""
    state.bag[kind] -= 1
    state.bag_size -= 1
    for earlier in range(index):
        other = int(state.drawn[player, earlier])
        state.drawn[player, earlier] = min(other, kind)
        kind = max(other, kind)
    state.drawn[player, index] = kind


@kernel
def begin_placing(state: State) -> None:
    """B11: all have drawn. The players now place one after the other, beginning with the starting player."""
    state.plan[:, :] = NOT_PLACED
    state.player = state.start
    state.placed = 0
    state.phase = PLACE


@kernel
def person_action(kind: int) -> int:
    """The action of a counter's person; for a manager it is MANAGER."""
    return MANAGER if kind == MANAGER_COUNTER else LOGISTICIAN + kind // NUM_RESOURCES


@kernel
def resource_action(kind: int) -> int:
    """The action of a counter's resource; a manager has none."""
    return GAS + kind % NUM_RESOURCES


@kernel
def spaces_taken(state: State, player: int, action: int) -> int:
    """How many spaces of the action are covered, by a counter or by an investment tile."""
    return int(state.covered[player, action]) + int(state.tiles[player, action])


@kernel
def has_room(state: State, player: int, action: int) -> bool:
    """B12: whether the action still has a space without a counter, a tile or a counter that the player plans there."""
    return spaces_taken(state, player, action) + int(state.planned[player, action]) < SPACES


@kernel
def may_place(state: State, player: int, index: int, where: int) -> bool:
    """B12: a counter may go to research, or to a free space of its person or of its resource."""
    kind = int(state.drawn[player, index])
    if where == AT_RESEARCH:
        return True
    if where == AT_PERSON:
        return has_room(state, player, person_action(kind))
    return kind != MANAGER_COUNTER and has_room(state, player, resource_action(kind))


@kernel
def plan_counter(state: State, player: int, index: int, where: int) -> None:
    """Decide where a drawn counter goes. The others see it when all have placed."""
    kind = int(state.drawn[player, index])
    state.plan[player, index] = where
    if where == AT_PERSON:
        state.planned[player, person_action(kind)] += 1
    elif where == AT_RESOURCE:
        state.planned[player, resource_action(kind)] += 1


@kernel
def take_back(state: State, player: int, index: int) -> None:
    """Leave open again where a drawn counter goes."""
    kind, where = int(state.drawn[player, index]), int(state.plan[player, index])
    if where == AT_PERSON:
        state.planned[player, person_action(kind)] -= 1
    elif where == AT_RESOURCE:
        state.planned[player, resource_action(kind)] -= 1
    state.plan[player, index] = NOT_PLACED


@kernel
def place(ruleset: Ruleset, state: State, where: int) -> None:
    """B12: place the next counter. B11: once the last player has placed, carry out all plans."""
    player = int(state.player)
    plan_counter(state, player, int(state.placed), where)
    state.placed += 1
    if state.placed == COUNTERS_DRAWN:
        state.placed = 0
        state.player = next_seat(ruleset, player)
        if state.player == state.start:
            for other in range(ruleset.num_players):
                carry_out_plan(state, other)
            begin_acting(ruleset, state)


@kernel
def carry_out_plan(state: State, player: int) -> None:
    """B11: lay the player's new counters where they were planned."""
    for index in range(COUNTERS_DRAWN):
        kind, where = int(state.drawn[player, index]), int(state.plan[player, index])
        if where == AT_PERSON:
            cover(state, player, person_action(kind), kind)
        elif where == AT_RESOURCE:
            cover(state, player, resource_action(kind), kind)
        else:
            column = RESEARCH_MANAGERS if kind == MANAGER_COUNTER else kind % NUM_RESOURCES
            state.research[player, column] += 1
            state.research_size[player] += 1
    for action in range(NUM_PANEL_ACTIONS):
        state.planned[player, action] = 0


@kernel
def cover(state: State, player: int, action: int, kind: int) -> None:
    """Lay a counter on a space of the action."""
    state.panel[player, action, int(state.covered[player, action])] = kind
    state.covered[player, action] += 1
    state.counters[player] += 1


@kernel
def into_bag(state: State, kind: int) -> None:
    """Put a counter back into the bag."""
    state.bag[kind] += 1
    state.bag_size += 1


# ---------------------------------------------------------------- phase 2: act


@kernel
def next_seat(ruleset: Ruleset, player: int) -> int:
    """B10: the seat to the left."""
    return player + 1 if player + 1 < ruleset.num_players else 0


@kernel
def begin_acting(ruleset: Ruleset, state: State) -> None:
    """B13: the starting player has the first turn."""
    state.passed = 0
    state.player = state.start
    if not begin_turn(state):
        end_turn(ruleset, state)


@kernel
def begin_turn(state: State) -> bool:
    """B13: research comes first and takes the whole turn. Return whether the turn asks for a decision."""
    player = int(state.player)
    if state.research_size[player] > 0:
        clear_research(state, player)
        return continue_research(state, player)
    state.phase = TURN
    return True


@kernel
def end_turn(ruleset: Ruleset, state: State) -> None:
    """B13: the next player clockwise who has not passed has a turn. When all have passed, the round ends."""
    everybody = (1 << int(ruleset.num_players)) - 1
    going_on = state.passed != everybody
    while going_on:
        player = next_seat(ruleset, int(state.player))
        while (int(state.passed) >> player) & 1:
            player = next_seat(ruleset, player)
        state.player = player
        going_on = not begin_turn(state)  # a research that places nothing takes the whole turn
    if state.passed == everybody:
        state.player = state.start
        check_surplus(ruleset, state)


@kernel
def pass_turn(ruleset: Ruleset, state: State) -> None:
    """B13: a player who passes has no more turns in the round."""
    state.passed |= 1 << int(state.player)
    end_turn(ruleset, state)


@kernel
def can_act(state: State, player: int, action: int) -> bool:
    """B14: an action is possible when both its spaces are covered, at most one of them by a tile."""
    return spaces_taken(state, player, action) == SPACES


@kernel
def act(ruleset: Ruleset, state: State, action: int) -> None:
    """B14: put the counters back into the bag, but no tile. Then carry out the effect as far as it is possible."""
    player = int(state.player)
    uncover(state, player, action)
    if action == MANAGER:
        state.phase = PUT_WILDCARD
    elif action == LOGISTICIAN:
        state.steps_left = STEPS
        state.phase = MOVE_FROM
    elif action == SALESMAN:
        state.phase = TAKE_PAWN
    elif action == WORKER:
        begin_worker(ruleset, state, player)
    elif action == INVESTOR:
        begin_investor(ruleset, state, player)
    else:
        extract(state, player, action - GAS)
        end_turn(ruleset, state)


@kernel
def uncover(state: State, player: int, action: int) -> None:
    """Put all counters of the action back into the bag."""
    for space in range(SPACES):
        kind = int(state.panel[player, action, space])
        if kind != EMPTY:
            into_bag(state, kind)
            state.panel[player, action, space] = EMPTY
            state.counters[player] -= 1
    state.covered[player, action] = 0


# ---------------------------------------------------------------- research


@kernel
def clear_research(state: State, player: int) -> None:
    """B15: put all research counters back into the bag. `state.research` keeps what they call for."""
    for index in range(COUNTERS_DRAWN):
        if state.plan[player, index] == AT_RESEARCH:
            into_bag(state, int(state.drawn[player, index]))
    state.research_size[player] = 0


@kernel
def can_research(state: State, resource: int) -> bool:
    """B15: whether a cube is left in the reserve, and some open area has none of the resource."""
    return (state.reserve[resource] > 0) & (may_lie(state, resource) != 0)


@kernel
def continue_research(state: State, player: int) -> bool:
    """B15: go on to the next counter that can be resolved: resources in their order, then managers; False if none."""
    for resource in range(NUM_RESOURCES):
        while state.research[player, resource] > 0:
            state.research[player, resource] -= 1
            if can_research(state, resource):
                state.resource = resource
                state.phase = CHOOSE_AREA
                return True
    while state.research[player, RESEARCH_MANAGERS] > 0:
        state.research[player, RESEARCH_MANAGERS] -= 1
        for resource in range(NUM_RESOURCES):
            if can_research(state, resource):
                state.phase = CHOOSE_RESOURCE
                return True
    return False


@kernel
def choose_resource(state: State, resource: int) -> None:
    """B15: choose the resource that a manager at research looks for."""
    state.resource = resource
    state.phase = CHOOSE_AREA


@kernel
def may_choose_area(state: State, area: int) -> bool:
    """B15: whether the area is open and has no cube of the resource yet."""
    return (may_lie(state, int(state.resource)) >> area) & 1 == 1


@kernel
def discover(ruleset: Ruleset, state: State, area: int) -> None:
    """B15: move a cube of the resource from the reserve to the area; then go on with the next research counter."""
    put_cube(state, int(state.resource), area)
    state.resource = NOTHING
    if not continue_research(state, int(state.player)):
        end_turn(ruleset, state)


# ---------------------------------------------------------------- manager


@kernel
def may_put_wildcard(state: State, player: int, action: int) -> bool:
    """B16: a wildcard may go onto an uncovered space of any other action."""
    return action != MANAGER and spaces_taken(state, player, action) < SPACES


@kernel
def put_wildcard(ruleset: Ruleset, state: State, action: int) -> None:
    """B16: lay one of the managers just used on a space of `action`. MANAGER means that the player lays none."""
    player = int(state.player)
    if action != MANAGER:
        state.bag[MANAGER_COUNTER] -= 1
        state.bag_size -= 1
        cover(state, player, action, MANAGER_COUNTER)
    end_turn(ruleset, state)


# ---------------------------------------------------------------- logistician


@kernel
def may_move_from(state: State, player: int, place: int) -> bool:
    """B17: whether one of the player's workers stands there and can take a step."""
    return (state.workers[player, place] > 0) & (state.steps[place] != 0)


@kernel
def move_from(state: State, place: int) -> None:
    """B17: choose where the next step starts."""
    state.origin = PAWN_AREA - PAWN_RESERVE + place
    state.phase = MOVE_TO


@kernel
def may_move_to(state: State, area: int) -> bool:
    """B17: a step leads to an adjacent open area. Passing through exhausted areas costs nothing."""
    return (int(state.steps[int(state.origin) - (PAWN_AREA - PAWN_RESERVE)]) >> area) & 1 == 1


@kernel
def move_to(ruleset: Ruleset, state: State, area: int) -> None:
    """B17: move one worker by one step."""
    player = int(state.player)
    worker_away(state, player, int(state.origin) - (PAWN_AREA - PAWN_RESERVE))
    worker_to(state, player, area)
    state.origin = NOTHING
    state.steps_left -= 1
    if state.steps_left == 0:
        end_turn(ruleset, state)
    else:
        state.phase = MOVE_FROM


@kernel
def stop(ruleset: Ruleset, state: State) -> None:
    """B17: waive the steps that are left."""
    state.steps_left = 0
    end_turn(ruleset, state)


# ---------------------------------------------------------------- pawns, salesman, worker


@kernel
def worker_to(state: State, player: int, place: int) -> None:
    """Put a pawn into an area, or into Vladivostok, as a worker."""
    state.workers[player, place] += 1
    if place != VLADIVOSTOK:
        state.presence[player] |= 1 << place


@kernel
def worker_away(state: State, player: int, place: int) -> None:
    """Take a worker away from an area, or from Vladivostok."""
    state.workers[player, place] -= 1
    if place != VLADIVOSTOK and state.workers[player, place] == 0:
        state.presence[player] &= ~(1 << place)


@kernel
def salesman_to(state: State, player: int, exchange: int) -> None:
    """Put a pawn at an exchange as a salesman."""
    state.salesmen[player, exchange] += 1


@kernel
def may_take_pawn(state: State, player: int, place: int) -> bool:
    """Whether the player has a pawn at `place`: 0 is the reserve, then the exchanges, the areas and Vladivostok."""
    if place == 0:
        return state.pawns[player] > 0
    if place < PAWN_AREA - PAWN_RESERVE:
        return state.salesmen[player, place - (PAWN_EXCHANGE - PAWN_RESERVE)] > 0
    return state.workers[player, place - (PAWN_AREA - PAWN_RESERVE)] > 0


@kernel
def pawn_away(state: State, player: int, place: int) -> None:
    """Take a pawn away from `place`, which is numbered as in `may_take_pawn`."""
    if place == 0:
        state.pawns[player] -= 1
    elif place < PAWN_AREA - PAWN_RESERVE:
        state.salesmen[player, place - (PAWN_EXCHANGE - PAWN_RESERVE)] -= 1
    else:
        worker_away(state, player, place - (PAWN_AREA - PAWN_RESERVE))


@kernel
def take_pawn(state: State, place: int) -> None:
    """B18: choose the pawn that will go to an exchange."""
    state.origin = place
    state.phase = CHOOSE_EXCHANGE


@kernel
def may_choose_exchange(state: State, exchange: int) -> bool:
    """B18: the pawn may go to any exchange but the one it comes from."""
    return state.origin != PAWN_EXCHANGE - PAWN_RESERVE + exchange


@kernel
def send_salesman(ruleset: Ruleset, state: State, exchange: int) -> None:
    """B18: send the chosen pawn to the exchange."""
    player = int(state.player)
    pawn_away(state, player, int(state.origin))
    salesman_to(state, player, exchange)
    state.origin = NOTHING
    find_best_prices(ruleset, state, player)
    end_turn(ruleset, state)


@kernel
def may_take_card(ruleset: Ruleset, state: State, player: int, resource: int) -> bool:
    """B25: a player may take a salesman card that nobody holds; once all are held, any card of another player."""
    if ruleset.salesman_cards == 0:
        return False
    owner = int(state.card_owner[resource])
    if owner == NOBODY:
        return True
    for other in range(NUM_RESOURCES):
        if state.card_owner[other] == NOBODY:
            return False
    return owner != player


@kernel
def take_card(ruleset: Ruleset, state: State, resource: int) -> None:
    """B25: take the card instead of moving a pawn."""
    player, owner = int(state.player), int(state.card_owner[resource])
    state.card_owner[resource] = player
    find_best_prices(ruleset, state, player)
    if owner != NOBODY:
        find_best_prices(ruleset, state, owner)
    end_turn(ruleset, state)


@kernel
def begin_worker(ruleset: Ruleset, state: State, player: int) -> None:
    """B19: a pawn from the reserve becomes a worker. If the reserve is empty, another one is recalled."""
    if state.pawns[player] > 0:
        state.pawns[player] -= 1
        worker_to(state, player, VLADIVOSTOK)
        end_turn(ruleset, state)
    elif state.workers[player, VLADIVOSTOK] < PAWNS:
        state.phase = RECALL_PAWN
    else:
        end_turn(ruleset, state)


@kernel
def may_recall_pawn(state: State, player: int, place: int) -> bool:
    """B19: a pawn may be recalled from an exchange or an area, but not from Vladivostok."""
    return place != PAWN_AREA - PAWN_RESERVE + VLADIVOSTOK and may_take_pawn(state, player, place)


@kernel
def recall_pawn(ruleset: Ruleset, state: State, place: int) -> None:
    """B19: bring this pawn back to Vladivostok as a worker."""
    player = int(state.player)
    pawn_away(state, player, place)
    worker_to(state, player, VLADIVOSTOK)
    find_best_prices(ruleset, state, player)
    end_turn(ruleset, state)


# ---------------------------------------------------------------- investor


@kernel
def may_take_tile(state: State, player: int, action: int) -> bool:
    """B20: a player may take a face-up tile whose action has an uncovered space and no tile on their panel."""
    return (state.face_up[action] > 0) & (state.tiles[player, action] == 0) & (state.covered[player, action] < SPACES)


@kernel
def begin_investor(ruleset: Ruleset, state: State, player: int) -> None:
    """B20: let the player choose a tile, if there is one to choose."""
    for action in range(NUM_PANEL_ACTIONS):
        if may_take_tile(state, player, action):
            state.phase = TAKE_TILE
            return
    end_turn(ruleset, state)


@kernel
def take_tile(ruleset: Ruleset, state: State, action: int) -> None:
    """B20: lay the tile on the panel for the rest of the game, and turn up a new one while the stack lasts."""
    state.face_up[action] -= 1
    state.tiles[int(state.player), action] = 1
    turn_up_tile(state)
    end_turn(ruleset, state)


# ---------------------------------------------------------------- resource actions


@kernel
def exchange_row(state: State, exchange: int) -> int:
    """The row in the ruleset's table of prices (B5) for the active side of an exchange."""
    if exchange == 0:
        return 0
    return 1 + TILE_SIDES * (exchange - 1) + int(state.side[exchange - 1])


@kernel
def open_price(ruleset: Ruleset, state: State, player: int, resource: int, closed: int) -> int:
    """B21: the best price open to the player through their salesmen and salesman card; 0 if there is none.

    The exchange `closed` does not count; NOTHING closes none.
    """
    best = int(ruleset.card_price[resource]) if state.card_owner[resource] == player else 0
    for exchange in range(NUM_EXCHANGES):
        if state.salesmen[player, exchange] > 0 and exchange != closed:
            best = max(best, int(ruleset.price[exchange_row(state, exchange), resource]))
    return best


@kernel
def find_best_prices(ruleset: Ruleset, state: State, player: int) -> None:
    """B21: store the best price open to the player for each resource."""
    for resource in range(NUM_RESOURCES):
        state.best_price[player, resource] = open_price(ruleset, state, player, resource, NOTHING)


@kernel
def size_of(areas: int) -> int:
    """How many areas are in a set."""
    return bit_count(areas)


@kernel
def extract(state: State, player: int, resource: int) -> None:
    """B21: sell a cube from every area with a worker of the player at the best price; without a price do nothing."""
    price = int(state.best_price[player, resource])
    if price == 0:
        return
    places = int(state.lying[resource]) & int(state.presence[player])
    state.money[player] += price * size_of(places)
    state.lying[resource] &= ~places
    left = 0
    for other in range(NUM_RESOURCES):
        left |= int(state.lying[other])
    emptied = int(state.open) & ~left
    for area in range(MOST_AREAS):
        if (emptied >> area) & 1:
            exhaust(state, area)


@kernel
def exhaust(state: State, area: int) -> None:
    """B22: close an area without cubes, and return its workers to their reserves.

    B17: from now on, a step that led to the area leads to where the area leads.
    """
    state.open &= ~(1 << area)
    state.exhausted += 1
    for player in range(MAX_PLAYERS):
        state.pawns[player] += int(state.workers[player, area])
        state.workers[player, area] = 0
        state.presence[player] &= ~(1 << area)
    beyond = int(state.steps[area])
    for place in range(NUM_PLACES):
        if (int(state.steps[place]) >> area) & 1:
            state.steps[place] = (int(state.steps[place]) | beyond) & ~(1 << area) & ~(1 << place)
    state.steps[area] = 0


# ---------------------------------------------------------------- round's end and the end


@kernel
def check_surplus(ruleset: Ruleset, state: State) -> None:
    """B23: from the current player on, in seat order, a player with more than ten counters returns some.

    Then the round is over.
    """
    while state.counters[int(state.player)] <= PANEL_LIMIT:
        state.player = next_seat(ruleset, int(state.player))
        if state.player == state.start:
            end_round(ruleset, state)
            return
    state.phase = DISCARD


@kernel
def lies_at(state: State, player: int, action: int, kind: int) -> bool:
    """Whether a counter of `kind` lies on a space of the action."""
    return (state.panel[player, action, 0] == kind) | (state.panel[player, action, 1] == kind)


@kernel
def discard(ruleset: Ruleset, state: State, action: int, kind: int) -> None:
    """B23: put one counter from the panel back into the bag."""
    player = int(state.player)
    if state.panel[player, action, 0] == kind:
        state.panel[player, action, 0] = state.panel[player, action, 1]
    state.panel[player, action, 1] = EMPTY
    state.covered[player, action] -= 1
    state.counters[player] -= 1
    into_bag(state, kind)
    check_surplus(ruleset, state)


@kernel
def end_round(ruleset: Ruleset, state: State) -> None:
    """B24: end the game if it is due, or at the round limit. B23: otherwise the next seat starts the next round."""
    state.rounds += 1
    if end_is_due(ruleset, state):
        state.phase = OVER
    elif state.rounds >= ruleset.max_rounds:
        state.hit_limit = 1
        state.phase = OVER
    else:
        state.start = next_seat(ruleset, int(state.start))
        state.player = state.start
        state.passed = 0
        state.phase = DRAW


@kernel
def empty_reserves(state: State) -> int:
    """How many of the five reserves hold no cube."""
    empty = 0
    for resource in range(NUM_RESOURCES):
        empty += state.reserve[resource] == 0
    return empty


@kernel
def end_is_due(ruleset: Ruleset, state: State) -> bool:
    """B24: whether enough areas are exhausted, or enough reserves empty, for this round to be the last."""
    return (state.exhausted >= ruleset.areas_to_end) | (empty_reserves(state) >= EMPTY_RESERVES_TO_END)
