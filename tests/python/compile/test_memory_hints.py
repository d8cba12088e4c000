"""Memory on processors: prefetches, stores past the caches, and what LLVM is told."""

import re
import shutil
import subprocess
import warnings

import numpy as np
import pytest
from llvm_plugin import has_llvm
from native_code import disassembled, needs_objdump

import texloom
from texloom import te
from texloom.errors import TexloomWarning

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

HASWELL = "haswell"


def product(n=64):
    """C = A @ B, with rows in parallel."""
    a, b = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    s[c].parallel(c.op.axis[0])
    return s, a, b, c


def sources(f):
    return "\n".join(kernel.source for kernel in f.kernels)


def prefetches(f):
    return re.findall(r"call void @llvm\.prefetch", sources(f))


def right(f, n=64):
    a, b = np.random.default_rng(n).integers(-4, 5, (2, n, n)).astype("float32")
    return (f(a, b) == a @ b).all()


def test_a_row_is_prefetched_line_by_line():
    """The loop over k reads a row of B, of 256 bytes: four lines, of the row that is two later."""
    s, a, b, c = product()
    i, j = c.op.axis
    (k,) = c.op.reduce_axis
    s[c].reorder(i, k, j)
    s[c].prefetch(b, k, 2)
    text = str(texloom.lower(s, [a, b, c], target="llvm"))
    assert re.search(r"ahead < 4\b", text), text
    assert re.search(r"prefetch B\[.*128", text), text
    f = texloom.build(s, [a, b, c], "llvm -mcpu=native")
    assert prefetches(f)
    assert right(f)


def test_a_cache_inside_the_loop_is_what_is_prefetched():
    """The reads of stages that are attached to the loop count."""
    s, a, b, c = product()
    copy = s.cache_read(b, "local", [c])
    i, j = c.op.axis
    (k,) = c.op.reduce_axis
    s[c].reorder(i, k, j)
    s[copy].compute_at(s[c], k)
    s[c].prefetch(b, k, 1)
    f = texloom.build(s, [a, b, c], "llvm")
    assert prefetches(f)
    assert right(f)


def test_symbolic_extents():
    n = te.var("n")
    x = te.placeholder((n, n), name="X")
    y = te.compute((n, n), lambda i, j: x[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    s[y].prefetch(x, y.op.axis[0], 3)
    f = texloom.build(s, [x, y], "llvm")
    assert prefetches(f)
    a = np.arange(35 * 35, dtype="float32").reshape(35, 35)
    assert (f(a) == a * 2).all()


def test_the_prefetch_of_an_unrolled_loop_has_a_copy_for_each_iteration():
    s, a, b, c = product(8)
    (k,) = c.op.reduce_axis
    s[c].reorder(c.op.axis[0], k, c.op.axis[1])
    s[c].unroll(k)
    s[c].prefetch(b, k, 1)
    f = texloom.build(s, [a, b, c], "llvm")
    assert len(prefetches(f)) == 8
    assert right(f, 8)


def of_a_vector(s, a, b, c):
    s[c].vectorize(c.op.axis[1])
    s[c].prefetch(a, c.op.axis[1], 1)


def of_equal_elements(s, a, b, c):
    s[c].prefetch(b, c.op.axis[0], 1)


def of_another_tensor(s, a, b, c):
    d = te.placeholder((4,), name="D")
    s[c].prefetch(d, c.op.axis[0], 1)


def of_a_texture(s, a, b, c):
    copy = s.cache_read(a, "texture", [c])
    s[copy].parallel(copy.op.axis[0])
    s[copy].vectorize(s[copy].split(copy.op.axis[1], 4)[1])
    s[c].prefetch(copy, c.op.axis[0], 1)


@pytest.mark.parametrize(
    ("hint", "says"),
    [
        (of_a_vector, "the loop becomes a vector"),
        (of_equal_elements, "each iteration reads the same elements"),
        (of_another_tensor, "reads no elements of it"),
        (of_a_texture, "not a row-major array"),
    ],
)
def test_a_prefetch_without_effect_warns(hint, says):
    s, a, b, c = product()
    hint(s, a, b, c)
    with pytest.warns(TexloomWarning, match=says):
        f = texloom.build(s, [a, b, c], "llvm")
    assert not prefetches(f)
    assert right(f)


def test_a_prefetch_is_a_number_of_iterations_ahead():
    s, a, b, c = product()
    s[c].prefetch(b, c.op.reduce_axis[0], -1)
    with pytest.raises(texloom.TVMError, match="TL2034.*prefetch_B.*'-1'"):
        texloom.build(s, [a, b, c], "llvm")


def scaled(n, lanes, extents=None, dtype="float32"):
    x = te.placeholder(extents or (4, n), dtype, name="X")
    y = te.compute(extents or (4, n), lambda i, j: x[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    if lanes > 1:
        _, inner = s[y].split(y.op.axis[1], lanes)
        s[y].vectorize(inner)
    s[y].pragma(s[y].leaf_iter_vars[0], "nontemporal")
    return s, x, y


def instructions(f, folder):
    """The instructions of a function's object."""
    f.save(str(folder / "f.o"))
    shown = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", folder / "f.o"],
        check=True,
        capture_output=True,
        text=True,
    )
    return shown.stdout


@pytest.mark.skipif(shutil.which("objdump") is None, reason="there is no objdump")
@pytest.mark.parametrize(
    ("target", "instruction"),
    [
        (HASWELL, r"\bvmovntps\b.*[xy]mm"),
        ("skylake-avx512", r"\bvmovntps\b.*[xyz]mm"),
        ("llvm -mtriple=x86_64-linux-gnu", r"\bmovntps\b.*xmm"),
    ],
)
def test_vectors_pass_the_caches_and_a_fence_ends_the_kernel(target, instruction, tmp_path):
    code = instructions(texloom.build(*arguments(scaled(64, 16)), target), tmp_path)
    assert re.search(instruction, code), code
    assert "sfence" in code
    assert not re.search(r"\bv?mov[au]ps +%[xyz]mm\d+,.*\(", code), code


def arguments(made):
    s, x, y = made
    return s, [x, y]


def test_on_aarch64_pairs_pass_the_caches():
    f = texloom.build(*arguments(scaled(64, 16)), "cortex-a76")
    assert "!nontemporal" in sources(f)
    assert re.search(r"fence release", sources(f))


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
def test_the_values_are_those_of_other_stores(dtype):
    f = texloom.build(*arguments(scaled(1 << 12, 16, dtype=dtype)), "llvm -mcpu=native")
    assert "!nontemporal" in sources(f)
    a = (np.arange(4 << 12).reshape(4, -1) % 100).astype(dtype)
    for _ in range(20):
        assert (f(a) == a * 2).all()


def test_devices_ignore_the_pragma():
    s, x, y = scaled(64, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TexloomWarning)
        assert "nontemporal" not in str(texloom.lower(s, [x, y], target="opencl"))


def in_local_memory():
    x = te.placeholder((8, 8), name="X")
    y = te.compute((8, 8), lambda i, j: x[i, j] + 1, name="Y")
    z = te.compute((8, 8), lambda i, j: y[i, j] * 2, name="Z")
    s = te.create_schedule(z.op)
    s[z].parallel(z.op.axis[0])
    s[y].compute_at(s[z], z.op.axis[0])
    s[y].set_scope("local")
    s[y].pragma(y.op.axis[0], "nontemporal")
    return s, [x, z]


def of_a_reduction():
    s, a, b, c = product()
    s[c].pragma(c.op.axis[0], "nontemporal")
    return s, [a, b, c]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: arguments(scaled(64, 1)), "no vector of consecutive elements"),
        (lambda: arguments(scaled(64, 2)), "no multiple of 16 bytes"),
        (lambda: arguments(scaled(8, 4, extents=(3, 9))), "not known to be aligned to 16 bytes"),
        (lambda: arguments(scaled(8, 4, extents=(3, te.var("n")))), "no vector of consecutive"),
        (in_local_memory, "not an array in global memory"),
        (of_a_reduction, "each step of its reduction reads it again"),
    ],
)
def test_stores_that_cannot_pass_the_caches_are_refused_at_a_line_of_the_user(made, says):
    s, args = made()
    with (
        warnings.catch_warnings(),
        pytest.raises(texloom.TVMError, match=says) as raised,
    ):
        warnings.simplefilter("ignore", TexloomWarning)
        texloom.build(s, args, "llvm")
    assert "TL2034" in str(raised.value)
    assert "test_memory_hints.py" in str(raised.value)
    assert "help:" in str(raised.value)


def grid_of(*extents):
    """X + Z with a block for each element of all axes but the last; Z has the last axis alone."""
    x, z = te.placeholder(extents, name="X"), te.placeholder(extents[-1:], name="Z")
    y = te.compute(extents, lambda *i: x(*i) + z[i[-1]], name="Y")
    s = te.create_schedule(y.op)
    for axis, tag in zip(y.op.axis[:-1], "xyz", strict=False):
        s[y].bind(axis, te.thread_axis(f"blockIdx.{tag}"))
    return sources(texloom.build(s, [x, z, y], HASWELL))


def test_llvm_is_told_that_arrays_are_aligned_and_apart():
    """Arrays are aligned to 16 bytes, and a store to Y changes neither X nor Z."""
    code = grid_of(8, 64)
    vectors = re.findall(r"(?:load|store) <8 x float>.*", code)
    assert len(vectors) >= 3
    for each in vectors:
        assert "align 16" in each
        assert "!alias.scope" in each
        assert "!noalias" in each
    # The loop over blocks loads Z before it, so no store is between.
    assert code.index("load <8 x float>") < code.index("phi i64")


def test_llvm_is_told_the_extents_of_the_grid():
    """Constants are not divided by, and other extents are known to be positive."""
    assert "udiv" not in grid_of(8, 64)
    assert "urem" not in grid_of(8, 64)
    assert "udiv" not in grid_of(4, 8, 64)  # a power of two
    n = te.var("n")
    code = grid_of(n, 8, 64)
    extent = re.search(r"load i32, .*!range (![0-9]+)", code)
    assert extent
    assert f"{extent[1]} = !{{i32 1, i32 -2147483648}}" in code  # up to 2^31, exclusive


@needs_objdump
def test_sums_of_short_vectors_are_in_registers():
    """Tiles of 20 columns, in an array of several, are vectors of 16 and of 4 elements.

    LLVM must see that they do not overlap, or the inner loop stores all sums in each step.
    """
    x, w = te.placeholder((6, 14, 64), name="X"), te.placeholder((64, 20), name="W")
    k = te.reduce_axis((0, 64), name="k")
    y = te.compute((6, 14, 20), lambda b, i, j: te.sum(x[b, i, k] * w[k, j], axis=k), name="Y")
    s = te.create_schedule(y.op)
    sums = s.cache_write(y, "local")
    block, i, j = s[y].op.axis
    outer, block = s[y].split(block, 2)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[sums].compute_at(s[y], outer)
    block, i, j = s[sums].op.axis
    (k,) = s[sums].op.reduce_axis
    tiles, i = s[sums].split(i, 2)
    vector, lane = s[sums].split(j, 16)
    s[sums].reorder(block, tiles, k, i, vector, lane)
    s[sums].unroll(i)
    s[sums].unroll(vector)
    s[sums].vectorize(lane)
    f = texloom.build(s, [x, w, y], "skylake-avx512")
    code = disassembled(f.kernels[0].binary)
    rows = re.findall(r"^ *([0-9a-f]+): *\t?(.*)$", code, re.MULTILINE)
    at = {int(place, 16): text for place, text in rows}
    loops = []
    for place, text in at.items():
        if (jump := re.match(r"j\w+\s+0x([0-9a-f]+)", text)) and int(jump[1], 16) < place:
            loops.append([at[each] for each in at if int(jump[1], 16) <= each <= place])
    inner = min((body for body in loops if any("vfmadd" in line for line in body)), key=len)
    assert sum("vfmadd" in line for line in inner) % 4 == 0
    assert not any(re.search(r"vmov\w+\s+%[xyz]mm\d+, .*\(", line) for line in inner), inner
