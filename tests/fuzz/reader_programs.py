"""Random computations with two readers of one tensor, as the text of a script.

The readers permute, stride, shift, reverse, divide, wrap and pad; some reduce. Values are small
integers, so that floating-point sums are exact in any order, or int32 of any value, which wraps.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from case_scripts import Script
from index_forms import Axis, random_read
from loop_directives import Loop, StageLoops

HEADER = '''\
import numpy as np
import texloom as tvm
from texloom import te


class Values:
    """An array to call with index arrays; what a guard keeps out may be any element."""

    def __init__(self, data):
        self.data = data

    def __call__(self, *index):
        last = [n - 1 for n in self.data.shape]
        return self.data[tuple(np.clip(i, 0, n) for i, n in zip(index, last, strict=True))]


class NumPy:
    """The functions of te that bodies use."""

    if_then_else = staticmethod(np.where)
    max, min = staticmethod(np.maximum), staticmethod(np.minimum)

    @staticmethod
    def all(*conditions):
        return np.logical_and.reduce(np.broadcast_arrays(*conditions))


COMBINE = {"sum": np.sum, "max": np.max, "min": np.min}

sum_and_max = te.comm_reducer(
    lambda a, b: (a[0] + b[0], te.max(a[1], b[1])),
    lambda t0, t1: (te.const(0, t0), te.min_value(t1)),
    name="sum_and_max",
)


def reference(body, shape, dtype, arrays, reduced=(), begins=(), how=None, where=None):
    """What a compute of this body holds."""
    axes = list(np.indices((*shape, *reduced), dtype=np.int32))
    for i, begin in enumerate(begins):
        axes[len(shape) + i] += begin
    full = body(NumPy, *map(Values, arrays), *axes)
    full = np.broadcast_to(full, (*shape, *reduced)).astype(dtype)
    if how is None:
        return full
    over = tuple(range(len(shape), full.ndim))
    if where is not None:
        info = np.finfo(dtype) if dtype == "float32" else np.iinfo(dtype)
        identity = {"sum": 0, "max": info.min, "min": info.max}[how]
        full = np.where(where(NumPy, *axes), full, np.array(identity, dtype))
    return COMBINE[how](full, axis=over, **({"dtype": dtype} if how == "sum" else {}))


'''


@dataclass(eq=False)
class Stage:
    """A tensor of the script, with where its stage will be computed."""

    var: str
    shape: list[int]
    dtype: str
    inputs: list[Stage] = field(default_factory=list)
    reductions: list[int] = field(default_factory=list)
    is_input: bool = False
    full_range: bool = False  # else small values, so that float sums are exact
    is_output: bool = False
    is_cache: bool = False
    several: bool = False  # one of two outputs of its operation
    line: int = -1  # of the cache's directive in the script, with {scope} in it
    narrow: bool = False  # a cache_write: local or shared only
    scope: str = ""  # of a root stage
    bound_scope: str = ""  # given by binds=
    inlined: bool = False
    host: Stage | None = None
    loops: StageLoops | None = None
    enclosing: list[tuple[Stage, Loop]] = field(default_factory=list)

    @property
    def texture(self) -> bool:
        return "texture" in self.scope + self.bound_scope

    def path(self) -> list[tuple[Stage, Loop]]:
        return self.enclosing + [(self, loop) for loop in self.loops.loops]

    def root(self) -> Stage:
        return self if self.host is None else self.host.root()


class Computation:
    """One or two inputs, perhaps a stage P of them, two readers of P or X, perhaps Z of both."""

    def __init__(self, rng: random.Random, script: Script) -> None:
        self.rng = rng
        self.script = script
        self.dtype = rng.choice(["float32", "float32", "int32"])
        self.stages: list[Stage] = []  # in topological order
        self.feature(f"dtype {self.dtype}")

    def feature(self, name: str) -> None:
        self.script.features.add(name)

    def make(self) -> None:
        rng = self.rng
        self.script.add(HEADER)
        self.script.add(f"rng = np.random.default_rng({rng.randrange(10**6)})")
        self.shared = self.input("X", self.random_shape(3, 12))
        if rng.random() < 0.3:
            self.input("W", self.random_shape(2, 6))
        if rng.random() < 0.6:
            shape = self.random_shape(3, 10)
            self.shared = self.compute("P", shape, [self.shared], may_reduce=False)
        first = self.compute("R1", self.random_shape(3, 7), [self.shared], may_reduce=True)
        again = first.shape if rng.random() < 0.6 else self.random_shape(3, 7)
        second = self.compute("R2", again, [self.shared], may_reduce=True)
        for unread in [x for x in self.stages if x.is_input and not self.readers_of(x)]:
            self.stages.remove(unread)
        self.readers = self.outputs = [first, second]
        if rng.random() < 0.7:
            z = self.compute("Z", list(first.shape), [first, second], may_reduce=False)
            self.outputs = [z]
            if rng.random() < 0.3:
                e = self.compute("E", self.random_shape(3, 7), [z], may_reduce=False)
                self.outputs = [e]
        for output in self.outputs:
            output.is_output = True

    def readers_of(self, stage: Stage) -> list[Stage]:
        return [s for s in self.stages if stage in s.inputs]

    def random_shape(self, most_axes: int, largest: int) -> list[int]:
        rng = self.rng
        shape = [rng.randint(1, largest) for _ in range(rng.randint(1, most_axes))]
        if rng.random() < 0.3:
            shape[-1] = 4
        while True:
            size = 1
            for extent in shape:
                size *= extent
            if size <= 250:
                return shape
            largest_axis = max(range(len(shape)), key=shape.__getitem__)
            shape[largest_axis] = shape[largest_axis] // 2

    def input(self, name: str, shape: list[int]) -> Stage:
        full_range = self.dtype == "int32" and self.rng.random() < 0.5
        dtype = self.dtype if full_range else self.storage_dtype()
        span = "-(2**31), 2**31" if full_range else "-8, 9"
        self.script.add(f'{name} = te.placeholder({shape}, dtype="{dtype}", name="{name}")')
        self.script.add(f'{name.lower()}_np = rng.integers({span}, size={shape}).astype("{dtype}")')
        stage = Stage(name, shape, dtype, is_input=True, full_range=full_range)
        self.stages.append(stage)
        return stage

    def storage_dtype(self, *, wide: bool = False) -> str:
        """The type that values are kept in; bodies cast what they read. Wide integers wrap."""
        narrow = ["int8", "int16"] if wide else ["int8", "int16", "float16"]
        dtype = self.rng.choice([self.dtype, self.dtype, *narrow])
        self.feature(f"stored as {dtype}")
        return dtype

    def compute(
        self, name: str, shape: list[int], inputs: list[Stage], *, may_reduce: bool
    ) -> Stage:
        rng, add = self.rng, self.script.add
        axes = [Axis(f"i{n}", extent) for n, extent in enumerate(shape)]
        reductions: list[Axis] = []
        if may_reduce and rng.random() < 0.55:
            reductions = [
                Axis(f"k{n}", rng.randint(1, 5), rng.choice([0, 0, 0, 1, 2]), reduction=True)
                for n in range(rng.randint(1, 2))
            ]
        extra = [s for s in self.stages if s.var == "W"]
        if name in ("R1", "R2") and extra and rng.random() < 0.7:
            inputs = inputs + extra
        text = self.body(inputs, axes + reductions, is_sum=bool(reductions))
        dtype = self.dtype
        if name == "P":
            dtype = self.storage_dtype(wide=inputs[0].full_range)
            text = f'({text}).astype("{dtype}")'
        names = [a.name for a in axes + reductions]
        function = f"{name.lower()}_body"
        tensors = [s.var for s in inputs]
        add("")
        add(f"def {function}({', '.join(['te', *tensors, *names])}):")
        add(f"    return {text}")
        add("")
        arrays = f"[{', '.join(s.var.lower() + '_np' for s in inputs)}]"
        call = f"{function}({', '.join(['te', *tensors, *names])})"
        parameters = ", ".join(a.name for a in axes)
        several = False
        if not reductions:
            add(f'{name} = te.compute({shape}, lambda {parameters}: {call}, name="{name}")')
            add(f'{name.lower()}_np = reference({function}, {shape}, "{dtype}", {arrays})')
        else:
            several = self.reduction(name, shape, axes, reductions, call, function, arrays)
        extents = [a.extent for a in reductions]
        stage = Stage(name, shape, dtype, list(inputs), extents, several=several)
        self.stages.append(stage)
        return stage

    def reduction(
        self,
        name: str,
        shape: list[int],
        axes: list[Axis],
        reductions: list[Axis],
        call: str,
        function: str,
        arrays: str,
    ) -> bool:
        """Whether another output is computed with it."""
        rng, add = self.rng, self.script.add
        how = rng.choice(["sum", "sum", "max", "min"])
        several = how != "min" and random.Random(call).random() < 0.3
        self.feature(f"te.{how} over {len(reductions)} axes")
        for a in reductions:
            # One variable per axis and tensor: bodies of two computes may use equal names.
            add(f'{name}_{a.name} = te.reduce_axis(({a.begin}, {a.last + 1}), name="{a.name}")')
            call = call.replace(f" {a.name}", f" {name}_{a.name}")
        over = ", ".join(f"{name}_{a.name}" for a in reductions)
        where = where_te = ""
        # The identity of a float's min and max is so large that later sums would not be exact.
        if rng.random() < 0.25 and (how == "sum" or self.dtype == "int32"):
            self.feature("reduction with where=")
            condition = f"({axes[0].name} + {{k}}) % 3 != 1"
            everything = ", ".join(a.name for a in axes + reductions)
            where_te = f", where={condition.format(k=f'{name}_{reductions[0].name}')}"
            where = f", where=lambda te, {everything}: {condition.format(k=reductions[0].name)}"
        parameters = ", ".join(a.name for a in axes)
        target, reduction = name, f"te.{how}({call}"
        if several:
            self.feature("reduction of two values")
            target = f"{name}, {name}_other" if how == "sum" else f"{name}_other, {name}"
            reduction = f"sum_and_max(({call}, {call})"
        add(
            f"{target} = te.compute({shape}, lambda {parameters}: "
            f'{reduction}, axis=[{over}]{where_te}), name="{name}")'
        )
        add(
            f'{name.lower()}_np = reference({function}, {shape}, "{self.dtype}", {arrays}, '
            f"{[a.extent for a in reductions]}, {[a.begin for a in reductions]}, "
            f'"{how}"{where})'
        )
        return several

    def body(self, inputs: list[Stage], axes: list[Axis], *, is_sum: bool) -> str:
        rng = self.rng
        reads = []
        for source in inputs + ([inputs[0]] if rng.random() < 0.3 else []):
            cast = "" if source.dtype == self.dtype else f'.astype("{self.dtype}")'
            read, forms = random_read(rng, source.var, source.shape, axes, cast)
            self.script.features |= forms
            reads.append(read)
        text = reads[0]
        if rng.random() < 0.5:
            text = f"{text} * {rng.choice([-3, -2, -1, 2, 3])}"
        for read in reads[1:]:
            # Products only of what is small for certain: the sums must stay exact.
            exact = is_sum or self.dtype == "int32"
            how = rng.choice(["+", "-", "max", "min", "*" if exact else "+"])
            text = f"te.{how}({text}, {read})" if how in ("max", "min") else f"{text} {how} {read}"
        if rng.random() < 0.2:
            text = f"{text} + {rng.choice(axes).name}"
            self.feature("an axis as a value")
        return text
