"""The process that runs a network for :mod:`texloom.costs.runs`.

    python -m texloom.graph.timed_run FOLDER DEVICE plain|stamped

The folder has the package and its inputs, and gets a file of results.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

from .. import _core
from .compiled import RunnableGraph, load

_WARM_UP = 1.0  # seconds
_SECONDS = 0.5  # of runs with time stamps, and in all without
_SAMPLES = 5
_FEWEST_RUNS, _MOST_RUNS = 5, 200


def _warmed_up(graph: RunnableGraph, device: str) -> float:
    """Run until caches are filled and clocks are raised; return the seconds of a run then."""
    end = time.monotonic() + _WARM_UP
    seconds = graph.time(1, device)
    while time.monotonic() < end:
        times = max(1, int(0.05 / max(seconds, 1e-9)))
        seconds = graph.time(times, device) / times
    return max(seconds, 1e-9)


def _plain(graph: RunnableGraph, device: str) -> dict[str, object]:
    seconds = _warmed_up(graph, device)
    times = int(min(max(_SECONDS / _SAMPLES / seconds, 1), _MOST_RUNS))
    return {"total": median(graph.time(times, device) / times for _ in range(_SAMPLES)) * 1e9}


def _stamped(graph: RunnableGraph, device: str, profile: _core.Profile) -> dict[str, object]:
    seconds = _warmed_up(graph, device)
    times = int(min(max(_SECONDS / seconds, _FEWEST_RUNS), _MOST_RUNS))
    _core.finish_devices()
    profile.clear()
    graph.time(times, device)
    _core.finish_devices()
    commands = profile.commands()
    if not commands or profile.dropped:
        sys.exit(f"the device stamped {len(commands)} commands and lost {profile.dropped}")
    origin = commands[0][1]
    return {
        "begins": np.array([begin - origin for _, begin, _ in commands], "float64"),
        "ends": np.array([end - origin for _, _, end in commands], "float64"),
        "runs": times,
    }


def main() -> None:
    """Run, and write the results."""
    folder, device, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    profile = _core.start_profile() if how == "stamped" else None
    graph = load(folder / "network.tlp")
    with np.load(folder / "inputs.npz") as stored:
        inputs = [stored[name] for name in stored.files]
    graph.run(dict(zip((each.name for each in graph.inputs), inputs, strict=True)), device)
    results = _plain(graph, device) if profile is None else _stamped(graph, device, profile)
    np.savez(folder / f"{how}.npz", **results)
    # NVIDIA's driver 580 fails when objects of a run with time stamps are released.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
