"""The text views of the games in narrow windows: grids and maps lose columns that nobody misses.

The views are up to 100 columns wide. `fitted` takes whole columns of filling (spaces, horizontal lines, shade) out
of a grid or a map until it fits; lines, arrows and texts stay what they are and where they are to each other, so
it works for any game's view. Sentences are wrapped anew.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

LINES = frozenset("─│┌┐└┘├┤┬┴┼")
SPACE, ACROSS, SHADE = " ", "─", "▒"
FILLING = frozenset((SPACE, ACROSS, SHADE))
INDENT = "  "  #: of the later lines of a sentence


@dataclass(frozen=True)
class Part:
    """A part of a text view.

    Attributes:
        lines: as they are printed.
        drawn: whether it is a grid or a map, not sentences.
    """

    lines: tuple[str, ...]
    drawn: bool


def fitted(text: str, width: int) -> list[Part]:
    """The parts of a text view, none wider than `width` columns where that can be had without losing anything."""
    parts = []
    for drawn, lines in _split(text.splitlines()):
        lines = _narrowed(lines, width) if drawn else _wrapped(lines, width)
        parts.append(Part(tuple(lines), drawn))
    return parts


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
    return [
        part
        for sentence in whole
        for part in textwrap.wrap(sentence, width, subsequent_indent=INDENT, break_on_hyphens=False) or [""]
    ]


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
