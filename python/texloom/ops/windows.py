"""Windows that slide over the spatial axes of a tensor: their positions and their number.

Convolutions and pooling share this module. A tensor is ``[N, C, *spatial]``, with any number of
spatial axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import te
from .._core import IterVar, Tensor
from ..extents import Extent, is_at_most, number_of, plain, shape_of
from ..tir import PrimExpr
from .contraction import PADDED


@dataclass(frozen=True)
class Windows:
    """The windows of a convolution or of pooling, with one entry for each spatial axis.

    Attributes
    ----------
    kernel : tuple of int
        Elements of a window.
    strides : tuple of int
        Elements from one window to the next.
    dilations : tuple of int
        Elements from one element of a window to the next.
    begins, ends : tuple of int or Expr
        Elements of padding before and after the tensor; negative numbers cut elements off.
    ceil : bool
        Whether a last window may reach beyond the padding at the end, if the window begins before
        that end.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[Extent, ...]
    ends: tuple[Extent, ...]
    ceil: bool = False

    @classmethod
    def of(
        cls,
        kernel: Sequence[int],
        strides: Sequence[int] = (),
        pads: Sequence[Extent] = (),
        dilations: Sequence[int] = (),
        *,
        ceil: bool = False,
    ) -> Windows:
        """Return windows of these extents, given pads as ONNX orders them: begins, then ends.

        Empty sequences mean strides and dilations of 1, and no padding.

        Raises
        ------
        ValueError
            For sequences whose lengths do not match, and for entries that are not positive.
        """
        rank = len(kernel)
        strides = tuple(strides) or (1,) * rank
        dilations = tuple(dilations) or (1,) * rank
        pads = tuple(pads) or (0,) * (2 * rank)
        if len(strides) != rank or len(dilations) != rank or len(pads) != 2 * rank:
            raise ValueError(
                f"{rank} spatial axes need {rank} strides and dilations and {2 * rank} pads, not "
                f"{len(strides)}, {len(dilations)} and {len(pads)}"
            )
        if min((*kernel, *strides, *dilations), default=1) < 1:
            raise ValueError(
                f"kernel={tuple(kernel)}, strides={strides}, dilations={dilations} are not positive"
            )
        return cls(tuple(kernel), strides, dilations, pads[:rank], pads[rank:], ceil)

    def counts(self, extents: Sequence[Any]) -> tuple[Extent, ...]:
        """Return the number of windows along each axis, given the tensor's extents.

        Raises
        ------
        ValueError
            If not even one window fits.
        """
        made = tuple(self._count(axis, plain(extent)) for axis, extent in enumerate(extents))
        if any(isinstance(each, int) and each < 1 for each in made):
            raise ValueError(f"the window {self.kernel} does not fit into {tuple(extents)}")
        return made

    def _count(self, axis: int, extent: Extent) -> Extent:
        stride = self.strides[axis]
        padded = extent + self.begins[axis] + self.ends[axis]
        free = plain(padded - self.reach(axis))
        if not isinstance(free, int):
            if not self.ceil:
                return plain(free // stride + 1)
            beginning = (extent + self.begins[axis] + stride - 1) // stride
            return plain(te.min((free + stride - 1) // stride + 1, beginning))
        if free < 0 and not self.ceil:
            return 0
        if not self.ceil:
            return free // stride + 1
        count = -(-free // stride) + 1
        begins_outside = (count - 1) * stride >= extent + self.begins[axis]
        return count - 1 if begins_outside else count

    def trimmed(self, extents: Sequence[Extent]) -> tuple[Windows, tuple[slice, ...]]:
        """Return windows without their outer elements that all windows read from the padding.

        Their number is the same. Such elements are those of large dilations in small tensors. Not
        for `ceil`, where the padding before a tensor decides whether a last window is one.

        Parameters
        ----------
        extents : sequence of int or Expr
            The tensor's extents along the spatial axes; axes that are not known stay whole.

        Returns
        -------
        windows : Windows
        kept : tuple of slice
            The elements of the kernel that they have, along each axis.
        """
        assert not self.ceil
        axes = [self._trimmed(axis, plain(extent)) for axis, extent in enumerate(extents)]
        kernel = tuple(kept.stop - kept.start for kept, _, _ in axes)
        begins, ends = (tuple(axis[i] for axis in axes) for i in (1, 2))
        made = replace(self, kernel=kernel, begins=begins, ends=ends)
        return made, tuple(kept for kept, _, _ in axes)

    def _trimmed(self, axis: int, extent: Extent) -> tuple[slice, Extent, Extent]:
        """Return the elements of an axis that some window reads inside, and the padding left."""
        first, last = 0, self.kernel[axis] - 1
        begin, end, step = self.begins[axis], self.ends[axis], self.dilations[axis]
        is_known = all(isinstance(each, int) for each in (extent, begin, end))
        if is_known and self._count(axis, extent) > 0:
            while first < last and step <= begin and not self._meets_tensor(axis, first, extent):
                first, begin = first + 1, begin - step
            while first < last and step <= end and not self._meets_tensor(axis, last, extent):
                last, end = last - 1, end - step
        return slice(first, last + 1), begin, end

    def _meets_tensor(self, axis: int, element: int, extent: int) -> bool:
        """Whether an element of a window is inside of the tensor for at least one window."""
        place = element * self.dilations[axis] - self.begins[axis]
        window = max(0, -(place // self.strides[axis]))
        inside = place + window * self.strides[axis] < extent
        return inside and window < self._count(axis, extent)

    @property
    def are_elements(self) -> bool:
        """Whether each window is one element, and the windows are all elements of the tensor."""
        is_one = {1} == {*self.kernel, *self.strides}
        return is_one and all(number_of(each) == 0 for each in (*self.begins, *self.ends))

    def reach(self, axis: int) -> int:
        """Return the extent of a window along an axis, including the gaps of its dilation."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1

    def axes(self) -> list[IterVar]:
        """Return a reduce axis for each axis of the window."""
        return [te.reduce_axis((0, extent), name=f"k{i}") for i, extent in enumerate(self.kernel)]

    def positions(self, window: Sequence[Any], element: Sequence[Any]) -> list[PrimExpr]:
        """Return the indices of an element of a window in the result of :meth:`pad`."""
        return [
            w * stride + e * dilation
            for w, e, stride, dilation in zip(
                window, element, self.strides, self.dilations, strict=True
            )
        ]

    def phases(self) -> int:
        """Return the number of distinct remainders of a window's columns by the last stride."""
        stride, dilation = self.strides[-1], self.dilations[-1]
        return 1 + max(k * dilation % stride for k in range(self.kernel[-1]))

    def pad_by_phase(
        self, x: Tensor, value: Any, dtype: str | None, counts: Sequence[int]
    ) -> Tensor:
        """Return the result of :meth:`pad` with the columns of each phase together.

        Columns with equal remainders by the stride are contiguous, and so are the corresponding
        elements of consecutive windows. The result is ``[N, C, ..., phases, columns]``, with the
        indices that :meth:`positions_by_phase` returns.
        """
        stride = self.strides[-1]
        columns = counts[-1] + (self.reach(len(counts) - 1) - 1) // stride
        whole = self.pad(x, value, dtype, counts, stride * columns)
        shape = (*whole.shape[:-1], self.phases(), columns)
        return te.compute(
            shape,
            lambda *i: whole(*i[:-2], i[-1] * stride + i[-2]),
            name="phases",
            tag=PADDED,
        )

    def positions_by_phase(self, window: Sequence[Any], element: Sequence[Any]) -> list[PrimExpr]:
        """Return the indices of an element of a window in the result of :meth:`pad_by_phase`."""
        *rows, _ = self.positions(window, element)
        stride = self.strides[-1]
        place = element[-1] * self.dilations[-1]
        return [*rows, te.indexmod(place, stride), window[-1] + te.indexdiv(place, stride)]

    def pad(
        self,
        x: Tensor,
        value: Any,
        dtype: str | None = None,
        counts: Sequence[int] | None = None,
        columns: int | None = None,
    ) -> Tensor:
        """Return `x` with `value` around it, as far as the windows reach, in another dtype.

        There may be more windows than :meth:`counts` returns, and more columns than the windows
        reach.
        """
        reached = [
            plain((count - 1) * self.strides[axis] + self.reach(axis))
            for axis, count in enumerate(counts or self.counts(x.shape[2:]))
        ]
        if columns is not None:
            reached[-1] = columns
        return padded(x, self.begins, reached, value, dtype)


def padded(
    x: Tensor,
    begins: Sequence[Extent],
    extents: Sequence[Extent],
    value: Any,
    dtype: str | None = None,
) -> Tensor:
    """Return a tensor with `value` around its spatial axes.

    Parameters
    ----------
    x : Tensor
        ``[N, C, *spatial]``.
    begins : sequence of int or Expr
        Elements before each spatial axis; negative numbers cut elements off.
    extents : sequence of int or Expr
        The spatial extents of the result.
    value : int or float
    dtype : str, optional
        The element type of the result; by default that of `x`.

    Returns
    -------
    Tensor
        ``[N, C, *extents]``.
    """
    dtype = dtype or x.dtype
    spatial = shape_of(x)[2:]
    ends_outside = [
        not is_at_most(reached - begin, extent)
        for begin, reached, extent in zip(begins, extents, spatial, strict=True)
    ]
    begins_outside = [not is_at_most(begin, 0) for begin in begins]
    is_wider = any(begins_outside) or any(ends_outside)

    def element(*indices: Any) -> Any:
        own = [
            i if number_of(begin) == 0 else i - begin
            for i, begin in zip(indices[2:], begins, strict=True)
        ]
        inside = []
        for i, extent, *is_outside in zip(own, spatial, begins_outside, ends_outside, strict=True):
            inside += [i >= 0] if is_outside[0] else []
            inside += [i < extent] if is_outside[1] else []
        read = x(*indices[:2], *own)
        read = read if dtype == x.dtype else read.astype(dtype)
        return te.if_then_else(te.all(*inside), read, te.const(value, dtype)) if inside else read

    tag = PADDED if is_wider else ""
    return te.compute((*x.shape[:2], *extents), element, name="padded", tag=tag)


__all__ = ["Windows", "padded"]
