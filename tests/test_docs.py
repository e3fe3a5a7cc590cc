"""The documentation: in step with the code, complete, and standing on its own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from siberia_env.card.components import Components, components_from_json
from siberia_experiments import doc_tables

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RULES = DOCS / "card" / "rules.md"
LAST_RULE = 23

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

FOLDERS = ("siberia_env", "agents", "experiments", "tests", "docs", "notebooks", ".ci")
SINGLE_FILES = ("README.md", "Makefile", "pyproject.toml")

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
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".npz", ".png", ".pyc")
        ]
    return found


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_generated_tables_equal_the_code() -> None:
    assert [page_id(page) for page in doc_tables.differing(DOCS)] == []


def test_every_generated_part_stands_in_a_page() -> None:
    used = re.findall(r"<!-- begin generated: (.*?) -->", "".join(page.read_text(encoding="utf-8") for page in PAGES))
    assert sorted(used) == sorted(doc_tables.PARTS)


@pytest.fixture
def copied_docs(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DOCS, tmp_path / "docs"))


def test_check_names_the_page_that_differs(copied_docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = copied_docs / "card" / "actions.md"
    right = page.read_text(encoding="utf-8")
    wrong = right.replace("| 12 | `mine gas` |", "| 12 | `mine gold` |")
    assert wrong != right
    page.write_text(wrong, encoding="utf-8")
    assert doc_tables.main(["--check", "--docs", str(copied_docs)]) == 1
    assert capsys.readouterr().err.startswith(f"{page}: ")
    assert page.read_text(encoding="utf-8") == wrong
    assert doc_tables.main(["--docs", str(copied_docs)]) == 0
    assert page.read_text(encoding="utf-8") == right
    assert doc_tables.main(["--check", "--docs", str(copied_docs)]) == 0


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
    assert doc_tables.main(["--docs", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert str(tmp_path / "page.md") in error
    assert message in error
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text


def test_a_missing_docs_folder_is_refused(tmp_path: Path) -> None:
    assert doc_tables.main(["--docs", str(tmp_path / "none")]) == 2


def test_the_rules_page_defines_every_rule_once_and_in_order() -> None:
    defined = re.findall(r"^\*\*C(\d+)\.", RULES.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(number) for number in defined] == list(range(1, LAST_RULE + 1))


def test_every_rule_names_its_source() -> None:
    rules = re.split(r"^\*\*C\d+\.", RULES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    source = re.compile(r"\*[^*\n]*\b(?:book|Oya|digital|review|assumed|ruling|sources)\b")
    assert [number for number, text in enumerate(rules, 1) if number != 5 and not source.search(text)] == []


def test_only_rules_that_exist_are_referred_to() -> None:
    unknown = {
        f"{page_id(path)}: C{number}"
        for path in [*PAGES, *sorted((ROOT / "siberia_env").rglob("*.py"))]
        for number in re.findall(r"\bC(\d{1,2})\b", path.read_text(encoding="utf-8"))
        if not 1 <= int(number) <= LAST_RULE
    }
    assert unknown == set()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_to_pages_and_headings_of_the_project(page: Path) -> None:
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.is_relative_to(ROOT), target
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_every_page_is_listed() -> None:
    listed = {(DOCS / target).resolve() for target in LINK.findall((DOCS / "README.md").read_text(encoding="utf-8"))}
    assert set(PAGES) - listed == {DOCS / "README.md"}


def test_the_component_file_in_the_docs_is_the_box() -> None:
    tables = re.search(r"^```json\n(\{\n  \"action_cards.*?)^```$", RULES.read_text(encoding="utf-8"), re.M | re.S)
    assert tables is not None
    assert components_from_json(json.loads(tables[1])) == Components()


def test_record_lines_in_the_docs_are_json() -> None:
    text = (DOCS / "records.md").read_text(encoding="utf-8")
    lines = re.findall(r"^```json\n(.*?)^```$", text, re.M | re.S) + re.findall(r"^\| `(\{.*?\})` \|", text, re.M)
    assert len(lines) == 7
    for line in lines:
        assert isinstance(json.loads(line), dict)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:siberia_env|agents|experiments|docs|card)/[\w/]+\.(?:py|md))`", text)
    for house in re.findall(r"^```\n(siberia_env/ .*?)^```$", text, re.M | re.S):
        named += [f"siberia_env/{name}" for name in re.findall(r"\w+\.py", house)]
    homes = (ROOT, ROOT / "siberia_env")
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_in_the_docs_runs(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
