"""Runs ONNX's backend tests and prints which cases pass, are refused, or are wrong.

    python tests/onnx_backend.py [--kind node,simple] [--storage buffer] [--target llvm]
                                 [--only REGEX] [--every N] [--show]

The kinds are those of KINDS; by default, all kinds run. The light models have the inputs and the
expected outputs of ONNX's own runner. A case passes if all outputs have the declared dtype and
shape and are within the tolerance that the case states. A case is refused if `prepare` raises.
Anything else fails: an exception of `run`, a wrong value, or a process that ends. Cases whose
expected values contradict the standard, or are random, are counted apart (CONTESTED). Exits with 1
if a case fails.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
import time
import traceback
import warnings
from pathlib import Path

from isolated import Worker

# Cases whose expected values contradict the text of the standard, or are random.
CONTESTED = {
    r"^test_attention_.*_bf16": "the expected values round each step to bfloat16: a unit is 0.4 %",
    r"^test_bernoulli": "Bernoulli draws at random, other numbers in each implementation",
    r"^test_cast(like)?_FLOAT(16)?_to_U?INT[24]": "the standard leaves numbers out of range open",
    r"^test_dft_inverse": "the expected zeros are 2e-7, by errors of float32; ours are 4e-16",
    r"^test_qlinearmatmul_.*_int8_": "QLinearMatMul saturates, but the expected values wrap",
}
LONGEST = 600
"""Seconds of a case at most: PoCL takes minutes for large models in textures, which it emulates."""
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")


def cases_of(kinds: list[str]) -> list[object]:
    import numpy as np
    from onnx.backend.test.loader import load_model_tests

    # ONNX lists the light models as "real". Loading computes expected values, which may overflow.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        named = [(k, load_model_tests(kind="real" if k == "light" else k)) for k in kinds]
    return [c for kind, cases in named for c in cases if kind != "light" or "/light/" in c.url]


def kind_of(case: object) -> str:
    return "light" if case.kind == "real" else case.kind


def model_of(case: object) -> object:
    """The model of a case, which the package has in memory, or else in a file."""
    import onnx

    if case.model is not None:
        return case.model
    if case.model_dir is None:
        return onnx.load(light_file(case))
    return onnx.load(Path(case.model_dir) / "model.onnx")


def light_file(case: object) -> Path:
    import onnx

    return Path(onnx.__file__).parents[1] / case.url


def light_data_set(model: object, file: Path):
    """The input and the expected output of a light model, which has one of each."""
    import onnx
    from onnx.backend.test.runner import Runner

    constants = {each.name for each in model.graph.initializer}
    (given,) = (each for each in model.graph.input if each.name not in constants)
    expected = onnx.load_tensor(file.with_name(f"{file.stem}_output_0.pb"))
    return [Runner.generate_dummy_data(given, seed=0)], [onnx.numpy_helper.to_array(expected)]


def data_sets(case: object):
    """The inputs and expected outputs of a case; None for values that are not tensors."""
    import onnx
    from onnx import numpy_helper

    if case.data_sets is not None:
        for inputs, outputs in case.data_sets:
            yield list(map(in_memory, inputs)), list(map(in_memory, outputs))
        return
    model = model_of(case)
    if case.model_dir is None:
        yield light_data_set(model, light_file(case))
        return
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        yield (
            [
                [
                    value_of(folder / f"{what}_{i}.pb", info.type, numpy_helper, onnx)
                    for i, info in enumerate(values)
                    if (folder / f"{what}_{i}.pb").exists()
                ]
                for what, values in (("input", model.graph.input), ("output", model.graph.output))
            ]
        )


def in_memory(value):
    """A value as models give it: an array, a list of arrays, or None."""
    import numpy as np
    import onnx

    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return value if value is None or isinstance(value, list) else np.asarray(value)


def value_of(path: Path, kind, numpy_helper, onnx):
    data = path.read_bytes()
    if kind.HasField("tensor_type"):
        tensor = onnx.TensorProto.FromString(data)
        return numpy_helper.to_array(tensor)
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))


def compare(expected, got, case) -> str:
    import numpy as np

    if expected is None or got is None:
        return "" if expected is got else "one of both is not a value"
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"not a list of {len(expected)}"
        return next(filter(None, map(compare, expected, got, [case] * len(got))), "")
    expected = np.asarray(expected)
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if got.dtype != expected.dtype:
        return f"dtype {got.dtype}, expected {expected.dtype}"
    if expected.dtype == object or expected.dtype.kind not in "fV":
        return "" if np.array_equal(expected, got) else "other values"
    a, b = expected.astype("float64"), got.astype("float64")
    if np.allclose(b, a, rtol=case.rtol, atol=case.atol, equal_nan=True):
        return ""
    return f"differs by up to {np.nanmax(np.abs(a - b)):.3g}"


def run_case(case, storage: str, device: str, target: str) -> tuple[str, str]:
    from contextlib import nullcontext

    from texloom.errors import TVMError
    from texloom.onnx import backend
    from texloom.target import Target

    model = model_of(case)
    try:
        with Target(target) if target else nullcontext():
            prepared = backend.prepare(model, device=device, storage=storage)
    except Exception as error:
        return "refused", f"{type(error).__name__}: {error}".splitlines()[0][:300]
    try:
        for inputs, outputs in data_sets(case):
            results = prepared.run(inputs)
            for expected, got in zip(outputs, results, strict=True):
                if why := compare(expected, got, case):
                    return next(
                        (
                            ("contested", text)
                            for name, text in CONTESTED.items()
                            if re.search(name, case.name)
                        ),
                        ("wrong", why),
                    )
    except TVMError as error:  # a model with open shapes is compiled, or refused, when it runs
        return "refused", str(error).splitlines()[0][:300]
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return "raised", f"{why} ({Path(where.filename).name}:{where.lineno})"
    return "passed", ""


def worker(connection, kinds, storage, device, target) -> None:
    cases = {case.name: case for case in cases_of(kinds)}
    while (name := connection.recv()) is not None:
        connection.send(run_case(cases[name], storage, device, target))


def drain(names, options, results, done) -> None:
    own = Worker(worker, options, LONGEST)
    while names:
        name = names.pop()
        results[name] = own.run(name)
        done()
    own.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", default=",".join(KINDS))
    parser.add_argument("--storage", default="buffer")
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--target", default="", help="such as llvm; by default the device's")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="run one of so many cases")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="print each case that does not pass")
    args = parser.parse_args()
    kinds = args.kind.split(",")
    cases = [c for c in cases_of(kinds) if re.search(args.only, c.name)][:: args.every]
    kind = {c.name: kind_of(c) for c in cases}
    names = [c.name for c in cases][::-1]
    assert len(kind) == len(names), "two cases have the same name"
    total, begin = len(names), time.time()
    results: dict[str, tuple[str, str]] = {}

    def done() -> None:
        if len(results) % 50 == 0:
            print(f"{len(results)}/{total}, {time.time() - begin:.0f} s", file=sys.stderr)

    import threading

    options = (kinds, args.storage, args.device, args.target)
    threads = [
        threading.Thread(target=drain, args=(names, options, results, done))
        for _ in range(args.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if args.json:
        rows = [(kind[name], name, *result) for name, result in sorted(results.items())]
        args.json.write_text(json.dumps(rows, indent=1))
    if args.show:
        for name, (outcome, why) in sorted(results.items()):
            if outcome != "passed":
                print(f"{name}: {outcome}: {why}")
    counts = collections.Counter(outcome for outcome, _ in results.values())
    print(f"{dict(counts)} of {total} cases in {time.time() - begin:.0f} s")
    return int(bool(set(counts) - {"passed", "refused", "contested"}))


if __name__ == "__main__":
    sys.exit(main())
