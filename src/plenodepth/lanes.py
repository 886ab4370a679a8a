"""Eight numbers at a time in compiled kernels: a vector type for Numba.

LLVM turns a simple loop into vector instructions by itself, but only a long one, and only when it can prove that the
arrays do not overlap. A kernel that handles short rows says what it wants instead: `load` eight neighbouring values,
compute with them as with one number, `store` them. `+`, `-`, `*`, `<=`, `max` and `where` take lanes, or lanes and a
number; `abs` takes lanes, and `&` what `<=` gives.

In plain Python these functions do not exist: they are for functions that `plenodepth.compiling` compiles.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8  # of float32: one AVX register, two of NEON

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_FLAGS = ir.VectorType(ir.IntType(1), LANES)
_FLOAT_BYTES = 4


class _Lanes(types.Type):
    """Eight float32."""


class _Mask(types.Type):
    """Eight truth values: what a comparison of lanes gives."""


lanes_type = _Lanes("lanes")
mask_type = _Mask("mask")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLOATS)


@register_model(_Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLAGS)


def _spread(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """Lanes as they are; a number in all of them."""
    if isinstance(kind, _Lanes | _Mask):
        return value
    number = context.cast(builder, value, kind, types.float32)
    first = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """The address of array[index], as one of lanes."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _FLOATS.as_pointer())


def _is_flat(array: Any) -> bool:
    return isinstance(array, types.Array) and array.dtype == types.float32 and array.ndim == 1 and array.layout == "C"


@intrinsic
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index : index + 8] of a flat float32 array. Nothing is checked: the array must be long enough."""
    if not (_is_flat(array) and isinstance(index, types.Integer)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, at = arguments
        index = context.cast(builder, at, signature.args[1], types.intp)
        return builder.load(_place(context, builder, signature.args[0], values, index), align=_FLOAT_BYTES)

    return lanes_type(array, index), generate


@intrinsic
def store(typing_context: Any, array: Any, index: Any, values: Any) -> Any:
    """array[index : index + 8] = values of a flat float32 array. Nothing is checked."""
    if not (_is_flat(array) and isinstance(index, types.Integer) and isinstance(values, _Lanes)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, at, lanes = arguments
        index = context.cast(builder, at, signature.args[1], types.intp)
        builder.store(lanes, _place(context, builder, signature.args[0], target, index), align=_FLOAT_BYTES)
        return context.get_dummy_value()

    return types.none(array, index, values), generate


@intrinsic
def count_up(typing_context: Any, first: Any) -> Any:
    """first, first + 1, … first + 7."""
    if not isinstance(first, types.Number):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        steps = ir.Constant(_FLOATS, [float(n) for n in range(LANES)])
        return builder.fadd(_spread(context, builder, arguments[0], signature.args[0]), steps)

    return lanes_type(first), generate


@intrinsic
def total(typing_context: Any, lanes: Any) -> Any:
    """The sum of all lanes, always in the same order."""
    if not isinstance(lanes, _Lanes):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (values,) = arguments
        width = LANES
        while width > 1:  # halves onto each other
            width //= 2
            order = [n + width if n < width else n for n in range(LANES)]
            moved = builder.shuffle_vector(values, values, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))
            values = builder.fadd(values, moved)
        return builder.extract_element(values, ir.IntType(32)(0))

    return types.float32(lanes), generate


@intrinsic
def where(typing_context: Any, mask: Any, chosen: Any, other: Any) -> Any:
    """`chosen` in the lanes where the mask is true, `other` elsewhere; either may be a number."""
    if not isinstance(mask, _Mask):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags, *values = arguments
        one, two = (_spread(context, builder, v, k) for v, k in zip(values, signature.args[1:], strict=True))
        return builder.select(flags, one, two)

    return lanes_type(mask, chosen, other), generate


def _define(function: Callable[..., Any], result: Any, *kinds: Any, by: Callable[..., Any]) -> None:
    """Let a function or operator of two arguments work on the kinds of arguments, the first of which is a vector.

    At least one argument must be such a vector. `by(builder, one, other)` gives the instruction.
    """
    vector = kinds[0]

    def type_of_result(context: Any) -> Callable[[Any, Any], Any]:
        def of_two(one: Any, other: Any) -> Any:
            known = isinstance(one, kinds) and isinstance(other, kinds)
            return result if known and (isinstance(one, vector) or isinstance(other, vector)) else None

        return of_two

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pairs = zip(arguments, signature.args, strict=True)
        return by(builder, *(_spread(context, builder, value, kind) for value, kind in pairs))

    type_callable(function)(type_of_result)
    for one, other in product(kinds, repeat=2):
        if vector in (one, other):
            lower_builtin(function, one, other)(generate)


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


_define(operator.add, lanes_type, _Lanes, types.Number, by=lambda builder, *two: builder.fadd(*two))
_define(operator.sub, lanes_type, _Lanes, types.Number, by=lambda builder, *two: builder.fsub(*two))
_define(operator.mul, lanes_type, _Lanes, types.Number, by=lambda builder, *two: builder.fmul(*two))
_define(operator.le, mask_type, _Lanes, types.Number, by=lambda builder, *two: builder.fcmp_ordered("<=", *two))
_define(max, lanes_type, _Lanes, types.Number, by=_larger)
_define(operator.and_, mask_type, _Mask, by=lambda builder, *two: builder.and_(*two))


@type_callable(abs)
def _type_of_abs(context: Any) -> Callable[[Any], Any]:
    return lambda lanes: lanes_type if isinstance(lanes, _Lanes) else None


@lower_builtin(abs, _Lanes)
def _generate_abs(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = ir.FunctionType(_FLOATS, [_FLOATS])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f32")
    return builder.call(function, arguments)
