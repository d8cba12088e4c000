"""Parallel loops become the grid on a CPU; on a GPU they are serial or refused."""

import re
from pathlib import Path

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.arange(6 * 5 * 4, dtype="float32").reshape(6, 5, 4)
PROCESSOR = "opencl -device=pocl"
GPU = "opencl -device=adreno"


@pytest.fixture(params=["opencl", "host"])
def processor(request):
    """Return a CPU device: OpenCL's, or the interpreter on the host."""
    if request.param == "host":
        return tvm.device("host")
    found = [i for i, info in enumerate(tvm.devices("opencl")) if info["type"] == "cpu"]
    if not found:
        pytest.skip("no OpenCL device is a processor")
    return tvm.opencl(found[0])


def computed(s, args, device, *values):
    """Build for a CPU, run, and return the last argument and each kernel's grid and block."""
    function = tvm.build(s, args, PROCESSOR)
    out = tvm.nd.empty([int(n) for n in args[-1].shape], args[-1].dtype, device)
    function(*(tvm.nd.array(v, device) for v in values), out)
    grids = re.findall(
        r"grid=(\([^)]*\)) block=(\([^)]*\))", str(tvm.lower(s, args, target=PROCESSOR))
    )
    return out.numpy(), sorted(set(grids))


def doubled():
    x = te.placeholder(VALUES.shape, name="X")
    y = te.compute(x.shape, lambda i, j, k: x[i, j, k] * 2 + k, name="Y")
    return x, y, te.create_schedule(y.op)


@pytest.mark.parametrize(
    ("parallel", "grid"),
    [(1, "(6, 1, 1)"), (2, "(5, 6, 1)"), (3, "(4, 5, 6)")],
)
def test_the_outermost_parallel_loops_are_the_grid(processor, parallel, grid):
    """Outer parallel loops make the grid; each block is one thread that runs the inner loops."""
    x, y, s = doubled()
    for axis in s[y].op.axis[:parallel]:
        s[y].parallel(axis)
    result, grids = computed(s, [x, y], processor, VALUES)
    np.testing.assert_array_equal(result, VALUES * 2 + np.arange(4))
    assert grids == [(grid, "(1, 1, 1)")]


def test_a_parallel_loop_inside_a_serial_one(processor):
    """Only outermost loops make the grid: a parallel loop inside a serial one runs serially."""
    x, y, s = doubled()
    i, _, k = s[y].op.axis
    s[y].parallel(i)
    s[y].parallel(k)
    result, grids = computed(s, [x, y], processor, VALUES)
    np.testing.assert_array_equal(result, VALUES * 2 + np.arange(4))
    assert grids == [("(6, 1, 1)", "(1, 1, 1)")]


def test_a_schedule_of_tvm_for_processors(processor):
    """A tiled product with parallel outer loops, vectorized inner ones, and a cache per tile."""
    a, b = te.placeholder((16, 12), name="A"), te.placeholder((12, 8), name="B")
    r = te.reduce_axis((0, 12), name="r")
    c = te.compute((16, 8), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "local")
    io, jo, ii, ji = s[c].tile(*s[c].op.axis, 4, 4)
    s[cache].compute_at(s[c], jo)
    s[cache].reorder(s[cache].op.reduce_axis[0], *s[cache].op.axis)
    s[cache].vectorize(s[cache].op.axis[1])
    s[c].vectorize(ji)
    s[c].unroll(ii)
    s[c].parallel(io)
    rng = np.random.default_rng(3)
    left, right = (rng.integers(-9, 9, n).astype("float32") for n in ((16, 12), (12, 8)))
    result, grids = computed(s, [a, b, c], processor, left, right)
    np.testing.assert_array_equal(result, left @ right)
    assert grids == [("(4, 1, 1)", "(1, 1, 1)")]


def test_the_number_of_blocks_may_be_symbolic(processor):
    n = te.var("n")
    x = te.placeholder((n, 4), name="X")
    y = te.compute(x.shape, lambda i, j: x[i, j] + i, name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(s[y].op.axis[0])
    function = tvm.build(s, [x, y], PROCESSOR)
    for rows in (1, 7):
        values = np.ones((rows, 4), "float32")
        out = tvm.nd.empty(values.shape, "float32", processor)
        function(tvm.nd.array(values, processor), out)
        np.testing.assert_array_equal(out.numpy(), values + np.arange(rows)[:, None])


def test_a_gpu_needs_threads():
    """Without bound threads, the error is at the line of parallel(); else, the loop is serial."""
    x, y, s = doubled()
    i, j, _ = s[y].op.axis
    s[y].parallel(i)  # this line
    with pytest.raises(tvm.TVMError, match="TL3003.*'i' of 'Y' is parallel") as raised:
        tvm.lower(s, [x, y], target=GPU)
    found = raised.value.diagnostics[0]
    assert "this line" in Path(__file__).read_text().splitlines()[found.line - 1]
    assert 'bind the axis to te.thread_axis("blockIdx.x")' in found.help
    s[y].bind(j, te.thread_axis("blockIdx.x"))
    with pytest.warns(tvm.TexloomWarning, match="TL3021.*'i' of 'Y' stays serial"):
        assert "grid=(5, 1, 1)" in str(tvm.lower(s, [x, y], target=GPU))


@pytest.mark.parametrize("scope", [None, "local", "shared"])
def test_a_stage_inside_a_parallel_loop(processor, scope):
    """Each block has its own row of the stage inside the loop."""
    x = te.placeholder((6, 5), name="X")
    row = te.compute(x.shape, lambda i, j: x[i, j] + 1, name="Row")
    y = te.compute(x.shape, lambda i, j: row[i, j] * row[i, 4 - j], name="Y")
    s = te.create_schedule(y.op)
    s[row].compute_at(s[y], y.op.axis[0])
    s[y].parallel(y.op.axis[0])
    if scope is not None:
        s[row].set_scope(scope)
    values = VALUES[..., 0]
    result, grids = computed(s, [x, y], processor, values)
    np.testing.assert_array_equal(result, (values + 1) * (values + 1)[:, ::-1])
    assert grids == [("(6, 1, 1)", "(1, 1, 1)")]
