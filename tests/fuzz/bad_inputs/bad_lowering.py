"""Schedules and arguments that are inconsistent as a whole, which lower refuses."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, thread

import texloom as tvm
from texloom import te


@case("TL2041", says="create_schedule was given no outputs")
def schedule_of_nothing() -> None:
    te.create_schedule([])  # wrong


@case("TL2007")
def tensor_of_another_schedule() -> None:
    _, _, s = copy_of((8, 4))
    _, other, _ = copy_of((8, 4))
    s[other]  # wrong


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


@case("TL3011", says="binds has a buffer for the tensor 'Z'")
def declaration_of_no_argument() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    z = te.placeholder((8, 4), name="Z")
    tvm.lower(s, [x, y], binds={z: tvm.decl_buffer((8, 4), scope="texture")})  # wrong


@case("TL3010", says="the input 'X' is not among the arguments")
def build_without_an_input() -> None:
    _, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    tvm.build(s, [y])  # wrong


@case("TL2001")
def unknown_scope_of_a_declaration() -> None:
    tvm.decl_buffer((8, 4), scope="image")  # wrong


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


@case("TL3011", says="declared with exact_image=True, but is in a buffer")
def buffer_declared_to_fill_an_image() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), exact_image=True)  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3011", says="declared with origin=True, but is in a buffer")
def buffer_declared_at_an_origin() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), origin=True)  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3011", says="declared with exact_image=True, but may begin anywhere in its image")
def texture_declared_to_fill_its_image_at_an_origin() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    declared = tvm.decl_buffer((8, 4), scope="texture", origin=True, exact_image=True)  # wrong
    tvm.lower(s, [x, y], binds={x: declared})


@case("TL3003")
def root_stage_bound_to_no_thread() -> None:
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")  # wrong
    s = te.create_schedule(y.op)
    tvm.build(s, [x, y])


@case("TL3018")
def expression_with_too_many_parts() -> None:
    x = te.placeholder((4,), name="X")
    value = x[0]
    for _ in range(60):
        value = value + value * value
    te.compute((4,), lambda i: value, name="Y")  # wrong


@case("TL3018", says="parts with 's0', 's1', 's2' and 10 more inlined")
def chain_of_doubling_stages_that_are_all_inlined() -> None:
    x = te.placeholder((64,), name="X")
    stages = [x]
    for k in range(14):
        p = stages[-1]
        stages.append(te.compute((63 - k,), lambda i, p=p: p[i] + p[i + 1], name=f"s{k}"))
    s = te.create_schedule(stages[-1].op)
    for p in stages[1:-1]:
        s[p].compute_inline()  # wrong
    s[stages[-1]].bind(s[stages[-1]].op.axis[0], block())
    tvm.lower(s, [x, stages[-1]])


@case("TL3018")
def reducer_of_doubled_terms() -> None:
    def combined(a, b):
        for _ in range(60):
            a = a + a * b
        return a

    total = te.comm_reducer(combined, lambda dtype: tvm.tir.const(0, dtype), name="total")
    x = te.placeholder((4, 4), name="X")
    k = te.reduce_axis((0, 4), name="k")
    te.compute((4,), lambda i: total(x[i, k], axis=k), name="Y")  # wrong


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


@case("TL3020", says="reads axis 0 of 'X' at indices 1 to 8")
def read_that_its_condition_does_not_guard() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: te.if_then_else(i < 8, x[i + 1], 0.0), name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL4007")
def square_of_an_axis_that_overflows() -> None:
    y = te.compute((70000,), lambda i: i * i, name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [y])


@case("TL4007")
def array_of_too_many_elements() -> None:
    x = te.placeholder((1 << 30, 1 << 20), "int8", name="X")  # wrong
    y = te.compute((8,), lambda i: x[i, i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL4007")
def arithmetic_of_axes_that_overflows() -> None:
    n = 1 << 16
    x = te.placeholder((n,), name="X")
    y = te.compute((n,), lambda i: te.if_then_else(i * 40000 < 0, 1.0, x[i]), name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    tvm.lower(s, [x, y])


@case("TL3003")
def virtual_threads_alone() -> None:
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("vthread"))
    tvm.build(s, [x, y])


@case("TL3019")
def expression_nested_too_deeply() -> None:
    x = te.placeholder((4,), name="X")
    value = x[0]
    for _ in range(100_000):
        value = te.sqrt(value)  # wrong
    te.compute((4,), lambda i: value, name="Y")


@case("TL2001")
def unknown_scope_of_an_array() -> None:
    tvm.nd.empty((8, 4), mem_scope="textur")  # wrong


@case("TL2001")
def array_in_shared_memory() -> None:
    tvm.nd.empty((8, 4), mem_scope="shared")  # wrong


@case("TL3006")
def array_of_float64_in_a_texture() -> None:
    tvm.nd.empty((8, 4), "float64", mem_scope="texture")  # wrong


@case("TL2042", says="save_json of a value of type Schedule")
def schedule_kept_as_json() -> None:
    _, _, s = copy_of((8, 4))
    tvm.ir.save_json(s)  # wrong


@case("TL2042", says="load_json")
def values_read_from_json() -> None:
    tvm.ir.load_json("{}")  # wrong


@case("TL3010", says="cannot apply double_buffer to the argument 'P': it would be computed ahead")
def argument_with_double_buffers() -> None:
    x, p, y, s = chain_of()
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("local")
    s[p].double_buffer()  # wrong
    tvm.lower(s, [x, p, y])


@case("TL3010", says="it is not known which of them should store it")
def argument_of_which_threads_compute_the_same() -> None:
    x = te.placeholder((14,), name="X")
    p = te.compute((14,), lambda i: x[i] + 1, name="P")
    k = te.reduce_axis((0, 3), name="k")
    y = te.compute((10,), lambda i: te.sum(p[i + 2 * k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], thread())
    s[p].compute_at(s[y], s[y].op.reduce_axis[0])  # wrong
    tvm.lower(s, [x, p, y])


@case("TL3011", says="the argument 'P' is inlined")
def texture_of_an_argument_that_is_inlined() -> None:
    x, p, y, s = chain_of()
    s[p].compute_inline()
    declared = tvm.decl_buffer(p.shape, p.dtype, scope="texture")  # wrong
    tvm.lower(s, [x, p, y], binds={p: declared})


@case("TL3011", says="the argument 'Z' is read by nothing")
def texture_of_an_argument_that_nothing_reads() -> None:
    x, y, s = copy_of((8, 4))
    z = te.placeholder((8, 4), name="Z")
    declared = tvm.decl_buffer(z.shape, z.dtype, scope="texture")  # wrong
    tvm.lower(s, [x, y, z], binds={z: declared})


@case("TL4007", says="between 0 and 15000000000000")
def index_that_overflows_and_then_leaves_its_axis() -> None:
    x = te.placeholder((16,), name="X")
    y = te.compute((16,), lambda i: x[i * 1000000 * 1000000], name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
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
