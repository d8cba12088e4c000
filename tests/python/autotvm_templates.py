"""Templates of AutoTVM for tests: products of matrices, for processors and for GPUs."""

import time

import numpy as np

from texloom import autotvm, te
from texloom.autotvm import MeasureInput, MeasureResult
from texloom.autotvm.measure import Runner

N = 32


@autotvm.template("tests/matmul")
def matmul(n, depth, m, dtype):
    """Split rows and columns, as the tutorial on a product for x86 does."""
    a = te.placeholder((n, depth), name="A", dtype=dtype)
    b = te.placeholder((depth, m), name="B", dtype=dtype)
    k = te.reduce_axis((0, depth), name="k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    y, x = s[c].op.axis
    (k,) = s[c].op.reduce_axis
    cfg = autotvm.get_config()
    cfg.define_split("tile_y", y, num_outputs=2)
    cfg.define_split("tile_x", x, num_outputs=2)
    yo, yi = cfg["tile_y"].apply(s, c, y)
    xo, xi = cfg["tile_x"].apply(s, c, x)
    s[c].reorder(yo, xo, k, yi, xi)
    return s, [a, b, c]


@autotvm.template("tests/blocks")
def blocks(n, factors=(1, 2, 4)):
    """Bind rows and columns to blocks and threads; a knob of 7 is refused, large blocks fail."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    cfg = autotvm.get_config()
    cfg.define_knob("rows", list(factors))
    cfg.define_knob("columns", [1, 2])
    if cfg["rows"].val == 7:
        cfg.raise_error("7 rows do not suit it")
    for axis, name, letter in zip(c.op.axis, ("rows", "columns"), "yx", strict=True):
        outer, inner = s[c].split(axis, cfg[name].val)
        s[c].bind(outer, te.thread_axis(f"blockIdx.{letter}"))
        s[c].bind(inner, te.thread_axis(f"threadIdx.{letter}"))
    return s, [a, b, c]


class DummyRunner(Runner):
    """A runner that measures nothing: the times follow from the number of a configuration."""

    def __init__(self, seconds=lambda config: 1e-3 + config.index * 1e-6):
        super().__init__(1, 1)
        self.seconds, self.seen = seconds, []

    def run(self, measure_inputs, build_results):
        """Return a time for each configuration."""
        assert all(each.error is None for each in build_results)
        self.seen += [each.config.index for each in measure_inputs]
        times = [self.seconds(each.config) for each in measure_inputs]
        return [MeasureResult((each,), 0, 0.2, time.time()) for each in times]


def sample_task(n=128):
    """Return a task for processors, of 64 configurations for n = 128."""
    return autotvm.task.create("tests/matmul", args=(n, n, n, "float32"), target="llvm")


def sample_records(count, n=128):
    """Return records of the first configurations, the first one of which is the fastest."""
    task = sample_task(n)
    size = len(task.config_space)
    return [
        (
            MeasureInput(task.target, task, task.config_space.get(each % size)),
            MeasureResult((each + 1.0, each + 1.5), 0, each, time.time()),
        )
        for each in range(count)
    ]


def product(n, seed=0):
    """Return two matrices, and their product."""
    random = np.random.default_rng(seed)
    a, b = (random.uniform(size=(n, n)).astype("float32") for _ in range(2))
    return a, b, a @ b
