"""An exact Bayes filter over the others' hands, for small decks: what `determinize` should draw from, by enumeration.

`python -m tests.card.bayes` compares samples with it and prints the table that docs/card/rules.md shows.

It keeps a probability for every combination of hands that the others may hold, and follows a game by what one player
sees: an announced action or a payment rules out the hands with which it would have been illegal, a draw spreads over
the kinds that the stack may still give, an own draw and a reshuffle rule out what contradicts them. Nothing else is
concluded from what the others choose. Written on counts of cards alone: it shares nothing with the kernels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, pi, prod, sqrt

import numpy as np

from siberia_env.card.actions import CARD_ACTIONS, DRAW, PAY
from siberia_env.card.components import HAND_AT_START, KINDS, SYMBOLS, Components
from siberia_env.card.rules import symbol_of
from siberia_env.card.state import NOTHING
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core import engine
from tests.card.helpers import Table

Hand = tuple[int, ...]  #: cards of each kind that the deck has
Hands = tuple[Hand, ...]  #: of all players; the observer's own is left empty


def plus(cards: Hand, kind: int, number: int = 1) -> Hand:
    """The cards with one of `kind` more, or `number` more."""
    return (*cards[:kind], cards[kind] + number, *cards[kind + 1 :])


class BayesFilter:
    """What `observer` can conclude in one game of a small deck.

    Attributes:
        forgets: whether who holds which of the others' cards is forgotten at each reshuffle; what they hold together
            then is not. This is what `determinize` promises.
        kinds: the names of the action cards that the deck has.
        beliefs: probability by hands.
    """

    def __init__(self, deck: dict[str, int], players: int, observer: int, forgets: bool = False) -> None:
        self.forgets = forgets
        self.kinds = tuple(kind for kind in KINDS if deck.get(kind, 0))
        self.players, self.observer = players, observer
        empty = (0,) * len(self.kinds)
        self.beliefs: dict[Hands, float] = {(empty,) * players: 1.0}
        self.unseen = tuple(deck[kind] for kind in self.kinds)  # in the stack and in the others' hands
        self.pile = empty

    # ------------------------------------------------------------ what happens

    def draws(self, player: int, kind: str | None = None) -> None:
        """A card for `player`; the observer sees its own `kind`."""
        after: dict[Hands, float] = defaultdict(float)
        for hands, belief in self.beliefs.items():
            stack = self._stack(hands)
            if player == self.observer:
                assert kind is not None
                index = self.kinds.index(kind)
                after[hands] += belief * stack[index] / sum(stack)
            else:
                for index, count in enumerate(stack):
                    if count:
                        held = (*hands[:player], plus(hands[player], index), *hands[player + 1 :])
                        after[held] += belief * count / sum(stack)
        if player == self.observer:
            self.unseen = plus(self.unseen, self.kinds.index(kind or ""), -1)
        self._normalise(after)

    def announces(self, player: int, symbol: str, investor: bool) -> None:
        """`player` announces an action for which it must be able to pay (C10)."""
        if player != self.observer:
            self._normalise(
                {hands: belief for hands, belief in self.beliefs.items() if self._pays(hands[player], symbol, investor)}
            )

    def pays(self, player: int, kind: str, symbol: str, step: int) -> None:
        """`player` pays a card: the first of its payment (`step` 1), the second (2), the last of two others (3)."""
        index = self.kinds.index(kind)
        if player != self.observer:
            after: dict[Hands, float] = defaultdict(float)
            for hands, belief in self.beliefs.items():
                hand = hands[player]
                others = sum(hand) - self._showing(hand, symbol)
                shown = symbol in kind.split("/")
                allowed = shown if step == 1 else (shown or others >= 2) if step == 2 else not shown
                if hand[index] and allowed:
                    after[(*hands[:player], plus(hand, index, -1), *hands[player + 1 :])] += belief
            self.unseen = plus(self.unseen, index, -1)
            self._normalise(after)
        self.pile = plus(self.pile, index)

    def must_be_able_to_go_on(self, player: int, symbol: str, step: int) -> None:
        """`player` has a decision to make in the middle of a payment, so it has a legal one."""
        if player == self.observer or step == 1:
            return
        after = {}
        for hands, belief in self.beliefs.items():
            showing = self._showing(hands[player], symbol)
            others = sum(hands[player]) - showing
            if (showing > 0 or others >= 2) if step == 2 else others > 0:
                after[hands] = belief
        self._normalise(after)

    def reshuffles(self) -> None:
        """The discard pile becomes the stack: the others hold all that was unseen."""
        self._normalise({hands: belief for hands, belief in self.beliefs.items() if not any(self._stack(hands))})
        if self.forgets:
            self._normalise(self._partitions([sum(hand) for hand in next(iter(self.beliefs))]))
        self.unseen = tuple(a + b for a, b in zip(self.unseen, self.pile, strict=True))
        self.pile = (0,) * len(self.kinds)

    # ------------------------------------------------------------ what follows

    def hands(self, player: int) -> dict[Hand, float]:
        """How likely each hand of `player` is."""
        found: dict[Hand, float] = defaultdict(float)
        for hands, belief in self.beliefs.items():
            found[hands[player]] += belief
        return dict(found)

    def _partitions(self, sizes: list[int]) -> dict[Hands, float]:
        """Every way to divide what is unseen among hands of these sizes, each card as likely to lie in any place."""
        found: dict[Hands, float] = {(): 1.0}
        for size in sizes:
            longer: dict[Hands, float] = {}
            for hands, ways in found.items():
                for hand in self._hands_of(size, self._stack(hands)):
                    longer[(*hands, hand)] = ways * prod(
                        comb(left, count) for left, count in zip(self._stack(hands), hand, strict=True)
                    )
            found = longer
        return found

    def _hands_of(self, size: int, cards: Hand) -> list[Hand]:
        if not cards:
            return [()] if size == 0 else []
        return [
            (count, *rest)
            for count in range(min(size, cards[0]) + 1)
            for rest in self._hands_of(size - count, cards[1:])
        ]

    def _stack(self, hands: Hands) -> Hand:
        return tuple(count - sum(hand[index] for hand in hands) for index, count in enumerate(self.unseen))

    def _showing(self, hand: Hand, symbol: str) -> int:
        return sum(count for kind, count in zip(self.kinds, hand, strict=True) if symbol in kind.split("/"))

    def _pays(self, hand: Hand, symbol: str, investor: bool) -> bool:
        showing, needed = self._showing(hand, symbol), 1 if investor else 2
        return showing >= needed or (showing >= needed - 1 and sum(hand) - showing >= 2)

    def _normalise(self, beliefs: dict[Hands, float]) -> None:
        total = sum(beliefs.values())
        assert total > 0, "what was seen is impossible"
        self.beliefs = {hands: belief / total for hands, belief in beliefs.items() if belief > 0}


# ---------------------------------------------------------------- games watched by a filter

#: Decks of few kinds, in which hands repeat them and stacks run out often: everything a filter finds is drastic.
DECKS = {
    2: {"gas/worker": 5, "oil/worker": 4, "gas/salesman": 4, "oil/salesman": 4},
    3: {"gas/worker": 8, "oil/worker": 6, "gas/salesman": 6, "oil/investor": 2},
    4: {"gas/worker": 11, "oil/worker": 9, "gas/salesman": 8},
}
OBSERVER = 0
EAGERNESS = 3  #: how much likelier than other actions one that is paid for is chosen


class WatchedGame:
    """A game of a small deck, played at random, and what filters make of it from seat `OBSERVER`."""

    def __init__(self, players: int, edition: str, seed: int) -> None:
        deck = DECKS[players]
        self.table = Table.deal(players, edition, Components(action_cards={k: deck.get(k, 0) for k in KINDS}), seed)
        self.random = np.random.default_rng(seed)
        self.filters = [BayesFilter(deck, players, OBSERVER, forgets) for forgets in (True, False)]
        self.reshuffles = 0
        size = int(self.table.state.action_stack_size)
        dealt = self.table.state.action_stack[size : size + HAND_AT_START * players][::-1]
        for number, kind in enumerate(dealt):
            self._draws(number // HAND_AT_START, int(kind))

    def play_on(self) -> None:
        """One decision, and what the filters see of it."""
        state, rulesets = self.table.state, self.table.variant.rulesets
        player, legal = int(state.player), np.flatnonzero(self.table.mask())
        weights = np.where((legal >= CARD_ACTIONS) & (legal < PAY), EAGERNESS, 1.0)
        action = int(self.random.choice(legal, p=weights / weights.sum()))
        if action >= PAY:
            for filter_ in self.filters:
                symbol = SYMBOLS[symbol_of(int(state.chosen))]
                filter_.pays(player, KINDS[action - PAY], symbol, int(state.payment))
        elif action >= CARD_ACTIONS:
            symbol = symbol_of(action - CARD_ACTIONS)
            investor = symbol < NUM_RESOURCES and int(state.investor_owner[symbol]) == player
            for filter_ in self.filters:
                filter_.announces(player, SYMBOLS[symbol], investor)
        before = self.table.states.copy()
        engine.advance_at(rulesets, self.table.states, 0, action)
        if (action >= PAY and state.chosen == NOTHING) or DRAW <= action < CARD_ACTIONS:
            self._book_draws(player, int(before[0].action_stack_size) - int(state.action_stack_size))
        while engine.is_chance_at(rulesets, self.table.states, 0):
            self.reshuffles += 1
            hand_size = int(state.hand_size[player])
            for filter_ in self.filters:
                filter_.reshuffles()
            engine.resolve_at(rulesets, self.table.states, 0)
            self._book_draws(player, int(state.hand_size[player]) - hand_size)
        if state.chosen != NOTHING:
            for filter_ in self.filters:
                symbol = SYMBOLS[symbol_of(int(state.chosen))]
                filter_.must_be_able_to_go_on(int(state.player), symbol, int(state.payment))

    def _book_draws(self, player: int, count: int) -> None:
        size = int(self.table.state.action_stack_size)  # what was drawn still stands above the top
        for kind in self.table.state.action_stack[size : size + count][::-1]:
            self._draws(player, int(kind))

    def _draws(self, player: int, kind: int) -> None:
        for filter_ in self.filters:
            filter_.draws(player, KINDS[kind])


@dataclass(frozen=True)
class Distance:
    """How far samples lie from a filter, in the decision of a game.

    Attributes:
        reshuffles: how many there had been.
        promised: total variation between samples and the filter that forgets, over one other hand; the worst hand.
        noise: what `promised` is expected to be for samples drawn from that filter itself.
        full: total variation between samples and the filter that forgets nothing.
        impossible: samples that the filter which forgets rules out.
    """

    reshuffles: int
    promised: float
    noise: float
    full: float
    impossible: int


def counted(rows: np.ndarray) -> Counter[Hand]:
    """How often each row occurs."""
    found, counts = np.unique(rows, axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, found.tolist()), counts.tolist(), strict=True)))


def distances(players: int, edition: str, seed: int, decisions: int, every: int, samples: int) -> Iterator[Distance]:
    """One game, watched; a distance at each decision whose number `every` divides."""
    game = WatchedGame(players, edition, seed)
    columns = [KINDS.index(kind) for kind in game.filters[0].kinds]
    for decision in range(1, decisions + 1):
        game.play_on()
        if game.table.over:
            return
        if decision % every:
            continue
        sampled = np.repeat(game.table.states, samples)
        seats = np.full(samples, OBSERVER, np.int8)
        engine.determinize_batch(game.table.variant.rulesets, sampled, seats, np.uint64(1000 * seed + decision))
        hands = sampled["hand"][:, :, columns]
        worst = [(0.0, 0.0)] * 2
        for player in range(1, players):
            counts = counted(hands[:, player])
            for index, filter_ in enumerate(game.filters):
                exact = filter_.hands(player)
                total = sum(abs(exact.get(hand, 0) - counts[hand] / samples) for hand in {*exact, *counts}) / 2
                noise = sum(sqrt(max(p * (1 - p), 0) / samples) for p in exact.values()) / sqrt(2 * pi)
                worst[index] = max(worst[index], (total, noise))
        possible = {beliefs[1:] for beliefs in game.filters[0].beliefs}
        together = counted(hands[:, 1:players].reshape(samples, -1))
        split = [slice(first, first + len(columns)) for first in range(0, (players - 1) * len(columns), len(columns))]
        impossible = sum(n for row, n in together.items() if tuple(row[part] for part in split) not in possible)
        yield Distance(game.reshuffles, *worst[0], worst[1][0], impossible)


def main() -> None:
    """Print the table of docs/card/rules.md."""
    print(
        "| players | | decisions | distance to what is promised, mean | worst | noise | to full memory, mean | worst |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for players in DECKS:
        found = [
            distance
            for edition in ("dlp", "digital")
            for seed in range(3)
            for distance in distances(players, edition, seed, 160, 4, 20_000)
        ]
        for later, when in ((False, "before the first reshuffle"), (True, "after it")):
            of_these = [distance for distance in found if (distance.reshuffles > 0) == later]
            promised, full = ([getattr(d, name) for d in of_these] for name in ("promised", "full"))
            noise = float(np.mean([distance.noise for distance in of_these]))
            figures = (np.mean(promised), max(promised), noise, np.mean(full), max(full))
            print(f"| {players} | {when} | {len(of_these)} | {' | '.join(f'{100 * x:.1f}%' for x in figures)} |")
            assert not any(distance.impossible for distance in of_these)


if __name__ == "__main__":
    main()
