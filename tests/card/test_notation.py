"""The card game's chance outcomes: named, turned back into orders of cards, forced."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_env.card import notation
from siberia_env.card.components import KINDS, Components
from siberia_env.card.state import DISCOVER, SETUP, SHUFFLE
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.errors import ConfigurationError, RecordError
from siberia_env.game import Variant, find_game
from siberia_env.records import replay
from tests.records import (
    Damage,
    Lines,
    as_text,
    at_setup,
    change_event,
    check_damage,
    event_line,
    fresh_lines,
    golden_lines,
    golden_record,
    ill_formed,
    insert,
    random_record,
    read_text,
    refused,
    remove,
    steps,
)
from tests.table import PLAYER_COUNTS

CARD = find_game("card")
SHUFFLE_IN_A_DRAW = 17  # with this seed a stack runs out in the middle of a draw, for 2, 3 and 4 players


def at_shuffle(variant: Variant, seed: int = 0) -> Any:
    """A game in which a shuffle is due."""
    return next(after for _, _, after in steps(variant, seed) if after[0].phase == SHUFFLE)


def any_order(variant: Variant, states: Any, seed: int) -> list[int]:
    """A random order of the cards that are due."""
    generator, state, ruleset = np.random.default_rng(seed), states[0], variant.rulesets[0]
    counts = ruleset.action_cards if state.phase == SETUP else state.discard
    order = generator.permutation(np.repeat(np.arange(len(KINDS)), counts)).tolist()
    if state.phase == SETUP:
        order += generator.permutation(int(ruleset.num_resource_cards)).tolist()
    return order


# ---------------------------------------------------------------- forcing


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C6_a_forced_setup_deals_from_the_top_down(players: int) -> None:
    variant = CARD.variant(players)
    states = at_setup(variant)
    assert states[0].phase == SETUP
    order = any_order(variant, states, players)
    generator = int(states[0].generator)
    variant.force(states, 0, order)
    state = states[0]
    assert state.phase == DISCOVER
    assert state.row.tolist() == order[60:68]
    assert state.resource_stack[: state.resource_stack_size][::-1].tolist() == order[68:]
    for player in range(players):
        dealt = order[5 * player : 5 * player + 5]
        assert Counter(np.repeat(np.arange(len(KINDS)), state.hand[player]).tolist()) == Counter(dealt)
        assert notation.setup_event(variant, states, 0)["hands"][player] == [KINDS[kind] for kind in dealt]
    assert state.action_stack[: state.action_stack_size][::-1].tolist() == order[5 * players : 60]
    assert int(state.generator) == generator


@pytest.mark.parametrize("edition", ["dlp", "digital"])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C14_a_forced_shuffle_is_drawn_from_the_top_down(players: int, edition: str) -> None:
    variant = CARD.variant(players, edition)
    states = at_shuffle(variant)
    before = states.copy()
    order = any_order(variant, states, 5)
    player, waiting = int(before[0].player), int(before[0].draws_left)
    variant.force(states, 0, np.array(order, np.int16))
    state = states[0]
    drawn = state.hand[player] - before[0].hand[player]
    assert Counter(np.repeat(np.arange(len(KINDS)), drawn).tolist()) == Counter(order[:waiting])
    assert state.action_stack[: state.action_stack_size][::-1].tolist() == order[waiting:]
    assert state.discard_size == state.discard.sum() == 0
    assert int(state.generator) == int(before[0].generator)
    assert waiting > 0 or edition == "dlp"
    draw = {"event": "draw", "player": player, "cards": [KINDS[kind] for kind in order[:waiting]]}
    assert notation.events(variant, before, states) == ([draw] if waiting else [])


def test_entries_behind_the_cards_do_not_count() -> None:
    variant = CARD.variant(2)
    states = at_shuffle(variant)
    other = states.copy()
    order = any_order(variant, states, 1)
    variant.force(states, 0, order)
    variant.force(other, 0, order + [99] * (CARD.outcome_size - len(order)))
    assert states.tobytes() == other.tobytes()


def test_one_game_of_many_is_forced() -> None:
    variant = CARD.variant(2)
    states = variant.new_states(3)
    states[:] = at_setup(variant)[0]
    kept = states[0].tobytes()
    variant.force(states, 1, any_order(variant, states, 1))
    assert states[0].tobytes() == states[2].tobytes() == kept
    assert states[1].phase == DISCOVER


def impossible_orders(order: list[int], resources: int) -> Iterator[tuple[str, Any]]:
    first, other = order[0], next(kind for kind in order if kind != order[0])
    actions = len(order) - resources
    yield "a card too many of a kind", [other, *order[1:]]
    yield "no kind", [len(KINDS), *order[1:]]
    yield "below the kinds", [-1, *order[1:]]
    yield "wraps to a kind", [first + 256, *order[1:]]
    yield from ill_formed(CARD.variant(3), order)
    if resources:
        yield "a resource card twice", [*order[:-1], order[actions]]
        yield "no resource card", [*order[:-1], resources]
        yield "resources first", order[actions:] + order[:actions]


@pytest.mark.parametrize("due", ["setup", "shuffle"])
def test_an_impossible_outcome_is_refused_and_nothing_happens(due: str) -> None:
    variant = CARD.variant(3)
    states = at_setup(variant) if due == "setup" else at_shuffle(variant)
    resources = 36 if due == "setup" else 0
    before = states.tobytes()
    for what, order in impossible_orders(any_order(variant, states, 3), resources):
        with pytest.raises(ConfigurationError, match=r"^force: expected \d+ kinds of action cards"):
            variant.force(states, 0, order)
        assert states.tobytes() == before, what


def test_without_a_chance_outcome_due_nothing_is_forced() -> None:
    variant = CARD.variant(2)
    states = at_setup(variant)
    order = any_order(variant, states, 1)
    variant.force(states, 0, order)
    before = states.tobytes()
    with pytest.raises(ConfigurationError, match="force: no chance outcome is due"):
        variant.force(states, 0, order)
    assert states.tobytes() == before


# ---------------------------------------------------------------- from states to lines


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_events_tell_all_that_moved_by_chance(players: int) -> None:
    """Every card that leaves a stack stands in a line, in order; the rest is told by none."""
    variant = CARD.variant(players)
    ruleset = variant.rulesets[0]
    kinds_of_events = set()
    for before, _, after in steps(variant, 20 + players):
        old, new = before[0], after[0]
        events = notation.events(variant, before, after)
        kinds_of_events |= {event["event"] for event in events}
        drawn = old.action_stack[new.action_stack_size : old.action_stack_size][::-1]
        laid = old.resource_stack[new.resource_stack_size : old.resource_stack_size][::-1]
        told = [card for event in events for card in event.get("cards", ())]
        slots = [card for event in events for card in event.get("slots", {}).values()]
        assert told == [KINDS[kind] for kind in drawn]
        assert slots == [notation.card_name(ruleset, number) for number in laid]
        assert [event["event"] for event in events] in ([], ["draw"], ["refill"], ["refill", "draw"])
        for event in events:
            notation.check_event(variant, event)
        due = notation.due_events(variant, after, 0)
        assert due == ([{"event": "shuffle", "cards": new.discard.sum()}] if new.phase == SHUFFLE else [])
    assert kinds_of_events == {"draw", "refill"}


def test_C12_a_refill_line_names_each_slot_in_order() -> None:
    variant = CARD.variant(2)
    found = 0
    for seed in range(6):
        for before, _, after in steps(variant, seed):
            for event in notation.events(variant, before, after):
                if event["event"] == "refill" and len(event["slots"]) > 1:
                    slots = [int(slot) for slot in event["slots"]]
                    assert slots == sorted(slots)
                    assert all(before[0].face_up[slot] and not after[0].face_up[slot] for slot in slots)
                    found += 1
    assert found > 0


def test_a_setup_line_shows_the_row_and_the_hands() -> None:
    variant = CARD.variant(4)
    states = variant.new_states()
    engine.deal_at(variant.rulesets, states, 0, np.uint64(7), 0, 0)
    event = notation.setup_event(variant, states, 0)
    notation.check_event(variant, event)
    state = states[0]
    assert event["row"] == [notation.card_name(variant.rulesets[0], number) for number in state.row]
    assert event["face_up"] == 3
    for player, hand in enumerate(event["hands"]):
        assert Counter(hand) == Counter({KINDS[kind]: int(count) for kind, count in enumerate(state.hand[player])})


def test_a_small_variant_has_a_short_row() -> None:
    few = {"gas": (1, 1), "charcoal": (), "oil": (2,), "gold": (), "diamond": (9, 9)}
    variant = CARD.variant(2, None, Components(resource_cards=few))
    states = variant.new_states()
    engine.deal_at(variant.rulesets, states, 0, np.uint64(7), 0, 0)
    event = notation.setup_event(variant, states, 0)
    notation.check_event(variant, event)
    assert sorted(event["row"]) == ["diamond 9000", "diamond 9000", "gas 1000", "gas 1000", "oil 2000"]


# ---------------------------------------------------------------- from lines to orders


def setup_line(players: int) -> dict[str, Any]:
    hands = [["gas/worker", "gold/investor", "oil/salesman", "gas/worker", "diamond/worker"]] * players
    row = ["gold 4000", "gas 1000", "gold 4000", "gas 1000", "gas 1000", "diamond 7000", "oil 2000", "gas 2000"]
    return {"event": "setup", "row": row, "face_up": 3, "hands": hands}


def test_an_outcome_has_what_is_shown_on_top_and_the_lowest_free_numbers() -> None:
    variant = CARD.variant(2)
    states = at_setup(variant)
    lines = [
        setup_line(2),
        {"event": "draw", "player": 0, "cards": ["diamond/investor", "gas/salesman"]},
        {"player": 1, "action": "draw 1", "legal": []},
        {"event": "refill", "slots": {"7": "gas 3000", "2": "gold 5000"}},
        {"event": "draw", "player": 1, "cards": ["gas/salesman"]},
        {"event": "shuffle", "cards": 7},
        {"event": "draw", "player": 1, "cards": ["oil/worker"]},
        {"event": "refill", "slots": {"0": "gas 2000"}},
    ]
    order = notation.outcome(variant, states, 0, list(enumerate(lines, start=2))).tolist()
    shown = [*lines[0]["hands"][0], *lines[0]["hands"][1], "diamond/investor", "gas/salesman", "gas/salesman"]
    assert [KINDS[kind] for kind in order[:13]] == shown
    assert order[13:60] == sorted(order[13:60])
    # By number: 0 to 9 gas, 10 to 17 charcoal, 18 to 24 oil, 25 to 30 gold, 31 to 35 diamond, each by value.
    assert order[60:71] == [26, 0, 27, 1, 2, 35, 18, 3, 28, 7, 4]
    assert order[71:] == sorted(order[71:])
    variant.force(states, 0, order)
    assert notation.setup_event(variant, states, 0) == lines[0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"event": "draw", "player": 0, "cards": ["gas/worker"]}, "one gas/worker too many; of the action cards 4"),
        ({"event": "refill", "slots": {"0": "gas 1000"}}, "one gas 1000 too many; of the resource cards 3 are"),
    ],
)
def test_an_outcome_of_more_cards_than_there_are_is_refused(line: dict[str, Any], reason: str) -> None:
    variant = CARD.variant(2)
    states = at_setup(variant)
    before = states.tobytes()
    with pytest.raises(RecordError, match=f"^line 9: {reason}"):
        notation.outcome(variant, states, 0, [(2, setup_line(2)), (9, line)])
    assert states.tobytes() == before


def test_C14_only_shuffled_cards_come_out_of_a_shuffle() -> None:
    variant = CARD.variant(2)
    states = at_shuffle(variant)
    discard = states[0].discard
    kind = int(np.argmin(discard))
    draw = {"event": "draw", "player": 0, "cards": [KINDS[kind]]}
    for draws in range(int(discard[kind]) + 1):
        order = notation.outcome(variant, states, 0, [(number, draw) for number in range(draws)])
        assert order[:draws].tolist() == [kind] * draws
        assert Counter(order[: discard.sum()].tolist()) == Counter(np.repeat(np.arange(len(KINDS)), discard).tolist())
    with pytest.raises(RecordError, match=f"^line 5: one {KINDS[kind]} too many; of the shuffled cards {draws} are"):
        notation.outcome(variant, states, 0, [(1, draw)] * draws + [(5, draw)])


def test_every_form_of_event_is_told_and_outlined() -> None:
    events: list[dict[str, Any]] = [
        setup_line(2),
        {"event": "draw", "player": 1, "cards": ["gas/worker"]},
        {"event": "shuffle", "cards": 7},
        {"event": "refill", "slots": {"0": "gas 1000"}},
    ]
    for event in events:
        assert all(notation.describe_event(event))
        assert event["event"] in notation.outline(event)


# ---------------------------------------------------------------- whole records


def test_a_shuffle_in_a_draw_stands_between_two_draw_lines() -> None:
    for players in PLAYER_COUNTS:
        record = random_record(CARD.variant(players), SHUFFLE_IN_A_DRAW)
        events = [line.get("event") for line in record.lines]
        found = [at for at in range(len(events)) if events[at : at + 3] == ["draw", "shuffle", "draw"]]
        assert found
        first, _, second = record.lines[found[0] : found[0] + 3]
        assert first["player"] == second["player"]
        assert len(first["cards"]) == len(second["cards"]) == 1


def test_nothing_is_written_for_no_card_and_no_slot() -> None:
    record = random_record(CARD.variant(4), 1)
    decisions = [at for at, line in enumerate(record.lines) if line.get("action") == "draw 0"]
    assert decisions
    assert all("event" not in record.lines[at + 1] for at in decisions if at + 1 < len(record.lines) - 1)
    assert all(line.get("cards", True) and line.get("slots", True) for line in record.lines)


def test_the_recorded_outcome_counts_and_not_the_seed(tmp_path: Path) -> None:
    record = golden_record("card")
    lines = json.loads(json.dumps(record.lines))
    hands = lines[1]["hands"]
    lines[1]["hands"] = [hand[::-1] for hand in hands]
    (again,) = read_text(tmp_path, as_text(lines))
    assert again.lines[1]["hands"] == [hand[::-1] for hand in record.lines[1]["hands"]]
    for own, other in zip(replay(record), replay(again), strict=True):
        assert own.legal == other.legal


def test_components_with_too_few_cards_are_refused(tmp_path: Path) -> None:
    lines = golden_lines("card")
    lines[0]["components"]["resource_cards"] = {name: [1] if name == "gas" else [] for name in RESOURCES}
    assert "resource_cards: 1 cards in all" in refused(tmp_path, as_text(lines), 1)


def fifth_card(lines: Lines) -> int:
    """Show more cards of one kind than there are, later than the setup."""
    left = Counter(lines[0]["components"]["action_cards"])
    draws = [at for at, line in enumerate(lines) if line.get("event") == "draw"]
    for hand in lines[1]["hands"]:
        left.subtract(hand)
    for at in draws:
        for index in range(len(lines[at]["cards"])):
            lines[at]["cards"][index] = "oil/worker"
            left["oil/worker"] -= 1
            if left["oil/worker"] < 0:
                return at
    raise AssertionError("too few draws")


DAMAGE: dict[str, tuple[Damage, str]] = {
    "row too short": (change_event("setup", "row", lambda row: row[1:]), "setup.row: expected a list of 8"),
    "row with an unknown card": (change_event("setup", "row", lambda row: ["gas 9000", *row[1:]]), "'gas 9000'"),
    "row with an impossible card": (change_event("setup", "row", ["diamond 7000"] * 8), "one diamond 7000 too many"),
    "face up": (change_event("setup", "face_up", 4), "setup.face_up"),
    "one hand less": (change_event("setup", "hands", lambda hands: hands[1:]), "setup.hands: expected a list of 3"),
    "hand too small": (change_event("setup", "hands", lambda hands: [hands[0][1:], *hands[1:]]), "setup.hands[0]"),
    "impossible hand": (change_event("setup", "hands", [["oil/worker"] * 5] * 3), "one oil/worker too many"),
    "no card": (change_event("draw", "cards", []), "draw.cards: expected a list of 1 to 2"),
    "three cards": (change_event("draw", "cards", ["gas/worker"] * 3), "draw.cards: expected a list of 1 to 2"),
    "unknown card": (change_event("draw", "cards", ["tin/worker"]), "no action card 'tin/worker'"),
    "card's type": (change_event("draw", "cards", [["gas", "worker"]]), "no action card"),
    "a fifth card of a kind": (fifth_card, "one oil/worker too many; of the action cards 4 are oil/worker"),
    "refill left out": (remove(lambda lines: event_line(lines, "refill")), "expected a refill line of the slots"),
    "unknown slot": (change_event("refill", "slots", {"8": "gas 1000"}), "refill.slots"),
    "no slot": (change_event("refill", "slots", {}), "refill.slots"),
    "wrong slots": (
        change_event("refill", "slots", lambda slots: {**slots, "7": "gas 1000", "6": "gas 1000"}),
        "expected a refill line of the slots",
    ),
    "refilled with an unknown card": (
        change_event("refill", "slots", lambda slots: dict.fromkeys(slots, "gas")),
        "no resource card 'gas'",
    ),
    "draw too many": (
        insert({"event": "draw", "player": 0, "cards": ["gas/worker"]}, lambda lines: event_line(lines, "draw")),
        "expected a decision of player",
    ),
    "shuffle too many": (
        insert({"event": "shuffle", "cards": 9}, lambda lines: event_line(lines, "draw")),
        "expected a decision of player",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_chance_line_is_refused_with_its_line_number(damage: str, tmp_path: Path) -> None:
    check_damage(tmp_path, "card", *DAMAGE[damage])


def test_a_shuffle_that_can_not_be_is_refused(tmp_path: Path) -> None:
    record = random_record(CARD.variant(2), SHUFFLE_IN_A_DRAW)
    lines = fresh_lines(record)
    at = event_line(lines, "shuffle")
    lines[at]["cards"] += 1
    assert f"a shuffle line of {lines[at]['cards'] - 1} cards" in refused(tmp_path, as_text(lines), at + 1)
    lines = fresh_lines(record)
    del lines[at]  # so more cards of some kind are drawn than there are
    dealt = Counter(card for hand in lines[1]["hands"] for card in hand)
    number = 2
    while max(dealt.values()) <= 4:
        dealt.update(lines[number]["cards"] if lines[number].get("event") == "draw" else ())
        number += 1
    assert number > at
    assert "too many" in refused(tmp_path, as_text(lines), number)


def test_a_card_that_was_not_shuffled_in_is_refused(tmp_path: Path) -> None:
    lines = fresh_lines(random_record(CARD.variant(2), SHUFFLE_IN_A_DRAW))
    start = event_line(lines, "shuffle")
    draws = [at for at in range(start, len(lines)) if lines[at].get("event") == "draw"]
    paid = Counter(line["action"].removeprefix("pay ") for line in lines[:start] if "pay " in line.get("action", ""))
    kind, count = min(paid.items(), key=lambda item: item[1])
    left = count
    for at in draws:
        lines[at]["cards"] = [kind] * len(lines[at]["cards"])
        left -= len(lines[at]["cards"])
        if left < 0:
            break
    assert f"one {kind} too many; of the shuffled cards {count} are" in refused(tmp_path, as_text(lines), at + 1)
