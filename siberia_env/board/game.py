"""The board game as a `Game`: its rooms put together for everything that is written on the contract."""

from __future__ import annotations

from siberia_env.board import actions, determinize, observation, transition
from siberia_env.board.components import (
    CUBES_PER_AREA,
    EXCHANGE_TILES,
    MOST_AREAS,
    MOST_TILES,
    check_rules,
    make_ruleset,
    read_components,
)
from siberia_env.board.state import STATE
from siberia_env.common.components import COLOURS, DOLLARS
from siberia_env.game import Game, contract_kernels

GAME = Game(
    name="board",
    title="Siberia",
    state_dtype=STATE,
    kernels=contract_kernels(transition, observation, determinize),
    num_actions=actions.NUM_ACTIONS,
    outcome_size=CUBES_PER_AREA * MOST_AREAS + MOST_TILES + EXCHANGE_TILES,
    blocks=observation.BLOCKS,
    hidden_blocks=observation.HIDDEN_BLOCKS,
    check_rules=check_rules,
    read_components=read_components,
    make_ruleset=make_ruleset,
    action_names=actions.action_names,
    other_names=actions.other_names,
    names_in_play=actions.names_in_play,
    chronicle="siberia_env.board.notation",
    render="siberia_env.board.render",
    score_unit=DOLLARS,
    score_form="${}",
    colours=COLOURS,
    has_secrets=True,
)
