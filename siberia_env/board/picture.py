"""Draws the board game's table as an SVG picture.

`shown` collects what a viewer sees, and nothing else, as plain data. `draw` sets it on the table after `layout.json`.
So a hidden counter can't get into a picture: two positions that a player can't tell apart (B29) have the same picture.
The suite's own map is drawn as a map; the areas of a map from a component file stand in a ring, with lines where a step
leads from one to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from siberia_env.board.components import (
    ACTIONS,
    EMPTY_RESERVES_TO_END,
    EXCHANGE_TILES,
    KINDS,
    NUM_EXCHANGES,
    PERSONS,
    SPACES,
    START,
    TILE_SIDES,
    VLADIVOSTOK,
    all_exchanges,
)
from siberia_env.board.render import (
    bag_counts,
    counters_at,
    end,
    in_this_round,
    is_drawn,
    is_exhausted,
    new_counters,
    research_counts,
    shows_new_counters,
    tile_order,
    title,
    turn,
)
from siberia_env.board.rules import empty_reserves, exchange_row
from siberia_env.board.state import NOBODY, NOT_PLACED, OVER, PLACE, State
from siberia_env.common.components import NUM_RESOURCES, RESOURCES
from siberia_env.common.drawing import PAWN, PIECES, Drawing, data
from siberia_env.common.render import counted, dollars, seat_name, seen_by
from siberia_env.game import States, Variant

LAYOUT = data("siberia_env.board", "layout.json")


def svg(variant: Variant, states: States, index: int, viewer: int | None) -> str:
    """Return the game in `states[index]` as the seat `viewer` sees it, as an SVG document; `None` sees everything."""
    return draw(shown(variant, states, index, viewer))


# ---------------------------------------------------------------- what is shown


def shown(variant: Variant, states: States, index: int, viewer: int | None) -> dict[str, Any]:
    """Return what the seat `viewer` sees as plain data: dicts, lists, texts and numbers. `None` sees everything."""
    ruleset, state, components = variant.rulesets[0], states[index], variant.components
    where, bag = bag_counts(ruleset, state, viewer)
    return {
        "title": title(variant),
        "seen_by": seen_by(viewer),
        "drawn_map": is_drawn(components),
        "areas": [
            {
                "name": name,
                "cubes": [
                    resource for resource, areas in zip(RESOURCES, state.lying, strict=True) if areas >> area & 1
                ],
                "exhausted": bool(is_exhausted(state, area)),
                "workers": _pawns(variant, state.workers, area),
                "adjacent": list(components.areas[name]),
            }
            for area, name in enumerate(components.areas)
        ],
        "start": {
            "name": START,
            "workers": _pawns(variant, state.workers, VLADIVOSTOK),
            "arrows": [*components.arrows],
        },
        "exchanges": [_exchange(variant, state, exchange) for exchange in range(NUM_EXCHANGES)],
        "reserve": [int(cubes) for cubes in state.reserve],
        "salesman_cards": [
            {"price": int(price), "owner": None if owner == NOBODY else int(owner)}
            for price, owner in zip(ruleset.card_price, state.card_owner, strict=True)
        ]
        if ruleset.salesman_cards
        else [],
        "best_prices": [state.best_price[player].tolist() for player in range(ruleset.num_players)]
        if state.sides_chosen == EXCHANGE_TILES
        else [],
        "players": [_panel(state, player, viewer) for player in range(ruleset.num_players)],
        "bag": {"size": int(state.bag_size), "counts": where, "kinds": bag},
        "tiles": [ACTIONS[action] for action, count in enumerate(state.face_up) for _ in range(int(count))],
        "tile_stack": {"size": int(state.tile_stack_size), "order": tile_order(state, viewer)},
        "exhausted": [int(state.exhausted), int(ruleset.areas_to_end)],
        "empty_reserves": [int(empty_reserves(state)), EMPTY_RESERVES_TO_END],
        "end": end(ruleset, state),
        "turn": turn(ruleset, state, components, variant.names_in_play(states, index), viewer),
    }


def _pawns(variant: Variant, pawns: Any, place: int) -> list[int]:
    """How many pawns of each player stand at a place."""
    return [int(pawns[player, place]) for player in range(variant.num_players)]


def _exchange(variant: Variant, state: State, exchange: int) -> dict[str, Any]:
    """An exchange with its prices in thousands and its salesmen; both sides of the tile until one is chosen (B9)."""
    names, prices = all_exchanges(variant.components), variant.rulesets[0].price
    if exchange <= state.sides_chosen:
        rows = [int(exchange_row(state, exchange))]
    else:
        first = 1 + TILE_SIDES * (exchange - 1)
        rows = list(range(first, first + TILE_SIDES))
    return {
        "sides": [{"name": names[row], "prices": [int(price) for price in prices[row]]} for row in rows],
        "salesmen": _pawns(variant, state.salesmen, exchange),
    }


def _panel(state: State, player: int, viewer: int | None) -> dict[str, Any]:
    """What a player has, and what lies on the player's panel."""
    own = shows_new_counters(state, player, viewer)
    actions = []
    for action in range(len(ACTIONS)):
        lying, new = counters_at(state, player, action, viewer)
        actions.append({"counters": lying, "tile": bool(state.tiles[player, action]), "new": new})
    return {
        "name": seat_name(player),
        "you": player == viewer,
        "on_turn": bool(state.phase != OVER and player == state.player),
        "money": dollars(state.money[player]),
        "pawns": int(state.pawns[player]),
        "counters": int(state.counters[player]),
        "this_round": in_this_round(state, player),
        "actions": actions,
        "research": research_counts(state, player, viewer),
        "new": new_counters(state, player, NOT_PLACED) if own and state.phase == PLACE else [],
    }


# ---------------------------------------------------------------- the map


def draw(table: Mapping[str, Any]) -> str:
    """Return the SVG document of a table that `shown` has collected."""
    drawing = Drawing(LAYOUT["size"], table["title"], table["seen_by"])
    (wide, high), layout = LAYOUT["map"]["size"], LAYOUT["map"]
    with drawing.group("map", "map", layout["x"], layout["y"]):
        drawing.rect(0, 0, wide, high, "water", stroke="wave", rx=8)
        (_drawn_map if table["drawn_map"] else _ring_of_areas)(drawing, table)
    _trade(drawing, table)
    for seat, player in enumerate(table["players"]):
        _player(drawing, seat, len(table["players"]), player)
    _bag(drawing, table["bag"])
    _tiles(drawing, table)
    _end(drawing, table)
    status = LAYOUT["status"]
    drawing.status(status["x"], status["y"], table["turn"], status["size"], status["width"])
    return drawing.svg()


def _drawn_map(drawing: Drawing, table: Mapping[str, Any]) -> None:
    layout = LAYOUT["map"]
    for area in table["areas"]:
        place = layout["areas"][area["name"]]
        with drawing.group("area", area["name"]):
            fill = drawing.hatched() if area["exhausted"] else "land"
            line = {"stroke": "shore", "stroke_width": 2.5, "stroke_linejoin": "round"}
            drawing.path(place["outline"], closed=True, fill=fill, **line)
            _place(drawing, area, place["at"], layout["place"]["room"])
    drawing.path(layout["lake"], closed=True, fill="water", stroke="wave", stroke_width=2, stroke_linejoin="round")
    _start(drawing, table["start"], layout["start"]["at"], layout["start"]["size"])
    for area in table["start"]["arrows"]:
        tail, tip = layout["arrows"][area]
        drawing.arrow(tail, tip, "ink")


def _ring_of_areas(drawing: Drawing, table: Mapping[str, Any]) -> None:
    """A map of somebody's own: its areas in a ring that begins with Vladivostok; lines bend into the ring."""
    layout = LAYOUT["map"]["other"]
    places = layout["places"]
    names: list[str | None] = [None, *(area["name"] for area in table["areas"])]
    at = {name: places[number * len(places) // len(names)] for number, name in enumerate(names)}
    middle = [side / 2 for side in LAYOUT["map"]["size"]]

    def bent(start: Sequence[float], stop: Sequence[float]) -> list[tuple[float, float]]:
        """Points of a curve between two places that leaves the places between them outside."""
        pull = layout["bend"]
        control = [(1 - pull) * (a + b) / 2 + pull * c for a, b, c in zip(start, stop, middle, strict=True)]
        steps = [step / 16 for step in range(17)]
        weights = [((1 - t) ** 2, 2 * t * (1 - t), t * t) for t in steps]
        (x1, y1), (x2, y2), (x3, y3) = start, control, stop
        return [(a * x1 + b * x2 + c * x3, a * y1 + b * y2 + c * y3) for a, b, c in weights]

    for number, area in enumerate(table["areas"]):
        for other in area["adjacent"]:
            if names.index(other) > number:
                drawing.path(bent(at[area["name"]], at[other]), stroke="shore", stroke_width=3, fill="none")
    wide, high = layout["size"]
    for area in table["start"]["arrows"]:
        line = bent(at[None], at[area])
        outside = next(
            number
            for number, (x, y) in enumerate(line)
            if abs(x - at[area][0]) <= wide / 2 + 3 and abs(y - at[area][1]) <= high / 2 + 3
        )
        drawing.path(line[:outside], stroke="ink", stroke_width=5, fill="none")
        drawing.arrow(line[outside - 2], line[outside - 1], "ink")
    for area in table["areas"]:
        x, y = at[area["name"]]
        with drawing.group("area", area["name"]):
            fill = drawing.hatched() if area["exhausted"] else "land"
            drawing.rect(x - wide / 2, y - high / 2, wide, high, fill, stroke="shore", stroke_width=2, rx=10)
            _place(drawing, area, (x, y), wide - 8)
    _start(drawing, table["start"], at[None], layout["size"])


def _start(drawing: Drawing, start: Mapping[str, Any], at: Sequence[float], size: Sequence[float]) -> None:
    (x, y), (wide, high) = at, size
    with drawing.group("area", start["name"]):
        drawing.rect(x - wide / 2, y - high / 2, wide, high, "panel", stroke="ink", stroke_width=2, rx=10)
        _place(drawing, {**start, "exhausted": False, "cubes": []}, (x, y), wide - 8)


def _place(drawing: Drawing, place: Mapping[str, Any], at: Sequence[float], room: float) -> None:
    """The name of a place, its cubes and its workers, around the point `at`, no wider than `room`."""
    layout, (x, y) = LAYOUT["map"]["place"], at
    if place["exhausted"]:
        drawing.rect(x - 56, y + layout["name"] - 16, 112, 40, "panel", fill_opacity=0.75, rx=6)
    drawing.text(x, y + layout["name"], place["name"], 14, anchor="middle", room=room, bold=True)
    if place["exhausted"]:
        drawing.text(x, y + layout["name"] + 17, "exhausted", 12, anchor="middle", room=room)
    left = x - (len(place["cubes"]) * layout["pitch"] - 2) / 2
    for number, resource in enumerate(place["cubes"]):
        drawing.piece(resource, left + number * layout["pitch"], y + layout["cubes"], layout["cube"])
    standing = sum(number > 0 for number in place["workers"])
    scale = min(1.0, room / (max(standing, 1) * layout["pawn_pitch"]))
    pitch, size = scale * layout["pawn_pitch"], scale * layout["pawn"]
    _row_of_pawns(drawing, place["workers"], x - standing * pitch / 2, y + layout["pawns"], size, pitch)


def _row_of_pawns(drawing: Drawing, pawns: Sequence[int], x: float, y: float, size: float, pitch: float) -> None:
    """The pawns of all players who have some."""
    there = [(player, number) for player, number in enumerate(pawns) if number]
    for place, (player, number) in enumerate(there):
        drawing.pawn(player, x + place * pitch + (0 if number > 1 else (pitch - PAWN * size) / 2), y, size, number)


# ---------------------------------------------------------------- exchanges


def _trade(drawing: Drawing, table: Mapping[str, Any]) -> None:
    """Exchanges, salesman cards, reserves of cubes and everybody's best prices, in columns by resource."""
    layout, tile = LAYOUT["trade"], LAYOUT["trade"]["tile"]
    with drawing.group("trade", "trade", layout["x"], layout["y"]):
        drawing.caption(0, 20, "Exchanges", layout["label"])
        for column, resource in enumerate(RESOURCES):
            drawing.piece(resource, _column(column) - layout["piece"] / 2, 2, layout["piece"])
        y = layout["header"] - 4
        for number, exchange in enumerate(table["exchanges"]):
            with drawing.group("exchange", number, 0, y):
                drawing.panel(0, 0, layout["width"], tile["height"])
                open_question = len(exchange["sides"]) > 1
                for side, line in zip(exchange["sides"], (tile["line"], tile["second"]), strict=False):
                    name = f"{side['name']} ?" if open_question else side["name"]
                    drawing.text(10, line, name, 13, room=layout["label"] - 16, bold=True)
                    _prices(drawing, side["prices"], line)
                x, top = layout["label"], tile["height"] - tile["pawn"] - 2
                _row_of_pawns(drawing, exchange["salesmen"], x, top, tile["pawn"], tile["pawn_pitch"])
            y += tile["height"] + tile["gap"]
        y += layout["row"] - 10
        rows: list[tuple[str, list[str], list[int | None] | None]] = []
        rows.append(("In reserve", [str(cubes) for cubes in table["reserve"]], None))
        if cards := table["salesman_cards"]:
            rows.append(
                ("Salesman card", [dollars(card["price"]) for card in cards], [card["owner"] for card in cards])
            )
        for label, cells, owners in rows:
            drawing.text(10, y, label, 12, room=layout["label"] - 14)
            for column, cell in enumerate(cells):
                drawing.text(_column(column), y, cell, 12, anchor="middle", room=layout["column"] - 4)
            y += layout["row"]
            if owners is not None:
                drawing.text(10, y, "held by", 12, room=layout["label"] - 14)
                for column, owner in enumerate(owners):
                    if owner is None:
                        drawing.text(_column(column), y, "-", 12, anchor="middle")
                    else:
                        drawing.pawn(owner, _column(column) - 11 * PAWN, y - 17, 22)
                y += layout["row"]
        for player, prices in enumerate(table["best_prices"]):
            drawing.text(10, y, "Best price of", 12, room=layout["label"] - 40)
            drawing.pawn(player, layout["label"] - 26, y - 17, 22)
            _prices(drawing, prices, y)
            y += layout["row"]


def _column(column: int) -> float:
    """The middle of a resource's column."""
    layout = LAYOUT["trade"]
    return float(layout["label"] + (column + 0.5) * layout["column"])


def _prices(drawing: Drawing, prices: Sequence[int], y: float) -> None:
    for column, price in enumerate(prices):
        told = dollars(price) if price else "-"
        drawing.text(_column(column), y, told, 13, anchor="middle", room=LAYOUT["trade"]["column"] - 4)


# ---------------------------------------------------------------- panels


def _player(drawing: Drawing, seat: int, players: int, player: Mapping[str, Any]) -> None:
    layout, actions = LAYOUT["players"], LAYOUT["players"]["actions"]
    wide = (layout["width"] - (players - 1) * layout["gap"]) / players
    with drawing.group("player", seat, layout["x"] + seat * (wide + layout["gap"]), layout["y"]):
        drawing.seat(seat, player, wide, layout["height"], layout["header"], player["money"])
        told = f"{counted(player['pawns'], 'pawn')} in reserve, {counted(player['counters'], 'counter')} on the panel"
        drawing.text(10, layout["facts"], told, 12, room=wide - 30 - layout["round"])
        drawing.text(
            wide - 10, layout["facts"], player["this_round"], 12, room=layout["round"], anchor="end", bold=True
        )
        for number, (action, on_it) in enumerate(zip(ACTIONS, player["actions"], strict=True)):
            column, row = divmod(number, actions["rows"])
            x, y = 10 + column * (wide - 10) / 2, actions["y"] + row * actions["row"]
            with drawing.group("action", action, x, y):
                drawing.piece(action, 0, 1, actions["piece"])
                _spaces(drawing, on_it, actions)
        research, new = layout["research"], layout["new"]
        drawing.caption(10, research["y"] + 16, "Research", layout["label"] - 12)
        there = [
            (name, count) for name, count in zip((*RESOURCES, "manager"), player["research"], strict=True) if count
        ]
        for place, (name, count) in enumerate(there):
            x = layout["label"] + 10 + place * research["pitch"]
            drawing.piece(name, x, research["y"], research["piece"])
            drawing.text(x + research["piece"] + 2, research["y"] + 17, f"×{count}", 12)  # noqa: RUF001
        if player["new"]:
            drawing.caption(10, new["y"] + 18, "To place", layout["label"] - 12)
        for place, kind in enumerate(player["new"]):
            _counter(drawing, kind, layout["label"] + 2 + place * new["pitch"], new["y"], new["token"])


def _spaces(drawing: Drawing, on_it: Mapping[str, Any], layout: Mapping[str, Any]) -> None:
    """The spaces of an action with what covers them."""
    x, (wide, high) = layout["piece"] + 8, layout["token"]
    for kind in on_it["counters"]:
        _counter(drawing, kind, x, 0, (wide, high))
        x += layout["pitch"]
    if on_it["tile"]:
        _tile(drawing, x, 0, wide, high)
        x += layout["pitch"]
    for kind in on_it["new"]:
        _counter(drawing, kind, x, 0, (wide, high), new=True)
        x += layout["pitch"]
    uncovered = SPACES - len(on_it["counters"]) - on_it["tile"] - len(on_it["new"])
    for _ in range(uncovered):
        drawing.rect(x, 1, wide, high - 2, "none", stroke="line", stroke_dasharray="4 3", rx=5)
        x += layout["pitch"]


def _counter(drawing: Drawing, kind: int, x: float, y: float, size: Sequence[float], new: bool = False) -> None:
    """A counter: its resource and its person side by side, or a manager. A new one is framed."""
    wide, high = size
    names = KINDS[kind].split("/")
    side = wide / len(names)
    for number, name in enumerate(names):
        look = PIECES[name]
        drawing.rect(x + number * side, y, side, high, look["fill"])
        scale = 0.5 * high / 20
        icon = {"fill": look["ink"], "fill_rule": "evenodd"}
        place = f"translate({x + (number + 0.5) * side - 12 * scale:.2f} {y + 2:.2f}) scale({scale:.3f})"
        drawing.add("path", d=look["icon"], transform=place, **icon)
        middle = x + (number + 0.5) * side
        drawing.text(middle, y + high - 4, look["letters"], 0.33 * high, anchor="middle", bold=True, fill=look["ink"])
    if new:
        drawing.rect(x - 1, y - 1, wide + 2, high + 2, "none", stroke="highlight", stroke_width=3, rx=4)
    else:
        drawing.rect(x, y, wide, high, "none", stroke="ink", stroke_width=1, rx=3)


def _tile(drawing: Drawing, x: float, y: float, wide: float, high: float) -> None:
    """An investment tile on a space."""
    drawing.rect(x, y, wide, high, "faint", stroke="ink", stroke_width=1.5, rx=3)
    drawing.text(x + wide / 2, y + high / 2 + 4, "tile", 12, anchor="middle", bold=True)


# ---------------------------------------------------------------- bag, tiles, the end


def _bag(drawing: Drawing, bag: Mapping[str, Any]) -> None:
    """How many counters of each kind: a row for each person, a column for each resource, and the managers."""
    layout = LAYOUT["bag"]
    with drawing.group("bag", "bag", layout["x"], layout["y"]):
        drawing.caption(0, 0, f"Bag, {counted(bag['size'], 'counter')}; {bag['counts']}:", layout["width"])
        *pairs, managers = bag["kinds"]
        for column, resource in enumerate(RESOURCES):
            drawing.piece(resource, layout["label"] + column * layout["column"] + 4, 8, layout["piece"])
        for row, person in enumerate(PERSONS):
            y = 8 + (row + 1) * layout["row"]
            drawing.piece(person, 0, y, layout["piece"])
            for column in range(NUM_RESOURCES):
                number = pairs[row * NUM_RESOURCES + column]
                middle = layout["label"] + column * layout["column"] + 4 + layout["piece"] / 2
                drawing.text(middle, y + 16, number or "·", 13, anchor="middle", bold=bool(number))
        drawing.piece("manager", layout["managers"], 8 + layout["row"], layout["piece"])
        x = layout["managers"] + layout["piece"] + 6
        drawing.text(x, 8 + layout["row"] + 16, f"×{managers}", 13, bold=True)  # noqa: RUF001


def _tiles(drawing: Drawing, table: Mapping[str, Any]) -> None:
    layout, stack = LAYOUT["tiles"], table["tile_stack"]
    with drawing.group("tiles", "tiles", layout["x"], layout["y"]):
        drawing.caption(0, 0, f"Investment tiles face up; stack: {counted(stack['size'], 'tile')}", layout["width"])
        for place, action in enumerate(table["tiles"]):
            drawing.piece(action, place * layout["pitch"], 10, layout["piece"])
        if stack["order"]:
            drawing.caption(0, layout["stack"], "The stack from the top", layout["width"])
        for place, action in enumerate(stack["order"]):
            row, column = divmod(place, layout["line"])
            y = layout["stack"] + 6 + row * layout["small_pitch"]
            drawing.piece(action, column * layout["small_pitch"], y, layout["small"])


def _end(drawing: Drawing, table: Mapping[str, Any]) -> None:
    """How far away the end is (B24)."""
    layout = LAYOUT["end"]
    with drawing.group("end", "end", layout["x"], layout["y"]):
        for row, (name, words) in enumerate((("exhausted", "Exhausted areas"), ("empty_reserves", "Empty reserves"))):
            reached, needed = table[name]
            y = row * layout["row"]
            drawing.caption(0, y, f"{words}: {reached} of {needed}", layout["width"])
            for place in range(max(reached, needed)):
                fill = "ink" if place < reached else "panel"
                drawing.rect(place * layout["pitch"], y + 8, layout["pip"], layout["pip"], fill, stroke="line", rx=4)
        if "last round" in table["end"]:
            drawing.text(0, 2 * layout["row"] + 8, "This is the last round.", 14, bold=True)
