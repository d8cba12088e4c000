"""Random expressions of elements of tensors.

Every value is defined: indices are in range or guarded, divisors are not zero, and no float is
converted to an integer. Magnitudes are tracked, so that float16 does not overflow and most
floating-point results are exact.
"""

from __future__ import annotations

import random

from .extents import Extent
from .index_forms import OUTSIDE, Axis, random_read
from .script import Script
from .stage import Stage, Value, union

FLOATS = ("float32", "float32", "float32", "float32", "float16", "float64")
INTEGERS = (
    *("int8", "int16", "int32", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
# For float16: sums and products up to this bound stay far below its maximum.
HALF_ROOM = 2000
FLOAT_ROOM = 2.0**22


class Values:
    """Makes expressions of a suitable type."""

    def __init__(self, rng: random.Random, script: Script) -> None:
        self.rng = rng
        self.script = script
        self.is_float = rng.random() < 0.6
        self.feature("floating point" if self.is_float else "integers")

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(name)

    def type_for(self, inputs: list[Stage], magnitude: float) -> str:
        """Return an element type that holds these values; integers wrap."""
        rng = self.rng
        known = [s.dtype for s in inputs if s.dtype != "bool"]
        if any(dtype.startswith("float") for dtype in known) or self.is_float:
            dtype = rng.choice([*known, *FLOATS])
            if not dtype.startswith("float") or (dtype == "float16" and magnitude > HALF_ROOM):
                dtype = "float32"
        else:
            dtype = rng.choice([*known, *known, *INTEGERS])
        self.feature(f"dtype {dtype}")
        return dtype

    def product(self, factors: tuple[Stage, Stage], reads: tuple[str, str]) -> tuple[Value, str]:
        """Read one element of each tensor, in a type that may be wider; return that type too."""
        magnitude = factors[0].magnitude * factors[1].magnitude
        dtype = self.type_for(list(factors), 8 * magnitude)
        casts = ["" if f.dtype == dtype else f'.astype("{dtype}")' for f in factors]
        text = f"{reads[0]}{casts[0]} * {reads[1]}{casts[1]}"
        return Value(text, magnitude, union([factors[0]], [factors[1]])), dtype

    def read(
        self, source: Stage, axes: list[Axis], dtype: str, places: list[Stage] | None = None
    ) -> Value:
        """Read an element of the tensor, in this type; perhaps at an index from `places`."""
        rng = self.rng
        cast = "" if source.dtype == dtype else f'.astype("{dtype}")'
        if places and rng.random() < 0.15:
            return self.gather(source, rng.choice(places), axes, cast)
        text, forms = random_read(rng, source.var, source.readable, axes, cast, dtype, source.first)
        self.script.features |= forms
        return Value(text, source.magnitude, [source], OUTSIDE in forms)

    def gather(self, source: Stage, by: Stage, axes: list[Axis], cast: str) -> Value:
        """Read an element whose index is a value of another tensor.

        The index is defined at all points, even where nothing is computed, because the other tensor
        is read along axes that are not larger than their readers need.
        """
        wide = self.rng.choice(["int32", "int64"])
        inside = [a for a in axes if a.whole in (None, a.extent)]
        place, _ = random_read(self.rng, by.var, by.shape, inside, f'.astype("{wide}")', wide)
        shape, first = source.readable, source.first or [0] * len(source.shape)
        places = [
            str(self.rng.randrange(n.least) + begin) for n, begin in zip(shape, first, strict=True)
        ]
        if places:
            last = shape[0] + (first[0] - 1)
            places[0] = f"te.min(te.max({place}, {first[0]}), {last})"
        index = ", ".join(places)
        self.feature("index: gathered")
        return Value(f"{source.var}({index}){cast}", source.magnitude, union([source], [by]))

    def combine(self, reads: list[Value], dtype: str) -> Value:
        """Return an expression of all reads."""
        value = reads[0]
        if self.rng.random() < 0.4 and value.magnitude < HALF_ROOM / 4:
            factors = [2, 3] if dtype.startswith("u") else [-3, -2, -1, 2, 3]
            text = f"({value.text} * te.const({self.rng.choice(factors)}, '{dtype}'))"
            value = Value(text, 3 * value.magnitude, value.inputs)
            if dtype in ("float32", "float64") and self.rng.random() < 0.1:
                self.feature("ldexp")
                text = f"tvm.tir.ldexp({text}, te.const({self.rng.randint(-2, 2)}, 'int32'))"
                value = Value(text, 4 * value.magnitude, value.inputs)
        for read in reads[1:]:
            value = self.combine_two(value, read, dtype)
        return value

    def with_symbol(self, value: Value, symbol: Extent, dtype: str) -> Value:
        """Return the sum of a value and a symbol."""
        self.feature("an extent as a value")
        text = f"({value.text} + {symbol}.astype('{dtype}'))"
        return Value(text, value.magnitude + symbol.most, value.inputs)

    def combine_two(self, a: Value, b: Value, dtype: str) -> Value:
        """Combine two values by one operator."""
        operators = ["+", "-", "*", "max", "min", "select", "logic"]
        if not dtype.startswith("float"):
            operators += ["&", "|", "^", "floordiv", "floormod", "truncdiv", "truncmod", "<<"]
        how = self.rng.choice(operators)
        if how == "*" and a.magnitude * b.magnitude > (
            HALF_ROOM if dtype == "float16" else FLOAT_ROOM
        ):
            how = "-"
        self.feature(f"operator {how}")
        if how in ("max", "min"):
            text = f"te.{how}({a.text}, {b.text})"
        elif how == "select":
            test = self.rng.choice(["<", "<=", "==", "!=", ">", ">="])
            text = f"te.if_then_else({a.text} {test} {b.text}, {b.text}, {a.text})"
        elif how == "logic":
            text = self.logic(a, b, dtype)
        elif how.endswith(("div", "mod")):
            divisor = f"te.floormod({b.text}, te.const(7, '{dtype}')) + te.const(1, '{dtype}')"
            text = f"te.{how}({a.text}, {divisor})"
        elif how == "<<":
            distance = f"te.floormod({b.text}, te.const(5, '{dtype}'))"
            text = f"({a.text} {self.rng.choice(['<<', '>>'])} {distance})"
        else:
            text = f"({a.text} {how} {b.text})"
        both = (a.magnitude, b.magnitude)
        magnitude = both[0] * both[1] if how == "*" else sum(both)
        return Value(text, magnitude, union(a.inputs, b.inputs))

    def logic(self, a: Value, b: Value, dtype: str) -> str:
        """Select one of two values by comparisons, or use a comparison as 0 or 1."""
        tests = [
            f"({x.text} {self.rng.choice(['<', '<=', '==', '!=', '>', '>='])} "
            f"te.const({self.rng.randint(0, 5)}, '{dtype}'))"
            for x in (a, b)
        ]
        joined = self.rng.choice(["te.all", "te.any"])
        test = f"{joined}({tests[0]}, tvm.tir.Not({tests[1]}))"
        if self.rng.random() < 0.3:
            test = f"({tests[0]}.astype('int32') ^ {tests[1]}.astype('int32')).astype('bool')"
        if self.rng.random() < 0.4:
            return f"({test}).astype('{dtype}')"
        return f"te.if_then_else({test}, {a.text}, {b.text})"
