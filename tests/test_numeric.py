"""`exp` and `log` give the same bits everywhere, and hardly differ from those of the platform."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from siberia_agents.search.agent import logarithms
from siberia_env.core import numeric
from tests.processes import run_python

#: Exponents and the results, to the last bit. Some lie where searches ask, some at the ends of what a float can hold.
EXP_VECTORS = {
    "-0x1.7480000000000p+9": "0x0.0000000000001p-1022",
    "-0x1.6300000000000p+9": "0x0.33802fd28b3c3p-1022",
    "-0x1.1400000000000p+6": "0x1.5eafffb34ba31p-100",
    "-0x1.a666666666666p+1": "0x1.2e259bb85be85p-5",
    "-0x1.0000000000000p-1": "0x1.368b2fc6f960ap-1",
    "-0x1.0000000000000p-60": "0x1.0000000000000p+0",
    "0x0.0p+0": "0x1.0000000000000p+0",
    "0x1.999999999999ap-4": "0x1.1aec7b35a00d4p+0",
    "0x1.0000000000000p+0": "0x1.5bf0a8b14576ap+1",
    "0x1.b333333333333p+0": "0x1.5e552770df8a6p+2",
    "0x1.df33333333333p+5": "0x1.55e68ab118dcep+86",
    "0x1.62e42fefa39efp+9": "0x1.fffffffffff2ap+1023",
}

#: A digest of `exp` of 4096 numbers, and one of the table of 65536 logarithms.
EXP_DIGEST = "7545aaf6b9d354b8"
LOG_DIGEST = "f041ab77216c42e3"

DIGESTS = "from tests.test_numeric import digests; print(*digests(200))"


def digests(count: int) -> tuple[str, str]:
    """A digest of `exp` of `count` numbers that any platform makes in the same way, and one of as many logarithms."""
    values = [numeric.exp((k - count * 3 // 4) * 128.0 / count + 0.7 / (k + 1)) for k in range(count)]
    table = np.zeros(count, np.float32)
    numeric.fill_logarithms(table)
    found = (hashlib.sha256(array.tobytes()).hexdigest()[:16] for array in (np.array(values), table))
    return next(found), next(found)


@pytest.mark.parametrize("exponent", EXP_VECTORS)
def test_exp_gives_the_bits_of_the_test_vectors(exponent: str) -> None:
    assert numeric.exp(float.fromhex(exponent)).hex() == EXP_VECTORS[exponent]


def test_many_numbers_have_the_digests_that_are_kept() -> None:
    assert digests(4096)[0] == EXP_DIGEST
    assert hashlib.sha256(logarithms(1 << 16).tobytes()).hexdigest()[:16] == LOG_DIGEST


def test_plain_python_gives_the_same_bits() -> None:
    assert tuple(run_python("-c", DIGESTS, NUMBA_DISABLE_JIT="1").stdout.split()) == digests(200)


def units_off(found: float, expected: float) -> float:
    """How many units in the last place two numbers are apart."""
    return abs(found - expected) / math.ulp(expected)


@given(st.floats(-745, 709.7))
def test_exp_is_within_a_unit_of_the_last_place_of_the_platforms(x: float) -> None:
    assert units_off(numeric.exp(x), math.exp(x)) <= 1


@given(st.floats(1, 1e9))
def test_log_is_within_two_units_of_the_last_place_of_the_platforms(x: float) -> None:
    assert abs(numeric.log(x) - math.log(x)) <= max(2 * math.ulp(math.log(x)), 2.0**-53)


def test_the_table_of_logarithms_is_rounded_as_the_platforms_is() -> None:
    numbers = np.maximum(np.arange(1 << 16), 1)
    assert np.array_equal(logarithms(1 << 16), np.log(numbers).astype(np.float32))


@pytest.mark.parametrize(
    ("x", "expected"), [(math.inf, math.inf), (710.0, math.inf), (-math.inf, 0.0), (-746.0, 0.0), (-1e300, 0.0)]
)
def test_beyond_what_a_float_can_hold_exp_is_infinite_or_0(x: float, expected: float) -> None:
    assert numeric.exp(x) == expected


def test_what_is_not_a_number_stays_so() -> None:
    assert math.isnan(numeric.exp(math.nan))
