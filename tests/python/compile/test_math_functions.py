"""Math functions of the target llvm: errors beside MPFR, special values, code without calls."""

import re
import subprocess
import sys
from pathlib import Path

import gmpy2
import numpy as np
import pytest
from llvm_plugin import has_llvm
from math_errors import (
    DTYPES,
    TWO_ARGUMENTS,
    any_numbers,
    bounds,
    errors,
    kernel,
    largest_error,
    points,
)

import texloom
from texloom import te

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

ROOT = Path(__file__).parents[3]
BOUNDS = bounds()
FUNCTIONS = sorted({name for name, _ in BOUNDS})
EXACT = {
    "ldexp": lambda x, n: np.ldexp(x, np.clip(np.nan_to_num(np.trunc(n)), -9999, 9999).astype(int)),
    "nextafter": np.nextafter,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "nearbyint": np.rint,
    "round": lambda x: np.trunc(x) + np.copysign(abs(x - np.trunc(x)) >= 0.5, x),
}
NATIVE, WITHOUT_FMA = "llvm -mcpu=native", "llvm"
BEYOND = {"sin", "cos", "tan"}  # large angles


def test_the_document_names_every_function():
    text = (ROOT / "docs/math_functions.md").read_text()
    integers = {"popcount", "clz", "dot_u8s8", "dot_s8s8", "dot_u8u8", "dot_s16s16"}
    missing = {
        name
        for name in texloom._core.intrinsics()
        if f"`{name}`" not in text and not name.startswith("native_") and name not in integers
    }
    assert not missing


@pytest.mark.parametrize(("name", "dtype"), BOUNDS)
def test_errors(name, dtype):
    error, where = largest_error(name, dtype, 1000, NATIVE)
    assert error <= BOUNDS[name, dtype], where


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "dtype"), BOUNDS)
def test_errors_of_many_points(name, dtype):
    error, where = largest_error(name, dtype, 100_000, NATIVE)
    assert error <= BOUNDS[name, dtype], where


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "dtype"), BOUNDS)
def test_errors_without_fused_products(name, dtype):
    error, where = largest_error(name, dtype, 10_000, WITHOUT_FMA)
    assert error <= BOUNDS[name, dtype], where


def special_numbers(dtype):
    """Return numbers at which functions have exact values, change their formulas or overflow."""
    limits = np.finfo(dtype)
    ends = [88.7228, 88.7229, -103.97, -104.1, 709.78, 709.79, -745.1, -745.2, 710.4, 710.5]
    ends += [128, 127.9999, -149, -150, 1024, -1074, -1075, 38.53, 308.25, -45.2, -323.9, 10.06, 27]
    magnitudes = [0, 1, 0.5, 2, 3, 1.5, 1e-20, 2**20 + 1, 2**30, 2**31, 2**53 - 1, 1e5, np.inf]
    magnitudes += [limits.max, limits.tiny, limits.smallest_subnormal, limits.eps, np.sqrt(0.5)]
    return np.array([*magnitudes, *(-m for m in magnitudes), *ends, np.nan], dtype)


def special_arguments(name, dtype):
    numbers = special_numbers(dtype)
    if name not in TWO_ARGUMENTS:
        return [numbers]
    return [each.ravel() for each in np.meshgrid(numbers, numbers)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name, dtype):
    """NaN, infinities, zeros and their signs are exactly MPFR's, which are those of C99."""
    arguments = special_arguments(name, dtype)
    row = (1, len(arguments[0]))
    results = kernel(name, dtype, row, NATIVE)(*(a.reshape(row) for a in arguments)).ravel()
    found = errors(name, arguments, results)
    worst = found.argmax()
    where = [a[worst] for a in arguments]
    assert found[worst] <= BOUNDS[name, dtype], f"{name}{where} = {results[worst]}"


@pytest.mark.parametrize("target", [NATIVE, WITHOUT_FMA])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_exact_functions(name, dtype, target):
    arguments = special_arguments(name, dtype)
    row = (1, len(arguments[0]))
    results = kernel(name, dtype, row, target)(*(a.reshape(row) for a in arguments)).ravel()
    with np.errstate(all="ignore"):
        expected = EXACT[name](*arguments)
    is_right = (results == expected) & (np.signbit(results) == np.signbit(expected))
    assert (is_right | (np.isnan(results) & np.isnan(expected))).all()


def test_fused_products_without_instructions_for_them():
    """A sum of products is rounded once; a third of the sums nearly cancel."""
    shape = (12, 64)
    a, b, c = (te.placeholder(shape, name=name) for name in "ABC")
    y = te.compute(shape, lambda i, j: texloom._core.fma(a[i, j], b[i, j], c[i, j]), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    random = np.random.default_rng(5)
    x, z = (any_numbers("float32", 768, random) for _ in range(2))
    with np.errstate(all="ignore"):
        added = np.where(random.random(768) < 0.6, -x * z, any_numbers("float32", 768, random))
    f = texloom.build(s, [a, b, c, y], WITHOUT_FMA)
    assert "llvm.fma" not in f.kernels[0].source
    results = np.asarray(f(*(v.reshape(shape) for v in (x, z, added)))).ravel()
    with gmpy2.context(gmpy2.ieee(32)):
        numbers = (map(gmpy2.mpfr, v.tolist()) for v in (x, z, added))
        expected = np.array([float(gmpy2.fma(*each)) for each in zip(*numbers, strict=True)])
    assert np.array_equal(results, expected, equal_nan=True)


@pytest.mark.parametrize(("name", "dtype"), [("sin", "float32"), ("power", "float64")])
@pytest.mark.parametrize("target", [NATIVE, WITHOUT_FMA])
def test_results_do_not_depend_on_lanes(name, dtype, target):
    """Loops of scalars and vectors of few or many lanes give the same bits."""
    arguments = [a.reshape(12, 64) for a in points(name, dtype, 768)]
    results = [
        np.asarray(kernel(name, dtype, (12, 64), target, lanes)(*arguments)).tobytes()
        for lanes in (0, 2, 16)
    ]
    assert len(set(results)) == 1


@pytest.mark.parametrize("target", [NATIVE, WITHOUT_FMA])
@pytest.mark.parametrize(("name", "limit"), [("tanh", 9.1), ("erf", 3.95)])
def test_float32_functions_that_saturate(name, limit, target):
    """From the limit on, the result is exactly -1 or 1, and it is never outside of them."""
    first, last = (int(np.float32(limit * factor).view("uint32")) for factor in (0.5, 1.0))
    below = np.arange(first, last, 97, "uint32").view("float32")
    beyond = np.array([limit, limit + 1e-5, 10, 1e30, np.finfo("float32").max, np.inf], "float32")
    x = np.concatenate([below, beyond, -below, -beyond]).reshape(1, -1)
    result = np.asarray(kernel(name, "float32", x.shape, target)(x)).ravel()
    assert (np.abs(result) <= 1).all() and np.abs(result[: len(below)]).min() > 0.9
    assert (result[len(below) : len(below) + 6] == 1).all() and (result[-6:] == -1).all()


def test_an_instruction_for_powers_of_2_has_the_bits_of_two_products():
    """AVX-512 has it, for whole vectors and for the elements that are left over."""
    arguments = [a.reshape(12, 61) for a in points("exp", "float32", 732)]
    both = [
        np.asarray(kernel("exp", "float32", (12, 61), target)(*arguments)).tobytes()
        for target in (NATIVE, NATIVE + " -mattr=-avx512f")
    ]
    assert both[0] == both[1]


def test_loops_are_vectorized_with_an_instruction_for_powers_of_2():
    target = "llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"
    text = source("exp", "float32", target)
    assert re.search(r"call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512\(", text)


def source(name, dtype, target):
    return kernel(name, dtype, (64, 256), target).kernels[0].source


# Whole registers of each processor.
PROCESSORS = {
    "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell": ("<8 x float>", "<4 x double>"),
    "llvm -mtriple=aarch64-linux-gnu": ("<4 x float>", "<2 x double>"),
}


def check_loop(name, dtype, target):
    """A loop over scalars becomes one over vectors, and calls nothing but LLVM's operations."""
    text = kernel(name, dtype, (64, 256), target).kernels[0].source
    called = {c for c in re.findall(r"call [^@]*@([\w.]+)\(", text) if not c.startswith("llvm.")}
    assert called <= ({name + "f" * (dtype == "float32")} if name in BEYOND else set())
    assert any(vector in text for vector in PROCESSORS[target])


@pytest.mark.parametrize("target", PROCESSORS)
@pytest.mark.parametrize(("name", "dtype"), [("exp", "float32"), ("sin", "float32")])
def test_loops_are_vectorized(name, dtype, target):
    check_loop(name, dtype, target)


@pytest.mark.nightly
@pytest.mark.parametrize("target", PROCESSORS)
@pytest.mark.parametrize(("name", "dtype"), BOUNDS)
def test_all_loops_are_vectorized(name, dtype, target):
    check_loop(name, dtype, target)


def test_float16_is_rounded_float32():
    x = te.placeholder((4, 64), "float16", name="X")
    y = te.compute((4, 64), lambda i, j: te.tanh(x[i, j]), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    values = np.linspace(-2, 2, 256).astype("float16").reshape(4, 64)
    results = np.asarray(texloom.build(s, [x, y], NATIVE)(values)).astype("float64")
    exact = np.tanh(values.astype("float64"))
    ulp = abs(np.spacing(exact.astype("float16"))).astype("float64")
    assert (abs(results - exact) <= 0.51 * ulp).all()


def test_coefficients_are_those_of_the_script():
    command = [sys.executable, str(ROOT / "scripts/math_coefficients.py")]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kept = (ROOT / "src/codegen/llvm/plugin/math/coefficients.h").read_text()
    assert "".join(kept.split()) == "".join(made.split())  # clang-format breaks lines


def test_mpfr_notices_a_wrong_result():
    """The measure itself: one ulp, a wrong sign of zero and a number in place of NaN are seen."""
    x = np.array([1.0, 2.0, 0.0, -1.0])
    with gmpy2.context(precision=53):
        right = np.array([0.0, float(gmpy2.log(2)), -np.inf, np.nan])
    assert (errors("log", [x], right) <= 0.5).all()
    wrong = np.array([-0.0, np.nextafter(right[1], 9), np.inf, 0.0])
    assert (errors("log", [x], wrong) >= 0.5).all()
