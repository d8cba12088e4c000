"""Networks as JSON files: tensors with lifetimes, and operators that read and write them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

DEVICE = {
    "max_width": 16384,
    "max_height": 16384,
    "row_pitch_alignment": 64,
    "base_alignment": 64,
}
"""The alignments and limits of a device, in texels, if the network states none."""
DEFAULT_FORMAT = "rgba32float"
LARGEST = 2**63 - 1


class NetworkError(ValueError):
    """A file that does not describe a network; the message has the place and a line of help."""


def wrong(what: str, way_out: str) -> NetworkError:
    """Return an error for the problem `what`, with the help `way_out`."""
    return NetworkError(f"{what}\nhelp: {way_out}")


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise wrong(f"the key {key!r} is given twice in one object", "keep one of the two")
        result[key] = value
    return result


def _no_constant(text: str) -> None:
    raise wrong(f"{text} is not a number in JSON", "give a finite number")


def load_json(path: Path) -> Any:
    """Read JSON; refuse duplicate keys, NaN and infinities.

    Raises
    ------
    NetworkError
        If the file is not JSON, or has duplicate keys, NaN or infinities.
    OSError
        If the file cannot be read.
    """
    try:
        return json.loads(
            path.read_text(encoding="utf-8-sig"),
            object_pairs_hook=_only_once,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise wrong("the file is not text in UTF-8", "give a JSON file") from error
    except json.JSONDecodeError as error:
        raise wrong(
            f"line {error.lineno}, column {error.colno}: {error.msg}", "give a JSON file"
        ) from error
    except RecursionError as error:
        raise wrong("the JSON is nested too deeply", "give a flat list of items") from error
    except ValueError as error:
        if isinstance(error, NetworkError):
            raise
        raise wrong(str(error), "give numbers of at most 64 bits") from error


def integer(value: Any, where: str) -> int:
    """Return a whole number of at most 64 bits; `where` names it in the error."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(f"{where} is {json.dumps(value)[:60]}", "give a whole number")
    if not -LARGEST <= value <= LARGEST:
        raise wrong(f"{where} is {str(value)[:60]}", "give a number of at most 64 bits")
    return value


def _object(value: Any, where: str, known: Mapping[str, bool]) -> dict[str, Any]:
    """Check the keys of an object; `known` says which are required.

    Unknown keys are ignored: they may be for other programs. But a key that resembles a known key
    is an error.
    """
    if not isinstance(value, dict):
        raise wrong(f"{where} is not an object", f"give one with the keys {', '.join(known)}")
    for key in value:
        similar = [] if key in known else get_close_matches(key.lower(), known, 1, 0.8)
        if similar:
            raise wrong(f"{where} has an unknown key {key!r}", f"did you mean {similar[0]!r}?")
    for key, is_required in known.items():
        if is_required and key not in value:
            raise wrong(f"{where} has no {key!r}", f"give {key!r}")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise wrong(f"{where} is not a list", "give a list")
    return value


_SCOPES = ("texture", "global")
_ITEM = dict.fromkeys(("id", "first", "last", "height", "width"), True) | dict.fromkeys(
    ("slices", "channels", "format", "dtype", "exact", "exact_cost", "scope"), False
)
_BUFFER = dict.fromkeys(("id", "first", "last", "scope"), True) | dict.fromkeys(
    ("size", "height", "width", "channels", "dtype", "alignment"), False
)


def _slices(item: dict[str, Any], where: str) -> int:
    """Return the slices of an item: as given, or computed from its channels."""
    if "slices" not in item and "channels" not in item:
        raise wrong(f"{where} has neither 'slices' nor 'channels'", "give one of the two")
    if "channels" not in item:
        return integer(item["slices"], f"{where}: 'slices'")
    channels = integer(item["channels"], f"{where}: 'channels'")
    slices = -(-channels // 4)
    if channels < 1:
        raise wrong(f"{where} has {channels} channels", "give a positive number")
    if integer(item.get("slices", slices), f"{where}: 'slices'") != slices:
        raise wrong(
            f"{where} has {item['slices']} slices, but {channels} channels make {slices}",
            "a slice has four channels: correct one of the two values, or leave one out",
        )
    return slices


def _format(item: dict[str, Any], where: str) -> str:
    """Return the texel format: as given, or that of the dtype, or :data:`DEFAULT_FORMAT`."""
    form = item.get("format")
    if form is None and "dtype" in item:
        match = re.fullmatch("(float|int|uint)(8|16|32)", str(item["dtype"]))
        if not match:
            raise wrong(
                f"{where}: textures have no texels of dtype {json.dumps(item['dtype'])[:60]}",
                "give float16, float32, or a signed or unsigned integer of 8 to 32 bits",
            )
        return f"rgba{match[2]}{match[1]}"
    if form is None:
        return DEFAULT_FORMAT
    if not isinstance(form, str) or not form:
        raise wrong(f"{where}: the format is not a name", f"give a name such as {DEFAULT_FORMAT!r}")
    return form


def _bytes(item: dict[str, Any], where: str) -> int:
    """Return the size of a buffer: as given, or computed from its elements."""
    shape = ("height", "width", "channels")
    if "size" not in item and not all(key in item for key in shape):
        raise wrong(
            f"{where} has neither a 'size' nor a height, a width and channels",
            "give its bytes as 'size', or its shape and dtype",
        )
    size = integer(item["size"], f"{where}: 'size'") if "size" in item else None
    if all(key in item for key in shape):
        match = re.fullmatch("b?(?:float|int|uint)(8|16|32|64)", str(item.get("dtype", "float32")))
        if not match:
            raise wrong(
                f"{where}: buffers have no elements of dtype {json.dumps(item['dtype'])[:60]}",
                "give a dtype such as 'float32', or the bytes as 'size'",
            )
        elements = math.prod(integer(item[key], f"{where}: {key!r}") for key in shape)
        if size not in (None, elements * int(match[1]) // 8):
            raise wrong(
                f"{where} has {size} bytes, but its shape makes {elements * int(match[1]) // 8}",
                "correct the size or the shape, or leave one of them out",
            )
        size = elements * int(match[1]) // 8
    if size is None or not 1 <= size <= LARGEST:
        raise wrong(f"{where} has {size} bytes", "give a positive size of at most 64 bits")
    return size


def _buffer(item: dict[str, Any], where: str) -> dict[str, Any]:
    result = {key: integer(item[key], f"{where}: {key!r}") for key in ("id", "first", "last")}
    alignment = integer(item.get("alignment", 1), f"{where}: 'alignment'")
    if alignment < 1:
        raise wrong(f"{where} has an alignment of {alignment}", "give a positive number of bytes")
    return result | {"scope": "global", "size": _bytes(item, where), "alignment": alignment}


def _item(value: Any, position: int) -> dict[str, Any]:
    where = f"items[{position}]"
    scope = value.get("scope", "texture") if isinstance(value, dict) else "texture"
    if not isinstance(scope, str) or scope not in _SCOPES:
        raise wrong(f"{where}: the scope is {json.dumps(scope)[:60]}", "give 'texture' or 'global'")
    item = _object(value, where, _BUFFER if scope == "global" else _ITEM)
    where = f"item {integer(item['id'], f'{where}: id')}"
    if scope == "global":
        return _buffer(item, where)
    result = {
        key: integer(item[key], f"{where}: {key!r}")
        for key in ("id", "first", "last", "height", "width")
    }
    result["slices"] = _slices(item, where)
    exact = item.get("exact", False)
    if not isinstance(exact, bool):
        raise wrong(f"{where}: 'exact' is {json.dumps(exact)[:60]}", "give true or false")
    cost = item.get("exact_cost")
    if cost is not None:
        cost = integer(cost, f"{where}: 'exact_cost'")
    return result | {
        "scope": "texture",
        "format": _format(item, where),
        "exact": exact,
        "exact_cost": cost,
    }


def _pair(value: Any, position: int) -> tuple[int, int]:
    where = f"read_write_conflicts[{position}]"
    if len(_list(value, where)) != 2:
        raise wrong(f"{where} has {len(value)} members", "give two: the ids of two items")
    return integer(value[0], where), integer(value[1], where)


def _operator(value: Any, position: int) -> dict[str, list[int]]:
    where = f"operators[{position}]"
    known = {"inputs": True, "outputs": True, "after": False}
    op = _object(value, where, known)
    return {
        key: [integer(v, f"{where}: {key}") for v in _list(op.get(key, []), f"{where}: {key}")]
        for key in ("inputs", "outputs", "after")
    }


def _lives(operators: list[dict[str, list[int]]]) -> dict[int, dict[str, int]]:
    """Return, for each item, the first and the last operator that lists the item."""
    lives: dict[int, dict[str, int]] = {}
    for time, operator in enumerate(operators):
        for item in (*operator["inputs"], *operator["outputs"]):
            lives.setdefault(item, {"first": time})["last"] = time
    return lives


def _with_life(item: Any, lives: dict[int, dict[str, int]]) -> Any:
    """Return an item with its lifetime: its own, or else that in `lives`."""
    number = item.get("id") if isinstance(item, dict) else None
    return lives.get(number, {}) | item if isinstance(number, int) else item


_NETWORK = {"items": True} | dict.fromkeys(
    (
        "read_write_conflicts",
        "operators",
        "max_width",
        "max_height",
        "row_pitch_alignment",
        "base_alignment",
        "one_arena",
    ),
    False,
)


def network_of(data: Any) -> dict[str, Any]:
    """Check the form of a network, and fill in defaults.

    The planner itself checks ranges, lifetimes and ids.

    Returns
    -------
    dict
        With ``items`` (textures with their extents, buffers with ``size`` and ``alignment``; each
        has a ``scope``), ``read_write_conflicts``, ``operators`` (may be empty), ``one_arena``, and
        the keys of ``DEVICE``.

    Raises
    ------
    NetworkError
        If a key is missing, unknown, or has a value of the wrong type.
    """
    network = _object(data, "the network", _NETWORK)
    items = _list(network["items"], "'items'")
    pairs = _list(network.get("read_write_conflicts", []), "'read_write_conflicts'")
    listed = _list(network.get("operators", []), "'operators'")
    operators = [_operator(value, i) for i, value in enumerate(listed)]
    lives = _lives(operators)
    one_arena = network.get("one_arena", False)
    if not isinstance(one_arena, bool):
        raise wrong(f"'one_arena' is {json.dumps(one_arena)[:60]}", "give true or false")
    return {
        "items": [_item(_with_life(value, lives), i) for i, value in enumerate(items)],
        "read_write_conflicts": [_pair(value, i) for i, value in enumerate(pairs)],
        "operators": operators,
        "one_arena": one_arena,
    } | {key: integer(network.get(key, default), repr(key)) for key, default in DEVICE.items()}


def with_operators(network: dict[str, Any]) -> dict[str, Any]:
    """Return the network with operators; if it lists none, from its items and pairs.

    Operator t writes the items that begin at t. Operator t reads the items that end at t, and those
    that form a pair with an item that it writes. An operator that writes no item may have any
    effect: it keeps its order relative to all other operators.
    """
    if network["operators"] or not network["items"]:
        return network
    items = {item["id"]: item for item in network["items"]}
    count = 1 + max(item["last"] for item in items.values())
    if count > 2**20:
        raise wrong(
            f"an item lives until operator {count - 1}, but the last operator can be {2**20 - 1}",
            "number operators from 0, without gaps",
        )
    inputs: list[set[int]] = [set() for _ in range(count)]
    outputs: list[set[int]] = [set() for _ in range(count)]
    for item in items.values():
        if not 0 <= item["first"] <= item["last"]:
            continue  # the planner refuses this lifetime, with a message
        outputs[item["first"]].add(item["id"])
        if item["last"] > item["first"]:
            inputs[item["last"]].add(item["id"])
    for a, b in network["read_write_conflicts"]:
        if a not in items or b not in items:
            continue
        reader, written = (a, b) if items[a]["first"] <= items[b]["first"] else (b, a)
        if items[reader]["first"] < items[written]["first"]:
            inputs[items[written]["first"]].add(reader)
    operators, barrier = [], -1
    for time in range(count):
        after = [barrier] if barrier >= 0 else []
        if not outputs[time]:
            after = list(range(max(barrier, 0), time))
            barrier = time
        operators.append(
            {"inputs": sorted(inputs[time]), "outputs": sorted(outputs[time]), "after": after}
        )
    return network | {"operators": operators}


def lifetimes(network: dict[str, Any], plan: dict[str, Any]) -> dict[int, tuple[int, int]]:
    """Return when each item is live in the plan's order of operators."""
    if "order" not in plan:
        return {item["id"]: (item["first"], item["last"]) for item in network["items"]}
    times: dict[int, list[int]] = {}
    for time, operator in enumerate(plan["order"]):
        op = network["operators"][operator]
        for item in (*op["inputs"], *op["outputs"]):
            times.setdefault(item, []).append(time)
    return {item: (min(all_), max(all_)) for item, all_ in times.items()}
