"""What goes wrong, as Python exceptions and warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning, as the compiler or the runtime reports it.

    Attributes
    ----------
    severity : str
        ``"error"`` or ``"warning"``.
    code : str
        A stable code such as ``"TL2001"``; see :func:`codes`.
    message, help : str
        What is wrong, and what to do about it.
    file, line : str | None, int | None
        The place in the user's program.
    notes : list[str]
        Further facts.
    text : str
        All of it, as a user reads it.
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
    """A program, a schedule or a call that is wrong. Named as scripts know it.

    Attributes
    ----------
    diagnostics : list[Diagnostic]
        Everything that was found, the first error first.
    """

    def __init__(self, text: str, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics or []

    @property
    def code(self) -> str | None:
        """The code of the first diagnostic."""
        return self.diagnostics[0].code if self.diagnostics else None


class MisuseError(TVMError, ValueError):
    """What scripts know as a ``ValueError``: a wrong number of indices, and the like."""


class ArgumentKindError(TVMError, TypeError):
    """A function that is given a value of another kind than it takes, or too many or too few."""


class ComputeFunctionError(TVMError, AssertionError):
    """A function that ``te.compute`` cannot call with the indices of a tensor."""


# Wrong numbers of indices, dtypes and constants, truth values of expressions, tags, parts of
# externs, intrinsics and scans that do not fit, factors of split, thread tags, tensors of other
# schedules, names that are unknown or taken.
_MISUSE = frozenset(
    "TL1002 TL1005 TL1009 TL1010 TL1011 TL1020 TL1021 TL1024 TL2004 TL2006 TL2007 TL5016".split()
)
_KINDS = frozenset({"TL2040", "TL2043"})


def exception_type(code: str) -> type[TVMError]:
    """What a diagnostic with this code is raised as."""
    if code in _KINDS:
        return ArgumentKindError
    return MisuseError if code in _MISUSE else TVMError


class MissingNameError(TVMError, AttributeError):
    """A name of TVM that Texloom does not have."""


class MissingModuleError(TVMError, ImportError):
    """A module of TVM that Texloom does not have."""


class InternalError(RuntimeError):
    """A bug in Texloom itself, never the user's mistake."""


class TexloomWarning(UserWarning):
    """A diagnostic that does not stop the program."""


def refuse(
    code: str, message: str, help_text: str, raised_as: type[TVMError] | None = None
) -> NoReturn:
    """Raises the diagnostic of this name, such as ``"BadExtern"``, at the line of the user's.

    It is what :func:`exception_type` says, unless `raised_as` says more.
    """
    from . import _core

    try:
        _core.refuse(code, message, help_text)
    except TVMError as error:
        if raised_as is None:
            raise
        raise raised_as(str(error), error.diagnostics) from None
    raise AssertionError("unreachable")


def codes() -> list[tuple[str, str, str]]:
    """Every diagnostic code as (code, name, summary)."""
    from . import _core

    return _core.error_codes()
