"""Charts of reports, as SVG inside the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .courses import Course

_SMALL = (236, 96)  # the area of a kernel's chart
_LARGE = (860, 190)  # the area of the chart of a whole run
_LEFT, _TOP, _BOTTOM = 64, 8, 22  # beside them, for texts


def _frame(size: tuple[int, int], name: str, body: str) -> str:
    width, height = size[0] + _LEFT + 12, size[1] + _TOP + _BOTTOM
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}">'
        f"<title>{escape(name)}</title>{body}</svg>"
    )


def _axes(size: tuple[int, int], marks: Sequence[tuple[float, str]], last: int) -> str:
    """Return lines at heights, with texts at the left, and the number of the last trial."""
    width, height = size
    made = []
    for y, text in marks:
        at = _TOP + y
        made.append(
            f'<line class="grid" x1="{_LEFT}" y1="{at:.1f}" x2="{_LEFT + width}" y2="{at:.1f}"/>'
        )
        made.append(
            f'<text class="tick" x="{_LEFT - 6}" y="{at + 3.5:.1f}" text-anchor="end">{text}</text>'
        )
    bottom = _TOP + height + 15
    made.append(f'<text class="tick" x="{_LEFT}" y="{bottom}">trial 1</text>')
    made.append(
        f'<text class="tick" x="{_LEFT + width}" y="{bottom}" text-anchor="end">{last:,}</text>'
    )
    return "".join(made)


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of a line that stays at a height until the next point."""
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for x, y in points[1:]:
        path += f"H{x:.1f}V{y:.1f}"
    return path


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:,.0f}"


def convergence_chart(course: Course) -> str:
    """Return a chart of a kernel: each trial, and the least time so far.

    Times are relative to that of the first point; slower ones than twice that are at the top, and
    failed trials are crosses there.
    """
    width, height = _SMALL
    base = course.first_seconds or course.best_seconds or 1.0
    count = len(course.convergence)
    top = 2.0
    low = min([1.0, *(least / base for _, least in course.convergence if least)])
    low = max(0.0, low - 0.1 * (top - low))

    def at(number: int, seconds: float) -> tuple[float, float]:
        x = _LEFT + width * ((number + 0.5) / max(count, 1))
        ratio = min(max(seconds / base, low), top)
        return x, _TOP + height * (top - ratio) / (top - low)

    marks = [
        (height * (top - ratio) / (top - low), text) for ratio, text in ((top, "2 x"), (1.0, "1 x"))
    ]
    body = [_axes(_SMALL, marks, count)]
    line = []
    for number, (seconds, least) in enumerate(course.convergence):
        if seconds is None:
            x, y = at(number, base * top)
            body.append(f'<path class="failed" d="M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6"/>')
        else:
            x, y = at(number, seconds)
            body.append(f'<circle class="trial" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>')
        if least is not None:
            line.append(at(number, least))
    if line:
        line.append((_LEFT + width, line[-1][1]))
        body.append(f'<path class="best" d="{_steps(line)}"/>')
    name = f"{course.subject.family}, {course.subject.task[:8]}: {count} trials"
    return _frame(_SMALL, name, "".join(body))


def progress_chart(progress: Sequence[tuple[int, float]]) -> str:
    """Return a chart of the seconds of a run after each trial, from :meth:`.Findings.progress`."""
    width, height = _LARGE
    last = max(progress[-1][0], 1)
    most, least = progress[0][1], progress[-1][1]
    low = max(0.0, least - 0.15 * max(most - least, 0.05 * most))

    def y_of(seconds: float) -> float:
        return height * (most - seconds) / max(most - low, 1e-30)

    marks = [(0.0, f"{_milliseconds(most)} ms"), (y_of(least), _milliseconds(least))]
    if marks[1][0] < 14:
        marks = marks[:1]
    points = [(_LEFT + width * number / last, _TOP + y_of(seconds)) for number, seconds in progress]
    line = _steps(points)
    area = f"{line}V{_TOP + height}H{_LEFT}Z"
    paths = f'<path class="area" d="{area}"/><path class="best" d="{line}"/>'
    body = _axes(_LARGE, marks, last) + paths
    return _frame(_LARGE, f"a run: {most * 1e3:.4g} ms at first, {least * 1e3:.4g} ms now", body)


__all__ = ["convergence_chart", "progress_chart"]
