"""The mutants of the rules: how they are made, and that those explained as equivalent are still made."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

from tests.mutation import GAMES, explanations, mutants_of

TOY = '''
from siberia_env.core.jit import kernel

@kernel
def refill(stack: int, row: int) -> int:
    """Words are left alone."""
    while row < LIMIT and stack > 0:
        row += 1
        stack -= 1
    return row

def not_a_kernel() -> int:
    return 1
'''


def test_every_small_change_of_a_kernel_is_made(tmp_path: Path) -> None:
    source = tmp_path / "toy.py"
    source.write_text(TOY)
    made = list(mutants_of(SimpleNamespace(__name__="siberia_env.toy", __file__=str(source))))
    assert {mutant.function for mutant in made} == {"toy.refill"}
    loop = "while row < LIMIT and stack > 0:"
    assert sorted(mutant.change.replace("  ->  ", " -> ") for mutant in made) == sorted(
        [
            f"{loop} -> while not (row < LIMIT and stack > 0):",
            f"{loop} -> while row < LIMIT or stack > 0:",
            f"{loop} -> while stack > 0:",
            f"{loop} -> while row < LIMIT:",
            f"{loop} -> while row <= LIMIT and stack > 0:",
            f"{loop} -> while row >= LIMIT and stack > 0:",
            f"{loop} -> while row < LIMIT + 1 and stack > 0:",
            f"{loop} -> while row < LIMIT - 1 and stack > 0:",
            f"{loop} -> while row < LIMIT and stack >= 0:",
            f"{loop} -> while row < LIMIT and stack <= 0:",
            f"{loop} -> while row < LIMIT and stack > 1:",
            f"{loop} -> while row < LIMIT and stack > -1:",
            "row += 1 -> pass",
            "row += 1 -> row -= 1",
            "row += 1 -> row = 1",
            "row += 1 -> row += 2",
            "row += 1 -> row += 0",
            "stack -= 1 -> pass",
            "stack -= 1 -> stack += 1",
            "stack -= 1 -> stack = 1",
            "stack -= 1 -> stack -= 2",
            "stack -= 1 -> stack -= 0",
            "return row -> pass",
        ]
    )


def test_every_mutant_that_is_explained_is_made() -> None:
    modules = [import_module(name) for files, _ in GAMES.values() for name in files]
    made = {(mutant.function, mutant.change) for module in modules for mutant in mutants_of(module)}
    assert explanations()
    assert not set(explanations()) - made
