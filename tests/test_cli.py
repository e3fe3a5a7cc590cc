"""The command line: every command, help that teaches by examples, bad input in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch as th
from rich.console import Console

from siberia_agents.learned import load_model
from siberia_env.card.game import GAME
from siberia_env.errors import ConfigurationError
from siberia_env.record import read_records
from siberia_experiments import bench as bench_module
from siberia_experiments import demo as demo_module
from siberia_experiments.arena import Interval, play_games
from siberia_experiments.cli import main, read_rules
from siberia_experiments.display import TrainingDisplay, dollars, results_table, short_label
from siberia_experiments.evaluate import line_up
from siberia_experiments.train import CurvePoint, Progress, Training, checkpoint_path
from tests.card.test_components import box
from tests.processes import run_python
from tests.test_agents import small_model
from tests.test_train import shrink

COMMANDS = ("train", "evaluate", "record", "replay", "bench", "demo")
COLUMNS = 80

#: Runs the command line and gives exit code, stdout and stderr without the notice that something compiles.
Siberia = Callable[..., tuple[int, str, str]]


@pytest.fixture
def siberia(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Siberia:
    """The command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(arguments)
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines(keepends=True) if "compiling the rules" not in line]
        return code, out, "".join(lines)

    return run


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Training runs that take no time, whatever the command line asks for."""
    shrink(monkeypatch, num_envs=8, steps=16, batch_size=32, network=(8,), evaluation_games=4)
    threads = th.get_num_threads()
    yield
    th.set_num_threads(threads)


def refused(siberia: Siberia, *arguments: str) -> str:
    """The one line that bad input is answered with."""
    code, out, err = siberia(*arguments)
    assert code == 2
    assert out.strip() == ""
    assert err.startswith("siberia: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err


# ---------------------------------------------------------------- help


def test_without_a_command_the_commands_are_listed(siberia: Siberia) -> None:
    code, out, err = siberia()
    assert (code, err) == (0, "")
    assert all(f" {command} " in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_examples(siberia: Siberia, command: str) -> None:
    code, out, err = siberia(command, "--help")
    assert (code, err) == (0, "")
    assert "Example" in out
    assert f" siberia {command} " in out
    assert max(map(len, out.splitlines())) <= COLUMNS


def test_the_program_itself_runs() -> None:
    done = run_python("-m", "siberia_experiments.cli", "evaluate", "card", "--games", "4")
    assert "greedy" in done.stdout


def test_the_program_itself_ends_with_the_exit_code() -> None:
    done = run_python(
        "-c",
        "import subprocess, sys; p = subprocess.run([sys.executable, '-m', 'siberia_experiments.cli', 'train'], "
        "capture_output=True, text=True); print(p.returncode, p.stderr)",
    )
    assert done.stdout.startswith("2 siberia: Missing argument 'GAME'")


# ---------------------------------------------------------------- what the commands do


def test_evaluate_shows_a_table(siberia: Siberia) -> None:
    code, out, _ = siberia("evaluate", "card", "--agents", "greedy, random", "--games", "40", "--seed", "3")
    assert code == 0
    assert "Siberia: The Card Game, 2 players, 40 games, seats rotated" in out
    expected = play_games(GAME.variant(2), line_up(["greedy", "random"], 2), 40, 3)
    assert any(line.split()[:2] == ["greedy", "random"] for line in out.splitlines())
    assert f" {100 * expected.win_rate(0).value:.1f}% [" in out
    assert dollars(expected.mean_score(1)) in out


def test_evaluate_takes_editions_components_models_and_more_seats(siberia: Siberia, tmp_path: Path) -> None:
    (tmp_path / "box.json").write_text(json.dumps(box()), encoding="utf-8")
    small_model(4).save(tmp_path / "model.npz")
    options = ["--rules", "edition=oya, max_turns=60", "--components", "box.json", "--games", "4", "--players", "4"]
    code, out, _ = siberia("evaluate", "card", "--agents", "learned:model.npz,greedy", *options)
    assert code == 0
    assert "learned:model.npz" in out
    assert "learned, 2 greedy" in out.replace("\n", "")


def test_record_and_replay(siberia: Siberia, tmp_path: Path) -> None:
    options = ["--players", "3", "--agents", "greedy,random", "--games", "3", "--seed", "7"]
    code, out, err = siberia("record", "card", *options, "--out", "games.jsonl")
    assert (code, err) == (0, "")
    assert out.strip() == "games.jsonl: 3 games"
    records = list(read_records(tmp_path / "games.jsonl"))
    assert [record.header["agents"] for record in records] == [["greedy", "random", "random"]] * 3
    siberia("record", "card", *options, "--out", "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "games.jsonl").read_bytes()
    code, out, err = siberia("replay", "games.jsonl")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) > 300
    assert siberia("replay", "--quiet", "games.jsonl") == (0, "games.jsonl: in order\n", "")
    assert siberia("replay", "card", "games.jsonl", "--quiet")[0] == 0


def test_train_leaves_a_run_that_can_be_gone_on_with(siberia: Siberia, tmp_path: Path, tiny: None) -> None:
    options = ["--players", "3", "--threads", "1", "--seed", "5", "--reward", "win", "--rules", "edition=oya"]
    code, out, err = siberia("train", "card", "--decisions", "200", "--out", "runs/mine", *options)
    assert (code, err) == (0, "")
    assert "learned:runs/mine/model.npz" in out
    run = tmp_path / "runs/mine"
    assert {path.name for path in run.iterdir()} == {
        "checkpoint.pt",
        "curve.csv",
        "curve.png",
        "model.npz",
        "tensorboard",
    }
    told = load_model(run / "model.npz").trained
    assert told["decisions"] == 256
    assert (told["options"]["reward"], told["options"]["seed"]) == ("win", 5)
    assert told["rules"]["edition"] == "oya"
    assert siberia("evaluate", "card", "--players", "3", "--agents", "learned:runs/mine/model.npz,random")[0] == 0

    message = refused(siberia, "train", "card", "--decisions", "200", "--out", "runs/mine", *options)
    assert "holds a run; go on with it (--resume)" in message
    assert load_model(run / "model.npz").trained == told

    code, _, _ = siberia("train", "card", "--resume", "--out", "runs/mine", "--decisions", "384", "--threads", "1")
    assert code == 0
    assert load_model(run / "model.npz").trained["decisions"] == 384
    assert siberia("train", "card", "--resume", "--out", "runs/mine")[0] == 0
    for option in (["--players", "3"], ["--seed", "5"], ["--rules", "edition=oya"], ["--reward", "win"]):
        message = refused(siberia, "train", "card", "--resume", "--out", "runs/mine", *option)
        assert f"{option[0]}: a resumed run keeps its own" in message
    assert "minutes: 0" in refused(siberia, "train", "card", "--resume", "--out", "runs/mine", "--minutes", "0")
    both = ["--minutes", "1", "--decisions", "5"]
    assert "one budget" in refused(siberia, "train", "card", "--resume", "--out", "runs/mine", *both)

    checkpoint_path(run).write_bytes(checkpoint_path(run).read_bytes()[:5000])
    assert "is damaged" in refused(siberia, "train", "card", "--resume", "--out", "runs/mine")


def test_an_interrupted_run_tells_how_to_go_on(siberia: Siberia, monkeypatch: pytest.MonkeyPatch, tiny: None) -> None:
    follow = demo_module.follow

    def interrupted(training: Training) -> None:
        training.save()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "follow", interrupted)
    code, out, err = siberia("train", "card", "--decisions", "500", "--threads", "1", "--out", "mine")
    assert (code, err) == (130, "")
    assert out == "stopped; go on from the last checkpoint: siberia train card --resume --out mine\n"
    monkeypatch.setattr(demo_module, "follow", follow)
    assert siberia("train", "card", "--resume", "--decisions", "1", "--out", "mine")[0] == 0


def test_demo_leaves_everything_in_one_folder(siberia: Siberia, tmp_path: Path, tiny: None) -> None:
    code, out, err = siberia("demo", "card", "--minutes", "0.0001", "--games", "6", "--out", "demo")
    assert (code, err) == (0, "")
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "checkpoint.pt",
        "curve.csv",
        "curve.png",
        "game.jsonl",
        "game.txt",
        "model.npz",
        "tensorboard",
    }
    assert "6 games each, seats rotated" in out
    (record,) = read_records(tmp_path / "demo/game.jsonl")
    assert record.header["agents"] == ["learned", "greedy"]
    told = (tmp_path / "demo/game.txt").read_text(encoding="utf-8")
    assert re.search(r"expects to end \$[\d,]+ (ahead of|behind) the others; considers \w+", told)

    (log,) = (tmp_path / "demo/tensorboard").iterdir()
    assert siberia("demo", "card", "--minutes", "0", "--out", "demo")[0] == 2
    assert log.exists()  # a demo that is refused replaces nothing
    assert siberia("demo", "card", "--minutes", "0.0001", "--games", "6", "--out", "demo")[0] == 0
    assert len(list((tmp_path / "demo/tensorboard").iterdir())) == 1


def test_bench_measures_and_shows(siberia: Siberia, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(bench_module, "bench", lambda *arguments: seen.append(arguments))
    assert siberia("bench", "card", "--seconds", "0.5", "--repeats", "3") == (0, "", "")
    assert seen == [(GAME, 0.5, 3)]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dance card", "No such command 'dance'"),
        ("evaluate", "Missing argument 'GAME'"),
        ("evaluate chess", "no game 'chess'; the games are card"),
        ("evaluate card --speed 3", "No such option: --speed"),
        ("evaluate card extra", "extra"),
        ("evaluate card --players two", "Invalid value for '--players'"),
        ("evaluate card --players 1", "num_players: 1"),
        ("evaluate card --players 5", "num_players: 5"),
        ("evaluate card --games 0", "games: 0"),
        ("evaluate card --games -1", "games: -1"),
        ("evaluate card --agents gready,random", "no agent 'gready'; the agents are random, greedy, learned"),
        ("evaluate card --agents greedy,", "no agent ''"),
        ("evaluate card --agents greedy,random,random", "3 named for 2 seats"),
        ("evaluate card --agents learned", "learned:PATH"),
        ("evaluate card --agents random:4", "takes no argument"),
        ("evaluate card --agents learned:nothing.npz", "there is no file nothing.npz"),
        ("evaluate card --agents learned:damaged.npz", "damaged.npz is not a model of the suite, or is damaged"),
        ("evaluate card --players 3 --agents learned:two.npz", "trained for players 2"),
        ("evaluate card --agents random --seed -1", "seed: -1"),
        ("evaluate card --seed 18446744073709551616", "seed: 18446744073709551616"),
        ("evaluate card --rules edition=gold", "no edition 'gold'; the editions are dlp, oya, digital"),
        ("evaluate card --rules oya", "'oya' is not of the form NAME=VALUE"),
        ("evaluate card --rules =oya", "is not of the form NAME=VALUE"),
        ("evaluate card --rules max_turns=", "is not of the form NAME=VALUE"),
        ("evaluate card --rules max_turns=--5", "max_turns: '--5'"),
        ("evaluate card --rules max_turns=0", "max_turns: 0"),
        ("evaluate card --rules max_turns=10,max_turns=20", "max_turns is given twice"),
        ("evaluate card --rules speed=3", "no option 'speed'"),
        ("evaluate card --components nothing.json", "can't read nothing.json"),
        ("evaluate card --components .", "can't read ."),
        ("evaluate card --components damaged.npz", "damaged.npz is not JSON"),
        ("evaluate card --components odd.json", "resource_cards: 35 in all, the box holds 36"),
        ("train card --components odd.json", "resource_cards: 35 in all, the box holds 36"),
        ("demo card --components odd.json", "resource_cards: 35 in all, the box holds 36"),
        ("record chess", "no game 'chess'"),
        ("record card --players 5", "num_players: 5"),
        ("record card --games 0", "games: 0"),
        ("record card --agents random,random,greedy", "3 named for 2 seats"),
        ("record card --agents random --seed -1", "seed: -1"),
        ("record card --agents learned:two.npz --players 4", "trained for players 2"),
        ("record card --out damaged.npz/games.jsonl", "can't write damaged.npz/games.jsonl"),
        ("record card --out .", "can't write ."),
        ("record card --out no/such/folder/games.jsonl", "can't write no/such/folder/games.jsonl"),
        ("replay", "Missing argument"),
        ("replay nothing.jsonl", "nothing.jsonl"),
        ("replay damaged.npz", "line 1"),
        ("replay chess games.jsonl", "no game 'chess'"),
        ("replay card card games.jsonl", "one game and one file"),
        ("bench chess", "no game 'chess'"),
        ("bench card --seconds 0", "--seconds: 0"),
        ("bench card --repeats -1", "--repeats: -1"),
        ("train chess --out new", "no game 'chess'"),
        ("train card --players 1 --out new", "num_players: 1"),
        ("train card --minutes 0 --out new", "minutes: 0"),
        ("train card --minutes -3 --out new", "minutes: -3"),
        ("train card --decisions 0 --out new", "decisions: 0"),
        ("train card --minutes 3 --decisions 5 --out new", "one budget"),
        ("train card --threads 0 --out new", "threads: 0"),
        ("train card --reward money --out new", "no 'money'"),
        ("train card --seed 4294967296 --out new", "seed: 4294967296"),
        ("train card --rules edition=gold --out new", "no edition 'gold'"),
        ("train card --minutes 1 --out damaged.npz", "can't write into damaged.npz"),
        ("train card --minutes 1 --out damaged.npz/below", "can't write into damaged.npz/below"),
        ("train card --resume --out new", "there is no checkpoint in new"),
        ("demo chess --out new", "no game 'chess'"),
        ("demo card --players 5 --out new", "num_players: 5"),
        ("demo card --minutes 0 --out new", "minutes: 0"),
        ("demo card --games 0 --out new", "games: 0"),
        ("demo card --out damaged.npz", "can't write into damaged.npz"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(siberia: Siberia, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "damaged.npz").write_bytes(b"nothing \xff of use")
    small_model(2).save(tmp_path / "two.npz")
    tables = box()
    tables["resource_cards"]["gas"].pop()
    (tmp_path / "odd.json").write_text(json.dumps(tables), encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    assert message in refused(siberia, *line.split())
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_record_is_refused_with_its_line(siberia: Siberia, tmp_path: Path) -> None:
    siberia("record", "card", "--out", "games.jsonl")
    lines = (tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    code, _, err = siberia("replay", "--quiet", "cut.jsonl")
    assert code == 2
    assert err.startswith("siberia: line 40: ")
    assert err.count("\n") == 1


def test_rules_are_read_as_numbers_and_words() -> None:
    assert read_rules("") == {}
    assert read_rules("edition=oya, max_turns = 200 ,") == {"edition": "oya", "max_turns": 200}
    assert read_rules("a=-3,b=3²,c=1.5") == {"a": -3, "b": "3²", "c": "1.5"}
    with pytest.raises(ConfigurationError, match="' ' is not of the form"):
        read_rules("a=1, ,b=2")


# ---------------------------------------------------------------- tables fit


def rendered(table: Any) -> list[str]:
    """The lines of a table on a terminal of 80 columns."""
    console = Console(width=COLUMNS, record=True, file=StringIO())
    console.print(table)
    return console.export_text().splitlines()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_longest_results_stay_on_one_line_each(players: int) -> None:
    results = play_games(GAME.variant(players), line_up(["greedy", "random"], players), 100)
    rows = [("learned:runs/a-folder-with-a-long-name/model.npz", results, 0), ("random", results, 1)]
    lines = rendered(results_table("a title", rows))
    assert len([line for line in lines if "%" in line and "$" in line]) == len(rows)
    assert len(lines) == len(rows) + 3
    assert max(map(len, lines)) <= COLUMNS
    assert "…" not in "".join(lines)


def test_labels_keep_what_tells_models_apart() -> None:
    assert short_label("greedy") == "greedy"
    assert short_label("learned:model.npz") == "learned:model.npz"
    assert short_label("learned:runs/mine/model.npz") == "learned:runs/mine"
    assert short_label("learned:some/where/far/off/mine/model.npz") == "learned:.../off/mine"
    assert dollars(Interval(138_049, 136_449, 139_649)) == "$138 049 ± 1 600"


def test_the_live_table_fits_and_follows_the_run() -> None:
    rate = Interval(1.0, 0.9812, 1.0)
    display = TrainingDisplay("Siberia: The Card Game, 2 players")
    point = CurvePoint(30_000_000, 5400.0, {"random": rate, "greedy": rate})
    display.show([Progress(0.5, 30_000_000, 5400.0, 123_456.0, 0.051, point)])
    lines = rendered(display._picture())
    assert max(map(len, lines)) <= COLUMNS
    (row,) = [line for line in lines if "30,000,000" in line and "100.0% [98.1, 100.0]" in line]
    assert row.count("100.0% [98.1, 100.0]") == 2
    assert "5400 s" in row
    assert any("5.1% of the time in the games" in line for line in lines)
