"""How the suite is installed here, and what is typed in a shell to add to it.

Commands fit the current directory and the Python that runs now, whether or not its environment is activated.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tomllib
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "siberia-env"


def nearby(path: str | Path) -> str:
    """`path` as it is written in the current directory: relative if it lies in it, otherwise absolute."""
    absolute = Path(os.path.abspath(path))  # symbolic links stay: the Python of a virtual environment is one
    here = Path.cwd()
    if absolute == here:
        return "."
    if not absolute.is_relative_to(here):
        return str(absolute)
    relative = str(absolute.relative_to(here))
    return relative if os.sep in relative and not relative.startswith("-") else os.path.join(".", relative)


def python_command() -> str:
    """What starts the Python that runs now: its name if the shell finds it by that, otherwise its path."""
    own = sys.executable
    for name in ("python", Path(own).name):
        found = shutil.which(name)
        if found and os.path.dirname(os.path.abspath(found)) == os.path.dirname(own) and os.path.samefile(found, own):
            return name
    return nearby(own)


def install_command(extra: str) -> str:
    """The command that installs the optional extra `extra` for the Python that runs now.

    In a checkout it installs the checkout with the extra. An installed wheel doesn't say where it came from, so there
    the command names the packages that the extra consists of.
    """
    checkout = Path(__file__).resolve().parents[1]
    if _is_checkout(checkout):
        what = ["--editable", f"{nearby(checkout)}[{extra}]"]
    else:
        what = _packages_of(extra)
    return shlex.join([python_command(), "-m", "pip", "install", *what])


def _is_checkout(folder: Path) -> bool:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return bool(project["name"] == DISTRIBUTION)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _packages_of(extra: str) -> list[str]:
    """What the installed package declares for an extra; the extra by name if nothing is installed."""
    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        declared = []
    halves = [requirement.partition(";") for requirement in declared]
    markers = (f'extra == "{extra}"', f"extra == '{extra}'")
    return [package.strip() for package, _, marker in halves if marker.strip() in markers] or [
        f"{DISTRIBUTION}[{extra}]"
    ]
