"""Directives that depend on all attachments: pipelining, double buffers, store predicates."""

from __future__ import annotations

import random

from .computation import Computation
from .script import Script
from .shared_reductions import guards_of
from .stage import Stage


class LateDirectives:
    """Writes pipelining, double buffers and store predicates, after all attachments."""

    def __init__(
        self,
        rng: random.Random,
        script: Script,
        computation: Computation,
        threads: dict[Stage, dict[str, int]],
    ) -> None:
        self.rng = rng
        self.script = script
        self.computation = computation
        self.threads = threads  # by root stage of a kernel: the extent of each thread axis

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(name)

    def make(self) -> None:
        """Write directives for randomly chosen stages."""
        for stage in self.computation.stages:
            if stage.host is not None and self.rng.random() < 0.25:
                self.double_buffer(stage)
            elif stage.host is not None and not stage.tile and self.rng.random() < 0.15:
                self.pipeline(stage)
            if stage.loops is not None and stage.loops.loops and self.rng.random() < 0.1:
                self.unroll_automatically(stage)
            if stage.loops is not None and stage.loops.loops:
                self.prefetch(stage)
        for stage in self.computation.stages:
            if stage.loops is not None and self.rng.random() < 0.15:
                self.split_late(stage)
            if stage in self.threads and self.rng.random() < 0.4:
                self.predicate(stage)
            if stage.tile is not None and stage.tile.intrinsic and stage.tile.text:
                axis = f"s[{stage.var}].leaf_iter_vars[0]"
                self.script.add(f's[{stage.var}].pragma({axis}, "import_c", {stage.tile.text})')

    def split_late(self, stage: Stage) -> None:
        """Split a loop to which stages are attached; the stages move to the loop's inner part."""
        free = stage.loops.free()
        hosted = [s for s in self.computation.stages if s.host is stage]
        if any(s.tile for s in hosted):  # their tiles must stay whole
            return
        hosting = [s.enclosing[-1][1] for s in hosted]
        loops = [each for each in free if each in hosting]
        if loops:
            stage.loops.split(self.rng.choice(loops), factor=self.rng.randint(1, 4))
            self.feature("split after others were attached")

    def predicate(self, stage: Stage) -> None:
        """Choose one of the threads that compute the same element to store it."""
        repeating = {
            tag: extent
            for tag, extent in self.threads[stage].items()
            if extent and not stage.loops.binds(tag)
        }
        shared = any(each.reduction and each.tag for each in stage.loops.loops)
        if repeating and not (shared or stage.scope or stage.bound_scope):
            tests = [
                f'te.thread_axis("{tag}").var.equal({self.rng.randrange(extent)})'
                for tag, extent in repeating.items()
            ]
            guards = guards_of(stage)
            if guards and self.rng.random() < 0.5:
                tests.append(self.rng.choice(guards))
                self.feature("a store predicate with the guard of a block")
            test = tests[0] if len(tests) == 1 else f"te.all({', '.join(tests)})"
            self.script.add(f"s[{stage.var}].set_store_predicate({test})")
            self.feature("a store predicate of a reader")

    def double_buffer(self, stage: Stage) -> None:
        """Write double_buffer, unless a stage would then run ahead of a stage that it reads."""
        inside = [stage] + [
            each
            for each in self.computation.stages
            if any(host is stage for host, _ in each.enclosing)
        ]
        inputs = [source for each in inside for source in self.computation.effective_inputs(each)]
        hosted = [each for each in inputs if each.host is not None]
        loop = stage.enclosing[-1][1]
        if self.computation.is_constant(loop) and all(
            each.enclosing[-1][1] is not loop for each in hosted
        ):
            self.script.add(f"s[{stage.var}].double_buffer()")
            stage.ahead = True
            self.feature("double_buffer")

    def pipeline(self, stage: Stage) -> None:
        """Pipeline a copy ahead of a serial loop of its only reader."""
        host, loop = stage.enclosing[-1]
        readers = set(self.computation.effective_readers(stage))
        is_copy = not (stage.reductions or stage.several) and len(readers) == 1
        inputs = [
            each for each in self.computation.effective_inputs(stage) if each.host is not None
        ]
        outer = all(each.enclosing[-1][1] is not loop for each in inputs)
        if is_copy and outer and not loop.taken and self.computation.is_constant(loop):
            self.script.add(f"s[{stage.var}].pipeline({self.rng.choice([2, 2, 3])})")
            stage.ahead = True
            self.feature("pipeline")
            few = loop.extent is not None and loop.extent <= 6
            if few and self.rng.random() < 0.4:  # if unrolled, the last iterations fetch nothing
                host.loops.annotate(loop, "unroll")
                self.feature("pipeline of an unrolled loop")

    def unroll_automatically(self, stage: Stage) -> None:
        """Unroll loops of few steps, from a random loop of the stage inwards."""
        loop = self.rng.choice(stage.loops.loops)
        steps = self.rng.choice([1, 4, 16, 64])
        self.script.add(f's[{stage.var}].pragma({loop.name}, "auto_unroll_max_step", {steps})')
        self.feature("auto_unroll_max_step")

    def prefetch(self, stage: Stage) -> None:
        """Prefetch an input of some stages, which has an effect on processors.

        The choices have a generator of their own, so that those of a seed are as before.
        """
        rng = random.Random(len(self.script.text()))
        inputs = self.computation.effective_inputs(stage)
        if not inputs or rng.random() >= 0.15:
            return
        loop, source = rng.choice(stage.loops.loops), rng.choice(inputs)
        offset = rng.choice([0, 1, 2, 100])
        self.script.add(f"s[{stage.var}].prefetch({source.var}, {loop.name}, {offset})")
        self.feature("prefetch")
