"""The functions that Metal's language lacks are as exact as OpenCL C asks, in every float32.

Their definitions, as kernels have them, are compiled as C++ with the few names of Metal's library
that they use, and compared with double precision on one in 4099 of all bit patterns.
"""

import ctypes
import re
import subprocess

import numpy as np
import pytest

import texloom as tvm
from texloom import te

CLANG = "clang++-19"
LIBRARY = """
#include <cmath>
#include <cstring>
using std::copysign, std::fabs, std::floor, std::fma, std::fmax, std::fmin, std::fmod, std::ldexp;
using std::rint;
namespace precise { using std::exp; using std::exp2; using std::log2; using std::sqrt; }
namespace fast { inline float divide(float a, float b) { return a / b; } }
template <class To, class From> To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
#pragma clang fp contract(off)
"""

LOOP = """extern "C" void {name}_{kind}(long n, const {kind}* x, const {kind}* y, {kind}* z) {{
  for (long i = 0; i < n; ++i) z[i] = {function}({arguments});
}}
"""

# The largest errors that OpenCL C 1.2 (7.4) allows, in units in the last place.
BOUNDS = {
    "cbrt": 2,
    "erf": 16,
    "erfc": 16,
    "expm1": 3,
    "log1p": 2,
    "tgamma": 16,
    "hypot": 4,
    "nextafter": 0,
}
UNARY = [name for name in BOUNDS if tvm._core.intrinsics()[name] == 1]


def definitions(name):
    """Return the definition of a function, with the definitions of functions that it calls."""
    count = tvm._core.intrinsics()[name]
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: tvm._core.call(name, *[x[i]] * count), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    (kernel,) = tvm.build(s, [x, y], "metal").kernels
    return "\n".join(
        re.findall(r"^float tl_\w+\(.*?\)(?:;| \{\n.*?^\})", kernel.source, re.M | re.S)
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Compile all of the functions, applied to arrays, and C's functions in double precision."""
    folder = tmp_path_factory.mktemp("metal")
    text = LIBRARY
    for name in BOUNDS:
        arguments = ", ".join(f"{each}[i]" for each in "xy"[: tvm._core.intrinsics()[name]])
        text += f"namespace {name}_ {{\n{definitions(name)}\n}}\n"
        for kind, function in (("float", f"{name}_::tl_{name}"), ("double", f"std::{name}")):
            text += LOOP.format(name=name, kind=kind, function=function, arguments=arguments)
    (folder / "functions.cc").write_text(text)
    command = [
        CLANG,
        "-std=c++17",
        "-O2",
        "-mfma",
        "-shared",
        "-fPIC",
        "functions.cc",
        "-o",
        "f.so",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "f.so"))


def applied(library, name, *arrays):
    kind = "float" if arrays[0].dtype == np.float32 else "double"
    result = np.empty_like(arrays[0])
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (*arrays, *arrays, result)]
    getattr(library, f"{name}_{kind}")(
        ctypes.c_long(result.size), pointers[0], pointers[1], pointers[-1]
    )
    return result


def sampled():
    with np.errstate(all="ignore"):
        return np.arange(0, 2**32, 4099, dtype=np.uint32).view(np.float32)


def errors(result, exact):
    """Return errors in units in the last place of float32; 0 where both are infinite or NaN."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
        unit = np.maximum(np.spacing(np.abs(rounded)), np.float32(2.0**-149)).astype(np.float64)
        # Beyond the largest float32, use the unit of the largest.
        unit = np.where(np.isfinite(rounded), unit, 2.0**104)
        finite = np.where(
            np.isfinite(result), result.astype(np.float64), np.sign(result) * 2.0**128
        )
        return np.where(same, 0, np.abs(finite - exact) / unit)


@pytest.mark.parametrize("name", UNARY)
def test_error_of_one_argument(library, name):
    x = sampled()
    result = applied(library, name, x)
    with np.errstate(all="ignore"):
        exact = applied(library, name, x.astype(np.float64))
    worst = errors(result, exact)
    at = int(np.argmax(worst))
    assert worst[at] <= BOUNDS[name], f"{name}({x[at]!r}) = {result[at]!r}, not {exact[at]!r}"


@pytest.mark.parametrize("name", ["hypot", "nextafter"])
def test_error_of_two_arguments(library, name):
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 2**32, 1_000_000, dtype=np.uint32).view(np.float32) for _ in "xy")
    # In half of the pairs, the numbers are close to each other; some are equal.
    bits = x.view(np.uint32)[::2] ^ rng.integers(0, 2**12, x.size // 2, dtype=np.uint32)
    y[::2] = bits.view(np.float32)
    y[::64] = x[::64]
    x[1::128], y[1::256] = 0.0, -0.0
    result = applied(library, name, x, y)
    with np.errstate(all="ignore"):
        exact = (
            np.nextafter(x, y)
            if name == "nextafter"
            else applied(library, name, *(a.astype(np.float64) for a in (x, y)))
        )
    if name == "nextafter":
        same = (result.view(np.uint32) == exact.view(np.uint32)) | (
            np.isnan(result) & np.isnan(exact)
        )
        assert same.all(), (x[~same][:3], y[~same][:3])
        return
    worst = errors(result, exact)
    at = int(np.argmax(worst))
    assert worst[at] <= BOUNDS[name], (x[at], y[at], result[at], exact[at])
