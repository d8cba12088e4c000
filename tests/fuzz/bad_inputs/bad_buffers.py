"""Buffers aligned, double-buffered or pipelined where that is impossible."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL2005")
def alignment_of_a_part_of_an_axis() -> None:
    _, y, s = copy_of((8, 4))
    _, inner = s[y].split(s[y].op.axis[0], 2)
    s[y].storage_align(inner, 8, 1)  # wrong


@case("TL2032")
def alignment_by_zero() -> None:
    _, p, _, s = chain_of()
    s[p].storage_align(s[p].op.axis[0], 0, 1)  # wrong


@case("TL2032")
def alignment_that_no_distance_meets() -> None:
    x, y, s = copy_of((8, 6, 4))
    cache = s.cache_read(x, "shared", [y])
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].storage_align(s[cache].op.axis[0], 8, 1)  # wrong
    tvm.lower(s, [x, y])


@case("TL2032", says="the axis 'ax1' of 'X.shared' is the innermost")
def alignment_of_the_innermost_axis() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "shared", [y])
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].storage_align(s[cache].op.axis[1], 8, 0)  # wrong
    tvm.lower(s, [x, y])


@case("TL2032", says="with the factor -8 and the offset 1")
def alignment_by_a_negative_factor() -> None:
    _, p, _, s = chain_of()
    s[p].storage_align(s[p].op.axis[0], -8, 1)  # wrong


@case("TL2032", says="with the factor 8 and the offset -1")
def alignment_by_a_negative_offset() -> None:
    _, p, _, s = chain_of()
    s[p].storage_align(s[p].op.axis[0], 8, -1)  # wrong


@case("TL2032", says="with the factor 1099511627776 and the offset 1")
def alignment_by_more_than_any_array() -> None:
    _, p, _, s = chain_of()
    s[p].storage_align(s[p].op.axis[0], 2**40, 1)  # wrong


@case("TL2040", says="storage_align of 'P': factor is 2.5, not an integer")
def alignment_by_a_fraction() -> None:
    _, p, _, s = chain_of()
    s[p].storage_align(s[p].op.axis[0], 2.5, 1)  # wrong


@case("TL2005", says="storage_align on the stage of 'P': 'i0' is not a data axis of its tensor")
def alignment_of_an_axis_of_another_stage() -> None:
    _, p, y, s = chain_of()
    s[p].storage_align(s[y].op.axis[0], 8, 1)  # wrong


@case("TL2005", says="storage_align on the stage of 'R': 'k' is not a data axis of its tensor")
def alignment_of_a_reduction_axis() -> None:
    _, r, k, s = sum_of_rows()
    s[r].storage_align(k, 8, 1)  # wrong


@case("TL2015", says="cannot apply storage_align to 'X': it is a placeholder")
def alignment_of_a_placeholder() -> None:
    x, y, s = copy_of((8, 4))
    s[x].storage_align(s[y].op.axis[0], 8, 1)  # wrong


@case("TL2033")
def double_buffer_of_an_output() -> None:
    _, y, s = copy_of((8, 4))
    s[y].double_buffer()  # wrong


@case("TL2033")
def double_buffer_of_a_pipeline() -> None:
    _, p, _, s = chain_of()
    s[p].pipeline()
    s[p].double_buffer()  # wrong


@case("TL2033")
def double_buffer_ahead_of_what_it_reads() -> None:
    x, r, k, s = sum_of_rows()
    shared = s.cache_read(x, "shared", [r])
    local = s.cache_read(shared, "local", [r])
    s[r].bind(s[r].op.axis[0], thread())
    s[shared].compute_at(s[r], k)
    s[local].compute_at(s[r], k)
    s[local].double_buffer()  # wrong
    tvm.lower(s, [x, r])


@case("TL3021")
def double_buffer_at_the_root() -> None:
    x, p, y, s = chain_of()
    s[p].bind(s[p].op.axis[0], block())
    s[p].double_buffer()  # wrong
    tvm.lower(s, [x, y])


@case("TL2015", says="cannot apply double_buffer to 'X': it is a placeholder")
def double_buffer_of_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].double_buffer()  # wrong


@case("TL2042", says="rolling_buffer of 'P'")
def rolling_buffer_of_a_stage() -> None:
    _, p, y, s = chain_of()
    s[p].compute_at(s[y], s[y].op.axis[1])
    s[p].rolling_buffer()  # wrong


@case("TL2025")
def pipeline_of_four_stages() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "local", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].pipeline(stages=4)  # wrong


@case("TL2025", says="it must be 2 to 8")
def asynchronous_pipeline_of_nine_stages() -> None:
    x, y, s = copy_of((8, 4))
    cache = s.cache_read(x, "shared", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].pipeline(stages=9, asynchronous=True)  # wrong


@case("TL2025")
def pipeline_of_an_output() -> None:
    _, y, s = copy_of((8, 4))
    s[y].pipeline()  # wrong


@case("TL2025")
def pipeline_of_a_reduction() -> None:
    _, r, _, s = sum_of_rows()
    total = s.cache_write(r, "local")
    s[total].pipeline()  # wrong


@case("TL2015")
def pipeline_of_a_placeholder() -> None:
    x, _, s = copy_of((8, 4))
    s[x].pipeline()  # wrong


@case("TL2025")
def pipeline_of_a_double_buffer() -> None:
    _, p, _, s = chain_of()
    s[p].double_buffer()
    s[p].pipeline()  # wrong


@case("TL3025")
def pipeline_at_the_root() -> None:
    x, p, y, s = chain_of((8, 6))
    s[p].bind(s[p].op.axis[0], block())
    s[p].pipeline()  # wrong
    tvm.lower(s, [x, y])


@case("TL3025")
def pipeline_at_a_thread() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], thread())
    cache = s.cache_read(x, "local", [y])
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].pipeline()  # wrong
    tvm.lower(s, [x, y])


@case("TL3025")
def pipeline_beside_double_buffers() -> None:
    x = te.placeholder((4, 8), name="X")
    z = te.placeholder((4, 8), name="Z")
    k = te.reduce_axis((0, 8), name="k")
    y = te.compute((4,), lambda i: te.sum(x[i, k] * z[i, k], axis=k), name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], thread())
    outer, _ = s[y].split(k, 4)
    caches = [s.cache_read(t, "local", [y]) for t in (x, z)]
    for cache in caches:
        s[cache].compute_at(s[y], outer)
    s[caches[0]].double_buffer()
    s[caches[1]].pipeline()  # wrong
    tvm.lower(s, [x, z, y])


@case("TL3025")
def pipeline_of_what_reads_the_same_iteration() -> None:
    x, p, y, s = chain_of((8, 6))
    turn, lane = s[y].split(s[y].op.axis[1], 2)
    s[y].bind(lane, thread())
    s[p].compute_at(s[y], turn)
    s[p].set_scope("shared")
    cache = s.cache_read(p, "local", [y])
    s[cache].compute_at(s[y], turn)
    s[cache].pipeline()  # wrong
    tvm.lower(s, [x, y])


@case("TL3025")
def pipeline_of_what_is_not_one_store() -> None:
    x, p, y, s = chain_of((8, 6))
    turn, lane = s[y].split(s[y].op.axis[1], 2)
    s[y].bind(lane, thread())
    s[p].compute_at(s[y], turn)
    s[p].set_scope("shared")
    s[p].pipeline()  # wrong
    cache = s.cache_read(x, "local", [p])
    s[cache].compute_at(s[p], s[p].op.axis[0])
    tvm.lower(s, [x, y])


@case("TL2025", says="cannot pipeline 'P' with stages = 1")
def pipeline_of_one_stage() -> None:
    _, p, _, s = chain_of()
    s[p].pipeline(stages=1)  # wrong


@case("TL2025", says="cannot pipeline 'P': it has several outputs")
def pipeline_of_several_outputs() -> None:
    x = te.placeholder((8,), name="X")
    p, _ = te.compute((8,), lambda i: (x[i], x[i] + 1), name="P")
    y = te.compute((8,), lambda i: p[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[p].pipeline()  # wrong


@case("TL2040", says="pipeline of 'P': stages is '2', not an integer")
def pipeline_of_a_word() -> None:
    _, p, _, s = chain_of()
    s[p].pipeline("2")  # wrong


@case("TL3025", says="the loop 'i1' of 'Y', to which it is attached, is not sequential")
def pipeline_at_a_vector() -> None:
    x, p, y, s = chain_of()
    s[y].vectorize(s[y].op.axis[1])
    s[p].compute_at(s[y], s[y].op.axis[1])
    s[p].pipeline()  # wrong
    tvm.lower(s, [x, y])
