"""What holds at every decision of the board game, in compiled code: for `tests/soak.py`.

Slow and obvious on purpose. Nothing here calls the rules: every count is made anew from the pieces.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from siberia_env.board.actions import ACT, CARD, RESOURCE, TILE, TO, WILDCARD, WILDCARD_NONE
from siberia_env.board.components import (
    CHOOSE_SIDES,
    COUNTERS_DRAWN,
    EMPTY_RESERVES_TO_END,
    EXCHANGE_TILES,
    GAS,
    GIVEN_SIDES,
    LOGISTICIAN,
    MANAGER,
    MANAGER_COUNTER,
    NUM_EXCHANGES,
    NUM_KINDS,
    NUM_PANEL_ACTIONS,
    NUM_PLACES,
    PANEL_LIMIT,
    PAWNS,
    SPACES,
    STEPS,
    TILE_SIDES,
    TILES_FACE_UP,
    VLADIVOSTOK,
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
    EMPTY,
    MOVE_FROM,
    MOVE_TO,
    NOBODY,
    NOT_PLACED,
    NOTHING,
    OVER,
    PLACE,
    RECALL_PAWN,
    RESEARCH_MANAGERS,
    STATE,
    TAKE_PAWN,
    TURN,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel, stack_array
from siberia_env.game import MAX_PLAYERS, register

COLUMNS = RESEARCH_MANAGERS + 1  #: what research counters call for: a resource each, then managers


class BoardInvariant(IntEnum):
    """What can be broken: first in one state, then from one decision to the next."""

    PHASE = 1
    SEAT = 2
    STARTING_PLAYER = 3
    EMPTY_SEATS = 4
    UNUSED_BYTES = 5
    PASSED = 6
    UNDER_WAY = 7
    CHOSEN_PAWN = 8
    COUNTERS_IN_THE_BOX = 9
    BAG_SIZE = 10
    DRAWN = 11
    PLAN = 12
    PLANNED = 13
    RESEARCH = 14
    RESEARCH_SIZE = 15
    PANEL = 16
    COVERED = 17
    COUNTERS_ON_THE_PANEL = 18
    PANEL_LIMIT = 19
    SURPLUS = 20
    CUBES = 21
    MAP = 22
    OPEN = 23
    EXHAUSTED = 24
    STEPS = 25
    PAWNS = 26
    WORKERS = 27
    PRESENCE = 28
    BEST_PRICE = 29
    SALESMAN_CARDS = 30
    SIDES = 31
    TILES = 32
    TILES_FACE_UP = 33
    MONEY = 34
    END_IS_DUE = 35
    ROUND_LIMIT = 36

    ROUNDS_PASS = 51
    PASSED_STAY_OUT = 52
    WHO_IS_PAID = 53
    EXTRACTION = 54
    CUBES_SOLD = 55
    EXHAUSTED_FOR_EVER = 56
    WORKERS_COME_HOME = 57
    WHOSE_PIECES_CHANGE = 58
    TILES_STAY = 59
    TOP_TILE = 60
    CARDS_STAY = 61
    SIDES_STAY = 62


#: What the tally of a soak counts, in order.
EVENTS = (
    "areas exhausted",
    "workers sent home by it",
    "steps through exhausted areas",
    "extractions",
    "extractions without a price",
    "extractions without a cube",
    "wildcards put",
    "wildcards waived",
    "pawns recalled",
    "tiles taken",
    "decisions with an empty tile stack",
    "salesman cards taken from others",
    "surplus discards",
    "rounds",
    "ended by exhausted areas",
    "ended by empty reserves",
    "ended by the round limit",
)
(
    AREAS_EXHAUSTED,
    SENT_HOME,
    STEPS_THROUGH,
    EXTRACTIONS,
    WITHOUT_A_PRICE,
    WITHOUT_A_CUBE,
    WILDCARDS_PUT,
    WILDCARDS_WAIVED,
    RECALLED,
    TILES_TAKEN,
    EMPTY_TILE_STACK,
    CARDS_TAKEN,
    SURPLUS_DISCARDS,
    ROUNDS,
    ENDED_BY_AREAS,
    ENDED_BY_RESERVES,
    LIMIT_REACHED,
) = range(len(EVENTS))


@kernel
def members(areas: int) -> int:
    """How many areas are in a set."""
    count = 0
    while areas != 0:
        areas &= areas - 1
        count += 1
    return count


@kernel
def end_due(ruleset: Any, state: Any) -> bool:
    """B24: whether enough areas are exhausted, or enough reserves empty."""
    areas, empty = 0, 0
    for area in range(ruleset.num_areas):
        cubes = 0
        for resource in range(NUM_RESOURCES):
            cubes += (int(state.lying[resource]) >> area) & 1
        if cubes == 0:
            areas += 1
    for resource in range(NUM_RESOURCES):
        if state.reserve[resource] == 0:
            empty += 1
    return areas >= ruleset.areas_to_end or empty >= EMPTY_RESERVES_TO_END


@kernel
def check_turn(ruleset: Any, state: Any) -> int:
    """What is being decided, by whom; what the decision does not use is blank."""
    players, phase, rounds = int(ruleset.num_players), int(state.phase), int(state.rounds)
    player, start = int(state.player), int(state.start)
    if not CHOOSE_SIDE <= phase <= DISCARD and phase != OVER:
        return BoardInvariant.PHASE
    if (phase == CHOOSE_SIDE) != (state.sides_chosen < EXCHANGE_TILES):
        return BoardInvariant.PHASE
    if not 0 <= player < players:
        return BoardInvariant.SEAT
    if rounds < 0 or start != (rounds - (phase == OVER)) % players:
        return BoardInvariant.STARTING_PLAYER
    for other in range(players, MAX_PLAYERS):
        blank = state.money[other] == 0 and state.presence[other] == 0 and state.pawns[other] == 0
        blank = blank and state.counters[other] == 0 and state.research_size[other] == 0
        for place in range(NUM_PLACES):
            blank = blank and state.workers[other, place] == 0
        for exchange in range(NUM_EXCHANGES):
            blank = blank and state.salesmen[other, exchange] == 0
        for resource in range(NUM_RESOURCES):
            blank = blank and state.best_price[other, resource] == 0
        for column in range(COLUMNS):
            blank = blank and state.research[other, column] == 0
        for index in range(COUNTERS_DRAWN):
            blank = blank and state.drawn[other, index] == EMPTY and state.plan[other, index] == NOT_PLACED
        for action in range(NUM_PANEL_ACTIONS):
            blank = blank and state.covered[other, action] == 0 and state.tiles[other, action] == 0
            blank = blank and state.planned[other, action] == 0
            for space in range(SPACES):
                blank = blank and state.panel[other, action, space] == EMPTY
        if not blank:
            return BoardInvariant.EMPTY_SEATS
    if state.unused[0] != 0 or state.unused[1] != 0 or state.unused[2] != 0:
        return BoardInvariant.UNUSED_BYTES

    everybody = (1 << players) - 1
    passed = int(state.passed)
    if passed < 0 or passed & ~everybody != 0:
        return BoardInvariant.PASSED
    if (phase in (CHOOSE_SIDE, PLACE)) and passed != 0:
        return BoardInvariant.PASSED
    if (phase in (DISCARD, OVER)) and passed != everybody:
        return BoardInvariant.PASSED
    if TURN <= phase < DISCARD and (passed >> player) & 1:
        return BoardInvariant.PASSED

    if (state.resource != NOTHING) != (phase == CHOOSE_AREA) or not NOTHING <= state.resource < NUM_RESOURCES:
        return BoardInvariant.UNDER_WAY
    if phase in (MOVE_FROM, MOVE_TO):
        if not 1 <= state.steps_left <= STEPS:
            return BoardInvariant.UNDER_WAY
    elif state.steps_left != 0:
        return BoardInvariant.UNDER_WAY
    if not 0 <= state.placed < COUNTERS_DRAWN or (state.placed != 0 and phase != PLACE):
        return BoardInvariant.UNDER_WAY
    if phase == CHOOSE_AREA and state.reserve[state.resource] == 0:
        return BoardInvariant.UNDER_WAY

    origin = int(state.origin)
    if (origin != NOTHING) != (phase in (MOVE_TO, CHOOSE_EXCHANGE)):
        return BoardInvariant.CHOSEN_PAWN
    if origin != NOTHING:
        standing = 0
        if origin == 0:
            standing = int(state.pawns[player])
        elif origin <= NUM_EXCHANGES:
            standing = int(state.salesmen[player, origin - 1])
        elif origin <= NUM_EXCHANGES + NUM_PLACES:
            standing = int(state.workers[player, origin - 1 - NUM_EXCHANGES])
        if standing <= 0 or (phase == MOVE_TO and origin <= NUM_EXCHANGES):
            return BoardInvariant.CHOSEN_PAWN
    if phase == RECALL_PAWN and state.pawns[player] != 0:
        return BoardInvariant.CHOSEN_PAWN
    return 0


@kernel
def check_end(ruleset: Any, state: Any) -> int:
    """B24: the end comes with the round that brings it about; the round limit."""
    if state.phase == PLACE and state.rounds > 0 and end_due(ruleset, state):
        return BoardInvariant.END_IS_DUE
    if state.phase == OVER and (state.hit_limit == 1) == end_due(ruleset, state):
        return BoardInvariant.END_IS_DUE
    if state.hit_limit != 0 and (state.hit_limit != 1 or state.phase != OVER or state.rounds != ruleset.max_rounds):
        return BoardInvariant.ROUND_LIMIT
    if state.rounds > ruleset.max_rounds or (state.rounds == ruleset.max_rounds and state.phase != OVER):
        return BoardInvariant.ROUND_LIMIT
    return 0


@kernel
def check_drawn(ruleset: Any, state: Any) -> int:
    """The six counters of each player, what is planned for them, and what waits for research."""
    players, phase = int(ruleset.num_players), int(state.phase)
    planned, called_for = stack_array(NUM_PANEL_ACTIONS, np.int64), stack_array(COLUMNS, np.int64)
    for player in range(players):
        for index in range(COUNTERS_DRAWN):
            kind = int(state.drawn[player, index])
            if phase == CHOOSE_SIDE:
                if kind != EMPTY:
                    return BoardInvariant.DRAWN
            elif not 0 <= kind < NUM_KINDS or (index > 0 and state.drawn[player, index - 1] > kind):
                return BoardInvariant.DRAWN

        # Who sits before the player on turn has placed all, who sits behind it nothing.
        placed = 0
        if phase != CHOOSE_SIDE:
            placed = COUNTERS_DRAWN
        if phase == PLACE:
            turn = (int(state.player) - int(state.start)) % players
            own = (player - int(state.start)) % players
            if own == turn:
                placed = int(state.placed)
            elif own > turn:
                placed = 0
        for index in range(COUNTERS_DRAWN):
            where = int(state.plan[player, index])
            if index < placed:
                if where != AT_RESEARCH and where != AT_PERSON and where != AT_RESOURCE:
                    return BoardInvariant.PLAN
                if where == AT_RESOURCE and state.drawn[player, index] == MANAGER_COUNTER:
                    return BoardInvariant.PLAN
            elif where != NOT_PLACED:
                return BoardInvariant.PLAN
        for action in range(NUM_PANEL_ACTIONS):
            planned[action] = 0
        for column in range(COLUMNS):
            called_for[column] = 0
        at_research = 0
        for index in range(placed):
            kind, where = int(state.drawn[player, index]), int(state.plan[player, index])
            if where == AT_RESEARCH:
                at_research += 1
                called_for[RESEARCH_MANAGERS if kind == MANAGER_COUNTER else kind % NUM_RESOURCES] += 1
            elif where == AT_PERSON:
                planned[MANAGER if kind == MANAGER_COUNTER else LOGISTICIAN + kind // NUM_RESOURCES] += 1
            else:
                planned[GAS + kind % NUM_RESOURCES] += 1
        for action in range(NUM_PANEL_ACTIONS):
            if state.planned[player, action] != (planned[action] if phase == PLACE else 0):
                return BoardInvariant.PLANNED

        size = int(state.research_size[player])
        if size != 0 and (phase in (PLACE, CHOOSE_SIDE) or player == state.player):
            return BoardInvariant.RESEARCH_SIZE
        if size != 0 and at_research != size:
            return BoardInvariant.RESEARCH_SIZE
        under_way = player == state.player and (phase in (CHOOSE_AREA, CHOOSE_RESOURCE))
        for column in range(COLUMNS):
            most = 0
            if size != 0 or under_way:
                most = int(called_for[column])
            left = int(state.research[player, column])
            if left < 0 or left > most or (left < most and not under_way):
                return BoardInvariant.RESEARCH
    return 0


@kernel
def check_counters(ruleset: Any, state: Any) -> int:
    """B2: the action counters: in the bag, on a panel, drawn and not yet laid down, or at research."""
    players, phase = int(ruleset.num_players), int(state.phase)
    bag = 0
    counts = stack_array(NUM_KINDS, np.int64)
    for kind in range(NUM_KINDS):
        if state.bag[kind] < 0:
            return BoardInvariant.COUNTERS_IN_THE_BOX
        counts[kind] = state.bag[kind]
        bag += int(state.bag[kind])
    if bag != state.bag_size:
        return BoardInvariant.BAG_SIZE
    for player in range(players):
        together = 0
        for action in range(NUM_PANEL_ACTIONS):
            covered = 0
            for space in range(SPACES):
                kind = int(state.panel[player, action, space])
                if kind != EMPTY:
                    if space != covered:
                        return BoardInvariant.PANEL
                    covered += 1
                    if not 0 <= kind < NUM_KINDS:
                        return BoardInvariant.PANEL
                    counts[kind] += 1
                    own = action == LOGISTICIAN + kind // NUM_RESOURCES or action == GAS + kind % NUM_RESOURCES
                    if kind != MANAGER_COUNTER and not own:
                        return BoardInvariant.PANEL
            if covered != state.covered[player, action]:
                return BoardInvariant.COVERED
            if covered + int(state.tiles[player, action]) + int(state.planned[player, action]) > SPACES:
                return BoardInvariant.PANEL
            together += covered
        if together != state.counters[player]:
            return BoardInvariant.COUNTERS_ON_THE_PANEL
        if together > PANEL_LIMIT and (phase in (PLACE, OVER, CHOOSE_SIDE)):
            return BoardInvariant.PANEL_LIMIT
    for player in range(players):
        for index in range(COUNTERS_DRAWN):
            at_research = state.research_size[player] > 0 and state.plan[player, index] == AT_RESEARCH
            if phase == PLACE or at_research:
                counts[int(state.drawn[player, index])] += 1
    for kind in range(NUM_KINDS):
        if counts[kind] != ruleset.counters[kind]:
            return BoardInvariant.COUNTERS_IN_THE_BOX
    if phase == DISCARD:
        if state.counters[state.player] <= PANEL_LIMIT:
            return BoardInvariant.SURPLUS
        player = int(state.start)
        while player != state.player:
            if state.counters[player] > PANEL_LIMIT:
                return BoardInvariant.SURPLUS
            player = (player + 1) % players
    return 0


@kernel
def check_map(ruleset: Any, state: Any) -> int:
    """B6, B8, B22: cubes and areas, and where the steps lead (B17)."""
    areas = int(ruleset.num_areas)
    is_open = 0
    for resource in range(NUM_RESOURCES):
        lying = int(state.lying[resource])
        if lying < 0 or lying >> areas != 0:
            return BoardInvariant.MAP
        if state.reserve[resource] < 0 or int(state.reserve[resource]) + members(lying) > ruleset.cubes[resource]:
            return BoardInvariant.CUBES
        is_open |= lying
    if is_open != state.open:
        return BoardInvariant.OPEN
    if areas - members(is_open) != state.exhausted:
        return BoardInvariant.EXHAUSTED
    all_open = is_open == (1 << areas) - 1
    for place in range(NUM_PLACES):
        wanted = 0
        if all_open:
            wanted = int(ruleset.adjacent[place])
        elif place == VLADIVOSTOK or (is_open >> place) & 1:
            # All that can be reached through exhausted areas, found by going on until nothing is new.
            reached, before = int(ruleset.adjacent[place]), -1
            while reached != before:
                before = reached
                for area in range(areas):
                    if (before >> area) & 1 and not (is_open >> area) & 1:
                        reached |= int(ruleset.adjacent[area])
            wanted = reached & is_open
            if place != VLADIVOSTOK:
                wanted &= ~(1 << place)
        if wanted != state.steps[place]:
            return BoardInvariant.STEPS
    return 0


@kernel
def check_pieces(ruleset: Any, state: Any) -> int:
    """Pawns, prices, salesman cards, sides and investment tiles."""
    players, areas = int(ruleset.num_players), int(ruleset.num_areas)
    for tile in range(EXCHANGE_TILES):
        side = int(state.side[tile])
        if not 0 <= side < TILE_SIDES or (tile >= state.sides_chosen and side != 0):
            return BoardInvariant.SIDES
        if ruleset.sides == GIVEN_SIDES and side != ruleset.given_sides[tile]:
            return BoardInvariant.SIDES
    if not 0 <= state.sides_chosen <= EXCHANGE_TILES or (
        ruleset.sides != CHOOSE_SIDES and state.sides_chosen != EXCHANGE_TILES
    ):
        return BoardInvariant.SIDES
    for resource in range(NUM_RESOURCES):
        owner = int(state.card_owner[resource])
        if not NOBODY <= owner < players or (owner != NOBODY and ruleset.salesman_cards == 0):
            return BoardInvariant.SALESMAN_CARDS
    rows = stack_array(NUM_EXCHANGES, np.int64)  # of the active sides in the table of prices
    rows[0] = 0
    for tile in range(EXCHANGE_TILES):
        rows[1 + tile] = 1 + TILE_SIDES * tile + int(state.side[tile])
    for player in range(players):
        pawns = int(state.pawns[player])
        if pawns < 0:
            return BoardInvariant.PAWNS
        presence = 0
        for place in range(NUM_PLACES):
            workers = int(state.workers[player, place])
            if workers < 0:
                return BoardInvariant.PAWNS
            pawns += workers
            if workers > 0 and place != VLADIVOSTOK:
                presence |= 1 << place
                if place >= areas or not (int(state.open) >> place) & 1:
                    return BoardInvariant.WORKERS
        for exchange in range(NUM_EXCHANGES):
            if state.salesmen[player, exchange] < 0:
                return BoardInvariant.PAWNS
            pawns += int(state.salesmen[player, exchange])
        if pawns != PAWNS:
            return BoardInvariant.PAWNS
        if presence != state.presence[player]:
            return BoardInvariant.PRESENCE
        for resource in range(NUM_RESOURCES):
            best = 0
            for exchange in range(NUM_EXCHANGES):
                if state.salesmen[player, exchange] > 0:
                    best = max(best, int(ruleset.price[rows[exchange], resource]))
            if state.card_owner[resource] == player and ruleset.card_price[resource] > best:
                best = int(ruleset.card_price[resource])
            if best != state.best_price[player, resource]:
                return BoardInvariant.BEST_PRICE
        if state.money[player] < 0:
            return BoardInvariant.MONEY
    face_up = 0
    tiles = stack_array(NUM_PANEL_ACTIONS, np.int64)
    for action in range(NUM_PANEL_ACTIONS):
        tiles[action] = state.face_up[action]
        face_up += int(state.face_up[action])
        if state.face_up[action] < 0:
            return BoardInvariant.TILES
        for player in range(players):
            if not 0 <= state.tiles[player, action] <= 1:
                return BoardInvariant.TILES
            tiles[action] += int(state.tiles[player, action])
    for depth in range(state.tile_stack_size):
        if not 0 <= state.tile_stack[depth] < NUM_PANEL_ACTIONS:
            return BoardInvariant.TILES
        tiles[int(state.tile_stack[depth])] += 1
    for action in range(NUM_PANEL_ACTIONS):
        if tiles[action] != ruleset.tiles[action]:
            return BoardInvariant.TILES
    if state.phase == CHOOSE_SIDE:
        if face_up != 0:
            return BoardInvariant.TILES_FACE_UP
    elif face_up > TILES_FACE_UP or (face_up < TILES_FACE_UP and state.tile_stack_size > 0):
        return BoardInvariant.TILES_FACE_UP
    return 0


@kernel
def check(ruleset: Any, state: Any) -> int:
    """0, or the number of the invariant that `state` breaks."""
    broken = check_turn(ruleset, state)
    if broken == 0:
        broken = check_drawn(ruleset, state)
    if broken == 0:
        broken = check_counters(ruleset, state)
    if broken == 0:
        broken = check_map(ruleset, state)
    if broken == 0:
        broken = check_pieces(ruleset, state)
    if broken == 0:
        broken = check_end(ruleset, state)
    return broken


@kernel
def check_step(ruleset: Any, before: Any, after: Any, action: int, ledger: Any, tally: Any) -> int:
    """0, or the number of the invariant that the step from `before` to `after` breaks.

    `ledger` counts the cubes of each resource that are sold; it is written here. So is `tally`, which counts `EVENTS`.
    """
    players, player, phase = int(ruleset.num_players), int(before.player), int(before.phase)
    extracted = NOTHING
    if phase == TURN and ACT + GAS <= action < RESOURCE:
        extracted = action - ACT - GAS

    rounds = int(after.rounds) - int(before.rounds)
    if not 0 <= rounds <= 1:
        return BoardInvariant.ROUNDS_PASS
    if rounds == 0 and after.start != before.start:
        return BoardInvariant.ROUNDS_PASS
    if rounds == 1 and after.phase != OVER and after.start != (int(before.start) + 1) % players:
        return BoardInvariant.ROUNDS_PASS
    if rounds == 1 and phase != DISCARD and not (phase == TURN and action == ACT - 1):
        return BoardInvariant.ROUNDS_PASS  # a round ends with a pass, or with the last surplus counter
    if rounds == 0 and phase != PLACE and int(before.passed) & ~int(after.passed) != 0:
        return BoardInvariant.PASSED_STAY_OUT

    # B21: who extracts gets the best price for each cube; nobody else is paid, and nothing else pays.
    for other in range(players):
        gain = 0
        if other == player and extracted != NOTHING:
            price = int(before.best_price[player, extracted])
            gain = price * members(int(before.lying[extracted]) & int(before.presence[player]))
        if int(after.money[other]) - int(before.money[other]) != gain:
            return BoardInvariant.WHO_IS_PAID
    for resource in range(NUM_RESOURCES):
        gone = int(before.lying[resource]) & ~int(after.lying[resource])
        wanted = 0
        if resource == extracted and before.best_price[player, resource] > 0:
            wanted = int(before.lying[resource]) & int(before.presence[player])
        if gone != wanted:
            return BoardInvariant.EXTRACTION
        ledger[resource] += members(gone)
        on_map = members(int(after.lying[resource]))
        if on_map + int(after.reserve[resource]) + ledger[resource] != ruleset.cubes[resource]:
            return BoardInvariant.CUBES_SOLD

    # B22: an exhausted area stays so, and its workers are back in their reserves.
    if int(after.open) & ~int(before.open) != 0:
        return BoardInvariant.EXHAUSTED_FOR_EVER
    emptied = int(before.open) & ~int(after.open)
    sent_home = 0
    for other in range(players):
        home = 0
        for area in range(ruleset.num_areas):
            if (emptied >> area) & 1:
                home += int(before.workers[other, area])
        if emptied != 0 and int(after.pawns[other]) - int(before.pawns[other]) != home:
            return BoardInvariant.WORKERS_COME_HOME
        sent_home += home

    for other in range(players):
        if other != player:
            same = emptied != 0 or after.pawns[other] == before.pawns[other]
            for exchange in range(NUM_EXCHANGES):
                same &= after.salesmen[other, exchange] == before.salesmen[other, exchange]
            for place in range(NUM_PLACES):
                left = place != VLADIVOSTOK and (emptied >> place) & 1 == 1
                same &= left | (after.workers[other, place] == before.workers[other, place])
            if phase != PLACE:
                for number in range(NUM_PANEL_ACTIONS):
                    same &= after.covered[other, number] == before.covered[other, number]
                    for space in range(SPACES):
                        same &= after.panel[other, number, space] == before.panel[other, number, space]
            if not same:
                return BoardInvariant.WHOSE_PIECES_CHANGE

    # B20: tiles stay where they lie; the next one comes from the top of the stack.
    for other in range(players):
        for number in range(NUM_PANEL_ACTIONS):
            taken = other == player and action == TILE + number
            if int(after.tiles[other, number]) - int(before.tiles[other, number]) != taken:
                return BoardInvariant.TILES_STAY
    if phase != CHOOSE_SIDE:
        turned = int(before.tile_stack_size) - int(after.tile_stack_size)
        taking = TILE <= action < TILE + NUM_PANEL_ACTIONS
        if turned != (taking and before.tile_stack_size > 0):
            return BoardInvariant.TOP_TILE
        for number in range(NUM_PANEL_ACTIONS):
            shown = int(before.face_up[number]) - (action == TILE + number)
            if turned == 1 and before.tile_stack[after.tile_stack_size] == number:
                shown += 1
            if after.face_up[number] != shown:
                return BoardInvariant.TOP_TILE
    for depth in range(after.tile_stack_size):
        if after.tile_stack[depth] != before.tile_stack[depth]:
            return BoardInvariant.TOP_TILE

    # B25: a card changes hands only by the action, and goes to the player on turn. B9: sides are settled once.
    for resource in range(NUM_RESOURCES):
        if action == CARD + resource:
            if after.card_owner[resource] != player:
                return BoardInvariant.CARDS_STAY
        elif after.card_owner[resource] != before.card_owner[resource]:
            return BoardInvariant.CARDS_STAY
    for tile in range(before.sides_chosen):
        if after.side[tile] != before.side[tile]:
            return BoardInvariant.SIDES_STAY
    if int(after.sides_chosen) - int(before.sides_chosen) != (phase == CHOOSE_SIDE):
        return BoardInvariant.SIDES_STAY

    tally[AREAS_EXHAUSTED] += members(emptied)
    tally[SENT_HOME] += sent_home
    if phase == MOVE_TO:
        place = int(before.origin) - 1 - NUM_EXCHANGES
        tally[STEPS_THROUGH] += not (int(ruleset.adjacent[place]) >> (action - TO)) & 1
    if extracted != NOTHING:
        tally[EXTRACTIONS] += 1
        tally[WITHOUT_A_PRICE] += before.best_price[player, extracted] == 0
        tally[WITHOUT_A_CUBE] += int(before.lying[extracted]) & int(before.presence[player]) == 0
    tally[WILDCARDS_PUT] += WILDCARD <= action < WILDCARD_NONE
    tally[WILDCARDS_WAIVED] += action == WILDCARD_NONE
    tally[RECALLED] += phase == RECALL_PAWN
    tally[TILES_TAKEN] += TILE <= action < TILE + NUM_PANEL_ACTIONS
    tally[EMPTY_TILE_STACK] += after.tile_stack_size == 0
    if phase == TAKE_PAWN and CARD <= action < TILE:
        tally[CARDS_TAKEN] += before.card_owner[action - CARD] != NOBODY
    tally[SURPLUS_DISCARDS] += phase == DISCARD
    tally[ROUNDS] += rounds
    if after.phase == OVER:
        tally[LIMIT_REACHED] += after.hit_limit == 1
        by_areas = int(after.exhausted) >= ruleset.areas_to_end
        tally[ENDED_BY_AREAS] += by_areas
        tally[ENDED_BY_RESERVES] += after.hit_limit == 0 and not by_areas
    return 0


register(STATE, {"check": check, "check_step": check_step})
