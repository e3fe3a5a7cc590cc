"""The compile cache never serves a stale kernel, and the state record is small, packed and made of integers."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from siberia_env.core import engine, jit
from siberia_env.game import GAMES, find_game
from tests.compiling import BOUNDS_CHECKED, compile_first
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
    (folder / "not_a_kernel.py").write_text('"""Nothing that compiled code could call."""\nX = 1\n', encoding="utf-8")
    assert menu(package) == (["[]", "['draw 0', 'draw 1']"], False)
    edit(folder / "card" / "components.py", "HAND_LIMIT = 8", "HAND_LIMIT = 9")
    edit(folder / "card" / "rules.py", "return state.face_down < 3", "return state.face_down < 4")
    assert menu(package) == (["['keep hidden']", "['draw 0', 'draw 1', 'draw 2']"], True)


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
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert jit.cache_root() == tmp_path / f"siberia_env-{os.getuid()}"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert jit.cache_root() == tmp_path / "home" / "siberia_env"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert jit.cache_root() == tmp_path / "own" / "siberia_env"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    assert jit.cache_root() == tmp_path / "home" / "siberia_env"


# ---------------------------------------------------------------- a cache that somebody else or a fault has written to


def cache_roots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, Path]:
    """The first and the second folder that compiled code would be kept in."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "first"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
    jit._first_usable.cache_clear()
    return tmp_path / "first" / "siberia_env", tmp_path / "second" / "siberia_env"


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o702])
@pytest.mark.parametrize("above", [False, True])
def test_a_cache_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mode: int,
    above: bool,
) -> None:
    first, second = cache_roots(monkeypatch, tmp_path)
    assert jit.cache_root() == first
    assert first.stat().st_mode & 0o777 == 0o700
    (first.parent if above else first).chmod(mode)
    jit._first_usable.cache_clear()
    assert jit.cache_root() == second
    assert "no compiled code is kept in" in capsys.readouterr().err


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_planted_cache_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = cache_roots(monkeypatch, tmp_path)
    first.mkdir(mode=0o700, parents=True)
    os.chown(first, 1234, 1234)
    assert jit.cache_root() == second
    second.parent.rename(tmp_path / "kept")
    second.parent.symlink_to(first.parent)
    jit._first_usable.cache_clear()
    assert jit.cache_root() not in (first, second)


def test_a_sticky_folder_such_as_tmp_may_be_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = cache_roots(monkeypatch, tmp_path)
    first.parent.mkdir()
    first.parent.chmod(0o1777)
    assert jit.cache_root() == first


def add_by_a_new_kernel(tmp_path: Path) -> None:
    """Add whole numbers and floats by a kernel that this process has not met: two entries of the cache."""
    file = tmp_path / "program.py"
    if not file.exists():
        file.write_text("def add(x, y):\n    return x + y\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    add: Any = jit.kernel(module.add)
    assert (add(2, 3), add(2.5, 3.0)) == (5, 5.5)


def test_damaged_entries_of_the_cache_are_thrown_away_and_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = cache_roots(monkeypatch, tmp_path)
    add_by_a_new_kernel(tmp_path)
    kept = sorted(root.rglob("*.nbc"))
    assert len(kept) == 2
    whole = kept[0].read_bytes()
    damage = [whole[: len(whole) * part // 7] for part in range(7)] + [whole[:-1], kept[1].read_bytes()]
    for place in range(0, len(whole), len(whole) // 10):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        damage.append(bytes(flipped))
    for damaged in damage:
        kept[0].write_bytes(damaged)
        add_by_a_new_kernel(tmp_path)
        made = kept[0].read_bytes()
        assert hashlib.sha256(made[32:]).digest() == made[:32]
        assert made != damaged
    assert sorted(root.rglob("*.nbc")) == kept


def test_an_entry_is_never_taken_for_another_functions_or_another_keys(tmp_path: Path) -> None:
    folder = tmp_path / "entries"
    file = jit._Entries(str(folder), "name", "stamp")
    file.save(("key", 1), "data")
    assert file.load(("key", 1)) == "data"
    (only,) = folder.iterdir()
    content = only.read_bytes()
    for other, key in ((jit._Entries(str(folder), "name", "other"), ("key", 1)), (file, ("key", 2))):
        Path(other._path(key)).write_bytes(content)
        assert other.load(key) is None
    file.save(("key", 1), "data")
    file.flush()
    assert not list(folder.iterdir())


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = jit._Entries(str(tmp_path / "entries"), "name", "stamp")

    def full(source: str, target: str) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "replace", full)
    file.save("key", "data")
    assert file.load("key") is None
    assert not list((tmp_path / "entries").iterdir())


def test_without_any_folder_kernels_are_compiled_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unwritable folder must not lead numba to a cache of its own, whose rules could be old ones."""
    blocked = tmp_path / "blocked"
    blocked.write_text("", encoding="utf-8")
    everywhere = dict.fromkeys(("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR"), str(blocked))
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    for name, value in everywhere.items():
        monkeypatch.setenv(name, value)
    assert jit.cache_root() is None
    assert jit.cache_folder(engine.step_batch) is None

    def three(x: int) -> int:
        return x + 3

    assert jit.kernel(three)(4) == 7
    jit._first_usable.cache_clear()


def test_numbas_own_settings_never_lead_past_the_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, _ = cache_roots(monkeypatch, tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "InTreeCacheLocator", raising=False)
    add_by_a_new_kernel(tmp_path)
    assert len(list(root.rglob("*.nbc"))) == 2
    assert not list(tmp_path.glob("__pycache__/*.nb?"))


def test_the_notice_comes_once_and_not_for_the_users_own_functions() -> None:
    script = "import numba, siberia_env.core.engine\n@numba.njit\ndef own(x):\n    return x\nown(1)"
    done = run_python("-c", script)
    assert done.stderr == ""
    assert done.stdout == ""


@pytest.mark.parametrize("game", GAMES)
def test_random_games_and_searches_stay_within_the_bounds_of_every_array(game: str) -> None:
    compile_first(f"{game}, bounds checked")
    shown = run_python("-m", "tests.bounds_games", game, **BOUNDS_CHECKED).stdout
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
