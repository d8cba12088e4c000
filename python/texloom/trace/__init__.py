"""Traces of the work of a script on the host and on devices: ``texloom trace``."""

from __future__ import annotations

from .script import run_script
from .table import Row, rows_of, table_of

__all__ = ["Row", "rows_of", "run_script", "table_of"]
