"""Arguments that several commands have: models, shapes, values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..costs import costs_for
from ..devices.lookup import present
from ..errors import refuse
from ..graph import load as load_package
from ..graph.recorded_knobs import knobs_for
from ..graph.tuned_knobs import TunedKnobs
from ..target import Target, device_named, for_models, resolve, target_for
from .arrays import load_array

if TYPE_CHECKING:
    from ..onnx import Model
    from .reports import Progress

_SHAPE = re.compile(r"(?P<name>.+)=(?P<extents>\d+(?:[x,]\d+)*|)")
_MAGIC = b"TXLP"
NO_RECORDS = "none"
"""What stands for no database of records in ``--db``."""


class _Targets(argparse.Action):
    """Stores the first target in the option itself, and all targets in ``targets``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take a target."""
        namespace.targets = [*getattr(namespace, "targets", []), values]
        namespace.target = namespace.targets[0]


def add_compile_arguments(
    parser: argparse.ArgumentParser, *, runs: bool = True, tunes: bool = False
) -> None:
    """Add the options that say how an ONNX model is compiled.

    A command that also runs the model (`runs`) gets the option ``--device``, too. One that looks at
    all knobs of kernels (`tunes`) gets no options that choose them.
    """
    parser.set_defaults(runs=runs, device=None, native=False, tuned=None, db=None, tunes=tunes)
    if runs:
        parser.add_argument(
            "--device",
            metavar="D",
            help='such as "opencl:1"; `texloom devices` lists them (default: the first one of the '
            "kind that the kernels are for)",
        )
    for_several = "" if runs else "; may be repeated, for a package that suits several devices"
    parser.add_argument(
        "--target",
        metavar="TARGET",
        action="store" if runs else _Targets,
        help='such as "opencl -device=adreno"; "opencl:0", or another device of this machine, '
        'stands for its target, and a processor, such as "haswell", for its native code (default: '
        "that of the device that --device or --measure names, else llvm -mcpu=native, native code "
        "for this processor; without LLVM, opencl)" + for_several,
    )
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=AxBxC",
        help="the shape of an input; may be repeated",
    )
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a .npy or .npz file with the values of an input, which become part of the package",
    )
    parser.add_argument(
        "--storage",
        choices=("auto", "buffer", "texture"),
        default="auto",
        help="where tensors are stored (default: by cost)",
    )
    parser.add_argument(
        "--costs",
        metavar="FILE",
        help="the records that have measured costs of kernels: a file, or a URL of PostgreSQL "
        "(default: records.sqlite in TEXLOOM_CACHE_DIR; without a file, by estimates)",
    )
    parser.add_argument(
        "--costs-device", metavar="NAME", help="the device, if the file has costs of several"
    )
    parser.add_argument(
        "--measure",
        nargs="?",
        const="",
        metavar="DEVICE",
        help="first measure kernels that the file of costs lacks, on this device (default: the one "
        "that runs the model, or opencl:0), and add their costs to the file",
    )
    if not tunes:
        parser.add_argument(
            "--tuned",
            type=Path,
            metavar="FILE",
            help="a file of the best knobs of kernels, which `texloom db export --best` wrote",
        )
        parser.add_argument(
            "--db",
            metavar="DB",
            help="the database of records that has the best knobs of kernels: a file, a URL of "
            f"PostgreSQL, or {NO_RECORDS} (default: records.sqlite in TEXLOOM_CACHE_DIR, if it "
            "exists)",
        )
    parser.add_argument(
        "--precision",
        choices=("fp32", "fp16"),
        default="fp32",
        help="fp16 stores weights and tensors between nodes as float16 (default: fp32)",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=0,
        metavar="NUMBER|NAME",
        help="the seed of nodes that draw random numbers: a number, or the name of an input that "
        "the model gets for it, an int64 scalar (default: 0)",
    )


def add_native_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option with which a command takes native code from a package."""
    parser.add_argument(
        "--native",
        action="store_true",
        help="take native code from a package; it runs with all your rights, so only for files "
        "that you trust",
    )


def _seed(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def is_package(path: Path) -> bool:
    """Whether a file is a package, by its first bytes; an OSError if it cannot be read.

    TL5012 for a file whose name ends in .tlp but that is not a package.
    """
    with path.open("rb") as file:
        is_one = file.read(len(_MAGIC)) == _MAGIC
    if not is_one and path.suffix.lower() == ".tlp":
        refuse(
            "BadPackage",
            f"{path} is not a package, or is damaged: it does not begin with {_MAGIC.decode()}",
            "make it: texloom compile MODEL.onnx -o FILE.tlp",
        )
    return is_one


def split_name(text: str, option: str) -> tuple[str, str]:
    """Return NAME and FILE of ``NAME=FILE``."""
    name, equals, file = text.partition("=")
    if not equals or not name or not file:
        refuse("BadOption", f"{option} {text} is not NAME=FILE", f"write it as {option} x=x.npy")
    return name, file


def shapes_of(options: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes that ``--shape`` gives."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in options:
        match = _SHAPE.fullmatch(text)
        if match is None:
            refuse(
                "BadOption",
                f"--shape {text} is not NAME=AxBxC with numbers",
                "write it as --shape x=1x3x640x640",
            )
        extents = tuple(int(e) for e in re.split("[x,]", match["extents"]) if e)
        if shapes.setdefault(match["name"], extents) != extents:
            refuse(
                "WrongShape",
                f"--shape gives {match['name']!r} two shapes",
                "give each input one shape",
            )
    return shapes


def _values_of(options: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays that ``--value`` gives."""
    named = (split_name(text, "--value") for text in options)
    return {name: np.asarray(load_array(Path(file), name)) for name, file in named}


def choose_device(options: argparse.Namespace) -> None:
    """Set ``options.device`` of a command that runs a model, and ``options.measure`` if given.

    A model runs and is measured on one device. This device is the one that ``--device``,
    ``--measure`` or ``--target`` names, or else the first device of the kind that the kernels are
    for.
    """
    measures = options.measure is not None
    if not options.runs and not measures:
        return
    chosen = options.device
    if chosen is None:
        chosen = options.measure or device_named(options.target) or _first(options)
    if options.measure and present(options.measure) != present(chosen):
        refuse(
            "BadOption",
            f"--measure {options.measure} and --device {options.device} name different devices",
            "give only one of the two options",
        )
    options.device = chosen
    if measures:
        options.measure = chosen


def _first(options: argparse.Namespace) -> str:
    """Return the first device of the kind for which the package or the target is."""
    if is_package(options.model):
        return f"{load_package(options.model, native=options.native).default_device.driver}:0"
    return f"{_core.driver_of_kind(resolve(_named_or_default(options)).kind)}:0"


def _named_or_default(options: argparse.Namespace) -> str | Target | None:
    """Return the target without regard to devices; None stands for that of functions.

    Costs choose between buffers and textures, so that models with costs are for OpenCL.
    """
    target: str | None = options.target
    has_costs = options.measure is not None or options.costs is not None
    return target if has_costs else for_models(target)


def target_of(options: argparse.Namespace) -> str | Target | None:
    """Return the target that the model is compiled for; None stands for that of functions."""
    choose_device(options)
    if options.device is None:
        return _named_or_default(options)
    return target_for(options.device, options.target)


def compile_arguments(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Return the arguments of :class:`texloom.onnx.Model` that the options give."""
    target = target_of(options)
    measure = None if options.measure is None else present(options.measure)
    return {
        "target": target,
        "storage": options.storage,
        "precision": options.precision,
        "seed": options.seed,
        "shapes": shapes_of(options.shape),
        "values": _values_of(options.value),
        "progress": progress,
        "costs": costs_for(target, options.costs, options.costs_device, measure),
        "measure": measure,
        "tuned": _knobs_of(options),
    }


def _knobs_of(options: argparse.Namespace) -> TunedKnobs | None:
    """Return the best knobs that the options name, which are looked for once.

    They are kept as ``options.knobs``, which knows afterwards what was used.
    """
    if options.tunes:
        return None
    if getattr(options, "knobs", None) is None:
        if options.tuned is not None and options.db not in (None, NO_RECORDS):
            refuse(
                "BadOption",
                f"--tuned {options.tuned} and --db {options.db} both name the best knobs",
                "leave one of the two out",
            )
        place = options.tuned or options.db
        targets = getattr(options, "targets", None) or [options.target]
        # A command that compiles alone has a device only to be measured.
        found = knobs_for(False if place == NO_RECORDS else place, targets, options.device)
        options.knobs = found or TunedKnobs((), "")
    knobs: TunedKnobs = options.knobs
    return knobs


def compile_model(
    path: Path, options: argparse.Namespace, progress: Progress, *, compare_storages: bool = False
) -> Model:
    """Compile an ONNX file as the options of :func:`add_compile_arguments` say.

    `compare_storages` is as for :class:`texloom.onnx.Model`.
    """
    from ..onnx import load

    try:
        arguments = compile_arguments(options, progress)
        return load(path, **arguments, compare_storages=compare_storages)
    finally:
        progress.end()


def compile_for_target(model: Model, options: argparse.Namespace, progress: Progress) -> Model:
    """Compile a model once more, for the target that `options` name."""
    given = compile_arguments(options, progress)
    try:
        return model.for_target(given["target"], given["costs"], given["measure"])
    finally:
        progress.end()


def refuse_compile_options(
    path: Path, options: argparse.Namespace, taken: Sequence[str] = ()
) -> None:
    """Refuse options for compiling a model that is a package, except those in `taken`."""
    given = [
        name.replace("_", "-")
        for name in ("target", "shape", "value", "costs", "costs_device", "measure", "tuned", "db")
        if name not in taken and getattr(options, name) not in (None, [])
    ]
    given += ["storage"] * (options.storage != "auto")
    given += ["precision"] * (options.precision != "fp32")
    given += ["seed"] * (options.seed != 0)
    if given:
        refuse(
            "BadOption",
            f"--{given[0]} is for ONNX models, but {path} is a package",
            "give it to texloom compile, or give the .onnx file",
        )


__all__ = [
    "add_compile_arguments",
    "add_native_argument",
    "choose_device",
    "compile_arguments",
    "compile_for_target",
    "compile_model",
    "is_package",
    "refuse_compile_options",
    "shapes_of",
    "split_name",
    "target_of",
]
