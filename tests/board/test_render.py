# ruff: noqa: RUF001 - the pictures hold a multiplication sign
"""The board game's table as text: golden pictures, the drawn map's lines, what each player may see, custom maps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from siberia_env.board import render
from siberia_env.board.components import (
    ACTIONS,
    DEFAULT_AREAS,
    DEFAULT_ARROWS,
    KINDS,
    MANAGER_COUNTER,
    START,
    VLADIVOSTOK,
    Components,
    all_exchanges,
)
from siberia_env.board.game import GAME
from siberia_env.board.state import (
    AT_PERSON,
    AT_RESEARCH,
    AT_RESOURCE,
    CHOOSE_SIDE,
    EMPTY,
    NOT_PLACED,
    OVER,
    PLACE,
    SETUP,
)
from siberia_env.common.components import RESOURCES
from siberia_env.common.render import WIDTH
from siberia_env.game import States, Variant
from tests.games import checked_samples, positions
from tests.table import PLAYER_COUNTS

BOX_WIDTH, BOX_HEIGHT = 20, 5  # of an area on the drawn map

GOLDEN_POSITION = 438
GOLDEN = """\
Siberia, 2 players, with salesman cards: seen by player_1
┌──────────────────┐            ┌──────────────────┐                            ┌──────────────────┐
│ Yamal            │            │ Taymyr           ├────────────────────────────┤ Chukotka         │
│ ga ch oi go di   ├────────────┤ ga ch oi go di   │                            │ ga ch oi go di   │
│                  │            │                  ├────────┐          ┌────────┤                  │
└────┬────┬────┬───┘            └───────┬──────────┘        │          │        └────────┬─────────┘
     │    │    │                        │                   │          │                 │
     │    │    │                        │                   │          │                 │
     │    │    │          ┌─────────────┴────┐          ┌───┴──────────┴───┐    ┌────────┴─────────┐
     │    │    │          │ Evenkia          │          │ Yakutia          ├────┤ Magadan          │
     │    │    └──────────┤ ga ch oi go di   ├──────────┤ ga ch oi go di   │    │ ga ch oi go di   │
     │    │               │                  ├────────┐ │                  ├─┐  │                  │
     │    │               └─────────────┬────┘        │ └───────┬─────────┬┘ │  └────────┬─────────┘
     │    └───────────────────┐         │             │         │         │  └──────┐    │
     │                        │         │             │         │         │         │    │
┌────┴─────────────┐      ┌───┴─────────┴────┐    ┌───┴─────────┴────┐    │     ┌───┴────┴─────────┐
│ Novosibirsk      │      │ Krasnoyarsk      │    │ Irkutsk          │    │     │ Khabarovsk       │
│ ga ch oi go      ├──────┤ ga ch oi go di   ├────┤ ga ch oi go di   │    │     │ ga ch oi go      │
│                  │      │                  │    │                  │    │     │ you              │
└──────────────────┘      └──────────────────┘    └─┬────────────────┘    │     └──┬─────┬─────────┘
                                                    │                     │ ┌──────┘     ▲
                                                    │                     │ │            │
                                  ┌─────────────────┴┐    ┌───────────────┴─┴┐  ┌────────┴─────────┐
                                  │ Zabaykalye       │    │ Amur             │  │ Vladivostok      │
                                  │ ga ch oi go di   ├────┤ ga ch oi go      ├◄─┤                  │
                                  │                  │    │ p0               │  │ p0 you×3         │
                                  └──────────────────┘    └──────────────────┘  └──────────────────┘
Cubes: ga gas, ch charcoal, oi oil, go gold, di diamond. Workers and salesmen: you, you×2: one or
  two pawns of your own; p0: one of player_0.
┌───────────────────┬──────────┬──────────┬──────────┬──────────┬──────────┬───────────────────────┐
│ exchange          │ gas      │ charcoal │ oil      │ gold     │ diamond  │ salesmen              │
├───────────────────┼──────────┼──────────┼──────────┼──────────┼──────────┼───────────────────────┤
│ Frankfurt         │ $1000    │ $1000    │ $2000    │ $2000    │ $2000    │ p0 you                │
│ Tokyo             │ $3000    │ -        │ $4000    │ -        │ $5000    │                       │
│ Hong Kong         │ -        │ $3000    │ $5000    │ $3000    │ -        │ p0×2                  │
│ Toronto           │ $2000    │ -        │ $4000    │ -        │ $6000    │                       │
│ Mumbai            │ $3000    │ $2000    │ -        │ $4000    │ -        │                       │
│ Zurich            │ -        │ $3000    │ -        │ $4000    │ $6000    │                       │
├───────────────────┼──────────┼──────────┼──────────┼──────────┼──────────┼───────────────────────┤
│ salesman card     │ $4000    │ $5000    │ $6000    │ $7000    │ $8000    │                       │
│ held by           │ you      │ p0       │ -        │ you      │ p0       │                       │
├───────────────────┼──────────┼──────────┼──────────┼──────────┼──────────┼───────────────────────┤
│ cubes in reserve  │ 5        │ 3        │ 1        │ 0        │ 0        │                       │
├───────────────────┼──────────┼──────────┼──────────┼──────────┼──────────┼───────────────────────┤
│ best price, p0    │ $1000    │ $5000    │ $5000    │ $3000    │ $8000    │                       │
│ best price, you   │ $4000    │ $1000    │ $2000    │ $7000    │ $2000    │                       │
└───────────────────┴──────────┴──────────┴──────────┴──────────┴──────────┴───────────────────────┘
┌─────────────┬────────────────────┬────────────────────┐
│             │ player_0           │ ▸player_1 (you)    │
├─────────────┼────────────────────┼────────────────────┤
│ money       │ $5000              │ $7000              │
│ pawns       │ 1 in reserve       │ 1 in reserve       │
│ counters    │ 3 on the panel     │ 7 on the panel     │
│ this round  │ starts             │                    │
├─────────────┼────────────────────┼────────────────────┤
│ manager     │ ·       ·          │ ma      +ma        │
│ logistician │ di/lo   ·          │ tile    ·          │
│ salesman    │ ·       ·          │ ch/sa   oi/sa      │
│ worker      │ tile    ·          │ di/wo   go/wo      │
│ investor    │ ·       ·          │ ·       ·          │
│ gas         │ ·       ·          │ tile    +ga/sa     │
│ charcoal    │ ch/in   tile       │ ·       ·          │
│ oil         │ oi/wo   tile       │ oi/in   ·          │
│ gold        │ ·       ·          │ go/wo   ·          │
│ diamond     │ ·       ·          │ tile    ·          │
├─────────────┼────────────────────┼────────────────────┤
│ research    │                    │ ga go              │
└─────────────┴────────────────────┴────────────────────┘
ga/lo: a counter with gas and the logistician, and so on; ma: a manager; tile: an investment tile;
  ·: a space that is uncovered; +: placed in this round, not yet shown to the others.

To be placed by player_1: manager, manager
Bag, 48 counters; in it, or newly drawn by others: 2 ga/lo, 3 ch/lo, 3 oi/lo, 3 go/lo, di/lo,
  2 ga/sa, 2 ch/sa, 2 oi/sa, 3 go/sa, 2 di/sa, 3 ga/wo, 3 ch/wo, 2 oi/wo, go/wo, di/wo, 3 ga/in,
  2 ch/in, 2 oi/in, 2 go/in, 2 di/in, 10 ma
Investment tiles face up: manager, salesman, investor, charcoal. Stack: 10 tiles.
Exhausted areas: 0 of 8. Empty reserves: 2 of 3.
Round 19 of at most 60: player_1 places manager, counter 5 of 6."""

GOLDEN_TABLE_POSITION = 1900
GOLDEN_TABLE = """\
Siberia, 3 players: seen by player_1
┌───────────────────┬─────────────────┬───────────────────────┬───────┬────────────────────────────┐
│ area              │ cubes           │ workers               │ steps │ a step leads to            │
├───────────────────┼─────────────────┼───────────────────────┼───────┼────────────────────────────┤
│ A                 │ ga ch oi go     │ p0 p2×2               │ 1     │ C                          │
│ B                 │ exhausted       │                       │ -     │                            │
│ C                 │ ga ch oi go di  │ you×2                 │ 0     │ A, D                       │
│ D                 │ ga ch oi go di  │                       │ 1     │ C                          │
├───────────────────┼─────────────────┼───────────────────────┼───────┼────────────────────────────┤
│ Vladivostok       │                 │ p0×3 you×4 p2         │ 0     │ A                          │
└───────────────────┴─────────────────┴───────────────────────┴───────┴────────────────────────────┘
Steps: from your nearest worker; exhausted areas are passed through at no cost.
"""

CHAIN = {**Components().as_json(), "arrows": ["A"], "areas": {"A": ["B"], "B": ["A", "C"], "C": ["B", "D"], "D": ["C"]}}


def with_map(arrows: list[str], areas: dict[str, list[str]]) -> dict[str, Any]:
    """The box with another map."""
    return {**Components().as_json(), "arrows": arrows, "areas": areas}


def long_names() -> dict[str, Any]:
    """Sixteen areas in a ring that is cut open, and exchanges, with names as long as anybody could want."""
    names = [f"{'Area' * 30} {number}" if number % 2 else f"{'far away ' * 6}{number}" for number in range(16)]
    box = with_map(
        names[:3],
        {
            name: names[max(number - 1, 0) : number] + names[number + 1 : number + 2]
            for number, name in enumerate(names)
        },
    )
    longer = {name: name if name == "Frankfurt" else name * 5 for name in box["exchanges"]}
    box["exchanges"] = {longer[name]: prices for name, prices in box["exchanges"].items()}
    box["exchange_tiles"] = [[longer[name] for name in tile] for tile in box["exchange_tiles"]]
    return box


def exhaust(state: Any, area: int) -> None:
    """Empty an area by hand (B22)."""
    state.lying &= ~(1 << area)
    state.open &= ~(1 << area)
    state.exhausted += 1


# ---------------------------------------------------------------- reading a picture


def unfolded(text: str) -> str:
    """The text with its wrapped lines in one piece."""
    return text.replace("\n  ", " ")


def drawn_places(text: str) -> dict[str, tuple[str, str]]:
    """What is written in the second and third line of each place on the drawn map."""
    lines = text.split("\n")
    found = {}
    for name in (*DEFAULT_AREAS, START):
        row = next(number for number, line in enumerate(lines) if f" {name} " in line)
        column = lines[row].index(name)
        second, third = (lines[row + offset].ljust(WIDTH)[column : column + BOX_WIDTH - 3] for offset in (1, 2))
        found[name] = (second.strip(), third.strip())
    return found


def rows(text: str, heading: str) -> dict[str, list[str]]:
    """The rows of the table whose heading matches `heading`, by their first cell; wrapped cells in one piece."""
    found = re.search(rf"^│ {heading}", text, re.MULTILINE)
    assert found, f"no table {heading!r}"
    table: dict[str, list[str]] = {}
    row: list[str] = []
    for line in text[found.start() :].split("\n"):
        if line.startswith("└"):
            break
        if line.startswith("│"):
            label, *cells = (cell.strip() for cell in line.split("│")[1:-1])
            if label or not table:
                row = table[label] = cells
            else:
                row[:] = [f"{cell} {more}".strip() for cell, more in zip(row, cells, strict=True)]
    return table


def pawns(cell: str, viewer: int | None) -> list[int]:
    """How many pawns of each seat a cell shows."""
    counts = [0] * 4
    for name, number in re.findall(rf"(you|p\d)(?:{render.TIMES}(\d))?", cell):
        counts[(viewer or 0) if name == "you" else int(name[1])] += int(number or 1)
    return counts


def panels(text: str) -> dict[str, list[str]]:
    """The rows of the table of the players; its heading has an empty first cell."""
    return rows(text, " +│ ▸?player_0")


def prices(cells: list[str]) -> list[int]:
    """The thousands in a row of the table of exchanges."""
    return [0 if cell == "-" else int(cell.removeprefix("$")) // 1000 for cell in cells[: len(RESOURCES)]]


# ---------------------------------------------------------------- pictures


def test_golden_text() -> None:
    variant, found = positions(GAME, 2, seed=1, rules={"salesman_cards": True})
    assert render.ansi(variant, found[GOLDEN_POSITION], 0, 1) == GOLDEN


def test_golden_table_of_a_map_from_a_file() -> None:
    variant, found = positions(GAME, 3, seed=20, components=CHAIN)
    text = render.ansi(variant, found[GOLDEN_TABLE_POSITION], 0, 1)
    assert text[: text.index("Cubes")] == GOLDEN_TABLE


def connections(lines: list[str]) -> tuple[set[frozenset[str]], set[tuple[str, str]], set[tuple[int, int]]]:
    """Follow every line of the drawn map: two-way connections, arrows (from, to), and the cells that were passed."""
    sides = {"─": "LR", "│": "UD", "┌": "RD", "┐": "LD", "└": "RU", "┘": "LU", "▲": "UD", "◄": "LR"}
    moves = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    opposite = {"U": "D", "D": "U", "L": "R", "R": "L"}
    border: dict[tuple[int, int], str] = {}
    for name in (*DEFAULT_AREAS, START):
        row = next(number for number, line in enumerate(lines) if f" {name} " in line) - 1
        column = lines[row + 1].index(name) - 2
        for down in range(BOX_HEIGHT):
            for right in range(BOX_WIDTH):
                if down in (0, BOX_HEIGHT - 1) or right in (0, BOX_WIDTH - 1):
                    border[row + down, column + right] = name
        corners = [(row, column), (row, column + BOX_WIDTH - 1)]
        corners += [(row + BOX_HEIGHT - 1, column), (row + BOX_HEIGHT - 1, column + BOX_WIDTH - 1)]
        assert [lines[r][c] for r, c in corners] == ["┌", "┐", "└", "┘"]
    both_ways, arrows, passed = set(), set(), set()
    for (row, column), name in border.items():
        start = {"┴": "U", "┬": "D", "┤": "L", "├": "R"}.get(lines[row][column])
        if start is None:
            continue
        heading, met = start, ""
        while True:
            row, column = row + moves[heading][0], column + moves[heading][1]
            if (row, column) in border:
                break
            passed.add((row, column))
            character = lines[row][column]
            met += character if character in "▲◄" else ""
            exits = sides[character].replace(opposite[heading], "")
            assert len(exits) == 1, f"the line from {name} breaks off at {row}, {column}"
            heading = exits
        other = border[row, column]
        if not met:
            both_ways.add(frozenset((name, other)))
        elif {"▲": "U", "◄": "L"}[met] == heading:
            arrows.add((name, other))
    return both_ways, arrows, passed | set(border)


def test_B6_the_drawn_lines_are_the_map() -> None:
    lines = [line.ljust(WIDTH) for line in render.DRAWN_MAP.splitlines()]
    both_ways, arrows, passed = connections(lines)
    assert both_ways == {frozenset((area, other)) for area, adjacent in DEFAULT_AREAS.items() for other in adjacent}
    assert arrows == {(START, area) for area in DEFAULT_ARROWS}
    drawn = {
        (row, column)
        for row, line in enumerate(lines)
        for column, character in enumerate(line)
        if character in "─│┌┐└┘├┤┬┴┼▲◄"
    }
    assert drawn == passed  # no line leads nowhere


def test_B6_the_map_is_drawn_whatever_the_order_of_its_areas() -> None:
    turned = dict(reversed(DEFAULT_AREAS.items()))
    variant, found = positions(
        GAME, 2, seed=3, components=with_map(list(DEFAULT_ARROWS)[::-1], {a: list(b)[::-1] for a, b in turned.items()})
    )
    check_map(variant, found[150], 0)


@pytest.mark.parametrize(
    "components",
    [
        CHAIN,
        with_map(["Amur"], {area: list(adjacent) for area, adjacent in DEFAULT_AREAS.items()}),  # another arrow
        with_map(
            list(DEFAULT_ARROWS),
            {
                area: [other for other in adjacent if {area, other} != {"Yamal", "Novosibirsk"}]
                for area, adjacent in DEFAULT_AREAS.items()
            },
        ),
    ],
)
def test_B7_another_map_is_a_table(components: dict[str, Any]) -> None:
    variant, found = positions(GAME, 3, seed=3, components=components)
    for states in found[:-1:40]:
        state = states[0]
        for viewer in (None, 1):
            table = rows(render.ansi(variant, states, 0, viewer), "area")
            assert list(table)[1:] == [*variant.components.areas, START]
            for place, name in [*enumerate(variant.components.areas), (VLADIVOSTOK, START)]:
                cubes, workers, *steps, leads = table[name]
                assert pawns(workers, viewer) == state.workers[:, place].tolist()
                if place != VLADIVOSTOK:
                    lying = [
                        resource[:2] for number, resource in enumerate(RESOURCES) if state.lying[number] >> place & 1
                    ]
                    assert cubes.split() == (lying or ["exhausted"])
                assert len(steps) == (viewer is not None)
                if len(variant.components.areas) == 4:
                    reached = [
                        name for area, name in enumerate(variant.components.areas) if state.steps[place] >> area & 1
                    ]
                    assert leads == ", ".join(reached)


def test_B17_steps_are_counted_from_the_viewers_nearest_worker() -> None:
    variant, found = positions(GAME, 2, seed=3, components=CHAIN)
    states = found[0].copy()
    state = states[0]

    def steps(viewer: int) -> list[str]:
        return [cells[2] for cells in list(rows(render.ansi(variant, states, 0, viewer), "area").values())[1:]]

    assert steps(0) == steps(1) == ["1", "2", "3", "4", "0"]
    state.workers[1, VLADIVOSTOK], state.workers[1, 2] = 0, 1
    assert steps(0) == ["1", "2", "3", "4", "0"]
    assert steps(1) == ["2", "1", "0", "1", "-"]  # no way leads back
    state.workers[1, 1] = 1
    assert steps(1) == ["1", "0", "0", "1", "-"]
    state.workers[1] = 0
    assert steps(1) == ["-"] * 5


# ---------------------------------------------------------------- everything is there, nothing too much


def check_map(variant: Variant, states: States, viewer: int | None) -> None:
    """Every cube and worker stands where it does on the table, and no other does."""
    state = states[0]
    shown = drawn_places(render.ansi(variant, states, 0, viewer))
    for place, name in [*enumerate(variant.components.areas), (VLADIVOSTOK, START)]:
        cubes, workers = shown[name]
        if place != VLADIVOSTOK and not state.open >> place & 1:
            assert "exhausted" in cubes
            assert set(workers) == {render.SHADE}
        else:
            lying = [state.lying[number] >> place & 1 for number in range(len(RESOURCES))]
            assert cubes.split() == [
                resource[:2] for resource, lies in zip(RESOURCES, lying, strict=True) if lies and place != VLADIVOSTOK
            ]
            assert pawns(workers, viewer) == state.workers[:, place].tolist()


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_text_tells_what_the_state_holds(players: int) -> None:
    variant, found = positions(GAME, players, seed=20 + players, rules={"salesman_cards": True, "sides": "random"})
    box = all_exchanges(variant.components)
    for number, states in enumerate(found[::6]):
        state = states[0]
        if state.phase == SETUP:
            continue
        viewer = (None, *range(players))[number % (players + 1)]
        check_map(variant, states, viewer)
        text = render.ansi(variant, states, 0, viewer)
        trade, panel = rows(text, "exchange"), panels(text)
        active = [box[0], *(box[1 + 2 * tile + int(side)] for tile, side in enumerate(state.side))]
        for exchange, name in enumerate(active):
            assert pawns(trade[name][-1], viewer) == state.salesmen[:, exchange].tolist()
            assert prices(trade[name]) == list(variant.components.exchanges[name])
        assert [int(cell) for cell in trade["cubes in reserve"][:5]] == state.reserve.tolist()
        assert prices(trade["salesman card"]) == list(variant.components.salesman_cards.values())
        held = [np.argmax(pawns(cell, viewer)) if cell != "-" else -1 for cell in trade["held by"][:5]]
        assert held == state.card_owner.tolist()
        for player in range(players):
            name = "you" if player == viewer else f"p{player}"
            assert prices(trade[f"best price, {name}"]) == state.best_price[player].tolist()
            assert panel["money"][player] == f"${1000 * int(state.money[player])}"
            assert panel["pawns"][player] == f"{int(state.pawns[player])} in reserve"
            assert panel["counters"][player] == f"{int(state.counters[player])} on the panel"
            assert ("passed" in panel["this round"][player]) == bool(state.passed >> player & 1)
            assert ("starts" in panel["this round"][player]) == (player == state.start)
            assert ("▸" in panel[""][player]) == (player == state.player and state.phase != OVER)
            assert ("(you)" in panel[""][player]) == (player == viewer)
            for action, label in enumerate(ACTIONS):
                lying = [short(KINDS[kind]) for kind in state.panel[player, action] if kind != EMPTY]
                lying += ["tile"] * int(state.tiles[player, action])
                shown = [token for token in panel[label][player].split() if not token.startswith("+")]
                assert shown == lying + ["·"] * (len(shown) - len(lying))
                assert len(panel[label][player].split()) == 2
        one_piece = unfolded(text)
        assert f"Bag, {int(state.bag_size)} counter" in one_piece
        assert f"Stack: {int(state.tile_stack_size)} tile" in one_piece
        listed = re.search(r"Investment tiles face up: (.*?)\. Stack", one_piece)
        assert listed
        assert listing(listed[1]) == {ACTIONS[action]: int(n) for action, n in enumerate(state.face_up) if n}
        assert f"Exhausted areas: {int(state.exhausted)} of 8." in text
        assert f"Empty reserves: {int((state.reserve == 0).sum())} of 3." in text


def short(kind: str) -> str:
    """A counter as it is written on a panel."""
    return "/".join(part[:2] for part in kind.split("/"))


def listing(text: str) -> dict[str, int]:
    """The numbers in a list such as `gas, 2 oil`."""
    if text == "none":
        return {}
    words = [item.split(" ", 1) if item[0].isdigit() else ["1", item] for item in text.split(", ")]
    return {name: int(number) for number, name in words}


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B12_own_new_counters_and_plans_are_shown(players: int) -> None:
    variant, found = positions(GAME, players, seed=players, rules={"sides": "random"})
    placing = [states for states in found if states[0].phase == PLACE]
    assert len(placing) > 50
    for states in placing[::5]:
        state = states[0]
        for viewer in (None, *range(players)):
            text = render.ansi(variant, states, 0, viewer)
            one_piece, panel = unfolded(text), panels(text)
            for player in range(players):
                waiting, research, laid = [], [], []
                for kind, plan in zip(state.drawn[player].tolist(), state.plan[player].tolist(), strict=True):
                    resource, _, person = KINDS[kind].partition("/")
                    if plan == NOT_PLACED:
                        waiting.append(KINDS[kind])
                    elif plan == AT_RESEARCH:
                        research.append(resource[:2])
                    else:
                        assert plan in (AT_PERSON, AT_RESOURCE)
                        action = resource if plan == AT_RESOURCE or kind == MANAGER_COUNTER else person
                        laid.append((action, "+" + short(KINDS[kind])))
                listed = re.search(rf"To be placed by player_{player}: ([^\n]*)", one_piece)
                shown = [
                    (action, token) for action in ACTIONS for token in panel[action][player].split() if token[0] == "+"
                ]
                if viewer in (None, player):
                    assert (listed[1].split(", ") if listed else []) == waiting
                    assert sorted(shown) == sorted(laid)
                    counts = [(word.split(render.TIMES) + ["1"])[:2] for word in panel["research"][player].split()]
                    assert sorted(name for name, number in counts for _ in range(int(number))) == sorted(research)
                else:
                    assert not listed
                    assert not shown
                    assert panel["research"][player] == ""
            bag = re.search(r"Bag, \d+ counters?; in it(, or newly drawn by others)?: ([^\n]*)", one_piece)
            assert bag
            unseen = dict(zip(map(short, KINDS), state.bag.tolist(), strict=True))
            for player in range(players):
                if viewer not in (None, player):
                    for kind in state.drawn[player]:
                        unseen[short(KINDS[kind])] += 1
            assert listing(bag[2]) == {kind: number for kind, number in unseen.items() if number}


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B29_positions_a_player_cannot_tell_apart_have_the_same_text(players: int) -> None:
    variant, found = positions(GAME, players, seed=players, rules={"salesman_cards": True})
    assert checked_samples(variant, found[:-1:7]) > 50  # there was something to hide


def test_B29_the_stack_is_shown_to_nobody() -> None:
    variant, found = positions(GAME, 2, seed=3)
    states = found[40]
    order = [ACTIONS[action] for action in states[0].tile_stack[: states[0].tile_stack_size][::-1]]
    assert f"The stack from the top: {', '.join(order)}\n" in unfolded(render.ansi(variant, states, 0, None)) + "\n"
    assert "from the top" not in render.ansi(variant, states, 0, 0) + render.ansi(variant, states, 0, 1)


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("components", [None, long_names()], ids=["the box", "long names"])
def test_every_position_is_drawn_within_100_columns(players: int, components: Any) -> None:
    variant, found = positions(GAME, players, seed=10 + players, rules={"salesman_cards": True}, components=components)
    for states in found[::9] + found[-1:]:
        for viewer in (None, *range(players)):
            lines = render.ansi(variant, states, 0, viewer).split("\n")
            assert max(map(len, lines)) <= WIDTH
            assert all(line == line.rstrip() for line in lines)
            assert lines[0].startswith(f"Siberia, {players} players, with salesman cards: ")


def test_the_fullest_area_is_drawn_within_its_box() -> None:
    variant, found = positions(GAME, 4, seed=1)
    states = found[0].copy()
    state = states[0]
    state.workers[:, :] = 6
    state.salesmen[:, :] = 6
    state.lying[:] = 0xFFF
    for viewer in (None, 0, 3):
        check_map(variant, states, viewer)
        lines = render.ansi(variant, states, 0, viewer).split("\n")
        assert max(map(len, lines)) == WIDTH
        drawn = [line.ljust(WIDTH) for line in render.DRAWN_MAP.splitlines()]
        for line, empty in zip(lines[1:], drawn, strict=False):
            assert all(a == b for a, b in zip(line.ljust(WIDTH), empty, strict=True) if b in "─│┌┐└┘├┤┬┴")


# ---------------------------------------------------------------- the turn and the end


def test_the_decision_is_told() -> None:
    told = ""
    for seed in range(4):
        variant, found = positions(GAME, 2, seed=seed, rules={"salesman_cards": seed % 2 == 0})
        told += "\n".join(unfolded(render.ansi(variant, states, 0, 0)) for states in found) + "\n"
    for words in (
        r"Round 1 of at most 60: player_0 chooses a side, Tokyo or New York\.",
        r"player_0 chooses a side, Zurich or Sao Paulo\.",
        r"Round 1 of at most 60: player_0 places \w+/\w+, counter 1 of 6\.",
        r"player_0 places manager, counter 6 of 6\.",
        r"player_1 places new counters\.",
        r"player_1 acts or passes\.",
        r"researches, and chooses a manager's resource\.",
        r"researches, and chooses an area for gold\.",
        r"player_0 may lay a manager at another action\.",
        r"chooses the next worker to move, 3 steps left\.",
        r"moves a worker out of Vladivostok, 3 steps left\.",
        r"moves a worker out of (Amur|Khabarovsk), 1 step left\.",
        r"chooses a pawn for an exchange\.",
        r"sends the pawn from the reserve to an exchange\.",
        r"sends the pawn from (Frankfurt|Tokyo|New York|London|Hong Kong) to an exchange\.",
        r"takes an investment tile\.",
        r"returns counters to the bag, 2 to go\.",
    ):
        assert re.search(words, told), words
    assert "waits for chance" in told
    assert "to go" in told
    assert "player_1 places manager" not in told


def test_B9_both_sides_are_shown_until_one_is_chosen() -> None:
    variant, found = positions(GAME, 2, seed=5)
    for chosen in range(5):
        states = found[chosen]
        assert (states[0].phase, states[0].sides_chosen) == (CHOOSE_SIDE, chosen)
        table = rows(render.ansi(variant, states, 0, 1), "exchange")
        assert len(table) == 1 + 1 + chosen + 2 * (5 - chosen) + 1
        for number, tile in enumerate(variant.components.exchange_tiles):
            for side, name in enumerate(tile):
                settled = number < chosen
                assert (name in table) == (settled and states[0].side[number] == side)
                assert (f"{name} ?" in table) == (not settled)
                if not settled:
                    assert prices(table[f"{name} ?"]) == list(variant.components.exchanges[name])


def test_B19_a_recalled_pawn_is_told() -> None:
    variant, found = positions(GAME, 2, seed=1)
    states = found[60].copy()
    states[0].phase, states[0].player = render.RECALL_PAWN, 1
    assert "player_1 recalls a pawn to Vladivostok." in render.ansi(variant, states, 0, 0)


def test_B22_exhausted_areas_are_marked() -> None:
    variant, found = positions(GAME, 2, seed=4)
    states = found[30].copy()
    assert "exhausted" not in "".join(drawn_places(render.ansi(variant, states, 0, 0))["Yakutia"])
    for area in (4, 11):
        exhaust(states[0], area)
    text = render.ansi(variant, states, 0, 0)
    check_map(variant, states, 0)
    assert text.count("▒ exhausted ▒") == 2
    assert "Exhausted areas: 2 of 8." in text


def test_B24_the_end_is_told() -> None:
    variant, found = positions(GAME, 3, seed=2)
    texts = [render.ansi(variant, states, 0, None) for states in found]
    last = [number for number, text in enumerate(texts) if "This is the last round." in text]
    assert last
    assert last == list(range(last[0], len(texts) - 1))
    for number in (last[0] - 1, last[0]):
        empty = int((found[number][0].reserve == 0).sum())
        assert (empty >= 3 or found[number][0].exhausted >= 8) == (number == last[0])
    over = found[-1][0]
    money = over.money[:3].tolist()
    winners = " and ".join(f"player_{player}" for player in range(3) if money[player] == max(money))
    assert f"The game is over after {int(over.rounds)} rounds; won by {winners}." in unfolded(texts[-1])
    assert "▸" in texts[0]
    assert "▸" not in texts[-1]


def test_B24_the_round_limit_is_told() -> None:
    variant, found = positions(GAME, 2, seed=2, rules={"max_rounds": 2})
    texts = [unfolded(render.ansi(variant, states, 0, 1)) for states in found]
    first_of_round_2 = next(number for number, states in enumerate(found) if states[0].rounds == 1)
    assert "This is the last round." not in texts[first_of_round_2 - 1]
    assert "This is the last round." in texts[first_of_round_2]
    assert "Round 2 of at most 2: player_1" in texts[first_of_round_2]
    assert "The game is over after 2 rounds (the round limit); won by player_0 and player_1." in texts[-1]
