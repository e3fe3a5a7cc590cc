"""Games that are put away and taken up again: one JSON object in a file.

It holds the header of the game's record (so game, players, rules, components, seed and who plays), the person's seat
and every decision so far by name. That is the whole game, since the seed decides every chance outcome. Two digests
tell a damaged file, and a version of the suite that plays the decisions otherwise, from a game that can go on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.files import read_bytes, read_json
from siberia_env.records import Record, record_variant
from siberia_experiments.play.seat import SeatedGame

FORMAT = "siberia-save/1"
KEYS = ("format", "header", "seat", "looks_ahead", "decisions", "position", "check")
LARGEST = 16 * 2**20  #: bytes; no game comes near it
MOST_QUOTED = 60  #: characters of something foreign that a message quotes


def save_game(path: Path, game: SeatedGame, looks_ahead: int = 0) -> None:
    """Write the game into the file `path`, whole or not at all.

    Args:
        path: the file; one that is there is replaced.
        game: the game so far.
        looks_ahead: decisions that the person has taken back after seeing what it could not foresee.

    Raises:
        ConfigurationError: the file can't be written.
    """
    content = {
        "format": FORMAT,
        "header": game.header,
        "seat": game.seat,
        "looks_ahead": looks_ahead,
        "decisions": [name for _, name in game.decisions],
        "position": _position(game),
    }
    target = Path(os.path.realpath(path))
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with half.open("w", encoding="utf-8", newline="\n") as file:
            json.dump({**content, "check": _check(content)}, file, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)
    except OSError as error:
        raise ConfigurationError(f"save: can't write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            half.unlink()


def load_game(path: Path) -> tuple[SeatedGame, int]:
    """The game in the file `path` as it stood, and how many looks ahead there were (see `save_game`).

    Raises:
        ConfigurationError: the file can't be read, is damaged, or is no saved game of this version of the suite.
    """
    content = _read(path)
    for key, kind in (("seat", int), ("looks_ahead", int), ("decisions", list), ("header", dict)):
        if type(content[key]) is not kind:
            raise ConfigurationError(f"save: {path} is damaged: {key} is {_quoted(content[key])}")
    header, decisions = content["header"], content["decisions"]
    if not all(isinstance(name, str) for name in decisions):
        raise ConfigurationError(f"save: {path} is damaged: a decision is not the name of an action")
    try:
        variant = record_variant(Record((header,)))
        game = SeatedGame(variant, header["seed"], header["agents"], content["seat"])
        game.play(decisions)
    except RecordError as error:
        raise ConfigurationError(f"save: {path}: its header: {str(error).removeprefix('line 1: ')}") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"save: {path}: {error}") from error
    if _position(game) != content["position"]:
        raise ConfigurationError(f"save: {path} was made by a version of the suite that plays this game otherwise")
    return game, content["looks_ahead"]


def _read(path: Path) -> dict[str, Any]:
    """The object in the file, with the right keys and the right digest."""
    try:
        raw = read_bytes(path, LARGEST)
    except OSError as error:
        raise ConfigurationError(f"save: can't read {path}: {error.strerror or error}") from error
    try:
        content = read_json(raw)
    except ValueError:
        content = None
    if not isinstance(content, dict) or "format" not in content:
        raise ConfigurationError(f"save: {path} is no saved game, or is damaged")
    if content["format"] != FORMAT:
        given = _quoted(content["format"])
        raise ConfigurationError(f"save: {path} has the format {given}; this version reads {FORMAT!r}")
    if sorted(content) != sorted(KEYS) or content.pop("check") != _check(content):
        raise ConfigurationError(f"save: {path} is damaged or has been edited")
    return content


def _check(content: Mapping[str, Any]) -> str:
    """The digest of everything in a save but itself."""
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _position(game: SeatedGame) -> str:
    return sha256(game.states.tobytes()).hexdigest()


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 3] + "..."
