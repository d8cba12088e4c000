"""Random caches of a computation's tensors, and partial reductions: new stages."""

from __future__ import annotations

import random
from dataclasses import replace

from .computation import Computation
from .extents import Extent, Shape, extent
from .script import Script
from .stage import Stage


class Caches:
    """Writes caches, and adds their stages to those of the computation."""

    def __init__(self, rng: random.Random, script: Script, computation: Computation) -> None:
        self.rng = rng
        self.script = script
        self.computation = computation

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(name)

    def make(self) -> None:
        """Draw caches for random stages."""
        rng = self.rng
        for stage in list(self.computation.stages):
            if stage.is_input or stage.several or stage.has_own_kernels:
                continue
            if stage.tile is not None:
                if not stage.tile.called and rng.random() < 0.4:
                    self.tile_cache(stage)
                continue
            if stage.reductions and rng.random() < 0.2:
                self.rfactor(stage)
            if rng.random() < 0.25:
                moves = stage.shape and stage.region is None and rng.random() < 0.4
                self.cache_write(stage, self.relayout(stage) if moves else stage.shape)
        stages = [s for s in self.computation.stages if not (s.several or (s.narrow and s.tile))]
        sources = [s for s in stages if self.named_readers(s)]
        for source in rng.sample(sources, min(len(sources), rng.randint(0, 2))):
            readers = self.named_readers(source)
            if rng.random() < 0.3:
                readers = [rng.choice(readers)]
            cache = self.cache_read(source, readers)
            if rng.random() < 0.25:
                self.feature("a cache of a cache")
                self.cache_read(cache, readers)

    def named_readers(self, source: Stage) -> list[Stage]:
        """Return the readers that a directive may name: all but scans and products."""
        readers = self.computation.readers_of(source)
        return [s for s in readers if s.scan is None and s.product is None]

    def cache_read(self, source: Stage, readers: list[Stage]) -> Stage:
        """Add a stage that readers read instead of the source."""
        var = self.script.name(source.var + "c")
        line = len(self.script.lines)
        names = ", ".join(r.var for r in readers)
        self.script.add(f'{var} = s.cache_read({source.var}, "{{scope}}", [{names}])')
        self.feature(f"cache_read for {len(readers)} readers")
        cache = Stage(var, source.shape, source.dtype, [source], is_cache=True, line=line)
        cache.row_major = source.row_major
        for reader in readers:
            reader.inputs = [cache if i is source else i for i in reader.inputs]
        self.computation.stages.insert(self.computation.stages.index(source) + 1, cache)
        return cache

    def tile_cache(self, stage: Stage) -> None:
        """Cache tiles, which are computed one by one and stored by loops."""
        cache = self.cache_write(stage, stage.shape)
        self.feature("tiles in a cache")
        cache.tile, cache.row_major = stage.tile, True
        stage.tile = replace(stage.tile, intrinsic="", reduction=())

    def cache_write(self, stage: Stage, shape: Shape) -> Stage:
        """Add and return a stage that computes the values; the old stage then only stores them.

        The new stage has axes of these extents.
        """
        var, line = self.script.name(stage.var + "l"), len(self.script.lines)
        self.script.add(f'{var} = s.cache_write({stage.var}, "{{scope}}")')
        self.feature("cache_write")
        cache = Stage(var, shape, stage.dtype, stage.inputs, stage.reductions)
        cache.conditional = stage.conditional
        cache.is_cache, cache.line, cache.narrow = True, line, True
        stage.inputs, stage.reductions = [cache], []
        self.computation.stages.insert(self.computation.stages.index(stage), cache)
        return cache

    def rfactor(self, stage: Stage) -> None:
        """Compute partial results along a reduction axis, or along a part of one."""
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
            rest = [*rest, count.ceil_div(factor)]
            count = part_of(count, factor)
        place = rng.randrange(len(stage.shape) + 1)
        var = self.script.name(stage.var + "f")
        self.script.add(f"{var} = s.rfactor({stage.var}, {axis}, {place})")
        self.feature("rfactor")
        self.script.keeps_order = False
        shape = [*stage.shape[:place], count, *stage.shape[place:]]
        partial = Stage(var, shape, stage.dtype, stage.inputs, rest, is_cache=True)
        partial.conditional = stage.conditional
        stage.inputs, stage.reductions, stage.factored = [partial], [count], True
        self.computation.stages.insert(self.computation.stages.index(stage), partial)

    def relayout(self, stage: Stage) -> Shape:
        """Schedule loops before cache_write; return the extents of the cache's axes."""
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
        shape[at : at + 1] = [shape[at].ceil_div(size), part_of(shape[at], size)]
        if rng.random() < 0.5:
            order = rng.sample(range(len(names)), len(names))
            self.script.add(f"s[{stage.var}].reorder({', '.join(names[i] for i in order)})")
            shape = [shape[i] for i in order]
        return shape


def part_of(length: Extent, factor: int) -> Extent:
    """Return the inner extent of a split, which shrinks if the whole is known to be shorter."""
    return extent(factor if length.is_symbolic else min(length.most, factor))
