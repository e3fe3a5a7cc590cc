"""The web modules are those of the sources, need nothing of this machine, and play, search and think as Python does."""

from __future__ import annotations

import json
import re
from importlib import metadata
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest
import wasmtime

from siberia_agents.levels import LEVELS
from siberia_env.core import numeric
from siberia_env.errors import MissingExtraError
from siberia_env.game import GAMES, find_game
from siberia_experiments.web import build, emit, module
from siberia_experiments.web.description import PHASES, ROOMS, describe
from tests.processes import ROOT
from tests.test_numeric import EXP_VECTORS
from tests.wasm_games import SHORT, compare, variants_of
from tests.wasm_host import WebModule

both_games = pytest.mark.parametrize("game", GAMES)


# ---------------------------------------------------------------- the same games


@both_games
def test_a_module_gives_the_bytes_that_python_gives(game: str) -> None:
    limit = SHORT[game]
    counts = compare(game, len(variants_of(game, limit)), 3, 48, limit)
    wanted = {"state", "mask", "observation", "hidden observation", "sample", "greedy", "heuristic", "random", "limit"}
    assert wanted <= set(counts)
    assert counts["tree of search"] >= 9
    assert counts["tree of guided"] >= 6
    assert counts["outputs of the network"] >= 3
    assert counts["forced outcome"] >= 3


def test_a_module_has_the_exp_and_the_logarithms_of_python() -> None:
    web = WebModule("card")
    for exponent, value in EXP_VECTORS.items():
        assert web.call("exponential", x=float.fromhex(exponent)).hex() == value
    table, expected = web.array(1000, np.float32), np.zeros(1000, np.float32)
    web.call("fill_logarithms", table=table, size=1000)
    numeric.fill_logarithms(expected)
    assert table.tobytes() == expected.tobytes()


# ---------------------------------------------------------------- what is committed


@both_games
def test_the_committed_module_is_the_one_of_these_sources(game: str) -> None:
    assert build.is_current(game, build.sources_hash()), "make wasm"


def test_what_is_left_out_of_a_modules_sources_holds_nothing_that_is_compiled() -> None:
    """Neither kernels nor constants of theirs: the others import only types, errors and modules."""
    kept = build.module_sources()
    for name in build.NOT_COMPILED:
        package, file = name.split("/", 1)
        path = (ROOT / {"siberia_agents": "agents"}.get(package, package) / file).resolve()
        assert path.is_file()
        assert path not in kept
        assert not re.search(r"\bkernel(_part)?\b", path.read_text(encoding="utf-8"))
        imported = re.compile(rf"^from {re.escape(name.removesuffix('.py').replace('/', '.'))} import (.*)$", re.M)
        for other in kept:
            for names in imported.findall(other.read_text(encoding="utf-8")):
                assert not re.search(r"\b[A-Z][A-Z_0-9]+\b", names), f"{other.name} imports {names} from {name}"


@both_games
def test_the_committed_description_is_what_python_knows(game: str) -> None:
    found = build.read_description(game)
    found.pop("wasm")
    assert found == json.loads(json.dumps(describe(game))), "make wasm"


@both_games
def test_the_numbers_in_a_description_lead_to_what_they_say(game: str) -> None:
    found, variant = describe(game), find_game(game).variant(3)
    assert [found["constants"][name] for name in PHASES[game]] == list(range(len(PHASES[game])))
    assert found["constants"]["RESOURCES"] == list(ROOMS[game][0].RESOURCES)
    assert [name for choice in found["choices"] for name in choice["actions"]] == found["actions"]
    assert found["actions"] == list(variant.action_names)
    ruleset = variant.rulesets[0]
    for name, field in found["ruleset"]["fields"].items():
        there = np.ndarray(tuple(field["shape"]), f"<{field['type']}", variant.rulesets.tobytes(), field["offset"])
        assert np.array_equal(there, ruleset[name])
    for players in found["levels"]:
        assert set(found["levels"][players]) == set(LEVELS[game, int(players)])
    assert sorted(found["models"]) == ["2", "3", "4"]


@both_games
def test_a_module_needs_vectors_and_nothing_from_outside(game: str) -> None:
    content = (build.STATIC / f"{game}.wasm").read_bytes()
    config = wasmtime.Config()
    config.wasm_relaxed_simd = False
    assert not wasmtime.Module(wasmtime.Engine(config), content).imports
    config = wasmtime.Config()
    config.wasm_relaxed_simd = False
    config.wasm_simd = False
    with pytest.raises(wasmtime.WasmtimeError, match="SIMD"):
        wasmtime.Module(wasmtime.Engine(config), content)


# ---------------------------------------------------------------- the build


def parsed(text: str) -> Any:
    """A module of LLVM code."""
    return llvm.parse_assembly(text)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('@"numba.dynamic.globals.7f" = global ptr null', "an address of this machine: a constant array is too large"),
        ("declare double @exp(double)", "the kernels call exp, which a browser does not have"),
        (
            "define ptr @f() {\n ret ptr inttoptr (i64 140000000 to ptr)\n}",
            "an address of this machine: inttoptr",
        ),
    ],
)
def test_a_build_refuses_what_runs_on_this_machine_alone(code: str, message: str) -> None:
    with pytest.raises(module.BuildError, match=re.escape(message)):
        module.check_portable(parsed(code))


def test_a_build_takes_what_runs_anywhere() -> None:
    module.check_portable(parsed("declare void @nrt_reset()\ndeclare void @llvm.trap()\n@a = global i64 1"))


def test_a_module_is_built_with_one_version_of_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba, "__version__", "0.1.2")
    with pytest.raises(
        SystemExit, match=f"are built with numba {emit.NUMBA} and llvmlite {emit.LLVMLITE}; here are 0.1.2"
    ):
        emit.main()


def test_a_module_is_built_with_one_version_of_ziglang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_spec", lambda name: object())
    monkeypatch.setattr(metadata, "version", lambda name: "0.0.1")
    with pytest.raises(module.BuildError, match=f"are built with ziglang {module.ZIGLANG}; here is 0.0.1"):
        build.built("card")


def test_a_build_without_its_tools_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"building web modules needs the optional extra 'web'.*pip install"):
        build.built("card")


def test_the_pins_are_the_versions_that_modules_are_built_with() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert {f"numba=={emit.NUMBA}", f"llvmlite=={emit.LLVMLITE}", f"ziglang=={module.ZIGLANG}"} <= set(pins)
