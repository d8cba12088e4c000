"""Kernels that use one thing of a device as fully as possible, for :mod:`.device_profile`.

Their loops have as many steps as a call says, so that one kernel suits slow and fast devices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import building, te, tir
from .._core import Function, Tensor
from ..target import Target
from ..tir.buffer import decl_buffer

LANES = 4  # of a texel
CHAINS = 4  # independent fused products of a thread, as of a small tile
UNROLLED = 4  # steps without a test of the loop between them
THREADS = 64  # of a block
LINE = 32  # elements between the links of a chain: no two are in one line of a cache
TEXELS = 256  # in a row of a texture
MOST_ROWS = 8192  # of a texture: arrays with more are folded, which kernels would have to know
_MULTIPLIER, _ADDEND = 1021, 12345  # of a sequence modulo 2^n that has all numbers


class _Body:
    """The statements of a kernel that are alike in all: threads, loops, and vectors."""

    def __init__(self, blocks: Any, threads: int = THREADS) -> None:
        self.ib = tir.ir_builder.create()
        self.block, self.thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        self.ib.scope_attr(self.block, "thread_extent", blocks)
        self.ib.scope_attr(self.thread, "thread_extent", threads)
        self.number = self.block * threads + self.thread

    def local(self, dtype: str, *shape: int, scope: str = "local") -> Any:
        return self.ib.allocate(dtype, shape, name="kept", scope=scope)

    def vector(self, lanes: int, statement: Callable[[Any], None]) -> None:
        if lanes == 1:
            statement(0)
            return
        with self.ib.for_range(0, lanes, name="lane", kind="vectorize") as lane:
            statement(lane)

    def repeat(self, steps: Any, statement: Callable[[Any, int], None]) -> None:
        """Emit a statement `steps` times, given its number and that within the unrolled ones."""
        with self.ib.for_range(0, steps // UNROLLED, name="step") as step:
            for i in range(UNROLLED):
                statement(step * UNROLLED + i, i)

    def sums(self, lanes: int, steps: Any, to: Any, element: Callable[[Any, Any], Any]) -> None:
        """Add up vectors, given the number of a step and a lane, and store the sum."""
        # As many sums as unrolled steps: one would wait for itself.
        total = self.local("float32", UNROLLED, lanes)
        for i in range(UNROLLED):
            self.vector(lanes, lambda lane, i=i: _set(total, (i, lane), te.const(0, "float32")))

        def step(k: Any, i: int) -> None:
            self.vector(
                lanes, lambda lane: _set(total, (i, lane), total[i, lane] + element(k, lane))
            )

        self.repeat(steps, step)
        for i in range(1, UNROLLED):
            self.vector(
                lanes, lambda lane, i=i: _set(total, (0, lane), total[0, lane] + total[i, lane])
            )
        self.vector(lanes, lambda lane: _set(to, (self.block, self.thread, lane), total[0, lane]))


def _built(
    name: str,
    shape: Sequence[Any],
    body: Callable[[Sequence[Any], Any], Any],
    target: Target,
    *,
    inputs: Sequence[Tensor] = (),
    dtype: str = "float32",
    numbers: Sequence[Any] = (),
    binds: Any = None,
) -> Function:
    """Build a kernel of the inputs, the output and the numbers, in this order."""
    out = te.extern(
        shape, list(inputs), lambda ins, outs: body(ins, outs[0]), dtype=dtype, name="y"
    )
    arguments = [*inputs, out, *numbers]
    return building.build(te.create_schedule(out.op), arguments, target, name=name, binds=binds)


def fmas(dtype: str, lanes: int, chains: int, threads: int, target: Target) -> Function:
    """Return ``f(out, steps)``: chains of x * a + b; a is close to 1 and b to 0, so x is finite."""
    blocks, steps = te.var("blocks"), te.var("steps")

    def body(_: Any, out: Any) -> Any:
        b = _Body(blocks, threads)
        to = b.ib.buffer_ptr(out)
        x = b.local(dtype, chains, lanes)
        for c in range(chains):
            b.vector(lanes, lambda lane, c=c: _set(x, (c, lane), (b.thread + c).astype(dtype)))

        def step(*_: Any) -> None:
            for c in range(chains):
                b.vector(
                    lanes,
                    lambda lane, c=c: _set(
                        x, (c, lane), x[c, lane] * te.const(0.999, dtype) + te.const(0.001, dtype)
                    ),
                )

        b.repeat(steps, step)
        for c in range(1, chains):
            b.vector(lanes, lambda lane, c=c: _set(x, (0, lane), x[0, lane] + x[c, lane]))
        b.vector(lanes, lambda lane: _set(to, (b.block, b.thread, lane), x[0, lane]))
        return b.ib.get()

    shape = (blocks, threads, lanes)
    return _built("fmas", shape, body, target, dtype=dtype, numbers=[steps])


def _set(array: Any, index: Any, value: Any) -> None:
    array[index] = value


def copies(lanes: int, target: Target) -> Function:
    """Return ``f(x, out)``, which copies vectors."""
    n = te.var("n")
    x = te.placeholder((n, lanes), name="x")
    out = te.compute((n, lanes), lambda i, lane: x[i, lane], name="copied")
    s = te.create_schedule(out.op)
    block, thread = s[out].split(out.op.axis[0], 256)
    s[out].bind(block, te.thread_axis("blockIdx.x"))
    s[out].bind(thread, te.thread_axis("threadIdx.x"))
    s[out].vectorize(out.op.axis[1])
    return building.build(s, [x, out], target, name="copies")


def reads(memory: str, lanes: int, target: Target) -> Function:
    """Return ``f(x, out, steps, apart, stride)``: all threads together read `x` again and again.

    Threads begin `apart` vectors apart, and go on by `stride` vectors. `memory` is ``"buffer"`` or
    ``"texture"``; `x` has ``[n, lanes]`` or ``[n, 256, 4]`` elements, and `n` is a power of two.
    """
    n, blocks, steps = te.var("n"), te.var("blocks"), te.var("steps")
    apart, stride = te.var("apart"), te.var("stride")
    shape = (n, lanes) if memory == "buffer" else (n, TEXELS, lanes)
    x = te.placeholder(shape, name="x")

    def body(ins: Any, out: Any) -> Any:
        b = _Body(blocks)
        source, to = b.ib.buffer_ptr(ins[0]), b.ib.buffer_ptr(out)

        def element(k: Any, lane: Any) -> Any:
            at = b.number * apart + k * stride
            place = (at & (n - 1),) if memory == "buffer" else (at // TEXELS & (n - 1), at % TEXELS)
            return source[(*place, lane)]

        b.sums(lanes, steps, to, element)
        return b.ib.get()

    binds = {x: decl_buffer(shape, "float32", scope="global.texture")}
    shape = (blocks, THREADS, lanes)
    return _built(
        f"reads_of_{memory}",
        shape,
        body,
        target,
        inputs=[x],
        numbers=[steps, apart, stride],
        binds=binds if memory == "texture" else None,
    )


def shared_reads(vectors: int, lanes: int, target: Target) -> Function:
    """Return ``f(out, steps, n)``: threads of each block read the first `n` of shared vectors.

    `n` is a power of two, and `vectors` are shared.
    """
    blocks, steps, n = te.var("blocks"), te.var("steps"), te.var("n")

    def body(_: Any, out: Any) -> Any:
        b = _Body(blocks)
        to = b.ib.buffer_ptr(out)
        source = b.local("float32", vectors, lanes, scope="shared")
        with b.ib.for_range(0, vectors // THREADS, name="turn") as turn:
            place = turn * THREADS + b.thread
            b.vector(lanes, lambda lane: _set(source, (place, lane), place.astype("float32")))
        b.sums(lanes, steps, to, lambda k, lane: source[(b.thread + k * THREADS) & (n - 1), lane])
        return b.ib.get()

    return _built("shared_reads", (blocks, THREADS, lanes), body, target, numbers=[steps, n])


def exchanges(target: Target) -> Function:
    """Return ``f(out, steps)``: in each step, threads exchange numbers, by two barriers."""
    blocks, steps = te.var("blocks"), te.var("steps")

    def body(_: Any, out: Any) -> Any:
        b = _Body(blocks)
        to = b.ib.buffer_ptr(out)
        shared = b.local("float32", THREADS, scope="shared")
        x = b.local("float32", 1)
        x[0] = b.thread.astype("float32")
        with b.ib.for_range(0, steps, name="step"):
            shared[b.thread] = x[0]
            x[0] = shared[(b.thread + 1) % THREADS]
        to[b.block, b.thread] = x[0]
        return b.ib.get()

    return _built("exchanges", (blocks, THREADS), body, target, numbers=[steps])


def links(target: Target) -> Function:
    """Return ``f(out)``, which makes a chain of all lines of `out`, of ``[2^n, LINE]`` elements."""
    n = te.var("n")

    def link(i: Any, j: Any) -> Any:
        return (i * _MULTIPLIER + _ADDEND + j * 0) & (n - 1)

    out = te.compute((n, LINE), link, name="links")
    s = te.create_schedule(out.op)
    block, row = s[out].split(out.op.axis[0], 8)
    s[out].bind(block, te.thread_axis("blockIdx.x"))
    s[out].bind(row, te.thread_axis("threadIdx.y"))
    s[out].bind(out.op.axis[1], te.thread_axis("threadIdx.x"))
    return building.build(s, [out], target, name="links")


def walks(target: Target) -> Function:
    """Return ``f(links, out, steps)``: a thread goes from one link of the chain to the next."""
    n, steps = te.var("n"), te.var("steps")
    chain = te.placeholder((n, LINE), "int32", name="chain")

    def body(ins: Any, out: Any) -> Any:
        b = _Body(1, 1)
        source, to = b.ib.buffer_ptr(ins[0]), b.ib.buffer_ptr(out)
        at = b.local("int32", 1)
        at[0] = te.const(0, "int32")
        b.repeat(steps, lambda *_: _set(at, 0, source[at[0], 0]))
        to[b.block] = at[0]
        return b.ib.get()

    return _built("walks", (1,), body, target, inputs=[chain], dtype="int32", numbers=[steps])


__all__ = [
    "CHAINS",
    "LANES",
    "LINE",
    "TEXELS",
    "THREADS",
    "UNROLLED",
    "copies",
    "exchanges",
    "fmas",
    "links",
    "reads",
    "shared_reads",
    "walks",
]
