"""The rules of Siberia: The Card Game, in the order of the rulebook, one function for each verb.

Rule numbers (C7) are those of docs/card/rules.md. That page tells what is published and what the suite settles: the
printed rules (C6 to C16), the turn limit (C17), the order in which a payment is asked for (C19). Editions differ only
in values of the ruleset.

This is scalar code that works on one state record. numba compiles it, or Python runs it as it is. The code reads fields
through `int()` before arithmetic, because an int8 wraps in silence when compiled. Functions that every decision calls
join conditions with `&` and `|` instead of `and` and `or`. That makes no jumps, so the processor can't mispredict any.
"""

from __future__ import annotations

from siberia_env.card.actions import (
    CARD_ACTIONS,
    HIRE_INVESTOR,
    HIRE_SALESMAN,
    HIRE_WORKER,
    MINE,
    MOST_DRAWN,
)
from siberia_env.card.components import (
    FACE_UP_AT_START,
    HAND_AT_START,
    HAND_LIMIT,
    INVESTOR,
    NUM_KINDS,
    NUM_PERSONS,
    PERSON_VALUE,
    ROW_SLOTS,
    SALESMAN,
    WORKER,
)
from siberia_env.card.state import (
    CHOOSE,
    DISCOVER,
    EMPTY,
    FIRST_CARD,
    LAST_OF_TWO,
    NOBODY,
    NOT_PAYING,
    NOTHING,
    OVER,
    PAYING,
    SECOND_CARD,
    SETUP,
    SHUFFLE,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel
from siberia_env.game import MAX_PLAYERS

# ---------------------------------------------------------------- setup


@kernel
def open_box(ruleset: Ruleset, state: State) -> None:
    """Put everything back into the box. The next chance outcome is the setup."""
    state.score[:] = 0
    state.captured[:, :] = 0
    state.captured_value[:, :] = 0
    state.captured_best_value[:, :] = 0
    state.hand[:, :] = 0
    state.symbols[:, :] = 0
    state.hand_size[:] = 0
    state.workers[:] = 0
    state.salesmen[:] = 0
    state.investors[:] = 0
    state.salesman_owner[:] = NOBODY
    state.investor_owner[:] = NOBODY
    state.workers_left = ruleset.workers
    state.action_stack[:] = 0
    state.action_stack_size = 0
    state.discard[:] = 0
    state.discard_size = 0
    remember_hands(ruleset, state)
    state.unused[:] = 0
    state.resource_stack[:] = 0
    state.resource_stack_size = 0
    state.row[:] = EMPTY
    state.face_up[:] = 0
    state.face_down = 0
    state.player = 0
    state.turn = 0
    state.chosen = NOTHING
    state.payment = NOT_PAYING
    state.draws_left = 0
    state.turns_to_end = 0
    state.hit_limit = 0
    state.phase = SETUP


@kernel
def lay_stacks(ruleset: Ruleset, state: State) -> None:
    """Put all action cards and all resource cards on their stacks, unshuffled."""
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(ruleset.action_cards[kind]):
            state.action_stack[size] = kind
            size += 1
    state.action_stack_size = size
    for number in range(ruleset.num_resource_cards):
        state.resource_stack[number] = number
    state.resource_stack_size = ruleset.num_resource_cards


@kernel
def set_up(ruleset: Ruleset, state: State) -> None:
    """C6: lay out the row from the shuffled stacks, give each player a worker and five cards; seat 0 starts."""
    for slot in range(ROW_SLOTS):
        refill_slot(state, slot)
    for slot in range(FACE_UP_AT_START):
        turn_up(state, slot)
    for player in range(ruleset.num_players):
        take_worker(ruleset, state, player)
        for _ in range(HAND_AT_START):
            draw_card(state, player)
    begin_turn(state)


# ---------------------------------------------------------------- a turn


@kernel
def begin_turn(state: State) -> None:
    """C7: a turn starts with discovering, unless no card of the row lies face down."""
    state.phase = DISCOVER if state.face_down > 0 else CHOOSE


@kernel
def may_reveal(state: State, slot: int) -> bool:
    """C7: the player may reveal any face-down card of the row."""
    return (state.row[slot] != EMPTY) & (state.face_up[slot] == 0)


@kernel
def may_keep_hidden(state: State) -> bool:
    """C7: with one or two face-down cards the player need not reveal one; with three or more they must."""
    return state.face_down < 3


@kernel
def reveal(ruleset: Ruleset, state: State, slot: int) -> None:
    """C7: turn the card face up. C15: the last face-down card of the game brings the end in sight."""
    turn_up(state, slot)
    if state.face_down == 0 and state.resource_stack_size == 0:
        state.turns_to_end = 1 + ruleset.num_players


@kernel
def turn_up(state: State, slot: int) -> None:
    """Turn the card in `slot` face up."""
    state.face_up[slot] = 1
    state.face_down -= 1


# ---------------------------------------------------------------- drawing instead of acting


@kernel
def may_draw(ruleset: Ruleset, state: State, count: int) -> bool:
    """C9: whether the player may draw `count` cards: up to two, and never above eight in hand.

    Some editions ask for exactly as many as allowed, or for an action from a player with a full hand.
    """
    most = min(MOST_DRAWN, HAND_LIMIT - int(state.hand_size[state.player]))
    return ((count == most) | ((count < most) & (ruleset.draw_exact == 0))) & (
        (most > 0) | (ruleset.must_act_when_full == 0)
    )


@kernel
def draw(ruleset: Ruleset, state: State, count: int) -> None:
    """Draw `count` cards and end the turn. C14: during the draw or after it, a shuffle may become due."""
    player, size = int(state.player), int(state.action_stack_size)
    while count > 0 and state.action_stack_size > 0:
        draw_card(state, player)
        count -= 1
    if shuffle_is_due(ruleset, state, int(state.action_stack_size) < size, count):
        state.draws_left = count
        state.phase = SHUFFLE
    else:
        state.draws_left = 0
        end_turn(ruleset, state)


@kernel
def shuffle_is_due(ruleset: Ruleset, state: State, has_drawn: bool, missing: int) -> bool:
    """C14: whether to shuffle the discard pile now: the action stack is used up, and the pile is not empty.

    In the printed editions the shuffle comes as soon as the last card has been drawn. In the digital edition it comes
    only when a player still has to draw. A stack that could not be replaced then waits until the next card is missing.
    """
    at_once = has_drawn & (ruleset.reshuffle_at_once == 1)
    return (state.action_stack_size == 0) & (state.discard_size > 0) & (at_once | (missing > 0))


@kernel
def draw_card(state: State, player: int) -> None:
    """Move the top card of the action stack to the hand of `player`."""
    state.action_stack_size -= 1
    state.drawn[player] += 1
    put_in_hand(state, player, int(state.action_stack[state.action_stack_size]))


@kernel
def put_in_hand(state: State, player: int, kind: int) -> None:
    """Add one card of `kind` to the hand of `player`."""
    state.hand[player, kind] += 1
    state.hand_size[player] += 1
    state.symbols[player, kind // NUM_PERSONS] += 1
    state.symbols[player, NUM_RESOURCES + kind % NUM_PERSONS] += 1


@kernel
def take_from_hand(state: State, player: int, kind: int) -> None:
    """Remove one card of `kind` from the hand of `player`."""
    state.hand[player, kind] -= 1
    state.hand_size[player] -= 1
    state.symbols[player, kind // NUM_PERSONS] -= 1
    state.symbols[player, NUM_RESOURCES + kind % NUM_PERSONS] -= 1


@kernel
def turn_discard_over(ruleset: Ruleset, state: State) -> None:
    """C14: make the discard pile the action stack, unshuffled. C18: everybody knows which cards it holds."""
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(state.discard[kind]):
            state.action_stack[size] = kind
            size += 1
        state.discard[kind] = 0
    state.action_stack_size = size
    state.discard_size = 0
    remember_hands(ruleset, state)


@kernel
def remember_hands(ruleset: Ruleset, state: State) -> None:
    """C18: each player now knows what the others hold together, and forgets the old discard pile."""
    state.held[:, :] = state.hand
    state.known[:, :] = 0  # also for empty seats, which `know_held_cards` skips
    state.drawn[:] = 0
    state.pile[:] = 0
    state.pile_drawn[:] = 0
    know_held_cards(ruleset, state)


@kernel
def know_held_cards(ruleset: Ruleset, state: State) -> None:
    """C18: each player knows the cards that the others held together at the last reshuffle."""
    for player in range(ruleset.num_players):
        for kind in range(NUM_KINDS):
            state.known[player, kind] = held_by_others(state, player, kind)


@kernel
def held_by_others(state: State, player: int, kind: int) -> int:
    """C18: how many cards of `kind` the others held together at the last reshuffle."""
    held = -int(state.held[player, kind])
    for other in range(MAX_PLAYERS):
        held += int(state.held[other, kind])
    return held


@kernel
def see_payment(state: State, player: int, kind: int) -> None:
    """C18: when `player` pays a card of `kind`, each other player who knew of such cards knows of one less."""
    for seat in range(1, MAX_PLAYERS):
        other = (player + seat) % MAX_PLAYERS
        state.known[other, kind] -= state.known[other, kind] > 0


# ---------------------------------------------------------------- playing cards for an action


@kernel
def shows(kind: int, symbol: int) -> bool:
    """Whether an action card of `kind` shows `symbol`."""
    return (kind // NUM_PERSONS == symbol) | (NUM_RESOURCES + kind % NUM_PERSONS == symbol)


@kernel
def has_investor(state: State, player: int, symbol: int) -> bool:
    """C10: whether an investor replaces the first `symbol` of a payment (resource actions only)."""
    return symbol < NUM_RESOURCES and state.investor_owner[symbol] == player


@kernel
def can_pay(state: State, player: int, symbol: int) -> bool:
    """C10: whether `player` has two cards with the symbol, or one and two others. The investor saves the first card."""
    showing = int(state.symbols[player, symbol])
    others = int(state.hand_size[player]) - showing
    return pays_for(2 - has_investor(state, player, symbol), showing, others)


@kernel
def pays_for(symbols: int, showing: int, others: int) -> bool:
    """C10: whether cards pay for that many `symbols` (1 or 2). Two other cards stand for one of them.

    `showing` of the cards show the symbol, `others` don't.
    """
    return (showing >= symbols) | ((showing >= symbols - 1) & (others >= 2))


@kernel
def fewest_cards(state: State, player: int, symbol: int) -> int:
    """C10: the fewest cards with which `player` can pay for `symbol`; 0 if it can't be paid."""
    needed = 2 - has_investor(state, player, symbol)
    return can_pay(state, player, symbol) * (needed + (int(state.symbols[player, symbol]) < needed))


@kernel
def symbol_of(card_action: int) -> int:
    """The symbol that pays for an action, given as its number among the card actions."""
    if card_action < HIRE_WORKER - CARD_ACTIONS:
        return card_action
    if card_action == HIRE_WORKER - CARD_ACTIONS:
        return WORKER
    return SALESMAN if card_action < HIRE_INVESTOR - CARD_ACTIONS else INVESTOR


@kernel
def worker_on_offer(ruleset: Ruleset, state: State, player: int) -> bool:
    """C13: a worker is on offer while any is left and the player has fewer than the edition's cap."""
    return (state.workers_left > 0) & (state.workers[player] < ruleset.worker_cap)


@kernel
def salesman_on_offer(state: State, symbol: int) -> bool:
    """C13: the salesman of `symbol` is still in the supply."""
    return state.salesman_owner[symbol] == NOBODY


@kernel
def investor_on_offer(state: State, resource: int) -> bool:
    """C13: the investor of `resource` is still in the supply."""
    return state.investor_owner[resource] == NOBODY


@kernel
def on_offer(ruleset: Ruleset, state: State, player: int, card_action: int) -> bool:
    """C11, C13: mining is always on offer, even when it would bring nothing. Hiring needs somebody left to hire."""
    action = card_action + CARD_ACTIONS
    if action < HIRE_WORKER:
        return True
    if action == HIRE_WORKER:
        return worker_on_offer(ruleset, state, player)
    if action < HIRE_INVESTOR:
        return salesman_on_offer(state, action - HIRE_SALESMAN)
    return investor_on_offer(state, action - HIRE_INVESTOR)


@kernel
def may_choose(ruleset: Ruleset, state: State, player: int, card_action: int) -> bool:
    """C10, C11, C13: the player may choose an action that is on offer, if their hand can pay for its symbol."""
    return can_pay(state, player, symbol_of(card_action)) & on_offer(ruleset, state, player, card_action)


@kernel
def choose(state: State, card_action: int) -> None:
    """Announce an action; its payment comes next, card by card (C19)."""
    state.chosen = card_action
    state.payment = SECOND_CARD if has_investor(state, state.player, symbol_of(card_action)) else FIRST_CARD
    state.phase = PAYING


@kernel
def next_card(state: State, player: int, symbol: int) -> tuple[bool, bool]:
    """C19: whether the next card of a payment may show the `symbol`, and whether it may be one that doesn't."""
    payment = int(state.payment)
    others = int(state.hand_size[player]) - int(state.symbols[player, symbol])
    return payment != LAST_OF_TWO, (payment == LAST_OF_TWO) | ((payment == SECOND_CARD) & (others >= 2))


@kernel
def may_pay(state: State, kind: int) -> bool:
    """C19: the first card shows the symbol. Then comes another that shows it, or two in a row that don't."""
    player, symbol = int(state.player), symbol_of(int(state.chosen))
    showing, other = next_card(state, player, symbol)
    return may_come_next(state, player, kind, symbol, showing, other)


@kernel
def may_come_next(state: State, player: int, kind: int, symbol: int, showing: bool, other: bool) -> bool:
    """C19: whether `player` has a card of `kind` and may pay it next. `showing` and `other` come from `next_card`."""
    shown = shows(kind, symbol)
    return (state.hand[player, kind] > 0) & ((shown & showing) | (other & (not shown)))


@kernel
def can_go_on(state: State, showing: int, others: int) -> bool:
    """C19: whether `showing` cards with the symbol and `others` without it can finish the payment that has begun."""
    if state.payment == LAST_OF_TWO:
        return others > 0
    return pays_for(2 if state.payment == FIRST_CARD else 1, showing, others)


@kernel
def pay(ruleset: Ruleset, state: State, kind: int) -> None:
    """C14: pay one card onto the discard pile. When the payment is complete, carry out the action."""
    player = int(state.player)
    take_from_hand(state, player, kind)
    lay_on_pile(state, player, kind)
    if state.payment == FIRST_CARD:
        state.payment = SECOND_CARD
    elif state.payment == SECOND_CARD and not shows(kind, symbol_of(state.chosen)):
        state.payment = LAST_OF_TWO
    else:
        card_action = int(state.chosen)
        state.payment = NOT_PAYING
        state.chosen = NOTHING
        perform(ruleset, state, card_action)
        draw(ruleset, state, 1)  # C8


@kernel
def lay_on_pile(state: State, player: int, kind: int) -> None:
    """C14: lay a paid card on the discard pile. C18: everybody remembers who paid it."""
    size = int(state.discard_size)
    state.pile[size] = card_on_pile(player, kind)
    state.pile_drawn[size] = state.drawn[player]
    see_payment(state, player, kind)
    state.discard[kind] += 1
    state.discard_size += 1


@kernel
def card_on_pile(player: int, kind: int) -> int:
    """The number by which the discard pile remembers a paid card: it stands for both `player` and `kind`."""
    return player * NUM_KINDS + kind


# ---------------------------------------------------------------- the actions


@kernel
def perform(ruleset: Ruleset, state: State, card_action: int) -> None:
    """Carry out an action that is paid for."""
    action = card_action + CARD_ACTIONS
    if action < HIRE_WORKER:
        mine(ruleset, state, action - MINE)
        refill_row(state)
    elif action == HIRE_WORKER:
        take_worker(ruleset, state, int(state.player))
    elif action < HIRE_INVESTOR:
        hire_salesman(ruleset, state, action - HIRE_SALESMAN)
    else:
        hire_investor(ruleset, state, action - HIRE_INVESTOR)


@kernel
def mine(ruleset: Ruleset, state: State, resource: int) -> None:
    """C11: take a face-up card of the resource for each worker, from the headframe on, or all if these are fewer."""
    player = int(state.player)
    wanted = int(state.workers[player])
    for slot in range(ROW_SLOTS):
        number = state.row[slot]
        if wanted > 0 and number != EMPTY and state.face_up[slot] and ruleset.card_resource[number] == resource:
            capture(ruleset, state, player, number)
            state.row[slot] = EMPTY
            state.face_up[slot] = 0
            wanted -= 1


@kernel
def capture(ruleset: Ruleset, state: State, player: int, number: int) -> None:
    """Give resource card `number` to `player`, who scores it at once (C16)."""
    resource = ruleset.card_resource[number]
    value = ruleset.card_value[number]
    best_value = ruleset.card_best_value[number]
    state.captured[player, resource] += 1
    state.captured_value[player, resource] += value
    state.captured_best_value[player, resource] += best_value
    state.score[player] += best_value if state.salesman_owner[resource] == player else value


@kernel
def refill_row(state: State) -> None:
    """C12: lay a face-down card into each emptied slot, lowest slot first, while the stack lasts. No card moves."""
    for slot in range(ROW_SLOTS):
        if state.row[slot] == EMPTY:
            refill_slot(state, slot)


@kernel
def refill_slot(state: State, slot: int) -> None:
    """Lay the top card of the resource stack, if there is one, face down into `slot`."""
    if state.resource_stack_size > 0:
        state.resource_stack_size -= 1
        state.row[slot] = state.resource_stack[state.resource_stack_size]
        state.face_up[slot] = 0
        state.face_down += 1


@kernel
def take_worker(ruleset: Ruleset, state: State, player: int) -> None:
    """C6, C13: give `player` a worker from the supply."""
    state.workers_left -= 1
    state.workers[player] += 1
    state.score[player] += person_value(ruleset, state, player, WORKER)


@kernel
def hire_salesman(ruleset: Ruleset, state: State, symbol: int) -> None:
    """C13: hire the salesman of `symbol` from the supply. All cards that he counts for are now worth more (C16)."""
    player = int(state.player)
    state.score[player] += salesman_gain(ruleset, state, player, symbol)
    state.salesman_owner[symbol] = player
    state.salesmen[player] += 1


@kernel
def hire_investor(ruleset: Ruleset, state: State, resource: int) -> None:
    """C13: hire the investor of `resource` from the supply."""
    player = int(state.player)
    state.investor_owner[resource] = player
    state.investors[player] += 1
    state.score[player] += person_value(ruleset, state, player, INVESTOR)


# ---------------------------------------------------------------- values


@kernel
def person_value(ruleset: Ruleset, state: State, player: int, person: int) -> int:
    """C16: what a person card of this kind (WORKER, SALESMAN, INVESTOR) is worth to `player`, thousands."""
    value = int(ruleset.salesman_value[person])
    return value if state.salesman_owner[person] == player else PERSON_VALUE


@kernel
def salesman_gain(ruleset: Ruleset, state: State, player: int, symbol: int) -> int:
    """C16: how much the salesman of `symbol`, himself included, would add to the score of `player`, thousands."""
    if symbol < NUM_RESOURCES:
        raised = int(state.captured_best_value[player, symbol]) - int(state.captured_value[player, symbol])
        return raised + person_value(ruleset, state, player, SALESMAN)
    more = int(ruleset.salesman_value[symbol]) - PERSON_VALUE
    if symbol == WORKER:
        return more * int(state.workers[player]) + person_value(ruleset, state, player, SALESMAN)
    if symbol == INVESTOR:
        return more * int(state.investors[player]) + person_value(ruleset, state, player, SALESMAN)
    return more * int(state.salesmen[player]) + int(ruleset.salesman_value[SALESMAN])


# ---------------------------------------------------------------- the end


@kernel
def end_turn(ruleset: Ruleset, state: State) -> None:
    """C15: once the end is in sight, everybody has one last turn. C17: the turn limit also ends the game."""
    state.turn += 1
    if state.turns_to_end > 0:
        state.turns_to_end -= 1
        if state.turns_to_end == 0:
            state.phase = OVER
            return
    if state.turn >= ruleset.max_turns:
        state.hit_limit = 1
        state.phase = OVER
        return
    state.player = (int(state.player) + 1) % ruleset.num_players  # C6
    begin_turn(state)
