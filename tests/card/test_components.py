"""Component files and rule options: what is taken, and one clear error for each thing that is wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_env.card.components import (
    DEFAULT_RESOURCE_CARDS,
    EDITIONS,
    KINDS,
    RESOURCES,
    SYMBOLS,
    Components,
    check_rules,
    components_from_json,
    read_components,
)
from siberia_env.card.game import GAME
from siberia_env.errors import ConfigurationError, SiberiaError
from tests.boxes import drop, put
from tests.card.helpers import Table


def box() -> dict[str, Any]:
    """The published box as a component file holds it."""
    return deepcopy(Components().as_json())


def test_the_default_box_survives_the_way_through_a_file(tmp_path: Path) -> None:
    file = tmp_path / "box.json"
    file.write_text(json.dumps(box()), encoding="utf-8")
    for source in (file, str(file), box(), Components(), None):
        assert read_components(source).as_json() == box()


def test_other_values_reach_the_game(tmp_path: Path) -> None:
    tables = box()
    tables["resource_cards"]["gas"] = [9] * 10
    tables["salesmen"]["gold"] = 20
    tables["action_cards"]["gas/worker"], tables["action_cards"]["oil/worker"] = 8, 0
    file = tmp_path / "box.json"
    file.write_text(json.dumps(tables), encoding="utf-8")
    variant = GAME.variant(2, components=file)
    ruleset = variant.rulesets[0]
    assert ruleset.card_value[:10].tolist() == [9] * 10
    assert ruleset.salesman_value.tolist() == [4, 5, 6, 20, 8, 2, 3, 4]
    assert ruleset.card_best_value[ruleset.card_resource == 3].tolist() == [20] * 6
    assert ruleset.card_best_value[:10].tolist() == [9] * 10
    assert ruleset.action_cards[[0, 6]].tolist() == [8, 0]
    table = Table.deal(2, components=file, seed=1).play_at_random(np.random.default_rng(1))
    assert table.over


def test_values_are_sorted_so_that_equal_boxes_are_equal() -> None:
    tables = box()
    tables["resource_cards"]["oil"].reverse()
    assert read_components(tables).as_json() == box()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (put("resource_cards", "gas", 2, value=0), r"^resource_cards\.gas\[2\]: 0 "),
        (put("resource_cards", "gas", 2, value=100), r"^resource_cards\.gas\[2\]: 100 "),
        (put("resource_cards", "gas", 2, value=1.5), r"^resource_cards\.gas\[2\]: 1\.5 "),
        (put("resource_cards", "gas", 2, value="1"), r"^resource_cards\.gas\[2\]: '1' "),
        (put("resource_cards", "gas", 2, value=True), r"^resource_cards\.gas\[2\]: True "),
        (put("resource_cards", "gas", 2, value=None), r"^resource_cards\.gas\[2\]: None "),
        (put("resource_cards", "gas", value=7), r"^resource_cards\.gas: expected a list"),
        (put("resource_cards", "gas", value=[1] * 9), r"^resource_cards: 35 in all, the box holds 36"),
        (put("resource_cards", "coal", value=[1]), r"^resource_cards\.coal: no such entry"),
        (drop("resource_cards", "oil"), r"^resource_cards\.oil: missing"),
        (drop("resource_cards"), r"^resource_cards: expected an object"),
        (put("action_cards", "gas/worker", value=3), r"^action_cards: 59 in all, the box holds 60"),
        (put("action_cards", "gas/worker", value=-1), r"^action_cards\.gas/worker: -1 "),
        (put("action_cards", "gas/worker", value=61), r"^action_cards\.gas/worker: 61 "),
        (put("action_cards", "gas", value=4), r"^action_cards\.gas: no such entry"),
        (drop("action_cards", "oil/salesman"), r"^action_cards\.oil/salesman: missing"),
        (put("action_cards", value=[4] * 15), r"^action_cards: expected an object"),
        (put("salesmen", "worker", value=0), r"^salesmen\.worker: 0 "),
        (put("salesmen", "manager", value=2), r"^salesmen\.manager: no such entry"),
        (drop("salesmen", "investor"), r"^salesmen\.investor: missing"),
        (put("workers", value=9), r"^workers: 9 in all, the box holds 10"),
        (put("workers", value=11), r"^workers: 11 "),
        (drop("workers"), r"^workers: None "),
        (put("cubes", value={}), r"^cubes: no such table"),
    ],
)
def test_an_error_names_the_path_of_what_is_wrong(change: Any, path: str) -> None:
    tables = box()
    change(tables)
    with pytest.raises(ConfigurationError, match=path):
        GAME.variant(2, components=tables)


@pytest.mark.parametrize("source", [[], 3, True, 2.5, b"{}", ("a",)])
def test_what_is_no_component_table_is_refused(source: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^components: expected an object"):
        read_components(source)


def test_files_that_can_not_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't read"):
        read_components(tmp_path / "none.json")
    with pytest.raises(ConfigurationError, match="can't read"):
        read_components(tmp_path)
    for content in (b"", b"{", b"\xff\xfe\x00", b"[1, 2", b"[" * 100_000):
        file = tmp_path / "bad.json"
        file.write_bytes(content)
        with pytest.raises(ConfigurationError, match="is not JSON"):
            read_components(file)
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="expected an object"):
        read_components(str(tmp_path / "list.json"))


def test_a_small_box_by_hand_has_to_be_large_enough_to_deal() -> None:
    few = Components(action_cards=dict.fromkeys(KINDS, 1))
    assert GAME.variant(3, components=few).rulesets[0].num_action_cards == 15
    with pytest.raises(ConfigurationError, match=r"^action_cards: 15 .*4 players need 20 to 60"):
        GAME.variant(4, components=few)
    with pytest.raises(ConfigurationError, match=r"^action_cards: 75 "):
        GAME.variant(2, components=Components(action_cards=dict.fromkeys(KINDS, 5)))
    for cards, count in (((1, 2, 3), 3), (tuple(range(1, 38)), 37)):
        tables = {**dict.fromkeys(RESOURCES, ()), "gas": cards}
        with pytest.raises(ConfigurationError, match=rf"^resource_cards: {count} "):
            GAME.variant(2, components=Components(resource_cards=tables))
    with pytest.raises(ConfigurationError, match=r"^workers: 2; 3 players need 3 to 10"):
        GAME.variant(3, components=Components(workers=2))


def test_a_box_by_hand_is_checked_like_a_file() -> None:
    lent = {**dict.fromkeys(KINDS, 4), "gas/worker": -4, "oil/worker": 12}  # 60 in all
    with pytest.raises(ConfigurationError, match=r"^action_cards\.gas/worker: -4 is not a whole number"):
        GAME.variant(2, components=Components(action_cards=lent))
    with pytest.raises(ConfigurationError, match=r"^salesmen\.gold: missing"):
        GAME.variant(2, components=Components(salesmen={"gas": 4, "charcoal": 5, "oil": 6}))
    dear = {**Components().resource_cards, "gas": (40_000,) * 10}
    with pytest.raises(ConfigurationError, match=r"^resource_cards\.gas\[0\]: 40000 is not a whole number"):
        GAME.variant(2, components=Components(resource_cards=dear))


def test_a_small_box_from_a_file_is_wrong_unless_asked_for() -> None:
    tables = box()
    tables["workers"] = 5
    with pytest.raises(ConfigurationError, match="workers"):
        components_from_json(tables)
    assert components_from_json(tables, whole_box=False).workers == 5


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("klassik", "no edition 'klassik'; the editions are dlp, oya, digital"),
        ({"edition": "x"}, "no edition 'x'"),
        ({"editon": "dlp"}, "no option 'editon'; the options are edition, max_turns"),
        ({"max_turns": 0}, "max_turns: 0 is not a whole number from 1 to 10000"),
        (7, "expected an edition's name or a mapping"),
        (["dlp"], "expected an edition's name or a mapping"),
    ],
)
def test_rule_options_that_are_none_are_refused(rules: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        GAME.variant(2, rules)


def test_rule_options_in_force_are_complete_in_a_fixed_order() -> None:
    assert list(check_rules(None).items()) == [("edition", "dlp"), ("max_turns", 400)]
    assert list(check_rules({"max_turns": 8, "edition": "oya"}).items()) == [("edition", "oya"), ("max_turns", 8)]
    assert check_rules("digital") == {"edition": "digital", "max_turns": 400}


def test_an_edition_overrides_the_rule_that_differs_and_nothing_else() -> None:
    plain = GAME.variant(2, "dlp").rulesets[0]
    for edition in EDITIONS:
        ruleset = GAME.variant(2, edition).rulesets[0]
        differing = {name for name in ruleset.dtype.names if not np.array_equal(ruleset[name], plain[name])}
        assert (
            differing
            == {
                "dlp": set(),
                "oya": {"edition", "draw_exact", "must_act_when_full"},
                "digital": {"edition", "draw_exact", "worker_cap", "reshuffle_at_once"},
            }[edition]
        )


def test_rulesets_are_read_only() -> None:
    rulesets = GAME.variant(2).rulesets
    with pytest.raises(ValueError, match="read-only"):
        rulesets["max_turns"] = 3


def test_errors_of_the_suite_are_value_errors() -> None:
    assert issubclass(ConfigurationError, SiberiaError)
    assert issubclass(SiberiaError, ValueError)
    assert list(DEFAULT_RESOURCE_CARDS) == list(SYMBOLS[:5])
