"""Externs with symbolic extents, scalars in their statements, and declared buffers."""

import random

import numpy as np
import pytest

import texloom as tvm
from texloom import te

SIZES = (1, 31, 64, 65, 200)


def axis(tag):
    return te.thread_axis(tag)


def numbers(*shape):
    return np.random.default_rng(sum(shape)).integers(-9, 9, size=shape).astype("float32")


def threads_over(ib, n, factor=64):
    """Return an index below blocks times `factor`; indices from n on must be skipped."""
    bx, tx = axis("blockIdx.x"), axis("threadIdx.x")
    ib.scope_attr(bx, "thread_extent", (n + (factor - 1)) // factor)
    ib.scope_attr(tx, "thread_extent", factor)
    return bx * factor + tx


def call(f, dev, shape, *values):
    """Return what the function writes to its last argument, of this shape."""
    out = tvm.nd.empty(shape, "float32", dev)
    f(*(tvm.nd.array(v, dev) if isinstance(v, np.ndarray) else v for v in values), out)
    return out.numpy()


def interpreted(program, symbols, inputs, outputs=1):
    """Return the last array after each pass, computed by the interpreter."""
    seen = []
    given = [v.tobytes() for v in inputs] + [None] * outputs
    tvm._core.run_versions(program, symbols, given, 1 << 22, lambda *version: seen.append(version))
    for name, reports, _ in seen:
        assert not reports, (name, reports)
    return [np.frombuffer(arrays[-1], "float32") for _, _, arrays in seen]


def built_and_read_back(s, args):
    """Build from the text of the schedule, and check that the text parses back unchanged."""
    program = tvm.program(s, args)
    again = tvm.parse(str(program))
    assert str(again) == str(program)
    for text in tvm.lower_texts(program).values():
        assert str(tvm.parse(text)) == text
    return tvm.build(again), program


def doubled(x, n, **buffers):
    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        i = threads_over(ib, n)
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.if_scope(i < n):
            b[i] = a[i] * 2.0
        return ib.get()

    return te.extern((n,), [x], body, name="Y", **buffers)


# -- Values.


def test_one_module_for_all_sizes(dev):
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    y = doubled(x, n)
    assert y.shape[0].same_as(n)
    f, program = built_and_read_back(te.create_schedule(y.op), [x, y])
    assert f.get_source().count("__kernel") == 1 and "const int n" in f.get_source()
    for size in SIZES:
        np.testing.assert_array_equal(call(f, dev, (size,), numbers(size)), numbers(size) * 2)
        for result in interpreted(program, {"n": size}, [numbers(size)]):
            np.testing.assert_array_equal(result, numbers(size) * 2)
    with pytest.raises(tvm.TVMError, match=r'TL5003.*argument 1 "Y" is 4, expected n = 5'):
        call(f, dev, (4,), numbers(5))


def test_between_computes(dev):
    """Stages around the extern are scheduled as usual; the call gives temporaries' extents."""
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    p = te.compute((n,), lambda i: x[i] + 1, name="P")
    y = doubled(p, n)
    z = te.compute((n,), lambda i: y[i] - x[i], name="Z")
    s = te.create_schedule(z.op)
    for t in (p, z):
        outer, inner = s[t].split(t.op.axis[0], factor=32)
        s[t].bind(outer, axis("blockIdx.x"))
        s[t].bind(inner, axis("threadIdx.x"))
    f, _ = built_and_read_back(s, [x, z])
    for size in SIZES:
        np.testing.assert_array_equal(call(f, dev, (size,), numbers(size)), numbers(size) + 2)


def test_scalars_in_the_statement(dev):
    """One scalar is in no extent, one is a loop bound, and one has a narrow type."""
    n, k = te.var("n"), te.var("k")
    factor, offset = te.var("factor", "float32"), te.var("offset", "int8")
    x = te.placeholder((n,), name="X")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        i = threads_over(ib, n)
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.if_scope(i < n):
            b[i] = offset.astype("float32")
            with ib.for_range(0, k, name="j") as j:
                b[i] = b[i] + a[(i + j) % n] * factor
        return ib.get()

    y = te.extern((n,), [x], body, name="Y")
    f, program = built_and_read_back(te.create_schedule(y.op), [k, x, factor, offset, y])
    for size, steps in ((1, 3), (70, 0), (33, 5)):
        v = numbers(size)
        expected = -3 + 0.5 * sum(np.roll(v, -j) for j in range(steps)) + np.zeros_like(v)
        np.testing.assert_array_equal(call(f, dev, (size,), steps, v, 0.5, -3), expected)
        symbols = {"n": size, "k": steps, "factor": 0.5, "offset": -3}
        for result in interpreted(program, symbols, [v]):
            np.testing.assert_array_equal(result, expected)


def test_expressions_of_symbols_and_several_outputs(dev):
    """The extern adds pairs of rows, and sums each result; flat indices use symbolic extents."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((2 * n, m), name="X")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        row = axis("blockIdx.x")
        ib.scope_attr(row, "thread_extent", n)
        a, pairs, sums = (ib.buffer_ptr(each) for each in (*ins, *outs))
        sums[row] = 0.0
        with ib.for_range(0, m, name="j") as j:
            pairs[row, j] = a[2 * row, j] + a[2 * row * m + m + j]
            sums[row] = sums[row] + pairs[row * m + j]
        return ib.get()

    pairs, sums = te.extern([(n, m), (n,)], [x], body, name="E")
    f, _ = built_and_read_back(te.create_schedule(sums.op), [x, pairs, sums])
    for rows, columns in ((1, 1), (3, 5), (8, 40)):
        v = numbers(2 * rows, columns)
        between = tvm.nd.empty((rows, columns), "float32", dev)
        total = tvm.nd.empty((rows,), "float32", dev)
        f(tvm.nd.array(v, dev), between, total)
        np.testing.assert_array_equal(between.numpy(), v[::2] + v[1::2])
        np.testing.assert_array_equal(total.numpy(), (v[::2] + v[1::2]).sum(1))


def test_memory_between_kernels_and_loops_of_launches(dev):
    """The extern has global memory of a symbolic size, and a host loop over launches."""
    n, steps = te.var("n"), te.var("steps")
    x = te.placeholder((n,), name="X")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        other = ib.allocate("float32", (n,), name="other", scope="global")

        def kernel(statement):
            with ib.new_scope():
                i = threads_over(ib, n, 16)
                with ib.if_scope(i < n):
                    statement(i)

        kernel(lambda i: b.__setitem__(i, a[i]))
        with ib.for_range(0, steps, name="t"):
            kernel(lambda i: other.__setitem__(i, b[n - 1 - i]))
            kernel(lambda i: b.__setitem__(i, other[i] + b[i]))
        return ib.get()

    y = te.extern((n,), [x], body, name="Y")
    f, program = built_and_read_back(te.create_schedule(y.op), [x, steps, y])
    assert len(f.kernels) == 3
    for size, count in ((1, 2), (17, 0), (40, 3)):
        expected = numbers(size)
        for _ in range(count):
            expected = expected + expected[::-1]
        np.testing.assert_array_equal(call(f, dev, (size,), numbers(size), count), expected)
        for result in interpreted(program, {"n": size, "steps": count}, [numbers(size)]):
            np.testing.assert_array_equal(result, expected)


def test_barriers_between_threads_of_symbolic_rows(dev):
    n = te.var("n")
    x = te.placeholder((n, 16), name="X")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        row, tx = axis("blockIdx.x"), axis("threadIdx.x")
        ib.scope_attr(row, "thread_extent", n)
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        tile = ib.allocate("float32", 16, name="tile", scope="shared")
        ib.scope_attr(tx, "thread_extent", 16)
        tile[tx] = a[row, tx]
        b[row, tx] = tile[15 - tx]
        return ib.get()

    y = te.extern((n, 16), [x], body, name="Y")
    f, _ = built_and_read_back(te.create_schedule(y.op), [x, y])
    assert f.get_source().count("barrier") == 1
    for rows in (1, 7):
        v = numbers(rows, 16)
        np.testing.assert_array_equal(call(f, dev, v.shape, v), v[:, ::-1])


# -- Declared buffers.


def test_declared_buffers_of_symbolic_shapes(dev):
    """An extern and arguments use declared buffers, whose stride variables get compact strides."""
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")

    def declared(t, name):
        stride, offset = te.var("stride"), te.var("offset")
        return tvm.tir.decl_buffer(
            t.shape, t.dtype, name, strides=[stride, 1], elem_offset=offset, offset_factor=4
        )

    def body(ins, outs):
        assert [str(e) for e in ins[0].strides] == ["stride", "1"]
        ib = tvm.tir.ir_builder.create()
        i = axis("blockIdx.x")
        ib.scope_attr(i, "thread_extent", n)
        with ib.for_range(0, m, name="j") as j:
            values = [ins[0].vload([i, j]), ins[0].strides[0], ins[0].elem_offset]
            total = values[0] + (values[1] * 100 + values[2]).astype("float32")
            ib.emit(outs[0].vstore([i, j], total))
        return ib.get()

    y = te.extern((n, m), [x], body, "Y", in_buffers=declared(x, "x"), out_buffers=declared(x, "y"))
    s = te.create_schedule(y.op)
    binds = {t: declared(t, f"bound_{t.name}") for t in (x, y)}
    program = tvm.program(s, [x, y], binds=binds)
    assert str(tvm.parse(str(program))) == str(program)
    f = tvm.build(program)
    assert "bound_X" in f.get_source() and "stride" not in f.get_source()
    for shape in ((1, 1), (3, 7), (20, 4)):
        v = numbers(*shape)
        np.testing.assert_array_equal(call(f, dev, shape, v), v + 100 * shape[1])


@pytest.mark.parametrize(
    ("strides", "offset", "problem"),
    [
        (lambda n, m: [m, 1], 0, None),
        (lambda n, m: [te.var("s"), te.var("t")], te.var("o"), None),
        (lambda n, m: [n, 1], None, "has the stride n along axis 0, .* have m"),
        (lambda n, m: [m, 2], None, "has the stride 2 along axis 1, .* have 1"),
        (lambda n, m: [te.var("s")] * 2, None, "has the stride s along axis 1"),
        (lambda n, m: [1], None, "has 2 axes and 1 strides"),
        (lambda n, m: [m + 1, 1], None, r"has the stride m \+ 1 along axis 0"),
        (lambda n, m: None, 4, "begins at element 4, but arrays begin at 0"),
    ],
)
def test_strides_that_every_array_has(dev, strides, offset, problem):
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="X")
    y = te.compute((n, m), lambda i, j: x[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], axis("blockIdx.x"))
    buffer = tvm.tir.decl_buffer(x.shape, strides=strides(n, m), elem_offset=offset)
    if problem:
        with pytest.raises(tvm.TVMError, match=f"TL3011.*{problem}"):
            tvm.build(s, [x, y], binds={x: buffer})
        return
    f = tvm.build(s, [x, y], binds={x: buffer})
    np.testing.assert_array_equal(call(f, dev, (3, 5), numbers(3, 5)), numbers(3, 5) * 2)


def test_broadcast_buffers():
    tvm.tir.decl_buffer((4, 8), buffer_type="auto_broadcast")
    for shape in ((te.var("n"), 8), (1, 8)):
        with pytest.raises(tvm.TVMError, match="TL2042.*auto_broadcast"):
            tvm.tir.decl_buffer(shape, buffer_type="auto_broadcast")


# -- What is refused.


def statement(make):
    """Return an extern of [n]; `make` gets the builder, n and the output."""
    n = te.var("n")
    x = te.placeholder((n,), name="X")

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        make(ib, n, ib.buffer_ptr(outs[0]))
        return ib.get()

    return x, lambda: te.extern((n,), [x], body, name="Y")


def fill(ib, n, out):
    thread = axis("threadIdx.x")
    ib.scope_attr(thread, "thread_extent", n)
    out[thread] = 1.0


def test_threads_whose_number_the_call_tells():
    x, extern = statement(fill)
    y = extern()
    with pytest.raises(tvm.TVMError, match="TL3001.*threadIdx.x is not a positive constant: n"):
        tvm.build(te.create_schedule(y.op), [x, y])


def test_vectors_whose_length_the_call_tells(dev):
    """A vectorized loop of symbolic extent stays serial."""

    def spread(ib, n, out):
        ib.scope_attr(axis("blockIdx.x"), "thread_extent", 1)
        with ib.for_range(0, n, kind="vectorize") as i:
            out[i] = 1.0

    x, extern = statement(spread)
    y = extern()
    with pytest.warns(tvm.TexloomWarning, match="TL3021.*its extent is not constant"):
        f = tvm.build(te.create_schedule(y.op), [x, y])
    np.testing.assert_array_equal(call(f, dev, (5,), numbers(5)), np.ones(5))


def test_shared_memory_of_a_symbolic_size():
    _, extern = statement(lambda ib, n, out: ib.allocate("float32", n, "tile", scope="shared"))
    with pytest.raises(tvm.TVMError, match="TL1001.*'tile' has the extent n"):
        extern()


def test_a_scalar_that_nothing_tells():
    k = te.var("k", "float32")
    x, extern = statement(lambda ib, n, out: out.__setitem__(0, k))
    y = extern()
    with pytest.raises(tvm.TVMError, match=r"TL1020.*'k'(.|\n)*add it to args"):
        tvm.lower(te.create_schedule(y.op), [x, y])


def test_a_variable_outside_of_its_loop():
    def make(ib, n, out):
        with ib.for_range(0, n) as i:
            out[i] = 1.0
        out[i] = 2.0

    _, extern = statement(make)
    with pytest.raises(ValueError, match="TL1020.*it is not defined here"):
        extern()


# -- Random statements.


def random_extern(rng):
    """Return Y of X, both [n, m]: shifted, scaled rows, with threads over either axis or both."""
    n, m, shift = te.var("n"), te.var("m"), te.var("shift")
    x = te.placeholder((n, m), name="X")
    factor = rng.choice([1, 3, 8])
    by_rows, by_steps = rng.random() < 0.5, rng.random() < 0.5
    flat = rng.random() < 0.3
    scale = rng.choice([n, m, n + m])

    def body(ins, outs):
        ib = tvm.tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        count, other = (n, m) if by_rows else (m, n)
        i = threads_over(ib, count, factor)

        def element(i, j):
            row, column = (i, j) if by_rows else (j, i)
            at = row * m + column if flat else (row, column)
            read = a[row, (column + shift) % m] + scale.astype("float32")
            b[at] = read

        with ib.if_scope(i < count):
            if by_steps:
                step = ib.allocate("int32", 1, name="step", scope="local")
                step[0] = 0
                with ib.while_loop(step[0] < other):
                    element(i, ib.let("j", step[0]))
                    step[0] = step[0] + 1
            else:
                with ib.for_range(0, other, name="j") as j:
                    element(i, j)
        return ib.get()

    y = te.extern((n, m), [x], body, name="Y")

    def expected(v, by):
        rows, columns = v.shape
        number = {n: rows, m: columns}.get(scale, rows + columns)
        return np.roll(v, -by, axis=1) + np.float32(number)

    return te.create_schedule(y.op), [x, shift, y], expected


@pytest.mark.nightly
def test_random_statements(dev):
    for seed in range(24):
        s, args, expected = random_extern(random.Random(seed))
        program = tvm.program(s, args)
        f = tvm.build(program)
        for rows, columns, by in ((1, 1, 0), (5, 3, 2), (9, 17, 16)):
            v = numbers(rows, columns)
            wanted = expected(v, by)
            np.testing.assert_array_equal(
                call(f, dev, v.shape, v, by), wanted, err_msg=f"seed {seed}"
            )
            symbols = {"n": rows, "m": columns, "shift": by}
            for result in interpreted(program, symbols, [v]) if seed % 4 == 0 else ():
                np.testing.assert_array_equal(result.reshape(v.shape), wanted)
