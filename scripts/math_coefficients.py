#!/usr/bin/env python3
"""Prints src/codegen/llvm/plugin/math/coefficients.h: polynomials of the native math functions.

Each polynomial interpolates a function in the Chebyshev points of an interval, so that its error is
at most a small factor above the smallest possible one. MPFR computes it, by gmpy2.
"""

import gmpy2
from gmpy2 import mpfr

BITS = 400
gmpy2.get_context().precision = BITS


def interpolate(function, low, high, count):
    """Return the `count` coefficients, from the lowest power, of the interpolating polynomial."""
    pi = gmpy2.const_pi()
    middle, half = (mpfr(high) + mpfr(low)) / 2, (mpfr(high) - mpfr(low)) / 2
    angles = [pi * (2 * i + 1) / (2 * count) for i in range(count)]
    values = [function(middle + half * gmpy2.cos(angle)) for angle in angles]
    series = [
        sum(v * gmpy2.cos(j * angle) for v, angle in zip(values, angles, strict=True)) * 2 / count
        for j in range(count)
    ]
    series[0] /= 2
    # Clenshaw's recurrence on polynomials of u = (x - middle) / half.
    after, current = [mpfr(0)] * (count + 1), [mpfr(0)] * (count + 1)
    for j in range(count - 1, 0, -1):
        doubled = [mpfr(0), *(2 * c for c in current[:-1])]
        after, current = current, [d - a for d, a in zip(doubled, after, strict=True)]
        current[0] += series[j]
    shifted = [mpfr(0), *current[:-1]]
    powers = [s - a for s, a in zip(shifted, after, strict=True)]
    powers[0] += series[0]
    # Powers of u become powers of x.
    result = [mpfr(0)] * count
    for power in reversed(powers[:count]):
        moved = [(r * -middle) / half for r in result]
        for i in range(count - 1):
            moved[i + 1] += result[i] / half
        result = moved
        result[0] += power
    return result


def of_root(function):
    """Return the function of z = x * x that `function` is of x."""
    return lambda z: function(gmpy2.sqrt(z))


def log_of_s(s):
    """Return the logarithm of a mantissa m, where s = (m - 1) / (m + 1)."""
    return gmpy2.log((1 + s) / (1 - s))


def scaled_erfc(t):
    """Return (1 + 2 a) exp(a^2) erfc(a), where t = (a - 4) / (a + 4)."""
    a = 4 * (1 + t) / (1 - t)
    with gmpy2.context(precision=BITS + 200):
        return (1 + 2 * a) * gmpy2.exp(a * a) * gmpy2.erfc(a)


TINY = mpfr(2) ** -200  # what a zero among the points is, after rounding
HALF_LOG2 = "0.34658"  # a little more than log(2) / 2
QUARTER_PI = gmpy2.const_pi() / 4
# Name, what the comment says, function, interval, coefficients for float32 and for float64.
POLYNOMIALS = [
    (
        "Exp",
        "(exp(r) - 1 - r) / r^2",
        lambda r: (gmpy2.expm1(r) - r) / (r * r) if abs(r) > TINY else mpfr(0.5),
        "-" + HALF_LOG2,
        HALF_LOG2,
        6,
        11,
    ),
    (
        "ShortExp",
        "(exp(r) - 1 - r) / r^2, for formulas in float",
        lambda r: (gmpy2.expm1(r) - r) / (r * r) if abs(r) > TINY else mpfr(0.5),
        "-" + HALF_LOG2,
        HALF_LOG2,
        5,
        0,
    ),
    (
        "Tanh",
        "(tanh(x) / x - 1) / z, of z = x^2",
        of_root(lambda x: (gmpy2.tanh(x) / x - 1) / (x * x)),
        0,
        "0.49",
        6,
        0,
    ),
    (
        "LogOfF",
        "(log(1 + f) - f + f^2 / 2) / f^3",
        lambda f: (gmpy2.log(1 + f) - f + f * f / 2) / f**3,
        gmpy2.sqrt(mpfr(0.5)) - 1,
        gmpy2.sqrt(mpfr(2)) - 1,
        9,
        0,
    ),
    (
        "LogOfS",
        "log((1 + s) / (1 - s)) / s - 2, divided by z = s^2",
        of_root(lambda s: (log_of_s(s) / s - 2) / (s * s)),
        0,
        "0.02945",
        0,
        8,
    ),
    (
        "LogOfSTail",
        "log((1 + s) / (1 - s)) / s - 2 - 2 z / 3, divided by z^2 = s^4",
        of_root(lambda s: (log_of_s(s) / s - 2 - 2 * s * s / 3) / s**4),
        0,
        "0.02945",
        0,
        10,
    ),
    (
        "Sin",
        "sin(r) / r - 1, divided by z = r^2",
        of_root(lambda r: (gmpy2.sin(r) / r - 1) / r**2),
        0,
        QUARTER_PI**2,
        4,
        7,
    ),
    (
        "Cos",
        "cos(r) - 1 + z / 2, divided by z^2 = r^4",
        of_root(lambda r: (gmpy2.cos(r) - 1 + r * r / 2) / r**4),
        0,
        QUARTER_PI**2,
        4,
        7,
    ),
    (
        "Asin",
        "asin(x) / x - 1, divided by z = x^2",
        of_root(lambda x: (gmpy2.asin(x) / x - 1) / x**2),
        0,
        0.25,
        6,
        14,
    ),
    (
        "Atan",
        "atan(x) / x - 1, divided by z = x^2",
        of_root(lambda x: (gmpy2.atan(x) / x - 1) / x**2),
        0,
        "0.1716",
        5,
        13,
    ),
    ("Erf", "erf(x) / x - 1, of z = x^2", of_root(lambda x: gmpy2.erf(x) / x - 1), 0, 1, 7, 15),
    ("LogErfc", "log(erfc(a))", lambda a: gmpy2.log(gmpy2.erfc(a)), "0.98", 4, 9, 0),
    (
        "Erfc",
        "(1 + 2 a) exp(a^2) erfc(a), of t = (a - 4) / (a + 4)",
        scaled_erfc,
        -1,
        ("0.45", "0.76"),
        12,
        25,
    ),
    ("InverseCubeRoot", "m^(-1/3)", lambda m: 1 / gmpy2.root(m, 3), "0.35", "2.83", 5, 5),
]

LOG2, LOG10, PI = gmpy2.const_log2(), gmpy2.log(mpfr(10)), gmpy2.const_pi()
# Name, value, digits of the high part in float and in double.
CONSTANTS = [
    ("Log2", LOG2, 24, 53),
    ("Log2Split", LOG2, 15, 32),
    ("Log2OfE", 1 / LOG2, 24, 53),
    ("Log2Of10", LOG10 / LOG2, 24, 53),
    ("Log10Of2Split", LOG2 / LOG10, 15, 32),
    ("LogOf10", LOG10, 24, 53),
    ("InverseLogOf10", 1 / LOG10, 24, 53),
    ("QuarterPi", PI / 4, 24, 53),
    ("HalfPi", PI / 2, 24, 53),
    ("Pi", PI, 24, 53),
    ("TwoThirds", mpfr(2) / 3, 24, 53),
]


def rounded(value, digits):
    """Return the nearest number with this many binary digits."""
    with gmpy2.context(precision=digits):
        return +value


def parts(value, *digits):
    """Return numbers with these many digits, the sum of which is nearly the value."""
    numbers = []
    for each in digits:
        numbers.append(rounded(value, each))
        value -= numbers[-1]
    return numbers


def listed(numbers):
    """Return hexadecimal constants of C++."""
    return ", ".join(float(each).hex() for each in numbers)


def lines():
    """Yield the lines of the header."""
    yield "// Polynomials and constants: scripts/math_coefficients.py writes this file."
    yield "#pragma once"
    yield ""
    yield "#include <array>"
    yield ""
    yield '#include "codegen/llvm/plugin/math/real.h"'
    yield ""
    yield "namespace texloom::codegen::native::math {"
    for name, meaning, function, low, highs, *counts in POLYNOMIALS:
        yield ""
        highs = highs if isinstance(highs, tuple) else (highs, highs)
        names = []
        for kind, high, count in zip(("Coarse", "Fine"), highs, counts, strict=True):
            if count == 0:
                names.append("{}")
            elif names and count == counts[0] and high == highs[0]:
                names.append(names[0])
            else:
                names.append(f"k{kind}{name}")
                numbers = listed(interpolate(function, low, high, count))
                yield f"inline constexpr double {names[-1]}[] = {{{numbers}}};"
        yield f"// {meaning}"
        yield f"inline constexpr Polynomial k{name} = {{{', '.join(names)}}};"
    yield ""
    for name, value, single, double in CONSTANTS:
        numbers = listed([*parts(value, single, 24), *parts(value, double, 53)])
        yield f"inline constexpr Constant k{name} = {{{numbers}}};"
    yield f"inline constexpr double kTwoOverPi = {listed(parts(2 / PI, 53))};"
    for bits, count in ((22, 2), (32, 3)):
        numbers = listed(parts(PI / 2, *[bits] * count, 53))
        yield f"inline constexpr std::array kHalfPiOf{bits}Bits = {{{numbers}}};"
    yield ""
    yield "}  // namespace texloom::codegen::native::math"


if __name__ == "__main__":
    print("\n".join(lines()))
