"""Builds what a page needs of the games, `python -m siberia_experiments.web.build` (`make wasm`).

`static/` gets two files a game: `card.wasm`, the kernels, and `card.json`, what else Python knows of the game. Modules
are built anew only if a source of theirs has changed, because that takes minutes; the descriptions always are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from siberia_agents.learned import SHIPPED
from siberia_env.core.jit import PACKAGE_FOLDER, kernel_sources
from siberia_env.errors import SiberiaError, missing_extra
from siberia_env.files import write_whole
from siberia_env.game import GAMES, find_game
from siberia_experiments.web import emit, module
from siberia_experiments.web.description import describe
from siberia_experiments.web.entries import entries_of

STATIC = Path(__file__).with_name("static")
ROOT = PACKAGE_FOLDER.parent
HERE = Path(__file__).parent

#: What numba is told, so that the code does not depend on the machine that builds it.
SETTINGS = {"PYTHONHASHSEED": "0", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


#: Files that `kernel_sources` finds because kernels' files import errors, types and readers of files from them. They
#: hold nothing that is compiled, and no constant of it, so a module does not depend on them.
NOT_COMPILED = (
    "siberia_env/__init__.py",
    "siberia_env/errors.py",
    "siberia_env/files.py",
    "siberia_env/installation.py",
    "siberia_env/view.py",
    "siberia_agents/interface.py",
    "siberia_agents/learned.py",
)


def module_sources() -> list[Path]:
    """The files that a module is made of: kernels with their constants, entries, and the build."""
    packages = {"siberia_env": PACKAGE_FOLDER, "siberia_agents": SHIPPED.parent}
    left_out = {packages[package] / file for package, file in (name.split("/", 1) for name in NOT_COMPILED)}
    kernels = [file for file in kernel_sources(packages) if file not in left_out]
    return [*kernels, *(HERE / name for name in ("entries.py", "emit.py", "module.py", "glue.c"))]


def sources_hash() -> str:
    """A hash of `module_sources`, which also name the versions of the tools."""
    digest = hashlib.sha256()
    for file in module_sources():
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def emitted(game: str) -> tuple[str, dict[str, str]]:
    """The LLVM code of a game's kernels, and the names of the functions in it; in a process of its own.

    Raises:
        BuildError: it can't be made here.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "code.json"
        command = [sys.executable, "-m", emit.__name__, game, str(out)]
        done = subprocess.run(command, env={**os.environ, **SETTINGS}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise module.BuildError(f"the kernels of {game} can't be compiled for the web: {done.stderr.strip()}")
        found = json.loads(out.read_text(encoding="utf-8"))
    return found["code"], found["symbols"]


def built(game: str) -> bytes:
    """The WebAssembly module of a game.

    Raises:
        BuildError: it can't be built.
        MissingExtraError: the extra `web` is not installed.
    """
    if find_spec("ziglang") is None:
        raise missing_extra("web", "building web modules", "ziglang")
    if (found := metadata.version("ziglang")) != module.ZIGLANG:
        raise module.BuildError(f"web modules are built with ziglang {module.ZIGLANG}; here is {found}")
    code, symbols = emitted(game)
    return module.build_module(code, symbols, entries_of(find_game(game)))


def about_module(game: str, content: bytes, sources: str) -> dict[str, Any]:
    """What a description says of the module."""
    digest = hashlib.sha256(content).hexdigest()
    return {"file": f"{game}.wasm", "sha256": digest, "bytes": len(content), "sources": sources}


def as_text(description: dict[str, Any]) -> str:
    """A description as JSON, a line for each of its keys."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in description.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_description(game: str) -> dict[str, Any]:
    """The description that is there."""
    found: dict[str, Any] = json.loads((STATIC / f"{game}.json").read_text(encoding="utf-8"))
    return found


def is_current(game: str, sources: str) -> bool:
    """Whether the module that is there is the one that the sources give, as its description says."""
    try:
        about, content = read_description(game)["wasm"], (STATIC / f"{game}.wasm").read_bytes()
    except (OSError, ValueError, KeyError):
        return False
    return bool(about == about_module(game, content, sources))


def build(game: str, force: bool) -> None:
    """Write the files of a game into `STATIC`."""
    path, sources = STATIC / f"{game}.wasm", sources_hash()
    if force or not is_current(game, sources):
        print(f"{path.name}: compiling (some minutes on a slow machine) ...", flush=True)
        write_whole(path, [built(game)])
    content = path.read_bytes()
    description = {**describe(game), "wasm": about_module(game, content, sources)}
    write_whole(STATIC / f"{game}.json", [as_text(description).encode()])
    print(f"{path.name}: {len(content)} bytes, sha256 {description['wasm']['sha256'][:16]}")


def check(game: str) -> None:
    """Build a game's module anew, and compare it with the one that is there.

    Raises:
        BuildError: it is another one.
    """
    print(f"{game}.wasm: compiling (some minutes on a slow machine) ...", flush=True)
    if not is_current(game, sources_hash()):
        raise module.BuildError(f"{game}.json does not describe a module of these sources: make wasm")
    fresh = built(game)
    if fresh != (STATIC / f"{game}.wasm").read_bytes():
        raise module.BuildError(f"{game}.wasm is not what the sources give: make wasm")
    print(f"{game}.wasm: built again, the same {len(fresh)} bytes")


def main() -> int:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description="Build the WebAssembly modules of the games, and what describes them.")
    parser.add_argument("games", nargs="*", metavar="GAME", help="card or board; both by default")
    parser.add_argument("--force", action="store_true", help="build modules even if no source has changed")
    parser.add_argument("--check", action="store_true", help="build anew and compare; write nothing")
    given = parser.parse_args()
    try:
        for game in given.games or GAMES:
            if given.check:
                check(find_game(game).name)
            else:
                build(find_game(game).name, given.force)
    except (SiberiaError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
