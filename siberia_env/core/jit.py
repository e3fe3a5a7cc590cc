"""The decorators for compiled code, and a compile cache that can't serve stale kernels.

numba's cache checks only the file that a function stands in. It does not notice a change in a function or constant of
another file. So this module names the cache folder after a hash of every kernel source of the packages involved: the
files that import `kernel` or `kernel_part`, and all files that those import from the same packages with `from ...
import`. The hash also covers the settings that change the generated code (the bounds check). After a change of a rule
the folder has a new name, so no stale code runs.

Under `NUMBA_DISABLE_JIT=1` the decorators leave functions as they are, and the same source runs as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event, types
from numba.core.caching import FunctionCache
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

F = TypeVar("F", bound=Callable[..., Any])

_DECORATORS = re.compile(r"\bkernel(_part)?\b")
_IMPORTS = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]

#: True when kernels run as plain Python (`NUMBA_DISABLE_JIT=1`).
PLAIN_PYTHON = bool(numba.config.DISABLE_JIT)


def cache_root() -> Path:
    """The folder for compiled code: in `NUMBA_CACHE_DIR`, else in the user's cache folder, else a temporary one."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"]) / "siberia_env"
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "siberia_env"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError:
        writable = False
    else:
        writable = os.access(root, os.W_OK)
    return root if writable else Path(tempfile.gettempdir()) / f"siberia_env-{os.getuid()}"


def kernel_sources(packages: Mapping[str, Path]) -> list[Path]:
    """The files of `packages` (import name to folder) that compiled code can depend on."""
    modules = {}
    for package, folder in packages.items():
        for source in sorted(folder.rglob("*.py")):
            name = ".".join((package, *source.relative_to(folder).with_suffix("").parts))
            modules[name.removesuffix(".__init__")] = source
    texts = {name: source.read_text(encoding="utf-8") for name, source in modules.items()}
    imports = {name: _IMPORTS.findall(text) for name, text in texts.items()}
    pending = [
        name
        for name, pairs in imports.items()
        if any(module == "siberia_env.core.jit" and _DECORATORS.search(names) for module, names in pairs)
    ]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in texts and name not in found:
            found.add(name)
            for module, names in imports[name]:
                pending.append(module)
                pending.extend(f"{module}.{imported}" for imported in re.findall(r"\w+", names))
    return [modules[name] for name in sorted(found)]


@cache
def sources_hash(*packages: tuple[str, Path]) -> str:
    """A hash of the kernel sources in `packages`, and of the settings that change compiled code."""
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
    for source in kernel_sources(dict(packages)):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _package(function: Callable[..., Any]) -> tuple[str, Path]:
    """The top-level package of `function` and its folder. Outside a package that is the folder of its file."""
    name = function.__module__.partition(".")[0]
    for folder in getattr(sys.modules.get(name), "__path__", ()):
        return name, Path(folder).resolve()
    return name, Path(function.__code__.co_filename).resolve().parent


def cache_folder(function: Callable[..., Any]) -> Path:
    """The folder for the compiled code of `function`. Its name is a hash of all sources that it may call."""
    packages = {"siberia_env": PACKAGE_FOLDER, **dict([_package(function)])}
    return cache_root() / sources_hash(*packages.items())


#: What the compiled code for a state record depends on, besides the sources that name its folder: the kernels
#: registered for the record, and for each package with such kernels the hash of its sources.
_dependencies: dict[Any, set[str]] = {}


def depend_on(record: Any, kernels: Iterable[Callable[..., Any]]) -> None:
    """Note that code compiled for a state record (a numba type) may call these kernels."""
    if PLAIN_PYTHON:
        return
    found = _dependencies.setdefault(record, set())
    for kernel in kernels:
        package, folder = _package(kernel)
        found.add(f"{kernel.__module__}.{kernel.__name__}")
        found.add(f"{package} {sources_hash((package, folder))}")


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of a kernel. Its key also includes what is registered for the records in the call."""

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        records = [getattr(argument, "dtype", argument) for argument in getattr(signature, "args", signature)]
        known = [sorted(_dependencies[record]) for record in records if record in _dependencies]
        return *super()._index_key(signature, codegen), repr(known)


def _compiled(function: F, **options: Any) -> F:
    # Nobody calls kernels from C, so numba need not compile a wrapper for that.
    compiled = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if not PLAIN_PYTHON:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_folder(function))
        try:
            compiled._cache = _Cache(function)  # what `cache=True` does, with our own cache
        finally:
            numba.config.CACHE_DIR = before
    return compiled


def kernel(function: F) -> F:
    """Compile `function` with numba when it is first called, and keep the result for later processes.

    When integer arithmetic in a kernel overflows, compiled code wraps in silence and plain Python warns. So read a
    state's fields through `int()` before you calculate with them.
    """
    return _compiled(function)


def kernel_part(function: F) -> F:
    """Compile `function` as a kernel that is inlined into each kernel that calls it, however long it is."""
    return _compiled(function, forceinline=True)


if PLAIN_PYTHON:

    def borrowed(array: Any) -> Any:
        """The same array, which compiled code does not reference-count. Use it in a loop whose caller keeps the array.

        Each row that a loop takes from a reference-counted array costs locked instructions at each call that gets it.
        """
        return array

    def stack_array(size: int, number: Any) -> Any:
        """An array of `size` (a constant) values of type `number`, not cleared. It lives as long as its kernel runs.

        The compiler knows that nothing else shares its memory, so writing to it can't change the values of a state.
        Therefore it can read, convert and write many numbers in one instruction.
        """
        return np.empty(size, number)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def borrowed(typing_context: Any, array: Any) -> Any:
        """The same array, which compiled code does not reference-count. Use it in a loop whose caller keeps the array.

        Each row that a loop takes from a reference-counted array costs locked instructions at each call that gets it.
        """

        def without_owner(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = make_array(array)(context, builder, arguments[0])
            view.meminfo = view.meminfo.type(None)
            return view._getvalue()

        return array(array), without_owner

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def stack_array(typing_context: Any, size: Any, number: Any) -> Any:
        """An array of `size` (a constant) values of type `number`, not cleared. It lives as long as its kernel runs.

        The compiler knows that nothing else shares its memory, so writing to it can't change the values of a state.
        Therefore it can read, convert and write many numbers in one instruction.
        """
        result = types.Array(number.dtype, 1, "C")

        def allocate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            length = context.get_constant(types.intp, size.literal_value)
            item_size = context.get_constant(types.intp, number.dtype.bitwidth // 8)
            data = alloca_once(builder, context.get_value_type(number.dtype), size=length)
            array = make_array(result)(context, builder)
            populate_array(array, data, [length], [item_size], item_size, None)
            return array._getvalue()

        return result(size, number), allocate


class _CompileNotice(event.Listener):  # type: ignore[misc]
    """Says on stderr, once, that the suite compiles. The first use after an installation takes seconds."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        module = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if not self.said and module.startswith("siberia_") and sys.stderr is not None:
            self.said = True
            print("siberia_env: compiling the rules (once for this version, some seconds) ...", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _CompileNotice())
