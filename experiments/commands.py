"""Writes command lines for the user to type. They fit the current directory, the shell and a run's options."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siberia_env.installation import nearby, python_command

NAME = "siberia"

# How values are written after `--rules`.
TRUTH = {"true": True, "false": False}
LIST_SIGN = "/"


def program() -> list[str]:
    """The words that start the running command: its name if the shell finds it by that name, otherwise its path."""
    scripts = [Path(sys.argv[0]), Path(sys.executable).with_name(NAME)]  # the second is for `python -m`
    script = next((path for path in scripts if path.stem == NAME and path.is_file()), None)
    if script is None:
        return [python_command(), "-m", "siberia_experiments.cli"]
    found = shutil.which(NAME)
    return [NAME] if found and os.path.samefile(found, script) else [nearby(script)]


def command_line(*words: str) -> str:
    """The command `siberia` with the arguments `words`, quoted for the shell."""
    return shlex.join([*program(), *words])


def path_word(path: Path) -> str:
    """A path as the value of an option. A path that begins with a dash gets a `./`, or it would read as an option."""
    text = str(path)
    return os.path.join(".", text) if text.startswith("-") else text


def rules_text(rules: Mapping[str, Any]) -> str:
    """A game's options as they are written after `--rules`."""
    return ",".join(f"{name}={_value_text(value)}" for name, value in rules.items())


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return next(text for text, truth in TRUTH.items() if truth is value)
    return LIST_SIGN.join(value) if isinstance(value, (list, tuple)) else str(value)


def resume_line(game: str, folder: Path) -> str:
    """The command that continues the run in `folder`."""
    return command_line("train", game, "--resume", "--out", path_word(folder))
