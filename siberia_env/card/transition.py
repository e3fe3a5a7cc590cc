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
    may_come_next,
    may_draw,
    may_keep_hidden,
    may_pay,
    may_reveal,
    next_card,
    on_offer,
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
    count = 0
    if state.phase == DISCOVER:
        for slot in range(ROW_SLOTS):
            allowed = may_reveal(state, slot)
            mask[REVEAL + slot] = allowed
            count += allowed
        allowed = may_keep_hidden(state)
        mask[KEEP_HIDDEN] = allowed
        count += allowed
    elif state.phase == CHOOSE:
        player = int(state.player)
        for cards in range(MOST_DRAWN + 1):
            allowed = may_draw(ruleset, state, cards)
            mask[DRAW + cards] = allowed
            count += allowed
        for resource in range(NUM_RESOURCES):
            allowed = can_pay(state, player, resource)
            mask[MINE + resource] = allowed
            count += allowed
        allowed = can_pay(state, player, WORKER) & worker_on_offer(ruleset, state, player)
        mask[HIRE_WORKER] = allowed
        count += allowed
        payable = can_pay(state, player, SALESMAN)
        for symbol in range(NUM_SYMBOLS):
            allowed = payable & salesman_on_offer(state, symbol)
            mask[HIRE_SALESMAN + symbol] = allowed
            count += allowed
        payable = can_pay(state, player, INVESTOR)
        for resource in range(NUM_RESOURCES):
            allowed = payable & investor_on_offer(state, resource)
            mask[HIRE_INVESTOR + resource] = allowed
            count += allowed
    elif state.phase == PAYING:
        player, symbol = int(state.player), symbol_of(int(state.chosen))
        showing, other = next_card(state, player, symbol)
        for kind in range(NUM_KINDS):
            allowed = may_come_next(state, player, kind, symbol, showing, other)
            mask[PAY + kind] = allowed
            count += allowed
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
            player, card_action = int(state.player), action - CARD_ACTIONS
            return can_pay(state, player, symbol_of(card_action)) and on_offer(ruleset, state, player, card_action)
        return False
    return state.phase == PAYING and PAY <= action < NUM_ACTIONS and may_pay(state, action - PAY)


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
def is_truncated(ruleset: Ruleset, state: State) -> bool:
    """C17: whether the turn limit ended the game."""
    return state.truncated == 1


@kernel
def is_secret(ruleset: Ruleset, state: State) -> bool:
    """C18: False, because every decision is made in full view."""
    return False


@kernel
def shown(ruleset: Ruleset, state: State, player: int) -> int:
    """C18: 0, because there are no secret decisions."""
    return 0
