"""Compiled functions in files: loaded ones give the same results, damaged files are refused."""

import os
import zipfile

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(20).standard_normal((6, 10, 4)).astype("float32")


def doubled(binds=False):
    """Build Y = 2 X with a texture: a temporary between two kernels, or an argument."""
    x = te.placeholder(VALUES.shape, name="X")
    y = te.compute(VALUES.shape, lambda *i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    if not binds:
        cache = s.cache_read(x, "texture", [y])
        s[cache].bind(s[cache].op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    declared = {x: tvm.decl_buffer(x.shape, scope="texture", origin=True)} if binds else None
    return tvm.build(s, [x, y], "opencl -device=pocl", name="doubled", binds=declared)


def test_function_of_a_file(dev, tmp_path):
    f = doubled()
    with pytest.warns(tvm.errors.TexloomWarning, match=r"doubled\.so' is a package, though"):
        f.export_library(tmp_path / "doubled.so")  # as TVM's scripts name it, which run on
    g = tvm.runtime.load_module(tmp_path / "doubled.so")
    assert (g.name, g.target, g.get_source()) == (f.name, f.target, f.get_source())
    assert [repr(k) for k in g.kernels] == [repr(k) for k in f.kernels]
    x, y = tvm.nd.array(VALUES, dev), tvm.nd.empty(VALUES.shape, device=dev)
    g(x, y)
    np.testing.assert_array_equal(y.numpy(), VALUES * 2)
    with pytest.raises(tvm.TVMError, match="TL5003"):
        g(x, tvm.nd.empty((6, 10), device=dev))


def test_arguments_keep_their_places(dev, tmp_path):
    """Arguments with texture origins, and those that transform_layout reshaped, are restored."""
    doubled(binds=True).export_library(tmp_path / "f")
    f = tvm.runtime.load_module(str(tmp_path / "f"))
    x = tvm.nd.empty(VALUES.shape, device=dev, mem_scope="texture", origin=(3, 2), image=(30, 20))
    x.copyfrom(VALUES)
    y = tvm.nd.empty(VALUES.shape, device=dev)
    f(x, y)
    np.testing.assert_array_equal(y.numpy(), VALUES * 2)

    p = te.placeholder((6, 40), name="P")
    q = te.compute((6, 40), lambda i, j: p[i, j] + 1, name="Q")
    s = te.create_schedule(q.op)
    s[p].transform_layout(lambda i, j: [j // 4, i, j % 4])
    s[q].bind(q.op.axis[0], te.thread_axis("blockIdx.x"))
    tvm.build(s, [p, q]).export_library(tmp_path / "g")
    v = np.arange(240, dtype="float32").reshape(6, 40)
    packed = tvm.nd.array(v.reshape(6, 10, 4).transpose(1, 0, 2).copy(), dev)
    y = tvm.nd.empty((6, 40), device=dev)
    tvm.runtime.load_module(tmp_path / "g")(packed, y)
    np.testing.assert_array_equal(y.numpy(), v + 1)


def test_one_function_is_always_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        doubled().export_library(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    tvm.runtime.load_module(tmp_path / "a").export_library(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_save(tmp_path):
    f = doubled()
    f.save(str(tmp_path / "f.cl"))
    assert (tmp_path / "f.cl").read_text() == f.get_source()
    f.save(str(tmp_path / "f.tlp"))
    assert tvm.runtime.load_module(tmp_path / "f.tlp").get_source() == f.get_source()
    with pytest.warns(tvm.errors.TexloomWarning, match="though its name says an object file"):
        f.save(str(tmp_path / "f.o"))  # only native code becomes one


def test_functions_of_one_file(dev, tmp_path):
    """A module of several functions is one file, whatever their targets."""
    x = te.placeholder((8,), name="X")
    y = te.compute((8,), lambda i: x[i] + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    other = tvm.lower(s, [x, y], name="other")
    group = tvm.build([tvm.lower(s, [x, y], name="one"), other], target="opencl -device=pocl")
    group.export_library(tmp_path / "both")
    loaded = tvm.runtime.load_module(tmp_path / "both")
    assert [f.name for f in loaded.imported_modules] == ["one", "other"]
    assert loaded.get_source() == group.get_source()
    a, b = tvm.nd.array(np.arange(8, dtype="float32"), dev), tvm.nd.empty((8,), device=dev)
    loaded["other"](a, b)
    np.testing.assert_array_equal(b.numpy(), np.arange(8) + 1)


def test_tensors_of_one_name(dev, tmp_path):
    """Two arguments may have the same name; the tensors of a package may not."""
    x, y = te.placeholder((4,), name="X"), te.placeholder((4,), name="X")
    z = te.compute((4,), lambda i: x[i] - y[i], name="Z")
    s = te.create_schedule(z.op)
    s[z].bind(z.op.axis[0], te.thread_axis("blockIdx.x"))
    tvm.build(s, [x, y, z], "opencl -device=pocl").export_library(tmp_path / "f")
    arrays = [tvm.nd.array(np.float32([n, 2, 3, 4]), dev) for n in (7, 2)]
    result = tvm.nd.empty((4,), device=dev)
    tvm.runtime.load_module(tmp_path / "f")(*arrays, result)
    np.testing.assert_array_equal(result.numpy(), [5, 0, 0, 0])


def test_numbers_keep_their_positions(dev, tmp_path):
    """Between arrays, a loaded function takes a symbol and a scalar of a type that kernels lack."""
    n, factor = te.var("n"), te.var("factor", "float16")
    x = te.placeholder((n,), name="X", dtype="float16")
    y = te.compute((n,), lambda i: x[i] * factor, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    f = tvm.build(s, [x, factor, n, y], "opencl -device=pocl")
    f.export_library(tmp_path / "f")
    values = np.arange(5, dtype="float16")
    a, b = tvm.nd.array(values, dev), tvm.nd.empty((5,), "float16", dev)
    tvm.runtime.load_module(tmp_path / "f")(a, 0.5, 5, b)
    np.testing.assert_array_equal(b.numpy(), values / 2)


def refusal(tmp_path, content):
    """Return the message for a file with this content."""
    (tmp_path / "g").write_bytes(content)
    with pytest.raises(tvm.TVMError, match="TL5012") as error:
        tvm.runtime.load_module(tmp_path / "g")
    return str(error.value)


def test_damaged_files_are_refused(tmp_path):
    """Truncated files and files with one changed byte are refused: checksums cover all content."""
    doubled().export_library(tmp_path / "f")
    whole = (tmp_path / "f").read_bytes()
    for size in (0, 1, 3, 7, 63, len(whole) // 2, len(whole) - 1):
        assert "not a package" in (text := refusal(tmp_path, whole[:size])) or "damaged" in text
    for part in (b"program doubled", b"doubled_kernel0(", b"opencl -device"):
        at = whole.index(part)
        damaged = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        assert "checksum" in refusal(tmp_path, damaged)
    newer = whole[:4] + (99).to_bytes(4, "little") + whole[8:]
    text = refusal(tmp_path, newer)
    assert "written by a newer Texloom" in text and "(format 99" in text
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert "is not a package" in refusal(tmp_path, (tmp_path / "zip").read_bytes())


def test_files_that_cannot_be_read_or_written(tmp_path):
    f = doubled()
    for path in ("", tmp_path, tmp_path / "nothing" / "f"):
        for write in (f.export_library, f.save, lambda path: f.save(path, "cl")):
            with pytest.raises(tvm.TVMError, match="TL5018.*cannot be written"):
                write(path)
        with pytest.raises(tvm.TVMError, match="TL5018.*cannot be read"):
            tvm.runtime.load_module(path)


def test_failed_write_leaves_the_earlier_file(tmp_path):
    """A failed write keeps the earlier file, and leaves no temporary file."""
    doubled().export_library(tmp_path / "f")
    before = (tmp_path / "f").read_bytes()
    x = te.placeholder((4,), name="X")
    y = te.compute((4,), lambda i: x[x[i].astype("int32")], name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    checked = tvm.build(s, [x, y], "opencl -device=pocl", checked=True)
    with pytest.raises(tvm.TVMError, match="TL5012.*cannot be saved"):
        checked.export_library(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_devices_and_pipes_are_not_read(tmp_path):
    """Reading a device or a pipe might never end."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(tvm.TVMError, match="TL5018.*cannot be read: it is not a file"):
            tvm.runtime.load_module(path)
