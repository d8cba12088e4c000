"""tests/layering.py must detect violations of the order of libraries, rooms and files."""

import layering
import pytest


def tree(root, files):
    """Write files with the given texts."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("file", "include", "wrong"),
    [
        ("lower/a.cc", '"ir/x.h"', False),
        ("ir/a.cc", '"ir/x.h"', False),
        ("runtime/a.cc", '"support/x.h"', False),
        ("runtime/drivers/opencl/a.cc", "<CL/cl.h>", False),
        ("ir/a.h", '"lower/x.h"', True),
        ("runtime/a.cc", '"ir/x.h"', True),
        ("lower/a.cc", '"runtime/x.h"', True),
        ("ir/a.cc", '"x.h"', True),  # not relative to src/
        ("lower/a.cc", "<CL/cl.h>", True),
        ("elsewhere/a.cc", '"support/x.h"', True),  # a folder without a place in the order
    ],
)
def test_direction(tmp_path, file, include, wrong):
    tree(tmp_path, {f"src/{each}/x.h": "" for each in ("support", "ir", "lower", "runtime")})
    tree(tmp_path, {f"src/{file}": f"// first line\n#include {include}\n"})
    messages = layering.check(tmp_path)
    assert len(messages) == wrong
    assert all(m.startswith(f"src/{file}:2: ") for m in messages)


@pytest.mark.parametrize(
    ("here", "there", "wrong"),
    [
        ("opencl", "c", False),
        ("opencl", "legalize", False),
        ("c", "legalize", False),
        ("msl", "opencl", True),
        ("c", "opencl", True),
        ("legalize", "c", True),
    ],
)
def test_backends_know_what_they_share_and_not_each_other(tmp_path, here, there, wrong):
    user, used = f"src/codegen/{here}/a.cc", f"codegen/{there}/x.h"
    tree(tmp_path, {user: f'#include "{used}"\n', f"src/{used}": ""})
    assert [m.split(" must not use ")[0] for m in layering.check(tmp_path)] == (
        [f"{user}:1: src/codegen/{here}"] if wrong else []
    )


@pytest.mark.parametrize(("there", "wrong"), [("opencl", False), ("host", True)])
def test_drivers_do_not_use_each_other(tmp_path, there, wrong):
    user, used = "src/runtime/drivers/opencl/memory/a.cc", f"runtime/drivers/{there}/api/x.h"
    tree(tmp_path, {user: f'#include "{used}"\n', f"src/{used}": ""})
    assert [m.split(" must not use ")[0] for m in layering.check(tmp_path)] == (
        [f"{user}:1: src/runtime/drivers/opencl"] if wrong else []
    )


@pytest.mark.parametrize(
    ("user", "used", "wrong"),
    [
        ("runtime/executor/a.cc", "runtime/commit/x.h", False),
        ("runtime/executor/a.cc", "runtime/plan/x.h", False),
        ("runtime/builds/a.cc", "runtime/executor/x.h", True),
        ("runtime/custom/a.cc", "runtime/executor/x.h", True),
        ("runtime/executor/a.cc", "runtime/custom/x.h", True),
        ("runtime/package/a.cc", "runtime/builds/x.h", True),
        ("runtime/hal/a.h", "runtime/plan/x.h", True),
        ("runtime/plan/a.cc", "runtime/executor/x.h", True),
        ("runtime/executor/a.cc", "runtime/c_api/x.h", True),
        ("runtime/new/a.cc", "runtime/plan/x.h", True),  # without a place in the order
        ("runtime/a.cc", "runtime/plan/x.h", True),  # in no folder
        ("runtime/drivers/null/a.cc", "runtime/hal/internal/memory/x.h", False),
        ("runtime/hal/internal/checks/a.cc", "runtime/hal/internal/memory/x.h", False),
        ("runtime/plan/aliases.cc", "runtime/hal/internal/recording/x.h", False),
        ("runtime/hal/a.h", "runtime/hal/internal/memory/x.h", True),
        ("runtime/custom/a.cc", "runtime/hal/internal/memory/x.h", True),
        ("compile/a.cc", "runtime/hal/internal/memory/x.h", True),
    ],
)
def test_folders_of_the_runtime(tmp_path, user, used, wrong):
    tree(tmp_path, {f"src/{user}": f'#include "{used}"\n', f"src/{used}": ""})
    messages = layering.check(tmp_path)
    assert len(messages) == wrong
    assert all(m.startswith(f"src/{user}:1: src/") for m in messages)


def test_cycle_of_headers(tmp_path):
    tree(
        tmp_path,
        {
            "src/ir/text/a.h": '#include "ir/text/b.h"\n',
            "src/ir/text/b.h": '#include "ir/text/c.h"\n',
            "src/ir/text/c.h": '#include "ir/text/a.h"\n',
        },
    )
    a, b, c = (f"src/ir/text/{name}.h" for name in "abc")
    assert layering.check(tmp_path) == [f"files in a cycle: {a} -> {b} -> {c} -> {a}"]


def test_cycle_of_rooms(tmp_path):
    """Cycles of two folders, and of a folder and a file in the library's folder, are reported."""
    tree(
        tmp_path,
        {
            "src/ir/text/a.h": '#include "ir/verify/b.h"\n',
            "src/ir/verify/b.h": "",
            "src/ir/verify/b.cc": '#include "ir/text/c.h"\n',
            "src/ir/text/c.h": "",
            "src/lower/order.h": "",
            "src/lower/order.cc": '#include "lower/loops/x.h"\n',
            "src/lower/loops/x.h": '#include "lower/order.h"\n',
        },
    )
    assert layering.check(tmp_path) == [
        "rooms in a cycle: src/ir/text -> src/ir/verify -> src/ir/text",
        "rooms in a cycle: src/lower/loops -> src/lower/order -> src/lower/loops",
    ]


def test_a_header_and_its_source_are_one_file_of_a_room(tmp_path):
    """Pairs of one folder may need each other, as parsers of statements and expressions do."""
    tree(
        tmp_path,
        {
            "src/ir/text/a.h": "",
            "src/ir/text/a.cc": '#include "ir/text/a.h"\n#include "ir/text/b.h"\n',
            "src/ir/text/b.h": "",
            "src/ir/text/b.cc": '#include "ir/text/a.h"\n',
        },
    )
    assert layering.check(tmp_path) == []


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("from texloom.te import b", True),
        ("from texloom.te.b import f", True),
        ("from . import b", True),
        ("from .b import f", True),
        ("import texloom.te.b", True),
        ("def g():\n    from .b import f", True),
        ('MODULES = {"b": "texloom.te.b"}', True),
        ('OTHERS = {"b": "texloom.te.b"}', False),
        ("from texloom import _core", False),
        ("import numpy", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import f", True),
    ],
)
def test_cycle_of_modules(tmp_path, statement, wrong):
    tree(
        tmp_path,
        {
            "python/texloom/__init__.py": "from . import te\n",
            "python/texloom/te/__init__.py": "",
            "python/texloom/te/a.py": statement + "\n",
            "python/texloom/te/b.py": "from texloom.te import a\n",
        },
    )
    a, b = "python/texloom/te/a.py", "python/texloom/te/b.py"
    expected = [f"files in a cycle: {a} -> {b} -> {a}"]
    assert layering.check(tmp_path) == (expected if wrong else [])


@pytest.mark.parametrize(
    ("file", "statement", "problem"),
    [
        ("te/a.py", "from ..tir import b", None),
        ("tir/b.py", "from .. import te", "python/texloom/tir must not use python/texloom/te/"),
        ("tir/b.py", "from texloom_fuzz import job", "the package must not use tests/fuzz/"),
        ("new/a.py", "from .. import te", "python/texloom/new has no place in the order"),
        ("graph/a.py", "import texloom", "python/texloom/graph must not use python/texloom/__in"),
    ],
)
def test_layers_of_the_package(tmp_path, file, statement, problem):
    texts = {f"python/texloom/{room}__init__.py": "" for room in ("", "te/", "tir/")}
    texts |= {"python/texloom/tir/b.py": "", "tests/fuzz/texloom_fuzz/__init__.py": ""}
    tree(tmp_path, texts | {f"python/texloom/{file}": statement + "\n"})
    messages = [m.partition(": ")[2] for m in layering.check(tmp_path)]
    assert [m[: len(problem or "")] for m in messages] == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("ir/a_test.cc", '#include "ir/x.h"', None),
        ("lower/a_test.cc", '#include "tests/ir/x.h"', None),
        ("ir/a_test.cc", '#include "tests/lower/x.h"', "tests/ir must not use tests/lower/x.h"),
        ("ir/a_test.cc", '#include "lower/x.h"', "tests/ir must not use src/lower/x.h"),
        ("new/a_test.cc", '#include "ir/x.h"', "tests/new has no place in the order"),
        ("python/te/test_a.py", "import shared", None),
        ("python/te/test_a.py", "from tir.test_b import f", "tests/python/te must not use tests/"),
    ],
)
def test_folders_of_tests(tmp_path, file, text, problem):
    folders = [f"{top}/{each}" for top in ("src", "tests") for each in ("ir", "lower")]
    tree(tmp_path, {f"{folder}/x.h": "" for folder in folders})
    tree(tmp_path, {"tests/python/shared.py": "", "tests/python/tir/test_b.py": ""})
    tree(tmp_path, {f"tests/{file}": text + "\n"})
    messages = [m.partition(": ")[2] for m in layering.check(tmp_path)]
    assert [m[: len(problem or "")] for m in messages] == ([problem] if problem else [])


def test_folders_of_tests_have_an_order():
    edges = [(here, there) for here, (_, others) in layering.TESTS.items() for there in others]
    assert layering.cycles(edges) == []


def test_full_folder(tmp_path):
    """One file more than the limit is reported; files in subfolders do not count."""
    tree(tmp_path, {f"src/ir/text/file{n}.cc": "" for n in range(layering.MAX_FILES)})
    tree(tmp_path, {"src/ir/text/below/more.cc": ""})
    assert layering.check(tmp_path) == []
    tree(tmp_path, {"src/ir/text/more.h": ""})
    assert [m.split(" holds ")[0] for m in layering.check(tmp_path)] == ["src/ir/text"]


@pytest.mark.nightly
def test_this_tree():
    """`./dev test` checks the tree before it runs the tests."""
    assert layering.check(layering.ROOT) == []
