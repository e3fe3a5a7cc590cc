"""The tuner of the plans' constants, and the plan with other constants."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from siberia_agents import tunable
from siberia_agents.tunable import MODULES, NEVER, Constant, TunablePlan, Tuned, constants_of, read_constants
from siberia_env.errors import ConfigurationError
from siberia_env.game import find_game
from siberia_experiments.cli import main
from siberia_experiments.training import tune
from siberia_experiments.training.tune import TuneOptions, Tuning
from tests.processes import run_python

SAME_CHOICES = """
import numpy as np
from siberia_agents.heuristic import heuristic_at
from siberia_agents.tunable import TunablePlan
from siberia_env import vector
for game, players in (("card", 3), ("board", 2)):
    plan, games = TunablePlan(game), vector.make(game, num_envs=1, num_players=players, seed=4)
    step, random, chosen, changed = games.reset(), np.random.default_rng(1), 0, 0
    other = 2 * plan.start + 0.7
    for _ in range(150):
        actions, others = np.zeros(1, np.int64), np.zeros(1, np.int64)
        if step.num_legal[0] > 1:
            plan.batch(plan.start, games.variant.rulesets, games.states, step.mask, actions)
            plan.batch(other, games.variant.rulesets, games.states, step.mask, others)
            assert actions[0] == heuristic_at(games.variant.rulesets, games.states, 0, step.mask[0])
            chosen, changed = chosen + 1, changed + (actions[0] != others[0])
        step = games.step(np.array([random.choice(np.flatnonzero(step.mask[0]))]))
    assert chosen > 40 and changed > 2, (game, chosen, changed)
print("same")
"""


def test_with_the_suites_constants_it_chooses_as_the_plan_does() -> None:
    """In plain Python, so that nothing is compiled; with other constants it chooses otherwise."""
    assert run_python("-c", SAME_CHOICES, NUMBA_DISABLE_JIT="1").stdout.split() == ["same"]


@pytest.mark.parametrize("game", MODULES)
def test_every_constant_with_a_fraction_can_be_tuned(game: str) -> None:
    found = constants_of(MODULES[game])
    names = [constant.name for constant in found]
    numbers = [name for name, value in vars(MODULES[game]).items() if name.isupper() and isinstance(value, float)]
    assert set(numbers) <= {*names, *(name for name in numbers if abs(getattr(MODULES[game], name)) >= NEVER)}
    assert [constant.start for constant in found] == np.cumsum([0, *(len(one.values) for one in found[:-1])]).tolist()
    assert all(len(constant.values) in (1, 3) for constant in found)


# ---------------------------------------------------------------- tuning, with a plan that needs no compiling


class FakePlan:
    """Takes the first legal action, or the last where its constant is more than 1."""

    constants = (Constant("NEAR", 0, (0.2,)), Constant("IDLE", 1, (1.0, 2.0, 3.0)))
    start = np.array([0.2, 1.0, 2.0, 3.0])
    used_by = TunablePlan.used_by
    as_json = TunablePlan.as_json

    def batch(self, weights: Any, rulesets: Any, states: Any, mask: Any, actions: Any) -> None:
        actions[:] = mask.argmax(axis=1) if weights[0] <= 1 else mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakePlan:
    plan = FakePlan()
    for module in (tunable, tune):
        monkeypatch.setattr(module, "tunable_plan", lambda game: plan)
    return plan


def test_the_tuner_finds_the_constants_that_win(fake: FakePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tuning, "result", lambda self, weights, seed: -abs(weights[0] - 0.3) - abs(weights[2] - 2.2))
    tuning = Tuning(TuneOptions("card", 3, generations=60, opponents=("random",), seed=2))
    generations = list(tuning.run())
    assert generations[-1].part == 1.0
    assert generations[-1].best > generations[0].best
    assert abs(tuning.tuned[0] - 0.3) < 0.02
    assert abs(tuning.tuned[2] - 2.2) < 0.05
    assert tuning.tuned[[1, 3]].tolist() == [1.0, 3.0]  # other player counts' stay as they are


def test_candidates_play_common_deals_and_the_same_seed_finds_the_same(fake: FakePlan) -> None:
    def found() -> list[float]:
        options = TuneOptions("card", generations=3, population=4, games=4, opponents=("random",), spread=3.0, seed=3)
        tuning = Tuning(options)
        results = [tuning.result(tuning.weights([deviation, 0.5]), 11) for deviation in (0.0, 0.5, 6.0)]
        assert results[0] == results[1] != results[2]
        assert [generation.number for generation in tuning.run()] == [1, 2, 3]
        return tuning.tuned.tolist()

    assert found() == found()


def test_a_run_of_the_command_leaves_constants_that_play(
    fake: FakePlan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tune"
    arguments = "tune card --generations 2 --population 4 --games 4 --last-games 8 --opponents random --out"
    assert main([*arguments.split(), str(out)]) == 0
    told = capsys.readouterr().out
    assert "against random: " in told
    assert "against heuristic: " in told
    game, weights = read_constants(out / "constants.json")
    assert game == "card"
    assert weights.shape == (4,)
    assert weights[2:].tolist() == [2.0, 3.0]
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["generations"] == 2
    assert set(report["win_rates"]) == {"random", "heuristic"}
    Tuned(str(out / "constants.json")).start(find_game("card").variant(2))
    with pytest.raises(ConfigurationError, match="of the card game, not of the board game"):
        Tuned(str(out / "constants.json")).start(find_game("board").variant(2))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a file of the format"),
        ('{"format": "siberia-constants/1", "game": "card", "constants": []}', "is not a file of the format"),
        ('{"format": "siberia-constants/1", "game": "card", "constants": {"FAR": 1}}', "there is no 'FAR'"),
        ('{"format": "siberia-constants/1", "game": "card", "constants": {"NEAR": [1, 2]}}', "not a number below 1000"),
        ('{"format": "siberia-constants/1", "game": "card", "constants": {"NEAR": NaN}}', "not a number below 1000"),
        ('{"format": "siberia-constants/1", "game": "card", "constants": {"NEAR": true}}', "not a number below 1000"),
        ('{"format": "siberia-constants/1", "game": "card", "constants": {"IDLE": 1}}', "not a list of 3 numbers"),
    ],
)
def test_a_file_that_holds_no_constants_is_refused(fake: FakePlan, tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "constants.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=fault):
        read_constants(file)
    with pytest.raises(ConfigurationError, match="can't read"):
        read_constants(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("tune card --minutes 0", "minutes: 0"),
        ("tune card --minutes 1 --generations 3", "one budget"),
        ("tune card --games 0 --generations 1", "games: 0"),
        ("tune card --population 2 --generations 1", "population: 2"),
        ("tune card --opponents nobody --generations 1", "nobody"),
        ("tune lamps --generations 1", "lamps"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(
    arguments: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments.split(), "--out", str(tmp_path / "tune")]) == 2
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "tune").exists()
