"""ONNX models that run on devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray

from .._core import Device
from ..errors import refuse
from ..graph.progress import Progress
from ..target import Target
from .importer import Importer
from .nodes import NeedsValues, refuse_model
from .nodes.types import dtype_of, refuse_open, shape_of
from .signature import Signature
from .variant import Variant

Storage = Literal["auto", "buffer", "texture"]

_SCOPES: dict[str, Any] = {"auto": "auto", "buffer": "global", "texture": "texture"}


class Model:
    """An ONNX model, compiled for the shapes of its inputs.

    A model whose shapes are known is compiled at once. One that leaves extents open is compiled
    when it runs, for each shape that it gets, and so is one whose shapes depend on the values of
    inputs, for all values that it gets. ``print`` shows what has been compiled.
    Threads may share a model: runs on one device come one after another, and two threads that ask
    for new shapes at once may both compile.

    Parameters
    ----------
    model : ModelProto
    target : str or Target, optional
        As for :func:`texloom.build`.
    storage : "auto", "buffer" or "texture"
        Where tensors are stored: by cost, in buffers, or in textures wherever a kernel can.
    shapes : mapping of str to sequence of int, optional
        Of inputs. What the model says of their extents must agree.
    values : mapping of str to array, optional
        The values of inputs that thereby become constants, such as the shape for a Reshape.
    progress : callable, optional
        ``progress(what, done, all)`` is called while nodes are imported and get their kernels.

    Attributes
    ----------
    inputs, outputs : list of str
        The names, in the model's order.
    signature : Signature
        What the model says of its inputs.
    shapes : dict of str to tuple of int
        The shapes that were given for inputs of which the model leaves extents open, and those that
        follow from them.

    Raises
    ------
    Unsupported
        If nodes cannot be converted: the text lists all of them.
    TVMError
        TL5016 for names that are no inputs, TL5003 for shapes and TL5002 for dtypes that contradict
        the model.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        target: str | Target | None = None,
        storage: Storage = "auto",
        shapes: Mapping[str, Sequence[int]] | None = None,
        values: Mapping[str, NDArray[Any]] | None = None,
        progress: Progress | None = None,
    ) -> None:
        if storage not in _SCOPES:
            refuse(
                "BadDirectiveArgument",
                f"storage={storage!r} is not a choice of storages",
                "use 'auto', 'buffer' or 'texture'",
            )
        self._model = model
        self._target = target
        self._storage = storage
        self._progress = progress
        self._variants: dict[Any, Variant] = {}
        self._specialized: frozenset[str] = frozenset()  # inputs whose values kernels depend on
        every = Signature(model)
        self._values = {n: every.checked(n, array) for n, array in (values or {}).items()}
        self.signature = every.without(self._values)
        for each in self.signature.inputs:
            dtype_of(each)  # refuses what no tensor of a graph can be
        self.inputs = [each.name for each in self.signature.inputs]
        self.outputs = [each.name for each in model.graph.output]
        self.shapes = self.signature.completed(shapes or {})
        if not self.open_inputs():
            try:
                self._variant(self.shapes, {})
            except NeedsValues as needs:
                self._specialized |= needs.inputs

    def open_inputs(self, given: Collection[str] = ()) -> list[onnx.ValueInfoProto]:
        """Return the inputs whose shapes are not known, apart from those that are given."""
        known = {*self.shapes, *given}
        return [
            each
            for each in self.signature.inputs
            if each.name not in known
            and not all(isinstance(extent, int) for extent in _extents(each))
        ]

    def _imported(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, NDArray[Any]]
    ) -> Importer:
        imported = Importer(self._model, shapes, {**self._values, **values}, self._progress)
        imported.run()
        return imported

    def _variant(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, NDArray[Any]]
    ) -> Variant:
        key = (
            tuple(sorted((name, tuple(shape)) for name, shape in shapes.items())),
            tuple(sorted((name, array.tobytes()) for name, array in values.items())),
        )
        if key not in self._variants:
            imported = self._imported(shapes, values)
            scopes = _SCOPES[self._storage]
            self._variants[key] = Variant(imported, self.outputs, self._target, scopes)
        return self._variants[key]

    def run(
        self,
        inputs: Mapping[str, NDArray[Any]],
        device: Device | str | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Run the model and wait for its outputs.

        Parameters
        ----------
        inputs : mapping of str to array
            An array for each input, by name.
        device : Device or str, optional
            ``texloom.opencl(0)`` by default. The first run on a device compiles the kernels there.

        Returns
        -------
        dict of str to array
            The outputs by name, in the model's order.

        Raises
        ------
        TVMError
            TL5016 for a missing or an unknown name, TL5002 for a dtype, TL5003 for a shape.
        """
        arrays = self.signature.checked_all(inputs)
        shapes = {n: array.shape for n, array in arrays.items() if isinstance(array, np.ndarray)}
        for name, shape in self.shapes.items():
            if tuple(shape) != shapes[name]:
                refuse(
                    "WrongShape",
                    f"the model is compiled for {name!r} of the shape {tuple(shape)}, the array "
                    f"has {shapes[name]}",
                    "pass an array of that shape, or compile without shapes=",
                )
        while True:
            values = {name: arrays[name] for name in self._specialized}
            try:
                return self._variant(self.signature.stated(shapes), values).run(arrays, device)
            except NeedsValues as needs:
                self._specialize(needs)

    def _specialize(self, needs: NeedsValues) -> None:
        if not needs.inputs - self._specialized:
            refuse_model(
                f"a shape depends on what nodes compute from the inputs {needs}",
                "compute it outside of the model",
            )
        self._specialized |= needs.inputs

    @property
    def summary(self) -> dict[str, Any] | None:
        """What :attr:`texloom.graph.CompiledGraph.summary` says; None before shapes are known."""
        for variant in self._variants.values():
            return variant.graph.summary if variant.graph is not None else {}
        return None

    def fixed(self, inputs: Mapping[str, NDArray[Any]]) -> Model:
        """Return the model compiled for the shapes of these arrays, to be saved.

        Inputs whose values decide about shapes become constants, of these values: the model that is
        returned does not have them.
        """
        arrays = self.signature.checked_all(inputs)
        made = self
        while True:
            shapes = {name: arrays[name].shape for name in made.inputs}
            values = {name: arrays[name] for name in made._specialized}
            stated = made.signature.stated(shapes)
            if not values and made.shapes == stated:
                return made
            stated = {name: shape for name, shape in stated.items() if name not in values}
            values |= made._values
            made = Model(self._model, self._target, self._storage, stated, values, self._progress)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a package with the model's names of inputs and outputs; see `texloom.graph.load`.

        An earlier file of that name is replaced, once the new one is complete.

        Raises
        ------
        Unsupported
            If the model leaves extents open, if kernels depend on the values of inputs, or if an
            input or output has no elements.
        TVMError
            TL5012 if the file cannot be written.
        """
        if self.open_inputs():
            refuse_open(self.open_inputs())
        if self._specialized:
            names = sorted(self._specialized)
            each = names[0]
            refuse_model(
                f"shapes depend on the values of the inputs {', '.join(map(repr, names))}",
                f"give the values, which the package then has: values={{{each!r}: array, ...}}; on "
                f"the command line --value {each}=FILE",
            )
        variant = self._variant(self.shapes, {})
        if not variant.names_all_outputs:
            imported = self._imported(self.shapes, {})
            scopes = _SCOPES[self._storage]
            variant = Variant(imported, self.outputs, self._target, scopes, copies=True)
        variant.save(path, self.inputs)

    def __str__(self) -> str:
        """Return what is compiled: the inputs, the outputs and the graph of each variant."""
        lines = [f"model {self._model.graph.name or 'model'}"]
        lines += [f"input {self.signature.described(name)}" for name in self.inputs]
        if not self._variants:
            return "\n".join([*lines, "nothing is compiled before the shapes are known"])
        for variant in self._variants.values():
            lines += ["", str(variant)]
        return "\n".join(lines)


def _extents(value: onnx.ValueInfoProto) -> tuple[int | str, ...]:
    """Return the extents; a word if even their number is open."""
    shape = shape_of(value)
    return ("?",) if shape is None else shape


__all__ = ["Model", "Storage"]
