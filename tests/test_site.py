"""What the documentation site takes from the project. `make site` builds it, and refuses a link that leads nowhere."""

from __future__ import annotations

import re
from typing import Any

import pytest

from docs.site_pages import ROOT, linked, modules, nav, page_of


def pages(part: Any) -> list[str]:
    """The pages in a part of the nav, in order."""
    if isinstance(part, str):
        return [part]
    return [page for inner in (part.values() if isinstance(part, dict) else part) for page in pages(inner)]


def test_every_page_notebook_and_module_has_its_place_once() -> None:
    placed = pages(nav())
    assert len(set(placed)) == len(placed)
    own = {page_of(path) for path in (ROOT / "docs").rglob("*.md")}
    notebooks = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    reference = {f"api/{module}.md" for module in modules()}
    assert own | notebooks | reference <= set(placed)
    assert placed[:2] == ["index.md", "notebooks/quickstart.ipynb"]


def test_the_guides_stand_in_the_order_of_their_table() -> None:
    text = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = [target for row in re.findall(r"^\| (.*?) \|", text, re.M) for target in re.findall(r"\]\((.*?)\)", row)]
    (guides,) = [part["Guides"] for part in nav() if "Guides" in part]
    assert pages(guides) == ["pages.md", *listed]


@pytest.mark.parametrize(
    ("file", "text", "wanted"),
    [
        ("README.md", "[t](docs/train.md#the-trainer)", "[t](train.md#the-trainer)"),
        ("README.md", "![c](docs/images/card.svg)", "![c](images/card.svg)"),
        ("README.md", "[all](docs/README.md)", "[all](pages.md)"),
        ("docs/README.md", "[c](../CHANGELOG.md)", "[c](changelog.md)"),
        (
            "docs/card/heuristic.md",
            "[p](../../agents/card/heuristic.py)",
            "[p](../api/siberia_agents.card.heuristic.md)",
        ),
        ("docs/card/rules.md", "[here](#a-turn), [out](https://example.org/a.md)", None),
        ("docs/train.md", "```\n[t](nowhere.md)\n```", None),
    ],
)
def test_links_between_files_become_links_between_pages(file: str, text: str, wanted: str | None) -> None:
    assert linked(text, ROOT / file) == (wanted or text)


def test_a_link_to_a_file_without_a_page_of_its_own_leads_to_the_file_as_text() -> None:
    assert linked("[make](../Makefile)", ROOT / "docs" / "train.md") == "[make](files/Makefile.md)"


@pytest.mark.parametrize("target", ["nowhere.py", "nowhere.md", "../../outside.md", "images"])
def test_a_link_that_leads_nowhere_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=rf"train.md: the site has no page for {target}$"):
        linked(f"[x]({target})", ROOT / "docs" / "train.md")
