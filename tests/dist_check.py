"""`make dist-check [TESTS=...]`: builds wheel and source archive, and runs the tests in an empty environment.

The source archive is unpacked and the wheel installed, with all that its extra `dev` asks for, into a new virtual
environment. Then the sources in the unpacked archive are replaced by links to the installed packages, and the archive's
tests are run there. So what is tested is what the wheel installs, and whatever the tests need has to be in the archive.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.processes import ROOT

PACKAGES = {"siberia_env": "siberia_env", "agents": "siberia_agents", "experiments": "siberia_experiments"}


def run(*words: str | Path, cwd: Path = ROOT) -> None:
    """Run a command without this environment's Python path, and show what it prints."""
    line = [str(word) for word in words]
    print("+", *line, flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run(line, cwd=cwd, env=environment, check=True)


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from the archive; return both.

    The environments of the build are isolated, as on an index: what is not in the archive is not in the wheel.
    """
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", folder)
    (archive,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return archive, wheel


def install(archive: Path, wheel: Path, folder: Path) -> tuple[Path, Path]:
    """Unpack the archive and install the wheel in `folder`; return the environment's Python and the unpacked tree."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (tree,) = (path for path in folder.iterdir() if path.is_dir())
    environment = folder / "environment"
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin/python"
    constraints = ["--constraint", tree / "constraints.txt"]
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *constraints, f"{wheel}[dev]")
    run(python, "-m", "pip", "check", "--disable-pip-version-check")
    (installed,) = environment.glob("lib/python*/site-packages")
    for source, package in PACKAGES.items():
        differing = differences(tree / source, installed / package)
        assert not differing, f"the wheel's {package} is not the archive's {source}: {', '.join(differing)}"
        shutil.rmtree(tree / source)
        (tree / source).symlink_to(installed / package)
    return python, tree


def run_tests(python: Path, tree: Path, tests: Sequence[str]) -> None:
    """Run `tests` of the archive, all by default, against the installed packages."""
    run(python.with_name("siberia"), "rules", "card", "--short", cwd=tree.parent)
    if not tests:  # some tests compile what they need themselves, which is less
        run(python, "-m", "tests.compiling", cwd=tree)
    workers = ["-n", "logical", "--maxprocesses", "8", "--dist", "worksteal"]
    notebooks = ["--nbmake", "--nbmake-timeout", "60"]
    run(python, "-m", "pytest", *workers, *notebooks, *(tests or ["tests", "notebooks"]), cwd=tree)


def differences(source: Path, installed: Path) -> list[str]:
    """The files of `source` that are not the same in `installed`."""
    names = [
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    _, mismatch, missing = filecmp.cmpfiles(source, installed, names, shallow=False)
    return sorted([*mismatch, *missing])


def main(tests: Sequence[str]) -> None:
    """Build into `dist/`, and check what was built in a folder that is removed at the end."""
    archive, wheel = build(ROOT / "dist")
    folder = Path(tempfile.mkdtemp())
    try:
        run_tests(*install(archive, wheel, folder), tests)
    finally:
        shutil.rmtree(folder)
    print(f"{archive.name} and {wheel.name} are in dist/, and pass the tests in an empty environment")


if __name__ == "__main__":
    main(sys.argv[1:])
