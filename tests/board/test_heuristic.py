"""The board game's `heuristic`: what its plan promises, in positions by hand and against a slow search."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from siberia_agents.board.heuristic import (
    COUNTERS_DRAWN,
    COUNTS,
    FINDS,
    PERSON_VALUES,
    ROW,
    SALE_VALUES,
    time_left,
    value_managers,
    value_persons,
    value_sales,
)
from siberia_agents.greedy import GreedyAgent
from siberia_agents.heuristic import HeuristicAgent, heuristic_at, heuristic_batch
from siberia_agents.interface import Agent
from siberia_agents.random_agent import RandomAgent
from siberia_env import vector
from siberia_env.board.actions import PLACE_RESEARCH
from siberia_env.board.components import GAS, LOGISTICIAN, MANAGER, MANAGER_COUNTER, NUM_PANEL_ACTIONS, SPACES
from siberia_env.board.game import GAME
from siberia_env.board.state import AT_RESEARCH, CHOOSE_SIDE, DRAW, PLACE
from siberia_env.common.components import NUM_RESOURCES
from siberia_env.core import engine
from siberia_experiments.match import play_games
from tests.board.helpers import Table, lay_out
from tests.board.varied import BOXES
from tests.processes import run_python
from tests.table import PLAYER_COUNTS
from tests.test_agents import PLAIN, without_generator


def choice(table: Table) -> str:
    """The name of the plan's action."""
    action = int(heuristic_at(table.variant.rulesets, table.states, 0, table.mask()))
    assert table.mask()[action]
    return table.variant.names_in_play(table.states, 0)[action]


# ---------------------------------------------------------------- what it may know


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_choice_is_the_same_over_a_hundred_determinizations(players: int) -> None:
    """Twenty positions of each phase, in games that the plan itself and random players share."""
    samples, tried, sampled_otherwise = 100, Counter[int](), 0
    env = vector.make("board", 128, players, seed=3, rules={"salesman_cards": True})
    step = env.reset()
    plan, chance = np.zeros(env.num_envs, np.int64), np.zeros(env.num_envs, np.int64)
    actions = np.zeros(samples, np.int64)
    for draw in range(350):
        heuristic_batch(env.variant.rulesets, env.states, step.mask, plan)
        for row in range(env.num_envs):
            phase = int(env.states[row]["phase"])
            if tried[phase] < 20:
                tried[phase] += 1
                sampled = np.repeat(env.states[row : row + 1], samples)
                engine.determinize_batch(
                    env.variant.rulesets, sampled, np.repeat(step.player[row], samples), np.uint64(row)
                )
                heuristic_batch(
                    env.variant.rulesets, sampled, np.repeat(step.mask[row : row + 1], samples, axis=0), actions
                )
                assert set(actions.tolist()) == {plan[row]}
                sampled_otherwise += len(set(without_generator(sampled))) > 1
        engine.sample_batch(step.mask, step.num_legal, np.uint64(5), draw, chance)
        step = env.step(np.where((np.arange(env.num_envs) + draw) % 4 == 0, chance, plan))
    assert set(tried) == set(range(CHOOSE_SIDE, DRAW))
    assert sampled_otherwise > 0.8 * tried.total()


def test_it_plays_the_same_game_as_plain_python() -> None:
    program = PLAIN.replace("greedy", "heuristic").replace("variant(3)", 'variant(3, {"max_rounds": 4})')
    compiled = run_python("-c", program, "board").stdout
    assert run_python("-c", program, "board", NUMBA_DISABLE_JIT="1").stdout == compiled


# ---------------------------------------------------------------- placing together


def slow_placing(table: Table) -> int:
    """The first place in the best of all placings of the counters that are left, each added up from the start."""
    ruleset, state, player = table.variant.rulesets[0], table.state, table.player
    first, left = int(state.placed), time_left(ruleset, state)
    drawn = [int(kind) for kind in state.drawn[player]]
    start = (state.covered + state.tiles + state.planned)[player].astype(np.int64)
    persons, sales = np.zeros(PERSON_VALUES), np.zeros(SALE_VALUES)
    value_persons(ruleset, state, player, start, persons, left)
    value_sales(ruleset, state, player, sales, left)
    manager_research = value_managers(start, persons, sales, left)
    known = [kind for kind, where in zip(drawn[:first], state.plan[player], strict=False) if where == AT_RESEARCH]
    totals: list[tuple[float, int]] = []
    for places in product(range(3), repeat=COUNTERS_DRAWN - first):
        spaces, research = Counter(dict(enumerate(start.tolist()))), Counter(known)
        for kind, place in zip(drawn[first:], places, strict=True):
            if place == 0:
                research[kind] += 1
            elif place == 1:
                spaces[MANAGER if kind == MANAGER_COUNTER else LOGISTICIAN + kind // NUM_RESOURCES] += 1
            else:
                spaces[NUM_PANEL_ACTIONS if kind == MANAGER_COUNTER else GAS + kind % NUM_RESOURCES] += 1
        if max(spaces.values()) > SPACES or spaces[NUM_PANEL_ACTIONS]:
            continue
        total = manager_research * research[MANAGER_COUNTER]
        total += sum(persons[COUNTS * action + spaces[action]] for action in range(GAS))
        for resource in range(NUM_RESOURCES):
            found = sum(
                n for kind, n in research.items() if kind < MANAGER_COUNTER and kind % NUM_RESOURCES == resource
            )
            total += sales[ROW * resource + FINDS * spaces[GAS + resource] + found]
        totals.append((total, places[0]))
    best = max(total for total, _ in totals)
    return PLACE_RESEARCH + next(place for total, place in totals if total > best - 1e-9)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_counters_are_placed_as_the_best_of_all_placings_says(players: int) -> None:
    compared = Counter[int]()
    for seed in range(2):
        table = Table.deal(players, seed=seed)
        while not table.over and int(table.state.rounds) < 9:
            if int(table.state.phase) == PLACE and int(table.state.rounds) % 4 == 2 * seed:
                expected = slow_placing(table)
                assert heuristic_at(table.variant.rulesets, table.states, 0, table.mask()) == expected
                compared[expected - PLACE_RESEARCH] += 1
            table.play(choice(table))
    assert min(compared[place] for place in range(3)) > 2


def test_a_pair_that_makes_an_action_ready_is_placed_together() -> None:
    """Two counters that could each be half of something else are worth most as one worker."""
    drawn = {0: ["gas/worker", "charcoal/worker", "gas/logistician", "oil/investor", "gold/salesman", "manager"]}
    table = lay_out(drawn=drawn)
    ordered = table.drawn(0)
    placed = {}
    for counter in ordered:
        placed[counter] = choice(table)
        table.play(placed[counter])
    assert placed["gas/worker"] == placed["charcoal/worker"] == "place person"


# ---------------------------------------------------------------- selling


def exhausted_areas(names: list[str]) -> dict[str, list[str]]:
    """Areas without a cube, for `lay_out`."""
    return {name: [] for name in names}


ONE_OIL = {"Amur": ["oil", "gas"], "Khabarovsk": ["gas", "diamond"]}
OIL_READY = {0: {"oil": ["oil/worker", "oil/investor"]}}


def test_a_small_sale_waits_while_the_game_is_young() -> None:
    table = lay_out(areas=ONE_OIL, workers={0: ["Amur"]}, panels=OIL_READY)
    assert choice(table) == "pass"


@pytest.mark.parametrize(
    ("rules", "reserve", "exhausted"),
    [
        (None, {"gas": 0, "charcoal": 0, "gold": 0}, 0),
        (None, None, 8),
        ({"max_rounds": 1}, None, 0),
    ],
)
def test_in_the_last_round_everything_is_sold(rules: Any, reserve: Any, exhausted: int) -> None:
    """B24: three empty reserves, eight exhausted areas, or the round limit."""
    gone = [area for area in Table.deal().areas if area not in ONE_OIL][:exhausted]
    areas = {**ONE_OIL, **exhausted_areas(gone)}
    table = lay_out(rules=rules, areas=areas, reserve=reserve, workers={0: ["Amur"]}, panels=OIL_READY)
    assert choice(table) == "act oil"


def test_what_a_rival_could_sell_first_is_sold_first() -> None:
    """Oil comes before a better sale of gold while a rival who is ready for oil stands there too."""
    ready = ["oil/worker", "oil/investor"], ["oil/salesman", "oil/logistician"]
    areas = {"Amur": ["oil", "gas"], "Khabarovsk": ["oil", "gold"], "Irkutsk": ["diamond", "gas"]}
    areas |= {"Magadan": ["gold", "gas"], "Yakutia": ["diamond", "gold"]}
    panels = {0: {"oil": ready[0], "gold": ["gold/worker", "gold/investor"]}, 1: {"oil": ready[1]}}
    own = ["Amur", "Khabarovsk", "Magadan", "Yakutia"]
    trade: Any = {"sides": ["Shanghai"], "salesmen": {0: ["Shanghai"], 1: ["Shanghai"]}}
    together = lay_out(areas=areas, workers={0: own, 1: ["Amur", "Khabarovsk"]}, panels=panels, **trade)
    assert choice(together) == "act oil"
    apart = lay_out(areas=areas, workers={0: own, 1: ["Irkutsk"]}, panels=panels, **trade)
    assert choice(apart) == "act gold"


def test_the_game_is_ended_when_ahead() -> None:
    """The eighth area would be exhausted: who leads sells, who is behind waits for more."""
    table = Table.deal()
    gone = [area for area in table.areas if area not in ("Amur", "Khabarovsk", "Yamal")][:7]
    areas = {"Amur": ["oil"], "Khabarovsk": ["gas", "gold"], "Yamal": ["gold", "diamond"]} | exhausted_areas(gone)
    chosen = []
    for own, other in ((90, 40), (40, 90)):
        position = lay_out(areas=areas, workers={0: ["Amur"]}, panels=OIL_READY, money={0: own, 1: other})
        chosen.append(choice(position))
    assert chosen == ["act oil", "pass"]


# ---------------------------------------------------------------- the other decisions


def test_a_researched_cube_goes_to_an_own_worker_without_a_rival() -> None:
    areas = {"Amur": ["gas", "gold"], "Khabarovsk": ["gas", "gold"], "Irkutsk": ["gas", "gold"]}
    workers = {0: ["Amur", "Khabarovsk"], 1: ["Khabarovsk", "Irkutsk"]}
    table = lay_out(areas=areas, workers=workers, research={0: ["oil/worker"]})
    assert choice(table) == "area Amur"


def test_a_worker_goes_where_cubes_can_be_sold() -> None:
    """Gold is ready and trades well: the worker steps to the one neighbour that has it."""
    areas = {"Khabarovsk": ["gas"], "Amur": ["gold", "charcoal"]}
    panels = {0: {"logistician": ["gas/logistician", "oil/logistician"], "gold": ["gold/worker", "gold/investor"]}}
    table = lay_out(areas=areas, salesmen={0: ["Frankfurt", "New York"]}, sides=["New York"], panels=panels)
    assert choice(table) == "act logistician"
    table.play("act logistician")
    assert choice(table) == "from Vladivostok"
    table.play("from Vladivostok")
    assert choice(table) == "to Amur"


def test_a_wildcard_completes_what_is_worth_most() -> None:
    areas = {"Amur": ["oil", "gas"], "Khabarovsk": ["oil", "gold"], "Magadan": ["oil", "diamond"]}
    panels = {0: {"manager": ["manager", "manager"], "oil": ["oil/worker"], "diamond": ["diamond/worker"]}}
    gone = exhausted_areas(["Chukotka", "Taymyr", "Evenkia", "Yamal", "Irkutsk", "Zabaykalye", "Yakutia"])
    table = lay_out(areas=areas | gone, workers={0: ["Amur", "Khabarovsk", "Magadan"]}, panels=panels)
    table.play("act manager")
    assert choice(table) == "wildcard oil"


# ---------------------------------------------------------------- strength


@pytest.mark.parametrize(("players", "share"), [(2, 0.93), (3, 0.8), (4, 0.7)])
def test_it_wins_most_games_against_greedy_players(players: int, share: float) -> None:
    line = [HeuristicAgent(), *(GreedyAgent() for _ in range(players - 1))]
    assert play_games(GAME.variant(players), line, 400, seed=1).win_rate(0).value > share


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_it_beats_random_players(players: int) -> None:
    line: list[Agent] = [HeuristicAgent(), *(RandomAgent() for _ in range(players - 1))]
    assert play_games(GAME.variant(players), line, 200, seed=1).win_rate(0).low > 0.97


@pytest.mark.parametrize("box", range(len(BOXES)))
def test_it_finishes_games_under_all_rules_and_on_all_maps(box: int) -> None:
    for rules in (None, {"sides": "random", "salesman_cards": True}):
        results = play_games(GAME.variant(2, rules, BOXES[box]), [HeuristicAgent(), HeuristicAgent()], 40, seed=2)
        assert results.hit_limit.mean() < 0.1
        assert results.scores.mean() > 5
