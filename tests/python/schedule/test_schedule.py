"""Queries of schedules and stages, and ``te.schedule``'s functions on whole schedules."""

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(6).integers(-9, 9, size=(12, 30)).astype("float32")


def chain():
    """Return X, P = X * 2, Y = P[i, j] + P[i, j + 1]."""
    x = te.placeholder((12, 30), name="X")
    p = te.compute((12, 30), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((12, 29), lambda i, j: p[i, j] + p[i, j + 1], name="Y")
    return x, p, y, te.create_schedule(y.op)


EXPECTED = VALUES[:, :-1] * 2 + VALUES[:, 1:] * 2


def names(axes):
    return [axis.name for axis in axes]


# -- Stage


def test_axes_and_relations():
    """Stages have all_iter_vars, leaf_iter_vars, and relations of type Split, Fuse, Singleton."""
    _, _, y, s = chain()
    i, j = s[y].op.axis
    jo, ji = s[y].split(j, factor=4)
    fused = s[y].fuse(i, jo)
    unit = s[y].fuse()
    assert names(s[y].leaf_iter_vars) == ["singleton", "i.j.outer.fused", "j.inner"]
    all_names = names(s[y].all_iter_vars)
    assert set(all_names) == {
        *("i", "j", "j.outer", "j.inner", "i.j.outer.fused", "singleton"),
    }
    single, split, fuse = s[y].relations
    assert isinstance(single, te.schedule.Singleton) and single.iter.same_as(unit)
    assert isinstance(split, te.schedule.Split) and isinstance(fuse, te.schedule.Fuse)
    assert split.parent.same_as(j) and split.outer.same_as(jo) and split.inner.same_as(ji)
    assert (split.factor.value, split.nparts) == (4, None)
    assert fuse.outer.same_as(i) and fuse.inner.same_as(jo) and fuse.fused.same_as(fused)


def test_iter_var_attrs():
    """iter_var_attrs gives iter_type, bind_thread and pragma_keys for each axis."""
    _, _, y, s = chain()
    i, j = s[y].op.axis
    tx = te.thread_axis("threadIdx.x")
    s[y].bind(i, tx)
    jo, ji = s[y].split(j, factor=4)
    s[y].unroll(jo)
    s[y].vectorize(ji)
    s[y].pragma(jo, "auto_unroll_max_step", 8)
    attrs = s[y].iter_var_attrs
    assert attrs[i].bind_thread.same_as(tx)
    assert (attrs[jo].iter_type, attrs[ji].iter_type) == (5, 6)
    assert attrs[jo].pragma_keys == ["auto_unroll_max_step"]
    assert j not in attrs and len(attrs) == 3


def test_attachment():
    """attach_type is 1 for root, 2 for inline, 4 at a loop; splits move the attachment inwards."""
    _, p, y, s = chain()
    assert s[p].attach_type == 1 and s[p].attach_stage is None and s[p].attach_ivar is None
    s[p].compute_inline()
    assert s[p].attach_type == 2
    j = s[y].op.axis[1]
    s[p].compute_at(s[y], j)
    assert s[p].attach_type == 4 and s[p].attach_stage == s[y]
    assert s[p].attach_ivar.same_as(j)
    _, ji = s[y].split(j, factor=4)
    assert s[p].attach_ivar.same_as(ji)
    assert s[y].num_child_stages == 1 and s[p].num_child_stages == 0
    assert s[y].is_output and not s[p].is_output and s[p].group is None


# -- Schedule


def test_stages_are_in_topological_order():
    """A cache_read follows its source; cache_write and rf stages precede the original stage."""
    x = te.placeholder((12, 30), name="X")
    k = te.reduce_axis((0, 30), name="k")
    b = te.compute((12,), lambda i: te.sum(x[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    s.cache_read(x, "shared", [b])
    bl = s.cache_write(b, "local")
    s.rfactor(bl, s[bl].op.reduce_axis[0])
    order = ["X", "X.shared", "B.local.rf", "B.local.repl", "B"]
    assert [stage.op.name for stage in s.stages] == order
    assert s[b].origin_op == b.op
    assert s.stage_map[s[b].op] == s[b] and s.groups == []


def test_cache_write_moves_the_reduction_axes():
    """C.op.axis belongs to s[C], C.op.reduce_axis and the user's k to the stage of the cache."""
    x = te.placeholder((12, 30), name="X")
    k = te.reduce_axis((0, 30), name="k")
    c = te.compute((12,), lambda i: te.sum(x[i, k], axis=k), name="C")
    s = te.create_schedule(c.op)
    cl = s.cache_write(c, "local")
    assert names(s[cl].op.axis) == ["i.c"]
    s[cl].split(c.op.reduce_axis[0], factor=2)
    s[c].split(c.op.axis[0], factor=2)
    with pytest.raises(tvm.TVMError, match="TL2005"):
        s[c].split(k, factor=2)


def test_normalize_is_a_copy_that_can_be_built(run):
    x, p, y, s = chain()
    s[p].compute_inline()
    copy = s.normalize()
    copy[y].bind(copy[y].op.axis[0], te.thread_axis("blockIdx.x"))
    with pytest.raises(tvm.TVMError, match="TL3003"):
        tvm.build(s, [x, y])
    np.testing.assert_array_equal(run(copy, [x, y], VALUES), EXPECTED)


@pytest.mark.parametrize("infer", [te.schedule.InferBound, te.Schedule.bounds])
def test_bounds_of_every_axis(infer):
    """Y has tiles of 4 columns; P, attached inside, computes the 5 elements that a tile reads."""
    x, p, y, s = chain()
    i, j = s[y].op.axis
    jo, ji = s[y].split(j, factor=4)
    s[p].compute_at(s[y], jo)
    bounds = infer(s)
    extents = {axis.name: int(bounds[axis].extent) for axis in (i, j, jo, ji)}
    assert extents == {"i": 12, "j": 29, "j.outer": 8, "j.inner": 4}
    pi, pj = p.op.axis
    assert int(bounds[pi].extent) == 1 and int(bounds[pj].extent) == 5
    assert str(bounds[pj].min) == "j.outer * 4" and str(bounds[pi].min) == "i"
    assert tvm.ir.structural_equal(bounds[pj].min, jo.var * 4)
    assert pj in bounds and x.op not in bounds
    assert len(bounds.items()) == len(bounds) == 6


def test_broadcasts_are_inlined_by_their_tag():
    x = te.placeholder((1,), name="X")
    a = te.compute((6,), lambda i: x[0] + i, name="A", tag="broadcast")
    b = te.compute((6,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    te.schedule.AutoInlineBroadcast(s)
    assert s[a].attach_type == 2


@pytest.mark.parametrize(
    ("function", "inlined"),
    [
        (te.schedule.AutoInlineElemWise, "A"),
        (te.schedule.AutoInlineBroadcast, "AB"),
        (te.schedule.AutoInlineInjective, "ABC"),
    ],
)
def test_auto_inline(function, inlined):
    """A reads at its own indices, B at a subset, C at others; D reduces, E is the output."""
    x, w = te.placeholder((6, 6), name="X"), te.placeholder((6,), name="W")
    a = te.compute((6, 6), lambda i, j: x[i, j] + 1, name="A")
    b = te.compute((6, 6), lambda i, j: a[i, j] * w[j], name="B")
    c = te.compute((6, 6), lambda i, j: b[j, i] + 1, name="C")
    k = te.reduce_axis((0, 6), name="k")
    d = te.compute((6,), lambda i: te.sum(c[i, k], axis=k), name="D")
    e = te.compute((6,), lambda i: d[i] + 1, name="E")
    s = te.create_schedule(e.op)
    function(s)
    assert "".join(st.op.name for st in s.stages if st.attach_type == 2) == inlined


# -- trace


def rebuilt(s, script, **tensors):
    scope = {"te": te, **tensors}
    exec(script, scope)
    assert str(scope["s"]) == str(s)


def test_trace_is_a_script_that_makes_the_schedule_again():
    x = te.placeholder((24, 30), name="X")
    k = te.reduce_axis((0, 30), name="k")
    b = te.compute((24,), lambda i: te.sum(x[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    xs = s.cache_read(x, "shared", [b])
    ko, ki = s[b].split(s[b].op.reduce_axis[0], factor=5)
    bf = s.rfactor(b, ki, factor_axis=-1)
    io, ii = s[b].split(s[b].op.axis[0], nparts=3)
    tx = te.thread_axis("threadIdx.x")
    s[b].bind(io, te.thread_axis("blockIdx.x"))
    s[b].bind(ii, te.thread_axis("vthread"))
    s[b].bind(s[b].op.reduce_axis[0], tx)
    s[b].set_store_predicate(tx.var.equal(0))
    s[bf].compute_at(s[b], s[b].op.reduce_axis[0])
    s[bf].unroll(s[bf].op.reduce_axis[0])
    s[xs].compute_at(s[b], ii)
    s[xs].storage_align(s[xs].op.axis[0], 32, 1)
    s[xs].pragma(s[xs].op.axis[0], "auto_unroll_max_step", 16)
    script = s.trace()
    assert script.startswith("s = te.create_schedule([B.op])\nX_shared = s.cache_read(X, 'shared'")
    rebuilt(s, script, X=x, B=b)


def test_trace_leaves_out_what_was_refused():
    _, p, y, s = chain()
    with pytest.raises(tvm.TVMError):
        s[y].bind(s[y].op.axis[0], s[y].op.axis[1])
    with pytest.raises(tvm.TVMError):
        s[y].split(s[y].op.axis[0], factor=0)
    xo, yo, xi, yi = s[y].tile(*s[y].op.axis, 3, 4)
    s[p].compute_at(s[y], yo)
    s[y].reorder(xo, yo, yi, xi)
    assert len(s.trace().splitlines()) == 4
    rebuilt(s, s.trace(), P=p, Y=y)


def test_trace_of_stages_that_are_inlined_together():
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] + 1, name="P")
    y = te.compute((8,), lambda i: p[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    te.schedule.AutoInlineInjective(s)
    assert s.trace().splitlines()[1:] == ["s[P].compute_inline()"]
    rebuilt(s, s.trace(), P=p, Y=y)


def test_trace_of_a_copy():
    """The copy's trace has the lines of the original schedule, then its own."""
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    outer, _ = s[y].split(y.op.axis[0], 4)
    copy = s.normalize()
    copy[y].bind(outer, te.thread_axis("blockIdx.x"))
    assert s.trace() + 'blockIdx_x = te.thread_axis("blockIdx.x")\n' in copy.trace()
    rebuilt(copy, copy.trace(), Y=y)


def test_trace_of_transform_layout():
    """The trace writes the function as the indices that it returns; the new loops have names."""
    x = te.placeholder((6, 40), name="X")
    y = te.compute((6, 40), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[x].transform_layout(lambda *i, last: [last // 4, *i, te.AXIS_SEPARATOR, last % 4])
    a, b, c = s[y].transform_layout(lambda i, j: [j // 8, i, j % 8])
    s[y].bind(a, te.thread_axis("blockIdx.x"))
    s[y].reorder(c, b)
    assert "lambda d0, d1: [" in s.trace()
    rebuilt(s, s.trace(), X=x, Y=y)
