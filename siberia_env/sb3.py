"""The batch as a stable-baselines3 `VecEnv`: each row is one game, seen from the seat on turn.

Consecutive observations of a row belong to different seats. Plain PPO would bootstrap one seat's value from its
opponent's. So train with an algorithm that keeps the seats apart, such as `SelfPlayPPO` of
`siberia_experiments.training.sb3_ppo`.

This module needs the extra `train`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from siberia_env.errors import missing_extra
from siberia_env.vector import Step, VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing_extra("train", "siberia_env.sb3", error.name) from error


class SelfPlayVecEnv(VecEnv):
    """A `VectorEnv` with the interface of a stable-baselines3 `VecEnv`.

    `step` returns, for each row, the observation of the seat now on turn and the reward of the seat that has
    just moved. That reward is zero unless the move ended the game. `last.reward` holds the rewards of all seats.
    Use this class with `SelfPlayPPO`; for one learner among fixed opponents see `siberia_env.gym`.
    """

    def __init__(self, env: VectorEnv) -> None:
        self.env = env
        self.render_mode = None
        self.last: Step = env.reset()
        self._actions = np.zeros(env.num_envs, np.int64)
        game = env.game
        super().__init__(
            env.num_envs,
            spaces.Box(-1.0, 1.0, (game.observation_size,), np.float32),
            spaces.Discrete(game.num_actions),
        )

    def reset(self) -> NDArray[np.float32]:
        """Deal every game anew and return the observations, float32 [N, O]."""
        self.last = self.env.reset(self._seeds[0] if self._seeds else None)
        self._reset_seeds()
        return self.last.observation.copy()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Step every game and return observations, rewards of the seats that moved, dones and infos."""
        moved = self.last.player.copy()
        self.last = self.env.step(self._actions)
        rewards = self.last.reward[np.arange(self.num_envs), moved]
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(self.last.terminated):
            infos[row] = {
                "seat_rewards": self.last.reward[row].copy(),
                "scores": self.last.final_scores[row].copy(),
                "episode": {"r": float(rewards[row]), "l": int(self.last.final_length[row]), "t": 0.0},
            }
        return self.last.observation.copy(), rewards, self.last.terminated.copy(), infos

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions of every row: int8 [N, A]."""
        return self.last.mask

    def close(self) -> None:
        """Stop the environment's threads."""
        self.env.close()

    def has_attr(self, attr_name: str) -> bool:
        """Whether the rows have an attribute. sb3-contrib asks for `action_masks`."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The value of an attribute, once for each row."""
        return [getattr(self, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of all rows."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Call a method and return its result for each row. For `action_masks` that is one array."""
        result = getattr(self, method_name)(*args, **kwargs)
        return result[self._rows(indices)] if method_name == "action_masks" else [result] * len(self._rows(indices))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each row: rows have no wrappers."""
        return [False] * len(self._rows(indices))

    def _rows(self, indices: Any) -> NDArray[np.int64]:
        return np.arange(self.num_envs)[slice(None) if indices is None else np.atleast_1d(indices)]
