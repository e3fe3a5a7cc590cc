"""The random generator that lives inside a state: splitmix64 (Steele, Lea and Flood, 2014).

Every 64-bit value is a valid generator, so seeds can be mixed from any integers. This is the one place where
compiled code and plain Python need different source for the same arithmetic: compiled code wraps at 64 bits by
itself, and in Python a mask does it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from siberia_env.core.jit import PLAIN_PYTHON, kernel
from siberia_env.errors import ConfigurationError

MASK = 0xFFFFFFFFFFFFFFFF
INCREMENT = 0x9E3779B97F4A7C15
MULTIPLIER_1 = 0xBF58476D1CE4E5B9
MULTIPLIER_2 = 0x94D049BB133111EB

SAMPLES = 2**62  #: the stream for samples of information sets; no game uses it

if PLAIN_PYTHON:

    def scramble(value: Any) -> Any:
        """The output function of splitmix64: a bijection of 64-bit values that leaves no visible pattern."""
        z = int(value) & MASK
        z = ((z ^ (z >> 30)) * MULTIPLIER_1) & MASK
        z = ((z ^ (z >> 27)) * MULTIPLIER_2) & MASK
        return np.uint64(z ^ (z >> 31))

    def advance(value: Any) -> Any:
        """The next state of the generator."""
        return np.uint64((int(value) + INCREMENT) & MASK)

    def add(left: Any, right: Any) -> Any:
        """Sum modulo 2**64."""
        return np.uint64((int(left) + int(right)) & MASK)

    def scale(value: Any, bound: int) -> int:
        """Map 64 random bits to 0 .. bound - 1."""
        return ((int(value) >> 32) * int(bound)) >> 32

else:

    @kernel
    def scramble(value: Any) -> Any:
        """The output function of splitmix64: a bijection of 64-bit values that leaves no visible pattern."""
        z = np.uint64(value)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(MULTIPLIER_1)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(MULTIPLIER_2)
        return z ^ (z >> np.uint64(31))

    @kernel
    def advance(value: Any) -> Any:
        """The next state of the generator."""
        return np.uint64(value) + np.uint64(INCREMENT)

    @kernel
    def add(left: Any, right: Any) -> Any:
        """Sum modulo 2**64."""
        return np.uint64(left) + np.uint64(right)

    @kernel
    def scale(value: Any, bound: int) -> int:
        """Map 64 random bits to 0 .. bound - 1."""
        return np.int64(((value >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))  # type: ignore[return-value]


@kernel
def derive(seed: Any, stream: int, number: int) -> Any:
    """The generator (uint64) with this `number` in a `stream` under `seed`, far from those of all its neighbours.

    In a batch a row of games is a stream, and the number is that of the game.
    """
    value = scramble(add(seed, INCREMENT))
    value = scramble(add(value, stream))
    return scramble(add(value, number))


@kernel
def sample_stream(seed: Any) -> Any:
    """The generator for the sample under `seed` (uint64), far from those of all games, even under the same seed."""
    return derive(seed, SAMPLES, 0)


@kernel
def draw_below(state: Any, bound: int) -> int:
    """Draw a number from 0 to bound - 1 from the generator in `state`, and advance the generator.

    The draw is a 32-bit multiply-shift. No value is likelier than another by more than bound / 2**32, which is about
    one part in seventy million for a deck of 60.
    """
    state.generator = advance(state.generator)
    return scale(scramble(state.generator), bound)


@kernel
def shuffle(state: Any, stack: Any, count: int) -> None:
    """Shuffle the first `count` entries of `stack` in place (Fisher and Yates) with the generator in `state`."""
    for last in range(count - 1, 0, -1):
        other = draw_below(state, last + 1)
        entry = stack[last]
        stack[last] = stack[other]
        stack[other] = entry


def check_seed(seed: Any) -> np.uint64:
    """`seed` as the uint64 that the kernels take.

    Raises:
        ConfigurationError: it is not an integer, or not in 0 .. 2**64 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= int(seed) < 2**64:
        raise ConfigurationError(f"seed: {seed!r} is not a whole number from 0 to 2**64 - 1")
    return np.uint64(int(seed))
