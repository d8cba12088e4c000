"""Products of packed matrices: computed by micro-kernels on llvm, by loops elsewhere."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from llvm_plugin import has_llvm
from microkernel_objects import TYPES, machines, proofs
from native_code import CALL, disassembled, needs_objdump

import texloom
from texloom import te, tir
from texloom.ops import tiled
from texloom.target import Mmt4dTile, mmt4d_tile
from texloom_bench import cpu

NATIVE = "llvm -mcpu=native"
HASWELL = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"
needs_llvm = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")


def integers(*shape, dtype, most=5):
    low = 0 if dtype == "uint8" else -most
    return np.random.default_rng(sum(shape)).integers(low, most + 1, shape).astype(dtype)


def product(m, n, k, tile, left="float32", right=None):
    """Declare ``[m, k] @ [k, n]``, packed, multiplied and unpacked."""
    a = te.placeholder((m, k), left, name="A")
    b = te.placeholder((k, n), right or left, name="B")
    sums = tiled.mmt4d(
        tiled.pack(a, tile.m0, tile.k0), tiled.pack(b, tile.n0, tile.k0, transposed=True)
    )
    return a, b, sums, tiled.unpack(sums, m, n)


def packed_product(m1, n1, k1, tile, left="float32", right=None):
    """Declare the product of packed matrices alone."""
    a = te.placeholder((m1, k1, tile.m0, tile.k0), left, name="A")
    b = te.placeholder((n1, k1, tile.n0, tile.k0), right or left, name="B")
    return a, b, tiled.mmt4d(a, b)


def as_matrix(packed):
    """Return the matrix of packed tiles."""
    return packed.transpose(0, 2, 1, 3).reshape(packed.shape[0] * packed.shape[2], -1)


def computed(f, *arrays, dtypes=None):
    """Run a function on the host; `dtypes` are those of the arguments, which NumPy may lack."""
    device = texloom.device("host:0")
    dtypes = dtypes or [str(each.dtype) for each in arrays]
    given = [
        texloom.nd.empty(x.shape, dtype, device).copyfrom(x)
        for x, dtype in zip(arrays, dtypes, strict=True)
    ]
    return f(*given).numpy()


def in_memory(dtype):
    """Return the type of NumPy's array for a type."""
    return "float32" if dtype == "bfloat16" else dtype


@pytest.mark.parametrize("types", TYPES.values(), ids=lambda types: "-".join(types))
@pytest.mark.parametrize("shape", [(1, 5, 3), (7, 33, 70), (19, 16, 1)], ids=str)
@needs_llvm
def test_products_are_exact_for_small_integers(types, shape):
    """Odd extents: packing pads with zeros, unpacking leaves out what is outside."""
    m, n, k = shape
    left, right = types
    tile = mmt4d_tile(left, right, rows=m, target=NATIVE)
    a, b, _, c = product(m, n, k, tile, left, right)
    f = texloom.build(tiled.schedule_mmt4d(c, NATIVE), [a, b, c], NATIVE)
    x, y = integers(m, k, dtype=in_memory(left)), integers(k, n, dtype=in_memory(right))
    result = computed(f, x, y, dtypes=types)
    assert (result == x.astype("float64") @ y.astype("float64")).all()
    assert f"call_extern({tile.kernel}" in str(f)


@needs_llvm
@pytest.mark.parametrize("steps", [8192, 1009], ids=["blocks", "prime"])
def test_long_sums(steps):
    """Long sums are added in blocks, after a reset; those of a prime number of steps at once."""
    tile = mmt4d_tile("float32", target=NATIVE)
    a, b, c = packed_product(3, 2, steps, tile)
    f = texloom.build(tiled.schedule_mmt4d(c, NATIVE), [a, b, c], NATIVE)
    x, y = (integers(*map(int, each.shape), dtype="float32") for each in (a, b))
    assert (as_matrix(computed(f, x, y)) == as_matrix(x) @ as_matrix(y).T).all()
    assert ("access_ptr(read_write" in str(f)) == (steps == 8192)


@needs_llvm
def test_blocks_of_unequal_sizes():
    """173 panels are prime, and the last one is partly padding: the last block is smaller."""
    tile = mmt4d_tile("float32", target=HASWELL)
    a, b, sums, c = product(1033, 80, 700, tile)
    x, y = integers(1033, 700, dtype="float32"), integers(700, 80, dtype="float32")
    for output in (c, sums):
        f = texloom.build(tiled.schedule_mmt4d(output, HASWELL), [a, b, output], HASWELL)
        result = computed(f, x, y)
        assert ((as_matrix(result)[:1033] if output is sums else result) == x @ y).all()


@needs_llvm
def test_float32_has_the_bits_of_the_loops():
    """Each sum is a chain of fused multiply-adds, as in plain loops and in the interpreter."""
    tile = mmt4d_tile("float32", target=HASWELL)
    a, b, c = packed_product(3, 2, 700, tile)
    s = te.create_schedule(c.op)
    s[c].parallel(c.op.axis[0])
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal([int(n) for n in t.shape]).astype("float32") for t in (a, b))
    loops = texloom.build(s, [a, b, c], HASWELL)
    kernels = texloom.build(tiled.schedule_mmt4d(c, HASWELL), [a, b, c], HASWELL)
    assert "call_extern" in str(kernels) and "call_extern" not in str(loops)
    assert (computed(kernels, x, y) == computed(loops, x, y)).all()


@needs_llvm
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_sums_of_random_numbers_are_within_their_bound(dtype):
    """Products are exact or rounded once, and sums are rounded after each step."""
    tile = mmt4d_tile(dtype, rows=7, target=NATIVE)
    a, b, _, c = product(7, 32, 300, tile, dtype)
    f = texloom.build(tiled.schedule_mmt4d(c, NATIVE), [a, b, c], NATIVE)
    rng = np.random.default_rng(7)
    x, y = (rng.standard_normal(shape).astype(in_memory(dtype)) for shape in ((7, 300), (300, 32)))
    if dtype == "bfloat16":  # numbers that it has
        x, y = ((each.view("uint32") & 0xFFFF0000).view("float32") for each in (x, y))
    result = computed(f, x, y, dtypes=[dtype, dtype]).astype("longdouble")
    x, y = x.astype("longdouble"), y.astype("longdouble")
    unit = 2.0**-53 if dtype == "float64" else 2.0**-24
    # A product, and each of 300 sums with it, is off by at most a unit of the partial sum.
    bound = 301 * unit / (1 - 301 * unit) * (abs(x) @ abs(y))
    assert (abs(result - x @ y) <= bound).all() and (result != 0).any()


@needs_llvm
def test_numbers_of_tiles_that_a_call_gives():
    """Micro-kernels take arrays of constant strides; loops compute the others."""
    tile = mmt4d_tile("int16", target=NATIVE)
    rows = te.var("rows")
    a = te.placeholder((rows, 5, tile.m0, tile.k0), "int16", name="A")
    b = te.placeholder((3, 5, tile.n0, tile.k0), "int16", name="B")
    c = tiled.mmt4d(a, b)
    with pytest.warns(UserWarning, match="TL2042.*plain loops"):
        f = texloom.build(tiled.schedule_mmt4d(c, NATIVE), [a, b, c], NATIVE)
    y = integers(3, 5, tile.n0, tile.k0, dtype="int16")
    for count in (1, 4):
        x = integers(count, 5, tile.m0, tile.k0, dtype="int16")
        expected = as_matrix(x).astype("int32") @ as_matrix(y).T.astype("int32")
        assert (as_matrix(computed(f, x, y)) == expected).all()


@needs_llvm
@pytest.mark.parametrize("has_batch_on_the_right", [True, False])
def test_batches(has_batch_on_the_right):
    tile = mmt4d_tile("int8", target=NATIVE)
    a = te.placeholder((2, 3, 5, tile.m0, tile.k0), "int8", name="A")
    b_shape = (3, 5, tile.n0, tile.k0)
    b = te.placeholder((2, *b_shape) if has_batch_on_the_right else b_shape, "int8", name="B")
    c = tiled.mmt4d(a, b)
    f = texloom.build(tiled.schedule_mmt4d(c, NATIVE), [a, b, c], NATIVE)
    x, y = (integers(*map(int, each.shape), dtype="int8", most=128) for each in (a, b))
    result = computed(f, x, y)
    for i in range(2):
        right = y[i] if has_batch_on_the_right else y
        expected = as_matrix(x[i]).astype("int64") @ as_matrix(right).T.astype("int64")
        assert (as_matrix(result[i]) == expected).all()


def test_other_targets_compute_loops(run):
    tile = mmt4d_tile("int8", rows=5, target="opencl")
    assert tile == Mmt4dTile(4, 8, 2, None)
    a, b, _, c = product(5, 9, 7, tile, "int8")
    s = tiled.schedule_mmt4d(c, "opencl")
    x, y = integers(5, 7, dtype="int8"), integers(7, 9, dtype="int8")
    assert (run(s, [a, b, c], x, y) == x.astype("int32") @ y.astype("int32")).all()


# -- The choice of a tile


@needs_llvm
@pytest.mark.parametrize(
    ("target", "types", "rows", "kernel"),
    [
        (HASWELL, ("float32",), None, "mmt4d_6x16x1_f32f32f32_x86_64_avx2_fma"),
        (HASWELL, ("float32",), 1024, "mmt4d_6x16x1_f32f32f32_x86_64_avx2_fma"),
        (HASWELL, ("float32",), 16, "mmt4d_4x16x1_f32f32f32_x86_64_avx2_fma"),
        (HASWELL, ("float32",), 1, "mmt4d_1x16x1_f32f32f32_x86_64_avx2_fma"),
        (
            "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4",
            ("uint8", "int8"),
            None,
            "mmt4d_14x32x4_u8i8i32_x86_64_avx512vnni",
        ),
        (
            "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76",
            ("int8",),
            64,
            "mmt4d_8x8x4_i8i8i32_aarch64_dotprod",
        ),
        ("llvm -mtriple=x86_64-linux-gnu", ("float32",), 64, "mmt4d_4x8x1_f32f32f32_generic"),
    ],
)
def test_the_tile_that_a_target_prefers(target, types, rows, kernel):
    assert mmt4d_tile(*types, rows=rows, target=target).kernel == kernel


@needs_llvm
def test_code_needs_tile_registers_only_if_it_uses_them():
    """The system gives a process the registers of AMX when it asks for them, or refuses."""
    target = "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids"
    tile = mmt4d_tile("int8", target=target)
    assert tile.kernel == "mmt4d_16x64x4_i8i8i32_x86_64_amx"
    a, b, c = packed_product(2, 2, 8, tile, "int8")
    product = texloom.build(tiled.schedule_mmt4d(c, target), [a, b, c], target)
    assert b"amx-int8" in product.kernels[0].binary
    float_tile = mmt4d_tile("float32", target=target)
    a, b, c = packed_product(2, 2, 8, float_tile)
    product = texloom.build(tiled.schedule_mmt4d(c, target), [a, b, c], target)
    assert b"avx512f" in product.kernels[0].binary and b"amx" not in product.kernels[0].binary


def test_types_without_micro_kernels():
    with pytest.raises(texloom.TVMError, match=r"TL1005.*int32 x int32(.|\n)*int8 x int8"):
        mmt4d_tile("int32", target="opencl")


# -- What is refused, and what is remarked


@needs_llvm
def test_a_machine_that_cannot_run_the_micro_kernel():
    a, b, c = packed_product(2, 2, 8, mmt4d_tile("float32", target=HASWELL))
    s = tiled.schedule_mmt4d(c, HASWELL)
    with pytest.raises(texloom.TVMError, match=r"TL2042.*avx2_fma' is not a micro-kernel that"):
        texloom.build(s, [a, b, c], "llvm -mtriple=x86_64-linux-gnu")


def calling(name, library="mmt4d"):
    """Schedule a call of a function of a library, which takes a number."""
    x = te.placeholder((4,), "int32", name="X")
    y = te.compute((4,), lambda i: tir.call_pure_extern("int32", name, x[i]), name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    s[y].pragma(y.op.axis[0], "import_library", library)
    return s, [x, y]


@needs_llvm
@pytest.mark.parametrize(
    ("name", "library", "problem"),
    [
        (
            "sine",
            "libm",
            r"TL2042.*: the target 'llvm' has no library 'libm', which 'sine' is from",
        ),
        ("f", "mmt4d", r"TL2042.*: 'f' is not a micro-kernel that the target 'llvm' can run"),
        ("mmt4d_1x8x1_f32f32f32_generic", "mmt4d", r"TL3034.*: the arguments of .* are not those"),
    ],
)
def test_functions_that_are_no_micro_kernels(name, library, problem):
    s, args = calling(name, library)
    with pytest.raises(texloom.TVMError, match=problem):
        texloom.build(s, args, "llvm")


def test_libraries_need_a_linker():
    s, args = calling("f")
    with pytest.raises(texloom.TVMError, match="TL2042.*OpenCL C has no linker, which 'f' needs"):
        texloom.build(s, args, "opencl")


def test_two_signatures_of_a_function():
    x = te.placeholder((4,), "int32", name="X")
    call = functools.partial(tir.call_pure_extern, "int32", "f")
    y = te.compute((4,), lambda i: call(x[i]) + call(te.const(1, "float32")), name="Y")
    s = te.create_schedule(y.op)
    s[y].parallel(y.op.axis[0])
    s[y].pragma(y.op.axis[0], "import_library", "mmt4d")
    with pytest.raises(texloom.TVMError, match="TL3034.*two calls of 'f' differ"):
        texloom.lower(s, [x, y], target="llvm")


@needs_llvm
@pytest.mark.parametrize("target", ["llvm", NATIVE])
def test_tiles_without_a_micro_kernel_of_the_target(target):
    """The base of an architecture has generic C, other tiles have loops: both are remarked."""
    tile = Mmt4dTile(4, 8, 1, None) if target == "llvm" else Mmt4dTile(3, 16, 2, None)
    a, b, c = packed_product(3, 2, 9, tile)
    with pytest.warns(UserWarning, match="TL2042.*has no micro-kernel of its own for tiles"):
        s = tiled.schedule_mmt4d(c, target)
    f = texloom.build(s, [a, b, c], target)
    x, y = (integers(*map(int, each.shape), dtype="float32") for each in (a, b))
    assert (as_matrix(computed(f, x, y)) == as_matrix(x) @ as_matrix(y).T).all()
    assert ("call_extern" in str(f)) == (target == "llvm")


def test_shapes_that_do_not_match():
    a, b = te.placeholder((2, 3, 4, 1)), te.placeholder((2, 5, 8, 1))
    with pytest.raises(ValueError, match=r"do not match: the left side is \[..., M1, K1, M0, K0\]"):
        tiled.mmt4d(a, b)
    with pytest.raises(ValueError, match="the left side is float32, the right side int8"):
        tiled.mmt4d(a, te.placeholder((2, 3, 8, 1), "int8"))
    matrix = te.placeholder((4, 4))
    with pytest.raises(ValueError, match="are not both of packed matrices"):
        tiled.mmt4d(a, matrix)
    with pytest.raises(ValueError, match="not one of tiles"):
        tiled.unpack(matrix, 4, 4)
    with pytest.raises(ValueError, match="have 8 rows, not 9"):
        tiled.unpack(a, 9, 3)
    with pytest.raises(ValueError, match="is not one of matrices"):
        tiled.pack(te.placeholder((4,)), 1, 1)
    with pytest.raises(ValueError, match="tiles 0 x 1 have no elements"):
        tiled.pack(matrix, 0, 1)


def test_tiles_that_there_are_not():
    with pytest.raises(texloom.TVMError, match="TL2040.*rows is 0"):
        mmt4d_tile("float32", rows=0, target="opencl")
    with pytest.raises(ValueError, match="has no micro-kernel"):
        tiled.mmt4d_intrinsic(mmt4d_tile("float32", target="opencl"), 8)


# -- Objects

# The others are tested by night.
BY_DAY = ("x86_64_avx2_fma", "x86_64_avx512vnni", "aarch64_dotprod", "aarch64_bf16")


@needs_llvm
@needs_objdump
@pytest.mark.parametrize(
    ("name", "target"),
    [
        pytest.param(
            name,
            target,
            marks=[pytest.mark.nightly] * (name not in BY_DAY),
            id=f"{name}-{architecture}",
        )
        for name, architecture, target in machines()
    ],
)
def test_objects_have_no_call(name, target):
    """Each product has one function, in which its micro-kernel is inlined, whatever the tile."""
    found = proofs(name, target)
    assert found
    for proof in found:
        assert proof.calls == 0 and proof.multiplies > 0, proof


@needs_llvm
@needs_objdump
def test_object_has_the_tile_once():
    """A tile of 6 x 16 is 12 fused multiply-adds for each of the two steps of its unrolled loop."""
    tile = mmt4d_tile("float32", target=HASWELL)
    a, b, c = packed_product(43, 16, 256, tile)
    f = texloom.build(tiled.schedule_mmt4d(c, HASWELL), [a, b, c], HASWELL)
    code = disassembled(f.kernels[0].binary)
    assert len(re.findall("vfmadd...ps", code)) == 2 * 12
    assert not CALL.findall(code)


@needs_llvm
@pytest.mark.parametrize("features", ["neon", "dotprod", "i8mm", "bf16", "fullfp16,fp16fml", "sve"])
@pytest.mark.nightly
def test_kernels_for_aarch64_under_qemu(tmp_path, features):
    """Products for another architecture compute the same."""
    compiler, qemu = (
        shutil.which(name) or pytest.skip(f"{name} is not installed: ./dev aarch64")
        for name in ("aarch64-linux-gnu-gcc", "qemu-aarch64")
    )
    attributes = ",".join(f"+{each}" for each in features.split(","))
    target = f"llvm -mtriple=aarch64-linux-gnu -mattr={attributes}"
    for types in TYPES.values():
        preferred = mmt4d_tile(*types, target=target)
        if features != "neon" and preferred.kernel.endswith("_neon"):
            continue
        a, b, c = packed_product(3, 2, 70, preferred, *types)
        f = texloom.build(tiled.schedule_mmt4d(c, target), [a, b, c], target)
        assert f"call_extern({preferred.kernel}" in str(f)
        (tmp_path / "kernels.so").write_bytes(f.kernels[0].binary)
        x, y = (
            integers(*map(int, each.shape), dtype=in_memory(dtype))
            for each, dtype in zip((a, b), types, strict=True)
        )
        given = [
            (each.view("uint32") >> 16).astype("uint16") if types[0] == "bfloat16" else each
            for each in (x, y)
        ]
        size = 3 * 2 * preferred.m0 * preferred.n0 * np.dtype(c.dtype).itemsize
        sizes = zip(("LEFT", "RIGHT", "SUMS"), (*(g.nbytes for g in given), size), strict=True)
        command = [compiler, "-O1", *(f"-D{name}={n}" for name, n in sizes)]
        command += [f"-DKERNEL={f.kernels[0].name}", f"-DBLOCKS={f.kernels[0].grid[0]}"]
        command += [
            Path(__file__).parent / "run_kernel.c",
            "kernels.so",
            "-Wl,-rpath,.",
            "-o",
            "run",
        ]
        subprocess.run(command, cwd=tmp_path, check=True)
        done = subprocess.run(
            [qemu, "-L", "/usr/aarch64-linux-gnu", "-cpu", "max", "run"],
            cwd=tmp_path,
            input=b"".join(g.tobytes() for g in given),
            stdout=subprocess.PIPE,
            check=True,
        )
        result = np.frombuffer(done.stdout, c.dtype).reshape([int(n) for n in c.shape])
        expected = as_matrix(x).astype("float64") @ as_matrix(y).T.astype("float64")
        assert (as_matrix(result) == expected).all()


@needs_llvm
def test_benchmark_measures_right_results():
    """Odd extents; oneDNN is an arm where it is installed."""
    small = cpu.Product(7, 20, 33, "int8", "int8")
    row = cpu.measure(small, rounds=1)
    assert row["right"] and {"packed", "rows"} <= set(row["seconds"])
    assert row["kernel"] == mmt4d_tile("int8", rows=7, target=NATIVE).kernel
