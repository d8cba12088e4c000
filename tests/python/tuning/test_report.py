"""Reports: what trials say together, and pages that a browser shows without help from elsewhere."""

import re
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from command_model import fails, succeeds
from sample_trials import BEGUN, DEVICE, OTHER, subject, trial

from texloom.ops.schedules.families import FAMILIES, KernelKind
from texloom.records import Failure, Verification, open_records
from texloom.tuning.report import Findings, page_of

TEXELS = FAMILIES[KernelKind.TEXELS][0].name


def made(number, knobs, seconds, minute=0, of=None, **others):
    """A verified trial, or with a failure in place of seconds a failed one."""
    facts = {"verification": Verification.PASSED, "times": (seconds,)}
    if isinstance(seconds, Failure):
        facts = {"failure": seconds, "message": "a <b>reason</b>"}
    return trial(
        subject(number) if of is None else of,
        knobs=knobs,
        begun=BEGUN + timedelta(minutes=minute),
        **{**facts, **others},
    )


def sample():
    """Two kernels of a family with knobs, of which `rows` matters, and an operator in textures."""
    rows = [
        made(0, {"rows": 4, "lanes": 8}, 4e-3, 0),
        made(0, {"rows": 8, "lanes": 8}, 2e-3, 1),
        made(0, {"rows": 8, "lanes": 16}, 2e-3, 2),
        made(0, {"rows": 4, "lanes": 16}, Failure.RUN_TIMEOUT, 3),
        made(1, {"rows": 4, "lanes": 8}, 1e-3, 4),
        made(1, {"rows": 8, "lanes": 8}, 1e-3, 5),
        made(0, {"rows": 16, "lanes": 8}, Failure.WRONG_RESULT, 6),
    ]
    doubtful = made(1, {"rows": 16, "lanes": 8}, 1e-4, 7)
    again = made(1, {"rows": 16, "lanes": 8}, 2e-3, 8, parent=doubtful.id)
    texels = replace(subject(0), family=TEXELS, facts="texels")
    return [*rows, doubtful, again, made(0, {"tile": [2, 2]}, 1.6e-3, 9, of=texels)]


def test_findings_of_trials():
    found = Findings(sample(), {subject(0).identity: 3, subject(1).identity: 2})
    assert [each.count for each in found.courses] == [3, 2, 1]
    assert found.totals == (
        pytest.approx(12e-3 + 2e-3 + 1.6e-3),
        pytest.approx(6e-3 + 2e-3 + 1.6e-3),
    )
    assert found.repeated == 1
    first = found.courses[0]
    assert first.speedup == 2 and first.best.knobs == {"rows": 8, "lanes": 8}
    assert [least for _, least in first.convergence] == [4e-3, 2e-3, 2e-3, 2e-3, 2e-3]
    number, seconds = found.progress()[-1]
    assert number == 10 and seconds == pytest.approx(6e-3 + 2 * 1e-4 + 1.6e-3)
    rows, lanes = found.knobs
    # `rows` stays 4: the first kernel takes twice as long, the second one as long as before.
    assert (rows.name, rows.kernels) == ("rows", 2) and rows.worth == pytest.approx(2**0.5)
    assert [(each.value, each.kernels) for each in rows.values] == [("8", 2), ("4", 2), ("16", 1)]
    assert (lanes.name, lanes.kernels, lanes.worth) == ("lanes", 1, 1.0)
    (pair,) = found.storages
    assert (pair.buffer.best_seconds, pair.texture.best_seconds) == (2e-3, 1.6e-3)
    assert [(each.name, each.count) for each in found.failures] == [
        ("run timeout", 1),
        ("wrong result", 1),
    ]


def test_kernels_of_other_devices_are_others():
    found = Findings([made(0, {"rows": 4}, 1e-3), made(0, {"rows": 4}, 2e-3, device=OTHER)])
    assert [each.device for each in found.courses] == [OTHER, DEVICE] and not found.knobs


class Resources(HTMLParser):
    """Collects whatever a page asks for."""

    def __init__(self):
        super().__init__()
        self.tags, self.asked = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        names = ("src", "href", "xlink:href", "action", "data", "srcset", "poster")
        self.asked += [value for name, value in attrs if name in names]


def shown_numbers():
    return ["4,000", "2,000", "1,000", "1,600", "2.00 x", "run timeout", "wrong result", "texture"]


def test_a_page_needs_nothing_from_elsewhere():
    page = page_of(Findings(sample()), "Kernels of <a model>")
    resources = Resources()
    resources.feed(page)
    assert not resources.asked and not resources.tags & {
        "link",
        "script",
        "img",
        "iframe",
        "object",
    }
    assert "url(" not in page and "@import" not in page and "http" not in page
    assert "<a model>" not in page and "<b>reason" not in page
    assert all(each in page for each in shown_numbers())
    assert page == page_of(Findings(sample()), "Kernels of <a model>")  # with other names of trials


@pytest.fixture
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("chromium is not installed: ./dev setup, or apt-get install chromium")
    return found


# The hosts that the browser asks for its own purposes, whatever the page.
OF_BROWSER = ("google.com", "googleapis.com", "gvt1.com")


def shown_by(browser, page, *options):
    """Return what a headless browser prints about a page, and the hosts that the page asks."""
    log = page.with_suffix(".net.json")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += [f"--log-net-log={log}", f"--user-data-dir={page.parent / 'profile'}"]
    command += ["--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"]
    made = subprocess.run(
        [*command, *options, f"file://{page}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    hosts = set(re.findall(r'"url":"\w+://([^/":]+)', log.read_text()))
    return made.stdout, {each for each in hosts if not each.endswith(OF_BROWSER)}


def test_a_browser_shows_a_report(browser, tmp_path, capsys):
    database = tmp_path / "r.sqlite"
    with open_records(database, creates=True) as records:
        records.add_all(sample())
    report = ("db", "report", "--db", database, tmp_path / "r.html")
    assert "3 kernels, 10 trials" in succeeds(capsys, *report)
    page, picture = tmp_path / "r.html", tmp_path / "r.png"
    content, asked = shown_by(browser, page, "--dump-dom")
    assert all(each in content for each in shown_numbers())
    assert content.count("<svg") == 3 and not asked
    other = tmp_path / "other.html"
    other.write_text('<img src="http://127.0.0.1:9/x.png">')
    assert shown_by(browser, other, "--dump-dom")[1] == {"127.0.0.1"}  # would be noticed
    shown_by(browser, page, "--window-size=1100,2000", f"--screenshot={picture}")
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert picture.stat().st_size > 20_000  # that of an empty page is smaller
    assert "no such trials" in fails(capsys, *report, "--family", "nothing")
    assert "nowhere" in fails(capsys, *report[:-1], tmp_path / "nowhere" / "r.html")
