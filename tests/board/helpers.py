"""Board game positions built by hand, games stepped by action names, and slow obvious counts beside them.

Names are those of the logs: `gas/worker` and `manager` are counters, `gas` a resource, an action or an investment
tile, `Yakutia` an area, `Tokyo` an exchange by its active side, `act gold` an action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from siberia_env.board.components import ACTIONS, KINDS, START, VLADIVOSTOK, all_exchanges
from siberia_env.board.game import GAME
from siberia_env.board.rules import begin_turn, end_turn
from siberia_env.board.state import (
    AT_PERSON,
    AT_RESEARCH,
    AT_RESOURCE,
    CHOOSE_AREA,
    CHOOSE_EXCHANGE,
    CHOOSE_SIDE,
    DISCARD,
    EMPTY,
    MOVE_FROM,
    MOVE_TO,
    NOBODY,
    NOT_PLACED,
    NOTHING,
    OVER,
    PLACE,
    TURN,
)
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.game import MAX_PLAYERS, Variant
from tests.table import GameTable

FIRST_SIDES = ["Tokyo", "London", "Shanghai", "Sydney", "Zurich"]
GIVEN_SIDES = ["New York", "London", "Toronto", "Sydney", "Sao Paulo"]  #: sides 1 0 1 0 1
ALL_SIDES: tuple[Any, ...] = ("choose", "random", GIVEN_SIDES)  #: B9: the ways to settle them
DRAWN = 6
SPACES = 2
PAWNS = 6


def actions_of(counter: str) -> tuple[str, ...]:
    """The actions on whose spaces a counter may be placed (B12): its person's, then its resource's."""
    return tuple(reversed(counter.split("/")))


class Ledger:
    """What was sold and for how much: the state keeps only money, so a test follows every cube."""

    def __init__(self) -> None:
        self.sold: Counter[str] = Counter()
        self.money: Counter[int] = Counter()

    def book(self, before: Any, after: Any, prices: Mapping[str, int]) -> None:
        """Compare the map before and after one action; `prices` are those open to the player on turn before it."""
        for number, resource in enumerate(RESOURCES):
            cubes = (int(before.lying[number]) & ~int(after.lying[number])).bit_count()
            self.sold[resource] += cubes
            self.money[int(before.player)] += cubes * prices[resource]


class Table(GameTable):
    """One board game, stepped by the names of its actions; every answer is in names."""

    game = GAME

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        self.ledger = Ledger()

    def copy(self) -> Self:
        """An independent table with the same position."""
        other = super().copy()
        other.ledger.sold, other.ledger.money = self.ledger.sold.copy(), self.ledger.money.copy()
        return other

    def step(self, action: int) -> int:
        """Take the action of that number; what `engine.step_at` returns."""
        before, prices = self.states.copy(), self.prices(self.player)
        answer = super().step(action)
        if answer != engine.ILLEGAL:
            self.ledger.book(before[0], self.state, prices)
        return answer

    def draw_and_place(self, covered: Mapping[int, Sequence[str]]) -> Self:
        """The counters that are due come up and are placed: two on the free spaces of each of three actions a player.

        `covered` names the actions; a player not given covers the last ones that have nothing on them.
        """
        bag, players = self.bag(), self.variant.num_players
        plans = {}
        for player in ((int(self.state.start) + seat) % players for seat in range(players)):
            taken = {*self.panel(player), *self.tiles(player)}
            plans[player] = covered.get(player) or [action for action in ACTIONS[::-1] if action not in taken][:3]
        wanted = {action for actions in plans.values() for action in actions}
        placings: dict[int, list[tuple[str, str]]] = {}  # counters and the actions they cover, by player
        for player, actions in plans.items():
            assert len(actions) == DRAWN // SPACES
            for action in [action for action in actions for _ in range(SPACES)]:
                fitting = [counter for counter in +bag if action in actions_of(counter)]
                counter = min(fitting, key=lambda counter: sum(other in wanted for other in actions_of(counter)))
                bag[counter] -= 1
                placings.setdefault(player, []).append((counter, action))
        self.force([KINDS.index(counter) for placing in placings.values() for counter, _ in placing])
        for player, placing in placings.items():
            for counter in self.drawn(player):
                action = next(action for drawn, action in placing if drawn == counter)
                placing.remove((counter, action))
                self.play("place person" if actions_of(counter)[0] == action else "place resource")
        return self

    def take_turns(self, turns: Mapping[int, Sequence[str]], *, to_the_end: bool = True) -> Self:
        """Each player's turns of a round, one after the other; a player without any left passes.

        Args:
            turns: by player, each as `act logistician, from Vladivostok, to Amur, stop`.
            to_the_end: whether to go on to the round's end; otherwise to the last of the turns.
        """
        waiting, rounds = {player: list(names) for player, names in turns.items()}, int(self.state.rounds)
        while (to_the_end or any(waiting.values())) and not self.over and self.state.rounds == rounds:
            left = waiting.get(self.player)
            if self.state.phase == DISCARD:
                self.play(self.legal()[0])
            else:
                self.play(*(left.pop(0) if left else "pass").split(", "))
        assert not any(waiting.values()), "the round is over"
        return self

    @property
    def areas(self) -> tuple[str, ...]:
        """The areas of the map, in their order."""
        return tuple(self.variant.components.areas)

    def place_name(self, number: int) -> str:
        """The area with that number, or Vladivostok."""
        return START if number == VLADIVOSTOK else self.areas[number]

    def place_number(self, name: str) -> int:
        """The number of an area, or of Vladivostok."""
        return VLADIVOSTOK if name == START else self.areas.index(name)

    def in_set(self, areas: int) -> list[str]:
        """The areas in a set (bit a for area a), in their order."""
        return [name for number, name in enumerate(self.areas) if int(areas) >> number & 1]

    def exchanges(self) -> list[str]:
        """The exchanges by their active sides, Frankfurt first."""
        box = all_exchanges(self.variant.components)
        return [box[0], *(box[1 + 2 * tile + int(side)] for tile, side in enumerate(self.state.side))]

    def cubes(self, area: str) -> list[str]:
        """The resources that lie in an area."""
        number = self.place_number(area)
        return [
            resource
            for resource, areas in zip(RESOURCES, self.state.lying.tolist(), strict=True)
            if areas >> number & 1
        ]

    def exhausted(self) -> list[str]:
        """The areas without a cube, in their order."""
        lying = self.state.lying.tolist()
        return [area for number, area in enumerate(self.areas) if not any(areas >> number & 1 for areas in lying)]

    def reserve(self) -> dict[str, int]:
        """The cubes beside the map."""
        return {resource: int(count) for resource, count in zip(RESOURCES, self.state.reserve, strict=True)}

    def bag(self) -> Counter[str]:
        """The counters in the bag."""
        return Counter({kind: int(count) for kind, count in zip(KINDS, self.state.bag, strict=True) if count})

    def panel(self, player: int) -> dict[str, list[str]]:
        """The counters on a panel's spaces, by action; actions without any are left out."""
        rows = {
            action: [KINDS[kind] for kind in spaces if kind != EMPTY]
            for action, spaces in zip(ACTIONS, self.state.panel[player], strict=True)
        }
        return {action: row for action, row in rows.items() if row}

    def tiles(self, player: int) -> list[str]:
        """The investment tiles on a panel."""
        return [action for action, count in zip(ACTIONS, self.state.tiles[player], strict=True) if count]

    def face_up(self) -> list[str]:
        """The investment tiles that lie face up, in the order of the actions."""
        return [action for action, count in zip(ACTIONS, self.state.face_up, strict=True) for _ in range(int(count))]

    def tile_stack(self) -> list[str]:
        """The stack of investment tiles, the top one first."""
        return [ACTIONS[action] for action in self.state.tile_stack[: self.state.tile_stack_size][::-1]]

    def drawn(self, player: int) -> list[str]:
        """The counters that a player has drawn this round, as they come up (B12)."""
        return [KINDS[kind] for kind in self.state.drawn[player] if kind != EMPTY]

    def plan(self, player: int) -> list[str]:
        """Where each of them goes: `none` as yet, `research`, `person` or `resource`."""
        words = {NOT_PLACED: "none", AT_RESEARCH: "research", AT_PERSON: "person", AT_RESOURCE: "resource"}
        return [words[int(where)] for where in self.state.plan[player][: len(self.drawn(player))]]

    def research(self, player: int) -> list[str]:
        """The counters at research that are still to be resolved: resources, managers last."""
        names = (*RESOURCES, "manager")
        return [name for name, count in zip(names, self.state.research[player], strict=True) for _ in range(count)]

    def workers(self, player: int) -> dict[str, int]:
        """A player's workers by area, Vladivostok last; places without one are left out."""
        return {self.place_name(place): int(count) for place, count in enumerate(self.state.workers[player]) if count}

    def salesmen(self, player: int) -> dict[str, int]:
        """A player's salesmen by exchange; exchanges without one are left out."""
        exchanges = self.exchanges()
        return {exchanges[number]: int(count) for number, count in enumerate(self.state.salesmen[player]) if count}

    def pawns(self, player: int) -> int:
        """The pawns in a player's reserve."""
        return int(self.state.pawns[player])

    def cards(self, player: int) -> list[str]:
        """The salesman cards that a player holds (B25)."""
        return [name for name, owner in zip(RESOURCES, self.state.card_owner, strict=True) if owner == player]

    def passed(self) -> list[int]:
        """Who has passed."""
        return [player for player in range(self.variant.num_players) if int(self.state.passed) >> player & 1]

    def prices(self, player: int) -> dict[str, int]:
        """B21, the slow way: the best price open to a player for each resource, thousands; 0: none."""
        components = self.variant.components
        best = dict.fromkeys(RESOURCES, 0)
        for number, resource in enumerate(RESOURCES):
            prices = [components.exchanges[exchange][number] for exchange in self.salesmen(player)]
            if resource in self.cards(player):
                prices.append(components.salesman_cards[resource])
            best[resource] = max(prices, default=0)
        return best

    def steps(self, place: str) -> list[str]:
        """B17, the slow way: the open areas one step away, in their order; exhausted areas are passed through."""
        components, exhausted = self.variant.components, set(self.exhausted())
        if place in exhausted:
            return []
        found, seen, pending = set(), {place}, [place]
        while pending:
            here = pending.pop()
            for area in components.arrows if here == START else components.areas[here]:
                if area not in seen:
                    seen.add(area)
                    if area in exhausted:
                        pending.append(area)
                    else:
                        found.add(area)
        return [area for area in self.areas if area in found]


def lay_out(
    num_players: int = 2,
    rules: Any = None,
    components: Any = None,
    *,
    areas: Mapping[str, Iterable[str]] | None = None,
    reserve: Mapping[str, int] | None = None,
    sides: Sequence[str] = (),
    workers: Mapping[int, Iterable[str]] | None = None,
    salesmen: Mapping[int, Iterable[str]] | None = None,
    panels: Mapping[int, Mapping[str, Iterable[str]]] | None = None,
    tiles: Mapping[int, Iterable[str]] | None = None,
    face_up: Iterable[str] | None = None,
    tile_stack: Sequence[str] = (),
    cards: Mapping[str, int] | None = None,
    money: Mapping[int, int] | None = None,
    drawn: Mapping[int, Iterable[str]] | None = None,
    research: Mapping[int, Iterable[str]] | None = None,
    player: int = 0,
    start: int = 0,
    passed: Iterable[int] = (),
    rounds: int = 0,
) -> Table:
    """A position by hand, every piece of the box in its place; a turn in phase 2, or with `drawn` the placing.

    Args:
        num_players: 2 to 4.
        rules: as for an environment.
        components: as for an environment.
        areas: the cubes in each area, `[]` for an exhausted one; an area not given gets one or two cubes of what
            is left most, and is not exhausted.
        reserve: cubes beside the map, all others being sold (by nobody, for nothing); without it, or for a
            resource not given, all others are in the reserve.
        sides: active exchanges; a tile of which none is given shows its first side.
        workers: places by player, Vladivostok if not given.
        salesmen: exchanges by player, Frankfurt if not given.
        panels: counters by player and action.
        tiles: investment tiles by player.
        face_up: investment tiles face up; without it the first four of those left.
        tile_stack: the top tiles of the stack, the top one first; those left lie beneath them.
        cards: owner of each salesman card that is not beside the board.
        money: thousands, by player.
        drawn: six counters by player, to be placed now; a player not given gets the first ones that are left.
        research: counters at research by player, drawn this round, six at most. The turn of `player` begins with
            them.
        player: whose turn it is in phase 2.
        start: starting player of the round.
        passed: who has passed.
        rounds: rounds finished.
    """
    table = Table(GAME.variant(num_players, rules, components))
    variant, state, box = table.variant, table.state, table.variant.components
    state.generator = 1

    # The map.
    left = Counter({resource: int(count) for resource, count in box.cubes.items()})
    lying: dict[str, list[str]] = {area: list(cubes) for area, cubes in (areas or {}).items()}
    assert set(lying) <= set(table.areas), "no such area"
    for cubes in lying.values():
        left.subtract(cubes)
    for area in table.areas:
        if area not in lying:
            lying[area] = [resource for resource, count in left.most_common(2) if count > 0]
            left.subtract(lying[area])
    for area, cubes in lying.items():
        for resource in cubes:
            state.lying[RESOURCES.index(resource)] |= 1 << table.place_number(area)
    for number, resource in enumerate(RESOURCES):
        state.reserve[number] = (reserve or {}).get(resource, left[resource])
        table.ledger.sold[resource] = left[resource] - int(state.reserve[number])
    assert min(table.ledger.sold.values()) >= 0, "more cubes than the box holds"

    # Exchanges and pawns.
    for tile, names in enumerate(box.exchange_tiles):
        state.side[tile] = 1 if names[1] in sides else 0
    state.sides_chosen = len(box.exchange_tiles)
    assert set(sides) <= set(table.exchanges()), "not the names of five sides"
    for seat in range(num_players):
        for place in (workers or {}).get(seat, [START]):
            state.workers[seat, table.place_number(place)] += 1
        for exchange in (salesmen or {}).get(seat, table.exchanges()[:1]):
            state.salesmen[seat, table.exchanges().index(exchange)] += 1
        state.pawns[seat] = PAWNS - int(state.workers[seat].sum()) - int(state.salesmen[seat].sum())
        assert state.pawns[seat] >= 0, "more pawns than a player has"
    state.card_owner[:] = NOBODY
    for resource, owner in (cards or {}).items():
        state.card_owner[RESOURCES.index(resource)] = owner
    for seat, thousands in (money or {}).items():
        state.money[seat] = thousands
        table.ledger.money[seat] = thousands

    # Investment tiles.
    unused = Counter(box.investment_tiles)
    for seat, actions in (tiles or {}).items():
        for action in actions:
            state.tiles[seat, ACTIONS.index(action)] += 1
            unused[action] -= 1
    unused.subtract(tile_stack)
    shown = list(unused.elements())[:4] if face_up is None else list(face_up)
    unused.subtract(shown)
    for action in shown:
        state.face_up[ACTIONS.index(action)] += 1
    assert min(unused.values()) >= 0, "more tiles than the box holds"
    stack = [*tile_stack, *unused.elements()]
    state.tile_stack_size = len(stack)
    state.tile_stack[: len(stack)] = [ACTIONS.index(action) for action in reversed(stack)]

    # Counters.
    bag = Counter(box.counters)
    state.panel[:] = EMPTY
    for seat, rows in (panels or {}).items():
        for action, counters in rows.items():
            for space, counter in enumerate(counters):
                state.panel[seat, ACTIONS.index(action), space] = KINDS.index(counter)
                bag[counter] -= 1
    state.drawn[:] = EMPTY
    for given, where in ((drawn, NOT_PLACED), (research, AT_RESEARCH)):
        for seat, counters in (given or {}).items():
            kinds = sorted(KINDS.index(counter) for counter in counters)
            state.drawn[seat, : len(kinds)] = kinds
            state.plan[seat, : len(kinds)] = where
            for kind in kinds:
                bag[KINDS[kind]] -= 1
                if where == AT_RESEARCH:
                    state.research[seat, kind % len(RESOURCES) if KINDS[kind] != "manager" else len(RESOURCES)] += 1
                    state.research_size[seat] += 1
    if drawn is not None:
        for seat in range(num_players):
            if seat not in drawn:
                kinds = sorted(KINDS.index(counter) for counter in list(bag.elements())[:DRAWN])
                state.drawn[seat] = kinds
                bag.subtract(KINDS[kind] for kind in kinds)
    assert min(bag.values()) >= 0, "more counters of a kind than the box holds"
    for kind, counter in enumerate(KINDS):
        state.bag[kind] = bag[counter]

    state.player = start if drawn is not None else player
    state.start, state.rounds = start, rounds
    state.passed = sum(1 << seat for seat in passed)
    state.resource, state.origin = NOTHING, NOTHING
    state.phase = TURN if drawn is None else PLACE
    for name, value in recount(table).items():
        state[name] = value
    if research is not None and not begin_turn(state):
        end_turn(variant.rulesets[0], state)
    return table


def open_game(
    num_players: int = 2,
    rules: Mapping[str, Any] | None = None,
    components: Any = None,
    *,
    areas: Mapping[str, Sequence[str]] | None = None,
    face_up: Sequence[str] = (),
) -> Table:
    """A game with a chosen setup: whatever stands in its state later, the rules' own kernels have put there.

    Unless the sides are chosen in play, the first counters are to be drawn next: see `Table.draw_and_place`.

    Args:
        num_players: 2 to 4.
        rules: as for an environment; the first sides of all tiles are active unless they say otherwise.
        components: as for an environment.
        areas: the two cubes of each of some areas; an area not given gets two of what is left most.
        face_up: investment tiles from the top of the stack down; all others lie beneath them.
    """
    table = Table.open(num_players, {"sides": FIRST_SIDES, **(rules or {})}, components)
    box, sides = table.variant.components, table.variant.rules["sides"]
    left, tiles = Counter(box.cubes), Counter(box.investment_tiles)
    lying = dict(areas or {})
    for cubes in lying.values():
        left.subtract(cubes)
    for area in table.areas:
        if area not in lying:
            lying[area] = [resource for resource, _ in left.most_common(2)]
            left.subtract(lying[area])
    tiles.subtract(face_up)
    setup = [RESOURCES.index(resource) for area in table.areas for resource in lying[area]]
    setup += [ACTIONS.index(action) for action in (*face_up, *tiles.elements())]
    if sides != "choose":
        setup += [both.index(exchange) for both, exchange in zip(box.exchange_tiles, sides, strict=True)]
    return table.force(setup)


def recount(table: Table) -> dict[str, Any]:
    """Every running field of the state, counted anew from the pieces themselves."""
    state = table.state
    fresh = np.zeros(1, state.dtype)[0]
    fresh.open = sum(1 << number for number, area in enumerate(table.areas) if table.cubes(area))
    fresh.exhausted = len(table.exhausted())
    for number, area in enumerate(table.areas):
        fresh.steps[number] = sum(1 << table.place_number(other) for other in table.steps(area))
    fresh.steps[VLADIVOSTOK] = sum(1 << table.place_number(other) for other in table.steps(START))
    fresh.bag_size = sum(table.bag().values())
    for player in range(table.variant.num_players):
        fresh.presence[player] = sum(
            1 << table.place_number(place) for place in table.workers(player) if place != START
        )
        fresh.best_price[player] = list(table.prices(player).values())
        for action, counters in table.panel(player).items():
            fresh.covered[player, ACTIONS.index(action)] = len(counters)
            fresh.counters[player] += len(counters)
        if state.phase == PLACE:
            for counter, where in zip(table.drawn(player), table.plan(player), strict=True):
                if where in ("person", "resource"):
                    action = actions_of(counter)[0 if where == "person" else 1]
                    fresh.planned[player, ACTIONS.index(action)] += 1
    names = ("open", "exhausted", "steps", "bag_size", "presence", "best_price", "covered", "counters", "planned")
    return {name: np.array(fresh[name]) for name in names}


def check_everything(table: Table) -> None:
    """Every piece of the box exactly once, every running field as counted anew, every count in range."""
    variant, state, box = table.variant, table.state, table.variant.components
    players = range(variant.num_players)

    # Counters, by kind: in the bag, on a space, drawn and not yet laid down, or at research.
    held: Counter[str] = Counter()
    for player in players:
        on_spaces = [counter for counters in table.panel(player).values() for counter in counters]
        at_research = [
            counter
            for counter, where in zip(table.drawn(player), table.plan(player), strict=True)
            if where == "research"
        ]
        held.update(on_spaces)
        if state.phase == PLACE:
            held.update(table.drawn(player))
            assert len(table.drawn(player)) == DRAWN
            assert len(on_spaces) <= 10
            assert not state.research_size[player]
        elif state.research_size[player]:
            held.update(at_research)
            assert state.research_size[player] == len(at_research)
        if state.phase != PLACE and state.research_size[player]:
            called_for = sorted(actions_of(counter)[-1] for counter in at_research)
            assert sorted(table.research(player)) == called_for
        for action, counters in table.panel(player).items():
            assert len(counters) + (action in table.tiles(player)) <= SPACES
            for counter in counters:
                assert action in actions_of(counter) or counter == "manager"
        for row, covered in zip(state.panel[player], state.covered[player], strict=True):
            assert [kind != EMPTY for kind in row] == [space < covered for space in range(SPACES)]
        waiting = state.phase != PLACE and state.research_size[player] > 0
        assert not table.research(player) or waiting or player == table.player
    assert table.bag() + held == Counter({kind: count for kind, count in box.counters.items() if count})
    assert state.bag.min() >= 0

    # Cubes: on the map, beside it, or sold.
    on_map = Counter(resource for area in table.areas for resource in table.cubes(area))
    assert on_map + Counter(table.reserve()) + table.ledger.sold == Counter(
        {resource: count for resource, count in box.cubes.items() if count}
    )
    assert state.reserve.min() >= 0
    assert all(areas >> len(table.areas) == 0 for areas in state.lying.tolist())

    # Investment tiles.
    on_panels = [action for player in players for action in table.tiles(player)]
    assert Counter([*on_panels, *table.face_up(), *table.tile_stack()]) == Counter(
        {action: count for action, count in box.investment_tiles.items() if count}
    )
    assert set(state.tiles.ravel().tolist()) <= {0, 1}
    if state.phase != CHOOSE_SIDE:
        assert len(table.face_up()) == 4 or not table.tile_stack()

    # Pawns: six a player, always; nobody stands in an exhausted area.
    for player in players:
        workers, salesmen = table.workers(player), table.salesmen(player)
        assert table.pawns(player) + sum(workers.values()) + sum(salesmen.values()) == PAWNS
        assert table.pawns(player) >= 0
        assert state.workers.min() >= 0
        assert state.salesmen.min() >= 0
        assert not set(workers) & set(table.exhausted())
    assert set(state.card_owner.tolist()) <= set(range(NOBODY, variant.num_players))
    assert table.scores() == [table.ledger.money[player] for player in players]

    # What is under way, and nothing else.
    if state.phase != CHOOSE_SIDE:
        assert state.sides_chosen == len(box.exchange_tiles)
    assert (state.resource == NOTHING) == (state.phase != CHOOSE_AREA)
    assert (state.origin == NOTHING) == (state.phase not in (MOVE_TO, CHOOSE_EXCHANGE))
    assert (state.steps_left > 0) == (state.phase in (MOVE_FROM, MOVE_TO))
    assert state.placed < DRAWN
    assert state.placed == 0 or state.phase == PLACE
    if state.phase == PLACE:
        assert not table.passed()
        turns = [(player - int(state.start)) % len(players) for player in (*players, table.player)]
        for player in players:
            placed = DRAWN if turns[player] < turns[-1] else 0
            placed = int(state.placed) if player == table.player else placed
            assert [where == "none" for where in table.plan(player)] == [number >= placed for number in range(DRAWN)]
    elif state.phase == DISCARD:
        assert table.passed() == list(players)
        assert state.counters[table.player] > 10

    # Running fields; seats that nobody sits on stay blank.
    for name, value in recount(table).items():
        assert np.array_equal(state[name], value), name
    blank = {"panel": EMPTY, "drawn": EMPTY}
    per_player = [name for name in state.dtype.names if state.dtype[name].shape[:1] == (MAX_PLAYERS,)]
    for name in per_player:
        assert np.all(state[name][variant.num_players :] == blank.get(name, 0)), name
    assert 0 <= table.player < variant.num_players
    assert (state.phase == OVER) == table.over
