"""Offsets of buffers in one arena, from CSV files."""

import json
from pathlib import Path

import pytest

from texloom.plan.__main__ import main
from texloom.plan.buffers import check_offsets, plan_csv, read_buffers, run_csv

INSTANCES = Path(__file__).parents[3] / "benchmarks" / "planning" / "minimalloc"
HEADER = "id,lower,upper,size\n"


@pytest.fixture
def write(tmp_path):
    def write_text(text):
        path = tmp_path / "net.csv"
        path.write_text(text)
        return path

    return write_text


def test_upper_is_exclusive(write):
    """b starts at the time at which a ends, so they share bytes; c is live with both."""
    path = write(HEADER + "a,0,1,4\nb,1,2,6\nc,0,2,1\n")
    plan = plan_csv(path)
    assert plan["bytes"] == plan["lower_bound_bytes"] == 7
    assert plan["proof"] == {"kind": "live", "time": 1}
    assert check_offsets(read_buffers(path), plan) == []


def test_an_exhaustive_search_proves_what_live_bytes_do_not(write):
    """Two bytes are live, but offsets that are multiples of 2 and of 3 leave a gap."""
    path = write("id,lower,upper,size,alignment\na,0,1,1,2\nb,0,1,1,3\n")
    plan = plan_csv(path)
    assert [plan["bytes"], plan["lower_bound_bytes"]] == [3, 3]
    assert plan["proof"]["kind"] == "search"
    assert check_offsets(read_buffers(path), plan) == []


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the column 'id' is missing"),
        ("id,lower,upper\n", 1, "the column 'size' is missing"),
        (HEADER.strip() + ",gaps\n", 1, "unknown column 'gaps'"),
        ("id,lower,upper,size,size\n", 1, "two columns are named 'size'"),
        (HEADER + "a,0,1\n", 2, "3 cells"),
        (HEADER + "a,0,1,nan\n", 2, "size is 'nan'"),
        (HEADER + "a,0,1,1.5\n", 2, "size is '1.5'"),
        (HEADER + "a,0,1,9223372036854775808\n", 2, "size is 9223372036854775808"),
        (HEADER + "a,0,1,-1\n", 2, "buffer 'a': its size is negative"),
        (HEADER + "a,-1,1,1\n", 2, "buffer 'a': its lifetime begins at -1"),
        (HEADER + "a,2,1,1\n", 2, "buffer 'a' is never live: upper 1 is not above lower 2"),
        (HEADER + "a,1,1,1\n", 2, "buffer 'a' is never live"),
        (HEADER + "a,0,1,1\n\na,1,2,1\n", 4, "id 'a' is used in line 2 already"),
        (HEADER + "a,0,1,9223372036854775807\n", 2, "more than 2^61 bytes"),
    ],
)
def test_wrong_files_are_refused_at_their_line(write, capsys, text, line, message):
    path = write(text)
    assert run_csv(path, None, None, None, True) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"texloom plan: {path}:{line}: ")
    assert message in error
    assert error.count("\nhelp: ") == 1


def test_a_missing_file_is_refused(tmp_path, capsys):
    assert run_csv(tmp_path / "no.csv", None, None, None, False) == 1
    assert "no.csv: No such file" in capsys.readouterr().err


def test_a_capacity_that_is_too_small(write, capsys):
    """The plan is still printed; the message says which capacity it needs."""
    assert run_csv(write(HEADER + "a,0,1,9\n"), 8, None, None, True) == 1
    out, error = capsys.readouterr()
    assert json.loads(out)["bytes"] == 9
    assert error == "texloom plan: no plan fits 8 bytes: 9 are needed\n"


@pytest.mark.parametrize("capacity", ["-1", str(2**61), str(2**70)])
def test_a_capacity_that_is_no_size(write, capsys, capacity):
    with pytest.raises(SystemExit):
        main([str(write(HEADER + "a,0,1,9\n")), "--capacity", capacity])
    assert "--capacity must be a number of bytes" in capsys.readouterr().err


def test_the_summary(write, capsys):
    assert run_csv(write(HEADER + "a,0,1,9\n"), 10, None, None, False) == 0
    assert capsys.readouterr().out.splitlines() == [
        "buffers      1",
        "arena        9 bytes, the fewest possible",
        "lower bound  9 bytes, live at once",
        "capacity     10 bytes",
    ]


def test_a_time_limit_makes_plans_depend_on_time(write):
    path = write(HEADER + "a,0,1,9\n")
    assert plan_csv(path)["deterministic"] is True
    assert plan_csv(path, time_limit=1.0)["deterministic"] is False


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"placements": [{"id": "a", "offset": 0}]}, "not one for each buffer"),
        ({"bytes": 9}, "needs 8 bytes, not 9"),
        ({"lower_bound_bytes": 9}, "above the plan"),
        ({"lower_bound_bytes": 7}, "8 bytes are live at 0, not 7"),
    ],
)
def test_the_check_rejects_wrong_plans(write, change, problem):
    path = write(HEADER + "a,0,1,4\nb,0,1,4\n")
    plan = plan_csv(path) | change
    assert any(problem in text for text in check_offsets(read_buffers(path), plan))


def test_the_check_rejects_overlaps_and_offsets_that_are_not_aligned(write):
    path = write("id,lower,upper,size,alignment\na,0,1,4,4\nb,0,1,4,4\n")
    plan = plan_csv(path)
    plan["placements"] = [{"id": "a", "offset": 0}, {"id": "b", "offset": 2}]
    problems = check_offsets(read_buffers(path), plan)
    assert "buffers 'a' and 'b' overlap" in problems
    assert "buffer 'b': offset 2 with alignment 4" in problems


@pytest.mark.parametrize("name", ["F", "G", "K"])
def test_minimalloc(name):
    """Hard instances that the search places quickly; the C++ tests place all instances."""
    path = INSTANCES / f"{name}.1048576.csv"
    plan = plan_csv(path, capacity=1048576)
    assert plan["bytes"] == plan["lower_bound_bytes"] == 1048576
    assert check_offsets(read_buffers(path), plan) == []
