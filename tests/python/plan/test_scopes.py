"""Networks whose tensors lie in textures and in buffers: plans, checks, pictures, refusals."""

import copy
import json
import random
import xml.etree.ElementTree as ElementTree

import pytest

from texloom.plan.__main__ import main
from texloom.plan.network import NetworkError, network_of, with_operators
from texloom.plan.textures import MODES, plan_network
from texloom_plan_check import CheckError, check


def buffer(key, first, last, size, **more):
    """Return an item in a buffer."""
    return {"id": key, "first": first, "last": last, "scope": "global", "size": size, **more}


def texture(key, first, last, width):
    """Return an item in a texture of one row."""
    return {"id": key, "first": first, "last": last, "height": 1, "width": width, "slices": 1}


def mixed():
    """Return a chain of four textures with five buffers beside it.

    At operator 0 and at operator 3, buffers of 192 bytes are live together.
    """
    return {
        "items": [
            texture(0, 0, 1, 10),
            buffer(1, 0, 1, 64),
            {"id": 2, "first": 0, "last": 2, "scope": "global"}
            | {"height": 2, "width": 4, "channels": 4, "dtype": "float32"},
            texture(3, 1, 2, 1),
            buffer(4, 2, 3, 32, alignment=32),
            buffer(5, 3, 3, 96),
            texture(6, 2, 3, 10),
            buffer(7, 3, 3, 64, alignment=64),
        ],
        "read_write_conflicts": [[0, 3], [3, 6], [1, 3], [1, 2]],
    }


@pytest.fixture
def run(tmp_path, capsys):
    """Return a function that plans a network and returns the exit status and both outputs."""

    def call(network, *options):
        file = tmp_path / "net.json"
        file.write_text(json.dumps(network))
        status = main([str(file), *options])
        return status, *capsys.readouterr()

    return call


def test_each_tensor_has_a_place(run):
    status, out, err = run(mixed(), "--json", "--effort", "1")
    plan = json.loads(out)
    assert (status, err) == (0, "")
    assert (plan["texels"], plan["buffers"], plan["buffer_bytes"]) == (11, [{"bytes": 192}], 192)
    assert plan["lower_bound_buffer_bytes"] == 192
    places = {place["id"]: place for place in plan["placements"]}
    assert list(places) == [item["id"] for item in mixed()["items"]]
    assert list(places[2]) == ["id", "buffer", "offset", "bytes"] and places[2]["bytes"] == 128
    assert places[4]["offset"] % 32 == 0 and places[7]["offset"] % 64 == 0
    checked = str(check(mixed(), plan)).splitlines()
    assert checked[1] == "buffers valid: 192 bytes; no plan has under 192: optimal"


def test_tables_and_pictures_show_buffers(run, tmp_path):
    status, out, _ = run(mixed(), "--effort", "1", "--svg", str(tmp_path / "plan.svg"))
    assert status == 0
    assert "192 bytes in a buffer, 5 tensors" in out
    assert "192 bytes at least, by the proof (the plan is optimal)" in out
    picture = (tmp_path / "plan.svg").read_text()
    ElementTree.fromstring(picture)
    assert "192 bytes in a buffer; no plan has fewer than 192 (optimal)" in picture
    assert "buffer 0" in picture and "item 2: 128 bytes at" in picture


@pytest.mark.parametrize("mode", MODES)
def test_modes_of_textures_leave_buffers_alone(mode):
    data = mixed()
    plan = plan_network(network_of(data), mode=mode, effort=1)
    assert plan["buffer_bytes"] == 192
    assert check(data, plan).buffers.size == 192


def test_buffers_alone(run):
    data = {"items": [buffer(0, 0, 1, 10), buffer(1, 1, 2, 20), buffer(2, 2, 3, 10)]}
    plan = plan_network(network_of(data), effort=1)
    assert (plan["images"], plan["texels"], plan["buffer_bytes"]) == ([], 0, 30)
    assert str(check(data, plan)).endswith("valid: 30 bytes; no plan has under 30: optimal")
    assert run(data, "--svg", "/dev/null")[0] == 0


def test_operators_keep_the_order_of_buffers():
    """Only the buffer between the large textures fixes the order of the operators."""
    data = {
        "items": [
            texture(0, 0, 1, 100),
            buffer(1, 1, 2, 8),
            texture(2, 2, 3, 100),
        ],
        "operators": [
            {"inputs": [], "outputs": [0]},
            {"inputs": [0], "outputs": [1]},
            {"inputs": [1], "outputs": [2]},
            {"inputs": [2], "outputs": []},
        ],
    }
    plan = plan_network(network_of(data), effort=1, reorder=True)
    assert plan["order"] == [0, 1, 2, 3]
    assert plan["lower_bound_buffer_bytes"] == 8
    check(data, plan)
    broken = plan | {"order": [0, 2, 1, 3]}
    with pytest.raises(CheckError, match="operator 2 runs before operator 1"):
        check(data, broken)


def random_network(seed):
    """Return a network of random operators; each writes a tensor and reads some earlier ones."""
    rng = random.Random(seed)
    count = rng.randrange(2, 12)
    operators = [
        {"inputs": rng.sample(range(t), min(t, rng.randrange(3))), "outputs": [t]}
        for t in range(count)
    ]
    items = []
    for key in range(count):
        last = max([t for t, op in enumerate(operators) if key in op["inputs"]], default=key)
        if rng.random() < 0.5:
            more = {"alignment": rng.choice((1, 4, 16))} if rng.random() < 0.5 else {}
            items.append(buffer(key, key, last, rng.randrange(1, 100), **more))
        else:
            items.append(texture(key, key, last, rng.randrange(1, 20)))
    return {"items": items, "operators": operators}


@pytest.mark.parametrize("reorder", [False, True])
def test_random_plans_are_right(reorder):
    """The checker, which shares no code with the planner, accepts each plan."""
    optimal = 0
    for seed in range(60):
        data = random_network(seed)
        if seed % 3 == 0:
            data["read_write_conflicts"] = [
                [i, t] for t, op in enumerate(data["operators"]) for i in op["inputs"] if i != t
            ]
            del data["operators"]
        plan = plan_network(network_of(data), mode=MODES[seed % 2], effort=1, reorder=reorder)
        verdict = check(data, plan)
        if verdict.buffers is not None:
            optimal += verdict.buffers.size == verdict.buffers.lower_bound
    assert optimal >= 20


def tampered(path, value):
    """Return the plan of mixed() with another value at a path of keys."""
    plan = plan_network(network_of(mixed()), effort=1)
    target = copy.deepcopy(plan)
    place = target
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return target


def at(key):
    """Return the position of an item of mixed()."""
    return [item["id"] for item in mixed()["items"]].index(key)


@pytest.mark.parametrize(
    "path, value, message",
    [
        (["buffer_bytes"], 191, "the buffers have 192 bytes, not 191"),
        (["buffers", 0, "bytes"], 100, "lies outside buffer 0"),
        (["placements", at(2), "bytes"], 64, "item 2 has 128 bytes, not 64"),
        (["placements", at(4), "offset"], 8, "item 4: an offset of 8 is not aligned"),
        (["placements", at(4), "buffer"], 1, "item 4: there is no buffer 1"),
        (["placements", at(4), "id"], 2, "item 2"),
        (["placements", at(2)], None, "malformed"),
        (["lower_bound_buffer_bytes"], 193, "the proof shows 192 bytes in buffers, not 193"),
        (["proof", "parts", 1, "items"], [1, 2, 4], "not all live together"),
        (["proof", "parts", 1, "items"], [1, 2, 2], "repeats an item"),
        (["proof", "parts", 1, "items"], [0], "item 0, which is in no buffer"),
        (["proof", "parts", 1, "kind"], "search", "one proof by live bytes"),
    ],
)
def test_wrong_plans_are_refused(path, value, message):
    with pytest.raises(CheckError, match=message):
        check(mixed(), tampered(path, value))


def test_overlaps_and_missing_places_are_refused():
    plan = plan_network(network_of(mixed()), effort=1)
    places = {place["id"]: place for place in plan["placements"]}
    places[1]["offset"] = places[2]["offset"]
    with pytest.raises(CheckError, match="items 1 and 2 overlap in buffer 0"):
        check(mixed(), plan)
    plan["placements"].remove(places[1])
    with pytest.raises(CheckError, match="item 1 is not placed"):
        check(mixed(), plan)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"scope": "local"}, 'the scope is "local"'),
        ({"scope": 1}, "the scope is 1"),
        ({"size": 0}, "item 1 has 0 bytes"),
        ({"size": -4}, "item 1 has -4 bytes"),
        ({"size": 2**64}, "'size' is 18446744073709551616"),
        ({"size": 1.5}, "'size' is 1.5"),
        ({"size": 2**62}, "the buffers cannot be planned"),
        ({"alignment": 0}, "an alignment of 0"),
        ({"aligment": 4}, "did you mean 'alignment'"),
        ({"first": 3}, "item 1 lives from 3 to 1"),
        ({"first": -1}, "item 1 lives from -1 to 1"),
        ({"id": 0}, "two items have the id 0"),
        ({"id": 2}, "two items have the id 2"),
        ({"height": 2, "width": 2, "channels": 2}, "item 1 has 64 bytes, but its shape makes 32"),
        ({"height": 2, "width": 2, "channels": 4, "dtype": "q4"}, 'no elements of dtype "q4"'),
    ],
)
def test_refused_buffers(run, change, message):
    data = mixed()
    data["items"][1] |= change
    status, out, err = run(data, "--effort", "1")
    assert (status, out) == (1, "")
    assert message in err and "help: " in err


def test_a_buffer_needs_a_size(run):
    data = mixed()
    del data["items"][1]["size"]
    status, _, err = run(data)
    assert status == 1 and "item 1 has neither a 'size' nor a height, a width and channels" in err


@pytest.mark.parametrize(
    "pair, message", [([1, 1], "conflicts with itself"), ([1, 99], "names item 99")]
)
def test_refused_pairs(pair, message):
    data = mixed()
    data["read_write_conflicts"].append(pair)
    with pytest.raises(NetworkError, match=message):
        plan_network(network_of(data), effort=1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"inputs": [5], "outputs": [5]}, "item 5 is read before operator 4 has written it"),
        ({"inputs": [], "outputs": [7]}, "item 7 is written by the operators 3 and 4"),
        ({"inputs": [1], "outputs": []}, "operators use item 1 from 0 to 4, but it lives"),
    ],
)
def test_operators_that_contradict_buffers(change, message):
    network = with_operators(network_of(mixed()))
    network["operators"].append({"after": [], **change})
    if "read before" in message:
        network["operators"][3]["outputs"].remove(5)
    with pytest.raises(NetworkError, match=message):
        plan_network(network, effort=1)
