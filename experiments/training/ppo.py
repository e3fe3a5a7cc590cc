"""Masked PPO by self-play over batches of games, in plain PyTorch: the whole algorithm is in this file.

One network serves every seat and every number of players. It has one trunk, and heads for the policy, the value, each
seat's share of the win, each seat's final margin, and the turns that are left. `siberia_experiments.training.run` makes
a run of it: budget, folder, checkpoints, learning curve.

What differs from textbook PPO (Schulman and others, 2017), and why:

- **Only own free decisions cost anything.** The network is not asked where an opponent sits or where one action is
  legal. Such decisions are not stored, and generalised advantage estimation (GAE) passes through them undiminished: it
  walks from each seat's own decision to the same seat's next one.
- **A rollout ends after a number of own decisions**, not of steps, so that its size does not depend on the opponents.
- **Few epochs**, and on request only the decisions with the largest advantages (`Settings.keep`).
- **On request advantages come from a critic that sees what is hidden** (Pinto and others, "Asymmetric actor critic for
  image-based robot learning", 2018). It is no part of the model. The value head, which sees what the seat sees, stays.
- **The standing is known.** The value head predicts what is still to come beyond the margin as it stands.
- **Games and learning overlap**: one thread plays with the weights of the last update while the other learns.
- **Averaged weights** are what is measured and shipped.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import torch as th
from numpy.typing import NDArray
from torch import nn

from siberia_agents.learned import Layers, head_sizes
from siberia_env.core import engine
from siberia_env.core.jit import kernel
from siberia_env.core.rewards import MARGIN_UNIT, reward_number
from siberia_env.errors import ConfigurationError
from siberia_env.game import MAX_PLAYERS, Game, Variant, copy_states, observe_hidden
from siberia_env.vector import Step, VectorEnv
from siberia_experiments.limits import check_at_most, check_not_negative, check_positive, check_shares
from siberia_experiments.training.expert import Expert
from siberia_experiments.training.league import LEARNER, League, Mix, Opponent, PlanOpponent

MASKED = -1e8  #: the logit of an illegal action
#: The largest values of settings that cost memory. They are far beyond what helps a run.
MOST = {"num_envs": 2**16, "rollout": 2**22, "batch_size": 2**22, "epochs": 1000, "simulations": 10**6}
#: Bytes of the state of torch's generators. Neither takes the other's.
CPU_NUMBERS, CUDA_NUMBERS = len(th.Generator().get_state()), 16
MOST_LAYERS, MOST_WIDTH = 8, 2**11
TEACHER = "heuristic"  #: the plan that is imitated
TURN = 0.01  #: one decision in the unit of the head that tells how many are left
NOBODY = -1  #: no next decision of the same seat, no result
NEW_PAST_SELF = 25  #: updates between two frozen past selves
LONGEST_LESSON = 0.3  #: part of the training that is spent on imitation at most
CERTAIN = 0.97  #: a decision in which the policy gives an action at least this likelihood is not doubtful
LEAST_RATE = 0.05  #: part of the first learning rate that is left at the end


@dataclass(frozen=True)
class Settings:
    """How the algorithm goes about it.

    Attributes:
        num_envs: games played at the same time, those of all player counts together.
        rollout: own free decisions between two updates.
        batch_size: decisions in each gradient step.
        epochs: how often each decision is learnt from.
        keep: share of a rollout's decisions that the policy learns from: those with the largest advantages.
        learning_rate: Adam's, at the start; it falls in a straight line to a twentieth.
        clip_range: PPO's.
        gae_lambda: weight of longer estimates, from one own decision of a seat to its next.
        entropy: weight of the entropy bonus at the start, and at the end of training.
        critic: take advantages from a second network, which sees what is hidden too.
        value_weight: weight of the value head's squared error, and of the critic's.
        share_weight: weight of the cross-entropy of the win shares.
        margin_weight: weight of the squared error of the final margins.
        turns_weight: weight of the squared error of the turns left.
        win_reward: weight of the reward "win" that is added to what the game pays.
        reward_scale: factor on the sum.
        anchor: weight at the start of the distance (Kullback-Leibler) to the policy that training started from; it
            falls to 0 at `anchor_until`.
        anchor_until: share of the training at which the anchor is gone.
        imitate: decisions at the start, of all seats, in which the policy learns to play as `heuristic` does; at most
            three tenths of the training.
        warm_up: decisions after that in which the policy stays as it is, while the other heads learn.
        simulations: of a guided search with the policy itself, which says what is better (`expert`); 0: no search.
        searched: share of the policy's own doubtful decisions about which that search is asked.
        search_weight: weight of the win share that the policy gains there, as the search sees it; with `considered`,
            of the cross-entropy with the search's policy, where 1 is much.
        search_hold: weight of the distance there to the policy that played.
        considered: actions that the search compares by sequential halving, drawn by Gumbel noise; 0: it tries all
            actions as guided search does.
        search_plays: whether what such a search chose is played where it was asked.
        policy_weight: weight of PPO's own loss.
        reward: what a game pays, before `win_reward`: `"margin"`, `"win"` or `"score"` (`siberia_env.core.rewards`).
        network: widths of the trunk's hidden layers.
        average: how much of the averaged weights each update keeps.
        overlap: play in one thread while the other learns.
    """

    num_envs: int = 1024
    rollout: int = 32768
    batch_size: int = 1024
    epochs: int = 2
    keep: float = 1.0
    learning_rate: float = 2e-3
    clip_range: float = 0.2
    gae_lambda: float = 0.95
    entropy: tuple[float, float] = (0.02, 0.002)
    critic: bool = False
    value_weight: float = 0.25
    share_weight: float = 0.25
    margin_weight: float = 0.05
    turns_weight: float = 0.05
    win_reward: float = 0.0
    reward_scale: float = 1.0
    anchor: float = 0.0
    anchor_until: float = 0.3
    imitate: int = 2_000_000
    warm_up: int = 0
    simulations: int = 0
    searched: float = 0.1
    search_weight: float = 100.0
    search_hold: float = 0.1
    considered: int = 0
    search_plays: bool = False
    policy_weight: float = 1.0
    reward: str = "margin"
    network: tuple[int, ...] = (256, 256)
    average: float = 0.95
    overlap: bool = True

    def check(self) -> None:
        """Raise `ConfigurationError` if a value is invalid."""
        positive = ("num_envs", "rollout", "epochs", "learning_rate", "clip_range", "reward_scale", "anchor_until")
        check_positive(self, *positive)
        check_at_most(self, MOST)
        if self.batch_size < 2:
            raise ConfigurationError(f"batch_size: {self.batch_size}; at least 2, to compare advantages")
        weights = ("value_weight", "share_weight", "margin_weight", "turns_weight", "win_reward", "anchor")
        check_not_negative(
            self, *weights, "imitate", "warm_up", "simulations", "search_weight", "search_hold", "policy_weight"
        )
        if len(self.entropy) != 2 or not all(0 <= weight < math.inf for weight in self.entropy):
            raise ConfigurationError(f"entropy: {self.entropy}; two weights of 0 or more, at the start and at the end")
        if self.considered != 0 and not 2 <= self.considered < self.simulations:
            raise ConfigurationError(
                f"considered: {self.considered}; 2 actions or more, and fewer than the {self.simulations} simulations"
            )
        if self.search_plays and not self.considered:
            raise ConfigurationError("search_plays: name the number of actions considered, such as considered=8")
        check_shares(self, "gae_lambda", "keep", "average", "searched")
        if not self.network or min(self.network) < 1:
            raise ConfigurationError(f"network: {self.network}; one hidden layer or more, each of 1 or more")
        if len(self.network) > MOST_LAYERS or max(self.network) > MOST_WIDTH:
            raise ConfigurationError(f"network: at most {MOST_LAYERS} hidden layers, of at most {MOST_WIDTH} each")
        reward_number(self.reward)


# ---------------------------------------------------------------- the network


class Heads(NamedTuple):
    """What the network says about n observations."""

    policy: th.Tensor  #: [n, A], logits
    value: th.Tensor  #: [n], scaled reward still to come
    shares: th.Tensor  #: [n, 4], logits of each relative seat's share of the win
    margins: th.Tensor  #: [n, 4], each relative seat's final margin
    turns: th.Tensor  #: [n], own free decisions left, in hundreds


class PolicyNetwork(nn.Module):
    """A trunk of rectified layers with all heads in one last layer; on request, a critic of the same form beside it."""

    def __init__(self, game: Game, widths: Sequence[int], critic: bool = False) -> None:
        super().__init__()
        self.sizes = list(head_sizes(game).values())
        *hidden, self.heads = _linear([game.observation_size, *widths, sum(self.sizes)])
        self.trunk = nn.ModuleList(hidden)
        self.critic: nn.ModuleList | None = None
        if critic:
            self.critic = nn.ModuleList(_linear([game.observation_size + hidden_size(game), *widths, 1]))

    @property
    def layers(self) -> list[nn.Linear]:
        """The layers in order, that of the heads last."""
        return [*(layer for layer in self.trunk if isinstance(layer, nn.Linear)), self.heads]

    def forward(self, observation: th.Tensor) -> Heads:
        """Run the network; the outputs are float32."""
        latent = observation
        for layer in self.trunk:
            latent = th.relu(layer(latent))
        policy, value, shares, margins, turns = self.heads(latent).float().split(self.sizes, dim=1)
        return Heads(policy, value[:, 0], shares, margins, turns[:, 0])

    def expected(self, observation: th.Tensor, hidden: th.Tensor) -> th.Tensor:
        """The critic's estimate of the scaled reward still to come; float32 [n]."""
        assert self.critic is not None
        latent = th.cat((observation, hidden), dim=1)
        *layers, last = self.critic
        for layer in layers:
            latent = th.relu(layer(latent))
        return last(latent).float()[:, 0]

    def as_arrays(self) -> Layers:
        """The weights as a model has them."""
        return [
            (layer.weight.detach().cpu().numpy().T.copy(), layer.bias.detach().cpu().numpy().copy())
            for layer in self.layers
        ]


def _linear(widths: Sequence[int]) -> list[nn.Linear]:
    """Linear layers from each width to the next; the last begins with small weights."""
    layers = [nn.Linear(a, b) for a, b in pairwise(widths)]
    for number, layer in enumerate(layers):
        nn.init.orthogonal_(layer.weight, 2**0.5 if number < len(layers) - 1 else 0.01)
        nn.init.zeros_(layer.bias)
    return layers


def hidden_size(game: Game) -> int:
    """How many numbers tell a critic what its seat does not see: the hidden blocks, and which seat it is."""
    return game.hidden_size + MAX_PLAYERS


def log_likelihoods(policy: th.Tensor, mask: th.Tensor) -> th.Tensor:
    """The log-likelihood of every action; illegal ones are very unlikely."""
    return th.log_softmax(policy.masked_fill(mask == 0, MASKED), dim=1)


def draw(likelihood: th.Tensor, generator: th.Generator) -> th.Tensor:
    """An action for each row of log-likelihoods; int64 [n]. One of likelihood 0 is never drawn."""
    up_to = likelihood.exp().cumsum(dim=1)
    drawn = 1 - th.rand((len(likelihood), 1), generator=generator, device=likelihood.device)  # more than 0
    return (up_to < drawn * up_to[:, -1:]).sum(dim=1)


def log_shares(shares: th.Tensor, seats: th.Tensor) -> th.Tensor:
    """The logarithm of each relative seat's share of the win; seats that nobody sits in have next to none."""
    absent = th.arange(MAX_PLAYERS, device=shares.device) >= seats[:, None]
    return th.log_softmax(shares.masked_fill(absent, MASKED), dim=1)


# ---------------------------------------------------------------- games


class Ended(NamedTuple):
    """A game that has just ended, with P seats."""

    game: int  #: its row
    points: NDArray[np.int64]  #: [P]
    winners: NDArray[np.int8]  #: [P], 1 for each winner
    reward: NDArray[np.float32]  #: [P]


class Tables:
    """Games of one or more player counts, side by side in one batch of N rows."""

    def __init__(self, variants: Sequence[Variant], num_envs: int, seed: int, reward: str = "margin") -> None:
        game = variants[0].game
        self.num_envs, self.game, self.variants = num_envs, game, list(variants)
        edges = [num_envs * part // len(variants) for part in range(len(variants) + 1)]
        self.slices = [slice(start, stop) for start, stop in pairwise(edges)]
        self.seats = np.zeros(num_envs, np.int8)  #: how many players each game has
        self.observation = np.zeros((num_envs, game.observation_size), np.float32)
        self.mask = np.zeros((num_envs, game.num_actions), np.int8)
        self.num_legal = np.zeros(num_envs, np.int16)
        self.player = np.zeros(num_envs, np.int8)
        self.envs, self.steps = [], []
        for number, (variant, rows) in enumerate(zip(variants, self.slices, strict=True)):
            env = VectorEnv(variant, rows.stop - rows.start, (seed + number) % 2**64, reward)
            step = Step.blank(env.num_envs, variant)
            step.observation, step.mask = self.observation[rows], self.mask[rows]
            step.num_legal, step.player = self.num_legal[rows], self.player[rows]
            self.seats[rows] = variant.num_players
            self.envs.append(env)
            self.steps.append(step)
            self._show(step, _in_the_middle(env, seed))

    def _show(self, step: Step, shown: Step) -> None:
        for name in ("observation", "mask", "num_legal", "player"):
            getattr(step, name)[:] = getattr(shown, name)

    def step(self, actions: NDArray[np.int64]) -> list[Ended]:
        """Take an action in every game; give those that have ended."""
        ended = []
        for env, step, rows in zip(self.envs, self.steps, self.slices, strict=True):
            env.step(actions[rows], out=step)
            for row in np.flatnonzero(step.terminated):
                results = (step.final_scores[row], step.final_winners[row], step.reward[row])
                ended.append(Ended(rows.start + int(row), *(result.copy() for result in results)))
        return ended

    def standing(self) -> NDArray[np.float32]:
        """Each seat's reward if every game ended as it stands; float32 [N, 4], zero where nobody sits."""
        standing = np.zeros((self.num_envs, MAX_PLAYERS), np.float32)
        for env, rows in zip(self.envs, self.slices, strict=True):
            standing[rows, : env.num_players] = env.standing()
        return standing

    def states_of(self, rows: NDArray[np.int64]) -> list[tuple[Variant, NDArray[np.int64], Any]]:
        """The states of `rows`, by player count: variant, positions in `rows`, copies of the states."""
        found = []
        for env, part in zip(self.envs, self.slices, strict=True):
            here = np.flatnonzero((rows >= part.start) & (rows < part.stop))
            if len(here):
                found.append((env.variant, here, copy_states(env.states, rows[here] - part.start)))
        return found

    def hidden(self, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.float32]:
        """What nobody sees of game `rows[i]`, and a one at the number of seat `seats[i]`; float32 [n, H + 4]."""
        found = np.zeros((len(rows), hidden_size(self.game)), np.float32)
        for variant, here, states in self.states_of(rows):
            seen = np.zeros((len(here), self.game.hidden_size), np.float32)
            observe_hidden_batch(variant.rulesets, states, seen)
            found[here, : self.game.hidden_size] = seen
        found[np.arange(len(rows)), self.game.hidden_size + seats] = 1
        return found

    def snapshot(self) -> list[dict[str, Any]]:
        """All games, for `restore`."""
        return [env.snapshot() for env in self.envs]

    def restore(self, snapshot: list[dict[str, Any]]) -> None:
        """Go on from a snapshot of tables of the same kind.

        Raises:
            ConfigurationError: the snapshot is of other games.
        """
        for env, step, saved in zip(self.envs, self.steps, snapshot, strict=True):
            self._show(step, env.restore(saved))


@kernel
def observe_hidden_batch(rulesets: Any, states: Any, out: Any) -> None:
    """Write what nobody sees of each state into `out` (float32 [n, H])."""
    for i in range(states.shape[0]):
        observe_hidden(rulesets[0], states[i], out[i])


def _in_the_middle(env: VectorEnv, seed: int) -> Step:
    """Deal the games of `env`, and play each at random to a place of its own between its beginning and its end.

    Games that all begin at once would reach their openings, and later their ends, in the same rollout. Then each update
    would learn from one phase of the game and forget the others.
    """
    numbers = np.random.default_rng(seed)
    actions = np.zeros(env.num_envs, np.int64)
    length, saved = 0, env.states.copy()
    for ages in (None, numbers.random(env.num_envs)):
        step, unfinished, age = env.reset(), np.ones(env.num_envs, np.bool_), 0
        while unfinished.any() if ages is None else age < length:
            if ages is not None:
                due = np.floor(ages * length) == age
                saved[due] = env.states[due]
            engine.sample_batch(step.mask, step.num_legal, np.uint64(seed), age, actions)
            step = env.step(actions)
            unfinished &= ~step.terminated
            age += 1
        if ages is None:
            length = int(np.median(step.final_length))
    env.states[:] = saved
    return env.restore(env.snapshot())


# ---------------------------------------------------------------- a rollout


@kernel
def walk_back(
    following: Any,
    result: Any,
    values: Any,
    finals: Any,
    gae_lambda: float,
    known: Any,
    advantages: Any,
    targets: Any,
) -> None:
    """GAE from each decision of a seat to its next one, and the targets of the other heads.

    Args:
        following: int64 [M], the number of the same seat's next decision, always later; `NOBODY` for none.
        result: int64 [M], the row of `known` at which the seat's decisions end; `NOBODY` where another follows.
        values: float32 [M], the whole reward that was expected at each decision.
        finals: float32 [K], the reward, or what is expected where the rollout breaks off.
        gae_lambda: weight of longer estimates.
        known: float32 [K, T], the targets likewise; the last is the number of decisions left.
        advantages: float32 [M], overwritten.
        targets: float32 [M, T], overwritten.
    """
    last = targets.shape[1] - 1
    for number in range(len(following) - 1, -1, -1):
        after = following[number]
        if after >= 0:
            advantages[number] = values[after] - values[number] + gae_lambda * advantages[after]
            targets[number] = targets[after]
        else:
            advantages[number] = finals[result[number]] - values[number]
            targets[number] = known[result[number]]
        targets[number, last] += np.float32(TURN)


class Rollout:
    """Own free decisions in the order in which they were taken, M at most."""

    def __init__(self, game: Game, room: int, device: th.device, dtype: th.dtype, critic: bool = False) -> None:
        self.count = 0
        self.hidden = th.zeros((room, hidden_size(game) if critic else 0), dtype=dtype, device=device)
        self.observation = th.zeros((room, game.observation_size), dtype=dtype, device=device)
        self.mask = th.zeros((room, game.num_actions), dtype=th.int8, device=device)
        self.action = th.zeros(room, dtype=th.int64, device=device)
        self.log_likelihood = th.zeros(room, device=device)
        self.value = np.zeros(room, np.float32)  #: the reward still to come, as the network said
        self.standing = np.zeros(room, np.float32)  #: the scaled margin as it stood
        self.seats = np.zeros(room, np.int8)
        self.following = np.zeros(room, np.int64)
        self.result = np.zeros(room, np.int64)
        self.advantage = np.zeros(room, np.float32)
        self.targets = np.zeros((room, 2 * MAX_PLAYERS + 1), np.float32)  #: shares, margins, turns
        self.question = np.zeros(room, np.int64)  #: which of `advice` is of the decision; `NOBODY` for none
        #: [2, A] each: the likelihoods by which the policy played, and the search's gains or its policy.
        self.advice: list[NDArray[np.float32]] = []
        self.steps = 0  #: decisions of all seats, forced ones and opponents' included


class Player:
    """Plays the tables with a fixed policy and fills rollouts. Everything random comes from its own generators."""

    def __init__(self, tables: Tables, league: League, settings: Settings, seed: int, device: th.device) -> None:
        self.tables, self.league, self.settings, self.device = tables, league, settings, device
        self.generator = th.Generator(device).manual_seed(seed)
        self.half = multiplies_brain_floats(device)
        self.expert = Expert(tables.variants, settings.simulations) if settings.simulations > 0 else None
        self.last = np.full((tables.num_envs, MAX_PLAYERS), NOBODY, np.int64)
        dtype = th.bfloat16 if self.half else th.float32
        room = settings.rollout + tables.num_envs
        self.rollouts = [Rollout(tables.game, room, device, dtype, settings.critic) for _ in range(2)]

    @th.no_grad()
    def play(self, network: PolicyNetwork, teacher: PlanOpponent | None = None) -> Rollout:
        """Play until the rollout is full. With a `teacher`, it decides in place of the network, to be imitated."""
        tables, league = self.tables, self.league
        rollout = self.rollouts[0]
        self.rollouts.reverse()
        rollout.count = rollout.steps = 0
        rollout.advice.clear()
        if self.expert is not None:
            self.expert.follow(network.as_arrays())
        self.last[:] = NOBODY
        finals: list[float] = []
        known: list[NDArray[np.float32]] = []
        every_game = np.arange(tables.num_envs)
        with th.autocast(self.device.type, th.bfloat16, enabled=self.half):
            while rollout.count < self.settings.rollout:
                actions = tables.mask.argmax(axis=1)
                free = tables.num_legal > 1
                holder = league.holder[every_game, tables.player]
                own = np.flatnonzero(free & (holder == LEARNER))
                for index in np.unique(holder[free & (holder != LEARNER)]):
                    rows = np.flatnonzero(free & (holder == index))
                    actions[rows] = league.opponents[index].decide(tables, rows)
                if len(own):
                    actions[own] = self._decide(rollout, network, own, teacher)
                ended = tables.step(actions)
                rollout.steps += tables.num_envs
                for end in ended:
                    self._close(rollout, end, finals, known)
                    league.reseat(end.game, end.points)
            self._bootstrap(rollout, network, finals, known)
        count = rollout.count
        walk_back(
            rollout.following[:count],
            rollout.result[:count],
            rollout.value[:count] + rollout.standing[:count],
            np.array(finals, np.float32),
            self.settings.gae_lambda,
            np.array(known, np.float32),
            rollout.advantage[:count],
            rollout.targets[:count],
        )
        return rollout

    def _decide(
        self, rollout: Rollout, network: PolicyNetwork, rows: NDArray[np.int64], teacher: PlanOpponent | None
    ) -> NDArray[np.int64]:
        """Choose in the games `rows`, and store the decisions."""
        tables, start, stop = self.tables, rollout.count, rollout.count + len(rows)
        chosen = th.from_numpy(rows)
        rollout.observation[start:stop] = th.from_numpy(tables.observation).index_select(0, chosen)
        rollout.mask[start:stop] = th.from_numpy(tables.mask).index_select(0, chosen)
        heads = network(rollout.observation[start:stop])
        likelihood = log_likelihoods(heads.policy, rollout.mask[start:stop])
        if teacher is None:
            actions = draw(likelihood, self.generator)
        else:
            actions = th.from_numpy(teacher.decide(tables, rows)).to(self.device)
        rollout.question[start:stop] = NOBODY
        if self.expert is not None and teacher is None:
            self._ask(self.expert, rollout, rows, likelihood, heads.shares, actions)
        rollout.action[start:stop] = actions
        rollout.log_likelihood[start:stop] = likelihood.gather(1, actions[:, None])[:, 0]
        seat = tables.player[rows]
        value = heads.value
        if network.critic is not None:
            rollout.hidden[start:stop] = th.from_numpy(tables.hidden(rows, seat.astype(np.int64)))
            value = network.expected(rollout.observation[start:stop], rollout.hidden[start:stop])
        rollout.value[start:stop] = value.cpu().numpy()
        rollout.seats[start:stop] = tables.seats[rows]
        rollout.standing[start:stop] = self.settings.reward_scale * tables.standing()[rows, seat]
        before = self.last[rows, seat]
        numbers = np.arange(start, stop)
        rollout.following[start:stop] = rollout.result[start:stop] = NOBODY
        rollout.following[before[before >= 0]] = numbers[before >= 0]
        self.last[rows, seat] = numbers
        rollout.count = stop
        return actions.cpu().numpy()

    def _ask(
        self,
        expert: Expert,
        rollout: Rollout,
        rows: NDArray[np.int64],
        likelihood: th.Tensor,
        shares: th.Tensor,
        actions: th.Tensor,
    ) -> None:
        """Ask the search about some of the doubtful decisions in the games `rows`.

        `likelihood` and `shares` are what the network says there, `actions` what was drawn. With `search_plays`, the
        search's choice takes the place of that.
        """
        settings = self.settings
        drawn = th.rand(len(rows), generator=self.generator, device=self.device).cpu().numpy()
        policy = likelihood.exp().cpu().numpy()
        asked = np.flatnonzero((drawn < settings.searched) & (policy.max(axis=1) < CERTAIN))
        seeds = th.randint(2**62, (len(asked),), generator=self.generator, device=self.device).cpu().numpy()
        if settings.considered:
            present = th.from_numpy(self.tables.seats[rows]).to(self.device)
            values = log_shares(shares, present).exp()[:, 0].cpu().numpy()
            advice = expert.advice(self.tables, rows[asked], seeds, values[asked], settings.considered)
            better = np.zeros_like(policy[asked])
            for number, (place, one) in enumerate(zip(asked, advice, strict=True)):
                better[number] = one.policy
                if settings.search_plays:
                    actions[place] = one.action
        else:
            better = expert.gains(self.tables, rows[asked], seeds)
        rollout.question[rollout.count + asked] = len(rollout.advice) + np.arange(len(asked))
        rollout.advice.extend(np.stack((policy[asked], better), axis=1))

    def _close(self, rollout: Rollout, end: Ended, finals: list[float], known: list[NDArray[np.float32]]) -> None:
        """Book the end of a game for every seat that has decided in it."""
        points, players = end.points, len(end.points)
        margins = (points - (points.sum() - points) / (players - 1)) / MARGIN_UNIT
        shares = end.winners / end.winners.sum()
        wins = (players * shares - 1) / (players - 1)
        reward = self.settings.reward_scale * (end.reward + self.settings.win_reward * wins)
        for seat in range(players):
            number = self.last[end.game, seat]
            if number != NOBODY:
                target = np.zeros(2 * MAX_PLAYERS + 1, np.float32)
                target[:players] = np.roll(shares, -seat)
                target[MAX_PLAYERS : MAX_PLAYERS + players] = np.roll(margins, -seat)
                rollout.result[number] = len(finals)
                finals.append(reward[seat])
                known.append(target)
        self.last[end.game] = NOBODY

    def _bootstrap(
        self, rollout: Rollout, network: PolicyNetwork, finals: list[float], known: list[NDArray[np.float32]]
    ) -> None:
        """Where the rollout breaks off a game, every seat gets what the network expected at its last decision.

        Not what it expects now: it learns at decisions alone, and knows nothing of a seat that is not on turn.
        """
        last = self.last[self.last != NOBODY]
        rollout.result[last] = len(finals) + np.arange(len(last))
        finals.extend((rollout.value[last] + rollout.standing[last]).tolist())
        heads = network(rollout.observation[th.from_numpy(last).to(self.device)])
        present = th.from_numpy(rollout.seats[last]).to(self.device)
        shares = log_shares(heads.shares, present).exp()
        turns = heads.turns[:, None] - TURN  # after that decision
        known.extend(th.cat((shares, heads.margins, turns), dim=1).cpu().numpy())

    def state(self) -> dict[str, Any]:
        """What `restore` needs to play on in the same way, past selves included."""
        return {
            "games": self.tables.snapshot(),
            "league": self.league.state(),
            "past": list(self.league.past),
            "generator": self.generator.get_state().cpu().numpy().copy(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state`.

        Raises:
            ValueError: it is of other games or opponents; so do `ConfigurationError` and `RuntimeError`.
        """
        self.tables.restore(state["games"])
        self.league.restore(state["league"], state["past"])
        generator = state["generator"]
        elsewhere = CPU_NUMBERS if self.device.type == "cuda" else CUDA_NUMBERS
        if len(generator) == elsewhere:
            self.generator.manual_seed(crc32(generator.tobytes()))
        else:
            self.generator.set_state(th.from_numpy(generator))


class PastSelf:
    """A frozen policy that draws its actions by likelihood, with the generator of the player it plays against."""

    def __init__(self, network: PolicyNetwork, player: Player) -> None:
        self.network, self.player = network, player

    @th.no_grad()
    def decide(self, tables: Tables, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """An action for each of the games `rows`."""
        chosen, device = th.from_numpy(rows), self.player.device
        observation = th.from_numpy(tables.observation).index_select(0, chosen).to(device)
        mask = th.from_numpy(tables.mask).index_select(0, chosen).to(device)
        with th.autocast(device.type, th.bfloat16, enabled=self.player.half):
            likelihood = log_likelihoods(self.network(observation).policy, mask)
        return draw(likelihood, self.player.generator).cpu().numpy()


def multiplies_brain_floats(device: th.device) -> bool:
    """Whether products of bfloat16 matrices are faster there than those of float32."""
    if device.type == "cuda":
        return th.cuda.is_bf16_supported()
    supported = getattr(th.cpu, "_is_avx512_bf16_supported", None)  # not in every version of torch
    return supported is not None and bool(supported())


# ---------------------------------------------------------------- learning


@dataclass
class Losses:
    """Means over the decisions of an update."""

    policy: float = 0.0
    search: float = 0.0
    value: float = 0.0
    shares: float = 0.0
    margins: float = 0.0
    entropy: float = 0.0
    distance: float = 0.0  #: between the policy that played and the one that learns, approximately
    clipped: float = 0.0  #: share of the decisions
    names: tuple[str, ...] = field(
        default=("policy", "search", "value", "shares", "margins", "entropy", "distance", "clipped"), repr=False
    )


class Learner:
    """The network that learns, its average, and the thread that plays meanwhile."""

    def __init__(
        self,
        variants: Sequence[Variant],
        plans: Sequence[Opponent],
        mix: Mix,
        settings: Settings,
        seed: int = 0,
        device: str | th.device = "cpu",
    ) -> None:
        """Deal the games and draw a network.

        Args:
            variants: what is played, a variant for each player count.
            plans: opponents besides past selves.
            mix: how often they play.
            settings: see there.
            seed: decides everything that is random, 0 .. 2**63 - 1.
            device: torch's name of it.
        """
        self.settings = settings
        named = (plan for plan in plans if isinstance(plan, PlanOpponent) and plan.name == TEACHER)
        self.teacher: PlanOpponent | None = next(named, None)
        self.device = th.device(device)
        th.manual_seed(seed)
        self.network = PolicyNetwork(variants[0].game, settings.network, settings.critic).to(self.device)
        self.average = copy.deepcopy(self.network)
        self.anchor: PolicyNetwork | None = None
        self.optimizer = self._new_optimizer()
        tables = Tables(variants, settings.num_envs, seed, settings.reward)
        league = League(tables.seats, plans, mix, seed)
        self.player = Player(tables, league, settings, seed + 1, self.device)
        self.random = np.random.default_rng(seed)
        self.decisions = 0
        self.learnt = 0
        self.updates = 0
        self.losses = Losses()
        self._thread = ThreadPoolExecutor(1) if settings.overlap else None
        self._coming: Future[Rollout] | None = None
        self._before: dict[str, Any] = {}  # where the player stood before the coming rollout, and who plays it
        self._acting = self.network

    @property
    def league(self) -> League:
        """Who sits at the games."""
        return self.player.league

    def iterate(self, part: float) -> None:
        """Play a rollout and learn from one; `part` (0 to 1) of the training is over.

        With `overlap` the rollout that is played now is learnt from in the next iteration.
        """
        settings = self.settings
        if self.decisions < settings.imitate and part < LONGEST_LESSON and self.teacher is not None:
            self.learn(self.player.play(self.network, self.teacher), part, imitate=True)
            self.hold_to()
        elif self.decisions < settings.imitate + settings.warm_up and self.anchor is not None:
            self.learn(self.player.play(self.network), part, warm_up=True)
        elif self._thread is None:
            self._grow_league()
            self.learn(self.player.play(self.network), part)
        else:
            rollout = self.player.play(self.network) if self._coming is None else self._coming.result()
            self._grow_league()
            self._before, self._acting = self.player.state(), copy.deepcopy(self.network)
            self._coming = self._thread.submit(self.player.play, self._acting)
            self.learn(rollout, part)

    def _grow_league(self) -> None:
        """Now and then, add the averaged policy to the league as a frozen opponent. Nobody plays meanwhile."""
        if self.updates % NEW_PAST_SELF == 0 and self.updates > 0:
            self.league.add_past(self.past_self(self.average))

    def hold_to(self) -> None:
        """Make the policy as it is now the anchor of what follows."""
        self.anchor = copy.deepcopy(self.network)
        self.average.load_state_dict(self.network.state_dict())

    def past_self(self, network: PolicyNetwork) -> PastSelf:
        """A frozen opponent with the weights of `network`."""
        return PastSelf(copy.deepcopy(network), self.player)

    def _new_optimizer(self) -> th.optim.Adam:
        return th.optim.Adam(self.network.parameters(), self.settings.learning_rate, eps=1e-5, fused=True)

    def learn(self, rollout: Rollout, part: float, imitate: bool = False, warm_up: bool = False) -> None:
        """One update from a rollout.

        With `imitate` the policy learns to choose what was chosen. With `warm_up` it stays what the anchor is, while
        the other heads learn.
        """
        settings, count = self.settings, rollout.count
        advantage = rollout.advantage[:count]
        returns = th.from_numpy(advantage + rollout.value[:count]).to(self.device)
        order = self._chosen(advantage, imitate or warm_up)
        spread = advantage[order]
        scaled = th.from_numpy((advantage - spread.mean()) / (spread.std() + 1e-8)).to(self.device)
        targets = th.from_numpy(rollout.targets[:count]).to(self.device)
        seats = th.from_numpy(rollout.seats[:count]).to(self.device)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * max(1.0 - part, LEAST_RATE)
        entropy_weight = settings.entropy[0] + (settings.entropy[1] - settings.entropy[0]) * min(part, 1.0)
        question = th.from_numpy(rollout.question[:count]).to(self.device)
        advice = th.from_numpy(np.array(rollout.advice, np.float32)).to(self.device)
        anchor_weight = settings.anchor * max(0.0, 1.0 - part / settings.anchor_until) if self.anchor else 0.0
        if warm_up:
            anchor_weight = 1.0
        sums = np.zeros(len(self.losses.names))
        size = min(settings.batch_size, len(order))
        starts = [start for _ in range(settings.epochs) for start in range(0, len(order) - size + 1, size)]
        for start in starts:
            rows = th.from_numpy(order[start : start + size]).to(self.device)
            observation, mask = rollout.observation[rows], rollout.mask[rows]
            with th.autocast(self.device.type, th.bfloat16, enabled=self.player.half):
                heads = self.network(observation)
                value_loss = (heads.value - returns[rows]).square().mean()
                if self.network.critic is not None:
                    expected = self.network.expected(observation, rollout.hidden[rows])
                    value_loss = value_loss + (expected - returns[rows]).square().mean()
            likelihood = log_likelihoods(heads.policy, mask)
            chosen = likelihood.gather(1, rollout.action[rows][:, None])[:, 0]
            # The clamp saves time: the processor takes ten times as long for numbers too small for float32.
            spread_out = -(likelihood.clamp(min=-80).exp() * likelihood).sum(dim=1).mean()
            change = chosen - rollout.log_likelihood[rows]
            if imitate:
                policy_loss = -chosen.mean()
            elif warm_up:
                policy_loss = th.zeros((), device=self.device)
            else:
                ratio, gain = change.exp(), scaled[rows]
                if settings.search_plays:  # a search's choice tells nothing of the policy's
                    gain = gain * (question[rows] < 0)
                clip = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
                policy_loss = -th.min(ratio * gain, clip * gain).mean() - entropy_weight * spread_out
            asked = question[rows]
            found = asked >= 0
            search_loss = th.zeros((), device=self.device)
            if len(advice) and found.any():
                now, (played, better) = likelihood[found].clamp(min=-80), advice[asked[found]].unbind(dim=1)
                distance = -(played * now).sum(dim=1)
                if settings.considered:
                    gained = (better * now).sum(dim=1)
                else:
                    gained = (now.exp() * better).sum(dim=1)
                search_loss = (settings.search_hold * distance - settings.search_weight * gained).mean()
            wanted, present = targets[rows], seats[rows]
            share_loss = -(wanted[:, :MAX_PLAYERS] * log_shares(heads.shares, present)).sum(dim=1).mean()
            there = th.arange(MAX_PLAYERS, device=self.device) < present[:, None]
            errors = (heads.margins - wanted[:, MAX_PLAYERS : 2 * MAX_PLAYERS]).square() * there
            margin_loss = settings.reward_scale**2 * errors.sum() / there.sum()
            turns_loss = (heads.turns - wanted[:, -1]).square().mean()
            loss = (
                settings.policy_weight * policy_loss
                + search_loss
                + settings.value_weight * value_loss
                + settings.share_weight * share_loss
                + settings.margin_weight * margin_loss
                + settings.turns_weight * turns_loss
            )
            if anchor_weight > 0 and self.anchor is not None:
                with th.no_grad(), th.autocast(self.device.type, th.bfloat16, enabled=self.player.half):
                    before = log_likelihoods(self.anchor(observation).policy, mask)
                loss = loss + anchor_weight * (before.exp() * (before - likelihood)).sum(dim=1).mean()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 0.5)
            self.optimizer.step()
            with th.no_grad():
                clipped = ((change.exp() - 1).abs() > settings.clip_range).float().mean()
                parts = (
                    *(policy_loss, search_loss, value_loss, share_loss, margin_loss),
                    *(spread_out, -change.mean(), clipped),
                )
                sums += [float(part) for part in parts]
        self.losses = Losses(*(sums / len(starts)).tolist())
        self.decisions += rollout.steps
        self.learnt += count
        self.updates += 1
        self._average()

    def _chosen(self, advantage: NDArray[np.float32], everything: bool) -> NDArray[np.int64]:
        """The decisions to learn from, in random order: those whose advantages are furthest from the mean."""
        if everything or self.settings.keep >= 1:
            return self.random.permutation(len(advantage))
        kept = max(2, int(self.settings.keep * len(advantage)))
        largest = np.argpartition(-np.abs(advantage - advantage.mean()), kept - 1)[:kept]
        return self.random.permutation(largest)

    @th.no_grad()
    def _average(self) -> None:
        """Move the averaged weights towards those that learn; at first they follow fast."""
        keep = min(self.settings.average, 1 - 1 / (1 + self.updates))
        for mean, new in zip(self.average.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(new, 1 - keep)

    def state(self) -> dict[str, Any]:
        """What `restore` needs to go on in the same way.

        A rollout that is being played is not part of it: it will be played again, from where it began.
        """
        playing = self._coming is not None
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "anchor": None if self.anchor is None else self.anchor.state_dict(),
            "acting": self._acting.state_dict() if playing else None,
            "optimizer": self.optimizer.state_dict(),
            "player": self._before if playing else self.player.state(),
            "minibatches": self.random.bit_generator.state,
            "counts": [self.decisions, self.learnt, self.updates],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state`; see `Player.restore` for what it raises."""
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        if state["anchor"] is not None:
            self.anchor = copy.deepcopy(self.network)
            self.anchor.load_state_dict(state["anchor"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.player.restore(state["player"])
        self.random.bit_generator.state = state["minibatches"]
        self.decisions, self.learnt, self.updates = state["counts"]
        if state["acting"] is not None and self._thread is not None:
            self._before, self._acting = state["player"], copy.deepcopy(self.network)
            self._acting.load_state_dict(state["acting"])
            self._coming = self._thread.submit(self.player.play, self._acting)

    def close(self) -> None:
        """Wait for the thread and stop it."""
        if self._thread is not None:
            self._thread.shutdown()
