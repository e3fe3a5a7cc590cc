"""The network of a trained model in compiled code. It takes a few observations at a time, as a search needs it.

Most of an observation and half of the hidden units are zero, so their weights need not be read. The weights of
`BLOCK` outputs lie together. While one block after the other stays in the fastest memory, every row runs through it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

from siberia_agents.learned import Layers
from siberia_env.core.jit import borrowed, kernel, kernel_part, stack_array
from siberia_env.core.simd import Call, bit_count, vector_form

BLOCK = 32  #: outputs whose weights lie together
MOST_ROWS = 64  #: that run at the same time
LINE = 64  #: bytes in a line of the cache


class Network(NamedTuple):
    """A network's numbers, as `flatten` lays them out."""

    numbers: Any  #: float32: for each layer the biases, then for each block of outputs the weights, input by input
    widths: Any  #: int64 [layers + 1]: of the inputs, the hidden layers and the outputs


class Workspace(NamedTuple):
    """The arrays in which `forward` runs a network on up to B rows. W is the largest width, up to a whole block."""

    units: Any  #: float32 [B, W]; the caller writes the inputs here, and finds the outputs
    active: Any  #: int32 [B, W]: the numbers of the inputs that are not zero
    values: Any  #: float32 [B, W]: what these inputs are


def padded(width: int) -> int:
    """The width up to a whole block."""
    return -(-width // BLOCK) * BLOCK


def flatten(layers: Layers) -> Network:
    """Put all numbers of a network into one array for `forward`."""
    widths = [layers[0][0].shape[0], *(weight.shape[1] for weight, _ in layers)]
    numbers = []
    for weight, bias in layers:
        more = padded(len(bias)) - len(bias)
        blocks = np.pad(weight, ((0, 0), (0, more))).reshape(len(weight), -1, BLOCK).transpose(1, 0, 2)
        numbers += [np.pad(bias, (0, more)), blocks.ravel()]
    return Network(aligned(np.concatenate(numbers)), np.array(widths, np.int64))


def aligned(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """A copy that begins with a line of the cache, as then each block does: vectors across two lines take longer."""
    room = np.zeros(len(numbers) + LINE // 4, np.float32)
    first = -room.ctypes.data % LINE // 4
    copy = room[first : first + len(numbers)]
    copy[:] = numbers
    return copy


def workspace(network: Network, rows: int) -> Workspace:
    """New arrays in which `network` can run on up to `rows` rows."""
    shape = (rows, padded(int(network.widths.max())) + 1)
    return Workspace(np.zeros(shape, np.float32), np.zeros(shape, np.int32), np.zeros(shape, np.float32))


@kernel_part
def borrowed_network(network: Any) -> Any:
    """The same `Network` with each array `borrowed`."""
    return Network(borrowed(network.numbers), borrowed(network.widths))


@kernel_part
def borrowed_workspace(space: Any) -> Any:
    """The same `Workspace` with each array `borrowed`."""
    return Workspace(borrowed(space.units), borrowed(space.active), borrowed(space.values))


def _active(call: Call) -> Any:
    builder, numbers = call.builder, call.read(0, 1)
    zero = ir.Constant(numbers.type, None)
    positive, other = (builder.fcmp_unordered(order, numbers, zero) for order in (">", "!="))
    rectified = builder.icmp_signed("!=", call.values[2], ir.IntType(64)(0))
    bits = builder.bitcast(builder.select(rectified, positive, other), ir.IntType(call.width))
    return builder.zext(bits, ir.IntType(64))


@vector_form(_active)
def active_units(units: Any, start: int, rectified: int, width: int) -> int:
    """Which of `width` (a constant below 64) `units` from `start` on are not zero, as bits. What is no number counts.

    With `rectified` (0 or 1) negative ones are zero.
    """
    bits = 0
    for lane in range(width):
        unit = units[start + lane]
        active = not unit <= 0 if rectified else unit != 0
        bits |= active << lane
    return bits


def _add_weights(call: Call) -> None:
    builder, many = call.builder, call.vector_of(0)
    numbers, active, values = (
        make_array(call.types[array])(call.context, builder, call.values[array]).data for array in (2, 5, 6)
    )
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), call.width), None)
    undefined, first, one, two = (
        ir.Constant(many, ir.Undefined),
        ir.IntType(32)(0),
        ir.IntType(64)(1),
        ir.IntType(64)(2),
    )
    sums = [cgutils.alloca_once_value(builder, part) for part in (call.read(2, 3), ir.Constant(many, None))]

    def add(place: Any, total: Any) -> None:
        unit = builder.zext(builder.load(builder.gep(active, [place])), ir.IntType(64))
        start = builder.add(call.values[4], builder.mul(unit, ir.IntType(64)(call.width)))
        row = builder.load(builder.bitcast(builder.gep(numbers, [start]), many.as_pointer()), align=4)
        value = builder.insert_element(undefined, builder.load(builder.gep(values, [place])), first)
        product = builder.fmul(builder.shuffle_vector(value, undefined, everywhere), row)
        builder.store(builder.fadd(builder.load(total), product), total)

    count = call.values[7]
    with cgutils.for_range(builder, builder.lshr(count, one)) as pair:
        place = builder.mul(pair.index, two)
        add(place, sums[0])
        add(builder.add(place, one), sums[1])
    with builder.if_then(builder.trunc(count, ir.IntType(1))):
        add(builder.sub(count, one), sums[0])
    call.write(builder.fadd(builder.load(sums[0]), builder.load(sums[1])), 0, 1)


@vector_form(_add_weights)
def add_weights(
    target: Any, to: int, numbers: Any, bias: int, weights: int, active: Any, values: Any, count: int, width: int
) -> None:
    """Write `width` (a constant) outputs into `target` from `to` on, of a row of which `count` inputs are not zero.

    Their biases and weights stand in `numbers`, from `bias` and from `weights` on. There are two sums, one of every
    other input, so that an addition need not wait for the one before. A product is rounded before it is added: what
    multiplies and adds in one instruction is not there on every platform.
    """
    for lane in range(width):
        even, odd = numbers[bias + lane], np.float32(0)
        for place in range(count):
            product = values[place] * numbers[weights + active[place] * width + lane]
            if place % 2 == 0:
                even += product
            else:
                odd += product
        target[to + lane] = even + odd


@kernel
def forward(network: Any, space: Any, rows: int) -> None:
    """Run a `Network` with rectified hidden layers on the first `rows` inputs in `space.units`.

    The outputs take the place of the inputs. All arrays of the `Workspace` are overwritten.
    """
    numbers, widths = network.numbers, network.widths
    units, active, values = space.units, space.active, space.values
    counts = stack_array(MOST_ROWS, np.int64)
    start = 0
    for layer in range(widths.shape[0] - 1):
        inputs, outputs = int(widths[layer]), int(widths[layer + 1])
        for row in range(rows):
            source, places, amounts = units[row], active[row], values[row]
            count = 0
            for first in range(0, inputs, BLOCK):
                left = active_units(source, first, int(layer > 0), BLOCK)
                left &= (1 << min(BLOCK, inputs - first)) - 1
                while left != 0:
                    unit = first + bit_count((left & -left) - 1)  # the lowest bit
                    places[count] = unit
                    amounts[count] = source[unit]
                    count += 1
                    left &= left - 1
            counts[row] = count
        weights = start + (outputs + BLOCK - 1) // BLOCK * BLOCK
        for first in range(0, outputs, BLOCK):
            for row in range(rows):
                add_weights(
                    units[row], first, numbers, start + first, weights, active[row], values[row], counts[row], BLOCK
                )
            weights += inputs * BLOCK
        start = weights
