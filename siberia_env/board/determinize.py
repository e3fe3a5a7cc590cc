"""Draws again what a player of the board game can't know (B29)."""

from __future__ import annotations

from typing import Any

from siberia_env.board.components import (
    COUNTERS_DRAWN,
    MOST_TILES,
    NUM_PANEL_ACTIONS,
)
from siberia_env.board.rules import (
    draw_six,
    into_bag,
    may_place,
    plan_counter,
    take_back,
)
from siberia_env.board.state import (
    AT_RESEARCH,
    AT_RESOURCE,
    NOT_PLACED,
    PLACE,
    Ruleset,
    State,
)
from siberia_env.core.jit import kernel
from siberia_env.core.rng import draw_below, sample_stream, shuffle
from siberia_env.game import MAX_PLAYERS


@kernel
def counters_placed(ruleset: Ruleset, state: State, player: int) -> int:
    """B11: how many of their six counters `player` has placed so far, while all place."""
    turn, own = int(state.player) - int(state.start), player - int(state.start)
    turn = turn + int(ruleset.num_players) if turn < 0 else turn
    own = own + int(ruleset.num_players) if own < 0 else own
    if own == turn:
        return int(state.placed)
    return COUNTERS_DRAWN if own < turn else 0


@kernel
def secret_decisions(ruleset: Ruleset, state: State, player: int) -> int:
    """B11: how many counters `player` has placed that the others have not seen yet."""
    return counters_placed(ruleset, state, player) if state.phase == PLACE else 0


@kernel
def reopen(ruleset: Ruleset, state: State, player: int, count: int) -> None:
    """B11: give `player` the turn to place, after the first `count` counters; the later ones are taken back."""
    for index in range(count, COUNTERS_DRAWN):
        take_back(state, player, index)
    state.player = player
    state.placed = count


@kernel
def draw_others_anew(ruleset: Ruleset, state: State, player: int) -> None:
    """B29: draw and plan anew for the others, from what `player` doesn't hold. Each legal place is equally likely."""
    for other in range(ruleset.num_players):
        if other != player:
            for index in range(COUNTERS_DRAWN):
                into_bag(state, int(state.drawn[other, index]))
                state.plan[other, index] = NOT_PLACED
            for action in range(NUM_PANEL_ACTIONS):
                state.planned[other, action] = 0
    for other in range(ruleset.num_players):
        if other != player:
            draw_six(state, other)
            for index in range(counters_placed(ruleset, state, other)):
                options = 0
                for where in range(AT_RESEARCH, AT_RESOURCE + 1):
                    options += may_place(state, other, index, where)
                choice = draw_below(state, options)
                where = AT_RESEARCH
                while choice > 0:
                    where += 1
                    choice -= int(may_place(state, other, index, where))
                plan_counter(state, other, index, where)


@kernel
def shuffle_tiles_anew(ruleset: Ruleset, state: State) -> None:
    """B29: rebuild the stack from the tiles that lie neither face up nor on a panel. All orders are equally likely."""
    size = 0
    for action in range(NUM_PANEL_ACTIONS):
        left = int(ruleset.tiles[action]) - int(state.face_up[action])
        for player in range(MAX_PLAYERS):
            left -= int(state.tiles[player, action])
        for _ in range(left):
            state.tile_stack[size] = action
            size += 1
    state.tile_stack[size:MOST_TILES] = 0
    shuffle(state, state.tile_stack, size)


@kernel
def determinize(ruleset: Ruleset, state: State, player: int, generator: Any) -> None:
    """Replace what `player` can't know (B29), consistent with what it knows. The state gets a new generator.

    The result depends only on what `player` sees and on `generator` (uint64). Equal information sets and equal
    generators give equal states. The others' counters are drawn in the same way as in play. Then each of them in turn
    goes to one of its legal places, uniformly at random; real players need not place like that. What the bag will give
    depends on the new generator.
    """
    state.generator = sample_stream(generator)
    if state.phase == PLACE:
        draw_others_anew(ruleset, state, player)
    shuffle_tiles_anew(ruleset, state)


@kernel
def redraw(ruleset: Ruleset, state: State, generator: Any) -> None:
    """Shuffle again what nobody has seen, the stack of investment tiles. Counters that were drawn stay as they are."""
    state.generator = sample_stream(generator)
    shuffle_tiles_anew(ruleset, state)
