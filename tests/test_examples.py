"""The scripts of docs/examples: short, listed, and working; `make examples` shows that they learn."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from siberia_agents.registry import make_agent
from siberia_env.game import find_game
from siberia_env.installation import install_command
from tests import examples
from tests.examples import EXAMPLES, Example
from tests.processes import ROOT

SMALL = 2048  #: decisions, at least one rollout of eight games


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_has_less_than_thirty_lines(example: Example) -> None:
    assert len(example.script.read_text(encoding="utf-8").splitlines()) < 30


def test_every_example_is_listed_with_what_it_has_to_beat() -> None:
    assert all(example.script.is_file() for example in EXAMPLES)
    page = (ROOT / "docs" / "train.md").read_text(encoding="utf-8")
    for example in EXAMPLES:
        link = f"[{example.name}.py](examples/{example.name}.py)"
        assert f"| {link} | {example.what} | {example.decisions:,} | `{example.opponent}` |" in page


@pytest.mark.parametrize(
    "example", [example for example in EXAMPLES if example.extra == "train"], ids=lambda example: example.name
)
def test_an_example_trains_and_saves_an_agent(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / f"model{example.suffix}"
    monkeypatch.setattr(sys, "argv", [str(example.script), str(SMALL), str(model)])
    fewer_games = re.sub(r"\b(n_envs|num_envs)=\d+", r"\1=8", example.script.read_text(encoding="utf-8"))
    exec(compile(fewer_games, example.script, "exec"), {"__name__": "__main__"})
    agent = make_agent(f"learned:{model}")
    agent.start(find_game("card").variant(2))
    assert examples.win_rate(model, example.opponent, 4).low < 1


def test_the_command_names_the_extra_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(examples, "find_spec", lambda name: None)
    assert examples.main(["torchrl_ppo"]) == 2
    told = "docs/examples/torchrl_ppo.py needs the optional extra 'trainers' (torchrl is not installed): "
    assert capsys.readouterr().err.strip() == told + install_command("trainers")


def test_the_command_fails_if_a_model_does_not_beat_its_opponent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = iter([examples.Interval(0.55, 0.51, 0.59), examples.Interval(0.52, 0.49, 0.55)])
    monkeypatch.setattr(examples, "train", lambda example, decisions, model: None)
    monkeypatch.setattr(examples, "win_rate", lambda model, opponent: next(rates))
    assert examples.main(["plain_torch"]) == 0
    assert "wins 55.0% (51.0% to 59.0%) against random\n" in capsys.readouterr().out
    assert examples.main(["plain_torch"]) == 1
    assert "against random: too few" in capsys.readouterr().out
    assert examples.main(["plain_jax"]) == 2
    assert capsys.readouterr().err == f"no example 'plain_jax'; there are {', '.join(e.name for e in EXAMPLES)}\n"
