"""What a player of Lamps sees, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.common.observation import seated
from siberia_env.core.jit import kernel
from siberia_env.game import MAX_PLAYERS, Block, block_slices
from tests.third_game.box import BID, BONUS, CARDS, HAND, MOST_ROUNDS, NO_BID, PLAY

#: Seats are relative to the observer, and padded to four.
BLOCKS = (
    Block("hand", (CARDS,), "observer", 1, "1 for each card in the own hand, from 1 on"),
    Block("played", (CARDS,), "all", 1, "1 for each card played in this round"),
    Block("table", (MAX_PLAYERS,), "all", CARDS, "the card each seat has played for the lamp at stake"),
    Block("has_bid", (MAX_PLAYERS,), "all", 1, "1 for each seat that has bid"),
    Block("bid", (MAX_PLAYERS,), "all", HAND, "the bid of each seat"),
    Block("lit", (MAX_PLAYERS,), "all", HAND, "the lamps that each seat has lit in this round"),
    Block("score", (MAX_PLAYERS,), "all", (HAND + BONUS) * MOST_ROUNDS, "the points of each seat"),
    Block("present", (MAX_PLAYERS,), "all", 1, "1 for each seat that is taken"),
    Block("phase", (2,), "all", 1, "bidding, playing"),
    Block("on_turn", (MAX_PLAYERS,), "all", 1, "whose turn it is"),
    Block("rounds_left", (1,), "all", MOST_ROUNDS, "rounds to be played, this one included"),
)
HIDDEN_BLOCKS = (Block("hands", (MAX_PLAYERS, CARDS), "nobody", 1, "1 for each card in each hand, by seat"),)

_START = {name: part.start for name, part in block_slices(BLOCKS).items()}
HAND_AT, PLAYED_AT, TABLE_AT, HAS_BID_AT = (_START[name] for name in ("hand", "played", "table", "has_bid"))
BID_AT, LIT_AT, SCORE_AT, PRESENT_AT = (_START[name] for name in ("bid", "lit", "score", "present"))
PHASE_AT, ON_TURN_AT, ROUNDS_LEFT_AT = (_START[name] for name in ("phase", "on_turn", "rounds_left"))
SCORE_UNIT = (HAND + BONUS) * MOST_ROUNDS


@kernel
def observe(ruleset: Any, state: Any, player: int, observation: Any) -> None:
    """Write what `player` sees."""
    observation[:] = 0
    for card in range(CARDS):
        observation[HAND_AT + card] = (int(state.hand[player]) >> (card + 1)) & 1
        observation[PLAYED_AT + card] = (int(state.played) >> (card + 1)) & 1
    for seat in range(int(ruleset.num_players)):
        other = seated(player, seat, int(ruleset.num_players))
        bid = int(state.bid[other])
        observation[TABLE_AT + seat] = np.float32(int(state.table[other]) / CARDS)
        observation[HAS_BID_AT + seat] = bid != NO_BID
        observation[BID_AT + seat] = np.float32(max(bid, 0) / HAND)
        observation[LIT_AT + seat] = np.float32(int(state.lit[other]) / HAND)
        observation[SCORE_AT + seat] = np.float32(int(state.score[other]) / SCORE_UNIT)
        observation[PRESENT_AT + seat] = 1
        observation[ON_TURN_AT + seat] = other == int(state.player)
    observation[PHASE_AT] = int(state.phase) == BID
    observation[PHASE_AT + 1] = int(state.phase) == PLAY
    observation[ROUNDS_LEFT_AT] = np.float32((int(ruleset.rounds) - int(state.rounds)) / MOST_ROUNDS)


@kernel
def observe_hidden(ruleset: Any, state: Any, observation: Any) -> None:
    """Write all hands."""
    for player in range(MAX_PLAYERS):
        for card in range(CARDS):
            observation[player * CARDS + card] = (int(state.hand[player]) >> (card + 1)) & 1
