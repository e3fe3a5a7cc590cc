"""The documentation: in step with the code, complete, and standing on its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer

from docs import write_tables
from siberia_env.board import components as board_box
from siberia_env.card import components as card_box
from siberia_env.game import GAMES, find_game
from siberia_experiments.cli import app

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = ROOT / "README.md"
RULES = {game: DOCS / game / "rules.md" for game in GAMES}
NUMBERED = {"card": ("C", 23), "board": ("B", 29)}  #: the letter of a game's rules, and the last of them
SOURCE = re.compile(r"\*[^*\n]*\b(?:book|Oya|digital|review|assumed|ruling|sources)\b")

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

FOLDERS = ("siberia_env", "agents", "experiments", "tests", "docs", "notebooks", "web/src", "web/tests", ".ci")
SINGLE_FILES = (
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "pyproject.toml",
    "setup.py",
)

# Places that a reader of the project does not have. (Letters in brackets keep this file out of its own net.)
OUTSIDE = (
    r"(?<![\w.:/])/(?:wor[k]|hom[e]|roo[t]|mn[t])(?:/|\b)",
    r"\bshare[d]/",
    r"\brulebook[s]/",
    r"\bhelpe[r]\.md\b",
    r"\b(?:DESIG[N]|CAR[D]|BOAR[D]|RECOR[D]|STYL[E]|ECOSYSTE[M])\.md\b",
    r"\bdesig[n]/",
    r"index-ur[l]|pythonhoste[d]|\bpyp[i]\.",
)


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def project_files() -> list[Path]:
    found = [ROOT / name for name in SINGLE_FILES if (ROOT / name).exists()]
    for folder in FOLDERS:
        found += [
            path
            for path in sorted((ROOT / folder).rglob("*"))
            if path.is_file()
            and "__pycache__" not in path.parts
            and path.suffix not in (".npz", ".png", ".pyc", ".wasm")
        ]
    return found


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_generated_tables_equal_the_code() -> None:
    assert [page_id(page) for page in write_tables.differing(DOCS)] == []


def test_every_generated_part_stands_in_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in [*PAGES, README])
    used = re.findall(r"<!-- begin generated: (.*?) -->", text)
    assert sorted(used) == sorted(write_tables.PARTS)


@pytest.mark.parametrize("page", [README, *RULES.values()], ids=page_id)
def test_what_the_box_does_not_tell_stands_above_all_tables(page: Path) -> None:
    """By source, with every table of the code under its own, and the way to replace it."""
    before, heading, after = page.read_text(encoding="utf-8").partition("## What the box does not tell\n")
    assert heading
    assert not re.search(r"^\|", before, re.MULTILINE)
    section = after.partition("\n## ")[0]
    _, _, *rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    assert [row[0] for row in rows] == ["printed in the rulebooks", "reported by a review", "**assumed by the suite**"]
    boxes = {"card": card_box.TABLES, "board": board_box.TABLES}
    games = list(boxes) if page == README else [page.parent.name]
    for column, game in enumerate(games, 1):
        listed = {
            (source, line)
            for source, row in zip(("rulebook", "review", "assumed"), rows, strict=True)
            for line in row[column].split("<br>")
        }
        assert listed == {(told.source, f"{told.name.replace('_', ' ')}: {told.content}") for told in boxes[game]}
        target = f"docs/{game}/rules.md#replacing-components" if page == README else "#replacing-components"
        assert target in LINK.findall(section)


@pytest.fixture
def copied_docs(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DOCS, tmp_path / "docs"))


def test_check_names_the_page_that_differs(copied_docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = copied_docs / "card" / "actions.md"
    right = page.read_text(encoding="utf-8")
    wrong = right.replace("| 12 | `mine gas` |", "| 12 | `mine gold` |")
    assert wrong != right
    page.write_text(wrong, encoding="utf-8")
    assert write_tables.main(["--check", "--docs", str(copied_docs)]) == 1
    assert capsys.readouterr().err.startswith(f"{page}: ")
    assert page.read_text(encoding="utf-8") == wrong
    assert write_tables.main(["--docs", str(copied_docs)]) == 0
    assert page.read_text(encoding="utf-8") == right
    assert write_tables.main(["--check", "--docs", str(copied_docs)]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- begin generated: no such part -->\n<!-- end generated -->\n", "no such part"),
        ("<!-- begin generated: card actions -->\n", "no end"),
        ("<!-- end generated -->\n", "no beginning"),
        (
            "<!-- begin generated: card actions -->\n<!-- begin generated: card axes -->\n<!-- end generated -->\n",
            "no end",
        ),
    ],
)
def test_wrong_markers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert write_tables.main(["--docs", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert str(tmp_path / "page.md") in error
    assert message in error
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text


def test_the_readme_is_kept_in_step_too(copied_docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = copied_docs.parent / "README.md"
    right = README.read_text(encoding="utf-8")
    page.write_text(right.replace("60 cards in all", "61 cards in all"), encoding="utf-8")
    assert write_tables.main(["--check", "--docs", str(copied_docs)]) == 1
    assert capsys.readouterr().err.startswith(f"{page}: ")
    assert write_tables.main(["--docs", str(copied_docs)]) == 0
    assert page.read_text(encoding="utf-8") == right


def test_a_missing_docs_folder_is_refused(tmp_path: Path) -> None:
    assert write_tables.main(["--docs", str(tmp_path / "none")]) == 2


def rules_of(game: str) -> dict[int, str]:
    """The text of each rule on the game's rules page by its number, in the order of the page."""
    letter = NUMBERED[game][0]
    parts = re.split(rf"^\*\*{letter}(\d+)\.", RULES[game].read_text(encoding="utf-8"), flags=re.MULTILINE)
    numbers = [int(number) for number in parts[1::2]]
    assert len(set(numbers)) == len(numbers)
    return dict(zip(numbers, parts[2::2], strict=True))


def test_every_game_has_its_pages() -> None:
    assert set(NUMBERED) == set(GAMES)
    for game in GAMES:
        assert {page.name for page in PAGES if page.parent == DOCS / game} == {
            "heuristic.md",
            "rules.md",
            "actions.md",
            "observation.md",
        }


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_page_defines_every_rule_once_and_in_order(game: str) -> None:
    assert list(rules_of(game)) == list(range(1, NUMBERED[game][1] + 1))


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_names_its_source(game: str) -> None:
    assert [number for number, text in rules_of(game).items() if not SOURCE.search(text)] == []


#: The rules whose words in a book can be read in another way, by game.
READ_OTHERWISE = {"card": (10, 11), "board": tuple(range(14, 21))}


@pytest.mark.parametrize("game", GAMES)
def test_open_rules_name_the_sentence_that_allows_another_reading(game: str) -> None:
    """By the heading in the book under which it stands, in quotation marks."""
    letter, rules = NUMBERED[game][0], rules_of(game)
    for number in READ_OTHERWISE[game]:
        chosen, begin, others = rules[number].partition(f"*Other readings of {letter}{number}:*")
        assert begin, number
        assert "*(ruling" in chosen, number
        assert re.search(r'"[^"]+"', others), number
        assert re.search(r"sentence", others), number


def test_only_rules_that_exist_are_referred_to() -> None:
    code = [path for folder in ("siberia_env", "agents", "experiments") for path in (ROOT / folder).rglob("*.py")]
    unknown = {
        f"{page_id(path)}: {letter}{number}"
        for path in [*PAGES, *code]
        for letter, last in NUMBERED.values()
        for number in re.findall(rf"\b{letter}(\d{{1,2}})\b", path.read_text(encoding="utf-8"))
        if not 1 <= int(number) <= last
    }
    assert unknown == set()


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_has_a_test_that_bears_its_number(game: str) -> None:
    letter, last = NUMBERED[game]
    tests = [ROOT / "tests" / game / name for name in ("test_rules.py", "test_examples.py", "test_components.py")]
    tested = {
        int(number)
        for path in tests
        for number in re.findall(rf"^ *def test_{letter}(\d+)_", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert sorted(set(range(1, last + 1)) - tested) == []


CONTRIBUTING = ROOT / "CONTRIBUTING.md"


@pytest.mark.parametrize("page", [*PAGES, README, CONTRIBUTING], ids=page_id)
def test_links_lead_to_pages_and_headings_of_the_project(page: Path) -> None:
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        linked = Path(os.path.normpath(page.parent / name)) if name else page  # packages may be links themselves
        assert linked.is_relative_to(ROOT), target
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_every_page_is_listed() -> None:
    listed = {(DOCS / target).resolve() for target in LINK.findall((DOCS / "README.md").read_text(encoding="utf-8"))}
    assert set(PAGES) - listed == {DOCS / "README.md"}


@pytest.mark.parametrize("game", GAMES)
def test_the_component_file_in_the_docs_is_the_box(game: str) -> None:
    found = re.findall(r"^```json\n(.*?)^```$", RULES[game].read_text(encoding="utf-8"), re.M | re.S)
    assert len(found) == 1
    read: Any = find_game(game).read_components
    assert read(json.loads(found[0])) == read(None)


def test_record_lines_in_the_docs_are_json() -> None:
    text = (DOCS / "records.md").read_text(encoding="utf-8")
    lines = re.findall(r"^```json\n(.*?)^```$", text, re.M | re.S) + re.findall(r"^\| `(\{.*?\})` \|", text, re.M)
    assert len(lines) == 11
    for line in lines:
        assert isinstance(json.loads(line), dict)


def commands_in(page: Path) -> list[str]:
    """The lines of a page's code blocks that call `siberia`, without comments, pipes and redirections."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    texts = [text for language, text in blocks if language in ("", "sh")]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("siberia ")]
    return [re.split(r" [#|>] ?", line)[0] for line in lines]


def test_commands_in_the_docs_have_only_options_that_exist() -> None:
    commands = typer.main.get_command(app)
    whole = commands.make_context("siberia", ["rules", "card"])
    checked = 0
    for page in [*PAGES, README, CONTRIBUTING]:
        for line in commands_in(page):
            _, name, *arguments = shlex.split(line)
            if name.startswith("--"):
                assert name in {option for parameter in commands.get_params(whole) for option in parameter.opts}, line
                continue
            command = commands.get_command(whole, name)  # type: ignore[attr-defined]
            assert command is not None, line
            command.make_context(name, arguments, parent=whole)  # raises what an unreadable command line does
            checked += 1
    assert checked > 50


def test_the_contributing_guide_names_commands_and_files_that_exist() -> None:
    """And every longer command that make has."""
    text, makefile = CONTRIBUTING.read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert named <= targets
    assert {"setup", "test", "check", "format", "soak", "mutants", "attack", "data-check", "dist-check"} <= named
    files = set(re.findall(r"`([\w/]+\.(?:py|md|toml|txt|cff))`", text))
    assert [name for name in files if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, README], ids=page_id)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:siberia_env|agents|experiments|docs|card|board)/[\w/]+\.(?:py|md))`", text)
    homes = (ROOT, ROOT / "siberia_env")
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []


def test_the_map_of_the_house_shows_every_room_and_no_other() -> None:
    (house,) = re.findall(r"^```\n(siberia_env/ .*?)^```$", (DOCS / "design.md").read_text("utf-8"), re.M | re.S)
    shown, floor, rooms = set(), "", [""]
    for line in house.splitlines():
        names = re.match(r"(?:\s*[\w]+(?:/|\.py)(?=\s|$))+", line)
        assert names, line
        folders, files = re.findall(r"(\w+/)", names[0]), re.findall(r"\w+\.py", names[0])
        if not line.startswith(" "):
            floor, rooms = folders[0], [""]
        elif folders:
            rooms = folders
        inside = rooms if line.startswith("    ") else [""]
        shown |= {f"{floor}{room}{file}" for room in inside for file in files}
    there = {
        str(path.relative_to(ROOT))
        for folder in ("siberia_env", "agents", "experiments")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "__init__.py"
    }
    assert shown == there


@pytest.mark.parametrize("page", [*PAGES, README], ids=page_id)
def test_python_in_the_docs_runs(
    page: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where what a page writes does no harm
    for number, source in enumerate(
        re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    ):
        exec(compile(source, f"{page.name}, block {number}", "exec"), {"__name__": "docs"})


def test_no_file_mentions_a_place_outside_the_project() -> None:
    outside = re.compile("|".join(OUTSIDE))
    found = [
        f"{page_id(path)}: {match[0]}"
        for path in project_files()
        for match in outside.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["see /wor" + "k/main", "share" + "d/rules", "in CAR" + "D.md", "DESIG" + "N.md", "https://pyp" + "i.org"],
)
def test_the_net_for_outside_places_catches(text: str) -> None:
    assert re.search("|".join(OUTSIDE), text)
