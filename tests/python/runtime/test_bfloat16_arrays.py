"""Arrays of bfloat16, a dtype that NumPy lacks: copies, and values as float32."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import texloom as tvm

# Values that bfloat16 represents exactly: signs, the largest, the least normal, a subnormal.
EXACT = np.array([0, -0.0, 1, -1.5, 3.3895314e38, 2.0**-126, 2.0**-133, np.inf, -np.inf], "float32")


def test_copies(dev):
    """Copies between arrays and to new ones keep every bit, without a NumPy dtype."""
    first = tvm.nd.empty((9,), "bfloat16", dev).copyfrom(EXACT)
    second = tvm.nd.empty((9,), "bfloat16", dev)
    assert first.copyto(second) is second
    for copied in (second, first.copyto(dev), tvm.nd.array(first, dev)):
        assert (copied.dtype, copied.shape) == ("bfloat16", (9,))
        values = np.asarray(copied, "float32")
        assert (values.view("uint32") == EXACT.view("uint32")).all()


def test_conversions(dev):
    """Values round to nearest, ties to even, and convert to any NumPy dtype."""
    step = 2.0**-7  # between neighboring values from 1 to 2
    given = np.array([1 + step / 2, 1 + 1.5 * step, 1 + step * 0.51, 1e39, np.nan], "float64")
    with np.errstate(over="ignore"):
        array = tvm.nd.empty((5,), "bfloat16", dev).copyfrom(given)
    expected = np.array([1, 1 + 2 * step, 1 + step, np.inf, np.nan])
    np.testing.assert_array_equal(np.asarray(array, "float64"), expected)
    array[:] = 3
    np.testing.assert_array_equal(np.asarray(array, "int32"), 3)
    floats = tvm.nd.empty((5,), "float32", dev).copyfrom(array)
    np.testing.assert_array_equal(floats.numpy(), 3)
    assert array.copyfrom(floats) is array
    on_host = tvm.nd.empty((5,), "float32", tvm.cpu())
    np.testing.assert_array_equal(array.copyto(on_host).numpy(), 3)
    scalar = tvm.nd.empty((), "bfloat16", dev).copyfrom(2.5)
    assert np.asarray(scalar, "float32") == 2.5


def test_every_nan_stays_one(dev):
    """A NaN stays NaN, even if its payload is only in the bits that are cut off."""
    bits = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF80FFFF], "uint32")
    array = tvm.nd.empty((4,), "bfloat16", dev).copyfrom(bits.view("float32"))
    assert np.isnan(np.asarray(array, "float32")).all()


LACKED = """
import numpy as np, pytest, texloom as tvm
array = tvm.nd.empty((2,), "bfloat16", tvm.opencl())
for refused in (array.numpy, array.asnumpy, lambda: np.asarray(array)):
    with pytest.raises(ValueError, match=r'TL1005(.|\\n)*np\\.asarray\\(a, "float32"\\)'):
        refused()
for refused in (lambda: array.copyto(tvm.cpu()), lambda: tvm.nd.empty((2,), "bfloat16", tvm.cpu())):
    with pytest.raises(ValueError, match="cannot be bfloat16, which NumPy lacks"):
        refused()
"""


def run_alone(program: str) -> None:
    """Run a program in its own process, because a dtype that a library adds stays registered."""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)


def test_what_numpy_has_no_word_for():
    """NumPy has no bfloat16: errors say what to write instead; the host has no bfloat16 arrays."""
    run_alone(LACKED)


ADDED = """
import numpy as np, ml_dtypes, texloom as tvm
values = np.array([1, 2.5], "bfloat16")
array = tvm.nd.array(values, tvm.opencl())
got = array.numpy()
assert array.dtype == got.dtype.name == "bfloat16" and (got == values).all()
"""


def test_where_a_library_has_added_the_dtype():
    """A library's bfloat16 becomes the dtype of arrays."""
    if importlib.util.find_spec("ml_dtypes") is None:
        pytest.skip("ml_dtypes is not there")
    run_alone(ADDED)
