"""Networks with storages chosen by measured costs, beside all buffers and all textures.

    python benchmarks/scopes/scopes.py --costs records.sqlite direction detection mobilenetv2

Measures the kernels of each network that the file of costs does not have, compiles the network in
the three ways, checks that the outputs agree, and prints predicted and measured times: medians
over processes, each of which runs the three in turns. The text models are those of the package
rapidocr-onnxruntime, unless ``--models`` names a folder with them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx

import texloom
from texloom.command_line.peers import largest_difference
from texloom.costs import Costs, open_costs
from texloom.devices.lookup import present
from texloom.graph.compiled import RunnableGraph, load
from texloom.measure.loop import BatchArm, medians
from texloom.onnx.model import Model
from texloom.target import Target

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "networks"))
WAYS = {"chosen": "auto", "buffers": "buffer", "textures": "texture"}
TEXT_MODELS = {
    "direction": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", (1, 3, 48, 192)),
    "detection": ("ch_PP-OCRv4_det_infer.onnx", (1, 3, 160, 160)),
}
_SAMPLE_SECONDS = 0.1
_SAMPLES = 9  # of each network in a process
# Of outputs, as a share of their largest magnitude: each of about 60 layers sums up to 4,608
# products in another order, and roundings of sums add up as their root.
_MOST_APART = 60 * 4608**0.5 * float(np.finfo("float32").eps)


def network(name: str, folder: Path | None) -> tuple[onnx.ModelProto, dict[str, tuple[int, ...]]]:
    """Return a network and the shapes of its inputs."""
    name, _, size = name.partition("@")
    if name in TEXT_MODELS:
        file, shape = TEXT_MODELS[name]
        if folder is None:
            from texloom_demo.ocr import models

            folder = models.find()[name].parent
        if size:
            shape = (*shape[:2], int(size), int(size))
        return onnx.load(folder / file), {"x": shape}
    from models import NETWORKS

    return NETWORKS[name](**({"size": int(size)} if size else {})), {}


def measure(folder: Path, device: Any) -> None:
    """Time the packages of a folder in turns, and write the seconds of a run of each there."""
    graphs = {way: load(folder / f"{way}.tlp") for way in WAYS}
    with np.load(folder / "inputs.npz") as stored:
        inputs = dict(stored.items())
    outputs = {way: graph.run(inputs, device) for way, graph in graphs.items()}
    for way, made in outputs.items():
        np.savez(folder / f"{way}.npz", **made)
    arms = [BatchArm(partial(_time, graph, device)) for graph in graphs.values()]
    seconds = medians(arms, rounds=_SAMPLES, sample_seconds=_SAMPLE_SECONDS)
    (folder / "seconds.json").write_text(json.dumps(dict(zip(graphs, seconds, strict=True))))


def _time(graph: RunnableGraph, device: Any, count: int) -> float:
    return graph.time(count, device)


def measured(
    models: dict[str, Model], inputs: dict[str, Any], device: Any, processes: int
) -> tuple[dict[str, list[float]], float]:
    """Return the seconds of a run in each process, and how far outputs are apart.

    Each process loads the packages anew: where drivers put memory and code makes differences.
    """
    seconds: dict[str, list[float]] = {way: [] for way in models}
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        for way, model in models.items():
            model.save(folder / f"{way}.tlp")
        np.savez(folder / "inputs.npz", **inputs)
        name = f"{device.driver}:{device.device_id}"
        for _ in range(processes):
            subprocess.run(
                [sys.executable, __file__, "--run", str(folder), "--device", name], check=True
            )
            for way, each in json.loads((folder / "seconds.json").read_text()).items():
                seconds[way].append(each)
        outputs = {}
        for way in WAYS:
            with np.load(folder / f"{way}.npz") as stored:
                outputs[way] = dict(stored.items())
    expected = outputs.pop("buffers")
    return seconds, max(largest_difference(o, expected, "buffers") for o in outputs.values())


def benchmark(
    name: str, folder: Path | None, costs: Costs, device: Any, processes: int
) -> dict[str, Any]:
    """Return the figures of one network."""
    proto, shapes = network(name, folder)
    begin = time.monotonic()
    before = len(costs.measured())
    target = Target.from_device(device)
    for storage in ("auto", "texture"):  # whose operators may be joined in other ways
        Model(proto, target, storage, shapes=shapes, costs=costs, measure=device)
    measuring = time.monotonic() - begin
    models = {
        way: Model(proto, target, storage, shapes=shapes, costs=costs)
        for way, storage in WAYS.items()
    }
    rng = np.random.default_rng(0)
    inputs = {
        port.name: rng.random([e.dim_value for e in port.type.tensor_type.shape.dim], "float32")
        if port.name not in shapes
        else rng.random(shapes[port.name], "float32")
        for port in models["chosen"].signature.inputs
    }
    seconds, apart = measured(models, inputs, device, processes)
    result: dict[str, Any] = {
        "network": name,
        "difference": apart,
        "measuring_seconds": measuring,
        "new_costs": len(costs.measured()) - before,
        "chosen_to_buffers": median(
            a / b for a, b in zip(seconds["chosen"], seconds["buffers"], strict=True)
        ),
    }
    for way, model in models.items():
        summary = model.summary
        assert summary is not None
        scopes = [scope for _, scope, _ in summary["stores"].values()]
        result[way] = {
            "predicted_ms": summary["cost"] / 1e6,
            "measured_ms": median(seconds[way]) * 1e3,
            "processes_ms": [each * 1e3 for each in seconds[way]],
            "proven": summary["lower_bound"] >= summary["cost"],
            "launches": summary["launches"],
            "conversions": len(summary["conversions"]),
            "textures": sum(scope == "texture" for scope in scopes),
            "buffers": sum(scope == "global" for scope in scopes),
        }
    return result


def row(facts: dict[str, Any]) -> str:
    """Return the line of a network in the table."""
    cells = [facts["network"]]
    for way in WAYS:
        own = facts[way]
        cells.append(f"{own['predicted_ms']:.3f}")
        cells.append(f"{own['measured_ms']:.3f}")
        cells.append(f"{own['predicted_ms'] / own['measured_ms'] - 1:+.0%}")
    cells.append(f"{facts['chosen_to_buffers']:.3f}")
    chosen = facts["chosen"]
    cells.append(f"{chosen['textures']} of {chosen['textures'] + chosen['buffers']}")
    cells.append(str(chosen["conversions"]))
    return "| " + " | ".join(cells) + " |"


HEADER = (
    "| network | chosen: predicted ms | measured ms | error | all buffers: predicted | measured | "
    "error | all textures: predicted | measured | error | chosen / buffers | in textures | "
    "conversions |\n| --- |" + " --- |" * 12
)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", metavar="NAME[@SIZE]")
    parser.add_argument("--costs", type=Path, default=Path("records.sqlite"), metavar="FILE")
    parser.add_argument("--device")
    parser.add_argument("--models", type=Path, metavar="FOLDER")
    parser.add_argument("--processes", type=int, default=5, help="that measure each network")
    parser.add_argument("--run", type=Path, metavar="FOLDER", help="what such a process does")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    device = present(options.device)
    if options.run:
        measure(options.run, device)
        return 0
    costs = open_costs(options.costs, measure=device)
    assert costs is not None
    print(f"{costs.device}, Texloom {texloom.__version__}\n\n{HEADER}", flush=True)
    results = []
    for name in options.networks:
        results.append(benchmark(name, options.models, costs, device, options.processes))
        if not results[-1]["difference"] <= _MOST_APART:
            sys.exit(f"{name}: outputs are {results[-1]['difference']:.2g} apart")
        print(row(results[-1]), flush=True)
        if options.json:
            facts = {"device": str(costs.device), "networks": results}
            options.json.write_text(json.dumps(facts, indent=1) + "\n")
    model = costs.model()
    assert model is not None
    print(
        f"\nthe model of {model.rows} call sites is off by {model.error:.0%} in the median, by "
        f"{model.largest_error:.0%} in a tenth of them"
    )
    for each in results:
        print(
            f"{each['network']}: {each['new_costs']} call sites measured in "
            f"{each['measuring_seconds']:.0f} s, outputs differ by {each['difference']:.1e} of the "
            f"largest, {'proven' if each['chosen']['proven'] else 'not proven'} to be the cheapest"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
