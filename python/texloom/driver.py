"""From a schedule to a program and to a function that runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean, median, pstdev
from typing import Any, NoReturn

from . import _core
from ._core import (
    Buffer,
    Device,
    Expr,
    Function,
    NDArray,
    Operation,
    Program,
    Schedule,
    Tensor,
)
from .checked_calls import check_calls, check_methods
from .errors import MissingNameError, refuse
from .function_group import FunctionGroup
from .target import Target, resolve
from .transform import PassContext

_KIND, _ARGUMENTS = "BadDirectiveArgument", "BadArguments"


def _refuse_kind(inp: Any) -> NoReturn:
    """Of what is given in place of a schedule."""
    ways_out = {
        (Tensor, Operation): "make a schedule of it: s = te.create_schedule(C.op)",
        (list, tuple, Mapping): "lower each by itself; build takes several programs",
        Function: "it is compiled already: call it",
    }
    way_out = "make a schedule: s = te.create_schedule(C.op)"
    for kinds, text in ways_out.items():
        if isinstance(inp, kinds):
            way_out = text
    refuse(_KIND, f"a schedule or a program is lowered, no {type(inp).__name__}", way_out)


def _declared(binds: Mapping[Tensor, Buffer] | None) -> dict[Tensor, Buffer]:
    if binds is not None and not isinstance(binds, Mapping):
        refuse(
            _KIND, f"binds is a {type(binds).__name__}", "give {T: decl_buffer(T.shape, T.dtype)}"
        )
    for tensor, buffer in (binds or {}).items():
        if not isinstance(buffer, Buffer):
            refuse(
                _KIND,
                f"binds has a {type(buffer).__name__} for {tensor}",
                "make a buffer by decl_buffer(T.shape, T.dtype, scope=...)",
            )
    return dict(binds or {})


def program(
    inp: Any,  # a Schedule, which is looked at below
    args: Sequence[Tensor | Expr],
    name: str = "main",
    binds: Mapping[Tensor, Buffer] | None = None,
    *,
    target: str | Target | None = None,
) -> Program:
    """A schedule with all that lowering it needs: a program of stage ``te``.

    Its text is complete, so that it can be kept, shared and reduced: :func:`parse` reads it,
    :func:`lower` and :func:`build` take what it returns. Parameters as of :func:`lower`.
    """
    if not isinstance(inp, Schedule):
        _refuse_kind(inp)
    if not isinstance(args, (list, tuple)):
        refuse(
            _KIND,
            f"the arguments are given as a {type(args).__name__}",
            "pass a list: args=[...], of the inputs and of what the caller wants to see",
        )
    return _core.program(inp, list(args), _declared(binds), name, resolve(target))


def program_of(
    inp: Schedule | Program,
    args: Sequence[Tensor | Expr] | None,
    name: str,
    binds: Mapping[Tensor, Buffer] | None,
    target: str | Target | None,
) -> Program:
    """What is given, if it is a program, or that of the schedule."""
    if not isinstance(inp, Program):
        return program(inp, args, name, binds, target=target)
    if args is not None or binds is not None:
        refuse(_ARGUMENTS, "a program has its arguments already", "leave args= and binds= out")
    if target is None or resolve(target) == inp._target:
        return inp
    scheduled = inp._for_target(resolve(target))
    if scheduled is None:
        refuse(
            _ARGUMENTS,
            f"the program was lowered for {inp._target!r}, and its schedule is not kept",
            "lower the schedule with target=, or build it for that target",
        )
    return scheduled


def _function_named(self: Program, name: str) -> Program:
    """The function of this name: a program is a module of one."""
    if name != self.name:
        refuse(
            "UnknownName",
            f"the program has no function {name!r}",
            f"it has one: {self.name!r}",
        )
    return self


# What lower returns is, to scripts, a module of functions.
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
    """Lower a schedule to kernels and a launch plan; print the result to read it.

    Where something is bound to no thread the result are its loops, at stage ``flattened``:
    :func:`build` refuses them.

    Parameters
    ----------
    inp : Schedule or Program
        It is not changed. A program, as :func:`parse`, :func:`program` and :func:`lower` return
        it, has its name and arguments: nothing else is given then, but another target.
    args : sequence of Tensor or Expr
        The parameters, in order: all inputs, and every tensor that the caller wants to see. What
        is computed inside a reader is copied out from there, as far as readers ask for it; what
        is inlined or not read at all is not written. Outputs that are left out are temporaries. A
        variable, which extents may depend on, is passed as an integer.
    name : str
        Kernels are called ``<name>_kernel0``, ``<name>_kernel1`` and so on.
    binds : mapping of Tensor to Buffer, optional
        Parameters that lie in textures: see :func:`decl_buffer`.
    simple_mode : bool
        Accepted for the sake of existing scripts.
    target : str or Target, optional
        Whose limits hold; the current one, or ``opencl``, by default.

    Raises
    ------
    TVMError
        With a diagnostic that names the line of the directive at fault.
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
    """The text of the program after each pass, by the pass's name."""
    return dict(_core.lower_texts(program_of(inp, args, name, binds, target)))


def parse(text: str, file: str = "<text>") -> Program:
    """The program of a text, as :func:`lower_texts` and ``str`` of a program give it.

    A schedule, which is a program of stage ``te``, can then be lowered.

    The form is that of ``docs/text_form.md``.

    Parameters
    ----------
    text : str
        A program of any stage.
    file : str
        What messages call it.

    Raises
    ------
    TVMError
        With the line and the column, when the text is no program or the program breaks a rule.
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
    """Compile a schedule; needs no device. Other parameters as of :func:`lower`.

    What runs on the host is not compiled: `target_host` and `runtime` are accepted for the sake of
    existing scripts.

    Parameters
    ----------
    inputs : Schedule, Program, list of Program, or mapping of targets to them
        Of several programs, which :func:`lower` made, each is a function by its name. A program
        that was lowered for another target is lowered again.
    checked : bool
        Whether the kernels test every index that is not proven to lie inside its tensor. Then a
        call waits for them, and raises a TVMError with the line of an access that was
        outside. The access itself is left out: what was to be read is zero. What functions of C
        text do with pointers is not tested. A
        :class:`~texloom.transform.PassContext` with ``tir.instrument_bound_checkers`` asks for the
        same.

    Returns
    -------
    Function or FunctionGroup
        A function; of a list or a mapping, the group of its functions.

    Raises
    ------
    TVMError
        TL2040, a TypeError as well, for what is no schedule and no program; TL3010 for arguments
        that do not go with it; else as :func:`lower`.
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
            refuse(_ARGUMENTS, "the programs are given by their targets", "leave target= out")
        return FunctionGroup([built(inp, to) for to, inp in inputs.items()])
    if isinstance(inputs, (list, tuple)):
        return FunctionGroup([built(inp, target) for inp in inputs])
    return built(inputs, target)


@dataclass(frozen=True)
class TimeResult:
    """Seconds of one run each: the mean of `number` runs, `repeat` times."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Of all results."""
        return fmean(self.results)

    @property
    def median(self) -> float:
        """Of all results."""
        return median(self.results)

    @property
    def min(self) -> float:
        """The fastest."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The slowest."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return pstdev(self.results)


def _time_evaluator(
    self: Function,
    func_name: str,
    dev: Device,
    number: int = 10,
    repeat: int = 1,
    min_repeat_ms: float = 0,
    cooldown_interval_ms: float = 0,
    repeats_to_cooldown: int = 1,
    f_preproc: str = "",
) -> Callable[..., TimeResult]:
    """A function that runs this one `number` times, `repeat` times over, and returns the times.

    `number` is raised until one repetition takes `min_repeat_ms`. After every
    `repeats_to_cooldown` repetitions the device rests for `cooldown_interval_ms`. `f_preproc`,
    which names a function of TVM's runtime to be called in between, is refused.
    """
    if f_preproc:
        refuse(
            "NotProvided",
            f"f_preproc={f_preproc!r}: nothing is called between the runs, which are enqueued "
            "together",
            "vary the arguments between calls of the evaluator",
        )
    _named(self, func_name)

    def timed(runs: int, args: tuple[Any, ...]) -> float:
        dev.sync()
        begin = time.perf_counter()
        self.enqueue(runs, *args)
        dev.sync()
        return time.perf_counter() - begin

    def evaluate(*args: Any) -> TimeResult:
        if any(array.device != dev for array in args if isinstance(array, NDArray)):
            refuse(
                "WrongDevice",
                f"the arrays do not lie on {dev}, which is to be timed",
                "make them with device=, or copy them with copyto",
            )
        timed(1, args)  # a warm-up: kernels are built, memory is there
        runs = number
        while (seconds := timed(runs, args)) * 1e3 < min_repeat_ms:
            runs = max(2 * runs, ceil(runs * min_repeat_ms / 1e3 / max(seconds, 1e-9)))
        results = []
        for number_so_far in range(repeat):
            if number_so_far > 0 and number_so_far % repeats_to_cooldown == 0:
                time.sleep(cooldown_interval_ms / 1e3)
            results.append(timed(runs, args) / runs)
        return TimeResult(tuple(results))

    return evaluate


def _named(self: Function, name: str) -> Function:
    """The function of this name: the only one of the module."""
    if name not in (self.name, self.entry_name, "__tvm_main__"):
        refuse(
            "UnknownName",
            f"the module has no function {name!r}",
            f"it has one: {self.name!r}",
            MissingNameError,
        )
    return self


def _get_function(self: Function, name: str, query_imports: bool = False) -> Function:
    """The function of this name."""
    del query_imports
    return _named(self, name)


def _import_module(self: Function, module: Any) -> NoReturn:
    """Refused: a module holds what it was built from."""
    del module
    refuse(
        "NotProvided",
        f"import_module into {self.name!r}: a module holds the functions it was built of",
        "build the programs together: texloom.build([one, other]) is one module",
    )


# A compiled function is a module of one function, and the module of its kernels.
Function.entry_func = property(lambda self: self, doc="The function itself.")
Function.get_function = _get_function
Function.__getitem__ = _named
Function.imported_modules = property(lambda self: [self], doc="Where the kernels' source is.")
Function.import_module = _import_module
Function.time_evaluator = _time_evaluator

__all__ = ["build", "lower", "lower_texts", "parse", "program"]
check_calls(globals())
check_methods(Function, Program)
