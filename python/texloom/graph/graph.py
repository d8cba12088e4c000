"""Graphs that users build and compile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._core import Device, TargetValue
from ..arrays.arguments import as_array
from ..costs import Costs
from ..custom.operators import Operator
from ..devices.lookup import present
from ..errors import refuse
from ..extents import Condition
from ..ops.coordinates import marked_coordinates
from ..target import Target, resolve
from .calls import accepted_scopes
from .checks import check_name, check_scopes
from .compilation import Compilation
from .compiled import CompiledGraph
from .concatenation import Concatenation
from .cost_model import CostModel
from .declarations import Declarations
from .given_kernels import GivenKernels
from .graph_passes import checked_passes, graph_passes
from .kernel_library import KernelLibrary
from .node_functions import Compute, ScheduleFunction, check_schedule
from .placement import Placed, host_nodes, refuse_unplaceable, with_host_parts
from .precision import Precision
from .progress import Progress
from .short_launches import short_launches
from .symbols import Symbols
from .tensor import GraphTensor
from .tuned_knobs import TunedKnobs

Scopes = Mapping[str, Sequence[str]]

_BAD = "BadGraph"


class Graph:
    """A graph of operators.

    Add inputs, constants and nodes, each node after those whose outputs it reads, then name the
    outputs and compile.

    Parameters
    ----------
    name : str
        Any text. Messages show it, and :func:`load` finds the graph in a file by it.

    Raises
    ------
    TVMError
        TL2040 for the name of a graph, tensor or node that is empty or not a string.
    """

    def __init__(self, name: str = "graph") -> None:
        check_name("graph", name)
        self.name = name
        self._core = _core._Graph(name)  # not yet for a target
        self._declared = Declarations(self)
        self._operators: dict[tuple[str, int], Operator] = {}
        self._symbols = Symbols(self._core)

    @property
    def inputs(self) -> tuple[GraphTensor, ...]:
        """The inputs, in the order in which they were added."""
        return tuple(self._declared.inputs)

    def input(self, name: str, shape: Sequence[int | str], dtype: str = "float32") -> GraphTensor:
        """Add a tensor that the caller gives at each run, as a row-major array.

        Parameters
        ----------
        name : str
        shape : sequence of int or str
            A name is a *symbol*, whose value each run takes from the shapes of its arrays:
            ``("n", 3, "h", "w")``. The graph is compiled once for all values. An extent may also
            be a sum, a product or a quotient (``//``) of symbols and numbers: ``"32 * h"``.
        dtype : str

        Raises
        ------
        TVMError
            TL3040 for a name that is taken, and for a shape that is not a list of positive numbers
            and symbols.
        """
        tensor = self._declared.new_tensor(name, shape, dtype)
        number = self._core.input(name, dtype, self._symbols.steps(tensor.shape))
        self._symbols.add(tensor.shape)
        self._declared.add(tensor, number)
        self._declared.inputs.append(tensor)
        return tensor

    def constant(self, name: str, value: ArrayLike) -> GraphTensor:
        """Add a constant tensor: its values are copied now, and packed by :meth:`compile`."""
        array = np.asarray(as_array(value), order="C")
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        tensor = self._declared.new_tensor(name, array.shape, array.dtype.name)
        self._declared.add(tensor, self._core.constant(name, tensor.dtype, array))
        return tensor

    def node(
        self,
        name: str,
        compute: Compute,
        inputs: Sequence[GraphTensor],
        schedule: ScheduleFunction,
        scopes: Scopes,
        *,
        costs: Mapping[str, float] | None = None,
        fold_share: float | None = None,
        op: str = "",
    ) -> GraphTensor | tuple[GraphTensor, ...]:
        """Add a computation.

        Parameters
        ----------
        name : str
            Unique; the output's name. Several outputs are called ``name.0``, ``name.1``, …
        compute : callable
            Is called with a placeholder for each input; returns a tensor or several.
        inputs : sequence of GraphTensor
        schedule : callable
            ``schedule(outputs, inputs, scopes, target)`` returns the schedule for these storages,
            and for a :class:`texloom.target.TargetValue`. The scopes of inputs and outputs are
            declared already, so the function need not set them.
        scopes : mapping of str to sequence of str
            The combinations of scopes that the schedule supports, by name: the scope of each
            input, then of each output. An example is
            ``{"texture": ("texture", "texture:weight", "texture"), "global": ("global",) * 3}``.
        costs : mapping of str to float, optional
            Nanoseconds of some or all combinations; the cost model estimates the remaining ones.
        fold_share : float, optional
            The relative increase of the cost for each folded texture; 0.005 by default.
        op : str
            The name of the operation, for readers; by default the name of `compute`.

        Raises
        ------
        TVMError
            TL3040 if the parts do not fit together, TL3042 for another exception in `compute`.
            Diagnostics of calls in `compute` have a note that names the node.
        """
        check_name("node", name)
        self._declared.check_inputs(name, inputs)
        check_schedule(name, schedule)
        made, symbols, conditions = self._symbols.computed(name, compute, inputs)
        check_scopes(name, scopes, len(inputs) + len(made), costs)
        computation = _core._Computation(symbols.placeholders, made, symbols.given)
        title = op or getattr(compute, "__name__", "node")
        combinations = {label: tuple(each) for label, each in scopes.items()}
        kernels = GivenKernels(schedule, computation, combinations, dict(costs or {}), fold_share)
        outputs = self._declared.new_outputs(
            name, [(symbols.shape_in_graph(t), t.dtype) for t in made]
        )
        numbers = self._core.node(
            name, title, self._declared.numbers_of(inputs), self._described(outputs)
        )
        self._keep(name, outputs, numbers, conditions, kernels)
        return outputs[0] if len(outputs) == 1 else outputs

    def op(
        self,
        name: str,
        op: str,
        compute: Compute,
        inputs: Sequence[GraphTensor],
        attributes: Mapping[str, int | float | str] | None = None,
    ) -> list[GraphTensor]:
        """Add an operator whose kernels the compiler makes, alone or fused with other operators.

        Parameters
        ----------
        name : str
            As for :meth:`node`.
        op : str
            The name of the operation, for readers.
        compute : callable
            As for :meth:`node`.
        inputs : sequence of GraphTensor
        attributes : mapping of str to number or str, optional
            Further information for readers, such as strides.

        Returns
        -------
        list of GraphTensor
            The outputs.

        Raises
        ------
        TVMError
            As for :meth:`node`.
        """
        check_name("node", name)
        check_name("node's operation", op)
        self._declared.check_inputs(name, inputs)
        made, symbols, conditions = self._symbols.computed(name, compute, inputs)
        computation = _core._Computation(symbols.placeholders, made, symbols.given)
        outputs = self._declared.new_outputs(
            name, [(symbols.shape_in_graph(t), t.dtype) for t in made]
        )
        numbers = self._core.operator(
            name,
            op,
            computation,
            marked_coordinates(compute),
            self._declared.numbers_of(inputs),
            self._described(outputs),
            dict(attributes or {}),
        )
        self._keep(name, outputs, numbers, conditions)
        return list(outputs)

    def concat(self, name: str, inputs: Sequence[GraphTensor], axis: int) -> GraphTensor:
        """Add the concatenation of tensors along an axis.

        Where images allow it, producers write the inputs directly into the result; else the inputs
        are copied.
        """
        check_name("node", name)
        self._declared.check_inputs(name, inputs)
        made = Concatenation.of(name, inputs, axis)
        outputs = self._declared.new_outputs(name, [(made.shape, inputs[0].dtype)])
        numbers = self._core.concatenation(
            name, self._declared.numbers_of(inputs), self._described(outputs), made.axis
        )
        self._keep(name, outputs, numbers, made.conditions)
        return outputs[0]

    def custom(
        self,
        name: str,
        op: Operator,
        inputs: Sequence[GraphTensor],
        scopes: Scopes | None = None,
        *,
        attributes: Mapping[str, int | float | str] | None = None,
        cost: float | None = None,
    ) -> GraphTensor | tuple[GraphTensor, ...]:
        """Add a call of a custom operator, which determines shapes and dtypes of its outputs.

        Parameters
        ----------
        name, inputs
            As for :meth:`node`.
        op : texloom.custom.Operator
            An operator that declares all read arguments before the written ones.
        scopes : mapping of str to sequence of str, optional
            The combinations of storages that the operator accepts, as for :meth:`node`. By default
            those that its arguments declare: ``"texture"``, or else ``"global"``.
        attributes : mapping of str to number or str, optional
            The values of the operator's attributes.
        cost : float, optional
            Nanoseconds; by default, the cost model estimates them.

        Raises
        ------
        TVMError
            TL3040 for an operator with read-write arguments, another number of inputs than it
            reads, or scopes that contradict its declaration; TL2040 for attributes that do not fit,
            and for exceptions in its function for shapes.
        """
        check_name("node", name)
        if not isinstance(op, Operator):
            refuse(
                _BAD,
                f"the operator of the node {name!r} is {op!r}, not a custom operator",
                "make one by texloom.custom.host_operator or texloom.custom.source_operator",
            )
        self._declared.check_inputs(name, inputs)
        settings = dict(attributes or {})
        given = accepted_scopes(name, op, len(inputs), scopes)
        if self._operators.get((op.name, op.version), op) is not op:
            refuse(
                _BAD,
                f"the node {name!r} calls {op.name!r} of version {op.version}, but another operator"
                " of the graph has the same name and version",
                "give each operator its own name or version",
            )
        made = op.shapes(*((t.dtype, t.shape) for t in inputs), **settings)
        check_scopes(name, given, len(inputs) + len(made), None)
        outputs = self._declared.new_outputs(name, [(list(shape), dtype) for dtype, shape in made])
        numbers = self._core.call(
            name,
            op.name,
            self._declared.numbers_of(inputs),
            self._described(outputs),
            [(label, list(each)) for label, each in given.items()],
            settings,
            cost,
            op.version,
            op._core.is_on_host,
        )
        self._operators[op.name, op.version] = op
        self._keep(name, outputs, numbers)
        return outputs[0] if len(outputs) == 1 else outputs

    def output(self, tensor: GraphTensor, name: str | None = None) -> GraphTensor:
        """Declare a computed tensor as an output of the graph, and return the tensor.

        Parameters
        ----------
        tensor : GraphTensor
        name : str, optional
            The output's name in runs of the graph; by default the tensor's own.

        Raises
        ------
        TVMError
            TL3040 for a tensor that no node computes or that is an output already, and for a name
            that another tensor or output has.
        """
        self._declared.check_inputs("output", [tensor])
        (number,) = self._declared.numbers_of([tensor])
        self._core.output(number, self._declared.add_output(tensor, name))
        return tensor

    def require(self, node: str, conditions: Iterable[Condition]) -> None:
        """Let each run check conditions on its sizes; messages name `node`."""
        self._symbols.keep(node, conditions)

    def text(self, target: str | Target | None = None, passes: Sequence[str] = ()) -> str:
        """Return the text form of the graph for a target, without the values of constants.

        `passes` run first, as in :meth:`compile`. Operators do not have kernels yet.
        """
        resolved = resolve(target)
        core = self._for_target(resolved)
        core.run_passes(checked_passes(passes), KernelLibrary(resolved))
        return str(core)

    def compile(
        self,
        target: str | Target | None = None,
        *,
        scopes: Literal["auto", "texture", "global"] = "auto",
        model: CostModel | None = None,
        passes: Sequence[str] | None = None,
        precision: Precision = "fp32",
        progress: Progress | None = None,
        costs: Costs | None = None,
        measure: Device | str | None = None,
        max_live_bytes: int | None = None,
        placed: Placed | None = None,
        compare_storages: bool = False,
        tuned: TunedKnobs | None = None,
    ) -> CompiledGraph:
        """Choose kernels and storages, compile, and plan the memory. Needs no device.

        Parameters
        ----------
        target : str or Target, optional
            As for :func:`texloom.build`.
        scopes : "auto", "texture" or "global"
            The combinations to choose from: all; or, for each node, only those with the most
            ("texture") or the fewest textures ("global").
        model : CostModel, optional
            The costs of kernels without given costs, and of conversions. By default a
            :class:`CostModel`, whose bytes per nanosecond are those of measured or estimated costs,
            if there are any.
        passes : sequence of str, optional
            The passes over the graph to run, in this order: by default all of
            :func:`graph_passes`; ``()`` leaves the nodes as they are.
        precision : "fp32" or "fp16"
            With "fp16", one of :func:`graph_passes` stores float32 tensors between operators as
            float16. Operators compute in float32 as before, inputs and outputs keep their types.
        progress : callable, optional
            ``progress(what, done, all)`` is called while operators get their kernels.
        costs : texloom.costs.Costs, optional
            Measured costs. Without them, costs are estimated by the target's profile if its
            textures are faster than buffers, all sizes are known and `model` is None; otherwise
            operators whose kernels the compiler makes are in buffers, unless `scopes` is
            ``"texture"``.
        measure : Device or str, optional
            The device on which all alternatives are measured first; the measurements are added to
            `costs`, which are then required.
        max_live_bytes : int, optional
            The limit for the bytes of all tensors that are live while an operator runs: those that
            this or a later operator reads, and those that this operator writes. By default there is
            no limit.
        placed : mapping of str to str or Target, optional
            Nodes that run on the host, with the target ``llvm``, by their names or by the names of
            their operations: ``{"Softmax": "llvm -mcpu=native"}``. Tensors are copied where a node
            of the host and one of `target` meet.
        compare_storages : bool
            Estimate kernels over textures also for targets whose textures are not faster than
            buffers, so that the summary has the costs of both; textures are not folded then, and
            where they are not faster, tensors stay in buffers.
        tuned : TunedKnobs, optional
            The best knobs of some kernels, in place of the defaults: what
            ``TunedKnobs.read("best.json")`` returns.

        Raises
        ------
        TVMError
            TL5016 for a pass that does not exist; TL3040 if nodes and tensors do not fit together;
            TL3041 if `max_live_bytes` is too small for any choice, or given for a graph with
            symbols; TL3042 if a schedule function raises another exception; TL7001 for `placed`
            with symbols, with `measure`, with targets that do not fit, or with every node;
            otherwise as for :func:`texloom.build`. A note names the node.
        """
        if scopes not in ("auto", "texture", "global"):
            refuse(
                "BadValue",
                f"scopes={scopes!r} is not a choice of storages",
                "use 'auto', 'texture' or 'global'",
            )
        if not self._declared.outputs:
            refuse(
                _BAD,
                f"the graph {self.name!r} has no output",
                "call output() for each tensor to compute",
            )
        if passes is None:
            passes = graph_passes(precision, textures=scopes == "texture")
        resolved = resolve(target)
        names = checked_passes(passes)

        def begun(core: Any, for_target: TargetValue, costs: Costs | None) -> Compilation:
            operators = [op._core for op in self._operators.values()]
            limits = (max_live_bytes, progress, compare_storages, tuned)
            compilation = Compilation(core, for_target, operators, model, costs, *limits)
            compilation.run_passes(names, KernelLibrary(for_target))
            return compilation

        core = self._for_target(resolved)
        if placed is not None:
            refuse_unplaceable(self._symbols.names, measure)
            on_host, host = host_nodes(placed, core.nodes(), resolved)
            core = with_host_parts(
                core, self._for_target(host), on_host, host, lambda part: begun(part, host, None)
            )
        compilation = begun(core, resolved, costs)
        textures = scopes == "texture" or (
            scopes == "auto"
            and (compilation.has_costs(measure) or compilation.estimate(bool(self._symbols.names)))
        )
        # Native code writes the caller's arrays: another layout would be converted in each run.
        is_native = resolved.kind == "llvm"
        renamed = {name for tensor, name in self._declared.outputs.items() if name != tensor.name}
        compilation.schedule(textures, open_outputs=set() if is_native else renamed)
        if measure is not None:
            launches = partial(short_launches, Graph("launches"), target)
            compilation.measure(present(measure), self.inputs, launches)
        compiled, choice = compilation.run(scopes)
        outputs = [replace(tensor, name=name) for tensor, name in self._declared.outputs.items()]
        return CompiledGraph(compiled, self.inputs, outputs, choice)

    def _for_target(self, target: TargetValue) -> Any:
        """Return the core's graph for a target, with the user's kernels."""
        core = self._core.for_target(target)
        for number, (name, kernels) in enumerate(self._declared.nodes.items()):
            if kernels is not None:
                core.set_alternatives(number, kernels.alternatives(name, target))
        return core

    def _described(self, tensors: Sequence[GraphTensor]) -> list[tuple[str, str, Any]]:
        """Return the outputs of a node in the form that the core takes."""
        return [(each.name, each.dtype, self._symbols.steps(each.shape)) for each in tensors]

    def _keep(
        self,
        name: str,
        outputs: Sequence[GraphTensor],
        numbers: Sequence[int],
        conditions: Iterable[Condition] = (),
        kernels: GivenKernels | None = None,
    ) -> None:
        """Keep a node that was added to the core, and the conditions on its sizes."""
        self._declared.add_node(name, outputs, numbers, kernels)
        self._symbols.keep(name, conditions)


__all__ = [
    "Compute",
    "CostModel",
    "Graph",
    "GraphTensor",
    "ScheduleFunction",
    "Scopes",
]
