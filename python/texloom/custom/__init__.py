"""Custom operators: Python functions and kernels of your own, beside compiled ones.

An operator is a value, and runs in the order of its device's queue: no wait separates it from
compiled functions.
"""

from ..checks.checked_calls import check_calls
from .files import load_operator
from .operators import Operator, host_operator, source_operator

__all__ = ["Operator", "host_operator", "load_operator", "source_operator"]
check_calls(globals())
