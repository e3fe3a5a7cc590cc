"""Checkpoint files: arrays and plain data. Reading one runs no code, whoever wrote it, and notices every changed bit.

A checkpoint is one file:

    siberia-checkpoint/2 DIGEST\\n     the SHA-256 of everything after this line, in hexadecimal
    LENGTH                            eight bytes, little-endian: how long the description is
    DESCRIPTION                       JSON: {"data": ..., "arrays": [[name, type, shape], ...]}
    NUMBERS                           the arrays' bytes, one array after the other

Nothing in the file is unpickled, and nothing is unpacked: what it describes must be exactly as long as the file, so
a small file can't take much memory. The digest guards against faults. It is no signature: whoever can write the file
can write another digest, and all that this brings is other numbers in the run.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.errors import ModelError
from siberia_env.files import read_bytes, write_whole

FORMAT = "siberia-checkpoint/2"
LARGEST = 2**31  #: bytes; runs of the suite take some megabytes
LENGTH = 8  #: bytes that hold the description's length
#: Types that an array may have, as numpy writes them: truth values, whole numbers and floats, little-endian or bytes.
TYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)), "<f2", "<f4", "<f8")


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint file holds.

    Attributes:
        data: plain data, as JSON has it: dicts with strings for keys, lists, strings, numbers, truth values, None.
        arrays: arrays by name, of the types in `TYPES`; your own, writable.
    """

    data: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def save_checkpoint(path: str | Path, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a checkpoint, whole or not at all: if that fails, the file that was there is as it was.

    Args:
        path: the file.
        data: plain data (see `Checkpoint`). Whole numbers may have any size. Tuples come back as lists.
        arrays: arrays by name, of the types in `TYPES`.

    Raises:
        ModelError: the file can't be written.
        TypeError: data or an array that a checkpoint can't hold.
    """
    stored = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in stored.items():
        if array.dtype.str not in TYPES:
            raise TypeError(f"checkpoint: {name}: an array of {array.dtype}")
    _check_plain(data)
    table = [[name, array.dtype.str, list(array.shape)] for name, array in stored.items()]
    description = json.dumps({"data": data, "arrays": table}).encode()
    body = [len(description).to_bytes(LENGTH, "little"), description]
    body += [array.tobytes() for array in stored.values()]
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
    try:
        write_whole(path, [f"{FORMAT} {digest.hexdigest()}\n".encode(), *body])
    except OSError as error:
        raise ModelError(f"checkpoint: can't write {path}: {error.strerror or error}") from error


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        ModelError: there is no such file, or it is none of this format, or damaged.
    """
    try:
        raw = read_bytes(path, LARGEST)
    except FileNotFoundError:
        raise ModelError(f"checkpoint: there is no file {path}") from None
    except OSError as error:
        raise ModelError(f"checkpoint: can't read {path}: {error.strerror or error}") from error
    head, _, body = raw.partition(b"\n")
    name, _, digest = head.partition(b" ")
    if name != FORMAT.encode():
        raise ModelError(f"checkpoint: {path} is no checkpoint, or one of another version of the suite: train anew")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ModelError(f"checkpoint: {path} is damaged: its digest does not fit")
    try:
        return _unpacked(memoryview(body))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ModelError(f"checkpoint: {path} is damaged: its parts don't fit together") from error


def _unpacked(body: memoryview) -> Checkpoint:
    length = int.from_bytes(body[:LENGTH], "little")
    if len(body) < LENGTH or length > len(body) - LENGTH:
        raise ValueError("the description is cut off")
    description = json.loads(bytes(body[LENGTH : LENGTH + length]))
    data, table = description["data"], description["arrays"]
    if not isinstance(data, dict):
        raise TypeError("the data are no object")
    rest, arrays = body[LENGTH + length :], {}
    for name, kind, shape in table:
        if kind not in TYPES or name in arrays or not isinstance(name, str):
            raise ValueError("an array of another type, or two of one name")
        if any(type(size) is not int or size < 0 for size in shape):
            raise ValueError("an array of no size")
        count = math.prod(shape)
        size = count * np.dtype(kind).itemsize
        if size > len(rest):
            raise ValueError("an array is cut off")
        arrays[name] = np.frombuffer(rest[:size], kind).reshape(shape).copy()
        rest = rest[size:]
    if len(rest):
        raise ValueError("more bytes than arrays")
    return Checkpoint(data, arrays)


def _check_plain(value: Any, path: str = "data") -> None:
    """Raise `TypeError` unless `value` is what JSON gives back as it was."""
    for name, part in _parts(value, path):
        _check_plain(part, name)


def _parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            if not isinstance(key, str):
                raise TypeError(f"checkpoint: {path}: the key {key!r} is no string")
            yield f"{path}.{key}", part
    elif isinstance(value, list | tuple):
        yield from ((f"{path}[{number}]", part) for number, part in enumerate(value))
    elif value is not None and type(value) not in (bool, int, float, str):
        raise TypeError(f"checkpoint: {path}: {type(value).__name__} is no plain data")
