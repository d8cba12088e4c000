"""Which stages read which, and where they are computed, as reported by ``te.schedule``."""

import pytest

import texloom as tvm
from texloom import te
from texloom.te import schedule


def diamond():
    """Return A; B and C, which read A; and D, which reads B and C."""
    a = te.placeholder((8, 4), name="A")
    b = te.compute((8, 4), lambda i, j: a[i, j] + 1, name="B")
    c = te.compute((8, 4), lambda i, j: a[i, j] * 2, name="C")
    d = te.compute((8, 4), lambda i, j: b[i, j] - c[i, j], name="D")
    return a, b, c, d


def test_read_graph():
    a, b, c, d = diamond()
    graph = schedule.CreateReadGraph([d.op])
    assert graph == {d.op: [b, c], b.op: [a], c.op: [a], a.op: []}
    assert schedule.PostDFSOrder([d.op], graph) == [a.op, b.op, c.op, d.op]
    assert schedule.PostDFSOrder([c.op], graph) == [a.op, c.op]


def test_attach_path():
    _, b, c, d = diamond()
    s = te.create_schedule(d.op)
    i, j = d.op.axis
    s[c].compute_at(s[d], j)
    s[b].compute_at(s[c], c.op.axis[0])
    path = schedule.CreateAttachPath(s)
    assert path[d.op] == []
    assert [axis.same_as(own) for axis, own in zip(path[c.op], [j, i], strict=True)] == [True] * 2
    assert [axis.name for axis in path[b.op]] == [c.op.axis[0].name, j.name, i.name]
    s[c].compute_at(s[b], b.op.axis[0])
    with pytest.raises(tvm.TVMError, match="TL3014"):
        schedule.CreateAttachPath(s)


def test_body_of_a_scan():
    x = te.placeholder((4, 8), name="X")
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: x[0, i], name="init")
    twice = te.compute((4, 8), lambda t, i: x[t, i] * 2, name="twice")
    step = te.compute((4, 8), lambda t, i: state[t - 1, i] + 1, name="step")
    update = te.compute((4, 8), lambda t, i: step[t, i] + twice[t, i], name="update")
    scan = te.scan(init, update, state)
    assert schedule.ScanGetBody(scan.op) == [step.op, update.op]
    order = schedule.PostDFSOrder([scan.op], schedule.CreateReadGraph([scan.op]))
    assert order[-1] == scan.op and order.index(init.op) < order.index(scan.op)
    with pytest.raises(tvm.TVMError, match="TL2042"):
        schedule.ScanFixPointAnalysis(scan.op)


def test_loops_of_a_schedule():
    """The reported loops match `lower` after its first passes, even without bound threads."""
    a, _, _, d = diamond()
    s = te.create_schedule(d.op)
    s = s.normalize()
    loops = schedule.ScheduleOps(s, schedule.InferBound(s))
    assert isinstance(loops, tvm.tir.Stmt)
    assert str(loops).strip() in tvm.lower_texts(s, [a, d])["build_loops"].replace("\n  ", "\n")
    assert "D[" in str(loops) and "for " in str(loops)


def test_loops_of_symbolic_extents():
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    cache = s.cache_write(b, "local")
    s[cache].compute_at(s[b], s[b].op.axis[0])
    text = str(schedule.ScheduleOps(s, schedule.InferBound(s)))
    assert "B.local" in text and "< n" in text
