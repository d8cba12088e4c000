"""Reductions, cumulative sums, and the largest elements with their positions."""

import numpy as np
import pytest
from single_node import floats, run_node

ROUNDOFF = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
NAN, INF = float("nan"), float("inf")
EXACT = {"Sum": np.sum, "Max": np.max, "Min": np.min, "Prod": np.prod}
FLOAT = {
    **EXACT,
    "Mean": np.mean,
    "L1": lambda x, **o: np.abs(x).sum(**o),
    "L2": lambda x, **o: np.sqrt((x * x).sum(**o)),
    "SumSquare": lambda x, **o: (x * x).sum(**o),
    "LogSum": lambda x, **o: np.log(x.sum(**o)),
    "LogSumExp": lambda x, **o: np.log(np.exp(x).sum(**o)),
}


@pytest.mark.parametrize(
    ("op", "dtype"),
    [*((op, "float16") for op in FLOAT), ("L2", "float32"), ("LogSumExp", "float64")],
)
def test_reduction_of_floats(op, dtype):
    """The sum accumulates in float32 or wider, and the result is rounded once."""
    x = np.abs(floats(3, 5, 7, dtype=dtype)) + np.asarray(0.5, dtype)
    got = run_node(f"Reduce{op}", [x, np.array([-1, 0])], 18, known=[1], keepdims=0)
    expected = FLOAT[op](x.astype("float64"), axis=(0, 2))
    # The 21 terms are positive, each with an error or two; a function of the sum follows.
    wide = min(ROUNDOFF["float32"], ROUNDOFF[dtype])
    assert got.dtype == dtype and got.shape == (5,)
    np.testing.assert_allclose(got, expected, rtol=32 * wide + ROUNDOFF[dtype], atol=0)


@pytest.mark.parametrize(
    ("op", "dtype"),
    [("Sum", "int32"), ("Prod", "int64"), ("SumSquare", "uint32"), ("Max", "uint64")]
    + [("Min", "int8"), ("Max", "uint8")],
)
def test_reduction_of_integers_is_exact(op, dtype):
    x = np.random.default_rng(1).integers(0 if dtype[0] == "u" else -4, 5, (2, 4, 3)).astype(dtype)
    got = run_node(f"Reduce{op}", [x], 12 if op in ("Max", "Min") else 11, axes=[1])
    np.testing.assert_array_equal(got, FLOAT[op](x, axis=1, keepdims=True))
    assert got.dtype == dtype


def test_mean_of_integers_is_truncated():
    x = np.array([[-1, -2, -4], [1, 2, 4]], "int32")
    np.testing.assert_array_equal(run_node("ReduceMean", [x], 13, axes=[1]), [[-2], [2]])


def test_without_axes():
    """All axes are reduced, or none with noop_with_empty_axes."""
    x = floats(2, 3)
    empty = np.zeros(0, "int64")
    assert run_node("ReduceMax", [x, empty], 18, known=[1], keepdims=0) == x.max()
    for inputs in ([x, empty], [x, None]):
        known = [1] if inputs[1] is not None else []
        got = run_node("ReduceL1", inputs, 18, known=known, noop_with_empty_axes=1)
        np.testing.assert_array_equal(got, abs(x))


@pytest.mark.parametrize("op", FLOAT)
def test_over_no_axes(op):
    """A reduction over an empty set of axes still computes with each element, as the square."""
    x = np.abs(floats(2, 3)) + 1
    got = run_node(f"Reduce{op}", [-x if op in ("L1", "L2") else x], 18, noop_with_empty_axes=1)
    expected = FLOAT[op](x[..., None].astype("float64"), axis=2)
    np.testing.assert_allclose(got, expected, rtol=32 * ROUNDOFF["float32"])


def test_extrema_of_bools():
    x = np.random.default_rng(2).random((4, 5)) > 0.8
    np.testing.assert_array_equal(
        run_node("ReduceMax", [x, np.array([1])], 20, known=[1], keepdims=0), x.any(1)
    )
    np.testing.assert_array_equal(
        run_node("ReduceMin", [x, np.array([0])], 20, known=[1], keepdims=0), x.all(0)
    )


def test_values_that_are_no_finite_numbers():
    x = np.array([[1, NAN], [-INF, -INF], [INF, 3], [-INF, 2]], "float32")
    axes = np.array([1])
    with np.errstate(all="ignore"):
        for op in ("Max", "Min", "Sum", "Mean"):
            got = run_node(f"Reduce{op}", [x, axes], 18, known=[1], keepdims=0)
            np.testing.assert_array_equal(got, FLOAT[op](x, axis=1))
    got = run_node("ReduceLogSumExp", [x, axes], 18, known=[1], keepdims=0)
    np.testing.assert_array_equal(got, [NAN, -INF, INF, 2])


def test_log_sum_exp_does_not_overflow():
    x = np.array([[1000, 1000], [-1000, -1000]], "float32")
    got = run_node("ReduceLogSumExp", [x, np.array([1])], 18, known=[1], keepdims=0)
    np.testing.assert_allclose(got, [1000 + np.log(2), -1000 + np.log(2)], rtol=2**-23)


@pytest.mark.parametrize(("op", "last"), [("ArgMax", 0), ("ArgMin", 0), ("ArgMax", 1)])
def test_place_of_extrema(op, last):
    """The first or last of equal elements wins, also of NaNs; infinities are ordinary values."""
    x = np.array(
        [[1, 3, 3, 1, 2], [-INF] * 5, [INF] * 5, [2, NAN, 9, NAN, -9], [5, INF, 1, -INF, 1]],
        "float32",
    )
    function = getattr(np, op.lower())
    expected = 4 - function(x[:, ::-1], axis=1) if last else function(x, axis=1)
    got = run_node(op, [x], 13, axis=-1, keepdims=0, select_last_index=last)
    assert got.dtype == "int64"
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("op", "dtype"), [("ArgMax", "uint64"), ("ArgMin", "int8")])
def test_place_of_integers(op, dtype):
    x = np.random.default_rng(3).integers(0, 3, (4, 9)).astype(dtype)
    got = run_node(op, [x], 11, axis=0)
    np.testing.assert_array_equal(got, getattr(np, op.lower())(x, axis=0)[None])


@pytest.mark.parametrize(
    ("length", "exclusive", "reverse"),
    [(1, 1, 0), (5, 0, 0), (32, 0, 1), (33, 1, 0), (1500, 1, 1)],
)
def test_cumulative_sums(length, exclusive, reverse):
    x = np.random.default_rng(4).integers(-9, 9, (2, length, 3)).astype("int32")
    turned = x[:, ::-1] if reverse else x
    expected = turned.cumsum(axis=1) - (turned if exclusive else 0)
    got = run_node("CumSum", [x, np.array(-2)], 14, known=[1], exclusive=exclusive, reverse=reverse)
    np.testing.assert_array_equal(got, expected[:, ::-1] if reverse else expected)
    assert got.dtype == "int32"


@pytest.mark.parametrize(("length", "exclusive", "reverse"), [(5, 0, 0), (33, 1, 0), (70, 0, 1)])
def test_cumulative_products(length, exclusive, reverse):
    """Products of integers wrap."""
    x = np.random.default_rng(4).integers(-9, 9, (2, length, 3)).astype("int32") | 1
    turned = x[:, ::-1] if reverse else x
    if exclusive:
        turned = np.concatenate([np.ones_like(turned[:, :1]), turned[:, :-1]], axis=1)
    expected = turned.cumprod(axis=1, dtype="int32")
    options = {"exclusive": exclusive, "reverse": reverse}
    got = run_node("CumProd", [x, np.array(-2)], 26, known=[1], **options)
    np.testing.assert_array_equal(got, expected[:, ::-1] if reverse else expected)


def test_cumulative_sums_of_halves():
    """The sum passes 2048, where adding 1 in float16 has no effect."""
    x = np.ones(4000, "float16")
    got = run_node("CumSum", [x, np.array([0])], 14, known=[1])
    np.testing.assert_array_equal(got, np.arange(1, 4001).astype("float16"))


def test_infinite_element_stays_out_of_sums_before_it():
    x = np.ones(70, "float32")
    x[40] = INF
    got = run_node("CumSum", [x, np.array(0)], 14, known=[1])
    np.testing.assert_array_equal(got, np.cumsum(x))


@pytest.mark.parametrize(("largest", "dtype"), [(0, "float32"), (1, "float16"), (1, "uint8")])
def test_top_k(largest, dtype):
    x = np.random.default_rng(5).integers(0, 9, (3, 20, 2)).astype(dtype)
    if "float" in dtype:
        x[0, 3, 0] = x[0, 9, 0] = NAN
        x[1, 5, 1] = -INF
    order = np.argsort(x, axis=1, kind="stable")
    if largest:
        order = 19 - np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]
    values, indices = run_node(
        "TopK", [x, np.array([7])], 11, outputs=2, known=[1], axis=1, largest=largest
    )
    np.testing.assert_array_equal(indices, order[:, :7])
    np.testing.assert_array_equal(values, np.take_along_axis(x, order[:, :7], 1))
    assert (values.dtype, indices.dtype) == (dtype, "int64")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("shape", "axis", "k", "dtype"),
    [
        ((1100,), 0, 300, "float32"),  # sorted runs are cut to k elements
        ((2, 513, 2), 1, 513, "float16"),  # the last run has one element
        ((2, 1056), -1, 1, "int32"),  # 33 runs: some have no neighbor
    ],
)
@pytest.mark.parametrize("largest", [0, 1])
def test_top_k_of_many(shape, axis, k, dtype, largest):
    generator = np.random.default_rng(6)
    x = generator.integers(-99, 99, shape).astype(dtype)
    key = x.astype("float64")
    if "float" in dtype:
        x[generator.random(shape) < 0.02] = NAN
        key = np.where(np.isnan(x), INF, x)
    order = np.argsort(-key if largest else key, axis=axis, kind="stable")
    order = np.take(order, range(k), axis=axis)
    values, indices = run_node(
        "TopK", [x, np.array([k])], 18, outputs=2, known=[1], axis=axis, largest=largest
    )
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis))


def test_top_k_whose_k_is_given_at_run_time():
    x = floats(2, 6)
    values, _ = run_node("TopK", [x, np.array([2])], 11, outputs=2)
    np.testing.assert_array_equal(values, np.sort(x)[:, :-3:-1])


def test_axis_that_does_not_exist():
    with pytest.raises(Exception, match="axis 2 is out of range for a tensor of rank 2"):
        run_node("ReduceSum", [floats(2, 2), np.array([2])], 13, known=[1])
