"""`determinize`: it shows the viewer the same, hides nothing it knows, tells nothing it doesn't, and is fair."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from siberia_env.card.components import KINDS, SYMBOLS, Components
from siberia_env.card.state import EMPTY
from siberia_env.core import engine
from tests.card.helpers import ALL_EDITIONS, Table, check_everything, lay_out
from tests.card.slow_observation import payments
from tests.fairness import assert_fair
from tests.table import PLAYER_COUNTS

HIDDEN_FIELDS = {"generator", "hand", "symbols", "action_stack", "resource_stack", "row", "held", "known"}


def positions(players: int, edition: str = "dlp", seed: int = 0, every: int = 3) -> Any:
    """Positions all through one random game."""
    table = Table.deal(players, edition, seed=seed)
    rng = np.random.default_rng(seed)
    while not table.over:
        yield table
        table.play_at_random(rng, every)
    yield table


def stale(table: Table) -> Table:
    """The same position with other bytes in the unused ends of the stacks."""
    other = table.copy()
    state = other.state
    state.action_stack[state.action_stack_size :] = 7
    state.resource_stack[state.resource_stack_size :] = 5
    return other


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_viewer_sees_the_same_bit_for_bit(players: int, edition: str) -> None:
    for table in positions(players, edition, seed=players):
        for viewer in range(players):
            guess = table.determinized(viewer, 12345)
            assert guess.observe(viewer).tobytes() == table.observe(viewer).tobytes()
            if viewer == table.player:
                assert guess.mask().tobytes() == table.mask().tobytes()
            check_everything(guess)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_only_hidden_things_change_and_they_do(players: int) -> None:
    changed: set[str] = set()
    for number, table in enumerate(positions(players, seed=players)):
        viewer = number % players
        guess = table.determinized(viewer, number)
        now = {name for name in table.state.dtype.names if not np.array_equal(table.state[name], guess.state[name])}
        assert "generator" in now
        assert now <= HIDDEN_FIELDS
        changed |= now
        up = table.state.face_up == 1
        assert np.array_equal(guess.state.row[up], table.state.row[up])
        assert np.array_equal(guess.state.row == EMPTY, table.state.row == EMPTY)
        assert np.array_equal(guess.state.hand[viewer], table.state.hand[viewer])
        assert np.array_equal(guess.state.known[viewer], table.state.known[viewer])
    assert changed == HIDDEN_FIELDS - ({"held", "known"} if players == 2 else set())


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_equal_information_and_equal_generator_give_equal_bytes(players: int, edition: str) -> None:
    """Nothing leaks from the true order: a guess of the guess is the guess of the truth."""
    for number, table in enumerate(positions(players, edition, seed=players + 5)):
        for viewer in range(players):
            direct = table.determinized(viewer, number)
            twice = table.determinized(viewer, number + 1000).determinized(viewer, number)
            assert twice.states.tobytes() == direct.states.tobytes()
            assert stale(table).determinized(viewer, number).states.tobytes() == direct.states.tobytes()


def test_different_generators_give_different_cards_and_futures() -> None:
    table = Table.deal(3, seed=2)
    guesses = [table.determinized(0, generator) for generator in range(50)]
    assert len({guess.states.tobytes() for guess in guesses}) == 50
    assert len({int(guess.state.generator) for guess in guesses}) == 50
    assert len({tuple(guess.hand(1)) for guess in guesses}) > 45
    assert len({tuple(guess.row()) for guess in guesses}) > 45


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_a_guess_can_be_played_to_its_end(players: int) -> None:
    """Also from a seat that is not on turn, and from the middle of another seat's payment."""
    rng = np.random.default_rng(0)
    paying = 0
    for number, table in enumerate(positions(players, seed=players + 20, every=7)):
        viewer = (table.player + 1) % players
        guess = table.determinized(viewer, number)
        paying += guess.state.chosen >= 0
        assert guess.over or guess.legal()
        guess.play_at_random(rng)
        assert guess.over
        check_everything(guess)
    assert paying > 0


# ---------------------------------------------------------------- fairness, counted by brute force


TINY = Components(
    action_cards={
        kind: {"gas/worker": 4, "oil/worker": 3, "gold/salesman": 3, "gas/salesman": 2}.get(kind, 0) for kind in KINDS
    },
    resource_cards={"gas": (1, 2), "charcoal": (1, 4), "oil": (3, 5), "gold": (3, 4), "diamond": (5, 6)},
)


def hand_and_stack(table: Table, player: int) -> tuple[Any, ...]:
    stack = tuple(KINDS[kind] for kind in table.state.action_stack[: table.state.action_stack_size])
    return (*sorted(table.hand(player)), "|", *stack)


def test_hands_and_stack_are_as_likely_as_brute_force_says() -> None:
    table = Table.deal(2, None, TINY, seed=1)
    unseen = [name for name, count in TINY.action_cards.items() for _ in range(count)]
    for name in table.hand(0):
        unseen.remove(name)
    weights = Counter((*sorted(order[:5]), "|", *order[5:]) for order in permutations(unseen))
    counts = Counter(hand_and_stack(table.determinized(0, generator), 1) for generator in range(8000))
    assert hand_and_stack(table, 1) in counts
    assert_fair(counts, weights)


def test_three_hands_are_as_likely_as_brute_force_says() -> None:
    few = {"gas/worker": 6, "oil/worker": 5, "gold/salesman": 5}
    components = Components(action_cards={kind: few.get(kind, 0) for kind in KINDS})
    table = Table.deal(3, None, components, seed=4)
    unseen = Counter(few)
    unseen.subtract(table.hand(1))

    def ways(rest: Counter[str], size: int) -> Any:
        """Every hand of so many cards with the number of ways to draw it, one card after the other."""
        if size == 0:
            yield (), 1
            return
        for name in [name for name, count in rest.items() if count]:
            for hand, weight in ways(rest - Counter([name]), size - 1):
                yield (name, *hand), weight * rest[name]

    weights: Counter[Any] = Counter()
    for first, weight in ways(unseen, 5):
        rest = unseen - Counter(first)
        for name, count in rest.items():
            weights[tuple(sorted(first)), name] += weight * count
    counts: Counter[Any] = Counter()
    for generator in range(8000):
        guess = table.determinized(1, generator)
        stack_top = KINDS[guess.state.action_stack[guess.state.action_stack_size - 1]]
        counts[tuple(sorted(guess.hand(2))), stack_top] += 1
    assert_fair(counts, weights)


def test_resource_cards_are_as_likely_as_brute_force_says() -> None:
    table = Table.deal(2, None, TINY, seed=1)
    hidden = [int(number) for number in table.state.row[3:]]
    hidden += [int(number) for number in table.state.resource_stack[: table.state.resource_stack_size]]
    weights = Counter((order[0], order[4], order[5]) for order in permutations(hidden))
    counts: Counter[Any] = Counter()
    for generator in range(8000):
        state = table.determinized(0, generator).state
        counts[int(state.row[3]), int(state.row[7]), int(state.resource_stack[state.resource_stack_size - 1])] += 1
    assert len(weights) == 7 * 6 * 5
    assert_fair(counts, weights)


@pytest.mark.parametrize(
    ("action", "paid", "investor"),
    [
        ("mine gold", [], False),
        ("mine gold", ["gold/salesman"], False),
        ("mine gold", ["gold/salesman", "oil/worker"], False),
        ("mine gold", [], True),
        ("mine gold", ["oil/worker"], True),
        ("hire salesman gas", ["gas/salesman"], False),
        ("hire worker", [], False),
    ],
)
def test_who_is_paying_holds_what_the_payment_needs(action: str, paid: list[str], investor: bool) -> None:
    """The odds are those of brute force among the hands that held what was paid and can still finish it (C19)."""
    hand = ["gold/salesman", "gold/salesman", "oil/worker", "gas/salesman", "oil/worker"]
    table = lay_out(
        2,
        None,
        TINY,
        hands={1: hand, 0: ["gas/worker"] * 4 + ["gas/salesman"]},
        investors={1: ["gold"]} if investor else {},
        row=["gold 3000"],
        player=1,
    )
    table.play(action, *(f"pay {name}" for name in paid))
    symbol = action.split()[1]
    assert symbol in SYMBOLS
    unseen = [name for name, count in TINY.action_cards.items() for _ in range(count)]
    for name in table.hand(0):
        unseen.remove(name)

    def finishes(held: tuple[str, ...]) -> bool:
        spent = Counter(paid)
        return any(
            Counter(way) & spent == spent
            and (len(paid) < 2 or sum(symbol in name.split("/") for name in way) + investor == 1)
            for way in payments([*held, *paid], symbol, investor)
            if len(way) > len(paid)
        )

    weights: Counter[Any] = Counter()
    for order in permutations(unseen):
        before = Counter(order[: len(hand)])
        if Counter(paid) <= before and finishes(left := tuple(sorted((before - Counter(paid)).elements()))):
            weights[left] += 1
    counts = Counter(tuple(sorted(table.determinized(0, generator).hand(1))) for generator in range(6000))
    assert tuple(sorted(table.hand(1))) in counts
    assert_fair(counts, weights)


# ---------------------------------------------------------------- what is known of hands


def test_known_hands_after_a_reshuffle_each_knows_the_others_hand() -> None:
    hands = {0: ["gas/worker"], 1: ["oil/worker", "gold/investor"]}
    table = lay_out(hands=hands, action_stack=["oil/investor"])
    assert table.known(0) == table.known(1) == []
    table.play("draw 2")
    assert table.known(1) == hands[1]
    assert table.known(0) == ["gas/worker", "oil/investor"]
    assert len(table.hand(0)) == 3


def test_known_hands_drawn_cards_stay_unknown_and_payments_take_the_known_part_first() -> None:
    hands = {0: ["gas/worker", "gas/worker", "oil/worker"], 1: []}
    table = lay_out(hands=hands, known={0: ["gas/worker", "oil/worker"]}, action_stack=["gold/worker"] * 3)
    table.play("draw 1")
    assert table.known(0) == ["gas/worker", "oil/worker"]
    table.play("draw 0", "hire worker", "pay gas/worker")
    assert table.known(0) == ["oil/worker"]
    table.play("pay gas/worker")
    assert table.known(0) == ["oil/worker"]
    assert table.hand(0) == ["oil/worker", "gold/worker", "gold/worker"]


@pytest.mark.parametrize("edition", ALL_EDITIONS)
@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C18_what_is_known_together_is_kept_and_no_sample_contradicts_it(players: int, edition: str) -> None:
    """Followed by hand through a game: all that the others hold at a reshuffle, less what they pay."""
    table = Table.deal(players, edition, seed=players)
    rng = np.random.default_rng(players)
    known: list[Counter[str]] = [Counter() for _ in range(players)]
    reshuffles, partly_known = 0, 0
    while not table.over:
        player = table.player
        action = int(rng.choice(np.flatnonzero(table.mask())))
        waiting = table.states.copy()
        engine.advance_at(table.variant.rulesets, waiting, 0, action)
        table.step(action)
        name = table.variant.action_names[action]
        for viewer in range(players):
            if name.startswith("pay ") and viewer != player:
                known[viewer] -= Counter([name.removeprefix("pay ")])
            if engine.is_chance_at(table.variant.rulesets, waiting, 0):
                others = waiting[0].hand[[seat for seat in range(players) if seat != viewer]].sum(axis=0)
                known[viewer] = Counter({KINDS[kind]: int(count) for kind, count in enumerate(others) if count})
            assert Counter(table.known_among_others(viewer)) == known[viewer]
        reshuffles += engine.is_chance_at(table.variant.rulesets, waiting, 0)
        for viewer in range(players):
            guess = table.determinized(viewer, int(rng.integers(2**32)))
            held = Counter(name for other in range(players) if other != viewer for name in guess.hand(other))
            assert known[viewer] <= held
            assert Counter(guess.known_among_others(viewer)) == known[viewer]
            partly_known += known[viewer].total() > 0
    assert reshuffles >= 1
    assert partly_known > 10


def test_C18_who_has_drawn_nothing_since_the_reshuffle_holds_old_cards_only() -> None:
    """And what such a player pays was one of them."""
    hands = {
        0: ["gas/worker"] * 2,
        1: ["oil/worker", "oil/investor", "gold/worker"],
        2: ["gas/salesman", "gold/worker"],
    }
    held = {0: ["gas/worker"] * 2, 1: ["oil/worker", "oil/investor", "gold/worker"], 2: ["gas/salesman"]}
    table = lay_out(3, hands=hands, known=held, player=1)
    table.play("mine oil", "pay oil/worker")
    together = Counter({"oil/investor": 1, "gold/worker": 1, "gas/salesman": 1})
    for generator in range(300):
        guess = table.determinized(0, generator)
        assert Counter(guess.hand(1)) <= together
        assert Counter(guess.hand(1)) + Counter(guess.hand(2)) >= together


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_truth_is_always_possible(players: int) -> None:
    """The cards that are dealt anew are just those that are hidden, as a set."""
    for table in positions(players, seed=30 + players):
        for viewer in range(players):
            guess = table.determinized(viewer, 3)

            def unplaced(shown: Table, viewer: int = viewer) -> tuple[Counter[str], list[int]]:
                state = shown.state
                cards = Counter(KINDS[kind] for kind in state.action_stack[: state.action_stack_size])
                for other in set(range(players)) - {viewer}:
                    cards += Counter(shown.hand(other))
                numbers = [int(n) for n, up in zip(state.row, state.face_up, strict=True) if n != EMPTY and not up]
                numbers += [int(n) for n in state.resource_stack[: state.resource_stack_size]]
                return cards, sorted(numbers)

            assert unplaced(guess) == unplaced(table)
            assert guess.state.hand_size.tolist() == table.state.hand_size.tolist()
            assert guess.state.action_stack_size == table.state.action_stack_size
            assert guess.state.resource_stack_size == table.state.resource_stack_size


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_while_a_shuffle_is_due(players: int) -> None:
    hands: dict[int, list[str]] = {0: ["gas/worker"], 1: ["oil/worker", "gold/investor"]}
    table = lay_out(players, hands=hands, action_stack=["oil/investor"], row=["(gas 1000)", "(oil 2000)"])
    engine.advance_at(table.variant.rulesets, table.states, 0, table.variant.action_number("draw 2"))
    for viewer in range(players):
        guess = table.determinized(viewer, 8)
        assert engine.is_chance_at(table.variant.rulesets, guess.states, 0)
        check_everything(guess)
        engine.resolve_at(table.variant.rulesets, guess.states, 0)
        assert len(guess.hand(0)) == 3
        check_everything(guess)
