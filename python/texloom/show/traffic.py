"""Memory traffic of kernels, counted in the lowered program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from .. import _core, building
from .._core import Buffer, PlacedBuffer, Program, Schedule, Tensor
from ..checks.checked_calls import checked
from ..target import Target
from .units import size_text


@dataclass(frozen=True)
class Traffic:
    """The reads from a buffer, or the writes to it, by all threads of a launch.

    Attributes
    ----------
    kernel : str
        The name of the kernel.
    verb : "reads" or "writes"
        The direction.
    buffer : PlacedBuffer
        The buffer or texture, with its ``name`` and ``scope``.
    accesses : int or None
        The number of accesses; a vector or a texel counts as one. None if unbounded.
    bytes : int or None
        Bytes accessed, with all four lanes of each texel.
    exact : bool
        Whether the numbers are exact; otherwise they are upper bounds, because accesses depend on
        values in memory or on lanes of a vector.
    """

    kernel: str
    verb: Literal["reads", "writes"]
    buffer: PlacedBuffer
    accesses: int | None
    bytes: int | None
    exact: bool

    @property
    def times_its_size(self) -> float | None:
        """The bytes as a multiple of the buffer's size; None for shared memory."""
        if self.bytes is None or self.buffer.scope == "shared":
            return None
        return self.bytes / buffer_bytes(self.buffer)

    def __str__(self) -> str:
        name, scope = self.buffer.name, self.buffer.scope
        size = "unknown" if self.bytes is None else size_text(self.bytes)
        most = "at most " if self.bytes is not None and not self.exact else ""
        return f"{self.kernel} {self.verb} {name} ({scope}): {most}{size}"


def buffer_bytes(buffer: PlacedBuffer) -> int:
    """The bytes of a buffer's object, including padding."""
    return prod((buffer.rows, buffer.columns, buffer.lanes, buffer.element_bytes))


@checked
def traffic(
    inp: Schedule | Program,
    args: Sequence[Tensor] | None = None,
    *,
    binds: Mapping[Tensor, Buffer] | None = None,
    target: str | Target | None = None,
) -> list[Traffic]:
    """Count the reads and writes of a schedule's kernels, except those of private arrays.

    The accesses in the kernels' code are counted. Caches serve part of them, and the device's
    compiler may keep repeated reads in registers.

    Parameters
    ----------
    inp : Schedule or Program
        As for :func:`texloom.lower`, or a program of stage ``kernels``.
    args, binds, target
        As for :func:`texloom.lower`.

    Returns
    -------
    list of Traffic
        In the order of the kernels and, for each kernel, in the order of first use of the buffers.

    Raises
    ------
    TVMError
        As for :func:`texloom.lower`.
    ValueError
        For a program of another stage.
    """
    kernels = lowered(inp, args, binds, target)._kernels
    return [row for kernel in kernels for row in rows_of(kernel)]


def lowered(
    inp: Schedule | Program,
    args: Sequence[Tensor] | None,
    binds: Mapping[Tensor, Buffer] | None,
    target: str | Target | None,
) -> Program:
    """Return the program of stage ``kernels``, lowered if necessary."""
    if isinstance(inp, Program) and inp.stage not in ("te", "kernels"):
        raise ValueError(
            f"the program {inp.name!r} is at stage {inp.stage}: give one of stage te or kernels"
        )
    if isinstance(inp, Program) and inp.stage == "kernels":
        if args is not None or binds is not None or target is not None:
            raise TypeError(
                "args, binds or target is given, but the program has them already: leave them out"
            )
        return inp
    return _core.lower_to_kernels(building.program_of(inp, args, "main", binds, target))


def rows_of(kernel: dict[str, Any]) -> list[Traffic]:
    """Return the rows of one kernel."""
    return [
        Traffic(kernel["name"], verb, buffer, **movement)
        for buffer, read, written in kernel["traffic"]
        for verb, movement in (("reads", read), ("writes", written))
        if buffer.scope != "local" and movement["accesses"] != 0
    ]
