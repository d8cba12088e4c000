"""Logs of AutoTVM: written and read back, cut off, of other versions, and of unknown tasks."""

import copy
import io
import json
import warnings

import pytest
from autotvm_templates import matmul, sample_records, sample_task

import texloom as tvm
from texloom import autotvm
from texloom.autotvm import MeasureErrorNo, MeasureInput, MeasureResult
from texloom.autotvm.database import DummyDatabase
from texloom.autotvm.record import (
    ApplyHistoryBest,
    decode,
    encode,
    load_from_buffer,
    load_from_file,
    measure_str_key,
    pick_best,
)
from texloom.errors import TexloomWarning, TVMError
from texloom.records.autotvm import read_log

OF_TVM = (  # by TVM 0.9, for a target with options that Texloom does not have
    '{"input": ["llvm -keys=cpu -link-params=0", "tests/matmul", [128, 128, 128, "float32"], {}], '
    '"config": {"index": 27, "code_hash": null, "entity": [["tile_y", "sp", [-1, 8]], '
    '["tile_x", "sp", [-1, 8]]]}, "result": [[0.001, 0.002], 0, 0.5, 1655000000.0], '
    '"version": 0.2, "tvm_version": "0.9.0"}'
)


def test_a_line_is_read_back():
    task = sample_task()
    inp = MeasureInput(task.target, task, task.config_space.get(9))
    result = MeasureResult((2.0, 2.23, 0.23), MeasureErrorNo.NO_ERROR, 2.3, 1655000000.25)
    line = encode(inp, result)
    other, read = decode(line)
    assert measure_str_key(inp) == measure_str_key(other)
    assert read == result and encode(other, read) == line
    assert measure_str_key(inp, False) == measure_str_key(
        MeasureInput(task.target, task, task.config_space.get(8)), False
    )
    failed = MeasureResult((ValueError("x"),), MeasureErrorNo.INSTANTIATION_ERROR, 0.1, 5.0)
    assert json.loads(encode(inp, failed))["result"] == [[1e9], 1, 0.1, 5.0]
    with pytest.raises(TVMError, match="no protocol 'pickle'"):
        encode(inp, result, "pickle")


def test_a_file_is_read_back(tmp_path):
    records = sample_records(10)
    inputs, results = map(list, zip(*records, strict=True))
    path = tmp_path / "a.log"
    with path.open("w") as file:
        autotvm.callback.log_to_file(file)(None, inputs[:4], results[:4])
    autotvm.callback.log_to_file(str(path))(None, inputs[4:], results[4:])
    read = list(load_from_file(path))
    assert [each[1] for each in read] == results
    assert [str(each[0].config) for each in read] == [str(each.config) for each in inputs]
    assert [each[1] for each in load_from_buffer(io.StringIO(path.read_text()))] == results
    assert len(list(read_log(path, "a device"))) == 10  # as `texloom db import` does
    pick_best(path, tmp_path / "best.log")
    ((best, result),) = load_from_file(tmp_path / "best.log")
    assert result == results[0] and best.config.index == 0
    with pytest.raises(TVMError, match="TL5018.*there is no folder"):
        autotvm.callback.log_to_file(tmp_path / "none" / "a.log")


def test_the_best_of_a_log_is_applied(tmp_path):
    task = sample_task()
    costs = {0: 0.1, 1: 0.3, 2: 0.01, 4: 0.4}
    records = [
        (
            MeasureInput(task.target, task, task.config_space.get(index)),
            MeasureResult((c,), 0, 1, 0),
        )
        for index, c in costs.items()
    ]
    failed = MeasureInput(task.target, task, task.config_space.get(7))
    records.append((failed, MeasureResult((1e-9,), 4, 1, 0)))
    history = ApplyHistoryBest(records)
    assert str(history.query(task.target, task.workload)) == str(task.config_space.get(2))
    with history, tvm.target.Target("llvm"):
        text = str(tvm.program(*matmul(128, 128, 128, "float32")))
        assert "factor=4" in text and "factor=1 " in text
    # A target with options takes records of its kind, unless it has its own.
    other = tvm.target.Target("llvm -mcpu=haswell")
    assert history.query(other, task.workload).index == 2
    history.update(other, task.workload, task.config_space.get(5))
    assert history.query(other, task.workload).index == 5
    assert history.query(task.target, ("tests/matmul", 8)).is_fallback
    history.load([(records[0][0], MeasureResult((0.001,), 0, 1, 0))])
    assert history.query(task.target, task.workload).index == 0
    assert ApplyHistoryBest(None).query(task.target, task.workload).is_fallback


def test_a_log_of_tvm_is_applied(tmp_path):
    path = tmp_path / "tvm.log"
    path.write_text(OF_TVM + "\n")
    with autotvm.apply_history_best(str(path)) as history, tvm.target.Target("llvm"):
        assert history.query(tvm.target.Target("llvm"), sample_task().workload).index == 27
        text = str(tvm.program(*matmul(128, 128, 128, "float32")))
        assert text.count("factor=8 ") == 2
    with path.open() as file:
        assert ApplyHistoryBest([file]).query("llvm", sample_task().workload).index == 27
    unknown = json.loads(OF_TVM)
    unknown["input"][1], unknown["input"][0] = "no template of ours", "sdaccel -x=1"
    path.write_text(json.dumps(unknown) + "\n" + OF_TVM)
    (inp, _), _ = load_from_file(path)
    assert inp.task.name == "no template of ours" and inp.target == "sdaccel -x=1"
    with pytest.raises(TVMError, match="no template 'no template of ours'"):
        inp.task.instantiate(inp.config)
    assert autotvm.apply_history_best(path).query("llvm", sample_task().workload).index == 27


@pytest.mark.parametrize(
    "bad",
    [
        OF_TVM[:100],
        "{}",
        OF_TVM.replace("0.2,", "0.1,"),
        OF_TVM.replace('"sp"', '"xy"'),
        OF_TVM.replace("], 0, 0.5", "], 77, 0.5"),
        "[" * 100_000,
        "\x00\xff",
    ],
)
def test_damaged_lines_are_told_and_left_out(tmp_path, bad):
    path = tmp_path / "a.log"
    path.write_text(f"# a comment\n{OF_TVM}\n\n{bad}")
    with pytest.warns(TexloomWarning, match=r"TL5019.*line 4 of .* is no trial of AutoTVM"):
        assert len(list(load_from_file(path))) == 1
    path.write_text(bad)
    with pytest.raises(TVMError, match="TL5019.*line 1 of"):
        list(load_from_file(path))
    with pytest.raises(TVMError, match="TL5018.*cannot be read"):
        list(load_from_file(tmp_path / "none.log"))


def test_an_empty_log_has_no_records(tmp_path):
    (tmp_path / "a.log").touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(load_from_file(tmp_path / "a.log")) == []


def test_results_are_kept_by_configuration():
    (inp, result), (other, second), (third, _) = sample_records(3)
    db = DummyDatabase()
    autotvm.callback.log_to_database(db)(None, [inp, other], [result, second])
    assert db.load(inp) == result and db.load(other) == second and db.load(third) is None
    later = result._replace(timestamp=result.timestamp + 1)
    db.save(inp, later, extend=True)
    db.save(inp, result, extend=True)
    assert db.load(inp) == later and db.load(inp, get_all=True) == [result, later, result]
    changed = copy.deepcopy(inp)  # another version of the template's code
    changed.config.code_hash = "cafe"
    assert db.load(changed) is None and str(changed.task) == str(inp.task)
    db.save(inp, second)
    assert db.load(inp, get_all=True) == [second]
    db.flush()
    assert db.load(inp) is None
