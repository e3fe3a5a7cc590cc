"""The observation of the card game once more: slow, in plain Python, from the meanings of the blocks.

Nothing here reads a running field of the state or calls a kernel. Cards are taken one by one from where they
lie (a test's own ledger says who captured which), and what an action would bring is found by doing it to a
copy of the position and counting the score again.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from siberia_env.card.components import EDITIONS, KINDS, PERSONS, SYMBOLS
from siberia_env.card.state import CHOOSE, DISCOVER, EMPTY, OVER, PAYING
from siberia_env.common.components import RESOURCES
from siberia_env.game import Block
from tests.card.helpers import Table

SEATS = 4
CARD_ACTIONS = (
    *(("mine", resource) for resource in RESOURCES),
    ("hire", "worker"),
    *(("salesman", symbol) for symbol in SYMBOLS),
    *(("investor", resource) for resource in RESOURCES),
)
Card = tuple[str, int]  # resource, printed thousands


@dataclass
class Position:
    """What lies on the table, in words."""

    hands: list[list[str]]
    known: list[list[str]]
    exposed: list[list[str]]
    row: list[tuple[str, int, bool] | None]
    captured: list[list[Card]]
    workers: list[int]
    salesmen: list[set[str]]
    investors: list[set[str]]
    workers_left: int
    action_stack: list[str]
    discard: list[str]
    resource_stack: list[Card]
    salesman_value: dict[str, int]
    worker_cap: int

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.hands)


def read_position(table: Table) -> Position:
    """The position on `table`."""
    state, ruleset = table.state, table.variant.rulesets[0]
    players = table.variant.num_players

    def card(number: int) -> Card:
        return RESOURCES[ruleset.card_resource[number]], int(ruleset.card_value[number])

    return Position(
        hands=[table.hand(player) for player in range(players)],
        known=[table.known_among_others(player) for player in range(players)],
        exposed=[table.known(player) for player in range(players)],
        row=[
            None if number == EMPTY else (*card(number), bool(up))
            for number, up in zip(state.row, state.face_up, strict=True)
        ],
        captured=[[card(number) for number in numbers] for numbers in table.ledger.captured],
        workers=[int(count) for count in state.workers[:players]],
        salesmen=[
            {symbol for symbol, owner in zip(SYMBOLS, state.salesman_owner, strict=True) if owner == player}
            for player in range(players)
        ],
        investors=[
            {resource for resource, owner in zip(RESOURCES, state.investor_owner, strict=True) if owner == player}
            for player in range(players)
        ],
        workers_left=int(ruleset.workers) - int(sum(state.workers[:players])),
        action_stack=[KINDS[kind] for kind in state.action_stack[: state.action_stack_size]][::-1],
        discard=table.discard(),
        resource_stack=[card(number) for number in state.resource_stack[: state.resource_stack_size]][::-1],
        salesman_value={symbol: int(value) for symbol, value in zip(SYMBOLS, ruleset.salesman_value, strict=True)},
        worker_cap=int(ruleset.worker_cap),
    )


def score(position: Position, player: int) -> int:
    """C16, from single cards."""
    has, price = position.salesmen[player], position.salesman_value
    total = sum(
        max(printed, price[resource]) if resource in has else printed for resource, printed in position.captured[player]
    )
    counts = (position.workers[player], len(has), len(position.investors[player]))
    for person, count in zip(PERSONS, counts, strict=True):
        total += count * (price[person] if person in has else 1)
    return total


def left_in_supply(position: Position, action: tuple[str, str]) -> bool:
    """Whether a person of the action is left (mining: always True)."""
    verb, what = action
    if verb == "hire":
        return position.workers_left > 0
    if verb == "salesman":
        return not any(what in has for has in position.salesmen)
    if verb == "investor":
        return not any(what in has for has in position.investors)
    return True


def done(position: Position, player: int, action: tuple[str, str]) -> Position:
    """The position after `player` has carried out `action` for nothing."""
    after = deepcopy(position)
    verb, what = action
    if verb == "mine":
        for slot, lying in enumerate(position.row):
            taken = len(after.captured[player]) - len(position.captured[player])
            if lying is not None and lying[2] and lying[0] == what and taken < position.workers[player]:
                after.captured[player].append((lying[0], lying[1]))
                after.row[slot] = None
    elif verb == "hire":
        after.workers[player] += 1
    elif verb == "salesman":
        after.salesmen[player].add(what)
    else:
        after.investors[player].add(what)
    return after


def symbol_of(action: tuple[str, str]) -> str:
    """What the cards that pay for the action show."""
    verb, what = action
    return {"mine": what, "hire": "worker"}.get(verb, verb)


def payments(hand: list[str], symbol: str, investor: bool) -> list[tuple[str, ...]]:
    """C10: every set of cards of the hand that pays for `symbol`."""
    found = []
    for size in (1, 2, 3):
        for cards in combinations(sorted(hand), size):
            showing = sum(symbol in card.split("/") for card in cards)
            others = size - showing
            if (showing + investor, others) in ((2, 0), (1, 2)):
                found.append(cards)
    return found


def own_payments(position: Position, player: int, symbol: str) -> list[tuple[str, ...]]:
    """Every way in which `player` can pay for `symbol` now."""
    return payments(position.hands[player], symbol, symbol in position.investors[player])


def on_offer(position: Position, player: int, action: tuple[str, str]) -> bool:
    """C13, the edition's cap included."""
    if action[0] == "hire" and position.workers[player] >= position.worker_cap:
        return False
    return left_in_supply(position, action)


def one_hot(index: int | None, size: int) -> list[float]:
    """A row of zeros with a one at `index`, if there is one."""
    return [float(place == index) for place in range(size)]


def by_name(names: tuple[str, ...], cards: list[str]) -> list[int]:
    """How many of each."""
    counts = Counter(cards)
    return [counts[name] for name in names]


def without(cards: list[str], *others: list[str]) -> list[str]:
    """The cards that remain when the others are taken away."""
    rest = Counter(cards)
    for gone in others:
        rest.subtract(gone)
    assert min(rest.values(), default=0) >= 0
    return list(rest.elements())


def quantities(table: Table, player: int) -> dict[str, Any]:
    """Every block's quantities as `player` sees them, before they are divided by the block's unit."""
    position, state, ruleset = read_position(table), table.state, table.variant.rulesets[0]
    players = position.players
    seats = [(player + seat) % players for seat in range(players)]
    two = players == 2

    def per_seat(value: Any, width: int) -> list[Any]:
        rows = [np.atleast_1d(np.asarray(value(other), float)) for other in seats]
        return rows + [np.zeros(width)] * (SEATS - players)

    scores = [score(position, other) for other in range(players)]
    box = [name for name, count in zip(KINDS, ruleset.action_cards, strict=True) for _ in range(count)]
    unseen_actions = without(box, position.hands[player], position.discard, position.known[player])
    unseen = [(name, value) for name, value, up in filter(None, position.row) if not up] + position.resource_stack
    turns_to_end = int(state.turns_to_end)
    coming = [(int(state.player) + turn) % players for turn in range(turns_to_end)]
    over = state.phase == OVER
    others_best = max(scores[other] for other in seats[1:])
    return {
        "gain": per_seat(
            lambda other: [
                score(done(position, other, action), other) - scores[other] if left_in_supply(position, action) else 0
                for action in CARD_ACTIONS
            ],
            len(CARD_ACTIONS),
        ),
        "mine_cards": per_seat(
            lambda other: [
                len(done(position, other, ("mine", resource)).captured[other]) - len(position.captured[other])
                for resource in RESOURCES
            ],
            len(RESOURCES),
        ),
        "payable": [
            bool(own_payments(position, player, symbol_of(action))) and on_offer(position, player, action)
            for action in CARD_ACTIONS
        ],
        "payment": [min((len(cards) for cards in own_payments(position, player, s)), default=0) for s in SYMBOLS],
        "hand": by_name(KINDS, position.hands[player]),
        "symbols": [sum(symbol in card.split("/") for card in position.hands[player]) for symbol in SYMBOLS],
        "hand_sizes": per_seat(lambda other: len(position.hands[other]), 1),
        "known_hand": by_name(KINDS, position.known[player]),
        "exposed_hand": by_name(KINDS, position.exposed[player] if two else []),
        "row_resource": [
            [float(lying is not None and lying[2] and lying[0] == resource) for resource in RESOURCES]
            for lying in position.row
        ],
        "row_value": [lying[1] if lying is not None and lying[2] else 0 for lying in position.row],
        "row_hidden": [lying is not None and not lying[2] for lying in position.row],
        "workers": per_seat(lambda other: position.workers[other], 1),
        "salesmen": per_seat(lambda other: [s in position.salesmen[other] for s in SYMBOLS], len(SYMBOLS)),
        "investors": per_seat(lambda other: [r in position.investors[other] for r in RESOURCES], len(RESOURCES)),
        "workers_left": position.workers_left,
        "captured": per_seat(
            lambda other: by_name(RESOURCES, [name for name, _ in position.captured[other]]), len(RESOURCES)
        ),
        "captured_value": per_seat(
            lambda other: [sum(value for name, value in position.captured[other] if name == r) for r in RESOURCES],
            len(RESOURCES),
        ),
        "scores": per_seat(lambda other: scores[other], 1),
        "margin": [
            scores[player] - others_best,
            *(scores[player] - scores[seats[seat]] if seat < players else 0 for seat in range(1, SEATS)),
        ],
        "unseen_actions": by_name(KINDS, unseen_actions),
        "unseen_resources": by_name(RESOURCES, [name for name, _ in unseen]),
        "unseen_value": [np.mean([value for name, value in unseen if name == r] or [0]) for r in RESOURCES],
        "discard": by_name(KINDS, position.discard),
        "stacks": [len(position.action_stack), len(position.discard)],
        "phase": [state.phase == phase for phase in (DISCOVER, CHOOSE, PAYING)],
        "turn_of": one_hot(None if over else (int(state.player) - player) % players, SEATS),
        "pending": one_hot(int(state.chosen) if state.phase == PAYING else None, len(CARD_ACTIONS)),
        "payment_step": one_hot(payment_step(table), 3),
        "to_reveal": [
            len(position.resource_stack),
            len(position.resource_stack) + sum(lying is not None and not lying[2] for lying in position.row),
        ],
        "end_in_sight": turns_to_end > 0,
        "turns_to_end": turns_to_end,
        "own_turns_to_end": coming.count(player),
        "turns_left": 1 - int(state.turn) / int(ruleset.max_turns),
        "present": [seat < players for seat in range(SEATS)],
        "num_players": one_hot(players - 2, 3),
        "edition": one_hot(list(EDITIONS).index(table.variant.rules["edition"]), len(EDITIONS)),
        "seat": one_hot(player, SEATS),
    }


def payment_step(table: Table) -> int | None:
    """What the next card of a payment is, from what the mask offers: first card, second, last of two."""
    if table.state.phase != PAYING:
        return None
    symbol = symbol_of(CARD_ACTIONS[table.state.chosen])
    offered = [name.removeprefix("pay ").split("/") for name in table.legal()]
    held = [card.split("/") for card in table.hand(int(table.state.player))]
    showing = [card for card in held if symbol in card]
    others = [card for card in held if symbol not in card]
    if showing and not any(symbol in card for card in offered):
        return 2
    if len(others) >= 2 and not any(symbol not in card for card in offered):
        return 0
    return int(table.state.payment) - 1  # the hand alone doesn't tell


def hidden_quantities(table: Table) -> dict[str, Any]:
    """Every hidden block's quantities."""
    position = read_position(table)
    nothing = [0] * len(KINDS)

    def top(cards: list[Any], count: int) -> list[Any]:
        return [cards[depth] if depth < len(cards) else None for depth in range(count)]

    hidden = [lying if lying is not None and not lying[2] else None for lying in position.row]
    coming = top(position.resource_stack, 3)
    return {
        "hands": [
            by_name(KINDS, position.hands[player]) if player < position.players else nothing for player in range(SEATS)
        ],
        "hidden_resource": [[lying is not None and lying[0] == r for r in RESOURCES] for lying in hidden],
        "hidden_value": [lying[1] if lying is not None else 0 for lying in hidden],
        "next_actions": [[name == kind for kind in KINDS] for name in top(position.action_stack, 2)],
        "next_resource": [[card is not None and card[0] == r for r in RESOURCES] for card in coming],
        "next_value": [card[1] if card is not None else 0 for card in coming],
    }


def values(blocks: tuple[Block, ...], given: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """From quantities to what the vector must hold, block by block in the block's shape."""
    scaled = {}
    for block in blocks:
        amounts = np.asarray(given[block.name], float).reshape(block.shape)
        scaled[block.name] = np.clip(amounts / block.unit, -1.0 if block.signed else 0.0, 1.0)
    return scaled
