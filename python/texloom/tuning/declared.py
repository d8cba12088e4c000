"""Functions that users declare with knobs: which of them a script calls, and their best knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any

from ..records import Subject
from ..records.best_file import read_best
from .user_kernel import UserKernel

Lookup = Callable[[Subject], Mapping[str, Any] | None]

_COLLECTED: ContextVar[dict[str, UserKernel] | None] = ContextVar("collected", default=None)
_BEST: ContextVar[Lookup | None] = ContextVar("best", default=None)


@contextmanager
def collected_kernels() -> Iterator[dict[str, UserKernel]]:
    """Collect the kernels that calls in this context declare, by the identities of subjects."""
    kernels: dict[str, UserKernel] = {}
    outer = _COLLECTED.set(kernels)
    try:
        yield kernels
    finally:
        _COLLECTED.reset(outer)


def is_collecting() -> bool:
    """Whether kernels are collected, to be tuned later."""
    return _COLLECTED.get() is not None


def collect(kernel: UserKernel) -> None:
    """Add a kernel to those that are collected, if any are."""
    collected = _COLLECTED.get()
    if collected is not None:
        collected.setdefault(kernel.subject.identity, kernel)


@contextmanager
def best(place: str | PathLike[str]) -> Iterator[None]:
    """Let functions of :func:`texloom.tune.space` use the best knobs of a file in this context.

    Parameters
    ----------
    place : str or path
        A file that ``texloom tune -o`` or ``texloom db export --best`` wrote.

    Raises
    ------
    TVMError
        TL5018 for a file that cannot be read, TL5019 for one with other contents.
    """
    entries = {each.key: each.knobs for each in read_best(Path(place))}
    outer = _BEST.set(lambda subject: entries.get(subject.identity))
    try:
        yield
    finally:
        _BEST.reset(outer)


def has_best() -> bool:
    """Whether a context of :func:`best` is active."""
    return _BEST.get() is not None


def best_of(kernel: UserKernel) -> Any:
    """Return the best known point of a kernel; None if there is none, or the space lacks it."""
    lookup = _BEST.get()
    known = None if lookup is None else lookup(kernel.subject)
    return None if known is None else kernel.point_of(known)


__all__ = [
    "best",
    "best_of",
    "collect",
    "collected_kernels",
    "has_best",
    "is_collecting",
]
