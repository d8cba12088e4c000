#!/usr/bin/env python3
"""Errors of the target llvm's math functions, in units in the last place (ulp), beside MPFR.

As a program it prints the largest error that it finds of each function:
.venv/bin/python tests/python/math_errors.py --points 100000 --target "llvm -mcpu=native"
"""

from __future__ import annotations

import argparse
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

import texloom
from texloom import te

DOCUMENT = Path(__file__).parents[2] / "docs" / "math_functions.md"
DTYPES = ("float32", "float64")
DIGITS = {"float32": 24, "float64": 53}
LEAST_EXPONENT = {"float32": -149, "float64": -1074}  # of the smallest number
PRECISION = 100  # of MPFR's results, in bits: beside it, their errors are nothing

# The interval in which the function is interesting, for float32 and for float64.
INTERVALS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "exp": ((-104, 89), (-746, 710)),
    "exp2": ((-150, 128.1), (-1076, 1024.1)),
    "exp10": ((-46, 39), (-324, 309)),
    "expm1": ((-20, 89), (-40, 710)),
    "sinh": ((-4, 4), (-4, 4)),
    "cosh": ((-89.5, 89.5), (-711, 711)),
    "tanh": ((-10, 10), (-20, 20)),
    "log": ((0.4, 2.2), (0.4, 2.2)),
    "log2": ((0.4, 2.2), (0.4, 2.2)),
    "log10": ((0.4, 2.2), (0.4, 2.2)),
    "log1p": ((-1, 2), (-1, 2)),
    "asinh": ((-4, 4), (-4, 4)),
    "acosh": ((1, 4), (1, 4)),
    "atanh": ((-1, 1), (-1, 1)),
    "sin": ((-1000, 1000), (-1000, 1000)),
    "cos": ((-1000, 1000), (-1000, 1000)),
    "tan": ((-1000, 1000), (-1000, 1000)),
    "asin": ((-1, 1), (-1, 1)),
    "acos": ((-1, 1), (-1, 1)),
    "atan": ((-4, 4), (-4, 4)),
    "erf": ((-4, 4), (-6, 6)),
    "erfc": ((-4, 10.1), (-6, 27.3)),
    "cbrt": ((-9, 9), (-9, 9)),
}
BINARY = {"power": lambda x, y: x**y, "atan2": gmpy2.atan2, "hypot": gmpy2.hypot}
TWO_ARGUMENTS = {*BINARY, "ldexp", "nextafter"}


def bounds() -> dict[tuple[str, str], float]:
    """Return the bounds that the document states, by function and element type."""
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \|", DOCUMENT.read_text(), re.MULTILINE)
    return {
        (name, dtype): float(bound)
        for name, *both in rows
        for dtype, bound in zip(DTYPES, both, strict=True)
    }


def exact(name: str) -> Callable[..., Any]:
    """Return MPFR's function."""
    return BINARY.get(name) or getattr(gmpy2, name)


def kernel(name: str, dtype: str, shape: tuple[int, int], target: str, lanes: int = 0):
    """Build a kernel that computes the function in loops, or in vectors of so many lanes."""
    count = 2 if name in TWO_ARGUMENTS else 1
    inputs = [te.placeholder(shape, dtype, name=f"X{i}") for i in range(count)]
    y = te.compute(
        shape, lambda i, j: texloom._core.call(name, *(x[i, j] for x in inputs)), name="Y"
    )
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    if lanes:
        _, inner = s[y].split(y.op.axis[1], lanes)
        s[y].vectorize(inner)
    return texloom.build(s, [*inputs, y], target)


def any_numbers(dtype: str, count: int, random: np.random.Generator) -> np.ndarray:
    """Return numbers of any magnitude, among them infinities and numbers that are NaN."""
    bits = "uint32" if dtype == "float32" else "uint64"
    return random.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(dtype)


def points(name: str, dtype: str, count: int) -> list[np.ndarray]:
    """Return arguments: half of them where the function is interesting, the others anywhere."""
    random = np.random.default_rng(len(name))
    half = count // 2
    rest = any_numbers(dtype, count - half, random)
    if name in INTERVALS:
        inside = random.uniform(*INTERVALS[name][DTYPES.index(dtype)], half).astype(dtype)
        near_0 = inside[: half // 2] * np.exp2(random.uniform(-30, 0, half // 2)).astype(dtype)
        return [np.concatenate([near_0, inside[half // 2 :], rest])]
    x = np.exp2(random.uniform(-12, 12, half))
    if name == "power":  # results of any magnitude
        least = LEAST_EXPONENT[dtype]
        y = random.uniform(least - 1, -least, half) / np.log2(x)
    else:
        y = x * np.exp2(random.uniform(-4, 4, half)) * random.choice([-1, 1], half)
    others = random.permutation(rest)
    return [
        np.concatenate([inside.astype(dtype), outside])
        for inside, outside in ((x, rest), (y, others))
    ]


def errors(name: str, arguments: list[np.ndarray], results: np.ndarray) -> np.ndarray:
    """Return the error of each result in ulp: infinity for one that is wrong in kind or in sign."""
    dtype = str(results.dtype)
    function, digits = exact(name), DIGITS[dtype]
    with gmpy2.context(precision=PRECISION):
        values = list(map(function, *(map(gmpy2.mpfr, a.tolist()) for a in arguments)))
        far = list(map(operator.sub, values, results.tolist()))
        near = np.array(list(map(float, values)))
        exponents = np.frexp(near)[1] - digits
        exponents = np.maximum(np.where(np.isfinite(near), exponents, 0), LEAST_EXPONENT[dtype])
        # Differences of small float64 numbers are not float64 numbers.
        small = exponents < -960
        for i in np.flatnonzero(small):
            far[i] *= gmpy2.exp2(-int(exponents[i]))
    exponents[small] = 0
    found = np.abs(np.ldexp(np.array(list(map(float, far))), -exponents))
    # What exceeds the largest number by half an ulp is infinite.
    most = float(np.finfo(dtype).max)
    overflows = np.isinf(results) & (np.abs(near) > most)
    is_nan, is_infinite = np.isnan(near), np.isinf(near) & np.isinf(results)
    found[(is_nan & np.isnan(results)) | is_infinite | overflows] = 0
    found[np.isnan(found)] = np.inf
    found[~is_nan & (np.signbit(near) != np.signbit(results))] = np.inf
    return found


def largest_error(name: str, dtype: str, count: int, target: str) -> tuple[float, str]:
    """Return the largest error that is found among so many points, and where it is."""
    columns = 500
    arguments = points(name, dtype, count)
    rows = [a.reshape(-1, columns) for a in arguments]
    results = np.asarray(kernel(name, dtype, rows[0].shape, target)(*rows)).ravel()
    found = errors(name, arguments, results)
    worst = int(found.argmax())
    where = ", ".join(repr(float(a[worst])) for a in arguments)
    return float(found[worst]), f"{name}({where}) = {float(results[worst])!r} in {dtype}"


def main() -> None:
    """Print a table of the largest errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="of each function")
    parser.add_argument("--target", default="llvm -mcpu=native")
    options = parser.parse_args()
    print(f"largest errors in ulp of {options.points} points, for {options.target!r}:")
    print(f"{'function':10} {'float32':>8} {'bound':>6} {'float64':>8} {'bound':>6}")
    stated = bounds()
    for name in dict.fromkeys(name for name, _ in stated):
        found = [largest_error(name, dtype, options.points, options.target)[0] for dtype in DTYPES]
        cells = [f"{f:8.3f} {stated[name, d]:6g}" for f, d in zip(found, DTYPES, strict=True)]
        print(f"{name:10} {' '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
