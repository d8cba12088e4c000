"""bfloat16 in kernels: memory holds it or its bits, values are float32."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT = np.dtype(ml_dtypes.bfloat16)

# Only Metal's language has the type, from version 3.1 on.
PLACES = [
    ("opencl", "opencl"),
    ("opencl", "host"),
    ("metal -msl=3.0", "metal"),
    ("metal -msl=3.1", "metal"),
]
on_each_place = pytest.mark.parametrize(("target", "where"), PLACES)

UPPER = np.arange(1 << 16, dtype="uint32") << 16
PATTERNS = np.arange(1 << 16, dtype="uint16").view(BFLOAT)
on_vectors = pytest.mark.parametrize("vector", [1, 4])


def device(where):
    if not any(each["driver"] == where for each in tvm.devices()):
        pytest.skip(f"no driver {where}")
    return tvm.device(where)


def computed(function, x, dtype, target, where, vector=1):
    """Return function(element) for all elements of x, a multiple of 64 vectors."""
    on = device(where)
    x = x.reshape(-1, 64, vector)
    given = te.placeholder(x.shape, x.dtype.name, name="X")
    made = te.compute(x.shape, lambda *i: function(given(*i)), name="Y")
    s = te.create_schedule(made.op)
    block, thread, lanes = s[made].op.axis
    s[made].bind(block, te.thread_axis("blockIdx.x"))
    s[made].bind(thread, te.thread_axis("threadIdx.x"))
    if vector > 1:
        s[made].vectorize(lanes)
    result = tvm.nd.empty(x.shape, dtype, on)
    tvm.build(s, [given, made], target)(tvm.nd.array(x, on), result)
    return result.numpy().reshape(-1)


def bfloats(x):
    with np.errstate(all="ignore"):
        return x.astype(BFLOAT)


def assert_same(got, expected):
    """Compare bits; a NaN may be any NaN."""
    assert got.dtype == expected.dtype
    bits = f"uint{8 * got.itemsize}"
    is_nan = np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(np.isnan(got.astype("float32")), is_nan)
    np.testing.assert_array_equal(got.view(bits)[~is_nan], expected.view(bits)[~is_nan])


@on_each_place
@on_vectors
def test_all_numbers_become_float32_exactly(target, where, vector):
    got = computed(lambda x: x.astype("float32"), PATTERNS, "float32", target, where, vector)
    assert_same(got, PATTERNS.astype("float32"))


@on_each_place
@on_vectors
def test_float32_is_rounded_to_the_nearest_even(target, where, vector):
    """The midpoint after each bfloat16, and its neighbors; all signs, subnormals, NaN, overflow."""
    x = np.concatenate([UPPER | low for low in (0x7FFF, 0x8000, 0x8001)]).view("float32")
    expected = bfloats(x)
    assert_same(
        computed(lambda e: e.astype("bfloat16"), x, BFLOAT, target, where, vector), expected
    )

    def there_and_back(value):
        return value.astype("bfloat16").astype("float32")

    got = computed(there_and_back, x, "float32", target, where, vector)
    assert_same(got, expected.astype("float32"))


@on_each_place
def test_vectors_that_are_not_aligned(target, where):
    """Four elements from an index that no even number divides."""
    on = device(where)
    given = te.placeholder((257,), "bfloat16", name="X")
    made = te.compute((64, 4), lambda i, j: given[i * 4 + j + 1], name="Y")
    s = te.create_schedule(made.op)
    s[made].bind(made.op.axis[0], te.thread_axis("blockIdx.x"))
    s[made].vectorize(made.op.axis[1])
    x, result = PATTERNS[0x3F00:0x4001], tvm.nd.empty((64, 4), "bfloat16", on)
    tvm.build(s, [given, made], target)(tvm.nd.array(x, on), result)
    np.testing.assert_array_equal(result.numpy().reshape(-1), x[1:])


@on_each_place
def test_operations_round_once_each(target, where):
    x = PATTERNS

    def product_and_sum(value):
        return value * value + value

    with np.errstate(all="ignore"):
        expected = x * x + x
    assert_same(computed(product_and_sum, x, BFLOAT, target, where), expected)


def rounded(number):
    """Return an integer rounded to the 8 digits of bfloat16, ties to even."""
    unit = 1 << max(abs(number).bit_length() - 8, 0)
    quotient, rest = divmod(abs(number), unit)
    is_up = 2 * rest > unit or (2 * rest == unit and quotient % 2 == 1)
    return (quotient + is_up) * unit * (-1 if number < 0 else 1)


@on_each_place
@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32"])
def test_integers_are_rounded_once(target, where, dtype):
    """Numbers beside midpoints of bfloat16, which float32 would round to the midpoint itself."""
    info = np.iinfo(dtype)
    middles = [(2 * k + 1) << e for k in (128, 129, 200, 255) for e in range(56)]
    near = [sign * (m + d) for m in middles for d in (-1, 0, 1) for sign in (1, -1)]
    numbers = [n for n in near if info.min <= n <= info.max] + [int(info.min), int(info.max), 0]
    numbers = (numbers * 2048)[:2048]
    got = computed(lambda e: e.astype("bfloat16"), np.array(numbers, dtype), BFLOAT, target, where)
    expected = np.array([float(rounded(n)) for n in numbers], "float32")
    np.testing.assert_array_equal(got.astype("float32"), expected)


@pytest.mark.parametrize("where", ["opencl", "host"])
@on_vectors
def test_float64_is_rounded_once(where, vector):
    """The neighbors of midpoints, which float32 would round to the midpoint itself."""
    middle = (UPPER | 0x8000).view("float32")
    middle = middle[np.isfinite(middle)].astype("float64")
    outward = np.where(np.signbit(middle), -np.inf, np.inf)
    x = np.concatenate([np.nextafter(middle, 0), np.nextafter(middle, outward)])
    below = (middle.astype("float32").view("uint32") >> 16).astype("uint16")
    expected = np.concatenate([below, below + 1]).astype("uint16").view(BFLOAT)
    x, expected = (np.resize(each, 3 << 16) for each in (x, expected))
    got = computed(lambda e: e.astype("bfloat16"), x, BFLOAT, "opencl", where, vector)
    assert_same(got, expected)
