"""Invalid tensor intrinsics, and loops that do not compute what their intrinsic does."""

from __future__ import annotations

from typing import Any

from bad_input import block, case, text_case, thread

import texloom as tvm
from texloom import te


def statement(store: Any) -> Any:
    """Return the body of an intrinsic, made of one statement."""
    return lambda ins, outs: store(ins[0], outs[0])


def doubled(count: int = 4, **params: Any) -> te.TensorIntrin:
    """Return an intrinsic y[i] = x[i] * 2 of `count` elements."""
    x = te.placeholder((count,), name="x")
    y = te.compute((count,), lambda i: x[i] * 2, name="y")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        with ib.for_range(0, count) as i:
            ib.emit(outs[0].vstore(i, ins[0].vload(i) * 2.0))
        return ib.get()

    return te.decl_tensor_intrin(y.op, body, "double", default_buffer_params=params)


def dot() -> te.TensorIntrin:
    """Return an intrinsic for the sum of four products, with a body but no reset or update."""
    x = te.placeholder((4,), name="x")
    y = te.placeholder((4,), name="y")
    k = te.reduce_axis((0, 4), name="k")
    z = te.compute((1,), lambda i: te.sum(x[k] * y[k], axis=k), name="z")
    return te.decl_tensor_intrin(
        z.op,
        lambda ins, outs: outs[0].vstore(
            0, sum(ins[0].vload(k) * ins[1].vload(k) for k in range(4))
        ),
        "dot",
    )


def rows(shape: tuple = (8, 4), body: Any = None, dtype: str = "float32") -> tuple:
    """Return X, Y = X * 2 or `body`, and a schedule with Y's first axis bound to blocks."""
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, (lambda *i: x(*i) * 2) if body is None else body(x), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, y, s


def products(where: Any = None, init: Any = None, reducer: Any = te.sum) -> tuple:
    """Return X, W, S = row sums of their products, and a schedule with S's axis bound to blocks."""
    x, w = te.placeholder((8, 4), name="X"), te.placeholder((8, 4), name="W")
    k = te.reduce_axis((0, 4), name="k")
    condition = None if where is None else where(k)
    r = te.compute(
        (8,),
        lambda i: reducer(x[i, k] * w[i, k], axis=k, where=condition, init=init),
        name="S",
    )
    s = te.create_schedule(r.op)
    s[r].bind(s[r].op.axis[0], block())
    return x, w, r, s


# -- Declarations.


@case("TL1021")
def intrinsic_that_computes_nothing() -> None:
    x = te.placeholder((4,), name="x")  # wrong
    te.decl_tensor_intrin(x.op, lambda ins, outs: outs[0].vstore(0, 1.0))


@case("TL1021")
def buffer_of_another_shape_than_the_intrinsics_tensor() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")
    buffer = tvm.tir.decl_buffer((8,))  # wrong
    te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(0, 1.0)), binds={x: buffer})


@case("TL1021")
def strides_of_more_axes_than_the_buffer_has() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")
    buffer = tvm.tir.decl_buffer((4,), strides=[4, 1])  # wrong
    te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(0, 1.0)), binds={x: buffer})


@case("TL1021")
def stride_that_is_an_expression() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")
    buffer = tvm.tir.decl_buffer((4,), strides=[te.var("n") * 2])  # wrong
    te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(0, 1.0)), binds={x: buffer})


@case("TL1021")
def intrinsic_that_reads_part_of_its_input() -> None:
    x = te.placeholder((8,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")  # wrong
    te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(0, a.vload(7))))


@case("TL1021")
def intrinsic_with_a_start_of_its_own() -> None:
    x = te.placeholder((4,), name="x")
    k = te.reduce_axis((0, 4), name="k")
    y = te.compute((1,), lambda i: te.sum(x[k], axis=k, init=1.0), name="y")  # wrong
    te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(0, a.vload(0))))


@case("TL1021")
def intrinsic_that_binds_threads() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        ib = tvm.tir.ir_builder.create()
        tx = te.thread_axis("threadIdx.x")
        ib.scope_attr(tx, "thread_extent", 4)  # wrong
        ib.emit(outs[0].vstore(tx, ins[0].vload(tx) * 2.0))
        return ib.get()

    te.decl_tensor_intrin(y.op, body)


@case("TL1021")
def intrinsic_that_writes_past_its_output() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")
    te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(4, a.vload(0))))  # wrong


@case("TL1021")
def intrinsic_that_writes_its_input() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")
    te.decl_tensor_intrin(y.op, statement(lambda a, b: a.vstore(0, b.vload(0))))  # wrong


@case("TL1021")
def update_of_what_is_no_reduction() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * 2, name="y")

    def three(ins: list, outs: list) -> list:
        return [outs[0].vstore(i, ins[0].vload(i) * 2.0) for i in range(3)]

    te.decl_tensor_intrin(y.op, three)  # wrong


@case("TL3011")
def negative_offset_factor() -> None:
    tvm.tir.decl_buffer((4,), offset_factor=-2)  # wrong


@case("TL1020")
def extern_given_a_view() -> None:
    x = te.placeholder((8,), name="X")
    view = tvm.tir.decl_buffer((8,), strides=[2])
    te.extern((8,), [x], lambda ins, outs: outs[0].vstore(0, 1.0), in_buffers=view)  # wrong


@case("TL3011")
def argument_bound_to_a_view() -> None:
    x, y, s = rows()
    tvm.lower(s, [x, y], binds={x: tvm.decl_buffer((8, 4), strides=[8, 1])})  # wrong


@case("TL3011")
def argument_bound_to_a_view_of_a_texture() -> None:
    x, y, s = rows()
    buffer = tvm.decl_buffer((8, 4), strides=[4, 1], scope="texture")  # wrong
    tvm.lower(s, [x, y], binds={x: buffer})


@case("TL2042", says="auto_broadcast")
def buffer_that_would_be_broadcast() -> None:
    tvm.tir.decl_buffer((te.var("n"),), buffer_type="auto_broadcast")  # wrong


# -- Directives.


@case("TL2016")
def split_of_a_tensorized_axis() -> None:
    _, y, s = rows()
    s[y].tensorize(s[y].op.axis[1], doubled())
    s[y].split(s[y].op.axis[1], factor=2)  # wrong


@case("TL2016")
def tensorize_of_a_bound_axis() -> None:
    _, y, s = rows()
    s[y].tensorize(s[y].op.axis[0], doubled())  # wrong


@case("TL2016")
def bind_of_a_tensorized_axis() -> None:
    _, y, s = rows()
    s[y].tensorize(s[y].op.axis[1], doubled())
    s[y].bind(s[y].op.axis[1], thread())  # wrong


@case("TL2016")
def unroll_of_a_tensorized_axis() -> None:
    _, y, s = rows()
    s[y].tensorize(s[y].op.axis[1], doubled())
    s[y].unroll(s[y].op.axis[1])  # wrong


@case("TL2005")
def tensorize_of_another_stages_axis() -> None:
    _, y, s = rows()
    s[y].tensorize(te.reduce_axis((0, 4), name="k"), doubled())  # wrong


@case("TL2012", says="a tensor intrinsic replaces its loops")
def inlined_stage_that_an_intrinsic_computes() -> None:
    a = te.placeholder((8, 4), name="A")
    add = doubled()
    b = te.compute((8, 4), lambda i: add(a[i, 0:4]), name="B")
    c = te.compute((8, 4), lambda i, j: b[i, j] + 1, name="C")
    s = te.create_schedule(c.op)
    s[b].compute_inline()  # wrong


# -- Loops that compute something other than their intrinsic.


@case("TL3033")
def tensorized_loop_that_computes_something_else() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] + 1, name="y")
    one = te.decl_tensor_intrin(
        y.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0, "float32x4") + 1), "add_one"
    )
    a = te.placeholder((8, 4), name="A")
    b = te.compute((8, 4), lambda i, j: a[i, j] + 2, name="B")
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], te.thread_axis("blockIdx.x"))
    s[b].tensorize(s[b].op.axis[1], one)  # wrong
    tvm.lower(s, [a, b])


@case("TL3033")
def tensorized_loops_with_a_thread_inside() -> None:
    x, y, s = rows((8, 2, 4))
    s[y].bind(s[y].op.axis[2], thread())
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loop_of_no_constant_extent() -> None:
    x, y, s = rows((8, te.var("n")))
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loops_with_a_stage_inside() -> None:
    x = te.placeholder((8, 4), name="X")
    p = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="P")
    y = te.compute((8, 4), lambda i, j: p[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[y], s[y].op.axis[1])
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loops_that_are_cut_off() -> None:
    x, y, s = rows((8, 6))
    _, inner = s[y].split(s[y].op.axis[1], factor=4)
    s[y].tensorize(inner, doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_reduction_that_threads_share() -> None:
    x, w, r, s = products()
    outer, inner = s[r].split(s[r].op.reduce_axis[0], factor=2)
    s[r].bind(outer, thread())
    s[r].tensorize(inner, dot())  # wrong
    tvm.lower(s, [x, w, r])


@case("TL3033")
def tensorized_stage_without_the_intrinsics_axes() -> None:
    x, y, s = rows((8, 1))
    s[y].tensorize(s[y].op.axis[1], dot())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loop_of_another_extent() -> None:
    x, y, s = rows()
    s[y].tensorize(s[y].op.axis[1], doubled(2))  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loop_with_gaps() -> None:
    x, y, s = rows((8, 8))
    outer, inner = s[y].split(s[y].op.axis[1], factor=4)
    s[y].reorder(inner, outer)
    s[y].tensorize(outer, doubled(5))  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loop_that_reads_backwards() -> None:
    x, y, s = rows(body=lambda x: lambda i, j: x[i, 3 - j] * 2)
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loop_that_moves_along_another_axis() -> None:
    x, y, s = rows((4, 4), body=lambda x: lambda i, j: x[j, i] * 2)
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_loop_of_another_type() -> None:
    x, y, s = rows(dtype="int32")
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def tensorized_reduction_by_another_reducer() -> None:
    x, w, r, s = products(reducer=te.max)
    s[r].tensorize(s[r].op.reduce_axis[0], dot())  # wrong
    tvm.lower(s, [x, w, r])


@case("TL3033")
def tensorized_reduction_under_a_condition() -> None:
    x, w, r, s = products(where=lambda k: k < 3)
    s[r].tensorize(s[r].op.reduce_axis[0], dot())  # wrong
    tvm.lower(s, [x, w, r])


@case("TL3033")
def tensorized_reduction_that_starts_elsewhere() -> None:
    x, w, r, s = products(init=1.0)
    s[r].tensorize(s[r].op.reduce_axis[0], dot())  # wrong
    tvm.lower(s, [x, w, r])


@case("TL3033")
def one_input_of_the_intrinsic_for_two_tensors() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] * x[i], name="y")
    square = te.decl_tensor_intrin(y.op, statement(lambda a, b: b.vstore(0, a.vload(0))))
    a, b = te.placeholder((8, 4), name="A"), te.placeholder((8, 4), name="B")
    c = te.compute((8, 4), lambda i, j: a[i, j] * b[i, j], name="C")
    s = te.create_schedule(c.op)
    s[c].bind(s[c].op.axis[0], block())
    s[c].tensorize(s[c].op.axis[1], square)  # wrong
    tvm.lower(s, [a, b, c])


@case("TL3033")
def steps_for_which_the_intrinsic_has_no_update() -> None:
    x, w = te.placeholder((8, 8), name="X"), te.placeholder((8, 8), name="W")
    k = te.reduce_axis((0, 8), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k] * w[i, k], axis=k), name="S")
    s = te.create_schedule(r.op)
    s[r].bind(s[r].op.axis[0], block())
    _, inner = s[r].split(k, factor=4)
    s[r].tensorize(inner, dot())  # wrong
    tvm.lower(s, [x, w, r])


@case("TL3033")
def tensor_with_another_stride_than_the_view() -> None:
    x, y, s = rows((8, 4))
    s[y].tensorize(s[y].op.axis[1], doubled(strides=[2]))  # wrong
    tvm.lower(s, [x, y])


def with_one_offset(dtype: str = "float32") -> te.TensorIntrin:
    """Return y[i] = 2 x[i] of four elements; both views begin at the same variable."""
    offset = te.var("offset")
    x = te.placeholder((4,), dtype, name="x")
    y = te.compute((4,), lambda i: x[i] + x[i], name="y")
    binds = {t: tvm.tir.decl_buffer((4,), dtype, elem_offset=offset) for t in (x, y)}
    return te.decl_tensor_intrin(
        y.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0)), binds=binds
    )


@case("TL3033", says="share one offset variable")
def views_of_one_offset_that_begin_at_different_elements() -> None:
    x = te.placeholder((16,), name="X")
    y = te.compute((8,), lambda i: x[i + 8] + x[i + 8], name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=4)
    s[y].bind(outer, block())
    s[y].tensorize(inner, with_one_offset())  # wrong
    tvm.lower(s, [x, y])


@case("TL3033", says="more elements than int32 can count")
def offset_of_a_view_of_too_large_an_array() -> None:
    x, y, s = rows((4, 2**30), lambda x: lambda i, j: x[i, j] + x[i, j], "int8")
    _, inner = s[y].split(y.op.axis[1], factor=4)
    s[y].tensorize(inner, with_one_offset("int8"))  # wrong
    tvm.lower(s, [x, y])


@case("TL3033")
def strides_of_a_texture() -> None:
    x, y, s = rows((8, 4))
    s[y].tensorize(s[y].op.axis[1], doubled(strides=[1]))  # wrong
    tvm.lower(s, [x, y], binds={x: tvm.decl_buffer((8, 4), scope="texture")})


@case("TL3033", says="the view 'x' is in 'local', but 'X' is in 'global'")
def tensor_that_does_not_lie_where_the_view_does() -> None:
    x, y, s = rows((8, 4))
    s[y].tensorize(s[y].op.axis[1], doubled(scope="local"))  # wrong
    tvm.lower(s, [x, y])


@case("TL3033", says="but 'X' is in a texture")
def texture_where_the_view_names_global_memory() -> None:
    x, y, s = rows((8, 4))
    s[y].tensorize(s[y].op.axis[1], doubled(scope="global"))  # wrong
    tvm.lower(s, [x, y], binds={x: tvm.decl_buffer((8, 4), scope="texture")})


@case("TL3033", says="may begin elsewhere: along axis 0, it begins at index")
def part_that_begins_between_multiples_of_its_offset_factor() -> None:
    x, y, s = rows((8, 6))
    _, inner = s[y].split(s[y].op.axis[1], factor=2)
    s[y].tensorize(inner, doubled(2, offset_factor=4))  # wrong
    tvm.lower(s, [x, y])


@case("TL3033", says="not an array of constant strides")
def part_of_a_texture_with_an_offset_factor() -> None:
    x, y, s = rows((8, 8))
    _, inner = s[y].split(s[y].op.axis[1], factor=4)
    s[y].tensorize(inner, doubled(offset_factor=4))  # wrong
    tvm.lower(s, [x, y], binds={x: tvm.decl_buffer((8, 8), scope="texture")})


@case("TL3033")
def tensorized_loop_that_writes_a_texture() -> None:
    x, y, s = rows((8, 4))
    s[y].tensorize(s[y].op.axis[1], doubled())  # wrong
    tvm.lower(s, [x, y], binds={y: tvm.decl_buffer((8, 4), scope="texture")})


@text_case("TL6002")
def text_that_tensorizes_by_an_unknown_intrinsic() -> str:
    return """program p stage=te target="opencl"
  param X
  param Y

placeholder X: float32[4]

compute Y(i < 4): float32 = X[i] * 2.0
  output
  tensorize i double // wrong
"""


@case("TL4005")
def intrinsic_that_computes_in_float64() -> None:
    x = te.placeholder((1,), name="x")
    y = te.compute((1,), lambda i: x[i] + 1, name="y")

    def body(ins: list, outs: list) -> tvm.tir.Stmt:
        wide = ins[0].vload(0).astype("float64") + te.const(1, "float64")
        return outs[0].vstore(0, wide.astype("float32"))

    one = te.decl_tensor_intrin(y.op, body)
    a = te.placeholder((8, 1), name="A")
    b = te.compute((8, 1), lambda i, j: a[i, j] + 1, name="B")  # wrong
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], block())
    s[b].tensorize(s[b].op.axis[1], one)
    tvm.lower(s, [a, b], target="opencl -float64=0")
