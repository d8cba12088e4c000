"""Costs of kernels on devices, measured or estimated, by which the compiler chooses storages.

``texloom.compile("model.onnx", measure="opencl:0")`` measures a model, and
``texloom.compile("model.onnx", costs="costs.sqlite")`` compiles it with the measured costs.
"""

from __future__ import annotations

from ..records import MeasuredDevice
from .choosing import Costs, costs_for, default_file, open_costs
from .database import CostDatabase, MeasuredCost, MeasuredNetwork
from .estimated import Estimate, EstimatedCosts
from .fitted import FittedModel, fitted
from .table import CostTable

__all__ = [
    "CostDatabase",
    "CostTable",
    "Costs",
    "Estimate",
    "EstimatedCosts",
    "FittedModel",
    "MeasuredCost",
    "MeasuredDevice",
    "MeasuredNetwork",
    "costs_for",
    "default_file",
    "fitted",
    "open_costs",
]
