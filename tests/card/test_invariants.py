"""What must hold after every step of every game: cards add up, running fields are right, masks are exact."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siberia_env.card.components import DEFAULT_SALESMEN, KINDS, SYMBOLS, Components
from siberia_env.card.game import GAME
from siberia_env.card.rules import open_box
from siberia_env.card.state import CHOOSE, EMPTY
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from tests.card.helpers import ALL_EDITIONS, Table, check_everything, lay_out
from tests.card.slow_observation import CARD_ACTIONS, on_offer, own_payments, payments, read_position, symbol_of
from tests.table import PLAYER_COUNTS, check_mask

EVERY_GAME = pytest.mark.parametrize(
    ("players", "edition"), [(players, edition) for players in PLAYER_COUNTS for edition in ALL_EDITIONS]
)


def check_offers(table: Table) -> None:
    """Every card action on the menu can be paid for, and every one that can be is on it (C10, C11, C13)."""
    position, player = read_position(table), table.player
    offered = [action for action, name in enumerate(table.variant.action_names[12:31]) if name in table.legal()]
    wanted = [
        number
        for number, action in enumerate(CARD_ACTIONS)
        if own_payments(position, player, symbol_of(action)) and on_offer(position, player, action)
    ]
    assert offered == wanted


@EVERY_GAME
def test_everything_holds_after_every_step(players: int, edition: str) -> None:
    table = Table.deal(players, edition, seed=players + 10)
    rng = np.random.default_rng(players)
    check_everything(table)
    while not table.over:
        check_mask(table)
        if table.state.phase == CHOOSE:
            check_offers(table)
        table.play_at_random(rng, 1)
        check_everything(table)
    check_mask(table)


@st.composite
def boxes(draw: Any, players: int) -> Components:
    """Small and odd boxes: few cards, missing kinds, salesmen that are worth less than the cards."""
    kinds = draw(st.lists(st.integers(0, 8), min_size=len(KINDS), max_size=len(KINDS)))
    missing = 5 * players - sum(kinds)
    kinds[0] += max(missing, 0)
    while sum(kinds) > 60:
        kinds[kinds.index(max(kinds))] -= 1
    values = st.lists(st.integers(1, 9), max_size=6)
    cards = {resource: tuple(sorted(draw(values))) for resource in RESOURCES}
    if sum(len(values) for values in cards.values()) < 4:
        cards["gas"] += (1, 2, 3, 4)
    return Components(
        action_cards=dict(zip(KINDS, kinds, strict=True)),
        resource_cards=cards,
        salesmen={symbol: draw(st.integers(1, 9)) for symbol in SYMBOLS},
        workers=draw(st.integers(players, 10)),
    )


@settings(max_examples=60)
@given(data=st.data(), players=st.sampled_from(PLAYER_COUNTS), edition=st.sampled_from(ALL_EDITIONS))
def test_everything_holds_with_any_box_and_any_choices(data: st.DataObject, players: int, edition: str) -> None:
    components = data.draw(boxes(players))
    rules = {"edition": edition, "max_turns": data.draw(st.integers(1, 60))}
    table = Table.deal(players, rules, components, seed=data.draw(st.integers(0, 2**64 - 1)))
    picks = data.draw(st.lists(st.integers(0, 10**6), min_size=1, max_size=40))
    steps = 0
    while not table.over and steps < 80:
        check_everything(table)
        check_mask(table)
        legal = np.flatnonzero(table.mask())
        table.step(int(legal[picks[steps % len(picks)] % len(legal)]))
        steps += 1
    check_everything(table)
    table.play_at_random(np.random.default_rng(0))
    assert table.over
    check_everything(table)


def finished_payments(table: Table) -> set[tuple[str, ...]]:
    """Follow every way through the payment that has begun; the sets of cards that end up paid."""
    player, before = table.player, Counter(table.hand(table.player))
    found: set[tuple[str, ...]] = set()

    def follow(states: Any, paid: tuple[str, ...]) -> None:
        branch = table.copy()
        branch.states[:] = states
        if branch.state.chosen < 0:
            found.add(tuple(sorted(paid)))
            return
        names = branch.legal()
        assert names, f"stuck after {paid} from {sorted(before.elements())}"
        for name in names:
            assert name.startswith("pay ")
            after = branch.copy().play(name)
            follow(after.states, (*paid, name.removeprefix("pay ")))

    follow(table.states, ())
    assert table.player == player
    return found


@settings(max_examples=40)
@given(
    hand=st.lists(st.sampled_from(KINDS), max_size=8),
    investors=st.sets(st.sampled_from(RESOURCES)),
    action=st.sampled_from(CARD_ACTIONS),
)
def test_C19_every_payment_that_begins_can_be_finished_in_just_the_ways_of_C10(
    hand: list[str], investors: set[str], action: tuple[str, str]
) -> None:
    hand = [name for index, name in enumerate(hand) if hand[:index].count(name) < 4]
    salesmen = {1: [name for name in SYMBOLS if name != action[1]]}
    if action[0] == "investor":
        investors = investors - {action[1]}
    table = lay_out(hands={0: hand}, investors={0: investors}, salesmen=salesmen, row=["gas 1000", "oil 2000"])
    wanted = payments(hand, symbol_of(action), symbol_of(action) in investors)
    name = {
        "mine": f"mine {action[1]}",
        "hire": "hire worker",
        "salesman": f"hire salesman {action[1]}",
        "investor": f"hire investor {action[1]}",
    }[action[0]]
    if wanted:
        assert finished_payments(table.play(name)) == {tuple(sorted(cards)) for cards in wanted}
    else:
        assert table.refuses(name)


@EVERY_GAME
def test_thousands_of_games_come_to_their_end(players: int, edition: str) -> None:
    variant = GAME.variant(players, edition)
    games = 1000
    states = variant.new_states(games)
    mask = np.zeros(GAME.num_actions, np.int8)
    for game in range(games):
        engine.deal_at(variant.rulesets, states, game, np.uint64(77), game, 0)
        decisions = engine.random_playout(variant.rulesets, states, game, mask, np.uint64(game))
        assert decisions > 0
        assert engine.is_over_at(variant.rulesets, states, game)
        assert engine.legal_at(variant.rulesets, states, game, mask) == 0
    ruleset = variant.rulesets[0]
    assert states["turn"].max() <= ruleset.max_turns
    stopped = states["hit_limit"] == 1
    assert np.all(states["turn"][stopped] == ruleset.max_turns)
    ended = ~stopped
    assert ended.sum() > games * 0.9
    assert np.all(states["resource_stack_size"][ended] == 0)
    assert np.all((states["face_up"] == 1)[ended] | (states["row"] == EMPTY)[ended])
    assert np.all(states["turns_to_end"][ended] == 0)
    in_row = (states["row"] != EMPTY).sum(axis=1)
    assert np.all(states["captured"].sum(axis=(1, 2)) + in_row + states["resource_stack_size"] == 36)
    hands = states["hand"].sum(axis=(1, 2)).astype(int)
    assert np.all(hands + states["discard"].sum(axis=1) + states["action_stack_size"] == 60)
    assert np.all(states["workers"].sum(axis=1) + states["workers_left"] == 10)
    best = sum(max(DEFAULT_SALESMEN[r], v) for r, vs in Components().resource_cards.items() for v in vs)
    assert states["score"].min() >= 0
    assert states["score"].sum(axis=1).max() <= best + 10 * 2 + 8 * 3 + 5 * 4


# ---------------------------------------------------------------- chance, resolved and forced


@EVERY_GAME
def test_forcing_the_order_that_fell_gives_the_same_state(players: int, edition: str) -> None:
    """What `resolve` shuffles can be given to `force`: equal states but for the generator, which stays."""
    variant = GAME.variant(players, edition)
    table = Table.deal(players, edition, seed=3)
    rng = np.random.default_rng(3)
    shuffles = 0
    while not table.over and shuffles < 3:
        action = int(rng.choice(np.flatnonzero(table.mask())))
        waiting = table.states.copy()
        engine.advance_at(variant.rulesets, waiting, 0, action)
        table.step(action)
        if engine.is_chance_at(variant.rulesets, waiting, 0):
            shuffles += 1
            assert not engine.is_over_at(variant.rulesets, waiting, 0)
            assert engine.legal_at(variant.rulesets, waiting, 0, np.zeros(GAME.num_actions, np.int8)) == 0
            size = int(waiting[0].discard_size)
            order = np.full(GAME.outcome_size, -1, np.int8)
            order[:size] = table.state.action_stack[:size][::-1]
            resolved = waiting.copy()
            engine.resolve_at(variant.rulesets, resolved, 0)
            assert resolved.tobytes() == table.states.tobytes()
            engine.force_at(variant.rulesets, waiting, 0, order)
            assert waiting[0].generator != resolved[0].generator
            waiting[0].generator = resolved[0].generator
            assert waiting.tobytes() == resolved.tobytes()
    assert shuffles > 0


def test_forcing_a_setup_lays_it_out_from_the_top_down() -> None:
    variant = GAME.variant(2)
    states = variant.new_states()
    open_box(variant.rulesets[0], states[0])
    assert engine.is_chance_at(variant.rulesets, states, 0)
    order = np.concatenate([np.repeat(np.arange(15), 4)[::-1], np.arange(36)[::-1]]).astype(np.int8)
    engine.force_at(variant.rulesets, states, 0, order)
    table = Table(variant)
    table.states[:] = states
    assert states[0].row.tolist() == list(range(35, 27, -1))
    assert table.hand(0) == ["diamond/salesman", *["diamond/investor"] * 4]
    assert table.hand(1) == ["diamond/worker"] * 2 + ["diamond/salesman"] * 3
    check_everything(table)
