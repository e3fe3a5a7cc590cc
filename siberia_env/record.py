"""Game records: one game in JSON Lines, with every random outcome in it; written, read, replayed.

`play_and_record` plays a game and gives its `Record`; `write_records` and `read_records` keep records in files,
one game after the other; `replay` plays a record again, decision by decision, and refuses one that the rules
contradict; `describe` tells it to a person.

What a chance outcome is called is a game's own business: its chronicle (`siberia_env.common.notation`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from siberia_env.common.notation import Chronicle, Line, chronicle_of
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import States, Variant, find_game, game_names
from siberia_env.position import Position

FORMAT = "siberia-record/1"

HEADER_KEYS = ("format", "game", "num_players", "seed", "rules", "components", "agents")
DECISION_KEYS = ("player", "action", "legal")
END_KEYS = ("event", "scores", "winners", "truncated")

MOST_SHOWN = 100  #: characters of a line that an error message quotes


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
        """The last line: `scores` as people count them (`Game.score_unit`), `winners`, `truncated`."""
        return self.lines[-1]


@dataclass(frozen=True)
class Decision:
    """One decision of a replayed game.

    Attributes:
        line: number of its line in the file.
        states: the state before it, an array of one, the reader's own.
        player: who decided.
        action: what was chosen, as a number.
        name: the same as a name.
        mask: int8 [num_actions], 1 for legal actions.
        legal: the legal actions' names, in action order.
        events: the chance outcomes that followed.
        after: the state after them, an array of one: that of the next decision, or of the game's end.
    """

    line: int
    states: States
    player: int
    action: int
    name: str
    mask: NDArray[np.int8]
    legal: tuple[str, ...]
    events: tuple[Line, ...]
    after: States


# ---------------------------------------------------------------- writing


class Recorder:
    """A game that is played and written down at the same time.

    Attributes:
        variant: what is played.
        position: the game; look at it, don't change it.
        mask: int8 [num_actions], the legal actions of the player on turn; all zero when the game is over.
        player: the seat on turn.
        over: whether the game has ended.
    """

    def __init__(self, variant: Variant, seed: int, agents: Sequence[str]) -> None:
        """Deal the game that `seed` gives (slot 0, episode 0) to `agents`, one name a seat.

        Raises:
            ConfigurationError: the seed is no integer of 64 bits, or the names are not one a seat.
        """
        checked_seed = check_seed(seed)
        names = list(agents)
        if isinstance(agents, str) or len(names) != variant.num_players or not all(map(_is_name, names)):
            raise ConfigurationError(f"agents: expected {variant.num_players} names, one a seat; got {agents!r}")
        self.variant = variant
        self.position = Position(variant, int(checked_seed), explicit_chance=True)
        self._chronicle = chronicle_of(variant.game)
        header = (FORMAT, variant.game.name, variant.num_players, int(seed), variant.rules_as_json())
        self._lines: list[Line] = [dict(zip(HEADER_KEYS, (*header, variant.components.as_json(), names), strict=True))]
        self._lines.extend(_settle_all(self.position, self._chronicle, self.position.settle_chance))
        self._look()

    @property
    def states(self) -> States:
        """The state, an array of one."""
        return self.position.states

    def act(self, action: int) -> None:
        """Take `action` and write it down, with the chance outcomes that follow.

        Raises:
            IllegalActionError: it is not legal now, or no integer; nothing has happened.
        """
        position = self.position
        chosen = position.check_legal(action)
        decision = (self.player, position.action_to_string(chosen), position.legal_action_names())
        self._lines.append(dict(zip(DECISION_KEYS, decision, strict=True)))
        self._lines.extend(_carry_out(position, self._chronicle, chosen, position.settle_chance))
        self._look()

    def record(self) -> Record:
        """The finished game's record.

        Raises:
            ConfigurationError: the game is not over.
        """
        if not self.over:
            raise ConfigurationError("record: the game is not over")
        return Record((*self._lines, _end_line(self.position)))

    def _look(self) -> None:
        self.mask = self.position.action_mask()
        self.over = self.position.is_terminal()
        if not self.over:
            self.player = self.position.current_player()


def play_and_record(
    variant: Variant,
    choose: Callable[[States, int, NDArray[np.int8]], int],
    seed: int,
    agents: Sequence[str],
) -> Record:
    """Play one game and record it.

    Args:
        variant: what is played.
        choose: gives the action for `choose(states, i, mask)`: the state is `states[i]` (a copy), `mask` its
            legal actions (int8 [num_actions], a copy).
        seed: decides every chance outcome.
        agents: the names of who plays, one a seat, for the header.

    Raises:
        ConfigurationError: see `Recorder`.
        IllegalActionError: `choose` gave an action that is not legal.
    """
    recorder = Recorder(variant, seed, agents)
    while not recorder.over:
        recorder.act(choose(recorder.states.copy(), 0, recorder.mask.copy()))
    return recorder.record()


def write_records(path: str | Path, records: Iterable[Record]) -> int:
    """Write `records` one after the other into the file `path`, whole or not at all; return how many.

    The records may be played while they are written: the file appears under its name when the last one is in
    it, and whatever stops the writing leaves what was there before.

    Raises:
        ConfigurationError: the file can't be written.
    """
    target = Path(os.path.realpath(path))
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    written = 0
    try:
        if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
            raise PermissionError(0, "it is no file that may be overwritten")
        with half.open("x", encoding="utf-8", newline="\n") as file:
            try:
                for record in records:
                    for line in record.lines:
                        file.write(json.dumps(line, ensure_ascii=False) + "\n")
                    written += 1
                file.flush()
                os.fsync(file.fileno())
                half.replace(target)
            except BaseException:
                half.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise ConfigurationError(f"records: can't write {path}: {error.strerror or error}") from error
    return written


# ---------------------------------------------------------------- reading


def read_records(path: str | Path) -> Iterator[Record]:
    """The records in the file `path`, one at a time, each checked from its first line to its last (`replay`).

    Raises:
        ConfigurationError: the file can't be read (raised, like the next one, when a record is asked for).
        RecordError: the number of the first line that can't be, and why.
    """
    lines: list[Line] = []
    number = first = 0
    for number, raw in enumerate(_raw_lines(path), start=1):
        line = _parse(raw, number)
        if not lines:
            _check_header(line, number)
            first = number
        elif "format" in line:
            _refuse(number, f"a new header, but the game that began on line {first} has no end line")
        lines.append(line)
        if line.get("event") == "end":
            record = Record(tuple(lines), first)
            replay(record)
            yield record
            lines = []
    if number == 0:
        _refuse(1, "the file is empty; a record starts with its header")
    if lines:
        _refuse(number, f"the file stops here, but the game that began on line {first} has no end line")


def replay(record: Record) -> list[Decision]:
    """Play a record again and check every line of it; give its decisions.

    Where the header's seed brings about the recorded outcomes, the states are those of the game that was
    recorded, byte for byte. Otherwise the outcomes are forced, and what nobody ever saw (cards below the last
    one drawn) is filled up in a fixed order.

    Raises:
        RecordError: the number of a line that the rules contradict, and why. An outcome that could have been
            otherwise is taken as recorded.
    """
    variant = _check_form(record)
    try:
        return _Replay(record, variant, forced=False).run()
    except _SeedDiffers:
        return _Replay(record, variant, forced=True).run()


def record_variant(record: Record) -> Variant:
    """What was played: game, players, rules and components of the header.

    Raises:
        RecordError: the header is wrong.
    """
    return _check_header(record.header, record.first_line)


def describe(record: Record, comment: Callable[[Decision], str] | None = None) -> Iterator[str]:
    """The record in lines for a reader: who played what, what chance brought, how it ended.

    Args:
        record: what to tell.
        comment: gives a text to put under a decision, or none.

    Raises:
        RecordError: see `replay`.
    """
    decisions = replay(record)
    variant, header, end = record_variant(record), record.header, record.end
    chronicle = chronicle_of(variant.game)
    agents = header["agents"]
    options = ", ".join(f"{name} {_told(value)}" for name, value in header["rules"].items())
    yield f"{variant.game.title}, {variant.num_players} players, {options}, seed {header['seed']}"
    yield ", ".join(f"player {player}: {name}" for player, name in enumerate(agents))
    for event in takewhile(lambda line: "event" in line, record.lines[1:]):
        yield from (f"  {text}" for text in chronicle.describe_event(event))
    for decision in decisions:
        player, notes = decision.player, []
        if remark := chronicle.remark(variant, decision.states, decision.after, decision.action):
            notes.append(remark)
        before, after = (
            Position.from_states(variant, states).scores()[player] for states in (decision.states, decision.after)
        )
        if before != after:
            notes.append(f"score {after}")
        yield f"player {player} ({agents[player]}): {decision.name}" + (f" [{'; '.join(notes)}]" if notes else "")
        if comment is not None and (text := comment(decision)):
            yield f"    {text}"
        for event in decision.events:
            yield from (f"  {text}" for text in chronicle.describe_event(event))
    totals = ", ".join(f"player {player} ({agents[player]}) {total}" for player, total in enumerate(end["scores"]))
    yield ("the game is broken off at its limit: " if end["truncated"] else "the game is over: ") + totals
    yield "won by " + " and ".join(f"player {player} ({agents[player]})" for player in end["winners"])


# ---------------------------------------------------------------- a step, and the lines that it makes


def _carry_out(
    position: Position, chronicle: Chronicle, action: int, settle: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    """Take a legal action; give the chance lines that follow."""
    before = position.states.copy()
    position.apply_action(action)
    yield from chronicle.events(position.variant, before, position.states)
    yield from _settle_all(position, chronicle, settle)


def _settle_all(position: Position, chronicle: Chronicle, settle: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """Settle what is due by chance by `settle`, the deal too; give the lines as they come."""
    while position.is_chance_node():
        yield from chronicle.due_events(position.variant, position.states, 0)
        before = position.states.copy()
        settle()
        yield from chronicle.events(position.variant, before, position.states)


def _end_line(position: Position) -> dict[str, Any]:
    end = ("end", position.scores(), position.winners(), position.is_truncated())
    return dict(zip(END_KEYS, end, strict=True))


def _is_action(variant: Variant, name: str) -> bool:
    try:
        variant.action_number(name)
    except ConfigurationError:
        return False
    return True


# ---------------------------------------------------------------- the form of a record


def _refuse(number: int, reason: str, cause: Exception | None = None) -> NoReturn:
    raise RecordError(f"line {number}: {reason}") from cause


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."


def _told(value: Any) -> str:
    """The value of a rule option, for a reader."""
    if isinstance(value, list):
        return " + ".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _is_name(value: Any) -> bool:
    """Whether `value` is a string that fits on a line and that UTF-8 can hold."""
    return isinstance(value, str) and value != "" and value.isprintable()


def _raw_lines(path: str | Path) -> Iterator[bytes]:
    try:
        with Path(path).open("rb") as file:
            yield from file
    except OSError as error:
        raise ConfigurationError(f"records: can't read {path}: {error.strerror or error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return content


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _parse(raw: bytes, number: int) -> Line:
    """The JSON object on a line."""
    try:
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        _refuse(number, f"not UTF-8: {error.reason} at byte {error.start + 1} of the line", error)
    except json.JSONDecodeError as error:
        _refuse(number, f"not JSON: {error.msg} at character {error.pos + 1} of the line", error)
    except (ValueError, RecursionError) as error:
        _refuse(number, f"not JSON: {error}", error)
    if not isinstance(content, dict):
        _refuse(number, f"expected a JSON object; got {_shown(content)}")
    return content


def _check_keys(line: Line, keys: tuple[str, ...], what: str, number: int) -> None:
    if sorted(line) != sorted(keys):
        _refuse(number, f"{what} has the keys {', '.join(keys)}; got {', '.join(map(repr, line)) or 'none'}")


def _check_header(line: Line, number: int) -> Variant:
    """The variant that a header describes."""
    if "format" not in line:
        _refuse(number, f"expected a header, with the keys {', '.join(HEADER_KEYS)}; got {_shown(line)}")
    if line["format"] != FORMAT:
        _refuse(number, f"format {_shown(line['format'])} is not known here; this version reads {FORMAT!r}")
    _check_keys(line, HEADER_KEYS, "a header", number)
    if not isinstance(line["game"], str) or line["game"] not in game_names():
        _refuse(number, f"no game {_shown(line['game'])}; the games are {', '.join(game_names())}")
    if not isinstance(line["rules"], dict):
        _refuse(number, f"rules: expected an object with every option in force; got {_shown(line['rules'])}")
    game = find_game(line["game"])
    try:
        check_seed(line["seed"])
        components = chronicle_of(game).read_components(line["components"])
        variant = game.variant(line["num_players"], line["rules"], components)
    except ConfigurationError as error:
        _refuse(number, str(error), error)
    if line["rules"] != (in_force := variant.rules_as_json()):
        _refuse(number, f"rules: expected every option in force, as in {_shown(in_force)}")
    agents = line["agents"]
    if not isinstance(agents, list) or len(agents) != variant.num_players or not all(map(_is_name, agents)):
        _refuse(number, f"agents: expected {variant.num_players} names, one a seat; got {_shown(agents)}")
    return variant


def _check_form(record: Record) -> Variant:
    """Check every line's keys, types and names; give the variant played."""
    if not record.lines:
        _refuse(record.first_line, "the record is empty; it starts with its header")
    variant = _check_header(record.header, record.first_line)
    chronicle = chronicle_of(variant.game)
    last = len(record.lines) - 1
    for index, line in enumerate(record.lines[1:], start=1):
        number = record.first_line + index
        event = line.get("event")
        if index == 1 and event != "setup":
            _refuse(number, f"expected the setup line; got {_shown(line)}")
        if index > 1 and event == "setup":
            _refuse(number, "a second setup line")
        if event == "end":
            _check_end(line, variant, number)
            if index < last:
                _refuse(number + 1, f"a line after the end of the game: {_shown(record.lines[index + 1])}")
        elif "event" in line:
            try:
                chronicle.check_event(variant, line)
            except ConfigurationError as error:
                _refuse(number, str(error), error)
        else:
            _check_decision(line, number)
    if record.end.get("event") != "end":
        _refuse(record.first_line + last, "the record stops here without an end line")
    return variant


def _check_decision(line: Line, number: int) -> None:
    _check_keys(line, DECISION_KEYS, "a decision", number)
    if type(line["player"]) is not int:
        _refuse(number, f"player: expected a seat number; got {_shown(line['player'])}")
    if not isinstance(line["action"], str):
        _refuse(number, f"action: expected an action's name; got {_shown(line['action'])}")
    if not isinstance(line["legal"], list) or not all(isinstance(name, str) for name in line["legal"]):
        _refuse(number, f"legal: expected a list of names; got {_shown(line['legal'])}")


def _check_end(line: Line, variant: Variant, number: int) -> None:
    _check_keys(line, END_KEYS, "the end line", number)
    for key in ("scores", "winners"):
        if not isinstance(line[key], list) or not all(type(value) is int for value in line[key]):
            _refuse(number, f"{key}: expected a list of whole numbers; got {_shown(line[key])}")
    if len(line["scores"]) != variant.num_players:
        _refuse(number, f"scores: expected {variant.num_players}, one a seat; got {_shown(line['scores'])}")
    if not isinstance(line["truncated"], bool):
        _refuse(number, f"truncated: expected true or false; got {_shown(line['truncated'])}")


# ---------------------------------------------------------------- playing a record again


class _SeedDiffers(Exception):
    """The header's seed does not bring about what the record says."""


class _Replay:
    """One walk through a record whose form has been checked, its outcomes from the seed or `forced`."""

    def __init__(self, record: Record, variant: Variant, forced: bool) -> None:
        self.variant = variant
        self.forced = forced
        self.chronicle = chronicle_of(variant.game)
        self.lines = list(enumerate(record.lines, start=record.first_line))
        self.at = 1  # index of the line that comes next
        self.position = Position(variant, record.header["seed"], explicit_chance=True)

    def run(self) -> list[Decision]:
        """Every decision, or the first thing that can't be."""
        decisions = []
        for event in _settle_all(self.position, self.chronicle, self.settle):
            self.expect(event)
        while not self.position.is_terminal():
            decisions.append(self.decide())
        self.end()
        return decisions

    def settle(self) -> None:
        """Settle the chance outcome that is due: as the coming lines say, or from the seed."""
        lines, states = self.lines[self.at :], self.position.states
        self.position.settle_chance(self.chronicle.outcome(self.variant, states, 0, lines) if self.forced else None)

    def expect(self, event: Line) -> None:
        """Pass the next line, which has to be `event`."""
        number, line = self.lines[self.at]
        if line != event:
            if not self.forced:
                raise _SeedDiffers
            _refuse(number, f"expected {self.chronicle.outline(event)}; got {_shown(line)}")
        self.at += 1

    def decide(self) -> Decision:
        """Pass the next line, which has to be a decision, and those of the chance outcomes that follow."""
        variant, position, before = self.variant, self.position, self.position.states.copy()
        number, line = self.lines[self.at]
        player = position.current_player()
        if line.get("event") == "end":
            _refuse(number, f"the record ends here, but the game goes on: player {player} is on turn")
        if "event" in line:
            _refuse(number, f"expected a decision of player {player}; got {_shown(line)}")
        mask, legal = position.action_mask(), position.legal_action_names()
        name = line["action"]
        if line["player"] != player:
            _refuse(number, f"player {line['player']} acts, but player {player} is on turn")
        if name not in legal:
            fault = f"{name!r} is not legal" if _is_action(variant, name) else f"no action {_shown(name)}"
            _refuse(number, f"{fault}; legal are {', '.join(legal)}")
        if legal != line["legal"]:
            missing = [allowed for allowed in legal if allowed not in line["legal"]]
            wrong = [given for given in line["legal"] if given not in legal]
            why = f"missing {_shown(missing)}, wrong {_shown(wrong)}" if missing or wrong else "order or repetition"
            _refuse(number, f"legal: expected the {len(legal)} legal actions in action order; {why}")
        action = int(np.flatnonzero(mask)[legal.index(name)])
        self.at += 1
        events = []
        for event in _carry_out(position, self.chronicle, action, self.settle):
            self.expect(event)
            events.append(event)
        after = position.states.copy()
        return Decision(number, before, player, action, name, mask, tuple(legal), tuple(events), after)

    def end(self) -> None:
        """Pass the last line: the end of the game, with the scores and winners that the rules give."""
        number, line = self.lines[self.at]
        if line.get("event") != "end":
            _refuse(number, f"expected the end line, for the game is over; got {_shown(line)}")
        for key, value in _end_line(self.position).items():
            if line[key] != value:
                _refuse(number, f"{key}: expected {_shown(value)}; got {_shown(line[key])}")
