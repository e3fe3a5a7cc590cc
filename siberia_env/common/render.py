"""What the plain-text views of both games are written with: boxes, wrapped lines, names and amounts.

Everything fits into `WIDTH` columns.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from siberia_env.common.components import DOLLARS

WIDTH = 100
TOGETHER = "\N{NO-BREAK SPACE}"  #: a space at which no line ends; shown as a plain one


def seat_name(player: int) -> str:
    """A seat as PettingZoo's agents are called."""
    return f"player_{player}"


def seen_by(viewer: int | None) -> str:
    """Whose view a text is; None sees everything."""
    return "everything shown" if viewer is None else f"seen by {seat_name(viewer)}"


def heading(player: int, viewer: int | None, on_turn: bool) -> str:
    """A player's name above a column, with a mark for whose turn it is and for the one who looks."""
    return f"{'▸' if on_turn else ''}{seat_name(player)}{' (you)' if player == viewer else ''}"


def dollars(thousands: int) -> str:
    """An amount of money, given in thousands."""
    return f"${int(thousands) * DOLLARS}"


def counted(number: int, word: str) -> str:
    """A number of things, with the plural's `s` where it belongs."""
    return f"{int(number)} {word}{'' if number == 1 else 's'}"


def inventory(counts: Iterable[int], names: Sequence[str]) -> str:
    """What there is of things called `names`, with the number where there is more than one of a thing."""
    things = [
        name if count == 1 else f"{int(count)}{TOGETHER}{name}"
        for name, count in zip(names, counts, strict=True)
        if count > 0
    ]
    return ", ".join(things) if things else "none"


def game_over(played: int, word: str, scores: Sequence[int], hit_limit: bool) -> str:
    """The sentence about a finished game: so many rounds or turns (`word`), and who has won it."""
    winners = [seat_name(player) for player, score in enumerate(scores) if score == max(scores)]
    why = f" (the {word} limit)" if hit_limit else ""
    return f"The game is over after {counted(played, word)}{why}; won by {' and '.join(winners)}."


def wrapped(text: str) -> list[str]:
    """`text` in lines, the later ones indented."""
    lines = textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return [line.replace(TOGETHER, " ") for line in lines]


def boxed(table: Sequence[Sequence[str]], widths: Sequence[int], rules_after: Sequence[int]) -> list[str]:
    """`table` in a box, with a line under each of the rows `rules_after`; a cell that is too long is wrapped."""

    def rule(left: str, cross: str, right: str) -> str:
        return left + cross.join("─" * (width + 2) for width in widths) + right

    lines = [rule("┌", "┬", "┐")]
    for number, row in enumerate(table):
        cells = [_cell(text, width) for text, width in zip(row, widths, strict=True)]
        for part in range(max(map(len, cells))):
            shown = [cell[part] if part < len(cell) else "" for cell in cells]
            lines.append("│" + "│".join(f" {text:<{width}} " for text, width in zip(shown, widths, strict=True)) + "│")
        if number in rules_after:
            lines.append(rule("├", "┼", "┤"))
    lines.append(rule("└", "┴", "┘"))
    return lines


def _cell(text: str, width: int) -> list[str]:
    """The lines of one cell of a table, one at least."""
    if len(text) <= width:
        return [text]
    lines = textwrap.wrap(text, width, break_on_hyphens=False)
    return [line.replace(TOGETHER, " ") for line in lines] or [""]
