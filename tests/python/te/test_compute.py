"""Behavior of computes and reductions that scripts rely on, line by line."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te, tir


def block(s, *tensors):
    for t in tensors:
        s[t].bind(s[t].op.axis[0], te.thread_axis("blockIdx.x"))


def names(axes):
    return [axis.var.name for axis in axes]


# -- The forms of compute.


def test_axis_names():
    """Axes have the names of the lambda's parameters; `*i` gives i0, i1, ..."""
    assert names(te.compute((2, 3), lambda row, col: row, name="Y").op.axis) == ["row", "col"]
    assert names(te.compute((2, 3), lambda *i: i[0], name="Y").op.axis) == ["i0", "i1"]
    assert names(te.compute((2, 3, 4), lambda n, *i: n, name="Y").op.axis) == ["n", "i0", "i1"]
    y = te.compute((2, 3), lambda *i: i[0], name="Y", varargs_names=["a", "b"])
    assert names(y.op.axis) == ["a", "b"]


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda i, j=0: i, "gives the parameter 'j' a default"),
        (lambda i, p=0, *rest: i, "gives the parameter 'p' a default"),
        (lambda i, *, j: i, "'j'"),
        (lambda i, **k: i, "k"),
        (lambda i, j, k: i, "takes 3 axes"),
    ],
)
def test_parameters_that_are_refused(function, problem):
    """Refused parameters raise assertion errors, as in TVM; the errors carry a diagnostic."""
    with pytest.raises(AssertionError, match=f"TL1007.*{problem}"):
        te.compute((2, 3), function)
    with pytest.raises(tvm.TVMError):
        te.compute((2, 3), function)


def test_parameters_with_defaults_keep_them():
    """A parameter's default captures a loop's current value, for each function separately."""
    x = te.placeholder((4,), name="X")
    for scale in (2, 3):
        y = te.compute((4,), lambda i, scale=scale: x[i] * scale, name="Y")
        assert str(y.op.body[0]) == f"X[i] * {scale}.0" and y.ndim == 1
        y = te.compute((4,), lambda *i, scale=scale: x(*i) * scale, name="Y")
        assert str(y.op.body[0]) == f"X[i0] * {scale}.0"


def test_functions_of_numpy_of_expressions():
    """NumPy's functions apply to expressions; constant expressions give numbers."""
    x = te.placeholder((4,), name="X")
    assert np.clip(te.const(5, "int32"), 0, 3) == 3
    y = te.compute((4,), lambda i: np.dot(x[i], x[i]), name="Y")
    assert str(y.op.body[0]) == "X[i] * X[i]"


def test_fewer_parameters_drop_dimensions():
    y = te.compute((2, 3), lambda i: i, name="Y")
    assert [n.value for n in y.shape] == [2] and y.ndim == 1


def test_name_may_be_the_third_argument():
    assert te.compute((2,), lambda i: i, "mine").name == "mine"
    assert te.placeholder((2,), "int8", "other").name == "other"


def test_bodies(run):
    """A body may be a Python number, a bool expression or an index."""
    number = te.compute((4,), lambda i: 3, name="number")
    real = te.compute((4,), lambda i: 0.5, name="real")
    truth = te.compute((4,), lambda i: te.all(i > 0, i < 3), name="truth")
    index = te.compute((4,), lambda i: i, name="index")
    assert [t.dtype for t in (number, real, truth, index)] == ["int32", "float32", "bool", "int32"]
    shown = te.compute((4,), lambda i: truth[i].astype("int32"), name="shown")
    outputs = [number, real, shown, index]
    s = te.create_schedule([t.op for t in outputs])
    s[truth].compute_inline()
    block(s, *outputs)
    expected = [[3] * 4, [0.5] * 4, [0, 1, 1, 0], [0, 1, 2, 3]]
    for result, e in zip(run(s, outputs), expected, strict=True):
        np.testing.assert_array_equal(result, e)


def test_indices_are_variables():
    seen = []
    te.compute((2, 3), lambda i, j: seen.extend([i, j]) or i, name="Y")
    assert all(isinstance(v, tir.Var) for v in seen) and [v.name for v in seen] == ["i", "j"]


def test_tag_scope():
    """tag_scope works in `with` and as a decorator; nesting is refused."""
    with te.tag_scope("conv"):
        y = te.compute((4,), lambda i: i, name="Y")
        with (
            pytest.raises(ValueError, match=r"TL1011\]: tag_scopes do not nest"),
            te.tag_scope("other"),
        ):
            pass
        with pytest.raises(ValueError, match="the tag 'own', but is inside the tag_scope"):
            te.compute((4,), lambda i: i, name="Z", tag="own")

    @te.tag_scope(tag="dense")
    def dense():
        return te.compute((4,), lambda i: i, name="Y")

    assert y.op.tag == "conv" and dense().op.tag == "dense" and dense().op.tag == "dense"
    assert te.compute((4,), lambda i: i, name="Y").op.tag == ""


def test_equal_names(run):
    """Tensors and axes with equal names are legal everywhere."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="X")
    k = te.reduce_axis((0, 4), name="i")
    z = te.compute((4,), lambda i: te.sum(y[k] * i, axis=k), name="X")
    s = te.create_schedule(z.op)
    block(s, y, z)
    v = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(run(s, [x, z], v), (v + 1).sum() * v)


def test_classes_of_operations():
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i], name="Y")
    assert isinstance(x.op, te.PlaceholderOp) and isinstance(y.op, te.ComputeOp)
    assert isinstance(x.op, te.tensor.PlaceholderOp)
    assert not isinstance(x.op, te.ComputeOp) and not isinstance(y.op, te.PlaceholderOp)
    assert not isinstance(y.op, (te.ScanOp, te.ExternOp, te.TensorComputeOp))


def test_product(run):
    x, k = te.placeholder((4, 6), name="X"), te.reduce_axis((0, 6), name="k")
    y = te.compute((4,), lambda i: te.prod(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    block(s, y)
    v = np.random.default_rng(5).integers(-3, 4, (4, 6)).astype("float32")
    np.testing.assert_array_equal(run(s, [x, y], v), v.prod(1))
    assert te.prod(2, 3, 7).value == 42


# -- Several outputs.


def test_several_outputs(run):
    """A list or tuple makes one operation with outputs T.v0, T.v1, ..."""
    x = te.placeholder((4, 8), name="X")
    total, product = te.compute(
        (4, 8), lambda i, j: [x[i, j] + i, (x[i, j] * 2).astype("int32")], name="T"
    )
    assert (total.name, product.name) == ("T.v0", "T.v1")
    assert (total.dtype, product.dtype) == ("float32", "int32")
    assert total.op == product.op and total != product and total.op.num_outputs == 2
    assert (total.value_index, product.value_index) == (0, 1) and len(total.op.body) == 2
    s = te.create_schedule(total.op)
    outer, inner = s[total].split(total.op.axis[1], factor=4)
    s[total].vectorize(inner)
    block(s, total)
    v = np.random.default_rng(3).integers(-9, 9, (4, 8)).astype("float32")
    first, second = run(s, [x, total, product], v)
    np.testing.assert_array_equal(first, v + np.arange(4)[:, None])
    np.testing.assert_array_equal(second, (v * 2).astype("int32"))


def test_reader_of_several_outputs(run):
    """Readers name the output that they read; outputs that are not arguments become temporaries."""
    x = te.placeholder((4,), name="X")
    double, square = te.compute((4,), lambda i: (x[i] * 2, x[i] * x[i]), name="T")
    y = te.compute((4,), lambda i: square[i] - double[3 - i], name="Y")
    for attached in (False, True):
        s = te.create_schedule(y.op)
        block(s, y)
        if attached:
            s[square].compute_at(s[y], y.op.axis[0])
        else:
            block(s, square)
        v = np.array([1, 2, 3, 5], "float32")
        np.testing.assert_array_equal(run(s, [x, y], v), v * v - 2 * v[::-1])


def test_one_output_of_several_as_an_argument(run):
    x = te.placeholder((4,), name="X")
    double, square = te.compute((4,), lambda i: (x[i] * 2, x[i] * x[i]), name="T")
    s = te.create_schedule(double.op)
    block(s, square)
    v = np.array([1, 2, 3, 5], "float32")
    np.testing.assert_array_equal(run(s, [x, square], v), v * v)


def test_cache_of_one_output(run):
    x = te.placeholder((4,), name="X")
    double, square = te.compute((4,), lambda i: (x[i] * 2, x[i] * x[i]), name="T")
    y = te.compute((4,), lambda i: square[i] - double[i], name="Y")
    s = te.create_schedule(y.op)
    cached = s.cache_read(square, "local", [y])
    block(s, y, square)
    s[cached].compute_at(s[y], y.op.axis[0])
    v = np.array([1, 2, 3, 5], "float32")
    np.testing.assert_array_equal(run(s, [x, y], v), v * v - 2 * v)


def test_several_outputs_are_not_inlined():
    x = te.placeholder((4,), name="X")
    double, square = te.compute((4,), lambda i: (x[i] * 2, x[i] * x[i]), name="T")
    y = te.compute((4,), lambda i: square[i] - double[i], name="Y")
    s = te.create_schedule(y.op)
    s[square].compute_inline()
    block(s, y)
    with pytest.raises(tvm.TVMError, match="TL2012.*'T': its 2 outputs"):
        tvm.lower(s, [x, y])


def test_values_of_different_reductions_are_refused():
    """te.compute itself raises the error."""
    x, k = te.placeholder((4, 6), name="X"), te.reduce_axis((0, 6), name="k")
    for function in (
        lambda i: (te.sum(x[i, k], axis=k), te.max(x[i, k], axis=k)),
        lambda i: (te.sum(x[i, k], axis=k), x[i, 0]),
    ):
        with pytest.raises(tvm.TVMError, match="TL1004.*2 values of 'T'"):
            te.compute((4,), function, name="T")
    with pytest.raises(tvm.TVMError, match="TL1007.*empty list"):
        te.compute((4,), lambda i: [], name="T")


# -- Reductions.


def argmax():
    """Return a reducer for the first position of the largest value."""

    def combine(lhs, rhs):
        earlier = te.any(lhs[1] > rhs[1], te.all(lhs[1] == rhs[1], lhs[0] < rhs[0]))
        return (
            tir.Select(earlier, lhs[0], rhs[0]),
            tir.Select(earlier, lhs[1], rhs[1]),
        )

    return te.comm_reducer(combine, lambda i, v: (tir.const(-1, i), te.min_value(v)), name="argmax")


def argmax_of(shape=(5, 9)):
    x = te.placeholder(shape, name="X")
    k = te.reduce_axis((0, shape[1]), name="k")
    return x, te.compute(shape[:1], lambda i: argmax()((k.var, x[i, k]), axis=k), name="T")


VALUES = np.random.default_rng(4).integers(-5, 5, size=(5, 9)).astype("float32")


@pytest.mark.parametrize("how", ["plain", "split", "unroll", "local", "reorder"])
def test_argmax(run, how):
    """A tuple reducer finds the largest value and its position, under any schedule."""
    x, (where, value) = argmax_of()
    assert (where.dtype, value.dtype) == ("int32", "float32")
    reduction = where.op.body[1]
    assert isinstance(reduction, tir.Reduce) and reduction.value_index == 1
    assert len(reduction.source) == 2 and len(reduction.combiner.identity_element) == 2
    s = te.create_schedule(where.op)
    (i,), (k,) = s[where].op.axis, s[where].op.reduce_axis
    if how == "split":
        s[where].split(k, factor=4)
    elif how == "unroll":
        s[where].unroll(k)
    elif how == "reorder":
        outer, inner = s[where].split(i, factor=2)
        s[where].reorder(outer, k, inner)
        s[where].bind(outer, te.thread_axis("blockIdx.x"))
    outputs = [where, value]
    if how == "local":
        outputs = list(te.compute((5,), lambda i: (where[i], value[i]), name="Y"))
        s = te.create_schedule(outputs[0].op)
        s[where].set_scope("local")
        s[where].compute_at(s[outputs[0]], outputs[0].op.axis[0])
    if how != "reorder":
        block(s, outputs[0])
    first, second = run(s, [x, *outputs], VALUES)
    np.testing.assert_array_equal(first, VALUES.argmax(axis=1))
    np.testing.assert_array_equal(second, VALUES.max(axis=1))


def test_argmax_in_the_text_form():
    """The text of several outputs is read back, and lowers to the same program."""
    x, (where, value) = argmax_of()
    s = te.create_schedule(where.op)
    block(s, where)
    program = tvm.program(s, [x, value, where])
    text = str(program)
    assert "param T#1" in text and "tuple(int32, float32)" in text
    assert str(tvm.parse(text)) == text
    assert str(tvm.lower(tvm.parse(text))) == str(tvm.lower(program))


def test_values_of_one_step_are_combined_together(run):
    """Both values of a step are computed from the partial results before the step."""
    swap = te.comm_reducer(
        lambda a, b: (a[1] + b[0], a[0] + b[1]), lambda t0, t1: (tir.const(0, t0), tir.const(0, t1))
    )
    x, k = te.placeholder((4, 3), name="X"), te.reduce_axis((0, 3), name="k")
    first, second = te.compute((4,), lambda i: swap((x[i, k], x[i, k] * 10), axis=k), name="T")
    s = te.create_schedule(first.op)
    block(s, first)
    v = VALUES[:4, :3]
    a = b = np.zeros(4, "float32")
    for j in range(3):
        a, b = b + v[:, j], a + v[:, j] * 10
    results = run(s, [x, first, second], v)
    np.testing.assert_array_equal(results, [a, b])


def test_own_reducer(run):
    """A reducer of one value also combines two plain values."""
    product = te.comm_reducer(lambda x, y: x * y, lambda t: tir.const(1, t), name="product")
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    y = te.compute((5,), lambda i: product(x[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    block(s, y)
    v = np.random.default_rng(5).integers(1, 3, (5, 9)).astype("float32")
    np.testing.assert_array_equal(run(s, [x, y], v), v.prod(axis=1))
    assert "reducer product(x, y): float32 = x * y, identity=1.0" in str(tvm.program(s, [x, y]))
    assert product(te.const(2), 3, 4).value == 24


def test_bool_reducer(run):
    every = te.comm_reducer(te.all, lambda t: tir.const(True, t), name="every")
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    y = te.compute((5,), lambda i: every(x[i, k] < 3, axis=k), name="Y")
    z = te.compute((5,), lambda i: y[i].astype("int32"), name="Z")
    s = te.create_schedule(z.op)
    block(s, y, z)
    np.testing.assert_array_equal(run(s, [x, z], VALUES), (VALUES < 3).all(axis=1))


def test_two_forms_of_a_reducer():
    n, k = te.var("n"), te.reduce_axis((0, 4), name="k")
    assert (
        te.max(1, 5, 3).value == 5 and te.min(4, 2).value == 2 and te.sum(1, 2, 3, 4, 5).value == 15
    )
    assert isinstance(te.max(n, 1), tir.Max) and isinstance(te.max(n, k), tir.Reduce)
    assert isinstance(te.max(n, [k]), tir.Reduce) and isinstance(te.max(n, axis=(k,)), tir.Reduce)
    with pytest.raises(TypeError, match="second value"):
        te.max(n)


def test_order_of_axes():
    """`op.reduce_axis` keeps the order of `axis=`."""
    x = te.placeholder((3, 4), name="X")
    a, b = te.reduce_axis((0, 3), name="a"), te.reduce_axis((0, 4), name="b")
    y = te.compute((), lambda: te.sum(x[a, b], axis=[b, a]), name="Y")
    assert names(y.op.reduce_axis) == ["b", "a"]


def test_range_of_a_reduce_axis():
    for dom in ((2, 5), [2, 5], tvm.ir.Range(2, 5), tvm.ir.Range.from_min_extent(2, 3)):
        k = te.reduce_axis(dom, name="k")
        assert (k.dom.min.value, k.dom.extent.value) == (2, 3)


def test_where_guards_the_update(run):
    """For a tuple reducer, too, the initialization is not guarded."""
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    where, value = te.compute(
        (5,), lambda i: argmax()((k.var, x[i, k]), axis=k, where=k < i * 2), name="T"
    )
    s = te.create_schedule(where.op)
    block(s, where)
    first, second = run(s, [x, where, value], VALUES)
    lowest = np.finfo("float32").min
    masked = np.where(np.arange(9) < 2 * np.arange(5)[:, None], VALUES, lowest)
    np.testing.assert_array_equal(second, masked.max(axis=1))
    np.testing.assert_array_equal(first, np.where(np.arange(5) > 0, masked.argmax(axis=1), -1))


def test_init_of_a_number(run):
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    y = te.compute((5,), lambda i: te.sum(x[i, k], axis=k, init=7.0), name="Y")
    s = te.create_schedule(y.op)
    block(s, y)
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES.sum(axis=1) + 7)


@pytest.mark.parametrize("attached", [False, True])
def test_init_of_an_element(run, attached):
    """`init` is applied once per element, at the start, in any order of the loops."""
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    b = te.placeholder((5,), name="B")
    twice = te.compute((5,), lambda i: b[i] * 2, name="twice")
    y = te.compute((5,), lambda i: te.max(x[i, k], axis=k, init=twice[i]), name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=2)
    ko, ki = s[y].split(k, factor=4)
    s[y].reorder(outer, ko, inner, ki)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    if attached:
        s[twice].compute_at(s[y], outer)
    else:
        block(s, twice)
    starts = np.arange(5, dtype="float32")
    expected = np.maximum(VALUES.max(axis=1), starts * 2)
    np.testing.assert_array_equal(run(s, [x, b, y], VALUES, starts), expected)
    text = str(tvm.program(s, [x, b, y]))
    assert "init=twice[i])" in text and str(tvm.parse(text)) == text


def test_init_over_the_reduce_axis_is_refused():
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    with pytest.raises(
        tvm.TVMError, match="TL1004.*'Y' starts from a value that uses its axis 'k'"
    ):
        te.compute((5,), lambda i: te.sum(x[i, k], axis=k, init=x[i, k]), name="Y")


def test_reducers_that_are_refused():
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    reading = te.comm_reducer(lambda a, b: a + b * x[0, 0], lambda t: tir.const(0, t), name="open")
    with pytest.raises(tvm.TVMError, match="TL1004.*'open' uses 'X'"):
        reading(x[0, k], axis=k)
    n = te.var("n", "float32")
    scaled = te.comm_reducer(lambda a, b: a + b * n, lambda t: tir.const(0, t), name="scaled")
    y = te.compute((5,), lambda i: scaled(x[i, k], axis=k), name="Y")
    with pytest.raises(tvm.TVMError, match="TL1007.*'n'"):
        tvm.lower(te.create_schedule(y.op), [x, y])
    short = te.comm_reducer(lambda a, b: (a[0],), lambda t, u: (0, 0), name="short")
    with pytest.raises(tvm.TVMError, match="TL1004.*'short' combines 2 values at once, but has 1"):
        short((x[0, k], x[1, k]), axis=k)


def test_reductions_stand_at_the_top():
    x, k = te.placeholder((5, 9), name="X"), te.reduce_axis((0, 9), name="k")
    with pytest.raises(tvm.TVMError, match="TL1004"):
        te.compute((5,), lambda i: te.sum(x[i, k], axis=k) + 1, name="Y")


def test_identities_and_dtypes():
    """The identity of max is the lowest finite value; sums keep the dtype of the expression."""
    x, k = te.placeholder((5, 9), "int8", name="X"), te.reduce_axis((0, 9), name="k")
    y = te.compute((5,), lambda i: te.max(x[i, k], axis=k), name="Y")
    assert y.dtype == "int8" and y.op.body[0].combiner.identity_element[0].value == -128
    assert te.compute((5,), lambda i: te.sum(x[i, k], axis=k), name="Y").dtype == "int8"
    real = te.max(x[0, k].astype("float32"), axis=k)
    assert real.combiner.identity_element[0].value == np.finfo("float32").min
