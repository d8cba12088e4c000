"""Seeds of random numbers: attributes of nodes, a number for all of them, or an input."""

from __future__ import annotations

import struct
from collections import Counter
from numbers import Integral
from typing import Any

import onnx

from ..checks.argument_kinds import shown
from ..errors import refuse
from ..ops.random import Stream
from .nodes import Value, refuse_model
from .scope import Scope

_MASK = (1 << 64) - 1
_LEAST = -(1 << 63)  # as an int64 input may have it
_OF_NODES = 1 << 63
"""The least number of a stream whose key is a node's seed; smaller ones have the run's seed."""


class Streams:
    """Gives each node random words of its own.

    Nodes without a seed number the streams of the run's seed. A node with a seed has that as key,
    so that nodes with equal seeds draw equal numbers; if a loop repeats it, each step draws others.

    Parameters
    ----------
    seed : int or str
        The run's seed, or the name of the input that has it.
    """

    def __init__(self, seed: int | str) -> None:
        self._seed = seed
        self._input: Value | None = None
        self._drawn: Counter[str] = Counter()
        self._count = 0

    def bind(self, inputs: Scope) -> None:
        """Look up the input that has the seed."""
        if isinstance(self._seed, str):
            self._input = inputs[self._seed]

    def next(self, node: str, seed: float | None) -> tuple[Stream, list[Value]]:
        """Return random words for a node, and the input that their key depends on, if any.

        Parameters
        ----------
        node : str
            The path of the node.
        seed : int, float or None
            Its attribute.
        """
        if seed is not None:
            self._drawn[node] += 1
            return Stream(_OF_NODES + self._drawn[node] - 1, _bits(seed)), []
        self._count += 1
        number = self._count - 1
        if self._input is None:
            assert isinstance(self._seed, int)
            return Stream(number, self._seed & _MASK), []
        if self._input.array is not None:
            return Stream(number, int(self._input.array) & _MASK), []
        return Stream(number), [self._input]


def _bits(seed: float) -> int:
    """Return 64 bits that tell seeds apart: integers, and the floats of attributes."""
    if isinstance(seed, int):
        return seed & _MASK
    (bits,) = struct.unpack("<Q", struct.pack("<d", seed))
    return int(bits)


def checked_seed(seed: Any) -> int | str:
    """Return a seed that is a number or a name.

    Raises
    ------
    TVMError
        TL2040 for values of other kinds, TL2044 for numbers of more than 64 bits and the empty
        name.
    """
    if isinstance(seed, bool) or not isinstance(seed, (Integral, str)):
        refuse(
            "BadArgument",
            f"seed is {shown(seed)}, not an integer or a name",
            "give an integer for the same numbers in every run, or the name of a new input of the "
            'model, as seed="noise"',
        )
    if isinstance(seed, str):
        if not seed:
            refuse("BadValue", "seed is an empty name", 'name an input, as seed="noise"')
        return seed
    if not _LEAST <= seed <= _MASK:
        refuse(
            "BadValue", f"seed={seed} has more than 64 bits", "give an integer from 0 to 2**64 - 1"
        )
    return int(seed)


def with_seed(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Return the model with the input that has the seed, an int64 scalar.

    Raises
    ------
    TVMError
        TL3043 if the model uses the name for something else.
    """
    graph = model.graph
    wanted = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [])
    own = [each for each in graph.input if each.name == name]
    if own and own[0].type == wanted.type:
        return model
    names = {each.name for each in (*graph.input, *graph.initializer)}
    names.update(output for node in graph.node for output in node.output)
    if name in names:
        refuse_model(
            f"the seed cannot be the input {name!r}, because the model uses this name",
            "give another name: seed='NAME'",
        )
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.graph.input.append(wanted)
    return made


__all__ = ["Streams", "checked_seed", "with_seed"]
