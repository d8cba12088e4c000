"""``tag_scope``: a tag for all computes that a block or a function makes."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import ContextVar, Token

_current: ContextVar[str | None] = ContextVar("texloom_tag", default=None)


class TagScope(ContextDecorator):
    """Gives its tag to every ``te.compute`` inside."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._token: Token[str | None] | None = None

    def __enter__(self) -> TagScope:
        if _current.get() is not None:
            raise ValueError("a tag_scope inside another: a compute has one tag")
        self._token = _current.set(self.tag)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _current.reset(self._token)


def tag_scope(tag: str) -> TagScope:
    """A scope whose computes have this tag, for ``with`` and as a decorator."""
    return TagScope(tag)


def tag_of(own: str) -> str:
    """The tag of a compute that was given `own`."""
    enclosing = _current.get()
    if enclosing is None:
        return own
    if own:
        raise ValueError(f"the tag {own!r} inside a tag_scope: a compute has one tag")
    return enclosing
