"""Expressions: their classes, constants and functions, with TVM's names."""

from __future__ import annotations

from typing import NoReturn

from .._core import Buffer, Stmt
from ..tvm import out_of_scope
from . import (
    ir_builder,
    number_functions,  # noqa: F401 (for its effect)
)
from .buffer import decl_buffer
from .calls import *  # noqa: F403
from .calls import __all__ as _calls
from .expr import *  # noqa: F403
from .expr import __all__ as _classes
from .fragments import *  # noqa: F403
from .fragments import __all__ as _fragments
from .op import *  # noqa: F403
from .op import __all__ as _functions
from .reducers import comm_reducer, max, min, sum

__all__ = [
    *_calls,
    *_classes,
    *_fragments,
    *_functions,
    "Buffer",
    "Stmt",
    "comm_reducer",
    "decl_buffer",
    "ir_builder",
    "max",
    "min",
    "sum",
]


def __getattr__(name: str) -> NoReturn:
    out_of_scope.refuse_name(__name__, name)
