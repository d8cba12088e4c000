"""The checker of texture plans accepts valid plans, and refuses wrong plans and proofs."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

import texloom_plan_check
from texloom_plan_check import CheckError, Verdict, check, proof
from texloom_plan_check.network import Tensor

STORED = sorted((Path(__file__).parents[3] / "benchmarks/planning/plans").glob("*.json"))

# Items 0 and 1 share an image, side by side. One operator reads item 1 and writes item 2, so item
# 2 has another image; item 3 needs an image of exactly its extent.
NETWORK = {
    "items": [
        {"id": 0, "first": 0, "last": 1, "height": 2, "width": 1, "slices": 2},
        {"id": 1, "first": 0, "last": 2, "height": 2, "width": 2, "channels": 4},
        {"id": 2, "first": 2, "last": 3, "height": 2, "width": 2, "slices": 1},
        {"id": 3, "first": 3, "last": 4, "height": 1, "width": 3, "slices": 1, "exact": True},
    ],
    "read_write_conflicts": [[1, 2]],
}
FORMAT = "rgba32float"
PLAN = {
    "images": [
        {"width": 4, "height": 2, "format": FORMAT},
        {"width": 2, "height": 2, "format": FORMAT},
        {"width": 3, "height": 1, "format": FORMAT},
    ],
    "placements": [
        {"id": 0, "image": 0, "x": 0, "y": 0, "fold": 2, "width": 2, "height": 2},
        {"id": 1, "image": 0, "x": 2, "y": 0, "fold": 1, "width": 2, "height": 2},
        {"id": 2, "image": 1, "x": 0, "y": 0, "fold": 1, "width": 2, "height": 2},
        {"id": 3, "image": 2, "x": 0, "y": 0, "fold": 1, "width": 3, "height": 1},
    ],
    "texels": 15,
    "lower_bound_texels": 8,
    "proof": {"parts": [{"kind": "live", "format": FORMAT, "texels": 8, "items": [0, 1]}]},
    "deterministic": True,
}

# A chain of items of 10, 1, 1 and 10 texels: every plan takes at least 12.
CHAIN = {
    "items": [
        {"id": k, "first": k, "last": k + 1, "height": 1, "width": width, "slices": 1}
        for k, width in enumerate((10, 1, 1, 10))
    ],
    "read_write_conflicts": [[0, 1], [1, 2], [2, 3]],
}
CHAIN_PLAN = {
    "images": [{"width": w, "height": 1, "format": FORMAT} for w in (10, 1, 1)],
    "placements": [
        {"id": k, "image": image, "x": 0, "y": 0, "fold": 1, "width": width, "height": 1}
        for k, (image, width) in enumerate([(0, 10), (1, 1), (2, 1), (0, 10)])
    ],
    "texels": 12,
    "lower_bound_texels": 12,
    "proof": {
        "parts": [{"kind": "partition", "format": FORMAT, "texels": 12, "items": [0, 1, 2, 3]}]
    },
    "deterministic": True,
}


def test_right_plans():
    assert check(NETWORK, PLAN) == Verdict(15, 8, "texels")
    assert check(CHAIN, CHAIN_PLAN) == Verdict(12, 12, "texels")


@pytest.mark.parametrize("file", STORED, ids=lambda file: file.stem)
def test_stored_plans(file):
    """The plans of the benchmark are right, and their bounds are proved."""
    network = json.loads((file.parents[1] / "networks" / file.name).read_text())
    verdict = check(network, json.loads(file.read_text()))
    assert verdict.lower_bound >= network["lower_bound_texels"]


def tampered(plan, path, value):
    """Return a copy of the plan with another value at a path of keys; None removes it."""
    plan = copy.deepcopy(plan)
    *way, last = path
    target = plan
    for key in way:
        target = target[key]
    if value is None:
        del target[last]
    else:
        target[last] = value
    return plan


@pytest.mark.parametrize(
    "path, value, message",
    [
        (["texels"], 14, "the images have 15 texels, not 14"),
        (["images", 0, "width"], 5, "the images have 17 texels, not 15"),
        (["images", 0, "width"], 20000, "image 0 of 20000 by 2 texels exceeds the limits"),
        (["images", 0, "width"], "4", "image 0: width is '4'"),
        (["images", 0, "format"], "rgba16float", "item 0 of format rgba32float lies in image 0"),
        (["placements", 1, "x"], 1, "items 0 and 1 overlap in image 0"),
        (["placements", 1, "x"], 3, "item 1 lies outside image 0"),
        (["placements", 1, "y"], -1, "item 1 lies outside image 0"),
        (
            ["placements", 1],
            PLAN["placements"][1] | {"image": 1, "x": 0},
            "items 1 and 2, which one operator reads and writes, share image 1",
        ),
        (["placements", 1, "image"], -1, "there is no image -1"),
        (["placements", 1, "image"], 3, "there is no image 3"),
        (["placements", 1, "x"], True, "item 1: x is True"),
        (["placements", 1, "x"], 2.0, "item 1: x is 2.0"),
        (["placements", 0, "fold"], 1, "item 0 folded by 1 does not have 2 by 2 texels"),
        (["placements", 0, "fold"], 3, "item 0 has no fold 3"),
        (["placements", 0, "fold"], 0, "item 0 has no fold 0"),
        (["placements", 0, "height"], 1, "does not have 2 by 1 texels"),
        (["placements", 0, "id"], 9, "a placement names item 9"),
        (["placements", 0, "id"], 1, "item 1 has no fold 2"),
        (["placements", 0], None, "item 0 is not placed"),
        (["placements", 3, "image"], 0, "item 3 must have an image of exactly its extent"),
        (["placements", 0, "x"], None, "malformed: KeyError: 'x'"),
        (["images"], None, "malformed: KeyError: 'images'"),
        (["images"], 7, "malformed: TypeError"),
        (["lower_bound_texels"], 9, "the proof shows 8, not 9"),
        (["proof", "parts", 0, "texels"], 9, "the proof's live items have 8 texels, not 9"),
        (["proof", "parts", 0, "items"], [0, 2], "not all live together"),
        (["proof", "parts", 0, "items"], [0, 0], "repeats an item"),
        (["proof", "parts", 0, "items"], [0, 9], "the proof names item 9"),
        (["proof", "parts", 0, "items"], [], "has none"),
        (["proof", "parts", 0, "format"], "rgba16float", "says that item 0 has another format"),
        (["proof", "parts", 0, "kind"], "belief", "no kind of proof 'belief'"),
        (["proof"], None, "malformed: KeyError: 'proof'"),
        (["order"], [0, 1, 2, 3], "the order does not list each operator once"),
    ],
)
def test_tampered_plans(path, value, message):
    with pytest.raises(CheckError) as error:
        check(NETWORK, tampered(PLAN, path, value))
    assert message in str(error.value)


@pytest.mark.parametrize(
    "item, changes, message",
    [
        (0, {"width": 0}, "the network's item 0 has no size or no lifetime"),
        (0, {"last": -1}, "the network's item 0 has no size or no lifetime"),
        (0, {"slices": 1.5}, "slices is 1.5"),
        (3, {"exact": False, "slices": 2**40}, "item 3 folded by 1 does not have"),
    ],
)
def test_wrong_networks(item, changes, message):
    network = copy.deepcopy(NETWORK)
    network["items"][item] |= changes
    with pytest.raises(CheckError) as error:
        check(network, PLAN)
    assert message in str(error.value)


def test_networks_of_too_many_operators():
    network = copy.deepcopy(NETWORK)
    network["items"][3]["last"] = 2**40
    assert check(network, PLAN).size == 15
    with pytest.raises(CheckError, match="without operators has times up to 1099511627776"):
        check(network, PLAN | {"order": [0]})


def test_smallest_of_many_folds():
    """Folds 5 and 6 of seven slices are left out: they take as many rows as fold 4."""
    tensor = Tensor(0, 0, 0, 1, 1, 7, FORMAT, False)
    assert list(tensor.narrow_folds(7)) == [1, 2, 3, 4, 7]
    assert list(tensor.narrow_folds(3)) == [1, 2, 3]


def test_item_placed_twice():
    plan = copy.deepcopy(PLAN)
    plan["placements"].append(plan["placements"][0])
    with pytest.raises(CheckError, match="item 0 is placed twice"):
        check(NETWORK, plan)


def test_bound_above_the_plan():
    """A proof is refused if it counts a part twice, so that its bound exceeds the plan."""
    plan = tampered(PLAN, ["proof", "parts"], PLAN["proof"]["parts"] * 2)
    with pytest.raises(CheckError, match="two parts of the proof have one format"):
        check(NETWORK, plan)


@pytest.mark.parametrize(
    "items, texels",
    [
        ([0, 1, 2, 3], 13),  # the plan's own partition has 12 texels
        ([0, 1, 3], 12),  # without item 2, items 0 and 3 share an image: 11
        ([0, 2, 3], 12),
        ([1, 2, 3], 12),
    ],
)
def test_tampered_partitions(items, texels):
    plan = tampered(CHAIN_PLAN, ["proof", "parts", 0, "items"], items)
    plan["proof"]["parts"][0]["texels"] = texels
    with pytest.raises(CheckError, match="some partition of the proof's items has less"):
        check(CHAIN, plan)


def test_proofs_use_pairs_of_the_network():
    """Without pairs, all items share an image of 11 texels."""
    network = CHAIN | {"read_write_conflicts": []}
    with pytest.raises(CheckError, match="some partition"):
        check(network, CHAIN_PLAN)


def test_proof_with_too_many_states(monkeypatch):
    monkeypatch.setattr(proof, "MAX_STATES", 1)
    with pytest.raises(CheckError, match="more than 1 states"):
        check(CHAIN, CHAIN_PLAN)


def ordered(order):
    """Return the plan of the chain with an order."""
    return CHAIN_PLAN | {"order": order}


def test_orders():
    """The chain has one valid order of operators; operator 4, which writes nothing, is last."""
    assert check(CHAIN, ordered([0, 1, 2, 3, 4])).lower_bound == 12
    with pytest.raises(CheckError, match="operator 2 runs before operator 1"):
        check(CHAIN, ordered([0, 2, 1, 3, 4]))
    with pytest.raises(CheckError, match="does not list each operator once"):
        check(CHAIN, ordered([0, 1, 2, 3, 3]))


def test_orders_change_lifetimes():
    """The lives of items 0 and 1 are disjoint only if operator 2 runs before operator 1."""
    network = {
        "items": [
            {"id": 0, "first": 0, "last": 2, "height": 1, "width": 1, "slices": 1},
            {"id": 1, "first": 1, "last": 3, "height": 1, "width": 1, "slices": 1},
        ],
        "operators": [
            {"inputs": [], "outputs": [0]},
            {"inputs": [], "outputs": [1]},
            {"inputs": [0], "outputs": []},
            {"inputs": [1], "outputs": [], "after": [2]},
        ],
    }
    plan = {
        "images": [{"width": 1, "height": 1, "format": FORMAT}],
        "placements": [
            {"id": k, "image": 0, "x": 0, "y": 0, "fold": 1, "width": 1, "height": 1}
            for k in (0, 1)
        ],
        "texels": 1,
        "lower_bound_texels": 1,
        "proof": {"parts": [{"kind": "live", "format": FORMAT, "texels": 1, "items": [0]}]},
        "deterministic": True,
    }
    assert check(network, plan | {"order": [0, 2, 1, 3]}).size == 1
    with pytest.raises(CheckError, match="overlap in image 0"):
        check(network, plan | {"order": [0, 1, 2, 3]})
    # Other orders keep the two items apart, so the proof may not assume that they overlap.
    wrong = tampered(plan, ["proof", "parts", 0, "items"], [0, 1]) | {"order": [0, 2, 1, 3]}
    with pytest.raises(CheckError, match="not all live together"):
        check(network, wrong)


def test_exact_items_of_other_extents_are_apart():
    """Exact items of 4 and 6 texels need 10, even with disjoint lives."""
    network = {
        "items": [
            {"id": 0, "first": 0, "last": 0, "height": 2, "width": 2, "slices": 1, "exact": True},
            {"id": 1, "first": 1, "last": 1, "height": 2, "width": 3, "slices": 1, "exact": True},
        ]
    }
    plan = {
        "images": [{"width": w, "height": 2, "format": FORMAT} for w in (2, 3)],
        "placements": [
            {"id": k, "image": k, "x": 0, "y": 0, "fold": 1, "width": k + 2, "height": 2}
            for k in (0, 1)
        ],
        "texels": 10,
        "lower_bound_texels": 10,
        "proof": {
            "parts": [{"kind": "partition", "format": FORMAT, "texels": 10, "items": [0, 1]}]
        },
        "deterministic": True,
    }
    assert check(network, plan).lower_bound == 10
    network["items"][0]["exact_cost"] = 1  # the item may now share the other image
    with pytest.raises(CheckError, match="some partition"):
        check(network, plan)


def test_runs_by_itself(tmp_path):
    """The checker runs without Texloom, on Python alone."""
    for name, data in {
        "net": CHAIN,
        "plan": CHAIN_PLAN,
        "wrong": CHAIN_PLAN | {"texels": 1},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))

    def call(*names):
        command = [sys.executable, "-S", "-m", "texloom_plan_check", *names]
        environment = {"PYTHONPATH": str(Path(texloom_plan_check.__file__).parents[1])}
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True
        )

    right = call("net.json", "plan.json")
    assert right.stdout == "valid: 12 texels; no plan has under 12: optimal\n"
    assert right.returncode == 0
    wrong = call("net.json", "wrong.json")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == "texloom_plan_check: wrong.json: the images have 12 texels, not 1\n"
    assert call("net.json").returncode == 2
    assert call("net.json", "none.json").returncode == 1


# Two items of 1 by 3 texels: 48 bytes each, in rows padded to four texels.
VIEWS = {
    "items": [
        {"id": 0, "first": 0, "last": 1, "height": 1, "width": 3, "slices": 1},
        {"id": 1, "first": 1, "last": 2, "height": 1, "width": 3, "slices": 1},
    ],
    "row_pitch_alignment": 4,
    "base_alignment": 2,
}
VIEWS_PLAN = {
    "arenas": [{"bytes": 128}],
    "placements": [
        {
            "id": k,
            "arena": 0,
            "offset": 64 * k,
            "row_pitch": 4,
            "fold": 1,
            "width": 3,
            "height": 1,
        }
        for k in (0, 1)
    ],
    "bytes": 128,
    "lower_bound_bytes": 128,
    "proof": {"parts": [{"kind": "live", "bytes": 128, "items": [0, 1]}]},
    "deterministic": True,
}


def test_right_views():
    assert check(VIEWS, VIEWS_PLAN) == Verdict(128, 128, "bytes")


@pytest.mark.parametrize(
    "path, value, message",
    [
        (["bytes"], 127, "the arenas have 128 bytes, not 127"),
        (["placements", 1, "offset"], 32, "items 0 and 1 overlap in arena 0"),
        (["placements", 1, "offset"], 48, "an offset of 48 is not aligned"),
        (["placements", 1, "offset"], 96, "item 1 lies outside arena 0"),
        (["placements", 1, "offset"], -32, "an offset of -32 is not aligned"),
        (["placements", 1, "row_pitch"], 3, "rows of 3 texels have a pitch of 4"),
        (["placements", 1, "arena"], 1, "there is no arena 1"),
        (["placements", 1, "width"], 4, "does not have 4 by 1 texels"),
        (["proof", "parts", 0, "bytes"], 129, "live items have 128 bytes, not 129"),
        (["lower_bound_bytes"], 129, "the proof shows 128, not 129"),
    ],
)
def test_tampered_views(path, value, message):
    with pytest.raises(CheckError) as error:
        check(VIEWS, tampered(VIEWS_PLAN, path, value))
    assert message in str(error.value)


def test_views_that_one_operator_reads_and_writes():
    network = VIEWS | {"read_write_conflicts": [[0, 1]]}
    with pytest.raises(CheckError, match="share arena 0"):
        check(network, VIEWS_PLAN)
    assert check(network | {"one_arena": True}, VIEWS_PLAN).lower_bound == 128


def test_views_of_exact_items_are_not_folded():
    """Two slices fold into one row of four texels, except for an exact item."""
    network = {
        "items": [{"id": 0, "first": 0, "last": 0, "height": 1, "width": 1, "slices": 2}],
        "row_pitch_alignment": 4,
        "base_alignment": 4,
    }
    place = {"id": 0, "arena": 0, "offset": 0, "row_pitch": 4, "fold": 2, "width": 2, "height": 1}
    plan = VIEWS_PLAN | {
        "arenas": [{"bytes": 64}],
        "placements": [place],
        "bytes": 64,
        "lower_bound_bytes": 64,
        "proof": {"parts": [{"kind": "live", "bytes": 64, "items": [0]}]},
    }
    assert check(network, plan).size == 64
    network["items"][0]["exact"] = True
    with pytest.raises(CheckError, match="item 0 must not be folded"):
        check(network, plan)
