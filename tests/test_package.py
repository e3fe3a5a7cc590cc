"""The package: what is imported when, what is declared and built, and the error that names a missing extra."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
import shutil
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import trove_classifiers
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from siberia_env import __version__
from siberia_env.installation import install_command, python_command
from siberia_experiments.cli import main
from tests.processes import ROOT, run_python

PACKAGES = {"siberia_env": "siberia_env", "siberia_agents": "agents", "siberia_experiments": "experiments"}
TRAINING = ("torch", "stable_baselines3", "sb3_contrib")
DATA = ("pyarrow", "pandas", "minari")
TOOLS = ("typer", "rich", "prompt_toolkit", "matplotlib", "tensorboard", *DATA)

#: What a source archive has to hold, beside the packages.
CARRIED = (
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "README.md",
    "constraints-ray.txt",
    "constraints.txt",
    "docs",
    "mkdocs.yml",
    "notebooks",
    "pyproject.toml",
    "setup.py",
    "tests",
    "web",
)
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints", "node_modules", "pages")

#: What single files of the environments import from optional extras.
EXTRAS = {
    "sb3.py": {*TRAINING, "gymnasium"},
    "openspiel.py": {"pyspiel"},
    "pictures.py": {"resvg_py", "PIL", "matplotlib"},
}

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
        extra = EXTRAS.get(file.name, set())
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
    (listed,) = re.findall(r"^\[tool.setuptools\]\npackages = (\[[^\]]*\])$", text, re.MULTILINE)
    found = {
        ".".join((package, *init.parent.relative_to(ROOT / PACKAGES[package]).parts))
        for init in (ROOT / PACKAGES[package]).rglob("__init__.py")
    }
    assert found == {name for name in ast.literal_eval(listed) if name.partition(".")[0] == package}


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
        f"    assert main(['record', game, '--force', '--out', {str(tmp_path / 'game.jsonl')!r}]) == 0\n"
        f"    assert main(['replay', game, {str(tmp_path / 'game.jsonl')!r}, '--quiet']) == 0\n"
    )
    run_python("-c", program)


@pytest.mark.parametrize("missing", ["torch", "matplotlib", "tensorboard"])
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
        assert line.endswith(f"({missing} is not installed): {install_command('train')}")
        assert "the optional extra 'train'" in line
    assert not (tmp_path / "run").exists()


def test_the_vec_env_without_the_extra_names_it() -> None:
    program = BLOCK.format(blocked={"stable_baselines3"}) + (
        "from siberia_env.errors import MissingExtraError\n"
        "try:\n    import siberia_env.sb3\nexcept MissingExtraError as error:\n    print(error)\n"
    )
    told = "siberia_env.sb3 needs the optional extra 'train' (stable_baselines3 is not installed): "
    assert run_python("-c", program).stdout.strip() == told + install_command("train")


# ---------------------------------------------------------------- the command that installs an extra


EXTRA = "from siberia_env.installation import install_command; print(install_command({extra!r}))"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in a folder with an odd name."""
    folder = tmp_path_factory.mktemp("copies") / "its [own] checkout"
    for name in (*PACKAGES.values(), *CARRIED):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(checkout: Path) -> dict[str, Path]:
    """The wheel and the source archive."""
    source = checkout.with_name("source")
    shutil.copytree(checkout, source)
    program = "from setuptools import build_meta as backend; backend.build_{0}({1!r})"
    for kind in ("sdist", "wheel"):
        run_python("-c", program.format(kind, str(source / "dist")), first=source, cwd=source)
    (wheel,) = (source / "dist").glob("*.whl")
    (archive,) = (source / "dist").glob("*.tar.gz")
    return {"wheel": wheel, "sdist": archive}


def pip_would_install(command: str, cwd: Path) -> str:
    """What pip says to a command that it is only to try out, with the packages that are here already."""
    python, *words = shlex.split(command)
    assert words[:3] == ["-m", "pip", "install"]
    assert Path(shutil.which(python) or cwd / python).samefile(sys.executable)
    trial = ["--dry-run", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    done = run_python(*words, *trial, cwd=cwd)
    return done.stdout + done.stderr


def extras() -> dict[str, list[str]]:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return dict(declared["project"]["optional-dependencies"])


@pytest.mark.parametrize("extra", ["train", "bench", "openspiel", "pictures", "videos"])
@pytest.mark.parametrize("place", [".", "..", "agents"])
def test_from_a_checkout_the_command_installs_the_checkout_with_the_extra(
    checkout: Path, extra: str, place: str
) -> None:
    here = (checkout / place).resolve()
    command = run_python("-c", EXTRA.format(extra=extra), first=checkout, cwd=here).stdout.strip()
    *_, option, named = shlex.split(command)
    path, bracket, rest = named.rpartition("[")
    assert (option, bracket, rest) == ("--editable", "[", f"{extra}]")
    assert extra in extras()
    assert (here / path).samefile(checkout)
    assert path == {".": ".", "..": f"./{checkout.name}", "agents": str(checkout)}[place]
    if extra == "train":  # all of it is here, for the tests
        said = pip_would_install(command, here)
        assert "Would install siberia-env" in said
        assert "does not provide the extra" not in said


def test_pip_says_so_where_an_extra_does_not_exist(checkout: Path) -> None:
    command = run_python("-c", EXTRA.format(extra="trein"), first=checkout, cwd=checkout).stdout.strip()
    assert "does not provide the extra 'trein'" in pip_would_install(command, checkout)


@pytest.mark.parametrize("extra", ["train", "bench", "openspiel", "pictures", "videos"])
def test_from_an_installed_wheel_the_command_names_the_packages_of_the_extra(
    built: dict[str, Path], tmp_path: Path, extra: str
) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        wheel.extractall(tmp_path / "site")
    command = run_python("-c", EXTRA.format(extra=extra), first=tmp_path / "site", cwd=tmp_path).stdout.strip()
    _, module, pip, install, *named = shlex.split(command)
    assert (module, pip, install) == ("-m", "pip", "install")
    wanted = set(map(Requirement, extras()[extra]))
    assert set(map(Requirement, named)) == {one for one in wanted if one.marker is None}  # any Python can install those


def test_the_python_of_an_environment_that_is_not_activated_is_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "its .venv/bin"
    folder.mkdir(parents=True)
    for name in ("python", "python3"):
        (folder / name).symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(folder / "python3"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent.parent))
    assert python_command() == "its .venv/bin/python3"
    assert install_command("train").startswith("'its .venv/bin/python3' -m pip install ")
    monkeypatch.setenv("PATH", str(folder))
    assert python_command() == "python"


# ---------------------------------------------------------------- what the archives hold


def test_the_source_archive_holds_the_whole_project(built: dict[str, Path], checkout: Path) -> None:
    with tarfile.open(built["sdist"]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    there = {
        str(path.relative_to(checkout))
        for path in checkout.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not path.relative_to(checkout).parts[0].endswith(("build", ".egg-info"))
    }
    assert len(there) > 200
    assert there - held == set()


def test_every_folder_and_file_of_the_project_is_carried() -> None:
    """A new one at the top has to be named in MANIFEST.in, and above."""
    ours = {*PACKAGES.values(), *CARRIED}
    made = {"PKG-INFO", "setup.cfg", "build", "dist", "runs", "site", "typings", "environment"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") or path.name in CARRIED}
    assert {name for name in found - ours - made if not name.endswith((".egg-info", "__pycache__"))} == set()


@pytest.fixture(scope="module")
def site(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it is installed."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(built["wheel"]) as wheel:
        wheel.extractall(folder)
    return folder


def test_the_wheel_brings_the_pages_that_commands_show(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = site / "siberia_experiments/pages"
    found = {str(path.relative_to(pages)) for path in pages.rglob("*") if path.is_file()}
    assert {"card/rules.md", "board/rules.md", "results/card_2.csv", "results/board_4.csv"} <= found
    for name in found:
        assert (pages / name).read_bytes() == (ROOT / "docs" / name).read_bytes()
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = [["rules", "board", "--short"], ["rules", "card"], ["agents"]]
    program = f"from siberia_experiments import cli; print(cli.__file__); [cli.main(line) for line in {lines!r}]"
    file, told = run_python("-c", program, first=site, cwd=site).stdout.split("\n", 1)
    assert Path(file).is_relative_to(site)
    for line in lines:
        assert main(line) == 0
    assert told == capsys.readouterr().out


# ---------------------------------------------------------------- README on a package index


def build_script() -> Any:
    spec = importlib.util.spec_from_file_location("build_script", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RELATIVE = re.compile(r"\]\((?!https://|#)")


def test_readme_on_an_index_has_no_link_that_leads_nowhere(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        told = wheel.read(metadata).decode()
    head, _, readme = told.partition("\n\n")
    assert "Description-Content-Type: text/markdown" in head
    assert readme.startswith("# Siberia\n")
    assert not RELATIVE.search(readme)
    assert "<!--" not in readme
    assert "## Ten lines of code" in readme


def test_with_an_address_the_links_of_readme_lead_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = build_script().index_readme(readme, "https://example.org/siberia/")
    assert not RELATIVE.search(shown)
    assert "(https://example.org/siberia/blob/main/docs/train.md)" in shown
    assert "](https://example.org/siberia/raw/main/docs/images/" in shown
    without = build_script().index_readme(readme, None)
    assert "docs/train.md" in without  # the words stay
    assert "https://example.org" not in without
    example = "[a](b.md) ![c](d.png) [e](https://f.org) [g](#h)\n```\nx[0](y)\n```\n"
    assert build_script().index_readme(example, None) == (
        "a *c* (d.png) [e](https://f.org) [g](#h)\n```\nx[0](y)\n```\n" + build_script().WHERE
    )


def test_classifiers_exist_and_name_the_versions_of_python_that_are_allowed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["classifiers"]) <= set(trove_classifiers.classifiers)
    assert list(project["classifiers"]) == sorted(project["classifiers"])
    allowed = SpecifierSet(project["requires-python"])
    named = {name.rpartition(" ")[2] for name in project["classifiers"] if re.search(r"Python :: 3\.\d+$", name)}
    assert named == {f"3.{minor}" for minor in range(8, 30) if f"3.{minor}" in allowed}


# ---------------------------------------------------------------- license, version, citation


def test_wheel_and_source_archive_carry_the_license(built: dict[str, Path]) -> None:
    own = (ROOT / "LICENSE").read_bytes()
    assert own.startswith(b"MIT License\n")
    with zipfile.ZipFile(built["wheel"]) as wheel:
        (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        told = wheel.read(metadata).decode().splitlines()
        assert {"License-Expression: MIT", "License-File: LICENSE"} <= set(told)
        assert wheel.read(metadata.replace("METADATA", "licenses/LICENSE")) == own
    with tarfile.open(built["sdist"]) as archive:
        (name,) = (name for name in archive.getnames() if re.fullmatch("[^/]+/LICENSE", name))
        extracted = archive.extractfile(name)
        assert extracted is not None
        assert extracted.read() == own


def test_the_wheel_carries_the_data_of_the_pictures(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        for name in ("common/style.json", "card/layout.json", "board/layout.json"):
            assert wheel.read(f"siberia_env/{name}") == (ROOT / "siberia_env" / name).read_bytes()


def test_the_citation_is_of_this_version() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    told = {key: value.strip() for key, colon, value in (line.partition(":") for line in lines) if colon}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told["version"] == __version__
    assert told["title"].strip('"') == f"{project['name']}: {project['description']}"
    assert told["license"] == project["license"]
    assert {"cff-version", "message", "authors"} <= set(told)


def test_the_changelog_knows_this_version() -> None:
    headings = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", __version__]


def test_the_command_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"siberia-env {__version__}\n"
    assert main(["--help"]) == 0
    assert "--version" in capsys.readouterr().out
