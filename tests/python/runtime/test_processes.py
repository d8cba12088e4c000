"""Processes that exit, fork or are interrupted while a device works, and their messages."""

import re
import subprocess
import sys
import textwrap

import pytest
from conftest import has_pocl
from llvm_plugin import has_llvm

FUNCTIONS = """
import os, signal, sys, threading, time
import numpy as np
import texloom as tvm
from texloom import te

def scaled(n=64, work=1):
    x = te.placeholder((n,), name="X")
    k = te.reduce_axis((0, work), name="k")
    y = te.compute((n,), lambda i: te.sum(te.sin(x[i] * k), axis=k), name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    for t in (cache, y):
        s[t].bind(s[t].fuse(), te.thread_axis("blockIdx.x"))
    return tvm.build(s, [x, y])
"""
# Notices depend on how fast the machine is.
FUNCTIONS += "tvm.runtime.show_notices(False)\n"
PROGRAM = FUNCTIONS + 'x, y = tvm.nd.array(np.ones(64, "float32")), tvm.nd.empty((64,))\n'


INTERRUPTED = re.compile("texloom: interrupted; the device completes what it has begun, .*\n")


def child(body, before=PROGRAM):
    """Run a program in its own process and return (exit status, stdout, stderr)."""
    done = subprocess.run(
        # Python 3.12 warns about every fork of a process with threads.
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-W",
            "ignore:This process",
            "-c",
            before + textwrap.dedent(body),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.nightly
def test_exit_with_work_under_way():
    """A program may exit while the device is busy and arrays are alive."""
    for work in range(100_000, 100_003):  # the first run of each compiles a kernel
        status, _, errors = child(f"f = scaled(work={work})\nfor _ in range(5): f(x, y)")
        assert (status, errors) == (0, "")


@pytest.mark.parametrize("call", ["f(x, y)", "y.numpy()", "x.copyfrom(y)", "dev.sync()"])
def test_exit_with_daemon_threads(call):
    """At exit, current calls of daemon threads finish, and new ones do not start."""
    status, _, errors = child(f"""
        f, dev = scaled(), tvm.opencl()
        def work():
            while True:
                {call}
        for _ in range(2):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
    """)
    assert (status, errors) == (0, "")


def test_devices_are_not_for_forked_processes():
    """A forked child gets an error, because only the parent has the threads it would wait for."""
    status, output, errors = child("""
        f = scaled(); f(x, y); y.numpy()
        if (process := os.fork()) == 0:
            for use in (y.numpy, lambda: f(x, y), tvm.devices, lambda: tvm.nd.array([1.0])):
                try:
                    use()
                except tvm.TVMError as error:
                    print(error.code, "spawn" in str(error), flush=True)
            sys.exit()
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    """)
    assert (status, output, errors) == (0, "TL5006 True\n" * 4 + "0\n", "")


def test_forked_processes_do_not_wait_for_threads_that_compile():
    """Compiler threads exist only in the parent. No device is open, so the child may compile."""
    status, output, errors = child(
        """
        def work():
            with tvm.target.Target("opencl"):
                while True: scaled(work=100)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        for _ in range(10):
            if (process := os.fork()) == 0:
                signal.alarm(2)
                sys.exit()
            print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
        os._exit(0)
        """,
        before=FUNCTIONS,
    )
    assert (status, output, errors) == (0, "0\n" * 10, "")


def test_exit_by_an_error():
    status, _, errors = child("f = scaled(); f(x, y); f()")
    assert status == 1
    assert "error[TL5001]" in errors
    assert "Fatal" not in errors


def test_interrupted_while_building():
    """Ctrl-C interrupts a long search as it does any Python loop."""
    status, output, errors = child("""
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                scaled()
        except KeyboardInterrupt:
            print("interrupted")
        f = scaled(); f(x, y); y.numpy()  # and all still works
    """)
    assert (status, output, errors) == (0, "interrupted\n", "")


def test_interrupted_while_waiting():
    """Ctrl-C interrupts waiting for a long kernel: Python continues, and the device may go on."""
    status, output, errors = child("""
        tvm.runtime.show_notices(True)
        f = scaled(work=30_000_000)
        f(x, y)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.time()
        try:
            y.numpy()
        except KeyboardInterrupt:
            print("interrupted", time.time() - begin < 10, flush=True)
            os._exit(0)
    """)
    assert (status, output) == (0, "interrupted True\n")
    assert INTERRUPTED.fullmatch(errors)


GRAPH = """
from texloom.graph import Graph

def graph_of(work):
    g = Graph("g")
    x = g.input("x", (64,))
    k = te.reduce_axis((0, work), name="k")
    sums = lambda t: te.compute((64,), lambda i: te.sum(te.sin(t[i] * k), axis=k), name="Y")
    (y,) = g.op("y", "sums", sums, [x])
    g.output(y)
    return g.compile("opencl")

given = {"x": np.ones(64, "float32")}
"""


def test_a_graph_interrupted_while_waiting():
    """Ctrl-C interrupts the run of a graph as that of a function; later runs are right."""
    status, output, errors = child(
        """
        tvm.runtime.show_notices(True)
        short, long = graph_of(2), graph_of(3_000_000)
        short.run(given)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                long.run(given)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(abs(short.run(given)["y"] - np.sin(1)).max() < 1e-6)
        """,
        before=FUNCTIONS + GRAPH,
    )
    assert (status, output) == (0, "interrupted\nTrue\n")
    assert INTERRUPTED.match(errors)


def test_a_compilation_of_a_graph_interrupted():
    """Ctrl-C ends the threads that compile a graph's kernels; the graph can be compiled again."""
    status, output, errors = child(
        """
        def graph(kernels):
            g = Graph("g")
            x = g.input("x", (64,))
            for n in range(kernels):  # kernels of different texts, which take a while
                k = te.reduce_axis((0, 8 + n), name="k")
                body = lambda t: te.compute((64,), lambda i: te.sum(te.sin(t[i] * k), axis=k))
                g.output(*g.op(f"y{n}", "sums", body, [x]))
            return g
        g, sent = graph(600), []
        def send():
            sent.append(time.time())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, send).start()
        try:
            g.compile("opencl", passes=())
        except KeyboardInterrupt:
            print("interrupted", time.time() - sent[0] < 1)
        print(len(graph(2).compile("opencl").run(given)))
        """,
        before=FUNCTIONS + GRAPH,
    )
    assert (status, output, errors) == (0, "interrupted True\n2\n", "")


def test_an_evaluation_of_constants_interrupted():
    """Ctrl-C interrupts the interpreter, which computes a model's constants at its import."""
    status, output, errors = child("""
        import onnx
        from onnx import helper
        from texloom.onnx.model import Model
        count = 30  # seconds of work on a fast processor
        nodes = [helper.make_node("Erf", [f"c{n}"], [f"c{n + 1}"]) for n in range(count)]
        nodes.append(helper.make_node("Add", [f"c{count}", "x"], ["y"]))
        values = [helper.make_tensor_value_info(n, 1, [4000, 4000]) for n in "xy"]
        constants = [onnx.numpy_helper.from_array(np.ones((4000, 4000), "float32"), "c0")]
        graph = helper.make_graph(nodes, "g", values[:1], values[1:], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        sent = []
        def send():
            sent.append(time.time())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, send).start()
        try:
            Model(model)
        except KeyboardInterrupt:
            print("interrupted", time.time() - sent[0] < 1)
    """)
    assert (status, output, errors) == (0, "interrupted True\n", "")


@pytest.mark.nightly
def test_interrupted_twice():
    """At exit, the first Ctrl-C says what the process waits for, and the second ends it."""
    status, _, errors = child("""
        tvm.runtime.show_notices(True)
        f = scaled(work=30_000_000)
        f(x, y)
        for seconds in (0.5, 3):  # daemon threads, for which Python does not wait when it ends
            timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.daemon = True
            timer.start()
        try:
            y.numpy()
        except KeyboardInterrupt:
            pass
        time.sleep(0.5)
    """)
    assert status == 130
    assert INTERRUPTED.match(errors)
    assert "texloom: waiting for the device to complete its work; Ctrl-C ends the process" in errors
    assert errors.endswith("texloom: ended by Ctrl-C; work on the device was not complete\n")


@pytest.mark.parametrize("shown", [True, False])
def test_long_compilations_have_a_notice(shown):
    """After two seconds, one line in a log says that PoCL compiles a kernel at its first run."""
    if not has_pocl():
        pytest.skip("only PoCL takes long for a kernel that runs long")
    _, _, errors = child(f"""
        tvm.runtime.show_notices({shown})
        f = scaled(work=30_000_000)
        f(x, y)
        threading.Timer(3.5, lambda: os._exit(0)).start()
        y.numpy()
    """)
    said = r"texloom: the device compiles and first runs kernel 2 of 2, \w+ \(.* of source\)\n"
    assert re.fullmatch(said if shown else "", errors)


@pytest.mark.nightly
def test_a_terminal_shows_a_bar_of_compilations():
    if not has_pocl():
        pytest.skip("only PoCL takes long for a kernel that runs long")
    _, output, _ = child("""
        tvm.runtime.show_notices(True)
        import io
        class Terminal(io.StringIO):
            isatty = lambda self: True
        sys.stderr = Terminal()
        f = scaled(work=30_000_000)
        f(x, y)
        def end():
            print(repr(sys.stderr.getvalue()), flush=True)
            os._exit(0)
        threading.Timer(3.5, end).start()
        y.numpy()
    """)
    assert output.count("\\r\\x1b[Ktexloom: [##########..........] 2 s the device compiles") > 1
    assert "\\n" not in output


def test_an_unusable_cache_gives_one_warning():
    """If the cache folder cannot be made, one warning gives the reason, and runs go on."""
    status, output, errors = child(
        """
        import warnings
        os.environ["TEXLOOM_CACHE_DIR"] = "/dev/null/cache"
        x, y = tvm.nd.array(np.ones(64, "float32")), tvm.nd.empty((64,))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for i in (1, 2):
                f = scaled(work=i); f(x, y); y.numpy()
        print(*[w.message for w in caught])
    """,
        before=FUNCTIONS,
    )
    assert (status, errors) == (0, "")
    assert output.count("TL5017") == 1
    assert "cannot make the folder /dev/null/cache: Not a directory" in output


def test_an_unusable_cache_gives_a_warning_for_graphs():
    """Commands run graphs, and so get the warning, too."""
    status, output, errors = child(
        """
        import warnings
        os.environ["TEXLOOM_CACHE_DIR"] = "/dev/null/cache"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            graph_of(2).run(given)
        print(*[w.message for w in caught])
        """,
        before=FUNCTIONS + GRAPH,
    )
    assert (status, errors) == (0, "")
    assert output.count("TL5017") == 1


def test_kernels_are_stored_among_the_users_caches(tmp_path):
    """If the default folder cannot be made, no warning comes, since no user named the folder."""
    for caches in (tmp_path, "/dev/null"):
        status, _, errors = child(
            f"""
            os.environ.pop("TEXLOOM_CACHE_DIR", None)
            os.environ.update(XDG_CACHE_HOME="{caches}", POCL_CACHE_DIR="{tmp_path}/pocl")
            x, y = tvm.nd.array(np.ones(64, "float32")), tvm.nd.empty((64,))
            f = scaled(work=1); f(x, y); y.numpy()
        """,
            before=FUNCTIONS,
        )
        assert (status, errors) == (0, "")
    assert list((tmp_path / "texloom").iterdir())


def test_interrupted_while_launching():
    """Ctrl-C stops thousands of launches, in one run or in many; later calls still work."""
    status, output, errors = child("""
        tvm.runtime.show_notices(True)
        x, y = tvm.nd.array(np.ones((700_000, 1))), tvm.nd.empty((700_000, 1), "float64")
        a = te.placeholder(x.shape, "float64", name="A")
        b = te.compute(a.shape, lambda i, j: a[i, j] + 1, name="B")
        s = te.create_schedule(b.op)
        s[b].bind(b.op.axis[1], te.thread_axis("blockIdx.x"))
        f, g = tvm.build(s, [a, b]), scaled()
        one, two = tvm.nd.array(np.ones(64, "float32")), tvm.nd.empty((64,))
        for run in (lambda: f(x, y), lambda: g.enqueue(2**30, one, two)):
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            begin = time.time()
            try:
                run()
            except KeyboardInterrupt:
                print("interrupted", time.time() - begin < 5)
        g(one, two); two.numpy()
    """)
    assert (status, output) == (0, "interrupted True\n" * 2)
    # On a busy machine, the notice about the device's compiler may come first.
    assert INTERRUPTED.search(errors)


def test_other_threads_run_while_one_waits():
    """Waiting for the device does not hold Python's lock."""
    status, output, errors = child("""
        f = scaled(work=200_000)
        f(x, y); y.numpy()
        ticks = 0
        def count():
            global ticks
            while True:
                time.sleep(0.01)
                ticks += 1
        threading.Thread(target=count, daemon=True).start()
        begin, before = time.time(), ticks
        f(x, y); y.numpy()
        seconds = time.time() - begin
        print(ticks - before > seconds / 0.01 / 10, seconds > 0.1)
    """)
    assert (status, output, errors) == (0, "True True\n", "")


@pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")
def test_a_forked_child_exits_after_native_code_ran():
    """Threads of the linker would not be in the child, which would wait for them."""
    body = """
        x = te.placeholder((64,), name="X")
        y = te.compute((64,), lambda i: x[i] + 1, name="Y")
        f = tvm.build(te.create_schedule(y.op), [x, y], "llvm")
        f(np.ones(64, "float32"))
        if (process := os.fork()) == 0:
            signal.alarm(10)
            sys.exit(0)
        print(os.waitpid(process, 0)[1])
        """
    assert child(body, FUNCTIONS)[:2] == (0, "0\n")
