"""ONNX models that run on devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any, Literal, NoReturn

import numpy as np
import onnx
from numpy.typing import NDArray

from .._core import Device
from ..costs import Costs
from ..custom.operators import Operator
from ..errors import TVMError, refuse, with_note
from ..graph.precision import Precision, check_precision
from ..graph.progress import Progress
from ..target import Target, is_processor
from .importer import Importer
from .nodes import NeedsValues, Unsupported, refuse_model
from .nodes.types import dtype_of, refuse_open, shape_of
from .signature import Signature
from .variant import Settings, Variant

Storage = Literal["auto", "buffer", "texture"]

_SCOPES: dict[str, Any] = {"auto": "auto", "buffer": "global", "texture": "texture"}


class Model:
    """An ONNX model, compiled for the shapes of its inputs.

    A model whose shapes are known is compiled at once. One that leaves extents open is compiled
    when it runs, for each shape that it gets, and so is one whose shapes depend on the values of
    inputs, for all values that it gets. A package of a model that leaves extents open serves all
    sizes: a new size costs a plan of the memory. So does a model that runs if `shapes` name its
    open extents; its kernels are slower than those for one size. If a node needs to know an extent,
    there is no such package (:attr:`why_fixed` says why). ``print`` shows what has been compiled.
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
        Of inputs. What the model says of their extents must agree. Texts instead of numbers, such
        as ``(1, 3, "h", "w")``, leave extents open.
    values : mapping of str to array, optional
        The values of inputs that thereby become constants, such as the shape for a Reshape.
    progress : callable, optional
        ``progress(what, done, all)`` is called while nodes are imported and get their kernels.
    precision : "fp32" or "fp16"
        As for :meth:`texloom.graph.Graph.compile`.
    costs : texloom.costs.Costs, optional
        What kernels cost, for ``storage="auto"``; without them all tensors are in buffers.
    measure : Device or str, optional
        The device on which the kernels are measured that `costs`, then required, do not know.
    operators : sequence of texloom.custom.Operator
        As for :func:`texloom.compile`.

    Attributes
    ----------
    inputs, outputs : list of str
        The names, in the model's order.
    signature : Signature
        What the model says of its inputs.
    shapes : dict of str to tuple of int
        The shapes that were given for inputs of which the model leaves extents open, and those that
        follow from them.
    why_fixed : Unsupported or None
        Why no package serves all sizes, though the model leaves extents open. It is known once a
        package is asked for, or `shapes` that name extents.

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
        precision: Precision = "fp32",
        costs: Costs | None = None,
        measure: Device | str | None = None,
        operators: Sequence[Operator] = (),
    ) -> None:
        check_precision(precision)
        if storage not in _SCOPES:
            refuse(
                "BadDirectiveArgument",
                f"storage={storage!r} is not a choice of storages",
                "use 'auto', 'buffer' or 'texture'",
            )
        self._model = model
        self._target = target
        self._storage = storage
        self._precision = precision
        self._progress = progress
        self._costs = costs
        self._measure = measure
        self._operators = tuple(operators)
        self._made_for = partial(  # other shapes and values
            Model,
            model,
            target,
            storage,
            progress=progress,
            precision=precision,
            costs=costs,
            measure=measure,
            operators=operators,
        )
        self._variants: dict[Any, Variant] = {}
        self._specialized: frozenset[str] = frozenset()  # inputs whose values kernels depend on
        every = Signature(model)
        self._values = {n: every.checked(n, array) for n, array in (values or {}).items()}
        self.signature = every.without(self._values)
        for each in self.signature.inputs:
            dtype_of(each)  # refuses what no tensor of a graph can be
        self.inputs = [each.name for each in self.signature.inputs]
        self.outputs = [each.name for each in model.graph.output]
        self._open_shapes = self.signature.opened(shapes or {})
        given = {n: s for n, s in (shapes or {}).items() if n not in self._open_shapes}
        self.shapes = self.signature.completed(given)
        self.why_fixed: Unsupported | None = None
        self._open: Variant | None = None  # what runs, whatever the sizes
        self._of_package: Variant | None = None
        if self._open_shapes:
            self._open = self._compiled_open()
        elif not self.open_inputs():
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
        self,
        shapes: Mapping[str, Sequence[Any]],
        values: Mapping[str, NDArray[Any]],
        is_open: bool = False,
    ) -> Importer:
        imported = Importer(
            self._model,
            shapes,
            {**self._values, **values},
            self._progress,
            fuses_attention=is_processor(self._target),
            is_open=is_open,
            operators=self._operators,
        )
        imported.run()
        return imported

    def _compiled_open(self) -> Variant | None:
        """Return what is compiled for all sizes at once; None if it is impossible, and keep why."""
        try:
            if any(shape_of(each) is None for each in self.open_inputs()):
                refuse_open(self.open_inputs())
            if self._measure is not None:
                refuse_model("measuring needs to know all extents", "give shapes=")
            return self._open_variant()
        except NeedsValues as needs:
            self.why_fixed = Unsupported(f"kernels depend on the values of the inputs {needs}")
        except Unsupported as error:
            self.why_fixed = error
        except TVMError as error:
            self.why_fixed = Unsupported(str(error), error.diagnostics)
        return None

    def _open_variant(self, copies: bool = False) -> Variant:
        imported = self._imported({**self.shapes, **self._open_shapes}, {}, is_open=True)
        return self._compiled(imported, copies)

    def _variant(
        self, shapes: Mapping[str, Sequence[int]], values: Mapping[str, NDArray[Any]]
    ) -> Variant:
        key = (
            tuple(sorted((name, tuple(shape)) for name, shape in shapes.items())),
            tuple(sorted((name, array.tobytes()) for name, array in values.items())),
        )
        if key not in self._variants:
            imported = self._imported(shapes, values)
            self._variants[key] = self._compiled(imported)
        return self._variants[key]

    def _compiled(self, imported: Importer, copies: bool = False) -> Variant:
        scopes = _SCOPES[self._storage]
        settings = Settings(scopes, self._precision, self._costs, self._measure)
        return Variant(imported, self.outputs, self._target, settings, copies)

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
            By default the first one of the target's kind, as ``texloom.opencl(0)``. The first run
            on a device compiles the kernels there.

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
        if self._open is not None:
            return self._open.run(arrays, device)
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
        """What :attr:`texloom.graph.CompiledGraph.summary` says; None before shapes are known.

        Of the package, if one was saved.
        """
        for variant in self._all_variants():
            return variant.graph.summary if variant.graph is not None else {}
        return None

    def _all_variants(self) -> list[Variant]:
        made = [self._of_package, self._open, *self._variants.values()]
        return [each for each in dict.fromkeys(made) if each is not None]

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
            made = self._made_for(shapes=stated, values=values)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a package with the model's names of inputs and outputs; see `texloom.graph.load`.

        It also has the model's metadata. An earlier file of that name is replaced, once the new one
        is complete.

        Raises
        ------
        Unsupported
            If the model leaves extents open that kernels have to know, if they depend on the values
            of inputs, or if an input or output has no elements.
        TVMError
            TL5012 if the file cannot be written.
        """
        metadata = {each.key: each.value for each in self._model.metadata_props if each.key}
        self._saved().save(path, self.inputs, metadata)

    def _saved(self) -> Variant:
        """Return what packages hold: :meth:`run` need not run it."""
        if self._of_package is None:
            self._of_package = self._compiled_for_packages()
        return self._of_package

    def _compiled_for_packages(self) -> Variant:
        open_variant = self._open
        if self.open_inputs() and open_variant is None:
            open_variant = self._compiled_open()
        if self.why_fixed is not None:
            self._refuse_fixed(self.why_fixed)
        if open_variant is not None:
            if open_variant.names_all_outputs:
                return open_variant
            return self._open_variant(copies=True)
        if self._specialized:
            names = sorted(self._specialized)
            each = names[0]
            refuse_model(
                f"shapes depend on the values of the inputs {', '.join(map(repr, names))}",
                f"give the values, which the package then has: values={{{each!r}: array, ...}}; on "
                f"the command line --value {each}=FILE",
            )
        variant = self._variant(self.shapes, {})
        if variant.names_all_outputs:
            return variant
        return self._compiled(self._imported(self.shapes, {}), copies=True)

    def _refuse_fixed(self, why: Unsupported) -> NoReturn:
        """Say which extents have to be given, and which nodes have to know them."""
        try:
            refuse_open(self.open_inputs())
        except Unsupported as error:
            error.refusals = why.refusals
            first = why.diagnostics[0].message if why.diagnostics else str(why)
            raise with_note(error, f"they have to be known: {first}") from None

    def __str__(self) -> str:
        """Return what is compiled: the inputs, the outputs and the graph of each variant."""
        lines = [f"model {self._model.graph.name or 'model'}"]
        lines += [f"input {self.signature.described(name, self.shapes)}" for name in self.inputs]
        if not self._all_variants():
            return "\n".join([*lines, "nothing is compiled before the shapes are known"])
        for variant in self._all_variants():
            lines += ["", str(variant)]
        return "\n".join(lines)


def _extents(value: onnx.ValueInfoProto) -> tuple[int | str, ...]:
    """Return the extents; a word if even their number is open."""
    shape = shape_of(value)
    return ("?",) if shape is None else shape


__all__ = ["Model", "Storage"]
