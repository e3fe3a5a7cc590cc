"""The observation of the board game once more: slow, in plain Python, from the meanings of the blocks.

Nothing here reads a running field of the state or calls a kernel: places, actions and counters go by their names,
as they lie on the table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from siberia_env.board.components import ACTIONS, KINDS, START, Components
from siberia_env.board.state import NOTHING
from siberia_env.common.components import RESOURCES
from siberia_env.game import Block
from tests.board.helpers import Table

SEATS = 4
MAP_SIZE = 16
#: What is being decided, by the number of the phase; then what is due by chance, and the end.
PHASES = (
    "side",
    "place",
    "turn",
    "research resource",
    "research area",
    "wildcard",
    "from",
    "to",
    "salesman's pawn",
    "exchange",
    "worker's pawn",
    "tile",
    "discard",
    "draw",
    "setup",
    "over",
)

#: B23: every counter that can lie at an action, in the order of the actions, then of the kinds.
LYING = tuple((action, kind) for action in ACTIONS for kind in KINDS if kind == "manager" or action in kind.split("/"))
DECISIONS = PHASES[: PHASES.index("draw")]
RESEARCH = (*RESOURCES, "manager")


@dataclass
class Position:
    """What lies on the table, in words; who decides what."""

    box: Components
    salesman_cards: bool
    max_rounds: int
    phase: str
    player: int
    start: int
    rounds: int
    passed: list[int]
    placed: int
    steps_left: int
    resource: str | None
    origin: str | None
    cubes: dict[str, list[str]]  # by area
    steps: dict[str, list[str]]  # B17: where a step leads, by place, Vladivostok last
    reserve: dict[str, int]
    money: list[int]
    pawns: list[int]
    workers: list[dict[str, int]]  # by place
    salesmen: list[dict[str, int]]  # by exchange
    exchanges: list[str | None]  # the six in play; None where the side is not settled
    best_price: list[dict[str, int]]  # B21: 0 where no price is open
    panels: list[dict[str, list[str]]]  # counters by action
    tiles: list[list[str]]
    research: list[list[str]]  # resources and managers still to be resolved
    at_research: list[list[str]]  # counters lying there
    drawn: list[list[str]]  # new counters, while all place
    plans: list[list[str]]  # where they go
    face_up: list[str]
    tile_stack: list[str]  # the top tile first
    cards: list[list[str]]  # salesman cards held

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.money)


def place_names(box: Components) -> list[str | None]:
    """The sixteen areas in their order, None where the map has no more, and Vladivostok."""
    return [*box.areas, *[None] * (MAP_SIZE - len(box.areas)), START]


def read_position(table: Table) -> Position:
    """The position on `table`."""
    state, box, rules = table.state, table.variant.components, table.variant.rules
    players = range(table.variant.num_players)
    phase = PHASES[state.phase]
    placing, settled = phase == "place", 1 + int(state.sides_chosen)
    exchanges = [*table.exchanges()[:settled], *[None] * (6 - settled)]
    pawn_places = ["reserve", *exchanges, *place_names(box)]

    def at_research(player: int) -> list[str]:
        if placing or state.research_size[player] == 0:
            return []
        return [kind for kind, way in zip(table.drawn(player), table.plan(player), strict=False) if way == "research"]

    return Position(
        box=box,
        salesman_cards=rules["salesman_cards"],
        max_rounds=rules["max_rounds"],
        phase=phase,
        player=int(state.player),
        start=int(state.start),
        rounds=int(state.rounds),
        passed=table.passed(),
        placed=int(state.placed),
        steps_left=int(state.steps_left),
        resource=None if state.resource == NOTHING else RESOURCES[state.resource],
        origin=None if state.origin == NOTHING else pawn_places[state.origin],
        cubes={area: table.cubes(area) for area in table.areas},
        steps={place: table.steps(place) for place in (*table.areas, START)},
        reserve=table.reserve(),
        money=[int(state.money[player]) for player in players],
        pawns=[table.pawns(player) for player in players],
        workers=[table.workers(player) for player in players],
        salesmen=[table.salesmen(player) for player in players],
        exchanges=exchanges,
        best_price=[table.prices(player) for player in players],
        panels=[{action: table.panel(player).get(action, []) for action in ACTIONS} for player in players],
        tiles=[table.tiles(player) for player in players],
        research=[table.research(player) for player in players],
        at_research=[at_research(player) for player in players],
        drawn=[table.drawn(player) if placing else [] for player in players],
        plans=[table.plan(player) if placing else [] for player in players],
        face_up=table.face_up(),
        tile_stack=table.tile_stack(),
        cards=[table.cards(player) for player in players],
    )


def distances(position: Position, player: int) -> dict[str, int]:
    """How many steps each place is from the nearest worker of the player; those out of reach are left out."""
    found = dict.fromkeys(position.workers[player], 0)
    frontier = list(found)
    while frontier:
        place = frontier.pop(0)
        for area in position.steps[place]:
            if area not in found:
                found[area] = found[place] + 1
                frontier.append(area)
    return found


def price_at(position: Position, exchange: str | None, resource: str) -> int:
    """What the exchange pays for the resource, thousands; 0 if it does not trade it or its side is not settled."""
    return 0 if exchange is None else position.box.exchanges[exchange][RESOURCES.index(resource)]


def own_cubes(position: Position, player: int, resource: str) -> list[str]:
    """B21: the areas with a worker of the player and a cube of the resource."""
    return [area for area, lying in position.cubes.items() if resource in lying and area in position.workers[player]]


def sale(position: Position, player: int, resource: str) -> int:
    """B21: what extracting the resource brings the player now, thousands."""
    return len(own_cubes(position, player, resource)) * position.best_price[player][resource]


def action_of(kind: str, way: str) -> str:
    """The action where a counter lies that is placed as a person, or as a resource."""
    if kind == "manager":
        return "manager"
    resource, person = kind.split("/")
    return person if way == "person" else resource


def planned(position: Position, player: int, action: str) -> list[str]:
    """The new counters that the player has decided to put at the action."""
    return [
        kind
        for kind, way in zip(position.drawn[player], position.plans[player], strict=True)
        if way in ("person", "resource") and action_of(kind, way) == action
    ]


def spaces_left(position: Position, player: int, action: str) -> int:
    """B1, B12: spaces of the action without a counter, a tile or a plan of the player."""
    taken = len(position.panels[player][action]) + (action in position.tiles[player])
    return 2 - taken - len(planned(position, player, action))


def counters_on(position: Position, player: int) -> int:
    """B23: counters on the panel."""
    return sum(len(kinds) for kinds in position.panels[player].values())


def takers(position: Position, resource: str) -> list[str]:
    """B15: the areas where a cube of the resource may be placed, whether or not there is one."""
    return [area for area, lying in position.cubes.items() if lying and resource not in lying]


def exhausted_areas(position: Position) -> int:
    """B22: how many areas are without a cube."""
    return sum(not lying for lying in position.cubes.values())


def areas_to_end(position: Position) -> int:
    """B24: how many exhausted areas bring about the end."""
    return min(8, len(position.cubes))


def end_is_near(position: Position) -> bool:
    """B24: whether this round is the last one."""
    empty = sum(count == 0 for count in position.reserve.values())
    return exhausted_areas(position) >= areas_to_end(position) or empty >= 3


def one_hot(index: int | None, size: int) -> list[float]:
    """A row of zeros with a one at `index`, if there is one."""
    return [float(place == index) for place in range(size)]


def symbols(kinds: list[str]) -> list[int]:
    """How many of the counters show each action's symbol."""
    return [sum(action in kind.split("/") for kind in kinds) for action in ACTIONS]


def called_for(position: Position, player: int, own: bool) -> Counter[str]:
    """Counters at research still to be resolved, as the player's own eyes or those of another see it."""
    found = Counter(position.research[player])
    if own:
        found.update(
            kind.split("/")[0]
            for kind, way in zip(position.drawn[player], position.plans[player], strict=True)
            if way == "research"
        )
    return found


def own_panel(position: Position, player: int) -> Counter[tuple[str, str]]:
    """The player's counters by action and kind, those that are only planned included."""
    return Counter(
        (action, kind)
        for action in ACTIONS
        for kind in (*position.panels[player][action], *planned(position, player, action))
    )


def unseen_counters(position: Position, player: int) -> Counter[str]:
    """All counters of the box but those that the player sees lying somewhere, or holds."""
    rest = Counter(position.box.counters)
    for other in range(position.players):
        for kinds in position.panels[other].values():
            rest.subtract(kinds)
        rest.subtract(position.at_research[other])
    rest.subtract(position.drawn[player])
    return rest


def quantities(position: Position, player: int) -> dict[str, Any]:
    """Every block's quantities as `player` sees them, before they are divided by the block's unit."""
    box, players, phase = position.box, position.players, position.phase
    seats = [(player + seat) % players for seat in range(players)]
    places = place_names(box)
    areas = places[:MAP_SIZE]
    far = distances(position, player)
    unseen = unseen_counters(position, player)
    best_other = max(position.money[other] for other in seats[1:])
    waiting = [kind for kind, way in zip(position.drawn[player], position.plans[player], strict=True) if way == "none"]
    upcoming = waiting[0] if waiting else None
    ways = [] if upcoming is None else ["person"] if upcoming == "manager" else ["person", "resource"]
    settled = sum(name is not None for name in position.exchanges) - 1
    tile_sides = box.exchange_tiles[settled] if phase == "side" else (None, None)

    def per_seat(value: Any, width: int) -> list[Any]:
        rows = [np.atleast_1d(np.asarray(value(other), float)) for other in seats]
        return rows + [np.zeros(width)] * (SEATS - players)

    def needs(other: int) -> list[int]:
        secret = 0 if other == player else 1  # where others mean to put their counters is not known
        return [
            spaces_left(position, other, action) + secret * len(planned(position, other, action)) for action in ACTIONS
        ]

    def steps_to(area: str | None) -> int:
        return min(far.get(area, 4), 4) if area is not None and position.cubes[area] else 0

    return {
        "sale": per_seat(lambda other: [sale(position, other, resource) for resource in RESOURCES], 5),
        "yield": per_seat(lambda other: [len(own_cubes(position, other, resource)) for resource in RESOURCES], 5),
        "needs": per_seat(needs, 10),
        "within_reach": [
            [
                sum(resource in lying and far.get(area, 4) <= steps for area, lying in position.cubes.items())
                for resource in RESOURCES
            ]
            for steps in (1, 2, 3)
        ],
        "sites": [
            sum(area in position.workers[player] for area in takers(position, resource)) for resource in RESOURCES
        ],
        "raise": [
            [
                max(price_at(position, exchange, resource) - position.best_price[player][resource], 0)
                for resource in RESOURCES
            ]
            for exchange in position.exchanges
        ],
        "best_price": per_seat(lambda other: [position.best_price[other][resource] for resource in RESOURCES], 5),
        "prices": [
            [price_at(position, exchange, resource) for resource in RESOURCES] for exchange in position.exchanges
        ],
        "side_prices": [[price_at(position, exchange, resource) for resource in RESOURCES] for exchange in tile_sides],
        "cubes": [[area is not None and resource in position.cubes[area] for area in areas] for resource in RESOURCES],
        "workers": per_seat(
            lambda other: [position.workers[other].get(place or "", 0) for place in places], len(places)
        ),
        "distance": [steps_to(area) for area in areas],
        "salesmen": per_seat(
            lambda other: [position.salesmen[other].get(name or "", 0) for name in position.exchanges], 6
        ),
        "pawns": per_seat(lambda other: position.pawns[other], 1),
        "panel": [own_panel(position, player)[lying] for lying in LYING],
        "tiles": per_seat(lambda other: [action in position.tiles[other] for action in ACTIONS], 10),
        "surplus": per_seat(lambda other: counters_on(position, other), 1),
        "research": per_seat(
            lambda other: [called_for(position, other, other == player)[name] for name in RESEARCH], 6
        ),
        "counter": symbols([] if upcoming is None else [upcoming]),
        "counter_needs": [
            0 if upcoming is None or way not in ways else spaces_left(position, player, action_of(upcoming, way))
            for way in ("person", "resource")
        ],
        "to_place": symbols(waiting),
        "unseen_counters": [unseen[kind] for kind in KINDS if kind != "manager"],
        "unseen_managers": [unseen["manager"]],
        "bag": unseen.total() - sum(len(position.drawn[other]) for other in seats[1:]),
        "face_up": [position.face_up.count(action) for action in ACTIONS],
        "tile_stack": sum(box.investment_tiles.values())
        - len(position.face_up)
        - sum(len(tiles) for tiles in position.tiles),
        "scores": per_seat(lambda other: position.money[other], 1),
        "margin": [
            position.money[player] - best_other,
            *(position.money[player] - position.money[seats[seat]] if seat < players else 0 for seat in (1, 2, 3)),
        ],
        "reserve": [position.reserve[resource] for resource in RESOURCES],
        "to_exhaust": max(areas_to_end(position) - exhausted_areas(position), 0),
        "empty_reserves": sum(count == 0 for count in position.reserve.values()),
        "last_round": end_is_near(position),
        "rounds_left": 1 - position.rounds / position.max_rounds,
        "phase": [phase == decision for decision in DECISIONS],
        "origin": [
            position.origin is not None and position.origin == place
            for place in ("reserve", *position.exchanges, *places)
        ],
        "steps_left": position.steps_left,
        "placing": [position.resource == resource for resource in RESOURCES],
        "turn_of": one_hot(None if phase == "over" else (position.player - player) % players, SEATS),
        "starting": one_hot((position.start - player) % players, SEATS),
        "passed": per_seat(lambda other: other in position.passed, 1),
        "cards": per_seat(lambda other: [resource in position.cards[other] for resource in RESOURCES], 5),
        "salesman_cards": position.salesman_cards,
        "present": [seat < players for seat in range(SEATS)],
        "num_players": one_hot(players - 2, 3),
        "seat": one_hot(player, SEATS),
    }


def hidden_quantities(position: Position) -> dict[str, Any]:
    """Every hidden block's quantities."""
    seats = range(SEATS)

    def drawn(player: int) -> list[str]:
        return position.drawn[player] if player < position.players else []

    return {
        "drawn": [[drawn(player).count(kind) for kind in KINDS] for player in seats],
        "planned": [
            [len(planned(position, player, action)) if player < position.players else 0 for action in ACTIONS]
            for player in seats
        ],
        "next_tiles": [[position.tile_stack[depth : depth + 1] == [action] for action in ACTIONS] for depth in (0, 1)],
    }


def values(blocks: tuple[Block, ...], given: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """From quantities to what the vector must hold to the bit, block by block in the block's shape.

    One multiplication in single precision, then clipped; the rounds are a share from the start.
    """
    scaled = {}
    for block in blocks:
        amounts = np.asarray(given[block.name], np.float32).reshape(block.shape)
        assert block.signed or amounts.min() >= 0, block.name
        scaled[block.name] = np.clip(amounts * np.float32(1 / block.unit), np.float32(-1), np.float32(1))
    return scaled
