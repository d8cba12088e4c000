"""Metallibs in packages. The compiler of the software Metal stands in for Apple's."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from metal_devices import metal_devices

import texloom
from texloom import te
from texloom.command_line.metallibs import add_metallibs
from texloom.graph import Graph, load

BUILD = Path(__file__).parents[3] / "build"
if not (BUILD / "softmetal-compile").exists():
    pytest.skip("this build has no software Metal", allow_module_level=True)

# Takes the arguments of xcrun: -sdk macosx metal OPTION... FILE.metal -o FILE.metallib
XCRUN = f"""#!{sys.executable}
import os, sys
given = sys.argv[4:]
with open({{calls!r}}, "a") as calls:
    calls.write(" ".join(sys.argv[1:-3]) + "\\n")
options = [each for each in given if each != "-fno-fast-math"]  # softmetal's default
os.execv({str(BUILD / "softmetal-compile")!r}, ["softmetal-compile", *options])
"""
FAILING = "#!/bin/sh\necho 'no such sdk' >&2\nexit 1\n"
KIND = b"softmetal library 2"  # the first bytes of each metallib


@pytest.fixture
def xcrun(tmp_path, monkeypatch):
    """Return a function that installs a program as xcrun and returns a reader of its calls."""
    calls = tmp_path / "calls"
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def install(program=XCRUN):
        path = tmp_path / "bin/xcrun"
        path.write_text(program.replace("{calls!r}", repr(str(calls))))
        path.chmod(0o755)
        return lambda: calls.read_text().splitlines() if calls.exists() else []

    return install


def times(factor):
    """A node whose kernel multiplies by the factor."""
    return lambda x: te.compute(x.shape, lambda i: x[i] * te.const(factor, "float32"), name="Y")


def on_threads(outputs, *_):
    s = te.create_schedule(outputs[0].op)
    s[outputs[0]].bind(outputs[0].op.axis[0], te.thread_axis("threadIdx.x"))
    return s


def package(path, target):
    """Three nodes; two of them have the same kernel."""
    g = Graph("small")
    edge = g.input("x", (8,))
    for name, factor in {"a": 2, "b": 3, "y": 2}.items():
        edge = g.node(name, times(factor), [edge], on_threads, {"global": ("global", "global")})
    g.output(edge)
    g.compile(target=target).save(path)
    return path


def test_a_relative_path_finds_xcrun(tmp_path, xcrun, monkeypatch):
    xcrun()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"bin{os.pathsep}{os.environ['PATH']}")
    assert add_metallibs(package(tmp_path / "m.tlp", "metal")) == 2


def test_a_metallib_has_contents(tmp_path, xcrun):
    xcrun('#!/bin/sh\nfor last; do :; done\n: > "$last"\n')
    path = package(tmp_path / "m.tlp", "metal")
    with pytest.raises(texloom.TVMError, match="made no metallib: xcrun printed no message"):
        add_metallibs(path)


def test_each_source_gets_one(tmp_path, xcrun):
    calls = xcrun()
    path = package(tmp_path / "m.tlp", "metal")
    before = path.read_bytes()
    assert add_metallibs(path) == len(calls()) == path.read_bytes().count(KIND) == 2
    assert before.count(KIND) == 0
    assert set(calls()) == {"-sdk macosx metal -fno-fast-math -std=macos-metal2.3"}
    again = path.read_bytes()
    assert add_metallibs(path) == 2 and path.read_bytes() == again


@pytest.mark.parametrize("number", range(len(metal_devices())))
def test_the_package_runs(tmp_path, xcrun, number):
    xcrun()
    device = texloom.metal(number)
    path = package(tmp_path / "m.tlp", texloom.target.Target.from_device(device))
    add_metallibs(path)
    x = np.arange(8, dtype="float32")
    np.testing.assert_array_equal(load(path).run({"x": x}, device)["y"], 12 * x)


def test_the_language_is_that_of_the_target(tmp_path, xcrun):
    calls = xcrun()
    add_metallibs(package(tmp_path / "m.tlp", "metal -device=m3 -msl=3.2"))
    assert set(calls()) == {"-sdk macosx metal -fno-fast-math -std=metal3.2"}


def test_the_package_may_go_to_another_file(tmp_path, xcrun):
    xcrun()
    path = package(tmp_path / "m.tlp", "metal")
    before = path.read_bytes()
    assert add_metallibs(path, tmp_path / "n.tlp") == 2
    assert path.read_bytes() == before
    add_metallibs(path)
    assert path.read_bytes() == (tmp_path / "n.tlp").read_bytes()


def test_nothing_changes_without_the_compiler(tmp_path, xcrun, monkeypatch):
    path = package(tmp_path / "m.tlp", "metal")
    before = path.read_bytes()
    xcrun(FAILING)
    told = "made no metallib: no such sdk(.|\n)*--metallib"
    with pytest.raises(texloom.TVMError, match=told) as refused:
        add_metallibs(path)
    assert refused.value.code == "TL5010"
    monkeypatch.setenv("PATH", str(tmp_path))
    told = "there is no xcrun on this machine(.|\n)*Xcode"
    with pytest.raises(texloom.TVMError, match=told) as refused:
        add_metallibs(path)
    assert refused.value.code == "TL5016"
    assert path.read_bytes() == before


def test_messages_may_be_in_any_encoding(tmp_path, xcrun):
    xcrun("#!/bin/sh\nprintf 'kein \\303\\234bersetzer: \\334' >&2\nexit 1\n")
    with pytest.raises(texloom.TVMError, match="kein Übersetzer: \N{REPLACEMENT CHARACTER}"):
        add_metallibs(package(tmp_path / "m.tlp", "metal"))


def test_sources_are_in_utf8_in_every_locale(xcrun):
    xcrun("#!/bin/sh\ncp kernels.metal kernels.metallib\n")
    program = """
from texloom.command_line.metallibs import _compiled, find_xcrun
metallib, _ = _compiled(find_xcrun(), ("// \\u00fc", [], False))
assert metallib == b"// \\xc3\\xbc", metallib
"""
    python = str(Path(texloom.__file__).parents[1])
    ascii_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ascii_locale, "PYTHONPATH": python},
    )
    assert done.returncode == 0, done.stderr


def test_other_kernels_have_none(tmp_path, xcrun):
    xcrun()
    path = package(tmp_path / "m.tlp", "opencl")
    with pytest.raises(
        texloom.TVMError, match="no kernel in Metal's language(.|\n)*--target metal"
    ):
        add_metallibs(path)
