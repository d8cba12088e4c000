"""The families of products and convolutions by tiles in shared memory, for GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from .... import _core, te
from ...._core import IterVar, Schedule, Tensor
from ....extents import are_known, likely, number_of
from ....profiles import DeviceProfile
from ...contraction import Contraction
from ...stages import inputs_of
from ..channels_last.layouts import is_channels_last
from ..family import Family, KernelTask, Scheduled
from .convolution_weights import OutputsLast
from .product_axes import convolution_axes
from .product_tiles import (
    LANES,
    SPARED,
    Limits,
    ProductTile,
    candidates,
    has_tiles,
    lanes_have_no_tests,
    seconds,
)
from .products import schedule_matrices, schedule_product


@dataclass(frozen=True)
class Product:
    """The facts of ``[batch, rows, steps] @ [batch, steps, columns]``."""

    batch: int
    rows: int
    columns: int
    steps: int
    limits: Limits


@dataclass(frozen=True)
class ConvolvedProduct(Product):
    """The facts of a convolution: those of its product, and which pixels a window has.

    Attributes
    ----------
    window : tuple of int
        Extents of the filter.
    pixels : tuple of int
        The shape of the padded images, which tells strides and dilations.
    dtype : str
        Of the pixels.
    """

    window: tuple[int, ...]
    pixels: tuple[int, ...]
    dtype: str


class SharedTiles(Family[Product, ProductTile]):
    """Sums in float32 of products, on devices with fast shared memory."""

    is_estimated = True

    def points(self, facts: Product) -> Iterator[tuple[ProductTile, str | None]]:
        """Return tiles of measured efficiency, with the most steps that fit shared memory."""
        return candidates(facts.steps, facts.limits)

    def seconds(self, facts: Product, knobs: ProductTile, profile: DeviceProfile) -> float:
        """Return the estimate of :func:`.product_tiles.seconds`, and what a second launch costs."""
        spent = seconds(knobs, facts.batch, facts.rows, facts.columns, facts.steps, profile)
        if facts.limits.has_fence and knobs.pieces > 1 and not knobs.has_one_kernel:
            spent += SPARED * profile.launch_seconds
        return spent


class SharedProducts(SharedTiles):
    """Products of row-major matrices."""

    name = "products in shared memory"

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
        """Return the tiles whose lanes need no tests."""
        for tile, broken in super().points(facts):
            if lanes_have_no_tests(tile, facts.rows, facts.columns, facts.steps):
                yield tile, broken
            else:
                yield tile, "lanes with tests"

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


class SharedConvolutions(OutputsLast, SharedTiles):
    """Convolutions with channels last, as products of the pixels of windows and the weights."""

    name = "convolutions in shared memory"

    def facts_of(self, task: KernelTask) -> ConvolvedProduct | None:
        """Return the extents; None for groups, and for channels that are no vectors.

        The pixels that are read must have channels last, so that threads copy neighbors. Extents
        that only a call knows are left to other families, as tiles are whole.
        """
        sums, root = task.sums, task.root
        assert sums is not None
        if task.target.is_cpu or not task.profile.has_fast_shared_memory:
            return None
        reduced = [axis.dom.extent for axis in sums.op.reduce_axis]
        if sums.dtype != "float32" or not are_known((*sums.shape, *root.shape, *reduced)):
            return None
        axes = convolution_axes(task, LANES, LANES)
        if axes is None or not _reads_channels_last(task):
            return None
        rows, columns, steps = prod(axes.row_extents), int(root.shape[1]), prod(map(int, reduced))
        if not has_tiles(rows, columns, steps):
            return None
        pixels = sums.op.input_tensors[0]
        return ConvolvedProduct(
            int(root.shape[0]),
            rows,
            columns,
            steps,
            Limits.of(task.target),
            tuple(map(int, reduced[1:])),
            tuple(map(int, pixels.shape)),
            pixels.dtype,
        )

    def apply(self, s: Schedule, task: KernelTask, knobs: ProductTile) -> Scheduled:
        """Schedule a convolution, its padding, and later stages of the same kernel."""
        sums = task.sums
        assert sums is not None
        axes = convolution_axes(task, LANES, LANES)
        assert axes is not None
        padded = [each.op for each in sums.op.input_tensors if isinstance(each.op, te.ComputeOp)]
        for each in padded:
            s[each].compute_inline()
        thread = schedule_matrices(s, sums, task.root, axes, knobs)
        return Scheduled(task.root, thread, {sums.op, task.root.op, *padded})


def _reads_channels_last(task: KernelTask) -> bool:
    """Whether all images that a convolution reads have channels last, as far as it is known."""
    assert task.sums is not None
    pixels = task.sums.op.input_tensors[0]
    images = (each for each in inputs_of(pixels) if prod(map(int, each.shape[2:])) > 1)
    scopes = (task.scopes.get(each.op) for each in images)
    return all(scope is None or is_channels_last(scope) for scope in scopes)


PRODUCTS, CONVOLUTIONS = SharedProducts(), SharedConvolutions()

__all__ = [
    "CONVOLUTIONS",
    "PRODUCTS",
    "ConvolvedProduct",
    "Product",
    "SharedConvolutions",
    "SharedProducts",
]
