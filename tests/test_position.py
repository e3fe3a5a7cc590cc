"""One game as an object: it plays as the kernels play, and what it hands out is its caller's own."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from siberia_env.aec import SiberiaAECEnv
from siberia_env.board.state import PLACE
from siberia_env.card.notation import lowest_alike
from siberia_env.common.notation import chronicle_of
from siberia_env.core import engine
from siberia_env.core.engine import CHANCE, TERMINAL
from siberia_env.core.rewards import REWARDS
from siberia_env.errors import ConfigurationError, IllegalActionError
from siberia_env.game import GAMES, Variant, find_game
from siberia_env.position import Position, new_position
from siberia_env.records import play_and_record, replay
from tests.games import GameCase
from tests.records import at_random
from tests.table import PLAYER_COUNTS

EVERY_GAME = pytest.mark.parametrize("game", GAMES)
EVERY_COUNT = pytest.mark.parametrize("players", PLAYER_COUNTS)
EVERY_COPY = pytest.mark.parametrize(
    "copied",
    [
        Position.clone,
        copy.copy,
        copy.deepcopy,
        lambda position: pickle.loads(pickle.dumps(position)),
        lambda position: Position.deserialize(
            position.variant, position.serialize(), explicit_chance=position.explicit_chance
        ),
    ],
    ids=["clone", "copy", "deepcopy", "pickle", "serialize"],
)


def played(position: Position, seed: int, decisions: int = 100_000) -> Position:
    """The same position after at most so many random decisions; chance that waits is settled."""
    chance = np.random.default_rng(seed)
    while decisions and not position.is_terminal():
        if position.is_chance_node():
            position.settle_chance()
        else:
            position.apply_action(int(chance.choice(position.legal_actions())))
            decisions -= 1
    return position


def all_that_it_tells(position: Position) -> dict[str, Any]:
    """All that a position tells of itself, in bytes and plain values."""
    seats = range(position.num_players)
    return {
        "turn": position.current_player(),
        "legal": position.legal_actions(),
        "mask": position.action_mask().tobytes(),
        "scores": position.scores(),
        "returns": [position.returns(reward) for reward in REWARDS],
        "seen": [position.observation_tensor(player).tobytes() for player in seats],
        "known": [position.information_state_string(player) for player in seats],
        "all": str(position),
    }


# ---------------------------------------------------------------- a game


@EVERY_COUNT
def test_a_whole_game_is_what_the_kernels_play(case: GameCase, players: int) -> None:
    position = new_position(case.name, players, seed=5, rules=case.medium)
    variant, states = position.variant, position.variant.new_states()
    observation = np.zeros(variant.game.observation_size, np.float32)
    mask, totals = np.zeros(variant.game.num_actions, np.int8), np.zeros(players, np.int64)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(5), 0, 0)
    player = engine.step_at(variant.rulesets, states, 0, engine.NO_ACTION, observation, mask)
    chance = np.random.default_rng(players)
    while player != engine.FINISHED:
        assert position.serialize() == states.tobytes()
        assert position.current_player() == player
        assert position.action_mask().tobytes() == mask.tobytes()
        assert position.legal_actions() == np.flatnonzero(mask).tolist()
        assert position.observation_tensor().tobytes() == observation.tobytes()
        engine.scores_at(variant.rulesets, states, 0, totals)
        assert position.scores() == (1000 * totals).tolist()
        assert not position.is_terminal()
        assert not position.is_chance_node()
        action = int(chance.choice(position.legal_actions()))
        position.apply_action(action)
        player = engine.step_at(variant.rulesets, states, 0, action, observation, mask)
    assert position.serialize() == states.tobytes()
    assert position.is_terminal()
    assert position.current_player() == TERMINAL
    assert position.has_hit_limit() == bool(engine.has_hit_limit_at(variant.rulesets, states, 0))
    assert position.legal_actions() == position.legal_action_names() == []


@EVERY_COUNT
def test_a_seed_deals_the_game_that_records_have(case: GameCase, players: int) -> None:
    variant = case.game.variant(players, case.medium)
    record = play_and_record(variant, at_random(3), 11, ["a"] * players)
    position = Position(variant, 11)
    for decision in replay(record):
        assert position.serialize() == decision.states.tobytes()
        assert position.current_player() == decision.player
        assert tuple(position.legal_action_names()) == decision.legal
        assert position.action_to_string(decision.action) == decision.name
        position.apply_action(decision.name)
    assert position.is_terminal()
    assert position.scores() == record.end["scores"]
    assert position.winners() == record.end["winners"]


@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_and_results_are_those_of_the_environment(case: GameCase, reward: str) -> None:
    env = SiberiaAECEnv(case.name, 3, case.medium, reward=reward)
    env.reset(seed=4)
    position = Position(env.variant, 4)
    chance = np.random.default_rng(4)
    while not position.is_terminal():
        assert position.returns(reward) == [0.0, 0.0, 0.0]
        assert position.winners() == []
        assert env.agent_selection == f"player_{position.current_player()}"
        action = int(chance.choice(position.legal_actions()))
        position.apply_action(action)
        env.step(action)
    info = env.infos["player_0"]
    assert position.returns(reward) == list(env.rewards.values())
    assert any(position.returns(reward))
    assert position.scores() == list(info["scores"].values())
    assert [f"player_{player}" for player in position.winners()] == info["winners"]
    assert position.has_hit_limit() == info["hit_limit"]


@EVERY_GAME
def test_slot_and_episode_choose_among_the_games_of_a_seed(game: str) -> None:
    variant = find_game(game).variant(2)
    states = variant.new_states()
    engine.deal_at(variant.rulesets, states, 0, np.uint64(9), 4, 7)
    position = Position(variant, 9, slot=4, episode=7)
    assert position.serialize() == states.tobytes()
    position.deal(9)
    assert position.serialize() == Position(variant, 9).serialize() != states.tobytes()


@EVERY_GAME
def test_without_a_seed_every_game_is_another(game: str) -> None:
    assert new_position(game).serialize() != new_position(game).serialize()


@EVERY_GAME
@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True])
def test_what_is_no_seed_is_refused(game: str, seed: Any) -> None:
    with pytest.raises(ConfigurationError, match="seed: "):
        new_position(game, seed=seed)
    with pytest.raises(ConfigurationError, match="seed: "):
        new_position(game, seed=1).resample_from_infostate(0, seed)


# ---------------------------------------------------------------- chance


@EVERY_COUNT
def test_explicit_chance_stops_at_the_deal_and_wherever_chance_is_due(case: GameCase, players: int) -> None:
    """And goes through the same states as a game whose chance settles itself."""
    variant = case.game.variant(players)
    free, waiting = Position(variant, 3), Position(variant, 3, explicit_chance=True)
    chance, stops = np.random.default_rng(0), 0
    while True:
        while waiting.is_chance_node():
            stops += 1
            assert waiting.current_player() == CHANCE
            assert waiting.legal_actions() == []
            before = waiting.serialize()
            with pytest.raises(IllegalActionError, match=r"a chance outcome is due; settle_chance\(\) comes first"):
                waiting.apply_action(0)
            assert waiting.serialize() == before
            waiting.settle_chance()
        assert waiting.serialize() == free.serialize()
        if free.is_terminal():
            break
        action = int(chance.choice(free.legal_actions()))
        free.apply_action(action)
        waiting.apply_action(action)
    assert stops > 1


@EVERY_GAME
def test_settle_chance_takes_an_outcome(game: str) -> None:
    variant = find_game(game).variant(2)
    drawn, given = Position(variant, 1, explicit_chance=True), Position(variant, 2, explicit_chance=True)
    header, setup = play_and_record(variant, at_random(0), 1, ["a", "b"]).lines[:2]
    assert setup["event"] == "setup"
    outcome = chronicle_of(variant.game).outcome(variant, given.states, 0, [(2, setup)])
    drawn.settle_chance()
    given.settle_chance(outcome)
    assert header["seed"] == 1
    for player in range(2):
        assert given.observation_tensor(player).tobytes() == drawn.observation_tensor(player).tobytes()


@EVERY_GAME
def test_an_outcome_that_can_not_be_is_refused(game: str) -> None:
    position = Position(find_game(game).variant(2), 1, explicit_chance=True)
    before = position.serialize()
    with pytest.raises(ConfigurationError, match="force: expected"):
        position.settle_chance([0, 0])
    assert position.serialize() == before
    position.settle_chance()
    before = position.serialize()
    for outcome in (None, [0, 0]):
        with pytest.raises(ConfigurationError, match="no chance outcome is due"):
            position.settle_chance(outcome)
    assert position.serialize() == before


# ---------------------------------------------------------------- actions


class Unspeakable:
    """What can't be shown in a message."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


ILLEGAL: dict[str, Callable[[Position], Any]] = {
    "negative": lambda position: -1,
    "one too many": lambda position: position.variant.game.num_actions,
    "beyond 64 bits": lambda position: 2**64 + position.legal_actions()[0],
    "too long to be written": lambda position: 10**5000,
    "not now": lambda position: int(np.flatnonzero(position.action_mask() == 0)[0]),
    "numpy's, not now": lambda position: np.flatnonzero(position.action_mask() == 0)[0],
    "no name": lambda position: "pass go",
    "a name, not now": lambda position: position.action_to_string(int(np.flatnonzero(position.action_mask() == 0)[0])),
    "a number in a string": lambda position: str(position.legal_actions()[0]),
    "a float": lambda position: float(position.legal_actions()[0]),
    "a truth value": lambda position: True,
    "nothing": lambda position: None,
    "an array": lambda position: np.array([[1, 2], [3, 4]]),
    "a list": lambda position: position.legal_actions(),
    "an object": lambda position: Unspeakable(),
}


@pytest.mark.parametrize("kind", ILLEGAL)
def test_an_illegal_action_is_refused_in_one_line_and_changes_nothing(case: GameCase, kind: str) -> None:
    position = new_position(case.name, 3, seed=7)
    before = position.serialize()
    with pytest.raises(IllegalActionError) as raised:
        position.apply_action(ILLEGAL[kind](position))
    told = str(raised.value)
    assert told.startswith("action ")
    assert f"; player 0 may: {position.legal_action_names()[0]}, " in told
    assert "\n" not in told
    assert position.serialize() == before
    assert case.first in position.legal_action_names()
    position.apply_action(case.first)
    assert position.serialize() != before


def test_every_illegal_number_is_refused_at_every_decision_of_a_game(case: GameCase) -> None:
    position = new_position(case.name, 2, seed=2, rules=case.short)
    while not position.is_terminal():
        before = position.serialize()
        for action in np.flatnonzero(position.action_mask() == 0):
            with pytest.raises(IllegalActionError, match=r"^action .*: not legal; player"):
                position.apply_action(int(action))
        assert position.serialize() == before
        position.apply_action(position.legal_actions()[-1])


def test_a_finished_game_takes_no_action(case: GameCase) -> None:
    position = played(new_position(case.name, 2, seed=2, rules=case.short), 0)
    before = position.serialize()
    for action in (0, case.first, "pass go", None):
        with pytest.raises(IllegalActionError, match="the game is over"):
            position.apply_action(action)
    assert position.serialize() == before


@EVERY_GAME
def test_names_and_numbers_lead_to_each_other_and_to_the_same_game(game: str) -> None:
    by_number, by_name = new_position(game, 2, seed=3), new_position(game, 2, seed=3)
    chance = np.random.default_rng(1)
    for _ in range(150):
        if by_number.is_terminal():
            break
        for action, name in zip(by_number.legal_actions(), by_number.legal_action_names(), strict=True):
            assert by_number.action_to_string(action) == name
            assert by_number.string_to_action(name) == action
        chosen = int(chance.choice(by_number.legal_actions()))
        by_name.apply_action(by_number.action_to_string(chosen))
        by_number.apply_action(np.int64(chosen))
        assert by_name.serialize() == by_number.serialize()


def test_an_exchange_goes_by_its_active_side_and_by_both_but_not_by_the_other() -> None:
    given = new_position("board", 2, seed=1, rules={"sides": "random"})
    for names in (given.action_names(), given.variant.action_names):
        for action in range(given.variant.game.num_actions):
            assert given.string_to_action(names[action]) == action
    sides = [
        name for name in given.variant.game.other_names(given.variant.components) if name not in given.action_names()
    ]
    assert sides
    for name in sides:
        with pytest.raises(IllegalActionError, match="no action is called so here"):
            given.string_to_action(name)


@EVERY_GAME
@pytest.mark.parametrize("action", [-1, 10**6, None, "1", True])
def test_only_actions_have_names(game: str, action: Any) -> None:
    position = new_position(game, seed=1)
    last = position.variant.game.num_actions - 1
    with pytest.raises(IllegalActionError, match=f"the actions are 0 to {last}"):
        position.action_to_string(action)


# ---------------------------------------------------------------- copies


@EVERY_COPY
@EVERY_COUNT
def test_a_copy_is_equal_and_independent(case: GameCase, players: int, copied: Callable[[Position], Position]) -> None:
    for explicit in (False, True):
        position = Position(case.game.variant(players, case.medium), 6, explicit_chance=explicit)
        played(position, 1, 25)
        other = copied(position)
        assert type(other) is Position
        assert other.explicit_chance is explicit
        assert all_that_it_tells(other) == all_that_it_tells(position)
        before = all_that_it_tells(position)
        played(other, 2, 10)
        assert all_that_it_tells(position) == before
        assert other.serialize() != position.serialize()


@EVERY_COPY
def test_a_copy_goes_on_with_the_same_chances(case: GameCase, copied: Callable[[Position], Position]) -> None:
    position = played(new_position(case.name, 3, seed=6, rules=case.medium), 1, 10)
    other = copied(position)
    assert played(other, 5).serialize() == played(position, 5).serialize()


@EVERY_GAME
def test_arrays_that_were_handed_out_are_never_written_again(game: str) -> None:
    position = new_position(game, 2, seed=1)
    handed = [position.action_mask(), position.observation_tensor(), position.totals()]
    before = [array.tobytes() for array in handed]
    played(position, 3)
    assert [array.tobytes() for array in handed] == before


@EVERY_GAME
def test_a_pickled_position_keeps_its_rules(game: str) -> None:
    variant = find_game(game).variant(4, {"max_turns": 40} if game == "card" else {"salesman_cards": True})
    again = pickle.loads(pickle.dumps(Position(variant, 1)))
    assert again.variant.rules == variant.rules
    assert again.num_players == 4


@EVERY_GAME
def test_data_of_another_size_is_refused(game: str) -> None:
    variant = find_game(game).variant(2)
    with pytest.raises(ConfigurationError, match=rf"data: expected {variant.game.state_dtype.itemsize} bytes; got 3"):
        Position.deserialize(variant, b"abc")


@EVERY_GAME
def test_random_play_goes_to_the_end_and_depends_on_its_seed(game: str) -> None:
    position = Position(find_game(game).variant(3), 5, explicit_chance=True)
    first, again, other = position.clone(), position.clone(), position.clone()
    decisions = first.play_at_random(1)
    assert first.is_terminal()
    assert decisions > 20
    again.play_at_random(1)
    other.play_at_random(2)
    assert again.serialize() == first.serialize() != other.serialize()
    assert first.play_at_random(3) == 0


# ---------------------------------------------------------------- around a state that exists


@EVERY_GAME
def test_a_position_around_a_row_of_a_batch_plays_in_the_batch(game: str) -> None:
    variant = find_game(game).variant(2)
    batch = variant.new_states(3)
    engine.deal_at(variant.rulesets, batch, 0, np.uint64(8), 0, 0)
    for row in (1, 2):
        batch[row] = batch[0]
    before = batch.tobytes()
    row = Position.from_states(variant, batch[1:2])
    clone = row.clone()
    played(clone, 0, 5)
    assert batch.tobytes() == before
    played(row, 0, 5)
    assert batch[1:2].tobytes() == clone.serialize() == row.serialize()
    assert batch[0:1].tobytes() == batch[2:3].tobytes() != clone.serialize()


def unfit(variant: Variant) -> Iterator[Any]:
    """What no position can be made around."""
    states = variant.new_states()
    yield from (variant.new_states(2), states[0], states.tobytes(), None, np.zeros(1, np.int64), states.reshape(1, 1))
    fixed = variant.new_states()
    fixed.flags.writeable = False
    yield fixed
    shifted = np.zeros(variant.game.state_dtype.itemsize + 1, np.uint8)
    yield shifted[1:].view(variant.game.state_dtype)
    yield find_game("board" if variant.game.name == "card" else "card").variant(2).new_states()


@EVERY_GAME
def test_a_position_needs_a_writable_array_of_one_state_of_its_game(game: str) -> None:
    variant = find_game(game).variant(2)
    for states in unfit(variant):
        with pytest.raises(ConfigurationError, match="states: "):
            Position.from_states(variant, states)


# ---------------------------------------------------------------- what a player knows


@EVERY_COUNT
def test_a_sample_is_a_position_that_the_player_can_not_tell_from_this_one(case: GameCase, players: int) -> None:
    position = new_position(case.name, players, seed=players, rules=case.medium)
    chance, differs = np.random.default_rng(players), 0
    while not position.is_terminal():
        before = position.serialize()
        for player in range(players):
            sample = position.resample_from_infostate(player, int(chance.integers(2**63)))
            assert sample.observation_tensor(player).tobytes() == position.observation_tensor(player).tobytes()
            assert sample.current_player() == position.current_player()
            assert sample.scores() == position.scores()
            assert sample.states["generator"] != position.states["generator"]
            if player == position.current_player():
                assert sample.legal_actions() == position.legal_actions()
                assert sample.legal_action_names() == position.legal_action_names()
            differs += sample.clone().states[0].tobytes()[8:] != before[8:]
        assert position.serialize() == before
        position.apply_action(int(chance.choice(position.legal_actions())))
    assert differs > 20


def test_equal_information_has_equal_strings(case: GameCase) -> None:
    for position in moments(case):
        for player in range(3):
            known = position.information_state_string(player)
            assert known.startswith(position.observation_string(player) + "\n")
            for seed in range(3):
                sample = position.resample_from_infostate(player, seed)
                assert sample.information_state_string(player) == known


def test_strings_differ_where_players_know_different_things(case: GameCase) -> None:
    """From moment to moment, and from seat to seat."""
    strings = [position.information_state_string(player) for position in moments(case) for player in range(3)]
    assert len(set(strings)) == len(strings)


def test_the_number_tells_apart_what_the_text_alone_may_not(case: GameCase) -> None:
    """It stands for the whole record as the player knows it: here everything public is equal but one field."""
    position = new_position(case.name, 3, seed=4)
    other = position.clone()
    other.states[case.score][0, 1] += 1
    first, second = (table.information_state_string(0).splitlines()[-1] for table in (position, other))
    assert first != second
    assert len(first) == len(second)


def test_two_resource_cards_that_look_alike_may_change_places() -> None:
    """Open, hidden or captured: only their numbers differ, which nobody sees. Other cards are told apart."""
    pairs, found = set(), {True: 0, False: 0}
    for decisions in (2, 60, 200):
        position = played(new_position("card", 3, seed=9), 1, decisions)
        state, lowest = position.states[0], lowest_alike(position.variant)
        known = [position.information_state_string(player) for player in range(3)]
        for one, other in itertools.combinations(range(len(lowest)), 2):
            alike, where = lowest[one] == lowest[other], {place_of(state, one), place_of(state, other)}
            if len(where) == 1 or (not alike and pairs & {(decisions, *where)}):
                continue
            pairs.add((decisions, *where))
            swapped = position.clone()
            swap_cards(swapped.states[0], one, other)
            assert swapped.serialize() != position.serialize()
            strings = [swapped.information_state_string(player) for player in range(3)]
            assert (strings == known) == alike
            found[alike] += 1
    assert found[True] > 10
    assert found[False] > 5


def place_of(state: Any, number: int) -> str:
    """Where a resource card lies. All hidden places count as one: nobody can tell one from another."""
    slots = np.flatnonzero(state.row == number)
    if slots.size and state.face_up[slots[0]]:
        return f"slot {slots[0]}"
    return "hidden" if slots.size or number in state.resource_stack[: state.resource_stack_size] else "captured"


def swap_cards(state: Any, one: int, other: int) -> None:
    """Let two resource cards change places."""
    for cards in (state.row, state.resource_stack[: state.resource_stack_size]):
        first, second = cards == one, cards == other
        cards[first], cards[second] = other, one


def test_which_of_two_equal_counters_went_where_is_no_knowledge() -> None:
    """While all place, and afterwards too."""
    ways = []
    for order in (("place research", "place person"), ("place person", "place research")):
        position = new_position("board", 2, seed=3, rules={"sides": "random"})
        state, seat = position.states[0], position.current_player()
        assert state.drawn[seat, 0] == state.drawn[seat, 1]
        for place in order:
            position.apply_action(place)
        while_placing = position.clone()
        while position.states[0].phase == PLACE:
            position.apply_action(position.legal_actions()[0])
        ways.append((while_placing, position))
    for first, second in zip(*ways, strict=True):
        assert first.serialize() != second.serialize()
        for player in range(2):
            assert first.information_state_string(player) == second.information_state_string(player)


def moments(case: GameCase) -> list[Position]:
    """Positions of one game, each after some more decisions."""
    position = new_position(case.name, 3, seed=9, rules=case.medium)
    found = []
    while not position.is_terminal():
        found.append(position.clone())
        played(position, len(found), 20)
    return found


def test_samples_and_the_view_are_those_that_agents_are_given(case: GameCase) -> None:
    env = case.module.raw_env(num_players=3)
    env.reset(seed=21)
    position = new_position(case.name, 3, seed=21)
    for _ in range(40):
        view, wanted = position.view(), env.view()
        assert view.representative.tobytes() == wanted.representative.tobytes()
        assert view.observation.tobytes() == wanted.observation.tobytes()
        for seed in (0, 1, 2**63):
            assert position.resample_from_infostate(view.player, seed).serialize() == wanted.sample(seed).tobytes()
        action = wanted.legal_actions[-1]
        position.apply_action(action)
        env.step(action)


def test_a_text_is_the_seats_own_and_str_shows_everything(case: GameCase) -> None:
    position = played(new_position(case.name, 2, seed=5), 2, 30)
    assert position.observation_string(0) != position.observation_string(1)
    assert position.observation_string() == position.observation_string(position.current_player())
    assert "everything shown" in str(position)
    assert "seen by player_1" in position.observation_string(1)
    assert f"current player {position.current_player()}" in repr(position)


@EVERY_GAME
def test_blocks_name_the_parts_of_the_tensor(game: str) -> None:
    position = new_position(game, 3, seed=1)
    tensor, blocks = position.observation_tensor(1), position.observation_blocks
    assert tensor.dtype == np.float32
    assert sum(len(tensor[part]) for part in blocks.values()) == len(tensor)
    assert list(blocks) == [block.name for block in position.variant.game.blocks]


@EVERY_GAME
@pytest.mark.parametrize("player", [-1, 2, "0", True, 1.0])
def test_only_seats_are_shown_something(game: str, player: Any) -> None:
    position = new_position(game, 2, seed=1)
    for ask in (
        position.observation_tensor,
        position.observation_string,
        position.information_state_string,
        lambda player: position.resample_from_infostate(player, 0),
    ):
        with pytest.raises(ConfigurationError, match=r"player: no seat .*; there are 0 to 1"):
            ask(player)


def test_at_the_end_a_seat_has_to_be_named(case: GameCase) -> None:
    position = played(new_position(case.name, 2, seed=2, rules=case.short), 0)
    with pytest.raises(ConfigurationError, match="nobody is on turn"):
        position.observation_tensor()
    with pytest.raises(ConfigurationError, match="no decision is due"):
        position.view()
    assert position.observation_tensor(1).any()


@EVERY_GAME
def test_there_is_no_other_reward(game: str) -> None:
    with pytest.raises(ConfigurationError, match="reward: no 'money'"):
        new_position(game, seed=1).returns("money")
