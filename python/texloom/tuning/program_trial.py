"""Programs that users schedule, as kernels to measure: what the measuring process makes of a text.

The function that makes a schedule may live in a script, which no other process can import. So the
text form of its program is what is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import Function
from ..building import build, parse
from ..errors import refuse
from ..measure.loop import Arm
from ..records import Failure, Subject
from .arguments import Arguments


@dataclass(frozen=True)
class UserProgram:
    """A schedule with some knobs, as a message to another process.

    Attributes
    ----------
    text : str
        The text form of its program.
    expected : str or None
        A program with the outputs that it must have; None if outputs are not compared.
    inputs : tuple of array, optional
        Values of all arguments; by default, random numbers for floats, and 0 or 1 for others.
    """

    text: str
    expected: str | None = None
    inputs: tuple[NDArray[Any], ...] | None = None


@dataclass(frozen=True)
class Reference:
    """What programs must compute.

    Attributes
    ----------
    text : str
        A program.
    device : Device
    inputs : sequence of array, optional
        As :attr:`UserProgram.inputs`.
    """

    text: str
    device: Any
    inputs: Sequence[NDArray[Any]] | None = None

    @cached_property
    def function(self) -> Function:
        """The compiled program."""
        return build(parse(self.text))

    @cached_property
    def arguments(self) -> Arguments:
        """The arguments of all programs."""
        return _arguments_of(self.function, self.device, self.inputs)

    @cached_property
    def outputs(self) -> list[NDArray[Any]]:
        """The outputs that are expected."""
        return self.arguments.first_run(self.function)[1]


@dataclass(frozen=True)
class ExpectedProgram:
    """A program, beside the outputs that it must have: see :class:`.kernel_build.Measurable`.

    Attributes
    ----------
    subject : Subject
    device : Device
    program : UserProgram
    reference : Reference or None
        None if outputs are not compared.
    """

    subject: Subject
    device: Any
    program: UserProgram
    reference: Reference | None

    refusal: ClassVar[Failure] = Failure.CONSTRAINT
    """Knobs make the schedule: if Texloom refuses it, they break one of its rules."""

    @property
    def outputs(self) -> list[NDArray[Any]] | None:
        """The outputs that are expected; None if they are not compared."""
        return None if self.reference is None else self.reference.outputs

    def built(self, knobs: Any) -> Function:
        """Return the compiled function; `knobs` are in the text already.

        Raises
        ------
        TVMError
            If the schedule is refused, or has other arguments than the reference.
        """
        del knobs
        function = build(parse(self.program.text))
        if self.reference is not None:
            own, other = _signature(function), _signature(self.reference.function)
            if own != other:
                refuse(
                    "BadArguments",
                    f"with these knobs the arguments are {_shown(own)}, instead of {_shown(other)}",
                    "let knobs change schedules, and no shapes of arguments",
                )
        return function

    def first_run(self, function: Function) -> tuple[Arm, list[NDArray[Any]]]:
        """Run the function; return how to time it, and its outputs."""
        if self.reference is not None:
            return self.reference.arguments.first_run(function)
        return _arguments_of(function, self.device, self.program.inputs).first_run(function)


def _signature(function: Function) -> list[tuple[tuple[int, ...], str]]:
    return [(each["shape"], each["dtype"]) for each in function.args]


def _shown(signature: Sequence[tuple[tuple[int, ...], str]]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in signature)


def _arguments_of(
    function: Function, device: Any, inputs: Sequence[NDArray[Any]] | None
) -> Arguments:
    outputs = [place for place, each in enumerate(function.args) if each["access"] != "read"]
    random = np.random.default_rng(0)
    values = inputs or [_random(random, *each) for each in _signature(function)]
    if len(values) != len(function.args):
        refuse(
            "BadArguments",
            f"{len(values)} arrays are given for {len(function.args)} arguments",
            "give an array for each argument, outputs too",
        )
    return Arguments(values, outputs, device)


def _random(random: np.random.Generator, shape: Sequence[int], dtype: str) -> NDArray[Any]:
    """Return numbers from -1 to 1; integers are 0 or 1, because they may be indices."""
    if np.dtype(dtype).kind == "f":
        return random.uniform(-1, 1, shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


__all__ = ["ExpectedProgram", "Reference", "UserProgram"]
