"""``PassContext``: options besides the schedule."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from typing import Any

from ..errors import TexloomWarning, refuse

# No key changes the results of a correct program; instrument_bound_checkers only selects kernels
# that also check their indices.
_KEYS = frozenset(
    {
        "tir.InjectDoubleBuffer",
        "tir.LoopPartition",
        "tir.UnrollLoop",
        "tir.detect_global_barrier",
        "tir.disable_assert",
        "tir.disable_storage_rewrite",
        "tir.disable_vectorize",
        "tir.instrument_bound_checkers",
        "tir.is_entry_func",
        "tir.noalias",
        "tir.usmp.enable",
    }
)

_current: ContextVar[PassContext | None] = ContextVar("texloom_pass_context", default=None)


class PassContext:
    """Options for lowering, as a context manager.

    Keys are stored and can be queried; no accepted key changes results.
    ``tir.instrument_bound_checkers`` is `checked` of :func:`texloom.build`; otherwise passes depend
    only on the schedule and the target.

    Warns
    -----
    TexloomWarning
        If `disabled_pass` or ``tir.disable_vectorize`` requests that passes are disabled, which has
        no effect.

    Raises
    ------
    TVMError
        TL5016, a ValueError, for an unknown key, or a key that would change the program
        (``tir.add_lower_pass``).
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[Any] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        for key in config or {}:
            if key not in _KEYS:
                refuse(
                    "UnknownName",
                    f"a PassContext has no key {key!r}",
                    f"use one of {', '.join(sorted(_KEYS))}",
                )
        left_out = list(disabled_pass or [])
        if (config or {}).get("tir.disable_vectorize"):
            left_out.append("tir.disable_vectorize")
        if left_out:
            warnings.warn(
                f"passes cannot be disabled by {', '.join(left_out)}: leave the directive out of "
                "the schedule",
                TexloomWarning,
                stacklevel=2,
            )
        self.opt_level = opt_level
        self.required_pass = list(required_pass or [])
        self.disabled_pass = list(disabled_pass or [])
        self.instruments = list(instruments or [])
        self.config = dict(config or {})
        self._tokens: list[Token[PassContext | None]] = []

    def __enter__(self) -> PassContext:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    @property
    def checks_accesses(self) -> bool:
        """Whether :func:`texloom.build` makes checked kernels."""
        return bool(self.config.get("tir.instrument_bound_checkers", False))

    @staticmethod
    def current() -> PassContext:
        """Return the innermost context, or a context without settings."""
        return _current.get() or PassContext()


__all__ = ["PassContext"]
