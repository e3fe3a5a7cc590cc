"""The compiled loop of `tests/soak.py`. It plays random games of either game and checks every decision.

The loop uses the contract of `siberia_env.game` and two more generic kernels, which the games' `invariants.py` define.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from siberia_env.core.engine import sample_legal, settle
from siberia_env.core.jit import borrowed, kernel, kernel_part
from siberia_env.core.rng import advance, derive, scramble
from siberia_env.game import (
    apply,
    current_player,
    deal,
    determinize,
    generic,
    has_hit_limit,
    is_chance,
    is_legal,
    is_over,
    legal,
    observe,
    scores,
)

#: This is added to the number of an invariant of the game if it is broken in a sample of `determinize`.
IN_A_SAMPLE = 1000


class CommonInvariant(IntEnum):
    """The invariants that can be broken in any game."""

    NO_LEGAL_ACTION = 101
    LEGAL_ACTION_AFTER_THE_END = 102
    MASK_COUNT = 103
    MASK_AGREES_WITH_IS_LEGAL = 104
    SCORES_OF_THE_STATE = 105
    HIT_LIMIT = 106
    GAME_ENDS = 107
    MASK_LEAVES_THE_STATE = 108
    SAMPLE_SHOWS_THE_SAME = 109
    SAMPLE_HAS_THE_SAME_MASK = 110
    SAMPLE_OF_A_SAMPLE = 111
    SAMPLE_ON_TURN = 112


# The entries of `report`. BROKEN, GAME, DECISION and SEAT are only written if an invariant is broken.
BROKEN, GAME, DECISION, SEAT, GAMES, HIT_LIMIT, SAMPLES = range(7)
REPORT_SIZE = 7

# The states that `soak` works on.
NOW, BEFORE, SAMPLE, AGAIN, DIRECT = range(5)
NUM_STATES = 5

OBSERVED, OF_THE_SAMPLE = range(2)

MASK_EVERY = 64  #: decisions between two comparisons of the mask with `is_legal`
REDRAWS = 3  #: most times that an avoided action is drawn again
LEDGER_SIZE = 64
TALLY_SIZE = 32


@generic
def check(ruleset: Any, state: Any) -> int:
    """Return 0, or the number of the invariant that `state` breaks."""


@generic
def check_step(ruleset: Any, before: Any, after: Any, action: int, ledger: Any, tally: Any) -> int:
    """Return 0, or the number of the invariant that the step breaks; write into `ledger` and `tally`."""


@kernel
def check_at(rulesets: Any, states: Any, i: int) -> int:
    """Return 0, or the number of the invariant that `states[i]` breaks."""
    return check(rulesets[0], states[i])


@kernel
def check_step_at(rulesets: Any, states: Any, before: int, after: int, action: int, ledger: Any, tally: Any) -> int:
    """Return 0, or the number of the invariant that the step from `states[before]` to `states[after]` breaks."""
    return check_step(rulesets[0], states[before], states[after], action, ledger, tally)


@kernel_part
def copy_bytes(raw: Any, source: int, target: int) -> None:
    """Copy a state."""
    for index in range(raw.shape[1]):
        raw[target, index] = raw[source, index]


@kernel_part
def differ(raw: Any, one: int, other: int) -> bool:
    """Whether two states differ."""
    different = False
    for index in range(raw.shape[1]):
        different |= raw[one, index] != raw[other, index]
    return different


@kernel
def check_mask(rulesets: Any, states: Any, raw: Any, mask: Any, count: int) -> int:
    """Check that `states[NOW]`'s mask agrees with `is_legal`, also for numbers out of range, and changes nothing."""
    copy_bytes(raw, NOW, SAMPLE)
    ones = 0
    for action in range(mask.shape[0]):
        if mask[action] != 0 and mask[action] != 1:
            return CommonInvariant.MASK_COUNT
        ones += int(mask[action])
        if is_legal(rulesets[0], states[NOW], action) != (mask[action] == 1):
            return CommonInvariant.MASK_AGREES_WITH_IS_LEGAL
    if ones != count:
        return CommonInvariant.MASK_COUNT
    for beyond in range(3):
        if is_legal(rulesets[0], states[NOW], -1 - beyond) or is_legal(
            rulesets[0], states[NOW], mask.shape[0] + beyond
        ):
            return CommonInvariant.MASK_AGREES_WITH_IS_LEGAL
    if differ(raw, NOW, SAMPLE):
        return CommonInvariant.MASK_LEAVES_THE_STATE
    return 0


@kernel
def check_sample(
    rulesets: Any, states: Any, raw: Any, mask: Any, other_mask: Any, observations: Any, player: int, generator: Any
) -> int:
    """Check what `determinize` promises `player`, for `states[NOW]` with its `mask`."""
    ruleset = rulesets[0]
    copy_bytes(raw, NOW, SAMPLE)
    determinize(ruleset, states[SAMPLE], player, generator)
    observe(ruleset, states[NOW], player, observations[OBSERVED])
    observe(ruleset, states[SAMPLE], player, observations[OF_THE_SAMPLE])
    for index in range(observations.shape[1]):
        if observations[OBSERVED, index] != observations[OF_THE_SAMPLE, index]:
            return CommonInvariant.SAMPLE_SHOWS_THE_SAME
    if current_player(ruleset, states[SAMPLE]) != current_player(ruleset, states[NOW]):
        return CommonInvariant.SAMPLE_ON_TURN
    if is_chance(ruleset, states[SAMPLE]) or is_over(ruleset, states[SAMPLE]) != is_over(ruleset, states[NOW]):
        return CommonInvariant.SAMPLE_ON_TURN
    count = legal(ruleset, states[SAMPLE], other_mask)
    if player == current_player(ruleset, states[NOW]):
        for action in range(mask.shape[0]):
            if mask[action] != other_mask[action]:
                return CommonInvariant.SAMPLE_HAS_THE_SAME_MASK
    elif count == 0 and not is_over(ruleset, states[SAMPLE]):
        return CommonInvariant.NO_LEGAL_ACTION + IN_A_SAMPLE
    broken = check(ruleset, states[SAMPLE])
    if broken != 0:
        return broken + IN_A_SAMPLE
    copy_bytes(raw, SAMPLE, AGAIN)
    determinize(ruleset, states[AGAIN], player, scramble(generator))
    copy_bytes(raw, NOW, DIRECT)
    determinize(ruleset, states[DIRECT], player, scramble(generator))
    if differ(raw, AGAIN, DIRECT):
        return CommonInvariant.SAMPLE_OF_A_SAMPLE
    return 0


@kernel
def check_ended(rulesets: Any, states: Any, mask: Any) -> int:
    """Check what holds for any finished game, beside the game's own invariants."""
    if legal(rulesets[0], states[NOW], mask) != 0:
        return CommonInvariant.LEGAL_ACTION_AFTER_THE_END
    for action in range(mask.shape[0]):
        if mask[action] != 0 or is_legal(rulesets[0], states[NOW], action):
            return CommonInvariant.LEGAL_ACTION_AFTER_THE_END
    if has_hit_limit(rulesets[0], states[NOW]) != (states[NOW].hit_limit == 1):
        return CommonInvariant.HIT_LIMIT
    return 0


@kernel
def check_scores(rulesets: Any, states: Any, standing: Any, points: Any) -> int:
    """Check that the contract's scores are those that the state holds (`standing`)."""
    scores(rulesets[0], states[NOW], points)
    for player in range(rulesets[0].num_players):
        if points[player] != standing[player]:
            return CommonInvariant.SCORES_OF_THE_STATE
    return 0


@kernel
def soak(
    rulesets: Any,
    states: Any,
    raw: Any,
    standings: Any,
    masks: Any,
    observations: Any,
    seed: Any,
    job: int,
    first: int,
    decisions: int,
    longest: int,
    samples_every: int,
    avoided: Any,
    tally: Any,
    history: Any,
    report: Any,
) -> int:
    """Play and check whole games, from number `first` of `job` on, until `decisions` decisions are made.

    Args:
        rulesets: one ruleset.
        states: room for the states, [NUM_STATES].
        raw: the memory of `states` as numbers of 8 bytes, [NUM_STATES, size of a state / 8].
        standings: the field of `states` that holds the scores, [NUM_STATES, players].
        masks: int8 [2, actions].
        observations: float32 [2, size of an observation].
        seed: decides every game together with its number and `job`.
        job: the number of the job.
        first: the first game's number.
        decisions: least number of decisions, unless an invariant is broken.
        longest: the most decisions that a game can have.
        samples_every: decisions between two checks of what `determinize` gives each player.
        avoided: int8 [actions], 1 for actions that are drawn again up to `REDRAWS` times.
        tally: int64 [TALLY_SIZE], to which the counts of what happened are added.
        history: int64 [longest + 1], overwritten with the actions of the last game.
        report: int64 [REPORT_SIZE], zero at first; for its contents see BROKEN .. SAMPLES.

    Returns:
        How many decisions were made.
    """
    rulesets, states, raw, masks = borrowed(rulesets), borrowed(states), borrowed(raw), borrowed(masks)
    standings, observations, avoided = borrowed(standings), borrowed(observations), borrowed(avoided)
    tally, history, report = borrowed(tally), borrowed(history), borrowed(report)
    ruleset = rulesets[0]
    mask, other_mask = masks[0], masks[1]
    ledger, points = np.zeros(LEDGER_SIZE, np.int64), np.zeros(8, np.int64)
    game, total = first, 0
    while total < decisions:
        generator = derive(seed, job, game)
        deal(ruleset, states[NOW], generator)
        generator = scramble(generator)
        ledger[:] = 0
        made, broken, seat = 0, 0, -1
        broken = check(ruleset, states[NOW])
        while broken == 0 and not is_over(ruleset, states[NOW]):
            if made >= longest:
                broken = CommonInvariant.GAME_ENDS
                break
            count = legal(ruleset, states[NOW], mask)
            if count <= 0:
                broken = CommonInvariant.NO_LEGAL_ACTION
                break
            if (made + game) % MASK_EVERY == 0:
                broken = check_mask(rulesets, states, raw, mask, count)
                if broken != 0:
                    break
            generator = advance(generator)
            if (made + 773 * game) % samples_every == 0:
                report[SAMPLES] += 1
                for player in range(ruleset.num_players):
                    seat = player
                    broken = check_sample(rulesets, states, raw, mask, other_mask, observations, player, generator)
                    if broken != 0:
                        break
                if broken != 0:
                    break
                seat = -1
            action = sample_legal(mask, count, scramble(generator))
            for _ in range(REDRAWS):
                if avoided[action] == 1:
                    generator = advance(generator)
                    action = sample_legal(mask, count, scramble(generator))
            if mask[action] != 1:
                broken = CommonInvariant.MASK_COUNT
                break
            history[made] = action
            copy_bytes(raw, NOW, BEFORE)
            apply(ruleset, states[NOW], action)
            settle(ruleset, states[NOW])
            made += 1
            broken = check(ruleset, states[NOW])
            if broken == 0:
                broken = check_step(ruleset, states[BEFORE], states[NOW], action, ledger, tally)
            if broken == 0:
                broken = check_scores(rulesets, states, standings[NOW], points)
        if broken == 0:
            broken = check_ended(rulesets, states, mask)
            report[HIT_LIMIT] += states[NOW].hit_limit
        total += made
        report[GAMES] += 1
        if broken != 0:
            report[BROKEN], report[GAME], report[DECISION], report[SEAT] = int(broken), game, made, seat
            return total
        game += 1
    return total
