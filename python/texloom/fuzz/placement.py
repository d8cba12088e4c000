"""Random schedules: caches, places and loops of the stages of a computation."""

from __future__ import annotations

import random

from .computation import Computation, Stage
from .loop_directives import MAX_THREADS, THREAD_TAGS, Loop, StageLoops
from .script import HALF_ARITHMETIC, Script, small_target

TEXTURES = ("texture", "texture:weight", "texture:nhwc", "global.texture")


class Placement:
    """Writes the schedule, outputs first, so that each stage finds the loops of its readers."""

    def __init__(self, rng: random.Random, script: Script, computation: Computation) -> None:
        self.rng = rng
        self.script = script
        self.computation = computation
        self.threads: dict[Stage, dict[str, int]] = {}  # of each kernel, by its root stage

    def feature(self, name: str) -> None:
        self.script.features.add(name)

    def make(self) -> None:
        outputs = ", ".join(o.var + ".op" for o in self.computation.outputs)
        self.script.add(f"s = te.create_schedule([{outputs}])")
        self.make_caches()
        for stage in reversed(self.computation.stages):
            if not stage.is_input:
                self.place(stage)
        for stage in self.computation.stages:
            if stage.host is not None and self.rng.random() < 0.25:
                self.double_buffer(stage)
            elif stage.host is not None and self.rng.random() < 0.15:
                self.pipeline(stage)
            if stage.loops is not None and stage.loops.loops and self.rng.random() < 0.1:
                self.unroll_automatically(stage)
        for stage in self.computation.stages:
            if stage.loops is not None and self.rng.random() < 0.15:
                self.split_late(stage)

    def split_late(self, stage: Stage) -> None:
        """A loop that others are attached to: they move to its inner part."""
        free = stage.loops.free()
        hosting = [s.enclosing[-1][1] for s in self.computation.stages if s.host is stage]
        loops = [each for each in free if each in hosting]
        if loops:
            stage.loops.split(self.rng.choice(loops), factor=self.rng.randint(1, 4))
            self.feature("split after others were attached")

    def double_buffer(self, stage: Stage) -> None:
        """Unless it, or what is computed inside it, would be ahead of something that it reads."""
        inside = [stage] + [
            each
            for each in self.computation.stages
            if any(host is stage for host, _ in each.enclosing)
        ]
        inputs = [source for each in inside for source in self.effective_inputs(each)]
        hosted = [each for each in inputs if each.host is not None]
        if all(each.enclosing[-1][1] is not stage.enclosing[-1][1] for each in hosted):
            self.script.add(f"s[{stage.var}].double_buffer()")
            self.feature("double_buffer")

    def pipeline(self, stage: Stage) -> None:
        """Ahead of a serial loop, and of one reader's alone."""
        loop = stage.enclosing[-1][1]
        is_copy = not stage.reductions and len(set(self.effective_readers(stage))) == 1
        inputs = [each for each in self.effective_inputs(stage) if each.host is not None]
        outer = all(each.enclosing[-1][1] is not loop for each in inputs)
        if is_copy and outer and not loop.taken:
            self.script.add(f"s[{stage.var}].pipeline({self.rng.choice([2, 2, 3])})")
            self.feature("pipeline")

    def effective_inputs(self, stage: Stage) -> list[Stage]:
        inputs = []
        for source in stage.inputs:
            inputs += self.effective_inputs(source) if source.inlined else [source]
        return inputs

    def unroll_automatically(self, stage: Stage) -> None:
        loop = self.rng.choice(stage.loops.loops)
        steps = self.rng.choice([1, 4, 16, 64])
        self.script.add(f's[{stage.var}].pragma({loop.name}, "auto_unroll_max_step", {steps})')
        self.feature("auto_unroll_max_step")

    def rfactor(self, stage: Stage) -> None:
        """Partial results along one axis of the reduction, or along a part of it."""
        rng = self.rng
        at = rng.randrange(len(stage.reductions))
        count, rest = stage.reductions[at], stage.reductions[:at] + stage.reductions[at + 1 :]
        axis = f"s[{stage.var}].op.reduce_axis[{at}]"
        if rng.random() < 0.5:
            factor = rng.randint(1, 4)
            outer = self.script.name("ko")
            axis = self.script.name("ki")
            self.script.add(
                f"{outer}, {axis} = s[{stage.var}].split("
                f"s[{stage.var}].op.reduce_axis[{at}], factor={factor})"
            )
            rest = [-(-count // factor), *rest]
            count = min(count, factor)
        place = rng.randrange(len(stage.shape) + 1)
        var = self.script.name(stage.var + "f")
        self.script.add(f"{var} = s.rfactor({stage.var}, {axis}, {place})")
        self.feature("rfactor")
        self.script.keeps_order = False
        shape = [*stage.shape[:place], count, *stage.shape[place:]]
        partial = Stage(var, shape, stage.dtype, stage.inputs, rest, is_cache=True)
        stage.inputs, stage.reductions = [partial], [count]
        self.computation.stages.insert(self.computation.stages.index(stage), partial)

    def relayout(self, stage: Stage) -> list[int]:
        """Loops made before cache_write: the axes of the cache, whose extents are returned."""
        rng = self.rng
        at = rng.randrange(len(stage.shape))
        size = rng.randint(1, 5)
        outer, inner = self.script.name("ro"), self.script.name("ri")
        axis = f"s[{stage.var}].op.axis"
        names = [f"{axis}[{i}]" for i in range(len(stage.shape))]
        self.script.add(f"{outer}, {inner} = s[{stage.var}].split({names[at]}, factor={size})")
        self.feature("cache_write of scheduled loops")
        names[at : at + 1] = [outer, inner]
        shape = list(stage.shape)
        shape[at : at + 1] = [-(-shape[at] // size), min(size, shape[at])]
        if rng.random() < 0.5:
            order = rng.sample(range(len(names)), len(names))
            self.script.add(f"s[{stage.var}].reorder({', '.join(names[i] for i in order)})")
            shape = [shape[i] for i in order]
        return shape

    def make_caches(self) -> None:
        rng, readers_of = self.rng, self.computation.readers_of
        for stage in list(self.computation.stages):
            if stage.is_input or stage.several:
                continue
            if stage.reductions and rng.random() < 0.2:
                self.rfactor(stage)
            if rng.random() < 0.2:
                self.cache_write(stage)
        sources = [s for s in self.computation.stages if readers_of(s) and not s.several]
        for source in rng.sample(sources, min(len(sources), rng.randint(0, 2))):
            readers = readers_of(source)
            if rng.random() < 0.3:
                readers = [rng.choice(readers)]
            cache = self.cache_read(source, readers)
            if rng.random() < 0.25:
                self.feature("a cache of a cache")
                self.cache_read(cache, readers_of(cache))

    def cache_read(self, source: Stage, readers: list[Stage]) -> Stage:
        var = self.script.name(source.var + "c")
        line = len(self.script.lines)
        names = ", ".join(r.var for r in readers)
        self.script.add(f'{var} = s.cache_read({source.var}, "{{scope}}", [{names}])')
        self.feature(f"cache_read for {len(readers)} readers")
        cache = Stage(var, source.shape, source.dtype, [source], is_cache=True, line=line)
        for reader in readers:
            reader.inputs = [cache if i is source else i for i in reader.inputs]
        self.computation.stages.insert(self.computation.stages.index(source) + 1, cache)
        return cache

    def cache_write(self, stage: Stage) -> None:
        var = self.script.name(stage.var + "l")
        shape = self.relayout(stage) if stage.shape and self.rng.random() < 0.25 else stage.shape
        line = len(self.script.lines)
        self.script.add(f'{var} = s.cache_write({stage.var}, "{{scope}}")')
        self.feature("cache_write")
        cache = Stage(var, shape, stage.dtype, stage.inputs, stage.reductions)
        cache.is_cache, cache.line, cache.narrow = True, line, True
        stage.inputs, stage.reductions = [cache], []
        self.computation.stages.insert(self.computation.stages.index(stage), cache)

    def set_scope(self, stage: Stage, scope: str) -> None:
        if stage.line >= 0:
            text = self.script.lines[stage.line]
            self.script.lines[stage.line] = text.replace("{scope}", scope)
            self.feature(f"cache scope {scope}")
        elif scope:
            self.script.add(f's[{stage.var}].set_scope("{scope}")')
            self.feature(f"set_scope {scope}")

    def transform(self, stage: Stage) -> None:
        """Its axes in another order, one of them perhaps cut into two."""
        rng = self.rng
        names = [f"i{n}" for n in range(len(stage.shape))]
        new, cut = list(names), rng.randrange(len(names))
        if stage.shape[cut] > 2:
            factor = rng.randint(2, stage.shape[cut] - 1)
            new[cut : cut + 1] = [f"{names[cut]} // {factor}", f"{names[cut]} % {factor}"]
        rng.shuffle(new)
        stage.transformed = len(new)
        self.script.add(
            f"s[{stage.var}].transform_layout(lambda {', '.join(names)}: [{', '.join(new)}])"
        )
        self.feature("transform_layout")

    def texture_layout(self, shape: list[int], lane: int) -> str:
        """A layout with this axis in the lanes, the other axes anywhere."""
        names = [f"d{n}" for n in range(len(shape))]
        parts = [f"{n}/4" if i == lane else n for i, n in enumerate(names)]
        self.rng.shuffle(parts)
        cut = self.rng.randint(0, len(parts))
        rows, columns = ", ".join(parts[:cut]), ", ".join(parts[cut:])
        self.feature("layout=")
        return (
            f"texture[({', '.join(names)}) -> rows=({rows}), cols=({columns}), "
            f"lanes=({names[lane]}%4)]"
        )

    def effective_readers(self, stage: Stage) -> list[Stage]:
        readers = []
        for reader in self.computation.readers_of(stage):
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
        plain = not stage.reductions and not stage.is_cache and not stage.several
        points = self.attach_points(stage)
        choice = rng.random()
        if plain and choice < 0.3:
            stage.inlined = True
            self.script.add(f"s[{stage.var}].compute_inline()")
            self.feature("compute_inline")
            if self.is_cached(stage):
                self.feature("cache_read of an inlined stage")
        elif points and (choice < 0.75 or stage.narrow):
            path = self.effective_readers(stage)[0].path()
            inside = [n for n in points if path[n - 1][1].reduction]
            self.attach(stage, rng.choice(inside if inside and rng.random() < 0.5 else points))
        else:
            self.place_root(stage)

    def is_cached(self, stage: Stage) -> bool:
        return any(r.is_cache and not r.narrow for r in self.computation.readers_of(stage))

    def place_root(self, stage: Stage) -> None:
        rng = self.rng
        if not stage.is_output:
            may_be_texture = not stage.reductions and not stage.several and stage.fits_texture
            if stage.line >= 0:
                scope = rng.choice(TEXTURES) if may_be_texture and rng.random() < 0.9 else "global"
            else:
                scope = rng.choice(TEXTURES) if may_be_texture and rng.random() < 0.3 else ""
            stage.scope = scope
            self.set_scope(stage, scope)
            is_buffer = scope in ("", "global") and not stage.several and stage.shape
            if is_buffer and rng.random() < 0.15:
                self.transform(stage)
        elif (
            not stage.reductions
            and not stage.several
            and stage.fits_texture
            and rng.random() < 0.15
        ):
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
        if stage.reductions and rng.random() < 0.3:
            self.share_reduction(stage)
        self.annotate(stage)

    def share_reduction(self, stage: Stage) -> None:
        """Among threads along an axis that nothing is bound to."""
        threads = self.threads[stage]
        tag = next((t for t in THREAD_TAGS[:2] if t not in threads), None)
        room = MAX_THREADS
        for extent in threads.values():
            room //= extent or 16
        loop = stage.loops.bind_reduction(self.rng, tag, room) if tag else None
        if loop is not None:
            threads[tag] = loop.extent

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
        if stage.transformed:
            self.take_new_axes(stage)
        if stage.texture and rng.random() < 0.5:
            lane = next(each for each in stage.loops.loops if each.lane)
            stage.loops.split(lane, factor=4)
        stage.loops.random_splits(rng, chance=0.5)
        if rng.random() < 0.3:
            stage.loops.random_fuse(rng)
        if rng.random() < 0.5:
            stage.loops.random_reorder(rng)

    def take_new_axes(self, stage: Stage) -> None:
        """Loops over the axes that transform_layout made, whose extents are not known here."""
        names = [self.script.name(f"{stage.var.lower()}t") for _ in range(stage.transformed)]
        leaves = f"s[{stage.var}].leaf_iter_vars"
        self.script.add(f"{', '.join(names)}, = list({leaves})[:{len(names)}]")
        reductions = [each for each in stage.loops.loops if each.reduction]
        stage.loops.loops = [Loop(n, None, exact=False) for n in names] + reductions

    def attach(self, stage: Stage, depth: int) -> None:
        rng = self.rng
        common = self.effective_readers(stage)[0].path()[:depth]
        host, loop = common[-1]
        stage.host, stage.enclosing = host, common
        tags = {each.tag for _, each in common if each.tag}
        in_thread = any("thread" in t for t in tags)
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
        elif rng.random() < 0.15:
            self.bind_to_own_threads(stage)
        if len(stage.shape) > 1 and rng.random() < 0.2:
            self.align(stage)
        self.annotate(stage)

    def bind_to_own_threads(self, stage: Stage) -> None:
        """Each thread computes the whole of its local memory, whatever its loops are bound to."""
        loops = [each for each in stage.loops.free() if not each.reduction]
        if loops:
            loop = self.rng.choice(loops)
            tag = self.rng.choice(["threadIdx.x", "blockIdx.y", "vthread"])
            self.script.add(f's[{stage.var}].bind({loop.name}, te.thread_axis("{tag}"))')
            loop.taken = True
            self.feature("a local stage bound to threads")

    def align(self, stage: Stage) -> None:
        at, factor = len(stage.shape) - 2, self.rng.randint(2, 9)
        axis, offset = f"s[{stage.var}].op.axis[{at}]", self.rng.randint(0, factor)
        self.script.add(f"s[{stage.var}].storage_align({axis}, {factor}, {offset})")
        self.feature("storage_align")

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
        inner = loops.loops[-1] if loops.loops else None
        if inner and not inner.taken and not inner.reduction and rng.random() < 0.3:
            loops.annotate(inner, "vectorize")

    # -- The end of the script.

    def finish(self) -> None:
        """Arguments, where they lie, and the program."""
        rng, add = self.rng, self.script.add
        stages = self.computation.stages
        args = [s for s in stages if s.is_input] + self.computation.outputs
        for stage in stages:
            is_own = not (stage.is_input or stage.is_cache or stage.is_output or stage.several)
            if is_own and not stage.inlined and stage.host is None and rng.random() < 0.15:
                args.append(stage)
                self.feature("an intermediate tensor is an argument")
        if rng.random() < 0.2:
            rng.shuffle(args)
        places = []  # how arguments are declared
        for a in args:
            if a.is_input and a.fits_texture and rng.random() < 0.15:
                a.bound_scope = rng.choice(TEXTURES)
            if a.bound_scope:
                self.feature(f"argument in {a.bound_scope}")
                origin = rng.random() < 0.4
                layout = ""
                if rng.random() < 0.25:
                    lane = rng.randrange(len(a.shape)) if a.is_input else len(a.shape) - 1
                    layout = f', layout="{self.texture_layout(a.shape, lane)}"'
                if origin:
                    self.feature("origin declared")
                places.append((a, f'scope="{a.bound_scope}", origin={origin}{layout}'))
        target = small_target(rng, self.script, [s.shape for s in stages if s.shape])
        binds = []
        for a, place in places:
            if "origin=False" in place and rng.random() < 0.3:
                self.feature("image declared to be exact")
                place += ", exact_image=True"
            binds.append(f'{a.var}: tvm.decl_buffer({a.shape}, "{a.dtype}", {place})')
        if any(s.dtype == "float16" for s in stages) and rng.random() < 0.3:
            self.feature("target: half arithmetic")
            target += HALF_ARITHMETIC
        add(f"args = [{', '.join(a.var for a in args)}]")
        add(f"binds = {{{', '.join(binds)}}}")
        add(f'program = tvm.program(s, args, binds=binds, target="{target}")')


def same(a: tuple[Stage, Loop], b: tuple[Stage, Loop]) -> bool:
    return a[0] is b[0] and a[1] is b[1]
