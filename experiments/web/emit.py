"""The first half of a module's build: numba as a front end, `python -m siberia_experiments.web.emit GAME OUT`.

It writes the kernels that the entries call as unoptimised LLVM code, because numba's optimiser would write this
machine's addresses of eight bytes into them. To stop numba before its optimiser and its machine code, this program
reaches into it. So it runs in a process of its own, and with one version of numba (`NUMBA`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core import caching, codegen, cpu, types
from numba.core.compiler_lock import global_compiler_lock

from siberia_agents.search import ismcts
from siberia_env.game import Game, find_game
from siberia_experiments.web.entries import ARRAY, LENGTHS, Entry, entries_of

#: The only versions with which modules are built: others give other bytes, or none.
NUMBA, LLVMLITE = "0.68.1", "0.50.0"

#: The types of entries as numba knows them. A small number comes in as int32 and is int64 inside, as from Python.
SCALARS = {"i32": types.int64, "u64": types.uint64, "f64": types.float64, "bool": types.boolean, "none": types.none}
NUMBERS = {
    "i8": types.int8,
    "i16": types.int16,
    "i32": types.int32,
    "i64": types.int64,
    "u64": types.uint64,
    "f32": types.float32,
    "f64": types.float64,
}


def stop_before_the_optimiser() -> None:
    """Make numba compile to LLVM code and no further, and keep nothing."""
    codegen.CPUCodeLibrary._optimize_functions = lambda self, module: None
    codegen.CPUCodeLibrary._optimize_final_module = lambda self: None
    codegen.JITCPUCodegen._add_module = lambda self, module: None
    codegen.JITCodeLibrary._finalize_specific = lambda self: None
    codegen.JITCodeLibrary.get_pointer_to_function = lambda self, name: 0
    cpu.CPUContext.get_executable = lambda self, library, description, environment: [].append  # a new key each
    caching.Cache.load_overload = lambda self, signature, target: None
    caching.Cache.save_overload = lambda self, signature, data: None


def wrapper_of(entry: Entry, game: Game) -> tuple[Callable[..., Any], Any]:
    """A function that takes addresses where the entry takes arrays, and its signature."""
    records = {
        "state": game.state_dtype,
        "ruleset": game.variant(game.min_players).rulesets.dtype,
        "node": ismcts.NODE,
    }
    wanted, passed = [], []
    for name, kind in entry.arguments.items():
        if array := ARRAY.fullmatch(kind):
            item, lengths = array[1], array[2].split(",")
            number = numba.from_dtype(records[item]) if item in records else NUMBERS[item]
            shape = [str(LENGTHS[each](game)) if each in LENGTHS else each for each in map(str.strip, lengths)]
            wanted.append(types.CPointer(number))  # type: ignore[attr-defined]
            passed.append(f"carray({name}, ({', '.join(shape)},))")
        else:
            wanted.append(SCALARS[kind])
            passed.append(name)
    call = f"function({', '.join(passed)})"
    text = f"def {entry.name}({', '.join(entry.arguments)}):\n    {'' if entry.result == 'none' else 'return '}{call}\n"
    function = numba.njit(nogil=True, error_model="numpy")(entry.function)
    scope: dict[str, Any] = {"function": function, "carray": numba.carray, "__name__": "entries"}
    exec(text, scope)
    return scope[entry.name], SCALARS[entry.result](*wanted)


def compile_entry(entry: Entry, game: Game) -> tuple[str, str]:
    """An entry's LLVM code, and the name of the function in it."""
    function, signature = wrapper_of(entry, game)
    compiled = numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    compiled.compile(signature)
    result = compiled.overloads[signature.args]
    with global_compiler_lock:
        result.library._ensure_finalized()
    return str(result.library._final_module), result.fndesc.llvm_func_name


def emit(game: Game) -> tuple[str, dict[str, str]]:
    """All entries of a game in one text of LLVM code, and the names of their functions in it."""
    codes, symbols = [], {}
    for entry in entries_of(game):
        code, symbols[entry.name] = compile_entry(entry, game)
        codes.append(code)
    whole = None
    for code in codes:
        module = llvm.parse_assembly(code)
        for part in [*module.functions, *module.global_variables]:  # the same function may be in several
            if not part.is_declaration and part.linkage == llvm.Linkage.external:
                part.linkage = "external" if part.name in symbols.values() else "linkonce_odr"
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
    return str(whole), symbols


def main() -> None:
    """Write the code of the game named by the first argument into the file named by the second, as JSON."""
    if (numba.__version__, llvmlite.__version__) != (NUMBA, LLVMLITE):
        sys.exit(
            f"web modules are built with numba {NUMBA} and llvmlite {LLVMLITE}; here are {numba.__version__} and "
            f"{llvmlite.__version__}"
        )
    stop_before_the_optimiser()
    code, symbols = emit(find_game(sys.argv[1]))
    Path(sys.argv[2]).write_text(json.dumps({"code": code, "symbols": symbols}), encoding="utf-8")


if __name__ == "__main__":
    main()
