"""Compares a drawn node with both references.

A difference of two implementations is allowed up to ``2 (n + 16) u m`` as docs/onnx.md says for
`texloom compare`: n is the length of the longest sum, u the rounding error of the coarsest type, m
the sum of the magnitudes of the terms.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx
from node_peers import model_of, onnxruntimes, ours, references, with_constants
from node_source import UNIT

from texloom.errors import TVMError
from texloom.onnx import backend

from .drawing import Drawn, magnitudes
from .faults import TEXTS, UNCOMPUTED, fault_of

_FUNCTION_ULPS = 16  # the largest error that OpenCL allows for functions such as pow
_LEAST = {"float16": 2.0**-24, "float32": 2.0**-149, "bfloat16": 2.0**-133, "float64": 0.0}
PEERS: dict[str, Callable[..., Any]] = {"onnx.reference": references, "onnxruntime": onnxruntimes}


_WIDER = (
    ("float32", ("float16", "bfloat16")),
    ("float64", ("float16", "bfloat16", "float32")),
)
ROUNDING = "it rounds more often, and agrees if it computes the node in a wider type"


RIGHT = ("both", "only", "onnx.reference", "onnxruntime", "text", "none")
"""The kinds of outcomes that need no change of Texloom, of a drawer or of the list of faults."""


@dataclass
class Outcome:
    """What a node came to.

    Attributes
    ----------
    kind : str
        "both": equal to both references. "only": equal to the one that computes the node.
        "onnx.reference" and "onnxruntime": equal to this one, which the other contradicts.
        "text": equal to what the text says; no reference agrees, each for a known reason. "none":
        no reference computes the node, as is known. "refused": by Texloom. "unexplained": a
        reference differs or computes nothing, and there is no reason why. "wrong": anything else.
    why : str
        Why the node is refused, or how results differ. For "only", the reference.
    causes : dict of str to str
        Why each reference that differs does so.
    """

    kind: str
    why: str = ""
    causes: dict[str, str] = field(default_factory=dict)


def outcome_of(drawn: Drawn) -> Outcome:
    """Run a node three times."""
    try:
        got = _run(_ours, drawn)
    except TVMError as error:
        return Outcome("refused", str(error).splitlines()[0])
    except Exception as error:  # a bug, which is shown with the others
        return Outcome("wrong", f"raised {type(error).__name__}: {error}".splitlines()[0])
    if why := _wrong_types(drawn, got):
        return Outcome("wrong", why)
    theirs = {name: _theirs(peer, drawn, got) for name, peer in PEERS.items()}
    ran = {name: each for name, each in theirs.items() if each is not None}
    differences = {name: difference(drawn, got, each) for name, each in ran.items()}
    equal = [name for name, why in differences.items() if not why]
    if not ran:
        is_known = UNCOMPUTED.get(drawn.op, lambda _: False)(drawn)
        return Outcome("none") if is_known else Outcome("unexplained", "no reference computes it")
    if len(equal) == len(ran):
        return Outcome("both" if len(ran) == 2 else "only", "" if len(ran) == 2 else equal[0])
    why = "; ".join(f"{name}: {each}" for name, each in differences.items() if each)
    causes = {name: _cause(drawn, got, name) for name, each in differences.items() if each}
    if not all(causes.values()):
        return Outcome("unexplained" if equal else "wrong", why)
    if equal:
        return Outcome(equal[0], why, causes)
    if drawn.op not in TEXTS:
        return Outcome("unexplained", why)
    expected = [_narrow(np.asarray(a), b) for a, b in zip(TEXTS[drawn.op](drawn), got, strict=True)]
    if against := difference(drawn, got, expected):
        return Outcome("wrong", f"by the text {against}")
    return Outcome("text", why, causes)


def _cause(drawn: Drawn, got: list[Any], peer: str) -> str:
    """Why a reference differs: a known fault, or rounding; empty if there is no reason."""
    fault = fault_of(drawn, peer)
    if fault is not None:
        return fault.why
    if drawn.size is None:
        return ""
    for wider in _WIDER:
        wide = _as_type(drawn, *wider)
        exact = None if wide is None else _theirs(PEERS[peer], wide, got)
        if exact is not None and not difference(drawn, got, exact):
            return ROUNDING
    return ""


def model_of_drawn(drawn: Drawn) -> tuple[onnx.ModelProto, list[Any]]:
    """The model, and the inputs of its run."""
    inputs = list(drawn.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    model = model_of(
        drawn.op,
        inputs,
        drawn.outputs,
        opset=28 if drawn.domain else drawn.version,
        domain=drawn.domain,
        domain_version=drawn.version,
        unused=drawn.unused,
        **drawn.attributes,
    )
    model.ir_version = 11
    return model, with_constants(model, inputs, drawn.constants)


def _ours(model: onnx.ModelProto, inputs: list[Any]) -> list[Any]:
    """Our results; a sequence is a constant, which the backend interface takes."""
    if any(isinstance(each, list) for each in inputs):
        return list(backend.prepare(onnx.shape_inference.infer_shapes(model)).run(inputs))
    return ours(model, inputs)


def _run(run: Callable[..., Any], drawn: Drawn) -> list[Any]:
    model, inputs = model_of_drawn(drawn)
    return run(model, inputs)


def _wrong_types(drawn: Drawn, got: list[Any]) -> str:
    """Which output is missing, or not of the type that the operator's schema says; or empty.

    The reference returns float32 in place of other types, so it cannot tell.
    """
    count = drawn.outputs - len(drawn.unused)
    if len(got) != count:
        return f"there are {len(got)} outputs, not {count}"
    schema = onnx.defs.get_schema(drawn.op, drawn.version, drawn.domain)
    types = {
        formal.type_str: each.dtype
        for formal, each in zip(schema.inputs, drawn.inputs, strict=False)
        if isinstance(each, np.ndarray)
    }
    kept = [each for i, each in enumerate(schema.outputs) if i not in drawn.unused]
    for formal, result in zip(kept, got, strict=False):
        own, needed = getattr(result, "dtype", None), types.get(formal.type_str)
        if needed is not None and own != needed:
            return f"an output is {own}, but its type is {needed}"
    return ""


def _theirs(peer: Callable[..., Any], drawn: Drawn, got: list[Any]) -> list[Any] | None:
    """The results of a reference; of the node in a wider type if it does not compute this one."""
    for each in (drawn, *(_as_type(drawn, *wider) for wider in _WIDER)):
        if each is None:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return [_narrow(a, b) for a, b in zip(_run(peer, each), got, strict=True)]
            except Exception:  # it may raise any exception
                pass
    return None


def _as_type(drawn: Drawn, dtype: str, of: tuple[str, ...]) -> Drawn | None:
    """The node with inputs of these types in another type; None if there are none."""
    types = {each.dtype.name for each in drawn.inputs if isinstance(each, np.ndarray)}
    if drawn.is_of_types or not types & set(of):
        return None
    return replace(drawn, inputs=[_cast(each, dtype, of) for each in drawn.inputs])


def _cast(x: Any, dtype: str, of: tuple[str, ...]) -> Any:
    return x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype.name in of else x


def _narrow(x: Any, like: Any) -> Any:
    """A result in the type of ours, if ours is a narrower type of floating point."""
    if isinstance(x, list):
        return x
    x = np.asarray(x)
    both = [UNIT.get(each.dtype.name, 0) for each in (x, like) if isinstance(each, np.ndarray)]
    return x.astype(like.dtype) if len(both) == 2 and 0 < both[0] < both[1] else x


def difference(drawn: Drawn, got: list[Any], other: list[Any]) -> str:
    """How the results of two implementations differ more than they may; empty if they do not."""
    sizes = drawn.size if isinstance(drawn.size, list) else [drawn.size] * drawn.outputs
    kept = [each for i, each in enumerate(sizes[: drawn.outputs]) if i not in drawn.unused]
    for number, (a, b, size) in enumerate(zip(got, other, kept, strict=True)):
        if why := _differ(drawn, a, b, size):
            return f"output {number}: {why}"
    return ""


def _differ(drawn: Drawn, a: Any, b: Any, size: Any) -> str:
    if isinstance(a, list) or isinstance(b, list):
        if not (isinstance(a, list) and isinstance(b, list) and len(a) == len(b)):
            return "a list of another length"
        return next(
            filter(None, (_differ(drawn, x, y, size) for x, y in zip(a, b, strict=True))), ""
        )
    if a.shape != b.shape or (a.dtype.name in UNIT) != (b.dtype.name in UNIT):
        return f"{b.dtype}{list(b.shape)}, not {a.dtype}{list(a.shape)}"
    if a.dtype.name not in UNIT:  # the reference may return a wider integer
        return "" if np.array_equal(a, b) else _shown(a, b, a != b)
    x, y = a.astype("float64"), b.astype("float64")
    with np.errstate(all="ignore"):
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        close = np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= _bound(drawn, a, b, size))
    return "" if np.all(same | close) else _shown(a, b, ~(same | close))


def _bound(drawn: Drawn, a: Any, b: Any, size: Any) -> Any:
    """The largest difference of two right results."""
    if size is None:
        return 0.0
    own = np.maximum(magnitudes(a), magnitudes(b))
    amount = own + (size(own) if callable(size) else size)
    types = {each.dtype.name for each in drawn.inputs if isinstance(each, np.ndarray)}
    types |= {a.dtype.name, b.dtype.name, drawn.precision}
    unit = max(UNIT[each] for each in types if each in UNIT)
    return 2 * (drawn.terms + _FUNCTION_ULPS) * unit * amount + _LEAST[a.dtype.name]


def _shown(a: Any, b: Any, wrong: Any) -> str:
    """The first element that differs."""
    index = tuple(int(each) for each in np.argwhere(wrong)[0])
    return f"{b[index]}, not {a[index]} at {list(index)} of {list(a.shape)}"
