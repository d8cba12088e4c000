"""Native code in packages, and ahead of time: what is loaded, and what is refused."""

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from llvm_plugin import has_llvm

import texloom
from texloom import te
from texloom.__main__ import main

pytestmark = pytest.mark.skipif(not has_llvm(), reason="the LLVM plug-in is not built")

ROOT = Path(__file__).parents[3]
MODEL = """<ir_version: 9, opset_import: ["" : 20]>
    two (float[3, 8] x) => (float[3, 8] y)
    <float[8, 8] w = {%s}> { h = MatMul(x, w)
      y = Softmax(h) }"""
A = np.random.default_rng(0).integers(-3, 4, (3, 8)).astype("float32")


def model():
    return onnx.parser.parse_model(MODEL % ",".join(str(i % 5 - 2) for i in range(64)))


def function(target, name="f"):
    x = te.placeholder((64,), name="X")
    y = te.compute((64,), lambda i: te.exp(x[i]) + 1, name="Y")
    s = te.create_schedule(y.op)
    s[y].bind(y.op.axis[0], te.thread_axis("blockIdx.x"))
    return texloom.build(s, [x, y], target, name=name)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A compiled graph of two kernels, and its package."""
    file = tmp_path_factory.mktemp("native") / "two.tlp"
    compiled = texloom.compile(model(), target="llvm -mcpu=native")
    compiled.save(file)
    return compiled, file


def refusal(call, *arguments, **options):
    with pytest.raises(texloom.TVMError) as caught:
        call(*arguments, **options)
    return str(caught.value)


def test_a_package_runs_where_its_native_code_is_taken(graph):
    compiled, file = graph
    want = compiled.run({"x": A})["y"]
    assert (texloom.graph.load(file, native=True).run({"x": A})["y"] == want).all()
    problem = refusal(texloom.graph.load, file)
    assert "TL5012" in problem and "has only native code, which is refused" in problem
    assert "native=True" in problem


def test_a_graph_is_one_object_with_the_needs_of_its_processor(graph, capsys):
    _, file = graph
    (variant,) = texloom._core.view_packages(str(file).encode())[0]["variants"]
    assert len(variant["kernels"]) > 1
    assert [[code["format"] for code in module] for module in variant["modules"]] == [
        ["native code"]
    ]
    main(["inspect", str(file)])
    architecture = "x86_64" if b"\x3e\x00" == object_in(file)[18:20] else "aarch64"
    assert architecture in capsys.readouterr().out


def object_in(file):
    content = file.read_bytes()
    return content[content.index(b"\x7fELF") :]


def test_functions_come_back_and_are_stored_again(tmp_path):
    f = function("llvm -mcpu=native")
    a = np.linspace(-2, 2, 64, dtype="float32")
    for name in ("first", "second"):
        f.export_library(tmp_path / name)
        assert "native=True" in refusal(texloom.runtime.load_module, tmp_path / name)
        g = texloom.runtime.load_module(tmp_path / name, native=True)
        assert (g(a) == f(a)).all()
        f = g


def test_a_processor_without_the_features_says_what_it_lacks(tmp_path):
    """No processor has both AMX and XOP, so each lacks one of them."""
    f = function("llvm -mtriple=x86_64-linux-gnu -mattr=+amx-tile,+xop")
    f.export_library(tmp_path / "f.tlp")
    load = texloom.graph.load(tmp_path / "f.tlp", native=True)
    problem = refusal(load.run, {"X": np.zeros(64, "float32")})
    assert "has no variant that" in problem and ("xop" in problem or "amx-tile" in problem)
    problem = refusal(f, np.zeros(64, "float32"))  # the same code, not from a file
    assert "native code needs the feature" in problem and "-mcpu=native" in problem


def test_the_first_variant_that_the_processor_can_run(tmp_path):
    one = texloom.compile(model(), target="llvm -mtriple=x86_64-linux-gnu -mattr=+amx-tile,+xop")
    one.save(tmp_path / "two.tlp", [texloom.compile(model(), target="llvm")])
    run = texloom.graph.load(tmp_path / "two.tlp", native=True).run({"x": A})["y"]
    assert np.allclose(run.sum(axis=1), 1)


def test_a_package_for_another_architecture(tmp_path):
    here = object_of(function("llvm"), tmp_path)[18]
    other = "x86_64-linux-gnu" if here == 183 else "aarch64-linux-gnu"
    f = function(f"llvm -mtriple={other}")
    assert object_of(f, tmp_path)[18] == (62 if here == 183 else 183)
    f.export_library(tmp_path / "f.tlp")
    problem = refusal(
        texloom.graph.load(tmp_path / "f.tlp", native=True).run, {"X": A[:1].repeat(8)}
    )
    assert f"needs {other.split('-')[0]}" in problem
    assert "a processor of" in refusal(f, np.zeros(64, "float32"))


def object_of(f, folder):
    f.export_library(folder / "object.tlp")
    return object_in(folder / "object.tlp")


def test_features_that_no_loader_checks_are_left_out():
    """`fsgsbase` is no feature that code for kernels uses, and none that the runtime knows."""
    problem = refusal(function, "llvm -mtriple=x86_64-linux-gnu -mattr=+fsgsbase")
    assert "no loader could check for the feature 'fsgsbase'" in problem


def test_a_damaged_object_is_refused_before_it_is_loaded(graph, tmp_path):
    _, file = graph
    content = bytearray(file.read_bytes())
    content[content.index(b"\x7fELF") + 200] ^= 1
    (tmp_path / "damaged.tlp").write_bytes(content)
    problem = refusal(texloom.graph.load, tmp_path / "damaged.tlp", native=True)
    assert "TL5012" in problem and "checksum" in problem
    assert "only native code, which is refused" in refusal(
        texloom.graph.load, tmp_path / "damaged.tlp"
    )


def test_commands_take_native_code_if_they_are_told_to(graph, tmp_path, capsys):
    compiled, file = graph
    np.save(tmp_path / "x.npy", A)
    run = ["run", str(file), "--input", f"x={tmp_path}/x.npy", "--output-dir", str(tmp_path)]
    assert main(run) == 1 and "--native" in capsys.readouterr().err
    assert main([*run, "--native"]) == 0
    assert (np.load(tmp_path / "y.npy") == compiled.run({"x": A})["y"]).all()


def test_an_object_file_and_a_header(tmp_path):
    onnx.save(model(), tmp_path / "two.onnx")
    words = ["compile", str(tmp_path / "two.onnx"), "--emit=object,header,package"]
    written = ["--target", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"]
    assert main([*words, *written, "-o", str(tmp_path / "net.o")]) == 0
    content = (tmp_path / "net.o").read_bytes()
    kind, machine = struct.unpack_from("<HH", content, 16)
    assert (content[:4], kind, machine) == (b"\x7fELF", 1, 183)  # relocatable, for aarch64
    header = (tmp_path / "net.h").read_text()
    assert (
        header.count("texloom_native_kernel ") > 1
        and "texloom_linked_kernels texloom_net" in header
    )
    package = (tmp_path / "net.tlp").read_bytes()
    assert b"\x7fELF" not in package
    problem = refusal(texloom.graph.load(tmp_path / "net.tlp").run, {"x": A})
    assert "aarch64" in problem  # kernels for another machine, whoever links them


def test_an_object_file_of_a_function(tmp_path):
    f = function("llvm")
    f.save(tmp_path / "exp.o")
    assert "texloom_linked_kernels texloom_exp" in (tmp_path / "exp.h").read_text()
    f.export_library(tmp_path / "f.tlp")
    stored = texloom.runtime.load_module(tmp_path / "f.tlp", native=True)
    assert "do not become an object file" in refusal(stored.save, tmp_path / "again.o")


@pytest.mark.parametrize("emit", ["object", "object,header", "package,object"])
def test_only_the_parts_that_are_named_are_written(emit, tmp_path, capsys):
    onnx.save(model(), tmp_path / "two.onnx")
    words = ["compile", str(tmp_path / "two.onnx"), "--target", "llvm", f"--emit={emit}"]
    assert main([*words, "-o", str(tmp_path / "net.o")]) == 0
    suffixes = {"object": ".o", "header": ".h", "package": ".tlp"}
    names = {f"net{suffixes[part]}" for part in emit.split(",")}
    assert {path.name for path in tmp_path.glob("net.*")} == names
    output = capsys.readouterr().out
    assert all(name in output for name in names)
    assert ("the program needs their package" in output) == ("package" not in emit)


def test_a_program_saves_parts_of_an_object_file(tmp_path):
    made = texloom.compile(model(), "llvm")
    made.save(tmp_path / "net.o", emit=["header"])
    assert [path.name for path in tmp_path.iterdir()] == ["net.h"]
    problem = refusal(made.save, tmp_path / "net.o", emit=["objekt"])
    assert "emit names 'objekt'" in problem and "'object', 'header', 'package'" in problem


def test_a_package_of_linked_kernels_names_the_way_out(tmp_path, capsys):
    texloom.compile(model(), "llvm").save(tmp_path / "net.o")
    np.save(tmp_path / "x.npy", A)
    words = ["run", str(tmp_path / "net.tlp"), "--native", "--input", f"x={tmp_path}/x.npy"]
    assert main(words) == 1
    assert (
        "help: link the object file that was written with this package" in capsys.readouterr().err
    )


def test_what_does_not_become_an_object_file(tmp_path, capsys):
    onnx.save(model(), tmp_path / "two.onnx")
    words = ["compile", str(tmp_path / "two.onnx"), "--emit=object,header"]
    assert main([*words, "-o", str(tmp_path / "net.o"), "--target", "opencl"]) == 1
    assert "do not become an object file" in capsys.readouterr().err
    assert main([*words, "-o", str(tmp_path / "net.tlp"), "--target", "llvm"]) == 1
    assert "-o FILE.o" in capsys.readouterr().err
    for emit in ("header", "object,object", "objekt", ""):
        assert main([*words[:2], f"--emit={emit}", "-o", str(tmp_path / "net.o")]) == 1
        assert "--emit=package, or --emit=object" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("readelf") is None, reason="there is no readelf")
def test_a_shared_object_needs_no_library_and_runs_no_code(graph, tmp_path):
    _, file = graph
    (tmp_path / "object.so").write_bytes(object_in(file))
    shown = subprocess.run(
        ["readelf", "-dnW", tmp_path / "object.so"], capture_output=True, text=True, check=True
    ).stdout
    assert "NEEDED" not in shown and "INIT" not in shown and "TEXTREL" not in shown
    assert "Texloom" in shown


KERNEL_PROGRAM = r"""
#include <stdio.h>
#include "exp.h"

int main(void) {
  float x[64], y[64];
  for (int i = 0; i < 64; ++i) x[i] = (float)i / 16 - 2;
  const void* arguments[] = {x, y};
  const uint32_t groups[] = {64, 1, 1};
  if (texloom_exp.count != 1) return 1;
  if (texloom_exp.kernels[0].function(arguments, groups, 0, 64) != 0) return 2;
  for (int i = 0; i < 64; ++i) printf("%.9g ", y[i]);
  return 0;
}
"""


@pytest.mark.nightly
@pytest.mark.skipif(
    not (shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc")),
    reason="there is no compiler or emulator for aarch64: ./dev aarch64 installs them",
)
def test_an_object_for_aarch64_runs_there(tmp_path):
    """Linked into a static program for another machine, the kernel has the same values."""
    function("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76").save(tmp_path / "exp.o")
    (tmp_path / "main.c").write_text(KERNEL_PROGRAM)
    (tmp_path / "texloom").symlink_to(ROOT / "src")  # includes are texloom/… once installed
    folders = [f"-I{tmp_path}", f"-I{ROOT / 'src'}"]
    compiler = ["aarch64-linux-gnu-gcc", "-std=c11", "-Wall", "-Werror", "-static", *folders]
    words = [*compiler, "main.c", "exp.o", "-lm", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
    out = subprocess.run(
        ["qemu-aarch64", "-cpu", "max", tmp_path / "program"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    x = (np.arange(64) / 16 - 2).astype("float32")
    here = function("llvm")(x)
    # Each C library's exp is within one unit in the last place, of results below 16.
    assert np.abs(np.array(out.split(), "float64") - here).max() <= 2 * np.spacing(np.float32(8))


def test_a_shared_object_by_name_is_a_package(tmp_path):
    """TVM's scripts name libraries so; the warning says how the file is loaded."""
    f = function("llvm")
    with pytest.warns(texloom.errors.TexloomWarning) as caught:
        f.export_library(tmp_path / "f.so")
    (warning,) = caught
    assert "is a package, though its name says a shared object" in str(warning.message)
    assert "native=True" in str(warning.message) and "save(FILE.o)" in str(warning.message)
    stored = texloom.runtime.load_module(tmp_path / "f.so", native=True)
    assert (stored(np.ones(64, "float32")) == f(np.ones(64, "float32"))).all()
