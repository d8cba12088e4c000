"""Compiled and stored graphs, which run on devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fsencode, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, extents
from .._core import Device
from ..arrays.arguments import as_array
from ..checks.checked_calls import check_calls, check_methods
from ..custom.operators import Operator, checked_operators
from ..devices.lookup import present
from ..errors import refuse
from ..extents import are_known
from ..functions.files import LINKED_FILES, write_object
from .tensor import GraphTensor


class RunnableGraph:
    """A graph that runs on devices.

    A graph may be used from several threads: runs on one device come one after another.

    Attributes
    ----------
    inputs, outputs : tuple of GraphTensor
        In the order in which they were added to the graph.
    """

    def __init__(
        self, core: Any, inputs: Sequence[GraphTensor], outputs: Sequence[GraphTensor]
    ) -> None:
        self._core = core
        self._default_device: Device | None = None
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._output_types: list[Any] | None = None  # known from the first run on
        # None if they depend on the inputs' shapes, which are checked when they are computed.
        is_fixed = all(are_known(each.shape) for each in (*self.inputs, *self.outputs))
        self._output_shapes = [each.shape for each in self.outputs] if is_fixed else None

    def run(
        self, inputs: Mapping[str, NDArray[Any]], device: Device | str | None = None
    ) -> dict[str, NDArray[Any]]:
        """Run the graph and wait for its outputs.

        Parameters
        ----------
        inputs : mapping of str to array
            An array of the right shape and dtype for each input, by name. The arrays' shapes give
            the graph's symbols their values. A run with new values plans the memory again; the
            plans of the latest sizes are kept.
        device : Device or str, optional
            :attr:`default_device` if it is not given. The first run on a device compiles the
            kernels there.

        Returns
        -------
        dict of str to array
            The outputs by name.

        Raises
        ------
        TVMError
            TL5016 for a missing or an unknown name, TL5002 for a dtype, TL5003 for a shape, and for
            shapes that do not agree with one another or that the graph cannot compute.
        """
        given = [self._checked(inputs, tensor) for tensor in self.inputs]
        unknown = sorted(set(inputs) - {tensor.name for tensor in self.inputs})
        if unknown:
            known = ", ".join(tensor.name for tensor in self.inputs)
            refuse(
                "UnknownName", f"the graph has no input {unknown[0]!r}", f"its inputs are {known}"
            )
        results = self._run(given, device)
        return {tensor.name: array for tensor, array in zip(self.outputs, results, strict=True)}

    def _run(
        self, given: Sequence[NDArray[Any]], device: Device | str | None
    ) -> Sequence[NDArray[Any]]:
        """Run the graph on arrays that fit its inputs; return new arrays for its outputs."""
        chosen = self._chosen(device)
        shapes = self._output_shapes
        if shapes is None:
            shapes = self._core.output_shapes(chosen, [array.shape for array in given])
        if self._output_types is None:
            self._output_types = [np.dtype(each.dtype) for each in self.outputs]
        made = list(map(np.empty, shapes, self._output_types))
        results: Sequence[NDArray[Any]] = self._core.run(chosen, given, made)
        return results

    def time(self, times: int = 1, device: Device | str | None = None) -> float:
        """Return the seconds of `times` runs, one after another, with the inputs of the last run.

        Copies between host and device do not count.

        Raises
        ------
        TVMError
            TL5007 before the first run on the device; TL2040 for less than one run.
        """
        if times < 1:
            refuse(
                "BadArgument", f"times is {times}, not a positive number of runs", "give times=1"
            )
        return float(self._core.time(self._chosen(device), times))

    @property
    def default_device(self) -> Device:
        """The first device of the driver that the graph was compiled for, such as ``opencl:0``.

        If a package has several variants, the default is the first device that can run a variant;
        variants are tried in the order of the file. Reading this attribute raises TL5006 if this
        machine has no driver for the package.
        """
        if self._default_device is None:
            self._default_device = present(self._core.default_device())
        return self._default_device

    def _chosen(self, device: Device | str | None) -> Device:
        return self.default_device if device is None else present(device)

    @staticmethod
    def _checked(inputs: Mapping[str, NDArray[Any]], tensor: GraphTensor) -> NDArray[Any]:
        if tensor.name not in inputs:
            refuse(
                "UnknownName",
                f"the input {tensor.name!r} is missing",
                f"pass {{{tensor.name!r}: array}}, with an array of shape {tensor.shape}",
            )
        array = as_array(inputs[tensor.name])
        if array.dtype != np.dtype(tensor.dtype):
            refuse(
                "WrongElementType",
                f"the input {tensor.name!r} is {tensor.dtype}, but the array is {array.dtype}",
                f"convert it: array.astype({tensor.dtype!r})",
            )
        fits = len(array.shape) == len(tensor.shape) and all(
            actual == extent or not isinstance(extent, int)
            for actual, extent in zip(array.shape, tensor.shape, strict=True)
        )
        if not fits:
            refuse(
                "WrongShape",
                f"the input {tensor.name!r} has the shape {tensor.shape}, but the array has "
                f"{array.shape}",
                "pass an array of that shape",
            )
        return array


class CompiledGraph(RunnableGraph):
    """A graph with its kernels, its launch plan and its memory; made by :meth:`Graph.compile`."""

    def __init__(
        self,
        core: Any,
        inputs: Sequence[GraphTensor],
        outputs: Sequence[GraphTensor],
        choice: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(core, inputs, outputs)
        self._choice = choice

    def save(
        self,
        path: str | PathLike[str],
        metadata: Mapping[str, str] | None = None,
        others: Sequence[CompiledGraph] = (),
        *,
        emit: Sequence[str] = tuple(LINKED_FILES),
        binaries: Device | str | Sequence[Device | str] = (),
    ) -> None:
        """Write the package, with its constants, to a file; an existing file is replaced.

        Parameters
        ----------
        path : str or path
            A name in ``*.o`` stands for an object file that a program links, of a graph for the
            target ``llvm``: a C header and the package, without code, are written beside it.
        metadata : mapping of str to str, optional
            Information for programs that load the package, such as the names of classes. Names
            that :meth:`Graph.compile` wrote, such as ``scopes``, keep their values.
        others : sequence of CompiledGraph
            The same graph compiled for other targets. A device runs the first variant that it can
            run.
        emit : sequence of str, optional
            For a name in ``*.o``: which of the three files are written. The program needs all of
            them, of one call or of calls with the same graph.
        binaries : Device or str, or a sequence of them, optional
            OpenCL devices, such as ``"opencl:0"``, on which the kernels are compiled now. The
            package gets the binaries that the drivers return, beside the source: a first run with
            the same device and the same version of its driver compiles nothing. Others compile the
            source.

        Raises
        ------
        TVMError
            TL5018 if the file cannot be written, TL2040 for metadata that is not text, TL3040 if
            the inputs or outputs of graphs differ, TL7001 for binaries in an object file; TL5007
            for a device that runs no variant of the graph, or whose driver returns no binaries.
        """
        is_list = isinstance(binaries, Sequence) and not isinstance(binaries, str)
        devices = [present(each) for each in (binaries if is_list else [binaries])]
        texts = dict(metadata or {})
        for name, text in texts.items():
            if not isinstance(name, str) or not name or not isinstance(text, str):
                refuse(
                    "BadArgument",
                    f"the metadata {name!r}: {text!r} are not a name and a string",
                    "give strings by name, such as {'license': 'MIT'}",
                )
        if fspath(path).endswith(".o"):
            _refuse_others(others)
            _refuse_binaries(devices)
            write_object(lambda *given: self._core.save_object(*given, texts), path, emit)
            return
        self._core.save(fsencode(path), texts, [each._core for each in others], devices)

    @property
    def summary(self) -> dict[str, Any]:
        """The decisions of the compilation, and the memory that a run takes.

        Keys: ``passes`` ((name, nodes before, nodes after) for each), ``members`` (the names of the
        operators that each fused operator replaces), ``nodes`` (the alternative of each node; "in
        place" or "copy" for a concatenation, "in place" for a view without a kernel),
        ``conversions`` ((tensor, from, to) for each), ``folds`` (the planes side by side of each
        folded tensor), ``in_buffers`` (tensors for which an image is not worth its memory),
        ``small_gain`` (the share of the time that textures would save, if textures were rejected
        because this share is too small; else None), ``runs`` ((node or conversion, key of its cost,
        nanoseconds, launches, counted work of each kernel) of each, in order), ``scopes`` (all that
        could be chosen by measured costs; else None), ``stores`` ((storage id, scope, layout) of
        each tensor in memory), ``cost`` and ``lower_bound`` in nanoseconds, ``call_sites`` and
        ``signatures``, ``launches`` (of all kernels in a run), ``workspace_bytes`` (of all
        temporaries, where they share memory), ``least_bytes`` (a lower bound on the bytes of any
        plan of these temporaries), ``temporary_bytes`` (their sum), ``constant_bytes``. Launches
        are 0 if their number depends on the sizes of a run.
        """
        return {**self._core.summary(), "scopes": self._choice}

    def __str__(self) -> str:
        """Return the summary as text, a line for each decision."""
        return str(self._core)


def _refuse_others(others: Sequence[CompiledGraph]) -> None:
    if others:
        refuse(
            "BadOption",
            f"an object file is for one target, but {len(others) + 1} are given",
            "write an object file for each target, with names that differ",
        )


def _refuse_binaries(devices: Sequence[Device]) -> None:
    if devices:
        refuse(
            "BadOption",
            "an object file has native code, which no driver compiles, but binaries are asked for",
            "leave out the binaries, or save a package: a name in *.tlp",
        )


def load(
    path: str | PathLike[str],
    operators: Sequence[Operator] = (),
    name: str = "",
    *,
    waits_around_operators: bool = False,
    native: bool = False,
) -> RunnableGraph:
    """Load a graph from a package. Nothing is compiled until it runs.

    Parameters
    ----------
    path : str or path
        A file that :meth:`CompiledGraph.save` or ``export_library`` wrote. The file is kept open.
    operators : sequence of texloom.custom.Operator
        The custom operators that the graph calls: the file has only their names and versions.
    name : str
        The graph's name, if the file has several; by default the first one.
    waits_around_operators : bool
        Wait for the device before and after each custom operator. Use this only to compare with
        runtimes that cannot record custom operators.
    native : bool
        Take native code, which graphs for the target ``llvm`` have. It runs with the rights of this
        process: only for files that you trust as you trust programs.

    Raises
    ------
    TVMError
        TL5018 if the file cannot be read; TL5012 if it is not a package, is damaged, or has only
        native code that is not taken; TL5016 if it has no such graph; TL2040 for `operators` that
        are not a list of them.
    """
    cores = [each._core for each in checked_operators(operators)]
    core = _core.load_graph(fsencode(path), name, cores, waits_around_operators, native)
    symbols = core.symbols()
    made = [
        [
            GraphTensor(each, tuple(extents.of_steps(e, symbols) for e in shape), dtype)
            for each, dtype, shape in tensors
        ]
        for tensors in (core.inputs(), core.outputs())
    ]
    return RunnableGraph(core, *made)


__all__ = ["CompiledGraph", "RunnableGraph", "load"]
check_calls(globals())
check_methods(RunnableGraph, CompiledGraph)
