"""Recurrent layers."""

from __future__ import annotations

from .activations import activations
from .layers import gru, lstm, rnn
from .steps import Direction, Steps

__all__ = ["Direction", "Steps", "activations", "gru", "lstm", "rnn"]
