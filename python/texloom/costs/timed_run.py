"""Runs of a compiled network in the process of a measurement; see :mod:`texloom.costs.runs`.

The folder has the package and its inputs.
"""

from __future__ import annotations

from os import fsencode
from pathlib import Path

import numpy as np

from .. import _core
from ..devices.lookup import present
from ..measure.loop import BatchArm, Sampling, measure, runs_of_sample
from ..measure.measurement import ErrorClass, Measurement, MeasurementError, failing_as

PACKAGE, INPUTS, STAMPS = "network.tlp", "inputs.npz", "stamps.npz"

_PLAIN = Sampling(rounds=5, sample_seconds=0.1, most_runs=200, warm_up_seconds=1.0)
_STAMPED = Sampling(sample_seconds=0.5, least_runs=5, most_runs=200, warm_up_seconds=1.0)


def plain(folder: Path, device: str) -> Measurement:
    """Time a network without time stamps."""
    arm = _started(folder, device)
    with failing_as(ErrorClass.RUN):
        return measure([arm], _PLAIN)[0]


def stamped(folder: Path, device: str) -> Measurement:
    """Time a network with time stamps, and write the stamps of its commands to the folder."""
    profile = _core.start_profile()
    assert profile is not None
    arm = _started(folder, device)
    with failing_as(ErrorClass.RUN):
        runs = runs_of_sample(arm, _STAMPED)
        _core.finish_devices()
        profile.clear()
        seconds = arm.seconds(runs)
        _core.finish_devices()
    commands = profile.commands()
    if not commands or profile.dropped:
        message = f"the device stamped {len(commands)} commands and lost {profile.dropped}"
        raise MeasurementError(ErrorClass.RUN, message)
    origin = commands[0][1]
    begins = np.array([begin - origin for _, begin, _ in commands], "float64")
    ends = np.array([end - origin for _, _, end in commands], "float64")
    np.savez(folder / STAMPS, begins=begins, ends=ends)
    return Measurement((seconds,), runs)


def _started(folder: Path, name: str) -> BatchArm:
    """Load a network, and run it once, which builds its kernels."""
    with failing_as(ErrorClass.COMPILE):
        device = present(name)
        graph = _core.load_graph(fsencode(folder / PACKAGE), "", [], False, True)
        with np.load(folder / INPUTS) as stored:
            inputs = [stored[each] for each in stored.files]
        shapes = graph.output_shapes(device, [each.shape for each in inputs])
        dtypes = [dtype for _, dtype, _ in graph.outputs()]
        outputs = [np.empty(s, t) for s, t in zip(shapes, dtypes, strict=True)]
        graph.run(device, inputs, outputs)
    return BatchArm(lambda count: float(graph.time(device, count)))


__all__ = ["INPUTS", "PACKAGE", "STAMPS", "plain", "stamped"]
