"""The page of a report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...inspect.describe import counted
from .charts import convergence_chart, progress_chart
from .courses import Course
from .findings import Findings, KnobWorth
from .style import STYLE

_MOST_CHARTS = 24
_MOST_ROWS = 30  # of tables, before the rest is folded
_MOST_VALUES = 12  # of a knob
_DIGITS = 8  # of the names of tasks


def page_of(findings: Findings, title: str) -> str:
    """Return a report as one HTML file, which needs nothing from elsewhere."""
    sections = [
        _head(findings, title),
        _kernels(findings),
        _convergence(findings),
        _knobs(findings),
        _storages(findings),
        _failures(findings),
        _devices(findings),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _microseconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def _times(ratio: float | None) -> str:
    """Return how many times as fast, in the color of a gain or a loss."""
    if ratio is None:
        return "-"
    kind = ' class="gain"' if ratio >= 1.005 else ' class="loss"' if ratio < 0.995 else ""
    return f"<span{kind}>{ratio:.2f} x</span>"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """Return a table of HTML cells; columns of `numbers` are aligned to the right."""

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=n' if place in numbers else ''}>{cell}</{tag}>"
            for place, cell in enumerate(row)
        )

    def whole(some: Sequence[Sequence[str]]) -> str:
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in some)
        return f"<table><thead><tr>{cells('th', heading)}</tr></thead><tbody>{body}</tbody></table>"

    made = f'<div class="card">{whole(rows[:_MOST_ROWS])}'
    if rest := rows[_MOST_ROWS:]:
        made += f"<details><summary>{len(rest):,} more</summary>{whole(rest)}</details>"
    return f"{made}</div>"


def _bars(*bars: tuple[str, float]) -> str:
    """Return bars, one below the other: of each, a class and the share of the whole width."""
    made = (f'<span class="bar{kind}" style="width:{share:.1%}"></span>' for kind, share in bars)
    return f'<div class="track">{"<br>".join(made)}</div>'


def _section(name: str, note: str, body: str) -> str:
    return f'<section><h2>{name}</h2><p class="note">{note}</p>{body}</section>'


def _head(findings: Findings, title: str) -> str:
    first, best = findings.totals
    trials = findings.trials
    failed = sum(each.failure is not None for each in trials)
    devices = dict.fromkeys(str(each.device) for each in findings.courses)
    tiles = [
        (f"{first / best:.2f} x" if best else "-", "as fast as with the first points"),
        (_microseconds(first - best), f"us of {_microseconds(first)} us saved in a run"),
        (f"{len(findings.courses):,}", "kernels"),
        (f"{len(trials):,}", "trials"),
        (f"{failed:,}", "of them failed"),
        (f"{findings.repeated:,}", "took the place of doubtful ones"),
    ]
    made = "".join(f'<div class="tile"><b>{value}</b>{text}</div>' for value, text in tiles)
    begun = sorted(each.begun for each in trials)
    when = f", {begun[0]:%Y-%m-%d %H:%M} to {begun[-1]:%Y-%m-%d %H:%M} UTC" if begun else ""
    chart = f'<div class="card">{progress_chart(findings.progress())}</div>' if best else ""
    counts = (
        "Kernels count as often as a run of the network has them."
        if findings.has_counts
        else "Each kernel counts once."
    )
    note = f"The time of a run by the fastest trial so far of each kernel. {counts}"
    return (
        f"<h1>{escape(title)}</h1>"
        f'<p class="note">{escape(", ".join(devices)) or "no device"}{when}</p>'
        f'<div class="tiles">{made}</div>{chart}<p class="note">{note}</p>'
    )


def _name(course: Course) -> str:
    return f"{escape(course.subject.family)} <small>{course.subject.task[:_DIGITS]}</small>"


def _plain_knobs(course: Course) -> str:
    knobs = {} if course.best is None else course.best.knobs
    return escape(" ".join(f"{name}={value}" for name, value in knobs.items())) or "-"


def _kernels(findings: Findings) -> str:
    longest = max((each.weight for each in findings.courses), default=0.0)
    rows = []
    for each in findings.courses:
        interval = each.interval
        told = " to ".join(map(_microseconds, interval)) if interval else ""
        share = each.weight / longest if longest else 0.0
        rows.append(
            (
                f"{_name(each)}<br><code>{_plain_knobs(each)}</code>",
                _bars(("", share)),
                f"{each.count}",
                f"{len(each.trials):,}",
                _microseconds(each.first_seconds),
                f'<span title="{told} us, 95 %">{_microseconds(each.best_seconds)}</span>',
                _times(each.speedup),
            )
        )
    heading = ("kernel, with its best knobs", "share of a run", "times", "trials", "first us")
    table = _table((*heading, "best us", "as fast"), rows, (2, 3, 4, 5, 6))
    return _section(
        "Kernels",
        "Those that take most of a run are first. The first point of a kernel is its family's "
        "default. The best one is the point with the least median of its trials, all of which had "
        "right outputs.",
        table,
    )


def _convergence(findings: Findings) -> str:
    cards = []
    searched = [each for each in findings.courses if len(each.convergence) > 1]
    for each in searched[:_MOST_CHARTS]:
        facts = f"{each.subject.task[:_DIGITS]} {escape(each.subject.facts)}"
        name = f"<span>{escape(each.subject.family)}</span>"
        cards.append(
            f'<div class="card"><h3>{name}{_times(each.speedup)}</h3>'
            f'<p class="note" title="{facts}">{facts}</p>{convergence_chart(each)}</div>'
        )
    rest = len(searched) - len(cards)
    more = f" {counted(rest, 'kernel')} with less time left out." if rest else ""
    return _section(
        "Convergence",
        "Dots are trials, the line is the fastest so far, relative to the first point. Crosses are "
        f"failed trials; those slower than twice the first point are at the top.{more}",
        f'<div class="grid-of-cards">{"".join(cards)}</div>'
        if cards
        else "<p>No kernel has several trials.</p>",
    )


def _knobs(findings: Findings) -> str:
    most = max((each.worth for each in findings.knobs), default=1.0)
    rows = []
    for each in findings.knobs:
        share = (each.worth - 1) / (most - 1) if most > 1 else 0.0
        rows.append(
            (
                f"<b>{escape(each.name)}</b><br><small>{escape(each.family)}</small>",
                _bars(("", share)),
                f"{each.worth - 1:.1%}",
                f"{each.kernels}",
                _values(each),
            )
        )
    body = _table(("knob", "worth", "", "kernels", "values, the best first"), rows, (2, 3))
    return _section(
        "What each knob is worth",
        "How much longer kernels take if this knob stays as in the first point and the others are "
        "tuned, among the points that were measured, in the geometric mean over kernels. Beside a "
        "value: how many times as long the fastest point with it takes as the fastest of all.",
        body if rows else "<p>No kernel was measured with several values of a knob.</p>",
    )


def _values(knob: KnobWorth) -> str:
    shown = knob.values[:_MOST_VALUES]
    chips = [
        f'<span class="chip{" first" if each is knob.values[0] else ""}" '
        f'title="{counted(each.kernels, "kernel")}">{escape(each.value)} '
        f"<small>{each.ratio:.2f}</small></span>"
        for each in shown
    ]
    if len(knob.values) > len(shown):
        chips.append(f'<span class="chip">{len(knob.values) - len(shown)} more</span>')
    return f'<div class="chips">{"".join(chips)}</div>'


def _storages(findings: Findings) -> str:
    rows = []
    for each in findings.storages:
        buffer, texture = each.buffer.best_seconds or 0.0, each.texture.best_seconds or 0.0
        longest = max(buffer, texture)
        rows.append(
            (
                _name(each.buffer),
                _bars(("", buffer / longest), (" texture", texture / longest)),
                _microseconds(buffer),
                _microseconds(texture),
                "texture" if texture < buffer else "buffer",
                f"{longest / min(buffer, texture):.2f} x",
            )
        )
    heading = ("operator", "buffer over texture", "buffer us", "texture us", "faster", "by")
    body = _table(heading, rows, (2, 3, 5))
    return _section(
        "Texture or buffer",
        "Operators whose kernels over both storages were measured, each with its best point, "
        "without the conversions that neighbors may need.",
        body if rows else "<p>No operator has trials over both storages.</p>",
    )


def _failures(findings: Findings) -> str:
    most = max((each.count for each in findings.failures), default=0)
    rows = []
    for each in findings.failures:
        told = "<br>".join(f"{escape(text)} <small>({n:,})</small>" for text, n in each.messages)
        bar = _bars((" failures", each.count / most))
        rows.append((escape(each.name), bar, f"{each.count:,}", told))
    body = _table(("class", "", "trials", "most frequent messages"), rows, (2,))
    return _section(
        "Failures",
        "Failed trials by class. They are not tried again.",
        body if rows else "<p>No trial failed.</p>",
    )


def _devices(findings: Findings) -> str:
    rows = {}
    for each in findings.trials:
        device, place = each.place.device, each.place
        versions = " ".join(f"{name} {value}" for name, value in sorted(place.versions.items()))
        row = (device.name, device.platform, device.driver, device.compiler, place.host, versions)
        rows[row, each.subject.target] = rows.get((row, each.subject.target), 0) + 1
    table = [
        (*map(escape, row), f"<code>{escape(target)}</code>", f"{count:,}")
        for (row, target), count in rows.items()
    ]
    heading = ("device", "platform", "driver", "compiler", "host", "versions", "target", "trials")
    return _section("Devices and versions", "Where trials ran.", _table(heading, table, (7,)))


__all__ = ["page_of"]
