"""Settings of AutoTVM that scripts change."""

from .task.settings import GLOBAL_SCOPE, AutotvmGlobalScope

__all__ = ["GLOBAL_SCOPE", "AutotvmGlobalScope"]
