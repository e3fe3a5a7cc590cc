"""The heuristic plan for the card game; docs/card/heuristic.md explains it and says what each constant brings.

The plan values everything in thousands of dollars at the end of the game:

1. An action is worth what the score gains at once, what it helps later (a worker in the mines to come, a salesman
   on the cards still to be mined, an investor on the payments he saves), and a part of what it takes from others.
2. A card is worth a basic amount. Each of its two symbols adds more, the more that symbol's best action is worth and
   the more cards show it. A payment costs the cards that are worth least.
3. The plan takes the best of all actions and draws. Towards the end, cards and help for later lose their worth.
4. The plan turns up a card of the row, unless it may stay hidden, few cards are in hand and the turn is not going to
   mine. It always turns up the game's last card, because its finder has one turn more than the others.

The plan reads only what is public, what is in the player's own hand and, with two players, what is known of the other
hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_agents.card.features import first_revealed, hidden_cards
from siberia_env.card.actions import (
    CARD_ACTIONS,
    DRAW,
    HIRE_INVESTOR,
    HIRE_SALESMAN,
    HIRE_WORKER,
    KEEP_HIDDEN,
    MINE,
    MOST_DRAWN,
    NUM_CARD_ACTIONS,
    PAY,
)
from siberia_env.card.components import (
    INVESTOR,
    NUM_KINDS,
    NUM_PERSONS,
    NUM_SYMBOLS,
    ROW_SLOTS,
    SALESMAN,
    WORKER,
)
from siberia_env.card.rules import (
    can_pay,
    has_investor,
    investor_on_offer,
    may_draw,
    person_value,
    salesman_gain,
    salesman_on_offer,
    shows,
    symbol_of,
    worker_on_offer,
)
from siberia_env.card.state import CHOOSE, DISCOVER, NOBODY, Ruleset, State
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel, stack_array

# The three values are for two, three and four players.
PACE = (1.03, 1.06, 1.14)  # turns still to come for each resource card that nobody has seen
READY = (0.157, 0.175, 0.27)  # chance that another player can pay for a symbol without a card that shows it
READY_SYMBOL = (0.32, 0.32, 0.37)  # added to READY for each card expected to show the symbol
DENY = (0.91, 0.36, 0.33)  # share of what mining takes from others, weighted by how likely they can pay for it
RISK = (0.3, 0.44, 0.5)  # share of the row that others who can pay for it take first
HOPE_TURNS = (5.12, 4.91, 3.84)  # the player's turns left, below which all help for later fades
BONUS_HOPE = (0.59, 0.69, 0.6)  # share of a mined card's bonus while its salesman is in the supply
PROSPECT = (0.48, 0.52, 0.67)  # share of a resource's hidden value a turn, in the worth of its symbol
SALESMAN_UP = (0.9, 0.53, 0.28)  # share of the bonus of a resource's cards in the row, for its salesman
SALESMAN_HIDDEN = (0.82, 0.53, 0.46)  # share of the bonus of a resource's hidden cards, for its salesman
SALESMAN_DENY = (0.95, 0.53, 0.39)  # share of the most that a salesman would bring to another player at once
SALESMEN_HOPE = (0.57, 0.59, 0.49)  # thousands for the salesman of salesmen, for each salesman (or turn, if fewer) left
WORKER_2 = (0.61, 0.79, 1.0)  # thousands for each turn left, for the second worker
WORKER_3 = (0.48, 0.42, 0.21)  # thousands for each turn left, for the third worker
WORKER_NOW = (0.66, 0.52, 0.37)  # share of what one more worker would mine from the row
INVESTOR_TURN = (0.171, 0.161, 0.081)  # thousands for each turn left, for an investor
INVESTOR_VALUE = (0.43, 0.31, 0.34)  # share of the uncaptured value of an investor's resource
CARD = (3.16, 3.33, 4.16)  # thousands for an action card in hand, before its symbols
CARD_FULL = (0.159, 0.23, 0.33)  # thousands less for each card in hand
CARD_TURNS = (5.46, 5.19, 5.69)  # the player's turns left, below which cards lose worth
SHOWS_1 = (0.21, 0.24, 0.144)  # share of a symbol's worth for the first card that shows it
SHOWS_2 = (0.16, 0.131, 0.112)  # share of a symbol's worth for the second card
SHOWS_3 = (0.117, 0.106, 0.086)  # share of a symbol's worth for each card after the second
PROSPECT_TURNS = 4.0  # the most of the player's turns that count for what may turn up
KEEP_HAND = 4  # the most cards in hand with which a turn that does not mine keeps the row hidden
NO_CARD = 1000.0  # thousands that a card costs if the hand lacks it
NOT_ON_OFFER = -1000.0  # thousands that a hire is worth if the person is not in the supply


@kernel
def heuristic(ruleset: Ruleset, state: State, mask: Any) -> int:
    """The plan's action for the player on turn; `mask` marks the legal actions."""
    if state.phase == DISCOVER:
        return discover(ruleset, state, mask)
    if state.phase == CHOOSE:
        return best_choice(ruleset, state)
    return best_card(ruleset, state, mask)


@kernel
def discover(ruleset: Ruleset, state: State, mask: Any) -> int:
    """Reveal the leftmost face-down card, unless keeping it hidden is allowed and better."""
    last_of_all = state.face_down == 1 and state.resource_stack_size == 0
    if mask[KEEP_HIDDEN] and not last_of_all and state.hand_size[state.player] <= KEEP_HAND:
        planned = best_choice(ruleset, state)
        if planned < MINE or planned >= HIRE_WORKER:
            return KEEP_HIDDEN
    return first_revealed(mask)


# ---------------------------------------------------------------- the clock


@kernel
def turns_left(ruleset: Ruleset, state: State) -> float:
    """How many turns the player has after this one: exact at the end (C15, C17), otherwise estimated by `PACE`."""
    seats = int(ruleset.num_players) - 2
    players = int(ruleset.num_players)
    if state.turns_to_end > 0:
        return float((int(state.turns_to_end) - 1) // players)
    limit = (int(ruleset.max_turns) - int(state.turn) - 1) // players
    return min(1.0 + PACE[seats] * hidden_cards(state) / players, float(limit))


# ---------------------------------------------------------------- what the others can do


@kernel
def others_ready(ruleset: Ruleset, state: State, ready: Any) -> None:
    """Write into `ready` [8] how likely it is that another player can pay for each symbol, 0 to 1."""
    player, players = int(state.player), int(ruleset.num_players)
    seats = players - 2
    shown = stack_array(NUM_SYMBOLS, np.float64)  # cards that another hand shows for certain
    for symbol in range(NUM_SYMBOLS):
        ready[symbol] = 1.0
        shown[symbol] = 0.0
    for other in range(players):
        if other != player:
            unknown = float(state.hand_size[other])
            if players == 2:
                for kind in range(NUM_KINDS):
                    known = float(state.known[player, kind])
                    unknown -= known
                    shown[kind // NUM_PERSONS] += known
                    shown[NUM_RESOURCES + kind % NUM_PERSONS] += known
            for symbol in range(NUM_SYMBOLS):
                kinds = NUM_RESOURCES if symbol < NUM_RESOURCES else NUM_PERSONS
                expected = shown[symbol] + unknown / kinds + has_investor(state, other, symbol)
                ready[symbol] *= 1.0 - min(1.0, max(0.0, READY[seats] + READY_SYMBOL[seats] * expected))
    for symbol in range(NUM_SYMBOLS):
        ready[symbol] = 1.0 - ready[symbol]


# ---------------------------------------------------------------- what actions and symbols are worth


@kernel
def appraise(ruleset: Ruleset, state: State, turns: float, value: Any, worth: Any, after: Any) -> None:
    """Write each card action's value into `value` [19], and each symbol's worth into `worth` and `after` [8].

    `worth` is a symbol's worth before it is used, `after` its worth afterwards. All are in thousands. A symbol is
    worth what its best action is worth; for a resource, what may turn up is added.
    """
    extra = appraise_resources(ruleset, state, turns, value, worth, after)
    appraise_persons(ruleset, state, turns, extra, value)
    worth[WORKER] = max(0.0, value[HIRE_WORKER - CARD_ACTIONS])
    after[WORKER] = 0.0
    two_best(value, HIRE_SALESMAN - CARD_ACTIONS, HIRE_INVESTOR - CARD_ACTIONS, SALESMAN, worth, after)
    two_best(value, HIRE_INVESTOR - CARD_ACTIONS, NUM_CARD_ACTIONS, INVESTOR, worth, after)


@kernel
def two_best(value: Any, start: int, stop: int, symbol: int, worth: Any, after: Any) -> None:
    """Write the best and the second best value of some actions into `worth` and `after` of their symbol."""
    best, second = 0.0, 0.0
    for action in range(start, stop):
        if value[action] > best:
            best, second = value[action], best
        elif value[action] > second:
            second = value[action]
    worth[symbol], after[symbol] = best, second


@kernel
def appraise_resources(ruleset: Ruleset, state: State, turns: float, value: Any, worth: Any, after: Any) -> float:
    """Value all that concerns the five resources; return the most that one more worker would mine from the row."""
    player, players = int(state.player), int(ruleset.num_players)
    seats, workers = players - 2, int(state.workers[player])
    fade = min(1.0, turns / HOPE_TURNS[seats])
    hidden = max(1, hidden_cards(state))
    ready = stack_array(NUM_SYMBOLS, np.float64)
    count = stack_array(NUM_RESOURCES, np.int64)  # number of face-up cards
    up_value = stack_array(NUM_RESOURCES, np.int64)
    up_bonus = stack_array(NUM_RESOURCES, np.int64)  # by how much their salesman raises their value
    next_card = stack_array(NUM_RESOURCES, np.float64)  # what one more worker would take
    others_ready(ruleset, state, ready)
    for resource in range(NUM_RESOURCES):
        count[resource], up_value[resource], up_bonus[resource] = 0, 0, 0
        value[resource], after[resource], next_card[resource] = 0.0, 0.0, 0.0
    deny = 0.0 if state.turns_to_end == 1 else DENY[seats]
    for slot in range(ROW_SLOTS):
        if state.face_up[slot]:
            number = int(state.row[slot])
            resource = int(ruleset.card_resource[number])
            printed = int(ruleset.card_value[number])
            bonus = int(ruleset.card_best_value[number]) - printed
            owner = int(state.salesman_owner[resource])
            taken = float(printed)
            lost = float(printed)  # what the others lose
            if owner == player:
                taken += bonus
            elif owner == NOBODY:
                taken += BONUS_HOPE[seats] * fade * bonus
            else:
                lost += bonus
            taken += deny * ready[resource] * lost
            if count[resource] < workers:
                value[resource] += taken
            elif count[resource] < 2 * workers:
                after[resource] += taken
            if count[resource] == workers:
                next_card[resource] = taken
            count[resource] += 1
            up_value[resource] += printed
            up_bonus[resource] += bonus
    extra = 0.0
    for resource in range(NUM_RESOURCES):
        extra = max(extra, next_card[resource])
        left = int(ruleset.resource_cards[resource]) - count[resource]  # hidden cards of the resource
        left_value = int(ruleset.resource_value[resource]) - up_value[resource]
        for seat in range(players):
            left -= int(state.captured[seat, resource])
            left_value -= int(state.captured_value[seat, resource])
        left_bonus = max(0, left * int(ruleset.salesman_value[resource]) - left_value)
        hire = NOT_ON_OFFER
        if salesman_on_offer(state, resource):
            hire = salesman_now(ruleset, state, resource)
            hire += fade * (SALESMAN_UP[seats] * up_bonus[resource] + SALESMAN_HIDDEN[seats] * left_bonus)
        value[HIRE_SALESMAN - CARD_ACTIONS + resource] = hire
        hire = NOT_ON_OFFER
        if investor_on_offer(state, resource):
            hire = person_value(ruleset, state, player, INVESTOR) + INVESTOR_TURN[seats] * turns
            hire += fade * INVESTOR_VALUE[seats] * (up_value[resource] + left_value)
        value[HIRE_INVESTOR - CARD_ACTIONS + resource] = hire
        turn_up = float(left_value)
        if state.salesman_owner[resource] == player:
            turn_up += left_bonus
        turn_up *= PROSPECT[seats] * min(turns, PROSPECT_TURNS) * workers / hidden
        worth[resource] = value[resource] * (1.0 - RISK[seats] * ready[resource]) + turn_up
        after[resource] += turn_up
    return extra


@kernel
def appraise_persons(ruleset: Ruleset, state: State, turns: float, extra: float, value: Any) -> None:
    """Value the worker and the salesmen of persons; `extra` is what one more worker could mine now, in thousands."""
    player, seats = int(state.player), int(ruleset.num_players) - 2
    fade = min(1.0, turns / HOPE_TURNS[seats])
    hire = NOT_ON_OFFER
    if worker_on_offer(ruleset, state, player):
        hire = person_value(ruleset, state, player, WORKER) + WORKER_NOW[seats] * extra * fade
        hire += turns * worker_hope(ruleset, int(state.workers[player]))
    value[HIRE_WORKER - CARD_ACTIONS] = hire
    salesmen = 0  # salesmen left in the supply
    for symbol in range(NUM_SYMBOLS):
        salesmen += salesman_on_offer(state, symbol)
    for symbol in range(NUM_RESOURCES, NUM_SYMBOLS):
        hire = NOT_ON_OFFER
        if salesman_on_offer(state, symbol):
            hire = salesman_now(ruleset, state, symbol)
            if symbol == SALESMAN:
                hire += fade * SALESMEN_HOPE[seats] * min(float(salesmen - 1), turns)
        value[HIRE_SALESMAN - CARD_ACTIONS + symbol] = hire


@kernel
def worker_hope(ruleset: Ruleset, workers: int) -> float:
    """What one more worker brings for each turn left, in thousands; the fourth and later workers bring nothing.

    `workers` is how many the player has now.
    """
    seats = int(ruleset.num_players) - 2
    if workers < 2:
        return WORKER_2[seats]
    return WORKER_3[seats] if workers == 2 else 0.0


@kernel
def salesman_now(ruleset: Ruleset, state: State, symbol: int) -> float:
    """What hiring a salesman gains at once, and a part of what he would bring the other player he helps most."""
    player, players = int(state.player), int(ruleset.num_players)
    gain = float(salesman_gain(ruleset, state, player, symbol))
    if state.turns_to_end != 1:
        most = 0
        for other in range(players):
            if other != player:
                kept = salesman_gain(ruleset, state, other, symbol) - person_value(ruleset, state, other, SALESMAN)
                most = max(most, kept)
        gain += SALESMAN_DENY[players - 2] * most
    return gain


# ---------------------------------------------------------------- what cards are worth


@kernel
def card_worth(ruleset: Ruleset, state: State, turns: float) -> float:
    """What any card in the hand of the player on turn is worth without its symbols, in thousands."""
    seats = int(ruleset.num_players) - 2
    return card_fade(ruleset, turns) * (CARD[seats] - CARD_FULL[seats] * int(state.hand_size[state.player]))


@kernel
def card_fade(ruleset: Ruleset, turns: float) -> float:
    """The share of their worth that cards still have, 0 to 1."""
    return min(1.0, turns / CARD_TURNS[int(ruleset.num_players) - 2])


@kernel
def symbol_share(ruleset: Ruleset, count: int) -> float:
    """The share of a symbol's worth that the last of `count` cards with it brings; an investor counts as a card."""
    seats = int(ruleset.num_players) - 2
    if count < 2:
        return SHOWS_1[seats]
    return SHOWS_2[seats] if count == 2 else SHOWS_3[seats]


@kernel
def losses(ruleset: Ruleset, state: State, chosen: int, turns: float, worth: Any, after: Any, loss: Any) -> None:
    """Write into `loss` [8] what a card costs for each symbol it shows, if it pays for an action of symbol `chosen`."""
    player = int(state.player)
    half, fade = card_worth(ruleset, state, turns) / 2, card_fade(ruleset, turns)  # every card shows two symbols
    for symbol in range(NUM_SYMBOLS):
        count = int(state.symbols[player, symbol]) + has_investor(state, player, symbol)
        left = after[symbol] if symbol == chosen else worth[symbol]
        loss[symbol] = half + fade * left * symbol_share(ruleset, count)


@kernel
def drawing_worth(ruleset: Ruleset, state: State, turns: float, worth: Any) -> float:
    """What an unseen card is worth on average, in thousands."""
    player = int(state.player)
    total = 0.0
    for symbol in range(NUM_SYMBOLS):
        count = int(state.symbols[player, symbol]) + has_investor(state, player, symbol)
        kinds = NUM_RESOURCES if symbol < NUM_RESOURCES else NUM_PERSONS
        total += worth[symbol] * symbol_share(ruleset, count + 1) / kinds
    return card_worth(ruleset, state, turns) + card_fade(ruleset, turns) * total


@kernel
def payment_cost(state: State, symbol: int, loss: Any) -> float:
    """What the cheapest payment for `symbol` costs the hand (C10), in thousands."""
    player = int(state.player)
    # `first` and `second` are the two cheapest cards that show the symbol, `other` and `another` the two that don't.
    first, second, other, another = NO_CARD, NO_CARD, NO_CARD, NO_CARD
    for kind in range(NUM_KINDS):
        held = state.hand[player, kind]
        if held > 0:
            cost = loss[kind // NUM_PERSONS] + loss[NUM_RESOURCES + kind % NUM_PERSONS]
            if shows(kind, symbol):
                if cost < first:
                    first, second = cost, first if held == 1 else cost
                elif cost < second:
                    second = cost
            elif cost < other:
                other, another = cost, other if held == 1 else cost
            elif cost < another:
                another = cost
    if has_investor(state, player, symbol):
        return min(first, other + another)
    return first + min(second, other + another)


# ---------------------------------------------------------------- decisions


@kernel
def best_choice(ruleset: Ruleset, state: State) -> int:
    """Choose between drawing and the action with the best value."""
    player, turns = int(state.player), turns_left(ruleset, state)
    value = stack_array(NUM_CARD_ACTIONS, np.float64)
    worth = stack_array(NUM_SYMBOLS, np.float64)
    after = stack_array(NUM_SYMBOLS, np.float64)
    loss = stack_array(NUM_SYMBOLS, np.float64)
    appraise(ruleset, state, turns, value, worth, after)
    drawing = drawing_worth(ruleset, state, turns, worth)
    best, best_value, last, payable, cost = -1, 0.0, -1, False, 0.0
    for number in range(NUM_CARD_ACTIONS):
        symbol = symbol_of(number)
        if symbol != last:
            last, payable = symbol, can_pay(state, player, symbol)
            if payable:
                losses(ruleset, state, symbol, turns, worth, after, loss)
                cost = payment_cost(state, symbol, loss)
        if payable and value[number] > NOT_ON_OFFER:
            profit = value[number] - cost + drawing
            if best < 0 or profit > best_value:
                best, best_value = CARD_ACTIONS + number, profit
    for count in range(MOST_DRAWN + 1):
        if may_draw(ruleset, state, count) and (best < 0 or count * drawing >= best_value):
            best, best_value = DRAW + count, count * drawing
    return best


@kernel
def best_card(ruleset: Ruleset, state: State, mask: Any) -> int:
    """The next card of the payment that costs the hand least."""
    kinds, only = 0, 0
    for kind in range(NUM_KINDS):
        if mask[PAY + kind]:
            kinds += 1
            only = kind
    if kinds == 1:
        return PAY + only
    player, turns, chosen = int(state.player), turns_left(ruleset, state), symbol_of(int(state.chosen))
    value = stack_array(NUM_CARD_ACTIONS, np.float64)
    worth = stack_array(NUM_SYMBOLS, np.float64)
    after = stack_array(NUM_SYMBOLS, np.float64)
    loss = stack_array(NUM_SYMBOLS, np.float64)
    appraise(ruleset, state, turns, value, worth, after)
    losses(ruleset, state, chosen, turns, worth, after, loss)
    showing, other = -1, -1
    first, second, third = NO_CARD, NO_CARD, NO_CARD  # the cheapest card with the symbol, and the two without
    for kind in range(NUM_KINDS):
        if mask[PAY + kind]:
            cost = loss[kind // NUM_PERSONS] + loss[NUM_RESOURCES + kind % NUM_PERSONS]
            if shows(kind, chosen):
                if cost < first:
                    first, showing = cost, kind
            elif cost < second:
                second, third, other = cost, second if state.hand[player, kind] == 1 else cost, kind
            elif cost < third:
                third = cost
    if showing < 0 or (other >= 0 and second + third < first):
        return PAY + other
    return PAY + showing
