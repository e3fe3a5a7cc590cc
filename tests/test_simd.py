"""Rows as vectors do what a loop over their numbers does, at any width and place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError
from numpy.typing import NDArray

from siberia_env.core import simd
from siberia_env.core.jit import kernel

NARROW, WIDE = 5, 17  # a part of a vector; a vector and one more
AREAS = 16
SIZE = 40


@kernel
def copied(target: Any, start: int, narrow: Any, wide: Any) -> None:
    simd.copy_row(target, start, narrow, NARROW)
    simd.copy_row(target, start + NARROW, wide, WIDE)


@kernel
def cut(target: Any, start: int, limits: Any) -> None:
    simd.exceed_row(target, start, limits, WIDE)


@kernel
def multiplied(target: Any, start: int, factors: Any) -> None:
    simd.multiply_row(target, start, factors, WIDE)


@kernel
def bits_of(target: Any, start: int, bits: int) -> int:
    simd.add_bits(target, start, bits, AREAS)
    return simd.bit_count(bits)


@kernel
def members_of(target: Any, start: int, sets: Any, chosen: int) -> int:
    simd.count_members(target, start, sets, chosen, NARROW)
    return simd.join_sets(sets, chosen, AREAS)


@kernel
def drawn(totals: Any, number: int) -> int:
    return simd.take_ranked(totals, number, WIDE)


@kernel
def ones_in(row: Any, start: int) -> int:
    return simd.count_ones(row, start, WIDE)


def numbers(least: int, most: int, count: int) -> st.SearchStrategy[list[int]]:
    """Lists of `count` whole numbers."""
    return st.lists(st.integers(least, most), min_size=count, max_size=count)


def blank() -> NDArray[np.int16]:
    """A target in which what is not to be touched shows."""
    return np.arange(1000, 1000 + SIZE, dtype=np.int16)


starts = st.integers(0, SIZE - NARROW - WIDE)
sets_of_areas = st.integers(0, 2**AREAS - 1)
thorough = settings(deadline=None, max_examples=60)


@thorough
@given(starts, numbers(-128, 127, NARROW), numbers(-(2**15), 2**15 - 1, WIDE))
def test_rows_are_copied_into_wider_and_narrower_numbers(start: int, narrow: list[int], wide: list[int]) -> None:
    target, expected = blank(), blank()
    copied(target, start, np.array(narrow, np.int8), np.array(wide, np.int32))
    expected[start : start + NARROW + WIDE] = narrow + wide
    assert target.tolist() == expected.tolist()


@thorough
@given(starts, numbers(-100, 100, SIZE), numbers(-100, 100, WIDE))
def test_what_exceeds_a_row_is_left(start: int, row: list[int], limits: list[int]) -> None:
    target, expected = np.array(row, np.int16), list(row)
    cut(target, start, np.array(limits, np.int8))
    for index, limit in enumerate(limits):
        expected[start + index] = max(row[start + index] - limit, 0)
    assert target.tolist() == expected


@thorough
@given(starts, numbers(-200, 200, SIZE), numbers(-128, 127, WIDE))
def test_rows_are_multiplied(start: int, row: list[int], factors: list[int]) -> None:
    target, expected = np.array(row, np.int16), list(row)
    multiplied(target, start, np.array(factors, np.int8))
    for index, factor in enumerate(factors):
        expected[start + index] = row[start + index] * factor
    assert target.tolist() == expected


@thorough
@given(starts, sets_of_areas)
def test_bits_are_added_and_counted(start: int, bits: int) -> None:
    target, expected = blank(), blank()
    assert bits_of(target, start, bits) == bin(bits).count("1")
    for area in range(AREAS):
        expected[start + area] += bits >> area & 1
    assert target.tolist() == expected.tolist()


@thorough
@given(starts, st.lists(sets_of_areas, min_size=AREAS, max_size=AREAS), sets_of_areas)
def test_sets_are_joined_and_their_members_counted(start: int, sets: list[int], chosen: int) -> None:
    target, expected = blank(), blank()
    union = 0
    for number, members in enumerate(sets):
        union |= members if chosen >> number & 1 else 0
    assert members_of(target, start, np.array(sets, np.int32), chosen) == union
    expected[start : start + NARROW] = [bin(members & chosen).count("1") for members in sets[:NARROW]]
    assert target.tolist() == expected.tolist()


@thorough
@given(numbers(0, 2, WIDE), st.data())
def test_a_rank_draws_one_of_a_kind_until_the_bag_is_empty(bag: list[int], data: st.DataObject) -> None:
    totals = np.cumsum(bag).astype(np.int16)
    while sum(bag):
        number = data.draw(st.integers(0, sum(bag) - 1))
        expected = [kind for kind, count in enumerate(bag) for _ in range(count)][number]
        assert drawn(totals, number) == expected
        bag[expected] -= 1
        assert totals.tolist() == np.cumsum(bag).tolist()


@thorough
@given(starts, numbers(0, 1, SIZE))
def test_ones_are_counted(start: int, row: list[int]) -> None:
    assert ones_in(np.array(row, np.int8), start) == sum(row[start : start + WIDE])


@thorough
@given(starts, numbers(0, 1, SIZE))
def test_ones_that_do_not_lie_together_are_counted_too(start: int, row: list[int]) -> None:
    masks = np.full((SIZE, 3), 1, np.int8)
    masks[:, 1] = row
    assert ones_in(masks[:, 1], start) == sum(row[start : start + WIDE])


def test_other_rows_that_do_not_lie_together_are_refused_or_read_rightly() -> None:
    target, narrow, wide = blank(), np.arange(2 * NARROW, dtype=np.int8)[::2], np.zeros(WIDE, np.int8)
    if simd.VECTORS:
        with pytest.raises(TypingError, match="do not lie together"):
            copied(target, 0, narrow, wide)
    else:
        copied(target, 0, narrow, wide)
        assert target[:NARROW].tolist() == narrow.tolist()


def test_a_row_of_a_record_is_read_in_place() -> None:
    """Rows mostly are parts of a state: inside a record, not at the start of an array."""
    record = np.zeros(1, np.dtype((np.record, [("first", "i1"), ("rows", "i1", (3, WIDE)), ("last", "i1")])))
    record["rows"][0] = np.arange(3 * WIDE).reshape(3, WIDE)
    target = np.zeros(WIDE, np.int16)
    row_of_record(record, target)
    assert target.tolist() == list(range(WIDE, 2 * WIDE))


@kernel
def row_of_record(records: Any, target: Any) -> None:
    simd.copy_row(target, 0, records[0].rows[1], WIDE)


@pytest.mark.parametrize("bits", [0, 1, 2**16, 2**62 + 5])
def test_bits_of_large_numbers_count_too(bits: int) -> None:
    assert bits_of(blank(), 0, bits) == bin(bits).count("1")
