"""Reading records, and playing them again: every line has to be what the rules give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from siberia_env.common.notation import Line, chronicle_of
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant, copy_states
from siberia_env.position import Position
from siberia_env.records.format import (
    MOST_LINES,
    Record,
    check_form,
    check_header,
    parse_line,
    quoted,
    raw_lines,
    refuse,
)
from siberia_env.records.recorder import carry_out, end_line, settle_all


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


def read_records(path: str | Path) -> Iterator[Record]:
    """The records in the file `path`, one at a time, each checked from its first line to its last (`replay`).

    Raises:
        ConfigurationError: the file can't be read (raised, like the next one, when a record is asked for).
        RecordError: the number of the first line that can't be, and why.
    """
    lines: list[Line] = []
    number = first = 0
    for number, raw in enumerate(raw_lines(path), start=1):
        line = parse_line(raw, number)
        if not lines:
            check_header(line, number)
            first = number
        elif "format" in line:
            refuse(number, f"a new header, but the game that began on line {first} has no end line")
        lines.append(line)
        if len(lines) > MOST_LINES:
            refuse(number, f"the game that began on line {first} has more than {MOST_LINES} lines")
        if line.get("event") == "end":
            record = Record(tuple(lines), first)
            replay(record)
            yield record
            lines = []
    if number == 0:
        refuse(1, "the file is empty; a record starts with its header")
    if lines:
        refuse(number, f"the file stops here, but the game that began on line {first} has no end line")


def replay(record: Record) -> list[Decision]:
    """Play a record again and check every line of it; give its decisions.

    Where the header's seed brings about the recorded outcomes, the states are those of the game that was
    recorded, byte for byte. Otherwise the outcomes are forced, and what nobody ever saw (cards below the last
    one drawn) is filled up in a fixed order.

    Raises:
        RecordError: the number of a line that the rules contradict, and why. An outcome that could have been
            otherwise is taken as recorded.
    """
    variant = check_form(record)
    try:
        return _Replay(record, variant, forced=False).run()
    except _SeedDiffers:
        return _Replay(record, variant, forced=True).run()


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
        for event in settle_all(self.position, self.chronicle, self.settle):
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
            refuse(number, f"expected {self.chronicle.outline(event)}; got {quoted(line)}")
        self.at += 1

    def decide(self) -> Decision:
        """Pass the next line, which has to be a decision, and those of the chance outcomes that follow."""
        variant, position, before = self.variant, self.position, copy_states(self.position.states)
        number, line = self.lines[self.at]
        player = position.current_player()
        if line.get("event") == "end":
            refuse(number, f"the record ends here, but the game goes on: player {player} is on turn")
        if "event" in line:
            refuse(number, f"expected a decision of player {player}; got {quoted(line)}")
        mask, legal = position.action_mask(), position.legal_action_names()
        name = line["action"]
        if line["player"] != player:
            refuse(number, f"player {line['player']} acts, but player {player} is on turn")
        if name not in legal:
            fault = f"{name!r} is not legal" if _is_action(variant, name) else f"no action {quoted(name)}"
            refuse(number, f"{fault}; legal are {', '.join(legal)}")
        if legal != line["legal"]:
            missing = [allowed for allowed in legal if allowed not in line["legal"]]
            wrong = [given for given in line["legal"] if given not in legal]
            why = f"missing {quoted(missing)}, wrong {quoted(wrong)}" if missing or wrong else "order or repetition"
            refuse(number, f"legal: expected the {len(legal)} legal actions in action order; {why}")
        action = int(np.flatnonzero(mask)[legal.index(name)])
        self.at += 1
        events = []
        for event in carry_out(position, self.chronicle, action, self.settle):
            self.expect(event)
            events.append(event)
        after = copy_states(position.states)
        return Decision(number, before, player, action, name, mask, tuple(legal), tuple(events), after)

    def end(self) -> None:
        """Pass the last line: the end of the game, with the scores and winners that the rules give."""
        number, line = self.lines[self.at]
        if line.get("event") != "end":
            refuse(number, f"expected the end line, for the game is over; got {quoted(line)}")
        for key, value in end_line(self.position).items():
            if line[key] != value:
                refuse(number, f"{key}: expected {quoted(value)}; got {quoted(line[key])}")


def _is_action(variant: Variant, name: str) -> bool:
    try:
        variant.action_number(name)
    except ConfigurationError:
        return False
    return True
