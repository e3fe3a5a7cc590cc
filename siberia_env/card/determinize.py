"""Deals again what a player of the card game can't know (C18).

The samples aim at one distribution, the target, which docs/card/rules.md describes ("What a sample means"). Beforehand
all orders of the stacks are equally likely. The target keeps those orders under which everything that the player has
seen was possible. A payment says that its card was in the payer's hand, and nothing else about the payer's thinking.
Of what was known before the last reshuffle only one thing counts: which cards the others then held together.

A hand of the others has *places*. The first places are for the cards that it held at the last reshuffle (the old ones),
the others for those that it has drawn since, in their order. `deal_places` fills the places. For each payment, in the
order of the pile, it chooses the place that the payment used, and it deals the rest at random. This alone would favour
some hands: those in which many places could have been used for the same payment, by the number of ways to explain the
pile. Two remedies correct that:

- Cards of a kind can't be told apart, so we may assume that each payment used the oldest card of its kind in the hand.
  `deal_hands_again` throws away a deal in which some payment did not, and deals again. The deals that remain follow the
  target exactly, unless a payment might have used an old card of several hands (three or four players, after a
  reshuffle).
- In that case, and where no such deal turns up soon, `improve` swaps cards of a deal a few times. It accepts a swap
  with the probability of Metropolis and Hastings for the target. The result is close to the target;
  docs/card/rules.md says how close.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.card.components import ACTION_CARDS, NUM_KINDS, NUM_PERSONS, RESOURCE_CARDS, ROW_SLOTS
from siberia_env.card.rules import can_go_on, know_held_cards, may_reveal, see_payment, shows, symbol_of
from siberia_env.card.state import PAYING, Ruleset, State
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel, stack_array
from siberia_env.core.rng import draw_below, sample_stream, shuffle
from siberia_env.core.simd import bit_count
from siberia_env.game import MAX_PLAYERS

STRICT_TRIES = 6  #: deals at most in search of one where each payment used the oldest card, before `improve` takes over
SWEEPS = 2  #: how often `improve` offers each place another card
ODDS = 2**31  #: a probability is compared with a random number below this

# Sizes of the arrays that all tried deals share. numba needs each size as one named constant.
PILE_CODES = MAX_PLAYERS * NUM_KINDS  #: pairs of a player and a kind (`card_on_pile`)
PLACES = MAX_PLAYERS * ACTION_CARDS  #: places of all players; place p of player j is number j * ACTION_CARDS + p
NO_PLACE = -1

#: How good a deal is. IMPOSSIBLE contradicts what was seen, LOOSE doesn't. In STRICT, moreover, each payment used the
#: oldest card of its kind.
IMPOSSIBLE, LOOSE, STRICT = range(3)


@kernel
def determinize(ruleset: Ruleset, state: State, player: int, generator: Any) -> None:
    """Deal again what `player` can't know (C18), consistent with what it knows. The state gets a new generator.

    The result depends only on what `player` sees and on `generator` (uint64), never on the hidden cards themselves.
    Equal information sets and equal generators give equal states.
    """
    state.generator = sample_stream(generator)
    deal_hands_again(ruleset, state, player)
    lay_resources_again(ruleset, state)


# ---------------------------------------------------------------- action cards


@kernel
def deal_hands_again(ruleset: Ruleset, state: State, player: int) -> None:
    """Draw the others' hands and the order of the stack from the cards that `player` can't place."""
    old, new = stack_array(NUM_KINDS, np.int64), stack_array(NUM_KINDS, np.int64)
    old_hand, used = stack_array(MAX_PLAYERS, np.int64), stack_array(MAX_PLAYERS, np.int64)
    places = stack_array(PLACES, np.int64)
    count_unknown(ruleset, state, player, old, new, old_hand)

    tries, choices, quality = 0, 0, IMPOSSIBLE
    while quality == IMPOSSIBLE or (quality == LOOSE and tries < STRICT_TRIES):
        quality, choices = deal_places(state, player, old, new, old_hand, places, used)
        tries += 1
    if quality == LOOSE or choices > 0:
        improve(state, player, old_hand, places, used)
    shuffle(state, state.action_stack, int(state.action_stack_size))
    for other in range(ruleset.num_players):
        if other != player:
            take_up_hand(state, other, int(old_hand[other]), places, int(used[other]))
    know_held_cards(ruleset, state)
    for index in range(state.discard_size):
        code = int(state.pile[index])
        see_payment(state, code // NUM_KINDS, code % NUM_KINDS)


@kernel
def count_unknown(ruleset: Ruleset, state: State, player: int, old: Any, new: Any, old_hand: Any) -> None:
    """Write what `player` knows of the cards it can't place, as they were at the last reshuffle.

    `old` [15] gets the cards that the others held together, by kind. `old_hand` [4] gets how many each of them held.
    `new` [15] gets the cards, by kind, that the others have drawn from the stack since, or that are still in it.
    """
    for kind in range(NUM_KINDS):
        held = -int(state.held[player, kind])
        for other in range(MAX_PLAYERS):
            held += int(state.held[other, kind])
        old[kind] = held
        new[kind] = int(ruleset.action_cards[kind]) - held - int(state.hand[player, kind])
    for index in range(state.discard_size):
        code = int(state.pile[index])
        if code // NUM_KINDS == player:
            new[code % NUM_KINDS] -= 1
    for other in range(MAX_PLAYERS):
        old_hand[other] = 0
        if other != player:
            for kind in range(NUM_KINDS):
                old_hand[other] += int(state.held[other, kind])


@kernel
def deal_places(
    state: State, player: int, old: Any, new: Any, old_hand: Any, places: Any, used: Any
) -> tuple[int, int]:
    """Fill the others' places and the stack once. The stack is not shuffled yet.

    `places` [240] gets the kind at each place, `used` [4] each player's set of places whose cards have been paid.

    Returns:
        Whether the deal is `IMPOSSIBLE`, `LOOSE` or `STRICT`, and for how many payments there was a choice between an
        old card and a new one.
    """
    old_left, new_left = stack_array(NUM_KINDS, np.int64), stack_array(NUM_KINDS, np.int64)
    old_places = stack_array(MAX_PLAYERS, np.int64)  # of each hand: old places not used yet
    youngest = stack_array(PILE_CODES, np.int64)  # 1 + the last place of a hand that paid a card of a kind; 0: none
    olds, news = 0, 0
    for kind in range(NUM_KINDS):
        old_left[kind], new_left[kind] = old[kind], new[kind]
        olds += int(old[kind])
        news += int(new[kind])
    for other in range(MAX_PLAYERS):
        old_places[other], used[other] = old_hand[other], 0
    for code in range(PILE_CODES):
        youngest[code] = 0

    quality, choices = STRICT, 0
    for index in range(state.discard_size):
        code = int(state.pile[index])
        other, kind = code // NUM_KINDS, code % NUM_KINDS
        if other == player:
            continue
        held, drawn = int(old_hand[other]), int(state.pile_drawn[index])
        new_places = held + drawn - bit_count(int(used[other])) - int(old_places[other])
        has_all_old = old_places[other] == olds
        old_ways = int(old_places[other]) * int(old_left[kind]) * max(news, 1)
        new_ways = new_places * int(new_left[kind]) * max(olds, 1)
        if youngest[code] > held:
            old_ways = 0  # it has paid a new card of this kind, so it had no old one
        elif has_all_old and old_left[kind] > 0:
            new_ways = 0  # it has the old card, and uses that first
        if old_ways + new_ways == 0:
            return IMPOSSIBLE, choices
        choices += (old_ways > 0) & (new_ways > 0)
        is_old = draw_below(state, old_ways + new_ways) < old_ways
        first, size = (0, held) if is_old else (held, drawn)
        place = first + draw_below(state, size)
        while (int(used[other]) >> place) & 1:
            place = first + draw_below(state, size)
        if place < youngest[code]:
            quality = LOOSE
        if not (is_old and has_all_old):  # if a hand's old cards are all known, their order is free
            youngest[code] = max(int(youngest[code]), place + 1)
        places[other * ACTION_CARDS + place] = kind
        used[other] |= 1 << place
        old_left[kind] -= is_old
        old_places[other] -= is_old
        olds -= is_old
        new_left[kind] -= not is_old
        news -= not is_old
    rest = deal_rest(state, player, old_left, new_left, old_hand, places, used, youngest)
    return min(quality, rest), choices


@kernel
def deal_rest(
    state: State, player: int, old_left: Any, new_left: Any, old_hand: Any, places: Any, used: Any, youngest: Any
) -> int:
    """Deal the unpaid cards to the other places and the stack, at random. Return how good the deal is."""
    old_cards = stack_array(ACTION_CARDS, np.int64)
    olds, size = 0, 0
    for kind in range(NUM_KINDS):
        for _ in range(old_left[kind]):
            old_cards[olds] = kind
            olds += 1
        for _ in range(new_left[kind]):
            state.action_stack[size] = kind
            size += 1
    state.action_stack[size:ACTION_CARDS] = 0

    quality, showing = STRICT, 0
    symbol = symbol_of(int(state.chosen))
    for other in range(MAX_PLAYERS):
        if other == player:
            continue
        held = int(old_hand[other])
        for place in range(held + int(state.drawn[other])):
            if (int(used[other]) >> place) & 1:
                continue
            if place < held:
                card = draw_below(state, olds)
                olds -= 1
                kind = int(old_cards[card])
                old_cards[card] = old_cards[olds]
            else:
                card = draw_below(state, size)
                size -= 1
                kind = int(state.action_stack[card])
                state.action_stack[card] = state.action_stack[size]
                state.action_stack[size] = 0
            places[other * ACTION_CARDS + place] = kind
            if place < youngest[other * NUM_KINDS + kind]:
                quality = LOOSE
            showing += (other == state.player) & shows(kind, symbol)
    state.action_stack_size = size
    possible = state.player == player or payment_can_go_on(state, showing)
    return quality if possible else IMPOSSIBLE


@kernel
def payment_can_go_on(state: State, showing: int) -> bool:
    """C19: whether the player on turn can finish the payment that has begun, with `showing` cards of its symbol.

    True if no payment has begun.
    """
    return state.phase != PAYING or can_go_on(state, showing, int(state.hand_size[state.player]) - showing)


@kernel
def take_up_hand(state: State, player: int, held: int, places: Any, used: int) -> None:
    """Rebuild the hand of `player`, its symbols and the cards it held at the last reshuffle, from its places."""
    state.hand[player, :] = 0
    state.held[player, :] = 0
    state.symbols[player, :] = 0
    for place in range(held + int(state.drawn[player])):
        kind = int(places[player * ACTION_CARDS + place])
        state.held[player, kind] += place < held
        if not (used >> place) & 1:
            state.hand[player, kind] += 1
            state.symbols[player, kind // NUM_PERSONS] += 1
            state.symbols[player, NUM_RESOURCES + kind % NUM_PERSONS] += 1


# ---------------------------------------------------------------- a better fit


@kernel
def improve(state: State, player: int, old_hand: Any, places: Any, used: Any) -> None:
    """Move a deal towards the target: `SWEEPS` times, offer each unused place the card of another place.

    The weight of a deal is one over the number of ways to explain the pile. That number is the product, over all
    payments, of how many cards could have been used for the payment. Each sweep begins with a random one of those ways.
    """
    ways = stack_array(ACTION_CARDS, np.int64)  # for each card on the pile: how many cards in hand it could have been
    free = stack_array(PLACES, np.int64)  # places that no payment has used: the old ones, then the new ones
    count_ways(state, player, old_hand, places, ways)
    symbol = symbol_of(int(state.chosen))
    for _ in range(SWEEPS):
        explain_pile(state, player, old_hand, places, used, ways)
        olds, end, showing = 0, 0, 0
        for new in range(2):
            for other in range(MAX_PLAYERS):
                if other != player:
                    held = int(old_hand[other])
                    first, stop = (held, held + int(state.drawn[other])) if new else (0, held)
                    for place in range(first, stop):
                        if not (int(used[other]) >> place) & 1:
                            number = other * ACTION_CARDS + place
                            free[end] = number
                            end += 1
                            showing += (other == state.player) & shows(int(places[number]), symbol)
            olds = end if new == 0 else olds
        for index in range(end):
            # The partner is a free place of the same pool; for a new card it may also be a card in the stack.
            begin, size = (0, olds) if index < olds else (olds, end - olds + int(state.action_stack_size))
            partner = begin + draw_below(state, size)
            showing = offer(
                state,
                old_hand,
                places,
                ways,
                int(free[index]),
                int(free[partner]) if partner < end else NO_PLACE,
                partner - end,
                showing,
            )


@kernel
def offer(state: State, old_hand: Any, places: Any, ways: Any, mine: int, other: int, depth: int, showing: int) -> int:
    """Swap the card at place `mine` with that of place `other`, or with that at `depth` in the stack, if chance allows.

    Returns:
        How many cards of the payment's symbol the player on turn has afterwards; `showing` is the number before.
    """
    kind = int(places[mine])
    offered = int(state.action_stack[depth]) if other == NO_PLACE else int(places[other])
    if kind == offered:
        return showing
    hand, place = mine // ACTION_CARDS, mine % ACTION_CARDS
    other_hand, other_place = other // ACTION_CARDS, other % ACTION_CARDS

    change = shows(offered, symbol_of(int(state.chosen))) - shows(kind, symbol_of(int(state.chosen)))
    on_turn = int(state.player)
    now_showing = showing + change * ((hand == on_turn) - (other_hand == on_turn))
    if now_showing != showing and not payment_can_go_on(state, now_showing):
        return showing

    ratio = 1.0
    for index in range(state.discard_size):
        code = int(state.pile[index])
        ratio *= ways[index] / (
            ways[index]
            + more_ways(state, old_hand, index, code, hand, place, kind, offered)
            + more_ways(state, old_hand, index, code, other_hand, other_place, offered, kind)
        )
    if draw_below(state, ODDS) >= ratio * ODDS:
        return showing
    for index in range(state.discard_size):
        code = int(state.pile[index])
        ways[index] += more_ways(state, old_hand, index, code, hand, place, kind, offered)
        ways[index] += more_ways(state, old_hand, index, code, other_hand, other_place, offered, kind)
    places[mine] = offered
    if other == NO_PLACE:
        state.action_stack[depth] = kind
    else:
        places[other] = kind
    return now_showing


@kernel
def more_ways(
    state: State, old_hand: Any, index: int, code: int, hand: int, place: int, kind: int, offered: int
) -> int:
    """How many ways to explain payment `index` are added when the card at a place changes from `kind` to `offered`."""
    if code // NUM_KINDS != hand or place >= old_hand[hand] + state.pile_drawn[index]:
        return 0
    return (code % NUM_KINDS == offered) - (code % NUM_KINDS == kind)


@kernel
def count_ways(state: State, player: int, old_hand: Any, places: Any, ways: Any) -> None:
    """Count the ways to explain each payment of another player, into `ways` [60].

    Each card of the kind that was then in the payer's hand is one way.
    """
    for index in range(state.discard_size):
        code = int(state.pile[index])
        other = code // NUM_KINDS
        ways[index] = 1
        if other != player:
            count = 0
            for place in range(int(old_hand[other]) + int(state.pile_drawn[index])):
                count += places[other * ACTION_CARDS + place] == code % NUM_KINDS
            for earlier in range(index):
                count -= state.pile[earlier] == code
            ways[index] = count


@kernel
def explain_pile(state: State, player: int, old_hand: Any, places: Any, used: Any, ways: Any) -> None:
    """Choose anew which place each payment of the others used. All explanations of the pile are equally likely."""
    for other in range(MAX_PLAYERS):
        used[other] = 0
    for index in range(state.discard_size):
        code = int(state.pile[index])
        other = code // NUM_KINDS
        if other != player:
            place, left = -1, draw_below(state, int(ways[index]))
            while left >= 0:
                place += 1
                fits = places[other * ACTION_CARDS + place] == code % NUM_KINDS
                left -= fits and not (int(used[other]) >> place) & 1
            used[other] |= 1 << place


# ---------------------------------------------------------------- resource cards


@kernel
def lay_resources_again(ruleset: Ruleset, state: State) -> None:
    """Shuffle the unseen resource cards, in the stack and face down in the row. All orders are equally likely."""
    hidden = 0  # a set of card numbers
    for slot in range(ROW_SLOTS):
        if may_reveal(state, slot):
            hidden |= 1 << int(state.row[slot])
    for index in range(state.resource_stack_size):
        hidden |= 1 << int(state.resource_stack[index])
    size = 0
    for number in range(ruleset.num_resource_cards):
        if (hidden >> number) & 1:
            state.resource_stack[size] = number
            size += 1
    state.resource_stack[size:RESOURCE_CARDS] = 0
    shuffle(state, state.resource_stack, size)
    for slot in range(ROW_SLOTS):
        if may_reveal(state, slot):
            size -= 1
            state.row[slot] = state.resource_stack[size]
    state.resource_stack_size = size
