"""Databases for the tests of records: files, and a server of PostgreSQL that the tests start."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from texloom.records import open_records

_USER = "postgres"


def _programs():
    """Return the folder of PostgreSQL's programs; None if it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: path.parts[4])
    where = shutil.which("initdb")
    return found[-1].parent if found else None if where is None else Path(where).parent


def _as_user():
    """Return how a command is run by a user whom PostgreSQL takes: it refuses root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is missing (util-linux)")
    try:
        own = pwd.getpwnam(_USER)
    except KeyError:
        pytest.skip(f"PostgreSQL does not run as root, and there is no user {_USER}")
    return ["setpriv", f"--reuid={own.pw_uid}", f"--regid={own.pw_gid}", "--clear-groups"]


@pytest.fixture(scope="session")
def server():
    """Start a server in a folder of its own, which only a socket in this folder reaches."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: ./dev setup")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: ./dev setup, or apt-get install postgresql")
    as_user = _as_user()
    with tempfile.TemporaryDirectory(prefix="texloom-pg-") as at:
        if as_user:
            shutil.chown(at, _USER)
        data, control = f"{at}/data", [*as_user, str(programs / "pg_ctl")]

        def run(*command):
            subprocess.run(command, cwd="/", check=True, capture_output=True, timeout=120)

        run(
            *as_user, str(programs / "initdb"), "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8"
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{at}' -c fsync=off"
        run(*control, "-D", data, "-w", "-l", f"{at}/log", "-o", options, "start")
        try:
            yield at
        finally:
            run(*control, "-D", data, "-m", "immediate", "stop")


@pytest.fixture
def postgres(server, request):
    """Return the URL of an empty database."""
    import psycopg

    name = f"d{abs(hash(request.node.nodeid)):x}"
    with psycopg.connect(f"host={server} user={_USER} dbname=postgres", autocommit=True) as own:
        own.execute(f"DROP DATABASE IF EXISTS {name}")
        own.execute(f"CREATE DATABASE {name}")
    return f"postgresql://{_USER}@/{name}?host={server}"


@pytest.fixture
def file_records(tmp_path):
    """Return an empty database in a file."""
    with open_records(tmp_path / "folder" / "records.sqlite", creates=True) as opened:
        yield opened


@pytest.fixture(params=["file", "postgres"])
def records(request, tmp_path):
    """Return an empty database of each kind."""
    is_file = request.param == "file"
    place = tmp_path / "records.sqlite" if is_file else request.getfixturevalue("postgres")
    with open_records(place, creates=True) as opened:
        yield opened
