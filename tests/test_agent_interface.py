"""The page of agents does what it says: its example, saved as a file, plays through the real command line."""

from __future__ import annotations

import re
import shlex
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from siberia_agents.interface import Agent
from siberia_agents.registry import AGENTS, make_agent
from siberia_env.game import GAMES, find_game
from siberia_experiments.cli import main
from siberia_experiments.match import Results, play_games
from tests.processes import ROOT, run_python
from tests.table import PLAYER_COUNTS
from tests.test_agents import positions, whole_view

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
SIBERIA = Path(sysconfig.get_path("scripts")) / "siberia"

#: The page's commands that are run, by name, each with options that make it short.
SHORT = {
    "evaluate": ["--games", "3"],
    "record": ["--games", "1"],
    "tournament": ["--games", "1", "--jobs", "1", "--out", "t"],
}


def blocks(language: str) -> list[str]:
    """The page's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory with the page's example, saved under the name that its first line gives."""
    (source,) = [block for block in blocks("python") if "(Agent)" in block]
    name = re.match(r'"""(\w+)\.py: ', source)
    assert name
    (tmp_path / f"{name[1]}.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop(name[1], None)


def test_the_page_shows_every_command_that_takes_agents() -> None:
    assert {shlex.split(line)[1] for line in COMMANDS} == {"evaluate", "tournament", "play", "record"}
    assert {game for line in COMMANDS for game in GAMES if f" {game} " in line} == set(GAMES)


@pytest.mark.parametrize("command", [line for line in COMMANDS if shlex.split(line)[1] in SHORT])
def test_the_page_s_commands_run_as_they_stand_there(example: Path, command: str) -> None:
    program, name, *arguments = shlex.split(command)
    assert program == "siberia"
    done = run_python(str(SIBERIA), name, *arguments, *SHORT[name], cwd=example)
    if name == "evaluate" and "my_agents" in command:
        assert any(
            line.startswith("my_agents:") and "Cautious" not in line.split()[1] for line in done.stdout.splitlines()
        )
    if name == "tournament":
        summary = (example / "t" / "summary.csv").read_text(encoding="utf-8")
        assert summary.count("my_agents:Cautious") == 1
        assert ",1\n" not in (example / "t" / "games.csv").read_text(encoding="utf-8"), "somebody forfeited"
    if name == "record":
        assert '"Cautious"' in (example / "games.jsonl").read_text(encoding="utf-8")


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(("game", "games", "wins"), [("card", 12, 11), ("board", 10, 8)])
def test_the_example_is_better_than_random_and_follows_from_its_seed(game: str, games: int, wins: int) -> None:
    variant = find_game(game).variant(2)

    def results(guesses: int, games: int, seed: int) -> Results:
        agents = [make_agent(f"my_agents:Cautious:{guesses}"), make_agent("random")]
        return play_games(variant, agents, games, seed)

    first, again, other = (results(1, 2, seed).scores.tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert games * results(4, games, 1).win_rate(0).value >= wins


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("game", GAMES)
def test_the_example_answers_with_legal_actions_at_every_table(game: str, players: int) -> None:
    env, step = positions(game, players, games=6, decisions=40)
    agent = make_agent("my_agents:Cautious:guesses=1")
    agent.start(env.variant, 3)
    actions = agent.act_batch(whole_view(env, step))
    assert all(step.mask[row, action] for row, action in enumerate(actions))


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("evaluate card --agents my_agents:Cautoius,random", "has no class 'Cautoius'; its agents are Cautious"),
        (
            "evaluate card --agents my_agents:Cautious:many,random",
            "invalid literal for int() with base 10: 'many' (my_",
        ),
        ("record card --agents my_agent:Cautious", "there is no module 'my_agent' in "),
    ],
)
def test_a_slip_is_told_in_one_line_and_writes_nothing(
    example: Path, command: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(example.glob("*.jsonl"))
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("siberia: agent 'my_agent")
    assert told in err
    assert err.count("\n") == 1
    assert sorted(example.glob("*.jsonl")) == before


@pytest.mark.parametrize("name", ["evaluate", "record"])
def test_an_illegal_answer_ends_a_command_with_the_agent_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    source = "from siberia_agents.interface import Agent\nclass Wild(Agent):\n    def act(self, view): return 45\n"
    (tmp_path / f"wild_{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main([name, "card", "--agents", f"wild_{name}:Wild,random", "--games", "2"]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line]
    assert lines == [lines[0]]
    assert lines[0].startswith(
        "siberia: agent Wild: answered 45 (pay diamond/investor), which is not legal now; legal: "
    )
    assert not (tmp_path / "games.jsonl").exists()


def test_an_exception_of_an_agent_is_passed_on_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from siberia_agents.interface import Agent\nclass Lost(Agent):\n    def act(self, view): return [][3]\n"
    (tmp_path / "lost_agents.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(IndexError) as raised:
        main(["evaluate", "card", "--agents", "lost_agents:Lost,random", "--games", "2"])
    assert raised.traceback[-1].path == tmp_path / "lost_agents.py"


def test_the_help_lists_every_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in AGENTS)
    assert "MODULE:CLASS" in told


def test_an_agent_is_called_by_its_class_unless_it_has_a_name() -> None:
    class Mine(Agent):
        def act(self, view: object) -> int:
            return 0

    class Called(Mine):
        name = "called"

    class Further(Called):
        pass

    assert (Mine.name, Called.name, Further.name, Agent.name) == ("Mine", "called", "called", "agent")
