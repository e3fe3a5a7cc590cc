"""What a player sees of the card game, as one flat float32 vector of named blocks.

`BLOCKS` declares every block once: the vector's size, the named slices, the table in the docs and the offsets
below come from it. Seats are relative to the observer (0 the observer, 1 the next one to move, ...) and padded
to four; values lie in [0, 1], signed ones in [-1, 1], larger ones are clipped.

What-if blocks come first: `gain` and `mine_cards` say what each action would bring right now, to the observer
and to each opponent. They are what a learner profits from most.
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
    MAX_PLAYERS,
    NUM_KINDS,
    NUM_RESOURCES,
    NUM_SYMBOLS,
    RESOURCE_CARDS,
    ROW_SLOTS,
    SALESMAN,
    WORKER,
    WORKERS,
)
from siberia_env.card.rules import (
    can_pay,
    has_investor,
    investor_on_offer,
    may_reveal,
    person_value,
    salesman_gain,
    salesman_on_offer,
    worker_on_offer,
)
from siberia_env.card.state import CHOOSE, DISCOVER, EMPTY, NOT_PAYING, NOTHING, OVER, PAYING, Ruleset, State
from siberia_env.compiled import kernel
from siberia_env.game import Block, block_scales, block_slices

NUM_PHASES = len((DISCOVER, CHOOSE, PAYING))
NUM_PAYMENT_STEPS = 3
PLAYER_COUNTS = MAX_PLAYERS - 1
MONEY_UNIT = 32  # thousands
KIND_UNIT = 4  # cards of one kind
VALUE_UNIT = 8  # thousands, one resource card

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
    Block("known_hand", (NUM_KINDS,), "all", KIND_UNIT, "2 players: cards the observer knows in the other hand"),
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
    Block("unseen_actions", (NUM_KINDS,), "observer", KIND_UNIT, "action cards the observer can't place, by kind"),
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

NEXT_ACTION_CARDS = 2  # as many as one draw can take
NEXT_RESOURCE_CARDS = 3

HIDDEN_BLOCKS: tuple[Block, ...] = (
    Block("hands", (MAX_PLAYERS, NUM_KINDS), "nobody", KIND_UNIT, "every hand by kind, seat 0 first"),
    Block("hidden_resource", (ROW_SLOTS, NUM_RESOURCES), "nobody", 1, "resource of the face-down card, one-hot"),
    Block("hidden_value", (ROW_SLOTS,), "nobody", VALUE_UNIT, "thousands printed on the face-down card"),
    Block("next_actions", (NEXT_ACTION_CARDS, NUM_KINDS), "nobody", 1, "top of the action stack, one-hot"),
    Block("next_resource", (NEXT_RESOURCE_CARDS, NUM_RESOURCES), "nobody", 1, "top of the resource stack, one-hot"),
    Block("next_value", (NEXT_RESOURCE_CARDS,), "nobody", VALUE_UNIT, "thousands printed on those"),
)

SCALES = block_scales(BLOCKS)
HIDDEN_SCALES = block_scales(HIDDEN_BLOCKS)

# Offsets as plain integers: numba freezes those, not a dictionary.
_START = {name: slice_.start for name, slice_ in block_slices(BLOCKS).items()}
GAIN: int = _START["gain"]
MINE_CARDS: int = _START["mine_cards"]
PAYABLE: int = _START["payable"]
PAYMENT: int = _START["payment"]
HAND: int = _START["hand"]
SYMBOL_COUNTS: int = _START["symbols"]
HAND_SIZES: int = _START["hand_sizes"]
KNOWN_HAND: int = _START["known_hand"]
EXPOSED_HAND: int = _START["exposed_hand"]
ROW_RESOURCE: int = _START["row_resource"]
ROW_VALUE: int = _START["row_value"]
ROW_HIDDEN: int = _START["row_hidden"]
WORKER_COUNTS: int = _START["workers"]
SALESMEN: int = _START["salesmen"]
INVESTORS: int = _START["investors"]
WORKERS_LEFT: int = _START["workers_left"]
CAPTURED: int = _START["captured"]
CAPTURED_VALUE: int = _START["captured_value"]
SCORES: int = _START["scores"]
MARGIN: int = _START["margin"]
UNSEEN_ACTIONS: int = _START["unseen_actions"]
UNSEEN_RESOURCES: int = _START["unseen_resources"]
UNSEEN_VALUE: int = _START["unseen_value"]
DISCARD: int = _START["discard"]
STACKS: int = _START["stacks"]
PHASE: int = _START["phase"]
TURN_OF: int = _START["turn_of"]
PENDING: int = _START["pending"]
PAYMENT_STEP: int = _START["payment_step"]
TO_REVEAL: int = _START["to_reveal"]
END_IN_SIGHT: int = _START["end_in_sight"]
TURNS_TO_END: int = _START["turns_to_end"]
OWN_TURNS_TO_END: int = _START["own_turns_to_end"]
TURNS_LEFT: int = _START["turns_left"]
PRESENT: int = _START["present"]
PLAYERS: int = _START["num_players"]
EDITION: int = _START["edition"]
SEAT: int = _START["seat"]

_HIDDEN_START = {name: slice_.start for name, slice_ in block_slices(HIDDEN_BLOCKS).items()}
HANDS: int = _HIDDEN_START["hands"]
HIDDEN_RESOURCE: int = _HIDDEN_START["hidden_resource"]
HIDDEN_VALUE: int = _HIDDEN_START["hidden_value"]
NEXT_ACTIONS: int = _HIDDEN_START["next_actions"]
NEXT_RESOURCE: int = _HIDDEN_START["next_resource"]
NEXT_VALUE: int = _HIDDEN_START["next_value"]


@kernel
def observe(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """Write what `player` sees into `observation` (float32): quantities block by block, then all scaled at once."""
    observation[:] = np.float32(0)
    _what_if(ruleset, state, player, observation)
    _own_hand(ruleset, state, player, observation)
    _row(ruleset, state, observation)
    _seats(ruleset, state, player, observation)
    _unseen(ruleset, state, player, observation)
    _turn(ruleset, state, player, observation)
    _scale(observation, SCALES)


@kernel
def _scale(observation: Any, scales: Any) -> None:
    """From quantities to values in [-1, 1]."""
    for index in range(scales.shape[0]):
        observation[index] = max(min(observation[index] * scales[index], np.float32(1)), np.float32(-1))


@kernel
def _seated(player: int, seat: int, players: int) -> int:
    """The player who sits `seat` seats after `player`."""
    other = player + seat
    return other - players if other >= players else other


@kernel
def _what_if(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """`gain` and `mine_cards`: what each action would bring now, to each seat."""
    players = int(ruleset.num_players)
    ranks = 0  # eight bits a resource: its face-up cards nearer to the headframe (C11)
    for slot in range(ROW_SLOTS):
        if state.face_up[slot] == 0:
            continue
        number = int(state.row[slot])
        resource = int(ruleset.card_resource[number])
        value = np.float32(ruleset.card_value[number])
        best_value = np.float32(ruleset.card_best_value[number])
        owner = int(state.salesman_owner[resource])
        rank = (ranks >> (8 * resource)) & 255
        ranks += 1 << (8 * resource)
        for seat in range(players):
            other = _seated(player, seat, players)
            if rank < state.workers[other]:
                index = GAIN + seat * NUM_CARD_ACTIONS + resource
                observation[index] += best_value if owner == other else value
                observation[MINE_CARDS + seat * NUM_RESOURCES + resource] += np.float32(1)
    for seat in range(players):
        other = _seated(player, seat, players)
        gain = GAIN + seat * NUM_CARD_ACTIONS - CARD_ACTIONS
        if state.workers_left > 0:
            observation[gain + HIRE_WORKER] = person_value(ruleset, state, other, WORKER)
        for symbol in range(NUM_SYMBOLS):
            if salesman_on_offer(state, symbol):
                observation[gain + HIRE_SALESMAN + symbol] = salesman_gain(ruleset, state, other, symbol)
        investor = person_value(ruleset, state, other, INVESTOR)
        for resource in range(NUM_RESOURCES):
            if investor_on_offer(state, resource):
                observation[gain + HIRE_INVESTOR + resource] = investor


@kernel
def _own_hand(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """`payable`, `payment`, `hand`, `symbols`, and the known parts of hands."""
    for symbol in range(NUM_SYMBOLS):
        observation[SYMBOL_COUNTS + symbol] = state.symbols[player, symbol]
        observation[PAYMENT + symbol] = fewest_cards(state, player, symbol)
    payable = PAYABLE - CARD_ACTIONS
    for resource in range(NUM_RESOURCES):
        observation[payable + MINE + resource] = can_pay(state, player, resource)
    if can_pay(state, player, WORKER):
        observation[payable + HIRE_WORKER] = worker_on_offer(ruleset, state, player)
    if can_pay(state, player, SALESMAN):
        for symbol in range(NUM_SYMBOLS):
            observation[payable + HIRE_SALESMAN + symbol] = salesman_on_offer(state, symbol)
    if can_pay(state, player, INVESTOR):
        for resource in range(NUM_RESOURCES):
            observation[payable + HIRE_INVESTOR + resource] = investor_on_offer(state, resource)
    for kind in range(NUM_KINDS):
        observation[HAND + kind] = state.hand[player, kind]
    if ruleset.num_players == 2:
        for kind in range(NUM_KINDS):
            observation[KNOWN_HAND + kind] = state.known[1 - player, kind]
            observation[EXPOSED_HAND + kind] = state.known[player, kind]


@kernel
def fewest_cards(state: State, player: int, symbol: int) -> int:
    """The fewest cards with which `player` can pay for `symbol` (C10); 0 if it can't be paid."""
    if not can_pay(state, player, symbol):
        return 0
    needed = 1 if has_investor(state, player, symbol) else 2
    return needed if state.symbols[player, symbol] >= needed else needed + 1


@kernel
def _row(ruleset: Ruleset, state: State, observation: Any) -> None:
    """`row_resource`, `row_value`, `row_hidden`."""
    for slot in range(ROW_SLOTS):
        if may_reveal(state, slot):
            observation[ROW_HIDDEN + slot] = 1
        elif state.row[slot] != EMPTY:
            number = int(state.row[slot])
            observation[ROW_RESOURCE + slot * NUM_RESOURCES + int(ruleset.card_resource[number])] = 1
            observation[ROW_VALUE + slot] = ruleset.card_value[number]


@kernel
def _seats(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """What each player holds: hand sizes, persons, captured cards, scores and margins."""
    players = int(ruleset.num_players)
    own_score = int(state.score[player])
    best_other = -1
    for seat in range(players):
        other = _seated(player, seat, players)
        observation[PRESENT + seat] = 1
        observation[HAND_SIZES + seat] = state.hand_size[other]
        observation[WORKER_COUNTS + seat] = state.workers[other]
        for symbol in range(NUM_SYMBOLS):
            observation[SALESMEN + seat * NUM_SYMBOLS + symbol] = state.salesman_owner[symbol] == other
        for resource in range(NUM_RESOURCES):
            index = seat * NUM_RESOURCES + resource
            observation[INVESTORS + index] = state.investor_owner[resource] == other
            observation[CAPTURED + index] = state.captured[other, resource]
            observation[CAPTURED_VALUE + index] = state.captured_value[other, resource]
        score = int(state.score[other])
        observation[SCORES + seat] = score
        if seat > 0:
            best_other = max(best_other, score)
            observation[MARGIN + seat] = own_score - score
    observation[MARGIN] = own_score - best_other
    observation[WORKERS_LEFT] = state.workers_left
    observation[PLAYERS + players - 2] = 1
    observation[EDITION + int(ruleset.edition)] = 1
    observation[SEAT + player] = 1


@kernel
def _unseen(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """Unseen cards, the discard pile and the sizes of the stacks."""
    for kind in range(NUM_KINDS):
        unseen = int(ruleset.action_cards[kind]) - int(state.hand[player, kind]) - int(state.discard[kind])
        observation[UNSEEN_ACTIONS + kind] = unseen
        observation[DISCARD + kind] = state.discard[kind]
    if ruleset.num_players == 2:
        for kind in range(NUM_KINDS):
            observation[UNSEEN_ACTIONS + kind] -= np.float32(state.known[1 - player, kind])
    for resource in range(NUM_RESOURCES):
        observation[UNSEEN_RESOURCES + resource] = ruleset.resource_cards[resource]
        observation[UNSEEN_VALUE + resource] = ruleset.resource_value[resource]
    for other in range(ruleset.num_players):
        for resource in range(NUM_RESOURCES):
            observation[UNSEEN_RESOURCES + resource] -= np.float32(state.captured[other, resource])
            observation[UNSEEN_VALUE + resource] -= np.float32(state.captured_value[other, resource])
    for slot in range(ROW_SLOTS):
        if state.face_up[slot]:
            number = int(state.row[slot])
            resource = int(ruleset.card_resource[number])
            observation[UNSEEN_RESOURCES + resource] -= np.float32(1)
            observation[UNSEEN_VALUE + resource] -= np.float32(ruleset.card_value[number])
    for resource in range(NUM_RESOURCES):  # from the sum of the values to their mean
        observation[UNSEEN_VALUE + resource] /= max(observation[UNSEEN_RESOURCES + resource], np.float32(1))
    observation[STACKS] = state.action_stack_size
    observation[STACKS + 1] = state.discard_size


@kernel
def _turn(ruleset: Ruleset, state: State, player: int, observation: Any) -> None:
    """What is being decided, by whom, and how far the end is."""
    players = int(ruleset.num_players)
    to_move = _seated(int(state.player), players - player, players)
    if state.phase < NUM_PHASES:
        observation[PHASE + int(state.phase)] = 1
    if state.phase != OVER:
        observation[TURN_OF + to_move] = 1
    if state.chosen != NOTHING:
        observation[PENDING + int(state.chosen)] = 1
    if state.payment != NOT_PAYING:
        observation[PAYMENT_STEP + int(state.payment) - 1] = 1
    observation[TO_REVEAL] = state.resource_stack_size
    observation[TO_REVEAL + 1] = int(state.resource_stack_size) + int(state.face_down)
    if state.turns_to_end > 0:
        own_turns = 0
        for turn in range(state.turns_to_end):
            own_turns += (to_move + turn) % players == 0
        observation[END_IN_SIGHT] = 1
        observation[TURNS_TO_END] = state.turns_to_end
        observation[OWN_TURNS_TO_END] = own_turns
    observation[TURNS_LEFT] = 1.0 - int(state.turn) / int(ruleset.max_turns)


@kernel
def observe_hidden(ruleset: Ruleset, state: State, observation: Any) -> None:
    """Write what nobody sees into `observation` (float32), seat 0 first."""
    observation[:] = np.float32(0)
    for player in range(ruleset.num_players):
        for kind in range(NUM_KINDS):
            observation[HANDS + player * NUM_KINDS + kind] = state.hand[player, kind]
    for slot in range(ROW_SLOTS):
        if may_reveal(state, slot):
            number = int(state.row[slot])
            observation[HIDDEN_RESOURCE + slot * NUM_RESOURCES + int(ruleset.card_resource[number])] = 1
            observation[HIDDEN_VALUE + slot] = ruleset.card_value[number]
    for depth in range(min(NEXT_ACTION_CARDS, int(state.action_stack_size))):
        kind = int(state.action_stack[int(state.action_stack_size) - 1 - depth])
        observation[NEXT_ACTIONS + depth * NUM_KINDS + kind] = 1
    for depth in range(min(NEXT_RESOURCE_CARDS, int(state.resource_stack_size))):
        number = int(state.resource_stack[int(state.resource_stack_size) - 1 - depth])
        observation[NEXT_RESOURCE + depth * NUM_RESOURCES + int(ruleset.card_resource[number])] = 1
        observation[NEXT_VALUE + depth] = ruleset.card_value[number]
    _scale(observation, HIDDEN_SCALES)
