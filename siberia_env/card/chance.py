"""Chance nodes of the card game: one card at a time (`siberia_env.common.chance`).

The first outcomes are the kinds of action cards, the others are resource cards. Resource cards of equal resource and
value can't be told apart: the lowest card number stands for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from siberia_env.card.components import (
    FACE_UP_AT_START,
    HAND_AT_START,
    KINDS,
    NUM_KINDS,
    NUM_PERSONS,
    NUM_SYMBOLS,
    PERSON_VALUE,
)
from siberia_env.card.notation import card_name, lowest_alike
from siberia_env.card.state import SETUP, SHUFFLE, State
from siberia_env.common.chance import Draw, without
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.game import States, Variant

DECISIONS_A_TURN = 5  #: discover, choose, and pay three cards
DRAWS_A_TURN = 3  #: a resource card, and two action cards


def names(variant: Variant) -> tuple[str, ...]:
    """The names of all outcomes, in order of their numbers."""
    ruleset = variant.rulesets[0]
    return (*KINDS, *(card_name(ruleset, number) for number in range(ruleset.num_resource_cards)))


def next_draw(variant: Variant, before: States, after: States, drawn: tuple[int, ...]) -> Draw | None:
    """The draw that is due; None if everything is drawn (`ChanceRoom.next_draw`)."""
    old, new = before[0], after[0]
    player = int(old.player)
    if old.phase == SETUP:
        return _next_of_setup(variant, drawn)
    if old.phase == SHUFFLE:
        return _next_of_hand(_counted(old.discard), int(old.draws_left), drawn, player)
    if (new.face_up > old.face_up).any():  # C7
        return None if drawn else Draw(_counted_resources(variant, _hidden(old)), 1)
    size = int(old.action_stack_size)
    stack = _counted(np.bincount(old.action_stack[:size], minlength=NUM_KINDS))
    return _next_of_hand(stack, size - int(new.action_stack_size), drawn, player)


def arrange(variant: Variant, states: States, after: States, drawn: tuple[int, ...]) -> None:
    """Put what is drawn where it is taken from, or settle the chance that is due with it (`ChanceRoom.arrange`)."""
    state = states[0]
    if state.phase in (SETUP, SHUFFLE):
        variant.force(states, 0, _whole_outcome(variant, state, drawn))
    elif (turned := np.flatnonzero(after[0].face_up > state.face_up)).size:
        _lay_into(variant, state, int(turned[0]), drawn[0])
    else:
        size = int(state.action_stack_size)
        stack = state.action_stack[:size].tolist()
        for kind in drawn:
            stack.remove(kind)
        state.action_stack[:size] = [*stack, *reversed(drawn)]


def most_draws(variant: Variant) -> int:
    """At most so many cards are drawn in a game."""
    return FACE_UP_AT_START + HAND_AT_START * variant.num_players + DRAWS_A_TURN * int(variant.rulesets[0].max_turns)


def most_decisions(variant: Variant) -> int:
    """At most so many decisions are taken in a game."""
    return DECISIONS_A_TURN * int(variant.rulesets[0].max_turns)


def highest_score(variant: Variant) -> int:
    """No score of a game is higher, in points."""
    ruleset = variant.rulesets[0]
    persons = int(ruleset.workers) + NUM_SYMBOLS + NUM_RESOURCES
    best = max(PERSON_VALUE, *ruleset.salesman_value[-NUM_PERSONS:].tolist())
    return int(ruleset.card_best_value[: ruleset.num_resource_cards].sum()) + persons * best


def shown_plans(variant: Variant, states: States) -> list[tuple[int, int, int]]:
    """Nothing: the card game has no secret decisions that are shown later (`ChanceRoom.shown_plans`)."""
    return []


# ---------------------------------------------------------------- piles


def _next_of_setup(variant: Variant, drawn: tuple[int, ...]) -> Draw | None:
    """C6: the face-up cards of the row, each into its slot; then the hands."""
    ruleset, shown = variant.rulesets[0], drawn[:FACE_UP_AT_START]
    if len(drawn) < FACE_UP_AT_START:
        return Draw(without(_counted_resources(variant, range(ruleset.num_resource_cards)), shown), 1)
    cards = drawn[FACE_UP_AT_START:]
    seat = len(cards) // HAND_AT_START
    if seat == ruleset.num_players:
        return None
    dealt = cards[: seat * HAND_AT_START]
    return Draw(without(_counted(ruleset.action_cards), dealt), HAND_AT_START, cards[len(dealt) :], seat)


def _next_of_hand(pile: dict[int, int], wanted: int, drawn: tuple[int, ...], player: int) -> Draw | None:
    size = min(wanted, sum(pile.values()))
    return Draw(pile, size, drawn, player) if len(drawn) < size else None


def _counted(counts: Any) -> dict[int, int]:
    """The action cards of a pile, by outcome."""
    return {kind: int(count) for kind, count in enumerate(counts) if count}


def _counted_resources(variant: Variant, numbers: Iterable[int]) -> dict[int, int]:
    """The resource cards with these numbers, by outcome."""
    outcomes, counts = _outcomes(variant), dict[int, int]()
    for number in numbers:
        counts[outcomes[number]] = counts.get(outcomes[number], 0) + 1
    return counts


@lru_cache(maxsize=64)
def _outcomes(variant: Variant) -> tuple[int, ...]:
    """The outcome that stands for each resource card: that of the lowest number among the cards that look like it."""
    return tuple(NUM_KINDS + number for number in lowest_alike(variant))


def _hidden(state: State) -> list[int]:
    """The resource cards that nobody has seen: face down in the row, and in the stack."""
    face_down = state.row[(state.row >= 0) & (state.face_up == 0)]
    return [*face_down.tolist(), *state.resource_stack[: state.resource_stack_size].tolist()]


# ---------------------------------------------------------------- stacks


def _whole_outcome(variant: Variant, state: State, drawn: tuple[int, ...]) -> list[int]:
    """The outcome for `force`: what is drawn lies on top, and everything else below it in a fixed order."""
    ruleset, setup = variant.rulesets[0], state.phase == SETUP
    shown, kinds = (drawn[:FACE_UP_AT_START], drawn[FACE_UP_AT_START:]) if setup else ((), drawn)
    counts = without(_counted(ruleset.action_cards if setup else state.discard), kinds)
    order = [*kinds, *(kind for kind, count in sorted(counts.items()) for _ in range(count))]
    if not setup:
        return order
    left = list(range(ruleset.num_resource_cards))
    for outcome in shown:
        order.append(_find(variant, left, outcome))
        left.remove(order[-1])
    return [*order, *left]


def _find(variant: Variant, numbers: list[int], outcome: int) -> int:
    """The first of these resource cards for which `outcome` stands."""
    outcomes = _outcomes(variant)
    return next(number for number in numbers if outcomes[number] == outcome)


def _lay_into(variant: Variant, state: State, slot: int, outcome: int) -> None:
    """Let a hidden card for which `outcome` stands lie in `slot`. It changes places with the card there."""
    number, other = _find(variant, _hidden(state), outcome), int(state.row[slot])
    stack = state.resource_stack[: state.resource_stack_size]
    stack[stack == number] = other
    state.row[state.row == number] = other
    state.row[slot] = number
