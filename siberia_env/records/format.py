"""The format of a game record: its lines, their keys and types, and how a line that can't be is refused.

What the lines say about the game is checked elsewhere, by playing the record again (`replay.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from siberia_env.common.notation import Line, chronicle_of
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import Variant, find_game, game_names, is_game

FORMAT = "siberia-record/1"

HEADER_KEYS = ("format", "game", "num_players", "seed", "rules", "components", "agents")
DECISION_KEYS = ("player", "action", "legal")
END_KEYS = ("event", "scores", "winners", "truncated")

LONGEST_LINE = 2**20  #: bytes; the longest lines, headers with component tables, take some thousands
MOST_LINES = 10**6  #: of one game; the longest possible games have a tenth of that
MOST_QUOTED = 100  #: characters of a line that an error message quotes


@dataclass(frozen=True)
class Record:
    """One recorded game.

    Attributes:
        lines: the JSON objects: header, setup, decisions and chance outcomes, end.
        first_line: number of the header's line in the file it came from; error messages count from it.
    """

    lines: tuple[Line, ...]
    first_line: int = 1

    @property
    def header(self) -> Line:
        """The first line."""
        return self.lines[0]

    @property
    def end(self) -> Line:
        """The last line: `scores` in the game's own unit (`Game.score_unit`), `winners`, `truncated` (by the limit)."""
        return self.lines[-1]


def record_variant(record: Record) -> Variant:
    """What was played: game, players, rules and components of the header.

    Raises:
        RecordError: the header is wrong.
    """
    return check_header(record.header, record.first_line)


# ---------------------------------------------------------------- lines of a file


def raw_lines(path: str | Path) -> Iterator[bytes]:
    """The lines of a file, as bytes.

    Raises:
        ConfigurationError: the file can't be read.
        RecordError: a line is longer than a line of a record can be.
    """
    try:
        with Path(path).open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    refuse(number, f"longer than {LONGEST_LINE} bytes: no line of a record")
                yield line
    except OSError as error:
        raise ConfigurationError(f"records: can't read {path}: {error.strerror or error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return content


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def parse_line(raw: bytes, number: int) -> Line:
    """The JSON object on a line."""
    try:
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        refuse(number, f"not UTF-8: {error.reason} at byte {error.start + 1} of the line", error)
    except json.JSONDecodeError as error:
        refuse(number, f"not JSON: {error.msg} at character {error.pos + 1} of the line", error)
    except (ValueError, RecursionError) as error:
        refuse(number, f"not JSON: {error}", error)
    if not isinstance(content, dict):
        refuse(number, f"expected a JSON object; got {quoted(content)}")
    return content


# ---------------------------------------------------------------- keys, types and names


def _check_keys(line: Line, keys: tuple[str, ...], what: str, number: int) -> None:
    if sorted(line) != sorted(keys):
        refuse(number, f"{what} has the keys {', '.join(keys)}; got {', '.join(map(repr, line)) or 'none'}")


def check_header(line: Line, number: int) -> Variant:
    """The variant that a header describes."""
    if "format" not in line:
        refuse(number, f"expected a header, with the keys {', '.join(HEADER_KEYS)}; got {quoted(line)}")
    if line["format"] != FORMAT:
        refuse(number, f"format {quoted(line['format'])} is not known here; this version reads {FORMAT!r}")
    _check_keys(line, HEADER_KEYS, "a header", number)
    if not is_game(line["game"]):
        refuse(number, f"no game {quoted(line['game'])}; the games are {', '.join(game_names())}")
    if not isinstance(line["rules"], dict):
        refuse(number, f"rules: expected an object with every option in force; got {quoted(line['rules'])}")
    game = find_game(line["game"])
    try:
        check_seed(line["seed"])
        components = chronicle_of(game).read_components(line["components"])
        variant = game.variant(line["num_players"], line["rules"], components)
    except ConfigurationError as error:
        refuse(number, str(error), error)
    if line["rules"] != (in_force := variant.rules_as_json()):
        refuse(number, f"rules: expected every option in force, as in {quoted(in_force)}")
    agents = line["agents"]
    if not isinstance(agents, list) or len(agents) != variant.num_players or not all(map(is_name, agents)):
        refuse(number, f"agents: expected {variant.num_players} names, one a seat; got {quoted(agents)}")
    return variant


def check_form(record: Record) -> Variant:
    """Check every line's keys, types and names; give the variant played."""
    if not record.lines:
        refuse(record.first_line, "the record is empty; it starts with its header")
    variant = check_header(record.header, record.first_line)
    chronicle = chronicle_of(variant.game)
    last = len(record.lines) - 1
    for index, line in enumerate(record.lines[1:], start=1):
        number = record.first_line + index
        event = line.get("event")
        if index == 1 and event != "setup":
            refuse(number, f"expected the setup line; got {quoted(line)}")
        if index > 1 and event == "setup":
            refuse(number, "a second setup line")
        if event == "end":
            _check_end(line, variant, number)
            if index < last:
                refuse(number + 1, f"a line after the end of the game: {quoted(record.lines[index + 1])}")
        elif "event" in line:
            try:
                chronicle.check_event(variant, line)
            except ConfigurationError as error:
                refuse(number, str(error), error)
        else:
            _check_decision(line, number)
    if record.end.get("event") != "end":
        refuse(record.first_line + last, "the record stops here without an end line")
    return variant


def _check_decision(line: Line, number: int) -> None:
    _check_keys(line, DECISION_KEYS, "a decision", number)
    if type(line["player"]) is not int:
        refuse(number, f"player: expected a seat number; got {quoted(line['player'])}")
    if not isinstance(line["action"], str):
        refuse(number, f"action: expected an action's name; got {quoted(line['action'])}")
    if not isinstance(line["legal"], list) or not all(isinstance(name, str) for name in line["legal"]):
        refuse(number, f"legal: expected a list of names; got {quoted(line['legal'])}")


def _check_end(line: Line, variant: Variant, number: int) -> None:
    _check_keys(line, END_KEYS, "the end line", number)
    for key in ("scores", "winners"):
        if not isinstance(line[key], list) or not all(type(value) is int for value in line[key]):
            refuse(number, f"{key}: expected a list of whole numbers; got {quoted(line[key])}")
    if len(line["scores"]) != variant.num_players:
        refuse(number, f"scores: expected {variant.num_players}, one a seat; got {quoted(line['scores'])}")
    if not isinstance(line["truncated"], bool):
        refuse(number, f"truncated: expected true or false; got {quoted(line['truncated'])}")


def is_name(value: Any) -> bool:
    """Whether `value` is a string that fits on a line and that UTF-8 can hold."""
    return isinstance(value, str) and value != "" and value.isprintable()


# ---------------------------------------------------------------- refusals


def refuse(number: int, reason: str, cause: Exception | None = None) -> NoReturn:
    """Raise the `RecordError` of line `number`."""
    raise RecordError(f"line {number}: {reason}") from cause


def quoted(value: Any) -> str:
    """`value` as JSON for an error message, cut to `MOST_QUOTED` characters."""
    text = json.dumps(value)
    return text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 3] + "..."
