"""A card game that is small enough is solved: exact exploitability, and what `siberia exploit` finds beside it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, exploitability

from siberia_agents.openspiel import PolicyAgent, write_policy
from siberia_agents.registry import make_agent
from siberia_env.core.engine import TERMINAL
from siberia_env.openspiel import Moment, SiberiaGame, game_of
from siberia_env.position import Position
from siberia_experiments import solve

Shares = Callable[[Moment], dict[int, float]]  #: the actions of the player on turn, with their probabilities


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> SiberiaGame:
    """The small game with one turn for each player, and with fewer hands."""
    monkeypatch.setattr(solve, "CARDS", {"gas/worker": 1, "charcoal/worker": 10})
    monkeypatch.setattr(solve, "RULES", {"edition": "digital", "max_turns": 2})
    return game_of(solve.small_variant())


def uniform(moment: Moment) -> dict[int, float]:
    actions = moment.position.legal_actions()
    return dict.fromkeys(actions, 1 / len(actions))


def slow_best_response(game: SiberiaGame, seat: int, others: Shares) -> float:
    """What a best response is paid: it chooses for all moments at once that its player can't tell apart."""

    def best(group: list[tuple[Moment, float]]) -> float:
        value, alike = 0.0, defaultdict(list)
        while group:
            moment, weight = group.pop()
            if moment.draw is not None:
                group += [(moment.after(outcome), weight * share) for outcome, share in moment.draw.outcomes()]
            elif moment.player == TERMINAL:
                value += weight * game.returns_of(moment.position)[seat]
            elif moment.player == seat:
                alike[moment.information_state(seat)].append((moment, weight))
            else:
                group += [(moment.after(action), weight * share) for action, share in others(moment).items() if share]
        for same in alike.values():
            actions = same[0][0].position.legal_actions()
            value += max(best([(moment.after(action), weight) for moment, weight in same]) for action in actions)
        return value

    return best([(game.first, 1.0)])


def test_exploitability_is_that_of_a_slow_computation_and_of_openspiel(tiny: SiberiaGame) -> None:
    tree = solve.Tree.of(tiny)
    gain = tree.gain(tree.policy_of(make_agent("random")))
    slow = sum(slow_best_response(tiny, seat, uniform) for seat in range(2)) / 4
    assert gain == pytest.approx(slow)
    assert gain == pytest.approx(exploitability.nash_conv(tiny, policies.UniformRandomPolicy(tiny)) / 4)
    assert gain > 0.1


def test_the_gain_against_a_plan_is_exact_too(tiny: SiberiaGame) -> None:
    greedy = make_agent("greedy")
    greedy.start(tiny.variant)
    tree = solve.Tree.of(tiny)
    slow = sum(
        slow_best_response(tiny, seat, lambda moment: {greedy.act(moment.position.view()): 1.0}) for seat in range(2)
    )
    assert tree.gain(tree.policy_of(greedy)) == pytest.approx(slow / 4)


def test_exploitability_falls_under_cfr_plus(tiny: SiberiaGame) -> None:
    """In OpenSpiel's Python on the game itself, and in its compiled code on the tree."""
    solver = cfr.CFRPlusSolver(tiny)
    solver.evaluate_and_update_policy()
    own = exploitability.nash_conv(tiny, solver.average_policy()) / 4
    curve = solve.solve(solve.Tree.of(tiny), 32).curve
    assert [iteration for iteration, _ in curve] == [1, 2, 4, 8, 16, 32]
    gains = [gain for _, gain in curve]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < gains[0] / 50
    assert own == pytest.approx(gains[0])


def test_the_solution_plays_as_an_agent_as_it_was_measured(tiny: SiberiaGame, tmp_path: Path) -> None:
    tree = solve.Tree.of(tiny)
    solution = solve.solve(tree, 16)
    write_policy(tmp_path / "policy.json", solve.table_of(tree, solution.policy))
    agent = PolicyAgent(str(tmp_path / "policy.json"))
    assert tree.gain(tree.policy_of(agent)) == pytest.approx(solution.curve[-1][1])
    random = np.random.default_rng(1)
    for seed in range(20):  # the suite's own games, whose cards have other numbers
        position = Position(tiny.variant, seed)
        while not position.is_terminal():
            actions, shares = agent.row(position.view())
            assert actions == position.legal_actions()
            assert agent.is_known(position.view())
            position.apply_action(int(random.choice(actions, p=shares)))


def test_the_command_writes_all_that_it_found(
    tiny: SiberiaGame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A training of some decisions finds less than there is, within its interval."""
    small = {"num_envs": 16, "rollout": 64, "batch_size": 32, "network": (8,), "overlap": False}
    monkeypatch.setattr(solve, "TRAINING", small)
    monkeypatch.setattr(solve, "VICTIMS", ("random",))
    out = tmp_path / "run"
    words = ["--out", str(out), "--iterations", "8", "--decisions", "200", "--games", "40"]
    assert solve.main(words) == 0
    report = json.loads((out / "solve.json").read_text(encoding="utf-8"))
    assert report["format"] == "siberia-solve/1"
    assert [iteration for iteration, _ in report["exploitability"]] == [1, 2, 4, 8]
    assert set(report["victims"]) == {"random", "solved"}
    for measured in report["victims"].values():
        assert measured["low"] <= measured["exact"]
    assert (out / "exploitability.png").read_bytes().startswith(b"\x89PNG")
    assert solve.small_components().as_json() == json.loads((out / "components.json").read_text(encoding="utf-8"))
    shown = capsys.readouterr().out
    assert "against random: a best response gains " in shown
    assert "siberia exploit found" in shown
    assert "after 8 iterations: exploitability " in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--iterations", "0"], "solve: iterations: 0; it has to be 1 or more"),
        (["--decisions", "-1"], "solve: decisions: -1; it has to be 0 or more"),
        (["--games", "0"], "solve: games: 0; it has to be 1 or more"),
    ],
)
def test_bad_options_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert solve.main([*words, "--out", str(tmp_path / "run")]) == 2
    captured: Any = capsys.readouterr()
    assert captured.err.strip() == message
    assert not (tmp_path / "run").exists()


def test_a_game_that_is_too_large_is_refused(
    tiny: SiberiaGame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solve, "MOST_NODES", 50)
    assert solve.main(["--out", str(tmp_path / "run")]) == 2
    assert "solve: the game has more than 50 nodes" in capsys.readouterr().err
