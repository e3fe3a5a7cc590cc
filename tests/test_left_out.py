"""What the observations leave out: every field of a state is shown, hidden from all, or told of on its page.

A field is shown if an observation changes when the field does. A test gives each field in turn, and where seats
have parts of it, the observer's and the others' apart, the value that it has in another game. Fields that are the
same in all games at that moment have nothing to show.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_env import vector
from siberia_env.board.state import PLACE
from siberia_env.core import engine
from siberia_env.game import GAMES, MAX_PLAYERS, find_game
from tests.table import PLAYER_COUNTS

DOCS = Path(__file__).resolve().parents[1] / "docs"
GAMES_AT_ONCE = 64

HIDDEN = ""  #: from everybody, or from the observer (C18, B29)

#: What no observation shows, by game and moment: a field, or the own or the others' part of one, and what the
#: page says of it.
NOT_SHOWN: dict[str, dict[str, dict[str, str]]] = {
    "card": {
        "any time": {
            "generator": HIDDEN,
            "action_stack": HIDDEN,
            "resource_stack": HIDDEN,
            "hand of others": HIDDEN,
            "symbols of others": HIDDEN,
            "held": "which cards the observer held at the last reshuffle",
            "held of others": HIDDEN,
            "pile": "who paid which of the cards on the discard pile",
            "drawn": "how many cards each player has drawn since the last reshuffle",
            "drawn of others": "how many cards each player has drawn since the last reshuffle",
            "pile_drawn": "how many cards each player has drawn since the last reshuffle",
        }
    },
    "board": {
        "while all place": {
            "generator": HIDDEN,
            "tile_stack": HIDDEN,
            "plan of others": HIDDEN,
            "planned of others": HIDDEN,
            "placed": "how many counters the player on turn has placed already",
            "panel of others": "which counters lie on the others' panels",
        },
        "when all have placed": {
            "generator": HIDDEN,
            "tile_stack": HIDDEN,
            "drawn": "the persons on everybody's counters at research",
            "drawn of others": "the persons on everybody's counters at research",
            "plan": "the persons on everybody's counters at research",
            "plan of others": "the persons on everybody's counters at research",
            "panel of others": "which counters lie on the others' panels",
            "research_size": "the persons on everybody's counters at research",
            "research_size of others": "the persons on everybody's counters at research",
        },
    },
}


def parts(game: str, players: int, viewer: int) -> Iterator[tuple[str, str, Any]]:
    """Each field, or the parts of it by seat: what it is called, the field, and where the part lies in it."""
    dtype = find_game(game).state_dtype
    for field in dtype.names or ():
        if dtype[field].shape[:1] != (MAX_PLAYERS,):
            yield field, field, slice(None)
            continue
        for seat in range(players):
            yield field + (" of others" if seat != viewer else ""), field, (slice(None), seat)


def moment(game: str, phases: Any) -> str:
    """What is going on in all of these games, or nothing if that differs."""
    if game == "card":
        return "any time"
    placing = phases == PLACE
    return "while all place" if placing.all() else "" if placing.any() else "when all have placed"


def unchanging(game: str) -> dict[str, set[str]]:
    """What no observation shows, by moment, as `NOT_SHOWN` calls it."""
    shown: dict[str, set[str]] = {name: set() for name in NOT_SHOWN[game]}
    varied: dict[str, set[str]] = {name: set() for name in NOT_SHOWN[game]}
    rules: Any = {"card": ["dlp"] * 3, "board": [{"salesman_cards": True}, {"sides": "random"}, {}]}
    for players in PLAYER_COUNTS:
        env = vector.make(game, GAMES_AT_ONCE, players, seed=players, rules=rules[game][players - 2])
        step, actions = env.reset(), np.zeros(GAMES_AT_ONCE, np.int64)
        for draw in range(300):
            engine.sample_batch(step.mask, step.num_legal, np.uint64(7), draw, actions)
            step = env.step(actions)
            if draw % 10:
                continue
            states, viewer = env.states.copy(), draw // 10 % players
            for rows in _groups(game, states["phase"]):
                when = moment(game, states["phase"][rows])
                views = np.full(GAMES_AT_ONCE, viewer)
                before = env.observe(views)[rows]
                for name, field, where in parts(game, players, viewer):
                    values = states[field][rows].copy()
                    values[where] = np.roll(values, 1, axis=0)[where]
                    if np.array_equal(values, states[field][rows]):
                        continue
                    varied[when].add(name)
                    env.states[field][rows] = values
                    if not np.array_equal(env.observe(views)[rows], before):
                        shown[when].add(name)
                    env.states[field] = states[field]
    return {when: varied[when] - shown[when] for when in varied}


def _groups(game: str, phases: Any) -> list[Any]:
    """Rows of games in which the same is going on: fields are exchanged among them."""
    if game == "card":
        return [np.arange(len(phases))]
    return [rows for rows in (np.flatnonzero(phases == PLACE), np.flatnonzero(phases != PLACE)) if len(rows) > 1]


@pytest.mark.parametrize("game", GAMES)
def test_every_field_of_a_state_is_shown_or_hidden_or_left_out_knowingly(game: str) -> None:
    assert unchanging(game) == {when: set(fields) for when, fields in NOT_SHOWN[game].items()}


@pytest.mark.parametrize("game", GAMES)
def test_the_page_lists_every_field_that_is_left_out(game: str) -> None:
    page = (DOCS / game / "observation.md").read_text(encoding="utf-8")
    listed = " ".join(page.partition("## What the vector leaves out\n")[2].partition("\n## ")[0].split())
    told = {words for fields in NOT_SHOWN[game].values() for words in fields.values()} - {HIDDEN}
    assert listed
    assert [words for words in told if words not in listed] == []
