"""What a person is told of the game at the table: keys, signs, prices and rules.

The rules come from the pages of docs/ (`siberia_experiments.handbook`), signs and prices from the game's text view
(`SIGNS`, `PARTS` and `prices` of its module `render`), with the options and components of the game that is played. A
game that lacks one of these is told without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from siberia_env.game import Variant
from siberia_experiments import handbook
from siberia_experiments.console import new_table
from siberia_experiments.play.layout import in_lines
from siberia_experiments.play.moves import CHOOSING, COMMANDS, WORDS

MORE = ("prices", "all")  #: what can follow `rules`, beside the number of a rule


class Guide:
    """Explains games of a variant.

    Attributes:
        parts: the grids of the table that can be shown alone, in the order of the text view.
        commands: what can be typed instead of a move, and what it does.
        words: the same for completion.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self._view: Any = variant.game.room("render")
        self.parts: tuple[str, ...] = getattr(self._view, "PARTS", ())
        numbers = handbook.rule_numbers(variant.game)
        self._example = numbers[len(numbers) // 3].lower() if numbers else "1"
        more = {"rule": self._example, "parts": " or ".join(f"t {part}" for part in self.parts if part != "map")}
        self.commands = {
            key: meaning.format(**more) for key, meaning in COMMANDS.items() if key != "m" or "map" in self.parts
        }
        self.words = [word for word, key in WORDS.items() if key in self.commands and len(word) > 1]
        self.words += ["rules", *(f"rules {word}" for word in MORE), *(f"table {part}" for part in self.parts)]

    def help(self, width: int) -> Iterator[RenderableType]:
        """The signs in the table, and the keys, in lines of at most `width` columns."""
        if signs := getattr(self._view, "SIGNS", ()):
            longest = max(len(sign) for sign, _ in signs)
            yield "Signs in the table:"
            for sign, meaning in signs:
                yield from _with_key(f"{sign:<{longest}}", meaning, width)
            yield ""
        yield from in_lines(CHOOSING, width, indent="")
        for key, meaning in self.commands.items():
            yield from _with_key(f"{key:<5}", meaning, width)

    def rules(self, wanted: str = "") -> Iterator[RenderableType]:
        """How to play in short, with the options and prices of this game; or a part of it (`MORE`), or one rule.

        Raises:
            ConfigurationError: there is no such rule, or the game has no page of rules.
        """
        game = self.variant.game
        if wanted == "all":
            yield handbook.rules(game, at_the_table=True)
        elif wanted == "prices":
            yield from self._prices()
        elif wanted:
            yield handbook.rule(game, wanted)
        else:
            yield handbook.rules(game, short=True, at_the_table=True)
            yield ""
            yield "The options of this game:"
            yield handbook.options_in_force(game, self.variant.rules)
            yield ""
            yield from self._prices()
            yield ""
            yield f"rules prices: the prices alone. rules {self._example}: one rule by its number. rules all: the page."

    def _prices(self) -> Iterator[RenderableType]:
        """A table of the prices, if the game tells them."""
        tell = getattr(self._view, "prices", None)
        if tell is None:
            return
        heading, *rows = tell(self.variant)
        table = new_table("Prices in this game")
        table.title_justify = "left"
        for cell in heading:
            table.add_column(Text(cell))
        for row in rows:
            table.add_row(*map(Text, row))
        yield table


def _with_key(key: str, meaning: str, width: int) -> list[str]:
    """A line of a list: a key, and what it means."""
    begun = f"  {key}  "
    return in_lines(begun + meaning, width, indent=" " * len(begun))
