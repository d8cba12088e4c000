"""``texloom bench``: how long a model takes, beside onnxruntime."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..devices.lookup import present
from ..errors import refuse
from ..graph import RunnableGraph
from ..graph import load as load_package
from ..inspect.describe import counted
from ..measure.loop import Arm, BatchArm, Timed, medians
from ..trace import table_of
from .inputs import (
    add_input_arguments,
    ports_of,
    random_inputs,
    read_inputs,
    with_shapes,
)
from .kernel_times import kernel_facts, kernel_rows, start_profile
from .model_arguments import (
    add_compile_arguments,
    add_native_argument,
    choose_device,
    compile_model,
    is_package,
    refuse_compile_options,
    shapes_of,
)
from .node_times import bench_nodes, node_report
from .peers import difference_from, import_onnxruntime, largest_difference, onnxruntime_session
from .reports import Progress, reported

_DESCRIPTION = """\
Measures the median time of a run. "run" is a call with arrays of the host, and with copies of
inputs and outputs; "device" is the time of runs one after another without these copies. The
runs are measured in turns, so that load and clock speed affect all equally. Inputs that are not
given are random numbers; integers are 0. --shape also says at which size a package that serves
all sizes is measured. --kernels shows instead what each kernel takes, and --nodes what each node
takes next to the least time that the profile of the device says ("texloom devices --measure").
"""
_SAMPLE_SECONDS = 0.05
_SAME_MODEL = "name the model that the package was compiled from: --onnx FILE"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom bench", description=_DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tlp or an .onnx file")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--compare", choices=("onnxruntime",), help="measure this implementation, too"
    )
    instead.add_argument("--kernels", action="store_true", help="show the time of each kernel")
    instead.add_argument(
        "--nodes",
        action="store_true",
        help="show the time of each node of an ONNX model, what bounds it, and how near it is",
    )
    parser.add_argument(
        "--onnx",
        type=Path,
        metavar="FILE",
        help="the ONNX model to compare a package with (default: the .onnx file beside it)",
    )
    parser.add_argument(
        "--rounds", type=int, default=9, help="samples of each implementation (default: 9)"
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="the number of threads of native code and of onnxruntime (default: all)",
    )
    add_input_arguments(parser)
    add_compile_arguments(parser)
    add_native_argument(parser)
    parser.add_argument("--json", action="store_true", help="write the times as JSON")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}, but must be at least 1")
    if options.threads is not None and options.threads < 1:
        parser.error(f"--threads is {options.threads}, but must be at least 1")
    return options


def _loaded(options: argparse.Namespace) -> RunnableGraph:
    if is_package(options.model):
        refuse_compile_options(options.model, options, taken=["shape"])
        return load_package(options.model, native=options.native)
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "model.tlp"
        compile_model(options.model, options, Progress("bench")).save(package)
        return load_package(package, native=True)  # keeps the file open: the folder may be deleted


def _onnx_file(options: argparse.Namespace) -> Path:
    """Return the file of the ONNX model to compare with; refuse one that is not there."""
    if options.onnx is not None:
        if not options.onnx.exists():
            refuse("FileError", f"there is no file {options.onnx}", "name the model: --onnx FILE")
        return Path(options.onnx)
    if not is_package(options.model):
        return Path(options.model)
    beside = Path(options.model).with_suffix(".onnx")
    if not beside.exists():
        refuse(
            "FileError",
            f"{options.model} is a package without its ONNX model, and there is no file {beside}",
            "name the model: --onnx FILE",
        )
    return beside


def _check_names(what: str, ours: Iterable[str], theirs: Iterable[str]) -> None:
    unknown = set(ours) ^ set(theirs)
    if unknown:
        refuse(
            "UnknownName",
            f"only one of the package and the ONNX model has the {what} {min(unknown)!r}",
            _SAME_MODEL,
        )


def _run_peer(
    session: Any, inputs: Mapping[str, NDArray[Any]], outputs: Iterable[str]
) -> dict[str, NDArray[Any]]:
    """Return onnxruntime's outputs; refuse a model that is not the package's."""
    names = [each.name for each in session.get_outputs()]
    _check_names("input", inputs, (each.name for each in session.get_inputs()))
    _check_names("output", outputs, names)
    try:
        return dict(zip(names, session.run(None, inputs), strict=True))
    except Exception as error:  # exceptions of onnxruntime have no common class
        refuse("BadModel", f"onnxruntime cannot run the ONNX model: {error}", _SAME_MODEL)


@contextmanager
def _limited_to(threads: int | None) -> Iterator[None]:
    """Let the process use so many processors, before the device ``host:0`` makes its threads."""
    if threads is None:
        yield
        return
    if not hasattr(os, "sched_setaffinity"):
        refuse(
            "BadOption",
            "--threads is given, but this system binds no process to processors",
            "leave it out",
        )
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        refuse(
            "BadOption",
            f"--threads is {threads}, but the process may use {counted(len(allowed), 'processor')}",
            "give at most that number",
        )
    os.sched_setaffinity(0, allowed[:threads])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _bench(options: argparse.Namespace) -> int:
    choose_device(options)
    if options.nodes:
        facts = bench_nodes(options)
        print(json.dumps(facts) if options.json else node_report(facts))
        return 0
    if options.compare:  # what is missing is said before anything is compiled
        import_onnxruntime()
    onnx_file = _onnx_file(options) if options.compare else None
    profile = start_profile("texloom bench --kernels") if options.kernels else None
    graph = _loaded(options)
    device = present(options.device)
    ports = with_shapes(ports_of(graph), shapes_of(options.shape))
    inputs = read_inputs(options, ports)
    inputs = random_inputs([each for each in ports if each.name not in inputs]) | inputs
    run = partial(graph.run, inputs, device)
    facts = {
        "model": str(options.model),
        "device": device.device_name,
        "rounds": options.rounds,
    }
    if profile is not None:
        rows = kernel_rows(profile, run, options.rounds)
        if options.json:
            print(json.dumps(facts | {"kernels": kernel_facts(rows, options.rounds)}))
        else:
            print(f"{facts['model']}, {options.rounds} runs\n{table_of(rows)}")
        return 0
    outputs = run()
    arms: dict[str, Timed] = {"run": Arm(run)}
    arms["device"] = BatchArm(lambda count: graph.time(count, device))
    if onnx_file is not None:
        session = onnxruntime_session(onnx_file, options.threads)
        theirs = _run_peer(session, inputs, outputs)
        facts["largest_difference"] = largest_difference(outputs, theirs, "onnxruntime")
        arms["onnxruntime"] = Arm(partial(session.run, None, inputs))
    times = medians(list(arms.values()), rounds=options.rounds, sample_seconds=_SAMPLE_SECONDS)
    facts["seconds"] = dict(zip(arms, times, strict=True))
    if options.json:
        print(json.dumps(facts))
    else:
        _print(facts)
    return 0


def _print(facts: dict[str, Any]) -> None:
    print(f"{facts['model']} on {facts['device']}, medians of {facts['rounds']}")
    seconds = facts["seconds"]
    for name, each in seconds.items():
        peer = seconds.get("onnxruntime")
        ratio = "" if peer is None or name == "onnxruntime" else f"  {peer / each:.2f} x as fast"
        print(f"  {name:12}{each * 1e3:12.3f} ms{ratio}")
    if "largest_difference" in facts:
        apart = difference_from("onnxruntime's", facts["largest_difference"])
        print(f"  the outputs {apart}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a model; return 0, or 1 with the reason on stderr."""
    options = parse(arguments)

    def bench() -> int:
        with _limited_to(options.threads):
            return _bench(options)

    return reported("bench", bench)
