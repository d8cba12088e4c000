"""ONNX models that run on devices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from .._core import Device
from ..costs import Costs
from ..custom.operators import Operator, checked_operators
from ..errors import refuse
from ..functions.files import LINKED_FILES
from ..graph.compiled import CompiledGraph
from ..graph.placement import Placed
from ..graph.precision import Precision
from ..graph.progress import Progress
from ..graph.tuned_knobs import TunedKnobs
from ..target import Target
from .compile_options import CompileOptions, Storage
from .nodes import Unsupported
from .nodes.types import dtype_of, shape_of
from .seeds import checked_seed, with_seed
from .signature import Signature
from .specialization import ReadyRun
from .specializer import Specializer

_MOST_READY = 8  # kinds of calls that skip the checks of earlier calls
_MOST_DEFAULTS = 8  # models for values that replaced defaults; each has a copy of the weights


class Model:
    """An ONNX model, compiled for the shapes of its inputs.

    A model whose shapes are known is compiled at once. A model with open extents is compiled when
    it runs, for each new shape of its inputs. A model whose kernels depend on the values of inputs
    is compiled for each new value of these inputs. If `shapes` name the open extents, the model is
    compiled once for all sizes, as for a package: a new size only plans the memory again, but
    kernels are slower than those for one size. If a node needs to know an extent, this is
    impossible (:attr:`why_fixed` says why). ``print`` shows what has been compiled. Threads may
    share a model: runs on one device come one after another, and two threads that ask for new
    shapes at once may both compile.

    Parameters
    ----------
    model : ModelProto
    target : str or Target, optional
        As for :func:`texloom.build`.
    storage : "auto", "buffer" or "texture"
        Where tensors are stored: by cost, in buffers, or in textures wherever a kernel can.
    shapes : mapping of str to sequence of int, optional
        The shapes of inputs, which must agree with the extents in the model. Strings instead of
        numbers, as in ``(1, 3, "h", "w")``, leave extents open.
    values : mapping of str to array, optional
        The values of inputs that thereby become constants, such as the shape for a Reshape, or
        values in place of the defaults of inputs that have an initializer.
    progress : callable, optional
        ``progress(what, done, all)`` is called while nodes are imported and get their kernels.
    precision : "fp32" or "fp16"
        As for :meth:`texloom.graph.Graph.compile`.
    costs : texloom.costs.Costs, optional
        The costs of kernels, for ``storage="auto"``; without them all tensors are in buffers.
    measure : Device or str, optional
        The device on which kernels without costs in `costs` are measured; `costs` is then required.
    operators : sequence of texloom.custom.Operator
    seed : int or str
        As for :func:`texloom.compile`.
    placed : mapping of str to str or Target, optional
    compare_storages : bool
    tuned : TunedKnobs, optional
        As for :meth:`texloom.graph.Graph.compile`.

    Attributes
    ----------
    inputs, outputs : list of str
        The names, in the model's order.
    signature : Signature
        The declarations of the inputs in the model.
    shapes : dict of str to tuple of int
        The given shapes of inputs with open extents, and the shapes that follow from them.

    Raises
    ------
    Unsupported
        If nodes cannot be converted: the text lists all of them.
    TVMError
        TL5016 for names that are not inputs; TL5003 for shapes, and TL5002 for dtypes, that
        contradict the model.
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
        seed: int | str = 0,
        placed: Placed | None = None,
        compare_storages: bool = False,
        tuned: TunedKnobs | None = None,
    ) -> None:
        seed = checked_seed(seed)
        self._options = CompileOptions(
            target,
            storage,
            progress,
            precision,
            costs,
            measure,
            checked_operators(operators),
            seed,
            placed,
            compare_storages,
            tuned,
        )
        if isinstance(seed, str):
            model = with_seed(model, seed)
        every, self._defaults = Signature.of_model(model)
        replaced, values = self._split(values or {})
        self._model = model
        self._values = replaced | {n: every.checked(n, array) for n, array in values.items()}
        self._given_shapes = shapes
        self._by_defaults: dict[Any, Model] = {}
        self._ready: dict[Any, ReadyRun] = {}  # by the dtypes and shapes of arrays
        self.signature = every.without(self._values)
        for each in self.signature.inputs:
            dtype_of(each)  # refuses types that tensors of graphs cannot have
        self.inputs = [each.name for each in self.signature.inputs]
        self.outputs = [each.name for each in model.graph.output]
        open_shapes = self.signature.opened(shapes or {})
        given = {n: s for n, s in (shapes or {}).items() if n not in open_shapes}
        self.shapes = self.signature.completed(given)
        self._specializer = Specializer(
            self._model, self._options, self._values, self.shapes, open_shapes, self.open_inputs()
        )
        self._specializer.compile_early()

    @property
    def why_fixed(self) -> Unsupported | None:
        """Why no package serves all sizes, though the model leaves extents open.

        The reason is known after a package was requested, or if `shapes` name extents.
        """
        return self._specializer.why_fixed

    def open_inputs(self, given: Collection[str] = ()) -> list[onnx.ValueInfoProto]:
        """Return the inputs whose shapes are neither known nor given."""
        known = {*self.shapes, *given}
        return [
            each
            for each in self.signature.inputs
            if each.name not in known
            and not all(isinstance(extent, int) for extent in _extents(each))
        ]

    def run(
        self,
        inputs: Mapping[str, NDArray[Any]],
        device: Device | str | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Run the model and wait for its outputs.

        Parameters
        ----------
        inputs : mapping of str to array
            An array for each input, by name. An input with an initializer in the model may be left
            out. The model is compiled for each new value of such an input, and keeps what it
            compiled for the last eight.
        device : Device or str, optional
            By default the first device of the target's kind, as ``texloom.opencl(0)``. The first
            run on a device compiles the kernels there.

        Returns
        -------
        dict of str to array
            The outputs by name, in the model's order.

        Raises
        ------
        TVMError
            TL5016 for a missing or an unknown name, TL5002 for a dtype, TL5003 for a shape.
        """
        call = _call_of(inputs)
        if call is not None and (ready := self._ready.get(call)) is not None:
            return ready.run(inputs, device)
        given = inputs
        replaced, inputs = self._split(inputs)
        if replaced:
            return self._with_defaults(replaced).run(inputs, device)
        arrays = self.signature.checked_all(inputs)
        shapes = {n: array.shape for n, array in arrays.items() if isinstance(array, np.ndarray)}
        for name, shape in self.shapes.items():
            if tuple(shape) != shapes[name]:
                refuse(
                    "WrongShape",
                    f"the model is compiled for {name!r} of the shape {tuple(shape)}, but the "
                    f"array has the shape {shapes[name]}",
                    "pass an array of that shape, or compile without shapes=",
                )
        chosen = self._specializer.for_inputs(self.signature.stated(shapes), arrays)
        made = chosen.run(arrays, device)
        is_as_given = call is not None and all(arrays[name] is given[name] for name in given)
        may_skip_checks = is_as_given and not self._specializer.value_inputs
        if may_skip_checks and (ready := chosen.ready_for(arrays)) is not None:
            if len(self._ready) >= _MOST_READY:
                self._ready.clear()
            self._ready[call] = ready
        return made

    def _split(
        self, arrays: Mapping[str, NDArray[Any]]
    ) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        """Divide arrays into those for inputs with a default, which are checked, and others."""
        replaced = {
            name: self._defaults.checked(name, array)
            for name, array in arrays.items()
            if name in self._defaults
        }
        return replaced, {name: each for name, each in arrays.items() if name not in replaced}

    def _with_defaults(self, arrays: Mapping[str, NDArray[Any]]) -> Model:
        """Return the model with these values in place of initializers."""
        key = tuple(sorted((name, array.shape, array.tobytes()) for name, array in arrays.items()))
        made = self._by_defaults.pop(key, None)
        if made is None:
            values = {**self._values, **arrays}
            made = Model(
                self._model, shapes=self._given_shapes, values=values, **vars(self._options)
            )
        self._by_defaults[key] = made  # the last one used comes last
        if len(self._by_defaults) > _MOST_DEFAULTS:
            del self._by_defaults[next(iter(self._by_defaults))]
        return made

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary of the compiled graph; None before shapes are known.

        The keys are those of :attr:`texloom.graph.CompiledGraph.summary`. If a package was saved,
        this is its summary.
        """
        for each in self._specializer.compiled():
            return each.graph.summary if each.graph is not None else {}
        return None

    @property
    def graph(self) -> CompiledGraph | None:
        """The compiled graph, of which :attr:`summary` is; None before shapes are known.

        None also for a model without kernels.
        """
        compiled = self._specializer.compiled()
        return compiled[0].graph if compiled else None

    def halves(self) -> frozenset[str]:
        """Return the names of tensors that nodes compute and that are stored as float16.

        These are names of the compiled graph: those of the nodes, with ``.0``, ``.1`` and so on for
        several outputs. Empty before the model is compiled for its first inputs.
        """
        for each in self._specializer.compiled():
            return each.halves()
        return frozenset()

    def fixed(self, inputs: Mapping[str, NDArray[Any]]) -> Model:
        """Return the model compiled for the shapes of these arrays, to be saved.

        Inputs on whose values shapes depend become constants with the values in `inputs`; the
        returned model does not have these inputs.
        """
        replaced, inputs = self._split(inputs)
        if replaced:
            return self._with_defaults(replaced).fixed(inputs)
        arrays = self.signature.checked_all(inputs)
        values = {name: arrays[name] for name in self._specializer.value_inputs}
        others = {name: array for name, array in arrays.items() if name not in values}
        shapes = self.signature.stated({name: array.shape for name, array in others.items()})
        if not values and self.shapes == shapes:
            return self
        made = Model(
            self._model, shapes=shapes, values=values | self._values, **vars(self._options)
        )
        return made.fixed(others)

    def for_target(
        self,
        target: str | Target | None,
        costs: Costs | None = None,
        measure: Device | str | None = None,
    ) -> Model:
        """Return the same model compiled for another target, without importing it again.

        The parameters are those of :class:`Model`; the other options stay the same.
        """
        made = copy(self)
        made._by_defaults, made._ready = {}, {}
        made._options = replace(self._options, target=target, costs=costs, measure=measure)
        made._specializer = self._specializer.with_options(made._options)
        made._specializer.compile_early()
        return made

    def save(
        self,
        path: str | PathLike[str],
        others: Sequence[Model] = (),
        *,
        emit: Sequence[str] = tuple(LINKED_FILES),
        binaries: Device | str | Sequence[Device | str] = (),
    ) -> None:
        """Write a package with the model's names of inputs and outputs; see `texloom.graph.load`.

        The package also has the model's metadata. An existing file is replaced once the new one is
        complete.

        Parameters
        ----------
        path : str or path
            A name in ``*.o`` stands for an object file, as in :meth:`CompiledGraph.save`, which
            explains `emit` and `binaries`.
        others : sequence of Model
            The same model compiled for other targets. A device runs the first variant that it can
            run.

        Raises
        ------
        Unsupported
            If kernels need to know extents that the model leaves open, if kernels depend on the
            values of inputs, or if an input or output has no elements.
        TVMError
            TL5018 if the file cannot be written; for `binaries` as in :meth:`CompiledGraph.save`.
        """
        metadata = {each.key: each.value for each in self._model.metadata_props if each.key}
        variants = [each._specializer.for_packages() for each in others]
        self._specializer.for_packages().save(path, self.inputs, metadata, variants, emit, binaries)

    def __str__(self) -> str:
        """Return the inputs, the outputs and the graph of each variant as text."""
        lines = [f"model {self._model.graph.name or 'model'}"]
        lines += [f"input {self.signature.described(name, self.shapes)}" for name in self.inputs]
        compiled = self._specializer.compiled()
        if not compiled:
            return "\n".join([*lines, "nothing is compiled before the shapes are known"])
        for each in compiled:
            lines += ["", str(each)]
        return "\n".join(lines)


def _call_of(inputs: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the names, dtypes and shapes of NumPy's arrays; None for values of other classes."""
    if type(inputs) is not dict:
        return None
    call: list[Any] = []
    for name, array in inputs.items():
        if type(array) is not np.ndarray:
            return None
        call += (name, array.dtype, array.shape)
    return tuple(call)


def _extents(value: onnx.ValueInfoProto) -> tuple[int | str, ...]:
    """Return the extents, with a word for each open one; one word if the rank is open."""
    shape = shape_of(value)
    return ("?",) if shape is None else shape


__all__ = ["Model", "Storage"]
