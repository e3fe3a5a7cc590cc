"""The mean of models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from siberia_agents.learned import load_model
from siberia_env.errors import ConfigurationError, ModelError
from siberia_experiments.cli import main
from siberia_experiments.training.average import average
from tests.test_agents import small_model


def test_every_number_is_the_weighted_mean() -> None:
    one, other = (replace(small_model(seed=seed), trained={"options": {"seed": seed}}) for seed in (1, 2))
    mean = average([one, other], [1, 3])
    for (weight, bias), (a, b), (c, d) in zip(mean.layers, one.layers, other.layers, strict=True):
        np.testing.assert_allclose(weight, 0.25 * a + 0.75 * c, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(bias, 0.25 * b + 0.75 * d, rtol=1e-5, atol=1e-7)
        assert weight.dtype == bias.dtype == np.float32
    assert mean.trained["averaged"] == [{"seed": 1, "weight": 0.25}, {"seed": 2, "weight": 0.75}]
    assert (mean.game, mean.num_players, mean.heads) == (one.game, one.num_players, one.heads)


def test_the_mean_of_one_model_is_that_model() -> None:
    model = small_model(seed=3)
    for (weight, bias), (same, too) in zip(average([model], [5]).layers, model.layers, strict=True):
        assert np.array_equal(weight, same)
        assert np.array_equal(bias, too)


def test_large_weights_count_as_small_ones_do() -> None:
    models = [small_model(seed=1), small_model(seed=2)]
    large, small = average(models, [1e308, 1e308]), average(models, [1, 1])
    assert np.array_equal(large.layers[0][0], small.layers[0][0])


@pytest.mark.parametrize("weights", [[], [1], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")], [1, 1, 1]])
def test_weights_that_give_no_mean_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="one above 0 for each"):
        average([small_model(seed=1), small_model(seed=2)], weights)


def test_models_that_are_not_alike_are_refused() -> None:
    model = small_model(seed=1)
    for other in (small_model(3), small_model(game="board"), replace(model, heads={**model.heads, "turns": 2})):
        with pytest.raises(ModelError, match="differ in game, player counts, heads or layers"):
            average([model, other], [1, 1])


def test_the_mean_of_a_mean_tells_of_every_run() -> None:
    models = [replace(small_model(seed=seed), trained={"options": {"seed": seed}}) for seed in (1, 2, 3)]
    mean = average([average(models[:2], [1, 3]), models[2], models[0]], [2, 1, 1])
    assert mean.trained["averaged"] == [
        {"seed": 1, "weight": 0.375},
        {"seed": 2, "weight": 0.375},
        {"seed": 3, "weight": 0.25},
    ]


def test_the_command_writes_the_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = [small_model(seed=1), small_model(seed=2)]
    for name, model in zip(("one.npz", "a=b.npz"), models, strict=True):
        model.save(tmp_path / name)
    line = ["average", f"{tmp_path}/one.npz=1", f"{tmp_path}/a=b.npz=3", "--out", f"{tmp_path}/mean.npz"]
    assert main(line) == 0
    assert "the mean of 2 models, for the agent learned:" in capsys.readouterr().out
    expected = average(models, [1, 3])
    for (weight, bias), (same, too) in zip(load_model(tmp_path / "mean.npz").layers, expected.layers, strict=True):
        assert np.array_equal(weight, same)
        assert np.array_equal(bias, too)
    assert main([*line, "--half"]) == 0
    assert load_model(tmp_path / "mean.npz").layers[0][0] == pytest.approx(expected.layers[0][0], rel=1e-3, abs=1e-3)
    assert main(["average", f"{tmp_path}/one.npz", "--out", f"{tmp_path}/mean.npz"]) == 0  # a weight of 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("one.npz=0 one.npz --out mean.npz", "'one.npz=0'; name a model, or MODEL=WEIGHT with a weight above 0"),
        ("one.npz=much --out mean.npz", "'one.npz=much'; name a model"),
        ("one.npz=nan --out mean.npz", "'one.npz=nan'"),
        ("=1 --out mean.npz", "'=1'"),
        ("none.npz=1 --out mean.npz", "none.npz"),
        ("one.npz board.npz --out mean.npz", "differ in game"),
        ("one.npz --out mean.zip", "--out: mean.zip; the name of a model file ends with .npz"),
    ],
)
def test_a_mean_that_can_not_be_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    small_model().save(Path("one.npz"))
    small_model(game="board").save(Path("board.npz"))
    assert main(["average", *arguments.split()]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.npz", "one.npz"]
