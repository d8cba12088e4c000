"""Sums of products, with the tiles by which a schedule computes them in matrix fragments."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from .computation import Computation
from .extents import Shape, extent, is_constant, listed
from .stage import FragmentTile, Product, Stage

STEPS = "steps of fragments"  # the feature of all programs that have them
SIDE = 16  # rows and columns of a fragment
MOST_PRODUCTS = 10  # of fragments: the interpreter runs each in each version of the program
# The types of factors and of sums.
TYPES = (("float16", "float32"),) * 4 + (("float32", "float32"), ("float16", "float16"))


@dataclass(frozen=True)
class Sum:
    """A sum of products, as lines of a script have it."""

    var: str
    dtype: str
    inputs: list[Stage]
    shape: Shape
    axes: list[str]  # the parameters of its lambda
    product: Product


def fragments(c: Computation) -> None:
    """A product of matrices or a convolution by fragments, perhaps with further stages."""
    made = _convolution(c) if c.rng.random() < 0.3 else _matrices(c)
    c.feature(STEPS)
    c.script.keeps_order = False  # the order of the sums is the device's
    stage = _written(c, made)
    if c.rng.random() < 0.3:
        # It reads all elements: a part of them would not be whole tiles.
        axes = ", ".join(f"i{n}" for n in range(len(stage.shape)))
        c.moved("Y", stage, stage.shape, axes, f"{stage.var}({axes}) + {stage.var}({axes})")


def _types(c: Computation) -> tuple[str, str]:
    factors, sums = c.rng.choice(TYPES)
    c.feature(f"fragments: {factors} into {sums}")
    return factors, sums


def _operand(c: Computation, shape: Shape, dtype: str, *, plain: bool) -> Stage:
    """Add a factor: an input, or a stage that computes one."""
    stage = c.input(shape, like=Stage("", [], dtype))
    if plain:
        stage.row_major = True
    elif c.rng.random() < 0.35:
        axes = ", ".join(f"i{n}" for n in range(len(shape)))
        value = f"{stage.var}({axes}) + te.const(1, '{dtype}')"
        stage = c.moved("P", stage, shape, axes, value)
        stage.magnitude = 10
        c.feature("fragments: a stage before")
    return stage


def _converted(
    c: Computation, stage: Stage, dtype: str, inlined: list[str], index: str
) -> tuple[str, str]:
    """Return a read of a factor, which is converted to the type of the sums."""
    if stage.dtype == dtype:
        return f"{stage.var}({index})", ""
    if c.rng.random() < 0.3:
        axes = ", ".join(f"i{n}" for n in range(len(stage.shape)))
        var = c.script.name("F")
        c.script.add(
            f"{var} = te.compute({listed(stage.shape)}, lambda {axes}: "
            f"{stage.var}({axes}).astype('{dtype}'), name=\"{var}\")"
        )
        inlined.append(var)
        c.feature("fragments: a conversion before")
        return f"{var}({index})", ""
    return f"{stage.var}({index})", f".astype('{dtype}')"


def _length(rng: random.Random, most: int) -> int:
    """Return an extent; often one or two whole fragments."""
    return rng.choice([SIDE, SIDE, 2 * SIDE, rng.randint(1, most), rng.randint(1, most)])


def _tile(rng: random.Random, extents: tuple[int, int, int], batch: int) -> FragmentTile:
    """Draw a tile for which the product consists of few fragments."""
    while True:
        parts, groups = ((rng.choice([1, 1, 2]), rng.choice([1, 1, 2])) for _ in range(2))
        depth, kind = rng.choice([1, 1, 2]), rng.random()
        slices = 2 if depth == 2 and kind < 0.4 else 1
        pieces = 2 if slices == 1 and kind > 0.8 else 1
        tile = FragmentTile(parts, groups, depth, slices, pieces)
        is_small = tile.multiples == (SIDE, SIDE, SIDE)
        if is_small or math.prod(_whole(extents, tile)) * batch <= MOST_PRODUCTS * SIDE**3:
            return tile


def _whole(extents: tuple[int, int, int], tile: FragmentTile) -> list[int]:
    """Return the extents of whole tiles."""
    return [-(-own // n) * n for own, n in zip(extents, tile.multiples, strict=True)]


def _matrices(c: Computation) -> Sum:
    """A product of matrices, perhaps batched, whose factors may be transposed."""
    rng = c.rng
    m, n, k = (_length(rng, most) for most in (36, 36, 40))
    batch = [c.random_extent(2)] if rng.random() < 0.25 else []
    factors, dtype = _types(c)
    tile = _tile(rng, (m, n, k), batch[0].most if batch else 1)
    if rng.random() < 0.4:
        m, n, k = _whole((m, n, k), tile)
    fits = [own % n == 0 for own, n in zip((m, n, k), tile.multiples, strict=True)]
    # Fragments are loaded from, and stored to, arrays of constant strides.
    is_known = is_constant(batch)
    loads = [is_known and fits[at] and fits[2] and rng.random() < 0.4 for at in range(2)]
    is_whole = is_known and tile.slices == tile.pieces == 1
    stores = is_whole and fits[0] and fits[1] and rng.random() < 0.4
    if all(loads) and (stores or tile.pieces > 1):
        # Only copies to shared memory bind the threads of SIMD-groups.
        loads[rng.randrange(2)] = False
    inlined: list[str] = []
    reads, inputs = [], []
    for at, (down, across) in enumerate((("i", "k"), ("k", "j"))):
        lengths = {"i": m, "j": n, "k": k}
        axes = [across, down] if rng.random() < 0.35 else [down, across]
        if axes[0] == across:
            c.feature(f"fragments: a transposed {('left', 'right')[at]} factor")
        batched = bool(batch) and (at == 0 or rng.random() < 0.6)
        shape = [*(batch if batched else []), *(extent(lengths[axis]) for axis in axes)]
        stage = _operand(c, shape, factors, plain=loads[at])
        index = ", ".join([*(["b"] if batched else []), *axes])
        reads.append("".join(_converted(c, stage, dtype, inlined, index)))
        inputs.append(stage)
    if rng.random() < 0.2:
        reads.reverse()
    var = c.script.name("M")
    c.script.add(f'{var}_k = te.reduce_axis((0, {k}), name="k")')
    names = [*(["b"] if batch else []), "i", "j"]
    shape = [*batch, extent(m), extent(n)]
    value = f"te.sum({' * '.join(reads)}, axis=k)"
    c.script.add(
        f"{var} = te.compute({listed(shape)}, (lambda k: lambda {', '.join(names)}: {value})"
        f'({var}_k), name="{var}")'
    )
    first = len(batch)
    product = Product(
        var,
        (f"{var}.op.axis[{first}]",),
        (f"{var}.op.axis[{first + 1}]",),
        (f"{var}_k",),
        (m, n, k),
        ((first,), first + 1),
        tuple(inlined),
        tile,
        (loads[0], loads[1]),
        stores,
    )
    return Sum(var, dtype, inputs, shape, names, product)


def _convolution(c: Computation) -> Sum:
    """Windows of an image with channels last or first, as a product of pixels and weights."""
    rng = c.rng
    c.feature("fragments: a convolution")
    factors, dtype = _types(c)
    height, width = rng.randint(2, 5), rng.randint(2, 6)
    kernel, stride = rng.randint(1, 2), rng.randint(1, 2)
    channels, filters = rng.randint(2, 9), rng.choice([SIDE, rng.randint(2, 20)])
    extents = (height * width, filters, kernel * kernel * channels)
    tile = _tile(rng, extents, 1)
    pad = rng.randint(0, kernel - 1)
    size = [(n - 1) * stride + kernel - 2 * pad for n in (height, width)]
    last = rng.random() < 0.5
    image = [*size, channels] if last else [channels, *size]
    weights = [kernel, kernel, channels, filters]
    inputs = [
        _operand(c, [extent(n) for n in shape], factors, plain=False) for shape in (image, weights)
    ]
    if pad:
        inputs[0] = _padded(c, inputs[0], size, channels, pad, last=last)
    inlined: list[str] = []
    place = f"y * {stride} + r, x * {stride} + q"
    index = f"{place}, d" if last else f"d, {place}"
    reads = [
        "".join(_converted(c, stage, dtype, inlined, at))
        for stage, at in zip(inputs, (index, "r, q, d, f"), strict=True)
    ]
    var = c.script.name("M")
    for name, length in (("r", kernel), ("q", kernel), ("d", channels)):
        c.script.add(f'{var}_{name} = te.reduce_axis((0, {length}), name="{name}")')
    # Columns may be along any axis of the result.
    names = ["y", "x", "f"] if rng.random() < 0.6 else ["f", "y", "x"]
    lengths = {"y": height, "x": width, "f": filters}
    shape = [extent(lengths[name]) for name in names]
    value = f"te.sum({' * '.join(reads)}, axis=[r, q, d])"
    c.script.add(
        f"{var} = te.compute({listed(shape)}, (lambda r, q, d: lambda {', '.join(names)}: {value})"
        f'({var}_r, {var}_q, {var}_d), name="{var}")'
    )
    rows = names.index("y"), names.index("x")
    product = Product(
        var,
        tuple(f"{var}.op.axis[{at}]" for at in rows),
        (f"{var}.op.axis[{names.index('f')}]",),
        tuple(f"{var}_{name}" for name in "rqd"),
        extents,
        (rows, names.index("f")),
        tuple(inlined),
        tile,
    )
    return Sum(var, dtype, inputs, shape, names, product)


def _padded(
    c: Computation, stage: Stage, size: list[int], channels: int, pad: int, *, last: bool
) -> Stage:
    """Add a stage with zeros around the image."""
    inside = [f"{axis} >= {pad}, {axis} < {n + pad}" for axis, n in zip("yx", size, strict=True)]
    index = [f"y - {pad}", f"x - {pad}"]
    value = f"{stage.var}({', '.join([*index, 'd'] if last else ['d', *index])})"
    zero = f"te.const(0, '{stage.dtype}')"
    larger = [n + 2 * pad for n in size]
    c.feature("fragments: a padded image")
    return c.moved(
        "P",
        stage,
        [extent(n) for n in ([*larger, channels] if last else [channels, *larger])],
        "y, x, d" if last else "d, y, x",
        f"te.if_then_else(te.all({', '.join(inside)}), {value}, {zero})",
    )


def _written(c: Computation, made: Sum) -> Stage:
    """Add the stage that the kernel writes: the sum, or one that reads an element of it."""
    rng = c.rng
    var, dtype, inputs = made.var, made.dtype, list(made.inputs)
    magnitude = 100.0 * made.product.extents[2]
    is_alone = made.product.stores or rng.random() < 0.3
    if not is_alone:
        c.feature("fragments: a stage after")
        at = ", ".join(made.axes)
        value = f"{made.var}({at})"
        if rng.random() < 0.5:
            along = rng.choice(made.axes)
            length = made.shape[made.axes.index(along)]
            bias = c.input([length], like=Stage("", [], made.dtype))
            value, inputs = f"{value} + {bias.var}({along})", [*inputs, bias]
        if rng.random() < 0.3:
            other = c.input(made.shape, like=Stage("", [], made.dtype))
            value, inputs = f"({value}) - {other.var}({at})", [*inputs, other]
        if rng.random() < 0.5:
            value = f"te.max({value}, te.const(0, '{dtype}'))"
        # Sums of few products stay within the range of float16.
        if made.product.extents[2] <= SIDE and rng.random() < 0.4:
            value, dtype = f"({value}).astype('float16')", "float16"
        var = c.script.name("E")
        c.script.add(
            f'{var} = te.compute({listed(made.shape)}, lambda {at}: {value}, name="{var}")'
        )
    stage = Stage(var, made.shape, dtype, list(dict.fromkeys(inputs)), magnitude=magnitude)
    stage.product, stage.row_major = made.product, True
    c.stages.append(stage)
    return stage
