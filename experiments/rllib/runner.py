"""The actor that plays: one a worker, each with a batch of games, in which the policy in training holds every seat.

RLlib's own environment runners step one environment a game in Python, or one agent after the other. This one steps a
whole batch in compiled code, asks the network once for all free decisions of a step, and gives RLlib an episode for
each seat of each game (`trajectories.py`). All other parts of RLlib are its own.

The games that a worker deals follow from the seed of the run, the number of the worker and the decisions that all
workers have made when it begins. So a worker that takes the place of a dead one, or belongs to a resumed run, does not
deal the games of the beginning again.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from siberia_env.errors import missing_extra
from siberia_env.game import find_game
from siberia_experiments.match import derived_seed
from siberia_experiments.rllib.module import MASK, OBSERVATION, action_space, observation_space
from siberia_experiments.rllib.trajectories import Book, Trajectories
from siberia_experiments.training.ppo import Ended, Tables

try:
    import torch as th
    from ray.rllib.core.columns import Columns
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
    from ray.rllib.utils.metrics import SAMPLE_TIMER, WEIGHTS_SEQ_NO
except ImportError as error:
    raise missing_extra("ray", "training with RLlib", error.name) from error

# Names of what is measured, beside RLlib's own.
DECISIONS = "decisions"  #: of all seats, forced ones included; the sum over the workers
SCORES = "mean_score"  #: mean points of the seats in the games that have ended
LENGTH = "free_decisions_per_seat"  #: mean number in the trajectories

DEALS, DRAWS = 0, 1  # streams of random numbers
MOST_WORKERS = 2**13  #: more than a run may have


class Games:
    """The batch of one worker, with what RLlib wants to know of an environment.

    Attributes:
        tables: the games; None until the first decision, because their seed is not known before.
    """

    def __init__(self, settings: Mapping[str, Any], num_envs: int) -> None:
        game = find_game(settings["game"])
        self.settings = settings
        self.variants = [
            game.variant(players, settings["rules"], settings["components"]) for players in settings["players"]
        ]
        self.num_envs = num_envs
        self.single_observation_space = observation_space(game)
        self.single_action_space = action_space(game)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.tables: Tables | None = None

    @property
    def unwrapped(self) -> Games:
        """The environment without wrappers, as Gymnasium names it."""
        return self

    def deal(self, seed: int) -> Tables:
        """Deal all games."""
        self.tables = Tables(self.variants, self.num_envs, seed, self.settings["reward"])
        return self.tables

    def close(self) -> None:
        """Forget the games."""
        self.tables = None


class SelfPlayRunner(SingleAgentEnvRunner):
    """RLlib's runner of single-agent episodes, over a batch of games in which one policy holds every seat."""

    env: Games | None
    module: Any

    def make_env(self) -> None:
        """Set up the games. They are dealt when the first decision is asked for."""
        self.env = Games(dict(self.config.env_config), self.config.num_envs_per_env_runner)
        self.num_envs = self.env.num_envs
        self._scores: list[float] = []

    def sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool | None = None,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        """Play until `num_timesteps` free decisions have led to something, by default the worker's part of a batch.

        Returns:
            An episode for each seat of each game, with the seat's free decisions. The last one in a game that goes on
            is not among them: what the seat saw there ends the episode.
        """
        if num_episodes is not None or random_actions:
            raise NotImplementedError("self-play is sampled by decisions, with the policy in training")
        assert self.env is not None, "this runner has no games"
        wanted = num_timesteps or self.config.get_rollout_fragment_length(self.worker_index) * self.num_envs
        tables = self.env.tables
        if tables is None or force_reset:
            tables = self._begin(self.env)
        with self.metrics.log_time(SAMPLE_TIMER):
            episodes = self._play(tables, wanted, self.config.explore if explore is None else explore)
        return episodes

    def _begin(self, games: Games) -> Tables:
        seed = self.config.seed or 0
        number = int(self.num_env_steps_sampled_lifetime) * MOST_WORKERS + (self.worker_index or 0)
        th.manual_seed(derived_seed(seed, DRAWS, number))
        return games.deal(derived_seed(seed, DEALS, number))

    def _play(self, tables: Tables, wanted: int, explore: bool) -> list[SingleAgentEpisode]:
        scale = np.float32(self.config.env_config["reward_scale"])
        book = Book(tables.num_envs)
        seen: dict[str, list[NDArray[Any]]] = {}
        steps = 0
        while book.count < wanted:
            actions = tables.mask.argmax(axis=1)
            own = np.flatnonzero(tables.num_legal > 1)
            if len(own):
                decided = self._decide(tables.observation[own], tables.mask[own], explore)
                actions[own] = decided[Columns.ACTIONS]
                seats = tables.player[own]
                book.decide(own, seats, scale * tables.standing()[own, seats])
                for name, values in decided.items():
                    seen.setdefault(name, []).append(values)
            for end in tables.step(actions):
                book.end(end.game, scale * end.reward)
                self._note(end)
            steps += tables.num_envs
        found = book.close()
        episodes = self._episodes(found, {name: np.concatenate(parts) for name, parts in seen.items()})
        self._increase_sampled_metrics(book.count, int(found.ended.sum()))
        self.metrics.log_value(DECISIONS, steps, reduce="sum")
        self.metrics.log_value(LENGTH, book.count / max(1, len(episodes)), window=1)
        self.metrics.log_value(WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)
        return episodes

    def _decide(
        self, observation: NDArray[np.float32], mask: NDArray[np.int8], explore: bool
    ) -> dict[str, NDArray[Any]]:
        """Ask the network for n decisions; what RLlib stores of each, by its names of the columns."""
        batch = {Columns.OBS: {OBSERVATION: th.from_numpy(observation), MASK: th.from_numpy(mask)}}
        with th.no_grad():
            told = self.module.forward_exploration(batch) if explore else self.module.forward_inference(batch)
            logits = told[Columns.ACTION_DIST_INPUTS]
            likelihoods = self.module.get_exploration_action_dist_cls().from_logits(logits)
            actions = likelihoods.sample() if explore else logits.argmax(dim=1)
            log_likelihood = likelihoods.logp(actions)
        return {
            OBSERVATION: observation,
            MASK: mask,
            Columns.ACTIONS: actions.numpy(),
            Columns.ACTION_LOGP: log_likelihood.numpy(),
            Columns.ACTION_DIST_INPUTS: logits.numpy(),
        }

    def _episodes(self, found: Trajectories, seen: dict[str, NDArray[Any]]) -> list[SingleAgentEpisode]:
        """Make RLlib's episodes. Where a game goes on, the last observation is that of the seat's last decision."""
        seen = {name: values[found.order] for name, values in seen.items()}
        observation, mask, actions = (seen.pop(name) for name in (OBSERVATION, MASK, Columns.ACTIONS))
        over, everything = np.zeros_like(observation[:1]), np.ones_like(mask[:1])
        episodes = []
        for start, stop, ended in zip(found.starts, found.starts[1:], found.ended.tolist(), strict=False):
            shown, legal, taken = observation[start:stop], mask[start:stop], slice(start, stop - 1)
            if ended:
                shown, legal, taken = np.append(shown, over, 0), np.append(legal, everything, 0), slice(start, stop)
            count = taken.stop - taken.start
            if count == 0:
                continue
            episode = SingleAgentEpisode(
                uuid.uuid4().hex,
                observations=InfiniteLookbackBuffer({OBSERVATION: shown, MASK: legal}),
                actions=InfiniteLookbackBuffer(actions[taken]),
                rewards=InfiniteLookbackBuffer(found.rewards[taken]),
                infos=[{}] * (count + 1),
                extra_model_outputs={name: InfiniteLookbackBuffer(values[taken]) for name, values in seen.items()},
                terminated=ended,
                len_lookback_buffer=0,
            )
            episodes.append(episode)
        return episodes

    def _note(self, end: Ended) -> None:
        self._scores.append(float(end.points.mean()))

    def get_metrics(self) -> Any:
        """What was measured since the last call."""
        if self._scores:
            self.metrics.log_value(SCORES, float(np.mean(self._scores)), window=1)
            self._scores.clear()
        return self.metrics.reduce()
