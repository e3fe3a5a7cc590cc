"""A policy that you trained in PyTorch, saved as a model of the suite: `learned:model.npz` plays it.

Needs the extra `train`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from siberia_agents.learned import Model
from siberia_env.errors import ModelError, missing_extra
from siberia_env.game import find_game

try:
    from torch import nn
except ImportError as error:
    raise missing_extra("train", "siberia_experiments.training.export", error.name) from error

#: Modules without weights that change nothing when a policy plays.
PASSIVE = (nn.Identity, nn.Flatten, nn.Dropout)


def save_policy(network: nn.Module, path: str | Path, game: str = "card", num_players: Sequence[int] = (2,)) -> None:
    """Save `network` as the model file `path`.

    Args:
        network: linear layers with ReLU between them, from an observation [n, O] to a number for each action [n, A]:
            logits, or values of which the highest is the best.
        path: the file, `.npz`.
        game: the game it was trained for.
        num_players: the player counts that it was trained for.

    Raises:
        ConfigurationError: there is no such game.
        ModelError: the network has other parts, or other numbers of inputs and outputs, or the file can't be written.
    """
    played = find_game(game)
    parts = [part for part in network.modules() if not list(part.children()) and not isinstance(part, PASSIVE)]
    linear = [part for part in parts if isinstance(part, nn.Linear)]
    strange = [type(part).__name__ for part in parts if not isinstance(part, nn.Linear | nn.ReLU)]
    in_turn = [isinstance(part, nn.Linear) for part in parts] == [number % 2 == 0 for number in range(len(parts))]
    if strange or not linear or not in_turn or len(parts) % 2 == 0 or any(part.bias is None for part in linear):
        raise ModelError(
            "model: the network is not made of linear layers with biases and ReLU between them"
            f"{': it has ' + ', '.join(dict.fromkeys(strange)) if strange else ''}"
        )
    layers = [
        (
            np.ascontiguousarray(part.weight.detach().cpu().numpy().T, np.float32),
            part.bias.detach().cpu().numpy().astype(np.float32),
        )
        for part in linear
    ]
    sizes = layers[0][0].shape[0], layers[-1][1].shape[0]
    if sizes != (played.observation_size, played.num_actions):
        raise ModelError(
            f"model: the network takes {sizes[0]} numbers and gives {sizes[1]}; {played.title} has observations of "
            f"{played.observation_size} and {played.num_actions} actions"
        )
    model = Model(game, tuple(num_players), layers, {"policy": played.num_actions}, {})
    for count in num_players:
        model.check_fits(played.variant(count))
    model.save(Path(path))
