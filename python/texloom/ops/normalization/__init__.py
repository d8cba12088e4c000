"""Softmax and normalizations."""

from __future__ import annotations

from .channels import (
    batch_normalization,
    batch_normalization_training,
    deviation_factor,
    group_normalization,
    instance_normalization,
    scaled_difference,
)
from .layers import (
    layer_normalization,
    local_response_normalization,
    lp_normalization,
    mean_variance_normalization,
    rms_normalization,
)
from .losses import negative_log_likelihood, softmax_cross_entropy
from .moments import epsilon_of
from .softmax import hardmax, log_softmax, masked_softmax, softmax

__all__ = [
    "batch_normalization",
    "batch_normalization_training",
    "deviation_factor",
    "epsilon_of",
    "group_normalization",
    "hardmax",
    "instance_normalization",
    "layer_normalization",
    "local_response_normalization",
    "log_softmax",
    "lp_normalization",
    "masked_softmax",
    "mean_variance_normalization",
    "negative_log_likelihood",
    "rms_normalization",
    "scaled_difference",
    "softmax",
    "softmax_cross_entropy",
]
