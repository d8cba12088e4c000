"""What ``texloom db`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..inspect.describe import aligned
from ..records import Trial

if TYPE_CHECKING:
    from ..tuning import Verified

_DIGITS = 8  # of the names of tasks and trials


def _microseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.1f}"


def _knobs(trial: Trial) -> str:
    return " ".join(f"{name}={value}" for name, value in trial.knobs.items()).replace(", ", ",")


def best_lines(trials: Sequence[Trial]) -> list[str]:
    """Return a table of trials."""
    heading = ("family", "version", "task", "trial", "us", "knobs", "device")
    rows = [
        (
            each.subject.family,
            str(each.subject.version),
            each.subject.task[:_DIGITS],
            each.id.hex[:_DIGITS],
            _microseconds(each.seconds),
            _knobs(each) or "-",
            str(each.place.device),
        )
        for each in trials
    ]
    return aligned([heading, *rows])


def count_lines(counts: Mapping[tuple[str, str, str | None], int]) -> list[str]:
    """Return a table of numbers of trials by family, device and failure."""
    heading = ("of", "result", "trials", "device")
    rows = [
        (of, failure or "measured", f"{number:,}", device)
        for (of, device, failure), number in counts.items()
    ]
    return aligned([heading, *rows])


def trial_lines(trial: Trial) -> list[str]:
    """Return everything about a trial, the text of its task last."""
    subject, place = trial.subject, trial.place
    times = ", ".join(_microseconds(each) for each in trial.times)
    interval = " to ".join(_microseconds(each) for each in trial.interval or (None,))
    checked = trial.verification.value
    if trial.difference is not None:
        checked += f", largest difference {trial.difference:.3g}"
    rows = [
        ("trial", str(trial.id)),
        ("begun", trial.begun.isoformat(timespec="seconds")),
        ("parent", "-" if trial.parent is None else str(trial.parent)),
        ("kind", subject.kind.value),
        ("family", f"{subject.family or '-'}, version {subject.version}"),
        ("facts", subject.facts or "-"),
        ("target", subject.target),
        ("knobs", _knobs(trial) or "-"),
        ("us", f"{_microseconds(trial.seconds)} (median), by the {trial.clock.value}'s clock"),
        ("interval", f"{interval} us, with 95 % confidence"),
        ("times", f"{times or '-'} us, of {trial.runs} runs each"),
        ("outputs", checked),
        ("failure", "-" if trial.failure is None else f"{trial.failure.value}: {trial.message}"),
        ("phases", ", ".join(f"{n} {s:.3f} s" for n, s in trial.phases.items()) or "-"),
        ("kernels", " ".join(trial.kernels) or "-"),
        ("device", f"{place.device}, {place.device.platform}, {place.device.compiler}"),
        ("host", place.host),
        ("versions", ", ".join(f"{n} {v}" for n, v in place.versions.items())),
        ("task", subject.task),
    ]
    return [*aligned(rows), "", subject.text]


def verified_row(verified: Verified) -> dict[str, Any]:
    """Return what came of measuring a trial again."""
    trial, again, ratio = verified.trial, verified.again, verified.ratio
    result = verified.reason or "measured"
    if again is not None and again.failure is not None:
        result = f"{again.failure.value}: {again.message}"
    return {
        "family": trial.subject.family,
        "trial": trial.id.hex[:_DIGITS],
        "microseconds": _microseconds(trial.seconds),
        "now": _microseconds(None if again is None else again.seconds),
        "ratio": "-" if ratio is None else f"{ratio:.2f}",
        "kernels": "equal" if verified.has_same_kernels else "-" if again is None else "changed",
        "result": result,
    }


__all__ = ["best_lines", "count_lines", "trial_lines", "verified_row"]
