"""Random schedules: attachments and loops of a computation's stages."""

from __future__ import annotations

import random

from .computation import Computation
from .extents import Extent, is_constant
from .fragment_schedule import FragmentSchedule
from .layouts import TEXTURES, random_axes, random_texel_axes, transform
from .loop_directives import Loop, StageLoops
from .scan_schedule import ScanSchedule
from .script import Script
from .shared_reductions import SharedReductions, may_have_rows_of_blocks
from .stage import Stage


class Placement:
    """Writes the schedule, outputs first, so that each stage finds the loops of its readers."""

    def __init__(self, rng: random.Random, script: Script, computation: Computation) -> None:
        self.rng = rng
        self.script = script
        self.computation = computation
        self.threads: dict[Stage, dict[str, int]] = {}  # extents of axes, by root stage
        self.reductions = SharedReductions(rng, script, self.threads)

    def feature(self, name: str) -> None:
        self.script.features.add(name)

    def make(self) -> None:
        """Schedule all stages except inputs."""
        for stage in reversed(self.computation.stages):
            if stage.scan is not None and stage.var == stage.scan.var:
                whole = stage.is_output and len(stage.scan.states) == 1
                ScanSchedule(self.rng, self.script, stage.scan, whole=whole).make()
            elif stage.product is not None:
                FragmentSchedule(self.rng, self.script, stage).make()
            elif not stage.is_input and not stage.has_own_kernels:
                self.place(stage)

    def set_scope(self, stage: Stage, scope: str) -> None:
        if stage.line >= 0:
            text = self.script.lines[stage.line]
            self.script.lines[stage.line] = text.replace("{scope}", scope)
            self.feature(f"cache scope {scope}")
        elif scope:
            self.script.add(f's[{stage.var}].set_scope("{scope}")')
            self.feature(f"set_scope {scope}")

    def attach_points(self, stage: Stage) -> list[int]:
        """Return how many loops of the readers' common path may enclose the stage."""
        paths = [r.path() for r in self.computation.effective_readers(stage)]
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
        # Extents of inner loops must not depend on the call, because memory sizes must not, either.
        least = max(
            (i + 1 for path in paths for i, (_, loop) in enumerate(path) if loop.symbolic),
            default=0,
        )
        return list(range(max(1, least), len(common) + 1))

    def place(self, stage: Stage) -> None:
        rng = self.rng
        if stage.is_output:
            self.place_root(stage)
            return
        plain = not stage.reductions and not stage.is_cache and not stage.several
        readers = self.computation.effective_readers(stage)
        plain = plain and not any(r.is_extern or r.tile for r in readers) and not stage.tile
        points = self.attach_points(stage)
        choice = rng.random()
        if plain and choice < 0.3:
            stage.inlined = True
            self.script.add(f"s[{stage.var}].compute_inline()")
            self.feature("compute_inline")
            if self.is_cached(stage):
                self.feature("cache_read of an inlined stage")
        elif points and (stage.narrow or (choice < 0.75 and stage.tile is None)):
            path = readers[0].path()
            inside = [n for n in points if path[n - 1][1].reduction]
            if stage.tile is not None:  # the enclosing loops iterate over its tiles
                points = inside = points[-1:]
            threads = [n for n in points if path[n - 1][1].tag.startswith("thread")]
            if stage.reductions and threads and rng.random() < 0.4:
                points = inside = threads
            self.attach(stage, rng.choice(inside if inside and rng.random() < 0.5 else points))
        else:
            self.place_root(stage)

    def is_cached(self, stage: Stage) -> bool:
        return any(r.is_cache and not r.narrow for r in self.computation.readers_of(stage))

    def choose_root_scope(self, stage: Stage) -> None:
        """Put a stage at the root into a texture, or the array of an output."""
        rng = self.rng
        may_be_texture = not stage.reductions and not stage.several and stage.fits_texture
        if stage.is_output:
            if may_be_texture and rng.random() < 0.15:
                stage.bound_scope = rng.choice(TEXTURES)
            return
        often = 0.9 if stage.line >= 0 else 0.3 if stage.region is None else 0.6
        in_texture = may_be_texture and rng.random() < often
        stage.scope = rng.choice(TEXTURES) if in_texture else "global" if stage.line >= 0 else ""
        self.set_scope(stage, stage.scope)

    def place_root(self, stage: Stage) -> None:
        rng = self.rng
        self.choose_root_scope(stage)
        may_move = stage.shape and is_constant(stage.shape) and not stage.several
        may_move = may_move and not stage.row_major
        sources = [stage, *self.computation.effective_inputs(stage)]
        rows = 0.3 if any(s.reductions for s in sources) else 0.05
        if may_have_rows_of_blocks(stage) and rng.random() < rows:
            self.name_loops(stage, stage.shape)
            self.reductions.rows_of_blocks(stage)
            return
        if may_move and rng.random() < 0.15:
            self.transform(stage)
        self.own_loops(stage, stage.shape)
        loops = stage.loops
        if not [each for each in loops.free() if not each.reduction]:
            unit = Loop(self.script.name("unit"), 1)
            self.script.add(f"{unit.name} = s[{stage.var}].fuse()")
            self.feature("fuse of no axes")
            loops.loops.insert(0, unit)
        bound = loops.random_binds(rng)
        # An extent of 0 means unknown.
        self.threads[stage] = {
            each.tag: each.extent * each.exact for each in bound if each.tag.startswith("thread")
        }
        if stage.reductions and not stage.tile and rng.random() < 0.3:
            self.reductions.at_root(stage)
        self.annotate(stage)

    def transform(self, stage: Stage) -> None:
        """Transform the layout; for textures that are no arguments, choose rows, columns, lanes."""
        if not stage.texture:
            transform(self.script, stage, random_axes(self.rng, stage.shape))
        elif not stage.bound_scope and len(stage.shape) < 5 and stage.shape[-1].most >= 4:
            transform(self.script, stage, random_texel_axes(self.rng, stage.shape))
            self.feature("transform_layout of a texture")

    def own_loops(self, stage: Stage, extents: list[Extent | None]) -> None:
        rng = self.rng
        self.name_loops(stage, extents)
        if stage.transformed:
            self.take_new_axes(stage)
        if stage.texture and rng.random() < 0.5:
            lane = next(each for each in stage.loops.loops if each.lane)
            stage.loops.split(lane, factor=4)
        hosts_tiles = stage.tile is not None and not stage.tile.intrinsic
        stage.loops.random_splits(rng, chance=0.0 if hosts_tiles else 0.5)
        if rng.random() < 0.3:
            stage.loops.random_fuse(rng)
        if stage.texture and rng.random() < 0.2:
            stage.loops.fuse_lanes()
        if rng.random() < 0.5:
            stage.loops.random_reorder(rng)

    def name_loops(self, stage: Stage, extents: list[Extent | None]) -> None:
        """Begin with a loop for each axis."""
        stem = stage.var.lower()
        if stage.tile is not None and stage.tile.called:
            extents = extents[: len(extents) - len(stage.tile.data)]
        stage.loops = StageLoops.of(
            self.script,
            f"s[{stage.var}]",
            stem,
            extents,
            stage.reductions,
            texture=stage.texture,
            exact=stage.is_output,  # readers of other layouts may need a part of the tensor
        )
        leave_tile(self.script, stage)

    def take_new_axes(self, stage: Stage) -> None:
        """Use loops over the axes made by transform_layout, whose extents are unknown."""
        names = [self.script.name(f"{stage.var.lower()}t") for _ in range(stage.transformed)]
        leaves = f"s[{stage.var}].leaf_iter_vars"
        self.script.add(f"{', '.join(names)}, = list({leaves})[:{len(names)}]")
        reductions = [each for each in stage.loops.loops if each.reduction]
        stage.loops.loops = [Loop(n, None, exact=False) for n in names] + reductions
        stage.loops.loops[len(names) - 1].lane = stage.texture

    def attach(self, stage: Stage, depth: int) -> None:
        rng = self.rng
        common = self.computation.effective_readers(stage)[0].path()[:depth]
        host, loop = common[-1]
        stage.host, stage.enclosing = host, common
        tags = {each.tag for _, each in common if each.tag}
        in_thread = any("thread" in t for t in tags)
        inferred = "local" if in_thread else "shared" if tags else ""
        scope = rng.choice(["local", "shared"])
        if stage.line < 0 and inferred and rng.random() < 0.6:
            scope = ""
        is_fragment = scope == "local" and self.may_be_fragment(stage, depth)
        self.set_scope(stage, "fragment" if is_fragment else scope)
        actual = stage.attached_scope = scope or inferred
        self.script.add(f"s[{stage.var}].compute_at(s[{host.var}], {loop.name})")
        self.feature(f"attached {actual} at depth {depth}")
        levels = 1 if host.host is None else 2 if host.host.host is None else 3
        self.feature(f"compute_at chain of {levels}")
        if loop.reduction:
            self.feature("attached at a reduction loop")
        if len(set(self.computation.effective_readers(stage))) > 1:
            self.feature("attached around two readers")
        self.own_loops(stage, [None] * len(stage.shape))
        if stage.reductions and not stage.tile and rng.random() < 0.5:
            self.reductions.attached(stage)
        if actual == "shared":
            self.cooperate(stage)
        elif rng.random() < 0.15:
            self.bind_to_own_threads(stage)
        if len(stage.shape) > 1 and rng.random() < 0.2:
            self.align(stage)
        self.annotate(stage)
        if is_fragment:
            for each in list(stage.loops.loops):
                if not each.taken:
                    stage.loops.annotate(each, "unroll")

    def may_be_fragment(self, stage: Stage, depth: int) -> bool:
        """Return whether all elements are known: a reader has no loop inside, a tile no calls."""
        readers = self.computation.effective_readers(stage)
        return all(len(each.path()) == depth for each in readers) and stage.tile is None

    def bind_to_own_threads(self, stage: Stage) -> None:
        """Bind loops of a local stage; each thread still computes all of its own local memory."""
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
            unused = [t for t in tags if not stage.loops.binds(t) and threads.get(t) != 0]
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

    def annotate(self, stage: Stage) -> None:
        rng, loops = self.rng, stage.loops
        for loop in list(loops.loops):
            known = loop.extent is not None and loop.extent <= 4
            if loop.taken or loop.lane or not self.computation.is_constant(loop):
                continue
            if known and rng.random() < 0.2:
                loops.annotate(loop, "unroll")
            elif not loop.reduction and rng.random() < 0.1:
                loops.annotate(loop, "vectorize")
        inner = loops.loops[-1] if loops.loops else None
        free = (
            inner
            and not inner.taken
            and not inner.reduction
            and self.computation.is_constant(inner)
        )
        if free and rng.random() < 0.3:
            loops.annotate(inner, "vectorize")


def same(a: tuple[Stage, Loop], b: tuple[Stage, Loop]) -> bool:
    return a[0] is b[0] and a[1] is b[1]


def leave_tile(script: Script, stage: Stage) -> None:
    """Split the tile of a tensor intrinsic off the loops; the outer loops remain for directives."""
    loops, tile = stage.loops, stage.tile
    if tile is None or tile.called:
        return
    data, steps = loops.data(), [each for each in loops.loops if each.reduction]
    inner = []
    for axis, length in [
        *zip(data[len(data) - len(tile.data) :], tile.data, strict=True),
        *zip(steps, tile.reduction, strict=True),
    ]:
        inner.append(loops.split(axis, factor=length)[1])
    outer = [each for each in loops.loops if each not in inner]
    loops.reorder([*outer, *inner])
    if tile.intrinsic:
        script.add(f"{loops.stage}.tensorize({inner[0].name}, {tile.intrinsic})")
        script.features.add("tensorize")
    loops.loops = outer
