"""Both games as the tests of what is written once for both see them: the fixture `case` runs a test over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from siberia_env.board.components import Components
from siberia_env.core import engine
from siberia_env.game import Game, States, Variant, find_game


@dataclass(frozen=True, repr=False)
class GameCase:
    """A game, and what a test of an adapter has to know of it.

    Attributes:
        name: `"card"` or `"board"`.
        gym_id: what `gymnasium.make` calls it.
        other_rules: options under which the game is another one than without any.
        short: options under which a game of two ends by its limit after some 40 decisions.
        medium: options under which a game ends by its limit, but with money made.
        medium_steps: decisions in which some of those games end, for any number of players.
        first: an action that is legal first of all in every game.
        not_yet: one that isn't.
        dealt: a field of the state that differs from deal to deal.
        score: the field of the state that holds the scores.
        level: everybody's score at the start, thousands.
        bad: options that are not to be had, with what the error says.
    """

    name: str
    gym_id: str
    other_rules: dict[str, Any]
    short: dict[str, Any]
    medium: dict[str, Any]
    medium_steps: int
    first: str
    not_yet: str
    dealt: str
    score: str
    level: int
    bad: tuple[tuple[dict[str, Any], str], ...]

    @property
    def module(self) -> ModuleType:
        """The module with `env` and `raw_env`."""
        return import_module(f"siberia_env.{self.name}_v0")

    @property
    def game(self) -> Game:
        """The game itself."""
        return find_game(self.name)


def _with_map(arrows: list[str], **areas: list[str]) -> dict[str, Any]:
    """The board game's box with another map."""
    return {**Components().as_json(), "arrows": arrows, "areas": areas}


CARD = GameCase(
    name="card",
    gym_id="siberia/Card-v0",
    other_rules={"edition": "oya"},
    short={"max_turns": 12},
    medium={"max_turns": 30},
    medium_steps=700,
    first="reveal 3",
    not_yet="draw 1",
    dealt="hand",
    score="score",
    level=1,
    bad=(
        ({"rules": "dpl"}, "no edition 'dpl'"),
        ({"rules": {"speed": 1}}, "no option 'speed'"),
        ({"components": {"workers": 10}}, "action_cards: expected an object"),
        ({"components": {}}, "action_cards: expected an object"),
    ),
)

BOARD = GameCase(
    name="board",
    gym_id="siberia/Board-v0",
    other_rules={"salesman_cards": True},
    short={"sides": "random", "max_rounds": 2},
    medium={"max_rounds": 8},
    medium_steps=2500,
    first="side Tokyo",
    not_yet="stop",
    dealt="lying",
    score="money",
    level=0,
    bad=(
        ({"rules": "first"}, "rules: expected a mapping of options"),
        (
            {"rules": {"edition": "dlp"}},
            "rules: no option 'edition'; the options are sides, salesman_cards, max_rounds",
        ),
        ({"rules": {"sides": "best"}}, "rules: sides: 'best' is not 'choose', 'random' or a list of 5 exchanges"),
        ({"rules": {"sides": ["Tokyo", "London"]}}, "rules: sides: expected 5 exchanges, one a tile"),
        (
            {"rules": {"sides": ["Tokyo", "London", "Sydney", "Shanghai", "Zurich"]}},
            r"rules: sides\[2\]: 'Sydney' is not on the tile of Shanghai and Toronto",
        ),
        ({"rules": {"salesman_cards": 1}}, "rules: salesman_cards: 1 is not true or false"),
        ({"rules": {"max_rounds": 0}}, "rules: max_rounds: 0 is not a whole number from 1"),
        ({"rules": {"max_rounds": 2.5}}, "rules: max_rounds: 2.5 is not a whole number"),
        ({"components": {"counters": {}}}, r"counters\.gas/logistician: missing"),
        ({"components": {}}, "counters: expected an object"),
        ({"components": _with_map(["A"], A=["B"], B=[])}, r"areas\.A\[0\]: B does not name A in return"),
        ({"components": _with_map(["A"], A=[], B=[])}, r"areas\.B: no way leads there from Vladivostok"),
        ({"components": _with_map(["C"], A=["B"], B=["A"])}, r"arrows\[0\]: no area 'C'"),
        ({"components": _with_map(["A"], A=["A"], B=[])}, r"areas\.A\[0\]: an area is not adjacent to itself"),
        ({"components": _with_map(["A"], A=[])}, "areas: expected an object with 2 to 16 names"),
    ),
)

CASES = (CARD, BOARD)


def positions(
    game: Game, players: int, seed: int, rules: Any = None, components: Any = None
) -> tuple[Variant, list[States]]:
    """Every position of one game played at random, those in which chance is due and the last one included."""
    variant = game.variant(players, rules, components)
    states = variant.new_states()
    mask = np.zeros(game.num_actions, np.int8)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(seed), 0, 0)
    chance = np.random.default_rng(seed)
    found = [states.copy()]
    while not engine.is_over_at(variant.rulesets, states, 0):
        engine.legal_at(variant.rulesets, states, 0, mask)
        engine.advance_at(variant.rulesets, states, 0, int(chance.choice(np.flatnonzero(mask))))
        found.append(states.copy())
        while engine.is_chance_at(variant.rulesets, states, 0):
            engine.resolve_at(variant.rulesets, states, 0)
            found.append(states.copy())
    return variant, found


def checked_samples(variant: Variant, found: Sequence[States]) -> int:
    """See that each seat has one text for what it can't tell apart; give how many samples look different when open."""
    render, differences = variant.game.room("render"), 0
    for number, states in enumerate(found):
        if engine.is_chance_at(variant.rulesets, states, 0):
            continue
        for viewer in range(variant.num_players):
            text = render.ansi(variant, states, 0, viewer)
            for seed in range(2):
                sample = states.copy()
                engine.determinize_at(variant.rulesets, sample, 0, viewer, np.uint64(1000 * number + seed))
                assert render.ansi(variant, sample, 0, viewer) == text
                differences += render.ansi(variant, sample, 0, None) != render.ansi(variant, states, 0, None)
    return differences
