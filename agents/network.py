"""The networks of a trained model in compiled code. They take one observation at a time, as a search needs it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from siberia_agents.learned import Layers
from siberia_env.core.jit import kernel

TOGETHER = 4  #: number of inputs whose weights are added in one pass, so that the sums are read and written only once


def flatten(layers: Layers) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Put all numbers of a network into one array for `forward`: for each layer the weights, row by row, then the bias.

    Returns:
        The numbers, float32, and the widths of inputs, hidden layers and outputs, int64 [layers + 1].
    """
    widths = [layers[0][0].shape[0], *(weight.shape[1] for weight, _ in layers)]
    numbers = [part.ravel() for layer in layers for part in layer]
    return np.concatenate(numbers).astype(np.float32), np.array(widths, np.int64)


@kernel
def forward(numbers: Any, widths: Any, units: Any, active: Any) -> int:
    """Run a network with rectified hidden layers on one input.

    Args:
        numbers: float32, from `flatten`.
        widths: int64 [layers + 1], from `flatten`.
        units: float32 [2, W] with the input in row 0; W is at least the largest width. Overwritten.
        active: int32 [W] for the numbers of the inputs that are not zero. Overwritten. Most of an observation and half
            of the hidden units are zero, so their weights need not be read.

    Returns:
        The row of `units` that holds the outputs.
    """
    row, start = 0, 0
    layers = widths.shape[0] - 1
    for layer in range(layers):
        inputs, outputs = widths[layer], widths[layer + 1]
        source, target = units[row], units[1 - row]
        count = 0
        for number in range(inputs):
            active[count] = number
            count += source[number] != 0.0
        bias = start + inputs * outputs
        for unit in range(outputs):
            target[unit] = numbers[bias + unit]
        whole = count - count % TOGETHER
        for index in range(0, whole, TOGETHER):
            a, b, c, d = active[index], active[index + 1], active[index + 2], active[index + 3]
            x, y, z, w = source[a], source[b], source[c], source[d]
            rows_a, rows_b = numbers[start + a * outputs :], numbers[start + b * outputs :]
            rows_c, rows_d = numbers[start + c * outputs :], numbers[start + d * outputs :]
            for unit in range(outputs):
                target[unit] += x * rows_a[unit] + y * rows_b[unit] + z * rows_c[unit] + w * rows_d[unit]
        for index in range(whole, count):
            a = active[index]
            x = source[a]
            rows_a = numbers[start + a * outputs :]
            for unit in range(outputs):
                target[unit] += x * rows_a[unit]
        if layer < layers - 1:
            for unit in range(outputs):
                target[unit] = max(target[unit], np.float32(0))
        start = bias + outputs
        row = 1 - row
    return row
