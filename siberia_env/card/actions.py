"""The action numbers of the card game, and their names in logs, records and commands.

All decisions share one `Discrete` space. CHOICES below sets the order; a test compares the table in the docs with it.
"""

from __future__ import annotations

from siberia_env.card.components import KINDS, NUM_KINDS, NUM_SYMBOLS, ROW_SLOTS, SYMBOLS
from siberia_env.common.components import NUM_RESOURCES, RESOURCES

MOST_DRAWN = 2  #: C9

REVEAL = 0  #: `reveal 0` to `reveal 7`
KEEP_HIDDEN = REVEAL + ROW_SLOTS
DRAW = KEEP_HIDDEN + 1  #: `draw 0` to `draw 2`
MINE = DRAW + MOST_DRAWN + 1  #: `mine gas` to `mine diamond`
HIRE_WORKER = MINE + NUM_RESOURCES
HIRE_SALESMAN = HIRE_WORKER + 1  #: one for each resource, then one for each person
HIRE_INVESTOR = HIRE_SALESMAN + NUM_SYMBOLS  #: one for each resource
PAY = HIRE_INVESTOR + NUM_RESOURCES  #: one for each kind of action card
NUM_ACTIONS = PAY + NUM_KINDS

CARD_ACTIONS = MINE  #: the first action that is paid for with cards
NUM_CARD_ACTIONS = PAY - CARD_ACTIONS

#: Each decision with its action names, in action order. The table in the documentation is generated from this one.
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
