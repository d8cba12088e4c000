"""Python exceptions and warnings for diagnostics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn


@dataclass(frozen=True)
class Diagnostic:
    """An error or warning of the compiler or the runtime.

    Attributes
    ----------
    severity : str
        ``"error"`` or ``"warning"``.
    code : str
        A stable code such as ``"TL2001"``; see :func:`codes`.
    message, help : str
        What is wrong, and what to do about it.
    file, line : str | None, int | None
        The location in the user's program.
    notes : list[str]
        Further facts.
    text : str
        The whole diagnostic, as printed for users.
    """

    severity: str
    code: str
    message: str
    help: str
    file: str | None
    line: int | None
    notes: list[str] = field(default_factory=list)
    text: str = ""


class TVMError(RuntimeError):
    """An error in a program, a schedule or a call. The name is TVM's.

    Attributes
    ----------
    diagnostics : list[Diagnostic]
        All diagnostics, the first error first.
    """

    def __init__(self, text: str, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []

    @property
    def code(self) -> str | None:
        """The code of the first diagnostic."""
        return self.diagnostics[0].code if self.diagnostics else None


class MisuseError(TVMError, ValueError):
    """An error that TVM raises as a ``ValueError``, such as for a wrong number of indices."""


class ArgumentKindError(TVMError, TypeError):
    """A call with arguments of the wrong kind, or with too many or too few."""


class ComputeFunctionError(TVMError, AssertionError):
    """A function that ``te.compute`` cannot call with the indices of a tensor."""


# The codes that TVM raises as a ValueError: wrong numbers of indices, dtypes and constants; truth
# values of expressions; tags; parts of externs, intrinsics and scans that do not fit; factors of
# split; thread tags; tensors of other schedules; values outside of a range; names that are unknown
# or taken; arrays that are read-only; custom operators.
_MISUSE = frozenset(
    "TL1002 TL1005 TL1009 TL1010 TL1011 TL1020 TL1021 TL1024 TL2004 TL2006 TL2007 TL2044 TL5016 "
    "TL5020 TL5021".split()
)
_KINDS = frozenset({"TL2040", "TL2043"})


def exception_type(code: str) -> type[TVMError]:
    """Return the exception type for a diagnostic with this code."""
    if code in _KINDS:
        return ArgumentKindError
    return MisuseError if code in _MISUSE else TVMError


class MissingNameError(TVMError, AttributeError):
    """A name that TVM has and Texloom does not."""


class MissingModuleError(TVMError, ImportError):
    """A module that TVM has and Texloom does not."""


class InternalError(RuntimeError):
    """A bug in Texloom itself, never the user's mistake; not a :class:`TVMError`."""


class TexloomWarning(UserWarning):
    """A diagnostic that does not stop the program."""


def refuse(
    code: str, message: str, help_text: str, raised_as: type[TVMError] | None = None
) -> NoReturn:
    """Raise the diagnostic of this name, such as ``"BadExtern"``, at the user's line.

    The exception's type is that of :func:`exception_type`, unless `raised_as` is given.
    """
    from . import _core

    try:
        _core.refuse(code, message, help_text)
    except TVMError as error:
        if raised_as is None:
            raise
        raise raised_as(str(error), error.diagnostics) from None
    raise AssertionError("unreachable")


def with_note(error: TVMError, note: str) -> TVMError:
    """Add a note, such as the place of the error, to its first diagnostic; return the error."""
    if error.diagnostics:
        first, *others = error.diagnostics
        head, _, way_out = first.text.rpartition("\n  help: ")
        text = f"{head}\n  note: {note}\n  help: {way_out}"
        error.args = (str(error).replace(first.text, text, 1),)
        error.diagnostics = [replace(first, notes=[*first.notes, note], text=text), *others]
    return error


def codes() -> list[tuple[str, str, str]]:
    """Return every diagnostic code as (code, name, summary)."""
    from . import _core

    return _core.error_codes()
