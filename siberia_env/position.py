"""One game as an object, in OpenSpiel's words: deal, look, act, settle chance, copy, sample what a seat can't see.

`new_position("card", num_players=3, seed=7)` deals a game. A `Position` is a thin skin over one state record. It keeps
nothing that could go stale: every answer is computed from the record when you ask, by the same compiled kernels that
step a batch, and costs about a microsecond.
"""

from __future__ import annotations

import operator
import secrets
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from siberia_env import pictures
from siberia_env.common.notation import chronicle_of, make_alike
from siberia_env.core import engine, rewards
from siberia_env.core.engine import CHANCE, TERMINAL
from siberia_env.core.rng import check_seed, derive
from siberia_env.errors import ConfigurationError, IllegalActionError
from siberia_env.game import Game, States, Variant, block_slices, copy_states, find_game
from siberia_env.view import REPRESENTATIVE, View, view_state

ALIGNMENT = 8  #: bytes; numpy takes a record to be aligned anywhere, compiled code does not
DIGEST = 16  #: bytes of the number that tells information states apart


class Position:
    """One game: a state record, and the variant that it belongs to.

    By default chance settles itself: `Position(variant, seed)` is dealt, and `apply_action` goes on to the next
    decision or to the end, with outcomes from the generator inside the record. With `explicit_chance=True` the game
    stops wherever an outcome is due, before the deal too, as in OpenSpiel: there `is_chance_node()` is true, nobody may
    act, and `settle_chance()` comes next. A chance node has more outcomes than anybody could list (orders of a deck),
    so it is not settled by an action: an outcome is drawn from the generator, or given whole.

    A position has no history. `siberia_env.records` keeps one.

    Attributes:
        variant: the game, with its players, rules and components.
        states: the state, an array of one record; whatever writes to it changes the position.
    """

    def __init__(
        self,
        variant: Variant,
        seed: int | None = None,
        *,
        slot: int = 0,
        episode: int = 0,
        explicit_chance: bool = False,
    ) -> None:
        """Deal the game that `seed` (0 .. 2**64 - 1; None draws one from the operating system) gives.

        Args:
            variant: what is played.
            seed: together with `slot` and `episode` it decides every chance outcome.
            slot: the row of a `vector.VectorEnv` that deals the same game; records and environments deal slot 0.
            episode: the number of the game in that slot.
            explicit_chance: whether the game stops where a chance outcome is due.

        Raises:
            ConfigurationError: the seed is no such number.
        """
        self._hold(variant, variant.new_states(), explicit_chance)
        self.deal(seed, slot, episode)

    @classmethod
    def from_states(cls, variant: Variant, states: States, *, explicit_chance: bool = False) -> Self:
        """A position around an array of one state that exists already, such as `batch[i : i + 1]` or a sample.

        The array is not copied: what the position does happens in it. `clone` the position for one of its own.

        Raises:
            ConfigurationError: `states` is no writable array of one state of that game.
        """
        dtype = variant.game.state_dtype
        if not isinstance(states, np.ndarray) or states.shape != (1,) or states.dtype != dtype:
            raise ConfigurationError(f"states: expected an array of one state of {variant.game.title}")
        if not states.flags.writeable or states.ctypes.data % ALIGNMENT:
            raise ConfigurationError("states: the array is read-only or not aligned; give a copy of it")
        position = cls.__new__(cls)
        position._hold(variant, states, explicit_chance)
        return position

    def _hold(self, variant: Variant, states: States, explicit_chance: bool) -> None:
        self.variant = variant
        self.states = states
        self._settles = not explicit_chance
        self._rulesets = variant.rulesets
        self._mask = np.zeros(variant.game.num_actions, np.int8)  # `legal_actions` works in it

    def deal(self, seed: int | None = None, slot: int = 0, episode: int = 0) -> None:
        """Start another game in the same record; see `Position`."""
        checked = np.uint64(secrets.randbits(64)) if seed is None else check_seed(seed)
        if self.explicit_chance:
            chronicle_of(self.variant.game).open_box(self.variant, self.states, 0, derive(checked, slot, episode))
        else:
            engine.deal_at(self._rulesets, self.states, 0, checked, slot, episode)

    # ------------------------------------------------------------ whose turn it is

    @property
    def explicit_chance(self) -> bool:
        """Whether the game stops where a chance outcome is due."""
        return not self._settles

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return self.variant.num_players

    def current_player(self) -> int:
        """The seat on turn; `CHANCE` (-1) where a chance outcome is due, `TERMINAL` (-4) when the game is over."""
        return int(engine.turn_at(self._rulesets, self.states, 0))

    def is_chance_node(self) -> bool:
        """Whether a chance outcome is due: only with `explicit_chance`, or around a state that was left so."""
        return bool(engine.is_chance_at(self._rulesets, self.states, 0))

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(engine.is_over_at(self._rulesets, self.states, 0))

    def has_hit_limit(self) -> bool:
        """Whether the game is over because it reached its limit of turns or rounds."""
        return bool(engine.has_hit_limit_at(self._rulesets, self.states, 0))

    # ------------------------------------------------------------ actions

    def legal_actions(self) -> list[int]:
        """The numbers of the actions that the player on turn may take, in order; none if nobody is on turn."""
        engine.legal_at(self._rulesets, self.states, 0, self._mask)
        return self._mask.nonzero()[0].tolist()

    def action_mask(self) -> NDArray[np.int8]:
        """The same as int8 [num_actions], 1 for legal actions; an array of your own."""
        mask = np.empty_like(self._mask)
        engine.legal_at(self._rulesets, self.states, 0, mask)
        return mask

    def legal_action_names(self) -> list[str]:
        """The names of the legal actions, in action order."""
        names = self.action_names()
        return [names[action] for action in self.legal_actions()]

    def action_names(self) -> tuple[str, ...]:
        """Every action's name in this position, in action order."""
        return self.variant.names_in_play(self.states, 0)

    def action_to_string(self, action: int) -> str:
        """The name of the action of that number, as this position's records have it.

        Raises:
            IllegalActionError: there is no such action.
        """
        return self.action_names()[self._number(action)]

    def string_to_action(self, name: str) -> int:
        """The number of the action called `name` in this position, legal or not.

        Raises:
            IllegalActionError: no action is called so here.
        """
        for names in (self.action_names(), self.variant.action_names):
            if name in names:
                return names.index(name)
        raise self._illegal(name, "no action is called so here")

    def check_legal(self, number: Any) -> int:
        """`number` as an int, if it is the number of a legal action.

        Raises:
            IllegalActionError: it is not, or no whole number at all.
        """
        action = _whole_number(number)
        if action not in self.legal_actions():
            raise self._illegal(number)
        return action

    def apply_action(self, action: int | str) -> None:
        """Take a legal action, given by number or by name; chance settles itself unless `explicit_chance`.

        Raises:
            IllegalActionError: it is not legal here, or no action at all. The position is as it was.
        """
        number = action if type(action) is int else self._chosen(action)
        if not 0 <= number < len(self._mask) or not engine.play_at(
            self._rulesets, self.states, 0, number, self._settles
        ):
            raise self._illegal(action)

    def _chosen(self, action: Any) -> int:
        """The number of an action that may be anything; -1 for what is none."""
        if isinstance(action, str):
            return self.string_to_action(action)
        return _whole_number(action)

    def _number(self, action: Any) -> int:
        if not 0 <= (number := _whole_number(action)) < len(self._mask):
            raise IllegalActionError(f"action {_one_line(action)}: the actions are 0 to {len(self._mask) - 1}")
        return number

    def _illegal(self, action: Any, fault: str = "not legal") -> IllegalActionError:
        """The error that says what is wrong with `action` here, and what may be done instead."""
        player = self.current_player()
        if player == TERMINAL:
            why = "the game is over"
        elif player == CHANCE:
            why = "a chance outcome is due; settle_chance() comes first"
        else:
            why = f"{fault}; player {player} may: {', '.join(self.legal_action_names())}"
        return IllegalActionError(f"action {_one_line(action)}: {why}")

    # ------------------------------------------------------------ chance

    def settle_chance(self, outcome: Any = None) -> None:
        """Settle the chance outcome that is due: from the generator, or as `outcome` says.

        Args:
            outcome: integers in the game's own order (`Variant.force`); None draws it from the record's generator.

        Raises:
            ConfigurationError: no outcome is due, or not this one can be. The position is as it was.
        """
        if outcome is not None:
            self.variant.force(self.states, 0, outcome)
        elif self.is_chance_node():
            engine.resolve_at(self._rulesets, self.states, 0)
        else:
            raise ConfigurationError("settle_chance: no chance outcome is due")

    def play_at_random(self, seed: int) -> int:
        """Play on to the end of the game with random legal actions; gives how many.

        `seed` (0 .. 2**64 - 1) decides the actions. Chance comes from the record's generator.

        Raises:
            ConfigurationError: the seed is no such number.
        """
        generator = check_seed(seed)
        while self.is_chance_node():
            self.settle_chance()
        return int(engine.random_playout(self._rulesets, self.states, 0, self._mask, generator))

    # ------------------------------------------------------------ results

    def scores(self) -> list[int]:
        """Every player's score as it stands, in the game's own unit (`Game.score_unit`), as records have it."""
        unit = self.variant.game.score_unit
        return [int(total) * unit for total in self.totals()]

    def totals(self) -> NDArray[np.int64]:
        """The same in the points of the kernels (`Game.score_unit` is what one point counts); int64 [num_players]."""
        totals = np.zeros(self.variant.num_players, np.int64)
        engine.scores_at(self._rulesets, self.states, 0, totals)
        return totals

    def winners(self) -> list[int]:
        """The seats with the highest score, once the game is over; before that none."""
        if not self.is_terminal():
            return []
        scores = self.totals().tolist()
        return [player for player, score in enumerate(scores) if score == max(scores)]

    def returns(self, reward: str = "win") -> list[float]:
        """Every player's reward: zeros until the game is over, for rewards are paid once, at the end.

        Args:
            reward: `"win"`, `"margin"` or `"score"` (`rewards.reward_of`).

        Raises:
            ConfigurationError: there is no such reward.
        """
        kind, players = rewards.reward_number(reward), self.variant.num_players
        paid = np.zeros(players, np.float32)
        if self.is_terminal():
            totals, winners = self.totals(), np.zeros(players, np.int8)
            count = rewards.winner_flags(totals, players, winners)
            rewards.reward_of(kind, totals, winners, count, players, paid)
        return paid.tolist()

    # ------------------------------------------------------------ what a player sees

    @cached_property
    def observation_blocks(self) -> dict[str, slice]:
        """Where each block lies in `observation_tensor`, by name."""
        return block_slices(self.variant.game.blocks)

    def observation_tensor(self, player: int | None = None) -> NDArray[np.float32]:
        """What `player` (None: the one on turn) sees, as numbers; float32 [observation_size], an array of your own.

        Raises:
            ConfigurationError: there is no such player, or nobody is on turn.
        """
        observation = np.empty(self.variant.game.observation_size, np.float32)
        engine.observe_at(self._rulesets, self.states, 0, self._seat(player), observation)
        return observation

    def observation_string(self, player: int | None = None) -> str:
        """The game as `player` (None: the one on turn) sees it, in plain text.

        Raises:
            ConfigurationError: there is no such player, or nobody is on turn.
        """
        return self._text(self._seat(player))

    def picture(self, player: int | None = None) -> str:
        """The game as `player` (None: the one on turn) sees it, as an SVG document.

        Raises:
            ConfigurationError: there is no such player, nobody is on turn, or the game has no pictures.
        """
        return pictures.svg(self.variant, self.states, 0, self._seat(player))

    def _repr_svg_(self) -> str | None:
        """What a notebook shows: the game as the player on turn sees it; all of it where nobody is."""
        if not pictures.has_pictures(self.variant.game):
            return None
        viewer = None if self.current_player() < 0 else self.current_player()
        return pictures.svg(self.variant, self.states, 0, viewer)

    def information_state_string(self, player: int | None = None) -> str:
        """What `player` (None: the one on turn) knows: the game as it sees it, and a number that stands for the rest.

        Two positions of one variant have equal strings exactly if the player can't tell them apart as far as the
        record goes. The record keeps what a perfect memory knows of hidden cards and counters, and forgets the order of
        events that no longer matters; OpenSpiel's strings hold the whole history, these don't. Which of two equal
        cards or counters lies where makes no difference either. The number is a 128-bit hash of a sample of what the
        player can't know, drawn with the fixed seed of views. A sample holds all that the player knows, and depends on
        that and on the seed alone, so equal samples mean equal knowledge.

        Raises:
            ConfigurationError: there is no such player, or nobody is on turn.
        """
        seat = self._seat(player)
        alike = self.clone()
        make_alike(alike.variant, alike.states)
        known = blake2b(alike._sampled(seat, REPRESENTATIVE).tobytes(), digest_size=DIGEST).hexdigest()
        return f"{self._text(seat)}\ninformation state of player {seat}: {known}"

    def resample_from_infostate(self, player: int, seed: int) -> Self:
        """A position drawn from those that `player` can't tell from this one, with a generator of its own.

        `seed` (0 .. 2**64 - 1) decides which. It is what `view().sample(seed)` gives an agent; the pages on the games'
        rules tell from which distribution.

        Raises:
            ConfigurationError: there is no such player, or the seed is no such number.
        """
        return self._around(self._sampled(self._seat(player), check_seed(seed)))

    def view(self) -> View:
        """The decision that is due as the suite's agents are shown it: `agent.act(position.view())`.

        Raises:
            ConfigurationError: nobody is on turn.
        """
        return view_state(self.variant, self.states, 0)

    def _seat(self, player: int | None) -> int:
        if player is None:
            if (on_turn := self.current_player()) < 0:
                raise ConfigurationError("player: nobody is on turn; name a seat")
            return on_turn
        if not 0 <= (seat := _whole_number(player)) < self.num_players:
            raise ConfigurationError(f"player: no seat {_one_line(player)}; there are 0 to {self.num_players - 1}")
        return seat

    def _sampled(self, seat: int, generator: np.uint64) -> States:
        sampled = copy_states(self.states)
        engine.determinize_at(self._rulesets, sampled, 0, seat, generator)
        return sampled

    def _text(self, viewer: int | None) -> str:
        text: str = self.variant.game.room("render").ansi(self.variant, self.states, 0, viewer)
        return text

    def __str__(self) -> str:
        """The game with everything open."""
        return self._text(None)

    def __repr__(self) -> str:
        title, player = self.variant.game.title, self.current_player()
        return f"<{type(self).__name__} of {title}, {self.num_players} players, current player {player}>"

    # ------------------------------------------------------------ copies

    def clone(self) -> Self:
        """An independent position that goes on with the same chances."""
        return self._around(copy_states(self.states))

    def _around(self, states: States) -> Self:
        position = type(self).__new__(type(self))
        position._hold(self.variant, states, self.explicit_chance)
        return position

    def serialize(self) -> bytes:
        """The record's bytes; `Position.deserialize(variant, data)` makes a position of them again."""
        return self.states.tobytes()

    @classmethod
    def deserialize(cls, variant: Variant, data: bytes, *, explicit_chance: bool = False) -> Self:
        """The position whose `serialize` gave `data`.

        Each field must have a value that it can have in some game (`Game.check_states`). Whether the rules lead to the
        position is not checked.

        Raises:
            ConfigurationError: `data` is no position of that game.
        """
        dtype = variant.game.state_dtype
        if len(data) != dtype.itemsize:
            raise ConfigurationError(f"data: expected {dtype.itemsize} bytes; got {len(data)}")
        states = np.frombuffer(bytearray(data), dtype)
        variant.game.check_states(variant.num_players, states)
        return cls.from_states(variant, states, explicit_chance=explicit_chance)

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.variant, self.serialize(), self.explicit_chance)


def new_position(
    game: str | Game,
    num_players: int = 2,
    seed: int | None = None,
    rules: Any = None,
    components: Any = None,
    explicit_chance: bool = False,
) -> Position:
    """A new game.

    Args:
        game: `"card"` or `"board"`.
        num_players: 2 to 4.
        seed: 0 .. 2**64 - 1, decides every chance outcome; None draws one from the operating system.
        rules: a mapping of the game's options; of the card game also an edition's name.
        components: a component file, its content, or ready components.
        explicit_chance: whether the game stops where a chance outcome is due, before the deal too (see `Position`).

    Raises:
        ConfigurationError: one of these is invalid.
    """
    variant = find_game(game).variant(num_players, rules, components)
    return Position(variant, seed, explicit_chance=explicit_chance)


def _unpickled(kind: type[Position], variant: Variant, data: bytes, explicit_chance: bool) -> Position:
    return kind.deserialize(variant, data, explicit_chance=explicit_chance)


def _whole_number(value: Any) -> int:
    """`value` as an int, numpy's numbers too; -1 for what is no whole number."""
    if isinstance(value, bool):
        return -1
    try:
        return operator.index(value)
    except TypeError:
        return -1


def _one_line(value: Any) -> str:
    """`value`, which may be anything, for an error message."""
    try:
        return " ".join(repr(value).split())
    except Exception:  # the repr of somebody's object, or a number with too many digits to be written
        return f"of type {type(value).__name__}"
