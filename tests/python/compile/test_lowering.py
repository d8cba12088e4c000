"""lower, build and calls: which tensors may be arguments, and what build accepts."""

import signal
import threading
import time

import numpy as np
import pytest

import texloom as tvm
from texloom import te


def block(dim="x"):
    return te.thread_axis(f"blockIdx.{dim}")


def thread(dim="x"):
    return te.thread_axis(f"threadIdx.{dim}")


VALUES = np.random.default_rng(0).random((10, 12), "float32")


def chain():
    """Return X, P = X + 1, Y = P * 2, and a schedule with the rows of Y bound to blocks."""
    x = te.placeholder((10, 12), name="X")
    p = te.compute((10, 12), lambda i, j: x[i, j] + 1, name="P")
    y = te.compute((10, 12), lambda i, j: p[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return x, p, y, s


# -- Arguments.


def called(dev, s, args, values):
    """Return the arrays after a call; the first gets the values, the others start as sevens."""
    arrays = [tvm.nd.array(values, dev)]
    for t in args[1:]:
        shape = [int(n) for n in t.shape]
        arrays.append(tvm.nd.array(np.full(shape, 7, t.dtype), dev))
    tvm.build(s, args)(*arrays)
    return [a.numpy() for a in arrays[1:]]


def test_inlined_argument_is_never_written(dev):
    x, p, y, s = chain()
    s[p].compute_inline()
    got = called(dev, s, [x, p, y], VALUES)
    np.testing.assert_array_equal(got[0], np.full((10, 12), 7))
    np.testing.assert_array_equal(got[1], (VALUES + 1) * 2)


def test_argument_that_the_schedule_does_not_know_is_never_written(dev):
    x, p, y, s = chain()
    s[p].bind(s[p].op.axis[0], block())
    other = te.compute((3,), lambda i: x[i, i], name="other")
    got = called(dev, s, [x, other, y], VALUES)
    np.testing.assert_array_equal(got[0], np.full(3, 7))
    np.testing.assert_array_equal(got[1], (VALUES + 1) * 2)


@pytest.mark.parametrize("scope", ["shared", "local"])
def test_attached_argument_is_copied_out(dev, scope):
    """The tile of 5 columns does not divide the row: the last tile reaches beyond it."""
    x, p, y, s = chain()
    outer, inner = s[y].split(s[y].op.axis[1], factor=5)
    s[y].bind(inner, thread())
    s[p].compute_at(s[y], outer if scope == "shared" else inner)
    s[p].set_scope(scope)
    if scope == "shared":
        s[p].bind(s[p].op.axis[1], thread())
    got = called(dev, s, [x, p, y], VALUES)
    np.testing.assert_array_equal(got[0], VALUES + 1)
    np.testing.assert_array_equal(got[1], (VALUES + 1) * 2)


def test_attached_reduction_is_copied_out(dev):
    """The reduction is copied to its array when it is complete."""
    x = te.placeholder((10, 12), name="X")
    k = te.reduce_axis((0, 12), name="k")
    r = te.compute((10,), lambda i: te.max(x[i, k], axis=k), name="R")
    y = te.compute((8,), lambda i: r[i] + r[i + 1], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], thread())
    s[r].compute_at(s[y], s[y].op.axis[0])
    rows = VALUES.max(1)
    got = called(dev, s, [x, r, y], VALUES)
    np.testing.assert_array_equal(got[0], [*rows[:9], 7])  # Y does not read the last row
    np.testing.assert_array_equal(got[1], rows[:8] + rows[1:9])


@pytest.mark.parametrize("scope", ["shared", "local"])
@pytest.mark.parametrize("factor", [3, 4])
def test_overlapping_regions_are_stored_by_one_thread(dev, scope, factor):
    """If two threads compute an element, only the last of them stores it, also at the edge, where
    there is no next thread.
    """
    x = te.placeholder((12, 12), name="X")
    p = te.compute((12, 12), lambda i, j: x[i, j] + 1, name="P")
    y = te.compute((10, 11), lambda i, j: p[i, j] + p[i + 2, j + 1], name="Y")
    s = te.create_schedule(y.op)
    i, j = s[y].op.axis
    outer, inner = s[y].split(i, factor=factor)
    s[y].reorder(outer, j, inner)
    s[y].bind(outer, block())
    s[y].bind(j, block("y"))
    s[y].bind(inner, thread())
    s[p].compute_at(s[y], j if scope == "shared" else inner)
    s[p].set_scope(scope)
    values = np.random.default_rng(1).random((12, 12), "float32")
    p_of = values + 1
    got = called(dev, s, [x, p, y], values)
    np.testing.assert_array_equal(got[0], p_of)
    np.testing.assert_array_equal(got[1], p_of[:10, :11] + p_of[2:, 1:])


def test_outputs_may_be_left_out(dev):
    x, p, y, s = chain()
    s[p].bind(s[p].op.axis[0], block())
    np.testing.assert_array_equal(called(dev, s, [x, p], VALUES)[0], VALUES + 1)
    program = tvm.lower(s, [x])
    assert "buffer.alloca Y: global float32[10, 12]" in str(program)


def test_arguments_in_any_order(dev):
    x, p, y, s = chain()
    s[p].compute_inline()
    a, b = tvm.nd.array(VALUES, dev), tvm.nd.empty((10, 12), "float32", dev)
    tvm.build(s, [y, x])(b, a)
    np.testing.assert_array_equal(b.numpy(), (VALUES + 1) * 2)


# -- What build accepts.


def named(name, factor):
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] * factor, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], block())
    return tvm.lower(s, [x, y], name=name)


def test_several_programs_are_functions_of_one_module(dev):
    programs = [named("twice", 2), named("thrice", 3)]
    for module in (
        tvm.build(programs, target="opencl"),
        tvm.build({"opencl": programs[0], tvm.target.Target("opencl"): programs[1]}),
    ):
        a = tvm.nd.array(np.arange(4, dtype="float32"), dev)
        b = tvm.nd.empty((4,), "float32", dev)
        for name, factor in (("twice", 2), ("thrice", 3)):
            module[name](a, b)
            np.testing.assert_array_equal(b.numpy(), np.arange(4) * factor)
        assert "twice_kernel0(" in module.get_source()
        assert [m.name for m in module.imported_modules] == ["twice", "thrice"]
        with pytest.raises(
            AttributeError, match="no function 'other'(.|\n)*its functions are 'twice', 'thrice'"
        ):
            module["other"]


def test_several_functions_in_one_file(dev, tmp_path):
    module = tvm.build([named("twice", 2), named("thrice", 3)])
    module.export_library(tmp_path / "both")
    again = tvm.runtime.load_module(tmp_path / "both")
    assert again.get_source() == module.get_source()
    a = tvm.nd.array(np.arange(4, dtype="float32"), dev)
    b = tvm.nd.empty((4,), "float32", dev)
    again["thrice"](a, b)
    np.testing.assert_array_equal(b.numpy(), np.arange(4) * 3)
    assert again.time_evaluator("twice", dev, number=1)(a, b).mean > 0
    np.testing.assert_array_equal(b.numpy(), np.arange(4) * 2)
    again.save(tmp_path / "both.cl")
    assert (tmp_path / "both.cl").read_text() == module.get_source()


def test_group_of_one_function_is_one_in_its_file(tmp_path):
    tvm.build([named("twice", 2)]).export_library(tmp_path / "one")
    assert tvm.runtime.load_module(tmp_path / "one").name == "twice"


def test_lowered_programs_are_built_for_other_targets():
    """The build starts from the original schedule, under the limits of the new target."""
    program = named("main", 2)
    module = tvm.build({"opencl -device=adreno": program})
    assert module["main"].target == "opencl -device=adreno"
    assert tvm.build(program, target="opencl -device=mali").target == "opencl -device=mali"
    assert tvm.build(program, checked=True).target == "opencl -checked=1"
    with pytest.raises(tvm.TVMError, match="TL3010.*its schedule is not kept"):
        tvm.build(tvm.parse(str(program)), target="opencl -device=mali")


def test_misuse_of_several_programs():
    for misuse, message in (
        (lambda: tvm.build([named("main", 2), named("main", 3)]), "functions are named 'main'"),
        (lambda: tvm.build({"opencl": named("main", 2)}, target="opencl"), "a mapping of targets"),
        (
            lambda: tvm.build([named("a", 2), named("b", 3)])(),
            "module of 2 functions cannot be called",
        ),
        (lambda: tvm.build([]), "no program to build"),
        (lambda: tvm.build({}), "no program to build"),
    ):
        with pytest.raises(tvm.TVMError, match=f"(?s)TL3010.*{message}.*help: "):
            misuse()


def test_what_is_neither_a_schedule_nor_a_program():
    """The TypeError says how to get from the given object to the required one."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], block())
    for misuse, message in (
        (lambda: tvm.build(y), r"but a Tensor(.|\n)*te.create_schedule"),
        (lambda: tvm.lower(y.op, [x, y]), r"but an Operation(.|\n)*te.create_schedule"),
        (lambda: tvm.build([y]), r"but a Tensor(.|\n)*te.create_schedule"),
        (lambda: tvm.lower([s], [x, y]), r"but a list(.|\n)*separately"),
        (lambda: tvm.build(tvm.build(s, [x, y])), r"but a Function(.|\n)*call it"),
        (lambda: tvm.build(None), "but None"),
        (lambda: tvm.build(s), r"args is None(.|\n)*args="),
        (lambda: tvm.build(s, x), r"args is a Tensor(.|\n)*args="),
        (lambda: tvm.build(s, [x, 3.5]), "argument 1 is neither a tensor nor a variable"),
        (lambda: tvm.build(s, [x, y], binds=[x]), "binds is a list"),
        (lambda: tvm.build(s, [x, y], binds={x: "texture"}), "binds has a str"),
    ):
        with pytest.raises(TypeError, match=f"TL2040.*{message}"):
            misuse()


# -- Text.


def test_text_keeps_how_arrays_lie(dev):
    """The text keeps `transform_layout` of an argument and variables passed by value."""
    n = te.var("n")
    x, v = te.placeholder((6, 4), name="X"), te.placeholder((n,), name="V")
    y = te.compute((6, 4), lambda i, j: x[i, j] + v[0], name="Y")
    s = te.create_schedule(y.op)
    s[x].transform_layout(lambda i, j: [j, i])
    s[y].bind(s[y].op.axis[0], block())
    lowered = tvm.lower(s, [x, n, v, y])
    assert str(lowered).startswith("array 0: [4, 6], buffer[(d0, d1) -> cols=(d0, d1)]\n")
    again = tvm.parse(str(lowered))
    assert str(again) == str(lowered)
    values = VALUES[:6, :4]
    transposed = tvm.nd.array(np.ascontiguousarray(values.T), dev)
    ones = tvm.nd.array(np.ones(3, "float32"), dev)
    for program in (lowered, again):
        got = tvm.nd.empty((6, 4), "float32", dev)
        tvm.build(program)(transposed, 3, ones, got)
        np.testing.assert_array_equal(got.numpy(), values + 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("array 7: [4], buffer[(d0) -> cols=d0]", "no parameter 7"),
        ("array 0: [5], buffer[(d0) -> cols=d0]", "size of the parameter 0"),
        ("value 0: symbol 0", "no such symbol"),
    ],
)
def test_lines_of_a_call_are_checked(line, message):
    with pytest.raises(tvm.TVMError, match=f"TL6002.*{message}"):
        tvm.parse(f"{line}\n{named('main', 2)}")


# -- During compilation.


def slow_schedule(threads):
    """Return a schedule that takes tenths of a second to lower: a thousand unrolled statements."""
    x = te.placeholder((1 << 16, 1000), name="X")
    y = te.compute((1 << 16, 1000), lambda i, j: x[i, j] * 2, name="Y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(s[y].op.axis[0], factor=threads)
    s[y].bind(outer, block())
    s[y].bind(inner, thread())
    s[y].unroll(s[y].op.axis[1])
    return s, [x, y]


def test_other_threads_run_while_it_compiles():
    """A thread counts while C++ compiles; it could not if compilation held Python's lock."""
    s, args = slow_schedule(threads=64)
    inside = []
    finished = threading.Event()

    def count():
        while not finished.wait(0.001):
            inside.append(time.perf_counter())

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.perf_counter()
    tvm.lower(s, args)
    end = time.perf_counter()
    finished.set()
    counter.join()
    assert sum(begin < moment < end for moment in inside) > 3


def test_interruptions_are_heard_while_it_compiles():
    """Interrupts are handled between passes: a later pass would refuse so many threads."""
    s, args = slow_schedule(threads=1 << 16)

    class Interrupted(Exception):
        pass

    def interrupt(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            tvm.lower(s, args)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
