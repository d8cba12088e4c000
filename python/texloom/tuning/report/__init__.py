"""Reports of tuning: what records say about kernels, as one page of HTML."""

from __future__ import annotations

from .findings import Findings
from .page import page_of

__all__ = ["Findings", "page_of"]
