"""Self-play with sb3-contrib's MaskablePPO on a `SelfPlayVecEnv`, with advantages for each seat.

Plain PPO would bootstrap one seat's value from its opponent's. `SelfPlayPPO` keeps each seat's data apart: it learns
from every seat's decisions, each seat's advantage runs from its own decision to its own next one, and the reward at
the end of a game reaches every seat.

Needs the extra `train`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from siberia_env.core.jit import kernel
from siberia_env.errors import missing_extra
from siberia_env.sb3 import SelfPlayVecEnv
from siberia_env.vector import Step, VectorEnv
from siberia_env.view import BatchView, view_games
from siberia_experiments.training.league import LEARNER

try:
    import torch as th
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing_extra("train", "siberia_experiments.training.sb3_ppo", error.name) from error


@kernel
def seat_advantages(
    values: Any,
    players: Any,
    rewards: Any,
    ended: Any,
    gamma: float,
    gae_lambda: float,
    advantages: Any,
) -> None:
    """Estimate advantages for each seat on its own, by generalised advantage estimation (Schulman and others, 2016).

    The loop walks back through every game. For each seat it keeps the value of the seat's next decision, the
    advantage found there and the rewards in between. A seat's last decision in a game that goes on has no next one: it
    gets the advantage 0, and its value stands for all that follows. What the seat's observation is worth later, while
    others are on turn, the network has not learnt.

    Args:
        values: float32 [T, N], values of the seat on turn.
        players: int8 [T, N], the seat on turn.
        rewards: float32 [T, N, P], what the step paid to each seat.
        ended: bool [T, N], whether the step ended the game.
        gamma: discount for each decision of the same seat.
        gae_lambda: weight of longer estimates.
        advantages: float32 [T, N], overwritten with the advantages.
    """
    steps, games = values.shape
    seats = rewards.shape[2]
    known = np.zeros(seats, np.bool_)
    next_value = np.zeros(seats)
    next_advantage = np.zeros(seats)
    reward = np.zeros(seats)
    for game in range(games):
        known[:] = False
        for step in range(steps - 1, -1, -1):
            if ended[step, game]:
                known[:] = True
                next_value[:] = 0.0
                next_advantage[:] = 0.0
                reward[:] = 0.0
            for seat in range(seats):
                reward[seat] += rewards[step, game, seat]
            seat = players[step, game]
            value = values[step, game]
            delta = reward[seat] + gamma * next_value[seat] - value
            next_advantage[seat] = delta + gamma * gae_lambda * next_advantage[seat] if known[seat] else 0.0
            known[seat] = True
            next_value[seat] = value
            reward[seat] = 0.0
            advantages[step, game] = next_advantage[seat]


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """A rollout with advantages for each seat. The policy learns only from the learner's own free decisions.

    Decisions of opponents and forced decisions (with one legal action) count in `seat_advantages`, but not in the
    loss.

    Attributes:
        players: int8 [T, N], the seat that decided.
        learns: bool [T, N], whether the decision enters the loss.
        seat_rewards: float32 [T, N, P], what the decision paid to each seat.
        ended: bool [T, N], whether the decision ended the game.
    """

    def set_seats(self, seats: int, seed: int) -> None:
        """Set how many players a game has, and seed the order of minibatches."""
        self.seats = seats
        self.random = np.random.default_rng(seed)
        self.reset()

    def reset(self) -> None:
        """Start a new rollout."""
        super().reset()
        shape = (self.buffer_size, self.n_envs)
        self.players = np.zeros(shape, np.int8)
        self.learns = np.zeros(shape, np.bool_)
        self.seat_rewards = np.zeros((*shape, getattr(self, "seats", 0)), np.float32)
        self.ended = np.zeros(shape, np.bool_)

    def add_decision(
        self,
        step: Step,
        actions: NDArray[np.int64],
        values: NDArray[np.float32],
        log_probs: NDArray[np.float32],
        learns: NDArray[np.bool_],
    ) -> None:
        """Store one decision of each game, before it is carried out."""
        row = self.pos
        self.observations[row] = step.observation
        self.action_masks[row] = step.mask
        self.actions[row] = actions[:, None]
        self.values[row] = values
        self.log_probs[row] = log_probs
        self.players[row] = step.player
        self.learns[row] = learns

    def add_outcome(self, step: Step, rewards: NDArray[np.float32]) -> None:
        """Store what the decisions led to, and what each seat is paid for it (float32 [N, P])."""
        self.seat_rewards[self.pos] = rewards
        self.ended[self.pos] = step.terminated
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def book_by_seat(self) -> None:
        """Find advantages and returns."""
        seat_advantages(
            self.values,
            self.players,
            self.seat_rewards,
            self.ended,
            self.gamma,
            self.gae_lambda,
            self.advantages,
        )
        self.returns = self.advantages + self.values

    def get(  # type: ignore[override]  # as in the parent class, whose samples have masks too
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Yield minibatches of `batch_size` decisions to learn from, in random order.

        The rest is left out of this epoch, and the next epoch has an order of its own. A minibatch of another size
        would cost torch another compilation, which torch keeps.
        """
        order = self.random.permutation(np.flatnonzero(self.learns.reshape(-1)))
        rows = {
            name: getattr(self, name).reshape(self.buffer_size * self.n_envs, -1)
            for name in ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
        }
        # A minibatch needs two decisions: a single advantage has no spread to be divided by.
        size = len(order) if batch_size is None else min(max(batch_size, 2), len(order))
        for start in range(0, len(order) - size + 1, size) if size else ():
            chosen = order[start : start + size]
            data = {name: th.as_tensor(array[chosen], device=self.device) for name, array in rows.items()}
            yield MaskableRolloutBufferSamples(
                observations=data["observations"],
                actions=data["actions"],
                old_values=data["values"].flatten(),
                old_log_prob=data["log_probs"].flatten(),
                advantages=data["advantages"].flatten(),
                returns=data["returns"].flatten(),
                action_masks=data["action_masks"],
            )


class Opponent(Protocol):
    """An opponent of the learner, which answers batches of views as the agents of `siberia_agents` do."""

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        """Return a legal action for each of n games: int64 [n]."""


class Seating(Protocol):
    """Who plays which seat of which game.

    Attributes:
        holder: int64 [N, P], index into `opponents`, or `LEARNER`.
    """

    holder: NDArray[np.int64]

    @property
    def opponents(self) -> Sequence[Opponent]:
        """All opponents that may hold a seat."""

    def reseat(self, games: NDArray[np.int64], step: Step) -> None:
        """Draw new holders for the seats of `games`, which have just ended; `step` has the results."""


def multiplies_brain_floats() -> bool:
    """Whether this processor has instructions for products of bfloat16 matrices."""
    supported = getattr(th.cpu, "_is_amx_tile_supported", None)  # not in every version of torch
    return supported is not None and bool(supported())


MASKED = -1e8  #: the logit of an illegal action, as in sb3-contrib


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's `MlpPolicy` with less work for each decision: one softmax, and hidden layers in bfloat16.

    Layers in bfloat16 are two to four times as fast on processors that multiply bfloat16 matrices (`amx_bf16`). The
    outputs of the heads are float32 (`siberia train` lets torch round their factors too). `brain_floats` turns
    bfloat16 on or off. By default it is on if the processor supports it, so runs on different processors differ.
    """

    def __init__(self, *args: Any, brain_floats: bool | None = None, **options: Any) -> None:
        self.brain_floats = multiplies_brain_floats() if brain_floats is None else brain_floats
        super().__init__(*args, **options)

    def forward(
        self, obs: th.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Return actions, values and the actions' log-likelihoods."""
        log_likelihoods, values = self._heads(obs, action_masks)
        if deterministic:
            actions = log_likelihoods.argmax(dim=1)
        else:  # the maximum of log-likelihoods with Gumbel noise is a draw by likelihood
            actions = (log_likelihoods - th.empty_like(log_likelihoods).exponential_().log()).argmax(dim=1)
        return actions, values, log_likelihoods.gather(1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: th.Tensor, actions: th.Tensor, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Return values, the log-likelihoods of `actions`, and the entropy over the legal actions."""
        log_likelihoods, values = self._heads(obs, action_masks)
        # The clamp saves time: numbers that are too small for float32 take the processor ten times as long.
        entropy = -(log_likelihoods.clamp(min=-80).exp() * log_likelihoods).sum(dim=1)
        return values, log_likelihoods.gather(1, actions[:, None])[:, 0], entropy

    def predict_values(self, obs: th.Tensor) -> th.Tensor:  # type: ignore[override]  # no dicts here
        """Return what each observer still expects: [n, 1]."""
        with th.autocast("cpu", th.bfloat16, enabled=self.brain_floats):
            latent = self.mlp_extractor.value_net(obs)
        values: th.Tensor = self.value_net(latent.float())
        return values

    def _heads(self, obs: th.Tensor, action_masks: Any) -> tuple[th.Tensor, th.Tensor]:
        """Return the log-likelihood of every action, and the values."""
        with th.autocast("cpu", th.bfloat16, enabled=self.brain_floats):
            latent = self.mlp_extractor.policy_net(obs)
        logits = self.action_net(latent.float())
        if action_masks is not None:
            logits = logits.masked_fill(th.as_tensor(action_masks) == 0, MASKED)
        return th.log_softmax(logits, dim=1), self.predict_values(obs)


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over a `SelfPlayVecEnv`, with a rollout that keeps each seat's data apart.

    `seating` decides who holds which seat. Without it, the learner holds all seats.

    With `shaped`, a seat is not paid at the end of the game, but after each step for what its standing gains. A
    standing is what the seat would be paid if the game ended now (`VectorEnv.standing`). This is potential-based
    shaping (Ng, Harada and Russell, 1999) without a discount: with `gamma` 1 the best policies stay the same. The
    value network predicts what is still to come.

    Rewards are multiplied by `reward_scale`. Gradients of policy and values are clipped together, so returns far
    above 1 would leave nothing for the policy.
    """

    rollout_buffer: SeatRolloutBuffer

    def __init__(
        self,
        policy: Any,
        env: SelfPlayVecEnv,
        seating: Seating | None = None,
        shaped: bool = False,
        reward_scale: float = 1.0,
        **options: Any,
    ) -> None:
        self.seating = seating
        self.shaped = shaped
        self.reward_scale = np.float32(reward_scale)
        super().__init__(policy, env, rollout_buffer_class=SeatRolloutBuffer, **options)

    def _setup_model(self) -> None:
        super()._setup_model()
        self.rollout_buffer.set_seats(self._games.num_players, self.seed or 0)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "seating"]

    @property
    def _games(self) -> VectorEnv:
        assert isinstance(self.env, SelfPlayVecEnv), "SelfPlayPPO needs a SelfPlayVecEnv"
        return self.env.env

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play `n_rollout_steps` decisions in every game, and store them by seat."""
        assert isinstance(env, SelfPlayVecEnv), "SelfPlayPPO needs a SelfPlayVecEnv"
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        step = env.last
        standing = env.env.standing()
        for _ in range(n_rollout_steps):
            actions, values, log_probs = self._decide(step)
            learns = self._override(env.env, step, actions)
            rollout_buffer.add_decision(step, actions, values, log_probs, learns & (step.num_legal > 1))
            step = env.last = env.env.step(actions)
            rewards = step.reward
            if self.shaped:
                before, standing = standing, env.env.standing()
                rewards = np.where(step.terminated[:, None], step.reward, standing) - before
            rollout_buffer.add_outcome(step, rewards * self.reward_scale)
            ended = [self._ended(step, row) for row in np.flatnonzero(step.terminated).tolist()]
            if self.seating is not None and step.terminated.any():
                self.seating.reseat(np.flatnonzero(step.terminated), step)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            self._update_info_buffer(ended)
        self._last_obs = step.observation
        rollout_buffer.book_by_seat()
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Learn from the rollout, unless it has fewer than two free decisions."""
        if np.count_nonzero(self.rollout_buffer.learns) > 1:
            super().train()

    def _ended(self, step: Step, row: int) -> dict[str, Any]:
        """Return the info of a game that has ended, for the log: the mean reward of the learner's seats, its length."""
        held = slice(None) if self.seating is None else self.seating.holder[row] == LEARNER
        paid = step.reward[row][held]
        return {"episode": {"r": float(paid.mean()) if len(paid) else 0.0, "l": int(step.final_length[row]), "t": 0.0}}

    def _decide(self, step: Step) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """Ask the policy in training for actions, values and log-likelihoods, for every game."""
        with th.no_grad():
            observation = th.as_tensor(step.observation, device=self.device)
            actions, values, log_probs = self.policy(observation, action_masks=step.mask)
        return actions.cpu().numpy(), values.flatten().cpu().numpy(), log_probs.cpu().numpy()

    def _override(self, games: VectorEnv, step: Step, actions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Replace the actions in games where an opponent is on turn; return where the learner is, bool [N]."""
        if self.seating is None:
            return np.ones(len(actions), np.bool_)
        holder = self.seating.holder[np.arange(len(actions)), step.player]
        for index in np.unique(holder[holder != LEARNER]):
            rows = np.flatnonzero(holder == index)
            views = view_games(games.variant, games.states, rows, step.observation, step.mask, step.player)
            actions[rows] = self.seating.opponents[index].act_batch(views)
        return holder == LEARNER
