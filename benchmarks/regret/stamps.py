"""Times of kernels by the time stamps of the device, in which launches take no part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from texloom._core import Function

from texloom import _core
from texloom.measure.loop import Arm
from texloom.tuning import Expected


@dataclass(frozen=True)
class StampedArm:
    """An implementation whose runs take what their commands take on the device."""

    arm: Arm
    profile: _core.Profile

    def seconds(self, count: int) -> float:
        """Mean seconds per run of `count` runs; raises RuntimeError if stamps are missing."""
        _core.finish_devices()
        self.profile.clear()
        for _ in range(count):
            self.arm.run()
        _core.finish_devices()
        commands = self.profile.commands()
        if len(commands) < count or self.profile.dropped:
            raise RuntimeError(
                f"the device stamped {len(commands)} commands of {count} runs, and lost "
                f"{self.profile.dropped}"
            )
        return sum(end - begin for _, begin, end in commands) * 1e-9 / count


@dataclass(frozen=True)
class StampedKernel(Expected):
    """A kernel whose points are timed by time stamps."""

    profile: _core.Profile

    def first_run(self, function: Function) -> tuple[StampedArm, list[NDArray[Any]]]:
        """Run a function; return how to time it, and its outputs."""
        arm, outputs = super().first_run(function)
        return StampedArm(arm, self.profile), outputs


__all__ = ["StampedArm", "StampedKernel"]
