"""Modules of TVM's ``contrib`` that scripts use."""

from __future__ import annotations

from typing import NoReturn

from .. import out_of_scope
from . import cc, nvcc, utils

__all__ = ["cc", "nvcc", "utils"]


def __getattr__(name: str) -> NoReturn:
    out_of_scope.refuse_name(__name__, name)
