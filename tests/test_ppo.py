"""The trainer: what a rollout holds, advantages by seat, what enters the loss, imitation, learning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch as th
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from siberia_agents.interface import Agent
from siberia_agents.random_agent import RandomAgent
from siberia_agents.search.ismcts import root_visits
from siberia_env.core import engine
from siberia_env.core.rewards import MARGIN_UNIT
from siberia_env.game import GAMES, MAX_PLAYERS, find_game
from siberia_env.position import Position
from siberia_env.view import BatchView
from siberia_experiments.match import play_games
from siberia_experiments.training import ppo
from siberia_experiments.training.expert import Advice, Expert, shifts, softmax
from siberia_experiments.training.league import LEARNER, Mix, PlanOpponent
from siberia_experiments.training.ppo import CERTAIN, NOBODY, Learner, Rollout, Settings, Tables

SMALL: dict[str, Any] = {
    "num_envs": 24,
    "rollout": 600,
    "batch_size": 64,
    "network": (16, 16),
    "overlap": False,
    "imitate": 0,
}

both_games = pytest.mark.parametrize("game", GAMES)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small networks are slower on more threads, and not the same from run to run."""
    threads = th.get_num_threads()
    th.set_num_threads(1)
    yield
    th.set_num_threads(threads)


def learner(game: str = "card", players: tuple[int, ...] = (2,), mix: Mix | None = None, **changes: Any) -> Learner:
    """A learner with both plans as opponents."""
    variants = [find_game(game).variant(count) for count in players]
    plans = [PlanOpponent(name, variants) for name in ("greedy", "heuristic")]
    return Learner(variants, plans, mix or Mix(), Settings(**{**SMALL, **changes}), seed=5)


# ---------------------------------------------------------------- advantages


@st.composite
def chains(draw: Any) -> tuple[Any, ...]:
    """Decisions of several seats, interleaved: who decides, what was expected, what each chain ends with."""
    seats = draw(st.integers(1, 4))
    order = draw(st.lists(st.integers(0, seats - 1), min_size=1, max_size=25))
    number = st.floats(-5, 5, width=32)
    values = draw(st.lists(number, min_size=len(order), max_size=len(order)))
    return order, values, draw(st.lists(number, min_size=seats, max_size=seats)), draw(st.floats(0, 1))


@settings(max_examples=100)
@given(chains())
def test_advantages_are_weighted_surprises_from_a_seats_decision_to_its_next(case: tuple[Any, ...]) -> None:
    order, values, finals, gae_lambda = case
    count = len(order)
    following, result = np.full(count, NOBODY), np.full(count, NOBODY)
    for number, seat in enumerate(order):
        later = [other for other in range(number + 1, count) if order[other] == seat]
        if later:
            following[number] = later[0]
        else:
            result[number] = seat
    known = np.arange(3 * len(finals), dtype=np.float32).reshape(len(finals), 3)
    advantages, targets = np.zeros(count, np.float32), np.zeros((count, 3), np.float32)
    ends = np.array(finals, np.float32)
    ppo.walk_back(following, result, np.array(values, np.float32), ends, gae_lambda, known, advantages, targets)
    for number, seat in enumerate(order):
        own = [other for other in range(number, count) if order[other] == seat]
        expected = [*(values[other] for other in own), finals[seat]]
        slow = sum(gae_lambda**step * (expected[step + 1] - expected[step]) for step in range(len(own)))
        assert advantages[number] == pytest.approx(slow, abs=1e-3)
        assert targets[number, :2].tolist() == known[seat, :2].tolist()
        assert targets[number, 2] == pytest.approx(known[seat, 2] + 0.01 * len(own))


# ---------------------------------------------------------------- what a rollout holds


class Watched:
    """Plays a rollout and notes every decision of every game, as it was before it was taken."""

    def __init__(self, one: Learner) -> None:
        self.steps: list[dict[str, NDArray[Any]]] = []
        self.ended: list[list[ppo.Ended]] = []
        tables, step = one.player.tables, one.player.tables.step

        def watched(actions: NDArray[np.int64]) -> list[ppo.Ended]:
            holder = one.league.holder[np.arange(tables.num_envs), tables.player]
            self.steps.append(
                {
                    "free": (tables.num_legal > 1) & (holder == LEARNER),
                    "player": tables.player.copy(),
                    "actions": actions.copy(),
                    "observation": tables.observation.copy(),
                    "mask": tables.mask.copy(),
                    "standing": tables.standing(),
                }
            )
            self.ended.append(step(actions))
            return self.ended[-1]

        tables.step = watched  # type: ignore[method-assign]
        self.rollout: Rollout = one.player.play(one.network)

    def chains(self) -> Iterator[tuple[ppo.Ended | None, int, list[int]]]:
        """The numbers of each seat's decisions in each game, with the end of the game; None where it is broken off."""
        number = 0
        waiting: dict[tuple[int, int], list[int]] = {}
        for step, ended in zip(self.steps, self.ended, strict=True):
            for row in np.flatnonzero(step["free"]):
                waiting.setdefault((int(row), int(step["player"][row])), []).append(number)
                number += 1
            for end in ended:
                for seat in range(len(end.points)):
                    if (end.game, seat) in waiting:
                        yield end, seat, waiting.pop((end.game, seat))
        for (_, seat), decisions in waiting.items():
            yield None, seat, decisions


@pytest.mark.parametrize(("game", "players"), [("card", (2,)), ("card", (2, 3, 4)), ("board", (3,))])
def test_a_rollout_holds_the_learners_free_decisions_in_order_and_nothing_else(
    game: str, players: tuple[int, ...]
) -> None:
    one = learner(game, players)
    seen = Watched(one)
    rollout, number = seen.rollout, 0
    assert rollout.count >= one.settings.rollout > rollout.count - one.settings.num_envs
    assert rollout.steps == len(seen.steps) * one.settings.num_envs
    for step in seen.steps:
        for row in np.flatnonzero(step["free"]):
            observation = rollout.observation[number].float().numpy()
            np.testing.assert_allclose(observation, step["observation"][row], atol=0.01)
            assert rollout.mask[number].tolist() == step["mask"][row].tolist()
            assert rollout.action[number] == step["actions"][row]
            assert step["mask"][row, step["actions"][row]] == 1
            assert rollout.standing[number] == step["standing"][row, step["player"][row]]
            assert rollout.seats[number] == one.player.tables.seats[row]
            number += 1
    assert number == rollout.count


@pytest.mark.parametrize(("game", "players"), [("card", (2, 4)), ("board", (2,))])
def test_every_seat_is_paid_its_own_result(game: str, players: tuple[int, ...]) -> None:
    """With lambda 1 an advantage is the end of the seat's own game less what was expected; targets are the results."""
    one = learner(game, players, gae_lambda=1.0, rollout=4000, reward_scale=0.5, win_reward=2.0)
    seen = Watched(one)
    rollout, checked = seen.rollout, 0
    for end, seat, decisions in seen.chains():
        if end is None:
            continue
        count = len(end.points)
        others = [int(points) for other, points in enumerate(end.points) if other != seat]
        margin = (int(end.points[seat]) - sum(others) / len(others)) / MARGIN_UNIT
        share = end.winners[seat] / end.winners.sum()
        paid = 0.5 * (margin + 2.0 * (count * share - 1) / (count - 1))
        for decision in decisions:
            expected = rollout.value[decision] + rollout.standing[decision]
            assert rollout.advantage[decision] == pytest.approx(paid - expected, abs=1e-3)
            target = rollout.targets[decision]
            assert target[0] == pytest.approx(share)
            assert target[MAX_PLAYERS] == pytest.approx(margin, abs=1e-4)
            assert target[:count].sum() == pytest.approx(1)
            assert not target[count:MAX_PLAYERS].any()
            checked += 1
    assert checked > 500


@pytest.mark.parametrize(("game", "players"), [("card", (2, 4)), ("board", (2,))])
def test_what_breaks_off_is_worth_what_was_expected_at_the_last_own_decision(
    game: str, players: tuple[int, ...]
) -> None:
    """Not what the network makes of a seat that is not on turn, of which it learns nothing."""
    one = learner(game, players, gae_lambda=1.0, rollout=2000)
    seen = Watched(one)
    rollout = seen.rollout
    broken_off = [decisions for end, _, decisions in seen.chains() if end is None]
    assert len(broken_off) > 30
    for decisions in broken_off:
        last = decisions[-1]
        with th.no_grad(), th.autocast("cpu", th.bfloat16, enabled=one.player.half):
            heads = one.network(rollout.observation[last : last + 1])
        count = int(rollout.seats[last])
        shares = heads.shares[0, :count].softmax(0).tolist()
        for later, number in enumerate(reversed(decisions)):
            gained = rollout.value[last] + rollout.standing[last] - rollout.value[number] - rollout.standing[number]
            assert rollout.advantage[number] == pytest.approx(gained, abs=1e-4)
            target = rollout.targets[number]
            assert target[:count] == pytest.approx(shares, abs=1e-3)
            assert not target[count:MAX_PLAYERS].any()
            assert target[MAX_PLAYERS : 2 * MAX_PLAYERS] == pytest.approx(heads.margins[0].tolist(), abs=1e-2)
            assert target[-1] == pytest.approx(float(heads.turns[0]) + 0.01 * later, abs=1e-3)


@both_games
def test_games_begin_in_the_middle_each_at_a_place_of_its_own(game: str) -> None:
    """Otherwise all would reach their openings, and later their ends, in the same rollout."""
    tables = learner(game, num_envs=90).player.tables
    first_end = np.full(90, -1)
    actions = np.zeros(90, np.int64)
    for step in range(5000):
        engine.sample_batch(tables.mask, tables.num_legal, np.uint64(7), step, actions)
        for end in tables.step(actions):
            if first_end[end.game] < 0:
                first_end[end.game] = step
        if first_end.min() >= 0:
            break
    thirds = np.bincount(3 * first_end // (first_end.max() + 1), minlength=3)
    assert thirds.min() >= 4, "games end now, later and much later"


def test_the_standing_is_every_seats_margin() -> None:
    tables = learner("card", (2, 3)).player.tables
    standing = tables.standing()
    for variant, here, states in tables.states_of(np.arange(tables.num_envs)):
        for row, state in zip(here, range(len(states)), strict=True):
            totals = Position.from_states(variant, states[state : state + 1].copy()).totals()
            own = [(total - (totals.sum() - total) / (len(totals) - 1)) / MARGIN_UNIT for total in totals]
            np.testing.assert_allclose(standing[row, : len(own)], own, atol=1e-5)
            assert not standing[row, len(own) :].any()


# ---------------------------------------------------------------- learning


def test_an_illegal_action_is_never_drawn() -> None:
    generator = th.Generator().manual_seed(1)
    policy = th.randn((20_000, 9), generator=generator) * 20
    mask = (th.rand((20_000, 9), generator=generator) < 0.3).to(th.int8)
    mask[:, 4] = 1
    actions = ppo.draw(ppo.log_likelihoods(policy, mask), generator)
    assert (mask.gather(1, actions[:, None]) == 1).all()


def test_actions_are_drawn_by_their_likelihood() -> None:
    generator = th.Generator().manual_seed(1)
    likelihood = th.tensor([0.5, 0.0, 0.3, 0.2]).log().expand(100_000, 4)
    drawn = th.bincount(ppo.draw(likelihood, generator), minlength=4) / 100_000
    assert drawn[1] == 0
    np.testing.assert_allclose(drawn.numpy(), [0.5, 0.0, 0.3, 0.2], atol=0.01)


def test_only_the_largest_advantages_are_learnt_from() -> None:
    one = learner(keep=0.25)
    advantage = np.random.default_rng(1).normal(0.3, 1, 1000).astype(np.float32)
    chosen = one._chosen(advantage, everything=False)
    assert len(set(chosen.tolist())) == 250
    distance = np.abs(advantage - advantage.mean())
    assert distance[chosen].min() >= np.delete(distance, chosen).max()
    assert sorted(one._chosen(advantage, everything=True).tolist()) == list(range(1000))


class NetworkAgent(Agent):
    """Plays the averaged policy of a learner."""

    name = "network"

    def __init__(self, one: Learner) -> None:
        self.one = one

    def act(self, view: Any) -> int:
        raise NotImplementedError

    def act_batch(self, views: BatchView) -> NDArray[np.int64]:
        with th.no_grad():
            policy = self.one.average(th.from_numpy(views.observation)).policy
        return ppo.log_likelihoods(policy, th.from_numpy(views.mask)).argmax(dim=1).numpy()


def test_seconds_of_self_play_beat_random_clearly() -> None:
    one = learner(mix=Mix(alone=1.0), num_envs=64, rollout=2048, batch_size=128, learning_rate=3e-3, network=(64,))
    while one.decisions < 60_000:
        one.iterate(one.decisions / 60_000)
    variant = find_game("card").variant(2)
    assert play_games(variant, [NetworkAgent(one), RandomAgent()], 400, seed=1).win_rate(0).low > 0.6


def test_imitation_learns_to_choose_as_the_teacher_does() -> None:
    one = learner(num_envs=64, rollout=2048, batch_size=64, learning_rate=3e-3, network=(64,), imitate=10**9)
    losses = []
    for _ in range(12):
        one.iterate(0.0)
        losses.append(one.losses.policy)
    assert losses[-1] < 0.75 * losses[0], "the teacher's choices have become likelier"
    one.iterate(ppo.LONGEST_LESSON)
    assert one.losses.policy < 0.5 * losses[-1], "after its share of the training, imitation gives way to play"


def test_the_anchor_holds_the_policy() -> None:
    distances = []
    for anchor in (0.0, 10.0):
        one = learner(learning_rate=1e-2, anchor=anchor)
        one.hold_to()
        observation = th.rand((200, 432), generator=th.Generator().manual_seed(1))
        before = one.network(observation).policy.log_softmax(dim=1).detach()
        for _ in range(3):
            one.iterate(0.0)
        after = one.network(observation).policy.log_softmax(dim=1).detach()
        distances.append(float((before.exp() * (before - after)).sum(dim=1).mean()))
    assert distances[1] < 0.3 * distances[0]


def test_playing_while_learning_learns_from_the_rollout_before() -> None:
    """With `overlap` the policy of one update later plays, so the second rollout is still the first policy's."""
    one, other = learner(overlap=True), learner(overlap=False)
    one.iterate(0.0)
    other.iterate(0.0)
    assert one._coming is not None
    assert one.decisions == other.decisions
    coming = one._coming.result()
    fresh = learner()
    fresh.player.play(fresh.network)
    again = fresh.player.play(fresh.network)
    assert coming.count == again.count
    assert th.equal(coming.action[: coming.count], again.action[: again.count])
    one.close()


# ---------------------------------------------------------------- a critic that sees what is hidden


@both_games
def test_the_critic_sees_the_hidden_blocks_and_its_seat(game: str) -> None:
    one = learner(game, (3,), critic=True, rollout=100)
    tables = one.player.tables
    rows = np.flatnonzero(tables.num_legal > 1)
    seats = tables.player[rows].astype(np.int64)
    hidden, size = tables.hidden(rows, seats), tables.game.hidden_size
    expected = np.zeros(size, np.float32)
    for row, seat, seen in zip(rows, seats, hidden, strict=True):
        engine.observe_hidden_at(tables.variants[0].rulesets, tables.envs[0].states, row, expected)
        assert np.array_equal(seen[:size], expected)
        assert np.flatnonzero(seen[size:]).tolist() == [seat]
    assert hidden[:, :size].any()


def test_advantages_come_from_the_critic_and_the_model_does_without() -> None:
    one = learner("card", critic=True)
    rollout = one.player.play(one.network)
    count = rollout.count
    own, hidden = rollout.observation[:count].float(), rollout.hidden[:count].float()
    with th.no_grad():
        expected = one.network.expected(own, hidden).numpy()
    assert np.allclose(rollout.value[:count], expected, atol=0.02)  # the rollout is in half precision
    layers = one.network.as_arrays()
    assert [weight.shape[0] for weight, _ in layers] == [tables_width(one), 16, 16]
    for _ in range(6):
        one.learn(rollout, 0.0)
    assert one.network.critic is not None
    with th.no_grad():
        learnt = one.network.expected(own, hidden).numpy()
    target = rollout.advantage[:count] + rollout.value[:count]
    assert np.square(learnt - target).mean() < 0.9 * np.square(expected - target).mean()


def tables_width(one: Learner) -> int:
    return one.player.tables.game.observation_size


# ---------------------------------------------------------------- expert iteration


@pytest.mark.parametrize(("game", "players"), [("card", (2,)), ("board", (3,))])
def test_a_search_is_asked_about_a_share_of_the_own_decisions(game: str, players: tuple[int, ...]) -> None:
    """It says what each action gains, beside the policy's likelihoods, where no action is nearly certain."""
    asking = learner(game, players, simulations=8, searched=0.2, rollout=200)
    rollout = asking.player.play(asking.network)
    question = rollout.question[: rollout.count]
    asked = np.flatnonzero(question != NOBODY)
    policy = asking.network(rollout.observation[: rollout.count].float()).policy
    likelihood = ppo.log_likelihoods(policy, rollout.mask[: rollout.count]).exp().detach().numpy()
    doubtful = likelihood.max(axis=1) < CERTAIN
    assert 0.1 < len(asked) / doubtful.sum() < 0.35
    assert question[asked].tolist() == list(range(len(rollout.advice)))
    advice, mask = np.array(rollout.advice), rollout.mask[asked].numpy()
    assert np.allclose(advice[:, 0], likelihood[asked], atol=0.02)
    assert (advice[:, 0].max(axis=1) < CERTAIN).all()
    assert not advice[:, 1][mask == 0].any()
    assert (advice[:, 1].max(axis=1) >= 0).all()
    assert ((mask > 0).sum(axis=1) > 1).all()


def test_gains_are_what_the_search_agent_finds() -> None:
    """More of the win than the mean of all simulations, shrunk where there were few."""
    one = learner("card", simulations=40, num_envs=4)
    tables, expert = one.player.tables, one.player.expert
    assert expert is not None
    expert.follow(one.network.as_arrays())
    rows = np.flatnonzero(tables.num_legal > 1)
    gains = expert.gains(tables, rows, np.arange(len(rows)))
    for row, gain, seed in zip(rows, gains, range(len(rows)), strict=True):
        tree = expert._trees[2]
        tree.plant(tables.envs[0].states[row : row + 1], int(tables.player[row]), seed)
        tree.grow(40)
        visits = np.zeros(tables.game.num_actions, np.int64)
        root_visits(tree.nodes, tree.root, visits)
        won = tree.sums[:, 1, tables.player[row]]
        assert visits.sum() == pytest.approx(39, abs=1)  # the first simulation only looks at the root
        for action in range(tables.game.num_actions):
            mean = won.sum() / visits.sum()
            expected = (
                (won[action] / visits[action] - mean) * visits[action] / (visits[action] + 4) if visits[action] else 0
            )
            assert gain[action] == pytest.approx(expected, abs=1e-6)


def test_the_policy_learns_what_the_search_proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a search that finds the first legal action better wherever it is asked."""

    def first_is_better(expert: Expert, tables: Tables, rows: Any, seeds: Any) -> Any:
        return np.eye(tables.game.num_actions, dtype=np.float32)[tables.mask[rows].argmax(axis=1)]

    monkeypatch.setattr(Expert, "gains", first_is_better)
    changes: dict[str, Any] = {"simulations": 1, "searched": 0.5, "policy_weight": 0.0}
    one = learner("card", search_weight=10.0, learning_rate=3e-3, **changes)

    def likelihood_of_the_first(rollout: Rollout) -> float:
        mask = rollout.mask[: rollout.count]
        policy = one.network(rollout.observation[: rollout.count].float()).policy
        return ppo.log_likelihoods(policy, mask).exp().gather(1, mask.argmax(dim=1)[:, None]).mean().item()

    rollout = one.player.play(one.network)
    before = likelihood_of_the_first(rollout)
    for _ in range(8):
        one.learn(rollout, 0.0)
    assert likelihood_of_the_first(rollout) > before + 0.2


def test_the_same_seed_asks_and_hears_the_same() -> None:
    advice = []
    for _ in range(2):
        one = learner("card", simulations=16, searched=0.5, rollout=100)
        advice.append(one.player.play(one.network).advice)
    assert np.array_equal(*advice)


def test_the_search_follows_the_weights_of_the_policy() -> None:
    one = learner("card", simulations=40, num_envs=4)
    expert, tables = one.player.expert, one.player.tables
    assert expert is not None
    rows = np.flatnonzero(tables.num_legal > 1)
    found = []
    for bias in (0.0, 0.0, 1.0):
        with th.no_grad():
            one.network.heads.bias += bias * th.arange(len(one.network.heads.bias))  # later actions become likelier
        expert.follow(one.network.as_arrays())
        found.append(expert.gains(tables, rows, np.arange(len(rows))))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_a_gumbel_search_halves_the_actions_that_it_considers() -> None:
    """Of 48 simulations after the first, 16 each go to eight actions, to the better four, and to the better two."""
    one = learner("card", simulations=49, considered=8, num_envs=64)
    tables, expert = one.player.tables, one.player.expert
    assert expert is not None
    expert.follow(one.network.as_arrays())
    rows = np.flatnonzero(tables.num_legal >= 8)
    assert len(rows) > 4
    for row in rows:
        (advice,) = expert.advice(tables, rows[rows == row], np.array([row]), np.array([0.5], np.float32), 8)
        tree = expert._trees[2]
        visits = np.zeros(tables.game.num_actions, np.int64)
        root_visits(tree.nodes, tree.root, visits)
        assert np.sort(visits[visits > 0]).tolist() == [2, 2, 2, 2, 6, 6, 14, 14]
        assert visits[advice.action] == 14
        assert advice.policy.sum() == pytest.approx(1, abs=1e-5)
        assert not advice.policy[tables.mask[row] == 0].any()
        assert (advice.policy[tables.mask[row] > 0] > 0).all()


def test_a_gumbel_search_draws_its_actions_by_likelihood_without_replacement() -> None:
    """Before any result counts, the likeliest of those drawn has the highest logit plus noise."""
    one = learner("card", simulations=9, considered=4, num_envs=64)
    tables, expert = one.player.tables, one.player.expert
    assert expert is not None
    with th.no_grad():
        one.network.heads.bias[:] = 3 * th.randn(len(one.network.heads.bias))
    expert.follow(one.network.as_arrays())
    row = int(tables.num_legal.argmax())
    legal = np.flatnonzero(tables.mask[row])
    seen = th.from_numpy(tables.observation[row : row + 1])
    likelihood = ppo.log_likelihoods(one.network(seen).policy, th.from_numpy(tables.mask[row : row + 1]))
    expected = likelihood.exp()[0].detach().numpy()
    tried = np.zeros(tables.game.num_actions)
    searches = 1500
    for seed in range(searches):
        expert.advice(tables, np.array([row]), np.array([seed]), np.array([0.5], np.float32), 4)
        tree, visits = expert._trees[2], np.zeros(tables.game.num_actions, np.int64)
        root_visits(tree.nodes, tree.root, visits)
        assert np.count_nonzero(visits) == 4
        tried += visits > 0
    drawn = np.zeros(tables.game.num_actions)
    numbers = np.random.default_rng(1)
    for _ in range(searches):
        drawn[numbers.choice(legal, 4, replace=False, p=expected[legal] / expected[legal].sum())] += 1
    spread = 5 * np.sqrt(2 * 0.25 * searches)
    assert np.abs(tried - drawn).max() < spread
    assert tried.max() - tried[legal].min() > spread  # likelihoods differ enough to tell


def test_a_gumbel_search_completes_what_it_has_not_tried() -> None:
    """Each action's weight as in the paper, written out by hand: equations 8, 10 and 33."""
    logits = np.array([1.0, 0.0, 2.0, -1.0])
    visits = np.array([3.0, 0.0, 5.0, 0.0])
    won = np.array([1.8, 0.0, 2.0, 0.0])
    value = 0.45
    weights = [math.exp(logit) for logit in logits]
    prior = [weight / sum(weights) for weight in weights]
    mean = {0: 1.8 / 3, 2: 2.0 / 5}
    mixed = (value + 8 / (prior[0] + prior[2]) * (prior[0] * mean[0] + prior[2] * mean[2])) / (1 + 8)
    expected = [(50 + 5) * 1.0 * mean.get(action, mixed) for action in range(4)]
    assert shifts(logits, visits, won, value).tolist() == pytest.approx(expected)
    nothing = shifts(logits, np.zeros(4), np.zeros(4), value)
    assert nothing.tolist() == pytest.approx([50 * value] * 4)  # so the policy stays as it is
    assert softmax(logits + nothing).tolist() == pytest.approx(prior)


@pytest.mark.parametrize(("game", "players"), [("card", (2, 4)), ("board", (3,))])
def test_what_a_gumbel_search_chose_is_played_on_request(game: str, players: tuple[int, ...]) -> None:
    changes: dict[str, Any] = {"simulations": 9, "considered": 4, "searched": 0.5, "rollout": 100}
    for plays in (False, True):
        one, heard = learner(game, players, search_plays=plays, **changes), []

        def noting(*given: Any, real: Any = Expert.advice, heard: list[Any] = heard) -> Any:
            heard.extend(found := real(*given))
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Expert, "advice", noting)
            rollout = one.player.play(one.network)
        asked = np.flatnonzero(rollout.question[: rollout.count] != NOBODY)
        assert len(asked) == len(heard) > 20
        same = [int(rollout.action[row]) == advice.action for row, advice in zip(asked, heard, strict=True)]
        assert all(same) == plays
        assert all(rollout.mask[row, advice.action] for row, advice in zip(asked, heard, strict=True))
        told = np.array(rollout.advice)[:, 1]
        assert np.array_equal(told, np.array([advice.policy for advice in heard]))
        one.learn(rollout, 0.0)


def test_the_policy_learns_a_gumbel_searchs_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here one that is sure of the first legal action wherever it is asked."""

    def sure(expert: Expert, tables: Tables, rows: Any, *_: Any) -> list[Advice]:
        first = tables.mask[rows].argmax(axis=1)
        policies = np.eye(tables.game.num_actions, dtype=np.float32)[first]
        return [Advice(policy, int(action)) for policy, action in zip(policies, first, strict=True)]

    monkeypatch.setattr(Expert, "advice", sure)
    changes: dict[str, Any] = {"simulations": 3, "considered": 2, "searched": 1.0, "policy_weight": 0.0}
    one = learner("card", search_weight=1.0, learning_rate=3e-3, search_plays=True, **changes)
    rollout = one.player.play(one.network)
    mask = rollout.mask[: rollout.count]

    def likelihood_of_the_first() -> float:
        policy = one.network(rollout.observation[: rollout.count].float()).policy
        return ppo.log_likelihoods(policy, mask).exp().gather(1, mask.argmax(dim=1)[:, None]).mean().item()

    before = likelihood_of_the_first()
    for _ in range(8):
        one.learn(rollout, 0.0)
    assert likelihood_of_the_first() > before + 0.2
