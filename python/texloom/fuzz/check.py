"""Whether a schedule computes what its computes say, at every stage of lowering and on devices."""

from __future__ import annotations

import re
import warnings
import zlib
from dataclasses import dataclass

import numpy as np

from .. import _core, nd
from .._core import Device, Program
from ..driver import build, parse
from ..errors import InternalError, TexloomWarning, TVMError
from .script import HALF_ARITHMETIC

# Statements and elements of one version; more are no small program.
MAX_STEPS = 100_000
# In front of a program in which every sum keeps its order and nothing is contracted.
SAME_BITS = "// every sum keeps its order: each version gives the same bits\n"
# OpenCL C allows no function that is used here more than this; division 2.5 (table 7.4 of
# OpenCL C 1.2). They stand last, so that this is the whole difference.
FUNCTION_ULPS = 16
FUNCTION = re.compile(r"\b(?:exp|sqrt|tanh|sin|log2|erf)\(| / ")
# Of zeros of both signs OpenCL's fmax and fmin may give either (OpenCL C 1.2, 6.12.2).
EXTREMUM = re.compile(r"\b(?:max|min)\(")
# Of such an argument a device wants an array of the new shape.
TRANSFORM = re.compile(r"^  transform ", re.MULTILINE)
# What makes two failures of different programs look different.
DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|\d+|/\S+")


@dataclass(frozen=True)
class Outcome:
    """What became of a program."""

    kind: str  # "right", "refused", or what is wrong
    detail: str = ""
    compared: bool = True  # else no bound is known for how far results may differ

    @property
    def failed(self) -> bool:
        """Whether Texloom is at fault."""
        return self.kind not in ("right", "refused", "too large", "unsound")


@dataclass(frozen=True)
class Argument:
    """A parameter of a program."""

    name: str
    dtype: str
    shape: list[int]
    is_input: bool
    has_origin: bool


class Mismatch(Exception):
    """The first difference, or the first report: its kind and what it says."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


def inputs_for(arguments: list[Argument], text: str, whole: bool) -> list[np.ndarray | None]:
    """Values for the inputs, by the program's text; nothing for outputs.

    Small integers, as a rule, so that floating-point results are exact; of one program in five
    any integers and floats with a fraction, or of a copy (`whole`) any bits but those of a NaN.
    """
    rng = np.random.default_rng(zlib.crc32(text.split("\n")[-2].encode()) + len(arguments))
    wide = rng.random() < 0.2 or whole
    arrays: list[np.ndarray | None] = []
    for argument in arguments:
        dtype = np.dtype(argument.dtype)
        if not argument.is_input:
            arrays.append(None)
        elif dtype.kind == "b":
            arrays.append(rng.integers(0, 2, argument.shape).astype(bool))
        elif dtype.kind == "f" and whole:
            bits = rng.integers(0, 256, (*argument.shape, dtype.itemsize), np.uint8)
            values = np.ascontiguousarray(bits).view(dtype)[..., 0]
            normal = np.isfinite(values) & (np.abs(values) >= np.finfo(dtype).tiny)
            arrays.append(np.where(normal, values, dtype.type(-0.0)))
        elif dtype.kind == "f":
            values = rng.integers(-8, 9, argument.shape).astype(dtype)
            if wide:
                values += rng.integers(-50, 51, argument.shape).astype(dtype) / dtype.type(128.3)
            arrays.append(np.require(values, dtype, "C"))
        elif wide:
            info = np.iinfo(dtype)
            arrays.append(rng.integers(info.min, info.max, argument.shape, dtype, endpoint=True))
        else:
            arrays.append(rng.integers(-8 if dtype.kind == "i" else 0, 9, argument.shape, dtype))
    return arrays


class Check:
    """Runs one program, given as text, in every way."""

    def __init__(self, text: str, whole: bool = False) -> None:
        self.text = text
        self.program: Program = parse(text, "case.tl")
        self.same_bits = text.startswith(SAME_BITS)
        self.has_functions = FUNCTION.search(text) is not None
        self.has_extrema = EXTREMUM.search(text) is not None
        self.runs_on_devices = TRANSFORM.search(text) is None
        self.arguments = [Argument(*row) for row in _core.arguments(self.program)]
        self.inputs = inputs_for(self.arguments, text, whole)
        self.bytes = [None if a is None else a.tobytes() for a in self.inputs]
        self.compared = True
        self.reference: list[np.ndarray] = []
        self.lowered: list[np.ndarray] = []
        self.bounds: list[list[float]] | None = None

    def interpret(self) -> None:
        """Every version in the interpreter."""
        self.bounds = _core.rounding_bound(self.program, self.bytes, MAX_STEPS)
        self.compared = self.bounds is not None or self.same_bits
        _core.run_versions(self.program, self.bytes, MAX_STEPS, self.see)

    def see(self, version: str, reports: list[tuple[str, str]], arrays: list[bytes]) -> None:
        """Compare one version with the one before it, or with the first."""
        if reports:
            kind = "unsound" if version == "unscheduled" else f"{version}: {reports[0][0]}"
            raise Mismatch(kind, reports[0][1])
        values = [
            np.frombuffer(data, a.dtype).reshape(a.shape)
            for data, a in zip(arrays, self.arguments, strict=True)
        ]
        if version == "unscheduled":
            self.reference = self.lowered = values
            return
        # Schedules put sums into another order, and one pass contracts; all else keeps every bit.
        may_round = self.lowered is self.reference or version == "contract_fma"
        expected, bounds = self.lowered, None
        if may_round and not self.same_bits:
            expected, bounds = self.reference, self.bounds
        self.lowered = values
        if may_round and not self.same_bits and bounds is None:
            return
        for n, argument in enumerate(self.arguments):
            bound = None if bounds is None else np.reshape(bounds[n], argument.shape)
            self.compare(version, argument, values[n], expected[n], bound)

    def compare(
        self,
        version: str,
        argument: Argument,
        values: np.ndarray,
        expected: np.ndarray,
        bound: np.ndarray | None,
        *,
        signs_of_zeros: bool = True,
    ) -> None:
        """Equal bits, or equal values up to a bound; zeros with their signs, or without."""
        if values.tobytes() == expected.tobytes():
            return
        with np.errstate(all="ignore"):
            wrong = values != expected
            if values.dtype.kind == "f":
                wrong &= ~(np.isnan(values) & np.isnan(expected))
                if bound is None:
                    wrong |= signs_of_zeros & (np.signbit(values) != np.signbit(expected))
                else:
                    distance = np.abs(values.astype("f8") - expected.astype("f8"))
                    # What overflows may overflow on the way.
                    wrong &= ~(distance <= bound) & np.isfinite(bound)
        if wrong.any():
            first = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise Mismatch(
                f"{version}: wrong values",
                f"{wrong.sum()} of {wrong.size} elements of {argument.name} differ: "
                f"{list(first)} is {values[first]}, not {expected[first]}",
            )

    def run_on(self, device: Device) -> None:
        """The kernels on a device, against what the interpreter makes of the same kernels."""
        text = with_half_arithmetic(self.text, HALF_ARITHMETIC in device._target)
        function = build(self.program if text == self.text else parse(text, "case.tl"))
        arrays = []
        for n, (argument, layout) in enumerate(
            zip(self.arguments, function.argument_layouts, strict=True)
        ):
            origin = (3, 1) if argument.has_origin else (0, 0)
            array = nd.empty(
                argument.shape,
                argument.dtype,
                device,
                target=function.target,
                origin=origin,
                layout=layout,
            )
            if self.inputs[n] is not None:
                array.copyfrom(self.inputs[n])
            arrays.append(array)
        function(*arrays)
        for array, argument, expected in zip(arrays, self.arguments, self.lowered, strict=True):
            bound = None
            if self.has_functions and expected.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    bound = FUNCTION_ULPS * np.abs(np.spacing(expected)).astype("f8")
            self.compare(
                *(f"device {device}", argument, array.numpy(), expected, bound),
                signs_of_zeros=not self.has_extrema,
            )


def with_half_arithmetic(text: str, there: bool) -> str:
    """The text of the program for devices that have half arithmetic, or for those that have not."""
    plain = text.replace(HALF_ARITHMETIC, "", 1)
    half = f'target="opencl{HALF_ARITHMETIC}'
    return plain.replace('target="opencl', half, 1) if there else plain


def refused_or_wrong(error: TVMError) -> Outcome:
    """Whose fault a diagnostic is: the schedule's, or of what was compiled of it."""
    code = error.diagnostics[0].code
    if code == "TL6004":
        return Outcome("too large", first_line(error))
    if code.startswith("TL5"):  # of the runtime
        return Outcome(f"device error {code}", str(error))
    return Outcome("refused", f"{code} {first_line(error)}")


def check(text: str, devices: list[Device], whole: bool = False) -> Outcome:
    """What becomes of the program of this text, in the interpreter and on these devices."""
    with warnings.catch_warnings():
        # Random loops are vectorised that no vector divides.
        warnings.simplefilter("ignore", TexloomWarning)
        try:
            each = Check(text, whole)
            if all(a.is_input for a in each.arguments) or text.count("\n  output") == 0:
                return Outcome("refused", "nothing is computed that is seen")
            each.interpret()
            for device in devices if each.runs_on_devices else ():
                each.run_on(device)
        except Mismatch as mismatch:
            return Outcome(mismatch.kind, str(mismatch))
        except InternalError as error:
            return Outcome(f"internal error: {DETAIL.sub('_', first_line(error))}", str(error))
        except TVMError as error:
            return refused_or_wrong(error)
        return Outcome("right", compared=each.compared)


def first_line(error: Exception) -> str:
    """Of its message."""
    return str(error).split("\n")[0]
