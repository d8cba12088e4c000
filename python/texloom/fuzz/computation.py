"""Random computations as lines of a script: graphs of element-wise stages, reductions and reads.

Every value is defined: indices stay inside or are guarded, divisors are not zero, and nothing is
converted from floating point to an integer. Magnitudes are kept in view, so that float16 does not
overflow and most floating-point results are exact.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from .index_forms import Axis, random_read
from .loop_directives import Loop, StageLoops
from .script import Script

FLOATS = ("float32", "float32", "float32", "float32", "float16", "float64")
INTEGERS = (
    *("int8", "int16", "int32", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
MAX_ELEMENTS = 200
# Of float16: sums and products up to here stay far from its largest number.
HALF_ROOM = 2000
FLOAT_ROOM = 2.0**22

# Functions that are taken last, of what nothing reads.
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


@dataclass(eq=False)
class Stage:
    """A tensor of the script, with where its stage will be computed."""

    var: str
    shape: list[int]
    dtype: str
    inputs: list[Stage] = field(default_factory=list)
    reductions: list[int] = field(default_factory=list)
    magnitude: float = 8  # no value is larger, unless it wrapped
    is_input: bool = False
    is_output: bool = False
    is_cache: bool = False
    several: bool = False  # one of the outputs of its operation
    line: int = -1  # of the cache's directive in the script, with {scope} in it
    narrow: bool = False  # a cache_write: local or shared only
    scope: str = ""  # of a root stage
    bound_scope: str = ""  # given by binds=
    inlined: bool = False
    transformed: int = 0  # how many axes transform_layout made of its own
    host: Stage | None = None
    loops: StageLoops | None = None
    enclosing: list[tuple[Stage, Loop]] = field(default_factory=list)

    @property
    def texture(self) -> bool:
        """Whether its result lies in an image."""
        return "texture" in self.scope + self.bound_scope

    @property
    def fits_texture(self) -> bool:
        """Whether images have elements of its type, and as many axes."""
        is_texel = self.dtype not in ("float64", "int64", "uint64", "bool")
        return is_texel and 1 <= len(self.shape) <= 6

    def path(self) -> list[tuple[Stage, Loop]]:
        """The loops around its value, its own last."""
        return self.enclosing + [(self, loop) for loop in self.loops.loops]

    def root(self) -> Stage:
        """The stage whose kernel computes it."""
        return self if self.host is None else self.host.root()


@dataclass(frozen=True)
class Value:
    """An expression, with how large it gets and what it reads."""

    text: str
    magnitude: float
    inputs: list[Stage]


class Computation:
    """A random graph of stages, written into the script."""

    def __init__(self, rng: random.Random, script: Script) -> None:
        self.rng = rng
        self.script = script
        self.stages: list[Stage] = []  # in topological order
        self.is_float = rng.random() < 0.6
        self.feature("floating point" if self.is_float else "integers")

    def feature(self, name: str) -> None:
        """Count it."""
        self.script.features.add(name)

    @property
    def outputs(self) -> list[Stage]:
        """What the schedule is made of."""
        return [s for s in self.stages if s.is_output]

    def readers_of(self, stage: Stage) -> list[Stage]:
        """The stages that read it."""
        return [s for s in self.stages if stage in s.inputs]

    def make(self) -> None:
        """Write the computation."""
        self.script.add(REDUCERS)
        form = self.rng.choice(
            [self.readers, self.readers, self.graph, self.graph, self.copy, self.matmul]
            + [self.convolution, self.pack_lanes]
        )
        self.feature(f"form: {form.__name__}")
        form()
        for stage in [x for x in self.stages if x.is_input and not self.readers_of(x)]:
            self.stages.remove(stage)
        for stage in self.stages:
            if not stage.is_input and not self.readers_of(stage):
                stage.is_output = True
        self.functions_of_outputs()

    # -- Forms.

    def readers(self) -> None:
        """Two readers of one tensor, perhaps something of both."""
        rng = self.rng
        shared = self.input(self.random_shape(3, 12))
        extra = [self.input(self.random_shape(2, 6))] if rng.random() < 0.3 else []
        if rng.random() < 0.5:
            shared = self.compute(self.random_shape(3, 10), [shared])
        first = self.compute(self.random_shape(3, 7), [shared, *extra], chance=0.55)
        again = first.shape if rng.random() < 0.6 else self.random_shape(3, 7)
        second = self.compute(again, [shared, *extra], chance=0.55)
        if rng.random() < 0.7:
            both = self.compute(list(first.shape), [first, second])
            if rng.random() < 0.3:
                self.compute(self.random_shape(3, 7), [both])

    def graph(self) -> None:
        """Each stage reads some of those before it, mostly the last."""
        rng = self.rng
        for _ in range(rng.randint(1, 2)):
            self.input(self.random_shape(5, 8))
        for _ in range(rng.randint(1, 4)):
            inputs = [self.stages[-1]]
            if rng.random() < 0.5:
                inputs.append(rng.choice(self.stages))
            most = rng.choice([2, 3, 3, 5])
            self.compute(self.random_shape(most, 8), inputs, chance=0.3)

    def copy(self) -> None:
        """One tensor as it is, of any rank but 0."""
        shape = self.random_shape(6, 9)
        x = self.input(shape)
        axes = ", ".join(f"i{n}" for n in range(len(shape)))
        var = self.script.name("Y")
        self.script.add(
            f'{var} = te.compute({shape}, lambda {axes}: {x.var}({axes}), name="{var}")'
        )
        self.stages.append(Stage(var, shape, x.dtype, [x], magnitude=x.magnitude))

    def matmul(self) -> None:
        """A product of matrices, perhaps of several, perhaps with something behind it."""
        rng = self.rng
        m, n, k = rng.randint(1, 9), rng.choice([4, 4, 8, rng.randint(1, 9)]), rng.randint(1, 8)
        batch = [rng.randint(1, 3)] if rng.random() < 0.3 else []
        a, b = self.input([*batch, m, k]), self.input([k, n], like=self.stages[-1])
        axes = [*([Axis("b", batch[0])] if batch else []), Axis("i", m), Axis("j", n)]
        reads = (f"{a.var}({'b, ' if batch else ''}i, k)", f"{b.var}(k, j)")
        value, dtype = self.product((a, b), reads)
        self.reduction([*batch, m, n], axes, [Axis("k", k)], value, dtype)
        if rng.random() < 0.4:
            self.compute([m, n], [self.stages[-1]])

    def convolution(self) -> None:
        """Windows of a padded image, strided and dilated."""
        rng = self.rng
        stride, dilation = rng.randint(1, 2), rng.randint(1, 2)
        kernel, size, depth = rng.randint(1, 3), rng.randint(1, 6), rng.randint(1, 4)
        pad = rng.randint(0, 2)
        reach = (size - 1) * stride + (kernel - 1) * dilation + 1
        width = max(1, reach - 2 * pad)
        x = self.input([depth, width])
        w = self.input([rng.choice([4, rng.randint(1, 5)]), depth, kernel], like=x)
        var = self.script.name("P")
        inside = f"te.all(x >= {pad}, x < {pad + width})"
        read = f"te.if_then_else({inside}, {x.var}(c, x - {pad}), te.const(0, '{x.dtype}'))"
        self.script.add(
            f'{var} = te.compute([{depth}, {reach}], lambda c, x: {read}, name="{var}")'
        )
        padded = Stage(var, [depth, reach], x.dtype, [x], magnitude=x.magnitude)
        self.stages.append(padded)
        reads = (f"{var}(c, x * {stride} + k * {dilation})", f"{w.var}(o, c, k)")
        value, dtype = self.product((padded, w), reads)
        axes, over = [Axis("o", w.shape[0]), Axis("x", size)], [Axis("c", depth), Axis("k", kernel)]
        self.reduction([w.shape[0], size], axes, over, value, dtype)

    def product(self, factors: tuple[Stage, Stage], reads: tuple[str, str]) -> tuple[Value, str]:
        """Of one element of each, in a type that may be wider than theirs; and that type."""
        magnitude = factors[0].magnitude * factors[1].magnitude
        dtype = self.type_for(list(factors), 8 * magnitude)
        casts = ["" if f.dtype == dtype else f'.astype("{dtype}")' for f in factors]
        text = f"{reads[0]}{casts[0]} * {reads[1]}{casts[1]}"
        return Value(text, magnitude, union([factors[0]], [factors[1]])), dtype

    def pack_lanes(self) -> None:
        """A last axis cut into lanes of four, something done, and the axis whole again."""
        rng = self.rng
        rows, columns = rng.randint(1, 6), 4 * rng.randint(1, 4)
        x = self.input([rows, columns])
        var = self.script.name("P")
        shape = [rows, columns // 4, 4]
        self.script.add(
            f'{var} = te.compute({shape}, lambda i, j, l: {x.var}(i, j * 4 + l), name="{var}")'
        )
        self.stages.append(Stage(var, shape, x.dtype, [x], magnitude=x.magnitude))
        packed = self.compute(shape, [self.stages[-1]], chance=0.3)
        back = self.script.name("U")
        dims = len(packed.shape)
        if dims == 3 and not packed.several:
            self.script.add(
                f"{back} = te.compute({[rows, columns]}, lambda i, j: "
                f'{packed.var}(i, j // 4, j % 4), name="{back}")'
            )
            stage = Stage(back, [rows, columns], packed.dtype, [packed])
            stage.magnitude = packed.magnitude
            self.stages.append(stage)

    # -- Tensors.

    def random_shape(self, most_axes: int, largest: int) -> list[int]:
        """Not too many elements; the last axis is often that of the lanes."""
        rng = self.rng
        if most_axes == 3 and rng.random() < 0.04:
            return []
        shape = [rng.randint(1, largest) for _ in range(rng.randint(1, most_axes))]
        if rng.random() < 0.35:
            shape[-1] = 4
        while True:
            size = 1
            for extent in shape:
                size *= extent
            if size <= MAX_ELEMENTS:
                return shape
            largest_axis = max(range(len(shape)), key=shape.__getitem__)
            shape[largest_axis] = shape[largest_axis] // 2

    def input(self, shape: list[int], like: Stage | None = None) -> Stage:
        """A placeholder."""
        rng = self.rng
        dtype = like.dtype if like else rng.choice(FLOATS if self.is_float else INTEGERS)
        if like is None and rng.random() < 0.2:
            dtype = rng.choice(["int8", "int16", "uint8", "bool"])
        var = self.script.name("X")
        self.script.add(f'{var} = te.placeholder({shape}, dtype="{dtype}", name="{var}")')
        stage = Stage(var, shape, dtype, is_input=True)
        self.feature(f"dtype {dtype}")
        self.stages.append(stage)
        return stage

    def type_for(self, inputs: list[Stage], magnitude: float) -> str:
        """An element type that these values fit into; integers wrap."""
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

    # -- Computes.

    def compute(self, shape: list[int], inputs: list[Stage], chance: float = 0.0) -> Stage:
        """A stage of these inputs, with this chance a reduction."""
        rng = self.rng
        axes = [Axis(f"i{n}", extent) for n, extent in enumerate(shape)]
        sources = [*inputs, inputs[0]] if rng.random() < 0.25 else list(inputs)
        reductions: list[Axis] = []
        if rng.random() < chance:
            reductions = [
                Axis(f"k{n}", rng.randint(1, 5), rng.choice([0, 0, 0, 1, 2]), reduction=True)
                for n in range(rng.randint(1, 2))
            ]
        dtype = self.type_for(inputs, sum(s.magnitude for s in sources))
        reads = [self.read(s, axes + reductions, dtype) for s in sources]
        value = self.combine(reads, dtype)
        if reductions:
            how = rng.choice(["sum", "sum", "max", "min", "sum_and_max", "arg_max"])
            return self.reduction(shape, axes, reductions, value, dtype, how)
        if axes and rng.random() < 0.2:
            axis = rng.choice(axes)
            text = f"({value.text} + {axis.name}.astype('{dtype}'))"
            value = Value(text, value.magnitude + axis.last, value.inputs)
            self.feature("an axis as a value")
        return self.elementwise(shape, axes, value, dtype)

    def elementwise(self, shape: list[int], axes: list[Axis], value: Value, dtype: str) -> Stage:
        """A stage of one value, or of two."""
        rng, text = self.rng, value.text
        var = target = self.script.name("T")
        several = rng.random() < 0.08
        if several:
            self.feature("a compute of two values")
            target = f"{var}, {self.script.name('T')}"
            text = f"({text}, {text} + te.const(1, '{dtype}'))"
        names = ", ".join(a.name for a in axes)
        self.script.add(f'{target} = te.compute({shape}, lambda {names}: {text}, name="{var}")')
        stage = Stage(var, shape, dtype, value.inputs, magnitude=value.magnitude, several=several)
        self.stages.append(stage)
        return stage

    def functions_of_outputs(self) -> None:
        """Last, as their last bits differ between devices, and nothing may go on from there."""
        rng = self.rng
        for stage in [s for s in self.outputs if s.dtype in ("float32", "float64")]:
            if stage.several or rng.random() >= 0.15:
                continue
            names = ", ".join(f"i{n}" for n in range(len(stage.shape)))
            read, function = f"{stage.var}({names})", rng.choice(FUNCTIONS)
            text = f"te.{function}({read})"
            if function == "sqrt":  # of what is not negative
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

    def read(self, source: Stage, axes: list[Axis], dtype: str) -> Value:
        """One element of the tensor, as a value of this type."""
        rng = self.rng
        cast = "" if source.dtype == dtype else f'.astype("{dtype}")'
        places = [s for s in self.stages if s.is_input and s.dtype in ("int32", "int8")]
        if places and rng.random() < 0.15:
            return self.gather(source, rng.choice(places), axes, cast)
        text, forms = random_read(rng, source.var, source.shape, axes, cast, dtype)
        self.script.features |= forms
        return Value(text, source.magnitude, [source])

    def gather(self, source: Stage, by: Stage, axes: list[Axis], cast: str) -> Value:
        """An element whose place is a value of another tensor."""
        place, _ = random_read(self.rng, by.var, by.shape, axes, '.astype("int32")', "int32")
        places = [str(self.rng.randrange(n)) for n in source.shape]
        if places:
            places[0] = f"te.min(te.max({place}, 0), {source.shape[0] - 1})"
        index = ", ".join(places)
        self.feature("index: gathered")
        return Value(f"{source.var}({index}){cast}", source.magnitude, union([source], [by]))

    def combine(self, reads: list[Value], dtype: str) -> Value:
        """An expression of all reads."""
        value = reads[0]
        if self.rng.random() < 0.4 and value.magnitude < HALF_ROOM / 4:
            factors = [2, 3] if dtype.startswith("u") else [-3, -2, -1, 2, 3]
            text = f"({value.text} * te.const({self.rng.choice(factors)}, '{dtype}'))"
            value = Value(text, 3 * value.magnitude, value.inputs)
        for read in reads[1:]:
            value = self.combine_two(value, read, dtype)
        return value

    def combine_two(self, a: Value, b: Value, dtype: str) -> Value:
        """One operator."""
        operators = ["+", "-", "*", "max", "min", "select"]
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

    def reduction(
        self,
        shape: list[int],
        axes: list[Axis],
        reductions: list[Axis],
        value: Value,
        dtype: str,
        how: str = "sum",
    ) -> Stage:
        """A sum, an extreme, or several values at once."""
        rng, add = self.rng, self.script.add
        count = math.prod(a.extent for a in reductions)
        if "sum" in how and dtype == "float16" and value.magnitude * count > HALF_ROOM:
            how = "max"
        self.feature(f"te.{how} over {len(reductions)} axes")
        var = target = self.script.name("R")
        names = [a.name for a in reductions]
        for a in reductions:
            # One variable per axis and tensor: bodies of two computes may use equal names.
            add(f'{var}_{a.name} = te.reduce_axis(({a.begin}, {a.last + 1}), name="{a.name}")')
        options = f"axis=[{', '.join(f'{var}_{name}' for name in names)}]"
        if rng.random() < 0.2 and axes:
            options += f", where=({axes[0].name} + {names[0]}) % 3 != 1"
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
        # The short names of the reduction's axes stand for its own variables.
        own = ", ".join(f"{var}_{name}" for name in names)
        function = f"lambda {', '.join(names)}: lambda {', '.join(a.name for a in axes)}: "
        add(f'{target} = te.compute({shape}, ({function}{expression})({own}), name="{var}")')
        extents = [a.extent for a in reductions]
        magnitude = value.magnitude * count + 2
        stage = Stage(var, shape, dtype, value.inputs, extents, magnitude, several=several)
        self.stages.append(stage)
        return stage


def union(a: list[Stage], b: list[Stage]) -> list[Stage]:
    """Both lists, each stage once."""
    return a + [s for s in b if s not in a]
