"""The schedules of the matrix product, and the benchmark that compares them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import texloom as tvm
from texloom.examples.matmul import DIRECT, SHARED, WARPS, declarations, matmul, schedule_matmul
from texloom.examples.rounding import sum_error_bound
from texloom_bench import kernels

# Small versions of the measured tiles: the same loops, with few enough threads for a quick test.
SMALL = {
    "direct": replace(DIRECT, block=(32, 32, 0), lanes=(4, 4)),
    "shared": replace(SHARED, block=(32, 32, 4), lanes=(4, 4)),
    "warps": replace(WARPS, block=(32, 32, 4), thread=(8, 8), lanes=(2, 4), swizzle=2),
    "two tiles ahead": replace(
        WARPS, block=(32, 32, 4), thread=(8, 8), lanes=(2, 4), swizzle=1, fetch_ahead=2
    ),
    "odd steps": replace(WARPS, block=(32, 32, 3), thread=(8, 8), lanes=(2, 2), swizzle=2),
}


@pytest.mark.parametrize("storage", ["texture", "buffer"])
@pytest.mark.parametrize("tiles", SMALL.values(), ids=SMALL)
def test_product(dev, tiles, storage):
    m, n, k = 64, 96, 24
    a, b, c = matmul(m, n, k)
    binds = declarations((a, b), storage)
    function = tvm.build(schedule_matmul(a, b, c, tiles), [a, b, c], binds=binds)
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((k, columns), dtype="float32") for columns in (m, n))
    scope = "texture" if storage == "texture" else None
    result = tvm.nd.empty((m, n), "float32", dev)
    function(tvm.nd.array(x, dev, scope), tvm.nd.array(y, dev, scope), result)
    exact, magnitudes = (u.T.astype("float64") @ v for u, v in ((x, y), (abs(x), abs(y))))
    assert (np.abs(result.numpy() - exact) <= sum_error_bound(k, magnitudes)).all()


def test_registers_hold_what_a_thread_computes():
    """A thread keeps 16 x 8 sums, and two buffers of 16 and 8 elements, in registers."""
    a, b, c = matmul(128, 128, 16)
    tiles = replace(WARPS, swizzle=1)
    (kernel,) = tvm.build(schedule_matmul(a, b, c, tiles), [a, b, c]).kernels
    assert "float4 C_local[32];" in kernel.source
    assert "float A_shared_local[32]" in kernel.source
    assert "float4 B_shared_local[4];" in kernel.source
    assert "if (" not in kernel.source


def test_every_variant_has_tiles_that_fit_the_sizes():
    for variant in kernels.VARIANTS:
        for size in kernels.SIZES:
            assert variant.fits(*size)


def test_benchmark_measures_and_checks(capsys):
    """The benchmark lists skipped references, and products whose size no variant's tiles divide."""
    arguments = ["--quick", "--only", "products", "--reference", "nowhere"]
    arguments += ["--size", "128x128x8", "--size", "100x100x10"]
    assert kernels.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "nowhere lacks gemm.cl, sgemm.cl: skipped" in printed
    assert "registers 8x8       buffer" in printed
    assert "no variant's tiles divide this product" in printed
    assert "WRONG" not in printed


def test_benchmark_notices_a_wrong_product(tmp_path, capsys):
    """The reference's kernels write nothing, so the benchmark reports them as wrong."""
    images = "read_only image2d_t A, read_only image2d_t B"
    buffers = "global float4* A, global float4* B"
    rest = "global float4* C, int M, int N, int K) {}\n"
    (tmp_path / "gemm.cl").write_text(
        f"kernel void gemm_tex({images}, {rest}kernel void gemm_glb({buffers}, {rest}"
        f"#ifdef LTEX\nkernel void gemm_loc({images}, {rest}#else\n"
        f"kernel void gemm_loc({buffers}, {rest}#endif\n"
    )
    (tmp_path / "sgemm.cl").write_text("")
    arguments = ["--quick", "--only", "products", "--size", "128x128x8"]
    arguments += ["--reference", str(tmp_path)]
    assert kernels.main(arguments) == 1
    assert "WRONG" in capsys.readouterr().out


def test_benchmark_refuses_a_size_that_is_none():
    command = [sys.executable, "-m", "texloom_bench", "kernels", "--size", "8x8"]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root / "python", check=False)
    assert done.returncode == 2
    assert "'8x8' is not rows x columns x steps" in done.stderr
