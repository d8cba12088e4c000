"""Kernels in half arithmetic compared with the same kernels in float32 arithmetic."""

import re

import clang_opencl
import numpy as np
import pytest

import texloom as tvm
from texloom import te

HALF = "opencl -float16_arithmetic=1"
FLOAT = "opencl"


def half(number):
    return te.const(number, "float16")


def elementwise(function, scope=None):
    """Schedule the function, on 65,536 pairs of halves, on threads and in vectors of four."""
    shape = (128, 128, 4)
    a, b = (te.placeholder(shape, "float16", name=name) for name in "ab")
    y = te.compute(shape, lambda *i: function(a(*i), b(*i)).astype("float16"), name="y")
    s = te.create_schedule(y.op)
    i, j, lanes = s[y].op.axis
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    s[y].bind(j, te.thread_axis("threadIdx.x"))
    s[y].vectorize(lanes)
    binds = {t: tvm.decl_buffer(shape, "float16", scope=scope) for t in (a, b)} if scope else {}
    return s, [a, b, y], binds


def source_of(function, target, scope=None):
    s, args, binds = elementwise(function, scope)
    (kernel,) = tvm.build(s, args, target, binds=binds).kernels
    return kernel.source


# Each operation rounds once; reordering or contracting the last one would change its result.
EXACT = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "larger": lambda a, b: te.max(a, b),
    "choice": lambda a, b: tvm.tir.Select(a < b, b - a, te.floor(a)),
    "square root": lambda a, b: te.sqrt(te.max(a, b)),
    "constant": lambda a, b: te.min(a, b) * half(0.1) - half(65504),
    "chain": lambda a, b: (a * b + a) * b - a * a,
}
# Functions computed in float32 and rounded to half.
FUNCTIONS = {
    "exp": lambda a, b: te.exp(te.min(a, b)),
    "power": lambda a, b: te.power(te.abs(a), b),
    "float32": lambda a, b: a.astype("float32") * b.astype("float32"),
    "integers": lambda a, b: te.min(te.max(a, half(-900)), half(900)).astype("int32") + (a < b),
}


@pytest.mark.parametrize("scope", [None, "texture"])
@pytest.mark.parametrize("name", [*EXACT, *FUNCTIONS])
def test_sources_compile_without_a_warning(name, scope):
    function = {**EXACT, **FUNCTIONS}[name]
    sources = [source_of(function, target, scope) for target in (HALF, FLOAT)]
    assert clang_opencl.diagnostics(sources) == ""


def test_values_are_half_where_arithmetic_is():
    """In half arithmetic, the source enables the extension and converts nothing to float32."""
    source = source_of(EXACT["chain"], HALF)
    assert "#pragma OPENCL EXTENSION cl_khr_fp16 : enable" in source
    assert "#pragma OPENCL FP_CONTRACT OFF" in source
    assert "half4" in source and not re.search(r"float|vload_half|vstore_half", source)
    texels = source_of(EXACT["chain"], HALF, "texture")
    assert "read_imageh" in texels and "read_imagef" not in texels
    plain = source_of(EXACT["chain"], FLOAT)
    assert "cl_khr_fp16" not in plain and "half4 " not in plain and "vstore" in plain


def test_sums_are_float32_where_the_script_casts():
    x = te.placeholder((8, 64), "float16", name="X")
    k = te.reduce_axis((0, 64), name="k")
    y = te.compute((8,), lambda i: te.sum(x[i, k].astype("float32"), axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    (kernel,) = tvm.build(s, [x, y], HALF).kernels
    assert "(float)X[" in kernel.source and "vload_half" not in kernel.source


def operands():
    rng = np.random.default_rng(7)
    first = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(128, 128, 4)
    second = rng.integers(0, 65536, first.shape, np.uint16).view(np.float16)
    second[::2] = (rng.standard_normal(second[::2].shape) * 4).astype(np.float16)
    return first, second


def result_on(dev, function, target, scope):
    s, args, binds = elementwise(function, scope)
    f = tvm.build(s, args, target, binds=binds)
    arrays = [tvm.nd.array(value, dev, scope) for value in operands()]
    y = tvm.nd.empty((128, 128, 4), "float16", dev)
    f(*arrays, y)
    return y.numpy()


def test_device_without_half_arithmetic_refuses_it(dev):
    if tvm.target.Target.from_device(dev).attrs["float16_arithmetic"]:
        pytest.skip("the device has half arithmetic")
    with pytest.raises(tvm.TVMError, match=r"TL4005.*uses float16 arithmetic(.|\n)*from_device"):
        result_on(dev, EXACT["sum"], HALF, None)


@pytest.mark.parametrize("scope", [None, "texture"])
@pytest.mark.parametrize("name", [*EXACT, *FUNCTIONS])
def test_half_and_float32_give_the_same_bits(dev, name, scope):
    """Rounding to float32 and then to half gives the nearest half, because float32 has twice the
    digits of half plus two (Figueroa, 1995); both versions compute FUNCTIONS in float32."""
    if not tvm.target.Target.from_device(dev).attrs["float16_arithmetic"]:
        pytest.skip("the device has no half arithmetic")
    function = {**EXACT, **FUNCTIONS}[name]
    got, expected = (result_on(dev, function, target, scope) for target in (HALF, FLOAT))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(got[numbers].view(np.uint16), expected[numbers].view(np.uint16))
