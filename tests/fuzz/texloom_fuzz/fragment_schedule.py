"""Random schedules of products by matrix fragments."""

from __future__ import annotations

import random

from .fragment_products import SIDE
from .script import Script
from .stage import Product, Stage

THREADS = 32  # of a SIMD-group, along threadIdx.x


class FragmentSchedule:
    """Writes the directives of one product, and of the stages of its kernels."""

    def __init__(self, rng: random.Random, script: Script, stage: Stage) -> None:
        assert stage.product is not None
        self.rng, self.script, self.stage = rng, script, stage
        self.product: Product = stage.product
        self.tile = self.product.tile
        self.groups = self.tile.groups[0] * self.tile.groups[1] * self.tile.slices

    def feature(self, name: str) -> None:
        """Record a feature."""
        self.script.features.add(f"fragments: {name}")

    def make(self) -> None:
        """Schedule all kernels of the product."""
        p, add = self.product, self.script.add
        for var in p.inlined:
            add(f"s[{var}].compute_inline()")
        left, right, product = (self.script.name(name) for name in ("left", "right", "sums"))
        multiples = self.tile.multiples
        lists = ", ".join(f"[{', '.join(axes)}]" for axes in (p.rows, p.columns, p.steps))
        add(f"{left}, {right}, {product} = s.matrices({p.sums}, {lists}, {multiples})")
        if any(own % most for own, most in zip(p.extents, multiples, strict=True)):
            self.feature("zeros after the ends")
        if p.sums != self.stage.var:
            add(f"s[{p.sums}].compute_inline()")
        for tile, name in (
            (self.tile.parts, "fragments of a SIMD-group"),
            (self.tile.groups, "SIMD-groups"),
        ):
            if max(tile) > 1:
                self.feature(f"several {name}")
        if self.tile.pieces > 1:
            self.pieces(product, [left, right])
        elif p.stores:
            self.stored_directly(product, [left, right])
        else:
            self.in_shared_memory(product, [left, right])

    # -- Kernels.

    def pieces(self, product: str, factors: list[str]) -> None:
        """Sum pieces of the steps in a kernel of its own, and add these up in a second one."""
        self.feature("pieces")
        add, name = self.script.add, self.script.name
        piece, parts = name("piece"), name("parts")
        add(f"{piece}, _ = s[{product}].split(s[{product}].op.reduce_axis[0], nparts=2)")
        add(f"{parts} = s.rfactor({product}, {piece})")
        local = name("local")
        add(f'{local} = s.cache_write({parts}, "fragment")')
        *others, row, column = self.axes_of_sums(parts)
        self.accumulate(local, factors, self.own_kernel(parts, others, row, column), "")
        if self.rng.random() < 0.5:
            thread = self.elements()
            add(f's[{product}].set_scope("local")')
            add(f"s[{product}].compute_at(s[{self.stage.var}], {thread})")
            return
        self.elements()
        fused, block, thread = name("f"), name("fo"), name("fi")
        add(f"{fused} = s[{product}].fuse(*s[{product}].op.axis)")
        add(f"{block}, {thread} = s[{product}].split({fused}, {self.rng.choice([8, 32])})")
        self.bind(product, block, "blockIdx.x")
        self.bind(product, thread, "threadIdx.x")

    def stored_directly(self, product: str, factors: list[str]) -> None:
        """Store fragments to the result."""
        self.feature("stored to the result")
        var, add = self.stage.var, self.script.add
        add(f's[{product}].set_scope("fragment")')
        rows, column = self.product.written
        others = [f"s[{var}].op.axis[{at}]" for at in range(rows[0])]
        row, column = f"s[{var}].op.axis[{rows[0]}]", f"s[{var}].op.axis[{column}]"
        self.accumulate(product, factors, self.own_kernel(var, others, row, column), "")

    def in_shared_memory(self, product: str, factors: list[str]) -> None:
        """Store fragments to shared memory, from where threads read their elements."""
        add, name = self.script.add, self.script.name
        var = self.stage.var
        block, turn = self.blocks()
        shared = product
        if self.tile.slices > 1:
            self.feature("slices")
            inner, own, shared = name("inner"), name("slice"), name("shared")
            steps = f"s[{product}].op.reduce_axis[0]"
            add(f"_, {inner} = s[{product}].split({steps}, {SIDE * self.tile.depth})")
            add(f"{own}, _ = s[{product}].split({inner}, nparts={self.tile.slices})")
            add(f"{shared} = s.rfactor({product}, {own})")
            add(f's[{product}].set_scope("local")')
            add(f"s[{product}].compute_at(s[{var}], {turn})")
        local = name("local")
        add(f'{local} = s.cache_write({shared}, "fragment")')
        add(f's[{shared}].set_scope("shared")')
        self.align(shared)
        add(f"s[{shared}].compute_at(s[{var}], {block})")
        *others, row, column = self.axes_of_sums(shared)
        # The first axis after rfactor is that of the slices.
        slices, others = (others[:1], others[1:]) if self.tile.slices > 1 else ([], others)
        add(f"s[{shared}].reorder({', '.join([*others, *slices, row, column])})")
        group = self.groups_of(shared, slices, row, column)
        self.accumulate(local, factors, (shared, group), block)

    # -- Loops of stages that are written.

    def bind(self, var: str, axis: str, tag: str) -> None:
        """Bind an axis."""
        self.script.add(f's[{var}].bind({axis}, te.thread_axis("{tag}"))')
        self.script.features.add(f"bind {tag}")

    def bind_blocks(self, var: str, others: list[str], row: str, column: str) -> None:
        """Bind the loops of blocks, in any order of dimensions."""
        tags = ["blockIdx.x", "blockIdx.y"]
        self.rng.shuffle(tags)
        if others:
            fused = self.script.name("f")
            self.script.add(f"{fused} = s[{var}].fuse({', '.join([*others, row])})")
            row = fused
        self.bind(var, row, tags[0])
        self.bind(var, column, tags[1])

    def split(self, var: str, axis: str, factor: int, how: str = "") -> tuple[str, str]:
        """Split an axis."""
        outer, inner = self.script.name("o"), self.script.name("i")
        self.script.add(f"{outer}, {inner} = s[{var}].split({axis}, {factor}{how})")
        return outer, inner

    def own_kernel(self, var: str, others: list[str], row: str, column: str) -> tuple[str, str]:
        """Give each block a tile of a stage that fragments are stored to."""
        block_row, row = self.split(var, row, self.tile.multiples[0])
        block_column, column = self.split(var, column, self.tile.multiples[1])
        order = [*others, block_row, block_column, row, column]
        self.script.add(f"s[{var}].reorder({', '.join(order)})")
        self.bind_blocks(var, others, block_row, block_column)
        return var, self.groups_of(var, [], row, column, always=True)

    def groups_of(
        self, var: str, slices: list[str], row: str, column: str, always: bool = False
    ) -> str:
        """Give each SIMD-group its fragments; return the axis of SIMD-groups."""
        add = self.script.add
        group_row, row = self.split(var, row, SIDE * self.tile.parts[0])
        group_column, column = self.split(var, column, SIDE * self.tile.parts[1])
        own, (row, column) = self.parts_of(var, row, column)
        order = [*slices, group_row, group_column, *own, row, column]
        add(f"s[{var}].reorder({', '.join(order)})")
        group = self.script.name("group")
        add(f"{group} = s[{var}].fuse({', '.join([*slices, group_row, group_column])})")
        if self.groups > 1 or always or self.rng.random() < 0.5:
            add(f's[{var}].bind({group}, te.thread_axis((0, {self.groups}), "threadIdx.y"))')
        add(f's[{var}].tensorize({row}, "fragment.store")')
        return group

    def parts_of(self, var: str, row: str, column: str) -> tuple[tuple[str, str], tuple[str, str]]:
        """Split rows and columns into fragments, whose places must be known."""
        own_row, row = self.split(var, row, SIDE)
        own_column, column = self.split(var, column, SIDE)
        for own in (own_row, own_column):
            self.script.add(f"s[{var}].unroll({own})")
        return (own_row, own_column), (row, column)

    def fused_rows(self) -> tuple[list[str], str, str, int]:
        """Return the other axes of the result, its rows as one axis, its columns, and lanes."""
        var, (rows, column) = self.stage.var, self.product.written
        names = [f"s[{var}].op.axis[{at}]" for at in range(len(self.stage.shape))]
        others = [axis for at, axis in enumerate(names) if at not in (*rows, column)]
        row = names[rows[0]]
        if len(rows) > 1:
            row = self.script.name("rows")
            self.script.add(f"{row} = s[{var}].fuse({', '.join(names[at] for at in rows)})")
        is_last = column == len(names) - 1
        most = [n for n in (1, 2, 4) if self.product.extents[1] % n == 0] if is_last else [1]
        return others, row, names[column], self.rng.choice(most)

    def blocks(self) -> tuple[str, str]:
        """Give each block a tile of the result; return axes of blocks, and of a thread's turns."""
        var, add = self.stage.var, self.script.add
        others, row, column, lanes = self.fused_rows()
        block_row, row = self.split(var, row, self.tile.multiples[0], ", exact=True")
        block_column, column = self.split(var, column, self.tile.multiples[1], ", exact=True")
        lane = []
        if lanes > 1:
            column, inner = self.split(var, column, lanes)
            lane = [inner]
            self.feature("vectors of the result")
        order = [*others, block_row, block_column, row, column, *lane]
        add(f"s[{var}].reorder({', '.join(order)})")
        fused = self.script.name("f")
        add(f"{fused} = s[{var}].fuse({row}, {column})")
        turn, thread = self.split(var, fused, THREADS * self.groups)
        order = [thread, turn]
        if self.groups > 1:
            group, thread = self.split(var, thread, THREADS)
            self.bind(var, group, "threadIdx.y")
            order = [group, thread, turn]
        self.bind(var, thread, "threadIdx.x")
        add(f"s[{var}].reorder({', '.join([block_column, *order, *lane])})")
        self.bind_blocks(var, others, block_row, block_column)
        if lane:
            add(f"s[{var}].vectorize({lane[0]})")
        if self.rng.random() < 0.5:
            add(f"s[{var}].unroll({turn})")
        return block_column, turn

    def elements(self) -> str:
        """Give each thread an element of the result; return the axis of threads."""
        var, add = self.stage.var, self.script.add
        fused = self.script.name("f")
        add(f"{fused} = s[{var}].fuse(*s[{var}].op.axis)")
        block, thread = self.split(var, fused, self.rng.choice([4, 32, 64]))
        self.bind(var, block, "blockIdx.x")
        self.bind(var, thread, "threadIdx.x")
        return thread

    # -- Steps.

    def accumulate(self, local: str, factors: list[str], at: tuple[str, str], block: str) -> None:
        """Schedule the steps of a SIMD-group, and the copies that they read.

        `at`: the stage and the loop to which the sums are attached. `block`: the loop of blocks, if
        the stage that is written has it.
        """
        p, add, rng = self.product, self.script.add, self.rng
        add(f"s[{local}].compute_at(s[{at[0]}], {at[1]})")
        loaded = []
        for each in factors:
            loaded.append(self.script.name("loaded"))
            add(f'{loaded[-1]} = s.cache_read({each}, "fragment", [{local}])')
        *others, row, column = self.axes_of_sums(local)
        if self.tile.slices > 1:
            outer, inner = self.script.name("o"), self.script.name("i")
            add(f"{outer}, {inner} = s[{local}].op.reduce_axis")
        else:
            outer, inner = self.split(
                local, f"s[{local}].op.reduce_axis[-1]", SIDE * self.tile.depth
            )
        inner, step = self.split(local, inner, SIDE)
        own, (row, column) = self.parts_of(local, row, column)
        add(f"s[{local}].reorder({', '.join([outer, inner, *others, *own, row, column, step])})")
        add(f's[{local}].tensorize({row}, "fragment.mma")')
        ahead = rng.random() < 0.25  # all steps of a part are loaded together
        if ahead or rng.random() < 0.5:
            add(f"s[{local}].unroll({inner})")
        if ahead:
            self.feature("fragments of several steps")
        for each in loaded:
            add(f"s[{each}].compute_at(s[{local}], {outer if ahead else inner})")
            *_, row, column = self.axes_of_matrix(each)
            own, (row, column) = self.parts_of(each, row, column)
            add(f"s[{each}].reorder({', '.join([*own, row, column])})")
            add(f's[{each}].tensorize({row}, "fragment.load")')
        how = rng.choice(
            [
                "",
                "",
                "double_buffer()",
                "pipeline(2)",
                *(f"pipeline({n}, asynchronous=True)" for n in (3, 4)),
            ]
        )
        for each, is_direct in zip(factors, p.loads, strict=True):
            if is_direct:
                self.feature("loaded from a factor")
                add(f"s[{each}].compute_inline()")
            else:
                self.copy(each, local, outer, block, how)

    def copy(self, var: str, local: str, outer: str, block: str, how: str) -> None:
        """Let the threads of a block copy a factor to shared memory, perhaps ahead of its use."""
        add, rng = self.script.add, self.rng
        add(f's[{var}].set_scope("shared")')
        whole = bool(block) and rng.random() < 0.15
        if whole:
            self.feature("a factor in shared memory for all steps")
            add(f"s[{var}].compute_at(s[{self.stage.var}], {block})")
        else:
            add(f"s[{var}].compute_at(s[{local}], {outer})")
        *others, last = self.axes_of_matrix(var)
        lane = ""
        if rng.random() < 0.4:
            last, lane = self.split(var, last, rng.choice([2, 4, 8]))
        fused = self.script.name("f")
        add(f"{fused} = s[{var}].fuse({', '.join([*others, last])})")
        _, thread = self.split(var, fused, THREADS * self.groups)
        if self.groups > 1:
            group, thread = self.split(var, thread, THREADS)
            self.bind(var, group, "threadIdx.y")
        self.bind(var, thread, "threadIdx.x")
        if lane:
            add(f"s[{var}].vectorize({lane})")
        if how and not whole:
            self.feature(how)
            add(f"s[{var}].{how}")
        self.align(var)

    def align(self, var: str) -> None:
        """Put rows into different banks."""
        if self.rng.random() < 0.5:
            add = self.script.add
            add(f"s[{var}].storage_align(s[{var}].op.axis[-2], 16, {self.rng.choice([0, 8])})")

    def axes_of_sums(self, local: str) -> list[str]:
        """Return the axes of the sums of a SIMD-group."""
        extra = self.tile.slices > 1 or self.tile.pieces > 1
        return [f"s[{local}].op.axis[{n}]" for n in range(self.batch + extra + 2)]

    def axes_of_matrix(self, var: str) -> list[str]:
        """Return the axes of a factor."""
        return [f"s[{var}].op.axis[{n}]" for n in range(self.batch + 2)]

    @property
    def batch(self) -> int:
        """The number of axes that are neither rows nor columns."""
        return len(self.stage.shape) - len(self.product.rows) - 1
