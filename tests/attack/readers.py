"""Damages files of every kind that the suite reads, and sees that each is read or refused in words: a fuzzer.

`EXAMPLES` is how many damaged files hypothesis makes of each kind. It keeps what it finds and makes it small.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from siberia_agents.learned import load_model
from siberia_agents.registry import make_agent
from siberia_env import vector
from siberia_env.errors import SiberiaError
from siberia_env.game import find_game
from siberia_env.position import Position
from siberia_env.records import read_records, write_records
from siberia_experiments.arguments import read_agents, read_rules, read_widths
from siberia_experiments.data.decisions import played_games
from siberia_experiments.data.parquet import read_decisions, told_of, write_games
from siberia_experiments.match import play_games
from siberia_experiments.play.saves import load_game, save_game
from siberia_experiments.play.seat import SeatedGame
from siberia_experiments.record_games import recorded_games
from siberia_experiments.tournament.game import Result
from siberia_experiments.tournament.run import Tournament
from siberia_experiments.training.checkpoint import load_checkpoint, save_checkpoint
from tests.test_agents import small_model

SECONDS = 5.0  #: the longest that reading a damaged file may take


@dataclass(frozen=True)
class Reader:
    """Something that reads what comes from outside.

    Attributes:
        name: what it reads.
        make: writes a whole file into an empty folder, and gives its path.
        read: reads that file, whatever it holds by now; raises `SiberiaError` for what can't be used, nothing else.
    """

    name: str
    make: Callable[[Path], Path]
    read: Callable[[Path], Any]


# ---------------------------------------------------------------- damage


@st.composite
def damage(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """A function that damages a file: cuts, flips, doubles, replaces by what is likely to hurt."""
    edits = draw(
        st.lists(
            st.tuples(
                st.sampled_from(("flip", "cut", "drop", "double", "insert", "number", "swap")),
                st.floats(0, 1, exclude_max=True),
                st.floats(0, 1, exclude_max=True),
                st.sampled_from(NASTY) | st.binary(max_size=8),
            ),
            min_size=1,
            max_size=4,
        )
    )

    def apply(content: bytes) -> bytes:
        for how, start, length, text in edits:
            here = int(start * len(content))
            there = here + int(length**4 * (len(content) - here))
            if how == "flip" and content:
                content = content[:here] + bytes([content[here] ^ 1 << int(8 * length)]) + content[here + 1 :]
            elif how == "cut":
                content = content[:here]
            elif how == "drop":
                content = content[:here] + content[there:]
            elif how == "double":
                content = content[:there] + content[here:there] + content[there:]
            elif how == "insert":
                content = content[:here] + text + content[here:]
            elif how == "number":  # the next number becomes another one
                digits = next((at for at in range(here, len(content)) if content[at : at + 1].isdigit()), None)
                if digits is not None:
                    after = next(
                        (at for at in range(digits, len(content)) if not content[at : at + 1].isdigit()), len(content)
                    )
                    content = content[:digits] + text + content[after:]
            elif how == "swap":
                content = content[there:] + content[here:there] + content[:here]
        return content

    return apply


NASTY = (
    b"-1",
    b"0",
    b"1e400",
    b"-1e400",
    b"NaN",
    b"1.5",
    b"true",
    b"null",
    b'""',
    b"[]",
    b"{}",
    b"[[[[[[[[",
    b"18446744073709551616",
    b"9223372036854775808",
    b"4294967296",
    b"65536",
    b"128",
    b"9" * 4400,
    b"\x00",
    b"\x1b[2J",
    b"\xff\xfe",
    b"\n",
    b'",',
    b"\\ud800",
    b"\xe2\x80\xae",
)

# ---------------------------------------------------------------- the readers


def components(game: str) -> Reader:
    """Component files of a game; what is read has to give playable games."""

    def make(folder: Path) -> Path:
        path = folder / "box.json"
        path.write_text(json.dumps(find_game(game).read_components(None).as_json()), encoding="utf-8")
        return path

    def read(path: Path) -> None:
        variant = find_game(game).variant(3, None, path)
        play_games(variant, [make_agent("random") for _ in range(3)], 2)

    return Reader(f"components of the {game} game", make, read)


def records(game: str) -> Reader:
    """Game records."""

    def make(folder: Path) -> Path:
        path = folder / "games.jsonl"
        rules = {"max_turns": 20} if game == "card" else {"max_rounds": 1}
        agents = [make_agent("random"), make_agent("greedy")]
        write_records(path, recorded_games(find_game(game).variant(2, rules), agents, 1, 5))
        return path

    return Reader(f"records of the {game} game", make, lambda path: list(read_records(path)))


def _save(folder: Path) -> Path:
    game = SeatedGame(find_game("card").variant(2), 1, ["person", "greedy"], 0)
    for _ in range(5):
        game.act(game.position.legal_actions()[0])
    save_game(folder / "a.save.json", game)
    return folder / "a.save.json"


def _model(folder: Path) -> Path:
    path = folder / "model.npz"
    small_model(2).save(path)
    return path


def _read_model(path: Path) -> None:
    model = load_model(path)
    variant = find_game(model.game).variant(model.num_players[0])
    agent = make_agent(f"guided:10:model={path}")
    agent.start(variant, 1)
    agent.act(Position(variant, 1).view())


def _stored_model(folder: Path) -> Path:
    """The same without compression, so that damage gets further than the archive."""
    with zipfile.ZipFile(_model(folder)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    path = folder / "stored.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    (folder / "model.npz").unlink()
    return path


def _checkpoint(folder: Path) -> Path:
    data = {"options": {"game": "card", "rules": {}}, "random": 2**127, "curve": [[1, 0.5]]}
    save_checkpoint(folder / "checkpoint", data, {"a": np.arange(12.0).reshape(3, 4), "b": np.zeros((0, 3), np.int8)})
    return folder / "checkpoint"


def _tournament(folder: Path) -> Tournament:
    return Tournament(find_game("card").variant(2), ["random", "greedy"], 4, folder)


def tournament(name: str) -> Reader:
    """A file in the folder of a tournament. What is refused stays as it is."""

    def make(folder: Path) -> Path:
        planned = _tournament(folder)
        ledger = planned._ledger(planned.digests())
        for game in range(4):
            result = Result(planned.schedule.task(game), (5000, 4000), (1.0, 0.0), -1, "", (10, 10), (0.5, 0.25))
            if game == 2:
                result = Result(planned.schedule.task(game), (5000, 4000), (0.0, 1.0), 0, "why", (10, 10), (0.5, 0.25))
            ledger.add(result)
        ledger.close()
        return folder / name

    def read(path: Path) -> None:
        planned = _tournament(path.parent)
        before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
        try:
            ledger = planned._ledger(planned.digests())
        except SiberiaError:
            assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
            raise
        ledger.close()

    return Reader(f"{name} of a tournament", make, read)


def snapshot(game: str) -> Reader:
    """The states in a snapshot, with a digest that fits: only those that stay inside their tables are played on."""

    def make(folder: Path) -> Path:
        env = vector.make(game, num_envs=1, num_players=3)
        step = env.reset()
        for _ in range(40):
            step = env.step(step.mask.argmax(axis=1))
        (folder / "states").write_bytes(env.states.tobytes())
        return folder / "states"

    def read(path: Path) -> None:
        variant = find_game(game).variant(3)
        Position.deserialize(variant, path.read_bytes())

    return Reader(f"states of the {game} game", make, read)


def words(name: str, whole: str, read: Callable[[str], Any]) -> Reader:
    """A part of the command line."""

    def make(folder: Path) -> Path:
        (folder / "words").write_text(whole, encoding="utf-8")
        return folder / "words"

    return Reader(name, make, lambda path: read(path.read_bytes().decode(errors="replace")))


def _rules(text: str) -> None:
    for game in ("card", "board"):
        find_game(game).variant(2, read_rules(text))


def _specs(text: str) -> None:
    for spec in read_agents(text):
        if ":" not in spec or spec.split(":")[0] in ("search", "guided", "learned", "greedy", "random"):
            make_agent(spec)


def _table(folder: Path) -> Path:
    variant = find_game("card").variant(2, {"max_turns": 4})
    games = played_games(variant, [make_agent("random"), make_agent("search:4")], 2, 7)
    write_games(folder / "games.parquet", variant, games, told_of(variant, ["random", "search"], 2, 7))
    return folder / "games.parquet"


READERS = (
    components("card"),
    components("board"),
    records("card"),
    records("board"),
    Reader("saved games", _save, load_game),
    Reader("tables of decisions", _table, read_decisions),
    Reader("models", _model, _read_model),
    Reader("models, not compressed", _stored_model, _read_model),
    Reader("checkpoints", _checkpoint, load_checkpoint),
    *(tournament(name) for name in ("games.csv", "moves.csv", "forfeits.csv", "settings.json", "agents.json")),
    snapshot("card"),
    snapshot("board"),
    words("--rules", "edition=oya,max_turns=200,sides=random,salesman_cards=true,max_rounds=12", _rules),
    words("--agents", "search:100:exploration=0.5:threads=1,guided:10:first_play=0.1,learned:temperature=1", _specs),
    words("--network", "256,256", read_widths),
)

# ---------------------------------------------------------------- the fuzzer


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder."""
    made = Path(tempfile.mkdtemp())
    try:
        yield made
    finally:
        shutil.rmtree(made)


def fuzz(reader: Reader, examples: int) -> tuple[int, int]:
    """Damage what `reader` reads `examples` times; return how many were refused, and how many were read all the same.

    Raises:
        Exception: whatever a reader raised that is no `SiberiaError`, or an `AssertionError` if it took too long.
    """
    counts = [0, 0]
    with folder() as kept:
        whole = reader.make(kept)
        originals = {path.name: path.read_bytes() for path in kept.iterdir()}

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        derandomize=True,
    )
    @given(damage())
    def attack(apply: Callable[[bytes], bytes]) -> None:
        with folder() as here:
            for name, content in originals.items():
                (here / name).write_bytes(content)
            path = here / whole.name
            path.write_bytes(apply(originals[whole.name]))
            started = time.monotonic()
            try:
                reader.read(path)
                counts[1] += 1
            except SiberiaError:
                counts[0] += 1
            assert time.monotonic() - started < SECONDS

    before = os.getcwd()
    try:
        attack()
    finally:
        os.chdir(before)
    return counts[0], counts[1]
