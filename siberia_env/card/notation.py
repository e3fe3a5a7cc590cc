"""Writes and reads the chance events of the card game's records: deals, draws, shuffles and refills.

When a game is recorded, `due_events` and `events` tell what happened between two states. When it is replayed,
`outcome` turns the lines of the record into the order of cards that `force` needs. The reader and writer of
records (`siberia_env.records`) use only the functions of `siberia_env.common.notation.Chronicle`.

A resource card is written `<resource> <dollars>`, an action card `<resource>/<person>`. Two resource cards of
equal resource and value look the same in a record, so a replay may swap their numbers. No rule, observation or
score depends on these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_env.card import rules
from siberia_env.card.actions import CARD_ACTIONS, HIRE_WORKER, KEEP_HIDDEN, MOST_DRAWN, REVEAL
from siberia_env.card.components import (
    ACTION_CARDS,
    FACE_UP_AT_START,
    HAND_AT_START,
    INVESTOR,
    KINDS,
    PERSON_VALUE,
    ROW_SLOTS,
    SALESMAN,
    SYMBOLS,
    WORKER,
    Components,
    components_from_json,
)
from siberia_env.card.state import EMPTY, NOTHING, PAYING, SETUP, SHUFFLE, Ruleset, State
from siberia_env.common.components import DOLLARS, RESOURCES, check_integer
from siberia_env.common.notation import (
    EventTable,
    Line,
    Pile,
    Source,
    Step,
    check_form,
    check_list,
    check_order,
    padded,
)
from siberia_env.common.render import counted
from siberia_env.errors import ConfigurationError
from siberia_env.game import States, Variant

_SLOT_NAMES = tuple(str(slot) for slot in range(ROW_SLOTS))


def read_components(tables: Any) -> Components:
    """Read the component tables of a record's header; a small variant may have fewer cards than the box.

    Raises:
        ConfigurationError: something is wrong; the message names its path.
    """
    return components_from_json(tables, whole_box=False)


def card_name(ruleset: Ruleset, number: int) -> str:
    """Return the name of resource card `number`, such as `gold 4000`."""
    return f"{RESOURCES[ruleset.card_resource[number]]} {int(ruleset.card_value[number]) * DOLLARS}"


@lru_cache(maxsize=64)
def lowest_alike(variant: Variant) -> tuple[int, ...]:
    """For each resource card, the lowest number among the cards of equal resource and value."""
    ruleset = variant.rulesets[0]
    looks = list(zip(ruleset.card_resource.tolist(), ruleset.card_value.tolist(), strict=True))
    return tuple(map(looks.index, looks))


def make_alike(variant: Variant, states: States) -> None:
    """Number the resource cards that look alike in order, those that lie open first (`Chronicle.make_alike`)."""
    state, lowest = states[0], lowest_alike(variant)
    free: dict[int, list[int]] = {}
    for number in reversed(range(variant.rulesets[0].num_resource_cards)):
        free.setdefault(lowest[number], []).append(number)
    places: list[tuple[Any, int]] = [(state.row, int(slot)) for slot in np.flatnonzero(state.face_up)]
    places += [(state.row, int(slot)) for slot in np.flatnonzero((state.row >= 0) & (state.face_up == 0))]
    places += [(state.resource_stack, depth) for depth in range(state.resource_stack_size)]
    for cards, place in places:
        cards[place] = free[lowest[cards[place]]].pop()


# ---------------------------------------------------------------- from states to lines


def setup_event(variant: Variant, states: States, i: int) -> dict[str, Any]:
    """Return the setup line of the game that has just been dealt in `states[i]`.

    The row starts with slot 0; a small variant may fill fewer than 8 slots. Each hand is in the order in which it
    was dealt.
    """
    ruleset, state = variant.rulesets[0], states[i]
    size = int(state.action_stack_size)
    dealt = size + HAND_AT_START * variant.num_players  # still in the array, above the top of the stack
    kinds = [KINDS[kind] for kind in state.action_stack[size:dealt][::-1]]
    return {
        "event": "setup",
        "row": [card_name(ruleset, number) for number in state.row if number != EMPTY],
        "face_up": int(state.face_up.sum()),
        "hands": [kinds[start : start + HAND_AT_START] for start in range(0, len(kinds), HAND_AT_START)],
    }


def due_events(variant: Variant, states: States, i: int) -> list[dict[str, Any]]:
    """Return the lines that announce the chance outcome due in `states[i]`: the shuffle, if one is due (C14)."""
    state = states[i]
    return [{"event": "shuffle", "cards": int(state.discard_size)}] if state.phase == SHUFFLE else []


def events(variant: Variant, before: States, after: States) -> list[dict[str, Any]]:
    """Return the lines for one step: the setup, or the refill (C12) and the draw (C8, C9).

    `before` and `after` are arrays of one state. Between them lies either an action, up to the next decision,
    chance outcome or the end, or one settled chance outcome; never both.
    """
    ruleset, old, new = variant.rulesets[0], before[0], after[0]
    if old.phase == SETUP:
        return [setup_event(variant, after, 0)]
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
    if drawn > 0:  # still in the array, above the top of the stack
        cards = [KINDS[kind] for kind in new.action_stack[size : size + drawn][::-1]]
        found.append({"event": "draw", "player": player, "cards": cards})
    return found


def remark(variant: Variant, before: States, after: States, action: int) -> str:
    """Tell a reader what `action` brought: the card turned up, or the action paid for. Empty if nothing."""
    ruleset, old, new = variant.rulesets[0], before[0], after[0]
    if REVEAL <= action < KEEP_HIDDEN:
        return _as_told(card_name(ruleset, old.row[action - REVEAL]))
    if old.phase != PAYING or new.chosen != NOTHING:
        return ""
    chosen = int(old.chosen) + CARD_ACTIONS
    if chosen >= HIRE_WORKER:
        return variant.action_names[chosen]
    taken = [
        _as_told(card_name(ruleset, old.row[slot]))
        for slot in range(ROW_SLOTS)
        if old.face_up[slot] and new.row[slot] != old.row[slot]
    ]
    return f"{variant.action_names[chosen]} brings {', '.join(taken) or 'nothing'}"


def sources(variant: Variant, steps: Sequence[Step]) -> list[Source]:
    """Tell where everybody's points came from (C16): what was mined and hired, and what salesmen add to it."""
    ruleset, state, players = variant.rulesets[0], steps[-1][2][0], range(variant.num_players)
    found = []
    for resource, name in enumerate(RESOURCES):
        mined = [int(state.captured_value[player, resource]) for player in players]
        raised = [
            int(state.captured_best_value[player, resource]) - mined[player]
            if int(state.salesman_owner[resource]) == player
            else 0
            for player in players
        ]
        found += [Source(f"{name} mined", "C11, C16", tuple(mined)), _raised(name, raised)]
    persons = (
        (WORKER, state.workers, "C6, C13"),
        (SALESMAN, state.salesmen, "C13"),
        (INVESTOR, state.investors, "C13"),
    )
    for symbol, hired, numbers in persons:
        name = "salesmen" if symbol == SALESMAN else f"{SYMBOLS[symbol]}s"
        worth = [int(hired[player]) * PERSON_VALUE for player in players]
        more = int(ruleset.salesman_value[symbol]) - PERSON_VALUE
        raised = [int(hired[player]) * more * int(state.salesman_owner[symbol] == player) for player in players]
        found += [Source(f"{name} hired", numbers, tuple(worth)), _raised(name, raised)]
    return found


def _raised(what: str, points: Sequence[int]) -> Source:
    return Source(f"{what}, salesman adds", "C16", tuple(points))


# ---------------------------------------------------------------- from lines to outcomes


def open_box(variant: Variant, states: States, i: int, generator: Any) -> None:
    """Put everything in `states[i]` back into the box, with `generator` as its generator; the setup is due next."""
    rules.open_box(variant.rulesets[0], states[i])
    states[i].generator = generator


def check_event(variant: Variant, event: Line) -> None:
    """Check the form of a chance line, from its keys to the names of its cards, but not whether it fits the game.

    Raises:
        ConfigurationError: the form is wrong; the message says what was expected.
    """
    check_form(_EVENTS, variant, event)


def outcome(variant: Variant, states: States, i: int, lines: Sequence[tuple[int, Line]]) -> NDArray[Any]:
    """Return the chance outcome due in `states[i]` in the form that `force` takes: int8 [outcome_size].

    `lines` are the numbered lines of the record from the setup line on, or from the first one after the shuffle
    line. Their form has been checked. Cards that the lines never show lie below those that they show.

    Raises:
        RecordError: the lines show cards that the stack can't hold.
    """
    ruleset, state = variant.rulesets[0], states[i]
    setup = state.phase == SETUP
    due = [kind for kind, count in enumerate(_cards_due(ruleset, state)) for _ in range(count)]
    stack = Pile("action cards" if setup else "shuffled cards", due, KINDS.__getitem__)
    order = []
    for number, line in takewhile(lambda numbered: numbered[1].get("event") != "shuffle", lines):
        shown = [card for hand in line.get("hands", ()) for card in hand] or line.get("cards", ())
        order += [stack.take(card, number) for card in shown]
    order += stack.rest()
    if setup:
        cards = range(ruleset.num_resource_cards)
        box = Pile("resource cards", cards, lambda card: card_name(ruleset, card))
        for number, line in lines:
            slots = line.get("slots", {})
            shown = (*line.get("row", ()), *(slots[slot] for slot in sorted(slots)))
            order += [box.take(card, number) for card in shown]
        order += box.rest()
    return padded(variant, order)


def check_outcome(variant: Variant, states: States, i: int, given: Any) -> NDArray[Any]:
    """Check that `given` orders the cards due in `states[i]`, and return it for `force`: int8 [outcome_size].

    `given` holds the kinds of the action cards from the top card down. For the setup, the numbers of the resource
    cards follow, also from the top down. Further entries, up to `outcome_size`, are ignored.

    Raises:
        ConfigurationError: no outcome is due, or `given` does not order exactly the cards that are due.
    """
    ruleset, state = variant.rulesets[0], states[i]
    if state.phase not in (SETUP, SHUFFLE):
        raise ConfigurationError("force: no chance outcome is due")
    due = _cards_due(ruleset, state)
    actions = sum(due)
    resources = int(ruleset.num_resource_cards) if state.phase == SETUP else 0
    wanted = f"{actions} kinds of action cards" + (f", then {resources} resource card numbers" if resources else "")
    order = check_order(variant, given, actions + resources, wanted)
    kinds, numbers = order[:actions], order[actions:]
    for kind, count in enumerate(due):
        if (found := kinds.count(kind)) != count:
            raise ConfigurationError(f"force: expected {wanted}, of which {count} are {KINDS[kind]}; got {found}")
    if sorted(numbers) != list(range(resources)):
        raise ConfigurationError(f"force: expected {wanted}; got the numbers {numbers}")
    return padded(variant, order)


def _cards_due(ruleset: Ruleset, state: State) -> list[int]:
    """Count the action cards of each kind that the due shuffle mixes."""
    return [int(count) for count in (ruleset.action_cards if state.phase == SETUP else state.discard)]


# ---------------------------------------------------------------- the form of a line


def _check_cards(value: Any, path: str, low: int, high: int) -> None:
    for index, card in enumerate(check_list(value, path, low, high, "action cards")):
        if card not in KINDS:
            raise ConfigurationError(f"{path}[{index}]: no action card {card!r}; one is written {KINDS[0]!r}")


def _check_resource_card(variant: Variant, value: Any, path: str) -> None:
    ruleset = variant.rulesets[0]
    if value not in (names := [card_name(ruleset, card) for card in range(ruleset.num_resource_cards)]):
        raise ConfigurationError(f"{path}: no resource card {value!r} in the components; one is written {names[0]!r}")


def _check_setup(variant: Variant, event: Line) -> None:
    slots, seats = min(ROW_SLOTS, int(variant.rulesets[0].num_resource_cards)), variant.num_players
    for slot, card in enumerate(check_list(event["row"], "setup.row", slots, slots, "resource cards")):
        _check_resource_card(variant, card, f"setup.row[{slot}]")
    check_integer(event["face_up"], "setup.face_up", FACE_UP_AT_START, FACE_UP_AT_START)
    for player, hand in enumerate(check_list(event["hands"], "setup.hands", seats, seats, "hands")):
        _check_cards(hand, f"setup.hands[{player}]", HAND_AT_START, HAND_AT_START)


def _check_draw(variant: Variant, event: Line) -> None:
    check_integer(event["player"], "draw.player", 0, variant.num_players - 1)
    _check_cards(event["cards"], "draw.cards", 1, MOST_DRAWN)


def _check_shuffle(variant: Variant, event: Line) -> None:
    check_integer(event["cards"], "shuffle.cards", 1, ACTION_CARDS)


def _check_refill(variant: Variant, event: Line) -> None:
    slots = event["slots"]
    if not isinstance(slots, dict) or not slots or not set(slots) <= set(_SLOT_NAMES):
        raise ConfigurationError(
            f"refill.slots: expected an object with keys of {', '.join(_SLOT_NAMES)}; got {slots!r}"
        )
    for slot, card in slots.items():
        _check_resource_card(variant, card, f"refill.slots.{slot}")


_EVENTS: EventTable = {
    "setup": (("row", "face_up", "hands"), _check_setup),
    "draw": (("player", "cards"), _check_draw),
    "shuffle": (("cards",), _check_shuffle),
    "refill": (("slots",), _check_refill),
}


# ---------------------------------------------------------------- for a reader


def outline(event: Line) -> str:
    """Describe the line that the rules require, without the cards, which only the record knows."""
    if event["event"] == "draw":
        return f"a draw line of player {event['player']} with {len(event['cards'])} card(s)"
    if event["event"] == "shuffle":
        return f"a shuffle line of {event['cards']} cards"
    if event["event"] == "refill":
        return f"a refill line of the slots {', '.join(event['slots'])}"
    return "the setup line"


def told_to(seat: int, event: Line) -> list[str]:
    """What the player on `seat` is told of an event: its own cards, how many the others get, and the shuffle."""
    if event["event"] == "draw" and event["player"] != seat:
        return [f"player {event['player']} draws {counted(len(event['cards']), 'card')}"]
    return describe_event(event) if event["event"] in ("draw", "shuffle") else []


def describe_event(event: Line) -> list[str]:
    """Describe the event to a reader, in one or more lines."""
    if event["event"] == "draw":
        return [f"player {event['player']} draws {', '.join(event['cards'])}"]
    if event["event"] == "shuffle":
        return [f"the discard pile is shuffled into a new stack of {event['cards']}"]
    if event["event"] == "refill":
        return ["refilled: " + ", ".join(f"slot {slot} {_as_told(card)}" for slot, card in event["slots"].items())]
    cards = map(_as_told, event["row"])
    row = [card if slot < event["face_up"] else f"({card})" for slot, card in enumerate(cards)]
    hands = [f"hand of player {player}: {', '.join(hand)}" for player, hand in enumerate(event["hands"])]
    return ["row (face down in brackets): " + ", ".join(row), *hands]


def _as_told(card: str) -> str:
    """The resource card `gold 4000` of a record, as a reader sees it: `gold $4000`."""
    resource, _, value = card.partition(" ")
    return f"{resource} ${value}"
