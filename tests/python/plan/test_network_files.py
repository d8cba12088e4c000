"""Network files: optional keys and accepted encodings."""

import json

from texloom.plan.network import load_json, network_of

_OPERATORS = [
    {"inputs": [], "outputs": [0]},
    {"inputs": [0], "outputs": [1]},
    {"inputs": [0, 1], "outputs": []},
]


def _items(**life):
    return [{"id": i, "height": 4, "width": 4, "slices": 1, **life} for i in range(2)]


def test_lives_follow_from_operators():
    items = network_of({"items": _items(), "operators": _OPERATORS})["items"]
    assert [(each["first"], each["last"]) for each in items] == [(0, 2), (1, 2)]


def test_a_life_that_is_given_is_kept():
    """A given live range is kept; the planner reports one that contradicts the operators."""
    items = network_of({"items": _items(first=0, last=7), "operators": _OPERATORS})["items"]
    assert [(each["first"], each["last"]) for each in items] == [(0, 7), (0, 7)]


def test_a_byte_order_mark_is_no_text(tmp_path):
    file = tmp_path / "network.json"
    file.write_text(json.dumps({"items": []}), encoding="utf-8-sig")
    assert load_json(file) == {"items": []}
