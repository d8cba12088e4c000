"""Reductions: ``sum``, ``max``, ``min``, and user-defined reducers.

A reducer is called in two ways: over axes, ``te.max(A[i, k], axis=k)``, and on values,
``te.max(x, y, z)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import reduce as _fold
from typing import Any

from .. import _core
from .._core import Expr, IterVar
from ..checks.checked_calls import check_calls
from ..errors import refuse
from .op import const

Operand = Any  # an expression, an axis, an indexed tensor or a number
OverAxes = Callable[[Any, "_core.ReductionDomain"], Any]
OfValues = Callable[[Any, Any], Any]


def _domain(axis: Any, where: Any, init: Any) -> _core.ReductionDomain:
    axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    if init is not None and not isinstance(init, (list, tuple)):
        init = [init]
    return _core.ReductionDomain(axes, where, init)


def _reducer(name: str, over_axes: OverAxes, of_values: OfValues, doc: str) -> Callable[..., Any]:
    def reducer(
        expr: Operand,
        *others: Operand,
        axis: IterVar | Sequence[IterVar] | None = None,
        where: Operand | None = None,
        init: Operand | None = None,
    ) -> Any:
        if axis is None and others and isinstance(others[0], (IterVar, list, tuple)):
            axis, *others = others
            if others:
                where, *others = others
            if others:
                init, *others = others
        if axis is not None:
            if others:
                refuse(
                    "BadCall",
                    f"{name} is called with several values and an axis",
                    "give either several values, or one value and its axis",
                )
            return over_axes(expr, _domain(axis, where, init))
        if not others:
            refuse(
                "BadCall",
                f"{name} is called with one value and no axis",
                "give a second value, or the axis= of a reduction",
            )
        return _fold(of_values, others, expr)

    reducer.__name__ = reducer.__qualname__ = name
    reducer.__doc__ = doc
    return reducer


_PARAMETERS = """

    Parameters
    ----------
    expr : Expr
        The expression to reduce, or the first of several values.
    others : Expr
        Further values; or `axis`, `where` and `init` by position.
    axis : IterVar or sequence of IterVar
        Reduce axes.
    where : Expr, optional
        A condition; points at which it does not hold are skipped.
    init : Expr, optional
        The initial value in place of the identity: a number, or an element of a tensor at the
        indices of the result. A list for a reduction of several values.

    Raises
    ------
    TVMError
        TL1004 for an axis that is none of a reduction, TL2043 for a value without an axis, and for
        several values with one.
    """

sum = _reducer(
    "sum",
    _core.reduce_sum,
    lambda a, b: _core.to_expr(a) + b,
    "The sum over reduce axes, or of several values." + _PARAMETERS,
)
max = _reducer(
    "max",
    _core.reduce_max,
    _core.max,
    "The maximum over reduce axes, or of several values. For a number and a NaN it is the number, "
    "as with C's ``fmax``. Over axes it starts from the lowest finite value of the type, which is "
    "the result if all values are NaN or minus infinity. :func:`texloom.ops.maximum` propagates "
    "both." + _PARAMETERS,
)
min = _reducer(
    "min",
    _core.reduce_min,
    _core.min,
    "The minimum over reduce axes, or of several values; NaN as for :func:`max`." + _PARAMETERS,
)


def comm_reducer(
    fcombine: Callable[[Any, Any], Any], fidentity: Callable[..., Any], name: str = "reduce"
) -> Callable[..., Any]:
    """Return a reducer with a function that combines two partial results.

    Parameters
    ----------
    fcombine : callable
        Takes two values and returns one; the order of application is unspecified. For a reduction
        of several values, such as an index and a value, both arguments and the result are lists.
    fidentity : callable
        Takes the dtype (of each value) and returns the initial value.
    name : str
        The name in texts.

    Returns
    -------
    callable
        ``reducer(expr, axis, where=None, init=None)``, and ``reducer(a, b, ...)`` on values. The
        reducer returns a tuple if `expr` is one, for a ``te.compute`` with several outputs.
    """
    first, second = (*inspect.signature(fcombine).parameters, "lhs", "rhs")[:2]

    def over_axes(expr: Any, domain: _core.ReductionDomain) -> Any:
        several = isinstance(expr, (list, tuple))
        sources = [_core.to_expr(e) for e in (expr if several else [expr])]
        dtypes = [source.dtype for source in sources]
        if several:
            left = [_core.var(f"{first}_{i}", dtype) for i, dtype in enumerate(dtypes)]
            right = [_core.var(f"{second}_{i}", dtype) for i, dtype in enumerate(dtypes)]
            results, identities = list(fcombine(left, right)), list(fidentity(*dtypes))
        else:
            left, right = [_core.var(first, *dtypes)], [_core.var(second, *dtypes)]
            results, identities = [fcombine(*left, *right)], [fidentity(*dtypes)]
        values = _by(name, left, right, results, identities, sources, domain)
        return tuple(values) if several else values[0]

    def of_values(a: Any, b: Any) -> Any:
        return fcombine(_value(a), _value(b))

    return _reducer(name, over_axes, of_values, f"The reducer {name!r}." + _PARAMETERS)


_by: Callable[..., list[Expr]] = _core.reduce_by


def _value(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else _core.to_expr(value)


prod = comm_reducer(lambda x, y: x * y, lambda dtype: const(1, dtype), name="prod")
prod.__doc__ = "The product over reduce axes, or of several values." + _PARAMETERS

__all__ = ["comm_reducer", "max", "min", "prod", "sum"]
check_calls(globals())
