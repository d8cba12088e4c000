"""The family of products of matrices by tiles in shared memory, for GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from .... import _core
from ...._core import IterVar, Schedule, Tensor
from ....extents import likely, number_of
from ....profiles import DeviceProfile
from ...contraction import Contraction
from ..family import Family, KernelTask, Scheduled
from .products import (
    SPARED,
    Limits,
    ProductTile,
    candidates,
    has_tiles,
    lanes_have_no_tests,
    schedule_product,
    seconds,
)


@dataclass(frozen=True)
class Product:
    """The facts of ``[batch, rows, steps] @ [batch, steps, columns]``."""

    batch: int
    rows: int
    columns: int
    steps: int
    limits: Limits


class SharedProducts(Family[Product, ProductTile]):
    """Products of row-major matrices of float32, on devices with fast shared memory."""

    name = "products in shared memory"
    is_estimated = True

    def facts_of(self, task: KernelTask) -> Product | None:
        """Return the extents; None if no tiles are possible or if there are few rows or columns."""
        sums, root, target = task.sums, task.root, task.target
        assert sums is not None
        if target.is_cpu or len(root.shape) != len(sums.shape):
            return None
        if not task.profile.has_fast_shared_memory:
            return None
        if not _are_of_matrices(sums) or sums.dtype != "float32":
            return None
        *batch, rows, columns = (likely(extent) for extent in sums.shape)
        steps, written = (number_of(n) for n in (sums.op.reduce_axis[0].dom.extent, root.shape[-1]))
        if steps is None or written is None or written != number_of(sums.shape[-1]):
            return None
        if not has_tiles(rows, columns, steps):
            return None
        return Product(prod(batch), rows, columns, steps, Limits.of(target))

    def points(self, facts: Product) -> Iterator[tuple[ProductTile, str | None]]:
        """Return tiles of measured efficiency, with the most steps that fit shared memory."""
        for tile, broken in candidates(facts.steps, facts.limits):
            if lanes_have_no_tests(tile, facts.rows, facts.columns, facts.steps):
                yield tile, broken
            else:
                yield tile, "lanes with tests"

    def seconds(self, facts: Product, knobs: ProductTile, profile: DeviceProfile) -> float:
        """Return the estimate of :func:`.products.seconds`, with what a second launch costs."""
        spent = seconds(knobs, facts.batch, facts.rows, facts.columns, facts.steps, profile)
        if facts.limits.has_fence and knobs.pieces > 1 and not knobs.has_one_kernel:
            spent += SPARED * profile.launch_seconds
        return spent

    def apply(self, s: Schedule, task: KernelTask, knobs: ProductTile) -> Scheduled:
        """Schedule a product, and later stages of the same kernel."""
        assert task.sums is not None
        thread = schedule_product(s, task.sums, task.root, knobs)
        return Scheduled(task.root, thread, {task.sums.op, task.root.op})


def _are_of_matrices(sums: Tensor) -> bool:
    """Whether sums are ``sum(a[..., i, k] * b[..., k, j], axis=k)``."""
    roles = Contraction.of(sums)
    axes, reduced = list(sums.op.axis), list(sums.op.reduce_axis)
    if roles is None or roles.is_convolution or roles.rows != len(axes) - 2 or len(reduced) != 1:
        return False
    if roles.rows_per_group < likely(sums.shape[-2]) or len(sums.op.input_tensors) != 2:
        return False
    loads = list(_core.loads_of(sums.op.body[0]))
    (k,), (row, column) = reduced, axes[-2:]

    def ends(load: Any, *variables: IterVar) -> bool:
        indices = list(load.indices)
        return len(indices) >= 2 and all(
            index.same_as(axis.var) for index, axis in zip(indices[-2:], variables, strict=True)
        )

    return len(loads) == 2 and ends(loads[0], row, k) and ends(loads[1], k, column)


PRODUCTS = SharedProducts()

__all__ = ["PRODUCTS", "Product", "SharedProducts"]
