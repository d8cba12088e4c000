"""Indices in bounds are accepted, whether or not the bounds are easy to prove."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

INDICES = {
    "floormod of what may be negative": lambda i: (5 - i) % 8,
    "floordiv of what may be negative": lambda i: (5 - i) // 2 + 5,
    "reflection": lambda i: te.max(5 - i, i - 5),
    "a choice": lambda i: te.if_then_else(i < 5, 5 - i, i - 5),
    "a shift": lambda i: i >> 1,
    "bits": lambda i: (i & 7) | 1,
    "other bits": lambda i: i ^ 5,
    "a product": lambda i: i * (15 - i) // 8,
    "a negative divisor": lambda i: i // -4 + 4,
}


@pytest.mark.parametrize("scope", [None, "texture"])
@pytest.mark.parametrize("name", INDICES)
def test_indices_of_all_kinds(run, name, scope):
    index = INDICES[name]
    x = te.placeholder((16, 4), name="X")
    y = te.compute((16, 4), lambda i, j: x[index(i), j], name="Y")
    s = te.create_schedule(y.op)
    stages = [y] if scope is None else [s.cache_read(x, scope, [y]), y]
    for stage in stages:
        i, j = s[stage].op.axis
        s[stage].bind(i, te.thread_axis("threadIdx.x"))
    a = np.random.default_rng(1).random((16, 4), dtype=np.float32)
    b = run(s, [x, y], a)
    python_index = {
        "reflection": lambda i: max(5 - i, i - 5),
        "a choice": lambda i: abs(5 - i),
    }.get(name, index)
    np.testing.assert_array_equal(b, a[[python_index(i) for i in range(16)]])


def test_large_unsigned_constants(run):
    a = te.placeholder((4,), "uint16", name="A")
    quotient = te.truncdiv(te.const(2**64 - 2, "uint64"), te.const(8, "uint64"))
    b = te.compute((4,), lambda i: te.max(a[i], quotient.astype("uint16")), name="B")
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], te.thread_axis("threadIdx.x"))
    result = run(s, [a, b], np.arange(4, dtype=np.uint16))
    np.testing.assert_array_equal(result, np.full(4, 65535, np.uint16))


def test_a_split_that_leaves_one_iteration_over(run):
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].op.axis[0], te.thread_axis("blockIdx.x"))
    i, j = s[y].op.axis
    outer, _ = s[y].split(j, factor=5)
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    s[y].bind(outer, te.thread_axis("threadIdx.x"))
    a = np.random.default_rng(2).random((8, 4), dtype=np.float32)
    b = run(s, [x, y], a)
    np.testing.assert_array_equal(b, a + np.float32(1))


def test_long_names(run):
    x = te.placeholder((4,), name="X" * 3000)
    y = te.compute((4,), lambda i: x[i] + 1, name="Y" * 3000)
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    b = run(s, [x, y], np.zeros(4, np.float32), name="f" * 3000)
    np.testing.assert_array_equal(b, np.ones(4, np.float32))


def test_messages_show_what_cannot_be_printed():
    with pytest.raises(tvm.TVMError, match=r"'a\\x00b'(.|\n)*help: "):
        te.placeholder((4,), "a\0b")
