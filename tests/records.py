"""Records for the tests of both games: played at random or by the clock, read back, damaged and refused.

`python -m tests.records` writes the golden records anew; do that only when the rules, the deal or the names were
meant to change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from siberia_env.common.notation import chronicle_of
from siberia_env.core import engine
from siberia_env.errors import RecordError
from siberia_env.game import GAMES, Variant, find_game
from siberia_env.records import Record, play_and_record, read_records

FOLDER = Path(__file__).parent / "golden"

#: The golden records' variants and seeds.
GOLDEN_GAMES: dict[str, tuple[Variant, int]] = {
    "card": (find_game("card").variant(3, {"max_turns": 12}), 2034),
    "board": (find_game("board").variant(3, {"max_rounds": 3, "salesman_cards": True}), 2213),
}

DECISION = '{"player": '  #: how the line of a decision begins

Lines: TypeAlias = list[dict[str, Any]]
Damage: TypeAlias = Callable[[Lines], int]  #: damages a record's lines; gives the index of the line to be refused


# ---------------------------------------------------------------- played


def at_random(seed: int) -> Callable[..., int]:
    """A player who takes any legal action."""
    generator = np.random.default_rng(seed)
    return lambda states, i, mask: int(generator.choice(np.flatnonzero(mask)))


def by_the_clock() -> Callable[..., int]:
    """A player without a generator: the legal action that a running number points at."""
    numbers = iter(range(0, 10**9, 7))
    return lambda states, i, mask: int(np.flatnonzero(mask)[next(numbers) % int(mask.sum())])


def at_setup(variant: Variant) -> Any:
    """A game whose setup is due."""
    states = variant.new_states()
    chronicle_of(variant.game).open_box(variant, states, 0, np.uint64(1))
    return states


def steps(variant: Variant, seed: int) -> Iterator[tuple[Any, int, Any]]:
    """A game at random: each state, the action taken, and the state right after it, chance not yet settled."""
    player = at_random(seed)
    states, mask = variant.new_states(), np.zeros(variant.game.num_actions, np.int8)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(seed), 0, 0)
    while not engine.is_over_at(variant.rulesets, states, 0):
        engine.legal_at(variant.rulesets, states, 0, mask)
        before, action = states.copy(), player(states, 0, mask)
        engine.advance_at(variant.rulesets, states, 0, action)
        yield before, action, states.copy()
        while engine.is_chance_at(variant.rulesets, states, 0):
            engine.resolve_at(variant.rulesets, states, 0)


def ill_formed(variant: Variant, order: list[int]) -> Iterator[tuple[str, Any]]:
    """What is no sequence of as many integers as the outcome `order` has."""
    yield "one less", order[:-1]
    yield "too long", order + [0] * variant.game.outcome_size
    yield "floats", [float(entry) for entry in order]
    yield "truth values", [bool(entry) for entry in order]
    yield "two dimensions", [order]
    yield "names", [str(entry) for entry in order]
    yield "nothing", None


def random_record(variant: Variant, seed: int) -> Record:
    """A game of random players."""
    return play_and_record(variant, at_random(seed), seed, ["random"] * variant.num_players)


def golden_record(game: str) -> Record:
    """A short game, and the same one everywhere."""
    variant, seed = GOLDEN_GAMES[game]
    return play_and_record(variant, by_the_clock(), seed, ["clock", "clock", "Uhr Ω"])


def golden_path(game: str) -> Path:
    """The file that keeps the golden record of a game."""
    return FOLDER / f"{game}_record.jsonl"


def golden_text(game: str) -> str:
    """The golden record as it is kept."""
    return golden_path(game).read_text(encoding="utf-8")


def golden_texts(game: str) -> list[str]:
    """The same in lines, each with its end."""
    return golden_text(game).splitlines(keepends=True)


def without_seed(record: Record) -> Record:
    """The same game under a seed that does not bring it about: every outcome has to be forced."""
    return Record(({**record.header, "seed": record.header["seed"] + 1}, *record.lines[1:]))


def seen_by_all(variant: Variant, states: Any) -> bytes:
    """Every seat's observation of `states[0]`."""
    observation = np.zeros(variant.game.observation_size, np.float32)
    seen = []
    for player in range(variant.num_players):
        engine.observe_at(variant.rulesets, states, 0, player, observation)
        seen.append(observation.tobytes())
    return b"".join(seen)


# ---------------------------------------------------------------- written and read


def as_text(lines: Any) -> str:
    """The lines of a record as they stand in a file."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_text(folder: Path, text: str | bytes) -> list[Record]:
    """The records in a file with this text."""
    path = folder / "games.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_records(path))


def refused(folder: Path, text: str | bytes, number: int) -> str:
    """The refusal of `text`, which has to name line `number` and leave the file as it is."""
    with pytest.raises(RecordError) as caught:
        read_text(folder, text)
    message = str(caught.value)
    assert message.startswith(f"line {number}: "), message
    assert (folder / "games.jsonl").read_bytes() == (text.encode() if isinstance(text, str) else text)
    return message


def refused_at_once(folder: Path, texts: list[str], at: int, removed: int, inserted: list[str], ahead: int) -> int:
    """Put `inserted` in place of `removed` lines from index `at` on; give the number of the line that is refused.

    `texts` are the lines of a sound record. The rest of the game is left out but for the next decisions (so many
    as `ahead` says) and the end line, so that little has to be read. That end line would be refused in any game cut
    short, so the refusal has to name a line before it.
    """
    behind = at + removed
    decisions = [index for index in range(behind, len(texts)) if texts[index].startswith(DECISION)]
    stop = decisions[ahead - 1] + 1 if len(decisions) >= ahead else len(texts)
    kept = [*texts[:at], *inserted, *texts[behind:stop]]
    cut = [texts[-1]] if stop < len(texts) else []
    with pytest.raises(RecordError, match=r"^line \d+: ") as caught:
        read_text(folder, "".join(kept + cut))
    number = int(str(caught.value).removeprefix("line ").partition(":")[0])
    assert number <= len(kept), f"{caught.value}; lines {at + 1} to {behind} are {inserted}"
    return number


# ---------------------------------------------------------------- damaged


def check_damage(folder: Path, game: str, change: Damage, reason: str) -> None:
    """See that the golden record, damaged by `change`, is refused for `reason`, on the line that `change` names."""
    lines = golden_lines(game)
    at = change(lines)
    assert reason in refused(folder, as_text(lines), at + 1)


def fresh_lines(record: Record) -> Lines:
    """The lines of a record, to be changed."""
    return [json.loads(text) for text in as_text(record.lines).splitlines()]


def golden_lines(game: str) -> Lines:
    """The lines of a game's golden record, to be changed."""
    return [json.loads(text) for text in golden_text(game).splitlines()]


def decision_line(lines: Lines) -> int:
    """Index of the first decision between three actions or more, after a chance line in the midst of the game."""
    start = event_line(lines, "draw")
    return next(at for at, line in enumerate(lines) if at > start and len(line.get("legal", ())) > 2)


def event_line(lines: Lines, event: str) -> int:
    """Index of the first line of that event."""
    return next(at for at, line in enumerate(lines) if line.get("event") == event)


def change_decision(key: str, value: Any) -> Damage:
    """Give a decision another value, or what a function makes of its value."""

    def damage(lines: Lines) -> int:
        at = decision_line(lines)
        lines[at][key] = value(lines[at][key]) if callable(value) else value
        return at

    return damage


def change_event(event: str, key: str, value: Any) -> Damage:
    """Give the first line of an event another value, or what a function makes of its value."""

    def damage(lines: Lines) -> int:
        at = event_line(lines, event)
        lines[at][key] = value(lines[at][key]) if callable(value) else value
        return at

    return damage


def insert(what: dict[str, Any], after: Callable[[Lines], int]) -> Damage:
    """A line that has no place there."""

    def damage(lines: Lines) -> int:
        at = after(lines) + 1
        lines.insert(at, what)
        return at

    return damage


def remove(find: Callable[[Lines], int]) -> Damage:
    """A line that is missing."""

    def damage(lines: Lines) -> int:
        at = find(lines)
        del lines[at]
        return at

    return damage


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every number, name and truth value in a JSON value."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))
    else:
        yield path


def main() -> None:
    """Write the golden records."""
    for game in GAMES:
        golden_path(game).write_text(as_text(golden_record(game).lines), encoding="utf-8")


if __name__ == "__main__":
    main()
