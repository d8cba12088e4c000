"""Families of schedules, and the choice of knobs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ...._core import Schedule
from ....profiles import DeviceProfile
from .space import F, K, Space, Spaces
from .task import KernelTask, Scheduled


class Family(Spaces[F, K]):
    """A family of schedules; docs/schedule_families.md shows how to add one.

    Attributes
    ----------
    reads_computed : bool
        Whether its kernels may compute what their sums read, not only load it.
    """

    reads_computed = True

    @abstractmethod
    def facts_of(self, task: KernelTask) -> F | None:
        """Return the facts of a task; None if the family does not suit it."""

    def facts(self, task: KernelTask) -> F | None:
        """Return the result of :meth:`facts_of`, which a task remembers."""
        if self not in task.facts:
            task.facts[self] = self.facts_of(task)
        found: F | None = task.facts[self]
        return found

    @abstractmethod
    def apply(self, s: Schedule, task: KernelTask, knobs: K) -> Scheduled:
        """Schedule the kernel of a task. Any knobs of :meth:`space` give right results.

        Stages between those that the family schedules must be inlined.
        """

    def weight_layout(self, task: KernelTask, knobs: K) -> str | None:
        """Return the layout in which the kernel reads the last input of the sums fastest.

        Constants are stored so. None stands for row-major order.
        """
        del task, knobs
        return None

    def space(self, task: KernelTask) -> Space[K]:
        """Return the knobs for a task: none if the family does not suit it."""
        facts = self.facts(task)
        return Space.of(() if facts is None else self.points(facts))

    def estimate(
        self, task: KernelTask, knobs: K, profile: DeviceProfile | None = None
    ) -> float | None:
        """Return the seconds that a kernel is estimated to take; None without estimates.

        By default, the profile is that of the task's target.
        """
        facts = self.facts(task)
        if facts is None or not self.is_estimated:
            return None
        return self.seconds(facts, knobs, profile or task.profile)

    def default(self, task: KernelTask) -> K | None:
        """Return the knobs of :meth:`best` for a task; None if the family has none for it."""
        facts = self.facts(task)
        return None if facts is None else self.best(facts, task.profile)


Choose = Callable[[Family[Any, Any], KernelTask], Any]
"""``choose(family, task)``: the knobs for a task that the family suits."""


def default_knobs(family: Family[Any, Any], task: KernelTask) -> Any:
    """Return the default of a family for a task."""
    return family.default(task)


__all__ = ["Choose", "Family", "default_knobs"]
