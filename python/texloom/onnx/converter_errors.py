"""Exceptions of converters, as reasons for users why a node is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..errors import InternalError, TVMError
from ..extents import are_known
from .nodes import NeedsValues, Unsupported, Value

_BUGS = (AssertionError, AttributeError, NameError, RecursionError)


class LostError(Exception):
    """A converter needs the output of a node that has been refused already."""


@contextmanager
def explained(op: str, node: str, inputs: Sequence[Value | None]) -> Iterator[None]:
    """Turn exceptions of a converter into reasons for users.

    Exceptions with a reason pass, and the text of a ValueError is one. Other exceptions mean a
    bug of the converter, or a node whose attributes contradict its inputs. If inputs have open
    extents, other exceptions mean that the converter needs to know these extents.

    Parameters
    ----------
    op, node : str
        The operator, and the name of the node.
    inputs : sequence of Value or None
    """
    try:
        yield
    except (NeedsValues, LostError, Unsupported, InternalError, Warning):
        raise
    except _BUGS as error:
        raise InternalError(
            f"internal error: {op} {node!r}: {type(error).__name__}: {error}; this is a bug in "
            "Texloom, please report it with the model"
        ) from error
    except Exception as error:
        cause = error.__cause__ if isinstance(error, TVMError) else error
        if type(cause) is ValueError:  # raised by functions of `ops`, with a text for users
            raise Unsupported(str(cause)) from error
        if open_extents := _open_extents(inputs):
            named = ", ".join(open_extents)
            raise Unsupported(
                f"it needs to know the extents of its inputs, but the model leaves open {named}"
            ) from error
        if isinstance(error, TVMError):
            raise
        raise Unsupported(f"it is not valid: {type(error).__name__}: {error}") from error


def _open_extents(inputs: Sequence[Value | None]) -> list[str]:
    """Return the extents of the inputs that are known only at a run, as text."""
    given = [extent for each in inputs if each is not None for extent in each.shape]
    return list(dict.fromkeys(str(each) for each in given if not are_known([each])))


__all__ = ["LostError", "explained"]
