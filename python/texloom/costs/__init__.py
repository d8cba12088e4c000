"""Costs of kernels on devices, measured or estimated, by which the compiler chooses storages.

``texloom.compile("model.onnx", measure="opencl:0")`` measures a model, and
``texloom.compile("model.onnx", costs="records.sqlite")`` compiles it with the measured costs.
"""

from __future__ import annotations

from ..records import MeasuredDevice
from .choosing import Costs, costs_for, open_costs
from .estimated import Estimate, EstimatedCosts
from .fitted import FittedModel, fitted
from .measured import MeasuredCost, MeasuredNetwork
from .table import CostTable

__all__ = [
    "CostTable",
    "Costs",
    "Estimate",
    "EstimatedCosts",
    "FittedModel",
    "MeasuredCost",
    "MeasuredDevice",
    "MeasuredNetwork",
    "costs_for",
    "fitted",
    "open_costs",
]
