"""The examples that the rulebooks give (C20 to C23), played out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.card.helpers import Table, check_everything, deal_out, lay_out, payment, take_turns


def test_C20_two_workers_take_the_two_gold_cards_nearest_to_the_headframe() -> None:
    row = ["gold 4000", "gas 1000", "gold 3000", "oil 2000", "gold 5000", "(gas 2000)", "(gas 3000)", "(oil 3000)"]
    table = lay_out(
        hands={0: ["gold/worker", "gold/salesman"]},
        row=row,
        workers={0: 2},
        resource_stack=["diamond 4000", "charcoal 1000"],
    )
    before = table.scores()[0]
    table.play("mine gold", "pay gold/worker", "pay gold/salesman")
    assert table.row() == ["(diamond 4000)", "gas 1000", "(charcoal 1000)", *row[3:]]
    assert table.scores()[0] == before + 4 + 3
    assert table.state.captured[0].tolist() == [0, 0, 0, 2, 0]


def test_C21_the_charcoal_investor_saves_the_first_card() -> None:
    row = ["charcoal 3000", "gas 1000"]
    table = lay_out(
        hands={0: ["charcoal/worker", "gas/worker"]},
        row=row,
        investors={0: ["charcoal"]},
        action_stack=["diamond/investor"],
    )
    table.play("mine charcoal", "pay charcoal/worker")
    assert table.state.captured[0].tolist() == [0, 1, 0, 0, 0]
    assert table.hand(0) == ["gas/worker", "diamond/investor"]
    assert table.player == 1


def test_C21_without_a_charcoal_card_any_two_others_pay() -> None:
    row = ["charcoal 3000", "gas 1000"]
    table = lay_out(hands={0: ["gas/worker", "oil/investor"]}, row=row, investors={0: ["charcoal"]})
    table.play("mine charcoal", "pay oil/investor", "pay gas/worker")
    assert table.state.captured[0].tolist() == [0, 1, 0, 0, 0]
    assert table.player == 1


WORKER, SALESMAN = 1, 1  # what each counts in front of player 0, without a salesman of its own


def deal_for(actions: Sequence[str], row: Sequence[str], resource_stack: Sequence[str] = ()) -> Table:
    """A game in which player 0 gets the cards that pay for `actions`, in that order."""
    cards = [card for action in actions for card in payment(action)]
    return deal_out(hands={0: cards[:5]}, draws=cards[5:], row=row, resource_stack=resource_stack)


@pytest.mark.parametrize("hired", [0, 1, 2, 3])
def test_C22_three_charcoal_cards_with_and_without_the_salesman(hired: int) -> None:
    """Player 0 mines three times, and hires the salesman after so many of them."""
    row = ["charcoal 1000", "charcoal 3000", "charcoal 4000", *["oil 3000", "oil 3000", "gold 4000", "gold 4000"]]
    actions = ["mine charcoal"] * 3
    actions.insert(hired, "hire salesman charcoal")
    table = deal_for(actions, [*row, "oil 2000"])
    if hired == 3:
        take_turns(table, 0, *actions[:3])
        assert table.scores()[0] - WORKER == 8
        actions = actions[3:]
    take_turns(table, 0, *actions)
    assert table.scores()[0] - WORKER - SALESMAN == 15
    assert table.scores()[1] == WORKER
    check_everything(table)


#: The score sheet's cards turn up in time for the orders below: gas, charcoal and the diamond nearest the headframe.
SHEET_ROW = ["gas 1000", "gas 1000", "gas 2000", "gas 2000", "charcoal 1000", "charcoal 3000", "oil 2000", "oil 3000"]
SHEET_STACK = ["gas 3000", "gas 3000", "diamond 5000", "charcoal 4000", "oil 3000", "oil 4000", "oil 5000", "oil 5000"]


def test_C23_the_score_sheet_comes_to_53000() -> None:
    """The sheet filled line by line, people first, so that each card counts at once what the sheet says."""
    sheet = {
        ("hire worker", "hire salesman gas", "hire salesman diamond", "hire salesman investor"): 5,
        ("hire investor oil", "hire investor gold"): 8,
        ("mine gas",) * 3: 24,
        ("mine charcoal",) * 2: 8,
        ("mine diamond",): 8,
    }
    table = deal_for([action for line in sheet for action in line], SHEET_ROW, SHEET_STACK)
    total = 0
    for line, value in sheet.items():
        take_turns(table, 0, *line)
        total += value
        assert table.scores()[0] == total, line
    assert table.state.captured[0].tolist() == [6, 3, 0, 0, 1]
    assert table.scores()[0] == 53
    check_everything(table)


def test_C23_the_sum_is_the_same_whatever_the_order() -> None:
    """The salesmen last: each raises what lies in front of the player by then."""
    first = [
        *["hire worker", "mine gas", "mine charcoal", "hire investor oil", "mine diamond"],
        *["mine gas", "mine charcoal", "hire investor gold", "mine gas"],
    ]
    salesmen = {"hire salesman investor": 1 + 2 * 3, "hire salesman gas": 1 + 24 - 12, "hire salesman diamond": 1 + 3}
    table = take_turns(deal_for([*first, *salesmen], SHEET_ROW, SHEET_STACK), 0, *first)
    total = (1 + 1 + 2 + 2 + 3 + 3) + 8 + 5 + 2 + 2
    assert table.scores()[0] == total
    for salesman, more in salesmen.items():
        take_turns(table, 0, salesman)
        total += more
        assert table.scores()[0] == total, salesman
    assert total == 53
    check_everything(table)
