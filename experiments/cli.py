"""The command line: `siberia train|rllib|evaluate|exploit|tune|tournament|play|record|replay|bench|demo|...`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from siberia_agents.registry import is_own
from siberia_env import __version__
from siberia_env.errors import ConfigurationError, MissingExtraError
from siberia_experiments.arguments import (
    named_game,
    read_agents,
    read_counts,
    read_fields,
    read_game_rules,
    read_tables,
    read_variant,
    read_widths,
)
from siberia_experiments.commands import resume_line
from siberia_experiments.options import (
    BAD_INPUT,
    INTERRUPTED,
    MOST_GAMES,
    Agents,
    AsJson,
    CommandLine,
    ComponentFile,
    GameName,
    Group,
    Players,
    Rules,
    Seed,
    complain,
    complete_agents,
    only_trainer,
    positive,
    processors,
    refusing_bad_input,
    say,
    was_given,
)

READING_WIDTH = 100  #: columns of text, however wide the terminal is
MOST_PORT = 65535

app = CommandLine(
    cls=Group,
    rich_markup_mode="rich",
    help="Siberia: Reiner Stockhausen's games as learning environments. For every command, name the game first.",
)


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
        given = {name for name in context.params if was_given(context, name)}
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
            read_game_rules(game, rules),
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
def rllib(
    context: typer.Context,
    game: GameName,
    ray: Annotated[
        str,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Ray cluster: HOST:PORT of its head, auto for this machine's cluster, or local to start Ray here.",
        ),
    ] = "local",
    workers: Annotated[int, typer.Option(help="Number of actors that play, each on one processor.")] = 2,
    games: Annotated[int, typer.Option(help="Number of games that each worker plays at the same time.")] = 256,
    learners: Annotated[
        int, typer.Option(help="Number of actors that learn; with 0 the process of this command learns.")
    ] = 0,
    gpus: Annotated[float, typer.Option(help="Graphics processors for each learner.")] = 0.0,
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
        int | None, typer.Option(help="Number of decisions to train for, in place of --minutes.")
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/rllib"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out after a stop or kill.")] = False,
    settings: Annotated[
        str,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Settings of the algorithm, such as rollout=16384,learning_rate=0.0005,network=512/512 "
            "(see docs/ray.md).",
        ),
    ] = "",
) -> None:
    """Train a policy by self-play with RLlib on a Ray cluster (needs the extra `ray`).

    [bold]Examples[/bold]

    siberia rllib card --workers 2 --minutes 10 --out runs/here   [dim](on this machine alone)[/dim]

    siberia rllib board --ray auto --workers 32 --learners 1 --gpus 1 --minutes 120 --out runs/cluster

    siberia rllib board --ray auto --workers 48 --minutes 240 --out runs/cluster --resume
    """
    from siberia_experiments.console import console
    from siberia_experiments.rllib.options import Options, game_settings, stored_options
    from siberia_experiments.rllib.show import next_lines, told

    held = ExitStack()
    given = {name for name in context.params if was_given(context, name)}
    budget: dict[str, Any] = {"minutes": minutes, "decisions": decisions}
    if resume:
        for name in sorted(given & {"players", "rules", "components", "seed", "settings"}):
            raise ConfigurationError(f"--{name}: a resumed run keeps its own; leave the option out")
        changes = budget if given & set(budget) else {}
        changes |= {name: context.params[name] for name in ("workers", "games", "learners", "gpus") if name in given}
        stored = stored_options(out)  # nothing is started for a run that isn't there
        workers, learners = changes.get("workers", stored.workers), changes.get("learners", stored.learners)
    else:
        if minutes is None and decisions is None:
            budget["minutes"] = 30.0
        options = Options(
            game,
            read_counts(players),
            read_game_rules(game, rules),
            read_tables(game, components),
            seed,
            workers=workers,
            games=games,
            learners=learners,
            gpus=gpus,
            settings=read_fields("--settings", settings, game_settings(game)),
            **budget,
        )
        options.check()
    from siberia_experiments.ray_cluster import joined
    from siberia_experiments.rllib.run import Training

    with held:
        found = held.enter_context(joined(ray, workers + learners))
        if out.is_dir():
            held.enter_context(only_trainer(out))
        training = Training.resume(out, game, **changes) if resume else Training(options, out)
        held.callback(training.close)
        say(f"{len(found)} machine{'s' if len(found) > 1 else ''}, {training.options.workers} workers")
        try:
            for progress in training.run():
                console.print(told(progress), markup=False, highlight=False, soft_wrap=True)
        except KeyboardInterrupt:
            say("stopped; --resume goes on from the last checkpoint, if there is one")
            raise typer.Exit(INTERRUPTED) from None
        for line in next_lines(training.options, out):
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
    as_json: AsJson = False,
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

    siberia evaluate card --agents learned,greedy --json > results.json
    """
    from siberia_experiments import evaluate as evaluation
    from siberia_experiments import report
    from siberia_experiments.console import console, counted_deals, results_table, stdout_kept

    variant = read_variant(game, players, rules, components)
    specs = read_agents(agents)
    judge = evaluation.find_judge(control_variate, variant) if control_variate else None
    with stdout_kept(as_json):
        results = evaluation.evaluate(variant, evaluation.line_up(specs, players), games, seed, len(specs), judge)
    if as_json:
        typer.echo(report.as_text(report.evaluation(variant, specs, results, seed)))
        return
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
        read_game_rules(game, rules),
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
            read_game_rules(game, rules),
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
def trial(
    game: GameName,
    arm: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUE,...",
            help="What another arm changes: settings, parts of the mix, players, minutes, decisions, start_from. "
            "Repeat it for more arms.",
        ),
    ],
    players: Annotated[
        str, typer.Option(metavar="P,...", help="Player counts that the first arm is trained for, and all measured at.")
    ] = "2",
    rules: Rules = "",
    components: ComponentFile = None,
    minutes: Annotated[float | None, typer.Option(help="Minutes of each run; 5 if --decisions isn't given.")] = None,
    decisions: Annotated[int | None, typer.Option(help="Decisions of each run, in place of --minutes.")] = None,
    seeds: Annotated[int, typer.Option(help="Runs of each arm.")] = 3,
    against: Annotated[
        str, typer.Option(metavar="NAME,...", help="Agents to measure against; each in turn takes all other seats.")
    ] = "heuristic,greedy",
    games: Annotated[int, typer.Option(help="Least number of games of each measurement.")] = 1000,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the trial; one that was stopped goes on.")] = Path("runs/trial"),
    device: Annotated[str, typer.Option(help="Where the networks learn: cpu, cuda, or auto.")] = "auto",
    threads: Annotated[int, typer.Option(help="Number of torch threads.")] = 2,
    start_from: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Saved model that every run starts from.")
    ] = None,
    settings: Annotated[str, typer.Option(metavar="NAME=VALUE,...", help="Settings of all arms.")] = "",
    mix: Annotated[str, typer.Option(metavar="NAME=VALUE,...", help="Who sits at the training games.")] = "",
) -> None:
    """Compare training settings: train each arm from several seeds, and tell what the change brings.

    Needs the extra `train`.

    [bold]Examples[/bold]

    siberia trial card --arm critic=true --decisions 6000000 --out runs/critic

    siberia trial board --players 2 --minutes 8 --arm simulations=100 --arm simulations=100,searched=0.5

    siberia trial card --players 3 --decisions 4000000 --arm players=2/3/4,decisions=12000000
    """
    from siberia_experiments.console import console
    from siberia_experiments.training.display import column, verdict_table
    from siberia_experiments.training.league import Mix
    from siberia_experiments.training.run import TrainOptions, game_settings
    from siberia_experiments.training.trial import RESULTS, Trial, TrialOptions, verdicts

    counts = read_counts(players)
    base = TrainOptions(
        game,
        counts,
        read_game_rules(game, rules),
        read_tables(game, components),
        seed,
        5.0 if minutes is None and decisions is None else minutes,
        decisions,
        read_fields("--settings", settings, game_settings(game)),
        read_fields("--mix", mix, Mix()),
        device,
        threads,
        start_from=None if start_from is None else str(start_from),
    )
    series = Trial(TrialOptions(base, tuple(arm), seeds, counts, tuple(read_agents(against)), games), out)
    with only_trainer(out):
        for results in series.run():
            for one in results:
                say(f"seed {one.seed}, {one.arm}: {100 * one.win_rate:.1f}% {column(one.players, one.opponent)}")
    console.print(verdict_table(verdicts(series.results)))
    say(f"{out / RESULTS} holds every run")


@app.command()
@refusing_bad_input
def tournament(
    game: GameName,
    agents: Annotated[
        str,
        typer.Option(
            "--agents",
            metavar="NAME,...",
            autocompletion=complete_agents,
            help="Agents that take part, at least two (see docs/agents.md).",
        ),
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
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over: throw away the tournament that is in --out.")
    ] = False,
    as_json: AsJson = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Ray cluster that plays the games: HOST:PORT, auto, or local. --jobs is then the number of its "
            "processors to use, by default all (needs the extra `ray`; see docs/ray.md).",
        ),
    ] = None,
) -> None:
    """Rank agents. Every line-up plays in every seat order, on common deals.

    After a stop or kill, the same command continues the tournament. With a larger --games it plays the missing games.

    [bold]Examples[/bold]

    siberia tournament card --agents random,greedy --players 3 --games 2000 --seed 1 --out runs/t1

    siberia tournament board --agents greedy,random --rules sides=random,salesman_cards=true --jobs 2

    siberia tournament card --agents learned:runs/mine/model.npz,greedy,random --players 4 --move-seconds 5

    siberia tournament card --agents learned,search:1000 --ray auto   [dim](on a Ray cluster)[/dim]
    """
    from siberia_experiments.console import console, stdout_kept
    from siberia_experiments.report import as_text
    from siberia_experiments.tournament.report import report
    from siberia_experiments.tournament.run import Tournament, rounding
    from siberia_experiments.tournament.tables import tables

    folder = Path(f"runs/tournament-{game}") if out is None else out
    variant = read_variant(game, players, rules, components)
    planned = Tournament(variant, read_agents(agents), games, folder, seed, move_seconds, memory)
    title = f"{variant.game.title}, {players} players, {planned.schedule.games} games"
    with stdout_kept(as_json):
        try:
            outcome = planned.run(processors() if jobs is None and ray is None else jobs, fresh=fresh, cluster=ray)
        except KeyboardInterrupt:
            again = "the same command without --fresh" if fresh else "the same command"
            say(f"stopped; {folder} has every game that was finished: {again} goes on")
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
    if as_json:
        typer.echo(as_text(report(planned, outcome)))


@app.command()
@refusing_bad_input
def record(
    context: typer.Context,
    game: GameName,
    agents: Agents = "greedy,random",
    players: Players = 2,
    games: Annotated[int, typer.Option(help="Number of games to record.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; by default games.jsonl or games.parquet. For minari: the name of the data set."
        ),
    ] = None,
    file_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl: records that replay. parquet: a table with a row for each decision. minari: a data set of one "
            "seat. By default the ending of --out decides.",
        ),
    ] = "",
    seat: Annotated[int, typer.Option(help="The seat whose decisions a Minari data set holds.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace what --out names, if it is there already.")] = False,
    rules: Rules = "",
    components: ComponentFile = None,
    seed: Seed = 0,
) -> None:
    """Play games and record every decision: as records that replay, as a table, or as a data set.

    [bold]Examples[/bold]

    siberia record card --players 3 --agents greedy,random,random --games 10 --seed 7 --out games.jsonl

    siberia record card --agents learned:runs/demo-card/model.npz,greedy --out game.jsonl

    siberia record board --players 4 --agents greedy --rules sides=random

    siberia record card --agents heuristic --games 1000 --out games.parquet   [dim](needs the extra `data`)[/dim]

    siberia record card --agents heuristic,greedy --games 100 --format minari --out siberia/card-v0
    """
    from siberia_experiments.record_games import Order, record_as

    positive("games", games, MOST_GAMES)
    variant = read_variant(game, players, rules, components)
    order = Order(variant, read_agents(agents), games, seed)
    say(record_as(order, file_format, out, seat if was_given(context, "seat") else None, force))


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
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="Write the file's only game as a page to look at: one file that needs nothing else."
        ),
    ] = None,
) -> None:
    """Check game records by playing them again, and print them or make a page of one.

    [bold]Examples[/bold]

    siberia replay games.jsonl

    siberia replay board games.jsonl   [dim](refuses records of another game)[/dim]

    siberia replay --quiet games.jsonl

    siberia replay game.jsonl --html game.html   [dim](step through it in a browser, with analysis)[/dim]
    """
    from siberia_experiments.record_games import tell_records

    *games, file = names
    if len(games) > 1:
        raise ConfigurationError(f"replay: one game and one file, or just a file; got {' '.join(names)}")
    if html is not None:
        from siberia_experiments.web.one_file import write_replay_pages

        write_replay_pages(Path(file), named_game(games[0]) if games else None, html)
        say(f"{html}: open it in a browser; it needs nothing else")
        return
    for line in tell_records(Path(file), named_game(games[0]) if games else None):
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

    positive("seconds", seconds, 3600)
    positive("repeats", repeats, 1000)
    run_bench(named_game(game), seconds, repeats)


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

    positive("games", games, MOST_GAMES)
    options = TrainOptions(game, (players,), read_game_rules(game, rules), read_tables(game, components), seed, minutes)
    read_variant(game, players, rules, components)  # nothing is made for what can't be played
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
    seat: Annotated[
        str, typer.Option(metavar="SEAT,...", help="Your seat, or one for each of --names; seat 0 starts.")
    ] = "",
    names: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Your name, or those of all people who share the keyboard: Ann,Bob."),
    ] = "",
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
    ask_always: Annotated[
        bool, typer.Option("--ask-always", help="Ask even if there is only one move; else it is made for you.")
    ] = False,
    resume: Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="Continue a saved game.")] = None,
    web: Annotated[bool, typer.Option("--web", help="Play in the browser, at a table with pictures.")] = False,
    port: Annotated[int, typer.Option(help="With --web: port on this machine; 0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="With --web: open a browser, or only print the address.")
    ] = True,
) -> None:
    """Play against agents in the terminal or in the browser, with hints, undo and a save after every decision.

    [bold]Examples[/bold]

    siberia play card --web

    siberia play card --against search:2000 --seat 1

    siberia play board --players 3 --against greedy,random --rules sides=random

    siberia play card --players 3 --names Ann,Bob --against level:medium

    siberia play card --resume play-card-1.save.json
    """
    from secrets import randbits

    from siberia_agents.search.agent import Budget
    from siberia_experiments.play.hints import hint_search
    from siberia_experiments.play.saves import load_game
    from siberia_experiments.play.session import new_files, new_game, read_people, resumed_record, sit_down

    if web:
        play_in_browser(context, game, against, seat, players, rules, components, seed, port, browser)
        return
    for name in ("port", "browser"):
        if was_given(context, name):
            raise ConfigurationError(f"--{name} is for --web; add that, or leave it out")
    Budget(hints)  # refuses a bad one before anything else is done
    if resume is not None:
        for name in ("against", "seat", "names", "players", "rules", "components", "seed"):
            if was_given(context, name):
                raise ConfigurationError(f"--{name}: a resumed game keeps its own; leave the option out")
        found, looks_ahead = load_game(resume)
        if found.variant.game is not named_game(game):
            raise ConfigurationError(f"--resume: {resume} keeps a game of {found.variant.game.name}, not of {game}")
        ask_about_modules(resume, [spec for seat, spec in enumerate(found.agents) if seat not in found.people])
        save, record_file = resume, resumed_record(resume, out)
    else:
        variant = read_variant(game, players, rules, components)
        people, seats = read_people(names, seat)
        if len(people) == players and was_given(context, "against"):
            raise ConfigurationError("--against: people take all seats; leave the option out")
        specs = read_agents(against)
        found = new_game(variant, randbits(32) if seed is None else seed, seats, specs, people)
        looks_ahead = 0
        record_file, save = new_files(game, out)
    try:
        sit_down(found, save, record_file, hint_search(found.variant, hints), looks_ahead, not ask_always)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def play_in_browser(
    context: typer.Context,
    game: str,
    against: str,
    seat: str,
    players: int,
    rules: str,
    components: Path | None,
    seed: int | None,
    port: int,
    browser: bool,
) -> None:
    """Serve the page; a game that the options describe begins at once.

    Raises:
        ConfigurationError: an option is wrong, or is one for the terminal only.
    """
    from secrets import randbits

    from siberia_agents.registry import make_agent
    from siberia_experiments.play.seat import PERSON
    from siberia_experiments.play.session import new_game, read_people
    from siberia_experiments.web.plan import game_plan
    from siberia_experiments.web.server import PageServer, serve

    for name in ("out", "hints", "resume", "names", "ask_always"):
        if was_given(context, name):
            raise ConfigurationError(
                f"--{name.replace('_', '-')} is for the terminal; the page keeps its games itself, leave it out"
            )
    if not 0 <= port <= MOST_PORT:
        raise ConfigurationError(f"--port: {port}; a port is a number from 0 to {MOST_PORT}")
    plan: dict[str, Any] = {"game": game}
    if any(was_given(context, name) for name in ("against", "seat", "players", "rules", "components", "seed")):
        variant = read_variant(game, players, rules, components)
        _, seats = read_people("", seat)
        found = new_game(variant, randbits(32) if seed is None else seed, seats, read_agents(against))
        for spec in found.agents:
            if spec != PERSON:
                make_agent(spec)  # refuses what there isn't before a browser opens
        plan = game_plan(variant, found.seed, found.agents, PERSON)
    try:
        serve(PageServer(port), plan, browser, say)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


@app.command()
@refusing_bad_input
def agents() -> None:
    """List the agents, how they play, and how strong they are for each game and number of players.

    [bold]Examples[/bold]

    siberia agents
    """
    from siberia_experiments.console import console
    from siberia_experiments.handbook import agents as listed

    for part in listed():
        console.print(part, highlight=False, width=min(console.width, READING_WIDTH))


@app.command(name="rules")
@refusing_bad_input
def show_rules(
    game: GameName,
    short: Annotated[bool, typer.Option("--short", help="Only how to play, in three minutes.")] = False,
) -> None:
    """Tell how to play a game in three minutes, and then all its rules.

    [bold]Examples[/bold]

    siberia rules card --short

    siberia rules board | less
    """
    from siberia_experiments.console import console
    from siberia_experiments.handbook import rules as told

    console.print(told(named_game(game), short), width=min(console.width, READING_WIDTH))


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
