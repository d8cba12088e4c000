"""The calls of a program: what symbols are, and the values of inputs."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import numpy as np

from .. import _core
from .._core import Program

# In front of a program in which every sum keeps its order and nothing is contracted.
SAME_BITS = "// every sum keeps its order: each version gives the same bits\n"
CALL = "// called with "

Symbols = dict[str, int]


def heading(calls: list[Symbols], same_bits: bool) -> str:
    """Comments in front of a program's text that say how it is run."""
    lines = [CALL + ", ".join(f"{name}={n}" for name, n in each.items()) + "\n" for each in calls]
    return (SAME_BITS if same_bits else "") + ("".join(lines) if any(calls) else "")


def calls_of(text: str) -> list[Symbols]:
    """What symbols are at each of the calls; of a program without symbols there is one."""
    lines = [line for line in text.split("\n") if line.startswith(CALL)]
    calls = [{name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", line)} for line in lines]
    return calls or [{}]


@dataclass(frozen=True)
class Argument:
    """A parameter that is a tensor, at one call."""

    name: str
    dtype: str
    shape: list[int]
    is_input: bool
    has_origin: bool
    array_shape: list[int]  # after transform_layout
    places: list[int]  # of the tensor's elements among those of the array

    def array(self, values: np.ndarray) -> np.ndarray:
        """The array for these values of the tensor; 0 where none of them lies."""
        made = np.zeros(self.array_shape, self.dtype)
        made.reshape(-1)[self.places] = values.reshape(-1)
        return made

    def values(self, array: np.ndarray) -> np.ndarray:
        """The inverse."""
        return array.reshape(-1)[self.places].reshape(self.shape)


class Call:
    """One call: its arguments, and the values of those that are inputs."""

    def __init__(self, program: Program, symbols: Symbols, text: str, whole: bool) -> None:
        self.symbols = symbols
        self.arguments = [Argument(*row) for row in _core.arguments_at_call(program, symbols)]
        self.inputs = inputs_for(self.arguments, text, whole)
        self.bytes = [None if a is None else a.tobytes() for a in self.inputs]


def inputs_for(arguments: list[Argument], text: str, whole: bool) -> list[np.ndarray | None]:
    """Values for the inputs, by the program's text; nothing for outputs.

    Small integers, as a rule, so that floating-point results are exact; of one program in five
    any integers and floats with a fraction, or of a copy (`whole`) any bits but those of a NaN.
    """
    rng = np.random.default_rng(zlib.crc32(text.split("\n")[-2].encode()) + len(arguments))
    wide = rng.random() < 0.2 or whole
    arrays: list[np.ndarray | None] = []
    for argument in arguments:
        dtype = np.dtype(argument.dtype)
        if not argument.is_input:
            arrays.append(None)
        elif dtype.kind == "b":
            arrays.append(rng.integers(0, 2, argument.shape).astype(bool))
        elif dtype.kind == "f" and whole:
            bits = rng.integers(0, 256, (*argument.shape, dtype.itemsize), np.uint8)
            values = np.ascontiguousarray(bits).view(dtype)[..., 0]
            normal = np.isfinite(values) & (np.abs(values) >= np.finfo(dtype).tiny)
            arrays.append(np.where(normal, values, dtype.type(-0.0)))
        elif dtype.kind == "f":
            values = rng.integers(-8, 9, argument.shape).astype(dtype)
            if wide:
                values += rng.integers(-50, 51, argument.shape).astype(dtype) / dtype.type(128.3)
            arrays.append(np.require(values, dtype, "C"))
        elif wide:
            info = np.iinfo(dtype)
            arrays.append(rng.integers(info.min, info.max, argument.shape, dtype, endpoint=True))
        else:
            arrays.append(rng.integers(-8 if dtype.kind == "i" else 0, 9, argument.shape, dtype))
    return arrays
