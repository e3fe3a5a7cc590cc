"""What is in the box of the card game, and the ruleset record that hands it to the rules.

Every table names its source (C5): `rulebook`, `review` (counts and ranges from a published review) or
`assumed` (the suite's own choice where nothing is published). An owner of the box can replace the tables by a
JSON file in the form that `Components.as_json` writes; `read_components` checks the file.

Published: the names, 60 action cards with one resource and one person each, 36 resource cards, 10 workers, 8
salesmen and their values, 5 investors. The suite settles how the 60 action cards split (C2) and what each
resource card is worth (C3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from siberia_env.common.components import (
    DEFAULT_SALESMAN_VALUES,
    MAX_VALUE,
    NUM_RESOURCES,
    RESOURCES,
    Table,
    check_counts,
    check_integer,
    check_table,
    check_tables,
    read_json,
)
from siberia_env.errors import ConfigurationError

PERSONS = ("worker", "salesman", "investor")  #: C1
SYMBOLS = RESOURCES + PERSONS  #: what an action card can show; the order of all tables by symbol
KINDS = tuple(f"{resource}/{person}" for resource in RESOURCES for person in PERSONS)  #: the kinds of action cards

NUM_PERSONS = len(PERSONS)
NUM_SYMBOLS = len(SYMBOLS)
NUM_KINDS = len(KINDS)
WORKER, SALESMAN, INVESTOR = (SYMBOLS.index(person) for person in PERSONS)

ACTION_CARDS = 60  #: C2
RESOURCE_CARDS = 36  #: C3
WORKERS = 10  #: C4
ROW_SLOTS = 8  #: C6
FACE_UP_AT_START = 3  #: C6
HAND_AT_START = 5  #: C6
HAND_LIMIT = 8  #: C9
PERSON_VALUE = 1  #: C4: what a person card counts without its salesman, in thousands

#: C5: where each table comes from. The table in the documentation is generated from this one.
TABLES = (
    Table("action_cards", "60 cards in all, each with one resource and one person (C2)", "rulebook"),
    Table("action_cards", "the split: each of the 15 pairs 4 times (C2)", "assumed"),
    Table("resource_cards", "36 cards in all (C3)", "rulebook"),
    Table("resource_cards", "10 gas, 8 charcoal, 7 oil, 6 gold, 5 diamond, and the range of values (C3)", "review"),
    Table("resource_cards", "the value of each single card (C3)", "assumed"),
    Table(
        "salesmen",
        "the value each of the 8 salesmen gives; those of oil and gold in the digital rules only (C4)",
        "rulebook",
    ),
    Table("workers", "10 workers; 5 investors, one a resource (C4)", "rulebook"),
)

DEFAULT_RESOURCE_CARDS: dict[str, tuple[int, ...]] = {
    "gas": (1, 1, 1, 2, 2, 2, 2, 3, 3, 3),
    "charcoal": (1, 2, 2, 3, 3, 4, 4, 5),
    "oil": (2, 3, 3, 4, 5, 5, 6),
    "gold": (3, 4, 4, 5, 5, 6),
    "diamond": (4, 5, 5, 6, 7),
}
DEFAULT_SALESMEN = {**DEFAULT_SALESMAN_VALUES, "worker": 2, "salesman": 3, "investor": 4}


@dataclass(frozen=True)
class Components:
    """The component tables that a game uses, money in thousands of dollars.

    `Components()` is the box, with the suite's own choice where nothing is published. For a small variant
    (research on exploitability, tests) you can build one with fewer cards in Python. A file must have the totals
    of the box, see `read_components`.
    """

    action_cards: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 4))
    resource_cards: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: dict(DEFAULT_RESOURCE_CARDS))
    salesmen: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_SALESMEN))
    workers: int = WORKERS

    @property
    def num_action_cards(self) -> int:
        """How many action cards there are."""
        return sum(self.action_cards.values())

    @property
    def num_resource_cards(self) -> int:
        """How many resource cards there are."""
        return sum(len(values) for values in self.resource_cards.values())

    def as_json(self) -> dict[str, Any]:
        """Return the tables as the JSON object that component files and headers of game records hold."""
        return {
            "action_cards": {kind: self.action_cards[kind] for kind in KINDS},
            "resource_cards": {resource: list(self.resource_cards[resource]) for resource in RESOURCES},
            "salesmen": {symbol: self.salesmen[symbol] for symbol in SYMBOLS},
            "workers": self.workers,
        }

    def check_playable(self, num_players: int) -> None:
        """Raise `ConfigurationError` unless a game for `num_players` can be dealt from these tables."""
        least_cards, least_resources = HAND_AT_START * num_players, FACE_UP_AT_START + 1
        if not least_cards <= self.num_action_cards <= ACTION_CARDS:
            raise ConfigurationError(
                f"action_cards: {self.num_action_cards} cards in all; "
                f"{num_players} players need {least_cards} to {ACTION_CARDS}"
            )
        if not least_resources <= self.num_resource_cards <= RESOURCE_CARDS:
            raise ConfigurationError(
                f"resource_cards: {self.num_resource_cards} cards in all; "
                f"a game needs {least_resources} to {RESOURCE_CARDS}"
            )
        if not num_players <= self.workers <= WORKERS:
            raise ConfigurationError(f"workers: {self.workers}; {num_players} players need {num_players} to {WORKERS}")


def components_from_json(tables: Any, *, whole_box: bool = True) -> Components:
    """Check the JSON object `tables` and return the components in it.

    Raises:
        ConfigurationError: something is wrong; the message names its path (`resource_cards.gas[2]`). With
            `whole_box`, the totals must also be the rulebook's 60 action cards, 36 resource cards and 10 workers.
    """
    names = ("action_cards", "resource_cards", "salesmen", "workers")
    tables = check_tables(tables, names)
    action_cards = check_counts(tables, "action_cards", KINDS, ACTION_CARDS)
    resource_cards = check_table(tables, "resource_cards", RESOURCES)
    salesmen = check_table(tables, "salesmen", SYMBOLS)
    for resource in RESOURCES:
        if not isinstance(resource_cards[resource], list | tuple):
            raise ConfigurationError(f"resource_cards.{resource}: expected a list of values in thousands of dollars")
    components = Components(
        action_cards=action_cards,
        resource_cards={
            resource: tuple(
                sorted(
                    check_integer(value, f"resource_cards.{resource}[{index}]", 1, MAX_VALUE)
                    for index, value in enumerate(resource_cards[resource])
                )
            )
            for resource in RESOURCES
        },
        salesmen={symbol: check_integer(salesmen[symbol], f"salesmen.{symbol}", 1, MAX_VALUE) for symbol in SYMBOLS},
        workers=check_integer(tables.get("workers"), "workers", 1, WORKERS),
    )
    if whole_box:
        for name, count, wanted in (
            ("action_cards", components.num_action_cards, ACTION_CARDS),
            ("resource_cards", components.num_resource_cards, RESOURCE_CARDS),
            ("workers", components.workers, WORKERS),
        ):
            if count != wanted:
                raise ConfigurationError(f"{name}: {count} in all, the box holds {wanted}")
    return components


def read_components(source: str | Path | Mapping[str, Any] | Components | None) -> Components:
    """Return the components that `source` stands for.

    `source` is the path of a JSON file, its content, a `Components` object, or `None` for the box.

    Raises:
        ConfigurationError: the file can't be read, or its content is wrong (see `components_from_json`).
    """
    if source is None:
        return Components()
    if isinstance(source, Components):  # checked too: numbers out of range would write past the state's arrays
        return components_from_json(
            {table.name: getattr(source, table.name) for table in fields(source)}, whole_box=False
        )
    if not isinstance(source, str | Path):
        return components_from_json(source)
    return components_from_json(read_json(source))


#: Options and component tables as the rules see them: one read-only record. An edition is a row of values in it.
RULESET = np.dtype(
    (
        np.record,
        [
            ("num_players", "i4"),  # 2 to 4
            ("edition", "i4"),  # index into EDITIONS; only the observation uses it
            ("max_turns", "i4"),  # C17: turns of all players together, in whole rounds
            ("draw_exact", "i4"),  # C9: 1 if a player who draws must draw as many as allowed
            ("must_act_when_full", "i4"),  # C9: 1 if a full hand must act
            ("worker_cap", "i4"),  # C13: the most workers a player may have
            ("reshuffle_at_once", "i4"),  # C14: 1 if the discard pile is shuffled as soon as the stack is used up
            ("workers", "i4"),  # C4: how many are in the box
            ("num_action_cards", "i4"),
            ("num_resource_cards", "i4"),
            ("action_cards", "i4", (NUM_KINDS,)),  # how many of each kind
            ("salesman_value", "i4", (NUM_SYMBOLS,)),  # in thousands
            ("resource_cards", "i4", (NUM_RESOURCES,)),  # how many of each resource
            ("resource_value", "i4", (NUM_RESOURCES,)),  # sum of their printed values, in thousands
            ("card_resource", "i4", (RESOURCE_CARDS,)),  # the resource of each card, by card number
            ("card_value", "i4", (RESOURCE_CARDS,)),  # the printed value of each card, in thousands
            ("card_best_value", "i4", (RESOURCE_CARDS,)),  # C16: the higher of its printed value and its salesman's
        ],
    )
)

#: C9, C13, C14: an edition overrides only the rules that differ.
EDITIONS: dict[str, dict[str, int]] = {
    "dlp": {},
    "oya": {"draw_exact": 1, "must_act_when_full": 1},
    "digital": {"draw_exact": 1, "worker_cap": 5, "reshuffle_at_once": 0},
}
DEFAULT_EDITION = "dlp"
DEFAULT_MAX_TURNS = 400  #: C17
MOST_TURNS = 10_000

DEFAULT_RULES: dict[str, Any] = {"edition": DEFAULT_EDITION, "max_turns": DEFAULT_MAX_TURNS}


def check_rules(rules: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return every rule option: those in `rules`, and the defaults for the rest.

    `rules` is the name of an edition or a mapping of options.

    Raises:
        ConfigurationError: an option or edition does not exist, or `max_turns` is not within 1 to 10 000.
    """
    options = {"edition": rules} if isinstance(rules, str) else {} if rules is None else rules
    if not isinstance(options, Mapping):
        raise ConfigurationError(f"rules: expected an edition's name or a mapping of options; got {rules!r}")
    for name in options:
        if name not in DEFAULT_RULES:
            raise ConfigurationError(f"rules: no option {name!r}; the options are {', '.join(DEFAULT_RULES)}")
    in_force = {**DEFAULT_RULES, **options}
    if in_force["edition"] not in tuple(EDITIONS):  # a tuple, because the option may be unhashable
        raise ConfigurationError(f"rules: no edition {in_force['edition']!r}; the editions are {', '.join(EDITIONS)}")
    in_force["max_turns"] = check_integer(in_force["max_turns"], "rules: max_turns", 1, MOST_TURNS)
    return in_force


def make_ruleset(num_players: int, rules: Mapping[str, Any], components: Components) -> np.ndarray[Any, Any]:
    """Return the ruleset record, a read-only array of one, for `rules` and `components` that have been checked."""
    components.check_playable(num_players)
    rulesets = np.zeros(1, RULESET)
    ruleset = rulesets[0]
    ruleset.num_players = num_players
    ruleset.edition = list(EDITIONS).index(rules["edition"])
    ruleset.max_turns = -(-rules["max_turns"] // num_players) * num_players  # C17: rounded up to whole rounds
    ruleset.worker_cap = WORKERS
    ruleset.reshuffle_at_once = 1
    for option, value in EDITIONS[rules["edition"]].items():
        ruleset[option] = value
    ruleset.workers = components.workers
    ruleset.num_action_cards = components.num_action_cards
    ruleset.num_resource_cards = components.num_resource_cards
    ruleset.action_cards[:] = [components.action_cards[kind] for kind in KINDS]
    ruleset.salesman_value[:] = [components.salesmen[symbol] for symbol in SYMBOLS]
    number = 0
    for index, resource in enumerate(RESOURCES):
        ruleset.resource_cards[index] = len(components.resource_cards[resource])
        ruleset.resource_value[index] = sum(components.resource_cards[resource])
        for value in components.resource_cards[resource]:
            ruleset.card_resource[number] = index
            ruleset.card_value[number] = value
            ruleset.card_best_value[number] = max(value, components.salesmen[resource])
            number += 1
    rulesets.flags.writeable = False
    return rulesets
