"""A training run: `siberia train card --minutes 30 --out runs/mine`.

One run is one folder. It holds `model.npz` (the newest policy that was not measured to be clearly worse than the best,
for the agent `learned`), `checkpoint.bin` (everything that a resumed run needs), `curve.csv` and `curve.png` (win rates
over time), `tensorboard/`, and `model.components.json` if the user gave component tables. A checkpoint is written as a
whole or not at all, so a killed run loses only what came after the last one.

With `decisions` as the budget and one thread on a CPU, the same seed gives the same run, resumed or not. With `minutes`
the learning rate falls with time, so the run depends on the machine.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from siberia_agents.greedy import GreedyAgent
from siberia_agents.heuristic import HeuristicAgent
from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent, Model, head_sizes, load_model, observation_version
from siberia_agents.plan import has_plan
from siberia_agents.random_agent import RandomAgent
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, ModelError, SiberiaError, missing_extra
from siberia_env.game import Variant, find_game
from siberia_experiments.limits import check_at_most, check_budget, check_player_counts, check_positive
from siberia_experiments.match import Results, play_games
from siberia_experiments.statistics import Interval
from siberia_experiments.training.checkpoint import load_checkpoint, save_checkpoint

try:
    import torch as th

    from siberia_experiments.training.league import PLANS, Mix, PlanOpponent
    from siberia_experiments.training.ppo import Learner, PastSelf, PolicyNetwork, Settings

    for package in ("matplotlib", "tensorboard"):  # needed at the end of a run or inside torch
        if find_spec(package) is None:
            raise ImportError(name=package)
    from torch.utils.tensorboard import SummaryWriter
except ImportError as error:
    raise missing_extra("train", "training", error.name) from error

LOG_FOLDER = "tensorboard"
MOST = {"threads": 1024, "evaluation_games": 10**7}  #: far beyond what helps a run
RUN_FORMAT = "siberia-run/1"
WARM_UP = 8_000_000  #: decisions in which the other heads learn if a run starts from a model that has a policy alone

#: Settings that differ between the games (docs/results.md says by which trials). A board game lasts longer and pays
#: several times as much. A game from outside begins with the card game's.
GAME_SETTINGS: dict[str, Settings] = {
    "card": Settings(),
    "board": Settings(entropy=(0.005, 0.001), win_reward=2.0, reward_scale=0.2),
}


@dataclass(frozen=True)
class TrainOptions:
    """The options of a run. The budget is either `minutes` or `decisions`.

    Attributes:
        game: the game's name.
        num_players: the player counts to train for, each 2 to 4; one policy plays them all.
        rules: options of the game.
        components: the user's own component tables, as JSON has them; None for those of the box.
        seed: decides everything that is random.
        minutes: training time, without the time for evaluations.
        decisions: number of decisions, all seats together.
        settings: how the algorithm goes about it; None: the game's (`GAME_SETTINGS`).
        mix: opponents.
        device: torch's name of the device that learns: `"cpu"`, `"cuda"`; `"auto"` takes a GPU where there is one.
        threads: number of torch threads.
        checkpoint_seconds: seconds between two checkpoints.
        evaluation_seconds: seconds between two points of the learning curve.
        evaluation_games: number of games for each point, player count and opponent.
        start_from: model file that training starts from, possibly for other player counts; None: start from nothing.
    """

    game: str = "card"
    num_players: tuple[int, ...] = (2,)
    rules: dict[str, Any] = field(default_factory=dict)
    components: dict[str, Any] | None = None
    seed: int = 0
    minutes: float | None = None
    decisions: int | None = None
    settings: Settings | None = None
    mix: Mix = field(default_factory=Mix)
    device: str = "auto"
    threads: int = 2
    checkpoint_seconds: float = 30.0
    evaluation_seconds: float = 60.0
    evaluation_games: int = 400
    start_from: str | None = None

    def check(self) -> None:
        """Raise `ConfigurationError` if an option is invalid."""
        check_budget(self, "training", "minutes", "decisions")
        check_player_counts(self.num_players)
        check_positive(self, "threads", "evaluation_games")
        check_at_most(self, MOST)
        if self.settings is not None:
            self.settings.check()
        self.mix.check()
        if check_seed(self.seed) >= 2**32:
            raise ConfigurationError(f"seed: {self.seed}; for training at most 2**32 - 1, as the libraries take it")
        find_device(self.device)

    def in_force(self) -> TrainOptions:
        """The same options with the game's settings where none are given."""
        if self.settings is not None:
            return self
        return replace(self, settings=game_settings(self.game))

    def as_json(self) -> dict[str, Any]:
        """The options as JSON has them: lists for tuples."""
        return json.loads(json.dumps(asdict(self)))


def options_from_json(stored: Mapping[str, Any]) -> TrainOptions:
    """The options that `TrainOptions.as_json` gave.

    Raises:
        TypeError: they aren't.
    """
    told = dict(stored)
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in told["settings"].items()
    }
    told.update(settings=Settings(**settings), mix=Mix(**told["mix"]), num_players=tuple(told["num_players"]))
    return TrainOptions(**told)


def game_settings(game: str) -> Settings:
    """The settings for a game.

    Raises:
        ConfigurationError: there is no such game.
    """
    return GAME_SETTINGS.get(find_game(game).name, GAME_SETTINGS["card"])


def find_device(name: str) -> th.device:
    """The device of that name.

    Raises:
        ConfigurationError: it isn't there, or torch knows no such device.
    """
    if name == "auto":
        return th.device("cuda" if th.cuda.is_available() else "cpu")
    try:
        device = th.device(name)
        th.zeros(1, device=device)
        th.Generator(device)  # torch has devices that hold no numbers, such as `meta`
    except (RuntimeError, AssertionError, ImportError, ValueError) as error:
        there = ["cpu", *(f"cuda:{number}" for number in range(th.cuda.device_count()))]
        raise ConfigurationError(f"device: {name!r} is not here; here are {', '.join(there)}") from error
    return device


@dataclass(frozen=True)
class CurvePoint:
    """A measurement of the policy in training, after `decisions` decisions and `seconds`.

    Attributes:
        decisions: decisions so far, all seats together.
        seconds: seconds of training so far.
        win_rates: share of games won, by player count and opponent, who holds all other seats.
    """

    decisions: int
    seconds: float
    win_rates: dict[tuple[int, str], Interval]


@dataclass(frozen=True)
class Progress:
    """The state of a run after an iteration.

    Attributes:
        part: share of the budget that is used, 0 to 1.
        decisions: decisions so far, all seats together.
        seconds: seconds of training so far.
        speed: decisions a second in this process.
        learnt_part: share of the decisions that were the policy's own and free, so that it learnt from them.
        point: the newest point of the learning curve if this iteration measured one, otherwise None.
    """

    part: float
    decisions: int
    seconds: float
    speed: float
    learnt_part: float
    point: CurvePoint | None


class Training:
    """One training run. `run()` trains to the end of the budget and yields after every iteration."""

    def __init__(self, options: TrainOptions, folder: Path) -> None:
        options.check()
        options = options.in_force()
        assert options.settings is not None
        settings = options.settings
        game = find_game(options.game)
        self.variants: list[Variant] = [
            game.variant(count, options.rules, options.components) for count in options.num_players
        ]
        start = None if options.start_from is None else model_to_start_from(options.start_from, options)
        if start is not None:
            settings = replace(settings, imitate=0)
            if len(start.heads) < len(head_sizes(game)) and settings.warm_up == 0:
                settings = replace(settings, warm_up=WARM_UP)
        self.settings = settings
        self.options = replace(options, settings=settings)  # for a resumed run, which has no model to start from
        self.folder = folder
        make_folder(folder)
        self._keep_components()
        th.set_num_threads(1 if self.settings.overlap else options.threads)
        plans = [PlanOpponent(name, self.variants) for name in PLANS if has_plan(self.variants[0], name)]
        self.learner = Learner(
            self.variants, plans, options.mix, self.settings, options.seed, find_device(options.device)
        )
        if start is not None:
            put_weights(self.learner.network, start)
            self.learner.hold_to()
        self.seconds = 0.0
        self.curve: list[CurvePoint] = []
        self.best: Model | None = None
        self.best_rate = -1.0
        self._evaluated = self._checkpointed = 0.0

    @property
    def baselines(self) -> list[Agent]:
        """Fixed agents that the learning curve is measured against."""
        plans = [GreedyAgent(), HeuristicAgent()]
        found = [agent for agent in plans if has_plan(self.variants[0], agent.name)]
        return [*found] if found else [RandomAgent()]

    # ------------------------------------------------------------ the run

    def run(self) -> Iterator[Progress]:
        """Train to the end of the budget. The model and the checkpoint are up to date when it ends."""
        learner = self.learner
        decisions_before, learnt_before, seconds_before = learner.decisions, learner.learnt, self.seconds
        with SummaryWriter(str(self.folder / LOG_FOLDER)) as log:
            while self.part() < 1.0:
                began = time.perf_counter()
                learner.iterate(min(1.0, self.part()))
                self.seconds += time.perf_counter() - began
                for name in learner.losses.names:
                    log.add_scalar(f"train/{name}", getattr(learner.losses, name), learner.decisions)
                finished = self.part() >= 1.0
                point = None
                if finished or self.seconds - self._evaluated >= self.options.evaluation_seconds:
                    point = self.evaluate()
                    for (players, opponent), rate in point.win_rates.items():
                        log.add_scalar(f"win_rate/{players} players, {opponent}", rate.value, learner.decisions)
                if finished or self.seconds - self._checkpointed >= self.options.checkpoint_seconds:
                    self.save()
                spent, decided = self.seconds - seconds_before, learner.decisions - decisions_before
                log.add_scalar("time/decisions_per_second", decided / spent, learner.decisions)
                yield Progress(
                    min(1.0, self.part()),
                    learner.decisions,
                    self.seconds,
                    decided / spent,
                    (learner.learnt - learnt_before) / decided,
                    point,
                )

    def part(self) -> float:
        """The share of the budget that is used; 1 or more when the run is over."""
        if self.options.decisions is not None:
            return self.learner.decisions / self.options.decisions
        assert self.options.minutes is not None
        return self.seconds / (60 * self.options.minutes)

    def evaluate(self) -> CurvePoint:
        """Measure the averaged policy for the learning curve, and keep it unless it is clearly worse than the best."""
        self._evaluated = self.seconds
        model = self.model()
        opponents = self.baselines
        past = next((one for one in self.learner.league.past if isinstance(one, PastSelf)), None)
        if past is not None:
            opponents.append(_Named("past", self.model_of(past.network)))
        rates = {}
        for variant in self.variants:
            for opponent in opponents:
                agents = [LearnedAgent(model), *[opponent] * (variant.num_players - 1)]
                results: Results = play_games(
                    variant, agents, self.options.evaluation_games, self.options.seed + len(self.curve)
                )
                rates[variant.num_players, opponent.name] = results.win_rate(0)
        point = CurvePoint(self.learner.decisions, self.seconds, rates)
        self.curve.append(point)
        self._keep_best(model, [rates[variant.num_players, self.baselines[-1].name] for variant in self.variants])
        return point

    def _keep_best(self, model: Model, rates: list[Interval]) -> None:
        """Keep the new policy unless it has been measured to be clearly worse than the one kept."""
        rate, high = (float(np.mean([getattr(one, name) for one in rates])) for name in ("value", "high"))
        if self.best is None or high >= self.best_rate:
            self.best = model
            self.best_rate = max(self.best_rate, rate)

    def model(self) -> Model:
        """The averaged policy as it is now."""
        return self.model_of(self.learner.average)

    def model_of(self, network: PolicyNetwork) -> Model:
        """The weights of `network` as a model."""
        layers = network.as_arrays()
        trained = {
            "decisions": self.learner.decisions,
            "seconds": round(self.seconds, 1),
            "rules": self.variants[0].rules_as_json(),
            "options": self.options.as_json(),
        }
        game = self.variants[0].game
        return Model(game.name, tuple(sorted(self.options.num_players)), layers, head_sizes(game), trained)

    # ------------------------------------------------------------ saving and resuming

    @property
    def model_path(self) -> Path:
        """Where the policy is saved."""
        return self.folder / "model.npz"

    @property
    def components_path(self) -> Path:
        """Where the user's component tables are kept."""
        return self.folder / "model.components.json"

    def _keep_components(self) -> None:
        """Save the component tables for later games with the model, in case the user's own file changes."""
        if self.options.components is None:
            self.components_path.unlink(missing_ok=True)  # the file may be left from an earlier run
            return
        temporary = self.components_path.with_suffix(".partial")
        temporary.write_text(json.dumps(self.options.components, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.components_path)

    def save(self) -> None:
        """Write model, learning curve and checkpoint. Each file replaces its predecessor as a whole.

        Raises:
            ModelError: a file can't be written; what was there is as it was.
        """
        self._checkpointed = self.seconds
        try:
            (self.best or self.model()).save(self.model_path)
            self._write_curve()
        except OSError as error:
            raise ModelError(f"run: can't write into {self.folder}: {error.strerror or error}") from error
        state = self.learner.state()
        data = {
            "run": RUN_FORMAT,
            "observation": observation_version(self.variants[0].game),
            "states": self._layout(),
            "options": self.options.as_json(),
            "seconds": self.seconds,
            "evaluated": self._evaluated,
            "best_rate": self.best_rate,
            "best_trained": None if self.best is None else self.best.trained,
            "curve": [
                [
                    point.decisions,
                    point.seconds,
                    [[*key, *asdict(rate).values()] for key, rate in point.win_rates.items()],
                ]
                for point in self.curve
            ],
        }
        parts: dict[str, Any] = {"state": state}
        if self.best is not None:
            parts["best"] = [list(layer) for layer in self.best.layers]
        plain, arrays = _taken_apart(parts)
        save_checkpoint(checkpoint_path(self.folder), {**data, "parts": plain}, arrays)

    def _layout(self) -> str:
        """A fingerprint of what the bytes of states depend on."""
        digest = sha256(repr(self.variants[0].game.state_dtype.descr).encode())
        for variant in self.variants:
            digest.update(variant.rulesets.tobytes())
        return digest.hexdigest()[:16]

    @classmethod
    def resume(cls, folder: Path, game: str, **changes: Any) -> Training:
        """Continue the run in `folder` from its last checkpoint. `changes` replace options, such as the budget.

        Raises:
            ConfigurationError: a changed option is invalid, or the folder is not writable.
            ModelError: there is no checkpoint, or it is damaged, or of another game, format or observation version.
        """
        path = checkpoint_path(folder)
        if not path.exists():
            raise ModelError(f"resume: there is no checkpoint in {folder}")
        try:
            checkpoint = load_checkpoint(path)
        except ModelError as error:
            raise ModelError(f"resume: {str(error).removeprefix('checkpoint: ')}") from error
        data = checkpoint.data
        if data.get("run") != RUN_FORMAT:
            raise ModelError(f"resume: {path} has format {data.get('run')!r}, this version reads {RUN_FORMAT!r}")
        try:
            options = replace(options_from_json(data["options"]), start_from=None)
            find_game(options.game)
            replace(options, device="auto").check()  # the run's own device need not be here
        except Exception as error:  # the file can hold anything
            raise ModelError(f"resume: {path} is damaged ({_first_line(error)})") from error
        if options.game != game:
            raise ModelError(f"resume: {path} is a run of the game {options.game!r}, not of {game!r}")
        version, current = data.get("observation"), observation_version(find_game(game))
        if version != current:
            raise ModelError(
                f"resume: {path} was trained on observation version {version}, "
                f"this version of the suite has {current}: train it anew"
            )
        changed = replace(options, **changes)
        changed.check()
        try:
            training = cls(changed, folder)
        except SiberiaError:
            raise
        except Exception as error:
            raise ModelError(f"resume: {path} is damaged ({_first_line(error)})") from error
        training.options = replace(training.options, start_from=data["options"]["start_from"])
        if data.get("states") != training._layout():
            raise ModelError(f"resume: {path} holds games of another version of the suite: train it anew")
        try:
            training._restore(data, checkpoint.arrays)
        except Exception as error:  # the parts of the checkpoint don't fit together
            raise ModelError(f"resume: {path} is damaged ({_first_line(error)})") from error
        return training

    def _restore(self, data: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Restore everything from the checkpoint."""
        parts = _put_together(data["parts"], arrays)
        state = parts["state"]
        network = self.learner.network
        for name in ("network", "average", "anchor", "acting"):
            if state[name] is not None:
                state[name] = {key: th.from_numpy(array) for key, array in state[name].items()}
        optimizer = self.learner.optimizer.state_dict()
        optimizer["state"] = {
            int(number): {key: th.from_numpy(np.asarray(array)) for key, array in moments.items()}
            for number, moments in state["optimizer"]["state"].items()
        }
        for place, parameter in enumerate(network.parameters()):
            for name, tensor in optimizer["state"].get(place, {}).items():
                if tensor.shape != (() if name == "step" else parameter.shape):
                    raise ValueError("the optimiser's numbers are of another network")
        state["optimizer"] = optimizer
        player = state["player"]
        for env, games in zip(self.learner.player.tables.envs, player["games"], strict=True):
            games["played"], games["states"] = env.snapshot()["played"], games["states"].tobytes()
        past = []
        for weights in player["past"]:
            one = self.learner.past_self(network)
            one.network.load_state_dict({key: th.from_numpy(array) for key, array in weights.items()})
            past.append(one)
        player["past"] = past
        self.seconds = self._checkpointed = float(data["seconds"])
        self._evaluated = float(data["evaluated"])
        self.curve = [
            CurvePoint(
                int(decisions),
                float(seconds),
                {(int(players), str(name)): Interval(*map(float, rate)) for players, name, *rate in rows},
            )
            for decisions, seconds, rows in data["curve"]
        ]
        self.best_rate = float(data["best_rate"])
        if "best" in parts:
            own = self.model()
            layers = [(weight, bias) for weight, bias in parts["best"]]
            for layer, new in zip(own.layers, layers, strict=True):
                if [part.shape for part in layer] != [part.shape for part in new]:
                    raise ValueError("the best policy is of another network")
            self.best = replace(own, layers=layers, trained=dict(data["best_trained"]))
        self.learner.restore(state)

    def _write_curve(self) -> None:
        path = self.folder / "curve.csv"
        temporary = path.with_suffix(".partial")
        with temporary.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["decisions", "seconds", "players", "opponent", "win_rate", "low", "high"])
            for point in self.curve:
                for players, opponent, *rate in _rows(point):
                    numbers = [f"{number:.4f}" for number in rate]
                    rows.writerow([point.decisions, f"{point.seconds:.1f}", players, opponent, *numbers])
        temporary.replace(path)


def _rows(point: CurvePoint) -> list[list[Any]]:
    """The win rates of a point: player count, opponent, and the interval's three numbers."""
    return [[*key, rate.value, rate.low, rate.high] for key, rate in point.win_rates.items()]


class _Named(LearnedAgent):
    """A policy under another name."""

    def __init__(self, name: str, model: Model) -> None:
        super().__init__(model)
        self.name = name


def _taken_apart(value: Any, path: str = "") -> tuple[Any, dict[str, Any]]:
    """Nested data as a checkpoint holds it: plain data, and arrays by the path at which they stood."""
    arrays: dict[str, Any] = {}
    if isinstance(value, PastSelf):
        value = value.network.state_dict()
    if isinstance(value, th.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, bytes):
        value = np.frombuffer(value, np.uint8)
    if isinstance(value, np.ndarray):
        return {"array": path}, {path: value}
    if isinstance(value, Mapping):
        plain: Any = {}
        for key, part in value.items():
            if key not in ("played", "param_groups"):  # these are made anew
                plain[str(key)], found = _taken_apart(part, f"{path}/{key}")
                arrays.update(found)
        return plain, arrays
    if isinstance(value, list | tuple):
        plain = []
        for number, part in enumerate(value):
            own, found = _taken_apart(part, f"{path}/{number}")
            plain.append(own)
            arrays.update(found)
        return plain, arrays
    return value, arrays


def _put_together(value: Any, arrays: dict[str, Any]) -> Any:
    """What `_taken_apart` took apart."""
    if isinstance(value, dict):
        if list(value) == ["array"]:
            return arrays[value["array"]]
        return {key: _put_together(part, arrays) for key, part in value.items()}
    if isinstance(value, list):
        return [_put_together(part, arrays) for part in value]
    return value


def put_weights(network: PolicyNetwork, model: Model) -> None:
    """Give `network` the weights of a saved model. Heads that the model doesn't have stay as they are."""
    with th.no_grad():
        for layer, (weight, bias) in zip(network.layers[:-1], model.layers[:-1], strict=True):
            layer.weight.copy_(th.from_numpy(weight.T))
            layer.bias.copy_(th.from_numpy(bias))
        (weight, bias), start = model.layers[-1], 0
        for name, size in zip(head_sizes(find_game(model.game)), network.sizes, strict=True):
            if name in model.heads:
                own = model.head(name)
                network.heads.weight[start : start + size] = th.from_numpy(weight.T[own].copy())
                network.heads.bias[start : start + size] = th.from_numpy(bias[own].copy())
            start += size


def model_to_start_from(path: str, options: TrainOptions) -> Model:
    """Load the saved model at `path`, for training with `options`.

    Raises:
        ModelError: the model can't be used, or has another game or network.
    """
    assert options.settings is not None
    model = load_model(path)
    if model.game != find_game(options.game).name:
        raise ModelError(f"start_from: {path} is a model of the game {model.game!r}, not of {options.game!r}")
    widths = tuple(weight.shape[1] for weight, _ in model.layers[:-1])
    if widths != options.settings.network:
        raise ModelError(f"start_from: {path} has the network {widths}, training {options.settings.network}")
    return model


def checkpoint_path(folder: Path) -> Path:
    """The path of a run's checkpoint."""
    return folder / "checkpoint.bin"


def _first_line(error: Exception) -> str:
    """The first line of an error's message, or the name of its class if it has no message."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def make_folder(folder: Path) -> None:
    """Make sure that results can be written into `folder`.

    Raises:
        ConfigurationError: they can't be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigurationError(f"output folder: can't write into {folder}: {error.strerror}") from error


def draw_curve(curve: list[CurvePoint], path: Path) -> None:
    """Draw the learning curve: win rates with their intervals over decisions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    keys = list(dict.fromkeys(key for point in curve for key in point.win_rates))
    several = len({players for players, _ in keys}) > 1
    for players, opponent in keys:
        points = [point for point in curve if (players, opponent) in point.win_rates]
        rates = [point.win_rates[players, opponent] for point in points]
        decisions = [point.decisions / 1e6 for point in points]
        label = f"{players} players, against {opponent}" if several else f"against {opponent}"
        axes.plot(decisions, [rate.value for rate in rates], marker="o", markersize=3, label=label)
        axes.fill_between(decisions, [rate.low for rate in rates], [rate.high for rate in rates], alpha=0.2)
    axes.set(xlabel="decisions (millions)", ylabel="win rate, 95% interval", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)
