"""Random scans: recurrences over the first axis, whose steps read earlier rows."""

from __future__ import annotations

from .computation import Computation
from .extents import Shape, extent, is_constant, listed
from .index_forms import Axis, random_read
from .stage import Part, Scan, Stage, State, Value

ROOM = 20  # limit of floating-point states, which would otherwise grow with each step


class ScanWriter:
    """Writes a scan over rows with equal columns."""

    def __init__(self, c: Computation, source: Stage) -> None:
        rng = c.rng
        self.c, self.source = c, source
        self.columns = c.random_shape(2, 6) if rng.random() < 0.92 else []
        self.first = rng.choice([1, 1, 2, 3])  # rows that the inits have
        self.rows = extent(self.first) + c.random_extent(4)
        self.dtype = c.values.type_for([source], 4 * ROOM)
        self.mixes = bool(self.columns) and rng.random() < 0.55
        self.axes = [Axis("t", self.rows)]
        self.axes += [Axis(f"i{n}", length) for n, length in enumerate(self.columns)]
        self.states = [c.script.name("S") for _ in range(rng.choice([1, 1, 2]))]

    def write(self) -> list[Stage]:
        """Write the scan; return its results, in order."""
        c = self.c
        c.feature(f"scan of {len(self.states)} states")
        c.feature("scan that mixes columns" if self.mixes else "scan of columns by themselves")
        shape = [self.rows, *self.columns]
        inits = [self.init() for _ in self.states]
        for state in self.states:
            c.script.add(
                f"{state}_rows = te.placeholder({listed(shape)}, "
                f'dtype="{self.dtype}", name="{state}_rows")'
            )
        made = []
        for state, init in zip(self.states, inits, strict=True):
            middle = self.middle(state) if c.rng.random() < 0.5 else None
            made.append(State(f"{state}_rows", init, self.update(state, middle), middle))
        parts = ([s.init.var for s in made], [s.update.var for s in made], [s.var for s in made])
        lists = ", ".join(f"[{', '.join(names)}]" for names in parts)
        results = ", ".join(self.states)
        c.script.add(f'{results} = te.scan({lists}, name="{self.states[0]}")')
        scan = Scan(self.states[0], made, self.source, is_constant(shape))
        stages: list[Stage] = []
        for state in self.states:
            before = stages[-1:] or [self.source]
            stages.append(Stage(state, shape, self.dtype, before, magnitude=ROOM, scan=scan))
        return stages

    def add(self, stem: str, shape: Shape, axes: list[Axis], text: str) -> str:
        """Write a compute; return its variable."""
        var = self.c.script.name(stem)
        names = ", ".join(axis.name for axis in axes)
        self.c.script.add(
            f'{var} = te.compute({listed(shape)}, lambda {names}: {text}, name="{var}")'
        )
        return var

    def init(self) -> Part:
        """Write the init: the rows before the first step."""
        axes = [Axis("t", extent(self.first)), *self.axes[1:]]
        read = self.bounded(self.c.values.read(self.source, axes, self.dtype))
        var = self.add("init", [extent(self.first), *self.columns], axes, read.text)
        return Part(var, self.columns, [])

    def bounded(self, value: Value) -> Value:
        """Clamp a floating-point value, so that sums are exact; integers may wrap."""
        if not self.dtype.startswith("float"):
            return value
        bounds = [f"te.const({n}, '{self.dtype}')" for n in (-ROOM, ROOM)]
        text = f"te.min(te.max({value.text}, {bounds[0]}), {bounds[1]})"
        return Value(text, ROOM, value.inputs)

    def column(self, tensor: str) -> str:
        """Read the same column, or another one, guarded if it may be out of range."""
        if not self.mixes or self.c.rng.random() < 0.3:
            return f"{tensor}({', '.join(a.name for a in self.axes[1:])})"
        own = self.axes[1:]
        text, forms = random_read(self.c.rng, tensor, self.columns, own, "", self.dtype)
        self.c.script.features |= forms
        return text

    def state_before(self, state: str) -> Value:
        """Read an element of an earlier row, guarded if that row may precede all rows."""
        rng = self.c.rng
        back = rng.randint(1, self.first)
        guarded = rng.random() < 0.15
        if guarded:
            back += rng.randint(1, 2)
        text = self.column("ROW")
        row = f"{state}_rows(t - {back}" + (", " if self.columns else "")
        text = text.replace("ROW(", row)
        if guarded:
            self.c.feature("scan: a guarded row before the first")
            zero = f"te.const(0, '{self.dtype}')"
            text = f"te.if_then_else(t >= {back}, {text}, {zero})"
        return Value(text, ROOM, [])

    def middle(self, state: str) -> Part:
        """Write a stage of the step: per element, or over all columns."""
        c, rng = self.c, self.c.rng
        if self.columns and self.mixes and rng.random() < 0.5:
            k = f"{state}_k"
            own = ", ".join(["t - 1", *(a.name for a in self.axes[1:-1]), k])
            c.script.add(f'{k} = te.reduce_axis((0, {self.columns[-1]}), name="k")')
            how = rng.choice(["sum", "max", "min"])
            c.feature(f"scan: te.{how} of a row")
            text = f"te.{how}({state}_rows({own}), axis={k})"
            var = self.add("M", [self.rows, *self.columns], self.axes, text)
            return Part(var, self.columns, [f"{state}_rows"], [self.columns[-1]])
        c.feature("scan: a stage of a step")
        value = self.step_value([state])
        var = self.add("M", [self.rows, *self.columns], self.axes, self.bounded(value).text)
        return Part(var, self.columns, self.tensors_of(value, [state]))

    def step_value(self, states: list[str]) -> Value:
        """Read earlier rows and the source."""
        values = self.c.values
        reads = [self.state_before(state) for state in states]
        if self.c.rng.random() < 0.7:
            reads.append(values.read(self.source, self.axes, self.dtype))
        return values.combine(reads, self.dtype)

    def update(self, state: str, middle: Part | None) -> Part:
        """Write the update: the next row, from one state or from two."""
        rng = self.c.rng
        states = [state]
        if len(self.states) > 1 and rng.random() < 0.6:
            states.append(rng.choice(self.states))
        value = self.step_value(states)
        if middle is not None:
            read = self.column("ROW")
            row = f"{middle.var}(t" + (", " if self.columns else "")
            of_step = Value(read.replace("ROW(", row), 6 * ROOM, [])
            value = self.c.values.combine_two(value, of_step, self.dtype)
        var = self.add("U", [self.rows, *self.columns], self.axes, self.bounded(value).text)
        return Part(var, self.columns, self.tensors_of(value, states))

    def tensors_of(self, value: Value, states: list[str]) -> list[str]:
        """Read everything except stages of the step."""
        rows = [f"{state}_rows" for state in dict.fromkeys(states)]
        return rows + [self.source.var] * (self.source in value.inputs)


def scan(c: Computation, source: Stage) -> list[Stage]:
    """Write a recurrence over rows of the source; return its results."""
    stages = ScanWriter(c, source).write()
    c.stages += stages
    return stages
