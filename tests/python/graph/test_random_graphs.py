"""Random graphs of operators compute the same with all passes, with none, and in NumPy."""

import random
from functools import partial

import numpy as np
import pytest
from conftest import plain_target
from nightly import most_at_night

from texloom import te, tir
from texloom.graph import Graph
from texloom.ops.movement import reshape

LIMIT = 64.0  # values are integers up to this, so that all results are exact

SHAPES = [(4, 6), (6, 4), (24,), (2, 12), (4, 1), (1, 6), (2, 2, 6)]


def clipped(value):
    return tir.Min(tir.Max(value, te.const(-LIMIT)), te.const(LIMIT))


def unary(x):
    """Read each element of the input twice, in a product and in a maximum."""
    return te.compute(x.shape, lambda *i: clipped(x(*i) * 2.0 - tir.Max(x(*i), te.const(0.0))))


def binary(a, b):
    return te.compute(a.shape, lambda *i: clipped(a(*i) - b(*i)))


def broadcast(a, b):
    at = [0 if int(n) == 1 else None for n in b.shape]

    def element(*i):
        return clipped(a(*i) + b(*(j if n is None else n for n, j in zip(at, i, strict=True))))

    return te.compute(a.shape, element)


def transposed(x):
    return te.compute(x.shape[::-1], lambda *i: x(*reversed(i)))


def padded(x):
    """Move by one along the last axis; the first element is fixed."""
    return te.compute(
        x.shape, lambda *i: te.if_then_else(i[-1] > 0, x(*i[:-1], i[-1] - 1), te.const(3.0))
    )


def maximum(x):
    """Reduce the last axis, which keeps the extent 1."""
    k = te.reduce_axis((0, x.shape[-1]), name="k")
    return te.compute((*x.shape[:-1], 1), lambda *i: te.max(x(*i[:-1], k), axis=k))


def squared(x):
    """Multiply a matrix by its transpose, along the last axis, with clipped factors and results."""
    k = te.reduce_axis((0, x.shape[-1]), name="k")

    def product(i, j):
        return te.sum(tir.Min(x(i, k), te.const(2.0)) * tir.Max(x(j, k), te.const(-2.0)), axis=k)

    sums = te.compute((x.shape[0], x.shape[0]), product)
    return te.compute(sums.shape, lambda i, j: clipped(sums(i, j)))


def wrapped(values):
    return np.clip(values, -LIMIT, LIMIT).astype("float32")


class RandomGraph:
    """A graph of up to 24 operators, and the values of its tensors for one input."""

    def __init__(self, seed):
        self._choose = random.Random(seed)
        self.graph = Graph(f"random{seed}")
        self.given = {}
        self.values = {}
        numbers = np.random.default_rng(seed)
        for i in range(3):
            name, shape = f"x{i}", self._choose.choice(SHAPES)
            self.given[name] = numbers.integers(-9, 10, shape).astype("float32")
            self.values[self.graph.input(name, shape)] = self.given[name]
        for i in range(self._choose.randint(3, 24)):
            self._add(f"n{i}")
        made = [t for t in self.values if t.name not in self.given]
        for tensor in {made[-1], *self._choose.sample(made, len(made) // 5)}:
            self.graph.output(tensor)

    def _add(self, name):
        x = self._choose.choice(list(self.values)[-6:])
        value = self.values[x]
        function, inputs, result = self._choose.choice(
            [each for each in self._possible(x, value) if each]
        )
        (made,) = self.graph.op(name, "random", function, inputs)
        self.values[made] = result
        assert made.shape == result.shape

    def _possible(self, x, value):
        yield unary, [x], wrapped(value * 2 - np.maximum(value, 0))
        yield transposed, [x], value.T.copy()
        moved = np.roll(value, 1, axis=-1)
        moved[..., 0] = 3
        yield padded, [x], moved
        yield maximum, [x], value.max(axis=-1, keepdims=True)
        shapes = [s for s in SHAPES if np.prod(s) == value.size and s != value.shape]
        if shapes:
            shape = self._choose.choice(shapes)
            yield partial(reshape, shape=shape), [x], value.reshape(shape)
        if value.ndim == 2:
            sums = np.minimum(value, 2) @ np.maximum(value, -2).T
            yield squared, [x], wrapped(sums)
        for y, other in self.values.items():
            if other.shape == value.shape:
                yield binary, [x, y], wrapped(value - other)
            elif other.ndim == value.ndim and all(
                m in (1, n) for m, n in zip(other.shape, value.shape, strict=True)
            ):
                yield broadcast, [x, y], wrapped(value + other)


@pytest.mark.slow
@pytest.mark.parametrize("seed", most_at_night(range(16), first=4))
def test_random_graph(dev, seed):
    case = RandomGraph(seed)
    expected = {t.name: value for t, value in case.values.items()}
    for passes in (None, ()):
        compiled = case.graph.compile(plain_target(dev), passes=passes)
        for name, got in compiled.run(case.given, dev).items():
            assert (got == expected[name]).all(), (name, passes, str(compiled))
