"""What the command line tells about the suite itself: its agents with their measured strength, and the rules.

The rules and the measurements are pages of docs/. A checkout has them there; a wheel brings copies in `PAGES`, which
setup.py makes when the wheel is built.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from siberia_agents.registry import AGENTS, form
from siberia_env.errors import ConfigurationError
from siberia_env.game import MAX_PLAYERS, Game
from siberia_experiments.console import new_table

PAGES = Path(__file__).resolve().parent / "pages"
DOCS = Path(__file__).resolve().parents[1] / "docs"
HOW_TO_PLAY = "## How to play, in three minutes\n"
OPTIONS = "## Options\n"
ANCHOR = "search:1000"  #: rated 1000 in every ranking


def page(name: str) -> str:
    """The text of the page `name`, such as `card/rules.md`.

    Raises:
        ConfigurationError: this installation does not have it.
    """
    for folder in (PAGES, DOCS):
        try:
            return (folder / name).read_text(encoding="utf-8")
        except OSError:
            continue
    raise ConfigurationError(f"the page {name} is not installed; it belongs to the suite's docs folder")


def rules(game: Game, short: bool = False, at_the_table: bool = False) -> Markdown:
    """How to play `game` in three minutes and then, unless `short`, the whole page of its rules.

    Whoever is `at_the_table` is not told how to get there.

    Raises:
        ConfigurationError: the game has no such page.
    """
    text = page(f"{game.name}/rules.md")
    if short:
        title, section = text.partition("\n")[0], text.partition(HOW_TO_PLAY)[2].partition("\n## ")[0]
        text = f"{title}\n\n{HOW_TO_PLAY}{section}"
    if at_the_table:
        text = re.sub(r"\s+To try it:\s+`[^`]*`\.", "", text)
    return Markdown(for_a_screen(text), hyperlinks=False)


def rule_numbers(game: Game) -> list[str]:
    """The numbers of the rules of `game`, such as `C10`, in the order of its page; none if it has no page."""
    try:
        return re.findall(r"^\*\*([A-Z]\d+)\.", page(f"{game.name}/rules.md"), re.MULTILINE)
    except ConfigurationError:
        return []


def rule(game: Game, number: str) -> Markdown:
    """One rule of `game`, by its number.

    Raises:
        ConfigurationError: there is no such rule.
    """
    numbers = rule_numbers(game)
    if number.upper() not in numbers:
        there_are = f"the rules are {numbers[0]} to {numbers[-1]}" if numbers else f"{game.title} has no page of rules"
        raise ConfigurationError(f"there is no rule {number!r}; {there_are}")
    text = page(f"{game.name}/rules.md")
    found = re.search(rf"^\*\*{number.upper()}\..*?(?=^\*\*[A-Z]\d+\.|^##)", text, re.MULTILINE | re.DOTALL)
    return Markdown(for_a_screen(found[0] if found else ""), hyperlinks=False)


def options_in_force(game: Game, rules: Mapping[str, Any]) -> Markdown:
    """What the options of a game are set to, and what each means, as the page of its rules tells it.

    Where the page has a table with a column for the value of an option, such as the edition, its column is shown.

    Raises:
        ConfigurationError: the game has no page of rules.
    """
    text = page(f"{game.name}/rules.md")
    meanings = {row[0].strip("`"): row[2] for row in table_rows(text.partition(OPTIONS)[2]) if len(row) == 3}
    lines = []
    for name, value in rules.items():
        shown = (
            ("no", "yes")[value] if isinstance(value, bool) else ", ".join(value) if isinstance(value, list) else value
        )
        lines.append(f"- **{name}: {shown}**" + (f" ({meanings[name]})" if name in meanings else ""))
        header, *rows = table_rows(text, f"`{value}`") or [[]]
        column = next((number for number, cell in enumerate(header) if cell.startswith(f"`{value}`")), None)
        lines += [f"    - {row[0]}: {row[column]}" for row in rows if column is not None]
    return Markdown(for_a_screen("\n".join(lines)), hyperlinks=False)


def table_rows(text: str, heading: str = "") -> list[list[str]]:
    """The cells of the first table of a page, its header first, or of the first with a column headed by `heading`."""
    for found in re.finditer(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[0].splitlines()]
        if not heading or any(cell.startswith(heading) for cell in header):
            return [header, *rows]
    return []


def for_a_screen(text: str) -> str:
    """A page without what only a browser or a test reads: comments, the targets of links, breaks within cells."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("<br>", "; ")


def agents() -> Iterator[RenderableType]:
    """The agents, how to name each, and how strong they are where that was measured."""
    listed = new_table("Agents, for any game and number of players")
    listed.add_column("agent", no_wrap=True)
    listed.add_column("how it plays")
    for name, entry in AGENTS.items():
        listed.add_row(Text(form(name).replace("[:OPTION=VALUE]...", "[:...]")), Text(entry.meaning.replace("`", "")))
    listed.add_row(Text("MODULE:CLASS[:...]"), "your own agent, in one file (docs/agents.md)")
    yield listed
    yield ""
    yield strength()
    yield ""
    yield (
        "Ratings of a ranking by games of all against all; 400 points more mean odds of 10 to 1. Those of different "
        f"columns can't be compared: {ANCHOR} has 1000 in each. docs/results.md has the intervals, the commands, and "
        "the version that was measured."
    )


def strength() -> Table:
    """The rating of each ranked agent, by game and number of players."""
    rated: dict[str, dict[tuple[str, int], str]] = {}
    columns = [(game, players) for game in ("card", "board") for players in range(2, MAX_PLAYERS + 1)]
    for game, players in columns:
        for row in csv.DictReader(StringIO(page(f"results/{game}_{players}.csv"))):
            rated.setdefault(row["agent"], {})[game, players] = f"{float(row['rating']):.0f}"
    found = new_table("Strength")
    found.add_column("rating with players")
    for game, players in columns:
        found.add_column(f"{game} {players}", justify="right", no_wrap=True)
    for spec, ratings in rated.items():
        found.add_row(Text(spec), *(ratings.get(column, "-") for column in columns))
    return found
