"""Custom operators that are Python functions on the host: calls, errors, threads, shapes."""

import re
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from softshrink import VALUES, pair

import texloom
from texloom import custom, nd


def plus(name="test::plus"):
    @custom.host_operator(
        name, {"x": "read", "y": "write"}, attributes={"n": "integer", "scale": 1.0}
    )
    def op(x, y, n, scale):
        y[...] = scale * x + n

    return op


@pytest.fixture(params=["opencl", "host"])
def device(request):
    return texloom.device(request.param, 0)


@pytest.mark.parametrize("scope", [None, "texture"])
def test_a_function_sees_row_major_arrays_wherever_they_are(device, scope):
    x, y = pair(device, scope)
    plus()(x, y, n=3)
    assert np.array_equal(y.numpy(), VALUES + 3)
    plus()(x, y, n=np.int64(1), scale=2)
    assert np.array_equal(y.numpy(), 2 * VALUES + 1)


def test_in_out_arguments(device):
    @custom.host_operator("test::double", {"x": "read_write texture"})
    def double(x):
        x *= 2

    x = nd.array(VALUES, device, "texture")
    for _ in range(3):
        double(x)
    assert np.array_equal(x.numpy(), 8 * VALUES)


def test_operators_follow_compiled_functions(dev):
    a = texloom.te.placeholder((36,), name="A")
    b = texloom.te.compute((36,), lambda i: a[i] * 2, name="B")
    s = texloom.te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], texloom.te.thread_axis("threadIdx.x"))
    double = texloom.build(s, [a, b], "opencl")
    x, y = pair(dev, values=VALUES.reshape(36))
    z = nd.empty((36,), "float32", dev)
    double(x, y)
    plus()(y, z, n=1)
    double(z, y)
    assert np.array_equal(y.numpy(), 2 * (2 * VALUES.reshape(36) + 1))


def test_dtypes_choose_a_variant(device):
    @custom.host_operator(
        "test::half",
        {"x": "read", "y": "write"},
        dtypes=[["int32", "float32"], ["uint8", "float32"]],
    )
    def half(x, y):
        y[...] = x / 2

    for dtype in ("int32", "uint8"):
        x = nd.array(np.arange(6, dtype=dtype), device)
        y = nd.empty((6,), "float32", device)
        half(x, y)
        assert np.array_equal(y.numpy(), np.arange(6) / 2)
    with pytest.raises(texloom.TVMError, match=r"no variant for \(float32, float32\)"):
        half(*pair(device))


def message_of(op, device, **attributes):
    x, y = pair(device)
    op(x, y, **attributes)
    with pytest.raises(texloom.TVMError) as raised:
        y.numpy()
    y.numpy()  # the error is raised once, and the device can be used again
    (diagnostic,) = raised.value.diagnostics
    return diagnostic


def test_an_exception_is_the_error_of_the_run(device):
    @custom.host_operator("test::raises", {"x": "read", "y": "write"})
    def raises(x, y):
        raise ValueError("no such value\nmore about it")

    message = message_of(raises, device).message
    assert 'operator "test::raises": raised ValueError: no such value, at' in message
    assert "more" not in message
    assert __file__ in message


# An exception's text may be unprintable, and its `diagnostics` may be another library's.
def test_exceptions_of_any_kind(device):
    class WithoutText(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    class WithDiagnostics(Exception):
        diagnostics = ()

    raised = {
        r"raised WithoutText: \(a message that cannot be printed\), at ": WithoutText(),
        r"raised ValueError: a\\ud800b, at ": ValueError("a\ud800b"),
        "raised WithDiagnostics: other, at ": WithDiagnostics("other"),
        "raised SystemExit: 3, at ": SystemExit(3),
    }
    for message, error in raised.items():

        @custom.host_operator("test::raises", {"x": "read", "y": "write"})
        def raises(x, y, /, error=error):
            raise error

        diagnostic = message_of(raises, device)
        assert re.search(message, diagnostic.message)
        assert "correct the function" in diagnostic.help


WAITS = {
    "sync": lambda device, array: device.sync(),
    "numpy": lambda device, array: array.numpy(),
    "array": lambda device, array: nd.array(VALUES, device),
    "checked": lambda device, array: plus().checked(
        array, nd.empty(VALUES.shape, "float32", device), n=1
    ),
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_function_may_not_wait(device, wait):
    other = nd.array(VALUES, device)

    @custom.host_operator("test::waits", {"x": "read", "y": "write"})
    def waits(x, y):
        WAITS[wait](device, other)

    diagnostic = message_of(waits, device)
    assert 'operator "test::waits" waits' in diagnostic.message
    assert "in the queue's order" in diagnostic.help


def test_a_function_may_call_operators(device):
    other, result = pair(device)

    @custom.host_operator("test::calls", {"x": "read", "y": "write"})
    def calls(x, y):
        plus()(other, result, n=1)

    calls(*pair(device))
    device.sync()  # waits for the function, which calls the other operator
    device.sync()
    assert np.array_equal(result.numpy(), VALUES + 1)


# After a resize, the function's array and the tensor would differ in size.
def test_a_function_may_not_resize(device):
    @custom.host_operator("test::resizes", {"x": "read", "y": "write"})
    def resizes(x, y):
        y.resize((1,), refcheck=False)

    diagnostic = message_of(resizes, device)
    assert 'resized the array "y"' in diagnostic.message
    assert "y[...] = x" in diagnostic.help


def test_a_function_returns_nothing_and_keeps_inputs(device):
    @custom.host_operator("test::returns", {"x": "read", "y": "write"})
    def returns(x, y):
        return x

    @custom.host_operator("test::writes", {"x": "read", "y": "write"})
    def writes(x, y):
        x[...] = 0

    diagnostic = message_of(returns, device)
    assert "returned a NumPy array" in diagnostic.message
    assert "y[...] = x" in diagnostic.help
    assert "read-only" in message_of(writes, device).message


def test_threads_that_run_and_wait_at_once(device):
    failures = []

    def work(number):
        op = plus(f"test::plus{number}")
        x, y = pair(device)
        for i in range(20):
            op(x, y, n=i + number)
            if not np.array_equal(y.numpy(), VALUES + i + number):
                failures.append((number, i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_process_may_end_while_functions_run(tmp_path):
    script = tmp_path / "ends.py"
    script.write_text(
        textwrap.dedent("""
        import time, numpy as np, texloom
        from texloom import custom, nd

        @custom.host_operator("test::slow", {"x": "read_write"})
        def slow(x):
            time.sleep(0.05)
            print("called", flush=True)

        x = nd.array(np.zeros(4, "float32"), texloom.device("host", 0))
        for _ in range(3):
            slow(x)
        """)
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "called\n" * 3


# Functions of atexit run in reverse order, so the script's function runs after devices are closed.
@pytest.mark.parametrize("ending", ["pass", "x.numpy()"])
def test_an_operator_that_runs_when_python_ends(tmp_path, ending):
    script = tmp_path / "late.py"
    script.write_text(
        textwrap.dedent(f"""
        import atexit, time

        def late():
            for _ in range(3):
                slow(x)
            try:
                {ending}
            except texloom.TVMError as error:
                print(error.diagnostics[0].message)
            print("late", flush=True)

        atexit.register(late)

        import numpy as np, texloom
        from texloom import custom, nd

        @custom.host_operator("test::slow", {{"x": "read_write"}})
        def slow(x):
            time.sleep(0.05)

        x = nd.array(np.zeros(4, "float32"), texloom.device("host", 0))
        """)
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("late\n")
    assert ("Python is ending and calls no more functions" in done.stdout) == (ending != "pass")


def test_calls_that_do_not_fit(device):
    x, y = pair(device)
    cases = {
        "takes 2 arrays but is called with 1": lambda: plus()(x, n=1),
        "'y' of operator .* is an int": lambda: plus()(x, 1, n=1),
        "overlap in memory": lambda: plus()(x, x, n=1),
        '"n" of type integer is missing': lambda: plus()(x, y),
        '"n" is integer, got float': lambda: plus()(x, y, n=0.5),
        "'n' is a list": lambda: plus()(x, y, n=[1]),
        'has no attribute "k"': lambda: plus()(x, y, n=1, k=2),
        "reads 1 tensors, got 0": lambda: plus().shapes(n=1),
    }
    for message, call in cases.items():
        with pytest.raises(texloom.TVMError, match=message):
            call()


def test_shapes():
    @custom.host_operator(
        "test::rows",
        {"x": "read", "y": "write"},
        attributes={"n": 2},
        shapes=lambda inputs, n: [("int32", (inputs[0][1][0] * n,))],
    )
    def rows(x, y, n):
        pass

    assert rows.shapes(("float32", (3, 4)), n=5) == [("int32", (15,))]
    with pytest.raises(texloom.TVMError, match="shapes of operator .*: raised IndexError"):
        rows.shapes(("float32", ()))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (3, "returned value is an int, not a list"),
        ([], "returned 0 outputs instead of 1"),
        ([("float32", (2,))] * 2, "returned 2 outputs instead of 1"),
        ([(2, 3)], "has an int in place of a dtype's name"),
        ([["float31", (2,)]], "has 'float31', which is not a dtype"),
        (["float32"], r"has a str in place of \(dtype, shape\)"),
        ([("float32", 2)], "has an int in place of a shape"),
        ([("float32", (2, 0.5))], "has a float in place of an extent"),
        ([("float32", (2**70,))], "extent that does not fit in 64 bits"),
    ],
)
def test_what_a_function_for_shapes_returns_is_checked(returned, message):
    @custom.host_operator("test::f", {"x": "read", "y": "write"}, shapes=lambda inputs: returned)
    def f(x, y):
        pass

    with pytest.raises(texloom.TVMError, match=message) as raised:
        f.shapes(("float32", (2,)))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "TL5021"
    assert 'operator "test::f"' in diagnostic.message
    assert '(dtype, shape) for each output (y), as [("float32", (2, 4))]' in diagnostic.help


def test_a_function_must_take_what_is_declared():
    with pytest.raises(
        texloom.TVMError, match="cannot be called with the declared arguments"
    ) as raised:

        @custom.host_operator("test::f", {"x": "read", "y": "write"}, attributes={"n": 1})
        def f(x, y):
            pass

    assert "def f(x, y, n)" in str(raised.value)


# Other names are refused: if arguments were passed by position, x would silently become y.
def test_parameters_have_the_names_of_the_arguments(device):
    declared = custom.host_operator("test::f", {"x": "read", "y": "write"})
    for function in (lambda y, x: None, lambda a, b: None):
        with pytest.raises(
            texloom.TVMError, match="where the declaration has the argument 'x'"
        ) as raised:
            declared(function)
        assert "def f(x, y), or" in raised.value.diagnostics[0].help
    with pytest.raises(texloom.TVMError, match="cannot be called .* not a callable object"):
        declared(3)

    def by_place(a, b, /):
        b[...] = a

    def any_number(*arrays):
        by_place(*arrays)

    for function in (by_place, any_number):
        x, y = pair(device)
        declared(function)(x, y)
        assert np.array_equal(y.numpy(), VALUES)
