"""One game of any kind, stepped by the names of its actions: what the tests of both games build on."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from siberia_env.core import engine
from siberia_env.game import Game, Variant
from siberia_env.position import Position

PLAYER_COUNTS = (2, 3, 4)


class GameTable:
    """One game, stepped by the names of its actions. Refuses what is not legal.

    Chance outcomes come from the game's generator, unless the game was opened with `open`: then each waits for
    `force`.
    """

    game: ClassVar[Game]

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.position = Position.from_states(variant, variant.new_states())
        self.states = self.position.states
        self.chance_waits = False
        self._observation = np.zeros(self.game.observation_size, np.float32)
        self._mask = np.zeros(self.game.num_actions, np.int8)

    @classmethod
    def deal(cls, num_players: int = 2, rules: Any = None, components: Any = None, seed: int = 0) -> Self:
        """A game dealt from `seed`."""
        table = cls(cls.game.variant(num_players, rules, components))
        table.position.deal(seed)
        return table

    @classmethod
    def open(cls, num_players: int = 2, rules: Any = None, components: Any = None) -> Self:
        """A game whose setup, like each chance outcome after it, waits for `force`."""
        table = cls(cls.game.variant(num_players, rules, components))
        import_module(cls.game.chronicle).open_box(table.variant, table.states, 0, np.uint64(1))
        table.chance_waits = True
        return table

    def force(self, outcome: Sequence[int]) -> Self:
        """Settle the chance outcome that is due, given in the game's own numbers (see its kernel `force`)."""
        self.position.settle_chance(outcome)
        return self

    @property
    def state(self) -> Any:
        """The state record."""
        return self.states[0]

    @property
    def player(self) -> int:
        """Whose turn it is; where chance is due or the game is over, whom the state names."""
        return int(engine.current_player_at(self.variant.rulesets, self.states, 0))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.position.is_terminal()

    @property
    def hit_limit(self) -> bool:
        """Whether the limit of turns or rounds ended the game."""
        return self.position.has_hit_limit()

    def copy(self) -> Self:
        """An independent table with the same position."""
        other = type(self)(self.variant)
        other.states[0] = self.states[0]
        other.chance_waits = self.chance_waits
        return other

    def mask(self) -> np.ndarray[Any, Any]:
        """The mask, int8, one entry an action."""
        count = engine.legal_at(self.variant.rulesets, self.states, 0, self._mask)
        assert count == self._mask.sum()
        return self._mask.copy()

    def legal(self) -> list[str]:
        """The names of all legal actions, in action order."""
        return self.position.legal_action_names()

    def step(self, action: int) -> int:
        """Take the action of that number; what `engine.step_at` returns, if it settles chance."""
        rulesets, states = self.variant.rulesets, self.states
        if not self.chance_waits:
            return int(engine.step_at(rulesets, states, 0, action, self._observation, self._mask))
        if engine.first_illegal(rulesets, states, np.array([action]), 0, 1) == 0:
            return engine.ILLEGAL
        engine.advance_at(rulesets, states, 0, action)
        return engine.FINISHED if self.over else self.player

    def play(self, *names: str) -> Self:
        """Take the named actions one after the other."""
        for name in names:
            assert self.step(self.variant.action_number(name)) != engine.ILLEGAL, (
                f"{name!r} is refused; legal: {self.legal()}"
            )
        return self

    def refuses(self, name: str) -> bool:
        """Whether the named action is refused; then nothing has changed."""
        before = self.states.tobytes()
        assert self.step(self.variant.action_number(name)) == engine.ILLEGAL, f"{name!r} is taken"
        assert self.states.tobytes() == before
        return True

    def scores(self) -> list[int]:
        """Every player's score as of now, thousands."""
        return [int(score) for score in self.position.totals()]

    def observe(self, player: int) -> np.ndarray[Any, Any]:
        """What `player` sees."""
        observation = np.full(self.game.observation_size, np.nan, np.float32)
        engine.observe_at(self.variant.rulesets, self.states, 0, player, observation)
        return observation

    def observe_hidden(self) -> np.ndarray[Any, Any]:
        """What nobody sees."""
        observation = np.full(self.game.hidden_size, np.nan, np.float32)
        engine.observe_hidden_at(self.variant.rulesets, self.states, 0, observation)
        return observation

    def determinized(self, player: int, generator: int) -> Self:
        """The same table with what `player` can't know dealt anew."""
        other = self.copy()
        engine.determinize_at(self.variant.rulesets, other.states, 0, player, np.uint64(generator))
        return other

    def play_at_random(self, rng: np.random.Generator, decisions: int = 100_000) -> Self:
        """Take random legal actions, at most so many."""
        for _ in range(decisions):
            if self.over:
                break
            self.step(int(rng.choice(np.flatnonzero(self.mask()))))
        return self


def check_mask(table: GameTable) -> None:
    """The mask is what `is_legal` says of every number, empty only at the end; illegal ones change nothing."""
    rulesets, states, actions = table.variant.rulesets, table.states, table.game.num_actions
    mask = np.full(actions, 7, np.int8)
    count = engine.legal_at(rulesets, states, 0, mask)
    assert set(mask.tolist()) <= {0, 1}
    assert count == mask.sum()
    assert (count == 0) == table.over
    far = 127, 128, 255, 256, 2**31, 2**32 + 2, 2**62, engine.NO_ACTION, -(2**32) + 2, -(2**62)
    asked = np.array([*range(-3, actions + 4), *(number for number in far if not 0 <= number < actions)])
    observation, untouched = np.zeros(table.game.observation_size, np.float32), np.full(actions, 7, np.int8)
    before = states.tobytes()
    for index, action in enumerate(asked.tolist()):
        wanted = 0 <= action < actions and bool(mask[action])
        assert (engine.first_illegal(rulesets, states, asked[index:], 0, 1) == 1) == wanted, action
        if not wanted and action != engine.NO_ACTION:  # which asks for no step at all
            assert engine.step_at(rulesets, states, 0, action, observation, untouched) == engine.ILLEGAL
    assert states.tobytes() == before
    assert not observation.any()
    assert np.all(untouched == 7)
