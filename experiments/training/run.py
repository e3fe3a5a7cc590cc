"""Self-play training with MaskablePPO: `siberia train card --minutes 30 --out runs/mine`.

One run is one folder. It holds `model.npz` (the policy, for the agent `learned`), `checkpoint.pt` (everything that a
resumed run needs), `curve.csv` and `curve.png` (win rates over time), `tensorboard/`, and `model.components.json` if
the user gave component tables. A checkpoint is written as a whole or not at all, so a killed run loses only what came
after the last one.

With `decisions` as the budget and one thread, the same seed gives the same run, resumed or not. With `minutes` the
learning rate falls with time, so the run depends on the machine.
"""

from __future__ import annotations

import csv
import json
import math
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from siberia_agents.learned import Layers, LearnedAgent, Model, load_model, observation_version
from siberia_agents.registry import make_agent
from siberia_env.core.engine import reward_number
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, ModelError, missing_extra
from siberia_env.game import Variant, find_game
from siberia_env.vector import VectorEnv
from siberia_experiments.evaluate import alone_against
from siberia_experiments.match import Interval, play_games

try:
    import torch as th
    from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

    from siberia_env.sb3 import SelfPlayVecEnv
    from siberia_experiments.training.league import League, Mix
    from siberia_experiments.training.sb3_ppo import SelfPlayPolicy, SelfPlayPPO, multiplies_brain_floats

    for package in ("matplotlib", "tensorboard"):  # needed at the end of a run or inside stable-baselines3
        if find_spec(package) is None:
            raise ImportError(name=package)
except ImportError as error:
    raise missing_extra("train", "training", error.name) from error

LOG_FOLDER = "tensorboard"
CHECKPOINT_FORMAT = "siberia-checkpoint/1"
NEW_PAST_SELF = 25  #: iterations between two frozen past selves
#: Settings that differ between the games, found by trials (docs/results.md). A board game lasts longer and pays several
#: times as much. A game from outside begins with the card game's.
GAME_SETTINGS: dict[str, dict[str, Any]] = {
    "card": {
        "entropy": 0.02,
        "gae_lambda": 0.95,
        "reward_scale": 1.0,
        "network": (128, 128),
        "learning_rate": 3e-3,
        "mix": Mix(),
    },
    "board": {
        "entropy": 0.005,
        "gae_lambda": 0.9,
        "reward_scale": 0.2,
        "network": (256, 256),
        "learning_rate": 2e-3,
        "mix": Mix(past=0.15, baselines=0.3, kept=8),
    },
}
BASELINES = ("random", "greedy")  #: agents that the learning curve is measured against
OPPONENTS = ("greedy", "heuristic")  #: fixed opponents in training games


@dataclass(frozen=True)
class TrainOptions:
    """The options of a run. The budget is either `minutes` or `decisions`.

    Some options have a default for each game in `GAME_SETTINGS`; None stands for it.

    Attributes:
        game: the game's name.
        num_players: 2 to 4.
        rules: options of the game.
        components: the user's own component tables, as JSON has them; None for those of the box.
        seed: decides everything that is random.
        minutes: training time, without the time for evaluations.
        decisions: number of decisions, all seats together.
        num_envs: number of games played at the same time.
        steps: decisions in each game between two updates.
        batch_size: decisions in each gradient step.
        epochs: how many times the policy learns from each decision.
        learning_rate: learning rate at the start, which falls in a straight line to a twentieth; None: the game's.
        entropy: weight of the entropy bonus; None: the game's.
        value_weight: weight of the value loss.
        gae_lambda: see `sb3_ppo.seat_advantages`; None: the game's.
        clip_range: clip range of PPO.
        network: widths of the hidden layers, for the policy and the value network alike; None: the game's.
        reward: what the policy maximises (`siberia_env.vector.make`).
        shaped: whether a seat is paid during the game (`sb3_ppo.SelfPlayPPO`).
        reward_scale: factor on rewards in training (`sb3_ppo.SelfPlayPPO`); None: the game's.
        mix: opponents (`siberia_experiments.training.league.Mix`); None: the game's.
        threads: number of torch threads.
        checkpoint_seconds: seconds between two checkpoints.
        evaluation_seconds: seconds between two points of the learning curve.
        evaluation_games: number of games for each point and opponent.
        start_from: model file whose networks training starts from, possibly for another player count; None: start
            from nothing.
    """

    game: str = "card"
    num_players: int = 2
    rules: dict[str, Any] = field(default_factory=dict)
    components: dict[str, Any] | None = None
    seed: int = 0
    minutes: float | None = None
    decisions: int | None = None
    num_envs: int = 512
    steps: int = 64
    batch_size: int = 2048
    epochs: int = 3
    learning_rate: float | None = None
    entropy: float | None = None
    value_weight: float = 0.25
    gae_lambda: float | None = None
    clip_range: float = 0.2
    network: tuple[int, ...] | None = None
    reward: str = "margin"
    shaped: bool = True
    reward_scale: float | None = None
    mix: Mix | None = None
    threads: int = 2
    checkpoint_seconds: float = 30.0
    evaluation_seconds: float = 30.0
    evaluation_games: int = 200
    start_from: str | None = None

    def check(self) -> None:
        """Raise `ConfigurationError` if an option is invalid."""
        if (self.minutes is None) == (self.decisions is None):
            raise ConfigurationError("training needs one budget: minutes or decisions")
        positive = (
            "num_envs",
            "steps",
            "epochs",
            "threads",
            "evaluation_games",
            "learning_rate",
            "clip_range",
            "reward_scale",
        )
        for name in ("minutes", "decisions", *positive):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ConfigurationError(f"{name}: {value}; it has to be more than 0")
        if self.batch_size < 2:
            raise ConfigurationError(f"batch_size: {self.batch_size}; at least 2, to compare advantages")
        for name in ("entropy", "value_weight"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ConfigurationError(f"{name}: {value}; it has to be 0 or more")
        if self.gae_lambda is not None and not 0 <= self.gae_lambda <= 1:
            raise ConfigurationError(f"gae_lambda: {self.gae_lambda}; it is between 0 and 1")
        if self.network is not None and (not self.network or min(self.network) < 1):
            raise ConfigurationError(f"network: {self.network}; one hidden layer or more, each of 1 or more")
        if self.mix is not None:
            self.mix.check()
        if check_seed(self.seed) >= 2**32:
            raise ConfigurationError(f"seed: {self.seed}; for training at most 2**32 - 1, as the libraries take it")
        reward_number(self.reward)

    def in_force(self) -> TrainOptions:
        """Return the options with the game's settings in place of those that aren't given."""
        settings = GAME_SETTINGS.get(find_game(self.game).name, GAME_SETTINGS["card"])
        missing = {name: value for name, value in settings.items() if getattr(self, name) is None}
        return replace(self, **missing)


@dataclass(frozen=True)
class CurvePoint:
    """A measurement of the policy in training: win rates by opponent, after `decisions` decisions and `seconds`."""

    decisions: int
    seconds: float
    win_rates: dict[str, Interval]


@dataclass(frozen=True)
class Progress:
    """The state of a run after an iteration.

    Attributes:
        part: share of the budget that is used, 0 to 1.
        decisions: decisions so far, all seats together.
        seconds: seconds of training so far.
        speed: decisions a second in this process.
        env_part: share of the training time that went into the games.
        point: the newest point of the learning curve if this iteration measured one, otherwise None.
    """

    part: float
    decisions: int
    seconds: float
    speed: float
    env_part: float
    point: CurvePoint | None


class _TimedVectorEnv(VectorEnv):
    """A `VectorEnv` that measures how long its steps, observations and standings take."""

    seconds = 0.0

    def step(self, *args: Any, **kwargs: Any) -> Any:
        return self._timed(super().step, *args, **kwargs)

    def observe(self, *args: Any, **kwargs: Any) -> Any:
        return self._timed(super().observe, *args, **kwargs)

    def standing(self) -> Any:
        return self._timed(super().standing)

    def _timed(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            return work(*args, **kwargs)
        finally:
            self.seconds += time.perf_counter() - started


class Training:
    """One training run. `run()` trains to the end of the budget and yields after every iteration."""

    def __init__(self, options: TrainOptions, folder: Path) -> None:
        options.check()
        self.options = options = options.in_force()
        assert options.network is not None
        assert options.mix is not None
        self.network = options.network
        start = None if options.start_from is None else model_to_start_from(options.start_from, options)
        self.folder = folder
        self.variant: Variant = find_game(options.game).variant(options.num_players, options.rules, options.components)
        make_folder(folder)
        self._keep_components()
        th.set_num_threads(options.threads)
        products = getattr(th.backends.mkldnn, "matmul", None)  # from torch 2.9 on
        if products is not None and multiplies_brain_floats():
            products.fp32_precision = "bf16"  # the heads' products use it too; sums and stored numbers stay in float32
        th.distributions.Distribution.set_default_validate_args(False)
        self.env = _TimedVectorEnv(self.variant, options.num_envs, options.seed, options.reward)
        self.league = League(
            self.variant, options.num_envs, [make_agent(name) for name in OPPONENTS], options.mix, options.seed
        )
        self.learner = self._new_learner()
        if start is not None:
            self._start_from(start)
        self.iteration = 0
        self.seconds = 0.0
        self.curve: list[CurvePoint] = []
        self._evaluated = self._checkpointed = 0.0

    def _new_learner(self) -> SelfPlayPPO:
        options, layers = self.options, list(self.network)
        rate, scale, gae_lambda, entropy = (
            float(getattr(options, name)) for name in ("learning_rate", "reward_scale", "gae_lambda", "entropy")
        )
        learner = SelfPlayPPO(
            SelfPlayPolicy,
            SelfPlayVecEnv(self.env),
            self.league,
            options.shaped,
            scale,
            learning_rate=lambda left: rate * max(left, 0.05),
            n_steps=options.steps,
            batch_size=options.batch_size,
            n_epochs=options.epochs,
            gamma=1.0,
            gae_lambda=gae_lambda,
            clip_range=options.clip_range,
            ent_coef=entropy,
            vf_coef=options.value_weight,
            policy_kwargs={
                "net_arch": {"pi": layers, "vf": layers},
                "activation_fn": th.nn.ReLU,
                "optimizer_kwargs": {"fused": True, "eps": 1e-5},
            },
            seed=options.seed,
            device="cpu",
        )
        learner.set_logger(Logger(str(self.folder), [TensorBoardOutputFormat(str(self.folder / LOG_FOLDER))]))
        return learner

    def _start_from(self, model: Model) -> None:
        """Give the networks the weights of a saved model."""
        policy = self.learner.policy
        for layers, body, head in (
            (model.policy, policy.mlp_extractor.policy_net, policy.action_net),
            (model.value, policy.mlp_extractor.value_net, policy.value_net),
        ):
            linear = [module for module in (*body, head) if isinstance(module, th.nn.Linear)]
            for module, (weight, bias) in zip(linear, layers, strict=True):
                with th.no_grad():
                    module.weight.copy_(th.from_numpy(weight.T))
                    module.bias.copy_(th.from_numpy(bias))
        with th.no_grad():  # a model predicts unscaled rewards
            policy.value_net.weight.mul_(float(self.learner.reward_scale))
            policy.value_net.bias.mul_(float(self.learner.reward_scale))

    # ------------------------------------------------------------ the run

    def run(self) -> Iterator[Progress]:
        """Train to the end of the budget. The model and the checkpoint are up to date when it ends."""
        _, callback = self.learner._setup_learn(2**62, None, reset_num_timesteps=False)
        decisions_before, seconds_before = self.learner.num_timesteps, self.seconds
        self.env.seconds = 0.0
        while self.part() < 1.0:
            began = time.perf_counter()
            self._iterate(callback)
            self.seconds += time.perf_counter() - began
            finished = self.part() >= 1.0
            point = None
            if finished or self.seconds - self._evaluated >= self.options.evaluation_seconds:
                point = self.evaluate()
            if finished or self.seconds - self._checkpointed >= self.options.checkpoint_seconds:
                self.save()
            spent = self.seconds - seconds_before
            yield Progress(
                min(1.0, self.part()),
                self.learner.num_timesteps,
                self.seconds,
                (self.learner.num_timesteps - decisions_before) / spent,
                self.env.seconds / spent,
                point,
            )

    def part(self) -> float:
        """The share of the budget that is used; 1 or more when the run is over."""
        if self.options.decisions is not None:
            return self.learner.num_timesteps / self.options.decisions
        assert self.options.minutes is not None
        return self.seconds / (60 * self.options.minutes)

    def _iterate(self, callback: Any) -> None:
        """Make one rollout and one update."""
        learner = self.learner
        learner._current_progress_remaining = max(0.0, 1.0 - self.part())
        learner.collect_rollouts(learner.env, callback, learner.rollout_buffer, learner.n_steps)  # type: ignore[arg-type]
        learner.train()
        self.iteration += 1
        if self.iteration % NEW_PAST_SELF == 0:
            self.league.add_past(self.model())
        learner.logger.record("time/decisions_per_second", learner.num_timesteps / max(self.seconds, 1e-9))
        learner.logger.dump(learner.num_timesteps)

    def evaluate(self) -> CurvePoint:
        """Measure the policy against the baselines, and add a point to the learning curve."""
        self._evaluated = self.seconds
        agent = LearnedAgent(self.model())
        rates = {}
        for name in BASELINES:
            agents = alone_against(agent, name, self.options.num_players)
            results = play_games(self.variant, agents, self.options.evaluation_games, self.options.seed)
            rates[name] = results.win_rate(0)
            self.learner.logger.record(f"win_rate/{name}", rates[name].value)
        self.learner.logger.dump(self.learner.num_timesteps)
        point = CurvePoint(self.learner.num_timesteps, self.seconds, rates)
        self.curve.append(point)
        return point

    def model(self) -> Model:
        """The policy as it is now."""
        weights = {name: tensor.numpy().copy() for name, tensor in self.learner.policy.state_dict().items()}

        def layers(body: str, head: str) -> Layers:
            names = [f"mlp_extractor.{body}.{2 * number}" for number in range(len(self.network))]
            return [
                (np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]) for name in (*names, head)
            ]

        policy, value = layers("policy_net", "action_net"), layers("value_net", "value_net")
        weight, bias = value[-1]  # the network learnt from scaled rewards; a model predicts unscaled ones
        value[-1] = (weight / self.learner.reward_scale, bias / self.learner.reward_scale)
        trained = {
            "decisions": self.learner.num_timesteps,
            "seconds": round(self.seconds, 1),
            "rules": self.variant.rules_as_json(),
            "options": {**asdict(self.options), "network": list(self.network)},
        }
        return Model(self.options.game, (self.options.num_players,), policy, value, trained)

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
        """Write model, learning curve and checkpoint. Each file replaces its predecessor as a whole."""
        self._checkpointed = self.seconds
        self.model().save(self.model_path)
        self._write_curve()
        checkpoint = {
            "format": CHECKPOINT_FORMAT,
            "observation": observation_version(self.variant.game),
            "options": self.options,
            "policy": self.learner.policy.state_dict(),
            "optimizer": self.learner.policy.optimizer.state_dict(),
            "decisions": self.learner.num_timesteps,
            "updates": self.learner._n_updates,
            "iteration": self.iteration,
            "seconds": self.seconds,
            "evaluated": self._evaluated,
            "curve": self.curve,
            "league": pickle.dumps(self.league),
            "minibatches": self.learner.rollout_buffer.random.bit_generator.state,
            "torch": th.get_rng_state(),
            "games": self.env.snapshot(),
        }
        path = checkpoint_path(self.folder)
        temporary = path.with_suffix(".partial")
        th.save(checkpoint, temporary)
        temporary.replace(path)

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
            checkpoint = th.load(path, weights_only=False)
            found, version = checkpoint["format"], checkpoint.get("observation")
        except Exception as error:  # unpickling a damaged file can raise anything
            raise ModelError(f"resume: {path} is no checkpoint, or is damaged ({_first_line(error)})") from error
        if found != CHECKPOINT_FORMAT:
            raise ModelError(f"resume: {path} has format {found!r}, this version reads {CHECKPOINT_FORMAT!r}")
        options = checkpoint["options"]
        if options.game != game:
            raise ModelError(f"resume: {path} is a run of the game {options.game!r}, not of {game!r}")
        current = observation_version(find_game(game))
        if version != current:
            raise ModelError(
                f"resume: {path} was trained on observation version {version}, "
                f"this version of the suite has {current}: train it anew"
            )
        training = cls(replace(options, **changes), folder)
        try:
            training._restore(checkpoint)
        except Exception as error:  # the parts of the checkpoint don't fit together
            raise ModelError(f"resume: {path} is damaged ({_first_line(error)})") from error
        return training

    def _restore(self, checkpoint: dict[str, Any]) -> None:
        """Restore everything from the checkpoint."""
        learner = self.learner
        learner.policy.load_state_dict(checkpoint["policy"])
        learner.policy.optimizer.load_state_dict(checkpoint["optimizer"])
        learner.num_timesteps = checkpoint["decisions"]
        learner._n_updates = checkpoint["updates"]
        self.iteration = checkpoint["iteration"]
        self.seconds = self._checkpointed = checkpoint["seconds"]
        self._evaluated = checkpoint["evaluated"]
        self.curve = checkpoint["curve"]
        self.league = learner.seating = pickle.loads(checkpoint["league"])
        learner.rollout_buffer.random.bit_generator.state = checkpoint["minibatches"]
        assert isinstance(learner.env, SelfPlayVecEnv)
        learner.env.last = self.env.restore(checkpoint["games"])
        learner._last_obs = learner.env.last.observation
        th.set_rng_state(checkpoint["torch"])

    def _write_curve(self) -> None:
        path = self.folder / "curve.csv"
        temporary = path.with_suffix(".partial")
        with temporary.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["decisions", "seconds", "opponent", "win_rate", "low", "high"])
            for point in self.curve:
                for opponent, rate in point.win_rates.items():
                    rows.writerow(
                        [point.decisions, f"{point.seconds:.1f}", opponent]
                        + [f"{number:.4f}" for number in (rate.value, rate.low, rate.high)]
                    )
        temporary.replace(path)


def model_to_start_from(path: str, options: TrainOptions) -> Model:
    """Load the saved model at `path`, for training with `options`.

    Raises:
        ModelError: the model can't be used, or has another game or network.
    """
    model = load_model(path)
    if model.game != options.game:
        raise ModelError(f"start_from: {path} is a model of the game {model.game!r}, not of {options.game!r}")
    widths = tuple(weight.shape[1] for weight, _ in model.policy[:-1])
    if widths != options.network:
        raise ModelError(f"start_from: {path} has the network {widths}, training {options.network}")
    return model


def checkpoint_path(folder: Path) -> Path:
    """The path of a run's checkpoint."""
    return folder / "checkpoint.pt"


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
    decisions = [point.decisions / 1e6 for point in curve]
    for opponent in BASELINES:
        rates = [point.win_rates[opponent] for point in curve]
        axes.plot(decisions, [rate.value for rate in rates], marker="o", markersize=3, label=f"against {opponent}")
        axes.fill_between(decisions, [rate.low for rate in rates], [rate.high for rate in rates], alpha=0.2)
    axes.set(xlabel="decisions (millions)", ylabel="win rate, 95% interval", ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)
