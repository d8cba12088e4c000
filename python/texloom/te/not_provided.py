"""Directives of TVM that Texloom lacks; each raises a diagnostic with an alternative."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Schedule, Stage


def _create_group(self: Schedule, outputs: Any, inputs: Any, include_inputs: bool = False) -> Stage:
    """Refused: stages are attached one by one."""
    del outputs, inputs, include_inputs
    _core.refuse(
        "NotProvided",
        "create_group: Texloom has no groups of stages",
        "attach each stage of the group by itself: s[T].compute_at(s[reader], axis)",
    )


def _env_threads(self: Stage, threads: Any) -> None:
    """Refused: a kernel has only the threads that its loops are bound to."""
    del threads
    _core.refuse(
        "NotProvided",
        f"env_threads of '{self.op.name}': only loops are bound to threads",
        "bind an axis of the stage with s[T].bind; fuse() without axes makes an axis of extent 1",
    )


def _rolling_buffer(self: Stage) -> None:
    """Refused: an iteration keeps no values of the previous iteration."""
    _core.refuse(
        "NotProvided",
        f"rolling_buffer of '{self.op.name}': an iteration keeps no values of earlier iterations",
        "attach the stage to an outer loop, so that less is computed twice",
    )


Schedule.create_group = _create_group
Stage.env_threads = _env_threads
Stage.rolling_buffer = _rolling_buffer
