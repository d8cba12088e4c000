"""Placeholders, computes and slices: shapes, names, and which tensors are read."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def test_placeholder():
    x = te.placeholder((2, 3), "float16", name="X")
    assert (x.name, x.dtype, x.ndim) == ("X", "float16", 2)
    assert [n.value for n in x.shape] == [2, 3]
    assert x.op.name == "X"
    assert list(x.op.input_tensors) == []
    assert te.placeholder((1,)).dtype == "float32"


@pytest.mark.parametrize(
    "shape",
    [
        [2, 3],
        (np.int64(2), 3),
        (te.const(2), te.const(9) // 3),
        np.zeros((2, 3)).shape,
    ],
    ids=["list", "numpy", "expressions", "numpy shape"],
)
def test_shapes_are_what_holds_integers(shape):
    for tensor in (te.placeholder(shape), te.compute(shape, lambda i, j: i + j)):
        assert [int(n) for n in tensor.shape] == [2, 3]


def test_one_extent_needs_no_tuple():
    assert [n.value for n in te.placeholder(5).shape] == [5]
    assert [n.value for n in te.compute(5, lambda i: i).shape] == [5]


def test_axes_are_named_after_the_parameters():
    y = te.compute((2, 3), lambda row, col: row + col, name="Y")
    assert [a.name for a in y.op.axis] == ["row", "col"]
    z = te.compute((2, 3, 4), lambda n, *rest: n + rest[0] + rest[1], name="Z")
    assert [a.name for a in z.op.axis] == ["n", "rest0", "rest1"]
    assert z.op.axis[-1].name == "rest1"


def test_fcompute_takes_one_axis_for_each_extent():
    with pytest.raises(tvm.TVMError, match="TL1007.*takes 3 axes, but is called with 2 axes"):
        te.compute((2, 3), lambda i, j, k: i)
    with pytest.raises(tvm.TVMError, match="TL1007.*gives the parameter .j. a default"):
        te.compute((2, 3), lambda i, j=0: i)
    with pytest.raises(tvm.TVMError, match="TL1007.*kwargs"):
        te.compute((2,), lambda i, **kwargs: i)


def test_operations_know_what_they_read():
    """Each input is listed once, in order of appearance; a read that folds away does not count."""
    x, w = te.placeholder((4,), name="X"), te.placeholder((4,), name="W")
    y = te.compute((4,), lambda i: w[i] * x[i] + w[3 - i], name="Y", tag="mine")
    assert [t.name for t in y.op.input_tensors] == ["W", "X"]
    assert y.op.tag == "mine"
    assert len(y.op.body) == 1


def test_reads_in_three_spellings():
    """`X[i, j]`, `X[i][j]` and `X(i, j)` are the same read."""
    x = te.placeholder((2, 3), name="X")
    spellings = (lambda i, j: x[i, j], lambda i, j: x[i][j], lambda i, j: x(i, j))
    assert len({str(te.compute((2, 3), f).op.body[0]) for f in spellings}) == 1
    assert repr(x[0]) and not isinstance(x[0], te.PrimExpr)  # a slice until all indices are given


def test_tensors_and_operations_compare_by_what_computes_them():
    x = te.placeholder((2,), name="X")
    y = te.compute((2,), lambda i: x[i], name="X")  # equal names are legal
    assert x.op.output(0) == x
    assert x != y
    assert hash(x.op.output(0)) == hash(x)
    assert x.op in [y.op, x.op]
    assert {x: 1}[x.op.output(0)] == 1


def test_tensor_without_axes(run):
    """A rank-0 tensor can be read directly; its stage is bound through a fused unit axis."""
    x = te.placeholder((), name="X")
    k = te.reduce_axis((0, 5), name="k")
    v = te.placeholder((5,), name="V")
    total = te.compute((), lambda: te.sum(v[k] * x, axis=k), name="total")
    s = te.create_schedule(total.op)
    s[total].bind(s[total].fuse(), te.thread_axis("blockIdx.x"))
    got = run(s, [x, v, total], np.float32(3), np.arange(5, dtype="float32"))
    assert got.shape == ()
    assert got == 30


def test_stage_without_axes_is_a_kernel_of_one_thread(run):
    """A stage without axes has nothing to bind, so it is a separate kernel of one thread."""
    x, v = te.placeholder((), name="X"), te.placeholder((5,), name="V")
    k = te.reduce_axis((0, 5), name="k")
    total = te.compute((), lambda: te.sum(v[k], axis=k), name="total")
    y = te.compute((), lambda: total() * x(), name="Y")
    got = run(te.create_schedule(y.op), [x, v, y], np.float32(3), np.arange(5, dtype="float32"))
    assert got.shape == ()
    assert got == 30


def test_stage_inside_one_without_axes(run):
    """A stage attached to one without axes runs on the same single thread."""
    x = te.placeholder((4, 8), name="X")
    k, j = te.reduce_axis((0, 4), name="k"), te.reduce_axis((0, 8), name="j")
    rows = te.compute((4,), lambda i: te.sum(x[i, j], axis=j), name="rows")
    total = te.compute((), lambda: te.sum(rows[k], axis=k), name="total")
    s = te.create_schedule(total.op)
    s[rows].set_scope("local")
    s[rows].compute_at(s[total], s[total].op.reduce_axis[0])
    values = np.arange(32, dtype="float32").reshape(4, 8)
    assert run(s, [x, total], values) == values.sum()


def test_equal_names_everywhere(run):
    """Names of tensors and axes may repeat, and may be kernel keywords."""
    a = te.placeholder((3,), name="float")
    b = te.placeholder((3,), name="float")
    c = te.compute((3,), lambda kernel: a[kernel] - b[kernel], name="float")
    d = te.compute((3,), lambda kernel: c[kernel] * 2, name="get_global_id")
    s = te.create_schedule(d.op)
    for t in (c, d):
        s[t].bind(s[t].op.axis[0], te.thread_axis("threadIdx.x"))
    got = run(s, [a, b, d], np.float32([5, 6, 7]), np.float32([1, 2, 3]))
    np.testing.assert_array_equal(got, [8, 8, 8])


ODD_NAMES = ["", "Größe", "a b", "1st", "x.y", "x-y", "*/", '"', "\\", "image2d_t", "日本", "a\nb"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_is_a_name(run, name):
    """No tensor name breaks the kernel's source."""
    x = te.placeholder((4,), name=name)
    y = te.compute((4,), lambda i: x[i] + 1, name=name)
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    s[cache].bind(s[cache].fuse(), te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    np.testing.assert_array_equal(run(s, [x, y], np.zeros(4)), np.ones(4))
    assert str(s) and str(tvm.lower(s, [x, y]))


def test_schedule_finds_stages():
    """Stages are found by tensor, by operation, and by the original tensor after caching."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule([y.op])
    assert [st.op.name for st in s.stages] == ["X", "Y"]
    assert [op.name for op in s.outputs] == ["Y"]
    cache = s.cache_read(x, "local", [y])
    assert s[y] == s[y.op] == s[s[y].op]
    assert s[y].op != s[y].origin_op
    s.cache_write(y, "local")
    assert s.outputs == [y.op]  # the operations that create_schedule got
    assert [st.op.name for st in s.stages] == ["X", "X.local", "Y.local", "Y"]
    assert s[cache] in s.stages
    assert s[y].is_output and not s[cache].is_output


def test_long_chains():
    """Three hundred stages cause no deep recursion."""
    tensor = te.placeholder((4,), name="X")
    first = tensor
    for n in range(300):
        tensor = chained(tensor, n)
    s = te.create_schedule(tensor.op)
    assert len(s.stages) == 301
    s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("threadIdx.x"))
    for stage in s.stages[1:-1]:
        stage.bind(stage.op.axis[0], te.thread_axis("threadIdx.x"))
    text = str(tvm.lower(s, [first, tensor]))
    assert text.count("launch ") == 300


def chained(source, number):
    return te.compute((4,), lambda i: source[i] + 1, name=f"T{number}")
