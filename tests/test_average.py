"""The mean of models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from siberia_env.errors import ConfigurationError, ModelError
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


@pytest.mark.parametrize("weights", [[], [1], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")], [1, 1, 1]])
def test_weights_that_give_no_mean_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="one above 0 for each"):
        average([small_model(seed=1), small_model(seed=2)], weights)


def test_models_that_are_not_alike_are_refused() -> None:
    model = small_model(seed=1)
    for other in (small_model(3), small_model(game="board"), replace(model, heads={**model.heads, "turns": 2})):
        with pytest.raises(ModelError, match="differ in game, player counts, heads or layers"):
            average([model, other], [1, 1])
