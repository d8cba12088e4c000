"""The inputs that a model declares, and the values and shapes that callers give for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from ..errors import refuse
from ..graph.checks import checked_extents
from .initializers import initializers
from .nodes.types import STORED, dtype_of, numpy_dtype, shape_of
from .nodes.values import array_of_stored

_STORED_AS = {"bfloat16": "uint16", **STORED}  # types that are NumPy's only if ml_dtypes adds them


class Signature:
    """Inputs of a model that callers give.

    Attributes
    ----------
    inputs : list of ValueInfoProto
        In the model's order.
    """

    def __init__(self, inputs: Iterable[onnx.ValueInfoProto]) -> None:
        self.inputs = list(inputs)
        self._by_name = {each.name: each for each in self.inputs}
        # Read once from the messages, because each call of a model needs them.
        self._shapes = {name: shape_of(each) for name, each in self._by_name.items()}
        self._tensor_dtypes: dict[str, str] = {}

    @staticmethod
    def of_model(model: onnx.ModelProto) -> tuple[Signature, Signature]:
        """Return the inputs that every run needs, and those that have a default."""
        initialized = initializers(model.graph)
        required = [each for each in model.graph.input if each.name not in initialized]
        return Signature(required), Signature(
            each for each in model.graph.input if each.name in initialized
        )

    def __contains__(self, name: str) -> bool:
        """Return whether an input has this name."""
        return name in self._by_name

    def without(self, names: Collection[str]) -> Signature:
        """Return the signature without the inputs of these names."""
        return Signature(each for each in self.inputs if each.name not in names)

    def described(self, name: str, shapes: Mapping[str, Sequence[Any]] | None = None) -> str:
        """Return a name with its type, such as ``"x: float32[N, 3]"``.

        `shapes` replace the shapes in the model.
        """
        value = self._by_name[name]
        shape = tuple((shapes or {}).get(name, ())) or shape_of(value)
        extents = "..." if shape is None else ", ".join(map(str, shape))
        return f"{name}: {dtype_of(value) if _is_tensor(value) else 'no tensor'}[{extents}]"

    def ports(
        self, shapes: Mapping[str, Sequence[int]]
    ) -> list[tuple[str, tuple[int | str, ...] | None, str]]:
        """Return name, shape and NumPy's dtype of each input; `shapes` replace the model's."""
        return [
            (
                each.name,
                tuple(shapes[each.name]) if each.name in shapes else shape_of(each),
                numpy_dtype(dtype_of(each)).name,
            )
            for each in self.inputs
        ]

    def opened(self, shapes: Mapping[str, Sequence[int | str]]) -> dict[str, tuple[Any, ...]]:
        """Return the given shapes that leave extents open, with strings parsed to symbols."""
        made = {}
        for name, shape in shapes.items():
            if isinstance(shape, (list, tuple)) and any(isinstance(e, str) for e in shape):
                self._check_name(name)
                numbers = [0 if isinstance(e, str) else e for e in shape]
                said = self._shapes[name]
                known = [
                    n if isinstance(e, str) else e for n, e in zip(said or (), shape, strict=False)
                ]
                self._check_shape(name, known if said else numbers, "the given")
                made[name] = checked_extents(name, shape)
        return made

    def completed(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """Check the shapes that a caller gives, and add shapes that follow from the given ones.

        The shape of another input follows if all names of its open extents occur in given shapes.
        """
        for name, shape in shapes.items():
            self._check_name(name)
            given = isinstance(shape, (list, tuple))
            if not given or not all(isinstance(e, Integral) and e >= 0 for e in shape):
                refuse(
                    "WrongShape",
                    f"the shape of {name!r} is {shape!r}, not a list of extents",
                    "give a list of integers, 0 or more",
                )
            self._check_shape(name, shape, "the given")
        self._check_agreement(shapes)
        made = {
            name: tuple(map(int, shape))
            for name, shape in shapes.items()
            if not _is_fixed(self._shapes[name])
        }
        extents: dict[int | str, int] = {}
        for name, shape in made.items():
            extents.update(zip(self._shapes[name] or (), shape, strict=False))
        extents.pop("?", None)
        for each in self.inputs:
            said = shape_of(each)
            if each.name not in made and said is not None and not _is_fixed(said):
                known = [e if isinstance(e, int) else extents.get(e) for e in said]
                if None not in known:
                    made[each.name] = tuple(known)  # type: ignore[arg-type]
        return made

    def stated(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
        """Return the shapes of the inputs whose extents the model leaves open."""
        return {name: shape for name, shape in shapes.items() if not _is_fixed(self._shapes[name])}

    def checked_all(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return a checked array for each input; inputs that are not tensors stay unchanged."""
        self.check_names(arrays)
        for each in self.inputs:
            if each.name not in arrays:
                refuse(
                    "UnknownName",
                    f"the input {each.name!r} is missing",
                    f"give an array for it: {self.described(each.name)}",
                )
        made = {name: self.checked(name, arrays[name]) for name in self._by_name}
        self._check_agreement(
            {name: each.shape for name, each in made.items() if isinstance(each, np.ndarray)}
        )
        return made

    def checked(self, name: str, value: Any) -> Any:
        """Return the value given for an input as an array of the model's dtype and shape."""
        self._check_name(name)
        dtype = self._dtype_of_tensor(name)
        if dtype is None:
            return value
        array: NDArray[Any] = np.asarray(value)
        own, stored = numpy_dtype(dtype), _STORED_AS.get(dtype)
        if stored is not None and array.dtype.name == stored:
            array = array_of_stored(array, dtype)
        if array.dtype != own and array.dtype.name != own.name:
            refuse(
                "WrongElementType",
                f"the input {name!r} is {dtype}, but the array is {array.dtype}",
                f"convert it: array.astype({own.name!r})"
                + (f", or give what is stored as {stored}" if stored else ""),
            )
        self._check_shape(name, array.shape, "the array's")
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def _dtype_of_tensor(self, name: str) -> str | None:
        if name not in self._tensor_dtypes and _is_tensor(self._by_name[name]):
            self._tensor_dtypes[name] = dtype_of(self._by_name[name])
        return self._tensor_dtypes.get(name)

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse names that no input has."""
        for name in names:
            self._check_name(name)

    def _check_name(self, name: str) -> None:
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none"
            refuse("UnknownName", f"the model has no input {name!r}", f"its inputs are {known}")

    def _check_shape(self, name: str, shape: Sequence[int], whose: str) -> None:
        said = self._shapes[name]
        if said is None:
            return
        agrees = len(said) == len(shape) and all(
            isinstance(a, str) or a == b for a, b in zip(said, shape, strict=True)
        )
        if not agrees:
            shown = ", ".join(map(str, said))
            refuse(
                "WrongShape",
                f"the model's input {name!r} has the shape ({shown}), but {whose} shape is "
                f"({', '.join(map(str, shape))})",
                "give a shape that agrees with the model's numbers",
            )

    def _check_agreement(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Refuse shapes in which extents of one name have different numbers."""
        first: dict[str, tuple[int, str]] = {}
        for name, shape in shapes.items():
            for symbol, extent in zip(self._shapes[name] or (), shape, strict=False):
                if isinstance(symbol, int) or symbol == "?":
                    continue
                other, whose = first.setdefault(symbol, (extent, name))
                if other != extent:
                    refuse(
                        "WrongShape",
                        f"the extent {symbol!r} is {other} in the input {whose!r} and {extent} in "
                        f"{name!r}",
                        "give shapes that agree, or give the extents different names in the model",
                    )


def _is_tensor(value: onnx.ValueInfoProto) -> bool:
    return bool(value.type.WhichOneof("value") == "tensor_type")


def _is_fixed(shape: Sequence[int | str] | None) -> bool:
    return shape is not None and all(isinstance(each, int) for each in shape)


__all__ = ["Signature"]
