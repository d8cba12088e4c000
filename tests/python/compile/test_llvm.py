"""The target llvm: native code, which the driver "host" runs.

`./dev build` builds the plug-in; without it, these tests are skipped.
"""

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te
from texloom.ops.normalization.softmax import softmax
from texloom.ops.schedules import schedule_default


def scheduled(n=64):
    x = te.placeholder((n,), name="X")
    y = te.compute((n,), lambda i: x[i] * 2 + 1, name="Y")
    s = te.create_schedule(y.op)
    block, thread = s[y].split(y.op.axis[0], 16)
    s[y].bind(block, te.thread_axis("blockIdx.x"))
    s[y].bind(thread, te.thread_axis("threadIdx.x"))
    return s, x, y


X86 = "-mtriple=x86_64-linux-gnu"

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")


def random(*shape, dtype="float32"):
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * 3).astype(dtype)


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=native", "llvm -mcpu=haswell -mattr=-fma"])
def test_blocks_of_threads(target):
    s, x, y = scheduled()
    f = texloom.build(s, [x, y], target)
    a = random(64)
    assert (f(a) == np.float32(2) * a + 1).all()
    assert "define" in f.kernels[0].source and f.target.startswith("llvm")


def test_threads_that_share_memory():
    """A product of matrices by tiles in shared memory: barriers between loops over the threads."""
    n, tile = 64, 8
    a, b = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    shared = [s.cache_read(each, "shared", [c]) for each in (a, b)]
    local = s.cache_write(c, "local")
    i, j = c.op.axis
    outer_i, inner_i = s[c].split(i, tile)
    outer_j, inner_j = s[c].split(j, tile)
    s[c].reorder(outer_i, outer_j, inner_i, inner_j)
    rows = te.thread_axis((0, tile), "threadIdx.y")
    columns = te.thread_axis((0, tile), "threadIdx.x")
    for axis, thread in (
        (outer_i, te.thread_axis("blockIdx.y")),
        (outer_j, te.thread_axis("blockIdx.x")),
        (inner_i, rows),
        (inner_j, columns),
    ):
        s[c].bind(axis, thread)
    s[local].compute_at(s[c], inner_j)
    steps, _ = s[local].split(s[local].op.reduce_axis[0], tile)
    for each in shared:
        s[each].compute_at(s[local], steps)
        s[each].bind(s[each].op.axis[0], rows)
        s[each].bind(s[each].op.axis[1], columns)
    x, y = (np.random.default_rng(n).integers(-4, 5, (2, n, n))).astype("float32")
    assert (texloom.build(s, [a, b, c], "llvm")(x, y) == x @ y).all()


def test_parallel_loops_and_vectors():
    x = te.placeholder((40, 64), name="X")
    y = te.compute((40, 64), lambda i, j: te.max(x[i, j], 0.0) + x[i, 63 - j], name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    _, lanes = s[y].split(y.op.axis[1], 32)
    s[y].vectorize(lanes)
    a = random(40, 64)
    assert (texloom.build(s, [x, y], "llvm")(a) == np.maximum(a, 0) + a[:, ::-1]).all()


def test_textures():
    """A texture is an array of texels with zeros around it."""
    x = te.placeholder((4, 10, 4), name="X")
    y = te.compute((4, 10, 4), lambda i, j, c: x[3 - i, j, c] * 2, name="Y")
    s = te.create_schedule(y.op)
    cached = s.cache_read(x, "texture", [y])
    for stage, out in ((cached, cached.op), (y, y.op)):
        s[stage].bind(out.axis[0], te.thread_axis("blockIdx.x"))
        s[stage].bind(out.axis[1], te.thread_axis("threadIdx.x"))
        s[stage].vectorize(out.axis[2])
    a = random(4, 10, 4)
    f = texloom.build(s, [x, y], "llvm")
    assert (f(a) == a[::-1] * 2).all()


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int64"])
def test_types(dtype):
    x, d = te.placeholder((64,), dtype, name="X"), te.placeholder((64,), dtype, name="D")
    y = te.compute((64,), lambda i: x[i] * d[i] + d[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    a, b = random(64, dtype="float64").astype(dtype), random(65, dtype="float64")[1:].astype(dtype)
    with np.errstate(all="ignore"):
        expected = a * b + b
    result = texloom.build(s, [x, d, y], "llvm -contract=0")(a, b)
    assert (result == expected).all()


def test_divisions_do_not_trap():
    """A quotient by 0 is open, but no signal; that of the least number by -1 wraps."""
    x, d = te.placeholder((4,), "int32", name="X"), te.placeholder((4,), "int32", name="D")
    y = te.compute((4,), lambda i: te.floordiv(x[i], d[i]) + te.floormod(x[i], d[i]), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    a, b = np.array([7, -7, -(2**31), 5], "int32"), np.array([2, 2, -1, 0], "int32")
    result = texloom.build(s, [x, d, y], "llvm")(a, b)
    assert list(result[:3]) == [3 + 1, -4 + 1, -(2**31)]


def test_large_arrays_of_a_block_are_not_on_the_stack():
    n = 1 << 18
    x = te.placeholder((4, n), name="X")
    y = te.compute((4, n), lambda i, j: x[i, j] + 1, name="Y")
    z = te.compute((4, n), lambda i, j: y[i, n - 1 - j] * 2, name="Z")
    s = te.create_schedule(z.op)
    s[z].bind(z.op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].set_scope("local")
    s[y].compute_at(s[z], z.op.axis[0])
    a = random(4, n)
    target = "llvm -max_private_memory=8388608"
    assert (texloom.build(s, [x, z], target)(a) == (a + 1)[:, ::-1] * 2).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_limits_of_a_thread_are_not_those_of_a_block(dtype):
    """256 threads with 2 KiB each, kept across a barrier, are run by one thread."""
    n, m = 256, 512
    x = te.placeholder((n, m), dtype, name="X")
    y = te.compute((n, m), lambda i, j: x[i, j] + 1, name="Y")
    z = te.compute((n, m), lambda i, j: y[i, m - 1 - j] * 2, name="Z")
    w = te.compute((n, m), lambda i, j: z[n - 1 - i, j], name="W")
    s = te.create_schedule(w.op)
    block, thread = s[w].fuse(), te.thread_axis((0, n), "threadIdx.x")
    s[w].reorder(block, *w.op.axis)
    s[w].bind(block, te.thread_axis("blockIdx.x"))
    s[w].bind(w.op.axis[0], thread)
    s[z].set_scope("shared")
    s[z].compute_at(s[w], block)
    s[z].bind(z.op.axis[0], thread)
    s[y].set_scope("local")
    s[y].compute_at(s[z], z.op.axis[0])
    a = random(n, m, dtype="float64").astype(dtype)
    f = texloom.build(s, [x, w], "llvm -max_local_memory=1048576 -max_private_memory=2048")
    assert (f(a) == ((a + np.ones(1, dtype))[:, ::-1] * np.ones(1, dtype) * 2)[::-1]).all()
    with pytest.raises(texloom.TVMError, match="TL4004"):
        texloom.build(s, [x, w], "llvm -max_local_memory=1048576 -max_private_memory=1000")


def test_code_for_another_processor():
    s, x, y = scheduled()
    f = texloom.build(s, [x, y], "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76")
    assert 'target triple = "aarch64-unknown-linux-gnu"' in f.kernels[0].source


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("-mcpu=no-such", "unknown processor 'no-such'"),
        ("-mattr=+no-such", "unknown feature 'no-such'"),
        (f"{X86} -mattr=avx2", "the feature 'avx2' has no sign"),
        (f"{X86} -mattr=+clzero", "no loader could check for the feature 'clzero'"),
        ("-mtriple=riscv64-linux-gnu", "is neither x86_64 nor aarch64"),
        ("-mtriple=arm64-apple-macosx", "are in Mach-O"),
        ("-mtriple=x86_64-windows-msvc", "are in another format"),
        ("-mtriple=x86_64-linux-gnux32", "has 32"),
        ("-mtriple=aarch64-linux-gnu -mcpu=native", "-mcpu=native is not a processor of"),
        (f"{X86} -mcpu=i386", "needs '+64bit', unlike the processor 'i386'"),
        (f"{X86} -mattr=-64bit-mode", "needs '+64bit-mode', unlike -mattr=-64bit-mode"),
        (f"{X86} -mattr=-sse", "needs '+sse2', unlike -mattr=-sse"),
        (f"{X86} -mattr=+soft-float", "needs '-soft-float', unlike"),
        ("-mtriple=aarch64-linux-gnu -mattr=-fp-armv8", "needs '+neon', unlike"),
    ],
)
def test_wrong_processors_are_refused(options, says):
    """LLVM itself ends the process for some of them."""
    s, x, y = scheduled()
    with pytest.raises(texloom.TVMError, match="TL4003") as error:
        texloom.build(s, [x, y], f"llvm {options}")
    assert says in str(error.value) and "help: " in str(error.value)


@pytest.mark.parametrize("features", ["+avx512f", "+avx512vnni"])
def test_processors_with_added_registers(features):
    """LLVM 19 ended the process where it selected between vectors of masks."""
    x = te.placeholder((8, 64), name="X")
    y = softmax(x)
    target = f"llvm {X86} -mcpu=haswell -mattr={features}"
    s = schedule_default([y], [x], ["global"] * 2, texloom.target.resolve(target))
    assert texloom.build(s, [x, y], target).kernels


def test_the_nearest_processors_are_proposed():
    s, x, y = scheduled()
    for options, helps in (
        (f"{X86} -mcpu=haswel", "write -mcpu=haswell"),
        (f"{X86} -mcpu=icelake", "write -mcpu=icelake-client or -mcpu=icelake-server"),
    ):
        with pytest.raises(texloom.TVMError, match="TL4003") as error:
            texloom.build(s, [x, y], f"llvm {options}")
        assert str(error.value).endswith(f"help: {helps}")


@pytest.mark.parametrize("name", texloom._core.target_devices("llvm"))
def test_a_processor_is_a_target(name):
    """Code of another architecture is compiled, but not run."""
    s, x, y = scheduled()
    target = texloom.target.Target(name)
    assert target == texloom.target.Target(f"llvm -device={name}")
    f = texloom.build(s, [x, y], name)
    architecture, *_ = target.attrs["mtriple"].split("-")
    assert f'target triple = "{architecture}' in f.kernels[0].source


def _panels(rows, steps):
    """Return native code of a product whose tiles read panels ``[steps, 16]`` one after another."""
    a, b = te.placeholder((rows, steps), name="A"), te.placeholder((4, steps, 16), name="B")
    k = te.reduce_axis((0, steps), name="k")
    c = te.compute((4, rows, 16), lambda p, i, j: te.sum(a[i, k.var] * b[p, k.var, j], k), name="C")
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    panel, row, column = c.op.axis
    s[c].bind(panel, te.thread_axis("blockIdx.x"))
    s[c].vectorize(column)
    s[sums].compute_at(s[c], row)
    _, i, j = sums.op.axis
    s[sums].reorder(sums.op.reduce_axis[0], i, j)
    s[sums].vectorize(j)
    return texloom.build(s, [a, b, c], "llvm")


@pytest.mark.parametrize(
    ("rows", "steps", "is_fetched"),
    [(3, 1000, True), (1, 1000, False), (3, 64, False), (3, 20_000, False)],
)
def test_next_panel_is_fetched(rows, steps, is_fetched):
    """Fetched is what follows data that is read again, and that the second cache alone holds."""
    f = _panels(rows, steps)
    assert ("@llvm.prefetch" in f.kernels[0].source) == is_fetched
    rng = np.random.default_rng(0)
    a = rng.integers(-8, 8, (rows, steps)).astype("float32")
    b = rng.integers(-8, 8, (4, steps, 16)).astype("float32")
    np.testing.assert_array_equal(f(a, b), a @ b)


@pytest.mark.parametrize(("rows", "is_kept"), [(11, True), (2, False)])
def test_loops_of_many_sums_are_not_unrolled(rows, is_kept):
    """Two copies of 11 sums would not fit the registers; those of 2 sums hide their latency."""
    a, b = te.placeholder((rows, 64), name="A"), te.placeholder((2, 64, 8), name="B")
    k = te.reduce_axis((0, 64), name="k")
    c = te.compute((2, rows, 8), lambda p, i, j: te.sum(a[i, k.var] * b[p, k.var, j], k), name="C")
    s = te.create_schedule(c.op)
    sums = s.cache_write(c, "local")
    s[c].bind(c.op.axis[0], te.thread_axis("blockIdx.x"))
    s[sums].compute_at(s[c], c.op.axis[0])
    _, i, j = sums.op.axis
    s[sums].reorder(sums.op.reduce_axis[0], i, j)
    s[sums].unroll(i)
    s[sums].vectorize(j)
    source = texloom.build(s, [a, b, c], "haswell").kernels[0].source
    products = source.count("call <8 x float> @llvm.fma.v8f32")
    assert (products == rows) == is_kept, source


def test_loops_around_loops_stay_loops():
    """A transpose of 16 x 64 elements is not copied for each of its rows: it compiled for long."""
    x = te.placeholder((64, 16), name="X")
    y = te.compute((16, 64), lambda i, j: x[j, i], name="Y")
    f = texloom.build(te.create_schedule(y.op), [x, y], "llvm -mcpu=haswell")
    assert f.kernels[0].source.count(" load float") <= 2 * 64
    given = random(64, 16)
    np.testing.assert_array_equal(f(given), given.T)
