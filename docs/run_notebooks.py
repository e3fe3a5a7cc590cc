"""Runs the notebooks and keeps their outputs: `python docs/run_notebooks.py`, or with the names of some of them.

`make test` runs them too, and changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def run(path: Path) -> None:
    """Run a notebook in its folder, and write it with what the cells gave, and nothing else of this machine."""
    notebook: Any = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata = METADATA
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        outputs = cell.get("outputs", [])
        cell.outputs = [output for output in outputs if output.get("name") != "stderr"] if "outputs" in cell else None
        if cell.outputs is None:
            del cell["outputs"]
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def main(names: Sequence[str]) -> int:
    """Run the notebooks `names`, or all; return the exit status."""
    paths = [NOTEBOOKS / name for name in names] or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        if not path.is_file():
            there = ", ".join(known.name for known in sorted(NOTEBOOKS.glob("*.ipynb")))
            print(f"no notebook {path.name!r}; there are {there}", file=sys.stderr)
            return 2
    for path in paths:
        print(path.name, flush=True)
        run(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
