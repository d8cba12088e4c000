"""Families of schedules: spaces of knobs, estimates, defaults, and choices of other knobs."""

from dataclasses import dataclass, fields, is_dataclass
from functools import partial

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import nd, te
from texloom.graph import Graph
from texloom.graph.scheduler import alternatives_of, collected_tasks
from texloom.ops.contraction import Contraction
from texloom.ops.convolution import convolution
from texloom.ops.elementwise import relu
from texloom.ops.normalization import group_normalization, softmax
from texloom.ops.products import matmul
from texloom.ops.schedules import Choice, Family, KernelTask, Space, schedule_default
from texloom.ops.schedules.families import FAMILIES
from texloom.ops.schedules.family import MOST_POINTS, Spaces
from texloom.profiles import stated
from texloom.target import resolve

WITH_REGISTERS = "opencl -vector_registers=32x64"
TARGETS = ["opencl", WITH_REGISTERS]
TARGETS += ["opencl -device=nvidia", "opencl -device=adreno", "opencl -device=mali"]
TARGETS += ["llvm -mcpu=haswell"] if has_llvm() else []
ON_POCL = "opencl -device=nvidia -conditional_barriers=0"  # PoCL has no such barriers


def integers(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).integers(-3, 4, shape).astype("float32")


def mean(x):
    axes = [te.reduce_axis((0, extent)) for extent in x.shape[2:]]
    sums = te.compute(
        (*x.shape[:2], 1, 1), lambda n, c, *_: te.sum(x(n, c, *axes), axis=axes), name="sums"
    )
    return te.compute(sums.shape, lambda *i: sums(*i) * 0.5, name="mean")


def long_sums(x):
    k = te.reduce_axis((0, x.shape[1]), name="k")
    return te.compute((x.shape[0],), lambda i: te.sum(x[i, k], axis=k), name="long")


def squeezed(x, a, b):
    return matmul(relu(matmul(x, a)), b)


def network():
    """A graph with a kernel of each family of devices, in which convolutions have neighbors."""
    g = Graph("families")

    def op(name, compute, *inputs):
        return g.op(name, name, compute, list(inputs))[0]

    x = g.input("x", (1, 8, 12, 12))
    a = op("conv", lambda d, k: convolution(d, k, pads=[1] * 4), x, weights(g, 16, 8, 3, 3))
    b = op(
        "depthwise",
        lambda d, k: convolution(d, k, pads=[1] * 4, groups=16),
        a,
        weights(g, 16, 1, 3, 3),
    )
    c = op("pixels", convolution, b, weights(g, 32, 16, 1, 1))
    g.output(op("mean", mean, c))
    many = op("many", convolution, g.input("s", (1, 8, 7, 7)), weights(g, 480, 8, 1, 1))
    g.output(op("fewer", convolution, many, weights(g, 64, 480, 1, 1)))
    p = op("product", matmul, g.input("m", (24, 64)), weights(g, 64, 48))
    g.output(op("softmax", softmax, p))
    g.output(op("row", matmul, g.input("r", (1, 64)), weights(g, 64, 40)))
    g.output(op("long", long_sums, g.input("l", (2, 100000))))
    factors = weights(g, 64, 6), weights(g, 6, 40)
    g.output(op("chain", squeezed, g.input("q", (1, 64)), *factors))
    scale, bias = weights(g, 8), g.constant("bias", integers(8, seed=1))
    for parts in (1, 4):
        grouped = partial(group_normalization, groups=2, parts=parts)
        image = g.input(f"i{parts}", (1, 8, 8, 8))
        g.output(op(f"groups{parts}", grouped, image, scale, bias))
    return g


def of_halves():
    """A graph with the kernels that fragments compute."""
    g = Graph("halves")
    x, w = g.input("x", (1, 16, 12, 12), "float16"), g.input("w", (32, 16, 3, 3), "float16")
    a = g.op("conv", "conv", lambda d, k: convolution(d, k, pads=[1] * 4), [x, w])[0]
    y = g.op(
        "last", "last", lambda d, k: convolution(d, k), [a, g.input("k", (16, 32, 1, 1), "float16")]
    )
    g.output(y[0])
    m, n = g.input("m", (24, 64), "float16"), g.input("n", (64, 48), "float16")
    g.output(g.op("product", "product", matmul, [m, n])[0])
    return g


def weights(g, *shape):
    return g.constant(f"w{'x'.join(map(str, shape))}", integers(*shape))


def tasks_for(target, passes=(), network=network):
    with collected_tasks() as tasks:
        network().compile(target, passes=passes)
    return list(tasks.values())


def kernels_of(task, target=None):
    choice = Choice()
    alternatives_of(task, choice)
    return choice.kernels


@pytest.mark.parametrize("target", TARGETS)
def test_the_default_is_in_its_space(target):
    """It is the point with the least estimate, the first of equal ones; knobs are data."""
    found = [kernel for task in tasks_for(target) for kernel in kernels_of(task).items()]
    assert len(found) >= 4
    for (family, _), task in found:
        space, default = family.space(task), family.default(task)
        assert default in space and 1 <= len(space) + sum(space.cut.values()) <= MOST_POINTS
        assert len(set(space)) == len(space)
        assert is_dataclass(default) and hash(default) == hash(family.default(task))
        estimates = [family.estimate(task, knobs) for knobs in space]
        if not family.is_estimated:
            assert default == space.points[0] and set(estimates) == {None}
            continue
        assert all(1e-9 < each < 1 for each in estimates)
        least = min(round(each, 15) for each in estimates)
        assert default == space.points[[round(each, 15) for each in estimates].index(least)]


def test_the_network_has_every_family():
    """Else the tests of this file would test fewer: separable convolutions need a graph pass."""
    tasks = [task for target in TARGETS for task in tasks_for(target)]
    tasks += tasks_for("opencl -device=nvidia", passes=None)
    tasks += tasks_for("opencl -device=nvidia", network=of_halves)
    names = {family.name for task in tasks for family, _ in kernels_of(task)}
    every = {family.name for families in FAMILIES.values() for family in families}
    missing = {"transforms of tiles", "reductions of channels"}  # of Winograd, and of groups
    assert names == every - missing


@pytest.mark.parametrize("target", ["opencl", WITH_REGISTERS, ON_POCL])
@pytest.mark.parametrize("share", [0.0, 0.35, 0.65, 1.0])
def test_any_point_gives_the_result_of_the_default(target, share):
    """A point is chosen by its place in the space.

    Sums of small integers are exact, but variances, and functions of them, are rounded.
    """
    device = texloom.device("opencl", 0)
    for task in tasks_for(target):
        kernels = kernels_of(task)
        given = {
            kernel: own.points[int(share * (len(own) - 1))]
            for kernel, own in ((k, k[0].space(t)) for k, t in kernels.items())
        }
        inputs = [integers(*map(int, each.shape)) for each in task.computation.inputs]
        results = [
            run(alternatives_of(task, choice)[0].program, inputs, task, device)
            for choice in (Choice(), Choice(given))
        ]
        np.testing.assert_allclose(*results, rtol=1e-6, atol=1e-6)


def run(program, inputs, task, device):
    function = texloom.build(program, target=task.target)
    (output,) = (np.zeros(tuple(map(int, y.shape)), y.dtype) for y in task.computation.outputs)
    arguments = [
        nd.array(value, device, layout=layout) if layout else nd.array(value, device)
        for value, layout in zip((*inputs, output), function.argument_layouts, strict=True)
    ]
    function(*arguments)
    return arguments[-1].numpy()


def test_weights_have_the_layout_of_the_chosen_knobs():
    """Panels of a product are as wide as its tiles."""
    task = next(
        each
        for each in tasks_for(WITH_REGISTERS)
        if len(each.computation.inputs) == 2
        and tuple(map(int, each.computation.inputs[1].shape)) == (64, 48)
    )
    ((kernel, own),) = kernels_of(task).items()
    for knobs in kernel[0].space(own).points[:3]:
        (made,) = alternatives_of(task, Choice({kernel: knobs}))
        assert f"n/{knobs.vectors * knobs.lanes}, k" in str(made.program)


def test_equal_kernels_have_equal_facts():
    """A choice of knobs for a kernel holds for the same kernel of another graph."""
    first, second = (
        {kernel for task in tasks_for("opencl -device=nvidia") for kernel in kernels_of(task)}
        for _ in range(2)
    )
    assert first == second


@dataclass(frozen=True)
class Pair:
    a: int
    b: int


class Toy(Spaces[int, Pair]):
    """Pairs below a number; those with equal halves are illegal."""

    name = "toy"
    is_estimated = True

    def points(self, facts):
        for a in range(facts):
            for b in (0, 0, 1, 2):
                yield Pair(a, b), "equal" if a == b else None

    def seconds(self, facts, knobs, profile):
        return abs(knobs.a - 2) * 1e-6 + 1e-18 * knobs.b


def test_spaces():
    toy = Toy()
    space = Space.of(toy.points(3))
    assert space.points == (Pair(0, 1), Pair(0, 2), Pair(1, 0), Pair(1, 2), Pair(2, 0), Pair(2, 1))
    assert space.cut == {"equal": 4}
    assert Pair(1, 1) not in space and Pair(1, 2) in space
    # Estimates that differ by rounding only are equal: the first point is taken.
    assert toy.best(3, stated("cpu")) == Pair(2, 0)
    assert toy.least_seconds(3, stated("cpu")) == 0
    assert toy.best(0, stated("cpu")) is None and toy.least_seconds(0, stated("cpu")) == np.inf
    near = space.neighbors(Pair(2, 0))
    assert near[:2] == [Pair(1, 0), Pair(2, 1)] and len(near) == len(space) - 1


def test_families_are_listed_once():
    every = [family for families in FAMILIES.values() for family in families]
    assert all(isinstance(each, Family) for each in every)
    assert len({each.name for each in every}) == len(every)


def test_knobs_of_a_schedule_by_hand():
    """A computation of te has tasks, too; a given point makes the schedule."""
    a, b = te.placeholder((40, 64), name="a"), te.placeholder((64, 48), name="b")
    y = matmul(a, b)
    assert Contraction.of(y) is not None
    target = resolve(ON_POCL)
    choice = Choice()
    schedule_default([y], [a, b], ["global"] * 3, target, choice)
    ((kernel, task),) = choice.kernels.items()
    assert isinstance(task, KernelTask) and task.root.op == y.op
    knobs = kernel[0].space(task).points[-1]
    assert knobs != kernel[0].default(task)
    s = schedule_default([y], [a, b], ["global"] * 3, target, Choice({kernel: knobs}))
    f = texloom.build(s, [a, b, y], ON_POCL)
    left, right = integers(40, 64), integers(64, 48, seed=1)
    np.testing.assert_array_equal(f(left, right), left @ right)
    assert f.kernels[0].block[0] == knobs.threads
    assert {each.name for each in fields(knobs)} >= {"rows", "warps", "steps", "pieces", "slices"}
