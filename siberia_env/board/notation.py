"""Writes and reads the chance events of the board game's records: cubes, tiles, sides and counters drawn.

When a game is recorded, `events` tells what happened between two states. When it is replayed, `outcome` turns the
lines of the record into the outcome that `force` needs. The reader and writer of records (`siberia_env.records`) use
only the functions of `siberia_env.common.notation.Chronicle`.

A counter is written `<resource>/<person>` or `manager`, an investment tile by its action, a cube by its resource.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from siberia_env.board import rules
from siberia_env.board.actions import ACT, CARD, PLACE_RESEARCH, RESOURCE, TILE
from siberia_env.board.components import (
    ACTIONS,
    CHOOSE_SIDES,
    COUNTERS_DRAWN,
    CUBES_PER_AREA,
    EXCHANGE_TILES,
    FIRST_EXCHANGE,
    GAS,
    GIVEN_SIDES,
    INVESTOR,
    KINDS,
    MANAGER_COUNTER,
    TILE_SIDES,
    TILES_FACE_UP,
    WORKER,
    Components,
    all_exchanges,
    components_from_json,
)
from siberia_env.board.state import (
    AT_PERSON,
    AT_RESEARCH,
    CHOOSE_AREA,
    CHOOSE_RESOURCE,
    CHOOSE_SIDE,
    DRAW,
    NOBODY,
    NOT_PLACED,
    PLACE,
    RECALL_PAWN,
    SETUP,
    TAKE_TILE,
    TURN,
    State,
)
from siberia_env.common.components import DOLLARS, NUM_RESOURCES, RESOURCES, check_integer, check_table
from siberia_env.common.notation import (
    EventTable,
    Line,
    Pile,
    Source,
    Step,
    check_form,
    check_list,
    check_order,
    padded,
)
from siberia_env.common.render import counted
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant


def make_alike(variant: Variant, states: States) -> None:
    """Order the plans of equal counters that a player has drawn (`Chronicle.make_alike`).

    Which of two equal counters went where makes no difference: the rules look at how many went to each place.
    """
    state = states[0]
    for kinds, plan in zip(state.drawn, state.plan, strict=True):
        # The counters are sorted by kind. Those not placed yet stay behind those that are.
        in_order = sorted(zip(kinds.tolist(), (plan == NOT_PLACED).tolist(), plan.tolist(), strict=True))
        plan[:] = [where for _, _, where in in_order]


def read_components(tables: Any) -> Components:
    """Read the component tables of a record's header.

    Raises:
        ConfigurationError: something is wrong; the message names its path.
    """
    return components_from_json(tables)


# ---------------------------------------------------------------- from states to lines


def setup_event(variant: Variant, states: States, i: int) -> dict[str, Any]:
    """Return the setup line of the game that has just been dealt in `states[i]`.

    Its tiles are the first four that are turned up, in order. While the sides are still to be chosen, these tiles
    are on the stack; afterwards the array still holds them, above the top of the stack.
    """
    components, state = variant.components, states[i]
    top = int(state.tile_stack_size) + (0 if state.phase == CHOOSE_SIDE else TILES_FACE_UP)
    event = {
        "event": "setup",
        "areas": {
            area: [RESOURCES[resource] for resource in range(NUM_RESOURCES) if int(state.lying[resource]) >> number & 1]
            for number, area in enumerate(components.areas)
        },
        "reserve": {resource: int(count) for resource, count in zip(RESOURCES, state.reserve, strict=True)},
        "tiles": [ACTIONS[action] for action in state.tile_stack[top - TILES_FACE_UP : top][::-1]],
    }
    if variant.rulesets[0].sides != CHOOSE_SIDES:
        event["sides"] = [both[side] for both, side in zip(components.exchange_tiles, state.side, strict=True)]
    return event


def due_events(variant: Variant, states: States, i: int) -> list[dict[str, Any]]:
    """Return no lines: the board game announces no chance outcome."""
    return []


def events(variant: Variant, before: States, after: States) -> list[dict[str, Any]]:
    """Return the lines for one step: the setup (B8), the counters drawn (B11), or the tile turned up (B20).

    `before` and `after` are arrays of one state. Between them lies either an action, up to the next decision,
    chance outcome or the end, or one settled chance outcome; never both. The tiles that are turned up after the
    last side has been chosen are in the setup line.
    """
    old, new = before[0], after[0]
    if old.phase == SETUP:
        return [setup_event(variant, after, 0)]
    if old.phase == DRAW:
        return [
            {"event": "draw", "player": player, "counters": [KINDS[kind] for kind in new.drawn[player]]}
            for player in _seats(variant, new)
        ]
    if old.phase == TAKE_TILE and new.tile_stack_size < old.tile_stack_size:
        return [{"event": "tile", "tile": ACTIONS[new.tile_stack[new.tile_stack_size]]}]
    return []


def _seats(variant: Variant, state: State) -> list[int]:
    """Return all seats, from the starting player on."""
    return [(int(state.start) + offset) % variant.num_players for offset in range(variant.num_players)]


def remark(variant: Variant, before: States, after: States, action: int) -> str:
    """Tell a reader what `action` brought: the counter or cube, or the effect. Empty if its name says it all."""
    old, new = before[0], after[0]
    player, phase = int(old.player), int(old.phase)
    notes = []
    if phase == PLACE:
        notes.append(_placed(int(old.drawn[player, old.placed]), action - PLACE_RESEARCH + AT_RESEARCH))
    elif phase == CHOOSE_AREA:
        notes.append(f"{RESOURCES[old.resource]} cube")
    elif phase == TURN and ACT <= action < RESOURCE:
        notes += _effect(variant, old, new, action - ACT)
    elif CARD <= action < TILE and old.card_owner[action - CARD] != NOBODY:
        notes.append(f"from player {old.card_owner[action - CARD]}")
    if phase != CHOOSE_RESOURCE:
        notes += _vain_research(variant, old, new)
    if new.rounds > old.rounds:
        notes.append(f"round {new.rounds} is over")
    return "; ".join(notes)


def _placed(kind: int, where: int) -> str:
    if where == AT_RESEARCH:
        return f"{KINDS[kind]} at research"
    action = rules.person_action(kind) if where == AT_PERSON else rules.resource_action(kind)
    return f"{KINDS[kind]} at {ACTIONS[action]}"


def _effect(variant: Variant, old: State, new: State, action: int) -> list[str]:
    """Tell what an action did that asks for no decision."""
    player = int(old.player)
    if action >= GAS:
        name, price = ACTIONS[action], int(old.best_price[player, action - GAS])
        sold = _area_names(variant, int(old.lying[action - GAS]) & ~int(new.lying[action - GAS]))
        if not sold:
            return [f"nothing: no price is open for {name}" if price == 0 else f"nothing: no worker where {name} lies"]
        exhausted = _area_names(variant, int(old.open) & ~int(new.open))
        return [
            f"{len(sold)} {name} from {', '.join(sold)}, sold at ${price * DOLLARS}",
            *([f"exhausted: {', '.join(exhausted)}"] if exhausted else []),
        ]
    if action == WORKER and new.phase != RECALL_PAWN:
        return ["a worker to Vladivostok" if old.pawns[player] > 0 else "nothing: no pawn to recall"]
    if action == INVESTOR and new.phase != TAKE_TILE:
        return ["nothing: no tile to take"]
    return []


def sources(variant: Variant, steps: Sequence[Step]) -> list[Source]:
    """Tell where everybody's money came from: what was sold at which exchange (B21), or by a salesman card (B25)."""
    sold: dict[tuple[int, int], list[int]] = {}
    for before, action, after in steps:
        old, new = before[0], after[0]
        player = int(old.player)
        if (
            old.phase == TURN
            and ACT + GAS <= action < RESOURCE
            and (earned := int(new.money[player] - old.money[player]))
        ):
            resource = action - ACT - GAS
            sale = sold.setdefault((resource, _buyer(variant, old, resource)), [0] * variant.num_players)
            sale[player] += earned
    names = all_exchanges(variant.components)
    found = []
    for (resource, row), points in sorted(sold.items()):
        if row < len(names):
            found.append(Source(f"{RESOURCES[resource]} sold in {names[row]}", "B21", tuple(points)))
        else:
            found.append(Source(f"{RESOURCES[resource]} sold by card", "B25", tuple(points)))
    return found


def _buyer(variant: Variant, state: State, resource: int) -> int:
    """Return the exchange that pays the player on turn best, by its row among all; one past these for a card.

    Of exchanges that pay the same, it is the first; an exchange goes before a card.
    """
    ruleset, player = variant.rulesets[0], int(state.player)
    rows = [
        rules.exchange_row(state, exchange) for exchange, salesmen in enumerate(state.salesmen[player]) if salesmen > 0
    ]
    paying = [row for row in rows if ruleset.price[row, resource] == state.best_price[player, resource]]
    return int(paying[0]) if paying else len(all_exchanges(variant.components))


def _area_names(variant: Variant, areas: int) -> list[str]:
    return [area for number, area in enumerate(variant.components.areas) if areas >> number & 1]


def _vain_research(variant: Variant, old: State, new: State) -> list[str]:
    """Tell how many research counters were resolved without placing a cube (B15)."""
    notes = []
    for player in range(variant.num_players):
        revealed = old.phase == PLACE and new.phase != PLACE
        waiting = int((new.plan[player] == AT_RESEARCH).sum()) if revealed else int(old.research[player].sum())
        asked = new.player == player and new.phase in (CHOOSE_RESOURCE, CHOOSE_AREA)
        if (vain := waiting - int(new.research[player].sum()) - asked) > 0:
            notes.append(f"{vain} research counter(s) of player {player} in vain")
    return notes


# ---------------------------------------------------------------- from lines to outcomes


def open_box(variant: Variant, states: States, i: int, generator: Any) -> None:
    """Put everything in `states[i]` back into the box, with `generator` as its generator; the setup is due next."""
    rules.open_box(variant.rulesets[0], states[i])
    states[i].generator = generator


def check_event(variant: Variant, event: Line) -> None:
    """Check a chance line: its keys, its names, and all else that does not depend on the game so far.

    Raises:
        ConfigurationError: the line is wrong; the message says what was expected.
    """
    check_form(_EVENTS if variant.rulesets[0].sides == CHOOSE_SIDES else _EVENTS_WITH_SIDES, variant, event)


def outcome(variant: Variant, states: States, i: int, lines: Sequence[tuple[int, Line]]) -> NDArray[Any]:
    """Return the chance outcome due in `states[i]` in the form that `force` takes: int8 [outcome_size].

    `lines` are the numbered lines of the record from the setup line on, or from the first `draw` line of the round.
    Their form has been checked. Tiles that the lines never show lie below those that they show. If a `draw` line is
    missing, its counters are any that are left.

    Raises:
        RecordError: the lines show tiles or counters that the stack or the bag can't hold.
    """
    state = states[i]
    return padded(variant, _setup(variant, lines) if state.phase == SETUP else _drawing(variant, state, lines))


def _setup(variant: Variant, lines: Sequence[tuple[int, Line]]) -> list[int]:
    components, (_, setup) = variant.components, lines[0]
    order = [RESOURCES.index(cube) for area in components.areas for cube in setup["areas"][area]]
    box = Pile("investment tiles", _repeated(variant.rulesets[0].tiles), ACTIONS.__getitem__)
    for number, line in lines:
        shown = line["tiles"] if line.get("event") == "setup" else [line["tile"]] if "tile" in line else []
        order += [box.take(tile, number) for tile in shown]
    order += box.rest()
    sides = zip(components.exchange_tiles, setup.get("sides", ()), strict=False)
    return order + [both.index(exchange) for both, exchange in sides]


def _drawing(variant: Variant, state: State, lines: Sequence[tuple[int, Line]]) -> list[int]:
    bag = Pile("counters in the bag", _repeated(state.bag), KINDS.__getitem__)
    order = []
    for number, line in lines[: variant.num_players]:
        order += [bag.take(counter, number) for counter in line.get("counters", ())]
    return (order + bag.rest())[: COUNTERS_DRAWN * variant.num_players]


def _repeated(counts: Any) -> list[int]:
    """Return each index as often as `counts` says."""
    return [index for index, count in enumerate(counts) for _ in range(count)]


def check_outcome(variant: Variant, states: States, i: int, given: Any) -> NDArray[Any]:
    """Check that `given` is possible in `states[i]`, and return it for `force`: int8 [outcome_size].

    For the setup, `given` holds two resources for each area, then the actions of all investment tiles from the top
    down, then 0 or 1 for the side of each exchange tile unless the sides are chosen in play. For a drawing, it holds
    six kinds of counters for each player, from the starting player on. Further entries, up to `outcome_size`, are
    ignored.

    Raises:
        ConfigurationError: no outcome is due, or `given` is impossible.
    """
    state = states[i]
    if state.phase == SETUP:
        return padded(variant, _check_setup_outcome(variant, given))
    if state.phase != DRAW:
        raise ConfigurationError("force: no chance outcome is due")
    count = COUNTERS_DRAWN * variant.num_players
    wanted = f"{count} kinds of counters, {COUNTERS_DRAWN} for each player"
    order = check_order(variant, given, count, wanted)
    for kind in order:
        if not 0 <= kind <= MANAGER_COUNTER:
            raise ConfigurationError(f"force: expected {wanted}; {kind} is no kind of counter")
    for kind, left in enumerate(state.bag):
        if (found := order.count(kind)) > left:
            raise ConfigurationError(f"force: expected {wanted}; the bag has {left} of {KINDS[kind]}; got {found}")
    return padded(variant, order)


def _check_setup_outcome(variant: Variant, given: Any) -> list[int]:
    ruleset, components = variant.rulesets[0], variant.components
    cubes, tiles = CUBES_PER_AREA * len(components.areas), int(ruleset.tiles.sum())
    sides = 0 if ruleset.sides == CHOOSE_SIDES else EXCHANGE_TILES
    wanted = f"{cubes} resources of cubes, then {tiles} actions of tiles" + (f", then {sides} sides" if sides else "")
    order = check_order(variant, given, cubes + tiles + sides, wanted)
    for number, area in enumerate(components.areas):
        lying = order[CUBES_PER_AREA * number : CUBES_PER_AREA * (number + 1)]
        if len(set(lying)) < CUBES_PER_AREA or not all(0 <= resource < NUM_RESOURCES for resource in lying):
            raise ConfigurationError(f"force: expected {wanted}; {lying} are no different resources for {area}")
    for resource, name in enumerate(RESOURCES):
        if (found := order[:cubes].count(resource)) > ruleset.cubes[resource]:
            count = ruleset.cubes[resource]
            raise ConfigurationError(f"force: expected {wanted}; there are {count} cubes of {name}; got {found}")
    for action, name in enumerate(ACTIONS):
        count = ruleset.tiles[action]
        if (found := order[cubes : cubes + tiles].count(action)) != count:
            raise ConfigurationError(f"force: expected {wanted}, of which {count} are for {name}; got {found}")
    for tile, side in enumerate(order[cubes + tiles :]):
        possible = [int(ruleset.given_sides[tile])] if ruleset.sides == GIVEN_SIDES else list(range(TILE_SIDES))
        if side not in possible:
            raise ConfigurationError(f"force: expected {wanted}; tile {tile} shows side {possible}; got {side}")
    return order


# ---------------------------------------------------------------- the form of a line


def _check_areas(variant: Variant, event: Line) -> None:
    areas = check_table({"setup.areas": event["areas"]}, "setup.areas", tuple(variant.components.areas))
    for area, cubes in areas.items():
        path = f"setup.areas.{area}"
        for index, cube in enumerate(check_list(cubes, path, CUBES_PER_AREA, CUBES_PER_AREA, "resources")):
            if cube not in RESOURCES:
                raise ConfigurationError(f"{path}[{index}]: no resource {cube!r}; they are {', '.join(RESOURCES)}")
        if cubes[0] == cubes[1]:
            raise ConfigurationError(f"{path}: twice {cubes[0]}; the cubes of an area differ (B8)")
        if RESOURCES.index(cubes[0]) > RESOURCES.index(cubes[1]):
            raise ConfigurationError(f"{path}: expected {cubes[::-1]}, in the order of resources; got {cubes}")
    for resource, box in variant.components.cubes.items():
        if (lying := _count_cubes(event, resource)) > box:
            raise ConfigurationError(f"setup.areas: {lying} cubes of {resource}; there are {box}")


def _count_cubes(setup: Line, resource: str) -> int:
    return sum(resource in cubes for cubes in setup["areas"].values())


def _check_setup(variant: Variant, event: Line) -> None:
    _check_areas(variant, event)
    reserve = check_table({"setup.reserve": event["reserve"]}, "setup.reserve", RESOURCES)
    for resource, count in reserve.items():
        box = variant.components.cubes[resource]
        left = box - _count_cubes(event, resource)
        if type(count) is not int or count != left:
            path = f"setup.reserve.{resource}"
            raise ConfigurationError(f"{path}: expected {left}, what the areas leave of {box}; got {count!r}")
    for index, tile in enumerate(check_list(event["tiles"], "setup.tiles", TILES_FACE_UP, TILES_FACE_UP, "tiles")):
        _check_action(tile, f"setup.tiles[{index}]")


def _check_sides(variant: Variant, event: Line) -> None:
    _check_setup(variant, event)
    given, tiles = variant.rules["sides"], variant.components.exchange_tiles
    sides = check_list(event["sides"], "setup.sides", EXCHANGE_TILES, EXCHANGE_TILES, "exchanges")
    for index, (exchange, both) in enumerate(zip(sides, tiles, strict=True)):
        possible = (given[index],) if isinstance(given, tuple) else both
        if exchange not in possible:
            raise ConfigurationError(f"setup.sides[{index}]: expected {' or '.join(possible)}; got {exchange!r}")


def _check_action(value: Any, path: str) -> None:
    if value not in ACTIONS:
        raise ConfigurationError(f"{path}: no investment tile {value!r}; they are {', '.join(ACTIONS)}")


def _check_draw(variant: Variant, event: Line) -> None:
    check_integer(event["player"], "draw.player", 0, variant.num_players - 1)
    counters = check_list(event["counters"], "draw.counters", COUNTERS_DRAWN, COUNTERS_DRAWN, "counters")
    for index, counter in enumerate(counters):
        if counter not in KINDS:
            raise ConfigurationError(
                f"draw.counters[{index}]: no counter {counter!r}; one is written {KINDS[0]!r} or {KINDS[-1]!r}"
            )
    if counters != (expected := sorted(counters, key=KINDS.index)):
        raise ConfigurationError(f"draw.counters: expected {expected}, as they come up (B12); got {counters}")


def _check_tile(variant: Variant, event: Line) -> None:
    _check_action(event["tile"], "tile.tile")


_EVENTS: EventTable = {
    "setup": (("areas", "reserve", "tiles"), _check_setup),
    "draw": (("player", "counters"), _check_draw),
    "tile": (("tile",), _check_tile),
}
_EVENTS_WITH_SIDES: EventTable = {**_EVENTS, "setup": (("areas", "reserve", "tiles", "sides"), _check_sides)}


# ---------------------------------------------------------------- for a reader


def outline(event: Line) -> str:
    """Describe the line that the rules require, without what only the record knows."""
    if event["event"] == "draw":
        return f"a draw line of player {event['player']}"
    return "a tile line" if event["event"] == "tile" else "the setup line"


def told_to(seat: int, event: Line) -> list[str]:
    """What the player on `seat` is told of an event: its own counters, how many the others get, and the tile."""
    if event["event"] == "draw" and event["player"] != seat:
        return [f"player {event['player']} draws {counted(len(event['counters']), 'counter')}"]
    return describe_event(event) if event["event"] in ("draw", "tile") else []


def describe_event(event: Line) -> list[str]:
    """Describe the event to a reader, in one or more lines."""
    if event["event"] == "draw":
        return [f"player {event['player']} draws {', '.join(event['counters'])}"]
    if event["event"] == "tile":
        return [f"the investment tile for {event['tile']} is turned up"]
    areas = "; ".join(f"{area} {', '.join(cubes)}" for area, cubes in event["areas"].items())
    reserve = ", ".join(f"{count} {resource}" for resource, count in event["reserve"].items())
    told = [f"cubes: {areas}", f"reserve: {reserve}", f"investment tiles: {', '.join(event['tiles'])}"]
    if "sides" in event:
        told.append(f"exchanges: {', '.join((FIRST_EXCHANGE, *event['sides']))}")
    return told
