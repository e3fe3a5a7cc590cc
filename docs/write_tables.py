"""The tables in docs/ and README.md that repeat what the code says, written from the code.

`python docs/write_tables.py` rewrites them in place; with `--check` it changes nothing, names each
page that differs and exits with 1. A generated part stands between two lines of its page:

    <!-- begin generated: card actions -->
    <!-- end generated -->
"""

from __future__ import annotations

import argparse
import ast
import csv
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from siberia_agents.learned import SHIPPED, load_model
from siberia_agents.levels import LEVELS, NAMES
from siberia_agents.registry import AGENTS, form
from siberia_env import game as contract
from siberia_env.board import components as board_box
from siberia_env.board.actions import NUM_LYING, NUM_PAWN_PLACES
from siberia_env.board.actions import choices as board_choices
from siberia_env.board.game import GAME as BOARD
from siberia_env.board.state import RESEARCH_COLUMNS
from siberia_env.card import components as box
from siberia_env.card.actions import CARD_ACTIONS, CHOICES, PAY
from siberia_env.card.game import GAME as CARD
from siberia_env.common.components import DEFAULT_SALESMAN_VALUES, DOLLARS, NUM_RESOURCES, RESOURCES, Table
from siberia_env.game import CONTRACT, GAMES, MAX_PLAYERS, OPTIONAL, Block, Game, block_slices
from siberia_env.view import View
from siberia_experiments.commands import LIST_SIGN
from siberia_experiments.data.decisions import COLUMNS as DATA_COLUMNS
from siberia_experiments.rllib import options as rllib
from siberia_experiments.training.league import Mix
from siberia_experiments.training.ppo import Settings
from siberia_experiments.training.run import GAME_SETTINGS

DOCS = Path(__file__).resolve().parent

_PART = re.compile(
    r"^(?P<begin><!-- begin generated: (?P<name>[^\n]*?) -->\n)(?P<body>.*?)(?P<end>^<!-- end generated -->)$",
    re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r"^<!-- (?:begin|end) generated", re.MULTILINE)

SEEN_BY = {"all": "all", "observer": "observer only", "nobody": "nobody"}


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def code(text: object) -> str:
    """`text` set as code."""
    return f"`{text}`"


def codes(names: Iterable[object]) -> str:
    """`names` set as code, one after the other."""
    return ", ".join(code(name) for name in names)


# ---------------------------------------------------------------- both games


def sources(tables: tuple[Table, ...]) -> str:
    """C5, B7: where each component table comes from."""
    return table(("table", "what is in it", "source"), ((code(t.name), t.content, f"**{t.source}**") for t in tables))


SOURCES = {  #: by `Table.source`, in this order
    "rulebook": "printed in the rulebooks",
    "review": "reported by a review",
    "assumed": "**assumed by the suite**",
}


def known(games: Mapping[str, tuple[Table, ...]]) -> str:
    """What is printed in the rulebooks, what reviews report, and what is assumed, for each of `games`."""

    def cell(tables: tuple[Table, ...], source: str) -> str:
        return "<br>".join(f"{t.name.replace('_', ' ')}: {t.content}" for t in tables if t.source == source)

    rows = [(words, *(cell(tables, source) for tables in games.values())) for source, words in SOURCES.items()]
    return table(("components", *games), rows)


def component_file(tables: dict[str, Any]) -> str:
    """The component file that says what the box says."""
    text = json.dumps(tables, indent=2)
    on_one_line = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: "[" + re.sub(r"\n\s*", " ", found[1]) + "]", text)
    return f"```json\n{on_one_line}\n```\n"


def options(defaults: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """The options of the `rules` argument."""
    rows = [(code(name), code(default), meanings[name]) for name, default in defaults.items()]
    return table(("option", "default", "meaning"), rows)


def block_table(blocks: tuple[Block, ...]) -> str:
    """Where each of `blocks` lies in the flat vector, and what it says."""
    slices = block_slices(blocks)
    rows = [
        (
            code(block.name),
            f"{slices[block.name].start}:{slices[block.name].stop}",
            " x ".join(str(length) for length in block.shape),
            SEEN_BY[block.seen_by],
            f"{block.unit:g}" + (", signed" if block.signed else ""),
            block.meaning,
        )
        for block in blocks
    ]
    size = sum(block.size for block in blocks)
    return table(("block", "numbers", "shape", "seen by", "unit", "meaning"), rows) + f"\n{size} numbers in all.\n"


def axes_table(axes: Iterable[tuple[int, str, str | Sequence[str]]]) -> str:
    """What the places along the axes of the blocks stand for: (length, axis, order in words or as names)."""
    in_order = sorted(axes, key=lambda axis: axis[0])
    rows = [(length, what, order if isinstance(order, str) else codes(order)) for length, what, order in in_order]
    return table(("length", "axis", "order"), rows)


def action_table(choices: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The action numbers with their names, from the decisions with the names of their actions."""
    rows: list[tuple[object, ...]] = []
    for decision, names in choices:
        what, _, rules = decision.rstrip(")").rpartition(" (")
        for name in names:
            rows.append((len(rows), code(name), what, rules))
    return table(("action", "name", "decision", "rule"), rows) + f"\n{len(rows)} actions in all.\n"


def sizes(game: Game) -> str:
    """The sizes of a game's arrays."""
    rows = (
        ("state record", f"{game.state_dtype.itemsize} bytes"),
        ("ruleset record", f"{game.variant().rulesets.itemsize} bytes"),
        ("actions", game.num_actions),
        ("observation", f"{game.observation_size} float32"),
        ("what `state()` adds", f"{game.hidden_size} float32"),
        ("outcome of a chance phase", f"{game.outcome_size} int8"),
    )
    return table((f"{game.name} game", "size"), rows)


SEATS = (MAX_PLAYERS, "seats", "the observer, then the next seat to move, and so on")

# ---------------------------------------------------------------- the card game


def card_resource_cards() -> str:
    """C3, C4: the resource cards, and the salesman of each resource."""
    rows = [
        (
            resource,
            len(values),
            " ".join(str(DOLLARS * value) for value in values),
            DOLLARS * sum(values),
            DOLLARS * box.DEFAULT_SALESMEN[resource],
        )
        for resource, values in box.DEFAULT_RESOURCE_CARDS.items()
    ]
    total = ("all", sum(row[1] for row in rows), "", sum(row[3] for row in rows), "")
    return table(
        ("resource", "cards", "values, dollars", "together", "each with the salesman, dollars"), (*rows, total)
    )


def card_persons() -> str:
    """C2, C4: the person cards with what they are worth, and the action cards."""
    cards = {
        "worker": f"{box.WORKERS}",
        "salesman": f"{box.NUM_SYMBOLS}: one for each of {', '.join(box.SYMBOLS)}",
        "investor": f"{NUM_RESOURCES}: one for each resource",
    }
    action_cards = box.Components().action_cards
    rows = [
        (
            person,
            cards[person],
            DOLLARS * box.PERSON_VALUE,
            DOLLARS * box.DEFAULT_SALESMEN[person],
            sum(count for kind, count in action_cards.items() if kind.endswith(f"/{person}")),
        )
        for person in box.PERSONS
    ]
    header = ("person", "cards", "worth, dollars", "with the salesman, dollars", "action cards that show it")
    return table(header, rows)


def card_edition_values() -> str:
    """What each edition sets in the ruleset record."""
    names = ("draw_exact", "must_act_when_full", "worker_cap", "reshuffle_at_once")
    rows = []
    for edition in box.EDITIONS:
        ruleset = box.make_ruleset(2, box.check_rules(edition), box.Components())[0]
        rows.append((code(edition), *(int(ruleset[name]) for name in names)))
    return table(("edition", *(code(name) for name in names)), rows)


def card_options() -> str:
    """The options of the card game."""
    meanings = {
        "edition": f"one of {codes(box.EDITIONS)} (C9, C13, C14)",
        "max_turns": f"turns of all players together, 1 to {box.MOST_TURNS}; rounded up to whole rounds (C17)",
    }
    return options(box.DEFAULT_RULES, meanings)


def card_axes() -> str:
    """The axes of the card game's blocks."""
    names = [name for _, group in CHOICES for name in group]
    return axes_table(
        (
            SEATS,
            (box.ROW_SLOTS, "slots of the row", "slot 0 beside the headframe"),
            (NUM_RESOURCES, "resources", RESOURCES),
            (box.NUM_SYMBOLS, "symbols", box.SYMBOLS),
            (box.NUM_KINDS, "kinds of action card", box.KINDS),
            (PAY - CARD_ACTIONS, "card actions", names[CARD_ACTIONS:PAY]),
        )
    )


# ---------------------------------------------------------------- the board game


def board_counters() -> str:
    """B2: the action counters, by person and resource."""
    counters = board_box.Components().counters
    rows: list[tuple[object, ...]] = []
    for person in board_box.PERSONS:
        split = [counters[f"{resource}/{person}"] for resource in RESOURCES]
        rows.append((person, *split, sum(split)))
    together = [sum(row[column] for row in rows) for column in range(1, 2 + NUM_RESOURCES)]  # type: ignore[misc]
    rows.append(("together", *together))
    rows.append(("manager", *[""] * NUM_RESOURCES, counters["manager"]))
    rows.append(("all", *[""] * NUM_RESOURCES, sum(counters.values())))
    return table(("person", *RESOURCES, "together"), rows)


def board_tiles() -> str:
    """B1, B2, B3: the ten actions, their investment tiles, and the counters that can cover their spaces."""
    components = board_box.Components()
    rows = [
        (
            action,
            components.investment_tiles[action],
            sum(count for kind, count in components.counters.items() if action in kind.split("/")),
        )
        for action in board_box.ACTIONS
    ]
    total = ("all", sum(components.investment_tiles.values()), "")
    return table(("action", "investment tiles", "counters that show it"), (*rows, total))


def board_resources() -> str:
    """B4, B25: the cubes, and the salesman card of each resource."""
    cubes = board_box.DEFAULT_CUBES
    rows = [(name, cubes[name], DOLLARS * DEFAULT_SALESMAN_VALUES[name]) for name in RESOURCES]
    return table(("resource", "cubes", "salesman card, dollars"), (*rows, ("all", sum(cubes.values()), "")))


def board_prices() -> str:
    """B5: the exchanges, tile by tile, with their prices."""
    components = board_box.Components()
    tiles = {exchange: number for number, tile in enumerate(components.exchange_tiles, 1) for exchange in tile}
    rows = [
        (tiles.get(exchange, ""), exchange, *(DOLLARS * price or "-" for price in components.exchanges[exchange]))
        for exchange in board_box.all_exchanges(components)
    ]
    return table(("tile", "exchange", *(f"{resource}, dollars" for resource in RESOURCES)), rows)


def board_map() -> str:
    """B6: where a step leads."""
    components = board_box.Components()
    rows = [(f"{board_box.START} (one way)", ", ".join(components.arrows))]
    rows += [(area, ", ".join(adjacent)) for area, adjacent in components.areas.items()]
    return table(("from", "a step leads to"), rows)


def board_options() -> str:
    """The options of the board game."""
    meanings = {
        "sides": f"who settles the exchanges: {code('choose')}, the starting player in play; {code('random')}; or a "
        f"list of {board_box.EXCHANGE_TILES} exchanges, one a tile (B9)",
        "salesman_cards": "whether the salesman cards are played with (B25)",
        "max_rounds": f"rounds after which the game is scored as it stands, 1 to {board_box.MOST_ROUNDS} (B24)",
    }
    return options(board_box.DEFAULT_RULES, meanings)


def board_axes() -> str:
    """The axes of the board game's blocks."""
    components = board_box.Components()
    exchanges = f"{code(board_box.FIRST_EXCHANGE)}, then the active side of each tile"
    areas = f"{codes(components.areas)}, then places for the areas of a larger map"
    return axes_table(
        (
            SEATS,
            (board_box.TILE_SIDES, "sides", "the two sides of an exchange tile"),
            (board_box.STEPS, "steps", "at most 1, 2, 3"),
            (NUM_RESOURCES, "resources", RESOURCES),
            (board_box.NUM_EXCHANGES, "exchanges", exchanges),
            (RESEARCH_COLUMNS, "counters at research", (*RESOURCES, "manager")),
            (board_box.NUM_PANEL_ACTIONS, "actions", board_box.ACTIONS),
            (board_box.MOST_AREAS, "areas", areas),
            (board_box.NUM_PLACES, "places of a worker", f"the areas, then {code(board_box.START)}"),
            (board_box.NUM_KINDS - 1, "kinds with a resource", "the kinds of action counter but the last, `manager`"),
            (board_box.NUM_KINDS, "kinds of action counter", board_box.KINDS),
            (NUM_PAWN_PLACES, "places of a pawn", "the reserve, the exchanges, the places of a worker"),
            (NUM_LYING, "counters on the panel", f"action and kind, in the order of the actions {code('discard ...')}"),
        )
    )


# ---------------------------------------------------------------- the contract of a game


def contract_kernels() -> str:
    """The kernels of the contract with their parameters, as `siberia_env.game` declares them."""
    functions = {
        node.name: node
        for node in ast.parse(inspect.getsource(contract)).body
        if isinstance(node, ast.FunctionDef) and node.name in CONTRACT
    }
    rows = []
    for name in CONTRACT:
        function = functions[name]
        parameters = ", ".join(argument.arg for argument in function.args.args)
        returned = "" if function.returns is None else ast.unparse(function.returns)
        meaning = " ".join((ast.get_docstring(function) or "").split())
        left_out = " May be left out." if name in OPTIONAL else ""
        rows.append((code(f"{name}({parameters})"), code(returned), meaning + left_out))
    return table(("kernel", "returns", "what it does"), rows)


def _attributes(described: type) -> dict[str, str]:
    """The attributes of a class by name, with what its docstring says of each."""
    text = inspect.cleandoc(described.__doc__ or "").partition("Attributes:\n")[2]
    return {name: " ".join(told.split()) for name, told in re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text, re.M)}


def attributes(described: type) -> str:
    """What an object of a class is made of, from the docstring of the class."""
    return table(("attribute", "what it holds"), ((code(name), told) for name, told in _attributes(described).items()))


def settings_table(described: type[Any], by_game: Mapping[str, Any]) -> str:
    """The settings of a trainer, with the games' values."""
    meanings = _attributes(described)
    rows = []
    for setting in fields(described):
        values = [getattr(by_game[game], setting.name) for game in GAMES]
        told = [LIST_SIGN.join(map(str, value)) if isinstance(value, tuple) else str(value) for value in values]
        rows.append((code(setting.name), *map(code, told), meanings[setting.name]))
    return table(("setting", *(f"{game} game" for game in GAMES), "what it is"), rows)


def train_mix() -> str:
    """The settings of the league."""
    meanings = _attributes(Mix)
    rows = [(code(part.name), code(str(part.default)), meanings[part.name]) for part in fields(Mix)]
    return table(("part of the mix", "default", "what it is"), rows)


# ---------------------------------------------------------------- agents


def shipped_agents() -> str:
    """The agents of the suite."""
    return table(("agent", "how it plays"), ((code(form(name)), entry.meaning) for name, entry in AGENTS.items()))


def agent_options() -> str:
    """The options of the suite's agents."""
    rows = [
        (
            code(name),
            code(option),
            told.values,
            "" if entry.default(option) is None else code(entry.default(option)),
            told.meaning,
        )
        for name, entry in AGENTS.items()
        for option, told in entry.options.items()
    ]
    return table(("agent", "option", "values", "default", "meaning"), rows)


def levels() -> str:
    """Who plays each level, with its rating."""
    rows = [
        (game, players, *(f"{code(ladder[name].spec)} ({ladder[name].rating})" for name in NAMES))
        for (game, players), ladder in LEVELS.items()
    ]
    return table(("game", "players", *(code(f"level:{name}") for name in NAMES)), rows)


def shipped_models() -> str:
    """The models that come with the suite, and what each says of its training."""
    rows = []
    for path in sorted(SHIPPED.glob("*.npz")):
        model = load_model(path)
        told, options = model.trained, model.trained["options"]
        settings = options["settings"]
        begun = Path(options["start_from"]).stem if options.get("start_from") else ""
        rows.append(
            (
                code(path.name),
                f"{path.stat().st_size / 1e6:.2f}",
                " x ".join(map(str, settings["network"])),
                options["seed"],
                f"{settings['learning_rate']:g}",
                code(begun) if begun else "nothing",
                f"{told['seconds'] / 60:.0f}",
                f"{told['decisions'] / 1e6:.1f}",
            )
        )
    header = ("model", "MB", "hidden layers", "seed", "learning rate", "starts from", "minutes", "million decisions")
    return table(header, rows)


def tournament(path: Path) -> str:
    """The summary of a tournament (`summary.csv`), the strongest agent first."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = sorted(csv.DictReader(file), key=lambda line: -float(line["rating"]))
    rows = [
        (
            code(line["agent"]),
            line["games"],
            f"{100 * float(line['win_share']):.1f}",
            f"{100 * float(line['win_low']):.1f} - {100 * float(line['win_high']):.1f}",
            f"${float(line['mean_score']):.0f}",
            f"{float(line['rating']):.0f}",
            f"{float(line['rating_low']):.0f} - {float(line['rating_high']):.0f}",
            f"{float(line['ms_per_move']):.2g}",
        )
        for line in lines
    ]
    header = ("agent", "games", "win share, %", "95%", "mean score", "rating", "95%", "ms a move")
    return table(header, rows)


def openspiel_parameters() -> str:
    """The parameters of both games in OpenSpiel, with their defaults."""
    from siberia_env.openspiel import PREFIX, parameters

    rows = [
        (code(PREFIX + game.name), code(name), code(default) if default != "" else "none")
        for game in (CARD, BOARD)
        for name, default in parameters(game).items()
    ]
    return table(("game", "parameter", "default"), rows)


def solved(name: str) -> Any:
    """A part of the report that `python -m siberia_experiments.solve` wrote."""
    return json.loads((DOCS / "results" / "solved.json").read_text(encoding="utf-8"))[name]


def solved_game() -> str:
    """The size of the small game, and how its exploitability fell."""
    size = f"The tree has {solved('nodes')} nodes and {solved('information_states')} information states.\n\n"
    rows = [(iteration, f"{100 * gain:.4f}") for iteration, gain in solved("exploitability")]
    return size + table(("iterations of CFR+", "exploitability, points"), rows)


def solved_victims() -> str:
    """What a best response gains against each agent in the small game, and what `siberia exploit` found."""
    rows = [
        (
            code(name),
            f"{100 * told['exact']:.2f}",
            f"{100 * told['found']:.2f}",
            f"{100 * told['low']:.2f} - {100 * told['high']:.2f}",
        )
        for name, told in solved("victims").items()
    ]
    return table(("agent", "exact gain", "found by `siberia exploit`", "95%"), rows)


#: The generated parts by the name in their marker.
def data_columns() -> str:
    """The columns of a table of decisions."""
    return table(("column", "type", "what it holds"), [(code(c.name), c.kind, c.meaning) for c in DATA_COLUMNS])


PARTS: dict[str, Callable[[], str]] = {
    "data columns": data_columns,
    "components of both games": lambda: known({"card game": box.TABLES, "board game": board_box.TABLES}),
    "components of the card game": lambda: known({"what": box.TABLES}),
    "components of the board game": lambda: known({"what": board_box.TABLES}),
    "card sources": lambda: sources(box.TABLES),
    "card resource cards": card_resource_cards,
    "card persons": card_persons,
    "card component file": lambda: component_file(box.Components().as_json()),
    "card edition values": card_edition_values,
    "card options": card_options,
    "card observation": lambda: block_table(CARD.blocks),
    "card hidden": lambda: block_table(CARD.hidden_blocks),
    "card axes": card_axes,
    "card actions": lambda: action_table(CHOICES),
    "card sizes": lambda: sizes(CARD),
    "board sources": lambda: sources(board_box.TABLES),
    "board counters": board_counters,
    "board tiles": board_tiles,
    "board resources": board_resources,
    "board prices": board_prices,
    "board map": board_map,
    "board component file": lambda: component_file(board_box.Components().as_json()),
    "board options": board_options,
    "board observation": lambda: block_table(BOARD.blocks),
    "board hidden": lambda: block_table(BOARD.hidden_blocks),
    "board axes": board_axes,
    "board actions": lambda: action_table(board_choices(board_box.Components())),
    "board sizes": lambda: sizes(BOARD),
    "contract kernels": contract_kernels,
    "game attributes": lambda: attributes(Game),
    "view attributes": lambda: attributes(View),
    "shipped agents": shipped_agents,
    "agent options": agent_options,
    "levels": levels,
    "shipped models": shipped_models,
    "train settings": partial(settings_table, Settings, GAME_SETTINGS),
    "rllib settings": partial(settings_table, rllib.Settings, rllib.GAME_SETTINGS),
    "train mix": train_mix,
    "openspiel parameters": openspiel_parameters,
    "solved game": solved_game,
    "solved victims": solved_victims,
    **{
        f"tournament {path.stem.replace('_', ' ')}": partial(tournament, path)
        for path in sorted((DOCS / "results").glob("*.csv"))
    },
}


def generated(page: str) -> str:
    """The text of a page with every generated part as the code has it now.

    Raises:
        ValueError: a marker names no part, or a begin and an end don't belong together.
    """

    def fill(found: re.Match[str]) -> str:
        if found["name"] not in PARTS:
            raise ValueError(f"no generated part is called {found['name']!r}; there are {', '.join(PARTS)}")
        return f"{found['begin']}\n{PARTS[found['name']]()}\n{found['end']}"

    parts = list(_PART.finditer(page))
    if len(_MARKER.findall(page)) != 2 * len(parts) or any(_MARKER.search(part["body"]) for part in parts):
        raise ValueError("a generated part has no beginning or no end")
    return _PART.sub(fill, page)


def differing(docs: Path) -> dict[Path, str]:
    """The pages under `docs`, and the README.md beside it, that are not as the code has them now.

    Returns:
        Each such page with the text it should have.

    Raises:
        ValueError: a page's markers are wrong; the message names the page.
    """
    wanted = {}
    readme = docs.resolve().parent / "README.md"
    for page in [*sorted(docs.rglob("*.md")), *([readme] if readme.exists() else [])]:
        text = page.read_text(encoding="utf-8")
        try:
            new = generated(text)
        except ValueError as error:
            raise ValueError(f"{page}: {error}") from error
        if new != text:
            wanted[page] = new
    return wanted


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the docs into step with the code, or check that they are; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python docs/write_tables.py",
        description="Write the tables in docs/ and README.md that come from the code.",
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a page differs")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the docs (default: the checkout's own)")
    options: Any = parser.parse_args(arguments)
    if not options.docs.is_dir():
        print(f"{options.docs}: no such folder; the docs are part of a checkout", file=sys.stderr)
        return 2
    try:
        pages = differing(options.docs)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for page, text in pages.items():
        if options.check:
            print(f"{page}: differs from the code; run python docs/write_tables.py", file=sys.stderr)
        else:
            page.write_text(text, encoding="utf-8")
            print(f"{page}: rewritten")
    return 1 if options.check and pages else 0


if __name__ == "__main__":
    sys.exit(main())
