"""Scans for tests, and functions that bind their axes."""

import numpy as np

from texloom import te


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def numbers(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).integers(-4, 5, size=shape).astype(dtype)


def over_columns(s, t, factor=4):
    """Bind the last axis to blocks of threads."""
    outer, inner = s[t].split(s[t].op.axis[-1], factor=factor)
    s[t].bind(outer, block())
    s[t].bind(inner, thread())
    return outer, inner


def over_threads(s, t, axis=-1):
    s[t].bind(s[t].op.axis[axis], thread())


class RunningSums:
    """Running sums of the rows: state, init, update and scan."""

    def __init__(self, rows=6, columns=10):
        self.x = te.placeholder((rows, columns), name="X")
        self.state = te.placeholder((rows, columns), name="state")
        self.init = te.compute((1, columns), lambda _, i: self.x[0, i], name="init")
        self.update = te.compute(
            (rows, columns), lambda t, i: self.state[t - 1, i] + self.x[t, i], name="update"
        )
        self.scan = te.scan(self.init, self.update, self.state, inputs=[self.x])
        self.s = te.create_schedule(self.scan.op)

    def bound(self):
        for t in (self.init, self.update):
            over_columns(self.s, t)
        return self


class Cell:
    """state[t] = W @ state[t - 1] + X[t], with the product in a separate stage."""

    def __init__(self, rows=5, size=8):
        self.x = te.placeholder((rows, size), name="X")
        self.w = te.placeholder((size, size), name="W")
        self.state = te.placeholder((rows, size), name="state")
        k = te.reduce_axis((0, size), name="k")
        self.init = te.compute((1, size), lambda t, i: self.x[0, i], name="init")
        self.product = te.compute(
            (rows, size),
            lambda t, i: te.sum(self.w[i, k] * self.state[t - 1, k], axis=k),
            name="product",
        )
        self.update = te.compute(
            (rows, size), lambda t, i: self.product[t, i] + self.x[t, i], name="update"
        )
        self.scan = te.scan(self.init, self.update, self.state, name="cell")
        self.s = te.create_schedule(self.scan.op)
        self.args = [self.x, self.w, self.scan]
        over_threads(self.s, self.init)

    def expected(self, v, w):
        rows = [v[0]]
        for t in range(1, len(v)):
            rows.append(w @ rows[-1] + v[t])
        return rows

    def check(self, run):
        rows, size = (int(n) for n in self.x.shape)
        v, w = numbers(rows, size), np.sign(numbers(size, size))
        np.testing.assert_array_equal(run(self.s, self.args, v, w), self.expected(v, w))
