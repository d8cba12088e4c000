"""Loops bound to threads where they cannot be."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, symbolic_copy, thread

import texloom as tvm
from texloom import te


@case("TL2003")
def axis_bound_twice() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[0], thread())  # wrong


@case("TL2005")
def axis_that_is_split_already() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2)
    s[y].bind(s[y].op.axis[0], block())  # wrong


@case("TL2006")
def bound_to_an_axis_that_is_no_thread() -> None:
    _, y, s = copy_of((8, 4))
    i, j = s[y].op.axis
    s[y].bind(i, j)  # wrong


@case("TL2014")
def reduction_axis_bound_to_blocks() -> None:
    _, r, k, s = sum_of_rows()
    s[r].bind(k, block())  # wrong


@case("TL2014")
def reduction_axis_bound_to_virtual_threads() -> None:
    _, r, k, s = sum_of_rows()
    s[r].bind(k, te.thread_axis("vthread"))  # wrong


@case("TL2014")
def axis_of_both_kinds_bound_to_threads() -> None:
    _, r, k, s = sum_of_rows()
    s[r].bind(s[r].fuse(s[r].op.axis[0], k), thread())  # wrong


@case("TL3021", says="the axis 'i1' of 'Y' was vectorized and is now bound to threadIdx.x")
def bind_of_a_vectorized_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].vectorize(s[y].op.axis[1])
    s[y].bind(s[y].op.axis[1], thread())  # wrong


@case("TL2005")
def axis_that_rfactor_took_away() -> None:
    _, r, k, s = sum_of_rows()
    i = s[r].op.axis[0]
    s.rfactor(r, k)
    s[r].bind(i, block())  # wrong


@case("TL3001")
def one_thread_tag_with_two_extents() -> None:
    x, p, y, s = chain_of((8, 6))
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("shared")
    outer, _ = s[p].split(s[p].op.axis[1], nparts=3)
    s[p].bind(outer, thread())
    tvm.lower(s, [x, y])


@case("TL2045")
def differences_bound_to_threads() -> None:
    x = te.placeholder((8, 16), "float32", name="X")
    difference = te.comm_reducer(lambda a, b: a - b, lambda t: te.const(0, t), name="difference")
    k = te.reduce_axis((0, 16), name="k")
    r = te.compute((8,), lambda i: difference(x[i, k], axis=k), name="R")
    s = te.create_schedule(r.op)
    s[r].bind(k, thread())  # wrong


@case("TL3007")
def lanes_of_a_texel_bound_to_threads() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3029")
def elements_of_a_texture_bound_to_threads() -> None:
    x, y, s = copy_of((8, 16))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3015")
def one_thread_tag_twice_in_one_stage() -> None:
    x, y, s = copy_of((8, 8))
    i, j = s[y].op.axis
    s[y].bind(i, thread())
    s[y].bind(j, thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3001")
def one_virtual_thread_axis_with_two_extents() -> None:
    x, p, y, s = chain_of((8, 6))
    virtual = te.thread_axis("vthread")
    s[y].bind(s[y].op.axis[1], virtual)
    s[p].compute_at(s[y], s[y].op.axis[1])
    s[p].set_scope("shared")
    outer, _ = s[p].split(s[p].op.axis[1], nparts=3)
    s[p].bind(outer, virtual)  # wrong
    tvm.lower(s, [x, y])


@case("TL3015")
def one_virtual_thread_axis_twice_in_one_stage() -> None:
    x, y, s = copy_of((8, 8))
    virtual = te.thread_axis("vthread")
    for axis in s[y].op.axis:
        s[y].bind(axis, virtual)  # wrong
    tvm.lower(s, [x, y])


@case("TL3030")
def data_axis_inside_a_reduction_of_threads() -> None:
    x, r, k, s = sum_of_rows()
    s[r].reorder(k, s[r].op.axis[0])
    s[r].bind(k, thread())  # wrong
    tvm.lower(s, [x, r])


@case("TL3030")
def reduction_of_threads_inside_their_own_loop() -> None:
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    y = te.compute((8,), lambda i: r[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], thread())
    s[r].compute_at(s[y], s[y].op.axis[0])
    s[r].set_scope("local")
    s[r].bind(k, thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL2040", says="bind of 'Y': thread_ivar is 'threadIdx.x', not a thread axis")
def bind_to_the_name_of_a_thread() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], "threadIdx.x")  # wrong


@case("TL2040", says="ivar is None, not an axis")
def bind_of_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(None, thread())  # wrong


@case("TL2005", says="'threadIdx.x' is not an axis of this stage")
def bind_with_its_arguments_exchanged() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(thread(), s[y].op.axis[0])  # wrong


@case("TL2005", says="'i0' is not an axis of this stage, but of 'P'")
def bind_of_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].bind(s[p].op.axis[0], thread())  # wrong


@case("TL2005", says="'i0' has already been fused into 'i0.i1.fused'")
def bind_of_an_axis_that_is_fused() -> None:
    _, y, s = copy_of((8, 4))
    s[y].fuse(*s[y].op.axis)
    s[y].bind(s[y].op.axis[0], block())  # wrong


@case("TL3021", says="the axis 'i1' of 'Y' was unrolled and is now bound to threadIdx.x")
def bind_of_an_unrolled_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].unroll(s[y].op.axis[1])
    s[y].bind(s[y].op.axis[1], thread())  # wrong


@case("TL2015", says="cannot apply bind to 'X': it is a placeholder")
def bind_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].bind(s[y].op.axis[0], block())  # wrong


@case("TL3001", says="the extent of threadIdx.x is not a positive constant: n")
def threads_of_a_symbolic_extent() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3001", says="the number of virtual threads of the loop 'j' is not constant: n")
def virtual_threads_of_a_symbolic_extent() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[1], te.thread_axis("vthread"))  # wrong
    tvm.lower(s, [x, y])


@case("TL3001", says="threadIdx.x has the extent 6 here, but 4 at")
def threads_of_two_extents_in_one_kernel() -> None:
    x, p, y, s = chain_of((8, 6))
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("shared")
    _, inner = s[p].split(s[p].op.axis[1], factor=4)
    s[p].bind(inner, thread())
    tvm.lower(s, [x, y])


@case("TL3007", says="'ax1' of the texture 'X.texture' is bound to vthread")
def lanes_of_a_texel_bound_to_virtual_threads() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].op.axis[0], block())
    s[cache].bind(s[cache].op.axis[1], te.thread_axis("vthread"))  # wrong
    tvm.lower(s, [x, y])


@case("TL3007", says="'ax0.ax1.fused' of the texture 'X.texture' is bound to threadIdx.x")
def lanes_of_a_texel_fused_and_bound() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].fuse(*s[cache].op.axis), thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3007", says="of the texture 'X.texture', the axis 'ax1' does not vary fastest")
def lanes_of_a_texel_fused_first() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])  # wrong
    row, lane = s[cache].op.axis
    s[cache].reorder(lane, row)
    s[cache].bind(s[cache].fuse(lane, row), thread())
    tvm.lower(s, [x, y])


@case("TL3007", says="the extent 3 of the axis 'ax1' and ends inside a texel")
def rows_that_are_no_texels_fused() -> None:
    x, y, s = copy_of((8, 3))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])  # wrong
    s[cache].bind(s[cache].fuse(*s[cache].op.axis), thread())
    tvm.lower(s, [x, y])


@case("TL3015", says="two axes of 'R' are bound to threadIdx.x: 'l' is the second")
def two_reduction_axes_bound_to_one_tag() -> None:
    x = te.placeholder((8, 6, 6), name="X")
    k, l = te.reduce_axis((0, 6), name="k"), te.reduce_axis((0, 6), name="l")  # noqa: E741
    r = te.compute((8,), lambda i: te.sum(x[i, k, l], axis=[k, l]), name="R")
    s = te.create_schedule(r.op)
    s[r].bind(k, thread())
    s[r].bind(l, thread())  # wrong
    tvm.lower(s, [x, r])


@case("TL2006")
def unknown_thread_tag() -> None:
    te.thread_axis("threadIdx.w")  # wrong


@case("TL2006", says="unknown thread tag 'threadIdx'")
def thread_tag_without_a_dimension() -> None:
    te.thread_axis("threadIdx")  # wrong


@case("TL2006", says="'threadIdx.x' has the name of a thread index")
def variable_with_the_name_of_a_thread_index() -> None:
    te.var("threadIdx.x")  # wrong


@case("TL2006", says="unknown thread tag 'BlockIdx.x'")
def thread_tag_with_a_capital() -> None:
    te.thread_axis((0, 8), "BlockIdx.x")  # wrong


@case("TL2042", says="env_threads of 'Y'")
def threads_of_the_environment() -> None:
    _, y, s = copy_of((8, 4))
    s[y].env_threads([thread()])  # wrong
