"""Custom operators from Python functions and from the bodies of kernels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import _core
from .._core import NDArray
from ..checks.argument_kinds import shown
from ..errors import refuse
from .declaration import Reader


class OperatorArgument(NamedTuple):
    """An argument as it is declared.

    Attributes
    ----------
    name : str
    access : str
        ``"read"``, ``"write"`` or ``"read-write"``.
    storage : str
        ``"any"``, ``"buffer"`` or ``"texture"``.
    """

    name: str
    access: str
    storage: str


TensorType = tuple[str, tuple[int, ...]]  # dtype and shape


class Operator:
    """A custom operator. Made by :func:`host_operator` and :func:`source_operator`.

    Operators are values: nothing is registered in the process.
    """

    def __init__(self, core: _core.CustomOperator) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """The name, ``"domain::name"``."""
        return self._core.name

    @property
    def version(self) -> int:
        """The version of the declaration."""
        return self._core.version

    @property
    def arguments(self) -> tuple[OperatorArgument, ...]:
        """The arguments, in order."""
        return tuple(OperatorArgument(*row) for row in self._core.arguments)

    def __repr__(self) -> str:
        return f"Operator({self.name!r}, version={self.version})"

    def __call__(self, *arrays: NDArray, **attributes: float | str) -> None:
        """Run the operator by itself, on the device of the arrays, in the order of its queue.

        Like a compiled function it does not wait: an error of the run is raised by the next wait
        (``array.numpy()``, ``device.sync()``) and names the operator.

        Parameters
        ----------
        *arrays : NDArray
            An array for each argument, outputs included, on one device.
        **attributes : number or str
            Attributes by name; others have their default values.

        Raises
        ------
        TVMError
            TL5021 for arrays or attributes that do not fit the declaration, TL5001, TL5005, TL5008
            for wrong arrays, TL5010 for a body that does not compile, TL5011 for arrays that share
            memory.
        """
        self._core.run(arrays, attributes, False)

    def checked(self, *arrays: NDArray, **attributes: float | str) -> None:
        """Run like a call, wait, and fail if the operator writes undeclared memory.

        All memory of the arrays is read back before and after the run: use it in tests. A write
        past the end of a buffer with its own memory is not detected, because no array follows it.

        Raises
        ------
        TVMError
            TL5007, which names the argument that changed, besides the errors of a call.
        """
        self._core.run(arrays, attributes, True)
        arrays[0].device.sync()

    def shapes(self, *inputs: TensorType, **attributes: float | str) -> list[TensorType]:
        """Return dtype and shape of each output, as a graph finds them.

        Parameters
        ----------
        *inputs : (str, tuple of int)
            Dtype and shape of each argument that is read.
        **attributes : number or str
            Attributes by name.
        """
        rows = [(dtype, list(shape)) for dtype, shape in inputs]
        return [tuple(row) for row in self._core.shapes(rows, attributes)]


def checked_operators(operators: Any) -> tuple[Operator, ...]:
    """Return the custom operators of a list.

    Raises
    ------
    TVMError
        TL2040 for what is not a list of custom operators.
    """
    help_text = "give a list of what functions of texloom.custom returned: operators=[...]"
    if not isinstance(operators, Iterable):
        refuse(
            "BadArgument",
            f"operators is {shown(operators)}, not a list of custom operators",
            help_text,
        )
    made = tuple(operators)
    for each in made:
        if not isinstance(each, Operator):
            refuse("BadArgument", f"operators has {shown(each)}, not a custom operator", help_text)
    return made


def host_operator(
    name: str,
    arguments: Mapping[str, Any],
    *,
    attributes: Mapping[str, Any] | None = None,
    version: int = 1,
    dtypes: Sequence[Sequence[str]] | None = None,
    shapes: Callable[..., Any] | None = None,
    like: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., None]], Operator]:
    """Return a decorator that turns a function over NumPy arrays into a custom operator.

    The function gets a row-major array for each argument, whatever the storage of the tensor, in
    the order of the declaration; then the attributes by name. Its parameters have the names of the
    arguments, unless they are positional-only (``def f(a, b, /)``). The function writes results
    into the arrays of written arguments and returns nothing; arrays that are only read cannot be
    written. A queue calls the function on a thread of its own, when all earlier work is complete.
    The function must not wait for a device.

    Parameters
    ----------
    name : str
        ``"domain::name"``.
    arguments : dict
        By name: ``"read"``, ``"write"`` or ``"read_write"``, with ``"buffer"`` or ``"texture"``
        after it if the operator requires that storage (``"read texture"``); or a dict of
        ``"access"``, ``"storage"`` and ``"layout"``, the axes of ``"rows"``, ``"cols"`` and
        ``"lanes"``.
    attributes : dict, optional
        By name: a number, which is the default value; or ``"integer"``, ``"float"`` or ``"text"``
        for an attribute that every call gives; or a dict of ``"type"`` and ``"default"``.
    version : int
        Changes with the declaration; programs name the version that they were built for.
    dtypes : list of lists of str, optional
        The variants: each has a dtype for each argument. By default any dtypes.
    shapes : function, optional
        Called as ``shapes(inputs, **attributes)``: `inputs` is a list with (dtype, shape) for each
        argument that is read, and the attributes come by keyword. Returns such a list for the
        arguments that are only written, as ``[("float32", (2, 4))]``.
    like : dict, optional
        Without `shapes`: for each output, the input whose dtype and shape the output has; by
        default the first input.

    Raises
    ------
    TVMError
        TL5021 for a declaration that contradicts itself, or does not fit the function.
    """
    reader = Reader(f"host_operator {name!r}")
    declaration = reader.declaration(name, arguments, attributes, version, dtypes)
    likes = reader.like(like)

    def make(function: Callable[..., None]) -> Operator:
        given = [row["name"] for row in declaration["arguments"]]
        named = [row["name"] for row in declaration["attributes"]]
        _check_parameters(reader, function, given, named)
        return Operator(_core.make_host_operator(declaration, function, shapes, likes))

    return make


def _check_parameters(
    reader: Reader, function: Callable[..., None], given: list[str], named: list[str]
) -> None:
    """Refuse a function whose parameters do not fit the arrays, in number, name or order.

    Positional-only and variadic parameters, as in ``def f(a, b, /)`` and ``def f(*arrays)``, may
    have any names.
    """
    advice = f"declare it as def f({', '.join([*given, *named])})"
    try:
        signature = inspect.signature(function)
        signature.bind(*given, **dict.fromkeys(named))
    except (TypeError, ValueError) as error:
        reader.refuse(
            "function",
            f"cannot be called with the declared arguments and attributes: {error}",
            advice,
        )
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for parameter, argument in zip(signature.parameters.values(), given, strict=False):
        if parameter.kind is kind and parameter.name != argument:
            reader.refuse(
                "function",
                f"has the parameter {parameter.name!r} where the declaration has the argument "
                f"{argument!r}",
                f"{advice}, or put a slash after parameters whose names differ: def f(a, b, /)",
            )


def source_operator(
    name: str,
    arguments: Mapping[str, Any],
    body: str,
    *,
    threads: Sequence[str | int],
    workgroup: Sequence[int] = (1,),
    attributes: Mapping[str, Any] | None = None,
    version: int = 1,
    dtypes: Sequence[Sequence[str]] | None = None,
    like: Mapping[str, str] | None = None,
) -> Operator:
    """Return a custom operator that is one kernel; `body` is the text between the kernel's braces.

    The signature is generated from the declaration. The body uses words that every kernel language
    has: ``tl_load(x, col, row)``, ``tl_global_id(0)``, and others (``docs/custom_operators.md``).

    Parameters
    ----------
    name, arguments, attributes, version, dtypes, like
        As for :func:`host_operator`; every argument says ``"buffer"`` or ``"texture"``, attributes
        are numbers.
    body : str
        The statements that one thread runs.
    threads : list of str or int
        The number of threads along x, y and z: expressions such as ``"(x.width + 1) / 2"``. Names
        are ``x.width`` and ``x.height`` (texels), ``x.d0``, ``x.d1``, … (the shape) and
        ``x.places`` (elements with padding) of an argument ``x``. Each is at least 1.
    workgroup : list of int
        The threads of a work group.

    Raises
    ------
    TVMError
        TL5021 for a declaration that contradicts itself, or a body that uses an argument in another
        way than declared. A body that does not compile is reported when the operator is first used
        (TL5010).
    """
    return made_source_operator(
        f"source_operator {name!r}",
        {
            "name": name,
            "arguments": arguments,
            "body": body,
            "threads": threads,
            "workgroup": workgroup,
            "attributes": attributes,
            "version": version,
            "dtypes": dtypes,
            "like": like,
        },
    )


def made_source_operator(where: str, parts: Mapping[str, Any], file: str = "") -> Operator:
    """Return the operator of a declaration: the parameters of :func:`source_operator` by name.

    Messages about single keys name `where`; others name the operator, and the file if there is one.
    """
    reader = Reader(where)
    declaration = reader.declaration(
        *(parts.get(key) for key in ("name", "arguments", "attributes")),
        parts.get("version", 1),
        parts.get("dtypes"),
    )
    sizes = [
        reader.count(f"workgroup[{i}]", size, 2**31 - 1, 1)
        for i, size in enumerate(reader.three("workgroup", parts.get("workgroup", (1,))))
    ]
    threads = [
        reader.text(f"threads[{i}]", str(size) if type(size) is int else size)
        for i, size in enumerate(reader.three("threads", parts.get("threads")))
    ]
    body = parts.get("body")
    if not isinstance(body, str):
        lines = reader.row("body", body)
        body = "\n".join(reader.text(f"body[{i}]", line) for i, line in enumerate(lines))
    return Operator(
        _core.make_source_operator(
            file,
            declaration,
            body,
            (sizes + [1, 1])[:3],
            (threads + ["1", "1"])[:3],
            reader.like(parts.get("like")),
        )
    )
