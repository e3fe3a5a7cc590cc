"""The board game as a `Game`: its rooms put together for everything that is written on the contract."""

from __future__ import annotations

from siberia_env.board import actions, determinize, observation, transition
from siberia_env.board.components import (
    COUNTERS_DRAWN,
    CUBES_PER_AREA,
    EXCHANGE_TILES,
    MOST_AREAS,
    MOST_COUNTERS,
    MOST_CUBES,
    MOST_ROUNDS,
    MOST_TILES,
    NUM_KINDS,
    NUM_PANEL_ACTIONS,
    PAWNS,
    SPACES,
    STEPS,
    TILE_SIDES,
    check_rules,
    make_ruleset,
    read_components,
)
from siberia_env.board.state import (
    AT_RESOURCE,
    CHOOSE_SIDE,
    EMPTY,
    NOBODY,
    NOT_PLACED,
    NOTHING,
    OVER,
    STATE,
)
from siberia_env.common.components import COLOURS, DOLLARS, MAX_VALUE, NUM_RESOURCES
from siberia_env.game import MAX_PLAYERS, SEAT, Game, contract_kernels

EVERYWHERE = 2**MOST_AREAS - 1  #: the set of all areas

#: What a field of a state can hold, in any game of any variant (`Game.check_states`).
STATE_RANGES = {
    "lying": (0, EVERYWHERE),
    "open": (0, EVERYWHERE),
    "presence": (0, EVERYWHERE),
    "steps": (0, EVERYWHERE),
    "rounds": (0, MOST_ROUNDS),
    "phase": (CHOOSE_SIDE, OVER),
    "player": SEAT,
    "start": SEAT,
    "passed": (0, 2**MAX_PLAYERS - 1),
    "placed": (0, COUNTERS_DRAWN - 1),
    "resource": (NOTHING, NUM_RESOURCES - 1),
    "origin": (NOTHING, actions.NUM_PAWN_PLACES - 1),
    "steps_left": (0, STEPS),
    "hit_limit": (0, 1),
    "exhausted": (0, MOST_AREAS),
    "bag_size": (0, MOST_COUNTERS),
    "tile_stack_size": (0, MOST_TILES),
    "bag": (0, MOST_COUNTERS),
    "reserve": (0, MOST_CUBES),
    "pawns": (0, PAWNS),
    "workers": (0, PAWNS),
    "salesmen": (0, PAWNS),
    "best_price": (0, MAX_VALUE),
    "panel": (EMPTY, NUM_KINDS - 1),
    "covered": (0, SPACES),
    "tiles": (0, 1),
    "counters": (0, SPACES * NUM_PANEL_ACTIONS),
    "research": (0, COUNTERS_DRAWN),
    "research_size": (0, COUNTERS_DRAWN),
    "drawn": (EMPTY, NUM_KINDS - 1),
    "plan": (NOT_PLACED, AT_RESOURCE),
    "planned": (0, SPACES),
    "card_owner": (NOBODY, MAX_PLAYERS - 1),
    "side": (0, TILE_SIDES - 1),
    "sides_chosen": (0, EXCHANGE_TILES),
    "face_up": (0, MOST_TILES),
    "tile_stack": (0, NUM_PANEL_ACTIONS - 1),
    "unused": (0, 0),
}

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
    state_ranges=STATE_RANGES,
)
