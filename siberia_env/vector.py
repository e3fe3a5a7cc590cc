"""Many games in one array: self-play batches with masks, observations and auto-reset.

`make("card", num_envs=4096)` or `make("board", num_envs=4096)` gives a `VectorEnv`. Every row is one game and shows
it from the seat on turn. When a game ends, the same step deals the next one: the reward and the final results are the
old game's; the observation, the mask and the player are the new one's. Game e of slot k depends only on (seed, k, e),
not on the batch size or the number of threads.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.core import engine, rewards
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, IllegalActionError
from siberia_env.game import Game, States, Variant, block_slices, find_game

SNAPSHOT = ("played", "seed", "states", "episodes", "lengths")  #: what a snapshot holds, besides its digest
MOST_NAMED = 10  #: how many games an error about illegal actions names at most


@dataclass
class Step:
    """What a batch shows after `reset` or `step`, for N games, P players, O observation numbers and A actions.

    The next call overwrites the arrays; copy what you want to keep.

    Attributes:
        observation: float32 [N, O] (O = 0 without observations), what the seat on turn sees.
        mask: int8 [N, A], 1 for legal actions.
        num_legal: int16 [N], how many actions are legal; 1 means that the decision is forced.
        player: int8 [N], the seat on turn.
        reward: float32 [N, P], each seat's reward; zero except where a game has just ended.
        terminated: bool [N], whether a game has just ended.
        final_scores: int64 [N, P], points (`Game.score_unit`), of the last game that ended in the row.
        final_winners: int8 [N, P], 1 for each winner of that game.
        final_length: int64 [N], decisions in that game.
        final_hit_limit: bool [N], whether the limit of turns or rounds ended it.
    """

    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    num_legal: NDArray[np.int16]
    player: NDArray[np.int8]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    final_scores: NDArray[np.int64]
    final_winners: NDArray[np.int8]
    final_length: NDArray[np.int64]
    final_hit_limit: NDArray[np.bool_]

    @classmethod
    def blank(cls, games: int, variant: Variant, observations: bool = True) -> Step:
        """New arrays for `games` games; `step` accepts them as `out`."""
        players, game = variant.num_players, variant.game
        return cls(
            observation=np.zeros((games, game.observation_size if observations else 0), np.float32),
            mask=np.zeros((games, game.num_actions), np.int8),
            num_legal=np.zeros(games, np.int16),
            player=np.zeros(games, np.int8),
            reward=np.zeros((games, players), np.float32),
            terminated=np.zeros(games, np.bool_),
            final_scores=np.zeros((games, players), np.int64),
            final_winners=np.zeros((games, players), np.int8),
            final_length=np.zeros(games, np.int64),
            final_hit_limit=np.zeros(games, np.bool_),
        )

    def rows(self) -> engine.Rows:
        """The same arrays, for the kernels."""
        return engine.Rows(*(getattr(self, name) for name in engine.Rows._fields))


class VectorEnv:
    """A batch of games of one variant; see the module's docstring and `make`."""

    def __init__(
        self,
        variant: Variant,
        num_envs: int,
        seed: int = 0,
        reward: str = "win",
        threads: int = 1,
        observations: bool = True,
    ) -> None:
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ConfigurationError(f"{name}: {value!r} is not a whole number from 1 up")
        self.variant = variant
        self.num_envs = int(num_envs)
        self.threads = min(int(threads), self.num_envs)
        self.reward_kind = rewards.reward_number(reward)
        self.states = variant.new_states(self.num_envs)
        self.episodes = np.zeros(self.num_envs, np.int64)
        self.lengths = np.zeros(self.num_envs, np.int64)
        self._seed = check_seed(seed)
        self._step = Step.blank(self.num_envs, variant, observations)
        self._running = False
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        edges = [self.num_envs * part // self.threads for part in range(self.threads + 1)]
        self._slices = list(pairwise(edges))
        self._process = os.getpid()
        self._in_use = threading.Lock()

    @property
    def game(self) -> Game:
        """The game of the batch."""
        return self.variant.game

    @property
    def observation_blocks(self) -> dict[str, slice]:
        """Where each block lies in an observation, by name."""
        return block_slices(self.game.blocks)

    @property
    def num_players(self) -> int:
        """Number of players in every game."""
        return self.variant.num_players

    def reset(self, seed: int | None = None) -> Step:
        """Deal game 0 of every slot, under `seed` if one is given."""
        checked = self._seed if seed is None else check_seed(seed)
        self._enter()
        try:
            return self._reset(checked)
        finally:
            self._in_use.release()

    def _reset(self, seed: Any) -> Step:
        self._seed = seed
        self.episodes[:] = 0
        step = self._step
        step.reward[:] = 0
        step.terminated[:] = False
        slots, rows = self._slots(), step.rows()
        self._in_slices(
            lambda start, stop: engine.deal_batch(self.variant.rulesets, slots, start, stop, self._seed, rows)
        )
        self._running = True
        return step

    def step(self, actions: Any, out: Step | None = None) -> Step:
        """Take one action in every game.

        Args:
            actions: [N] integers.
            out: arrays to write into instead of the environment's own, for instance a row of a rollout
                (`Step.blank` makes some). Every row of `terminated` and `reward` is written.

        Raises:
            IllegalActionError: an action is not legal; the message names the games, and none has moved.
            ConfigurationError: `reset` was never called, or `out` has shapes or types that differ from those
                of `Step.blank`.
        """
        if not self._running:
            raise ConfigurationError("step: reset() has to be called first")
        self._enter()
        try:
            return self._take(actions, out)
        finally:
            self._in_use.release()

    def _take(self, actions: Any, out: Step | None) -> Step:
        chosen = self._checked(actions)
        step = self._step if out is None else out
        if out is not None:
            self._check_out(out)
            step.terminated[:] = True  # makes the loop clear every row's reward
        slots, rows = self._slots(), step.rows()
        self._in_slices(
            lambda start, stop: engine.step_batch(
                self.variant.rulesets, slots, start, stop, chosen, self._seed, self.reward_kind, rows
            )
        )
        return step

    def observe(self, players: NDArray[np.integer[Any]], out: NDArray[np.float32] | None = None) -> Any:
        """What seat `players[i]` sees of game i, whether or not it is on turn: float32 [N, O].

        Raises:
            ConfigurationError: `players` is not one valid seat for each game, or `out` has another shape or type.
        """
        seats, shape = np.asarray(players), (self.num_envs, self.game.observation_size)
        if seats.shape != (self.num_envs,) or seats.dtype.kind not in "iu":
            raise ConfigurationError(f"observe: expected {self.num_envs} seats, one a game; got shape {seats.shape}")
        if seats.min() < 0 or seats.max() >= self.num_players:
            raise ConfigurationError(f"observe: seats are 0 to {self.num_players - 1}")
        if out is not None and (out.shape != shape or out.dtype != np.float32):
            raise ConfigurationError(f"observe: out is {out.dtype} {out.shape}, expected float32 {shape}")
        observation = np.zeros(shape, np.float32) if out is None else out
        engine.observe_batch(self.variant.rulesets, self.states, seats, observation)
        return observation

    def standing(self) -> NDArray[np.float32]:
        """Each seat's reward if every game ended as it stands: float32 [N, P]."""
        standing = np.zeros((self.num_envs, self.num_players), np.float32)
        engine.standing_batch(self.variant.rulesets, self.states, self.reward_kind, standing)
        return standing

    def snapshot(self) -> dict[str, Any]:
        """All games and their states: text, numbers, bytes and arrays. `restore` takes them later, in any process."""
        content = {
            "played": self._played(),
            "seed": int(self._seed),
            "states": self.states.tobytes(),
            "episodes": self.episodes.copy(),
            "lengths": self.lengths.copy(),
        }
        return {**content, "check": _check_of(content)}

    def restore(self, snapshot: dict[str, Any]) -> Step:
        """Go on from `snapshot`, which an environment with the same arguments has made.

        Raises:
            ConfigurationError: the snapshot is none, is damaged, has another number of games, another game, players,
                rules or components, or comes from a version of the suite that lays out states in another way. The
                games are as they were.
        """
        if not isinstance(snapshot, Mapping) or not {*SNAPSHOT, "check"} <= set(snapshot):
            raise ConfigurationError(f"restore: a snapshot has the keys {', '.join(SNAPSHOT)}, check")
        if snapshot["played"] != self._played():
            raise ConfigurationError(
                "restore: the snapshot is of another game, players, rules or components, or of another version"
            )
        states, seed = snapshot["states"], check_seed(snapshot["seed"])
        if not isinstance(states, bytes) or len(states) != self.states.nbytes:
            raise ConfigurationError("restore: the snapshot is not one of this number of games")
        for name in ("episodes", "lengths"):
            numbers = snapshot[name]
            if not isinstance(numbers, np.ndarray) or (numbers.shape, numbers.dtype) != ((self.num_envs,), np.int64):
                raise ConfigurationError(f"restore: {name} is no int64 array with a number for each game")
        if snapshot["check"] != _check_of(snapshot):
            raise ConfigurationError("restore: the snapshot is damaged: its digest does not fit")
        restored = np.frombuffer(states, self.states.dtype)
        self.game.check_states(self.num_players, restored)
        self._enter()
        try:
            return self._go_on(snapshot, seed, restored)
        finally:
            self._in_use.release()

    def _go_on(self, snapshot: dict[str, Any], seed: Any, restored: States) -> Step:
        self._seed = seed
        self.states[:] = restored
        self.episodes[:] = snapshot["episodes"]
        self.lengths[:] = snapshot["lengths"]
        step = self._step
        step.reward[:] = 0
        step.terminated[:] = False
        engine.view_batch(self.variant.rulesets, self._slots(), step.rows())
        self._running = True
        return step

    def __copy__(self) -> VectorEnv:
        """An environment of its own, that goes on from the same games with the same chances."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> VectorEnv:
        """The same as a copy: nothing but the variant is shared, and that can't change."""
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the threads, in arrays of its own."""
        kept = {name: value for name, value in vars(self).items() if name not in ("_pool", "_in_use")}
        kept["_step"] = Step(*(getattr(self._step, field.name).copy() for field in fields(Step)))
        return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in kept.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._in_use = threading.Lock()
        self._pool = ThreadPoolExecutor(self.threads) if len(self._slices) > 1 else None
        self._process = os.getpid()

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
            self._slices = [(0, self.num_envs)]

    def _enter(self) -> None:
        """Refuse a second thread: between the check of its actions and the step, the first one would move the games.

        Raises:
            ConfigurationError: another thread is changing the games.
        """
        if not self._in_use.acquire(blocking=False):
            raise ConfigurationError("another thread is in a call of this environment; give each thread its own")

    def _slots(self) -> engine.Slots:
        """The games, for the kernels."""
        return engine.Slots(self.states, self.episodes, self.lengths)

    def _played(self) -> str:
        """A digest of what the states of this environment depend on: the game, the record's layout and the ruleset."""
        told = repr((self.game.name, self.states.dtype.descr, self.variant.rulesets.tobytes()))
        return hashlib.sha256(told.encode()).hexdigest()

    def _check_out(self, out: Step) -> None:
        """Raise unless `out` fits. Kernels check no bounds, so with smaller arrays they would write beside them."""
        for field in fields(Step):
            own, given = getattr(self._step, field.name), getattr(out, field.name)
            if given.shape != own.shape or given.dtype != own.dtype:
                raise ConfigurationError(
                    f"step: out.{field.name} is {given.dtype} {given.shape}, expected {own.dtype} {own.shape}"
                )

    def _checked(self, actions: Any) -> NDArray[np.int64]:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise IllegalActionError(
                f"step: expected {self.num_envs} integers, one action a game; got {given.dtype} of shape {given.shape}"
            )
        chosen = given.astype(np.int64, copy=False)
        rulesets, states = self.variant.rulesets, self.states
        first = self._first_illegal(chosen)
        if first < self.num_envs:
            games: list[int] = []
            while first < self.num_envs and len(games) <= MOST_NAMED:
                games.append(first)
                first = engine.first_illegal(rulesets, states, chosen, first + 1, self.num_envs)
            named = ", ".join(f"{game} (action {given[game]})" for game in games[:MOST_NAMED])
            more = ", ..." if len(games) > MOST_NAMED else ""
            raise IllegalActionError(f"step: illegal actions in games {named}{more}; no game has moved")
        return chosen

    def _first_illegal(self, chosen: NDArray[np.int64]) -> int:
        rulesets, states = self.variant.rulesets, self.states
        if self._pool is None or self._process != os.getpid():
            return engine.first_illegal(rulesets, states, chosen, 0, self.num_envs)
        found = self._pool.map(
            lambda edges: (engine.first_illegal(rulesets, states, chosen, *edges), edges[1]), self._slices
        )
        return min((first for first, stop in found if first < stop), default=self.num_envs)

    def _in_slices(self, work: Callable[[int, int], None]) -> None:
        if self._pool is None:
            work(0, self.num_envs)
            return
        if self._process != os.getpid():  # a fork has this object, but not its threads
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(self.threads)
        for _ in self._pool.map(lambda edges: work(*edges), self._slices):
            pass


def _check_of(content: Mapping[str, Any]) -> str:
    """The digest of everything in a snapshot but itself."""
    digest = hashlib.sha256(repr((content["played"], content["seed"])).encode())
    digest.update(content["states"])
    for name in ("episodes", "lengths"):
        digest.update(content[name].tobytes())
    return digest.hexdigest()


def make(
    game: str | Game,
    num_envs: int = 1024,
    num_players: int = 2,
    seed: int = 0,
    rules: Any = None,
    components: Any = None,
    reward: str = "win",
    threads: int = 1,
    observations: bool = True,
) -> VectorEnv:
    """Make a batch of `num_envs` games.

    Args:
        game: `"card"` or `"board"`.
        num_envs: games in the batch.
        num_players: 2 to 4.
        seed: game e of slot k is the same for equal (seed, k, e).
        rules: a mapping of the game's options, or for the card game an edition's name.
        components: the path of a component file, its content, or a `Components` object.
        reward: `"win"`, `"margin"` or `"score"`, paid at the end (`rewards.reward_of`).
        threads: number of threads, each of which steps a slice of the batch. The games don't depend on it.
        observations: whether a step writes observations. Without them it is several times as fast.

    Raises:
        ConfigurationError: an option is invalid.
    """
    return VectorEnv(
        find_game(game).variant(num_players, rules, components), num_envs, seed, reward, threads, observations
    )
