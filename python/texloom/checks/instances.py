"""Guards against empty objects of the core, which ``X.__new__(X)`` would otherwise create."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core


def _whole(make_empty: Callable[[type], Any]) -> Callable[..., Any]:
    def make(cls: type, *args: Any, **keywords: Any) -> Any:
        instance = make_empty(cls)
        # A class without a constructor raises a TypeError here. Python calls a constructor a second
        # time after `__new__`, without effect.
        instance.__init__(*args, **keywords)
        return instance

    return make


for _class in vars(_core).values():
    if isinstance(_class, type):
        _class.__new__ = staticmethod(_whole(_class.__new__))
