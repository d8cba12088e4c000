"""Times ResNet-50 and MobileNetV2 beside PyTorch on the same device, outputs checked first.

    python benchmarks/networks/networks.py --pytorch python3

PyTorch runs in a process of the Python that ``--pytorch`` names, and is measured in turns with
Texloom. Without it, only Texloom is measured, and outputs are not checked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from error_bounds import distance, error_bound
from models import NETWORKS

import texloom
from texloom.bench.timing import interleaved_medians
from texloom.graph import RunnableGraph, load

DTYPES = {"fp32": "float32", "fp16": "float16"}


class PyTorch:
    """PyTorch's process; see ``pytorch_child.py``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.device: str | None = self._answer()

    def ask(self, do: str, **request: Any) -> Any:
        """Return the answer to a request."""
        assert self._process.stdin is not None
        print(json.dumps({"do": do, **request}), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"PyTorch's process ended with status {self._process.wait()}")
        return json.loads(line)


@contextmanager
def pytorch(python: str | None) -> Iterator[PyTorch | None]:
    """Start PyTorch's process; None without the name of a Python."""
    if python is None:
        yield None
        return
    child = Path(__file__).with_name("pytorch_child.py")
    command = ["env", "-u", "PYTHONHOME", "-u", "PYTHONPATH", python]
    with subprocess.Popen(
        [*command, child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield PyTorch(process)
        finally:
            process.kill()


@dataclass(frozen=True)
class PyTorchArm:
    """A way to run a network that PyTorch's process times."""

    peer: PyTorch
    number: int

    def seconds(self, count: int) -> float:
        """Return seconds per run, for `count` runs with one wait."""
        return float(self.peer.ask("time", number=self.number, count=count))


@dataclass(frozen=True)
class OwnArm:
    """A compiled network, whose inputs and outputs stay on the device."""

    graph: RunnableGraph
    device: texloom.Device

    def seconds(self, count: int) -> float:
        """Return seconds per run, for `count` runs with one wait."""
        return self.graph.time(count, self.device) / count


def measure(
    name: str, precision: str, peer: PyTorch | None, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the medians of a network in milliseconds, and the errors."""
    device = texloom.opencl(0)
    target = options.target or texloom.target.Target.from_device(device)
    dtype = DTYPES[precision]
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        model = NETWORKS[name](size=options.size, batch_norm=options.batch_norm)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        rng = np.random.default_rng(1)
        image = rng.standard_normal((1, 3, options.size, options.size), np.float32)
        np.save(folder / "image.npy", image)
        begin = time.perf_counter()
        given = {"precision": precision} if precision != "fp32" else {}
        compiled = texloom.compile(model, target, storage=options.storage, **given)
        compiled.save(folder / "model.tlp")
        compile_seconds = time.perf_counter() - begin
        graph = load(folder / "model.tlp")
        (own,) = graph.run({"image": image}, device).values()
        arms: dict[str, Any] = {"texloom": OwnArm(graph, device)}
        errors = {}
        bound = error_bound(model, dtype)
        if peer is not None:
            files = {"model": str(folder / "model.onnx"), "image": str(folder / "image.npy")}
            result = str(folder / "output.npy")
            peer.ask("reference", **files, output=result)
            exact = np.load(result)
            errors["texloom"] = distance(own, exact)
            made = (
                peer.ask("arms", **files, dtype=dtype, compiled=not options.no_compile)
                if peer.device
                else {}
            )
            for arm, number in made.items():
                peer.ask("output", number=number, output=result)
                errors[arm] = distance(np.load(result), exact)
                arms[arm] = PyTorchArm(peer, number)
        medians = interleaved_medians(list(arms.values()), rounds=options.rounds)
    return {
        "network": name,
        "precision": precision,
        "launches": compiled.summary["launches"],
        "compile_seconds": compile_seconds,
        "ms": {arm: each * 1e3 for arm, each in zip(arms, medians, strict=True)},
        "errors": errors,
        "bound": bound,
        "right": all(each <= bound for each in errors.values()),
    }


def show(row: dict[str, Any]) -> None:
    """Print the measurements of a network."""
    ms = row["ms"]
    print(f"\n{row['network']} {row['precision']}: {row['launches']} launches", flush=True)
    theirs = {arm: each for arm, each in ms.items() if arm != "texloom"}
    for arm, each in ms.items():
        error = row["errors"].get(arm)
        checked = "" if error is None else f"  error {error:.1e}"
        ratio = f"  {each / ms['texloom']:6.2f} x our time" if arm != "texloom" else ""
        print(f"  {arm:28}{each:9.3f} ms{ratio}{checked}", flush=True)
    if theirs:
        best = min(theirs, key=lambda arm: theirs[arm])
        print(f"  {theirs[best] / ms['texloom']:.2f} x as fast as the best, {best}")
    if row["errors"]:
        print(
            f"  {'right' if row['right'] else 'WRONG'}: errors to float64, bound {row['bound']:.1e}"
        )


def main() -> int:
    """Measure and print; return 1 if an output is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", action="append", choices=list(NETWORKS))
    parser.add_argument("--precision", action="append", choices=list(DTYPES))
    parser.add_argument("--pytorch", metavar="PYTHON", help="a Python with PyTorch and CUDA")
    parser.add_argument("--no-compile", action="store_true", help="leave out torch.compile")
    parser.add_argument("--target", help="default: that of the device")
    parser.add_argument("--storage", default="buffer", choices=("auto", "buffer", "texture"))
    parser.add_argument("--batch-norm", action="store_true", help="not folded into weights")
    parser.add_argument("--size", type=int, default=224, help="rows and columns of the picture")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    rows = []
    with pytorch(options.pytorch) as peer:
        described = "not measured" if peer is None else peer.device or "has no CUDA device"
        print(f"device   {texloom.opencl(0).device_name}\nPyTorch  {described}", flush=True)
        for precision in options.precision or ["fp32"]:
            for name in options.network or NETWORKS:
                rows.append(measure(name, precision, peer, options))
                show(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
