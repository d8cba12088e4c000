"""Choices of knobs other than the defaults, by which tuners and reports see the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .family import Family
from .task import KernelTask

Kernel = tuple[Family[Any, Any], Any]
"""A family, and its facts of a task: kernels with equal facts have equal spaces."""


class Choice:
    """A choice of knobs that remembers the kernels it is asked for.

    Pass it as `choose` to :func:`.default.schedule_default`, or to
    :func:`texloom.graph.scheduler.alternatives_of`.

    Parameters
    ----------
    given : mapping of Kernel to knobs, optional
        The knobs of some kernels; others have their defaults.

    Attributes
    ----------
    kernels : dict of Kernel to KernelTask
        The kernels that are scheduled, in this order.
    """

    def __init__(self, given: Mapping[Kernel, Any] | None = None) -> None:
        self._given = dict(given or {})
        self.kernels: dict[Kernel, KernelTask] = {}

    def __call__(self, family: Family[Any, Any], task: KernelTask) -> Any:
        """Return the knobs of a kernel."""
        kernel = (family, family.facts(task))
        if task.scopes:  # otherwise only the layout of weights is asked for
            self.kernels[kernel] = task
        return self._given[kernel] if kernel in self._given else family.default(task)


__all__ = ["Choice", "Kernel"]
