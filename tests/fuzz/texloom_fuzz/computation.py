"""Random computations as lines of a script: graphs of stages."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from .extents import Extent, Shape, extent, listed, most_elements
from .index_forms import Axis
from .loop_directives import Loop
from .regions import Region
from .script import Script
from .stage import Stage, Value
from .values import FLOATS, HALF_ROOM, INTEGERS, Values

MAX_ELEMENTS = 200
# The share of computations in which some extents are known only at the call; the largest value of
# a symbol.
SYMBOLIC = 0.15
MOST_OF_SYMBOL = 9

# Functions that are applied last, to tensors that nothing reads.
FUNCTIONS = ("exp", "sqrt", "tanh", "sin", "floor", "round", "trunc", "abs", "log2", "erf", "/")

REDUCERS = """\
sum_and_max = te.comm_reducer(
    lambda a, b: (a[0] + b[0], te.max(a[1], b[1])),
    lambda t0, t1: (te.const(0, t0), te.min_value(t1)),
    name="sum_and_max",
)
arg_max = te.comm_reducer(
    lambda a, b: (te.if_then_else(a[1] >= b[1], a[0], b[0]), te.max(a[1], b[1])),
    lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
    name="arg_max",
)
"""


class Computation:
    """A random graph of stages, written into the script."""

    def __init__(self, rng: random.Random, script: Script) -> None:
        self.rng = rng
        self.script = script
        self.values = Values(rng, script)
        self.stages: list[Stage] = []  # in topological order
        self.symbols: list[Extent] = []

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(name)

    @property
    def outputs(self) -> list[Stage]:
        """The outputs, from which the schedule is created."""
        return [s for s in self.stages if s.is_output]

    def readers_of(self, stage: Stage) -> list[Stage]:
        """Return the stages that read the stage."""
        return [s for s in self.stages if stage in s.inputs]

    def effective_readers(self, stage: Stage) -> list[Stage]:
        """Return the stages that read the stage after inlining."""
        readers = []
        for reader in self.readers_of(stage):
            readers += self.effective_readers(reader) if reader.inlined else [reader]
        return readers

    def effective_inputs(self, stage: Stage) -> list[Stage]:
        """Return the stages that the stage reads after inlining."""
        inputs = []
        for source in stage.inputs:
            inputs += self.effective_inputs(source) if source.inlined else [source]
        return inputs

    def is_constant(self, loop: Loop) -> bool:
        """Whether the loop's extent is constant, even if only bound inference knows its value."""
        return loop.extent is not None or not (loop.symbolic or self.symbols)

    def make(self, forms: Sequence[Callable[[Computation], object]]) -> None:
        """Write a computation of one of the forms."""
        self.script.add(REDUCERS)
        if self.rng.random() < SYMBOLIC:
            self.make_symbols()
        form = self.rng.choice(forms)
        self.feature(f"form: {form.__name__}")
        form(self)
        self.read_regions()
        for stage in [x for x in self.stages if x.is_input and not self.readers_of(x)]:
            self.stages.remove(stage)
        for stage in self.stages:
            if not stage.is_input and not self.readers_of(stage):
                stage.is_output = True
        self.functions_of_outputs()

    def read_regions(self) -> None:
        """Give each unread stage that has undefined elements a reader of its defined elements.

        A stage without readers would become an output, and a caller would see undefined elements.
        """
        for stage in list(self.stages):
            if stage.region is not None and not self.readers_of(stage):
                self.part(stage)

    def part(self, stage: Stage) -> Stage:
        """Add a stage with exactly the elements that have values."""
        names = [f"i{n}" for n in range(len(stage.shape))]
        first = stage.first or [0] * len(names)
        places = [f"{i} + {n}" if n else i for i, n in zip(names, first, strict=True)]
        read = f"{stage.var}({', '.join(places)})"
        return self.moved("P", stage, stage.readable, ", ".join(names), read)

    def make_symbols(self) -> None:
        """Declare one or two symbols, and choose their values at each call."""
        rng = self.rng
        calls = rng.randint(2, 3)
        for name in ("n", "m")[: rng.randint(1, 2)]:
            values = tuple(rng.randint(1, MOST_OF_SYMBOL) for _ in range(calls))
            self.script.add(f'{name} = te.var("{name}")')
            self.symbols.append(Extent(name, values))
        self.script.calls = [
            {symbol.text: symbol.values[n] for symbol in self.symbols} for n in range(calls)
        ]
        self.feature(f"{len(self.symbols)} symbols")

    # -- Tensors.

    def random_extent(self, largest: int) -> Extent:
        """Return a constant, or an expression of a symbol; at least 1."""
        rng = self.rng
        if not self.symbols or rng.random() < 0.5:
            return extent(rng.randint(1, largest))
        symbol = rng.choice(self.symbols)
        choices = [symbol, symbol, symbol, symbol + rng.randint(1, 3), symbol * rng.choice([2, 4])]
        choices += [e for e in (symbol // rng.choice([2, 4]), symbol - 1) if e.least > 0]
        chosen = rng.choice(choices)
        self.feature(f"an extent of {chosen}")
        return chosen

    def random_shape(self, most_axes: int, largest: int) -> Shape:
        """Return a shape with few elements, often with a last axis of four lanes."""
        rng = self.rng
        if most_axes == 3 and rng.random() < 0.04:
            return []
        shape = [self.random_extent(largest) for _ in range(rng.randint(1, most_axes))]
        if rng.random() < 0.35:
            shape[-1] = extent(4)
        while most_elements(shape) > MAX_ELEMENTS:
            at = max(range(len(shape)), key=lambda i: shape[i].most)
            shape[at] = extent(shape[at].most // 2)
        return shape

    def input(self, shape: Shape, like: Stage | None = None) -> Stage:
        """Add a placeholder."""
        rng = self.rng
        dtype = like.dtype if like else rng.choice(FLOATS if self.values.is_float else INTEGERS)
        if like is None and rng.random() < 0.2:
            dtype = rng.choice(["int8", "int16", "uint8", "bool"])
        var = self.script.name("X")
        self.script.add(f'{var} = te.placeholder({listed(shape)}, dtype="{dtype}", name="{var}")')
        stage = Stage(var, shape, dtype, is_input=True)
        self.feature(f"dtype {dtype}")
        self.stages.append(stage)
        return stage

    # -- Computes.

    def moved(self, stem: str, source: Stage, shape: Shape, axes: str, read: str) -> Stage:
        """Add a stage that reads each element of `source` at another place."""
        var = self.script.name(stem)
        self.script.add(f'{var} = te.compute({listed(shape)}, lambda {axes}: {read}, name="{var}")')
        stage = Stage(var, shape, source.dtype, [source], magnitude=source.magnitude)
        self.stages.append(stage)
        return stage

    def words(self, source: Stage, shape: Shape, axes: str, reads: list[str]) -> Stage:
        """Add a stage whose elements are words of elements of `source`."""
        var = self.script.name("W")
        word = f"tvm.tir.word({', '.join(reads)})"
        self.script.add(f'{var} = te.compute({listed(shape)}, lambda {axes}: {word}, name="{var}")')
        stage = Stage(var, shape, "int32", [source])
        self.stages.append(stage)
        return stage

    def compute(
        self, shape: Shape, inputs: list[Stage], chance: float = 0.0, larger: float = 0.0
    ) -> Stage:
        """Add a compute of these inputs; with probability `chance` it is a reduction.

        With probability `larger` the tensor is larger than `shape`, and only a part with that shape
        has values.
        """
        rng = self.rng
        # As in Region.around(): what is read outside of a symbolic axis may not be refused.
        is_open = any(length.is_symbolic for each in inputs for length in each.shape)
        is_larger = bool(shape) and rng.random() < larger and not is_open
        region = Region.around(rng, shape) if is_larger else Region(shape)
        axes = region.axes()
        sources = [*inputs, inputs[0]] if rng.random() < 0.25 else list(inputs)
        reductions: list[Axis] = []
        if rng.random() < chance:
            reductions = [
                Axis(f"k{n}", self.random_extent(5), rng.choice([0, 0, 0, 1, 2]), reduction=True)
                for n in range(rng.randint(1, 2))
            ]
        places = [s for s in self.stages if s.is_input and s.dtype in ("int32", "int8")]
        dtype = self.values.type_for(inputs, sum(s.magnitude for s in sources))
        reads = [self.values.read(s, axes + reductions, dtype, places) for s in sources]
        outside = any(read.outside for read in reads)
        value = self.values.combine(reads, dtype)
        shape = region.whole
        symbols = [s for s in self.symbols if s in [*shape, *(n for i in inputs for n in i.shape)]]
        if symbols and rng.random() < 0.2:
            value = self.values.with_symbol(value, rng.choice(symbols), dtype)
        if reductions:
            how = rng.choice(["sum", "sum", "max", "min", "sum_and_max", "arg_max"])
            stage = self.reduction(shape, axes, reductions, value, dtype, how)
            return stage.limited_to(region, outside)
        if axes and rng.random() < 0.2:
            axis = rng.choice(axes)
            text = f"({value.text} + {axis.name}.astype('{dtype}'))"
            value = Value(text, value.magnitude + axis.last.most, value.inputs)
            self.feature("an axis as a value")
        return self.elementwise(shape, axes, value, dtype).limited_to(region, outside)

    def elementwise(self, shape: Shape, axes: list[Axis], value: Value, dtype: str) -> Stage:
        """Add a compute of one value, or of two."""
        rng, text = self.rng, value.text
        var = target = self.script.name("T")
        several = rng.random() < 0.08
        if several:
            self.feature("a compute of two values")
            target = f"{var}, {self.script.name('T')}"
            text = f"({text}, {text} + te.const(1, '{dtype}'))"
        names = ", ".join(a.name for a in axes)
        self.script.add(
            f'{target} = te.compute({listed(shape)}, lambda {names}: {text}, name="{var}")'
        )
        stage = Stage(var, shape, dtype, value.inputs, magnitude=value.magnitude, several=several)
        self.stages.append(stage)
        return stage

    def functions_of_outputs(self) -> None:
        """Apply functions to outputs: nothing reads results whose last bits depend on a device."""
        rng = self.rng
        for stage in [s for s in self.outputs if s.dtype in ("float32", "float64")]:
            if stage.several or rng.random() >= 0.15:
                continue
            names = ", ".join(f"i{n}" for n in range(len(stage.shape)))
            read, function = f"{stage.var}({names})", rng.choice(FUNCTIONS)
            text = f"te.{function}({read})"
            if function == "sqrt":  # needs a non-negative argument
                text = f"te.{function}(te.abs({read}))"
            elif function == "log2":
                text = f"te.log2(te.abs({read}) + te.const(1, '{stage.dtype}'))"
            elif function == "/":
                text = f"{read} / te.const(7, '{stage.dtype}')"
            elif function == "exp":
                text = f"te.exp(te.min({read}, te.const(8, '{stage.dtype}')))"
            self.feature(f"function {function}")
            stage.is_output = False
            axes = [Axis(f"i{n}", extent) for n, extent in enumerate(stage.shape)]
            value = Value(text, stage.magnitude, [stage])
            last = self.elementwise(stage.shape, axes, value, stage.dtype)
            last.is_output = True

    def reduction(
        self,
        shape: Shape,
        axes: list[Axis],
        reductions: list[Axis],
        value: Value,
        dtype: str,
        how: str = "sum",
        may_have_where: bool = True,
    ) -> Stage:
        """Add a sum, an extremum, or a reduction of several values."""
        rng, add = self.rng, self.script.add
        count = math.prod(a.extent.most for a in reductions)
        if "sum" in how and dtype == "float16" and value.magnitude * count > HALF_ROOM:
            how = "max"
        self.feature(f"te.{how} over {len(reductions)} axes")
        var = target = self.script.name("R")
        names = [a.name for a in reductions]
        for a in reductions:
            # One variable per axis and tensor: bodies of two computes may use equal names.
            add(f'{var}_{a.name} = te.reduce_axis(({a.begin}, {a.last + 1}), name="{a.name}")')
        options = f"axis=[{', '.join(f'{var}_{name}' for name in names)}]"
        conditional = rng.random() < 0.25 and bool(axes) and may_have_where
        if conditional:
            i, k = rng.choice(axes).name, rng.choice(names)
            conditions = (f"({i} + {k}) % 3 != 1", f"{k} <= {i}", f"{k} < {i} * 2", f"{i} <= {k}")
            options += f", where={rng.choice(conditions)}"
            self.feature("reduction with where=")
        if rng.random() < 0.15 and how in ("sum", "max", "min"):
            options += f", init=te.const(2, '{dtype}')"
            self.feature("reduction with init=")
        several = how in ("sum_and_max", "arg_max")
        expression = f"te.{how}({value.text}, {options})"
        if how == "sum_and_max":
            target = f"{var}, {self.script.name('R')}"
            expression = f"{how}(({value.text}, {value.text}), {options})"
        elif how == "arg_max":
            target = f"{self.script.name('R')}, {var}"
            expression = f"{how}(({names[0]}.astype('int32'), {value.text}), {options})"
        # Parameters are short names for the reduction's axes, which are variables of the script.
        own = ", ".join(f"{var}_{name}" for name in names)
        function = f"lambda {', '.join(names)}: lambda {', '.join(a.name for a in axes)}: "
        body = f"({function}{expression})({own})"
        add(f'{target} = te.compute({listed(shape)}, {body}, name="{var}")')
        extents = [a.extent for a in reductions]
        magnitude = value.magnitude * count + 2
        stage = Stage(var, shape, dtype, value.inputs, extents, magnitude, several=several)
        stage.conditional = conditional
        self.stages.append(stage)
        return stage
