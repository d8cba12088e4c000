"""Templates, and tasks: a template with arguments, for a target."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ... import te
from ..._core import Expr, Schedule, Tensor
from ...errors import refuse
from ...records.autotvm import TUNER
from ...records.foreign import family_of
from ...target import Target, resolve
from ...tuning.choices import Point
from ...tuning.declared import best_of, collect, has_best, is_collecting
from ...tuning.user_kernel import UserKernel, user_kernel
from .dispatcher import ApplyConfig, DispatchContext
from .flops import FlopCalculationError, compute_flop
from .space import ConfigEntity, ConfigSpace, InstantiationError

Scheduled = tuple[Schedule, Sequence[Tensor]]
Function = Callable[..., Scheduled]

_TEMPLATES: dict[str, Function] = {}
_TENSOR = "TENSOR"


def serialize_args(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return arguments as values that logs have: tensors as their shapes and dtypes.

    Raises
    ------
    TVMError
        TL2040 for arguments of other kinds than tensors, numbers, texts, and sequences of these.
    """
    return tuple(map(_serialized, args))


def _serialized(value: Any) -> Any:
    if isinstance(value, Tensor):
        return (_TENSOR, tuple(int(each) for each in value.shape), str(value.dtype))
    if isinstance(value, (tuple, list)):
        return serialize_args(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Expr) and hasattr(value, "value"):
        return value.value
    if hasattr(value, "item"):  # a number of NumPy
        return value.item()
    refuse(
        "BadArgument",
        f"an argument of a template is of the type {type(value).__name__}",
        "give tensors, numbers, texts, and tuples of these",
    )


def deserialize_args(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments of a call: placeholders in the place of tensors."""
    return tuple(
        te.placeholder(each[1], dtype=each[2])
        if isinstance(each, (tuple, list)) and len(each) == 3 and each[0] == _TENSOR
        else each
        for each in args
    )


def args_to_workload(args: Sequence[Any], task_name: str | None = None) -> tuple[Any, ...]:
    """Return the name of a template and its arguments, by which configurations are found."""
    own = serialize_args(args)
    return own if task_name is None else (task_name, *own)


class Task:
    """A template with arguments, for a target. :func:`create` makes it.

    Parameters
    ----------
    name : str
        Of the template.
    args : sequence
        Its arguments, as :func:`serialize_args` returns them.

    Attributes
    ----------
    name : str
    args : tuple
    kwargs : dict
        Empty: templates have no arguments by name.
    config_space : ConfigSpace
    target : Target or str or None
        A text for a target in a log that Texloom does not know.
    target_host : Any
    flop : float
        The operations that it takes; 0 if they are not known.
    """

    def __init__(self, name: str, args: Sequence[Any]) -> None:
        self.name, self.args, self.kwargs = name, tuple(args), {}
        self.config_space = ConfigSpace()
        self.target: Any = None
        self.target_host: Any = None
        self.flop = 0.0

    @property
    def workload(self) -> tuple[Any, ...]:
        """The name and the arguments, by which configurations are found."""
        return (self.name, *self.args)

    def func(self, *args: Any) -> Scheduled:
        """Call the template."""
        return _template(self.name)(*deserialize_args(args))

    def instantiate(self, config: ConfigSpace) -> Scheduled:
        """Return the schedule with a configuration, and its arguments.

        Whatever the template raises is raised here.

        Raises
        ------
        InstantiationError
            If the template calls ``cfg.raise_error``, or does not return a schedule.
        """
        with ApplyConfig(config):
            made = self.func(*self.args)
        if not config.valid():
            raise InstantiationError("; ".join(config.errors))
        return _scheduled(self.name, made)

    def kernel(self, seed: int = 0, limits: tuple[int, int] | None = None) -> UserKernel:
        """Return the kernel that is tuned. Parameters and errors are those of `user_kernel`."""
        space = self.config_space

        def make(point: Point) -> Scheduled:
            with self.target:
                return self.instantiate(space.config_of(point))

        return user_kernel(
            family_of(TUNER, self.name),
            [self.args, self.kwargs],  # as logs have them
            space.choices,
            make,
            resolve(self.target),
            seed=seed,
            limits=limits,
        )

    @cached_property
    def measured(self) -> UserKernel:
        """The kernel that builders and runners measure."""
        return self.kernel()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: :attr:`measured` is made again."""
        return {name: own for name, own in vars(self).items() if name != "measured"}

    def __repr__(self) -> str:
        return (
            f"Task(func_name={self.name}, args={self.args}, kwargs={self.kwargs}, "
            f"workload={self.workload})"
        )


def _scheduled(name: str, made: Any) -> Scheduled:
    if not isinstance(made, (tuple, list)) or len(made) != 2 or not isinstance(made[0], Schedule):
        raise InstantiationError(
            f"the template {name} returns no schedule with the list of its arguments"
        )
    return made[0], made[1]


def template(task_name: Any, func: Function | None = None) -> Any:
    """Declare a function as a template: it calls :func:`get_config` for its configuration.

    Where it is called, the current context says which configuration it gets
    (:func:`.apply_history_best`, :func:`texloom.tune.best`); a template that another one calls gets
    the configuration of that one.

    Parameters
    ----------
    task_name : str
        Another template of this name is replaced. A function is declared under its own name.
    func : callable, optional
        The function, unless this is a decorator. It returns a schedule, and the list of arguments.
    """
    if callable(task_name):
        return template(task_name.__name__, task_name)

    def decorate(function: Function) -> Function:
        _TEMPLATES[task_name] = function

        @functools.wraps(function)
        def call(*args: Any) -> Scheduled:
            context, target = DispatchContext.current, Target.current()
            config = None
            if target is not None and not isinstance(context, ApplyConfig):
                config = _best_config(task_name, args, target)
            if config is None:
                config = context.query(target, args_to_workload(args, task_name))
            with ApplyConfig(config):
                return function(*args)

        setattr(call, _NAME, task_name)
        return call

    return decorate if func is None else decorate(func)


_NAME = "__autotvm_name__"


def _best_config(name: str, args: Sequence[Any], target: Target) -> ConfigEntity | None:
    """Return the configuration of a context of :func:`texloom.tune.best`; None if it has none.

    If kernels are collected, this task is one of them.
    """
    if not has_best() and not is_collecting():
        return None
    task = create(name, args, target)
    point = best_of(task.measured)
    return None if point is None else task.config_space.config_of(point)


def _template(name: str) -> Function:
    if name not in _TEMPLATES:
        known = ", ".join(_TEMPLATES) or "none"
        refuse(
            "UnknownName",
            f"there is no template {name!r}",
            f"import the module that declares it; declared: {known}",
        )
    return _TEMPLATES[name]


def get_config() -> ConfigSpace:
    """Return the configuration of the template that calls this."""
    return DispatchContext.current.query(Target.current(), None)


def create(
    task_name: str | Callable[..., Any], args: Sequence[Any], target: Any, target_host: Any = None
) -> Task:
    """Return a task, whose space the template has declared.

    Parameters
    ----------
    task_name : str or callable
        A template, or its name.
    args : sequence
        Its arguments: tensors, numbers, texts, and tuples of these.
    target : str or Target
    target_host : Any
        Accepted for the sake of existing scripts: there is no host code to compile.

    Raises
    ------
    TVMError
        TL5016 for an unknown template, and whatever the template raises.
    """
    name = task_name if isinstance(task_name, str) else getattr(task_name, _NAME, None)
    if name is None:
        name = task_name.__name__
        template(name, task_name)
    task = Task(name, serialize_args(args))
    task.target, task.target_host = Target(target), target_host
    space = task.config_space
    with task.target, ApplyConfig(space):
        s, _ = _scheduled(name, task.func(*task.args))
    space.errors.clear()  # of the first value of each knob, while others are fine
    task.flop = space.flop or _flop(s)
    if is_collecting():
        collect(task.measured)
    return task


def _flop(s: Schedule) -> float:
    try:
        return compute_flop(s)
    except RuntimeError:
        return 0.0


def config_from_log(name: str, args: Sequence[Any], config: Mapping[str, Any]) -> Any:
    """Return a task and a configuration as a log has them; ValueError for others."""
    return Task(name, _tuples(args)), ConfigEntity.from_json_dict(config)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


__all__ = [
    "FlopCalculationError",
    "Task",
    "args_to_workload",
    "compute_flop",
    "config_from_log",
    "create",
    "deserialize_args",
    "get_config",
    "serialize_args",
    "template",
]
