"""Siberia, the board game, for PettingZoo: `board_v0.env()`, `board_v0.raw_env()`.

Importing this module also registers the game for `pettingzoo.make("aec", "siberia/board_v0")`, if PettingZoo
has that (from 1.27 on).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siberia_env.aec import SiberiaAECEnv, register_with_pettingzoo
from siberia_env.board.components import Components


def env(
    *,
    num_players: int = 2,
    rules: Mapping[str, Any] | None = None,
    components: str | Path | Mapping[str, Any] | Components | None = None,
    reward: str = "win",
    render_mode: str | None = None,
) -> SiberiaAECEnv:
    """The board game. An illegal action ends it with a warning: -1 for the offender and 0 for the others.

    Args:
        num_players: 2 to 4.
        rules: a mapping of options. `sides` are the active sides of the five exchange tiles (B9): `"choose"` (default;
            the starting player chooses them), `"random"`, or a list of five exchanges. `salesman_cards` says whether to
            play with salesman cards (B25). `max_rounds` is the number of rounds after which a game ends, 60 by default
            (B24).
        components: the path of a component file, its content, or a `Components` object; None for the box with the
            suite's own map and prices.
        reward: what each of the n players is paid once, at the end. `"win"`: (n w - 1)/(n - 1), where w is 1/k for
            each of k winners and 0 for the others. `"margin"`: the player's score less the mean of the others' scores,
            in units of 10 000 dollars. `"score"`: the player's score, in thousands of dollars.
        render_mode: with `"ansi"`, `render()` returns a text; with `"human"`, the text is printed after every step;
            with `"svg"` it returns a picture as an SVG document, and with `"rgb_array"` the picture's pixels, uint8
            [height, width, 3] (which needs the extra `pictures`).

    Raises:
        ConfigurationError: an option is invalid.
    """
    return SiberiaAECEnv("board", num_players, rules, components, reward, render_mode, illegal_action_ends=True)


def raw_env(
    *,
    num_players: int = 2,
    rules: Mapping[str, Any] | None = None,
    components: str | Path | Mapping[str, Any] | Components | None = None,
    reward: str = "win",
    render_mode: str | None = None,
) -> SiberiaAECEnv:
    """The board game. An illegal action raises `IllegalActionError` and changes nothing. It has the options of `env`.

    Raises:
        ConfigurationError: an option is invalid.
    """
    return SiberiaAECEnv("board", num_players, rules, components, reward, render_mode)


register_with_pettingzoo("board")
