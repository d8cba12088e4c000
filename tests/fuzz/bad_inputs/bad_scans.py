"""Scans whose parts do not fit together, and directives that parts of a scan do not support."""

from __future__ import annotations

from bad_input import block, case, sums_of_rows, thread

import texloom as tvm
from texloom import te


@case("TL1024")
def scan_that_reads_the_row_it_computes() -> None:
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 0.0, name="init")
    update = te.compute((4, 8), lambda t, i: state[t, i] + 1, name="update")
    te.scan(init, update, state)  # wrong


@case("TL1024")
def scan_that_begins_with_a_placeholder() -> None:
    state = te.placeholder((4, 8), name="state")
    update = te.compute((4, 8), lambda t, i: state[t - 1, i] + 1, name="update")
    te.scan(te.placeholder((1, 8)), update, state)  # wrong


@case("TL1024")
def states_that_are_read_by_an_extern() -> None:
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 0.0, name="init")
    twice = te.extern(
        (4, 8), [state], lambda ins, outs: outs[0].vstore([0, 0], ins[0].vload([0, 0]))
    )
    update = te.compute((4, 8), lambda t, i: twice[t, i] + 1, name="update")
    te.scan(init, update, state)  # wrong


@case("TL3024")
def update_that_is_attached() -> None:
    _, _, update, scan, s = sums_of_rows()
    s[update].compute_at(s[scan], scan.op.scan_axis)  # wrong


@case("TL3024")
def init_with_a_scope_of_its_own() -> None:
    _, init, _, _, s = sums_of_rows()
    s[init].set_scope("global")  # wrong


@case("TL3024")
def steps_that_are_split() -> None:
    _, _, _, scan, s = sums_of_rows()
    s[scan].split(scan.op.scan_axis, factor=2)  # wrong


@case("TL3024", says="'update' is a part of the scan 'scan', not an array")
def update_as_an_argument() -> None:
    x, _, update, scan, s = sums_of_rows()
    tvm.lower(s, [x, update, scan])  # wrong


@case("TL3024")
def cache_between_an_update_and_its_scan() -> None:
    _, _, update, scan, s = sums_of_rows()
    s.cache_read(update, "local", [scan])  # wrong


@case("TL3024")
def scan_in_a_texture() -> None:
    x, init, update, scan, s = sums_of_rows()
    for t in (init, update):
        s[t].bind(t.op.axis[1], thread())
    s[scan].set_scope("texture")  # wrong
    tvm.lower(s, [x, scan])


@case("TL3024")
def stage_of_a_step_inside_another_stage() -> None:
    x, _, update, scan, _ = sums_of_rows()
    y = te.compute((4, 8), lambda t, i: scan[t, i] + x[t, i], name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_write(update, "local")
    s[cache].compute_at(s[y], y.op.axis[0])  # wrong


@case("TL3003")
def steps_that_are_bound_to_no_thread() -> None:
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 1.0, name="init")
    update = te.compute((4, 8), lambda t, i: state[t - 1, i] + 1, name="update")
    scan = te.scan(init, update, state)  # wrong
    s = te.create_schedule(scan.op)
    s[init].bind(init.op.axis[1], thread())
    tvm.build(s, [scan])


@case("TL3003")
def init_that_is_bound_to_no_thread() -> None:
    state = te.placeholder((4, 8), name="state")
    init = te.compute((1, 8), lambda t, i: 1.0, name="init")  # wrong
    update = te.compute((4, 8), lambda t, i: state[t - 1, i] + 1, name="update")
    scan = te.scan(init, update, state)
    s = te.create_schedule(scan.op)
    s[update].bind(update.op.axis[1], thread())
    tvm.build(s, [scan])


@case("TL3026")
def step_that_reads_the_columns_of_another_block() -> None:
    x = te.placeholder((4, 8), name="X")
    p, q = te.placeholder((4, 8), name="P"), te.placeholder((4, 8), name="Q")
    init = te.compute((1, 8), lambda t, i: x[0, i], name="init")
    other = te.compute((1, 8), lambda t, i: x[0, i], name="other")
    update = te.compute((4, 8), lambda t, i: p[t - 1, 7 - i] + x[t, i], name="U")  # wrong
    unbound = te.compute((4, 8), lambda t, i: q[t - 1, i] + x[t, i], name="V")
    scans = te.scan([init, other], [update, unbound], [p, q])
    s = te.create_schedule(scans[0].op)
    for t in (init, other, update):
        s[t].bind(t.op.axis[1], block())
    tvm.lower(s, [x, *scans])


@case("TL2033")
def row_before_that_is_copied_ahead_of_its_step() -> None:
    x, init, update, scan, s = sums_of_rows()
    state = update.op.input_tensors[0]
    row = s.cache_read(state, "shared", [update])
    s[row].double_buffer()  # wrong
    for t in (init, update):
        s[t].bind(t.op.axis[1], thread())
    tvm.lower(s, [x, scan])


@case("TL3025")
def row_before_that_is_pipelined() -> None:
    x, init, update, scan, s = sums_of_rows()
    state = update.op.input_tensors[0]
    row = s.cache_read(state, "shared", [update])
    s[row].pipeline()  # wrong
    for t in (init, update):
        s[t].bind(t.op.axis[1], thread())
    tvm.lower(s, [x, scan])
