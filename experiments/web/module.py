"""The second half of a module's build: LLVM code of kernels becomes WebAssembly.

The module is for wasm32 with 128-bit vectors (SIMD), bulk memory, sign extension and non-trapping conversions: what
all browsers have had since 2023. It imports nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from siberia_env.errors import SiberiaError
from siberia_experiments.web.entries import ARRAY, Entry

FEATURES = "+bulk-memory,+bulk-memory-opt,+sign-ext,+nontrapping-fptoint,+mutable-globals,+simd128"
TRIPLE = "wasm32-unknown-unknown"
STACK = 256 * 1024  #: bytes
GLUE = Path(__file__).with_name("glue.c")
#: The functions of the glue.
GLUED = (
    "nrt_reset",
    "NRT_MemInfo_alloc_aligned",
    "NRT_MemInfo_call_dtor",
    "NRT_Allocate",
    "NRT_Free",
    "memset",
    "memcpy",
)
ZIGLANG = "0.17.1"  #: the only version with which modules are built

#: How an argument or result comes over the border, and what the kernels have inside.
OUTSIDE = {"i32": "i32", "u64": "i64", "f64": "double", "bool": "i32", "none": "void"}
INSIDE = {"i32": "i64", "u64": "i64", "f64": "double", "bool": "i8", "none": "i64"}
INWARD = {"i32": "sext i32 {} to i64", "bool": "trunc i32 {} to i8"}
OUTWARD = {"i32": "trunc i64 {} to i32", "bool": "zext i8 {} to i32"}


class BuildError(SiberiaError):
    """A module can't be built."""


def kind_of(type_name: str) -> str:
    """What an entry's argument is: a number, or an address."""
    return "address" if ARRAY.fullmatch(type_name) else type_name


def border(entry: Entry, symbol: str) -> str:
    """LLVM code of the function that a page calls. It traps where the kernel reports an error."""
    kinds = [kind_of(kind) for kind in entry.arguments.values()]
    outer = [f"{OUTSIDE.get(kind, 'ptr')} %a{k}" for k, kind in enumerate(kinds)]
    lines = [f"%result = alloca {INSIDE[entry.result]}, align 8", "%error = alloca ptr, align 8"]
    lines.append("call void @nrt_reset()")
    inner = ["ptr %result", "ptr %error"]
    for k, kind in enumerate(kinds):
        if kind in INWARD:
            lines.append(f"%b{k} = {INWARD[kind].format(f'%a{k}')}")
        inner.append(f"{INSIDE.get(kind, 'ptr')} {'%b' if kind in INWARD else '%a'}{k}")
    lines += [
        f'%status = call i32 @"{symbol}"({", ".join(inner)})',
        "%failed = icmp sgt i32 %status, 0",
        "br i1 %failed, label %trap, label %fine",
        "trap:",
        "call void @llvm.trap()",
        "unreachable",
        "fine:",
    ]
    result = OUTSIDE[entry.result]
    if entry.result == "none":
        lines.append("ret void")
    else:
        lines.append(f"%inside = load {INSIDE[entry.result]}, ptr %result")
        if entry.result in OUTWARD:
            lines.append(f"%outside = {OUTWARD[entry.result].format('%inside')}")
        lines.append(f"ret {result} {'%outside' if entry.result in OUTWARD else '%inside'}")
    return f"define {result} @wasm_{entry.name}({', '.join(outer)}) {{\n" + "\n".join(lines) + "\n}"


def retargeted(code: str, machine: Any) -> str:
    """LLVM code for another machine."""
    code = re.sub(r"^target datalayout = .*$", f'target datalayout = "{machine.target_data}"', code, flags=re.MULTILINE)
    code = re.sub(r"^target triple = .*$", f'target triple = "{TRIPLE}"', code, flags=re.MULTILINE)
    code = re.sub(r' "target-(cpu|features)"="[^"]*"', "", code)
    return code.replace("@sqrt(", "@llvm.sqrt.f64(").replace("= common global", "= linkonce_odr global")


def check_calls(module: Any, entries: list[Entry], symbols: Mapping[str, str]) -> None:
    """Raise `BuildError` unless each kernel takes what `border` passes: LLVM does not mind, but the call would trap."""
    for entry in entries:
        found = [str(argument.type) for argument in module.get_function(symbols[entry.name]).arguments]
        wanted = ["ptr", "ptr", *(INSIDE.get(kind_of(kind), "ptr") for kind in entry.arguments.values())]
        if found != wanted:
            raise BuildError(f"{entry.name} takes {found}, not {wanted}")


def check_portable(module: Any) -> None:
    """Raise `BuildError` if the module holds an address of this machine, or asks for what the glue does not have."""
    for part in module.global_variables:
        if part.name.startswith("numba.dynamic"):
            raise BuildError(f"{part.name} is an address of this machine: a constant array is too large")
    for function in module.functions:
        if function.is_declaration and function.name not in GLUED and not function.name.startswith("llvm."):
            raise BuildError(f"the kernels call {function.name}, which a browser does not have")
    if "inttoptr (i64" in (text := str(module)):
        raise BuildError(f"an address of this machine: {text[text.index('inttoptr (i64') :][:60]}")


def optimised(module: Any, machine: Any) -> Any:
    """The module optimised; numba's counts of references are taken out where they cancel each other."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, True
    passes = llvm.create_pass_builder(machine, options)

    def prune() -> None:
        pruning = llvm.create_new_module_pass_manager()
        pruning.add_refprune_pass()
        pruning.run(module, passes)

    prune()
    passes.getModulePassManager().run(module, passes)
    prune()  # after inlining, counts of views that have no owner
    text = re.sub(r"(attributes #\d+ = \{[^}]*)\bnoinline\b", r"\1nounwind", str(module))
    module = llvm.parse_assembly(text)
    passes.getModulePassManager().run(module, passes)
    return module


def build_module(code: str, symbols: Mapping[str, str], entries: list[Entry]) -> bytes:
    """The WebAssembly module of LLVM code (`siberia_experiments.web.emit`).

    Raises:
        BuildError: the code can't become one that runs elsewhere.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu="generic", features=FEATURES, opt=3, reloc="static", codemodel="default"
    )
    borders = [border(entry, symbols[entry.name]) for entry in entries]
    declared = ["declare void @nrt_reset()", "declare void @llvm.trap()"]
    module = llvm.parse_assembly("\n".join([retargeted(code, machine), *declared, *borders]))
    module.verify()
    check_calls(module, entries, symbols)
    for part in [*module.functions, *module.global_variables]:
        if not part.is_declaration and not part.name.startswith("wasm_"):
            part.linkage = "internal"
    module = optimised(module, machine)
    check_portable(module)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernels.o").write_bytes(machine.emit_object(module))
        return _linked(Path(folder), [entry.name for entry in entries])


def _linked(folder: Path, names: list[str]) -> bytes:
    """The module of `kernels.o` and the glue."""
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    glue = ("cc", "-target", "wasm32-freestanding", "-O3", "-ffp-contract=off", "-fno-builtin", "-mbulk-memory", "-g0")
    exports = [*(f"--export=wasm_{name}" for name in names), "--export=reserve"]
    link = ("wasm-ld", "--no-entry", "--gc-sections", "--strip-all", "-z", f"stack-size={STACK}", "--stack-first")
    for command in (
        (*glue, "-c", str(GLUE), "-o", "glue.o"),
        (*link, *exports, "kernels.o", "glue.o", "-o", "module.wasm"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ziglang", *command],
            cwd=folder,
            env={**os.environ, **caches},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BuildError(f"ziglang {command[0]} fails: {done.stderr.strip()}")
    return (folder / "module.wasm").read_bytes()
