"""The rules compiled and the rules as plain Python are the same game, bit for bit."""

from __future__ import annotations

from tests.processes import run_python


def test_compiled_and_plain_python_play_the_same_games() -> None:
    compiled = run_python("-m", "tests.parity_games").stdout
    plain = run_python("-W", "error::RuntimeWarning", "-m", "tests.parity_games", NUMBA_DISABLE_JIT="1")
    assert plain.stdout.splitlines() == compiled.splitlines()
    assert compiled.count("over True") == 7
    assert "truncated True" in compiled
    assert "compiling" not in plain.stderr


def test_plain_python_really_is_plain() -> None:
    script = (
        "from siberia_env import loops, compiled; from siberia_env.card import rules; "
        "print(compiled.PLAIN_PYTHON, *(type(f).__name__ for f in (loops.step_at, rules.apply, loops.apply)))"
    )
    assert run_python("-c", script, NUMBA_DISABLE_JIT="1").stdout.split() == [
        "True",
        "function",
        "function",
        "function",
    ]
    assert run_python("-c", script).stdout.split() == ["False", "CPUDispatcher", "CPUDispatcher", "function"]
