"""Whether the built page is what its sources give: digests of both, written by `make web` and compared by a test.

`python -m siberia_experiments.web.built` writes them for this checkout. A machine without node can compare them too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from siberia_experiments.web.files import LOOK, PAGE, SCRIPT, STATIC

CHECKOUT = Path(__file__).resolve().parents[2]
DIGESTS = "page.digests.json"

#: What the page is built from: files, and folders with everything in them.
SOURCES = (
    "web/src",
    "web/index.html",
    "web/package-lock.json",
    "web/package.json",
    "web/tsconfig.json",
    "web/vite.config.ts",
    "siberia_env/board/layout.json",
    "siberia_env/card/layout.json",
    "siberia_env/common/style.json",
)


def digests(checkout: Path = CHECKOUT, static: Path = STATIC) -> dict[str, str]:
    """The digest of all sources together, and that of each built file."""
    sources = sorted(path for name in SOURCES for path in _files(checkout / name))
    return {"sources": _digest(sources, checkout)} | {
        name: _digest([static / name], static) for name in (PAGE, SCRIPT, LOOK)
    }


def written_digests(static: Path = STATIC) -> dict[str, str]:
    """What `make web` has written down."""
    found: dict[str, str] = json.loads((static / DIGESTS).read_text(encoding="utf-8"))
    return found


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def _digest(paths: Iterable[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


if __name__ == "__main__":
    text = json.dumps(digests(), indent=2) + "\n"
    (STATIC / DIGESTS).write_text(text, encoding="utf-8", newline="\n")
