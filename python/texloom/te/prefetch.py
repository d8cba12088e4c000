"""The directive that brings elements into a processor's caches before they are read."""

from __future__ import annotations

from .._core import IterVar, Stage, Tensor


def _prefetch(self: Stage, tensor: Tensor, var: IterVar, offset: int) -> None:
    """Prefetch what a loop will read some iterations later.

    On processors (targets ``llvm``) each iteration begins with a prefetch of every line of a cache
    in the box of the tensor's elements that the iteration ``offset`` later reads. Devices ignore
    it: they hide the latency of memory by other threads.

    Parameters
    ----------
    tensor : Tensor
        What the loop reads: an array in global memory.
    var : IterVar
        A loop of this stage. It is not vectorized.
    offset : int
        The number of iterations ahead, at least 0.

    Raises
    ------
    TVMError
        TL2005 if the axis is not a loop of this stage; at ``lower``, TL2034 if the offset is not an
        integer of at least 0. TL3021 warns of a prefetch without effect.
    """
    self.pragma(var, f"prefetch_{tensor.name}", offset)


Stage.prefetch = _prefetch
