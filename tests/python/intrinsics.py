"""A tensor intrinsic, and what tests of them share."""

import numpy as np

import texloom as tvm
from texloom import te

RANDOM = np.random.default_rng(33)


def integers(*shape, dtype="float32"):
    return RANDOM.integers(-4, 5, size=shape).astype(dtype)


def lowered_text(s, args):
    """The text of the program; the text of the schedule is read back."""
    text = str(tvm.program(s, args))
    assert str(tvm.parse(text)) == text
    return str(tvm.lower(s, args))


def bind(s, tensor, *axes):
    tags = ["blockIdx.x", "threadIdx.x"]
    for axis, tag in zip(axes, tags, strict=False):
        s[tensor].bind(axis, te.thread_axis(tag))


def vector_add(scope=""):
    """Sixteen elements, as one vector."""
    a = te.placeholder((16,), name="a")
    b = te.placeholder((16,), name="b")
    c = te.compute((16,), lambda i: a[i] + b[i], name="c")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        total = ins[0].vload(0, "float32x16") + ins[1].vload(0, "float32x16")
        ib.emit(outs[0].vstore(0, total))
        return ib.get()

    params = {"scope": scope, "offset_factor": 16}
    return te.decl_tensor_intrin(c.op, body, "vadd16", default_buffer_params=params)
