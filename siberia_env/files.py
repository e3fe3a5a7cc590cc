"""Files that come from outside, or that must survive a fault: read with a limit, written whole, held by one process.

Every error is an `OSError` whose `strerror` says what is wrong, so callers can name the file and the option in theirs.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

try:
    import fcntl
except ImportError:  # a system without locks on folders
    fcntl = None  # type: ignore[assignment]

PIECE = 2**20  #: bytes read at once
#: What else `os.open` is told: not to wait for the other end of a pipe. Not every system knows these words.
NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(path: str | Path, most: int) -> bytes:
    """What the file `path` holds, if that is at most `most` bytes.

    A device that never ends, such as `/dev/zero`, is refused like a file that is too long. A pipe is read to its end;
    one that nobody writes to is empty, and does not block.

    Raises:
        OSError: the file can't be read, or holds more.
    """
    file = os.open(path, os.O_RDONLY | NO_WAITING)
    try:
        found = os.fstat(file)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if found.st_size > most:
            raise _too_long(most)
        if NO_WAITING:
            os.set_blocking(file, True)
        pieces, size = [], 0
        while piece := os.read(file, min(PIECE, most + 1 - size)):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise _too_long(most)
    finally:
        os.close(file)
    return b"".join(pieces)


def _too_long(most: int) -> OSError:
    return OSError(errno.EFBIG, f"it holds more than {_in_words(most)}")


def _in_words(size: int) -> str:
    return f"{size >> 20} MB" if size >= 2**20 else f"{size} bytes"


def read_json(raw: bytes) -> Any:
    """What a JSON text holds. A key that stands twice in one object, and numbers that JSON does not have, are refused.

    Raises:
        ValueError: it is no such text, or nested too deep.
    """
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice[:40]!a} stands twice in one object")
    return content


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def write_whole(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write `pieces` into the file `path`, all of them or none; a file that is there is replaced.

    The bytes have reached the disk before the file gets its name, so neither a kill nor a power cut leaves half of it.

    Raises:
        OSError: the file can't be written. The one that was there is as it was.
    """
    target = Path(os.path.realpath(path))
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with half.open("wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)
    finally:
        with suppress(OSError):
            half.unlink()


class FolderLock:
    """A folder that one process at a time may write into. The lock ends with the process, however that ends."""

    def __init__(self, folder: str | Path) -> None:
        """Take the lock of `folder`, which exists.

        Raises:
            BlockingIOError: another process holds it.
            OSError: the folder can't be opened.
        """
        self._file = -1
        if fcntl is None:
            return
        self._file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Let other processes take it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def in_use(path: str | Path) -> bool:
    """Whether a process holds the `FileLock` of the file `path`."""
    try:
        FileLock(path).release()
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


class FileLock:
    """A file that one process at a time may use, though it is replaced again and again.

    The lock is a file of its own beside it, which is removed at the end. One that a kill leaves behind locks nothing.
    """

    def __init__(self, path: str | Path) -> None:
        """Take the lock of the file `path`, which need not exist.

        Raises:
            BlockingIOError: another process holds it.
            OSError: there can be no such file.
        """
        target = Path(os.path.realpath(path))
        self.path = target.with_name(f".{target.name}.lock")
        self._file = -1
        if fcntl is None:
            return
        while self._file < 0:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file), os.stat(self.path)):
                    self._file = file
            except FileNotFoundError:
                pass  # the process that held it has just removed it
            finally:
                if self._file < 0:
                    os.close(file)

    def release(self) -> None:
        """Let other processes take it."""
        if self._file >= 0:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._file)
            self._file = -1
