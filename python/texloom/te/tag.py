"""``tag_scope``: a tag for all computes made in a block or a function."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import ContextVar, Token

from ..checks.checked_calls import check_calls
from ..errors import refuse

_current: ContextVar[str | None] = ContextVar("texloom_tag", default=None)


class TagScope(ContextDecorator):
    """A scope that gives its tag to every ``te.compute`` inside."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self._token: Token[str | None] | None = None

    def __enter__(self) -> TagScope:
        if _current.get() is not None:
            refuse(
                "TwoTags",
                f"tag_scopes do not nest: {self.tag!r} is inside {_current.get()!r}",
                "remove the inner scope, or put it after the outer scope",
            )
        self._token = _current.set(self.tag)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _current.reset(self._token)


def tag_scope(tag: str) -> TagScope:
    """Return a scope whose computes have this tag, for ``with`` and as a decorator."""
    return TagScope(tag)


def tag_of(own: str) -> str:
    """Return the tag of a compute: `own`, its argument, or the tag of the enclosing scope."""
    enclosing = _current.get()
    if enclosing is None:
        return own
    if own:
        refuse(
            "TwoTags",
            f"a compute has the tag {own!r}, but is inside the tag_scope {enclosing!r}",
            "leave tag= out, or put the compute outside of the scope",
        )
    return enclosing


__all__ = ["TagScope", "tag_of", "tag_scope"]
check_calls(globals())
