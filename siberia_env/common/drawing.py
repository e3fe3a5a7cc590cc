"""What the pictures of both games are drawn with: an SVG document, text that fits its room, pieces and pawns.

Colours, icons and the widths of letters are data (`style.json`), so that a page in a browser can use them too. Every
piece bears letters and an icon besides its colour, for people who can't tell some colours apart.

Text is set in DejaVu Sans. Where it is missing, a narrower font takes its place. `text` knows how wide the letters of
DejaVu Sans are. It makes a text that is too long for its room smaller, and cuts it in the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any
from xml.etree import ElementTree

FIRST_LETTER = 32  #: the first character whose width `style.json` has
WIDEST = 1.05  #: the width of any other character, in units of the font's size
SMALLEST = 0.75  #: how far a text is made smaller before it is cut, as a factor
CUT = "…"
BAND = 52  #: the height of the band on top, with what is played and whose view it is
FACE = 24  #: the side of the square in which pieces are drawn, and the height of a pawn
PAWN = 2 / 3  #: the width of a pawn, in units of its height


@cache
def data(package: str, name: str) -> Mapping[str, Any]:
    """The JSON file `name` that lies in a package of the suite, such as a layout."""
    read: dict[str, Any] = json.loads((resources.files(package) / name).read_text(encoding="utf-8"))
    return read


STYLE = data("siberia_env.common", "style.json")
COLOURS: Mapping[str, str] = STYLE["colours"]
PIECES: Mapping[str, Mapping[str, str]] = STYLE["pieces"]


def width(words: str, size: float, bold: bool = False) -> float:
    """How wide a text is in DejaVu Sans, in the units of `size`."""
    advances = STYLE["advances"]["bold" if bold else "regular"]
    places = (ord(letter) - FIRST_LETTER for letter in words)
    return size * sum(advances[place] if 0 <= place < len(advances) else WIDEST for place in places)


def fitted(words: str, size: float, room: float, bold: bool = False) -> tuple[str, float]:
    """The text and the size at which it is no wider than `room`: smaller, and cut if that is not enough."""
    size = max(min(size, size * room / max(width(words, size, bold), 1e-9)), SMALLEST * size)
    if width(words, size, bold) <= room * 1.001:
        return words, size
    kept = len(words)
    while kept and width(words[:kept].rstrip() + CUT, size, bold) > room:
        kept -= 1
    return words[:kept].rstrip() + CUT, size


def broken(words: str, size: float, room: float) -> list[str]:
    """The text in lines that are no wider than `room`."""
    lines: list[str] = []
    for word in words.split():
        if lines and width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


class Drawing:
    """An SVG document in the making, with a band on top that says what is shown.

    Places and sizes are in the layout's units; y grows downwards.
    """

    def __init__(self, size: Sequence[int], title: str, seen_by: str) -> None:
        wide, high = size
        attributes = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {wide} {high}", "role": "img"}
        attributes |= {"width": str(wide), "height": str(high), "font-family": STYLE["font"], "fill": COLOURS["ink"]}
        self._root = ElementTree.Element("svg", attributes)
        ElementTree.SubElement(self._root, "title").text = f"{title}: {seen_by}"
        self._defs = ElementTree.SubElement(self._root, "defs")
        self._defined: set[str] = set()
        self._into = self._root
        self.rect(0, 0, wide, high, "paper")
        self.rect(0, 0, wide, BAND, "band")
        self.text(24, BAND / 2 + 7, title, 20, room=0.7 * wide, bold=True, fill="bright")
        self.text(wide - 24, BAND / 2 + 6, seen_by, 15, room=0.25 * wide, anchor="end", fill="bright")

    def svg(self) -> str:
        """The document."""
        return ElementTree.tostring(self._root, encoding="unicode")

    # ------------------------------------------------------------ shapes

    def add(self, tag: str, **attributes: object) -> ElementTree.Element:
        """An element; `stroke_width` stands for `stroke-width`, and a name of the style for its colour."""
        written = {
            name.replace("_", "-"): COLOURS.get(str(value), str(value))
            if name in ("fill", "stroke")
            else _written(value)
            for name, value in attributes.items()
            if value is not None
        }
        return ElementTree.SubElement(self._into, tag, written)

    @contextmanager
    def group(self, kind: str, name: object, x: float = 0, y: float = 0) -> Iterator[None]:
        """What is drawn inside belongs to one thing on the table, which a page finds by its class and its name."""
        outer = self._into
        moved = f"translate({_written(x)} {_written(y)})" if x or y else None
        self._into = self.add("g", **{"class": kind, "data-name": name, "transform": moved})
        yield
        self._into = outer

    def rect(self, x: float, y: float, wide: float, high: float, fill: str, **attributes: object) -> None:
        """A rectangle."""
        self.add("rect", x=x, y=y, width=wide, height=high, fill=fill, **attributes)

    def panel(self, x: float, y: float, wide: float, high: float, fill: str = "panel") -> None:
        """A rectangle with round corners, on which something lies."""
        self.rect(x, y, wide, high, fill, stroke="line", rx=8)

    def path(self, points: Sequence[Sequence[float]], closed: bool = False, **attributes: object) -> None:
        """Straight lines from point to point."""
        steps = " ".join(f"{_written(x)} {_written(y)}" for x, y in points)
        self.add("path", d=f"M{steps}{'Z' if closed else ''}", **attributes)

    def arrow(self, start: Sequence[float], end: Sequence[float], colour: str) -> None:
        """An arrow from one point to another."""
        (x, y), (to_x, to_y) = start, end
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        ahead, aside = ((to_x - x) / length, (to_y - y) / length), ((y - to_y) / length, (to_x - x) / length)
        neck = (to_x - 12 * ahead[0], to_y - 12 * ahead[1])
        self.path([start, neck], stroke=colour, stroke_width=5, fill="none")
        wings = [(neck[0] + side * 8 * aside[0], neck[1] + side * 8 * aside[1]) for side in (1, -1)]
        self.path([end, *wings], closed=True, fill=colour)

    # ------------------------------------------------------------ text

    def text(
        self,
        x: float,
        y: float,
        words: object,
        size: float,
        *,
        room: float | None = None,
        anchor: str | None = None,
        bold: bool = False,
        fill: str | None = None,
    ) -> None:
        """A line of text on the baseline `y`, no wider than `room`; `anchor` is None (starts at x), middle or end."""
        told = str(words)
        if room is not None:
            told, size = fitted(told, size, room, bold)
        weight = "bold" if bold else None
        self.add("text", x=x, y=y, font_size=size, text_anchor=anchor, font_weight=weight, fill=fill).text = told

    def paragraph(self, x: float, y: float, words: str, size: float, room: float, fill: str | None = None) -> None:
        """Text in as many lines as it needs."""
        for number, line in enumerate(broken(words, size, room)):
            self.text(x, y + 1.35 * size * number, line, size, room=room, fill=fill)

    def caption(self, x: float, y: float, words: str, room: float) -> None:
        """The small heading of a part of the table."""
        self.text(x, y, words, 12, room=room, bold=True, fill="muted")

    def status(self, x: float, y: float, words: str, size: float, wide: float) -> None:
        """What is being decided, in the last lines of the picture."""
        self.path([(x, y - 1.6 * size), (x + wide, y - 1.6 * size)], stroke="line")
        self.paragraph(x, y, words, size, wide)

    def seat(self, seat: int, player: Mapping[str, Any], wide: float, high: float, header: float, score: str) -> None:
        """A player's panel: whose it is, whose turn it is, and the player's score or money."""
        look = player_look(seat)
        self.panel(0, 0, wide, high, "own" if player["you"] else "panel")
        self.add(
            "path",
            d=f"M0 {header}V8A8 8 0 0 1 8 0H{_written(wide - 8)}A8 8 0 0 1 {_written(wide)} 8V{header}Z",
            fill=look["fill"],
        )
        if player["on_turn"]:
            self.rect(-2, -2, wide + 4, high + 4, "none", stroke="highlight", stroke_width=4, rx=10)
            self.path([(10, header / 2 - 7), (22, header / 2), (10, header / 2 + 7)], closed=True, fill=look["ink"])
        name, left = player["name"] + (" (you)" if player["you"] else ""), 28 if player["on_turn"] else 12
        room = wide - width(score, 17, bold=True) - left - 20
        self.text(left, header / 2 + 6, name, 15, room=room, bold=True, fill=look["ink"])
        self.text(wide - 10, header / 2 + 6, score, 17, anchor="end", bold=True, fill=look["ink"])

    # ------------------------------------------------------------ pieces

    def piece(self, name: str, x: float, y: float, size: float, faded: bool = False) -> None:
        """A square that stands for a resource, a person or a manager: its colour, its icon and its letters."""
        self._use(f"piece-{name}", x, y, size, faded)

    def pawn(self, player: int, x: float, y: float, size: float, number: int = 1) -> None:
        """A pawn in the player's colour with the number of the seat; beside it how many they are, if more than one."""
        self._use(f"pawn-{player}", x, y, size)
        if number > 1:
            self.text(x + PAWN * size + 0.5, y + 0.8 * size, f"×{number}", 0.46 * size, bold=True)  # noqa: RUF001

    def _use(self, symbol: str, x: float, y: float, size: float, faded: bool = False) -> None:
        kind, _, name = symbol.partition("-")
        wide = PAWN if kind == "pawn" else 1.0
        if symbol not in self._defined:
            self._defined.add(symbol)
            outer, self._into = self._into, self._defs
            seen = f"{_written((1 - wide) * FACE / 2)} 0 {_written(wide * FACE)} {FACE}"
            self._into = self.add("symbol", id=symbol, viewBox=seen, overflow="visible")  # quicker than a clipped one
            (self._define_piece if kind == "piece" else self._define_pawn)(name)
            self._into = outer
        opacity = 0.25 if faded else None
        self.add("use", href=f"#{symbol}", x=x, y=y, width=wide * size, height=size, opacity=opacity)

    def _define_piece(self, name: str) -> None:
        look = PIECES[name]
        self.rect(0.75, 0.75, FACE - 1.5, FACE - 1.5, look["fill"], stroke=look["ink"], rx=4)
        self.add(
            "path", d=look["icon"], fill=look["ink"], fill_rule="evenodd", transform="translate(4.2 1.6) scale(0.65)"
        )
        self.text(FACE / 2, 21.4, look["letters"], 8.6, anchor="middle", bold=True, fill=look["ink"])

    def _define_pawn(self, player: str) -> None:
        look = STYLE["players"][int(player)]
        self.add("path", d=STYLE["pawn"], fill=look["fill"], stroke="ink", stroke_width=1)
        self.text(FACE / 2, 20, player, 9, anchor="middle", bold=True, fill=look["ink"])

    def icon(self, name: str, x: float, y: float, size: float) -> None:
        """The icon of a piece alone, large, in the piece's ink."""
        scale = size / 20
        place = f"translate({_written(x)} {_written(y)}) scale({_written(scale)})"
        self.add("path", d=PIECES[name]["icon"], fill=PIECES[name]["ink"], fill_rule="evenodd", transform=place)

    def hatched(self) -> str:
        """The name of a fill for what is used up."""
        if "hatched" not in self._defined:
            self._defined.add("hatched")
            outer, self._into = self._into, self._defs
            self._into = self.add("pattern", id="hatched", width=8, height=8, patternUnits="userSpaceOnUse")
            self.rect(0, 0, 8, 8, "exhausted")
            self.path([(0, 8), (8, 0)], stroke="hatch", stroke_width=1.2)
            self._into = outer
        return "url(#hatched)"


def player_look(player: int) -> Mapping[str, str]:
    """The colour of a player, and that of what is written on it."""
    look: Mapping[str, str] = STYLE["players"][player]
    return look


def _written(value: object) -> str:
    """A value of an attribute; numbers without needless digits."""
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)
