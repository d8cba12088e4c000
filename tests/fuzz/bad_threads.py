"""Schedules of threads that share work, and of stages ahead of a loop, refused by lower."""

from __future__ import annotations

from bad_input import block, case, chain_of, copy_of, sum_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL3001")
def one_virtual_thread_axis_with_two_extents() -> None:
    x, p, y, s = chain_of((8, 6))
    virtual = te.thread_axis("vthread")
    s[y].bind(s[y].op.axis[1], virtual)
    s[p].compute_at(s[y], s[y].op.axis[1])
    s[p].set_scope("shared")
    outer, _ = s[p].split(s[p].op.axis[1], nparts=3)
    s[p].bind(outer, virtual)  # wrong
    tvm.lower(s, [x, y])


@case("TL3015")
def one_virtual_thread_axis_twice_in_one_stage() -> None:
    x, y, s = copy_of((8, 8))
    virtual = te.thread_axis("vthread")
    for axis in s[y].op.axis:
        s[y].bind(axis, virtual)  # wrong
    tvm.lower(s, [x, y])


@case("TL3003")
def virtual_threads_alone() -> None:
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")  # wrong
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("vthread"))
    tvm.lower(s, [x, y])


@case("TL3030")
def data_axis_inside_a_reduction_of_threads() -> None:
    x, r, k, s = sum_of_rows()
    s[r].reorder(k, s[r].op.axis[0])
    s[r].bind(k, thread())  # wrong
    tvm.lower(s, [x, r])


@case("TL3030")
def reduction_of_threads_inside_their_own_loop() -> None:
    x = te.placeholder((8, 6), name="X")
    k = te.reduce_axis((0, 6), name="k")
    r = te.compute((8,), lambda i: te.sum(x[i, k], axis=k), name="R")
    y = te.compute((8,), lambda i: r[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], thread())
    s[r].compute_at(s[y], s[y].op.axis[0])
    s[r].bind(k, thread())  # wrong
    tvm.lower(s, [x, y])


@case("TL2031")
def store_predicate_that_leaves_elements_out() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], thread())
    s[y].set_store_predicate(thread().var < 4)  # wrong
    tvm.lower(s, [x, y])


@case("TL2031")
def store_predicate_that_holds_for_no_thread() -> None:
    x, r, k, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], block())
    s[r].bind(k, thread())
    s[r].set_store_predicate(thread().var > 5)  # wrong
    tvm.lower(s, [x, r])


@case("TL2031")
def store_predicate_on_other_threads() -> None:
    x, r, k, s = sum_of_rows()
    s[r].bind(s[r].op.axis[0], te.thread_axis("threadIdx.y"))
    s[r].bind(k, thread())
    s[r].set_store_predicate(te.thread_axis("threadIdx.y").var < 1)  # wrong
    tvm.lower(s, [x, r])


@case("TL2031")
def store_predicate_in_local_memory() -> None:
    x, r, k, s = sum_of_rows()
    cache = s.cache_write(r, "local")
    s[r].bind(s[r].op.axis[0], block())
    s[cache].compute_at(s[r], s[r].op.axis[0])
    s[cache].bind(k, thread())
    s[cache].set_store_predicate(thread().var < 1)  # wrong
    tvm.lower(s, [x, r])


@case("TL2032")
def alignment_that_no_distance_meets() -> None:
    x, y, s = copy_of((8, 6, 4))
    cache = s.cache_read(x, "shared", [y])
    s[y].bind(s[y].op.axis[0], block())
    s[cache].compute_at(s[y], s[y].op.axis[0])
    s[cache].storage_align(s[cache].op.axis[0], 8, 1)  # wrong
    tvm.lower(s, [x, y])


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


@case("TL3021")
def parallel_loop_on_a_gpu() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].parallel(s[y].op.axis[1])  # wrong
    tvm.lower(s, [x, y])


@case("TL2034")
def pragma_with_a_word_for_a_number() -> None:
    x, y, s = copy_of((8, 4))
    s[y].bind(s[y].op.axis[0], block())
    s[y].pragma(s[y].op.axis[0], "auto_unroll_max_step", "many")  # wrong
    tvm.lower(s, [x, y])


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
