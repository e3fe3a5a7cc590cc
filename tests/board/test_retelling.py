"""Busy games on maps and boxes of any form, told again by the rulebook: whoever reads the record finds no mistake."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from siberia_env.board.game import GAME
from siberia_env.common.components import RESOURCES
from siberia_env.records import Record, play_and_record
from tests.board.golden import IDLE, RULES
from tests.board.retelling import Retelling
from tests.board.test_components import box, box_with_map, line_of_areas
from tests.table import PLAYER_COUNTS

SMALL_BOX: dict[str, Any] = {
    **box_with_map(line_of_areas(4)),
    "counters": {**dict.fromkeys(box()["counters"], 2), "manager": 30},
    "investment_tiles": {**dict.fromkeys(box()["investment_tiles"], 0), "gas": 2, "worker": 1, "investor": 2},
    "exchanges": {**box()["exchanges"], "Frankfurt": [0, 0, 0, 1, 1]},
}
BOXES = {"published": None, "small": SMALL_BOX}


def busy_game(players: int, rules: dict[str, Any], components: Any, seed: int) -> Record:
    """A game in which players seldom pass, stop, or place counters at research, so that much happens."""
    variant = GAME.variant(players, rules, components)
    idle = [variant.action_number(name) for name in IDLE]
    rng = np.random.default_rng(seed)

    def choose(states: Any, i: int, mask: Any) -> int:
        legal = np.flatnonzero(mask)
        busy = np.setdiff1d(legal, idle)
        return int(rng.choice(busy if busy.size and rng.random() < 0.9 else legal))

    return play_and_record(variant, choose, seed, ["busy"] * players)


def retold(record: Record) -> Retelling:
    """The same game as the rulebook tells it."""
    retelling = Retelling("\n".join(json.dumps(line) for line in record.lines))
    retelling.tell()
    return retelling


@pytest.mark.parametrize("box_name", BOXES)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_busy_games_go_by_the_rulebook(players: int, rules: str, box_name: str) -> None:
    seed = 10 * players + list(RULES).index(rules)
    told = retold(busy_game(players, RULES[rules], BOXES[box_name], seed))
    assert max(told.money) > 0


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


@pytest.mark.parametrize("seed", range(5))
def test_B17_ways_on_a_map_of_any_form_while_areas_get_exhausted(seed: int) -> None:
    told = retold(busy_game(2, {"sides": "random"}, odd_map(np.random.default_rng(seed)), seed))
    assert len(told.exhausted) == 8


def test_B25_cards_change_hands() -> None:
    record = busy_game(2, {"sides": "random", "salesman_cards": True}, SMALL_BOX, 5)
    taken = [line["action"] for line in record.lines if line.get("action", "").startswith("card ")]
    assert len(taken) > len(RESOURCES)
    retold(record)
