"""Dot products of words: the values on every target, and the instructions of processors."""

from __future__ import annotations

import numpy as np
import pytest
from llvm_plugin import has_llvm
from native_code import disassembled, needs_objdump

import texloom as tvm
from texloom import te, tir

KINDS = {
    ("uint8", "int8"): ("u1", "i1"),
    ("int8", "int8"): ("i1", "i1"),
    ("uint8", "uint8"): ("u1", "u1"),
    ("int16", "int16"): ("<i2", "<i2"),
}
NATIVE = ["llvm -mcpu=native", "haswell", "llvm", "llvm -mcpu=native -mattr=-avx512vnni,-avxvnni"]
N = 96


def words(seed):
    """Words with the extreme integers among them."""
    drawn = np.random.default_rng(seed).integers(0, 1 << 32, N, "uint32")
    drawn[:8] = (0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0, 0x80008000, 0x7FFF8000, 0x0180FF7F, 1)
    return drawn.view("int32")


def inputs():
    """Words of both sides, among them all extremes with themselves, and sums."""
    x, y = words(1), words(2)[::-1].copy()
    x[-8:], y[-8:] = x[:8], x[:8]
    return x, y, words(3)


def expected(kind, x, y, sums):
    left, right = (np.asarray(v).view(t) for v, t in zip((x, y), KINDS[kind], strict=True))
    products = left.astype("int64") * right.astype("int64")
    return (products.reshape(N, -1).sum(1) + sums).astype("int32")


def built(kind, lanes, target):
    """A function that adds dot products of `lanes` words at once to sums."""
    x, y, sums = (te.placeholder((N,), "int32", name=name) for name in ("X", "Y", "S"))
    z = te.compute((N,), lambda i: sums[i] + tir.dot(x[i], y[i], *kind), name="Z")
    s = te.create_schedule(z.op)
    block, lane = s[z].split(z.op.axis[0], lanes)
    s[z].bind(block, te.thread_axis("blockIdx.x"))
    if lanes > 1:
        s[z].vectorize(lane)
    return tvm.build(s, [x, y, sums, z], target)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("device", ["host", "opencl:0"])
def test_values_of_the_interpreter_and_opencl(kind, lanes, device):
    if device != "host" and not tvm.devices("opencl"):
        pytest.skip("there is no OpenCL device")
    given, z = inputs(), tvm.nd.empty((N,), "int32", tvm.device(device))
    built(kind, lanes, "opencl")(*(tvm.nd.array(x, tvm.device(device)) for x in given), z)
    np.testing.assert_array_equal(z.numpy(), expected(kind, *given))


@pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lanes", [1, 4, 8, 16, 32])
@pytest.mark.parametrize("target", NATIVE)
def test_values_of_native_code(kind, lanes, target):
    given, z = inputs(), np.zeros(N, "int32")
    built(kind, lanes, target)(*given, z)
    np.testing.assert_array_equal(z, expected(kind, *given))


AVX2 = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"
ARM = "llvm -mtriple=aarch64-linux-gnu"
INSTRUCTIONS = [
    ("znver4", ("uint8", "int8"), "vpdpbusd"),
    ("llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server", ("uint8", "int8"), "vpdpbusd"),
    ("llvm -mtriple=x86_64-linux-gnu -mcpu=alderlake", ("uint8", "int8"), "vpdpbusd"),
    ("znver4", ("int8", "int8"), "vpdpbusd"),
    ("znver4", ("int16", "int16"), "vpdpwssd"),
    ("haswell", ("uint8", "int8"), "vpmaddwd"),
    ("haswell", ("uint8", "uint8"), "vpmaddwd"),
    ("haswell", ("int16", "int16"), "vpmaddwd"),
    ("llvm -mtriple=x86_64-linux-gnu", ("uint8", "int8"), "pmaddwd"),
    ("cortex-a76", ("int8", "int8"), "sdot"),
    ("cortex-a76", ("uint8", "uint8"), "udot"),
    ("cortex-a76", ("uint8", "int8"), "sdot"),
    (f"{ARM} -mcpu=neoverse-v1", ("uint8", "int8"), "usdot"),
]


@needs_objdump
@pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
@pytest.mark.parametrize(("target", "kind", "instruction"), INSTRUCTIONS)
def test_instructions(target, kind, instruction):
    code = disassembled(built(kind, 8, target).kernels[0].binary)
    assert f"\t{instruction}" in code
    assert "maddubs" not in code  # its sums saturate


def test_other_types_are_refused():
    x = te.var("x", "int32")
    with pytest.raises(tvm.TVMError, match="does not multiply int8 by uint8"):
        tir.dot(x, x, "int8", "uint8")
    with pytest.raises(tvm.TVMError, match="called with int8, int8, int8"):
        tir.word(*[te.var("b", "int8")] * 3)
    with pytest.raises(tvm.TVMError, match="does not take a value of type float32"):
        tir.dot(te.var("f", "float32"), te.var("f", "float32"))
