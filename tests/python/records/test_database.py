"""Databases of records: what is added is found again, the best first, from several processes."""

import random
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import datetime, timezone
from uuid import UUID

import pytest
from sample_trials import (
    BEGUN,
    DEVICE,
    OTHER,
    full_trial,
    python,
    random_trials,
    subject,
    trial,
)
from sqlalchemy import event

from texloom.records import Failure, Kind, MeasuredDevice, Trial, Verification, open_records
from texloom.records.points import best_point, standing
from texloom.records.schema import REVISIONS, Base
from texloom.records.wanted import Wanted


def fastest(trials, of, device):
    """The fastest trial of a subject on a device, by looking at all of them."""
    own = [t for t in trials if t.subject == of and t.place.device == device and t.times]
    return min((each.seconds for each in own), default=None)


def test_a_trial_is_found_as_it_was_added(records):
    added = full_trial()
    assert all(value for value in vars(added).values() if value is not added.failure)
    records.add(added)
    (found,) = records.trials()
    # The values of knobs are those of JSON: tuples become lists.
    assert found == added


def test_a_failed_trial_keeps_why(records):
    added = trial(
        failure=Failure.WRONG_RESULT,
        verification=Verification.FAILED,
        difference=0.5,
        message="an output differs",
    )
    records.add(added)
    assert list(records.trials()) == [added]
    assert records.best(subject()) is None


@pytest.mark.parametrize("seed", range(4))
def test_the_best_is_the_fastest_of_all(records, seed):
    trials = random_trials(120, seed)
    rng = random.Random(seed)
    rest = list(trials)
    while rest:  # one by one, and several at once
        count = rng.choice((1, 1, 7))
        assert records.add_all(rest[:count]) == len(rest[:count])
        rest = rest[count:]
    for number in range(3):
        of = subject(number)
        for device in (DEVICE, OTHER):
            assert records.best(of, device).seconds == fastest(trials, of, device)
            assert records.best(of, device.name).place.device == device
        both = [fastest(trials, of, device) for device in (DEVICE, OTHER)]
        assert records.best(of).seconds == min(both)
    assert len(list(records.bests())) == 6
    assert {each.place.device for each in records.bests(Wanted(device="another"))} == {OTHER}


def test_what_trials_share_is_stored_once(file_records):
    file_records.add_all(random_trials(50))
    with closing(sqlite3.connect(file_records.name)) as connection:
        counts = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in ("trials", "tasks", "subjects", "devices", "hosts")
        }
    assert counts == {"trials": 50, "tasks": 3, "subjects": 3, "devices": 2, "hosts": 1}


def test_a_trial_is_added_once(records):
    trials = random_trials(9)
    assert records.add_all(trials[:5]) == 5
    assert records.add_all([*trials, trials[0]]) == 4
    assert len(list(records.trials())) == 9


def test_the_identity_of_a_subject_is_of_its_task_its_target_and_its_space():
    one = subject()
    same = type(one)(one.kind, one.task, "a longer text", one.target, one.family, one.facts, 1)
    assert one.identity == same.identity
    others = {subject(1).identity, subject(family="other").identity, subject(version=2).identity}
    assert len({one.identity, *others}) == 4


def test_trials_without_sense_are_refused():
    for wrong in (
        {"times": (), "failure": None},
        {"times": (1.0,), "failure": Failure.LAUNCH},
        {"times": (0.0,)},
        {"times": (float("nan"),)},
        {"times": (1.0,), "runs": 0},
        {"times": (1.0,), "verification": Verification.FAILED},
        {"times": (1.0,), "difference": float("inf")},
        {"times": (1.0,), "begun": datetime(2026, 1, 1)},
    ):
        with pytest.raises(ValueError):
            trial(**wrong)


def test_nothing_depends_on_the_clock_of_the_host(records):
    """Clocks of hosts may jump back by decades, or stand still."""
    years = (2099, 1970, 2026, 1970)
    days = [datetime(year, 1, 1, tzinfo=timezone.utc) for year in years]
    trials = [trial(seconds=1e-3 * n, begun=day) for n, day in enumerate(days, 1)]
    for each in trials:
        records.add(each)
    assert records.best(subject()).id == trials[0].id
    assert [each.begun.year for each in records.trials()] == [1970, 1970, 2026, 2099]


def test_queries_of_few_trials_do_not_read_all(file_records):
    """The best, the bests of some tasks, and the costs of graphs among a million other trials."""
    file_records.add_all(random_trials(50))
    plans = []
    with closing(sqlite3.connect(file_records.name)) as connection:

        def explain(_, __, statement, parameters, *___):
            if statement.startswith("SELECT"):
                rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(row[-1] for row in rows)

        event.listen(file_records._engine, "before_cursor_execute", explain)
        assert file_records.best(subject(), DEVICE) is not None
        assert file_records.best(subject()) is not None
        assert not any(step.startswith("SCAN") for step in plans)
        assert list(file_records.bests(Wanted(task=subject(1).task, device="a device")))
        assert list(file_records.bests())
        assert file_records.averages(Kind.KERNEL, DEVICE)
        assert file_records.devices(Kind.KERNEL)
    assert any(step.startswith("SEARCH trials") for step in plans)
    assert not any(step.startswith("SCAN trials") for step in plans)


def test_old_trials_are_removed_but_no_best_one(records):
    trials = random_trials(60)
    records.add_all(trials)
    bests = {each.id for each in records.bests()}
    assert records.prune(failures=True) == sum(t.failure is not None for t in trials)
    records.prune(keep=2)
    left = list(records.trials())
    assert bests == {each.id for each in records.bests()} <= {each.id for each in left}
    assert len(left) == 12  # three subjects on two devices
    for of in (subject(n) for n in range(3)):
        own = sorted(t.seconds for t in left if t.subject == of and t.place.device == DEVICE)
        every = sorted(
            t.seconds for t in trials if t.times and (t.subject, t.place.device) == (of, DEVICE)
        )
        assert own == every[:2]
    records.shrink()
    assert len(list(records.trials())) == 12


def test_a_trial_that_takes_the_place_of_another_stays_beside_it(records):
    """Without its repetition, a doubtful time would count again."""
    doubtful, other = (trial(seconds=s, knobs={"rows": r}) for s, r in ((1e-3, 1), (2e-3, 2)))
    slow = trial(seconds=4e-3, knobs={"rows": 1}, parent=doubtful.id)
    failed = trial(failure=Failure.LAUNCH, knobs={"rows": 2}, parent=other.id)
    child = trial(seconds=5e-3, knobs={"rows": 3}, parent=other.id)  # of other knobs
    records.add_all([doubtful, other, slow, failed, child])
    assert records.prune(keep=2, failures=True) == 1
    assert {each.id for each in records.trials()} == {t.id for t in (doubtful, other, slow, failed)}
    assert {t.id for t in standing(records.trials())} == {slow.id, failed.id}


@pytest.mark.parametrize("seed", range(6))
def test_the_best_point_is_that_of_all_trials(records, seed):
    """Whether it is among the points of the fastest trials or not."""
    rng = random.Random(seed)
    made = []
    for _ in range(200):
        facts = {"knobs": {"rows": rng.randrange(40)}, "verification": Verification.PASSED}
        if rng.random() < (0.02 if seed < 4 else 0.5):
            facts["verification"] = Verification.NONE
        if made and rng.random() < 0.2:
            facts |= {"knobs": (parent := rng.choice(made)).knobs, "parent": parent.id}
        if rng.random() < 0.05:
            facts |= {"failure": Failure.LAUNCH, "verification": Verification.NONE}
        made.append(trial(seconds=rng.uniform(1e-3, 2e-3), **facts))
    records.add_all(made)
    found, wanted = records.best_point(subject(), DEVICE), best_point(records.trials())
    assert (found is None) == (wanted is None)
    assert found is None or (found.knobs, found.seconds) == (wanted.knobs, wanted.seconds)
    assert records.best_point(subject(1), DEVICE) is None


def test_the_bounds_of_a_median():
    """By binomial coefficients: 2 of 2^6 orders of six times leave the median outside."""
    assert trial(failure=Failure.LAUNCH).interval is None
    assert trial(times=(3.0,)).interval == (3.0, 3.0)
    assert trial(times=(5.0, 1.0, 3.0)).interval == (1.0, 5.0)  # with less confidence
    assert trial(times=tuple(map(float, range(1, 8)))).interval == (1.0, 7.0)
    assert trial(times=tuple(map(float, range(1, 10)))).interval == (2.0, 8.0)


def test_subjects_are_removed_with_all_trials(records):
    records.add_all(
        [trial(subject(1)), trial(subject(2)), trial(subject(2), failure=Failure.LAUNCH)]
    )
    assert records.remove([subject(2), subject(3)]) == 2
    assert records.subjects(Kind.KERNEL) == [subject(1)]
    records.add(trial(subject(2)))
    assert records.best(subject(2)) is not None


def test_trials_are_found_by_the_beginning_of_their_names(records):
    trials = random_trials(20)
    records.add_all(trials)
    (found,) = records.named(str(trials[3].id)[:13])
    assert found.id == trials[3].id
    assert records.named("no digits") == []
    records.add_all(trial(id=UUID(int=number)) for number in (1, 2, 3))
    assert len(records.named("0000")) == 2


def test_the_migrations_make_the_tables_of_the_models(records):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from texloom.records.migrating import FOLDER
    from texloom.records.schema import VERSION_TABLE

    with records._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, Base.metadata) == []
    scripts = ScriptDirectory(str(FOLDER)).walk_revisions("base", "heads")
    assert tuple(each.revision for each in scripts)[::-1] == REVISIONS


_ADDS = """
import sys
from sample_trials import trial
from texloom.records import open_records
with open_records(sys.argv[1], creates=True) as records:
    for _ in range(int(sys.argv[2])):
        added = trial()
        records.add(added)
        print(added.id, flush=True)
"""


def test_processes_make_and_share_a_file(tmp_path):
    file = tmp_path / "records.sqlite"
    runs = [python("-c", _ADDS, file, 40) for _ in range(2)]
    assert [each.wait() for each in runs] == [0, 0]
    with open_records(file) as records:
        assert len(list(records.trials())) == 80
        assert records.best(subject()) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_killed_process_loses_no_finished_trial(tmp_path, seed):
    file = tmp_path / "records.sqlite"
    told = tmp_path / "told"
    with told.open("w") as output:
        process = python("-c", _ADDS, file, 100000, stdout=output)
        while not told.read_text():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(random.Random(seed).uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
    finished = {UUID(line) for line in told.read_text().split("\n")[:-1]}
    with open_records(file) as records:
        kept = {each.id for each in records.trials()}
        # The last trial may have been added before its name was told.
        assert finished <= kept and len(kept - finished) <= 1
        assert records.best(subject()).id in kept
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_ctrl_c_while_a_connection_is_closed_is_raised_alone(file_records, monkeypatch, caplog):
    """The pool logged a traceback of it, which users saw beside the word interrupted."""
    added = trial()

    def interrupted(connection):
        connection.close()
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(file_records._engine.dialect, "do_close", interrupted)
        error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            file_records.add(added)
        assert not caplog.records
        error = OSError("another error is logged")
        assert list(file_records.trials()) == [added]
        assert len(caplog.records) == 1


def test_texloom_needs_no_package_of_databases():
    """Without SQLAlchemy everything works that asks for no records."""
    run = python(
        "-c",
        "import sys, texloom, texloom.records; print('sqlalchemy' in sys.modules)",
        stdout=subprocess.PIPE,
    )
    assert run.communicate()[0] == "False\n"


def test_the_trial_of_another_driver_is_of_another_device(records):
    newer = MeasuredDevice(DEVICE.name, DEVICE.platform, "2.0", DEVICE.compiler)
    records.add_all([trial(seconds=1e-3), trial(seconds=2e-3, device=newer)])
    assert records.best(subject(), newer).seconds == 2e-3
    assert records.best(subject(), DEVICE.name).seconds == 1e-3
    assert records.devices(Kind.KERNEL) == [DEVICE, newer]
    assert isinstance(records.best(subject(), newer), Trial) and BEGUN.tzinfo is not None
