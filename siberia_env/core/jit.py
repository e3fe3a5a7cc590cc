"""The decorators for compiled code, and a compile cache that can't serve stale kernels.

numba keys its cache on the file a function stands in, so it does not see a change in a function or constant
of another file. Here the cache folder's name is a hash of every kernel source of the packages involved (the
files that import `kernel` or `kernel_part`, and all that those import from the same packages with `from ...
import`), and of what changes generated code (the bounds check). An edited rule means a new folder, and nothing
stale runs.

Under `NUMBA_DISABLE_JIT=1` the decorators leave functions as they are: the same source runs as plain Python.
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
    """Where compiled code is kept: `NUMBA_CACHE_DIR`, else the user's cache folder, else a temporary one."""
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
    """The files of `packages` (import name, folder) that compiled code can depend on."""
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
    """The top-level package that `function` belongs to and its folder (outside packages: its file's folder)."""
    name = function.__module__.partition(".")[0]
    for folder in getattr(sys.modules.get(name), "__path__", ()):
        return name, Path(folder).resolve()
    return name, Path(function.__code__.co_filename).resolve().parent


def cache_folder(function: Callable[..., Any]) -> Path:
    """The folder that holds the compiled code of `function`, named after all the sources it may call."""
    packages = {"siberia_env": PACKAGE_FOLDER, **dict([_package(function)])}
    return cache_root() / sources_hash(*packages.items())


#: What compiled code for a state record depends on beside the sources of its own folder: the kernels registered for it,
#: and for each package that has some of them the hash of its sources.
_dependencies: dict[Any, set[str]] = {}


def depend_on(record: Any, kernels: Iterable[Callable[..., Any]]) -> None:
    """Note that code compiled for a state record (a type of numba's) may call these kernels."""
    if PLAIN_PYTHON:
        return
    found = _dependencies.setdefault(record, set())
    for kernel in kernels:
        package, folder = _package(kernel)
        found.add(f"{kernel.__module__}.{kernel.__name__}")
        found.add(f"{package} {sources_hash((package, folder))}")


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of a kernel, which also tells apart what is registered for the records that it is called with."""

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        records = [getattr(argument, "dtype", argument) for argument in getattr(signature, "args", signature)]
        known = [sorted(_dependencies[record]) for record in records if record in _dependencies]
        return *super()._index_key(signature, codegen), repr(known)


def _compiled(function: F, **options: Any) -> F:
    # Without the wrapper for callers in C, which nobody is: each would be compiled for nothing.
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

    Integer arithmetic in kernels wraps in silence when compiled and warns in plain Python: read a state's
    fields through `int()` before calculating with them.
    """
    return _compiled(function)


def kernel_part(function: F) -> F:
    """A kernel that becomes a part of each kernel that calls it, however long it is, instead of a call."""
    return _compiled(function, forceinline=True)


if PLAIN_PYTHON:

    def borrowed(array: Any) -> Any:
        """The same array, not reference-counted when compiled: for loops, whose caller holds on to it.

        Every row that a loop takes from a counted array costs locked instructions, at each call it is passed to.
        """
        return array

    def stack_array(size: int, number: Any) -> Any:
        """An array of `size` (a constant) values of type `number`, not cleared; it dies with the kernel that asks.

        The compiler knows that nothing else shares its memory: what is written there leaves the values of a
        state as they are, so it can read, convert and write many numbers in one instruction.
        """
        return np.empty(size, number)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def borrowed(typing_context: Any, array: Any) -> Any:
        """The same array, not reference-counted when compiled: for loops, whose caller holds on to it.

        Every row that a loop takes from a counted array costs locked instructions, at each call it is passed to.
        """

        def without_owner(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = make_array(array)(context, builder, arguments[0])
            view.meminfo = view.meminfo.type(None)
            return view._getvalue()

        return array(array), without_owner

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def stack_array(typing_context: Any, size: Any, number: Any) -> Any:
        """An array of `size` (a constant) values of type `number`, not cleared; it dies with the kernel that asks.

        The compiler knows that nothing else shares its memory: what is written there leaves the values of a
        state as they are, so it can read, convert and write many numbers in one instruction.
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
    """Says once, on stderr, that a pause is a compilation: the first use after an installation takes seconds."""

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
