"""Templates, tasks, spaces and contexts of AutoTVM."""

from typing import NoReturn

from ...tvm.out_of_scope import refuse_name
from . import dispatcher, space, task
from .dispatcher import ApplyConfig, DispatchContext, FallbackContext
from .space import ConfigEntity, ConfigSpace, FallbackConfigEntity
from .task import (
    Task,
    args_to_workload,
    create,
    deserialize_args,
    get_config,
    serialize_args,
    template,
)

__all__ = [
    "ApplyConfig",
    "ConfigEntity",
    "ConfigSpace",
    "DispatchContext",
    "FallbackConfigEntity",
    "FallbackContext",
    "Task",
    "args_to_workload",
    "create",
    "deserialize_args",
    "dispatcher",
    "get_config",
    "serialize_args",
    "space",
    "task",
    "template",
]


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
