"""The card game as a `Game`: its rooms put together for everything that is written on the contract."""

from __future__ import annotations

from siberia_env.card import determinize, observation, transition
from siberia_env.card.actions import ACTION_NAMES, MOST_DRAWN, NUM_ACTIONS, NUM_CARD_ACTIONS
from siberia_env.card.components import (
    ACTION_CARDS,
    HAND_LIMIT,
    MOST_TURNS,
    NUM_KINDS,
    NUM_SYMBOLS,
    RESOURCE_CARDS,
    ROW_SLOTS,
    WORKERS,
    check_rules,
    make_ruleset,
    read_components,
)
from siberia_env.card.state import (
    DISCOVER,
    EMPTY,
    LAST_OF_TWO,
    NOBODY,
    NOT_PAYING,
    NOTHING,
    OVER,
    STATE,
)
from siberia_env.common.components import COLOURS, DOLLARS, NUM_RESOURCES
from siberia_env.game import MAX_PLAYERS, SEAT, Game, contract_kernels

#: What a field of a state can hold, in any game of any variant (`Game.check_states`).
STATE_RANGES = {
    "turn": (0, MOST_TURNS),
    "phase": (DISCOVER, OVER),
    "player": SEAT,
    "chosen": (NOTHING, NUM_CARD_ACTIONS - 1),
    "payment": (NOT_PAYING, LAST_OF_TWO),
    "draws_left": (0, MOST_DRAWN),
    "turns_to_end": (0, MAX_PLAYERS + 1),
    "hit_limit": (0, 1),
    "face_down": (0, ROW_SLOTS),
    "workers_left": (0, WORKERS),
    "action_stack_size": (0, ACTION_CARDS),
    "discard_size": (0, ACTION_CARDS),
    "resource_stack_size": (0, RESOURCE_CARDS),
    "row": (EMPTY, RESOURCE_CARDS - 1),
    "face_up": (0, 1),
    "hand": (0, HAND_LIMIT),
    "symbols": (0, HAND_LIMIT),
    "hand_size": (0, HAND_LIMIT),
    "workers": (0, WORKERS),
    "salesmen": (0, NUM_SYMBOLS),
    "investors": (0, NUM_RESOURCES),
    "salesman_owner": (NOBODY, MAX_PLAYERS - 1),
    "investor_owner": (NOBODY, MAX_PLAYERS - 1),
    "discard": (0, ACTION_CARDS),
    "held": (0, ACTION_CARDS),
    "known": (0, ACTION_CARDS),
    "drawn": (0, ACTION_CARDS),
    "pile": (0, MAX_PLAYERS * NUM_KINDS - 1),
    "pile_drawn": (0, ACTION_CARDS),
    "unused": (0, 0),
    "captured": (0, RESOURCE_CARDS),
    "action_stack": (0, NUM_KINDS - 1),
    "resource_stack": (0, RESOURCE_CARDS - 1),
}

GAME = Game(
    name="card",
    title="Siberia: The Card Game",
    state_dtype=STATE,
    kernels=contract_kernels(transition, observation, determinize),
    num_actions=NUM_ACTIONS,
    outcome_size=ACTION_CARDS + RESOURCE_CARDS,
    blocks=observation.BLOCKS,
    hidden_blocks=observation.HIDDEN_BLOCKS,
    check_rules=check_rules,
    read_components=read_components,
    make_ruleset=make_ruleset,
    action_names=lambda components: ACTION_NAMES,
    chronicle="siberia_env.card.notation",
    render="siberia_env.card.render",
    score_unit=DOLLARS,
    score_form="${}",
    colours=COLOURS,
    state_ranges=STATE_RANGES,
)
