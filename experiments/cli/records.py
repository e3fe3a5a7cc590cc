"""The commands that write and read games: `siberia record|replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from siberia_env.errors import ConfigurationError
from siberia_experiments.arguments import named_game, read_agents, read_variant
from siberia_experiments.cli.options import (
    MOST_GAMES,
    Agents,
    CommandLine,
    ComponentFile,
    GameName,
    Players,
    Rules,
    Seed,
    positive,
    refusing_bad_input,
    say,
    was_given,
)

commands = CommandLine()


@commands.command()
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


@commands.command()
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
