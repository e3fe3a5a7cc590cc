"""Playing a game and writing it down at the same time, and writing records into a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.common.notation import Chronicle, Line, chronicle_of
from siberia_env.core.rng import check_seed
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant, copy_states
from siberia_env.position import Position
from siberia_env.records.format import DECISION_KEYS, END_KEYS, FORMAT, HEADER_KEYS, Record, is_name


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
        if isinstance(agents, str) or len(names) != variant.num_players or not all(map(is_name, names)):
            raise ConfigurationError(f"agents: expected {variant.num_players} names, one a seat; got {agents!r}")
        self.variant = variant
        self.position = Position(variant, int(checked_seed), explicit_chance=True)
        self._chronicle = chronicle_of(variant.game)
        header = (FORMAT, variant.game.name, variant.num_players, int(seed), variant.rules_as_json())
        self._lines: list[Line] = [dict(zip(HEADER_KEYS, (*header, variant.components.as_json(), names), strict=True))]
        self._lines.extend(settle_all(self.position, self._chronicle, self.position.settle_chance))
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
        self._lines.extend(carry_out(position, self._chronicle, chosen, position.settle_chance))
        self._look()

    def record(self) -> Record:
        """The finished game's record.

        Raises:
            ConfigurationError: the game is not over.
        """
        if not self.over:
            raise ConfigurationError("record: the game is not over")
        return Record((*self._lines, end_line(self.position)))

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
        recorder.act(choose(copy_states(recorder.states), 0, recorder.mask.copy()))
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


# ---------------------------------------------------------------- a step, and the lines that it makes


def carry_out(
    position: Position, chronicle: Chronicle, action: int, settle: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    """Take a legal action; give the chance lines that follow."""
    before = copy_states(position.states)
    position.apply_action(action)
    yield from chronicle.events(position.variant, before, position.states)
    yield from settle_all(position, chronicle, settle)


def settle_all(position: Position, chronicle: Chronicle, settle: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """Settle what is due by chance by `settle`, the deal too; give the lines as they come."""
    while position.is_chance_node():
        yield from chronicle.due_events(position.variant, position.states, 0)
        before = copy_states(position.states)
        settle()
        yield from chronicle.events(position.variant, before, position.states)


def end_line(position: Position) -> dict[str, Any]:
    """The line that ends the record of a finished game."""
    end = ("end", position.scores(), position.winners(), position.has_hit_limit())
    return dict(zip(END_KEYS, end, strict=True))
