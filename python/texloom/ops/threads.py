"""Threads for statements, one for each element."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import te
from ..extents import Extent, plain

_BLOCK = 64


@contextmanager
def each_thread(ib: Any, count: Extent, block_size: int = _BLOCK) -> Iterator[Any]:
    """Run the statements of the ``with`` on `count` threads; ``as`` names a thread's number.

    Blocks have up to `block_size` threads; choose fewer if a thread takes long. No statement may
    follow in the builder.
    """
    threads = min(block_size, count) if isinstance(count, int) else block_size
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    ib.scope_attr(block, "thread_extent", plain((count + (threads - 1)) // threads))
    ib.scope_attr(thread, "thread_extent", threads)
    number = block * threads + thread
    if isinstance(count, int) and count % threads == 0:
        yield number
        return
    with ib.if_scope(number < count):
        yield number


__all__ = ["each_thread"]
