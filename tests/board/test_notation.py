"""The board game's chance outcomes: named, turned back into cubes, tiles and counters, forced; damaged records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_env.board import notation
from siberia_env.board.actions import ACT, AREA, CARD, PASS, PLACE_RESEARCH, RESOURCE, SIDE, WILDCARD
from siberia_env.board.components import ACTIONS, KINDS, MANAGER_COUNTER, Components
from siberia_env.board.state import (
    AT_RESEARCH,
    CHOOSE_AREA,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DRAW,
    PLACE,
    SETUP,
    TAKE_TILE,
)
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import Variant, find_game
from siberia_env.records import Record, describe, replay
from tests.board.helpers import ALL_SIDES, GIVEN_SIDES
from tests.records import (
    Damage,
    Lines,
    as_text,
    at_setup,
    change_event,
    check_damage,
    event_line,
    fresh_lines,
    golden_lines,
    golden_record,
    ill_formed,
    insert,
    random_record,
    read_text,
    refused,
    remove,
    steps,
)
from tests.table import PLAYER_COUNTS

BOARD = find_game("board")
AREAS = tuple(Components().areas)
TILES = Components().exchange_tiles
every_way = pytest.mark.parametrize("sides", ALL_SIDES, ids=("choose", "random", "given"))


def at_draw(variant: Variant, seed: int = 0) -> Any:
    """A game in which counters are to be drawn for the third time, so that the bag lacks some."""
    return next(after for _, _, after in steps(variant, seed) if after[0].phase == DRAW and after[0].rounds == 2)


def any_setup(variant: Variant, seed: int) -> list[int]:
    """Cubes, tiles and sides as they could come out."""
    generator, ruleset = np.random.default_rng(seed), variant.rulesets[0]
    order: list[int] = []
    for _ in variant.components.areas:
        order += generator.choice(len(RESOURCES), 2, replace=False).tolist()
    order += generator.permutation(np.repeat(np.arange(len(ACTIONS)), ruleset.tiles)).tolist()
    sides = variant.rules["sides"]
    if isinstance(sides, tuple):
        return order + ruleset.given_sides.tolist()
    return order + (generator.integers(2, size=5).tolist() if sides == "random" else [])


def any_draw(variant: Variant, states: Any, seed: int) -> list[int]:
    """Counters from the bag, six for each player."""
    bag = np.repeat(np.arange(len(KINDS)), states[0].bag)
    return np.random.default_rng(seed).permutation(bag)[: 6 * variant.num_players].tolist()


# ---------------------------------------------------------------- forcing


@every_way
def test_B8_B10_a_forced_setup_lays_cubes_tiles_and_sides_as_told(sides: Any) -> None:
    variant = BOARD.variant(3, {"sides": sides})
    states = at_setup(variant)
    assert states[0].phase == SETUP
    order, generator = any_setup(variant, 4), int(states[0].generator)
    variant.force(states, 0, order)
    state = states[0]
    for number, area in enumerate(AREAS):
        cubes = [resource for resource in range(5) if int(state.lying[resource]) >> number & 1]
        assert cubes == sorted(order[2 * number : 2 * number + 2]), area
    laid = Counter(order[:24])
    assert state.reserve.tolist() == [count - laid[index] for index, count in enumerate((18, 16, 14, 12, 10))]
    tiles, settled = order[24:44], order[44:]
    assert state.side.tolist() == (settled or [0] * 5)
    if sides == "choose":
        assert state.phase == CHOOSE_SIDE
        for tile in range(5):
            engine.advance_at(variant.rulesets, states, 0, SIDE + 2 * tile)
    assert state.phase == DRAW
    assert Counter(np.repeat(np.arange(len(ACTIONS)), state.face_up).tolist()) == Counter(tiles[:4])
    assert state.tile_stack[: state.tile_stack_size][::-1].tolist() == tiles[4:]
    assert int(state.generator) == generator


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_a_forced_draw_goes_from_the_starting_player_on(players: int) -> None:
    variant = BOARD.variant(players)
    states = at_draw(variant)
    before = states.copy()
    order = any_draw(variant, states, players)
    variant.force(states, 0, np.array(order, np.int16))
    state = states[0]
    assert state.phase == PLACE
    assert state.start == 2 % players
    for turn in range(players):
        assert state.drawn[(state.start + turn) % players].tolist() == sorted(order[6 * turn : 6 * turn + 6])
    assert (before[0].bag - state.bag).tolist() == np.bincount(order, minlength=len(KINDS)).tolist()
    assert int(state.generator) == int(before[0].generator)


def test_entries_behind_the_outcome_do_not_count() -> None:
    variant = BOARD.variant(2, {"sides": "random"})
    for states, order in (
        (at_setup(variant), any_setup(variant, 1)),
        (at_draw(variant), any_draw(variant, at_draw(variant), 1)),
    ):
        other = states.copy()
        variant.force(states, 0, order)
        variant.force(other, 0, order + [99] * (BOARD.outcome_size - len(order)))
        assert states.tobytes() == other.tobytes()


def impossible_setups(order: list[int]) -> Iterator[tuple[str, Any]]:
    yield "twice the same in an area", [order[1], *order[1:]]
    yield "no resource", [5, *order[1:]]
    yield "below the resources", [-1, *order[1:]]
    yield "wraps to a resource", [order[0] + 256, *order[1:]]
    yield "more cubes than there are", [4, 3] * 12 + order[24:]
    yield "a tile too many", [*order[:24], next(t for t in order[24:44] if t != order[24]), *order[25:]]
    yield "no tile", [*order[:24], len(ACTIONS), *order[25:]]
    yield "a tile that wraps", [*order[:24], order[24] + 256, *order[25:]]
    yield "no side", [*order[:-1], 2]
    yield "a side below", [*order[:-1], -1]
    yield from ill_formed(BOARD.variant(3), order)


def impossible_draws(order: list[int], bag: list[int]) -> Iterator[tuple[str, Any]]:
    rarest = min((kind for kind in range(len(KINDS))), key=lambda kind: bag[kind])
    yield (
        "more of a kind than the bag has",
        [rarest] * (bag[rarest] + 1)
        + [kind for kind in np.repeat(np.arange(len(KINDS)), bag).tolist() if kind != rarest][
            : len(order) - bag[rarest] - 1
        ],
    )
    yield "no kind", [len(KINDS), *order[1:]]
    yield "below the kinds", [-1, *order[1:]]
    yield "wraps to a kind", [order[0] + 256, *order[1:]]
    yield from ill_formed(BOARD.variant(3), order)


def test_an_impossible_outcome_is_refused_and_nothing_happens() -> None:
    variant = BOARD.variant(3, {"sides": "random"})
    setup, draw = at_setup(variant), at_draw(variant)
    cases = [(setup, what, order) for what, order in impossible_setups(any_setup(variant, 3))]
    cases += [(draw, what, order) for what, order in impossible_draws(any_draw(variant, draw, 3), draw[0].bag.tolist())]
    for states, what, order in cases:
        before = states.tobytes()
        wanted = "24 resources of cubes, then 20 actions of tiles, then 5 sides" if states is setup else "18 kinds of"
        with pytest.raises(ConfigurationError, match=rf"^force: expected {wanted}"):
            variant.force(states, 0, order)
        assert states.tobytes() == before, what


def test_B9_given_sides_can_not_come_out_otherwise() -> None:
    variant = BOARD.variant(2, {"sides": GIVEN_SIDES})
    states = at_setup(variant)
    order = any_setup(variant, 3)
    assert order[-5:] == [1, 0, 1, 0, 1]
    with pytest.raises(ConfigurationError, match=r"tile 4 shows side \[1\]; got 0"):
        variant.force(states, 0, [*order[:-1], 0])


def test_without_a_chance_outcome_due_nothing_is_forced() -> None:
    variant = BOARD.variant(2)
    states = at_setup(variant)
    order = any_setup(variant, 1)
    variant.force(states, 0, order)
    before = states.tobytes()
    with pytest.raises(ConfigurationError, match="force: no chance outcome is due"):
        variant.force(states, 0, order)
    assert states.tobytes() == before


# ---------------------------------------------------------------- from states to lines


@every_way
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_a_setup_line_shows_cubes_reserve_tiles_and_sides(players: int, sides: Any) -> None:
    variant = BOARD.variant(players, {"sides": sides})
    states = at_setup(variant)
    order = any_setup(variant, players)
    variant.force(states, 0, order)
    event = notation.setup_event(variant, states, 0)
    notation.check_event(variant, event)
    cubes = iter(order[:24])
    assert event["areas"] == {
        area: [RESOURCES[resource] for resource in sorted((next(cubes), next(cubes)))] for area in AREAS
    }
    assert event["tiles"] == [ACTIONS[action] for action in order[24:28]]
    if sides == "choose":
        assert "sides" not in event
    else:
        assert event["sides"] == [both[side] for both, side in zip(TILES, order[44:], strict=True)]
        engine.resolve_at(variant.rulesets, states, 0)
        assert notation.setup_event(variant, states, 0) == event, "drawing counters changes nothing of it"


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_events_tell_all_that_moved_by_chance(players: int) -> None:
    """Every tile that leaves the stack and every counter that is drawn stands in a line, in order."""
    variant = BOARD.variant(players, {"salesman_cards": True})
    kinds_of_events = set()
    for before, _, after in steps(variant, 20 + players):
        old, new = before[0], after[0]
        events = notation.events(variant, before, after)
        turned_up = old.tile_stack[new.tile_stack_size : old.tile_stack_size][::-1]
        told = [event["tile"] for event in events]
        assert told == ([] if old.phase == CHOOSE_SIDE else [ACTIONS[action] for action in turned_up])
        assert notation.due_events(variant, after, 0) == []
        if new.phase == DRAW:
            drawn = after.copy()
            engine.resolve_at(variant.rulesets, drawn, 0)
            lines = notation.events(variant, after, drawn)
            assert [line["player"] for line in lines] == [(new.start + turn) % players for turn in range(players)]
            kinds = Counter(counter for line in lines for counter in line["counters"])
            assert [kinds[kind] for kind in KINDS] == (new.bag - drawn[0].bag).tolist()
            events += lines
        for event in events:
            notation.check_event(variant, event)
        kinds_of_events |= {event["event"] for event in events}
    assert kinds_of_events == {"draw", "tile"}


def test_nothing_is_written_when_the_last_tile_is_gone() -> None:
    few = {**dict.fromkeys(ACTIONS, 0), "worker": 2, "gas": 2, "oil": 1}
    variant = BOARD.variant(4, None, Components(investment_tiles=few))
    for seed in range(20):
        record = random_record(variant, seed)
        taken = [at for at, line in enumerate(record.lines) if line.get("action", "").startswith("tile ")]
        if len(taken) > 2:
            told = [at for at, line in enumerate(record.lines) if line.get("event") == "tile"]
            assert told == [taken[0] + 1], "four of five tiles lie face up from the beginning"
            return
    raise AssertionError("too few tiles taken")


# ---------------------------------------------------------------- remarks


def test_remarks_say_what_placing_and_research_are_about() -> None:
    variant = BOARD.variant(3)
    for before, action, after in steps(variant, 3):
        old = before[0]
        remark = notation.remark(variant, before, after, action)
        if old.phase == PLACE:
            kind = KINDS[old.drawn[old.player, old.placed]]
            resource, _, person = kind.partition("/")
            where = ("research", person or "manager", resource)[action - PLACE_RESEARCH]
            assert remark.startswith(f"{kind} at {where}")
        elif old.phase == CHOOSE_AREA:
            assert remark.startswith(f"{RESOURCES[old.resource]} cube")
        elif old.phase == CHOOSE_RESOURCE:
            assert remark == ""


def test_remarks_say_what_the_actions_brought() -> None:
    """Each form of remark comes up, and goes with what the states show."""
    variant = BOARD.variant(2, {"salesman_cards": True, "max_rounds": 25})
    seen: Counter[str] = Counter()
    for seed in range(40):
        for before, action, after in steps(variant, seed):
            old, new, player = before[0], after[0], int(before[0].player)
            remark = notation.remark(variant, before, after, action)
            first = remark.split(";")[0]
            if action < PASS:
                continue
            if ACT <= action < RESOURCE:
                name = ACTIONS[action - ACT]
                earned = int(new.money[player] - old.money[player])
                if name in RESOURCES:
                    if earned:
                        count, price = first.split()[0], int(old.best_price[player, RESOURCES.index(name)])
                        assert earned == int(count) * price
                        assert first.startswith(f"{count} {name} from ")
                        assert first.endswith(f", sold at ${price * 1000}")
                        emptied = [area for number, area in enumerate(AREAS) if int(old.open & ~new.open) >> number & 1]
                        assert (f"exhausted: {', '.join(emptied)}" in remark) == bool(emptied)
                        seen["sold"] += 1
                        seen["exhausted"] += bool(emptied)
                    else:
                        assert first in (
                            f"nothing: no price is open for {name}",
                            f"nothing: no worker where {name} lies",
                        )
                        assert ("price" in first) == (old.best_price[player, RESOURCES.index(name)] == 0)
                        seen[first.split(" ", 3)[2]] += 1
                elif name == "worker" and old.pawns[player] > 0:
                    assert first == "a worker to Vladivostok"
                    seen["worker"] += 1
                elif name == "investor" and new.phase != TAKE_TILE:
                    assert first == "nothing: no tile to take"
                    seen["no tile"] += 1
            elif AREA > action >= RESOURCE or WILDCARD <= action < CARD:
                assert first in ("", f"round {new.rounds} is over") or "in vain" in first
            elif CARD <= action < CARD + 5 and old.card_owner[action - CARD] >= 0:
                assert first == f"from player {1 - player}"
                seen["card"] += 1
            if "in vain" in remark:
                seen["vain"] += 1
            assert (f"round {new.rounds} is over" in remark) == (new.rounds > old.rounds)
    assert min(seen[what] for what in ("sold", "exhausted", "price", "worker", "no tile", "card", "vain")) > 0, seen


def test_B15_research_in_vain_is_counted() -> None:
    """Every counter at research lays a cube or is in vain."""
    variant = BOARD.variant(3)
    for seed in range(4):
        planned = told = laid = 0
        for before, action, after in steps(variant, seed):
            old, new = before[0], after[0]
            if old.phase == PLACE and new.phase != PLACE:
                planned += int((new.plan[:3] == AT_RESEARCH).sum())
            laid += old.phase == CHOOSE_AREA
            for note in notation.remark(variant, before, after, action).split("; "):
                told += int(note.split()[0]) if note.endswith("in vain") else 0
        assert planned == laid + told > 0


def test_a_description_of_the_setup_names_areas_reserve_tiles_and_exchanges() -> None:
    record = random_record(BOARD.variant(2, {"sides": GIVEN_SIDES, "max_rounds": 1}), 4)
    told, setup = list(describe(record)), record.lines[1]
    cubes = "; ".join(f"{area} {first}, {second}" for area, (first, second) in setup["areas"].items())
    assert told[2] == f"  cubes: {cubes}"
    reserve = setup["reserve"]
    assert told[3] == f"  reserve: {', '.join(f'{reserve[resource]} {resource}' for resource in RESOURCES)}"
    assert told[4] == f"  investment tiles: {', '.join(setup['tiles'])}"
    assert told[5] == f"  exchanges: Frankfurt, {', '.join(GIVEN_SIDES)}"
    assert told[6] == f"  player 0 draws {', '.join(record.lines[2]['counters'])}"


# ---------------------------------------------------------------- from lines to outcomes


def numbered(*lines: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    return list(enumerate(lines, start=2))


def setup_line(**changes: Any) -> dict[str, Any]:
    areas = {area: ["gas", "gold"] if number % 2 else ["charcoal", "oil"] for number, area in enumerate(AREAS)}
    reserve = {"gas": 12, "charcoal": 10, "oil": 8, "gold": 6, "diamond": 10}
    return {"event": "setup", "areas": areas, "reserve": reserve, "tiles": ["oil", "gas", "gas", "manager"], **changes}


def test_an_outcome_has_the_shown_tiles_on_top_and_the_rest_in_order() -> None:
    variant = BOARD.variant(2, {"sides": "random"})
    states = at_setup(variant)
    lines = numbered(
        setup_line(sides=["Tokyo", "Hong Kong", "Toronto", "Sydney", "Sao Paulo"]),
        {"event": "draw", "player": 0, "counters": ["manager"] * 6},
        {"event": "tile", "tile": "diamond"},
        {"player": 1, "action": "pass", "legal": ["pass"]},
        {"event": "tile", "tile": "oil"},
    )
    order = notation.outcome(variant, states, 0, lines).tolist()
    assert order[:24] == [1, 2, 0, 3] * 6
    assert [ACTIONS[action] for action in order[24:30]] == ["oil", "gas", "gas", "manager", "diamond", "oil"]
    assert order[30:44] == sorted(order[30:44])
    assert order[44:49] == [0, 1, 1, 0, 1]
    variant.force(states, 0, order)
    assert notation.setup_event(variant, states, 0) == lines[0][1]


def test_an_outcome_follows_the_areas_of_the_map_and_not_those_of_the_line() -> None:
    variant = BOARD.variant(2)
    states = at_setup(variant)
    line = setup_line()
    turned = {**line, "areas": dict(reversed(line["areas"].items()))}
    orders = [notation.outcome(variant, states, 0, numbered(told)).tolist() for told in (line, turned)]
    assert orders[0] == orders[1]


def test_a_tile_too_many_is_refused_where_it_is_shown() -> None:
    variant = BOARD.variant(2)
    states = at_setup(variant)
    before = states.tobytes()
    with pytest.raises(RecordError, match=r"^line 3: one gas too many; of the investment tiles 2 are gas$"):
        notation.outcome(variant, states, 0, numbered(setup_line(), {"event": "tile", "tile": "gas"}))
    with pytest.raises(RecordError, match=r"^line 2: one oil too many; of the investment tiles 2 are oil$"):
        notation.outcome(variant, states, 0, numbered(setup_line(tiles=["oil"] * 4)))
    assert states.tobytes() == before


def test_B11_a_draw_is_from_the_bag() -> None:
    variant = BOARD.variant(2)
    states = at_draw(variant)
    kind = int(np.argmin(states[0].bag[:MANAGER_COUNTER]))
    left, name = int(states[0].bag[kind]), KINDS[kind]
    first = {"event": "draw", "player": 0, "counters": ["manager"] * 4 + [name] * 2}
    order = any_draw(variant, states, 3)
    counters = [KINDS[other] for other in order]
    lines = numbered(
        {"event": "draw", "player": 0, "counters": counters[:6]},
        {"event": "draw", "player": 1, "counters": counters[6:]},
    )
    assert notation.outcome(variant, states, 0, lines)[:12].tolist() == order
    assert left < 6, "some counters lie on panels"
    first["counters"] = [name] * (left + 1) + ["manager"] * (5 - left)
    with pytest.raises(
        RecordError, match=rf"^line 2: one {name} too many; of the counters in the bag {left} are {name}$"
    ):
        notation.outcome(variant, states, 0, numbered(first))


def test_every_form_of_event_is_told_and_outlined() -> None:
    events = [
        setup_line(sides=GIVEN_SIDES),
        {"event": "draw", "player": 1, "counters": ["gas/worker"] * 6},
        {"event": "tile", "tile": "gas"},
    ]
    for event in events:
        assert all(notation.describe_event(event))
        assert event["event"] in notation.outline(event)


# ---------------------------------------------------------------- names


@every_way
def test_an_exchange_goes_by_its_active_side_once_the_sides_are_settled(sides: Any) -> None:
    variant = BOARD.variant(2, {"sides": sides, "salesman_cards": True})
    named = set()
    for seed in range(10):
        record = random_record(variant, seed)
        chosen = [line["action"].removeprefix("side ") for line in record.lines if "side " in line.get("action", "")]
        active = chosen if sides == "choose" else record.lines[1]["sides"]
        places = {"Frankfurt", *active, *AREAS, "Vladivostok", "reserve"}
        for line in record.lines:
            for name in line.get("legal", ()):
                verb, _, place = name.partition(" ")
                if verb in ("pawn", "exchange"):
                    assert place in places
                    named.add(place)
    assert len(named & {exchange for both in TILES for exchange in both}) >= 5


def test_the_name_of_an_inactive_side_is_refused(tmp_path: Path) -> None:
    variant = BOARD.variant(2, {"sides": GIVEN_SIDES})
    lines = next(
        lines
        for lines in (fresh_lines(random_record(variant, seed)) for seed in range(20))
        if any(line.get("action") == "exchange New York" for line in lines)
    )
    at = next(at for at, line in enumerate(lines) if line.get("action") == "exchange New York")
    for name in ("exchange Tokyo", "exchange Tokyo/New York"):
        lines[at]["action"] = name
        assert f"'{name}' is not legal; legal are exchange " in refused(tmp_path, as_text(lines), at + 1)
    lines[at]["action"] = "exchange New York"
    lines[at]["legal"][lines[at]["legal"].index("exchange New York")] = "exchange Tokyo"
    message = refused(tmp_path, as_text(lines), at + 1)
    assert 'missing ["exchange New York"], wrong ["exchange Tokyo"]' in message


# ---------------------------------------------------------------- damaged records


def change_area(area: str, cubes: Any) -> Damage:
    return change_event("setup", "areas", lambda areas: {**areas, area: cubes})


def change_reserve(resource: str, change: Callable[[int], Any]) -> Damage:
    return change_event("setup", "reserve", lambda reserve: {**reserve, resource: change(reserve[resource])})


def without(key: str) -> Damage:
    def damage(lines: Lines) -> int:
        del lines[1][key]
        return 1

    return damage


def diamonds_everywhere(lines: Lines) -> int:
    lines[1]["areas"] = {area: ["gold", "diamond"] for area in lines[1]["areas"]}
    return 1


def one_of_a_kind_too_many(lines: Lines) -> int:
    """Draw more counters of a kind than there are, later than the first round."""
    at = [at for at, line in enumerate(lines) if line.get("event") == "draw"][4]
    lines[at]["counters"] = ["gas/investor"] * 6
    return at


def third_tile(lines: Lines) -> int:
    """Turn up more tiles for an action than there are."""
    lines[1]["tiles"][:2] = ["gas", "gas"]
    at = event_line(lines, "tile")
    lines[at]["tile"] = "gas"
    return at


def wrong_order(lines: Lines) -> int:
    at = event_line(lines, "draw")
    lines[at]["counters"].reverse()
    return at


DAMAGE: dict[str, tuple[Damage, str]] = {
    "sides though they are chosen": (
        change_event("setup", "sides", GIVEN_SIDES),
        "setup: expected the keys event, areas, res",
    ),
    "no areas": (without("areas"), "setup: expected the keys event, areas, reserve, tiles; got event, reserve, tiles"),
    "no reserve": (without("reserve"), "setup: expected the keys"),
    "no tiles": (without("tiles"), "setup: expected the keys"),
    "areas' type": (change_event("setup", "areas", [["gas", "oil"]]), "setup.areas: expected an object"),
    "an area missing": (
        change_event("setup", "areas", lambda areas: {a: c for a, c in areas.items() if a != "Yamal"}),
        "setup.areas.Yamal: missing",
    ),
    "an unknown area": (change_area("Tomsk", ["gas", "oil"]), "setup.areas.Tomsk: no such entry"),
    "cubes' type": (change_area("Amur", "gas"), "setup.areas.Amur: expected a list of 2 resources; got 'gas'"),
    "one cube": (change_area("Amur", ["gas"]), "setup.areas.Amur: expected a list of 2 resources"),
    "three cubes": (change_area("Amur", ["gas", "oil", "gold"]), "setup.areas.Amur: expected a list of 2 resources"),
    "twice the same": (change_area("Amur", ["gas", "gas"]), "setup.areas.Amur: twice gas"),
    "an unknown resource": (change_area("Amur", ["gas", "tin"]), "setup.areas.Amur[1]: no resource 'tin'"),
    "a resource's type": (change_area("Amur", [["gas"], "oil"]), "setup.areas.Amur[0]: no resource ['gas']"),
    "cubes in another order": (
        change_area("Amur", ["oil", "gas"]),
        "setup.areas.Amur: expected ['gas', 'oil'], in the order of resources; got ['oil', 'gas']",
    ),
    "too many cubes": (diamonds_everywhere, "setup.areas: 12 cubes of diamond; there are 10"),
    "other cubes": (change_area("Amur", ["gas", "diamond"]), "setup.reserve."),
    "reserve too large": (change_reserve("gas", lambda count: count + 1), "setup.reserve.gas: expected "),
    "reserve too small": (change_reserve("oil", lambda count: count - 1), "what the areas leave of 14; got "),
    "reserve's type": (change_reserve("gold", float), "setup.reserve.gold: expected "),
    "reserve true": (change_event("setup", "reserve", True), "setup.reserve: expected an object"),
    "reserve of something else": (change_reserve("gas", str), "setup.reserve.gas: expected "),
    "three tiles": (change_event("setup", "tiles", lambda tiles: tiles[1:]), "setup.tiles: expected a list of 4 tiles"),
    "an unknown tile": (
        change_event("setup", "tiles", ["gas", "oil", "tin", "oil"]),
        "setup.tiles[2]: no investment tile",
    ),
    "a tile's type": (change_event("setup", "tiles", ["gas", "oil", 3, "oil"]), "setup.tiles[2]: no investment tile 3"),
    "three tiles of a kind": (
        change_event("setup", "tiles", ["gas"] * 4),
        "one gas too many; of the investment tiles 2",
    ),
    "three tiles of a kind later": (third_tile, "one gas too many; of the investment tiles 2 are gas"),
    "counters' type": (change_event("draw", "counters", "manager"), "draw.counters: expected a list of 6 counters"),
    "five counters": (
        change_event("draw", "counters", lambda counters: counters[1:]),
        "draw.counters: expected a list",
    ),
    "seven counters": (change_event("draw", "counters", lambda counters: [*counters, "manager"]), "draw.counters: exp"),
    "an unknown counter": (change_event("draw", "counters", ["tin/worker"] * 6), "draw.counters[0]: no counter 'tin/w"),
    "a counter's type": (change_event("draw", "counters", [None] * 6), "draw.counters[0]: no counter None"),
    "counters in another order": (wrong_order, "as they come up (B12); got ['manager', "),
    "too many of a kind": (
        change_event("draw", "counters", ["gas/worker"] * 6),
        "one gas/worker too many; of the counters in the bag 3 are gas/worker",
    ),
    "too many of a kind later": (one_of_a_kind_too_many, "one gas/investor too many; of the counters in the bag "),
    "a draw too many": (
        insert(
            {"event": "draw", "player": 0, "counters": ["manager"] * 6}, lambda lines: event_line(lines, "draw") + 2
        ),
        "expected a decision of player 0; got",
    ),
    "the last draw left out": (remove(lambda lines: event_line(lines, "draw") + 2), "expected a draw line of player 2"),
    "the tile left out": (remove(lambda lines: event_line(lines, "tile")), "expected a tile line; got"),
    "tile's type": (change_event("tile", "tile", ["gas"]), "tile.tile: no investment tile ['gas']"),
    "tile for nothing": (change_event("tile", "tile", "tin"), "tile.tile: no investment tile 'tin'"),
    "a tile too many": (
        insert({"event": "tile", "tile": "diamond"}, lambda lines: event_line(lines, "tile")),
        "expected a decision of player",
    ),
    "tile before its time": (
        insert({"event": "tile", "tile": "diamond"}, lambda lines: 1),
        "expected a decision of player 0; got",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_chance_line_is_refused_with_its_line_number(damage: str, tmp_path: Path) -> None:
    check_damage(tmp_path, "board", *DAMAGE[damage])


@pytest.mark.parametrize(
    ("rule", "sides", "reason"),
    [
        ("random", ["Tokyo"] * 5, "setup.sides[1]: expected London or Hong Kong; got 'Tokyo'"),
        ("random", ["Tokyo"], "setup.sides: expected a list of 5 exchanges"),
        ("random", "Tokyo", "setup.sides: expected a list of 5 exchanges"),
        ("random", [0, 1, 0, 1, 0], "setup.sides[0]: expected Tokyo or New York; got 0"),
        (GIVEN_SIDES, [*GIVEN_SIDES[:4], "Zurich"], "setup.sides[4]: expected Sao Paulo; got 'Zurich'"),
        ("random", None, "setup: expected the keys event, areas, reserve, tiles, sides; got"),
        (GIVEN_SIDES, None, "setup: expected the keys event, areas, reserve, tiles, sides; got"),
    ],
)
def test_B9_sides_that_can_not_be_are_refused(rule: Any, sides: Any, reason: str, tmp_path: Path) -> None:
    lines = fresh_lines(random_record(BOARD.variant(2, {"sides": rule, "max_rounds": 1}), 3))
    lines[1]["sides"] = sides
    if sides is None:
        del lines[1]["sides"]
    assert reason in refused(tmp_path, as_text(lines), 2)


def test_another_side_changes_what_is_legal(tmp_path: Path) -> None:
    """A side that could have come out stands as recorded, so what is refused is the name of the exchange."""
    variant = BOARD.variant(2, {"sides": "random"})
    lines = next(
        lines
        for lines in (fresh_lines(random_record(variant, seed)) for seed in range(20))
        if any(line.get("action", "").startswith("pawn ") for line in lines)
    )
    side = lines[1]["sides"][0]
    lines[1]["sides"][0] = TILES[0][1 - TILES[0].index(side)]
    at = next(at for at, line in enumerate(lines) if f"exchange {side}" in line.get("legal", ()))
    refused(tmp_path, as_text(lines), at + 1)


def test_the_recorded_outcome_counts_and_not_the_seed(tmp_path: Path) -> None:
    record, lines = golden_record("board"), golden_lines("board")
    lines[1]["tiles"].reverse()
    assert lines[1]["tiles"] != record.lines[1]["tiles"]
    (again,) = read_text(tmp_path, as_text(lines))
    for own, other in zip(replay(record), replay(again), strict=True):
        assert own.legal == other.legal


def test_two_forced_games_differ_in_nothing_but_the_generator() -> None:
    """Whatever seed stands in the header: what the record does not show is filled up in a fixed order."""
    record = random_record(BOARD.variant(2, {"max_rounds": 3}), 1)
    first, second = (replay(Record(({**record.header, "seed": seed}, *record.lines[1:]))) for seed in (2, 3))
    for own, other in zip(first, second, strict=True):
        assert own.states["generator"] != other.states["generator"]
        own.states["generator"] = other.states["generator"] = 0
        assert own.states.tobytes() == other.states.tobytes()
