"""Graphs: storages by cost, conversions, concatenations in place, and equal results."""

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.examples import mixed_storage
from texloom.examples.packing import pack_nchw4c
from texloom.examples.reference import conv2d_reference
from texloom.examples.texel_schedules import spread
from texloom.graph import CostModel, Graph, load

TEXTURES = {"texture": ("texture",) * 2}
BUFFERS = {"global": ("global",) * 2}


def doubled(x):
    return te.compute(x.shape, lambda *i: x[i] * 2.0, name="doubled")


def plus_one(x):
    return te.compute(x.shape, lambda *i: x[i] + 1.0, name="plus_one")


def added(a, b):
    return te.compute(a.shape, lambda *i: a[i] + b[i])


def elementwise(outputs, _inputs, _scopes, _target):
    s = te.create_schedule(outputs[0].op)
    spread(s, outputs[0])
    return s


def counted(shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


class IntegerNetwork(mixed_storage.Network):
    """The network with few weights of -1 and 1, so that all sums are exact."""

    def draw(self, shape):
        return self._random.integers(-1, 2, shape) * (self._random.random(shape) < 0.08)


def expected(network, pixels):
    """The network's output in float64, and the largest sum of magnitudes in it."""

    def convolve(name, data, magnitude):
        weight = network.weights[name]
        return conv2d_reference(data, weight), conv2d_reference(magnitude, np.abs(weight))

    x = np.concatenate([pixels, np.zeros_like(pixels[:, :1])], axis=1)
    conv1, most1 = convolve("conv1", x, np.abs(x))
    conv2, most2 = convolve("conv2", conv1, most1)
    residual, most = np.maximum(conv1 + conv2, 0), most1 + most2
    parts = [convolve(name, residual, most) for name in ("conv3", "conv4")]
    joined, most = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    output, most = convolve("conv5", joined, most)
    return output, most.max()


@pytest.mark.nightly
def test_network_computes_the_same_in_textures_buffers_and_both(dev):
    pixels = np.random.default_rng(3).integers(0, 4, (1, 3, 19, 26)).astype("float32")
    network = IntegerNetwork(19, 26)
    mixed = IntegerNetwork(19, 26, mixed_storage.MIXED_COSTS)
    output, largest = expected(network, pixels)
    assert largest < 2**24  # float32 is exact
    assert np.ptp(output) > 10
    graphs = {
        "texture": network.graph.compile(scopes="texture"),
        "global": network.graph.compile(scopes="global"),
        "mixed": mixed.graph.compile(),
    }
    for name, graph in graphs.items():
        for _ in range(3):  # the second run is recorded, the third submitted again
            got = graph.run({"x": pack_nchw4c(pixels)}, dev)["conv5"]
            np.testing.assert_array_equal(got, pack_nchw4c(output), err_msg=name)
    chosen = {name: set(graph.summary["nodes"].values()) for name, graph in graphs.items()}
    assert chosen == {
        "texture": {"texture", "in place"},
        "global": {"global", "copy"},  # a part has 31,616 bytes, no multiple of 512
        "mixed": {"texture", "global", "in place"},
    }
    assert graphs["mixed"].summary["conversions"] == [("joined", "texture", "global")]
    assert not graphs["texture"].summary["conversions"]


def test_network_on_a_picture(capsys):
    assert mixed_storage.main(["--size", "24", "--repeat", "1"]) == 0
    printed = capsys.readouterr().out
    assert "equal outputs: yes" in printed
    assert "convert joined: texture -> global" in printed
    assert "node joined: in place" in printed


@pytest.mark.parametrize(("shape", "axis"), [((1, 2, 3, 5, 4), 1), ((2, 2, 3, 5, 4), 1)])
@pytest.mark.parametrize("scopes", [TEXTURES, BUFFERS])
def test_concatenation(dev, scopes, shape, axis):
    """Parts are in place if they are rectangles; channels of a batch of two pictures are not."""
    g = Graph()
    x = g.input("x", shape)
    a = g.node("a", doubled, [x], elementwise, scopes)
    b = g.node("b", plus_one, [x], elementwise, scopes)
    g.output(g.node("y", plus_one, [g.concat("c", [a, b], axis)], elementwise, scopes))
    graph = g.compile()
    in_place = shape[0] == 1 and scopes is TEXTURES  # no buffer may begin at byte 480
    assert graph.summary["nodes"]["c"] == ("in place" if in_place else "copy")
    values = counted(shape)
    got = graph.run({"x": values}, dev)["y"]
    np.testing.assert_array_equal(got, np.concatenate([values * 2, values + 1], axis) + 1)


@pytest.mark.parametrize("scope", ["texture", "texture:weight", "texture:nhwc", "global"])
@pytest.mark.parametrize("shape", [(3, 5, 4), (2, 3, 5, 7), (6,), (2, 3, 2, 8)])
def test_conversions(dev, scope, shape):
    """Each storage is converted to each other one, and back to a row-major array."""
    scopes = ["texture", "texture:weight", "texture:nhwc", "global"]
    g = Graph()
    x = g.input("x", shape)
    first = g.node("first", plus_one, [x], elementwise_any, {"only": ("global", scope)})
    for other in scopes:
        given = {"only": (other, "global")}
        g.output(g.node(f"to {other}", doubled, [first], elementwise_any, given))
    values = counted(shape)
    for got in g.compile().run({"x": values}, dev).values():
        np.testing.assert_array_equal(got, (values + 1) * 2)


def elementwise_any(outputs, _inputs, scopes, _target):
    """Schedule any shape: a thread for each group of four of the last axis."""
    s = te.create_schedule(outputs[0].op)
    stage = s[outputs[0]]
    *axes, last = stage.op.axis
    groups, lanes = stage.split(last, factor=4)
    block, thread = stage.split(stage.fuse(*axes, groups), factor=32)
    stage.bind(block, te.thread_axis("blockIdx.x"))
    stage.bind(thread, te.thread_axis("threadIdx.x"))
    if scopes[-1] != "global":
        stage.vectorize(lanes)
    return s


def test_folds_save_memory(dev):
    """A tall and a wide tensor share an image, if the tall one is folded."""
    shape = (1, 8, 2, 8, 4)
    g = Graph()
    tensor = g.input("x", shape)
    for i in range(3):
        tensor = g.node(f"n{i}", plus_one, [tensor], elementwise, TEXTURES)
    wide = g.node("wide", widened, [tensor], elementwise, TEXTURES)
    g.output(g.node("y", plus_one, [wide], elementwise, TEXTURES))
    values = counted(shape)
    folded = g.compile()
    np.testing.assert_array_equal(folded.run({"x": values}, dev)["y"], wide_values(values + 3) + 1)
    assert folded.summary["folds"]
    assert folded.summary["cost"] <= 1.02 * sum(unfolded_costs(g))


def widened(x):
    """The tensor with its planes side by side; plane p begins at column p * width."""
    _, planes, height, width, lanes = (int(n) for n in x.shape)
    return te.compute(
        (1, 1, height, planes * width, lanes),
        lambda n, _, i, j, c: x[n, j // width, i, j % width, c],
        name="widened",
    )


def wide_values(x):
    return x.transpose(0, 2, 1, 3, 4).reshape(1, 1, x.shape[2], -1, 4)


def unfolded_costs(g):
    """Return the model's costs of the nodes of a graph in which each node has one alternative."""
    model = CostModel()
    return [
        model.start_ns
        + sum(4 * np.prod(t.shape) for t in (tensor, tensor)) / model.bytes_per_ns
        + np.prod(tensor.shape) / model.operations_per_ns
        for tensor in g._declared.tensors.values()
        if tensor.name != "x"
    ]


def test_package_is_saved(dev, tmp_path):
    g = Graph("saved")
    x = g.input("x", (4, 4))
    w = g.constant("w", counted((4, 4)))
    g.output(g.node("y", added, [x, w], elementwise, {"texture": ("texture",) * 3}))
    file = tmp_path / "saved.tlp"
    g.compile().save(file)
    assert file.stat().st_size > counted((4, 4)).nbytes
    loaded = load(file)
    assert [(t.name, t.shape, t.dtype) for t in loaded.inputs] == [("x", (4, 4), "float32")]
    for device in (dev, texloom.device("host")):
        got = loaded.run({"x": counted((4, 4))}, device)
        np.testing.assert_array_equal(got["y"], 2 * counted((4, 4)))
    with pytest.raises(texloom.TVMError, match="no graph 'other'") as error:
        load(file, name="other")
    assert "name one of its graphs: saved" in str(error.value)
    with pytest.raises(texloom.TVMError, match="TL5012"):
        load(__file__)
    with pytest.raises(texloom.TVMError, match="is not a compiled function") as error:
        texloom.runtime.load_module(file)
    assert "texloom.graph.load(file)" in error.value.diagnostics[0].help


def test_stored_function_is_a_graph(dev, tmp_path):
    x = te.placeholder((4, 4), name="X")
    y = plus_one(x)
    built = texloom.build(elementwise([y], None, None, None), [x, y])
    built.export_library(tmp_path / "f.tlp")
    graph = load(tmp_path / "f.tlp")
    [result] = graph.run({graph.inputs[0].name: counted((4, 4))}, dev).values()
    np.testing.assert_array_equal(result, counted((4, 4)) + 1)


def test_text_names_each_schedule_once():
    network = mixed_storage.Network(8, 8).graph
    text = network.text("opencl")
    assert text.startswith('program picture stage=graph target="opencl"')
    assert "concatenate joined" in text
    # Five convolutions, of which three have the same shapes; one sum; in two storages each.
    assert text.count("stage=te") == 2 * (3 + 1)


def test_an_error_in_a_schedule_function_names_the_node():
    def schedule(outputs, *_):
        s = te.create_schedule(outputs[0].op)
        s[outputs[0]].split(outputs[0].op.axis[0], factor=0)

    g = Graph()
    g.output(g.node("first", plus_one, [g.input("x", (4, 4))], schedule, BUFFERS))
    with pytest.raises(texloom.TVMError, match="factor = 0") as error:
        g.compile()
    note = "the schedule function of the node 'first' for the scopes ('global', 'global')"
    [diagnostic] = error.value.diagnostics
    assert diagnostic.notes == [f"in {note}"]
    assert f"\n  note: in {note}\n  help: " in str(error.value) == diagnostic.text


def test_time_before_a_run():
    g = Graph()
    g.output(g.node("y", plus_one, [g.input("x", (4, 4))], elementwise, BUFFERS))
    graph = g.compile()
    with pytest.raises(texloom.TVMError, match="has not run on this device") as error:
        graph.time(device="host")
    assert "call run(inputs, device) once" in error.value.diagnostics[0].help
    graph.run({"x": counted((4, 4))}, "host")
    assert graph.time(device="host") > 0
    with pytest.raises(texloom.TVMError, match="TL2040.*times is -1"):
        graph.time(-1, "host")


def test_summary_has_no_wrong_plurals():
    g = Graph()
    g.output(g.node("y", plus_one, [g.input("x", (4, 4))], elementwise, BUFFERS))
    assert "kernels: 1 call site of 1 signature\n" in str(g.compile())


def test_tensors_of_rank_0(dev, tmp_path):
    """Inputs, constants, temporaries and outputs are single elements, also in a package."""
    g = Graph("single")
    x, v = g.input("x", ()), g.input("v", (5,))
    three = g.constant("three", np.float32(3))
    (scaled,) = g.op("scaled", "Mul", lambda a, b: te.compute((), lambda: a() * b()), [x, three])

    def total(a):
        k = te.reduce_axis((0, 5), name="k")
        return te.compute((), lambda: te.sum(a[k], axis=k))

    (summed,) = g.op("summed", "ReduceSum", total, [v])
    (y,) = g.op("y", "Add", lambda a, b: te.compute((), lambda: a() + b()), [scaled, summed])
    g.output(y)
    compiled = g.compile()
    compiled.save(tmp_path / "single.tlp")
    for graph in (compiled, load(tmp_path / "single.tlp")):
        got = graph.run({"x": np.float32(2), "v": counted(5)}, dev)["y"]
        assert got.shape == ()
        assert got == 16


@pytest.mark.parametrize(
    ("inputs", "code", "message"),
    [
        ({}, "TL5016", "'x' is missing"),
        ({"x": np.zeros((4, 4), "float32"), "y": 1}, "TL5016", "no input 'y'"),
        ({"x": np.zeros((4, 4))}, "TL5002", "float32, but the array is float64"),
        ({"x": np.zeros((4, 5), "float32")}, "TL5003", "(4, 4), but the array has (4, 5)"),
    ],
)
def test_wrong_inputs(inputs, code, message):
    g = Graph()
    x = g.input("x", (4, 4))
    g.output(g.node("y", plus_one, [x], elementwise, BUFFERS))
    with pytest.raises(texloom.TVMError) as error:
        g.compile().run(inputs)
    assert error.value.code == code
    assert message in str(error.value)


def test_outputs_of_one_computation_are_not_folded(dev):
    """Outputs of one computation share a layout, so none of them is folded alone."""
    g = Graph()
    x = g.input("x", (2, 3, 5, 4))
    given = {
        "only": ("global", "texture", "texture"),
        "other": ("global", "texture:weight", "texture:weight"),
    }

    def two(a):
        return te.compute(a.shape, lambda *i: (a[i] + 1.0, a[i] * 2.0), name="two")

    parts = g.node("n", two, [x], elementwise, given, costs={"only": 1.0})
    g.output(g.node("z", plus_one, [parts[1]], elementwise, {"w": ("texture:weight", "global")}))
    values = counted((2, 3, 5, 4))
    np.testing.assert_array_equal(g.compile().run({"x": values}, dev)["z"], 2 * values + 1)


def test_constants_of_other_byte_orders(dev):
    g = Graph()
    x = g.input("x", (4, 4))
    w = g.constant("w", counted((4, 4)).astype(">f4"))
    g.output(g.node("y", added, [x, w], elementwise, {"global": ("global",) * 3}))
    got = g.compile().run({"x": np.zeros((4, 4), "float32")}, dev)["y"]
    np.testing.assert_array_equal(got, counted((4, 4)))


def test_refused_node_leaves_its_graph_as_it_was(dev):
    g = Graph()
    x = g.input("x", (4, 4))
    g.input("y.1", (4, 4))

    def two(a):
        return te.compute(a.shape, lambda *i: (a[i] + 1.0, a[i] * 2.0), name="two")

    with pytest.raises(texloom.TVMError, match=r"called 'y\.1'"):
        g.node("y", two, [x], elementwise, {"global": ("global",) * 3})
    g.output(g.node("y", plus_one, [x], elementwise, BUFFERS))
    values = counted((4, 4))
    got = g.compile().run({"x": values, "y.1": values}, dev)["y"]
    np.testing.assert_array_equal(got, values + 1)


@pytest.mark.parametrize(
    "model", [(-1, 1, 1), (0, 0, 1), (0, 1, float("nan")), (float("inf"), 1, 1), (0, "1", 1)]
)
def test_cost_models_have_positive_rates(model):
    with pytest.raises(texloom.TVMError, match="the cost model's"):
        CostModel(*model)


def test_tensors_that_no_memory_holds():
    with pytest.raises(texloom.TVMError, match="elements"):
        Graph().input("x", (2**30, 2**30))


def test_outputs_have_names_of_their_own(tmp_path):
    """Callers of the graph or its package use the output's name; nodes use the tensor's."""
    g = Graph("named")
    x = g.input("x", (4,))
    (a,) = g.op("a", "one", plus_one, [x])
    (b,) = g.op("b", "one", plus_one, [a])
    assert g.output(a, "first/y:0") is a
    g.output(b)
    compiled = g.compile()
    compiled.save(tmp_path / "named.tlp")
    for graph in (compiled, load(tmp_path / "named.tlp")):
        assert [each.name for each in graph.outputs] == ["first/y:0", "b"]
        made = graph.run({"x": np.zeros(4, "float32")})
        assert made["first/y:0"].tolist() == [1] * 4 and made["b"].tolist() == [2] * 4


def test_a_node_that_is_refused_leaves_nothing():
    """A refused node leaves neither tensors nor conditions on sizes in the graph."""

    def halves(x):
        shape = (x.shape[0] // 2,)
        return [te.compute(shape, lambda i: x[i] + 1.0), te.compute(shape, lambda i: x[i] * 2.0)]

    g = Graph("atomic")
    x = g.input("x", ("n",))
    (a,) = g.op("a", "one", plus_one, [x])
    g.output(a, "pair.1")
    with pytest.raises(texloom.TVMError, match=r"two tensors are called 'pair\.1'"):
        g.op("pair", "halves", halves, [x])
    first, second = g.op("other", "halves", halves, [x])
    g.input("pair.0", (2,))
    with pytest.raises(texloom.TVMError, match="two nodes are called 'a'"):
        g.concat("a", [first, second], 0)


def test_names_of_outputs_are_unique():
    g = Graph("named")
    x = g.input("x", (4,))
    (a,) = g.op("a", "one", plus_one, [x])
    (b,) = g.op("b", "one", plus_one, [a])
    for name in ("x", "b"):
        with pytest.raises(texloom.TVMError, match=f"TL3040.*two tensors are called '{name}'"):
            g.output(a, name)
    g.output(a, "y")
    with pytest.raises(texloom.TVMError, match="TL3040.*two tensors are called 'y'"):
        g.output(b, "y")
    with pytest.raises(texloom.TVMError, match="TL3040.*two tensors are called 'y'"):
        g.op("y", "one", plus_one, [b])
    with pytest.raises(texloom.TVMError, match="TL2040.*the name of the output is ''"):
        g.output(b, "")
