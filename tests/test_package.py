"""The package: what is imported when, what is declared, and the error that names a missing extra."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from tests.processes import ROOT, run_python

PACKAGES = {"siberia_env": "siberia_env", "siberia_agents": "agents", "siberia_experiments": "experiments"}
TRAINING = ("torch", "stable_baselines3", "sb3_contrib")
TOOLS = ("typer", "rich", "matplotlib", "tensorboard")

#: Makes imports of the named packages fail as they do where these are not installed.
BLOCK = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Absent())
"""


def dependencies() -> set[str]:
    """The names in [project.dependencies]."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^dependencies = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r'"([\w-]+)', listed))


def imported(file: Path) -> set[str]:
    """The top-level packages that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


def test_the_environments_import_only_what_the_package_brings() -> None:
    allowed = dependencies() | set(sys.stdlib_module_names) | {"siberia_env"}
    # numba stands on llvmlite and pins it.
    assert any(line.startswith("llvmlite") for line in requires("numba") or [])
    files = sorted((ROOT / "siberia_env").rglob("*.py"))
    assert len(files) > 15
    for file in files:
        extra = {*TRAINING, "gymnasium"} if file.name == "sb3.py" else set()
        assert imported(file) <= allowed | extra | {"llvmlite"}, file


def test_arrows_point_down_only() -> None:
    for file in (ROOT / "siberia_env").rglob("*.py"):
        assert not imported(file) & {"siberia_agents", "siberia_experiments"}, file
    for file in (ROOT / "agents").rglob("*.py"):
        assert not imported(file) & {"siberia_experiments", *TRAINING, *TOOLS}, file


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed_and_listed(package: str) -> None:
    assert (ROOT / PACKAGES[package] / "py.typed").is_file()
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'{package} = "{PACKAGES[package]}"' in text
    (listed,) = re.findall(r"^\[tool.setuptools\]\npackages = (\[.*\])$", text, re.MULTILINE)
    found = {
        ".".join((package, *init.parent.relative_to(ROOT / PACKAGES[package]).parts))
        for init in (ROOT / PACKAGES[package]).rglob("__init__.py")
    }
    assert found <= set(ast.literal_eval(listed))


def test_the_environments_and_agents_load_no_training_and_no_tools() -> None:
    program = """
import sys
import siberia_env
from siberia_env import board_v0, card_v0, vector
from siberia_agents import registry
for name, module in (("card", card_v0), ("board", board_v0)):
    vector.make(name, 2).reset()
    env = module.env()
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
print(sorted({name.partition(".")[0] for name in sys.modules}))
"""
    loaded = set(ast.literal_eval(run_python("-c", program).stdout))
    assert "numba" in loaded
    assert not loaded & {*TRAINING, *TOOLS}


def test_environments_evaluate_and_record_work_without_the_extra(tmp_path: Path) -> None:
    program = BLOCK.format(blocked={*TRAINING, "matplotlib", "tensorboard"}) + (
        "from siberia_experiments.cli import main\n"
        "for game in ('card', 'board'):\n"
        "    assert main(['evaluate', game, '--games', '4']) == 0\n"
        f"    assert main(['record', game, '--out', {str(tmp_path / 'game.jsonl')!r}]) == 0\n"
        f"    assert main(['replay', game, {str(tmp_path / 'game.jsonl')!r}, '--quiet']) == 0\n"
    )
    run_python("-c", program)


@pytest.mark.parametrize("missing", [*TRAINING, "matplotlib", "tensorboard"])
def test_training_without_the_extra_names_it(missing: str, tmp_path: Path) -> None:
    program = BLOCK.format(blocked={missing}) + (
        "from siberia_experiments.cli import main\n"
        f"for command in ('train', 'demo'):\n"
        f"    assert main([command, 'card', '--out', {str(tmp_path / 'run')!r}]) == 2\n"
    )
    lines = run_python("-c", program).stderr.splitlines()
    told = [line for line in lines if "compiling" not in line]
    assert len(told) == 2
    for line in told:
        assert line.startswith("siberia: ")
        assert f"({missing} is not installed): pip install 'siberia-env[train]'" in line
        assert "the optional extra 'train'" in line
    assert not (tmp_path / "run").exists()


def test_the_vec_env_without_the_extra_names_it() -> None:
    program = BLOCK.format(blocked={"sb3_contrib"}) + (
        "from siberia_env.errors import MissingExtraError\n"
        "try:\n    import siberia_env.sb3\nexcept MissingExtraError as error:\n    print(error)\n"
    )
    assert run_python("-c", program).stdout.strip() == (
        "siberia_env.sb3 needs the optional extra 'train' (sb3_contrib is not installed): "
        "pip install 'siberia-env[train]'"
    )
