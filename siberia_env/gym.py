"""Any game of the suite as a Gymnasium environment: one seat learns, and `step` plays the others.

After `import siberia_env`, make one with `gymnasium.make("siberia/Card-v0", opponents="greedy")` or
`"siberia/Board-v0"`. `siberia_env.gym_vector` has many such games at once, for `gymnasium.make_vec`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from siberia_env.aec import RENDER_MODES, SiberiaAECEnv, check_render_mode, render_modes
from siberia_env.errors import ActionOutOfBoundsError, ConfigurationError, IllegalActionError
from siberia_env.game import Game
from siberia_env.opponents import Opponent, find_opponents, is_player, start_opponents

Observation: TypeAlias = dict[str, NDArray[Any]]


class SiberiaEnv(gymnasium.Env[Observation, Any]):
    """One seat's game against given opponents.

    An observation is a dict: `observation`, float32 [O], and `action_mask`, int8 [A]. It shows what the learner's seat
    sees on its turn, or at the end of the game, with an all-zero mask. The reward comes at the end of the game. An
    illegal action of the learner ends the game with a reward of -1 and `illegal_action` (its number) in the info. A
    game that reaches the limit of turns or rounds is terminated; `step` never reports a truncation. Infos hold
    `action_mask` and `seat`, and at the end `scores`, `winners` and `hit_limit` as with `SiberiaAECEnv`. The games are
    those of a `SiberiaAECEnv` with the same seed.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self,
        game: str | Game = "card",
        num_players: int = 2,
        opponents: str | Opponent | Sequence[str | Opponent] = None,
        seat: int | None = 0,
        rules: Any = None,
        components: Any = None,
        reward: str = "win",
        render_mode: str | None = None,
    ) -> None:
        """Set up the game; `reset` deals the first game.

        Args:
            game: `"card"` or `"board"`.
            num_players: 2 to 4.
            opponents: one for all other seats, or a sequence of one for each, in the order in which they sit after the
                learner. Each is an agent by its name (`"greedy"`, `"guided:200"`), an agent as an object, which is
                shown its own view, a function of observation and mask, or None for uniformly random legal actions.
            seat: the learner's seat, from 0. With None it moves on by one each game.
            rules: a mapping of the game's options, or for the card game an edition's name.
            components: the path of a component file, its content, or a `Components` object.
            reward: `"win"`, `"margin"` or `"score"` (`rewards.reward_of`).
            render_mode: as for `SiberiaAECEnv`, but texts and pictures show what the learner sees.

        Raises:
            ConfigurationError: an option is invalid, or there is no such agent.
            ModelError: an opponent can't play this game.
        """
        self.aec = SiberiaAECEnv(game, num_players, rules, components, reward)
        check_render_mode(render_mode, render_modes(self.aec.variant.game))
        self.metadata = {**type(self).metadata, "render_modes": self.aec.metadata["render_modes"]}
        self.render_mode = render_mode
        check_seat(seat, self.aec.num_players)
        self.fixed_seat = seat
        self._broken = False
        self.opponents: list[Opponent] = find_opponents(opponents, self.aec.variant)
        self.agent = self.aec.possible_agents[seat or 0]
        self.observation_space = self.aec.observation_space(self.agent)
        self.action_space = self.aec.action_space(self.agent)

    @property
    def observation_blocks(self) -> dict[str, slice]:
        """Where each block lies in an observation, by name."""
        return self.aec.observation_blocks

    @property
    def seat(self) -> int:
        """The learner's seat in the current game."""
        return self.aec.possible_agents.index(self.agent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a game, as `SiberiaAECEnv.reset` does, and play up to the learner's first decision.

        The first reset, and each with a seed, also starts the opponents anew, with random numbers that follow from it.

        Raises:
            ConfigurationError: `seed` is not a whole number from 0 to 2**64 - 1.
        """
        first = seed is not None or self.aec.episode < 0
        self.aec.reset(seed=seed, options=options)
        super().reset(seed=seed)
        if first and self.aec.seed is not None:
            start_opponents(self.opponents, self.aec.variant, self.aec.seed)
        seat = self.aec.episode % self.aec.num_players if self.fixed_seat is None else self.fixed_seat
        self.agent = self.aec.possible_agents[seat]
        self._play_others()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the learner's decision, and play up to its next one or the end.

        Raises:
            IllegalActionError: `action` is not in the action space, the game is over, an opponent chose an illegal
                action, or an opponent has failed in this game before. Whatever an opponent raises passes through;
                after that only `reset` goes on.
            AssertionError: before the first `reset`.
        """
        if self._broken:
            raise IllegalActionError("an opponent has failed in this game: reset() comes next")
        if self.aec.episode >= 0 and self.aec.terminations[self.agent]:
            raise IllegalActionError("the game is over: reset() comes next")
        illegal: dict[str, Any] = {}
        try:
            self.aec.step(action)
        except ActionOutOfBoundsError:
            raise
        except IllegalActionError:
            self.aec.forfeit(warn=False)
            illegal["illegal_action"] = int(action)
        self._play_others()
        reward, over = self.aec.rewards[self.agent], self.aec.terminations[self.agent]
        return self._observation(), reward, over, False, {**self._info(), **illegal}

    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions, bool [A]. sb3-contrib looks for a method of this name."""
        return self.aec.observe(self.agent)["action_mask"].astype(np.bool_)

    def render(self) -> Any:
        """Show the game as the learner sees it, in the render mode. `SiberiaAECEnv.render` says what comes back.

        Raises:
            MissingExtraError: the render mode is `"rgb_array"`, and the extra `pictures` is not installed.
            ConfigurationError: the game has no pictures, and the render mode asks for one.
            AssertionError: before the first `reset`.
        """
        return self.aec.rendered(self.render_mode, self.agent)

    def _play_others(self) -> None:
        aec = self.aec
        self._broken = True  # until the opponents have played: the next move of the learner would not be its own
        while not aec.terminations[self.agent] and aec.agent_selection != self.agent:
            distance = (aec.possible_agents.index(aec.agent_selection) - self.seat) % aec.num_players
            aec.step(self._ask(self.opponents[distance - 1]))
        self._broken = False
        if self.render_mode == "human":
            self.render()

    def _ask(self, opponent: Opponent) -> Any:
        """What `opponent` does on its turn."""
        if is_player(opponent):
            return opponent.act(self.aec.view())
        seen = self.aec.observe(self.aec.agent_selection)
        if callable(opponent):
            return opponent(seen["observation"], seen["action_mask"])
        legal = np.flatnonzero(seen["action_mask"])
        return int(legal[int(self.np_random.random() * len(legal))])

    def _observation(self) -> Observation:
        return self.aec.observe(self.agent)

    def _info(self) -> dict[str, Any]:
        return {**self.aec.infos[self.agent], "seat": self.seat}


def check_seat(seat: Any, players: int) -> None:
    """Raise `ConfigurationError` unless `seat` is one of `players` seats, or None for every seat in turn."""
    if seat is not None and (isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < players):
        raise ConfigurationError(f"seat: {seat!r} is not None or a whole number from 0 to {players - 1}")
