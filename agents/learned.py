"""`learned`: a saved policy network, run with numpy alone, so that playing against it needs no torch.

A model is one `.npz` file: the layers of a multilayer perceptron for the policy and one for the value, and a
JSON text that says what they were trained for. A model for another game, player count, observation layout or
format version is refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_env.errors import ModelError
from siberia_env.game import GAMES, Game, Variant, find_game
from siberia_env.view import BatchView, View

FORMAT = "siberia-model/1"
Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def observation_version(game: Game) -> str:
    """A fingerprint of the observation's layout and the action numbering: equal ones fit the same networks."""
    layout = [(block.name, block.shape, block.unit, block.signed) for block in game.blocks]
    return hashlib.sha256(json.dumps([layout, game.num_actions]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Model:
    """A trained network and what it is for.

    Attributes:
        game: the game's name.
        num_players: the player count it was trained for.
        policy: weight [inputs, outputs] and bias [outputs] of each layer; the outputs are logits, one an action.
        value: likewise; the output is the reward that the observer can still expect (where training was paid as it
            goes, without what the standing has brought so far).
        trained: how it came to be (seed, decisions, seconds, options); free-form, for people.
    """

    game: str
    num_players: int
    policy: Layers
    value: Layers
    trained: dict[str, Any]

    def logits(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The policy's logits: float32 [n, A] for observations [n, O]."""
        return forward(self.policy, observation)

    def values(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The reward that each observer can still expect: float32 [n]."""
        return forward(self.value, observation)[:, 0]

    def save(self, path: Path) -> None:
        """Write the model to `path`; a file that is there is replaced as a whole."""
        metadata = {
            "format": FORMAT,
            "game": self.game,
            "num_players": self.num_players,
            "observation": observation_version(find_game(self.game)),
            "policy_layers": len(self.policy),
            "value_layers": len(self.value),
            "trained": self.trained,
        }
        arrays: dict[str, Any] = {"metadata": np.array(json.dumps(metadata))}
        for name, layers in (("policy", self.policy), ("value", self.value)):
            for number, (weight, bias) in enumerate(layers):
                arrays[f"{name}_{number}_weight"] = weight.astype(np.float32)
                arrays[f"{name}_{number}_bias"] = bias.astype(np.float32)
        temporary = path.with_suffix(".partial.npz")
        np.savez_compressed(temporary, allow_pickle=False, **arrays)
        temporary.replace(path)


def forward(layers: Layers, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """A multilayer perceptron with rectified hidden layers."""
    for weight, bias in layers[:-1]:
        inputs = np.maximum(inputs @ weight + bias, np.float32(0))
    weight, bias = layers[-1]
    return inputs @ weight + bias


def load_model(path: str | Path) -> Model:
    """The model saved at `path`.

    Raises:
        ModelError: there is no such file, it is damaged, or of another format, game or observation version.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            metadata = json.loads(str(arrays["metadata"]))
            _check_purpose(path, metadata)
            layers = {
                name: [
                    (arrays[f"{name}_{number}_weight"], arrays[f"{name}_{number}_bias"])
                    for number in range(metadata[f"{name}_layers"])
                ]
                for name in ("policy", "value")
            }
    except FileNotFoundError:
        raise ModelError(f"model: there is no file {path}") from None
    except ModelError:
        raise
    except Exception as error:  # whatever unpacking a damaged file runs into
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"model: {path} is not a model of the suite, or is damaged ({reason})") from error
    game = find_game(metadata["game"])
    for name, outputs in (("policy", game.num_actions), ("value", 1)):
        _check_layers(path, name, layers[name], game.observation_size, outputs)
    return Model(game.name, metadata["num_players"], layers["policy"], layers["value"], metadata["trained"])


def _check_purpose(path: str | Path, metadata: dict[str, Any]) -> None:
    """Raise `ModelError` unless this version of the suite can use a model with this `metadata`."""
    if metadata.get("format") != FORMAT:
        raise ModelError(f"model: {path} has format {metadata.get('format')!r}, this version reads {FORMAT!r}")
    if metadata["game"] not in GAMES:
        raise ModelError(f"model: {path} is for the game {metadata['game']!r}; the games are {', '.join(GAMES)}")
    game = find_game(metadata["game"])
    if metadata["observation"] != observation_version(game):
        raise ModelError(
            f"model: {path} was trained on observation version {metadata['observation']}, "
            f"this version of the suite has {observation_version(game)}: train it anew"
        )
    players = metadata["num_players"]
    if players not in range(game.min_players, game.max_players + 1) or not isinstance(metadata["trained"], dict):
        raise ModelError(f"model: {path} is damaged: it says it is for {players!r} players")


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


class LearnedAgent(Agent):
    """Plays the policy of a saved model: the likeliest action, or with `temperature` a random one by likelihood."""

    name = "learned"

    def __init__(self, model: str | Path | Model, temperature: float = 0.0) -> None:
        self.model = model if isinstance(model, Model) else load_model(model)
        self.temperature = temperature
        self._random = np.random.default_rng(0)

    def start(self, variant: Variant, seed: int = 0) -> None:
        """Check that the model is one for `variant`, and restart the stream of random choices."""
        for what, own, asked in (
            ("game", self.model.game, variant.game.name),
            ("players", self.model.num_players, variant.num_players),
        ):
            if own != asked:
                raise ModelError(f"model: it was trained for {what} {own}, the games to be played have {what} {asked}")
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
