"""Compilation of schedules: to programs, and to functions that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from . import _core
from ._core import Buffer, Expr, Function, Operation, Program, Schedule, Tensor
from .checks.argument_kinds import kind_of
from .checks.checked_calls import check_calls, check_methods
from .errors import refuse
from .functions.group import FunctionGroup
from .target import Target, resolve
from .tvm.transform import PassContext

_KIND, _ARGUMENTS = "BadArgument", "BadArguments"


def _refuse_kind(inp: Any) -> NoReturn:
    """Refuse an object that is passed in place of a schedule."""
    ways_out = {
        (Tensor, Operation): "make a schedule of it: s = te.create_schedule(C.op)",
        (list, tuple, Mapping): "lower each schedule by itself; build takes a list of the programs",
        Function: "it is compiled already: call it",
    }
    way_out = "make a schedule: s = te.create_schedule(C.op)"
    for kinds, text in ways_out.items():
        if isinstance(inp, kinds):
            way_out = text
    refuse(_KIND, f"expected a schedule or a program, but {kind_of(inp)} is given", way_out)


def _declared(binds: Mapping[Tensor, Buffer] | None) -> dict[Tensor, Buffer]:
    if binds is not None and not isinstance(binds, Mapping):
        refuse(
            _KIND,
            f"binds is {kind_of(binds)}, not a mapping",
            "give {T: decl_buffer(T.shape, T.dtype)}",
        )
    for tensor, buffer in (binds or {}).items():
        if not isinstance(buffer, Buffer):
            refuse(
                _KIND,
                f"binds has {kind_of(buffer)} in place of a buffer for {tensor}",
                "make a buffer by decl_buffer(T.shape, T.dtype, scope=...)",
            )
    return dict(binds or {})


def program(
    inp: Any,  # a Schedule, which is checked below
    args: Sequence[Tensor | Expr],
    name: str = "main",
    binds: Mapping[Tensor, Buffer] | None = None,
    *,
    target: str | Target | None = None,
) -> Program:
    """Return a schedule with everything that lowering needs: a program of stage ``te``.

    Its text is complete, so it can be stored, shared and reduced. :func:`parse` reads it back, and
    :func:`lower` and :func:`build` accept the result. The parameters are those of :func:`lower`.
    """
    if not isinstance(inp, Schedule):
        _refuse_kind(inp)
    if not isinstance(args, (list, tuple)):
        refuse(
            _KIND,
            f"args is {kind_of(args)}, not a list",
            "pass a list: args=[...], with the inputs and the tensors that the caller wants",
        )
    return _core.program(inp, list(args), _declared(binds), name, resolve(target))


def program_of(
    inp: Schedule | Program,
    args: Sequence[Tensor | Expr] | None,
    name: str,
    binds: Mapping[Tensor, Buffer] | None,
    target: str | Target | None,
) -> Program:
    """Return the argument if it is a program, otherwise the program of the schedule."""
    if not isinstance(inp, Program):
        return program(inp, args, name, binds, target=target)
    if args is not None or binds is not None:
        refuse(
            _ARGUMENTS,
            "args or binds is given with a program, which already has its arguments",
            "leave out args= and binds=",
        )
    if target is None or resolve(target) == inp._target:
        return inp
    scheduled = inp._for_target(resolve(target))
    if scheduled is None:
        refuse(
            _ARGUMENTS,
            f"the program was lowered for '{inp._target}', so it cannot be built for "
            f"'{resolve(target)}': its schedule is not kept",
            f"lower the schedule with target=, or build it for '{inp._target}'",
        )
    return scheduled


def _function_named(self: Program, name: str) -> Program:
    """Return the function of this name; a program is a module with one function."""
    if name != self.name:
        refuse(
            "UnknownName",
            f"the program has no function {name!r}",
            f"its only function is {self.name!r}",
        )
    return self


# Scripts index the result of lower like a module of functions.
Program.__getitem__ = _function_named


def lower(
    inp: Schedule | Program,
    args: Sequence[Tensor | Expr] | None = None,
    name: str = "main",
    binds: Mapping[Tensor, Buffer] | None = None,
    simple_mode: bool = False,
    *,
    target: str | Target | None = None,
) -> Program:
    """Lower a schedule to kernels and a launch plan. The result prints as text.

    If a stage is bound to no thread, the result has loops, at stage ``flattened``, which
    :func:`build` refuses.

    Parameters
    ----------
    inp : Schedule or Program
        Not modified. A program returned by :func:`parse`, :func:`program` or :func:`lower` has a
        name and arguments already; only `target` can be given with it.
    args : sequence of Tensor or Expr
        The parameters, in order: all inputs, and every tensor that the caller wants. If a tensor in
        the list is computed inside the loops of its reader, only the elements that the reader needs
        are written; a tensor that is inlined or never read is not written. Outputs that are omitted
        are temporaries. A variable, on which extents may depend, is passed as an integer.
    name : str
        Prefix of the kernels' names: ``<name>_kernel0``, ``<name>_kernel1`` and so on.
    binds : mapping of Tensor to Buffer, optional
        Declarations of parameters, for example in textures: see :func:`decl_buffer`.
    simple_mode : bool
        Accepted for the sake of existing scripts.
    target : str or Target, optional
        The target whose limits apply; by default the current one, or ``opencl``.

    Raises
    ------
    TVMError
        With a diagnostic at the line of the directive that caused it.
    """
    del simple_mode
    return _core.lower(program_of(inp, args, name, binds, target))


def lower_texts(
    inp: Schedule | Program,
    args: Sequence[Tensor | Expr] | None = None,
    name: str = "main",
    binds: Mapping[Tensor, Buffer] | None = None,
    *,
    target: str | Target | None = None,
) -> dict[str, str]:
    """Return the text of the program after each pass and step, by the name of the pass or step."""
    return dict(_core.lower_texts(program_of(inp, args, name, binds, target)))


def parse(text: str, file: str = "<text>") -> Program:
    """Parse the text of a program, as :func:`lower_texts` and ``str(program)`` return it.

    A schedule, which is a program of stage ``te``, can then be lowered.

    The form is that of ``docs/text_form.md``.

    Parameters
    ----------
    text : str
        The text of a program of any stage.
    file : str
        The file name used in messages.

    Raises
    ------
    TVMError
        With line and column, if the text is malformed or the program breaks a rule.
    """
    return _core.parse(text, file)


def build(
    inputs: Schedule | Program | Sequence[Program] | Mapping[str | Target, Program],
    args: Sequence[Tensor | Expr] | None = None,
    target: str | Target | None = None,
    target_host: Any = None,
    runtime: Any = None,
    name: str = "default_function",
    binds: Mapping[Tensor, Buffer] | None = None,
    *,
    checked: bool = False,
) -> Any:
    """Compile a schedule. No device is needed. Other parameters are those of :func:`lower`.

    No host code is compiled; `target_host` and `runtime` are accepted for compatibility.

    Parameters
    ----------
    inputs : Schedule, Program, list of Program, or mapping of targets to them
        Several programs returned by :func:`lower` become functions of the same names. A program
        that was lowered for another target is lowered again.
    checked : bool
        Whether kernels test every index that is not proven to be in range. A call then waits for
        the kernels, and raises a TVMError with the line of an access that was out of range. Such an
        access is skipped; a read returns zero. Accesses through pointers in foreign functions are
        not tested. A :class:`~texloom.transform.PassContext` with ``tir.instrument_bound_checkers``
        has the same effect.

    Returns
    -------
    Function or FunctionGroup
        A function; for a list or a mapping, the group of functions.

    Raises
    ------
    TVMError
        TL2040 (also a TypeError) if `inputs` is neither a schedule nor a program; TL3010 for
        arguments that do not fit; otherwise as for :func:`lower`.
    """
    del target_host, runtime
    checked = checked or PassContext.current().checks_accesses

    def built(inp: Schedule | Program, to: str | Target | None) -> Function:
        return _core.build(program_of(inp, args, name, binds, to), checked)

    if isinstance(inputs, (Mapping, list, tuple)) and not inputs:
        refuse(
            _ARGUMENTS,
            "there is no program to build",
            "give a schedule, or at least one lowered program",
        )
    if isinstance(inputs, Mapping):
        if target is not None:
            refuse(
                _ARGUMENTS,
                "target= is given with a mapping of targets to programs",
                "leave target= out",
            )
        return FunctionGroup([built(inp, to) for to, inp in inputs.items()])
    if isinstance(inputs, (list, tuple)):
        return FunctionGroup([built(inp, target) for inp in inputs])
    return built(inputs, target)


__all__ = ["build", "lower", "lower_texts", "parse", "program"]
check_calls(globals())
check_methods(Program)
