"""Trials: which settings make better policies? Each arm is trained from several seeds and measured on the same deals.

`siberia trial card --arm critic=true --seeds 3 --decisions 6000000` trains with the settings given and with a critic
that sees the hidden blocks, from three seeds each, and tells how much more often the second wins, with an interval over
the seeds. A trial that was stopped goes on where it was.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from siberia_agents.learned import LearnedAgent, load_model
from siberia_agents.registry import make_agent
from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.files import read_bytes, write_whole
from siberia_env.spelling import did_you_mean
from siberia_experiments.arguments import read_counts, read_fields, read_rules
from siberia_experiments.limits import check_player_counts, check_positive
from siberia_experiments.match import play_deals
from siberia_experiments.statistics import Interval
from siberia_experiments.training.league import Mix
from siberia_experiments.training.run import Training, TrainOptions, checkpoint_path, make_folder

try:
    from scipy import stats
except ImportError as error:
    raise missing_extra("train", "trials", error.name) from error

FORMAT = "siberia-trial/1"
OPTIONS, RESULTS = "trial.json", "trial.csv"
BASE = "as given"  #: the name of the arm that nothing is changed in
OWN = ("players", "minutes", "decisions", "start_from")  #: what an arm may change besides settings and mix
LARGEST = 2**24  #: bytes of a trial's own files


@dataclass(frozen=True)
class TrialOptions:
    """The options of a trial.

    Attributes:
        base: how the first arm is trained; its seed is the first one.
        arms: the changes of each further arm, such as `critic=true` or `players=2/3/4,decisions=9000000`.
        seeds: runs of each arm.
        num_players: the player counts that policies are measured at; an arm is measured at those it is trained for.
        against: agents that take all other seats in turn.
        games: least number of games of each measurement.
    """

    base: TrainOptions
    arms: tuple[str, ...]
    seeds: int = 3
    num_players: tuple[int, ...] = (2,)
    against: tuple[str, ...] = ("heuristic", "greedy")
    games: int = 1000

    def check(self) -> None:
        """Raise `ConfigurationError` if an option is invalid."""
        if not self.arms:
            raise ConfigurationError("--arm: name at least one change of the settings, such as critic=true")
        names = [BASE, *self.arms]
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"--arm: {name!r} is given twice")
        check_positive(self, "seeds", "games")
        check_player_counts(self.num_players)
        if not self.against:
            raise ConfigurationError("against: name at least one agent")
        for options in self.options_of_arms().values():
            options.check()
            if not set(self.num_players) & set(options.num_players):
                raise ConfigurationError(
                    f"players: none of {self.num_players} is among {options.num_players}, which an arm is trained for"
                )

    def options_of_arms(self) -> dict[str, TrainOptions]:
        """How each arm is trained, by name, with the first seed."""
        base = self.base.in_force()
        return {BASE: base} | {arm: changed(base, arm) for arm in self.arms}

    def as_json(self) -> dict[str, Any]:
        """The options as JSON has them: lists for tuples."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def changed(base: TrainOptions, arm: str) -> TrainOptions:
    """The options of an arm: `base` with the changes that `arm` names.

    Raises:
        ConfigurationError: a name that there isn't, or a value of the wrong kind.
    """
    assert base.settings is not None
    parts: dict[str, list[str]] = {"settings": [], "mix": [], "own": []}
    of = dict.fromkeys(OWN, "own")
    of |= {one.name: "mix" for one in fields(Mix)} | {one.name: "settings" for one in fields(base.settings)}
    for part, name in zip(filter(None, arm.split(",")), read_rules(arm, "--arm"), strict=True):
        if name not in of:
            raise ConfigurationError(f"--arm: no {name!r}{did_you_mean(name, of)}; there are {', '.join(of)}")
        parts[of[name]].append(part)
    options = replace(
        base,
        settings=read_fields("--arm", ",".join(parts["settings"]), base.settings),
        mix=read_fields("--arm", ",".join(parts["mix"]), base.mix),
    )
    for part in parts["own"]:
        name, _, value = (text.strip() for text in part.partition("="))
        options = _with_own(options, name, value)
    return options


def _with_own(options: TrainOptions, name: str, value: str) -> TrainOptions:
    if name == "players":
        return replace(options, num_players=read_counts(value.replace("/", ",")))
    if name == "start_from":
        return replace(options, start_from=value)
    try:
        if name == "minutes":
            return replace(options, minutes=float(value), decisions=None)
        return replace(options, decisions=int(value), minutes=None)
    except ValueError:
        raise ConfigurationError(f"--arm: {name}={value}; it has to be a number") from None


@dataclass(frozen=True)
class Result:
    """What one run's policy won.

    Attributes:
        arm: the arm's name.
        seed: the run's.
        players: how many played.
        opponent: who sat in all other seats.
        win_rate: share of the games won.
        decisions: decisions that the run took.
        seconds: seconds of training.
    """

    arm: str
    seed: int
    players: int
    opponent: str
    win_rate: float
    decisions: int
    seconds: float


@dataclass
class Trial:
    """A trial in a folder. `run()` yields after each run of an arm what its policy won."""

    options: TrialOptions
    folder: Path
    results: list[Result] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Check the options, and take up what the folder holds.

        Raises:
            ConfigurationError: an option is invalid, or the folder holds another trial, or is damaged.
        """
        self.options.check()
        make_folder(self.folder)
        path = self.folder / OPTIONS
        told = {"format": FORMAT, **self.options.as_json()}
        if path.exists():
            try:
                same = json.loads(read_bytes(path, LARGEST)) == told
                self.results = self._read()
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise ConfigurationError(f"--out: the trial in {self.folder} is damaged ({error})") from error
            if not same:
                raise ConfigurationError(f"--out: {self.folder} holds a trial with other options; name another folder")
        else:
            write_whole(path, [json.dumps(told, indent=1).encode() + b"\n"])

    def run(self) -> Iterator[list[Result]]:
        """Train and measure what is missing, all arms with one seed before the next seed."""
        arms = self.options.options_of_arms()
        for seed in range(self.options.base.seed, self.options.base.seed + self.options.seeds):
            for number, (arm, options) in enumerate(arms.items()):
                if any((result.arm, result.seed) == (arm, seed) for result in self.results):
                    continue
                folder = self.folder / f"arm-{number}-seed-{seed}"
                if checkpoint_path(folder).exists():
                    training = Training.resume(folder, options.game)
                else:
                    training = Training(replace(options, seed=seed), folder)
                for _ in training.run():
                    pass
                new = self._measured(arm, seed, training)
                self.results += new
                self._write()
                yield new

    def _measured(self, arm: str, seed: int, training: Training) -> list[Result]:
        """What the policy of a finished run wins."""
        model, found = load_model(training.model_path), []
        for variant in training.variants:
            if variant.num_players not in self.options.num_players:
                continue
            entrants = [0, *[1] * (variant.num_players - 1)]
            for spec in self.options.against:
                agents = [LearnedAgent(model), *(make_agent(spec) for _ in entrants[1:])]
                games = play_deals(variant, agents, self.options.games, self.options.base.seed, entrants=entrants)
                rate = games.win_rate(0).value
                decisions = training.learner.decisions
                found.append(Result(arm, seed, variant.num_players, spec, rate, decisions, round(training.seconds, 1)))
        return found

    def _write(self) -> None:
        text = StringIO(newline="")
        rows = csv.DictWriter(text, [one.name for one in fields(Result)], lineterminator="\n")
        rows.writeheader()
        rows.writerows(asdict(result) for result in self.results)
        write_whole(self.folder / RESULTS, [text.getvalue().encode()])

    def _read(self) -> list[Result]:
        path = self.folder / RESULTS
        if not path.exists():
            return []
        rows = csv.DictReader(read_bytes(path, LARGEST).decode().splitlines())
        kinds: Mapping[str, Any] = {"seed": int, "players": int, "win_rate": float, "decisions": int, "seconds": float}
        return [Result(**{name: kinds.get(name, str)(value) for name, value in row.items()}) for row in rows]


@dataclass(frozen=True)
class Verdict:
    """An arm over all its seeds.

    Attributes:
        arm, players, opponent: what was measured.
        rate: mean share of games won, with Student's 95% interval over the seeds.
        gain: mean difference to the first arm with the same seed, likewise; None for the first arm itself.
        decisions: mean decisions of a run.
        seconds: mean seconds of training.
    """

    arm: str
    players: int
    opponent: str
    rate: Interval
    gain: Interval | None
    decisions: float
    seconds: float


def verdicts(results: Sequence[Result]) -> list[Verdict]:
    """Compare the arms, by player count and opponent; the first arm is what others are compared to."""
    found = []
    keys = dict.fromkeys((result.players, result.opponent, result.arm) for result in results)
    first = results[0].arm if results else BASE
    for players, opponent, arm in sorted(keys, key=lambda key: (key[0], key[1])):
        by_seed = _by_seed(results, arm, players, opponent)
        base = _by_seed(results, first, players, opponent)
        differences = [by_seed[seed].win_rate - base[seed].win_rate for seed in by_seed if seed in base]
        runs = list(by_seed.values())
        found.append(
            Verdict(
                arm,
                players,
                opponent,
                student([result.win_rate for result in runs]),
                None if arm == first or not differences else student(differences),
                float(np.mean([result.decisions for result in runs])),
                float(np.mean([result.seconds for result in runs])),
            )
        )
    return found


def _by_seed(results: Sequence[Result], arm: str, players: int, opponent: str) -> dict[int, Result]:
    wanted = (arm, players, opponent)
    return {result.seed: result for result in results if (result.arm, result.players, result.opponent) == wanted}


def student(values: Sequence[float]) -> Interval:
    """The mean of a few values with Student's 95% interval, which is infinite for a single value."""
    mean = float(np.mean(values))
    if len(values) == 1:
        return Interval(mean, -math.inf, math.inf)
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return Interval(mean, mean - half, mean + half)
