"""``texloom run``: a model or a package on files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..devices.lookup import present
from ..errors import refuse
from .arrays import refuse_overwriting, save_outputs, tensors_of
from .inputs import add_input_arguments, input_files, read_inputs, refuse_missing
from .model_arguments import add_compile_arguments, add_native_argument, choose_device
from .recording import Recording
from .reports import Progress, reported
from .run_profile import RunProfile, add_profile_arguments
from .runnable import open_runnable

_DESCRIPTION = """\
Runs a package, or compiles an ONNX model and runs it. Each output is written to FOLDER/NAME.npy,
with "_" in place of "/" and ":" in its name.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom run", description=_DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tlp or an .onnx file")
    add_input_arguments(parser)
    parser.add_argument("--output-dir", type=Path, metavar="FOLDER", help="where outputs go")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE.tlz",
        help="write the package, the inputs, the device and the outputs to a file for "
        "`texloom replay`, also if the package fails",
    )
    add_profile_arguments(parser)
    add_compile_arguments(parser)
    add_native_argument(parser)
    parser.add_argument("--json", action="store_true", help="describe the outputs as JSON")
    return parser.parse_args(arguments)


def _facts(name: str, array: NDArray[Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": name, "dtype": array.dtype.name, "shape": list(array.shape)}
    if array.size and array.dtype.kind in "fiu":
        values = array.astype("float64")
        with np.errstate(invalid="ignore"):  # the mean of inf and -inf is NaN
            facts |= {
                "least": float(values.min()),
                "mean": float(values.mean()),
                "largest": float(values.max()),
            }
    return facts


def _run(options: argparse.Namespace) -> int:
    profile = RunProfile(options)
    choose_device(options)
    if present(options.device).driver == "null":
        refuse(
            "BadOption",
            f"the device {options.device} computes nothing, so the outputs would have no values",
            "choose another device: texloom devices lists them",
        )
    progress = Progress("run")
    runnable = open_runnable(options.model, options, progress)
    inputs = read_inputs(options, runnable.ports)
    if options.record is not None:
        read = input_files(options, runnable.ports)
        refuse_overwriting(options.record, options.model, *read)
    refuse_missing(inputs, runnable.ports)
    if options.output_dir is not None:
        options.output_dir.mkdir(parents=True, exist_ok=True)  # before the run, because it can fail
    with Recording(options.record, runnable, inputs, options.device) as recording, profile:
        outputs = tensors_of(runnable.run(inputs, options.device))
        recording.outputs = outputs
    progress.end()
    if options.output_dir is not None:
        paths = save_outputs(options.output_dir, outputs)
    facts = [_facts(name, array) for name, array in outputs.items()]
    if options.output_dir is not None:
        facts = [each | {"file": str(paths[each["name"]])} for each in facts]
    if options.json:
        # JSON has no NaN and no infinities: they become null.
        json.dump([_without_infinities(each) for each in facts], sys.stdout)
        print()
        return 0
    for each in facts:
        values = "".join(
            f", {key} {each[key]:.6g}" for key in ("least", "mean", "largest") if key in each
        )
        file = f"  {each['file']}" if "file" in each else ""
        print(f"{each['name']}: {each['dtype']}{each['shape']}{values}{file}")
    return 0


def _without_infinities(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value
        for key, value in facts.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a model; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    return reported("run", lambda: _run(options))
