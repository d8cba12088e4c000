"""compute_at, compute_inline and compute_root: where a stage runs and which part it computes."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def chain(shape, read, out_shape=None):
    """Return X, P = X * 2, Y = read(P), and a schedule with Y's first axis bound to blocks."""
    x = te.placeholder(shape, name="X")
    p = te.compute(shape, lambda *i: x(*i) * 2, name="P")
    y = te.compute(out_shape or shape, lambda *i: read(p, *i), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, p, y, s


def allocated(s, args, name):
    """Return the shape of a temporary inside a kernel."""
    text = str(tvm.lower(s, args))
    (shape,) = re.findall(rf"buffer\.alloca {re.escape(name)}: \w+ \w+\[(.*?)\]", text)
    return [int(n) for n in shape.split(",")]


VALUES = np.random.default_rng(3).integers(-9, 9, size=(6, 12)).astype("float32")


@pytest.mark.parametrize(
    ("loop", "part"),
    [(0, [1, 12]), (1, [1, 5]), (2, [1, 2])],
    ids=["block loop", "outer loop", "inner loop"],
)
def test_only_the_part_that_is_read_is_computed(run, loop, part):
    """Y reads P[i, j] and P[i, j + 1]; the row of Y has 11 elements and is split by 4."""
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, j] + p[i, j + 1], (6, 11))
    i, j = s[y].op.axis
    jo, ji = s[y].split(j, factor=4)
    s[p].compute_at(s[y], (i, jo, ji)[loop])
    s[p].set_scope("local")
    assert allocated(s, [x, y], "P") == part
    expected = VALUES[:, :-1] * 2 + VALUES[:, 1:] * 2
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


@pytest.mark.parametrize(
    ("scope", "part"),
    [("local", [1, 1]), ("shared", [1, 12])],
)
def test_scope_decides_for_whom_the_part_is(run, scope, part):
    """Inside a thread loop, a local stage computes one thread's part, a shared one the block's."""
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, j] + 1)
    i, j = s[y].op.axis
    s[y].bind(j, thread())
    s[p].compute_at(s[y], j)
    s[p].set_scope(scope)
    assert allocated(s, [x, y], "P") == part
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES * 2 + 1)


def test_scope_is_inferred_from_the_place():
    """The default scope is local under threadIdx, shared under only blockIdx, else global."""
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, j] + 1)
    i, j = s[y].op.axis
    s[y].bind(j, thread())
    assert s[p].scope == "global"
    s[p].compute_at(s[y], i)
    assert s[p].scope == "shared"
    s[p].compute_at(s[y], j)
    assert s[p].scope == "local"
    s[p].set_scope("shared")
    assert s[p].scope == "shared"


def test_the_last_place_holds():
    """compute_root, compute_at and compute_inline replace each other; the last one applies."""
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, j] + 1)
    s[p].compute_inline()
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].compute_root()
    s[p].bind(s[p].op.axis[0], block())
    assert len(tvm.build(s, [x, y]).kernels) == 2


def test_attached_to_a_loop_that_is_split_later(run):
    """The stage moves to the inner part of the split."""
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, j] + 1)
    i, j = s[y].op.axis
    s[p].compute_at(s[y], j)
    s[p].set_scope("local")
    s[y].split(j, factor=4)
    assert allocated(s, [x, y], "P") == [1, 1]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES * 2 + 1)


def test_attached_to_a_loop_that_is_fused_later(run):
    """If the loop is the inner operand of the fuse, the stage moves to the fused loop."""
    x = te.placeholder((6, 12), name="X")
    p = te.compute((6, 12), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((6, 12), lambda i, j: p[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[p].compute_at(s[y], j)
    s[p].set_scope("local")
    s[y].bind(s[y].fuse(i, j), thread())
    assert allocated(s, [x, y], "P") == [1, 1]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES * 2 + 1)


def test_chain_of_three(run):
    """Each stage is inside the next, and computes the part that the next one needs."""
    x = te.placeholder((20,), name="X")
    a = te.compute((20,), lambda i: x[i] * 2, name="A")
    b = te.compute((19,), lambda i: a[i] + a[i + 1], name="B")
    c = te.compute((18,), lambda i: b[i] + b[i + 1], name="C")
    y = te.compute((18,), lambda i: c[17 - i] + 1, name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(s[y].op.axis[0], factor=5)
    s[y].bind(outer, block())
    for stage, place in ((c, outer), (b, outer), (a, outer)):
        s[stage].compute_at(s[y], place)
        s[stage].set_scope("local")
    assert [allocated(s, [x, y], n) for n in "CBA"] == [[5], [6], [7]]
    v = np.arange(20, dtype="float32") ** 2
    expected = np.convolve(v, [2, 4, 2], "valid")[::-1] + 1
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


def test_stages_inside_one_another(run):
    """A is attached to a loop of B, which is attached to a loop of Y."""
    x = te.placeholder((8, 9), name="X")
    a = te.compute((8, 9), lambda i, j: x[i, j] + 1, name="A")
    b = te.compute((8, 8), lambda i, j: a[i, j] * a[i, j + 1], name="B")
    y = te.compute((8, 8), lambda i, j: b[i, 7 - j], name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[b].compute_at(s[y], i)
    s[b].set_scope("local")
    s[a].compute_at(s[b], s[b].op.axis[1])
    s[a].set_scope("local")
    assert allocated(s, [x, y], "A") == [1, 2]
    v = VALUES[:, :9].repeat(2, 0)[:8]
    np.testing.assert_array_equal(run(s, [x, y], v), ((v[:, :-1] + 1) * (v[:, 1:] + 1))[:, ::-1])


def test_two_readers_inside_one_loop(run):
    """One attached stage serves two readers: it computes the hull of what both read."""
    x = te.placeholder((6, 12), name="X")
    p = te.compute((6, 12), lambda i, j: x[i, j] * 2, name="P")
    a = te.compute((6, 4), lambda i, j: p[i, j], name="A")
    b = te.compute((6, 4), lambda i, j: p[i, 9 - j * 2], name="B")
    y = te.compute((6, 4), lambda i, j: a[i, j] - b[i, j], name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, block())
    for stage in (a, b, p):
        s[stage].compute_at(s[y], i)
        s[stage].set_scope("local")
    assert allocated(s, [x, y], "P") == [1, 10]
    expected = VALUES[:, :4] * 2 - VALUES[:, [9, 7, 5, 3]] * 2
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_attached_under_a_guard(run):
    """The last tile is partial: the attached stage does not compute outside it."""
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, j] + p[5 - i, 11 - j])
    i, j = s[y].op.axis
    jo, ji = s[y].split(j, factor=5)
    s[p].compute_at(s[y], jo)
    s[p].set_scope("shared")
    s[p].split(s[p].op.axis[1], factor=7)
    expected = VALUES * 2 + VALUES[::-1, ::-1] * 2
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_attached_at_a_reduction_loop(run):
    """The usual tile of a matrix product: both operands are staged at the outer reduction loop."""
    a, b = te.placeholder((6, 10), name="A"), te.placeholder((10, 8), name="B")
    k = te.reduce_axis((0, 10), name="k")
    c = te.compute((6, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    cached = [s.cache_read(t, "shared", [c]) for t in (a, b)]
    cl = s.cache_write(c, "local")
    io, jo, ii, ji = s[c].tile(*s[c].op.axis, 3, 4)
    s[c].bind(io, block("y"))
    s[c].bind(jo, block("x"))
    s[c].bind(ii, thread("y"))
    s[c].bind(ji, thread("x"))
    s[cl].compute_at(s[c], ji)
    ko, ki = s[cl].split(s[cl].op.reduce_axis[0], factor=4)
    s[cl].reorder(ko, *s[cl].op.axis, ki)
    for t in cached:
        s[t].compute_at(s[cl], ko)
        fused = s[t].fuse(*s[t].op.axis)
        ty, rest = s[t].split(fused, nparts=3)
        tx, _ = s[t].split(rest, nparts=4)
        s[t].bind(ty, thread("y"))
        s[t].bind(tx, thread("x"))
    va, vb = VALUES[:, :10], VALUES[:, :8].repeat(2, 0)[:10]
    np.testing.assert_array_equal(run(s, [a, b, c], va, vb), va @ vb)


# -- compute_inline


def test_inlined_stage_vanishes(run):
    """An inlined stage has no loop or memory, whatever its readers and other inlined stages."""
    x = te.placeholder((6, 12), name="X")
    a = te.compute((6, 12), lambda i, j: x[i, j] * 2, name="A")
    b = te.compute((12, 6), lambda i, j: a[j, i] + j, name="B")
    y = te.compute((6, 6), lambda i, j: b[i * 2, j] - b[j, i] + a[i, j], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[a].compute_inline()
    s[b].compute_inline()
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert [p["name"] for p in kernel.args] == ["X", "Y"]
    i, j = np.indices((6, 6))
    va = VALUES * 2
    expected = (va[j, i * 2] + j) - (va[i, j] + i) + va[i, j]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), expected)


def test_cache_of_an_inlined_stage_computes_it(run):
    x, p, y, s = chain((6, 12), lambda p, i, j: p[i, 11 - j] + 1)
    cache = s.cache_read(p, "texture", [y])
    s[cache].bind(s[cache].op.axis[0], block())
    s[p].compute_inline()
    first, _ = tvm.build(s, [x, y]).kernels
    assert [a["name"] for a in first.args] == ["X", "P.texture"]
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[:, ::-1] * 2 + 1)


def test_stage_whose_reader_is_inlined_attaches_to_the_reader_s_reader(run):
    x = te.placeholder((6, 12), name="X")
    p = te.compute((6, 12), lambda i, j: x[i, j] * 2, name="P")
    q = te.compute((6, 12), lambda i, j: p[i, 11 - j] + 3, name="Q")
    y = te.compute((6, 12), lambda i, j: q[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[q].compute_inline()
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].set_scope("local")
    np.testing.assert_array_equal(run(s, [x, y], VALUES), VALUES[:, ::-1] * 2 + 4)


def test_inlined_guard(run):
    """Padding written as a separate stage is inlined into the window that reads it."""
    x = te.placeholder((6, 12), name="X")
    padded = te.compute(
        (8, 12),
        lambda i, j: te.if_then_else(te.all(i >= 1, i < 7), x[i - 1, j], 0.0),
        name="padded",
    )
    k = te.reduce_axis((0, 3), name="k")
    y = te.compute((6, 12), lambda i, j: te.sum(padded[i + k, j] * (k + 1), axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[padded].compute_inline()
    s[y].bind(s[y].op.axis[1], thread())
    full = np.pad(VALUES, ((1, 1), (0, 0)))
    np.testing.assert_array_equal(run(s, [x, y], VALUES), full[:-2] + full[1:-1] * 2 + full[2:] * 3)


def three_stages():
    """Return X, P, Q and Y: X doubled, plus one, minus three."""
    x = te.placeholder((8, 4), name="X")
    p = te.compute((8, 4), lambda *i: x(*i) * 2, name="P")
    q = te.compute((8, 4), lambda *i: p(*i) + 1, name="Q")
    y = te.compute((8, 4), lambda *i: q(*i) - 3, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    return x, p, q, y, s


def test_output_may_be_attached_or_inlined_for_a_while():
    x, p, q, y, s = three_stages()
    s[y].compute_at(s[q], q.op.axis[0])
    s[y].compute_inline()
    s[y].compute_root()
    s[p].compute_inline()
    s[q].compute_inline()
    assert "Y" in str(tvm.lower(s, [x, y]))
    s[y].compute_at(s[q], q.op.axis[0])
    with pytest.raises(tvm.TVMError, match="TL3017"):
        te.schedule.InferBound(s)


def test_scope_is_readable_whatever_the_stage_is_attached_to():
    _, p, q, y, s = three_stages()
    s[q].compute_inline()
    s[p].compute_at(s[q], q.op.axis[0])
    assert s[p].scope == ""  # no loop determines the scope
    s[q].compute_at(s[y], y.op.axis[0])
    assert s[p].scope == "shared"
    s[q].compute_at(s[p], p.op.axis[0])
    assert s[p].scope == s[q].scope == ""
    s[p].set_scope("local")
    assert s[p].scope == "local"


def test_empty_scope_is_inferred_again():
    x, p, q, y, s = three_stages()
    s[p].compute_inline()
    s[q].compute_at(s[y], y.op.axis[0])
    s[q].set_scope("texture", layout="texture[(h, c) -> rows=h, lanes=c]")
    s[q].set_scope("")
    assert s[q].scope == "shared"
    assert "texture" not in str(tvm.lower(s, [x, y]))
    s[q].compute_root()
    assert s[q].scope == "global"
