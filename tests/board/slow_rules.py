"""The rules a second time, in words and lists, read from their numbered text alone: a slow partner for comparison.

A game is one long generator that yields `(player, legal actions)` and is sent the chosen action; what chance gives it
reads from the table that it is played beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import TypeAlias

from siberia_env.board.components import ACTIONS, KINDS, START
from siberia_env.tables import RESOURCES
from tests.board.helpers import Table, actions_of

Asking: TypeAlias = Generator[tuple[int, list[str]], str, None]

BY_PERSON = list(KINDS)  # B12: the order in which counters come up


class Seat:
    """What belongs to one player."""

    def __init__(self) -> None:
        self.money = 0
        self.reserve = 4  # B10: pawns
        self.workers = [START]
        self.salesmen = ["Frankfurt"]
        self.panel: dict[str, list[str]] = {action: [] for action in ACTIONS}
        self.tiles: list[str] = []
        self.research: list[str] = []
        self.cards: list[str] = []

    def free(self, action: str) -> int:
        """Uncovered spaces of an action."""
        return 2 - len(self.panel[action]) - self.tiles.count(action)


class SlowGame:
    """One game beside `table`, which has just been dealt."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.box, self.rules = table.variant.components, table.variant.rules
        self.seats = [Seat() for _ in range(table.variant.num_players)]
        self.areas = {area: table.cubes(area) for area in table.areas}
        self.exhausted: list[str] = []
        self.reserve = Counter(table.reserve())
        self.sold: Counter[str] = Counter()
        self.bag = Counter(self.box.counters)
        self.stack = [*table.face_up(), *table.tile_stack()]
        self.face_up: list[str] = []
        self.exchanges = table.exchanges()
        self.start = 0
        self.rounds = 0
        self.over = self.truncated = False

    # ------------------------------------------------------------ the course of a game

    def play(self) -> Asking:
        """The whole game."""
        if self.rules["sides"] == "choose":  # B9
            for number, sides in enumerate(self.box.exchange_tiles, 1):
                name = yield self.start, [f"side {side}" for side in sides]
                self.exchanges[number] = name.removeprefix("side ")
        for _ in range(4):
            self.turn_up()
        while not self.over:
            yield from self.round()

    def clockwise(self) -> list[int]:
        """The seats from the starting player on."""
        seats = list(range(len(self.seats)))
        return seats[self.start :] + seats[: self.start]

    def round(self) -> Asking:
        """B11 to B14, B23, B24."""
        drawn = {player: sorted(self.table.drawn(player), key=BY_PERSON.index) for player in self.clockwise()}
        for counters in drawn.values():
            self.bag.subtract(counters)
        plans: dict[int, list[str]] = {}
        for player, counters in drawn.items():
            plans[player] = []
            for counter in counters:
                room = {action: self.seats[player].free(action) - plans[player].count(action) for action in ACTIONS}
                options = ["place research"]
                if room[actions_of(counter)[0]] > 0:
                    options.append("place person")
                if counter != "manager" and room[actions_of(counter)[1]] > 0:
                    options.append("place resource")
                name = yield player, options
                where = {"place person": 0, "place resource": 1}.get(name)
                plans[player].append("research" if where is None else actions_of(counter)[where])
        for player, counters in drawn.items():
            for counter, where in zip(counters, plans[player], strict=True):
                seat = self.seats[player]
                (seat.research if where == "research" else seat.panel[where]).append(counter)

        acting = self.clockwise()
        while acting:
            player = acting.pop(0)
            seat = self.seats[player]
            if seat.research:
                yield from self.research(player)
                acting.append(player)
                continue
            able = [action for action in ACTIONS if seat.panel[action] and not seat.free(action)]
            name = yield player, ["pass", *(f"act {action}" for action in able)]
            if name != "pass":
                yield from self.act(player, name.removeprefix("act "))
                acting.append(player)

        for player in self.clockwise():
            panel = self.seats[player].panel
            while sum(map(len, panel.values())) > 10:
                name = yield (
                    player,
                    [
                        f"discard {action} {counter}"
                        for action in ACTIONS
                        for counter in sorted(set(panel[action]), key=BY_PERSON.index)
                    ],
                )
                _, action, counter = name.split(" ")
                panel[action].remove(counter)
                self.bag[counter] += 1
        self.rounds += 1
        empty = sum(self.reserve[resource] == 0 for resource in RESOURCES)
        due = len(self.exhausted) >= min(8, len(self.areas)) or empty >= 3
        self.truncated = not due and self.rounds == self.rules["max_rounds"]
        self.over = due or self.truncated
        if not self.over:
            self.start = (self.start + 1) % len(self.seats)

    # ------------------------------------------------------------ the actions

    def research(self, player: int) -> Asking:
        """B15."""
        seat = self.seats[player]
        self.bag.update(seat.research)
        wanted = sorted((actions_of(counter)[-1] for counter in seat.research), key=[*RESOURCES, "manager"].index)
        seat.research = []
        for resource in wanted:
            if resource == "manager":
                choices = [other for other in RESOURCES if self.fits(other)]
                if not choices:
                    continue
                name = yield player, [f"resource {other}" for other in choices]
                resource = name.removeprefix("resource ")
            if areas := self.fits(resource):
                name = yield player, [f"area {area}" for area in areas]
                self.areas[name.removeprefix("area ")].append(resource)
                self.reserve[resource] -= 1

    def fits(self, resource: str) -> list[str]:
        """The areas where a cube of the resource may go now."""
        if not self.reserve[resource]:
            return []
        return [area for area, cubes in self.areas.items() if area not in self.exhausted and resource not in cubes]

    def act(self, player: int, action: str) -> Asking:
        """B14."""
        seat = self.seats[player]
        self.bag.update(seat.panel[action])
        seat.panel[action] = []
        if action in RESOURCES:
            self.extract(player, action)
        elif action == "manager":
            yield from self.manager(player)
        elif action == "logistician":
            yield from self.logistician(player)
        elif action == "salesman":
            yield from self.salesman(player)
        elif action == "worker":
            yield from self.worker(player)
        else:
            yield from self.investor(player)

    def manager(self, player: int) -> Asking:
        """B16."""
        seat = self.seats[player]
        free = [action for action in ACTIONS if action != "manager" and seat.free(action)]
        name = yield player, [*(f"wildcard {action}" for action in free), "wildcard none"]
        if name != "wildcard none":
            seat.panel[name.removeprefix("wildcard ")].append("manager")
            self.bag["manager"] -= 1

    def neighbours(self, place: str) -> list[str]:
        """B17: where one step leads, by spreading out over exhausted areas until nothing is new."""
        reach = set(self.box.arrows if place == START else self.box.areas[place])
        while more := {area for gone in reach & set(self.exhausted) for area in self.box.areas[gone]} - reach:
            reach |= more
        return [area for area in self.areas if area in reach and area not in self.exhausted and area != place]

    def logistician(self, player: int) -> Asking:
        """B17."""
        workers = self.seats[player].workers
        for _ in range(3):
            places = [place for place in (*self.areas, START) if place in workers and self.neighbours(place)]
            name = yield player, [*(f"from {place}" for place in places), "stop"]
            if name == "stop":
                return
            here = name.removeprefix("from ")
            name = yield player, [f"to {area}" for area in self.neighbours(here)]
            workers.remove(here)
            workers.append(name.removeprefix("to "))

    def take_pawn(self, player: int, name: str) -> str:
        """A pawn leaves the place that `name` says; the place."""
        seat, place = self.seats[player], name.removeprefix("pawn ")
        if place == "reserve":
            seat.reserve -= 1
        else:
            (seat.salesmen if place in self.exchanges else seat.workers).remove(place)
        return place

    def salesman(self, player: int) -> Asking:
        """B18, B25."""
        seat = self.seats[player]
        places = [*self.exchanges, *self.areas, START]
        options = [f"pawn {place}" for place in places if place in seat.salesmen + seat.workers]
        if seat.reserve:
            options.insert(0, "pawn reserve")
        if self.rules["salesman_cards"]:
            held = [resource for other in self.seats for resource in other.cards]
            takeable = [resource for resource in RESOURCES if resource not in held]
            if not takeable:
                takeable = [resource for resource in RESOURCES if resource not in seat.cards]
            options += [f"card {resource}" for resource in takeable]
        name = yield player, options
        if name.startswith("card "):
            resource = name.removeprefix("card ")
            for other in self.seats:
                if resource in other.cards:
                    other.cards.remove(resource)
            seat.cards.append(resource)
            return
        targets = [exchange for exchange in self.exchanges if name != f"pawn {exchange}"]
        target = yield player, [f"exchange {exchange}" for exchange in targets]
        self.take_pawn(player, name)
        seat.salesmen.append(target.removeprefix("exchange "))

    def worker(self, player: int) -> Asking:
        """B19."""
        seat = self.seats[player]
        if seat.reserve:
            seat.reserve -= 1
        else:
            places = [place for place in (*self.exchanges, *self.areas) if place in seat.salesmen + seat.workers]
            if not places:
                return
            name = yield player, [f"pawn {place}" for place in places]
            self.take_pawn(player, name)
        seat.workers.append(START)

    def investor(self, player: int) -> Asking:
        """B20."""
        seat = self.seats[player]
        options = [
            action for action in ACTIONS if action in self.face_up and action not in seat.tiles and seat.free(action)
        ]
        if options:
            name = yield player, [f"tile {action}" for action in options]
            self.face_up.remove(name.removeprefix("tile "))
            seat.tiles.append(name.removeprefix("tile "))
            self.turn_up()

    def turn_up(self) -> None:
        """The next tile of the stack, if there is one."""
        if self.stack:
            self.face_up.append(self.stack.pop(0))

    def extract(self, player: int, resource: str) -> None:
        """B21, B22."""
        seat = self.seats[player]
        prices = [self.box.exchanges[exchange][RESOURCES.index(resource)] for exchange in seat.salesmen]
        prices += [self.box.salesman_cards[resource]] if resource in seat.cards else []
        best = max(prices, default=0)
        if best == 0:
            return
        for area, cubes in self.areas.items():
            if area in seat.workers and resource in cubes:
                cubes.remove(resource)
                seat.money += best
                self.sold[resource] += 1
                if not cubes:
                    self.exhausted.append(area)
        for other in self.seats:
            at_home = [place for place in other.workers if place in self.exhausted]
            other.reserve += len(at_home)
            other.workers = [place for place in other.workers if place not in self.exhausted]

    # ------------------------------------------------------------ comparison

    def compare(self) -> None:
        """All that lies on the table is the same in both."""
        table = self.table
        assert {area: sorted(cubes) for area, cubes in self.areas.items()} == {
            area: sorted(table.cubes(area)) for area in table.areas
        }
        assert sorted(self.exhausted) == sorted(table.exhausted())
        assert {resource: self.reserve[resource] for resource in RESOURCES} == table.reserve()
        assert +self.bag == table.bag()
        assert sorted(self.face_up) == sorted(table.face_up())
        assert self.stack == table.tile_stack()
        assert [seat.money for seat in self.seats] == table.scores()
        assert (self.start, self.rounds) == (int(table.state.start), int(table.state.rounds))
        for player, seat in enumerate(self.seats):
            assert seat.reserve == table.pawns(player)
            assert Counter(seat.workers) == table.workers(player)
            assert Counter(seat.salesmen) == table.salesmen(player)
            assert sorted(seat.cards) == sorted(table.cards(player))
            assert sorted(seat.tiles) == sorted(table.tiles(player))
            lying = {action: sorted(counters) for action, counters in seat.panel.items() if counters}
            assert lying == {action: sorted(counters) for action, counters in table.panel(player).items()}
