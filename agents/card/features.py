"""What the plans of the card game see in a state: facts that hold whatever a plan makes of them.

All of it is public or the player's own.
"""

from __future__ import annotations

from typing import Any

from siberia_env.card.actions import REVEAL
from siberia_env.card.components import ROW_SLOTS
from siberia_env.card.state import Ruleset, State
from siberia_env.core.jit import kernel


@kernel
def first_revealed(mask: Any) -> int:
    """The action that reveals the leftmost face-down card; there must be one."""
    action = REVEAL
    while mask[action] == 0:
        action += 1
    return action


@kernel
def is_last_turn(ruleset: Ruleset, state: State) -> bool:
    """Whether this is the last turn of the player on turn (C15)."""
    return 0 < state.turns_to_end <= ruleset.num_players


@kernel
def unmined_cards(state: State) -> int:
    """The number of resource cards in the stack and in the row."""
    cards = int(state.resource_stack_size)
    for slot in range(ROW_SLOTS):
        cards += state.row[slot] >= 0
    return cards


@kernel
def hidden_cards(state: State) -> int:
    """The number of resource cards that nobody has seen."""
    return int(state.resource_stack_size) + int(state.face_down)


@kernel
def mining_gain(ruleset: Ruleset, state: State, player: int, resource: int) -> int:
    """What mining `resource` would add to the score of `player` now, thousands (C11, C16)."""
    gain = 0
    wanted = int(state.workers[player])
    for slot in range(ROW_SLOTS):
        if wanted > 0 and state.face_up[slot]:
            number = int(state.row[slot])
            if ruleset.card_resource[number] == resource:
                if state.salesman_owner[resource] == player:
                    gain += int(ruleset.card_best_value[number])
                else:
                    gain += int(ruleset.card_value[number])
                wanted -= 1
    return gain
