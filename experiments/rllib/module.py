"""The policy that RLlib trains: a masked network for its new API stack, and the way back to a model of the suite.

The network is a trunk of rectified layers with two heads, policy and value, in one last layer. It is one of the suite's
own networks (`siberia_agents.learned`) with two of their heads. So a trained policy becomes a model file that every
command takes, without Ray.

Observations have the keys `observations` and `action_mask`, as RLlib's own `ActionMaskingTorchRLModule` wants them, so
that you can set that module or one of yours in its place. Only what this module trains can be exported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from siberia_agents.learned import Layers, Model
from siberia_env.errors import missing_extra
from siberia_env.game import Game

try:
    import torch as th
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from torch import nn
except ImportError as error:
    raise missing_extra("ray", "training with RLlib", error.name) from error

OBSERVATION, MASK = "observations", "action_mask"  #: the keys of an observation, by RLlib's custom
MASKED = -1e8  #: the logit of an illegal action
VALUE = "value"  #: beside RLlib's own columns: the value that the forward pass has found


def observation_space(game: Game) -> spaces.Dict:
    """What RLlib is told of an observation."""
    return spaces.Dict(
        {
            OBSERVATION: spaces.Box(-np.inf, np.inf, (game.observation_size,), np.float32),
            MASK: spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
    )


def action_space(game: Game) -> spaces.Discrete:
    """What RLlib is told of an action."""
    return spaces.Discrete(game.num_actions)


class MaskedPolicy(TorchRLModule, ValueFunctionAPI):
    """A masked policy with a value, in one network.

    `model_config` has `widths`, the widths of the hidden layers.
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    model_config: dict[str, Any]

    def setup(self) -> None:
        """Make the layers. RLlib calls this."""
        assert isinstance(self.observation_space, spaces.Dict)
        assert isinstance(self.action_space, spaces.Discrete)
        seen = self.observation_space[OBSERVATION].shape
        assert seen is not None
        actions = int(self.action_space.n)
        widths = list(self.model_config["widths"])
        linear = [nn.Linear(a, b) for a, b in pairwise([*seen, *widths, actions + 1])]
        for number, layer in enumerate(linear):
            nn.init.orthogonal_(layer.weight, 2**0.5 if number < len(widths) else 0.01)
            nn.init.zeros_(layer.bias)
        self.linear = nn.ModuleList(linear)

    def _heads(self, seen: Mapping[str, th.Tensor]) -> tuple[th.Tensor, th.Tensor]:
        """The masked logits [n, A], and the values [n]."""
        latent = seen[OBSERVATION]
        for layer in self.linear[:-1]:
            latent = th.relu(layer(latent))
        heads = self.linear[-1](latent)
        return heads[:, :-1].masked_fill(seen[MASK] == 0, MASKED), heads[:, -1]

    def _forward(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        """RLlib's forward pass, whatever it is for."""
        logits, values = self._heads(batch[Columns.OBS])
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> th.Tensor:
        """The values [n]. RLlib hands back as `embeddings` what the forward pass has found."""
        if embeddings is not None:
            values: th.Tensor = embeddings
            return values
        return self._heads(batch[Columns.OBS])[1]


def layers_of(weights: Mapping[str, NDArray[Any]]) -> Layers:
    """The layers of a `MaskedPolicy` whose weights RLlib gives out as `weights`, as the suite's models have them."""
    count = sum(name.endswith(".weight") for name in weights)
    return [
        (
            np.ascontiguousarray(np.asarray(weights[f"linear.{number}.weight"], np.float32).T),
            np.asarray(weights[f"linear.{number}.bias"], np.float32),
        )
        for number in range(count)
    ]


def model_of(
    game: Game, num_players: Sequence[int], weights: Mapping[str, NDArray[Any]], trained: Mapping[str, Any]
) -> Model:
    """A model of the suite with the weights of a `MaskedPolicy`.

    Args:
        game: the game.
        num_players: the player counts that it was trained for.
        weights: what RLlib gives out, for example `algorithm.get_module().get_state()`.
        trained: how it came to be.
    """
    heads = {"policy": game.num_actions, "value": 1}
    return Model(game.name, tuple(num_players), layers_of(weights), heads, dict(trained))
