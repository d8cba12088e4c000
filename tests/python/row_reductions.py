"""Row reductions for tests to schedule, and their values."""

import numpy as np

from texloom import te

VALUES = np.random.default_rng(4).integers(-9, 9, size=(12, 30)).astype("float32")


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def row_sums(n=30, **options):
    x = te.placeholder((12, n), name="X")
    k = te.reduce_axis((0, n), name="k")
    b = te.compute((12,), lambda i: te.sum(x[i, k], axis=k, **options), name="B")
    return x, b, te.create_schedule(b.op)


def combined(a, b):
    first = te.any(a[1] > b[1], te.all(a[1] == b[1], a[0] < b[0]))
    return [te.if_then_else(first, a[i], b[i]) for i in range(2)]


argmax = te.comm_reducer(combined, lambda i, v: (te.max_value(i), te.min_value(v)), name="argmax")
