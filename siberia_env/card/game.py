"""The card game as a `Game`: its rooms put together for everything that is written on the contract."""

from __future__ import annotations

from siberia_env.card import determinize, observation, transition
from siberia_env.card.actions import ACTION_NAMES, NUM_ACTIONS
from siberia_env.card.components import (
    ACTION_CARDS,
    RESOURCE_CARDS,
    check_rules,
    make_ruleset,
    read_components,
)
from siberia_env.card.state import STATE
from siberia_env.common.components import COLOURS, DOLLARS
from siberia_env.game import Game, contract_kernels

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
)
