"""Self-play booked by seat: advantages, the rollout, bootstraps, stable-baselines3's own algorithms, learning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch as th
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv

from siberia_agents.greedy import GreedyAgent
from siberia_agents.interface import Agent
from siberia_agents.random_agent import RandomAgent
from siberia_env import vector
from siberia_env.card.game import GAME
from siberia_env.errors import ConfigurationError
from siberia_env.gym import SiberiaEnv
from siberia_env.gym_vector import SiberiaVectorEnv
from siberia_env.sb3 import OneSeatVecEnv, SelfPlayVecEnv
from siberia_env.sb3 import make_vec_env as one_seat
from siberia_env.vector import VectorEnv
from siberia_env.view import view_games
from siberia_experiments.match import play_games
from siberia_experiments.training.sb3_ppo import (
    LEARNER,
    SeatRolloutBuffer,
    SelfPlayPolicy,
    SelfPlayPPO,
    seat_advantages,
)
from tests.games import GameCase

SMALL: dict[str, Any] = {"policy_kwargs": {"net_arch": [16]}, "device": "cpu"}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small networks are slower on more threads, and not the same from run to run."""
    threads = th.get_num_threads()
    th.set_num_threads(1)
    yield
    th.set_num_threads(threads)


# ---------------------------------------------------------------- advantages by seat


def advantages_of(
    values: Any, players: Any, rewards: Any, ended: Any, gamma: float = 1.0, gae_lambda: float = 1.0
) -> NDArray[np.float32]:
    """`seat_advantages` on whatever lists a test gives: [T][N], rewards [T][N][P]."""
    own = np.array(values, np.float32)
    out = np.full(own.shape, np.nan, np.float32)
    seat_advantages(
        own,
        np.array(players, np.int8),
        np.array(rewards, np.float32),
        np.array(ended, bool),
        gamma,
        gae_lambda,
        out,
    )
    return out


def slow_advantages(
    values: Any, players: Any, rewards: Any, ended: Any, gamma: float, gae_lambda: float
) -> NDArray[np.float64]:
    """The definition, forward in time: for each decision the weighted sum of its seat's later surprises."""
    steps, games = len(values), len(values[0])
    out = np.zeros((steps, games))
    for game in range(games):
        stops = [step for step in range(steps) if ended[step][game]]
        for step in range(steps):
            seat = players[step][game]
            stop = next((end for end in stops if end >= step), None)
            last = steps - 1 if stop is None else stop
            own = [later for later in range(step, last + 1) if players[later][game] == seat]
            settled = own[:-1] if stop is None else own  # the value of the last decision stands for what follows
            for number, decision in enumerate(settled):
                following = own[number + 1] if number + 1 < len(own) else None
                until = last if following is None else following - 1
                paid = sum(rewards[between][game][seat] for between in range(decision, until + 1))
                expected = 0.0 if following is None else values[following][game]
                surprise = paid + gamma * expected - values[decision][game]
                out[step, game] += (gamma * gae_lambda) ** number * surprise
    return out


def advantages_by_definition(learner: Any) -> NDArray[np.float64]:
    """The advantages of everything in a learner's buffer, by `slow_advantages`."""
    buffer = learner.rollout_buffer
    return slow_advantages(
        buffer.values.tolist(),
        buffer.players.tolist(),
        buffer.seat_rewards.tolist(),
        buffer.ended.tolist(),
        0.99,
        0.9,
    )


def test_the_losers_minus_one_arrives() -> None:
    """Two decisions, one a seat; the second wins. Booked by row alone, the loser would never hear of it."""
    advantages = advantages_of(
        values=[[0.25], [0.5]],
        players=[[0], [1]],
        rewards=[[[0, 0]], [[-1, 1]]],
        ended=[[False], [True]],
    )
    assert advantages.tolist() == [[-1.25], [0.5]]


def test_a_seat_is_not_bootstrapped_from_its_opponents_value() -> None:
    advantages = advantages_of(
        values=[[0.5], [-0.5], [0.75]],
        players=[[0], [1], [0]],
        rewards=[[[0, 0]], [[0.125, 0]], [[0, 0]]],
        ended=[[False]] * 3,
        gae_lambda=0.0,
    )
    assert advantages.tolist() == [[0.375], [0.0], [0.0]]


def test_what_breaks_off_is_worth_what_was_expected_at_the_seats_last_decision() -> None:
    """Whatever it was paid since; and earlier decisions hear of it."""
    parts: dict[str, Any] = {"players": [[0], [0], [1]], "ended": [[False]] * 3}
    one = advantages_of(values=[[0.5], [0.25], [-1]], rewards=[[[1, 0]], [[0, 0]], [[0, 0]]], **parts)
    other = advantages_of(values=[[0.5], [0.25], [-1]], rewards=[[[1, 0]], [[4, 5]], [[6, 7]]], **parts)
    assert one.tolist() == other.tolist() == [[0.75], [0.0], [0.0]]


def test_what_lies_behind_a_games_end_never_counts() -> None:
    parts: dict[str, Any] = {
        "players": [[0], [1], [1], [0], [1]],
        "rewards": [[[0, 0]], [[1, -1]], [[0, 0]], [[0, 0]], [[0, 0]]],
        "ended": [[False], [True], [False], [False], [False]],
    }
    one = advantages_of(values=[[0], [0], [0], [0], [0]], **parts)
    other = advantages_of(values=[[0], [0], [5], [7], [9]], **parts)
    assert one[:2].tolist() == other[:2].tolist() == [[1], [-1]]
    assert one[2:].tolist() != other[2:].tolist()


def test_a_seat_that_never_decides_takes_nothing_from_the_others() -> None:
    advantages = advantages_of(
        values=[[0], [0]],
        players=[[0], [1]],
        rewards=[[[0, 0, 0]], [[-0.5, -0.5, 1]]],
        ended=[[False], [True]],
    )
    assert advantages.tolist() == [[-0.5], [-0.5]]


@st.composite
def rollouts(draw: st.DrawFn) -> dict[str, Any]:
    """A rollout with games that end anywhere, several a row, any seat on turn, and rewards at any step."""
    seats, steps, games = draw(st.integers(2, 4)), draw(st.integers(1, 12)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ended = random.random((steps, games)) < draw(st.sampled_from([0.0, 0.2, 0.6]))
    rewards = random.normal(size=(steps, games, seats))
    if draw(st.booleans()):
        rewards *= ended[:, :, None]
    return {
        "values": random.normal(size=(steps, games)).tolist(),
        "players": random.integers(0, seats, (steps, games)).tolist(),
        "rewards": rewards.tolist(),
        "ended": ended.tolist(),
        "gamma": draw(st.sampled_from([1.0, 0.9, 0.0])),
        "gae_lambda": draw(st.sampled_from([1.0, 0.8, 0.0])),
    }


@settings(max_examples=150)
@given(rollouts())
def test_advantages_are_those_of_the_definition(rollout: dict[str, Any]) -> None:
    np.testing.assert_allclose(advantages_of(**rollout), slow_advantages(**rollout), rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------- the rollout


class Table:
    """A seating: in row r seat `seats[r]` belongs to the one opponent, all others to the learner."""

    def __init__(self, games: int, players: int, opponent: Agent, seats: list[int]) -> None:
        self.opponents = [opponent]
        self.holder = np.full((games, players), LEARNER, np.int64)
        self.holder[np.arange(len(seats)), seats] = 0
        self.ended: list[int] = []

    def reseat(self, games: NDArray[np.int64], step: vector.Step) -> None:
        """Keep the seats, and note which games ended."""
        assert step.terminated[games].all()
        self.ended.extend(games.tolist())


class Watcher(BaseCallback):
    """Notes every decision of a rollout, independently of the buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []

    def _on_step(self) -> bool:
        # The step shows what came out; the decision's own row is in the buffer by now.
        buffer, step = self.locals["rollout_buffer"], self.locals["step"]
        row = buffer.pos - 1
        self.rows.append(
            {
                "mask": buffer.action_masks[row].copy(),
                "action": buffer.actions[row, :, 0].copy(),
                "player": buffer.players[row].copy(),
                "next_player": step.player.copy(),
                "terminated": step.terminated.copy(),
                "reward": step.reward.copy(),
                "scores": self.locals["env"].env.states["score"].astype(float),
            }
        )
        return True


def collected(
    players: int = 2,
    games: int = 6,
    steps: int = 150,
    seating: Table | None = None,
    reward: str = "win",
    shaped: bool = False,
) -> tuple[SelfPlayPPO, Watcher]:
    """A learner after one rollout."""
    env = SelfPlayVecEnv(vector.make("card", games, players, seed=3, rules={"max_turns": 40}, reward=reward))
    learner = SelfPlayPPO("MlpPolicy", env, seating, shaped, n_steps=steps, gamma=0.99, gae_lambda=0.9, seed=1, **SMALL)
    watcher = Watcher()
    _, callback = learner._setup_learn(10**9, watcher)
    assert learner.collect_rollouts(env, callback, learner.rollout_buffer, steps)
    return learner, watcher


@pytest.mark.parametrize("players", [2, 3])
def test_the_rollout_books_what_happened(players: int) -> None:
    learner, watcher = collected(players)
    buffer = learner.rollout_buffer
    assert buffer.full
    assert learner.num_timesteps == buffer.buffer_size * buffer.n_envs
    before = None
    for row, seen in enumerate(watcher.rows):
        assert np.array_equal(buffer.ended[row], seen["terminated"])
        assert np.array_equal(buffer.seat_rewards[row], seen["reward"])
        assert np.array_equal(buffer.learns[row], seen["mask"].sum(axis=1) > 1)
        assert np.all(np.take_along_axis(seen["mask"], seen["action"][:, None].astype(int), 1) == 1)
        if before is not None:
            assert np.array_equal(buffer.players[row], before["next_player"])
        before = seen
    assert buffer.ended.sum() >= buffer.n_envs
    assert set(np.unique(buffer.players)) == set(range(players))
    np.testing.assert_allclose(buffer.advantages, advantages_by_definition(learner), atol=1e-4)
    np.testing.assert_allclose(buffer.returns, buffer.advantages + buffer.values, atol=1e-6)


@pytest.mark.parametrize("players", [2, 4])
def test_shaped_rewards_pay_every_change_of_the_standing_and_add_up_to_the_result(players: int) -> None:
    learner, watcher = collected(players, reward="margin", shaped=True)
    buffer = learner.rollout_buffer
    before = np.zeros((buffer.n_envs, players))  # a deal is level: everybody has one worker
    changed = 0
    for row, seen in enumerate(watcher.rows):
        scores = seen["scores"][:, :players]
        margins = (scores - (scores.sum(axis=1, keepdims=True) - scores) / (players - 1)) / 10
        after = np.where(seen["terminated"][:, None], seen["reward"], margins)
        np.testing.assert_allclose(buffer.seat_rewards[row], after - before, atol=1e-5)
        changed += int(np.count_nonzero(buffer.seat_rewards[row]))
        before = margins
    assert changed > 100
    for game in range(buffer.n_envs):
        ends = np.flatnonzero(buffer.ended[:, game])
        for start, end in pairwise([-1, *ends]):
            paid = buffer.seat_rewards[start + 1 : end + 1, game].sum(axis=0)
            np.testing.assert_allclose(paid, watcher.rows[end]["reward"][game], atol=1e-4)
    np.testing.assert_allclose(buffer.advantages, advantages_by_definition(learner), atol=1e-4)


def test_opponents_decide_for_their_seats_and_leave_the_loss() -> None:
    games = 6
    table = Table(games, 2, GreedyAgent(), [0, 0, 0, 1, 1])
    learner, watcher = collected(2, games, seating=table)
    buffer, env = learner.rollout_buffer, vector.make("card", games, 2, seed=3, rules={"max_turns": 40})
    step, greedy = env.reset(1), GreedyAgent()  # the learner's own seed deals the games
    counted = 0
    for row, seen in enumerate(watcher.rows):
        assert np.array_equal(step.mask, seen["mask"])
        opposed = np.flatnonzero(table.holder[np.arange(games), step.player] == 0)
        if len(opposed):
            view = view_games(env.variant, env.states, opposed, step.observation, step.mask, step.player)
            assert seen["action"][opposed].astype(int).tolist() == greedy.act_batch(view).tolist()
            counted += len(opposed)
        mine = np.ones(games, bool)
        mine[opposed] = False
        assert np.array_equal(buffer.learns[row], mine & (step.num_legal > 1))
        step = env.step(seen["action"].astype(np.int64))
    assert counted > 300
    assert buffer.learns[:, 5].sum() > buffer.learns[:, 0].sum()
    assert sorted(table.ended) == sorted(np.nonzero(buffer.ended)[1].tolist())


def free_decisions(buffer: SeatRolloutBuffer) -> set[bytes]:
    """What identifies each decision that is learnt from: its observation, return and likelihood."""
    return {
        b"".join(part.tobytes() for part in (buffer.observations[at], buffer.returns[at], buffer.log_probs[at]))
        for at in zip(*np.nonzero(buffer.learns), strict=True)
    }


@pytest.mark.parametrize("batch_size", [None, 1, 7, 64, 10**6])
def test_minibatches_hold_free_decisions_once_and_nothing_else(batch_size: int | None) -> None:
    learner, _ = collected(2, games=4, steps=60, seating=Table(4, 2, RandomAgent(), [1]))
    buffer = learner.rollout_buffer
    expected = free_decisions(buffer)
    assert len(expected) == buffer.learns.sum() < buffer.learns.size
    size = len(expected) if batch_size is None else min(max(batch_size, 2), len(expected))
    orders = []
    for _ in range(2):
        found: list[bytes] = []
        for batch in buffer.get(batch_size):
            assert len(batch.observations) == size
            for row in range(len(batch.observations)):
                parts = (batch.observations[row], batch.returns[row], batch.old_log_prob[row])
                found.append(b"".join(part.numpy().tobytes() for part in parts))
                assert batch.action_masks[row, int(batch.actions[row, 0])] == 1
                assert batch.action_masks[row].sum() > 1
            np.testing.assert_allclose(batch.returns, batch.advantages + batch.old_values, atol=1e-6)
        assert len(found) == len(set(found)) == len(expected) - len(expected) % size
        assert set(found) <= expected
        orders.append(found)
    assert orders[0] != orders[1]


def test_no_minibatch_of_one_makes_the_weights_not_a_number() -> None:
    """The advantages of a minibatch are divided by their standard deviation: of one number there is none."""
    learner, _ = collected(2, games=4, steps=60)
    buffer = learner.rollout_buffer
    for free in (1, 2, 3, 5, 9):
        buffer.learns[:] = False
        buffer.learns.reshape(-1)[:free] = True
        for size in (1, 2, 3, 4, 8):
            sizes = [len(batch.observations) for batch in buffer.get(size)]
            assert free == 1 or (len(set(sizes)) == 1 and sizes[0] > 1)
        learner.batch_size = 8
        learner.train()
        assert all(th.isfinite(weight).all() for weight in learner.policy.parameters())


def test_a_rollout_without_free_decisions_changes_nothing() -> None:
    learner, _ = collected(2, games=2, steps=8)
    learner.rollout_buffer.learns[:] = False
    assert list(learner.rollout_buffer.get(4)) == []
    assert list(learner.rollout_buffer.get()) == []
    before = [weight.clone() for weight in learner.policy.parameters()]
    learner.train()
    assert all(th.equal(old, new) for old, new in zip(before, learner.policy.parameters(), strict=True))


# ---------------------------------------------------------------- stable-baselines3


def test_the_batch_is_a_vec_env_with_masks(case: GameCase) -> None:
    env = SelfPlayVecEnv(vector.make(case.name, 5, 3, seed=2))
    assert is_masking_supported(env)
    observation: Any = env.reset()
    assert env.observation_space.contains(observation[0])
    assert env.action_space.contains(0)
    assert_answers_for_its_rows(env)
    assert get_action_masks(env).shape == (5, case.game.num_actions)
    env.close()


def assert_answers_for_its_rows(env: VecEnv) -> None:
    """Stable-baselines3 asks a `VecEnv` of five rows for attributes and methods of each."""
    assert env.has_attr("action_masks")
    assert not env.has_attr("no such thing")
    assert env.get_attr("num_envs") == [5] * 5
    assert env.get_attr("num_envs", [1, 2]) == [5, 5]
    assert env.env_is_wrapped(BaseCallback) == [False] * 5
    assert np.array_equal(env.env_method("action_masks", indices=[3, 1]), get_action_masks(env)[[3, 1]])
    env.set_attr("note", 4)
    assert env.get_attr("note", 0) == [4]


def test_a_seed_deals_the_batch_anew() -> None:
    env = SelfPlayVecEnv(vector.make("card", 3, 2))
    first = env.reset()
    env.seed(77)
    other = env.reset()
    assert not np.array_equal(first, other)
    env.seed(77)
    assert np.array_equal(env.reset(), other)


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, A2C])
def test_an_algorithm_that_knows_no_seats_is_refused_with_the_reason(algorithm: Any) -> None:
    """It would run without an error, and learn from rewards and values of the wrong seats."""
    env = SelfPlayVecEnv(vector.make("card", 4, 2, seed=5))
    with pytest.raises(ConfigurationError, match=r"rows change seats.* wrong player\. Use SelfPlayPPO .*make_vec_env"):
        algorithm("MlpPolicy", env, n_steps=16, **SMALL).learn(64)
    with pytest.raises(ConfigurationError, match="rows change seats"):
        env.step(env.action_masks().argmax(axis=1))
    with pytest.raises(ConfigurationError, match="rows change seats"):
        env.step_wait()


def logged(learner: Any) -> dict[str, float]:
    """What the learner logs of its games when it writes a line of its log."""
    learner.logger.name_to_value.clear()
    rows: dict[str, float] = {}
    learner.logger.dump = lambda step=0: rows.update(learner.logger.name_to_value)
    learner.dump_logs(1)
    return {name: value for name, value in rows.items() if name.startswith("rollout/")}


@pytest.mark.parametrize("reward", ["score", "win"])
def test_self_play_logs_rewards_and_lengths_of_the_games_that_end(reward: str) -> None:
    games = 8
    table = Table(games, 2, RandomAgent(), [0, 1] * 4)
    learner, watcher = collected(2, games, 120, table if reward == "score" else None, reward=reward)
    paid = []
    for seen in watcher.rows:
        for row in np.flatnonzero(seen["terminated"]):
            mine = table.holder[row] == LEARNER if reward == "score" else slice(None)
            paid.append(float(seen["reward"][row][mine].mean()))
    assert len(paid) > 3
    told = logged(learner)
    assert told["rollout/ep_rew_mean"] == pytest.approx(np.mean(paid), abs=1e-4)
    assert 10 < told["rollout/ep_len_mean"] < 200
    assert reward == "win" or told["rollout/ep_rew_mean"] > 0


def test_self_play_goes_through_learn_and_stops_when_a_callback_says_so(case: GameCase) -> None:
    class Stop(BaseCallback):
        def _on_step(self) -> bool:
            return self.num_timesteps < 400

    env = SelfPlayVecEnv(vector.make(case.name, 4, 2, seed=5, rules=case.short))
    learner = SelfPlayPPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1, **SMALL)
    learner.learn(256)
    assert learner.num_timesteps == 256
    learner.learn(10**6, Stop())
    assert learner.num_timesteps == 400


class PolicyAgent(Agent):
    """The learner's likeliest actions."""

    name = "policy"

    def __init__(self, learner: SelfPlayPPO) -> None:
        self.learner = learner

    def act(self, view: Any) -> int:
        """The action for one game."""
        action, _ = self.learner.predict(view.observation, action_masks=view.mask, deterministic=True)
        return int(action)

    def act_batch(self, views: Any) -> NDArray[np.int64]:
        """The actions for many."""
        action, _ = self.learner.predict(views.observation, action_masks=views.mask, deterministic=True)
        return action


def test_seconds_of_self_play_beat_random_clearly() -> None:
    """A small network after 100 000 decisions, which wins all but a few; untrained it wins next to nothing."""
    env = SelfPlayVecEnv(vector.make("card", 128, 2, seed=1, reward="margin"))
    learner = SelfPlayPPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=512,
        n_epochs=4,
        learning_rate=2e-3,
        gamma=1.0,
        ent_coef=0.01,
        seed=1,
        policy_kwargs={"net_arch": [64], "activation_fn": th.nn.ReLU},
        device="cpu",
    )
    before = play_games(GAME.variant(2), [PolicyAgent(learner), RandomAgent()], 400, seed=3).win_rate(0)
    learner.learn(98_304)
    after = play_games(GAME.variant(2), [PolicyAgent(learner), RandomAgent()], 400, seed=3).win_rate(0)
    assert before.value < 0.7
    assert after.value > 0.85


def test_a_saved_learner_comes_back(tmp_path: Path) -> None:
    env = SelfPlayVecEnv(vector.make("card", 4, 3, seed=5))
    learner = SelfPlayPPO("MlpPolicy", env, None, True, n_steps=8, batch_size=16, n_epochs=1, seed=1, **SMALL)
    learner.learn(32)
    learner.save(tmp_path / "learner.zip")
    back = SelfPlayPPO.load(tmp_path / "learner.zip", env=env, device="cpu")
    assert back.shaped
    assert back.num_timesteps == 32
    for old, new in zip(learner.policy.parameters(), back.policy.parameters(), strict=True):
        assert th.equal(old, new)
    back.learn(32, reset_num_timesteps=False)
    assert back.num_timesteps == 64


def test_the_policy_says_what_the_policy_of_maskable_ppo_says() -> None:
    env = VectorEnv(GAME.variant(2), 64, 3)
    learner = SelfPlayPPO(SelfPlayPolicy, SelfPlayVecEnv(env), policy_kwargs={"brain_floats": False}, device="cpu")
    policy, step = learner.policy, learner.env.last
    th.backends.mkldnn.matmul.fp32_precision = "ieee"
    observation = th.as_tensor(step.observation)
    actions = th.as_tensor(step.mask.argmax(axis=1))
    with th.no_grad():
        own = policy.evaluate_actions(observation, actions, step.mask)
        theirs = MaskableActorCriticPolicy.evaluate_actions(policy, observation, actions, step.mask)
        best = policy.forward(observation, True, step.mask)
        policy.brain_floats = True
        rounded = policy.evaluate_actions(observation, actions, step.mask)
    for mine, reference, rough in zip(own, theirs, rounded, strict=True):
        np.testing.assert_allclose(mine.numpy(), reference.numpy(), atol=1e-5)
        np.testing.assert_allclose(rough.numpy(), reference.numpy(), atol=0.05)
    assert np.all(step.mask[np.arange(64), best[0].numpy()] == 1)


def test_the_policy_draws_actions_by_likelihood() -> None:
    env = VectorEnv(GAME.variant(2), 1, 3)
    learner = SelfPlayPPO(SelfPlayPolicy, SelfPlayVecEnv(env), seed=5, device="cpu")
    step, draws = learner.env.last, 20_000
    observation = th.as_tensor(step.observation).repeat(draws, 1)
    mask = np.repeat(step.mask, draws, axis=0)
    with th.no_grad():
        actions, _, likelihood = learner.policy.forward(observation, False, mask)
    for action in np.flatnonzero(step.mask[0]):
        drawn = (actions.numpy() == action).mean()
        expected = float(likelihood[actions == int(action)][0].exp())
        assert abs(drawn - expected) < 5 * np.sqrt(expected / draws)


# ---------------------------------------------------------------- one seat, many games


def test_one_seats_games_are_a_vec_env(case: GameCase) -> None:
    """Its games are those of `SiberiaVectorEnv`; infos tell what stable-baselines3 looks for."""
    options: dict[str, Any] = {"num_players": 3, "opponents": ["greedy", "heuristic"], "rules": case.short}
    env = one_seat(case.gym_id, 5, 7, {**options, "reward": "score"})
    games = SiberiaVectorEnv(5, case.name, **options, reward="score", autoreset_mode="SameStep")
    assert env.observation_space == env.env.single_observation_space["observation"]
    assert is_masking_supported(env)
    observation: Any = env.reset()
    expected, _ = games.reset(seed=7)
    assert_answers_for_its_rows(env)
    ended, length = 0, np.zeros(5, int)
    for _ in range(60):
        masks = get_action_masks(env)
        assert np.array_equal(observation, expected["observation"])
        assert np.array_equal(masks, expected["action_mask"] == 1)
        observation, rewards, dones, infos = env.step(masks.argmax(axis=1))
        expected, paid, over, _, told = games.step(masks.argmax(axis=1))
        assert rewards.dtype == np.float32
        assert np.array_equal(rewards, paid.astype(np.float32))
        assert np.array_equal(dones, over)
        length += 1
        for row in range(5):
            assert (infos[row] != {}) == dones[row]
            if dones[row]:
                ended += 1
                assert infos[row]["episode"]["r"] == paid[row]
                assert infos[row]["episode"]["l"] == length[row]
                assert np.array_equal(infos[row]["terminal_observation"], told["final_obs"][row]["observation"])
                assert infos[row]["scores"]["player_0"] == 1000 * paid[row]
                assert set(infos[row]["winners"]) <= {"player_0", "player_1", "player_2"}
                length[row] = 0
    assert ended > 5
    env.close()


@pytest.mark.parametrize("algorithm", [MaskablePPO, A2C])
def test_algorithms_learn_from_one_seats_games_and_log_them(case: GameCase, algorithm: Any) -> None:
    """One without masks takes illegal actions too, which end its games."""
    env = one_seat(f"siberia_env:{case.gym_id}", 4, 1, {"opponents": "random", "rules": case.short})
    learner = algorithm("MlpPolicy", env, n_steps=32, seed=1, **SMALL).learn(256)
    told = logged(learner)
    assert 1 <= told["rollout/ep_len_mean"] < 100
    assert -1 <= told["rollout/ep_rew_mean"] <= 1
    action, _ = learner.predict(env.reset())
    assert action.shape == (4,)


def test_one_seats_games_tell_what_is_wrong_with_their_options(case: GameCase) -> None:
    with pytest.raises(ConfigurationError, match="no agent 'gredy'"):
        one_seat(case.gym_id, 2, env_kwargs={"opponents": ["gredy"]})
    with pytest.raises(
        ConfigurationError,
        match="env_id: 'CartPole-v1' is no game of the suite; there are siberia/Card-v0, siberia/Board-v0",
    ):
        one_seat("CartPole-v1", 2)
    with pytest.raises(ConfigurationError, match=r"autoreset mode 'NextStep'; .* needs autoreset_mode='SameStep'"):
        OneSeatVecEnv(SiberiaVectorEnv(2, case.name))


# ---------------------------------------------------------------- stable-baselines3's own environments


def made(case: GameCase, id_form: str, **options: Any) -> VecEnv:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return make_vec_env(id_form.format(case.gym_id), **options)


def test_the_environment_passes_the_check_of_stable_baselines3(
    case: GameCase, capsys: pytest.CaptureFixture[str]
) -> None:
    env = SiberiaEnv(case.name, 3, ["greedy", "random"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)
        check_env(gymnasium.make(case.gym_id, num_players=3, opponents="greedy"))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("id_form", ["{}", "siberia_env:{}"])
def test_make_vec_env_takes_the_registered_games(case: GameCase, id_form: str) -> None:
    env = made(case, id_form, n_envs=2, seed=5, env_kwargs={"num_players": 3})
    assert env.get_attr("render_mode") == ["rgb_array"] * 2  # which stable-baselines3 asks for first
    assert env.get_attr("unwrapped")[0].aec.num_players == 3
    seen: Any = env.reset()
    assert seen["observation"].shape == (2, case.game.observation_size)
    assert get_action_masks(env).shape == (2, case.game.num_actions)
    learner = MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=32, **SMALL).learn(64)
    assert learner.num_timesteps == 64


def test_make_vec_env_takes_a_game_in_a_process_of_its_own(case: GameCase) -> None:
    """It imports the games by the module in the id."""
    options = {"n_envs": 1, "seed": 5, "vec_env_cls": SubprocVecEnv, "vec_env_kwargs": {"start_method": "spawn"}}
    env, here = made(case, "siberia_env:{}", **options), made(case, "{}", n_envs=1, seed=5)
    try:
        seen, expected = env.reset(), here.reset()
        assert all(np.array_equal(seen[name], expected[name]) for name in ("observation", "action_mask"))
        assert np.array_equal(get_action_masks(env), get_action_masks(here))
    finally:
        env.close()


def test_make_vec_env_tells_what_is_wrong_with_its_options(case: GameCase) -> None:
    with pytest.raises(ConfigurationError, match="num_players: 7"):
        made(case, "{}", env_kwargs={"num_players": 7})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium says the same in its own words
        with pytest.raises(ConfigurationError, match="render_mode: no 'rgb'; there are ansi, human, svg, rgb_array"):
            make_vec_env(case.gym_id, env_kwargs={"render_mode": "rgb"})


def test_make_vec_env_passes_render_modes_on_that_there_are(case: GameCase) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make_vec_env(case.gym_id, env_kwargs={"render_mode": "ansi"})
        make_vec_env(case.gym_id, env_kwargs={"render_mode": None})
    env.reset()
    assert "seen by player_0" in env.env_method("render")[0]
