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

from typing import Any, NamedTuple

import numpy as np

from siberia_env.card.components import ACTION_CARDS, NUM_KINDS, NUM_PERSONS, RESOURCE_CARDS, ROW_SLOTS
from siberia_env.card.rules import can_go_on, held_by_others, know_held_cards, may_reveal, see_payment, shows, symbol_of
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


class Cards(NamedTuple):
    """Cards that a player can't place, by kind."""

    old: Any  #: int64 [15]: those that the others held together at the last reshuffle
    new: Any  #: int64 [15]: those that the others have drawn since, or that are still in the stack


class Hands(NamedTuple):
    """The others' hands as places, while they are dealt again."""

    held: Any  #: int64 [4]: how many cards each player held at the last reshuffle, the number of the old places
    places: Any  #: int64 [240]: the kind at each place
    used: Any  #: int64 [4]: each player's set of places whose cards have been paid


@kernel
def determinize(ruleset: Ruleset, state: State, player: int, generator: Any) -> None:
    """Deal again what `player` can't know (C18), consistent with what it knows. The state gets a new generator.

    The result depends only on what `player` sees and on `generator` (uint64), never on the hidden cards themselves.
    Equal information sets and equal generators give equal states.
    """
    state.generator = sample_stream(generator)
    deal_hands_again(ruleset, state, player)
    lay_resources_again(ruleset, state)


@kernel
def redraw(ruleset: Ruleset, state: State, generator: Any) -> None:
    """Shuffle again what lies face down for everybody: the action stack, and resource cards. Hands stay as they are."""
    state.generator = sample_stream(generator)
    shuffle(state, state.action_stack, int(state.action_stack_size))
    lay_resources_again(ruleset, state)


# ---------------------------------------------------------------- action cards


@kernel
def deal_hands_again(ruleset: Ruleset, state: State, player: int) -> None:
    """Draw the others' hands and the order of the stack from the cards that `player` can't place."""
    held, used = stack_array(MAX_PLAYERS, np.int64), stack_array(MAX_PLAYERS, np.int64)
    cards = Cards(stack_array(NUM_KINDS, np.int64), stack_array(NUM_KINDS, np.int64))
    hands = Hands(held, stack_array(PLACES, np.int64), used)
    count_unknown(ruleset, state, player, cards, hands)

    tries, choices, quality = 0, 0, IMPOSSIBLE
    while quality == IMPOSSIBLE or (quality == LOOSE and tries < STRICT_TRIES):
        quality, choices = deal_places(state, player, cards, hands)
        tries += 1
    if quality == LOOSE or choices > 0:
        improve(state, player, hands)
    shuffle(state, state.action_stack, int(state.action_stack_size))
    for other in range(ruleset.num_players):
        if other != player:
            take_up_hand(state, other, hands)
    know_held_cards(ruleset, state)
    for index in range(state.discard_size):
        code = int(state.pile[index])
        see_payment(state, code // NUM_KINDS, code % NUM_KINDS)


@kernel
def count_unknown(ruleset: Ruleset, state: State, player: int, cards: Any, hands: Any) -> None:
    """Write what `player` knows of the cards it can't place into `cards` and `hands.held`."""
    old, new = cards.old, cards.new
    for kind in range(NUM_KINDS):
        old[kind] = held_by_others(state, player, kind)
        new[kind] = int(ruleset.action_cards[kind]) - int(old[kind]) - int(state.hand[player, kind])
    for index in range(state.discard_size):
        code = int(state.pile[index])
        if code // NUM_KINDS == player:
            new[code % NUM_KINDS] -= 1
    for other in range(MAX_PLAYERS):
        hands.held[other] = 0
        if other != player:
            for kind in range(NUM_KINDS):
                hands.held[other] += int(state.held[other, kind])


@kernel
def deal_places(state: State, player: int, cards: Any, hands: Any) -> tuple[int, int]:
    """Fill the others' places and the stack once with `cards`. The stack is not shuffled yet.

    Returns:
        Whether the deal is `IMPOSSIBLE`, `LOOSE` or `STRICT`, and for how many payments there was a choice between an
        old card and a new one.
    """
    old_hand, places, used = hands.held, hands.places, hands.used
    old_left, new_left = stack_array(NUM_KINDS, np.int64), stack_array(NUM_KINDS, np.int64)
    old_places = stack_array(MAX_PLAYERS, np.int64)  # of each hand: old places not used yet
    youngest = stack_array(PILE_CODES, np.int64)  # 1 + the last place of a hand that paid a card of a kind; 0: none
    olds, news = 0, 0
    for kind in range(NUM_KINDS):
        old_left[kind], new_left[kind] = cards.old[kind], cards.new[kind]
        olds += int(cards.old[kind])
        news += int(cards.new[kind])
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
    rest = deal_rest(state, player, Cards(old_left, new_left), hands, youngest)
    return min(quality, rest), choices


@kernel
def deal_rest(state: State, player: int, left: Any, hands: Any, youngest: Any) -> int:
    """Deal the unpaid `Cards` that are left to the other places and the stack, at random. Return how good the deal is.

    `youngest` comes from `deal_places`.
    """
    places, used = hands.places, hands.used
    old_cards = stack_array(ACTION_CARDS, np.int64)
    olds, size = 0, 0
    for kind in range(NUM_KINDS):
        for _ in range(left.old[kind]):
            old_cards[olds] = kind
            olds += 1
        for _ in range(left.new[kind]):
            state.action_stack[size] = kind
            size += 1
    state.action_stack[size:ACTION_CARDS] = 0

    quality, showing = STRICT, 0
    symbol = symbol_of(int(state.chosen))
    for other in range(MAX_PLAYERS):
        if other == player:
            continue
        held = int(hands.held[other])
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
def take_up_hand(state: State, player: int, hands: Any) -> None:
    """Rebuild the hand of `player`, its symbols and the cards it held at the last reshuffle, from its places."""
    held, places, used = int(hands.held[player]), hands.places, int(hands.used[player])
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
def improve(state: State, player: int, hands: Any) -> None:
    """Move a deal towards the target: `SWEEPS` times, offer each unused place the card of another place.

    The weight of a deal is one over the number of ways to explain the pile. That number is the product, over all
    payments, of how many cards could have been used for the payment. Each sweep begins with a random one of those ways.
    """
    old_hand, places, used = hands.held, hands.places, hands.used
    ways = stack_array(ACTION_CARDS, np.int64)  # for each card on the pile: how many cards in hand it could have been
    free = stack_array(PLACES, np.int64)  # places that no payment has used: the old ones, then the new ones
    count_ways(state, player, hands, ways)
    symbol = symbol_of(int(state.chosen))
    for _ in range(SWEEPS):
        explain_pile(state, player, hands, ways)
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
                hands,
                ways,
                int(free[index]),
                int(free[partner]) if partner < end else NO_PLACE,
                partner - end,
                showing,
            )


@kernel
def offer(state: State, hands: Any, ways: Any, mine: int, other: int, depth: int, showing: int) -> int:
    """Swap the card at place `mine` with that of place `other`, or with that at `depth` in the stack, if chance allows.

    Returns:
        How many cards of the payment's symbol the player on turn has afterwards; `showing` is the number before.
    """
    places = hands.places
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
            + more_ways(state, hands, index, code, hand, place, kind, offered)
            + more_ways(state, hands, index, code, other_hand, other_place, offered, kind)
        )
    if draw_below(state, ODDS) >= ratio * ODDS:
        return showing
    for index in range(state.discard_size):
        code = int(state.pile[index])
        ways[index] += more_ways(state, hands, index, code, hand, place, kind, offered)
        ways[index] += more_ways(state, hands, index, code, other_hand, other_place, offered, kind)
    places[mine] = offered
    if other == NO_PLACE:
        state.action_stack[depth] = kind
    else:
        places[other] = kind
    return now_showing


@kernel
def more_ways(state: State, hands: Any, index: int, code: int, hand: int, place: int, kind: int, offered: int) -> int:
    """How many ways to explain payment `index` are added when the card at a place changes from `kind` to `offered`."""
    if code // NUM_KINDS != hand or place >= hands.held[hand] + state.pile_drawn[index]:
        return 0
    return (code % NUM_KINDS == offered) - (code % NUM_KINDS == kind)


@kernel
def count_ways(state: State, player: int, hands: Any, ways: Any) -> None:
    """Count the ways to explain each payment of another player, into `ways` [60].

    Each card of the kind that was then in the payer's hand is one way.
    """
    for index in range(state.discard_size):
        code = int(state.pile[index])
        other = code // NUM_KINDS
        ways[index] = 1
        if other != player:
            count = 0
            for place in range(int(hands.held[other]) + int(state.pile_drawn[index])):
                count += hands.places[other * ACTION_CARDS + place] == code % NUM_KINDS
            for earlier in range(index):
                count -= state.pile[earlier] == code
            ways[index] = count


@kernel
def explain_pile(state: State, player: int, hands: Any, ways: Any) -> None:
    """Choose anew which place each payment of the others used. All explanations of the pile are equally likely."""
    places, used = hands.places, hands.used
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
