"""Times networks beside others' ways to run them on the same device, outputs checked first.

    python benchmarks/networks/networks.py --pytorch python3
    ./dev bench networks --network resnet50 --network detection --onnxruntime --tinygrad

PyTorch runs in a process of the Python that ``--pytorch`` names, tinygrad in one of this Python,
which ``./dev bench networks`` gives it. All are measured in turns with Texloom. Without PyTorch,
whose output in float64 is exact, outputs are compared with those of onnxruntime.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx
from error_bounds import distance, error_bound, measured_bound
from models import NETWORKS
from peers import DTYPES, OnnxRuntimeArm, Peer, PeerArm, own_arm, pytorch, tinygrad
from zoo import input_of, networks

import texloom
from texloom.graph import load
from texloom.measure.loop import Sampling, Timed, measure

_SAMPLE_SECONDS = 0.02


@dataclass
class Task:
    """A network, its input, and where its files are.

    Attributes
    ----------
    name, precision : str
    model : ModelProto
    folder : Path
    """

    name: str
    precision: str
    model: onnx.ModelProto
    folder: Path
    image: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Write the files."""
        constants = {each.name for each in self.model.graph.initializer}
        (given,) = (v for v in self.model.graph.input if v.name not in constants)
        self.input = given.name
        shape = [each.dim_value for each in given.type.tensor_type.shape.dim]
        self.image = input_of(self.name, shape)
        onnx.save(self.model, self.folder / "model.onnx")
        np.save(self.folder / "image.npy", self.image)

    @property
    def files(self) -> dict[str, str]:
        """The files of the model and its input, as requests name them."""
        return {
            "model": str(self.folder / "model.onnx"),
            "image": str(self.folder / "image.npy"),
        }

    def output_of(self, peer: Peer, **request: Any) -> np.ndarray:
        """Return what a peer writes."""
        file = self.folder / "output.npy"
        peer.ask(**request, output=str(file))
        return np.load(file)


def compiled(
    task: Task, device: texloom.Device, options: argparse.Namespace
) -> tuple[Timed, np.ndarray, dict[str, Any]]:
    """Return our arm, its output, and what the compilation says."""
    target = options.target or texloom.target.Target.from_device(device)
    given = {"precision": task.precision} if task.precision != "fp32" else {}
    begin = time.perf_counter()
    made = texloom.compile(task.model, target, storage=options.storage, **given)
    made.save(task.folder / "model.tlp")
    seconds = time.perf_counter() - begin
    graph = load(task.folder / "model.tlp")
    begin = time.perf_counter()
    own = next(iter(graph.run({task.input: task.image}, device).values()))
    facts = {
        "launches": made.summary["launches"],
        "compile_seconds": seconds,
        "first_run_seconds": time.perf_counter() - begin,
    }
    return own_arm(graph, device), own, facts


def peers_of(
    task: Task, peers: dict[str, Peer], session: OnnxRuntimeArm | None, options: argparse.Namespace
) -> tuple[dict[str, Timed], dict[str, np.ndarray], np.ndarray | None, float]:
    """Return the arms and outputs of peers, the output to compare with, and how far it may be."""
    arms: dict[str, Timed] = {}
    outputs: dict[str, np.ndarray] = {}
    exact, bound = None, error_bound(task.model, DTYPES[task.precision])
    torch = peers.get("PyTorch")
    if torch is not None and task.name in NETWORKS:
        exact = task.output_of(torch, do="reference", **task.files)
        made = {}
        if torch.device:
            how = {"dtype": DTYPES[task.precision], "compiled": not options.no_compile}
            made = torch.ask("arms", **task.files, **how)
        for arm, number in made.items():
            outputs[arm] = task.output_of(torch, do="output", number=number)
            arms[arm] = PeerArm(torch, number)
    if session is not None:
        own = session.output({task.input: task.image})
        if exact is None:
            if task.name not in NETWORKS:
                run = lambda x: session.output({task.input: x})  # noqa: E731
                bound = measured_bound(run, task.image, task.model)
                session.output({task.input: task.image})
            exact, bound = own.astype("float64"), 2 * bound
        arms["onnxruntime"], outputs["onnxruntime"] = session, own
    other = peers.get("tinygrad")
    if other is not None and task.precision == "fp32":
        for arm, number in other.ask("arms", **task.files).items():
            outputs[arm] = task.output_of(other, do="output", number=number)
            arms[arm] = PeerArm(other, number)
    return arms, outputs, exact, bound


def measure_network(
    name: str, precision: str, peers: dict[str, Peer], options: argparse.Namespace
) -> dict[str, Any]:
    """Return the medians of a network in milliseconds, and the errors."""
    device = texloom.opencl(0)
    with tempfile.TemporaryDirectory() as folder:
        if name in NETWORKS:
            model = NETWORKS[name](size=options.size, batch_norm=options.batch_norm)
        else:
            model = networks()[name]()
        task = Task(name, precision, model, Path(folder))
        own, output, facts = compiled(task, device, options)
        session = OnnxRuntimeArm(model.SerializeToString()) if options.onnxruntime else None
        others, outputs, exact, bound = peers_of(task, peers, session, options)
        arms: dict[str, Timed] = {"texloom": own, **others}
        outputs["texloom"] = output
        times = measure([*arms.values()], Sampling(options.rounds, _SAMPLE_SECONDS))
    samples = [each.results for each in times]
    errors = {} if exact is None else {arm: distance(outputs[arm], exact) for arm in arms}
    ratios = {
        arm: median(theirs / ours for theirs, ours in zip(each, samples[0], strict=True))
        for arm, each in zip(arms, samples, strict=True)
        if arm != "texloom"
    }
    return {
        "network": name,
        "precision": precision,
        **facts,
        "ms": {arm: median(each) * 1e3 for arm, each in zip(arms, samples, strict=True)},
        "ratios": ratios,
        "errors": errors,
        "bound": bound,
        "right": all(each <= bound for each in errors.values()),
    }


def show(row: dict[str, Any]) -> None:
    """Print the measurements of a network."""
    print(f"\n{row['network']} {row['precision']}: {row['launches']} launches", flush=True)
    print(
        f"  compiled in {row['compile_seconds']:.1f} s, first run {row['first_run_seconds']:.1f} s"
    )
    for arm, each in row["ms"].items():
        error = row["errors"].get(arm)
        checked = "" if error is None else f"  error {error:.1e}"
        ratio = row["ratios"].get(arm)
        times = "" if ratio is None else f"  {ratio:6.2f} x our time"
        print(f"  {arm:28}{each:9.3f} ms{times}{checked}", flush=True)
    if row["ratios"]:
        best = min(row["ratios"], key=lambda arm: row["ratios"][arm])
        print(f"  {row['ratios'][best]:.2f} x as fast as the best, {best}")
    if row["errors"]:
        print(f"  {'right' if row['right'] else 'WRONG'}: bound of the errors {row['bound']:.1e}")


def main() -> int:
    """Measure and print; return 1 if an output is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--network", action="append", choices=list(networks()), metavar="NAME")
    parser.add_argument("--precision", action="append", choices=list(DTYPES))
    parser.add_argument("--pytorch", metavar="PYTHON", help="a Python with PyTorch and CUDA")
    parser.add_argument("--no-compile", action="store_true", help="leave out torch.compile")
    parser.add_argument("--onnxruntime", action="store_true", help="measure this, too")
    parser.add_argument("--tinygrad", action="store_true", help="measure this, too")
    parser.add_argument("--target", help="default: that of the device")
    parser.add_argument("--storage", default="buffer", choices=("auto", "buffer", "texture"))
    parser.add_argument("--batch-norm", action="store_true", help="not folded into weights")
    parser.add_argument("--size", type=int, default=224, help="rows and columns of the picture")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    rows = []
    with ExitStack() as stack:
        peers: dict[str, Peer] = {}
        if options.pytorch:
            peers["PyTorch"] = stack.enter_context(pytorch(options.pytorch))
        if options.tinygrad:
            peers["tinygrad"] = stack.enter_context(tinygrad())
        print(f"device      {texloom.opencl(0).device_name}", flush=True)
        for name, peer in peers.items():
            print(f"{name:12}{peer.device or 'has no device'}", flush=True)
        for precision in options.precision or ["fp32"]:
            for name in options.network or NETWORKS:
                rows.append(measure_network(name, precision, peers, options))
                show(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
