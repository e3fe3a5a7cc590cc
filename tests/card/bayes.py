"""An exact Bayes filter over the others' hands, for small decks: what `determinize` should draw from, by enumeration.

It keeps a probability for every combination of hands that the others may hold, and follows a game by what one player
sees: an announced action or a payment rules out the hands with which it would have been illegal, a draw spreads over
the kinds that the stack may still give, an own draw and a reshuffle rule out what contradicts them. Nothing else is
concluded from what the others choose. Written on counts of cards alone: it shares nothing with the kernels.
"""

from __future__ import annotations

from collections import defaultdict
from math import comb, prod

from siberia_env.card.components import KINDS

Hand = tuple[int, ...]  #: cards of each kind that the deck has
Hands = tuple[Hand, ...]  #: of all players; the observer's own is left empty


def plus(cards: Hand, kind: int, number: int = 1) -> Hand:
    """The cards with one of `kind` more, or `number` more."""
    return (*cards[:kind], cards[kind] + number, *cards[kind + 1 :])


class BayesFilter:
    """What `observer` can conclude in one game of a small deck.

    Attributes:
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
