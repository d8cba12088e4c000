"""Databases of PostgreSQL, by URL: what is special about servers."""

import subprocess
import threading

import pytest
from sample_trials import full_trial, python, random_trials, subject, trial

from texloom.errors import TVMError
from texloom.records import open_records
from texloom.records.address import address_of
from texloom.records.engine import engine_for, writing
from texloom.records.migrating import upgrade
from texloom.records.schema import REVISIONS, VERSION_TABLE

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: ./dev setup")


def connected(url):
    return psycopg.connect(url, autocommit=True)


def test_the_password_is_not_told(server):
    url = f"postgresql://postgres:secret@/missing?host={server}"
    with pytest.raises(TVMError, match="TL5018") as refused:
        open_records(url, creates=True)
    assert "secret" not in str(refused.value) and "missing" in str(refused.value)


def test_a_server_that_does_not_answer_is_told(tmp_path):
    with pytest.raises(TVMError, match=r"(?s)TL5018.*check its address"):
        open_records(f"postgresql://postgres@/records?host={tmp_path}", patience_seconds=0.1)


def test_tables_are_made_only_if_asked(postgres):
    with pytest.raises(TVMError, match="TL5018.*is empty"):
        open_records(postgres)
    added = full_trial()
    with open_records(postgres, creates=True) as records:
        records.add(added)
    with open_records(postgres) as records:
        assert list(records.trials()) == [added]


def test_a_newer_version_is_refused(postgres):
    open_records(postgres, creates=True).close()
    with connected(postgres) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = 'of tomorrow'")
    with pytest.raises(TVMError, match=r"TL5019.*newer version of Texloom.*'of tomorrow'"):
        open_records(postgres, creates=True)


def test_tables_of_others_are_left_alone(postgres):
    with connected(postgres) as connection:
        connection.execute("CREATE TABLE trials (name text)")
    with pytest.raises(TVMError, match="TL5019"):
        open_records(postgres, creates=True)
    with connected(postgres) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
    assert tables == [("trials",)]


def test_an_earlier_version_is_brought_up_to_date(postgres):
    engine = engine_for(address_of(postgres), 5.0)
    with writing(engine, "records") as connection:
        upgrade(connection, REVISIONS[0])
    engine.dispose()
    with open_records(postgres) as records:
        records.add(trial())
        assert records.best(subject()) is not None
    with connected(postgres) as connection:
        found = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall()
    assert found == [(REVISIONS[-1],)]


def test_a_locked_table_can_be_waited_for(postgres):
    with open_records(postgres, creates=True, patience_seconds=0.2) as records:
        records.add(trial())
        with psycopg.connect(postgres) as other:
            other.execute("LOCK TABLE trials IN EXCLUSIVE MODE")
            assert records.best(subject()) is not None  # readers do not wait
            with pytest.raises(TVMError, match=r"(?s)TL5018.*lock timeout.*until the other"):
                records.add(trial())
        records.add(trial())


_ADDS = """
import sys
from sample_trials import random_trials
from texloom.records import open_records
with open_records(sys.argv[1], creates=True) as records:
    for each in random_trials(60, seed=int(sys.argv[2])):
        records.add(each)
"""


def test_processes_make_and_share_a_database(postgres):
    """They add the same tasks, devices and hosts at the same time."""
    runs = [python("-c", _ADDS, postgres, seed) for seed in (1, 2)]
    assert [each.wait() for each in runs] == [0, 0]
    with open_records(postgres) as records:
        trials = list(records.trials())
        assert len(trials) == 120 and len(records.subjects(trial().subject.kind)) == 3
        for best in records.bests():
            own = [t for t in trials if (t.subject, t.place) == (best.subject, best.place)]
            assert best.seconds == min(each.seconds for each in own if each.times)


def test_threads_share_a_database(postgres):
    with open_records(postgres, creates=True) as records:
        rows = [random_trials(30, seed) for seed in range(3)]
        threads = [threading.Thread(target=records.add_all, args=(own,)) for own in rows]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(list(records.trials())) == 90


def test_a_file_and_a_server_have_equal_exports(postgres, tmp_path):
    trials = random_trials(40)
    for place, name in ((postgres, "server"), (tmp_path / "records.sqlite", "file")):
        with open_records(place, creates=True) as records:
            records.add_all(trials)
        run = python(
            "-m",
            "texloom",
            "db",
            "export",
            "--db",
            place,
            tmp_path / f"{name}.jsonl",
            stdout=subprocess.DEVNULL,
        )
        assert run.wait() == 0
    assert (tmp_path / "server.jsonl").read_bytes() == (tmp_path / "file.jsonl").read_bytes()
