"""Draws the card game's table as an SVG picture.

`shown` collects what a viewer sees, and nothing else, as plain data. `draw` sets it on the table after `layout.json`.
So a hidden card can't get into a picture: two positions that a player can't tell apart (C18) have the same picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from siberia_env.card.components import (
    INVESTOR,
    KINDS,
    PERSONS,
    ROW_SLOTS,
    SALESMAN,
    SYMBOLS,
    WORKER,
)
from siberia_env.card.render import known_cards, title, turn
from siberia_env.card.state import EMPTY, NOBODY, OVER, Ruleset, State
from siberia_env.common.components import NUM_RESOURCES, RESOURCES
from siberia_env.common.drawing import Drawing, data, player_look
from siberia_env.common.render import counted, dollars, seat_name, seen_by
from siberia_env.game import States, Variant

LAYOUT = data("siberia_env.card", "layout.json")


def svg(variant: Variant, states: States, index: int, viewer: int | None) -> str:
    """Return the game in `states[index]` as the seat `viewer` sees it, as an SVG document; `None` sees everything."""
    return draw(shown(variant, states, index, viewer))


# ---------------------------------------------------------------- what is shown


def shown(variant: Variant, states: States, index: int, viewer: int | None) -> dict[str, Any]:
    """Return what the seat `viewer` sees as plain data: dicts, lists, texts and numbers. `None` sees everything."""
    ruleset, state = variant.rulesets[0], states[index]
    on_turn = None if state.phase == OVER else int(state.player)
    persons = {WORKER: state.workers, SALESMAN: state.salesmen, INVESTOR: state.investors}
    return {
        "title": title(variant),
        "seen_by": seen_by(viewer),
        "row": [_slot(ruleset, state, slot, viewer is None) for slot in range(ROW_SLOTS)],
        "resource_stack": int(state.resource_stack_size),
        "action_stack": int(state.action_stack_size),
        "supply": {
            "workers": int(state.workers_left),
            "salesmen": [int(owner) == NOBODY for owner in state.salesman_owner],
            "investors": [int(owner) == NOBODY for owner in state.investor_owner],
        },
        "players": [
            {
                "name": seat_name(player),
                "you": player == viewer,
                "on_turn": player == on_turn,
                "score": dollars(state.score[player]),
                "hand_size": int(state.hand_size[player]),
                "hand": state.hand[player].tolist() if viewer in (None, player) else None,
                "captured": [_captured(state, player, resource) for resource in range(NUM_RESOURCES)],
                "persons": [
                    {"cards": int(cards[player]), "salesman": int(state.salesman_owner[symbol]) == player}
                    for symbol, cards in persons.items()
                ],
            }
            for player in range(ruleset.num_players)
        ],
        "counts": [
            {"caption": f"Discard pile, {counted(int(state.discard_size), 'card')}", "kinds": state.discard.tolist()},
            *(
                {"caption": told, "kinds": [int(count) for count in counts]}
                for told, counts in known_cards(ruleset, state, viewer)
            ),
        ],
        "turn": turn(ruleset, state),
    }


def _slot(ruleset: Ruleset, state: State, slot: int, all_shown: bool) -> dict[str, Any] | None:
    """A card of the row: its face if that is seen, and whether it lies face up. None for an empty slot."""
    number = int(state.row[slot])
    if number == EMPTY:
        return None
    face_up = bool(state.face_up[slot])
    if not face_up and not all_shown:
        return {"face_up": False, "resource": None, "value": None}
    resource = RESOURCES[ruleset.card_resource[number]]
    return {"face_up": face_up, "resource": resource, "value": dollars(ruleset.card_value[number])}


def _captured(state: State, player: int, resource: int) -> dict[str, Any]:
    """The captured cards of a resource, what they count now, and whether the player has its salesman and investor."""
    own = int(state.salesman_owner[resource]) == player
    return {
        "cards": int(state.captured[player, resource]),
        "value": dollars((state.captured_best_value if own else state.captured_value)[player, resource]),
        "salesman": own,
        "investor": int(state.investor_owner[resource]) == player,
    }


# ---------------------------------------------------------------- how it is drawn


def draw(table: Mapping[str, Any]) -> str:
    """Return the SVG document of a table that `shown` has collected."""
    drawing = Drawing(LAYOUT["size"], table["title"], table["seen_by"])
    _headframe(drawing)
    _row(drawing, table["row"])
    for stack in ("resource", "action"):
        _stack(drawing, LAYOUT["stacks"][stack], table[f"{stack}_stack"])
    _supply(drawing, table["supply"])
    for seat, player in enumerate(table["players"]):
        _player(drawing, seat, len(table["players"]), player)
        if player["you"]:
            _hand(drawing, player)
    for place, counts in zip(LAYOUT["counts"]["x"], table["counts"], strict=False):
        _counts(drawing, place, counts)
    status = LAYOUT["status"]
    drawing.status(status["x"], status["y"], table["turn"], status["size"], status["width"])
    return drawing.svg()


def _headframe(drawing: Drawing) -> None:
    layout = LAYOUT["headframe"]
    with drawing.group("headframe", "headframe", layout["x"], layout["y"]):
        x, y, radius = layout["wheel"]
        drawing.add("path", d=layout["tower"], fill="muted", fill_rule="evenodd")
        drawing.add("circle", cx=x, cy=y, r=radius, fill="none", stroke="muted", stroke_width=6)
        drawing.path([(x - radius, y), (x + radius, y)], stroke="muted", stroke_width=3)
        drawing.path([(x, y - radius), (x, y + radius)], stroke="muted", stroke_width=3)


def _row(drawing: Drawing, row: Sequence[Mapping[str, Any] | None]) -> None:
    layout = LAYOUT["row"]
    (wide, high), (x, y) = layout["card"], layout["caption"]
    drawing.caption(x, y, "Row", layout["pitch"])
    for slot, card in enumerate(row):
        with drawing.group("slot", slot, layout["x"] + slot * layout["pitch"], layout["y"]):
            if card is None:
                drawing.rect(0, 0, wide, high, "none", stroke="line", stroke_dasharray="6 5", rx=8)
                drawing.text(wide / 2, high / 2, "empty", 12, anchor="middle", fill="muted")
            elif card["resource"] is None:
                _card_back(drawing, 0, 0, wide, high)
            else:
                _resource_card(drawing, card, wide, high)


def _resource_card(drawing: Drawing, card: Mapping[str, Any], wide: float, high: float) -> None:
    drawing.panel(0, 0, wide, high)
    drawing.piece(card["resource"], wide / 2 - 31, 12, 62)
    drawing.text(wide / 2, 94, card["resource"], 12, anchor="middle", room=wide - 8)
    drawing.text(wide / 2, 116, card["value"], 17, anchor="middle", room=wide - 8, bold=True)
    if not card["face_up"]:
        drawing.text(wide / 2, 132, "face down", 11, anchor="middle", room=wide - 8, fill="muted")


def _card_back(drawing: Drawing, x: float, y: float, wide: float, high: float) -> None:
    """The back of a card, the same for all cards of its size."""
    drawing.rect(x, y, wide, high, "back", stroke="band", rx=min(8, wide / 6))
    inset = wide / 10
    inside = (wide - 2 * inset, high - 2 * inset)
    drawing.rect(x + inset, y + inset, *inside, "none", stroke="bright", stroke_opacity=0.6, rx=min(6, wide / 8))
    middle = (x + wide / 2, y + high / 2)
    corners = [(0, -high / 4), (wide / 4, 0), (0, high / 4), (-wide / 4, 0)]
    points = [(middle[0] + across, middle[1] + down) for across, down in corners]
    drawing.path(points, closed=True, fill="bright", fill_opacity=0.35)


def _stack(drawing: Drawing, layout: Mapping[str, Any], cards: int) -> None:
    x, y = layout["x"], LAYOUT["stacks"]["y"]
    wide, high = LAYOUT["stacks"]["card"]
    drawing.caption(x, LAYOUT["stacks"]["caption"], layout["caption"], wide + 30)
    if not cards:
        drawing.rect(x, y, wide, high, "none", stroke="line", stroke_dasharray="6 5", rx=8)
        drawing.text(x + wide / 2, y + high / 2, "empty", 12, anchor="middle", fill="muted")
        return
    for depth in (8, 4, 0):
        _card_back(drawing, x + depth, y + depth, wide - 8, high - 8)
    drawing.add("circle", cx=x + wide / 2 - 4, cy=y + high / 2 - 4, r=21, fill="panel", stroke="band")
    drawing.text(x + wide / 2 - 4, y + high / 2 + 3, cards, 19, anchor="middle", bold=True)


def _supply(drawing: Drawing, supply: Mapping[str, Any]) -> None:
    layout = LAYOUT["supply"]
    size, (wide, high) = layout["piece"], layout["size"]
    with drawing.group("supply", "supply", layout["x"], layout["y"]):
        drawing.panel(0, 0, wide, high)
        top, line = (high - size) / 2, high / 2 + 5
        drawing.text(12, line, "Supply", 14, bold=True, room=layout["workers"] - 20)
        drawing.piece("worker", layout["workers"], top, size, faded=not supply["workers"])
        drawing.text(layout["workers"] + size + 6, line, f"×{supply['workers']}", 15, bold=True)  # noqa: RUF001
        for name, symbols in (("salesmen", SYMBOLS), ("investors", RESOURCES)):
            drawing.text(layout[name], line, f"{name} of", 12, room=layout["label"], fill="muted")
            for place, (symbol, there) in enumerate(zip(symbols, supply[name], strict=True)):
                x = layout[name] + layout["label"] + place * layout["pitch"]
                drawing.piece(symbol, x, top, size, faded=not there)


def _player(drawing: Drawing, seat: int, players: int, player: Mapping[str, Any]) -> None:
    layout = LAYOUT["players"]
    wide = (layout["width"] - (players - 1) * layout["gap"]) / players
    with drawing.group("player", seat, layout["x"] + seat * (wide + layout["gap"]), layout["y"]):
        drawing.seat(seat, player, wide, layout["height"], layout["header"], player["score"])
        cell = (wide - 8) / NUM_RESOURCES
        for resource, captured in enumerate(player["captured"]):
            _captured_stack(drawing, RESOURCES[resource], captured, 4 + cell * resource, cell, seat)
        persons = layout["persons"]
        column = (wide - 16) / len(PERSONS)
        for number, (name, person) in enumerate(zip(PERSONS, player["persons"], strict=True)):
            x = 10 + number * column
            drawing.piece(name, x, persons["y"], persons["piece"], faded=not person["cards"])
            drawing.text(x + persons["piece"] + 3, persons["y"] + 19, person["cards"], 15, bold=True)
            if person["salesman"]:
                mark = layout["stack"]["mark"]
                _mark(drawing, "salesman", x + persons["piece"] + 16, persons["y"] + 3, mark, seat)
        hand = layout["hand"]
        drawing.caption(10, hand["caption"], f"Hand, {counted(player['hand_size'], 'card')}", wide - 20)
        kinds = _kinds(player["hand"]) if player["hand"] is not None else [None] * player["hand_size"]
        for place, kind in enumerate(kinds):
            _small_card(drawing, kind, 10 + place * hand["pitch"], hand["y"], *hand["card"])


def _captured_stack(
    drawing: Drawing, resource: str, captured: Mapping[str, Any], x: float, cell: float, seat: int
) -> None:
    layout = LAYOUT["players"]["stack"]
    (wide, high), fan = layout["card"], layout["fan"]
    cards, middle = captured["cards"], x + cell / 2
    top, left = layout["y"], middle - wide / 2
    for depth in range(min(cards, layout["most"]) - 1, 0, -1):
        drawing.rect(left + depth, top - fan * depth, wide, high, "panel", stroke="line", rx=4)
    if cards:
        drawing.rect(left, top, wide, high, "panel", stroke="muted", rx=4)
        drawing.piece(resource, left + 4, top + 11, wide - 8)
        drawing.text(middle, layout["count"], counted(cards, "card"), 10, anchor="middle", room=cell - 2)
        drawing.text(middle, layout["value"], captured["value"], 12, anchor="middle", room=cell - 2, bold=True)
    else:
        drawing.rect(left, top, wide, high, "none", stroke="line", stroke_dasharray="4 3", rx=4)
        drawing.piece(resource, left + 9, top + 16, wide - 18, faded=True)
    marks = [person for person in ("salesman", "investor") if captured[person]]
    for number, person in enumerate(marks):
        size = min(layout["mark"], (cell - 2) / 2)
        _mark(drawing, person, middle + (number - len(marks) / 2) * size, layout["marks"], size, seat)


def _mark(drawing: Drawing, person: str, x: float, y: float, size: float, seat: int) -> None:
    """A person card that belongs to something: its piece, framed in the player's colour."""
    drawing.rect(x + 0.5, y + 0.5, size - 1, size - 1, player_look(seat)["fill"], rx=4)
    drawing.piece(person, x + 2, y + 2, size - 4)


def _kinds(counts: Sequence[int]) -> list[int | None]:
    """The cards of a hand, one kind after the other."""
    return [kind for kind, count in enumerate(counts) for _ in range(count)]


def _small_card(drawing: Drawing, kind: int | None, x: float, y: float, wide: float, high: float) -> None:
    if kind is None:
        _card_back(drawing, x, y, wide, high)
        return
    drawing.rect(x, y, wide, high, "panel", stroke="muted", rx=3)
    for place, name in enumerate(KINDS[kind].split("/")):
        size = min(wide - 8, high / 2 - 1)
        drawing.piece(name, x + (wide - size) / 2, y + 1 + place * (high / 2 - 0.5), size)


def _hand(drawing: Drawing, player: Mapping[str, Any]) -> None:
    """The viewer's own cards, large."""
    layout = LAYOUT["hand"]
    wide, high = layout["card"]
    drawing.caption(layout["x"], layout["caption"], f"Your hand ({player['name']})", 8 * layout["pitch"])
    for place, kind in enumerate(_kinds(player["hand"])):
        with drawing.group("hand", KINDS[kind or 0], layout["x"] + place * layout["pitch"], layout["y"]):
            drawing.panel(0, 0, wide, high)
            for row, name in enumerate(KINDS[kind or 0].split("/")):
                drawing.piece(name, wide / 2 - 18, 6 + row * 50, 36)
                drawing.text(wide / 2, 51 + row * 50, name, 10, anchor="middle", room=wide - 6)


def _counts(drawing: Drawing, x: float, counts: Mapping[str, Any]) -> None:
    """How many cards of each kind lie somewhere: a row for each person, a column for each resource."""
    layout = LAYOUT["counts"]
    drawing.caption(x, layout["caption"], counts["caption"], layout["width"])
    for column, resource in enumerate(RESOURCES):
        drawing.piece(resource, x + layout["label"] + column * layout["column"] + 2, layout["y"], layout["piece"])
    for row, person in enumerate(PERSONS):
        y = layout["y"] + (row + 1) * layout["row"]
        drawing.piece(person, x, y, layout["piece"])
        for column in range(NUM_RESOURCES):
            number = counts["kinds"][column * len(PERSONS) + row]
            middle = x + layout["label"] + column * layout["column"] + 2 + layout["piece"] / 2
            drawing.text(middle, y + 17, number or "·", 13, anchor="middle", bold=bool(number))
