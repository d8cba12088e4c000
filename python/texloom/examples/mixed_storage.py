"""A network on a picture, with its tensors in textures, in buffers, and in both.

``python -m texloom.examples.mixed_storage`` prints the chosen storages, times, memory, and whether
the outputs are equal. The network has five convolutions, a residual and a concatenation.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import te
from .._core import Schedule, Tensor
from ..graph import CompiledGraph, Graph, GraphTensor
from ..graph.graph import Compute, ScheduleFunction, Scopes
from .conv2d import SCOPES, conv2d_nchw4c, schedule_conv2d_nchw4c
from .packing import pack_nchw4c, pack_oihw4o
from .texel_schedules import spread

CHANNELS = 16
"""Channels between the convolutions."""


def convolution(output: list[Tensor], scopes: tuple[str, ...]) -> Schedule:
    """Schedule a convolution for the scopes of data, weights and output."""
    storage = "texture" if scopes == SCOPES["texture"] else "buffer"
    return schedule_conv2d_nchw4c(output[0], storage)


def add_relu(a: Tensor, b: Tensor) -> Tensor:
    """The larger of ``a + b`` and 0, element by element."""
    return te.compute(a.shape, lambda *i: te.max(a[i] + b[i], 0.0), name="sum")


def elementwise(output: list[Tensor]) -> Schedule:
    """Schedule one kernel, whose threads each compute a texel."""
    s = te.create_schedule(output[0].op)
    spread(s, output[0])
    return s


ELEMENTS = {"texture": ("texture",) * 3, "global": ("global",) * 3}
"""The scopes of a sum of two tensors."""


class Network:
    """The network for pictures of one size, with seeded weights.

    Parameters
    ----------
    height, width : int
        The size of the pictures.
    costs : dict of str to dict of str to float, optional
        Nanoseconds per pixel, by node and storages.

    Attributes
    ----------
    graph : Graph
        Its input is ``"x"``, ``[1, 1, height, width, 4]``; its output ``"conv5"`` of
        the same shape.
    weights : dict of str to array
        ``[O, I, 3, 3]`` of each convolution.
    """

    def __init__(
        self, height: int, width: int, costs: dict[str, dict[str, float]] | None = None
    ) -> None:
        self._costs = {
            node: {label: height * width * cost for label, cost in of_node.items()}
            for node, of_node in (costs or {}).items()
        }
        self._random = np.random.default_rng(7)
        self.weights: dict[str, NDArray[np.float32]] = {}
        self.graph = Graph("picture")
        x = self.graph.input("x", (1, 1, height, width, 4))
        conv1 = self._convolve("conv1", x, CHANNELS)
        conv2 = self._convolve("conv2", conv1, CHANNELS)
        residual = self._node(
            "residual", add_relu, [conv1, conv2], lambda outputs, *_: elementwise(outputs), ELEMENTS
        )
        conv3 = self._convolve("conv3", residual, CHANNELS)
        conv4 = self._convolve("conv4", residual, CHANNELS)
        joined = self.graph.concat("joined", [conv3, conv4], axis=1)
        self.graph.output(self._convolve("conv5", joined, 4))

    def draw(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw weights that keep activations near 1."""
        return self._random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))

    def _convolve(self, name: str, data: GraphTensor, outputs: int) -> GraphTensor:
        inputs = 4 * data.shape[1]
        self.weights[name] = self.draw((outputs, inputs, 3, 3)).astype(np.float32)
        packed = self.graph.constant(f"{name}.weight", pack_oihw4o(self.weights[name]))
        return self._node(
            name,
            conv2d_nchw4c,
            [data, packed],
            lambda outputs, _inputs, scopes, _target: convolution(outputs, scopes),
            {"texture": SCOPES["texture"], "global": SCOPES["buffer"]},
        )

    def _node(
        self,
        name: str,
        compute: Compute,
        inputs: list[GraphTensor],
        schedule: ScheduleFunction,
        scopes: Scopes,
    ) -> GraphTensor:
        costs = self._costs.get(name)
        made = self.graph.node(name, compute, inputs, schedule, scopes, costs=costs)
        assert isinstance(made, GraphTensor)  # one output
        return made


_CONVOLUTION = {"texture": 12.0, "global": 22.0}
MIXED_COSTS = {
    **dict.fromkeys(("conv1", "conv2", "conv3", "conv4"), _CONVOLUTION),
    "residual": {"texture": 2.2, "global": 2.0},
    "conv5": {"texture": 22.0, "global": 10.0},
}
"""Costs, in nanoseconds per pixel, for which the cheapest choice has textures and buffers."""


def compiled(height: int, width: int) -> dict[str, CompiledGraph]:
    """Compile the network with all tensors in textures, all in buffers, and mixed by cost."""
    network = Network(height, width).graph
    return {
        "all textures": network.compile(scopes="texture"),
        "all buffers": network.compile(scopes="global"),
        "mixed": Network(height, width, MIXED_COSTS).graph.compile(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the three forms on a picture of noise, and print their time and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256, help="height and width of the picture")
    parser.add_argument("--repeat", type=int, default=10, help="runs that are timed")
    given = parser.parse_args(arguments)
    noise = np.random.default_rng(1).random((1, 3, given.size, given.size), dtype=np.float32)
    pixels = pack_nchw4c(noise)
    graphs = compiled(pixels.shape[2], pixels.shape[3])
    outputs = {name: graph.run({"x": pixels})["conv5"] for name, graph in graphs.items()}
    print(f"{given.size} x {given.size} pixels")
    for name, graph in graphs.items():
        seconds = min(graph.time(given.repeat) for _ in range(3)) / given.repeat
        print(f"\n{name}: {1e3 * seconds:.3f} ms")
        print("".join(f"  {line}\n" for line in str(graph).splitlines()), end="")
    first = next(iter(outputs.values()))
    equal = all(np.array_equal(first, other) for other in outputs.values())
    print(f"\nequal outputs: {'yes' if equal else 'no'}")
    return 0 if equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
