"""Any game of the suite as a PettingZoo AEC environment: one agent acts at a time.

PettingZoo's usual stack of wrappers checks the order of the calls, the bounds of an action and its legality. The
wrappers cost more than a whole game here, so `SiberiaAECEnv` makes the same checks itself, with the same messages. A
step is one compiled call and a few attribute writes. It changes rewards, terminations and the infos of agents whose
turn neither ends nor begins only where it must.
"""

from __future__ import annotations

import copy
import operator
import secrets
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pettingzoo
from gymnasium import logger, spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from siberia_env import pictures
from siberia_env.core import engine, rewards
from siberia_env.core.jit import PLAIN_PYTHON
from siberia_env.core.rng import check_seed
from siberia_env.errors import ActionOutOfBoundsError, ConfigurationError, IllegalActionError, RenderModeError
from siberia_env.game import Game, block_slices, find_game
from siberia_env.position import Position
from siberia_env.view import View

ILLEGAL_REWARD = -1.0  #: the offender's reward when an illegal action ends the game
MOST_NAMED = 10  #: how many legal actions an error names at most
RENDER_MODES = ("ansi", "human", "svg", "rgb_array")
DRAWN = RENDER_MODES[2:]  #: for games that have pictures

#: These attributes don't exist before the first `reset`, as with PettingZoo's `OrderEnforcingWrapper`.
_AFTER_RESET = frozenset(
    (
        "agents",
        "agent_selection",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "num_agents",
        "_cumulative_rewards",
    )
)


class SiberiaAECEnv(AECEnv):  # type: ignore[misc]
    """One game as a PettingZoo environment, for agents `player_0`, `player_1`, ... in the order of the seats.

    An observation is a dict: `observation`, float32 [O], holds what the agent's seat sees, and `action_mask`, int8
    [A], the legal actions. The mask is all zero unless it is the agent's turn. `infos[agent]["action_mask"]` is the
    same array. The environment never writes again into an array that it has handed out.

    Rewards are paid once, when the game ends. Then every info also holds `scores` (by agent, in the game's own unit,
    `Game.score_unit`), `winners` (agents) and `hit_limit` (whether the limit of turns or rounds ended the game).
    Reaching that limit is a termination like any other. Game e (0, 1, ...) after `reset(seed=s)` is game
    e of slot 0 of a `vector.VectorEnv` under the same seed.

    A copy, a deep copy and an unpickled environment each go on from the same position, independently of the original.
    They meet the same chance outcomes.

    Attributes:
        variant: the game with its players, rules and components.
        observation_blocks: where each block lies in `observation`, by name.
        state_blocks: where each block lies in `state()`, by name.
        seed: the seed of the games; None before the first `reset`.
        episode: number of the game under that seed; -1 before the first `reset`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo declares it on the instance, and reads it on the class
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        game: str | Game,
        num_players: int = 2,
        rules: Any = None,
        components: Any = None,
        reward: str = "win",
        render_mode: str | None = None,
        illegal_action_ends: bool = False,
    ) -> None:
        """Set up the game; `reset` deals the first game.

        Args:
            game: `"card"` or `"board"`.
            num_players: 2 to 4.
            rules: a mapping of the game's options, or for the card game an edition's name.
            components: the path of a component file, its content, or a `Components` object.
            reward: `"win"`, `"margin"` or `"score"` (`rewards.reward_of`).
            render_mode: with `"ansi"`, `render` returns a text; with `"human"`, the text is printed after every step;
                with `"svg"` it returns a picture as an SVG document, and with `"rgb_array"` the picture's pixels, uint8
                [height, width, 3] (which needs the extra `pictures`).
            illegal_action_ends: whether an illegal action ends the game with a warning, -1 for the offender and 0 for
                the others. Otherwise it raises `IllegalActionError`.

        Raises:
            ConfigurationError: an option is invalid.
        """
        super().__init__()
        self.variant = find_game(game).variant(num_players, rules, components)
        modes = render_modes(self.variant.game)
        check_render_mode(render_mode, modes)
        self.render_mode = render_mode
        rewards.reward_number(reward)  # raises if there is no such reward
        self.reward = reward
        self.illegal_action_ends = bool(illegal_action_ends)
        self.seed: int | None = None
        self.episode = -1

        played = self.variant.game
        self.metadata = {**type(self).metadata, "name": f"siberia_{played.name}_v0", "render_modes": list(modes)}
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.num_players)]
        self.observation_blocks = block_slices(played.blocks)
        self.state_blocks = block_slices(played.blocks + played.hidden_blocks)

        self._position = Position.from_states(self.variant, self.variant.new_states())
        self._live = False  # whether a decision is due
        self._player = 0  # the seat that takes it; next, what it sees and what it may do
        self._observation = np.zeros(played.observation_size, np.float32)
        self._mask = np.zeros(played.num_actions, np.int8)
        self._has_updated = False  # whether `reset` or `step` was called since `agent_iter` gave its last agent
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_size = played.observation_size
        self._num_actions = played.num_actions
        self._derive()

    def _derive(self) -> None:
        """Look up what every step needs of the variant and the position. A copy looks it up anew."""
        self._step_at = _fused_step(self.variant.game.state_dtype, self.variant.rulesets.dtype)
        self._states = self._position.states
        self._rulesets = self.variant.rulesets

    # ------------------------------------------------------------ spaces, made when first asked for

    @cached_property
    def observation_spaces(self) -> dict[str, spaces.Dict]:
        """Each agent's observation space."""
        game = self.variant.game
        mask = (game.num_actions,)
        return {
            agent: spaces.Dict({"observation": _box(game.blocks), "action_mask": spaces.Box(0, 1, mask, np.int8)})
            for agent in self.possible_agents
        }

    @cached_property
    def action_spaces(self) -> dict[str, spaces.Discrete]:
        """Each agent's action space."""
        return {agent: spaces.Discrete(self.variant.game.num_actions) for agent in self.possible_agents}

    @cached_property
    def state_space(self) -> spaces.Box:
        """The space of `state()`."""
        return _box(self.variant.game.blocks + self.variant.game.hidden_blocks)

    # ------------------------------------------------------------ PettingZoo

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the agent's observations; the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of the agent's actions; the same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a game: the first one under `seed`, or without a seed the next one under the current seed.

        Args:
            seed: 0 .. 2**64 - 1. An environment that was never given a seed draws one from the operating system.
            options: ignored; PettingZoo passes them.

        Raises:
            ConfigurationError: `seed` is not a whole number in that range.
        """
        if seed is not None:
            self.seed, self.episode = int(check_seed(seed)), 0
        elif self.seed is None:
            self.seed, self.episode = secrets.randbits(64), 0
        else:
            self.episode += 1
        self._position.deal(self.seed, episode=self.episode)
        self._mask = np.empty(self._num_actions, np.int8)
        self._observation = np.empty(self._observation_size, np.float32)
        # The step's kernel shows the first decision too: compiling another one would take seconds.
        self._player = self._step_at(self._rulesets, self._states, 0, engine.NO_ACTION, self._observation, self._mask)
        self._live = self._has_updated = True

        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[self._player]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": self._no_mask()} for agent in self.agents}
        self.infos[self.agent_selection] = {"action_mask": self._mask}
        self._skip_agent_selection = None
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Take `action` for `agent_selection`. For an agent whose game is over, `action` is None.

        Raises:
            ActionOutOfBoundsError: `action` is not a whole number, or not in the action space.
            IllegalActionError: the action is not legal now (unless an illegal action ends the game), or the game is
                over. The game stays as it was.
            AssertionError: before the first `reset`.
        """
        if not self._live:
            self._step_without_decision(action)
            return
        if type(action) is not int:
            action = self._whole_number(action)
        if not 0 <= action < self._num_actions:
            raise self._out_of_bounds(action)
        observation = np.empty(self._observation_size, np.float32)
        mask = np.empty(self._num_actions, np.int8)
        player = self._step_at(self._rulesets, self._states, 0, action, observation, mask)
        if player >= 0:
            if player != self._player:
                self._player = player
                self.infos[self.agent_selection] = {"action_mask": np.zeros(self._num_actions, np.int8)}
                self.agent_selection = self.possible_agents[player]
            self.infos[self.agent_selection] = {"action_mask": mask}
            self._observation = observation
            self._mask = mask
        elif player == engine.FINISHED:
            self._finish()
        elif self.illegal_action_ends:
            self.forfeit()
        else:
            raise IllegalActionError(self._why_illegal(action))
        self._has_updated = True
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """What `agent` sees, whether or not it is on turn: `observation` float32 [O] and `action_mask` int8 [A].

        Raises:
            ConfigurationError: there is no such agent.
            AssertionError: before the first `reset`.
        """
        if self._live and agent == self.agent_selection:
            return {"observation": self._observation, "action_mask": self._mask}
        if self.episode < 0:
            EnvLogger.error_observe_before_reset()
        seat = self._seat(agent)
        mask = self.infos[agent]["action_mask"] if agent in self.infos else self._no_mask()
        return {"observation": self._position.observation_tensor(seat), "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[dict[str, NDArray[Any]] | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, terminated, truncated and info of `agent_selection`."""
        agent = self.agent_selection
        seen: dict[str, NDArray[Any]] | None = None
        if observe:
            if self._live:  # as `observe` does, without the call
                seen = {"observation": self._observation, "action_mask": self._mask}
            else:
                seen = self.observe(agent)
        return (
            seen,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """The agents in the order in which they have to act, until all are done or `max_iter` have acted.

        Raises:
            AssertionError: before the first `reset`, or if the loop called neither `step` nor `reset` for an agent.
        """
        if self.episode < 0:
            EnvLogger.error_agent_iter_before_reset()
        return self._iterate(max_iter)

    def _iterate(self, left: int) -> Iterator[str]:
        while self.agents and left > 0:
            if not self._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            self._has_updated = False
            left -= 1
            yield self.agent_selection

    def state(self) -> NDArray[np.float32]:
        """The whole state, for centralised critics: what seat 0 sees, then what nobody sees; float32 (`state_blocks`).

        Raises:
            AssertionError: before the first `reset`.
        """
        if self.episode < 0:
            EnvLogger.error_state_before_reset()
        state = np.empty(self._observation_size + self.variant.game.hidden_size, np.float32)
        engine.observe_at(self._rulesets, self._states, 0, 0, state[: self._observation_size])
        engine.observe_hidden_at(self._rulesets, self._states, 0, state[self._observation_size :])
        return state

    def render(self) -> Any:
        """Show the game as the seat on turn sees it. Once the game is over, show everything.

        Returns:
            The text, the SVG document or the pixels, as the render mode asks. None, if it is `"human"` (which prints
            the text) or None (with a warning).

        Raises:
            MissingExtraError: the render mode is `"rgb_array"`, and the extra `pictures` is not installed.
            ConfigurationError: the game has no pictures, and the render mode asks for one.
            AssertionError: before the first `reset`.
        """
        viewer = None if self.episode < 0 or self._position.is_terminal() else self.possible_agents[self._player]
        return self.rendered(self.render_mode, viewer)

    def rendered(self, render_mode: str | None, agent: str | None) -> Any:
        """The game as `agent` sees it, in one of the render modes; for None, all of it. See `render`."""
        if self.episode < 0:
            EnvLogger.error_render_before_reset()
        if render_mode is None:
            logger.warn("You are calling render method without specifying any render mode.")
            return None
        if render_mode == "svg":
            return self.as_picture(agent)
        if render_mode == "rgb_array":
            return pictures.rgb_array(self.as_picture(agent))
        text = self.as_text(agent)
        if render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    # ------------------------------------------------------------ beyond PettingZoo

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return self.variant.num_players

    def legal_actions(self) -> list[int]:
        """The numbers of the legal actions of `agent_selection`; none once the game is over."""
        return np.flatnonzero(self._mask).tolist() if self._live else []

    def action_name(self, action: int) -> str:
        """The name of `action` in logs and records. In the board game an exchange is named after its active side.

        Raises:
            ActionOutOfBoundsError: there is no such action.
        """
        number = self._whole_number(action)
        if not 0 <= number < self._num_actions:
            raise self._out_of_bounds(action)
        return self._names()[number]

    def action_number(self, name: str) -> int:
        """The number of the action that is called `name` always, or in some state.

        Raises:
            ConfigurationError: no action has that name.
        """
        return self.variant.action_number(name)

    def as_text(self, agent: str | None) -> str:
        """The game as `agent` sees it, in plain text; for None, all of it.

        Raises:
            ConfigurationError: there is no such agent.
            AssertionError: before the first `reset`.
        """
        if self.episode < 0:
            EnvLogger.error_render_before_reset()
        return str(self._position) if agent is None else self._position.observation_string(self._seat(agent))

    def as_picture(self, agent: str | None) -> str:
        """The game as `agent` sees it, as an SVG document; for None, all of it.

        Raises:
            ConfigurationError: there is no such agent, or the game has no pictures.
            AssertionError: before the first `reset`.
        """
        if self.episode < 0:
            EnvLogger.error_render_before_reset()
        return pictures.svg(self.variant, self._states, 0, None if agent is None else self._seat(agent))

    def view(self) -> View:
        """The decision of `agent_selection` as the suite's agents take it: `agent.act(env.view())`.

        Raises:
            ConfigurationError: no decision is due.
        """
        if not self._live:
            raise ConfigurationError("view: no decision is due; reset() deals a game")
        return self._position.view()

    def forfeit(self, warn: bool = True) -> None:
        """End the game as an illegal action does: -1 for `agent_selection`, 0 for the others. It may warn."""
        if warn:
            EnvLogger.warn_on_illegal_move()
        self._end([ILLEGAL_REWARD if seat == self._player else 0.0 for seat in self._seats.values()], [], False)

    # ------------------------------------------------------------ off the fast path

    def _seat(self, agent: str) -> int:
        """The seat of `agent`."""
        if agent not in self._seats:
            raise ConfigurationError(f"no agent {agent!r}; the agents are {', '.join(self.possible_agents)}")
        return self._seats[agent]

    def _no_mask(self) -> NDArray[np.int8]:
        return np.zeros(self._num_actions, np.int8)

    def _whole_number(self, action: Any) -> int:
        if isinstance(action, bool):
            raise self._out_of_bounds(action)
        try:
            return operator.index(action)
        except TypeError:
            raise self._out_of_bounds(action) from None

    def _out_of_bounds(self, action: Any) -> ActionOutOfBoundsError:
        if action is None:
            why = "None is for agents whose game is over"
        elif isinstance(action, int | np.integer) and not isinstance(action, bool):
            why = f"there is no action {action}"
        else:
            why = f"{action!r} is not a whole number"
        return ActionOutOfBoundsError(
            f"action is not in action space: {why}; the actions are 0 to {self._num_actions - 1}"
        )

    def _names(self) -> tuple[str, ...]:
        """Every action's name in the current state; before the first game, the names for any state."""
        if self.episode < 0:
            return self.variant.action_names
        return self._position.action_names()

    def _why_illegal(self, action: int) -> str:
        names = self._names()
        legal = [names[number] for number in self.legal_actions()]
        more = ", ..." if len(legal) > MOST_NAMED else ""
        return (
            f"action {action} ({names[action]}) is not legal now; {self.agent_selection} may: "
            f"{', '.join(legal[:MOST_NAMED])}{more}"
        )

    def _step_without_decision(self, action: Any) -> None:
        """Handle a step before the first game, after the last agent, or of an agent whose game is over."""
        if self.episode < 0:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not self.agents:
            if self.illegal_action_ends:
                EnvLogger.warn_step_after_terminated_truncated()
                return
            raise IllegalActionError(
                "step() called after all agents are terminated or truncated. Should reset() first."
            )
        if action is not None:
            raise IllegalActionError(
                f"the game is over, action {action!r} can't be taken: when an agent is dead, the only valid action is "
                "None"
            )
        self._was_dead_step(None)

    def _finish(self) -> None:
        """End the game with the rewards and winners of the final position."""
        winners = [self.possible_agents[seat] for seat in self._position.winners()]
        self._end(self._position.returns(self.reward), winners, self._position.has_hit_limit())

    def _end(self, rewards: list[float], winners: list[str], hit_limit: bool) -> None:
        """Mark all agents as done. After an illegal action nobody has won, and the scores are the current ones."""
        self._live = False
        scores = dict(zip(self.agents, self._position.scores(), strict=True))
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {
            agent: {
                "action_mask": self._no_mask(),
                "scores": dict(scores),
                "winners": list(winners),
                "hit_limit": hit_limit,
            }
            for agent in self.agents
        }
        self._deads_step_first()

    # ------------------------------------------------------------ copies

    def __getstate__(self) -> dict[str, Any]:
        """What a copy needs to go on independently. The copy shares only what never changes."""
        state = dict(self.__dict__)
        del state["_step_at"], state["_rulesets"], state["_states"]  # derived again
        state["_position"] = self._position.clone()
        for name in ("observation_spaces", "action_spaces", "state_space"):
            if name in state:
                state[name] = copy.deepcopy(state[name])  # each draws samples from its own generator
        for name in ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations"):
            if name in state:
                state[name] = copy.copy(state[name])
        if "infos" in state:
            state["infos"] = {agent: dict(info) for agent, info in self.infos.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._derive()

    def __copy__(self) -> SiberiaAECEnv:
        copied = type(self).__new__(type(self))
        copied.__setstate__(self.__getstate__())
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> SiberiaAECEnv:
        return self.__copy__()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain a missing attribute. Before the first `reset` these are the attributes that `reset` makes."""
            if name in _AFTER_RESET:
                raise AttributeError(f"{name} cannot be accessed before reset")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@cache
def _fused_step(state_dtype: np.dtype[Any], ruleset_dtype: np.dtype[Any]) -> Callable[..., int]:
    """`engine.step_at`, compiled for these records. A call from Python skips the look at its arguments' types.

    Otherwise numba finds the compiled version by the types of the arguments, at every call. That would take a tenth
    of a step through this file, and the types never change here.
    """
    if PLAIN_PYTHON:
        return engine.step_at
    rulesets = numba.types.Array(numba.from_dtype(ruleset_dtype), 1, "C", readonly=True)
    states = numba.types.Array(numba.from_dtype(state_dtype), 1, "C")
    whole, floats, bytes_ = numba.int64, numba.float32[::1], numba.int8[::1]
    fused: Callable[..., int] = engine.step_at.compile(  # type: ignore[attr-defined]
        (rulesets, states, whole, whole, floats, bytes_)
    )
    return fused


def register_with_pettingzoo(game: str) -> None:
    """Register `game` for `pettingzoo.make("aec", "siberia/<game>_v0")`, if PettingZoo has that (from 1.27 on)."""
    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", f"siberia/{game}_v0", entry_point=f"siberia_env.{game}_v0:env")


def render_modes(game: Game) -> tuple[str, ...]:
    """The render modes that environments of a game have."""
    return tuple(mode for mode in RENDER_MODES if mode not in DRAWN or pictures.has_pictures(game))


def check_render_mode(render_mode: str | None, modes: tuple[str, ...]) -> None:
    """Raise `RenderModeError` unless the render mode is one of `modes`. None is valid, and shows nothing."""
    if render_mode is not None and render_mode not in modes:
        raise RenderModeError(f"render_mode: no {render_mode!r}; there are {', '.join(modes)}")


def _box(blocks: tuple[Any, ...]) -> spaces.Box:
    """The space of the flat vector that `blocks` make up."""
    low = np.concatenate([np.full(block.size, -1.0 if block.signed else 0.0, np.float32) for block in blocks])
    return spaces.Box(low, np.ones_like(low))
