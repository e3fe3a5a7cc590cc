"""Loops over any game. They are written once, on the contract of `siberia_env.game`, and compiled once for each game.

The functions that Python calls take arrays and an index (see `game.States`). All loops are `nogil`, so slices of one
batch can run in several threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from siberia_env.core.jit import borrowed, kernel, kernel_part
from siberia_env.core.rewards import reward_of, winner_flags
from siberia_env.core.rng import advance, derive, scale, scramble
from siberia_env.core.simd import count_ones
from siberia_env.game import (
    MAX_PLAYERS,
    apply,
    current_player,
    deal,
    determinize,
    force,
    has_hit_limit,
    is_chance,
    is_legal,
    is_over,
    legal,
    observe,
    observe_hidden,
    resolve,
    scores,
)

NO_ACTION = -(2**31)  #: makes `step_at` take no action and show the state as it is
ILLEGAL = -1  #: what `step_at` returns for an action that is not legal; the state is unchanged
FINISHED = -2  #: what `step_at` returns when the action ended the game

CHANCE = -1  #: what `turn_at` returns where a chance outcome is due, as in OpenSpiel
TERMINAL = -4  #: what `turn_at` returns when the game is over, as in OpenSpiel

BLOCK = 16  #: how many actions of a mask random play counts at once

# ---------------------------------------------------------------- one game


@kernel
def deal_at(rulesets: Any, states: Any, i: int, seed: Any, slot: int, episode: int) -> None:
    """Deal game `episode` of `slot` under `seed` (uint64) into `states[i]`."""
    deal(rulesets[0], states[i], derive(seed, slot, episode))


@kernel_part
def settle(ruleset: Any, state: Any) -> None:
    """Resolve chance until a decision is due or the game is over."""
    while is_chance(ruleset, state):
        resolve(ruleset, state)


@kernel
def step_at(rulesets: Any, states: Any, i: int, action: int, observation: Any, mask: Any) -> int:
    """Take `action` (none if it is `NO_ACTION`) in `states[i]`; write the next player's observation and mask.

    Returns:
        The player now on turn; or `FINISHED`, with a mask of zeros and the observation untouched; or `ILLEGAL`, with
        nothing changed.
    """
    ruleset, state = rulesets[0], states[i]
    if action != NO_ACTION:
        if not is_legal(ruleset, state, action):
            return ILLEGAL
        apply(ruleset, state, action)
        settle(ruleset, state)
    legal(ruleset, state, mask)
    if is_over(ruleset, state):
        return FINISHED
    player = current_player(ruleset, state)
    observe(ruleset, state, player, observation)
    return player


@kernel
def play_at(rulesets: Any, states: Any, i: int, action: int, settles: bool) -> bool:
    """Take `action` in `states[i]` if it is legal; then, if `settles`, settle chance. Return whether it was legal."""
    ruleset, state = rulesets[0], states[i]
    if not is_legal(ruleset, state, action):
        return False
    apply(ruleset, state, action)
    if settles:
        settle(ruleset, state)
    return True


@kernel
def turn_at(rulesets: Any, states: Any, i: int) -> int:
    """The player on turn in `states[i]`, `CHANCE` or `TERMINAL`."""
    ruleset, state = rulesets[0], states[i]
    if is_over(ruleset, state):
        return TERMINAL
    return CHANCE if is_chance(ruleset, state) else current_player(ruleset, state)


@kernel
def advance_at(rulesets: Any, states: Any, i: int, action: int) -> None:
    """Take a legal `action` in `states[i]` and stop where chance is due. The action is not checked."""
    apply(rulesets[0], states[i], action)


@kernel
def resolve_at(rulesets: Any, states: Any, i: int) -> None:
    """Settle the chance outcome due in `states[i]` from its own generator."""
    resolve(rulesets[0], states[i])


@kernel
def force_at(rulesets: Any, states: Any, i: int, outcome: Any) -> None:
    """Settle the chance outcome due in `states[i]` as `outcome` says. The outcome is not checked."""
    force(rulesets[0], states[i], outcome)


@kernel
def is_chance_at(rulesets: Any, states: Any, i: int) -> bool:
    """Whether a chance outcome is due in `states[i]`."""
    return is_chance(rulesets[0], states[i])


@kernel
def is_over_at(rulesets: Any, states: Any, i: int) -> bool:
    """Whether the game in `states[i]` has ended."""
    return is_over(rulesets[0], states[i])


@kernel
def has_hit_limit_at(rulesets: Any, states: Any, i: int) -> bool:
    """Whether the limit of turns or rounds ended the game in `states[i]`."""
    return has_hit_limit(rulesets[0], states[i])


@kernel
def current_player_at(rulesets: Any, states: Any, i: int) -> int:
    """The player on turn in `states[i]`."""
    return current_player(rulesets[0], states[i])


@kernel
def legal_at(rulesets: Any, states: Any, i: int, mask: Any) -> int:
    """Write the legal actions of `states[i]` into `mask`; return how many."""
    return legal(rulesets[0], states[i], mask)


@kernel
def observe_at(rulesets: Any, states: Any, i: int, player: int, observation: Any) -> None:
    """Write what `player` sees of `states[i]` into `observation`."""
    observe(rulesets[0], states[i], player, observation)


@kernel
def observe_hidden_at(rulesets: Any, states: Any, i: int, observation: Any) -> None:
    """Write what nobody sees of `states[i]` into `observation`."""
    observe_hidden(rulesets[0], states[i], observation)


@kernel
def scores_at(rulesets: Any, states: Any, i: int, out: Any) -> None:
    """Write every player's score in `states[i]`, in thousands, into `out`."""
    scores(rulesets[0], states[i], out)


@kernel
def determinize_at(rulesets: Any, states: Any, i: int, player: int, generator: Any) -> None:
    """Replace what `player` can't know in `states[i]` by a sample from `generator` (uint64)."""
    determinize(rulesets[0], states[i], player, generator)


# ---------------------------------------------------------------- batches


@kernel
def standing_batch(rulesets: Any, states: Any, reward_kind: int, out: Any) -> None:
    """Write each player's reward if every game ended as it stands into `out` (float32 [N, P])."""
    players = out.shape[1]
    totals, winners = np.zeros(players, np.int64), np.zeros(players, np.int8)
    for i in range(states.shape[0]):
        scores(rulesets[0], states[i], totals)
        num_winners = winner_flags(totals, players, winners)
        reward_of(reward_kind, totals, winners, num_winners, players, out[i])


@kernel
def first_illegal(rulesets: Any, states: Any, actions: Any, start: int, stop: int) -> int:
    """The first game of `start` .. `stop` - 1 whose action is not legal; `stop` if all are."""
    for i in range(start, stop):
        if not is_legal(rulesets[0], states[i], actions[i]):
            return i
    return stop


class Slots(NamedTuple):
    """The games of a batch: their states, the number of each slot's current game, and its decisions so far."""

    states: Any  #: [N]
    episodes: Any  #: int64 [N]
    lengths: Any  #: int64 [N]


class Rows(NamedTuple):
    """What a batch shows, one row for each game: the arrays of a `siberia_env.vector.Step`, which explains them."""

    observation: Any
    mask: Any
    num_legal: Any
    player: Any
    reward: Any
    terminated: Any
    final_scores: Any
    final_winners: Any
    final_length: Any
    final_hit_limit: Any


@kernel_part
def borrowed_slots(slots: Any) -> Any:
    """The same slots with each array `borrowed`."""
    return Slots(borrowed(slots.states), borrowed(slots.episodes), borrowed(slots.lengths))


@kernel_part
def borrowed_rows(rows: Any) -> Any:
    """The same rows with each array `borrowed`."""
    return Rows(
        borrowed(rows.observation),
        borrowed(rows.mask),
        borrowed(rows.num_legal),
        borrowed(rows.player),
        borrowed(rows.reward),
        borrowed(rows.terminated),
        borrowed(rows.final_scores),
        borrowed(rows.final_winners),
        borrowed(rows.final_length),
        borrowed(rows.final_hit_limit),
    )


@kernel_part
def view_game(rulesets: Any, slots: Any, i: int, rows: Any) -> None:
    """Write row `i` of a batch: the player on turn, its mask and (unless observations have no columns) what it sees."""
    ruleset, state = rulesets[0], slots.states[i]
    rows.num_legal[i] = legal(ruleset, state, rows.mask[i])
    to_move = current_player(ruleset, state)
    rows.player[i] = to_move
    if rows.observation.shape[1] > 0:
        observe(ruleset, state, to_move, rows.observation[i])


@kernel
def view_batch(rulesets: Any, slots: Any, rows: Any) -> None:
    """Write every row of a batch."""
    for i in range(slots.states.shape[0]):
        view_game(rulesets, slots, i, rows)


@kernel
def deal_batch(rulesets: Any, slots: Any, start: int, stop: int, seed: Any, rows: Any) -> None:
    """Deal game `episodes[i]` of each slot from `start` to `stop` - 1 and write their rows."""
    for i in range(start, stop):
        deal(rulesets[0], slots.states[i], derive(seed, i, slots.episodes[i]))
        slots.lengths[i] = 0
        view_game(rulesets, slots, i, rows)


@kernel
def step_batch(
    rulesets: Any, slots: Any, start: int, stop: int, actions: Any, seed: Any, reward_kind: int, rows: Any
) -> None:
    """Take a legal action in every game of the slice. When a game ends, write its results and deal the next one."""
    rulesets, actions = borrowed(rulesets), borrowed(actions)
    slots, rows = borrowed_slots(slots), borrowed_rows(rows)
    states, episodes, lengths, terminated = slots.states, slots.episodes, slots.lengths, rows.terminated
    final_scores, final_winners, reward = rows.final_scores, rows.final_winners, rows.reward
    ruleset = rulesets[0]
    players = reward.shape[1]
    for i in range(start, stop):
        state = states[i]
        apply(ruleset, state, actions[i])
        settle(ruleset, state)
        lengths[i] += 1
        if terminated[i]:
            terminated[i] = False
            reward[i, :] = np.float32(0)
        if is_over(ruleset, state):
            terminated[i] = True
            scores(ruleset, state, final_scores[i])
            num_winners = winner_flags(final_scores[i], players, final_winners[i])
            reward_of(reward_kind, final_scores[i], final_winners[i], num_winners, players, reward[i])
            rows.final_length[i] = lengths[i]
            rows.final_hit_limit[i] = has_hit_limit(ruleset, state)
            episodes[i] += 1
            lengths[i] = 0
            deal(ruleset, state, derive(seed, i, episodes[i]))
        view_game(rulesets, slots, i, rows)


@kernel
def observe_batch(rulesets: Any, states: Any, players: Any, observation: Any) -> None:
    """Write what seat `players[i]` sees of game i into row i of `observation`."""
    states, players, observation = borrowed(states), borrowed(players), borrowed(observation)
    for i in range(states.shape[0]):
        observe(rulesets[0], states[i], players[i], observation[i])


@kernel
def determinize_batch(rulesets: Any, states: Any, players: Any, seed: Any) -> None:
    """Replace what `players[i]` can't know in each state i by a sample; `seed` (uint64) decides all samples."""
    for i in range(states.shape[0]):
        determinize(rulesets[0], states[i], players[i], derive(seed, i, 0))


# ---------------------------------------------------------------- random play


@kernel_part
def sample_legal(mask: Any, count: int, bits: Any) -> int:
    """Choose one of the `count` legal actions of `mask` by 64 random `bits`.

    The processor counts a block of the mask at once, and this function walks through only the block with the chosen
    action. Both loops always run to their end, so no jump depends on the draw.
    """
    rank = scale(bits, count)
    start, before, passed = 0, 0, 0
    for block in range(mask.shape[0] // BLOCK):
        passed += count_ones(mask, BLOCK * block, BLOCK)
        beyond = rank >= passed
        start += BLOCK * beyond
        before += (passed - before) * beyond
    rank -= before
    chosen = start
    for action in range(start, min(start + BLOCK, mask.shape[0])):
        rank -= mask[action]
        chosen += rank >= 0
    return chosen


@kernel
def sample_batch(mask: Any, num_legal: Any, seed: Any, draw: int, actions: Any) -> None:
    """Choose a random legal action for every row of a batch. `seed` and the number of the `draw` decide which."""
    mask, num_legal, actions = borrowed(mask), borrowed(num_legal), borrowed(actions)
    generator = derive(seed, draw, 0)
    for i in range(mask.shape[0]):
        generator = advance(generator)
        actions[i] = sample_legal(mask[i], num_legal[i], scramble(generator))


@kernel
def random_playout(rulesets: Any, states: Any, i: int, mask: Any, generator: Any) -> int:
    """Play `states[i]` to its end with random legal actions; return the number of decisions."""
    ruleset, state = rulesets[0], states[i]
    decisions = 0
    while not is_over(ruleset, state):
        count = legal(ruleset, state, mask)
        generator = advance(generator)
        apply(ruleset, state, sample_legal(mask, count, scramble(generator)))
        settle(ruleset, state)
        decisions += 1
    return decisions


@kernel
def random_playouts(rulesets: Any, states: Any, mask: Any, seed: Any, games: int, totals: Any) -> int:
    """Deal and play `games` games in `states[0]` at random; add every score to `totals`; return the decisions."""
    decisions = 0
    mask = borrowed(mask)
    points = np.zeros(MAX_PLAYERS, np.int64)
    for game in range(games):
        generator = derive(seed, 0, game)
        deal(rulesets[0], states[0], generator)
        decisions += random_playout(rulesets, states, 0, mask, scramble(generator))
        scores(rulesets[0], states[0], points)
        for player in range(totals.shape[0]):
            totals[player] += points[player]
    return decisions
