"""A tensor intrinsic, and helpers for tests of intrinsics."""

import numpy as np

import texloom as tvm
from texloom import te

RANDOM = np.random.default_rng(33)


def integers(*shape, dtype="float32"):
    return RANDOM.integers(-4, 5, size=shape).astype(dtype)


def lowered_text(s, args):
    """Return the text of the lowered program; check that the text of the schedule parses back."""
    text = str(tvm.program(s, args))
    assert str(tvm.parse(text)) == text
    return str(tvm.lower(s, args))


def bind(s, tensor, *axes):
    tags = ["blockIdx.x", "threadIdx.x"]
    for axis, tag in zip(axes, tags, strict=False):
        s[tensor].bind(axis, te.thread_axis(tag))


def vector_add(scope=""):
    """Declare an intrinsic that adds sixteen elements as one vector."""
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
