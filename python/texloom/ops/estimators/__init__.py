"""Estimators, the features that they read, and the scores that they return."""

from __future__ import annotations

from . import features, scores, support_vectors, trees

__all__ = ["features", "scores", "support_vectors", "trees"]
