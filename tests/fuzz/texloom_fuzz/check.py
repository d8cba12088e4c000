"""Checks that a schedule preserves its computation, at every stage and on devices."""

from __future__ import annotations

import re
import warnings
import zlib
from dataclasses import dataclass

import numpy as np
from texloom._core import Device, Program

from texloom import _core, nd
from texloom.building import build, parse
from texloom.errors import InternalError, TexloomWarning, TVMError
from texloom.target import Target

from .arguments import HALF_ARITHMETIC
from .calls import SAME_BITS, Argument, Call, calls_of

# Limits of statements and elements of one version of a small program.
MAX_STEPS = 100_000
MAX_STEPS_OF_FRAGMENTS = 5_000_000
# The largest error in ulp that OpenCL C 1.2 (table 7.4) allows for a function used here; 2.5 for
# division. Functions are applied last, so that this is the whole difference.
FUNCTION_ULPS = 16
FUNCTION = re.compile(r"\b(?:exp|sqrt|tanh|sin|log2|erf)\(| / ")
# Given 0 and -0, OpenCL's fmax and fmin may return either zero (OpenCL C 1.2, 6.12.2).
EXTREMUM = re.compile(r"\b(?:max|min)\(")
# Steps of SIMD-groups, and the target attribute that says what makes them.
STEPS = re.compile(r"\bfragment\.(?:fill|load|mma|store)\(")
MATRIX_UNIT = re.compile(r" -matrix_unit=\w+")
# C text, which native code cannot contain: foreign functions and import_c=.
C_TEXT = re.compile(r"\bforeign\b|\bimport_c=")
# Prefix of the kind of a program that is right in the interpreter, but crashes or hangs an OpenCL
# implementation.
GAVE_UP = "a device gave up: "
# The kind of a program that was drawn, but not asked for: it does not count.
PASSED_OVER = "passed over"
# Details that differ between equal failures of different programs.
DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|\d+|/\S+")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a program."""

    kind: str  # "right", "refused", or the kind of failure
    detail: str = ""
    compared: bool = True  # false if no error bound is known
    on_devices: bool = False  # whether every device ran it

    @property
    def failed(self) -> bool:
        """Whether Texloom is at fault."""
        harmless = ("right", "refused", "too large", "unsound")
        return self.kind not in harmless and not self.kind.startswith(GAVE_UP)


class Mismatch(Exception):
    """The first difference or report, with its kind and text."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Check:
    """Runs one call of a program in every version."""

    def __init__(self, program: Program, call: Call, text: str) -> None:
        self.text = text
        self.program = program
        self.call = call
        self.same_bits = text.startswith(SAME_BITS)
        self.has_functions = FUNCTION.search(text) is not None
        self.has_extrema = EXTREMUM.search(text) is not None
        self.compared = True
        self.reference: list[np.ndarray] = []
        self.lowered: list[np.ndarray] = []
        self.bounds: list[list[float]] | None = None

    def interpret(self) -> None:
        """Run every version in the interpreter."""
        most = MAX_STEPS_OF_FRAGMENTS if STEPS.search(self.text) else MAX_STEPS
        call = (self.program, self.call.symbols, self.call.bytes, most)
        self.bounds = _core.rounding_bound(*call)
        self.compared = self.bounds is not None or self.same_bits
        _core.run_versions(*call, self.see)

    def see(self, version: str, reports: list[tuple[str, str]], arrays: list[bytes]) -> None:
        """Compare one version with the previous one, or with the first."""
        if reports:
            kind = "unsound" if version == "unscheduled" else f"{version}: {reports[0][0]}"
            raise Mismatch(kind, reports[0][1])
        count = len(self.call.arguments)
        if any(any(data) for data in arrays[count:]):
            raise Mismatch(f"{version}: a right index is reported", "by a checked kernel")
        values = [
            np.frombuffer(data, a.dtype).reshape(a.shape)
            for data, a in zip(arrays[:count], self.call.arguments, strict=True)
        ]
        if version == "unscheduled":
            self.reference = self.lowered = values
            return
        # Schedules reorder sums, and contract_fma omits roundings; other passes keep every bit.
        may_round = self.lowered is self.reference or version == "contract_fma"
        expected, bounds = self.lowered, None
        if may_round and not self.same_bits:
            expected, bounds = self.reference, self.bounds
        self.lowered = values
        if may_round and not self.same_bits and bounds is None:
            return
        for n, argument in enumerate(self.call.arguments):
            bound = None if bounds is None else np.reshape(bounds[n], argument.shape)
            self.compare(version, argument, values[n], expected[n], bound)

    @staticmethod
    def compare(
        version: str,
        argument: Argument,
        values: np.ndarray,
        expected: np.ndarray,
        bound: np.ndarray | None,
        *,
        signs_of_zeros: bool = True,
    ) -> None:
        """Compare bits, or values up to a bound; zeros with or without their signs.

        The sign of a NaN, unspecified by IEEE 754, is ignored.
        """
        if values.tobytes() == expected.tobytes():
            return
        with np.errstate(all="ignore"):
            wrong = values != expected
            if values.dtype.kind == "f":
                if bound is None:
                    wrong |= signs_of_zeros & (np.signbit(values) != np.signbit(expected))
                else:
                    distance = np.abs(values.astype("f8") - expected.astype("f8"))
                    # Intermediate results may overflow too.
                    wrong &= ~(distance <= bound) & np.isfinite(bound)
                wrong &= ~(np.isnan(values) & np.isnan(expected))
        if wrong.any():
            first = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise Mismatch(
                f"{version}: wrong values",
                f"{wrong.sum()} of {wrong.size} elements of {argument.name} differ: "
                f"{list(first)} is {values[first]}, not {expected[first]}",
            )

    def run_on(self, device: Device) -> bool:
        """Compare kernels on a device with the interpreter's results of the same kernels.

        Returns false if no kernel for the device can say what the program does.
        """
        text = with_half_arithmetic(self.text, HALF_ARITHMETIC in str(device._target))
        if STEPS.search(text):
            text = with_loops(text)
        if device.driver == "metal":
            if "float64" in text:
                return False  # Metal has no float64
            text = for_metal(text, device)
        elif device.driver == "host":
            if C_TEXT.search(text) or STEPS.search(text):
                return False
            text = for_llvm(text)
        function = build(self.program if text == self.text else parse(text, "case.tl"))
        arrays = []
        for values, argument, layout in zip(
            self.call.inputs, self.call.arguments, function.argument_layouts, strict=True
        ):
            array = nd.empty(
                argument.array_shape,
                argument.dtype,
                device,
                target=function.target,
                origin=(3, 1) if argument.has_origin else (0, 0),
                layout=layout,
            )
            if values is None and "\nextern " in self.text:
                # Statements that were changed may leave elements unwritten, as the interpreter
                # leaves them: zero.
                values = np.zeros(argument.shape, argument.dtype)
            if values is not None:
                array.copyfrom(argument.array(values))
            arrays.append(array)
        passed = list(arrays)
        for position, name in _core.symbol_arguments(self.program):
            passed.insert(position, self.call.symbols[name])
        function(*passed)
        # Kernels with foreign functions run only on devices. A matrix unit adds in its own order.
        by_unit = "-matrix_unit=simdgroup" in text
        may_round = (self.lowered is self.reference and not self.same_bits) or by_unit
        if may_round and self.bounds is None:
            return True
        wanted = self.reference if by_unit else self.lowered
        for n, (array, argument, expected) in enumerate(
            zip(arrays, self.call.arguments, wanted, strict=True)
        ):
            bound = np.reshape(self.bounds[n], argument.shape) if may_round else None
            if self.has_functions and expected.dtype.kind == "f":
                with np.errstate(all="ignore"):
                    bound = FUNCTION_ULPS * np.abs(np.spacing(expected)).astype("f8")
            values = argument.values(array.numpy())
            self.compare(
                *(f"device {device}", argument, values, expected, bound),
                signs_of_zeros=not self.has_extrema,
            )
        return True


def with_half_arithmetic(text: str, there: bool) -> str:
    """Return the program's text for devices with or without half arithmetic."""
    plain = text.replace(HALF_ARITHMETIC, "", 1)
    half = f'target="opencl{HALF_ARITHMETIC}'
    return plain.replace('target="opencl', half, 1) if there else plain


def with_loops(text: str) -> str:
    """Return the program's text for devices whose threads make steps of fragments in loops."""
    plain = MATRIX_UNIT.sub("", text, count=1)
    return re.sub(r'target="(opencl[^"]*)"', r'target="\1 -matrix_unit=loops"', plain, count=1)


def for_metal(text: str, device: Device) -> str:
    """Return the program's text for a Metal device; other presets than Metal's are dropped.

    A fixed quarter of the programs takes its arguments in an argument buffer. If the device's
    target states the width of SIMD-groups, a fixed half of the programs relies on this width. If it
    multiplies matrices, it makes the steps of fragments.
    """
    number = zlib.crc32(text.encode())
    chosen = ["-argument_buffers=1", "-max_buffers=1"] if number % 4 == 0 else []
    attrs = Target.from_device(device).attrs
    if attrs["matrix_unit"] == "simdgroup":
        text = text.replace(" -matrix_unit=loops", " -matrix_unit=simdgroup", 1)
    width = attrs["simd_width"]
    if width > 1 and number // 4 % 2 == 0:
        chosen.append(f"-simd_width={width}")

    def metal(found: re.Match[str]) -> str:
        kept = [each for each in found[1].split() if not each.startswith("-device=")]
        return f'target="{" ".join(["metal", *kept, *chosen])}"'

    return re.sub(r'target="opencl([^"]*)"', metal, text, count=1)


def for_llvm(text: str) -> str:
    """Return the program's text for native code of this processor; presets are dropped."""

    def llvm(found: re.Match[str]) -> str:
        kept = [each for each in found[1].split() if not each.startswith(("-device=", "-float16"))]
        return f'target="{" ".join(["llvm", "-mcpu=native", *kept])}"'

    return re.sub(r'target="opencl([^"]*)"', llvm, text, count=1)


def refused_or_wrong(error: TVMError) -> Outcome:
    """Classify a diagnostic: a mistake of the schedule, or a failure of compiled code."""
    code = error.diagnostics[0].code
    if code == "TL6004":
        return Outcome("too large", first_line(error))
    if code.startswith("TL5"):  # runtime errors
        return Outcome(f"device error {code}", str(error))
    return Outcome("refused", f"{code} {first_line(error)}")


def check(text: str, devices: list[Device], whole: bool = False) -> Outcome:
    """Check the program of this text, in the interpreter and on these devices."""
    with warnings.catch_warnings():
        # Random schedules vectorize loops that no vector width divides.
        warnings.simplefilter("ignore", TexloomWarning)
        try:
            program = parse(text, "case.tl")
            ran = bool(devices)
            for symbols in calls_of(text):
                each = Check(program, Call(program, symbols, text, whole), text)
                if all(a.is_input for a in each.call.arguments) or "\n  output" not in text:
                    return Outcome("refused", "nothing is computed that is seen")
                each.interpret()
                for device in devices:
                    ran &= each.run_on(device)
        except Mismatch as mismatch:
            return Outcome(mismatch.kind, str(mismatch))
        except InternalError as error:
            return Outcome(f"internal error: {DETAIL.sub('_', first_line(error))}", str(error))
        except TVMError as error:
            return refused_or_wrong(error)
        return Outcome("right", compared=each.compared, on_devices=ran)


def first_line(error: Exception) -> str:
    """Return the first line of a message."""
    return str(error).split("\n")[0]
