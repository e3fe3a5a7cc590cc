"""The command line: every command, help that teaches by examples, bad input in one line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch as th
from rich.console import Console

from siberia_agents.learned import load_model
from siberia_agents.registry import AGENTS
from siberia_env.errors import ConfigurationError
from siberia_env.game import GAMES, find_game
from siberia_env.records import read_records
from siberia_experiments import bench as bench_module
from siberia_experiments.arguments import read_rules
from siberia_experiments.cli import main
from siberia_experiments.commands import resume_line
from siberia_experiments.console import WITHOUT_END, mean_score, results_table, short_label
from siberia_experiments.evaluate import line_up
from siberia_experiments.match import play_deals, play_games
from siberia_experiments.statistics import Interval
from siberia_experiments.training import demo as demo_module
from siberia_experiments.training.checkpoint import load_checkpoint
from siberia_experiments.training.display import TrainingDisplay
from siberia_experiments.training.run import CurvePoint, Progress, Training, checkpoint_path
from tests.processes import ROOT, run_python
from tests.test_agents import small_model
from tests.test_train import shrink

COMMANDS = (
    "train",
    "evaluate",
    "exploit",
    "tune",
    "trial",
    "average",
    "tournament",
    "play",
    "record",
    "replay",
    "bench",
    "demo",
    "agents",
    "rules",
)
WITHOUT_GAME = ("replay", "agents", "average")
COLUMNS = 80

both_games = pytest.mark.parametrize("game", GAMES)

#: By game: options as they are written on the command line, and as they are then.
SOME_RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "card": ("edition=oya, max_turns=60", {"edition": "oya", "max_turns": 60}),
    "board": (
        "sides=Tokyo/Hong Kong/Toronto / Sydney/Zurich, salesman_cards=true, max_rounds=12",
        {"sides": ["Tokyo", "Hong Kong", "Toronto", "Sydney", "Zurich"], "salesman_cards": True, "max_rounds": 12},
    ),
}

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
    shrink(monkeypatch)
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


def box(game: str) -> dict[str, Any]:
    """A game's own box as a component file holds it."""
    tables: dict[str, Any] = find_game(game).read_components(None).as_json()
    return tables


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Everything in a folder and below: the bytes of files, None for folders."""
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


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
    assert "<bool>" not in out
    assert all(f"siberia {command} {game} " in " ".join(out.split()) for game in GAMES if command not in WITHOUT_GAME)
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


@both_games
def test_evaluate_shows_a_table(siberia: Siberia, game: str) -> None:
    code, out, _ = siberia("evaluate", game, "--agents", "greedy, random", "--games", "40", "--seed", "3")
    assert code == 0
    title = f"{find_game(game).title}, 2 players, 40 games: 20 deals, each in every seat order"
    assert title in " ".join(out.split())
    expected = play_deals(find_game(game).variant(2), line_up(["greedy", "random"], 2), 40, 3)
    assert any(line.split()[:2] == ["greedy", "random"] for line in out.splitlines())
    assert f" {100 * expected.win_rate(0).value:.1f}% [" in out
    assert mean_score(expected.mean_score(1), expected.game) in out


@both_games
@pytest.mark.parametrize("players", [3, 4])
def test_evaluate_takes_rules_components_models_and_more_seats(
    siberia: Siberia, tmp_path: Path, game: str, players: int
) -> None:
    (tmp_path / "box.json").write_text(json.dumps(box(game)), encoding="utf-8")
    small_model(players, game=game).save(tmp_path / "model.npz")
    text, rules = SOME_RULES[game]
    options = ["--rules", text, "--components", "box.json", "--games", "4", "--players", str(players)]
    code, out, _ = siberia("evaluate", game, "--agents", "learned:model.npz,greedy", *options)
    assert code == 0
    assert "learned:model.npz" in out
    assert f"learned, {'' if players == 3 else '2 '}greedy" in out
    agents = line_up(["learned:model.npz", "greedy"], players)
    entrants = [0, *[1] * (players - 1)]
    expected = play_deals(find_game(game).variant(players, rules), agents, 4, 0, entrants=entrants)
    assert mean_score(expected.mean_score(0), expected.game) in out


@both_games
@pytest.mark.parametrize("players", [2, 3, 4])
def test_record_and_replay(siberia: Siberia, tmp_path: Path, game: str, players: int) -> None:
    options = ["--players", str(players), "--agents", "greedy,random", "--games", "2", "--seed", "7"]
    code, out, err = siberia("record", game, *options, "--out", "games.jsonl")
    assert (code, err) == (0, "")
    assert out.strip() == "games.jsonl: 2 games"
    records = list(read_records(tmp_path / "games.jsonl"))
    assert [record.header["game"] for record in records] == [game] * 2
    assert [record.header["agents"] for record in records] == [["greedy", *["random"] * (players - 1)]] * 2
    siberia("record", game, *options, "--out", "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "games.jsonl").read_bytes()
    code, out, err = siberia("replay", "games.jsonl")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) > 200
    assert siberia("replay", "--quiet", "games.jsonl") == (0, "games.jsonl: in order\n", "")
    assert siberia("replay", game, "games.jsonl", "--quiet")[0] == 0
    (other,) = set(GAMES) - {game}
    message = refused(siberia, "replay", other, "games.jsonl")
    assert message == f"siberia: line 1: a record of {game!r}, not of {other!r}\n"


def test_a_file_may_hold_records_of_both_games(siberia: Siberia, tmp_path: Path) -> None:
    parts = []
    for game in GAMES:
        assert siberia("record", game, "--agents", "random", "--out", "one.jsonl", "--force")[0] == 0
        parts.append((tmp_path / "one.jsonl").read_bytes())
    (tmp_path / "both.jsonl").write_bytes(b"".join(parts))
    assert siberia("replay", "--quiet", "both.jsonl") == (0, "both.jsonl: in order\n", "")
    second = parts[0].count(b"\n") + 1
    code, out, err = siberia("replay", "card", "both.jsonl", "--quiet")
    assert (code, out, err) == (2, "", f"siberia: line {second}: a record of 'board', not of 'card'\n")


@both_games
def test_a_record_keeps_the_rules_and_components_it_was_played_with(
    siberia: Siberia, tmp_path: Path, game: str
) -> None:
    tables = box(game)
    tables["salesmen" if game == "card" else "salesman_cards"]["gas"] = 9
    (tmp_path / "box.json").write_text(json.dumps(tables), encoding="utf-8")
    text, rules = SOME_RULES[game]
    assert siberia("record", game, "--rules", text, "--components", "box.json")[0] == 0
    (record,) = read_records(tmp_path / "games.jsonl")
    assert record.header["rules"] == rules
    assert record.header["components"] == tables
    assert siberia("replay", "games.jsonl")[0] == 0


@both_games
def test_train_leaves_a_run_that_can_be_gone_on_with(siberia: Siberia, tmp_path: Path, tiny: None, game: str) -> None:
    text, rules = SOME_RULES[game]
    options = ["--players", "3", "--threads", "1", "--seed", "5", "--reward", "win", "--rules", text]
    code, out, err = siberia("train", game, "--decisions", "200", "--out", "runs/mine", *options)
    assert (code, err) == (0, "")
    assert "learned:runs/mine/model.npz" in out
    run = tmp_path / "runs/mine"
    assert {path.name for path in run.iterdir()} == {
        "checkpoint.bin",
        "curve.csv",
        "curve.png",
        "model.npz",
        "tensorboard",
    }
    told = load_model(run / "model.npz").trained
    assert 200 <= told["decisions"] < 400
    assert (told["options"]["settings"]["reward"], told["options"]["seed"]) == ("win", 5)
    assert (told["options"]["game"], told["rules"]) == (game, rules)
    learned = ["--players", "3", "--agents", "learned:runs/mine/model.npz,random", "--games", "12"]
    assert siberia("evaluate", game, *learned)[0] == 0

    message = refused(siberia, "train", game, "--decisions", "200", "--out", "runs/mine", *options)
    assert "holds a run; go on with it (--resume)" in message
    assert load_model(run / "model.npz").trained == told

    code, _, _ = siberia("train", game, "--resume", "--out", "runs/mine", "--decisions", "700", "--threads", "1")
    assert code == 0
    assert load_checkpoint(run / "checkpoint.bin").data["options"]["decisions"] == 700
    assert siberia("train", game, "--resume", "--out", "runs/mine")[0] == 0
    for option in (["--players", "3"], ["--seed", "5"], ["--rules", text], ["--reward", "win"]):
        message = refused(siberia, "train", game, "--resume", "--out", "runs/mine", *option)
        assert f"{option[0]}: a resumed run keeps its own" in message
    assert "minutes: 0" in refused(siberia, "train", game, "--resume", "--out", "runs/mine", "--minutes", "0")
    both = ["--minutes", "1", "--decisions", "5"]
    assert "one budget" in refused(siberia, "train", game, "--resume", "--out", "runs/mine", *both)

    (other,) = set(GAMES) - {game}
    message = refused(siberia, "train", other, "--resume", "--out", "runs/mine")
    assert f"a run of the game {game!r}, not of {other!r}" in message
    message = refused(siberia, "evaluate", other, *learned)
    assert f"trained for game {game}, the games to be played have game {other}" in message

    checkpoint_path(run).write_bytes(checkpoint_path(run).read_bytes()[:5000])
    assert "is damaged" in refused(siberia, "train", game, "--resume", "--out", "runs/mine")


def test_an_interrupted_run_tells_how_to_go_on(siberia: Siberia, monkeypatch: pytest.MonkeyPatch, tiny: None) -> None:
    follow = demo_module.follow

    def interrupted(training: Training) -> None:
        training.save()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "follow", interrupted)
    code, out, err = siberia("train", "card", "--decisions", "500", "--threads", "1", "--out", "mine")
    assert (code, err) == (130, "")
    assert out == f"stopped; go on from the last checkpoint: {resume_line('card', Path('mine'))}\n"
    monkeypatch.setattr(demo_module, "follow", follow)
    assert siberia("train", "card", "--resume", "--decisions", "1", "--out", "mine")[0] == 0


@both_games
def test_demo_leaves_everything_in_one_folder(siberia: Siberia, tmp_path: Path, tiny: None, game: str) -> None:
    folder = tmp_path / f"runs/demo-{game}"
    code, out, err = siberia("demo", game, "--minutes", "0.0001", "--games", "6")
    assert (code, err) == (0, "")
    assert {path.name for path in folder.iterdir()} == {
        "checkpoint.bin",
        "curve.csv",
        "curve.png",
        "game.jsonl",
        "game.txt",
        "model.npz",
        "tensorboard",
    }
    assert "each: 6 games: 3 deals, each in every seat order" in " ".join(out.split())
    (record,) = read_records(folder / "game.jsonl")
    assert record.header["agents"] == ["learned", "greedy"]
    told = (folder / "game.txt").read_text(encoding="utf-8")
    assert re.search(r"expects to end \$\d+ (ahead of|behind) the others; considers \w+", told)

    (log,) = (folder / "tensorboard").iterdir()
    assert siberia("demo", game, "--minutes", "0")[0] == 2
    assert log.exists()  # a demo that is refused replaces nothing
    assert siberia("demo", game, "--minutes", "0.0001", "--games", "6", "--out", str(folder))[0] == 0
    assert len(list((folder / "tensorboard").iterdir())) == 1


@pytest.mark.parametrize(("game", "word"), [("card", "draw "), ("board", "exchange ")])
def test_an_annotated_game_calls_moves_as_its_record_does(tmp_path: Path, game: str, word: str) -> None:
    demo_module.annotate(find_game(game).variant(2), small_model(game=game), tmp_path)
    (record,) = read_records(tmp_path / "game.jsonl")
    considered = re.findall(r"(?:considers |%, )(.*?) \d+%", (tmp_path / "game.txt").read_text(encoding="utf-8"))
    assert any(name.startswith(word) for name in considered)
    assert set(considered) <= {name for line in record.lines if "legal" in line for name in line["legal"]}


@both_games
def test_bench_measures_and_shows(siberia: Siberia, monkeypatch: pytest.MonkeyPatch, game: str) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(bench_module, "bench", lambda *arguments: seen.append(arguments))
    assert siberia("bench", game, "--seconds", "0.5", "--repeats", "3") == (0, "", "")
    assert seen == [(find_game(game), 0.5, 3)]


def test_json_has_what_the_table_shows_and_stdout_nothing_else(
    siberia: Siberia, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chatty.py").write_text(
        "from siberia_agents.greedy import GreedyAgent\n"
        "class Chatty(GreedyAgent):\n"
        "    def start(self, variant, seed=0):\n"
        "        super().start(variant, seed)\n"
        "        print('hello')\n",
        encoding="utf-8",
    )
    line = ["evaluate", "card", "--agents", "chatty:Chatty,random", "--players", "3", "--games", "30", "--seed", "3"]
    code, out, err = siberia(*line, "--control-variate", "shipped", "--json")
    assert (code, "hello" in err) == (0, True)
    found = json.loads(out)
    assert (found["command"], found["game"], found["players"], found["seed"]) == ("evaluate", "card", 3, 3)
    assert (found["games"], found["deals"]) == (30, 10)
    expected = play_deals(find_game("card").variant(3), line_up(["greedy", "random"], 3), 30, 3, entrants=[0, 1, 1])
    for place, agent in enumerate(found["agents"]):
        rate, score = expected.win_rate(place), expected.mean_score(place)
        assert agent["win_rate"] == {"value": rate.value, "low": rate.low, "high": rate.high}
        assert agent["mean_score"] == {"value": score.value, "low": score.low, "high": score.high}
        assert set(agent["win_rate_less_luck"]) == {"value", "low", "high"}
    assert [agent["agent"] for agent in found["agents"]] == ["chatty:Chatty", "random"]


# ---------------------------------------------------------------- what the commands tell


@both_games
def test_rules_tell_how_to_play_and_then_all_rules(siberia: Siberia, game: str) -> None:
    code, short, err = siberia("rules", game, "--short")
    assert (code, err) == (0, "")
    assert "How to play, in three minutes" in short
    assert 150 < len(short.split()) < 450  # three minutes at most, read aloud
    code, out, err = siberia("rules", game)
    assert (code, err) == (0, "")
    assert out.startswith(short.splitlines()[0])
    assert " ".join(short.split("How to play")[1].split()) in " ".join(out.split())
    letter, last = {"card": ("C", 23), "board": ("B", 29)}[game]
    text = " ".join(out.split())
    assert all(f"{letter}{number}." in text for number in range(1, last + 1))
    for sign in ("<!--", "<br>", "](", "\x1b"):
        assert sign not in out


def test_agents_are_listed_with_their_measured_strength(siberia: Siberia) -> None:
    code, out, err = siberia("agents")
    assert (code, err) == (0, "")
    for name, entry in AGENTS.items():
        assert any(line.startswith(name) for line in out.splitlines())
        assert " ".join(entry.meaning.replace("`", "").split()[:4]) in out
    rows = {
        line.split()[0]: line.split()[1:] for line in out.splitlines() if re.fullmatch(r"\S+( +(\d+|-)){6} *", line)
    }
    assert len(rows) == 6
    assert rows["search:1000"] == ["1000"] * 6
    with (ROOT / "docs/results/board_3.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert rows[row["agent"]][4] == f"{float(row['rating']):.0f}"


# ---------------------------------------------------------------- completion


def completed(*words: str) -> list[str]:
    """What bash is offered after these words, the last of which may be half a word."""
    asked = {"_SIBERIA_COMPLETE": "complete_bash", "COMP_CWORD": str(len(words))}
    asked["COMP_WORDS"] = " ".join(["siberia", *words])
    out = StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out):
        for name, value in asked.items():
            patched.setenv(name, value)
        with pytest.raises(SystemExit):
            main(words)
    return out.getvalue().split()


def test_the_shell_completes_commands_games_agents_and_options() -> None:
    assert completed("to") == ["tournament"]
    assert completed("evaluate", "b") == ["board"]
    assert completed("evaluate", "card", "--agents", "greedy,gu") == ["greedy,guided"]
    assert completed("tournament", "card", "--fr") == ["--fresh"]


@pytest.mark.parametrize("option", ["--show-completion", "--install-completion"])
def test_completion_can_be_shown_and_installed_for_a_shell(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # then the shell can be named
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main([option, "bash"])
    assert ended.value.code == 0
    script = capsys.readouterr().out
    if option == "--install-completion":
        (path,) = (tmp_path / ".bash_completions").iterdir()
        assert str(path) in (tmp_path / ".bashrc").read_text(encoding="utf-8")
        script = path.read_text(encoding="utf-8")
    assert "_SIBERIA_COMPLETE=complete_bash" in script


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("dance card", "No such command 'dance'"),
        ("evaluate", "Missing argument 'GAME'"),
        ("evaluate chess", "no game 'chess'; the games are card, board"),
        ("evaluate card --speed 3", "No such option: --speed"),
        ("evaluate card extra", "extra"),
        ("evaluate card --players two", "Invalid value for '--players'"),
        ("evaluate card --players 1", "num_players: 1"),
        ("evaluate card --players 5", "num_players: 5"),
        ("evaluate card --games 0", "games: 0"),
        ("evaluate card --games -1", "games: -1"),
        ("evaluate card --agents gready,random", "no agent 'gready' (did you mean 'greedy'?); the agents are random, "),
        ("evaluat card", "No such command 'evaluat'. Did you mean 'evaluate'?"),
        ("evaluate crad", "no game 'crad' (did you mean 'card'?); the games are card, board"),
        ("train Borad --out new", "no game 'Borad' (did you mean 'board'?)"),
        ("evaluate card --gamse 3", "No such option: --gamse (Possible options: --games"),
        ("evaluate card --agents search:9:playuot=greedy", "no option 'playuot' (did you mean 'playout'?)"),
        ("evaluate card --rules max_trns=9", "--rules: no option 'max_trns' (did you mean 'max_turns'?)"),
        ("train card --settings entrpy=1 --out new", "--settings: no 'entrpy' (did you mean 'entropy'?)"),
        ("rules chess", "no game 'chess'"),
        ("evaluate card --agents greedy,", "no agent ''"),
        ("evaluate card --agents greedy,random,random", "3 named for 2 seats"),
        ("evaluate card --agents learned:", "a part of it is empty; the form is learned[:FILE][:OPTION=VALUE]..."),
        ("evaluate card --agents learned:two.npz:heat=2", "no option 'heat'; its options are temperature"),
        ("evaluate card --agents nobody:Nobody", "there is no module 'nobody' in"),
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
        ("evaluate card --rules max_turns=true", "max_turns: True is not a whole number"),
        ("evaluate card --rules speed=3", "no option 'speed'"),
        ("evaluate card --rules salesman_cards=true", "no option 'salesman_cards'"),
        ("evaluate card --rules edition=dlp/oya", "no edition ['dlp', 'oya']"),
        (
            "evaluate board --rules edition=oya",
            "no option 'edition'; the options are sides, salesman_cards, max_rounds",
        ),
        ("evaluate board --rules sides=left", "sides: 'left' is not 'choose', 'random' or a list of 5 exchanges"),
        ("evaluate board --rules sides=true", "sides: True is not 'choose', 'random' or a list"),
        ("evaluate board --rules sides=/", "sides: expected 5 exchanges, one a tile; got ['', '']"),
        ("evaluate board --rules sides=Tokyo/London", "sides: expected 5 exchanges, one a tile"),
        ("evaluate board --rules sides=Tokyo/London/Toronto/Sydney/Paris", "sides[4]: 'Paris' is not on the tile of"),
        ("evaluate board --rules sides=London/Tokyo/Toronto/Sydney/Zurich", "sides[0]: 'London' is not on the tile"),
        ("evaluate board --rules salesman_cards=yes", "salesman_cards: 'yes' is not true or false"),
        ("evaluate board --rules salesman_cards=1", "salesman_cards: 1 is not true or false"),
        ("evaluate board --rules max_rounds=0", "max_rounds: 0"),
        ("evaluate board --rules max_rounds=10001", "max_rounds: 10001"),
        ("evaluate board --players 5", "num_players: 5; Siberia is for 2 to 4 players"),
        ("evaluate board --agents greedy,greedy,greedy", "3 named for 2 seats"),
        ("evaluate board --agents learned:two.npz", "trained for game card, the games to be played have game board"),
        ("evaluate board --components odd.json", "action_cards: no such table"),
        ("evaluate board --components map.json", "areas.Amur[1]: no area 'Moscow'"),
        ("evaluate card --components map.json", "counters: no such table"),
        ("evaluate card --components nothing.json", "can't read nothing.json"),
        ("evaluate card --components .", "can't read ."),
        ("evaluate card --components damaged.npz", "damaged.npz is not JSON"),
        ("evaluate card --components odd.json", "resource_cards: 35 in all, the box holds 36"),
        ("train card --components odd.json", "resource_cards: 35 in all, the box holds 36"),
        ("demo card --components odd.json", "resource_cards: 35 in all, the box holds 36"),
        ("train board --components map.json --out new", "areas.Amur[1]: no area 'Moscow'"),
        ("demo board --components map.json --out new", "areas.Amur[1]: no area 'Moscow'"),
        ("record board --components map.json", "areas.Amur[1]: no area 'Moscow'"),
        ("record chess", "no game 'chess'"),
        ("record card --players 5", "num_players: 5"),
        ("record card --games 0", "games: 0"),
        ("record card --agents random,random,greedy", "3 named for 2 seats"),
        ("record card --agents random --seed -1", "seed: -1"),
        ("record card --agents learned:two.npz --players 4", "trained for players 2"),
        ("record board --agents greedy,learned:two.npz", "trained for game card"),
        ("record board --rules sides=Tokyo", "sides: 'Tokyo' is not"),
        ("record board --seed -1", "seed: -1"),
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
        ("train card --network 0 --out new", "--network: '0'; give the widths"),
        ("train card --network 8,x --out new", "--network: '8,x'; give the widths"),
        ("train card --learning-rate 0 --out new", "learning_rate: 0"),
        ("train card --players two --out new", "--players: 'two'; give a number of players"),
        ("train card --players 2,5 --out new", "num_players: 5"),
        ("train card --players 2,2 --out new", "each once"),
        ("train card --device abacus --out new", "device: 'abacus' is not here; here are cpu"),
        ("train card --settings keep --out new", "--settings: 'keep' is not of the form NAME=VALUE"),
        ("train card --settings haste=3 --out new", "--settings: no 'haste'; there are num_envs, rollout"),
        ("train card --settings keep=much --out new", "--settings: keep=much; it is like keep=1.0"),
        ("train card --settings overlap=3 --out new", "--settings: overlap=3; it is like overlap=True"),
        ("train card --settings entropy=0.1 --out new", "entropy: (0.1,); two weights"),
        ("train card --settings keep=1.5 --out new", "keep: 1.5; it is between 0 and 1"),
        ("train card --mix alone=2 --out new", "shares are 0 to 1"),
        ("train card --start-from none.npz --out new", "there is no file none.npz"),
        ("train card --seed 4294967296 --out new", "seed: 4294967296"),
        ("train card --rules edition=gold --out new", "no edition 'gold'"),
        ("train board --rules edition=dlp --out new", "no option 'edition'"),
        ("train board --rules sides=Tokyo/London --out new", "sides: expected 5 exchanges"),
        ("train board --players 5 --out new", "num_players: 5"),
        ("train board --resume --out new", "there is no checkpoint in new"),
        ("train card --minutes 1 --out damaged.npz", "can't write into damaged.npz"),
        ("train card --minutes 1 --out damaged.npz/below", "can't write into damaged.npz/below"),
        ("train card --resume --out new", "there is no checkpoint in new"),
        ("demo chess --out new", "no game 'chess'"),
        ("demo card --players 5 --out new", "num_players: 5"),
        ("demo board --players 5 --out new", "num_players: 5"),
        ("demo board --rules salesman_cards=maybe --out new", "salesman_cards: 'maybe'"),
        ("demo card --minutes 0 --out new", "minutes: 0"),
        ("demo card --games 0 --out new", "games: 0"),
        ("demo card --out damaged.npz", "can't write into damaged.npz"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(siberia: Siberia, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "damaged.npz").write_bytes(b"nothing \xff of use")
    small_model(2).save(tmp_path / "two.npz")
    tables = box("card")
    tables["resource_cards"]["gas"].pop()
    (tmp_path / "odd.json").write_text(json.dumps(tables), encoding="utf-8")
    tables = box("board")
    tables["areas"]["Amur"][1] = "Moscow"
    (tmp_path / "map.json").write_text(json.dumps(tables), encoding="utf-8")
    before = contents(tmp_path)
    assert message in refused(siberia, *line.split())
    assert contents(tmp_path) == before


def test_names_with_line_breaks_are_refused_in_one_line_too(siberia: Siberia, tmp_path: Path) -> None:
    tables = box("board")
    tables["areas"]["A\nB"] = []
    (tmp_path / "box.json").write_text(json.dumps(tables), encoding="utf-8")
    assert "areas.A B: " in refused(siberia, "evaluate", "board", "--components", "box.json")


@both_games
def test_a_damaged_record_is_refused_with_its_line(siberia: Siberia, tmp_path: Path, game: str) -> None:
    siberia("record", game, "--out", "games.jsonl")
    lines = (tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    code, _, err = siberia("replay", "--quiet", "cut.jsonl")
    assert code == 2
    assert err.startswith("siberia: line 40: ")
    assert err.count("\n") == 1


def test_rules_are_read_as_numbers_truth_values_words_and_lists() -> None:
    assert read_rules("") == {}
    for text, rules in SOME_RULES.values():
        assert read_rules(text) == rules
    assert read_rules("a=true,b=false,c=True") == {"a": True, "b": False, "c": "True"}
    assert read_rules("a=New York/1/true/, b=New York") == {"a": ["New York", "1", "true", ""], "b": "New York"}
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


@both_games
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_longest_results_stay_on_one_line_each(game: str, players: int) -> None:
    results = play_games(find_game(game).variant(players), line_up(["greedy", "random"], players), 100)
    rows = [("learned:runs/a-folder-with-a-long-name/model.npz", results, 0), ("random", results, 1)]
    lines = rendered(results_table("a title", rows, COLUMNS))
    assert len([line for line in lines if "%" in line and "$" in line]) == len(rows)
    assert len(lines) == len(rows) + 3
    assert max(map(len, lines)) <= COLUMNS
    assert "…" not in "".join(lines)


@both_games
def test_wide_and_piped_output_has_whole_names(
    siberia: Siberia, tmp_path: Path, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = tmp_path / "runs/a-folder-with-a-long-name-of-its-own"
    folder.mkdir(parents=True)
    small_model(2, game=game).save(folder / "model.npz")
    spec = f"learned:{folder.relative_to(tmp_path)}/model.npz"
    results = play_games(find_game(game).variant(2), line_up(["greedy", "random"], 2), 4)
    for width, whole in ((COLUMNS, False), (95, False), (120, True), (WITHOUT_END, True)):
        console = Console(width=width, record=True, file=StringIO())
        console.print(results_table("a title", [(spec, results, 0)], width))
        (row,) = [line for line in console.export_text().splitlines() if "%" in line and "$" in line]
        assert (spec in row, "..." in row) == (whole, not whole)
    code, out, _ = siberia("evaluate", game, "--agents", f"{spec},greedy", "--games", "2")
    assert code == 0
    (row,) = [line for line in out.splitlines() if line.startswith(spec)]
    assert "greedy" in row
    assert "$" in row


def test_labels_keep_what_tells_models_apart() -> None:
    assert short_label("greedy") == "greedy"
    assert short_label("learned:model.npz") == "learned:model.npz"
    assert short_label("learned:runs/mine/model.npz") == "learned:runs/mine"
    assert short_label("learned:some/where/far/off/mine/model.npz") == "learned:.../off/mine"
    assert mean_score(Interval(138_049, 136_449, 139_649), find_game("card")) == "$138049 ± 1600"


def test_the_live_table_fits_and_follows_the_run() -> None:
    rate = Interval(1.0, 0.9812, 1.0)
    display = TrainingDisplay("Siberia: The Card Game, 2 players")
    point = CurvePoint(30_000_000, 5400.0, {(2, "greedy"): rate, (2, "heuristic"): rate})
    display.show([Progress(0.5, 30_000_000, 5400.0, 123_456.0, 0.751, point)])
    lines = rendered(display._picture())
    assert max(map(len, lines)) <= COLUMNS
    (row,) = [line for line in lines if "30,000,000" in line and "100.0% [98.1, 100.0]" in line]
    assert row.count("100.0% [98.1, 100.0]") == 2
    assert "5400 s" in row
    assert any("learnt from 75% of them" in line for line in lines)
