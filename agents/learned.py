"""`learned`: a saved policy network, run with numpy alone, so that playing against it needs no torch.

A model is one `.npz` file: the layers of a multilayer perceptron, whose outputs are divided among heads, and a
JSON text that says what they were trained for. A model for another game, player count, observation layout or
format version is refused; of one for other rules or components it is said, once, that it is. Models for every
game and number of players come with the suite, in `models/`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EFBIG
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.files import read_bytes, write_whole
from siberia_env.game import MAX_PLAYERS, Game, Variant, find_game, game_names, is_game
from siberia_env.view import BatchView, View

FORMAT = "siberia-model/3"
#: Formats of earlier versions: 1 is for a single player count, written as a number; both have two networks, and only
#: that of the policy is read.
EARLIER = ("siberia-model/1", "siberia-model/2")

#: What the outputs of a network can be: logits, one an action; the training's own value; logits of each relative seat's
#: share of the win; each relative seat's final margin; the own free decisions left, in hundreds. The policy is always
#: there.
HEADS = ("policy", "value", "shares", "margins", "turns")

#: The models that come with the suite: `GAME_PLAYERS.npz`, a digit for each player count that it is for.
SHIPPED = Path(__file__).parent / "models"

LARGEST = 2**28  #: bytes of a model file, and of what is packed in it
LOWEST = np.finfo(np.float32).min  #: a logit that is lower, or none at all, counts as this

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
        layers: weight [inputs, outputs] and bias [outputs] of each layer.
        heads: how many outputs of the last layer belong to each of `HEADS`, in order.
        trained: how it came to be (seed, decisions, seconds, options); free-form, for people, but that `rules` are
            the rules in force, and `components` in `options` the component tables where they were not the box's.
    """

    game: str
    num_players: tuple[int, ...]
    layers: Layers
    heads: dict[str, int]
    trained: dict[str, Any]

    def logits(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The policy's logits: float32 [n, A] for observations [n, O]."""
        return forward(self.layers, observation)[:, : self.heads["policy"]]

    def margins(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """What each observer expects of the end: float32 [n, 4], the margins (`engine.MARGIN`) of all relative seats.

        Raises:
            ModelError: the model does not say.
        """
        return forward(self.layers, observation)[:, self.head("margins")]

    def shares(self, observation: NDArray[np.float32], num_players: int) -> NDArray[np.float32]:
        """Each relative seat's share of the win, as each observer expects it: float32 [n, num_players].

        Raises:
            ModelError: the model does not say.
        """
        logits = forward(self.layers, observation)[:, self.head("shares")][:, :num_players]
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def head(self, name: str) -> slice:
        """Where the outputs of a head lie.

        Raises:
            ModelError: the model doesn't have it.
        """
        start = 0
        for own, size in self.heads.items():
            if own == name:
                return slice(start, start + size)
            start += size
        raise ModelError(f"model: it says nothing of {name}; train one with this version (siberia train)")

    def check_fits(self, variant: Variant) -> None:
        """Raise `ModelError` unless the model is one for the game and player count of `variant`.

        This checks the network too, because compiled code reads it without looking at its size.
        """
        for what, own, asked in (
            ("game", (self.game,), variant.game.name),
            ("players", self.num_players, variant.num_players),
        ):
            if asked not in own:
                told = ", ".join(map(str, own))
                raise ModelError(f"model: it was trained for {what} {told}, the games to be played have {what} {asked}")
        game = variant.game
        _check_heads("it", self.heads, game)
        _check_layers("it", self.layers, game.observation_size, sum(self.heads.values()))

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
            ModelError: a weight is no finite number, or too large for half precision (more than 65 504), or the file
                can't be written.
        """
        metadata = {
            "format": FORMAT,
            "game": self.game,
            "num_players": list(self.num_players),
            "observation": observation_version(find_game(self.game)),
            "layout": observation_layout(find_game(self.game)),
            "layers": len(self.layers),
            "heads": self.heads,
            "trained": self.trained,
        }
        arrays: dict[str, Any] = {"metadata": np.array(json.dumps(metadata))}
        for number, (weight, bias) in enumerate(self.layers):
            for part, array in (("weight", weight), ("bias", bias)):
                with np.errstate(over="ignore"):
                    stored = array.astype(np.float16 if half else np.float32)
                if not np.isfinite(stored).all():
                    raise ModelError(f"model: {path}: a weight of its network is no number it could store")
                arrays[f"{number}_{part}"] = stored
        packed = BytesIO()
        np.savez_compressed(packed, allow_pickle=False, **arrays)
        try:
            write_whole(path, [packed.getvalue()])
        except OSError as error:
            raise ModelError(f"model: can't write {path}: {error.strerror or error}") from error


def forward(layers: Layers, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """A multilayer perceptron with rectified hidden layers. Huge weights give infinite outputs or none."""
    with np.errstate(over="ignore", invalid="ignore"):
        for weight, bias in layers[:-1]:
            inputs = np.maximum(inputs @ weight + bias, np.float32(0))
        weight, bias = layers[-1]
        return inputs @ weight + bias


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds, before anything is said about the observation that it fits.

    Attributes:
        metadata: the file's description of itself, as `Model.save` writes it.
        layers: the network, in full precision.
        heads: how many outputs each head has.
        half: whether the file stores weights in half precision.
    """

    metadata: dict[str, Any]
    layers: Layers
    heads: dict[str, int]
    half: bool


def read_model_file(path: str | Path, check_version: bool = True) -> ModelFile:
    """The content of the model file at `path`.

    Args:
        path: the file.
        check_version: refuse a model for another observation version.

    Raises:
        ModelError: there is no such file, it is damaged, or of another format, game or observation version.
    """
    with reading(path, "a model of the suite"), np.load(_packed(path), allow_pickle=False) as arrays:
        metadata = json.loads(str(arrays["metadata"]))
        _check_purpose(path, metadata, check_version)
        earlier = metadata["format"] in EARLIER
        prefix = "policy_" if earlier else ""
        stored = [
            (arrays[f"{prefix}{number}_weight"], arrays[f"{prefix}{number}_bias"])
            for number in range(metadata[f"{prefix}layers"])
        ]
        layers = [(_full(weight), _full(bias)) for weight, bias in stored]
        heads = {"policy": int(stored[-1][1].shape[0])} if earlier else metadata["heads"]
        half = stored[0][0].dtype == np.float16
    return ModelFile(metadata, layers, heads, half)


@contextmanager
def reading(path: str | Path, kind: str) -> Iterator[None]:
    """While a model file is read that should be of this `kind`: turn what goes wrong into one clear error.

    Raises:
        ModelError: there is no such file, it can't be read, or it is damaged.
    """
    try:
        yield
    except FileNotFoundError:
        raise ModelError(f"model: there is no file {path}") from None
    except OSError as error:
        raise ModelError(f"model: can't read {path}: {error.strerror or error}") from error
    except ModelError:
        raise
    except Exception as error:  # whatever unpacking a damaged file runs into
        reason = " ".join(str(error).split())
        told = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        raise ModelError(f"model: {path} is not {kind}, or is damaged ({told})") from error


def _packed(path: str | Path) -> BytesIO:
    """The content of a model file, if neither it nor what is packed in it is too large.

    Raises:
        OSError: it can't be read, or is too large.
        ValueError: it is damaged.
    """
    packed = BytesIO(read_bytes(path, LARGEST))
    with ZipFile(packed) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        raise OSError(EFBIG, f"it unpacks to more than {LARGEST >> 20} MB")
    packed.seek(0)
    return packed


def load_model(path: str | Path) -> Model:
    """The model saved at `path`.

    Raises:
        ModelError: there is no such file, it is damaged, or of another format, game or observation version.
    """
    return model_of(path, read_model_file(path))


def model_of(path: str | Path, file: ModelFile) -> Model:
    """The model that `file` holds, which was read from `path`.

    Raises:
        ModelError: its network doesn't fit the game's observation and actions.
    """
    game = find_game(file.metadata["game"])
    _check_heads(path, file.heads, game)
    _check_layers(path, file.layers, game.observation_size, sum(file.heads.values()))
    return Model(game.name, _player_counts(file.metadata), file.layers, file.heads, file.metadata["trained"])


def head_sizes(game: Game) -> dict[str, int]:
    """How many outputs each of `HEADS` has in a network for `game`."""
    return dict(zip(HEADS, (game.num_actions, 1, MAX_PLAYERS, MAX_PLAYERS, 1), strict=True))


def _full(array: NDArray[Any]) -> NDArray[Any]:
    """An array in half precision in the one to compute with."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _player_counts(metadata: dict[str, Any]) -> tuple[int, ...]:
    counts = metadata["num_players"]
    return tuple(counts) if isinstance(counts, list) else (counts,)


def _check_purpose(path: str | Path, metadata: dict[str, Any], check_version: bool) -> None:
    """Raise `ModelError` unless this version of the suite can use a model with this `metadata`."""
    if metadata.get("format") not in (*EARLIER, FORMAT):
        raise ModelError(
            f"model: {path} has format {metadata.get('format')!r}, this version reads {', '.join(EARLIER)} and {FORMAT}"
        )
    if not is_game(metadata["game"]):
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


def _check_heads(path: str | Path, heads: Any, game: Game) -> None:
    """Raise `ModelError` unless `heads` are some of `HEADS` in order, the policy first, of the right sizes."""
    sizes = head_sizes(game)
    known = isinstance(heads, dict) and [name for name in HEADS if name in heads] == list(heads)
    if not known or "policy" not in heads or any(heads[name] != sizes[name] for name in heads):
        raise ModelError(f"model: {path} is damaged: its heads are not those of a model for {game.title}")


def _check_layers(path: str | Path, layers: Layers, inputs: int, outputs: int) -> None:
    """Raise `ModelError` unless `layers` lead from `inputs` to `outputs` numbers."""
    width = inputs
    for weight, bias in layers:
        fits = weight.ndim == 2 and weight.shape[0] == width and bias.shape == (weight.shape[1],)
        if not fits or weight.dtype != np.float32 or bias.dtype != np.float32:
            raise ModelError(f"model: {path} is damaged: the layers of its network don't fit together")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ModelError(f"model: {path} is damaged: weights of its network are not finite numbers")
        width = weight.shape[1]
    if not layers or width != outputs:
        raise ModelError(f"model: {path} is damaged: its network gives {width} numbers, not {outputs}")


def best_actions(logits: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
    """The legal action with the highest logit in each row, even if no logit of a legal one is a finite number."""
    return np.where(mask > 0, np.fmax(logits, LOWEST), -np.inf).argmax(axis=1)


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

    @property
    def random_state(self) -> Any:
        """Where the stream of random choices stands, as plain data; set it to go on from there."""
        return self._random.bit_generator.state

    @random_state.setter
    def random_state(self, state: Any) -> None:
        self._random.bit_generator.state = state

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
            noise = self._random.gumbel(size=logits.shape).astype(np.float32)
            with np.errstate(all="ignore"):
                logits = logits / np.float32(self.temperature) + noise
        return best_actions(logits, mask)
