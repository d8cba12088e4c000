"""Thread axes: virtual threads, and loops bound to threads that each have their own buffer."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(8).integers(-9, 9, size=(24, 24)).astype("float32")


def product(n=24):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return a, b, c, te.create_schedule(c.op)


def tiled_product(virtual):
    """Return blocks of 12 x 12: 2 x 2 virtual threads of 3 x 3 threads, each with a 2 x 2 tile."""
    a, b, c, s = product()
    shared = [s.cache_read(t, "shared", [c]) for t in (a, b)]
    local = [s.cache_read(t, "local", [c]) for t in shared]
    cl = s.cache_write(c, "local")
    y, x = s[c].op.axis
    by, yi = s[c].split(y, factor=12)
    bx, xi = s[c].split(x, factor=12)
    vy, yi = s[c].split(yi, nparts=2)
    vx, xi = s[c].split(xi, nparts=2)
    ty, yi = s[c].split(yi, nparts=3)
    tx, xi = s[c].split(xi, nparts=3)
    s[c].reorder(by, bx, vy, vx, ty, tx, yi, xi)
    threads = [te.thread_axis(tag) for tag in ("blockIdx.y", "blockIdx.x")]
    threads += [virtual(), virtual(), te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")]
    for axis, thread in zip((by, bx, vy, vx, ty, tx), threads, strict=True):
        s[c].bind(axis, thread)
    s[cl].compute_at(s[c], tx)
    ko, ki = s[cl].split(s[cl].op.reduce_axis[0], factor=4)
    s[cl].reorder(ko, ki, *s[cl].op.axis)
    for t in shared:
        s[t].compute_at(s[cl], ko)
        fused = s[t].fuse(*s[t].op.axis)
        ty, rest = s[t].split(fused, nparts=3)
        tx, _ = s[t].split(rest, nparts=3)
        s[t].bind(ty, threads[4])
        s[t].bind(tx, threads[5])
    for t in local:
        s[t].compute_at(s[cl], ki)
    return a, b, c, s


def loops_text(s, args):
    return tvm.lower_texts(s, args)["inject_virtual_threads"]


def test_product_with_virtual_threads(run):
    a, b, c, s = tiled_product(lambda: te.thread_axis("vthread"))
    expected = VALUES @ VALUES.T
    np.testing.assert_array_equal(run(s, [a, b, c], VALUES, VALUES.T), expected)


def test_buffers_inside_are_replicated_per_virtual_thread():
    """Each of 2 x 2 virtual threads has accumulators; data that the threads share exists once."""
    a, b, c, s = tiled_product(lambda: te.thread_axis("vthread"))
    text = loops_text(s, [a, b, c])
    assert "C.local: local float32[2, 2, 2, 2]" in text
    assert "A.shared: shared float32[12, 4]" in text
    # A's rows depend only on vy, B's columns only on vx.
    assert "A.shared.local: local float32[2, 2, 1]" in text
    assert "B.shared.local: local float32[2, 1, 2]" in text
    assert "virtual" not in text.replace("inject_virtual_threads", "")


def test_virtual_threads_share_what_does_not_differ():
    """Shared memory is filled once for all virtual threads: between their loops, not inside."""
    a, b, c, s = tiled_product(lambda: te.thread_axis("vthread"))
    (kernel,) = tvm.build(s, [a, b, c]).kernels
    stores = re.findall(r"[AB]\.shared\[[^\]]*\] = ", loops_text(s, [a, b, c]))
    assert len(stores) == 2  # one for A, one for B
    assert kernel.block == (3, 3, 1)


def test_virtual_threads_never_merge(run):
    """Three bindings of "vthread" in one stage make three loops."""
    x = te.placeholder((4, 6, 8), name="X")
    y = te.compute((4, 6, 8), lambda i, j, k: x[i, j, k] + 1, name="Y")
    s = te.create_schedule(y.op)
    for axis in s[y].op.axis:
        outer, inner = s[y].split(axis, nparts=2)
        s[y].bind(outer, te.thread_axis("vthread"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    text = tvm.lower_texts(s, [x, y])["build_loops"]
    assert len(re.findall(r"virtual \S+ < 2 ", text)) == 3
    values = np.arange(192, dtype="float32").reshape(4, 6, 8)
    np.testing.assert_array_equal(run(s, [x, y], values), values + 1)


def two_stages(same):
    """Return P, shared, inside Y; both are bound to vthreads, of one axis object or of two."""
    x = te.placeholder((4, 12), name="X")
    p = te.compute((4, 12), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 12), lambda i, j: p[i, 11 - j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    virtual, thread = te.thread_axis("vthread"), te.thread_axis("threadIdx.x")
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    v, t = s[y].split(j, nparts=3)
    s[y].bind(v, virtual)
    s[y].bind(t, thread)
    s[p].compute_at(s[y], t)
    s[p].set_scope("shared")
    v, t = s[p].split(s[p].op.axis[1], nparts=3)
    s[p].bind(v, virtual if same else te.thread_axis("vthread"))
    s[p].bind(t, te.thread_axis("threadIdx.x"))
    return x, y, s


@pytest.mark.parametrize("same", [True, False])
def test_one_virtual_thread_object_in_two_stages_is_one(run, same):
    x, y, s = two_stages(same)
    loops = re.findall(r"virtual \S+ < 3 ", tvm.lower_texts(s, [x, y])["build_loops"])
    assert len(loops) == (1 if same else 2)
    values = VALUES[:4, :12]
    np.testing.assert_array_equal(run(s, [x, y], values), values[:, ::-1] * 2 + 1)


@pytest.mark.parametrize(("count", "loops"), [(15, 0), (16, 1)])
def test_virtual_threads_are_unrolled_below_16(run, count, loops):
    x = te.placeholder((3, count), name="X")
    y = te.compute((3, count), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[1], te.thread_axis("vthread"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    assert len(re.findall(r"\bfor ", str(tvm.lower(s, [x, y])))) == loops
    values = VALUES[:3, :count]
    np.testing.assert_array_equal(run(s, [x, y], values), values + 1)


def test_scope_under_virtual_threads_is_local():
    """A stage attached under a vthread is local; under only blockIdx it is shared."""
    x = te.placeholder((4, 6), name="X")
    p = te.compute((4, 6), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 6), lambda i, j: p[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    s[y].bind(j, te.thread_axis("vthread"))
    s[p].compute_at(s[y], i)
    assert s[p].scope == "shared"
    s[p].compute_at(s[y], j)
    assert s[p].scope == "local"


def test_shared_memory_covers_all_virtual_threads(run):
    """A vthread counts as a thread: a shared region covers all of them, a local one covers one."""
    for scope, region in (("shared", "[1, 12]"), ("local", "[1, 4]")):
        x = te.placeholder((4, 12), name="X")
        p = te.compute((4, 12), lambda i, j: x[i, j] * 2, name="P")  # noqa: B023
        y = te.compute((4, 12), lambda i, j: p[i, j] + 1, name="Y")  # noqa: B023
        s = te.create_schedule(y.op)
        i, j = s[y].op.axis
        v, _ = s[y].split(j, nparts=3)
        s[y].bind(i, te.thread_axis("blockIdx.x"))
        s[y].bind(v, te.thread_axis("vthread"))
        s[p].compute_at(s[y], v)
        s[p].set_scope(scope)
        text = tvm.lower_texts(s, [x, y])["build_loops"]
        assert f"P: {scope} float32{region}" in text
        np.testing.assert_array_equal(run(s, [x, y], VALUES[:4, :12]), VALUES[:4, :12] * 2 + 1)


def test_text_form_tells_virtual_threads_apart():
    """A name identifies an object; the text parses back to the same program."""
    for same in (True, False):
        x, y, s = two_stages(same)
        text = str(tvm.program(s, [x, y]))
        assert ("vthread.1" in text) is not same
        again = tvm.parse(text)
        assert str(again) == text
        assert str(tvm.lower(again)) == str(tvm.lower(s, [x, y]))


# -- A stage attached at a loop over the threads to which the stage is bound.


def test_local_stage_bound_to_threads_is_computed_by_each(run):
    """Each thread has its own buffer, which needs neither the thread's index nor a guard."""
    x = te.placeholder((4, 8), name="X")
    p = te.compute((4, 8), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 8), lambda i, j: p[i, 7 - j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    s[y].bind(j, te.thread_axis("threadIdx.x"))
    s[p].compute_at(s[y], j)
    s[p].set_scope("local")
    s[p].bind(s[p].op.axis[1], te.thread_axis("threadIdx.x"))
    text = str(tvm.lower(s, [x, y]))
    assert "if " not in text
    assert "P: local float32[1, 1]" in text
    np.testing.assert_array_equal(run(s, [x, y], VALUES[:4, :8]), VALUES[:4, 7::-1] * 2 + 1)


@pytest.mark.parametrize("tag", ["blockIdx.y", "threadIdx.x"])
def test_shared_stage_bound_to_blocks_needs_no_guard(run, tag):
    """A block has the whole buffer; its threads share the work."""
    x = te.placeholder((4, 8), name="X")
    p = te.compute((4, 8), lambda i, j: x[i, j] * 2, name="P")
    y = te.compute((4, 8), lambda i, j: p[i, 7 - j] + 1, name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    s[y].bind(i, te.thread_axis("blockIdx.x"))
    s[y].bind(j, te.thread_axis("threadIdx.x"))
    s[p].compute_at(s[y], i)
    s[p].bind(s[p].op.axis[1], te.thread_axis(tag))
    (kernel,) = tvm.build(s, [x, y]).kernels
    assert kernel.grid == (4, 1, 1)
    np.testing.assert_array_equal(run(s, [x, y], VALUES[:4, :8]), VALUES[:4, 7::-1] * 2 + 1)


def test_virtual_threads_alone_are_no_threads():
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("vthread"))
    with pytest.raises(tvm.TVMError, match=r"TL3003(.|\n)*a vthread is a loop inside a thread"):
        tvm.build(s, [x, y])
