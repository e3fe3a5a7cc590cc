"""The card game's table as text: one golden position, what each player may see, all player counts."""

from __future__ import annotations

import numpy as np
import pytest

from siberia_env.card import render
from siberia_env.card.game import GAME
from siberia_env.card.state import FIRST_CARD, LAST_OF_TWO, PAYING, SECOND_CARD
from siberia_env.common.render import WIDTH
from siberia_env.core import engine
from tests.games import checked_samples, positions
from tests.table import PLAYER_COUNTS

GOLDEN_POSITION = 252
GOLDEN = """\
Siberia: The Card Game, 2 players, edition dlp: seen by player_1
┌───────────┬───────────┬───────────┬───────────┬───────────┬───────────┬───────────┬───────────┐
│ 0         │ 1         │ 2         │ 3         │ 4         │ 5         │ 6         │ 7         │
│ charcoal  │ charcoal  │ oil       │ ▒▒▒▒▒▒▒▒▒ │ ▒▒▒▒▒▒▒▒▒ │ ▒▒▒▒▒▒▒▒▒ │ gas       │ gold      │
│     $4000 │     $4000 │     $3000 │ ▒▒▒▒▒▒▒▒▒ │ ▒▒▒▒▒▒▒▒▒ │ ▒▒▒▒▒▒▒▒▒ │     $3000 │     $4000 │
└───────────┴───────────┴───────────┴───────────┴───────────┴───────────┴───────────┴───────────┘
┌───────────┬──────────┬──────────────────┬──────────────────┐
│           │ supply   │ ▸player_0        │ player_1 (you)   │
├───────────┼──────────┼──────────────────┼──────────────────┤
│ score     │          │ $74000           │ $77000           │
│ hand      │          │ 2 cards          │ 3 cards          │
├───────────┼──────────┼──────────────────┼──────────────────┤
│ gas       │          │ 7 $14000   I     │ -          S     │
│ charcoal  │          │ 4 $9000    I     │ 1 $5000    S     │
│ oil       │          │ 5 $23000   I     │ -          S     │
│ gold      │          │ -                │ 4 $28000   S I   │
│ diamond   │          │ 4 $20000   I     │ 1 $8000    S     │
├───────────┼──────────┼──────────────────┼──────────────────┤
│ worker    │ 2        │ 4                │ 4          S     │
│ salesman  │          │ 0                │ 8          S     │
│ investor  │          │ 4                │ 1          S     │
└───────────┴──────────┴──────────────────┴──────────────────┘
S: its salesman. I: its investor. Captured cards: how many, and what they count now.

Hand of player_1: gas/salesman, diamond/worker, diamond/salesman
Known in the hand of player_0: oil/worker, diamond/worker
Known to player_0 in yours: gas/salesman, diamond/worker, diamond/salesman
Discard pile, 1 card: gold/salesman
Action stack: 54 cards. Resource stack: 2 cards.
Turn 103 of at most 400: player_0 pays for 'mine diamond', one more card not showing diamond
  completes it."""


def section(text: str, start: str) -> str:
    """The wrapped line of `text` that starts with `start`, in one piece."""
    return text[text.index(start) :].split("\n")[0] if start in text else ""


def test_golden_text() -> None:
    variant, found = positions(GAME, 2, seed=5)
    assert render.ansi(variant, found[GOLDEN_POSITION], 0, 1) == GOLDEN


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C18_positions_a_player_cannot_tell_apart_have_the_same_text(players: int) -> None:
    variant, found = positions(GAME, players, seed=players)
    assert checked_samples(variant, found[:-1:5]) > 20  # there was something to hide


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_every_position_is_drawn_within_100_columns(players: int) -> None:
    variant, found = positions(GAME, players, seed=10 + players, rules="digital")
    for states in found[::3] + found[-1:]:
        for viewer in (None, *range(players)):
            lines = render.ansi(variant, states, 0, viewer).split("\n")
            assert max(map(len, lines)) <= WIDTH
            assert len({len(line) for line in lines if line.startswith(("│", "┌", "├", "└"))}) == 2  # row and table
            assert f"{players} players, edition digital" in lines[0]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_text_tells_what_the_state_holds(players: int) -> None:
    variant, found = positions(GAME, players, seed=20 + players)
    for states in found[::7]:
        state = states[0]
        text = render.ansi(variant, states, 0, None)
        cells = {line.split("│")[1].strip(): line.split("│")[2:-1] for line in text.split("\n") if line.startswith("│")}
        scores = [cell.strip() for cell in cells["score"][1:]]
        assert scores == [f"${1000 * int(state.score[player])}" for player in range(players)]
        assert [int(cell.split()[0]) for cell in cells["hand"][1:]] == state.hand_size[:players].tolist()
        assert [int(cell.split()[0]) for cell in cells["worker"][1:]] == state.workers[:players].tolist()
        assert cells["worker"][0].split()[0] == str(int(state.workers_left))
        for resource, name in enumerate(("gas", "charcoal", "oil", "gold", "diamond")):
            shown = [0 if cell.split()[0] == "-" else int(cell.split()[0]) for cell in cells[name][1:]]
            assert shown == state.captured[:players, resource].tolist()
            for mark, owners in (("S", state.salesman_owner), ("I", state.investor_owner)):
                marked = [mark in cell.split() for cell in cells[name]]
                assert marked == [int(owners[resource]) == owner for owner in range(-1, players)]
        assert f"Action stack: {int(state.action_stack_size)} card" in text
        assert f"Resource stack: {int(state.resource_stack_size)} card" in text
        assert f"Discard pile, {int(state.discard_size)} card" in text
        assert text.count("Hand of player_") == players


def test_own_hand_and_known_cards_only() -> None:
    variant, found = positions(GAME, 2, seed=6)
    known = [states for states in found if states[0].known[:2].any(axis=1).all()]
    assert known
    text = render.ansi(variant, known[0], 0, 1)
    assert "Hand of player_1: " in text
    assert "Hand of player_0: " not in text
    assert section(text, "Known in the hand of player_0: ") != "Known in the hand of player_0: none"
    for players in (3, 4):
        variant, found = positions(GAME, players, seed=6)
        text = render.ansi(variant, next(states for states in found if states[0].held.any()), 0, 0)
        assert section(text, "Known among the others' hands: ") != "Known among the others' hands: none"
        assert "Known in the hand" not in text


def test_the_turn_is_told() -> None:
    variant, found = positions(GAME, 2, seed=2)
    texts = [render.ansi(variant, states, 0, 0) for states in found]
    told = "\n".join(text.replace("\n  ", " ") for text in texts)
    for words in (
        "Turn 1 of at most 400: player_0 discovers.",
        "player_1 draws or acts.",
        "comes first.",
        "completes it, or two others.",
        "The end is in sight: 3 turns to go, this one included.",
        "The end is in sight: 1 turn to go, this one included.",
    ):
        assert words in told, words
    for states, text in zip(found, texts, strict=True):
        state = states[0]
        assert ("pays for" in text) == (state.phase == PAYING)
        step = {FIRST_CARD: "first", SECOND_CARD: "or two others", LAST_OF_TWO: "one more card not showing"}
        if state.phase == PAYING:
            assert step[int(state.payment)] in text.replace("\n  ", " ")
    winner = int(np.argmax(found[-1][0].score[:2]))
    assert f"The game is over after {int(found[-1][0].turn)} turns; won by player_{winner}." in texts[-1]
    assert "▸" in texts[0]
    assert "▸" not in texts[-1]


def test_C17_the_turn_limit_is_told() -> None:
    variant = GAME.variant(2, {"max_turns": 2})
    states = variant.new_states()
    engine.deal_at(variant.rulesets, states, 0, np.uint64(1), 0, 0)
    for name in ("reveal 3", "draw 0", "reveal 4", "draw 0"):
        engine.advance_at(variant.rulesets, states, 0, variant.action_number(name))
    assert "The game is over after 2 turns (the turn limit); won by player_0 and player_1." in render.ansi(
        variant, states, 0, None
    )


def test_face_down_cards_are_marked() -> None:
    variant, found = positions(GAME, 2, seed=1)
    assert render.ansi(variant, found[0], 0, 0).count(render.FACE_DOWN) == 2 * 5
    everything = render.ansi(variant, found[0], 0, None)
    assert render.FACE_DOWN not in everything
    assert everything.count("($") == 5
