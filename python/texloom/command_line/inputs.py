"""Inputs of models on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
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
        A word for an extent that the model leaves open; None if it leaves the rank open.
    dtype : str
    """

    name: str
    shape: tuple[int | str, ...] | None
    dtype: str

    def __str__(self) -> str:
        extents = "..." if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.name}: {self.dtype}[{extents}]"


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--input`` and what pictures need."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a .npy or .npz file, or a picture, which is resized to the input and gets numbers "
        "from 0 to 1; a .npz file without NAME= has several inputs by name",
    )
    parser.add_argument(
        "--mean", type=_numbers, default=(0.0,), metavar="M[,M...]", help="is subtracted"
    )
    parser.add_argument(
        "--std", type=_numbers, default=(1.0,), metavar="S[,S...]", help="divides what is left"
    )
    parser.add_argument(
        "--scale", type=float, metavar="S", help="multiplies pixels first (default: 1/255)"
    )
    parser.add_argument("--bgr", action="store_true", help="blue comes first in pictures")


def read_inputs(options: argparse.Namespace, ports: Sequence[Port]) -> dict[str, NDArray[Any]]:
    """Return the arrays that the options of :func:`add_input_arguments` give.

    Raises
    ------
    TVMError
        TL5016 for names that are no inputs or come twice; as :func:`load_picture`.
    OSError
        For files that cannot be opened.
    """
    by_name = {port.name: port for port in ports}
    pixels = Pixels(options.mean, options.std, options.scale, options.bgr)
    arrays: dict[str, NDArray[Any]] = {}
    for text in options.input:
        if text.endswith(".npz") and "=" not in text:
            found: Mapping[str, NDArray[Any]] = load_arrays(Path(text))
        else:
            name, file = _split(text, by_name)
            found = {name: _read(Path(file), by_name.get(name), pixels)}
        for name, array in found.items():
            if name in arrays:
                refuse("UnknownName", f"--input gives {name!r} twice", "give each input once")
            arrays[name] = array
    return arrays


def refuse_missing(arrays: Mapping[str, Any], ports: Sequence[Port]) -> None:
    """Refuse a run without all inputs."""
    missing = [port for port in ports if port.name not in arrays]
    if missing:
        refuse(
            "UnknownName",
            f"no --input gives {', '.join(map(str, missing))}",
            " ".join(f"--input {port.name}=FILE" for port in missing),
        )


def _split(text: str, ports: Mapping[str, Port]) -> tuple[str, str]:
    """Split at the ``=`` after a name of an input, which may contain this sign itself."""
    known = [name for name in ports if text.startswith(f"{name}=")]
    if known:
        name = max(known, key=len)
        return name, text[len(name) + 1 :]
    name, _ = split_name(text, "--input")
    refuse(
        "UnknownName",
        f"the model has no input {name!r}",
        f"its inputs are {', '.join(map(str, ports.values())) or 'none'}",
    )


def _read(path: Path, port: Port | None, pixels: Pixels) -> NDArray[Any]:
    assert port is not None  # _split refuses other names
    if path.suffix.lower() in ARRAY_FILES:
        return load_array(path, port.name)
    return load_picture(path, port.name, port.shape, port.dtype, pixels)


def random_inputs(ports: Sequence[Port], seed: int = 0) -> dict[str, NDArray[Any]]:
    """Return arrays for inputs of known shapes: normal numbers; zeros for integers and flags.

    Integers are often indices, of which 0 is always one.
    """
    generator = np.random.default_rng(seed)
    made = {}
    for port in ports:
        assert port.shape is not None
        shape = tuple(int(extent) for extent in port.shape)
        is_float = port.dtype.startswith("float")
        values = generator.standard_normal(shape) if is_float else np.zeros(shape)
        made[port.name] = values.astype(port.dtype)
    return made


__all__ = ["Port", "add_input_arguments", "random_inputs", "read_inputs", "refuse_missing"]
