"""The script that measures regrets of default schedules."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "regret" / "regret.py"


@pytest.mark.slow
def test_regret_of_a_network(tmp_path):
    """It measures each kernel once, finds no wrong point, and does nothing if it goes on."""
    text = "(float[1, 8, 9, 9] x) => (float[?] y) { a = Conv(x, w) y = Conv(a, v) }"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> net {text}')
    for name, shape in (("w", (16, 8, 3, 3)), ("v", (8, 16, 1, 1))):
        values = np.random.default_rng(0).integers(-2, 3, shape).astype("float32")
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    onnx.save(model, tmp_path / "m.onnx")

    def run(*arguments):
        command = [sys.executable, str(SCRIPT), *arguments]
        return subprocess.run(
            command, check=True, cwd=tmp_path, capture_output=True, text=True
        ).stdout

    assert run("tasks", "m.onnx", "--target", "opencl", "-o", "t.json") == "2 tasks\n"
    measure = ("measure", "t.json", "-o", "r.json", "--points", "3", "--jobs", "2")
    assert len(run(*measure).splitlines()) == 2
    rows = json.loads((tmp_path / "r.json").read_text())
    assert [row["family"] for row in rows] == ["convolutions in registers"] * 2
    for row in rows:
        assert row["errors"] == [] and 3 <= len(row["measured"]) <= 6
        assert row["default"]["knobs"] in [each["knobs"] for each in row["measured"]]
        assert all(each["seconds"] > 0 < each["estimate"] for each in row["measured"])
    assert run(*measure) == ""
    printed = run("report", "r.json", "--svg", "p.svg").splitlines()
    assert len(printed) == 4 and printed[2].startswith("| convolutions in registers | 2 | ")
    circles = ElementTree.parse(tmp_path / "p.svg").iter("{http://www.w3.org/2000/svg}circle")
    assert len(list(circles)) == 2 + sum(len(row["measured"]) for row in rows)
