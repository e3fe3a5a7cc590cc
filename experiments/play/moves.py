"""What a person can type: moves and commands; and how the moves are listed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from siberia_experiments.play.keyboard import begins
from siberia_experiments.play.seat import Option

#: What can be typed instead of a move: keys, what they do. `m` is for games with a map.
COMMANDS = {
    "h": "hint: what a search expects of your moves, in money",
    "t": "table: show the whole table; {parts} shows a part of it",
    "m": "map: show only the map",
    "u": "undo your last decision; u! if you have learned something since",
    "rules": "how to play, options and prices of this game; rules {rule} tells one rule",
    "s": "save and quit, like q; the game is saved after every decision anyway",
    "?": "help: this list, and the signs in the table",
}
WORDS = {"hint": "h", "table": "t", "map": "m", "undo": "u", "undo!": "u!", "save": "s", "quit": "s", "q": "s"}
WORDS["help"] = "?"
CHOOSING = (
    "Choose by the number in front of a move, or type its name or the beginning of its words: "
    "'mi go' is 'mine gold' if nothing else begins like that. Tab completes. Enter takes the only move there is."
)


class NotUnderstood(Exception):
    """What the person typed is no move and no command; the message says why."""


def understood(
    typed: str, options: Sequence[Option], commands: Mapping[str, str] = COMMANDS, parts: Sequence[str] = ()
) -> Option | str:
    """The move or the command that the person has typed.

    A command is one of the keys of `commands`, or `u!`. The name of one of the `parts` of the table can follow `t`,
    and anything `rules`.

    Raises:
        NotUnderstood: it is none, or could be several moves.
    """
    text = " ".join(typed.lower().split())
    if not text and len(options) == 1:
        return options[0]
    first, _, more = text.partition(" ")
    command = WORDS.get(first, first)
    has_more = not more or command == "rules" or (command == "t" and more in parts)
    if (command in commands or command == "u!") and has_more:
        return f"{command} {more}".strip()
    if text.isdecimal():
        if 1 <= int(text[:9]) <= len(options):
            return options[int(text[:9]) - 1]
        raise NotUnderstood(f"there is no move {text[:9]}; the moves are 1 to {len(options)}")
    meant = _meant(text, options) if text else []
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise NotUnderstood(f"{typed.strip()!r} could be: {', '.join(option.name for option in meant)}")
    raise NotUnderstood(f"{typed.strip()!r} is no move now; type the number of a move, or ? for help" if text else "")


def _meant(text: str, options: Sequence[Option]) -> list[Option]:
    """The moves that a text means: the one of that name, or else those that begin so, or whose words do."""
    tests: tuple[Callable[[Option], bool], ...] = (
        lambda option: option.name.lower() == text,
        lambda option: option.name.lower().startswith(text),
        lambda option: begins(option.name, text),
    )
    return next(filter(None, ([option for option in options if test(option)] for test in tests)), [])


def menu(options: Sequence[Option], width: int) -> list[str]:
    """The moves in lines, a group for each first word of their names."""
    digits = len(str(len(options)))
    lines: list[str] = []
    for _, group in groupby(options, lambda option: option.name.split()[0]):
        entries = [f"{option.number:>{digits + 1}}  {option}" for option in group]
        column = max(map(len, entries)) + 2
        across = max(1, (width + 2) // column)
        for start in range(0, len(entries), across):
            line = "".join(entry.ljust(column) for entry in entries[start : start + across]).rstrip()
            lines += textwrap.wrap(line, width, subsequent_indent=" " * (digits + 3), break_on_hyphens=False)
    return lines
