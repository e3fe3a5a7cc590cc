"""The rules of Lamps.

1. In each round three lamps are lit. Everybody is dealt three of the cards 1 to 15; the others stay out, unseen.
2. The first player changes from round to round. In turn, everybody bids how many lamps they will light, 0 to 3.
   The last one must not bid so that all bids together come to 3.
3. For each lamp everybody plays a card, in turn. The highest card lights it, and its player begins the next one.
4. A lamp is worth a point, and a bid that is met exactly 2 more.
5. The game is over after 3 rounds, or as many as were agreed. The most points win.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.core.jit import kernel, stack_array
from siberia_env.core.rng import sample_stream, shuffle
from tests.third_game.box import (
    BID,
    BIDS,
    BONUS,
    CARDS,
    DEAL,
    HAND,
    MAX_PLAYERS,
    NO_BID,
    NUM_ACTIONS,
    OVER,
    PLAY,
    PLAYS,
)

# ---------------------------------------------------------------- the course of the game


@kernel
def deal(ruleset: Any, state: Any, generator: Any) -> None:
    """Start a new game: `generator` decides all chance in it."""
    open_box(ruleset, state)
    state.generator = generator
    resolve(ruleset, state)


@kernel
def open_box(ruleset: Any, state: Any) -> None:
    """Lay everything out for the first round, whose deal is due."""
    state.generator = np.uint64(0)
    state.score[:] = 0
    state.rounds = 0
    state.player = 0
    state.unused[:] = 0
    clear_round(state)


@kernel
def clear_round(state: Any) -> None:
    """Take all cards and bids back; the next deal is due."""
    state.hand[:] = 0
    state.played = 0
    state.bid[:] = NO_BID
    state.lit[:] = 0
    state.table[:] = 0
    state.lamps = 0
    state.phase = DEAL


@kernel
def is_chance(ruleset: Any, state: Any) -> bool:
    """Whether a round has to be dealt (rule 1)."""
    return int(state.phase) == DEAL


@kernel
def resolve(ruleset: Any, state: Any) -> None:
    """Shuffle the cards and deal the round."""
    order = stack_array(CARDS, np.int8)
    for card in range(int(ruleset.cards)):
        order[card] = card + 1
    shuffle(state, order, int(ruleset.cards))
    force(ruleset, state, order)


@kernel
def force(ruleset: Any, state: Any, outcome: Any) -> None:
    """Deal the round as `outcome` says: the cards of the players one after the other (rule 1)."""
    for player in range(int(ruleset.num_players)):
        hand = 0
        for number in range(HAND * player, HAND * (player + 1)):
            hand |= 1 << int(outcome[number])
        state.hand[player] = hand
    state.phase = BID


@kernel
def current_player(ruleset: Any, state: Any) -> int:
    """Whose turn it is."""
    return int(state.player)


@kernel
def is_over(ruleset: Any, state: Any) -> bool:
    """Whether all rounds have been played (rule 5)."""
    return int(state.phase) == OVER


@kernel
def scores(ruleset: Any, state: Any, out: Any) -> None:
    """The points of all rounds that are over (rule 4)."""
    for player in range(int(ruleset.num_players)):
        out[player] = int(state.score[player])


# ---------------------------------------------------------------- decisions


@kernel
def is_legal(ruleset: Any, state: Any, action: int) -> bool:
    """Whether the player on turn may take `action`: a bid (rule 2), or a card that it holds (rule 3)."""
    if BIDS <= action < PLAYS:
        return int(state.phase) == BID and may_bid(ruleset, state, action - BIDS)
    if PLAYS <= action < NUM_ACTIONS:
        return int(state.phase) == PLAY and (int(state.hand[state.player]) >> (action - PLAYS + 1)) & 1 == 1
    return False


@kernel
def may_bid(ruleset: Any, state: Any, lamps: int) -> bool:
    """Whether the bids may go on with this one (rule 2)."""
    together, missing = lamps, 0
    for player in range(int(ruleset.num_players)):
        if int(state.bid[player]) == NO_BID:
            missing += 1
        else:
            together += int(state.bid[player])
    return missing > 1 or together != HAND


@kernel
def legal(ruleset: Any, state: Any, mask: Any) -> int:
    """Write the legal actions into `mask`; return how many."""
    count = 0
    for action in range(NUM_ACTIONS):
        allowed = is_legal(ruleset, state, action)
        mask[action] = allowed
        count += allowed
    return count


@kernel
def apply(ruleset: Any, state: Any, action: int) -> None:
    """Take a legal action, up to the next decision, deal or the end."""
    player, players = int(state.player), int(ruleset.num_players)
    if action < PLAYS:
        state.bid[player] = action - BIDS
        state.player = (player + 1) % players
        if int(state.bid[state.player]) != NO_BID:  # the round of bids is complete, and its first player begins
            state.phase = PLAY
        return
    card = action - PLAYS + 1
    state.hand[player] = int(state.hand[player]) & ~(1 << card)
    state.played = int(state.played) | 1 << card
    state.table[player] = card
    state.player = (player + 1) % players
    if int(state.table[state.player]) != 0:
        light_a_lamp(ruleset, state)


@kernel
def light_a_lamp(ruleset: Any, state: Any) -> None:
    """Everybody has played a card: the highest one lights the lamp (rule 3)."""
    best = 0
    for player in range(int(ruleset.num_players)):
        if int(state.table[player]) > int(state.table[best]):
            best = player
    state.lit[best] = int(state.lit[best]) + 1
    state.table[:] = 0
    state.player = best
    state.lamps = int(state.lamps) + 1
    if int(state.lamps) == HAND:
        end_round(ruleset, state)


@kernel
def end_round(ruleset: Any, state: Any) -> None:
    """Book the points (rule 4), and go on to the next round or to the end (rule 5)."""
    for player in range(int(ruleset.num_players)):
        lit = int(state.lit[player])
        met = lit == int(state.bid[player])
        state.score[player] = int(state.score[player]) + lit + BONUS * met
    state.rounds = int(state.rounds) + 1
    if int(state.rounds) == int(ruleset.rounds):
        state.phase = OVER
        return
    clear_round(state)
    state.player = int(state.rounds) % int(ruleset.num_players)


# ---------------------------------------------------------------- what a player can't know


@kernel
def determinize(ruleset: Any, state: Any, player: int, generator: Any) -> None:
    """Deal the cards that `player` has not seen anew: every deal that fits is as likely as the others."""
    state.generator = sample_stream(generator)
    if int(state.phase) == DEAL:
        return  # nobody holds a card
    unseen = stack_array(CARDS, np.int8)
    count = 0
    for card in range(1, int(ruleset.cards) + 1):
        if ((int(state.hand[player]) | int(state.played)) >> card) & 1 == 0:
            unseen[count] = card
            count += 1
    shuffle(state, unseen, count)
    held = stack_array(MAX_PLAYERS, np.int64)
    for other in range(int(ruleset.num_players)):
        held[other] = HAND - int(state.lamps) - (int(state.table[other]) != 0)
    for other in range(int(ruleset.num_players)):
        if other != player:
            hand = 0
            for _ in range(held[other]):
                count -= 1
                hand |= 1 << int(unseen[count])
            state.hand[other] = hand
