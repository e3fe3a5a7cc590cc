"""Many one-seat games at once, for `gymnasium.make_vec("siberia/Card-v0", num_envs=1024)`: no processes, one array.

Each row is the game that `siberia_env.gym.SiberiaEnv` plays under a seed of its own. All rows move together in
compiled code. An opponent is asked once for all rows in which it is on turn: agents with `act_batch` answer a batch
of views at once, and random play is a kernel.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from siberia_env import pictures
from siberia_env.aec import DRAWN, ILLEGAL_REWARD, RENDER_MODES, SiberiaAECEnv, render_modes
from siberia_env.core import engine, rewards
from siberia_env.core.rng import check_seed
from siberia_env.errors import ActionOutOfBoundsError, ConfigurationError, IllegalActionError, RenderModeError
from siberia_env.game import Game, States, block_slices, copy_states, find_game
from siberia_env.gym import Observation, check_seat
from siberia_env.opponents import Opponent, find_opponents, is_player, start_opponents
from siberia_env.position import Position
from siberia_env.seeds import derived_seed
from siberia_env.vector import MOST_NAMED, Step
from siberia_env.view import REPRESENTATIVE, BatchView

Rows = NDArray[np.int64]

RANDOM_PLAY = 1  #: the stream of seeds for opponents that play at random (`OPPONENTS` is another)
HUMAN = "human"  #: the one render mode of a single game that a batch doesn't have: nobody reads so many texts


class SiberiaVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """A batch of one seat's games against given opponents, as a vector environment of Gymnasium.

    Observations, rewards, terminations and infos are those of a `SyncVectorEnv` over `SiberiaEnv`, row by row, in all
    three autoreset modes. `reset(seed=s)` gives row i the seed s + i. Two things differ: opponents that play at random
    (None) draw from one stream for the whole batch, and an agent is asked about many games in one call.

    Attributes:
        variant: the game with its players, rules and components.
        opponents: who sits after the learner, in order.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as in Gymnasium
        "render_modes": [mode for mode in RENDER_MODES if mode != HUMAN],
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        game: str | Game = "card",
        num_players: int = 2,
        opponents: str | Opponent | Sequence[str | Opponent] = None,
        seat: int | None = 0,
        rules: Any = None,
        components: Any = None,
        reward: str = "win",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        """Set up the games; `reset` deals the first ones.

        Args:
            num_envs: number of games.
            game: `"card"` or `"board"`.
            num_players: 2 to 4.
            opponents: as for `SiberiaEnv`.
            seat: the learner's seat, from 0. With None it moves on by one each game.
            rules: a mapping of the game's options, or for the card game an edition's name.
            components: the path of a component file, its content, or a `Components` object.
            reward: `"win"`, `"margin"` or `"score"` (`rewards.reward_of`).
            render_mode: what `render` returns for each row: `"ansi"` a text, `"svg"` an SVG document, `"rgb_array"`
                its pixels.
            autoreset_mode: when the next game of a row is dealt, as for `gymnasium.vector.SyncVectorEnv`.

        Raises:
            ConfigurationError: an option is invalid, or there is no such agent.
            ModelError: an opponent can't play this game.
        """
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ConfigurationError(f"num_envs: {num_envs!r} is not a whole number from 1 up")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise ConfigurationError(f"autoreset_mode: {autoreset_mode!r} is none of {modes}") from None
        self.variant = variant = find_game(game).variant(num_players, rules, components)
        shown = [mode for mode in render_modes(variant.game) if mode != HUMAN]
        if render_mode is not None and render_mode not in shown:
            raise RenderModeError(f"render_mode: a batch has no {render_mode!r}; there are {', '.join(shown)}")
        check_seat(seat, variant.num_players)
        self.num_envs = count = int(num_envs)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_modes": shown, "autoreset_mode": self.autoreset_mode}
        self.fixed_seat = seat
        self.opponents: list[Opponent] = find_opponents(opponents, variant)

        single = SiberiaAECEnv(variant.game, num_players, rules, components, reward)
        self.single_observation_space = single.observation_space("player_0")
        self.single_action_space = single.action_space("player_0")
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)

        self._reward_kind = rewards.reward_number(reward)
        self._states = variant.new_states(count)
        self._bytes = self._states.view(np.dtype((np.void, self._states.dtype.itemsize)))  # copied whole, not by field
        self._seeds = np.zeros(count, np.uint64)
        self._episodes = np.full(count, -1, np.int64)
        self._learner = np.zeros(count, np.int64)  # the learner's seat
        # Observations are not kept: they are written only where somebody sees them.
        self._shown = Step.blank(count, variant, observations=False)  # what each row shows, and its last results
        self._scratch = Step.blank(
            count, variant, observations=False
        )  # what a step of some rows writes, close together
        self._dummies = np.zeros((2, count), np.int64)  # numbers of games and lengths that nobody reads
        self._over = np.zeros(count, np.bool_)
        self._illegal = np.full(count, -1, np.int64)  # the action that forfeited the last game
        self._random_seed = np.uint64(0)
        self._draws = 0
        self._broken = False

    @property
    def observation_blocks(self) -> dict[str, slice]:
        """Where each block lies in an observation, by name."""
        return block_slices(self.variant.game.blocks)

    @property
    def players(self) -> list[str]:
        """The names of the seats in `scores` and `winners`: `player_0`, `player_1`, ..."""
        return [f"player_{seat}" for seat in range(self.variant.num_players)]

    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions in each row, bool [N, A]."""
        return self._shown.mask.astype(np.bool_)

    # ------------------------------------------------------------ Gymnasium

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a game in every row, and play up to the learner's first decision.

        Args:
            seed: row i gets the seed `seed + i`, or `seed[i]`, and its first game. Without a seed it gets its next
                game.
            options: `{"reset_mask": bool [N]}` resets only some rows.

        Raises:
            ConfigurationError: a seed or the mask is invalid.
        """
        rows = self._rows_to_reset(options)
        seeds = self._checked_seeds(seed)
        given = next((one for one in seeds if one is not None), None)
        if given is not None or (self._episodes < 0).all():
            first = secrets.randbits(64) if given is None else given
            self._random_seed, self._draws = np.uint64(derived_seed(first, RANDOM_PLAY, 0)), 0
            start_opponents(self.opponents, self.variant, first)
        super().reset(seed=None if given is None else int(given))
        for row in rows.tolist():
            own = seeds[row]
            if own is not None or self._episodes[row] < 0:
                self._seeds[row] = secrets.randbits(64) if own is None else own
                self._episodes[row] = -1
        self._broken = True  # until the opponents have played
        self._deal(rows)
        self._play_others(rows)
        self._broken = False
        return self._observations(), self._infos(rows)

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take the learner's decision in each row, and play up to its next one or the end.

        In the mode "NextStep", a row whose game has ended gets its next game instead; its action is not looked at.

        Raises:
            ActionOutOfBoundsError: an action is not in the action space; no game has moved.
            IllegalActionError: a game is over in the mode "Disabled", an opponent chose an illegal action, or an
                opponent has failed before. Whatever an opponent raises passes through; after that only `reset` goes on.
            AssertionError: before the first `reset`.
        """
        if self._broken:
            raise IllegalActionError("an opponent has failed in these games: reset() comes next")
        if (self._episodes < 0).any():
            raise AssertionError("reset() needs to be called before step")
        over = self._over.copy()
        if over.any() and self.autoreset_mode != AutoresetMode.NEXT_STEP:
            raise IllegalActionError(f"the games in rows {_named(np.flatnonzero(over))} are over: reset() comes next")
        chosen = self._checked_actions(actions, ~over)
        live = np.flatnonzero(~over)
        legal = self._shown.mask[live, chosen[live]] > 0
        self._broken = True
        self._forfeit(live[~legal], chosen)
        self._take(live[legal], chosen[live[legal]])
        self._deal(np.flatnonzero(over))
        every = np.arange(self.num_envs)
        self._play_others(every)
        terminated = self._over.copy()
        ended = np.flatnonzero(terminated)
        paid = np.zeros(self.num_envs, np.float64)
        paid[ended] = self._shown.reward[ended, self._learner[ended]]
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and len(ended):
            infos = self._final_infos(ended)
            self._deal(ended)
            self._play_others(ended)
        self._broken = False
        return (
            self._observations(),
            paid,
            terminated,
            np.zeros(self.num_envs, np.bool_),
            {**infos, **self._infos(every)},
        )

    def render(self) -> tuple[Any, ...] | None:
        """Show the game of each row as the learner sees it, in the render mode.

        Returns:
            A text, an SVG document or pixels (uint8 [height, width, 3]) for each row; None without a render mode.

        Raises:
            MissingExtraError: the render mode is `"rgb_array"`, and the extra `pictures` is not installed.
            AssertionError: before the first `reset`.
        """
        if (self._episodes < 0).any():
            raise AssertionError("reset() needs to be called before render")
        if self.render_mode is None:
            return None
        return tuple(self._shown_row(row) for row in range(self.num_envs))

    def _shown_row(self, row: int) -> Any:
        position = Position.from_states(self.variant, copy_states(self._states, slice(row, row + 1)))
        seat = int(self._learner[row])
        if self.render_mode not in DRAWN:
            return position.observation_string(seat)
        drawn = position.picture(seat)
        return drawn if self.render_mode == "svg" else pictures.rgb_array(drawn)

    # ------------------------------------------------------------ what is given

    def _rows_to_reset(self, options: dict[str, Any] | None) -> Rows:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ConfigurationError(f"reset_mask: expected a bool array with {self.num_envs} entries, one a row")
        if not mask.any():
            raise ConfigurationError("reset_mask: it names no row")
        return np.flatnonzero(mask)

    def _checked_seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
            if len(seed) != self.num_envs:
                raise ConfigurationError(f"seed: {len(seed)} seeds for {self.num_envs} rows")
            return [None if one is None else int(check_seed(one)) for one in seed]
        first = int(check_seed(seed))
        check_seed(first + self.num_envs - 1)
        return [first + row for row in range(self.num_envs)]

    def _checked_actions(self, actions: Any, looked_at: NDArray[np.bool_]) -> Rows:
        """The actions as int64 [N]; 0 where nobody looks at them."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ActionOutOfBoundsError(
                f"action is not in action space: expected {self.num_envs} integers, one a row; got {given.dtype} of "
                f"shape {given.shape}"
            )
        chosen = np.where(looked_at, given, 0).astype(np.int64)
        most = self.variant.game.num_actions
        wrong = np.flatnonzero((chosen < 0) | (chosen >= most))
        if len(wrong):
            raise ActionOutOfBoundsError(
                f"action is not in action space: rows {_named(wrong)}; the actions are 0 to {most - 1}"
            )
        return chosen

    # ------------------------------------------------------------ the games

    def _deal(self, rows: Rows) -> None:
        """Deal the next game of each row."""
        rulesets, shown = self.variant.rulesets, self._shown
        self._episodes[rows] += 1
        self._over[rows] = False
        self._illegal[rows] = -1
        episodes = self._episodes[rows]
        self._learner[rows] = episodes % self.variant.num_players if self.fixed_seat is None else self.fixed_seat
        unread = np.zeros(self.variant.game.observation_size, np.float32)
        for row, episode in zip(rows.tolist(), episodes.tolist(), strict=True):
            engine.deal_at(rulesets, self._states, row, self._seeds[row], 0, episode)
            shown.player[row] = engine.step_at(rulesets, self._states, row, engine.NO_ACTION, unread, shown.mask[row])
        shown.num_legal[rows] = shown.mask[rows].sum(axis=1)

    def _take(self, rows: Rows, actions: Rows) -> None:
        """Take a legal action in each of `rows`. A game that ends stays as it ended.

        The batch kernel deals the next game over one that has ended. So it works on copies, and what has ended is
        played once more from the state before.
        """
        if not len(rows):
            return
        count, shown = len(rows), self._shown
        moved = copy_states(self._states, rows)
        new = engine.Rows(*(getattr(self._scratch, name)[:count] for name in engine.Rows._fields))
        new.terminated[:] = True  # makes the kernel clear every row's reward
        episodes, lengths = self._dummies[:, :count]
        slots = engine.Slots(moved, episodes, lengths)
        engine.step_batch(self.variant.rulesets, slots, 0, count, actions, np.uint64(0), self._reward_kind, new)
        ended = np.flatnonzero(new.terminated)
        kept: Any = np.flatnonzero(~new.terminated) if len(ended) else slice(None)
        at = rows[kept]
        self._bytes[at] = moved.view(self._bytes.dtype)[kept]
        for name in ("mask", "num_legal", "player"):
            getattr(shown, name)[at] = getattr(new, name)[kept]
        at = rows[ended]
        for name in ("reward", "final_scores", "final_winners", "final_hit_limit"):
            getattr(shown, name)[at] = getattr(new, name)[ended]
        for row, action in zip(at.tolist(), actions[ended].tolist(), strict=True):
            engine.play_at(self.variant.rulesets, self._states, row, action, True)
        self._end(at)

    def _end(self, rows: Rows) -> None:
        """Note that the games in `rows` are over."""
        self._shown.mask[rows] = 0
        self._over[rows] = True

    def _forfeit(self, rows: Rows, chosen: Rows) -> None:
        """End the games in which the learner chose an illegal action."""
        for row in rows.tolist():
            engine.scores_at(self.variant.rulesets, self._states, row, self._shown.final_scores[row])
            self._shown.final_winners[row] = 0
            self._shown.final_hit_limit[row] = False
            self._shown.reward[row] = 0
            self._shown.reward[row, self._learner[row]] = ILLEGAL_REWARD
            self._illegal[row] = chosen[row]
        self._end(rows)

    def _play_others(self, rows: Rows) -> None:
        """Let the opponents play in `rows` until the learner is on turn there, or the game is over."""
        while len(rows := rows[(self._shown.player[rows] != self._learner[rows]) & ~self._over[rows]]):
            self._take(rows, self._answers(rows))

    def _answers(self, rows: Rows) -> Rows:
        """What the opponents on turn in `rows` do."""
        actions = np.zeros(len(rows), np.int64)
        distance = (self._shown.player[rows] - self._learner[rows]) % self.variant.num_players - 1
        asked: list[Opponent] = []
        for opponent in self.opponents:
            if any(opponent is other for other in asked):
                continue
            asked.append(opponent)
            seats = [number for number, other in enumerate(self.opponents) if other is opponent]
            at = np.flatnonzero(np.isin(distance, seats)) if len(seats) < len(self.opponents) else np.arange(len(rows))
            if len(at):
                actions[at] = self._ask(opponent, rows[at])
        return actions

    def _ask(self, opponent: Opponent, rows: Rows) -> Rows:
        """The legal actions that `opponent` chooses in `rows`, where it is on turn."""
        shown = self._shown
        mask = shown.mask[rows]
        if opponent is None:
            actions = np.zeros(len(rows), np.int64)
            engine.sample_batch(mask, shown.num_legal[rows], self._random_seed, self._draws, actions)
            self._draws += 1
            return actions
        if is_player(opponent):
            states, seats = copy_states(self._states, rows), shown.player[rows]
            seen = self._observed(states, seats)
            engine.determinize_batch(self.variant.rulesets, states, seats, REPRESENTATIVE)
            views = BatchView(self.variant, seen, mask, seats, states)
            at_once = getattr(opponent, "act_batch", None)
            answers = at_once(views) if at_once else [opponent.act(views.view(row)) for row in range(len(rows))]
        else:
            assert callable(opponent)
            seen = self._observed(copy_states(self._states, rows), shown.player[rows])
            answers = [opponent(seen[place], mask[place].copy()) for place in range(len(rows))]
        return self._checked_answers(opponent, rows, mask, np.asarray(answers))

    def _checked_answers(self, opponent: Opponent, rows: Rows, mask: NDArray[np.int8], answers: Any) -> Rows:
        name = getattr(opponent, "name", getattr(opponent, "__name__", type(opponent).__name__))
        if answers.shape != (len(rows),) or answers.dtype.kind not in "iu":
            raise ActionOutOfBoundsError(
                f"opponent {name}: expected {len(rows)} action numbers; got {answers.dtype} of shape {answers.shape}"
            )
        actions = answers.astype(np.int64)
        known = (actions >= 0) & (actions < mask.shape[1])
        wrong = np.flatnonzero(~known | (mask[np.arange(len(rows)), np.where(known, actions, 0)] == 0))
        if len(wrong):
            row, action = int(rows[wrong[0]]), int(actions[wrong[0]])
            raise IllegalActionError(f"opponent {name}: action {action} is not legal now in row {row}")
        return actions

    # ------------------------------------------------------------ what is shown

    def _observed(self, states: States, seats: NDArray[Any]) -> NDArray[np.float32]:
        """What `seats[i]` sees of `states[i]`, float32 [n, O]."""
        observation = np.empty((len(states), self.variant.game.observation_size), np.float32)
        engine.observe_batch(self.variant.rulesets, states, seats.astype(np.int64), observation)
        return observation

    def _observations(self) -> Observation:
        return {
            "observation": self._observed(self._states, self._learner),
            "action_mask": self._shown.mask.copy(),
        }

    def _infos(self, rows: Rows) -> dict[str, Any]:
        """The infos of `rows`, each an array with an entry a row and one that says which rows have it."""
        every = len(rows) == self.num_envs
        there = np.zeros(self.num_envs, np.bool_)
        there[rows] = True
        mask = self._shown.mask.copy() if every else np.where(there[:, None], self._shown.mask, np.int8(0))
        infos: dict[str, Any] = {"action_mask": mask, "_action_mask": there}
        ended = self._over & there
        if ended.any():
            infos.update(self._results(ended))
        infos.update(seat=np.where(there, self._learner, 0), _seat=there.copy())
        return infos

    def _results(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """How the games in the rows `ended` (bool [N]) have ended."""
        shown, rows = self._shown, np.flatnonzero(ended)
        scores: dict[str, Any] = {}
        totals = np.where(ended[:, None], shown.final_scores, 0) * self.variant.game.score_unit
        for seat, player in enumerate(self.players):
            scores |= {player: totals[:, seat].copy(), f"_{player}": ended.copy()}
        winners = np.full(self.num_envs, None, object)
        for row in rows.tolist():
            winners[row] = [self.players[seat] for seat in np.flatnonzero(shown.final_winners[row])]
        results = {
            "scores": scores,
            "_scores": ended.copy(),
            "winners": winners,
            "_winners": ended.copy(),
            "hit_limit": ended & shown.final_hit_limit,
            "_hit_limit": ended.copy(),
        }
        illegal = ended & (self._illegal >= 0)
        if illegal.any():
            results |= {"illegal_action": np.where(illegal, self._illegal, 0), "_illegal_action": illegal}
        return results

    def _final_infos(self, rows: Rows) -> dict[str, Any]:
        """What the rows showed in which a game has just ended, before the next one is dealt there."""
        there = np.zeros(self.num_envs, np.bool_)
        there[rows] = True
        observations = np.full(self.num_envs, None, object)
        seen = self._observed(copy_states(self._states, rows), self._learner[rows])
        for place, row in enumerate(rows.tolist()):
            observations[row] = {"observation": seen[place], "action_mask": self._shown.mask[row].copy()}
        return {
            "final_obs": observations,
            "_final_obs": there,
            "final_info": self._infos(rows),
            "_final_info": there.copy(),
        }


def _named(rows: Rows) -> str:
    """The numbers of some rows, for an error."""
    more = ", ..." if len(rows) > MOST_NAMED else ""
    return ", ".join(map(str, rows[:MOST_NAMED].tolist())) + more
