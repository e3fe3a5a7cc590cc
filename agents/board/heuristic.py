"""The heuristic plan for the board game. It values every counter, cube and pawn in thousands, with measured weights.

1. Estimate how much of the game is left, by the exhausted areas and the third smallest reserve (B24). All hopes fade
   with it.
2. Place the six counters together. The best placing has the highest sum of what each action is worth with its spaces
   covered, and of what research brings under the player's workers.
3. On turn, set up first, then sell, big sales earlier. First of all comes a sale that a rival could take away. A sale
   that is worth less than it could be waits, unless a rival stands there too, the panel is too full or the end near.
4. Move workers to the areas whose cubes would bring most, less a price for each step. Areas whose action is ready
   count most. Put researched cubes where the player's workers stand and rivals don't.
5. End the game when ahead: a sale that exhausts the last area counts the player's lead, or its arrears.

docs/board/heuristic.md says how each weight was found and what it is worth. The plan reads only what is public or the
player's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_agents.board.features import cubes_at_workers, is_near, sale, side_value, stands_at
from siberia_env.board.actions import (
    ACT,
    AREA,
    CARD,
    DISCARD_COUNTER,
    EXCHANGE,
    FROM,
    LYING_ACTION,
    NUM_ACTIONS,
    PASS,
    PAWN_AREA,
    PAWN_EXCHANGE,
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
    COUNTERS_DRAWN,
    GAS,
    LOGISTICIAN,
    MANAGER,
    MANAGER_COUNTER,
    MOST_AREAS,
    MOST_CUBES,
    NUM_EXCHANGES,
    NUM_PANEL_ACTIONS,
    NUM_PLACES,
    PANEL_LIMIT,
    SALESMAN,
    SPACES,
    STEPS,
    VLADIVOSTOK,
    WORKER,
)
from siberia_env.board.rules import (
    can_act,
    can_research,
    end_is_due,
    exchange_row,
    may_lie,
    may_take_card,
    may_take_tile,
    open_price,
    person_action,
    size_of,
    spaces_taken,
)
from siberia_env.board.state import (
    AT_RESEARCH,
    CHOOSE_AREA,
    CHOOSE_EXCHANGE,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DISCARD,
    MOVE_FROM,
    MOVE_TO,
    PLACE,
    PUT_WILDCARD,
    TAKE_TILE,
    TURN,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel, stack_array
from siberia_env.game import MAX_PLAYERS

#: Sizes of a plan's tables. They hold an action's value by spaces covered, and a resource's by cubes at research too.
COUNTS = SPACES + 1
FINDS = COUNTERS_DRAWN + 1
PERSON_VALUES = GAS * COUNTS
SALE_VALUES = NUM_RESOURCES * COUNTS * FINDS
ROW = COUNTS * FINDS
TOTALS = COUNTERS_DRAWN + 1
BY_RESEARCH, BY_PERSON, BY_RESOURCE, NO_MORE = 1, 2, 3, 4  # placings of a counter, in the order of the actions

AREAS_LEFT = 1.79  # factor on the share of areas that are not exhausted, which gives the time left, at most 1
RESERVE_LEFT = 0.273  # time left for each cube in the third smallest reserve
STAY = 1.39  # factor on the time left, which gives the chance of another round
HOPE = 0.246  # share of what the best exchange on the table would add to a price, at the start of the game
SALES_OWN = 0.560  # cubes that each cube under the player's workers counts as sold
SALES_MAP = 0.203  # cubes that each cube on the map counts as sold, at the start of the game
SALES_RESERVE = 0.103  # cubes that each cube in reserve counts as sold, at the start of the game
PAWN_WORTH = 1.06  # thousands for a pawn in reserve, at the start of the game
LAST_WORKER = 1.11  # thousands that it costs, beside the cubes, to take the last worker out of an area
AREA_BASE = 1.07  # thousands for the cubes that will be found in an area, at the start of the game
READY = 3.33  # factor on a cube's price if the resource's action is ready
HALF_READY = 1.36  # factor on a cube's price if the resource's action needs one more counter
SYNERGY = 0.219  # share of a cube's price, added for each cube of the resource under the player's workers, up to three
SHARED = 0.870  # factor on the value of an area for each rival there
STEP_COST = 0.456  # thousands for a worker's step
LEAST_MOVE = 0.341  # thousands that a move has to gain at least, after paying for its steps
WORKER_HOPE = 17.1  # thousands for a worker at the start of the game, if it were the first
WORKER_FADE = 0.0922  # share of WORKER_HOPE that is lost with each worker that the player has
MANAGER_HOPE = 2.07  # thousands for a wildcard at the start of the game
MANAGER_COMPLETES = 0.282  # share of the best sale that a wildcard would make ready, added to MANAGER_HOPE
LOGISTIC = 0.530  # factor on the gain of the best moves
TILE_MANAGER = 23.9  # thousands for a tile of this action at the start of the game; the next five are the same kind
TILE_LOGISTICIAN = 56.1
TILE_SALESMAN = -8.78
TILE_WORKER = 71.8
TILE_INVESTOR = 28.8
TILE_RESOURCE = 3.34
TILE_PRICE = 1.46  # thousands that a resource's tile is worth more for each thousand of the resource's price
UNFINISHED = 0.387  # share of the value of a person's action that has one space still open
SALE_HALF = 0.194  # share of the value of a sale whose action has one space still open
SALE_NONE = 0.198  # share of the value of a sale whose action has both spaces open
GROWTH_READY = 0.721  # cubes by which a ready sale may grow, at the start of the game
GROWTH_HALF = 0.276  # cubes by which a sale with one space still open may grow, at the start of the game
RESEARCHED = 0.298  # worth of a cube that research would put under a worker; a cube that lies there is worth 1
RESEARCH_COST = -0.200  # thousands for a counter at research, beside what it finds
MANAGER_RESEARCH = 0.0577  # factor on the worth of the best cube, for a manager at research
ELSEWHERE = 0.120  # factor on the worth of a cube that a manager finds, if it can't lie under the player's workers
ORDER_INVESTOR = 2.74  # when the action is taken; of this and the next four the highest comes first
ORDER_WORKER = 4.39
ORDER_SALESMAN = 2.30
ORDER_LOGISTICIAN = 1.53
ORDER_MANAGER = 1.97
ORDER_SALE = 0.151  # the order of a sale, before its worth is added
ORDER_VALUE = 0.0660  # added to the order for each thousand of the sale
ORDER_RISK = 1.42  # added to the order for each thousand that a rival who is ready could take
LEAST_SALESMAN = 1.30  # thousands that the salesman action has to bring at least
LEAST_SALE = 9.95  # thousands that a sale has to bring at least while another round is sure
LEAST_PRICE = 0.404  # cubes that a sale has to bring on top of LEAST_SALE
LEAST_TILE = 0.716  # factor on what a sale has to bring if an investment tile lies at the action
DENY = 1.77  # factor on what a rival who is ready could take, added to a sale
HOLD_RISK = 0.539  # share of a cube's price, added for each cube where a rival stands
LOSE_WORKER = 0.806  # thousands that it costs if the area of one of the player's workers is exhausted
END_LEAD = 0.298  # factor on the lead, added to a sale that ends the game
MOST_LEAD = 29.6  # thousands; a larger lead, or larger arrears, count as this
SITE_OWN = 11.0  # points for a researched cube with one of the player's workers; only compared with the next four
SITE_NEAR = 2.23  # points for a cube one step from one of the player's workers
SITE_RIVAL = 1.10  # points taken off for a cube with a rival's worker
SITE_RIVAL_NEAR = 0.150  # points taken off for a cube one step from a rival's worker
SITE_LAST = 0.320  # points for a cube beside the last cube of an area


@kernel
def heuristic(ruleset: Ruleset, state: State, mask: Any) -> int:
    """The plan's action for the player on turn; `mask` marks the legal actions."""
    player, phase = int(state.player), int(state.phase)
    if phase == PLACE:
        return best_placing(ruleset, state, player)
    if phase == TURN:
        return best_turn(ruleset, state, player, mask)
    if phase == PUT_WILDCARD:
        return best_wildcard(ruleset, state, player)
    if phase == MOVE_FROM:
        return best_departure(ruleset, state, player)
    if phase == MOVE_TO:
        return best_arrival(ruleset, state, player, mask)
    best, best_value = -1, 0.0
    for action in range(NUM_ACTIONS):
        if mask[action]:
            value = option_value(ruleset, state, player, action)
            if best < 0 or value > best_value:
                best, best_value = action, value
    return best


@kernel
def option_value(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What a decision within an action is worth, compared with the others that can be legal at the same time."""
    phase, left = int(state.phase), time_left(ruleset, state)
    if phase == CHOOSE_SIDE:
        return side_value(ruleset, action - SIDE)
    if phase == CHOOSE_RESOURCE:
        return research_value(ruleset, state, player, action - RESOURCE, left)
    if phase == CHOOSE_AREA:
        return site_value(state, player, action - AREA)
    if phase == TAKE_TILE:
        return tile_worth(state, player, action - TILE)
    if phase == DISCARD:
        return -discard_loss(ruleset, state, player, int(LYING_ACTION[action - DISCARD_COUNTER]), left)
    if phase == CHOOSE_EXCHANGE:
        return price_rise(ruleset, state, player, action - EXCHANGE, left)
    if CARD <= action < TILE:
        return card_rise(ruleset, state, player, action - CARD, left)
    return best_price_rise(ruleset, state, player, left) - pawn_loss(ruleset, state, player, action, left)


# ---------------------------------------------------------------- what is left of the game


@kernel
def time_left(ruleset: Ruleset, state: State) -> float:
    """How much of the game is left, 1 to 0, by the areas and reserves that bring about its end (B24)."""
    if end_is_due(ruleset, state) or int(state.rounds) + 1 >= int(ruleset.max_rounds):
        return 0.0
    areas = AREAS_LEFT * (1.0 - int(state.exhausted) / int(ruleset.areas_to_end))
    least, second, third = MOST_CUBES, MOST_CUBES, MOST_CUBES
    for resource in range(NUM_RESOURCES):
        cubes = int(state.reserve[resource])
        if cubes < least:
            least, second, third = cubes, least, second
        elif cubes < second:
            second, third = cubes, second
        elif cubes < third:
            third = cubes
    return max(0.0, min(min(1.0, areas), RESERVE_LEFT * third))


@kernel
def next_round(left: float) -> float:
    """The chance that there will be another round, 1 to 0."""
    return min(1.0, STAY * left)


# ---------------------------------------------------------------- prices and salesmen


@kernel
def hoped_price(ruleset: Ruleset, state: State, player: int, resource: int, left: float) -> float:
    """The best open price plus a part of what a further salesman could add to it."""
    price = int(state.best_price[player, resource])
    top = price
    for exchange in range(NUM_EXCHANGES):
        top = max(top, int(ruleset.price[exchange_row(state, exchange), resource]))
    return price + HOPE * left * (top - price)


@kernel
def sales_ahead(state: State, player: int, resource: int, left: float) -> float:
    """How many cubes of the resource the player may hope to sell, weighed for the choice of salesmen."""
    others = SALES_MAP * size_of(int(state.lying[resource])) + SALES_RESERVE * int(state.reserve[resource])
    return SALES_OWN * cubes_at_workers(state, player, resource) + left * others


@kernel
def rise(state: State, player: int, resource: int, price: int, left: float) -> float:
    """What the player's sales would gain if the resource could be sold at `price`."""
    more = price - int(state.best_price[player, resource])
    return more * sales_ahead(state, player, resource, left) if more > 0 else 0.0


@kernel
def price_rise(ruleset: Ruleset, state: State, player: int, exchange: int, left: float) -> float:
    """What a salesman at the exchange would add to the player's sales."""
    row, gain = exchange_row(state, exchange), 0.0
    for resource in range(NUM_RESOURCES):
        gain += rise(state, player, resource, int(ruleset.price[row, resource]), left)
    return gain


@kernel
def card_rise(ruleset: Ruleset, state: State, player: int, resource: int, left: float) -> float:
    """What the salesman card of the resource would add to the player's sales (B25)."""
    return rise(state, player, resource, int(ruleset.card_price[resource]), left)


@kernel
def best_price_rise(ruleset: Ruleset, state: State, player: int, left: float) -> float:
    """What a salesman would add to the player's sales at the best exchange."""
    best = 0.0
    for exchange in range(NUM_EXCHANGES):
        best = max(best, price_rise(ruleset, state, player, exchange, left))
    return best


@kernel
def price_fall(ruleset: Ruleset, state: State, player: int, exchange: int, left: float) -> float:
    """What the player's sales would lose if one of its salesmen left the exchange."""
    fall = 0.0
    if state.salesmen[player, exchange] == 1:
        for resource in range(NUM_RESOURCES):
            less = int(state.best_price[player, resource]) - open_price(ruleset, state, player, resource, exchange)
            fall += less * sales_ahead(state, player, resource, left)
    return fall


@kernel
def pawn_loss(ruleset: Ruleset, state: State, player: int, action: int, left: float) -> float:
    """What the player loses with the pawn that `action` takes from where it stands (B18, B19)."""
    if PAWN_EXCHANGE <= action < PAWN_AREA:
        return price_fall(ruleset, state, player, action - PAWN_EXCHANGE, left)
    place = action - PAWN_AREA
    if place == VLADIVOSTOK:
        return WORKER_HOPE * left
    if place < 0 or state.workers[player, place] > 1:
        return PAWN_WORTH * left
    values = stack_array(MOST_AREAS, np.float64)
    value_areas(ruleset, state, player, values, left)
    return LAST_WORKER + values[place]


@kernel
def salesman_value(ruleset: Ruleset, state: State, player: int, left: float) -> float:
    """What the salesman action would bring, by the best exchange less the cheapest pawn or by the best card."""
    best = best_price_rise(ruleset, state, player, left)
    loss = PAWN_WORTH * left if state.pawns[player] > 0 else best
    for exchange in range(NUM_EXCHANGES):
        if state.salesmen[player, exchange] > 0:
            loss = min(loss, price_fall(ruleset, state, player, exchange, left))
    best = max(0.0, best - loss)
    for resource in range(NUM_RESOURCES):
        if may_take_card(ruleset, state, player, resource):
            best = max(best, card_rise(ruleset, state, player, resource, left))
    return best


# ---------------------------------------------------------------- areas and moves


@kernel
def value_areas(ruleset: Ruleset, state: State, player: int, values: Any, left: float) -> None:
    """Write into `values` what a worker of the player would find in each area."""
    for area in range(MOST_AREAS):
        values[area] = AREA_BASE * left
    for resource in range(NUM_RESOURCES):
        value = hoped_price(ruleset, state, player, resource, left)
        if can_act(state, player, GAS + resource):
            value *= READY
        elif spaces_taken(state, player, GAS + resource) == SPACES - 1:
            value *= HALF_READY
        value *= 1.0 + SYNERGY * min(3, cubes_at_workers(state, player, resource))
        lying = int(state.lying[resource])
        for area in range(MOST_AREAS):
            if (lying >> area) & 1:
                values[area] += value
    for area in range(MOST_AREAS):
        for other in range(MAX_PLAYERS):
            if other != player and stands_at(state, other, area):
                values[area] *= SHARED


@kernel
def best_move(state: State, player: int, values: Any, steps: int, taken: int, moved: int, move: Any) -> float:
    """Find the best move of one worker within `steps` steps, and write its place, area and steps into `move`.

    The place is -1 if there is no such move. A worker does not move into the areas `taken`, nor from the places
    `moved`. Returns what the move gains, without the cost of its steps.
    """
    best, gain = LEAST_MOVE, 0.0
    move[0] = -1
    for place in range(NUM_PLACES):
        if state.workers[player, place] > 0 and (moved >> place) & 1 == 0:
            here = values[place] if place != VLADIVOSTOK and state.workers[player, place] == 1 else 0.0
            reached, seen = int(state.steps[place]), 0
            for step in range(1, steps + 1):
                fresh, further = reached & ~seen, reached
                for area in range(MOST_AREAS):
                    if (fresh >> area) & 1:
                        further |= int(state.steps[area])
                        if (taken >> area) & 1 == 0 and values[area] - here - STEP_COST * step > best:
                            gain = values[area] - here
                            best = gain - STEP_COST * step
                            move[0], move[1], move[2] = place, area, step
                seen |= fresh
                reached = further
    return gain


@kernel
def moving_value(ruleset: Ruleset, state: State, player: int, left: float) -> float:
    """What the logistician would bring by the best moves one after the other, until the steps are used up."""
    values = stack_array(MOST_AREAS, np.float64)
    move = stack_array(3, np.int64)
    value_areas(ruleset, state, player, values, left)
    steps, taken, moved, total = STEPS, int(state.presence[player]), 0, 0.0
    while steps > 0:
        total += best_move(state, player, values, steps, taken, moved, move)
        if move[0] < 0:
            return total
        steps -= move[2]
        taken |= 1 << move[1]
        if state.workers[player, move[0]] == 1:
            moved |= 1 << move[0]
    return total


@kernel
def best_departure(ruleset: Ruleset, state: State, player: int) -> int:
    """Choose the place where the best move starts; stop when no move gains."""
    values = stack_array(MOST_AREAS, np.float64)
    move = stack_array(3, np.int64)
    value_areas(ruleset, state, player, values, time_left(ruleset, state))
    best_move(state, player, values, int(state.steps_left), int(state.presence[player]), 0, move)
    return STOP if move[0] < 0 else FROM + move[0]


@kernel
def best_arrival(ruleset: Ruleset, state: State, player: int, mask: Any) -> int:
    """Choose the next step of the chosen worker, to the best area or on the way to a better one."""
    values = stack_array(MOST_AREAS, np.float64)
    value_areas(ruleset, state, player, values, time_left(ruleset, state))
    presence = int(state.presence[player])
    best, best_value = -1, 0.0
    for area in range(MOST_AREAS):
        if mask[TO + area]:
            value = 0.0 if (presence >> area) & 1 else values[area]
            reached = int(state.steps[area])
            for step in range(1, int(state.steps_left)):
                further = reached
                for beyond in range(MOST_AREAS):
                    if (reached >> beyond) & 1:
                        further |= int(state.steps[beyond])
                        if (presence >> beyond) & 1 == 0:
                            value = max(value, values[beyond] - STEP_COST * step)
                reached = further
            if best < 0 or value > best_value:
                best, best_value = TO + area, value
    return best


# ---------------------------------------------------------------- what actions are worth


@kernel
def worker_value(state: State, player: int, left: float) -> float:
    """What a further worker is worth: less with each worker that the player has, nothing with an empty reserve."""
    if state.pawns[player] == 0:
        return 0.0
    workers = 0
    for place in range(NUM_PLACES):
        workers += int(state.workers[player, place])
    return max(0.0, WORKER_HOPE * (1.0 - WORKER_FADE * workers) * left)


@kernel
def tile_worth(state: State, player: int, action: int) -> float:
    """What an investment tile for the action is worth at the start of the game, compared with other tiles."""
    if action >= GAS:
        return TILE_RESOURCE + TILE_PRICE * int(state.best_price[player, action - GAS])
    if action == MANAGER:
        return TILE_MANAGER
    if action == LOGISTICIAN:
        return TILE_LOGISTICIAN
    if action == SALESMAN:
        return TILE_SALESMAN
    if action == WORKER:
        return TILE_WORKER
    return TILE_INVESTOR


@kernel
def investor_value(state: State, player: int, left: float) -> float:
    """What the investor would bring by the best tile that can be taken."""
    best = 0.0
    for action in range(NUM_PANEL_ACTIONS):
        if may_take_tile(state, player, action):
            best = max(best, tile_worth(state, player, action))
    return best * left


@kernel
def action_value(ruleset: Ruleset, state: State, player: int, action: int, left: float) -> float:
    """What the action would bring the player now."""
    if action >= GAS:
        return sale(state, player, action - GAS)
    if action == MANAGER:
        return MANAGER_HOPE * left
    if action == LOGISTICIAN:
        return LOGISTIC * moving_value(ruleset, state, player, left)
    if action == SALESMAN:
        return salesman_value(ruleset, state, player, left)
    return worker_value(state, player, left) if action == WORKER else investor_value(state, player, left)


@kernel
def sale_value(price: float, cubes: float, spaces: int, left: float) -> float:
    """What `cubes` cubes of a resource under the player's workers are worth, with `spaces` spaces covered."""
    again = next_round(left)
    if spaces == SPACES:
        return price * (cubes + GROWTH_READY * left)
    if spaces == SPACES - 1:
        return price * again * (SALE_HALF * cubes + GROWTH_HALF * left)
    return price * again * SALE_NONE * cubes


@kernel
def research_value(ruleset: Ruleset, state: State, player: int, resource: int, left: float) -> float:
    """What a cube of the resource is worth to a manager at research (B15)."""
    value = hoped_price(ruleset, state, player, resource, left)
    if can_act(state, player, GAS + resource):
        value *= READY
    return value if research_room(state, player, resource) > 0 else ELSEWHERE * value


@kernel
def research_room(state: State, player: int, resource: int) -> int:
    """How many cubes of the resource could be placed under the player's workers."""
    if not can_research(state, resource):
        return 0
    return min(int(state.reserve[resource]), size_of(may_lie(state, resource) & int(state.presence[player])))


# ---------------------------------------------------------------- placing


@kernel
def value_persons(ruleset: Ruleset, state: State, player: int, spaces: Any, persons: Any, left: float) -> None:
    """Write what each action of a person is worth into `persons`, by spaces covered: 0, 1 or both.

    Actions that no counter still to be placed may need stay 0.
    """
    needed, again = 0, next_round(left)
    for index in range(int(state.placed), COUNTERS_DRAWN):
        needed |= 1 << person_action(int(state.drawn[player, index]))
    for action in range(GAS):
        value = 0.0
        if (needed >> action) & 1 and spaces[action] < SPACES:
            value = action_value(ruleset, state, player, action, left)
        persons[COUNTS * action] = 0.0
        persons[COUNTS * action + 1] = UNFINISHED * again * value
        persons[COUNTS * action + SPACES] = value


@kernel
def value_sales(ruleset: Ruleset, state: State, player: int, sales: Any, left: float) -> None:
    """Write what each resource is worth into `sales`, by spaces covered at its action, then by cubes researched."""
    again = next_round(left)
    for resource in range(NUM_RESOURCES):
        price = hoped_price(ruleset, state, player, resource, left)
        own, room = cubes_at_workers(state, player, resource), research_room(state, player, resource)
        for spaces in range(COUNTS):
            for found in range(FINDS):
                value = sale_value(price, own + RESEARCHED * min(found, room), spaces, left)
                if found <= int(state.reserve[resource]):
                    value += RESEARCH_COST * again * found
                sales[ROW * resource + FINDS * spaces + found] = value


@kernel
def value_managers(spaces: Any, persons: Any, sales: Any, left: float) -> float:
    """Add to the manager's values what a wildcard could complete; return what a manager at research is worth."""
    research, completes = 0.0, 0.0
    for resource in range(NUM_RESOURCES):
        at = ROW * resource + FINDS * spaces[GAS + resource]
        research = max(research, sales[at + 1] - sales[at])
        if spaces[GAS + resource] == SPACES - 1:
            completes = max(completes, sales[at + FINDS] - sales[at])
    if spaces[MANAGER] < SPACES:
        persons[1] += UNFINISHED * next_round(left) * MANAGER_COMPLETES * completes
        persons[SPACES] += MANAGER_COMPLETES * completes
    return MANAGER_RESEARCH * research


@kernel
def best_placing(ruleset: Ruleset, state: State, player: int) -> int:
    """Where the next counter goes in the best placing of all counters that are left; of equals the first.

    The search goes depth-first over the placings, one counter for each level. There are at most 3 to the sixth of
    them, and each is one addition away from the one before.
    """
    left, first = time_left(ruleset, state), int(state.placed)
    spaces = stack_array(NUM_PANEL_ACTIONS, np.int64)
    found = stack_array(NUM_RESOURCES, np.int64)
    persons = stack_array(PERSON_VALUES, np.float64)
    sales = stack_array(SALE_VALUES, np.float64)
    for action in range(NUM_PANEL_ACTIONS):
        spaces[action] = spaces_taken(state, player, action) + int(state.planned[player, action])
    for resource in range(NUM_RESOURCES):
        found[resource] = 0
    for index in range(first):
        kind = int(state.drawn[player, index])
        if state.plan[player, index] == AT_RESEARCH and kind != MANAGER_COUNTER:
            found[kind % NUM_RESOURCES] += 1
    value_persons(ruleset, state, player, spaces, persons, left)
    value_sales(ruleset, state, player, sales, left)
    manager_research = value_managers(spaces, persons, sales, left)
    tried = stack_array(COUNTERS_DRAWN, np.int64)
    total = stack_array(TOTALS, np.float64)
    best, best_total = BY_RESEARCH, -np.inf
    depth = first
    tried[first], total[first] = 0, 0.0
    while depth >= first:
        kind = int(state.drawn[player, depth])
        person, resource, where = person_action(kind), kind % NUM_RESOURCES, tried[depth]
        if where == BY_RESEARCH and kind != MANAGER_COUNTER:  # take back what was tried last
            found[resource] -= 1
        elif where == BY_PERSON:
            spaces[person] -= 1
        elif where == BY_RESOURCE:
            spaces[GAS + resource] -= 1
        where, added = where + 1, 0.0
        at = ROW * resource + FINDS * spaces[GAS + resource] + found[resource]
        if where == BY_RESEARCH:
            if kind == MANAGER_COUNTER:
                added = manager_research
            else:
                added = sales[at + 1] - sales[at]
                found[resource] += 1
        if where == BY_PERSON:
            if spaces[person] < SPACES:
                row = COUNTS * person + spaces[person]
                added = persons[row + 1] - persons[row]
                spaces[person] += 1
            else:
                where = BY_RESOURCE
        if where == BY_RESOURCE:
            if kind != MANAGER_COUNTER and spaces[GAS + resource] < SPACES:
                added = sales[at + FINDS] - sales[at]
                spaces[GAS + resource] += 1
            else:
                where = NO_MORE
        tried[depth] = where
        if where == NO_MORE:
            depth -= 1
        else:
            total[depth + 1] = total[depth] + added
            if depth + 1 < COUNTERS_DRAWN:
                depth += 1
                tried[depth] = 0
            elif total[depth + 1] > best_total:
                best, best_total = tried[first], total[depth + 1]
    return PLACE_RESEARCH + best - BY_RESEARCH


# ---------------------------------------------------------------- acting


@kernel
def best_turn(ruleset: Ruleset, state: State, player: int, mask: Any) -> int:
    """Choose the ready action that comes first in order; pass when none is worth its counters."""
    left = time_left(ruleset, state)
    best, best_order = PASS, -np.inf
    for action in range(GAS):
        if mask[ACT + action]:
            order = ORDER_INVESTOR
            if action == WORKER:
                order = ORDER_WORKER
            elif action == SALESMAN:
                order = ORDER_SALESMAN
            elif action == LOGISTICIAN:
                order = ORDER_LOGISTICIAN
            elif action == MANAGER:
                order = ORDER_MANAGER
            if order > best_order and is_worth_it(ruleset, state, player, action, left):
                best, best_order = ACT + action, order
    for resource in range(NUM_RESOURCES):
        if mask[ACT + GAS + resource]:
            order = sale_order(ruleset, state, player, resource, left)
            if order > best_order:
                best, best_order = ACT + GAS + resource, order
    return best


@kernel
def is_worth_it(ruleset: Ruleset, state: State, player: int, action: int, left: float) -> bool:
    """Whether an action of a person is worth its counters now."""
    if action == MANAGER:
        return best_wildcard(ruleset, state, player) != WILDCARD_NONE
    value = action_value(ruleset, state, player, action, left)
    return value > (LEAST_SALESMAN if action == SALESMAN else 0.0)


@kernel
def sale_order(ruleset: Ruleset, state: State, player: int, resource: int, left: float) -> float:
    """The order of a sale among the ready actions, the highest first; minus infinity if the sale should wait."""
    value = sale(state, player, resource)
    if value == 0.0:
        return -np.inf
    price = int(state.best_price[player, resource])
    risk = sale_at_risk(state, player, resource)
    gain = value + DENY * risk + emptying_value(ruleset, state, player, resource, left)
    gain += HOLD_RISK * next_round(left) * price * cubes_shared(state, player, resource)
    least = next_round(left) * (LEAST_SALE + LEAST_PRICE * price)
    if state.tiles[player, GAS + resource]:
        least *= LEAST_TILE
    if gain < least and state.counters[player] <= PANEL_LIMIT:
        return -np.inf
    return ORDER_SALE + ORDER_VALUE * gain + ORDER_RISK * risk


@kernel
def cubes_shared(state: State, player: int, resource: int) -> int:
    """How many cubes of the resource lie under the player's workers where a rival stands too."""
    rivals = 0
    for other in range(MAX_PLAYERS):
        if other != player:
            rivals |= int(state.presence[other])
    return size_of(int(state.lying[resource]) & int(state.presence[player]) & rivals)


@kernel
def sale_at_risk(state: State, player: int, resource: int) -> float:
    """What rivals who are ready and still in the round would get for cubes under the player's workers."""
    risk = 0
    own = int(state.lying[resource]) & int(state.presence[player])
    for other in range(MAX_PLAYERS):
        if other != player and (int(state.passed) >> other) & 1 == 0 and can_act(state, other, GAS + resource):
            risk += size_of(own & int(state.presence[other])) * int(state.best_price[other, resource])
    return float(risk)


@kernel
def emptying_value(ruleset: Ruleset, state: State, player: int, resource: int, left: float) -> float:
    """What it is worth that a sale exhausts areas (B22): workers leave the map, and the end may come (B24)."""
    elsewhere = 0
    for other in range(NUM_RESOURCES):
        if other != resource:
            elsewhere |= int(state.lying[other])
    emptied = size_of(int(state.lying[resource]) & int(state.presence[player]) & ~elsewhere)
    if emptied == 0 or left == 0.0:
        return 0.0
    value = -LOSE_WORKER * emptied * left
    if int(state.exhausted) + emptied >= int(ruleset.areas_to_end):
        value += END_LEAD * max(-MOST_LEAD, min(MOST_LEAD, lead(ruleset, state, player)))
    return value


@kernel
def lead(ruleset: Ruleset, state: State, player: int) -> float:
    """By how much the player would be ahead if every player in the round sold what it is ready for."""
    most = 0.0
    for other in range(ruleset.num_players):
        if other != player:
            most = max(most, money_to_come(state, other))
    return money_to_come(state, player) - most


@kernel
def money_to_come(state: State, player: int) -> float:
    """The player's money plus what its ready sales would bring, unless it has passed."""
    money = float(state.money[player])
    if (int(state.passed) >> player) & 1 == 0:
        for resource in range(NUM_RESOURCES):
            if can_act(state, player, GAS + resource):
                money += sale(state, player, resource)
    return money


@kernel
def best_wildcard(ruleset: Ruleset, state: State, player: int) -> int:
    """The action that a wildcard completes with the best value (B16)."""
    left = time_left(ruleset, state)
    best, best_value = WILDCARD_NONE, 0.0
    for action in range(1, NUM_PANEL_ACTIONS):
        if spaces_taken(state, player, action) == SPACES - 1:
            value = action_value(ruleset, state, player, action, left)
            if value > best_value:
                best, best_value = WILDCARD + action - 1, value
    return best


@kernel
def site_value(state: State, player: int, area: int) -> float:
    """How good the area is for a researched cube.

    Good are the player's workers in the area or near it, no rivals, and a last cube that lies there.
    """
    cubes = 0
    for resource in range(NUM_RESOURCES):
        cubes += (int(state.lying[resource]) >> area) & 1
    value = SITE_LAST if cubes == 1 else 0.0
    for other in range(MAX_PLAYERS):
        stands, near = stands_at(state, other, area), is_near(state, other, area)
        if other == player:
            value += SITE_OWN * stands + SITE_NEAR * near
        else:
            value -= SITE_RIVAL * stands + SITE_RIVAL_NEAR * near
    return value


@kernel
def discard_loss(ruleset: Ruleset, state: State, player: int, action: int, left: float) -> float:
    """What the player loses with one counter less at the action (B23)."""
    spaces = spaces_taken(state, player, action)
    if action >= GAS:
        price = hoped_price(ruleset, state, player, action - GAS, left)
        cubes = float(cubes_at_workers(state, player, action - GAS))
        return sale_value(price, cubes, spaces, left) - sale_value(price, cubes, spaces - 1, left)
    value = action_value(ruleset, state, player, action, left)
    return value * (1.0 - UNFINISHED) if spaces == SPACES else value * UNFINISHED
