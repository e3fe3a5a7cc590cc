"""What a game tells of chance in its records: the interface of a chronicle, and what the chronicles share.

Each game has a chronicle, a module with the functions of `Chronicle` (`Game.chronicle`): it names the chance
outcomes of a game and makes outcomes of names again. `siberia_env.records` writes and reads records with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import Game, States, Variant

#: One line of a record: a JSON object.
Line: TypeAlias = Mapping[str, Any]

#: The events of a game: the keys of each line beside `event`, and the check of their values.
EventTable: TypeAlias = Mapping[str, tuple[Sequence[str], Callable[[Variant, Line], None]]]

#: One decision of a game: the state before it, the action, and the state when chance has settled. Arrays of one.
Step: TypeAlias = tuple[States, int, States]


@dataclass(frozen=True)
class Source:
    """Where points of a game came from.

    Attributes:
        name: what gave them, in words for a reader.
        rules: the numbers of the rules that gave them.
        points: each player's, in points (`Game.score_unit`), seat by seat.
    """

    name: str
    rules: str
    points: tuple[int, ...]


class Chronicle(Protocol):
    """What a game's chronicle module offers: the chance outcomes of its records, in names and back.

    A chance line is a JSON object with the key `event`; the header, decisions and the end line are the same for
    all games. States come as an array and an index, or as arrays of one.
    """

    def read_components(self, tables: Any) -> Any:
        """The components in a header's `tables`, for `Game.variant`; raises `ConfigurationError`."""

    def open_box(self, variant: Variant, states: States, i: int, generator: Any) -> None:
        """A new game in `states[i]` that `generator` (uint64) decides, its setup the chance outcome that is due."""

    def due_events(self, variant: Variant, states: States, i: int) -> list[dict[str, Any]]:
        """The lines that announce the chance outcome due in `states[i]`, before it is settled."""

    def events(self, variant: Variant, before: States, after: States) -> list[dict[str, Any]]:
        """The lines for what happened between two states: an action carried out, or one outcome settled.

        For the setup that is the setup line.
        """

    def check_event(self, variant: Variant, event: Line) -> None:
        """Check the form of a chance line, a truth value or a float for a number included (`==` is blind to it).

        Raises `ConfigurationError`.
        """

    def outcome(self, variant: Variant, states: States, i: int, lines: Sequence[tuple[int, Line]]) -> NDArray[Any]:
        """The outcome due in `states[i]` (int8 [outcome_size]) as the rest of a record shows it.

        `lines`, whose form has been checked, start with the first one that tells of the outcome, behind the lines
        of `due_events`. Raises `RecordError`, with the line's number first, if they show what can't be.
        """

    def check_outcome(self, variant: Variant, states: States, i: int, given: Any) -> NDArray[Any]:
        """`given` as the kernel `force` wants it, if it can come out; raises `ConfigurationError`."""

    def outline(self, event: Line) -> str:
        """What line the rules demand, in words for an error message, without what only chance decides."""

    def describe_event(self, event: Line) -> list[str]:
        """A chance line in lines for a reader."""

    def told_to(self, seat: int, event: Line) -> list[str]:
        """A chance line in lines for the person on `seat`: what that seat sees of it, the setup excepted.

        Here as in `remark`, seats are `player 0`, `player 1`, ..., and "player 0 draws" is a form that can be put into
        the second person.
        """

    def remark(self, variant: Variant, before: States, after: States, action: int) -> str:
        """What an action brought, in words for a reader; empty where its name says it all."""

    def make_alike(self, variant: Variant, states: States) -> None:
        """Make two arrays of one state the same, in place, that differ only in which of two equal pieces lies where.

        A game in which no piece has a number of its own may leave this function out.
        """


def chronicle_of(game: Game) -> Chronicle:
    """The chronicle of a game."""
    return cast(Chronicle, game.room("chronicle"))


def make_alike(variant: Variant, states: States) -> None:
    """The same for any game (`Chronicle.make_alike`)."""
    alike = getattr(chronicle_of(variant.game), "make_alike", None) if variant.game.chronicle else None
    if alike is not None:
        alike(variant, states)


def score_sources(variant: Variant, steps: Sequence[Step]) -> list[Source]:
    """Where everybody's points came from in a game that went through all of `steps`.

    The sources add up to the scores. A game tells them by the function `sources` of its chronicle; for one that
    doesn't, and where nobody has points, there are none.
    """
    tell = getattr(chronicle_of(variant.game), "sources", None)
    return [source for source in tell(variant, steps) if any(source.points)] if tell and steps else []


# ---------------------------------------------------------------- the form of a line


def check_form(table: EventTable, variant: Variant, event: Line) -> None:
    """Check a chance line by the table of the game's events.

    Raises:
        ConfigurationError: says what is wrong and what would be right.
    """
    name = event.get("event")
    if not isinstance(name, str) or name not in table:
        raise ConfigurationError(f"no event {name!r}; the events are {', '.join(table)}")
    keys, check = table[name]
    if sorted(event) != sorted(("event", *keys)):
        raise ConfigurationError(f"{name}: expected the keys event, {', '.join(keys)}; got {', '.join(event)}")
    check(variant, event)


def check_list(value: Any, path: str, low: int, high: int, what: str) -> list[Any]:
    """`value`, if it is a list of `low` to `high` entries; else a `ConfigurationError` that names its `path`."""
    if not isinstance(value, list) or not low <= len(value) <= high:
        count = f"{low}" if low == high else f"{low} to {high}"
        raise ConfigurationError(f"{path}: expected a list of {count} {what}; got {value!r}")
    return value


# ---------------------------------------------------------------- outcomes


class Pile:
    """What can still come out by chance, from which the lines of a record take what they show, by name."""

    def __init__(self, what: str, numbers: Iterable[int], name_of: Callable[[int], str]) -> None:
        """A pile of things with these `numbers`, kinds or single ones; `what` they are stands in messages."""
        self._what = what
        self._left: dict[str, list[int]] = {}
        for number in sorted(numbers):
            self._left.setdefault(name_of(number), []).append(number)
        self._counts = {name: len(left) for name, left in self._left.items()}

    def take(self, name: str, line: int) -> int:
        """The lowest number called `name` that is left.

        Raises:
            RecordError: there is none; the message starts with `line`.
        """
        if not self._left.get(name):
            count = self._counts.get(name, 0)
            raise RecordError(f"line {line}: one {name} too many; of the {self._what} {count} are {name}")
        return self._left[name].pop(0)

    def rest(self) -> list[int]:
        """The numbers that nothing has shown, in ascending order."""
        return sorted(number for left in self._left.values() for number in left)


def padded(variant: Variant, order: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """An outcome as the kernel `force` wants it: int8 [outcome_size]."""
    outcome = np.zeros(variant.game.outcome_size, np.int8)
    outcome[: len(order)] = order
    return outcome


def check_order(variant: Variant, given: Any, count: int, wanted: str) -> list[int]:
    """The first `count` entries of `given`, if it is a sequence of at least so many integers.

    Entries past those, up to `outcome_size`, don't count.

    Raises:
        ConfigurationError: it is not; `wanted` says in words what it should hold.
    """
    order, size = np.asarray(given), variant.game.outcome_size
    if order.ndim != 1 or order.dtype.kind not in "iu" or not count <= len(order) <= size:
        raise ConfigurationError(
            f"force: expected {wanted} (integers, at most {size} in all); got {order.dtype} of shape {order.shape}"
        )
    return [int(number) for number in order[:count]]
