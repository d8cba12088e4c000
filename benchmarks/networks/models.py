"""ResNet-50 and MobileNetV2 as ONNX models, of torchvision's shapes, with seeded weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

CLASSES = 1000


class _Network:
    """A network as it grows, node by node.

    Weights are normal numbers, scaled so that activations neither grow nor vanish.
    """

    def __init__(self, name: str, batch_norm: bool, seed: int) -> None:
        self._name = name
        self._batch_norm = batch_norm
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def add(self, op: str, inputs: Sequence[str], **attributes: object) -> str:
        """Add a node; return its output, which has the node's name."""
        name = f"{op.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, values: NDArray[np.float32]) -> str:
        """Add a constant; return its name."""
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def convolution(
        self,
        x: str,
        channels: tuple[int, int],
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        gain: float = 2.0,
    ) -> str:
        """Add a convolution with its bias or its batch normalization.

        The variance of an output is `gain` times that of an input.
        """
        inputs, outputs = channels
        inner = inputs // groups
        scale = np.sqrt(gain / (inner * kernel * kernel))
        shape = (outputs, inner, kernel, kernel)
        weight = self.constant(self._rng.standard_normal(shape, np.float32) * scale)
        padding = [kernel // 2] * 4
        given = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": padding}
        bias = self._rng.standard_normal(outputs, np.float32) * 0.1
        if not self._batch_norm:
            return self.add("Conv", [x, weight, self.constant(bias)], group=groups, **given)
        sums = self.add("Conv", [x, weight], group=groups, **given)
        factor, mean, variance = (self._rng.uniform(0.8, 1.25, outputs) for _ in range(3))
        moments = [self.constant(each) for each in (factor, bias, mean - 1, variance)]
        return self.add("BatchNormalization", [sums, *moments])

    def classes(self, x: str, features: int) -> str:
        """Add the layers from an activation to the classes."""
        pooled = self.add("Flatten", [self.add("GlobalAveragePool", [x])])
        scale = np.sqrt(1 / features)
        weight = self._rng.standard_normal((CLASSES, features), np.float32) * scale
        bias = self._rng.standard_normal(CLASSES, np.float32) * 0.1
        arguments = [pooled, self.constant(weight), self.constant(bias)]
        return self.add("Gemm", arguments, transB=1)

    def model(self, size: int, output: str) -> onnx.ModelProto:
        """Return the model for one picture of that size."""
        graph = helper.make_graph(
            self._nodes,
            self._name,
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, size, size])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [1, CLASSES])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 17)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        onnx.checker.check_model(made)
        return made


def resnet50(*, batch_norm: bool = False, size: int = 224, seed: int = 0) -> onnx.ModelProto:
    """Return ResNet-50; without batch normalization, that is folded into the convolutions."""
    net = _Network("resnet50", batch_norm, seed)
    x = net.add("Relu", [net.convolution("image", (3, 64), 7, 2)])
    x = net.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            short = x
            y = net.add("Relu", [net.convolution(x, (inputs, width), 1)])
            y = net.add("Relu", [net.convolution(y, (width, width), 3, stride)])
            y = net.convolution(y, (width, 4 * width), 1, gain=0.5)
            if not block:
                short = net.convolution(x, (inputs, 4 * width), 1, stride, gain=1.0)
            x = net.add("Relu", [net.add("Add", [y, short])])
            inputs = 4 * width
    return net.model(size, net.classes(x, inputs))


def mobilenetv2(*, batch_norm: bool = False, size: int = 224, seed: int = 0) -> onnx.ModelProto:
    """Return MobileNetV2; without batch normalization, that is folded into the convolutions."""
    net = _Network("mobilenetv2", batch_norm, seed)
    bounds = [net.constant(np.array(value)) for value in (0.0, 6.0)]

    def clipped(x: str) -> str:
        return net.add("Clip", [x, *bounds])

    x = clipped(net.convolution("image", (3, 32), 3, 2))
    inputs = 32
    # Factor of the inner channels, output channels, blocks, stride of the first one.
    rows = (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    )
    for factor, outputs, blocks, first in rows:
        for block in range(blocks):
            stride = 1 if block else first
            inner = inputs * factor
            y = x
            if factor > 1:
                y = clipped(net.convolution(y, (inputs, inner), 1))
            y = clipped(net.convolution(y, (inner, inner), 3, stride, inner))
            y = net.convolution(y, (inner, outputs), 1, gain=1.0)
            x = net.add("Add", [x, y]) if stride == 1 and inputs == outputs else y
            inputs = outputs
    x = clipped(net.convolution(x, (inputs, 1280), 1))
    return net.model(size, net.classes(x, 1280))


NETWORKS: dict[str, Callable[..., onnx.ModelProto]] = {
    each.__name__: each for each in (resnet50, mobilenetv2)
}
"""The function that makes each network, by name."""
