"""Random externs: tensors written by a statement of ir_builder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .computation import Computation
from .extents import Extent, Shape, extent, listed
from .index_forms import Axis
from .stage import Stage

THREADS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y")


@dataclass
class Body:
    """The function that makes the statement, written line by line."""

    lines: list[str]
    depth: int = 1

    def add(self, text: str) -> None:
        """Write a line at the current depth."""
        self.lines.append("    " * self.depth + text)

    def open(self, text: str) -> None:
        """Open a ``with``, which encloses the lines up to close."""
        self.add(f"with {text}:")
        self.depth += 1

    def close(self, count: int = 1) -> None:
        """Close the last blocks."""
        self.depth -= count

    def thread(self, axis: Axis, tag: str) -> int:
        """Bind threads along the axis for the following lines; return the number of open blocks.

        A block has as many threads as the axis' largest extent; some of them may be idle.
        """
        guarded = axis.extent.is_symbolic and tag.startswith("threadIdx")
        count = axis.extent.most if guarded else axis.extent
        self.add(f'{axis.name} = te.thread_axis("{tag}")')
        self.add(f'ib.scope_attr({axis.name}, "thread_extent", {count})')
        if guarded:
            self.open(f"ib.if_scope({axis.name} < {axis.extent})")
        return int(guarded)


def threads_and_loops(c: Computation, body: Body, axes: list[Axis]) -> int:
    """Open loops over all axes, the first ones as threads; return the number of open blocks."""
    rng = c.rng
    bound = rng.randint(1, len(axes))
    tags = sorted(rng.sample(THREADS, min(bound, len(THREADS))))
    depth = sum(body.thread(axis, tag) for axis, tag in zip(axes, tags, strict=False))
    rest = axes[len(tags) :]
    for axis in rest:
        kind = rng.choice(["serial", "serial", "unroll", "vectorize", "parallel"])
        c.feature(f"extern: a loop that is {kind}")
        body.open(f'ib.for_range(0, {axis.extent}, kind="{kind}") as {axis.name}')
    return depth + len(rest)


def by_elements(c: Computation, body: Body, source: Stage, out: Stage) -> None:
    """Compute each element from reads at random places, under conditions."""
    rng = c.rng
    axes = [Axis(f"i{n}", length) for n, length in enumerate(out.shape)]
    depth = threads_and_loops(c, body, axes)

    def value() -> str:
        sources = [source] * rng.randint(1, 2)
        reads = [c.values.read(s, axes, out.dtype) for s in sources]
        made = c.values.combine(reads, out.dtype)
        if c.symbols and rng.random() < 0.2:
            made = c.values.with_symbol(made, rng.choice(c.symbols), out.dtype)
        out.magnitude = max(out.magnitude, made.magnitude)
        return made.text

    at = ", ".join(axis.name for axis in axes)
    if rng.random() < 0.3:
        c.feature("extern: let")
        body.add(f'value = ib.let("value", {value()})')
        body.add(f"Y[{at}] = value + te.const(1, '{out.dtype}')")
    else:
        body.add(f"Y[{at}] = {value()}")
    if rng.random() < 0.4:
        c.feature("extern: if and else")
        body.open(f"ib.if_scope({axes[-1].name} % 2 == 0)")
        body.add(f"Y[{at}] = {value()}")
        body.close()
        body.open("ib.else_scope()")
        body.add(f"Y[{at}] = Y[{at}] + te.const(2, '{out.dtype}')")
        body.close()
    body.close(depth)


def by_steps(c: Computation, body: Body, source: Stage, out: Stage) -> None:
    """Compute prefix sums along the last axis."""
    *rows, steps = [Axis(f"i{n}", length) for n, length in enumerate(out.shape)]
    tags = sorted(c.rng.sample(THREADS, min(max(1, len(rows)), len(THREADS))))
    rows = rows or [Axis("unit", extent(1))]
    depth = sum(body.thread(axis, tag) for axis, tag in zip(rows, tags, strict=False))
    for axis in rows[len(tags) :]:
        body.open(f"ib.for_range(0, {axis.extent}) as {axis.name}")
        depth += 1
    at = "".join(f"{axis.name}, " for axis in rows if axis.name != "unit")
    read = c.values.read(source, [*rows, steps], out.dtype)
    out.magnitude = read.magnitude * steps.extent.most
    body.add(f'total = ib.allocate("{out.dtype}", 1, name="total", scope="local")')
    body.add(f"total[0] = te.const(0, '{out.dtype}')")
    if c.rng.random() < 0.4:
        c.feature("extern: while")
        body.add('step = ib.allocate("int32", 1, name="step", scope="local")')
        body.add("step[0] = 0")
        body.open(f"ib.while_loop(step[0] < {steps.extent})")
        body.add(f'{steps.name} = ib.let("{steps.name}", step[0])')
        # The range of an index that is read from memory is unknown unless the index is clamped.
        body.add(f"{steps.name} = te.min(te.max({steps.name}, 0), {steps.extent - 1})")
        body.add(f"total[0] = total[0] + {read.text}")
        body.add(f"Y[{at}{steps.name}] = total[0]")
        body.add("step[0] = step[0] + 1")
    else:
        body.open(f"ib.for_range(0, {steps.extent}) as {steps.name}")
        body.add(f"total[0] = total[0] + {read.text}")
        body.add(f"Y[{at}{steps.name}] = total[0]")
    body.close(1 + depth)


def by_exchange(c: Computation, body: Body, source: Stage, out: Stage) -> None:
    """Exchange values between threads, through memory of the block or of the grid."""
    rng = c.rng
    axes = [Axis(f"i{n}", length) for n, length in enumerate(out.shape)]
    shared = rng.random() < 0.6
    read = c.values.read(source, axes, out.dtype)
    out.magnitude = read.magnitude
    c.feature(f"extern: exchange in {'shared' if shared else 'global'} memory")
    last = axes[-1]
    shape = [extent(last.extent.most)] if shared else out.shape
    if shared:
        for axis, dim in zip(axes[:-1], "xyz", strict=False):
            body.thread(axis, f"blockIdx.{dim}")
    scope = "shared" if shared else "global"
    body.add(f'tile = ib.allocate("{out.dtype}", {listed(shape)}, name="tile", scope="{scope}")')
    repeats = shared and c.rng.random() < 0.4
    if repeats:
        c.feature("extern: exchange in a loop")
        body.open("ib.for_range(0, 2)")
    own = [last] if shared else axes
    at = ", ".join(axis.name for axis in own)
    reversed_at = ", ".join([*(axis.name for axis in own[:-1]), f"{last.extent - 1} - {last.name}"])
    everywhere = ", ".join(axis.name for axis in axes)
    for statement in (f"tile[{at}] = {read.text}", f"Y[{everywhere}] = tile[{reversed_at}]"):
        body.open("ib.new_scope()")
        tags = ("threadIdx.x", *THREADS[:2], "blockIdx.z")
        guards = sum(body.thread(axis, tag) for axis, tag in zip(own, tags, strict=False))
        body.add(statement)
        body.close(1 + guards)
    body.close(int(repeats))


# The places of the two elements that thread t compares in round k; no other thread touches them.
PAIRS = {
    "neighbors": ("2 * t", "2 * t + 1"),
    "strided": ("t // 2 * 4 + t % 2", "t // 2 * 4 + t % 2 + 2"),
    "odd and even rounds": ("2 * t + k % 2", "2 * t + k % 2 + 1"),
    "halves": ("t", "t + half"),
}


def by_pairs(c: Computation, body: Body, source: Stage, out: Stage) -> None:
    """Compare and swap pairs of elements in rounds, as sorting networks do.

    A thread needs no barrier within a round; between rounds other threads have the elements.
    """
    rng = c.rng
    *rows, last = axes = [Axis(f"i{n}", length) for n, length in enumerate(out.shape)]
    shared = rng.random() < 0.6
    c.feature(f"extern: pairs in {'shared' if shared else 'global'} memory")
    for axis, dim in zip(rows, "xyz", strict=False):
        body.thread(axis, f"blockIdx.{dim}")
    row = "".join(f"{axis.name}, " for axis in rows)
    if shared:
        most = last.extent.most
        body.add(f'tile = ib.allocate("{out.dtype}", {most}, name="tile", scope="shared")')
    memory = "tile[" if shared else f"Y[{row}"
    body.add(f'kept = ib.allocate("{out.dtype}", 1, name="kept", scope="local")')
    read = c.values.read(source, axes, out.dtype)
    out.magnitude = read.magnitude + 1
    each_element(body, last, f"{memory}{last.name}] = {read.text}")
    for _ in range(rng.randint(1, 3)):
        swap_pairs(c, body, memory, last.extent, out.dtype)
    if shared:
        each_element(body, last, f"Y[{row}{last.name}] = tile[{last.name}]")


def each_element(body: Body, axis: Axis, statement: str) -> None:
    """Run a statement for each element of the axis, in a thread."""
    body.open("ib.new_scope()")
    guards = body.thread(axis, "threadIdx.x")
    body.add(statement)
    body.close(1 + guards)


def swap_pairs(c: Computation, body: Body, memory: str, length: Extent, dtype: str) -> None:
    """Let each thread swap its pair, or store to both elements of it, in one round or several."""
    rng = c.rng
    # That t + half is no thread's first element is not proved for a half of unknown size.
    kind = rng.choice([kind for kind in PAIRS if kind != "halves" or not length.is_symbolic])
    c.feature(f"extern: pairs of {kind}")
    one, other = (f"{memory}{place}]" for place in PAIRS[kind])
    rounds = kind == "odd and even rounds" or rng.random() < 0.2
    if rounds:
        body.open(f'ib.for_range(0, {rng.choice([2, 3, length])}, name="k") as k')
    body.open("ib.new_scope()")
    body.add('t = te.thread_axis("threadIdx.x")')
    body.add(f'ib.scope_attr(t, "thread_extent", {length.most})')
    if kind == "halves":
        body.add(f"half = {length // 2}")
        body.open("ib.if_scope(t < half)")
    else:
        body.open(f"ib.if_scope({PAIRS[kind][1]} < {length})")
    condition = rng.choice([f"{one} < {other}", f"{one} > {other}", "t < 2", "t % 2 == 0"])
    guarded = rng.random() < 0.9
    if guarded:
        body.open(f"ib.if_scope({condition})")
    how = " under a condition" if guarded else ""
    if rng.random() < 0.8:
        c.feature(f"extern: a pair is swapped{how}")
        statements = [f"kept[0] = {one}", f"{one} = {other}", f"{other} = kept[0]"]
    else:
        c.feature(f"extern: both elements of a pair are stored{how}")
        statements = [f"{one} = te.const(1, '{dtype}')", f"{other} = te.const(0, '{dtype}')"]
    for statement in statements:
        body.add(statement)
    body.close(2 + int(guarded) + int(rounds))


BODIES: tuple[Callable[[Computation, Body, Stage, Stage], None], ...] = (
    *(by_elements, by_elements, by_steps, by_exchange, by_pairs),
)


def extern(c: Computation, source: Stage) -> Stage:
    """Write a tensor that a statement computes from the source."""
    var = c.script.name("E")
    kind = c.rng.choice(BODIES)
    c.feature(f"extern {kind.__name__}")
    shape: Shape = c.random_shape(3, 6) or [extent(1)]
    dtype = c.values.type_for([source], 20 * source.magnitude)
    out = Stage(var, shape, dtype, [source], is_extern=True)
    body = Body([f"def body_{var}(ins, outs):"])
    body.add("ib = tvm.tir.ir_builder.create()")
    body.add("elements, Y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])")
    body.add(f"{source.var} = lambda *index: elements[index]")
    kind(c, body, source, out)
    body.add("return ib.get()")
    for line in body.lines:
        c.script.add(line)
    inputs = f"[{source.var}]"
    c.script.add(
        f'{var} = te.extern({listed(shape)}, {inputs}, body_{var}, name="{var}", dtype="{dtype}")'
    )
    c.stages.append(out)
    return out
