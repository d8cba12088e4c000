"""tinygrad's side of the networks' benchmark: its ONNX front end, under its just-in-time compiler.

Started with ``DEV=CL``; the requests are those of ``pytorch_child.py`` that it has. Its search of
schedules stays off (``BEAM`` is not set).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
from tinygrad import Device, Tensor, TinyJit
from tinygrad.nn.onnx import OnnxRunner

_WARM_RUNS = 4  # it compiles in the first one, and captures the second one


def readable(model: onnx.ModelProto) -> onnx.ModelProto:
    """Give empty constants their empty values: the front end refuses those that leave them out."""
    for node in model.graph.node:
        for each in node.attribute:
            if each.HasField("t") and 0 in each.t.dims:
                each.t.raw_data = b""
    return model


class Child:
    """Answers requests."""

    def __init__(self) -> None:
        self._runs: list[Callable[[], Tensor]] = []

    def arms(self, model: str, image: str) -> dict[str, int]:
        """Return the number of the one arm by its name."""
        file = Path(model).with_suffix(".tinygrad.onnx")
        onnx.save(readable(onnx.load(model)), file)
        runner = OnnxRunner(str(file))
        (name,) = runner.graph_inputs
        x = Tensor(np.load(image)).realize()
        compiled = TinyJit(lambda given: next(iter(runner({name: given}).values())).realize())
        self._runs.append(lambda: compiled(x))
        for _ in range(_WARM_RUNS):
            self._runs[-1]()
        return {"tinygrad": len(self._runs) - 1}

    def output(self, number: int, output: str) -> bool:
        """Write the output of an arm to a file."""
        np.save(output, self._runs[number]().numpy())
        return True

    def time(self, number: int, count: int) -> float:
        """Return seconds per run, for `count` runs with one wait."""
        device = Device[Device.DEFAULT]
        device.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            self._runs[number]()
        device.synchronize()
        return (time.perf_counter() - begin) / count


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries goes there
    print(json.dumps(f"{Device.DEFAULT}, tinygrad {version('tinygrad')}"), file=answers)
    child = Child()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(child, request.pop("do"))(**request)), file=answers)


if __name__ == "__main__":
    main()
