"""The rules compiled and the rules as plain Python are the same games, bit for bit."""

from __future__ import annotations

import re

import pytest

from siberia_agents.search.ismcts import PLAYOUTS
from siberia_env.game import GAMES
from tests.compiling import compile_first
from tests.parity_games import CASES, SEARCHED
from tests.processes import run_python

both_games = pytest.mark.parametrize("game", GAMES)


def both_ways(game: str, part: str) -> str:
    """What a part of the games looks like, compiled and as plain Python."""
    compile_first(game)
    compiled = run_python("-m", "tests.parity_games", game, part).stdout
    plain = run_python("-W", "error::RuntimeWarning", "-m", "tests.parity_games", game, part, NUMBA_DISABLE_JIT="1")
    assert "compiling" not in plain.stderr
    assert plain.stdout.splitlines() == compiled.splitlines()
    return compiled


@both_games
def test_compiled_and_plain_python_play_the_same_games(game: str) -> None:
    shown = both_ways(game, "games")
    assert shown.count("over True") == sum(case[0] == game for case in CASES)
    assert re.search(f"^{game}, .*hit limit True", shown, re.MULTILINE)
    assert re.search(f"^{game}, .*hit limit False", shown, re.MULTILINE)
    assert re.search(f"^{game} batch, .* [1-9][0-9]* ended", shown, re.MULTILINE)


@both_games
def test_compiled_and_plain_python_search_the_same_trees(game: str) -> None:
    shown = both_ways(game, "searches")
    searched = sum(case[0] == game for case in SEARCHED)
    for agent, searches in (("search", len(PLAYOUTS) * searched), ("guided", searched)):
        assert len(re.findall(f"^{game} {agent}, ", shown, re.MULTILINE)) == searches


def test_plain_python_really_is_plain() -> None:
    script = (
        "from siberia_env.core import engine, jit; from siberia_env.card import transition; "
        "from siberia_env.board import transition as board; "
        "kernels = engine.step_at, transition.apply, board.apply, engine.apply; "
        "print(jit.PLAIN_PYTHON, *(type(f).__name__ for f in kernels))"
    )
    assert run_python("-c", script, NUMBA_DISABLE_JIT="1").stdout.split() == ["True", *["function"] * 4]
    assert run_python("-c", script).stdout.split() == ["False", *["CPUDispatcher"] * 3, "function"]
