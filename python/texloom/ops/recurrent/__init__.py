"""Recurrent networks."""

from __future__ import annotations
