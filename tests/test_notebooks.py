"""The notebooks as they are kept: run from top to bottom, with outputs. `make test` runs each of them as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from docs import run_notebooks

PATHS = sorted(run_notebooks.NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_the_outputs_of_one_run(path: Path) -> None:
    notebook: Any = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs) or path.stem == "tournament"
    assert notebook["metadata"] == run_notebooks.METADATA


def test_running_a_notebook_keeps_its_outputs_and_nothing_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [nbformat.v4.new_markdown_cell("# A title"), nbformat.v4.new_code_cell("import sys\nprint(6 * 7)")]
    cells.append(nbformat.v4.new_code_cell("print('a warning', file=sys.stderr)"))
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"somebody": "else"})
    (tmp_path / "small.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    monkeypatch.setattr(run_notebooks, "NOTEBOOKS", tmp_path)
    assert run_notebooks.main(["small.ipynb"]) == 0
    assert capsys.readouterr().out == "small.ipynb\n"
    kept = json.loads((tmp_path / "small.ipynb").read_text(encoding="utf-8"))
    assert [cell.get("outputs") for cell in kept["cells"]] == [
        None,
        [{"name": "stdout", "output_type": "stream", "text": ["42\n"]}],
        [],
    ]
    assert kept["metadata"] == run_notebooks.METADATA
    assert run_notebooks.main(["small.ipynb", "large.ipynb"]) == 2
    assert capsys.readouterr().err == "no notebook 'large.ipynb'; there are small.ipynb\n"
