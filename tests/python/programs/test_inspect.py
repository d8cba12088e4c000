"""`texloom inspect` shows packages, and refuses other files with a message."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import texloom as tvm
from texloom import te
from texloom.__main__ import main
from texloom.custom import host_operator
from texloom.examples.texel_schedules import spread
from texloom.graph import Graph
from texloom.inspect.describe import _needs, counted


def plus_one(x):
    return te.compute(x.shape, lambda *i: x[i] + 1.0, name="plus_one")


def spread_first(outputs, _inputs, _scopes, _target):
    s = te.create_schedule(outputs[0].op)
    spread(s, outputs[0])
    return s


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Make a package: a function of two kernels around a texture, and a symbolic function."""
    x = te.placeholder((6, 10, 4), name="X")
    y = te.compute(x.shape, lambda *i: x[i] * 2, name="Y")
    s = te.create_schedule(y.op)
    cache = s.cache_read(x, "texture", [y])
    for stage in (s[cache], s[y]):
        stage.bind(stage.op.axis[0], te.thread_axis("blockIdx.x"))
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    t = te.create_schedule(b.op)
    t[b].bind(b.op.axis[0], te.thread_axis("blockIdx.x"))
    programs = [tvm.lower(s, [x, y], name="doubled"), tvm.lower(t, [a, b], name="counted")]
    path = tmp_path_factory.mktemp("inspect") / "both.tlp"
    tvm.build(programs, target="opencl -device=adreno").export_library(path)
    return path


def test_text_shows_what_runs(package, capsys):
    assert main(["inspect", str(package)]) == 0
    text = capsys.readouterr().out
    for line in (
        "package doubled: X -> Y",
        f"written by Texloom {tvm.__version__}",
        "needs images of 10 x 6 texels",
        "X       float32[6, 10, 4]  0           global  960 bytes  row-major",
        "X.texture  10 x 6 texels of rgba32float",
        "launch doubled_kernel0(X, X.texture), 6 x 1 x 1 groups",
        "package counted: A -> B, symbols n",
        "a buffer sized at the call",
    ):
        assert line in text


def test_json_has_everything(package, capsys):
    assert main(["inspect", str(package), "--json"]) == 0
    doubled, counted = json.loads(capsys.readouterr().out)
    variant = doubled["variants"][0]
    assert variant["target"].startswith("opencl -device=adreno")
    assert [(s["tensor"], s["storage_id"], s["storage_scope"]) for s in variant["stores"]] == [
        ("X", 0, "global"),
        ("Y", 1, "global"),
    ]
    assert [step["step"] for step in variant["steps"]] == ["allocate", "launch", "launch", "free"]
    assert variant["temporaries"][0]["storage"]["format"] == "rgba32float"
    assert [code["format"] for code in variant["modules"][0]] == ["OpenCL C", "IR"]
    assert doubled["operations"] == 240
    assert counted["symbols"] == ["n"]
    assert counted["tensors"][0]["shape"] == ["n"]
    assert counted["variants"][0]["steps"][0]["groups"] == ["n", 1, 1]
    assert doubled["writer"] == counted["writer"] == tvm.__version__


def test_needs_of_images_alone_are_shown():
    needs = dict.fromkeys(
        ("float64", "float16_arithmetic", "max_image_width", "max_image_height")
        + ("max_work_group_size", "local_bytes", "buffer_bytes"),
        0,
    )
    assert _needs({**needs, "images": True}) == "images"
    assert _needs({**needs, "images": True, "float64": True}) == "images, float64"
    assert _needs({**needs, "images": False}) == "nothing special"


def test_numbers_and_parts(tmp_path, capsys):
    a = te.placeholder((8,), name="A")
    f = te.var("f", "float32")
    b = te.compute(a.shape, lambda i: a[i] * f, name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("blockIdx.x"))
    scaled = tmp_path / "scaled.tlp"
    tvm.build(s, [a, f, b], target="opencl", name="scaled").export_library(scaled)
    assert main(["inspect", str(scaled), "--json"]) == 0
    [view] = json.loads(capsys.readouterr().out)
    assert view["numbers"] == [{"name": "f", "position": 1, "dtype": "float32"}]
    assert main(["inspect", str(scaled)]) == 0
    assert "f: float32, argument 1 of a call" in capsys.readouterr().out

    g = Graph("joined")
    x = g.input("x", (64, 4))
    buffers = {"global": ("global", "global")}
    parts = [g.node(name, plus_one, [x], spread_first, buffers) for name in ("a", "b")]
    g.output(g.node("y", plus_one, [g.concat("c", parts, 0)], spread_first, buffers))
    joined = tmp_path / "joined.tlp"
    g.compile("opencl").save(joined)
    assert main(["inspect", str(joined), "--json"]) == 0
    [view] = json.loads(capsys.readouterr().out)
    assert view["variants"][0]["parts"] == [
        {"tensor": "a", "whole": "c", "offset": 0, "x": 0, "y": 0},
        {"tensor": "b", "whole": "c", "offset": 64 * 4 * 4, "x": 0, "y": 0},
    ]
    assert main(["inspect", str(joined)]) == 0
    assert "b is part of c, at byte 1,024" in capsys.readouterr().out


def test_a_picture_does_not_overwrite_its_package(package, capsys):
    content = package.read_bytes()
    with pytest.raises(SystemExit):
        main(["inspect", str(package), "--svg", str(package)])
    assert "--svg would overwrite" in capsys.readouterr().err
    assert package.read_bytes() == content


def test_a_picture_is_drawn_beside_the_table(package, tmp_path, capsys):
    """``--svg`` says where the picture is, and tables that are asked for are shown, too."""
    picture = tmp_path / "p.svg"
    assert main(["inspect", str(package), "--svg", str(picture)]) == 0
    shown = capsys.readouterr()
    assert (shown.out, str(picture) in shown.err) == ("", True)
    assert main(["inspect", str(package), "--scopes", "--svg", str(picture)]) == 0
    with_picture = capsys.readouterr().out
    assert main(["inspect", str(package), "--scopes"]) == 0
    assert with_picture == capsys.readouterr().out != ""


@pytest.mark.parametrize("content", [None, b"", b"PK\3\4", "cut"])
def test_refused_file_is_one_message(package, tmp_path, content):
    path = tmp_path / "f.tlp"
    if content is not None:
        path.write_bytes(package.read_bytes()[:-9] if content == "cut" else content)
    command = [sys.executable, "-m", "texloom", "inspect", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"texloom inspect: '{path}' ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_ended_is_no_error(package):
    """A closed pipe, as in ``texloom inspect FILE | head -1``, is no error."""
    command = [sys.executable, "-m", "texloom", "inspect", str(package)]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(("count", "text"), [(1, "1 constant"), (2000, "2,000 constants")])
def test_plurals(count, text):
    assert counted(count, "constant") == text


@pytest.fixture(scope="module")
def graph_package(tmp_path_factory):
    """Make a package of a graph: two kernels with a host operator between them."""

    @host_operator("test::sorted", {"x": "read", "y": "write"})
    def in_order(x, y):
        y[...] = np.sort(x)

    g = Graph("middle")
    x = g.input("x", (8, 4), "float32")
    first = g.node("first", plus_one, [x], spread_first, {"global": ("global",) * 2})
    middle = g.custom("middle", in_order, [first])
    g.output(g.node("last", plus_one, [middle], spread_first, {"global": ("global",) * 2}))
    path = tmp_path_factory.mktemp("inspect") / "middle.tlp"
    g.compile("opencl").save(path)
    return path


def test_schedule_waits_only_for_the_host(graph_package, capsys):
    assert main(["inspect", str(graph_package), "--schedule"]) == 0
    text = capsys.readouterr().out
    assert "3 invocations" in text
    first, middle, last = text.splitlines()[2:]
    assert first.endswith("the first one")
    assert "middle  test::sorted" in middle and "host" in middle and "wait" in middle
    assert middle.endswith("runs on the host")
    assert last.endswith("the host has run what comes before")


def test_schedule_as_json_and_with_waits(graph_package, capsys):
    assert main(["inspect", str(graph_package), "--schedule", "--wait-each", "--json"]) == 0
    [view] = json.loads(capsys.readouterr().out)
    assert [each["transition"] for each in view["invocations"]] == ["start", "wait", "start"]
    assert [each["encoding"] for each in view["invocations"]] == ["kernels", "host", "kernels"]
    with pytest.raises(SystemExit):
        main(["inspect", str(graph_package), "--wait-each"])


def test_metadata_is_stored_and_shortened(tmp_path, capsys):
    g = Graph("named")
    g.output(
        g.node("y", plus_one, [g.input("x", (8, 4))], spread_first, {"global": ("global",) * 2})
    )
    compiled = g.compile("opencl")
    compiled._core.annotate({"scopes": "as chosen"})  # as if costs had chosen
    labels = "\n".join(f"class {n}" for n in range(100))
    path = tmp_path / "named.tlp"
    compiled.save(path, {"license": "MIT", "labels": labels, "scopes": "of the author"})
    assert main(["inspect", str(path), "--json"]) == 0
    [view] = json.loads(capsys.readouterr().out)
    assert view["metadata"] == {"license": "MIT", "labels": labels, "scopes": "as chosen"}
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert "license: 'MIT'" in text and "class 5" in text and "class 50" not in text
    for wrong in ({"": "nameless"}, {"count": 3}, {4: "four"}):
        with pytest.raises(tvm.TVMError, match="the metadata .* are not a name and a string"):
            compiled.save(path, wrong)
