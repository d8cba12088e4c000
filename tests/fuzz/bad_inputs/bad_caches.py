"""Wrong caches, and scopes that do not fit a stage."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, symbolic_copy, thread

import texloom as tvm
from texloom import te


@case("TL2001")
def unknown_scope() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "texture:wieght", [y])  # wrong


@case("TL2002")
def cache_for_a_stage_that_does_not_read() -> None:
    x, _, y, s = chain_of()
    s.cache_read(x, "texture", [y])  # wrong


@case("TL2002")
def cache_for_no_stage() -> None:
    x, _, s = copy_of((8, 4))
    s.cache_read(x, "texture", [])  # wrong


@case("TL2007")
def cache_of_a_tensor_of_another_schedule() -> None:
    _, y, s = copy_of((8, 4))
    x, _, _ = copy_of((8, 4))
    s.cache_read(x, "texture", [y])  # wrong


@case("TL3003")
def texture_bound_to_no_thread() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.build(s, [x, y])


@case("TL3006")
def texture_of_float64() -> None:
    x, y, s = copy_of((8, 4), "float64")
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3006")
def texture_of_int64() -> None:
    x, y, s = copy_of((8, 4), "int64")
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture:weight", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3006")
def texture_of_bool() -> None:
    x = te.placeholder((8, 4), "bool", name="X")
    y = te.compute((8, 4), lambda i, j: te.if_then_else(x[i, j], 1.0, 0.0), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture:nhwc", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3009")
def shared_cache_at_the_root() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "shared", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL2040", says="cache_read: tensor is 'X', not a tensor")
def cache_of_a_name() -> None:
    _, y, s = copy_of((8, 4))
    s.cache_read("X", "shared", [y])  # wrong


@case("TL2040", says="scope is a value of type list, not a string")
def cache_with_its_arguments_exchanged() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, [y], "shared")  # wrong


@case("TL2040", says="cache_read: readers is None, not a tensor or a list of them")
def cache_without_readers() -> None:
    x, _, s = copy_of((8, 4))
    s.cache_read(x, "shared", None)  # wrong


@case("TL2002", says="cache_read of 'Y': 'Y' does not read it")
def cache_of_an_output_for_itself() -> None:
    _, y, s = copy_of((8, 4))
    s.cache_read(y, "shared", [y])  # wrong


@case("TL2002", says="cache_read of 'X': 'Y' does not read it")
def second_cache_of_what_the_first_reads_now() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "shared", [y])
    s.cache_read(x, "local", [y])  # wrong


@case("TL2002", says="cache_read of 'R': 'X' does not read it")
def cache_for_a_stage_before_it() -> None:
    x, r, _, s = sum_of_rows()
    s.cache_read(r, "local", [x])  # wrong


@case("TL3007", says="may end inside a texel")
def texture_whose_rows_may_end_inside_a_texel() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])  # wrong
    s[cache].bind(s[cache].fuse(*s[cache].op.axis), block())
    tvm.lower(s, [x, y])


@case("TL2017", says="the number of lanes of a texel is known only at the call")
def texture_with_lanes_of_a_symbolic_extent() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y], layout="texture[(i, j) -> rows=(i), lanes=j]")  # wrong


@case("TL2017", says="the layout of a buffer has an extent that is known only at the call")
def buffer_layout_of_a_symbolic_extent() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "global", [y], layout="buffer[(i, j) -> cols=(j, i)]")  # wrong


@case("TL1001", says="the part of 'X.shared' in shared memory is [1, n]")
def shared_memory_of_a_symbolic_extent() -> None:
    x, y, s = symbolic_copy()
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "shared", [y])  # wrong
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL3007", says="the loop 'ax1.inner' of the texture 'X.texture' runs over 2 elements")
def texture_in_parts_of_half_a_texel() -> None:
    x, y, s = copy_of((8, 8))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])  # wrong
    outer, _ = s[cache].split(s[cache].op.axis[1], factor=2)
    s[cache].bind(outer, thread())
    tvm.lower(s, [x, y])


@case("TL3007", says="the extent 6 of the axis 'ax1' and ends inside a texel")
def texture_of_which_a_part_is_computed_by_one_loop() -> None:
    """Only six of the eight columns are read, so only these six are copied."""
    x = te.placeholder((8, 8), name="X")
    y = te.compute((8, 6), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])  # wrong
    outer, _ = s[cache].split(s[cache].fuse(*s[cache].op.axis), factor=4)
    s[cache].bind(outer, thread())
    tvm.lower(s, [x, y])


@case("TL3009", says="'X.local' is in local memory but is computed at the root")
def local_cache_at_the_root() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "local", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3003", says="'X.global' is computed at the root but bound to no thread")
def global_cache_bound_to_no_thread() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "global", [y])  # wrong
    tvm.build(s, [x, y])


@case("TL2011")
def cache_write_of_a_loop_over_both_kinds_of_axes() -> None:
    _, r, k, s = sum_of_rows()
    s[r].fuse(s[r].op.axis[0], k)
    s.cache_write(r, "local")  # wrong


@case("TL2011")
def cache_write_of_two_operations() -> None:
    _, p, y, s = chain_of()
    s.cache_write([p, y], "local")  # wrong


@case("TL2011")
def cache_write_of_one_of_several_outputs() -> None:
    x = te.placeholder((8,), name="X")
    y, _ = te.compute((8,), lambda i: (x[i], x[i] + 1), name="Y")
    s = te.create_schedule(y.op)
    s.cache_write(y, "local")  # wrong


@case("TL2001", says="cache_write of 'Y': unknown memory scope 'register'")
def cache_write_to_an_unknown_scope() -> None:
    _, y, s = copy_of((8, 4))
    s.cache_write(y, "register")  # wrong


@case("TL2015", says="cannot apply cache_write to 'X': it is a placeholder")
def cache_write_of_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s.cache_write(x, "local")  # wrong


@case("TL2007", says="cannot apply cache_write to 'Z': it is not part of this schedule")
def cache_write_of_a_tensor_of_another_schedule() -> None:
    x, _, s = copy_of((8, 4))
    z = te.compute((8, 4), lambda i, j: x[i, j] * 2, name="Z")
    s.cache_write(z, "local")  # wrong


@case("TL2011", says="cannot apply cache_write to 0 tensors")
def cache_write_of_an_empty_list() -> None:
    _, _, s = copy_of((8, 4))
    s.cache_write([], "local")  # wrong


@case("TL2040", says="cache_write: tensor is the operation 'Y', not a tensor")
def cache_write_of_an_operation() -> None:
    _, y, s = copy_of((8, 4))
    s.cache_write(y.op, "local")  # wrong


@case("TL3009", says="'Y.local' is in local memory but is computed at the root")
def cache_write_left_at_the_root() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_write(y, "local")  # wrong
    tvm.lower(s, [x, y])


@case("TL3035", says="'Y.fragment' is in fragment memory, which is registers, but")
def fragment_in_a_loop() -> None:
    x, y, s = copy_of((8, 4))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    cache = s.cache_write(y, "fragment")  # wrong
    s[cache].compute_at(s[y], i)
    s[cache].vectorize(s[cache].op.axis[1])
    tvm.lower(s, [x, y])


def product_of_halves() -> tuple:
    a, b = (te.placeholder((32, 32), "float16", name=name) for name in "AB")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute(
        (32, 32),
        lambda i, j: te.sum(a[i, k].astype("float32") * b[k, j].astype("float32"), axis=k),
        name="C",
    )
    return a, b, c, te.create_schedule(c.op)


@case("TL2035", says="'Y' is no product of matrices: it is no plain sum")
def matrices_of_a_copy() -> None:
    _, y, s = copy_of((8, 4))
    s.matrices(y, [y.op.axis[0]], [y.op.axis[1]], [])  # wrong


@case("TL2035", says="cannot apply matrices to 'C': its loops are already scheduled")
def matrices_of_scheduled_loops() -> None:
    _, _, c, s = product_of_halves()
    s[c].split(c.op.axis[0], 16)
    s.matrices(c, [c.op.axis[0]], [c.op.axis[1]], list(c.op.reduce_axis))  # wrong


@case("TL3036", says="'C.fragment' is in fragment memory, which SIMD-groups of 32 threads hold")
def fragment_of_few_threads() -> None:
    a, b, c, s = product_of_halves()
    sums = s.cache_write(c, "fragment")  # wrong
    row, column = s[c].op.axis
    block_row, row = s[c].split(row, 16)
    block_column, column = s[c].split(column, 16)
    s[c].reorder(block_row, block_column, row, column)
    s[c].bind(block_row, block())
    s[c].tensorize(row, "fragment.store")
    s[sums].compute_at(s[c], block_column)
    row, column = s[sums].op.axis
    outer, step = s[sums].split(s[sums].op.reduce_axis[0], 16)
    s[sums].reorder(outer, row, column, step)
    s[sums].tensorize(row, "fragment.mma")
    for each in (a, b):
        shared = s.cache_read(each, "shared", [sums])
        read = s.cache_read(shared, "fragment", [sums])
        s[read].compute_at(s[sums], outer)
        s[read].tensorize(s[read].op.axis[0], "fragment.load")
        s[shared].compute_at(s[sums], outer)
        s[shared].bind(s[shared].op.axis[0], thread())
    tvm.lower(s, [a, b, c])


@case("TL2044", says="no intrinsic has the name 'fragment.add'")
def intrinsic_of_no_name() -> None:
    _, y, s = copy_of((16, 16))
    s[y].tensorize(y.op.axis[0], "fragment.add")  # wrong


@case("TL3008", says="the reduction 'R.texture' would read and write its texture")
def cache_write_of_a_reduction_into_a_texture() -> None:
    x, r, _, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s.cache_write(r, "texture")  # wrong
    tvm.lower(s, [x, r])


@case("TL2001")
def unknown_scope_of_a_stage() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope("registers")  # wrong


@case("TL3008")
def reduction_in_a_texture() -> None:
    x, r, _, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s[r].set_scope("texture")  # wrong
    tvm.lower(s, [x, r])


@case("TL3008")
def reduction_in_a_texture_fused_with_its_lanes() -> None:
    x, r, _, s = sum_of_rows()
    s[r].set_scope("texture")  # wrong
    s[r].fuse(*s[r].op.axis, *s[r].op.reduce_axis)
    tvm.lower(s, [x, r])


@case("TL3009")
def local_stage_at_the_root() -> None:
    x, p, y, s = chain_of()
    s[p].bind(s[p].op.axis[0], block())
    s[p].set_scope("local")  # wrong
    tvm.lower(s, [x, y])


@case("TL2040", says="set_scope of 'Y': scope is None, not a string")
def scope_of_nothing() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope(None)  # wrong


@case("TL3009", says="cannot put the input 'X' in shared memory")
def input_in_shared_memory() -> None:
    x, _, s = copy_of((8, 4))
    s[x].set_scope("shared")  # wrong


@case("TL3009", says="'Y' is an output, which is in the caller's memory")
def output_in_shared_memory() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].set_scope("shared")  # wrong
    tvm.lower(s, [x, y])


@case("TL3006", says="'Y' has elements of type float64")
def output_of_float64_in_a_texture() -> None:
    x, y, s = copy_of((8, 4), "float64")
    s[y].bind(s[y].op.axis[0], block())
    s[y].set_scope("texture")  # wrong
    tvm.lower(s, [x, y])


@case("TL4008", says="'P' is placed in a texture, but the target")
def stage_in_a_texture_on_a_target_without_images() -> None:
    x, p, y, s = chain_of()
    s[p].bind(s[p].op.axis[0], block())
    s[p].set_scope("global.texture")  # wrong
    tvm.lower(s, [x, y], target="opencl -images=0")
