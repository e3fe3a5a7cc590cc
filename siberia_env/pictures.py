"""Pictures of any game: as SVG, and as pixels.

A game that can be drawn has a module `picture` beside its module `render`, with a function `svg` of the same parameters
as `ansi`. SVG needs no other package. Pixels need the extra `pictures`: resvg draws them, with the letters of DejaVu
Sans that come with matplotlib, so the same game gives the same pixels on every machine.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.errors import ConfigurationError, missing_extra
from siberia_env.game import Game, States, Variant
from siberia_env.view import View

FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")


def svg(variant: Variant, states: States, index: int, viewer: int | None) -> str:
    """The game in `states[index]` as the seat `viewer` sees it, as an SVG document; None sees everything.

    Raises:
        ConfigurationError: the game has no pictures.
    """
    if (room := _room(variant.game.render)) is None:
        raise ConfigurationError(f"{variant.game.title} has no pictures; texts (`ansi`) show it")
    drawn: str = room.svg(variant, states, index, viewer)
    return drawn


def has_pictures(game: Game) -> bool:
    """Whether the game can be drawn."""
    return _room(game.render) is not None


@cache
def _room(render: str) -> ModuleType | None:
    """The module that draws the game whose texts the module `render` writes, if there is one."""
    beside = render.rpartition(".")[0]
    module = f"{beside}.picture"
    return import_module(module) if beside and find_spec(module) is not None else None


def picture(view: View) -> str:
    """The decision of a view as its player sees it, as an SVG document.

    Raises:
        ConfigurationError: the game has no pictures.
    """
    return svg(view.variant, view.representative, 0, view.player)


def png(drawn: str, scale: float = 1.0) -> bytes:
    """An SVG document as a PNG file; `scale` makes it larger or smaller.

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise missing_extra("pictures", "a picture in pixels", error.name) from error
    fonts = _fonts()
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, zoom=scale, skip_system_fonts=True, font_files=fonts))


def rgb_array(drawn: str, scale: float = 1.0) -> NDArray[np.uint8]:
    """An SVG document in pixels, uint8 [height, width, 3].

    Raises:
        MissingExtraError: the extra `pictures` is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise missing_extra("pictures", "a picture in pixels", error.name) from error
    with Image.open(BytesIO(png(drawn, scale))) as image:
        return np.asarray(image.convert("RGB"), np.uint8).copy()


@cache
def _fonts() -> list[str]:
    """The files of DejaVu Sans, which matplotlib brings."""
    try:
        import matplotlib
    except ImportError as error:
        raise missing_extra("pictures", "a picture in pixels", error.name) from error
    folder: Any = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return [str(folder / font) for font in FONTS]
