"""The PettingZoo environments: PettingZoo's own tests, and what those don't look at."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils.env_logger import EnvLogger

from siberia_agents.registry import make_agent
from siberia_env import board_v0, card_v0, vector
from siberia_env.aec import SiberiaAECEnv
from siberia_env.board.components import COUNTERS_DRAWN, PERSONS
from siberia_env.common.components import RESOURCES
from siberia_env.core import engine
from siberia_env.core.rewards import REWARDS
from siberia_env.errors import ActionOutOfBoundsError, ConfigurationError, IllegalActionError
from tests.games import GameCase
from tests.processes import run_python
from tests.table import PLAYER_COUNTS

Maker = Callable[..., SiberiaAECEnv]


@pytest.fixture(params=("env", "raw_env"))
def make(case: GameCase, request: pytest.FixtureRequest) -> Maker:
    """What makes each game's environments, those that end at an illegal action and those that raise."""
    maker: Maker = getattr(case.module, request.param)
    return maker


def play(env: SiberiaAECEnv, decisions: int, seed: int = 0) -> list[int]:
    """Random legal play, until the end or for a number of decisions; the actions taken."""
    chance = random.Random(seed)
    taken: list[int] = []
    while len(taken) < decisions and env.legal_actions():
        taken.append(chance.choice(env.legal_actions()))
        env.step(taken[-1])
    return taken


def play_out(env: SiberiaAECEnv, seed: int = 0) -> list[int]:
    return play(env, 100_000, seed)


def first_illegal(env: SiberiaAECEnv) -> int:
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


def everything(env: SiberiaAECEnv) -> tuple[Any, ...]:
    """All that PettingZoo shows of an environment, comparable."""
    return (
        env.agent_selection,
        list(env.agents),
        dict(env.rewards),
        dict(env.terminations),
        dict(env.truncations),
        {agent: {**info, "action_mask": info["action_mask"].tobytes()} for agent, info in env.infos.items()},
        {agent: env.observe(agent)["observation"].tobytes() for agent in env.possible_agents},
        env.state().tobytes(),
    )


# ---------------------------------------------------------------- PettingZoo's own tests


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_api(make: Maker, players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PettingZoo keeps lists of its own environments for which a dict observation is no news.
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        # At the end of a game no action is legal.
        warnings.filterwarnings("ignore", "Action mask numpy array is all zeros")
        api_test(make(num_players=players, render_mode="ansi"), num_cycles=300)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_seeds(make: Maker, players: int) -> None:
    seed_test(lambda: make(num_players=players), num_cycles=100)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_rendering(case: GameCase, players: int, capsys: pytest.CaptureFixture[str], small_pictures: None) -> None:
    render_test(lambda render_mode: case.module.env(num_players=players, render_mode=render_mode))
    assert f"{case.game.title}, {players} players" in capsys.readouterr().out  # "human" prints


def test_registered_for_pettingzoo_make(case: GameCase) -> None:
    assert case.module
    if not hasattr(pettingzoo, "register"):  # before 1.27: then the import has not failed, and that is all
        assert not hasattr(pettingzoo, "make")
        return
    env = pettingzoo.make("aec", f"siberia/{case.name}_v0", num_players=3)
    assert env.variant.game is case.game
    assert isinstance(env, SiberiaAECEnv)
    assert env.num_players == 3
    assert env.illegal_action_ends


def test_metadata(case: GameCase) -> None:
    env = case.module.env()
    assert str(env) == env.metadata["name"] == f"siberia_{case.name}_v0"
    assert env.metadata["is_parallelizable"] is False
    assert "ansi" in env.metadata["render_modes"]
    assert env.unwrapped is env


# ---------------------------------------------------------------- observations and masks


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_masks_and_observations_are_those_of_the_rules(case: GameCase, players: int) -> None:
    env = case.module.raw_env(num_players=players)
    variant = env.variant
    env.reset(seed=5)
    states = variant.new_states()
    engine.deal_at(variant.rulesets, states, 0, np.uint64(5), 0, 0)
    chance = random.Random(1)
    mask, seen = np.zeros(variant.game.num_actions, np.int8), np.zeros(variant.game.observation_size, np.float32)
    while env.legal_actions():
        on_turn = engine.current_player_at(variant.rulesets, states, 0)
        assert env.agent_selection == f"player_{on_turn}"
        engine.legal_at(variant.rulesets, states, 0, mask)
        assert env.legal_actions() == np.flatnonzero(mask).tolist()
        for seat, agent in enumerate(env.agents):
            observation = env.observe(agent)
            engine.observe_at(variant.rulesets, states, 0, seat, seen)
            assert np.array_equal(observation["observation"], seen)
            assert np.array_equal(observation["action_mask"], mask if seat == on_turn else 0 * mask)
            assert observation["action_mask"] is env.infos[agent]["action_mask"]
            assert env.observation_space(agent).contains(observation)
        last = env.last()
        assert last[0] is not None
        assert np.array_equal(last[0]["observation"], env.observe(env.agent_selection)["observation"])
        assert last[0]["action_mask"] is last[4]["action_mask"]
        assert last[1:4] == (0.0, False, False)
        action = chance.choice(env.legal_actions())
        env.step(action)
        engine.advance_at(variant.rulesets, states, 0, action)
        while engine.is_chance_at(variant.rulesets, states, 0):
            engine.resolve_at(variant.rulesets, states, 0)
    assert engine.is_over_at(variant.rulesets, states, 0)


def test_arrays_handed_out_are_never_written_again(case: GameCase) -> None:
    env = case.module.raw_env(num_players=3)
    env.reset(seed=2)
    kept = []
    for _game in range(2):
        while env.legal_actions():
            arrays = [env.state()]
            for agent in env.agents:
                arrays += [*env.observe(agent).values(), env.infos[agent]["action_mask"]]
            kept += [(array, array.copy()) for array in arrays]
            env.step(env.legal_actions()[0])
        env.reset()
    assert len(kept) > 500
    assert all(np.array_equal(array, then) for array, then in kept)


def test_infos_handed_out_are_not_changed_by_the_next_step(case: GameCase) -> None:
    env = case.module.raw_env()
    env.reset(seed=2)
    info = env.last()[4]
    mask = info["action_mask"]
    play(env, 6)
    assert info["action_mask"] is mask


def test_spaces_are_the_same_objects_every_time(case: GameCase) -> None:
    env = case.module.env(num_players=3)
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent) is env.observation_spaces[agent]
        assert env.action_space(agent) is env.action_space(agent) is env.action_spaces[agent]


def test_state_is_the_view_of_seat_0_and_what_nobody_sees(case: GameCase) -> None:
    env = case.module.raw_env(num_players=3)
    env.reset(seed=4)
    play(env, 40)
    state = env.state()
    assert state.dtype == np.float32
    assert env.state_space.contains(state)
    for name, where in env.observation_blocks.items():
        assert np.array_equal(state[env.state_blocks[name]], env.observe("player_0")["observation"][where])
    hidden = np.zeros(env.variant.game.hidden_size, np.float32)
    engine.observe_hidden_at(env.variant.rulesets, env._states, 0, hidden)
    assert hidden.any()
    assert np.array_equal(state[-len(hidden) :], hidden)
    assert sum(where.stop - where.start for where in env.state_blocks.values()) == len(state)


def test_the_hands_in_the_state_are_those_that_the_seats_see() -> None:
    env = card_v0.raw_env(num_players=3)
    env.reset(seed=4)
    play(env, 40)
    hands = env.state()[env.state_blocks["hands"]].reshape(4, -1)
    assert hands.any()
    for seat, agent in enumerate(env.agents):
        assert np.array_equal(hands[seat], env.observe(agent)["observation"][env.observation_blocks["hand"]])


def test_B11_the_new_counters_in_the_state_are_those_that_the_seats_see() -> None:
    env = board_v0.raw_env(num_players=3, rules={"sides": "random"})
    env.reset(seed=4)
    kinds = env.state()[env.state_blocks["drawn"]].reshape(4, -1)[:3] * COUNTERS_DRAWN
    np.testing.assert_allclose(kinds.sum(axis=1), [6, 6, 6], rtol=1e-6)
    for counts, agent in zip(kinds, env.agents, strict=True):
        pairs = counts[:-1].reshape(len(PERSONS), len(RESOURCES))
        symbols = [counts[-1], *pairs.sum(axis=1), *pairs.sum(axis=0)]
        to_place = env.observe(agent)["observation"][env.observation_blocks["to_place"]]
        np.testing.assert_allclose(to_place * COUNTERS_DRAWN, symbols, atol=1e-5)


def test_unknown_agents_are_named(case: GameCase) -> None:
    env = case.module.env()
    env.reset()
    with pytest.raises(ConfigurationError, match=r"no agent 'player_2'; the agents are player_0, player_1"):
        env.observe("player_2")
    with pytest.raises(ConfigurationError, match=r"no agent 'player_2'; the agents are player_0, player_1"):
        env.as_text("player_2")


def test_actions_have_names(case: GameCase) -> None:
    env = case.module.env()
    actions = case.game.num_actions
    assert all(env.action_number(env.action_name(action)) == action for action in range(actions))
    assert env.action_name(env.action_number(case.first)) == case.first
    with pytest.raises(ConfigurationError, match="no action 'mine silver'"):
        env.action_number("mine silver")
    for number in (actions, -1, 1.5, True):
        with pytest.raises(ActionOutOfBoundsError, match=f"0 to {actions - 1}$"):  # before the first reset too
            env.action_name(number)


def test_B9_an_exchange_is_called_by_its_active_side() -> None:
    sides = ["New York", "London", "Toronto", "Mumbai", "Sao Paulo"]
    env = board_v0.raw_env(rules={"sides": sides})
    general = env.action_number("exchange Tokyo/New York")
    assert env.action_name(general) == "exchange Tokyo/New York"  # no game yet
    env.reset(seed=1)
    assert env.action_name(general) == "exchange New York"
    assert env.action_number("exchange Tokyo") == env.action_number("exchange New York") == general
    for side in sides:
        assert f"pawn {side}" in [env.action_name(action) for action in range(env.action_space("player_0").n)]
    with pytest.raises(IllegalActionError, match=rf"action {general} \(exchange New York\) is not legal now"):
        env.step(general)
    env = board_v0.raw_env()
    env.reset(seed=1)
    assert env.action_name(general) == "exchange Tokyo/New York"  # still to be settled
    for name in ("side New York", "side London", "side Shanghai", "side Mumbai", "side Zurich"):
        env.step(env.action_number(name))
    assert env.action_name(general) == "exchange New York"
    assert copy.copy(env).action_name(general + 2) == "exchange Shanghai"


# ---------------------------------------------------------------- seeds


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_games_are_those_of_slot_0_of_a_vector_env(case: GameCase, players: int) -> None:
    env = case.module.raw_env(num_players=players)
    batch = vector.make(case.name, num_envs=3, num_players=players, seed=77)
    step = batch.reset()
    env.reset(seed=77)
    chance = random.Random(3)
    for game in range(3):
        assert env.episode == game
        while env.legal_actions():
            observation = env.last()[0]
            assert observation is not None
            assert np.array_equal(observation["observation"], step.observation[0])
            assert np.array_equal(observation["action_mask"], step.mask[0])
            assert env.agent_selection == f"player_{step.player[0]}"
            actions = [chance.choice(np.flatnonzero(row).tolist()) for row in step.mask]
            env.step(actions[0])
            step = batch.step(np.array(actions))
        assert step.terminated[0]
        assert list(env.rewards.values()) == step.reward[0].tolist()
        info = env.infos["player_0"]
        assert list(info["scores"].values()) == (step.final_scores[0] * 1000).tolist()
        assert info["winners"] == [f"player_{seat}" for seat in np.flatnonzero(step.final_winners[0])]
        env.reset()


def test_reset_without_a_seed_goes_on_in_the_same_stream(case: GameCase) -> None:
    first, second = case.module.env(), case.module.env()
    first.reset(seed=9)
    second.reset(seed=9)
    play(second, 30)
    dealt = [first.state().tobytes()]
    for _ in range(3):
        first.reset()
        second.reset()
        assert first.state().tobytes() == second.state().tobytes()
        dealt.append(first.state().tobytes())
    assert len(set(dealt)) == 4
    first.reset(seed=9)
    assert first.state().tobytes() == dealt[0]


def test_unseeded_environments_differ_and_say_what_they_play(case: GameCase) -> None:
    first, second, third = case.module.env(), case.module.env(), case.module.env()
    first.reset()
    second.reset()
    assert first.seed is not None
    assert first.seed != second.seed
    third.reset(seed=first.seed)
    assert third.state().tobytes() == first.state().tobytes()
    seed = first.seed
    first.reset()
    assert (first.seed, first.episode) == (seed, 1)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True])
def test_seeds_that_are_none_are_refused(case: GameCase, seed: Any) -> None:
    with pytest.raises(ConfigurationError, match="seed: "):
        case.module.env().reset(seed=seed)


# ---------------------------------------------------------------- illegal actions


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_env_ends_the_game_at_an_illegal_action(
    case: GameCase, players: int, capsys: pytest.CaptureFixture[str]
) -> None:
    env = case.module.env(num_players=players)
    env.reset(seed=1)
    while env.agent_selection != "player_1":
        env.step(env.legal_actions()[-1])
    before = env.state().tobytes()
    EnvLogger.flush()
    env.step(first_illegal(env))
    assert any("Illegal move made, game terminating with current player losing" in said for said in EnvLogger.mqueue)
    assert env.rewards == {agent: -1.0 if agent == "player_1" else 0.0 for agent in env.possible_agents}
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert env.state().tobytes() == before
    assert env.legal_actions() == []
    rewards = {}
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        assert terminated
        assert observation is not None
        assert not observation["action_mask"].any()
        assert info["winners"] == []
        rewards[agent] = reward
        env.step(None)
    assert rewards == {agent: -1.0 if agent == "player_1" else 0.0 for agent in env.possible_agents}
    env.reset()
    assert env.legal_actions()


def test_raw_env_refuses_an_illegal_action_and_stays_as_it_was(case: GameCase) -> None:
    env = case.module.raw_env()
    env.reset(seed=1)
    before = everything(env)
    legal = [env.action_name(action) for action in env.legal_actions()]
    action = env.action_number(case.not_yet)
    with pytest.raises(IllegalActionError) as refusal:
        env.step(action)
    assert str(refusal.value) == (
        f"action {action} ({case.not_yet}) is not legal now; player_0 may: {', '.join(legal)}"
    )
    assert everything(env) == before
    env.step(env.legal_actions()[0])


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (1000, "there is no action 1000"),
        (-1, "there is no action -1"),
        (2**63, "there is no action 9223372036854775808"),
        (np.int64(-3), "there is no action -3"),
        (0.0, "0.0 is not a whole number"),
        (np.float32(3), "is not a whole number"),
        (float("nan"), "nan is not a whole number"),
        (True, "True is not a whole number"),
        (np.True_, "is not a whole number"),
        ("reveal 3", "'reveal 3' is not a whole number"),
        ([3], r"\[3\] is not a whole number"),
        (np.array([3]), "is not a whole number"),
        (None, "None is for agents whose game is over"),
    ],
)
def test_what_is_no_action_is_refused(case: GameCase, make: Maker, action: Any, reason: str) -> None:
    env = make()
    env.reset(seed=1)
    before = everything(env)
    words = f"action is not in action space: .*{reason}.*0 to {case.game.num_actions - 1}$"
    with pytest.raises(ActionOutOfBoundsError, match=words) as refusal:
        env.step(action)
    assert isinstance(refusal.value, AssertionError)  # as PettingZoo's wrapper raises
    assert isinstance(refusal.value, IllegalActionError)
    assert everything(env) == before


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8, np.array])
def test_any_whole_number_is_taken(case: GameCase, kind: Any) -> None:
    env = case.module.raw_env()
    env.reset(seed=1)
    env.step(kind(env.legal_actions()[0]))
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}


# ---------------------------------------------------------------- order of calls


def test_calls_before_reset_are_refused_in_pettingzoos_words(make: Maker) -> None:
    env = make(render_mode="ansi")
    calls: dict[str, Callable[[], Any]] = {
        "step": lambda: env.step(0),
        "observe": lambda: env.observe("player_0"),
        "state": env.state,
        "render": env.render,
        "agent_iter()": env.agent_iter,
    }
    for name, call in calls.items():
        with pytest.raises(AssertionError) as refusal:
            call()
        assert str(refusal.value) == f"reset() needs to be called before {name}."
    for name in ("rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"):
        with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
            getattr(env, name)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        env.colour  # noqa: B018
    assert env.legal_actions() == []


def test_agent_iter_wants_a_step_in_between(case: GameCase) -> None:
    env = case.module.env()
    env.reset()
    with pytest.raises(AssertionError, match="need to call step\\(\\) or reset\\(\\) in a loop over `agent_iter`"):
        for _ in env.agent_iter():
            pass
    env.reset()
    taken = 0
    for _ in env.agent_iter(max_iter=5):
        env.step(env.legal_actions()[0])
        taken += 1
    assert taken == 5


def test_a_finished_game_takes_no_action(make: Maker) -> None:
    env = make()
    env.reset(seed=3)
    play_out(env)
    with pytest.raises(ValueError, match="when an agent is dead, the only valid action is None"):
        env.step(0)
    assert env.agents == ["player_0", "player_1"]
    for _ in env.agent_iter():
        env.step(None)
    assert env.agents == []
    assert env.infos == env.rewards == env.terminations == {}
    words = "step() called after all agents are terminated or truncated. Should reset() first."
    if env.illegal_action_ends:  # as PettingZoo's wrapper: a warning, and nothing happens
        EnvLogger.flush()
        env.step(0)
        assert EnvLogger.mqueue[-1].endswith(words)
    else:
        with pytest.raises(IllegalActionError) as refusal:
            env.step(0)
        assert str(refusal.value) == words


def test_render_without_a_mode_warns(case: GameCase) -> None:
    env = case.module.env()
    env.reset()
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert env.render() is None


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_end_infos_and_rewards_of_each_kind(case: GameCase, players: int) -> None:
    ends = {}
    for reward in REWARDS:
        env = case.module.raw_env(num_players=players, reward=reward)
        env.reset(seed=21)
        play_out(env)
        ends[reward] = env
    env = ends["win"]
    rewards = {kind: dict(ended.rewards) for kind, ended in ends.items()}
    scores = {seat: dollars / 1000 for seat, dollars in env.infos["player_0"]["scores"].items()}
    assert len(set(scores.values())) > 1
    winners = [agent for agent in env.possible_agents if scores[agent] == max(scores.values())]
    for agent in env.possible_agents:
        assert env.infos[agent]["winners"] == winners
        assert env.infos[agent]["hit_limit"] is False
        share = (agent in winners) / len(winners)
        assert rewards["win"][agent] == pytest.approx((players * share - 1) / (players - 1))
        others = [score for other, score in scores.items() if other != agent]
        assert rewards["margin"][agent] == pytest.approx((scores[agent] - sum(others) / len(others)) / 10)
        assert rewards["score"][agent] == pytest.approx(scores[agent])
        # What `last` gives to a loop over the dead agents.
        assert env.agent_selection == agent
        assert env.last()[1:4] == (rewards["win"][agent], True, False)
        env.step(None)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_C17_B24_the_limit_is_a_termination(case: GameCase, players: int) -> None:
    env = case.module.env(num_players=players, rules=case.short)
    env.reset(seed=1)
    while env.legal_actions():
        env.step(env.legal_actions()[0])
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    assert all(info["hit_limit"] is True for info in env.infos.values())
    assert sum(env.rewards.values()) == pytest.approx(0)


# ---------------------------------------------------------------- copies


def pickled(env: SiberiaAECEnv) -> SiberiaAECEnv:
    copied: SiberiaAECEnv = pickle.loads(pickle.dumps(env))
    return copied


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("decisions", [0, 50, 100_000])
def test_copies_are_equal_and_independent(
    case: GameCase, duplicate: Callable[[SiberiaAECEnv], SiberiaAECEnv], decisions: int
) -> None:
    env = case.module.raw_env(num_players=3, rules=case.other_rules, reward="margin", render_mode="ansi")
    env.reset(seed=8)
    play(env, decisions)
    env.action_space("player_0").seed(1)
    first, second = duplicate(env), duplicate(env)
    before = everything(env)
    assert everything(first) == everything(second) == before
    assert first.variant.rules == env.variant.rules
    assert first.render() == env.render()
    assert all(first.infos[a]["action_mask"] is first.observe(a)["action_mask"] for a in first.agents)
    assert first.action_space("player_0").sample() == second.action_space("player_0").sample()
    taken = play(first, 60, seed=2)
    if decisions < 100_000:
        assert taken
        assert everything(env) == everything(second) == before
    for action in taken:
        second.step(action)
    first.reset()
    second.reset()
    assert everything(env) == before
    assert everything(first) == everything(second)
    env.reset()
    assert everything(env) == everything(first)


def test_copies_before_the_first_reset(case: GameCase) -> None:
    for duplicate in (copy.copy, copy.deepcopy, pickled):
        env = duplicate(case.module.env())
        with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
            env.agents  # noqa: B018
        env.reset(seed=1)
        assert len(env.agents) == 2


# ---------------------------------------------------------------- options, agents, imports


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "num_players: 1"),
        ({"num_players": 5}, "num_players: 5"),
        ({"reward": "glory"}, "no 'glory'; there are win, margin, score"),
        ({"render_mode": "rgb"}, "no 'rgb'; there are ansi, human, svg, rgb_array"),
        ({"components": {"pieces": 10}}, "pieces: no such table; the tables are"),
    ],
)
def test_options_that_are_not_to_be_had(make: Maker, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make(**options)


def test_options_that_a_game_does_not_have(case: GameCase, make: Maker) -> None:
    for options, message in case.bad:
        with pytest.raises(ConfigurationError, match=message):
            make(**options)


def test_agents_of_the_suite_play_by_its_views(case: GameCase) -> None:
    env = case.module.raw_env()
    with pytest.raises(ConfigurationError, match="no decision is due"):
        env.view()
    env.reset(seed=3)
    agent = make_agent("greedy")
    agent.start(env.variant)
    chance = random.Random(0)
    while env.legal_actions():
        env.step(agent.act(env.view()) if env.agent_selection == "player_1" else chance.choice(env.legal_actions()))
    assert env.infos["player_0"]["winners"] == ["player_1"]


def test_importing_the_package_brings_nothing_heavy() -> None:
    code = (
        "import sys, siberia_env; "
        "print([m for m in ('torch', 'rich', 'pettingzoo', 'stable_baselines3', 'matplotlib') if m in sys.modules]); "
        "from siberia_env import board_v0, card_v0; "
        "print([m for m in ('torch', 'rich', 'stable_baselines3', 'matplotlib') if m in sys.modules])"
    )
    done = run_python("-c", code)
    assert done.stdout == "[]\n[]\n"
