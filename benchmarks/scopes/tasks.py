"""Whether estimates choose the faster storage: operators of networks, measured in both.

    python benchmarks/scopes/tasks.py --costs records.sqlite direction mobilenetv2@96 unet.onnx

Measures the kernels of each network over buffers and over textures, unless the file of costs has
them, and compares each operator whose best kernels differ by more than 10 % with what the estimate
alone, by the profile of the device, chooses. Prints those that it chooses wrong, and how many there
are. Differences that measurements do not resolve are left out. Networks are ONNX files, or named as
for scopes.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median
from typing import Any

import onnx
from scopes import network

from texloom.costs import Costs, open_costs
from texloom.devices.lookup import present
from texloom.inspect.storage_table import StorageRow, storage_rows
from texloom.onnx.model import Model
from texloom.target import Target

Network = tuple[onnx.ModelProto, dict[str, tuple[int, ...]]]
"""A network, and the shapes of its inputs that it leaves open."""


def rows(of: Network, target: Any, costs: Costs | None, device: Any) -> list[StorageRow]:
    """Return the operators of a network by measured costs, or by estimates without `costs`."""
    proto, shapes = of
    measure = device if costs else None
    options = {"costs": costs, "measure": measure, "compare_storages": True}
    model = Model(proto, target, "auto", shapes=shapes, **options)
    assert model.summary is not None
    return storage_rows(model.summary, len(model.signature.inputs), groups=False)


def compared(
    of: Network, target: Any, costs: Costs, device: Any
) -> list[tuple[StorageRow, StorageRow]]:
    """Return each operator that was measured in both storages: its measurements and estimates."""
    measured = rows(of, target, costs, device)
    known = costs.measured()
    return [
        (own, guess)
        for own, guess in zip(measured, rows(of, target, None, device), strict=True)
        if own.buffers and own.textures and {own.buffers.key, own.textures.key} <= known.keys()
    ]


def resolution(costs: Costs) -> float:
    """Return the nanoseconds that measured costs are exact to.

    The times between the stamps of a network's kernels do not add up to its time without stamps:
    the rest is divided among its launches (docs/costs.md). It is large on a busy machine.
    """
    rests = (abs(each.total_ns - each.kernel_ns) / each.launches for each in costs.networks())
    return median(rests)


def is_clear(row: StorageRow, least: float) -> bool:
    """Whether one storage is faster by more than 10 %, and by more than `least` nanoseconds."""
    assert row.buffers is not None and row.textures is not None
    return row.faster is not None and abs(row.buffers.ns - row.textures.ns) > least


def main() -> int:
    """Print the operators; return 1 if the estimates choose a slower storage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="+", metavar="NAME[@SIZE]|MODEL.onnx")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="with the text models")
    parser.add_argument("--costs", type=Path, default=Path("records.sqlite"), metavar="FILE")
    parser.add_argument("--device")
    options = parser.parse_args()
    device = present(options.device)
    costs = open_costs(options.costs, measure=device)
    assert costs is not None
    target = Target.from_device(device)
    print(f"{costs.device}, {target}")
    wrong = 0
    for name in options.networks:
        is_file = name.endswith(".onnx")
        of = (onnx.load(name), {}) if is_file else network(name, options.models)
        pairs = compared(of, target, costs, device)
        least = resolution(costs)
        clear = [(own, guess) for own, guess in pairs if is_clear(own, least)]
        missed = [(own, guess) for own, guess in clear if _picks(guess) != own.faster]
        textures = sum(own.faster == "textures" for own, _ in clear)
        print(
            f"{Path(name).stem}: {len(pairs)} operators measured in both storages; {len(clear)} "
            f"differ by over 10 % and {least / 1e3:.1f} us, of which {textures} are faster over "
            f"textures; {len(missed)} chosen wrong",
            flush=True,
        )
        for own, guess in missed:
            print(f"  {own.name}: measured {_times(own)}, estimated {_times(guess)}")
        wrong += len(missed)
    return 1 if wrong else 0


def _picks(guess: StorageRow) -> str:
    assert guess.buffers is not None and guess.textures is not None
    return "textures" if guess.textures.ns < guess.buffers.ns else "buffers"


def _times(row: StorageRow) -> str:
    assert row.buffers is not None and row.textures is not None
    return f"{row.buffers.ns / 1e3:.1f} us in buffers, {row.textures.ns / 1e3:.1f} in textures"


if __name__ == "__main__":
    sys.exit(main())
