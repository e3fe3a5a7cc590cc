"""Whole games played by the rules and by a second, slow reading of them, side by side."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from siberia_env.board.state import NOBODY
from siberia_env.tables import RESOURCES
from tests.board.golden import IDLE, RULES
from tests.board.helpers import Table
from tests.board.slow_rules import SlowGame
from tests.board.test_components import box, box_with_map, line_of_areas
from tests.table import PLAYER_COUNTS

SMALL_BOX: dict[str, Any] = {
    **box_with_map(line_of_areas(4)),
    "counters": {**dict.fromkeys(box()["counters"], 2), "manager": 30},
    "investment_tiles": {**dict.fromkeys(box()["investment_tiles"], 0), "gas": 2, "worker": 1, "investor": 2},
    "exchanges": {**box()["exchanges"], "Frankfurt": [0, 0, 0, 1, 1]},
}
BOXES = {"published": None, "small": SMALL_BOX}


def play_both(table: Table, rng: np.random.Generator, look: Callable[[], None] = lambda: None) -> int:
    """Play to the end; the same actions are legal and the same things happen. `look` after each; how many decisions."""
    slow = SlowGame(table)
    asking = slow.play()
    player, options = next(asking)
    decisions = 0
    while True:
        assert (table.player, table.legal()) == (player, options)
        slow.compare()
        busy = [name for name in options if name not in IDLE]
        if not busy or rng.random() < 0.25:
            busy = options
        name = str(rng.choice(busy))
        table.play(name)
        look()
        decisions += 1
        try:
            player, options = asking.send(name)
        except StopIteration:
            break
    slow.compare()
    assert table.over
    assert not table.legal()
    assert bool(table.state.truncated) == slow.truncated
    return decisions


@pytest.mark.parametrize("box_name", BOXES)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_both_readings_of_the_rules_agree_on_whole_games(players: int, rules: str, box_name: str) -> None:
    seed = 10 * players + list(RULES).index(rules)
    options = {**RULES[rules], "max_rounds": 25}
    table = Table.deal(players, options, BOXES[box_name], seed=seed)
    assert play_both(table, np.random.default_rng(seed)) > 50


def odd_map(rng: np.random.Generator) -> dict[str, Any]:
    """A box with cubes in plenty and a map of any form: a random tree, some more ways, one arrow or more."""
    names = [f"Area {number}" for number in range(int(rng.integers(9, 17)))]
    ways = {(int(rng.integers(number)), number) for number in range(1, len(names))}
    for _ in range(int(rng.integers(4))):
        one, other = sorted(int(number) for number in rng.choice(len(names), 2, replace=False))
        ways.add((one, other))
    areas: dict[str, list[str]] = {name: [] for name in names}
    for one, other in ways:
        areas[names[one]].append(names[other])
        areas[names[other]].append(names[one])
    arrows = [str(name) for name in rng.choice(names, int(rng.integers(1, 4)), replace=False)]
    return {**box_with_map(areas, *arrows), "cubes": dict.fromkeys(RESOURCES, 24)}


@pytest.mark.parametrize("seed", range(3))
def test_both_readings_agree_on_any_map_while_areas_get_exhausted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Table.deal(2, {"sides": "random"}, odd_map(rng), seed)
    play_both(table, rng)
    assert len(table.exhausted()) >= 3


def test_both_readings_agree_while_salesman_cards_change_hands() -> None:
    table = Table.deal(2, {"sides": "random", "salesman_cards": True}, SMALL_BOX, seed=2)
    owners: list[list[int]] = []
    play_both(table, np.random.default_rng(2), lambda: owners.append(table.state.card_owner.tolist()))
    taken_away = [
        old
        for before, after in pairwise(owners)
        for old, new in zip(before, after, strict=True)
        if NOBODY != old != new
    ]
    assert taken_away
