"""MobileNetV2 with custom operators: what it costs to wait before and after each of them.

    python benchmarks/commit/mobilenet.py [--device opencl:1] [--size 224 64] [--json FILE]

The network has two calls of a softshrink, a kernel that shares the command buffer with the compiled
ones, after residual additions. With the host, another residual addition is a Python function on
arrays of the host. A run is measured from its submission to the end of its wait: with adaptive
commit, where nothing waits but what the host needs, and with a wait before and after each custom
operator, as in runtimes whose custom operators have no part in the command buffer. Both alternate;
their outputs must be equal.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx
from onnx import helper

import texloom
from texloom import custom
from texloom.devices.lookup import present
from texloom.graph import RunnableGraph, load
from texloom.measure.loop import Sampling, measure
from texloom.target import Target

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "networks"))
from models import mobilenetv2

_SAMPLE_SECONDS = 0.05


softshrink = custom.source_operator(
    "bench::softshrink",
    {"x": "read buffer", "y": "write buffer"},
    """
    int i = tl_global_id(0);
    if (i < tl_extent(x, 0) * tl_extent(x, 1) * tl_extent(x, 2) * tl_extent(x, 3)) {
      float v = tl_get(x, i);
      tl_put(y, i, v > l ? v - l : v < -l ? v + l : 0.0f);
    }
    """,
    attributes={"l": 0.001},
    threads=["x.places"],
    workgroup=[64],
)


@custom.host_operator("bench::add", {"x": "read", "y": "read", "sum": "write"})
def host_add(x: Any, y: Any, sum: Any) -> None:
    """Add on the host."""
    np.add(x, y, out=sum)


OPERATORS = (softshrink, host_add)


def network(size: int, with_host: bool) -> onnx.ModelProto:
    """Return MobileNetV2 with a softshrink after the first and the middle residual addition.

    With the host, the last residual addition is a custom operator.
    """
    model = mobilenetv2(size=size)
    nodes = list(model.graph.node)
    sums = [node for node in nodes if node.op_type == "Add"]
    model.opset_import.append(helper.make_opsetid("bench", 1))
    if with_host:
        sums[-1].domain, sums[-1].op_type = "bench", "add"
    for each in (sums[0], sums[len(sums) // 2]):
        name = each.output[0]
        each.output[0] = f"{name}.sum"
        shrunk = helper.make_node(
            "softshrink", [each.output[0]], [name], f"{name}.shrunk", domain="bench", l=0.001
        )
        nodes.insert(nodes.index(each) + 1, shrunk)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


@dataclass(frozen=True)
class Runs:
    """Runs of a graph, each of which is waited for."""

    graph: RunnableGraph
    device: texloom.Device

    def seconds(self, count: int) -> float:
        """Return seconds per run."""
        return sum(self.graph.time(1, self.device) for _ in range(count)) / count


def measure_network(
    size: int, with_host: bool, device: texloom.Device, rounds: int
) -> dict[str, Any]:
    """Return the figures of one network in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.tlp"
        model = network(size, with_host)
        texloom.compile(model, Target.from_device(device), operators=OPERATORS).save(path)
        ways = {
            "adaptive": load(path, OPERATORS),
            "waiting": load(path, OPERATORS, waits_around_operators=True),
        }
    image = np.random.default_rng(1).standard_normal((1, 3, size, size), np.float32)
    outputs = [graph.run({"image": image}, device) for graph in ways.values()]
    arms = [Runs(graph, device) for graph in ways.values()]
    samples = [each.results for each in measure(arms, Sampling(rounds, _SAMPLE_SECONDS))]
    ratios = [waiting / adaptive for adaptive, waiting in zip(*samples, strict=True)]
    return {
        "size": size,
        "with_host": with_host,
        **{f"{way}_ms": median(each) * 1e3 for way, each in zip(ways, samples, strict=True)},
        "ratio": median(ratios),
        "equal": _are_equal(outputs),
    }


def _are_equal(outputs: Iterable[dict[str, Any]]) -> bool:
    first, second = outputs
    return all(np.array_equal(first[name], second[name]) for name in first)


def main() -> int:
    """Measure and print; return 1 if outputs differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", help="such as opencl:1; default: the first one")
    parser.add_argument("--size", type=int, nargs="+", default=[224, 64])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    device = present(options.device)
    rows = []
    print(f"{device.device_name}\n")
    print("| picture | custom operators | adaptive ms | waiting ms | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for size in options.size:
        for with_host in (False, True):
            row = measure_network(size, with_host, device, options.rounds)
            rows.append(row)
            calls = "2 kernels, 1 on the host" if with_host else "2 kernels"
            wrong = "" if row["equal"] else " OUTPUTS DIFFER"
            print(
                f"| {size} x {size} | {calls} | {row['adaptive_ms']:.3f} | "
                f"{row['waiting_ms']:.3f} | {row['ratio']:.2f} |{wrong}",
                flush=True,
            )
    if options.json:
        facts = {"device": device.device_name, "rounds": options.rounds, "rows": rows}
        options.json.write_text(json.dumps(facts, indent=1) + "\n")
    return 0 if all(row["equal"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
