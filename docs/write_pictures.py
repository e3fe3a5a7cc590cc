"""The pictures in docs/images/ and README.md that come from the code, and the widths of letters that they are set with.

`python docs/write_pictures.py` writes them anew; with `--check` it changes nothing, names each file that differs and
exits with 1.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from matplotlib import get_data_path
from matplotlib.ft2font import FT2Font, LoadFlags

from siberia_agents.registry import make_agent
from siberia_env import common
from siberia_env.common.drawing import FIRST_LETTER
from siberia_env.pictures import FONTS
from siberia_env.position import Position, new_position

DOCS = Path(__file__).resolve().parent
STYLE = Path(common.__file__).with_name("style.json")
LETTERS = range(FIRST_LETTER, 383)  #: the characters whose widths are written down: those of European languages
CONTROL = range(127, 160)  #: those among them that are no letters


def played(game: str, decisions: int, num_players: int = 3, seed: int = 7, rules: Any = None) -> Position:
    """A game in which `heuristic` has played for all seats until so many decisions were taken."""
    position = new_position(game, num_players=num_players, seed=seed, rules=rules)
    agent = make_agent("heuristic")
    agent.start(position.variant, seed)
    for _ in range(decisions):
        position.apply_action(agent.act(position.view()))
    return position


def advances(font: str) -> list[float]:
    """How wide each of `LETTERS` is in a font, in units of its size."""
    face = FT2Font(str(Path(get_data_path()) / "fonts" / "ttf" / font))
    face.set_size(1000, 72)
    glyphs = [None if letter in CONTROL else face.load_char(letter, flags=LoadFlags.NO_HINTING) for letter in LETTERS]
    return [0 if glyph is None else round(glyph.linearHoriAdvance / 65536 / 1000, 3) for glyph in glyphs]


def style() -> str:
    """`style.json` with the widths of the letters as the fonts have them."""
    text = STYLE.read_text(encoding="utf-8")
    for name, font in zip(("regular", "bold"), FONTS, strict=True):
        numbers = json.dumps(advances(font))
        text = re.sub(rf'"{name}": \[[^\]]*\]', f'"{name}": {numbers}', text)
    return text


def pictures() -> Iterator[tuple[Path, str]]:
    """Each file that is written, with its content."""
    yield STYLE, style()
    yield DOCS / "images" / "board.svg", played("board", 420).picture(0) + "\n"
    yield DOCS / "images" / "card.svg", played("card", 60).picture(0) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the pictures into step with the code, or check that they are; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python docs/write_pictures.py", description="Write the pictures of the docs."
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a picture differs")
    options: Any = parser.parse_args(arguments)
    differs = False
    for path, text in pictures():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        differs = True
        if options.check:
            print(f"{path}: differs from the code; run python docs/write_pictures.py", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path}: rewritten")
    return 1 if options.check and differs else 0


if __name__ == "__main__":
    sys.exit(main())
