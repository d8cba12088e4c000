"""A small fixed part of texloom_fuzz, its earlier findings, and tests of the fuzzer itself."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from metal_devices import metal_devices
from nightly import most_at_night
from seeded_faults import FAULTS

from texloom import parse
from texloom_fuzz import __main__ as fuzzer
from texloom_fuzz import job
from texloom_fuzz.__main__ import Findings, main
from texloom_fuzz.calls import Argument, Call, calls_of
from texloom_fuzz.case import Case, has_fragments, make_case, make_script
from texloom_fuzz.check import Check, Mismatch, Outcome, check
from texloom_fuzz.job import Job, run_job
from texloom_fuzz.texts.reduce import Reducer
from texloom_fuzz.workers import Lost, Workers, processors

ROOT = Path(__file__).parents[3]
FOUND = sorted((ROOT / "tests/fuzz/found").glob("*.tl"))
METAL = "metal:0" if metal_devices() else None
PROGRAMS, PART, ON_DEVICE = 500, 50, 2  # in all; per test; per test on a device
# ./dev test runs the first part; ./dev test --all runs every part.
PARTS = [
    pytest.param(first, marks=pytest.mark.nightly if first else pytest.mark.slow)
    for first in range(0, PROGRAMS, PART)
]


def findings_of(jobs):
    """Return the findings of the jobs, none of which may be lost."""
    found = Findings()
    with Workers(run_job, processors(), limit=100) as workers:
        for job, result in workers.results(jobs):
            assert not isinstance(result, Lost), f"seed {job.seed}: {result.kind}"
            found.add(job.seed, result)
    assert [(seed, outcome) for seed, outcome, _ in found.failures] == []
    return found


@pytest.mark.parametrize("first", PARTS)
def test_programs_of_fixed_seeds(first):
    """Every pass preserves the program's values; few programs are refused."""
    targets = fuzzer.all_opencl()
    seeds = range(first, first + PART)
    jobs = [Job(n, targets if n % (PART // ON_DEVICE) == 0 else ()) for n in seeds]
    found = findings_of(jobs)
    assert found.done == PART
    changed = sum(n for kind, n in found.kinds.items() if "changed at random" in kind)
    # In large samples, under 5 % of the programs are refused and over 85 % are right. The bounds
    # add three standard deviations of these shares in samples of 50.
    assert found.kinds["refused"] < (PART - changed) * 0.15
    assert found.kinds["right"] > (PART - changed) * 0.7


@pytest.mark.slow
@pytest.mark.parametrize("part", most_at_night(range(5), first=1))
def test_programs_with_fragments(part):
    """Every pass preserves the steps of SIMD-groups, and threads of a device make them."""
    seeds = [seed for seed in range(1000) if has_fragments(seed)][5 * part : 5 * part + 5]
    found = findings_of(Job(seed, fuzzer.all_opencl()) for seed in seeds)
    # Some were changed at random and refused.
    assert found.of_fragments == len(seeds) and found.on_devices >= 2


@pytest.mark.slow
@pytest.mark.skipif(not METAL, reason="this build has no Metal driver")
@pytest.mark.parametrize("first", most_at_night(range(0, 300, 100), first=1))
def test_programs_on_metal(first):
    """Kernels in Metal's language compute the interpreter's values."""
    jobs = [Job(9000 + n, (METAL,)) for n in range(first, first + 100)]
    found = findings_of(jobs)
    assert found.kinds["right"] > 70


@pytest.mark.slow
@pytest.mark.skipif(not METAL, reason="this build has no Metal driver")
def test_fragments_on_metal():
    """SIMD-groups of the software Metal make steps by its matrices."""
    seeds = [seed for seed in range(2000) if has_fragments(seed)][60:64]
    found = findings_of(Job(seed, (METAL,)) for seed in seeds)
    assert found.of_fragments == len(seeds) and found.on_devices >= 2


@pytest.mark.parametrize("file", FOUND, ids=lambda f: f.stem)
def test_found_before(dev, file):
    """Earlier findings stay fixed."""
    assert check(file.read_text(), [dev]).kind == "right"


WRONG = """\
program main stage=te target="opencl"
  param X
  param Y

placeholder X: float32[8]

compute Y(i < 8): float32 = X[i] + 1.0
  output
  split i factor=4 -> i.outer, i.inner
  bind i.outer blockIdx.x
  bind i.inner threadIdx.x
"""


def test_reducing_keeps_what_fails():
    """If a program fails because it contains a word, reducing keeps little more than that word."""
    small = Reducer(lambda texts: ["blockIdx.x" in t for t in texts], seconds=3).reduced(WRONG)
    assert "blockIdx.x" in small
    assert "threadIdx" not in small
    assert len(small.splitlines()) < len(WRONG.splitlines())


@pytest.mark.nightly
def test_workers_outlive_their_jobs():
    """A crash and a hang each cost one process; every other job returns its result."""
    crash, hang = "__import__('os').abort()", "__import__('time').sleep(60)"
    with Workers(eval, 2, limit=15) as workers:
        answers = dict(workers.results(["1 + 1", crash, "2 + 2", hang, "3 + 3"]))
    assert [answers[f"{n} + {n}"] for n in (1, 2, 3)] == [2, 4, 6]
    assert answers[crash] == Lost("crash, status -6")
    assert answers[hang] == Lost("not finished within 15 s")


def test_a_wrong_value_is_a_failure(monkeypatch):
    """The comparison notices one wrong element."""
    from texloom_fuzz import check as module

    seen = module.Check.see

    def one_off(self, version, reports, arrays):
        if version == "flatten_storage":
            first = np.frombuffer(arrays[1], "f4").copy()
            first[0] += 1
            arrays = [arrays[0], first.tobytes()]
        seen(self, version, reports, arrays)

    monkeypatch.setattr(module.Check, "see", one_off)
    outcome = check(WRONG, [])
    assert outcome.kind == "flatten_storage: wrong values"
    assert outcome.failed


def test_signs_of_zeros_and_nans():
    """A zero must have the sign that arithmetic gives it; a NaN may have either sign."""
    y = Argument("Y", "float16", [1], False, False, [1], [0])
    zero, nan = np.float16([0]), np.float16([np.nan])
    Check.compare("version", y, -nan, nan, None)
    with pytest.raises(Mismatch):
        Check.compare("version", y, -zero, zero, None)


def test_a_refusal_is_no_failure():
    unbound = WRONG.replace("  bind i.outer blockIdx.x\n", "")
    outcome = check(unbound.replace("  bind i.inner threadIdx.x\n", ""), [])
    assert outcome.kind == "refused"
    assert not outcome.failed


def test_an_unexpected_refusal_is_a_failure(monkeypatch):
    """The fuzzer draws legal programs: a refusal means that the compiler or the fuzzer is wrong."""
    lines = [line for line in WRONG.split("\n") if "bind" not in line]
    drawn = Case(0, "", "\n".join(lines))
    monkeypatch.setattr(job, "make_case", lambda seed: drawn)
    outcome = run_job(Job(0, ())).outcome
    assert outcome.kind == "refused for TL3003"
    assert outcome.failed
    drawn.features.add("changed at random")
    assert not run_job(Job(0, ())).outcome.failed


def test_all_parts_of_the_language_are_drawn():
    """Scans and intrinsics occur in every form that lowering distinguishes."""
    drawn = set().union(*(make_script(seed).features for seed in range(500)))
    assert drawn >= {
        "scan of 1 states",
        "scan of 2 states",
        "scan: columns in one block",
        "scan: columns among blocks",
        "scan: a stage of a step inside",
        "scan: a stage of a step shared",
        "tensorize",
        "tiles in a cache",
        "an intrinsic is called",
        "intrinsic with an update and a reset",
        "intrinsic with strides",
        "intrinsic of a foreign function",
        "lanes fused with the loop around them",
        "pipeline of an unrolled loop",
        "a store predicate of a reader",
    }


def test_all_forms_of_fragments_are_drawn():
    drawn = set()
    for seed in filter(has_fragments, range(4000)):
        drawn |= {each for each in make_script(seed).features if each.startswith("fragments: ")}
    assert drawn >= {
        f"fragments: {each}"
        for each in (
            *("float16 into float32", "float32 into float32", "float16 into float16"),
            *("a transposed left factor", "a transposed right factor", "zeros after the ends"),
            *("a stage before", "a conversion before", "a stage after", "vectors of the result"),
            *("a convolution", "a padded image", "several SIMD-groups", "slices", "pieces"),
            *("several fragments of a SIMD-group", "fragments of several steps", "pipeline(2)"),
            *("double_buffer()", "a factor in shared memory for all steps"),
            *("loaded from a factor", "stored to the result"),
        )
    }


OUTSIDE = "outside of a tensor where nothing is computed"
# The least number of programs in 1,000 with each feature: about half of the mean of many seeds.
LEAST = {
    f"{OUTSIDE}, at the root in a buffer": 15,
    f"{OUTSIDE}, at the root in a texture": 5,
    f"{OUTSIDE}, attached local": 30,
    f"{OUTSIDE}, attached shared": 20,
    f"{OUTSIDE}, inlined": 15,
    f"{OUTSIDE}, under a split that does not divide": 30,
    "a lengthened axis, at the root in a buffer": 10,
    "a lengthened axis, at the root in a texture": 4,
    "a lengthened axis, attached local": 20,
    "a lengthened axis, attached shared": 12,
    "a lengthened axis under a split that does not divide": 20,
    "an element for each row of a block": 80,
    "a store predicate of a reader": 80,
    "a store predicate of a reduction": 35,
    "a store predicate of a reduction inside its reader": 45,
    "a store predicate with the guard of a block": 20,
    "a reduction over threads of partial results": 15,
    "a reduction over threads, local, inside its reader": 50,
    "a reduction over threads, shared, inside its reader": 40,
    "a reduction over the threads of a loop around it": 15,
}


def test_rare_schedules_are_drawn_often():
    """Rare features of schedules, where errors are likely, occur in enough programs."""
    drawn = Counter(f for seed in range(1000) for f in make_script(seed).features)
    assert {name: drawn[name] for name, least in LEAST.items() if drawn[name] < least} == {}


READ_OUTSIDE = """\
program main stage=te target="opencl"
  param X
  param C

placeholder X: float32[4]

compute B(i < 5): float32 = X[i - 1]
  bind i blockIdx.x

compute C(i < 4): float32 = B[i + 1]
  output
  bind i blockIdx.x
"""


def test_reads_outside_where_nothing_is_computed():
    """B[0] would read X[-1]: right if no stage reads B[0]; else the program has no values."""
    assert check(READ_OUTSIDE, []) == Outcome("right")
    needed = READ_OUTSIDE.replace("B[i + 1]", "B[i]")
    assert check(needed, []).kind == "unsound"


def test_a_drawn_program_has_values():
    """A program whose values are undefined checks nothing, so the fuzzer may not draw it."""
    outcome = job.as_drawn(Outcome("unsound", "B[0] is given an undefined value"))
    assert outcome.failed


def test_only_some_programs_may_be_refused_for_reading_outside():
    """Only a program with `may_read_outside` may be refused for a read outside a tensor."""
    refused = Outcome("refused", "TL3020 'B' reads axis 0 of 'X' at index 8")
    assert job.as_drawn(refused).failed
    case = Case(0, "", "", may_read_outside=True)
    assert not job.as_drawn(refused, case).failed


def test_threads_of_changed_statements_may_meet():
    """A changed statement of threads may race; any other race is an error of the compiler."""
    race = Outcome("insert_barriers.place_barriers: race", "tile[0] is written twice")
    assert job.as_changed(race, {"form: copy"}).failed
    assert job.as_changed(race, {"extern: pairs in shared memory"}).kind == "unsound"


def test_only_programs_of_a_feature_run(tmp_path, capsys):
    options = ["--count", "2", "--jobs", "1", "--no-device", "--corpus", str(tmp_path), "-v"]
    assert main([*options, "--only", "extern by_(pairs|exchange)"]) == 0
    assert re.search(r"^2 programs", capsys.readouterr().out, re.MULTILINE)
    with pytest.raises(SystemExit):
        main([*options, "--only", "("])


def test_a_feature_that_no_program_has_ends_the_run(capsys, monkeypatch):
    monkeypatch.setattr(fuzzer, "DRAWS", 40)
    assert main(["--jobs", "1", "--no-device", "--only", "extren"]) == 2
    told = capsys.readouterr().err
    assert "none of 40 programs has a feature that matches 'extren'; these are similar: " in told
    assert "'extern" in told
    crowd = [f"an extent of {number}" for number in range(20)]
    assert "extern: pairs" in fuzzer.similar("extren", [*crowd, "extern: pairs", "form: copy"])
    assert fuzzer.similar("nothing alike", crowd) == []


def test_command_line(tmp_path, capsys):
    """The command reports how many programs ran, and exits with 0 if none failed."""
    options = ["--count", "3", "--jobs", "1", "--no-device", "--corpus", str(tmp_path)]
    assert main(options) == 0
    told = capsys.readouterr().out
    assert "3 programs from seed 0" in told and "steps of fragments" not in told
    assert main([*options, "--count", "1", "--only", "steps of fragments"]) == 0
    assert "1 of them had steps of fragments" in capsys.readouterr().out


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_seeded_faults_are_in_the_sources(fault):
    """Each fault changes one place."""
    source = (ROOT / fault.source).read_text()
    assert fault.apply(source) != source


def test_symbols_are_what_the_call_says():
    """The calls of a symbolic program have arrays of different sizes."""
    text = make_case(next(s for s in range(100) if "n = te.var" in make_script(s).text())).text
    calls = calls_of(text)
    assert len(calls) > 1
    sizes = {
        tuple(tuple(a.shape) for a in Call(parse(text), each, text, whole=False).arguments)
        for each in calls
    }
    assert len(sizes) > 1


def test_arrays_of_another_shape():
    """If transform_layout changed the axes, the array has the new shape."""
    moved = WRONG.replace("  output\n", "  output\n  transform (i) -> (i%3, i/3)\n").replace(
        "  split i factor=4 -> i.outer, i.inner\n  bind i.outer blockIdx.x\n"
        "  bind i.inner threadIdx.x\n",
        "  fuse -> unit\n  bind unit threadIdx.x\n",
    )
    x, y = Call(parse(moved), {}, moved, whole=False).arguments
    assert (x.array_shape, y.shape, y.array_shape) == ([8], [8], [3, 3])
    values = np.arange(1, 9, dtype="float32")
    assert y.array(values).tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 0]]
    assert y.values(y.array(values)).tolist() == values.tolist()


def test_a_crash_on_a_device_is_told_apart():
    """If the program is correct in the interpreter, the result names the device."""
    lost = Lost("crash, status -11")
    on_device = fuzzer.result_of_lost(Job(0, ("opencl:0",)), lost).outcome
    assert on_device.kind == "a device gave up: crash, status -11"
    assert not on_device.failed
    alone = fuzzer.result_of_lost(Job(0, ()), lost).outcome
    assert alone.kind == "crash, status -11"
    assert alone.failed
