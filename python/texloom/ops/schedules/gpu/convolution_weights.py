"""The layout of a convolution's weights, for families of GPUs."""

from __future__ import annotations

from typing import Any

from ..channels_last.layouts import weight_layout
from ..family import KernelTask


class OutputsLast:
    """A part of families whose threads read the weights of neighboring output channels."""

    def weight_layout(self, task: KernelTask, knobs: Any) -> str | None:
        """Return the layout of weights with output channels last."""
        del knobs
        assert task.sums is not None
        return weight_layout(len(task.sums.op.input_tensors[1].shape))


__all__ = ["OutputsLast"]
