"""A model saved by stable-baselines3 as an agent: `learned:model.zip`, played with numpy alone.

`model.save("model.zip")` of PPO, A2C, MaskablePPO or `SelfPlayPPO` writes an archive: a JSON text that says how the
network is built, and the weights as torch saves them, which is a pickle. Such a pickle could run code. So it is read
here by an unpickler that knows the few names that weights need and refuses any other.
"""

from __future__ import annotations

import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from errno import EFBIG
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import LARGEST, Layers, LearnedAgent, Model, reading
from siberia_env.errors import ModelError
from siberia_env.files import read_bytes
from siberia_env.game import Game, Variant, find_game, game_names

SUFFIX = ".zip"  #: by which a file is taken for one of these

#: The types of numbers that weights may have, by torch's names for their storages.
STORAGES: Mapping[str, Any] = {"FloatStorage": np.float32, "DoubleStorage": np.float64, "HalfStorage": np.float16}

ACTIVATIONS: Mapping[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = {
    "Tanh": np.tanh,
    "ReLU": lambda units: np.maximum(units, np.float32(0)),
}
DEFAULT_ACTIVATION = "Tanh"  #: stable-baselines3's, for policies with an actor and a critic


@dataclass(frozen=True)
class Sb3Model(Model):
    """The policy of a saved model of stable-baselines3.

    Attributes:
        activation: what the hidden units are run through, one of `ACTIVATIONS`.
        takes_mask: whether the network's inputs are the mask and then the observation (a `MultiInputPolicy` over the
            dict of `SiberiaEnv`) instead of the observation alone.
    """

    activation: str = DEFAULT_ACTIVATION
    takes_mask: bool = False

    def logits(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The policy's logits: float32 [n, A] for inputs [n, O], or [n, A + O] if it takes the mask."""
        units, activation = observation, ACTIVATIONS[self.activation]
        with np.errstate(over="ignore", invalid="ignore"):
            for weight, bias in self.layers[:-1]:
                units = activation(units @ weight + bias)
            weight, bias = self.layers[-1]
            return units @ weight + bias

    def check_fits(self, variant: Variant) -> None:
        """Raise `ModelError` unless the network is one for the game of `variant`. Any number of players will do."""
        if variant.game.name != self.game:
            raise ModelError(
                f"model: its network is one for the game {self.game}, the games to be played are of {variant.game.name}"
            )

    def differences(self, variant: Variant) -> list[str]:
        """Nothing: the file doesn't say with which rules the model was trained."""
        return []

    def save(self, path: Path, half: bool = False) -> None:
        """Write the model as one of the suite's own (`Model.save`), if its network is one that these can have.

        Raises:
            ModelError: its hidden units are not rectified, or it takes the mask, or the file can't be written.
        """
        if self.activation != "ReLU" or self.takes_mask:
            raise ModelError(
                f"model: {path}: the suite's own models have rectified hidden units and see the observation alone; "
                "train with an MlpPolicy and policy_kwargs={'activation_fn': torch.nn.ReLU}"
            )
        super().save(path, half)


class Sb3Agent(LearnedAgent):
    """Plays the policy of a model of stable-baselines3, as `LearnedAgent` plays one of the suite's own."""

    model: Sb3Model

    def __init__(self, model: str | Path | Sb3Model, temperature: float = 0.0) -> None:
        super().__init__(model if isinstance(model, Sb3Model) else load_sb3_model(model), temperature)

    def _choose(self, observation: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
        if self.model.takes_mask:
            observation = np.concatenate([mask.astype(np.float32), observation], axis=1)
        return super()._choose(observation, mask)


def learned_agent(model: str | Path | Model | None = None, temperature: float = 0.0) -> LearnedAgent:
    """The agent of a saved model: one of the suite's own, or of stable-baselines3 if the file is a `.zip`.

    Raises:
        ConfigurationError: a temperature below 0.
        ModelError: a file that can't be used.
    """
    is_sb3 = isinstance(model, Sb3Model) or (isinstance(model, str | Path) and str(model).endswith(SUFFIX))
    return Sb3Agent(model, temperature) if is_sb3 else LearnedAgent(model, temperature)  # type: ignore[arg-type]


def load_sb3_model(path: str | Path) -> Sb3Model:
    """The policy in a file that stable-baselines3 has saved. Reading it runs no code.

    Raises:
        ModelError: there is no such file, it is damaged, or its network is not one that this can play.
    """
    with reading(path, "a model saved by stable-baselines3"):
        content = _unpacked(read_bytes(path, LARGEST))
        weights = _Weights(_unpacked(content["policy.pth"])).read()
        activation = _activation(path, json.loads(content["data"]))
    layers = _layers(path, weights)
    game, takes_mask = _game_of(path, layers)
    heads = {"policy": game.num_actions}
    counts = tuple(range(game.min_players, game.max_players + 1))
    return Sb3Model(game.name, counts, layers, heads, {}, activation, takes_mask)


def _unpacked(packed: bytes) -> dict[str, bytes]:
    """The files in an archive by name, if they are not too large together.

    Raises:
        OSError: they are.
        ValueError: it is no archive, or damaged.
    """
    with ZipFile(BytesIO(packed)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
            raise OSError(EFBIG, f"it unpacks to more than {LARGEST >> 20} MB")
        return {name: archive.read(name) for name in archive.namelist()}


class _Weights(pickle.Unpickler):
    """Reads what `torch.save` made of a policy's weights, and nothing else."""

    def __init__(self, files: dict[str, bytes]) -> None:
        (description,) = (name for name in files if name.endswith("/data.pkl"))
        self._root = description.removesuffix("data.pkl")
        self._files = files
        if files.get(f"{self._root}byteorder", b"little") != b"little":
            raise ValueError("its numbers have another byte order")
        super().__init__(BytesIO(files[description]))

    def read(self) -> dict[str, NDArray[Any]]:
        """The weights by name."""
        weights = self.load()
        if not isinstance(weights, dict) or not all(isinstance(array, np.ndarray) for array in weights.values()):
            raise ValueError("its weights are not arrays by name")
        return weights

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        raise pickle.UnpicklingError(f"it names {module}.{name}, which no weights need")

    def persistent_load(self, told: Any) -> NDArray[Any]:
        kind, number, key, _, _ = told
        if kind != "storage" or number not in STORAGES.values() or not isinstance(key, str):
            raise pickle.UnpicklingError("it holds something else than weights")
        return np.frombuffer(self._files[f"{self._root}data/{key}"], number)


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, *_: Any) -> NDArray[Any]:
    """A tensor whose numbers lie in order in `storage`."""
    in_order = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
    if not isinstance(storage, np.ndarray) or offset < 0 or min(shape, default=0) < 0 or tuple(stride) != in_order:
        raise pickle.UnpicklingError("its numbers do not lie in order")
    return storage[offset : offset + prod(shape)].reshape(shape)


def _activation(path: str | Path, data: Any) -> str:
    """What a model's hidden units are run through, from the description of its making."""
    told = data.get("policy_kwargs", {}).get("activation_fn")
    name = DEFAULT_ACTIVATION if told is None else str(told).rpartition(".")[2].strip("'>")
    if name not in ACTIVATIONS:
        raise ModelError(f"model: {path}: its hidden units are run through {name}, not {' or '.join(ACTIVATIONS)}")
    return name


def _layers(path: str | Path, weights: Mapping[str, NDArray[Any]]) -> Layers:
    """The layers of the policy, from the inputs to the actions' logits.

    Raises:
        ModelError: there is more to the network than these, or they don't fit together.
    """
    hidden = sorted(
        (name.removesuffix(".weight") for name in weights if name.startswith("mlp_extractor.policy_net.")),
        key=lambda name: (len(name), name),
    )
    names = [name for name in hidden if f"{name}.weight" in weights] + ["action_net"]
    beside = [name for name in weights if not name.startswith(("mlp_extractor.", "action_net.", "value_net."))]
    if beside or "action_net.weight" not in weights:
        raise ModelError(
            f"model: {path}: its network is not one that an agent can be made of (a PPO, A2C or MaskablePPO with "
            f"MlpPolicy or MultiInputPolicy){': it has ' + beside[0] if beside else ''}"
        )
    layers: Layers = []
    for name in names:
        weight, bias = weights[f"{name}.weight"], weights.get(f"{name}.bias")
        width = layers[-1][1].shape[0] if layers else weight.shape[-1]
        if bias is None or weight.ndim != 2 or weight.shape[1] != width or bias.shape != weight.shape[:1]:
            raise ModelError(f"model: {path} is damaged: the layers of its network don't fit together")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ModelError(f"model: {path} is damaged: weights of its network are not finite numbers")
        layers.append((np.ascontiguousarray(weight.T, np.float32), bias.astype(np.float32)))
    return layers


def _game_of(path: str | Path, layers: Layers) -> tuple[Game, bool]:
    """The game whose observation and actions fit the network, and whether the network takes the mask as well.

    Raises:
        ModelError: there is none.
    """
    inputs, outputs = layers[0][0].shape[0], layers[-1][1].shape[0]
    for game in map(find_game, game_names()):
        if outputs == game.num_actions and inputs in (game.observation_size, game.observation_size + outputs):
            return game, inputs != game.observation_size
    raise ModelError(
        f"model: {path}: its network takes {inputs} numbers and gives {outputs}, which fits the observation and the "
        "actions of no game; models see the whole observation of this version, with the mask before it or without"
    )
