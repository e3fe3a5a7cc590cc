"""The commands that measure: `siberia evaluate|exploit|tournament|bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from siberia_env.errors import MissingExtraError
from siberia_experiments.arguments import (
    named_game,
    read_agents,
    read_fields,
    read_game_rules,
    read_tables,
    read_variant,
)
from siberia_experiments.cli.options import (
    INTERRUPTED,
    Agents,
    AsJson,
    CommandLine,
    ComponentFile,
    Decisions,
    Device,
    GameName,
    Players,
    Rules,
    Seed,
    Threads,
    complete_agents,
    positive,
    processors,
    read_budget,
    refusing_bad_input,
    say,
)

commands = CommandLine()


@commands.command()
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


@commands.command()
@refusing_bad_input
def exploit(
    context: typer.Context,
    game: GameName,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent to exploit (see docs/agents.md).")],
    players: Players = 2,
    rules: Rules = "",
    components: ComponentFile = None,
    minutes: Annotated[
        float | None, typer.Option(help="Training time in minutes; 10 if --decisions isn't given.")
    ] = None,
    decisions: Decisions = None,
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
    device: Device = "auto",
    threads: Threads = 2,
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
    options = ExploitOptions(
        game,
        agent,
        players,
        read_game_rules(game, rules),
        read_tables(game, components),
        seed,
        start=start_from,
        settings=read_fields("--settings", settings, game_settings(game)),
        device=device,
        threads=threads,
        games=games,
        **read_budget(context, 10.0),
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


@commands.command()
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


@commands.command()
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
