"""Inputs of models on the command line."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from ..graph import RunnableGraph
from .arrays import ARRAY_FILES, load_array, load_arrays
from .model_arguments import split_name
from .pictures import Pixels, load_picture


@dataclass(frozen=True)
class Port:
    """An input of a model.

    Attributes
    ----------
    name : str
    shape : tuple of int or str, or None
        An open extent is a word; None if the rank is open.
    dtype : str
    """

    name: str
    shape: tuple[int | str, ...] | None
    dtype: str

    def __str__(self) -> str:
        extents = "..." if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.name}: {self.dtype}[{extents}]"


def ports_of(graph: RunnableGraph) -> list[Port]:
    """Return the inputs of a package."""
    return [
        Port(each.name, tuple(e if isinstance(e, int) else str(e) for e in each.shape), each.dtype)
        for each in graph.inputs
    ]


def with_shapes(ports: Sequence[Port], shapes: Mapping[str, tuple[int, ...]]) -> list[Port]:
    """Return the inputs with the given shapes in place of the declared ones.

    Raises
    ------
    TVMError
        TL5016 for names that are not inputs; TL5003 for shapes that contradict the inputs' declared
        shapes.
    """
    by_name = {port.name: port for port in ports}
    for name, shape in shapes.items():
        if name not in by_name:
            _refuse_name(name, by_name)
        own = by_name[name].shape
        if own is not None and not (
            len(own) == len(shape)
            and all(isinstance(e, str) or e == given for e, given in zip(own, shape, strict=True))
        ):
            refuse(
                "WrongShape",
                f"--shape gives {name!r} the shape ({', '.join(map(str, shape))}), which does not "
                f"fit the input {by_name[name]}",
                "give a shape of the same rank with the fixed extents of the input",
            )
    return [Port(each.name, shapes.get(each.name, each.shape), each.dtype) for each in ports]


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text} is not finite")
    return number


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(_number(each) for each in text.split(","))


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--input`` and the options for pictures."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a .npy or .npz file, or a picture, which is resized to the input and scaled to "
        "numbers from 0 to 1; a .npz file without NAME= has several inputs by name",
    )
    parser.add_argument(
        "--mean",
        type=_numbers,
        default=(0.0,),
        metavar="M[,M...]",
        help="subtracted from scaled pixels",
    )
    parser.add_argument(
        "--std",
        type=_numbers,
        default=(1.0,),
        metavar="S[,S...]",
        help="divides pixels after --mean",
    )
    parser.add_argument(
        "--scale", type=_number, metavar="S", help="multiplies pixels first (default: 1/255)"
    )
    parser.add_argument("--bgr", action="store_true", help="blue comes first in pictures")


def read_inputs(options: argparse.Namespace, ports: Sequence[Port]) -> dict[str, NDArray[Any]]:
    """Return the arrays that the options of :func:`add_input_arguments` give.

    Raises
    ------
    TVMError
        TL5016 for names that are not inputs or are given twice; the errors of :func:`load_picture`.
    OSError
        For files that cannot be opened.
    """
    by_name = {port.name: port for port in ports}
    pixels = Pixels(options.mean, options.std, options.scale, options.bgr)
    pictures = any(Path(text).suffix.lower() not in ARRAY_FILES for text in options.input)
    if options.input and not pictures and pixels != Pixels():
        refuse(
            "BadOption",
            "--mean, --std, --scale and --bgr are for pictures, but no --input is a picture",
            "leave them out: the elements of .npy and .npz files are not changed",
        )
    arrays: dict[str, NDArray[Any]] = {}
    for port, file in _files(options, by_name):
        found = load_arrays(file) if port is None else {port.name: _read(file, port, pixels)}
        for name, array in found.items():
            if name in arrays:
                refuse("UnknownName", f"--input gives {name!r} twice", "give each input once")
            arrays[name] = array
    return arrays


def input_files(options: argparse.Namespace, ports: Sequence[Port]) -> list[Path]:
    """Return the files that :func:`read_inputs` reads."""
    return [file for _, file in _files(options, {port.name: port for port in ports})]


def refuse_missing(arrays: Mapping[str, Any], ports: Sequence[Port]) -> None:
    """Refuse a run that lacks an input."""
    missing = [port for port in ports if port.name not in arrays]
    if missing:
        refuse(
            "UnknownName",
            f"these inputs are missing: {', '.join(map(str, missing))}",
            "add " + " ".join(f"--input {port.name}=FILE" for port in missing),
        )


def _files(
    options: argparse.Namespace, ports: Mapping[str, Port]
) -> Iterator[tuple[Port | None, Path]]:
    """Yield each file of ``--input`` with its input, or with None if the file has named arrays."""
    for text in options.input:
        if text.endswith(".npz") and "=" not in text:
            yield None, Path(text)
        else:
            name, file = _split(text, ports)
            yield ports[name], Path(file)


def _split(text: str, ports: Mapping[str, Port]) -> tuple[str, str]:
    """Split ``NAME=FILE`` after the name of an input; names and files may contain ``=``."""
    known = [name for name in ports if text.startswith(f"{name}=")]
    if known:
        name = max(known, key=len)
        return name, text[len(name) + 1 :]
    name, _ = split_name(text, "--input")
    _refuse_name(name, ports)


def _refuse_name(name: str, ports: Mapping[str, Port]) -> NoReturn:
    refuse(
        "UnknownName",
        f"the model has no input {name!r}",
        f"its inputs are {', '.join(map(str, ports.values())) or 'none'}",
    )


def _read(path: Path, port: Port, pixels: Pixels) -> NDArray[Any]:
    if path.suffix.lower() in ARRAY_FILES:
        return load_array(path, port.name)
    return load_picture(path, port.name, port.shape, port.dtype, pixels)


def random_inputs(ports: Sequence[Port], seed: int = 0) -> dict[str, NDArray[Any]]:
    """Return arrays for inputs: normal numbers; zeros for integers and flags.

    Integers are often indices, and 0 is always a valid index. Inputs with open extents are refused
    (TL5003).
    """
    generator = np.random.default_rng(seed)
    made = {}
    for port in ports:
        if port.shape is None or any(isinstance(extent, str) for extent in port.shape):
            extents = "1x3x640x640"
            if port.shape is not None:
                extents = "x".join("1" if isinstance(e, str) else str(e) for e in port.shape)
            refuse(
                "WrongShape",
                f"the input {port} has open extents",
                f"give all extents, as --shape {port.name}={extents}, or give an array: "
                f"--input {port.name}=FILE",
            )
        shape = tuple(int(extent) for extent in port.shape)
        is_float = "float" in port.dtype
        values = generator.standard_normal(shape) if is_float else np.zeros(shape)
        made[port.name] = values.astype(port.dtype)
    return made


__all__ = [
    "Port",
    "add_input_arguments",
    "input_files",
    "ports_of",
    "random_inputs",
    "read_inputs",
    "refuse_missing",
    "with_shapes",
]
