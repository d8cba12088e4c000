"""AutoTVM: scripts that tune templates of schedules run after ``from texloom import autotvm``.

Names and meanings are those of TVM 0.9's ``autotvm``. Configurations are measured, searched and
recorded as by ``texloom tune``; new schedules are shorter with :mod:`texloom.tune`.
"""

from __future__ import annotations

from typing import NoReturn

from ..tvm.out_of_scope import refuse_name
from . import database, env, measure, record, task, tuner
from .env import GLOBAL_SCOPE
from .history import ApplyHistoryBest, apply_history_best
from .measure import (
    LocalBuilder,
    LocalRunner,
    MeasureErrorNo,
    MeasureInput,
    MeasureResult,
    measure_option,
)
from .task import (
    ConfigEntity,
    ConfigSpace,
    DispatchContext,
    FallbackContext,
    get_config,
    template,
)
from .tuner import callback

register_customized_task = template

__all__ = [
    "GLOBAL_SCOPE",
    "ApplyHistoryBest",
    "ConfigEntity",
    "ConfigSpace",
    "DispatchContext",
    "FallbackContext",
    "LocalBuilder",
    "LocalRunner",
    "MeasureErrorNo",
    "MeasureInput",
    "MeasureResult",
    "apply_history_best",
    "callback",
    "database",
    "env",
    "get_config",
    "measure",
    "measure_option",
    "record",
    "register_customized_task",
    "task",
    "template",
    "tuner",
]


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
