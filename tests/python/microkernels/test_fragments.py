"""Fragments: tiles that stay in registers, from a product's sums to what is computed of them."""

import re

import numpy as np
import pytest
from llvm_plugin import has_llvm
from native_code import CALL, disassembled, needs_objdump

import texloom
from texloom import te
from texloom.ops import elementwise, tiled
from texloom.ops.tiled import fragments
from texloom.target import mmt4d_tile
from texloom_bench import cpu_epilogues

NATIVE = "llvm -mcpu=native"
HASWELL = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"
needs_llvm = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")


def numbers(*shape, dtype="float32", most=5):
    return np.random.default_rng(sum(shape)).integers(-most, most + 1, shape).astype(dtype)


def computed(f, *arrays):
    device = texloom.device("host:0")
    return f(*(texloom.nd.array(each, device) for each in arrays)).numpy()


# -- The scope


def blocks_of_sums(unrolled=True):
    """Declare sums of rows, whose blocks of 2 x 4 are in a fragment until they are doubled."""
    x = te.placeholder((8, 6, 16), name="X")
    k = te.reduce_axis((0, 6), name="k")
    y = te.compute((8, 16), lambda i, j: te.sum(x[i, k, j], axis=k), name="Y")
    z = te.compute((8, 16), lambda i, j: y[i, j] * 2, name="Z")
    s = te.create_schedule(z.op)
    i, j = s[z].op.axis
    i, rows = s[z].split(i, factor=2)
    j, columns = s[z].split(j, factor=4)
    s[z].reorder(i, j, rows, columns)
    s[z].bind(i, te.thread_axis("blockIdx.x"))
    s[z].bind(j, te.thread_axis("threadIdx.x"))
    s[z].vectorize(columns)
    s[y].set_scope("fragment")
    s[y].compute_at(s[z], j)
    own_rows, own_columns = s[y].op.axis
    s[y].reorder(k, own_rows, own_columns)
    s[y].vectorize(own_columns)
    if unrolled:
        s[z].unroll(rows)
        s[y].unroll(own_rows)
    return s, [x, z]


@pytest.mark.parametrize("target", ["opencl", pytest.param(NATIVE, marks=needs_llvm)])
def test_fragments_compute_what_local_memory_does(run, target):
    s, args = blocks_of_sums()
    x = numbers(8, 6, 16)
    on_host = target == NATIVE
    result = computed(texloom.build(s, args, target), x) if on_host else run(s, args, x)
    assert (result == 2 * x.sum(axis=1)).all()


def test_text_and_interpreter():
    """The scope is in the text of every stage, and the interpreter runs it."""
    s, args = blocks_of_sums()
    for text in texloom.lower_texts(s, args, target="opencl").values():
        assert str(texloom.parse(text)) == text
    lowered = texloom.lower(s, args, target="opencl")
    assert "buffer.alloca Y: fragment float32[2, 4]" in str(lowered)
    assert "scope fragment" in str(texloom.program(s, args))
    x = numbers(8, 6, 16)
    for checked in (False, True):
        f = texloom.build(s, args, "opencl", checked=checked)
        assert (computed(f, x) == 2 * x.sum(axis=1)).all()
    assert "float4 Y[2];" in texloom.build(s, args, "metal").kernels[0].source


@needs_llvm
def test_operands_in_fragments():
    """A copy of a row is a fragment, whose lanes are read one by one."""
    x = te.placeholder((4, 16), name="X")
    y = te.compute((4, 16), lambda i, j: x[i, j] * x[i, j] + x[i, 15 - j], name="Y")
    s = te.create_schedule(y.op)
    row = s.cache_read(x, "fragment", [y])
    i, j = y.op.axis
    s[y].parallel(i)
    s[y].unroll(j)
    s[row].compute_at(s[y], i)
    s[row].vectorize(row.op.axis[1])
    given = numbers(4, 16)
    f = texloom.build(s, [x, y], NATIVE)
    assert (computed(f, given) == given * given + given[:, ::-1]).all()


def test_loop_that_is_not_unrolled():
    s, args = blocks_of_sums(unrolled=False)
    message = r"TL3035.*'Y' is in fragment memory(.|\n)*set_scope(.|\n)*unroll or vectorize"
    with pytest.raises(texloom.TVMError, match=message):
        texloom.lower(s, args, target="opencl")


# -- Epilogues of products


def biased(matrix, columns):
    return te.compute(matrix.shape, lambda i, j: matrix[i, j] + columns[j], name="biased")


def relu(matrix, columns, _):
    y = biased(matrix, columns)
    return te.compute(y.shape, lambda i, j: te.max(y[i, j], te.const(0, y.dtype)), name="relu")


def gelu_by_erf(matrix, columns, _):
    return elementwise.gelu(biased(matrix, columns))


def gelu_by_tanh(matrix, columns, _):
    return elementwise.gelu(biased(matrix, columns), "tanh")


def residual(matrix, columns, other):
    y = biased(matrix, columns)
    return te.compute(y.shape, lambda i, j: y[i, j] + other[i, j], name="residual")


def requantize(matrix, columns, _):
    def narrow(i, j):
        scaled = te.nearbyint(matrix[i, j].astype("float32") * columns[j])
        return te.max(te.min(scaled, 127.0), -128.0).astype("int8")

    return te.compute(matrix.shape, narrow, name="narrow")


def fused(epilogue, m, n, k, target, dtype="float32", tile=None):
    """Declare a product of packed sides and its epilogue."""
    tile = tile or mmt4d_tile(dtype, rows=m, target=target)
    steps = -(-k // tile.k0)
    a = te.placeholder((-(-m // tile.m0), steps, tile.m0, tile.k0), dtype, name="A")
    b = te.placeholder((-(-n // tile.n0), steps, tile.n0, tile.k0), dtype, name="B")
    matrix = tiled.unpack(tiled.mmt4d(a, b), m, n)
    columns = te.placeholder((n,), name="columns")
    other = te.placeholder((m, n), name="other")
    output = epilogue(matrix, columns, other)
    more = [each for each in (columns, other) if each in te_inputs(output)]
    return tile, [a, b, *more, output]


def te_inputs(output):
    """Return the placeholders that a tensor is computed of."""
    found, pending = set(), [output]
    while pending:
        for each in pending.pop().op.input_tensors:
            (found.add if isinstance(each.op, te.PlaceholderOp) else pending.append)(each)
    return found


def as_matrix(packed):
    return packed.transpose(0, 2, 1, 3).reshape(packed.shape[0] * packed.shape[2], -1)


def results(epilogue, m, n, k, target=NATIVE, dtype="float32"):
    """Build and run a product with an epilogue; return the function, sides and result."""
    _, args = fused(epilogue, m, n, k, target, dtype)
    f = texloom.build(tiled.schedule_mmt4d(args[-1], target), args, target)
    arrays = [numbers(*map(int, each.shape), dtype=each.dtype) for each in args[:-1]]
    if epilogue is requantize:
        arrays[2] = (0.03 * (1 + np.arange(n) % 7)).astype("float32")
    exact = (as_matrix(arrays[0]).astype("float64") @ as_matrix(arrays[1]).T)[:m, :n]
    return f, exact, arrays[2:], computed(f, *arrays)


@needs_llvm
@pytest.mark.parametrize("shape", [(None, 32, 5), (100, 64, 70), (19, 32, 9)], ids=str)
@pytest.mark.parametrize("epilogue", [relu, residual, requantize])
def test_epilogues_are_computed_on_fragments(epilogue, shape):
    dtype = "int8" if epilogue is requantize else "float32"
    rows = shape[0] or mmt4d_tile(dtype, target=NATIVE).m0  # None: those of one tile
    f, exact, more, result = results(epilogue, rows, *shape[1:], dtype=dtype)
    if epilogue is requantize:
        expected = np.clip(np.rint(exact.astype("float32") * more[0]), -128, 127)
    elif epilogue is relu:
        expected = np.maximum(exact + more[0], 0)
    else:
        expected = exact + more[0] + more[1]
    assert (result == expected).all()
    assert len(f.kernels) == 1 and "buffer.alloca sums: fragment" in str(f)


@needs_llvm
@pytest.mark.parametrize("epilogue", [gelu_by_erf, gelu_by_tanh])
def test_activations_have_the_values_of_the_same_function_of_a_matrix(epilogue):
    f, exact, (columns,), result = results(epilogue, 26, 32, 5)
    assert len(f.kernels) == 1 and "buffer.alloca sums: fragment" in str(f)
    y = te.placeholder((26, 32), name="Y")
    plain = elementwise.gelu(y, "tanh" if epilogue is gelu_by_tanh else "none")
    s = te.create_schedule(plain.op)
    s[plain].parallel(plain.op.axis[0])
    expected = computed(texloom.build(s, [y, plain], NATIVE), (exact + columns).astype("float32"))
    assert (result == expected).all() and (result > 1).any()


@needs_llvm
def test_sums_in_steps_keep_their_epilogue(monkeypatch):
    """Panels that are larger than the cache are summed in steps; rows of blocks are computed."""
    monkeypatch.setattr(fragments, "_PANELS_BYTES", 0)
    f, exact, (columns,), result = results(relu, 100, 64, 1030)
    assert (result == np.maximum(exact + columns, 0)).all()
    assert len(f.kernels) == 1 and "buffer.alloca sums: local" in str(f)


@needs_llvm
def test_what_is_large_and_read_often_is_computed_once():
    """It is in a fragment of one row."""

    def chain(matrix, columns, _):
        y = biased(matrix, columns)
        for _ in range(5):
            y = te.compute(y.shape, lambda i, j, y=y: te.max(y[i, j], -y[i, j]) - y[i, j] / 2)
        return y

    f, exact, (columns,), result = results(chain, 12, 32, 1)
    expected = exact + columns
    for _ in range(5):
        expected = abs(expected) - expected / 2
    assert (result == expected).all()
    assert re.search(r"alloca compute[.\d]*: fragment float32\[1, \d+\]", str(f))


@needs_llvm
@pytest.mark.parametrize("case", ["output", "transposed", "odd columns", "two products"])
def test_what_is_no_epilogue_is_computed_in_memory(case):
    """A matrix that the caller reads, or that is read elsewhere, is written to memory."""
    tile = mmt4d_tile("float32", rows=24, target=NATIVE)
    n = 40 if case == "odd columns" else 32
    a = te.placeholder((4, 7, tile.m0, 1), name="A")
    b = te.placeholder((-(-n // tile.n0), 7, tile.n0, 1), name="B")
    m = 4 * tile.m0
    matrix = tiled.unpack(tiled.mmt4d(a, b), m, n)
    x, y = numbers(4, 7, tile.m0, 1), numbers(*map(int, b.shape))
    exact = (as_matrix(x) @ as_matrix(y).T)[:, :n]
    outputs, expected = [], [exact]
    if case == "transposed":
        outputs = [te.compute((n, m), lambda j, i: matrix[i, j] + matrix[i, 0], name="T")]
        expected = [exact.T + exact[:, 0]]
    elif case == "two products":
        second = tiled.unpack(tiled.mmt4d(a, b), m, n)
        outputs = [te.compute((m, n), lambda i, j: matrix[i, j] - 2 * second[i, j], name="D")]
        expected = [-exact]
    else:
        outputs = [te.compute((m, n), lambda i, j: matrix[i, j] + 1, name="more")]
        expected = [exact + 1]
        if case == "output":
            outputs.append(matrix)
            expected.append(exact)
    f = texloom.build(tiled.schedule_mmt4d(outputs, NATIVE), [a, b, *outputs], NATIVE)
    device = texloom.device("host:0")
    arrays = [texloom.nd.array(each, device) for each in (x, y)]
    arrays += [texloom.nd.empty(each.shape, "float32", device) for each in expected]
    f(*arrays)
    for array, each in zip(arrays[2:], expected, strict=True):
        assert (array.numpy() == each).all()
    assert ("fragment" in str(f)) == (case != "odd columns")


# -- Objects

# Instructions that read or write a vector register on the stack.
SPILL = {
    "x86_64": re.compile(r"^.*(?:[xyz]mm\d+.*\(%r[sb]p|\(%r[sb]p.*[xyz]mm\d+).*$", re.MULTILINE),
    "aarch64": re.compile(r"^.*\s(?:ld|st)[rp]\s+q\d+,.*\[(?:sp|x29).*$", re.MULTILINE),
}
MACHINES = {
    "avx2": "x86_64-linux-gnu -mcpu=haswell",
    "avx512": "x86_64-linux-gnu -mcpu=skylake-avx512",
    "vnni": "x86_64-linux-gnu -mcpu=cascadelake",
    "neon": "aarch64-linux-gnu -mcpu=cortex-a72",
    "dotprod": "aarch64-linux-gnu -mcpu=cortex-a76",
}


def spills(machine, epilogue, dtype):
    """Return how many instructions of a product and its epilogue move vectors to the stack."""
    target = f"llvm -mtriple={MACHINES[machine]}"
    tile = mmt4d_tile(dtype, rows=1024, target=target)
    _, args = fused(epilogue, 4 * tile.m0, 2 * tile.n0, 256, target, dtype)
    f = texloom.build(tiled.schedule_mmt4d(args[-1], target), args, target)
    assert f"call_extern({tile.kernel}" in str(f) and "sums: fragment" in str(f)
    code = disassembled(f.kernels[0].binary)
    assert not CALL.findall(code)
    return len(SPILL[target.split("=")[1].split("-")[0]].findall(code))


@needs_llvm
@needs_objdump
@pytest.mark.parametrize(
    ("machine", "epilogue", "dtype"),
    [
        ("avx2", relu, "float32"),
        ("avx2", residual, "float32"),
        ("avx512", relu, "float32"),
        ("neon", relu, "float32"),
        ("vnni", requantize, "int8"),
        ("dotprod", requantize, "int8"),
    ],
)
def test_no_memory_between_sums_and_result(machine, epilogue, dtype):
    """The sums of a tile go to the epilogue in registers: no vector is on the stack."""
    assert spills(machine, epilogue, dtype) == 0


@needs_llvm
@pytest.mark.parametrize("epilogue", ["ReLU", "GELU, tanh", "GELU, erf", "requantize"])
def test_benchmark_measures_right_results(epilogue):
    row = cpu_epilogues.measure(cpu_epilogues.Fused(24, 32, 9, epilogue), rounds=1)
    assert row["right"] and len(row["seconds"]) == 2
