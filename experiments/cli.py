"""The command line: `siberia train|evaluate|exploit|tune|tournament|play|record|replay|bench|demo`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from siberia_agents.registry import AGENTS, is_own, short_form
from siberia_env import __version__
from siberia_env.errors import ConfigurationError, MissingExtraError, SiberiaError
from siberia_env.files import FolderLock
from siberia_env.game import GAMES, Variant, find_game
from siberia_experiments.commands import LIST_SIGN, TRUTH, resume_line
from siberia_experiments.faults import one_line, printable

BAD_INPUT = 2  #: exit code
INTERRUPTED = 130  #: exit code
MOST_GAMES = 10**8  #: in one run

app = typer.Typer(
    add_completion=False,
    rich_markup_mode="rich",
    help="Siberia: Reiner Stockhausen's games as learning environments. For every command, name the game first.",
)

GameName = Annotated[str, typer.Argument(metavar="GAME", help=f"Which game: {', '.join(GAMES)}.")]
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
Agents = Annotated[
    str,
    typer.Option(
        "--agents",
        metavar="NAME,...",
        help=f"Agents, seat by seat: {', '.join(map(short_form, AGENTS))}, or MODULE:CLASS for one of your own. "
        "Options follow as :OPTION=VALUE (see docs/agents.md). The last agent takes the remaining seats.",
    ),
]
F = TypeVar("F", bound=Callable[..., Any])


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


def read_rules(text: str, option: str = "--rules") -> dict[str, Any]:
    """Read options such as `edition=oya,max_turns=200`.

    A value is a whole number, `true`, `false`, a word, or a list of words (`a/b`).

    Raises:
        ConfigurationError: a part that is not of the form NAME=VALUE.
    """
    rules: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = (text.strip() for text in part.partition("="))
        if not name or not value:
            raise ConfigurationError(f"{option}: {part!r} is not of the form NAME=VALUE")
        if name in rules:
            raise ConfigurationError(f"{option}: {name} is given twice")
        rules[name] = _read_value(value)
    return rules


def _read_value(text: str) -> int | bool | str | list[str]:
    if text in TRUTH:
        return TRUTH[text]
    if LIST_SIGN in text:
        return [part.strip() for part in text.split(LIST_SIGN)]
    try:
        return int(text)
    except ValueError:
        return text


def read_widths(text: str) -> tuple[int, ...]:
    """Read widths such as `256,256`.

    Raises:
        ConfigurationError: the widths are not whole numbers of 1 or more.
    """
    widths = _whole_numbers(text)
    if not widths or min(widths) < 1:
        raise ConfigurationError(f"--network: {text!r}; give the widths of the hidden layers, such as 256,256")
    return widths


def read_counts(text: str) -> tuple[int, ...]:
    """Read player counts such as `2` or `2,3,4`.

    Raises:
        ConfigurationError: they are no whole numbers.
    """
    counts = _whole_numbers(text)
    if not counts:
        raise ConfigurationError(f"--players: {text!r}; give a number of players, or several, such as 2,3,4")
    return counts


def _whole_numbers(text: str) -> tuple[int, ...]:
    """The numbers in `text`, which commas separate; none if one of them is no whole number."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        return ()


def read_fields(option: str, text: str, given: Any) -> Any:
    """Read values for the fields of a dataclass, such as `keep=0.5,entropy=0.01/0.001`, into a copy of `given`.

    Raises:
        ConfigurationError: a part that is not of the form NAME=VALUE, a name that is no field, or a value of the wrong
            kind.
    """
    changes: dict[str, Any] = {}
    for name, value in read_rules(text, option).items():
        if not hasattr(given, name):
            names = ", ".join(field.name for field in fields(given))
            raise ConfigurationError(f"{option}: no {name!r}; there are {names}")
        before = getattr(given, name)
        try:
            if isinstance(before, tuple):
                parts = value if isinstance(value, list) else [value]
                changes[name] = tuple(type(before[0])(part) for part in parts)
            elif isinstance(before, bool) != isinstance(value, bool):
                raise ValueError
            else:
                changes[name] = type(before)(value)
        except (ValueError, TypeError):
            raise ConfigurationError(f"{option}: {name}={value}; it is like {name}={before}") from None
    return replace(given, **changes)


def read_agents(text: str) -> list[str]:
    """Read a list of agents such as `greedy, random`."""
    return [spec.strip() for spec in text.split(",")]


def find_variant(game: str, players: int, rules: str, components: Path | None) -> Variant:
    """Return the variant that the common options describe."""
    return find_game(game).variant(players, read_rules(rules), components)


def read_tables(game: str, components: Path | None) -> dict[str, Any] | None:
    """Read and check the component tables in the file `components`, and return them in the form that a run stores."""
    if components is None:
        return None
    tables: dict[str, Any] = find_game(game).read_components(components).as_json()
    return tables


def processors() -> int:
    """How many processors this process may use, or how many there are if the system doesn't say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _was_given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _positive(name: str, value: float, most: float) -> None:
    if not value > 0:
        raise ConfigurationError(f"--{name}: {value}; it has to be more than 0")
    if value > most:
        raise ConfigurationError(f"--{name}: {value}; at most {most}")


@app.command()
@refusing_bad_input
def train(
    context: typer.Context,
    game: GameName,
    players: Annotated[
        str,
        typer.Option(metavar="P,...", help="Number of players, 2 to 4; one policy learns all numbers that you name."),
    ] = "2",
    rules: Rules = "",
    components: ComponentFile = None,
    minutes: Annotated[
        float | None, typer.Option(help="Training time in minutes; 30 if --decisions isn't given.")
    ] = None,
    decisions: Annotated[
        int | None,
        typer.Option(help="Number of decisions to train for, in place of --minutes; such a run is repeatable."),
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/train"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out after a stop or kill.")] = False,
    device: Annotated[
        str, typer.Option(help="Where the network learns: cpu, cuda, or auto for a GPU if there is one.")
    ] = "auto",
    threads: Annotated[
        int, typer.Option(help="Number of torch threads; a run on a CPU can be repeated with as many.")
    ] = 2,
    reward: Annotated[str, typer.Option(help="What the policy maximises: win, margin or score.")] = "margin",
    network: Annotated[
        str,
        typer.Option(
            metavar="WIDTH,...", help="Widths of the hidden layers, such as 256,256; each game has a default."
        ),
    ] = "",
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Learning rate at the start; it falls to a twentieth. Each game has a default."),
    ] = None,
    start_from: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Saved model to start from; it may be for other player counts.")
    ] = None,
    settings: Annotated[
        str,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Other settings of the algorithm, such as keep=0.5,entropy=0.01/0.001 (see docs/train.md).",
        ),
    ] = "",
    mix: Annotated[
        str,
        typer.Option(metavar="NAME=VALUE,...", help="Who sits at the training games, such as alone=0.3,plans=0.6."),
    ] = "",
) -> None:
    """Train a policy by self-play (needs the extra `train`).

    [bold]Examples[/bold]

    siberia train card --minutes 30 --out runs/mine

    siberia train card --minutes 60 --out runs/mine --resume   [dim](a larger budget, or after a kill)[/dim]

    siberia train card --players 3 --decisions 2000000 --threads 1 --seed 7 --out runs/three

    siberia train board --rules sides=random,salesman_cards=true --out runs/board

    siberia train board --players 4 --start-from runs/board/model.npz --minutes 15 --out runs/four

    siberia train card --players 2,3,4 --device cuda --settings num_envs=8192 --minutes 60 --out runs/all

    At the end the command prints two commands: one measures the policy, the other lets you play against it.
    """
    from siberia_experiments.training.demo import follow
    from siberia_experiments.training.display import next_lines
    from siberia_experiments.training.league import Mix
    from siberia_experiments.training.run import Training, TrainOptions, checkpoint_path, game_settings

    held = ExitStack()
    budget: dict[str, Any] = {"minutes": minutes, "decisions": decisions}
    if resume:
        given = {name for name in context.params if _was_given(context, name)}
        for name in sorted(given - {"game", "out", "resume", "minutes", "decisions", "threads", "device"}):
            raise ConfigurationError(f"--{name.replace('_', '-')}: a resumed run keeps its own; leave the option out")
        changes = budget if given & set(budget) else {}
        changes |= {name: context.params[name] for name in ("threads", "device") if name in given}
        if out.is_dir():
            held.enter_context(only_trainer(out))
        training = Training.resume(out, game, **changes)
    else:
        if checkpoint_path(out).exists():
            raise ConfigurationError(f"--out: {out} holds a run; go on with it (--resume) or name another folder")
        if minutes is None and decisions is None:
            budget["minutes"] = 30.0
        own: dict[str, Any] = {"reward": reward}
        if network:
            own["network"] = read_widths(network)
        if learning_rate is not None:
            own["learning_rate"] = learning_rate
        options = TrainOptions(
            game,
            read_counts(players),
            read_rules(rules),
            read_tables(game, components),
            seed,
            settings=read_fields("--settings", settings, replace(game_settings(game), **own)),
            mix=read_fields("--mix", mix, Mix()),
            device=device,
            threads=threads,
            start_from=None if start_from is None else str(start_from),
            **budget,
        )
        training = Training(options, out)
        held.enter_context(only_trainer(out))
    try:
        with held:
            follow(training)
    except KeyboardInterrupt:
        if checkpoint_path(out).exists():
            say(f"stopped; go on from the last checkpoint: {resume_line(game, out)}")
        raise typer.Exit(INTERRUPTED) from None
    for line in next_lines(training):
        say(line)


@app.command()
@refusing_bad_input
def evaluate(
    game: GameName,
    agents: Agents = "greedy,random",
    players: Players = 2,
    games: Annotated[int, typer.Option(help="Least number of games; each deal is played in every seat order.")] = 500,
    rules: Rules = "",
    components: ComponentFile = None,
    seed: Seed = 0,
    control_variate: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Saved model that measures luck, or `shipped` for the suite's own; adds win rates corrected for luck.",
        ),
    ] = "",
) -> None:
    """Play agents against each other, and show win rates and mean scores with 95% intervals.

    Each deal is played in every seat order, so that neither cards nor seats favour an agent.

    [bold]Examples[/bold]

    siberia evaluate card --agents greedy,random --games 2000

    siberia evaluate card --players 4 --agents learned:runs/four/model.npz,greedy

    siberia evaluate card --rules edition=oya,max_turns=200 --agents greedy,random

    siberia evaluate board --rules sides=random,salesman_cards=true --games 200

    siberia evaluate board --rules "sides=Tokyo/Hong Kong/Toronto/Sydney/Zurich"

    siberia evaluate card --agents learned,search:2000:playout=heuristic --games 200 --control-variate shipped
    """
    from siberia_experiments import evaluate as evaluation
    from siberia_experiments.console import console, counted_deals, results_table

    variant = find_variant(game, players, rules, components)
    specs = read_agents(agents)
    judge = evaluation.find_judge(control_variate, variant) if control_variate else None
    results = evaluation.evaluate(variant, evaluation.line_up(specs, players), games, seed, len(specs), judge)
    rows = [(spec, results, place) for place, spec in enumerate(specs)]
    console.print(results_table(f"{variant.game.title}, {players} players, {counted_deals(results)}", rows))


@app.command()
@refusing_bad_input
def exploit(
    game: GameName,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent to exploit (see docs/agents.md).")],
    players: Players = 2,
    rules: Rules = "",
    components: ComponentFile = None,
    minutes: Annotated[
        float | None, typer.Option(help="Training time in minutes; 10 if --decisions isn't given.")
    ] = None,
    decisions: Annotated[
        int | None, typer.Option(help="Number of decisions to train for, in place of --minutes.")
    ] = None,
    games: Annotated[
        int, typer.Option(help="Least number of games of the last measurement; each deal in every seat order.")
    ] = 2000,
    start_from: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Weights to start from: victim, plan (imitates `heuristic`), nothing, or a saved model. auto takes "
            "the victim's if it plays a trained model, else the plan.",
        ),
    ] = "auto",
    settings: Annotated[
        str, typer.Option(metavar="NAME=VALUE,...", help="Settings of the algorithm (see docs/train.md).")
    ] = "",
    seed: Seed = 0,
    device: Annotated[
        str, typer.Option(help="Where the network learns: cpu, cuda, or auto for a GPU if there is one.")
    ] = "auto",
    threads: Annotated[int, typer.Option(help="Number of torch threads.")] = 2,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; by default runs/exploit-GAME.")] = None,
) -> None:
    """Train a policy against one agent in all other seats, and tell how much more it wins than an equal would.

    Needs the extra `train`. The gain is a lower bound: more training may find more.

    [bold]Examples[/bold]

    siberia exploit card learned --minutes 10 --out runs/exploit

    siberia exploit board heuristic --players 4 --minutes 30 --device cuda

    siberia exploit card search:200 --decisions 2000000 --start-from runs/exploit/model.npz
    """
    from siberia_experiments.console import console, counted_deals, points
    from siberia_experiments.exploit import MODEL, REPORT, Exploit, ExploitOptions
    from siberia_experiments.training.run import game_settings

    folder = Path(f"runs/exploit-{game}") if out is None else out
    if minutes is None and decisions is None:
        minutes = 10.0
    options = ExploitOptions(
        game,
        agent,
        players,
        read_rules(rules),
        read_tables(game, components),
        seed,
        minutes,
        decisions,
        start_from,
        read_fields("--settings", settings, game_settings(game)),
        device,
        threads,
        games,
    )
    exploiter = Exploit(options, folder)
    for pick in exploiter.run():
        kept = ", kept" if pick.is_best else ""
        told = f"{100 * pick.part:3.0f}%  {pick.seconds:.0f} s, {pick.decisions:,} decisions: gain {points(pick.gain)}"
        console.print(told + kept, markup=False, highlight=False, soft_wrap=True)
    found = exploiter.measure()
    others = agent if players == 2 else f"{players - 1} {agent}"
    typer.echo(f"against {others}: gain over an equal {points(found.gain)} points of the win share")
    typer.echo(f"({counted_deals(found.results)}; a lower bound of what can be gained: more training may find more)")
    typer.echo(f"{folder}: {MODEL}, the policy that does it, and {REPORT}")


@app.command()
@refusing_bad_input
def tune(
    game: GameName,
    players: Players = 2,
    rules: Rules = "",
    components: ComponentFile = None,
    opponents: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Agents to tune against; each in turn takes all other seats."),
    ] = "heuristic",
    minutes: Annotated[float | None, typer.Option(help="Time in minutes; 10 if --generations isn't given.")] = None,
    generations: Annotated[int | None, typer.Option(help="Number of generations, in place of --minutes.")] = None,
    games: Annotated[int, typer.Option(help="Least number of games of each candidate against each opponent.")] = 400,
    last_games: Annotated[int, typer.Option(help="Least number of games of the last measurement.")] = 4000,
    spread: Annotated[float, typer.Option(help="First standard deviation, as a share of each constant.")] = 0.15,
    population: Annotated[int, typer.Option(help="Candidates in a generation; 0 lets CMA-ES choose.")] = 0,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; by default runs/tune-GAME.")] = None,
) -> None:
    """Tune the constants of a game's heuristic plan by CMA-ES, and tell what that gains.

    Needs the extra `train`. The constants found play as siberia_agents.tunable:Tuned:FOLDER/constants.json.

    [bold]Examples[/bold]

    siberia tune card --minutes 20 --out runs/tune

    siberia tune board --players 4 --opponents heuristic,greedy --generations 50 --games 1000
    """
    from siberia_experiments.console import console, percent
    from siberia_experiments.training.run import make_folder
    from siberia_experiments.training.tune import CONSTANTS, REPORT, TuneOptions, Tuning

    folder = Path(f"runs/tune-{game}") if out is None else out
    if minutes is None and generations is None:
        minutes = 10.0
    tuning = Tuning(
        TuneOptions(
            game,
            players,
            read_rules(rules),
            read_tables(game, components),
            tuple(read_agents(opponents)),
            minutes,
            generations,
            population,
            games,
            last_games,
            spread,
            seed=seed,
        )
    )
    make_folder(folder)
    with only_trainer(folder):
        for generation in tuning.run():
            told = (
                f"{100 * generation.part:3.0f}%  generation {generation.number}: {generation.mean:+.3f} in the mean, "
                f"{generation.best:+.3f} the best; spread {100 * generation.spread:.1f}%"
            )
            console.print(told, markup=False, highlight=False, soft_wrap=True)
        gains = tuning.measure()
        tuning.save(folder, gains)
    for name, rate in gains.items():
        others = name if players == 2 else f"{players - 1} {name}"
        typer.echo(f"against {others}: {percent(rate)} of the games (an equal wins {100 / players:.1f}%)")
    typer.echo(f"{folder}: {CONSTANTS}, for siberia_agents.tunable:Tuned:{folder / CONSTANTS}, and {REPORT}")


@app.command()
@refusing_bad_input
def tournament(
    game: GameName,
    agents: Annotated[
        str,
        typer.Option("--agents", metavar="NAME,...", help="Agents that take part, at least two (see docs/agents.md)."),
    ] = "greedy,random",
    players: Players = 2,
    games: Annotated[int, typer.Option(help="Least number of games; each deal is played in every seat order.")] = 2000,
    rules: Rules = "",
    components: ComponentFile = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; by default runs/tournament-GAME.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Number of processes that play; by default the number of processors.")
    ] = None,
    move_seconds: Annotated[
        float, typer.Option(help="Time limit for a move; an agent that takes longer forfeits the game.")
    ] = 60.0,
    memory: Annotated[
        int,
        typer.Option(
            metavar="MB", help="Memory limit of an agent of your own (MODULE:CLASS), which plays in its own process."
        ),
    ] = 4096,
) -> None:
    """Rank agents. Every line-up plays in every seat order, on common deals.

    After a stop or kill, the same command continues the tournament.

    [bold]Examples[/bold]

    siberia tournament card --agents random,greedy --players 3 --games 2000 --seed 1 --out runs/t1

    siberia tournament board --agents greedy,random --rules sides=random,salesman_cards=true --jobs 2

    siberia tournament card --agents learned:runs/mine/model.npz,greedy,random --players 4 --move-seconds 5
    """
    from siberia_experiments.console import console
    from siberia_experiments.tournament.run import Tournament, rounding
    from siberia_experiments.tournament.tables import tables

    folder = Path(f"runs/tournament-{game}") if out is None else out
    variant = find_variant(game, players, rules, components)
    planned = Tournament(variant, read_agents(agents), games, folder, seed, move_seconds, memory)
    title = f"{variant.game.title}, {players} players, {planned.schedule.games} games"
    try:
        outcome = planned.run(processors() if jobs is None else jobs)
    except KeyboardInterrupt:
        say(f"stopped; {folder} has every game that was finished: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    for table in tables(outcome, title, variant.game):
        console.print(table)
    say(rounding(planned))
    try:
        from siberia_experiments.tournament.plots import draw
    except MissingExtraError as error:
        say(f"no pictures: {error}")
    else:
        draw(outcome, folder, title)
    say(f"{folder}: games.csv, summary.csv and more; docs/tournament.md says what each holds")


@app.command()
@refusing_bad_input
def record(
    game: GameName,
    agents: Agents = "greedy,random",
    players: Players = 2,
    games: Annotated[int, typer.Option(help="Number of games to record.")] = 1,
    out: Annotated[Path, typer.Option(help="File to write, with one game after the other (JSON Lines).")] = Path(
        "games.jsonl"
    ),
    rules: Rules = "",
    components: ComponentFile = None,
    seed: Seed = 0,
) -> None:
    """Play games and record every decision and every chance outcome.

    [bold]Examples[/bold]

    siberia record card --players 3 --agents greedy,random,random --games 10 --seed 7 --out games.jsonl

    siberia record card --agents learned:runs/demo-card/model.npz,greedy --out game.jsonl

    siberia record board --players 4 --agents greedy --rules sides=random
    """
    from siberia_experiments.evaluate import line_up
    from siberia_experiments.record_games import record_games

    _positive("games", games, MOST_GAMES)
    variant = find_variant(game, players, rules, components)
    record_games(variant, line_up(read_agents(agents), players), games, seed, out)
    say(f"{out}: {games} {'game' if games == 1 else 'games'}")


@app.command()
@refusing_bad_input
def replay(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[GAME] FILE", help="File of game records. If you name a game, the records must be of it."
        ),
    ],
    quiet: Annotated[bool, typer.Option("--quiet", help="Only check the records; print no games.")] = False,
) -> None:
    """Check game records by playing them again, and print them.

    [bold]Examples[/bold]

    siberia replay games.jsonl

    siberia replay board games.jsonl   [dim](refuses records of another game)[/dim]

    siberia replay --quiet games.jsonl
    """
    from siberia_experiments.record_games import tell_records

    *games, file = names
    if len(games) > 1:
        raise ConfigurationError(f"replay: one game and one file, or just a file; got {' '.join(names)}")
    for line in tell_records(Path(file), find_game(games[0]) if games else None):
        if not quiet:
            say(line)
    if quiet:
        say(f"{file}: in order")


@app.command()
@refusing_bad_input
def bench(
    game: GameName,
    seconds: Annotated[float, typer.Option(help="Time for each measurement, in seconds.")] = 1.0,
    repeats: Annotated[int, typer.Option(help="Number of measurements; the median counts.")] = 5,
) -> None:
    """Measure the speed of the environments, beside other libraries if they are installed (extra `bench`).

    [bold]Examples[/bold]

    siberia bench card

    siberia bench board --seconds 3 --repeats 9
    """
    from siberia_experiments.bench import bench as run_bench

    _positive("seconds", seconds, 3600)
    _positive("repeats", repeats, 1000)
    run_bench(find_game(game), seconds, repeats)


@app.command()
@refusing_bad_input
def demo(
    game: GameName,
    minutes: Annotated[float, typer.Option(help="Training time in minutes.")] = 3.0,
    players: Players = 2,
    rules: Rules = "",
    components: ComponentFile = None,
    games: Annotated[int, typer.Option(help="Number of games against each baseline after training.")] = 500,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for all results; by default runs/demo-GAME.")] = None,
) -> None:
    """Train an agent for some minutes, measure it, and save the model, curve, log and an annotated game in a folder.

    [bold]Examples[/bold]

    siberia demo card --minutes 3

    siberia demo board --players 3 --minutes 10 --out runs/three
    """
    from siberia_experiments.training.demo import demo as run_demo
    from siberia_experiments.training.run import TrainOptions, make_folder

    _positive("games", games, MOST_GAMES)
    options = TrainOptions(game, (players,), read_rules(rules), read_tables(game, components), seed, minutes)
    find_variant(game, players, rules, components)  # nothing is made for what can't be played
    options.check()
    folder = Path(f"runs/demo-{game}") if out is None else out
    make_folder(folder)
    with only_trainer(folder):
        run_demo(options, folder, games)


@app.command()
@refusing_bad_input
def play(
    context: typer.Context,
    game: GameName,
    against: Annotated[
        str,
        typer.Option(
            metavar="AGENT,...",
            help="The other players: one agent for all, or one for each seat, starting with the seat after yours.",
        ),
    ] = "search:2000",
    seat: Annotated[int, typer.Option(help="Your seat; seat 0 starts.")] = 0,
    players: Players = 2,
    rules: Rules = "",
    components: ComponentFile = None,
    seed: Annotated[
        int | None, typer.Option(help="Number that decides everything that is random; by default a new one each time.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for the game's record; by default play-GAME-1.jsonl, or the next number.")
    ] = None,
    hints: Annotated[
        str, typer.Option(metavar="BUDGET", help="Budget of the search for a hint: seconds (1s) or simulations (2000).")
    ] = "1s",
    resume: Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="Continue a saved game.")] = None,
) -> None:
    """Play against agents in the terminal, with hints, undo and a save after every decision.

    [bold]Examples[/bold]

    siberia play card --against search:2000 --seat 1

    siberia play board --players 3 --against greedy,random --rules sides=random

    siberia play card --resume play-card-1.save.json
    """
    from secrets import randbits

    from siberia_agents.search.agent import SearchAgent
    from siberia_experiments.play.saves import load_game
    from siberia_experiments.play.session import new_files, new_game, resumed_record, sit_down

    searcher = SearchAgent(hints)
    if resume is not None:
        for name in ("against", "seat", "players", "rules", "components", "seed"):
            if _was_given(context, name):
                raise ConfigurationError(f"--{name}: a resumed game keeps its own; leave the option out")
        found, looks_ahead = load_game(resume)
        if found.variant.game is not find_game(game):
            raise ConfigurationError(f"--resume: {resume} keeps a game of {found.variant.game.name}, not of {game}")
        ask_about_modules(resume, found.agents)
        save, record_file = resume, resumed_record(resume, out)
    else:
        variant = find_variant(game, players, rules, components)
        found = new_game(variant, randbits(32) if seed is None else seed, seat, read_agents(against))
        looks_ahead = 0
        record_file, save = new_files(game, out)
    try:
        sit_down(found, save, record_file, searcher, looks_ahead)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def ask_about_modules(file: Path, specs: Sequence[str]) -> None:
    """Ask before code is run that `file` names: importing the module of an agent runs it.

    Raises:
        ConfigurationError: the answer is not yes.
    """
    named = [spec for spec in dict.fromkeys(specs) if is_own(spec)]
    if not named:
        return
    say(f"{file} names agents whose modules would be imported, which runs their code: {', '.join(named)}")
    try:
        agreed = typer.confirm("Do you trust them?", default=False)
    except typer.Abort:
        agreed = False
    if not agreed:
        raise ConfigurationError(f"--resume: {file} was not resumed, and nothing was imported")


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


if __name__ == "__main__":
    sys.exit(main())
