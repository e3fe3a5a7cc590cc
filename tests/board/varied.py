"""Random games that go where even-handed chance seldom leads: through mining, exhausted areas, odd maps and boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from siberia_env.board.components import ACTIONS, KINDS, Components
from siberia_env.common.components import RESOURCES
from tests.board.helpers import Table

#: How much likelier than others the actions whose names begin so are chosen; several that fit are multiplied.
EVEN: Mapping[str, float] = {}
MINERS = {"place research": 0.05, "pass": 0.1, "stop": 0.1, "pawn reserve": 3, "act": 1}
COLLECTORS = {"place research": 0.3, "pass": 0.03, "act": 0.3, "wildcard none": 0.1}
STYLES = (EVEN, MINERS, COLLECTORS)

#: Two areas; cubes enough for a few rounds.
SMALL = Components(
    areas={"Near": ("Far",), "Far": ("Near",)},
    arrows=("Near",),
    cubes=dict.fromkeys(RESOURCES, 4),
)
#: Six areas in a row, so that every way leads through all that is exhausted; prices up to the highest.
ROW = Components(
    areas={"A": ("B",), "B": ("A", "C"), "C": ("B", "D"), "D": ("C", "E"), "E": ("D", "F"), "F": ("E",)},
    arrows=("A",),
    exchanges={**Components().exchanges, "Tokyo": (99, 0, 1, 0, 0), "New York": (0, 98, 0, 0, 99)},
    salesman_cards=dict.fromkeys(RESOURCES, 99),
)
#: Sixteen areas, four in a row; many cubes and tiles, counters of uneven number.
LARGE = Components(
    areas={
        f"{x}{y}": tuple(
            f"{a}{b}" for a, b in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)) if 0 <= a < 4 and 0 <= b < 4
        )
        for y in range(4)
        for x in range(4)
    },
    arrows=("00", "33"),
    cubes=dict.fromkeys(RESOURCES, 24),
    investment_tiles=dict.fromkeys(ACTIONS, 4),
    counters={kind: 1 + 2 * (index % 4) + 20 * (kind == "manager") for index, kind in enumerate(KINDS)},
)
BOXES = (Components(), SMALL, ROW, LARGE)


def weights(table: Table, style: Mapping[str, float]) -> np.ndarray[Any, Any]:
    """How likely each action is chosen beside the others that are legal."""
    likely = np.ones(len(table.variant.action_names))
    for number, name in enumerate(table.variant.action_names):
        for begins, factor in style.items():
            if name.startswith(begins):
                likely[number] *= factor
    return likely


def play_through(
    table: Table, rng: np.random.Generator, style: Mapping[str, float], most: int = 100_000
) -> Iterator[int]:
    """Play to the end, at most so many decisions; give the number of each action, before it is taken."""
    likely = weights(table, style)
    for _ in range(most):
        if table.over:
            return
        chances = likely * table.mask()
        action = int(rng.choice(len(chances), p=chances / chances.sum()))
        yield action
        table.step(action)
