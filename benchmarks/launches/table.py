"""Launches per network, beside the nodes of onnxruntime's graph after all its optimizations.

python benchmarks/launches/table.py [MODEL.onnx ...]

Without files: the networks of benchmarks/networks. Inputs have fixed sizes for both. A node that
onnxruntime runs without a kernel does not exist: its constants are not nodes, and what it stores in
other layouts is counted as its own graph says.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx
import onnxruntime

from texloom.onnx.model import Model

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "networks"))
from zoo import networks


def models(files: list[Path]) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield names and models whose inputs have fixed sizes."""
    for file in files:
        yield file.stem, onnx.load(file)
    if not files:
        for name, make in networks().items():
            yield name, make()


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
    for name, model in models(options.files):
        peer = sum(nodes_of_onnxruntime(model).values())
        own, nodes = launches(model, options.storage)
        print(f"| {name} | {peer} | {own} | {own / peer:.2f} | {nodes} |", flush=True)


if __name__ == "__main__":
    main()
