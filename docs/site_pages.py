"""What the documentation site takes from the project: MkDocs calls these functions when it builds the site.

Nothing here repeats what stands elsewhere. The order of the pages is that of the table in docs/README.md. The reference
has a page for each module that users import, made from its docstrings. README.md, CHANGELOG.md and the notebooks become
pages too, and links between files of the project become links between pages.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]

#: Files of the project outside docs/ that become pages, with the pages; those that are not Markdown are shown as text.
PAGES = {
    "README.md": "index.md",
    "docs/README.md": "pages.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "license.md",
    "CITATION.cff": "citation.md",
}

#: The folders of the packages, by the name under which they are imported.
PACKAGES = {"siberia_env": "siberia_env", "siberia_agents": "agents", "siberia_experiments": "experiments"}

#: Modules without a use of their own for readers of the reference.
INSIDE = (
    "arguments",
    "cli",
    "commands",
    "console",
    "entry",
    "faults",
    "files",
    "handbook",
    "installation",
    "options",
    "report",
    "seeds",
    "spelling",
)

#: The files in docs/ that are pages or stand in pages.
SHOWN = (".md", ".svg", ".png")

QUICKSTART = "notebooks/quickstart.ipynb"

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")


def modules() -> dict[str, Path]:
    """The modules in the reference, with their files: those that stand directly in a package, and those with agents."""
    found = {}
    for package, folder in PACKAGES.items():
        sources = [*sorted((ROOT / folder).glob("*.py")), *sorted((ROOT / folder).glob("*/heuristic.py"))]
        for source in sources:
            name = ".".join((package, *source.relative_to(ROOT / folder).with_suffix("").parts))
            if source.stem not in ("__init__", *INSIDE):
                found[name] = source
    return found


def page_of(file: Path) -> str | None:
    """The page (its path in the site, as Markdown) that a file of the project becomes; None if it becomes none."""
    if not file.is_file():
        return None
    name = file.relative_to(ROOT).as_posix()
    if name in PAGES:
        return PAGES[name]
    for module, source in modules().items():
        if source == file:
            return f"api/{module}.md"
    if name.startswith("docs/") and file.suffix in SHOWN:
        return name.removeprefix("docs/")
    if file.parent == ROOT / "notebooks":
        return name
    return f"files/{name}.md"


def _target(found: re.Match[str], file: Path) -> Path | None:
    """The file of the project to which a link in `file` leads; None if it leads elsewhere."""
    return Path(os.path.normpath(file.parent / found[2])) if found[2] and "://" not in found[2] else None


def linked(text: str, file: Path) -> str:
    """A Markdown text of `file` with its links to files of the project as links between pages of the site."""
    own = page_of(file) or ""

    def point(found: re.Match[str]) -> str:
        target = _target(found, file)
        if target is None:
            return found[0]
        page = page_of(target) if target.is_relative_to(ROOT) else None
        if page is None:
            raise ValueError(f"{file}: the site has no page for {found[2]}")
        return f"{found[1]}{posixpath.relpath(page, posixpath.dirname(own) or '.')}{found[3] or ''}{found[4]}"

    parts, last = [], 0
    for block in CODE.finditer(text):
        parts += [LINK.sub(point, text[last : block.start()]), block[0]]
        last = block.end()
    return "".join([*parts, LINK.sub(point, text[last:])])


def other_files() -> dict[str, Path]:
    """The pages for files that are linked to and have no page of another kind, such as examples."""
    found = {}
    for file in [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for link in LINK.finditer(CODE.sub("", file.read_text(encoding="utf-8"))):
            target = _target(link, file)
            page = page_of(target) if target is not None and target.is_relative_to(ROOT) else None
            if target is not None and page is not None and page.startswith("files/"):
                found[page] = target
    return found


def nav() -> list[Any]:
    """The order of the pages: the home page, the table of docs/README.md row by row, notebooks, reference, the rest."""
    rows = re.findall(
        r"^\| ([^|]*\]\([^|]*) \|", (ROOT / "docs" / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    guides: list[Any] = ["pages.md"]
    for row in rows:
        name, colon, _ = row.partition(": ")
        targets = re.findall(r"\[([^\]]*)\]\(([^)]*)\)", row)
        if colon and "[" not in name:
            guides.append({name.capitalize(): [{told.capitalize(): target} for told, target in targets]})
        else:
            guides += [target for _, target in targets]
    notebooks = [name for name in _notebooks() if name != QUICKSTART]
    reference = [
        {package: [{name: f"api/{name}.md"} for name in modules() if name.startswith(f"{package}.")]}
        for package in PACKAGES
    ]
    others = [page for file, page in PAGES.items() if (ROOT / file).exists() and page not in ("index.md", "pages.md")]
    return [
        {"Home": "index.md"},
        {"Quickstart": QUICKSTART},
        {"Guides": guides},
        {"Notebooks": notebooks},
        {"Reference": reference},
        {"Project": others},
    ]


def on_config(config: Any) -> Any:
    """Put the pages in order."""
    config["nav"] = nav()
    return config


@event_priority(100)  # before the plugin for notebooks
def on_files(files: Files, config: Any) -> Files:
    """Add the pages that don't lie in docs/."""
    for file in list(files):
        if file.src_uri == "README.md":
            files.remove(file)
    for name, page in PAGES.items():
        if (ROOT / name).exists():
            files.append(File.generated(config, page, content=_text(ROOT / name)))
    for name in _notebooks():
        files.append(File(name, str(ROOT), config["site_dir"], config["use_directory_urls"]))
    for page, path in other_files().items():
        language = "python" if path.suffix == ".py" else "text"
        content = f"# {path.name}\n\n```{language}\n{path.read_text(encoding='utf-8')}```\n"
        files.append(File.generated(config, page, content=content))
    for module in modules():
        files.append(File.generated(config, f"api/{module}.md", content=f"::: {module}\n"))
    return files


def _notebooks() -> list[str]:
    return [f"notebooks/{path.name}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


def _text(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    return linked(text, file) if file.suffix == ".md" else f"# {file.stem.capitalize()}\n\n```text\n{text}```\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Make links between files of the project links between pages."""
    source = page.file.abs_src_path
    if source is None or not source.endswith(".md"):
        return markdown
    return linked(markdown, Path(source))


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Make links of notebooks to pages of docs/ links between pages: notebooks are not written in Markdown."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    return re.sub(r'href="../docs/([^"#]*)\.md', r'href="../\1.html', html)
