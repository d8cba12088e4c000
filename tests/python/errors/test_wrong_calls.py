"""Every public function and method rejects wrong arguments with our own messages."""

import inspect
import warnings

import pytest

import texloom as tvm
from texloom import te

MODULES = (
    tvm,
    te,
    te.schedule,
    te.tag,
    tvm.arith,
    tvm.ir,
    tvm.nd,
    tvm.runtime,
    tvm.target,
    tvm.testing,
    tvm.tir,
)
FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}
# assert_allclose uses NumPy's messages for arrays that it cannot compare, and te.prod does not
# check a list of several values.
del FUNCTIONS[f"{tvm.testing.__name__}.assert_allclose"], FUNCTIONS["texloom.te.prod"]
# Any number may be the address of an object of the application.
del FUNCTIONS["texloom.opencl_of"], FUNCTIONS["texloom.metal_of"]
JUNK = (None, 3, -1.5, "texture", [], [None], {}, object())


def stage_and_axis():
    x = te.placeholder((8, 4), name="X")
    y = te.compute((8, 4), lambda i, j: x[i, j] + 1, name="Y")
    s = te.create_schedule(y.op)
    return s, s[y]


def objects():
    """Return one object of each class with public methods."""
    s, stage = stage_and_axis()
    x = stage.op.input_tensors[0]
    return [
        s,
        stage,
        stage.op,
        x,
        x[0],
        x[0, 0] + 1,
        stage.op.axis[0],
        tvm.decl_buffer((4,)),
        tvm.arith.Analyzer(),
        tvm.nd.empty((4,)),
        tvm.tir.ir_builder.create(),
    ]


METHODS = [
    (type(each), name)
    for each in objects()
    for name in dir(type(each))
    if not name.startswith("_") and callable(getattr(type(each), name))
]


def calls():
    """Return arguments by position and by name: too few, too many, of wrong types."""
    for value in JUNK:
        for count in range(4):
            yield (value,) * count, {}
    yield (None,) * 15, {}
    yield (), {"no_such_parameter": 1}


def problem_of(function, args, options):
    """Return what is wrong with the error of the call, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*args, **options)
    except tvm.TVMError as error:
        (diagnostic,) = error.diagnostics
        in_text = function is tvm.parse and diagnostic.file in ("<text>", *args)
        if diagnostic.file != __file__ and not in_text:
            return f"{args} {options}: the line is that of {diagnostic.file}"
        if len(diagnostic.help) < 10:
            return f"{args} {options}: no way out: {diagnostic.help!r}"
    except IndexError:
        pass  # Python's own error for an index past the end
    except Exception as error:
        return f"{args} {options}: {error!r}"
    return None


def found(function):
    return [problem for call in calls() if (problem := problem_of(function, *call))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    problems = found(FUNCTIONS[name])
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(("kind", "name"), METHODS, ids=lambda p: getattr(p, "__name__", p))
def test_methods(kind, name):
    problems = []
    for call in calls():
        (own,) = [each for each in objects() if type(each) is kind]
        problems += filter(None, [problem_of(getattr(own, name), *call)])
    assert not problems, "\n".join(problems)
