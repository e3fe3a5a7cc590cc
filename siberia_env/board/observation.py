"""What a player sees of the board game, as one flat float32 vector of named blocks.

`BLOCKS` declares every block once. The vector's size, the named slices, the table in the docs and the offsets below
come from it. Seats are relative to the observer (0 is the observer, 1 the next one to the left, ...) and padded to
four. Areas are padded to sixteen. Values lie in [0, 1], signed ones in [-1, 1]; larger values are clipped.

What-if blocks come first. They say what each resource action would bring right now, to the observer and to each
opponent, what each action still needs, and what lies within reach of the observer's workers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.board.actions import LYING, NUM_LYING, NUM_PAWN_PLACES
from siberia_env.board.components import (
    COUNTERS_DRAWN,
    EMPTY_RESERVES_TO_END,
    EXHAUSTION_COUNTERS,
    GAS,
    LOGISTICIAN,
    MANAGER,
    MANAGER_COUNTER,
    MOST_AREAS,
    NUM_EXCHANGES,
    NUM_KINDS,
    NUM_PANEL_ACTIONS,
    NUM_PERSONS,
    NUM_PLACES,
    PANEL_LIMIT,
    PAWNS,
    SPACES,
    STEPS,
    TILE_SIDES,
    TILES_FACE_UP,
    VLADIVOSTOK,
)
from siberia_env.board.rules import (
    empty_reserves,
    end_is_due,
    exchange_row,
    may_lie,
    person_action,
    resource_action,
    size_of,
)
from siberia_env.board.state import (
    AT_PERSON,
    AT_RESEARCH,
    AT_RESOURCE,
    CHOOSE_SIDE,
    NOBODY,
    NOT_PLACED,
    NOTHING,
    NUM_DECISIONS,
    OVER,
    PLACE,
    RESEARCH_COLUMNS,
    RESEARCH_MANAGERS,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.common.observation import PLAYER_COUNTS, scaled, seat_of, seated
from siberia_env.core.jit import kernel, kernel_part, stack_array
from siberia_env.core.simd import add_bits, copy_row, count_members, exceed_row, join_sets, multiply_row
from siberia_env.game import MAX_PLAYERS, Block, block_offsets, block_scales

# With the box's own tables only two quantities can exceed their unit: `empty_reserves`, of which three end the game,
# and money in games between players of very unequal strength.
SCORE_UNIT = 256  # thousands
MARGIN_UNIT = 128  # thousands
PRICE_UNIT = 8  # thousands a cube
SALE_UNIT = PAWNS * PRICE_UNIT  # thousands: a cube for each pawn, at the price of the best salesman card
AREA_UNIT = 8  # areas with workers of one player, and cubes of one resource there
RESERVE_UNIT = 18  # cubes of one resource
KIND_UNIT = 4  # counters of one kind with a person and a resource
MANAGER_UNIT = 16  # manager counters
BAG_UNIT = 70  # counters
TILE_STACK_UNIT = 20
NUM_PAIRS = NUM_KINDS - 1  # kinds of counter with a person and a resource
NUM_SYMBOLS = 1 + NUM_PERSONS + NUM_RESOURCES  # manager, persons, resources: the order of the actions
NUM_DISTANCES = STEPS + 1  # 0 to 3 steps

BLOCKS: tuple[Block, ...] = (
    Block(
        "sale",
        (MAX_PLAYERS, NUM_RESOURCES),
        "all",
        SALE_UNIT,
        "what if: thousands that each resource action would bring the seat now",
    ),
    Block("yield", (MAX_PLAYERS, NUM_RESOURCES), "all", AREA_UNIT, "what if: cubes lying where the seat has a worker"),
    Block(
        "needs",
        (MAX_PLAYERS, NUM_PANEL_ACTIONS),
        "observer",
        SPACES,
        "what if: counters that each action still needs; own counters count as soon as they are placed, those of "
        "others when all have placed",
    ),
    Block(
        "within_reach",
        (STEPS, NUM_RESOURCES),
        "all",
        MOST_AREAS,
        "what if: cubes by resource at most 1, 2, 3 steps from an own worker",
    ),
    Block(
        "sites",
        (NUM_RESOURCES,),
        "all",
        AREA_UNIT,
        "what if: own workers' areas that lack the resource: a cube could be placed there as long as the reserve lasts",
    ),
    Block(
        "raise",
        (NUM_EXCHANGES, NUM_RESOURCES),
        "all",
        PRICE_UNIT,
        "what if: thousands by which a salesman at the exchange would raise the own best price",
    ),
    Block("best_price", (MAX_PLAYERS, NUM_RESOURCES), "all", PRICE_UNIT, "best price open, thousands; 0: none"),
    Block("prices", (NUM_EXCHANGES, NUM_RESOURCES), "all", PRICE_UNIT, "active prices, thousands; 0: not traded"),
    Block(
        "side_prices",
        (TILE_SIDES, NUM_RESOURCES),
        "all",
        PRICE_UNIT,
        "prices on the two sides of the tile whose side is chosen next (B9)",
    ),
    Block("cubes", (NUM_RESOURCES, MOST_AREAS), "all", 1, "1 if a cube of the resource lies in the area"),
    Block("workers", (MAX_PLAYERS, NUM_PLACES), "all", PAWNS, "workers by area, Vladivostok last"),
    Block(
        "distance",
        (MOST_AREAS,),
        "all",
        NUM_DISTANCES,
        "steps of the nearest own worker to the area; 4: more; 0 also for exhausted and unused areas",
    ),
    Block("salesmen", (MAX_PLAYERS, NUM_EXCHANGES), "all", PAWNS, "salesmen by exchange"),
    Block("pawns", (MAX_PLAYERS,), "all", PAWNS, "pawns in reserve"),
    Block("panel", (NUM_LYING,), "observer", SPACES, "own counters on the panel by action and kind, new ones included"),
    Block("tiles", (MAX_PLAYERS, NUM_PANEL_ACTIONS), "all", 1, "1 if an investment tile lies at the action"),
    Block("surplus", (MAX_PLAYERS,), "all", PANEL_LIMIT + COUNTERS_DRAWN, "counters on the panel"),
    Block(
        "research",
        (MAX_PLAYERS, RESEARCH_COLUMNS),
        "observer",
        COUNTERS_DRAWN,
        "counters at research still to be resolved, by resource, then managers; own ones as soon as they are placed",
    ),
    Block("counter", (NUM_SYMBOLS,), "observer", 1, "the own counter to be placed next: manager, persons, resources"),
    Block("counter_needs", (2,), "observer", SPACES, "what its person's action, its resource's action still needs"),
    Block("to_place", (NUM_SYMBOLS,), "observer", COUNTERS_DRAWN, "own counters still to be placed, as in `counter`"),
    Block(
        "unseen_counters",
        (NUM_PAIRS,),
        "observer",
        KIND_UNIT,
        "counters by kind that are in the bag or, before all have placed, newly drawn by others; managers follow",
    ),
    Block("unseen_managers", (1,), "observer", MANAGER_UNIT, "manager counters among them"),
    Block("bag", (1,), "all", BAG_UNIT, "counters in the bag"),
    Block("face_up", (NUM_PANEL_ACTIONS,), "all", TILES_FACE_UP, "investment tiles face up, by action"),
    Block("tile_stack", (1,), "all", TILE_STACK_UNIT, "investment tiles in the stack"),
    Block("scores", (MAX_PLAYERS,), "all", SCORE_UNIT, "money, thousands"),
    Block(
        "margin",
        (MAX_PLAYERS,),
        "all",
        MARGIN_UNIT,
        "own money less the most another one has (first number), less that of seats 1 to 3, thousands",
        signed=True,
    ),
    Block("reserve", (NUM_RESOURCES,), "all", RESERVE_UNIT, "cubes in reserve"),
    Block("to_exhaust", (1,), "all", EXHAUSTION_COUNTERS, "areas still to be exhausted before the end (B24)"),
    Block(
        "empty_reserves",
        (1,),
        "all",
        EMPTY_RESERVES_TO_END,
        "empty reserves; three bring about the end (B24), more count as three",
    ),
    Block(
        "last_round",
        (1,),
        "all",
        1,
        "1 if enough areas are exhausted, or reserves empty, for the game to end after this round",
    ),
    Block("rounds_left", (1,), "all", 1, "rounds left before the limit (B24), as a part of all"),
    Block(
        "phase",
        (NUM_DECISIONS,),
        "all",
        1,
        "what is being decided: side, place, turn, research resource, research area, wildcard, from, to, salesman's "
        "pawn, exchange, worker's pawn, tile, discard; one-hot",
    ),
    Block("origin", (NUM_PAWN_PLACES,), "all", 1, "where the chosen pawn stands: reserve, exchange, area; one-hot"),
    Block("steps_left", (1,), "all", STEPS, "steps left to the logistician"),
    Block("placing", (NUM_RESOURCES,), "all", 1, "resource of the cube that research places next, one-hot"),
    Block("turn_of", (MAX_PLAYERS,), "all", 1, "whose decision it is, one-hot"),
    Block("starting", (MAX_PLAYERS,), "all", 1, "starting player of the round, one-hot"),
    Block("passed", (MAX_PLAYERS,), "all", 1, "1 if the seat has passed in this round"),
    Block("cards", (MAX_PLAYERS, NUM_RESOURCES), "all", 1, "1 if the seat holds the salesman card (B25)"),
    Block("salesman_cards", (1,), "all", 1, "1 if salesman cards are played with (B25)"),
    Block("present", (MAX_PLAYERS,), "all", 1, "1 if the seat is taken"),
    Block("num_players", (PLAYER_COUNTS,), "all", 1, "2, 3, 4; one-hot"),
    Block("seat", (MAX_PLAYERS,), "all", 1, "the observer's seat number, one-hot"),
)

NEXT_TILES = 2  # as many tiles as two investors turn up

HIDDEN_BLOCKS: tuple[Block, ...] = (
    Block(
        "drawn",
        (MAX_PLAYERS, NUM_KINDS),
        "nobody",
        COUNTERS_DRAWN,
        "before all have placed: new counters, seat 0 first",
    ),
    Block(
        "planned", (MAX_PLAYERS, NUM_PANEL_ACTIONS), "nobody", SPACES, "and how many of them are placed at each action"
    ),
    Block("next_tiles", (NEXT_TILES, NUM_PANEL_ACTIONS), "nobody", 1, "top of the tile stack, one-hot"),
)

SIZE = sum(block.size for block in BLOCKS)
SPARE = SIZE  # a place outside the observation, for what it doesn't show
ROOM = SIZE + 1
SCALES = block_scales(BLOCKS)
HIDDEN_SCALES = block_scales(HIDDEN_BLOCKS)

#: Where each block starts: `AT.sale`. Numba freezes a tuple of integers, but not a dictionary.
AT = block_offsets(BLOCKS)
HIDDEN_AT = block_offsets(HIDDEN_BLOCKS)


# These tables say where the observation shows a counter, so no jump depends on its kind. The columns are EMPTY, then
# the kinds. The numbers are unsigned: such an index can't count from an array's end, so compiled code need not check.
_COLUMNS = 1 + NUM_KINDS
PANEL_PLACE = np.full((NUM_PANEL_ACTIONS, _COLUMNS), SPARE, np.uint16)  #: by action
UNSEEN_PLACE = np.full(_COLUMNS, SPARE, np.uint16)
NEW_PLACE = np.full((AT_RESOURCE + 1, _COLUMNS), SPARE, np.uint16)  #: by where the counter is planned to go
TO_PLACE_RESOURCE = np.full((AT_RESOURCE + 1, _COLUMNS), SPARE, np.uint16)  #: its resource, while it is to be placed
for _number, (_action, _kind) in enumerate(LYING):
    PANEL_PLACE[_action, 1 + _kind] = AT.panel + _number
for _kind in range(NUM_KINDS):
    _manager = _kind == MANAGER_COUNTER
    _person = MANAGER if _manager else LOGISTICIAN + _kind // NUM_RESOURCES
    UNSEEN_PLACE[1 + _kind] = AT.unseen_counters + _kind
    NEW_PLACE[NOT_PLACED, 1 + _kind] = AT.to_place + _person
    NEW_PLACE[AT_RESEARCH, 1 + _kind] = AT.research + (RESEARCH_MANAGERS if _manager else _kind % NUM_RESOURCES)
    NEW_PLACE[AT_PERSON, 1 + _kind] = PANEL_PLACE[_person, 1 + _kind]
    if not _manager:
        NEW_PLACE[AT_RESOURCE, 1 + _kind] = PANEL_PLACE[GAS + _kind % NUM_RESOURCES, 1 + _kind]
        TO_PLACE_RESOURCE[NOT_PLACED, 1 + _kind] = AT.to_place + GAS + _kind % NUM_RESOURCES

SPACES_AT_SEAT = np.array(
    [[0] * NUM_PANEL_ACTIONS, [SPACES] * NUM_PANEL_ACTIONS], np.int8
)  #: for an empty seat, for a taken one


@kernel
def observe(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """Write what `player` sees into `observation` (float32): quantities block by block, then all scaled at once."""
    quantities = stack_array(ROOM, np.int16)
    for index in range(ROOM):
        quantities[index] = 0
    _trade(ruleset, state, player, quantities)
    _map(state, player, quantities)
    _seats(ruleset, state, player, quantities)
    _counters(ruleset, state, player, quantities)
    _decision(ruleset, state, player, quantities)
    for index in range(SIZE):
        observation[index] = scaled(np.float32(quantities[index]), SCALES[index])
    observation[AT.rounds_left] = 1.0 - int(state.rounds) / int(ruleset.max_rounds)


@kernel_part
def _trade(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """Prices, and by how much a salesman would raise the observer's best ones."""
    for exchange in range(1 + int(state.sides_chosen)):
        prices, index = ruleset.price[exchange_row(state, exchange)], exchange * NUM_RESOURCES
        copy_row(quantities, AT.prices + index, prices, NUM_RESOURCES)
        copy_row(quantities, AT.raise_ + index, prices, NUM_RESOURCES)
        exceed_row(quantities, AT.raise_ + index, state.best_price[player], NUM_RESOURCES)
    if state.phase == CHOOSE_SIDE:
        row = 1 + TILE_SIDES * int(state.sides_chosen)
        for side in range(TILE_SIDES):
            copy_row(quantities, AT.side_prices + side * NUM_RESOURCES, ruleset.price[row + side], NUM_RESOURCES)


@kernel_part
def _map(state: State, player: int, quantities: Any) -> None:
    """Cubes by area, how far the areas are from the observer's workers, and what could be placed where these stand."""
    near, is_open = int(state.presence[player]), int(state.open)
    for resource in range(NUM_RESOURCES):
        add_bits(quantities, AT.cubes + resource * MOST_AREAS, int(state.lying[resource]), MOST_AREAS)
        quantities[AT.sites + resource] = size_of(may_lie(state, resource) & near)
    copy_row(quantities, AT.reserve, state.reserve, NUM_RESOURCES)
    add_bits(quantities, AT.distance, is_open & ~near, MOST_AREAS)  # one for each number of steps that is too small
    from_start = int(state.steps[VLADIVOSTOK]) * (state.workers[player, VLADIVOSTOK] > 0)
    for steps in range(STEPS):
        near |= join_sets(state.steps, near, MOST_AREAS) | from_start
        from_start = 0
        count_members(quantities, AT.within_reach + steps * NUM_RESOURCES, state.lying, near, NUM_RESOURCES)
        add_bits(quantities, AT.distance, is_open & ~near, MOST_AREAS)


@kernel_part
def _seats(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """What each player has on the table, and who sits there."""
    players = int(ruleset.num_players)
    own_score, best_other = int(state.money[player]), -1
    for seat in range(MAX_PLAYERS):
        other, present = seated(player, seat, players), seat < players
        index, presence = seat * NUM_RESOURCES, int(state.presence[other])
        count_members(quantities, AT.yield_ + index, state.lying, presence, NUM_RESOURCES)
        copy_row(quantities, AT.best_price + index, state.best_price[other], NUM_RESOURCES)
        count_members(quantities, AT.sale + index, state.lying, presence, NUM_RESOURCES)
        multiply_row(quantities, AT.sale + index, state.best_price[other], NUM_RESOURCES)
        copy_row(quantities, AT.workers + seat * NUM_PLACES, state.workers[other], NUM_PLACES)
        copy_row(quantities, AT.salesmen + seat * NUM_EXCHANGES, state.salesmen[other], NUM_EXCHANGES)
        index = seat * NUM_PANEL_ACTIONS
        copy_row(quantities, AT.tiles + index, state.tiles[other], NUM_PANEL_ACTIONS)
        copy_row(quantities, AT.needs + index, SPACES_AT_SEAT[int(present)], NUM_PANEL_ACTIONS)
        # No action has more tiles and counters than spaces, so what exceeds them is the difference.
        exceed_row(quantities, AT.needs + index, state.tiles[other], NUM_PANEL_ACTIONS)
        exceed_row(quantities, AT.needs + index, state.covered[other], NUM_PANEL_ACTIONS)
        copy_row(quantities, AT.research + seat * RESEARCH_COLUMNS, state.research[other], RESEARCH_COLUMNS)
        quantities[AT.pawns + seat] = state.pawns[other]
        quantities[AT.surplus + seat] = state.counters[other]
        quantities[AT.passed + seat] = present & ((int(state.passed) >> other) & 1)
        quantities[AT.present + seat] = present
        score = int(state.money[other])
        quantities[AT.scores + seat] = score
        quantities[AT.margin + seat] = present * (own_score - score)
        if seat > 0:
            best_other = max(best_other, score if present else -1)
    quantities[AT.margin] = own_score - best_other
    for resource in range(NUM_RESOURCES):
        owner = int(state.card_owner[resource])
        quantities[AT.cards + seat_of(owner, player, players) * NUM_RESOURCES + resource] = owner != NOBODY
    quantities[AT.salesman_cards] = ruleset.salesman_cards
    quantities[AT.num_players + players - 2] = 1
    quantities[AT.seat + player] = 1


@kernel_part
def _counters(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """The observer's panel and plans, the observer's new counters, what is known of the bag, and the tiles."""
    for action in range(NUM_PANEL_ACTIONS):
        first = int(PANEL_PLACE[action, 1 + int(state.panel[player, action, 0])])
        second = int(PANEL_PLACE[action, 1 + int(state.panel[player, action, 1])])
        quantities[second] = 1
        quantities[first] = 1 + (first == second)
    copy_row(quantities, AT.face_up, state.face_up, NUM_PANEL_ACTIONS)
    copy_row(quantities, AT.unseen_counters, state.bag, NUM_KINDS)
    if state.phase == PLACE:
        _new_counters(state, player, quantities)
    quantities[AT.bag] = state.bag_size
    quantities[AT.tile_stack] = state.tile_stack_size


@kernel_part
def _new_counters(state: State, player: int, quantities: Any) -> None:
    """While all place: the observer's new counters and plans. The others' new counters count as if in the bag."""
    for other in range(MAX_PLAYERS):
        for index in range(COUNTERS_DRAWN):
            quantities[int(UNSEEN_PLACE[1 + int(state.drawn[other, index])])] += other != player
    exceed_row(quantities, AT.needs, state.planned[player], NUM_PANEL_ACTIONS)
    placed = 0
    for index in range(COUNTERS_DRAWN):
        kind, where = int(state.drawn[player, index]), int(state.plan[player, index])
        quantities[int(NEW_PLACE[where, 1 + kind])] += 1
        quantities[int(TO_PLACE_RESOURCE[where, 1 + kind])] += 1
        placed += where != NOT_PLACED
    if placed < COUNTERS_DRAWN:
        kind = int(state.drawn[player, placed])
        person, resource = person_action(kind), resource_action(kind)
        has_resource = kind != MANAGER_COUNTER
        quantities[AT.counter + resource] = has_resource
        quantities[AT.counter + person] = 1
        quantities[AT.counter_needs] = quantities[AT.needs + person]
        quantities[AT.counter_needs + 1] = int(quantities[AT.needs + resource]) * has_resource


@kernel_part
def _decision(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """What is being decided, by whom, and how far the end is."""
    players = int(ruleset.num_players)
    phase, origin, resource = int(state.phase), int(state.origin), int(state.resource)
    quantities[AT.phase + min(phase, NUM_DECISIONS - 1)] = phase < NUM_DECISIONS
    quantities[AT.turn_of + seat_of(int(state.player), player, players)] = phase != OVER
    quantities[AT.starting + seat_of(int(state.start), player, players)] = 1
    quantities[AT.origin + max(origin, 0)] = origin != NOTHING
    quantities[AT.placing + max(resource, 0)] = resource != NOTHING
    quantities[AT.steps_left] = state.steps_left
    quantities[AT.to_exhaust] = max(int(ruleset.areas_to_end) - int(state.exhausted), 0)
    quantities[AT.empty_reserves] = empty_reserves(state)
    quantities[AT.last_round] = end_is_due(ruleset, state)


@kernel
def observe_hidden(ruleset: Ruleset, state: State, observation: Any) -> None:
    """Write what nobody sees into `observation` (float32), seat 0 first."""
    observation[:] = np.float32(0)
    if state.phase == PLACE:
        for player in range(ruleset.num_players):
            for index in range(COUNTERS_DRAWN):
                observation[HIDDEN_AT.drawn + player * NUM_KINDS + int(state.drawn[player, index])] += 1
            for action in range(NUM_PANEL_ACTIONS):
                observation[HIDDEN_AT.planned + player * NUM_PANEL_ACTIONS + action] = state.planned[player, action]
    for depth in range(min(NEXT_TILES, int(state.tile_stack_size))):
        action = int(state.tile_stack[int(state.tile_stack_size) - 1 - depth])
        observation[HIDDEN_AT.next_tiles + depth * NUM_PANEL_ACTIONS + action] = 1
    for index in range(HIDDEN_SCALES.shape[0]):
        observation[index] = scaled(observation[index], HIDDEN_SCALES[index])
