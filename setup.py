"""What pyproject.toml can't say: pages of docs/ that go into the wheel, and README as a package index shows it.

- The command line shows rules and rankings from pages of docs/ (`experiments/handbook.py`). They are copied into the
  wheel when it is built, so nothing stands twice in the project.
- README links to files of the repository. On a package index these links need an address: that of `Repository` in
  `[project.urls]`. While there is none, the words stay, the links go, and a sentence says where the files are.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PAGES = ("*/rules.md", "results/*.csv")  #: of docs/, for the wheel
PICTURES = (".png", ".svg", ".gif")

LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
WHERE = "\nPages, pictures and other files that this text names are in the source archive of the package.\n"
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def index_readme(text: str, repository: str | None) -> str:
    """README for a package index: links into the repository get its address, or are left out if there is none."""

    def changed(link: re.Match[str]) -> str:
        picture, words, target = link["picture"], link["words"], link["target"]
        if "://" in target or target.startswith("#"):
            return link[0]
        if repository is None:
            return f"*{words}* ({target})" if picture else words
        kind = "raw" if picture or target.endswith(PICTURES) else "blob"
        return f"{picture}[{words}]({repository.rstrip('/')}/{kind}/main/{target})"

    parts, end = [], 0
    for block in CODE.finditer(text):  # code has brackets too
        parts += [LINK.sub(changed, text[end : block.start()]), block[0]]
        end = block.end()
    text = "".join([*parts, LINK.sub(changed, text[end:])])
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL) + (WHERE if repository is None else "")


def repository_address() -> str | None:
    """`Repository` in `[project.urls]`, if it is there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project.get("urls", {}).get("Repository")
    return None if address is None else str(address)


class build_py_with_pages(build_py):
    """Builds the packages, and copies pages of docs/ into `siberia_experiments/pages`."""

    def _pages(self) -> dict[str, str]:
        target = Path(self.build_lib) / "siberia_experiments" / "pages"
        docs = ROOT / "docs"
        found = sorted(page for pattern in PAGES for page in docs.glob(pattern))
        return {str(target / page.relative_to(docs)): str(page) for page in found}

    def run(self) -> None:
        """Build, then copy."""
        super().run()
        if not self.editable_mode:  # an editable installation finds the pages in docs/
            for target, page in self._pages().items():
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """All files that `run` leaves."""
        return [*super().get_outputs(include_bytecode), *self._pages()]


if __name__ == "__main__":
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=index_readme(readme, repository_address()),
        long_description_content_type="text/markdown",
        cmdclass={"build_py": build_py_with_pages},
    )
