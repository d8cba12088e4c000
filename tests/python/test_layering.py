"""tests/layering.py must see an #include against the order of the folders."""

import layering
import pytest


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
    for header in ("support", "ir", "lower", "runtime"):
        (tmp_path / header).mkdir()
        (tmp_path / header / "x.h").touch()
    source = tmp_path / file
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f"// first line\n#include {include}\n")
    messages = layering.check(tmp_path)
    assert len(messages) == wrong
    assert all(m.startswith(f"src/{file}:2: ") for m in messages)
