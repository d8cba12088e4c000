"""Times networks that PyTorch exports beside PyTorch, on the same GPU, outputs checked first.

    python benchmarks/networks/exported.py --pytorch python3 -o exported.json
    python benchmarks/networks/exported.py --network vit_b_16 --precision fp16

Each network is exported by torch.onnx in a process of the Python that ``--pytorch`` names (it has
PyTorch, torchvision, transformers and timm), and compiled by ``texloom compile``, all of them side
by side. Then PyTorch's ways (eager, CUDA graph, compiled, without TF32) and Texloom are timed in
turns, one network after another.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
from peers import DTYPES, Peer, PeerArm, exporting_pytorch, own_arm

import texloom
from texloom.graph import load
from texloom.measure.loop import Sampling, Timed, measure

NAMES = """vit_b_16 bert_mini convnext_tiny efficientnet_b0 regnet_y_400mf unet resnet50
mobilenet_v2 mobilenet_v3_large densenet121 efficientnet_v2_s googlenet resnext50_32x4d
shufflenet_v2_x1_0 swin_t segformer_b0 mixer distilbert gpt2 llama""".split()
GROUPS = {"the first six": slice(0, 6), "the last twelve": slice(8, 20)}
_SAMPLING = Sampling(rounds=7)


@dataclass(frozen=True)
class Row:
    """A network's times in one precision.

    Attributes
    ----------
    network, precision : str
    milliseconds : float
    peers : dict of str to float
        The milliseconds of PyTorch's ways.
    launches : int
        What Texloom launches in a run.
    error : float
        The norm of the difference to the result in float64, as a share of the result's norm.
    compile_seconds, first_seconds : float
        Of ``texloom compile``, while others compile; and of the first run of the package.
    """

    network: str
    precision: str
    milliseconds: float
    peers: dict[str, float]
    launches: int
    error: float
    compile_seconds: float
    first_seconds: float

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the best of PyTorch's ways; None if none works."""
        return min(self.peers.values()) / self.milliseconds if self.peers else None


@dataclass
class Ready:
    """A network that can be timed.

    Attributes
    ----------
    peer : Peer
    folder : Path
        Has the exported model, its input and output, and the packages.
    arms : dict of str to dict of str to int
        PyTorch's arms by precision and name.
    launches : dict of str to int
    compile_seconds : dict of str to float
        By precision.
    """

    peer: Peer
    folder: Path
    arms: dict[str, dict[str, int]]
    launches: dict[str, int]
    compile_seconds: dict[str, float]


def prepare(name: str, peer: Peer, options: argparse.Namespace, folder: Path) -> Ready:
    """Export and compile a network, by both sides."""
    folder.mkdir()
    peer.ask("export", name=name, folder=str(folder))
    ready = Ready(peer, folder, {}, {}, {})
    for precision in options.precisions:
        begin = time.monotonic()
        command = [sys.executable, "-m", "texloom", "compile", folder / "model.onnx"]
        command += ["--target", options.device, "--storage", options.storage]
        command += ["--precision", precision, "-o", folder / f"{precision}.tlp", "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        ready.compile_seconds[precision] = time.monotonic() - begin
        ready.launches[precision] = json.loads(done.stdout)["launches"]
        ready.arms[precision] = peer.ask(
            "arms", dtype=DTYPES[precision], compiled=not options.no_compile
        )
    return ready


def timed(name: str, ready: Ready, precision: str, device: texloom.Device) -> Row:
    """Check and time a network."""
    graph = load(ready.folder / f"{precision}.tlp")
    x, exact = np.load(ready.folder / "x.npy"), np.load(ready.folder / "y.npy")
    begin = time.monotonic()
    own = next(iter(graph.run({"x": x}, device).values()))
    first = time.monotonic() - begin
    error = float(np.linalg.norm(own.astype("float64") - exact) / np.linalg.norm(exact))
    peers = ready.arms[precision]
    arms: list[Timed] = [own_arm(graph, device)]
    arms += [PeerArm(ready.peer, number) for number in peers.values()]
    ours, *theirs = (median(each.results) * 1e3 for each in measure(arms, _SAMPLING))
    return Row(
        name,
        precision,
        ours,
        dict(zip(peers, theirs, strict=True)),
        ready.launches[precision],
        error,
        ready.compile_seconds[precision],
        first,
    )


def table(rows: Sequence[Row]) -> list[str]:
    """Return rows of a table in Markdown, then the geometric means."""
    lines = [
        "| network | precision | ms | launches | error | PyTorch's best, ms | as fast |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        best, ratio = "-", "-"
        if row.ratio is not None:
            way = min(row.peers, key=row.peers.__getitem__)
            best, ratio = f"{row.peers[way]:.3f} ({way})", f"{row.ratio:.2f}"
        lines.append(
            f"| {row.network} | {row.precision} | {row.milliseconds:.3f} | {row.launches} | "
            f"{row.error:.1e} | {best} | {ratio} |"
        )
    for precision in dict.fromkeys(row.precision for row in rows):
        groups = {"all": slice(None), **GROUPS}
        for name, part in groups.items():
            own = [
                row.ratio
                for row in rows
                if row.precision == precision and row.network in NAMES[part] and row.ratio
            ]
            if own:
                mean = math.exp(sum(map(math.log, own)) / len(own))
                lines.append(
                    f"{precision}, {name} ({len(own)}): least {min(own):.2f}, mean {mean:.2f}"
                )
    return lines


def _network(text: str) -> str:
    """Return a name that the process of PyTorch can build, or refuse it."""
    library, separator, name = text.partition(":")
    if text in NAMES or (separator and name and library in ("torchvision", "timm")):
        return text
    message = f"no network '{text}'; use torchvision:NAME, timm:NAME or one of {', '.join(NAMES)}"
    raise argparse.ArgumentTypeError(message)


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--network",
        action="append",
        type=_network,
        help="one of the list, torchvision:NAME or timm:NAME; default: the list",
    )
    parser.add_argument(
        "--precision", action="append", choices=list(DTYPES), dest="precisions", help="default: all"
    )
    parser.add_argument("--pytorch", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--no-compile", action="store_true", help="leave out torch.compile")
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--storage", default="buffer", choices=("auto", "buffer", "texture"))
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="begin to time no network after so many seconds"
    )
    parser.add_argument("-o", dest="output", type=Path, help="write the rows as JSON")
    options = parser.parse_args()
    options.precisions = options.precisions or list(DTYPES)
    return options


def main() -> int:
    """Measure the networks; return 1 if one failed."""
    options = parse()
    end = time.monotonic() + options.seconds
    names = options.network or NAMES
    rows: list[Row] = []
    failed = False
    with ExitStack() as stack:
        at = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pool = stack.enter_context(ThreadPoolExecutor(len(names)))
        jobs: dict[str, Future[Ready]] = {}
        for name in names:
            peer = stack.enter_context(exporting_pytorch(options.pytorch))
            if peer.device is None:
                raise SystemExit("PyTorch has no GPU here")
            jobs[name] = pool.submit(prepare, name, peer, options, at / name)
        for name, job in jobs.items():
            if job.exception() is not None:  # waits for all before anything is timed
                failed = True
                print(f"{name}: {job.exception()}", file=sys.stderr)
        device = texloom.device(options.device)
        print(f"{device.device_name}, {peer.device}", flush=True)
        for name, job in jobs.items():
            for precision in options.precisions:
                if job.exception() is not None or time.monotonic() > end:
                    continue
                rows.append(timed(name, job.result(), precision, device))
                print(table(rows[-1:])[2], flush=True)
                if options.output is not None:
                    facts = [asdict(row) for row in rows]
                    options.output.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    print("\n".join(table(rows)))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
