"""Forms of computations: their stages, and how these read each other."""

from __future__ import annotations

from .computation import Computation
from .extents import extent
from .externs import extern
from .foreign import ForeignStatements
from .index_forms import Axis
from .intrinsics import IntrinsicWriter
from .regions import Region
from .scans import scan
from .stage import Stage, Value

# The types of the integers that tir.dot multiplies.
DOTS = (("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8"), ("int16", "int16"))


def readers(c: Computation) -> None:
    """Two readers of one tensor, perhaps combined."""
    rng = c.rng
    shared = c.input(c.random_shape(3, 12))
    extra = [c.input(c.random_shape(2, 6))] if rng.random() < 0.3 else []
    if rng.random() < 0.5:
        shared = c.compute(c.random_shape(3, 10), [shared], larger=0.25)
    first = c.compute(c.random_shape(3, 7), [shared, *extra], chance=0.55)
    again = first.shape if rng.random() < 0.6 else c.random_shape(3, 7)
    second = c.compute(again, [shared, *extra], chance=0.55)
    if rng.random() < 0.7:
        both = c.compute(list(first.shape), [first, second])
        if rng.random() < 0.3:
            c.compute(c.random_shape(3, 7), [both])


def graph(c: Computation) -> None:
    """Each stage reads some earlier stages, mostly the last one."""
    rng = c.rng
    for _ in range(rng.randint(1, 2)):
        c.input(c.random_shape(5, 8))
    for _ in range(rng.randint(1, 4)):
        inputs = [c.stages[-1]]
        if rng.random() < 0.5:
            inputs.append(rng.choice(c.stages))
        most = rng.choice([2, 3, 3, 5])
        c.compute(c.random_shape(most, 8), inputs, chance=0.3, larger=0.25)


def copy(c: Computation) -> None:
    """A copy of a tensor of any rank but 0."""
    x = c.input(c.random_shape(6, 9))
    axes = ", ".join(f"i{n}" for n in range(len(x.shape)))
    c.moved("Y", x, x.shape, axes, f"{x.var}({axes})")


def chain(c: Computation) -> None:
    """A chain: each stage reads all of the previous stage, so any stage can be an argument."""
    rng = c.rng
    shape = [extent(rng.choice([1, 2, 4, 4, 8])) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        shape = c.random_shape(3, 7)
    stage = c.compute(shape, [c.input(c.random_shape(3, 8))], chance=0.4)
    for _ in range(rng.randint(1, 2)):
        axes = [f"i{n}" for n in range(len(stage.shape))]
        at = [f"{n - 1} - {i}" if rng.random() < 0.2 else i
              for i, n in zip(axes, stage.shape, strict=True)]  # fmt: skip
        order = rng.sample(range(len(axes)), len(axes))
        shape = [stage.shape[n] for n in order]
        names = ", ".join(axes[n] for n in order)
        stage.read_whole = True
        stage = c.moved("Y", stage, shape, names, f"{stage.var}({', '.join(at)})")


def matmul(c: Computation) -> None:
    """A product of matrices, perhaps batched, perhaps with a following stage."""
    rng = c.rng
    m, n, k = c.random_extent(9), c.random_extent(9), c.random_extent(8)
    if rng.random() < 0.6:
        n = extent(rng.choice([4, 4, 8]))
    batch = [extent(rng.randint(1, 3))] if rng.random() < 0.3 else []
    a, b = c.input([*batch, m, k]), c.input([k, n], like=c.stages[-1])
    axes = [*([Axis("b", batch[0])] if batch else []), Axis("i", m), Axis("j", n)]
    reads = (f"{a.var}({'b, ' if batch else ''}i, k)", f"{b.var}(k, j)")
    value, dtype = c.values.product((a, b), reads)
    c.reduction([*batch, m, n], axes, [Axis("k", k)], value, dtype)
    if rng.random() < 0.4:
        c.compute([m, n], [c.stages[-1]])


def convolution(c: Computation) -> None:
    """Windows of a padded image, strided and dilated."""
    rng = c.rng
    stride, dilation = rng.randint(1, 2), rng.randint(1, 2)
    kernel, depth = extent(rng.randint(1, 3)), extent(rng.randint(1, 4))
    filters = extent(rng.choice([4, rng.randint(1, 5)]))
    size, pad = c.random_extent(6), rng.randint(0, 2)
    reach = (size - 1) * stride + (kernel - 1) * dilation + 1
    pad = min(pad, (reach.least - 1) // 2)
    width = reach - 2 * pad
    x = c.input([depth, width])
    w = c.input([filters, depth, kernel], like=x)
    inside = f"te.all(x >= {pad}, x < {width + pad})"
    read = f"te.if_then_else({inside}, {x.var}(c, x - {pad}), te.const(0, '{x.dtype}'))"
    padded = c.moved("P", x, [depth, reach], "c, x", read)
    padded.read_whole = (
        kernel.least >= stride if dilation == 1 else (stride, kernel.least) == (1, 1)
    )
    reads = (f"{padded.var}(c, x * {stride} + k * {dilation})", f"{w.var}(o, c, k)")
    value, dtype = c.values.product((padded, w), reads)
    axes, over = [Axis("o", filters), Axis("x", size)], [Axis("c", depth), Axis("k", kernel)]
    c.reduction([filters, size], axes, over, value, dtype)


def dots(c: Computation) -> None:
    """A product of small integers by words: neighboring steps of a sum are parts of an int32."""
    rng = c.rng
    left, right = rng.choice(DOTS)
    parts = 2 if left == "int16" else 4
    m, n, k = c.random_extent(6), c.random_extent(9), extent(rng.randint(1, 6))
    a = c.input([m, k * parts], like=Stage("", [], left))
    b = c.input([k * parts, n], like=Stage("", [], right))
    steps = [f"k * {parts} + {part}" for part in range(parts)]
    words = [
        c.words(a, [m, k], "i, k", [f"{a.var}(i, {step})" for step in steps]),
        c.words(b, [k, n], "k, j", [f"{b.var}({step}, j)" for step in steps]),
    ]
    read = f"{words[0].var}(i, k), {words[1].var}(k, j)"
    value = Value(f"tvm.tir.dot({read}, '{left}', '{right}')", 1, words)
    how = rng.choice(["sum", "sum", "sum", "max"])
    c.reduction([m, n], [Axis("i", m), Axis("j", n)], [Axis("k", k)], value, "int32", how)
    if rng.random() < 0.4:
        c.compute([m, n], [c.stages[-1]])


def larger(c: Computation) -> None:
    """A stage that is larger than its readers need, perhaps read by a second oversized stage."""
    rng = c.rng
    shape = c.random_shape(3, 8)
    while not shape:
        shape = c.random_shape(3, 8)
    stage = c.input(shape)
    for _ in range(rng.randint(1, 2)):
        region = Region.around(rng, stage.readable)
        names = [f"i{n}" for n in range(len(shape))]
        first = region.first or [0] * len(shape)
        before = stage.first or [0] * len(shape)
        places = [f"{i} + {b - a}" for i, a, b in zip(names, first, before, strict=True)]
        read = f"{stage.var}({', '.join(places)})"
        source, stage = stage, c.moved("B", stage, region.whole, ", ".join(names), read)
        stage.limited_to(region, outside=source.is_input)
    again = c.part(stage) if rng.random() < 0.5 else stage
    if again is stage or rng.random() < 0.5:
        c.compute(c.random_shape(3, 7), [again], chance=0.4)


def windows(c: Computation) -> None:
    """Sums over windows, some past the ends of the input, and a stage that reads the valid sums."""
    rng = c.rng
    kernel, depth = extent(rng.randint(1, 3)), extent(rng.randint(1, 3))
    filters, size = extent(rng.randint(1, 5)), c.random_extent(8)
    x = c.input([depth, size + (kernel - 1)])
    w = c.input([filters, depth, kernel], like=x)
    region = Region.around(rng, [filters, size])
    first = region.first or [0, 0]
    reads = (f"{x.var}(c, i1 + k - {first[1]})", f"{w.var}(i0 - {first[0]}, c, k)")
    value, dtype = c.values.product((x, w), reads)
    over = [Axis("c", depth), Axis("k", kernel)]
    # A condition on an axis that ends anywhere would hide from the compiler what is read outside.
    stage = c.reduction(
        region.whole, region.axes(), over, value, dtype, may_have_where=not c.symbols
    )
    stage.limited_to(region, outside=True)
    c.part(stage)
    if rng.random() < 0.3:
        c.compute(c.random_shape(3, 7), [c.stages[-1]])


def rows(c: Computation) -> None:
    """A reduction of each row, combined with each element of the row, as in a softmax."""
    rng = c.rng
    count, length = c.random_extent(6), c.random_extent(9)
    x = c.input([count, length])
    read = Value(f"{x.var}(i, k)", x.magnitude, [x])
    dtype = x.dtype if x.dtype != "bool" else "int32"
    if dtype != x.dtype:
        read = Value(f'{read.text}.astype("{dtype}")', x.magnitude, [x])
    how = rng.choice(["sum", "max"])
    total = c.reduction([count], [Axis("i", count)], [Axis("k", length)], read, dtype, how)
    axes = [Axis("i", count), Axis("j", length)]
    element = Value(f'{x.var}(i, j).astype("{dtype}")', x.magnitude, [x])
    row = Value(f"{total.var}(i)", total.magnitude, [total])
    c.elementwise([count, length], axes, c.values.combine([element, row], dtype), dtype)
    if rng.random() < 0.3:
        c.compute(c.random_shape(3, 7), [c.stages[-1]])


def pack_lanes(c: Computation) -> None:
    """A last axis split into lanes of four, a computation, and the axis merged again."""
    rows, groups = c.random_extent(6), c.random_extent(4)
    x = c.input([rows, groups * 4])
    packed = c.moved("P", x, [rows, groups, extent(4)], "i, j, l", f"{x.var}(i, j * 4 + l)")
    packed = c.compute(packed.shape, [packed], chance=0.3)
    if not packed.several:
        c.moved("U", packed, x.shape, "i, j", f"{packed.var}(i, j // 4, j % 4)")


def externs(c: Computation) -> None:
    """An extern, between computes or alone."""
    rng = c.rng
    source = c.input(c.random_shape(3, 8))
    if rng.random() < 0.5:
        source = c.compute(c.random_shape(3, 8), [source])
    for _ in range(rng.randint(1, 2)):
        source = extern(c, source)
    if rng.random() < 0.6:
        inputs = [source, rng.choice([s for s in c.stages if not s.several])]
        c.compute(c.random_shape(3, 7), inputs, chance=0.3)


def scans(c: Computation) -> None:
    """A recurrence, perhaps of a computed tensor, and perhaps with readers."""
    rng = c.rng
    source = c.input(c.random_shape(3, 8))
    if rng.random() < 0.4:
        source = c.compute(c.random_shape(3, 8), [source], chance=0.2)
    results = scan(c, source)
    if rng.random() < 0.5:
        inputs = [*results, *([source] if rng.random() < 0.3 else [])]
        c.compute(c.random_shape(3, 7), inputs, chance=0.3)


def intrinsics(c: Computation) -> None:
    """A compute for tensor intrinsics, perhaps read by another one, in whole tiles."""
    writer = IntrinsicWriter(c)
    writer.write_intrinsic(lambda intrinsic: ForeignStatements(intrinsic).write())
    result = writer.write_compute()
    if c.rng.random() < 0.5:
        axes = ", ".join(f"i{n}" for n in range(len(result.shape)))
        c.moved("Y", result, result.shape, axes, f"{result.var}({axes})")


FORMS = (
    *(readers, readers, readers, graph, graph, graph, copy, chain, chain),
    *(matmul, matmul, convolution, convolution, pack_lanes, externs, scans, intrinsics),
    *(larger, windows, rows, dots),
)
