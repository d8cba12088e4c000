"""Recurrent layers, and loops."""

from __future__ import annotations

from .activations import activations
from .layers import gru, lstm, rnn
from .loops import Step, Walk, conditional, looped
from .steps import Steps

__all__ = ["Step", "Steps", "Walk", "activations", "conditional", "gru", "looped", "lstm", "rnn"]
