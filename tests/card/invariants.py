"""What holds at every decision of the card game, in compiled code: for `tests/soak.py`.

Slow and obvious on purpose. Nothing here calls the rules: every count is made anew from the cards.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from siberia_env.card.actions import DRAW, HIRE_INVESTOR, HIRE_SALESMAN, HIRE_WORKER, KEEP_HIDDEN, MINE, PAY
from siberia_env.card.components import (
    ACTION_CARDS,
    HAND_LIMIT,
    INVESTOR,
    NUM_KINDS,
    NUM_PERSONS,
    NUM_SYMBOLS,
    RESOURCE_CARDS,
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
    STATE,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel, stack_array
from siberia_env.game import MAX_PLAYERS, register

PILE_CODES = MAX_PLAYERS * NUM_KINDS  #: pairs of a player and a kind, as the discard pile remembers them


class CardInvariant(IntEnum):
    """What can be broken: first in one state, then from one decision to the next."""

    PHASE = 1
    SEAT = 2
    EMPTY_SEATS = 3
    UNUSED_BYTES = 4
    ACTION_CARDS = 5
    HAND_LIMIT = 6
    HAND_SIZE = 7
    SYMBOLS = 8
    DISCARD_SIZE = 9
    PILE = 10
    PILE_DRAWN = 11
    HELD_DRAWN_PAID = 12
    KNOWN = 13
    KNOWN_AMONG_OTHERS = 14
    STACK_IS_REPLACED = 15
    RESOURCE_CARDS = 16
    CAPTURED_COUNTS = 17
    CAPTURED_VALUES = 18
    ROW = 19
    FACE_DOWN = 20
    ROW_IS_FULL = 21
    WORKERS = 22
    PERSON_OWNERS = 23
    SALESMEN_AND_INVESTORS = 24
    SCORE = 25
    PAYMENT = 26
    END_IN_SIGHT = 27
    TURN_LIMIT = 28

    TURN_ORDER = 51
    WHOSE_CARDS_CHANGE = 52
    WHO_CAPTURED = 53
    SCORE_FALLS = 54
    RESHUFFLE = 55
    CARDS_DRAWN = 56
    TOP_OF_THE_STACK = 57
    MEMORY_KEPT = 58
    MEMORY_OF_A_RESHUFFLE = 59
    END_COMES_NEARER = 60


#: What the tally of a soak counts, in order.
EVENTS = (
    "reshuffles",
    "reshuffles in the middle of a draw",
    "reshuffles at the end of a draw",
    "draws cut short: nothing to shuffle",
    "decisions with an empty stack",
    "decisions with an empty stack and a discard pile",
    "turns with a full hand",
    "mining that finds nothing",
    "payments with an investor's help",
    "players at the cap of workers",
    "slots left empty",
    "ended by the last card turned up",
    "ended by the turn limit",
)
(
    RESHUFFLES,
    RESHUFFLES_IN_THE_MIDDLE,
    RESHUFFLES_AT_THE_END,
    CUT_SHORT,
    EMPTY_STACK,
    EMPTY_STACK_WITH_PILE,
    FULL_HANDS,
    FOUND_NOTHING,
    INVESTOR_HELPED,
    AT_THE_CAP,
    SLOTS_LEFT_EMPTY,
    LAST_CARD_TURNED,
    LIMIT_REACHED,
) = range(len(EVENTS))


@kernel
def cards_paid_so_far(state: Any) -> int:
    """How many cards of the payment that has begun lie on the discard pile (C19)."""
    if state.phase != PAYING:
        return 0
    chosen = MINE + int(state.chosen)
    resource = -1  # of a resource action, which an investor may help with
    if chosen < HIRE_WORKER:
        resource = chosen - MINE
    helped = 0
    if resource >= 0 and state.investor_owner[resource] == state.player:
        helped = 1
    if state.payment == FIRST_CARD:
        return 0
    if state.payment == SECOND_CARD:
        return 1 - helped
    return 2 - helped


@kernel
def check_action_cards(ruleset: Any, state: Any) -> int:
    """The action cards, and all that is counted of them."""
    players = int(ruleset.num_players)
    counts, showing = stack_array(NUM_KINDS, np.int64), stack_array(NUM_SYMBOLS, np.int64)
    for kind in range(NUM_KINDS):
        counts[kind] = state.discard[kind]
        if state.discard[kind] < 0:
            return CardInvariant.ACTION_CARDS
    for depth in range(state.action_stack_size):
        kind = int(state.action_stack[depth])
        if not 0 <= kind < NUM_KINDS:
            return CardInvariant.ACTION_CARDS
        counts[kind] += 1
    for player in range(players):
        size = 0
        for symbol in range(NUM_SYMBOLS):
            showing[symbol] = 0
        for resource in range(NUM_RESOURCES):
            for person in range(NUM_PERSONS):
                kind = resource * NUM_PERSONS + person
                cards = int(state.hand[player, kind])
                if cards < 0:
                    return CardInvariant.ACTION_CARDS
                counts[kind] += cards
                size += cards
                showing[resource] += cards
                showing[NUM_RESOURCES + person] += cards
        if size > HAND_LIMIT:
            return CardInvariant.HAND_LIMIT
        if size != state.hand_size[player]:
            return CardInvariant.HAND_SIZE
        for symbol in range(NUM_SYMBOLS):
            if showing[symbol] != state.symbols[player, symbol]:
                return CardInvariant.SYMBOLS
    for kind in range(NUM_KINDS):
        if counts[kind] != ruleset.action_cards[kind]:
            return CardInvariant.ACTION_CARDS
    size = 0
    for kind in range(NUM_KINDS):
        size += int(state.discard[kind])
    if size != state.discard_size:
        return CardInvariant.DISCARD_SIZE
    return 0


@kernel
def check_memory(ruleset: Any, state: Any) -> int:
    """C18: what is remembered since the last reshuffle accounts for every hand and for the discard pile."""
    players, size = int(ruleset.num_players), int(state.discard_size)
    paid, last = stack_array(PILE_CODES, np.int64), stack_array(MAX_PLAYERS, np.int64)
    for code in range(PILE_CODES):
        paid[code] = 0
    for player in range(MAX_PLAYERS):
        last[player] = 0
    stale = False
    for depth in range(size, ACTION_CARDS):
        stale |= (state.pile[depth] != 0) | (state.pile_drawn[depth] != 0)
    if stale:
        return CardInvariant.PILE
    for depth in range(size):
        code = int(state.pile[depth])
        if not 0 <= code < players * NUM_KINDS:
            return CardInvariant.PILE
        paid[code] += 1
        player = code // NUM_KINDS
        if not last[player] <= state.pile_drawn[depth] <= state.drawn[player]:
            return CardInvariant.PILE_DRAWN
        last[player] = state.pile_drawn[depth]
    for kind in range(NUM_KINDS):
        together = 0
        for player in range(players):
            together += paid[player * NUM_KINDS + kind]
        if together != state.discard[kind]:
            return CardInvariant.PILE
    for player in range(players):
        held, gone, negative = 0, 0, False
        for kind in range(NUM_KINDS):
            negative |= state.held[player, kind] < 0
            held += int(state.held[player, kind])
            gone += int(paid[player * NUM_KINDS + kind])
        if negative or state.drawn[player] < 0 or held + int(state.drawn[player]) - gone != state.hand_size[player]:
            return CardInvariant.HELD_DRAWN_PAID
    held_by_all, in_all_hands = stack_array(NUM_KINDS, np.int64), stack_array(NUM_KINDS, np.int64)
    for kind in range(NUM_KINDS):
        held_by_all[kind], in_all_hands[kind] = 0, 0
        for player in range(players):
            held_by_all[kind] += int(state.held[player, kind])
            in_all_hands[kind] += int(state.hand[player, kind])
    for player in range(players):
        wrong, more = False, False
        for kind in range(NUM_KINDS):
            held = held_by_all[kind] - int(state.held[player, kind])
            gone = int(state.discard[kind]) - paid[player * NUM_KINDS + kind]
            wrong |= state.known[player, kind] != max(held - gone, 0)
            more |= held - gone > in_all_hands[kind] - int(state.hand[player, kind])
        if wrong:
            return CardInvariant.KNOWN
        if more:
            return CardInvariant.KNOWN_AMONG_OTHERS
    # C14: printed rules replace the stack at once, so that a stack is missing only until the payment that has begun
    # is complete, and only where nothing but its cards lies on the pile. The digital rules wait for a missing card.
    missing = state.action_stack_size == 0 and size > 0
    if ruleset.reshuffle_at_once == 1 and missing and size != cards_paid_so_far(state):
        return CardInvariant.STACK_IS_REPLACED
    return 0


@kernel
def check_resource_cards(ruleset: Any, state: Any) -> int:
    """The row, the stack, and what is captured: whatever is in neither of the two."""
    players = int(ruleset.num_players)
    seen = 0  # set of card numbers
    for depth in range(state.resource_stack_size):
        number = int(state.resource_stack[depth])
        if not 0 <= number < ruleset.num_resource_cards or (seen >> number) & 1:
            return CardInvariant.RESOURCE_CARDS
        seen |= 1 << number
    face_down = 0
    for slot in range(ROW_SLOTS):
        number, face_up = int(state.row[slot]), int(state.face_up[slot])
        if number == EMPTY:
            if face_up != 0:
                return CardInvariant.ROW
            if state.resource_stack_size > 0:
                return CardInvariant.ROW_IS_FULL
        else:
            if not 0 <= number < ruleset.num_resource_cards or (seen >> number) & 1:
                return CardInvariant.RESOURCE_CARDS
            seen |= 1 << number
            if face_up == 0:
                face_down += 1
            elif face_up != 1:
                return CardInvariant.ROW
    if face_down != state.face_down:
        return CardInvariant.FACE_DOWN
    count, value = stack_array(NUM_RESOURCES, np.int64), stack_array(NUM_RESOURCES, np.int64)
    best = stack_array(NUM_RESOURCES, np.int64)
    for resource in range(NUM_RESOURCES):
        count[resource], value[resource], best[resource] = 0, 0, 0
    for number in range(ruleset.num_resource_cards):
        resource, gone = int(ruleset.card_resource[number]), 1 - ((seen >> number) & 1)
        count[resource] += gone
        value[resource] += gone * int(ruleset.card_value[number])
        best[resource] += gone * max(int(ruleset.card_value[number]), int(ruleset.salesman_value[resource]))
    for resource in range(NUM_RESOURCES):
        for player in range(players):
            if state.captured[player, resource] < 0:
                return CardInvariant.CAPTURED_COUNTS
            count[resource] -= int(state.captured[player, resource])
            value[resource] -= int(state.captured_value[player, resource])
            best[resource] -= int(state.captured_best_value[player, resource])
        if count[resource] != 0:
            return CardInvariant.CAPTURED_COUNTS
        if value[resource] != 0 or best[resource] != 0:
            return CardInvariant.CAPTURED_VALUES
    return 0


@kernel
def check_persons(ruleset: Any, state: Any) -> int:
    """Person cards, and C16: the score from captured values and persons."""
    players = int(ruleset.num_players)
    workers = int(state.workers_left)
    for player in range(players):
        workers += int(state.workers[player])
        if not 1 <= state.workers[player] <= ruleset.worker_cap:
            return CardInvariant.WORKERS
    if state.workers_left < 0 or workers != ruleset.workers:
        return CardInvariant.WORKERS
    for symbol in range(NUM_SYMBOLS):
        if not NOBODY <= state.salesman_owner[symbol] < players:
            return CardInvariant.PERSON_OWNERS
    for resource in range(NUM_RESOURCES):
        if not NOBODY <= state.investor_owner[resource] < players:
            return CardInvariant.PERSON_OWNERS
    for player in range(players):
        salesmen, investors = 0, 0
        for symbol in range(NUM_SYMBOLS):
            if state.salesman_owner[symbol] == player:
                salesmen += 1
        for resource in range(NUM_RESOURCES):
            if state.investor_owner[resource] == player:
                investors += 1
        if salesmen != state.salesmen[player] or investors != state.investors[player]:
            return CardInvariant.SALESMEN_AND_INVESTORS
        score = 0
        for resource in range(NUM_RESOURCES):
            if state.salesman_owner[resource] == player:
                score += int(state.captured_best_value[player, resource])
            else:
                score += int(state.captured_value[player, resource])
        worker_value, salesman_value, investor_value = 1, 1, 1
        if state.salesman_owner[WORKER] == player:
            worker_value = int(ruleset.salesman_value[WORKER])
        if state.salesman_owner[SALESMAN] == player:
            salesman_value = int(ruleset.salesman_value[SALESMAN])
        if state.salesman_owner[INVESTOR] == player:
            investor_value = int(ruleset.salesman_value[INVESTOR])
        score += int(state.workers[player]) * worker_value + salesmen * salesman_value + investors * investor_value
        if score != state.score[player]:
            return CardInvariant.SCORE
    return 0


@kernel
def check_turn(ruleset: Any, state: Any) -> int:
    """What is being decided, by whom, and how far the end is."""
    players, phase, turn = int(ruleset.num_players), int(state.phase), int(state.turn)
    if phase != DISCOVER and phase != CHOOSE and phase != PAYING and phase != OVER:
        return CardInvariant.PHASE
    if phase == DISCOVER and state.face_down == 0:
        return CardInvariant.PHASE
    if state.draws_left != 0:
        return CardInvariant.PHASE
    if turn < 0 or state.player != (turn - (phase == OVER)) % players:
        return CardInvariant.SEAT
    for player in range(players, MAX_PLAYERS):
        blank = state.score[player] == 0 and state.hand_size[player] == 0 and state.workers[player] == 0
        blank = blank and state.salesmen[player] == 0 and state.investors[player] == 0 and state.drawn[player] == 0
        for kind in range(NUM_KINDS):
            blank = blank and state.hand[player, kind] == 0 and state.held[player, kind] == 0
            blank = blank and state.known[player, kind] == 0
        for symbol in range(NUM_SYMBOLS):
            blank = blank and state.symbols[player, symbol] == 0
        for resource in range(NUM_RESOURCES):
            blank = blank and state.captured[player, resource] == 0 and state.captured_value[player, resource] == 0
            blank = blank and state.captured_best_value[player, resource] == 0
        if not blank:
            return CardInvariant.EMPTY_SEATS
    if state.unused[0] != 0 or state.unused[1] != 0:
        return CardInvariant.UNUSED_BYTES

    if phase == PAYING:
        if not 0 <= state.chosen < PAY - MINE or not FIRST_CARD <= state.payment <= LAST_OF_TWO:
            return CardInvariant.PAYMENT
        paid = cards_paid_so_far(state)
        if not 0 <= paid <= 2 or paid > state.discard_size:
            return CardInvariant.PAYMENT
        for depth in range(state.discard_size - paid, state.discard_size):
            if state.pile[depth] // NUM_KINDS != state.player:
                return CardInvariant.PAYMENT
    elif state.chosen != NOTHING or state.payment != NOT_PAYING:
        return CardInvariant.PAYMENT

    in_sight = state.face_down == 0 and state.resource_stack_size == 0  # C15
    if not 0 <= state.turns_to_end <= players + 1:
        return CardInvariant.END_IN_SIGHT
    if in_sight != (state.turns_to_end > 0 or (phase == OVER and state.hit_limit == 0)):
        return CardInvariant.END_IN_SIGHT
    if state.hit_limit != 0 and (state.hit_limit != 1 or phase != OVER or turn != ruleset.max_turns):
        return CardInvariant.TURN_LIMIT
    if turn > ruleset.max_turns or (turn == ruleset.max_turns and phase != OVER):
        return CardInvariant.TURN_LIMIT
    return 0


@kernel
def check(ruleset: Any, state: Any) -> int:
    """0, or the number of the invariant that `state` breaks."""
    broken = check_turn(ruleset, state)
    if broken == 0:
        broken = check_action_cards(ruleset, state)
    if broken == 0:
        broken = check_memory(ruleset, state)
    if broken == 0:
        broken = check_resource_cards(ruleset, state)
    if broken == 0:
        broken = check_persons(ruleset, state)
    return broken


@kernel
def check_step(ruleset: Any, before: Any, after: Any, action: int, ledger: Any, tally: Any) -> int:
    """0, or the number of the invariant that the step from `before` to `after` breaks.

    `ledger` holds, for each resource card, one more than the player that captured it, 0 if nobody has; it is written
    here. So is `tally`, which counts `EVENTS`.
    """
    players, player = int(ruleset.num_players), int(before.player)
    wanted, paying, captured = 0, False, False
    if DRAW <= action < MINE:
        wanted = action - DRAW
    if action >= PAY:
        paying = True
        if after.payment == NOT_PAYING:
            wanted = 1  # C8
            captured = before.chosen < HIRE_WORKER - MINE
    turn_ends = DRAW <= action < MINE or (paying and after.payment == NOT_PAYING)

    # C6: a turn ends with a draw or an action, and the next seat is on turn.
    if int(after.turn) - int(before.turn) != turn_ends:
        return CardInvariant.TURN_ORDER
    if not turn_ends and (after.player != player or after.phase == OVER):
        return CardInvariant.TURN_ORDER
    if turn_ends and after.phase != OVER and after.player != (player + 1) % players:
        return CardInvariant.TURN_ORDER
    # C15: the end comes in sight with a card turned up; then every finished turn brings it nearer.
    if before.turns_to_end > 0 and int(before.turns_to_end) - int(after.turns_to_end) != turn_ends:
        return CardInvariant.END_COMES_NEARER
    if before.turns_to_end == 0 and after.turns_to_end > 0 and action >= KEEP_HIDDEN:
        return CardInvariant.END_COMES_NEARER

    # Nobody else's things change, and no score falls.
    for other in range(players):
        if after.score[other] < before.score[other]:
            return CardInvariant.SCORE_FALLS
        if other != player:
            same = after.score[other] == before.score[other] and after.workers[other] == before.workers[other]
            for kind in range(NUM_KINDS):
                same &= after.hand[other, kind] == before.hand[other, kind]
            for resource in range(NUM_RESOURCES):
                same &= after.captured[other, resource] == before.captured[other, resource]
            if not same:
                return CardInvariant.WHOSE_CARDS_CHANGE
    for symbol in range(NUM_SYMBOLS):
        if before.salesman_owner[symbol] != after.salesman_owner[symbol] and (
            before.salesman_owner[symbol] != NOBODY
            or after.salesman_owner[symbol] != player
            or not paying
            or MINE + int(before.chosen) != HIRE_SALESMAN + symbol
        ):
            return CardInvariant.WHOSE_CARDS_CHANGE
    for resource in range(NUM_RESOURCES):
        if before.investor_owner[resource] != after.investor_owner[resource] and (
            before.investor_owner[resource] != NOBODY
            or after.investor_owner[resource] != player
            or not paying
            or MINE + int(before.chosen) != HIRE_INVESTOR + resource
        ):
            return CardInvariant.WHOSE_CARDS_CHANGE

    # C11: who mines takes a face-up card for each worker; the ledger knows who has which.
    taken = 0
    for slot in range(ROW_SLOTS):
        number = int(before.row[slot])
        if number != EMPTY and after.row[slot] != number:
            if not captured or before.face_up[slot] != 1 or ledger[number] != 0:
                return CardInvariant.WHO_CAPTURED
            if ruleset.card_resource[number] != before.chosen:
                return CardInvariant.WHO_CAPTURED
            ledger[number] = 1 + player
            taken += 1
    if taken > before.workers[player]:
        return CardInvariant.WHO_CAPTURED
    if captured and taken < before.workers[player]:
        for slot in range(ROW_SLOTS):
            number = int(after.row[slot])
            if number != EMPTY and after.face_up[slot] == 1 and ruleset.card_resource[number] == before.chosen:
                return CardInvariant.WHO_CAPTURED
    if captured:
        for resource in range(NUM_RESOURCES):
            count, value, best = 0, 0, 0
            for number in range(RESOURCE_CARDS):
                if ledger[number] == 1 + player and ruleset.card_resource[number] == resource:
                    count += 1
                    value += int(ruleset.card_value[number])
                    best += max(int(ruleset.card_value[number]), int(ruleset.salesman_value[resource]))
            if (
                count != after.captured[player, resource]
                or value != after.captured_value[player, resource]
                or best != after.captured_best_value[player, resource]
            ):
                return CardInvariant.WHO_CAPTURED

    # C14: when the discard pile becomes the stack, and how many cards are drawn.
    stack, pile = int(before.action_stack_size), int(before.discard_size) + paying
    runs_out = wanted > stack or (ruleset.reshuffle_at_once == 1 and wanted == stack and wanted > 0)
    reshuffled = runs_out and pile > 0
    if after.discard_size != (0 if reshuffled else pile):
        return CardInvariant.RESHUFFLE
    available = stack + (pile if reshuffled else 0)
    drawn = min(wanted, available)
    if after.action_stack_size != available - drawn:
        return CardInvariant.CARDS_DRAWN
    if int(after.hand_size[player]) != int(before.hand_size[player]) - paying + drawn:
        return CardInvariant.CARDS_DRAWN
    from_old = min(drawn, stack)  # cards drawn before the reshuffle, if there was one
    if not reshuffled:
        for kind in range(NUM_KINDS):
            count = int(before.hand[player, kind])
            if paying and action - PAY == kind:
                count -= 1
            for depth in range(stack - drawn, stack):
                if before.action_stack[depth] == kind:
                    count += 1
            if after.hand[player, kind] != count:
                return CardInvariant.TOP_OF_THE_STACK

    # C18: the memory grows by what happened; a reshuffle starts it anew.
    for other in range(players):
        own = other == player
        if reshuffled:
            if after.drawn[other] != (drawn - from_old if own else 0):
                return CardInvariant.MEMORY_OF_A_RESHUFFLE
            for kind in range(NUM_KINDS):
                held = int(before.hand[other, kind])
                if own:
                    if paying and action - PAY == kind:
                        held -= 1
                    for depth in range(stack - from_old, stack):
                        if before.action_stack[depth] == kind:
                            held += 1
                if after.held[other, kind] != held:
                    return CardInvariant.MEMORY_OF_A_RESHUFFLE
        else:
            if int(after.drawn[other]) - int(before.drawn[other]) != (drawn if own else 0):
                return CardInvariant.MEMORY_KEPT
            other_cards = False
            for kind in range(NUM_KINDS):
                other_cards |= after.held[other, kind] != before.held[other, kind]
                seen = (not own) and paying and kind == action - PAY
                other_cards |= after.known[other, kind] != max(int(before.known[other, kind]) - seen, 0)
            if other_cards:
                return CardInvariant.MEMORY_KEPT
    if not reshuffled:
        other_cards = False
        for depth in range(before.discard_size):
            other_cards |= after.pile[depth] != before.pile[depth]
            other_cards |= after.pile_drawn[depth] != before.pile_drawn[depth]
        if other_cards:
            return CardInvariant.MEMORY_KEPT
        if paying and after.pile_drawn[pile - 1] != before.drawn[player]:
            return CardInvariant.MEMORY_KEPT
        if paying and after.pile[pile - 1] != player * NUM_KINDS + action - PAY:
            return CardInvariant.MEMORY_KEPT

    tally[RESHUFFLES] += reshuffled
    tally[RESHUFFLES_IN_THE_MIDDLE] += reshuffled and 0 < from_old < drawn
    tally[RESHUFFLES_AT_THE_END] += reshuffled and from_old == wanted
    tally[CUT_SHORT] += drawn < wanted
    tally[EMPTY_STACK] += after.action_stack_size == 0
    tally[EMPTY_STACK_WITH_PILE] += after.action_stack_size == 0 and after.discard_size > 0
    tally[FULL_HANDS] += turn_ends and after.phase != OVER and after.hand_size[after.player] == HAND_LIMIT
    tally[FOUND_NOTHING] += captured and taken == 0
    tally[INVESTOR_HELPED] += MINE <= action < PAY and after.payment == SECOND_CARD
    if turn_ends and before.workers[player] < ruleset.worker_cap:
        tally[AT_THE_CAP] += after.workers[player] == ruleset.worker_cap
    if taken > 0:
        for slot in range(ROW_SLOTS):
            tally[SLOTS_LEFT_EMPTY] += after.row[slot] == EMPTY and before.row[slot] != EMPTY
    tally[LAST_CARD_TURNED] += after.phase == OVER and after.hit_limit == 0
    tally[LIMIT_REACHED] += after.hit_limit == 1
    return 0


register(STATE, {"check": check, "check_step": check_step})
