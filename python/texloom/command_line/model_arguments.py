"""Arguments that several commands have: models, shapes, values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from .arrays import load_array

if TYPE_CHECKING:
    from ..onnx import Model
    from .reports import Progress

_SHAPE = re.compile(r"(?P<name>.+)=(?P<extents>\d+(?:[x,]\d+)*|)")
_MAGIC = b"TXLP"


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how an ONNX model is compiled."""
    parser.add_argument(
        "--target", metavar="TARGET", help='such as "opencl -device=adreno" (default: opencl)'
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
        "--precision", choices=("fp32", "fp16"), default="fp32", help="fp16 is not supported yet"
    )


def is_package(path: Path) -> bool:
    """Whether a file is a package, by its first bytes; an OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def split_name(text: str, option: str) -> tuple[str, str]:
    """Return NAME and FILE of ``NAME=FILE``."""
    name, equals, file = text.partition("=")
    if not equals or not name or not file:
        refuse("BadDirectiveArgument", f"{option} {text} is not NAME=FILE", f"{option} x=x.npy")
    return name, file


def shapes_of(options: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes that ``--shape`` gives."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in options:
        match = _SHAPE.fullmatch(text)
        if match is None:
            refuse(
                "BadDirectiveArgument",
                f"--shape {text} is not NAME=AxBxC with numbers",
                "--shape x=1x3x640x640",
            )
        extents = tuple(int(e) for e in re.split("[x,]", match["extents"]) if e)
        if shapes.setdefault(match["name"], extents) != extents:
            refuse(
                "WrongShape",
                f"--shape gives {match['name']!r} two shapes",
                "give each input one shape",
            )
    return shapes


def values_of(options: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays that ``--value`` gives."""
    named = (split_name(text, "--value") for text in options)
    return {name: np.asarray(load_array(Path(file), name)) for name, file in named}


def refuse_precision(options: argparse.Namespace) -> None:
    """Refuse ``--precision fp16``."""
    if options.precision == "fp16":
        refuse(
            "BadDirectiveArgument",
            "models cannot be compiled to half precision yet",
            "leave out --precision fp16; a model whose tensors are float16 is compiled as it is",
        )


def compile_model(path: Path, options: argparse.Namespace, progress: Progress) -> Model:
    """Compile an ONNX file as the options of :func:`add_compile_arguments` say."""
    from ..onnx import load

    refuse_precision(options)
    try:
        return load(
            path,
            target=options.target,
            storage=options.storage,
            shapes=shapes_of(options.shape),
            values=values_of(options.value),
            progress=progress,
        )
    finally:
        progress.end()


def refuse_compile_options(path: Path, options: argparse.Namespace) -> None:
    """Refuse options for compiling where a package is given, which is compiled already."""
    given = [
        name for name in ("target", "shape", "value") if getattr(options, name) not in (None, [])
    ]
    given += ["storage"] * (options.storage != "auto")
    given += ["precision"] * (options.precision != "fp32")
    if given:
        refuse(
            "BadDirectiveArgument",
            f"--{given[0]} is for ONNX models, but {path} is a package",
            "give it to texloom compile, or give the .onnx file",
        )


__all__ = [
    "add_compile_arguments",
    "compile_model",
    "is_package",
    "refuse_compile_options",
    "refuse_precision",
    "shapes_of",
    "split_name",
    "values_of",
]
