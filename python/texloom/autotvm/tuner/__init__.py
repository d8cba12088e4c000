"""Tuners of AutoTVM."""

from typing import NoReturn

from ...tvm.out_of_scope import refuse_name
from . import callback
from .ga_tuner import GATuner
from .index_based_tuner import GridSearchTuner, RandomTuner
from .tuner import Tuner
from .xgboost_tuner import XGBTuner

__all__ = ["GATuner", "GridSearchTuner", "RandomTuner", "Tuner", "XGBTuner", "callback"]


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
