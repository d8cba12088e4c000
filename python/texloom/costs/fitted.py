"""A model that predicts the costs of call sites without a measurement.

The time of a kernel is a sum: a time to start, a time for each byte of its arguments, and a time
for each operation. Each group of kernels, of one kind and with one kind of storage, has its own
coefficients. The coefficients minimize the sum of the squared relative errors, and none is
negative. A group with few measurements has the coefficients of all kernels with its storage; if
these are few, too, the coefficients of all kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np
from numpy.typing import NDArray

from .measured import MeasuredCost

Coefficients = tuple[float, float, float]
"""Nanoseconds per launch, per byte and per operation."""

_LEAST_ROWS = 6  # twice the number of coefficients: smaller groups have no own coefficients
_PARTS = 5  # for cross-validation: each part of the rows is predicted from the other parts
_ALL = "*"


@dataclass(frozen=True)
class FittedModel:
    """The coefficients of each group of kernels.

    Attributes
    ----------
    groups : dict
        (kind, storage) to coefficients; ``"*"`` stands for all.
    error, largest_error : float
        The median and the 90th percentile of the relative errors in cross-validation.
    rows : int
        The number of measurements.
    """

    groups: dict[tuple[str, str], Coefficients]
    error: float
    largest_error: float
    rows: int

    def ns(self, kind: str, storage: str, launches: int, size: float, operations: float) -> float:
        """Return the predicted nanoseconds of a call site."""
        for group in ((kind, storage), (_ALL, storage), (_ALL, _ALL)):
            if group in self.groups:
                start, per_byte, per_operation = self.groups[group]
                return start * launches + per_byte * size + per_operation * operations
        return 0.0

    @property
    def ns_per_byte(self) -> float:
        """Nanoseconds per byte, over all kernels together."""
        return self.groups[_ALL, _ALL][1]


def fitted(costs: Iterable[MeasuredCost]) -> FittedModel:
    """Fit a model to measurements, of which there must be at least one."""
    rows = sorted(costs, key=lambda each: each.key)  # the fit does not depend on the order
    groups = _groups(rows)
    errors = []
    for part in range(_PARTS):
        others = [each for i, each in enumerate(rows) if i % _PARTS != part]
        model = FittedModel(_groups(others), 0.0, 0.0, 0) if others else None
        for each in rows[part::_PARTS]:
            predicted = 0.0 if model is None else _predicted(model, each)
            errors.append(abs(predicted - each.ns) / each.ns)
    return FittedModel(groups, median(errors), float(np.quantile(errors, 0.9)), len(rows))


def _predicted(model: FittedModel, row: MeasuredCost) -> float:
    return model.ns(row.kind, row.storage, row.launches, row.bytes, row.operations)


def _groups(rows: Sequence[MeasuredCost]) -> dict[tuple[str, str], Coefficients]:
    members: dict[tuple[str, str], list[MeasuredCost]] = {(_ALL, _ALL): list(rows)}
    for each in rows:
        for group in ((_ALL, each.storage), (each.kind, each.storage)):
            members.setdefault(group, []).append(each)
    return {
        group: _least_squares(list_)
        for group, list_ in members.items()
        if group == (_ALL, _ALL) or len(list_) >= _LEAST_ROWS
    }


def _least_squares(rows: Sequence[MeasuredCost]) -> Coefficients:
    """Return the nonnegative coefficients with the least sum of squared relative errors.

    Some subset of the coefficients is positive in the optimum, and the remaining ones are zero. The
    unconstrained optimum over that subset is the optimum, so all seven subsets are tried, and
    solutions with a negative coefficient are dropped.
    """
    facts = [[each.launches, each.bytes, each.operations] for each in rows]
    matrix: NDArray[np.float64] = np.array(facts, "float64")
    matrix /= np.array([[each.ns] for each in rows])
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    best, least = (median(each.ns / each.launches for each in rows), 0.0, 0.0), np.inf
    for count in (1, 2, 3):
        for chosen in combinations(range(3), count):
            part = matrix[:, chosen] / scale[list(chosen)]
            solution, *_ = np.linalg.lstsq(part, np.ones(len(rows)), rcond=None)
            squares = float(np.sum((part @ solution - 1) ** 2))
            if np.all(solution >= 0) and squares < least - 1e-12:
                least = squares
                values = [0.0, 0.0, 0.0]
                for place, value in zip(chosen, solution / scale[list(chosen)], strict=True):
                    values[place] = float(value)
                best = (values[0], values[1], values[2])
    return best


__all__ = ["Coefficients", "FittedModel", "fitted"]
