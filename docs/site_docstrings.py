"""An extension of Griffe: the public names of the package, as `api_names` finds them at run time.

Griffe reads sources, but half of the classes are compiled, many functions are made by tables, and
names are documented where users import them. So this gives Griffe the objects themselves. Griffe
then reads their docstrings and checks them against the signatures, and mkdocstrings renders them.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import api_names
import api_pages
import griffe


def parameters(value: Any, is_method: bool) -> tuple[griffe.Parameters, str] | None:
    """Return the parameters and the type of the result of a function, without ``self``."""
    signature = api_names.signature(value, is_method)
    if signature is None:
        return None
    found = []
    keyword_only = False
    for part in signature[0]:
        head, _, default = re.sub(r"(?<=\w)=", " = ", part, count=1).partition(" = ")
        name, _, annotation = head.partition(": ")
        if name in "*/":
            keyword_only |= name == "*"
            continue
        kind = griffe.ParameterKind.positional_or_keyword
        if name.startswith("**"):
            kind = griffe.ParameterKind.var_keyword
        elif name.startswith("*"):
            kind = griffe.ParameterKind.var_positional
            keyword_only = True
        elif keyword_only:
            kind = griffe.ParameterKind.keyword_only
        found.append(
            griffe.Parameter(
                name.lstrip("*"), annotation=annotation or None, kind=kind, default=default or None
            )
        )
    return griffe.Parameters(*found), signature[1]


def described(made: Any, value: Any) -> Any:
    """Return a Griffe object with the docstring of the value that it stands for."""
    text = api_names.documentation(value)
    made.docstring = griffe.Docstring(api_pages.markdown(text), parent=made) if text else None
    return made


def function(name: str, value: Any, is_method: bool) -> griffe.Function:
    """Return a function or a method as Griffe sees it."""
    found = parameters(value, is_method)
    made = griffe.Function(name, parameters=found[0] if found else None)
    made.returns = found[1] or None if found else None
    for kind in (staticmethod, classmethod):
        if isinstance(value, kind):
            made.labels.add(kind.__name__)
    return described(made, value)


def attribute(name: str, value: Any) -> griffe.Attribute:
    """Return a constant or a property as Griffe sees it."""
    if isinstance(value, property):
        made = griffe.Attribute(name)
        made.labels.add("property")
    else:
        made = griffe.Attribute(name, value=repr(value), annotation=type(value).__name__)
    return described(made, value)


def member(name: str, value: Any, is_method: bool) -> griffe.Object:
    """Return a name of a module or of a class as Griffe sees it."""
    if isinstance(value, property) or api_names.is_constant(value):
        return attribute(name, value)
    if not inspect.isclass(value):
        return function(name, value, is_method)
    made = griffe.Class(name)
    init = parameters(value, is_method=False)
    if init is not None:
        made.set_member("__init__", griffe.Function("__init__", parameters=init[0]))
    for each, inner in api_names.members(value).items():
        made.set_member(each, member(each, inner, is_method=True))
    return described(made, value)


class PublicNames(griffe.Extension):
    """Replaces what Griffe has read of the package by its public names."""

    def on_package(self, *, pkg: griffe.Module, loader: Any, **kwargs: Any) -> None:
        """Fill the package with its public modules."""
        if pkg.name != "texloom":
            return
        for name in list(pkg.members):
            pkg.del_member(name)
        for path, names in sorted(api_pages.entries().items()):
            module, parts = pkg, path.split(".")[1:]
            for part in parts:
                if part not in module.members:
                    module.set_member(part, griffe.Module(part, filepath=pkg.filepath))
                module = module.members[part]
            described(module, api_names.imported(path))
            for name, value in names.items():
                if name in module.members:
                    raise ValueError(f"{path}.{name} is the name of a module, too")
                module.set_member(name, member(name, value, is_method=False))
