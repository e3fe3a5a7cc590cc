"""`learned`: a saved policy network, run with numpy alone, so that playing against it needs no torch.

A model is one `.npz` file: the layers of a multilayer perceptron for the policy and one for the value, and a
JSON text that says what they were trained for. A model for another game, player count, observation layout or
format version is refused; of one for other rules or components it is said, once, that it is. Models for every
game and number of players come with the suite, in `models/`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.game import Game, Variant, find_game, game_names
from siberia_env.view import BatchView, View

FORMAT = "siberia-model/2"
READABLE = ("siberia-model/1", FORMAT)  # 1: for a single player count, written as a number; float32 only

#: The models that come with the suite: `GAME_PLAYERS.npz`, a digit for each player count that it is for.
SHIPPED = Path(__file__).parent / "models"

Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def observation_layout(game: Game) -> list[list[Any]]:
    """Name, shape, unit and sign of every block of the observation, in order, as JSON has them."""
    return [[block.name, list(block.shape), block.unit, block.signed] for block in game.blocks]


def layout_version(layout: Any, num_actions: int) -> str:
    """A fingerprint of a layout (`observation_layout`) and of the action numbering."""
    return hashlib.sha256(json.dumps([layout, num_actions]).encode()).hexdigest()[:16]


def observation_version(game: Game) -> str:
    """A fingerprint of the observation's layout and the action numbering: equal ones fit the same networks."""
    return layout_version(observation_layout(game), game.num_actions)


@dataclass(frozen=True)
class Model:
    """A trained network and what it is for.

    Attributes:
        game: the game's name.
        num_players: the player counts it was trained for, in order.
        policy: weight [inputs, outputs] and bias [outputs] of each layer; the outputs are logits, one an action.
        value: likewise; the output is the reward that the observer can still expect (where training was paid as it
            goes, without what the standing has brought so far).
        trained: how it came to be (seed, decisions, seconds, options); free-form, for people, but that `rules` are
            the rules in force, and `components` in `options` the component tables where they were not the box's.
    """

    game: str
    num_players: tuple[int, ...]
    policy: Layers
    value: Layers
    trained: dict[str, Any]

    def logits(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The policy's logits: float32 [n, A] for observations [n, O]."""
        return forward(self.policy, observation)

    def values(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The reward that each observer can still expect: float32 [n]."""
        return forward(self.value, observation)[:, 0]

    def check_fits(self, variant: Variant) -> None:
        """Raise `ModelError` unless the model is one for the game and player count of `variant`."""
        for what, own, asked in (
            ("game", (self.game,), variant.game.name),
            ("players", self.num_players, variant.num_players),
        ):
            if asked not in own:
                told = ", ".join(map(str, own))
                raise ModelError(f"model: it was trained for {what} {told}, the games to be played have {what} {asked}")

    def differences(self, variant: Variant) -> list[str]:
        """What the model was trained with and `variant` does not have: `edition dlp, not oya`."""
        rules = self.trained.get("rules", {})
        told = [
            f"{name} {json.dumps(rules[name])}, not {json.dumps(value)}".replace('"', "")
            for name, value in variant.rules_as_json().items()
            if name in rules and rules[name] != value
        ]
        tables = self.trained.get("options", {}).get("components") or variant.game.read_components(None).as_json()
        return [*told, *(["other component tables"] if tables != variant.components.as_json() else [])]

    def save(self, path: Path, half: bool = False) -> None:
        """Write the model to `path`; a file that is there is replaced as a whole.

        Args:
            path: the file.
            half: store weights in half precision (float16, three significant digits), for a file half the size.

        Raises:
            ModelError: a weight is no finite number, or too large for half precision (more than 65 504).
        """
        metadata = {
            "format": FORMAT,
            "game": self.game,
            "num_players": list(self.num_players),
            "observation": observation_version(find_game(self.game)),
            "layout": observation_layout(find_game(self.game)),
            "policy_layers": len(self.policy),
            "value_layers": len(self.value),
            "trained": self.trained,
        }
        arrays: dict[str, Any] = {"metadata": np.array(json.dumps(metadata))}
        for name, layers in (("policy", self.policy), ("value", self.value)):
            for number, (weight, bias) in enumerate(layers):
                for part, array in (("weight", weight), ("bias", bias)):
                    with np.errstate(over="ignore"):
                        stored = array.astype(np.float16 if half else np.float32)
                    if not np.isfinite(stored).all():
                        raise ModelError(f"model: {path}: a weight of its {name} network is no number it could store")
                    arrays[f"{name}_{number}_{part}"] = stored
        temporary = path.with_suffix(".partial.npz")
        np.savez_compressed(temporary, allow_pickle=False, **arrays)
        temporary.replace(path)


def forward(layers: Layers, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """A multilayer perceptron with rectified hidden layers."""
    for weight, bias in layers[:-1]:
        inputs = np.maximum(inputs @ weight + bias, np.float32(0))
    weight, bias = layers[-1]
    return inputs @ weight + bias


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds, before anything is said about the observation that it fits.

    Attributes:
        metadata: the file's description of itself, as `Model.save` writes it.
        layers: the networks `policy` and `value`, in full precision.
        half: whether the file stores weights in half precision.
    """

    metadata: dict[str, Any]
    layers: dict[str, Layers]
    half: bool


def read_model_file(path: str | Path, check_version: bool = True) -> ModelFile:
    """The content of the model file at `path`.

    Args:
        path: the file.
        check_version: refuse a model for another observation version.

    Raises:
        ModelError: there is no such file, it is damaged, or of another format, game or observation version.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            metadata = json.loads(str(arrays["metadata"]))
            _check_purpose(path, metadata, check_version)
            layers = {
                name: [
                    (_full(arrays[f"{name}_{number}_weight"]), _full(arrays[f"{name}_{number}_bias"]))
                    for number in range(metadata[f"{name}_layers"])
                ]
                for name in ("policy", "value")
            }
            half = arrays["policy_0_weight"].dtype == np.float16
    except FileNotFoundError:
        raise ModelError(f"model: there is no file {path}") from None
    except ModelError:
        raise
    except Exception as error:  # whatever unpacking a damaged file runs into
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"model: {path} is not a model of the suite, or is damaged ({reason})") from error
    return ModelFile(metadata, layers, half)


def load_model(path: str | Path) -> Model:
    """The model saved at `path`.

    Raises:
        ModelError: there is no such file, it is damaged, or of another format, game or observation version.
    """
    return model_of(path, read_model_file(path))


def model_of(path: str | Path, file: ModelFile) -> Model:
    """The model that `file` holds, which was read from `path`.

    Raises:
        ModelError: its networks don't fit the game's observation and actions.
    """
    game = find_game(file.metadata["game"])
    for name, outputs in (("policy", game.num_actions), ("value", 1)):
        _check_layers(path, name, file.layers[name], game.observation_size, outputs)
    counts = _player_counts(file.metadata)
    return Model(game.name, counts, file.layers["policy"], file.layers["value"], file.metadata["trained"])


def _full(array: NDArray[Any]) -> NDArray[Any]:
    """An array in half precision in the one to compute with."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _player_counts(metadata: dict[str, Any]) -> tuple[int, ...]:
    counts = metadata["num_players"]
    return tuple(counts) if isinstance(counts, list) else (counts,)


def _check_purpose(path: str | Path, metadata: dict[str, Any], check_version: bool) -> None:
    """Raise `ModelError` unless this version of the suite can use a model with this `metadata`."""
    if metadata.get("format") not in READABLE:
        raise ModelError(
            f"model: {path} has format {metadata.get('format')!r}, this version reads {' and '.join(READABLE)}"
        )
    if metadata["game"] not in game_names():
        raise ModelError(f"model: {path} is for the game {metadata['game']!r}; the games are {', '.join(game_names())}")
    game = find_game(metadata["game"])
    if check_version and metadata["observation"] != observation_version(game):
        raise ModelError(
            f"model: {path} was trained on observation version {metadata['observation']}, "
            f"this version of the suite has {observation_version(game)}: train it anew, or carry it over "
            "(python -m siberia_experiments.training.carry_over)"
        )
    counts = _player_counts(metadata)
    possible = range(game.min_players, game.max_players + 1)
    if not counts or any(type(count) is not int or count not in possible for count in counts):
        raise ModelError(f"model: {path} is damaged: it says it is for {metadata['num_players']!r} players")
    trained = metadata["trained"]
    if not all(isinstance(told, dict) for told in (trained, trained.get("rules", {}), trained.get("options", {}))):
        raise ModelError(f"model: {path} is damaged: it does not say how it was trained")


def _check_layers(path: str | Path, name: str, layers: Layers, inputs: int, outputs: int) -> None:
    """Raise `ModelError` unless `layers` lead from `inputs` to `outputs` numbers."""
    width = inputs
    for weight, bias in layers:
        fits = weight.ndim == 2 and weight.shape[0] == width and bias.shape == (weight.shape[1],)
        if not fits or weight.dtype != np.float32 or bias.dtype != np.float32:
            raise ModelError(f"model: {path} is damaged: the layers of its {name} network don't fit together")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ModelError(f"model: {path} is damaged: weights of its {name} network are not finite numbers")
        width = weight.shape[1]
    if not layers or width != outputs:
        raise ModelError(f"model: {path} is damaged: its {name} network gives {width} numbers, not {outputs}")


def best_actions(logits: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
    """The legal action with the highest logit in each row."""
    return np.where(mask > 0, logits, -np.inf).argmax(axis=1)


@lru_cache(maxsize=8)
def _load_once(path: Path) -> Model:
    return load_model(path)


def shipped_file(variant: Variant) -> Path:
    """The file of the model that comes with the suite for the game and player count of `variant`.

    Of several, the one for the fewest player counts.

    Raises:
        ModelError: there is none.
    """
    game, players = variant.game.name, variant.num_players
    found = [
        path
        for path in sorted(SHIPPED.glob(f"{game}_*.npz"), key=lambda path: (len(path.stem), path.stem))
        if (counts := re.fullmatch(rf"{game}_(\d+)", path.stem)) and str(players) in counts[1]
    ]
    if not found:
        raise ModelError(
            f"learned: no model of the {game} game for {players} players comes with the suite; train one "
            f"(siberia train {game} --players {players} --out runs/mine) and name it: learned:runs/mine/model.npz"
        )
    return found[0]


def shipped_model(variant: Variant) -> Model:
    """The model in `shipped_file`.

    Raises:
        ModelError: there is none, or it can't be used.
    """
    return _load_once(shipped_file(variant))


_noted: set[str] = set()


def note_differences(model: Model, variant: Variant) -> None:
    """Say on stderr, once in a process, if `model` was trained with other rules or components than `variant` has."""
    differences = model.differences(variant)
    note = f"siberia: note: a model was trained for other games than these: {'; '.join(differences)}"
    if differences and note not in _noted and sys.stderr is not None:
        _noted.add(note)
        print(note, file=sys.stderr)


class LearnedAgent(Agent):
    """Plays the policy of a saved model: the likeliest action, or with `temperature` a random one by likelihood.

    Args:
        model: a model or its file; without it, `start` takes the one that comes with the suite.
        temperature: 0, or what the logits are divided by before an action is drawn.

    Attributes:
        model: what it plays; without one given, from the first `start` on.

    Raises:
        ConfigurationError: a temperature below 0.
        ModelError: a file that can't be used.
    """

    name = "learned"
    model: Model
    _shipped = False

    def __init__(self, model: str | Path | Model | None = None, temperature: float = 0.0) -> None:
        if not temperature >= 0:
            raise ConfigurationError(f"learned: temperature: {temperature}; at least 0")
        if model is None:
            self._shipped = True
        else:
            self.model = model if isinstance(model, Model) else load_model(model)
        self.temperature = temperature
        self._random = np.random.default_rng(0)

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Find the model or check that it is one for `variant`, and restart the stream of random choices."""
        if self._shipped:
            self.model = shipped_model(variant)
        self.model.check_fits(variant)
        note_differences(self.model, variant)
        self._random = np.random.default_rng(seed)

    def act(self, view: View) -> int:
        """The policy's action."""
        return int(self._choose(view.observation[None], view.mask[None])[0])

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """The policy's action in each game."""
        return self._choose(views.observation, views.mask)

    def _choose(self, observation: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
        logits = self.model.logits(observation)
        if self.temperature > 0:  # the maximum of logits with Gumbel noise is a draw by likelihood
            logits = logits / np.float32(self.temperature) + self._random.gumbel(size=logits.shape).astype(np.float32)
        return best_actions(logits, mask)
