"""The kernels of a node with a schedule function of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .. import _core
from .._core import TargetValue
from .node_functions import ScheduleFunction, scheduled


@dataclass(frozen=True)
class GivenKernels:
    """The user's schedules of a node; they depend on the target."""

    schedule: ScheduleFunction
    computation: _core._Computation
    scopes: Mapping[str, tuple[str, ...]]
    costs: Mapping[str, float]
    fold_share: float | None

    def alternatives(self, name: str, target: TargetValue) -> list[_core._Alternative]:
        """Return a schedule for each combination of scopes."""
        return [
            _core._Alternative(
                label,
                scheduled(f"the node {name!r}", self.schedule, self.computation, each, target),
                self.costs.get(label),
                self.fold_share,
            )
            for label, each in self.scopes.items()
        ]


__all__ = ["GivenKernels"]
