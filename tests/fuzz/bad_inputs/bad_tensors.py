"""Wrong tensors and expressions."""

from __future__ import annotations

import numpy as np
from bad_input import block, case, copy_of

import texloom as tvm
from texloom import te


@case("TL1001")
def extent_of_zero() -> None:
    te.placeholder((4, 0), name="X")  # wrong


@case("TL1001")
def negative_extent_of_a_compute() -> None:
    te.compute((-3,), lambda i: i, name="Y")  # wrong


@case("TL1001")
def extent_that_is_a_float() -> None:
    te.placeholder((4, 2.5), name="X")  # wrong


@case("TL4007")
def extent_beyond_32_bits() -> None:
    te.placeholder((2**40,), name="X")  # wrong


@case("TL1001")
def extent_that_no_argument_tells() -> None:
    x = te.placeholder((te.var("n"),), name="X")
    y = te.compute((te.var("m") // 2,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])  # wrong


def doubled_rows() -> tuple[te.Tensor, te.Tensor, tvm.te.schedule.Schedule]:
    """Return doubled rows whose length is known only at the call."""
    n = te.var("n")
    x = te.placeholder((8, n), name="X")
    y = te.compute((8, n), lambda i, j: x[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, y, s


@case("TL1001")
def shared_memory_of_a_size_that_the_call_tells() -> None:
    x, y, s = doubled_rows()
    cache = s.cache_read(x, "shared", [y])  # wrong
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL1001")
def extent_of_64_bits() -> None:
    n = te.var("n", "int64")
    x = te.placeholder((n,), name="X")  # wrong
    y = te.compute((n,), lambda i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    tvm.lower(s, [x, y])


@case("TL1001")
def empty_reduction_axis() -> None:
    te.reduce_axis((3, 3), name="k")  # wrong


@case("TL1001")
def texture_of_seven_axes() -> None:
    x, y, s = copy_of((2, 2, 2, 2, 2, 2, 4))
    s.cache_read(x, "texture", [y])  # wrong
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL1002")
def too_few_indices() -> None:
    x = te.placeholder((4, 4), name="X")
    te.compute((4,), lambda i: x[i] + 1, name="Y")  # wrong


@case("TL1002", says="'X' has 2 axes but is read with 0 indices")
def function_of_a_whole_tensor() -> None:
    x = te.placeholder((4, 4), name="X")
    te.exp(x)  # wrong


@case("TL1002")
def too_many_indices() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4, 4), lambda i, j: x(i, j), name="Y")  # wrong


@case("TL1003")
def exp_of_an_integer() -> None:
    x = te.placeholder((4,), "int32", name="X")
    te.compute((4,), lambda i: te.exp(x[i]), name="Y")  # wrong


@case("TL1003", says="te.exp does not take a value of type bool")
def exp_of_a_condition() -> None:
    te.exp(te.var("i") > 3)  # wrong


@case("TL1003")
def index_that_is_a_float() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i * 0.5], name="Y")  # wrong


@case("TL1003")
def shift_of_a_float() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i] << 2, name="Y")  # wrong


@case("TL1003")
def condition_that_is_a_number() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: te.if_then_else(x[i], 1.0, 2.0), name="Y")  # wrong


@case("TL1004")
def reduction_inside_an_expression() -> None:
    x = te.placeholder((4, 4), name="X")
    k = te.reduce_axis((0, 4), name="k")
    te.compute((4,), lambda i: te.sum(x[i, k], axis=k) + 1, name="Y")  # wrong


@case("TL1004")
def reduction_over_a_data_axis() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: te.sum(x[i], axis=i), name="Y")  # wrong


@case("TL1004")
def values_of_two_reductions() -> None:
    x, k = te.placeholder((4, 4), name="X"), te.reduce_axis((0, 4), name="k")
    body = te.sum(x[0, k], axis=k), te.max(x[0, k], axis=k)
    te.compute((4,), lambda i: body, name="Y")  # wrong


@case("TL1004")
def start_over_the_reduced_axis() -> None:
    x, k = te.placeholder((4, 4), name="X"), te.reduce_axis((0, 4), name="k")
    te.compute((4,), lambda i: te.sum(x[i, k], axis=k, init=x[i, k]), name="Y")  # wrong


@case("TL1004")
def reducer_over_the_reduced_axis() -> None:
    x, k = te.placeholder((4, 4), name="X"), te.reduce_axis((0, 4), name="k")
    by_step = te.comm_reducer(lambda a, b: a + b * k.var, lambda t: te.const(0, t), name="by_step")
    te.compute((4,), lambda i: by_step(x[i, k], axis=k), name="Y")  # wrong


@case("TL1004")
def identity_by_an_operand() -> None:
    x, k = te.placeholder((4, 4), "int32", name="X"), te.reduce_axis((0, 4), name="k")
    seen = []
    last = te.comm_reducer(lambda a, b: seen.append(a) or b, lambda t: seen[0], name="last")
    te.compute((4,), lambda i: last(x[i, k], axis=k), name="Y")  # wrong


@case("TL1004")
def reducer_that_reads_a_tensor() -> None:
    x, k = te.placeholder((4, 4), name="X"), te.reduce_axis((0, 4), name="k")
    last = te.comm_reducer(lambda a, b: b + x[0, 0], lambda t: te.const(0, t), name="last")
    te.compute((4,), lambda i: last(x[i, k], axis=k), name="Y")  # wrong


@case("TL1001")
def tensors_that_do_not_broadcast() -> None:
    x, y = te.placeholder((4, 4), name="X"), te.placeholder((3,), name="Y")
    x + y  # wrong


@case("TL1004")
def reduction_over_no_axis() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: te.sum(x[i], axis=[]), name="Y")  # wrong


@case("TL1007")
def reduction_axis_without_a_reduction() -> None:
    x = te.placeholder((4, 4), name="X")
    k = te.reduce_axis((0, 4), name="k")
    y = te.compute((4,), lambda i: x[i, k], name="Y")  # wrong
    tvm.lower(te.create_schedule(y.op), [x, y])


@case("TL1005")
def unknown_dtype() -> None:
    te.placeholder((4,), "float31", name="X")  # wrong


@case("TL1005")
def cast_to_an_unknown_dtype() -> None:
    x = te.placeholder((4,), name="X")
    te.compute((4,), lambda i: x[i].astype("int7"), name="Y")  # wrong


@case("TL1006")
def integer_division_that_does_not_say_how_it_rounds() -> None:
    x = te.placeholder((4,), "int32", name="X")
    te.compute((4,), lambda i: x[i] / 2, name="Y")  # wrong


@case("TL1007")
def compute_that_returns_nothing() -> None:
    te.compute((4,), lambda i: None, name="Y")  # wrong


@case("TL1007", says="returns a NumPy array")
def compute_that_returns_an_array() -> None:
    te.compute((4,), lambda i: np.zeros(3), name="Y")  # wrong


@case("TL1007", says="has parameters that Python cannot inspect")
def compute_by_a_builtin() -> None:
    te.compute((4,), max, name="Y")  # wrong


@case("TL2040", says="const is given the tensor 'X', not a number")
def constant_of_a_tensor() -> None:
    x = te.placeholder((4,), name="X")
    te.const(x)  # wrong


@case("TL1007")
def compute_that_returns_text() -> None:
    te.compute((4,), lambda i: "i + 1", name="Y")  # wrong


@case("TL1007")
def compute_that_uses_a_symbol_of_nowhere() -> None:
    x = te.placeholder((4,), name="X")
    n = te.var("n")
    y = te.compute((4,), lambda i: x[i] + n, name="Y")  # wrong
    tvm.lower(te.create_schedule(y.op), [x, y])


@case("TL1007")
def compute_that_uses_an_axis_of_another() -> None:
    x = te.placeholder((4,), name="X")
    p = te.compute((4,), lambda i: x[i] + 1, name="P")
    y = te.compute((4,), lambda i: x[p.op.axis[0]], name="Y")  # wrong
    tvm.lower(te.create_schedule(y.op), [x, y])


@case("TL1007")
def compute_of_too_many_axes() -> None:
    te.compute((4, 4), lambda i, j, k: i, name="Y")  # wrong


@case("TL1008")
def division_by_zero() -> None:
    x = te.placeholder((4,), "int32", name="X")
    te.compute((4,), lambda i: x[i // 0], name="Y")  # wrong


@case("TL1008")
def truncating_remainder_by_zero() -> None:
    x = te.placeholder((4,), "int32", name="X")
    te.compute((4,), lambda i: te.truncmod(x[i], 0), name="Y")  # wrong


@case("TL1009")
def constant_that_its_type_does_not_hold() -> None:
    te.const(300, "int8")  # wrong


@case("TL1009")
def fraction_as_an_integer_constant() -> None:
    te.const(0.5, "int32")  # wrong


@case("TL1004")
def reduction_over_one_axis_twice() -> None:
    x = te.placeholder((4, 8), name="X")
    k = te.reduce_axis((0, 8), name="k")
    te.compute((4,), lambda i: te.sum(x[i, k], axis=[k, k]), name="Y")  # wrong


@case("TL1001", says="the shape of 'Y' has the extent inf")
def compute_without_end() -> None:
    te.compute((float("inf"),), lambda i: i, name="Y")  # wrong


@case("TL1001", says="the range of the axis 'k' has the end 3.5, which is not an integer")
def reduction_of_half_a_step() -> None:
    te.reduce_axis((0, 3.5), name="k")  # wrong


@case("TL1001", says="the range of the axis 'k' has the end nan, which is not an integer")
def reduction_to_no_number() -> None:
    te.reduce_axis((0, float("nan")), name="k")  # wrong


@case("TL1007", says="the function of 'Y' gives the parameter 'j' a default")
def compute_of_axes_with_defaults() -> None:
    x = te.placeholder((4, 4), name="X")
    te.compute((4, 4), lambda i, j=0: x[i, j], name="Y")  # wrong


@case("TL1007", says="the function of 'Y' returns an ellipsis")
def compute_of_an_ellipsis() -> None:
    te.compute((4,), lambda i: ..., name="Y")  # wrong


@case("TL1007", says="indexes a NumPy array by an axis")
def numpy_array_indexed_by_an_axis() -> None:
    weights = np.ones((4,))
    te.compute((4,), lambda i: weights[i] * 2, name="Y")  # wrong
