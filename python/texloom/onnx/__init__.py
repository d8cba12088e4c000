"""ONNX models: import, compile, run. Needs the package ``onnx``.

:func:`texloom.compile` compiles a model or a file.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from . import backend
from .files import read_model
from .model import Model
from .nodes import Refusal, Unsupported


def load(path: str | PathLike[str], **options: Any) -> Model:
    """Read a model from a file and compile it, with the options of :class:`Model`."""
    return Model(read_model(path), **options)


__all__ = ["Model", "Refusal", "Unsupported", "backend", "load"]
