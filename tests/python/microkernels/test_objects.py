"""Objects and bitcode of the micro-kernels hold the functions of the table, and no state."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = Path("src/codegen/llvm/microkernels")
TABLE = (ROOT / FOLDER / "variants.def").read_text()
TARGETS = dict(re.findall(r"^MMT4D_TARGET\((\w+), (\w+),", TABLE, re.MULTILINE))
ROWS = re.findall(r"^MMT4D_TILE\((\w+), (\d+), (\d+), (\d+), (\w+)\)$", TABLE, re.MULTILINE)
# Code may call these two; GCC's code for positions that are not known may name the third.
MAY_BE_UNDEFINED = {"memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}
BUILDS = {"x86_64": ROOT / "build", "aarch64": ROOT / "build" / "aarch64"}
BITCODE = BUILDS["x86_64"] / FOLDER / "bitcode"


def names_of(target):
    """Return the functions that the table promises of a target."""
    return {f"mmt4d_{m}x{n}x{k}_{types}_{of}" for types, m, n, k, of in ROWS if of == target}


def output(*command):
    """Return what a command prints; it must succeed."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def tool(*names):
    """Return the first of these programs that is installed."""
    found = next(filter(None, map(shutil.which, names)), None)
    return found or pytest.skip(f"none of {', '.join(names)} is installed: ./dev microkernels")


def symbols_of(architecture):
    """Return the symbols of each object of the library, as pairs of a type and a name."""
    library = BUILDS[architecture] / FOLDER / "libtexloom_mmt4d.a"
    if not library.exists():
        pytest.skip(f"{library} is not built: ./dev microkernels")
    nm = tool("llvm-nm-19", *(["nm"] if architecture == "x86_64" else []))
    objects = {}
    for line in output(nm, library).splitlines():
        if line.endswith(".o:"):
            symbols = objects[line.rpartition("/")[2].removesuffix(".c.o:")] = set()
        elif line:
            kind, name = line.split()[-2:]
            symbols.add((kind, name))
    return objects


@pytest.mark.parametrize("architecture", BUILDS)
def test_objects_of_tiles_have_functions_alone(architecture):
    """Each defines the table's functions and constants; it has no variable, and calls no system.

    Variables, those of threads too, have the types B, C, D and G, or the same in lower case.
    """
    objects = symbols_of(architecture)
    here = {name for name, of in TARGETS.items() if of in ("any", architecture)}
    assert set(objects) == here | {"mmt4d", "cpu"}
    for target in here:
        symbols = objects[target]
        assert {name for kind, name in symbols if kind == "T"} == names_of(target)
        assert {name for kind, name in symbols if kind == "U"} <= MAY_BE_UNDEFINED
        assert {kind for kind, _ in symbols} <= {"T", "U", "r", "n", "t"}
        assert not [name for kind, name in symbols if kind == "t" and not name.startswith("$")]
    # The wrapper calls tiles alone, and its table is constant.
    wrapper = objects["mmt4d"]
    used = {name for kind, name in wrapper if kind == "U"} - MAY_BE_UNDEFINED
    assert used == set().union(*map(names_of, here))
    assert {name for kind, name in wrapper if kind in "bBcCD"} == set()


@pytest.mark.parametrize("architecture", BUILDS)
def test_no_instruction_enters_the_system(architecture):
    """Nor does anything but cpu.c use the registers of threads' variables."""
    symbols_of(architecture)
    library = BUILDS[architecture] / FOLDER / "libtexloom_mmt4d.a"
    text = output(tool("llvm-objdump-19"), "-d", "--no-show-raw-insn", library)
    instructions = {}
    for part in re.split(r"\n(?=\S*\(\S+\):\s+file format)", text):
        name = re.search(r"\((\S+)\.c\.o\):\s+file format", part)
        if name:
            instructions[name[1]] = part
    assert len(instructions) > 2
    enters = re.compile(r"\b(syscall|sysenter|svc|int\t)|%fs|%gs|tpidr", re.IGNORECASE)
    for name, part in instructions.items():
        assert "ret" in part
        if name != "cpu":
            assert not enters.search(part), name


@pytest.mark.parametrize(
    "file",
    [
        f"{f'{architecture}_' if of == 'any' else ''}{target}"
        for target, of in TARGETS.items()
        for architecture in (("x86_64", "aarch64", "wasm32") if of == "any" else (of,))
    ],
)
def test_bitcode_is_one_function_for_each_row(file):
    """Bitcode has no globals, and calls nothing but intrinsics, memcpy and memset."""
    path = BITCODE / f"libmmt4d_{file}.bc"
    if not path.exists():
        pytest.skip(f"{path} is not built: ./dev microkernels")
    target = "generic" if file.endswith("_generic") else file
    text = output(tool("llvm-dis-19"), path, "-o", "-")
    assert not re.findall(r"^@.*", text, re.MULTILINE)
    assert "thread_local" not in text
    assert " asm " not in text
    assert set(re.findall(r"^define .*@(\w+)\(", text, re.MULTILINE)) == names_of(target)
    declared = set(re.findall(r"^declare .*@([\w.]+)\(", text, re.MULTILINE))
    assert not [name for name in declared - MAY_BE_UNDEFINED if not name.startswith("llvm.")]


@pytest.mark.parametrize("compiler", ["clang-19", "gcc"])
def test_row_without_function_does_not_compile(tmp_path, compiler):
    """A row needs tile_<types> in its target's file; without the row, the file compiles."""
    copy = tmp_path / "codegen/llvm/microkernels"
    copy.mkdir(parents=True)
    command = [tool(compiler), "-std=c11", "-O1", "-ffreestanding", "-Wall", "-Werror"]
    command += ["-DMMT4D_THIS_generic=1", f"-I{tmp_path}", f"-I{ROOT / 'src'}", "-fsyntax-only"]
    command += [ROOT / FOLDER / "tiles" / "generic.c"]
    for row, code in (("", 0), ("MMT4D_TILE(u8u8i32, 1, 8, 1, generic)\n", 1)):
        first = "\nMMT4D_TILE("
        assert first in TABLE
        (copy / "variants.def").write_text(TABLE.replace(first, f"\n{row}MMT4D_TILE(", 1))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("tile_u8u8i32" in done.stderr) == bool(code)
