"""Random tensor intrinsics, and computes that call them or can be tensorized with them.

The intrinsic has the same computation as the compute, with the extents of a tile. Its statement
consists of loops over the tile, of vector accesses if the tile is a vector, or of calls of
functions that C text defines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .computation import Computation
from .extents import Shape, extent, is_constant, listed
from .stage import Stage, Tile

Fronts = list[tuple[str, ...]]  # for each operand: its indices before those of the tile

VECTORS = (2, 4, 8, 16)
TYPES = ("float32", "float32", "float32", "float16", "int32", "int16", "uint8")
# With half elements, a macro would compute in half precision, which some devices lack.
FOREIGN_TYPES = ("float32", "int32", "int16", "uint8")


@dataclass(frozen=True)
class Operand:
    """An input that is read at these axes; `outer` axes precede them and are not in the tile."""

    axes: tuple[str, ...]
    outer: tuple[str, ...] = ()
    shifts: tuple[int, ...] = (0,)  # offsets along the last axis; one read per shift


@dataclass(frozen=True)
class Kind:
    """A computation of operands over data axes, reduced over the axis k if there is a reducer."""

    data: tuple[str, ...]
    operands: tuple[Operand, ...]
    value: str
    reducer: str = ""


KINDS = (
    Kind(("i",), (Operand(("i",)),), "{0} * {c}"),
    Kind(("i",), (Operand(("i",)), Operand(("i",))), "{0} - {1}"),
    Kind(("i",), (Operand(("i",), shifts=(0, 1)),), "{0} * {c} + {1}"),
    Kind(("i", "j"), (Operand(("i", "j")), Operand(("j",))), "te.max({0}, {1})"),
    Kind(("i", "j"), (Operand(("j", "i")),), "{0} + {c}"),
    # Sums for a single element: the tile has one index i.
    Kind(("i",), (Operand(("k",), ("i",)), Operand(("k",))), "{0} * {1}", "sum"),
    Kind(("i",), (Operand(("k",)), Operand(("i", "k"))), "{0} * {1}", "sum"),
    Kind(("i",), (Operand(("i", "k")),), "{0}", "max"),
    Kind(("i", "j"), (Operand(("i", "k")), Operand(("k", "j"))), "{0} * {1}", "sum"),
    Kind(("i", "j"), (Operand(("i", "k")), Operand(("j", "k"))), "{0} * {1}", "sum"),
)
REDUCERS = {"sum": ("{0} + {1}", "te.const(0, '{dtype}')"),
            "max": ("te.max({0}, {1})", "te.min_value('{dtype}')")}  # fmt: skip


class IntrinsicWriter:
    """Writes an intrinsic, and a compute that consists of its tiles."""

    def __init__(self, c: Computation) -> None:
        rng = c.rng
        self.c, self.add = c, c.script.add
        self.called = rng.random() < 0.3  # by the compute; if not, a schedule may tensorize it
        self.kind = kind = rng.choice(KINDS)
        self.dtype = rng.choice(TYPES)
        self.reduced = ("k",) if kind.reducer else ()
        self.tile = {axis: rng.choice([1, 2, 3, 4, 4]) for axis in (*kind.data, *self.reduced)}
        if rng.random() < 0.3:
            self.tile[kind.data[-1]] = rng.choice(VECTORS)
        self.tile |= {axis: 1 for operand in kind.operands for axis in operand.outer}
        most = {axis: 2 if length >= 8 else 3 for axis, length in self.tile.items()}
        self.count = {axis: rng.randint(1, n) for axis, n in most.items()}
        # Whether loops around a tile may divide the reduction into steps.
        self.updates = bool(kind.reducer) and rng.random() < 0.8
        if not self.updates and kind.reducer:
            self.count["k"] = 1
        self.whole = {axis: length * self.count[axis] for axis, length in self.tile.items()}
        self.number_of_factor = str(rng.randint(2, 3))
        self.factor = f"te.const({self.number_of_factor}, '{self.dtype}')"
        self.batch = [c.random_extent(3)] if rng.random() < 0.5 else []
        # The memory properties that the statement's buffers declare, if array shapes are constant.
        self.views = rng.choice(["", "", "strides", "offset"]) if is_constant(self.batch) else ""
        # Only a device can run a foreign function, so its results are compared to the compute's.
        known = not self.called and is_constant(self.batch)
        self.is_foreign = known and self.dtype in FOREIGN_TYPES and rng.random() < 0.4
        if self.is_foreign:
            self.views = "strides"
        self.var = c.script.name("V")
        # A scalar parameter of the intrinsic may replace the constant.
        self.scalar = f"{self.var}_s" if "{c}" in kind.value and rng.random() < 0.5 else ""

    # -- The intrinsic.

    def write_intrinsic(self, foreign_statement: Callable[[IntrinsicWriter], object]) -> None:
        """Write the intrinsic's computation, statement and declaration.

        `foreign_statement` writes a statement that calls foreign functions.
        """
        names = [f"{self.var}_{n}" for n in range(len(self.kind.operands))]
        for name, operand in zip(names, self.kind.operands, strict=True):
            shape = listed([extent(n) for n in self.part(operand)])
            self.add(f'{name} = te.placeholder({shape}, dtype="{self.dtype}", name="{name}")')
        data = self.kind.data
        out = f"{self.var}_out"
        shape = listed([extent(self.tile[axis]) for axis in data])
        self.reduce_axes(self.tile)
        if self.scalar:
            self.c.feature("intrinsic with a scalar")
            self.add(f'{self.scalar} = te.var("s", "{self.dtype}")')
        body = self.reduction(self.own_value([self.read(n, o) for n, o in self.operands(names)]))
        self.add(f'{out} = te.compute({shape}, lambda {", ".join(data)}: {body}, name="{out}")')
        fits = len(data) == 1 and not self.kind.reducer and self.tile[data[0]] in VECTORS
        vector = fits and not self.is_foreign and self.c.rng.random() < 0.6
        self.c.feature(f"intrinsic of {'a vector' if vector else 'loops'}")
        if vector:
            self.vector_statement()
        elif self.is_foreign:
            foreign_statement(self)
        else:
            self.loop_statements()
        options = "".join(self.buffers([*names, out]))
        options += f", scalar_params=[{self.scalar}]" if self.scalar else ""
        self.add(f'{self.var} = te.decl_tensor_intrin({out}.op, body_{self.var}, "{self.var}"')
        self.c.script.lines[-1] += f"{options})"

    def operands(self, names: list[str]) -> list[tuple[str, Operand]]:
        """Return the operands with their names."""
        return list(zip(names, self.kind.operands, strict=True))

    def part(self, operand: Operand) -> list[int]:
        """Return the extents of the part that a tile reads."""
        lengths = [self.tile[axis] for axis in operand.axes]
        return [*lengths[:-1], lengths[-1] + max(operand.shifts)]

    def read(self, name: str, operand: Operand, front: tuple[str, ...] = ()) -> list[str]:
        """Return the reads of an operand at its axes."""
        *axes, last = operand.axes
        shifted = [f"{last} + {n}" if n else last for n in operand.shifts]
        return [f"{name}({', '.join([*front, *axes, at])})" for at in shifted]

    def value(self, reads: list[list[str]], number: str) -> str:
        """Return the value of one element, or of one step of its reduction."""
        return self.kind.value.format(*(each for list in reads for each in list), c=number)

    def own_value(self, reads: list[list[str]]) -> str:
        """Return the value as the intrinsic computes it."""
        return self.value(reads, self.scalar or self.factor)

    def number(self) -> tuple[str, list[Stage]]:
        """Return the compute's expression for the scalar, and the tensors that it reads."""
        form = self.c.rng.choice(["constant", "constant", "axis", "element", "element"])
        if not self.scalar or form == "constant" or (form == "axis" and not self.batch):
            return self.factor, []
        if form == "axis":
            return f"(b + 1).astype('{self.dtype}')", []
        scale = self.c.input(self.batch or [extent(2)], like=Stage("", [], self.dtype))
        return f"{scale.var}({'b' if self.batch else '1'})", [scale]

    def joined(self, result: str, value: str) -> str:
        """Return one step of the reduction."""
        return REDUCERS[self.kind.reducer][0].format(result, value)

    def reduction(self, value: str) -> str:
        """Reduce the value over the axis k, if there is a reducer."""
        return f"te.{self.kind.reducer}({value}, axis=k)" if self.kind.reducer else value

    def reduce_axes(self, extents: dict[str, int]) -> None:
        """Write the line that creates k, if there is a reducer."""
        if self.kind.reducer:
            self.add(f'k = te.reduce_axis((0, {extents["k"]}), name="k")')

    def vector_statement(self) -> None:
        """Write one vector load for each read, and one store."""
        count = self.tile["i"]
        lanes = f'"{self.dtype}x{count}"'
        reads = [
            [f"ins[{n}].vload({shift}, {lanes})" for shift in operand.shifts]
            for n, operand in enumerate(self.kind.operands)
        ]
        self.add(f"body_{self.var} = lambda ins, outs, *sp: ")
        self.c.script.lines[-1] += f"outs[0].vstore(0, {self.own_value(reads)})"

    def loop_statements(self) -> None:
        """Write loops; for a reduction perhaps also its reset and its update."""
        rng, add = self.c.rng, self.add
        at = ", ".join(self.kind.data)
        names = [f"x[{n}]" for n in range(len(self.kind.operands))]
        value = self.own_value([self.read(n, o) for n, o in self.operands(names)])
        add(f"def statement_{self.var}(ins, outs, starts, steps):")
        add("    ib = tvm.tir.ir_builder.create()")
        add("    x = [lambda *index, p=ib.buffer_ptr(each): p[index] for each in ins]")
        add("    y = ib.buffer_ptr(outs[0])")
        kinds = [rng.choice(["serial", "serial", "unroll"]) for _ in self.kind.data]
        loops = [
            f'ib.for_range(0, {self.tile[axis]}, kind="{kind}") as {axis}'
            for axis, kind in zip(self.kind.data, kinds, strict=True)
        ]
        add(f"    with {', '.join(loops)}:")
        if self.kind.reducer:
            first = REDUCERS[self.kind.reducer][1]
            add(f"        if starts: y[{at}] = {first.format(dtype=self.dtype)}")
            add("        if steps:")
            add(f"            with ib.for_range(0, {self.tile['k']}) as k:")
            add(f"                y[{at}] = {self.joined(f'y[{at}]', value)}")
        else:
            add(f"        y[{at}] = {value}")
        add("    return ib.get()")
        made = [f"statement_{self.var}(ins, outs, True, True)"]
        if self.updates:
            reset = rng.random() < 0.7
            self.c.feature(f"intrinsic with an update and {'a' if reset else 'no'} reset")
            made.append(f"statement_{self.var}(ins, outs, True, False)" if reset else "None")
            made.append(f"statement_{self.var}(ins, outs, False, True)")
        add(f"body_{self.var} = lambda ins, outs, *sp: [{', '.join(made)}]")

    def buffers(self, tensors: list[str]) -> list[str]:
        """Return options that declare the statement's buffers."""
        if not self.views:
            return [", default_buffer_params={'offset_factor': 1}"] * (self.c.rng.random() < 0.1)
        self.c.feature(f"intrinsic with {self.views}")
        parts = [[self.tile[axis] for axis in self.kind.data]]
        parts = [self.part(operand) for operand in self.kind.operands] + parts
        binds = []
        for tensor, part in zip(tensors, parts, strict=True):
            outer = [f'te.var("stride{n}")' for n in range(len(part) - 1)]
            said = f"strides=[{', '.join([*outer, '1'])}]"
            if self.views == "offset":
                said = 'elem_offset=te.var("offset"), offset_factor=1'
            binds.append(f"{tensor}: tvm.tir.decl_buffer({part}, '{self.dtype}', {said})")
        return [f", binds={{{', '.join(binds)}}}"]

    # -- The compute.

    def write_compute(self) -> Stage:
        """Write a compute that calls the intrinsic, or that a schedule may tensorize."""
        c, rng = self.c, self.c.rng
        batched = [bool(self.batch) and rng.random() < 0.7 for _ in self.kind.operands]
        tensors = [
            self.tensor(operand, self.batch if in_batch else [])
            for operand, in_batch in zip(self.kind.operands, batched, strict=True)
        ]
        fronts = [("b",) * in_batch for in_batch in batched]
        var = c.script.name("C")
        made = self.call if self.called else self.elements
        number, more = self.number()
        shape, steps = made(var, tensors, fronts, number)
        if self.kind.reducer == "sum" and self.dtype.startswith("float"):
            c.script.keeps_order = False  # steps are summed separately
        reductions = [extent(n) for n in steps]
        stage = Stage(var, shape, self.dtype, list(dict.fromkeys([*tensors, *more])), reductions)
        stage.magnitude, stage.row_major = 8 * 8 * self.whole.get("k", 1), True
        stage.tile = self.tile_of()
        c.stages.append(stage)
        return stage

    def tile_of(self) -> Tile:
        """Return the facts about the tile that the schedule needs."""
        data = tuple(self.tile[axis] for axis in self.kind.data)
        if self.called and self.is_dot:
            data = ()
        steps = tuple(self.tile[axis] for axis in self.reduced)
        text = f"c_{self.var}" if self.is_foreign else ""
        return Tile(data, steps, self.var, self.called, text)

    @property
    def is_dot(self) -> bool:
        """Whether a tile is a single element."""
        return any(operand.outer for operand in self.kind.operands)

    def tensor(self, operand: Operand, batch: Shape) -> Stage:
        """Add the tensor that an operand reads: an input or a computed tensor."""
        c = self.c
        lengths = [self.whole[axis] for axis in (*operand.outer, *operand.axes)]
        lengths[-1] += max(operand.shifts)
        shape = [*batch, *(extent(n) for n in lengths)]
        stage = Stage("", [], self.dtype)
        stage = c.input(shape, like=stage)
        if c.rng.random() < 0.25:
            axes = ", ".join(f"i{n}" for n in range(len(shape)))
            stage = c.moved("P", stage, shape, axes, f"{stage.var}({axes}) + {self.factor}")
        stage.row_major = bool(self.views)
        return stage

    def elements(
        self, var: str, tensors: list[Stage], fronts: Fronts, number: str
    ) -> tuple[Shape, list[int]]:
        """Write a compute of the same value; return its shape and the extents it reduces over."""
        shape = [*self.batch, *(extent(self.whole[axis]) for axis in self.kind.data)]
        self.reduce_axes(self.whole)
        reads = [
            self.read(tensor.var, operand, (*front, *operand.outer))
            for tensor, operand, front in zip(tensors, self.kind.operands, fronts, strict=True)
        ]
        self.line(var, shape, self.kind.data, self.reduction(self.value(reads, number)))
        return shape, [self.whole[axis] for axis in self.reduced]

    def line(self, var: str, shape: Shape, axes: Iterable[str], body: str) -> None:
        """Write the line of a compute, whose axes include the batch, if there is one."""
        names = ", ".join([*("b" for _ in self.batch), *axes])
        self.add(f'{var} = te.compute({listed(shape)}, lambda {names}: {body}, name="{var}")')

    def call(
        self, var: str, tensors: list[Stage], fronts: Fronts, number: str
    ) -> tuple[Shape, list[int]]:
        """Write a compute that calls the intrinsic; return its shape and reduction extents."""
        self.c.feature("an intrinsic is called")
        divided = self.kind.reducer and self.count["k"] > 1
        if divided:
            self.add(f'ko = te.reduce_axis((0, {self.count["k"]}), name="ko")')
        regions = []
        for tensor, operand, front in zip(tensors, self.kind.operands, fronts, strict=True):
            parts = [*front, *(f"{axis}o" for axis in operand.outer)]
            for axis, length in zip(operand.axes, self.part(operand), strict=True):
                first = f"{axis}o * {self.tile[axis]}" if axis != "k" or divided else "0"
                parts.append(f"{first} : {first} + {length}")
            regions.append(f"{tensor.var}[{', '.join(parts)}]")
        if self.scalar:
            regions.insert(self.c.rng.randint(0, len(regions)), number)
        shape = [*self.batch, *(extent(self.count[axis]) for axis in self.kind.data)]
        if not self.is_dot:
            shape += [extent(self.tile[axis]) for axis in self.kind.data]
        over = ", reduce_axis=ko" if divided else ""
        body = f"{self.var}({', '.join(regions)}{over})"
        self.line(var, shape, (f"{axis}o" for axis in self.kind.data), body)
        return shape, [self.count["k"]] if divided else []
