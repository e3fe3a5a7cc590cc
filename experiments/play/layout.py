"""The text views of the games in narrow windows: grids and maps lose columns that nobody misses.

The views are up to 100 columns wide. `fitted` takes whole columns of filling (spaces, horizontal lines, shade) out
of a grid or a map until it fits; lines, arrows and texts stay what they are and where they are to each other, so
it works for any game's view. Sentences are wrapped anew, and a line ends within one only where it must.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LINES = frozenset("─│┌┐└┘├┤┬┴┼")
SPACE, ACROSS, SHADE = " ", "─", "▒"
UPRIGHT = frozenset("│ ")
FILLING = frozenset((SPACE, ACROSS, SHADE))
INDENT = "  "  #: of the later lines of a sentence
TOGETHER = "\N{NO-BREAK SPACE}"  #: a space at which no line ends; shown as a plain one
SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[^a-z\s])")
SHORTEST = 0.55  #: part of the width that a line has to reach to end with a clause
PART_END = re.compile(r"(?<=;) +")
COUNTED = re.compile(r"(?<=\d) (?=[^\W\d])")  #: between a number and what it counts


@dataclass(frozen=True)
class Part:
    """A part of a text view.

    Attributes:
        lines: as they are printed.
        drawn: whether it is a grid or a map, not sentences.
    """

    lines: tuple[str, ...]
    drawn: bool


def renamed(text: str, names: Sequence[str]) -> str:
    """A text view with `names`, one a seat, in place of `player_0` and so on; grids and maps stay as wide as they are.

    A name that is too long for its place in a grid is cut off.
    """
    lines = []
    for line in text.splitlines():
        if LINES.isdisjoint(line):
            line = re.sub(r"\bplayer_(\d)\b", lambda found: names[int(found[1])], line)
        else:
            line = re.sub(r"(▸?)player_(\d)( \(you\))?( *)", lambda found: _in_a_grid(found, names), line)
        lines.append(line)
    return "\n".join(lines)


def _in_a_grid(found: re.Match[str], names: Sequence[str]) -> str:
    """A name, cut off where the next cell would begin."""
    mark, number, you, space = found[1], found[2], found[3] or "", found[4]
    room = len(found[0]) - min(1, len(space))
    return f"{mark}{names[int(number)][: room - len(mark + you)]}{you}".ljust(len(found[0]))


def fitted(text: str, width: int) -> list[Part]:
    """The parts of a text view, none wider than `width` columns where that can be had without losing anything."""
    parts = []
    for drawn, lines in _split(text.splitlines()):
        lines = _narrowed(lines, width) if drawn else _wrapped(lines, width)
        parts.append(Part(tuple(lines), drawn))
    return parts


def lowered(part: Part, height: int) -> Part:
    """A map without some of the rows that only lead its lines on, as far as it has to be to fit into `height` lines."""
    rows = list(part.lines)
    while len(rows) > height:
        spare = [row for row in range(1, len(rows)) if _leads_on(rows, row)]
        if not spare:
            break
        del rows[next((row for row in spare if rows[row] == rows[row - 1]), spare[-1])]
    return Part(tuple(rows), part.drawn)


def _leads_on(rows: Sequence[str], row: int) -> bool:
    """Whether a row has nothing but lines that come from above and go on below, none of them the side of a box."""
    return UPRIGHT.issuperset(rows[row]) and not any(
        sign == "│" and _is_left_side(rows, row, column) for column, sign in enumerate(rows[row])
    )


def _is_left_side(rows: Sequence[str], row: int, column: int) -> bool:
    """Whether a line that goes up begins at the upper left corner of a box."""
    while row > 0 and rows[row][column] in "│├┤┼":
        row -= 1
    return re.match(r"┌[─┬┴]*┐", rows[row][column:]) is not None


def sentences(text: str, width: int) -> list[str]:
    """The lines of a text view that are not part of a grid or a map, as `fitted` has them."""
    found = [_wrapped(lines, width) for drawn, lines in _split(text.splitlines()) if not drawn]
    return [line for lines in found for line in lines if line]


def _split(lines: Sequence[str]) -> list[tuple[bool, list[str]]]:
    """Grids, maps and sentences, as (drawn, lines)."""
    parts: list[tuple[bool, list[str]]] = []
    for line in lines:
        drawn = not LINES.isdisjoint(line)
        if parts and parts[-1][0] == drawn and not (drawn and _starts_anew(parts[-1][1][-1], line)):
            parts[-1][1].append(line)
        else:
            parts.append((drawn, [line]))
    return parts


def _starts_anew(above: str, line: str) -> bool:
    """Whether one grid ends and the next begins."""
    return above.startswith("└") and line.startswith("┌")


def _wrapped(lines: list[str], width: int) -> list[str]:
    if max(map(len, lines)) <= width:
        return lines
    whole: list[str] = []
    for line in lines:
        if line.startswith(INDENT) and whole and whole[-1]:
            whole[-1] += SPACE + line.strip()
        else:
            whole.append(line)
    return [part for text in whole for part in in_lines(text, width)]


def in_lines(text: str, width: int, indent: str = INDENT) -> list[str]:
    """`text` in lines of at most `width` columns, the later ones indented; one empty line if there is no text.

    A sentence that fits into a line is not torn, nor is a part of one up to a semicolon. A number stays with what it
    counts.
    """
    if len(text) <= width:
        return [text]
    lines: list[str] = []
    for sentence in SENTENCE_END.split(text):
        for part in [sentence] if len(indent + sentence) <= width else PART_END.split(sentence):
            if lines and (len(f"{lines[-1]} {part}") <= width or len(indent + part) > width):
                part = f"{lines.pop()} {part}"
            elif lines:
                part = indent + part
            lines += _cut(part, width, indent)
    return lines


def _cut(text: str, width: int, indent: str) -> list[str]:
    """`text` in lines that end at a comma or colon where that doesn't leave them too short, else between two words."""
    rest, lines = COUNTED.sub(TOGETHER, text), []
    while len(rest) > width:
        clause = max(rest.rfind(f"{sign} ", int(width * SHORTEST), width + 1) for sign in ",:") + 1
        end = clause or rest.rfind(SPACE, len(indent) + 1, width + 1)
        end = end if end > 0 else width
        lines.append(rest[:end])
        rest = indent + rest[end:].lstrip(SPACE)
    return [line.replace(TOGETHER, SPACE) for line in [*lines, rest]]


def _narrowed(lines: list[str], width: int) -> list[str]:
    size = max(map(len, lines))
    if size <= width:
        return lines
    columns = ["".join(rows) for rows in zip(*(line.ljust(size) for line in lines), strict=True)]
    for kept in (frozenset(SPACE), LINES | {SPACE}):  # first the padding beyond one space, then that one too
        while len(columns) > width and (spare := _most_spare(columns, kept)):
            del columns[spare]
    if len(columns) > width and all(LINES.issuperset(frame) for frame in (columns[0], columns[-1])):
        columns = columns[1:-1]  # a grid that is open at its sides
    return ["".join(row).rstrip() for row in zip(*columns, strict=True)]


def _most_spare(columns: Sequence[str], kept: frozenset[str]) -> int:
    """The column in the middle of the widest strip of columns that can go; 0 if none can."""
    best, longest, run = 0, 0, 0
    for index in range(1, len(columns)):
        can_go = index < len(columns) - 1 and _can_go(columns[index - 1], columns[index], columns[index + 1], kept)
        run = run + 1 if can_go else 0
        if run > longest:
            best, longest = index, run
    return best - longest // 2 if longest else 0


def _can_go(before: str, column: str, after: str, kept: frozenset[str]) -> bool:
    """Whether a column is nothing but filling that has more of itself, or for spaces one of `kept`, at its side."""
    return FILLING.issuperset(column) and all(
        (left in kept or right in kept) if sign == SPACE else sign in (left, right)
        for left, sign, right in zip(before, column, after, strict=True)
    )
