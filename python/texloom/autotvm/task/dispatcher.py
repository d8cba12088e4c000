"""Contexts from which templates get their configurations."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from .settings import GLOBAL_SCOPE
from .space import ConfigSpace, FallbackConfigEntity

_LOGGER = logging.getLogger("autotvm")


class _Innermost:
    """An attribute of a class: the innermost context."""

    def __get__(self, instance: object, owner: type) -> DispatchContext:
        return _CURRENT.get()


class DispatchContext(ABC):
    """A source of configurations, while it is entered; ``DispatchContext.current`` is innermost."""

    current = _Innermost()

    def __init__(self) -> None:
        self._tokens: list[Token[DispatchContext]] = []

    def query(self, target: Any, workload: tuple[Any, ...] | None) -> ConfigSpace:
        """Return the configuration of a template; that of an outer context if this has none.

        Parameters
        ----------
        target : Target or None
        workload : tuple or None
            The name of the template and its arguments; see :func:`.args_to_workload`.
        """
        found = self._query_inside(target, workload)
        if found is None:
            outer = self._tokens[-1].old_value if self._tokens else Token.MISSING
            source = _ROOT if outer is Token.MISSING else outer
            found = source.query(target, workload)
        return found

    @abstractmethod
    def _query_inside(self, target: Any, workload: tuple[Any, ...] | None) -> ConfigSpace | None:
        """Return the configuration that this context has; None if it has none."""

    def update(self, target: Any, workload: tuple[Any, ...], cfg: ConfigSpace) -> None:
        """Give a template this configuration."""
        raise NotImplementedError

    def __enter__(self) -> DispatchContext:
        """Make it the current context."""
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make the outer context the current one again."""
        del kind, error, trace
        _CURRENT.reset(self._tokens.pop())


class ApplyConfig(DispatchContext):
    """Every template gets one configuration.

    Parameters
    ----------
    config : ConfigSpace

    Attributes
    ----------
    workload : tuple or None
        That of the last query.
    """

    def __init__(self, config: ConfigSpace) -> None:
        super().__init__()
        self._config = config
        self.workload: tuple[Any, ...] | None = None

    def _query_inside(self, target: Any, workload: tuple[Any, ...] | None) -> ConfigSpace:
        del target
        self.workload = workload
        return self._config

    def update(self, target: Any, workload: tuple[Any, ...], cfg: ConfigSpace) -> None:
        """Give templates this configuration."""
        del target
        self.workload, self._config = workload, cfg


class FallbackContext(DispatchContext):
    """Templates get the first value of each knob, with a warning of the logger ``autotvm``."""

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[tuple[str, Any], ConfigSpace] = {}
        self._warned: set[tuple[str, Any]] = set()

    def _query_inside(self, target: Any, workload: tuple[Any, ...] | None) -> ConfigSpace:
        key = (str(target), workload)
        if key in self._given:
            return self._given[key]
        if key not in self._warned and not GLOBAL_SCOPE.silent:
            self._warned.add(key)
            _LOGGER.warning(
                "Cannot find config for target=%s, workload=%s. A fallback configuration is used, "
                "which may bring great performance regression.",
                target,
                workload,
            )
        return FallbackConfigEntity()

    def update(self, target: Any, workload: tuple[Any, ...], cfg: ConfigSpace) -> None:
        """Give a template this configuration."""
        self._given[str(target), workload] = cfg

    def clear_cache(self, target: Any, workload: tuple[Any, ...]) -> None:
        """Forget what :meth:`update` has given, and that there was a warning."""
        self._given.pop((str(target), workload), None)
        self._warned.discard((str(target), workload))


_ROOT: DispatchContext = FallbackContext()
_CURRENT: ContextVar[DispatchContext] = ContextVar("current", default=_ROOT)

__all__ = ["ApplyConfig", "DispatchContext", "FallbackContext"]
