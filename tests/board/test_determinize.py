"""`determinize`: it shows the viewer the same, hides nothing it knows, tells nothing it doesn't, and is fair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

from siberia_env.board.components import ACTIONS, KINDS, Components
from siberia_env.board.state import EMPTY
from siberia_env.core import engine
from tests.board.helpers import DRAWN, SPACES, Table, actions_of, check_everything, lay_out
from tests.board.slow_observation import PHASES
from tests.board.varied import BOXES, STYLES, play_through
from tests.fairness import assert_fair
from tests.table import PLAYER_COUNTS

WAYS = ("none", "research", "person", "resource")
ALWAYS_HIDDEN = {"generator", "tile_stack"}
HIDDEN_WHILE_PLACING = {*ALWAYS_HIDDEN, "bag", "drawn", "plan", "planned"}
SETTINGS = pytest.mark.parametrize(("players", "box"), [(2, 0), (3, 0), (4, 0), (2, 1), (3, 2), (4, 3)])


def placing(table: Table) -> bool:
    """Whether the others' new counters are hidden."""
    return PHASES[table.state.phase] == "place"


def positions(players: int, box: int = 0, seed: int = 0, every: int = 7) -> Iterator[Table]:
    """Positions all through one random game, the choice of sides included."""
    table = Table.deal(players, {"salesman_cards": box == 0, "max_rounds": 12}, BOXES[box], seed=seed)
    style = STYLES[(players + box) % 3]
    for number, _ in enumerate(play_through(table, np.random.default_rng(seed), style)):
        if number < 5 or number % every == 0:
            yield table
    yield table


def slots(table: Table, player: int) -> dict[str, int]:
    """B12: how many spaces each action has for the new counters of a player."""
    panel, tiles = table.panel(player), table.tiles(player)
    return {action: SPACES - len(panel.get(action, [])) - (action in tiles) for action in ACTIONS}


def ways_of(counter: str, room: Mapping[str, int]) -> list[str]:
    """B12: where a counter can be placed."""
    names = ("person",) if counter == "manager" else ("person", "resource")
    fits = [way for way, action in zip(names, actions_of(counter), strict=True) if room[action] > 0]
    return ["research", *fits]


def with_less_room(counter: str, way: str, room: Mapping[str, int]) -> dict[str, int]:
    """What room is left after a counter is placed."""
    after = dict(room)
    if way != "research":
        after[actions_of(counter)[("person", "resource").index(way)]] -= 1
    return after


def dealt_otherwise(table: Table, viewer: int, rng: np.random.Generator) -> Table:
    """Another position that `viewer` can't tell from this one, made by hand: other counters, plans, tiles, chance."""
    other = table.copy()
    state, players = other.state, other.variant.num_players
    state.generator = rng.integers(2**63)
    size = int(state.tile_stack_size)
    state.tile_stack[:size] = rng.permutation(state.tile_stack[:size])
    state.tile_stack[size:] = 7
    if placing(table):
        others = [player for player in range(players) if player != viewer]
        pool = [kind for kind, count in enumerate(state.bag) for _ in range(count)]
        pool += [int(kind) for player in others for kind in state.drawn[player]]
        pool = [int(kind) for kind in rng.permutation(pool)]
        for player in others:
            drawn, pool = sorted(pool[:DRAWN]), pool[DRAWN:]
            state.drawn[player] = drawn
            state.planned[player] = 0
            room = slots(table, player)
            for index in range(sum(way != "none" for way in table.plan(player))):
                counter = KINDS[drawn[index]]
                way = str(rng.choice(ways_of(counter, room)))
                room = with_less_room(counter, way, room)
                state.plan[player, index] = WAYS.index(way)
                if way != "research":
                    action = actions_of(counter)[("person", "resource").index(way)]
                    state.planned[player, ACTIONS.index(action)] += 1
        state.bag[:] = [pool.count(kind) for kind in range(len(KINDS))]
    return other


@SETTINGS
def test_the_viewer_sees_the_same_bit_for_bit(players: int, box: int) -> None:
    for number, table in enumerate(positions(players, box, seed=players)):
        for viewer in range(players):
            guess = table.determinized(viewer, 12345 + number)
            assert guess.observe(viewer).tobytes() == table.observe(viewer).tobytes()
            assert guess.player == table.player
            if viewer == table.player or not placing(table):
                assert guess.mask().tobytes() == table.mask().tobytes()
            check_everything(guess)


@SETTINGS
def test_only_hidden_things_change_and_they_do(players: int, box: int) -> None:
    changed: set[str] = set()
    for number, table in enumerate(positions(players, box, seed=players, every=5)):
        viewer = number % players
        guess = table.determinized(viewer, number)
        now = {name for name in table.state.dtype.names if not np.array_equal(table.state[name], guess.state[name])}
        assert "generator" in now
        assert now <= (HIDDEN_WHILE_PLACING if placing(table) else ALWAYS_HIDDEN)
        for name in ("drawn", "plan", "planned"):
            assert np.array_equal(table.state[name][viewer], guess.state[name][viewer])
        changed |= now
    assert changed == HIDDEN_WHILE_PLACING


@SETTINGS
def test_what_a_player_can_not_know_changes_neither_its_view_nor_its_guesses(players: int, box: int) -> None:
    """Nothing leaks: positions that differ only in hidden things look alike and are dealt anew alike."""
    rng = np.random.default_rng(players + box)
    differ = 0
    for number, table in enumerate(positions(players, box, seed=players + 5)):
        for viewer in range(players):
            other = dealt_otherwise(table, viewer, rng)
            check_everything(other)
            differ += placing(table) and other.state.drawn.tolist() != table.state.drawn.tolist()
            assert other.observe(viewer).tobytes() == table.observe(viewer).tobytes()
            if viewer == table.player or not placing(table):
                assert other.mask().tobytes() == table.mask().tobytes()
            direct = table.determinized(viewer, number)
            assert other.determinized(viewer, number).states.tobytes() == direct.states.tobytes()
            twice = table.determinized(viewer, number + 1000).determinized(viewer, number)
            assert twice.states.tobytes() == direct.states.tobytes()
    assert differ > 10


def test_different_generators_give_different_counters_plans_and_futures() -> None:
    table = Table.deal(3, {"sides": "random"}, seed=2)
    for _ in range(DRAWN + 3):
        table.play("place research")
    guesses = [table.determinized(2, generator) for generator in range(50)]
    assert len({guess.states.tobytes() for guess in guesses}) == 50
    assert len({int(guess.state.generator) for guess in guesses}) == 50
    assert len({(*guess.drawn(0), *guess.drawn(1)) for guess in guesses}) == 50
    assert len({tuple(guess.plan(0)) for guess in guesses}) > 30
    assert {tuple(guess.plan(1)[3:]) for guess in guesses} == {("none",) * 3}
    assert len({tuple(guess.plan(1)) for guess in guesses}) > 10
    assert {tuple(guess.plan(2)) for guess in guesses} == {("none",) * 6}
    assert len({tuple(guess.tile_stack()) for guess in guesses}) > 45


@SETTINGS
def test_a_guess_can_be_played_to_its_end(players: int, box: int) -> None:
    """Also from a seat that is not on turn."""
    rng = np.random.default_rng(0)
    for number, table in enumerate(positions(players, box, seed=players + 20, every=50)):
        guess = table.determinized((table.player + 1) % players, number)
        assert guess.over or guess.legal()
        guess.play_at_random(rng)
        assert guess.over
        check_everything(guess)


# ---------------------------------------------------------------- fairness, counted by brute force


@SETTINGS
def test_the_truth_is_always_possible(players: int, box: int) -> None:
    """What is dealt anew is just what is hidden; the true counters and plans, and all guesses, can come about."""

    def check_possible(shown: Table, true: Table, viewer: int) -> None:
        for player in range(players):
            if player == viewer:
                continue
            drawn, plan, room = shown.drawn(player), shown.plan(player), slots(shown, player)
            assert drawn == sorted(drawn, key=KINDS.index)
            placed = sum(way != "none" for way in true.plan(player))
            for index, way in enumerate(plan):
                assert (way != "none") == (index < placed)
                if way != "none":
                    assert way in ways_of(drawn[index], room)
                    room = with_less_room(drawn[index], way, room)

    def unseen(shown: Table, viewer: int) -> Counter[str]:
        counters = shown.bag()
        for player in range(players):
            if player != viewer:
                counters.update(shown.drawn(player))
        return counters

    found = 0
    for number, table in enumerate(positions(players, box, seed=30 + players, every=3)):
        for viewer in range(players):
            guess = table.determinized(viewer, number)
            assert sorted(guess.tile_stack()) == sorted(table.tile_stack())
            if placing(table):
                found += 1
                assert unseen(guess, viewer) == unseen(table, viewer)
                check_possible(table, table, viewer)
                check_possible(guess, table, viewer)
    assert found > 20


def hands(rest: Counter[str], size: int = DRAWN) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every hand of so many counters, sorted as they come up, with the number of ways to draw it."""

    def choose(kinds: Sequence[str], left: int) -> Iterator[tuple[tuple[str, ...], int]]:
        if not kinds:
            if left == 0:
                yield (), 1
            return
        kind, *others = kinds
        for count in range(min(left, rest[kind]) + 1):
            for hand, ways in choose(others, left - count):
                yield (*[kind] * count, *hand), ways * comb(rest[kind], count)

    yield from choose([kind for kind in KINDS if rest[kind]], size)


def placings(counters: Sequence[str], room: Mapping[str, int]) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """Every way to place the counters in order, with its chance if each legal place is as likely as the others."""
    if not counters:
        yield (), Fraction(1)
        return
    ways = ways_of(counters[0], room)
    for way in ways:
        for rest, chance in placings(counters[1:], with_less_room(counters[0], way, room)):
            yield (way, *rest), chance / len(ways)


def few(**counts: int) -> Components:
    """A box with counters of few kinds; the words stand for `gas/logistician` and so on."""
    names = {"gas": "gas/logistician", "oil": "oil/worker", "gold": "gold/worker", "manager": "manager"}
    given = {names[word]: count for word, count in counts.items()}
    return Components(counters={kind: given.get(kind, 0) for kind in KINDS})


@pytest.mark.parametrize("viewer", [0, 1])
def test_drawn_counters_are_as_likely_as_brute_force_says(viewer: int) -> None:
    components = few(gas=16, oil=10, gold=4, manager=6)
    table = Table.deal(2, {"sides": "random"}, components, seed=1)
    unseen = Counter(components.counters)
    unseen.subtract(table.drawn(viewer))
    weights = dict(hands(unseen))
    assert tuple(table.drawn(1 - viewer)) in weights
    counts = Counter(tuple(table.determinized(viewer, generator).drawn(1 - viewer)) for generator in range(9000))
    assert_fair(counts, weights)


def test_several_hands_are_drawn_together_as_brute_force_says() -> None:
    components = few(gas=40, oil=6, manager=2)
    table = Table.deal(3, {"sides": "random"}, components, seed=4)
    unseen = Counter(components.counters)
    unseen.subtract(table.drawn(1))
    weights: Counter[Any] = Counter()
    for first, ways in hands(unseen):
        for second, more in hands(unseen - Counter(first)):
            weights[first.count("oil/worker"), second.count("oil/worker"), second.count("manager")] += ways * more
    counts: Counter[Any] = Counter()
    for generator in range(8000):
        guess = table.determinized(1, generator)
        counts[
            guess.drawn(0).count("oil/worker"), guess.drawn(2).count("oil/worker"), guess.drawn(2).count("manager")
        ] += 1
    assert_fair(counts, weights)


@pytest.mark.parametrize("placed", [1, 2, 3, 5])
def test_plans_are_uniform_over_the_legal_placings_in_order(placed: int) -> None:
    """The player before has placed all six, the one on turn some: each place as likely as the others, in order."""
    table = lay_out(
        3,
        components=few(gas=50, oil=6, manager=3),
        panels={0: {"gas": ["gas/logistician"]}, 1: {"logistician": ["manager"]}},
        tiles={0: ["worker"], 1: ["logistician"]},
        drawn={2: ["oil/worker"] * 6},
    )
    for _ in range(DRAWN + placed):
        table.play("place research")
    weights: tuple[Counter[Any], Counter[Any]] = Counter(), Counter()
    for hand, ways in hands(Counter({"gas/logistician": 48, "manager": 2})):
        for player, count in ((0, DRAWN), (1, placed)):
            for plan, chance in placings(hand[:count], slots(table, player)):
                weights[player][hand, plan] += float(ways * chance)  # type: ignore[assignment]
    counts: tuple[Counter[Any], Counter[Any]] = Counter(), Counter()
    for generator in range(8000):
        guess = table.determinized(2, generator)
        assert guess.plan(1)[placed:] == ["none"] * (DRAWN - placed)
        for player, count in ((0, DRAWN), (1, placed)):
            counts[player][tuple(guess.drawn(player)), tuple(guess.plan(player)[:count])] += 1
    for player in range(2):
        assert_fair(counts[player], weights[player])


def test_tiles_in_the_stack_are_as_likely_as_brute_force_says() -> None:
    tiles = {"gas": 3, "oil": 2, "worker": 3}
    components = Components(investment_tiles={action: tiles.get(action, 0) for action in ACTIONS})
    table = Table.deal(2, {"sides": "random"}, components, seed=2)
    left = Counter(tiles)
    left.subtract(table.face_up())

    def orders(rest: Counter[str]) -> Iterator[tuple[tuple[str, ...], int]]:
        if not rest.total():
            yield (), 1
        for name in [name for name, count in rest.items() if count]:
            for order, ways in orders(rest - Counter([name])):
                yield (name, *order), ways * rest[name]

    counts = Counter(tuple(table.determinized(1, generator).tile_stack()) for generator in range(5000))
    assert tuple(table.tile_stack()) in counts
    assert_fair(counts, dict(orders(+left)))


def test_what_the_bag_gives_next_is_as_likely_as_brute_force_says() -> None:
    """The bag is in the generator: guesses that are played on draw all hands with the right odds (B11)."""
    components = few(gas=24, oil=12, manager=2)
    table = Table.deal(2, {"sides": "random"}, components, seed=1)
    for name in ["place research"] * 12:
        table.play(name)
    while not table.state.passed:
        table.play(next(name for name in table.legal() if name == "pass" or name.startswith(("area", "resource"))))
    weights: Counter[Any] = Counter()
    for first, ways in hands(Counter(components.counters)):
        for second, more in hands(Counter(components.counters) - Counter(first)):
            weights[first.count("oil/worker"), second.count("oil/worker")] += ways * more
    counts: Counter[Any] = Counter()
    for generator in range(4000):
        guess = table.determinized(0, generator).play("pass")
        counts[guess.drawn(0).count("oil/worker"), guess.drawn(1).count("oil/worker")] += 1
    assert_fair(counts, weights)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_while_a_draw_is_due(players: int) -> None:
    """Between the rounds nothing but the tile stack and chance is hidden."""
    table = Table.deal(players, {"sides": "random"}, seed=1)
    waiting = 0
    for action in play_through(table, np.random.default_rng(0), STYLES[0], 300):
        before = table.copy()
        engine.advance_at(before.variant.rulesets, before.states, 0, action)
        if not engine.is_chance_at(before.variant.rulesets, before.states, 0):
            continue
        waiting += 1
        for viewer in range(players):
            guess = before.determinized(viewer, 8)
            assert engine.is_chance_at(guess.variant.rulesets, guess.states, 0)
            assert guess.observe(viewer).tobytes() == before.observe(viewer).tobytes()
            engine.resolve_at(guess.variant.rulesets, guess.states, 0)
            assert np.all(guess.state.drawn[:players] != EMPTY)
            check_everything(guess)
    assert waiting > 1
