"""Component tables of both games: names that they share, where a table comes from, and reading one from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from siberia_env import files
from siberia_env.errors import ConfigurationError

RESOURCES = ("gas", "charcoal", "oil", "gold", "diamond")  #: C1, B1
NUM_RESOURCES = len(RESOURCES)
COLOURS = dict(zip(RESOURCES, ("cyan", "magenta", "green", "yellow", "bright_blue"), strict=True))  #: in terminals
DEFAULT_SALESMAN_VALUES = dict(zip(RESOURCES, (4, 5, 6, 7, 8), strict=True))  #: C4, B25: thousands
DOLLARS = 1000  #: a thousand: dollars in the unit of money of states, rulesets, observations and scores
LARGEST = 2**20  #: bytes of a component file; those of the box take some thousands
MAX_VALUE = 99  #: largest value of a card, salesman or price that a component file may give, thousands

Source: TypeAlias = Literal["rulebook", "review", "assumed"]  #: C5, B7: where a component table comes from


@dataclass(frozen=True)
class Table:
    """One component table: what it holds and where that comes from (C5, B7)."""

    name: str
    content: str
    source: Source


def check_integer(value: Any, path: str, low: int, high: int) -> int:
    """`value`, if it is an integer from `low` to `high`; else a `ConfigurationError` that names its `path`."""
    if type(value) is not int or not low <= value <= high:
        raise ConfigurationError(f"{path}: {value!r} is not a whole number from {low} to {high}")
    return value


def check_tables(tables: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    """`tables`, if it is an object with no other keys than `names`; else a `ConfigurationError`."""
    if not isinstance(tables, Mapping):
        raise ConfigurationError(f"components: expected an object with the keys {', '.join(names)}; got {tables!r}")
    for name in tables:
        if name not in names:
            raise ConfigurationError(f"{name}: no such table; the tables are {', '.join(names)}")
    return tables


def check_table(tables: Mapping[str, Any], name: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """The table `name`, if it is an object with exactly the `keys`; else a `ConfigurationError`."""
    table = tables.get(name)
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{name}: expected an object with the keys {', '.join(keys)}; got {table!r}")
    for key in table:
        if key not in keys:
            raise ConfigurationError(f"{name}.{key}: no such entry; the entries are {', '.join(keys)}")
    for key in keys:
        if key not in table:
            raise ConfigurationError(f"{name}.{key}: missing")
    return table


def check_counts(tables: Mapping[str, Any], name: str, keys: tuple[str, ...], high: int) -> dict[str, int]:
    """The table `name` of a number from 0 to `high` for each of `keys`; else a `ConfigurationError`."""
    table = check_table(tables, name, keys)
    return {key: check_integer(table[key], f"{name}.{key}", 0, high) for key in keys}


def read_json(source: str | Path) -> Any:
    """What the JSON file `source` holds.

    Raises:
        ConfigurationError: the file can't be read, or is not JSON.
    """
    try:
        return files.read_json(files.read_bytes(source, LARGEST))
    except OSError as error:
        raise ConfigurationError(f"components: can't read {source}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"components: {source} is not JSON: {error}") from error
