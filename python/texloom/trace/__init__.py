"""What a script runs on the host and on devices, and when: ``texloom trace``."""

from __future__ import annotations

from .script import ScriptError, check_script, run_script
from .table import Row, rows_of, table_of

__all__ = ["Row", "ScriptError", "check_script", "rows_of", "run_script", "table_of"]
