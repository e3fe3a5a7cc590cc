"""Component files and rule options: what is taken, and one clear error for each thing that is wrong."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from siberia_env.board.components import (
    ACTIONS,
    FEWEST_COUNTERS,
    KINDS,
    TABLES,
    Components,
    check_rules,
    components_from_json,
    read_components,
)
from siberia_env.board.game import GAME
from siberia_env.common.components import RESOURCES
from siberia_env.errors import ConfigurationError
from tests.board.helpers import Table, check_everything
from tests.boxes import Change, drop, put


def box() -> dict[str, Any]:
    """The published box as a component file holds it."""
    return deepcopy(Components().as_json())


def line_of_areas(count: int) -> dict[str, list[str]]:
    """A map of areas in a row."""
    names = [f"Area {number}" for number in range(1, count + 1)]
    areas: dict[str, list[str]] = {name: [] for name in names}
    for left, right in pairwise(names):
        areas[left].append(right)
        areas[right].append(left)
    return areas


def box_with_map(areas: dict[str, list[str]], *arrows: str) -> dict[str, Any]:
    """The box with another map, Vladivostok's arrows leading to its first area unless given."""
    return {**box(), "areas": areas, "arrows": list(arrows) or [next(iter(areas))]}


# ---------------------------------------------------------------- the box as published (B1 to B7)


def test_B01_ten_actions_in_their_order() -> None:
    assert ACTIONS == (
        "manager",
        "logistician",
        "salesman",
        "worker",
        "investor",
        "gas",
        "charcoal",
        "oil",
        "gold",
        "diamond",
    )


def test_B02_seventy_counters() -> None:
    counters = Components().counters
    assert tuple(counters) == KINDS
    assert sum(counters.values()) == 70
    assert counters["manager"] == 14
    for person in ("logistician", "salesman", "worker", "investor"):
        for resource, count in zip(RESOURCES, (3, 3, 3, 3, 2), strict=True):
            assert counters[f"{resource}/{person}"] == count
    assert len(counters) == 4 * 5 + 1


def test_B03_twenty_investment_tiles() -> None:
    assert Components().investment_tiles == dict.fromkeys(ACTIONS, 2)


def test_B04_seventy_cubes() -> None:
    assert Components().cubes == {"gas": 18, "charcoal": 16, "oil": 14, "gold": 12, "diamond": 10}


def test_B05_the_table_of_exchanges() -> None:
    printed = """
        Frankfurt | 1 | 1 | 2 | 2 | 2
        Tokyo / New York | 3 / - | - / 3 | 4 / - | - / 5 | 5 / 4
        London / Hong Kong | 2 / - | 4 / 3 | - / 5 | 4 / 3 | - / -
        Shanghai / Toronto | - / 2 | 2 / - | 3 / 4 | 5 / - | - / 6
        Sydney / Mumbai | 2 / 3 | - / 2 | 5 / - | - / 4 | 4 / -
        Zurich / Sao Paulo | - / 2 | 3 / - | - / 3 | 4 / - | 6 / 5
    """
    exchanges, tiles = {}, []
    for line in printed.strip().splitlines():
        names, *prices = ([side.strip() for side in cell.split("/")] for cell in line.split("|"))
        for side, name in enumerate(names):
            exchanges[name] = tuple(0 if price[side] == "-" else int(price[side]) for price in prices)
        if len(names) == 2:
            tiles.append(tuple(names))
    assert Components().exchanges == exchanges
    assert Components().exchange_tiles == tuple(tiles)
    assert list(Components().exchanges) == list(exchanges)


def test_B06_the_default_map() -> None:
    text = """Khabarovsk: Amur, Magadan, Yakutia. Amur: Khabarovsk, Zabaykalye, Yakutia. Magadan: Khabarovsk, Yakutia,
        Chukotka. Chukotka: Magadan, Yakutia, Taymyr. Yakutia: Khabarovsk, Amur, Magadan, Chukotka, Irkutsk,
        Evenkia, Taymyr. Zabaykalye: Amur, Irkutsk. Irkutsk: Zabaykalye, Yakutia, Evenkia, Krasnoyarsk. Taymyr:
        Chukotka, Yakutia, Evenkia, Yamal. Evenkia: Yakutia, Irkutsk, Taymyr, Krasnoyarsk, Yamal. Krasnoyarsk:
        Irkutsk, Evenkia, Novosibirsk, Yamal. Yamal: Taymyr, Evenkia, Krasnoyarsk, Novosibirsk. Novosibirsk:
        Krasnoyarsk, Yamal."""
    areas = {}
    for sentence in " ".join(text.split()).rstrip(".").split(". "):
        area, adjacent = sentence.split(": ")
        areas[area] = tuple(adjacent.split(", "))
    assert Components().areas == areas
    assert list(Components().areas) == list(areas)
    assert len(areas) == 12
    assert Components().arrows == ("Khabarovsk", "Amur")


def test_B07_every_table_names_its_source() -> None:
    assert {table.name for table in TABLES} == set(Components().as_json())
    assert {table.source for table in TABLES} <= {"rulebook", "review", "assumed"}
    published = {table.name for table in TABLES if table.source == "rulebook"}
    assert published == {"counters", "investment_tiles", "cubes", "exchanges", "arrows", "salesman_cards"}
    assert {table.source for table in TABLES if table.name == "areas"} == {"assumed"}


def test_B25_the_salesman_cards() -> None:
    assert Components().salesman_cards == {"gas": 4, "charcoal": 5, "oil": 6, "gold": 7, "diamond": 8}


# ---------------------------------------------------------------- files (B7)


def test_the_default_box_survives_the_way_through_a_file(tmp_path: Path) -> None:
    file = tmp_path / "box.json"
    file.write_text(json.dumps(box()), encoding="utf-8")
    for source in (file, str(file), box(), Components(), None):
        assert read_components(source).as_json() == box()


def test_the_default_box_passes_its_own_check() -> None:
    assert components_from_json(box()) == Components()


def test_other_values_reach_the_game(tmp_path: Path) -> None:
    tables = box()
    tables["exchanges"]["Tokyo"] = [9, 0, 0, 0, 99]
    tables["salesman_cards"]["gold"] = 20
    tables["counters"]["gas/worker"], tables["counters"]["manager"] = 8, 0
    tables["investment_tiles"]["gas"] = 7
    tables["cubes"]["diamond"] = 30
    tables["arrows"] = ["Novosibirsk"]
    file = tmp_path / "box.json"
    file.write_text(json.dumps(tables), encoding="utf-8")
    variant = GAME.variant(2, components=file)
    ruleset = variant.rulesets[0]
    assert ruleset.price[1].tolist() == [9, 0, 0, 0, 99]
    assert ruleset.card_price.tolist() == [4, 5, 6, 20, 8]
    assert ruleset.counters[[KINDS.index("gas/worker"), KINDS.index("manager")]].tolist() == [8, 0]
    assert ruleset.num_counters == 70 + 5 - 14
    assert ruleset.tiles.tolist() == [2] * 5 + [7] + [2] * 4
    assert ruleset.cubes.tolist() == [18, 16, 14, 12, 30]
    table = Table.deal(2, components=file, seed=1)
    assert table.steps("Vladivostok") == ["Novosibirsk"]
    table.play_at_random(np.random.default_rng(1))
    assert table.over
    check_everything(table)


def rename(table: str, old: str, new: Any) -> Change:
    """A change of the box: the entry `old` of a table is called `new`, in the same place."""

    def change(tables: dict[str, Any]) -> None:
        tables[table] = {new if name == old else name: value for name, value in tables[table].items()}

    return change


def cut_off(*areas: str) -> Change:
    """A change of the box: no way leads from the other areas to these."""

    def change(tables: dict[str, Any]) -> None:
        for area, adjacent in tables["areas"].items():
            tables["areas"][area] = [other for other in adjacent if (other in areas) == (area in areas)]

    return change


def both(*changes: Change) -> Change:
    """Several changes of the box, one after the other."""

    def change(tables: dict[str, Any]) -> None:
        for one in changes:
            one(tables)

    return change


@pytest.mark.parametrize(
    ("change", "path"),
    [
        # No such table, or a table that is missing.
        (put("map", value={}), r"^map: no such table; the tables are counters, "),
        (put(3, value={}), r"^3: no such table"),
        *((drop(name), rf"^{name}: expected ") for name in Components().as_json()),
        *((put(name, value=None), rf"^{name}: expected ") for name in Components().as_json()),
        *((put(name, value=7), rf"^{name}: expected ") for name in Components().as_json()),
        # Counters.
        (put("counters", "gas/worker", value=-1), r"^counters\.gas/worker: -1 is not a whole number from 0 to 120"),
        (put("counters", "gas/worker", value=121), r"^counters\.gas/worker: 121 "),
        (put("counters", "gas/worker", value=2.0), r"^counters\.gas/worker: 2\.0 "),
        (put("counters", "gas/worker", value=True), r"^counters\.gas/worker: True "),
        (put("counters", "gas/worker", value="3"), r"^counters\.gas/worker: '3' "),
        (put("counters", "gas/worker", value=[3]), r"^counters\.gas/worker: \[3\] "),
        (put("counters", "worker/gas", value=3), r"^counters\.worker/gas: no such entry"),
        (drop("counters", "manager"), r"^counters\.manager: missing"),
        (put("counters", value=[3] * 21), r"^counters: expected an object"),
        (put("counters", value={**dict.fromkeys(KINDS, 1), "manager": 11}), r"^counters: 31 in all; .* 32 to 120"),
        (put("counters", value=dict.fromkeys(KINDS, 6)), r"^counters: 126 in all; .* 32 to 120"),
        # Investment tiles.
        (put("investment_tiles", "gas", value=-1), r"^investment_tiles\.gas: -1 is not a whole number from 0 to 40"),
        (put("investment_tiles", "gas", value=None), r"^investment_tiles\.gas: None "),
        (put("investment_tiles", "research", value=2), r"^investment_tiles\.research: no such entry"),
        (drop("investment_tiles", "gas"), r"^investment_tiles\.gas: missing"),
        (put("investment_tiles", value={**dict.fromkeys(ACTIONS, 0), "gas": 3}), r"^investment_tiles: 3 in all"),
        (put("investment_tiles", value=dict.fromkeys(ACTIONS, 5)), r"^investment_tiles: 50 in all; .* 4 to 40"),
        # Cubes.
        (put("cubes", "oil", value=-1), r"^cubes\.oil: -1 is not a whole number from 0 to 120"),
        (put("cubes", "oil", value=1.5), r"^cubes\.oil: 1\.5 "),
        (put("cubes", "coal", value=10), r"^cubes\.coal: no such entry"),
        (drop("cubes", "diamond"), r"^cubes\.diamond: missing"),
        (put("cubes", value=dict.fromkeys(RESOURCES, 25)), r"^cubes: 125 in all; at most 120"),
        (put("cubes", value=dict.fromkeys(RESOURCES, 0)), r"^cubes: without gas 0 in all"),
        (put("cubes", value={**dict.fromkeys(RESOURCES, 0), "gas": 100}), r"^cubes: without gas 0 in all"),
        (put("cubes", value=dict.fromkeys(RESOURCES, 5)), r"^cubes: without gas 20 in all; 12 areas"),
        # Exchanges and their tiles.
        (put("exchanges", "Tokyo", 2, value=-1), r"^exchanges\.Tokyo\[2\]: -1 is not a whole number from 0 to 99"),
        (put("exchanges", "Tokyo", 2, value=100), r"^exchanges\.Tokyo\[2\]: 100 "),
        (put("exchanges", "Tokyo", 2, value=0.5), r"^exchanges\.Tokyo\[2\]: 0\.5 "),
        (put("exchanges", "Tokyo", 2, value=None), r"^exchanges\.Tokyo\[2\]: None "),
        (put("exchanges", "Tokyo", value=[1, 1, 1, 1]), r"^exchanges\.Tokyo: expected a list of 5 prices"),
        (put("exchanges", "Tokyo", value=[1] * 6), r"^exchanges\.Tokyo: expected a list of 5 prices"),
        (put("exchanges", "Tokyo", value={"gas": 3}), r"^exchanges\.Tokyo: expected a list of 5 prices"),
        (put("exchanges", "Tokyo", value="30405"), r"^exchanges\.Tokyo: expected a list of 5 prices"),
        (put("exchanges", "Paris", value=[1] * 5), r"^exchanges: expected an object with 11 names"),
        (drop("exchanges", "Tokyo"), r"^exchanges: expected an object with 11 names"),
        (rename("exchanges", "Frankfurt", "Paris"), r"^exchanges\.Frankfurt: missing"),
        (rename("exchanges", "Tokyo", "Paris"), r"^exchange_tiles\[0\]\[0\]: no exchange 'Tokyo'"),
        (rename("exchanges", "Tokyo", "Vladivostok"), r"^exchanges\.Vladivostok: the name of something else"),
        (rename("exchanges", "Tokyo", "reserve"), r"^exchanges\.reserve: the name of something else"),
        (rename("exchanges", "Tokyo", "A/B"), r"^exchanges\.A/B: .* comma or slash"),
        (rename("exchanges", "Tokyo", " Tokyo"), r"^exchanges\. Tokyo: .* without spaces around it"),
        (rename("exchanges", "Tokyo", ""), r"^exchanges\.: "),
        (rename("exchanges", "Tokyo", 7), r"^exchanges\.7: "),
        (put("exchange_tiles", 1, value=["London"]), r"^exchange_tiles\[1\]: expected the exchanges on its 2 sides"),
        (put("exchange_tiles", 1, value=["London", "Hong Kong", "Tokyo"]), r"^exchange_tiles\[1\]: expected the exch"),
        (put("exchange_tiles", 1, value="London/Hong Kong"), r"^exchange_tiles\[1\]: expected a list of names"),
        (
            put("exchange_tiles", 1, 1, value="London"),
            r"^exchange_tiles\[1\]\[1\]: 'London' stands there tw",
        ),
        (put("exchange_tiles", 1, 1, value="Tokyo"), r"^exchange_tiles\[1\]\[1\]: 'Tokyo' already has its place"),
        (put("exchange_tiles", 1, 1, value="Frankfurt"), r"^exchange_tiles\[1\]\[1\]: 'Frankfurt' already has its pl"),
        (put("exchange_tiles", 1, 1, value="Paris"), r"^exchange_tiles\[1\]\[1\]: no exchange 'Paris'"),
        (put("exchange_tiles", 1, 1, value=["Paris"]), r"^exchange_tiles\[1\]\[1\]: \['Paris'\] is not a name"),
        (put("exchange_tiles", 1, 1, value={}), r"^exchange_tiles\[1\]\[1\]: \{\} is not a name"),
        (drop("exchange_tiles", 4), r"^exchange_tiles: expected a list of 5 tiles"),
        # The map.
        (put("areas", "Amur", 2, value="Yakutsk"), r"^areas\.Amur\[2\]: no area 'Yakutsk'; the areas are Khabarovsk, "),
        (put("areas", "Amur", 2, value="Vladivostok"), r"^areas\.Amur\[2\]: no area 'Vladivostok'"),
        (put("areas", "Amur", 2, value="Amur"), r"^areas\.Amur\[2\]: an area is not adjacent to itself"),
        (put("areas", "Amur", 2, value="Khabarovsk"), r"^areas\.Amur\[2\]: 'Khabarovsk' stands there twice"),
        (put("areas", "Amur", 2, value="Yamal"), r"^areas\.Amur\[2\]: Yamal does not name Amur in return"),
        (put("areas", "Amur", 2, value=["Yakutia"]), r"^areas\.Amur\[2\]: \['Yakutia'\] is not a name"),
        (put("areas", "Amur", 2, value=4), r"^areas\.Amur\[2\]: 4 is not a name"),
        (put("areas", "Amur", 2, value=None), r"^areas\.Amur\[2\]: None is not a name"),
        (drop("areas", "Amur", 0), r"^areas\.Khabarovsk\[0\]: Amur does not name Khabarovsk in return"),
        (put("areas", "Amur", value="Yakutia"), r"^areas\.Amur: expected a list of names"),
        (put("areas", "Amur", value=None), r"^areas\.Amur: expected a list of names"),
        (put("areas", "Amur", value={"Yakutia": 1}), r"^areas\.Amur: expected a list of names"),
        (put("areas", value=[["Amur"]]), r"^areas: expected an object with 2 to 16 names"),
        (put("areas", value={"Amur": []}), r"^areas: expected an object with 2 to 16 names"),
        (put("areas", value=line_of_areas(17)), r"^areas: expected an object with 2 to 16 names"),
        (drop("areas", "Novosibirsk"), r"^areas\.Krasnoyarsk\[2\]: no area 'Novosibirsk'"),
        (rename("areas", "Amur", "Tokyo"), r"^areas\.Tokyo: the name of something else"),
        (rename("areas", "Amur", "Frankfurt"), r"^areas\.Frankfurt: the name of something else"),
        (rename("areas", "Amur", "Vladivostok"), r"^areas\.Vladivostok: the name of something else"),
        (rename("areas", "Amur", "reserve"), r"^areas\.reserve: the name of something else"),
        (rename("areas", "Amur", "unused area 3"), r"^areas\.unused area 3: .* begins the names of what a map lacks"),
        (rename("areas", "Amur", "Amur, upper"), r"^areas\.Amur, upper: .* comma or slash"),
        (rename("areas", "Amur", "Amur\n"), r"^areas\.Amur\n: a name is printable text"),
        (rename("areas", "Amur", "\x1b[31mAmur"), r"areas\..*Amur: a name is printable text"),
        (rename("areas", "Amur", ""), r"^areas\.: a name is printable text"),
        (rename("areas", "Amur", 5), r"^areas\.5: a name is printable text"),
        (cut_off("Novosibirsk"), r"^areas\.Novosibirsk: no way leads there from Vladivostok"),
        (cut_off("Yamal", "Novosibirsk", "Krasnoyarsk"), r"^areas\.Krasnoyarsk: no way leads there"),
        (put("arrows", value=[]), r"^areas\.Khabarovsk: no way leads there from Vladivostok"),
        (put("arrows", 1, value="Vladivostok"), r"^arrows\[1\]: no area 'Vladivostok'"),
        (put("arrows", 1, value="Nowhere"), r"^arrows\[1\]: no area 'Nowhere'; the areas are Khabarovsk, "),
        (put("arrows", 1, value="Khabarovsk"), r"^arrows\[1\]: 'Khabarovsk' stands there twice"),
        (put("arrows", 1, value=1), r"^arrows\[1\]: 1 is not a name"),
        (put("arrows", 1, value=[]), r"^arrows\[1\]: \[\] is not a name"),
        (put("arrows", value="Amur"), r"^arrows: expected a list of names"),
        # Salesman cards.
        (put("salesman_cards", "gas", value=0), r"^salesman_cards\.gas: 0 is not a whole number from 1 to 99"),
        (put("salesman_cards", "gas", value=-4), r"^salesman_cards\.gas: -4 "),
        (put("salesman_cards", "gas", value=100), r"^salesman_cards\.gas: 100 "),
        (put("salesman_cards", "gas", value={}), r"^salesman_cards\.gas: \{\} "),
        (put("salesman_cards", "worker", value=2), r"^salesman_cards\.worker: no such entry"),
        (drop("salesman_cards", "gold"), r"^salesman_cards\.gold: missing"),
    ],
)
def test_B07_an_error_names_the_path_of_what_is_wrong(change: Change, path: str) -> None:
    tables = box()
    change(tables)
    with pytest.raises(ConfigurationError, match=path):
        GAME.variant(2, components=tables)


def test_B07_a_box_by_hand_is_checked_like_a_file() -> None:
    with pytest.raises(ConfigurationError, match=r"^counters\.gas/worker: -4 is not a whole number"):
        GAME.variant(2, components=Components(counters={**Components().counters, "gas/worker": -4}))
    with pytest.raises(ConfigurationError, match=r"^exchanges\.Frankfurt\[0\]: -1 is not a whole number"):
        GAME.variant(2, components=Components(exchanges={**Components().exchanges, "Frankfurt": (-1, 1, 1, 1, 1)}))
    with pytest.raises(ConfigurationError, match=r"^arrows\[0\]: no area 'Nowhere'"):
        GAME.variant(2, components=Components(arrows=("Nowhere",)))


@pytest.mark.parametrize("source", [[], 3, True, 2.5, b"{}", ("a",)])
def test_what_is_no_component_table_is_refused(source: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^components: expected an object"):
        read_components(source)


def test_files_that_can_not_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't read"):
        read_components(tmp_path / "none.json")
    for content in (b"", b"{", b"\xff\xfe\x00", b"[1, 2", b"[" * 100_000):
        (tmp_path / "bad.json").write_bytes(content)
        with pytest.raises(ConfigurationError, match="is not JSON"):
            read_components(tmp_path / "bad.json")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_B07_at_least_sixteen_counters_a_player(players: int) -> None:
    tables = box()
    tables["counters"] = {**dict.fromkeys(KINDS, 0), "gas/worker": 10, "manager": FEWEST_COUNTERS * players - 11}
    with pytest.raises(ConfigurationError, match=rf"^counters: {16 * players - 1} in all; "):
        GAME.variant(players, components=tables)
    tables["counters"]["manager"] += 1
    assert GAME.variant(players, components=tables).rulesets[0].num_counters == 16 * players


def test_B07_a_bag_just_large_enough_is_never_drawn_from_in_vain() -> None:
    tables = box()
    tables["counters"] = {**dict.fromkeys(KINDS, 1), "manager": 44}
    table = Table.deal(4, components=tables, seed=3)
    wishes = ("place person", "place resource", "place research", "pass")
    while table.state.rounds < 4:  # nobody acts, so all keep ten counters
        legal = table.legal()
        table.play(next((name for name in wishes if name in legal), legal[0]))
        check_everything(table)
    assert max(table.state.counters) <= 10
    assert table.state.bag_size >= 0


@pytest.mark.parametrize("areas", [2, 3, 16])
def test_B07_maps_of_two_to_sixteen_areas_are_played_to_the_end(areas: int) -> None:
    tables = box_with_map(line_of_areas(areas))
    limits = 0
    for seed in range(4):
        table = Table.deal(2 + seed % 3, {"sides": "random"}, tables, seed)
        assert all(len(table.cubes(area)) == 2 for area in table.areas)
        rng = np.random.default_rng(seed)
        while not table.over:
            check_everything(table)
            table.play_at_random(rng, 5)
        check_everything(table)
        due = len(table.exhausted()) >= min(8, areas) or list(table.reserve().values()).count(0) >= 3
        assert bool(table.state.hit_limit) != due
        limits += not due
    assert limits < 4


def test_B07_what_a_smaller_map_lacks_is_never_legal() -> None:
    table = Table.deal(2, {"sides": "random"}, box_with_map(line_of_areas(2)), 5)
    rng = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    while not table.over:
        seen.update(table.legal())
        table.play_at_random(rng, 1)
    assert not [name for name in seen if "unused" in name]
    assert {"area Area 1", "from Vladivostok"} <= set(seen)


def test_B07_adjacent_areas_may_be_given_in_any_order_and_arrows_may_be_many() -> None:
    tables = box_with_map({"B": ["C", "A"], "A": ["B"], "C": ["B"]}, "C", "A", "B")
    table = Table.deal(2, {"sides": "random"}, tables, 0)
    assert table.areas == ("B", "A", "C")
    assert table.steps("Vladivostok") == ["B", "A", "C"]
    assert table.in_set(table.state.steps[0]) == ["A", "C"]
    assert table.in_set(table.state.steps[1]) == ["B"]


# ---------------------------------------------------------------- enough cubes (B7, B8)


def can_run_out(cubes: tuple[int, ...], areas: int) -> bool:
    """Whether some order of the cubes leaves an area with fewer than two (B8), by trying all orders."""

    @cache
    def search(left: tuple[int, ...], lying: tuple[frozenset[int], ...]) -> bool:
        if all(len(area) == 2 for area in lying):
            return False
        if not any(left):
            return True
        for resource, count in enumerate(left):
            if count:
                rest = (*left[:resource], count - 1, *left[resource + 1 :])
                fits = [number for number, area in enumerate(lying) if len(area) < 2 and resource not in area]
                after = list(lying)
                if fits:
                    after[fits[0]] |= {resource}
                if search(rest, tuple(after)):
                    return True
        return False

    return search(cubes, (frozenset(),) * areas)


@given(cubes=st.lists(st.integers(0, 4), min_size=5, max_size=5), areas=st.integers(2, 3))
def test_B07_there_must_be_cubes_for_every_area_in_whatever_order_they_come(cubes: list[int], areas: int) -> None:
    tables = box_with_map(line_of_areas(areas))
    tables["cubes"] = dict(zip(RESOURCES, cubes, strict=True))
    if can_run_out(tuple(cubes), areas):
        with pytest.raises(ConfigurationError, match=r"^cubes: without "):
            read_components(tables)
    else:
        assert read_components(tables).cubes == tables["cubes"]


# ---------------------------------------------------------------- rule options


def test_rule_options_in_force_are_complete_in_a_fixed_order() -> None:
    defaults = [("sides", "choose"), ("salesman_cards", False), ("max_rounds", 60)]
    assert list(check_rules(None).items()) == defaults
    assert list(check_rules({}).items()) == defaults
    sides = ["New York", "London", "Toronto", "Sydney", "Zurich"]
    given = check_rules({"max_rounds": 8, "sides": tuple(sides), "salesman_cards": True})
    assert list(given.items()) == [("sides", sides), ("salesman_cards", True), ("max_rounds", 8)]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("choose", r"^rules: expected a mapping of options \(sides, salesman_cards, max_rounds\); got 'choose'"),
        (7, "^rules: expected a mapping of options"),
        (["sides"], "^rules: expected a mapping of options"),
        ({"side": "choose"}, "^rules: no option 'side'; the options are sides, salesman_cards, max_rounds"),
        ({1: 2}, "^rules: no option 1; "),
        ({"edition": "dlp"}, "^rules: no option 'edition'"),
        ({"sides": "chosen"}, "^rules: sides: 'chosen' is not 'choose', 'random' or a list of 5 exchanges"),
        ({"sides": "Tokyo"}, "^rules: sides: 'Tokyo' is not"),
        ({"sides": None}, "^rules: sides: None is not"),
        ({"sides": 0}, "^rules: sides: 0 is not"),
        ({"sides": {"Tokyo": 1}}, "^rules: sides: .* is not"),
        ({"sides": np.array(["choose"] * 5)}, r"^rules: sides: array\(.* is not"),
        ({"sides": []}, r"^rules: sides: expected 5 exchanges, one a tile; got \[\]"),
        ({"sides": ["Tokyo", "London", "Toronto", "Sydney"]}, "^rules: sides: expected 5 exchanges"),
        ({"sides": ["Tokyo"] * 5}, r"^rules: sides\[1\]: 'Tokyo' is not on the tile of London and Hong Kong"),
        ({"sides": ["Tokyo", "London", "Toronto", "Sydney", "Paris"]}, r"^rules: sides\[4\]: 'Paris' is not on the"),
        ({"sides": ["London", "Tokyo", "Toronto", "Sydney", "Zurich"]}, r"^rules: sides\[0\]: 'London' is not on"),
        ({"sides": ["Frankfurt", "London", "Toronto", "Sydney", "Zurich"]}, r"^rules: sides\[0\]: 'Frankfurt' is not"),
        ({"sides": ["Tokyo", "London", "Toronto", "Sydney", []]}, r"^rules: sides\[4\]: \[\] is not on the tile"),
        ({"sides": ["Tokyo", "London", "Toronto", "Sydney", 1]}, r"^rules: sides\[4\]: 1 is not on the tile"),
        ({"sides": ["Tokyo", "London", {}, "Sydney", "Zurich"]}, r"^rules: sides\[2\]: \{\} is not on the tile"),
        ({"salesman_cards": 1}, "^rules: salesman_cards: 1 is not true or false"),
        ({"salesman_cards": "yes"}, "^rules: salesman_cards: 'yes' is not true or false"),
        ({"salesman_cards": None}, "^rules: salesman_cards: None is not true or false"),
        ({"max_rounds": 0}, "^rules: max_rounds: 0 is not a whole number from 1 to 10000"),
        ({"max_rounds": -1}, "^rules: max_rounds: -1 "),
        ({"max_rounds": 10_001}, "^rules: max_rounds: 10001 "),
        ({"max_rounds": 1.0}, r"^rules: max_rounds: 1\.0 "),
        ({"max_rounds": True}, "^rules: max_rounds: True "),
        ({"max_rounds": "60"}, "^rules: max_rounds: '60' "),
    ],
)
def test_rule_options_that_are_none_are_refused(rules: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        GAME.variant(2, rules)


def test_B09_the_sides_option_goes_by_the_tiles_of_the_file() -> None:
    tables = box()
    tables["exchange_tiles"][0], tables["exchange_tiles"][1] = ["London", "Tokyo"], ["Hong Kong", "New York"]
    sides = ["Tokyo", "Hong Kong", "Toronto", "Sydney", "Zurich"]
    ruleset = GAME.variant(2, {"sides": sides}, tables).rulesets[0]
    assert ruleset.given_sides.tolist() == [1, 0, 1, 0, 0]
    with pytest.raises(ConfigurationError, match=r"^rules: sides\[1\]: 'Hong Kong' is not|^rules: sides\[0\]"):
        GAME.variant(2, {"sides": ["Hong Kong", "London", *sides[2:]]}, tables)


def test_rulesets_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        GAME.variant(2).rulesets["max_rounds"] = 3


@pytest.mark.parametrize("players", [0, 1, 5, -2, 2.0, "2", None, True])
def test_two_to_four_players(players: Any) -> None:
    with pytest.raises(ConfigurationError, match="num_players"):
        GAME.variant(players)
