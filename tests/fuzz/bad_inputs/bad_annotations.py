"""Loops vectorized, unrolled or annotated where they cannot be."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, symbolic_copy, thread

import texloom as tvm
from texloom import te


@case("TL2010")
def vectorize_of_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].vectorize(k)  # wrong


@case("TL3002")
def vectorize_of_a_symbolic_extent() -> None:
    n = te.var("n")
    x = te.placeholder((8, n), name="X")
    y = te.compute((8, n), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL3021")
def vectorize_of_an_axis_that_no_vector_divides() -> None:
    x, y, s = copy_of((8, 7))
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL3021", says="its split does not divide the axis")
def vectorize_under_a_split_that_does_not_divide() -> None:
    x, y, s = copy_of((8, 10))
    s[y].bind(s[y].op.axis[0], block())
    _, inner = s[y].split(s[y].op.axis[1], 4)
    s[y].vectorize(inner)  # wrong
    tvm.lower(s, [x, y])


@case("TL2005", says="'i1' is not an axis of this stage, but of 'P'")
def vectorize_of_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].vectorize(s[p].op.axis[1])  # wrong


@case("TL2005", says="vectorize on the stage of 'Y': the axis 'i1' has already been split")
def vectorize_of_an_axis_that_is_split() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[1], factor=4)
    s[y].vectorize(s[y].op.axis[1])  # wrong


@case("TL2010", says="cannot vectorize 'i.k.fused' of 'R': it is a reduction axis")
def vectorize_of_an_axis_of_both_kinds() -> None:
    _, r, k, s = sum_of_rows()
    s[r].vectorize(s[r].fuse(s[r].op.axis[0], k))  # wrong


@case("TL3021", says="vectorize of 'i1' of 'Y' has no effect: the axis is bound to threadIdx.x")
def vectorize_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[1], thread())
    s[y].vectorize(s[y].op.axis[1])  # wrong


@case("TL2015", says="cannot apply vectorize to 'X': it is a placeholder")
def vectorize_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].vectorize(s[y].op.axis[1])  # wrong


@case("TL2040", says="vectorize of 'Y': var is 4, not an axis")
def vectorize_by_a_width() -> None:
    _, y, s = copy_of((8, 4))
    s[y].vectorize(4)  # wrong


@case("TL3002", says="cannot vectorize 'j.outer' of 'Y': its extent is not constant")
def vectorize_of_the_outer_part_of_a_symbolic_extent() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[0], block())
    outer, _ = s[y].split(s[y].op.axis[1], factor=4)
    s[y].vectorize(outer)  # wrong
    tvm.lower(s, [x, y])


@case("TL3021", says="unroll of 'i0' of 'Y' has no effect: the axis is bound to blockIdx.x")
def unroll_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].unroll(s[y].op.axis[0])  # wrong


@case("TL3021")
def unroll_of_a_very_long_axis() -> None:
    x, y, s = copy_of((8, 10_000))
    s[y].bind(s[y].op.axis[0], block())
    s[y].unroll(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL2005", says="unroll on the stage of 'Y': the axis 'i1' has already been fused")
def unroll_of_an_axis_that_is_fused() -> None:
    _, y, s = copy_of((8, 4))
    s[y].fuse(*s[y].op.axis)
    s[y].unroll(s[y].op.axis[1])  # wrong


@case("TL2005", says="'k' is not an axis of this stage, but of 'R.local'")
def unroll_of_a_reduction_that_cache_write_moved() -> None:
    _, r, k, s = sum_of_rows()
    s.cache_write(r, "local")
    s[r].unroll(k)  # wrong


@case("TL2015", says="cannot apply unroll to 'X': it is a placeholder")
def unroll_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].unroll(s[y].op.axis[1])  # wrong


@case("TL2040", says="unroll of 'Y': var is the stage of 'Y', not an axis")
def unroll_of_a_stage() -> None:
    _, y, s = copy_of((8, 4))
    s[y].unroll(s[y])  # wrong


@case("TL3021", says="parallel of 'i0' of 'Y' has no effect: the axis is bound to blockIdx.x")
def parallel_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].parallel(s[y].op.axis[0])  # wrong


@case("TL3021")
def parallel_loop_on_a_gpu() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].parallel(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL2005", says="'i0' is not an axis of this stage, but of 'P'")
def parallel_of_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].parallel(s[p].op.axis[0])  # wrong


@case("TL2015", says="cannot apply parallel to 'X': it is a placeholder")
def parallel_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].parallel(s[y].op.axis[0])  # wrong


@case("TL2005")
def pragma_on_an_axis_that_is_split_already() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], 2)
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", 16)  # wrong


@case("TL2010")
def vectorize_pragma_of_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].pragma(k, "vectorize")  # wrong


@case("TL2034")
def pragma_with_a_word_for_a_number() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", "many")  # wrong
    tvm.lower(s, [x, y])


@case("TL2005", says="'i0' is not an axis of this stage, but of 'P'")
def pragma_on_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].pragma(s[p].op.axis[0], "auto_unroll_max_step", 16)  # wrong


@case("TL3021", says="unroll of 'i0' of 'Y' has no effect: the axis is bound to blockIdx.x")
def unroll_pragma_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].pragma(s[y].op.axis[0], "unroll")  # wrong


@case("TL2034", says="auto_unroll_max_step of 'Y' has the value 'True'")
def unroll_pragma_of_a_truth_value() -> None:
    x, y, s = copy_of((8,))
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", True)  # wrong
    tvm.lower(s, [x, y])


@case("TL2034", says="auto_unroll_max_step of 'Y' has the value '-5'")
def pragma_with_a_negative_number() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", -5)  # wrong
    tvm.lower(s, [x, y])


@case("TL2034", says="unroll_explicit of 'Y' has the value 'maybe'")
def pragma_with_a_word_for_a_choice() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].pragma(s[y].op.axis[0], "unroll_explicit", "maybe")  # wrong
    tvm.lower(s, [x, y])


@case("TL2040", says="pragma_type is None, not a string")
def pragma_without_a_key() -> None:
    _, y, s = copy_of((8, 4))
    s[y].pragma(s[y].op.axis[0], None)  # wrong


@case("TL2005", says="'i0' is not an axis of this stage, but of 'P'")
def prefetch_at_an_axis_of_another_stage() -> None:
    x, p, y, s = chain_of()
    s[y].prefetch(x, s[p].op.axis[0], 1)  # wrong
