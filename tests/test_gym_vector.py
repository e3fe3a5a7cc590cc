"""The batch behind `gymnasium.make_vec`: row by row it is Gymnasium's own vector environment, and works as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from siberia_agents.greedy import GreedyAgent
from siberia_agents.interface import Agent
from siberia_env.errors import ActionOutOfBoundsError, ConfigurationError, IllegalActionError, RenderModeError
from siberia_env.gym import SiberiaEnv
from siberia_env.gym_vector import SiberiaVectorEnv
from tests.games import GameCase
from tests.test_gym import last_legal

GAMES = 4
STEPS = 90


def assert_same(own: Any, theirs: Any) -> None:
    """Equal values, types, shapes and keys, all the way down."""
    assert type(own) is type(theirs)
    if isinstance(own, dict):
        assert own.keys() == theirs.keys()
        for key in own:
            assert_same(own[key], theirs[key])
    elif isinstance(own, tuple) or (isinstance(own, np.ndarray) and own.dtype == object):
        for one, other in zip(own, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(own, np.ndarray):
        assert (own.shape, own.dtype) == (theirs.shape, theirs.dtype)
        assert np.array_equal(own, theirs)
    else:
        assert own == theirs


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(("players", "seat"), [(2, 1), (3, None)])
def test_each_row_is_the_game_of_one_environment(
    case: GameCase, mode: AutoresetMode, players: int, seat: int | None
) -> None:
    """Over several games a row, with illegal actions, functions and agents as opponents, and some rows reset."""
    others: list[Any] = ["heuristic", last_legal][: players - 1]
    options: dict[str, Any] = {"num_players": players, "opponents": others, "seat": seat, "reward": "margin"}
    options["rules"] = case.short
    own = gymnasium.make_vec(case.gym_id, GAMES, autoreset_mode=mode, **options)
    theirs = gymnasium.make_vec(
        case.gym_id, GAMES, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options
    )
    assert isinstance(own, SiberiaVectorEnv)
    assert own.observation_space == theirs.observation_space
    assert own.action_space == theirs.action_space
    assert own.metadata["autoreset_mode"] == mode
    seen = own.reset(seed=3)
    assert_same(seen, theirs.reset(seed=3))
    chance = np.random.default_rng(1)
    ended = illegal = 0
    for _ in range(STEPS):
        mask = seen[0]["action_mask"]
        assert np.array_equal(own.action_masks(), mask == 1)
        actions = (mask * chance.random(mask.shape) + (chance.random(mask.shape) > 0.9995)).argmax(axis=1)
        step = own.step(actions)
        assert_same(step, theirs.step(actions))
        seen = (step[0], step[4])
        ended, illegal = ended + int(step[2].sum()), illegal + int((step[1] == -1).sum())
        if mode == AutoresetMode.DISABLED and step[2].any():
            seen = own.reset(options={"reset_mask": step[2].copy()})
            assert_same(seen, theirs.reset(options={"reset_mask": step[2].copy()}))
    assert ended > 2 * GAMES
    assert illegal > 0


def test_random_opponents_are_fair_and_follow_from_the_seed(case: GameCase) -> None:
    def results(seed: int) -> list[Any]:
        env = SiberiaVectorEnv(64, case.name, 3, rules=case.short, autoreset_mode="SameStep", reward="score")
        observation, _ = env.reset(seed=seed)
        seen = []
        for _ in range(20):
            observation, _, _, _, _ = env.step(observation["action_mask"].argmax(axis=1))
            seen.append(observation["observation"].tolist())
        return seen

    assert results(5) == results(5) != results(6)


def test_the_same_agent_in_two_seats_is_asked_once_for_both(case: GameCase) -> None:
    asked: list[int] = []

    class Noted(GreedyAgent):
        def act_batch(self, views: Any) -> Any:
            asked.append(len(views))
            return super().act_batch(views)

    env = SiberiaVectorEnv(50, case.name, 3, opponents=Noted(), seat=1)
    env.reset(seed=1)
    assert asked[0] == 50


def test_an_agent_with_act_alone_is_asked_game_by_game(case: GameCase) -> None:
    class Bare:
        def start(self, variant: Any, seed: int = 0) -> None:
            pass

        def act(self, view: Any) -> int:
            return last_legal(view.observation, view.mask)

    envs = [SiberiaVectorEnv(3, case.name, opponents=opponent, seat=1) for opponent in (Bare(), last_legal)]
    for seed in range(3):
        first, second = (env.reset(seed=seed)[0]["observation"] for env in envs)
        assert np.array_equal(first, second)


def test_gymnasiums_wrappers_take_the_batch(case: GameCase) -> None:
    env = RecordEpisodeStatistics(gymnasium.make_vec(case.gym_id, 8, rules=case.short, opponents="random"))
    observation, _ = env.reset(seed=1)
    for _ in range(80):
        observation, *_ = env.step(observation["action_mask"].argmax(axis=1))
    assert len(env.return_queue) >= 8
    assert min(env.length_queue) > 1
    infos = DictInfoToList(gymnasium.make_vec(case.gym_id, 2)).reset(seed=1)[1]
    assert [info["seat"] for info in infos] == [0, 0]


def test_the_id_may_name_the_module(case: GameCase) -> None:
    assert isinstance(gymnasium.make_vec(f"siberia_env:{case.gym_id}", 2), SiberiaVectorEnv)


def test_seeds_may_be_given_row_by_row(case: GameCase) -> None:
    env = SiberiaVectorEnv(3, case.name)
    first = env.reset(seed=[9, 5, 9])[0]["observation"]
    assert np.array_equal(first[0], first[2])
    assert not np.array_equal(first[0], first[1])
    again = env.reset(seed=[None, 5, 9])[0]["observation"]
    assert not np.array_equal(first[0], again[0])
    assert np.array_equal(first[1:], again[1:])
    assert not np.array_equal(SiberiaVectorEnv(3, case.name).reset()[0]["observation"], first)


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
def test_render_shows_each_row_as_the_learner_sees_it(case: GameCase, mode: str) -> None:
    env: Any = gymnasium.make_vec(case.gym_id, 2, opponents=last_legal, seat=1, render_mode=mode)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before render"):
        env.render()
    env.reset(seed=4)
    single = SiberiaEnv(case.name, opponents=last_legal, seat=1, render_mode=mode)
    shown = env.render()
    assert isinstance(shown, tuple)
    for seed, picture in zip((4, 5), shown, strict=True):
        single.reset(seed=seed)
        assert np.array_equal(single.render(), picture)
    assert mode in env.metadata["render_modes"]
    assert SiberiaVectorEnv(2, case.name).render_mode is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 0}, "num_envs: 0 is not a whole number from 1 up"),
        ({"num_envs": 2.0}, "num_envs: 2.0"),
        ({"num_players": 5}, "num_players: 5"),
        ({"seat": 2}, "seat: 2"),
        ({"opponents": "gredy"}, r"no agent 'gredy' .*; the agents are"),
        ({"opponents": ["greedy", "greedy"]}, "opponents: 2 for 1 other seats"),
        ({"reward": "money"}, "reward: "),
        ({"autoreset_mode": "Later"}, "autoreset_mode: 'Later' is none of 'NextStep', 'SameStep', 'Disabled'"),
        ({"render_mode": "human"}, "render_mode: a batch has no 'human'; there are ansi, svg, rgb_array"),
    ],
)
def test_options_that_there_are_not(case: GameCase, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        gymnasium.make_vec(case.gym_id, **{"num_envs": 2, **options})


def test_a_render_mode_that_there_is_not_is_a_type_error() -> None:
    with pytest.raises(RenderModeError):
        SiberiaVectorEnv(1, render_mode="human")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda env: env.reset(seed=-1), "seed: -1"),
        (lambda env: env.reset(seed=2**64 - 1), "seed: 18446744073709551616"),
        (lambda env: env.reset(seed=[1]), "seed: 1 seeds for 2 rows"),
        (lambda env: env.reset(seed="7"), "seed: '7'"),
        (lambda env: env.reset(options={"reset_mask": [True, False]}), "reset_mask: expected a bool array with 2"),
        (lambda env: env.reset(options={"reset_mask": np.zeros(2, bool)}), "reset_mask: it names no row"),
        (lambda env: env.step([0]), "expected 2 integers, one a row"),
        (lambda env: env.step([0.5, 1.5]), "expected 2 integers, one a row"),
        (lambda env: env.step([0, 999]), "action is not in action space: rows 1; the actions are 0 to"),
        (lambda env: env.step([-1, -1]), "action is not in action space: rows 0, 1;"),
    ],
)
def test_bad_input_is_refused_and_the_games_stay(
    case: GameCase, call: Callable[[SiberiaVectorEnv], Any], message: str
) -> None:
    env, same = (SiberiaVectorEnv(2, case.name, opponents="greedy") for _ in range(2))
    actions = env.reset(seed=1)[0]["action_mask"].argmax(axis=1)
    same.reset(seed=1)
    with pytest.raises((ConfigurationError, IllegalActionError), match=message):
        call(env)
    assert_same(env.step(actions), same.step(actions))


def test_calls_in_the_wrong_order_are_refused(case: GameCase) -> None:
    env = SiberiaVectorEnv(2, case.name, rules=case.short, autoreset_mode="Disabled")
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        env.step([0, 0])
    env.reset(seed=1)
    illegal = (~env.action_masks()).argmax(axis=1)
    assert env.step(illegal)[2].all()
    with pytest.raises(IllegalActionError, match=r"the games in rows 0, 1 are over: reset\(\) comes next"):
        env.step(illegal)


def play_on(env: SiberiaVectorEnv, steps: int) -> None:
    """Take the first legal action everywhere."""
    for _ in range(steps):
        env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (-1, IllegalActionError, r"opponent Wrong: action -1 is not legal now in row \d"),
        (999, IllegalActionError, r"opponent Wrong: action 999 is not legal now in row \d"),
        (1.5, ActionOutOfBoundsError, r"opponent Wrong: expected \d action numbers; got float64"),
        (None, ActionOutOfBoundsError, r"opponent Wrong: expected \d action numbers; got object"),
    ],
)
def test_an_opponents_wrong_answer_is_an_error_and_only_reset_goes_on(
    case: GameCase, answer: Any, error: type[Exception], message: str
) -> None:
    class Wrong(Agent):
        right = True

        def act(self, view: Any) -> Any:
            return view.legal_actions[0] if self.right else answer

        act_batch = None  # type: ignore[assignment]  # it is asked game by game

    opponent = Wrong()
    env = SiberiaVectorEnv(2, case.name, opponents=opponent, seat=1)
    env.reset(seed=1)
    opponent.right = False
    with pytest.raises(error, match=message):
        play_on(env, 200)
    with pytest.raises(IllegalActionError, match=r"an opponent has failed in these games: reset\(\) comes next"):
        env.step([0, 0])
    opponent.right = True
    env.reset()
