"""The Gymnasium environment: one seat learns, the others are played for it."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import siberia_env
from siberia_env.errors import ConfigurationError, IllegalActionError
from siberia_env.gym import SiberiaEnv
from tests.games import CASES, GameCase
from tests.table import PLAYER_COUNTS


def last_legal(observation: Any, mask: Any) -> int:
    return int(np.flatnonzero(mask)[-1])


def play_out(env: SiberiaEnv) -> tuple[list[float], dict[str, Any]]:
    """Legal actions of all kinds until the end; the rewards, and the last info."""
    rewards, info, over = [], {}, False
    while not over:
        legal = np.flatnonzero(env.action_masks())
        observation, reward, over, truncated, info = env.step(int(legal[7 * len(rewards) % len(legal)]))
        assert env.observation_space.contains(observation)
        assert observation["action_mask"] is info["action_mask"]
        assert observation["action_mask"].any() != over
        assert truncated is False
        rewards.append(reward)
    return rewards, info


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("seat", [1, None])
def test_passes_gymnasiums_check(case: GameCase, players: int, seat: int | None) -> None:
    env = gymnasium.make(case.gym_id, num_players=players, seat=seat, render_mode="ansi")
    assert isinstance(env.unwrapped, SiberiaEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


def test_is_registered_by_the_package() -> None:
    assert siberia_env.__version__
    for case in CASES:
        assert gymnasium.spec(case.gym_id).entry_point == "siberia_env.gym:SiberiaEnv"


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_plays_the_same_game_as_the_table(case: GameCase, players: int) -> None:
    seat = players - 1
    env = SiberiaEnv(case.name, num_players=players, opponents=last_legal, seat=seat)
    table = case.module.raw_env(num_players=players)
    observation, info = env.reset(seed=12)
    table.reset(seed=12)
    assert info["seat"] == seat
    for game in range(2):
        while table.legal_actions():
            if table.agent_selection == f"player_{seat}":
                expected = table.observe(table.agent_selection)
                assert np.array_equal(observation["observation"], expected["observation"])
                assert np.array_equal(observation["action_mask"], expected["action_mask"])
                assert np.array_equal(env.action_masks(), expected["action_mask"] == 1)
                observation, reward, over, _, info = env.step(table.legal_actions()[-1])
                assert reward == 0 or over
            table.step(table.legal_actions()[-1])
        assert over
        assert reward == table.rewards[f"player_{seat}"]
        assert info["scores"] == table.infos["player_0"]["scores"]
        assert info["winners"] == table.infos["player_0"]["winners"]
        assert info["hit_limit"] is table.infos["player_0"]["hit_limit"]
        assert game == env.aec.episode
        observation, info = env.reset()
        table.reset()


def test_the_seat_rotates_by_game(case: GameCase) -> None:
    env = SiberiaEnv(case.name, num_players=3, seat=None)
    env.reset(seed=1)
    seats = []
    for _ in range(6):
        assert env.reset()[1]["seat"] == env.seat
        assert env.aec.agent_selection == f"player_{env.seat}"
        seats.append(env.seat)
    assert seats == [1, 2, 0, 1, 2, 0]


def test_opponents_sit_after_the_learner_in_order(case: GameCase) -> None:
    asked: list[tuple[str, int]] = []
    env = SiberiaEnv(case.name, num_players=3, seat=None)

    def note(name: str) -> Any:
        def act(observation: Any, mask: Any) -> int:
            seat = int(env.aec.agent_selection[-1])
            assert np.array_equal(observation, env.aec.observe(f"player_{seat}")["observation"])
            asked.append((name, (seat - env.seat) % 3))
            return last_legal(observation, mask)

        return act

    env.opponents = [note("first"), note("second")]
    for seed in range(3):
        env.reset(seed=seed)
        play_out(env)
    assert set(asked) == {("first", 1), ("second", 2)}


def test_random_opponents_follow_from_the_seed(case: GameCase) -> None:
    ends = []
    for seed in (4, 4, 5):
        env = SiberiaEnv(case.name, num_players=4, reward="score")
        env.reset(seed=seed)
        ends.append(play_out(env)[1]["scores"])
    assert ends[0] == ends[1] != ends[2]


def test_the_reward_comes_at_the_end(case: GameCase) -> None:
    env = SiberiaEnv(case.name, reward="score", seat=1)
    paid = 0
    for seed in range(3, 7):
        env.reset(seed=seed)
        rewards, info = play_out(env)
        assert set(rewards[:-1]) == {0.0}
        assert rewards[-1] * 1000 == info["scores"]["player_1"]
        paid += rewards[-1] > 0
    assert paid > 0


def test_an_illegal_action_ends_the_game(case: GameCase, capsys: pytest.CaptureFixture[str]) -> None:
    env = SiberiaEnv(case.name, seat=1)
    env.reset(seed=3)
    action = int(np.flatnonzero(~env.action_masks())[0])
    observation, reward, over, truncated, info = env.step(action)
    assert (reward, over, truncated) == (-1.0, True, False)
    assert not observation["action_mask"].any()
    assert info["winners"] == []
    with pytest.raises(IllegalActionError, match="the game is over"):
        env.step(action)
    env.reset()
    assert env.action_masks().any()


@pytest.mark.parametrize("action", [1000, -1, 1.5, None, "draw 1"])
def test_what_is_no_action_is_refused(case: GameCase, action: Any) -> None:
    env = SiberiaEnv(case.name)
    env.reset(seed=3)
    with pytest.raises(IllegalActionError, match="action is not in action space"):
        env.step(action)
    assert env.action_masks().any()


def test_an_opponents_illegal_action_is_an_error(case: GameCase) -> None:
    env = SiberiaEnv(case.name, opponents=lambda observation, mask: int(np.flatnonzero(mask == 0)[0]), seat=1)
    with pytest.raises(IllegalActionError, match="is not legal now; player_0 may"):
        env.reset(seed=3)


def test_C17_B24_the_limit_is_a_termination(case: GameCase) -> None:
    env = SiberiaEnv(case.name, rules=case.short)
    env.reset(seed=1)
    _, info = play_out(env)
    assert info["hit_limit"] is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": 2}, "seat: 2"),
        ({"seat": -1}, "seat: -1"),
        ({"seat": True}, "seat: True"),
        ({"opponents": [None, None]}, "opponents: "),
        ({"opponents": "greedy"}, "opponents: "),
        ({"opponents": 3}, "opponents: "),
        ({"num_players": 5}, "num_players: 5"),
        ({"render_mode": "rgb"}, "render_mode: no 'rgb'"),
        ({"game": "chess"}, "no game 'chess'"),
    ],
)
def test_options_that_are_not_to_be_had(case: GameCase, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        SiberiaEnv(**{"game": case.name, **options})


def test_options_that_a_game_does_not_have(case: GameCase) -> None:
    for options, message in case.bad:
        with pytest.raises(ConfigurationError, match=message):
            SiberiaEnv(case.name, **options)


def test_calls_before_reset_are_refused(case: GameCase) -> None:
    env = SiberiaEnv(case.name, render_mode="ansi")
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        env.step(0)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before render"):
        env.render()


def test_render_shows_the_learners_view(case: GameCase, capsys: pytest.CaptureFixture[str]) -> None:
    env = SiberiaEnv(case.name, seat=1, render_mode="ansi")
    env.reset(seed=1)
    assert "seen by player_1" in env.render()
    printed = SiberiaEnv(case.name, seat=1, render_mode="human")
    printed.reset(seed=1)
    assert printed.render() is None
    assert capsys.readouterr().out == f"{env.render()}\n" * 2
