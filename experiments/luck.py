"""How much luck the players of a game have had: a control variate for its result.

After each decision chance may have its say: cards are drawn, counters come out of the bag. A model can tell what every
seat's share of the win is expected to be after what chance brought, and what it would have been after other outcomes,
drawn from the same distribution. The difference is luck. Its mean is zero whatever the model says, so taking it off a
result leaves the mean result as it was, and makes it vary less if the model knows the game. This is the chance part of
AIVAT (Burch and others, "AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information
Games", 2018).

A shuffled stack is chance that has been settled early. Nobody has acted on the order of cards that nobody has seen, so
all its orders are still equally likely, and `redraw` draws another one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from siberia_env.core import engine
from siberia_env.core.engine import settle
from siberia_env.core.jit import kernel
from siberia_env.core.rng import derive
from siberia_env.game import States, Variant, apply, copy_states, is_over, observe, redraw, scores

OUTCOMES = 4  #: other outcomes of chance that each outcome is compared with


class Judge(Protocol):
    """Says what observers expect of the end of their games, as `siberia_agents.learned.Model` does."""

    def shares(self, observation: NDArray[np.float32], num_players: int) -> NDArray[np.float32]:
        """Each relative seat's expected share of the win: float32 [n, num_players] for observations [n, O]."""


@kernel
def imagine(
    rulesets: Any, worlds: Any, actions: Any, outcomes: int, seed: Any, over: Any, totals: Any, seen: Any
) -> None:
    """Let another outcome of chance follow each action, where nobody knows the outcome yet.

    Args:
        rulesets: the ruleset.
        worlds: states in which `actions` are about to be taken, `outcomes` copies of each one after the other; they are
            played on to the next decision or to the end of the game.
        actions: int64 [n], one for each state that was copied.
        outcomes: number of copies.
        seed: uint64, decides the outcomes.
        over: bool [n * outcomes], whether the game has ended; overwritten.
        totals: int64 [n * outcomes, P], every seat's points at the end; overwritten there.
        seen: float32 [n * outcomes, P, O], what every seat sees; overwritten where the game goes on.
    """
    for i in range(worlds.shape[0]):
        ruleset, world = rulesets[0], worlds[i]
        redraw(ruleset, world, derive(seed, i, 0))
        apply(ruleset, world, actions[i // outcomes])
        settle(ruleset, world)
        show(rulesets, worlds, i, over, totals, seen)


@kernel
def show_all(rulesets: Any, states: Any, over: Any, totals: Any, seen: Any) -> None:
    """Write what `imagine` writes for states as they are."""
    for i in range(states.shape[0]):
        show(rulesets, states, i, over, totals, seen)


@kernel
def show(rulesets: Any, states: Any, i: int, over: Any, totals: Any, seen: Any) -> None:
    """Write row i of what `imagine` writes."""
    ruleset, state = rulesets[0], states[i]
    over[i] = is_over(ruleset, state)
    if over[i]:
        scores(ruleset, state, totals[i])
    else:
        for seat in range(totals.shape[1]):
            observe(ruleset, state, seat, seen[i, seat])


class Shown:
    """What n states show: whether the game is over, and the points or what every seat sees."""

    def __init__(self, variant: Variant, count: int) -> None:
        players = variant.num_players
        self.over = np.zeros(count, np.bool_)
        self.totals = np.zeros((count, players), np.int64)
        self.seen = np.zeros((count, players, variant.game.observation_size), np.float32)


class Luck:
    """Adds up the luck of every seat in games that are played side by side.

    Attributes:
        total: float64 [G, P], every seat's luck so far, as shares of the win.
    """

    def __init__(self, variant: Variant, judge: Judge, games: int, seed: int) -> None:
        """Begin with no luck.

        Args:
            variant: what is played.
            judge: says what is expected.
            games: number of games.
            seed: decides the outcomes that are compared with, 0 .. 2**64 - 1.
        """
        self.variant, self.judge = variant, judge
        self.total = np.zeros((games, variant.num_players))
        self.random = np.random.default_rng(seed)

    def note_deal(self, states: States) -> None:
        """Note the luck of the deal: `states` are the games as they begin."""
        games = len(states)
        came, might = Shown(self.variant, games), Shown(self.variant, games * OUTCOMES)
        show_all(self.variant.rulesets, states, came.over, came.totals, came.seen)
        others, seed = self.variant.new_states(games * OUTCOMES), np.uint64(self._seed())
        for number in range(len(others)):
            engine.deal_at(self.variant.rulesets, others, number, seed, number, 0)
        show_all(self.variant.rulesets, others, might.over, might.totals, might.seen)
        self._note(np.arange(games), came, might)

    def note_step(self, games: NDArray[np.int64], before: States, actions: NDArray[np.int64], came: Shown) -> None:
        """Note the luck that followed an action in each of n games.

        Args:
            games: int64 [n], which games.
            before: n states in which the actions were taken.
            actions: int64 [n].
            came: what the games show after it.
        """
        might = Shown(self.variant, len(games) * OUTCOMES)
        worlds = copy_states(before, np.repeat(np.arange(len(games)), OUTCOMES))
        imagine(
            self.variant.rulesets,
            worlds,
            actions,
            OUTCOMES,
            np.uint64(self._seed()),
            might.over,
            might.totals,
            might.seen,
        )
        self._note(games, came, might)

    def after(self, states: States, over: NDArray[np.bool_], totals: NDArray[np.int64]) -> Shown:
        """What n games show after an action.

        Args:
            states: n states; those of games that are over are not read.
            over: bool [n], the games that have just ended.
            totals: int64 [n, P], their points.
        """
        came = Shown(self.variant, len(states))
        show_all(self.variant.rulesets, states, came.over, came.totals, came.seen)
        came.over[over], came.totals[over] = True, totals[over]
        return came

    def _seed(self) -> int:
        return int(self.random.integers(2**64, dtype=np.uint64))

    def _note(self, games: NDArray[np.int64], came: Shown, might: Shown) -> None:
        """Add what came, less the mean of what might have come."""
        count, players = len(games), self.variant.num_players
        over, totals = might.over.reshape(count, OUTCOMES), might.totals.reshape(count, OUTCOMES, players)
        seen = might.seen.reshape(count, OUTCOMES, players, -1)
        # Most decisions leave nothing to chance. Then every outcome looks alike to everybody, and there is no luck.
        decided = (over == came.over[:, None]).all(axis=1)
        decided &= np.where(came.over, True, (seen == came.seen[:, None]).all(axis=(1, 2, 3)))
        decided &= np.where(came.over, (totals == came.totals[:, None]).all(axis=(1, 2)), True)
        open_ = np.flatnonzero(~decided)
        if len(open_):
            mean = self._expected(
                over[open_].ravel(),
                totals[open_].reshape(-1, players),
                seen[open_].reshape(len(open_) * OUTCOMES, players, -1),
            )
            came_true = self._expected(came.over[open_], came.totals[open_], came.seen[open_])
            self.total[games[open_]] += came_true - mean.reshape(len(open_), OUTCOMES, players).mean(axis=1)

    def _expected(
        self, over: NDArray[np.bool_], totals: NDArray[np.int64], seen: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Every seat's share of the win: float64 [n, P], the true one at the end, before it what the judge expects.

        Each seat is asked for its own share, since it knows best what it holds. What the answers lack to one, or have
        too much, is divided equally.
        """
        players = totals.shape[1]
        won = totals == totals.max(axis=1, keepdims=True)
        expected = won / won.sum(axis=1, keepdims=True)
        rows = np.flatnonzero(~over)
        if len(rows):
            own = self.judge.shares(seen[rows].reshape(len(rows) * players, -1), players)[:, 0]
            own = own.reshape(len(rows), players).astype(np.float64)
            expected[rows] = own + (1 - own.sum(axis=1, keepdims=True)) / players
        return expected
