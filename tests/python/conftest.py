"""Fixtures for devices and for running schedules, and import paths of tests/fuzz."""

import faulthandler
import os
import re
import sys
from collections import Counter
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from llvm_plugin import has_llvm

import texloom as tvm

sys.path[:0] = [str(Path(__file__).parents[1] / each) for each in ("fuzz", "fuzz/bad_inputs")]
os.environ["TEXLOOM_DEBUG"] = "1"  # check the program after every pass, not only at the end
os.environ["TEXLOOM_CACHE_DIR"] = ""  # kernels of earlier runs are not used


HANGS = 300  # seconds; the longest test takes 50 on two cores that do nothing else
# Files and folders whose tests take over half of the time of all tests together: ./dev check leaves
# them to ./dev test, as if each test were marked `slow`.
SLOW = (
    "compile/test_checked.py compile/test_opencl_sources.py docs/test_docs.py "
    "errors/test_misuse.py examples fuzz/test_fuzz.py programs/test_demo.py programs/test_trace.py "
    "runtime/test_processes.py schedule/test_host_loops.py schedule/test_pipeline.py "
    "te/test_scan_random.py te/test_symbols.py te_scripts textures/test_layouts.py "
    "tir/test_dtypes.py tir/test_half_arithmetic.py workloads"
).split()


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config, items):
    """Mark the tests of SLOW, and leave out those of other shares."""
    folder = Path(__file__).parent
    for item in items:
        path = item.path.relative_to(folder)
        if {str(path), path.parts[0]} & set(SLOW):
            item.add_marker(pytest.mark.slow)
    # A test stays in its share when others are added.
    share, shares = map(int, config.getoption("share").split("/"))
    items[:] = [each for each in items if crc32(each.nodeid.encode()) % shares == share % shares]


def pytest_addoption(parser):
    parser.addoption("--one-device", action="store_true", help="run on the first device alone")
    parser.addoption("--share", default="1/1", help="K/N: run the K-th of N shares of the tests")


def pytest_generate_tests(metafunc):
    """Run every test that asks for `dev` or `run` on every available OpenCL device."""
    if "dev" in metafunc.fixturenames:
        count = len(tvm.devices("opencl"))
        if metafunc.config.getoption("one_device"):
            count = min(count, 1)
        devices = [tvm.opencl(i) for i in range(count)]
        metafunc.parametrize("dev", devices, ids=[f"opencl{i}" for i in range(count)])


def pytest_terminal_summary(terminalreporter):
    """Print, for each OpenCL implementation, how many tests passed and why others were skipped."""
    counts, reasons = Counter(), Counter()
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            named = re.search(r"[\[-]opencl(\d+)[\]-]", report.nodeid)
            device = int(named[1]) if named else None
            counts[device, outcome] += 1
            if outcome == "skipped":
                reasons[device, report.longrepr[2].removeprefix("Skipped: ")] += 1
    terminalreporter.section("OpenCL implementations")
    names = [
        f"opencl{n}: {d['name']}, {d['platform']}" for n, d in enumerate(tvm.devices("opencl"))
    ]
    for device, name in [*enumerate(names), (None, "tests that choose no device")]:
        count = [f"{n} {outcome}" for (of, outcome), n in counts.items() if of == device]
        terminalreporter.line(f"{name}: {', '.join(count) or 'no tests'}")
        for (of, reason), n in reasons.items():
            if of == device:
                terminalreporter.line(f"    {n} skipped: {reason}")


def has_pocl():
    """Whether one of the OpenCL implementations is PoCL."""
    return any(d["platform"] == "Portable Computing Language" for d in tvm.devices("opencl"))


def plain_target(dev):
    """Return the default OpenCL target, with half arithmetic if this device has it."""
    half = tvm.target.Target.from_device(dev).attrs["float16_arithmetic"]
    return "opencl -float16_arithmetic=1" if half else "opencl"


@pytest.fixture(autouse=True)
def no_hang():
    """End the run with all stacks if a test hangs."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True, scope="session")
def models_are_for_opencl():
    """Compile models without a target for OpenCL, as in an installation without LLVM.

    Tests count for OpenCL implementations. Those of the default ask for `default_target`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tvm.target, "has_llvm", lambda: False)
        yield


@pytest.fixture
def default_target(monkeypatch):
    """Return the target of models that are compiled without one, as users have it."""
    if not has_llvm():
        pytest.skip("the LLVM plug-in is not built")
    monkeypatch.setattr(tvm.target, "has_llvm", lambda: True)
    return tvm.target.NATIVE


@pytest.fixture
def run(dev):
    """``run(s, [X, Y], x)`` builds, runs and returns Y as a NumPy array, or a list of several.

    Arguments whose operation has no inputs get the given values, in order; the others are outputs.
    ``scopes`` puts arguments into textures, ``**options`` go to ``build``.
    """

    def run_schedule(s, args, *values, scopes=None, **options):
        scopes = scopes or {}
        if "target" not in options and tvm.target.Target.current() is None:
            options["target"] = plain_target(dev)
        binds = {t: tvm.decl_buffer(t.shape, t.dtype, scope=where) for t, where in scopes.items()}
        function = tvm.build(s, args, binds=binds, **options)
        target = options.get("target")
        rest = list(values)
        arrays, outputs = [], []
        for t in args:
            place = {"device": dev, "mem_scope": scopes.get(t), "target": target}
            if t.op.input_tensors or t.op.body:
                shape = [int(n) for n in t.shape]
                arrays.append(tvm.nd.empty(shape, t.dtype, **place))
                outputs.append(arrays[-1])
            else:
                arrays.append(tvm.nd.array(np.asarray(rest.pop(0), t.dtype), **place))
        assert not rest
        function(*arrays)
        results = [a.numpy() for a in outputs]
        return results[0] if len(results) == 1 else results

    return run_schedule
