"""The effect of split, tile, fuse, reorder, bind, vectorize and unroll on loops and results."""

import re
from contextlib import nullcontext

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def loops(s, args):
    """Return all loops before simplification: (kind, name, extent)."""
    text = tvm.lower_texts(s, args)["build_loops"]
    found = re.findall(r"^ *(for|unrolled|vectorized|thread<\S+>) (\S+) < (\d+)", text, re.M)
    return [(kind, name, int(extent)) for kind, name, extent in found]


def elementwise(shape, function=lambda v: v * 2 + 1):
    x = te.placeholder(shape, name="X")
    y = te.compute(shape, lambda *i: function(x(*i)), name="Y")
    return x, y, te.create_schedule(y.op)


def block(which="x"):
    return te.thread_axis(f"blockIdx.{which}")


def thread(which="x"):
    return te.thread_axis(f"threadIdx.{which}")


def check(run, s, x, y):
    shape = [int(n) for n in x.shape]
    values = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    np.testing.assert_array_equal(run(s, [x, y], values), values * 2 + 1)


def stays_serial(why=""):
    return pytest.warns(tvm.TexloomWarning, match=rf"TL3021.*(stays|is not unrolled).*{why}")


# -- split


@pytest.mark.parametrize(
    ("how", "outer", "inner"),
    [
        ({"factor": 4}, 3, 4),
        ({"nparts": 4}, 4, 3),
        ({"factor": 5}, 3, 5),  # 15 points for 12
        ({"nparts": 5}, 5, 3),
        ({"factor": 100}, 1, 12),  # a factor above the extent is reduced
        ({"nparts": 100}, 12, 1),
        ({"factor": np.int64(4)}, 3, 4),
        ({"factor": te.const(8) // 2}, 3, 4),
    ],
)
def test_split(how, outer, inner):
    x, y, s = elementwise((2, 12))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    jo, ji = s[y].split(j, **how)
    assert (jo.name, ji.name) == ("j.outer", "j.inner") or (jo.name, ji.name) == (
        "i1.outer",
        "i1.inner",
    )
    assert loops(s, [x, y])[1:] == [("for", jo.name, outer), ("for", ji.name, inner)]


@pytest.mark.parametrize("how", [{"factor": 5}, {"nparts": 5}, {"factor": 100}])
def test_split_that_does_not_divide_is_guarded(run, how):
    x, y, s = elementwise((2, 12))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].split(j, **how)
    check(run, s, x, y)


def test_split_keeps_its_extent_when_a_part_is_bound(run):
    """The block has the split's factor as its extent, even if the axis is shorter."""
    x, y, s = elementwise((5,))
    outer, inner = s[y].split(s[y].op.axis[0], factor=16)
    s[y].bind(outer, block())
    s[y].bind(inner, thread())
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert (kernel.grid[0], kernel.block[0]) == (1, 16)
    check(run, s, x, y)


def test_split_of_a_split(run):
    x, y, s = elementwise((3, 30))
    i, j = s[y].op.axis
    jo, ji = s[y].split(j, factor=7)
    joo, _ = s[y].split(jo, nparts=2)
    s[y].split(ji, factor=3)
    s[y].bind(i, block())
    s[y].bind(joo, thread())
    assert [extent for _, _, extent in loops(s, [x, y])] == [3, 2, 3, 3, 3]
    check(run, s, x, y)


# -- tile, fuse, reorder


def test_tile_is_two_splits_and_a_reorder():
    x, y, s = elementwise((8, 9))
    xo, yo, xi, yi = s[y].tile(*s[y].op.axis, 2, 3)
    s[y].bind(xo, block())
    assert [extent for _, _, extent in loops(s, [x, y])] == [4, 3, 2, 3]
    assert [a.name for a in s[y].leaf_iter_vars] == [a.name for a in (xo, yo, xi, yi)]


def test_tile_by_keywords(run):
    x, y, s = elementwise((8, 9))
    i, j = s[y].op.axis
    xo, yo, _, _ = s[y].tile(x_parent=i, y_parent=j, x_factor=3, y_factor=4)
    s[y].bind(xo, block("y"))
    s[y].bind(yo, thread("y"))
    check(run, s, x, y)


def test_fuse(run):
    """Fusion is row-major: the second axis varies faster. Any number of axes fuse, in any order."""
    x, y, s = elementwise((2, 3, 4))
    i, j, k = s[y].op.axis
    fused = s[y].fuse(i, j, k)
    s[y].bind(fused, thread())
    assert loops(s, [x, y]) == [("thread<threadIdx.x>", fused.name, 24)]
    check(run, s, x, y)

    x, y, s = elementwise((2, 3, 4))
    i, j, _ = s[y].op.axis
    assert s[y].fuse(j, i).name == "i0.i1.fused"


def test_fuse_of_a_list(run):
    x, y, s = elementwise((2, 3, 4))
    s[y].bind(s[y].fuse(*s[y].op.axis[:2]), block())
    check(run, s, x, y)


def test_fuse_of_nothing_makes_a_unit_loop(run):
    x, y, s = elementwise((3, 4))
    s[y].bind(s[y].fuse(), block())
    assert loops(s, [x, y])[0][2] == 1
    check(run, s, x, y)


def test_fused_and_split_again(run):
    """The usual cooperative pattern: all axes are fused, then divided among a number of threads."""
    x, y, s = elementwise((3, 5, 7))
    fused = s[y].fuse(*s[y].op.axis)
    outer, inner = s[y].split(fused, nparts=16)
    s[y].bind(outer, thread())
    s[y].split(inner, factor=2)
    check(run, s, x, y)


def test_reorder_moves_the_named_axes_only():
    """The named axes are permuted among their own positions; the others stay."""
    x, y, s = elementwise((2, 3, 4, 5))
    i, j, k, n = s[y].op.axis
    s[y].reorder(n, i)
    assert [a.name for a in s[y].leaf_iter_vars] == [a.name for a in (n, j, k, i)]
    s[y].bind(n, block())
    assert [extent for _, _, extent in loops(s, [x, y])] == [5, 3, 4, 2]


# -- bind


def test_bind_gives_grid_and_block(run):
    """Each tag is a dimension of the launch, whatever the order of the loops."""
    x, y, s = elementwise((2, 3, 4, 5, 2, 3))
    tags = ("block.z", "thread.y", "block.x", "thread.x", "thread.z", "block.y")
    for axis, tag in zip(s[y].op.axis, tags, strict=True):
        s[y].bind(axis, te.thread_axis(tag.replace(".", "Idx.")))
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert kernel.grid == (4, 3, 2)
    assert kernel.block == (5, 3, 2)
    assert "reqd_work_group_size(5, 3, 2)" in kernel.source
    check(run, s, x, y)


def test_thread_axis_objects_of_one_tag_are_one_index(run):
    """Two stages of one kernel may bind different thread axis objects of one tag."""
    x = te.placeholder((4, 8), name="X")
    p = te.compute((4, 8), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 8), lambda i, j: p[i, 7 - j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].bind(s[y].op.axis[1], thread())
    s[p].compute_at(s[y], s[y].op.axis[0])
    s[p].bind(s[p].op.axis[1], thread())
    assert tvm.build(s, [x, y]).kernels[0].block == (8, 1, 1)
    v = np.arange(32, dtype="float32").reshape(4, 8)
    np.testing.assert_array_equal(run(s, [x, y], v), v[:, ::-1] * 2 + 1)


def test_one_thread_axis_object_in_two_kernels(run):
    """One thread axis object may have different extents in different kernels."""
    x = te.placeholder((6,), name="X")
    p = te.compute((6,), lambda i: x[i] * 2, name="P")
    y = te.compute((3,), lambda i: p[i] + p[5 - i], name="Y")
    s = te.create_schedule(y.op)
    tx = te.thread_axis("threadIdx.x")
    for t in (p, y):
        s[t].bind(s[t].op.axis[0], tx)
    assert [k.block[0] for k in tvm.build(s, [x, y]).kernels] == [6, 3]
    np.testing.assert_array_equal(run(s, [x, y], np.arange(6)), [10, 10, 10])


def test_last_binding_holds():
    x, y, s = elementwise((4, 6))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    with pytest.warns(tvm.TexloomWarning, match="TL2003"):
        s[y].bind(i, thread())
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert (kernel.grid, kernel.block) == ((1, 1, 1), (4, 1, 1))


def test_thread_axis_spellings():
    assert te.thread_axis("threadIdx.x").thread_tag == "threadIdx.x"
    assert te.thread_axis((0, 8), "blockIdx.y").thread_tag == "blockIdx.y"
    assert te.thread_axis(None, "blockIdx.z").thread_tag == "blockIdx.z"
    assert te.thread_axis(tag="threadIdx.z", name="tz").thread_tag == "threadIdx.z"
    with pytest.raises(ValueError, match="tag"):
        te.thread_axis()


# -- vectorize, unroll


@pytest.mark.parametrize("extent", [1, 2, 3, 4, 5, 8, 12, 16, 17, 24])
def test_vectorize_any_extent(run, extent):
    x, y, s = elementwise((3, extent))
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])
    with stays_serial() if extent % 2 and extent > 1 else nullcontext():
        check(run, s, x, y)


def test_vectorized_loop_is_one_access():
    x, y, s = elementwise((3, 8))
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert "vstore8" in kernel.source and "vload8" in kernel.source
    assert "for (" not in kernel.source


def test_vectorize_with_a_guard_that_differs_by_lane(run):
    """The guarded loop runs lane by lane; nothing outside the tensor is accessed."""
    x, y, s = elementwise((3, 10))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    _, ji = s[y].split(j, factor=4)
    s[y].vectorize(ji)
    with stays_serial("differs by lane"):
        check(run, s, x, y)


def test_vectorize_around_a_vector(run):
    """If two nested loops are vectorized, only the inner loop becomes vectors."""
    x, y, s = elementwise((3, 8, 4))
    i, j, k = s[y].op.axis
    s[y].bind(i, block())
    s[y].vectorize(j)
    s[y].vectorize(k)
    with stays_serial("a loop in it is already vectorized"):
        check(run, s, x, y)


def test_vectorize_around_a_stage(run):
    """A stage inside a vectorized loop is computed for each lane."""
    x = te.placeholder((4, 8), name="X")
    p = te.compute((4, 8), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 8), lambda i, j: p[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])
    s[p].compute_at(s[y], s[y].op.axis[1])
    s[p].set_scope("local")
    with stays_serial("another stage is computed in it"):
        data = np.arange(32, dtype="float32").reshape(4, 8)
        np.testing.assert_array_equal(run(s, [x, y], data), data * 2 + 1)


def test_vectorize_of_what_is_not_consecutive(run):
    """Reads are strided, reversed and gathered, and lanes take different branches."""
    x = te.placeholder((8, 8), name="X")
    y = te.compute(
        (4, 4),
        lambda i, j: x[j * 2, i] + te.if_then_else(j > i, x[i, 3 - j], x[j % 3, j // 2]),
        name="Y",
    )
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])
    v = np.random.default_rng(0).standard_normal((8, 8)).astype("float32")
    i, j = np.indices((4, 4))
    expected = v[j * 2, i] + np.where(j > i, v[i, 3 - j], v[j % 3, j // 2])
    np.testing.assert_array_equal(run(s, [x, y], v), expected)


def test_vectorize_of_an_outer_loop(run):
    """Vectorizing an outer loop is legal, but gives no vector memory accesses."""
    x, y, s = elementwise((4, 3))
    i, j = s[y].op.axis
    s[y].bind(s[y].fuse(), block())
    s[y].vectorize(i)
    check(run, s, x, y)


def test_guarded_read_of_a_lane_stays_inside(run):
    """A lane outside the tensor must not be read: it may be outside of mapped memory."""
    x = te.placeholder((4,), name="X")
    y = te.compute(
        (3, 8),
        lambda i, j: te.if_then_else(te.all(j >= 2, j < 6), x[j - 2], -1.0) + i,
        name="Y",
    )
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])
    row = np.float32([-1, -1, 1, 2, 3, 4, -1, -1])
    expected = row + np.arange(3, dtype="float32")[:, None]
    np.testing.assert_array_equal(run(s, [x, y], [1, 2, 3, 4]), expected)


def test_unroll_copies_the_body():
    x, y, s = elementwise((3, 4))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].unroll(j)
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert kernel.source.count("Y[") == 4
    assert "for (" not in kernel.source


def test_unroll_with_a_guard(run):
    x, y, s = elementwise((3, 7))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    for axis in s[y].split(j, factor=3):
        s[y].unroll(axis)
    check(run, s, x, y)


@pytest.mark.nightly
def test_each_large_kernel_has_its_own_culprit():
    """The two kernels of a scan write one buffer; each warning names its own kernel's loop."""
    n = 3000
    x = te.placeholder((3, n), name="X")
    state = te.placeholder((3, n), name="S")
    init = te.compute((1, n), lambda _, i: x[0, i] * 2 + 1, name="init")
    update = te.compute((3, n), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    y = te.scan(init, update, state, inputs=[x])
    s = te.create_schedule(y.op)
    for part, copies in ((init, 2000), (update, 3000)):
        outer, inner = s[part].split(s[part].op.axis[1], factor=copies)
        s[part].bind(outer, block())
        s[part].unroll(inner)
    with pytest.warns(tvm.TexloomWarning, match="TL4009") as warnings:
        tvm.build(s, [x, y], target="opencl")
    culprits = [re.search("kernel(.)' .* unrolled to (.*) with", str(w.message)) for w in warnings]
    assert [culprit and culprit.groups() for culprit in culprits] == [
        ("0", "2000 copies"),
        ("1", "3000 copies"),
    ]


def test_unroll_of_a_very_long_loop_stays_a_loop():
    """A loop of ten million iterations is not unrolled, even if a directive says so."""
    x, y, s = elementwise((2, 10_000_000))
    i, j = s[y].op.axis
    s[y].bind(i, block())
    s[y].unroll(j)
    with stays_serial("10000000 stores"):
        (kernel,) = tvm.build(s, [x, y]).kernels
    assert "for (" in kernel.source


def test_vectorize_of_a_guarded_division(run):
    """A guarded lane must not divide by zero, although other lanes do divide."""
    n = te.placeholder((4,), "int32", name="N")
    y = te.compute(
        (4, 4),
        lambda i, j: te.if_then_else(j > 0, 100 // j, 7) + te.if_then_else(n[j] != 0, 9 // n[j], 5),
        name="Y",
    )
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[y].vectorize(s[y].op.axis[1])
    data = np.array([0, 2, 0, 4], "int32")
    expected = np.array([7 + 5, 100 + 4, 50 + 5, 33 + 2], "int32")
    np.testing.assert_array_equal(run(s, [n, y], data), np.tile(expected, (4, 1)))


def test_what_is_refused_changes_nothing():
    """A refused directive changes nothing, even one that creates several loops."""
    _, y, s = elementwise((8, 4, 2))
    i, j, k = s[y].op.axis
    before = str(s)
    for refused in (
        lambda: s[y].tile(i, i, 2, 2),
        lambda: s[y].tile(i, j, 2, 0),
        lambda: s[y].fuse(i, j, i),
        lambda: s[y].fuse(j, k, thread()),
        lambda: s[y].reorder(k, i, i),
    ):
        with pytest.raises(tvm.TVMError):
            refused()
        assert str(s) == before
