"""What the commands share: options, how a command tells and refuses, and the classes that make its help."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from siberia_agents.registry import AGENTS, short_form
from siberia_env.errors import ConfigurationError, MissingExtraError, SiberiaError
from siberia_env.files import FolderLock
from siberia_env.game import GAMES, game_names
from siberia_experiments.arguments import named_game
from siberia_experiments.faults import one_line, printable

BAD_INPUT = 2  #: exit code
INTERRUPTED = 130  #: exit code
MOST_GAMES = 10**8  #: in one run

F = TypeVar("F", bound=Callable[..., Any])


class Command(TyperCommand):
    """A command whose help says nothing of the type of a flag, which takes no value."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, `--help` included."""
        return without_values(super().get_params(ctx))


class Group(TyperGroup):
    """All commands; likewise."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, `--help` and those for completion included."""
        return without_values(super().get_params(ctx))


def without_values(parameters: Any) -> Any:
    """`parameters`, with nothing in place of the type of each flag."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


class CommandLine(typer.Typer):
    """An application of `Command`s."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[F], F]:
        """Register a command (see typer)."""
        return super().command(name, **{"cls": Command, **options})


def _check_game(context: typer.Context, name: str) -> str:
    """Refuse a game that there isn't before anything else is looked at."""
    if not context.resilient_parsing:  # when the shell completes a command, nothing is refused
        try:
            named_game(name)
        except ConfigurationError as error:
            raise typer.BadParameter(str(error)) from None
    return name


GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME", callback=_check_game, autocompletion=game_names, help=f"Which game: {', '.join(GAMES)}."
    ),
]
Players = Annotated[int, typer.Option("--players", help="Number of players, 2 to 4.")]
Rules = Annotated[
    str,
    typer.Option(
        "--rules",
        metavar="NAME=VALUE,...",
        help="Options of the game, such as edition=oya,max_turns=200 or sides=random,salesman_cards=true. "
        "Write a list with slashes.",
    ),
]
ComponentFile = Annotated[
    Path | None, typer.Option("--components", metavar="FILE", help="File with your own component tables (JSON).")
]
Seed = Annotated[int, typer.Option("--seed", help="Number that decides everything that is random.")]
Counts = Annotated[
    str,
    typer.Option(
        "--players", metavar="P,...", help="Number of players, 2 to 4; one policy learns all numbers that you name."
    ),
]
Minutes = Annotated[
    float | None, typer.Option("--minutes", help="Training time in minutes; 30 if --decisions isn't given.")
]
Decisions = Annotated[
    int | None, typer.Option("--decisions", help="Number of decisions to train for, in place of --minutes.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the run in --out after a stop or kill.")]
Device = Annotated[
    str, typer.Option("--device", help="Where the network learns: cpu, cuda, or auto for a GPU if there is one.")
]
Threads = Annotated[int, typer.Option("--threads", help="Number of torch threads.")]


def complete_agents(incomplete: str) -> list[str]:
    """The lists of agents that begin with what was typed, for the shell."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in AGENTS if name.startswith(begun)]


Agents = Annotated[
    str,
    typer.Option(
        "--agents",
        metavar="NAME,...",
        autocompletion=complete_agents,
        help=f"Agents, seat by seat: {', '.join(map(short_form, AGENTS))}, or MODULE:CLASS for one of your own. "
        "Options follow as :OPTION=VALUE (see docs/agents.md). The last agent takes the remaining seats.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the results as JSON on stdout, and everything else on stderr.")
]


def say(line: str) -> None:
    """Print a line. What a terminal would obey in a name is shown, not sent."""
    typer.echo(printable(line))


def complain(text: str) -> None:
    """Print one line on stderr, if there is one."""
    if sys.stderr is not None:
        print(f"siberia: {one_line(text)}", file=sys.stderr)


@contextmanager
def only_trainer(folder: Path) -> Iterator[None]:
    """Keep other processes from training in `folder`, which exists.

    Raises:
        ConfigurationError: another process trains there.
    """
    try:
        lock = FolderLock(folder)
    except BlockingIOError:
        raise ConfigurationError(f"--out: another process trains in {folder}") from None
    try:
        yield
    finally:
        lock.release()


def refusing_bad_input(command: F) -> F:
    """Turn the suite's own errors into one line on stderr and exit code 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except (SiberiaError, MissingExtraError) as error:
            complain(str(error))  # a name in a file may contain line breaks
        except BrokenPipeError:
            raise
        except OSError as error:  # a disk that is full, a file that has just gone
            where = f"{error.filename}: " if error.filename is not None else ""
            complain(f"{where}{error.strerror or error}")
        except MemoryError:
            complain("there is not enough memory")
        raise typer.Exit(BAD_INPUT) from None

    return wrapped  # type: ignore[return-value]


def processors() -> int:
    """How many processors this process may use, or how many there are if the system doesn't say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def was_given(context: typer.Context, option: str) -> bool:
    """Whether `option` stands in the command."""
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def those_given(context: typer.Context, names: Iterable[str]) -> dict[str, Any]:
    """The values of those of the options `names` that stand in the command."""
    return {name: context.params[name] for name in names if was_given(context, name)}


def keeps_its_own(what: str, context: typer.Context, names: Iterable[str]) -> None:
    """Refuse the options `names`: `what` goes on with those that it began with.

    Raises:
        ConfigurationError: one of them stands in the command.
    """
    for name in sorted(those_given(context, names)):
        raise ConfigurationError(f"--{name.replace('_', '-')}: {what} keeps its own; leave the option out")


def read_budget(context: typer.Context, usual: float | None = None, other: str = "decisions") -> dict[str, Any]:
    """What --minutes and the option in its place (`other`) say; if neither is given, `usual` minutes, or nothing."""
    names = ("minutes", other)
    if those_given(context, names):
        return {name: context.params[name] for name in names}
    return {} if usual is None else {"minutes": usual, other: None}


def positive(name: str, value: float, most: float) -> None:
    """Raise `ConfigurationError` unless the value of the option `name` is above 0 and at most `most`."""
    if not value > 0:
        raise ConfigurationError(f"--{name}: {value}; it has to be more than 0")
    if value > most:
        raise ConfigurationError(f"--{name}: {value}; at most {most}")
