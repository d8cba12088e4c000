"""Products of matrices."""

from __future__ import annotations
