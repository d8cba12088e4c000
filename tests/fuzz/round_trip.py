"""Round trips of random tensors through texture memory, equal to NumPy bit by bit.

A case copies an array of any rank from 1 to 6 and any last extent into a texture and out again:
through a cached stage, or with the arguments themselves in textures, under a random schedule.
"""

from __future__ import annotations

import random
import sys

from case_scripts import Case, Script, run_many, run_script, small_target
from loop_directives import Loop, StageLoops

SCOPES = {
    "texture": ("texture", "global.texture"),
    "texture:weight": ("texture:weight", "global.texture-weight", "global.texture:weight"),
    "texture:nhwc": ("texture:nhwc", "global.texture-nhwc", "global.texture:nhwc"),
}
DTYPES = ("float32", "float16", "int32", "int8")
MAX_ELEMENTS = 4000

HEADER = '''\
import numpy as np
import texloom as tvm
from texloom import te


def values(rng, shape, dtype):
    """Any bit pattern of an integer; of a float any normal number, zeros and infinities."""
    if dtype.startswith("int"):
        info = np.iinfo(dtype)
        v = rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
        extremes = [info.min, info.max, -1, 0, 1]
    else:
        bits, mantissa, exponents = {"float32": (32, 23, 254), "float16": (16, 10, 30)}[dtype]
        word = rng.integers(0, 2**mantissa, size=shape)
        word |= rng.integers(1, exponents, size=shape, endpoint=True) << mantissa
        word |= rng.integers(0, 2, size=shape) << (bits - 1)
        v = word.astype(f"uint{bits}").view(dtype)
        info = np.finfo(dtype)
        extremes = [info.min, info.max, info.tiny, -info.tiny, 0.0, -0.0, np.inf, -np.inf, 1.0]
    flat = v.reshape(-1)
    for place in rng.integers(0, flat.size, size=min(flat.size // 4, 40)):
        flat[place] = extremes[int(rng.integers(len(extremes)))]
    return v

'''


def random_shape(rng: random.Random) -> list[int]:
    rank = rng.randint(1, 6)
    last = rng.choice([1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31])
    shape = [rng.choice([1, 1, 2, 3, 4, 5, 7, 8, 13]) for _ in range(rank - 1)] + [last]
    if rng.random() < 0.1:
        shape[rng.randrange(rank)] = rng.randint(30, 150)
    while True:
        size = 1
        for extent in shape:
            size *= extent
        if size <= MAX_ELEMENTS:
            return shape
        largest = max(range(rank), key=shape.__getitem__)
        shape[largest] = max(1, shape[largest] // 2)


def schedule_lanes(rng: random.Random, stage: StageLoops, texture: bool) -> None:
    """The last axis: vectorised, left alone, or split by 4 with either after it."""
    features = stage.script.features
    last = stage.loops[-1]
    how = rng.choice(["alone", "vectorize", "split", "split+vectorize", "split+unroll"])
    features.add(f"lanes: {how}")
    if how == "vectorize":
        stage.annotate(last, "vectorize")
    elif how.startswith("split"):
        stage.split(last, factor=4)
        if how != "split":
            stage.annotate(stage.loops[-1], "vectorize" if "vec" in how else "unroll")
    if not texture:
        stage.loops[-1].lane = False


def random_schedule(
    rng: random.Random, script: Script, name: str, shape: list[int], texture: bool
) -> None:
    stage = StageLoops.of(script, f"s[{name}]", name.lower(), list(shape), texture=texture)
    schedule_lanes(rng, stage, texture)
    stage.random_splits(rng, chance=0.4)
    if rng.random() < 0.4:
        stage.random_fuse(rng)
    if rng.random() < 0.4:
        stage.random_reorder(rng, among=stage.free())
    if not stage.free():
        unit = Loop(script.name("unit"), 1)
        script.add(f"{unit.name} = s[{name}].fuse()")
        script.features.add("fuse of no axes")
        stage.loops.insert(0, unit)
    stage.random_binds(rng)


def make_case(rng: random.Random, device: int = 0) -> Case:
    """A script that copies random values and asserts that they arrive."""
    script = Script()
    shape = random_shape(rng)
    dtype = rng.choice(DTYPES)
    rule = rng.choice(list(SCOPES))
    scope = rng.choice(SCOPES[rule])
    path = rng.choice(["cache", "cache", "input", "output", "both", "cache both"])
    script.features |= {f"dtype {dtype}", f"rank {len(shape)}", f"scope {scope}", f"path: {path}"}
    script.features.add(f"last extent % 4 = {shape[-1] % 4}")
    x_scope = scope if path in ("input", "both", "cache both") else ""
    y_scope = ""
    if path in ("output", "both", "cache both"):
        y_scope = rng.choice(SCOPES[rng.choice(list(SCOPES))])

    extents = f"({', '.join(map(str, shape))},)"
    script.add(HEADER)
    script.add(f'shape, dtype, dev = {extents}, "{dtype}", tvm.opencl({device})')
    script.add('X = te.placeholder(shape, dtype=dtype, name="X")')
    script.add('Y = te.compute(shape, lambda *i: X(*i), name="Y")')
    script.add("s = te.create_schedule(Y.op)")
    if path.startswith("cache"):
        script.add(f'Xt = s.cache_read(X, "{scope}", [Y])')
        random_schedule(rng, script, "Xt", shape, texture=True)
    random_schedule(rng, script, "Y", shape, texture=bool(y_scope))
    places = {
        name: random_place(rng, script, where) for name, where in (("X", x_scope), ("Y", y_scope))
    }
    binds = [
        f'{name}: tvm.decl_buffer(shape, dtype, name="{name}", scope="{where}", '
        f"origin={bool(place)})"
        for name, where, place in (("X", x_scope, places["X"]), ("Y", y_scope, places["Y"]))
        if where
    ]
    script.add(f'target = "{small_target(rng, script, [shape])}"')
    script.add(f"f = tvm.build(s, [X, Y], target, binds={{{', '.join(binds)}}})")
    script.add(f"expected = values(np.random.default_rng({rng.randrange(10**6)}), shape, dtype)")
    script.add(f'x = tvm.nd.empty(shape, dtype, dev, "{x_scope}", target=target{places["X"]})')
    script.add("x.copyfrom(expected)")
    script.add(f'y = tvm.nd.empty(shape, dtype, dev, "{y_scope}", target=target{places["Y"]})')
    script.add("f(x, y)")
    script.add("got = y.numpy()")
    script.add("assert got.dtype == expected.dtype and got.shape == expected.shape")
    script.add('wrong = got.view("u1") != expected.view("u1")')
    script.add('assert not wrong.any(), f"{wrong.sum()} of {wrong.size} bytes differ"')
    script.add('assert x.numpy().tobytes() == expected.tobytes(), "the input has changed"')
    return Case(script.text(), script.features, f"{dtype} {shape} {scope} {path}")


def random_place(rng: random.Random, script: Script, scope: str) -> str:
    """Where an array begins in its image, as an argument of nd.empty; empty: at the corner."""
    if not scope or rng.random() < 0.6:
        return ""
    script.features.add("origin declared")
    return f", origin=({rng.randint(0, 5)}, {rng.randint(0, 5)})"


def run_case(rng: random.Random, device: int = 0) -> None:
    """One random copy; raises CaseFailed with its script."""
    run_script(make_case(rng, device))


if __name__ == "__main__":
    sys.exit(run_many(__doc__.splitlines()[0], make_case, 500))
