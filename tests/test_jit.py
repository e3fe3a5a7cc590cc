"""The compile cache never serves a stale kernel, and the state record is small, packed and made of integers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numba
import numpy as np
import pytest

from siberia_env.core import engine, jit
from siberia_env.game import GAMES, find_game
from tests.compiling import compile_first
from tests.processes import ROOT, run_python

NOTICE = "siberia_env: compiling the rules (once for this version, some seconds) ..."
MENU = """
import numpy as np
from siberia_env.core import jit
from siberia_env.core import engine
from siberia_env.card.game import GAME
from siberia_env.card.state import CHOOSE, DISCOVER
variant = GAME.variant(2)
states = variant.new_states(2)
states["phase"] = DISCOVER, CHOOSE
states["face_down"] = 3
states["hand_size"] = 7
print(jit.PACKAGE_FOLDER)
mask = np.zeros(GAME.num_actions, np.int8)
for i in range(2):
    engine.legal_at(variant.rulesets, states, i, mask)
    print([name for name, legal in zip(variant.action_names, mask) if legal and name.startswith(("keep", "draw"))])
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may edit."""
    shutil.copytree(ROOT / "siberia_env", tmp_path / "siberia_env", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    """Replace the one place in `file` that says `old`."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file.name}: {text.count(old)} times {old!r}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def menu(package: Path) -> tuple[list[str], bool]:
    """What a new process offers with three cards face down, and with seven in hand; whether it had to compile."""
    done = run_python("-c", MENU, first=package, cwd=package, NUMBA_CACHE_DIR=str(package / "cache"))
    folder, *offers = done.stdout.splitlines()
    assert Path(folder) == (package / "siberia_env").resolve()
    return offers, NOTICE in done.stderr


def test_an_edited_rule_or_constant_never_runs_from_a_stale_cache(package: Path) -> None:
    folder = package / "siberia_env"
    assert menu(package) == (["[]", "['draw 0', 'draw 1']"], True)
    assert menu(package) == (["[]", "['draw 0', 'draw 1']"], False)
    edit(folder / "card" / "components.py", "HAND_LIMIT = 8", "HAND_LIMIT = 9")
    assert menu(package) == (["[]", "['draw 0', 'draw 1', 'draw 2']"], True)
    edit(folder / "card" / "rules.py", "return state.face_down < 3", "return state.face_down < 4")
    assert menu(package) == (["['keep hidden']", "['draw 0', 'draw 1', 'draw 2']"], True)
    (folder / "not_a_kernel.py").write_text('"""Nothing that compiled code could call."""\nX = 1\n', encoding="utf-8")
    assert menu(package) == (["['keep hidden']", "['draw 0', 'draw 1', 'draw 2']"], False)


def test_the_hash_covers_kernel_files_and_what_they_import(tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    folder.mkdir()
    files = {
        "__init__.py": "",
        "kernels.py": "from siberia_env.core.jit import kernel\nfrom pack.numbers import (\n    ONE,\n)\n",
        "numbers.py": "from pack import deeper\nONE = 1\n",
        "deeper.py": "TWO = 2\n",
        "other.py": "from pack import kernels\nTHREE = 3\n",
        "part.py": "from siberia_env.core.jit import kernel_part\n",
        "many_names.py": "from siberia_env.core.jit import (\n    borrowed,\n    kernel,\n)\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = {source.name for source in jit.kernel_sources({"pack": folder})}
    assert {"kernels.py", "numbers.py", "deeper.py", "part.py", "many_names.py"} <= sources
    assert "other.py" not in sources

    def current() -> str:
        jit.sources_hash.cache_clear()
        return jit.sources_hash(("pack", folder))

    before = current()
    (folder / "other.py").write_text("FOUR = 4\n", encoding="utf-8")
    assert current() == before
    for name in ("kernels.py", "numbers.py", "deeper.py"):
        changed = current()
        (folder / name).write_text(files[name] + "# changed\n", encoding="utf-8")
        assert current() != changed
    jit.sources_hash.cache_clear()


def test_the_rules_and_their_tables_are_among_the_hashed_sources() -> None:
    sources = {
        source.relative_to(jit.PACKAGE_FOLDER).as_posix()
        for source in jit.kernel_sources({"siberia_env": jit.PACKAGE_FOLDER})
    }
    rooms = {
        f"{game}/{name}.py"
        for game in GAMES
        for name in ("rules", "transition", "determinize", "observation", "components", "state", "actions")
    }
    assert rooms | {"core/engine.py", "game.py", "core/rng.py", "core/jit.py"} <= sources
    assert "card_v0.py" not in sources


def test_numbas_own_settings_stay_as_they_were() -> None:
    before = numba.config.CACHE_DIR

    def same(x: int) -> int:
        return x

    inner = jit.kernel(same)
    assert before == numba.config.CACHE_DIR
    assert inner(3) == 3
    numba.config.CACHE_DIR = "somewhere"
    try:
        jit.kernel(same)
        assert numba.config.CACHE_DIR == "somewhere"
    finally:
        numba.config.CACHE_DIR = before


def test_an_unwritable_cache_folder_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert jit.cache_root().name == f"siberia_env-{os.getuid()}"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert jit.cache_root() == tmp_path / "home" / "siberia_env"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert jit.cache_root() == tmp_path / "own" / "siberia_env"


def test_the_notice_comes_once_and_not_for_the_users_own_functions() -> None:
    script = "import numba, siberia_env.core.engine\n@numba.njit\ndef own(x):\n    return x\nown(1)"
    done = run_python("-c", script)
    assert done.stderr == ""
    assert done.stdout == ""


@pytest.mark.parametrize("game", GAMES)
def test_random_games_and_searches_stay_within_the_bounds_of_every_array(game: str) -> None:
    compile_first(f"{game}, bounds checked")
    shown = run_python("-m", "tests.bounds_games", game, NUMBA_BOUNDSCHECK="1").stdout
    cache, games, searches = (line.partition(" ")[2] for line in shown.splitlines())
    assert int(games) > 500
    assert int(searches) > 200
    assert Path(cache) != jit.cache_folder(engine.step_batch)


# ---------------------------------------------------------------- the records


@pytest.mark.parametrize(
    "dtype",
    [find_game(game).state_dtype for game in GAMES] + [find_game(game).variant(2).rulesets.dtype for game in GAMES],
)
def test_records_hold_integers_only_and_no_hidden_padding(dtype: np.dtype[np.void]) -> None:
    assert dtype.names is not None
    assert dtype.fields is not None
    sizes = 0
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        assert field.base.kind in "iu", name
        assert offset == sizes, f"padding before {name}"
        assert offset % field.base.itemsize == 0, f"{name} is not aligned"
        sizes += field.itemsize
    assert sizes == dtype.itemsize, "padding at the end"


@pytest.mark.parametrize(("game", "most"), [("card", 640), ("board", 1500)])
def test_a_state_is_small(game: str, most: int) -> None:
    size = find_game(game).state_dtype.itemsize
    assert size <= most
    assert size % 8 == 0
    assert find_game(game).variant(2).new_states(100_000).nbytes == 100_000 * size
