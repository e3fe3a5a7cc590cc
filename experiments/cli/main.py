"""The command `siberia`: all commands together, and what it does if its output fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

from siberia_env import __version__
from siberia_experiments.cli import measuring, people, records, training
from siberia_experiments.cli.options import BAD_INPUT, INTERRUPTED, CommandLine, Group, complain, say

app = CommandLine(
    cls=Group,
    rich_markup_mode="rich",
    help="Siberia: Reiner Stockhausen's games as learning environments. For every command, name the game first.",
)
for room in (people, training, measuring, records):
    app.add_typer(room.commands)


def _tell_version(asked: bool) -> None:
    if asked:
        say(f"siberia-env {__version__}")
        raise typer.Exit


@app.callback()
def siberia(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options before the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `siberia` with `arguments`, by default those of the process, and return the exit code."""
    # Torch threads that spin while they wait bring training to a standstill beside any other busy process.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(given or ["--help"], prog_name="siberia", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except typer.Abort as error:
        return INTERRUPTED if isinstance(error.__context__, KeyboardInterrupt) else 1
    except BrokenPipeError:  # who read the output has gone: `siberia replay games.jsonl | head`
        drop_output()
        return 1
    except OSError as error:
        complain(f"can't write the output: {error.strerror or error}")
        drop_output()
        return BAD_INPUT
    except Exception as error:
        if not hasattr(error, "format_message"):  # only what typer raises for an unreadable command line has it
            raise
        complain(f"{' '.join(error.format_message().split())} (see --help)")
        return BAD_INPUT
    return code or 0


def drop_output() -> None:
    """Send what is still to be printed nowhere, so that the end of the program doesn't fail on it again."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
