"""A tuner by a model that learns from trials."""

from __future__ import annotations

from typing import Any

from ...tuning.search import ModelSearch
from ..task.task import Task
from .searching import SearchTuner


class XGBTuner(SearchTuner):
    """Configurations that a model predicts to be fast: :class:`.ModelSearch`, by LightGBM.

    Parameters
    ----------
    task : Task
    plan_size, feature_type, loss_type, num_threads, optimizer, diversity_filter_ratio, log_interval
        Accepted for the sake of existing scripts.
    seed : int

    Raises
    ------
    TVMError
        TL5016 if the package lightgbm is missing.
    """

    def __init__(
        self,
        task: Task,
        plan_size: int = 64,
        feature_type: str = "itervar",
        loss_type: str = "rank",
        num_threads: int | None = None,
        optimizer: Any = "sa",
        diversity_filter_ratio: float | None = None,
        log_interval: int = 50,
        seed: int = 0,
    ) -> None:
        del plan_size, feature_type, loss_type, num_threads, optimizer, diversity_filter_ratio
        del log_interval
        super().__init__(task, ModelSearch(seed))


__all__ = ["XGBTuner"]
