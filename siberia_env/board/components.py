"""What is in the box of the board game, and the ruleset record that hands it to the rules.

Every table names its source (B7): `rulebook`, `review` (counts from a published review) or `assumed` (the suite's
own choice where nothing is published). An owner of the box can replace the tables by a JSON file in the form that
`Components.as_json` writes; `read_components` checks the file.

Published: how many counters, tiles, cubes, pawns and exhaustion counters there are; that Frankfurt trades every
resource, and the other exchanges some at better prices; Tokyo's price for gas; the salesman cards. The suite settles
the split of the counters (B2), all other prices (B5) and the map (B6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from siberia_env.common.components import (
    DEFAULT_SALESMAN_VALUES,
    MAX_VALUE,
    NUM_RESOURCES,
    RESOURCES,
    Table,
    check_counts,
    check_integer,
    check_table,
    check_tables,
    read_json,
)
from siberia_env.errors import ConfigurationError

PERSONS = ("logistician", "salesman", "worker", "investor")  #: B2: the persons that share a counter with a resource
ACTIONS = ("manager", *PERSONS, *RESOURCES)  #: B1
PAIRS = tuple(f"{resource}/{person}" for person in PERSONS for resource in RESOURCES)
KINDS = (*PAIRS, "manager")  #: the kinds of action counters, in the order in which they are placed (B12)

NUM_PERSONS = len(PERSONS)
NUM_PANEL_ACTIONS = len(ACTIONS)
NUM_KINDS = len(KINDS)
MANAGER, LOGISTICIAN, SALESMAN, WORKER, INVESTOR, GAS = range(6)  #: B1: action numbers on the panel
MANAGER_COUNTER = NUM_KINDS - 1  #: B2: the only kind without a resource

SPACES = 2  #: B1: the spaces of each action on a panel
MANAGERS = 14  #: B2
TILES_PER_ACTION = 2  #: B3
PAWNS = 6  #: B3: the pawns of each player
EXHAUSTION_COUNTERS = 8  #: B3
TILES_FACE_UP = 4  #: B10
CUBES_PER_AREA = 2  #: B8
COUNTERS_DRAWN = 6  #: B11
STEPS = 3  #: B17
PANEL_LIMIT = 10  #: B23
EMPTY_RESERVES_TO_END = 3  #: B24

START = "Vladivostok"  #: B6
FIRST_EXCHANGE = "Frankfurt"  #: B5
EXCHANGE_TILES = 5  #: B5
TILE_SIDES = 2  #: B5: the sides of an exchange tile
NUM_EXCHANGES = 1 + EXCHANGE_TILES  #: B5: the exchanges in play
ALL_EXCHANGES = 1 + EXCHANGE_TILES * TILE_SIDES  #: B5: the exchanges in the box

# Limits of a component file (B7). Action numbers, states and observations have room for the largest values.
FEWEST_AREAS, MOST_AREAS = 2, 16
NUM_PLACES = MOST_AREAS + 1  #: where a worker can stand: the areas, then Vladivostok
VLADIVOSTOK = MOST_AREAS
FEWEST_COUNTERS = 16  #: for each player
FEWEST_TILES, MOST_TILES = TILES_FACE_UP, 40
MOST_COUNTERS, MOST_CUBES = 120, 120
UNUSED_AREA = "unused area"  #: begins the names of areas that a smaller map lacks

#: B7: where each table comes from. The table in the documentation is generated from this one.
TABLES = (
    Table("counters", "70 counters in all (B2)", "rulebook"),
    Table("counters", "14 managers; 56 with one person and one resource (B2)", "review"),
    Table("counters", "the split of the 56: each person 14 times, with 3 3 3 3 2 of the resources (B2)", "assumed"),
    Table("investment_tiles", "20 tiles in all (B3)", "rulebook"),
    Table("investment_tiles", "2 for each of the ten actions (B3)", "review"),
    Table("cubes", "18 gas, 16 charcoal, 14 oil, 12 gold, 10 diamond (B4)", "rulebook"),
    Table("exchanges", "Tokyo pays 3000 for gas (B5)", "rulebook"),
    Table("exchanges", "Frankfurt trades every resource, the others some at better prices (B5)", "review"),
    Table("exchanges", "all other prices, and all names but Frankfurt and Tokyo (B5)", "assumed"),
    Table("exchange_tiles", "five tiles with two sides each beside Frankfurt (B5)", "review"),
    Table("exchange_tiles", "which two exchanges share a tile (B5)", "assumed"),
    Table("arrows", "two arrows lead out of Vladivostok (B6)", "rulebook"),
    Table("arrows", "to which areas (B6)", "assumed"),
    Table("areas", "twelve areas, their names, and how they are adjacent (B6)", "assumed"),
    Table(
        "salesman_cards",
        "the values 4 5 6 7 8; those of oil and gold in the card game's digital rules only (B25)",
        "rulebook",
    ),
)

DEFAULT_COUNTERS: dict[str, int] = {
    **{f"{resource}/{person}": 2 if resource == "diamond" else 3 for person in PERSONS for resource in RESOURCES},
    "manager": MANAGERS,
}
DEFAULT_CUBES = dict(zip(RESOURCES, (18, 16, 14, 12, 10), strict=True))
DEFAULT_EXCHANGES: dict[str, tuple[int, ...]] = {
    "Frankfurt": (1, 1, 2, 2, 2),
    "Tokyo": (3, 0, 4, 0, 5),
    "New York": (0, 3, 0, 5, 4),
    "London": (2, 4, 0, 4, 0),
    "Hong Kong": (0, 3, 5, 3, 0),
    "Shanghai": (0, 2, 3, 5, 0),
    "Toronto": (2, 0, 4, 0, 6),
    "Sydney": (2, 0, 5, 0, 4),
    "Mumbai": (3, 2, 0, 4, 0),
    "Zurich": (0, 3, 0, 4, 6),
    "Sao Paulo": (2, 0, 3, 0, 5),
}
DEFAULT_EXCHANGE_TILES = (
    ("Tokyo", "New York"),
    ("London", "Hong Kong"),
    ("Shanghai", "Toronto"),
    ("Sydney", "Mumbai"),
    ("Zurich", "Sao Paulo"),
)
DEFAULT_ARROWS = ("Khabarovsk", "Amur")
DEFAULT_AREAS: dict[str, tuple[str, ...]] = {
    "Khabarovsk": ("Amur", "Magadan", "Yakutia"),
    "Amur": ("Khabarovsk", "Zabaykalye", "Yakutia"),
    "Magadan": ("Khabarovsk", "Yakutia", "Chukotka"),
    "Chukotka": ("Magadan", "Yakutia", "Taymyr"),
    "Yakutia": ("Khabarovsk", "Amur", "Magadan", "Chukotka", "Irkutsk", "Evenkia", "Taymyr"),
    "Zabaykalye": ("Amur", "Irkutsk"),
    "Irkutsk": ("Zabaykalye", "Yakutia", "Evenkia", "Krasnoyarsk"),
    "Taymyr": ("Chukotka", "Yakutia", "Evenkia", "Yamal"),
    "Evenkia": ("Yakutia", "Irkutsk", "Taymyr", "Krasnoyarsk", "Yamal"),
    "Krasnoyarsk": ("Irkutsk", "Evenkia", "Novosibirsk", "Yamal"),
    "Yamal": ("Taymyr", "Evenkia", "Krasnoyarsk", "Novosibirsk"),
    "Novosibirsk": ("Krasnoyarsk", "Yamal"),
}


@dataclass(frozen=True)
class Components:
    """The component tables that a game uses, money in thousands of dollars.

    `Components()` is the box as published, with the suite's own map and prices.

    Attributes:
        counters: the number of action counters of each kind.
        investment_tiles: the number of tiles for each action.
        cubes: the number of cubes of each resource.
        exchanges: the price of each resource at each exchange; 0 where the exchange does not trade it.
        exchange_tiles: the two exchanges on each tile.
        arrows: the areas that can be reached from Vladivostok in one step.
        areas: the areas that are adjacent to each area.
        salesman_cards: what the salesman card of each resource pays (B25).
    """

    counters: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_COUNTERS))
    investment_tiles: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(ACTIONS, TILES_PER_ACTION))
    cubes: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_CUBES))
    exchanges: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: dict(DEFAULT_EXCHANGES))
    exchange_tiles: tuple[tuple[str, ...], ...] = DEFAULT_EXCHANGE_TILES
    arrows: tuple[str, ...] = DEFAULT_ARROWS
    areas: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(DEFAULT_AREAS))
    salesman_cards: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_SALESMAN_VALUES))

    def as_json(self) -> dict[str, Any]:
        """Return the tables as the JSON object that component files and headers of game records hold."""
        return {
            "counters": {kind: self.counters[kind] for kind in KINDS},
            "investment_tiles": {action: self.investment_tiles[action] for action in ACTIONS},
            "cubes": {resource: self.cubes[resource] for resource in RESOURCES},
            "exchanges": {exchange: list(prices) for exchange, prices in self.exchanges.items()},
            "exchange_tiles": [list(sides) for sides in self.exchange_tiles],
            "arrows": list(self.arrows),
            "areas": {area: list(adjacent) for area, adjacent in self.areas.items()},
            "salesman_cards": {resource: self.salesman_cards[resource] for resource in RESOURCES},
        }

    def check_playable(self, num_players: int) -> None:
        """Raise `ConfigurationError` unless `num_players` can play with these tables."""
        counters, least = sum(self.counters.values()), FEWEST_COUNTERS * num_players
        if counters < least:
            raise ConfigurationError(f"counters: {counters} in all; {num_players} players need {least} at least")


def _check_names(value: Any, path: str) -> tuple[str, ...]:
    """Check that `value` is a list of different names, and return them."""
    if not isinstance(value, list | tuple):
        raise ConfigurationError(f"{path}: expected a list of names; got {value!r}")
    for index, name in enumerate(value):
        if not isinstance(name, str):
            raise ConfigurationError(f"{path}[{index}]: {name!r} is not a name")
        if name in value[:index]:
            raise ConfigurationError(f"{path}[{index}]: {name!r} stands there twice")
    return tuple(value)


def _check_places(table: Any, path: str, fewest: int, most: int, taken: tuple[str, ...]) -> Mapping[str, Any]:
    """Check that `table` is an object with `fewest` to `most` names of places as keys, none of them in `taken`."""
    if not isinstance(table, Mapping) or not fewest <= len(table) <= most:
        count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        got = f"{len(table)} of them" if isinstance(table, Mapping) else repr(table)
        raise ConfigurationError(f"{path}: expected an object with {count} names as keys; got {got}")
    for name in table:
        if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not name:
            raise ConfigurationError(f"{path}.{name}: a name is printable text without spaces around it")
        if name in taken:
            raise ConfigurationError(f"{path}.{name}: the name of something else; each place needs one of its own")
        if name.startswith(UNUSED_AREA):
            raise ConfigurationError(f"{path}.{name}: {UNUSED_AREA!r} begins the names of what a map lacks")
        if set(name) & {",", "/"}:
            raise ConfigurationError(f"{path}.{name}: a comma or slash, which separate names on the command line")
    return table


def _check_exchanges(tables: Mapping[str, Any]) -> tuple[dict[str, tuple[int, ...]], tuple[tuple[str, ...], ...]]:
    exchanges = _check_places(tables.get("exchanges"), "exchanges", ALL_EXCHANGES, ALL_EXCHANGES, (START, "reserve"))
    prices = {}
    for exchange, row in exchanges.items():
        path = f"exchanges.{exchange}"
        if not isinstance(row, list | tuple) or len(row) != NUM_RESOURCES:
            raise ConfigurationError(f"{path}: expected a list of {NUM_RESOURCES} prices in thousands; got {row!r}")
        prices[exchange] = tuple(
            check_integer(price, f"{path}[{index}]", 0, MAX_VALUE) for index, price in enumerate(row)
        )
    if FIRST_EXCHANGE not in prices:
        raise ConfigurationError(f"exchanges.{FIRST_EXCHANGE}: missing; every game has it")
    given = tables.get("exchange_tiles")
    if not isinstance(given, list | tuple) or len(given) != EXCHANGE_TILES:
        raise ConfigurationError(f"exchange_tiles: expected a list of {EXCHANGE_TILES} tiles; got {given!r}")
    tiles, placed = [], {FIRST_EXCHANGE}
    for number, tile in enumerate(given):
        path = f"exchange_tiles[{number}]"
        sides = _check_names(tile, path)
        if len(sides) != TILE_SIDES:
            raise ConfigurationError(f"{path}: expected the exchanges on its {TILE_SIDES} sides; got {tile!r}")
        for side, exchange in enumerate(sides):
            if exchange not in prices:
                raise ConfigurationError(f"{path}[{side}]: no exchange {exchange!r} in the table of exchanges")
            if exchange in placed:
                raise ConfigurationError(f"{path}[{side}]: {exchange!r} already has its place")
            placed.add(exchange)
        tiles.append(sides)
    return prices, tuple(tiles)


def _check_map(tables: Mapping[str, Any], exchanges: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Check arrows and areas (B6, B7): neighbours name each other, every area can be reached from Vladivostok."""
    taken = (START, "reserve", *exchanges)
    given = _check_places(tables.get("areas"), "areas", FEWEST_AREAS, MOST_AREAS, taken)
    areas = {area: _check_names(adjacent, f"areas.{area}") for area, adjacent in given.items()}
    for area, adjacent in areas.items():
        for index, other in enumerate(adjacent):
            path = f"areas.{area}[{index}]"
            if other not in areas:
                raise ConfigurationError(f"{path}: no area {other!r}; the areas are {', '.join(areas)}")
            if other == area:
                raise ConfigurationError(f"{path}: an area is not adjacent to itself")
            if area not in areas[other]:
                raise ConfigurationError(f"{path}: {other} does not name {area} in return; adjacent is both ways")
    arrows = _check_names(tables.get("arrows"), "arrows")
    for index, area in enumerate(arrows):
        if area not in areas:
            raise ConfigurationError(f"arrows[{index}]: no area {area!r}; the areas are {', '.join(areas)}")
    reached, pending = set(arrows), list(arrows)
    while pending:
        for area in areas[pending.pop()]:
            if area not in reached:
                reached.add(area)
                pending.append(area)
    for area in areas:
        if area not in reached:
            raise ConfigurationError(f"areas.{area}: no way leads there from {START}")
    return arrows, areas


def _check_cubes(cubes: Mapping[str, int], num_areas: int) -> None:
    """B8: check that each area gets two different cubes, in whatever order the cubes are drawn.

    The deal fails only if some area still has a free place and lacks cubes of all resources but one. All cubes of
    those others then lie in the other areas, at most one of a resource and two cubes in each.
    """
    if not (total := sum(cubes.values())) <= MOST_CUBES:
        raise ConfigurationError(f"cubes: {total} in all; at most {MOST_CUBES}")
    for left_out in RESOURCES:
        others = [cubes[resource] for resource in RESOURCES if resource != left_out]
        if max(others) < num_areas and sum(others) <= CUBES_PER_AREA * (num_areas - 1):
            raise ConfigurationError(
                f"cubes: without {left_out} {sum(others)} in all; {num_areas} areas get two different cubes each for "
                f"certain if {num_areas} of these are of one resource, or if there are "
                f"{CUBES_PER_AREA * (num_areas - 1) + 1}"
            )


def components_from_json(tables: Any) -> Components:
    """Check the JSON object `tables` and return the components in it.

    Raises:
        ConfigurationError: something is wrong; the message names its path (`areas.Amur[2]`).
    """
    tables = check_tables(tables, tuple(table.name for table in fields(Components)))
    counters = check_counts(tables, "counters", KINDS, MOST_COUNTERS)
    least = FEWEST_COUNTERS * 2
    if not least <= (total := sum(counters.values())) <= MOST_COUNTERS:
        raise ConfigurationError(
            f"counters: {total} in all; a game needs {FEWEST_COUNTERS} a player, {least} to {MOST_COUNTERS}"
        )
    tiles = check_counts(tables, "investment_tiles", ACTIONS, MOST_TILES)
    if not FEWEST_TILES <= (total := sum(tiles.values())) <= MOST_TILES:
        raise ConfigurationError(f"investment_tiles: {total} in all; a game needs {FEWEST_TILES} to {MOST_TILES}")
    cubes = check_counts(tables, "cubes", RESOURCES, MOST_CUBES)
    exchanges, exchange_tiles = _check_exchanges(tables)
    arrows, areas = _check_map(tables, exchanges)
    _check_cubes(cubes, len(areas))
    cards = check_table(tables, "salesman_cards", RESOURCES)
    return Components(
        counters=counters,
        investment_tiles=tiles,
        cubes=cubes,
        exchanges=exchanges,
        exchange_tiles=exchange_tiles,
        arrows=arrows,
        areas=areas,
        salesman_cards={
            resource: check_integer(cards[resource], f"salesman_cards.{resource}", 1, MAX_VALUE)
            for resource in RESOURCES
        },
    )


def read_components(source: str | Path | Mapping[str, Any] | Components | None) -> Components:
    """Return the components that `source` stands for.

    `source` is the path of a JSON file, its content, a `Components` object, or `None` for the box.

    Raises:
        ConfigurationError: the file can't be read, or its content is wrong (see `components_from_json`).
    """
    if source is None:
        return Components()
    if isinstance(source, Components):  # checked too: numbers out of range would write past the state's arrays
        return components_from_json({table.name: getattr(source, table.name) for table in fields(source)})
    return components_from_json(read_json(source) if isinstance(source, str | Path) else source)


#: Options and component tables as the rules see them: one read-only record.
RULESET = np.dtype(
    (
        np.record,
        [
            ("num_players", "i4"),  # 2 to 4
            ("sides", "i4"),  # B9: CHOOSE_SIDES, RANDOM_SIDES or GIVEN_SIDES
            ("given_sides", "i4", (EXCHANGE_TILES,)),  # B9: the active side of each tile, for GIVEN_SIDES
            ("salesman_cards", "i4"),  # B25: 1 if the game uses them
            ("max_rounds", "i4"),  # B24
            ("num_areas", "i4"),  # B6
            ("areas_to_end", "i4"),  # B24: the number of exhausted areas that ends the game
            ("num_counters", "i4"),  # B2: in all
            ("counters", "i4", (NUM_KINDS,)),  # how many of each kind
            ("tiles", "i4", (NUM_PANEL_ACTIONS,)),  # how many for each action
            ("cubes", "i4", (NUM_RESOURCES,)),  # how many of each resource
            ("price", "i4", (ALL_EXCHANGES, NUM_RESOURCES)),  # in thousands; Frankfurt, then both sides of each tile
            ("card_price", "i4", (NUM_RESOURCES,)),  # B25: in thousands
            ("adjacent", "i4", (NUM_PLACES,)),  # bit a: area a is adjacent; last: Vladivostok's arrows
        ],
    )
)

CHOOSE_SIDES, RANDOM_SIDES, GIVEN_SIDES = range(3)
SIDE_OPTIONS = ("choose", "random")  #: B9: a list of five names is allowed too
DEFAULT_MAX_ROUNDS = 60  #: B24
MOST_ROUNDS = 10_000

DEFAULT_RULES: dict[str, Any] = {"sides": "choose", "salesman_cards": False, "max_rounds": DEFAULT_MAX_ROUNDS}


def check_rules(rules: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return every rule option: those in `rules`, and the defaults for the rest.

    Which exchanges `sides` may name depends on the components, so `make_ruleset` checks that.

    Raises:
        ConfigurationError: an option does not exist, or its value is not allowed.
    """
    options = {} if rules is None else rules
    if not isinstance(options, Mapping):
        raise ConfigurationError(f"rules: expected a mapping of options ({', '.join(DEFAULT_RULES)}); got {rules!r}")
    for name in options:
        if name not in DEFAULT_RULES:
            raise ConfigurationError(f"rules: no option {name!r}; the options are {', '.join(DEFAULT_RULES)}")
    in_force = {**DEFAULT_RULES, **options}
    sides = in_force["sides"]
    if isinstance(sides, list | tuple):
        in_force["sides"] = list(sides)
    elif not isinstance(sides, str) or sides not in SIDE_OPTIONS:
        raise ConfigurationError(
            f"rules: sides: {sides!r} is not 'choose', 'random' or a list of {EXCHANGE_TILES} exchanges, one a tile"
        )
    if not isinstance(in_force["salesman_cards"], bool):
        raise ConfigurationError(f"rules: salesman_cards: {in_force['salesman_cards']!r} is not true or false")
    in_force["max_rounds"] = check_integer(in_force["max_rounds"], "rules: max_rounds", 1, MOST_ROUNDS)
    return in_force


def _given_sides(sides: list[Any], components: Components) -> list[int]:
    """Return the active side of each tile, 0 or 1. `sides` names five exchanges in the order of the tiles."""
    if len(sides) != EXCHANGE_TILES:
        raise ConfigurationError(f"rules: sides: expected {EXCHANGE_TILES} exchanges, one a tile; got {sides!r}")
    active = []
    for index, (exchange, tile) in enumerate(zip(sides, components.exchange_tiles, strict=True)):
        if exchange not in tile:
            raise ConfigurationError(f"rules: sides[{index}]: {exchange!r} is not on the tile of {' and '.join(tile)}")
        active.append(tile.index(exchange))
    return active


def make_ruleset(num_players: int, rules: Mapping[str, Any], components: Components) -> np.ndarray[Any, Any]:
    """Return the ruleset record, a read-only array of one, for `rules` and `components` that have been checked.

    Raises:
        ConfigurationError: there are too few counters for the players, or a side is not on its tile.
    """
    components.check_playable(num_players)
    rulesets = np.zeros(1, RULESET)
    ruleset = rulesets[0]
    ruleset.num_players = num_players
    if isinstance(rules["sides"], list):
        ruleset.sides = GIVEN_SIDES
        ruleset.given_sides[:] = _given_sides(rules["sides"], components)
    else:
        ruleset.sides = SIDE_OPTIONS.index(rules["sides"])
    ruleset.salesman_cards = rules["salesman_cards"]
    ruleset.max_rounds = rules["max_rounds"]
    ruleset.num_areas = len(components.areas)
    ruleset.areas_to_end = min(EXHAUSTION_COUNTERS, len(components.areas))
    ruleset.num_counters = sum(components.counters.values())
    ruleset.counters[:] = [components.counters[kind] for kind in KINDS]
    ruleset.tiles[:] = [components.investment_tiles[action] for action in ACTIONS]
    ruleset.cubes[:] = [components.cubes[resource] for resource in RESOURCES]
    ruleset.price[:] = [components.exchanges[exchange] for exchange in all_exchanges(components)]
    ruleset.card_price[:] = [components.salesman_cards[resource] for resource in RESOURCES]
    number = {area: index for index, area in enumerate(components.areas)}
    for area, adjacent in components.areas.items():
        ruleset.adjacent[number[area]] = sum(1 << number[other] for other in adjacent)
    ruleset.adjacent[VLADIVOSTOK] = sum(1 << number[area] for area in components.arrows)
    rulesets.flags.writeable = False
    return rulesets


def all_exchanges(components: Components) -> tuple[str, ...]:
    """Return the names of all exchanges in the box: Frankfurt, then both sides of each tile."""
    return (FIRST_EXCHANGE, *(exchange for tile in components.exchange_tiles for exchange in tile))
