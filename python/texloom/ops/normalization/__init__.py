"""Softmax and normalizations."""

from __future__ import annotations
