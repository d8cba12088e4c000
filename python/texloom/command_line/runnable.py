"""Models and packages that commands run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..graph import RunnableGraph
from ..graph import load as load_package
from .inputs import Port, ports_of
from .model_arguments import compile_model, is_package, refuse_compile_options
from .reports import Progress

if TYPE_CHECKING:
    from ..onnx import Model


class Runnable:
    """An ONNX model or a package.

    Attributes
    ----------
    path : Path
    ports : list of Port
        The inputs.
    model : Model or None
        None for a package.
    """

    def __init__(self, path: Path, runs: Model | RunnableGraph) -> None:
        self.path = path
        self._runs = runs
        if isinstance(runs, RunnableGraph):
            self.model = None
            self.ports = ports_of(runs)
        else:
            self.model = runs
            self.ports = [Port(*each) for each in runs.signature.ports(runs.shapes)]

    def run(self, inputs: Mapping[str, NDArray[Any]], device: str) -> dict[str, Any]:
        """Run the model or package, and return the outputs by name."""
        return self._runs.run(inputs, device)


def open_runnable(path: Path, options: argparse.Namespace, progress: Progress) -> Runnable:
    """Load a package, or compile an ONNX model as the options say."""
    if is_package(path):
        refuse_compile_options(path, options)
        return Runnable(path, load_package(path, native=options.native))
    return Runnable(path, compile_model(path, options, progress))


__all__ = ["Runnable", "open_runnable"]
