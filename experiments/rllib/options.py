"""What a run with RLlib is asked for, and what its folder says: options, settings, checkpoints. Needs no Ray."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from siberia_env.core.rewards import reward_number
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError
from siberia_env.files import read_bytes, read_json
from siberia_env.game import Variant, find_game
from siberia_experiments.limits import (
    check_at_most,
    check_budget,
    check_not_negative,
    check_player_counts,
    check_positive,
    check_shares,
)

FORMAT = "siberia-rllib-run/1"
OPTIONS, CHECKPOINTS, MODEL = "options.json", "checkpoints", "model.npz"
LARGEST = 2**22  #: bytes of a file of options or counts
MOST = {"workers": 4096, "games": 2**16, "learners": 256}


@dataclass(frozen=True)
class Settings:
    """How RLlib's PPO goes about it.

    Attributes:
        rollout: free decisions of each worker between two updates, those of all seats together.
        batch_size: decisions in each gradient step.
        epochs: how often each decision is learnt from.
        learning_rate: Adam's.
        clip_range: PPO's.
        gae_lambda: weight of longer estimates, from one own decision of a seat to its next.
        entropy: weight of the entropy bonus.
        value_weight: weight of the value's squared error.
        gradient_norm: gradients are scaled down to this norm.
        reward: what a game pays: `"margin"`, `"win"` or `"score"` (`siberia_env.core.rewards`).
        reward_scale: factor on it.
        network: widths of the hidden layers.
    """

    rollout: int = 8192
    batch_size: int = 1024
    epochs: int = 2
    learning_rate: float = 1e-3
    clip_range: float = 0.2
    gae_lambda: float = 0.95
    entropy: float = 0.01
    value_weight: float = 0.25
    gradient_norm: float = 0.5
    reward: str = "margin"
    reward_scale: float = 1.0
    network: tuple[int, ...] = (256, 256)

    def check(self) -> None:
        """Raise `ConfigurationError` if a value is invalid."""
        check_positive(self, "rollout", "epochs", "learning_rate", "clip_range", "gradient_norm", "reward_scale")
        if not 2 <= self.batch_size <= self.rollout:
            raise ConfigurationError(f"batch_size: {self.batch_size}; 2 to {self.rollout}, the rollout of a worker")
        check_not_negative(self, "entropy", "value_weight")
        check_shares(self, "gae_lambda")
        if not self.network or min(self.network) < 1 or max(self.network) > 2**11 or len(self.network) > 8:
            raise ConfigurationError(f"network: {self.network}; 1 to 8 hidden layers, each of 1 to {2**11}")
        reward_number(self.reward)


#: Settings that differ between the games: a board game pays several times as much.
GAME_SETTINGS = {"card": Settings(), "board": Settings(reward_scale=0.2)}


def game_settings(game: str) -> Settings:
    """The settings for a game; a game from outside begins with the card game's."""
    return GAME_SETTINGS.get(find_game(game).name, GAME_SETTINGS["card"])


@dataclass(frozen=True)
class Options:
    """The options of a run. The budget is either `minutes` or `decisions`.

    Attributes:
        game: the game's name.
        num_players: the player counts to train for, each 2 to 4; one policy plays them all.
        rules: options of the game.
        components: the user's own component tables, as JSON has them; None for those of the box.
        seed: decides the deals and the first weights. A run can't be repeated exactly: workers answer as they can.
        minutes: training time.
        decisions: number of decisions, all seats together.
        workers: number of actors that play.
        games: number of games in the batch of each.
        learners: number of actors that learn; 0: this process learns.
        gpus: graphics processors for each learner.
        settings: see there.
        checkpoint_seconds: seconds between two checkpoints.
    """

    game: str = "card"
    num_players: tuple[int, ...] = (2,)
    rules: dict[str, Any] = field(default_factory=dict)
    components: dict[str, Any] | None = None
    seed: int = 0
    minutes: float | None = None
    decisions: int | None = None
    workers: int = 2
    games: int = 256
    learners: int = 0
    gpus: float = 0.0
    settings: Settings = field(default_factory=Settings)
    checkpoint_seconds: float = 60.0

    def check(self) -> None:
        """Raise `ConfigurationError` if an option is invalid."""
        check_budget(self, "training", "minutes", "decisions")
        check_player_counts(self.num_players)
        check_positive(self, "workers", "games", "checkpoint_seconds")
        check_not_negative(self, "learners", "gpus")
        check_at_most(self, MOST)
        if len(self.num_players) > self.games:
            raise ConfigurationError(f"games: {self.games}; at least one for each of {len(self.num_players)} counts")
        if check_seed(self.seed) >= 2**31:
            raise ConfigurationError(f"seed: {self.seed}; with RLlib at most 2**31 - 1, as its libraries take it")
        self.settings.check()
        self.variants()

    def variants(self) -> list[Variant]:
        """What is played, a variant for each player count."""
        game = find_game(self.game)
        return [game.variant(count, self.rules, self.components) for count in self.num_players]

    def as_json(self) -> dict[str, Any]:
        """The options as JSON has them: lists for tuples."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def options_from_json(stored: Mapping[str, Any]) -> Options:
    """The options that `Options.as_json` gave. Raises `TypeError`, `KeyError` or `AttributeError` if they aren't."""
    told = dict(stored)
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in told["settings"].items()
    }
    told.update(settings=Settings(**settings), num_players=tuple(told["num_players"]))
    return Options(**told)


def stored_options(folder: Path) -> Options:
    """The options of the run in `folder`.

    Raises:
        ConfigurationError: there is none, or it is damaged.
    """
    path = folder / OPTIONS
    try:
        told = dict(read_json(read_bytes(path, LARGEST)))
        if told.pop("format", None) != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        return options_from_json(told)
    except FileNotFoundError:
        raise ConfigurationError(f"--resume: there is no run in {folder}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"--resume: {path} is damaged ({reason_of(error)})") from error


def checkpoints(folder: Path) -> list[Path]:
    """The complete checkpoints of the run in `folder`, the last one last."""
    return sorted(path for path in (folder / CHECKPOINTS).glob("[0-9]*") if path.is_dir())


def make_folder(folder: Path) -> None:
    """Make the folder of a run.

    Raises:
        ConfigurationError: it can't be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"--out: can't make {folder}: {error.strerror}") from error


def reason_of(error: BaseException) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__
