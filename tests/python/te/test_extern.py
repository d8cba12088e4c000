"""Externs: tensors whose elements are written by a statement of ir_builder."""

import re

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(20).integers(-9, 9, size=(8, 16)).astype("float32")


def placeholder(shape=(8, 16), dtype="float32"):
    return te.placeholder(shape, dtype, name="A")


def builder(axis="blockIdx.x", extent=8):
    """Return a builder whose statements run on threads of one axis."""
    ib = tvm.tir.ir_builder.create()
    thread = te.thread_axis(axis)
    ib.scope_attr(thread, "thread_extent", extent)
    return ib, thread


def threads_of_rows():
    """Return a builder with a block for each row, and a thread for each of its 16 elements."""
    ib, row = builder()
    element = te.thread_axis("threadIdx.x")
    ib.scope_attr(element, "thread_extent", 16)
    return ib, row, element


def doubled(ins, outs):
    """Double each row on its own block."""
    ib, row = builder()
    a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    with ib.for_range(0, 16) as j:
        b[row, j] = a[row, j] * 2.0
    return ib.get()


def bind(s, *tensors):
    for t in tensors:
        s[t].bind(s[t].op.axis[0], te.thread_axis("blockIdx.x"))


def lowered_alike(s, args):
    """Check that the text of the schedule parses back and lowers to the same kernels."""
    text = str(tvm.program(s, args))
    again = tvm.parse(text)
    assert str(again) == text
    return text


def test_rows_are_doubled(run):
    a = placeholder()
    b = te.extern((8, 16), [a], doubled, name="B")
    assert isinstance(b.op, te.ExternOp)
    assert not isinstance(b.op, te.ComputeOp)
    assert b.op.axis == []
    assert b.op.input_tensors == [a]
    assert b.dtype == "float32"
    s = te.create_schedule(b.op)
    lowered_alike(s, [a, b])
    result = run(s, [a, b], VALUES)
    assert (result == VALUES * 2).all()


def test_between_ordinary_stages_nothing_is_inlined(run):
    """An extern and the stages it reads are never inlined, even if requested."""
    a = placeholder()
    x = te.compute((8, 16), lambda i, j: a[i, j] + 1, name="X")
    b = te.extern((8, 16), [x], doubled, name="B")
    y = te.compute((8, 16), lambda i, j: b[i, j] - a[i, j], name="Y")
    s = te.create_schedule(y.op)
    s[x].compute_inline()
    s[b].compute_inline()
    bind(s, x, y)
    te.schedule.AutoInlineInjective(s)
    assert len(tvm.build(s, [a, y], "opencl").kernels) == 3
    result = run(s, [a, y], VALUES)
    assert (result == (VALUES + 1) * 2 - VALUES).all()


def test_several_outputs_of_several_shapes(run):
    """The outputs are each row's largest element, its position, and the row without it."""
    a = placeholder()

    def body(ins, outs):
        ib, row = builder()
        x = ib.buffer_ptr(ins[0])
        best, place, rest = (ib.buffer_ptr(out) for out in outs)
        best[row], place[row] = x[row, 0], 0
        with ib.for_range(1, 16, name="j") as j, ib.if_scope(x[row, j] > best[row]):
            best[row], place[row] = x[row, j], j
        with ib.for_range(0, 16) as j:
            with ib.if_scope(j == place[row]):
                rest[row, j] = 0
            with ib.else_scope():
                rest[row, j] = x[row, j]
        return ib.get()

    outs = te.extern([(8,), (8,), (8, 16)], [a], body, "M", ["float32", "int32", "float32"])
    assert [t.name for t in outs] == ["M.v0", "M.v1", "M.v2"]
    assert [tuple(t.shape) for t in outs] == [(8,), (8,), (8, 16)]
    s = te.create_schedule(outs[0].op)
    lowered_alike(s, [a, *outs])
    best, place, rest = run(s, [a, *outs], VALUES)
    where = VALUES.argmax(axis=1)
    expected = VALUES.copy()
    expected[np.arange(8), where] = 0
    assert (best == VALUES.max(axis=1)).all()
    assert (place == where).all()
    assert (rest == expected).all()


def test_one_output_of_several_is_read(run):
    a = placeholder()

    def body(ins, outs):
        ib, row = builder()
        x, first, last = (ib.buffer_ptr(each) for each in (*ins, *outs))
        first[row], last[row] = x[row, 0], x[row, 15]
        return ib.get()

    _, last = te.extern([(8,), (8,)], [a], body, name="E")
    y = te.compute((8,), lambda i: last[i] * 3, name="Y")
    s = te.create_schedule(y.op)
    bind(s, y)
    result = run(s, [a, y], VALUES)
    assert (result == VALUES[:, 15] * 3).all()


@pytest.mark.parametrize("inside", [False, True])
def test_shared_memory_and_barriers(run, inside):
    """Threads reverse a row through shared memory, allocated before or after the thread axis is
    bound; a barrier separates writes from reads."""
    a = placeholder()

    def body(ins, outs):
        ib, row = builder()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        tx = te.thread_axis("threadIdx.x")
        if inside:
            ib.scope_attr(tx, "thread_extent", 16)
        tile = ib.allocate("float32", 16, name="tile", scope="shared")
        if not inside:
            ib.scope_attr(tx, "thread_extent", 16)
        tile[tx] = x[row, tx]
        twice = ib.let("twice", tile[15 - tx] * 2.0)
        y[row, tx] = twice
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    s = te.create_schedule(b.op)
    kernel = str(tvm.lower(s, [a, b]))
    assert kernel.count("barrier") == 1
    assert kernel.index("tile[threadIdx.x") < kernel.index("barrier") < kernel.index("let twice")
    result = run(s, [a, b], VALUES)
    assert (result == VALUES[:, ::-1] * 2).all()


@pytest.mark.parametrize("synced", [False, True])
def test_threads_exchange_global_memory(run, synced):
    """If a thread reads what another thread of its block wrote, a barrier is inserted, unless the
    script already has one."""
    a = placeholder()

    def body(ins, outs):
        ib, row, tx = threads_of_rows()
        x, y, z = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        y[row, tx] = x[row, tx] * 2.0
        if synced:
            sync = tvm.runtime.convert(["global"])
            ib.emit(tvm.tir.Call(None, "tir.tvm_storage_sync", sync))
        z[row, tx] = y[row, 15 - tx]
        return ib.get()

    outputs = te.extern([(8, 16), (8, 16)], [a], body, name="B", dtype=["float32"] * 2)
    s = te.create_schedule(outputs[0].op)
    assert str(tvm.lower(s, [a, *outputs])).count("barrier") == 1
    twice, back = run(s, [a, *outputs], VALUES)
    assert (twice == VALUES * 2).all() and (back == VALUES[:, ::-1] * 2).all()


@pytest.mark.parametrize("scope", ["shared", "global"])
@pytest.mark.parametrize("first", [0, 1])
def test_threads_write_and_read_around_a_ring(run, scope, first):
    """Threads clear the ring, others fill it, and others read it: barriers separate the steps."""
    a = placeholder()

    def body(ins, outs):
        ib, row, tx = threads_of_rows()
        x, y, ring = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        tile = ib.allocate("float32", 16, name="tile", scope="shared")

        def place(i):
            return (tile, i) if scope == "shared" else (ring, (row, i))

        if first == 0:
            memory, at = place(tx)
            memory[at] = -1.0
        memory, at = place(tvm.te.floormod(tx + 1, 16))
        memory[at] = x[row, tx]
        memory, at = place(tvm.te.floormod(tx + 3, 16))
        y[row, tx] = memory[at]
        if scope == "shared":
            ring[row, tx] = 0.0
        return ib.get()

    outputs = te.extern([(8, 16), (8, 16)], [a], body, name="B", dtype=["float32"] * 2)
    s = te.create_schedule(outputs[0].op)
    assert str(tvm.lower(s, [a, *outputs])).count("barrier") == 2 - first
    result = run(s, [a, *outputs], VALUES)[0]
    assert (result == np.roll(VALUES, -2, axis=1)).all()


def test_a_value_that_nothing_uses(run):
    """The condition of the only statement that uses a value never holds."""
    a = placeholder()

    def body(ins, outs):
        ib, row, tx = threads_of_rows()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        y[row, tx] = x[row, tx]
        for block in range(2):
            value = ib.let("value", x[row, tx] * 2.0)
            with ib.if_scope(row + 8 * block < 8):
                y[row + 8 * block, tx] = value
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    s = te.create_schedule(b.op)
    assert (run(s, [a, b], VALUES) == VALUES * 2).all()


def test_own_elements_of_global_memory_need_no_barrier(run):
    """Each thread sorts its own row, without a barrier."""
    a = placeholder()

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        row = te.thread_axis("threadIdx.x")
        ib.scope_attr(row, "thread_extent", 8)
        with ib.for_range(0, 16) as j:
            y[row, j] = x[row, j]
        with ib.for_range(0, 16), ib.for_range(0, 15) as j:
            first, second = ib.let("first", y[row, j]), ib.let("second", y[row, j + 1])
            with ib.if_scope(first > second):
                y[row, j] = second
                y[row, j + 1] = first
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    s = te.create_schedule(b.op)
    assert "barrier" not in str(tvm.lower(s, [a, b]))
    assert (run(s, [a, b], VALUES) == np.sort(VALUES)).all()


def test_barriers_where_threads_part_are_refused():
    a = placeholder()

    def body(ins, outs):
        ib, row, tx = threads_of_rows()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.if_scope(tx < 8):
            ib.emit(tvm.tir.call_intrin(None, "tir.tvm_storage_sync", "shared"))
        y[row, tx] = x[row, tx]
        return ib.get()

    with pytest.raises(tvm.TVMError, match="not all threads of a block reach it"):
        te.extern((8, 16), [a], body, name="B")


def test_several_kernels_share_memory(run):
    """Memory allocated outside thread axes is a temporary of the launch plan."""
    a = placeholder()

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        sums = ib.allocate("float32", (8,), name="sums")
        with ib.new_scope():
            row = te.thread_axis("threadIdx.x")
            ib.scope_attr(row, "thread_extent", 8)
            sums[row] = 0.0
            with ib.for_range(0, 16, kind="unroll") as j:
                sums[row] = sums[row] + x[row, j]
        with ib.new_scope():
            row, column = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
            ib.scope_attr(row, "thread_extent", 8)
            ib.scope_attr(column, "thread_extent", 16)
            y[row, column] = x[row, column] - sums[row]
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    s = te.create_schedule(b.op)
    assert len(tvm.build(s, [a, b], "opencl").kernels) == 2
    result = run(s, [a, b], VALUES)
    assert (result == VALUES - VALUES.sum(axis=1, keepdims=True)).all()


def test_vectors(run):
    """Externs use declared buffers, vector loads, stores and constants, and scalar operands."""
    a = placeholder()
    x = tvm.tir.decl_buffer(a.shape, a.dtype, name="x")
    y = tvm.tir.decl_buffer((8, 16), "float32", name="y")

    def body(ins, outs):
        assert (ins[0].name, outs[0].name) == ("x", "y")
        ib, row = builder()
        with ib.for_range(0, 4, name="j") as j:
            value = ins[0].vload((row, j * 4), "float32x4")
            one = tvm.tir.const(1, "float32x4")
            ib.emit(outs[0].vstore([row, j * 4], value * 2.0 + value + one))
        return ib.get()

    b = te.extern((8, 16), [a], body, in_buffers=x, out_buffers=[y], name="B")
    s = te.create_schedule(b.op)
    assert "ramp" in lowered_alike(s, [a, b])
    assert "float4" in tvm.build(s, [a, b], "opencl").kernels[0].source
    result = run(s, [a, b], VALUES)
    assert (result == VALUES * 3 + 1).all()
    assert (x.dtype, tuple(x.shape), x.strides, x.elem_offset) == ("float32", (8, 16), [], 0)


def test_flat_indices_and_loops_that_begin_later(run):
    """A single index counts the elements of all axes; a loop may begin at any value."""
    a = placeholder()

    def body(ins, outs):
        ib, row = builder()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(row * 16, row * 16 + 16, name="n", kind="parallel") as n:
            y[n] = x[n] + 1.0
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    s = te.create_schedule(b.op)
    assert "%" not in tvm.build(s, [a, b], "opencl").kernels[0].source
    result = run(s, [a, b], VALUES)
    assert (result == VALUES + 1).all()


def test_vectorized_and_virtual_threads(run):
    a = placeholder()

    def body(ins, outs):
        ib, row = builder(extent=4)
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        half = te.thread_axis("vthread")
        ib.scope_attr(half, "virtual_thread", 2)
        with (
            ib.for_range(0, 4, name="j") as j,
            ib.for_range(0, 4, name="v", kind="vectorize") as v,
        ):
            y[half * 4 + row, j * 4 + v] = -x[half * 4 + row, j * 4 + v]
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    s = te.create_schedule(b.op)
    assert "float4" in tvm.build(s, [a, b], "opencl").kernels[0].source
    result = run(s, [a, b], VALUES)
    assert (result == -VALUES).all()


@pytest.mark.parametrize("scope", ["global", "texture"])
def test_caches_of_inputs(run, scope):
    """An extern reads a cache in a buffer or a texture; the text keeps the original."""
    a = placeholder()
    b = te.extern((8, 16), [a], doubled, name="B")
    s = te.create_schedule(b.op)
    cache = s.cache_read(a, scope, [b])
    bind(s, cache)
    assert s[b].op.input_tensors == [cache]
    assert f"= A.{scope} origin = A" in lowered_alike(s, [a, b])
    result = run(s, [a, b], VALUES)
    assert (result == VALUES * 2).all()


def test_an_output_is_cached_into_a_texture(run):
    """An extern writes elements to a buffer, and a copy brings them into a texture."""
    a = placeholder()
    b = te.extern((8, 16), [a], doubled, name="B")
    y = te.compute((8, 16), lambda i, j: b[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    bind(s, s.cache_read(b, "texture", [y]), y)
    result = run(s, [a, y], VALUES)
    assert (result == VALUES * 2 + 1).all()


def test_storage_scope_of_an_allocation():
    a = placeholder()

    def body(ins, outs):
        ib, row = builder()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        tile = ib.allocate("float32", 1, name="tile")
        ib.scope_attr(tile.asobject(), "storage_scope", "shared")
        tile[0] = x[row, 0]
        y[row, 0] = tile[0]
        with pytest.raises(ValueError, match="TL1020.*memory in use"):
            ib.scope_attr(tile, "storage_scope", "local")
        return ib.get()

    b = te.extern((8, 16), [a], body, name="B")
    assert re.search(r"alloca tile: shared float32\[1\]", str(te.create_schedule(b.op)))


def test_loops_that_end_with_a_condition(run):
    """One extern counts how often each value can be halved. In another, all threads of a block
    search together through shared memory: barriers are around the condition."""
    a = placeholder((8,), "int32")

    def halvings(ins, outs):
        ib, row = builder()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        rest = ib.allocate("int32", 1, name="rest")
        rest[0], y[row] = x[row], 0
        with ib.while_loop(tvm.tir.all(rest[0] > 0, rest[0] % 2 == 0)):
            rest[0] = rest[0] // 2
            y[row] = y[row] + 1
        return ib.get()

    def largest(ins, outs):
        ib = tvm.tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        tile = ib.allocate("int32", 8, name="tile", scope="shared")
        width = ib.allocate("int32", 1, name="width", scope="shared")
        tx = te.thread_axis("threadIdx.x")
        ib.scope_attr(tx, "thread_extent", 8)
        tile[tx] = x[tx]
        with ib.if_scope(tx == 0):
            width[0] = 4
        with ib.while_loop(width[0] > 0):
            with ib.if_scope(tx < width[0]):
                tile[tx] = te.max(tile[tx], tile[(tx + width[0]) % 8])
            with ib.if_scope(tx == 0):
                width[0] = width[0] // 2
        with ib.if_scope(tx == 0):
            y[0] = tile[0]
        return ib.get()

    values = np.array([12, 7, 0, 64, 40, 6, 5, 1])
    b = te.extern((8,), [a], halvings, name="B")
    s = te.create_schedule(b.op)
    lowered_alike(s, [a, b])
    assert (run(s, [a, b], values) == [2, 0, 0, 6, 3, 1, 0, 0]).all()
    c = te.extern((1,), [a], largest, name="C")
    s = te.create_schedule(c.op)
    assert (run(s, [a, c], values) == [64]).all()


def test_tag_and_attributes():
    with te.tag_scope("injective"):
        b = te.extern((8, 16), [placeholder()], doubled, name="B", attrs={"answer": 42})
    assert b.op.tag == "injective"
    assert b.op.attrs["answer"].value == 42
    assert "tag injective" in str(te.create_schedule(b.op))


def test_misuse_is_a_value_error():
    a = placeholder()
    c = placeholder(dtype="int32")
    ib = tvm.tir.ir_builder.create()
    for message, call in {
        "returns None": lambda: te.extern((8,), [a], lambda ins, outs: None),
        "which has no effect": lambda: te.extern((8,), [a], lambda ins, outs: ins[0].vload((0, 0))),
        "not have one common dtype": lambda: te.extern((8, 16), [a, c], doubled),
        "2 outputs, but 1 dtypes": lambda: te.extern([(8,), (8,)], [a], doubled, dtype=["int8"]),
        "not a list of tensors": lambda: te.extern((8,), [a.op], doubled),
        "else_scope does not follow": ib.else_scope,
        "would point to no memory": lambda: ib.pointer("float32"),
        r"kind 'tensorize'(.|\n)*use one of serial": lambda: ib.for_range(0, 4, kind="tensorize"),
        r"no attribute(.|\n)*use thread_extent": lambda: ib.scope_attr(a, "coproc_scope", 1),
        r"applied to a Tensor(.|\n)*made by te.thread_axis": lambda: ib.scope_attr(
            a, "thread_extent", 1
        ),
        "emit takes a statement": lambda: ib.emit(te.const(1)),
    }.items():
        with pytest.raises(ValueError, match=f"TL1020.*{message}"):
            call()


def test_loops_beyond_proofs(run):
    """Indices that ranges cannot prove to be in bounds are left to the statement: those of
    triangular loops, and of loops whose bounds are in memory."""
    a = placeholder((16,))
    count = te.placeholder((1,), "int32", name="count")

    def body(ins, outs):
        ib, _ = builder(extent=1)
        x, n, y = (ib.buffer_ptr(each) for each in (*ins, *outs))
        with ib.for_range(0, n[0], name="i") as i:
            y[i] = 0.0
            with ib.for_range(0, n[0] - i, name="j") as j:
                y[i] = y[i] + x[i + j]
        with ib.for_range(0, 4, name="t") as t, ib.for_range(0, 4 - t, name="u") as u:
            y[t + u] = y[t + u] * 2.0
        with ib.for_range(0, 16, name="k") as k, ib.if_scope(k >= n[0]):
            y[k] = 0
        return ib.get()

    b = te.extern((16,), [a, count], body, dtype="float32", name="B")
    s = te.create_schedule(b.op)
    lowered_alike(s, [a, count, b])
    result = run(s, [a, count, b], VALUES[0], np.array([9]))
    expected = np.zeros(16, "float32")
    expected[:9] = VALUES[0, :9][::-1].cumsum()[::-1]
    expected[:4] *= [2, 4, 8, 16]
    assert (result == expected).all()
