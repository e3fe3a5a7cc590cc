"""The vector environment: auto-reset, reproducibility over batch size, threads and process, and its errors."""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from siberia_env import vector
from siberia_env.core import engine, rewards
from siberia_env.errors import ConfigurationError, IllegalActionError, SiberiaError
from siberia_env.position import Position
from siberia_env.vector import Step
from tests.games import CASES, GameCase
from tests.processes import run_python
from tests.table import PLAYER_COUNTS


def pick(step: Step, draw: int) -> np.ndarray[Any, Any]:
    """One legal action a row, by the row's own mask and the number of the draw: a policy without a generator."""
    actions = np.zeros(len(step.mask), np.int64)
    for row, mask in enumerate(step.mask):
        legal = np.flatnonzero(mask)
        actions[row] = legal[(draw * 7919 + int(mask.sum()) * 31 + draw // 3) % len(legal)]
    return actions


def snapshot(step: Step) -> dict[str, np.ndarray[Any, Any]]:
    """Copies of all arrays."""
    return {field.name: getattr(step, field.name).copy() for field in fields(Step)}


# ---------------------------------------------------------------- shapes and auto-reset


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_shapes_and_types(case: GameCase, players: int) -> None:
    env = vector.make(case.name, num_envs=5, num_players=players)
    step = env.reset()
    shapes = {
        "observation": ((5, case.game.observation_size), np.float32),
        "mask": ((5, case.game.num_actions), np.int8),
        "num_legal": ((5,), np.int16),
        "player": ((5,), np.int8),
        "reward": ((5, players), np.float32),
        "terminated": ((5,), np.bool_),
        "final_scores": ((5, players), np.int64),
        "final_winners": ((5, players), np.int8),
        "final_length": ((5,), np.int64),
        "final_hit_limit": ((5,), np.bool_),
    }
    for draw in range(3):
        for name, (shape, dtype) in shapes.items():
            array = getattr(step, name)
            assert (array.shape, array.dtype) == (shape, dtype), name
        assert np.array_equal(step.num_legal, step.mask.sum(axis=1))
        step = env.step(pick(step, draw))
    assert env.game is case.game
    assert env.num_players == players


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("reward", rewards.REWARDS)
def test_a_game_that_ends_is_booked_and_the_next_one_is_shown(case: GameCase, players: int, reward: str) -> None:
    """Beside each slot the same games are played one by one, with single-game kernels."""
    games, game = 3, case.game
    env = vector.make(case.name, num_envs=games, num_players=players, seed=9, rules=case.medium, reward=reward)
    variant = env.variant
    step = env.reset()
    single, episodes, lengths = variant.new_states(games), [0] * games, [0] * games
    for slot in range(games):
        engine.deal_at(variant.rulesets, single, slot, np.uint64(9), slot, 0)
    observation, mask = np.zeros(game.observation_size, np.float32), np.zeros(game.num_actions, np.int8)
    ended = paid = 0
    for draw in range(case.medium_steps):
        actions = pick(step, draw)
        step = env.step(actions)
        for slot in range(games):
            answer = engine.step_at(variant.rulesets, single, slot, int(actions[slot]), observation, mask)
            lengths[slot] += 1
            assert answer != engine.ILLEGAL
            assert step.terminated[slot] == (answer == engine.FINISHED)
            if answer == engine.FINISHED:
                ended += 1
                scores = np.zeros(players, np.int64)
                engine.scores_at(variant.rulesets, single, slot, scores)
                assert step.final_scores[slot].tolist() == scores.tolist()
                assert step.final_winners[slot].tolist() == (scores == scores.max()).astype(int).tolist()
                assert step.final_length[slot] == lengths[slot]
                assert step.final_hit_limit[slot] == bool(single[slot].hit_limit)
                np.testing.assert_allclose(step.reward[slot], slow_reward(reward, scores), rtol=1e-6)
                paid += step.reward[slot].any()
                episodes[slot], lengths[slot] = episodes[slot] + 1, 0
                engine.deal_at(variant.rulesets, single, slot, np.uint64(9), slot, episodes[slot])
            else:
                assert not step.reward[slot].any()
            player = engine.current_player_at(variant.rulesets, single, slot)
            engine.observe_at(variant.rulesets, single, slot, player, observation)
            assert step.player[slot] == player
            assert np.array_equal(step.observation[slot], observation)
            engine.legal_at(variant.rulesets, single, slot, mask)
            assert np.array_equal(step.mask[slot], mask)
        assert env.states.tobytes() == single.tobytes()
    assert ended > 3 * games
    assert paid > games


def slow_reward(kind: str, scores: np.ndarray[Any, Any]) -> list[float]:
    """What each seat is paid, from the words of the documentation."""
    players = len(scores)
    if kind == "score":
        return [float(score) for score in scores]
    if kind == "margin":
        return [(own - (scores.sum() - own) / (players - 1)) / 10 for own in scores]
    best = scores.max()
    share = 1 / np.count_nonzero(scores == best)
    return [(players * (share if own == best else 0) - 1) / (players - 1) for own in scores]


def test_finals_stay_until_the_next_game_of_the_row_ends(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=4, seed=1, rules=case.short)
    step = env.reset()
    kept: dict[int, Any] = {}
    for draw in range(300):
        step = env.step(pick(step, draw))
        for row in range(4):
            if step.terminated[row]:
                kept[row] = (step.final_scores[row].tolist(), int(step.final_length[row]))
            elif row in kept:
                assert kept[row] == (step.final_scores[row].tolist(), int(step.final_length[row]))
                assert not step.reward[row].any()
    assert len(kept) == 4


def test_reset_starts_the_same_games_again_and_a_seed_others(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=3, seed=4)
    first = snapshot(env.reset())
    for draw in range(200):
        env.step(pick(env._step, draw))
    again = snapshot(env.reset())
    assert all(np.array_equal(first[name], again[name]) for name in ("observation", "mask", "player", "reward"))
    assert not again["terminated"].any()
    other = snapshot(env.reset(seed=5))
    assert not np.array_equal(other["observation"], first["observation"])
    assert np.array_equal(snapshot(env.reset(seed=4))["observation"], first["observation"])
    assert np.array_equal(vector.make(case.name, num_envs=3, seed=4).reset().observation, first["observation"])


def test_without_observations_the_games_are_the_same(case: GameCase) -> None:
    seeing, blind = (vector.make(case.name, num_envs=6, observations=seen) for seen in (True, False))
    one, other = seeing.reset(), blind.reset()
    assert other.observation.shape == (6, 0)
    for draw in range(200):
        actions = pick(one, draw)
        one, other = seeing.step(actions), blind.step(actions)
        assert np.array_equal(one.mask, other.mask)
    assert seeing.states.tobytes() == blind.states.tobytes()


# ---------------------------------------------------------------- reproducibility

GAMES_SCRIPT = """
import json, sys
from siberia_env import vector
from tests.test_vector import history
name, rules = sys.argv[1], json.loads(sys.argv[2])
print(history(vector.make(name, num_envs=6, num_players=3, seed=11, rules=rules, threads=2)))
"""


def history(env: vector.VectorEnv, slots: int = 6, steps: int = 400) -> str:
    """A digest of everything that the first `slots` slots show over so many steps."""
    digest = hashlib.sha256()
    step = env.reset()
    for draw in range(steps):
        step = env.step(pick(step, draw))
        digest.update(env.states[:slots].tobytes())
        for field in fields(Step):
            digest.update(np.ascontiguousarray(getattr(step, field.name)[:slots]).tobytes())
    env.close()
    return digest.hexdigest()


def test_the_same_games_whatever_the_batch_the_threads_and_the_process(case: GameCase) -> None:
    def games(num_envs: int, threads: int, seed: int = 11) -> str:
        env = vector.make(case.name, num_envs=num_envs, num_players=3, seed=seed, rules=case.short, threads=threads)
        return history(env)

    alone = games(6, 1)
    assert games(6, 2) == alone
    assert games(6, 5) == alone
    assert games(17, 1) == alone
    assert games(17, 4) == alone
    assert games(6, 1, seed=12) != alone
    other = run_python("-c", GAMES_SCRIPT, case.name, json.dumps(case.short))
    assert other.stdout.strip() == alone


def test_slots_and_episodes_are_different_games(case: GameCase) -> None:
    variant = case.game.variant(2)
    states = variant.new_states(300)
    for i in range(300):
        engine.deal_at(variant.rulesets, states, i, np.uint64(0), i % 20, i // 20)
    assert len({row.tobytes() for row in states[case.dealt]}) == 300
    assert len(set(states["generator"].tolist())) == 300


# ---------------------------------------------------------------- rows of a rollout


def test_out_takes_what_the_step_would_have_shown(case: GameCase) -> None:
    plain, rows = (vector.make(case.name, num_envs=4, seed=2, rules=case.short) for _ in range(2))
    step = plain.reset()
    rows.reset()
    rollout = [Step.blank(4, rows.variant) for _ in range(100)]
    for row in rollout:
        row.reward[:], row.terminated[:] = 7, True
    ended = 0
    for draw, row in enumerate(rollout):
        actions = pick(step, draw)
        step = plain.step(actions)
        assert rows.step(actions, out=row) is row
        ended += int(step.terminated.sum())
        for name in ("observation", "mask", "num_legal", "player", "reward", "terminated"):
            assert np.array_equal(getattr(step, name), getattr(row, name)), name
        for name in ("final_scores", "final_winners", "final_length", "final_hit_limit"):
            shown, kept = getattr(row, name), getattr(step, name)
            assert np.array_equal(shown[step.terminated], kept[step.terminated]), name
    assert ended > 4
    assert not np.array_equal(rollout[0].observation, rollout[1].observation)
    assert plain.states.tobytes() == rows.states.tobytes()


def test_out_can_be_mixed_with_the_own_arrays(case: GameCase) -> None:
    plain, mixed = (vector.make(case.name, num_envs=4, seed=2, rules=case.short) for _ in range(2))
    step, shown = plain.reset(), mixed.reset()
    row = Step.blank(4, mixed.variant)
    for draw in range(150):
        actions = pick(step, draw)
        step = plain.step(actions)
        shown = mixed.step(actions, out=row if draw % 3 == 0 else None)
        for name in ("observation", "mask", "player", "reward", "terminated"):
            assert np.array_equal(getattr(step, name), getattr(shown, name)), name


@pytest.mark.parametrize("name", [field.name for field in fields(Step)])
def test_out_of_another_shape_or_type_is_refused_before_anything_moves(case: GameCase, name: str) -> None:
    env = vector.make(case.name, num_envs=4)
    step = env.reset()
    before, actions = env.states.tobytes(), pick(step, 0)
    right = getattr(Step.blank(4, env.variant), name)
    for wrong in (right[:3], right.astype(np.complex64), np.concatenate([right, right]), right[..., None]):
        out = Step.blank(4, env.variant)
        setattr(out, name, wrong)
        with pytest.raises(ConfigurationError, match=rf"out\.{name} is "):
            env.step(actions, out=out)
        assert env.states.tobytes() == before


def test_any_seat_can_be_observed(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=5, num_players=3, seed=3)
    step = env.reset()
    for draw in range(30):
        step = env.step(pick(step, draw))
    assert np.array_equal(env.observe(step.player), step.observation)
    single = np.zeros(case.game.observation_size, np.float32)
    out = np.full((5, case.game.observation_size), np.nan, np.float32)
    for seat in range(3):
        assert env.observe(np.full(5, seat), out=out) is out
        for row in range(5):
            engine.observe_at(env.variant.rulesets, env.states, row, seat, single)
            assert np.array_equal(out[row], single)


@pytest.mark.parametrize("players", [np.full(5, 3), np.full(5, -1), np.zeros(4, int), np.zeros(5), 0])
def test_seats_that_nobody_sits_on_can_not_be_observed(case: GameCase, players: Any) -> None:
    env = vector.make(case.name, num_envs=5, num_players=3)
    env.reset()
    with pytest.raises(ConfigurationError, match=r"^observe: "):
        env.observe(players)
    with pytest.raises(ConfigurationError, match=r"^observe: out is "):
        env.observe(np.zeros(5, int), out=np.zeros((4, case.game.observation_size), np.float32))


# ---------------------------------------------------------------- illegal actions


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("wrong", [-1, -(2**62), 1051, None, 2**62])
def test_illegal_actions_are_named_and_no_game_moves(case: GameCase, wrong: int | None, threads: int) -> None:
    wrong = case.game.num_actions if wrong is None else wrong
    env = vector.make(case.name, num_envs=6, seed=1, threads=threads)
    step = env.reset()
    actions = pick(step, 0)
    actions[[1, 4]] = wrong
    before, shown = env.states.tobytes(), snapshot(step)
    with pytest.raises(IllegalActionError, match=rf"games 1 \(action {wrong}\), 4 \(action {wrong}\); no game has"):
        env.step(actions)
    assert env.states.tobytes() == before
    assert all(np.array_equal(value, getattr(step, name)) for name, value in shown.items())
    env.step(pick(step, 0))
    env.close()


def test_an_action_of_another_decision_is_illegal(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=2)
    env.reset()
    first, not_yet = (env.variant.action_number(name) for name in (case.first, case.not_yet))
    with pytest.raises(IllegalActionError, match=rf"games 1 \(action {not_yet}\); no game has moved"):
        env.step([first, not_yet])


def test_many_illegal_actions_are_not_all_listed(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=50)
    env.reset()
    with pytest.raises(IllegalActionError) as error:
        env.step(np.full(50, -1))
    assert str(error.value).count("(action -1)") == vector.MOST_NAMED
    assert "..." in str(error.value)


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(3, int),
        np.zeros(5, int),
        np.zeros((4, 1), int),
        np.zeros(4),
        np.zeros(4, bool),
        np.array(["a"] * 4),
        np.array([3, 3, 3, None]),
        3,
        None,
        [],
        [3.0, 3.0, 3.0, 3.0],
    ],
)
def test_what_is_not_one_integer_a_game_is_refused(case: GameCase, actions: Any) -> None:
    env = vector.make(case.name, num_envs=4)
    env.reset()
    before = env.states.tobytes()
    with pytest.raises(IllegalActionError, match="expected 4 integers, one action a game"):
        env.step(actions)
    assert env.states.tobytes() == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_of_any_width_are_taken(case: GameCase, dtype: Any) -> None:
    env, other = vector.make(case.name, num_envs=4), vector.make(case.name, num_envs=4)
    step = env.reset()
    other.reset()
    actions = pick(step, 3)
    env.step(actions)
    other.step(actions.astype(dtype))
    assert env.states.tobytes() == other.states.tobytes()
    other.step([int(action) for action in pick(other._step, 1)])


def test_stepping_before_the_first_reset_is_refused(case: GameCase) -> None:
    with pytest.raises(ConfigurationError, match="reset"):
        vector.make(case.name, num_envs=2).step([3, 3])


# ---------------------------------------------------------------- what can't be made


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs: 0 is not a whole number from 1 up"),
        ({"num_envs": -3}, "num_envs: -3"),
        ({"num_envs": 2.0}, r"num_envs: 2\.0"),
        ({"num_envs": True}, "num_envs: True"),
        ({"threads": 0}, "threads: 0"),
        ({"threads": "2"}, "threads: '2'"),
        ({"num_players": 1}, "num_players: 1; .* is for 2 to 4 players"),
        ({"num_players": 5}, "num_players: 5; .* is for 2 to 4 players"),
        ({"reward": "winner"}, "reward: no 'winner'; there are win, margin, score"),
        ({"reward": None}, "reward: no None"),
        ({"rules": {"turns": 3}}, "no option 'turns'"),
        ({"components": "no/such/file.json"}, "components: can't read"),
        ({"components": {"workers": {}, "bag": 3}}, "no such table; the tables are"),
        ({"seed": -1}, "seed: -1"),
        ({"seed": 2**64}, "seed: 18446744073709551616"),
        ({"seed": 1.0}, r"seed: 1\.0"),
        ({"seed": None}, "seed: None"),
        ({"seed": False}, "seed: False"),
        ({"seed": "7"}, "seed: '7'"),
    ],
)
def test_what_can_not_be_made_is_refused_in_words(case: GameCase, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        vector.make(case.name, **options)


def test_options_that_a_game_does_not_have_are_refused_in_words(case: GameCase) -> None:
    for options, message in case.bad:
        with pytest.raises(ConfigurationError, match=message):
            vector.make(case.name, **options)


@pytest.mark.parametrize("game", ["cards", "", None, 3, ["card"], b"card"])
def test_unknown_games_are_refused(game: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"no game .*; the games are "):
        vector.make(game)


def test_a_bad_seed_at_reset_leaves_the_environment_as_it_was(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=2, seed=6)
    step = env.reset()
    before = env.states.tobytes()
    with pytest.raises(ConfigurationError, match="seed"):
        env.reset(seed=-1)
    assert env.states.tobytes() == before
    env.step(pick(step, 0))
    env.reset()
    assert env.states.tobytes() == before


def test_the_largest_seed_is_a_seed(case: GameCase) -> None:
    first = vector.make(case.name, num_envs=1, seed=2**64 - 1).reset()
    assert not np.array_equal(first.observation, vector.make(case.name, num_envs=1, seed=0).reset().observation)
    assert np.array_equal(
        first.observation,
        vector.make(case.name, num_envs=1, seed=np.uint64(2**64 - 1)).reset().observation,  # type: ignore[arg-type]
    )


def test_closing_twice_is_harmless_and_the_games_go_on(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=4, threads=2)
    step = env.reset()
    env.close()
    env.close()
    env.step(pick(step, 0))
    assert issubclass(IllegalActionError, SiberiaError)


# ---------------------------------------------------------------- standings and snapshots


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("reward", rewards.REWARDS)
def test_the_standing_is_what_the_games_would_pay_if_they_ended_now(case: GameCase, players: int, reward: str) -> None:
    env = vector.make(case.name, num_envs=4, num_players=players, seed=6, reward=reward)
    step = env.reset()
    level = {"win": 0.0, "margin": 0.0, "score": float(case.level)}[reward]
    assert np.array_equal(env.standing(), np.full((4, players), level, np.float32))
    draw = 0
    while draw < 120 or not env.states[case.score].any():
        step = env.step(pick(step, draw))
        draw += 1
    before, standing = env.states.tobytes(), env.standing()
    assert (standing.shape, standing.dtype) == ((4, players), np.float32)
    totals = env.states[case.score][:, :players].astype(np.int64)
    winners, paid = np.zeros(players, np.int8), np.zeros(players, np.float32)
    for row in range(4):
        count = rewards.winner_flags(totals[row], players, winners)
        rewards.reward_of(rewards.REWARDS.index(reward), totals[row], winners, count, players, paid)
        assert np.array_equal(standing[row], paid)
    assert len(np.unique(standing)) > 1
    assert env.states.tobytes() == before


def test_a_restored_snapshot_goes_on_as_the_games_did(case: GameCase) -> None:
    arguments: dict[str, Any] = {"num_envs": 3, "num_players": 3, "rules": case.short}
    env, other = (vector.make(case.name, **arguments, seed=seed) for seed in (8, 9))
    step = env.reset()
    for draw in range(70):
        step = env.step(pick(step, draw))
    assert env.episodes.any()
    kept = env.snapshot()
    shown = snapshot(step)
    restored = other.restore(kept)  # needs no reset before
    for name in ("observation", "mask", "num_legal", "player"):
        assert np.array_equal(getattr(restored, name), shown[name]), name
    assert not restored.reward.any()
    assert not restored.terminated.any()
    ended = 0
    for draw in range(70, 220):
        actions = pick(step, draw)
        step, restored = env.step(actions), other.step(actions)
        ended += int(step.terminated.sum())
        for name in ("observation", "mask", "player", "reward", "terminated"):
            assert np.array_equal(getattr(step, name), getattr(restored, name)), name
        for name in ("final_scores", "final_length"):
            assert np.array_equal(getattr(step, name)[step.terminated], getattr(restored, name)[step.terminated])
    assert ended > 3
    assert env.states.tobytes() == other.states.tobytes() != kept["states"]


def test_a_snapshot_of_another_number_of_games_is_refused(case: GameCase) -> None:
    env, smaller = vector.make(case.name, num_envs=3), vector.make(case.name, num_envs=2)
    env.reset()
    with pytest.raises(ConfigurationError, match="not one of this number of games"):
        smaller.restore(env.snapshot())


def test_a_snapshot_of_another_game_other_players_or_rules_is_refused(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=2)
    env.reset()
    others = [
        vector.make(case.name, num_envs=2, num_players=3),
        vector.make(case.name, num_envs=2, rules=case.other_rules),
        *(vector.make(other.name, num_envs=2) for other in CASES if other != case),
    ]
    for other in others:
        with pytest.raises(ConfigurationError, match="another game, players, rules or components"):
            other.restore(env.snapshot())


def test_a_snapshot_of_states_with_another_layout_is_refused(case: GameCase) -> None:
    """A state's bytes mean nothing to a version of the suite whose fields stand elsewhere."""
    env = vector.make(case.name, num_envs=2)
    env.reset()
    kept = pickle.loads(pickle.dumps(env.snapshot()))
    env.restore(kept)
    dtype = env.states.dtype
    moved = [*dtype.descr[1:], dtype.descr[0]]
    env.states = env.states.view(np.dtype((np.record, np.dtype(moved))))
    with pytest.raises(ConfigurationError, match="another version"):
        env.restore(kept)


def test_a_damaged_snapshot_is_refused_and_the_games_stay(case: GameCase) -> None:
    env = vector.make(case.name, num_envs=2)
    env.reset()
    kept, before = env.snapshot(), env.states.tobytes()
    states = bytearray(kept["states"])
    states[-1] ^= 1
    damaged: list[Any] = [
        None,
        [],
        {},
        *({key: value for key, value in kept.items() if key != name} for name in kept),
        {**kept, "states": bytes(states)},
        {**kept, "states": bytearray(kept["states"])},
        {**kept, "states": kept["states"][:-1]},
        {**kept, "seed": kept["seed"] + 1},
        {**kept, "seed": -1},
        {**kept, "seed": "1"},
        *({**kept, name: 3} for name in ("episodes", "lengths", "states", "played", "check")),
        *({**kept, name: kept[name][:1]} for name in ("episodes", "lengths")),
        *({**kept, name: kept[name].astype(np.float64)} for name in ("episodes", "lengths")),
        *({**kept, name: kept[name] + 1} for name in ("episodes", "lengths")),
    ]
    for snapshot in damaged:
        with pytest.raises(ConfigurationError):
            env.restore(snapshot)
        assert env.states.tobytes() == before
    env.restore(kept)


def test_a_snapshot_with_impossible_states_is_refused_even_if_its_digest_fits(case: GameCase) -> None:
    """Each field is set to values that would lead compiled code out of its tables."""
    env = vector.make(case.name, num_envs=2, num_players=3)
    env.reset()
    before = env.states.copy()
    assert before.dtype.names is not None
    assert set(env.game.state_ranges) <= set(before.dtype.names)
    for name, (_, high) in env.game.state_ranges.items():
        info = np.iinfo(before.dtype[name].base)
        for value in (info.min, info.max, 3 if high == -1 else high + 1):
            if value > info.max:
                continue
            env.states[:] = before
            env.states[name][1] = value
            forged = env.snapshot()
            env.states[:] = before
            with pytest.raises(ConfigurationError, match=f"a state is damaged: its {name} is not within"):
                env.restore(forged)
            with pytest.raises(ConfigurationError, match=f"its {name} is not within"):
                Position.deserialize(env.variant, forged["states"][env.states.itemsize :])
    assert env.states.tobytes() == before.tobytes()


def test_every_state_of_a_game_is_within_the_ranges(case: GameCase) -> None:
    for players in PLAYER_COUNTS:
        env = vector.make(case.name, num_envs=64, num_players=players, seed=players)
        step = env.reset()
        ended = 0
        for draw in range(400):
            step = env.step(pick(step, draw))
            env.game.check_states(players, env.states)
            ended += int(step.terminated.sum())
        assert ended
