"""Tunes the constants of a game's heuristic plan by playing matches: `siberia tune card --players 2 --minutes 20`.

CMA-ES (Hansen, "The CMA evolution strategy: a tutorial", 2016; the package `cma`) draws candidates around a mean.
All candidates of a generation play the same deals in every seat order against the same opponents, the plan as it comes
with the suite among them, and count by their margins, squashed by tanh, so that a few games that were won by far don't
decide. At the end the mean plays fresh deals against the plan as it is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.heuristic import HeuristicAgent
from siberia_agents.interface import Agent
from siberia_agents.registry import make_agent
from siberia_agents.tunable import Tuned, tunable_plan
from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.game import Variant, find_game
from siberia_experiments.limits import check_budget, check_positive
from siberia_experiments.match import derived_seed, play_deals
from siberia_experiments.statistics import Interval

try:
    import cma
except ImportError as error:
    raise missing_extra("train", "tuning", error.name) from error

DEALS_STREAM, LAST_STREAM = 7, 8  #: of random numbers under a run's seed
SMALLEST = 0.05  #: a constant that is 0 is varied as one of this size
CONSTANTS, REPORT = "constants.json", "report.json"


@dataclass(frozen=True)
class TuneOptions:
    """The options of a tuning run. The budget is either `minutes` or `generations`.

    Attributes:
        game: the game's name.
        num_players: 2 to 4.
        rules: options of the game.
        components: the user's own component tables, as JSON has them; None for those of the box.
        opponents: specs of agents; each plays in all other seats of an equal share of a candidate's games.
        minutes: time, without that of the last measurement.
        generations: how often candidates are drawn.
        population: candidates in a generation; 0: what CMA-ES proposes for the number of constants.
        games: least number of games of each candidate against each opponent.
        last_games: least number of games of the last measurement.
        spread: the first standard deviation, as a share of each constant.
        scale: margin that counts 0.76 of a full win, in points.
        seed: decides everything that is random.
    """

    game: str = "card"
    num_players: int = 2
    rules: dict[str, Any] = field(default_factory=dict)
    components: dict[str, Any] | None = None
    opponents: tuple[str, ...] = ("heuristic",)
    minutes: float | None = None
    generations: int | None = None
    population: int = 0
    games: int = 400
    last_games: int = 4000
    spread: float = 0.15
    scale: float = 10.0
    seed: int = 0

    def check(self) -> None:
        """Raise `ConfigurationError` if an option is invalid."""
        check_budget(self, "tuning", "minutes", "generations")
        check_positive(self, "games", "last_games", "spread", "scale")
        if self.population != 0 and not 4 <= self.population <= 10_000:
            raise ConfigurationError(f"population: {self.population}; 4 to 10000, or 0 for what CMA-ES proposes")
        if not self.opponents:
            raise ConfigurationError("opponents: name at least one")


@dataclass(frozen=True)
class Generation:
    """What a generation came to.

    Attributes:
        number: from 1 on.
        part: share of the budget that is used, 0 to 1.
        mean: mean result of its candidates, -1 to 1.
        best: that of the best.
        spread: the standard deviation of the constants, as a share of what they were.
    """

    number: int
    part: float
    mean: float
    best: float
    spread: float


class Tuning:
    """A tuning run. `run()` yields after every generation; then `measure` says what was gained."""

    def __init__(self, options: TuneOptions) -> None:
        options.check()
        self.options = options
        self.variant: Variant = find_game(options.game).variant(options.num_players, options.rules, options.components)
        self.opponents: list[Agent] = [make_agent(spec) for spec in options.opponents]
        for opponent in self.opponents:
            opponent.start(self.variant, options.seed)
        self.plan = tunable_plan(self.variant.game.name)
        self.places = self.plan.used_by(options.num_players)
        self.sizes = np.maximum(np.abs(self.plan.start[self.places]), SMALLEST)
        settings: dict[str, Any] = {"seed": options.seed + 1, "verbose": -9}
        if options.population:
            settings["popsize"] = options.population
        self.strategy = cma.CMAEvolutionStrategy(np.zeros(len(self.places)), options.spread, settings)
        self.games = 0
        self.seconds = 0.0

    def weights(self, deviations: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """All constants, with those in question moved by `deviations` (shares of their sizes)."""
        weights = self.plan.start.copy()
        weights[self.places] += np.asarray(deviations) * self.sizes
        return weights

    def run(self) -> Iterator[Generation]:
        """Tune to the end of the budget."""
        number, part = 0, 0.0
        while part < 1.0:  # CMA-ES's own reasons to stop are those of a function without noise
            began = time.perf_counter()
            candidates = self.strategy.ask()
            seed = derived_seed(self.options.seed, DEALS_STREAM, number)
            results = [self.result(self.weights(candidate), seed) for candidate in candidates]
            self.strategy.tell(candidates, [-result for result in results])
            number += 1
            self.seconds += time.perf_counter() - began
            part = (
                self.seconds / (60 * self.options.minutes)
                if self.options.minutes is not None
                else number / (self.options.generations or 1)
            )
            spread = float(np.mean(self.strategy.result.stds))
            yield Generation(number, min(1.0, part), float(np.mean(results)), max(results), spread)

    def result(self, weights: NDArray[np.float64], seed: int) -> float:
        """The mean squashed margin of the plan with `weights` in the deals that `seed` gives, -1 to 1."""
        found = []
        for opponent in self.opponents:
            results = self._match(weights, opponent, self.options.games, seed)
            scores = results.scores
            players = scores.shape[1]
            margins = scores - (scores.sum(axis=1, keepdims=True) - scores) / (players - 1)
            found.append(np.tanh(margins[results.entrant == 0] / self.options.scale).mean())
            self.games += len(scores)
        return float(np.mean(found))

    def measure(self) -> dict[str, Interval]:
        """The share of fresh games that the tuned plan wins, one seat against each opponent in all others.

        The plan as it comes with the suite is always one of them.
        """
        named = dict(zip(self.options.opponents, self.opponents, strict=True))
        named.setdefault("heuristic", HeuristicAgent())
        seed = derived_seed(self.options.seed, LAST_STREAM, 0)
        found = {}
        for name, opponent in named.items():
            results = self._match(self.tuned, opponent, self.options.last_games, seed)
            found[name] = results.win_rate(0)
        return found

    @property
    def tuned(self) -> NDArray[np.float64]:
        """All constants as the mean of the candidates has them."""
        return self.weights(self.strategy.result.xfavorite)

    def _match(self, weights: NDArray[np.float64], opponent: Agent, games: int, seed: int) -> Any:
        """One seat for the plan with `weights`, all others for `opponent`."""
        agents = [Tuned((self.variant.game.name, weights)), *[opponent] * (self.options.num_players - 1)]
        entrants = [0, *[1] * (self.options.num_players - 1)]
        return play_deals(self.variant, agents, games, seed, entrants=entrants)

    def save(self, folder: Path, gains: dict[str, Interval]) -> None:
        """Write the constants, and how they were found, into `folder`."""
        constants = self.plan.as_json(self.tuned, self.variant.game.name)
        report = {
            "options": asdict(self.options),
            "generations": int(self.strategy.result.iterations),
            "games": self.games,
            "seconds": round(self.seconds, 1),
            "win_rates": {name: asdict(rate) for name, rate in gains.items()},
        }
        for name, told in ((CONSTANTS, constants), (REPORT, report)):
            partial = folder / f"{name}.partial"
            partial.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
            partial.replace(folder / name)
