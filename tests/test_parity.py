"""The rules compiled and the rules as plain Python are the same games, bit for bit."""

from __future__ import annotations

import re

from siberia_agents.tree import PLAYOUTS
from siberia_env.game import GAMES
from tests.parity_games import CASES, SEARCHED
from tests.processes import run_python


def test_compiled_and_plain_python_play_the_same_games() -> None:
    compiled = run_python("-m", "tests.parity_games").stdout
    plain = run_python("-W", "error::RuntimeWarning", "-m", "tests.parity_games", NUMBA_DISABLE_JIT="1")
    assert plain.stdout.splitlines() == compiled.splitlines()
    assert compiled.count("over True") == len(CASES)
    for game in GAMES:
        assert re.search(f"^{game}, .*truncated True", compiled, re.MULTILINE)
        assert re.search(f"^{game}, .*truncated False", compiled, re.MULTILINE)
        assert re.search(f"^{game} batch, .* [1-9][0-9]* ended", compiled, re.MULTILINE)
    for agent, searches in (("search", len(PLAYOUTS) * len(SEARCHED)), ("guided", len(SEARCHED))):
        assert len(re.findall(f"^[a-z]+ {agent}, ", compiled, re.MULTILINE)) == searches
    assert "compiling" not in plain.stderr


def test_plain_python_really_is_plain() -> None:
    script = (
        "from siberia_env import loops, compiled; from siberia_env.card import rules; "
        "from siberia_env.board import rules as board; "
        "kernels = loops.step_at, rules.apply, board.apply, loops.apply; "
        "print(compiled.PLAIN_PYTHON, *(type(f).__name__ for f in kernels))"
    )
    assert run_python("-c", script, NUMBA_DISABLE_JIT="1").stdout.split() == ["True", *["function"] * 4]
    assert run_python("-c", script).stdout.split() == ["False", *["CPUDispatcher"] * 3, "function"]
