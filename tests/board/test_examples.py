"""The examples that the rulebook gives (B26 to B28), played out."""

from __future__ import annotations

from siberia_env.board.components import DEFAULT_AREAS
from tests.board.helpers import Table, lay_out, open_game


def finish_placing(table: Table) -> Table:
    """All other counters go to research."""
    while "place research" in table.legal():
        table.play("place research")
    return table


def test_B26_a_gas_logistician_counter_goes_to_gas_logistician_or_research() -> None:
    hand = ["gas/logistician", "oil/salesman", "oil/salesman", "oil/salesman", "manager", "manager"]
    table = lay_out(drawn={0: hand})
    assert table.drawn(0)[0] == "gas/logistician"
    assert table.legal() == ["place research", "place person", "place resource"]
    at_gas = finish_placing(table.copy().play("place resource"))
    assert at_gas.panel(0) == {"gas": ["gas/logistician"]}
    at_logistician = finish_placing(table.copy().play("place person"))
    assert at_logistician.panel(0) == {"logistician": ["gas/logistician"]}
    at_research = finish_placing(table.copy().play("place research"))
    assert at_research.panel(0) == {}
    assert at_research.state.resource == 0  # a gas cube is to be placed, before the three oil cubes
    assert at_research.research(0) == ["oil", "oil", "oil", "manager", "manager"]


def test_B26_a_manager_goes_to_manager_or_research() -> None:
    table = lay_out(drawn={0: ["manager"] * 6})
    assert table.legal() == ["place research", "place person"]
    table.play("place person", "place research")
    finish_placing(table)
    assert table.panel(0) == {"manager": ["manager"]}


def test_B27_two_gas_cubes_from_two_areas_with_a_salesman_in_tokyo_bring_6000() -> None:
    table = open_game(areas={"Amur": ["gas", "oil"], "Khabarovsk": ["gas", "gold"]})
    table.draw_and_place({0: ["worker", "logistician", "salesman"]})
    move = "act logistician, from Vladivostok, to Amur, from Vladivostok, to Khabarovsk, stop"
    table.take_turns({0: ["act worker", move, "act salesman, pawn reserve, exchange Tokyo"]})
    assert table.workers(0) == {"Amur": 1, "Khabarovsk": 1}
    assert table.salesmen(0) == {"Frankfurt": 1, "Tokyo": 1}
    table.draw_and_place({0: ["gas", "manager", "investor"]})
    table.take_turns({0: ["act gas"]})
    assert table.scores() == [6, 0]
    assert table.cubes("Amur") == ["oil"]
    assert table.cubes("Khabarovsk") == ["gold"]


def test_B28_a_worker_beside_an_exhausted_area_reaches_the_area_behind_it_in_one_step() -> None:
    """Player 0 stands in Amur while player 1 takes both cubes out of Zabaykalye, which lies between it and Irkutsk."""
    assert "Irkutsk" not in DEFAULT_AREAS["Amur"]
    assert {"Amur", "Irkutsk"} <= set(DEFAULT_AREAS["Zabaykalye"])
    table = open_game(areas={"Zabaykalye": ["charcoal", "gold"]})
    table.draw_and_place({0: ["logistician", "manager", "investor"], 1: ["logistician", "charcoal", "gold"]})
    table.play("act logistician", "from Vladivostok", "to Amur")
    assert table.copy().play("from Amur").legal() == ["to Khabarovsk", "to Yakutia", "to Zabaykalye"]
    table.play("stop")
    to_zabaykalye = "act logistician, from Vladivostok, to Amur, from Amur, to Zabaykalye, stop"
    table.take_turns({1: [to_zabaykalye, "act charcoal", "act gold"]})
    assert table.exhausted() == ["Zabaykalye"]
    table.draw_and_place({0: ["logistician", "gas", "oil"]})
    table.play("pass", "act logistician", "from Amur")
    assert table.legal() == ["to Khabarovsk", "to Yakutia", "to Irkutsk"]
    table.play("to Irkutsk")
    assert table.workers(0) == {"Irkutsk": 1}
    assert table.state.steps_left == 2
