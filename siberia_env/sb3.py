"""Batches of games as stable-baselines3's `VecEnv`, without processes.

`make_vec_env` makes one seat's games against given opponents, for any algorithm of stable-baselines3 and sb3-contrib.
`SelfPlayVecEnv` is for self-play by `SelfPlayPPO` of `siberia_experiments.training.sb3_ppo`, which learns from every
seat.

This module needs the extra `train`.
"""

from __future__ import annotations

import time
from typing import Any, NoReturn

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.gym_vector import SiberiaVectorEnv
from siberia_env.vector import Step, VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing_extra("train", "siberia_env.sb3", error.name) from error


BATCH = f"{SiberiaVectorEnv.__module__}:{SiberiaVectorEnv.__name__}"  #: where Gymnasium's registry leads for a batch


class _Batch(VecEnv):
    """What both have in common: all rows are one object, which has the attributes and methods that SB3 asks for."""

    render_mode: str | None = None

    def action_masks(self) -> NDArray[Any]:
        """The legal actions of every row: [N, A]. sb3-contrib looks for a method of this name."""
        raise NotImplementedError

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


class OneSeatVecEnv(_Batch):
    """One seat's games against given opponents, many at once; `make_vec_env` makes one.

    Observations are the vectors of the learner's seat, float32 [N, O], for an `MlpPolicy`. Masks come from
    `action_masks`, where MaskablePPO looks for them. The info of a game's last step has `terminal_observation`,
    `scores` (by player), `winners`, and `episode`, from which stable-baselines3 logs `rollout/ep_rew_mean` and
    `rollout/ep_len_mean`.
    """

    def __init__(self, env: SiberiaVectorEnv) -> None:
        """Take the games of `env`, whose autoreset mode is `SameStep`.

        Raises:
            ConfigurationError: its autoreset mode is another.
        """
        if env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ConfigurationError(
                f"OneSeatVecEnv: the games have the autoreset mode {env.autoreset_mode.value!r}; stable-baselines3 "
                "needs autoreset_mode='SameStep'"
            )
        self.env = env
        self._actions = np.zeros(env.num_envs, np.int64)
        self._paid = np.zeros(env.num_envs, np.float64)  # in each row's current game
        self._lengths = np.zeros(env.num_envs, np.int64)  # its decisions
        self._began = time.monotonic()
        seen = env.single_observation_space
        assert isinstance(seen, spaces.Dict)
        super().__init__(env.num_envs, seen["observation"], env.single_action_space)

    def reset(self) -> NDArray[np.float32]:
        """Deal every game anew and return the observations, float32 [N, O]."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        observation, _ = self.env.reset(seed=seeds)
        self._reset_seeds()
        self._paid[:] = 0
        self._lengths[:] = 0
        return observation["observation"]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Step every game and return observations, rewards, dones and infos."""
        observation, paid, dones, _, told = self.env.step(self._actions)
        self._paid += paid
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(dones).tolist():
            final = told["final_info"]
            infos[row] = {
                "terminal_observation": told["final_obs"][row]["observation"],
                "scores": {name: int(final["scores"][name][row]) for name in self.env.players},
                "winners": final["winners"][row],
                "episode": {
                    "r": float(self._paid[row]),
                    "l": int(self._lengths[row]),
                    "t": round(time.monotonic() - self._began, 6),
                },
            }
        self._paid[dones] = 0
        self._lengths[dones] = 0
        return observation["observation"], paid.astype(np.float32), dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions in every row: bool [N, A]."""
        return self.env.action_masks()

    def close(self) -> None:
        """Close the games."""
        self.env.close()


def make_vec_env(
    env_id: str, n_envs: int = 1, seed: int | None = None, env_kwargs: dict[str, Any] | None = None
) -> OneSeatVecEnv:
    """Make `n_envs` games as one batch, as `make_vec_env` of stable-baselines3 makes them one by one.

    Args:
        env_id: `"siberia/Card-v0"` or `"siberia/Board-v0"`.
        n_envs: number of games.
        seed: row i gets the seed `seed + i` at the next reset; None for a seed of chance.
        env_kwargs: options of the games, such as `{"num_players": 3, "opponents": "greedy"}`.

    Raises:
        ConfigurationError: an option is invalid, there is no such opponent, or the id is of another environment.
        ModelError: an opponent can't play this game.
    """
    ids = [name for name, spec in gymnasium.registry.items() if spec.vector_entry_point == BATCH]
    if env_id.rpartition(":")[2] not in ids:  # a module may stand before it
        raise ConfigurationError(f"env_id: {env_id!r} is no game of the suite; there are {', '.join(ids)}")
    options = {"autoreset_mode": AutoresetMode.SAME_STEP, **(env_kwargs or {})}
    games = gymnasium.make_vec(env_id, n_envs, **options)
    assert isinstance(games, SiberiaVectorEnv)
    made = OneSeatVecEnv(games)
    made.seed(seed)
    return made


class SelfPlayVecEnv(_Batch):
    """A `VectorEnv` as the `VecEnv` of `SelfPlayPPO`: each row is one game, seen from the seat on turn.

    Consecutive observations of a row belong to different seats. An algorithm that takes a row for one player would
    bootstrap a seat's value from its opponent's and never book the loser's reward. So `step` refuses. `SelfPlayPPO`
    plays through `env` and books every seat by itself. `last` is what the games show.
    """

    def __init__(self, env: VectorEnv) -> None:
        self.env = env
        self.last: Step = env.reset()
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

    def step_async(self, actions: NDArray[np.int64]) -> NoReturn:
        """Refuse the step of an algorithm that knows no seats.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(
            "SelfPlayVecEnv: its rows change seats from step to step, so an algorithm that knows no seats would book "
            "rewards and values for the wrong player. Use SelfPlayPPO of siberia_experiments.training.sb3_ppo, or "
            "make_vec_env of siberia_env.sb3, where one seat learns against opponents"
        )

    def step_wait(self) -> NoReturn:
        """Refuse, as `step_async` does."""
        self.step_async(np.zeros(0, np.int64))

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions of every row: int8 [N, A]."""
        return self.last.mask

    def close(self) -> None:
        """Stop the environment's threads."""
        self.env.close()
