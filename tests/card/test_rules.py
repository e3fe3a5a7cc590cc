"""The rules of the card game, one test or more for each number from C1 to C19, edition by edition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from siberia_env.card.actions import ACTION_NAMES
from siberia_env.card.components import (
    DEFAULT_RESOURCE_CARDS,
    DEFAULT_SALESMEN,
    KINDS,
    PERSONS,
    RESOURCES,
    SYMBOLS,
    TABLES,
    Components,
)
from siberia_env.card.game import GAME
from siberia_env.card.rules import can_go_on, fewest_cards, open_box
from siberia_env.card.state import CHOOSE, DISCOVER, EMPTY, NOBODY, NOT_PAYING, NOTHING, OVER, PAYING, SETUP
from siberia_env.core.rng import advance, derive, scramble
from siberia_env.errors import ConfigurationError
from siberia_env.game import block_slices, is_secret, revealed_hash
from tests.card.helpers import (
    ALL_EDITIONS,
    Table,
    check_everything,
    deal_out,
    lay_out,
    payment,
    recount,
    take_turns,
)
from tests.card.slow_observation import payments
from tests.table import PLAYER_COUNTS, check_mask

UP3_DOWN5 = (
    "gas 1000",
    "gold 3000",
    "oil 2000",
    "(gas 2000)",
    "(charcoal 1000)",
    "(oil 3000)",
    "(diamond 4000)",
    "(gold 4000)",
)
ALL_UP = tuple(name.strip("()") for name in UP3_DOWN5)
DRAWS = ("draw 0", "draw 1", "draw 2")
GOLD = ("gold/worker", "gold/salesman")
EIGHT = (
    "gas/worker",
    "gas/salesman",
    "charcoal/worker",
    "charcoal/salesman",
    "oil/worker",
    "oil/salesman",
    "gold/worker",
    "gold/salesman",
)


def legal_draws(table: Table) -> list[str]:
    return [name for name in table.legal() if name in DRAWS]


def legal_actions(table: Table) -> list[str]:
    return [name for name in table.legal() if name.startswith(("mine", "hire"))]


# ---------------------------------------------------------------- components


def test_C01_resources_and_persons_stand_in_the_order_of_the_rulebook() -> None:
    assert RESOURCES == ("gas", "charcoal", "oil", "gold", "diamond")
    assert PERSONS == ("worker", "salesman", "investor")
    assert SYMBOLS == RESOURCES + PERSONS
    assert KINDS[0] == "gas/worker"
    assert KINDS[-1] == "diamond/investor"


def test_C01_money_is_kept_in_thousands() -> None:
    table = lay_out(hands={0: payment("mine diamond")}, row=["diamond 7000"])
    assert take_turns(table, 0, "mine diamond").scores() == [7 + 1, 1]


def test_C02_sixty_action_cards_each_pair_four_times() -> None:
    cards = Components().action_cards
    assert set(cards) == {f"{resource}/{person}" for resource in RESOURCES for person in PERSONS}
    assert set(cards.values()) == {4}
    assert Components().num_action_cards == 60


def test_C02_all_sixty_are_dealt_out() -> None:
    table = Table.deal(3, seed=5)
    stack = [KINDS[kind] for kind in table.state.action_stack[: table.state.action_stack_size]]
    hands = [name for player in range(3) for name in table.hand(player)]
    assert Counter(stack + hands) == dict.fromkeys(KINDS, 4)


def test_C03_thirty_six_resource_cards_within_the_published_ranges() -> None:
    cards = Components().resource_cards
    assert {resource: len(values) for resource, values in cards.items()} == {
        "gas": 10,
        "charcoal": 8,
        "oil": 7,
        "gold": 6,
        "diamond": 5,
    }
    assert {resource: (min(values), max(values)) for resource, values in cards.items()} == {
        "gas": (1, 3),
        "charcoal": (1, 5),
        "oil": (2, 6),
        "gold": (3, 6),
        "diamond": (4, 7),
    }
    assert {resource: sum(values) for resource, values in cards.items()} == {
        "gas": 20,
        "charcoal": 24,
        "oil": 28,
        "gold": 27,
        "diamond": 27,
    }
    assert cards == DEFAULT_RESOURCE_CARDS


def test_C04_persons_and_what_salesmen_make_of_them() -> None:
    assert Components().workers == 10
    assert DEFAULT_SALESMEN == {
        "gas": 4,
        "charcoal": 5,
        "oil": 6,
        "gold": 7,
        "diamond": 8,
        "worker": 2,
        "salesman": 3,
        "investor": 4,
    }
    names = [name for name in ACTION_NAMES if name.startswith("hire")]
    assert names == [
        "hire worker",
        *(f"hire salesman {symbol}" for symbol in SYMBOLS),
        *(f"hire investor {resource}" for resource in RESOURCES),
    ]


def test_C05_every_table_names_its_source() -> None:
    assert {table.name for table in TABLES} == set(Components().as_json())
    assert {table.source for table in TABLES} <= {"rulebook", "review", "assumed"}
    assumed = {table.name for table in TABLES if table.source == "assumed"}
    assert assumed == {"action_cards", "resource_cards"}


# ---------------------------------------------------------------- setup


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C06_setup(players: int, edition: str) -> None:
    table = Table.deal(players, edition, seed=11)
    state = table.state
    assert [name.startswith("(") for name in table.row()] == [False] * 3 + [True] * 5
    assert "empty" not in table.row()
    assert state.resource_stack_size == 36 - 8
    assert state.action_stack_size == 60 - 5 * players
    assert state.workers.tolist() == [1] * players + [0] * (4 - players)
    assert state.workers_left == 10 - players
    assert [len(table.hand(player)) for player in range(4)] == [5] * players + [0] * (4 - players)
    assert table.player == 0
    assert table.legal() == [f"reveal {slot}" for slot in range(3, 8)]
    check_everything(table)


@pytest.mark.parametrize("seed", range(3))
def test_C06_before_the_setup_everything_lies_in_the_box_and_nothing_else_is_known(seed: int) -> None:
    table = Table(GAME.variant(3))
    table.states.view(np.uint8)[:] = np.random.default_rng(seed).integers(0, 256, table.states.nbytes, np.uint8)
    not_zero = {
        "generator": int(table.state.generator),
        **dict.fromkeys(("salesman_owner", "investor_owner"), NOBODY),
        "workers_left": 10,
        "row": EMPTY,
        "chosen": NOTHING,
        "payment": NOT_PAYING,
        "phase": SETUP,
    }
    open_box(table.variant.rulesets[0], table.state)
    for name in table.state.dtype.names:
        assert np.all(table.state[name] == not_zero.get(name, 0)), name


def slow_shuffle(cards: list[int], generator: int) -> int:
    """Fisher and Yates in words, from the last card on; returns the generator after that."""
    for last in range(len(cards) - 1, 0, -1):
        generator = int(advance(np.uint64(generator)))
        other = (int(scramble(np.uint64(generator))) >> 32) * (last + 1) >> 32
        cards[last], cards[other] = cards[other], cards[last]
    return generator


@pytest.mark.parametrize("seed", range(4))
def test_C06_both_stacks_are_shuffled_and_dealt_from_the_top(seed: int) -> None:
    """In words: the cards in their order, shuffled with the seed's generator; five for each player, then the row."""
    table = Table.deal(3, seed=seed)
    actions, resources = [kind for kind in range(15) for _ in range(4)], list(range(36))
    generator = slow_shuffle(actions, int(derive(np.uint64(seed), 0, 0)))
    generator = slow_shuffle(resources, generator)
    for player in range(3):
        assert table.hand(player) == [KINDS[kind] for kind in sorted(actions.pop() for _ in range(5))]
    assert table.state.row.tolist() == [resources.pop() for _ in range(8)]
    assert table.state.action_stack[:45].tolist() == actions
    assert table.state.resource_stack[:28].tolist() == resources
    assert int(table.state.generator) == generator


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C06_the_next_player_is_the_next_seat(players: int) -> None:
    table = Table.deal(players)
    order = []
    for turn in range(9):
        order.append(table.player)
        table.play(f"reveal {3 + turn}" if turn < 3 else "keep hidden", "draw 0")
    assert order == [turn % players for turn in range(9)]


@pytest.mark.parametrize("players", [0, 1, 5, -2, 2.0, "2", None, True])
def test_C06_two_to_four_players(players: Any) -> None:
    with pytest.raises(ConfigurationError, match="num_players"):
        GAME.variant(players)


# ---------------------------------------------------------------- a turn


def test_C07_with_three_face_down_any_of_them_must_be_revealed() -> None:
    row = ["gas 1000", "(gold 3000)", "oil 2000", "gas 2000", "(oil 3000)", "gas 3000", "diamond 4000", "(gold 4000)"]
    for slot in (1, 4, 7):
        table = lay_out(row=row, discovering=True)
        assert table.legal() == ["reveal 1", "reveal 4", "reveal 7"]
        table.play(f"reveal {slot}")
        assert [name.strip("()") for name in table.row()] == [name.strip("()") for name in row]
        assert table.row()[slot] == row[slot].strip("()")
        assert sum(name.startswith("(") for name in table.row()) == 2
        assert table.player == 0


@pytest.mark.parametrize("hidden", [1, 2])
def test_C07_with_one_or_two_face_down_revealing_is_free(hidden: int) -> None:
    row = [f"({name})" if slot < hidden else name for slot, name in enumerate(ALL_UP)]
    table = lay_out(row=row, discovering=True)
    assert table.legal() == [*(f"reveal {slot}" for slot in range(hidden)), "keep hidden"]
    kept = table.copy().play("keep hidden")
    assert kept.row() == row
    assert legal_draws(kept) == list(DRAWS)
    assert legal_draws(table.play("reveal 0")) == list(DRAWS)


def test_C07_with_none_face_down_the_step_is_skipped() -> None:
    row = [f"({name})" if slot == 0 else name for slot, name in enumerate(ALL_UP)]
    table = lay_out(row=row, discovering=True).play("reveal 0", "draw 1")
    assert table.player == 1
    assert legal_draws(table) == list(DRAWS)


def test_C07_empty_slots_can_not_be_revealed() -> None:
    table = lay_out(row=["empty", "(gas 1000)", "empty", "gas 2000"], discovering=True)
    assert table.legal() == ["reveal 1", "keep hidden"]


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C08_either_draw_or_one_action_and_one_card(edition: str) -> None:
    start: dict[str, Any] = {
        "hands": {0: [*GOLD, "gas/worker"]},
        "row": UP3_DOWN5,
        "action_stack": ["oil/worker", "oil/salesman"],
    }
    drawing = lay_out(2, edition, **start).play("draw 2")
    assert drawing.hand(0) == ["gas/worker", "oil/worker", "oil/salesman", *GOLD]
    assert drawing.player == 1
    acting = lay_out(2, edition, **start).play("mine gold", *(f"pay {name}" for name in GOLD))
    assert acting.hand(0) == ["gas/worker", "oil/worker"]
    assert acting.player == 1
    assert acting.state.turn == 1


@pytest.mark.parametrize(
    ("edition", "cards", "draws"),
    [
        ("dlp", 5, ["draw 0", "draw 1", "draw 2"]),
        ("dlp", 6, ["draw 0", "draw 1", "draw 2"]),
        ("dlp", 7, ["draw 0", "draw 1"]),
        ("dlp", 8, ["draw 0"]),
        ("oya", 0, ["draw 2"]),
        ("oya", 6, ["draw 2"]),
        ("oya", 7, ["draw 1"]),
        ("oya", 8, []),
        ("digital", 0, ["draw 2"]),
        ("digital", 6, ["draw 2"]),
        ("digital", 7, ["draw 1"]),
        ("digital", 8, ["draw 0"]),
    ],
)
def test_C09_how_many_cards_may_be_drawn_instead(edition: str, cards: int, draws: list[str]) -> None:
    table = lay_out(2, edition, hands={0: EIGHT[:cards]}, row=UP3_DOWN5)
    assert legal_draws(table) == draws
    for name in DRAWS:
        if name in draws:
            after = table.copy().play(name)
            assert after.state.hand_size[0] == cards + int(name[-1])
            assert after.player == 1
        else:
            assert table.refuses(name)


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C09_a_full_hand_can_always_act(edition: str) -> None:
    assert "mine gas" in lay_out(2, edition, hands={0: EIGHT}).legal()


def test_C09_unknown_editions_are_refused() -> None:
    for edition in ("DLP", "", "french", 1, None):
        with pytest.raises(ConfigurationError, match="edition"):
            GAME.variant(2, {"edition": edition})
    assert GAME.variant(2).rules["edition"] == "dlp"
    assert ALL_EDITIONS == ("dlp", "oya", "digital")


# ---------------------------------------------------------------- paying

TWO_SHOWING = ["gold/worker", "gold/salesman"]
ONE_AND_TWO = ["gold/worker", "gas/salesman", "oil/salesman"]
ONE_AND_ONE = ["gold/worker", "gas/salesman"]
FOUR_OTHERS = ["gas/worker", "gas/salesman", "oil/salesman", "oil/investor"]
TWO_OTHERS = ["gas/worker", "oil/salesman"]


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize(
    ("hand", "investor", "payable"),
    [
        (TWO_SHOWING, False, True),
        (ONE_AND_TWO, False, True),
        (ONE_AND_ONE, False, False),
        (["gold/worker"], False, False),
        (FOUR_OTHERS, False, False),
        ([], False, False),
        (["gold/worker"], True, True),
        (TWO_OTHERS, True, True),
        (["gas/worker"], True, False),
        ([], True, False),
    ],
)
def test_C10_which_hands_pay_for_mining(edition: str, hand: list[str], investor: bool, payable: bool) -> None:
    table = lay_out(2, edition, hands={0: hand}, investors={0: ["gold"]} if investor else {}, row=UP3_DOWN5)
    assert ("mine gold" in table.legal()) == payable
    if not payable:
        assert table.refuses("mine gold")


def test_C10_the_other_players_investor_does_not_help() -> None:
    assert lay_out(hands={0: ["gold/worker"]}, investors={1: ["gold"]}, row=UP3_DOWN5).refuses("mine gold")


@pytest.mark.parametrize("person", PERSONS)
def test_C10_investors_help_resource_actions_only(person: str) -> None:
    action = {"worker": "hire worker", "salesman": "hire salesman oil", "investor": "hire investor oil"}[person]
    everything = {0: ["gas", "charcoal", "gold", "diamond"]}
    other = next(name for name in PERSONS if name != person)
    for hand in ([f"gold/{person}"], [f"gas/{other}", f"oil/{other}"], [f"gas/{other}"] * 4):
        assert lay_out(hands={0: hand}, investors=everything).refuses(action)
    for hand in ([f"gold/{person}", f"gas/{person}"], [f"gold/{person}", f"gas/{other}", f"oil/{other}"]):
        assert action in lay_out(hands={0: hand}, investors=everything).legal()


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C10_the_three_card_way_is_open_with_two_showing_cards_too(edition: str) -> None:
    hand = [*TWO_SHOWING, "gas/salesman", "oil/salesman"]
    table = lay_out(2, edition, hands={0: hand}, row=UP3_DOWN5).play("mine gold", "pay gold/worker")
    assert table.legal() == ["pay gas/salesman", "pay oil/salesman", "pay gold/salesman"]
    table.play("pay oil/salesman", "pay gas/salesman")
    assert Counter(table.discard()) == Counter(["gold/worker", "oil/salesman", "gas/salesman"])
    assert table.player == 1


def test_C10_the_second_of_two_replacing_cards_can_not_show_the_symbol() -> None:
    hand = ["gold/worker", "gold/salesman", "gas/salesman", "oil/salesman"]
    table = lay_out(hands={0: hand}, row=UP3_DOWN5).play("mine gold", "pay gold/worker", "pay gas/salesman")
    assert table.legal() == ["pay oil/salesman"]


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C10_one_card_or_two_others_with_the_investor(edition: str) -> None:
    hand = ["gold/worker", "gas/salesman", "oil/salesman"]
    start = lay_out(2, edition, hands={0: hand}, investors={0: ["gold"]}, row=UP3_DOWN5).play("mine gold")
    assert start.legal() == ["pay gas/salesman", "pay oil/salesman", "pay gold/worker"]
    assert start.copy().play("pay gold/worker").discard() == ["gold/worker"]
    others = start.copy().play("pay gas/salesman")
    assert others.legal() == ["pay oil/salesman"]
    assert others.play("pay oil/salesman").discard() == ["gas/salesman", "oil/salesman"]


@pytest.mark.parametrize("investor", [False, True])
def test_C10_the_fewest_cards_that_pay_are_those_of_the_shortest_payment(investor: bool) -> None:
    """Beside every set of cards that pays, for hands of nought to eight cards."""
    rng = np.random.default_rng(investor)
    seen = set()
    for size in range(9):
        for _ in range(12):
            hand = [str(kind) for kind in rng.permutation([kind for kind in KINDS for _ in range(3)])[:size]]
            table = lay_out(hands={0: hand}, investors={0: RESOURCES if investor else []})
            for number, symbol in enumerate(SYMBOLS):
                ways = payments(hand, symbol, investor and symbol in RESOURCES)
                fewest = min(map(len, ways), default=0)
                assert fewest_cards(table.state, 0, number) == fewest, (hand, symbol)
                seen.add(fewest)
    assert seen == ({0, 1, 2, 3} if investor else {0, 2, 3})


@pytest.mark.parametrize(
    ("paid", "investor"),
    [
        ([], False),
        ([], True),
        (["gold/salesman"], False),
        (["oil/worker"], True),
        (["gold/salesman", "oil/worker"], False),
    ],
)
def test_C19_which_cards_finish_a_payment_that_has_begun(paid: list[str], investor: bool) -> None:
    """Beside every set of cards that pays and holds what has been paid; a third card comes after one that shows."""
    hand = ["gold/salesman"] * 2 + ["oil/worker"] * 3
    table = lay_out(hands={0: hand}, investors={0: ["gold"] if investor else []})
    table.play("mine gold", *(f"pay {name}" for name in paid))
    for showing in range(4):
        for others in range(4):
            cards = [*paid, *["gold/salesman"] * showing, *["oil/worker"] * others]
            ways = [way for way in payments(cards, "gold", investor) if Counter(paid) <= Counter(way)]
            if "oil/worker" in paid:
                ways = [way for way in ways if way.count("oil/worker") == 2]
            assert can_go_on(table.state, showing, others) == bool(ways), (showing, others)


def test_C10_a_card_counts_for_its_resource_or_for_its_person() -> None:
    hand = ["gold/worker", "gold/worker"]
    table = lay_out(hands={0: hand}, row=UP3_DOWN5)
    assert legal_actions(table) == ["mine gold", "hire worker"]


# ---------------------------------------------------------------- the actions

GAS_ROW = ("gas 3000", "(gas 1000)", "oil 2000", "gas 1000", "gas 2000", "(gold 3000)", "(gold 4000)", "gas 2000")


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize(("workers", "slots"), [(1, [0]), (2, [0, 3]), (3, [0, 3, 4]), (4, [0, 3, 4, 7])])
def test_C11_mining_takes_the_leftmost_face_up_cards(edition: str, workers: int, slots: list[int]) -> None:
    table = lay_out(2, edition, hands={0: ["gas/worker"] * 2}, row=GAS_ROW, workers={0: workers})
    taken = [int(GAS_ROW[slot].split()[1]) // 1000 for slot in slots]
    table.play("mine gas", "pay gas/worker", "pay gas/worker")
    assert table.state.captured[0].tolist() == [len(slots), 0, 0, 0, 0]
    assert table.scores()[0] == sum(taken) + workers
    for slot, name in enumerate(GAS_ROW):
        assert table.row()[slot].startswith("(") if slot in slots else table.row()[slot] == name
    check_everything(table)


def test_C11_more_workers_than_cards_take_them_all() -> None:
    table = lay_out(hands={0: ["gas/worker"] * 2}, row=GAS_ROW, workers={0: 5})
    table.play("mine gas", "pay gas/worker", "pay gas/worker")
    assert table.state.captured[0].tolist() == [4, 0, 0, 0, 0]
    assert table.row()[1] == "(gas 1000)"


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C11_mining_nothing_is_legal_and_spends_the_cards(edition: str) -> None:
    stack = ["gas/worker", "oil/worker"]
    table = lay_out(2, edition, hands={0: ["gold/worker"] * 2}, row=GAS_ROW, action_stack=stack, workers={0: 3})
    before = table.row()
    table.play("mine gold", "pay gold/worker", "pay gold/worker")
    assert table.row() == before
    assert table.hand(0) == ["gas/worker"]
    assert not table.state.captured.any()
    assert table.state.discard[KINDS.index("gold/worker")] == 4
    assert table.player == 1


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C12_emptied_slots_refill_in_place_lowest_first_face_down(edition: str) -> None:
    table = lay_out(
        2,
        edition,
        hands={0: ["gas/worker"] * 2},
        row=GAS_ROW,
        workers={0: 3},
        resource_stack=["diamond 4000", "diamond 5000", "diamond 6000", "diamond 7000"],
    )
    table.play("mine gas", "pay gas/worker", "pay gas/worker")
    assert table.row() == [
        "(diamond 4000)",
        "(gas 1000)",
        "oil 2000",
        "(diamond 5000)",
        "(diamond 6000)",
        "(gold 3000)",
        "(gold 4000)",
        "gas 2000",
    ]
    assert table.state.resource_stack_size == 1
    check_everything(table)


@pytest.mark.parametrize("stack", [[], ["diamond 4000"]])
def test_C12_with_the_stack_empty_slots_stay_empty_and_nothing_shifts(stack: list[str]) -> None:
    table = lay_out(hands={0: ["gas/worker"] * 2}, row=GAS_ROW, workers={0: 2}, resource_stack=stack)
    table.play("mine gas", "pay gas/worker", "pay gas/worker")
    first = "(diamond 4000)" if stack else "empty"
    assert table.row() == [first, *GAS_ROW[1:3], "empty", *GAS_ROW[4:]]
    check_everything(table)


def test_C12_an_empty_slot_fills_no_more_when_others_are_emptied() -> None:
    row = ["empty", "gas 1000", "gold 3000"]
    table = lay_out(hands={0: ["gas/worker"] * 2}, row=row, resource_stack=[])
    assert table.play("mine gas", "pay gas/worker", "pay gas/worker").row() == [
        "empty",
        "empty",
        "gold 3000",
        *["empty"] * 5,
    ]


def test_C12_refilled_before_the_player_draws() -> None:
    """With both stacks short, the row is full while the draw still waits for the shuffle (C14)."""
    table = lay_out(hands={0: ["gas/worker"] * 2}, row=GAS_ROW, action_stack=[], resource_stack=["diamond 4000"])
    kernels = GAME.kernels
    ruleset, state = table.variant.rulesets[0], table.state
    for name in ("mine gas", "pay gas/worker", "pay gas/worker"):
        kernels["apply"](ruleset, state, table.variant.action_number(name))
    assert kernels["is_chance"](ruleset, state)
    assert table.row()[0] == "(diamond 4000)"
    assert table.hand(0) == []


def test_C13_hire_a_worker() -> None:
    table = lay_out(hands={0: ["gas/worker", "oil/worker"]}, workers={0: 2, 1: 3})
    table.play("hire worker", "pay gas/worker", "pay oil/worker")
    assert table.state.workers[:2].tolist() == [3, 3]
    assert table.state.workers_left == 4
    assert table.scores()[0] == 3


def test_C13_no_worker_left_none_on_offer() -> None:
    hands = {0: ["gas/worker", "oil/worker"]}
    assert "hire worker" in lay_out(hands=hands, workers={0: 1, 1: 8}).legal()
    assert lay_out(hands=hands, workers={0: 1, 1: 9}).refuses("hire worker")


@pytest.mark.parametrize(("edition", "cap"), [("dlp", None), ("oya", None), ("digital", 5)])
def test_C13_digital_allows_five_workers_a_player(edition: str, cap: int | None) -> None:
    for workers in range(1, 9):
        table = lay_out(2, edition, hands={0: ["gas/worker", "oil/worker"]}, workers={0: workers})
        assert ("hire worker" in table.legal()) == (cap is None or workers < cap)


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_C13_hire_a_salesman_of_ones_choice(symbol: str) -> None:
    table = lay_out(hands={0: ["gas/salesman"] * 2}, salesmen={1: [name for name in SYMBOLS[:2] if name != symbol]})
    on_offer = [f"hire salesman {name}" for name in SYMBOLS if name not in SYMBOLS[:2] or name == symbol]
    assert [name for name in table.legal() if name.startswith("hire salesman")] == on_offer
    table.play(f"hire salesman {symbol}", "pay gas/salesman", "pay gas/salesman")
    assert table.state.salesman_owner[SYMBOLS.index(symbol)] == 0
    assert table.state.salesmen[0] == 1
    check_everything(table)


@pytest.mark.parametrize("resource", RESOURCES)
def test_C13_hire_an_investor_of_ones_choice(resource: str) -> None:
    table = lay_out(hands={0: ["gas/investor"] * 2})
    table.play(f"hire investor {resource}", "pay gas/investor", "pay gas/investor")
    assert table.state.investor_owner.tolist() == [0 if name == resource else -1 for name in RESOURCES]
    check_everything(table)


@pytest.mark.parametrize("owner", [0, 1])
def test_C13_people_who_are_gone_are_not_on_offer(owner: int) -> None:
    hand = ["gas/salesman"] * 2 + ["oil/investor"] * 2
    some = lay_out(hands={0: hand}, salesmen={owner: ["gas", "worker"]}, investors={owner: ["oil"]})
    for name in ("hire salesman gas", "hire salesman worker", "hire investor oil"):
        assert some.refuses(name)
    all_gone = lay_out(hands={0: hand}, salesmen={owner: SYMBOLS}, investors={owner: RESOURCES})
    assert not [name for name in all_gone.legal() if name.startswith("hire")]


def test_C14_paid_cards_go_to_the_discard_pile_at_once() -> None:
    table = lay_out(hands={0: ["gold/worker", "gold/salesman", "oil/worker"]}, row=UP3_DOWN5)
    table.play("mine gold", "pay gold/worker")
    assert table.discard() == ["gold/worker"]
    assert table.state.discard_size == 1
    assert table.hand(0) == ["oil/worker", "gold/salesman"]


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C14_the_discard_pile_with_the_paid_cards_becomes_the_stack(edition: str) -> None:
    table = lay_out(2, edition, hands={0: GOLD, 1: KINDS[:8]}, row=UP3_DOWN5, action_stack=[])
    discarded = table.state.discard_size
    table.play("mine gold", *(f"pay {name}" for name in GOLD))
    assert table.state.discard_size == 0
    assert table.state.action_stack_size == discarded + 2 - 1
    assert table.state.hand_size[0] == 1
    check_everything(table)


def test_C14_the_new_stack_is_shuffled() -> None:
    tops = set()
    for generator in range(40):
        table = lay_out(hands={0: GOLD}, row=UP3_DOWN5, action_stack=[])
        table.state.generator = generator
        tops.update(table.play("mine gold", *(f"pay {name}" for name in GOLD)).hand(0))
    assert len(tops) > 8


def test_C14_a_draw_of_two_goes_on_after_the_shuffle() -> None:
    table = lay_out(hands={0: ["gas/worker"]}, action_stack=["oil/investor"])
    discarded = int(table.state.discard_size)
    table.play("draw 2")
    assert table.state.hand_size[0] == 3
    assert "oil/investor" in table.hand(0)
    assert table.state.discard_size == 0
    assert table.state.action_stack_size == discarded - 1
    assert table.player == 1


@pytest.mark.parametrize("edition", ["dlp", "oya"])
def test_C14_printed_editions_reshuffle_as_soon_as_the_last_card_is_drawn(edition: str) -> None:
    table = lay_out(2, edition, hands={0: GOLD}, row=UP3_DOWN5, action_stack=["oil/investor"])
    discarded = int(table.state.discard_size)
    table.play("mine gold", *(f"pay {name}" for name in GOLD))
    assert "oil/investor" in table.hand(0)
    assert table.state.discard_size == 0
    assert table.state.action_stack_size == discarded + 2
    assert table.player == 1
    check_everything(table)


def test_C14_the_digital_edition_reshuffles_when_a_card_is_needed() -> None:
    table = lay_out(2, "digital", hands={0: GOLD, 1: ["gas/worker"]}, row=UP3_DOWN5, action_stack=["oil/investor"])
    discarded = int(table.state.discard_size)
    table.play("mine gold", *(f"pay {name}" for name in GOLD))
    assert table.hand(0) == ["oil/investor"]
    assert table.state.discard_size == discarded + 2
    assert table.state.action_stack_size == 0
    table.play("reveal 3", "draw 2")
    assert table.state.discard_size == 0
    assert table.state.action_stack_size == discarded + 2 - 2
    check_everything(table)


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C14_a_stack_with_nothing_to_replace_it_waits_for_the_next_card_that_is_needed(edition: str) -> None:
    """Used up while the discard pile is empty, it stays empty until a player must draw and there is a pile."""
    three = ("gold/worker", "gas/worker", "oil/worker")
    components = Components(action_cards={kind: 4 * (kind in three) for kind in KINDS})
    hands = {0: ["gold/worker"] * 4 + ["gas/worker"], 1: ["oil/worker"] * 4 + ["gas/worker"]}
    table = lay_out(
        2, edition, components, hands=hands, row=UP3_DOWN5, action_stack=["gas/worker"] * 2, discovering=True
    )
    table.play("reveal 3", "draw 2")
    assert table.state.action_stack_size == table.state.discard_size == 0
    table.play("reveal 4", "mine oil", "pay oil/worker", "pay oil/worker")
    assert table.state.hand_size[1] == 5 - 2 + 1  # drawn from the two cards it has just paid
    assert table.state.action_stack_size == 1
    assert table.state.discard_size == 0
    check_everything(table)


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize("stack", [0, 1])
def test_C14_with_stack_and_pile_empty_no_card_is_drawn(edition: str, stack: int) -> None:
    components = Components(action_cards={kind: int(kind in EIGHT) * 2 for kind in KINDS})
    cards = [name for name in EIGHT for _ in range(2)]
    top, held = cards[:stack], cards[stack:]
    held, others = held[:4], held[4:]
    table = lay_out(3, edition, components, hands={0: held, 1: others[:6], 2: others[6:]}, action_stack=top)
    table.play("draw 2")
    assert table.state.hand_size[0] == 4 + stack
    assert table.player == 1
    check_everything(table)


@pytest.mark.parametrize("edition", ["dlp", "digital"])
def test_C14_who_draws_nothing_brings_no_shuffle(edition: str) -> None:
    table = lay_out(2, edition, hands={0: EIGHT}, row=UP3_DOWN5, action_stack=[])
    discarded = int(table.state.discard_size)
    table.play("draw 0")
    assert table.state.discard_size == discarded
    assert table.state.action_stack_size == 0
    assert table.player == 1


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C14_a_pile_of_a_single_card_is_a_pile(edition: str) -> None:
    """With the investor one card pays, and it is the card that the player then draws."""
    kinds = {"gold/worker": 1, "gas/worker": 8, "oil/worker": 4}
    components = Components(action_cards={kind: kinds.get(kind, 0) for kind in KINDS})
    hands = {0: ["gold/worker", *["gas/worker"] * 4], 1: ["gas/worker"] * 4 + ["oil/worker"] * 4}
    table = lay_out(2, edition, components, hands=hands, investors={0: ["gold"]}, row=UP3_DOWN5, action_stack=[])
    table.play("mine gold", "pay gold/worker")
    assert Counter(table.hand(0)) == Counter(hands[0])
    assert table.discard() == []
    assert table.state.action_stack_size == 0
    check_everything(table)


# ---------------------------------------------------------------- end and score

LAST_ROW = ["gas 1000", "empty", "(oil 2000)"]


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("revealer", range(4))
def test_C15_after_the_last_reveal_everybody_has_one_more_turn(edition: str, players: int, revealer: int) -> None:
    revealer %= players
    table = lay_out(players, edition, row=LAST_ROW, resource_stack=[], player=revealer, discovering=True)
    order = [table.player]
    table.play("reveal 2", "draw 2")
    while not table.over:
        order.append(table.player)
        table.play("draw 2")
    assert order == [(revealer + turn) % players for turn in range(players + 1)]
    assert order[-1] == revealer
    assert not table.hit_limit
    assert table.legal() == []


def test_C15_the_revealer_finishes_the_turn_with_an_action() -> None:
    table = lay_out(hands={0: ["oil/worker"] * 2}, row=LAST_ROW, resource_stack=[], discovering=True)
    table.play("reveal 2", "mine oil", "pay oil/worker", "pay oil/worker")
    assert table.row()[2] == "empty"
    assert not table.over
    table.play("draw 0", "draw 0")
    assert table.over


def test_C15_a_card_in_the_stack_keeps_the_game_going() -> None:
    table = lay_out(
        hands={0: ["oil/worker"] * 2}, row=LAST_ROW, resource_stack=["gold 3000", "gold 4000"], discovering=True
    )
    table.play("reveal 2")
    assert table.state.turns_to_end == 0
    table.play("mine oil", "pay oil/worker", "pay oil/worker")
    assert table.row()[:3] == ["gas 1000", "(gold 3000)", "(gold 4000)"]
    table.play("reveal 1", "draw 0")
    assert table.state.turns_to_end == 0
    table.play("reveal 2", "draw 0", "draw 0", "draw 0")
    assert table.over


def test_C15_keeping_the_last_card_hidden_puts_the_end_off() -> None:
    table = lay_out(row=LAST_ROW, resource_stack=[], discovering=True)
    table.play(*["keep hidden", "draw 0"] * 7)
    assert not table.over
    assert table.state.turns_to_end == 0


def test_C16_printed_values_and_persons_at_one() -> None:
    """Played: player 0 captures two cards and hires two workers, player 1 captures one and hires two investors."""
    table = deal_out(
        hands={
            0: [*payment("mine gas"), *payment("mine oil"), "oil/worker"],
            1: [*payment("mine diamond"), *payment("hire investor gas"), "oil/investor"],
        },
        draws=["gold/worker", "gold/investor", "oil/worker", "gas/salesman", "gold/worker"],
        row=[
            "gas 1000",
            "oil 6000",
            "diamond 7000",
            "charcoal 2000",
            "gold 3000",
            "gold 4000",
            "gold 5000",
            "gold 6000",
        ],
    )
    assert table.scores() == [1, 1]
    for player, action, scores in (
        (0, "mine gas", [1 + 1, 1]),
        (1, "mine diamond", [1 + 1, 7 + 1]),
        (0, "mine oil", [1 + 6 + 1, 7 + 1]),
        (1, "hire investor gas", [1 + 6 + 1, 7 + 1 + 1]),
        (0, "hire worker", [1 + 6 + 2, 7 + 1 + 1]),
        (1, "hire investor oil", [1 + 6 + 2, 7 + 1 + 2]),
        (0, "hire worker", [1 + 6 + 3, 7 + 1 + 2]),
    ):
        assert take_turns(table, player, action).scores() == scores
        check_everything(table)


@pytest.mark.parametrize("resource", RESOURCES)
def test_C16_a_salesman_raises_every_captured_card_of_the_resource(resource: str) -> None:
    values = DEFAULT_RESOURCE_CARDS[resource]
    cards = [f"{resource} {value * 1000}" for value in values]
    table = lay_out(hands={0: ["gas/salesman"] * 2}, captured={0: cards})
    assert table.scores()[0] == sum(values) + 1
    table.play(f"hire salesman {resource}", "pay gas/salesman", "pay gas/salesman")
    assert table.scores()[0] == len(values) * DEFAULT_SALESMEN[resource] + 1 + 1


def test_C16_the_higher_of_the_two_values_counts() -> None:
    components = Components(salesmen={**DEFAULT_SALESMEN, "gas": 2})
    cards = ["gas 1000", "gas 2000", "gas 3000"]
    table = lay_out(2, None, components, hands={0: ["oil/salesman"] * 2}, captured={0: cards})
    table.play("hire salesman gas", "pay oil/salesman", "pay oil/salesman")
    assert table.scores()[0] == (2 + 2 + 3) + 1 + 1


def test_C16_a_card_captured_under_the_salesman_counts_his_value() -> None:
    table = lay_out(hands={0: ["gas/worker"] * 2}, row=["gas 1000"], salesmen={0: ["gas"]})
    assert table.play("mine gas", "pay gas/worker", "pay gas/worker").scores()[0] == 4 + 1 + 1


@pytest.mark.parametrize(
    ("symbol", "score"),
    [("worker", 3 * 2 + 2 + 2), ("salesman", 3 + 2 * 3 + 2), ("investor", 3 + 2 + 2 * 4), ("gold", 3 + 2 + 2)],
)
def test_C16_salesmen_of_persons_the_salesman_of_salesmen_counts_for_himself(symbol: str, score: int) -> None:
    table = lay_out(
        hands={0: ["gas/salesman"] * 2}, workers={0: 3}, salesmen={0: ["diamond"]}, investors={0: ["gas", "oil"]}
    )
    assert table.scores()[0] == 3 + 1 + 2
    table.play(f"hire salesman {symbol}", "pay gas/salesman", "pay gas/salesman")
    assert table.scores()[0] == score


@pytest.mark.parametrize(
    ("salesman", "hand", "action", "gain"),
    [
        ("worker", "oil/worker", "hire worker", 2),
        ("salesman", "oil/salesman", "hire salesman gas", 3),
        ("investor", "oil/investor", "hire investor gas", 4),
    ],
)
def test_C16_persons_hired_later_count_their_salesmans_value(salesman: str, hand: str, action: str, gain: int) -> None:
    table = lay_out(hands={0: [hand] * 2}, salesmen={0: [salesman]})
    before = table.scores()[0]
    assert table.play(action, f"pay {hand}", f"pay {hand}").scores()[0] == before + gain


def test_C16_another_players_salesman_is_worth_nothing_to_others() -> None:
    """Played: player 0 captures gas and player 1 hires the salesmen of gas and of workers, in either order."""
    row = ["gas 1000", "oil 2000", "oil 3000", "oil 3000", "gold 3000", "gold 4000", "gold 4000", "gold 5000"]
    hands = {0: [*payment("mine gas"), *["diamond/worker"] * 3], 1: [*payment("hire salesman gas") * 2, "gas/salesman"]}
    captured_first = take_turns(deal_out(hands=hands, row=row), 0, "mine gas")
    take_turns(captured_first, 1, "hire salesman gas", "hire salesman worker")
    hired_first = take_turns(deal_out(hands=hands, row=row), 1, "hire salesman gas", "hire salesman worker")
    take_turns(hired_first, 0, "mine gas")
    for table in (captured_first, hired_first):
        assert table.scores() == [1 + 1, 2 + 1 + 1]
        check_everything(table)


# ---------------------------------------------------------------- the turn limit


@pytest.mark.parametrize(
    ("players", "limit", "turns"), [(2, 400, 400), (3, 400, 402), (4, 400, 400), (3, 1, 3), (4, 5, 8), (2, 7, 8)]
)
def test_C17_the_limit_is_rounded_up_to_whole_rounds(players: int, limit: int, turns: int) -> None:
    variant = GAME.variant(players, {"max_turns": limit})
    assert variant.rulesets[0].max_turns == turns
    assert GAME.variant(players).rulesets[0].max_turns == {2: 400, 3: 402, 4: 400}[players]


def test_C17_a_game_that_waits_ends_at_the_limit_and_is_scored_as_it_stands() -> None:
    row = ["gas 1000", "(gas 2000)"]
    table = lay_out(3, {"max_turns": 5}, row=row, resource_stack=[], captured={1: ["oil 6000"]}, discovering=True)
    scores = table.scores()
    for turn in range(6):
        assert not table.over
        assert table.player == turn % 3
        table.play("keep hidden", "draw 0")
    assert table.over
    assert table.hit_limit
    assert table.state.turn == 6
    assert table.scores() == scores


@pytest.mark.parametrize(("turns_before", "hit_limit"), [(1, False), (2, True)])
def test_C17_an_end_by_itself_on_the_last_turn_does_not_hit_the_limit(turns_before: int, hit_limit: bool) -> None:
    rules = {"max_turns": 4}
    table = lay_out(2, rules, row=["(gas 2000)"], resource_stack=[], turn=turns_before, discovering=True)
    table.play("reveal 0", "draw 0")
    while not table.over:
        table.play("draw 0")
    assert table.state.turn == 4
    assert table.hit_limit == hit_limit


@pytest.mark.parametrize("limit", [0, -1, 10_001, 2.5, "400", None, True])
def test_C17_limits_that_are_none_are_refused(limit: Any) -> None:
    with pytest.raises(ConfigurationError, match="max_turns"):
        GAME.variant(2, {"max_turns": limit})


# ---------------------------------------------------------------- who knows what


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C18_hidden_cards_do_not_show(players: int) -> None:
    """Changing what lies hidden changes nothing in the observation; changing what is open does."""
    table = Table.deal(players, seed=3)
    seen = table.observe(0)
    hidden = table.copy()
    state = hidden.state
    state.row[[3, 7]] = state.row[[7, 3]]
    state.action_stack[[0, 20]] = state.action_stack[[20, 0]]
    state.resource_stack[[0, 20]] = state.resource_stack[[20, 0]]
    swapped = next(
        i for i, kind in enumerate(state.action_stack) if i < state.action_stack_size and not state.hand[1, kind]
    )
    given = int(np.flatnonzero(state.hand[1])[0])
    taken = int(state.action_stack[swapped])
    state.action_stack[swapped] = given
    state.hand[1, given] -= 1
    state.hand[1, taken] += 1
    state.symbols[:] = recount(hidden)["symbols"]
    check_everything(hidden)
    assert np.array_equal(hidden.observe(0), seen)
    assert not np.array_equal(hidden.observe(1), table.observe(1))
    assert not np.array_equal(hidden.observe_hidden(), table.observe_hidden())


def test_C18_public_things_show_to_everybody() -> None:
    """The discard pile, hand sizes, persons and captured cards are the same from every seat, seats turned."""
    table = Table.deal(3, seed=8).play_at_random(np.random.default_rng(1), 120)
    slices = block_slices(GAME.blocks)
    views = [table.observe(player) for player in range(3)]
    for name in ("discard", "row_value", "row_hidden", "workers_left"):
        for view in views[1:]:
            assert np.array_equal(view[slices[name]], views[0][slices[name]]), name
    for name in ("hand_sizes", "workers", "captured", "captured_value", "salesmen", "investors", "scores"):
        for player, view in enumerate(views):
            seats = view[slices[name]].reshape(4, -1)[:3]
            own = views[0][slices[name]].reshape(4, -1)[:3]
            assert np.array_equal(seats, np.roll(own, -player, axis=0)), name


def known_of_the_others(table: Table, player: int) -> Counter[str]:
    """The cards that the state says a player knows the others to hold, by name."""
    counts = {name: int(count) for name, count in zip(KINDS, table.state.known[player], strict=True)}
    return Counter({name: count for name, count in counts.items() if count})


def test_C18_what_is_remembered_of_hands_is_what_they_held_and_have_not_paid() -> None:
    """Four hands at the last reshuffle, and cards drawn since; of a kind more may be paid than were held."""
    held = {
        0: ["gas/worker", "oil/worker"],
        1: ["gas/worker", "gold/salesman"],
        2: ["diamond/investor"],
        3: ["oil/investor"],
    }
    hands = {0: [*held[0], "gas/worker"], 1: [*held[1], "oil/salesman"], 2: [*held[2], "gas/worker"], 3: held[3]}
    table = lay_out(4, hands=hands, known=held)
    together = {
        0: ["gas/worker", "gold/salesman", "diamond/investor", "oil/investor"],
        1: ["gas/worker", "oil/worker", "diamond/investor", "oil/investor"],
        2: ["gas/worker", "gas/worker", "oil/worker", "gold/salesman", "oil/investor"],
        3: ["gas/worker", "gas/worker", "oil/worker", "gold/salesman", "diamond/investor"],
    }

    def pay(player: int, cards: list[str]) -> None:
        for card in cards:
            for known in (together[other] for other in range(4) if other != player):
                if card in known:
                    known.remove(card)

    for player, action, paid in (
        (0, "", []),
        (0, "hire worker", ["gas/worker", "gas/worker"]),
        (1, "hire salesman gas", ["gold/salesman", "oil/salesman"]),
    ):
        if action:
            table.play(action, *(f"pay {card}" for card in paid))
        pay(player, paid)
        for seat in range(4):
            assert known_of_the_others(table, seat) == Counter(together[seat])
    paid = [(0, "gas/worker"), (0, "gas/worker"), (1, "gold/salesman"), (1, "oil/salesman")]
    assert table.state.pile[:5].tolist() == [*(15 * player + KINDS.index(card) for player, card in paid), 0]
    assert table.state.pile_drawn[:5].tolist() == [1, 1, 1, 1, 0]  # each had drawn one card by then
    assert table.state.drawn.tolist() == [2, 2, 1, 0]
    assert sorted(together[0]) == ["diamond/investor", "gas/worker", "oil/investor"]
    assert sorted(together[3]) == ["diamond/investor", "oil/worker"]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C18_no_decision_is_secret(players: int) -> None:
    table, rng = Table.deal(players, {"max_turns": 40}, seed=players), np.random.default_rng(players)
    while not table.over:
        assert not is_secret(table.variant.rulesets[0], table.state)
        assert all(revealed_hash(table.variant.rulesets[0], table.state, player) == 0 for player in range(players))
        table.play_at_random(rng, 1)


# ---------------------------------------------------------------- decisions


def test_C19_decisions_and_their_names() -> None:
    assert (
        *(f"reveal {slot}" for slot in range(8)),
        "keep hidden",
        "draw 0",
        "draw 1",
        "draw 2",
        *(f"mine {resource}" for resource in RESOURCES),
        "hire worker",
        *(f"hire salesman {symbol}" for symbol in SYMBOLS),
        *(f"hire investor {resource}" for resource in RESOURCES),
        *(f"pay {kind}" for kind in KINDS),
    ) == ACTION_NAMES
    assert GAME.num_actions == len(ACTION_NAMES) == 9 + 3 + 19 + 15


def test_C19_a_card_showing_the_symbol_comes_first() -> None:
    table = lay_out(hands={0: ONE_AND_TWO}, row=UP3_DOWN5).play("mine gold")
    assert table.legal() == ["pay gold/worker"]
    assert table.play("pay gold/worker").legal() == ["pay gas/salesman", "pay oil/salesman"]


def test_C19_one_other_card_alone_is_never_offered() -> None:
    hand = [*TWO_SHOWING, "gas/salesman"]
    table = lay_out(hands={0: hand}, row=UP3_DOWN5).play("mine gold", "pay gold/worker")
    assert table.legal() == ["pay gold/salesman"]
    with_investor = lay_out(hands={0: ["gold/worker", "gas/salesman"]}, investors={0: ["gold"]}, row=UP3_DOWN5)
    assert with_investor.play("mine gold").legal() == ["pay gold/worker"]


def test_C19_two_equal_others_pay_too() -> None:
    table = lay_out(hands={0: ["gold/worker", "gas/salesman", "gas/salesman"]}, row=UP3_DOWN5)
    table.play("mine gold", "pay gold/worker", "pay gas/salesman", "pay gas/salesman")
    assert table.discard() == ["gas/salesman", "gas/salesman", "gold/worker"]


def test_C19_persons_are_paid_by_the_person_symbol() -> None:
    table = lay_out(hands={0: ["gas/salesman", "oil/salesman", "gas/worker", "oil/investor"]})
    table.play("hire salesman gold")
    assert table.legal() == ["pay gas/salesman", "pay oil/salesman"]
    assert table.play("pay gas/salesman").legal() == ["pay gas/worker", "pay oil/salesman", "pay oil/investor"]


def test_C19_nothing_else_can_be_done_while_paying() -> None:
    table = lay_out(hands={0: [*TWO_SHOWING, "gas/worker"]}, row=UP3_DOWN5).play("mine gold")
    assert all(name.startswith("pay ") for name in table.legal())
    for name in ("draw 0", "mine gold", "reveal 3", "keep hidden", "pay gas/worker", "pay diamond/worker"):
        assert table.refuses(name)


@pytest.mark.parametrize("edition", ALL_EDITIONS)
def test_C19_just_the_legal_numbers_are_taken_at_every_kind_of_decision(edition: str) -> None:
    """Whatever number is asked, with few and with many cards in hand, with and without an investor."""
    tables = []
    for hand in ([], TWO_SHOWING, ONE_AND_TWO, ONE_AND_ONE, FOUR_OTHERS, EIGHT):
        for investors in ([], ["gold"]):
            position: dict[str, Any] = {
                "rules": edition,
                "hands": {0: hand},
                "salesmen": {0: ["gas"], 1: ["investor"]},
                "investors": {0: investors},
            }
            tables += [
                lay_out(**position, row=UP3_DOWN5, discovering=True),
                lay_out(**position, row=["(gas 1000)", "gold 3000"], discovering=True),
                lay_out(**position, row=UP3_DOWN5, workers={0: 5}),
                lay_out(**position, row=UP3_DOWN5, workers={0: 1, 1: 9}),
            ]
    paying = [tables[-2].copy().play(name) for name in legal_actions(tables[-2])]
    tables += paying + [table.copy().play(name) for table in paying[::4] for name in table.legal()]
    tables.append(lay_out(2, edition, row=["gas 1000"], turns_to_end=1, hands={0: EIGHT[:6]}).play("draw 2"))
    for table in tables:
        check_mask(table)
    assert {int(table.state.phase) for table in tables} == {DISCOVER, CHOOSE, PAYING, OVER}
