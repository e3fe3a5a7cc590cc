"""Card game positions built by hand, games stepped by action names, and slow obvious counts beside them.

Names are those of the logs: `gas/worker` an action card, `gold 4000` a resource card lying face up,
`(gold 4000)` the same face down, `empty` a slot without a card, `mine gold` an action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from siberia_env.card.components import EDITIONS, KINDS, SYMBOLS
from siberia_env.card.game import GAME
from siberia_env.card.rules import card_on_pile
from siberia_env.card.state import CHOOSE, DISCOVER, EMPTY, NOBODY, NOT_PAYING, NOTHING, OVER, PAYING, SHUFFLE
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.game import Variant
from tests.table import GameTable

ALL_EDITIONS = tuple(EDITIONS)


def card_name(variant: Variant, number: int) -> str:
    """The name of resource card `number`."""
    ruleset = variant.rulesets[0]
    return f"{RESOURCES[ruleset.card_resource[number]]} {int(ruleset.card_value[number]) * 1000}"


class Ledger:
    """Who captured which resource card: the state keeps only counts and values, so a test follows every card."""

    def __init__(self, players: int) -> None:
        self.captured: list[list[int]] = [[] for _ in range(players)]

    def book(self, before: Any, after: Any) -> None:
        """Compare the rows before and after one action; only the player on turn can have taken cards."""
        for slot, number in enumerate(before.row):
            if before.face_up[slot] and not (after.face_up[slot] and after.row[slot] == number):
                self.captured[int(before.player)].append(int(number))


class Table(GameTable):
    """One card game, stepped by the names of its actions; the ledger follows who captured what."""

    game = GAME

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        self.ledger = Ledger(variant.num_players)

    def copy(self) -> Self:
        """An independent table with the same position."""
        other = super().copy()
        other.ledger.captured = [list(numbers) for numbers in self.ledger.captured]
        return other

    def step(self, action: int) -> int:
        """Take the action of that number; what `engine.step_at` returns."""
        before = self.states.copy()
        answer = super().step(action)
        if answer != engine.ILLEGAL:
            self.ledger.book(before[0], self.state)
        return answer

    def hand(self, player: int) -> list[str]:
        """The action cards in a hand, by name."""
        return [kind for kind, count in zip(KINDS, self.state.hand[player], strict=True) for _ in range(count)]

    def paid(self, player: int) -> NDArray[np.int64]:
        """How many cards of each kind on the discard pile are the player's, [15]."""
        codes = self.state.pile[: len(self.discard())].astype(int)
        return np.bincount(codes[codes // len(KINDS) == player] % len(KINDS), minlength=len(KINDS))

    def known(self, player: int) -> list[str]:
        """The cards of a hand that the other one of two players knows: held at the last reshuffle, not paid since."""
        kept = np.maximum(self.state.held[player].astype(int) - self.paid(player), 0)
        return [kind for kind, count in zip(KINDS, kept, strict=True) for _ in range(count)]

    def known_among_others(self, player: int) -> list[str]:
        """The cards that `player` knows the others to hold together: held at the last reshuffle, not paid since."""
        others = [other for other in range(self.variant.num_players) if other != player]
        kept = np.maximum(sum(self.state.held[other].astype(int) - self.paid(other) for other in others), 0)
        return [kind for kind, count in zip(KINDS, kept, strict=True) for _ in range(count)]

    def discard(self) -> list[str]:
        """The discard pile, by name."""
        return [kind for kind, count in zip(KINDS, self.state.discard, strict=True) for _ in range(count)]

    def row(self) -> list[str]:
        """The row, slot 0 first: `gold 4000`, `(gold 4000)` face down, `empty`."""
        state, names = self.state, []
        for number, up in zip(state.row, state.face_up, strict=True):
            name = "empty" if number == EMPTY else card_name(self.variant, number)
            names.append(name if up or number == EMPTY else f"({name})")
        return names


def lay_out(
    num_players: int = 2,
    rules: Any = None,
    components: Any = None,
    *,
    hands: Mapping[int, Iterable[str]] | None = None,
    known: Mapping[int, Iterable[str]] | None = None,
    action_stack: Sequence[str] | None = None,
    row: Sequence[str] = (),
    resource_stack: Sequence[str] | None = None,
    captured: Mapping[int, Iterable[str]] | None = None,
    workers: Mapping[int, int] | None = None,
    salesmen: Mapping[int, Iterable[str]] | None = None,
    investors: Mapping[int, Iterable[str]] | None = None,
    player: int = 0,
    turn: int = 0,
    turns_to_end: int = 0,
    discovering: bool = False,
) -> Table:
    """A position by hand, every card of the box in its place.

    Args:
        num_players: 2 to 4.
        rules: as for an environment.
        components: as for an environment.
        hands: cards by player; a hand not given is empty.
        known: cards of each hand that it held at the last reshuffle; of two players, what the other one knows.
        action_stack: the top card first, all other cards being on the discard pile; without it all other cards
            are in the stack and the discard pile is empty. The last player has drawn and paid what lies there.
        row: up to eight names (see the module's text); slots not given are empty.
        resource_stack: the top card first, all other cards being captured by the last player; without it all
            other cards are in the stack.
        captured: resource cards by player.
        workers: number by player, 1 if not given.
        salesmen: resources and persons by player.
        investors: resources by player.
        player: whose turn it is.
        turn: turns finished so far.
        turns_to_end: as in the state.
        discovering: whether the turn starts with discovering (C7); otherwise that step is done with.
    """
    table = Table(GAME.variant(num_players, rules, components))
    variant, state = table.variant, table.state
    ruleset = variant.rulesets[0]
    state.generator = 1

    rest = Counter(
        {KINDS[index]: int(count) for index, count in enumerate(ruleset.action_cards)},
    )
    for owner, names in (hands or {}).items():
        for name in names:
            state.hand[owner, KINDS.index(name)] += 1
            rest[name] -= 1
    for owner, names in (known or {}).items():
        for name in names:
            state.held[owner, KINDS.index(name)] += 1
    for name in action_stack or ():
        rest[name] -= 1
    assert min(rest.values()) >= 0, "more cards of a kind than the box holds"
    if action_stack is None:
        action_stack = list(rest.elements())
    else:
        for name, count in rest.items():
            state.discard[KINDS.index(name)] = count
    for position, name in enumerate(reversed(action_stack)):
        state.action_stack[position] = KINDS.index(name)
    state.action_stack_size = len(action_stack)
    pile = [kind for kind, count in enumerate(state.discard) for _ in range(count)]
    state.drawn[:] = state.hand.sum(axis=1) - state.held.sum(axis=1)
    state.drawn[num_players - 1] += len(pile)
    state.pile[: len(pile)] = [card_on_pile(num_players - 1, kind) for kind in pile]
    state.pile_drawn[: len(pile)] = state.drawn[num_players - 1]

    free = list(range(ruleset.num_resource_cards))

    def take(name: str) -> int:
        number = next(number for number in free if card_name(variant, number) == name)
        free.remove(number)
        return number

    state.row[:] = EMPTY
    for slot, name in enumerate(row):
        if name != "empty":
            state.row[slot] = take(name.strip("()"))
            state.face_up[slot] = not name.startswith("(")
    for owner, names in (captured or {}).items():
        table.ledger.captured[owner] = [take(name) for name in names]
    if resource_stack is None:
        order = list(free)
    else:
        order = [take(name) for name in resource_stack]
        table.ledger.captured[num_players - 1] += free
    state.resource_stack_size = len(order)
    state.resource_stack[: len(order)] = order[::-1]

    state.workers[:num_players] = 1
    for owner, count in (workers or {}).items():
        state.workers[owner] = count
    state.workers_left = int(ruleset.workers) - int(state.workers.sum())
    state.salesman_owner[:] = NOBODY
    state.investor_owner[:] = NOBODY
    for owner, names in (salesmen or {}).items():
        for name in names:
            state.salesman_owner[SYMBOLS.index(name)] = owner
    for owner, names in (investors or {}).items():
        for name in names:
            state.investor_owner[RESOURCES.index(name)] = owner

    state.player, state.turn, state.turns_to_end = player, turn, turns_to_end
    state.chosen, state.payment = NOTHING, NOT_PAYING
    for number, owner in ((n, p) for p, numbers in enumerate(table.ledger.captured) for n in numbers):
        state.captured[owner, ruleset.card_resource[number]] += 1
    for name, value in recount(table).items():
        state[name] = value
    state.phase = DISCOVER if discovering and state.face_down > 0 else CHOOSE
    return table


def deal_out(
    num_players: int = 2,
    rules: Any = None,
    components: Any = None,
    *,
    hands: Mapping[int, Sequence[str]],
    draws: Sequence[str] = (),
    row: Sequence[str],
    resource_stack: Sequence[str] = (),
) -> Table:
    """A game dealt from chosen stacks: whatever stands in its state later, the rules' own kernels have put there.

    Args:
        num_players: 2 to 4.
        rules: as for an environment.
        components: as for an environment.
        hands: the five cards of each player; a player not given gets what is left.
        draws: the action cards drawn after those, the first one first; all others lie beneath them.
        row: the resource cards of slots 0 to 7; the first three lie face up.
        resource_stack: the cards that refill the row, the first one first; all others lie beneath them.
    """
    table = Table.open(num_players, rules, components)
    ruleset = table.variant.rulesets[0]
    left = Counter({kind: int(count) for kind, count in zip(KINDS, ruleset.action_cards, strict=True)})
    for names in (*hands.values(), draws):
        left.subtract(names)
    assert min(left.values()) >= 0, "more cards of a kind than the box holds"
    rest = list(left.elements())
    order: list[str] = []
    for player in range(num_players):
        order += hands[player] if player in hands else [rest.pop() for _ in range(5)]
    order += [*draws, *rest]
    free = list(range(ruleset.num_resource_cards))
    numbers = []
    for name in (*row, *resource_stack):
        number = next(number for number in free if card_name(table.variant, number) == name)
        free.remove(number)
        numbers.append(number)
    table.force([KINDS.index(kind) for kind in order] + numbers + free)
    return table


#: Two cards that pay for an action with each symbol (C10), in `take_turns`.
PAIRS = {
    **{resource: (f"{resource}/worker", f"{resource}/investor") for resource in RESOURCES},
    "worker": ("oil/worker", "gold/worker"),
    "salesman": ("oil/salesman", "gold/salesman"),
    "investor": ("oil/investor", "gold/investor"),
}


def payment(action: str) -> tuple[str, str]:
    """The two cards with which `take_turns` pays for an action: `mine gold`, `hire worker`, `hire salesman gold`."""
    return PAIRS[action.split()[1]]


def take_turns(table: Table, player: int, *actions: str) -> Table:
    """`player` performs one action after the other, each paid with `payment`; the others draw nothing meanwhile.

    Where a card of the row must be revealed (C7), it is the first one. A player who can't pay yet draws two cards.
    """
    waiting = list(actions)
    while waiting:
        if table.state.phase == DISCOVER:
            table.play("keep hidden" if "keep hidden" in table.legal() else table.legal()[0])
        if table.player != player:
            table.play("draw 0")
        elif set(payment(waiting[0])) <= set(table.hand(player)):
            action = waiting.pop(0)
            table.play(action, *(f"pay {card}" for card in payment(action)))
        else:
            table.play("draw 2")
    return table


def worth(table: Table, player: int) -> int:
    """C16, the slow way: the score of `player` from the single cards in front of them, thousands."""
    state, ruleset = table.state, table.variant.rulesets[0]
    has = {symbol for symbol, owner in zip(SYMBOLS, state.salesman_owner, strict=True) if owner == player}
    price = {symbol: int(value) for symbol, value in zip(SYMBOLS, ruleset.salesman_value, strict=True)}
    total = 0
    for number in table.ledger.captured[player]:
        resource, printed = RESOURCES[ruleset.card_resource[number]], int(ruleset.card_value[number])
        total += max(printed, price[resource]) if resource in has else printed
    people = {
        "worker": int(state.workers[player]),
        "salesman": len(has),
        "investor": sum(int(owner == player) for owner in state.investor_owner),
    }
    for person, count in people.items():
        total += count * (price[person] if person in has else 1)
    return total


def recount(table: Table) -> dict[str, Any]:
    """Every running field of the state, counted anew from the cards themselves and the test's own ledger."""
    state, ruleset = table.state, table.variant.rulesets[0]
    fresh = np.zeros(1, state.dtype)[0]
    for player in range(table.variant.num_players):
        for name in table.hand(player):
            resource, person = name.split("/")
            fresh.symbols[player, SYMBOLS.index(resource)] += 1
            fresh.symbols[player, SYMBOLS.index(person)] += 1
        fresh.hand_size[player] = len(table.hand(player))
        for number in table.ledger.captured[player]:
            index = int(ruleset.card_resource[number])
            printed = int(ruleset.card_value[number])
            fresh.captured_value[player, index] += printed
            fresh.captured_best_value[player, index] += max(printed, int(ruleset.salesman_value[index]))
        fresh.salesmen[player] = np.count_nonzero(state.salesman_owner == player)
        fresh.investors[player] = np.count_nonzero(state.investor_owner == player)
        fresh.score[player] = worth(table, player)
        for name in table.known_among_others(player):
            fresh.known[player, KINDS.index(name)] += 1
    fresh.discard_size = len(table.discard())
    fresh.face_down = sum(name.startswith("(") for name in table.row())
    names = (
        "symbols",
        "hand_size",
        "captured_value",
        "captured_best_value",
        "salesmen",
        "investors",
        "score",
        "discard_size",
        "face_down",
        "known",
    )
    return {name: np.array(fresh[name]) for name in names}


def check_everything(table: Table) -> None:
    """Every card of the box exactly once, every running field as counted anew, every count in range."""
    variant, state = table.variant, table.state
    ruleset, players = variant.rulesets[0], variant.num_players

    # Action cards, by kind.
    stack = [KINDS[kind] for kind in state.action_stack[: state.action_stack_size]]
    places = [stack, table.discard(), *(table.hand(player) for player in range(players))]
    box = {KINDS[index]: int(count) for index, count in enumerate(ruleset.action_cards)}
    counted = Counter(name for place in places for name in place)
    assert counted == Counter({name: count for name, count in box.items() if count})
    assert state.hand.min() >= 0
    assert state.discard.min() >= 0

    # Resource cards, by number.
    numbers = [int(number) for number in state.row if number != EMPTY]
    numbers += [int(number) for number in state.resource_stack[: state.resource_stack_size]]
    numbers += [number for taken in table.ledger.captured for number in taken]
    assert sorted(numbers) == list(range(ruleset.num_resource_cards))
    for player, taken in enumerate(table.ledger.captured):
        by_resource = Counter(int(ruleset.card_resource[number]) for number in taken)
        assert state.captured[player].tolist() == [by_resource[resource] for resource in range(len(RESOURCES))]
    assert not np.any(state.face_up[state.row == EMPTY])

    # Persons.
    assert int(state.workers.sum()) + int(state.workers_left) == int(ruleset.workers)
    assert state.workers_left >= 0
    assert all(1 <= workers <= ruleset.worker_cap for workers in state.workers[:players])
    assert set(state.salesman_owner.tolist()) | set(state.investor_owner.tolist()) <= set(range(NOBODY, players))

    # Running fields; seats that nobody sits on stay blank.
    for name, value in recount(table).items():
        assert np.array_equal(state[name], value), name
    for name in ("hand", "captured", "workers", "held", "known", "drawn"):
        assert not np.any(state[name][players:]), name

    # C18: what is remembered since the last reshuffle accounts for every hand and for the discard pile.
    paid = np.array([table.paid(player) for player in range(len(state.hand))])
    assert paid.sum(axis=0).tolist() == state.discard.tolist()
    assert (state.held.sum(axis=1) + state.drawn - paid.sum(axis=1)).tolist() == state.hand.sum(axis=1).tolist()
    assert np.all(state.held >= 0)
    for player in range(players):
        drawn = [int(d) for code, d in zip(state.pile, state.pile_drawn, strict=True) if code // len(KINDS) == player]
        drawn = drawn[: int(paid[player].sum())]
        assert drawn == sorted(drawn)
        assert all(count <= state.drawn[player] for count in drawn)
        if players == 2:
            assert Counter(table.known(player)) <= Counter(table.hand(player))
        held_by_others = Counter(name for other in range(players) if other != player for name in table.hand(other))
        assert Counter(table.known_among_others(player)) <= held_by_others
    assert not np.any(state.pile[state.discard_size :])
    assert not np.any(state.pile_drawn[state.discard_size :])
    assert state.hand_size.max() <= 8

    # What is under way, and nothing else.
    assert (state.chosen != NOTHING) == (state.payment != NOT_PAYING) == (state.phase == PAYING)
    assert 0 <= state.draws_left <= 2 if state.phase == SHUFFLE else state.draws_left == 0
    assert (state.phase == OVER) == table.over
