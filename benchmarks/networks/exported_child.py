"""PyTorch's side of the exported networks: exports one, and times it on request.

Started as ``PYTHON exported_child.py``; see ``pytorch_child.py`` for requests and answers.
"""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import torch
from exported_networks import network
from pytorch_child import Run, in_graph, seconds, serve


class Child:
    """Answers requests about one network."""

    def __init__(self) -> None:
        self._network = torch.nn.Module()
        self._x = torch.empty(0)
        self._runs: list[Run] = []

    def export(self, name: str, folder: str) -> bool:
        """Write the network, its input, and its output in float64."""
        self._network, shape = network(name)
        generator = np.random.default_rng(1)
        self._x = torch.from_numpy(generator.standard_normal(shape, dtype=np.float32))
        names = {"input_names": ["x"], "output_names": ["y"]}
        file = str(Path(folder) / "model.onnx")
        how = {"dynamo": True, "external_data": False, "verbose": False}
        torch.onnx.export(self._network, (self._x,), file, **names, **how)
        np.save(Path(folder) / "x.npy", self._x.numpy())
        exact = copy.deepcopy(self._network).double()(self._x.double())
        np.save(Path(folder) / "y.npy", exact.numpy())
        return True

    def arms(self, dtype: str, compiled: bool) -> dict[str, int]:
        """Return the numbers of arms by their names; those that fail are left out."""
        own = copy.deepcopy(self._network).to("cuda", getattr(torch, dtype))
        x = self._x.to("cuda", getattr(torch, dtype))
        ways = {"eager": lambda: lambda: own(x), "CUDA graph": lambda: in_graph(own, x)}
        if compiled:
            fast = torch.compile(own, mode="reduce-overhead")
            ways["compiled"] = lambda: lambda: fast(x)
        numbers = {}
        for name, make in ways.items():
            try:
                run = make()
                for _ in range(8):
                    run()
                torch.cuda.synchronize()
            except RuntimeError as error:
                print(f"{name}: {error}")  # goes to standard error
                continue
            numbers[name] = len(self._runs)
            self._runs.append(run)
        return numbers

    def time(self, number: int, count: int) -> float:
        """Return seconds per run."""
        return seconds(self._runs[number], count)


if __name__ == "__main__":
    serve(Child(), threads=2)
