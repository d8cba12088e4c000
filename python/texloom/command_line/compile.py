"""``texloom compile``: from an ONNX model to a package."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import refuse
from ..functions.files import LINKED_FILES
from ..inspect.describe import counted
from ..target import device_named, resolve
from .arrays import refuse_missing_folder, refuse_overwriting
from .metallibs import add_metallibs, find_xcrun
from .model_arguments import (
    add_compile_arguments,
    compile_for_target,
    compile_model,
    is_package,
    target_of,
)
from .reports import Progress, reported

if TYPE_CHECKING:
    from ..onnx import Model

# What a package is for that is compiled without a target, by the kind of the default.
_DEFAULTS = {
    "llvm": "native code for this processor and those with all its features; `texloom run` takes "
    "it with --native\n"
    "for others: --target haswell, cortex-a76, ... (docs/cpu.md); --target opencl:0 is for the "
    "first OpenCL device",
    "opencl": "for every OpenCL device, but suits processors: --target opencl:0 is for the first "
    "one",
}

_DESCRIPTION = """\
Compiles an ONNX model to a package, which `texloom run`, texloom.graph.load and programs in C++
run. No device is needed, unless --target or --measure names one.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom compile", description=_DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL.onnx")
    add_compile_arguments(parser, runs=False)
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="the package (default: the model's name with .tlp, in the current folder)",
    )
    parser.add_argument(
        "--metallib",
        action="store_true",
        help="also compile the kernels for Metal by Apple's tools, so that programs need not: the "
        "package has a metallib beside each source (needs xcrun, of Xcode)",
    )
    parser.add_argument(
        "--binaries",
        action="store_true",
        help="also compile the kernels on the OpenCL device that --target names, as --target "
        "opencl:0, so that first runs need not: the package has the driver's binaries beside the "
        "source, for the same device and version of its driver",
    )
    parser.add_argument(
        "--emit",
        default="package",
        metavar="WHAT",
        help="what is written (default: package). object,header,package is for --target llvm: an "
        "object file (-o FILE.o) that a program links, so that it loads no code when it runs, a C "
        "header (FILE.h), and the package without code (FILE.tlp); a part that is left out is not "
        "written",
    )
    parser.add_argument("--json", action="store_true", help="write what was decided as JSON")
    parser.set_defaults(targets=[])
    return parser.parse_args(arguments)


def _models(options: argparse.Namespace) -> list[Model]:
    """Compile the model for each target, in order; the model is imported once."""
    progress = Progress("compile")
    model = compile_model(options.model, options, progress)
    models = [model]
    for target in options.targets[1:]:
        given = argparse.Namespace(**{**vars(options), "target": target})
        models.append(compile_for_target(model, given, progress))
    return models


def _compile(options: argparse.Namespace) -> int:
    begin = time.monotonic()
    if is_package(options.model):
        refuse(
            "BadFile",
            f"{options.model} is a package already",
            f"run it with `texloom run {options.model}`, or give an .onnx file",
        )
    parts = _parts(options)
    output = _output(options, parts)
    refuse_missing_folder(output)
    refuse_overwriting(output, options.model)
    twice = [t for i, t in enumerate(options.targets) if t in options.targets[:i]]
    if twice:
        refuse("BadOption", f"--target gives {twice[0]!r} twice", "leave one of the two out")
    if options.metallib:
        _refuse_other_than_metal(options, parts)
        find_xcrun()
    binaries = _devices_of_binaries(options, parts) if options.binaries else []
    model, *others = _models(options)
    if options.metallib:
        _save_with_metallibs(model, output)
    else:
        model.save(output, others, emit=parts, binaries=binaries)
    files = [output]
    if output.suffix == ".o":
        files = [output.with_suffix(LINKED_FILES[part]) for part in LINKED_FILES if part in parts]
    facts = _facts(model, files, time.monotonic() - begin)
    facts["knobs"] = {"from": options.knobs.name, **options.knobs.used.facts()}
    if options.json:
        print(json.dumps(facts))
        return 0
    _print(facts)
    if "package" not in parts:
        print("the program needs their package, too: --emit=object,header,package writes all three")
    if options.target is None and options.measure is None:
        print(_DEFAULTS[resolve(target_of(options)).kind])
    return 0


def _facts(model: Model, files: Sequence[Path], seconds: float) -> dict[str, Any]:
    """Return what was decided, for ``--json``; the files are not empty."""
    summary = model.summary or {}
    sizes = {"workspace_bytes": 0, "constant_bytes": 0, "launches": 0, "signatures": 0}
    facts = {
        "files": {str(file): file.stat().st_size for file in files},
        "inputs": [model.signature.described(name, model.shapes) for name in model.inputs],
        "outputs": model.outputs,
        "seconds": round(seconds, 3),
        **{name: summary.get(name, default) for name, default in sizes.items()},
    }
    if model.open_inputs():
        facts["workspace_bytes"] = None  # depends on the sizes of a call
    if summary.get("scopes"):
        facts["choice"] = {
            "device": summary["scopes"]["device"],
            "nanoseconds": summary["cost"],
            "least": summary["lower_bound"],
            "in_textures": sum(
                scope.startswith("texture") for _, scope, _ in summary["stores"].values()
            ),
            "conversions": len(summary["conversions"]),
        }
    return facts


def _print(facts: dict[str, Any]) -> None:
    inputs, outputs = ", ".join(facts["inputs"]), ", ".join(facts["outputs"])
    print(f"{', '.join(facts['files'])}: {inputs or 'nothing'} -> {outputs}")
    launches = counted(facts["launches"], "launch", "es")
    if facts["launches"] == 0 < facts["signatures"]:  # loops whose iterations a call determines
        launches = "launches as each call needs"
    temporaries = "temporaries as each call needs"
    if facts["workspace_bytes"] is not None:
        temporaries = f"{counted(facts['workspace_bytes'], 'byte')} of temporaries"
    print(
        f"{launches} of {counted(facts['signatures'], 'kernel')}, {temporaries}, "
        f"{counted(facts['constant_bytes'], 'byte')} of constants; {facts['seconds']:.1f} s"
    )
    if facts["knobs"]["from"]:
        print(_knobs_told(facts["knobs"]))
    if "choice" in facts:
        print(_chosen(facts["choice"]))


def _knobs_told(knobs: dict[str, Any]) -> str:
    """Describe where the kernels that have several points got their knobs from."""
    tuned, transferred, estimated = (knobs[n] for n in ("tuned", "transferred", "estimated"))
    told = (
        f"{counted(tuned, 'kernel')} tuned, {transferred} transferred, {estimated} estimated, "
        f"by {knobs['from']}"
    )
    devices = {each["device"] for each in knobs["kernels"]}
    return f"{told}, of {', '.join(sorted(devices))}" if devices else told


def _parts(options: argparse.Namespace) -> list[str]:
    """Return the parts of an object file that are written; the package alone is not one."""
    parts: list[str] = options.emit.split(",")
    fits = all(part in LINKED_FILES for part in parts) and len(set(parts)) == len(parts)
    if not fits or ("object" not in parts and parts != ["package"]):
        refuse(
            "BadOption",
            f"--emit={options.emit} is neither a package nor an object file",
            "write --emit=package, or --emit=object with ,header and ,package as needed",
        )
    return parts


def _output(options: argparse.Namespace, parts: Sequence[str]) -> Path:
    """Return the file that is written: an object file, or a package."""
    suffix = ".o" if "object" in parts else ".tlp"
    output: Path = options.output or Path(options.model.with_suffix(suffix).name)
    if (output.suffix == ".o") != (suffix == ".o"):
        refuse(
            "BadOption",
            f"--emit={options.emit} does not write {output}",
            "write --emit=object,header,package and -o FILE.o, or leave out both",
        )
    return output


def _refuse_other_than_metal(options: argparse.Namespace, parts: Sequence[str]) -> None:
    if "object" in parts:
        refuse(
            "BadOption",
            "--metallib is for packages, but --emit asks for an object file",
            "leave one of the two out",
        )
    if len(options.targets) > 1:
        refuse(
            "BadOption",
            f"--metallib needs Metal as the only target, but {len(options.targets)} are given",
            "give --target metal alone, or leave out --metallib",
        )
    kind = resolve(target_of(options)).kind
    if kind != "metal":
        refuse(
            "BadOption",
            f"--metallib is for kernels in Metal's language, but the target is {kind}",
            "give --target metal alone, or leave out --metallib",
        )


def _devices_of_binaries(options: argparse.Namespace, parts: Sequence[str]) -> list[str]:
    """Return the OpenCL devices that the targets name, whose drivers compile the kernels."""
    if "object" in parts:
        refuse(
            "BadOption",
            "--binaries is for packages, but --emit asks for an object file",
            "leave one of the two out",
        )
    named = [(device_named(target), resolve(target).kind) for target in options.targets]
    devices = [device for device, kind in named if device is not None and kind == "opencl"]
    if not devices:
        kind = resolve(target_of(options)).kind
        refuse(
            "BadOption",
            "--binaries needs an OpenCL device that compiles the kernels, but "
            + (
                "--target names none"
                if kind == "opencl"
                else f"the target is {kind}: no driver returns binaries of its kernels"
            ),
            "name a device of this machine, as --target opencl:0 (`texloom devices` lists them), "
            "or leave out --binaries",
        )
    return devices


def _save_with_metallibs(model: Model, output: Path) -> None:
    """Save a model; the package appears only when it has its metallibs."""
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".metallibs.") as folder:
        package = Path(folder, "package.tlp")
        model.save(package)
        add_metallibs(package, output)


def _chosen(choice: dict[str, Any]) -> str:
    """Describe the choice of storages by costs, and whether it is proven to be the best."""
    cost, least = choice["nanoseconds"], choice["least"]
    proof = "the least of all choices"
    if least < cost:
        proof = f"no choice takes less than {least / 1e6:.3f} ms"
    return (
        f"{cost / 1e6:.3f} ms are predicted on {choice['device']}, {proof}; "
        f"{counted(choice['in_textures'], 'tensor')} in textures, "
        f"{counted(choice['conversions'], 'conversion')}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile a model; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)
    return reported("compile", lambda: _compile(options))
