"""Operators that move elements: transpose, concatenate, split, pad, tile."""

from __future__ import annotations
