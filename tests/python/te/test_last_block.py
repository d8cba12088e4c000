"""The last of several blocks of an extern that count themselves."""

import numpy as np
import pytest

import texloom
from texloom import te, tir

TARGET = "opencl -device=nvidia -conditional_barriers=0"
GROUPS, BLOCKS, THREADS = 3, 5, 8


def summed(enter=None):
    """Return an extern whose last block of a group adds up what the group has written."""
    x = te.placeholder((GROUPS, BLOCKS, THREADS), "float32", name="x")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        given, made = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        kept = ib.allocate("float32", (GROUPS, BLOCKS, THREADS), name="kept", scope="global")
        counters = ib.counters(GROUPS)
        block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(block, "thread_extent", GROUPS * BLOCKS)
        ib.scope_attr(thread, "thread_extent", THREADS)
        group, number = block // BLOCKS, block % BLOCKS
        kept[group, number, thread] = given[group, number, thread] * 2.0

        def add():
            with ib.last_block(counters, group, BLOCKS):
                total = ib.allocate("float32", (1,), scope="local")
                total[0] = te.const(0, "float32")
                with ib.for_range(0, BLOCKS, name="n") as n:
                    total[0] = total[0] + kept[group, n, THREADS - 1 - thread]
                made[group, thread] = total[0]

        if enter is None:
            add()
        else:
            with enter(ib, thread):
                add()
        return ib.get()

    return x, te.extern((GROUPS, THREADS), [x], body, name="summed", dtype="float32")


def test_the_last_block_sees_all():
    """The counters are zero again after a launch: the second one gives the same."""
    x, y = summed()
    function = texloom.build(te.create_schedule(y.op), [x, y], TARGET)
    given = np.arange(GROUPS * BLOCKS * THREADS, dtype="float32").reshape(GROUPS, BLOCKS, THREADS)
    for _ in range(3):
        got = texloom.nd.array(np.full((GROUPS, THREADS), np.nan, "float32"))
        function(texloom.nd.array(given), got)
        np.testing.assert_array_equal(got.numpy(), 2 * given.sum(1)[:, ::-1])


def test_the_interpreter_agrees():
    x, y = summed()
    given = np.arange(GROUPS * BLOCKS * THREADS, dtype="float32").reshape(GROUPS, BLOCKS, THREADS)
    seen = []
    program = texloom.program(te.create_schedule(y.op), [x, y], target=TARGET)
    texloom._core.run_versions(
        program, {}, [given.tobytes(), None], 1 << 22, lambda *each: seen.append(each)
    )
    names = [name for name, _, _ in seen]
    for name, reports, arrays in seen[names.index("insert_barriers.place_barriers") :]:
        assert not reports, (name, reports)
        got = np.frombuffer(arrays[-1], "float32").reshape(GROUPS, THREADS)
        np.testing.assert_array_equal(got, 2 * given.sum(1)[:, ::-1])


@pytest.mark.parametrize(
    ("enter", "message"),
    [
        (lambda ib, thread: ib.if_scope(thread < 4), "not all threads of a block reach it"),
        (lambda ib, thread: ib.for_range(0, 2), "a block may take several tickets, or none"),
    ],
)
def test_each_block_comes_once(enter, message):
    with pytest.raises(ValueError, match=f"TL1020(.|\n)*{message}"):
        summed(enter)


@pytest.mark.parametrize("given", [("x", 2), (None, 2.5)])
def test_other_arguments_are_refused(given):
    ib = tir.ir_builder.create()
    counters, count = given
    with pytest.raises(ValueError, match="TL1020(.|\\n)*last_block is given"):
        ib.last_block(counters or ib.counters(1), 0, count)


def test_devices_need_a_fence():
    x, y = summed()
    with pytest.raises(texloom.TVMError, match="TL3013(.|\n)*-device_fence=1"):
        texloom.build(te.create_schedule(y.op), [x, y], f"{TARGET} -device_fence=0")
