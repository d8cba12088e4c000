"""Arrays on devices: copies in and out, for every dtype, shape and scope."""

import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from metal_devices import metal_devices

import texloom as tvm
from texloom import te
from texloom.graph import Graph

DTYPES = ["float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"]
DTYPES += ["int64", "uint64", "bool"]
TEXTURE_DTYPES = ["float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32"]


def values(shape, dtype):
    rng = np.random.default_rng(12)
    if dtype == "bool":
        return rng.integers(0, 2, size=shape).astype(bool)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffers(dev, dtype):
    host = values((3, 5), dtype)
    array = tvm.nd.array(host, dev)
    assert (array.shape, array.dtype, array.scope) == ((3, 5), dtype, "global")
    assert array.device == dev
    got = array.numpy()
    assert got.dtype == host.dtype
    np.testing.assert_array_equal(got, host)


@pytest.mark.parametrize("scope", ["texture", "texture:weight", "texture:nhwc"])
@pytest.mark.parametrize("dtype", TEXTURE_DTYPES)
def test_textures(dev, dtype, scope):
    for shape in ((3, 5), (7,), (2, 3, 2, 4), (1, 2, 3, 2, 1, 6)):
        host = values(shape, dtype)
        array = tvm.nd.array(host, dev, scope)
        assert array.scope == scope
        np.testing.assert_array_equal(array.numpy(), host)


def test_repr(dev):
    array = tvm.nd.empty((2, 3), "int8", dev, "texture")
    assert repr(array) == f"NDArray((2, 3), int8, {dev!r}, texture)"


def test_what_is_not_contiguous(dev):
    """Slices, transposes and reversed views are copied with the values that NumPy shows."""
    base = values((6, 8), "float32")
    for view in (base.T, base[::2, 1::3], base[::-1], np.broadcast_to(base[0], (3, 8))):
        for scope in ("", "texture"):
            np.testing.assert_array_equal(tvm.nd.array(view, dev, scope).numpy(), view)


def test_byte_order_of_the_host(dev):
    """A big-endian array is copied by value, not by its bytes."""
    host = np.arange(5, dtype=">i4")
    np.testing.assert_array_equal(tvm.nd.array(host, dev).numpy(), host)


def test_from_lists_and_numbers(dev):
    np.testing.assert_array_equal(tvm.nd.array([[1.5, 2.5]], dev).numpy(), [[1.5, 2.5]])
    assert tvm.nd.array(3.0, dev).numpy() == 3.0
    assert tvm.nd.array(3.0, dev).shape == ()


def test_empty_takes_any_shape_spelling(dev):
    for shape in (4, np.int32(4), [4], (np.int64(4),)):
        assert tvm.nd.empty(shape, device=dev).shape == (4,)
    assert tvm.nd.empty((2, 3)).dtype == "float32"
    assert tvm.nd.empty(te.placeholder((2, 3)).shape, device=dev).shape == (2, 3)


def test_copyfrom(dev):
    """The array keeps its memory; its values change."""
    array = tvm.nd.empty((3, 5), "int32", dev, "texture")
    for seed in range(2):
        host = np.random.default_rng(seed).integers(0, 100, (3, 5), dtype="int32")
        array.copyfrom(host)
        np.testing.assert_array_equal(array.numpy(), host)


def test_copies_are_copies(dev):
    """Later changes to an array do not affect its copies, and vice versa."""
    host = np.zeros(4, "float32")
    array = tvm.nd.array(host, dev)
    host[:] = 1
    first = array.numpy()
    first[:] = 2
    np.testing.assert_array_equal(array.numpy(), 0)


def test_devices():
    assert tvm.opencl(0) == tvm.opencl() == tvm.cl(0) == tvm.device("opencl", 0)
    assert tvm.opencl(0) != tvm.opencl(1)
    assert len({tvm.opencl(0), tvm.cl(0), tvm.opencl(1)}) == 2
    assert tvm.device("opencl -device=adreno", 0) == tvm.opencl(0)
    with pytest.raises(ValueError, match="no device kind"):
        tvm.device("abacus")
    info = tvm.devices()[0]
    assert info["name"] and info["platform"]
    assert info["images"] in (True, False)
    everywhere = [(device["driver"], device["id"]) for device in tvm.devices()]
    assert len(set(everywhere)) == len(everywhere)
    assert all(name and reason for name, reason in info["quirks"].items())


def test_devices_of_all_drivers():
    """GPUs come first, OpenCL before Metal, then the host; the null driver must be named."""
    drivers = [device["driver"] for device in tvm.devices()]
    counts = [len(tvm.devices("opencl")), len(metal_devices())]
    assert drivers == ["opencl"] * counts[0] + ["metal"] * counts[1] + ["host"]
    assert [device["driver"] for device in tvm.devices("null")] == ["null"]
    assert tvm.device("opencl:1") == tvm.opencl(1) and tvm.device("host") == tvm.device("host:0")
    assert str(tvm.device("host:0")) == "host(0)" and tvm.device("host").exist
    assert not tvm.device("host:1").exist and not tvm.device("metal:9").exist
    with pytest.raises(ValueError, match="no driver 'abacus'"):
        tvm.devices("abacus")
    with pytest.raises(ValueError, match="no device kind 'abacus:0'"):
        tvm.device("abacus:0")
    for name in ("opencl:one", "opencl:", "opencl:-1", "opencl 1", ":0", "", " "):
        with pytest.raises(TypeError, match=f"'{name}' is not the name of a device") as raised:
            tvm.device(name)
        assert 'write it as "opencl:0"; `texloom devices` lists' in str(raised.value)
    assert tvm.device("opencl -device=mali") == tvm.device("opencl")  # the text of a target
    with pytest.raises(tvm.TVMError, match="copy all arguments to one device"):
        doubled()(tvm.nd.empty((4,)), tvm.nd.empty((4,), device="host:0"))


def doubled():
    """Build Y = X * 2 of four elements."""
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    return tvm.build(s, [x, y])


def test_the_host_runs_kernels():
    """The reference interpreter runs kernels without OpenCL, also with textures."""
    host = tvm.device("host:0")
    y = tvm.nd.empty((4,), device=host)
    doubled()(tvm.nd.array(np.arange(4, dtype="float32"), host), y)
    np.testing.assert_array_equal(y.numpy(), [0, 2, 4, 6])
    image = tvm.nd.array(np.arange(8, dtype="float32").reshape(2, 4), host, "texture")
    np.testing.assert_array_equal(image.numpy().ravel(), np.arange(8))
    assert repr(image) == "NDArray((2, 4), float32, host(0), texture)"
    host.sync()


def test_rows_of_different_lengths():
    """Lists of lists are arrays if all rows have the same length, else a diagnostic."""
    ragged, array = [[1.0, 2.0], [3.0]], tvm.nd.empty((2, 2), device="host:0")
    graph = Graph("g")
    x = graph.input("x", (2, 2))
    (y,) = graph.op("y", "double", lambda t: te.compute((2, 2), lambda i, j: t[i, j] * 2), [x])
    graph.output(y)
    compiled = graph.compile()
    for use in (
        lambda: tvm.nd.array(ragged),
        lambda: array.copyfrom(ragged),
        lambda: graph.constant("c", ragged),
        lambda: compiled.run({"x": ragged}, "host:0"),
    ):
        with pytest.raises(TypeError, match=r"TL2040(.|\n)*rows of an array differ in length"):
            use()
    assert tvm.nd.array([[1.0, 2.0], [3.0, 4.0]], "host:0").shape == (2, 2)


def test_numbers_of_devices():
    """Any device number from 0 is valid for every kind, whether or not the device exists."""
    assert tvm.cpu(np.int64(1)).device_id == 1 and not tvm.opencl(1000).exist
    for make in (tvm.cpu, tvm.cuda, tvm.metal, tvm.vulkan, tvm.opencl, tvm.cl):
        for junk in ("x", -1, 1.0, None, 2**70):
            with pytest.raises(TypeError, match=r"TL2040(.|\n)*the device number is"):
                make(junk)
    for kind in ("cpu", "opencl"):
        with pytest.raises(TypeError, match="the device number is -1"):
            tvm.device(kind, -1)


def test_without_opencl_no_device_exists(tmp_path):
    """Asking for a device is not an error; using it is."""
    script = """
import texloom as tvm
assert not tvm.opencl().exist and not tvm.device("opencl", 3).exist
try:
    tvm.nd.empty((4,))
except tvm.TVMError as error:
    assert error.code == "TL5006"
else:
    raise AssertionError
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={
            **os.environ,
            "OCL_ICD_VENDORS": f"{tmp_path}/",  # a folder without OpenCL implementations
            "PYTHONPATH": str(Path(tvm.__file__).parents[1]),
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_memory_statistics(dev):
    """An array's bytes count while it lives; the peak is kept."""

    def now():
        return dev.memory_statistics["device"]

    before = now()
    array = tvm.nd.empty((1000,), "float32", dev)
    assert now()["bytes"] == before["bytes"] + 4000
    assert now()["objects"] == before["objects"] + 1
    assert now()["peak_bytes"] >= now()["bytes"]
    del array
    assert (now()["bytes"], now()["objects"]) == (before["bytes"], before["objects"])
    assert set(dev.memory_statistics) == {"device", "shared", "managed", "imported", "workspace"}


def test_statistics_of_the_workspace(dev):
    """A stage between two kernels uses the device's pool, which also serves the second call."""
    x = te.placeholder((64,), name="X")
    y = te.compute((64,), lambda i: x[i] + 1, name="Y")
    z = te.compute((64,), lambda i: y[i] * 2, name="Z")
    s = te.create_schedule(z.op)
    for stage in (y, z):
        s[stage].bind(stage.op.axis[0], te.thread_axis("threadIdx.x"))
    a, b = tvm.nd.array(np.ones(64, "float32"), dev), tvm.nd.empty((64,), device=dev)
    f = tvm.build(s, [x, z])
    f(a, b)
    before = dev.memory_statistics["workspace"]
    assert before["bytes_held"] >= 64 * 4
    f(a, b)
    after = dev.memory_statistics["workspace"]
    assert after["requests"] == before["requests"] + 1
    assert after["driver_allocations"] == before["driver_allocations"]


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def test_arrays_are_freed(dev):
    """After 200 arrays of 4 MiB, one after another, less than a tenth of their memory is in use."""
    values = np.ones(2**20, "float32")
    tvm.nd.array(values, dev)
    before = resident_bytes()
    for _ in range(200):
        tvm.nd.array(values, dev)
    assert resident_bytes() - before < 20 * values.nbytes


def test_arrays_of_arrays(dev):
    """nd.array accepts a device array like a NumPy array, and NumPy converts it, too."""
    host = np.arange(6, dtype="int32").reshape(2, 3)
    first = tvm.nd.array(host, dev, "texture")
    second = tvm.nd.array(first, dev)
    assert second.dtype == "int32"
    np.testing.assert_array_equal(second, host)
    assert np.asarray(first, dtype="float64").dtype == "float64"


def test_copyfrom_converts(dev):
    """Values convert to the array's dtype; the shape stays, and the array is returned."""
    array = tvm.nd.empty((3,), "float16", dev)
    for source in ([1, 2, 3], np.array([1.0, 2.0, 3.0]), tvm.nd.array([1.0, 2.0, 3.0], dev)):
        array[:] = 0
        assert array.copyfrom(source) is array
        np.testing.assert_array_equal(array, [1, 2, 3])
    with pytest.raises(tvm.TVMError, match="TL5003"):
        array.copyfrom([1, 2])
    for junk in ("abc", [None] * 3, object()):
        with pytest.raises(TypeError, match="takes numbers"):
            array.copyfrom(junk)


def test_copyto_is_for_devices(dev):
    with pytest.raises(ValueError, match=r"type ndarray(.|\n)*use numpy\(\)"):
        tvm.nd.empty((3,), device=dev).copyto(np.zeros(3, "float32"))


LAYOUTS = ("buffer[(i, j) -> cols=(j, i)]", "texture[(h, c) -> rows=c, cols=h/4, lanes=h%4]")


def test_copies_lie_as_what_they_are_copied_from(dev):
    """A texture's copy is a texture of the same layout, unless mem_scope says otherwise."""
    host = np.arange(24, dtype="float32").reshape(4, 6)
    for place in ({"mem_scope": "texture"}, {"mem_scope": "texture:weight"}, {}) + tuple(
        {"layout": layout} for layout in LAYOUTS
    ):
        array = tvm.nd.array(host, dev, **place)
        copied = array.copyto(dev)
        assert (copied.scope, copied.layout) == (array.scope, array.layout)
        np.testing.assert_array_equal(copied, host)
        plain = array.copyto(dev, "global")
        assert (plain.scope, plain.layout) == ("global", "linear")
        on_host = array.copyto(tvm.cpu())
        assert on_host.scope == "global" and (on_host.numpy() == host).all()


def test_copyto_an_array_of_another_scope(dev):
    """An array's scope is fixed: another scope is refused, not ignored."""
    source = tvm.nd.array(np.ones((2, 4), "float32"), dev)
    for to in (tvm.nd.empty((2, 4), device=dev), tvm.nd.empty((2, 4), device=tvm.cpu())):
        assert source.copyto(to, "global") is to
        for given in (source, tvm.nd.array(source, tvm.cpu())):
            with pytest.raises(
                ValueError, match=r"TL5004(.|\n)*in 'global' cannot be in 'texture'"
            ):
                given.copyto(to, "texture")


PLACES = ("cpu", "opencl")


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((2, -1), "TL1001"),
        (-3, "TL1001"),
        ((2.5,), r"TL2040(.|\n)*is \(2.5,\), not a list of extents"),
        (4.0, "TL2040"),
        (("2", "3"), "TL2040"),
        ("23", "TL2040"),
        (None, "TL2040"),
        ((2**50, 2**20), "TL5009"),
        ((2**70,), "TL5009"),
    ],
)
def test_shapes_that_no_array_has(where, shape, says):
    """An impossible shape gives the same error on devices and on the host."""
    with pytest.raises(tvm.TVMError, match=says):
        tvm.nd.empty(shape, "float32", where)


def test_an_array_that_the_host_has_no_memory_for():
    with pytest.raises(tvm.TVMError, match=r"TL5009(.|\n)*the host has no memory"):
        tvm.nd.empty((2**56,), "float32", tvm.cpu())


@pytest.mark.parametrize("where", PLACES)
def test_options_that_buffers_do_not_take(where):
    with pytest.raises(tvm.TVMError, match="TL5004"):
        tvm.nd.empty((4,), device=where, origin=(1, 0))
    with pytest.raises(tvm.TVMError, match="TL5004"):
        tvm.nd.empty((4,), device=where, image=(4, 4))
    with pytest.raises(tvm.TVMError, match="TL4003"):
        tvm.nd.empty((4,), device=where, target="nonsense")
    with pytest.raises(TypeError, match="TL2040"):
        tvm.nd.empty((4,), device=where, target=3)


JUNK = {
    "complex": np.ones(3, "complex64"),
    "words": ["1", "2", "3"],
    "records": np.zeros(3, [("x", "float32")]),
    "objects": [None] * 3,
    "times": np.zeros(3, "datetime64[s]"),
}


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("junk", JUNK)
def test_arrays_take_numbers(where, junk):
    array = tvm.nd.array([1.0, 2.0, 3.0], where)
    for give in (array.copyfrom, lambda x: array.__setitem__(slice(None), x), tvm.nd.array):
        with pytest.raises(TypeError, match=r"TL2040(.|\n)*takes numbers, not"):
            give(JUNK[junk])
    np.testing.assert_array_equal(array, [1, 2, 3])


def test_parts_of_arrays_of_the_host():
    array = tvm.nd.array(np.zeros((2, 3)), tvm.cpu())
    array[1] = [1, 2, 3]
    array[0, 1:] = 7
    np.testing.assert_array_equal(array, [[0, 7, 7], [1, 2, 3]])
    with pytest.raises(
        ValueError, match=r"TL5003(.|\n)*\(2,\) cannot be assigned to one of shape \(3,\)"
    ):
        array[1] = [1, 2]
    for key in (2, (0, 0, 0), "x"):
        with pytest.raises(ValueError, match="TL5003"):
            array[key] = 1
    with pytest.raises(ValueError, match="as int32 needs a copy"):
        np.asarray(array.__array__(np.dtype("int32"), copy=False))


def test_arrays_of_the_host(dev):
    values = np.arange(6, dtype="float32").reshape(2, 3)
    host = tvm.nd.array(values, tvm.cpu(0))
    assert host.device == tvm.cpu(0) and host.shape == (2, 3) and host.dtype == "float32"
    there = host.copyto(dev)
    assert there.device == dev and (there.numpy() == values).all()
    back = there.copyto(tvm.cpu())
    assert isinstance(back, type(host)) and (back.asnumpy() == values).all()
    empty = tvm.nd.empty((2, 3), "float", "cpu")
    assert (there.copyto(empty).numpy() == values).all() and empty.dtype == "float32"
    host[:] = 7
    assert (there.copyfrom(host).numpy() == 7).all()
    tvm.cpu().sync()


def test_arrays_of_the_host_are_no_arguments(dev):
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("threadIdx.x"))
    with pytest.raises(tvm.TVMError, match=r"TL50\d\d"):
        tvm.build(s, [x, y])(tvm.nd.empty((4,), device=tvm.cpu()), tvm.nd.empty((4,), device=dev))
    with pytest.raises(tvm.TVMError, match="TL2001"):
        tvm.nd.empty((4, 4), device=tvm.cpu(), mem_scope="texture")
    with pytest.raises(tvm.TVMError, match="TL5002|WrongShape|shape"):
        tvm.nd.empty((4,), device=tvm.cpu()).copyfrom(np.zeros(5))


TAKE_ALL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6_000_000_000,) * 2)
import texloom
held = []
try:
    while len(held) < 1000:
        held.append(texloom.nd.empty((2**28,), "int8", texloom.opencl(int(sys.argv[1]))))
except texloom.TVMError as error:
    print(len(held), error)
while len(held) > 1:
    held.pop()
held.append(texloom.nd.empty((2**28,), "int8", held[0].device))
"""


def test_arrays_beyond_the_memory_are_refused(dev):
    """The array is refused: PoCL would allocate it only at the first write, and then abort."""
    if dev.info["type"] != "cpu":
        pytest.skip("a limit of the process is none of the device's memory")
    done = subprocess.run(
        [sys.executable, "-c", TAKE_ALL, str(dev.device_id)],
        capture_output=True,
        text=True,
        check=True,
    )
    count, said = done.stdout.split(" ", 1)
    assert 1 < int(count) < 6_000_000_000 / 2**28
    assert re.search(r"TL5009\].*no memory for 256 MiB more: .* GiB of .* GiB are in use", said)


def test_one_array_over_the_limit_of_the_device(dev):
    with pytest.raises(tvm.TVMError, match=r"TL5009(.|\n)*of 1 PiB is over the limit of device"):
        tvm.nd.empty((2**50,), "int8", dev)
