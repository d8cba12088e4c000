"""Checks of calls of public functions, which give diagnostics in place of TypeErrors."""
