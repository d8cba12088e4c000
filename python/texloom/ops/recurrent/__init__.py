"""Recurrent layers, and loops."""

from __future__ import annotations

from .activations import activations
from .layers import gru, lstm, rnn
from .loops import Walk, conditional, looped
from .steps import Steps

__all__ = ["Steps", "Walk", "activations", "conditional", "gru", "looped", "lstm", "rnn"]
