"""The specializations of a model, each compiled once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import onnx
from numpy.typing import NDArray

from ..errors import TVMError, with_note
from ..ops.products.dots import DotProducts
from ..target import resolve
from .compile_options import CompileOptions
from .network import Imports
from .nodes import (
    NOT_SUPPORTED,
    NeedsValues,
    Refusal,
    Unsupported,
    refuse_model,
    refuse_nodes,
)
from .nodes.types import refuse_open, shape_of
from .specialization import Specialization

Shapes = Mapping[str, Sequence[Any]]
Values = Mapping[str, NDArray[Any]]

_UNSUPPORTED_TYPE = "TL4005"
_SOME_EXTENT = 64  # for all open extents, to find nodes that no extents make valid


class Specializer:
    """Imports and compiles a model for shapes and values of its inputs.

    Parameters
    ----------
    model : ModelProto
    options : CompileOptions
    values : mapping of str to array
        Values of inputs that are constants in all specializations.
    shapes : mapping of str to sequence of int
        The known shapes of inputs with open extents.
    open_shapes : mapping of str to sequence
        Shapes with expressions for open extents, which replace the shapes in the model.
    open_inputs : sequence of ValueInfoProto
        The inputs whose extents are not all known.
    imports : Imports, optional
        The imports of a specializer for another target.

    Attributes
    ----------
    value_inputs : frozenset of str
        The inputs on whose values kernels depend, as far as imports have found such inputs.
    why_fixed : Unsupported or None
        Why the model cannot be compiled for all sizes; None unless an attempt failed.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        options: CompileOptions,
        values: Values,
        shapes: Shapes,
        open_shapes: Shapes,
        open_inputs: Sequence[onnx.ValueInfoProto],
        imports: Imports | None = None,
    ) -> None:
        self._model = model
        self._options = options
        self._values = values
        self._imports = imports or Imports(
            model, values, options.operators, options.progress, options.seed
        )
        self._shapes = shapes
        self._open_shapes = open_shapes
        self._open_inputs = open_inputs
        self._by_inputs: dict[Any, Specialization] = {}
        self._for_packages: Specialization | None = None
        self.for_all_sizes: Specialization | None = None
        self.value_inputs: frozenset[str] = frozenset()
        self.why_fixed: Unsupported | None = None

    def with_options(self, options: CompileOptions) -> Specializer:
        """Return a specializer with other options, which shares the imports."""
        return Specializer(
            self._model,
            options,
            self._values,
            self._shapes,
            self._open_shapes,
            self._open_inputs,
            self._imports,
        )

    def compile_early(self) -> None:
        """Compile before arrays are given, if that is possible."""
        if self._open_shapes:
            self.for_all_sizes = self._open_if_possible()
        elif not self._open_inputs:
            try:
                self._fixed(self._shapes, {})
            except NeedsValues as needs:
                self.value_inputs |= needs.inputs

    def compiled(self) -> list[Specialization]:
        """Return all specializations that have been compiled; the one for packages comes first."""
        made = [self._for_packages, self.for_all_sizes, *self._by_inputs.values()]
        return [each for each in dict.fromkeys(made) if each is not None]

    def for_inputs(self, shapes: Shapes, arrays: Values) -> Specialization:
        """Return the specialization that runs these arrays.

        Inputs on whose values kernels depend become constants. If an import needs the values of
        more inputs, it is repeated with these values.

        Parameters
        ----------
        shapes : mapping of str to sequence of int
            The shapes of the inputs with open extents.
        arrays : mapping of str to array
            The arrays of all inputs.
        """
        if self.for_all_sizes is not None:
            return self.for_all_sizes
        try:
            return self._fixed(shapes, {name: arrays[name] for name in self.value_inputs})
        except NeedsValues as needs:
            if not needs.inputs - self.value_inputs:
                refuse_model(
                    f"a shape depends on values that nodes compute from the inputs {needs}",
                    "compute the shape outside of the model, and give it as an input",
                )
            self.value_inputs |= needs.inputs
        return self.for_inputs(shapes, arrays)

    def for_packages(self) -> Specialization:
        """Return the specialization for packages, which has all outputs under their own names.

        Raises
        ------
        Unsupported
            If kernels depend on open extents, or on values of inputs.
        """
        if self._for_packages is None:
            made = self._fit_for_packages()
            self._for_packages = made if made.names_all_outputs else self._with_copies()
        return self._for_packages

    def _fit_for_packages(self) -> Specialization:
        """Return the specialization that runs these inputs; it may lack names of outputs."""
        made = self.for_all_sizes
        if self._open_inputs and made is None:
            made = self._open_if_possible()
        if self.why_fixed is not None:
            self._refuse_open(self.why_fixed)
        if made is not None:
            return made
        if not self.value_inputs:
            return self._fixed(self._shapes, {})
        try:
            return self._compiled(self._shapes, {})
        except NeedsValues as needs:
            self._refuse_values(needs)

    def _with_copies(self) -> Specialization:
        """Compile again, with a copy of each output that has another name in the graph."""
        if self._open_shapes or self._open_inputs:
            return self._open(copies=True)
        return self._compiled(self._shapes, {}, copies=True)

    def _fixed(self, shapes: Shapes, values: Values) -> Specialization:
        """Return the specialization for these shapes and values of inputs."""
        key = (
            tuple(sorted((name, tuple(shape)) for name, shape in shapes.items())),
            tuple(sorted((name, array.tobytes()) for name, array in values.items())),
        )
        if key not in self._by_inputs:
            self._by_inputs[key] = self._compiled(shapes, values, chooses_branches=True)
        return self._by_inputs[key]

    def _open(self, copies: bool = False) -> Specialization:
        """Compile for all sizes."""
        shapes = {**self._shapes, **self._open_shapes}
        return self._compiled(shapes, {}, is_open=True, copies=copies)

    def _open_if_possible(self) -> Specialization | None:
        """Compile for all sizes; None if that is impossible, and `why_fixed` says why."""
        try:
            if any(shape_of(each) is None for each in self._open_inputs):
                refuse_open(self._open_inputs)
            if self._options.measure is not None:
                refuse_model(
                    "kernels cannot be measured while extents are open",
                    "give the shapes of the inputs: shapes= or --shape NAME=AxBxC",
                )
            return self._open()
        except NeedsValues as needs:
            why = "; ".join([f"kernels depend on the values of the inputs {needs}", *needs.reasons])
            self.why_fixed = Unsupported(why)
        except Unsupported as error:
            self.why_fixed = error
        except TVMError as error:
            self.why_fixed = Unsupported(str(error), error.diagnostics)
        return None

    def _refuse_open(self, why: Unsupported) -> NoReturn:
        """Refuse: what numbers for extents would not cure comes first, if there is anything."""
        if why.code == _UNSUPPORTED_TYPE:
            raise why
        numbers = self._refused_for_numbers()
        cured = {
            each: each.reason != NOT_SUPPORTED and each not in numbers for each in why.refusals
        }
        if not all(cured.values()):
            refuse_nodes(sorted(why.refusals, key=cured.__getitem__))
        try:
            refuse_open(self._open_inputs)
        except Unsupported as error:
            error.refusals = why.refusals
            first, *_ = why.diagnostics or [None]
            said = first.message if first is not None else str(why)
            with_note(error, f"these extents have to be known: {said}")
            for each in first.notes if first is not None else ():
                with_note(error, each)
            raise error from None

    def _refused_for_numbers(self) -> frozenset[Refusal]:
        """Return the nodes that are refused for the same reasons if all extents are numbers."""
        opened = {each.name: shape_of(each) for each in self._open_inputs}
        numbers = {
            name: [each if isinstance(each, int) else _SOME_EXTENT for each in shape]
            for name, shape in {**opened, **self._open_shapes}.items()
            if shape is not None
        }
        try:
            self._imports.network({**self._shapes, **numbers}, {})
        except Unsupported as error:
            return frozenset(error.refusals)
        except (NeedsValues, TVMError):
            pass
        return frozenset()

    @staticmethod
    def _refuse_values(needs: NeedsValues) -> NoReturn:
        """Refuse a package: list the inputs whose values nodes need, and these nodes."""
        names = sorted(needs.inputs)
        try:
            refuse_model(
                f"kernels depend on the values of the inputs {', '.join(map(repr, names))}",
                "give the values, which become part of the package: "
                f"values={{{names[0]!r}: array, ...}}; on "
                f"the command line --value {names[0]}=FILE",
            )
        except Unsupported as error:
            for each in needs.reasons:
                with_note(error, each)
            raise

    def _compiled(
        self,
        shapes: Shapes,
        values: Values,
        *,
        is_open: bool = False,
        chooses_branches: bool = False,
        copies: bool = False,
    ) -> Specialization:
        target = resolve(self._options.target)
        # float16 would round sums of pixels that cancel out.
        keeps_floats = self._options.precision == "fp32"
        network = self._imports.network(
            shapes,
            values,
            is_open=is_open,
            chooses_branches=chooses_branches,
            copies=copies,
            dots=DotProducts.of(target),
            fast_math=target.kind == "llvm" and target.attrs["fast_math"] and keeps_floats,
        )
        return Specialization(network, self._options)


__all__ = ["Specializer"]
