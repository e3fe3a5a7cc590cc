"""The numbering of the card game's decisions, and their names in logs, records and commands.

One `Discrete` space. The order is that of CHOICES below; a test holds the table in the docs to it.
"""

from __future__ import annotations

from siberia_env.card.components import KINDS, NUM_KINDS, NUM_SYMBOLS, ROW_SLOTS, SYMBOLS
from siberia_env.common.components import NUM_RESOURCES, RESOURCES

MOST_DRAWN = 2  #: C9

REVEAL = 0  #: `reveal 0` .. `reveal 7`
KEEP_HIDDEN = REVEAL + ROW_SLOTS
DRAW = KEEP_HIDDEN + 1  #: `draw 0` .. `draw 2`
MINE = DRAW + MOST_DRAWN + 1  #: `mine gas` .. `mine diamond`
HIRE_WORKER = MINE + NUM_RESOURCES
HIRE_SALESMAN = HIRE_WORKER + 1  #: by resource or person
HIRE_INVESTOR = HIRE_SALESMAN + NUM_SYMBOLS  #: by resource
PAY = HIRE_INVESTOR + NUM_RESOURCES  #: by kind of action card
NUM_ACTIONS = PAY + NUM_KINDS

CARD_ACTIONS = MINE  #: the first of the actions that cards pay for
NUM_CARD_ACTIONS = PAY - CARD_ACTIONS

#: decision, names, in action order; the documentation's table is generated from it.
CHOICES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("discover (C7)", (*(f"reveal {slot}" for slot in range(ROW_SLOTS)), "keep hidden")),
    ("draw instead of acting (C9)", tuple(f"draw {count}" for count in range(MOST_DRAWN + 1))),
    (
        "choose an action (C11, C13)",
        (
            *(f"mine {resource}" for resource in RESOURCES),
            "hire worker",
            *(f"hire salesman {symbol}" for symbol in SYMBOLS),
            *(f"hire investor {resource}" for resource in RESOURCES),
        ),
    ),
    ("pay one card (C10, C19)", tuple(f"pay {kind}" for kind in KINDS)),
)

ACTION_NAMES: tuple[str, ...] = tuple(name for _, names in CHOICES for name in names)
