"""The Gymnasium environment: one seat learns, the others are played for it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import siberia_env
from siberia_agents.greedy import GreedyAgent
from siberia_agents.interface import Agent
from siberia_agents.learned import observation_version
from siberia_agents.registry import make_agent
from siberia_env import opponents as opponents_module
from siberia_env.errors import ConfigurationError, IllegalActionError, ModelError
from siberia_env.gym import SiberiaEnv
from tests.games import CASES, GameCase
from tests.processes import ROOT
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
def test_passes_gymnasiums_check(
    case: GameCase, players: int, seat: int | None, capsys: pytest.CaptureFixture[str], small_pictures: None
) -> None:
    env = gymnasium.make(case.gym_id, num_players=players, seat=seat, render_mode="ansi")
    assert isinstance(env.unwrapped, SiberiaEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    assert capsys.readouterr().err == ""


def test_is_registered_by_the_package() -> None:
    assert siberia_env.__version__
    for case in CASES:
        assert gymnasium.spec(case.gym_id).entry_point == "siberia_env.gym:SiberiaEnv"


def test_the_page_tells_what_the_id_stands_for_by_its_fingerprint(case: GameCase) -> None:
    """If observation or actions change, the table of versions needs another line."""
    page = (ROOT / "docs" / "gymnasium.md").read_text(encoding="utf-8")
    rows = page.partition(f"| `{case.gym_id}` |")[2].split("\n| `")[0]
    assert rows.splitlines()[-1].split(" | ")[2] == f"`{observation_version(case.game)}`"


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


@pytest.mark.parametrize("as_objects", [False, True])
def test_agents_play_the_other_seats_by_their_own_views(case: GameCase, as_objects: bool) -> None:
    """As they play in PettingZoo, where you ask them yourself."""
    names = ["heuristic", "random"]
    env = gymnasium.make(
        case.gym_id, num_players=3, opponents=[make_agent(name) for name in names] if as_objects else names, seat=1
    )
    agents = [make_agent(name) for name in names]
    table = case.module.raw_env(num_players=3)
    observation, _ = env.reset(seed=8)
    table.reset(seed=8)
    for place, agent in enumerate(agents):
        agent.start(table.variant, opponents_module.derived_seed(8, opponents_module.OPPONENTS, place))
    decisions = over = 0
    while not over and decisions < 12:
        while table.agent_selection != "player_1":
            table.step(agents[(int(table.agent_selection[-1]) - 2) % 3].act(table.view()))
        assert np.array_equal(observation["observation"], table.observe("player_1")["observation"])
        table.step(table.legal_actions()[-1])
        observation, _, over, _, _ = env.step(int(np.flatnonzero(observation["action_mask"])[-1]))
        decisions += 1
    assert decisions > 5


def test_one_name_stands_for_all_other_seats(case: GameCase) -> None:
    env = SiberiaEnv(case.name, num_players=4, opponents="greedy")
    assert [type(opponent) for opponent in env.opponents] == [GreedyAgent] * 3
    env.reset(seed=1)
    play_out(env)


def test_an_agent_of_ones_own_is_named_by_its_module(
    case: GameCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_opponent.py").write_text(
        "from siberia_agents.interface import Agent\n"
        "class Last(Agent):\n"
        "    def act(self, view):\n"
        "        return view.legal_actions[-1]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    env, same = SiberiaEnv(case.name, opponents="own_opponent:Last"), SiberiaEnv(case.name, opponents=last_legal)
    for one in (env, same):
        one.reset(seed=3)
    assert play_out(env)[1]["scores"] == play_out(same)[1]["scores"]


def test_an_agent_that_cannot_play_the_game_is_refused_at_once() -> None:
    class OnlyBoard(Agent):
        def start(self, variant: Any, seed: int = 0) -> None:
            raise ModelError("model: it was trained for game board, the games to be played have game card")

        def act(self, view: Any) -> int:
            return 0

    with pytest.raises(ModelError, match="trained for game board"):
        SiberiaEnv("card", opponents=OnlyBoard())


def test_a_seed_starts_the_opponents_again_and_another_reset_does_not(case: GameCase) -> None:
    started = []

    class Noted(GreedyAgent):
        def start(self, variant: Any, seed: int = 0) -> None:
            started.append(seed)

    env = SiberiaEnv(case.name, num_players=4, opponents=Noted())
    started.clear()
    env.reset(seed=7)
    env.reset()
    env.reset(seed=7)
    env.reset(seed=8)
    assert len(started) == 3
    assert started[0] == started[1] != started[2]
    assert 7 not in started


def test_without_a_package_of_agents_a_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opponents_module, "_makers", tuple)
    with pytest.raises(ConfigurationError, match="no installed package offers agents by name"):
        SiberiaEnv("card", opponents="greedy")
    SiberiaEnv("card", opponents=GreedyAgent())


def test_another_package_can_offer_agents_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def theirs(name: str) -> Any:
        if name != "theirs":
            raise ConfigurationError("no such agent of theirs")
        return GreedyAgent()

    monkeypatch.setattr(opponents_module, "_makers", lambda: (make_agent, theirs))
    assert isinstance(SiberiaEnv("card", opponents="theirs").opponents[0], GreedyAgent)
    with pytest.raises(ConfigurationError, match="no agent 'thiers'; the agents are"):
        SiberiaEnv("card", opponents="thiers")


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
    assert info["illegal_action"] == action
    assert capsys.readouterr() == ("", "")
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
        ({"opponents": [None, None]}, "opponents: 2 for 1 other seats; give a list with one for each"),
        ({"opponents": 3}, "opponents: 3 is not the name of an agent, an agent .*, a function .*, or None"),
        ({"opponents": GreedyAgent}, r"opponents: GreedyAgent is a class; give an object of it"),
        ({"opponents": ["gredy"]}, r"no agent 'gredy' .*; the agents are random, greedy, heuristic"),
        ({"opponents": "guided:x"}, "search budget: 'x'"),
        ({"opponents": "learned:none.npz"}, "there is no file none.npz"),
        ({"opponents": "no_such_module:Agent"}, "there is no module 'no_such_module'"),
        ({"num_players": 5}, "num_players: 5"),
        ({"render_mode": "rgb"}, "render_mode: no 'rgb'"),
        ({"game": "chess"}, "no game 'chess'"),
    ],
)
def test_options_that_are_not_to_be_had(case: GameCase, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigurationError, ModelError), match=message):
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
