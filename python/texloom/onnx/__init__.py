"""ONNX models: import, compile, run. Needs the package ``onnx``."""

from __future__ import annotations

from . import backend
from .model import Model, load
from .nodes import Unsupported

__all__ = ["Model", "Unsupported", "backend", "load"]
