"""The wheels in dist/: what is in them, and that they run on bare machines.

``./dev wheel check`` and the part ``wheel`` of ``./dev test`` build them and run these tests.
"""

import ast
import ctypes.util
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import bare_machine
import onnx
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from blocks import programs  # noqa: E402

README = (ROOT / "README.md").read_text(encoding="utf-8")
WHEELS = sorted((ROOT / "dist").glob("texloom-*.whl"))
MOST_BYTES = 60_000_000
MOST_SECONDS = 60  # of processors, from the first command of pip to the last of the README

# The libraries that a wheel may need: those of glibc and of GCC, which Python itself needs.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")

LINKED = {
    "libflatbuffers-dev",
    "libfmt-dev",
    "liblld-19-dev",
    "libpolly-19-dev",
    "libxxhash-dev",
    "libzstd-dev",
    "llvm-19-dev",
    "opencl-c-headers",
    "pybind11",
    "zlib1g-dev",
}

# Three lines with a mistake each, as a type checker sees them.
MISTAKES = """
s[Y].vectorise(c)
s[Y].bind(y)
s.cache_read(X)
"""


def python_of(wheel):
    """Return the Python of the environment in which a wheel was built."""
    minor = re.search(r"-cp3(\d+)-", wheel.name)[1]
    return ROOT / f"build/wheel/env-3.{minor}/bin/python"


@pytest.fixture(scope="module", params=WHEELS, ids=lambda wheel: wheel.name)
def wheel(request):
    return request.param


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of an environment that has the wheel and mypy."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([python_of(wheel), "-m", "venv", folder], check=True)
    pins = (ROOT / "requirements-wheel.txt").read_text()
    needed = [line for line in pins.splitlines() if line.startswith(("mypy=", "numpy="))]
    pins = folder / "pins.txt"
    pins.write_text("\n".join(needed))
    pip = [folder / "bin/pip", "install", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, wheel, "-r", pins], check=True)
    return folder / "bin/python"


def test_there_are_wheels():
    assert WHEELS, "build them: ./dev wheel"


def test_a_wheel_is_small_and_has_a_tag_of_many_systems(wheel):
    assert wheel.stat().st_size <= MOST_BYTES
    assert "-manylinux_2_" in wheel.name


def test_a_wheel_has_one_module_stubs_and_all_licenses(unpacked):
    package = unpacked / "texloom"
    assert sorted(file.name for file in package.glob("*.so"))[1:] == ["texloom_llvm.so"]
    assert (package / "py.typed").exists()
    assert (package / "_core.pyi").exists()
    (licenses,) = unpacked.glob("texloom-*.dist-info/licenses")
    named = {file.stem for file in licenses.iterdir()}
    assert named == LINKED | {"LICENSE"}
    assert "LLVM Exceptions" in (licenses / "llvm-19-dev.txt").read_text()


@pytest.mark.parametrize("library", ["_core.*.so", "texloom_llvm.so"])
def test_libraries_need_only_the_system_and_show_only_their_own_functions(unpacked, library):
    (file,) = unpacked.glob(f"texloom/{library}")
    needed = subprocess.run(["readelf", "-dW", file], capture_output=True, text=True, check=True)
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", needed.stdout)
    assert names
    assert [name for name in names if not SYSTEM.match(name)] == []
    command = ["nm", "-D", "--defined-only", file]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[2].partition("@")[0] for line in shown.splitlines()}
    own = {"PyInit__core"}
    if library == "texloom_llvm.so":
        interface = (ROOT / "src/codegen/llvm/plugin_api.h").read_text()
        own = set(re.findall(r"^[^/ *].*\b(texloom_llvm_\w+)\(", interface, re.MULTILINE))
    assert symbols == own
    assert str(ROOT).encode() not in file.read_bytes()


def test_kernels_are_compiled_beside_another_llvm(installed):
    """Another LLVM, whose symbols every library sees, does not get in the way."""
    other = ctypes.util.find_library("LLVM-19") or "libLLVM.so.19.1"
    code = f"""
import ctypes
ctypes.CDLL({other!r}, ctypes.RTLD_GLOBAL)
from texloom.command_line import doctor
assert doctor.examine()["llvm"]["check"] == "works", doctor.examine()["llvm"]
"""
    subprocess.run([installed, "-c", code], check=True)


def members(stubs):
    """The names that stubs declare: of the module, and of each class as `Class.name`."""
    found = set()
    for node in stubs.body:
        name = getattr(node, "name", None) or getattr(getattr(node, "target", None), "id", None)
        found.add(name)
        for part in node.body if isinstance(node, ast.ClassDef) else ():
            target = getattr(part, "target", None)
            found.add(f"{name}.{getattr(part, 'name', None) or getattr(target, 'id', None)}")
    return found


def test_stubs_name_what_the_module_has(installed, unpacked):
    code = """
import texloom
for name, value in vars(texloom._core).items():
    if not name.startswith("__"):
        print(name)
        for part in vars(value) if isinstance(value, type) else ():
            if not part.startswith(("__", "_pybind11_")):
                print(f"{name}.{part}")
"""
    there = subprocess.run([installed, "-c", code], capture_output=True, text=True, check=True)
    text = (unpacked / "texloom/_core.pyi").read_text()
    assert len(there.stdout.split()) > 300
    assert set(there.stdout.split()) - members(ast.parse(text)) == set()
    assert "..." in text and "texloom::" not in text


def test_a_type_checker_accepts_the_readme_and_finds_mistakes(installed, tmp_path):
    (program, _), *_ = programs(README)
    (tmp_path / "right.py").write_text(program)
    (tmp_path / "wrong.py").write_text(program + MISTAKES)
    mypy = [installed, "-m", "mypy", "--strict"]
    for name, mistakes in (("right.py", 0), ("wrong.py", 3)):
        done = subprocess.run([*mypy, name], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.count(": error: ") == mistakes, done.stdout + done.stderr


@pytest.fixture(scope="module")
def machine():
    bare_machine.make()


@pytest.fixture
def errand(wheel, tmp_path):
    """The folder that tests/wheel/on_bare_machine.py reads."""
    subprocess.run(
        [python_of(wheel), "-m", "pip", "download", "-q", "--dest", tmp_path / "packages"]
        + ["--disable-pip-version-check", f"{wheel}[onnx]"],
        check=True,
    )
    (program, printed), *_ = programs(README)
    (tmp_path / "script.py").write_text(program)
    (tmp_path / "printed.txt").write_text(printed)
    commands = re.findall(r"^\$ (texloom (?:compile|run) .*)$", README, re.MULTILINE)
    assert len(commands) == 2
    (tmp_path / "commands.txt").write_text("\n".join(commands))
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 20]>
        brightness (float[n, 3, h, w] x) => (float[n, 3, 1, 1] y) { y = GlobalAveragePool(x) }""")
    onnx.save(model, tmp_path / "model.onnx")
    Image.new("RGB", (100, 80), (10, 20, 30)).save(tmp_path / "photo.png")
    shutil.copy(Path(__file__).parent / "on_bare_machine.py", tmp_path)
    return tmp_path


def test_the_readme_works_on_a_bare_machine(machine, wheel, errand):
    places = "import sys; print(sys.base_prefix, sys._base_executable)"
    command = [python_of(wheel), "-c", places]
    home, python = subprocess.run(command, capture_output=True, text=True).stdout.split()
    seen = [errand] if home == "/usr" else [errand, Path(home)]
    done = bare_machine.run([python, str(errand / "on_bare_machine.py"), str(errand)], seen)
    assert done.returncode == 0, done.stdout + done.stderr
    print(f"{wheel.name}: {done.stdout.strip()} s of processors")
    assert float(done.stdout) < MOST_SECONDS
