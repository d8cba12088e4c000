"""One schedule on native code, OpenCL, Metal and in the interpreter: the same bits.

The programs are of operations that are correctly rounded; docs/cpu.md says which are not. Devices
that this build or machine lacks are left out, but the interpreter is always there to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from llvm_plugin import has_llvm
from metal_devices import metal_devices

import texloom as tvm
from texloom import te, tir

N = 256  # elements of an input, of which the first are special
WAYS = {
    "llvm": ("llvm -mcpu=native", "host:0"),
    "opencl": ("opencl", "opencl:0"),
    "metal": ("metal", "metal:0"),
}
HAS = {
    "llvm": has_llvm,
    "opencl": lambda: bool(tvm.devices("opencl")),
    "metal": lambda: bool(metal_devices()),
}


def fused(a, b, c):
    """Return the product and the sum, rounded once."""
    return tir.call_pure_extern("float32", "fma", a, b, c)


def chosen(x, least, greatest, dtype):
    """Convert a number to an integer: rounded, the nearest that there is, and 0 for a NaN."""
    inside = te.min(te.max(te.nearbyint(x), te.const(least, x.dtype)), te.const(greatest, x.dtype))
    return te.if_then_else(te.isnan(x), te.const(0, x.dtype), inside).astype(dtype)


@dataclass(frozen=True)
class Program:
    """Inputs' dtypes, and the values of an element of the outputs."""

    dtypes: tuple[str, ...]
    element: Callable[..., tuple[Any, ...]]
    lanes: int = 1


def arithmetic(dtype: str, lanes: int = 1) -> Program:
    """Sums, products, quotients, roots, and `a * b + c`, which is contracted."""
    return Program(
        (dtype,) * 3,
        lambda a, b, c: (a + b, a - b, a * b, a / b, te.sqrt(te.abs(c)), a * b + c),
        lanes,
    )


def integers(dtype: str) -> Program:
    """Arithmetic that wraps, quotients of numbers that are not 0, and bits."""

    def element(a: Any, b: Any) -> tuple[Any, ...]:
        divisor = b | te.const(1, dtype)  # neither 0 ...
        least = te.const(np.iinfo(dtype).min, dtype)
        dividend = te.if_then_else(a == least, te.const(0, dtype), a)  # ... nor overflow by -1
        quotients = (te.floordiv(dividend, divisor), te.floormod(dividend, divisor))
        shift = b & te.const(7, dtype)
        return (a + b, a - b, a * b, *quotients, a ^ b, a >> shift, te.max(a, b))

    return Program((dtype,) * 2, element)


def from_float(x: Any) -> tuple[Any, ...]:
    """Narrower floats, and integers that saturate."""
    return (
        x.astype("float16"),
        x.astype("bfloat16").astype("float32"),
        chosen(x, -128, 127, "int8"),
        chosen(x, 0, 255, "uint8"),
        chosen(x, -32768, 32767, "int16"),
    )


PROGRAMS = {
    "float32": arithmetic("float32"),
    "float32 in vectors": arithmetic("float32", 4),
    "float16": arithmetic("float16"),
    "bfloat16": arithmetic("bfloat16"),
    "float64": arithmetic("float64"),
    "fused": Program(("float32",) * 3, lambda a, b, c: (fused(a, b, c), fused(-a, b, c))),
    "rounded": Program(
        ("float32",),
        lambda x: (te.floor(x), te.ceil(x), te.trunc(x), te.round(x), te.nearbyint(x), te.abs(x)),
        4,
    ),
    "int8": integers("int8"),
    "uint8": Program(("uint8",) * 2, lambda a, b: (a + b, a * b, a >> (b & 7), te.min(a, b))),
    "int32": integers("int32"),
    "words": Program(
        ("int32",) * 3,
        lambda a, b, c: (
            c + tir.dot(a, b, "uint8", "int8"),
            tir.dot(a, b, "int8", "int8") - c,
            tir.dot(a, b, "uint8", "uint8"),
            tir.dot(a, b, "int16", "int16") + c,
        ),
        4,
    ),
    "from float32": Program(("float32",), from_float),
    "from float16": Program(
        ("float16",), lambda x: (x.astype("float32"), chosen(x, -128, 127, "int8"))
    ),
    "from float64": Program(
        ("float64",),
        lambda x: (x.astype("float32"), x.astype("float16"), chosen(x, -128, 127, "int8")),
    ),
    "from int64": Program(
        ("int64",), lambda x: (x.astype("float32"), x.astype("float64"), x.astype("int16"))
    ),
    "from int32": Program(
        ("int32",), lambda x: (x.astype("float32"), x.astype("int8"), x.astype("uint16"))
    ),
    "from int8": Program(
        ("int8",), lambda x: (x.astype("float32"), x.astype("float16"), x.astype("int32"))
    ),
}


def values(dtype: str, seed: int) -> np.ndarray:
    """Return numbers of all magnitudes, after the special ones; bfloat16 as float32."""
    rng = np.random.default_rng(seed)
    if np.dtype("float32" if dtype == "bfloat16" else dtype).kind in "iu":
        info = np.iinfo(dtype)
        special = np.array([info.min, info.max, 0, 1, info.max // 2], dtype)
        drawn = rng.integers(info.min, info.max, N, dtype, endpoint=True)
    else:
        precise = "float32" if dtype == "bfloat16" else dtype
        info = np.finfo(precise)
        halves = [0.5, 1.5, 2.5, -0.5, -1.5, 127.5, -128.5, 254.5, 1e9, -1e9]
        bounds = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal]
        with np.errstate(over="ignore"):
            special = np.array(bounds + halves, precise)
        exponents = rng.integers(-5, 4, N) if precise == "float16" else rng.integers(-30, 30, N)
        drawn = (rng.standard_normal(N) * 10.0**exponents).astype(precise)
    rng.shuffle(special)
    drawn[: len(special)] = special
    return drawn


def scheduled(outputs: Any, lanes: int) -> Any:
    """Schedule blocks of threads, whose elements are one vector."""
    s = te.create_schedule(outputs.op)
    (i,) = outputs.op.axis
    if lanes > 1:
        i, lane = s[outputs].split(i, lanes)
        s[outputs].vectorize(lane)
    block, thread = s[outputs].split(i, 16)
    s[outputs].bind(block, te.thread_axis("blockIdx.x"))
    s[outputs].bind(thread, te.thread_axis("threadIdx.x"))
    return s


def bits(function: Any, inputs: list[Any], outputs: list[Any], device: Any) -> list[np.ndarray]:
    """Run on the device; return the bits, with one NaN for all: signs and payloads are open."""
    arrays = []
    for tensor, given in (*inputs, *((output, None) for output in outputs)):
        arrays.append(tvm.nd.empty([int(n) for n in tensor.shape], tensor.dtype, device))
        if given is not None:
            arrays[-1].copyfrom(given)
    function(*arrays)
    found = []
    for array in arrays[len(inputs) :]:
        taken = np.asarray(array, "float32") if array.dtype == "bfloat16" else array.numpy()
        if taken.dtype.kind == "f":
            taken = np.where(np.isnan(taken), taken.dtype.type(np.nan), taken)
        found.append(taken.view(f"u{taken.itemsize}"))
    return found


def expect_equal_bits(s: Any, inputs: list[Any], outputs: list[Any]) -> None:
    """Run one schedule in every way, and once in the interpreter."""
    args = [tensor for tensor, _ in inputs] + outputs
    expected = bits(tvm.build(s, args, "opencl"), inputs, outputs, tvm.device("host"))
    assert any(each.any() for each in expected)
    for name, (target, device) in WAYS.items():
        if not HAS[name]() or (name == "metal" and any(x.dtype == "float64" for x in args)):
            continue  # Metal has no float64
        found = bits(tvm.build(s, args, target), inputs, outputs, tvm.device(device))
        for number, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
            where = np.flatnonzero((ours != theirs).reshape(-1))
            at = [array[where[:4] % N] for _, array in inputs] if len(where) else []
            assert not len(where), f"output {number} on {name}: {len(where)} differ, of {at}"


BY_DAY = ("float32 in vectors", "float16", "from float32", "int8", "words")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.nightly] * (n not in BY_DAY)) for n in PROGRAMS],
)
def test_elements(name):
    program = PROGRAMS[name]
    tensors = [te.placeholder((N,), each, name=f"X{n}") for n, each in enumerate(program.dtypes)]
    outputs = te.compute((N,), lambda i: program.element(*(x[i] for x in tensors)), name="Y")
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    inputs = [(x, values(x.dtype, n)) for n, x in enumerate(tensors)]
    expect_equal_bits(scheduled(outputs[0], program.lanes), inputs, outputs)


def dot(dtype: str) -> tuple[list[Any], Any]:
    """Sums over rows, in the order of k; each thread adds up its own."""
    a, b = (te.placeholder((16, 50), dtype, name=name) for name in "AB")
    k = te.reduce_axis((0, 50), name="k")
    total = te.compute((16,), lambda i: te.sum(a[i, k] * b[i, k], axis=k), name="Y")
    s = te.create_schedule(total.op)
    own = s.cache_write(total, "local")
    s[total].bind(total.op.axis[0], te.thread_axis("threadIdx.x"))
    s[own].compute_at(s[total], total.op.axis[0])
    return [a, b, total], s


def partial_sums(dtype: str) -> tuple[list[Any], Any]:
    """Four sums of a row, each of every fourth element, which are then added in order."""
    a = te.placeholder((16, 48), dtype, name="A")
    k = te.reduce_axis((0, 48), name="k")
    total = te.compute((16,), lambda i: te.sum(a[i, k], axis=k), name="Y")
    s = te.create_schedule(total.op)
    _, inner = s[total].split(total.op.reduce_axis[0], 4)
    parts = s.rfactor(total, inner)
    for tensor in (parts, total):
        s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("blockIdx.x"))
    return [a, total], s


def tree(dtype: str) -> tuple[list[Any], Any]:
    """Threads of a block add the sums of their elements, by a tree that the schedule states."""
    a = te.placeholder((16, 64), dtype, name="A")
    k = te.reduce_axis((0, 64), name="k")
    total = te.compute((16,), lambda i: te.sum(a[i, k], axis=k), name="Y")
    s = te.create_schedule(total.op)
    _, inner = s[total].split(total.op.reduce_axis[0], 16)
    s[total].bind(inner, te.thread_axis("threadIdx.x"))
    s[total].bind(total.op.axis[0], te.thread_axis("blockIdx.x"))
    return [a, total], s


@pytest.mark.parametrize("make", [dot, partial_sums, tree])
@pytest.mark.parametrize(
    "dtype", ["float32", *(pytest.param(d, marks=pytest.mark.nightly) for d in ("float16", "int8"))]
)
def test_reductions(make, dtype):
    """Sums have the order that the schedule states, whatever runs them."""
    (*inputs, total), s = make(dtype)
    rng = np.random.default_rng(2)
    given = []
    for x in inputs:
        drawn = rng.standard_normal([int(n) for n in x.shape]) * 10
        given.append((x, drawn.astype(dtype)))
    expect_equal_bits(s, given, [total])
