"""The greedy plan for the board game.

1. Value every area by what its cubes would bring the player. A cube counts its best open price (`UNSOLD` if it can't
   be sold yet), and more if the resource's action is ready.
2. Value every action, in thousands. A resource action counts its sale, the logistician the best moves, the salesman
   the prices that it would raise. Workers and investors count fixed hopes that fade as the end comes near.
3. Place each counter where it is worth most. An action that the counter completes counts in full, one that still needs
   another counter counts in part. Research counts a cube where one of the player's workers stands.
4. On turn, set up first (investor, worker, salesman, logistician, manager), then sell, the best sale first. A sale of
   less than `LEAST_SALE` waits while the panel has room and the game goes on.

The plan reads only what is public or the player's own.
"""

from __future__ import annotations

from typing import Any

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
    PAWN_RESERVE,
    PLACE_PERSON,
    PLACE_RESEARCH,
    PLACE_RESOURCE,
    RESOURCE,
    SIDE,
    STOP,
    TILE,
    TO,
    WILDCARD,
    WILDCARD_NONE,
)
from siberia_env.board.components import (
    GAS,
    INVESTOR,
    LOGISTICIAN,
    MANAGER,
    MANAGER_COUNTER,
    MOST_AREAS,
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
    resource_action,
    size_of,
    spaces_taken,
)
from siberia_env.board.state import (
    MOVE_FROM,
    PLACE,
    PUT_WILDCARD,
    TAKE_PAWN,
    TURN,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel
from siberia_env.game import MAX_PLAYERS

UNSOLD = 1.0  # thousands for a cube that has no open price yet
READY = 1.5  # factor on a cube's price if the resource's action is ready
FAR = 0.9  # factor on the value of an area for each step to it
UNFINISHED = 0.8  # factor on the value of an action that still needs another counter
LEAST_SALE = 4.0  # thousands; a smaller sale waits
WORKER_HOPE = 10.0  # thousands for a further worker at the start of the game
INVESTOR_HOPE = 5.0  # thousands for a further tile at the start of the game
TILE_HOPE = 6.0  # thousands for a tile of the logistician, the salesman or the worker, compared with other tiles
MANAGER_WORTH = 6.0  # thousands for a wildcard
RESEARCH_WORTH = 0.05  # factor on the price of a cube that is placed where one of the player's workers stands
RIVAL = 0.9  # factor on the value of a place where another player has a worker too
RESERVE_TIME = 1.5  # factor on the share of cubes in reserve, as a measure of how much of the game is left
ON_THE_MAP = 0.25  # cubes that each cube on the map counts as sold
IN_RESERVE = 0.05  # cubes that each cube in reserve counts as sold
GROWTH = 0.3  # cubes by which a sale grows until it is made, at the start of the game
RECALL = 4.0  # thousands that it costs if a salesman has to come from elsewhere than the reserve
ON_THE_SPOT = 4.0  # worth of a cube where a worker stands; a cube that a worker can reach in one step is worth 1
FOR_OTHERS = 0.3  # factor on the worth of a cube, for what it costs the player if another player gets it


@kernel
def greedy(ruleset: Ruleset, state: State, mask: Any) -> int:
    """The plan's action for the player on turn; `mask` marks the legal actions."""
    player, phase = int(state.player), int(state.phase)
    if phase == PLACE:
        return best_placing(ruleset, state, player, mask)
    if phase == TURN:
        return best_turn(ruleset, state, player, mask)
    if phase == PUT_WILDCARD:
        return best_wildcard(ruleset, state, player)
    if phase == MOVE_FROM:
        return best_departure(state, player, mask)
    if phase == TAKE_PAWN:
        return best_salesman(ruleset, state, player, mask)
    return best_option(ruleset, state, player, mask, 0, NUM_ACTIONS)


@kernel
def best_option(ruleset: Ruleset, state: State, player: int, mask: Any, start: int, stop: int) -> int:
    """The legal action from `start` to `stop` - 1 with the highest value; of equals the first."""
    best, best_value = -1, 0.0
    for action in range(start, stop):
        if mask[action]:
            value = option_value(ruleset, state, player, action)
            if best < 0 or value > best_value:
                best, best_value = action, value
    return best


@kernel
def option_value(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What a decision within an action is worth, compared with the others that can be legal at the same time."""
    if action < PLACE_RESEARCH:
        return side_value(ruleset, action - SIDE)
    if action < AREA:
        return research_value(state, player, action - RESOURCE)
    if action < WILDCARD:
        return site_value(state, player, action - AREA)
    if action < STOP:
        return arrival_value(state, player, action - TO)
    if action < EXCHANGE:
        return -pawn_loss(ruleset, state, player, action)
    if action < CARD:
        return price_gain(ruleset, state, player, action - EXCHANGE)
    if action < DISCARD_COUNTER:
        return tile_value(state, player, action - TILE)
    return -counter_value(ruleset, state, player, int(LYING_ACTION[action - DISCARD_COUNTER]))


# ---------------------------------------------------------------- values, in thousands


@kernel
def time_left(ruleset: Ruleset, state: State) -> float:
    """How much of the game is left, 1 to 0, by the areas that are not exhausted or by the cubes in reserve."""
    if end_is_due(ruleset, state):
        return 0.0
    areas = 1.0 - int(state.exhausted) / int(ruleset.areas_to_end)
    cubes, all_cubes = 0, 0
    for resource in range(NUM_RESOURCES):
        cubes += int(state.reserve[resource])
        all_cubes += int(ruleset.cubes[resource])
    return min(areas, RESERVE_TIME * cubes / all_cubes)


@kernel
def cube_value(state: State, player: int, resource: int) -> float:
    """What a cube of the resource would bring the player."""
    price = int(state.best_price[player, resource])
    if price == 0:
        return UNSOLD
    return price * READY if can_act(state, player, GAS + resource) else float(price)


@kernel
def area_value(state: State, player: int, area: int) -> float:
    """What the cubes in the area would bring; only a part of it if a rival stands there."""
    value = 0.0
    for resource in range(NUM_RESOURCES):
        if (int(state.lying[resource]) >> area) & 1:
            value += cube_value(state, player, resource)
    for other in range(MAX_PLAYERS):
        if other != player and stands_at(state, other, area):
            return value * RIVAL
    return value


@kernel
def value_within(state: State, player: int, place: int, steps: int) -> float:
    """The value of the best area without the player's workers that is at most `steps` steps from `place`."""
    best, factor = 0.0, 1.0
    reached = int(state.steps[place])
    for _ in range(steps):
        factor *= FAR
        further = reached
        for area in range(MOST_AREAS):
            if (reached >> area) & 1:
                further |= int(state.steps[area])
                if not stands_at(state, player, area):
                    best = max(best, factor * area_value(state, player, area))
        reached = further
    return best


@kernel
def value_at(state: State, player: int, place: int) -> float:
    """What the player would lose if a worker left `place`: nothing in Vladivostok, or if another worker stays."""
    if place == VLADIVOSTOK or state.workers[player, place] > 1:
        return 0.0
    return area_value(state, player, place)


@kernel
def moving_value(state: State, player: int, place: int, steps: int) -> float:
    """What a worker gains by leaving `place`; below 0 if no place in reach is as good."""
    return value_within(state, player, place, steps) - value_at(state, player, place)


@kernel
def supply(state: State, player: int, resource: int) -> float:
    """How many cubes of the resource the player may hope to sell: those under its workers, and a part of the others."""
    own = cubes_at_workers(state, player, resource)
    return own + ON_THE_MAP * size_of(int(state.lying[resource])) + IN_RESERVE * int(state.reserve[resource])


@kernel
def price_gain(ruleset: Ruleset, state: State, player: int, exchange: int) -> float:
    """What a salesman at the exchange would add to the player's sales."""
    gain = 0.0
    for resource in range(NUM_RESOURCES):
        more = int(ruleset.price[exchange_row(state, exchange), resource]) - int(state.best_price[player, resource])
        if more > 0:
            gain += more * supply(state, player, resource)
    return gain


@kernel
def card_gain(ruleset: Ruleset, state: State, player: int, resource: int) -> float:
    """What the salesman card of the resource would add to the player's sales (B25)."""
    more = int(ruleset.card_price[resource]) - int(state.best_price[player, resource])
    return max(more, 0) * supply(state, player, resource)


@kernel
def price_loss(ruleset: Ruleset, state: State, player: int, exchange: int) -> float:
    """What the player's sales would lose if one of its salesmen left the exchange."""
    if state.salesmen[player, exchange] > 1:
        return 0.0
    loss = 0.0
    for resource in range(NUM_RESOURCES):
        without = open_price(ruleset, state, player, resource, exchange)
        loss += (int(state.best_price[player, resource]) - without) * supply(state, player, resource)
    return loss


@kernel
def best_salesman_gain(ruleset: Ruleset, state: State, player: int) -> float:
    """What the salesman action would bring, by the best exchange for a pawn from the reserve or by the best card."""
    best = 0.0
    for exchange in range(NUM_EXCHANGES):
        best = max(best, price_gain(ruleset, state, player, exchange))
    for resource in range(NUM_RESOURCES):
        if may_take_card(ruleset, state, player, resource):
            best = max(best, card_gain(ruleset, state, player, resource))
    if state.pawns[player] == 0:
        best -= RECALL
    return max(best, 0.0) * time_left(ruleset, state)


@kernel
def best_moving_gain(state: State, player: int) -> float:
    """What the logistician would bring by the best move of a single worker."""
    best = 0.0
    for place in range(NUM_PLACES):
        if state.workers[player, place] > 0:
            best = max(best, moving_value(state, player, place, STEPS))
    return best


@kernel
def tile_value(state: State, player: int, action: int) -> float:
    """What an investment tile for the action is worth, compared with other tiles."""
    if action >= GAS:
        return 1.0 + int(state.best_price[player, action - GAS])
    if action in (MANAGER, INVESTOR):
        return 1.0
    return TILE_HOPE


@kernel
def action_value(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What the action would bring the player now."""
    left = time_left(ruleset, state)
    if action >= GAS:
        return sale(state, player, action - GAS)
    if action == MANAGER:
        return MANAGER_WORTH * left
    if action == LOGISTICIAN:
        return best_moving_gain(state, player)
    if action == SALESMAN:
        return best_salesman_gain(ruleset, state, player)
    if action == WORKER:
        return WORKER_HOPE * left if state.pawns[player] > 0 else 0.0
    for tile in range(NUM_PANEL_ACTIONS):
        if may_take_tile(state, player, tile):
            return INVESTOR_HOPE * left
    return 0.0


# ---------------------------------------------------------------- placing


@kernel
def placing_value(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What a counter adds at the action: the action's whole value if this counter makes it ready."""
    needs = SPACES - spaces_taken(state, player, action) - int(state.planned[player, action])
    value = action_value(ruleset, state, player, action)
    if action >= GAS:  # sales grow until the action is taken
        value += GROWTH * int(state.best_price[player, action - GAS]) * time_left(ruleset, state)
    return value if needs == 1 else UNFINISHED * value


@kernel
def research_value(state: State, player: int, resource: int) -> float:
    """What a research counter of the resource is worth: nothing if its cube can't lie where a worker stands."""
    if can_research(state, resource) and may_lie(state, resource) & int(state.presence[player]) != 0:
        return RESEARCH_WORTH * int(state.best_price[player, resource])
    return 0.0


@kernel
def best_placing(ruleset: Ruleset, state: State, player: int, mask: Any) -> int:
    """Choose between research, the counter's person and its resource."""
    kind = int(state.drawn[player, int(state.placed)])
    best = PLACE_RESEARCH
    if kind == MANAGER_COUNTER:
        best_value = 0.0
        for resource in range(NUM_RESOURCES):
            best_value = max(best_value, research_value(state, player, resource))
    else:
        best_value = research_value(state, player, resource_action(kind) - GAS)
        if mask[PLACE_RESOURCE]:
            value = placing_value(ruleset, state, player, resource_action(kind))
            if value > best_value:
                best, best_value = PLACE_RESOURCE, value
    if mask[PLACE_PERSON]:
        value = placing_value(ruleset, state, player, person_action(kind))
        if value > best_value:
            best, best_value = PLACE_PERSON, value
    return best


# ---------------------------------------------------------------- acting


@kernel
def best_turn(ruleset: Ruleset, state: State, player: int, mask: Any) -> int:
    """Set up before selling; pass when nothing is worth its counters."""
    for action in (INVESTOR, WORKER, SALESMAN, LOGISTICIAN):
        if mask[ACT + action] and action_value(ruleset, state, player, action) > 0:
            return ACT + action
    if mask[ACT + MANAGER] and best_wildcard(ruleset, state, player) != WILDCARD_NONE:
        return ACT + MANAGER
    best, best_sale = PASS, 0.0
    for resource in range(NUM_RESOURCES):
        value = sale(state, player, resource)
        if mask[ACT + GAS + resource] and value > best_sale:
            best, best_sale = ACT + GAS + resource, value
    patient = state.counters[player] <= PANEL_LIMIT and not end_is_due(ruleset, state)
    return PASS if patient and best_sale < LEAST_SALE else best


@kernel
def best_wildcard(ruleset: Ruleset, state: State, player: int) -> int:
    """The action that a wildcard completes with the best value."""
    best, best_value = WILDCARD_NONE, 0.0
    for action in range(1, NUM_PANEL_ACTIONS):
        if spaces_taken(state, player, action) == SPACES - 1:
            value = action_value(ruleset, state, player, action)
            if value > best_value:
                best, best_value = WILDCARD + action - 1, value
    return best


@kernel
def site_value(state: State, player: int, area: int) -> float:
    """How good the area is for a cube.

    Best is an area with one of the player's workers and without rivals, then one near such a worker and far from the
    others.
    """
    value = 0.0
    for other in range(MAX_PLAYERS):
        share = ON_THE_SPOT * stands_at(state, other, area) + is_near(state, other, area)
        value += share if other == player else -FOR_OTHERS * share
    return value


@kernel
def best_departure(state: State, player: int, mask: Any) -> int:
    """Choose the worker whose move gains most; stop when no move gains."""
    best, best_gain = STOP, 0.0
    for place in range(NUM_PLACES):
        if mask[FROM + place]:
            gain = moving_value(state, player, place, int(state.steps_left))
            if gain > best_gain:
                best, best_gain = FROM + place, gain
    return best


@kernel
def arrival_value(state: State, player: int, area: int) -> float:
    """What the chosen worker finds in the area, or in a better one that it can still reach from there."""
    value = FAR * value_within(state, player, area, int(state.steps_left) - 1)
    if not stands_at(state, player, area):
        value = max(value, area_value(state, player, area))
    return value


@kernel
def best_salesman(ruleset: Ruleset, state: State, player: int, mask: Any) -> int:
    """Choose a salesman card, or the pawn that the player misses least."""
    best_card, best_gain = -1, 0.0
    for resource in range(NUM_RESOURCES):
        if mask[CARD + resource]:
            gain = card_gain(ruleset, state, player, resource)
            if gain > best_gain:
                best_card, best_gain = CARD + resource, gain
    for exchange in range(NUM_EXCHANGES):
        if price_gain(ruleset, state, player, exchange) > best_gain:
            best_card = -1
    if best_card >= 0:
        return best_card
    return best_option(ruleset, state, player, mask, PAWN_RESERVE, EXCHANGE)


@kernel
def pawn_loss(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What the player loses with the pawn that `action` takes: nothing if it comes from the reserve."""
    if action < PAWN_EXCHANGE:
        return 0.0
    if action < PAWN_AREA:
        return price_loss(ruleset, state, player, action - PAWN_EXCHANGE)
    return value_at(state, player, action - PAWN_AREA)


@kernel
def counter_value(ruleset: Ruleset, state: State, player: int, action: int) -> float:
    """What a counter is worth where it lies: less if its action still needs another counter."""
    value = action_value(ruleset, state, player, action)
    return value if can_act(state, player, action) else UNFINISHED * value
