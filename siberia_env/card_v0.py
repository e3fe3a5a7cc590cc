"""Siberia: The Card Game for PettingZoo: `card_v0.env()`, `card_v0.raw_env()`.

Importing this module also registers the game for `pettingzoo.make("aec", "siberia/card_v0")`, where PettingZoo
has that (from 1.27 on).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siberia_env.aec import SiberiaAECEnv, register_with_pettingzoo
from siberia_env.card.components import Components


def env(
    *,
    num_players: int = 2,
    rules: str | Mapping[str, Any] | None = None,
    components: str | Path | Mapping[str, Any] | Components | None = None,
    reward: str = "win",
    render_mode: str | None = None,
) -> SiberiaAECEnv:
    """The card game; an illegal action ends it, -1 for the offender and 0 for the others, with a warning.

    Args:
        num_players: 2 to 4.
        rules: an edition's name (`"dlp"`, `"oya"`, `"digital"`) or a mapping of options (`edition`, `max_turns`).
        components: a component file, its content, or ready components; None for the box as published.
        reward: paid once, at the end. `"win"`: with w = 1/k for each of k winners and 0 for the others,
            (n w - 1)/(n - 1). `"margin"`: own score less the mean of the others', in units of 10 000 dollars.
            `"score"`: the own score, in thousands of dollars.
        render_mode: None; `"ansi"`: `render()` returns a text; `"human"`: it is printed after every step.

    Raises:
        ConfigurationError: one of these is not to be had.
    """
    return SiberiaAECEnv("card", num_players, rules, components, reward, render_mode, illegal_action_ends=True)


def raw_env(
    *,
    num_players: int = 2,
    rules: str | Mapping[str, Any] | None = None,
    components: str | Path | Mapping[str, Any] | Components | None = None,
    reward: str = "win",
    render_mode: str | None = None,
) -> SiberiaAECEnv:
    """The card game; an illegal action raises `IllegalActionError` and changes nothing. Options as for `env`.

    Raises:
        ConfigurationError: one of the options is not to be had.
    """
    return SiberiaAECEnv("card", num_players, rules, components, reward, render_mode)


register_with_pettingzoo("card")
