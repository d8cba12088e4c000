"""Each pass header documents the pass in one form (docs/pass_headers.py)."""

import importlib.util
import sys
from pathlib import Path

import pytest

from texloom import _core

ROOT = Path(__file__).parents[3]


def module():
    spec = importlib.util.spec_from_file_location("pass_headers", ROOT / "docs/pass_headers.py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["pass_headers"] = loaded  # dataclasses look it up
    spec.loader.exec_module(loaded)
    return loaded


pass_headers = module()
HEADERS = pass_headers.read(ROOT)
TABLES = (*map(_core.passes, _core.target_kinds()), _core.graph_passes())
ROWS = pass_headers.functions(list(dict.fromkeys(name for rows in TABLES for name, *_ in rows)))


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_header_of_five_parts(row):
    header = HEADERS[row.rpartition(".")[2]]
    assert tuple(name for name, _ in header.parts) == pass_headers.PARTS
    parts = dict(header.parts)
    for name, text in header.parts:
        assert text.strip(), f"{name} says nothing"
        assert name == "Example" or text.rstrip().endswith("."), f"{name} ends in no full stop"
    assert parts["Requires"].startswith("stage ")
    # The example shows the input and the output.
    assert "->" in parts["Example"]
    assert all(line.startswith("   ") for line in parts["Example"].splitlines() if line)


def test_each_header_is_of_a_row():
    assert {row.rpartition(".")[2] for row in ROWS} == set(HEADERS)


def test_a_part_that_is_missing_is_noticed(tmp_path):
    folder = tmp_path / "src/lower"
    folder.mkdir(parents=True)
    (folder / "pass.h").write_text(
        "// Purpose: does it.\n//   In two lines.\n// Order: last.\n// Example:\n//   a -> b\n"
        "void do_it(Lowering& lowering);\n"
    )
    (header,) = pass_headers.read(tmp_path).values()
    assert header.parts == [
        ("Purpose", "does it.\n   In two lines."),
        ("Order", "last."),
        ("Example", "   a -> b"),
    ]
