"""The commands for people: `siberia play|agents|rules`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from siberia_agents.registry import is_own
from siberia_env.errors import ConfigurationError
from siberia_experiments.arguments import named_game, read_agents, read_variant
from siberia_experiments.cli.options import (
    INTERRUPTED,
    CommandLine,
    ComponentFile,
    GameName,
    Players,
    Rules,
    keeps_its_own,
    refusing_bad_input,
    say,
    was_given,
)

READING_WIDTH = 100  #: columns of text, however wide the terminal is
MOST_PORT = 65535

commands = CommandLine()


@commands.command()
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
    from siberia_experiments.play.sit_down import new_files, new_game, read_people, resumed_record, sit_down

    if web:
        play_in_browser(context, game, against, seat, players, rules, components, seed, port, browser)
        return
    for name in ("port", "browser"):
        if was_given(context, name):
            raise ConfigurationError(f"--{name} is for --web; add that, or leave it out")
    Budget(hints)  # refuses a bad one before anything else is done
    if resume is not None:
        keeps_its_own("a resumed game", context, ("against", "seat", "names", "players", "rules", "components", "seed"))
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
    from siberia_experiments.play.sit_down import new_game, read_people
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


@commands.command()
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


@commands.command(name="rules")
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
