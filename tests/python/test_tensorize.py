"""Tensor intrinsics: statements that stand for loops of a schedule."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

RANDOM = np.random.default_rng(33)


def integers(*shape):
    return RANDOM.integers(-4, 5, size=shape).astype("float32")


def lowered_alike(s, args):
    """The text of the schedule is read back, and lowers to the same program."""
    text = str(tvm.program(s, args))
    again = tvm.parse(text)
    assert str(again) == text
    return str(tvm.lower(s, args))


def gemv(m, n, order=("reset", "update")):
    """c[i] = sum over k of b[i, k] * a[k], as in TVM's tutorial but for its foreign function."""
    a = te.placeholder((n,), name="a")
    b = te.placeholder((m, n), name="b")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    stride = te.var("stride")
    binds = {
        a: tvm.tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1]),
        b: tvm.tir.decl_buffer(b.shape, b.dtype, name="B", offset_factor=1, strides=[stride, 1]),
        c: tvm.tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1]),
    }

    def intrin(ins, outs):
        def accumulate(reset):
            ib = tvm.tir.ir_builder.create()
            x, y, z = (ib.buffer_ptr(each) for each in (*ins, *outs))
            with ib.for_range(0, m) as i:
                if reset:
                    z[i] = 0.0
                with ib.for_range(0, n) as j:
                    z[i] += x[j] * y[i, j]
            return ib.get()

        def cleared():
            ib = tvm.tir.ir_builder.create()
            z = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m) as i:
                z[i] = 0.0
            return ib.get()

        made = {"reset": cleared(), "update": accumulate(False), None: None}
        return accumulate(True), *(made[word] for word in order)

    return te.decl_tensor_intrin(c.op, intrin, binds=binds)


def matmul(rows=8, cols=16, depth=12):
    a = te.placeholder((rows, depth), name="A")
    b = te.placeholder((cols, depth), name="B")
    k = te.reduce_axis((0, depth), name="k")
    return (
        a,
        b,
        te.compute((rows, cols), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C"),
    )


def bind(s, tensor, *axes):
    tags = ["blockIdx.x", "threadIdx.x"]
    for axis, tag in zip(axes, tags, strict=False):
        s[tensor].bind(axis, te.thread_axis(tag))


def test_gemv_over_the_inner_loops_of_a_matmul(run):
    """The whole reduction inside: the body alone."""
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=4)
    s[c].reorder(i, jo, ji, c.op.reduce_axis[0])
    bind(s, c, i, jo)
    intrinsic = gemv(4, 12)
    s[c].tensorize(ji, intrinsic)
    assert s[c].iter_var_attrs[ji].tensor_intrin == intrinsic
    assert s[c].iter_var_attrs[ji].iter_type == 8
    lowered_alike(s, [a, b, c])
    x, y = integers(8, 12), integers(16, 12)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()


@pytest.mark.parametrize("order", [("reset", "update"), (None, "update")])
def test_split_reduction_is_reset_and_updated(run, order):
    """Without a reset the first step of the outer loop is the body."""
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=4)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=3)
    s[c].reorder(i, jo, ko, ji, ki)
    bind(s, c, i, jo)
    s[c].tensorize(ji, gemv(4, 3, order))
    lowered_alike(s, [a, b, c])
    x, y = integers(8, 12), integers(16, 12)
    assert (run(s, [a, b, c], x, y) == x @ y.T).all()
