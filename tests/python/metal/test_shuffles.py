"""Reductions across threads of a Metal SIMD-group become shuffles, which change no bit."""

import re

import numpy as np
import pytest
from metal_devices import metal_devices
from row_reductions import argmax, block, thread

import texloom as tvm
from texloom import te

DEVICES = [tvm.metal(i) for i in range(len(metal_devices()))]
if not DEVICES:
    pytest.skip("this build has no Metal driver", allow_module_level=True)

WIDTHS = [32, 8]  # of the SIMD-groups of each device of the software Metal
ROWS = 6
RNG = np.random.default_rng(11)


@pytest.fixture(params=range(len(DEVICES)), ids=[str(device) for device in DEVICES])
def metal(request):
    """Return a device and its target."""
    return DEVICES[request.param], f"metal -simd_width={WIDTHS[request.param]}"


def values(shape, dtype):
    """Return numbers whose sums are rounded, and differ with the order of the terms."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, size=shape, endpoint=True).astype(dtype)
    return (RNG.normal(size=shape) * 3).astype(dtype)


def reduction(count, dtype="float32", combine=te.sum, outer=2):
    x = te.placeholder((ROWS, count * outer), dtype, name="X")
    k = te.reduce_axis((0, count * outer), name="k")
    b = te.compute((ROWS,), lambda i: combine(x[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    _, inner = s[b].split(s[b].op.reduce_axis[0], factor=count)
    return x, b, s, inner


def bits(function, device, x, outputs):
    made = [tvm.nd.empty(t.shape, t.dtype, device) for t in outputs]
    function(tvm.nd.array(x, device), *made)
    return [array.numpy().view("uint8") for array in made]


def source_of_equal_results(s, args, metal, x):
    """Check that device, interpreter and plain Metal compute equal bits; return the source."""
    device, target = metal
    function = tvm.build(s, args, target)
    plain = tvm.build(s, args, "metal")
    outputs = args[1:]
    wanted = bits(plain, tvm.device("host"), x, outputs)
    assert any(each.any() for each in wanted)
    for on, built in [(tvm.device("host"), function), (device, function), (device, plain)]:
        for got, want in zip(bits(built, on, x, outputs), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
    assert "simd_" not in plain.kernels[0].source
    (kernel,) = function.kernels
    return kernel.source


def counts(source):
    """Return the numbers of barriers, of simd_shuffle_down, and of simd_shuffle."""
    return tuple(
        len(re.findall(pattern, source))
        for pattern in (r"_barrier\(", r"simd_shuffle_down\(", r"simd_shuffle\(")
    )


@pytest.mark.parametrize("count", [2, 3, 7, 8, 9, 20, 31, 32, 33, 64, 100, 255, 256])
def test_sums_of_any_number_of_threads(metal, count):
    x, b, s, inner = reduction(count)
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(inner, thread())
    source = source_of_equal_results(s, [x, b], metal, values((ROWS, count * 2), "float32"))
    width = WIDTHS[DEVICES.index(metal[0])]
    in_memory, left = 0, count  # halve in memory until one SIMD-group is left
    while left > width:
        left, in_memory = (left + 1) // 2, in_memory + 1
    shuffles = (left - 1).bit_length()
    if in_memory == 0:
        assert counts(source) == (0, shuffles, 1)
        assert "threadgroup float" not in source
    else:
        assert counts(source) == (in_memory + 1, shuffles, 0)


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "int8", "uint8", "int16", "int32", "uint32"]
)
@pytest.mark.parametrize("combine", [te.sum, te.max, te.min])
def test_types(metal, dtype, combine):
    for count in (8, 48):
        x, b, s, inner = reduction(count, dtype, combine)
        s[b].bind(s[b].op.axis[0], block())
        s[b].bind(inner, thread())
        source = source_of_equal_results(s, [x, b], metal, values((ROWS, count * 2), dtype))
        assert counts(source)[1] > 0


def test_halves_that_are_computed_in_float32(metal):
    device, target = metal
    x, b, s, inner = reduction(40, "float16")
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(inner, thread())
    metal = device, f"{target} -float16_arithmetic=0"
    source = source_of_equal_results(s, [x, b], metal, values((ROWS, 80), "float16"))
    assert counts(source)[1] > 0


def test_bfloat16(metal):
    device, target = metal
    x, b, s, inner = reduction(40, "bfloat16")
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(inner, thread())
    function = tvm.build(s, [x, b], f"{target} -msl=3.1")
    assert "simd_shuffle_down" in function.kernels[0].source
    numbers = values((ROWS, 80), "float32")
    results = []
    for on in (tvm.device("host"), device):
        given, made = (tvm.nd.empty(t.shape, "bfloat16", on) for t in (x, b))
        given.copyfrom(numbers)
        function(given, made)
        results.append(np.asarray(made, "float32"))
    np.testing.assert_array_equal(*results)


def test_bools(metal):
    device, target = metal
    x = te.placeholder((ROWS, 40), name="X")
    k = te.reduce_axis((0, 40), name="k")
    either = te.comm_reducer(lambda a, b: te.any(a, b), lambda dtype: te.const(False, dtype))
    b = te.compute((ROWS,), lambda i: either(x[i, k] > 6.0, axis=k), name="B")
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(s[b].op.reduce_axis[0], thread())
    source = source_of_equal_results(s, [x, b], (device, target), values((ROWS, 40), "float32"))
    assert counts(source)[1] > 0


def test_64_bits_stay_in_threadgroup_memory(metal):
    x, b, s, inner = reduction(16, "int64")
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(inner, thread())
    source = source_of_equal_results(s, [x, b], metal, values((ROWS, 32), "int64"))
    assert "shuffle" not in source


@pytest.mark.parametrize("count", [5, 8, 32, 40, 64])
def test_argmax(metal, count):
    x = te.placeholder((ROWS, count), name="X")
    k = te.reduce_axis((0, count), name="k")
    index, value = te.compute((ROWS,), lambda i: argmax((k.var, x[i, k]), axis=k), name="B")
    s = te.create_schedule(index.op)
    s[index].bind(s[index].op.axis[0], block())
    s[index].bind(s[index].op.reduce_axis[0], thread())
    # Repeated numbers: the first of them is the result.
    numbers = RNG.integers(0, 5, size=(ROWS, count)).astype("float32")
    source = source_of_equal_results(s, [x, index, value], metal, numbers)
    barriers, down, results = counts(source)
    assert down > 0 and down % 2 == 0 and (barriers == 0) == (results == 2)


@pytest.mark.parametrize(("rows", "count"), [(3, 8), (2, 4), (6, 16), (3, 5), (6, 2)])
def test_several_results_of_a_block(metal, rows, count):
    """The threads of a row are neighbors; rows of 5 threads may cross into a second SIMD-group."""
    x, b, s, inner = reduction(count)
    outer, row = s[b].split(s[b].op.axis[0], factor=rows)
    s[b].bind(outer, block())
    s[b].bind(row, thread("y"))
    s[b].bind(inner, thread())
    source = source_of_equal_results(s, [x, b], metal, values((ROWS, count * 2), "float32"))
    width = WIDTHS[DEVICES.index(metal[0])]
    in_one = rows * count <= width or width % count == 0
    if in_one:
        assert counts(source) == (0, (count - 1).bit_length(), 1)


@pytest.mark.parametrize("count", [2, 4, 16])
def test_threads_that_are_apart(metal, count):
    """With rows along threadIdx.x, the threads that share a result are ROWS lanes apart."""
    x, b, s, inner = reduction(count)
    s[b].bind(s[b].op.axis[0], thread())
    s[b].bind(inner, thread("y"))
    source = source_of_equal_results(s, [x, b], metal, values((ROWS, count * 2), "float32"))
    if ROWS * count <= WIDTHS[DEVICES.index(metal[0])]:
        assert counts(source) == (0, (count - 1).bit_length(), 1)


@pytest.mark.parametrize("how", ["unroll", "vthread"])
def test_rows_of_one_thread(metal, how):
    """Copies of an unrolled loop use shuffles; virtual threads share barriers instead."""
    for count in (8, 48):
        x, b, s, inner = reduction(count)
        outer, row = s[b].split(s[b].op.axis[0], factor=3)
        s[b].bind(outer, block())
        s[b].bind(inner, thread())
        if how == "unroll":
            s[b].unroll(row)
        else:
            s[b].bind(row, te.thread_axis("vthread"))
        source = source_of_equal_results(s, [x, b], metal, values((ROWS, count * 2), "float32"))
        assert (counts(source)[1] > 0) == (how == "unroll")


@pytest.mark.parametrize("order", ["yx", "xy"])
def test_two_axes_share_a_reduction(metal, order):
    """Two reduction axes may be bound to threads in either order; one order gives shuffles."""
    x = te.placeholder((ROWS, 4, 6), name="X")
    k, m = te.reduce_axis((0, 4), name="k"), te.reduce_axis((0, 6), name="m")
    b = te.compute((ROWS,), lambda i: te.sum(x[i, k, m], axis=[k, m]), name="B")
    s = te.create_schedule(b.op)
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(k, thread(order[0]))
    s[b].bind(m, thread(order[1]))
    source = source_of_equal_results(s, [x, b], metal, values((ROWS, 4, 6), "float32"))
    if order == "yx":
        assert counts(source)[1] > 0


def test_every_thread_takes_the_result(metal):
    """Each thread subtracts its row's mean, which is reduced in a loop over a block's rows."""
    for count in (8, 64):
        x = te.placeholder((ROWS, count), name="X")
        k = te.reduce_axis((0, count), name="k")
        b = te.compute((ROWS,), lambda i: te.sum(x[i, k], axis=k), name="B")  # noqa: B023
        y = te.compute((ROWS, count), lambda i, j: x[i, j] - b[i] / count, name="Y")  # noqa: B023
        s = te.create_schedule(y.op)
        i, j = s[y].op.axis
        outer, inner = s[y].split(i, factor=3)
        s[y].bind(outer, block())
        s[y].bind(j, thread())
        s[b].compute_at(s[y], inner)
        s[b].set_scope("local")
        s[b].bind(s[b].op.reduce_axis[0], thread())
        source = source_of_equal_results(s, [x, y], metal, values((ROWS, count), "float32"))
        assert counts(source)[1] > 0


def test_packages_state_the_width(metal):
    """The driver refuses a kernel with shuffles for SIMD-groups of another width."""
    device, _ = metal
    other = WIDTHS[1 - DEVICES.index(device)]
    x, b, s, inner = reduction(8)
    s[b].bind(s[b].op.axis[0], block())
    s[b].bind(inner, thread())
    function = tvm.build(s, [x, b], f"metal -simd_width={other}")
    with pytest.raises(tvm.TVMError, match=f"-simd_width={WIDTHS[DEVICES.index(device)]}"):
        bits(function, device, values((ROWS, 16), "float32"), [b])


def test_other_packages_run_with_each_width(metal):
    device, _ = metal
    other = WIDTHS[1 - DEVICES.index(device)]
    x = te.placeholder((ROWS, 16), name="x")
    y = te.compute(x.shape, lambda i, j: x[i, j] + 1.0, name="y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], block())
    s[y].bind(y.op.axis[1], thread())
    function = tvm.build(s, [x, y], f"metal -simd_width={other}")
    assert bits(function, device, values((ROWS, 16), "float32"), [y])[0].any()
