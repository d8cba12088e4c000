"""The tasks of families, and what a family schedules of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from .... import te
from ...._core import IterVar, TargetValue, Tensor
from ....profiles import DeviceProfile, profile_of
from ..channels_last.layouts import is_channels_last


@dataclass(frozen=True, eq=False)
class KernelTask:
    """A kernel that a family may schedule, of one of the tasks of src/graph/task.h.

    Attributes
    ----------
    stages, outputs : sequence of Tensor
        All stages of the computation, producers first, and its outputs.
    root : Tensor
        The stage that the kernel writes.
    target : TargetValue
    sums : Tensor or None, optional
        The reduction that the kernel computes. None if the kernel is the whole computation.
    scopes : mapping of Operation to str, optional
        Where inputs and outputs are stored: scopes, or the texts of layouts.
    places : mapping of Operation to str, optional
        Where the stages are computed that no family schedules; see :class:`.places.Places`.
    facts : dict, optional
        What families have found out about the task; see :meth:`.family.Family.facts`.
    """

    stages: Sequence[Tensor]
    outputs: Sequence[Tensor]
    root: Tensor
    target: TargetValue
    sums: Tensor | None = None
    scopes: Mapping[te.Operation, str] = field(default_factory=dict)
    places: Mapping[te.Operation, str] = field(default_factory=dict, repr=False)
    facts: dict[object, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of_sums(cls, sums: Tensor, root: Tensor, target: TargetValue) -> KernelTask:
        """Return the task of sums of products alone, before it is known where inputs are stored."""
        return cls((sums, root), (root,), root, target, sums)

    def of_kernel(self, sums: Tensor, root: Tensor) -> KernelTask:
        """Return the task of a kernel of this computation."""
        return replace(self, sums=sums, root=root, facts={})

    @property
    def profile(self) -> DeviceProfile:
        """The profile by which times are estimated."""
        return profile_of(self.target)

    @property
    def has_channels_last(self) -> bool:
        """Whether an input or an output has its channels last."""
        return any(map(is_channels_last, self.scopes.values()))


@dataclass(frozen=True)
class Scheduled:
    """What :meth:`Family.apply` has scheduled.

    Attributes
    ----------
    root : Tensor
        The stage that the kernel writes.
    thread : IterVar
        The axis of `root` at which other stages may be computed.
    stages : set of Operation
        The stages that are scheduled, `root` among them.
    """

    root: Tensor
    thread: IterVar
    stages: Set[te.Operation]


__all__ = ["KernelTask", "Scheduled"]
