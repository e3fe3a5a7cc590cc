"""The examples that the rulebooks give (C20 to C23), played out."""

from __future__ import annotations

from tests.card.helpers import lay_out


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


def test_C22_three_charcoal_cards_with_and_without_the_salesman() -> None:
    cards = ["charcoal 1000", "charcoal 3000", "charcoal 4000"]
    without = lay_out(captured={0: cards})
    with_him = lay_out(captured={0: cards}, salesmen={0: ["charcoal"]})
    persons = 1
    assert without.scores()[0] - persons == 8
    assert with_him.scores()[0] - persons - 1 == 15


def test_C23_the_score_sheet_comes_to_53000() -> None:
    gas = ["gas 1000", "gas 1000", "gas 2000", "gas 2000", "gas 3000", "gas 3000"]
    charcoal = ["charcoal 1000", "charcoal 3000", "charcoal 4000"]
    everything = {
        "captured": {0: [*gas, *charcoal, "diamond 5000"]},
        "workers": {0: 2},
        "salesmen": {0: ["gas", "diamond", "investor"]},
        "investors": {0: ["oil", "gold"]},
    }

    def score(**replaced: object) -> int:
        return lay_out(**{**everything, **replaced}).scores()[0]  # type: ignore[arg-type]

    assert score() == 53
    assert score() - score(captured={0: [*charcoal, "diamond 5000"]}) == 24
    assert score() - score(captured={0: [*gas, "diamond 5000"]}) == 8
    assert score() - score(captured={0: [*gas, *charcoal]}) == 8
    assert score() - score(investors={}) == 8
    assert score(captured={}, investors={}) == 5
