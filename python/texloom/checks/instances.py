"""Guards against empty objects of the core, which ``X.__new__(X)`` would otherwise create."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core


def _whole(make_empty: Callable[[type], Any]) -> Callable[..., Any]:
    def make(cls: type, *args: Any, **keywords: Any) -> Any:
        instance = make_empty(cls)
        # Raises a TypeError if there is no constructor. Python calls a constructor again, without
        # effect.
        instance.__init__(*args, **keywords)
        return instance

    return make


for _class in vars(_core).values():
    if isinstance(_class, type):
        _class.__new__ = staticmethod(_whole(_class.__new__))
