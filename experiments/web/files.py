"""The files of the page: what `make web` and `make wasm` have built, and the models that the suite comes with."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from siberia_env.errors import ConfigurationError
from siberia_env.game import GAMES

STATIC = Path(__file__).resolve().parent / "static"
PAGE = "index.html"
SCRIPT, LOOK = "page.js", "page.css"

#: What each kind of file is sent as.
KINDS: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".npz": "application/octet-stream",
}


def page_files() -> dict[str, Path]:
    """Every file that the page may ask for, by name.

    Raises:
        ConfigurationError: this installation lacks the page.
    """
    built = [PAGE, SCRIPT, LOOK, *(f"{game}.{ending}" for game in GAMES for ending in ("json", "wasm"))]
    found = {name: STATIC / name for name in built}
    for name, path in found.items():
        if not path.is_file():
            raise ConfigurationError(f"the page's file {name} is missing; in a checkout, run: make wasm web")
    models = Path(str(resources.files("siberia_agents"))) / "models"
    return found | {path.name: path for path in sorted(models.glob("*.npz"))}
