"""Gathers and scatters; indices outside of the tensor do not crash."""

import numpy as np
import pytest
from single_node import floats, run_node

from texloom.onnx import Unsupported

X = floats(3, 4, 2)
RNG = np.random.default_rng(0)


def indices(shape, extent, dtype="int64"):
    return RNG.integers(-extent, extent, shape).astype(dtype)


@pytest.mark.parametrize(("shape", "dtype"), [((), "int64"), ((2, 3), "int32"), ((0, 2), "int64")])
def test_gather(shape, dtype):
    where = indices(shape, 4, dtype)
    np.testing.assert_array_equal(run_node("Gather", [X, where], 13, axis=-2), X.take(where, 1))


def test_gather_elements():
    """Along axes other than `axis`, the indices may be shorter than the tensor."""
    where = indices((2, 5, 1), 4)
    expected = np.take_along_axis(X[:2, :, :1], where, 1)
    np.testing.assert_array_equal(run_node("GatherElements", [X, where], 13, axis=1), expected)


@pytest.mark.parametrize("batch", [0, 1])
def test_gather_nd(batch):
    where = indices((3, 5, 2), 2)
    got = run_node("GatherND", [X, where], 13, batch_dims=batch)
    if batch:
        expected = [X[b][tuple(where[b].T)] for b in range(3)]
    else:
        expected = X[tuple(np.moveaxis(where, -1, 0))]
    np.testing.assert_array_equal(got, expected)


def test_reads_outside_are_the_nearest_elements():
    """In ONNX, indices out of range are errors; here they read the nearest element."""
    where = np.array([-(2**62), -5, 4, 2**62], "int64")
    expected = X[:, [0, 0, 3, 3]]
    np.testing.assert_array_equal(run_node("Gather", [X, where], 13, axis=1), expected)
    got = run_node("GatherND", [X, np.array([[9, -9]], "int64")], 13)
    np.testing.assert_array_equal(got, X[2:, 0])


@pytest.mark.parametrize(
    ("op", "where", "named"),
    [
        ("Gather", [0, 4], 4),
        ("Gather", [-5], -5),
        ("GatherElements", [[[4]]], 4),
        ("GatherND", [[2, 3], [0, -5]], -5),
    ],
)
def test_constant_indices_outside_are_refused(op, where, named):
    axis = {} if op == "GatherND" else {"axis": 1}
    with pytest.raises(Unsupported, match=f"its index {named} is outside of an axis of 4 elements"):
        run_node(op, [X, np.array(where, "int64")], 13, known=[1], **axis)


COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def updated(x, where, updates, reduction):
    """Apply the updates to x in order; `where` has an index tuple for each update."""
    made = x.copy()
    for place, update in zip(where, updates, strict=True):
        if all(-n <= i < n for i, n in zip(place, x.shape, strict=False)):
            old = made[place]
            made[place] = update if reduction == "none" else COMBINE[reduction](old, update)
    return made


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("reduction", ["none", *COMBINE])
def test_scatter(reduction, known):
    """If several updates have one index, the last one wins, or all are combined. Updates outside
    of the tensor are ignored.
    """
    x = RNG.integers(-3, 4, (3, 4, 2)).astype("int32")
    options = {"known": [1] if known else [], "reduction": reduction}
    where = RNG.integers(-5, 6, (2, 6, 2))  # some are out of range
    updates = RNG.integers(-3, 4, where.shape).astype("int32")
    places = [(i, int(where[i, j, k]), k) for i, j, k in np.ndindex(where.shape)]
    got = run_node("ScatterElements", [x, where, updates], 18, axis=1, **options)
    np.testing.assert_array_equal(got, updated(x, places, updates.reshape(-1), reduction))
    where = RNG.integers(-3, 4, (2, 5, 2))
    updates = RNG.integers(-3, 4, (2, 5, 2)).astype("int32")
    places = [tuple(each) for each in where.reshape(-1, 2).tolist()]
    got = run_node("ScatterND", [x, where, updates], 18, **options)
    np.testing.assert_array_equal(got, updated(x, places, updates.reshape(-1, 2), reduction))


def test_scatter_accumulates_halves_in_float32():
    """The sum must be rounded to float16 only once, at its end."""
    x, ones = np.array([1, 0], "float16"), np.ones(2049, "float16")
    got = run_node("ScatterElements", [x, np.zeros(2049, "int64"), ones], 18, reduction="add")
    np.testing.assert_array_equal(got, np.array([2050, 0], "float16"))


def test_nan_is_the_largest_update():
    x, where = np.zeros(2, "float32"), np.array([[0], [1]])
    got = run_node("ScatterND", [x, where, np.array([np.nan, 1], "float32")], 18, reduction="max")
    np.testing.assert_array_equal(got, np.array([np.nan, 1], "float32"))


@pytest.mark.parametrize("axis", [0, -1])
def test_one_hot(axis):
    """Negative indices count from the end; indices out of range give vectors of `off` values."""
    where, values = np.array([[1, -1], [-4, 3]], "int64"), np.array([2, 5], "float64")
    got = run_node("OneHot", [where, np.array(3), values], 11, known=[1], axis=axis)
    expected = np.where(np.arange(3) == np.array([[1, 2], [7, 7]])[..., None], 5.0, 2.0)
    np.testing.assert_array_equal(got, np.moveaxis(expected, -1, axis))


def test_reverse_sequence():
    got = run_node("ReverseSequence", [X, np.array([2, 9], "int64")], 10, time_axis=1, batch_axis=2)
    expected = X.copy()
    expected[:, :2, 0], expected[:, :, 1] = X[:, 1::-1, 0], X[:, ::-1, 1]
    np.testing.assert_array_equal(got, expected)


def test_compress():
    kept = np.array([False, True, True])
    np.testing.assert_array_equal(run_node("Compress", [X, kept], 11, axis=1), X[:, 1:3])
    np.testing.assert_array_equal(run_node("Compress", [X, kept], 11), X.reshape(-1)[1:3])


@pytest.mark.nightly
@pytest.mark.parametrize("reduction", [None, "add", "max"])
@pytest.mark.parametrize("axis", [0, 1])
def test_many_updates(reduction, axis):
    """Many updates are sorted by index; the last one for an element wins; some are out of range."""
    options = {"reduction": reduction} if reduction else {}
    x = integers(150, 7) if axis == 0 else integers(7, 150)
    shape = (200, 5) if axis == 0 else (5, 200)
    where = np.random.default_rng(7).integers(-170, 170, shape)
    updates = integers(*shape)
    got = run_node("ScatterElements", [x, where, updates], 18, axis=axis, **options)
    np.testing.assert_array_equal(got, _scattered(x, where, updates, axis, reduction))
    tuples = np.stack([where, np.random.default_rng(9).integers(-8, 8, shape)], -1)
    tuples = tuples if axis == 0 else tuples[..., ::-1]
    got = run_node("ScatterND", [x, tuples, updates], 18, **options)
    np.testing.assert_array_equal(got, _scattered_nd(x, tuples, updates, reduction))
    rows = np.random.default_rng(10).integers(-9, 9, (300, 1))
    parts = integers(300, x.shape[1])
    got = run_node("ScatterND", [x, rows, parts], 18, **options)
    np.testing.assert_array_equal(got, _scattered_nd(x, rows, parts, reduction))


def integers(*shape):
    """Return small integers as floats, so that sums are exact."""
    return np.round(floats(*shape) * 20)


def _scattered(x, where, updates, axis, reduction):
    index = np.moveaxis(np.indices(where.shape), 0, -1).reshape(-1, x.ndim).copy()
    index[:, axis] = where.reshape(-1)
    return _scattered_nd(x, index, updates.reshape(-1), reduction)


def _scattered_nd(x, tuples, updates, reduction):
    made = x.astype("float64")
    tuples = tuples.reshape(-1, tuples.shape[-1])
    for place, update in zip(tuples, updates.reshape(len(tuples), -1), strict=True):
        extents = x.shape[: len(place)]
        if all(-extent <= i < extent for i, extent in zip(place, extents, strict=True)):
            old, new = made[tuple(place)], update.reshape(x.shape[len(place) :])
            both = {"add": old + new, "max": np.maximum(old, new), None: new}
            made[tuple(place)] = both[reduction]
    return made


def test_tensor_scatter_circular():
    """Each example begins at its own position; positions wrap around at the end of the axis."""
    cache, update = floats(2, 4, 3), floats(2, 3, 3, seed=1)
    begins = np.array([3, 5])
    got = run_node("TensorScatter", [cache, update, begins], 24, mode="circular")
    expected = cache.copy()
    for example, first in enumerate(begins):
        expected[example, (first + np.arange(3)) % 4] = update[example]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("update", "begins", "attributes", "why"),
    [
        ((2, 5, 3), [0, 0], {}, "an update of shape .* does not fit a cache of"),
        ((2, 2, 2), [0, 0], {}, "an update of shape .* does not fit a cache of"),
        ((2, 2, 3), [0], {}, "its write_indices have the shape .1,., not one number for each of 2"),
        ((2, 2, 3), [0, 3], {}, "it writes 2 elements from 3 on into an axis of 4"),
        ((2, 2, 3), [0, 0], {"mode": "round"}, "its mode is 'round', neither linear nor circular"),
        ((2, 4, 3), [0, 0], {"axis": 0}, "its axis is 0, the axis of the batch"),
    ],
)
def test_refused_tensor_scatter(update, begins, attributes, why):
    inputs = [floats(2, 4, 3), floats(*update), np.array(begins)]
    with pytest.raises(Unsupported, match=f"TensorScatter 'y0': {why}"):
        run_node("TensorScatter", inputs, 24, known=(2,), **attributes)
