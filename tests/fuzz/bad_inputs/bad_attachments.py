"""Stages computed at, or inlined into, places where they cannot be."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, thread, two_sources

import texloom as tvm
from texloom import te


@case("TL2005")
def attached_at_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(s[y], s[p].op.axis[0])  # wrong


@case("TL2007")
def attached_to_a_stage_of_another_schedule() -> None:
    _, p, _, s = chain_of()
    _, _, y, other = chain_of()
    s[p].compute_at(other[y], other[y].op.axis[0])  # wrong


@case("TL2013")
def attached_to_itself() -> None:
    _, p, _, s = chain_of()
    s[p].compute_at(s[p], s[p].op.axis[0])  # wrong


@case("TL3004")
def texture_computed_inside_its_reader() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    cache = s.cache_read(x, "texture", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3005")
def attached_where_a_reader_does_not_run() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    y = te.compute((8,), lambda i: p[i] + 1, name="Y")
    z = te.compute((8,), lambda i: p[i] - 1, name="Z")
    s = te.create_schedule([y.op, z.op])
    for t in (y, z):
        s[t].bind(s[t].op.axis[0], block())
    s[p].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y, z])


@case("TL3005")
def attached_to_an_inlined_stage() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])  # wrong
    s[q].compute_inline()
    tvm.lower(s, [x, y])


@case("TL3013")
def global_stage_attached_to_a_loop() -> None:
    x, p, y, s = chain_of()
    s[p].set_scope("global")
    s[p].compute_at(s[y], s[y].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3014")
def stages_attached_to_one_another() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    y = te.compute((8,), lambda i: q[i] - p[i], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])
    s[q].compute_at(s[p], s[p].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3017", says="'Y' cannot be computed inside 'P': it is an output of the schedule")
def output_attached_to_a_loop() -> None:
    x, p, y, s = chain_of()
    s[y].compute_at(s[p], s[p].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL2040", says="compute_at of 'P': parent is the tensor 'Y', not a stage")
def attached_to_a_tensor() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(y, s[y].op.axis[0])  # wrong


@case("TL2040", says="scope is 0, not an axis")
def attached_at_a_number() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(s[y], 0)  # wrong


@case("TL2005", says="compute_at on the stage of 'Y': the axis 'i1' has already been split")
def attached_at_an_axis_that_is_split() -> None:
    _, p, y, s = chain_of()
    s[y].split(s[y].op.axis[1], factor=2)
    s[p].compute_at(s[y], s[y].op.axis[1])  # wrong


@case("TL2015", says="cannot apply compute_at to 'X': it is a placeholder")
def placeholder_attached_to_a_loop() -> None:
    x, y, s = copy_of((8, 4))
    s[x].compute_at(s[y], s[y].op.axis[0])  # wrong


@case("TL2015", says="cannot apply compute_at to 'X': it is a placeholder")
def attached_to_a_placeholder() -> None:
    x, p, y, s = chain_of()
    s[p].compute_at(s[x], s[y].op.axis[0])  # wrong


@case("TL2007", says="'P' cannot be computed at a loop of 'Y', a stage of another schedule")
def attached_to_a_stage_of_a_copy_of_the_schedule() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(s.normalize()[y], y.op.axis[0])  # wrong


@case("TL3005", says="'P' is computed at the loop 'i' of 'Q', but its reader 'Y' runs outside")
def attached_to_a_stage_that_does_not_read_it() -> None:
    x, p, q, y, s = two_sources()
    s[q].bind(s[q].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3005", says="'P' is computed at the loop 'i' of 'Q', but its reader 'Y' runs outside")
def attached_beside_its_reader() -> None:
    x, p, q, y, s = two_sources()
    s[q].compute_at(s[y], s[y].op.axis[0])
    s[p].compute_at(s[q], s[q].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3005", says="'Q' is computed at the loop 'i0' of 'P', but its reader 'Y' runs outside")
def attached_to_the_stage_that_it_reads() -> None:
    x = te.placeholder((8, 4), name="X")
    p = te.compute((8, 4), lambda *i: x(*i) * 2, name="P")
    q = te.compute((8, 4), lambda *i: p(*i) + 1, name="Q")
    y = te.compute((8, 4), lambda *i: q(*i) - 1, name="Y")
    s = te.create_schedule(y.op)
    for stage in (s[p], s[y]):
        stage.bind(stage.op.axis[0], block())
    s[q].compute_at(s[p], s[p].op.axis[0])  # wrong
    tvm.lower(s, [x, y])


@case("TL3005", says="loop 'i1' of 'Y', which has already been fused into 'i1.i2.fused'")
def attached_at_a_loop_that_became_the_outer_part_of_another() -> None:
    x, p, y, s = chain_of((8, 4, 4))
    _, j, k = s[y].op.axis
    s[p].compute_at(s[y], j)  # wrong
    s[y].fuse(j, k)
    tvm.lower(s, [x, y])


@case("TL3005", says="'P' is computed at the loop 'i1.outer' of 'Y', which is not an axis")
def attached_at_a_loop_that_cache_write_took_away() -> None:
    x, p, y, s = chain_of()
    outer, _ = s[y].split(s[y].op.axis[1], factor=2)
    s[p].compute_at(s[y], outer)  # wrong
    cache = s.cache_write(y, "local")
    s[cache].compute_at(s[y], s[y].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL3005", says="'P' is computed at the loop 'k.outer' of 'R.repl', which is not an axis")
def attached_at_a_loop_that_rfactor_took_away() -> None:
    x = te.placeholder((8, 6), name="X")
    p = te.compute((8, 6), lambda *i: x(*i) * 2, name="P")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(p[i, k], axis=k), name="R")
    s = te.create_schedule(r.op)
    outer, inner = s[r].split(k, factor=2)
    s[p].compute_at(s[r], outer)  # wrong
    partial = s.rfactor(r, inner)
    for stage in (s[r], s[partial]):
        stage.bind(stage.op.axis[0], block())
    tvm.lower(s, [x, r])


@case("TL3014", says="'P' is computed inside itself, via 'Q'")
def three_stages_attached_in_a_cycle() -> None:
    x = te.placeholder((8,), name="X")
    p = te.compute((8,), lambda i: x[i] * 2, name="P")
    q = te.compute((8,), lambda i: p[i] + 1, name="Q")
    r = te.compute((8,), lambda i: q[i] + p[i], name="R")
    y = te.compute((8,), lambda i: r[i] - 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    s[p].compute_at(s[q], s[q].op.axis[0])  # wrong
    s[q].compute_at(s[r], s[r].op.axis[0])
    s[r].compute_at(s[p], s[p].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL3013", says="'P' is in global memory")
def global_stage_attached_to_a_thread() -> None:
    x, p, y, s = chain_of()
    s[y].bind(s[y].op.axis[1], thread())
    s[p].compute_at(s[y], s[y].op.axis[1])  # wrong
    s[p].set_scope("global")
    tvm.lower(s, [x, y])


@case("TL3004", says="the texture 'P' is computed inside 'Y'")
def texture_attached_to_a_thread() -> None:
    x, p, y, s = chain_of()
    s[p].set_scope("texture:nhwc")
    s[y].bind(s[y].op.axis[1], thread())
    s[p].compute_at(s[y], s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL2012")
def inlined_stage_of_several_outputs() -> None:
    x = te.placeholder((8,), name="X")
    pair, _ = te.compute((8,), lambda i: (x[i], x[i] + 1), name="P")
    y = te.compute((8,), lambda i: pair[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[pair].compute_inline()  # wrong
    tvm.lower(s, [x, y])


@case("TL2012")
def inlined_reduction() -> None:
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    y = te.compute((8,), lambda i: r[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[r].compute_inline()  # wrong


@case("TL2015")
def directive_on_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].compute_inline()  # wrong


@case("TL3017")
def output_inlined() -> None:
    x, y, s = copy_of((8, 4))
    s[y].compute_inline()  # wrong
    tvm.lower(s, [x, y])


@case("TL2012", says="cannot inline 'R.rf': it is a reduction")
def inlined_partial_results() -> None:
    _, r, k, s = sum_of_rows()
    _, inner = s[r].split(k, factor=2)
    partial = s.rfactor(r, inner)
    s[partial].compute_inline()  # wrong


@case("TL3017", says="cannot inline 'Y': it is an output of the schedule")
def first_of_two_outputs_inlined() -> None:
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] * 2, name="Y")
    z = te.compute((8,), lambda i: y[i] - 1, name="Z")
    s = te.create_schedule([y.op, z.op])
    s[y].compute_inline()  # wrong
    tvm.lower(s, [x, y, z])


@case("TL2015", says="cannot apply compute_root to 'X': it is a placeholder")
def placeholder_at_the_root() -> None:
    x, _, s = copy_of((8, 4))
    s[x].compute_root()  # wrong


@case("TL2042", says="create_group")
def group_of_stages() -> None:
    x, p, y, s = chain_of()
    s.create_group(outputs=y, inputs=x, include_inputs=False)  # wrong


@case("TL3021", says="is inlined")
def split_of_an_inlined_stage() -> None:
    x, p, y, s = chain_of()
    s[p].split(p.op.axis[0], 2)
    s[p].compute_inline()  # wrong
    tvm.lower(s, [x, y])


@case("TL3021", says="is inlined")
def vectorize_of_an_inlined_stage() -> None:
    x, p, y, s = chain_of()
    s[p].vectorize(p.op.axis[1])  # wrong
    s[p].compute_inline()
    tvm.lower(s, [x, y])
