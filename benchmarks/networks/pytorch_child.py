"""PyTorch's side of the networks' benchmark: evaluates ONNX graphs, and times them on request.

Started as ``PYTHON pytorch_child.py``. A request is a line of JSON on standard input, an answer a
line on the original standard output. It does not import texloom, so that PyTorch has the process to
itself, and any Python that has PyTorch, NumPy and onnx will do.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional

Run = Callable[[], torch.Tensor]


class Network(torch.nn.Module):
    """An ONNX graph of the operators that these networks have."""

    def __init__(self, model: onnx.ModelProto) -> None:
        super().__init__()
        # torch.compile follows lists and tuples, but not the classes of protobuf.
        self.result = model.graph.output[0].name
        self.nodes = [(n.op_type, tuple(n.input), n.output[0]) for n in model.graph.node]
        self.names = {}
        self.numbers = {}
        for i, each in enumerate(model.graph.initializer):
            values = numpy_helper.to_array(each).copy()
            if values.ndim == 0:
                self.numbers[each.name] = float(values)
            else:
                self.names[each.name] = f"constant{i}"
                self.register_buffer(f"constant{i}", torch.from_numpy(values))
        self.attributes = [
            {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            for node in model.graph.node
        ]

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return the graph's output."""
        values = {"image": image}
        values |= {name: getattr(self, own) for name, own in self.names.items()}
        for (operator, inputs, name), given in zip(self.nodes, self.attributes, strict=True):
            arguments = [self.numbers.get(each, values.get(each)) for each in inputs]
            values[name] = CONVERTERS[operator](given, *arguments)
        return values[self.result]


def conv(given, x, w, b=None):
    """A convolution with the same padding on both sides."""
    rows, columns = given["pads"][:2]
    return functional.conv2d(x, w, b, given["strides"], (rows, columns), 1, given["group"])


def max_pool(given, x):
    """A pooling with the same padding on both sides."""
    return functional.max_pool2d(x, given["kernel_shape"], given["strides"], given["pads"][:2])


def batch_norm(given, x, factor, bias, mean, variance):
    """A batch normalization by known moments."""
    return functional.batch_norm(x, mean, variance, factor, bias)


CONVERTERS = {
    "Conv": conv,
    "MaxPool": max_pool,
    "BatchNormalization": batch_norm,
    "Relu": lambda given, x: functional.relu(x),
    "Clip": lambda given, x, low, high: functional.hardtanh(x, low, high),
    "Add": lambda given, x, y: x + y,
    "GlobalAveragePool": lambda given, x: x.mean((2, 3), keepdim=True),
    "Flatten": lambda given, x: x.flatten(1),
    "Gemm": lambda given, x, w, b: functional.linear(x, w, b),
}


def reference(model: onnx.ModelProto, image: np.ndarray) -> np.ndarray:
    """Return the output in float64, computed on the processor."""
    with torch.no_grad():
        return Network(model).double()(torch.from_numpy(image).double()).numpy()


def arms(model: onnx.ModelProto, image: np.ndarray, dtype: str, compiled: bool) -> dict[str, Run]:
    """Return what can be timed: each way to run the network, for both memory formats."""
    made: dict[str, Run] = {}
    for suffix, order in (("", torch.contiguous_format), (" channels last", torch.channels_last)):
        network = Network(model).eval().to("cuda", getattr(torch, dtype))
        network = network.to(memory_format=order)
        x = torch.from_numpy(image).to("cuda", getattr(torch, dtype))
        x = x.to(memory_format=order)
        made[f"eager{suffix}"] = lambda network=network, x=x: network(x)
        made[f"CUDA graph{suffix}"] = in_graph(network, x)
        if compiled:
            fast = torch.compile(network, mode="reduce-overhead", fullgraph=True)
            made[f"compiled{suffix}"] = lambda fast=fast, x=x: fast(x)
    for run in made.values():
        for _ in range(4):
            run()
    torch.cuda.synchronize()
    return made


def in_graph(network: torch.nn.Module, x: torch.Tensor) -> Run:
    """Return the replay of a CUDA graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):  # cuDNN measures its algorithms, which cannot happen in a graph
            network(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = network(x)

    def replay() -> torch.Tensor:
        graph.replay()
        return result

    return replay


def seconds(run: Run, count: int) -> float:
    """Return seconds per run, for `count` runs with one wait."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


class Child:
    """Answers requests."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def reference(self, model: str, image: str, output: str) -> bool:
        """Write the float64 output to a file."""
        np.save(output, reference(onnx.load(model), np.load(image)))
        return True

    def arms(self, model: str, image: str, dtype: str, compiled: bool) -> dict[str, int]:
        """Return the numbers of arms by their names."""
        made = arms(onnx.load(model), np.load(image), dtype, compiled)
        first = len(self._runs)
        self._runs += made.values()
        return {name: first + i for i, name in enumerate(made)}

    def output(self, number: int, output: str) -> bool:
        """Write the output of an arm to a file."""
        np.save(output, self._runs[number]().double().cpu().numpy())
        return True

    def time(self, number: int, count: int) -> float:
        """Return seconds per run."""
        return seconds(self._runs[number], count)


def serve(child: object, threads: int) -> None:
    """Answer requests by the methods of an object until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries goes there
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.set_num_threads(threads)
    available = torch.cuda.is_available()
    name = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}" if available else None
    print(json.dumps(name), file=answers)
    for line in sys.stdin:
        request = json.loads(line)
        with torch.no_grad():
            print(json.dumps(getattr(child, request.pop("do"))(**request)), file=answers)


if __name__ == "__main__":
    serve(Child(), threads=os.cpu_count() or 1)
