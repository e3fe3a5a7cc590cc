"""Chance one piece at a time: draws with their outcomes and probabilities, for frameworks that have chance nodes.

The kernels settle chance as a whole: they shuffle a stack, and take cards off it later. A chance node needs a list of
outcomes, and nobody can list the orders of a stack. So a game's chance room (`siberia_env.card.chance`,
`siberia_env.board.chance`) leaves the order of a stack open and draws a piece only when somebody sees it. This gives
the same games with the same probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb
from typing import Protocol

from siberia_env.game import States, Variant

EVERYBODY = -1  #: the seat of a draw that all players see


@dataclass(frozen=True)
class Draw:
    """Pieces that come out of a pile together, in no order. Chance names them one by one, in ascending order.

    So each set of pieces can be named in one way only, and a game tree has no two branches for one hand.

    Attributes:
        pile: how many pieces of each outcome are in the pile, each 1 or more.
        size: how many pieces come out.
        taken: the pieces named so far, in ascending order.
        seat: the player who sees the pieces, or `EVERYBODY`.
    """

    pile: Mapping[int, int]
    size: int
    taken: tuple[int, ...] = ()
    seat: int = EVERYBODY

    def outcomes(self) -> list[tuple[int, float]]:
        """The pieces that can be named next, in ascending order, each with its probability."""
        left = self.size - len(self.taken)
        last = self.taken[-1] if self.taken else -1
        named = self.taken.count(last)
        exactly = comb(self.pile.get(last, 0), named)  # ways to have no more copies of the last piece
        above = sum(count for piece, count in self.pile.items() if piece > last)
        weights = {last: _at_least(named + 1, self.pile.get(last, 0), above, left + named)} if self.taken else {}
        for piece in sorted(piece for piece in self.pile if piece > last):
            above -= self.pile[piece]
            weights[piece] = exactly * _at_least(1, self.pile[piece], above, left)
        total = sum(weights.values())
        return [(piece, weight / total) for piece, weight in weights.items() if weight]


def _at_least(fewest: int, copies: int, others: int, size: int) -> int:
    """The ways to draw `size` cards: `fewest` or more of the `copies`, and the rest from the `others`."""
    return sum(comb(copies, number) * comb(others, size - number) for number in range(fewest, min(copies, size) + 1))


class ChanceRoom(Protocol):
    """What the chance room of a game offers. States are arrays of one state.

    `drawn` holds the outcomes so far that belong to one action, or to one stop for chance.
    """

    def names(self, variant: Variant) -> tuple[str, ...]:
        """The names of all outcomes, in order of their numbers."""

    def next_draw(self, variant: Variant, before: States, after: States, drawn: tuple[int, ...]) -> Draw | None:
        """The draw that is due; None if everything is drawn.

        `before` is the state before an action and `after` the state behind it, with pieces that may be any. Where the
        kernels stop for chance, both are the same state.
        """

    def arrange(self, variant: Variant, states: States, after: States, drawn: tuple[int, ...]) -> None:
        """Put what is drawn where an action takes it from. `states` is the state before it, which changes in place.

        Where the kernels stop for chance, settle that chance with what is drawn.
        """

    def shown_plans(self, variant: Variant, states: States) -> list[tuple[int, int, int]]:
        """What all players are shown when the last secret decision is taken, as (seat, outcome drawn, action)."""

    def most_draws(self, variant: Variant) -> int:
        """At most so many pieces are drawn in a game."""

    def most_decisions(self, variant: Variant) -> int:
        """At most so many decisions are taken in a game."""

    def highest_score(self, variant: Variant) -> int:
        """No score of a game is higher, in points."""


def without(pile: Mapping[int, int], taken: Iterable[int]) -> dict[int, int]:
    """The pile after the pieces `taken` have left it."""
    left = dict(pile)
    for piece in taken:
        left[piece] -= 1
    return {piece: count for piece, count in left.items() if count}
