"""``PassContext``: knobs beside the schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from typing import Any

# None of them changes what a program computes.
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
    """What scripts set for lowering, as a context manager.

    Keys are kept and can be asked for; none of those that are accepted changes results, and the
    passes here take their decisions from the schedule and the target alone.

    Raises
    ------
    ValueError
        For a key that would change the program (``tir.add_lower_pass``) or is not known.
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
                raise ValueError(
                    f"unknown key {key!r} of PassContext: use {', '.join(sorted(_KEYS))}"
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

    @staticmethod
    def current() -> PassContext:
        """The innermost context, or one without settings."""
        return _current.get() or PassContext()


__all__ = ["PassContext"]
