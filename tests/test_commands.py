"""Commands that are printed for the user can be typed as they stand: in any folder, with all options of the run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from siberia_agents.registry import make_agent, spec_with_file
from siberia_env.game import GAMES, find_game
from siberia_experiments.arguments import read_rules
from siberia_experiments.cli import main
from siberia_experiments.commands import command_line, path_word, program, rules_text
from siberia_experiments.training import demo as demo_module
from siberia_experiments.training.run import Training
from tests.processes import ROOT
from tests.test_agents import small_model
from tests.test_cli import SOME_RULES, box
from tests.test_train import shrink

ODD = "it's $HOME & more"  #: a folder whose name a shell must not read


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)


def type_in(line: str, keys: str = "") -> subprocess.CompletedProcess[str]:
    """Type a line into a shell in the current directory, and then `keys`."""
    paths = [str(ROOT), *(path for path in sys.path if path and Path(path) != ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        ["sh", "-c", line], input=keys, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


# ---------------------------------------------------------------- what train prints


@pytest.mark.parametrize("game", GAMES)
def test_what_train_prints_at_its_end_can_be_typed(
    game: str, tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a resumed run too, which names neither rules nor components; the user's component file is gone by then."""
    monkeypatch.chdir(tmp_path)
    tables = box(game)
    tables["salesmen" if game == "card" else "salesman_cards"]["gas"] = 9
    (tmp_path / "my box.json").write_text(json.dumps(tables), encoding="utf-8")
    text, rules = SOME_RULES[game]
    out = ["--out", f"runs/{ODD}"]
    options = ["--players", "3", "--rules", text, "--components", "my box.json", "--threads", "1"]
    assert main(["train", game, "--decisions", "100", *options, *out]) == 0
    first = capsys.readouterr().out.splitlines()[-3:]
    (tmp_path / "my box.json").unlink()
    assert main(["train", game, "--resume", *out]) == 0
    told, evaluate, play = capsys.readouterr().out.splitlines()[-3:]
    assert [told, evaluate, play] == first
    assert told.startswith(f"runs/{ODD}/model.npz is the trained policy")

    measured = type_in(f"{evaluate} --games 12")
    assert (measured.returncode, "trained for other games" in measured.stderr) == (0, False), measured.stderr
    assert "3 players, 12 games" in measured.stdout
    played = type_in(play, "q\n")
    assert (played.returncode, "trained for other games" in played.stderr) == (0, False), played.stderr
    (save,) = tmp_path.glob("*.save.json")
    saved = json.loads(save.read_text(encoding="utf-8"))
    assert json.dumps(tables["salesmen" if game == "card" else "salesman_cards"]) in json.dumps(saved)
    assert all(json.dumps(value) in json.dumps(saved) for value in rules.values())


def test_what_demo_prints_at_its_end_can_be_typed(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On narrow terminals too: a command is never broken into lines."""
    monkeypatch.chdir(tmp_path)
    folder = f"runs/{'a long name ' * 8}"
    assert main(["demo", "card", "--minutes", "0.0001", "--games", "2", "--out", folder]) == 0
    told, evaluate, play = capsys.readouterr().out.splitlines()[-3:]
    assert told.startswith(f"{folder}/model.npz is the trained policy")
    assert "2 players, 4 games" in type_in(f"{evaluate} --games 4").stdout
    assert type_in(play, "q\n").returncode == 0


def test_the_tables_of_an_earlier_run_are_not_taken_for_those_of_a_new_one(
    tiny: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "box.json").write_text(json.dumps(box("card")), encoding="utf-8")
    line = ["demo", "card", "--minutes", "0.0001", "--games", "2", "--out", str(tmp_path / "run")]
    assert main([*line, "--components", str(tmp_path / "box.json")]) == 0
    kept = tmp_path / "run/model.components.json"
    assert json.loads(kept.read_text(encoding="utf-8")) == box("card")
    assert main(line) == 0
    assert not kept.exists()
    assert "--components" not in capsys.readouterr().out.splitlines()[-1]


def test_a_model_that_no_agent_can_name_is_told_of(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "card", "--decisions", "100", "--threads", "1", "--out", "a,b"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "a,b/model.npz is the trained policy. No agent can be named by this path: copy the file to another name."
    )


def test_the_command_that_goes_on_with_a_stopped_run_can_be_typed(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def interrupted(training: Training) -> None:
        training.save()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "follow", interrupted)
    assert main(["train", "card", "--decisions", "500", "--threads", "1", f"--out=-{ODD}"]) == 130
    told, line = capsys.readouterr().out.splitlines()[-1].split(": ", 1)
    assert told == "stopped; go on from the last checkpoint"
    assert shlex.split(line)[-4:] == ["card", "--resume", "--out", f"./-{ODD}"]
    assert main(shlex.split(line)[len(program()) :]) == 130
    told_again = capsys.readouterr().out.splitlines()[-1]
    assert told_again == f"{told}: {line}"


# ---------------------------------------------------------------- the words


def test_the_program_is_named_as_the_shell_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = executable(tmp_path / "its .venv/bin/siberia")
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", str(executable(tmp_path / "other/siberia").parent))
    monkeypatch.chdir(tmp_path)
    assert command_line("bench", "card") == "'its .venv/bin/siberia' bench card"
    monkeypatch.chdir(script.parent)
    assert program() == ["./siberia"]
    monkeypatch.chdir(tmp_path / "other")
    assert program() == [str(script)]
    monkeypatch.setenv("PATH", os.pathsep.join([str(script.parent), str(tmp_path / "other")]))
    assert program() == ["siberia"]


def test_after_python_m_the_program_is_the_script_beside_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = executable(tmp_path / "bin/python3")
    monkeypatch.setattr(sys, "argv", [str(ROOT / "experiments/cli/__main__.py")])
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert program() == ["bin/python3", "-m", "siberia_experiments.cli"]
    executable(tmp_path / "bin/siberia")
    assert program() == ["bin/siberia"]
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert program() == ["siberia"]


@pytest.mark.parametrize("rules", [rules for _, rules in SOME_RULES.values()])
def test_rules_are_written_as_they_are_read(rules: dict[str, Any]) -> None:
    assert read_rules(rules_text(rules)) == rules


def test_a_path_is_never_taken_for_an_option() -> None:
    assert path_word(Path("-x/y")) == "./-x/y"
    assert path_word(Path("x/-y")) == "x/-y"


@pytest.mark.parametrize("name", ["m.npz", "lr=3/m.npz", "a:b.npz", "a b.npz", "=.npz", "1=2.npz"])
def test_the_spec_of_a_file_names_that_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    model = small_model()
    model.save(Path("saved.npz"))
    shutil.move("saved.npz", name)
    spec = spec_with_file("learned", Path(name))
    assert spec is not None
    agent = make_agent(spec)
    agent.start(find_game("card").variant(2))
    assert agent.model.trained == model.trained  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["a,b.npz", "a:b=c.npz", "a::b.npz"])
def test_a_file_that_no_spec_can_name_has_none(name: str) -> None:
    assert spec_with_file("learned", Path(name)) is None
