"""The compiled networks give what the saved model gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from siberia_agents import network
from siberia_agents.learned import Layers, forward
from siberia_env.game import GAMES
from tests.test_agents import positions, small_model


def run(
    layers: Layers, inputs: np.ndarray[tuple[int, int], np.dtype[np.float32]]
) -> list[np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """The compiled network's outputs for each row of `inputs`, in arrays that are full of something else."""
    numbers, widths = network.flatten(layers)
    units = np.full((2, widths.max()), np.nan, np.float32)
    active = np.full(widths.max(), -1, np.int32)
    outputs = []
    for row in inputs:
        units[0, : len(row)] = row
        units[0, len(row) :] = np.nan
        outputs.append(units[network.forward(numbers, widths, units, active), : widths[-1]].copy())
    return outputs


def random_layers(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """A network with random numbers."""
    random = np.random.default_rng(seed)
    return [
        (random.normal(size=(inputs, outputs)).astype(np.float32), random.normal(size=outputs).astype(np.float32))
        for inputs, outputs in pairwise(widths)
    ]


@pytest.mark.parametrize("widths", [(5, 3), (1, 1), (7, 4, 2), (3, 9, 1), (6, 5, 8, 3), (9, 1, 1, 4)])
def test_any_shape_gives_what_the_layers_give(widths: tuple[int, ...]) -> None:
    layers = random_layers(widths, seed=len(widths))
    inputs = np.random.default_rng(1).normal(size=(40, widths[0])).astype(np.float32)
    inputs[np.random.default_rng(2).random(inputs.shape) < 0.5] = 0
    inputs[0], inputs[1] = 0, 1
    assert np.array(run(layers, inputs)) == pytest.approx(forward(layers, inputs), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("active", range(3 * network.TOGETHER + 1))
def test_any_number_of_inputs_that_are_not_zero_counts(active: int) -> None:
    """They are added several at a time, the rest one by one."""
    layers = random_layers((3 * network.TOGETHER, 6))
    inputs = np.zeros((1, 3 * network.TOGETHER), np.float32)
    inputs[0, np.random.default_rng(active).permutation(inputs.shape[1])[:active]] = 1.5
    assert run(layers, inputs)[0] == pytest.approx(forward(layers, inputs)[0], rel=1e-4, abs=1e-4)


def test_flattened_numbers_are_all_there_once() -> None:
    layers = random_layers((4, 3, 2))
    numbers, widths = network.flatten(layers)
    assert widths.tolist() == [4, 3, 2]
    assert numbers.dtype == np.float32
    (weight, bias), (last_weight, last_bias) = layers
    parts = np.split(numbers, [12, 15, 21])
    expected = (weight.ravel(), bias, last_weight.ravel(), last_bias)
    assert all(np.array_equal(part, wanted) for part, wanted in zip(parts, expected, strict=True))


@pytest.mark.parametrize("game", GAMES)
def test_logits_and_values_of_real_positions_are_the_models(game: str) -> None:
    _, step = positions(game, 3)
    model = small_model(3, seed=4, game=game)
    logits, values = run(model.policy, step.observation), run(model.value, step.observation)
    assert np.array(logits) == pytest.approx(model.logits(step.observation), rel=1e-4, abs=1e-3)
    assert np.array(values)[:, 0] == pytest.approx(model.values(step.observation), rel=1e-4, abs=1e-3)
