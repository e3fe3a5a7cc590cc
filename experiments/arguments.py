"""Reads what stands behind the options of a command: rules, lists of agents, settings, numbers of players."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from siberia_env.errors import ConfigurationError
from siberia_env.game import Game, Variant, find_game, game_names, is_game
from siberia_env.spelling import did_you_mean
from siberia_experiments.commands import LIST_SIGN, TRUTH


def named_game(name: str) -> Game:
    """Return the game called `name`.

    Raises:
        ConfigurationError: there is no such game; the message names the one that was meant, if that can be guessed.
    """
    if not is_game(name):
        names = game_names()
        raise ConfigurationError(f"no game {name!r}{did_you_mean(name, names)}; the games are {', '.join(names)}")
    return find_game(name)


def read_rules(text: str, option: str = "--rules") -> dict[str, Any]:
    """Read options such as `edition=oya,max_turns=200`.

    A value is a whole number, `true`, `false`, a word, or a list of words (`a/b`).

    Raises:
        ConfigurationError: a part that is not of the form NAME=VALUE.
    """
    rules: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = (text.strip() for text in part.partition("="))
        if not name or not value:
            raise ConfigurationError(f"{option}: {part!r} is not of the form NAME=VALUE")
        if name in rules:
            raise ConfigurationError(f"{option}: {name} is given twice")
        rules[name] = _read_value(value)
    return rules


def _read_value(text: str) -> int | bool | str | list[str]:
    if text in TRUTH:
        return TRUTH[text]
    if LIST_SIGN in text:
        return [part.strip() for part in text.split(LIST_SIGN)]
    try:
        return int(text)
    except ValueError:
        return text


def read_game_rules(game: str, text: str) -> dict[str, Any]:
    """Read the options of the rules of `game`.

    Raises:
        ConfigurationError: a part that is not of the form NAME=VALUE, or a name that is no option of the game.
    """
    rules = read_rules(text)
    known: Mapping[str, Any] = named_game(game).check_rules(None)
    for name in rules:
        if name not in known:
            there_are = f"the options are {', '.join(known)}"
            raise ConfigurationError(f"--rules: no option {name!r}{did_you_mean(name, known)}; {there_are}")
    return rules


def read_widths(text: str) -> tuple[int, ...]:
    """Read widths such as `256,256`.

    Raises:
        ConfigurationError: the widths are not whole numbers of 1 or more.
    """
    widths = _whole_numbers(text)
    if not widths or min(widths) < 1:
        raise ConfigurationError(f"--network: {text!r}; give the widths of the hidden layers, such as 256,256")
    return widths


def read_counts(text: str) -> tuple[int, ...]:
    """Read player counts such as `2` or `2,3,4`.

    Raises:
        ConfigurationError: they are no whole numbers.
    """
    counts = _whole_numbers(text)
    if not counts:
        raise ConfigurationError(f"--players: {text!r}; give a number of players, or several, such as 2,3,4")
    return counts


def _whole_numbers(text: str) -> tuple[int, ...]:
    """The numbers in `text`, which commas separate; none if one of them is no whole number."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        return ()


def read_fields(option: str, text: str, given: Any) -> Any:
    """Read values for the fields of a dataclass, such as `keep=0.5,entropy=0.01/0.001`, into a copy of `given`.

    Raises:
        ConfigurationError: a part that is not of the form NAME=VALUE, a name that is no field, or a value of the wrong
            kind.
    """
    changes: dict[str, Any] = {}
    for name, value in read_rules(text, option).items():
        if not hasattr(given, name):
            names = [field.name for field in fields(given)]
            raise ConfigurationError(f"{option}: no {name!r}{did_you_mean(name, names)}; there are {', '.join(names)}")
        before = getattr(given, name)
        try:
            if isinstance(before, tuple):
                parts = value if isinstance(value, list) else [value]
                changes[name] = tuple(type(before[0])(part) for part in parts)
            elif isinstance(before, bool) != isinstance(value, bool):
                raise ValueError
            else:
                changes[name] = type(before)(value)
        except (ValueError, TypeError):
            raise ConfigurationError(f"{option}: {name}={value}; it is like {name}={before}") from None
    return replace(given, **changes)


def read_agents(text: str) -> list[str]:
    """Read a list of agents such as `greedy, random`."""
    return [spec.strip() for spec in text.split(",")]


def read_variant(game: str, players: int, rules: str, components: Path | None) -> Variant:
    """Return the variant that the common options describe.

    Raises:
        ConfigurationError: there can be no such game.
    """
    return named_game(game).variant(players, read_game_rules(game, rules), components)


def read_tables(game: str, components: Path | None) -> dict[str, Any] | None:
    """Read and check the component tables in the file `components`, and return them in the form that a run stores."""
    if components is None:
        return None
    tables: dict[str, Any] = named_game(game).read_components(components).as_json()
    return tables
