"""The card game's kernels for the contract of `siberia_env.game`, written on top of the rules.

The six kernels that most readers look for come first: how a game starts, whose decision it is, what is legal, what an
action does, when the game is over, and the scores.
"""

from __future__ import annotations

from typing import Any

from siberia_env.card.actions import (
    CARD_ACTIONS,
    DRAW,
    HIRE_INVESTOR,
    HIRE_SALESMAN,
    HIRE_WORKER,
    KEEP_HIDDEN,
    MINE,
    MOST_DRAWN,
    NUM_ACTIONS,
    PAY,
    REVEAL,
)
from siberia_env.card.components import (
    INVESTOR,
    NUM_KINDS,
    NUM_SYMBOLS,
    ROW_SLOTS,
    SALESMAN,
    WORKER,
)
from siberia_env.card.rules import (
    can_pay,
    choose,
    draw,
    investor_on_offer,
    lay_stacks,
    may_choose,
    may_come_next,
    may_draw,
    may_keep_hidden,
    may_pay,
    may_reveal,
    next_card,
    open_box,
    pay,
    reveal,
    salesman_on_offer,
    set_up,
    symbol_of,
    turn_discard_over,
    worker_on_offer,
)
from siberia_env.card.state import (
    CHOOSE,
    DISCOVER,
    OVER,
    PAYING,
    SETUP,
    SHUFFLE,
    Ruleset,
    State,
)
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core.jit import kernel
from siberia_env.core.rng import shuffle


@kernel
def deal(ruleset: Ruleset, state: State, generator: Any) -> None:
    """Start a new game whose chance outcomes come from `generator` (uint64)."""
    open_box(ruleset, state)
    state.generator = generator
    resolve(ruleset, state)


@kernel
def current_player(ruleset: Ruleset, state: State) -> int:
    """The seat whose decision it is."""
    return int(state.player)


@kernel
def legal(ruleset: Ruleset, state: State, mask: Any) -> int:
    """Write 1 for each legal action and 0 for the others into `mask` (int8 [NUM_ACTIONS]); return how many."""
    for action in range(NUM_ACTIONS):
        mask[action] = 0
    phase, player, count = int(state.phase), int(state.player), 0
    if phase == DISCOVER:
        for slot in range(ROW_SLOTS):
            count += allow(mask, REVEAL + slot, may_reveal(state, slot))
        count += allow(mask, KEEP_HIDDEN, may_keep_hidden(state))
    elif phase == CHOOSE:
        for cards in range(MOST_DRAWN + 1):
            count += allow(mask, DRAW + cards, may_draw(ruleset, state, cards))
        # What `may_choose` says, but what several actions ask for is found out once: a step takes 4% longer otherwise.
        for resource in range(NUM_RESOURCES):
            count += allow(mask, MINE + resource, can_pay(state, player, resource))
        worker = can_pay(state, player, WORKER) & worker_on_offer(ruleset, state, player)
        count += allow(mask, HIRE_WORKER, worker)
        salesman, investor = can_pay(state, player, SALESMAN), can_pay(state, player, INVESTOR)
        for symbol in range(NUM_SYMBOLS):
            count += allow(mask, HIRE_SALESMAN + symbol, salesman & salesman_on_offer(state, symbol))
        for resource in range(NUM_RESOURCES):
            count += allow(mask, HIRE_INVESTOR + resource, investor & investor_on_offer(state, resource))
    elif phase == PAYING:
        symbol = symbol_of(int(state.chosen))
        showing, other = next_card(state, player, symbol)
        for kind in range(NUM_KINDS):
            count += allow(mask, PAY + kind, may_come_next(state, player, kind, symbol, showing, other))
    return count


@kernel
def apply(ruleset: Ruleset, state: State, action: int) -> None:
    """Carry out a legal action, up to the next decision, chance outcome or the end. The action is not checked."""
    if state.phase == DISCOVER:
        if action != KEEP_HIDDEN:
            reveal(ruleset, state, action - REVEAL)
        state.phase = CHOOSE
    elif state.phase == CHOOSE:
        if action < CARD_ACTIONS:
            draw(ruleset, state, action - DRAW)
        else:
            choose(state, action - CARD_ACTIONS)
    else:
        pay(ruleset, state, action - PAY)


@kernel
def is_over(ruleset: Ruleset, state: State) -> bool:
    """C15, C17: whether the game has ended."""
    return state.phase == OVER


@kernel
def scores(ruleset: Ruleset, state: State, out: Any) -> None:
    """C16: write each player's current total, in thousands, into `out`, by seat."""
    for player in range(ruleset.num_players):
        out[player] = state.score[player]


@kernel
def is_legal(ruleset: Ruleset, state: State, action: int) -> bool:
    """Whether the player on turn may take `action` now; `action` may be any integer."""
    if state.phase == DISCOVER:
        if REVEAL <= action < KEEP_HIDDEN:
            return may_reveal(state, action - REVEAL)
        return action == KEEP_HIDDEN and may_keep_hidden(state)
    if state.phase == CHOOSE:
        if DRAW <= action < CARD_ACTIONS:
            return may_draw(ruleset, state, action - DRAW)
        if CARD_ACTIONS <= action < PAY:
            return may_choose(ruleset, state, int(state.player), action - CARD_ACTIONS)
        return False
    return state.phase == PAYING and PAY <= action < NUM_ACTIONS and may_pay(state, action - PAY)


@kernel
def allow(mask: Any, action: int, allowed: bool) -> int:
    """Write whether `action` is legal into `mask`; return 1 if it is."""
    mask[action] = allowed
    return int(allowed)


@kernel
def is_chance(ruleset: Ruleset, state: State) -> bool:
    """Whether a shuffle is due: the setup, or a new action stack (C14)."""
    return state.phase == SHUFFLE or state.phase == SETUP


@kernel
def resolve(ruleset: Ruleset, state: State) -> None:
    """Settle the chance outcome that is due, with the state's own generator."""
    if state.phase == SETUP:
        lay_stacks(ruleset, state)
        shuffle(state, state.action_stack, int(state.action_stack_size))
        shuffle(state, state.resource_stack, int(state.resource_stack_size))
        set_up(ruleset, state)
    else:
        turn_discard_over(ruleset, state)
        shuffle(state, state.action_stack, int(state.action_stack_size))
        draw(ruleset, state, int(state.draws_left))


@kernel
def force(ruleset: Ruleset, state: State, order: Any) -> None:
    """Settle the chance outcome that is due as `order` says. The generator stays as it is.

    `order` holds the kinds of the action stack, then for the setup the numbers of the resource cards, each from the top
    card down. It must be a rearrangement of the cards at hand; `Variant.force` checks that.
    """
    setup = state.phase == SETUP
    if setup:
        lay_stacks(ruleset, state)
    else:
        turn_discard_over(ruleset, state)
    size = int(state.action_stack_size)
    for depth in range(size):
        state.action_stack[size - 1 - depth] = order[depth]
    if setup:
        resources = int(state.resource_stack_size)
        for depth in range(resources):
            state.resource_stack[resources - 1 - depth] = order[size + depth]
        set_up(ruleset, state)
    else:
        draw(ruleset, state, int(state.draws_left))


@kernel
def has_hit_limit(ruleset: Ruleset, state: State) -> bool:
    """C17: whether the turn limit ended the game."""
    return state.hit_limit == 1
