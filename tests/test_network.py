"""The compiled networks give what the saved model gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from siberia_agents import network
from siberia_agents.learned import Layers, forward
from siberia_env.core.jit import kernel
from siberia_env.game import GAMES
from tests.test_agents import positions, small_model

BLOCK = network.BLOCK


def run(layers: Layers, inputs: NDArray[np.float32], together: int = 4) -> NDArray[np.float32]:
    """The compiled network's outputs for each row of `inputs`, in arrays that are full of something else."""
    flat = network.flatten(layers)
    space = network.workspace(flat, together)
    outputs = []
    for start in range(0, len(inputs), together):
        rows = inputs[start : start + together]
        space.units[:], space.values[:], space.active[:] = np.nan, np.nan, -1
        space.units[: len(rows), : inputs.shape[1]] = rows
        network.forward(flat, space, len(rows))
        assert np.isnan(space.units[len(rows) :]).all()  # other rows are left alone
        outputs.append(space.units[: len(rows), : flat.widths[-1]].copy())
    return np.concatenate(outputs)


def random_layers(widths: tuple[int, ...], seed: int = 0) -> Layers:
    """A network with random numbers."""
    random = np.random.default_rng(seed)
    return [
        (random.normal(size=(inputs, outputs)).astype(np.float32), random.normal(size=outputs).astype(np.float32))
        for inputs, outputs in pairwise(widths)
    ]


SHAPES = [(5, 3), (1, 1), (7, 4, 2), (3, 9, 1), (6, 5, 8, 3), (9, 1, 1, 4), (40, 33, 64, 31), (2, 70, 32)]


@pytest.mark.parametrize("together", [1, 3, 8])
@pytest.mark.parametrize("widths", SHAPES)
def test_any_shape_gives_what_the_layers_give(widths: tuple[int, ...], together: int) -> None:
    layers = random_layers(widths, seed=len(widths))
    inputs = np.random.default_rng(1).normal(size=(40, widths[0])).astype(np.float32)
    inputs[np.random.default_rng(2).random(inputs.shape) < 0.5] = 0
    inputs[0], inputs[1] = 0, 1
    assert run(layers, inputs, together) == pytest.approx(forward(layers, inputs), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("active", range(10))
def test_any_number_of_inputs_that_are_not_zero_counts(active: int) -> None:
    """They are added to two sums in turn."""
    layers = random_layers((9, 6))
    inputs = np.zeros((1, 9), np.float32)
    inputs[0, np.random.default_rng(active).permutation(9)[:active]] = 1.5
    assert run(layers, inputs)[0] == pytest.approx(forward(layers, inputs)[0], rel=1e-4, abs=1e-4)


@kernel
def active_in(units: NDArray[np.float32], start: int, rectified: int) -> int:
    return network.active_units(units, start, rectified, BLOCK)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 5),
    st.lists(
        st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e-45, np.inf, -np.inf, np.nan]),
        min_size=network.BLOCK + 5,
        max_size=network.BLOCK + 5,
    ),
)
def test_units_that_are_not_zero_are_active(start: int, units: list[float]) -> None:
    """Negative ones only in the first layer; what is no number makes the outputs none."""
    row = np.array(units, np.float32)
    here = row[start : start + network.BLOCK]
    for rectified, active in ((0, here != 0), (1, ~(here <= 0))):
        bits = active_in(row, start, rectified)
        assert [lane for lane in range(network.BLOCK) if bits >> lane & 1] == np.flatnonzero(active).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_weights_begin_with_a_line_of_the_cache(seed: int) -> None:
    flat = network.flatten(random_layers((3 + seed, 40, 2), seed))
    assert flat.numbers.ctypes.data % network.LINE == 0


def test_a_row_gives_the_same_whatever_runs_beside_it() -> None:
    """To the last bit: else a search would depend on what it looks at together."""
    layers = random_layers((40, 50, 20))
    inputs = np.random.default_rng(3).normal(size=(24, 40)).astype(np.float32)
    alone = run(layers, inputs, 1)
    for together in (2, 7, 24):
        assert np.array_equal(run(layers, inputs, together), alone)


def test_the_numbers_lie_layer_by_layer_in_blocks_of_outputs() -> None:
    (weight, bias), (last_weight, last_bias) = layers = random_layers((4, network.BLOCK + 3, 2))
    numbers, widths = network.flatten(layers)
    assert widths.tolist() == [4, network.BLOCK + 3, 2]
    assert numbers.dtype == np.float32
    size = network.BLOCK
    expected = np.zeros(2 * size + 4 * 2 * size + size + (size + 3) * size, np.float32)
    expected[: size + 3] = bias
    blocks = expected[2 * size : 10 * size].reshape(2, 4, size)
    blocks[0], blocks[1, :, :3] = weight[:, :size], weight[:, size:]
    expected[10 * size : 10 * size + 2] = last_bias
    expected[11 * size :].reshape(size + 3, size)[:, :2] = last_weight
    assert np.array_equal(numbers, expected)


@pytest.mark.parametrize("game", GAMES)
def test_what_is_said_of_real_positions_is_what_the_model_says(game: str) -> None:
    _, step = positions(game, 3)
    model = small_model(3, seed=4, game=game)
    outputs = run(model.layers, step.observation)
    assert outputs[:, model.head("policy")] == pytest.approx(model.logits(step.observation), rel=1e-4, abs=1e-3)
    assert outputs[:, model.head("margins")] == pytest.approx(model.margins(step.observation), rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("game", GAMES)
def test_huge_weights_give_what_the_model_gives_or_no_number(game: str) -> None:
    _, step = positions(game, 2)
    layers = [(weight * np.float32(1e20), bias) for weight, bias in small_model(game=game).layers]
    assert not np.isfinite(run(layers, step.observation)).all()
