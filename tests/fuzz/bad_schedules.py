"""Schedules that are wrong as a whole, refused by lower."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL3001")
def one_thread_tag_with_two_extents() -> None:
    x, p, y, s = chain_of((8, 6))
    s[y].bind(s[y].op.axis[1], thread())  # wrong
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("shared")
    outer, _ = s[p].split(s[p].op.axis[1], nparts=3)
    s[p].bind(outer, thread())
    tvm.lower(s, [x, y])


@case("TL3002")
def vectorize_of_a_symbolic_extent() -> None:
    n = te.var("n")
    x = te.placeholder((8, n), name="X")
    y = te.compute((8, n), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL3003")
def root_stage_bound_to_no_thread() -> None:
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")  # wrong
    s = te.create_schedule(y.op)
    tvm.lower(s, [x, y])


@case("TL3003")
def texture_bound_to_no_thread() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "texture", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3004")
def texture_computed_inside_its_reader() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3005")
def attached_where_a_reader_does_not_run() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    y = te.compute((8,), lambda i: p[i] + 1, name="Y")
    z = te.compute((8,), lambda i: p[i] - 1, name="Z")
    s = te.create_schedule([y.op, z.op])
    for t in (y, z):
        s[t].bind(s[t].op.axis[0], block())
    s[p].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y, z])


@case("TL3005")
def attached_to_an_inlined_stage() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])  # wrong
    s[q].compute_inline()
    tvm.lower(s, [x, y])


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


@case("TL3006")
def array_of_float64_in_a_texture() -> None:
    tvm.nd.empty((8, 4), "float64", mem_scope="texture")  # wrong


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


@case("TL3008")
def reduction_in_a_texture() -> None:
    x, r, _, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s[r].set_scope("texture")  # wrong
    tvm.lower(s, [x, r])


@case("TL3009")
def local_stage_at_the_root() -> None:
    x, p, y, s = chain_of()
    s[p].bind(s[p].op.axis[0], block())
    s[p].set_scope("local")  # wrong
    tvm.lower(s, [x, y])


@case("TL3009")
def shared_cache_at_the_root() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s.cache_read(x, "shared", [y])  # wrong
    tvm.lower(s, [x, y])


@case("TL3010")
def input_missing_among_the_arguments() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [y])  # wrong


@case("TL3010")
def argument_named_twice() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y, x])  # wrong


@case("TL3010")
def argument_with_double_buffers() -> None:
    x, p, y, s = chain_of()
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("local")
    s[p].double_buffer()  # wrong
    tvm.lower(s, [x, p, y])


@case("TL3011")
def texture_of_an_argument_that_is_inlined() -> None:
    x, p, y, s = chain_of()
    s[p].compute_inline()
    declared = tvm.decl_buffer(p.shape, p.dtype, scope="texture")  # wrong
    tvm.lower(s, [x, p, y], binds={p: declared})


@case("TL3011")
def declaration_of_another_shape() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((4, 8), scope="texture")  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3011")
def declaration_of_another_dtype() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), "float16", scope="texture")  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3011")
def argument_declared_in_shared_memory() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), scope="shared")  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3013")
def global_stage_attached_to_a_loop() -> None:
    x, p, y, s = chain_of()
    s[p].set_scope("global")
    s[p].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3014")
def stages_attached_to_one_another() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - p[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])
    s[q].compute_at(s[p], s[p].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3015")
def one_thread_tag_twice_in_one_stage() -> None:
    x, y, s = copy_of((8, 8))
    i, j = s[y].op.axis
    s[y].bind(i, thread())
    s[y].bind(j, thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL3017")
def output_attached_to_a_loop() -> None:
    _, p, y, s = chain_of()
    s[y].compute_at(s[p], s[p].op.axis[0])  # wrong


@case("TL3017")
def output_inlined() -> None:
    _, y, s = copy_of((8, 4))
    s[y].compute_inline()  # wrong


@case("TL3018")
def expression_with_too_many_parts() -> None:
    x = te.placeholder((4,), name="X")
    value = x[0]
    for _ in range(60):
        value = value + value * value
    te.compute((4,), lambda i: value, name="Y")  # wrong


@case("TL3019")
def expression_nested_too_deeply() -> None:
    x = te.placeholder((4,), name="X")
    value = x[0]
    for _ in range(100_000):
        value = te.sqrt(value)  # wrong
    te.compute((4,), lambda i: value, name="Y")


@case("TL3020")
def read_outside_the_shape() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i + 1], name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL3020")
def read_below_zero() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] - x[i - 1], name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL3021")
def vectorize_of_an_axis_that_no_vector_divides() -> None:
    x, y, s = copy_of((8, 7))
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL3021")
def unroll_of_a_very_long_axis() -> None:
    x, y, s = copy_of((8, 10_000))
    s[y].bind(s[y].op.axis[0], block())
    s[y].unroll(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL3018")
def axis_that_is_reordered_and_fused_too_often() -> None:
    x, y, s = copy_of((64,))
    axis = s[y].op.axis[0]
    for _ in range(40):
        outer, inner = s[y].split(axis, factor=8)
        s[y].reorder(inner, outer)
        axis = s[y].fuse(inner, outer)  # wrong
    s[y].bind(axis, block())
    tvm.lower(s, [x, y])


@case("TL4007")
def arithmetic_of_axes_that_overflows() -> None:
    n = 1 << 16
    x = te.placeholder((n,), name="X")
    y = te.compute((n,), lambda i: te.if_then_else(i * 40000 < 0, 1.0, x[i]), name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL2017")
def stage_written_into_lanes_of_two_axes() -> None:
    x, y, s = copy_of((8, 4))
    layout = "texture[(h, c) -> rows=h/2, cols=c/2, lanes=(h%2, c%2)]"
    s.cache_read(x, "texture", [y], layout=layout)  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def padding_that_nothing_writes() -> None:
    x, y, s = copy_of((7, 4))
    layout = "texture[(h, c) -> rows=h%4, cols=h/4, lanes=c, padding=zero]"
    s.cache_read(x, "texture", [y], layout=layout)  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def separator_in_a_buffer() -> None:
    x, y, s = copy_of((8, 4))
    s[y].transform_layout(lambda h, c: [h, te.AXIS_SEPARATOR, c])  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def layout_and_transform_layout() -> None:
    x, y, s = copy_of((8, 4))
    s[y].set_scope("texture", layout="texture[(h, c) -> rows=h, lanes=c]")
    s[y].transform_layout(lambda h, c: [h, te.AXIS_SEPARATOR, c])  # wrong
    tvm.lower(s, [x, y])


@case("TL2017")
def transform_layout_of_a_part() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "local", [y])
    s[cache].transform_layout(lambda h, c: [c, h])  # wrong
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])
