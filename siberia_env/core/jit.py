"""The decorators for compiled code, and a compile cache that can't serve stale kernels.

numba's cache checks only the file that a function stands in. It does not notice a change in a function or constant of
another file. So this module names the cache folder after a hash of every kernel source of the packages involved: the
files that import `kernel` or `kernel_part`, and all files that those import from the same packages with `from ...
import`. The hash also covers the settings that change the generated code (the bounds check). After a change of a rule
the folder has a new name, so no stale code runs.

A cache holds machine code, so it is used only from a folder that nobody else can write to, and each entry carries a
digest. An entry that is cut off or has a flipped bit is thrown away and compiled anew. Where no folder can be used, or
the disk is full, the suite compiles without keeping anything.

Under `NUMBA_DISABLE_JIT=1` the decorators leave functions as they are, and the same source runs as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

F = TypeVar("F", bound=Callable[..., Any])

_DECORATORS = re.compile(r"\bkernel(_part)?\b")
_IMPORTS = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]

#: True when kernels run as plain Python (`NUMBA_DISABLE_JIT=1`).
PLAIN_PYTHON = bool(numba.config.DISABLE_JIT)


def cache_root() -> Path | None:
    """The folder for compiled code: in `NUMBA_CACHE_DIR`, else in the user's cache folder, else a temporary one.

    None if none of them can be used. A folder that this user can't write to is passed over, and so is one that
    somebody else could have put code into.
    """
    own = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    wanted = [os.path.join(own, "siberia_env")] if own else []
    others = [os.path.join(home, "siberia_env"), os.path.join(tempfile.gettempdir(), f"siberia_env{user}")]
    return _first_usable((*wanted, *others), bool(wanted))


@cache
def _first_usable(folders: tuple[str, ...], first_is_wanted: bool) -> Path | None:
    for number, folder in enumerate(folders):
        path = Path(os.path.realpath(folder))
        fault = _fault_of(path)
        if not fault:
            return path
        if sys.stderr is not None and (fault != UNWRITABLE or (number == 0 and first_is_wanted)):
            print(f"siberia_env: note: no compiled code is kept in {folder!a}: {fault}", file=sys.stderr)
    return None


UNWRITABLE = "it can't be written to"


def _fault_of(folder: Path) -> str:
    """Say why compiled code can't be kept in `folder`; nothing if it can. The folder is made if it does not exist."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not hasattr(os, "getuid"):
            return "" if os.access(folder, os.W_OK) else UNWRITABLE
        for path in (folder, *folder.parents):
            found = path.stat()
            if found.st_uid != os.getuid() and (path == folder or found.st_uid != 0):
                return f"{path!a} belongs to somebody else"
            others = stat.S_IWOTH | (0 if _own_group(found) else stat.S_IWGRP)
            # In a folder such as /tmp only the owner of an entry can replace it.
            if found.st_mode & others and not (path != folder and found.st_mode & stat.S_ISVTX):
                return f"others can write to {path!a}"
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError:
        return UNWRITABLE


def _own_group(found: os.stat_result) -> bool:
    """Whether a file's group is the one that many systems give each user, with nobody else in it."""
    return found.st_gid == os.getgid() == os.getuid()


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


def cache_folder(function: Callable[..., Any]) -> Path | None:
    """The folder for the compiled code of `function`. Its name is a hash of all sources that it may call."""
    packages = {"siberia_env": PACKAGE_FOLDER, **dict([_package(function)])}
    root = cache_root()
    return None if root is None else root / sources_hash(*packages.items())


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


class _Place:
    """Where the compiled code of one function is kept (a locator, as numba calls it)."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        source = Path(function.__code__.co_filename).resolve()
        self._py_file = str(source)
        self._lineno = function.__code__.co_firstlineno
        self._folder = folder / f"{source.parent.name}_{hashlib.sha256(str(source.parent).encode()).hexdigest()[:16]}"
        self._stamp = _file_hash(source)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._lineno)

    def ensure_cache_path(self) -> None:
        """Do nothing: `_Entries.save` makes the folder, and goes without it if it can't be made."""


@cache
def _file_hash(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


class _Kept(CompileResultCacheImpl):  # type: ignore[misc]
    """How compiled code is taken apart and put together again, as numba does it; kept in `_Place` and nowhere else."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Place(function, folder)
        name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Entries(IndexDataCacheFile):  # type: ignore[misc]
    """The files with the compiled code of one function: one for each key, with a digest in front.

    There is no index that several processes would have to agree on: the name of an entry follows from its key. The
    entry holds the whole key, so that two keys of one name can't be taken for each other.
    """

    def flush(self) -> None:
        """Throw all entries away."""
        for path in Path(self._cache_path).glob(self._index_name.removesuffix("nbi") + "*.nbc"):
            path.unlink()

    def save(self, key: Any, data: Any) -> None:
        """Keep `data` under `key`; on a full disk, or where the folder is gone, nothing is kept."""
        content = self._dump((self._source_stamp, key, data))
        with suppress(OSError):
            os.makedirs(self._cache_path, mode=0o700, exist_ok=True)
            with self._open_for_write(self._path(key)) as file:
                file.write(hashlib.sha256(content).digest())
                file.write(content)

    def load(self, key: Any) -> Any:
        """The data kept under `key`; None if there is none, or if the file is damaged. Then it is thrown away."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                digest, content = file.read(hashlib.sha256().digest_size), file.read()
        except OSError:
            return None
        if hashlib.sha256(content).digest() == digest:
            with suppress(Exception):  # whatever unpickling an entry of another version runs into
                stamp, found, data = pickle.loads(content)
                if (stamp, found) == (self._source_stamp, key):
                    return data
        with suppress(OSError):
            os.unlink(path)
        return None

    def _path(self, key: Any) -> str:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return os.path.join(self._cache_path, f"{self._index_name.removesuffix('nbi')}{name}.nbc")


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache of a kernel. Its key also includes what is registered for the records in the call."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._name = repr(function)
        self._py_func = function
        self._impl = _Kept(function, folder)
        place = self._impl.locator
        self._cache_path = place.get_cache_path()
        self._cache_file = _Entries(self._cache_path, self._impl.filename_base, place.get_source_stamp())
        self.enable()

    def _load_overload(self, signature: Any, target: Any) -> Any:
        try:
            return super()._load_overload(signature, target)
        except Exception:  # whatever putting together the entry of another version runs into
            return None

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        records = [getattr(argument, "dtype", argument) for argument in getattr(signature, "args", signature)]
        known = [sorted(_dependencies[record]) for record in records if record in _dependencies]
        return *super()._index_key(signature, codegen), repr(known)


def _compiled(function: F, **options: Any) -> F:
    # Nobody calls kernels from C, so numba need not compile a wrapper for that.
    compiled = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if not PLAIN_PYTHON and os.path.isfile(function.__code__.co_filename):
        folder = cache_folder(function)
        if folder is not None:
            compiled._cache = _Cache(function, folder)  # what `cache=True` does, with our own cache
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
