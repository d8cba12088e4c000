"""Random reductions that threads share, and which of the threads stores a result."""

from __future__ import annotations

import random

from .extents import is_constant
from .loop_directives import MAX_THREADS, THREAD_TAGS, Loop, StageLoops
from .script import Script
from .stage import Stage


class SharedReductions:
    """Binds reduction axes to threads."""

    def __init__(
        self, rng: random.Random, script: Script, threads: dict[Stage, dict[str, int]]
    ) -> None:
        self.rng = rng
        self.script = script
        self.threads = threads  # by root stage of a kernel: the extent of each thread axis, or 0

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(name)

    def at_root(self, stage: Stage) -> None:
        """Bind threads along an axis that is still free."""
        threads = self.threads[stage]
        tag = next((t for t in THREAD_TAGS[:2] if t not in threads), None)
        loop = self.bind(stage, tag, room_beside(threads)) if tag else None
        if loop is not None:
            threads[tag] = loop.extent
            if self.rng.random() < 0.5:
                self.predicate(stage, tag, loop.extent)

    def rows_of_blocks(self, stage: Stage) -> None:
        """Give each row of threads an element; the row's threads share its steps, as in TVM's topi.

        The steps may be those of a stage that the elements read.
        """
        loops, rng = stage.loops, self.rng
        while len(data := loops.data()) > 1:
            loops.fuse(data[0], data[1])
        outer, inner = loops.split(data[0], factor=rng.randint(2, 6))
        loops.bind(outer, rng.choice(["blockIdx.x", "blockIdx.x", "blockIdx.y"]))
        loops.bind(inner, "threadIdx.y")
        self.threads[stage] = {"threadIdx.y": inner.extent}
        self.feature("an element for each row of a block")
        if stage.reductions:
            self.at_root(stage)

    def attached(self, stage: Stage) -> None:
        """Let threads of the enclosing kernel share the reduction of the stage."""
        rng, threads = self.rng, self.threads[stage.root()]
        around = {each.tag for _, each in stage.enclosing if each.tag.startswith("thread")}
        tags = [t for t in THREAD_TAGS if threads.get(t, 1)]
        if stage.attached_scope == "local":  # threads along this axis have different elements
            tags = [t for t in tags if t not in around]
        if not tags:
            return
        own = [t for t in tags if t in around]
        tag = rng.choice(own if own and rng.random() < 0.8 else tags)
        room = room_beside({t: n for t, n in threads.items() if t != tag})
        loop = self.bind(stage, tag, room, threads.get(tag, 0))
        if loop is None:
            return
        threads[tag] = loop.extent
        self.feature(f"a reduction over threads, {stage.attached_scope}, inside its reader")
        if tag in around:
            self.feature("a reduction over the threads of a loop around it")
        if rng.random() < 0.5:
            self.predicate(stage, tag, loop.extent)

    def bind(self, stage: Stage, tag: str, room: int, count: int = 0) -> Loop | None:
        """Bind a reduction loop inside all data loops; a nonzero `count` is its number of steps."""
        loops = stage.loops
        free = [each for each in loops.free() if each.reduction and each.extent]
        if not count:
            free = [each for each in free if each.extent <= room]
        if not free:
            return None
        order = loops.data() + [each for each in loops.loops if each.reduction]
        if order != loops.loops:
            loops.reorder(order)
        loop = self.rng.choice(free)
        if count and (loop.extent != count or not loop.exact):
            loop = self.part(loops, loop, count)
        loops.bind(loop, tag)
        self.feature("a reduction over threads")
        if stage.factored:
            self.feature("a reduction over threads of partial results")
        self.script.keeps_order = False
        return loop

    def part(self, loops: StageLoops, loop: Loop, count: int) -> Loop:
        """Split a part of this many steps off a loop."""
        if self.rng.random() < 0.5:
            return loops.split(loop, nparts=count)[0]
        return loops.split(loop, factor=count)[1]

    def predicate(self, stage: Stage, tag: str, count: int) -> None:
        """Choose one of the threads that share the reduction, and perhaps repeat a loop's guard.

        A guard on the same thread axis may only be repeated if the first thread stores: in the last
        block, the guard may be false for the other threads.
        """
        rng = self.rng
        thread, storing = f'te.thread_axis("{tag}")', rng.randrange(count)
        parts = [f"{thread}.var.equal({storing})"]
        if rng.random() < 0.5:
            parts, storing = [f"{thread} < 1"], 0
        guards = [each for each in guards_of(stage) if storing == 0 or thread not in each]
        if guards and rng.random() < 0.6:
            parts.append(rng.choice(guards))
            self.feature("a store predicate with the guard of a block")
        where = "" if stage.host is None else " inside its reader"
        self.feature(f"a store predicate of a reduction{where}")
        test = parts[0] if len(parts) == 1 else f"te.all({', '.join(parts)})"
        self.script.add(f"s[{stage.var}].set_store_predicate({test})")


def room_beside(threads: dict[str, int]) -> int:
    """Return how many threads there may be along another axis."""
    room = MAX_THREADS
    for count in threads.values():
        room //= count or 16
    return room


def may_have_rows_of_blocks(stage: Stage) -> bool:
    """Whether the elements of a stage at the root can be given to rows of threads."""
    constant = is_constant([*stage.shape, *stage.reductions])
    return bool(stage.shape) and constant and not (stage.tile or stage.texture)


def guards_of(stage: Stage) -> list[str]:
    """Return conditions on blocks and threads that hold for all elements of the stage.

    They repeat the guards of splits whose two parts are bound to a block axis and a thread axis.
    """
    tags = {loop.name: loop.tag for _, loop in stage.path()}
    guards = []
    for _, loop in stage.path():
        if not loop.split_from or not loop.tag.startswith("thread"):
            continue
        outer, factor, extent = loop.split_from
        block = tags.get(outer, "")
        if block.startswith("block"):
            x, y = f'te.thread_axis("{block}")', f'te.thread_axis("{loop.tag}")'
            guards.append(f"{x} * {factor} + {y} < {extent}")
    return guards
