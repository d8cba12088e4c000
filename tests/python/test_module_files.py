"""Compiled functions in files: a loaded function computes the same, other files are refused."""

import json
import os
import zipfile

import numpy as np
import pytest

import texloom as tvm
from texloom import te

VALUES = np.random.default_rng(20).standard_normal((6, 10, 4)).astype("float32")


def doubled(binds=False):
    """Build Y = 2 X through a texture: two kernels and a temporary, or a texture as argument."""
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
    f.export_library(tmp_path / "doubled.so")
    g = tvm.runtime.load_module(tmp_path / "doubled.so")
    assert (g.name, g.target, g.get_source()) == (f.name, f.target, f.get_source())
    assert [repr(k) for k in g.kernels] == [repr(k) for k in f.kernels]
    x, y = tvm.nd.array(VALUES, dev), tvm.nd.empty(VALUES.shape, device=dev)
    g(x, y)
    np.testing.assert_array_equal(y.numpy(), VALUES * 2)
    with pytest.raises(tvm.TVMError, match="TL5003"):
        g(x, tvm.nd.empty((6, 10), device=dev))


def test_arguments_keep_their_places(dev, tmp_path):
    """A texture may begin anywhere, and transform_layout may reshape a tensor."""
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
    f.save(str(tmp_path / "f.o"))
    assert tvm.runtime.load_module(tmp_path / "f.o").get_source() == f.get_source()


def changed(tmp_path, member, change):
    """Write a module file with one member changed, or omitted if `change` returns None."""
    doubled().export_library(tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "f") as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(tmp_path / "g", "w") as archive:
        for name, text in members.items():
            if text is not None:
                archive.writestr(name, text)
    return tmp_path / "g"


def manifest(**changes):
    return lambda text: json.dumps({**json.loads(text), **changes})


DAMAGE = {
    "another format": ("manifest.json", manifest(format="zip"), "not a module file"),
    "another version": ("manifest.json", manifest(version=99), "has version 99"),
    "no manifest": ("manifest.json", lambda _: None, "manifest.json"),
    "a list as manifest": ("manifest.json", lambda _: "[]", "damaged"),
    "no JSON": ("manifest.json", lambda text: text[:-9], "damaged"),
    "a nest of lists": ("manifest.json", lambda _: "[" * 100000, "damaged"),
    "a key is missing": ("manifest.json", lambda t: t.replace('"target"', '"t"'), "target"),
    "no kernels": ("manifest.json", manifest(kernels=[]), "kernels or the arguments"),
    "kernels are no list": ("manifest.json", manifest(kernels=7), "damaged"),
    "a source is missing": ("kernels/0-doubled_kernel0.cl", lambda _: None, "damaged"),
    "arguments are numbers": ("manifest.json", manifest(arguments=[1, 2]), "manifest"),
    "another program": ("program.tl", lambda text: text.replace("launch", "lunch"), "TL600"),
    "another stage": (
        "program.tl",
        lambda _: "program f stage=loops\n  param A: global float32[4]\n  A[0] = 1.0\n",
        "kernels or the arguments",
    ),
}
SHAPES = [[0, 40, 1], [6, 10], [-6, -10, 4], [1 << 62, 4, 4], ["6", 10, 4], [6, 10, 8]]


@pytest.mark.parametrize(("member", "change", "problem"), DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_files_are_refused(tmp_path, member, change, problem):
    with pytest.raises(tvm.TVMError, match=problem):
        tvm.runtime.load_module(changed(tmp_path, member, change))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_that_no_argument_has_are_refused(tmp_path, shape):
    def change(text):
        declared = json.loads(text)
        declared["arguments"][0]["shape"] = shape
        return json.dumps(declared)

    with pytest.raises(tvm.TVMError, match="TL5012"):
        tvm.runtime.load_module(changed(tmp_path, "manifest.json", change))


def test_bytes_that_are_wrong_are_noticed(tmp_path):
    """The file is truncated, or one byte is changed: the archive has checksums."""
    doubled().export_library(tmp_path / "f")
    whole = (tmp_path / "f").read_bytes()
    middle = whole.index(b"program.tl") + 40
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for damaged in (b"", whole[:1], whole[: len(whole) // 2], whole[:-1], flipped):
        (tmp_path / "f").write_bytes(damaged)
        with pytest.raises(tvm.TVMError, match="TL5012"):
            tvm.runtime.load_module(tmp_path / "f")


def test_files_that_cannot_be_read_or_written(tmp_path):
    f = doubled()
    for path in ("", tmp_path, tmp_path / "nothing" / "f"):
        for write in (f.export_library, f.save, lambda path: f.save(path, "cl")):
            with pytest.raises(tvm.TVMError, match="TL5012.*cannot be written"):
                write(path)
        with pytest.raises(tvm.TVMError, match="TL5012.*cannot be read"):
            tvm.runtime.load_module(path)


def test_earlier_file_stays_until_the_new_one_is_complete(tmp_path):
    f = doubled()
    f.export_library(tmp_path / "f")
    before = (tmp_path / "f").read_bytes()
    (tmp_path / "f.part").mkdir()
    with pytest.raises(tvm.TVMError, match="TL5012.*cannot be written"):
        f.export_library(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == before


def test_devices_and_pipes_are_not_read(tmp_path):
    """They may never end."""
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(tvm.TVMError, match="TL5012.*cannot be read: it is not a file"):
            tvm.runtime.load_module(path)
