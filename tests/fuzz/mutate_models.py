"""Compiles randomly changed ONNX models: each compiles or is refused with a diagnostic.

    python tests/fuzz/mutate_models.py [COUNT] [SEED] [network|nodes|empties] [DEVICE]

The model is a small network, or a model drawn from ONNX's tests of single nodes. Half of the
changes alter bytes, half alter parts: attributes, names, shapes, types, constants. The process is
limited to 6 GiB, so that it fails if it allocates a huge size that a file only declares. Prints the
number of models for each outcome; exits with 1 for an exception that is not a diagnostic.

With `empties`, extents of tests of nodes become 0, up to five nodes are added, and the models run
on DEVICE and in onnxruntime (empty_models.py). A different result, a crash and a hang also fail.
"""

from __future__ import annotations

import collections
import random
import resource
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import texloom
from texloom.onnx.converters import supported
from texloom.onnx.files import read_model
from texloom.onnx.model import Model

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import empty_models
import onnx_backend

MEMORY = 6 << 30
NUMBERS = (0, -1, 1, 2, 3, 7, 2**31, 2**33, 2**40, 2**62, -(2**63))


def seed_model() -> onnx.ModelProto:
    """A small network whose nodes have attributes, constants, and shapes among their inputs."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], kernel_shape=[1, 2], pads=[0, 0, 0, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Concat", ["p", "p"], ["k"], axis=1),
        helper.make_node("Reshape", ["k", "s"], ["f"]),
        helper.make_node("Gather", ["f", "i"], ["g"], axis=1),
        helper.make_node("Softmax", ["g"], ["t"], axis=-1),
        helper.make_node("Transpose", ["t"], ["y"], perm=[1, 0]),
    ]
    weights = np.arange(12, dtype="float32").reshape(2, 3, 1, 2)
    constants = {"w": weights, "s": np.array([1, -1]), "i": np.array([0, 2, 1, 3])}
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 1])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def change_bytes(content: bytearray, choose: random.Random) -> None:
    place = choose.randrange(len(content))
    match choose.randrange(4):
        case 0:
            content[place] = choose.randrange(256)
        case 1:
            content[place] ^= 1 << choose.randrange(8)
        case 2:
            del content[place : place + choose.randrange(1, 4)]
        case 3:
            content.insert(place, choose.randrange(256))


def change_attribute(node: onnx.NodeProto, choose: random.Random) -> None:
    if not node.attribute:
        return
    attribute = choose.choice(node.attribute)
    if not attribute.ints:
        attribute.i = choose.choice(NUMBERS)
    elif choose.random() < 0.5:
        attribute.ints[choose.randrange(len(attribute.ints))] = choose.choice(NUMBERS)
    elif choose.random() < 0.5:
        attribute.ints.append(choose.choice(NUMBERS))
    else:
        del attribute.ints[-1:]


def change_inputs(node: onnx.NodeProto, graph: onnx.GraphProto, choose: random.Random) -> None:
    names = [name for each in graph.node for name in (*each.input, *each.output)]
    name = choose.choice([*names, "nothing", ""])
    if choose.random() < 0.5 and node.input:
        node.input[choose.randrange(len(node.input))] = name
    elif choose.random() < 0.5:
        node.input.append(name)
    else:
        del node.input[-1:]


def change_constant(tensor: onnx.TensorProto, choose: random.Random) -> None:
    match choose.randrange(3):
        case 0:
            tensor.data_type = choose.randrange(24)
        case 1 if tensor.dims:
            tensor.dims[choose.randrange(len(tensor.dims))] = choose.choice(NUMBERS)
        case _ if tensor.name != "w":
            numbers = [choose.choice(NUMBERS) for _ in range(choose.randrange(4))]
            tensor.CopyFrom(numpy_helper.from_array(np.array(numbers, "int64"), tensor.name))


def change_part(model: onnx.ModelProto, choose: random.Random) -> None:
    graph = model.graph
    node = choose.choice(graph.node)
    match choose.randrange(6):
        case 0:
            change_attribute(node, choose)
        case 1:
            node.op_type = choose.choice(supported())[1]
        case 2:
            change_inputs(node, graph, choose)
        case 3 if graph.initializer:
            change_constant(choose.choice(graph.initializer), choose)
        case 4 if graph.input and graph.input[0].type.tensor_type.shape.dim:
            shape = graph.input[0].type.tensor_type.shape
            choose.choice(shape.dim).dim_value = choose.choice(NUMBERS)
        case 5 if graph.input:
            graph.input[0].type.tensor_type.elem_type = choose.randrange(24)


def mutated(model: onnx.ModelProto, choose: random.Random) -> bytes:
    if choose.random() < 0.5:
        content = bytearray(model.SerializeToString())
        for _ in range(choose.choice((1, 1, 2, 4))):
            change_bytes(content, choose)
        return bytes(content)
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for _ in range(choose.choice((1, 1, 2, 3))):
        change_part(changed, choose)
    return changed.SerializeToString()


def outcome(content: bytes, file: str) -> str:
    with open(file, "wb") as out:
        out.write(content)
    try:
        Model(read_model(file))
    except texloom.TVMError as error:
        return f"refused, {error.code}"
    except MemoryError:
        return "refused, no memory"
    return "compiled"


def bases_of(kind: str) -> list[Callable[[], onnx.ModelProto]]:
    if kind == "network":
        return [seed_model]
    from onnx.backend.test.loader import load_model_tests

    cases = load_model_tests(kind="node")
    return [partial(onnx_backend.model_of, each) for each in cases]


def main(count: int, seed: int, kind: str, file: str) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")  # NumPy warns about meaningless values
    choose = random.Random(seed)
    bases = bases_of(kind)
    outcomes: collections.Counter[str] = collections.Counter()
    for number in range(count):
        content = mutated(choose.choice(bases)(), choose)
        try:
            outcomes[outcome(content, file)] += 1
        except Exception:
            outcomes["raised"] += 1
            print(f"model {number} of the seed {seed}:", file=sys.stderr)
            traceback.print_exc()
    print(dict(outcomes))
    return int(outcomes["raised"] > 0)


def run_empties(count: int, seed: int, device: str) -> int:
    outcomes: collections.Counter[str] = collections.Counter()
    peers = empty_models.Peers(device, MEMORY)
    for number, draft in enumerate(empty_models.drawn(count, seed)):
        what, why = peers.outcome(draft)
        outcomes[what] += 1
        if what not in empty_models.GOOD:
            text = onnx.printer.to_text(draft.model)
            print(f"model {number} of the seed {seed}: {what}: {why}\n{text}", file=sys.stderr)
    peers.stop()
    print(dict(outcomes))
    return int(not outcomes.keys() <= empty_models.GOOD)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        given = sys.argv[1:] + ["1000", "0", "network", "host:0"][len(sys.argv) - 1 :]
        count, seed, kind, device = int(given[0]), int(given[1]), *given[2:]
        if kind == "empties":
            sys.exit(run_empties(count, seed, device))
        sys.exit(main(count, seed, kind, f"{folder}/mutated.onnx"))
