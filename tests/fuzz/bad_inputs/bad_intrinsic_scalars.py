"""Wrong scalars of tensor intrinsics, and calls and loops that give them no value."""

from __future__ import annotations

from bad_input import block, case
from bad_intrinsics import rows

import texloom as tvm
from texloom import te


def product() -> tuple:
    """Return x, v, and y[i] = x[i] * v of four elements."""
    x, v = te.placeholder((4,), name="x"), te.var("v", "float32")
    return x, v, te.compute((4,), lambda i: x[i] * v, name="y")


def by_scalar(ins: list, outs: list, sp: list) -> tvm.tir.Stmt:
    """Multiply one vector by the first scalar."""
    return outs[0].vstore(0, ins[0].vload(0, "float32x4") * sp[0])


def scaled() -> te.TensorIntrin:
    """Return the intrinsic of `product` and `by_scalar`."""
    _, v, y = product()
    return te.decl_tensor_intrin(y.op, by_scalar, "scaled", scalar_params=[v])


@case("TL1021", says="is not a variable of a scalar type")
def scalar_param_that_is_an_expression() -> None:
    _, v, y = product()
    te.decl_tensor_intrin(y.op, by_scalar, scalar_params=[v + 1])  # wrong


@case("TL1021", says="has a float among its scalar_params")
def scalar_param_that_is_a_number() -> None:
    _, _, y = product()
    te.decl_tensor_intrin(y.op, by_scalar, scalar_params=[2.0])  # wrong


@case("TL1021", says="is named twice")
def scalar_param_that_is_there_twice() -> None:
    _, v, y = product()
    te.decl_tensor_intrin(y.op, by_scalar, scalar_params=[v, v])  # wrong


@case("TL1021", says="its computation does not use the scalar v")
def scalar_param_that_is_not_computed_with() -> None:
    x, v, _ = product()
    y = te.compute((4,), lambda i: x[i] * 2, name="y")  # wrong
    te.decl_tensor_intrin(y.op, by_scalar, scalar_params=[v])


@case("TL1021", says="a stride or an offset as well")
def scalar_param_that_is_a_stride() -> None:
    x, v = te.placeholder((4,), "int32", name="x"), te.var("v")
    y = te.compute((4,), lambda i: x[i] * v, name="y")
    buffer = tvm.tir.decl_buffer((4,), "int32", strides=[v])
    te.decl_tensor_intrin(  # wrong
        y.op,
        lambda ins, outs, sp: outs[0].vstore(0, ins[0].vload(0) * sp[0]),
        binds={x: buffer},
        scalar_params=[v],
    )


@case("TL1021", says="it does not read each of its inputs")
def call_with_a_number_that_leaves_no_input() -> None:
    x, v = te.placeholder((4,), "int32", name="x"), te.var("v")
    y = te.compute((4,), lambda i: x[i] * v, name="y")
    f = te.decl_tensor_intrin(
        y.op, lambda ins, outs, sp: outs[0].vstore(0, ins[0].vload(0) * sp[0]), scalar_params=[v]
    )
    a = te.placeholder((8, 4), "int32", name="A")
    te.compute((8, 4), lambda i: f(a[i, 0:4], 0))  # wrong


@case("TL1021", says="1 inputs and 1 scalars, but is called with 1 parts of tensors and 2 scalars")
def call_with_too_many_scalars() -> None:
    a, f = te.placeholder((8, 4), name="A"), scaled()
    te.compute((8, 4), lambda i: f(a[i, 0:4], 1.0, 2.0))  # wrong


@case("TL1021", says="takes float32 for its scalar 'v', not the int32 i")
def call_with_a_scalar_of_another_dtype() -> None:
    a, f = te.placeholder((8, 4), name="A"), scaled()
    te.compute((8, 4), lambda i: f(a[i, 0:4], i))  # wrong


@case("TL1021", says="is called with a list")
def call_with_what_is_no_scalar() -> None:
    a, f = te.placeholder((8, 4), name="A"), scaled()
    te.compute((8, 4), lambda i: f(a[i, 0:4], [1.0]))  # wrong


@case("TL3033", says="its scalar 'v' would be B[i], which changes along")
def scalar_that_changes_inside_the_tensorized_loop() -> None:
    a, b = te.placeholder((8, 4), name="A"), te.placeholder((4,), name="B")
    y = te.compute((8, 4), lambda i, j: a[i, j] * b[j], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].tensorize(s[y].op.axis[1], scaled())  # wrong
    tvm.lower(s, [a, b, y])


@case("TL3033", says="it computes")
def scalar_with_two_values() -> None:
    x, v, _ = product()
    y = te.compute((4,), lambda i: x[i] * v + v, name="y")
    f = te.decl_tensor_intrin(y.op, by_scalar, scalar_params=[v])
    a, b = te.placeholder((8, 4), name="A"), te.placeholder((8,), name="B")
    c = te.compute((8, 4), lambda i, j: a[i, j] * b[i] + (b[i] + 1), name="C")
    s = te.create_schedule(c.op)
    s[c].bind(s[c].op.axis[0], block())
    s[c].tensorize(s[c].op.axis[1], f)  # wrong
    tvm.lower(s, [a, b, c])


@case("TL3033", says="does not determine the scalar 'v'")
def loops_that_do_not_show_the_scalar() -> None:
    x, y, s = rows(body=lambda x: lambda i, j: x[i, j] + 0, dtype="int32")
    a, v = te.placeholder((4,), "int32", name="a"), te.var("v")
    c = te.compute((4,), lambda i: a[i] + (v - v), name="c")
    f = te.decl_tensor_intrin(
        c.op, lambda ins, outs, sp: outs[0].vstore(0, ins[0].vload(0) + sp[0]), scalar_params=[v]
    )
    s[y].tensorize(s[y].op.axis[1], f)  # wrong
    tvm.lower(s, [x, y])


def reset_by_a_scalar() -> te.TensorIntrin:
    """Return y[0] = sum over k of x[k] * v, an intrinsic whose reset also uses v."""
    x, v, _ = product()
    k = te.reduce_axis((0, 4), name="k")
    y = te.compute((1,), lambda i: te.sum(x[k] * v, axis=k), name="y")

    def three(ins: list, outs: list, sp: list) -> list:
        total = sum(ins[0].vload(n) for n in range(4)) * sp[0]
        return [outs[0].vstore(0, e) for e in (total, sp[0] - sp[0], outs[0].vload(0) + total)]

    return te.decl_tensor_intrin(y.op, three, scalar_params=[v])


def steps() -> tuple:
    """Return A, B, C[i, j] = sums over ko and ki of A[i, j, ko, ki] * B[ko], and both axes."""
    a, b = te.placeholder((8, 3, 2, 4), name="A"), te.placeholder((2,), name="B")
    ko, ki = te.reduce_axis((0, 2), name="ko"), te.reduce_axis((0, 4), name="ki")
    c = te.compute((8, 3), lambda i, j: te.sum(a[i, j, ko, ki] * b[ko], axis=[ko, ki]), name="C")
    s = te.create_schedule(c.op)
    s[c].bind(s[c].op.axis[0], block())
    return a, b, c, s, ko, ki


@case("TL3033", says="the reset uses a value that changes from step to step, along 'ko'")
def reset_that_uses_a_scalar_of_the_step() -> None:
    a, b, c, s, _, ki = steps()
    s[c].tensorize(ki, reset_by_a_scalar())  # wrong
    tvm.lower(s, [a, b, c])


@case("TL3033", says="the reset uses a value that changes from step to step, along 'j.ko.fused'")
def reset_that_uses_a_scalar_of_a_fused_step() -> None:
    a, b, c, s, ko, ki = steps()
    s[c].fuse(c.op.axis[1], ko)
    s[c].tensorize(ki, reset_by_a_scalar())  # wrong
    tvm.lower(s, [a, b, c])


@case(
    "TL3033", says="the reset reads memory, while 'A.local' is computed inside the loop 'k.outer'"
)
def reset_that_reads_what_a_step_computes() -> None:
    """The reset is before the loop, where the copy does not exist yet."""
    x = te.placeholder((4,), name="x")
    k = te.reduce_axis((0, 4), name="k")
    y = te.compute((1,), lambda i: te.max(x[k], axis=k), name="y")

    def three(ins: list, outs: list) -> list:
        largest = te.max(ins[0].vload(0), ins[0].vload(1))
        largest = te.max(largest, te.max(ins[0].vload(2), ins[0].vload(3)))
        update = te.max(outs[0].vload(0), largest)
        return [outs[0].vstore(0, e) for e in (largest, ins[0].vload(0), update)]

    largest_of_four = te.decl_tensor_intrin(y.op, three)
    a = te.placeholder((8, 8), name="A")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((8,), lambda i: te.max(a[i, k], axis=k), name="C")
    s = te.create_schedule(c.op)
    s[c].bind(c.op.axis[0], block())
    ko, ki = s[c].split(k, factor=4)
    s[s.cache_read(a, "local", [c])].compute_at(s[c], ko)
    s[c].tensorize(ki, largest_of_four)  # wrong
    tvm.lower(s, [a, c])


@case("TL1021", says="uses the axis 'j' of the schedule")
def axis_of_the_schedule_in_a_computation() -> None:
    x = te.placeholder((3, 4), "int32", name="x")
    y = te.compute((3, 4), lambda j, i: x[j, i] * j, name="y")
    j, i = y.op.axis
    a = te.placeholder((4,), "int32", name="a")
    b = te.compute((4,), lambda i: a[i] * j, name="b")
    s = te.create_schedule(y.op)
    intrinsic = te.decl_tensor_intrin(
        b.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0, "int32x4"))
    )
    s[y].tensorize(i, intrinsic)  # wrong
