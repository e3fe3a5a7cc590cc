"""Agents: what they see, what they choose, and which models the learned one refuses."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from siberia_agents import learned
from siberia_agents.greedy import GreedyAgent, greedy_at, greedy_batch
from siberia_agents.interface import Agent
from siberia_agents.learned import LearnedAgent, Model, load_model, observation_version
from siberia_agents.random_agent import RandomAgent
from siberia_agents.search.guided import GuidedAgent
from siberia_env import vector
from siberia_env.board.actions import TILE
from siberia_env.board.state import CHOOSE_SIDE, DRAW
from siberia_env.card.actions import PAY
from siberia_env.card.game import GAME
from siberia_env.card.state import CHOOSE, DISCOVER, PAYING
from siberia_env.core import engine
from siberia_env.core.rng import derive
from siberia_env.errors import ConfigurationError, ModelError
from siberia_env.game import GAMES, States, find_game, game_names
from siberia_env.view import REPRESENTATIVE, BatchView, View, view_games, view_state
from siberia_experiments.match import play_games
from tests.processes import run_python
from tests.table import PLAYER_COUNTS

EVERY_TABLE = [(game, players) for game in GAMES for players in PLAYER_COUNTS]
WIDTH = 8  # of the hidden layer of test models
SHORT = {"card": {"max_turns": 2}, "board": {"max_rounds": 1}}  # rules under which a game is soon over

#: By game: every phase in which a decision is due, and an action number that only late decisions of a turn have.
PHASES = {"card": {DISCOVER, CHOOSE, PAYING}, "board": set(range(CHOOSE_SIDE, DRAW))}
LATE = {"card": PAY, "board": TILE}


def course(
    game: str, players: int, games: int, decisions: int, rules: Any = None
) -> Iterator[tuple[vector.VectorEnv, vector.Step]]:
    """A batch of games that greedy and random players share, before each decision; each row goes a different way."""
    env = vector.make(game, games, players, seed=11, rules=rules)
    step = env.reset()
    yield env, step
    plan, chance = np.zeros(games, np.int64), np.zeros(games, np.int64)
    for draw in range(decisions):
        greedy_batch(env.variant.rulesets, env.states, step.mask, plan)
        engine.sample_batch(step.mask, step.num_legal, np.uint64(5), draw, chance)
        step = env.step(np.where((np.arange(games) + draw) % 4 == 0, chance, plan))
        yield env, step


def positions(game: str, players: int, games: int = 24, decisions: int = 90) -> tuple[vector.VectorEnv, vector.Step]:
    """A batch in the middle of its games."""
    *_, last = course(game, players, games, decisions)
    return last


def whole_view(env: vector.VectorEnv, step: vector.Step) -> BatchView:
    """What is seen of every game of the batch."""
    rows = np.arange(env.num_envs)
    return view_games(env.variant, env.states, rows, step.observation, step.mask, step.player)


def small_model(players: int = 2, seed: int = 0, game: str = "card") -> Model:
    """A network with random weights."""
    random, heads = np.random.default_rng(seed), learned.head_sizes(find_game(game))
    sizes = (find_game(game).observation_size, WIDTH, sum(heads.values()))
    layers = [
        (random.normal(0, 1, (a, b)).astype(np.float32), random.normal(0, 1, b).astype(np.float32))
        for a, b in pairwise(sizes)
    ]
    return Model(game, (players,), layers, heads, {"seed": seed})


# ---------------------------------------------------------------- what an agent sees


def reachable_arrays(view: Any) -> list[NDArray[Any]]:
    """Every array among the attributes of a view."""
    return [value for name in dir(view) if isinstance(value := getattr(view, name), np.ndarray)]


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_no_attribute_of_a_view_is_or_shares_the_true_state(game: str, players: int) -> None:
    env, step = positions(game, players)
    batch = whole_view(env, step)
    for view in (batch, batch.view(3), view_state(env.variant, env.states, 3)):
        arrays = [*reachable_arrays(view), view.sample(1)]
        assert len(arrays) >= 3
        own = (env.states, step.observation, step.mask, step.player)
        assert not any(np.shares_memory(array, inner) for array in arrays for inner in own)
        states = [array for array in arrays[:-1] if array.dtype == env.states.dtype]
        assert states[0] is view.representative
        assert len(states) == 1
        truth = env.states[3:4] if isinstance(view, View) else env.states
        player = [view.player] if isinstance(view, View) else view.player
        for row, (held, real) in enumerate(zip(view.representative, truth, strict=True)):
            assert held.generator != real.generator
            guess = np.array([real])
            seed = np.uint64(REPRESENTATIVE)
            if not (isinstance(view, View) and view.row is None):
                seed = np.uint64(derive(seed, 3 if isinstance(view, View) else row, 0))
            engine.determinize_at(env.variant.rulesets, guess, 0, int(player[row]), seed)
            assert held.tobytes() == guess.tobytes()


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_samples_are_those_of_the_true_state(game: str, players: int) -> None:
    """A view draws from a representative; what comes out depends on what the player knows, and on the seed."""
    for env, step in course(game, players, 32, 120):
        batch = whole_view(env, step)
        direct = env.states.copy()
        engine.determinize_batch(env.variant.rulesets, direct, step.player, np.uint64(77))
        assert batch.sample(77).tobytes() == direct.tobytes()


@pytest.mark.parametrize("game", GAMES)
def test_a_view_can_be_pickled(game: str) -> None:
    env, step = positions(game, 3)
    batch = whole_view(env, step)
    for view in (batch, batch.view(5), view_state(env.variant, env.states, 3)):
        again = pickle.loads(pickle.dumps(view))
        assert again.sample(9).tobytes() == view.sample(9).tobytes()
        assert again.variant.rulesets.tobytes() == view.variant.rulesets.tobytes()
        for name in ("observation", "mask"):
            assert np.array_equal(getattr(again, name), getattr(view, name))


@pytest.mark.parametrize("game", GAMES)
def test_rules_and_rulesets_of_a_view_cannot_be_written_to(game: str) -> None:
    """They belong to the game that is being played: an agent that writes there would change it for everybody."""
    rules = {"board": {"sides": ["Tokyo", "London", "Shanghai", "Sydney", "Zurich"]}, "card": {}}[game]
    states = (variant := find_game(game).variant(2, rules)).new_states()
    engine.deal_at(variant.rulesets, states, 0, np.uint64(1), 0, 0)
    found = view_state(variant, states, 0).variant
    with pytest.raises(ValueError, match="read-only"):
        found.rulesets["num_players"] = 4
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.rulesets.setflags(write=True)
    with pytest.raises(ValueError, match="WRITEABLE"):
        found.rulesets.view(np.uint8).setflags(write=True)
    with pytest.raises(TypeError):
        found.rules[next(iter(found.rules))] = "other"
    for table in fields(found.components):
        value = getattr(found.components, table.name)
        assert not isinstance(value, dict | list)
        if isinstance(value, Mapping):
            with pytest.raises(TypeError):
                value[next(iter(value))] = 1
            assert not any(isinstance(entry, dict | list) for entry in value.values())
    assert not any(isinstance(value, dict | list) for value in found.rules.values())


def without_generator(states: States) -> list[bytes]:
    """Each state's bytes, the generator left out: what lies on the table, hidden or not."""
    copies = states.copy()
    copies["generator"] = 0
    return [copies[row : row + 1].tobytes() for row in range(len(copies))]


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_samples_look_the_same_to_the_player_and_are_not_the_truth(game: str, players: int) -> None:
    env, step = positions(game, players)
    batch = whole_view(env, step)
    differ = 0
    for seed in range(5):
        sampled = batch.sample(seed)
        seen = np.zeros_like(step.observation)
        engine.observe_batch(env.variant.rulesets, sampled, step.player, seen)
        assert np.array_equal(seen, step.observation)
        mask = np.zeros_like(step.mask)
        for row in range(env.num_envs):
            engine.legal_at(env.variant.rulesets, sampled, row, mask[row])
        assert np.array_equal(mask, step.mask)
        assert not np.any(sampled["generator"] == env.states["generator"])
        pairs = zip(without_generator(sampled), without_generator(env.states), strict=True)
        differ += sum(one != other for one, other in pairs)
        assert batch.sample(seed).tobytes() == sampled.tobytes()
    assert differ > 2 * env.num_envs
    assert batch.sample(1).tobytes() != batch.sample(2).tobytes()


@pytest.mark.parametrize("game", GAMES)
def test_a_row_of_a_batch_samples_what_the_batch_samples_and_only_that(game: str) -> None:
    env, step = positions(game, 3)
    rows = np.array([17, 2, 9])
    batch = view_games(env.variant, env.states, rows, step.observation, step.mask, step.player)
    for seed in (0, 1, 2**64 - 1):
        sampled = batch.sample(seed)
        for row in range(3):
            view = batch.view(row)
            assert view.sample(seed).tobytes() == sampled[row : row + 1].tobytes()
            assert view.player == step.player[rows[row]]
            assert np.array_equal(view.observation, step.observation[rows[row]])
            assert view.legal_actions == np.flatnonzero(step.mask[rows[row]]).tolist()


@pytest.mark.parametrize("game", GAMES)
def test_a_view_held_back_samples_what_was_seen_then(game: str) -> None:
    """Otherwise an agent could ask for samples while an opponent is on turn, and see the opponent's secrets."""
    env, step = positions(game, 2)
    batch, single = whole_view(env, step), view_state(env.variant, env.states, 0)
    before = [batch.sample(4), batch.view(1).sample(4), single.sample(4)]
    observation = batch.observation.copy()
    for _ in range(25):
        step = env.step(step.mask.argmax(axis=1))
    after = [batch.sample(4), batch.view(1).sample(4), single.sample(4)]
    assert [array.tobytes() for array in before] == [array.tobytes() for array in after]
    assert np.array_equal(batch.observation, observation)


@pytest.mark.parametrize("game", GAMES)
def test_a_view_needs_a_decision(game: str) -> None:
    variant = find_game(game).variant(2, SHORT[game])
    states, mask = variant.new_states(), np.zeros(variant.game.num_actions, np.int8)
    engine.deal_at(variant.rulesets, states, 0, np.uint64(1), 0, 0)
    engine.random_playout(variant.rulesets, states, 0, mask, np.uint64(1))
    with pytest.raises(ConfigurationError, match="no decision is due"):
        view_state(variant, states, 0)


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_no_agent_tells_the_truth_from_a_sample(game: str, players: int) -> None:
    """What an agent answers does not change when all that it can't see does."""
    env, step = positions(game, players, games=64)
    for agent in (RandomAgent(), GreedyAgent(), LearnedAgent(small_model(players, game=game), temperature=1.0)):
        agent.start(env.variant, 5)
        answers = agent.act_batch(whole_view(env, step))
        sampled = whole_view(env, step).sample(8)
        observation = np.zeros_like(step.observation)
        engine.observe_batch(env.variant.rulesets, sampled, step.player, observation)
        agent.start(env.variant, 5)
        rows = np.arange(env.num_envs)
        view = view_games(env.variant, sampled, rows, observation, step.mask, step.player)
        assert agent.act_batch(view).tolist() == answers.tolist()


class LastLegal(Agent):
    """Gives only `act`: the batch comes from the interface."""

    name = "last"

    def act(self, view: View) -> int:
        """The last legal action."""
        assert view.sample(3).shape == (1,)
        return view.legal_actions[-1]


@pytest.mark.parametrize("game", GAMES)
def test_an_agent_that_only_acts_answers_batches_too(game: str) -> None:
    env, step = positions(game, 2)
    actions = LastLegal().act_batch(whole_view(env, step))
    assert actions.dtype == np.int64
    assert actions.tolist() == [int(np.flatnonzero(mask)[-1]) for mask in step.mask]
    assert play_games(env.variant, [LastLegal(), RandomAgent()], 4).scores.shape == (4, 2)


# ---------------------------------------------------------------- random


@pytest.mark.parametrize("game", GAMES)
def test_random_is_uniform_over_the_legal_actions(game: str) -> None:
    env, step = positions(game, 2, games=64)
    row = int(step.num_legal.argmax())
    legal = np.flatnonzero(step.mask[row])
    assert len(legal) >= 4
    agent, copies = RandomAgent(), 4000
    agent.start(env.variant, 3)
    batch = view_games(env.variant, env.states, np.full(copies, row), step.observation, step.mask, step.player)
    counts = np.bincount(agent.act_batch(batch), minlength=env.game.num_actions)
    assert np.flatnonzero(counts).tolist() == legal.tolist()
    expected = copies / len(legal)
    assert np.abs(counts[legal] - expected).max() < 5 * np.sqrt(expected)
    single = view_state(env.variant, env.states, row)
    assert {agent.act(single) for _ in range(60 * len(legal))} == set(legal.tolist())


@pytest.mark.parametrize("game", GAMES)
def test_random_follows_from_its_seed_and_shares_nothing_with_the_deals(game: str) -> None:
    env, step = positions(game, 4)
    view = whole_view(env, step)

    def choices(seed: int) -> list[int]:
        agent = RandomAgent()
        agent.start(env.variant, seed)
        return [int(action) for _ in range(3) for action in agent.act_batch(view)]

    assert choices(7) == choices(7)
    assert choices(7) != choices(8)
    plain = np.zeros(env.num_envs, np.int64)
    engine.sample_batch(step.mask, step.num_legal, np.uint64(7), 0, plain)
    assert choices(7)[: env.num_envs] != plain.tolist()


# ---------------------------------------------------------------- greedy


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_greedy_chooses_the_same_over_a_hundred_determinizations(game: str, players: int) -> None:
    """Thirty positions of each phase."""
    samples, tried, sampled_otherwise = 100, Counter[int](), 0
    for env, step in course(game, players, 256, 300, {"salesman_cards": True} if game == "board" else None):
        rulesets = env.variant.rulesets
        for row in range(env.num_envs):
            phase = int(env.states[row]["phase"])
            if tried[phase] == 30:
                continue
            tried[phase] += 1
            chosen = greedy_at(rulesets, env.states, row, step.mask[row])
            assert step.mask[row, chosen]
            sampled = np.repeat(env.states[row : row + 1], samples)
            engine.determinize_batch(rulesets, sampled, np.repeat(step.player[row], samples), np.uint64(row))
            actions = np.zeros(samples, np.int64)
            greedy_batch(rulesets, sampled, np.repeat(step.mask[row : row + 1], samples, axis=0), actions)
            assert set(actions.tolist()) == {chosen}
            sampled_otherwise += len(set(without_generator(sampled))) > 1
    assert set(tried) == PHASES[game]
    assert sampled_otherwise > 0.8 * tried.total()


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_greedy_is_the_same_alone_in_a_batch_and_on_the_true_state(game: str, players: int) -> None:
    env, step = positions(game, players)
    agent, view = GreedyAgent(), whole_view(env, step)
    agent.start(env.variant)
    kernel = [greedy_at(env.variant.rulesets, env.states, row, step.mask[row]) for row in range(env.num_envs)]
    assert agent.act_batch(view).tolist() == kernel
    assert [agent.act(view.view(row)) for row in range(env.num_envs)] == kernel
    assert [agent.act(view_state(env.variant, env.states, row)) for row in range(env.num_envs)] == kernel


PLAIN = """
import sys
import numpy as np
from siberia_agents.greedy import greedy_at
from siberia_env.core import engine
from siberia_env.game import find_game

variant = find_game(sys.argv[1]).variant(3)
states, mask = variant.new_states(), np.zeros(variant.game.num_actions, np.int8)
observation = np.zeros(variant.game.observation_size, np.float32)
engine.deal_at(variant.rulesets, states, 0, np.uint64(12), 0, 0)
engine.legal_at(variant.rulesets, states, 0, mask)
played = []
while not engine.is_over_at(variant.rulesets, states, 0):
    played.append(int(greedy_at(variant.rulesets, states, 0, mask)))
    engine.step_at(variant.rulesets, states, 0, played[-1], observation, mask)
print(played)
"""


@pytest.mark.parametrize("game", GAMES)
def test_greedy_plays_the_same_game_as_plain_python(game: str) -> None:
    compiled = run_python("-c", PLAIN, game).stdout
    assert run_python("-c", PLAIN, game, NUMBA_DISABLE_JIT="1").stdout == compiled
    assert len(json.loads(compiled)) > 60
    assert max(json.loads(compiled)) >= LATE[game]


@pytest.mark.parametrize(("game", "games"), [("card", 2000), ("board", 600)])
def test_greedy_beats_random_in_98_of_100_two_player_games(game: str, games: int) -> None:
    results = play_games(find_game(game).variant(2), [GreedyAgent(), RandomAgent()], games, seed=1)
    assert results.win_rate(0).value >= 0.98
    assert results.mean_score(0).low > 2 * results.mean_score(1).high


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("players", [3, 4])
def test_greedy_wins_most_games_against_two_and_three_random_players(game: str, players: int) -> None:
    opponents = [RandomAgent() for _ in range(players - 1)]
    results = play_games(find_game(game).variant(players), [GreedyAgent(), *opponents], 300, seed=1)
    assert results.win_rate(0).low > 0.9


@pytest.mark.parametrize(
    ("game", "rules", "score"),
    [
        ("card", "dlp", 30),
        ("card", "oya", 30),
        ("card", "digital", 30),
        ("board", {"sides": "random"}, 15),
        ("board", {"sides": ["New York", "Hong Kong", "Toronto", "Mumbai", "Sao Paulo"]}, 15),
        ("board", {"salesman_cards": True}, 15),
    ],
    ids=str,
)
def test_greedy_finishes_games_under_all_rules(game: str, rules: Any, score: int) -> None:
    results = play_games(find_game(game).variant(3, rules), [GreedyAgent()] * 3, 60, seed=2)
    assert not results.hit_limit.any()
    assert results.scores.mean() > score


# ---------------------------------------------------------------- learned


@pytest.mark.parametrize("game", GAMES)
def test_a_model_comes_back_as_it_was_saved(game: str, tmp_path: Path) -> None:
    model, path = small_model(3, 4, game), tmp_path / "model.npz"
    model.save(path)
    small_model(3, 5, game).save(path)
    model.save(path)
    back = load_model(str(path))
    assert (back.game, back.num_players, back.trained) == (game, (3,), {"seed": 4})
    assert back.heads == model.heads == learned.head_sizes(find_game(game))
    assert [[a.tolist() for a in layer] for layer in model.layers] == [
        [a.tolist() for a in layer] for layer in back.layers
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]


def test_a_network_is_its_layers_with_rectified_ones_between_and_its_heads_side_by_side() -> None:
    model = small_model()
    observation = np.random.default_rng(1).random((3, GAME.observation_size)).astype(np.float32)
    (w0, b0), (w1, b1) = model.layers
    actions = GAME.num_actions
    for row in range(3):
        hidden = [
            max(0.0, float(observation[row].astype(float) @ w0[:, k].astype(float)) + b0[k]) for k in range(WIDTH)
        ]
        expected = np.array(hidden) @ w1.astype(float) + b1
        close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-3)
        close(model.logits(observation)[row], expected[:actions])
        close(model.margins(observation)[row], expected[actions + 5 : actions + 9])
        for seats in (2, 3, 4):
            weights = np.exp(expected[actions + 1 : actions + 1 + seats] - expected[actions + 1 : actions + 5].max())
            close(model.shares(observation, seats)[row], weights / weights.sum())
    assert model.head("policy") == slice(0, actions)
    assert model.head("value") == slice(actions, actions + 1)
    assert model.head("turns") == slice(actions + 9, actions + 10)


@pytest.mark.parametrize("head", ["shares", "margins"])
def test_a_model_tells_which_head_it_lacks(head: str) -> None:
    model = replace(small_model(), heads={"policy": GAME.num_actions})
    seen = np.zeros((1, GAME.observation_size), np.float32)
    with pytest.raises(ModelError, match=f"model: it says nothing of {head}; train one with this version"):
        model.margins(seen) if head == "margins" else model.shares(seen, 2)


@pytest.mark.parametrize("game", GAMES)
def test_learned_plays_the_likeliest_legal_action_alone_and_in_a_batch(game: str) -> None:
    env, step = positions(game, 2)
    agent, view = LearnedAgent(small_model(game=game)), whole_view(env, step)
    agent.start(env.variant)
    together = agent.act_batch(view)
    logits = agent.model.logits(step.observation)
    for row in range(env.num_envs):
        legal = np.flatnonzero(step.mask[row])
        assert together[row] == legal[logits[row, legal].argmax()]
    assert [agent.act(view.view(row)) for row in range(env.num_envs)] == together.tolist()


def test_temperature_draws_by_likelihood() -> None:
    env, step = positions("card", 2)
    row = int(step.num_legal.argmax())
    legal = np.flatnonzero(step.mask[row])
    scaled = small_model()
    weight, bias = scaled.layers[-1]
    logits = scaled.logits(step.observation[row][None])[0, legal]
    spread = np.float32(1.5 / logits.std())
    model = replace(scaled, layers=[scaled.layers[0], (weight * spread, bias * spread)])
    logits = model.logits(step.observation[row][None])[0, legal].astype(float)
    draws = 6000
    view = view_games(env.variant, env.states, np.full(draws, row), step.observation, step.mask, step.player)
    for temperature in (1.0, 2.0):
        agent = LearnedAgent(model, temperature)
        agent.start(env.variant, 9)
        counts = np.bincount(agent.act_batch(view), minlength=GAME.num_actions)
        likelihood = np.exp((logits - logits.max()) / temperature)
        expected = draws * likelihood / likelihood.sum()
        assert counts[legal].sum() == draws
        assert np.all(np.abs(counts[legal] - expected) < 5 * np.sqrt(expected) + 1)
        agent.start(env.variant, 9)
        again = np.bincount(agent.act_batch(view), minlength=GAME.num_actions)
        assert again.tolist() == counts.tolist()


def save_earlier(path: Path, model: Model, form: str) -> None:
    """Save the policy of `model` as earlier versions saved two networks."""
    *trunk, (weight, bias) = model.layers
    policy = [*trunk, (weight[:, model.head("policy")], bias[model.head("policy")])]
    value = [*trunk, (weight[:, model.head("value")], bias[model.head("value")])]
    model.save(path)
    arrays = {
        f"{name}_{number}_{part}": array
        for name, layers in (("policy", policy), ("value", value))
        for number, layer in enumerate(layers)
        for part, array in zip(("weight", "bias"), layer, strict=True)
    }
    old = {f"{number}_{part}": None for number in range(len(model.layers)) for part in ("weight", "bias")}
    players = model.num_players[0] if form == "siberia-model/1" else list(model.num_players)
    told = {"format": form, "num_players": players, "layers": None, "heads": None}
    rewrite(path, {**told, "policy_layers": len(policy), "value_layers": len(value)}, **arrays, **old)


@pytest.mark.parametrize("form", learned.EARLIER)
def test_a_model_of_an_earlier_format_loads_with_its_policy_alone(form: str, tmp_path: Path) -> None:
    path, model = tmp_path / "model.npz", small_model(3)
    save_earlier(path, model, form)
    back = load_model(path)
    assert (back.num_players, back.heads) == ((3,), {"policy": GAME.num_actions})
    seen = np.random.default_rng(2).random((5, GAME.observation_size)).astype(np.float32)
    np.testing.assert_allclose(back.logits(seen), model.logits(seen), rtol=1e-5, atol=1e-4)
    LearnedAgent(path).start(GAME.variant(3))
    with pytest.raises(ModelError, match="model: it says nothing of shares; train one with this version"):
        GuidedAgent(10, path).start(GAME.variant(3))


def refused(path: Path) -> str:
    """The one line that a model file is refused with."""
    with pytest.raises(ModelError) as raised:
        load_model(path)
    message = str(raised.value)
    assert message.startswith("model: ")
    assert str(path) in message
    assert "\n" not in message
    return message


def rewrite(path: Path, metadata: dict[str, Any] | None = None, **arrays: Any) -> None:
    """Change parts of a saved model; None leaves a part out."""
    with np.load(path) as saved:
        parts = dict(saved)
    told = json.loads(str(parts["metadata"]))
    told.update(metadata or {})
    parts["metadata"] = np.array(json.dumps({key: value for key, value in told.items() if value is not None}))
    parts.update(arrays)
    np.savez(path, allow_pickle=False, **{key: value for key, value in parts.items() if value is not None})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A saved two-player model."""
    path = tmp_path / "model.npz"
    small_model().save(path)
    return path


def test_a_missing_model_is_refused(tmp_path: Path) -> None:
    assert "there is no file" in refused(tmp_path / "nothing.npz")
    assert f"can't read {tmp_path}" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a model", b"PK\x03\x04 cut off", b'{"format": "siberia-model/1"}'])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    assert "is not a model of the suite, or is damaged" in refused(path)


def test_arrays_of_another_program_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, weights=np.zeros(3))
    assert "is not a model of the suite, or is damaged" in refused(path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    assert "is not a model of the suite, or is damaged" in refused(path)
    for told in ("[]", "5", "null", '"siberia-model/1"', "{"):
        np.savez(path, metadata=np.array(told))
        refused(path)


def test_a_truncated_model_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [*range(0, len(whole), len(whole) // 60), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        refused(saved)


def test_a_model_with_flipped_bits_is_refused_or_harmless(saved: Path) -> None:
    """Not every bit of a zip file matters; but whatever loads is the model that was saved."""
    whole, model, refusals = saved.read_bytes(), small_model(), 0
    directory = whole.rindex(b"PK\x01\x02") - 400
    for place in [*range(0, directory, len(whole) // 150), *range(directory, len(whole), 5)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        saved.write_bytes(damaged)
        try:
            back = load_model(saved)
        except ModelError:
            refusals += 1
        else:
            assert back.heads == model.heads
            for left, right in zip(model.layers, back.layers, strict=True):
                assert np.array_equal(left[0], right[0])
                assert np.array_equal(left[1], right[1])
    assert refusals > 150


def test_a_model_of_another_format_is_refused(saved: Path) -> None:
    rewrite(saved, {"format": "siberia-model/4", "layers": None, "game": "chess"})
    assert refused(saved).endswith(
        "has format 'siberia-model/4', this version reads siberia-model/1, siberia-model/2 and siberia-model/3"
    )


def test_a_model_of_another_game_is_refused(saved: Path) -> None:
    rewrite(saved, {"game": "chess"})
    assert refused(saved).endswith(f"is for the game 'chess'; the games are {', '.join(game_names())}")


def test_a_model_that_names_the_other_game_is_refused(saved: Path) -> None:
    rewrite(saved, {"game": "board"})
    assert f"this version of the suite has {observation_version(find_game('board'))}" in refused(saved)
    rewrite(saved, {"observation": observation_version(find_game("board"))})
    assert "damaged" in refused(saved)


def test_a_model_of_another_observation_version_is_refused(saved: Path) -> None:
    rewrite(saved, {"observation": "0123456789abcdef"})
    message = refused(saved)
    assert "observation version 0123456789abcdef" in message
    assert observation_version(GAME) in message


@pytest.mark.parametrize("players", [0, 1, 5, "two", None, True, 2.0, [], [2, 5], [2, "3"], [[2]], {"2": 3}])
def test_a_model_for_impossible_players_is_refused(saved: Path, players: Any) -> None:
    rewrite(saved, {"num_players": players})
    refused(saved)


@pytest.mark.parametrize("part", ["game", "observation", "num_players", "layers", "heads", "trained"])
def test_a_model_that_lacks_a_part_of_its_description_is_refused(saved: Path, part: str) -> None:
    rewrite(saved, {part: None})
    assert "damaged" in refused(saved)


@pytest.mark.parametrize(
    "arrays",
    [
        {"0_weight": np.zeros((GAME.observation_size - 1, WIDTH), np.float32)},
        {"0_weight": np.zeros(WIDTH, np.float32)},
        {"0_bias": np.zeros(WIDTH + 1, np.float32)},
        {"0_bias": np.zeros(WIDTH, np.float64)},
        {"1_weight": np.zeros((WIDTH, GAME.num_actions + 10), np.float64)},
        {"1_weight": np.zeros((WIDTH, 3), np.float32), "1_bias": np.zeros(3, np.float32)},
        {"1_bias": None},
    ],
)
def test_layers_that_do_not_fit_are_refused(saved: Path, arrays: dict[str, Any]) -> None:
    rewrite(saved, None, **arrays)
    assert "damaged" in refused(saved)


@pytest.mark.parametrize("layers", [0, 1, 3, -1, "two"])
def test_another_number_of_layers_is_refused(saved: Path, layers: Any) -> None:
    rewrite(saved, {"layers": layers})
    assert "damaged" in refused(saved)


@pytest.mark.parametrize(
    "heads",
    [
        None,
        [],
        {},
        {"policy": GAME.num_actions},
        {"policy": GAME.num_actions + 10},
        {"value": 1, "policy": GAME.num_actions, "shares": 4, "margins": 4, "turns": 1},
        {"policy": GAME.num_actions, "value": 1, "shares": 3, "margins": 5, "turns": 1},
        {"policy": GAME.num_actions, "value": 1, "shares": 4, "margins": 4, "weather": 1},
        {"policy": str(GAME.num_actions), "value": 1, "shares": 4, "margins": 4, "turns": 1},
    ],
)
def test_heads_that_do_not_fit_are_refused(saved: Path, heads: Any) -> None:
    rewrite(saved, {"heads": heads})
    assert "damaged" in refused(saved)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused(saved: Path, value: float) -> None:
    weight = small_model().layers[0][0].copy()
    weight[5, 1] = value
    rewrite(saved, None, **{"0_weight": weight})
    assert "weights of its network are not finite numbers" in refused(saved)


def test_objects_in_a_model_are_never_unpickled(saved: Path) -> None:
    with np.load(saved) as arrays:
        parts = dict(arrays)
    parts["0_bias"] = np.array([{"a": 1}] * WIDTH, object)
    np.savez(saved, allow_pickle=True, **parts)
    assert "damaged" in refused(saved)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("players", [3, 4])
def test_a_model_for_another_table_is_refused_there(game: str, players: int) -> None:
    variant = find_game(game).variant(players)
    with pytest.raises(ModelError, match=f"trained for players 2, the games to be played have players {players}"):
        LearnedAgent(small_model(2, game=game)).start(variant)
    (other,) = set(GAMES) - {game}
    with pytest.raises(ModelError, match=f"trained for game {other}, the games to be played have game {game}"):
        LearnedAgent(small_model(players, game=other)).start(variant)
    LearnedAgent(small_model(players, game=game)).start(variant)


@pytest.mark.parametrize(("game", "players"), EVERY_TABLE)
def test_every_kind_of_agent_plays_at_one_table(game: str, players: int) -> None:
    line = [LearnedAgent(small_model(players, game=game)), GreedyAgent(), RandomAgent(), GreedyAgent()][:players]
    results = play_games(find_game(game).variant(players), line, 12, seed=3)
    assert results.entrants == ("learned", "greedy", "random", "greedy")[:players]
    assert results.win_shares.sum() == pytest.approx(12)
    assert results.mean_score(1).value > results.mean_score(0).value
