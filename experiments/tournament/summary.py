"""Sums up a tournament's games: a summary line for each agent, pairs of agents, seats and forfeits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from siberia_experiments.statistics import Interval, wilson_of_deals
from siberia_experiments.tournament.game import NOBODY, Result
from siberia_experiments.tournament.ratings import RESAMPLES, Ratings, places, rate

ANCHOR = "search:1000"  #: this agent is rated 1000 if it takes part


@dataclass(frozen=True)
class Line:
    """A row of `summary.csv`.

    Attributes:
        agent: the agent's spec.
        games: number of seats that the agent held in all games; two seats in one game count twice.
        win_share: mean share of the win, 0 to 1; ties and forfeits divide a win.
        win_low: lower end of the win share's 95% interval.
        win_high: upper end of the win share's 95% interval.
        mean_score: mean score as people count it, over the games that were played to their end; nan if there are none.
        rating: rating in points (`siberia_experiments.tournament.ratings`).
        rating_low: lower end of the rating's 95% interval.
        rating_high: upper end of the rating's 95% interval.
        ms_per_move: mean time for a decision in milliseconds; nan if there are no decisions.
    """

    agent: str
    games: int
    win_share: float
    win_low: float
    win_high: float
    mean_score: float
    rating: float
    rating_low: float
    rating_high: float
    ms_per_move: float

    def cells(self) -> list[str]:
        """The cells of the row, as `summary.csv` has them."""
        digits = {"mean_score": 1, "rating": 2, "rating_low": 2, "rating_high": 2, "ms_per_move": 4}
        numbers = {name: getattr(self, name) for name in COLUMNS[2:]}
        return [
            self.agent,
            str(self.games),
            *("" if np.isnan(value) else f"{value:.{digits.get(name, 6)}f}" for name, value in numbers.items()),
        ]


COLUMNS = tuple(field.name for field in fields(Line))


@dataclass(frozen=True)
class Played:
    """The games of a tournament as arrays. G games, P seats, K agents.

    Attributes:
        specs: the K agents.
        entrant: int64 [G, P], which agent sat in each seat.
        deal: int64 [G], each game's deal.
        scores: int64 [G, P], scores as people count them (`Game.score_unit`); in a forfeited game as they stood.
        win_shares: float64 [G, P], each seat's share of the win.
        forfeit: bool [G, P], whether the seat forfeited.
        moves: int64 [G, P], number of decisions.
        seconds: float64 [G, P], time that the decisions took.
    """

    specs: tuple[str, ...]
    entrant: NDArray[np.int64]
    deal: NDArray[np.int64]
    scores: NDArray[np.int64]
    win_shares: NDArray[np.float64]
    forfeit: NDArray[np.bool_]
    moves: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @classmethod
    def of(cls, specs: tuple[str, ...], results: Sequence[Result]) -> Played:
        """Put the games `results` into arrays."""
        return cls(
            specs=specs,
            entrant=np.array([result.task.seating for result in results], np.int64),
            deal=np.array([result.task.deal for result in results], np.int64),
            scores=np.array([result.scores for result in results], np.int64),
            win_shares=np.array([result.win_shares for result in results], np.float64),
            forfeit=np.array([np.arange(len(result.scores)) == result.forfeit for result in results]),
            moves=np.array([result.moves for result in results], np.int64),
            seconds=np.array([result.seconds for result in results], np.float64),
        )

    @property
    def place(self) -> NDArray[np.int64]:
        """Each seat's place, 0 for the best: int64 [G, P]."""
        return places(self.scores, self.forfeit)

    @property
    def to_the_end(self) -> NDArray[np.bool_]:
        """The games that nobody forfeited: bool [G]."""
        return np.asarray(~self.forfeit.any(axis=1))

    def scores_of(self, number: int) -> NDArray[np.int64]:
        """An agent's scores in the games that were played to their end, as people count them."""
        return self.scores[(self.entrant == number) & self.to_the_end[:, None]]

    def win_share(self, chosen: NDArray[np.bool_]) -> Interval:
        """The share of wins of the `chosen` seats (bool [G, P]) with its 95% interval.

        The games of a deal, played in all seat orders, are not independent, and their mean varies less. So the
        interval is Wilson's for the number of independent games that would give the variance found between deals.
        """
        line_up = np.unique(np.sort(self.entrant, axis=1), axis=0, return_inverse=True)[1].ravel()
        deals, first, deal = np.unique(self.deal, return_index=True, return_inverse=True)
        deal = deal.ravel()
        wins = np.bincount(deal, np.where(chosen, self.win_shares, 0).sum(axis=1), len(deals))
        games = np.bincount(deal, chosen.sum(axis=1), len(deals))
        return wilson_of_deals(wins, games, line_up[first])

    def pairs(self) -> NDArray[np.float64]:
        """How often the row's agent came out ahead of the column's: float64 [K, K], nan without games.

        A tie counts as half.
        """
        agents, players = len(self.specs), self.entrant.shape[1]
        ahead, met = np.zeros((agents, agents)), np.zeros((agents, agents))
        place = self.place
        for one in range(players):
            for other in range(players):
                pair = (self.entrant[:, one], self.entrant[:, other])
                different = pair[0] != pair[1]
                better = (place[:, one] < place[:, other]) + 0.5 * (place[:, one] == place[:, other])
                np.add.at(ahead, pair, better * different)
                np.add.at(met, pair, different)
        return np.divide(ahead, met, out=np.full_like(ahead, np.nan), where=met > 0)

    def seat(self, number: int) -> Interval:
        """A seat's share of wins."""
        return self.win_share(np.broadcast_to(np.arange(self.entrant.shape[1]) == number, self.entrant.shape))

    def rate(self, seed: int = 0, progress: Callable[[int], None] | None = None, resamples: int = RESAMPLES) -> Ratings:
        """Rate the agents (`siberia_experiments.tournament.ratings.rate`)."""
        anchor = self.specs.index(ANCHOR) if ANCHOR in self.specs else None
        return rate(self.entrant, self.place, self.deal, len(self.specs), anchor, resamples, seed, progress)

    def summary(self, ratings: Ratings) -> list[Line]:
        """Make a summary line for each agent, with the highest rating first."""
        lines = []
        for number, (spec, rating) in enumerate(zip(self.specs, ratings.agents, strict=True)):
            own = self.entrant == number
            share, scores, moves = self.win_share(own), self.scores_of(number), int(self.moves[own].sum())
            lines.append(
                Line(
                    agent=spec,
                    games=int(own.sum()),
                    win_share=share.value,
                    win_low=share.low,
                    win_high=share.high,
                    mean_score=float(scores.mean()) if len(scores) else np.nan,
                    rating=rating.value,
                    rating_low=rating.low,
                    rating_high=rating.high,
                    ms_per_move=1000 * float(self.seconds[own].sum()) / moves if moves else np.nan,
                )
            )
        return sorted(lines, key=lambda line: -line.rating)


def first_reasons(results: Iterable[Result], specs: Sequence[str]) -> dict[str, tuple[int, str]]:
    """For each agent that forfeited games, say how many, and the reason of the first forfeit."""
    found: dict[str, tuple[int, str]] = {}
    for result in results:
        if result.forfeit != NOBODY:
            spec = specs[result.task.seating[result.forfeit]]
            count, reason = found.get(spec, (0, result.reason))
            found[spec] = (count + 1, reason)
    return found
