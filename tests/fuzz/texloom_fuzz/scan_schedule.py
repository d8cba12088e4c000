"""Random schedules of scans: the threads of a step, and the attachment of its stages.

All stages of a step divide its columns among threads in the same way, because they may share a
kernel. Threads of one block may exchange columns. Across blocks, a step that mixes columns becomes
a launch, in which every stage must bind its own threads.
"""

from __future__ import annotations

import random

from .extents import Extent, most_elements
from .loop_directives import StageLoops
from .script import Script
from .stage import Part, Scan, Stage, State


class ScanSchedule:
    """Writes the directives of one scan."""

    def __init__(self, rng: random.Random, script: Script, scan: Scan, *, whole: bool) -> None:
        self.rng, self.script, self.scan = rng, script, scan
        self.whole = whole  # whether the whole result is needed
        self.blocks = rng.random() < 0.5
        self.threads = rng.choice([1, 2, 3, 4, 8])
        # The tag for the columns that remain after the threads along x are bound.
        self.rest = "blockIdx.x" if self.blocks else rng.choice(["", "", "vthread", "threadIdx.y"])
        if not scan.is_constant and not self.blocks:
            self.rest = ""
        self.fuses = rng.random() < 0.6

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(f"scan: {name}")

    def make(self) -> None:
        """Schedule all stages of the scan."""
        self.feature("columns among blocks" if self.blocks else "columns in one block")
        for state in self.scan.states:
            self.place_init(state.init)
        if not self.blocks and self.scan.is_constant:
            self.cache_rows()
        for state in self.scan.states:
            self.place_step(state)
        if self.rng.random() < 0.1:
            axis = f"s[{self.scan.var}].op.scan_axis"
            self.script.add(f's[{self.scan.var}].pragma({axis}, "auto_unroll_max_step", 8)')

    def place_init(self, init: Part) -> None:
        """Schedule the init, in a separate kernel."""
        rows = f"s[{init.var}]"
        extents: list[Extent | None] = [None, *init.columns]
        loops = StageLoops.of(self.script, rows, init.var.lower(), extents, exact=False)
        loops.random_splits(self.rng, chance=0.3)
        if self.rng.random() < 0.4:
            loops.random_reorder(self.rng)
        loops.random_binds(self.rng)

    # -- Steps.

    def cache_rows(self) -> None:
        """Cache earlier rows, and rows of the source, in shared memory."""
        for state in self.scan.states:
            readers = [p.var for p in self.parts() if state.var in p.reads]
            if readers and self.rng.random() < 0.25:
                self.feature("the row before in shared memory")
                cache = self.script.name("rowc")
                names = ", ".join(readers)
                self.script.add(f'{cache} = s.cache_read({state.var}, "shared", [{names}])')
                self.share(cache, state.update.columns)
        source = self.scan.source
        readers = [p.var for p in self.parts() if source.var in p.reads]
        if readers and source.shape and self.parts()[0].columns and self.rng.random() < 0.25:
            self.cache_source(source, readers)

    def cache_source(self, source: Stage, readers: list[str]) -> None:
        """Let all threads fetch the part of the source that a step reads."""
        self.feature("the source in shared memory")
        cache, fused = self.script.name(f"{source.var}c"), self.script.name("f")
        outer, add = self.script.name(f"{fused}o"), self.script.add
        add(f'{cache} = s.cache_read({source.var}, "shared", [{", ".join(readers)}])')
        add(f"s[{cache}].compute_at(s[{self.scan.var}], s[{self.scan.var}].op.scan_axis)")
        add(f"{fused} = s[{cache}].fuse(*s[{cache}].op.axis)")
        add(f"{outer}, _ = s[{cache}].split({fused}, nparts={self.threads})")
        self.bind(f"s[{cache}]", outer, "threadIdx.x")

    def parts(self) -> list[Part]:
        """Schedule the stages of the steps."""
        found = [state.update for state in self.scan.states]
        return found + [state.middle for state in self.scan.states if state.middle is not None]

    def place_step(self, state: State) -> None:
        """Schedule the update, and the stages it reads."""
        update, cache = state.update.var, ""
        if self.rng.random() < 0.3:
            self.feature("cache_write of an update")
            cache = self.script.name(f"{update}l")
            self.script.add(f'{cache} = s.cache_write({update}, "local")')
        innermost = self.share(update, state.update.columns)
        if cache:
            self.script.add(f"s[{cache}].compute_at(s[{update}], {innermost})")
        if state.middle is not None:
            self.place_middle(state.middle, cache or update, update, innermost)

    def place_middle(self, middle: Part, reader: str, host: str, loop: str) -> None:
        """Inline a stage, attach it, put it in shared memory, or give it a launch."""
        several_blocks = self.blocks and self.scan.is_constant and self.whole
        several_blocks = several_blocks and most_elements(middle.columns) > self.threads
        choices = ["inside"]
        if not middle.reductions:
            choices.append("inline")
        if several_blocks and middle.reductions and reader == host:
            choices.append("launch")  # each block reads values of other blocks
        if not self.blocks and self.scan.is_constant:
            choices += ["shared", "shared"]
        how = self.rng.choice(choices)
        self.feature(f"a stage of a step {how}")
        if how == "inline":
            self.script.add(f"s[{middle.var}].compute_inline()")
        elif how == "inside":
            partial = ""
            if middle.reductions and self.rng.random() < 0.3:
                partial = self.rfactor(middle)
            for var in [middle.var, *([partial] if partial else [])]:
                self.script.add(f"s[{var}].compute_at(s[{host}], {loop})")
        else:
            if how == "shared":
                self.script.add(f's[{middle.var}].set_scope("shared")')
            self.share(middle.var, middle.columns)

    def rfactor(self, middle: Part) -> str:
        """Compute partial results of all steps of a row, or of every second step."""
        self.feature("rfactor")
        self.script.keeps_order = False
        var, inner = self.script.name(f"{middle.var}f"), f"s[{middle.var}].op.reduce_axis[0]"
        if self.rng.random() < 0.5:
            inner = self.script.name("ki")
            axis = f"s[{middle.var}].op.reduce_axis[0]"
            self.script.add(f"_, {inner} = s[{middle.var}].split({axis}, factor=2)")
        self.script.add(f"{var} = s.rfactor({middle.var}, {inner})")
        return var

    def share(self, var: str, columns: list[Extent]) -> str:
        """Bind the columns; return the innermost loop over them."""
        stage, name, add = f"s[{var}]", self.script.name, self.script.add
        if not columns:
            unit = name("unit")
            add(f"{unit} = {stage}.fuse()")
            self.bind(stage, unit, "threadIdx.x")
            return unit
        axes = [name(f"{var.lower()}{n}") for n in range(len(columns))]
        add(f"{', '.join(axes)}, = list({stage}.op.axis)[1:]")
        last = axes[-1]
        if len(axes) > 1 and self.fuses:
            last = name("f")
            add(f"{last} = {stage}.fuse({', '.join(axes)})")
        outer, inner = name(f"{last}o"), name(f"{last}i")
        add(f"{outer}, {inner} = {stage}.split({last}, factor={self.threads})")
        if self.rest == "threadIdx.y":  # nparts makes the extent constant for any part of a row
            whole, outer = outer, name(f"{last}y")
            add(f"{outer}, _ = {stage}.split({whole}, nparts=2)")
        if self.rest:
            self.bind(stage, outer, self.rest)
        self.bind(stage, inner, "threadIdx.x")
        return inner

    def bind(self, stage: str, loop: str, tag: str) -> None:
        """Bind the loop to threads."""
        self.script.add(f'{stage}.bind({loop}, te.thread_axis("{tag}"))')
