"""Draws nodes of the operators that the standard defines by bodies.

An operator has a drawer, a function that takes a :class:`Draw` and returns a :class:`Drawn`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes  # noqa: F401  (gives NumPy the type bfloat16)
import numpy as np
import onnx
import onnx.defs
from node_source import Source

PREVIEW = "ai.onnx.preview"
_TYPES = {"float": "float32", "double": "float64"}
_FLOATS = ("float32", "float16", "float64", "bfloat16")
_EDGES = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0)


@dataclass
class Drawn:
    """A node, and what its rounding errors depend on.

    Attributes
    ----------
    inputs : list of array, list of array or None
        None is an input that is left out; a list is a sequence.
    outputs : int
        The number of outputs, of which those at the positions in `unused` have no names.
    size : float, array or callable
        The magnitudes of the terms of sums beside the result itself: of each output if it is a
        list. A callable takes the magnitudes of the result.
    terms : int
        The length of the longest sum.
    precision : str
        The type in which the standard computes, if it is coarser than the types of tensors.
    constants : tuple of int
        The inputs that are initializers.
    is_of_types : bool
        Whether the node depends on the types of its inputs themselves, as a cast does.
    """

    inputs: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    unused: tuple[int, ...] = ()
    size: Any = 0.0
    terms: int = 1
    precision: str = "float64"
    constants: tuple[int, ...] = ()
    is_of_types: bool = False
    op: str = ""
    domain: str = ""
    version: int = 0


Drawer = Callable[["Draw"], Drawn]
DRAWERS: dict[tuple[str, str], Drawer] = {}
"""The drawer of each operator, by domain and name."""


def draws(*ops: str, domain: str = "") -> Callable[[Drawer], Drawer]:
    """Register the decorated function for operators of a domain."""

    def register(drawer: Drawer) -> Drawer:
        DRAWERS.update(dict.fromkeys(((domain, op) for op in ops), drawer))
        return drawer

    return register


def operators_with_bodies() -> list[tuple[str, str]]:
    """The domains and names of the operators whose newest version has a body."""
    return sorted(
        (each.domain, each.name) for each in onnx.defs.get_all_schemas() if _has_body(each)
    )


def versions_with_bodies(domain: str, op: str) -> list[int]:
    """The versions of an operator since the one for which its body appeared."""
    return sorted(
        each.since_version
        for each in onnx.defs.get_all_schemas_with_history()
        if (each.domain, each.name) == (domain, op) and _has_body(each)
    )


def _has_body(schema: onnx.defs.OpSchema) -> bool:
    return not schema.deprecated and (schema.has_function or schema.has_context_dependent_function)


class Draw(Source):
    """Random choices for a node of an operator.

    Attributes
    ----------
    op : str
    version : int
        A version of the operator that has a body.
    """

    def __init__(self, domain: str, op: str, seed: int) -> None:
        super().__init__([zlib.crc32(op.encode()), seed])
        self.op = op
        self.domain = domain
        self.version = self.of(*versions_with_bodies(domain, op))
        self._schema = onnx.defs.get_schema(op, self.version, domain)
        self._has_edges = self.chance(0.3)
        self._has_empty = self.chance(0.1)

    def node(self) -> Drawn:
        """Draw the node."""
        with np.errstate(all="ignore"):
            drawn = DRAWERS[self.domain, self.op](self)
        drawn.op, drawn.domain, drawn.version = self.op, self.domain, self.version
        return drawn

    def chance(self, share=0.5):
        return bool(self.generator.random() < share)

    def type(self, parameter="T", without=()):
        """A type that a type parameter of the operator may stand for; half are float32."""
        (constraint,) = (
            each for each in self._schema.type_constraints if each.type_param_str == parameter
        )
        names = [each[len("tensor(") : -1] for each in constraint.allowed_type_strs]
        known = [_TYPES.get(each, each) for each in names]
        known = [e for e in known if e not in without and (e in _FLOATS or _is_integer(e))]
        if "float32" in known and self.chance():
            return "float32"
        return self.of(*known)

    def float_type(self, parameter="T"):
        return self.type(parameter, without=_INTEGERS)

    def extents(self, least, most, longest=5):
        """From `least` to `most` extents of at most `longest`; one of them may be 0."""
        rank = int(self.generator.integers(least, most + 1))
        made = [self.up_to(longest) for _ in range(rank)]
        if rank and self._has_empty:
            made[self.up_to(rank) - 1] = 0
        return made

    def values(self, dtype, *shape, scale=2.0):
        """Numbers around 0, among which may be zeros, ones, infinities and NaN."""
        if _is_integer(dtype):
            low = 0 if np.dtype(dtype).kind == "u" else -9
            return self.generator.integers(low, 10, shape).astype(dtype)
        made = self.generator.standard_normal(shape) * scale
        if self._has_edges:
            edges = self.generator.choice(_EDGES, shape)
            made = np.where(self.generator.random(shape) < 0.25, edges, made)
        return np.asarray(made).astype(dtype)

    def ordinary(self, dtype, *shape, scale=1.0):
        """Numbers around 0 without special ones."""
        return np.asarray(self.generator.standard_normal(shape) * scale).astype(dtype)

    def number(self):
        """A number for an attribute."""
        if self.chance(0.05):
            return float(self.of(*_EDGES))
        return float(np.float32(self.generator.standard_normal()))

    def numbers(self, *names):
        """Some of these attributes, each with a number."""
        return {each: self.number() for each in names if self.chance(0.7)}

    def axis(self, rank):
        """An axis, counted from the front or from the back."""
        return int(self.generator.integers(-rank, rank)) if rank else self.of(0, -1)

    def axes(self, rank):
        """Some axes, each at most once, in any order."""
        chosen = self.generator.permutation(rank)[: int(self.generator.integers(0, rank + 1))]
        return [int(each) - rank * self.chance() for each in chosen]

    def known(self, *positions):
        """These inputs as initializers, or as inputs of the run."""
        return positions if self.chance() else ()

    def some(self, **attributes):
        """Some of these attributes."""
        return {name: each for name, each in attributes.items() if self.chance(0.7)}


_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _is_integer(dtype):
    return dtype in _INTEGERS


def greatest(*arrays):
    """The largest magnitude of the finite numbers."""
    numbers = np.concatenate([np.ravel(each).astype("float64") for each in arrays] or [[]])
    finite = np.abs(numbers[np.isfinite(numbers)])
    return float(finite.max()) if finite.size else 0.0


def magnitudes(x):
    """The magnitude of each element, 0 for infinities and NaN."""
    wide = np.abs(np.asarray(x).astype("float64"))
    return np.where(np.isfinite(wide), wide, 0.0)
