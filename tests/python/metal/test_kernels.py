"""Kernels in Metal's language: programs that build for OpenCL build for Metal. None runs here."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

THREAD, BLOCK = "threadIdx.x", "blockIdx.x"


def doubled(dtype="float32", n=64):
    x = te.placeholder((n, 4), dtype, name="X")
    y = te.compute((n, 4), lambda i, j: x[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    s[y].bind(y.op.axis[1], te.thread_axis(THREAD))
    return s, [x, y]


def sources(s, args, target="metal", **options):
    return [kernel.source for kernel in tvm.build(s, args, target, **options).kernels]


def test_a_target_has_its_attributes():
    target = tvm.target.Target("metal -device=m3")
    assert target.kind.name == "metal" and target.device_name == "m3"
    assert target.attrs["msl"] == "3.1" and target.attrs["max_buffers"] == 31
    assert "device_class" not in target.attrs and "float64" not in target.attrs
    assert target.device_class == "gpu" and tvm.target.Target("opencl").device_class == "cpu"
    assert target.keys == ["m3", "metal", "gpu"]
    assert tvm.runtime.enabled("metal") and not tvm.runtime.enabled("vulkan")
    with pytest.warns(tvm.TexloomWarning, match="every Metal device hold(.|\n)*one of a13, m1, m2"):
        tvm.target.Target("metal -device=adreno")


def test_lower_and_build_take_the_target():
    s, args = doubled()
    assert "stage=kernels" in str(tvm.lower(s, args, target="metal"))
    (source,) = sources(s, args)
    assert source.startswith("#include <metal_stdlib>\n\nusing namespace metal;\n")
    with tvm.target.Target("metal -msl=3.2"):
        assert "#pragma METAL fp math_mode(safe)" in tvm.build(s, args).kernels[0].source


@pytest.mark.parametrize("float64", ["x", "inside"])
def test_float64_is_refused(float64):
    s, args = doubled("float64") if float64 == "x" else doubled()
    if float64 == "inside":
        x = args[0]
        y = te.compute(
            (64, 4), lambda i, j: te.exp(x[i, j].astype("float64")).astype("float32"), name="Y"
        )
        s, args = te.create_schedule(y.op), [x, y]
        s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    with pytest.raises(tvm.TVMError, match="float64(.|\n)*'metal'(.|\n)*compute it in float32"):
        tvm.build(s, args, "metal")


def test_slots_are_counted():
    inputs = [te.placeholder((4, 4), name=f"x{i}") for i in range(31)]
    total = te.compute((4, 4), lambda i, j: sum(x[i, j] for x in inputs[:-1]), name="total")
    s = te.create_schedule(total.op)
    s[total].bind(total.op.axis[0], te.thread_axis(BLOCK))
    assert "[[buffer(30)]]" in sources(s, [*inputs[:-1], total])[0]
    total = te.compute((4, 4), lambda i, j: sum(x[i, j] for x in inputs), name="total")
    s = te.create_schedule(total.op)
    s[total].bind(total.op.axis[0], te.thread_axis(BLOCK))
    with pytest.raises(tvm.TVMError, match="TL4006(.|\n)*32 buffers(.|\n)*slots for 31"):
        tvm.build(s, [*inputs, total], "metal")
    (source,) = sources(s, [*inputs, total], "metal -argument_buffers=1")
    assert "device float* __restrict total [[id(31)]];\n};" in source
    assert "device float* __restrict total = tl_table.total;" in source


def test_symbols_share_a_struct():
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    y = te.compute((n, m), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    (source,) = sources(s, [x, y])
    members = re.search(r"struct tl_constants \{\n((?:  int \w+;\n)+)\};", source)
    assert members is not None
    assert "constant tl_constants& tl_args [[buffer(2)]]" in source


def test_textures_of_open_sizes_are_read_with_a_border():
    """Only a call gives the number of texels, so each read must handle the border."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    y = te.compute((n, m), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    texture = tvm.decl_buffer((n, m), scope="texture")
    (source,) = sources(s, [x, y], binds={x: texture})
    assert "texture2d<float, access::sample> X" in source


def test_reductions_over_threads_meet_at_barriers():
    x = te.placeholder((8, 64), name="X")
    k = te.reduce_axis((0, 64), "k")
    y = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(k, 16)
    partial = s.rfactor(y, inner)
    s[y].bind(s[y].op.axis[0], te.thread_axis(BLOCK))
    axis = te.thread_axis(THREAD)
    s[y].bind(s[y].op.reduce_axis[0], axis)
    s[partial].compute_at(s[y], s[y].op.reduce_axis[0])
    (source,) = sources(s, [x, y])
    assert "threadgroup float " in source
    assert "threadgroup_barrier(mem_flags::mem_threadgroup);" in source


@pytest.mark.parametrize("name", sorted({*tvm._core.intrinsics()} - {"popcount", "clz"}))
def test_each_element_function_is_spelled(name):
    """Each function of the IR has a name or a definition, also for vectors."""
    dtype = "int32" if name.startswith("dot_") else "float32"
    x = te.placeholder((8, 4), dtype, name="X")
    count = tvm._core.intrinsics()[name]
    y = te.compute((8, 4), lambda i, j: tvm._core.call(name, *[x[i, j]] * count), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    s[y].vectorize(y.op.axis[1])
    (source,) = sources(s, [x, y])
    for function in re.findall(r"tl_[a-z0-9_]+(?=\()", source):
        assert re.search(rf"(float|int)4? {function}\((float|int)", source)


@pytest.mark.skipif("metal" in tvm._core.driver_names(), reason="built with a Metal driver")
def test_there_is_no_device():
    assert not tvm.metal(0).exist
    with pytest.raises(
        tvm.TVMError, match="TL5006(.|\n)*driver for Metal only on Apple(.|\n)*interpreter"
    ):
        tvm.nd.empty((4,), device=tvm.metal(0))


def test_another_driver_does_not_run_it(dev):
    s, args = doubled()
    function = tvm.build(s, args, "metal")
    a, b = (tvm.nd.empty((64, 4), device=dev) for _ in range(2))
    with pytest.raises(tvm.TVMError, match="is built for metal(.|\n)*Target.from_device"):
        function(a, b)


def test_the_interpreter_runs_it():
    host = tvm.device("host")
    s, args = doubled()
    function = tvm.build(s, args, "metal")
    numbers = np.random.default_rng(0).random((64, 4), dtype=np.float32)
    a, b = tvm.nd.array(numbers, host), tvm.nd.empty((64, 4), device=host)
    function(a, b)
    np.testing.assert_array_equal(b.numpy(), numbers * 2)


def test_a_file_has_the_sources(tmp_path):
    s, args = doubled()
    function = tvm.build(s, args, "metal -device=m1")
    function.export_library(str(tmp_path / "f.tlp"))
    loaded = tvm.runtime.load_module(str(tmp_path / "f.tlp"))
    assert str(loaded.target) == "metal -device=m1"
    assert [k.source for k in loaded.kernels] == [k.source for k in function.kernels]
    assert [k.block for k in loaded.kernels] == [(4, 1, 1)]


def rounded_to_bfloat(numbers):
    """Round integers of at most 53 bits to bfloat16 once; return float32 numbers."""
    exact = np.asarray(numbers, np.float64)
    # First round to odd in float32, which has enough digits for the second rounding to be exact.
    near = exact.astype(np.float32)
    back = near.astype(np.float64)
    away = np.nextafter(near, np.where(exact > back, np.inf, -np.inf).astype(np.float32))
    is_odd = near.view(np.uint32) & 1 == 1
    odd = np.where((back == exact) | is_odd, near, away)
    bits = odd.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def on_host(function, *inputs, shape, dtype):
    host = tvm.device("host")
    result = tvm.nd.empty(shape, dtype, host)
    function(*[tvm.nd.array(each, host) for each in inputs], result)
    return result


def test_bfloat16_is_a_type_from_version_3_1_on():
    """Older versions store its bits."""
    x = te.placeholder((8, 4), "bfloat16", name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] * x[i, j] + x[i, j], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    (source,) = sources(s, [x, y], "metal -msl=3.1")
    # Each operation's result is rounded; the store rounds the last result.
    assert (
        "Y[blockIdx_x * 4 + j] = bfloat(float(bfloat(float(X[blockIdx_x * 4 + j]) * "
        "float(X[blockIdx_x * 4 + j]))) + float(X[blockIdx_x * 4 + j]));"
    ) in source
    (source,) = sources(s, [x, y], "metal")
    assert "device const ushort* __restrict X" in source
    assert "Y[blockIdx_x * 4 + j] = tl_narrow_bfloat(tl_widen_bfloat(tl_narrow_bfloat(" in source


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16", "uint8"])
def test_integers_become_bfloat16_with_one_rounding(dtype):
    x = te.placeholder((1024,), dtype, name="X")
    y = te.compute((1024,), lambda i: x[i].astype("bfloat16"), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis(BLOCK))
    function = tvm.build(s, [x, y], "metal -device=m3")
    info = np.iinfo(dtype)
    # Numbers beside midpoints of bfloat16, which float32 rounds to the midpoint itself.
    middles = [(2 * k + 1) << e for k in (128, 129, 200, 255) for e in range(24)]
    near = [sign * (m + d) for m in middles for d in (-1, 0, 1) for sign in (1, -1)]
    numbers = [n for n in near if info.min <= n <= info.max] + [info.min, info.max, 0]
    numbers = np.resize(np.array(numbers, dtype), 1024)
    result = on_host(function, numbers, shape=(1024,), dtype="bfloat16")
    np.testing.assert_array_equal(np.asarray(result, "float32"), rounded_to_bfloat(numbers))
