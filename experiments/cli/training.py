"""The commands that train: `siberia train|rllib|average|tune|trial|demo`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from siberia_env.errors import ConfigurationError
from siberia_experiments.arguments import (
    read_agents,
    read_counts,
    read_fields,
    read_game_rules,
    read_tables,
    read_variant,
    read_widths,
)
from siberia_experiments.cli.options import (
    INTERRUPTED,
    MOST_GAMES,
    CommandLine,
    ComponentFile,
    Counts,
    Decisions,
    Device,
    GameName,
    Minutes,
    Players,
    Resume,
    Rules,
    Seed,
    Threads,
    keeps_its_own,
    only_trainer,
    positive,
    read_budget,
    refusing_bad_input,
    say,
    those_given,
)
from siberia_experiments.commands import resume_line

commands = CommandLine()


@commands.command()
@refusing_bad_input
def train(
    context: typer.Context,
    game: GameName,
    players: Counts = "2",
    rules: Rules = "",
    components: ComponentFile = None,
    minutes: Minutes = None,
    decisions: Annotated[
        int | None,
        typer.Option(help="Number of decisions to train for, in place of --minutes; such a run is repeatable."),
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/train"),
    resume: Resume = False,
    device: Device = "auto",
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
    if resume:
        may_change = ("minutes", "decisions", "threads", "device")
        keeps_its_own("a resumed run", context, set(context.params) - {"game", "out", "resume", *may_change})
        changes = read_budget(context) | those_given(context, ("threads", "device"))
        if out.is_dir():
            held.enter_context(only_trainer(out))
        training = Training.resume(out, game, **changes)
    else:
        if checkpoint_path(out).exists():
            raise ConfigurationError(f"--out: {out} holds a run; go on with it (--resume) or name another folder")
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
            **read_budget(context, 30.0),
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


@commands.command()
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
    players: Counts = "2",
    rules: Rules = "",
    components: ComponentFile = None,
    minutes: Minutes = None,
    decisions: Decisions = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/rllib"),
    resume: Resume = False,
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
    if resume:
        keeps_its_own("a resumed run", context, ("players", "rules", "components", "seed", "settings"))
        changes = read_budget(context) | those_given(context, ("workers", "games", "learners", "gpus"))
        stored = stored_options(out)  # nothing is started for a run that isn't there
        workers, learners = changes.get("workers", stored.workers), changes.get("learners", stored.learners)
    else:
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
            **read_budget(context, 30.0),
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


@commands.command()
@refusing_bad_input
def average(
    models: Annotated[
        list[str],
        typer.Argument(metavar="MODEL[=WEIGHT]...", help="Saved models, each with how much it counts; 1 if left out."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File of the mean, .npz.")],
    half: Annotated[bool, typer.Option("--half", help="Store weights in half precision.")] = False,
) -> None:
    """Make a model of the mean weights of others, which one run began and others took further.

    [bold]Examples[/bold]

    siberia average runs/one/model.npz runs/two/model.npz --out runs/mean.npz

    siberia average runs/one/model.npz=0.4 runs/two/model.npz=0.6 --half --out runs/mean.npz
    """
    from siberia_agents.learned import load_model
    from siberia_experiments.training.average import average as mean_of
    from siberia_experiments.training.average import read_weighted

    weighted = [read_weighted(text) for text in models]
    if out.suffix != ".npz":
        raise ConfigurationError(f"--out: {out}; the name of a model file ends with .npz")
    mean = mean_of([load_model(path) for path, _ in weighted], [weight for _, weight in weighted])
    mean.save(out, half=half)
    say(f"{out}: the mean of {len(weighted)} model{'s' if len(weighted) > 1 else ''}, for the agent learned:{out}")


@commands.command()
@refusing_bad_input
def tune(
    context: typer.Context,
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
    tuning = Tuning(
        TuneOptions(
            game,
            players,
            read_game_rules(game, rules),
            read_tables(game, components),
            tuple(read_agents(opponents)),
            population=population,
            games=games,
            last_games=last_games,
            spread=spread,
            seed=seed,
            **read_budget(context, 10.0, "generations"),
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


@commands.command()
@refusing_bad_input
def trial(
    context: typer.Context,
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
    device: Device = "auto",
    threads: Threads = 2,
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
        settings=read_fields("--settings", settings, game_settings(game)),
        mix=read_fields("--mix", mix, Mix()),
        device=device,
        threads=threads,
        start_from=None if start_from is None else str(start_from),
        **read_budget(context, 5.0),
    )
    series = Trial(TrialOptions(base, tuple(arm), seeds, counts, tuple(read_agents(against)), games), out)
    with only_trainer(out):
        for results in series.run():
            for one in results:
                say(f"seed {one.seed}, {one.arm}: {100 * one.win_rate:.1f}% {column(one.players, one.opponent)}")
    console.print(verdict_table(verdicts(series.results)))
    say(f"{out / RESULTS} holds every run")


@commands.command()
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
