"""Convolutions of any rank, in buffers."""

from __future__ import annotations
