"""What a player sees of the card game, as one flat float32 vector of named blocks.

`BLOCKS` declares every block once. The vector's size, the named slices, the table in the docs and the offsets below
come from it. Seats are relative to the observer (0 is the observer, 1 the next one to move, ...) and padded to four.
Values lie in [0, 1], signed ones in [-1, 1]; larger values are clipped.

What-if blocks come first: `gain` and `mine_cards` say what each action would bring right now, to the observer
and to each opponent. A learner profits from them most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.card.actions import (
    CARD_ACTIONS,
    HIRE_INVESTOR,
    HIRE_SALESMAN,
    HIRE_WORKER,
    MINE,
    NUM_CARD_ACTIONS,
)
from siberia_env.card.components import (
    ACTION_CARDS,
    EDITIONS,
    HAND_LIMIT,
    INVESTOR,
    NUM_KINDS,
    NUM_SYMBOLS,
    RESOURCE_CARDS,
    ROW_SLOTS,
    SALESMAN,
    WORKER,
    WORKERS,
)
from siberia_env.card.rules import (
    can_pay,
    fewest_cards,
    investor_on_offer,
    may_reveal,
    person_value,
    salesman_gain,
    salesman_on_offer,
    worker_on_offer,
)
from siberia_env.card.state import CHOOSE, DISCOVER, NOBODY, NOT_PAYING, NOTHING, OVER, PAYING, Ruleset, State
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.common.observation import PLAYER_COUNTS, scaled, seat_of, seated
from siberia_env.core.jit import kernel, kernel_part, stack_array
from siberia_env.game import MAX_PLAYERS, Block, block_offsets, block_scales

NUM_PHASES = len((DISCOVER, CHOOSE, PAYING))
NUM_PAYMENT_STEPS = 3
MONEY_UNIT = 32  # thousands
KIND_UNIT = 4  # cards of one kind
VALUE_UNIT = 8  # thousands, one resource card

# The numbers of all resources are packed into one number of 64 bits, so one addition adds them all.
COUNT_BITS, SUM_BITS = 8, 12
MOST_COUNT, MOST_SUM = 2**COUNT_BITS - 1, 2**SUM_BITS - 1

BLOCKS: tuple[Block, ...] = (
    Block(
        "gain",
        (MAX_PLAYERS, NUM_CARD_ACTIONS),
        "all",
        MONEY_UNIT,
        "what if: thousands by which each card action would raise the seat's score now; 0 for a person who is not "
        "in the supply",
    ),
    Block("mine_cards", (MAX_PLAYERS, NUM_RESOURCES), "all", ROW_SLOTS, "what if: cards `mine` would bring now"),
    Block("payable", (NUM_CARD_ACTIONS,), "observer", 1, "1 if the own hand pays for the action and it is on offer"),
    Block("payment", (NUM_SYMBOLS,), "observer", 3, "fewest own cards that pay for the symbol; 0 if none do"),
    Block("hand", (NUM_KINDS,), "observer", KIND_UNIT, "own action cards by kind"),
    Block("symbols", (NUM_SYMBOLS,), "observer", HAND_LIMIT, "own action cards that show the symbol"),
    Block("hand_sizes", (MAX_PLAYERS,), "all", HAND_LIMIT, "action cards in hand"),
    Block(
        "known_hand",
        (NUM_KINDS,),
        "observer",
        KIND_UNIT,
        "cards the observer knows the others to hold together: their hands at the last reshuffle less what they paid "
        "since",
    ),
    Block("exposed_hand", (NUM_KINDS,), "all", KIND_UNIT, "2 players: own cards that the other one knows"),
    Block("row_resource", (ROW_SLOTS, NUM_RESOURCES), "all", 1, "resource of the slot's face-up card, one-hot"),
    Block("row_value", (ROW_SLOTS,), "all", VALUE_UNIT, "thousands printed on the slot's face-up card"),
    Block("row_hidden", (ROW_SLOTS,), "all", 1, "1 if the slot's card lies face down"),
    Block("workers", (MAX_PLAYERS,), "all", WORKERS, "workers"),
    Block("salesmen", (MAX_PLAYERS, NUM_SYMBOLS), "all", 1, "1 if the seat has the salesman"),
    Block("investors", (MAX_PLAYERS, NUM_RESOURCES), "all", 1, "1 if the seat has the investor"),
    Block("workers_left", (1,), "all", WORKERS, "workers in the supply"),
    Block("captured", (MAX_PLAYERS, NUM_RESOURCES), "all", 10, "captured cards by resource"),
    Block("captured_value", (MAX_PLAYERS, NUM_RESOURCES), "all", MONEY_UNIT, "thousands printed on them"),
    Block("scores", (MAX_PLAYERS,), "all", 160, "score as of now, thousands"),
    Block(
        "margin",
        (MAX_PLAYERS,),
        "all",
        MONEY_UNIT,
        "own score less the best other one (first number), less that of seats 1 to 3, thousands",
        signed=True,
    ),
    Block(
        "unseen_actions",
        (NUM_KINDS,),
        "observer",
        KIND_UNIT,
        "action cards by kind that lie in the stack or in a hand, neither in the own nor in `known_hand`",
    ),
    Block("unseen_resources", (NUM_RESOURCES,), "all", 10, "resource cards nobody has seen, by resource"),
    Block("unseen_value", (NUM_RESOURCES,), "all", VALUE_UNIT, "mean printed value of those, thousands"),
    Block("discard", (NUM_KINDS,), "all", KIND_UNIT, "discard pile by kind"),
    Block("stacks", (2,), "all", ACTION_CARDS, "cards in the action stack, in the discard pile"),
    Block("phase", (NUM_PHASES,), "all", 1, "what is being decided: discover, choose, pay; one-hot"),
    Block("turn_of", (MAX_PLAYERS,), "all", 1, "whose turn it is, one-hot"),
    Block("pending", (NUM_CARD_ACTIONS,), "all", 1, "the action being paid for, one-hot"),
    Block(
        "payment_step",
        (NUM_PAYMENT_STEPS,),
        "all",
        1,
        "the next card has to show the symbol; completes the payment or is the first of two; is the last of two; "
        "one-hot",
    ),
    Block("to_reveal", (2,), "all", RESOURCE_CARDS, "resource cards in the stack; and those face down in the row too"),
    Block("end_in_sight", (1,), "all", 1, "1 once the last resource card is revealed (C15)"),
    Block("turns_to_end", (1,), "all", MAX_PLAYERS + 1, "then: turns to go, this one included"),
    Block("own_turns_to_end", (1,), "all", 2, "then: own turns to go, this one included"),
    Block("turns_left", (1,), "all", 1, "turns left before the limit (C17), as a part of all"),
    Block("present", (MAX_PLAYERS,), "all", 1, "1 if the seat is taken"),
    Block("num_players", (PLAYER_COUNTS,), "all", 1, "2, 3, 4; one-hot"),
    Block("edition", (len(EDITIONS),), "all", 1, ", ".join(EDITIONS) + "; one-hot"),
    Block("seat", (MAX_PLAYERS,), "all", 1, "the observer's seat number, one-hot"),
)

NEXT_ACTION_CARDS = 2  # as many cards as one draw can take
NEXT_RESOURCE_CARDS = 3

HIDDEN_BLOCKS: tuple[Block, ...] = (
    Block("hands", (MAX_PLAYERS, NUM_KINDS), "nobody", KIND_UNIT, "every hand by kind, seat 0 first"),
    Block("hidden_resource", (ROW_SLOTS, NUM_RESOURCES), "nobody", 1, "resource of the face-down card, one-hot"),
    Block("hidden_value", (ROW_SLOTS,), "nobody", VALUE_UNIT, "thousands printed on the face-down card"),
    Block("next_actions", (NEXT_ACTION_CARDS, NUM_KINDS), "nobody", 1, "top of the action stack, one-hot"),
    Block("next_resource", (NEXT_RESOURCE_CARDS, NUM_RESOURCES), "nobody", 1, "top of the resource stack, one-hot"),
    Block("next_value", (NEXT_RESOURCE_CARDS,), "nobody", VALUE_UNIT, "thousands printed on those"),
)

SIZE = sum(block.size for block in BLOCKS)
SCALES = block_scales(BLOCKS)
HIDDEN_SCALES = block_scales(HIDDEN_BLOCKS)

#: Where each block starts: `AT.gain`. Numba freezes a tuple of integers, but not a dictionary.
AT = block_offsets(BLOCKS)
HIDDEN_AT = block_offsets(HIDDEN_BLOCKS)


@kernel
def observe(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """Write what `player` sees into `observation` (float32): quantities block by block, then all scaled at once."""
    quantities = stack_array(SIZE, np.int16)  # whole numbers, written without jumps; `_fractions` come last
    for index in range(SIZE):
        quantities[index] = 0
    _what_if(ruleset, state, player, quantities)
    _own_hand(ruleset, state, player, quantities)
    _row(ruleset, state, quantities)
    _seats(ruleset, state, player, quantities)
    _unseen(ruleset, state, player, quantities)
    _turn(ruleset, state, player, quantities)
    for index in range(SIZE):
        observation[index] = scaled(np.float32(quantities[index]), SCALES[index])
    _fractions(ruleset, state, quantities, observation)


@kernel_part
def _what_if(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """`gain` and `mine_cards`: what each action would bring now, to each seat."""
    players = int(ruleset.num_players)
    rank, owner = stack_array(ROW_SLOTS, np.int64), stack_array(ROW_SLOTS, np.int64)
    value, best_value = stack_array(ROW_SLOTS, np.int64), stack_array(ROW_SLOTS, np.int64)
    face_up = 0  # all resources in one number: face-up cards up to here, from the headframe on (C11)
    for slot in range(ROW_SLOTS):
        shown = int(state.face_up[slot])
        number = int(state.row[slot]) * shown  # card 0 while hidden: nothing of it counts
        resource = int(ruleset.card_resource[number])
        nearer = (face_up >> (COUNT_BITS * resource)) & MOST_COUNT
        rank[slot] = nearer + ((1 - shown) << COUNT_BITS)  # a hidden card is out of reach of any number of workers
        owner[slot] = state.salesman_owner[resource]
        value[slot] = int(ruleset.card_value[number]) << (SUM_BITS * resource)
        best_value[slot] = int(ruleset.card_best_value[number]) << (SUM_BITS * resource)
        face_up += shown << (COUNT_BITS * resource)
    for seat in range(MAX_PLAYERS):
        other, present = seated(player, seat, players), seat < players
        gain = AT.gain + seat * NUM_CARD_ACTIONS - CARD_ACTIONS
        workers = int(state.workers[other])
        mined = 0  # all resources in one number
        for slot in range(ROW_SLOTS):
            worth = int(best_value[slot]) if owner[slot] == other else int(value[slot])
            mined += worth if rank[slot] < workers else 0
        for resource in range(NUM_RESOURCES):
            quantities[gain + MINE + resource] = (mined >> (SUM_BITS * resource)) & MOST_SUM
            cards = min(workers, (face_up >> (COUNT_BITS * resource)) & MOST_COUNT)
            quantities[AT.mine_cards + seat * NUM_RESOURCES + resource] = cards
        worker = person_value(ruleset, state, other, WORKER)
        investor = person_value(ruleset, state, other, INVESTOR)
        quantities[gain + HIRE_WORKER] = (present & (state.workers_left > 0)) * worker
        for symbol in range(NUM_SYMBOLS):
            offered = present & salesman_on_offer(state, symbol)
            quantities[gain + HIRE_SALESMAN + symbol] = offered * salesman_gain(ruleset, state, other, symbol)
        for resource in range(NUM_RESOURCES):
            quantities[gain + HIRE_INVESTOR + resource] = (present & investor_on_offer(state, resource)) * investor


@kernel_part
def _own_hand(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """`payable`, `payment`, `hand`, `symbols`, and with two players what the opponent knows of the hand."""
    for symbol in range(NUM_SYMBOLS):
        quantities[AT.symbols + symbol] = state.symbols[player, symbol]
        quantities[AT.payment + symbol] = fewest_cards(state, player, symbol)
    payable = AT.payable - CARD_ACTIONS
    for resource in range(NUM_RESOURCES):
        quantities[payable + MINE + resource] = can_pay(state, player, resource)
    salesman, investor = can_pay(state, player, SALESMAN), can_pay(state, player, INVESTOR)
    quantities[payable + HIRE_WORKER] = can_pay(state, player, WORKER) & worker_on_offer(ruleset, state, player)
    for symbol in range(NUM_SYMBOLS):
        quantities[payable + HIRE_SALESMAN + symbol] = salesman & salesman_on_offer(state, symbol)
    for resource in range(NUM_RESOURCES):
        quantities[payable + HIRE_INVESTOR + resource] = investor & investor_on_offer(state, resource)
    for kind in range(NUM_KINDS):
        quantities[AT.hand + kind] = state.hand[player, kind]
    if ruleset.num_players == 2:
        for kind in range(NUM_KINDS):
            quantities[AT.exposed_hand + kind] = state.known[1 - player, kind]


@kernel_part
def _row(ruleset: Ruleset, state: State, quantities: Any) -> None:
    """`row_resource`, `row_value`, `row_hidden`."""
    for slot in range(ROW_SLOTS):
        shown = int(state.face_up[slot])
        number = int(state.row[slot]) * shown
        quantities[AT.row_resource + slot * NUM_RESOURCES + int(ruleset.card_resource[number])] = shown
        quantities[AT.row_value + slot] = shown * int(ruleset.card_value[number])
        quantities[AT.row_hidden + slot] = may_reveal(state, slot)


@kernel_part
def _seats(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """What each player holds (hand sizes, persons, captured cards, scores, margins), and who sits at the table."""
    players = int(ruleset.num_players)
    own_score = int(state.score[player])
    best_other = -1
    for seat in range(MAX_PLAYERS):
        other, present = seated(player, seat, players), seat < players
        quantities[AT.present + seat] = present
        quantities[AT.hand_sizes + seat] = state.hand_size[other]
        quantities[AT.workers + seat] = state.workers[other]
        for resource in range(NUM_RESOURCES):
            index = seat * NUM_RESOURCES + resource
            quantities[AT.captured + index] = state.captured[other, resource]
            quantities[AT.captured_value + index] = state.captured_value[other, resource]
        score = int(state.score[other])
        quantities[AT.scores + seat] = score
        quantities[AT.margin + seat] = present * (own_score - score)
        if seat > 0:
            best_other = max(best_other, score if present else -1)
    quantities[AT.margin] = own_score - best_other
    for symbol in range(NUM_SYMBOLS):
        owner = int(state.salesman_owner[symbol])
        quantities[AT.salesmen + seat_of(owner, player, players) * NUM_SYMBOLS + symbol] = owner != NOBODY
    for resource in range(NUM_RESOURCES):
        owner = int(state.investor_owner[resource])
        quantities[AT.investors + seat_of(owner, player, players) * NUM_RESOURCES + resource] = owner != NOBODY
    quantities[AT.workers_left] = state.workers_left
    quantities[AT.num_players + players - 2] = 1
    quantities[AT.edition + int(ruleset.edition)] = 1
    quantities[AT.seat + player] = 1


@kernel_part
def _unseen(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """Known and unseen cards, the discard pile, the sizes of the stacks, and the sum behind `unseen_value`."""
    for kind in range(NUM_KINDS):
        known = int(state.known[player, kind])
        unseen = int(ruleset.action_cards[kind]) - int(state.hand[player, kind]) - int(state.discard[kind])
        quantities[AT.known_hand + kind] = known
        quantities[AT.unseen_actions + kind] = unseen - known
        quantities[AT.discard + kind] = state.discard[kind]
    face_up, values = 0, 0  # all resources in one number
    for slot in range(ROW_SLOTS):
        shown = int(state.face_up[slot])
        number = int(state.row[slot]) * shown
        resource = int(ruleset.card_resource[number])
        face_up += shown << (COUNT_BITS * resource)
        values += (shown * int(ruleset.card_value[number])) << (SUM_BITS * resource)
    for resource in range(NUM_RESOURCES):
        cards = int(ruleset.resource_cards[resource]) - ((face_up >> (COUNT_BITS * resource)) & MOST_COUNT)
        value = int(ruleset.resource_value[resource]) - ((values >> (SUM_BITS * resource)) & MOST_SUM)
        for other in range(MAX_PLAYERS):
            cards -= int(state.captured[other, resource])
            value -= int(state.captured_value[other, resource])
        quantities[AT.unseen_resources + resource] = cards
        quantities[AT.unseen_value + resource] = value
    quantities[AT.stacks] = state.action_stack_size
    quantities[AT.stacks + 1] = state.discard_size


@kernel_part
def _turn(ruleset: Ruleset, state: State, player: int, quantities: Any) -> None:
    """What is being decided, by whom, and how far the end is."""
    players = int(ruleset.num_players)
    phase, chosen, payment = int(state.phase), int(state.chosen), int(state.payment)
    to_move = seat_of(int(state.player), player, players)
    quantities[AT.phase + min(phase, NUM_PHASES - 1)] = phase < NUM_PHASES
    quantities[AT.turn_of + to_move] = phase != OVER
    quantities[AT.pending + max(chosen, 0)] = chosen != NOTHING
    quantities[AT.payment_step + max(payment - 1, 0)] = payment != NOT_PAYING
    quantities[AT.to_reveal] = state.resource_stack_size
    quantities[AT.to_reveal + 1] = int(state.resource_stack_size) + int(state.face_down)
    turns_to_end = int(state.turns_to_end)
    others_first = players - to_move if to_move > 0 else 0
    quantities[AT.end_in_sight] = turns_to_end > 0
    quantities[AT.turns_to_end] = turns_to_end
    quantities[AT.own_turns_to_end] = (others_first < turns_to_end) + (others_first + players < turns_to_end)


@kernel_part
def _fractions(ruleset: Ruleset, state: State, quantities: Any, observation: Any) -> None:
    """`unseen_value`, the mean of the values whose sum `_unseen` has written, and `turns_left`."""
    for resource in range(NUM_RESOURCES):
        cards = max(np.float32(quantities[AT.unseen_resources + resource]), np.float32(1))
        mean = np.float32(quantities[AT.unseen_value + resource]) / cards
        observation[AT.unseen_value + resource] = scaled(mean, SCALES[AT.unseen_value])
    observation[AT.turns_left] = 1.0 - int(state.turn) / int(ruleset.max_turns)


@kernel
def observe_hidden(ruleset: Ruleset, state: State, observation: Any) -> None:
    """Write what nobody sees into `observation` (float32), seat 0 first."""
    observation[:] = np.float32(0)
    for player in range(ruleset.num_players):
        for kind in range(NUM_KINDS):
            observation[HIDDEN_AT.hands + player * NUM_KINDS + kind] = state.hand[player, kind]
    for slot in range(ROW_SLOTS):
        if may_reveal(state, slot):
            number = int(state.row[slot])
            observation[HIDDEN_AT.hidden_resource + slot * NUM_RESOURCES + int(ruleset.card_resource[number])] = 1
            observation[HIDDEN_AT.hidden_value + slot] = ruleset.card_value[number]
    for depth in range(min(NEXT_ACTION_CARDS, int(state.action_stack_size))):
        kind = int(state.action_stack[int(state.action_stack_size) - 1 - depth])
        observation[HIDDEN_AT.next_actions + depth * NUM_KINDS + kind] = 1
    for depth in range(min(NEXT_RESOURCE_CARDS, int(state.resource_stack_size))):
        number = int(state.resource_stack[int(state.resource_stack_size) - 1 - depth])
        observation[HIDDEN_AT.next_resource + depth * NUM_RESOURCES + int(ruleset.card_resource[number])] = 1
        observation[HIDDEN_AT.next_value + depth] = ruleset.card_value[number]
    for index in range(HIDDEN_SCALES.shape[0]):
        observation[index] = scaled(observation[index], HIDDEN_SCALES[index])
