"""Wrong splits, tiles, fusions and orders of loops."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL2004")
def split_by_zero() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=0)  # wrong


@case("TL2004")
def split_by_a_negative_factor() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=-4)  # wrong


@case("TL2004")
def split_into_no_parts() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], nparts=0)  # wrong


@case("TL2004")
def split_by_factor_and_nparts() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2, nparts=4)  # wrong


@case("TL2004")
def split_by_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0])  # wrong


@case("TL2004")
def split_by_a_symbol() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=te.var("n"))  # wrong


@case("TL2005")
def axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].split(s[p].op.axis[0], factor=2)  # wrong


@case("TL3021", says="the axis 'i1' of 'Y' was vectorized and is now split")
def split_of_a_vectorized_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].vectorize(s[y].op.axis[1])
    s[y].split(s[y].op.axis[1], factor=2)  # wrong


@case("TL2016")
def split_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].split(s[y].op.axis[0], factor=2)  # wrong


@case("TL2040", says="split of 'Y': parent is 'i0', not an axis")
def split_of_a_name() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split("i0", 4)  # wrong


@case("TL2040", says="parent is None")
def split_of_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(None, factor=4)  # wrong


@case("TL2040", says="factor is '4', not a number")
def split_by_a_word() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor="4")  # wrong


@case("TL2004", says="cannot split 'i0' of 'Y' by 2.5")
def split_by_a_fraction() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2.5)  # wrong


@case("TL2004", says="cannot split 'i0' of 'Y' by i1")
def split_by_an_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=s[y].op.axis[1])  # wrong


@case("TL2005", says="'i0' has already been split into 'i0.outer' and 'i0.inner'")
def split_of_an_axis_that_is_split() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2)
    s[y].split(s[y].op.axis[0], factor=4)  # wrong


@case("TL2005", says="'i0' has already been fused into 'i0.i1.fused'")
def split_of_an_axis_that_is_fused() -> None:
    _, y, s = copy_of((8, 4))
    s[y].fuse(*s[y].op.axis)
    s[y].split(s[y].op.axis[0], factor=2)  # wrong


@case("TL2005", says="'k' is not an axis of this stage, but of 'R.local'")
def split_of_a_reduction_that_cache_write_moved() -> None:
    _, r, k, s = sum_of_rows()
    s.cache_write(r, "local")
    s[r].split(k, factor=2)  # wrong


@case("TL2005", says="'i' is not an axis of this stage, but of 'R'")
def split_of_a_data_axis_on_the_stage_of_the_cache() -> None:
    _, r, _, s = sum_of_rows()
    cache = s.cache_write(r, "local")
    s[cache].split(s[r].op.axis[0], factor=2)  # wrong


@case("TL2005", says="the axis 'i0.outer' is not an axis of this stage")
def split_of_a_loop_of_another_schedule() -> None:
    _, y, s = copy_of((8, 4))
    outer, _ = te.create_schedule(y.op)[y].split(y.op.axis[0], factor=4)
    s[y].split(outer, factor=2)  # wrong


@case("TL2005", says="the axis 'threadIdx.x' is not an axis of this stage")
def split_of_a_thread_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(thread(), factor=2)  # wrong


@case("TL2015", says="cannot apply split to 'X': it is a placeholder")
def split_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].split(s[y].op.axis[0], factor=2)  # wrong


@case("TL2004", says="cannot split 'i0' of 'Y' by f: it is not an integer constant")
def split_by_a_variable() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=te.var("f"))  # wrong


@case("TL4009", says="the loop 'i1' is unrolled to 2000 copies")
def unroll_of_a_long_loop() -> None:
    x, y, s = copy_of((8, 2000))
    s[y].bind(s[y].op.axis[0], thread())
    s[y].unroll(s[y].op.axis[1])  # wrong
    tvm.build(s, [x, y])


@case("TL3021", says="the axis 'i1' of 'Y' was unrolled and is now split")
def split_of_an_unrolled_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].unroll(s[y].op.axis[1])
    s[y].split(s[y].op.axis[1], factor=2)  # wrong


@case("TL2004")
def tile_by_zero() -> None:
    _, y, s = copy_of((8, 4))
    s[y].tile(*s[y].op.axis, 0, 4)  # wrong


@case("TL2005", says="'i0' has already been split")
def tile_of_one_axis() -> None:
    _, y, s = copy_of((8, 4))
    i, _ = s[y].op.axis
    s[y].tile(i, i, 2, 2)  # wrong


@case("TL2005", says="'ax1' is not an axis of this stage, but of 'X.shared'")
def tile_of_axes_of_two_stages() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "shared", [y])
    s[y].tile(s[y].op.axis[0], s[cache].op.axis[1], 2, 2)  # wrong


@case("TL2004", says="cannot split 'i1' of 'Y': factor = -2 is not positive")
def tile_by_a_negative_factor() -> None:
    _, y, s = copy_of((8, 4))
    s[y].tile(*s[y].op.axis, 4, -2)  # wrong


@case("TL2040", says="tile of 'Y': x_factor is a value of type list, not a number")
def tile_by_a_list() -> None:
    _, y, s = copy_of((8, 4))
    s[y].tile(*s[y].op.axis, [2], 2)  # wrong


@case("TL2009")
def fuse_of_axes_that_are_not_adjacent() -> None:
    _, y, s = copy_of((8, 4, 4))
    i, _, k = s[y].op.axis
    s[y].fuse(i, k)  # wrong


@case("TL3021", says="the axis 'i1' of 'Y' was unrolled and is now fused")
def fuse_of_an_unrolled_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].unroll(s[y].op.axis[1])
    s[y].fuse(*s[y].op.axis)  # wrong


@case("TL2009", says="cannot fuse 'i0' with itself")
def fuse_of_an_axis_with_itself() -> None:
    _, y, s = copy_of((8, 4))
    i, _ = s[y].op.axis
    s[y].fuse(i, i)  # wrong


@case("TL2005", says="'i0' is not an axis of this stage, but of 'P'")
def fuse_of_axes_of_two_stages() -> None:
    _, p, y, s = chain_of()
    s[y].fuse(s[y].op.axis[1], s[p].op.axis[0])  # wrong


@case("TL2005", says="'i1' has already been split")
def fuse_of_an_axis_that_is_split() -> None:
    _, y, s = copy_of((8, 4))
    i, j = s[y].op.axis
    s[y].split(j, factor=2)
    s[y].fuse(i, j)  # wrong


@case("TL2016", says="cannot fuse 'i0' of 'Y': it is already bound to blockIdx.x")
def fuse_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].fuse(*s[y].op.axis)  # wrong


@case("TL2040", says="fuse of 'Y': an argument is 1, not an axis")
def fuse_of_a_number() -> None:
    _, y, s = copy_of((8, 4))
    s[y].fuse(s[y].op.axis[0], 1)  # wrong


@case("TL2015", says="cannot apply fuse to 'X': it is a placeholder")
def fuse_on_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].fuse()  # wrong


@case("TL2008")
def reorder_that_names_an_axis_twice() -> None:
    _, y, s = copy_of((8, 4))
    i, _ = s[y].op.axis
    s[y].reorder(i, i)  # wrong


@case("TL2005", says="'i0' is not an axis of this stage, but of 'P'")
def reorder_of_axes_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].reorder(s[y].op.axis[1], s[p].op.axis[0])  # wrong


@case("TL2005", says="'i0' has already been split into 'i0.outer' and 'i0.inner'")
def reorder_of_an_axis_that_is_split() -> None:
    _, y, s = copy_of((8, 4))
    i, j = s[y].op.axis
    s[y].split(i, factor=2)
    s[y].reorder(j, i)  # wrong


@case("TL2005", says="'k' has already been fused into 'i.k.fused'")
def reorder_of_an_axis_that_is_fused() -> None:
    _, r, k, s = sum_of_rows()
    s[r].fuse(s[r].op.axis[0], k)
    s[r].reorder(k)  # wrong


@case("TL2040", says="reorder of 'Y': an argument is the tensor 'X', not an axis")
def reorder_of_a_tensor() -> None:
    x, y, s = copy_of((8, 4))
    s[y].reorder(s[y].op.axis[1], x)  # wrong


@case("TL2015", says="cannot apply reorder to 'X': it is a placeholder")
def reorder_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].reorder(*s[y].op.axis)  # wrong
