"""`exp` and `log` in plain arithmetic, with the same bits on every platform.

The functions of a platform's library differ in the last place from one library to the next, and so would searches.
These use nothing but sums, products and quotients of 64-bit floats in a written order. Compiled code, plain Python and
WebAssembly give the same numbers; both functions are within one unit in the last place of the true value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.core.jit import kernel

LOG2_E = 1.4426950408889634  #: 1 / log(2)
LOG_2_HIGH = 0.6931471803691238  #: log(2), to so few bits that a product with a small whole number is exact
LOG_2_LOW = 1.9082149292705877e-10  #: the rest of it
HIGHEST_EXPONENT, LOWEST_EXPONENT = 709.782712893384, -745.1332191019412  #: beyond, `exp` is infinite or 0
ROOT_2 = 1.4142135623730951
BIAS, MANTISSA = 1023, 52  #: of the 64-bit format


@kernel
def power_of_two(exponent: int) -> Any:
    """2 to the power of `exponent`, which is -1022 to 1023."""
    return np.int64((np.int64(exponent) + np.int64(BIAS)) << np.int64(MANTISSA)).view(np.float64)


@kernel
def exp(x: float) -> float:
    """The exponential of `x`. What is not a number stays so."""
    if x != x:
        return x
    if x > HIGHEST_EXPONENT:
        return np.inf
    if x < LOWEST_EXPONENT:
        return 0.0
    whole = int(x * LOG2_E + (0.5 if x >= 0.0 else -0.5))
    high = x - whole * LOG_2_HIGH
    low = whole * LOG_2_LOW
    rest = high - low
    # The series of exp(rest) - 1 - rest, divided by rest squared; rest is at most log(2) / 2.
    series = 1.0 / 6227020800.0
    series = series * rest + 1.0 / 479001600.0
    series = series * rest + 1.0 / 39916800.0
    series = series * rest + 1.0 / 3628800.0
    series = series * rest + 1.0 / 362880.0
    series = series * rest + 1.0 / 40320.0
    series = series * rest + 1.0 / 5040.0
    series = series * rest + 1.0 / 720.0
    series = series * rest + 1.0 / 120.0
    series = series * rest + 1.0 / 24.0
    series = series * rest + 1.0 / 6.0
    series = series * rest + 0.5
    value = 1.0 + (high - (low - rest * rest * series))
    half = whole // 2  # one power of two alone could be out of range where the result is not
    return float(value * power_of_two(half) * power_of_two(whole - half))


@kernel
def log(x: float) -> float:
    """The natural logarithm of `x`, a number from 1 on."""
    twos = 0
    while x >= ROOT_2:
        x *= 0.5
        twos += 1
    part = (x - 1.0) / (x + 1.0)
    square = part * part
    # The series of log((1 + part) / (1 - part)) / (2 part) - 1; part is at most 0.18.
    series = 1.0 / 23.0
    series = series * square + 1.0 / 21.0
    series = series * square + 1.0 / 19.0
    series = series * square + 1.0 / 17.0
    series = series * square + 1.0 / 15.0
    series = series * square + 1.0 / 13.0
    series = series * square + 1.0 / 11.0
    series = series * square + 1.0 / 9.0
    series = series * square + 1.0 / 7.0
    series = series * square + 1.0 / 5.0
    series = series * square + 1.0 / 3.0
    series *= square
    return twos * LOG_2_HIGH + (2.0 * part + (2.0 * part * series + twos * LOG_2_LOW))


@kernel
def fill_logarithms(table: Any) -> None:
    """Write the logarithm of every number below the length of `table` (float32) into it; for 0 a 0."""
    for number in range(table.shape[0]):
        table[number] = np.float32(log(float(max(number, 1))))
