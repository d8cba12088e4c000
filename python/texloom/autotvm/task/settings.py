"""Settings of AutoTVM that scripts change."""

from __future__ import annotations


class AutotvmGlobalScope:
    """Settings of a process.

    Attributes
    ----------
    silent : bool
        Whether fallback configurations are used without a warning.
    in_tuning : bool
        Accepted for the sake of existing scripts.
    """

    def __init__(self) -> None:
        self.silent = False
        self.in_tuning = False


GLOBAL_SCOPE = AutotvmGlobalScope()

__all__ = ["GLOBAL_SCOPE", "AutotvmGlobalScope"]
