"""What is in the box of Lamps, what a state of it holds, and what its actions are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from siberia_env.common.components import check_integer, check_tables, read_json
from siberia_env.errors import ConfigurationError
from siberia_env.game import MAX_PLAYERS

HAND = 3  #: cards a player is dealt, and lamps lit, in each round
CARDS = 15  #: the cards 1 to 15, unless a file says fewer
FEWEST_CARDS = HAND * MAX_PLAYERS
MOST_ROUNDS = 9
BONUS = 2  #: points for a bid that is met

# ---------------------------------------------------------------- components and options


@dataclass(frozen=True)
class Components:
    """The component tables: here a single number."""

    cards: int = CARDS

    def as_json(self) -> dict[str, Any]:
        """The tables as they stand in files and in the header of a record."""
        return {"cards": self.cards}


def read_components(source: Any) -> Components:
    """The components that `source` gives: a JSON file's path, its content, ready ones, or None for the box."""
    if source is None or isinstance(source, Components):
        return Components() if source is None else read_components(source.as_json())
    tables = check_tables(source if isinstance(source, Mapping) else read_json(source), ("cards",))
    return Components(check_integer(tables.get("cards"), "cards", FEWEST_CARDS, CARDS))


def check_rules(rules: Any) -> dict[str, Any]:
    """Every option in force, from those that a user gave."""
    options = {} if rules is None else rules
    if not isinstance(options, Mapping) or not set(options) <= {"rounds"}:
        raise ConfigurationError(f"rules: expected a mapping with the option rounds; got {rules!r}")
    return {"rounds": check_integer(options.get("rounds", 3), "rules: rounds", 1, MOST_ROUNDS)}


#: What the rules need of all this: one read-only record.
RULESET = np.dtype((np.record, [("num_players", "i4"), ("rounds", "i4"), ("cards", "i4")]))


def make_ruleset(num_players: int, rules: Mapping[str, Any], components: Components) -> np.ndarray[Any, Any]:
    """The ruleset, an array of one record."""
    return np.array([(num_players, rules["rounds"], components.cards)], RULESET)


# ---------------------------------------------------------------- state

DEAL, BID, PLAY, OVER = range(4)  # phases
NO_BID = -1

STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("generator", "u8"),
                ("hand", "i4", (MAX_PLAYERS,)),  # a bit for each card
                ("played", "i4"),  # the cards played in this round, a bit each
                ("score", "i2", (MAX_PLAYERS,)),
                ("bid", "i1", (MAX_PLAYERS,)),  # NO_BID, or 0 .. HAND
                ("lit", "i1", (MAX_PLAYERS,)),  # lamps lit in this round
                ("table", "i1", (MAX_PLAYERS,)),  # the card played for the lamp at stake, or 0
                ("rounds", "i1"),  # played to their end (`round` is a method of numpy's records)
                ("phase", "i1"),  # DEAL .. OVER
                ("player", "i1"),  # whose turn
                ("lamps", "i1"),  # lit in this round by anybody
                ("unused", "i1", (4,)),  # fills the record, so that equal states are equal bytes
            ],
            align=True,
        ),
    )
)

# ---------------------------------------------------------------- actions

BIDS = 0  #: `bid 0` .. `bid 3`
PLAYS = BIDS + HAND + 1  #: `play 1` .. `play 15`
NUM_ACTIONS = PLAYS + CARDS
ACTION_NAMES = (*(f"bid {lamps}" for lamps in range(HAND + 1)), *(f"play {card}" for card in range(1, CARDS + 1)))
