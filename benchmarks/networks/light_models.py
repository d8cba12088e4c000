"""The light models of the package onnx, with seeded weights.

These are AlexNet, DenseNet-121, Inception v1 and v2, ResNet-50, ShuffleNet, SqueezeNet, VGG-19 and
ZFNet-512, for pictures of 224 x 224. Their files have no weights, but nodes that make equal numbers
of the right shapes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

FOLDER = Path(onnx.__file__).parent / "backend/test/data/light"
NAMES = tuple(sorted(file.stem.removeprefix("light_") for file in FOLDER.glob("*.onnx")))
_FIRST_WITH_CONSTANTS = 4  # the version of the format since which initializers are not inputs


def light_model(name: str) -> onnx.ModelProto:
    """Return one of `NAMES`, with weights for which sums keep the magnitude of what they add."""
    model = onnx.load(FOLDER / f"light_{name}.onnx")
    graph = model.graph
    generator = np.random.default_rng(0)
    shapes = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    nodes = list(graph.node)
    del graph.node[:]
    for node in nodes:
        if node.op_type != "ConstantOfShape":
            graph.node.append(node)
            continue
        shape = shapes[node.input[0]]
        if len(shape) > 1:
            weights = generator.standard_normal(shape, np.float32)
            weights *= np.float32(1 / np.sqrt(np.prod(shape[1:])))
        else:
            weights = generator.uniform(0.5, 1.5, shape).astype(np.float32)
        graph.initializer.append(onnx.numpy_helper.from_array(weights, node.output[0]))
    model.ir_version = max(model.ir_version, _FIRST_WITH_CONSTANTS)
    return model


__all__ = ["FOLDER", "NAMES", "light_model"]
