"""A training run on a Ray cluster: `siberia rllib card --ray auto --workers 8 --minutes 60 --out runs/cluster`.

RLlib's PPO learns, on its new API stack. Workers play (`runner.py`), each with a batch of games. Learners learn, in
this process or on machines of their own. The policy plays every seat, and learns from the free decisions of all.

One run is one folder. It holds `model.npz` (the policy of the last checkpoint, for the agent `learned`),
`checkpoints/` (what a resumed run needs, written by RLlib), `progress.csv` (a row an update) and `options.json`. A
checkpoint gets its name when it is complete, so a killed run loses only what came after the last one.

A worker that ends is started again by Ray, where there is room, and joins at a later update. Meanwhile the others play
its part.
"""

from __future__ import annotations

import csv
import json
import logging
import math
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from siberia_agents.learned import Model
from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.files import read_bytes, read_json, write_whole
from siberia_env.game import find_game
from siberia_experiments.ray_cluster import check_room
from siberia_experiments.rllib.module import MaskedPolicy, action_space, model_of, observation_space
from siberia_experiments.rllib.options import (
    CHECKPOINTS,
    FORMAT,
    LARGEST,
    MODEL,
    OPTIONS,
    Options,
    checkpoints,
    make_folder,
    reason_of,
    stored_options,
)
from siberia_experiments.rllib.runner import DECISIONS, SCORES, SelfPlayRunner

try:
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME
except ImportError as error:
    raise missing_extra("ray", "training with RLlib", error.name) from error

PROGRESS, STATE = "progress.csv", "siberia.json"
KEPT = 2  #: checkpoints
ALONE_SECONDS = 300.0  #: a run ends when no worker has played for so long
SAMPLE_SECONDS = 300.0  #: time limit for a worker's part of an update
COLUMNS = ("iteration", "seconds", "decisions", "learnt", "workers", "per_second", "mean_score", "entropy")


def config_for(options: Options) -> PPOConfig:
    """RLlib's configuration of a run. Change it as you like, and build an algorithm of it: `.build_algo()`.

    Raises:
        ConfigurationError: an option is invalid.
    """
    options.check()
    game, settings = find_game(options.game), options.settings
    together = settings.rollout * options.workers
    return (
        PPOConfig()
        .environment(
            env=f"siberia_env:siberia/{game.name.capitalize()}-v0",  # a name only: the runner makes the games
            env_config={
                "game": game.name,
                "players": options.num_players,
                "rules": options.rules,
                "components": options.components,
                "reward": settings.reward,
                "reward_scale": settings.reward_scale,
            },
            observation_space=observation_space(game),
            action_space=action_space(game),
            disable_env_checking=True,
        )
        .env_runners(
            env_runner_cls=SelfPlayRunner,
            num_env_runners=options.workers,
            num_envs_per_env_runner=options.games,
            create_local_env_runner=False,
            sample_timeout_s=SAMPLE_SECONDS,
            merge_env_runner_states=False,
        )
        .learners(num_learners=options.learners, num_gpus_per_learner=options.gpus)
        .rl_module(
            rl_module_spec=RLModuleSpec(module_class=MaskedPolicy, model_config={"widths": list(settings.network)})
        )
        .training(
            gamma=1.0,
            lr=settings.learning_rate,
            train_batch_size_per_learner=max(together // max(1, options.learners), settings.batch_size),
            minibatch_size=settings.batch_size,
            num_epochs=settings.epochs,
            lambda_=settings.gae_lambda,
            clip_param=settings.clip_range,
            entropy_coeff=settings.entropy,
            vf_loss_coeff=settings.value_weight,
            vf_clip_param=math.inf,
            use_kl_loss=False,
            grad_clip=settings.gradient_norm,
            grad_clip_by="global_norm",
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            env_runner_health_probe_timeout_s=2.0,
        )
        .debugging(seed=options.seed, log_level="ERROR")
    )


@dataclass(frozen=True)
class Progress:
    """The state of a run after an update.

    Attributes:
        part: share of the budget that is used.
        iteration: number of updates so far.
        seconds: training time so far.
        decisions: decisions so far, of all seats, forced ones included.
        learnt: free decisions so far, which the policy has learnt from.
        workers: workers that answer.
        per_second: decisions a second in this update, learning included.
        mean_score: mean points of a seat at the end of a game, as the workers measured it last.
        entropy: of the policy.
    """

    part: float
    iteration: int
    seconds: float
    decisions: int
    learnt: int
    workers: int
    per_second: float
    mean_score: float
    entropy: float


class Training:
    """One run on the cluster that this process has joined. `run()` trains to the end of the budget."""

    def __init__(self, options: Options, folder: Path) -> None:
        """Start workers and learners in a new folder.

        Raises:
            ConfigurationError: an option is invalid, or the folder holds a run.
        """
        options.check()
        if (folder / OPTIONS).exists():
            raise ConfigurationError(f"--out: {folder} holds a run; go on with it (--resume) or name another folder")
        self._begin(options, folder)
        make_folder(folder)
        write_whole(folder / OPTIONS, [json.dumps({"format": FORMAT, **options.as_json()}, indent=1).encode()])

    def _begin(self, options: Options, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.variants = options.variants()
        self.seconds, self.decisions, self.learnt, self.iteration = 0.0, 0, 0, 0
        self._saved = 0.0
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # no warnings that the new API stack is new
        check_room(options.workers + options.learners, options.learners * options.gpus)
        self.algorithm: Algorithm = config_for(options).build_algo()

    @classmethod
    def resume(cls, folder: Path, game: str, **changes: Any) -> Training:
        """Go on from the last checkpoint in `folder`; `changes` replace options, for example the number of workers.

        Raises:
            ConfigurationError: there is no run, it is of another game, or it is damaged.
        """
        options = stored_options(folder)
        if find_game(options.game) is not find_game(game):
            raise ConfigurationError(f"--resume: {folder} holds a run of {options.game}, not of {game}")
        if "minutes" in changes or "decisions" in changes:
            changes = {"minutes": None, "decisions": None, **changes}
        options = replace(options, **changes)
        options.check()
        found = checkpoints(folder)
        if not found:
            raise ConfigurationError(f"--resume: {folder} holds no checkpoint; begin anew in another folder")
        try:
            told = read_json(read_bytes(found[-1] / STATE, LARGEST))
            counts = [told[name] for name in ("seconds", "decisions", "learnt", "iteration")]
            if not all(type(count) in (int, float) and 0 <= count < math.inf for count in counts):
                raise ValueError("its counts are no numbers")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"--resume: {found[-1]} is damaged ({reason_of(error)})") from error
        training = cls.__new__(cls)
        training._begin(options, folder)
        training.seconds = training._saved = float(counts[0])
        training.decisions, training.learnt, training.iteration = (int(count) for count in counts[1:])
        try:
            training.algorithm.restore_from_path(str(found[-1].resolve()))
            training._tell_workers()
        except Exception as error:  # RLlib unpickles: anything can come of a damaged file
            training.close()
            raise ConfigurationError(f"--resume: {found[-1]} can't be restored ({reason_of(error)})") from error
        write_whole(folder / OPTIONS, [json.dumps({"format": FORMAT, **options.as_json()}, indent=1).encode()])
        return training

    def _tell_workers(self) -> None:
        """Give all workers the weights and the number of free decisions so far, and wait until they have them.

        RLlib sends both after a restore, but leaves out what is for a worker that has not read its last two messages.
        Such a worker would play with its first weights, and deal the first games again.
        """
        weights = self.algorithm.learner_group.get_weights()
        state = {COMPONENT_RL_MODULE: weights, NUM_ENV_STEPS_SAMPLED_LIFETIME: self.learnt}
        self.algorithm.env_runner_group.foreach_env_runner(
            "set_state", kwargs={"state": state}, timeout_seconds=SAMPLE_SECONDS
        )

    def part(self) -> float:
        """The share of the budget that is used; 1 or more when the run is over."""
        if self.options.decisions is not None:
            return self.decisions / self.options.decisions
        assert self.options.minutes is not None
        return self.seconds / (60 * self.options.minutes)

    def run(self) -> Iterator[Progress]:
        """Train to the end of the budget, and yield after each update. Checkpoint and model are then up to date.

        Raises:
            ConfigurationError: no worker has played for minutes.
        """
        alone = 0.0
        while self.part() < 1.0:
            began = time.perf_counter()
            result = self.algorithm.train()
            took = time.perf_counter() - began
            self.seconds += took
            progress = self._progress(result, took)
            alone = alone + took if progress is None else 0.0
            if alone > ALONE_SECONDS:
                raise ConfigurationError(
                    f"--ray: no worker has played for {alone:.0f} s; the last checkpoint is in {self.folder}"
                )
            if self.part() >= 1.0 or self.seconds - self._saved >= self.options.checkpoint_seconds:
                self.save()
            if progress is not None:
                self._note(progress)
                yield progress

    def _progress(self, result: Mapping[str, Any], took: float) -> Progress | None:
        """What an update has brought; None if no worker has played."""
        played, learnt = result.get("env_runners", {}), result.get("learners", {})
        decisions = int(played.get(DECISIONS, 0))
        if not decisions:
            return None
        self.iteration += 1
        self.decisions += decisions
        self.learnt += int(played.get("num_env_steps_sampled", 0))
        module = learnt.get(DEFAULT_MODULE_ID, {})
        return Progress(
            min(1.0, self.part()),
            self.iteration,
            self.seconds,
            self.decisions,
            self.learnt,
            self.algorithm.env_runner_group.num_healthy_remote_env_runners(),
            decisions / took,
            float(played.get(SCORES, math.nan)),
            float(module.get("entropy", math.nan)),
        )

    def _note(self, progress: Progress) -> None:
        path = self.folder / PROGRESS
        begins = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            if begins:
                rows.writerow(COLUMNS)
            rows.writerow(
                [
                    progress.iteration,
                    round(progress.seconds, 2),
                    progress.decisions,
                    progress.learnt,
                    progress.workers,
                    round(progress.per_second),
                    round(progress.mean_score, 3),
                    round(progress.entropy, 4),
                ]
            )

    def save(self) -> None:
        """Write a checkpoint and the model, and drop all but the last checkpoints."""
        home = self.folder / CHECKPOINTS
        home.mkdir(exist_ok=True)
        half, whole = home / ".part", home / f"{self.iteration:08d}"
        shutil.rmtree(half, ignore_errors=True)
        self.algorithm.save_to_path(str(half.resolve()))
        counts = {name: getattr(self, name) for name in ("seconds", "decisions", "learnt", "iteration")}
        write_whole(half / STATE, [json.dumps(counts).encode()])
        shutil.rmtree(whole, ignore_errors=True)
        half.replace(whole)
        for old in checkpoints(self.folder)[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        self.model().save(self.folder / MODEL)
        self._saved = self.seconds

    def model(self) -> Model:
        """The policy as it is now."""
        weights = self.algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
        trained = {
            "by": "RLlib's PPO",
            "decisions": self.decisions,
            "seconds": round(self.seconds, 1),
            "rules": self.variants[0].rules_as_json(),
            "options": self.options.as_json(),
        }
        return model_of(self.variants[0].game, self.options.num_players, weights, trained)

    def close(self) -> None:
        """End the workers and learners."""
        end(self.algorithm)


def end(algorithm: Algorithm) -> None:
    """End the workers and learners of an algorithm, and remove the empty folder that RLlib has made in the home."""
    algorithm.stop()
    shutil.rmtree(algorithm.logdir, ignore_errors=True)
