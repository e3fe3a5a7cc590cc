"""Whatever a file or a command line holds: one line and exit code 2, at once, and no more memory than that takes."""

from __future__ import annotations

import copy
import csv
import io
import os
import pickle
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_agents.learned import LARGEST, best_actions
from siberia_agents.random_agent import RandomAgent
from siberia_agents.search.agent import Budget
from siberia_agents.search.guided import GuidedAgent
from siberia_env import files, vector
from siberia_env.common.components import LARGEST as LARGEST_COMPONENTS
from siberia_env.errors import ConfigurationError, IllegalActionError, ModelError, SiberiaError
from siberia_env.game import GAMES, find_game
from siberia_env.gym import SiberiaEnv
from siberia_env.position import Position
from siberia_env.view import view_games, view_state
from siberia_experiments.cli import main
from siberia_experiments.faults import one_line, printable
from siberia_experiments.play.saves import save_game
from siberia_experiments.play.seat import SeatedGame
from siberia_experiments.play.sit_down import new_files
from siberia_experiments.tournament.game import Result
from siberia_experiments.tournament.run import Tournament
from tests.games import GameCase
from tests.test_agents import small_model

Refused = Callable[..., str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Refused:
    """Run a command in an empty folder and give the one line that it is refused with."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if not line.startswith("siberia_env: compiling")]
        assert out == ""
        assert len(lines) == 1
        assert lines[0].isprintable()
        assert len(lines[0]) < 2100
        return lines[0]

    return run


# ---------------------------------------------------------------- files


def test_only_so_much_of_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert files.read_bytes(path, 5) == b"12345"
    for source, most in ((path, 4), (Path("/dev/zero"), 10**6), (tmp_path, 10)):
        with pytest.raises(OSError, match=r"holds more than|directory"):
            files.read_bytes(source, most)


def test_a_pipe_that_nobody_writes_to_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert files.read_bytes(tmp_path / "pipe", 10) == b""
    ends = os.pipe()
    os.write(ends[1], b"through a pipe")
    os.close(ends[1])
    assert files.read_bytes(f"/dev/fd/{ends[0]}", 100) == b"through a pipe"
    os.close(ends[0])


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1, "a": 2}',
        b'{"a": [{"b": 1, "b": 1}]}',
        b"[NaN]",
        b"[-Infinity]",
        b"[" * 100_000,
        b"9" * 5000,
        b"\xff",
        b"",
        b'"\\ud800',
    ],
)
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        files.read_json(text)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"salesman_cards": {}, "salesman_cards": {}}', "the key 'salesman_cards' stands twice"),
        (b'{"salesmen": {}, "salesmen": {}}', "the key 'salesmen' stands twice"),
        (b"[" * 100_000, "nested too deep"),
        (b" " * (LARGEST_COMPONENTS + 1), "it holds more than 1 MB"),
        (b'{"a\x1b[31m": 1}', "not JSON"),
        (b'{"a\\u001b[31m": 1}', "no such table"),
        (b'{"arrows": ' + b"9" * 4000 + b"}", ""),
        (b'{"arrows": 1e999}', ""),
        (b"3", "expected an object"),
    ],
)
def test_component_files_that_mean_harm_are_refused(
    refused: Refused, tmp_path: Path, game: str, content: bytes, message: str
) -> None:
    (tmp_path / "box.json").write_bytes(content)
    assert message in refused("evaluate", game, "--components", "box.json")
    assert "it holds more than" in refused("evaluate", game, "--components", "/dev/zero")


@pytest.mark.parametrize(
    "content",
    [
        b"x" * 3 * 2**20,
        b"[" * 2**20 + b"\n",
        b'{"format": "siberia-record/1", "seed": ' + b"9" * 5000 + b"}\n",
        b'{"format": "siberia-record/1", "format": 2}\n',
        b"\x00" * 100,
        b'{"format": "\\u001b[2J"}\n',
    ],
)
def test_records_that_mean_harm_are_refused(refused: Refused, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "games.jsonl").write_bytes(content)
    assert "line 1: " in refused("replay", "games.jsonl")
    assert "line 1: longer than" in refused("replay", "/dev/zero")


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b'{"format": 1, "format": 1}', b"\xff", b"9" * 5000])
def test_saved_games_that_mean_harm_are_refused(refused: Refused, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.save.json").write_bytes(content)
    assert "is no saved game, or is damaged" in refused("play", "card", "--resume", "a.save.json")
    assert "it holds more than" in refused("play", "card", "--resume", "/dev/zero")


def test_a_saved_game_that_names_a_module_is_asked_about_before_anything_is_imported(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stranger.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    game = SeatedGame(find_game("card").variant(2), 1, ["person", "stranger:Agent"], 0)
    save_game(tmp_path / "a.save.json", game)
    for answer in ("", "n\n", "\n", "no\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        assert main(["play", "card", "--resume", "a.save.json"]) == 2
        out, err = capsys.readouterr()
        assert "stranger:Agent" in out
        assert "nothing was imported" in err
        assert not (tmp_path / "ran").exists()
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["play", "card", "--resume", "a.save.json"]) == 2  # the module has no such agent
    assert (tmp_path / "ran").exists()
    assert "has no class 'Agent'" in capsys.readouterr().err


# ---------------------------------------------------------------- models


def bomb(path: Path, size: int) -> None:
    """A small file that unpacks to `size` zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("0_weight.npy", "w") as entry:
        for _ in range(size >> 20):
            entry.write(bytes(2**20))


def test_models_that_mean_harm_are_refused(refused: Refused, tmp_path: Path) -> None:
    small_model(2).save(tmp_path / "whole.npz")
    with zipfile.ZipFile(tmp_path / "whole.npz") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**9)})
    for number, content in enumerate((header.getvalue(), b"", b"\x93NUMPY" + b"\xff" * 20, b"[" * 10**5)):
        for name in parts:
            path = tmp_path / f"{number}-{name}.npz"
            with zipfile.ZipFile(path, "w") as archive:
                for each, whole in parts.items():
                    archive.writestr(each, content if each == name else whole)
            assert "is not a model of the suite, or is damaged" in refused(
                "evaluate", "card", "--agents", f"learned:{path.name}"
            )
            path.unlink()
    bomb(tmp_path / "bomb.npz", LARGEST + 2**20)
    assert (tmp_path / "bomb.npz").stat().st_size < 2**20
    assert "it unpacks to more than 256 MB" in refused("evaluate", "card", "--agents", "learned:bomb.npz")
    assert "it holds more than 256 MB" in refused("evaluate", "card", "--agents", "learned:/dev/zero")


@pytest.mark.parametrize("size", [3e38, -3e38, 1e30, 1e20])
def test_a_model_with_huge_weights_plays_legal_moves(case: GameCase, size: float) -> None:
    """Its outputs are infinite or no numbers at all."""
    model = small_model(2, 1, case.name)
    huge = [(np.full_like(weight, size), np.full_like(bias, -size)) for weight, bias in model.layers]
    mixed = [(np.sign(weight) * np.float32(abs(size)), bias) for weight, bias in model.layers]
    for layers in (huge, mixed):
        made = replace(model, layers=layers)
        agent = GuidedAgent(30, made, exploration=1e300, first_play=1e300)
        position = Position(case.game.variant(2, case.short), 3)
        agent.start(position.variant, 1)
        for _ in range(12):
            if not position.is_terminal():
                position.apply_action(agent.act(position.view()))


def test_the_best_action_is_legal_whatever_the_logits_are() -> None:
    mask = np.array([[0, 1, 0, 1, 0]], np.int8)
    for value in (np.nan, -np.inf, np.inf, -3e38):
        assert mask[0, best_actions(np.full((1, 5), value, np.float32), mask)[0]] == 1


def test_networks_that_do_not_fit_are_refused_when_a_game_starts(case: GameCase) -> None:
    """A model made in Python is not read from a file, but compiled code reads it all the same."""
    model = small_model(2, 1, case.name)
    (weight, bias), *rest = model.layers
    for layers in (
        [(weight[:-1], bias), *rest],
        [(weight, bias[:-1]), *rest],
        rest,
        [],
        [(weight * np.nan, bias), *rest],
    ):
        with pytest.raises(ModelError, match="damaged"):
            GuidedAgent(10, replace(model, layers=layers)).start(case.game.variant(2))


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "line",
    [
        "evaluate card --games 1" + "0" * 30,
        "evaluate card --games " + "9" * 5000,
        "evaluate card --agents search:1" + "0" * 30,
        "evaluate card --agents search:" + "9" * 5000,
        "evaluate card --agents search:1e300s",
        "evaluate card --agents search:nans",
        "evaluate card --agents search:threads=1000000000",
        "evaluate card --agents search:exploration=1e999",
        "evaluate card --seed 1" + "0" * 30,
        "evaluate card --players " + "9" * 30,
        "evaluate card --rules max_turns=" + "9" * 30,
        "evaluate board --rules max_rounds=" + "9" * 5000,
        "evaluate board --rules sides=" + "/" * 5000,
        "tournament card --jobs 1000000000",
        "tournament card --games 1" + "0" * 30,
        "tournament card --memory 1",
        "tournament card --memory 1" + "0" * 30,
        "tournament card --move-seconds inf",
        "tournament card --move-seconds nan",
        "tournament card --move-seconds 1e300",
        "record card --games 1" + "0" * 30,
        "bench card --seconds inf",
        "bench card --repeats 1" + "0" * 30,
        "demo card --games 1" + "0" * 30,
        "demo card --minutes nan",
        "train card --threads 1000000000",
        "train card --network 1000000000",
        "train card --network " + "9" * 5000,
        "train card --network " + ",".join(["8"] * 1000),
        "train card --minutes inf",
        "train card --learning-rate nan",
        "play card --hints 1" + "0" * 30,
        "play card --seat 1" + "0" * 30,
    ],
)
def test_absurd_numbers_are_refused_at_once(refused: Refused, tmp_path: Path, line: str) -> None:
    refused(*line.split())
    assert list(tmp_path.iterdir()) == []


def test_indices_outside_of_a_batch_are_refused(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=3)
    step = env.reset()
    views = view_games(env.variant, env.states, np.arange(3), step.observation, step.mask, step.player)
    for index in (-1, 3, 2**63, -(2**63), 1.0, True, None, "0"):
        with pytest.raises(ConfigurationError, match="is not the number of one of 3 games"):
            view_state(env.variant, env.states, index)  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match="is not the number of one of 3 games"):
            views.view(index)  # type: ignore[arg-type]
    assert view_state(env.variant, env.states, np.int64(2)).player == views.view(2).player
    for states in (None, env.states[0], np.zeros(3), env.states.reshape(3, 1)):
        with pytest.raises(ConfigurationError, match="expected an array of states"):
            view_state(env.variant, states, 0)  # type: ignore[arg-type]


def test_a_budget_has_limits() -> None:
    assert Budget("100000000").simulations == 10**8
    for text in ("100000001", "1000001s"):
        with pytest.raises(ConfigurationError, match="at most"):
            Budget(text)


# ---------------------------------------------------------------- files in use


def test_a_folder_has_one_holder(tmp_path: Path) -> None:
    lock = files.FolderLock(tmp_path)
    with pytest.raises(BlockingIOError):
        files.FolderLock(tmp_path)
    lock.release()
    files.FolderLock(tmp_path).release()


def test_two_trainings_never_share_a_folder(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    lock = files.FolderLock(tmp_path / "run")
    tail = ("--out", "run", "--decisions", "10")
    for command in (("train", "card", *tail), ("train", "card", "--resume", *tail), ("demo", "card", "--out", "run")):
        assert "another process trains in run" in refused(*command)
    lock.release()


def test_two_sessions_never_share_a_file(refused: Refused, tmp_path: Path) -> None:
    game = SeatedGame(find_game("card").variant(2), 1, ["person", "greedy"], 0)
    save_game(tmp_path / "a.save.json", game)
    before = (tmp_path / "a.save.json").read_bytes()
    lock = files.FileLock("a.save.json")
    assert "another session plays the game in a.save.json" in refused("play", "card", "--resume", "a.save.json")
    assert (tmp_path / "a.save.json").read_bytes() == before
    assert new_files("card", None)[0] == Path("play-card-1.jsonl")
    other = files.FileLock("play-card-1.save.json")
    assert new_files("card", None)[0] == Path("play-card-2.jsonl")
    other.release()
    lock.release()
    assert [path.name for path in tmp_path.iterdir()] == ["a.save.json"]


def test_a_lock_survives_that_its_file_is_replaced_and_ends_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lock = files.FileLock(path)
    files.write_whole(path, [b"new"])
    assert files.in_use(path)
    if (child := os.fork()) == 0:
        os._exit(not files.in_use(path))
    assert os.waitpid(child, 0)[1] == 0
    lock.release()
    assert not files.in_use(path)
    (tmp_path / ".file.lock").touch()  # what a kill leaves behind
    assert not files.in_use(path)


IMPOSSIBLE = [
    ("games.csv", "score", "1" + "0" * 30),
    ("games.csv", "score", "nan"),
    ("games.csv", "win_share", "1e300"),
    ("games.csv", "win_share", "-1"),
    ("games.csv", "win_share", "nan"),
    ("games.csv", "seat", "-1"),
    ("games.csv", "game", "-1"),
    ("games.csv", "forfeit", "2"),
    ("moves.csv", "moves", "-1"),
    ("moves.csv", "moves", "1" + "0" * 30),
    ("moves.csv", "moves", "9" * 5000),
    ("moves.csv", "seconds", "nan"),
    ("moves.csv", "seconds", "inf"),
    ("moves.csv", "seconds", "-1"),
]


@pytest.mark.parametrize(("name", "column", "value"), IMPOSSIBLE)
def test_results_that_can_not_be_are_refused_by_line(tmp_path: Path, name: str, column: str, value: str) -> None:
    tournament = Tournament(find_game("card").variant(2), ["random", "greedy"], 4, tmp_path / "it")
    ledger = tournament._ledger(tournament.digests())
    for game in range(4):
        task = tournament.schedule.task(game)
        ledger.add(Result(task, (5000, 4000), (1.0, 0.0), -1, "", (10, 10), (0.5, 0.25)))
    ledger.close()
    tournament._ledger(tournament.digests()).close()
    path = tmp_path / "it" / name
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    rows[3][rows[0].index(column)] = value
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=r"games\.csv lines [24] to [35] don't hold a game"):
        tournament._ledger(tournament.digests())
    assert path.read_bytes() == before


# ---------------------------------------------------------------- streams and terminals


class Full(io.StringIO):
    """A standard output on a full disk, or one that nobody reads any more."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [(OSError(28, "No space left on device"), 2, True), (BrokenPipeError(32, "Broken pipe"), 1, False)],
)
def test_a_full_or_closed_output_is_no_traceback(
    error: OSError,
    code: int,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdout", Full(error))
    try:
        found = main(["--version"])
    except SystemExit as exit:  # typer ends the program itself when nobody reads
        found = int(str(exit.code))
    assert found == code
    err = capsys.readouterr().err
    assert ("No space left on device" in err, err.count("\n")) == ((True, 1) if told else (False, 0))


def test_a_terminal_obeys_no_name(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    escape = "\x1b[2J\x9b\u202e"
    assert printable(f"a{escape}\nb") == "a\\x1b[2J\\x9b\\u202e\nb"
    assert one_line(f"a{escape}\nb") == "a\\x1b[2J\\x9b\\u202e b"
    assert "\\x1b[2J" in refused("replay", f"{escape}.jsonl")
    monkeypatch.setattr(RandomAgent, "name", f"x{escape}[red]")
    assert main(["evaluate", "card", "--games", "2", "--agents", "random,random"]) == 0
    out = capsys.readouterr().out
    assert "\\x1b[2J" in out
    assert not set(out) & set(escape) - set("[2J")


# ---------------------------------------------------------------- environments after a fault


def test_after_an_opponents_error_only_reset_goes_on(case: GameCase) -> None:
    def fails(observation: Any, mask: Any) -> int:
        raise RuntimeError("no idea")

    env = SiberiaEnv(case.name, num_players=2, opponents=fails, seat=0)

    def play() -> None:
        for _ in range(50):
            env.step(int(np.flatnonzero(env.action_masks())[0]))

    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="no idea"):
        play()
    before = env.aec.state().tobytes()
    for action in (*range(3), -1, None):
        with pytest.raises(IllegalActionError, match=r"an opponent has failed in this game: reset\(\) comes next"):
            env.step(action)
    assert env.aec.state().tobytes() == before
    env.opponents = [None]
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.action_masks())[0]))


def moves(step: vector.Step) -> Any:
    return step.mask.argmax(axis=1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_batch_is_equal_and_independent(case: GameCase, duplicate: Any, threads: int) -> None:
    env = vector.make(case.name, num_envs=4, seed=3, threads=threads)
    step = env.reset()
    for _ in range(20):
        step = env.step(moves(step))
    other = duplicate(env)
    before = other.states.tobytes()
    kept = step.mask.copy()
    for _ in range(20):
        step = env.step(moves(step))
    assert other.states.tobytes() == before
    assert np.array_equal(other._step.mask, kept)
    for _ in range(20):
        other.step(moves(other._step))
    assert other.states.tobytes() == env.states.tobytes()
    env.close()
    other.close()


def test_a_second_thread_in_a_batch_is_refused(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=2)
    step = env.reset()
    actions = moves(step)
    inside, leave = threading.Event(), threading.Event()
    take = env._take

    def slow(*arguments: Any) -> Any:
        inside.set()
        leave.wait(10)
        return take(*arguments)

    env._take = slow  # type: ignore[method-assign]
    thread = threading.Thread(target=env.step, args=(actions,))
    thread.start()
    inside.wait(10)
    before = env.states.tobytes()
    for call in (lambda: env.step(actions), env.reset, lambda: env.restore(env.snapshot())):
        with pytest.raises(SiberiaError, match="another thread"):
            call()
    assert env.states.tobytes() == before
    leave.set()
    thread.join()
    env._take = take  # type: ignore[method-assign]
    env.step(moves(env._step))


def test_a_fork_of_a_batch_with_threads_goes_on(case: GameCase) -> None:
    """The threads stay with the parent; the child starts its own."""
    env = vector.make(case.name, num_envs=4, seed=1, threads=2)
    step = env.reset()
    env.step(moves(step))
    sent, received = os.pipe()
    if (child := os.fork()) == 0:
        env.step(moves(env._step))
        os.write(received, env.states.tobytes())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    theirs = os.read(sent, env.states.nbytes)
    env.step(moves(env._step))
    assert theirs == env.states.tobytes()
    env.close()
    os.close(sent)
    os.close(received)
