"""The tables in docs/ that repeat what the code says, written from the code.

`python -m siberia_experiments.doc_tables` rewrites them in place; with `--check` it changes nothing, names each
page that differs and exits with 1. A generated part stands between two lines of its page:

    <!-- begin generated: card actions -->
    <!-- end generated -->
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from siberia_env import game as contract
from siberia_env.card import components as box
from siberia_env.card.actions import CARD_ACTIONS, CHOICES, PAY
from siberia_env.card.game import GAME as CARD
from siberia_env.card.state import STATE
from siberia_env.game import CONTRACT, DOLLARS, MAX_PLAYERS, Block, Game, block_slices
from siberia_env.tables import NUM_RESOURCES, RESOURCES

DOCS = Path(__file__).resolve().parents[1] / "docs"

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


# ---------------------------------------------------------------- the card game: components and options


def card_sources() -> str:
    """C5: where each component table comes from."""
    return table(
        ("table", "what is in it", "source"), ((code(t.name), t.content, f"**{t.source}**") for t in box.TABLES)
    )


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


def card_component_file() -> str:
    """The component file that says what the box says."""
    text = json.dumps(box.Components().as_json(), indent=2)
    on_one_line = re.sub(r"\[\s+([\d,\s]*?)\s+\]", lambda found: "[" + " ".join(found[1].split()) + "]", text)
    return f"```json\n{on_one_line}\n```\n"


def card_edition_values() -> str:
    """What each edition sets in the ruleset record."""
    names = ("draw_exact", "must_act_when_full", "worker_cap")
    rows = []
    for edition in box.EDITIONS:
        ruleset = box.make_ruleset(2, box.check_rules(edition), box.Components())[0]
        rows.append((code(edition), *(int(ruleset[name]) for name in names)))
    return table(("edition", *(code(name) for name in names)), rows)


def card_options() -> str:
    """The options of the `rules` argument."""
    meanings = {
        "edition": "one of " + ", ".join(code(edition) for edition in box.EDITIONS) + " (C9, C13)",
        "max_turns": f"turns of all players together, 1 to {box.MOST_TURNS}; rounded up to whole rounds (C17)",
    }
    rows = [(code(name), code(default), meanings[name]) for name, default in box.DEFAULT_RULES.items()]
    return table(("option", "default", "meaning"), rows)


# ---------------------------------------------------------------- the card game: observation and actions


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
    return table(("block", "numbers", "shape", "seen by", "unit", "meaning"), rows)


def card_observation() -> str:
    """The observation's blocks."""
    return block_table(CARD.blocks) + f"\n{CARD.observation_size} numbers in all.\n"


def card_hidden() -> str:
    """The blocks that only `state()` shows."""
    return block_table(CARD.hidden_blocks) + f"\n{CARD.hidden_size} numbers in all.\n"


def card_axes() -> str:
    """What the places along the axes of the blocks stand for."""
    names = [name for _, group in CHOICES for name in group]
    axes = (
        (NUM_RESOURCES, "resources", RESOURCES),
        (box.NUM_SYMBOLS, "symbols", box.SYMBOLS),
        (box.NUM_KINDS, "kinds of action card", box.KINDS),
        (PAY - CARD_ACTIONS, "card actions", names[CARD_ACTIONS:PAY]),
    )
    rows: list[tuple[object, ...]] = [
        (MAX_PLAYERS, "seats", "the observer, then the next seat to move, and so on"),
        (box.ROW_SLOTS, "slots of the row", "slot 0 beside the headframe"),
    ]
    rows += [(length, what, ", ".join(code(name) for name in order)) for length, what, order in axes]
    return table(("length", "axis", "order"), sorted(rows, key=lambda row: int(str(row[0]))))


def card_actions() -> str:
    """The action numbers with their names."""
    rows = []
    number = 0
    for decision, names in CHOICES:
        what, _, rules = decision.rstrip(")").rpartition(" (")
        for name in names:
            rows.append((number, code(name), what, rules))
            number += 1
    return table(("action", "name", "decision", "rule"), rows) + f"\n{number} actions in all.\n"


def card_sizes() -> str:
    """The sizes of the card game's arrays."""
    ruleset = box.make_ruleset(2, box.check_rules(None), box.Components())
    rows = (
        ("state record", f"{STATE.itemsize} bytes"),
        ("ruleset record", f"{ruleset.itemsize} bytes"),
        ("actions", CARD.num_actions),
        ("observation", f"{CARD.observation_size} float32"),
        ("what `state()` adds", f"{CARD.hidden_size} float32"),
        ("outcome of a chance phase", f"{CARD.outcome_size} int8"),
    )
    return table(("card game", "size"), rows)


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
        rows.append((code(f"{name}({parameters})"), code(returned), meaning))
    return table(("kernel", "returns", "what it does"), rows)


def game_attributes() -> str:
    """What a `Game` is made of, from its docstring."""
    text = inspect.cleandoc(Game.__doc__ or "").partition("Attributes:\n")[2]
    rows = [(code(name), " ".join(meaning.split())) for name, meaning in re.findall(r"^    (\w+): (.*)$", text, re.M)]
    return table(("attribute", "what it holds"), rows)


#: The generated parts by the name in their marker.
PARTS: dict[str, Callable[[], str]] = {
    "card sources": card_sources,
    "card resource cards": card_resource_cards,
    "card persons": card_persons,
    "card component file": card_component_file,
    "card edition values": card_edition_values,
    "card options": card_options,
    "card observation": card_observation,
    "card hidden": card_hidden,
    "card axes": card_axes,
    "card actions": card_actions,
    "card sizes": card_sizes,
    "contract kernels": contract_kernels,
    "game attributes": game_attributes,
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
    """The pages under `docs` that are not as the code has them now, each with the text it should have.

    Raises:
        ValueError: a page's markers are wrong; the message names the page.
    """
    wanted = {}
    for page in sorted(docs.rglob("*.md")):
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
        prog="python -m siberia_experiments.doc_tables",
        description="Write the tables in docs/ that come from the code.",
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
            print(f"{page}: differs from the code; run python -m siberia_experiments.doc_tables", file=sys.stderr)
        else:
            page.write_text(text, encoding="utf-8")
            print(f"{page}: rewritten")
    return 1 if options.check and pages else 0


if __name__ == "__main__":
    sys.exit(main())
