"""Wrong directives, refused when they are written."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL2001")
def unknown_scope() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "texture:wieght", [y])  # wrong


@case("TL2001")
def unknown_scope_of_a_stage() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope("registers")  # wrong


@case("TL2001")
def unknown_scope_of_an_array() -> None:
    tvm.nd.empty((8, 4), mem_scope="textur")  # wrong


@case("TL2001")
def array_in_shared_memory() -> None:
    tvm.nd.empty((8, 4), mem_scope="shared")  # wrong


@case("TL2001")
def unknown_scope_of_a_declaration() -> None:
    tvm.decl_buffer((8, 4), scope="image")  # wrong


@case("TL2002")
def cache_for_a_stage_that_does_not_read() -> None:
    x, _, y, s = chain_of()
    s.cache_read(x, "texture", [y])  # wrong


@case("TL2002")
def cache_for_no_stage() -> None:
    x, _, s = copy_of((8, 4))
    s.cache_read(x, "texture", [])  # wrong


@case("TL2003")
def axis_bound_twice() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[0], thread())  # wrong


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


@case("TL2004")
def tile_by_zero() -> None:
    _, y, s = copy_of((8, 4))
    s[y].tile(*s[y].op.axis, 0, 4)  # wrong


@case("TL2005")
def axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[y].split(s[p].op.axis[0], factor=2)  # wrong


@case("TL2005")
def axis_that_is_split_already() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], factor=2)
    s[y].bind(s[y].op.axis[0], block())  # wrong


@case("TL2005")
def attached_at_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(s[y], s[p].op.axis[0])  # wrong


@case("TL2006")
def unknown_thread_tag() -> None:
    te.thread_axis("threadIdx.w")  # wrong


@case("TL2006")
def bound_to_an_axis_that_is_no_thread() -> None:
    _, y, s = copy_of((8, 4))
    i, j = s[y].op.axis
    s[y].bind(i, j)  # wrong


@case("TL2007")
def tensor_of_another_schedule() -> None:
    _, _, s = copy_of((8, 4))
    _, other, _ = copy_of((8, 4))
    s[other]  # wrong


@case("TL2007")
def attached_to_a_stage_of_another_schedule() -> None:
    _, p, _, s = chain_of()
    _, _, y, other = chain_of()
    s[p].compute_at(other[y], other[y].op.axis[0])  # wrong


@case("TL2007")
def cache_of_a_tensor_of_another_schedule() -> None:
    _, y, s = copy_of((8, 4))
    x, _, _ = copy_of((8, 4))
    s.cache_read(x, "texture", [y])  # wrong


@case("TL2008")
def reorder_that_names_an_axis_twice() -> None:
    _, y, s = copy_of((8, 4))
    i, _ = s[y].op.axis
    s[y].reorder(i, i)  # wrong


@case("TL2009")
def fuse_of_axes_that_are_not_adjacent() -> None:
    _, y, s = copy_of((8, 4, 4))
    i, _, k = s[y].op.axis
    s[y].fuse(i, k)  # wrong


@case("TL2010")
def vectorize_of_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].vectorize(k)  # wrong


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


@case("TL2012")
def inlined_stage_of_several_outputs() -> None:
    x = te.placeholder((8,), name="X")
    pair, _ = te.compute((8,), lambda i: (x[i], x[i] + 1), name="P")
    y = te.compute((8,), lambda i: pair[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[pair].compute_inline()  # wrong
    tvm.lower(s, [x, y])


@case("TL2012")
def inlined_reduction() -> None:
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    y = te.compute((8,), lambda i: r[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[r].compute_inline()  # wrong


@case("TL2013")
def attached_to_itself() -> None:
    _, p, _, s = chain_of()
    s[p].compute_at(s[p], s[p].op.axis[0])  # wrong


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


@case("TL2015")
def directive_on_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].compute_inline()  # wrong


@case("TL2016")
def split_of_a_vectorized_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].vectorize(s[y].op.axis[1])
    s[y].split(s[y].op.axis[1], factor=2)  # wrong


@case("TL2016")
def fuse_of_an_unrolled_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].unroll(s[y].op.axis[1])
    s[y].fuse(*s[y].op.axis)  # wrong


@case("TL2016")
def bind_of_a_vectorized_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].vectorize(s[y].op.axis[1])
    s[y].bind(s[y].op.axis[1], thread())  # wrong


@case("TL2016")
def unroll_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].unroll(s[y].op.axis[0])  # wrong


@case("TL2016")
def split_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].split(s[y].op.axis[0], factor=2)  # wrong


@case("TL2017")
def layout_without_an_axis() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "texture", [y], layout="texture[(h, c) -> lanes=c]")  # wrong


@case("TL2017")
def layout_of_an_unknown_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].set_scope("texture", layout="texture[(h, c) -> rows=w, lanes=c]")  # wrong


@case("TL2017")
def layout_with_a_digit_twice() -> None:
    _, y, s = copy_of((8, 8))
    s.cache_write(y, "texture", layout="texture[(h, c) -> rows=h, cols=c, lanes=c%4]")  # wrong


@case("TL2017")
def layout_of_eight_lanes() -> None:
    tvm.nd.empty((8, 8), layout="texture[(h, c) -> rows=h, lanes=c]")  # wrong


@case("TL2017")
def layout_of_another_rank() -> None:
    tvm.decl_buffer((8, 4), layout="texture[(h, w, c) -> rows=h, cols=w, lanes=c]")  # wrong


@case("TL2017")
def layout_of_an_object_that_the_scope_is_not() -> None:
    x, y, s = copy_of((8, 4))
    s.cache_read(x, "shared", [y], layout="texture[(h, c) -> rows=h, lanes=c]")  # wrong


@case("TL2017")
def layout_of_an_object_that_no_kernel_accesses() -> None:
    tvm.decl_buffer((8, 4), layout="image2d_array[(h, c) -> rows=h, lanes=c]")  # wrong


@case("TL2017")
def transform_layout_by_no_digits() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h + c])  # wrong


@case("TL2017")
def transform_layout_that_loses_elements() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h // 2, c])  # wrong


@case("TL2017")
def transform_layout_of_too_many_axes() -> None:
    _, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda n, h, c: [n, h, c])  # wrong


@case("TL2017")
def transform_layout_of_scheduled_loops() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], 2)
    s[y].transform_layout(lambda h, c: [c, h])  # wrong


@case("TL2005")
def axis_that_rfactor_took_away() -> None:
    _, r, k, s = sum_of_rows()
    i = s[r].op.axis[0]
    s.rfactor(r, k)
    s[r].bind(i, block())  # wrong


@case("TL2005")
def alignment_of_a_part_of_an_axis() -> None:
    _, y, s = copy_of((8, 4))
    _, inner = s[y].split(s[y].op.axis[0], 2)
    s[y].storage_align(inner, 8, 1)  # wrong


@case("TL2005")
def pragma_on_an_axis_that_is_split_already() -> None:
    _, y, s = copy_of((8, 4))
    s[y].split(s[y].op.axis[0], 2)
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", 16)  # wrong


@case("TL2010")
def vectorize_pragma_of_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].pragma(k, "vectorize")  # wrong


@case("TL2016")
def parallel_of_a_bound_axis() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].parallel(s[y].op.axis[0])  # wrong


@case("TL2030")
def rfactor_of_no_reduction() -> None:
    _, y, s = copy_of((8, 4))
    s.rfactor(y, s[y].op.axis[0])  # wrong


@case("TL2030")
def rfactor_along_a_data_axis() -> None:
    _, r, _, s = sum_of_rows()
    s.rfactor(r, s[r].op.axis[0])  # wrong


@case("TL2030")
def rfactor_to_a_place_that_is_none() -> None:
    _, r, k, s = sum_of_rows()
    s.rfactor(r, k, 2)  # wrong


@case("TL2030")
def rfactor_of_what_is_fused_with_a_data_axis() -> None:
    _, r, k, s = sum_of_rows()
    outer, inner = s[r].split(k, 2)
    s[r].fuse(s[r].op.axis[0], outer)
    s.rfactor(r, inner)  # wrong


@case("TL2031")
def store_predicate_that_is_a_number() -> None:
    _, r, _, s = sum_of_rows()
    s[r].set_store_predicate(thread().var + 1)  # wrong


@case("TL2031")
def store_predicate_on_blocks() -> None:
    _, r, _, s = sum_of_rows()
    s[r].set_store_predicate(block().var < 1)  # wrong


@case("TL2032")
def alignment_by_zero() -> None:
    _, p, _, s = chain_of()
    s[p].storage_align(s[p].op.axis[0], 0, 1)  # wrong


@case("TL2033")
def double_buffer_of_an_output() -> None:
    _, y, s = copy_of((8, 4))
    s[y].double_buffer()  # wrong


@case("TL2025")
def pipeline_of_four_stages() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "local", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].pipeline(stages=4)  # wrong


@case("TL2025")
def pipeline_of_an_output() -> None:
    _, y, s = copy_of((8, 4))
    s[y].pipeline()  # wrong


@case("TL2025")
def pipeline_of_a_reduction() -> None:
    _, r, _, s = sum_of_rows()
    total = s.cache_write(r, "local")
    s[total].pipeline()  # wrong


@case("TL2015")
def pipeline_of_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].pipeline()  # wrong


@case("TL2025")
def pipeline_of_a_double_buffer() -> None:
    _, p, _, s = chain_of()
    s[p].double_buffer()
    s[p].pipeline()  # wrong


@case("TL2033")
def double_buffer_of_a_pipeline() -> None:
    _, p, _, s = chain_of()
    s[p].pipeline()
    s[p].double_buffer()  # wrong
