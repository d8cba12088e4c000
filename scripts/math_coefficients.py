#!/usr/bin/env python3
"""Prints src/codegen/llvm/plugin/math/coefficients.h: polynomials of the native math functions.

Each polynomial interpolates a function in the Chebyshev points of an interval, so that its error is
at most a small factor above the smallest possible one. Quotients of two polynomials have the
smallest possible error (E. Ya. Remez, 1934). MPFR computes both, by gmpy2.
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


def solution(rows):
    """Solve linear equations, in place; each row ends with its right side (Gauss)."""
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [each / rows[i][i] for each in rows[i]]
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def value(coefficients, z):
    """Return the polynomial's value."""
    total = mpfr(0)
    for each in reversed(coefficients):
        total = total * z + each
    return total


def alternating(points, error, count):
    """Return the largest errors of alternating signs: `count` of the points."""
    largest = []
    for z in points:
        if largest and (error(z) > 0) == (error(largest[-1]) > 0):
            largest[-1] = max(largest[-1], z, key=lambda each: abs(error(each)))
        else:
            largest.append(z)
    while len(largest) > count:
        largest.remove(min(largest[0], largest[-1], key=lambda each: abs(error(each))))
    return largest


def quotient(function, weight, high, counts):
    """Return the coefficients of P and Q, whose quotient is near a function from 0 to `high`.

    The largest product of the weight and the relative error is the smallest possible one. P(0) is
    function(0), and Q(0) is 1. `counts` are the numbers of coefficients.
    """
    first, last = (count - 1 for count in counts)
    grid, ends = 600, first + last + 1
    angles = [gmpy2.const_pi() * i / grid for i in range(1, grid + 1)]
    points = [high * ((1 - gmpy2.cos(angle)) / 2) ** 2 for angle in angles]
    values, weights = ({z: f(z) for z in points} for f in (function, weight))
    chosen = [points[round(grid * (i + 0.5) / (ends - 0.5)) - 1] for i in range(ends)]
    p, q = [function(mpfr(0))], [mpfr(1)]
    for step in range(80):
        rows = []
        for i, z in enumerate(chosen):
            f = values[z]
            powers = [z**j for j in range(1, max(first, last) + 1)]
            # The unknown error's factor is the last Q.
            allowed = (-1) ** i * f * value(q, z) / weights[z]
            scaled = [-f * power for power in powers[:last]]
            rows.append([*powers[:first], *scaled, allowed, f - p[0]])
        *unknowns, _ = solution(rows)
        p, q = [p[0], *unknowns[:first]], [q[0], *unknowns[first:]]
        if step % 8 == 7:  # Q has settled
            errors = {z: weights[z] * (value(p, z) / (value(q, z) * values[z]) - 1) for z in points}
            before, chosen = chosen, alternating(points, errors.get, ends)
            if chosen == before:
                return p, q
    raise ArithmeticError("the error of the quotient does not settle")


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


def half_tanh(z):
    """Return tanh(x / 2) / x, where z = x^2."""
    x = gmpy2.sqrt(z)
    return gmpy2.tanh(x / 2) / x if z > TINY else mpfr(0.5)


def half_erf(z):
    """Return tanh(artanh(erf(x)) / 2) / x, where z = x^2."""
    x = gmpy2.sqrt(z)
    if z < TINY:
        return 1 / gmpy2.sqrt(gmpy2.const_pi())
    erf = gmpy2.erf(x)
    return erf / (1 + gmpy2.sqrt((1 + erf) * gmpy2.erfc(x))) / x


def weight_of(half, emphasis):
    """Return how much of a relative error of s = x * half(z) is one of 2 s / (1 + s^2).

    Near 0 it weighs more by the emphasis, since there all rounding errors are added.
    """

    def weight(z):
        square = z * half(z) ** 2
        return (1 - square) / (1 + square) * (1 + emphasis / (1 + z))

    return weight


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
    ("Erf", "erf(x) / x - 1, of z = x^2", of_root(lambda x: gmpy2.erf(x) / x - 1), 0, 1, 0, 15),
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

# Name, what the comment says, function, emphasis, limit, coefficients of P and Q, and a factor of
# all. Of so many factors, these gave the smallest errors after rounding to float.
QUOTIENTS = [
    ("Tanh", "tanh(x / 2) / x", half_tanh, "0.5", "9.1", (3, 4), "1.84713"),
    ("SaturatingErf", "tanh(artanh(erf(x)) / 2) / x", half_erf, 1, "3.95", (4, 5), "1.74278"),
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


def quotient_lines():
    """Yield the lines of quotients."""
    for name, meaning, half, emphasis, limit, counts, factor in QUOTIENTS:
        weight = weight_of(half, mpfr(emphasis))
        both = quotient(half, weight, mpfr(limit) ** 2, counts)
        names = [f"kDividendOf{name}", f"kDivisorOf{name}"]
        yield ""
        for each, coefficients in zip(names, both, strict=True):
            numbers = listed(rounded(mpfr(factor) * c, 24) for c in coefficients)
            yield f"inline constexpr double {each}[] = {{{numbers}}};"
        yield f"// {meaning}, of z = x^2"
        limits = listed([rounded(mpfr(limit), 24)])
        yield f"inline constexpr Saturating k{name} = {{{', '.join(names)}, {limits}}};"


def lines():
    """Yield the lines of the header."""
    yield "// Polynomials and constants: scripts/math_coefficients.py writes this file."
    yield "#pragma once"
    yield ""
    yield "#include <array>"
    yield ""
    yield '#include "codegen/llvm/plugin/math/real.h"'
    yield '#include "codegen/llvm/plugin/math/saturating.h"'
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
    yield from quotient_lines()
    yield ""
    for name, number, single, double in CONSTANTS:
        numbers = listed([*parts(number, single, 24), *parts(number, double, 53)])
        yield f"inline constexpr Constant k{name} = {{{numbers}}};"
    yield f"inline constexpr double kTwoOverPi = {listed(parts(2 / PI, 53))};"
    for bits, count in ((22, 2), (32, 3)):
        numbers = listed(parts(PI / 2, *[bits] * count, 53))
        yield f"inline constexpr std::array kHalfPiOf{bits}Bits = {{{numbers}}};"
    yield ""
    yield "}  // namespace texloom::codegen::native::math"


if __name__ == "__main__":
    print("\n".join(lines()))
