"""Random computations with two readers of one tensor, equal to NumPy bit by bit.

The readers permute, stride, shift, reverse, divide and pad; tiles need not divide; the tensor is
cached in textures, in shared or in local memory, and stages are attached to one another at any
depth. Values are small integers, so that floating-point sums are exact in any order.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

from case_scripts import Case, Script, run_many, run_script
from index_forms import Axis, random_read
from loop_directives import Loop, StageLoops

TEXTURES = ("texture", "texture:weight", "texture:nhwc", "global.texture")

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
    inputs: list[Stage] = field(default_factory=list)
    reductions: list[int] = field(default_factory=list)
    is_input: bool = False
    is_output: bool = False
    is_cache: bool = False
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


class Program:
    """One random computation and its schedule."""

    def __init__(self, rng: random.Random, device: int) -> None:
        self.rng = rng
        self.device = device
        self.script = Script()
        self.dtype = rng.choice(["float32", "float32", "int32"])
        self.stages: list[Stage] = []  # in topological order
        self.threads: dict[Stage, dict[str, int]] = {}  # of each kernel, by its root stage
        self.feature(f"dtype {self.dtype}")

    def feature(self, name: str) -> None:
        self.script.features.add(name)

    # -- The computation.

    def make(self) -> Case:
        rng, add = self.rng, self.script.add
        add(HEADER)
        add(f'dtype, dev = "{self.dtype}", tvm.opencl({self.device})')
        add(f"rng = np.random.default_rng({rng.randrange(10**6)})")
        x = self.input("X", self.random_shape(3, 12))
        if rng.random() < 0.3:
            self.input("W", self.random_shape(2, 6))
        shared = x
        if rng.random() < 0.6:
            shared = self.compute("P", self.random_shape(3, 10), [x], may_reduce=False)
        first = self.compute("R1", self.random_shape(3, 7), [shared], may_reduce=True)
        again = first.shape if rng.random() < 0.6 else self.random_shape(3, 7)
        second = self.compute("R2", again, [shared], may_reduce=True)
        for unread in [x for x in self.stages if x.is_input and not self.readers_of(x)]:
            self.stages.remove(unread)
        outputs = [first, second]
        if rng.random() < 0.7:
            z = self.compute("Z", list(first.shape), [first, second], may_reduce=False)
            outputs = [z]
            if rng.random() < 0.3:
                outputs = [self.compute("E", self.random_shape(3, 7), [z], may_reduce=False)]
        for output in outputs:
            output.is_output = True
        add("")
        add(f"s = te.create_schedule([{', '.join(o.var + '.op' for o in outputs)}])")
        self.schedule(shared, first, second)
        self.check(outputs)
        return Case(self.script.text(), self.script.features, f"{self.dtype} two readers")

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
        self.script.add(f'{name} = te.placeholder({shape}, dtype=dtype, name="{name}")')
        low, high = ("-(2**31), 2**31") if self.full_range() else ("-8, 9"), ""
        self.script.add(
            f"{name.lower()}_np = rng.integers({low}{high}, size={shape}).astype(dtype)"
        )
        stage = Stage(name, shape, is_input=True)
        self.stages.append(stage)
        return stage

    def full_range(self) -> bool:
        return self.dtype == "int32" and self.rng.random() < 0.5

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
        if not reductions:
            add(f'{name} = te.compute({shape}, lambda {parameters}: {call}, name="{name}")')
            add(f"{name.lower()}_np = reference({function}, {shape}, dtype, {arrays})")
        else:
            self.reduction(name, shape, axes, reductions, call, function, arrays)
        stage = Stage(name, shape, list(inputs), [a.extent for a in reductions])
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
    ) -> None:
        rng, add = self.rng, self.script.add
        how = rng.choice(["sum", "sum", "max", "min"])
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
        add(
            f"{name} = te.compute({shape}, lambda {parameters}: "
            f'te.{how}({call}, axis=[{over}]{where_te}), name="{name}")'
        )
        add(
            f"{name.lower()}_np = reference({function}, {shape}, dtype, {arrays}, "
            f"{[a.extent for a in reductions]}, {[a.begin for a in reductions]}, "
            f'"{how}"{where})'
        )

    def body(self, inputs: list[Stage], axes: list[Axis], *, is_sum: bool) -> str:
        rng = self.rng
        reads = []
        for source in inputs + ([inputs[0]] if rng.random() < 0.3 else []):
            read, forms = random_read(rng, source.var, source.shape, axes)
            self.script.features |= forms
            reads.append(read)
        text = reads[0]
        if rng.random() < 0.5:
            text = f"{text} * {rng.choice([-3, -2, -1, 2, 3])}"
        for read in reads[1:]:
            # Products only of what is small for certain: the sums must stay exact.
            small = is_sum and self.dtype == "float32"
            how = rng.choice(
                ["+", "-", "max", "min", "*" if small or self.dtype == "int32" else "+"]
            )
            text = f"te.{how}({text}, {read})" if how in ("max", "min") else f"{text} {how} {read}"
        if rng.random() < 0.2:
            text = f"{text} + {rng.choice(axes).name}"
            self.feature("an axis as a value")
        return text

    # -- The schedule.

    def schedule(self, shared: Stage, first: Stage, second: Stage) -> None:
        self.make_caches(shared, first, second)
        for stage in reversed(self.stages):
            if not stage.is_input:
                self.place(stage)

    def readers_of(self, stage: Stage) -> list[Stage]:
        return [s for s in self.stages if stage in s.inputs]

    def make_caches(self, shared: Stage, first: Stage, second: Stage) -> None:
        rng = self.rng
        for reader in (first, second):
            if rng.random() < 0.25:
                self.cache_write(reader)
        for stage in [s for s in self.stages if s.var in ("Z", "E")]:
            if rng.random() < 0.2:
                self.cache_write(stage)
        if rng.random() < 0.85:
            readers = self.readers_of(shared)
            if rng.random() < 0.3:
                readers = [rng.choice(readers)]
            cache = self.cache_read(shared, readers)
            if rng.random() < 0.3:
                self.feature("a cache of a cache")
                self.cache_read(cache, self.readers_of(cache))
        weights = [s for s in self.stages if s.var == "W" and self.readers_of(s)]
        if weights and rng.random() < 0.5:
            self.cache_read(weights[0], self.readers_of(weights[0]))

    def cache_read(self, source: Stage, readers: list[Stage]) -> Stage:
        var = self.script.name(source.var + "c")
        line = len(self.script.lines)
        names = ", ".join(r.var for r in readers)
        self.script.add(f'{var} = s.cache_read({source.var}, "{{scope}}", [{names}])')
        self.feature(f"cache_read for {len(readers)} readers")
        cache = Stage(var, source.shape, [source], is_cache=True, line=line)
        for reader in readers:
            reader.inputs = [cache if i is source else i for i in reader.inputs]
        self.stages.insert(self.stages.index(source) + 1, cache)
        return cache

    def cache_write(self, stage: Stage) -> None:
        var = self.script.name(stage.var + "l")
        line = len(self.script.lines)
        self.script.add(f'{var} = s.cache_write({stage.var}, "{{scope}}")')
        self.feature("cache_write")
        cache = Stage(var, stage.shape, stage.inputs, stage.reductions, is_cache=True, line=line)
        cache.narrow = True
        stage.inputs, stage.reductions = [cache], []
        self.stages.insert(self.stages.index(stage), cache)

    def set_scope(self, stage: Stage, scope: str) -> None:
        if stage.line >= 0:
            text = self.script.lines[stage.line]
            self.script.lines[stage.line] = text.replace("{scope}", scope)
            self.feature(f"cache scope {scope}")
        elif scope:
            self.script.add(f's[{stage.var}].set_scope("{scope}")')
            self.feature(f"set_scope {scope}")

    def effective_readers(self, stage: Stage) -> list[Stage]:
        readers = []
        for reader in self.readers_of(stage):
            readers += self.effective_readers(reader) if reader.inlined else [reader]
        return readers

    def attach_points(self, stage: Stage) -> list[int]:
        """How many loops of the readers' common path may enclose the stage."""
        paths = [r.path() for r in self.effective_readers(stage)]
        common = paths[0]
        for path in paths[1:]:
            length = 0
            while length < min(len(common), len(path)) and same(common[length], path[length]):
                length += 1
            common = common[:length]
        # The lanes of a texture's texel stay together.
        for i, (owner, loop) in enumerate(common):
            if owner.texture and loop.lane:
                common = common[:i]
                break
        return list(range(1, len(common) + 1))

    def place(self, stage: Stage) -> None:
        rng = self.rng
        if stage.is_output:
            self.place_root(stage)
            return
        plain = not stage.reductions and not stage.is_cache
        points = self.attach_points(stage)
        choice = rng.random()
        if plain and choice < 0.3:
            stage.inlined = True
            self.script.add(f"s[{stage.var}].compute_inline()")
            self.feature("compute_inline")
            if self.is_cached(stage):
                self.feature("cache_read of an inlined stage")
        elif points and (choice < 0.75 or stage.narrow):
            self.attach(stage, rng.choice(points))
        else:
            self.place_root(stage)

    def is_cached(self, stage: Stage) -> bool:
        return any(r.is_cache and not r.narrow for r in self.readers_of(stage))

    def place_root(self, stage: Stage) -> None:
        rng = self.rng
        if not stage.is_output:
            may_be_texture = not stage.reductions
            if stage.line >= 0:
                scope = rng.choice(TEXTURES) if may_be_texture and rng.random() < 0.9 else "global"
            else:
                scope = rng.choice(TEXTURES) if may_be_texture and rng.random() < 0.3 else ""
            stage.scope = scope
            self.set_scope(stage, scope)
        elif not stage.reductions and rng.random() < 0.15:
            stage.bound_scope = rng.choice(TEXTURES)
        self.own_loops(stage, list(stage.shape))
        loops = stage.loops
        if not [each for each in loops.free() if not each.reduction]:
            unit = Loop(self.script.name("unit"), 1)
            self.script.add(f"{unit.name} = s[{stage.var}].fuse()")
            self.feature("fuse of no axes")
            loops.loops.insert(0, unit)
        bound = loops.random_binds(rng)
        # An extent of 0 here: not known.
        self.threads[stage] = {
            each.tag: each.extent * each.exact for each in bound if each.tag.startswith("thread")
        }
        self.annotate(stage)

    def own_loops(self, stage: Stage, extents: list[int | None]) -> None:
        rng = self.rng
        stem = stage.var.lower()
        stage.loops = StageLoops.of(
            self.script,
            f"s[{stage.var}]",
            stem,
            extents,
            stage.reductions,
            texture=stage.texture,
            exact=stage.is_output,  # what readers ask of others may be a part of the tensor
        )
        if stage.texture and rng.random() < 0.5:
            lane = next(each for each in stage.loops.loops if each.lane)
            stage.loops.split(lane, factor=4)
        stage.loops.random_splits(rng, chance=0.5)
        if rng.random() < 0.3:
            stage.loops.random_fuse(rng)
        if rng.random() < 0.5:
            stage.loops.random_reorder(rng)

    def attach(self, stage: Stage, depth: int) -> None:
        rng = self.rng
        common = self.effective_readers(stage)[0].path()[:depth]
        host, loop = common[-1]
        stage.host, stage.enclosing = host, common
        tags = {each.tag for _, each in common if each.tag}
        in_thread = any(t.startswith("thread") for t in tags)
        inferred = "local" if in_thread else "shared" if tags else ""
        scope = rng.choice(["local", "shared"])
        if stage.line < 0 and inferred and rng.random() < 0.6:
            scope = ""
        self.set_scope(stage, scope)
        actual = scope or inferred
        self.script.add(f"s[{stage.var}].compute_at(s[{host.var}], {loop.name})")
        self.feature(f"attached {actual} at depth {depth}")
        levels = 1 if host.host is None else 2 if host.host.host is None else 3
        self.feature(f"compute_at chain of {levels}")
        if loop.reduction:
            self.feature("attached at a reduction loop")
        if len(set(self.effective_readers(stage))) > 1:
            self.feature("attached around two readers")
        self.own_loops(stage, [None] * len(stage.shape))
        if actual == "shared":
            self.cooperate(stage)
        self.annotate(stage)

    def cooperate(self, stage: Stage) -> None:
        """Threads of the block share the work of a stage in shared memory."""
        rng = self.rng
        threads = self.threads[stage.root()]
        for loop in [each for each in stage.loops.free() if not each.reduction]:
            if rng.random() < 0.4 or loop not in stage.loops.loops:
                continue
            tags = ("threadIdx.x", "threadIdx.y")
            unused = [t for t in tags if not self.binds(stage, t) and threads.get(t) != 0]
            if not unused:
                return
            tag = rng.choice(unused)
            count = threads.get(tag) or rng.choice([2, 3, 4])
            total = count
            for other, extent in threads.items():
                total *= (extent or 16) if other != tag else 1
            if total > 512:
                return
            threads[tag] = count
            outer, _ = stage.loops.split(loop, nparts=count)
            stage.loops.bind(outer, tag)
            self.feature("threads cooperate on shared memory")

    def binds(self, stage: Stage, tag: str) -> bool:
        return any(each.tag == tag for each in stage.loops.loops)

    def annotate(self, stage: Stage) -> None:
        rng, loops = self.rng, stage.loops
        for loop in list(loops.loops):
            known = loop.extent is not None and loop.extent <= 4
            if loop.taken or loop.lane:
                continue
            if known and rng.random() < 0.2:
                loops.annotate(loop, "unroll")
            elif not loop.reduction and rng.random() < 0.1:
                loops.annotate(loop, "vectorize")
        inner = loops.loops[-1]
        if not inner.taken and not inner.reduction and rng.random() < 0.3:
            loops.annotate(inner, "vectorize")

    # -- The end of the script.

    def check(self, outputs: list[Stage]) -> None:
        rng, add = self.rng, self.script.add
        args = [s for s in self.stages if s.is_input] + list(outputs)
        for stage in self.stages:
            visible = stage.var in ("P", "R1", "R2", "Z") and not stage.is_output
            if visible and not stage.inlined and stage.host is None and rng.random() < 0.2:
                args.append(stage)
                self.feature("an intermediate tensor is an argument")
        if rng.random() < 0.2:
            rng.shuffle(args)
        for a in args:
            if a.is_input and rng.random() < 0.15:
                a.bound_scope = rng.choice(TEXTURES)
        binds = [
            f'{a.var}: tvm.decl_buffer({a.shape}, dtype, name="{a.var}", scope="{a.bound_scope}")'
            for a in args
            if a.bound_scope
        ]
        if binds:
            self.feature("arguments in textures")
        add(f"args = [{', '.join(a.var for a in args)}]")
        add(f'f = tvm.build(s, args, target="opencl", binds={{{", ".join(binds)}}})')
        for a in args:
            scope = a.bound_scope or a.scope
            if a.is_input:
                add(f'{a.var.lower()}_dev = tvm.nd.array({a.var.lower()}_np, dev, "{scope}")')
            else:
                add(f'{a.var.lower()}_dev = tvm.nd.empty({a.shape}, dtype, dev, "{scope}")')
        add(f"f({', '.join(a.var.lower() + '_dev' for a in args)})")
        add("for name, array, expected in [")
        for a in args:
            add(f'    ("{a.var}", {a.var.lower()}_dev, {a.var.lower()}_np),')
        add("]:")
        add("    wrong = np.argwhere(array.numpy() != expected)")
        add('    assert wrong.size == 0, f"{name}: {len(wrong)} wrong, the first at {wrong[0]}"')


def same(a: tuple[Stage, Loop], b: tuple[Stage, Loop]) -> bool:
    return a[0] is b[0] and a[1] is b[1]


def make_case(rng: random.Random, device: int = 0) -> Case:
    """A script that computes with two readers and asserts NumPy's result."""
    return Program(rng, device).make()


def run_case(rng: random.Random, device: int = 0) -> None:
    """One random computation; raises CaseFailed with its script."""
    run_script(make_case(rng, device))


if __name__ == "__main__":
    sys.exit(run_many(__doc__.splitlines()[0], make_case, 200))
