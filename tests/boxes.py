"""Changes of a component file, for the tests of what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Change: TypeAlias = Callable[[dict[str, Any]], None]  #: changes the content of a component file


def put(*path: Any, value: Any) -> Change:
    """A change of the box: the entry at `path` becomes `value`."""

    def change(tables: dict[str, Any]) -> None:
        for key in path[:-1]:
            tables = tables[key]
        tables[path[-1]] = value

    return change


def drop(*path: Any) -> Change:
    """A change of the box: the entry at `path` goes."""

    def change(tables: dict[str, Any]) -> None:
        for key in path[:-1]:
            tables = tables[key]
        del tables[path[-1]]

    return change
