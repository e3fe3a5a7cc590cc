"""Agents of the user's own play tournaments in processes of their own: what they do there touches nobody else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_agents.registry import agent_files, is_own
from siberia_env.errors import ConfigurationError
from siberia_env.game import find_game
from siberia_experiments.tournament import agent_process
from siberia_experiments.tournament.agent_process import LONGEST_ANSWER, NOT_ASKED_FOR, AgentProcess, ForfeitError
from siberia_experiments.tournament.game import Clock, Referee, Setting, Task
from siberia_experiments.tournament.pool import Workers
from siberia_experiments.tournament.run import Tournament
from tests import hostile
from tests.attack import isolation
from tests.compiling import compile_first
from tests.processes import run_python

#: Those ways to do harm that take no time; `make attack` tries all of them.
QUICK = ("frames", "rewrite", "child", "exit later", "close files", "answer early", "send a pickle")


def test_an_agent_that_means_harm_forfeits_its_own_games_and_no_other() -> None:
    compile_first("card")
    lines = run_python("-m", "tests.attack.isolation", *QUICK).stdout.splitlines()
    told = {line["how"]: line for line in map(json.loads, lines)}
    assert tuple(told) == QUICK
    assert [line for line in told.values() if line["fallen"]] == []
    for how in ("exit later", "close files", "answer early", "send a pickle"):
        assert len(told[how]["forfeits"]) >= 3


def test_the_attacks_do_find_the_game_where_it_can_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process with the referee an agent that looks for the game finds it: so the attack is one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    variant = find_game("card").variant(2, {"max_turns": 6})
    setting = Setting(variant, ("tests.hostile:Hostile:frames", "greedy"), 5, 60.0)
    Referee(setting, Clock([0.0] * Clock.SIZE), variant.new_states()).play(Task(0, 0, (0, 1)))
    found = hostile.notes().read_text(encoding="utf-8").splitlines()
    assert {"frame position", "frame task", "object Referee"} <= set(found)


# ---------------------------------------------------------------- what comes back from a process

TOKEN = 12345


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("act", ["action", 3]),
        ("act", ["action", -(10**20)]),
        ("make", ["done"]),
        ("start", ["done"]),
        ("act", ["fault", "why"]),
        ("make", ["refused", "why", "plainly"]),
        ("act", ["compiling"]),
        ("start", ["compiled"]),
    ],
)
def test_answers_to_the_question_are_taken(kind: str, told: list[Any]) -> None:
    assert agent_process._answer(json.dumps([TOKEN, *told]).encode(), TOKEN, kind) == told


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"[12345]",
        b'{"12345": "action"}',
        b'[12346, "action", 1]',
        b'["12345", "action", 1]',
        b'[12345.0, "action", 1]',
        b'[12345, "action"]',
        b'[12345, "action", 1, 2]',
        b'[12345, "action", 1.0]',
        b'[12345, "action", true]',
        b'[12345, "action", "1"]',
        b'[12345, "action", null]',
        b'[12345, "done"]',
        b'[12345, "fault", 3]',
        b'[12345, "won"]',
        b'[12345, ["action"], 1]',
        b"[12345, {}, 1]",
        b"[" * 4000,
        b'[12345, "action", ' + b"9" * 4000,
        b'\xff\xfe[12345, "action", 1]',
        b"\x80\x04K\x01.",
    ],
)
def test_anything_else_is_a_forfeit(text: bytes) -> None:
    with pytest.raises(ForfeitError, match=NOT_ASKED_FOR):
        agent_process._answer(text, TOKEN, "act")


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(TOKEN) | st.just("action"),
        lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=2),
    ).map(lambda told: json.dumps(told).encode())
)
def test_whatever_comes_back_is_an_answer_or_a_forfeit(text: bytes) -> None:
    try:
        told = agent_process._answer(text, TOKEN, "act")
    except ForfeitError:
        return
    assert json.loads(text) == [TOKEN, *told]


#: Programs in place of an agent's process, which know nothing of what they should do, and how that ends.
PROGRAMS = {
    "pass": "its process ended with exit code 0",
    "raise SystemExit(3)": "its process ended with exit code 3",
    "import os; os.kill(os.getpid(), 9)": "its process ended by SIGKILL",
    "import time; connection.close(); time.sleep(60)": "closed its connection to the game",
    "import time; time.sleep(60)": "took longer than 0.5 s for a move",
    "connection.sendall(b'x' * 3); import time; time.sleep(60)": "took longer than 0.5 s for a move",
    "connection.sendall(b'\\xff' * 4)": NOT_ASKED_FOR,
    f"import struct; connection.sendall(struct.pack('<I', {LONGEST_ANSWER + 1}))": NOT_ASKED_FOR,
    "import struct; connection.sendall(struct.pack('<I', 2) + b'[]')": NOT_ASKED_FOR,
    "\nwhile True: connection.sendall(b'\\0\\0\\0\\0')": NOT_ASKED_FOR,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_process_that_does_not_keep_to_the_form_is_ended(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start = f"import socket, sys; connection = socket.socket(fileno=int(sys.argv[1]))\n{program}"
    monkeypatch.setattr(agent_process, "COMMAND", (sys.executable, "-I", "-S", "-c", start))
    monkeypatch.setattr(agent_process, "START_SECONDS", 0.5)
    monkeypatch.setattr(agent_process, "ENDING_SECONDS", 0.5)
    before = set(AgentProcess._running)
    with pytest.raises(ForfeitError) as raised:
        AgentProcess("tests.hostile:Hostile", 0.5, 1000)
    assert str(raised.value).replace("was ended by", "ended by") == PROGRAMS[program]
    assert AgentProcess._running == before


# ---------------------------------------------------------------- nothing is imported outside


def test_the_processes_that_watch_and_play_import_no_agents_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package and the module of the agent each leave a note with the number of the process that imports them."""
    package = tmp_path / "strange"
    package.mkdir()
    leave = "import os\nwith open({!r}, 'a') as file: file.write(f'{{os.getpid()}} {{os.getppid()}}\\n')\n"
    (package / "__init__.py").write_text(leave.format(str(tmp_path / "notes")), encoding="utf-8")
    (package / "agents.py").write_text(
        leave.format(str(tmp_path / "notes")) + "from tests.faulty import Faulty as Mine\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    compile_first("card")
    tournament = Tournament(
        find_game("card").variant(2, {"max_turns": 4}), ["strange.agents:Mine", "greedy"], 2, tmp_path / "it", 1
    )
    assert agent_files("strange.agents:Mine", tournament.setting.variant) == [package / "agents.py"]
    assert not (tmp_path / "notes").exists()
    tournament.digests()
    with Workers(tournament.setting, 1) as workers:
        workers_process = workers._workers[0].process.pid
        results = list(workers.play(tournament.schedule.task(game) for game in range(2)))
    assert [result.forfeit for result in results] == [-1, -1]
    assert "strange" not in sys.modules
    importers = [line.split() for line in (tmp_path / "notes").read_text(encoding="utf-8").splitlines()]
    assert importers
    assert {parent for _, parent in importers} == {str(workers_process)}


def test_modules_are_found_as_the_import_system_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "inner").mkdir()
    for file in ("top.py", "plain/mine.py", "plain/inner/deep.py"):
        (tmp_path / file).write_text("raise SystemExit\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    variant = find_game("card").variant(2)
    for module, file in (
        ("top", "top.py"),
        ("plain.mine", "plain/mine.py"),
        ("plain.inner.deep", "plain/inner/deep.py"),
    ):
        assert agent_files(f"{module}:Mine", variant) == [tmp_path / file]
    for module in ("nothing", "top.inner", "plain.other", "plain.inner.other"):
        with pytest.raises(ConfigurationError, match="there is no module"):
            agent_files(f"{module}:Mine", variant)


def test_a_spec_says_whether_it_names_a_module() -> None:
    assert [is_own(spec) for spec in ("greedy", "learned:a.npz", "search:100", "my_agents:Mine", "a.b:c:3")] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_every_way_to_do_harm_is_tried() -> None:
    ways = {name.replace("_", " ") for name in vars(hostile.Hostile) if not name.startswith("_")}
    ways -= {"name", "start", "act"}
    tried = {*isolation.FORFEITS, *isolation.VAIN, *isolation.EITHER, "read the referee"}
    assert ways - tried == {"kill the referee"}  # not repelled: docs/security.md says so
