"""Random directives on the loops of one stage, written into a script.

The directives are legal: threads stay within limits, and lanes of a texture stay together; split
factors need not divide.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .extents import Extent
from .script import Script

BLOCK_TAGS = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
THREAD_TAGS = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
MAX_THREADS = 256


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(eq=False)
class Loop:
    """A leaf axis; the extent is None if only bound inference knows it.

    A known extent is an upper bound; `exact` says whether a thread axis would have that extent.
    """

    name: str
    extent: int | None
    reduction: bool = False
    lane: bool = False  # consecutive values are lanes of one texel, if the stage is a texture
    symbolic: bool = False  # only a call tells the extent
    exact: bool = True
    tag: str = ""  # of the thread axis that the loop is bound to
    taken: bool = False  # bound or annotated: must not be split or fused
    split_from: tuple[str, int, int] | None = None  # the outer part, the factor, and the whole
    order: tuple[int, ...] = ()  # for reduction loops: if sorted, the sum keeps its order


def loop_of(name: str, extent: Extent | None) -> Loop:
    """A loop over an axis, whose extent may be unknown."""
    if extent is None:
        return Loop(name, None)
    return Loop(name, extent.constant, symbolic=extent.is_symbolic)


class StageLoops:
    """The loops of the stage that a script calls `stage`, for example ``s[Y]``."""

    def __init__(self, script: Script, stage: str, loops: list[Loop]) -> None:
        self.script = script
        self.stage = stage
        self.loops = loops
        self.whole = True  # no split is known to be partial

    @classmethod
    def of(
        cls,
        script: Script,
        stage: str,
        stem: str,
        extents: list[Extent | None],
        reductions: list[Extent] | None = None,
        *,
        texture: bool = False,
        exact: bool = True,
    ) -> StageLoops:
        """Write the lines that name the stage's axes; return their loops."""
        loops = [loop_of(script.name(f"{stem}{i}"), n) for i, n in enumerate(extents)]
        for each in loops:
            each.exact = exact
        if loops:
            loops[-1].lane = texture
            script.add(f"{', '.join(each.name for each in loops)}, = {stage}.op.axis")
        reduce_loops = [
            loop_of(script.name(f"{stem}k{i}"), n) for i, n in enumerate(reductions or [])
        ]
        for i, each in enumerate(reduce_loops):
            each.reduction, each.order = True, (i,)
        if reduce_loops:
            script.add(f"{', '.join(each.name for each in reduce_loops)}, = {stage}.op.reduce_axis")
        return cls(script, stage, loops + reduce_loops)

    # -- Single directives.

    def split(
        self, loop: Loop, *, factor: int | None = None, nparts: int | None = None
    ) -> tuple[Loop, Loop]:
        if loop.extent is None or loop.extent % (factor or nparts):
            self.whole = False
        # A part shrinks with its parent loop, except if the part or one of its own parts is bound.
        outer = Loop(self.script.name(loop.name + "o"), nparts, loop.reduction)
        inner = Loop(self.script.name(loop.name + "i"), factor, loop.reduction, loop.lane)
        outer.order, inner.order = (*loop.order, 0), (*loop.order, 1)
        outer.symbolic, inner.symbolic = loop.symbolic and not nparts, loop.symbolic and not factor
        if loop.extent is not None:
            outer.extent = nparts or ceil_div(loop.extent, factor)
            inner.extent = factor or ceil_div(loop.extent, nparts)
            outer.exact, inner.exact = loop.exact or bool(nparts), loop.exact or bool(factor)
            if loop.extent % (factor or nparts):
                self.script.features.add("split that does not divide")
            if factor:
                inner.split_from = (outer.name, factor, loop.extent)
        how = f"factor={factor}" if factor is not None else f"nparts={nparts}"
        self.script.add(f"{outer.name}, {inner.name} = {self.stage}.split({loop.name}, {how})")
        at = self.loops.index(loop)
        self.loops[at : at + 1] = [outer, inner]
        self.script.features.add("split")
        return outer, inner

    def tile(self, x: Loop, y: Loop, fx: int, fy: int) -> None:
        names = [
            self.script.name(n) for n in (x.name + "o", y.name + "o", x.name + "i", y.name + "i")
        ]
        self.script.add(f"{', '.join(names)} = {self.stage}.tile({x.name}, {y.name}, {fx}, {fy})")
        extents = [
            x.extent and ceil_div(x.extent, fx),
            y.extent and ceil_div(y.extent, fy),
            fx,
            fy,
        ]
        exact = [x.exact, y.exact, True, True]
        made = [Loop(n, e, exact=k) for n, e, k in zip(names, extents, exact, strict=True)]
        made[0].symbolic, made[1].symbolic = x.symbolic, y.symbolic
        made[3].lane = y.lane
        if any(each.extent is None or each.extent % n for each, n in ((x, fx), (y, fy))):
            self.whole = False
        # `x` and `y` are adjacent, so the four parts take their two places.
        at = self.loops.index(x)
        self.loops[at : at + 2] = made
        self.script.features.add("tile")

    def fuse(self, outer: Loop, inner: Loop) -> Loop:
        extent = None if None in (outer.extent, inner.extent) else outer.extent * inner.extent
        exact = outer.exact and inner.exact
        fused = Loop(self.script.name("f"), extent, outer.reduction, exact=exact)
        fused.order = outer.order
        fused.symbolic, fused.lane = outer.symbolic or inner.symbolic, inner.lane
        self.script.add(f"{fused.name} = {self.stage}.fuse({outer.name}, {inner.name})")
        at = self.loops.index(outer)
        self.loops[at : at + 2] = [fused]
        self.script.features.add("fuse")
        return fused

    def reorder(self, loops: list[Loop]) -> None:
        self.script.add(f"{self.stage}.reorder({', '.join(each.name for each in loops)})")
        places = sorted(self.loops.index(each) for each in loops)
        for place, loop in zip(places, loops, strict=True):
            self.loops[place] = loop
        orders = [each.order for each in self.loops if each.reduction]
        if orders != sorted(orders):
            self.script.keeps_order = False
        self.script.features.add("reorder")

    def bind(self, loop: Loop, tag: str) -> None:
        self.script.add(f'{self.stage}.bind({loop.name}, te.thread_axis("{tag}"))')
        loop.taken, loop.tag = True, tag
        self.script.features.add(f"bind {tag}")

    def annotate(self, loop: Loop, directive: str) -> None:
        self.script.add(f"{self.stage}.{directive}({loop.name})")
        loop.taken = True
        self.script.features.add(directive)

    # -- Random directives.

    def data(self) -> list[Loop]:
        return [each for each in self.loops if not each.reduction]

    def binds(self, tag: str) -> bool:
        """Whether one of the loops is bound to these threads."""
        return any(each.tag == tag for each in self.loops)

    def free(self) -> list[Loop]:
        """Return the loops that may be split, fused and bound."""
        return [each for each in self.loops if not each.taken and not each.lane]

    def random_splits(self, rng: random.Random, chance: float = 0.5) -> None:
        pair = [each for each in self.data() if not each.lane and not each.taken]
        if len(pair) >= 2 and rng.random() < 0.25:
            at = rng.randrange(len(pair) - 1)
            if self.loops.index(pair[at]) + 1 == self.loops.index(pair[at + 1]):
                self.tile(pair[at], pair[at + 1], rng.randint(1, 4), rng.randint(1, 4))
                return
        for loop in self.free():
            if rng.random() >= chance:
                continue
            size = rng.randint(1, 5)
            if rng.random() < 0.7:
                self.split(loop, factor=size)
            else:
                self.split(loop, nparts=size)

    def random_fuse(self, rng: random.Random) -> None:
        pairs = [
            (a, b)
            for a, b in zip(self.loops, self.loops[1:], strict=False)
            if not (a.lane or b.lane or a.taken or b.taken) and a.reduction == b.reduction
        ]
        if pairs:
            self.fuse(*rng.choice(pairs))

    def fuse_lanes(self) -> None:
        """Fuse lanes with the enclosing loop if the lanes are whole texels."""
        for outer, lanes in zip(self.loops, self.loops[1:], strict=False):
            whole = lanes.lane and lanes.extent and lanes.exact and lanes.extent % 4 == 0
            if whole and not (lanes.symbolic or outer.reduction or outer.taken):
                self.fuse(outer, lanes)
                self.script.features.add("lanes fused with the loop around them")
                return

    def random_reorder(self, rng: random.Random, *, among: list[Loop] | None = None) -> None:
        loops = list(self.loops if among is None else among)
        if len(loops) < 2:
            return
        rng.shuffle(loops)
        self.reorder(loops)

    def random_binds(self, rng: random.Random, *, most: int = 4) -> list[Loop]:
        """Bind at least one loop; block and thread axes in any order, threads within the limit."""
        loops = [each for each in self.free() if not each.reduction]
        if not loops:
            raise ValueError("no loop to bind")
        chosen = rng.sample(loops, rng.randint(1, min(most, len(loops))))
        blocks, threads = list(BLOCK_TAGS), list(THREAD_TAGS)
        if rng.random() < 0.3:
            rng.shuffle(blocks)
            rng.shuffle(threads)
        room = MAX_THREADS
        for loop in sorted(chosen, key=self.loops.index):
            fits = loop.extent is not None and loop.extent <= room
            if threads and fits and rng.random() < 0.5:
                room //= loop.extent
                self.bind(loop, threads.pop(0))
            elif blocks:
                self.bind(loop, blocks.pop(0))
        self.random_virtual_threads(rng)
        return chosen

    def random_virtual_threads(self, rng: random.Random) -> None:
        for loop in [each for each in self.free() if not each.reduction]:
            if loop.extent is not None and loop.extent <= 6 and rng.random() < 0.15:
                self.bind(loop, "vthread")
