"""Databases that cannot be used are refused in words, and left as they are."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest
from sample_trials import python, random_trials, subject, trial

from texloom.errors import TVMError
from texloom.records import address, open_records
from texloom.records.engine import engine_for, writing
from texloom.records.migrating import upgrade
from texloom.records.schema import REVISIONS, VERSION_TABLE


@pytest.fixture
def file(tmp_path):
    """A database with some trials."""
    path = tmp_path / "records.sqlite"
    with open_records(path, creates=True) as records:
        records.add_all(random_trials(200))
    return path


def _text(path):
    path.write_text("no database" * 1000)


def _foreign(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE trials (id INTEGER)")


def _newer(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = 'of tomorrow'")


def _cut(path):
    path.write_bytes(path.read_bytes()[:20000])


def _scrambled(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(reversed(content[4096:])))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_text, "is damaged"),
        (_foreign, "it has other contents"),
        (_newer, "newer version of Texloom: its records are of the version 'of tomorrow'"),
        (_cut, "is damaged"),
        (_scrambled, "is damaged"),
    ],
)
def test_other_files_are_refused_in_words(file, spoil, message):
    spoil(file)
    before = file.read_bytes()
    with pytest.raises(TVMError, match=rf"(?s)TL5019.*{message}"):
        list(open_records(file, creates=True).trials())
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("column", "value"), [("times_json", "[1"), ("failure", "'none'"), ("clock", "moon")]
)
def test_a_damaged_trial_is_named(file, column, value):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE trials SET {column} = ? WHERE number = 7", (value,))
    with open_records(file) as records, pytest.raises(TVMError, match="TL5019.*a damaged trial"):
        list(records.trials())


def test_a_file_is_made_only_if_asked(tmp_path):
    with pytest.raises(TVMError, match="TL5018.*there is no database of records"):
        open_records(tmp_path / "folder" / "records.sqlite")
    assert not (tmp_path / "folder").exists()
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    with pytest.raises(TVMError, match="TL5018.*is empty"):
        open_records(empty)
    with open_records(empty, creates=True) as records:
        records.add(trial())
        assert records.best(subject()) is not None
    (tmp_path / "a file").touch()
    with pytest.raises(TVMError, match="TL5018"):
        open_records(tmp_path / "a file" / "records.sqlite", creates=True)
    with pytest.raises(TVMError, match="TL5018"):
        open_records(tmp_path, creates=True)


def test_a_locked_database_can_be_read_but_not_written(file):
    with (
        open_records(file, patience_seconds=0.1) as records,
        closing(sqlite3.connect(file, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        assert records.best(subject()) is not None
        with pytest.raises(TVMError, match=r"(?s)TL5018.*locked.*until the other process"):
            records.add(trial())
        other.execute("ROLLBACK")
        records.add(trial())


def _made_by_the_first_version(path):
    """Make a database as the first migration alone makes it."""
    with writing(engine_for(address.address_of(path), 1.0), str(path)) as connection:
        upgrade(connection, REVISIONS[0])


def test_an_earlier_version_is_brought_up_to_date(tmp_path, file):
    old = tmp_path / "old.sqlite"
    _made_by_the_first_version(old)
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("ATTACH DATABASE ? AS new", (str(file),))
        for name in ("tasks", "subjects", "devices", "hosts", "trials", "bests"):
            connection.execute(f"INSERT INTO {name} SELECT * FROM new.{name}")
    with open_records(old) as records, open_records(file) as new:
        assert list(records.trials()) == list(new.trials())
    with closing(sqlite3.connect(old)) as connection:
        version = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall()
        indices = {row[1] for row in connection.execute("PRAGMA index_list(trials)")}
    assert version == [(REVISIONS[-1],)] and "trials_by_beginning" in indices


_IN_OWN_MOUNTS = ("unshare", "--mount")


def own_mounts():
    """Skip the test where a process may not mount disks of its own."""
    probe = [*_IN_OWN_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("mounting a disk of its own needs Linux, and the rights of root")


_ON_A_SMALL_DISK = """
import subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", sys.argv[1]], check=True)
from sample_trials import trial
from texloom.errors import TVMError
from texloom.records import open_records
file = sys.argv[1] + "/records.sqlite"
added = []
with open_records(file, creates=True) as records:
    try:
        while True:
            each = trial(message="x" * 3000)
            records.add(each)
            added.append(each.id)
    except TVMError as error:
        print(error)
with open_records(file) as records:
    print(len(added) > 10, {each.id for each in records.trials()} == set(added))
"""


def test_a_full_disk_loses_no_finished_trial(tmp_path):
    own_mounts()
    run = python("-c", _ON_A_SMALL_DISK, tmp_path, before=_IN_OWN_MOUNTS, stdout=subprocess.PIPE)
    told = run.communicate()[0]
    assert "TL5018" in told and "make room on the disk" in told
    assert told.endswith("True True\n")


_ON_A_READ_ONLY_DISK = """
import subprocess, sys
subprocess.run(["mount", "--bind", sys.argv[1], sys.argv[1]], check=True)
subprocess.run(["mount", "-o", "remount,ro,bind", sys.argv[1]], check=True)
from sample_trials import subject, trial
from texloom.errors import TVMError
from texloom.records import open_records
with open_records(sys.argv[1] + "/records.sqlite") as records:
    print(len(list(records.trials())), records.best(subject()) is not None)
    try:
        records.add(trial())
    except TVMError as error:
        print(error)
try:
    open_records(sys.argv[1] + "/other.sqlite", creates=True)
except TVMError as error:
    print(error)
"""


def test_a_read_only_disk_can_be_read(file):
    own_mounts()
    run = python(
        "-c", _ON_A_READ_ONLY_DISK, file.parent, before=_IN_OWN_MOUNTS, stdout=subprocess.PIPE
    )
    told = run.communicate()[0]
    assert told.startswith("200 True\n")
    assert told.count("TL5018") == 2 and "get the rights to write there" in told


@pytest.mark.parametrize(
    "place", ["mysql://host/database", "postgresql://", "sqlite://", "://", "http://[::1"]
)
def test_wrong_addresses_are_refused(place):
    with pytest.raises(TVMError, match="TL7001.*neither a file nor a URL"):
        open_records(place, creates=True)


@pytest.mark.parametrize(
    ("missing", "place", "message"),
    [
        ("alembic", "records.sqlite", r"sqlalchemy and alembic.*texloom\[tune\]"),
        ("psycopg", "postgresql://host/database", r"psycopg.*texloom\[postgres\]"),
    ],
)
def test_missing_packages_are_named(tmp_path, monkeypatch, missing, place, message):
    find = address.find_spec
    monkeypatch.setattr(address, "find_spec", lambda name: None if name == missing else find(name))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TVMError, match=rf"(?s)TL5016.*{message}"):
        open_records(place, creates=True)
    assert os.listdir(tmp_path) == []
