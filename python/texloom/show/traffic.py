"""What kernels read and write, counted in the lowered program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from .. import _core, driver
from .._core import Buffer, PlacedBuffer, Program, Schedule, Tensor
from ..checked_calls import checked
from ..target import Target
from .units import size_text


@dataclass(frozen=True)
class Traffic:
    """What all threads of one launch read from one buffer, or write to it.

    Attributes
    ----------
    kernel : str
        Its name.
    verb : "reads" or "writes"
        Which of the two.
    buffer : PlacedBuffer
        The buffer or texture, with its ``name`` and ``scope``.
    accesses : int or None
        A vector that is accessed at once, or a texel, is one. None where nothing bounds it.
    bytes : int or None
        All four lanes of each texel among them.
    exact : bool
        Otherwise there are at most so many: values in memory decide, or lanes of a vector.
    """

    kernel: str
    verb: Literal["reads", "writes"]
    buffer: PlacedBuffer
    accesses: int | None
    bytes: int | None
    exact: bool

    @property
    def times_its_size(self) -> float | None:
        """The bytes, in those of the whole buffer; None of memory that each block has."""
        if self.bytes is None or self.buffer.scope == "shared":
            return None
        return self.bytes / buffer_bytes(self.buffer)

    def __str__(self) -> str:
        name, scope = self.buffer.name, self.buffer.scope
        size = "unknown" if self.bytes is None else size_text(self.bytes)
        most = "at most " if self.bytes is not None and not self.exact else ""
        return f"{self.kernel} {self.verb} {name} ({scope}): {most}{size}"


def buffer_bytes(buffer: PlacedBuffer) -> int:
    """Of a buffer's object, padding included."""
    return prod((buffer.rows, buffer.columns, buffer.lanes, buffer.element_bytes))


@checked
def traffic(
    inp: Schedule | Program,
    args: Sequence[Tensor] | None = None,
    *,
    binds: Mapping[Tensor, Buffer] | None = None,
    target: str | Target | None = None,
) -> list[Traffic]:
    """Count what the kernels of a schedule read and write, private arrays left out.

    It is what the kernels ask for, as they are written: caches serve part of it, and the device's
    compiler may keep in a register what a kernel reads twice.

    Parameters
    ----------
    inp : Schedule or Program
        As of :func:`texloom.lower`, or a program of stage ``kernels``.
    args, binds, target
        As of :func:`texloom.lower`.

    Returns
    -------
    list of Traffic
        In the order of the kernels, and of each as it first names its buffers.

    Raises
    ------
    TVMError
        What :func:`texloom.lower` refuses.
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
    """The program of stage ``kernels``: what is given, or what it is lowered to."""
    if isinstance(inp, Program) and inp.stage not in ("te", "kernels"):
        raise ValueError(
            f"the program {inp.name!r} is at stage {inp.stage}: give one of stage te or kernels"
        )
    if isinstance(inp, Program) and inp.stage == "kernels":
        if args is not None or binds is not None or target is not None:
            raise TypeError("a program has its arguments and its target already")
        return inp
    return _core.lower_to_kernels(driver.program_of(inp, args, "main", binds, target))


def rows_of(kernel: dict[str, Any]) -> list[Traffic]:
    """The rows of one kernel."""
    return [
        Traffic(kernel["name"], verb, buffer, **movement)
        for buffer, read, written in kernel["traffic"]
        for verb, movement in (("reads", read), ("writes", written))
        if buffer.scope != "local" and movement["accesses"] != 0
    ]
