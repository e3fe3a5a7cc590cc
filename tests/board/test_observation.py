"""The observation against a slow one that shares no code with it, block by block and bit by bit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_agents.heuristic import heuristic_at, heuristic_batch
from siberia_env import vector
from siberia_env.board.components import ACTIONS, KINDS, Components
from siberia_env.board.game import GAME
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.game import block_slices
from tests.board.helpers import Table, lay_out
from tests.board.slow_observation import (
    DECISIONS,
    LYING,
    PHASES,
    hidden_quantities,
    quantities,
    read_position,
    values,
)
from tests.board.varied import BOXES, SMALL, STYLES, play_through
from tests.table import PLAYER_COUNTS

SLICES = block_slices(GAME.blocks)
HIDDEN_SLICES = block_slices(GAME.hidden_blocks)
DECLARED = {declared.name: declared for declared in GAME.blocks}


def block(table: Table, player: int, name: str) -> np.ndarray[Any, Any]:
    """One block as `player` sees it, in quantities and in its own shape."""
    return table.observe(player)[SLICES[name]].reshape(DECLARED[name].shape) * DECLARED[name].unit


def check_observations(table: Table) -> None:
    """Every block, from every seat."""
    position = read_position(table)
    for player in range(table.variant.num_players):
        seen = table.observe(player)
        for name, wanted in values(GAME.blocks, quantities(position, player)).items():
            np.testing.assert_array_equal(seen[SLICES[name]], wanted.ravel(), err_msg=f"{name}, seat {player}")
            assert seen[SLICES[name]].min() >= (-1 if DECLARED[name].signed else 0)
            assert seen[SLICES[name]].max() <= 1
    hidden = table.observe_hidden()
    for name, wanted in values(GAME.hidden_blocks, hidden_quantities(position)).items():
        np.testing.assert_array_equal(hidden[HIDDEN_SLICES[name]], wanted.ravel(), err_msg=name)


@pytest.mark.parametrize("box", range(len(BOXES)), ids=["default", "small", "row", "large"])
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_every_block_equals_the_slow_one_through_whole_games(players: int, box: int) -> None:
    """Each kind of decision some times in each game, others at intervals."""
    checked: Counter[str] = Counter()
    for number, style in enumerate(STYLES):
        rules = {
            "sides": ("choose", "random")[(players + number) % 2],
            "salesman_cards": (players + number + box) % 2 == 0,
            "max_rounds": 20 + number,
        }
        table = Table.deal(players, rules, BOXES[box], seed=10 * players + box)
        rng = np.random.default_rng(100 * players + 10 * box + number)
        seen: Counter[str] = Counter()
        for decision, _ in enumerate(play_through(table, rng, style)):
            phase = PHASES[table.state.phase]
            seen[phase] += 1
            if seen[phase] <= 2 or decision % 40 == 0:
                checked[phase] += 1
                check_observations(table)
        check_observations(table)
    assert set(checked) >= set(DECISIONS) - {"side", "discard", "worker's pawn"}


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_every_block_equals_the_slow_one_while_all_place(players: int) -> None:
    """After every single placing of some rounds in the middle of a game, from every seat."""
    table = Table.deal(players, {"sides": "random"}, seed=players)
    rng = np.random.default_rng(players)
    while table.state.rounds < 5:
        for _ in play_through(table, rng, STYLES[1], 1):
            pass
    for _ in play_through(table, rng, STYLES[1]):
        if table.state.rounds == 6:
            break
        if PHASES[table.state.phase] == "place":
            check_observations(table)


@settings(max_examples=25)
@given(
    players=st.sampled_from(PLAYER_COUNTS),
    box=st.sampled_from(BOXES),
    style=st.sampled_from(STYLES),
    cards=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
    decisions=st.integers(0, 1200),
)
def test_every_block_equals_the_slow_one_anywhere(
    players: int, box: Components, style: dict[str, float], cards: bool, seed: int, decisions: int
) -> None:
    table = Table.deal(players, {"salesman_cards": cards}, box, seed=seed)
    for _ in play_through(table, np.random.default_rng(seed), style, decisions):
        pass
    check_observations(table)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_public_blocks_do_not_depend_on_secrets(players: int) -> None:
    """A block for all stays the same after another player guesses all that is hidden; the others do not."""
    table = Table.deal(players, {"salesman_cards": True}, seed=4)
    rng = np.random.default_rng(4)
    secret = set()
    for decision, _ in enumerate(play_through(table, rng, STYLES[2], 150)):
        if decision % 3:
            continue
        for viewer in range(players):
            guess = table.determinized(viewer, decision)
            for observer in range(players):
                seen, guessed = table.observe(observer), guess.observe(observer)
                secret |= {
                    declared.name
                    for declared in GAME.blocks
                    if not np.array_equal(seen[SLICES[declared.name]], guessed[SLICES[declared.name]])
                }
    assert secret == {declared.name for declared in GAME.blocks if declared.seen_by == "observer"}


# ---------------------------------------------------------------- no number without a meaning


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_nothing_but_empty_reserves_exceeds_its_unit_in_games_between_equals(players: int) -> None:
    """With the box's own tables."""
    exceeded, largest = set(), Counter[str]()
    for number in range(3):
        rules = {"sides": ("choose", "random")[number % 2], "salesman_cards": number > 1}
        table = Table.deal(players, rules, seed=7 * players + number)
        decisions = 0
        while not table.over:
            if decisions % 8 == 0:
                seen = quantities(read_position(table), table.player)
                for name, declared in DECLARED.items():
                    most = int(np.abs(np.asarray(seen[name], float)).max())
                    largest[name] = max(largest[name], most)
                    if most > declared.unit:
                        exceeded.add(name)
            table.step(heuristic_at(table.variant.rulesets, table.states, 0, table.mask()))
            decisions += 1
    assert exceeded <= {"empty_reserves"}
    assert largest["margin"] > 16
    assert largest["surplus"] > 10


def test_every_number_varies_but_those_that_the_box_fixes() -> None:
    """In games between random players and the heuristic; the box has twelve areas, and Frankfurt has one side."""
    low, high = np.ones(GAME.observation_size), -np.ones(GAME.observation_size)
    games = 128
    plan, chance = np.zeros(games, np.int64), np.zeros(games, np.int64)
    for players in PLAYER_COUNTS:
        env = vector.make("board", games, players, seed=players, rules={"salesman_cards": players > 2})
        step = env.reset()
        for draw in range(400):
            for seen in (step.observation, env.observe((step.player + 1) % players)):
                low, high = np.minimum(low, seen.min(axis=0)), np.maximum(high, seen.max(axis=0))
            heuristic_batch(env.variant.rulesets, env.states, step.mask, plan)
            engine.sample_batch(step.mask, step.num_legal, np.uint64(9), draw, chance)
            step = env.step(np.where((np.arange(games) + step.player) % 2 == 0, plan, chance))
    constant = {
        (name, tuple(int(place) for place in index))
        for name, slice_ in SLICES.items()
        for index in np.argwhere((low == high)[slice_].reshape(DECLARED[name].shape))
    }
    box = Components()
    unused = range(len(box.areas), 16)
    untraded = {
        (1 + number, resource)
        for number, tile in enumerate(box.exchange_tiles)
        for resource in range(5)
        if not any(box.exchanges[name][resource] for name in tile)
    }
    assert constant == {
        *(("cubes", (resource, area)) for resource in range(5) for area in unused),
        *(("workers", (seat, area)) for seat in range(4) for area in unused),
        *(("distance", (area,)) for area in unused),
        *(("origin", (7 + area,)) for area in unused),
        *(("prices", (0, resource)) for resource in range(5)),
        *((name, where) for name in ("prices", "raise") for where in untraded),
        ("present", (0,)),
        ("present", (1,)),
    }


# ---------------------------------------------------------------- by hand


def test_what_an_extraction_would_bring_counts_areas_and_the_best_price_of_each_seat() -> None:
    table = lay_out(
        3,
        areas={"Amur": ["gas", "oil"], "Magadan": ["gas"], "Yamal": ["gas", "gold"]},
        workers={0: ["Amur", "Magadan"], 1: ["Amur", "Amur"], 2: ["Vladivostok"]},
        salesmen={0: ["Tokyo"], 1: ["Frankfurt"], 2: ["Tokyo"]},
        sides=["Tokyo"],
    )
    gas = RESOURCES.index("gas")
    assert block(table, 0, "yield")[:, gas].tolist() == [2, 1, 0, 0]
    assert block(table, 0, "sale")[:, gas].tolist() == [6, 1, 0, 0]
    assert block(table, 1, "sale")[:, gas].tolist() == [1, 0, 6, 0]
    gold = RESOURCES.index("gold")
    assert block(table, 0, "best_price")[:3, gold].tolist() == [0, 2, 0]
    assert block(table, 0, "raise")[0].tolist() == [0, 1, 0, 2, 0]


def test_distances_run_through_exhausted_areas_and_stop_at_four() -> None:
    table = lay_out(workers={0: ["Khabarovsk"], 1: ["Yamal"]}, areas={"Magadan": []})
    areas = list(table.variant.components.areas)
    steps = dict(zip(areas, block(table, 0, "distance").tolist(), strict=False))
    assert steps["Khabarovsk"] == 0
    assert steps["Magadan"] == 0  # exhausted
    assert steps["Chukotka"] == 1
    assert steps["Yamal"] == 3
    assert steps["Novosibirsk"] == 4
    table = lay_out(workers={0: ["Novosibirsk"], 1: []})
    steps = dict(zip(areas, block(table, 0, "distance").tolist(), strict=False))
    assert steps["Khabarovsk"] == 4  # five steps


def test_own_plans_count_at_once_and_those_of_others_when_all_have_placed() -> None:
    hands = {
        0: ["gas/logistician", "oil/worker", "gold/worker", "gold/investor", "manager", "manager"],
        1: ["gas/salesman", "oil/salesman", "gold/salesman", "gas/worker", "gas/investor", "manager"],
    }
    table = lay_out(2, drawn=hands)
    worker, gas = ACTIONS.index("worker"), ACTIONS.index("gas")
    named = dict(zip(ACTIONS, block(table, 0, "counter").tolist(), strict=True))
    assert {action for action, value in named.items() if value} == {"gas", "logistician"}
    table.play("place resource", "place person")
    assert block(table, 0, "needs")[0, [gas, worker]].tolist() == [1, 1]
    assert block(table, 1, "needs")[1, [gas, worker]].tolist() == [2, 2]
    assert block(table, 0, "panel")[LYING.index(("worker", "oil/worker"))] == 1
    assert block(table, 0, "to_place").sum() == 2 * 2 + 2
    assert block(table, 0, "unseen_counters")[KINDS.index("gas/salesman")] == 3
    assert block(table, 1, "unseen_counters")[KINDS.index("gas/salesman")] == 2
    assert block(table, 0, "unseen_managers") == Components().counters["manager"] - 2
    assert block(table, 1, "unseen_managers") == Components().counters["manager"] - 1
    table.play("place person", "place research", "place person", "place research")
    assert block(table, 0, "counter").sum() == 0
    assert block(table, 0, "research")[0].tolist() == [0, 0, 0, 1, 0, 1]
    assert block(table, 1, "research")[1].tolist() == [0] * 6
    table.play(*["place person"] * 2, *["place research"] * 4)
    assert block(table, 1, "needs")[1, worker] == 0


def test_the_choice_of_sides_sees_what_stays_unsettled_as_not_traded() -> None:
    table = Table.deal(2, seed=1).play("side New York")
    assert block(table, 0, "prices")[1].tolist() == [0, 3, 0, 5, 4]
    assert not block(table, 0, "prices")[2:].any()
    assert block(table, 0, "side_prices").tolist() == [[2, 4, 0, 4, 0], [0, 3, 5, 3, 0]]
    assert block(table, 0, "best_price")[1].tolist() == [1, 1, 2, 2, 2]
    assert block(table, 0, "raise")[1].tolist() == [0, 2, 0, 3, 2]


def test_what_exceeds_a_unit_is_clipped() -> None:
    table = lay_out(2, money={0: 400}, reserve=dict.fromkeys(RESOURCES, 0))
    assert table.observe(0)[SLICES["scores"]].tolist() == [1, 0, 0, 0]
    assert table.observe(0)[SLICES["margin"]].tolist() == [1, 1, 0, 0]
    assert table.observe(1)[SLICES["margin"]].tolist() == [-1, -1, 0, 0]
    assert block(table, 0, "empty_reserves") == 3 * np.float32(1)
    small = Table.deal(2, None, SMALL, seed=1)
    assert block(small, 0, "to_exhaust") == 2
