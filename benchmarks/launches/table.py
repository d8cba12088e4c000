"""Launches per network, beside the nodes of onnxruntime's graph after all its optimizations.

python benchmarks/launches/table.py [--markdown] [MODEL.onnx ...]

Without files: the networks of PP-OCR, and the light models of the package onnx. Inputs have fixed
sizes for both. A node that onnxruntime runs without a kernel does not exist: its constants are no
nodes, and what it stores in other layouts is counted as its own graph says.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from texloom.demo.ocr.models import find
from texloom.onnx.model import Model

SIZES = {"detection": (640, 640), "direction": (48, 192), "recognition": (48, 320)}


def networks(files: list[Path]) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield names and models whose inputs have fixed sizes."""
    for file in files:
        yield file.stem, onnx.load(file)
    if files:
        return
    for name, file in (find() or {}).items():
        model = onnx.load(file)
        fix(model, (1, 3, *SIZES[name]))
        yield f"PP-OCR {name}", model
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    for file in sorted(folder.glob("*.onnx")):
        yield file.stem, seeded(onnx.load(file))


def fix(model: onnx.ModelProto, shape: tuple[int, ...]) -> None:
    """Give a model's only input fixed sizes."""
    (given,) = model.graph.input
    for dimension, extent in zip(given.type.tensor_type.shape.dim, shape, strict=True):
        dimension.dim_value = extent
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")


def seeded(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace the weights of a light model, which are equal numbers made by nodes, by others.

    Sums keep the magnitude of what they add up.
    """
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
        weights = generator.uniform(0.5, 1.5, shape)
        if len(shape) > 1:
            weights = generator.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        weights = weights.astype("float32")
        graph.initializer.append(onnx.numpy_helper.from_array(weights, node.output[0]))
    return model


def nodes_of_onnxruntime(model: onnx.ModelProto) -> Counter[str]:
    """Return the operators of the optimized graph."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
        onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        optimized = onnx.load(options.optimized_model_filepath, load_external_data=False)
    return Counter(node.op_type for node in optimized.graph.node)


def launches(model: onnx.ModelProto, storage: str) -> tuple[int, int]:
    """Return the launches of one run, and the nodes of the graph that take any."""
    compiled = Model(model, storage=storage)
    graph = compiled._variant(compiled.shapes, {}).graph
    assert graph is not None
    nodes = graph.summary["nodes"].values()
    return int(graph.summary["launches"]), sum(each != "in place" for each in nodes)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--storage", choices=("buffer", "texture", "auto"), default="buffer")
    options = parser.parse_args()
    print("| network | nodes of onnxruntime | launches | ratio | nodes |")
    print("| --- | --- | --- | --- | --- |")
    for name, model in networks(options.files):
        peer = sum(nodes_of_onnxruntime(model).values())
        own, nodes = launches(model, options.storage)
        print(f"| {name} | {peer} | {own} | {own / peer:.2f} | {nodes} |", flush=True)


if __name__ == "__main__":
    main()
