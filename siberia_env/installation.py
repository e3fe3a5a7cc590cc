"""How the suite is installed here, and which shell command adds an optional extra.

The commands work from the current directory and use the Python that runs now, even if its environment is not activated.
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
    """`path` as you would type it here: relative if it lies in the current directory, otherwise absolute."""
    absolute = Path(os.path.abspath(path))  # symbolic links stay: the Python of a virtual environment is one
    here = Path.cwd()
    if absolute == here:
        return "."
    if not absolute.is_relative_to(here):
        return str(absolute)
    relative = str(absolute.relative_to(here))
    return relative if os.sep in relative and not relative.startswith("-") else os.path.join(".", relative)


def python_command() -> str:
    """The command that starts the Python that runs now: its name if the shell finds it by name, otherwise its path."""
    own = sys.executable
    for name in ("python", Path(own).name):
        found = shutil.which(name)
        if found and os.path.dirname(os.path.abspath(found)) == os.path.dirname(own) and os.path.samefile(found, own):
            return name
    return nearby(own)


def install_command(extra: str) -> str:
    """The command that installs the optional extra `extra` for the Python that runs now.

    In a checkout the command installs the checkout with the extra. An installed wheel doesn't say where it came from,
    so for a wheel the command names the packages that make up the extra.
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
    """The packages that the installed suite declares for an extra; if it declares none, the extra by name."""
    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        declared = []
    halves = [requirement.partition(";") for requirement in declared]
    markers = (f'extra == "{extra}"', f"extra == '{extra}'")
    return [package.strip() for package, _, marker in halves if marker.strip() in markers] or [
        f"{DISTRIBUTION}[{extra}]"
    ]
