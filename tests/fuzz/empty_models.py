"""Small ONNX models with empty tensors, compared with onnxruntime.

A model is one of ONNX's tests of single nodes, in which an extent becomes 0 in inputs, constants
and attributes, with up to five nodes around it that make or read empty tensors.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnx_backend
from isolated import Worker
from onnx import helper, numpy_helper

Arrays = dict[str, np.ndarray]

# Operators whose values are drawn: only dtypes and shapes are compared.
RANDOM = re.compile("Random|Bernoulli|Multinomial|Dropout")
GOOD = {"equal", "documented", "refused", "refused alone", "onnxruntime refused"}
"""Outcomes that are right: differences that docs/onnx.md states, refusals in words."""
LABELED = ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
"""Operators whose lists of int64 are indices: onnxruntime reads beyond the tensor by wrong ones."""
TRUNCATED = re.compile("ReduceL2|ReduceLogSum|Cast|Quantize|QLinear|QGemm")
"""Operators that make integers of real numbers: an error of rounding may change these by one."""
MOST_ELEMENTS = 4096
"""Elements of an input or output: the interpreter takes long for more."""
SECONDS = 60
"""How long an implementation may take for a model; on two busy cores the longest takes 10."""
# Tests whose values onnxruntime does not give, also where no extent is 0.
CONTESTED = re.compile("_align_corners|_dft")


@dataclass
class Difference:
    """A difference from onnxruntime that docs/onnx.md states.

    Attributes
    ----------
    operator : str
        The outputs of its nodes, and outputs that are computed from them, may differ.
    holds : function
        Whether our values, and onnxruntime's, may differ as they do.
    """

    operator: str
    holds: Callable[[np.ndarray, np.ndarray], bool]


def of_nan(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the values differ where ours are NaN."""
    return bool((np.isnan(ours) | (ours == theirs)).all())


DOCUMENTED = [
    Difference("ReduceMean", of_nan),  # the mean of no elements is 0 in onnxruntime
    Difference("ArgMax", lambda *_: True),  # NaN is the first extreme here, none in onnxruntime
    Difference("ArgMin", lambda *_: True),
    Difference("Scan", lambda *_: True),  # final states of no steps are undefined in onnxruntime
    Difference("DynamicQuantizeLinear", lambda ours, theirs: bool((ours == 0).all())),
]


@dataclass
class Draft:
    """A model that is being changed, and the arrays of its inputs."""

    model: onnx.ModelProto
    arrays: Arrays
    choose: random.Random
    rtol: float = 0
    atol: float = 0
    used: int = 0
    before: list[onnx.NodeProto] = field(default_factory=list)

    @property
    def graph(self) -> onnx.GraphProto:
        return self.model.graph

    @property
    def version(self) -> int:
        return max(
            each.version for each in self.model.opset_import if each.domain in ("", "ai.onnx")
        )

    def name(self) -> str:
        self.used += 1
        return f"added{self.used}"

    def given(self, array: np.ndarray) -> str:
        """Return the name of a new input."""
        name = self.name()
        self.arrays[name] = array
        return name

    def constant(self, values: Any, dtype: str = "int64") -> str:
        """Return the name of a new initializer."""
        name = self.name()
        self.graph.initializer.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name


def drawn(count: int, seed: int) -> Iterator[Draft]:
    """Draw changed models."""
    choose = random.Random(seed)
    cases = [case for case in onnx_backend.cases_of(["node"]) if is_of_numbers(case)]
    for _ in range(count):
        case = choose.choice(cases)
        model = onnx.ModelProto()
        model.CopyFrom(onnx_backend.model_of(case))
        inputs, _ = next(iter(onnx_backend.data_sets(case)))
        names = [each.name for each in model.graph.input]
        arrays = dict(zip(names, inputs, strict=True))
        yield emptied(Draft(model, arrays, choose, case.rtol, case.atol))


def is_of_numbers(case: Any) -> bool:
    if not any(each.domain in ("", "ai.onnx") for each in case.model.opset_import):
        return False
    if CONTESTED.search(case.name):
        return False
    inputs, outputs = next(iter(onnx_backend.data_sets(case)))
    return len(inputs) == len(case.model.graph.input) and all(
        isinstance(each, np.ndarray) and each.dtype.kind in "fiub" and each.size <= MOST_ELEMENTS
        for each in (*inputs, *outputs)
    )


def empty_extent(draft: Draft) -> None:
    """Make an extent 0: of one input, or, more often, of all axes that have it."""
    sized = [
        (n, a) for n, x in draft.arrays.items() for a in range(x.ndim) if x.dtype.kind in "fiub"
    ]
    if not sized:
        return
    name, axis = draft.choose.choice(sized)
    extent = draft.arrays[name].shape[axis]
    everywhere = draft.choose.random() < 0.6
    for other, x in draft.arrays.items():
        index = [
            slice(0, 0)
            if (x.shape[a] == extent if everywhere else (other, a) == (name, axis))
            else slice(None)
            for a in range(x.ndim)
        ]
        if everywhere and is_sizes(x):
            draft.arrays[other] = np.where(x == extent, 0, x).astype(x.dtype)
        else:
            draft.arrays[other] = x[tuple(index)]


def is_sizes(x: np.ndarray) -> bool:
    return x.dtype == np.int64 and x.ndim <= 1 and x.size <= 8


def change_sizes(draft: Draft) -> None:
    """Change an input that may be a shape, axes, pads, repeats or bounds."""
    names = [name for name, x in draft.arrays.items() if is_sizes(x)]
    if not names or has_labels(draft):
        return
    name = draft.choose.choice(names)
    x = np.array(draft.arrays[name])
    if x.ndim == 1 and (x.size == 0 or draft.choose.random() < 0.3):
        draft.arrays[name] = x[:0]
        return
    x[draft.choose.randrange(x.size) if x.ndim else ()] = draft.choose.choice((0, 0, 0, -1, 1))
    draft.arrays[name] = x


def has_labels(draft: Draft) -> bool:
    return any(node.op_type in LABELED for node in draft.graph.node)


def change_attribute(draft: Draft) -> None:
    attributes = [
        each
        for node in draft.graph.node
        for each in node.attribute
        if each.ints or each.HasField("i")
    ]
    if not attributes or has_labels(draft):
        return
    attribute = draft.choose.choice(attributes)
    value = draft.choose.choice((0, 0, -1, 1))
    if attribute.type == onnx.AttributeProto.INT:
        attribute.i = max(value, 0)  # switches are 0 or 1; others take a negative number as true
    elif draft.choose.random() < 0.2:
        del attribute.ints[:]
    elif attribute.ints:
        attribute.ints[draft.choose.randrange(len(attribute.ints))] = value


def longer(x: np.ndarray, axis: int, before: int, after: int) -> np.ndarray:
    """The array between copies of its border, or of ones if it is empty."""
    shape = list(x.shape)
    parts = []
    for count in (before, after):
        shape[axis] = count
        parts.append(np.ones(shape, x.dtype))
    return np.concatenate([parts[0], x, parts[1]], axis)


def node_before(draft: Draft) -> None:
    """Let a node make one of the inputs from another input."""
    names = [name for name, x in draft.arrays.items() if x.ndim and x.dtype.kind in "fiub"]
    if not names or draft.version < 18:
        return
    name = draft.choose.choice(names)
    x = draft.arrays.pop(name)
    axis = draft.choose.randrange(x.ndim)
    extent = x.shape[axis]
    low, high = draft.choose.randrange(3), draft.choose.randrange(3)
    attributes: dict[str, Any] = {}
    outputs = [name]
    match draft.choose.choice(
        ("Concat", "Slice", "Split", "Reshape", "Transpose", "Pad", "Gather", "Compress")
    ):
        case "Concat" as op:
            cut = draft.choose.randrange(extent + 1)
            inputs = [draft.given(part) for part in np.split(x, [cut], axis)]
            attributes = {"axis": axis}
        case "Slice" as op:
            whole = longer(x, axis, low, high)
            bounds = [low, low + extent], 1
            if extent == 0 and draft.choose.random() < 0.5:
                bounds = [low, low + 1], -1
            inputs = [
                draft.given(whole),
                *(draft.constant([b]) for b in (*bounds[0], axis, bounds[1])),
            ]
        case "Split" as op:
            inputs = [draft.given(longer(x, axis, low, high)), draft.constant([low, extent, high])]
            outputs = [draft.name(), name, draft.name()]
            attributes = {"axis": axis}
        case "Reshape" as op:
            inputs = [draft.given(x.reshape(-1)), draft.constant(x.shape)]
            attributes = {"allowzero": 1}
        case "Transpose" as op:
            order = list(range(x.ndim))
            draft.choose.shuffle(order)
            inputs = [draft.given(np.transpose(x, np.argsort(order)))]
            attributes = {"perm": order}
        case "Pad" as op:
            pads = [0] * (2 * x.ndim)
            pads[axis], pads[x.ndim + axis] = -low, -high
            inputs = [draft.given(longer(x, axis, low, high)), draft.constant(pads)]
        case "Gather" as op:
            inputs = [
                draft.given(longer(x, axis, low, high)),
                draft.constant(range(low, low + extent)),
            ]
            attributes = {"axis": axis}
        case op:
            kept = [False] * low + [True] * extent + [False] * high
            inputs = [draft.given(longer(x, axis, low, high)), draft.constant(kept, "bool")]
            attributes = {"axis": axis}
    draft.before.append(helper.make_node(op, inputs, outputs, **attributes))


REDUCTIONS = (
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
    "ReduceLogSumExp ReduceSumSquare"
).split()


def node_after(draft: Draft) -> None:
    """Add a node that reads the last output."""
    if draft.version < 18:
        return
    choose, c = draft.choose, draft.constant
    last = draft.graph.output[-1].name
    axis = choose.choice((0, 0, -1))
    forms: list[tuple[str, list[str], dict[str, Any]]] = [
        ("Slice", [last, c([0]), c([0]), c([axis])], {}),
        ("Slice", [last, c([0]), c([9]), c([axis]), c([-1])], {}),
        ("Concat", [last, last], {"axis": axis}),
        ("Flatten", [last], {"axis": choose.choice((0, 1))}),
        ("Softmax", [last], {"axis": axis}),
        ("LogSoftmax", [last], {"axis": axis}),
        ("Shape", [last], {}),
        ("Size", [last], {}),
        ("Transpose", [last], {}),
        ("Gather", [last, c([[]]) if choose.random() < 0.7 else c([0])], {"axis": axis}),
        ("Unsqueeze", [last, c([axis])], {}),
        ("TopK", [last, c([choose.choice((0, 1))])], {"axis": axis}),
        ("CumSum", [last, c(axis)], {}),
        ("ArgMax", [last], {"axis": axis, "keepdims": choose.randrange(2)}),
        ("NonZero", [last], {}),
        ("Reshape", [last, c([-1])], {}),
        ("Reshape", [last, c([0, -1])], {}),
        ("Equal", [last, last], {}),
        ("Relu", [last], {}),
        ("Cast", [last], {"to": choose.choice((1, 7, 10, 11))}),
        ("Mul", [last, c(2, "float32")], {}),
        ("LayerNormalization", [last, c(1, "float32")], {"axis": axis}),
        ("Expand", [last, c([choose.choice((0, 1, 3))])], {}),
        *(
            (
                op,
                [last, c([axis])] if choose.random() < 0.7 else [last],
                {"keepdims": choose.randrange(2)},
            )
            for op in choose.sample(REDUCTIONS, 5)
        ),
    ]
    op, inputs, attributes = choose.choice(forms)
    outputs = [draft.name() for _ in range(2 if op == "TopK" else 1)]
    draft.graph.node.append(helper.make_node(op, inputs, outputs, **attributes))
    draft.graph.output.append(onnx.ValueInfoProto(name=outputs[-1]))


def drop_unused_constants(draft: Draft) -> None:
    read = {name for node in (*draft.before, *draft.graph.node) for name in node.input}
    kept = [each for each in draft.graph.initializer if each.name in read]
    del draft.graph.initializer[:]
    draft.graph.initializer.extend(kept)


def declare(draft: Draft) -> None:
    """Put the nodes, the inputs and their shapes into the model; other shapes are inferred."""
    graph = draft.graph
    nodes = [*reversed(draft.before), *graph.node]
    del graph.node[:], graph.input[:], graph.value_info[:]
    graph.node.extend(nodes)
    for each in graph.output:
        each.ClearField("type")
    for name, x in list(draft.arrays.items()):
        if draft.choose.random() < (0.7 if is_sizes(x) else 0.2):
            graph.initializer.append(numpy_helper.from_array(draft.arrays.pop(name), name))
            continue
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        graph.input.append(helper.make_tensor_value_info(name, kind, x.shape))


def emptied(draft: Draft) -> Draft:
    """Change extents to 0, and add nodes around the node."""
    choose = draft.choose
    changes = choose.choices(
        (empty_extent, change_sizes, change_attribute), (6, 2, 1), k=choose.choice((1, 1, 2))
    )
    for change in changes:
        change(draft)
    for _ in range(choose.choice((0, 0, 1, 2))):
        node_before(draft)
    for _ in range(choose.choice((0, 0, 1, 2, 3))):
        node_after(draft)
    drop_unused_constants(draft)
    declare(draft)
    return draft


def serve_onnxruntime(connection: Any) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4

    def answer(model: bytes, arrays: Arrays) -> tuple[str, Any]:
        try:
            session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
            return "ran", session.run(None, arrays)
        except Exception as error:
            return "refused", str(error)

    while (request := connection.recv()) is not None:
        connection.send(answer(*request))


def serve_texloom(connection: Any, device: str, memory: int) -> None:
    import resource
    import traceback
    import warnings

    import texloom
    from texloom.onnx.model import Model

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    warnings.simplefilter("ignore")

    def answer(model: bytes, arrays: Arrays) -> tuple[str, Any]:
        try:
            compiled = Model(onnx.ModelProto.FromString(model))
            return "ran", list(compiled.run(arrays, device).values())
        except texloom.TVMError as error:
            return "refused", str(error)
        except Exception:
            return "raised", traceback.format_exc()

    while (request := connection.recv()) is not None:
        connection.send(answer(*request))


def why_different(draft: Draft, ours: list[np.ndarray], theirs: list[np.ndarray]) -> str:
    """Return "" for equal results, "documented", or what differs."""
    documented = False
    for output, a, b in zip(draft.graph.output, ours, theirs, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        operators = made_by(draft.graph, output.name)
        if any(map(RANDOM.match, operators)):
            continue
        x, y = a.astype("float64"), b.astype("float64")
        rtol, atol = draft.rtol, draft.atol
        if a.dtype.kind in "iub":
            rtol, atol = 0, int(any(map(TRUNCATED.search, operators)))
        if np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            continue
        if not any(each.operator in operators and each.holds(x, y) for each in DOCUMENTED):
            return f"{output.name}: {x.ravel()[:8]}, expected {y.ravel()[:8]}"
        documented = True
    return "documented" if documented else ""


def made_by(graph: onnx.GraphProto, name: str) -> set[str]:
    """Return the operators of the nodes that a value is computed by, also in earlier steps."""
    makers = {output: node for node in graph.node for output in node.output}
    operators, names, seen = set(), [name], set()
    while names:
        node = makers.get(names.pop())
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        operators.add(node.op_type)
        names.extend(node.input)
    return operators


class Peers:
    """Texloom and onnxruntime, each in a process that is replaced if it ends or hangs."""

    def __init__(self, device: str, memory: int) -> None:
        self._ours = Worker(serve_texloom, (device, memory), SECONDS)
        self._theirs = Worker(serve_onnxruntime, (), SECONDS)

    def outcome(self, draft: Draft) -> tuple[str, str]:
        """Return what came of the model, and the reason."""
        request = draft.model.SerializeToString(), draft.arrays
        done, ours = self._ours.run(request)
        peer_done, theirs = self._theirs.run(request)
        if done not in ("ran", "refused"):
            return done, ours
        if done == "refused":
            return ("refused alone" if peer_done == "ran" else "refused"), ours
        if peer_done != "ran":
            return "onnxruntime refused", theirs
        why = why_different(draft, ours, theirs)
        return (why, "") if why == "documented" else ("different" if why else "equal", why)

    def stop(self) -> None:
        self._ours.stop()
        self._theirs.stop()
