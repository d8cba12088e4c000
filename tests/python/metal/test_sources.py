"""Kernels in Metal's language compile, and compute the results of the interpreter."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import texloom as tvm
from texloom import te

BUILD = Path(__file__).parents[3] / "build"
TARGETS = ["metal", "metal -float16_arithmetic=0", "metal -device=m3 -msl=3.2"]
SHAPE = (8, 4)


def textured(dtype):
    """A padded sum of neighbors in a texture, with shared memory between."""
    x = te.placeholder(SHAPE, dtype, name="X")
    padded = te.compute(
        (10, 4),
        lambda i, j: te.if_then_else(te.all(i >= 1, i < 9), x[i - 1, j], te.const(0, dtype)),
        name="padded",
    )
    y = te.compute(SHAPE, lambda i, j: padded[i, j] + padded[i + 2, j], name="Y")
    s = te.create_schedule(y.op)
    s[padded].set_scope("shared")
    outer, inner = s[y].split(y.op.axis[0], 4)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    s[padded].compute_at(s[y], outer)
    for stage in (padded, y):
        s[stage].vectorize(stage.op.axis[1])
    return s, [x, y], {x: tvm.decl_buffer(SHAPE, dtype, scope="texture", exact_image=True)}


def functions(dtype):
    """Functions that Metal's language has and lacks, of scalars and vectors."""
    x = te.placeholder(SHAPE, dtype, name="X")

    def value(i, j):
        v = x[i, j].astype("float32")
        return (te.erf(v) + te.exp(v) + tvm.tir.log1p(v * v) + te.power(v, v)).astype(dtype)

    y = te.compute(SHAPE, value, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    s[y].vectorize(y.op.axis[1])
    return s, [x, y], {}


def exact(dtype):
    """Arithmetic that is correctly rounded, in vectors that are not aligned, with a choice."""
    x = te.placeholder((40,), dtype, name="X")

    def value(i):
        v = x[i + 1] * x[i + 2] - x[i + 3] / (x[i] + te.const(1, dtype))
        return tvm.tir.Select(x[i] < x[i + 1], v, te.max(v, x[i]))

    y = te.compute((32,), value, name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], 4)
    s[y].bind(outer, te.thread_axis("threadIdx.x"))
    s[y].vectorize(inner)
    return s, [x, y], {}


def softmetal(program, *arguments):
    command = [BUILD / f"softmetal-{program}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


FLOATS, INTEGERS = ["float32", "float16"], ["int8", "uint16", "int32"]
CASES = [(textured, dtype) for dtype in FLOATS + INTEGERS]
CASES += [(functions, dtype) for dtype in FLOATS + INTEGERS]
CASES += [(exact, dtype) for dtype in FLOATS]  # integers divide otherwise


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("schedule", "dtype"), CASES)
def test_sources_compile(schedule, dtype, target, tmp_path):
    s, args, binds = schedule(dtype)
    for kernel in tvm.build(s, args, target, binds=binds).kernels:
        (tmp_path / "k.metal").write_text(kernel.source)
        softmetal("compile", tmp_path / "k.metal")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_exact_arithmetic_has_the_interpreters_bits(dtype, target, tmp_path):
    s, args, _ = exact(dtype)
    function = tvm.build(s, args, target)
    (kernel,) = function.kernels
    (tmp_path / "k.metal").write_text(kernel.source)
    host = tvm.device("host")
    numbers = np.random.default_rng(0).normal(size=40).astype(dtype)
    x, y = tvm.nd.array(numbers, host), tvm.nd.empty((32,), dtype, host)
    function(x, y)
    np.save(tmp_path / "x.npy", numbers)
    np.save(tmp_path / "y.npy", np.zeros(32, dtype))
    buffers = {a["name"]: n for n, a in enumerate(kernel.args)}
    softmetal(
        "run",
        tmp_path / "k.metal",
        kernel.name,
        f"--threads={','.join(map(str, kernel.block))}",
        f"--buffer={buffers['X']}={tmp_path / 'x.npy'}",
        f"--buffer={buffers['Y']}={tmp_path / 'y.npy'}",
    )
    bits = f"uint{8 * np.dtype(dtype).itemsize}"
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy").view(bits), y.numpy().view(bits))
