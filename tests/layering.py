"""Checks that #includes and imports run one way: between libraries, between rooms, between files.

A *library* is a folder of src/, python/core, a folder of apps/, or python/texloom. It may use the
libraries before it in the pipeline. src/runtime, which ships without the compiler, may use only
src/support and src/plan; src/compile joins the two.

A *room* is a folder below a library; a file directly in the library's folder (a .h with its .cc, or
a Python module) is a room of its own. For some libraries, ROOMS says which rooms may use which. In
every library the uses run in one direction: there is no cycle among rooms or among files. For
libraries with many rooms, FOLDERS says which folders may use which; PRIVATE names folders that few
may use. No folder directly contains more than 30 source files.

PYTHON_LAYERS orders the rooms of the package texloom, which uses no other package. An import that
only a type checker sees counts as any other. TESTS says which libraries and which other folders the
folders of tests/ may use; a room of tests/python uses no other room of tests/python.

The CMake targets enforce part of this, but they share one include root, so an #include in the wrong
direction would still compile.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent

PIPELINE = ("support", "ir", "schedule", "lower", "codegen", "validation")
MAY_INCLUDE = {folder: PIPELINE[: i + 1] for i, folder in enumerate(PIPELINE)}
MAY_INCLUDE["plan"] = ("support", "plan")
MAY_INCLUDE["runtime"] = ("support", "plan", "runtime")
# src/compile turns compiler output into runtime objects.
MAY_INCLUDE["compile"] = (*PIPELINE, "runtime", "compile")
MAY_INCLUDE["graph"] = (*PIPELINE, "plan", "runtime", "compile", "graph")

# Rooms that may use only the listed rooms and themselves. For rooms without a row, only cycles are
# forbidden. `*` matches any one room. Backends use the shared rooms but not each other.
ROOMS = {
    "src/codegen/c": ("src/codegen/compiled_code", "src/codegen/legalize"),
    "src/codegen/legalize": (),
    "src/codegen/legalize/shuffles": ("src/codegen/legalize",),
    "src/codegen/compiled_code": (),
    "src/codegen/backend": (
        "src/codegen/compiled_code",
        "src/codegen/legalize",
        "src/codegen/c",
        "src/codegen/opencl",
        "src/codegen/msl",
        "src/codegen/llvm",
    ),  # the table
    "src/codegen/llvm": (
        "src/codegen/compiled_code",
        "src/codegen/legalize",
        "src/codegen/llvm/microkernels",
    ),  # the table of micro-kernels
    "src/codegen/*": (
        "src/codegen/compiled_code",
        "src/codegen/legalize",
        "src/codegen/legalize/shuffles",
        "src/codegen/c",
    ),
}

# Folders whose subfolders must not use each other; the named subfolder may use all of them.
APART = {"src/runtime/drivers": "all"}

# For each folder directly below a library: the other folders of the library that it may use. Files
# in the library's own folder, if there are any, need a row "".
FOLDERS = {
    "src/runtime": {
        "hal": (),
        "drivers": ("hal",),
        "builds": ("hal",),
        "plan": ("hal",),
        "commit": ("plan", "hal"),
        "package": ("plan", "hal"),
        "custom": ("plan", "hal"),
        "executor": ("plan", "hal", "builds", "commit", "package"),
        "parts": ("plan", "hal", "package", "custom", "executor"),
        "c_api": ("plan", "hal", "drivers", "package", "custom", "executor", "parts"),
    },
}

# Folders that only some other folders, single files, and tests may use.
PRIVATE = {
    "src/runtime/hal/internal": (
        "src/runtime/drivers/",
        "src/runtime/plan/aliases.cc",  # shares the overlap test of commands
    ),
}

# External libraries that only one place may include.
ONLY_IN = {
    "CL/": "src/runtime/drivers/opencl/",
    "Foundation/": "src/runtime/drivers/metal/",
    "Metal/": "src/runtime/drivers/metal/",
    "flatbuffers/": "src/runtime/package/",
    "package_generated.h": "src/runtime/package/",
    "pybind11/": "(python/core alone)",
    "gtest/": "(tests)",
}

# The rooms of the Python package, in layers: a room may use the rooms in earlier rows.
PYTHON_LAYERS = (
    ("errors", "dtypes", "text_file", "version", "whole_file"),
    ("checks",),
    ("tvm", "functions", "custom", "trace", "profiles"),
    ("devices", "tir"),
    ("arrays", "target"),
    ("nd", "building"),
    ("runtime",),
    ("te",),
    ("extents", "measure", "records", "show"),
    ("ops", "costs", "inspect", "plan"),
    ("graph",),
    ("onnx", "examples", "tuning"),
    ("autotvm", "compilation", "tune"),
    ("__init__",),
    ("command_line",),
    ("__main__",),
)

# The libraries of src/ and apps/ that a folder of tests/ may use, and the other folders of tests/.
_OPT = ("apps/texloom-opt", "apps/command_line")
TESTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "support": (MAY_INCLUDE["support"], ()),
    "ir": (MAY_INCLUDE["ir"], ()),
    "schedule": (MAY_INCLUDE["schedule"], ()),
    "lower": (MAY_INCLUDE["validation"], ("ir", "schedule")),
    "codegen": (MAY_INCLUDE["compile"], ("ir", "lower")),
    "validation": (MAY_INCLUDE["validation"], ("lower",)),
    "plan": (MAY_INCLUDE["plan"], ("runtime",)),
    "runtime": (MAY_INCLUDE["runtime"], ("opencl_layer", "softmetal", "support")),
    "conformance": (MAY_INCLUDE["runtime"], ("runtime",)),
    "compile": (MAY_INCLUDE["compile"], ("runtime",)),
    "graph": (MAY_INCLUDE["graph"], ("schedule",)),
    "opt": ((*MAY_INCLUDE["compile"], *_OPT), ()),
    "fuzz": ((*MAY_INCLUDE["compile"], *_OPT), ("ir", "codegen", "runtime", "support")),
    "opencl_layer": ((), ()),
    "softmetal": ((), ()),
    "python": ((), ("fuzz", "softmetal", "workloads")),
    "wheel": ((), ()),
    "workloads": ((), ()),
}

# Folders in which Python tests and scripts find the modules that they share.
TEST_PATHS = ("tests/python", "tests", "tests/fuzz", "tests/fuzz/bad_inputs", "tests/workloads")

# Folders of Python packages: texloom; the demonstration, the benchmarks, the checker of plans and
# the fuzzer.
PYTHON_ROOTS = ("python", "apps", "benchmarks/planning", "benchmarks", "tests/fuzz")

MAX_FILES = 30  # in one folder

INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s*(?:"([^"]+)"|<([^>]+)>)')
SUFFIXES = (".cc", ".mm", ".h", ".def", ".py")


@dataclass(frozen=True)
class Use:
    """An #include or import of one of our files by another."""

    file: str  # relative to the root
    line: int
    target: str


def library_of(file: str) -> str:
    """Return the folder of the library that owns a file: src/ir, python/core, apps/texloom-opt."""
    return "/".join(file.split("/")[:2])


def room_of(file: str) -> str:
    """Return the room of a file: its folder, or its path without suffix in a library.

    A package's __init__.py, which names what the package offers, is a room above its folder.
    """
    path = PurePosixPath(file)
    if str(path.parent) == library_of(file) or path.name == "__init__.py":
        return str(path.with_suffix(""))
    return str(path.parent)


def is_test(file: str) -> bool:
    """Whether a file is of a folder in TESTS, which orders these folders but not their rooms."""
    return file.startswith("tests/") and not file.startswith("tests/fuzz/texloom_fuzz/")


def sources(root: Path) -> list[str]:
    """Return the C++ sources and Python modules of all folders."""
    return sorted(
        path.relative_to(root).as_posix()
        for top in ("src", "apps", "python", "benchmarks", "tests")
        for path in (root / top).rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and len(path.relative_to(root).parts) > 2
    )


# --- C++ ------------------------------------------------------------------------------------------


def included(root: Path, file: str, quoted: str) -> str | None:
    """Return our file that an #include names: relative to src/, the root, or python/."""
    bases = ("src", "") if file.startswith(("apps/", "tests/")) else ("src",)
    if file.startswith("python/"):
        bases = ("src", "python")
    for base in bases:
        path = f"{base}/{quoted}" if base else quoted
        if (root / path).is_file():
            return path
    return None


def wrong_header(file: str, system: str) -> str | None:
    """Say where an external header belongs if this file of src/ may not include it."""
    for prefix, place in ONLY_IN.items():
        if system.startswith(prefix) and not file.startswith(place):
            return f"<{system}> belongs in {place}, not here"
    return None


def wrong_library(file: str, quoted: str) -> str | None:
    """Say why a file of src/ may not include a file of another library."""
    here, there = file.split("/")[1], quoted.split("/")[0]
    allowed = MAY_INCLUDE.get(here)
    if allowed is None:
        return f"src/{here} has no place in the order: add it to PIPELINE in tests/layering.py"
    if there not in allowed:
        return f'src/{here} must not include "{quoted}": it may use {", ".join(allowed)}'
    return None


def cxx_uses(root: Path, file: str, messages: list[str]) -> Iterator[Use]:
    """Yield the #includes of our files; append each violation to `messages`."""
    in_src = file.startswith("src/")
    for number, line in enumerate((root / file).read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, system = match.groups()
        problem = None
        if system is not None:
            problem = wrong_header(file, system) if in_src else None
        elif (target := included(root, file, quoted)) is not None:
            problem = wrong_library(file, quoted) if in_src else None
            yield Use(file, number, target)
        elif in_src:
            problem = f'"{quoted}" is not in src/: paths are relative to src/, others\' go in <>'
        if problem:
            messages.append(f"{file}:{number}: {problem}")


# --- Python ---------------------------------------------------------------------------------------


def module_file(root: Path, name: str) -> str | None:
    """Return the file of a module in one of our packages, given its dotted name."""
    for folder, end in product(PYTHON_ROOTS, (".py", "/__init__.py")):
        path = f"{folder}/{name.replace('.', '/')}{end}"
        if name.startswith("texloom") and (root / path).is_file():
            return path
    return None


def package_of(file: str) -> list[str]:
    """Return the names of the packages that contain a module, the outermost first."""
    root = next((each for each in PYTHON_ROOTS if file.startswith(f"{each}/texloom")), "")
    return file.removeprefix(f"{root}/").split("/")[:-1]


def test_module_file(root: Path, file: str, name: str) -> str | None:
    """Return the file of a module that a file of tests/ imports from its own or a shared folder."""
    for folder in (file.rpartition("/")[0], *TEST_PATHS):
        path = f"{folder}/{name.replace('.', '/')}.py"
        if file.startswith("tests/") and (root / path).is_file():
            return path
    return None


def imported_names(file: str, node: ast.AST) -> list[tuple[str, str | None]]:
    """Return the names that an import statement names: (module, attribute or submodule)."""
    if isinstance(node, ast.Import):
        return [(alias.name, None) for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    package = package_of(file)
    base = package[: len(package) - node.level + 1] if node.level else []
    module = ".".join([*base, *([node.module] if node.module else [])])
    return [(module, alias.name) for alias in node.names]


def modules_by_name(node: ast.AST) -> list[tuple[str, None]]:
    """Return the modules that a dict `MODULES` lists by name, for importlib to import."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
        return []
    if not any(isinstance(each, ast.Name) and each.id == "MODULES" for each in node.targets):
        return []
    return [(each.value, None) for each in node.value.values if isinstance(each, ast.Constant)]


def python_uses(root: Path, file: str) -> Iterator[Use]:
    """Yield the imports of our modules, including those inside functions and for types alone."""
    for node in ast.walk(ast.parse((root / file).read_text())):
        for module, name in [*imported_names(file, node), *modules_by_name(node)]:
            if name == "_core":  # the extension module, which imports nothing of ours
                continue
            target = name and module_file(root, f"{module}.{name}")
            target = target or module_file(root, module) or test_module_file(root, file, module)
            if target and target != file:
                yield Use(file, node.lineno, target)


# --- Rooms and cycles -----------------------------------------------------------------------------


def subfolder(folder: str, file: str) -> str | None:
    """Return the name of the subfolder that contains the file, if there is one."""
    rest = file.removeprefix(f"{folder}/").split("/")
    return rest[0] if file.startswith(f"{folder}/") and len(rest) > 1 else None


def wrong_room(use: Use) -> str | None:
    """Say why a room may not use another room of its library."""
    here, there = room_of(use.file), room_of(use.target)
    if here == there or library_of(use.file) != library_of(use.target):
        return None
    for pattern, allowed in ROOMS.items():
        if PurePosixPath(here).match(pattern):
            if there in allowed:
                return None
            words = ", ".join(allowed) or "no other room"
            return f"{here} must not use {use.target}: of its library it may use {words}"
    for folder, list_of_others in APART.items():
        mine, other = (subfolder(folder, file) for file in (use.file, use.target))
        if mine and other and mine not in (other, list_of_others):
            return f"{folder}/{mine} must not use {use.target}: {other} is another of {folder}"
    return None


def python_room(file: str) -> str:
    """Return the room of a file of python/texloom."""
    return file.removeprefix("python/texloom/").split("/")[0].removesuffix(".py")


def wrong_layer(use: Use) -> str | None:
    """Say why a module of the package texloom may not use another one."""
    if not use.file.startswith("python/texloom/"):
        return None
    if not use.target.startswith("python/texloom/"):
        return f"the package must not use {use.target}: it is not part of the product"
    here, there = map(python_room, (use.file, use.target))
    layers = {room: n for n, rooms in enumerate(PYTHON_LAYERS) for room in rooms}
    for room in (here, there):
        if room not in layers:
            return f"python/texloom/{room} has no place in the order: add it to PYTHON_LAYERS"
    if here != there and layers[there] >= layers[here]:
        return f"python/texloom/{here} must not use {use.target}: see PYTHON_LAYERS"
    return None


def wrong_test(use: Use) -> str | None:
    """Say why a file of tests/ may not use another file."""
    here = subfolder("tests", use.file)
    if here is None or use.file.endswith(".py") and not use.target.startswith("tests/"):
        return None
    if here not in TESTS:
        return f"tests/{here} has no place in the order: add it to TESTS"
    libraries, folders = TESTS[here]
    there = subfolder("tests", use.target)
    if use.target.startswith("tests/"):
        if there not in (None, here, *folders):
            words = ", ".join(folders) or "no other folder"
            return f"tests/{here} must not use {use.target}: of tests/ it may use {words}"
        rooms = [subfolder("tests/python", file) for file in (use.file, use.target)]
        if all(rooms) and rooms[0] != rooms[1]:
            return f"tests/python/{rooms[0]} must not use {use.target}: share it in tests/python"
    elif library_of(use.target).removeprefix("src/") not in libraries:
        return f"tests/{here} must not use {use.target}: it may use {', '.join(libraries)}"
    return None


def wrong_folder(use: Use) -> str | None:
    """Say why a file may not use a folder below its library, or a private folder."""
    library = library_of(use.file)
    if library == library_of(use.target) and library in FOLDERS:
        here, there = (subfolder(library, file) or "" for file in (use.file, use.target))
        allowed = FOLDERS[library].get(here)
        if allowed is None:
            return f"{library}/{here} has no place in the order: add it to FOLDERS"
        if here != there and there not in allowed:
            words = ", ".join(allowed) or "no other folder"
            return f"{library}/{here} must not use {use.target}: of {library} it may use {words}"
    for folder, users in PRIVATE.items():
        inside = use.target.startswith(f"{folder}/")
        if inside and not use.file.startswith((f"{folder}/", "tests/", *users)):
            return f"{use.file} must not use {use.target}: {folder} is for {', '.join(users)}"
    return None


def cycles(edges: Iterable[tuple[str, str]]) -> list[str]:
    """Return cycles as `a -> b -> a`; every node on a cycle is in one or more of the results."""
    graph: dict[str, set[str]] = defaultdict(set)
    for here, there in edges:
        if here != there:
            graph[here].add(there)

    def shortest(start: str) -> list[str] | None:
        paths, seen = [[start]], {start}
        for path in paths:
            for following in sorted(graph[path[-1]] if path[-1] in graph else ()):
                if following == start:
                    return [*path, start]
                if following not in seen:
                    seen.add(following)
                    paths.append([*path, following])
        return None

    found: list[str] = []
    covered: set[str] = set()
    for node in sorted(graph):
        cycle = None if node in covered else shortest(node)
        if cycle:
            covered.update(cycle)
            found.append(" -> ".join(cycle))
    return found


def full_folders(files: list[str]) -> list[str]:
    """Return a message for each folder with too many source files."""
    count: dict[str, int] = defaultdict(int)
    for file in files:
        count[file.rpartition("/")[0]] += 1
    return [
        f"{folder} holds over {MAX_FILES} source files: divide it by concern"
        for folder, number in sorted(count.items())
        if number > MAX_FILES
    ]


def check(root: Path) -> list[str]:
    """Return a message for each violation below `root`."""
    messages: list[str] = []
    files = sources(root)
    uses: list[Use] = []
    for file in files:
        python = file.endswith(".py")
        uses += python_uses(root, file) if python else cxx_uses(root, file, messages)
    for use in uses:
        problem = wrong_room(use) or wrong_folder(use) or wrong_layer(use) or wrong_test(use)
        if problem:
            messages.append(f"{use.file}:{use.line}: {problem}")
    by_file = cycles((use.file, use.target) for use in uses)
    by_room = cycles(
        (room_of(use.file), room_of(use.target)) for use in uses if not is_test(use.file)
    )
    messages += [f"files in a cycle: {cycle}" for cycle in by_file]
    messages += [f"rooms in a cycle: {cycle}" for cycle in by_room]
    return messages + full_folders(files)


def main() -> int:
    messages = check(ROOT)
    for message in messages:
        print(message)
    if messages:
        print(f"layering: {len(messages)} places against the order of the folders")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
