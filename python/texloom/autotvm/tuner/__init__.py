"""Tuners of AutoTVM."""

from typing import NoReturn

from ...tvm.out_of_scope import refuse_name
from . import callback
from .searching import GATuner, GridSearchTuner, RandomTuner, XGBTuner
from .tuner import Tuner

__all__ = ["GATuner", "GridSearchTuner", "RandomTuner", "Tuner", "XGBTuner", "callback"]


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
