"""What must hold after every step of every game: the box is complete, running fields are right, masks are exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_env.board.components import ACTIONS, ALL_EXCHANGES, KINDS, START, Components, components_from_json
from siberia_env.board.game import GAME
from siberia_env.board.rules import open_box
from siberia_env.board.state import EMPTY, NOTHING
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError
from tests.board.helpers import ALL_SIDES, Table, check_everything
from tests.board.slow_observation import (
    PHASES,
    Position,
    action_of,
    end_is_near,
    read_position,
    spaces_left,
    takers,
)
from tests.board.varied import BOXES, SMALL, STYLES, play_through
from tests.fairness import assert_fair
from tests.table import PLAYER_COUNTS, check_mask

BOX_NAMES = ("default", "small", "row", "large")


# ---------------------------------------------------------------- what may be decided, by the rules


def legal_names(position: Position) -> set[str]:
    """The names of all that the player on turn may decide."""
    player, phase, panel = position.player, position.phase, position.panels[position.player]
    workers, salesmen = position.workers[player], position.salesmen[player]
    if phase == "side":
        settled = sum(name is not None for name in position.exchanges) - 1
        return {f"side {exchange}" for exchange in position.box.exchange_tiles[settled]}
    if phase == "place":
        kind = position.drawn[player][position.placed]
        ways = ["person"] if kind == "manager" else ["person", "resource"]
        return {"place research"} | {
            f"place {way}" for way in ways if spaces_left(position, player, action_of(kind, way)) > 0
        }
    if phase == "turn":
        return {"pass"} | {f"act {action}" for action in ACTIONS if spaces_left(position, player, action) == 0}
    if phase == "research resource":
        return {
            f"resource {resource}"
            for resource in RESOURCES
            if position.reserve[resource] and takers(position, resource)
        }
    if phase == "research area":
        assert position.resource is not None
        return {f"area {area}" for area in takers(position, position.resource)}
    if phase == "wildcard":
        return {"wildcard none"} | {
            f"wildcard {action}" for action in ACTIONS[1:] if spaces_left(position, player, action) > 0
        }
    if phase == "from":
        return {"stop"} | {f"from {place}" for place in workers if position.steps[place]}
    if phase == "to":
        assert position.origin is not None
        return {f"to {area}" for area in position.steps[position.origin]}
    if phase == "salesman's pawn":
        names = {f"pawn {place}" for place in (*salesmen, *workers)}
        if position.pawns[player]:
            names.add("pawn reserve")
        if position.salesman_cards:
            free = set(RESOURCES) - {resource for cards in position.cards for resource in cards}
            names |= {f"card {resource}" for resource in free or set(RESOURCES) - set(position.cards[player])}
        return names
    if phase == "exchange":
        return {f"exchange {exchange}" for exchange in position.exchanges if exchange != position.origin}
    if phase == "worker's pawn":
        assert position.pawns[player] == 0
        return {f"pawn {place}" for place in (*salesmen, *workers) if place != START}
    if phase == "tile":
        return {
            f"tile {action}"
            for action in ACTIONS
            if action in position.face_up and action not in position.tiles[player] and len(panel[action]) < 2
        }
    if phase == "discard":
        assert sum(len(kinds) for kinds in panel.values()) > 10
        return {f"discard {action} {kind}" for action, kinds in panel.items() for kind in kinds}
    return set()


def check_offers(table: Table) -> None:
    """Just what the rules allow is legal, each under a name of its own."""
    names = table.legal()
    assert len(set(names)) == len(names)
    assert set(names) == legal_names(read_position(table))


def check_unused(table: Table) -> None:
    """What the decision at hand does not use is blank, and so is what the map lacks."""
    state, phase = table.state, PHASES[table.state.phase]
    assert phase not in ("setup", "draw")
    assert (state.resource != NOTHING) == (phase == "research area")
    assert (state.origin != NOTHING) == (phase in ("to", "exchange"))
    assert 1 <= state.steps_left <= 3 if phase in ("from", "to") else state.steps_left == 0
    assert 0 <= state.placed < 6 if phase == "place" else state.placed == 0
    assert state.sides_chosen < 5 if phase == "side" else state.sides_chosen == 5
    assert (state.rounds < table.variant.rules["max_rounds"]) or phase == "over"
    assert not np.any(state.workers[:, len(table.areas) : -1])
    assert int(state.passed) >> table.variant.num_players == 0
    assert phase != "turn" or table.player not in table.passed()
    assert phase == "place" or not state.planned.any()
    assert not np.any(state.unused)
    assert state.hit_limit == (phase == "over" and not end_is_near(read_position(table)))


def check_all(table: Table) -> None:
    """Everything in this file."""
    check_everything(table)
    check_unused(table)
    check_mask(table)
    check_offers(table)


@pytest.mark.parametrize("box", range(len(BOXES)), ids=BOX_NAMES)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_everything_holds_after_every_step(players: int, box: int) -> None:
    """With every way of settling the sides, with and without salesman cards, in every style of play."""
    rules = {
        "salesman_cards": (players + box) % 2 == 0,
        "sides": ALL_SIDES[(players + box) % 3],
        "max_rounds": 10,
    }
    table = Table.deal(players, rules, BOXES[box], seed=players + 10)
    style = STYLES[(players + 2 * box) % 3]
    for _ in play_through(table, np.random.default_rng(10 * players + box), style, 300):
        check_all(table)
    check_all(table)


@pytest.mark.parametrize("box", range(len(BOXES)), ids=BOX_NAMES)
def test_everything_holds_late_in_the_game(box: int) -> None:
    """When areas are exhausted and pawns, tiles and salesman cards used up: looked at now and then."""
    exhausted = recalls = 0
    for players in (2, 4):
        table = Table.deal(players, {"salesman_cards": True}, BOXES[box], seed=players)
        for step, _ in enumerate(play_through(table, np.random.default_rng(players + box), STYLES[1])):
            late = table.state.rounds >= 8
            recall = PHASES[table.state.phase] == "worker's pawn"
            recalls += recall
            if late and (step % 20 == 0 or recall):
                check_all(table)
        check_all(table)
        exhausted += len(table.exhausted())
    assert exhausted > 0
    assert recalls > 0


@st.composite
def boxes(draw: Any, players: int) -> Components:
    """Odd boxes: small maps, rows and rings, few counters, missing kinds and tiles, prices of nothing."""
    size = draw(st.integers(2, 16))
    names = [f"Area {number}" for number in range(size)]
    adjacent: dict[str, set[str]] = {name: set() for name in names}
    links = [(number, draw(st.integers(0, number - 1))) for number in range(1, size)]
    links += draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=size))
    for one, other in links:
        if one != other:
            adjacent[names[one]].add(names[other])
            adjacent[names[other]].add(names[one])
    least = 16 * players
    counters = draw(st.lists(st.integers(0, 5), min_size=len(KINDS), max_size=len(KINDS)))
    counters[draw(st.integers(0, len(KINDS) - 1))] += max(least - sum(counters), 0)
    tiles = draw(st.lists(st.integers(0, 4), min_size=len(ACTIONS), max_size=len(ACTIONS)))
    tiles[0] += max(4 - sum(tiles), 0)
    cubes = [draw(st.integers(0, 8)) + size for _ in RESOURCES[:2]] + [draw(st.integers(0, 12)) for _ in RESOURCES[2:]]
    prices = [
        tuple(draw(st.lists(st.sampled_from((0, 0, 1, 5, 99)), min_size=5, max_size=5))) for _ in range(ALL_EXCHANGES)
    ]
    return Components(
        counters=dict(zip(KINDS, counters, strict=True)),
        investment_tiles=dict(zip(ACTIONS, tiles, strict=True)),
        cubes=dict(zip(RESOURCES, cubes, strict=True)),
        exchanges=dict(zip(Components().exchanges, prices, strict=True)),
        arrows=tuple(draw(st.sets(st.sampled_from(names), min_size=1, max_size=3))),
        areas={name: tuple(sorted(others)) for name, others in adjacent.items()},
    )


@settings(max_examples=20)
@given(data=st.data(), players=st.sampled_from(PLAYER_COUNTS), style=st.sampled_from(STYLES))
def test_everything_holds_with_any_box_and_any_choices(
    data: st.DataObject, players: int, style: dict[str, float]
) -> None:
    components = data.draw(boxes(players))
    rules = {
        "sides": data.draw(st.sampled_from(ALL_SIDES)),
        "salesman_cards": data.draw(st.booleans()),
        "max_rounds": data.draw(st.integers(1, 20)),
    }
    table = Table.deal(players, rules, components, seed=data.draw(st.integers(0, 2**64 - 1)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    for step, _ in enumerate(play_through(table, rng, style)):
        if step < 30 or step % 30 == 0:
            check_all(table)
    assert table.over
    check_all(table)


@pytest.mark.parametrize("salesman_cards", [False, True])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_hundreds_of_games_come_to_their_end(players: int, salesman_cards: bool) -> None:
    mask, games = np.zeros(GAME.num_actions, np.int8), 200
    for box in BOXES:
        variant = GAME.variant(players, {"salesman_cards": salesman_cards, "max_rounds": 30}, box)
        states, rulesets = variant.new_states(games), variant.rulesets
        for game in range(games):
            engine.deal_at(rulesets, states, game, np.uint64(77), game, 0)
            assert engine.random_playout(rulesets, states, game, mask, np.uint64(game)) > 0
            assert engine.is_over_at(rulesets, states, game)
            assert engine.legal_at(rulesets, states, game, mask) == 0
        stopped = states["hit_limit"] == 1
        areas_to_end = min(8, len(box.areas))
        due = (states["exhausted"] >= areas_to_end) | ((states["reserve"] == 0).sum(axis=1) >= 3)
        assert np.array_equal(stopped, ~due)
        assert np.all(states["rounds"][stopped] == 30)
        assert np.all(states["rounds"] <= 30)
        assert due.any()
        pawns = states["pawns"] + states["workers"].sum(axis=2) + states["salesmen"].sum(axis=2)
        assert np.all(pawns[:, :players] == 6)
        assert states["counters"].max() <= 10
        assert states["money"].min() >= 0
        on_panels = (states["panel"] != EMPTY).sum(axis=(1, 2, 3))
        assert np.all(states["bag"].sum(axis=1) + on_panels == sum(box.counters.values()))


def test_boxes_of_these_tests_are_ones_that_a_file_may_give() -> None:
    for box in BOXES:
        assert components_from_json(box.as_json()) == box
    with pytest.raises(ConfigurationError):
        components_from_json({**SMALL.as_json(), "arrows": []})


# ---------------------------------------------------------------- chance, resolved and forced


def setups(
    rest: Counter[str], lying: tuple[tuple[str, ...], ...], share: float = 1.0
) -> Iterator[tuple[tuple[tuple[str, ...], ...], float]]:
    """B8, cube by cube: every way in which the areas can be filled, with its chance."""
    if all(len(cubes) == 2 for cubes in lying):
        yield lying, share
        return
    for resource, count in rest.items():
        if count:
            chance = share * count / rest.total()
            free = [number for number, cubes in enumerate(lying) if len(cubes) < 2 and resource not in cubes]
            after = list(lying)
            if free:
                after[free[0]] = tuple(sorted((*lying[free[0]], resource)))
            yield from setups(rest - Counter([resource]), tuple(after), chance)


def test_B8_the_areas_are_filled_as_brute_force_says() -> None:
    cubes = {"gas": 3, "charcoal": 2, "oil": 1, "gold": 1, "diamond": 0}
    box = Components(areas={"Near": ("Far",), "Far": ("Near",)}, arrows=("Near",), cubes=cubes)
    weights: Counter[Any] = Counter()
    for lying, chance in setups(Counter(cubes), ((), ())):
        weights[lying] += chance  # type: ignore[assignment]
    table = Table(GAME.variant(2, None, box))
    counts: Counter[Any] = Counter()
    for game in range(4000):
        engine.deal_at(table.variant.rulesets, table.states, 0, np.uint64(5), 0, game)
        counts[tuple(tuple(sorted(table.cubes(area))) for area in table.areas)] += 1
    assert_fair(counts, weights)


def setup_of(table: Table) -> np.ndarray[Any, Any]:
    """The outcome that gives the setup on `table`: cubes by area, tiles from the top down, sides."""
    box = table.variant.components
    cubes = [RESOURCES.index(resource) for area in table.areas for resource in table.cubes(area)]
    tiles = table.state.tile_stack[: sum(box.investment_tiles.values())][::-1].tolist()
    sides = [] if table.variant.rules["sides"] == "choose" else table.state.side.tolist()
    outcome = np.full(GAME.outcome_size, -1, np.int8)
    outcome[: len(cubes) + len(tiles) + len(sides)] = [*cubes, *tiles, *sides]
    return outcome


@pytest.mark.parametrize("sides", ALL_SIDES, ids=["choose", "random", "given"])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_forcing_the_setup_that_fell_gives_the_same_state(players: int, sides: Any) -> None:
    """Equal states but for the generator, which stays."""
    variant = GAME.variant(players, {"sides": sides})
    for seed in range(10):
        table = Table(variant)
        open_box(variant.rulesets[0], table.states[0])
        table.state.generator = seed
        assert engine.is_chance_at(variant.rulesets, table.states, 0)
        assert engine.legal_at(variant.rulesets, table.states, 0, np.zeros(GAME.num_actions, np.int8)) == 0
        forced = table.states.copy()
        engine.resolve_at(variant.rulesets, table.states, 0)
        engine.force_at(variant.rulesets, forced, 0, setup_of(table))
        assert forced[0].generator == seed != table.state.generator
        forced[0].generator = table.state.generator
        assert forced.tobytes() == table.states.tobytes()


@pytest.mark.parametrize("style", STYLES, ids=["even", "miners", "collectors"])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_forcing_the_counters_that_fell_gives_the_same_state(players: int, style: dict[str, float]) -> None:
    variant = GAME.variant(players)
    table = Table.deal(players, seed=3)
    draws = 0
    for action in play_through(table, np.random.default_rng(3), style, 500):
        waiting = table.states.copy()
        engine.advance_at(variant.rulesets, waiting, 0, action)
        if engine.is_chance_at(variant.rulesets, waiting, 0):
            draws += 1
            assert not engine.is_over_at(variant.rulesets, waiting, 0)
            assert engine.legal_at(variant.rulesets, waiting, 0, np.zeros(GAME.num_actions, np.int8)) == 0
            resolved = waiting.copy()
            engine.resolve_at(variant.rulesets, resolved, 0)
            start = int(waiting[0].start)
            outcome = np.full(GAME.outcome_size, -1, np.int8)
            order = [(start + seat) % players for seat in range(players)]
            outcome[: 6 * players] = [kind for player in order for kind in resolved[0].drawn[player][::-1]]
            engine.force_at(variant.rulesets, waiting, 0, outcome)
            assert waiting[0].generator != resolved[0].generator
            waiting[0].generator = resolved[0].generator
            assert waiting.tobytes() == resolved.tobytes()
    assert draws > 3
