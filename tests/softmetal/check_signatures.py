"""Compare our declarations of Metal's API with those of a public binding, metal-cpp.

    .venv/bin/python tests/softmetal/check_signatures.py FOLDER

FOLDER has metal-cpp's ``Metal/``. Names, result types and parameter types of methods and
properties, and the values of enumerations, must agree. Prints the number that agree, and the names
that the binding lacks, such as newer API; exits with 1 if something differs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-x", "objective-c++", "-std=c++20", "-fobjc-runtime=gcc", "-fblocks", "-fsyntax-only"]
DEFINES = ["GNUSTEP", "GNUSTEP_BASE_LIBRARY=1", "GNU_RUNTIME=1", "_NATIVE_OBJC_EXCEPTIONS"]

Signature = tuple[str, ...]  # the type of the result, then of each parameter


@dataclass
class Api:
    """Signatures by class and selector, and values of enumerators by name."""

    methods: dict[tuple[str, str], Signature] = field(default_factory=dict)
    enumerators: dict[str, int] = field(default_factory=dict)


def plain(type_text: str) -> str:
    """Return a type's name without either language's notation or qualifiers of pointers."""
    text = re.sub(
        r"\b(const|class|struct|enum|_Nullable|_Nonnull|__kindof|__strong)\b", "", type_text
    )
    text = re.sub(r"__autoreleasing|\b_Null_unspecified\b", "", text)
    if "^" in text or "Handler" in text or "Block" in text:
        return "block"
    if "instancetype" in text:
        return "instancetype"
    text = re.sub(r"\bid<\s*(\w+)\s*>", r"\1 *", text)
    while re.search(r"<[^<>]*>", text):  # what collections hold
        text = re.sub(r"<[^<>]*>", "", text)
    text = re.sub(r"\[\]", "*", text)
    text = re.sub(r"\b(MTL|NS)::", "", text)
    text = re.sub(r"\b(MTL|NS)(?=[A-Z])", "", text)
    text = re.sub(r"\bBOOL\b|\bunsigned char\b", "bool", text)
    text = re.sub(r"\bTimeInterval\b|\bCFTimeInterval\b", "double", text)
    text = re.sub(r"\bid\b", "Object *", text)
    text = re.sub(r"\bGPUAddress\b", "uint64_t", text)
    return re.sub(r"\s+", "", text)


def _split(params: str) -> list[str]:
    """Split at commas, except inside parentheses, such as those of block types."""
    return re.split(r",(?![^(]*\))", params)


def metal_cpp(folder: Path) -> Api:
    """Return the declarations of the binding."""
    api = Api()
    bridge = (folder / "Metal/MTLHeaderBridge.hpp").read_text()
    selectors = dict(re.findall(r'_MTL_PRIVATE_DEF_SEL\((\w+),\s*"([^"]+)"\)', bridge))
    definition = re.compile(
        r"_MTL_INLINE\s+(?P<result>[^;{}()]*?)\s*MTL::(?P<class>\w+)::(?P<name>\w+)\((?P<params>[^{}]*?)\)"
        r"(?:\s*const)?\s*\n\{(?P<body>[^{}]*)\}"
    )
    for path in sorted((folder / "Metal").glob("*.hpp")):
        text = path.read_text()
        for found in definition.finditer(text):
            selector = re.search(r"_MTL_PRIVATE_SEL\((\w+)\)", found["body"])
            if selector is None or selector[1] not in selectors:
                continue
            params = [each.strip() for each in _split(found["params"]) if each.strip()]
            types = [
                re.sub(r"\s*\b\w+(\[\])?$", r" \1", each) if not each.endswith("*") else each
                for each in params
            ]
            key = (found["class"], selectors[selector[1]])
            api.methods[key] = (plain(found["result"]), *map(plain, types))
        for body in re.findall(r"_MTL_(?:ENUM|OPTIONS)\([^)]*\)\s*\{([^}]*)\}", text):
            for name, value, shift in re.findall(r"(\w+)\s*=\s*(-?\w+)(?:\s*<<\s*(\d+))?", body):
                number = value.rstrip("ULul")
                if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", number):
                    api.enumerators[name] = int(number, 0) << int(shift or 0)
    return api


def ours() -> Api:
    """Return the declarations of our headers, as clang parses them."""
    include = [ROOT / "tests/softmetal/api", ROOT / "build/objective_c", "/usr/include/GNUstep"]
    with tempfile.NamedTemporaryFile("w", suffix=".mm") as file:
        file.write("#import <Metal/Metal.h>\n")
        file.flush()
        command = ["clang++-19", *FLAGS, *(f"-D{each}" for each in DEFINES)]
        command += [word for each in include for word in ("-isystem", str(each))]
        command += ["-fno-color-diagnostics", "-Xclang", "-ast-dump", "-Xclang"]
        command += ["-ast-dump-filter=MTL", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    api = Api()
    owner = method = enumerator = ""
    owner_line = re.compile(r"^ObjC(?:Protocol|Interface)Decl 0x.* (MTL\w+)$")
    type_of = r"'((?:[^']|'(?!:|$| ))*)'(?::'[^']*')?"
    for line in text.splitlines():
        if found := owner_line.match(line):
            owner = found[1].removeprefix("MTL")
        elif re.match(r"^\w+Decl ", line):
            owner = ""
        if owner and (found := re.search(r"ObjCMethodDecl 0x.* [-+] ([\w:]+) " + type_of, line)):
            method = found[1]  # also a property's methods
            api.methods[owner, method] = (plain(found[2]),)
        elif (
            owner and method and (found := re.search(r"ParmVarDecl 0x.*?[ >]\w+ " + type_of, line))
        ):
            api.methods[owner, method] += (plain(found[1]),)
        elif found := re.search(r"EnumConstantDecl 0x.* MTL(\w+) '", line):
            enumerator = found[1]
        elif enumerator and (found := re.search(r"value: Int (-?\d+)", line)):
            api.enumerators[enumerator], enumerator = int(found[1]), ""
    return api


def main() -> int:
    """Compare; the exit status tells whether all declarations agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    mine, other = ours(), metal_cpp(options.folder)
    known = {name: values for name, values in mine.methods.items() if name in other.methods}
    wrong = []
    for (owner, selector), types in known.items():
        there = other.methods[owner, selector]
        if tuple(each.replace("instancetype", f"{owner}*") for each in types) != there:
            wrong.append(f"{owner} {selector}: {', '.join(types)}, but there {', '.join(there)}")
    shared = mine.enumerators.keys() & other.enumerators.keys()
    wrong += [
        f"{name} is {mine.enumerators[name]}, but there {other.enumerators[name]}"
        for name in sorted(shared)
        if (mine.enumerators[name] - other.enumerators[name]) % (1 << 64)
    ]
    for each in wrong:
        print(f"differs: {each}")
    newer = sorted(f"{owner} {selector}" for owner, selector in mine.methods.keys() - known.keys())
    newer += sorted(mine.enumerators.keys() - shared)
    print(
        f"{len(known)} methods and properties and {len(shared)} enumerators compared, "
        f"{len(wrong)} differ"
    )
    print(f"{len(newer)} that the binding lacks: {', '.join(newer)}")
    return 1 if wrong or not known else 0


if __name__ == "__main__":
    sys.exit(main())
