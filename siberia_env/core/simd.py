"""Functions that read, convert and write a short row of numbers as one vector, in a few instructions.

For a loop of so few steps the compiler emits one step after the other. Here the width of the row is a constant. Each
function is written as a plain loop; above it stand the vector instructions that do the same, and what they bring. The
loops run in plain Python and where bounds are checked (`NUMBA_BOUNDSCHECK=1`). The vector path does no bounds checks.

All rows lie together in arrays of integers. What a vector form brings is given as how much longer a batch step of the
board game takes with the loop instead (1024 games of four players).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from siberia_env.core.jit import PLAIN_PYTHON, kernel

F = TypeVar("F", bound=Callable[..., Any])

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


# ---------------------------------------------------------------- how vector instructions are written


@dataclass(frozen=True)
class Call:
    """A call of a row function in the kernel that is being compiled. Arguments go by their position.

    Attributes:
        context: numba's.
        builder: llvmlite's; it writes the instructions.
        types: the types of the arguments: arrays, int64, and last the width, a constant.
        values: their values in the kernel.
    """

    context: Any
    builder: Any
    types: tuple[Any, ...]
    values: tuple[Any, ...]

    @property
    def width(self) -> int:
        """How many numbers the row has."""
        return int(self.types[-1].literal_value)

    def vector_of(self, array: int) -> Any:
        """The type of a vector of the array's numbers."""
        return ir.VectorType(self.context.get_data_type(self.types[array].dtype), self.width)

    def place(self, array: int, start: int | None) -> Any:
        """A pointer to the row that begins at the index `start` (an argument), or at the array's first number."""
        if self.types[array].layout != "C":
            raise numba.errors.NumbaTypeError(f"rows of {self.types[array]} do not lie together")
        first = make_array(self.types[array])(self.context, self.builder, self.values[array]).data
        if start is not None:
            first = self.builder.gep(first, [self.values[start]])
        return self.builder.bitcast(first, self.vector_of(array).as_pointer())

    def read(self, array: int, start: int | None = None, wanted: Any = None) -> Any:
        """The row as a vector; its numbers are converted to those of `wanted`, if that is given."""
        numbers = self.builder.load(self.place(array, start), align=self.bytes(array))
        if wanted is None or wanted == numbers.type:
            return numbers
        if numbers.type.element.width > wanted.element.width:
            return self.builder.trunc(numbers, wanted)
        return self.builder.sext(numbers, wanted)

    def write(self, vector: Any, array: int, start: int | None = None) -> None:
        """Store a vector of the array's numbers into the row."""
        self.builder.store(vector, self.place(array, start), align=self.bytes(array))

    def bytes(self, array: int) -> int:
        """The alignment of a vector that starts anywhere in the array: that of one number, in bytes."""
        return int(self.types[array].dtype.bitwidth) // 8

    def everywhere(self, number: int, vector: Any) -> Any:
        """A vector that holds an argument, an integer, in every lane."""
        lanes, item = ir.Constant(vector, ir.Undefined), self.builder.trunc(self.values[number], vector.element)
        for lane in range(vector.count):
            lanes = self.builder.insert_element(lanes, item, ir.Constant(ir.IntType(32), lane))
        return lanes

    def ones(self, flags: Any) -> Any:
        """How many of a vector's truth values are true, int64."""
        bits = self.builder.ctpop(self.builder.bitcast(flags, ir.IntType(self.width)))
        return self.builder.zext(bits, ir.IntType(64))


def vector_form(emit: Callable[[Call], Any]) -> Callable[[F], F]:
    """Let kernels use the instructions that `emit` writes in place of the loop below it, wherever `VECTORS` says so.

    `emit` returns the function's result, int64, if it has one. The last parameter of the loop is the constant width.
    """

    def chosen(loop: F) -> F:
        if not VECTORS:
            return kernel(loop)
        result = types.none if signature(loop).return_annotation == "None" else types.int64

        def typed(typing_context: Any, *arguments: Any) -> Any:
            *others, width = arguments
            known = [other if isinstance(other, types.Array) else types.int64 for other in others]

            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                found = emit(Call(context, builder, signature.args, values))
                return context.get_dummy_value() if found is None else found

            return result(*known, width), generate

        typed.__name__, typed.__doc__ = loop.__name__, loop.__doc__
        first = Parameter("typing_context", Parameter.POSITIONAL_OR_KEYWORD)
        typed.__signature__ = signature(loop).replace(  # type: ignore[attr-defined]
            parameters=[first, *signature(loop).parameters.values()]
        )
        return intrinsic(prefer_literal=True)(typed)

    return chosen


# ---------------------------------------------------------------- rows


def _copy(call: Call) -> None:
    call.write(call.read(2, wanted=call.vector_of(0)), 0, 1)


@vector_form(_copy)
def copy_row(target: Any, start: int, row: Any, width: int) -> None:
    """Write the `width` (a constant) numbers of `row` into `target` from `start` on.

    The numbers must fit into the type of `target`. With the loop a step with observation takes 40% longer.
    """
    for index in range(width):
        target[start + index] = row[index]


def _add_bits(call: Call) -> None:
    bits = call.builder.trunc(call.values[2], ir.IntType(call.width))
    flags = call.builder.bitcast(bits, ir.VectorType(ir.IntType(1), call.width))
    call.write(call.builder.add(call.read(0, 1), call.builder.zext(flags, call.vector_of(0))), 0, 1)


@vector_form(_add_bits)
def add_bits(target: Any, start: int, bits: int, width: int) -> None:
    """Add each of the lowest `width` (a constant) bits, 0 or 1, to the numbers in `target` from `start` on.

    With the loop a step with observation takes 9% longer.
    """
    for index in range(width):
        target[start + index] += (bits >> index) & 1


def _exceed(call: Call) -> None:
    there = call.read(0, 1)
    row = call.read(2, wanted=there.type)
    excess, nothing = call.builder.sub(there, row), ir.Constant(there.type, None)
    call.write(call.builder.select(call.builder.icmp_signed(">", there, row), excess, nothing), 0, 1)


@vector_form(_exceed)
def exceed_row(target: Any, start: int, row: Any, width: int) -> None:
    """Subtract `row` from `target` from `start` on, `width` (a constant) numbers; write 0 for a negative result.

    With the loop a step with observation takes 21% longer.
    """
    for index in range(width):
        target[start + index] = max(int(target[start + index]) - int(row[index]), 0)


def _multiply(call: Call) -> None:
    there = call.read(0, 1)
    call.write(call.builder.mul(there, call.read(2, wanted=there.type)), 0, 1)


@vector_form(_multiply)
def multiply_row(target: Any, start: int, row: Any, width: int) -> None:
    """Multiply `target` from `start` on by `row`, `width` (a constant) numbers; the products must fit into its type.

    With the loop a step with observation takes 4% longer.
    """
    for index in range(width):
        target[start + index] *= int(row[index])


def _members(call: Call) -> None:
    sets = call.read(2)
    common = call.builder.and_(sets, call.everywhere(3, sets.type))
    name = f"llvm.ctpop.v{call.width}i{sets.type.element.width}"
    count = cgutils.get_or_insert_function(call.builder.module, ir.FunctionType(sets.type, [sets.type]), name)
    call.write(call.builder.trunc(call.builder.call(count, [common]), call.vector_of(0)), 0, 1)


@vector_form(_members)
def count_members(target: Any, start: int, sets: Any, chosen: int, width: int) -> None:
    """Count how many members of the set `chosen` each of the `width` (a constant) `sets` has.

    The counts go into `target` from `start` on. Their numbers are narrower than those of the sets. With the loop a step
    with observation takes 4% longer.
    """
    for index in range(width):
        target[start + index] = bit_count(int(sets[index]) & chosen)


def _join(call: Call) -> Any:
    sets = call.read(0)
    item = sets.type.element
    bits = call.builder.trunc(call.values[1], ir.IntType(call.width))
    flags = call.builder.bitcast(bits, ir.VectorType(ir.IntType(1), call.width))
    kept = call.builder.select(flags, sets, ir.Constant(sets.type, None))
    name = f"llvm.vector.reduce.or.v{call.width}i{item.width}"
    union = cgutils.get_or_insert_function(call.builder.module, ir.FunctionType(item, [sets.type]), name)
    return call.builder.sext(call.builder.call(union, [kept]), ir.IntType(64))


@vector_form(_join)
def join_sets(sets: Any, chosen: int, width: int) -> int:
    """The union of those of the first `width` (a constant) `sets` whose index is in the set `chosen`.

    With the loop a step with observation takes 2% longer.
    """
    joined = 0
    for index in range(width):
        joined |= int(sets[index]) * ((chosen >> index) & 1)
    return joined


def _ones(call: Call) -> Any:
    row, builder = call.types[0], call.builder
    if row.layout == "C":
        numbers = call.read(0, 1)
    else:  # a user's mask may be a part of a larger array
        array = make_array(row)(call.context, builder, call.values[0])
        numbers = ir.Constant(call.vector_of(0), ir.Undefined)
        for lane in range(call.width):
            index = builder.add(call.values[1], ir.Constant(ir.IntType(64), lane))
            item = builder.load(cgutils.get_item_pointer(call.context, builder, row, array, [index]))
            numbers = builder.insert_element(numbers, item, ir.Constant(ir.IntType(32), lane))
    return call.ones(builder.icmp_signed("!=", numbers, ir.Constant(numbers.type, None)))


@vector_form(_ones)
def count_ones(row: Any, start: int, width: int) -> int:
    """How many of the `width` (a constant) numbers of `row` from `start` on are 1; the others are 0.

    Here the numbers need not lie together. With the loop a step with mask, played at random, takes 26% longer.
    """
    ones = 0
    for index in range(start, start + width):
        ones += int(row[index])
    return ones


def _ranked(call: Call) -> Any:
    totals = call.read(0)
    beyond = call.builder.icmp_signed(">", totals, call.everywhere(1, totals.type))
    call.write(call.builder.add(totals, call.builder.sext(beyond, totals.type)), 0)
    return call.builder.sub(ir.Constant(ir.IntType(64), call.width), call.ones(beyond))


@vector_form(_ranked)
def take_ranked(totals: Any, number: int, width: int) -> int:
    """The first of the `width` (a constant) running `totals` that exceeds `number`; it and the later ones lose 1.

    With a random number below the last total this draws one thing out of a bag of `width` kinds. Total k is the number
    of things of the kinds 0 to k in the bag. With the loop a step with mask takes 7% longer.
    """
    taken = width
    for index in range(width):
        beyond = int(totals[index]) > number
        taken -= beyond
        totals[index] -= beyond
    return taken
