"""Chance in the card game's records: what was dealt, drawn, shuffled and refilled, in names and back again.

One way, `setup_event`, `due_events` and `events` tell what happened between two states. The other way,
`outcome` makes of a record's lines the order of cards that `force` wants. The record's reader and writer
(`siberia_env.record`) know only the functions of this module, those of `siberia_env.record.Chronicle`.

A resource card is written `<resource> <dollars>`, an action card `<resource>/<person>`. Resource cards of equal
resource and value can't be told apart: a replayed record may give them other numbers than the game had, and no
rule, observation or score depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.card import rules
from siberia_env.card.actions import CARD_ACTIONS, HIRE_WORKER, KEEP_HIDDEN, MOST_DRAWN, REVEAL
from siberia_env.card.components import (
    ACTION_CARDS,
    FACE_UP_AT_START,
    HAND_AT_START,
    KINDS,
    NUM_KINDS,
    ROW_SLOTS,
    Components,
    components_from_json,
)
from siberia_env.card.state import EMPTY, NOTHING, PAYING, SETUP, SHUFFLE, Ruleset, State
from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import DOLLARS, States, Variant
from siberia_env.tables import RESOURCES, check_integer

_SLOT_NAMES = tuple(str(slot) for slot in range(ROW_SLOTS))


def read_components(tables: Any) -> Components:
    """The component tables of a record's header; a small variant's are welcome too.

    Raises:
        ConfigurationError: names the path of what is wrong.
    """
    return components_from_json(tables, whole_box=False)


def card_name(ruleset: Ruleset, number: int) -> str:
    """The name of resource card `number`: `gold 4000`."""
    return f"{RESOURCES[ruleset.card_resource[number]]} {int(ruleset.card_value[number]) * DOLLARS}"


# ---------------------------------------------------------------- from states to lines


def setup_event(variant: Variant, states: States, i: int) -> dict[str, Any]:
    """The setup line of the game that has just been dealt in `states[i]`.

    The row is given from slot 0 on (a small variant may fill fewer than 8 slots), each hand in the order in
    which it was dealt.
    """
    ruleset, state = variant.rulesets[0], states[i]
    size = int(state.action_stack_size)
    dealt = size + HAND_AT_START * variant.num_players  # the dealt cards still stand above the stack's top
    kinds = [KINDS[kind] for kind in state.action_stack[size:dealt][::-1]]
    return {
        "event": "setup",
        "row": [card_name(ruleset, number) for number in state.row if number != EMPTY],
        "face_up": int(state.face_up.sum()),
        "hands": [kinds[start : start + HAND_AT_START] for start in range(0, len(kinds), HAND_AT_START)],
    }


def due_events(variant: Variant, states: States, i: int) -> list[dict[str, Any]]:
    """What a record says of the chance outcome due in `states[i]` before it is settled: the shuffle (C14)."""
    state = states[i]
    return [{"event": "shuffle", "cards": int(state.discard_size)}] if state.phase == SHUFFLE else []


def events(variant: Variant, before: States, after: States) -> list[dict[str, Any]]:
    """The refill (C12) and the draw (C8, C9) that lie between two states (arrays of one) of a step.

    Between them stands either an action up to the next decision, chance outcome or the end, or one outcome
    settled; not both.
    """
    ruleset, old, new = variant.rulesets[0], before[0], after[0]
    player, size = int(old.player), int(new.action_stack_size)
    if old.phase == SHUFFLE:
        drawn = int(new.hand_size[player]) - int(old.hand_size[player])
    else:
        drawn = int(old.action_stack_size) - size
    slots = {
        str(slot): card_name(ruleset, new.row[slot])
        for slot in range(ROW_SLOTS)
        if new.row[slot] != EMPTY and new.row[slot] != old.row[slot]
    }
    found: list[dict[str, Any]] = [{"event": "refill", "slots": slots}] if slots else []
    if drawn > 0:  # the drawn cards still stand above the stack's top
        cards = [KINDS[kind] for kind in new.action_stack[size : size + drawn][::-1]]
        found.append({"event": "draw", "player": player, "cards": cards})
    return found


def remark(variant: Variant, before: States, after: States, action: int) -> str:
    """What `action` brought, in names, for a reader: the card turned up, the action paid for; or nothing."""
    ruleset, old, new = variant.rulesets[0], before[0], after[0]
    if REVEAL <= action < KEEP_HIDDEN:
        return card_name(ruleset, old.row[action - REVEAL])
    if old.phase != PAYING or new.chosen != NOTHING:
        return ""
    chosen = int(old.chosen) + CARD_ACTIONS
    if chosen >= HIRE_WORKER:
        return variant.action_names[chosen]
    taken = [
        card_name(ruleset, old.row[slot])
        for slot in range(ROW_SLOTS)
        if old.face_up[slot] and new.row[slot] != old.row[slot]
    ]
    return f"{variant.action_names[chosen]} brings {', '.join(taken) or 'nothing'}"


# ---------------------------------------------------------------- from lines to outcomes


def open_box(variant: Variant, states: States, i: int) -> None:
    """Lay everything in `states[i]` back into the box, so that the setup is the chance outcome that is due."""
    rules.open_box(variant.rulesets[0], states[i])


def check_event(variant: Variant, event: Mapping[str, Any]) -> None:
    """Check the form of a chance line, from its keys to the names of its cards; not that it fits the game.

    Raises:
        ConfigurationError: says what is wrong and what would be right.
    """
    name = event.get("event")
    if not isinstance(name, str) or name not in _CHECKS:
        raise ConfigurationError(f"no event {name!r}; the events are {', '.join(_CHECKS)}")
    keys, check = _CHECKS[name]
    if sorted(event) != sorted(("event", *keys)):
        raise ConfigurationError(f"{name}: expected the keys event, {', '.join(keys)}; got {', '.join(event)}")
    check(variant, event)


def outcome(variant: Variant, states: States, i: int, lines: Sequence[tuple[int, Mapping[str, Any]]]) -> NDArray[Any]:
    """The chance outcome due in `states[i]`, as `force` wants it: int8 [outcome_size].

    `lines` are the record from here on, each with its number: from the setup line on, or from behind the shuffle
    line. Their form has been checked. Cards that they never show lie below those they do.

    Raises:
        RecordError: the lines show cards that there can't be.
    """
    ruleset, state = variant.rulesets[0], states[i]
    setup = state.phase == SETUP
    left = Counter(dict(enumerate(_cards_due(ruleset, state))))
    order: list[int] = []
    for number, line in lines:
        event = line.get("event")
        if event == "shuffle":
            break
        shown = [card for hand in line["hands"] for card in hand] if event == "setup" else line.get("cards", ())
        for card in shown:
            kind = KINDS.index(card)
            if left[kind] == 0:
                pile = "action cards" if setup else "shuffled cards"
                count = order.count(kind)
                raise RecordError(f"line {number}: one {card} too many; of the {pile} {count} are {card}")
            left[kind] -= 1
            order.append(kind)
    order.extend(kind for kind in range(NUM_KINDS) for _ in range(left[kind]))
    if setup:
        order.extend(_resource_order(ruleset, lines))
    padded = np.zeros(variant.game.outcome_size, np.int8)
    padded[: len(order)] = order
    return padded


def check_outcome(variant: Variant, states: States, i: int, given: Any) -> NDArray[Any]:
    """`given` as the kernel `force` wants it, int8 [outcome_size], if it is an order of the cards due in `states[i]`.

    It holds kinds of action cards, for the setup followed by the numbers of the resource cards, from the top card
    down. Entries past those, up to `outcome_size`, don't count.

    Raises:
        ConfigurationError: no outcome is due, or `given` is no order of exactly the cards that are due.
    """
    ruleset, state = variant.rulesets[0], states[i]
    if state.phase not in (SETUP, SHUFFLE):
        raise ConfigurationError("force: no chance outcome is due")
    due = _cards_due(ruleset, state)
    actions = sum(due)
    resources = int(ruleset.num_resource_cards) if state.phase == SETUP else 0
    wanted = f"{actions} kinds of action cards" + (f", then {resources} resource card numbers" if resources else "")
    order = np.asarray(given)
    size = variant.game.outcome_size
    if order.ndim != 1 or order.dtype.kind not in "iu" or not actions + resources <= len(order) <= size:
        raise ConfigurationError(
            f"force: expected {wanted} (integers, at most {size} in all); got {order.dtype} of shape {order.shape}"
        )
    kinds, numbers = order[:actions], order[actions : actions + resources]
    for kind, count in enumerate(due):
        if (found := int((kinds == kind).sum())) != count:
            raise ConfigurationError(f"force: expected {wanted}, of which {count} are {KINDS[kind]}; got {found}")
    if sorted(numbers.tolist()) != list(range(resources)):
        raise ConfigurationError(f"force: expected {wanted}; got the numbers {numbers.tolist()}")
    padded = np.zeros(size, np.int8)
    padded[: actions + resources] = order[: actions + resources]
    return padded


def _cards_due(ruleset: Ruleset, state: State) -> list[int]:
    """How many action cards of each kind the shuffle that is due will mix."""
    return [int(count) for count in (ruleset.action_cards if state.phase == SETUP else state.discard)]


def _resource_order(ruleset: Ruleset, lines: Iterable[tuple[int, Mapping[str, Any]]]) -> list[int]:
    """All resource cards from the top down as a whole record shows them: the row, each refill, the rest."""
    free: dict[str, list[int]] = {}
    for card in range(ruleset.num_resource_cards):
        free.setdefault(card_name(ruleset, card), []).append(card)
    order: list[int] = []
    for number, line in lines:
        slots = line.get("slots", {})
        for name in (*line.get("row", ()), *(slots[slot] for slot in sorted(slots))):
            if not free[name]:
                count = sum(card_name(ruleset, card) == name for card in order)
                raise RecordError(f"line {number}: one {name} too many; of the resource cards {count} are {name}")
            order.append(free[name].pop(0))
    return order + sorted(card for cards in free.values() for card in cards)


# ---------------------------------------------------------------- the form of a line


def _cards(value: Any, path: str, low: int, high: int) -> None:
    wanted = f"{low}" if low == high else f"{low} to {high}"
    if not isinstance(value, list) or not low <= len(value) <= high:
        raise ConfigurationError(f"{path}: expected a list of {wanted} action cards; got {value!r}")
    for index, card in enumerate(value):
        if card not in KINDS:
            raise ConfigurationError(f"{path}[{index}]: no action card {card!r}; one is written {KINDS[0]!r}")


def _resource_card(variant: Variant, value: Any, path: str) -> None:
    ruleset = variant.rulesets[0]
    if value not in (names := [card_name(ruleset, card) for card in range(ruleset.num_resource_cards)]):
        raise ConfigurationError(f"{path}: no resource card {value!r} in the components; one is written {names[0]!r}")


def _check_setup(variant: Variant, event: Mapping[str, Any]) -> None:
    row, hands = event["row"], event["hands"]
    slots = min(ROW_SLOTS, int(variant.rulesets[0].num_resource_cards))
    if not isinstance(row, list) or len(row) != slots:
        raise ConfigurationError(f"setup.row: expected a list of {slots} resource cards; got {row!r}")
    for slot, card in enumerate(row):
        _resource_card(variant, card, f"setup.row[{slot}]")
    check_integer(event["face_up"], "setup.face_up", FACE_UP_AT_START, FACE_UP_AT_START)
    if not isinstance(hands, list) or len(hands) != variant.num_players:
        raise ConfigurationError(f"setup.hands: expected a list of {variant.num_players} hands; got {hands!r}")
    for player, hand in enumerate(hands):
        _cards(hand, f"setup.hands[{player}]", HAND_AT_START, HAND_AT_START)


def _check_draw(variant: Variant, event: Mapping[str, Any]) -> None:
    check_integer(event["player"], "draw.player", 0, variant.num_players - 1)
    _cards(event["cards"], "draw.cards", 1, MOST_DRAWN)


def _check_shuffle(variant: Variant, event: Mapping[str, Any]) -> None:
    check_integer(event["cards"], "shuffle.cards", 1, ACTION_CARDS)


def _check_refill(variant: Variant, event: Mapping[str, Any]) -> None:
    slots = event["slots"]
    if not isinstance(slots, dict) or not slots or not set(slots) <= set(_SLOT_NAMES):
        raise ConfigurationError(
            f"refill.slots: expected an object with keys of {', '.join(_SLOT_NAMES)}; got {slots!r}"
        )
    for slot, card in slots.items():
        _resource_card(variant, card, f"refill.slots.{slot}")


_CHECKS: dict[str, tuple[tuple[str, ...], Callable[[Variant, Mapping[str, Any]], None]]] = {
    "setup": (("row", "face_up", "hands"), _check_setup),
    "draw": (("player", "cards"), _check_draw),
    "shuffle": (("cards",), _check_shuffle),
    "refill": (("slots",), _check_refill),
}


# ---------------------------------------------------------------- for a reader


def outline(event: Mapping[str, Any]) -> str:
    """The event that the rules demand at a place of a record, without the cards that only the record knows."""
    if event["event"] == "draw":
        return f"a draw line of player {event['player']} with {len(event['cards'])} card(s)"
    if event["event"] == "shuffle":
        return f"a shuffle line of {event['cards']} cards"
    if event["event"] == "refill":
        return f"a refill line of the slots {', '.join(event['slots'])}"
    return "the setup line"


def describe_event(event: Mapping[str, Any]) -> list[str]:
    """The event in lines for a reader."""
    if event["event"] == "draw":
        return [f"player {event['player']} draws {', '.join(event['cards'])}"]
    if event["event"] == "shuffle":
        return [f"the discard pile is shuffled into a new stack of {event['cards']}"]
    if event["event"] == "refill":
        return ["refilled: " + ", ".join(f"slot {slot} {card}" for slot, card in event["slots"].items())]
    row = [card if slot < event["face_up"] else f"({card})" for slot, card in enumerate(event["row"])]
    hands = [f"hand of player {player}: {', '.join(hand)}" for player, hand in enumerate(event["hands"])]
    return ["row (face down in brackets): " + ", ".join(row), *hands]
