"""Functions that read, convert and write a short row of numbers as one vector, in a few instructions.

For a loop of so few steps the compiler emits one step after the other. Here the width of the row is a constant. Each
function exists twice: as a loop in Python, and as vector instructions that do the same. The loops run in plain Python
and where bounds are checked (`NUMBA_BOUNDSCHECK=1`). The vector path does no bounds checks.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from siberia_env.core.jit import PLAIN_PYTHON, kernel

#: Whether the functions use vectors. They don't in plain Python, nor where bounds are checked.
VECTORS = not (PLAIN_PYTHON or numba.config.BOUNDSCHECK)

if PLAIN_PYTHON:

    def bit_count(bits: int) -> int:
        """How many bits of `bits`, a number from 0 up, are 1."""
        return int(bits).bit_count()

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def bit_count(typing_context: Any, bits: Any) -> Any:
        """How many bits of `bits`, a number from 0 up, are 1."""

        def population(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(context.cast(builder, arguments[0], signature.args[0], types.int64))

        return types.int64(bits), population


if not VECTORS:

    @kernel
    def copy_row(target: Any, start: int, row: Any, width: int) -> None:
        """Write the `width` (a constant) numbers of `row` into `target` from `start` on.

        Both arrays are contiguous and hold integers. The numbers must fit into the type of `target`.
        """
        for index in range(width):
            target[start + index] = row[index]

    @kernel
    def subtract_row(target: Any, start: int, row: Any, width: int) -> None:
        """Subtract the `width` (a constant) numbers of `row` from those in `target` from `start` on."""
        for index in range(width):
            target[start + index] -= int(row[index])

    @kernel
    def multiply_row(target: Any, start: int, row: Any, width: int) -> None:
        """Multiply the numbers in `target` from `start` on by the `width` (a constant) numbers of `row`."""
        for index in range(width):
            target[start + index] *= int(row[index])

    @kernel
    def exceed_row(target: Any, start: int, row: Any, width: int) -> None:
        """Subtract `row` from `target` from `start` on, `width` (a constant) numbers; write 0 for a negative result."""
        for index in range(width):
            target[start + index] = max(int(target[start + index]) - int(row[index]), 0)

    @kernel
    def count_members(target: Any, start: int, sets: Any, chosen: int, width: int) -> None:
        """Count how many members of the set `chosen` each of the `width` (a constant) `sets` has.

        The counts go into `target` from `start` on.
        """
        for index in range(width):
            target[start + index] = bit_count(int(sets[index]) & chosen)

    @kernel
    def add_bits(target: Any, start: int, bits: int, width: int) -> None:
        """Add each of the lowest `width` (a constant) bits, 0 or 1, to the numbers in `target` from `start` on."""
        for index in range(width):
            target[start + index] += (bits >> index) & 1

    @kernel
    def spread_bits(target: Any, start: int, bits: int, width: int) -> None:
        """Write each of the lowest `width` (a constant) bits as 0 or 1 into `target` from `start` on."""
        for index in range(width):
            target[start + index] = (bits >> index) & 1

    @kernel
    def count_ones(row: Any, start: int, width: int) -> int:
        """How many of the `width` (a constant) numbers of `row` from `start` on are 1; the others are 0."""
        ones = 0
        for index in range(start, start + width):
            ones += int(row[index])
        return ones

    @kernel
    def take_ranked(totals: Any, number: int, width: int) -> int:
        """The first of the `width` (a constant) running `totals` that exceeds `number`; it and the later ones lose 1.

        With a random number below the last total this draws one thing out of a bag of `width` kinds. Total k is the
        number of things of the kinds 0 to k in the bag.
        """
        taken = width
        for index in range(width):
            beyond = int(totals[index]) > number
            taken -= beyond
            totals[index] -= beyond
        return taken

    @kernel
    def join_sets(sets: Any, chosen: int, width: int) -> int:
        """The union of those of the first `width` (a constant) `sets` whose index is in the set `chosen`."""
        joined = 0
        for index in range(width):
            joined |= int(sets[index]) * ((chosen >> index) & 1)
        return joined

else:

    def _row_at(context: Any, builder: Any, array_type: Any, array: Any, start: Any, width: int) -> Any:
        """A pointer to `width` numbers of an array from `start` on, as one vector."""
        if array_type.layout != "C":
            raise numba.errors.NumbaTypeError(f"rows of {array_type} do not lie together")
        first = builder.gep(make_array(array_type)(context, builder, array).data, [start])
        return builder.bitcast(first, ir.VectorType(context.get_data_type(array_type.dtype), width).as_pointer())

    def _bytes(array_type: Any) -> int:
        """The alignment, in bytes, of a vector that starts anywhere in an array: that of one number."""
        return int(array_type.dtype.bitwidth) // 8

    def _read(context: Any, builder: Any, array_type: Any, array: Any, wanted: Any) -> Any:
        """The first numbers of an array as a vector of the type `wanted`."""
        place = _row_at(context, builder, array_type, array, context.get_constant(types.intp, 0), wanted.count)
        numbers = builder.load(place, align=_bytes(array_type))
        if numbers.type.element.width > wanted.element.width:
            return builder.trunc(numbers, wanted)
        return builder.sext(numbers, wanted)

    def _changed(target: Any, start: Any, row: Any, width: Any, change: Any) -> Any:
        """An intrinsic that stores into `target`, from `start` on, what `change` computes from that place and `row`."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            begin = context.cast(builder, arguments[1], signature.args[1], types.intp)
            place = _row_at(context, builder, target, arguments[0], begin, width.literal_value)
            vector = ir.VectorType(context.get_data_type(target.dtype), width.literal_value)
            if isinstance(row, types.Array):
                given = _read(context, builder, row, arguments[2], vector)
            else:
                given = builder.zext(_flags(builder, arguments[2], vector.count), vector)
            builder.store(change(builder, place, given), place, align=_bytes(target))
            return context.get_dummy_value()

        return types.none(target, start, row, width), generate

    def _called(builder: Any, name: str, vector: Any, result: Any) -> Any:
        """The result of the LLVM intrinsic `name` for the vector."""
        full_name = f"{name}.v{vector.type.count}i{vector.type.element.width}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [vector.type]), full_name)
        return builder.call(function, [vector])

    def _splat(builder: Any, number: Any, vector: Any) -> Any:
        """A vector that holds the same number in every lane."""
        everywhere = ir.Constant(vector, ir.Undefined)
        for lane in range(vector.count):
            everywhere = builder.insert_element(everywhere, number, ir.Constant(ir.IntType(32), lane))
        return everywhere

    def _there(builder: Any, place: Any) -> Any:
        """The vector at `place`."""
        return builder.load(place, align=place.type.pointee.element.width // 8)

    def _flags(builder: Any, bits: Any, width: int) -> Any:
        """The lowest `width` bits of a number as a vector of truth values."""
        return builder.bitcast(builder.trunc(bits, ir.IntType(width)), ir.VectorType(ir.IntType(1), width))

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def copy_row(typing_context: Any, target: Any, start: Any, row: Any, width: Any) -> Any:
        """Write the `width` (a constant) numbers of `row` into `target` from `start` on.

        Both arrays are contiguous and hold integers. The numbers must fit into the type of `target`.
        """
        return _changed(target, start, row, width, lambda builder, place, row: row)

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def subtract_row(typing_context: Any, target: Any, start: Any, row: Any, width: Any) -> Any:
        """Subtract the `width` (a constant) numbers of `row` from those in `target` from `start` on."""
        return _changed(target, start, row, width, lambda builder, place, row: builder.sub(_there(builder, place), row))

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def multiply_row(typing_context: Any, target: Any, start: Any, row: Any, width: Any) -> Any:
        """Multiply the numbers in `target` from `start` on by the `width` (a constant) numbers of `row`."""
        return _changed(target, start, row, width, lambda builder, place, row: builder.mul(_there(builder, place), row))

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def exceed_row(typing_context: Any, target: Any, start: Any, row: Any, width: Any) -> Any:
        """Subtract `row` from `target` from `start` on, `width` (a constant) numbers; write 0 for a negative result."""

        def excess(builder: Any, place: Any, row: Any) -> Any:
            there = _there(builder, place)
            exceeds = builder.icmp_signed(">", there, row)
            return builder.select(exceeds, builder.sub(there, row), ir.Constant(row.type, None))

        return _changed(target, start, row, width, excess)

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def spread_bits(typing_context: Any, target: Any, start: Any, bits: Any, width: Any) -> Any:
        """Write each of the lowest `width` (a constant) bits as 0 or 1 into `target` from `start` on."""
        return _changed(target, start, types.int64, width, lambda builder, place, bits: bits)

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def add_bits(typing_context: Any, target: Any, start: Any, bits: Any, width: Any) -> Any:
        """Add each of the lowest `width` (a constant) bits, 0 or 1, to the numbers in `target` from `start` on."""
        return _changed(
            target, start, types.int64, width, lambda builder, place, bits: builder.add(_there(builder, place), bits)
        )

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def count_members(typing_context: Any, target: Any, start: Any, sets: Any, chosen: Any, width: Any) -> Any:
        """Count how many members of the set `chosen` each of the `width` (a constant) `sets` has.

        The counts go into `target` from `start` on.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            begin = context.cast(builder, arguments[1], signature.args[1], types.intp)
            place = _row_at(context, builder, target, arguments[0], begin, width.literal_value)
            item = context.get_data_type(sets.dtype)
            every = _read(context, builder, sets, arguments[2], ir.VectorType(item, width.literal_value))
            lanes = _splat(builder, builder.trunc(arguments[3], item), every.type)
            members = _called(builder, "llvm.ctpop", builder.and_(every, lanes), every.type)
            builder.store(builder.trunc(members, place.type.pointee), place, align=_bytes(target))
            return context.get_dummy_value()

        return types.none(target, start, sets, types.int64, width), generate

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def count_ones(typing_context: Any, row: Any, start: Any, width: Any) -> Any:
        """How many of the `width` (a constant) numbers of `row` from `start` on are 1; the others are 0."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            begin = context.cast(builder, arguments[1], signature.args[1], types.intp)
            if row.layout == "C":
                place = _row_at(context, builder, row, arguments[0], begin, width.literal_value)
                numbers = builder.load(place, align=_bytes(row))
            else:  # a user's mask may be a part of a larger array
                array = make_array(row)(context, builder, arguments[0])
                numbers = ir.Constant(
                    ir.VectorType(context.get_data_type(row.dtype), width.literal_value), ir.Undefined
                )
                for lane in range(width.literal_value):
                    index = builder.add(begin, context.get_constant(types.intp, lane))
                    item = cgutils.get_item_pointer(context, builder, row, array, [index])
                    numbers = builder.insert_element(numbers, builder.load(item), ir.Constant(ir.IntType(32), lane))
            flags = builder.icmp_signed("!=", numbers, ir.Constant(numbers.type, None))
            ones = builder.ctpop(builder.bitcast(flags, ir.IntType(width.literal_value)))
            return builder.zext(ones, ir.IntType(64))

        return types.int64(row, start, width), generate

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def take_ranked(typing_context: Any, totals: Any, number: Any, width: Any) -> Any:
        """The first of the `width` (a constant) running `totals` that exceeds `number`; it and the later ones lose 1.

        With a random number below the last total this draws one thing out of a bag of `width` kinds. Total k is the
        number of things of the kinds 0 to k in the bag.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            begin = context.get_constant(types.intp, 0)
            place = _row_at(context, builder, totals, arguments[0], begin, width.literal_value)
            there = _there(builder, place)
            limit = _splat(builder, builder.trunc(arguments[1], there.type.element), there.type)
            beyond = builder.icmp_signed(">", there, limit)
            builder.store(builder.add(there, builder.sext(beyond, there.type)), place, align=_bytes(totals))
            later = builder.ctpop(builder.bitcast(beyond, ir.IntType(there.type.count)))
            return builder.sub(ir.Constant(ir.IntType(64), there.type.count), builder.zext(later, ir.IntType(64)))

        return types.int64(totals, types.int64, width), generate

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def join_sets(typing_context: Any, sets: Any, chosen: Any, width: Any) -> Any:
        """The union of those of the first `width` (a constant) `sets` whose index is in the set `chosen`."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            item = context.get_data_type(sets.dtype)
            vector = ir.VectorType(item, width.literal_value)
            flags = _flags(builder, arguments[1], vector.count)
            kept = builder.select(flags, _read(context, builder, sets, arguments[0], vector), ir.Constant(vector, None))
            return builder.sext(_called(builder, "llvm.vector.reduce.or", kept, item), ir.IntType(64))

        return types.int64(sets, types.int64, width), generate
