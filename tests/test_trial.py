"""Trials of training settings: arms, seeds, what is told, and going on after a stop."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from siberia_env.errors import ConfigurationError
from siberia_experiments.cli import main
from siberia_experiments.console import percent, points
from siberia_experiments.training import trial as trials
from siberia_experiments.training.ppo import Settings
from siberia_experiments.training.run import TrainOptions
from siberia_experiments.training.trial import BASE, Result, Trial, TrialOptions, changed, student, verdicts

SMALL = Settings(num_envs=16, rollout=256, batch_size=64, network=(8,), imitate=0, overlap=False)
BASIS = TrainOptions("card", (2,), {"max_turns": 6}, decisions=1500, settings=SMALL, threads=1, evaluation_games=4)
OPTIONS = TrialOptions(BASIS, ("epochs=2",), seeds=2, against=("random",), games=8)


def test_every_arm_is_trained_from_every_seed_and_a_stopped_trial_goes_on(tmp_path: Path) -> None:
    whole = Trial(OPTIONS, tmp_path / "whole")
    assert [len(new) for new in whole.run()] == [1, 1, 1, 1]
    assert [(one.seed, one.arm) for one in whole.results] == [(s, a) for s in (0, 1) for a in (BASE, "epochs=2")]
    assert all(one.decisions >= 1500 and one.opponent == "random" and one.players == 2 for one in whole.results)
    stopped = Trial(OPTIONS, tmp_path / "stopped")
    next(stopped.run())
    again = Trial(OPTIONS, tmp_path / "stopped")
    assert len(again.results) == 1
    assert len(list(again.run())) == 3
    assert [replace(one, seconds=0) for one in again.results] == [replace(one, seconds=0) for one in whole.results]
    assert list(Trial(OPTIONS, tmp_path / "whole").run()) == []
    with pytest.raises(ConfigurationError, match="holds a trial with other options; name another folder"):
        Trial(replace(OPTIONS, seeds=3), tmp_path / "whole")
    (tmp_path / "whole" / trials.RESULTS).write_text("arm,seed\n1,many\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"the trial in .* is damaged"):
        Trial(OPTIONS, tmp_path / "whole")


def test_an_arm_changes_settings_the_mix_players_budget_and_start() -> None:
    arm = changed(BASIS, "critic=true,alone=0.2,players=2/3/4,minutes=2.5,entropy=0.01/0.001,start_from=m.npz")
    settings = replace(SMALL, critic=True, entropy=(0.01, 0.001))
    mix = replace(BASIS.mix, alone=0.2)
    own: dict[str, Any] = {"num_players": (2, 3, 4), "minutes": 2.5, "decisions": None, "start_from": "m.npz"}
    assert arm == replace(BASIS, settings=settings, mix=mix, **own)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ((), "name at least one change"),
        (("epoch=2",), "no 'epoch' .did you mean 'epochs'"),
        (("epochs=2", "epochs=2"), "given twice"),
        (("epochs=many",), "epochs=many; it is like epochs="),
        (("epochs=0",), "epochs: 0; it has to be more than 0"),
        (("decisions=some",), "decisions=some; it has to be a number"),
        (("players=3/4",), r"none of \(2,\) is among \(3, 4\)"),
    ],
)
def test_arms_that_can_not_be_are_refused(tmp_path: Path, arms: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Trial(replace(OPTIONS, arms=arms), tmp_path / "trial")
    assert not (tmp_path / "trial").exists()


def test_gains_are_taken_seed_by_seed_with_students_interval() -> None:
    rates = {("a", 0): 0.5, ("a", 1): 0.6, ("a", 2): 0.4, ("b", 0): 0.55, ("b", 1): 0.66, ("b", 2): 0.46, ("b", 3): 1.0}
    told = verdicts([Result(arm, seed, 2, "greedy", rate, 100, 1.0) for (arm, seed), rate in rates.items()])
    assert [one.arm for one in told] == ["a", "b"]
    assert told[0].gain is None
    gain = told[1].gain
    assert gain is not None
    # Differences 0.05, 0.06, 0.06; Student's quantile for two degrees of freedom is 4.30265.
    half = 4.30265 * 0.0057735 / 3**0.5
    assert gain.value == pytest.approx(0.17 / 3)
    assert (gain.low, gain.high) == pytest.approx((gain.value - half, gain.value + half), abs=1e-6)
    assert told[1].rate.value == pytest.approx(0.6675)


def test_one_seed_has_no_interval() -> None:
    alone = student([0.3])
    assert (alone.value, alone.low, alone.high) == (0.3, -math.inf, math.inf)
    assert (percent(alone), points(alone)) == ("30.0%", "+30.0")


def test_the_command_tells_what_each_arm_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = "num_envs=16,rollout=256,batch_size=64,network=8,imitate=0,overlap=false"
    line = f"trial card --rules max_turns=6 --decisions 600 --threads 1 --seeds 1 --games 4 --settings {small}"
    folder = tmp_path / "trial"
    assert main([*line.split(), "--arm", "epochs=2", "--against", "random", "--out", str(folder)]) == 0
    told = capsys.readouterr().out
    for part in ("epochs=2", BASE, str(folder / "trial.csv")):
        assert part in told
    assert main([*line.split(), "--arm", "epochs=two", "--out", str(folder)]) == 2
    assert "it is like epochs=" in capsys.readouterr().err
