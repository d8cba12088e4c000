"""``texloom compare``: the first node whose result differs too much from another implementation."""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from .. import _core
from ..errors import refuse
from ..inspect.describe import counted
from .arrays import tensors_of
from .inputs import Port, add_input_arguments, random_inputs, read_inputs
from .model_arguments import (
    add_compile_arguments,
    compile_arguments,
    is_package,
)
from .peers import difference_from, import_onnxruntime, largest_difference, onnxruntime_session
from .reports import Progress, reported

if TYPE_CHECKING:
    from ..onnx import Model
    from ..onnx.comparison import Comparison, Peer

_DESCRIPTION = """\
Runs a model with all results of nodes as outputs, and gives each node's inputs, as Texloom
computed them, to another implementation, too. The first node that differs by more than its bound
is shown. The bound is derived from the type, the number of terms of sums and their magnitudes in
float64; where the other implementation is less exact, the bound is four times its error. With
--precision fp16, results that the model stores as float16 are rounded, and the bound allows for it.
Nodes are not fused here; the last line compares the outputs of the model as it is.
"""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="texloom compare", description=_DESCRIPTION)
    parser.add_argument("model", type=Path, metavar="MODEL.onnx")
    parser.add_argument(
        "--against",
        choices=("onnxruntime", "reference"),
        default="onnxruntime",
        help='the other implementation; "reference" is onnx.reference (default: %(default)s)',
    )
    parser.add_argument("--all", action="store_true", help="show all nodes")
    add_input_arguments(parser)
    add_compile_arguments(parser)
    parser.add_argument("--json", action="store_true", help="write all nodes as JSON")
    return parser.parse_args(arguments)


def _onnxruntime(model: Any, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    return list(onnxruntime_session(model.SerializeToString()).run(None, dict(inputs)))


def _outputs_of(
    peer: Peer, model: Any, inputs: Mapping[str, NDArray[Any]]
) -> dict[str, Any] | None:
    """Return the results of `peer` for the whole model; None if `peer` fails."""
    names = [each.name for each in model.graph.output]
    try:
        return tensors_of(dict(zip(names, peer(model, inputs), strict=True)))
    except Exception:  # any exception of the implementation: nodes can still be compared
        return None


def _kernels(model: Model, tensor: str, is_rounded: bool) -> list[str]:
    """Return the kernels that compute a tensor, in the order of launches; before it is rounded."""
    tensor += ".computed" if is_rounded else ""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "model.tlp"
        try:
            model.save(package)
        except RuntimeError:  # the model runs, but cannot be saved as a package
            return []
        (view,) = _core.view_packages(str(package).encode())
    steps = view["variants"][0]["steps"]
    launches = [each for each in steps if each["step"] == "launch" and tensor in each["operands"]]
    return [each["kernel"] for each in launches if each["operands"][-1] == tensor]


def _compare(options: argparse.Namespace) -> int:
    from ..onnx import Model
    from ..onnx.comparison import (
        compare_nodes,
        reference_peer,
        rounded_outputs,
        with_all_outputs,
        with_roundings,
    )
    from ..onnx.files import read_model
    from ..onnx.nodes.types import refuse_open

    if is_package(options.model):
        refuse(
            "BadFile",
            f"{options.model} is a package, which has no nodes to compare",
            "give the .onnx file of the model",
        )
    if options.against == "onnxruntime":
        import_onnxruntime()
    proto = read_model(options.model)
    progress = Progress("compare")
    given = compile_arguments(options, progress)
    plain = Model(proto, **given)
    ports = [Port(*each) for each in plain.signature.ports(plain.shapes)]
    inputs = read_inputs(options, ports)
    plain.signature.check_names(inputs)
    missing = [port for port in ports if port.name not in inputs]
    if plain.open_inputs(inputs):
        refuse_open(plain.open_inputs(inputs))
    inputs |= random_inputs(missing)
    outputs = tensors_of(plain.run(inputs, options.device))
    rounded = rounded_outputs(proto, plain.halves())
    given["precision"] = "fp32"  # all results are outputs, so the casts alone round them
    split = Model(with_all_outputs(with_roundings(proto, rounded)), **given)
    results = tensors_of(split.run(inputs, options.device))
    values = {**given["values"], **inputs, **results}
    skipped: dict[str, str] = {}
    peer: Peer = _onnxruntime if options.against == "onnxruntime" else reference_peer
    found: list[Comparison] = []
    total = len(proto.graph.node)
    for each in compare_nodes(proto, values, peer, skipped.__setitem__, rounded):
        found.append(each)
        progress("outputs of nodes are compared", len(found), total)
        if not each.is_within and not (options.all or options.json):
            break
    progress.end()
    first = next((each for each in found if not each.is_within), None)
    theirs = _outputs_of(peer, proto, inputs)
    facts = {
        "model": str(options.model),
        "against": options.against,
        "first": first and _as_dict(first),
        "kernels": _kernels(split, first.output, first.output in rounded) if first else [],
        "skipped": skipped,
        "fused_difference": largest_difference(
            outputs, {n: values[n] for n in outputs}, "the nodes'"
        ),
        "difference": theirs and largest_difference(outputs, theirs, options.against),
        "nodes": [_as_dict(each) for each in found],
    }
    if options.json:
        print(json.dumps(facts))
    else:
        _print(facts, found, options.all)
    return int(first is not None)


def _as_dict(each: Comparison) -> dict[str, Any]:
    """Return the attributes, with None for infinities and NaN, which JSON lacks."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in asdict(each).items()
    }


def _print(facts: dict[str, Any], found: Sequence[Comparison], shows_all: bool) -> None:
    for each in found if shows_all else ():
        told = "differs" if not each.is_within else "within"
        print(f"{told:8}{each.error:10.3g} of {each.bound:10.3g}  {each.op} {each.node!r}")
    for name, why in facts["skipped"].items():
        print(f"not compared: {name!r}: {why}")
    first = next((each for each in found if not each.is_within), None)
    against = facts["against"]
    if first is None:
        print(f"{counted(len(found), 'output')} of nodes within the bounds, against {against}")
    else:
        where = f"[{', '.join(map(str, first.index))}]"
        before = counted(found.index(first), "output")
        print(f"{first.op} {first.node!r} differs from {against}, the first after {before}")
        print(f"  output       {first.output}{where}")
        print(f"  Texloom      {first.value!r}")
        print(f"  {against:12} {first.peer!r}")
        if first.exact is not None:
            print(f"  in float64   {first.exact!r}")
        print(f"  error        {first.error:.6g}, and {first.bound:.6g} is allowed")
        if facts["kernels"]:
            print(f"  kernels      {', '.join(facts['kernels'])}")
    apart, fused = facts["difference"], facts["fused_difference"]
    if apart is None:
        beside = f"{against} does not run the whole model"
    else:
        beside = difference_from(f"{against}'s", apart)
    these = difference_from("these", fused)
    print(f"the outputs of the model as it is compiled {these}, and {beside}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare a model; return 0, or 1 if a node differs or the model is refused."""
    options = parse(arguments)
    return reported("compare", lambda: _compare(options))
