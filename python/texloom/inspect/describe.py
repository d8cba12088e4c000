"""Describes a package as text, from the result of ``_core.view_packages``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

View = dict[str, Any]
_INDENT = "  "
_LONGEST = 80  # characters of a value of the metadata
_KNOWN_NEEDS = (
    "images",
    "float64",
    "float16_arithmetic",
    "max_image_width",
    "max_image_height",
    "max_work_group_size",
    "local_bytes",
    "buffer_bytes",
)


def counted(count: int, noun: str, ending: str = "s") -> str:
    """Return ``"1 kernel"`` or ``"2 kernels"``."""
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def _bytes(count: int) -> str:
    """Return ``"1,536 bytes"``; large counts are also given in a larger unit."""
    text = counted(count, "byte")
    for exponent, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 10 * 1024**exponent:
            return f"{text} ({count / 1024**exponent:.1f} {unit})"
    return text


def _short(value: Any) -> str:
    """Return the repr of a value, truncated if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text):,} characters)"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the columns of rows of equal length; the last column may be long."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a title and its lines, or nothing if there are no lines."""
    body = list(lines)
    if body:
        yield title
        yield from (_INDENT + line for line in body)


def _shape(view: View) -> str:
    return f"{view['dtype']}[{', '.join(map(str, view['shape']))}]"


def _storage(storage: View | None) -> str:
    if storage is None:
        return "no memory"
    if storage["kind"] == "buffer":
        return _bytes(storage["bytes"]) if storage["bytes"] else "a buffer sized at the call"
    if not storage["bytes"]:
        return f"a texture {storage['format']} sized at the call"
    exactly = "exactly " if storage["exact"] else ""
    return f"{exactly}{storage['width']} x {storage['height']} texels of {storage['format']}"


def _attributes(attributes: View) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in attributes.items())


def _needs(needs: View) -> str:
    parts = []
    if needs["max_image_width"]:
        parts.append(f"images of {needs['max_image_width']} x {needs['max_image_height']} texels")
    elif needs["images"]:
        parts.append("images")
    parts += [name for name in ("float64", "float16_arithmetic") if needs[name]]
    if needs["max_work_group_size"]:
        parts.append(f"groups of {counted(needs['max_work_group_size'], 'thread')}")
    if needs["local_bytes"]:
        parts.append(f"{_bytes(needs['local_bytes'])} of local memory")
    if needs["buffer_bytes"]:
        parts.append(f"a buffer of {_bytes(needs['buffer_bytes'])}")
    parts += [name for name in needs if name not in _KNOWN_NEEDS]  # extensions
    return ", ".join(parts) or "nothing special"


def _stores(variant: View, tensors: Sequence[View]) -> list[str]:
    rows = [("tensor", "elements", "storage_id", "scope", "memory", "layout")]
    rows += [
        (
            store["tensor"],
            _shape(tensor),
            str(store["storage_id"]),
            store["storage_scope"] or "-",
            _storage(store["storage"]),
            store["layout"] or "row-major",
        )
        for store, tensor in zip(variant["stores"], tensors, strict=True)
    ]
    return aligned(rows)


def _parts(variant: View) -> list[str]:
    kinds = {each["name"]: each["storage"]["kind"] for each in variant["temporaries"]}
    return [
        f"{part['tensor']} is part of {part['whole']}, at {_place(part, kinds[part['whole']])}"
        for part in variant["parts"]
    ]


def _memory(variant: View) -> list[str]:
    workspace = variant["workspace"]
    temporaries = variant["temporaries"]
    if workspace is None:
        if not temporaries:
            return []
        rows = [(each["name"], _storage(each["storage"])) for each in temporaries]
        return [
            "they get their places when the package is loaded",
            *aligned(rows),
            *_parts(variant),
        ]
    objects = workspace["objects"]
    lines = [
        f"{_bytes(sum(each['bytes'] for each in objects))} in {counted(len(objects), 'object')}"
    ]
    for number, each in enumerate(objects):
        lines.append(f"object {number}: {each['kind']}, {_storage(each)}")
        lines += [
            _INDENT + f"{place['tensor']} at " + _place(place, each["kind"])
            for place in workspace["places"]
            if place["object"] == number
        ]
    return lines + _parts(variant)


def _place(place: View, kind: str) -> str:
    if kind == "texture":
        return f"({place['x']}, {place['y']})"
    return f"byte {place['offset']:,}"


def _constants(variant: View) -> list[str]:
    constants = variant["constants"]
    if not constants:
        return []
    total = sum(each["storage"]["bytes"] for each in constants)
    rows = [
        (each["name"], _shape(each), _bytes(each["storage"]["bytes"]), _storage(each["storage"]))
        for each in constants
    ]
    return [f"{counted(len(constants), 'constant')}, {_bytes(total)}", *aligned(rows)]


def _block(block: Sequence[int]) -> str:
    """Return ``"8 x 4 threads"``, without axes at the end that are 1."""
    extents = list(block)
    while len(extents) > 1 and extents[-1] == 1:
        extents.pop()
    if len(extents) == 1:
        return counted(extents[0], "thread")
    return f"{' x '.join(map(str, extents))} threads"


def _kernels(variant: View) -> list[str]:
    lines = []
    for kernel in variant["kernels"]:
        codes = variant["modules"][kernel["module"]]
        code = ", ".join(f"{code['format']}: {_bytes(code['bytes'])}" for code in codes)
        lines.append(f"{kernel['name']}, groups of {_block(kernel['block'])} ({code})")
        lines += [_INDENT + param for param in kernel["params"]]
    return lines


def _binaries(variant: View) -> list[str]:
    """Return a row for each device and driver that the variant has binaries for."""
    sizes: dict[tuple[str, ...], list[int]] = {}
    for codes in variant["modules"]:
        for code in codes:
            made = code["made_by"]
            if made is not None:
                maker = (made["device"], made["vendor"], made["platform"], made["driver_version"])
                sizes.setdefault(maker, []).append(code["bytes"])
    if not sizes:
        return []
    rows = [("device", "vendor", "platform", "driver version", "programs", "size")]
    count = len(variant["modules"])
    rows += [(*m, f"{len(each)} of {count}", _bytes(sum(each))) for m, each in sizes.items()]
    return aligned(rows)


def _calls(variant: View) -> list[str]:
    lines = []
    for call in variant["calls"]:
        payload = f", payload of {_bytes(call['payload_bytes'])}" if call["payload_bytes"] else ""
        takes = ", ".join(call["accesses"]) or "nothing"
        lines.append(f"{call['op']} version {call['version']} ({takes}){payload}")
        if call["attributes"]:
            lines.append(_INDENT + _attributes(call["attributes"]))
    return lines


def _step(step: View) -> list[str]:
    match step["step"]:
        case "allocate" | "free":
            return [f"{step['step']} {step['tensor']}"]
        case "launch":
            groups = " x ".join(map(str, step["groups"]))
            return [f"launch {step['kernel']}({', '.join(step['operands'])}), {groups} groups"]
        case "call":
            return [f"call {step['op']}({', '.join(step['operands'])})"]
        case "loop":
            body = [_INDENT + line for each in step["body"] for line in _step(each)]
            return [f"for {step['variable']} < {step['extent']}", *body]
    return ["barrier"]


def _variant(number: int, view: View, tensors: Sequence[View]) -> Iterator[str]:
    yield f"variant {number}: {view['target']}"
    kinds = Counter(step["step"] for step in view["steps"])
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    body = [f"needs {_needs(view['needs'])}"]
    body += _section("tensors", _stores(view, tensors))
    body += _section("memory of temporaries", _memory(view))
    body += _section("constants", _constants(view))
    body += _section("kernels", _kernels(view))
    body += _section("binaries", _binaries(view))
    body += _section("custom operators", _calls(view))
    title = f"steps ({counts})" + (", barriers named" if view["names_barriers"] else "")
    body += _section(title, [line for step in view["steps"] for line in _step(step)])
    if view["program_bytes"]:
        body.append(f"the compiled program as text, {_bytes(view['program_bytes'])}")
    yield from (_INDENT + line for line in body)


def describe(view: View) -> str:
    """Return the description of one package."""
    symbols = f", symbols {', '.join(view['symbols'])}" if view["symbols"] else ""
    lines = [
        f"package {view['name']}: {', '.join(view['inputs']) or 'nothing'} -> "
        f"{', '.join(view['outputs']) or 'nothing'}{symbols}"
    ]
    if view["operations"] is not None:
        lines.append(f"{view['operations']:,.0f} arithmetic operations in a run")
    if view["writer"]:
        lines.append(f"written by Texloom {view['writer']}")
    lines += _section(
        "numbers",
        (
            f"{each['name']}: {each['dtype']}, argument {each['position']} of a call"
            for each in view["numbers"]
        ),
    )
    lines += _section("metadata", (f"{k}: {_short(v)}" for k, v in view["metadata"].items()))
    lines += _section(
        "nodes",
        (
            f"{node['name']}: {node['op']}({', '.join(node['inputs'])}) -> "
            f"{', '.join(node['outputs'])}"
            + (f"  {_attributes(node['attributes'])}" if node["attributes"] else "")
            for node in view["nodes"]
        ),
    )
    for number, variant in enumerate(view["variants"]):
        lines += ["", *_variant(number, variant, view["tensors"])]
    return "\n".join(lines)


__all__ = ["aligned", "counted", "describe"]
