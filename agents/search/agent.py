"""`search`: information-set Monte Carlo tree search, by the kernels of `siberia_agents.search.ismcts`.

A decision is searched anew each time, from what the player on turn knows and a seed made of the agent's own and of
that knowledge: the same view gets the same answer, whatever was asked before. With several threads each grows trees
of its own and visits are added up (root parallelism); a budget in seconds depends on the machine.
"""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents import greedy, heuristic  # noqa: F401 - they register the games' plans
from siberia_agents.interface import Agent
from siberia_agents.plan import check_plan
from siberia_agents.search import ismcts
from siberia_env.core.numeric import fill_logarithms
from siberia_env.core.rng import derive
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant
from siberia_env.view import View

CHUNK = 64  #: simulations between two looks at the clock
NODES_AT_START = 4096
MOST_SIMULATIONS, MOST_SECONDS, MOST_THREADS = 10**8, 10**6, 256


@dataclass(frozen=True)
class SearchResult:
    """What a search found, the most visited action first. n actions, P seats.

    Attributes:
        actions: int64 [n], the legal actions.
        visits: int64 [n], how many simulations began with each.
        scores: float64 [n, P], the mean final score of every seat in them, in points (`Game.score_unit`).
        win_shares: float64 [n, P], the mean share of the win.
        simulations: all of them.
        decisions: simulated in them, those of playouts included.
        seconds: of wall-clock time.
    """

    actions: NDArray[np.int64]
    visits: NDArray[np.int64]
    scores: NDArray[np.float64]
    win_shares: NDArray[np.float64]
    simulations: int
    decisions: int
    seconds: float


class Budget:
    """How long to think about a decision: simulations (`"1000"`) or seconds (`"0.5s"`)."""

    def __init__(self, text: str | int) -> None:
        given = str(text)
        self.seconds: float | None = None
        self.simulations: int | None = None
        try:
            if given.endswith("s"):
                self.seconds = float(given[:-1])
            else:
                self.simulations = int(given)
        except ValueError:
            raise ConfigurationError(f"search budget: {given!r}; give simulations (1000) or seconds (0.5s)") from None
        if self.simulations is not None and self.simulations < 1:
            raise ConfigurationError(f"search budget: {given}; at least 1 simulation")
        if self.simulations is not None and self.simulations > MOST_SIMULATIONS:
            raise ConfigurationError(f"search budget: {given}; at most {MOST_SIMULATIONS} simulations")
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise ConfigurationError(f"search budget: {given}; more than 0 seconds, and a finite number of them")
        if self.seconds is not None and self.seconds > MOST_SECONDS:
            raise ConfigurationError(f"search budget: {given}; at most {MOST_SECONDS} seconds")


def check_number(option: str, value: Any, above_zero: bool = False) -> float:
    """The `value` of a search's `option` as a number.

    Raises:
        ConfigurationError: it is none, or below 0; with `above_zero` also at 0.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < float("inf") or (above_zero and number == 0):
        raise ConfigurationError(f"search {option}: {value!r}; a number {'above 0' if above_zero else 'from 0 on'}")
    return number


def check_word(option: str, value: Any, words: tuple[str, ...]) -> int:
    """The place of `value` among the `words` that a search's `option` can be.

    Raises:
        ConfigurationError: it is none of them.
    """
    if value not in words:
        raise ConfigurationError(f"search {option}: no {value!r}; there are {', '.join(words)}")
    return words.index(value)


@lru_cache(maxsize=1)
def logarithms(size: int) -> NDArray[np.float32]:
    """The logarithm of every number below `size`; of 0 it is 0."""
    table = np.zeros(size, np.float32)
    fill_logarithms(table)
    return table


class Tree:
    """The trees of one thread: arrays made once and used for every decision. `agent` has the options."""

    def __init__(self, variant: Variant, agent: SearchAgent) -> None:
        game, players = variant.game, variant.num_players
        self.variant = variant
        self.agent = agent
        self.trees = players if game.has_secrets else 1
        self.states = variant.new_states(2)
        self.nodes = np.zeros(NODES_AT_START, ismcts.NODE)
        self.used = np.zeros(1, np.int64)
        self.mask = np.zeros(game.num_actions, np.int8)
        self.paths = np.zeros((players, ismcts.DEEPEST), np.int32)
        self.sums = np.zeros((game.num_actions, 2, players))
        self.decisions = np.zeros(1, np.int64)
        self.done = 0
        self.player = 0
        self.seed = np.uint64(0)

    def plant(self, sample: States, player: int, seed: int) -> None:
        """Begin a search by `player` from `sample` (an array of one state)."""
        self.states[0] = sample[0]
        self.player, self.seed = player, np.uint64(seed)
        ismcts.plant(self.nodes, self.used, self.trees)
        self.sums[:] = 0.0
        self.decisions[0] = 0
        self.done = 0

    def grow(self, until: int) -> None:
        """Carry on up to simulation `until`, with more room where it runs out."""
        while self.done < until:
            before = self.done
            self.done = self.simulate(until)
            if self.done == before:
                self.nodes = np.concatenate([self.nodes, np.zeros_like(self.nodes)])

    def simulate(self, until: int) -> int:
        """Simulations up to `until`, as far as there is room; the number of the next one due."""
        agent = self.agent
        settings = ismcts.Settings(
            trees=self.trees,
            players=self.variant.num_players,
            split=agent.split,
            exploration=agent.exploration,
            logarithms=logarithms(1 << max(16, until.bit_length())),
            playout=agent.playout,
            returns=agent.returns,
            scale=agent.scale,
        )
        return ismcts.grow(
            self.variant.rulesets, self.states, self.player, self.seed, self.done, until, self.forest(), settings
        )

    def forest(self) -> ismcts.Forest:
        """The arrays, for the kernels."""
        return ismcts.Forest(self.nodes, self.used, self.paths, self.mask, self.sums, self.decisions)

    def think(self, budget: Budget, part: int, deadline: float, early: bool) -> None:
        """Spend the budget, of which `part` threads have a share each; `early`: stop once the choice is settled."""
        started = time.perf_counter()
        until = 2**62 if budget.simulations is None else -(-budget.simulations // part)
        while self.done < until:
            self.grow(min(self.done + CHUNK, until))
            now = time.perf_counter()
            left = until - self.done
            if budget.seconds is not None:
                left = int((deadline - now) * self.done / (now - started))
            if left <= 0 or (early and ismcts.lead(self.nodes, self.root) > left):
                break

    @property
    def root(self) -> int:
        """The root of the searching player's tree."""
        return self.player if self.trees > 1 else 0


class SearchAgent(Agent):
    """Plays the action that a search visited most.

    Args:
        budget: a decision's, `"1000"` simulations or `"0.5s"`.
        exploration: the weight of the confidence bound.
        playout: `"random"`, `"greedy"` or `"heuristic"`.
        returns: what is maximised, `"win"`, `"margin"` or `"both"` (`ismcts.book_returns`).
        scale: margin at which a win counts 73%, in points.
        split: whether the trees descend by what is shown of secret decisions.
        threads: number of threads; a budget of simulations is divided among them.

    Raises:
        ConfigurationError: a budget or an option that there can't be.
    """

    name = "search"

    def __init__(
        self,
        budget: str | int = 1000,
        exploration: float = 0.7,
        playout: str = "random",
        returns: str = "win",
        scale: float = 10.0,
        split: bool = True,
        threads: int = 1,
    ) -> None:
        self.budget = Budget(budget)
        self.exploration = check_number("exploration", exploration)
        self.playout = check_word("playout", playout, ismcts.PLAYOUTS)
        self.returns = check_word("returns", returns, ismcts.RETURNS)
        self.scale = check_number("scale", scale, above_zero=True)
        self.split = bool(split)
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ConfigurationError(f"search threads: {threads!r}; a whole number from 1 on")
        if threads > MOST_THREADS:
            raise ConfigurationError(f"search threads: {threads}; at most {MOST_THREADS}")
        self.threads = threads
        self._seed = 0
        self._variant: Variant | None = None
        self._trees: list[Tree] = []

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Make room for searches of `variant`; `seed` decides all that is random in them.

        Raises:
            ConfigurationError: playouts by a plan that the game does not have.
        """
        if self.playout != ismcts.RANDOM:
            check_plan(variant, ismcts.PLAYOUTS[self.playout])
        self._seed = seed
        if self._variant is not variant:
            self._variant = variant
            self._trees = [self.new_tree(variant) for _ in range(self.threads)]

    def new_tree(self, variant: Variant) -> Tree:
        """The trees of one thread."""
        return Tree(variant, self)

    def act(self, view: View) -> int:
        """The most visited action; a single legal one without a search."""
        if len(view.legal_actions) == 1:
            return view.legal_actions[0]
        return int(self._search(view, early=self.threads == 1).actions[0])

    def act_with_visits(self, view: View) -> tuple[int, NDArray[np.int64] | None]:
        """The action that `act` takes, and how many simulations began with each action, int64 [A].

        None in place of the visits if nothing was searched. A search for visits spends its whole budget, where `act`
        stops once its choice is settled.
        """
        if len(view.legal_actions) == 1:
            return view.legal_actions[0], None
        found = self.search(view)
        visits = np.zeros(len(view.mask), np.int64)
        visits[found.actions] = found.visits
        return int(found.actions[0]), visits

    def search(self, view: View) -> SearchResult:
        """Search the decision and rank its legal actions."""
        return self._search(view, early=False)

    def _search(self, view: View, early: bool) -> SearchResult:
        if view.variant is not self._variant:
            self.start(view.variant, self._seed)
        started = time.perf_counter()
        deadline = started + (self.budget.seconds or 0.0)
        seed = decision_seed(self._seed, view)
        sample = view.sample(seed)
        for number, trees in enumerate(self._trees):
            trees.plant(sample, view.player, seed if number == 0 else derived(seed, number))
        if self.threads == 1:
            self._trees[0].think(self.budget, 1, deadline, early)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(lambda trees: trees.think(self.budget, self.threads, deadline, early), self._trees))
        return self._result(view, time.perf_counter() - started)

    def _result(self, view: View, seconds: float) -> SearchResult:
        visits = np.zeros(len(view.mask), np.int64)
        for trees in self._trees:
            ismcts.root_visits(trees.nodes, trees.root, visits)
        sums = np.sum([trees.sums for trees in self._trees], axis=0)
        actions = np.array(view.legal_actions, np.int64)
        order = actions[np.argsort(-visits[actions], kind="stable")]
        means = sums[order] / np.maximum(visits[order], 1)[:, None, None]
        return SearchResult(
            order,
            visits[order],
            means[:, 0],
            means[:, 1],
            sum(trees.done for trees in self._trees),
            sum(int(trees.decisions[0]) for trees in self._trees),
            seconds,
        )


def derived(seed: int, number: int) -> int:
    """The seed of thread `number`."""
    whole: Any = np.uint64(seed)
    return int(derive(whole, number, 0))


def decision_seed(seed: int, view: View) -> int:
    """A seed made of `seed` and what `view` shows: equal views have equal ones, others hardly ever."""
    shown = view.observation.tobytes() + view.mask.tobytes() + bytes([view.player])
    digest = hashlib.blake2b(shown, digest_size=8, key=(seed % 2**64).to_bytes(8, "little"))
    return int.from_bytes(digest.digest(), "little")
