"""Replays records of the board game. It knows only their format and the rules, and uses nothing of the suite.

The replayer reads the lines one after the other while it plays the rounds by the rulebook, with names, lists and sets.
It checks every list of legal actions, every chance line and the end.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

RESOURCES = ("gas", "charcoal", "oil", "gold", "diamond")
PERSONS = ("logistician", "salesman", "worker", "investor")
ACTIONS = ("manager", *PERSONS, *RESOURCES)
HARBOUR = "Vladivostok"


def coming_up(counter: str) -> tuple[int, int]:
    """The order in which counters come up (B12): by person, then by resource, managers last."""
    resource, _, person = counter.partition("/")
    return (PERSONS.index(person), RESOURCES.index(resource)) if person else (len(PERSONS), 0)


class Retelling:
    """A game that is replayed from the lines of its record."""

    def __init__(self, text: str) -> None:
        self.header, setup, *self.lines = (json.loads(line) for line in text.splitlines())
        self.box = box = self.header["components"]
        self.rules = self.header["rules"]
        self.players = range(self.header["num_players"])
        self.bag = Counter(box["counters"])
        self.num_counters = self.bag.total()
        self.lying = {area: set(cubes) for area, cubes in setup["areas"].items()}
        assert list(self.lying) == list(box["areas"])
        assert all(len(cubes) == 2 for cubes in self.lying.values())
        self.reserve = dict(setup["reserve"])
        for resource in RESOURCES:
            laid = sum(resource in cubes for cubes in self.lying.values())
            assert self.reserve[resource] + laid == box["cubes"][resource]
        self.stack = Counter(box["investment_tiles"])
        self.face_up: Counter[str] = Counter()
        for tile in setup["tiles"]:
            self.turn_up(tile)
        assert self.face_up.total() == 4
        if self.rules["sides"] == "choose":
            assert "sides" not in setup
            self.exchanges = ["Frankfurt"]
            for sides in box["exchange_tiles"]:
                self.exchanges.append(self.choose(0, [f"side {side}" for side in sides]).removeprefix("side "))
        else:
            self.exchanges = ["Frankfurt", *setup["sides"]]
            assert all(side in sides for side, sides in zip(setup["sides"], box["exchange_tiles"], strict=True))
            assert self.rules["sides"] in ("random", setup["sides"])
        self.money = [0 for _ in self.players]
        self.pawns = [4 for _ in self.players]
        self.workers = [Counter([HARBOUR]) for _ in self.players]
        self.salesmen = [Counter(["Frankfurt"]) for _ in self.players]
        self.panel: list[dict[str, list[str]]] = [{action: [] for action in ACTIONS} for _ in self.players]
        self.tiles: list[set[str]] = [set() for _ in self.players]
        self.research: list[list[str]] = [[] for _ in self.players]
        self.cards: dict[str, int] = {}
        self.exhausted: set[str] = set()
        self.start = self.rounds = 0

    # ------------------------------------------------------------ lines

    def choose(self, player: int, names: Iterable[str]) -> str:
        """Take the next line, which has to be a decision of the player between exactly these names."""
        line = self.lines.pop(0)
        assert line["player"] == player
        assert sorted(line["legal"]) == sorted(names)
        assert line["action"] in line["legal"]
        return str(line["action"])

    def event(self, name: str) -> Any:
        """Take the next line, which has to be this event."""
        line = self.lines.pop(0)
        assert line["event"] == name
        return line

    def tell(self) -> None:
        self.play_round()
        while not (ended := self.is_end_due()) and self.rounds < self.rules["max_rounds"]:
            self.play_round()
        end = self.event("end")
        assert end["scores"] == [1000 * money for money in self.money]
        assert end["winners"] == [player for player in self.players if self.money[player] == max(self.money)]
        assert end["truncated"] == (not ended)
        assert not self.lines

    # ------------------------------------------------------------ a round

    def is_end_due(self) -> bool:
        empty = sum(count == 0 for count in self.reserve.values())
        return len(self.exhausted) >= min(8, len(self.lying)) or empty >= 3

    def play_round(self) -> None:
        order = [*self.players[self.start :], *self.players[: self.start]]
        hands = []
        for player in order:
            line = self.event("draw")
            assert line["player"] == player
            assert line["counters"] == sorted(line["counters"], key=coming_up)
            assert len(line["counters"]) == 6
            self.bag.subtract(line["counters"])
            hands.append(line["counters"])
        assert min(self.bag.values()) >= 0
        for player, hand in zip(order, hands, strict=True):
            for counter in hand:
                self.place(player, counter)
        playing = list(order)
        while playing:
            player = playing.pop(0)
            if self.take_turn(player):
                playing.append(player)
            self.check_conservation()
        for player in order:
            while sum(map(len, self.panel[player].values())) > 10:
                names = {f"discard {action} {counter}" for action in ACTIONS for counter in self.panel[player][action]}
                _, action, counter = self.choose(player, names).split()
                self.panel[player][action].remove(counter)
                self.bag[counter] += 1
        self.start = (self.start + 1) % len(self.players)
        self.rounds += 1

    def check_conservation(self) -> None:
        on_panels = sum(len(counters) for panel in self.panel for counters in panel.values())
        assert self.bag.total() + on_panels + sum(map(len, self.research)) == self.num_counters
        for player in self.players:
            assert self.pawns[player] + self.workers[player].total() + self.salesmen[player].total() == 6
        tiles = sum(map(len, self.tiles)) + self.face_up.total() + self.stack.total()
        assert tiles == sum(self.box["investment_tiles"].values())

    def room(self, player: int, action: str) -> int:
        return 2 - len(self.panel[player][action]) - (action in self.tiles[player])

    def place(self, player: int, counter: str) -> None:
        resource, _, person = counter.partition("/")
        spaces = {"place person": person or "manager"} | ({"place resource": resource} if person else {})
        free = {name: action for name, action in spaces.items() if self.room(player, action) > 0}
        name = self.choose(player, ["place research", *free])
        (self.panel[player][free[name]] if name in free else self.research[player]).append(counter)

    def take_turn(self, player: int) -> bool:
        """Play research, an action or a pass; return False after a pass, because the player is out then."""
        if self.research[player]:
            self.do_research(player)
            return True
        ready = [f"act {action}" for action in ACTIONS if self.room(player, action) == 0]
        name = self.choose(player, ["pass", *ready])
        if name == "pass":
            return False
        action = name.removeprefix("act ")
        self.bag.update(self.panel[player][action])
        self.panel[player][action] = []
        {
            "manager": self.put_wildcard,
            "logistician": self.move_workers,
            "salesman": self.send_salesman,
            "worker": self.send_worker,
            "investor": self.take_tile,
        }.get(action, lambda player: self.extract(player, action))(player)
        return True

    # ------------------------------------------------------------ research

    def fitting(self, resource: str) -> list[str]:
        """List the areas where a cube of the resource may be laid."""
        if self.reserve[resource] == 0:
            return []
        return [area for area in self.lying if area not in self.exhausted and resource not in self.lying[area]]

    def do_research(self, player: int) -> None:
        counters, self.research[player] = self.research[player], []
        self.bag.update(counters)
        for resource in RESOURCES:
            for _ in range(sum(counter.startswith(f"{resource}/") for counter in counters)):
                self.lay_cube(player, resource)
        for _ in range(counters.count("manager")):
            if names := [f"resource {resource}" for resource in RESOURCES if self.fitting(resource)]:
                self.lay_cube(player, self.choose(player, names).removeprefix("resource "))

    def lay_cube(self, player: int, resource: str) -> None:
        if names := [f"area {area}" for area in self.fitting(resource)]:
            self.lying[self.choose(player, names).removeprefix("area ")].add(resource)
            self.reserve[resource] -= 1

    # ------------------------------------------------------------ what the actions bring

    def put_wildcard(self, player: int) -> None:
        free = [action for action in ACTIONS[1:] if self.room(player, action) > 0]
        action = self.choose(player, [f"wildcard {action}" for action in (*free, "none")]).removeprefix("wildcard ")
        if action != "none":
            self.bag["manager"] -= 1
            self.panel[player][action].append("manager")

    def beyond(self, place: str) -> set[str]:
        """The areas one step away; a step passes through exhausted areas."""
        seen, pending = {place}, list(self.box["arrows"] if place == HARBOUR else self.box["areas"][place])
        while pending:
            if (area := pending.pop()) not in seen:
                seen.add(area)
                pending += self.box["areas"][area] if area in self.exhausted else []
        return seen - self.exhausted - {place}

    def move_workers(self, player: int) -> None:
        for _ in range(3):
            names = [f"from {place}" for place in +self.workers[player] if self.beyond(place)]
            name = self.choose(player, [*names, "stop"])
            if name == "stop":
                return
            place = name.removeprefix("from ")
            area = self.choose(player, [f"to {area}" for area in self.beyond(place)]).removeprefix("to ")
            self.workers[player][place] -= 1
            self.workers[player][area] += 1

    def pick_up(self, player: int, place: str) -> None:
        if place == "reserve":
            self.pawns[player] -= 1
        else:
            (self.salesmen if place in self.exchanges else self.workers)[player][place] -= 1

    def send_salesman(self, player: int) -> None:
        places = [*(["reserve"] if self.pawns[player] else []), *+self.salesmen[player], *+self.workers[player]]
        cards = []
        if self.rules["salesman_cards"]:
            free = [resource for resource in RESOURCES if resource not in self.cards]
            cards = free or [resource for resource in RESOURCES if self.cards[resource] != player]
        verb, place = self.choose(
            player, [*(f"pawn {place}" for place in places), *(f"card {resource}" for resource in cards)]
        ).split(maxsplit=1)
        if verb == "card":
            self.cards[place] = player
            return
        names = [f"exchange {exchange}" for exchange in self.exchanges if exchange != place]
        exchange = self.choose(player, names).removeprefix("exchange ")
        self.pick_up(player, place)
        self.salesmen[player][exchange] += 1

    def send_worker(self, player: int) -> None:
        place = "reserve"
        if self.pawns[player] == 0:
            places = [*+self.salesmen[player], *(set(+self.workers[player]) - {HARBOUR})]
            if not places:
                return
            place = self.choose(player, [f"pawn {place}" for place in places]).removeprefix("pawn ")
        self.pick_up(player, place)
        self.workers[player][HARBOUR] += 1

    def turn_up(self, tile: str) -> None:
        assert self.stack[tile] > 0
        self.stack[tile] -= 1
        self.face_up[tile] += 1

    def take_tile(self, player: int) -> None:
        tiles = [tile for tile in +self.face_up if tile not in self.tiles[player] and len(self.panel[player][tile]) < 2]
        if tiles:
            tile = self.choose(player, [f"tile {tile}" for tile in tiles]).removeprefix("tile ")
            self.face_up[tile] -= 1
            self.tiles[player].add(tile)
            if self.stack.total() > 0:
                self.turn_up(self.event("tile")["tile"])

    def extract(self, player: int, resource: str) -> None:
        column = RESOURCES.index(resource)
        prices = [self.box["exchanges"][exchange][column] for exchange in +self.salesmen[player]]
        if self.cards.get(resource) == player:
            prices.append(self.box["salesman_cards"][resource])
        if (price := max(prices, default=0)) == 0:
            return
        for area in set(+self.workers[player]) - {HARBOUR}:
            if resource in self.lying[area]:
                self.lying[area].remove(resource)
                self.money[player] += price
                if not self.lying[area]:
                    self.exhausted.add(area)
                    for owner in self.players:
                        self.pawns[owner] += self.workers[owner].pop(area, 0)
