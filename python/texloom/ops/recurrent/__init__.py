"""Recurrent layers."""

from __future__ import annotations

from .activations import activations
from .layers import gru, lstm, rnn
from .steps import Steps

__all__ = ["Steps", "activations", "gru", "lstm", "rnn"]
