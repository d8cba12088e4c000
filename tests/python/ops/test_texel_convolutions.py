"""Convolutions whose threads compute tiles of texels: any tile gives equal results."""

import numpy as np
import pytest

import texloom
from texloom import nd
from texloom.costs import EstimatedCosts
from texloom.graph import Graph
from texloom.graph.scheduler import alternatives_of, collected_tasks
from texloom.ops.convolution import convolution
from texloom.ops.schedules import Choice

TARGET = "opencl -device=adreno"
CASES = {
    "dense": ((1, 8, 9, 11), (16, 8, 3, 3), {"pads": [1] * 4}),
    "pixels": ((2, 16, 5, 6), (8, 16, 1, 1), {}),
    "depthwise": ((1, 12, 7, 9), (12, 1, 3, 3), {"pads": [1] * 4, "groups": 12}),
    "groups": ((1, 16, 6, 9), (32, 8, 3, 3), {"pads": [1] * 4, "groups": 2}),
    "strides": ((1, 8, 9, 13), (8, 8, 3, 3), {"pads": [1] * 4, "strides": [2, 2]}),
    "pictures": ((1, 3, 8, 8), (6, 3, 5, 5), {"pads": [2] * 4}),
}
REFUSED = {
    "channels of two texels": ((1, 6, 5, 5), (8, 6, 3, 3), {}),
    "groups in a texel": ((1, 8, 5, 5), (8, 2, 3, 3), {"groups": 4}),
    "rows": ((1, 8, 9), (8, 8, 3), {}),
}


def integers(*shape):
    return np.random.default_rng(shape).integers(-3, 4, shape).astype("float32")


def graph_of(data, weight, options):
    """A convolution between other operators, so that its arguments may be in textures."""
    g = Graph("one")
    x = g.op("in", "Neg", halves, [g.input("x", data)])[0]
    w = g.constant("w", integers(*weight))
    y = g.op("conv", "Conv", lambda a, b: convolution(a, b, **options), [x, w])[0]
    g.output(g.op("out", "Neg", halves, [y])[0])
    return g


def task_of(data, weight, options, passes=()):
    """The task of the convolution."""
    with collected_tasks() as tasks:
        graph_of(data, weight, options).compile(TARGET, passes=passes)
    return next(each for each in tasks.values() if len(each.computation.inputs) == 2)


def halves(x):
    return texloom.te.compute(x.shape, lambda *i: x(*i) * 0.5)


def in_textures(task, choice):
    """The kernel over textures."""
    (made,) = (each for each in alternatives_of(task, choice) if each.name == "texture")
    return made.program


def kernel_of(task):
    """The kernel of the family, and its task; (None, None) if it has none."""
    choice = Choice()
    in_textures(task, choice)
    found = (each for each in choice.kernels.items() if each[0][0].name == "convolutions of texels")
    return next(found, (None, None))


def run(program, task, dev):
    function = texloom.build(program, target=task.target)
    inputs = [integers(*map(int, each.shape)) for each in task.computation.inputs]
    (output,) = (np.zeros(tuple(map(int, y.shape)), y.dtype) for y in task.computation.outputs)
    arguments = [
        nd.array(value, dev, layout=layout) if layout else nd.array(value, dev)
        for value, layout in zip((*inputs, output), function.argument_layouts, strict=True)
    ]
    function(*arguments)
    return arguments[-1].numpy()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_any_tile_gives_the_result_of_buffers(dev, name):
    """Sums of small integers are exact."""
    task = task_of(*CASES[name])
    kernel, own = kernel_of(task)
    wanted = run(alternatives_of(task)[0].program, task, dev)
    assert wanted.any()
    points = kernel[0].space(own).points
    tried = {kernel[0].default(own), points[0], points[len(points) // 2], points[-1]}
    for tile in tried:
        got = run(in_textures(task, Choice({kernel: tile})), task, dev)
        np.testing.assert_array_equal(got, wanted, str(tile))


@pytest.mark.parametrize("name", REFUSED)
def test_other_convolutions_have_no_tiles(name):
    """A step would read parts of a texel; each thread computes a texel instead."""
    assert kernel_of(task_of(*REFUSED[name])) == (None, None)


@pytest.mark.parametrize(
    ("weight", "options"),
    [
        ((64, 64, 3, 3), {"pads": [1] * 4}),
        ((64, 64, 1, 1), {}),
        ((64, 1, 5, 5), {"pads": [2] * 4, "groups": 64}),
    ],
)
@pytest.mark.parametrize("passes", [(), ("store_halves",)])
def test_the_work_of_tiles_is_what_their_kernels_do(weight, options, passes):
    """The formula by which tiles are chosen agrees with what is counted in the code.

    Halves are widened where they are read, so that they take whole registers.
    """
    case = (1, 64, 32, 32), weight, options
    kernel, own = kernel_of(task_of(*case, passes))
    formula = kernel[1].work(kernel[0].default(own))
    counted = counted_work(graph_of(*case), passes)
    assert formula.blocks == counted.blocks and formula.turns == counted.turns
    assert formula.texture_bytes == pytest.approx(counted.texture_bytes, rel=0.1)
    assert formula.registers == counted.registers
    # The formula leaves out padding, which is chosen for each texel.
    assert formula.operations <= counted.operations < 1.5 * formula.operations


def counted_work(graph, passes):
    """The work of the convolution's kernel over textures, as sources of costs are told it."""
    seen = []

    class Costs(EstimatedCosts):
        def __call__(self, kind, signature, sources, size, operations, launches, textures, work):
            if kind == "contraction" and textures >= 3:
                seen.append(work[0])
            return super().__call__(
                kind, signature, sources, size, operations, launches, textures, work
            )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("texloom.graph.compilation.EstimatedCosts", Costs)
        graph.compile(TARGET, passes=passes)
    return seen[0]
