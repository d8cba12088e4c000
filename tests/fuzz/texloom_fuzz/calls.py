"""The calls of a program: values of symbols and inputs."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import numpy as np
from texloom._core import Program

from texloom import _core

# Heads the text of a program in which no sum is reordered and nothing is contracted.
SAME_BITS = "// every sum keeps its order: each version gives the same bits\n"
CALL = "// called with "

Symbols = dict[str, int]


def heading(calls: list[Symbols], same_bits: bool) -> str:
    """Return the comments at the head of a program's text, which say how to run it."""
    lines = [CALL + ", ".join(f"{name}={n}" for name, n in each.items()) + "\n" for each in calls]
    return (SAME_BITS if same_bits else "") + ("".join(lines) if any(calls) else "")


def calls_of(text: str) -> list[Symbols]:
    """Return the symbols' values for each call; a program without symbols is called once."""
    lines = [line for line in text.split("\n") if line.startswith(CALL)]
    calls = [{name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", line)} for line in lines]
    return calls or [{}]


@dataclass(frozen=True)
class Argument:
    """A tensor parameter, in one call."""

    name: str
    dtype: str
    shape: list[int]
    is_input: bool
    has_origin: bool
    array_shape: list[int]  # after transform_layout
    places: list[int]  # positions of the tensor's elements in the array

    def array(self, values: np.ndarray) -> np.ndarray:
        """Return the array for these values of the tensor, 0 elsewhere."""
        made = np.zeros(self.array_shape, self.dtype)
        made.reshape(-1)[self.places] = values.reshape(-1)
        return made

    def values(self, array: np.ndarray) -> np.ndarray:
        """Return the tensor's values from an array."""
        return array.reshape(-1)[self.places].reshape(self.shape)


class Call:
    """A call: its arguments, and the values of the inputs."""

    def __init__(self, program: Program, symbols: Symbols, text: str, whole: bool) -> None:
        self.symbols = symbols
        self.arguments = [Argument(*row) for row in _core.arguments_at_call(program, symbols)]
        self.inputs = inputs_for(self.arguments, text, whole)
        self.bytes = [None if a is None else a.tobytes() for a in self.inputs]


def inputs_for(arguments: list[Argument], text: str, whole: bool) -> list[np.ndarray | None]:
    """Return values for the inputs, seeded by the program's text.

    Usually these are small integers, so that floating-point results are exact. One program in five
    gets arbitrary integers and fractional floats, and every program that only copies (`whole`)
    gets arbitrary integers and any normal floats.
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
