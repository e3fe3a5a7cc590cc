"""The rules of the board game, one test or more for each number from B8 to B25, and B29."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from siberia_env.board.actions import DECISIONS
from siberia_env.board.components import ACTIONS, DEFAULT_AREAS, KINDS, Components
from siberia_env.board.game import GAME
from siberia_env.board.rules import open_box, open_price
from siberia_env.board.state import (
    AT_RESEARCH,
    DISCARD,
    EMPTY,
    NOBODY,
    NOT_PLACED,
    NOTHING,
    NUM_DECISIONS,
    OVER,
    PLACE,
    SETUP,
    TURN,
)
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine, rewards
from siberia_env.core.rng import advance, derive, sample_stream, scramble
from siberia_env.errors import ConfigurationError
from siberia_env.game import is_secret, reopen, revealed_hash, secret_decisions
from tests.board.helpers import FIRST_SIDES, Table, actions_of, check_everything, lay_out, open_game
from tests.board.test_components import box, box_with_map, line_of_areas
from tests.table import PLAYER_COUNTS, check_mask

AREAS = tuple(DEFAULT_AREAS)
PERSONS = ACTIONS[1:5]
START = "Vladivostok"


def ready(action: str) -> list[str]:
    """Two counters that cover both spaces of an action."""
    if action == "manager":
        return ["manager", "manager"]
    if action in RESOURCES:
        return [f"{action}/worker", f"{action}/investor"]
    return [f"gas/{action}", f"oil/{action}"]


def about_to(action: str, seats: Iterable[int] = (0,), **position: Any) -> Table:
    """A position in which the players on `seats` can take the action; further panels may be given."""
    panels = {seat: dict(rows) for seat, rows in position.pop("panels", {}).items()}
    for seat in seats:
        panels.setdefault(seat, {}).setdefault(action, ready(action))
    return lay_out(position.pop("num_players", 2), panels=panels, **position)


def everywhere(*cubes: str, but: dict[str, list[str]] | None = None) -> dict[str, list[str]]:
    """The same cubes in each area of the default map, `but` for some."""
    return {**{area: list(cubes) for area in AREAS}, **(but or {})}


def gone(number: int) -> dict[str, list[str]]:
    """The first areas of the default map, exhausted."""
    return {area: [] for area in AREAS[:number]}


def acts(table: Table) -> list[str]:
    """The actions that the player on turn can take."""
    return [name.removeprefix("act ") for name in table.legal() if name.startswith("act ")]


def place_all(table: Table) -> Table:
    """Everybody puts every counter to research."""
    while table.state.phase == PLACE:
        table.play("place research")
    return table


def pass_all(table: Table) -> Table:
    """Everybody passes, giving back the first counters offered where there are too many."""
    rounds = int(table.state.rounds)
    while table.state.rounds == rounds and not table.over:
        table.play("pass" if "pass" in table.legal() else table.legal()[0])
    return table


# ---------------------------------------------------------------- setup


def slow_setup(table: Table, seed: int) -> tuple[dict[str, list[str]], Counter[str]]:
    """B8 in words: one cube after the other from the generator, first area that takes it; areas and reserve."""
    components = table.variant.components
    generator = np.uint64(derive(np.uint64(seed), 0, 0))
    bag = [resource for resource in RESOURCES for _ in range(components.cubes[resource])]
    areas: dict[str, list[str]] = {area: [] for area in components.areas}
    reserve: Counter[str] = Counter()
    while any(len(cubes) < 2 for cubes in areas.values()):
        generator = np.uint64(advance(generator))
        cube = bag.pop((int(scramble(generator)) >> 32) * len(bag) >> 32)
        for cubes in areas.values():
            if len(cubes) < 2 and cube not in cubes:
                cubes.append(cube)
                break
        else:
            reserve[cube] += 1
    return areas, reserve + Counter(bag)


@pytest.mark.parametrize("areas", [2, 12, 16])
def test_B08_each_cube_goes_to_the_first_area_that_takes_it(areas: int) -> None:
    tables = box_with_map(line_of_areas(areas))
    for seed in range(20):
        table = Table.deal(2, None, tables, seed)
        wanted, reserve = slow_setup(table, seed)
        assert {area: sorted(table.cubes(area)) for area in table.areas} == {
            area: sorted(cubes) for area, cubes in wanted.items()
        }
        assert Counter(table.reserve()) == reserve
        check_everything(table)


def test_B08_a_cube_that_fits_nowhere_goes_to_the_reserve_and_drawing_goes_on() -> None:
    tables = box_with_map(line_of_areas(2))
    tables["cubes"] = {"gas": 40, "charcoal": 2, "oil": 1, "gold": 0, "diamond": 0}
    for seed in range(10):
        table = Table.deal(2, None, tables, seed)
        assert [len(table.cubes(area)) for area in table.areas] == [2, 2]
        on_map = Counter(cube for area in table.areas for cube in table.cubes(area))
        assert Counter(table.reserve()) + on_map == {"gas": 40, "charcoal": 2, "oil": 1}


def test_B08_cubes_are_drawn_blind() -> None:
    first = {tuple(tuple(Table.deal(2, seed=seed).cubes(area)) for area in AREAS) for seed in range(8)}
    assert len(first) == 8


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B09_the_starting_player_chooses_the_sides_tile_by_tile(players: int) -> None:
    table = Table.deal(players, seed=3)
    assert table.variant.rules["sides"] == "choose"
    for both in Components().exchange_tiles:
        assert table.player == 0
        assert table.legal() == [f"side {exchange}" for exchange in both]
        assert table.face_up() == []
        assert [len(table.cubes(area)) for area in AREAS] == [2] * 12
        check_everything(table)
        table.play(f"side {both[1]}")
    assert table.exchanges() == ["Frankfurt", *(both[1] for both in Components().exchange_tiles)]
    assert len(table.face_up()) == 4
    assert table.legal()[0] == "place research"


def test_B09_sides_come_in_the_order_of_the_tiles() -> None:
    table = Table.deal(2)
    assert table.refuses("side London")
    assert table.play("side Tokyo").refuses("side Tokyo")
    assert table.refuses("side New York")
    assert table.refuses("place research")


def test_B09_chosen_sides_set_the_prices() -> None:
    """Player 0 goes from Frankfurt to New York, player 1 to Mumbai as well."""
    sides = ["New York", "Hong Kong", "Shanghai", "Mumbai", "Sao Paulo"]
    table = open_game(rules={"sides": "choose"}).play(*(f"side {name}" for name in sides))
    assert table.exchanges() == ["Frankfurt", *sides]
    assert table.state.best_price[:2].tolist() == [[1, 1, 2, 2, 2]] * 2
    table.draw_and_place({0: ["salesman", "gas", "oil"], 1: ["salesman", "gas", "oil"]})
    table.play("act salesman", "pawn Frankfurt", "exchange New York", "act salesman", "pawn reserve", "exchange Mumbai")
    assert table.state.best_price[:2].tolist() == [[0, 3, 0, 5, 4], [3, 2, 2, 4, 2]]


def test_B09_random_sides_are_settled_by_the_deal() -> None:
    seen = Counter(
        exchange for seed in range(100) for exchange in Table.deal(2, {"sides": "random"}, seed=seed).exchanges()
    )
    assert seen.pop("Frankfurt") == 100
    assert set(seen) == set(Components().exchanges) - {"Frankfurt"}
    assert all(30 <= count <= 70 for count in seen.values())
    table = Table.deal(2, {"sides": "random"}, seed=1)
    assert table.legal()[0] == "place research"
    assert len(table.face_up()) == 4


def test_B09_given_sides_leave_nothing_to_choose() -> None:
    sides = ["New York", "London", "Toronto", "Mumbai", "Zurich"]
    for seed in range(5):
        table = Table.deal(3, {"sides": sides}, seed=seed)
        assert table.exchanges() == ["Frankfurt", *sides]
        assert table.legal()[0] == "place research"
        check_everything(table)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("sides", ["random", FIRST_SIDES])
def test_B10_setup(players: int, sides: Any) -> None:
    table = Table.deal(players, {"sides": sides}, seed=11)
    for player in range(players):
        assert table.workers(player) == {START: 1}
        assert table.salesmen(player) == {"Frankfurt": 1}
        assert table.pawns(player) == 4
        assert table.panel(player) == {}
        assert table.tiles(player) == []
    assert table.scores() == [0] * players
    assert len(table.face_up()) == 4
    assert len(table.tile_stack()) == 16
    assert table.player == table.state.start == 0
    check_everything(table)


def test_B10_a_new_game_owes_nothing_to_the_one_before() -> None:
    fresh = Table.deal(3, {"sides": "random", "salesman_cards": True}, seed=8)
    used = Table(fresh.variant)
    used.states.view(np.uint8)[:] = np.random.default_rng(0).integers(0, 256, used.states.nbytes, np.uint8)
    engine.deal_at(used.variant.rulesets, used.states, 0, np.uint64(8), 0, 0)
    assert used.states.tobytes() == fresh.states.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_B10_before_the_setup_everything_lies_in_the_box_and_nothing_else_is_known(seed: int) -> None:
    table = Table(GAME.variant(3))
    table.states.view(np.uint8)[:] = np.random.default_rng(seed).integers(0, 256, table.states.nbytes, np.uint8)
    generator = int(table.state.generator)
    open_box(table.variant.rulesets[0], table.state)
    components = Components()
    not_zero = {
        "generator": generator,
        "steps": table.variant.rulesets[0].adjacent,
        "bag": list(components.counters.values()),
        "bag_size": 70,
        "reserve": list(components.cubes.values()),
        "phase": SETUP,
        **dict.fromkeys(("panel", "drawn"), EMPTY),
        **dict.fromkeys(("resource", "origin"), NOTHING),
        "card_owner": NOBODY,
        "plan": NOT_PLACED,
    }
    for name in table.state.dtype.names:
        assert np.all(table.state[name] == not_zero.get(name, 0)), name
    for place, ways in ((START, ["Khabarovsk", "Amur"]), ("Amur", ["Khabarovsk", "Yakutia", "Zabaykalye"])):
        assert table.in_set(table.state.steps[table.place_number(place)]) == ways


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B10_the_start_moves_to_the_next_seat(players: int) -> None:
    table = Table.deal(players, {"sides": "random"}, seed=2)
    starts = []
    for _ in range(2 * players + 1):
        starts.append(table.player)
        assert table.player == table.state.start
        place_all(table)
        while table.state.phase != PLACE:
            table.play("pass" if "pass" in table.legal() else table.legal()[0])
    assert starts == [number % players for number in range(2 * players + 1)]


def test_B10_the_investment_tiles_are_shuffled() -> None:
    stacks = {tuple(Table.deal(2, {"sides": "random"}, seed=seed).tile_stack()) for seed in range(6)}
    assert len(stacks) == 6
    with_few = box()
    with_few["investment_tiles"] = {**dict.fromkeys(ACTIONS, 0), "gas": 4}
    table = Table.deal(2, {"sides": "random"}, with_few)
    assert table.face_up() == ["gas"] * 4
    assert table.tile_stack() == []


# ---------------------------------------------------------------- phase 1: place

SIX = ["gas/logistician", "oil/logistician", "gas/worker", "gold/worker", "charcoal/investor", "manager"]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_all_draw_six_before_anyone_places(players: int) -> None:
    table = Table.deal(players, {"sides": "random"}, seed=5)
    assert [len(table.drawn(player)) for player in range(players)] == [6] * players
    assert sum(table.bag().values()) == 70 - 6 * players
    assert table.player == 0


def test_B11_every_counter_is_as_likely_as_its_number_in_the_bag() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(300):
        drawn.update(Table.deal(4, {"sides": "random"}, seed=seed).drawn(seed % 4))
    total = sum(drawn.values())
    managers = drawn["manager"] / total
    assert abs(managers - 14 / 70) < 0.04
    assert all(0.4 < drawn[kind] / total / (count / 70) < 1.7 for kind, count in Components().counters.items())


@pytest.mark.parametrize("start", [0, 1, 2])
def test_B11_nothing_on_the_table_changes_before_all_have_placed(start: int) -> None:
    panels = {seat: {"gas": ["gas/investor"]} for seat in range(3)}
    table = lay_out(3, panels=panels, drawn={start: SIX}, start=start)
    public = ("panel", "covered", "counters", "research", "research_size", "bag", "reserve", "lying", "money")
    before = {name: table.state[name].copy() for name in public}
    order = []
    for placed in range(18):
        assert table.state.phase == PLACE
        for name in public:
            assert np.array_equal(table.state[name], before[name]), name
        order.append(table.player)
        table.play(table.legal()[-1] if placed < 6 else "place research")
        check_everything(table)
    assert order == [seat % 3 for seat in range(start, start + 3) for _ in range(6)]
    assert table.state.phase != PLACE
    assert table.panel(start) == {
        "gas": ["gas/investor", "gas/logistician"],
        "oil": ["oil/logistician"],
        "worker": ["gas/worker"],
        "gold": ["gold/worker"],
        "charcoal": ["charcoal/investor"],
        "manager": ["manager"],
    }
    assert table.panel((start + 1) % 3) == {"gas": ["gas/investor"]}
    assert not table.state.planned.any()


def test_B11_nobody_sees_what_the_others_drew_or_plan() -> None:
    of_1 = ["oil/salesman"] * 3 + ["gold/salesman"] * 3
    one = lay_out(drawn={0: SIX, 1: of_1})
    other = lay_out(drawn={0: ["diamond/worker"] * 2 + ["manager"] * 4, 1: of_1})
    for _ in range(6):
        assert np.array_equal(one.observe(1), other.observe(1))
        assert not np.array_equal(one.observe(0), other.observe(0))
        one.play(one.legal()[-1])
        other.play("place research")
    assert one.player == other.player == 1
    assert np.array_equal(one.observe(1), other.observe(1))
    assert np.array_equal(one.mask(), other.mask())
    assert not np.array_equal(place_all(one).observe(1), place_all(other).observe(1))


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_placing_and_nothing_else_is_secret(players: int) -> None:
    table, rng = Table.deal(players, {"max_rounds": 4}, seed=players), np.random.default_rng(players)
    kinds = set()
    while not table.over:
        placing = all(name.startswith("place ") for name in table.legal())
        assert is_secret(table.variant.rulesets[0], table.state) == placing
        kinds.add(placing)
        table.play_at_random(rng, 1)
    assert kinds == {True, False}


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_what_is_shown_is_what_the_others_drew_and_where_they_placed_it(players: int) -> None:
    """Another number for each change of one counter or one place of the others, and for none of the own ones."""
    table = Table.deal(players, {"sides": "random"}, seed=players)
    table.play_at_random(np.random.default_rng(players), 6 * players)
    ruleset = table.variant.rulesets[0]
    for player in range(players):
        numbers = [revealed_hash(ruleset, table.state, player)]
        for seat in range(players):
            for field in ("drawn", "plan"):
                for index in range(6):
                    changed = table.copy()
                    changed.state[field][seat, index] += 1
                    number = revealed_hash(ruleset, changed.state, player)
                    if seat == player:
                        assert number == numbers[0]
                    else:
                        numbers.append(number)
        assert len(set(numbers)) == len(numbers) == 1 + 12 * (players - 1)
        assert min(numbers) >= 0
        assert 2**30 <= max(numbers) < 2**31


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_secret_decisions_are_the_counters_placed_since_all_have_drawn(players: int) -> None:
    table, rng = Table.deal(players, {"sides": "random", "max_rounds": 3}, seed=players), np.random.default_rng(players)
    counts, rounds = dict.fromkeys(range(players), 0), 0
    while not table.over:
        ruleset = table.variant.rulesets[0]
        assert [secret_decisions(ruleset, table.state, player) for player in range(players)] == list(counts.values())
        if is_secret(ruleset, table.state):
            counts[table.player] += 1
        table.play_at_random(rng, 1)
        if set(counts.values()) == {6}:  # and now all see them
            counts, rounds = dict.fromkeys(range(players), 0), rounds + 1
    assert rounds == 3


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B11_reopened_placings_can_be_made_again(players: int) -> None:
    """Taken back to any number and made again as they were, they leave the state as it was, byte for byte."""
    table, rng = Table.deal(players, {"sides": "random"}, seed=players), np.random.default_rng(players)
    table.play_at_random(rng, 6 * players - 2)  # the last player has placed four counters
    ruleset, before, turn = table.variant.rulesets[0], table.state.tobytes(), table.player
    plans = table.state.plan.copy()
    for player in range(players):
        placed = secret_decisions(ruleset, table.state, player)
        for kept in range(placed + 1):
            reopen(ruleset, table.state, player, kept)
            assert table.player == player
            assert table.state.planned[player].sum() == (plans[player, :kept] > AT_RESEARCH).sum()
            assert not table.state.plan[player, kept:].any()
            for index in range(kept, placed):
                table.play(f"place {('research', 'person', 'resource')[plans[player, index] - AT_RESEARCH]}")
            reopen(ruleset, table.state, turn, 4)
            assert table.state.tobytes() == before


def test_B12_counters_come_up_by_person_then_resource_managers_last() -> None:
    table = Table.deal(4, {"sides": "random"}, seed=1)
    persons = ("logistician", "salesman", "worker", "investor")
    order = [*(f"{resource}/{person}" for person in persons for resource in RESOURCES), "manager"]
    for player in range(4):
        assert table.drawn(player) == sorted(table.drawn(player), key=order.index)
    hand = ["manager", "oil/investor", "gas/investor", "diamond/worker", "gold/salesman", "charcoal/logistician"]
    assert lay_out(drawn={0: hand}).drawn(0) == [hand[5], hand[4], hand[3], hand[2], hand[1], hand[0]]


def test_B12_research_person_or_resource() -> None:
    table = lay_out(drawn={0: SIX})
    assert table.legal() == ["place research", "place person", "place resource"]
    for name, panel, research in (
        ("place research", {}, ["gas"]),
        ("place person", {"logistician": ["gas/logistician"]}, []),
        ("place resource", {"gas": ["gas/logistician"]}, []),
    ):
        after = place_all(table.copy().play(name))
        assert after.panel(0) == panel
        lay = Counter(["gas", "oil", "gas", "gold", "charcoal", "manager"]) - Counter([] if research else ["gas"])
        assert Counter([*after.research(0), RESOURCES[after.state.resource]]) == lay


def test_B12_a_manager_goes_to_manager_or_research() -> None:
    table = lay_out(drawn={0: ["manager"] * 6})
    assert table.legal() == ["place research", "place person"]
    assert table.refuses("place resource")
    table.play("place person", "place person")
    assert table.legal() == ["place research"]


@pytest.mark.parametrize("full", ["counters", "tile", "wildcard", "wildcards"])
def test_B12_a_full_action_takes_no_counter(full: str) -> None:
    lying = {
        "counters": ["gas/worker", "gas/investor"],
        "tile": ["gas/worker"],
        "wildcard": ["gas/worker", "manager"],
        "wildcards": ["manager", "manager"],
    }[full]
    table = lay_out(panels={0: {"gas": lying}}, tiles={0: ["gas"]} if full == "tile" else {}, drawn={0: SIX})
    assert table.legal() == ["place research", "place person"]
    assert table.refuses("place resource")


def test_B12_plans_cover_spaces_too_and_a_full_counter_must_go_to_research() -> None:
    hand = ["gas/logistician"] * 3 + ["oil/logistician", "gas/salesman", "gas/worker"]
    table = lay_out(drawn={0: hand}, panels={0: {"logistician": ["gold/logistician"]}})
    table.play("place resource", "place resource")
    assert table.legal() == ["place research", "place person"]
    table.play("place person")
    assert table.drawn(0)[3] == "oil/logistician"
    assert table.legal() == ["place research", "place resource"]
    table.play("place resource")
    assert table.legal() == ["place research", "place person"]
    both_full = lay_out(drawn={0: ["gas/logistician"] * 3 + SIX[1:4]}, panels={0: {"gas": ready("gas")}})
    both_full.play("place person", "place person")
    assert both_full.legal() == ["place research"]


@pytest.mark.parametrize(
    ("hand", "lying", "tiles"),
    [
        (SIX, {}, []),
        (["gas/logistician"] * 3 + ["manager"] * 3, {"gas": ["gas/worker"]}, ["logistician"]),
        (["gas/worker", "oil/worker", "gold/worker", "gas/investor", "oil/investor", "manager"], {}, ["gas"]),
    ],
)
def test_B12_every_placing_can_be_reached(hand: list[str], lying: dict[str, list[str]], tiles: list[str]) -> None:
    start = lay_out(drawn={0: hand}, panels={0: lying}, tiles={0: tiles})
    hand = start.drawn(0)
    room = {action: 2 - len(lying.get(action, [])) - (action in tiles) for action in ACTIONS}
    wanted = set()
    for placing in product(("research", "person", "resource"), repeat=6):
        targets = Counter()
        for counter, where in zip(hand, placing, strict=True):
            if where == "resource" and counter == "manager":
                break
            if where != "research":
                targets[actions_of(counter)[0 if where == "person" else 1]] += 1
        else:
            if all(count <= room[action] for action, count in targets.items()):
                wanted.add(placing)

    def placings(table: Table) -> Iterator[tuple[str, ...]]:
        if table.player == 1:
            yield tuple(table.plan(0))
            return
        for name in table.legal():
            yield from placings(table.copy().play(name))

    reached = list(placings(start))
    assert len(reached) == len(set(reached))
    assert set(reached) == wanted


# ---------------------------------------------------------------- phase 2: act


def test_B13_one_action_each_until_all_have_passed() -> None:
    panels = {1: {"gas": ready("gas")}, 2: {"gas": ready("gas"), "oil": ready("oil")}}
    table = lay_out(3, panels=panels, player=1, start=1)
    order = []
    for name in ("act gas", "act gas", "pass", "pass", "act oil"):
        order.append(table.player)
        assert table.state.rounds == 0
        table.play(name)
    assert order == [1, 2, 0, 1, 2]
    assert table.player == 2
    assert table.passed() == [0, 1]
    table.play("pass")
    assert table.state.rounds == 1
    assert table.state.phase == PLACE
    assert table.player == 2


def test_B13_passing_is_always_possible_and_final() -> None:
    table = lay_out(3)
    assert table.legal() == ["pass"]
    table = lay_out(2, panels={0: {"gas": ready("gas")}, 1: {"gas": ready("gas"), "oil": ready("oil")}})
    table.play("pass", "act gas")
    assert table.player == 1
    table.play("act oil")
    assert table.player == 1
    table.play("pass")
    assert table.state.rounds == 1
    assert table.passed() == []


def test_B13_research_comes_first_and_has_no_name() -> None:
    panels = {seat: {"gas": ready("gas")} for seat in range(2)}
    table = lay_out(2, areas=everywhere("gas"), panels=panels, research={0: ["oil/worker"]})
    assert table.player == 0
    assert set(table.legal()) == {f"area {area}" for area in AREAS}
    assert table.refuses("pass")
    assert table.refuses("act gas")
    table.play("area Yamal")
    assert table.player == 1
    assert table.legal() == ["pass", "act gas"]
    assert not any("research" in name and "place" not in name for name in table.variant.action_names)


def test_B13_research_begins_on_each_players_own_first_turn() -> None:
    table = lay_out(2, areas=everywhere("gas"), research={0: ["oil/worker"], 1: ["gold/worker"]})
    table.play("area Yamal")
    assert table.player == 1
    assert table.state.resource == RESOURCES.index("gold")
    table.play("area Yamal")
    assert table.player == 0
    assert table.legal() == ["pass"]
    assert table.cubes("Yamal") == ["gas", "oil", "gold"]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B13_research_that_places_nothing_takes_the_whole_turn(players: int) -> None:
    panels = {seat: {"gas": ["manager", "manager"]} for seat in range(players)}
    table = lay_out(players, panels=panels, research={0: ["oil/worker"]}, reserve={"oil": 0})
    assert table.player == 1
    assert table.legal() == ["pass", "act gas"]
    assert table.passed() == []
    assert table.bag()["oil/worker"] == 3
    table.play(*["pass"] * (players - 1))
    assert table.player == 0
    assert table.legal() == ["pass", "act gas"]
    check_everything(table)


def test_B13_even_if_that_is_so_for_everybody_the_round_goes_on() -> None:
    table = lay_out(2, research={0: ["oil/worker"], 1: ["oil/salesman"]}, reserve={"oil": 0})
    assert (table.player, table.legal()) == (0, ["pass"])
    assert table.state.rounds == 0


def test_B13_nothing_at_research_leaves_the_first_turn_free() -> None:
    table = lay_out(2, panels={0: {"gas": ready("gas")}}, research={1: ["oil/worker"]})
    assert table.legal() == ["pass", "act gas"]
    table.play("pass")
    assert table.player == 1
    assert table.legal()[0].startswith("area ")


@pytest.mark.parametrize("action", ACTIONS)
def test_B14_an_action_needs_both_spaces_covered(action: str) -> None:
    first, second = ready(action)
    assert acts(lay_out(panels={0: {action: [first, second]}})) == [action]
    assert acts(lay_out(panels={0: {action: [first]}}, tiles={0: [action]})) == [action]
    assert acts(lay_out(panels={0: {action: [first]}})) == []
    assert acts(lay_out(tiles={0: [action]})) == []
    assert acts(lay_out()) == []
    assert acts(lay_out(panels={1: {action: [first, second]}})) == []
    assert lay_out(panels={0: {action: [first]}}).refuses(f"act {action}")
    if action != "manager":
        assert acts(lay_out(panels={0: {action: [first, "manager"]}})) == [action]
        assert acts(lay_out(panels={0: {action: ["manager", "manager"]}})) == [action]
        assert acts(lay_out(panels={0: {action: ["manager"]}}, tiles={0: [action]})) == [action]


@pytest.mark.parametrize("action", ACTIONS)
def test_B14_its_counters_go_back_to_the_bag_and_tiles_stay(action: str) -> None:
    other = "oil" if action != "oil" else "gold"
    others = {other: ready(other)}
    for counters, tiles in ((ready(action), []), (ready(action)[:1], [action])):
        table = lay_out(panels={0: {action: counters, **others}}, tiles={0: tiles})
        before = table.bag()
        table.play(f"act {action}")
        assert table.bag() - before == Counter(counters)
        assert table.panel(0) == others
        assert table.tiles(0) == tiles
        assert table.state.counters[0] == 2
        check_everything(table)


def test_B14_wildcards_pay_and_return_to_the_bag() -> None:
    table = lay_out(panels={0: {"gas": ["gas/worker", "manager"], "oil": ["manager", "manager"]}})
    assert table.bag()["manager"] == 11
    table.play("act gas", "pass")
    assert table.bag()["manager"] == 12
    table.play("act oil")
    assert table.bag()["manager"] == 14
    assert table.panel(0) == {}


def test_B14_an_impossible_effect_only_costs_the_counters() -> None:
    cases: list[tuple[str, dict[str, Any], list[str]]] = [
        ("gas", {"workers": {0: [START]}}, []),
        ("gas", {"workers": {0: ["Amur"]}, "areas": {"Amur": ["gas"]}, "salesmen": {0: []}}, []),
        ("logistician", {"workers": {0: []}}, ["stop"]),
        ("investor", {"face_up": ["gas", "gas", "oil", "oil"], "tiles": {0: ["gas", "oil"]}}, []),
        ("worker", {"workers": {0: [START] * 6}, "salesmen": {0: []}}, []),
    ]
    for action, position, rest in cases:
        if action == "investor":
            position["components"] = {**box(), "investment_tiles": {**dict.fromkeys(ACTIONS, 2), "gas": 3, "oil": 3}}
        table = about_to(action, **position)
        before = table.copy()
        table.play(f"act {action}", *rest)
        assert table.player == 1, action
        assert table.panel(0) == {}
        assert sum(table.bag().values()) == 70
        assert table.scores() == [0, 0]
        for name in ("lying", "workers", "salesmen", "pawns", "tiles", "face_up", "reserve"):
            assert np.array_equal(table.state[name], before.state[name]), (action, name)
        check_everything(table)


# ---------------------------------------------------------------- research


def test_B15_resources_in_their_order_then_managers() -> None:
    research = ["manager", "diamond/worker", "gas/salesman", "manager", "oil/worker", "gas/investor"]
    table = lay_out(areas=everywhere("charcoal"), research={0: research})
    assert table.bag() == Counter(Components().counters)
    for resource, area in (("gas", "Amur"), ("gas", "Yamal"), ("oil", "Amur"), ("diamond", "Amur")):
        assert RESOURCES[table.state.resource] == resource
        table.play(f"area {area}")
        assert table.player == 0
    assert table.legal() == ["resource gas", "resource oil", "resource gold", "resource diamond"]
    table.play("resource gold", "area Amur")
    assert table.legal() == ["resource gas", "resource oil", "resource gold", "resource diamond"]
    table.play("resource gas", "area Magadan")
    assert table.player == 1
    assert table.cubes("Amur") == ["gas", "charcoal", "oil", "gold", "diamond"]
    assert table.cubes("Yamal") == ["gas", "charcoal"]
    assert table.cubes("Magadan") == ["gas", "charcoal"]
    assert table.reserve() == {"gas": 15, "charcoal": 4, "oil": 13, "gold": 11, "diamond": 9}
    check_everything(table)


def test_B15_never_twice_the_same_resource_in_an_area() -> None:
    table = lay_out(
        areas=everywhere("gas", but={"Amur": ["oil"], "Yamal": ["gold"]}), research={0: ["gas/worker", "gas/salesman"]}
    )
    assert table.legal() == ["area Amur", "area Yamal"]
    assert table.refuses("area Irkutsk")
    table.play("area Amur")
    assert table.legal() == ["area Yamal"]
    table.play("area Yamal")
    assert table.player == 1


def test_B15_never_into_an_exhausted_area() -> None:
    table = lay_out(
        areas=everywhere("gas", but={"Amur": ["oil"], "Yamal": [], "Irkutsk": []}), research={0: ["gas/worker"]}
    )
    assert table.legal() == ["area Amur"]
    assert table.refuses("area Yamal")


def test_B15_a_resource_whose_reserve_is_empty_is_skipped() -> None:
    table = lay_out(
        areas=everywhere("gas"),
        research={0: ["oil/worker", "oil/salesman", "diamond/worker", "manager"]},
        reserve={"oil": 1, "gold": 0},
    )
    table.play("area Amur")
    assert RESOURCES[table.state.resource] == "diamond"
    table.play("area Amur")
    assert table.legal() == ["resource charcoal", "resource diamond"]
    assert table.refuses("resource oil")
    assert table.refuses("resource gold")
    assert table.refuses("resource gas")
    check_everything(table)


def test_B15_a_resource_that_lies_everywhere_is_skipped() -> None:
    areas = everywhere("gas", "oil", but={"Amur": ["gas"], "Yamal": []})
    table = lay_out(areas=areas, research={0: ["gas/worker", "oil/worker", "oil/salesman"]})
    assert RESOURCES[table.state.resource] == "oil"
    assert table.legal() == ["area Amur"]
    table.play("area Amur")
    assert table.player == 1
    assert table.bag() == Counter(Components().counters)


def test_B15_a_manager_without_any_resource_left_is_skipped() -> None:
    table = lay_out(research={0: ["manager"] * 2}, reserve=dict.fromkeys(RESOURCES, 0))
    assert table.player == 1
    assert table.bag()["manager"] == 14
    last_one = lay_out(
        areas=everywhere("gas"), research={0: ["manager"] * 2}, reserve={**dict.fromkeys(RESOURCES, 0), "gold": 1}
    )
    assert last_one.legal() == ["resource gold"]
    last_one.play("resource gold", "area Amur")
    assert last_one.player == 1


@pytest.mark.parametrize("resource", RESOURCES)
def test_B15_a_manager_finds_the_only_resource_that_is_left(resource: str) -> None:
    position = {"areas": everywhere("gas" if resource != "gas" else "oil"), "research": {0: ["manager"]}}
    table = lay_out(**position, reserve={**dict.fromkeys(RESOURCES, 0), resource: 1})
    assert table.legal() == [f"resource {resource}"]


def test_B15_a_chosen_resource_must_be_placed() -> None:
    table = lay_out(areas=everywhere("gas"), research={0: ["manager"]}).play("resource oil")
    assert table.legal() == [f"area {area}" for area in AREAS]
    assert table.refuses("resource gold")
    assert table.refuses("pass")


def test_B15_all_research_counters_go_back_at_once() -> None:
    research = ["gas/worker", "oil/worker", "gold/worker", "gas/salesman", "manager", "manager"]
    table = lay_out(areas=everywhere("charcoal"), research={0: research, 1: ["gas/worker"]})
    assert sum(table.bag().values()) == 69
    assert table.state.research_size[:2].tolist() == [0, 1]
    check_everything(table)


# ---------------------------------------------------------------- manager


def test_B16_a_wildcard_goes_on_any_uncovered_space_of_another_action() -> None:
    table = about_to("manager", panels={0: {"gas": ["gas/worker"], "oil": ready("oil")}}, tiles={0: ["gold"]})
    table.play("act manager")
    free = [action for action in ACTIONS if action not in ("manager", "oil")]
    assert table.legal() == [*(f"wildcard {action}" for action in free), "wildcard none"]
    assert table.refuses("wildcard oil")
    assert "wildcard manager" not in table.variant.action_names
    table.play("wildcard gas")
    assert table.panel(0) == {"gas": ["gas/worker", "manager"], "oil": ready("oil")}
    assert table.bag()["manager"] == 13
    assert table.player == 1
    check_everything(table)


def test_B16_never_on_its_own_action_even_where_a_space_is_free() -> None:
    table = lay_out(panels={0: {"manager": ["manager"]}}, tiles={0: ["manager"]}).play("act manager")
    assert table.panel(0) == {}
    assert table.legal() == [*(f"wildcard {action}" for action in ACTIONS[1:]), "wildcard none"]


def test_B16_wildcard_none_returns_both_managers() -> None:
    table = about_to("manager").play("act manager", "wildcard none")
    assert table.bag()["manager"] == 14
    assert table.panel(0) == {}
    assert table.player == 1


def test_B16_with_a_tile_the_only_manager_may_be_the_wildcard() -> None:
    table = lay_out(panels={0: {"manager": ["manager"]}}, tiles={0: ["manager"]})
    table.play("act manager", "wildcard gold")
    assert table.panel(0) == {"gold": ["manager"]}
    assert table.bag()["manager"] == 13
    assert table.tiles(0) == ["manager"]


def test_B16_two_wildcards_at_one_action_and_one_beside_a_tile() -> None:
    table = about_to("manager", panels={0: {"gas": ["manager"]}}).play("act manager", "wildcard gas")
    assert table.panel(0) == {"gas": ["manager", "manager"]}
    assert acts(table.play("pass")) == ["gas"]
    beside = about_to("manager", tiles={0: ["gold"]}).play("act manager", "wildcard gold", "pass")
    assert beside.panel(0) == {"gold": ["manager"]}
    assert acts(beside) == ["gold"]
    again = about_to("manager", panels={0: {"gold": ["manager"]}}, tiles={0: ["gold"]}).play("act manager")
    assert again.refuses("wildcard gold")


def test_B16_the_wildcard_stays_over_the_rounds_end() -> None:
    table = about_to("manager").play("act manager", "wildcard gas")
    pass_all(table)
    assert table.state.rounds == 1
    assert table.panel(0) == {"gas": ["manager"]}
    check_everything(table)


def test_B16_with_every_other_space_covered_only_none_is_left() -> None:
    panels = {"gas": ["gas/worker"] * 2, "charcoal": ["charcoal/worker"] * 2, "oil": ["oil/worker"] * 2}
    panels |= {"gold": ["gold/worker"] * 2, "diamond": ["diamond/worker"] * 2}
    panels |= {person: [f"gas/{person}", f"oil/{person}"] for person in ("logistician", "salesman", "investor")}
    panels["worker"] = ["gas/worker", "oil/worker"]
    table = about_to("manager", panels={0: panels}).play("act manager")
    assert table.legal() == ["wildcard none"]


# ---------------------------------------------------------------- logistician


def test_B17_up_to_three_steps_among_the_workers() -> None:
    table = about_to("logistician", workers={0: [START, "Irkutsk"], 1: ["Yamal"]})
    table.play("act logistician")
    assert table.legal() == ["from Irkutsk", f"from {START}", "stop"]
    table.play(f"from {START}")
    assert table.legal() == ["to Khabarovsk", "to Amur"]
    table.play("to Amur", "from Irkutsk")
    assert table.legal() == ["to Yakutia", "to Zabaykalye", "to Evenkia", "to Krasnoyarsk"]
    assert table.refuses("stop")
    table.play("to Zabaykalye", "from Amur", "to Zabaykalye")
    assert table.workers(0) == {"Zabaykalye": 2}
    assert table.player == 1
    check_everything(table)


def test_B17_one_worker_may_take_all_steps_and_go_back() -> None:
    table = about_to("logistician", workers={0: ["Amur"]})
    table.play("act logistician", "from Amur", "to Yakutia", "from Yakutia", "to Amur", "from Amur", "to Yakutia")
    assert table.workers(0) == {"Yakutia": 1}
    assert table.player == 1


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_B17_steps_may_be_waived(steps: int) -> None:
    table = about_to("logistician", workers={0: ["Amur"]}).play("act logistician")
    for here, there in (("Amur", "Yakutia"), ("Yakutia", "Irkutsk"))[:steps]:
        table.play(f"from {here}", f"to {there}")
    assert "stop" in table.legal()
    table.play("stop")
    assert table.player == 1
    assert table.workers(0) == {("Amur", "Yakutia", "Irkutsk")[steps]: 1}
    assert table.state.steps_left == 0


def test_B17_only_own_workers_move() -> None:
    table = about_to("logistician", workers={0: ["Amur"], 1: ["Yamal"]}).play("act logistician")
    assert table.legal() == ["from Amur", "stop"]
    assert table.refuses("from Yamal")


def test_B17_stop_is_asked_even_alone() -> None:
    table = about_to("logistician", workers={0: []}).play("act logistician")
    assert table.legal() == ["stop"]
    assert table.play("stop").player == 1


def step_to(*areas: str) -> str:
    """A logistician's turn for `Table.take_turns`: one worker from Vladivostok over these areas."""
    steps = [f"from {here}, to {there}" for here, there in pairwise((START, *areas))]
    return ", ".join(["act logistician", *steps, *(["stop"] if len(areas) < 3 else [])])


def test_B17_from_names_only_places_from_which_a_step_is_possible() -> None:
    """Players 1 and 2 empty the areas B and C behind A, in the second round player 3 may empty A as well."""
    components = box_with_map({"A": ["B"], "B": ["A", "C"], "C": ["B"]}, "A", "B")
    lying = {"A": ["gas", "oil"], "B": ["gas", "oil"], "C": ["charcoal", "diamond"]}
    table = open_game(4, components=components, areas=lying)
    mining = {1: ["logistician", "gas", "oil"], 2: ["logistician", "charcoal", "diamond"]}
    table.draw_and_place({0: ["worker", "manager", "investor"], 3: ["worker", "manager", "investor"], **mining})
    mined = {1: [step_to("B"), "act gas", "act oil"], 2: [step_to("B", "C"), "act charcoal", "act diamond"]}
    table.take_turns({0: ["act worker"], **mined})
    assert table.exhausted() == ["B", "C"]
    assert table.workers(0) == {START: 2}
    table.draw_and_place({0: ["logistician", "gold", "salesman"], 3: ["logistician", "gas", "oil"]})
    exhausted = table.copy()
    table.take_turns({0: ["act logistician"]}, to_the_end=False)
    assert table.legal() == [f"from {START}", "stop"]
    table.play(f"from {START}")
    assert table.legal() == ["to A"]
    table.play("to A")
    assert table.legal() == [f"from {START}", "stop"]
    table.play(f"from {START}", "to A")
    assert table.legal() == ["stop"]

    waiting = ["act gold", "act salesman, pawn reserve, exchange Tokyo"]
    mined = {3: [step_to("A"), "act gas", "act oil"], 0: [*waiting, "act logistician"]}
    exhausted.take_turns(mined, to_the_end=False)
    assert exhausted.exhausted() == ["A", "B", "C"]
    assert exhausted.legal() == ["stop"]


def test_B17_nothing_leads_into_vladivostok() -> None:
    for area in AREAS:
        table = about_to("logistician", workers={0: [area]}).play("act logistician", f"from {area}")
        assert table.legal() == [f"to {other}" for other in AREAS if other in DEFAULT_AREAS[area]]
    assert f"to {START}" not in table.variant.action_names


def test_B17_the_arrows_are_one_way() -> None:
    table = about_to("logistician", workers={0: ["Khabarovsk"]}).play("act logistician", "from Khabarovsk")
    assert table.legal() == ["to Amur", "to Magadan", "to Yakutia"]


def test_B17_exhausted_areas_are_passed_through_at_no_cost() -> None:
    """Areas 2, 3 and 6 of eight in a row are emptied in the first round, in the second area 4, reached through them."""
    names = [f"Area {number}" for number in range(1, 9)]
    components = box_with_map(line_of_areas(8), names[0], names[7])
    table = open_game(4, components=components, areas={name: ["gas", "oil"] for name in names})
    mining = ["logistician", "gas", "oil"]
    table.draw_and_place({0: mining, 1: mining, 2: mining, 3: ["manager", "salesman", "investor"]})
    ways = (names[:2], names[:3], [names[7], names[6], names[5]])
    table.take_turns({player: [step_to(*way), "act gas", "act oil"] for player, way in enumerate(ways)})
    assert table.exhausted() == ["Area 2", "Area 3", "Area 6"]
    check_everything(table.draw_and_place({3: mining, 0: ["worker", "logistician", "gold"]}))
    mined = [step_to("Area 1", "Area 4"), "act gas", "act oil"]
    table.take_turns({3: mined, 0: ["act worker", "act gold", "act logistician"]}, to_the_end=False)
    assert table.exhausted() == ["Area 2", "Area 3", "Area 4", "Area 6"]
    table.play(f"from {START}")
    assert table.legal() == ["to Area 1", "to Area 8"]
    table.play("to Area 1", "from Area 1")
    assert table.legal() == ["to Area 5"]
    assert table.refuses("to Area 3")
    table.play("to Area 5", "from Area 5")
    assert table.legal() == ["to Area 1", "to Area 7"]
    assert table.play("to Area 7").workers(0) == {"Area 7": 1}
    check_everything(table)


def test_B17_arrows_lead_on_through_exhausted_areas() -> None:
    table = open_game(4, areas={area: ["gas", "oil"] for area in ("Khabarovsk", "Amur", "Yakutia")})
    table.draw_and_place({player: ["logistician", "gas", "oil"] for player in range(3)})
    ways = (["Khabarovsk"], ["Amur"], ["Amur", "Yakutia"])
    table.take_turns({player: [step_to(*way), "act gas", "act oil"] for player, way in enumerate(ways)})
    assert table.exhausted() == ["Khabarovsk", "Amur", "Yakutia"]
    table.draw_and_place({3: ["logistician", "worker", "investor"]})
    table.take_turns({3: ["act logistician"]}, to_the_end=False)
    assert table.play(f"from {START}").legal() == [
        "to Magadan",
        "to Chukotka",
        "to Zabaykalye",
        "to Irkutsk",
        "to Taymyr",
        "to Evenkia",
    ]


def test_B17_the_way_through_does_not_lead_back_to_where_it_began() -> None:
    """Both ways out of Krasnoyarsk to Novosibirsk and Yamal end in exhausted areas that lead back there."""
    components = {**box(), "arrows": ["Krasnoyarsk", "Novosibirsk", "Yamal"]}
    table = open_game(3, components=components, areas={area: ["gas", "oil"] for area in ("Novosibirsk", "Yamal")})
    mining = ["logistician", "gas", "oil"]
    table.draw_and_place({0: ["logistician", "worker", "investor"], 1: mining, 2: mining})
    mined = {1: [step_to("Novosibirsk"), "act gas", "act oil"], 2: [step_to("Yamal"), "act gas", "act oil"]}
    table.take_turns({0: [step_to("Krasnoyarsk")], **mined})
    assert table.exhausted() == ["Yamal", "Novosibirsk"]
    table.draw_and_place({0: ["logistician", "gold", "diamond"]})
    table.take_turns({0: ["act logistician, from Krasnoyarsk"]}, to_the_end=False)
    assert table.refuses("to Krasnoyarsk")
    assert table.legal() == ["to Irkutsk", "to Taymyr", "to Evenkia"]


@pytest.mark.parametrize("seed", range(3))
def test_B17_ways_are_the_same_whatever_the_order_of_exhaustion(seed: int) -> None:
    """Eight areas in any order, four in the first round and four in the third, each emptied by one player's worker."""
    order = [str(area) for area in np.random.default_rng(seed).permutation(AREAS)[:8]]
    table = open_game(4, components={**box(), "arrows": list(AREAS)}, areas=everywhere("gas", "oil"))
    to_first = {player: [step_to(area)] for player, area in enumerate(order[:4])}
    to_second = {player: ["act worker", step_to(area)] for player, area in enumerate(order[4:])}
    mines = {player: ["act gas", "act oil"] for player in range(4)}
    for actions, turns in (
        (["logistician", "gas", "oil"], {player: to_first[player] + mines[player] for player in range(4)}),
        (["worker", "logistician", "charcoal"], to_second),
        (["gas", "oil", "gold"], mines),
    ):
        table.draw_and_place(dict.fromkeys(range(4), actions))
        for turn in range(max(map(len, turns.values()))):
            for player in ((int(table.state.start) + seat) % 4 for seat in range(4)):
                table.take_turns({player: [turns[player][turn]]}, to_the_end=False)
                check_everything(table)
        table.take_turns({})
    assert sorted(table.exhausted()) == sorted(order)
    assert table.over


# ---------------------------------------------------------------- salesman and worker

PAWNS_AND_EXCHANGES = {"workers": {0: [START, "Amur", "Amur"]}, "salesmen": {0: ["Frankfurt", "Tokyo"]}}


def test_B18_a_pawn_from_the_reserve_an_exchange_or_siberia() -> None:
    table = about_to("salesman", **PAWNS_AND_EXCHANGES).play("act salesman")
    assert table.legal() == ["pawn reserve", "pawn Frankfurt", "pawn Tokyo", "pawn Amur", f"pawn {START}"]
    for pawn, workers, salesmen, left in (
        ("reserve", {"Amur": 2, START: 1}, {"Frankfurt": 1, "Tokyo": 1, "Zurich": 1}, 0),
        ("Frankfurt", {"Amur": 2, START: 1}, {"Tokyo": 1, "Zurich": 1}, 1),
        ("Tokyo", {"Amur": 2, START: 1}, {"Frankfurt": 1, "Zurich": 1}, 1),
        ("Amur", {"Amur": 1, START: 1}, {"Frankfurt": 1, "Tokyo": 1, "Zurich": 1}, 1),
        (START, {"Amur": 2}, {"Frankfurt": 1, "Tokyo": 1, "Zurich": 1}, 1),
    ):
        after = table.copy().play(f"pawn {pawn}", "exchange Zurich")
        assert after.workers(0) == workers
        assert after.salesmen(0) == salesmen
        assert after.pawns(0) == left
        assert after.player == 1
        check_everything(after)


def test_B18_to_any_exchange_but_the_one_it_comes_from() -> None:
    table = about_to("salesman", **PAWNS_AND_EXCHANGES).play("act salesman")
    everyone = [f"exchange {name}" for name in ("Frankfurt", *FIRST_SIDES)]
    for pawn in ("reserve", "Amur", START):
        assert table.copy().play(f"pawn {pawn}").legal() == everyone
    for pawn in ("Frankfurt", "Tokyo"):
        moved = table.copy().play(f"pawn {pawn}")
        assert moved.legal() == [name for name in everyone if name != f"exchange {pawn}"]
        assert moved.refuses(f"exchange {pawn}")


@pytest.mark.parametrize("place", ["Frankfurt", *FIRST_SIDES, *AREAS, START])
def test_B18_a_pawn_leaves_every_place(place: str) -> None:
    """The only pawn outside the reserve goes to another exchange."""
    at_exchange = place == "Frankfurt" or place in FIRST_SIDES
    workers, salesmen = {0: [] if at_exchange else [place]}, {0: [place] if at_exchange else []}
    there = "London" if place == "Tokyo" else "Tokyo"
    table = about_to("salesman", workers=workers, salesmen=salesmen)
    table.play("act salesman", f"pawn {place}", f"exchange {there}")
    assert table.workers(0) == {}
    assert table.salesmen(0) == {there: 1}
    check_everything(table)


def test_B18_any_number_of_pawns_may_stand_at_one_exchange() -> None:
    table = about_to("salesman", salesmen={0: ["Tokyo"] * 5, 1: ["Tokyo"]}, workers={0: [START]})
    table.play("act salesman", f"pawn {START}", "exchange Tokyo")
    assert table.salesmen(0) == {"Tokyo": 6}
    assert table.player == 1


def test_B18_empty_places_and_the_others_pawns_are_out_of_reach() -> None:
    table = about_to("salesman", workers={0: ["Amur"] * 5, 1: ["Yamal"]}, salesmen={1: ["Tokyo"]})
    table.play("act salesman")
    assert table.legal() == ["pawn Frankfurt", "pawn Amur"]
    for name in ("pawn reserve", "pawn Yamal", "pawn Tokyo", f"pawn {START}"):
        assert table.refuses(name)


def test_B18_the_price_follows_the_salesman() -> None:
    table = about_to("salesman").play("act salesman", "pawn Frankfurt", "exchange Tokyo")
    assert table.state.best_price[0].tolist() == [3, 0, 4, 0, 5]
    two = about_to("salesman").play("act salesman", "pawn reserve", "exchange Tokyo")
    assert two.state.best_price[0].tolist() == [3, 1, 4, 2, 5]


def test_B18_exchanges_are_called_by_their_active_sides() -> None:
    sides = ["New York", "Hong Kong", "Toronto", "Mumbai", "Sao Paulo"]
    table = about_to("salesman", sides=sides).play("act salesman", "pawn reserve")
    assert table.legal() == [f"exchange {name}" for name in ("Frankfurt", *sides)]
    table.play("exchange Mumbai")
    assert table.salesmen(0) == {"Frankfurt": 1, "Mumbai": 1}


def test_B19_a_pawn_from_the_reserve_goes_to_vladivostok_unasked() -> None:
    table = about_to("worker", workers={0: ["Amur"]}).play("act worker")
    assert table.player == 1
    assert table.workers(0) == {"Amur": 1, START: 1}
    assert table.pawns(0) == 3


def test_B19_only_with_an_empty_reserve_is_there_a_choice() -> None:
    table = about_to("worker", workers={0: ["Amur", "Amur", START]}, salesmen={0: ["Frankfurt", "Tokyo", "Tokyo"]})
    table.play("act worker")
    assert table.legal() == ["pawn Frankfurt", "pawn Tokyo", "pawn Amur"]
    for name in (f"pawn {START}", "pawn reserve", "pass", "stop"):
        assert table.refuses(name)
    recalled = table.copy().play("pawn Amur")
    assert recalled.workers(0) == {"Amur": 1, START: 2}
    assert recalled.player == 1
    table.play("pawn Frankfurt")
    assert table.salesmen(0) == {"Tokyo": 2}
    assert table.workers(0) == {"Amur": 2, START: 2}
    assert table.state.best_price[0].tolist() == [3, 0, 4, 0, 5]
    check_everything(table)


def test_B19_with_all_six_in_vladivostok_nothing_happens() -> None:
    table = about_to("worker", workers={0: [START] * 6}, salesmen={0: []}).play("act worker")
    assert table.player == 1
    assert table.workers(0) == {START: 6}
    five = about_to("worker", workers={0: [START] * 5 + ["Amur"]}, salesmen={0: []}).play("act worker")
    assert five.legal() == ["pawn Amur"]
    five.play("pawn Amur")
    assert five.workers(0) == {START: 6}


# ---------------------------------------------------------------- investor


def test_B20_a_face_up_tile_goes_on_its_action_and_a_new_one_is_turned_up() -> None:
    table = about_to("investor", face_up=["gas", "gas", "oil", "investor"], tile_stack=["diamond", "worker"])
    table.play("act investor")
    assert table.legal() == ["tile investor", "tile gas", "tile oil"]
    assert table.refuses("tile diamond")
    table.play("tile oil")
    assert table.tiles(0) == ["oil"]
    assert Counter(table.face_up()) == {"gas": 2, "investor": 1, "diamond": 1}
    assert table.tile_stack()[0] == "worker"
    assert table.player == 1
    check_everything(table)


@pytest.mark.parametrize("action", ACTIONS)
def test_B20_the_only_tile_with_a_free_space_can_be_taken(action: str) -> None:
    tables = {**box(), "investment_tiles": {**dict.fromkeys(ACTIONS, 0), action: 4}}
    table = about_to("investor", components=tables, face_up=[action] * 4).play("act investor")
    assert table.legal() == [f"tile {action}"]
    assert table.play(f"tile {action}").tiles(0) == [action]


def test_B20_only_actions_with_an_uncovered_space_and_no_tile_yet() -> None:
    table = about_to(
        "investor",
        face_up=["manager", "gas", "oil", "gold"],
        tiles={0: ["gas"]},
        panels={0: {"oil": ready("oil"), "gold": ["gold/worker"]}},
    ).play("act investor")
    assert table.legal() == ["tile manager", "tile gold"]
    assert table.refuses("tile gas")
    assert table.refuses("tile oil")
    table.play("tile gold")
    assert acts(table.play("pass")) == ["oil", "gold"]


def test_B20_wildcards_cover_spaces_too() -> None:
    table = about_to(
        "investor", face_up=["gas", "gold", "oil", "oil"], panels={0: {"gas": ["manager"] * 2, "gold": ["manager"]}}
    ).play("act investor")
    assert table.legal() == ["tile oil", "tile gold"]


def test_B20_the_investors_own_tile_finds_its_spaces_free() -> None:
    table = about_to("investor", face_up=["investor", "gas", "gas", "oil"]).play("act investor", "tile investor")
    assert table.tiles(0) == ["investor"]
    assert table.panel(0) == {}


def test_B20_without_a_stack_nothing_is_turned_up() -> None:
    tables = {**box(), "investment_tiles": {**dict.fromkeys(ACTIONS, 0), "gas": 2, "oil": 3}}
    table = about_to("investor", seats=(0, 1), components=tables, face_up=["gas", "gas", "oil", "oil"])
    table.play("act investor", "tile gas")
    assert Counter(table.face_up()) == {"gas": 1, "oil": 3}
    table.play("act investor", "tile gas")
    assert table.face_up() == ["oil"] * 3
    assert table.tile_stack() == []
    check_everything(table)


def test_B20_no_suitable_tile_no_effect() -> None:
    table = about_to("investor", face_up=["gas", "oil"], panels={0: {"gas": ready("gas")}}, tiles={0: ["oil"]})
    before = table.tile_stack()
    table.play("act investor")
    assert table.player == 1
    assert table.face_up() == ["gas", "oil"]
    assert table.tile_stack() == before
    assert table.tiles(0) == ["oil"]


# ---------------------------------------------------------------- extraction, exhaustion


@pytest.mark.parametrize(("number", "resource"), list(enumerate(RESOURCES)))
def test_B21_the_cubes_leave_and_are_sold_at_the_best_own_price(number: int, resource: str) -> None:
    """Player 0 comes to three areas, Frankfurt, Tokyo and Zurich, player 1 to one area, Sydney and London."""
    other, third = RESOURCES[(number + 1) % 5], RESOURCES[(number + 2) % 5]
    lying = {area: [resource, other] for area in ("Amur", "Khabarovsk", "Magadan")} | {"Yakutia": [other, third]}
    table = open_game(areas=lying)
    free = [name for name in RESOURCES if name != resource]
    table.draw_and_place({0: ["worker", "logistician", "salesman"], 1: ["logistician", "salesman", "manager"]})
    table.take_turns(
        {
            0: [
                "act worker",
                f"act logistician, from {START}, to Amur, from {START}, to Khabarovsk, stop",
                "act salesman, pawn reserve, exchange Tokyo",
            ],
            1: [step_to("Khabarovsk", "Magadan"), "act salesman, pawn reserve, exchange Sydney"],
        }
    )
    table.draw_and_place({0: ["worker", "logistician", "salesman"], 1: ["salesman", *free[:2]]})
    table.take_turns(
        {
            0: ["act worker", step_to("Amur", "Yakutia"), "act salesman, pawn reserve, exchange Zurich"],
            1: ["act salesman, pawn Frankfurt, exchange London"],
        }
    )
    table.draw_and_place({0: [resource, "manager", "investor"], 1: ["investor", *free[2:]]})
    reserve = table.reserve()
    assert table.player == 0
    table.play(f"act {resource}")
    assert table.scores() == [2 * (3, 3, 4, 4, 6)[number], 0]
    assert table.cubes("Amur") == table.cubes("Khabarovsk") == [other]
    assert set(table.cubes("Yakutia")) == {other, third}
    assert resource in table.cubes("Magadan")
    assert table.reserve() == reserve
    assert table.ledger.sold[resource] == 2
    assert table.workers(0) == {"Amur": 1, "Khabarovsk": 1, "Yakutia": 1}
    assert table.player == 1
    check_everything(table)


def test_B21_one_cube_an_area_whatever_the_number_of_workers() -> None:
    table = about_to("gas", areas={"Amur": ["gas", "oil"]}, workers={0: ["Amur"] * 3})
    assert table.play("act gas").scores() == [1, 0]


def test_B21_nothing_lies_in_vladivostok() -> None:
    table = about_to("gas", areas=everywhere("gas", "oil"), workers={0: [START] * 4}).play("act gas")
    assert table.scores() == [0, 0]
    assert all(table.cubes(area) == ["gas", "oil"] for area in AREAS)


def test_B21_with_no_price_open_nothing_is_extracted() -> None:
    areas = {"Amur": ["gas"], "Yamal": ["charcoal", "gas"]}
    for salesmen, action in ((["Shanghai"], "gas"), (["Tokyo", "Sydney"], "charcoal"), ([], "gas")):
        table = about_to(action, areas=areas, workers={0: ["Amur", "Yamal"]}, salesmen={0: salesmen, 1: ["Frankfurt"]})
        table.play(f"act {action}")
        assert table.scores() == [0, 0]
        assert table.cubes("Amur") == ["gas"]
        assert table.cubes("Yamal") == ["gas", "charcoal"]
        assert table.workers(0) == {"Amur": 1, "Yamal": 1}
        assert table.exhausted() == []
        check_everything(table)


def test_B21_the_price_that_is_open_without_one_exchange() -> None:
    """What a salesman who leaves an exchange leaves behind: the next best price, that of the card, or none."""
    table = lay_out(rules=WITH_CARDS, salesmen={0: ["Frankfurt", "Tokyo", "Tokyo", "Sydney"]}, cards={"diamond": 0})
    for closed, prices in (
        (None, [3, 1, 5, 2, 8]),
        ("Tokyo", [2, 1, 5, 2, 8]),
        ("Sydney", [3, 1, 4, 2, 8]),
        ("Frankfurt", [3, 0, 5, 0, 8]),
        ("Zurich", [3, 1, 5, 2, 8]),
    ):
        exchange = NOTHING if closed is None else table.exchanges().index(closed)
        ruleset = table.variant.rulesets[0]
        assert [open_price(ruleset, table.state, 0, number, exchange) for number in range(5)] == prices, closed


def test_B21_only_the_active_side_trades() -> None:
    position: dict[str, Any] = {"areas": {"Amur": ["gas", "oil"]}, "workers": {0: ["Amur"]}}
    tokyo = about_to("gas", salesmen={0: ["Tokyo"]}, **position).play("act gas")
    new_york = about_to("gas", salesmen={0: ["New York"]}, sides=["New York"], **position).play("act gas")
    assert (tokyo.scores()[0], new_york.scores()[0]) == (3, 0)


def test_B22_an_area_without_cubes_is_exhausted_and_all_workers_return() -> None:
    table = about_to(
        "gas",
        num_players=3,
        areas={"Amur": ["gas"], "Yamal": ["gas", "oil"]},
        workers={0: ["Amur", "Amur", "Yamal"], 1: ["Amur", START], 2: ["Yamal"]},
    )
    before = [table.pawns(player) for player in range(3)]
    table.play("act gas")
    assert table.exhausted() == ["Amur"]
    assert table.scores() == [2, 0, 0]
    assert [table.pawns(player) for player in range(3)] == [before[0] + 2, before[1] + 1, before[2]]
    assert table.workers(0) == {"Yamal": 1}
    assert table.workers(1) == {START: 1}
    assert table.workers(2) == {"Yamal": 1}
    check_everything(table)


def test_B22_two_areas_at_once() -> None:
    areas = everywhere("gas", "oil", but={"Amur": ["gas"], "Zabaykalye": ["gas"], "Yamal": ["gas", "oil"]})
    table = about_to("gas", areas=areas, workers={0: ["Amur", "Zabaykalye", "Yamal"], 1: ["Amur", "Zabaykalye"]})
    table.play("act gas")
    assert table.exhausted() == ["Amur", "Zabaykalye"]
    assert table.pawns(0) == 4
    assert table.pawns(1) == 5
    assert table.state.exhausted == 2
    assert table.in_set(table.state.steps[16]) == ["Khabarovsk", "Yakutia", "Irkutsk"]
    check_everything(table)


def test_B22_no_cube_may_come_there_again() -> None:
    table = lay_out(
        areas=everywhere("oil", but={"Amur": ["gas"]}),
        panels={0: {"gas": ready("gas")}},
        workers={0: ["Amur"]},
        research={1: ["gas/worker"]},
    )
    table.play("act gas")
    assert table.player == 1
    assert "area Amur" not in table.legal()
    assert len(table.legal()) == 11


def test_B22_an_area_another_player_emptied_of_other_cubes_stays_open_until_the_last_cube() -> None:
    table = about_to("gas", areas={"Amur": ["gas", "oil"]}, workers={0: ["Amur"]}, panels={0: {"oil": ready("oil")}})
    table.play("act gas", "pass")
    assert table.exhausted() == []
    table.play("act oil")
    assert table.exhausted() == ["Amur"]
    assert table.scores() == [3, 0]


def test_B22_a_worker_without_a_cube_to_take_exhausts_nothing() -> None:
    table = about_to("gas", areas={"Amur": ["oil"]}, workers={0: ["Amur"]}).play("act gas")
    assert table.exhausted() == []
    assert table.workers(0) == {"Amur": 1}


def test_B22_the_last_area_of_the_largest_map_is_like_any_other() -> None:
    """A worker comes to the sixteenth area and leaves it again; the next one stays, and empties it."""
    names = [f"Area {number}" for number in range(1, 17)]
    components = box_with_map(line_of_areas(16), names[15])
    tables = {**components, "cubes": dict.fromkeys(RESOURCES, 20)}
    table = open_game(components=tables, areas={names[14]: ["charcoal", "gold"], names[15]: ["gas", "oil"]})
    table.draw_and_place({0: ["logistician", "gas", "worker"], 1: ["logistician", "gas", "oil"]})
    table.play("act logistician", f"from {START}")
    assert table.legal() == ["to Area 16"]
    table.play("to Area 16", "from Area 16", "to Area 15", "stop")
    table.take_turns({0: ["act gas"], 1: [step_to("Area 16")]}, to_the_end=False)
    assert table.scores() == [0, 0]
    assert table.cubes("Area 16") == ["gas", "oil"]
    check_everything(table)
    table.take_turns({1: ["act gas", "act oil"]})
    assert table.scores() == [0, 1 + 2]
    assert table.exhausted() == ["Area 16"]
    assert table.workers(1) == {}
    check_everything(table)
    research = lay_out(components=tables, research={0: ["gold/worker"]}).play("area Area 16")
    assert "gold" in research.cubes("Area 16")


def test_B22_areas_beyond_the_eighth_count_too() -> None:
    areas = everywhere("gas", "oil", but={**gone(7), "Yamal": ["gas"], "Novosibirsk": ["gas"], "Taymyr": ["gas"]})
    table = about_to("gas", areas=areas, workers={0: ["Yamal", "Novosibirsk", "Taymyr"]}).play("act gas")
    assert table.state.exhausted == 10
    assert set(table.exhausted()) == {*AREAS[:7], "Yamal", "Novosibirsk", "Taymyr"}
    assert not table.over
    check_everything(table)


# ---------------------------------------------------------------- the end of a round and of the game

TWELVE = {
    "gas": ["gas/worker", "manager"],
    "oil": ["oil/worker", "oil/worker"],
    "gold": ["gold/worker", "gold/salesman"],
    "worker": ["diamond/worker", "charcoal/worker"],
    "manager": ["manager", "manager"],
    "salesman": ["gas/salesman", "oil/salesman"],
}


def test_B23_a_surplus_is_given_back_counter_by_counter() -> None:
    table = lay_out(panels={0: TWELVE}).play("pass", "pass")
    assert table.state.phase == DISCARD
    assert table.player == 0
    assert table.legal() == [
        "discard manager manager",
        "discard salesman gas/salesman",
        "discard salesman oil/salesman",
        "discard worker charcoal/worker",
        "discard worker diamond/worker",
        "discard gas gas/worker",
        "discard gas manager",
        "discard oil oil/worker",
        "discard gold gold/salesman",
        "discard gold gold/worker",
    ]
    for name in ("discard gold gold/investor", "discard diamond diamond/worker", "discard oil manager", "pass"):
        assert table.refuses(name)
    table.play("discard gas gas/worker")
    assert table.panel(0)["gas"] == ["manager"]
    assert table.bag()["gas/worker"] == 3
    assert "discard gas gas/worker" not in table.legal()
    check_everything(table)
    table.play("discard oil oil/worker")
    assert table.panel(0)["oil"] == ["oil/worker"]
    assert table.state.phase == PLACE
    assert table.state.counters[0] == 10
    assert table.state.rounds == 1
    check_everything(table)


def test_B23_ten_counters_stay_and_tiles_do_not_count() -> None:
    ten = {action: counters for action, counters in TWELVE.items() if action != "gas"}
    table = lay_out(panels={0: ten}, tiles={0: ["gas", "diamond", "charcoal"]}).play("pass", "pass")
    assert table.state.phase == PLACE
    assert table.panel(0) == ten


def test_B23_a_wildcard_counts_and_can_be_given_back() -> None:
    eleven = {**TWELVE, "gas": ["manager"]}
    table = lay_out(panels={0: eleven}).play("pass", "pass")
    assert table.state.phase == DISCARD
    table.play("discard gas manager")
    assert "gas" not in table.panel(0)
    assert table.state.phase == PLACE


@pytest.mark.parametrize("start", [0, 1, 2])
def test_B23_in_seat_order_from_the_starting_player(start: int) -> None:
    persons = {
        0: {"gas": ["gas/worker"] * 2, "oil": ["oil/worker"] * 2, "gold": ["gold/worker"] * 2},
        1: {"gas": ["gas/salesman"] * 2, "oil": ["oil/salesman"] * 2, "gold": ["gold/salesman"] * 2},
        2: {"gas": ["gas/investor"] * 2, "oil": ["oil/investor"] * 2, "gold": ["gold/investor"] * 2},
    }
    more = {
        0: {"worker": ["charcoal/worker"] * 2, "diamond": ["diamond/worker"] * 2, "charcoal": ["charcoal/worker"]},
        1: {"salesman": ["charcoal/salesman"] * 2, "diamond": ["diamond/salesman"] * 2},
        2: {
            "investor": ["charcoal/investor"] * 2,
            "diamond": ["diamond/investor"] * 2,
            "charcoal": ["charcoal/investor"],
        },
    }
    panels = {seat: {**persons[seat], **more[seat]} for seat in range(3)}
    panels[0]["manager"] = ["manager"]
    table = lay_out(3, panels=panels, player=start, start=start).play("pass", "pass", "pass")
    order = []
    while table.state.phase == DISCARD:
        order.append(table.player)
        assert table.state.rounds == 0
        table.play("discard gas " + panels[table.player]["gas"][0])
        check_everything(table)
    assert order == {0: [0, 0, 2], 1: [2, 0, 0], 2: [2, 0, 0]}[start]
    assert table.state.counters[:3].tolist() == [10, 10, 10]
    assert table.player == (start + 1) % 3


def test_B23_what_is_given_back_can_be_drawn_again_at_once() -> None:
    tables = {**box(), "counters": {**dict.fromkeys(KINDS, 0), "gas/worker": 20, "oil/worker": 12}}
    hold = {"gas": ["gas/worker"] * 2, "worker": ["gas/worker"] * 2, "oil": ["oil/worker"] * 2}
    table = lay_out(components=tables, panels={0: hold, 1: hold}).play("pass", "pass")
    assert table.state.phase == PLACE
    check_everything(table)


@pytest.mark.parametrize("max_rounds", [1, 60])
def test_B23_the_surplus_is_given_back_in_the_last_round_too(max_rounds: int) -> None:
    table = lay_out(2, {"max_rounds": max_rounds}, panels={1: TWELVE}, areas=gone(0 if max_rounds == 1 else 8)).play(
        "pass", "pass"
    )
    assert table.state.phase == DISCARD
    assert table.player == 1
    table.play("discard gas manager")
    assert not table.over
    table.play("discard oil oil/worker")
    assert table.over
    assert table.hit_limit == (max_rounds == 1)
    check_everything(table)


def test_B24_seven_exhausted_areas_do_not_end_the_game_eight_do() -> None:
    for number, ends in ((7, False), (8, True), (9, True)):
        table = lay_out(areas=gone(number)).play("pass", "pass")
        assert table.over == ends
        assert not table.hit_limit


def test_B24_two_empty_reserves_do_not_end_the_game_three_do() -> None:
    for empty in ((0, 1), (0, 1, 2), (1, 3, 4), (0, 1, 2, 3, 4)):
        table = lay_out(reserve={RESOURCES[number]: 0 for number in empty}).play("pass", "pass")
        assert table.over == (len(empty) >= 3)


@pytest.mark.parametrize("areas", [2, 7, 8, 9])
def test_B24_on_a_smaller_map_the_last_area_ends_it(areas: int) -> None:
    tables = box_with_map(line_of_areas(areas))
    names = list(line_of_areas(areas))
    for number in range(1, areas + 1):
        table = lay_out(components=tables, areas={name: [] for name in names[:number]}).play("pass", "pass")
        assert table.over == (number >= min(8, areas))


def test_B24_the_round_is_played_to_its_end() -> None:
    areas = everywhere("gas", "oil", but={**gone(7), "Yamal": ["gas"]})
    panels = {seat: {"gas": ready("gas")} for seat in (0, 2)} | {1: {"oil": ready("oil")}}
    table = lay_out(3, areas=areas, panels=panels, workers={0: ["Yamal"], 1: ["Evenkia"]}, player=0)
    table.play("act gas")
    assert len(table.exhausted()) == 8
    assert not table.over
    table.play("act oil", "act gas", "pass", "pass")
    assert not table.over
    assert table.player == 2
    table.play("pass")
    assert table.over
    assert table.scores() == [1, 2, 0]
    assert not table.hit_limit
    assert not table.legal()


def test_B24_research_that_empties_the_third_reserve_ends_the_game_after_the_round() -> None:
    table = lay_out(areas=everywhere("gas"), research={0: ["oil/worker"]}, reserve={"gold": 0, "diamond": 0, "oil": 1})
    table.play("area Amur")
    assert table.reserve()["oil"] == 0
    assert not table.over
    table.play("pass", "pass")
    assert table.over


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_B24_the_round_limit(limit: int) -> None:
    table = lay_out(2, {"max_rounds": limit}, money={0: 3, 1: 5}, rounds=limit - 1).play("pass")
    assert not table.over
    table.play("pass")
    assert table.over
    assert table.hit_limit
    assert table.state.rounds == limit
    assert table.scores() == [3, 5]


def test_B24_the_default_limit_is_sixty_rounds() -> None:
    assert Table.deal(2).variant.rules["max_rounds"] == 60
    assert not lay_out(rounds=58).play("pass", "pass").over
    assert lay_out(rounds=59).play("pass", "pass").over


def test_B24_a_due_end_in_the_last_round_does_not_hit_the_limit() -> None:
    table = lay_out(2, {"max_rounds": 1}, areas=gone(8)).play("pass", "pass")
    assert table.over
    assert not table.hit_limit


def test_B24_most_money_wins_and_equal_money_shares_the_win() -> None:
    for money, winners in (((3, 5, 4), [0, 1, 0]), ((5, 5, 4), [1, 1, 0]), ((0, 0, 0), [1, 1, 1])):
        table = lay_out(3, areas=gone(8), money=dict(enumerate(money))).play(*["pass"] * 3)
        assert table.over
        assert table.scores() == list(money)
        flags = np.zeros(3, np.int8)
        rewards.winner_flags(np.array(table.scores()), 3, flags)
        assert flags.tolist() == winners


# ---------------------------------------------------------------- salesman cards

WITH_CARDS = {"salesman_cards": True}


def test_B25_without_the_option_there_are_no_cards() -> None:
    table = about_to("salesman").play("act salesman")
    assert not any(name.startswith("card") for name in table.legal())
    assert table.refuses("card gas")


def test_B25_a_card_instead_of_moving_a_pawn() -> None:
    table = about_to("salesman", rules=WITH_CARDS, panels={0: {"diamond": ready("diamond")}}, salesmen={0: []})
    pawns = table.pawns(0)
    table.play("act salesman")
    assert table.legal() == ["pawn reserve", f"pawn {START}", *(f"card {resource}" for resource in RESOURCES)]
    table.play("card diamond")
    assert table.cards(0) == ["diamond"]
    assert (table.pawns(0), table.salesmen(0), table.workers(0)) == (pawns, {}, {START: 1})
    assert table.player == 1
    check_everything(table)


def sale(resource: str, *turns: str, others: str = "", card_prices: Mapping[str, int] | None = None) -> list[int]:
    """Play a sale of one cube and give the scores after it, an own worker in the only area, Amur, with the cube.

    Before it player 0 takes two salesman actions, as `card gas` or `pawn reserve, exchange Tokyo`, and player 1 takes
    one if `others` says which.
    """
    other = RESOURCES[(RESOURCES.index(resource) + 1) % 5]
    components = {**box(), "salesman_cards": card_prices} if card_prices else None
    table = open_game(rules=WITH_CARDS, components=components, areas={"Amur": [resource, other]})
    table.draw_and_place({0: ["logistician", "salesman", "manager"], 1: ["salesman", "investor", "worker"]})
    first, second = (f"act salesman, {turn}" for turn in turns)
    table.take_turns({0: [step_to("Amur"), first], 1: [f"act salesman, {others}"] if others else []})
    table.draw_and_place({0: ["salesman", resource, "investor"]})
    table.take_turns({0: [second, f"act {resource}"]}, to_the_end=False)
    check_everything(table)
    return table.scores()


#: An exchange for each resource that does not trade it.
CLOSED = dict(zip(RESOURCES, ("Zurich", "Tokyo", "London", "Tokyo", "London"), strict=True))


@pytest.mark.parametrize(("number", "resource"), list(enumerate(RESOURCES)))
def test_B25_the_holder_sells_at_the_cards_price_with_or_without_a_salesman(number: int, resource: str) -> None:
    card, other_card = f"card {resource}", f"card {RESOURCES[(number + 1) % 5]}"
    away, to_tokyo = f"pawn Frankfurt, exchange {CLOSED[resource]}", "pawn reserve, exchange Tokyo"
    for turns in ((card, away), (away, card), (card, to_tokyo), (to_tokyo, card), (card, other_card)):
        assert sale(resource, *turns) == [4 + number, 0]
    in_frankfurt = (1, 1, 2, 2, 2)[number]
    assert sale(resource, "pawn reserve, exchange Frankfurt", other_card, others=card) == [in_frankfurt, 0]
    assert sale(resource, away, other_card) == [0, 0]


def test_B25_a_better_price_at_an_exchange_is_taken() -> None:
    prices = dict.fromkeys(RESOURCES, 2)
    for turns in (("card gas", "pawn reserve, exchange Tokyo"), ("pawn reserve, exchange Tokyo", "card gas")):
        assert sale("gas", *turns, card_prices=prices) == [3, 0]


def test_B25_first_the_cards_that_nobody_holds() -> None:
    table = about_to("salesman", rules=WITH_CARDS, cards={"gas": 1, "oil": 0, "gold": 1}).play("act salesman")
    assert [name for name in table.legal() if name.startswith("card")] == ["card charcoal", "card diamond"]
    for name in ("card gas", "card oil", "card gold"):
        assert table.refuses(name)


@pytest.mark.parametrize("free", RESOURCES)
def test_B25_while_one_is_left_the_others_are_out_of_reach(free: str) -> None:
    held = {resource: 1 for resource in RESOURCES if resource != free}
    table = about_to("salesman", rules=WITH_CARDS, cards=held).play("act salesman")
    assert [name for name in table.legal() if name.startswith("card")] == [f"card {free}"]


def test_B25_once_all_are_held_any_one_of_another_player() -> None:
    owners = {"gas": 1, "charcoal": 0, "oil": 2, "gold": 1, "diamond": 0}
    table = about_to("salesman", num_players=3, rules=WITH_CARDS, cards=owners, salesmen={0: [], 1: [], 2: []})
    table.play("act salesman")
    assert [name for name in table.legal() if name.startswith("card")] == ["card gas", "card oil", "card gold"]
    assert table.refuses("card charcoal")
    table.play("card gold")
    assert [table.cards(player) for player in range(3)] == [["charcoal", "gold", "diamond"], ["gas"], ["oil"]]
    assert table.state.best_price[:3].tolist() == [[0, 5, 0, 7, 8], [4, 0, 0, 0, 0], [0, 0, 6, 0, 0]]
    check_everything(table)


def test_B25_who_holds_all_five_has_none_to_take() -> None:
    table = about_to("salesman", rules=WITH_CARDS, cards=dict.fromkeys(RESOURCES, 0)).play("act salesman")
    assert not any(name.startswith("card") for name in table.legal())


def test_B25_the_worker_action_offers_no_cards() -> None:
    table = about_to("worker", rules=WITH_CARDS, workers={0: ["Amur"] * 5}).play("act worker")
    assert table.legal() == ["pawn Frankfurt", "pawn Amur"]


# ---------------------------------------------------------------- what is hidden


def test_B29_the_bag_and_the_stack_give_nothing_away() -> None:
    one = lay_out(tile_stack=["gas", "oil", "gold"])
    other = lay_out(tile_stack=["gold", "oil", "gas"])
    other.state.generator = 99
    for player in range(2):
        assert np.array_equal(one.observe(player), other.observe(player))


def slow_guess(table: Table, viewer: int, seed: int) -> tuple[list[list[str]], list[list[str]], list[str], int]:
    """B29 in words: what the others drew and where they placed it, the tile stack, and the generator after that."""
    state, players = table.state, table.variant.num_players
    generator = np.uint64(sample_stream(np.uint64(seed)))

    def draw(count: int) -> int:
        nonlocal generator
        generator = np.uint64(advance(generator))
        return (int(scramble(generator)) >> 32) * count >> 32

    drawn, plans = [table.drawn(player) for player in range(players)], [table.plan(player) for player in range(players)]
    others = [player for player in range(players) if player != viewer]
    if state.phase == PLACE:
        bag = sorted([*table.bag().elements(), *(c for other in others for c in drawn[other])], key=KINDS.index)
        for other in others:
            drawn[other] = sorted((bag.pop(draw(len(bag))) for _ in range(6)), key=KINDS.index)
            free = {action: 2 - len(table.panel(other).get(action, [])) for action in ACTIONS}
            for action in table.tiles(other):
                free[action] -= 1
            placed = sum(where != "none" for where in plans[other])  # how many, everybody sees
            plans[other] = ["none"] * 6
            for index in range(placed):
                targets = dict(zip(("person", "resource"), actions_of(drawn[other][index]), strict=False))
                ways = ["research", *(way for way, action in targets.items() if free[action] > 0)]
                plans[other][index] = way = ways[draw(len(ways))]
                if way != "research":
                    free[targets[way]] -= 1
    shown = Counter([*table.face_up(), *(tile for player in range(players) for tile in table.tiles(player))])
    stack = sorted((Counter(table.variant.components.investment_tiles) - shown).elements(), key=ACTIONS.index)
    for last in range(len(stack) - 1, 0, -1):
        other = draw(last + 1)
        stack[last], stack[other] = stack[other], stack[last]
    return drawn, plans, stack[::-1], int(generator)


def check_guesses(table: Table, seed: int) -> None:
    """Every seat's guess is the one that `slow_guess` tells in words."""
    players = range(table.variant.num_players)
    for viewer in players:
        guess = table.determinized(viewer, seed)
        drawn, plans, stack, generator = slow_guess(table, viewer, seed)
        assert [guess.drawn(player) for player in players] == drawn
        assert [guess.plan(player) for player in players] == plans
        assert guess.tile_stack() == stack
        assert not guess.state.tile_stack[len(stack) :].any()
        assert int(guess.state.generator) == generator
        check_everything(guess)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_B29_a_guess_is_drawn_and_placed_anew_step_by_step(players: int) -> None:
    """At every decision while counters are placed, now and then after it, and with tiles on every panel."""
    table, rng = Table.deal(players, {"sides": "random"}, seed=players), np.random.default_rng(players)
    while table.state.rounds < 2:
        check_guesses(table, int(rng.integers(2**63)))
        table.play_at_random(rng, 1 if table.state.phase == PLACE else 6)
    tiles = {seat: [ACTIONS[seat], ACTIONS[seat + 5]] for seat in range(players)}
    for position in ({"drawn": {}}, {}):
        with_tiles = lay_out(players, tiles=tiles, start=1, player=1, **position)
        check_guesses(with_tiles, players)
        check_guesses(with_tiles.play_at_random(rng, 8), players)


def test_B29_a_guess_clears_the_whole_stack_above_its_top_with_as_many_tiles_as_a_box_may_hold() -> None:
    box = Components().as_json()
    box["investment_tiles"] = dict.fromkeys(ACTIONS, 4)
    table = Table.deal(2, {"sides": "random"}, box, seed=1)
    assert len(table.tile_stack()) < len(table.state.tile_stack)
    assert table.state.tile_stack[-1] != 0  # the number of a tile that has been turned up
    check_guesses(table, 1)


def test_B29_money_panels_and_resolved_research_are_public() -> None:
    plain = lay_out()
    for changed in (
        lay_out(money={1: 4}),
        lay_out(panels={1: {"gas": ["gas/worker"]}}),
        lay_out(tiles={1: ["gas"]}, face_up=plain.face_up()),
        lay_out(workers={1: ["Amur"]}),
        lay_out(salesmen={1: ["Tokyo"]}),
        lay_out(research={1: ["gas/worker"]}),
        lay_out(passed=[1]),
    ):
        assert not np.array_equal(plain.observe(0), changed.observe(0))


def test_just_the_legal_numbers_are_taken_at_every_kind_of_decision() -> None:
    """Whatever number is asked, with and without salesman cards, on the default map and on the largest one."""
    largest = box_with_map(line_of_areas(16))
    largest["cubes"] = dict.fromkeys(RESOURCES, 20)
    phases = set()
    for rules in ({}, WITH_CARDS):
        for components in (None, largest):
            position: dict[str, Any] = {"rules": rules, "components": components}
            full = {"workers": {0: [START] * 4}, "salesmen": {0: ["Frankfurt", "Sydney"]}}
            moving = about_to("logistician", **position).play("act logistician")
            sending = about_to("salesman", **position).play("act salesman")
            for table in (
                Table.deal(2, rules, components),
                lay_out(**position, drawn={0: SIX}),
                about_to("gas", **position),
                lay_out(**position, research={0: ["gold/worker"]}),
                lay_out(**position, research={0: ["manager"]}),
                about_to("manager", **position).play("act manager"),
                moving,
                moving.copy().play(f"from {START}"),
                sending,
                sending.copy().play("pawn reserve"),
                about_to("worker", **position, **full).play("act worker"),
                about_to("investor", **position).play("act investor"),
                lay_out(**position, panels={0: {**TWELVE, "diamond": ["manager"]}}).play("pass", "pass"),
                lay_out(**position, rounds=59).play("pass", "pass"),
            ):
                check_mask(table)
                phases.add(int(table.state.phase))
    assert phases == {*range(NUM_DECISIONS), OVER}


def test_every_number_belongs_to_one_decision_but_for_pawns_to_two() -> None:
    names = GAME.action_names(Table.deal(2).variant.components)
    chosen_in = Counter(names[number] for ranges in DECISIONS.values() for span in ranges for number in range(*span))
    assert set(DECISIONS) == set(range(NUM_DECISIONS))
    assert chosen_in == {name: 2 if name.startswith("pawn ") else 1 for name in names}


def test_names_that_no_action_has_are_refused() -> None:
    table = lay_out()
    for name in ("act research", "wildcard manager", f"to {START}", f"area {START}", "exchange Paris", "card worker"):
        with pytest.raises(ConfigurationError, match="no action"):
            table.variant.action_number(name)
    assert table.state.phase == TURN
